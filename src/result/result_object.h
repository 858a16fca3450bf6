// Access to the objects of an HDF5 file from a stranger: nothing is read before its kind, type,
// rank, extent and place are known.
#ifndef TDL_RESULT_RESULT_OBJECT_H
#define TDL_RESULT_RESULT_OBJECT_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

// Scalar attributes; a text has at most size - 1 bytes.
bool object_read_number(hid_t object, const char* name, H5T_class_t kind, hid_t type, void* out);
bool object_read_text(hid_t object, const char* name, char* out, size_t size);

// Opens a group or a dataset behind a plain link (none leads out of the file), or
// H5I_INVALID_HID.
hid_t object_open(hid_t place, const char* name, H5I_type_t kind);

bool set_has_type(hid_t set, hid_t expected);

// The extents of a set of the given rank.
bool set_get_dims(hid_t set, int rank, hsize_t dims[3]);

// Whether the set is stored plainly in this file, the way our writer does; gives its chunks.
bool set_has_layout(hid_t set, H5D_layout_t layout, int rank, const hsize_t dims[3],
                    hsize_t chunk[3]);

// HDF5 reads zeros behind the end of a cut file without a word, so places are compared with the
// file's size.
bool file_holds(const char* path, uint64_t address, uint64_t size);

#endif
