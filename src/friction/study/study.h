// What is kept to compare with, selected by name alone: `tendril dfcp --solver`, `--local`.
#ifndef TDL_FRICTION_STUDY_H
#define TDL_FRICTION_STUDY_H

#include "friction/local.h"
#include "friction/run.h"

TdlStatus run_newton(Run* run);      // S1: nonsmooth Newton, Goldstein-Price search
TdlStatus run_admm(Run* run);        // alternating directions with one factorisation
TdlStatus run_fixed_point(Run* run); // Cadoux: a sequence of convex problems
TdlStatus run_faceted(Run* run);     // a faceted cone: not exact
// S3: normal impulses by an active set or interior points, friction that always slides.
TdlStatus run_active_set(Run* run);
TdlStatus run_normal_interior(Run* run);

// Take-off, stick, slide through the quartic, cones of dimension 3 only. Certifies LOCAL_NONE.
LocalResult local_enumerate(const double* prep, double mu, const double* b, double* r);

// Fischer-Burmeister semismooth Newton from the guess in r, cones only.
LocalResult local_fischer(int d, const double* w, double mu, const double* b, double* r);

#endif
