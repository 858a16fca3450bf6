// Files in HDF5 read from bytes in memory that may be hostile.
#ifndef TDL_FORMATS_HDF5_READER_H
#define TDL_FORMATS_HDF5_READER_H

#include "tendril/base.h"

typedef struct Hdf5File {
    const TdlHost* host;
    const char* name; // for messages
    const unsigned char* data;
    uint64_t size, base;
    int visits;
    bool failed; // a message was logged; there is one at most
} Hdf5File;

typedef struct Hdf5Dataset {
    bool has_space, has_type, has_layout;
    int kind;      // 0 integer, 1 real, -1 not a number
    bool is_text;  // of a fixed length
    uint64_t item; // bytes of a number
    bool is_signed;
    uint64_t count, offset, bytes;
} Hdf5Dataset;

bool hdf5_looks_like(const unsigned char* data, size_t size);

// The same for file_read.
const char* hdf5_judge(const char* head, size_t size, uint64_t total);

// Logs what is wrong, the first time, and returns false.
bool hdf5_fail(Hdf5File* r, const char* format, ...) TDL_PRINTF(2, 3);

// The address of the root group.
bool hdf5_root(Hdf5File* r, uint64_t* root);

// The object at a path such as "W/x" below `at`; 0 when there is none.
uint64_t hdf5_find(Hdf5File* r, uint64_t at, const char* path);

// The numbers at such a path, all inside the file; and one of them.
bool hdf5_dataset(Hdf5File* r, uint64_t root, const char* path, Hdf5Dataset* d);
double hdf5_value(const Hdf5File* r, const Hdf5Dataset* d, uint64_t k);

// A text at such a path, shorter than `size` and of plain ASCII.
bool hdf5_text(Hdf5File* r, uint64_t root, const char* path, size_t size, char* out);

// One whole number in [least, most] of group/name, or of name where the group is "".
bool hdf5_count(Hdf5File* r, uint64_t root, const char* group, const char* name, double least,
                double most, int* out);

// `count` finite numbers, or whole ones in [least, most], for which memory is taken.
bool hdf5_vector(Hdf5File* r, uint64_t root, const char* path, uint64_t count, double** out);
bool hdf5_integers(Hdf5File* r, uint64_t root, const char* path, uint64_t count, int least,
                   int most, int** out);

#endif
