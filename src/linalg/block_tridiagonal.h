// Symmetric block-tridiagonal matrices with small dense blocks.
#ifndef TDL_LINALG_BLOCK_TRIDIAGONAL_H
#define TDL_LINALG_BLOCK_TRIDIAGONAL_H

#include <stdbool.h>

// n block rows of size b. Blocks are column-major and follow each other: diagonal[k] is A(k, k), of
// which the lower triangle counts, and below[k] is A(k+1, k), k < n - 1.
typedef struct BlockTridiagonal {
    int n, b;
    double* diagonal; // [n b b]
    double* below;    // [(n - 1) b b]
} BlockTridiagonal;

// A = L D L' in place, L with unit diagonal, without pivoting. Returns n b, or the first scalar
// column whose pivot is zero or not finite or, with `definite`, not positive. 7/3 n b^3 flops.
int block_tridiagonal_factor(BlockTridiagonal* a, bool definite);

// Solves A x = b in place from the factor, for rhs_count columns.
void block_tridiagonal_solve(const BlockTridiagonal* a, int rhs_count, double* x, int ldx);

// y = A x, for a matrix not yet factored.
void block_tridiagonal_multiply(const BlockTridiagonal* a, const double* x, double* y);

#endif
