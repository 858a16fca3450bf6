// Datasets written with the HDF5 library.
#ifndef TDL_FORMATS_HDF5_WRITER_H
#define TDL_FORMATS_HDF5_WRITER_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>

// Between these a thread is inside HDF5 (tdl_result_inside_hdf5).
void hdf5_enter(void);
void hdf5_leave(void);
bool hdf5_is_inside(void);

// Whether `size` bytes could be had now: HDF5 must not be called where its own allocations would
// fail.
bool hdf5_has_room(size_t size);

// What one call of it may take beside the data: its caches.
enum { HDF5_ROOM = 16 << 20 };

// `count` numbers of a native type in a row, without filters, as hdf5_reader.h reads them.
bool hdf5_put(hid_t group, const char* name, hid_t type, size_t count, const void* data);

// `rows` of so many numbers each. The file does not tell when that was: the same numbers give the
// same bytes.
bool hdf5_put_rows(hid_t group, const char* name, hid_t type, size_t rows, size_t columns,
                   const void* data);

// A new file, over an old one; negative when it cannot be. The library prints nothing of its own.
// Closed with hdf5_close.
hid_t hdf5_create(const char* path);
bool hdf5_close(hid_t file);

#endif
