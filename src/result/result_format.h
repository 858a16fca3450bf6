// What all parts of result.h5 share: types, texts, and the messages of HDF5.
#ifndef TDL_RESULT_RESULT_FORMAT_H
#define TDL_RESULT_RESULT_FORMAT_H

#include <hdf5.h>
#include <stdbool.h>

typedef enum ResultType { TYPE_INT32, TYPE_INT64, TYPE_FLOAT32, TYPE_FLOAT64 } ResultType;

hid_t result_file_type(ResultType type);
hid_t result_memory_type(ResultType type);

// A type of texts of at most size - 1 bytes; closed with H5Tclose.
hid_t result_text_type(size_t size);

// A text as an attribute.
bool result_write_text(hid_t object, const char* name, const char* text);
bool result_write_attribute(hid_t object, const char* name, hid_t type, const void* value);

// --- the library's messages ----------------------------------------------------------------------
// HDF5 prints its errors by default; between begin and end it does not.
typedef struct Hdf5Quiet {
    H5E_auto2_t print;
    void* user;
} Hdf5Quiet;

Hdf5Quiet hdf5_quiet_begin(void);
void hdf5_quiet_end(Hdf5Quiet quiet);

// The cause of the first call that failed since begin, in a few words.
const char* hdf5_reason(void);

#endif
