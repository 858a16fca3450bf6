// The Cholesky factor of a sparse matrix as a square root: A = C C', to multiply and divide by.
//
// C = P' L D^(1/2) with L D L' from SuiteSparse LDL in the order of AMD, which keeps groups of
// coordinates that share no entries where they are: z = C' v has those of each group at the places
// of its v.
#ifndef TDL_LINALG_SPARSE_ROOT_H
#define TDL_LINALG_SPARSE_ROOT_H

#include "base/memory.h"
#include "linalg/sparse_cholesky.h"

typedef struct SparseRoot {
    int n;
    int *order, *place; // [n] coordinate behind z_k, and its inverse
    int *start, *row;   // L below its diagonal by columns, rows ascending
    double* value;
    double* root; // [n] D^(1/2)
    int* parent;  // [n] elimination tree, -1: none
} SparseRoot;

// `value` goes with the pattern's index, of which the diagonal has no gaps; group k is `first[k]`
// to `first[k + 1]`. Memory comes from the arena. TDL_STATUS_BAD_ARGUMENT: not positive definite.
TdlStatus sparse_root_create(SparseRoot* c, Arena* arena, const SparsePattern* a,
                             const double* value, int group_count, const int* first);

// Of the coordinates from `first` to `end`, whole groups: z <- C' v, z <- C^-1 f, v <- C'^-1 z. In
// and out are different arrays, over all coordinates.
void sparse_root_whiten(const SparseRoot* c, int first, int end, const double* v, double* z);
void sparse_root_drive(const SparseRoot* c, int first, int end, const double* f, double* z);
void sparse_root_velocity(const SparseRoot* c, int first, int end, const double* z, double* v);

#endif
