// Reading frictional contact problems from bytes that may be hostile.
//
// All readers work on the whole file in memory and allocate only in proportion to what the file
// really contains: every count is checked against the bytes left before anything is reserved.
#ifndef TDL_FORMATS_PROBLEM_IO_H
#define TDL_FORMATS_PROBLEM_IO_H

#include "formats/hdf5_reader.h"
#include "tendril/formats.h"

// A sparse matrix as a list of entries; repeated ones are added.
typedef struct Triplets {
    int rows, cols;
    int count, capacity;
    int *row, *col;
    double* value;
} Triplets;

bool triplets_add(const TdlAllocator* mem, Triplets* t, int row, int col, double value);

// What a file holds: local (m empty: u = w r + q) or global (m v = f + h r, u = h' v + q).
typedef struct RawProblem {
    int d, n;
    bool global;
    Triplets w; // W, or M when global
    Triplets h;
    double* f;  // [w.rows] global only
    double* q;  // [d n]
    double* mu; // [n]
} RawProblem;

void raw_free(const TdlAllocator* mem, RawProblem* raw);

// Parse a whole file in memory; `name` is for messages. `text` ends with a zero byte at [size].
TdlStatus problem_parse_text(const TdlHost* host, const char* name, const char* text, size_t size,
                             RawProblem* raw);
TdlStatus problem_parse_hdf5(Hdf5File* file, uint64_t root, RawProblem* raw);

// Arrays of a problem in velocity space that are given up with it.
typedef struct BodyArrays {
    TdlAllocator mem;
    int *dof_start, *body, *entries; // entries: what the lists point to
    TdlSpan* span;
    const int** list;
    double *velocity, *u_free, *h, *y;
    int *a_start, *a_column;
    double* a_value;
} BodyArrays;

void body_arrays_free(BodyArrays* arrays);

// Creates the problem of `def`, whose arrays are these, and hands them over to it; or frees them.
TdlStatus problem_hand_over(const TdlHost* host, TdlFrictionBodiesDef* def, BodyArrays* arrays,
                            TdlFrictionProblem** out);

// A host whose messages begin with the name of a file.
typedef struct NamedHost {
    TdlHost named;
    const TdlHost* real;
    const char* name;
} NamedHost;
const TdlHost* named_host(NamedHost* host, const TdlHost* real, const char* name);

// Bodies with their rows, as they lie in a file of our own: the group tendril_bodies.
TdlStatus problem_read_bodies(Hdf5File* file, uint64_t group, TdlFrictionProblem** out);
TdlStatus problem_write_bodies(const TdlHost* host, const TdlOutput* out,
                               const TdlFrictionBodiesDef* def, const double* guess);

// Builds a problem from bytes of any kind, checking values; what the fuzz targets call.
TdlStatus problem_from_bytes(const TdlHost* host, const char* name, char* bytes, size_t size,
                             TdlFrictionProblem** out);

TdlStatus problem_write_hdf5(const TdlHost* host, const TdlOutput* out,
                             const TdlFrictionMatrixDef* m);

#endif
