// Contacts around those where the law is off most, solved as one with all others held.
// friction.md section 4.9
//
// A full step is far off at a few contacts whose modes it had wrong, and hardly elsewhere: two
// hairs that lie along each other and cross two others that do make a ring of four contacts, W is
// nearly singular along (+, -, +, -), and a step goes so far along it that contacts open which
// should not. With what is around it such a place is a small problem.
#ifndef TDL_FRICTION_PATCHES_H
#define TDL_FRICTION_PATCHES_H

#include "friction/run.h"

// Puts r right, u its velocity, patch by patch, until the error is below `goal`, no patch has most
// of it, one does not help, or so many multiplications would not do; both are replaced. Contacts of
// three; the rows of W are there.
TdlStatus patches_solve(Run* run, double goal, double most, double* u, double* r);

#endif
