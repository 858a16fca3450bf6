// Sparse LU of matrices with a symmetric block pattern, values symmetric or not.
//
// The order comes from AMD on the block graph and the pattern of the factors is found once; a
// factorisation then costs only arithmetic on d x d blocks. Pivots are diagonal blocks, inverted
// with partial pivoting inside; a block too near singular is shifted, and the shift counted.
#ifndef TDL_LINALG_BLOCK_LU_H
#define TDL_LINALG_BLOCK_LU_H

#include "base/memory.h"
#include "base/stop.h"
#include "linalg/block_pattern.h"

typedef struct BlockLu {
    BlockPattern pattern;  // the caller's arrays, which stay as they are
    int n, d, stride;      // doubles in a padded column: 4 for d = 3, 6 for d = 6
    int *order, *place;    // [n] order[k]: block row eliminated k-th; place: its inverse
    int *start, *row;      // factors by column k: rows below k, ascending, in elimination order
    double* lower;         // [start[n] blocks] L_ik
    double* upper;         // [start[n] blocks] U_ki, stored beside L_ik; unused when symmetric
    double* pivot;         // [n blocks] inverses of the diagonal blocks
    double *column, *line; // [n blocks] work: column k of L, row k of U
    int *next, *head, *at; // [n] lists of columns that update a later one
    double* x;             // [n d] work of the solve
    bool symmetric;
    int shifted;  // pivots shifted in the last factorisation
    int sign;     // of the determinant
    double flops; // multiplications of one factorisation, about
    Stop stop;    // asked during a factorisation; the caller's, never after an analysis
} BlockLu;

// Finds the order and the pattern of the factors; blocks of 3 x 3 or 6 x 6. Memory comes from the
// arena. TDL_STATUS_STOPPED: the factors would be too large.
TdlStatus block_lu_analyse(BlockLu* lu, Arena* arena, const BlockPattern* pattern);
// `value` has a block, column by column, for each place of the pattern. `idle[i]` tells that row i
// is the identity, so that its elimination updates nothing; null: none is. With `symmetric` the
// upper triangle is not read. False: stopped, and there are no factors.
bool block_lu_factor(BlockLu* lu, const double* value, const bool* idle, bool symmetric);
// x <- A^-1 x
void block_lu_solve(BlockLu* lu, double* x);

#endif
