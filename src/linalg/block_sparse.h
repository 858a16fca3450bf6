// Symmetric block-sparse matrices, stored by block rows with both triangles, so that a sweep over
// whole rows needs no transpose.
#ifndef TDL_LINALG_BLOCK_SPARSE_H
#define TDL_LINALG_BLOCK_SPARSE_H

#include "tendril/base.h"

// Where the blocks come from: triplet t adds a block at (row[t], column[t]) and, off the diagonal,
// its transpose at (column[t], row[t]). Places may repeat, in either triangle; blocks are summed in
// the order of the triplets.
typedef struct BlockPattern {
    int block_size; // >= 1
    int row_count;  // >= 0
    int triplet_count;
    const int *row, *column; // [triplet_count], in [0, row_count)
} BlockPattern;

typedef struct BlockSparse {
    TdlAllocator mem;
    int block_size, row_count, block_count, triplet_count;
    int* row_start; // [row_count + 1]
    int* column;    // [block_count] increasing within a row
    int* diagonal;  // [row_count] the index of each diagonal block; all of them are stored
    int* twin;      // [block_count] the index of the transposed block
    int* target;    // [triplet_count] block in the lower triangle; ~index when it is transposed
    double* value;  // [block_count block_size^2] column-major blocks
} BlockSparse;

// Finds the pattern once, O(triplets + rows); all values are zero.
TdlStatus block_sparse_create(const TdlAllocator* mem, const BlockPattern* pattern,
                              BlockSparse** out);
void block_sparse_destroy(BlockSparse* a);

// Replaces all values by the sums of the triplets' blocks, given in the order of the pattern. Off
// the diagonal the result is symmetric to the last bit; diagonal blocks are summed as they come.
void block_sparse_fill(BlockSparse* a, const double* blocks);

// y = A x
void block_sparse_multiply(const BlockSparse* a, const double* x, double* y);

// The rows [first, last) of y = A x
void block_sparse_multiply_rows(const BlockSparse* a, int first, int last, const double* x,
                                double* y);

static inline double* block_sparse_block(const BlockSparse* a, int index) {
    return a->value + (ptrdiff_t)index * a->block_size * a->block_size;
}

static inline double* block_sparse_diagonal(const BlockSparse* a, int row) {
    return block_sparse_block(a, a->diagonal[row]);
}

// The block at (row, column), or null when it is not stored.
double* block_sparse_find(const BlockSparse* a, int row, int column);

// The same matrix by scalar columns, both triangles, rows increasing. `start` has
// row_count block_size + 1 entries, `index` and `value` block_count block_size^2. Any may be null.
void block_sparse_to_csc(const BlockSparse* a, int* start, int* index, double* value);

#endif
