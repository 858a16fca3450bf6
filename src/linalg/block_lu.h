// Sparse LU of matrices with the block pattern of W, values not symmetric. friction.md section 4.4
//
// The order comes from AMD on the block graph and the pattern of the factors is found once; a
// factorisation then costs only arithmetic on d x d blocks. Pivots are diagonal blocks, inverted
// with partial pivoting inside; a block too near singular is shifted, and the shift counted.
#ifndef TDL_FRICTION_BLOCK_LU_H
#define TDL_FRICTION_BLOCK_LU_H

#include "friction/system.h"

typedef struct BlockLu {
    int n, d, stride;      // doubles in a padded column: 4 for d = 3, 6 for d = 6
    int *order, *place;    // [n] order[k]: contact eliminated k-th; place: its inverse
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
} BlockLu;

// Rows of the matrix to be factored, in the pattern of sys: block (i, e) of row i is value[e].
// `idle[i]` tells that row i is the identity: its elimination updates nothing.
// TDL_STATUS_STOPPED: the factors would be too large.
TdlStatus block_lu_analyse(BlockLu* lu, Arena* arena, const System* sys);
void block_lu_factor(BlockLu* lu, const System* sys, const double* value, const bool* idle,
                     bool symmetric);
// x <- A^-1 x
void block_lu_solve(BlockLu* lu, double* x);

#endif
