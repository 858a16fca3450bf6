// Symmetric positive definite matrices with a narrow band.
#ifndef TDL_LINALG_BANDED_H
#define TDL_LINALG_BANDED_H

// Storage: the lower band by columns, entry (i, j) with 0 <= i - j <= width at
// band[(i - j) + j (width + 1)]; (width + 1) n numbers. Places beyond the last row are not read.

// A = L L' in place. Returns n, or the first column whose pivot is not positive. n (width+1)^2
// flops.
int banded_cholesky(int n, int width, double* band);

// Solves A X = B in place from the factor, for rhs_count columns of b.
void banded_solve(int n, int width, const double* band, int rhs_count, double* b, int ldb);

#endif
