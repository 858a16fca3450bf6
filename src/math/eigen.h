// Eigenvalues of symmetric matrices.
#ifndef TDL_MATH_EIGEN_H
#define TDL_MATH_EIGEN_H

#include "tendril/math.h"

// The eigenvalues of the symmetric matrix a, in increasing order, and the matching unit
// eigenvectors as the columns of a rotation. The upper triangle is not read.
void tdl_eigen_3(TdlMat3 a, double values[3], TdlMat3* vectors);

// The smallest eigenvalue of a symmetric n x n matrix (column-major, lower triangle), n >= 1, to
// a few eps times its norm. Overwrites the lower triangle. Scratch: 3 n doubles. NaN when an entry
// is not finite. 4/3 n^3 flops.
double tdl_smallest_eigenvalue(int n, double* a, int ld, double* scratch);

#endif
