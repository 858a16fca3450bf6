// S3's problem of a step, the contacts' normal impulses alone: minimise r'Wr/2 + q'r with r >= 0,
// which is u = W r + q >= 0, r >= 0, r'u = 0. W is positive semidefinite: rows may depend on each
// other. docs/theory/friction.md, section 6
#ifndef TDL_FRICTION_STUDY_NORMAL_H
#define TDL_FRICTION_STUDY_NORMAL_H

#include "base/memory.h"
#include "friction/effort.h"

typedef struct NormalProblem {
    int n;
    const double* W;           // [n n]
    const double* q;           // [n]
    const unsigned char* free; // [n] nonzero: r may have either sign, and u = 0; null: none
} NormalProblem;

typedef enum NormalOutcome {
    NORMAL_SOLVED,
    NORMAL_INFEASIBLE, // no r: then r >= 0 has W r = 0 and q'r < 0
    NORMAL_LIMIT,      // iterations, or what it may cost
} NormalOutcome;

typedef struct NormalSolve {
    NormalOutcome outcome;
    int iterations;
} NormalSolve;

// `r` holds a guess and receives the result; `u` receives W r + q. `effort` may be null.
// TDL_STATUS_NO_MEMORY or TDL_STATUS_OK.
typedef TdlStatus (*NormalFn)(const NormalProblem* problem, Arena* arena, Effort* effort, double* r,
                              double* u, NormalSolve* out);

// Goldfarb's and Idnani's dual method, from the rows that the guess has positive. (F.91)
TdlStatus normal_active_set(const NormalProblem* problem, Arena* arena, Effort* effort, double* r,
                            double* u, NormalSolve* out);

// A primal-dual interior point; no guess helps it. (F.92)
TdlStatus normal_interior(const NormalProblem* problem, Arena* arena, Effort* effort, double* r,
                          double* u, NormalSolve* out);

#endif
