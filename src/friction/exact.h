// Velocities and the natural map in extended precision, for impulses beside which they are lost.
// friction.md section 2
#ifndef TDL_FRICTION_EXACT_H
#define TDL_FRICTION_EXACT_H

#include "friction/system.h"

// What rounding of r, and of the velocities that it gives, leaves in the map in double precision;
// and whether that matters to an error of the natural map found there and to what is asked for:
// unit-free of a system, and in SI, not relative, of a problem, of which nothing is asked.
double exact_rounding(const System* sys, const double* r);
bool exact_matters(const System* sys, double error, double rounding);
bool exact_matters_to(const TdlFrictionProblem* p, double error, const double* r);

// Products with W that it takes the time of, about.
static const double EXACT_WORK = 10.0;

// Some contacts of a problem with their laws: u = W r/unit + b.
typedef struct ExactView {
    const TdlFrictionProblem* problem;
    const int* contact; // [n] of the problem; null: all
    int n;
    const ContactLaw* law; // [n]
    const double *mu, *b;  // [n], [n d]; no b: zero
    double unit, rho;      // of W; step of the map
} ExactView;

ExactView exact_view(const System* sys);

// |r - P(r - rho u~)|; infinite where memory is short.
double exact_error(const ExactView* view, Arena* arena, const double* r);

// u <- W r/unit + b, rounded once.
TdlStatus exact_velocity(const ExactView* view, Arena* arena, const double* r, double* u);

// The same over all contacts of a problem, as it was given.
double exact_norm(const TdlFrictionProblem* p, Arena* arena, const double* r);

#endif
