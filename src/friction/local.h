// One-contact solvers: given the diagonal block W of a contact and the velocity b that the rest of
// the world gives it, find r with (W r + b, r) in the law. friction.md section 3
//
// The hot solver works on a block prepared once: the Schur complement S of the normal direction,
// diagonalised, S = Q' diag(s) Q with m = d - 1. Prepared blocks lie flat in memory.
#ifndef TDL_FRICTION_LOCAL_H
#define TDL_FRICTION_LOCAL_H

#include "friction/cone.h"
#include "tendril/friction.h"

typedef enum LocalResult {
    LOCAL_SOLVED = 0,
    LOCAL_NONE,   // no solution exists: the nearest regularised one was returned
    LOCAL_FAILED, // the iteration did not converge (Fischer-Burmeister only)
} LocalResult;

// Offsets in a prepared block of m tangential directions.
enum {
    PREP_WNN = 0,   // normal stiffness
    PREP_FLOOR = 1, // eigenvalues below this count as zero
    PREP_ALPHA = 2, // last sliding multiplier, the next first guess
    PREP_S = 3,     // [m] eigenvalues of S, then [m] Q W_TN, then Q [m m] row by row
};

static inline int prep_size(int d) {
    return d == 3 ? 12 : 40;
}

// Prepares a symmetric d x d block; slightly indefinite ones are clipped to semidefinite.
void local_prepare(int d, const double* w, double* prep);

// The bracketed secular root; works for every law and any positive semidefinite block.
LocalResult local_secular3(double* prep, ContactLaw law, double mu, const double* b, double* r);
LocalResult local_secular6(double* prep, ContactLaw law, double mu, const double* b, double* r);

// Of a contact without shift: prepared otherwise, with the eigenvectors of W_TT.
// inverse-contacts.md (V.61)
void local_prepare_associated(int d, const double* w, double* prep);
LocalResult local_associated(int d, double* prep, double mu, const double* b, double* r);

// Eigenvalues of S below this part of trace(W) count as zero: about 50 machine epsilons.
static const double LOCAL_SINGULAR = 1.0e-14;

// Symmetric eigenproblem of size two, q by rows: one rotation, and the eigenvalues, on the diagonal
// of a, as they are updated by it.
static inline void local_eigen2(double* a, double* q) {
    double t = 0.0;
    if (a[1] != 0.0) {
        double theta = (a[3] - a[0]) / (2.0 * a[1]);
        t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    }
    double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    a[0] -= t * a[1];
    a[3] += t * a[1];
    q[0] = q[3] = c;
    q[1] = -s;
    q[2] = s;
}

// Symmetric eigenproblem of size m by cyclic Jacobi rotations, eigenvalues on the diagonal of a; q
// receives eigenvectors as rows.
void local_eigen(int m, double* a, double* q);

// The selected solver on one block; `failsafe` counts enumerations of the hybrid.
LocalResult local_solve(TdlFrictionLocal kind, int d, const double* w, double* prep, ContactLaw law,
                        double mu, const double* b, double* r, long long* failsafe);

#endif
