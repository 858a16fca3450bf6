// Direct solvers for sparse symmetric matrices, behind a table of functions.
//
// Life cycle: analyse a pattern once, factor many matrices with that pattern, solve many
// right-hand sides with each factor, destroy. This is where matrices of meshes come in: a solver
// for narrow bands or with supernodes is one more table, and its users do not change.
#ifndef TDL_LINALG_SPARSE_CHOLESKY_H
#define TDL_LINALG_SPARSE_CHOLESKY_H

#include "tendril/base.h"

// The pattern of a symmetric n x n matrix by columns: both triangles, rows increasing strictly
// within a column. The diagonal may have gaps.
typedef struct SparsePattern {
    int n;
    const int* start; // [n + 1]
    const int* index; // [start[n]]
} SparsePattern;

typedef enum SparseOutcome {
    SPARSE_FACTORED = 0,
    SPARSE_NEGATIVE_PIVOT, // the matrix is not positive definite
    SPARSE_ZERO_PIVOT,     // singular, or L D L' does not exist without pivoting
    SPARSE_BAD_PIVOT,      // infinite or not a number: so was an entry, or the factor overflowed
} SparseOutcome;

typedef struct SparseFactorInfo {
    SparseOutcome outcome;
    int column;         // of the matrix, where the factorisation failed; -1 if it did not
    double pivot;       // the failing pivot
    int negative_count; // negative pivots met: the number of negative eigenvalues when factored
} SparseFactorInfo;

typedef struct SparseSolver {
    const char* name;

    // Copies the pattern, orders it and finds the pattern of its factor. TDL_STATUS_BAD_ARGUMENT
    // when the pattern is not as described above.
    TdlStatus (*analyse)(const TdlAllocator* mem, const SparsePattern* pattern, void** factor);

    // `value` goes with the pattern's index; only finite numbers. With allow_indefinite negative
    // pivots are accepted; the caller then watches the residual.
    SparseFactorInfo (*factor)(void* factor, const double* value, bool allow_indefinite);

    // Solves in place for rhs_count columns of b. After a failed factorisation it must not be
    // called.
    void (*solve)(void* factor, int rhs_count, double* b, int ldb);

    // The number of entries of L below its diagonal.
    int (*fill)(const void* factor);

    void (*destroy)(void* factor);
} SparseSolver;

// L D L' by SuiteSparse LDL, with the approximate minimum degree ordering of SuiteSparse AMD.
extern const SparseSolver SPARSE_SOLVER_LDL;

#endif
