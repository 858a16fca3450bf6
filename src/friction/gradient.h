// Steps of the accelerated projected gradient.
#ifndef TDL_FRICTION_GRADIENT_H
#define TDL_FRICTION_GRADIENT_H

#include "friction/run.h"

typedef struct Gradient {
    Run* run;
    double* weight; // [n] 1 / D_i
    double* s;      // [n] shift
    double *r, *r_last, *y, *u_y, *u_r;
    double lipschitz, theta;
} Gradient;

TdlStatus gradient_init(Gradient* g, Run* run);
// s <- mu |u_T|
void gradient_renew_shift(Gradient* g, const double* u);
// One accelerated step; u_r is the velocity of the new r. With `follow` the shift is renewed.
void gradient_step(Gradient* g, bool follow);

#endif
