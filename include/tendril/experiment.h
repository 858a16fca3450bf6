// Experiments whose answer is known on paper: the curved three-point bending test.
#ifndef TENDRIL_EXPERIMENT_H
#define TENDRIL_EXPERIMENT_H

#include "tendril/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A rod on two discs, pressed in the middle. Half of it is looked at: clamped level in the middle,
/// while the disc under its other half rises. A natural curvature bends the rod up, away from the
/// discs. No gravity.
typedef struct TdlThreePointDef {
    double span;              // m, > 0: between the centres of the discs; default 0.05
    double rod_radius;        // m, >= 0; default 1.85e-4
    double support_radius;    // m, >= 0: of the discs; rod and disc together below span / 2;
                              // default 1.85e-4
    double bending;           // N m^2, > 0: the rod's bending stiffness E I; default 7.636e-5
    double natural_curvature; // 1/m, >= 0, below 2 / (span - 2 rod_radius - 2 support_radius),
                              // where the rod stands upright on its disc; default 0
    double mu;                // >= 0: friction between rod and disc, sliding; default 0
    bool surface_friction;    // friction acts on the rod's surface and so with a couple; default
                              // false: on its centreline
} TdlThreePointDef;

TDL_API TdlThreePointDef tdl_three_point_def_default(void);

/// The rod at one indentation.
typedef struct TdlThreePoint {
    double indentation;  // m, the disc's rise since first contact
    double force;        // N, vertical, of both discs together
    double angle;        // rad, of the tangent at the contact
    double arc_length;   // m, from the middle to the contact
    double middle_curve; // 1/m, curvature in the middle, the largest
} TdlThreePoint;

/// The exact solution of the planar elastica, to rounding; docs/theory/three-point.md.
/// BAD_ARGUMENT when the set-up is out of range or the indentation is negative or larger than the
/// one at which the tangent at the contact is upright; the log tells which.
TDL_API TdlStatus tdl_three_point_solve(const TdlHost* host, const TdlThreePointDef* def,
                                        double indentation, TdlThreePoint* out);

/// Height of the disc's centre over the clamp at first contact, m. The set-up must be in range.
TDL_API double tdl_three_point_first_height(const TdlThreePointDef* def);

#ifdef __cplusplus
}
#endif

#endif
