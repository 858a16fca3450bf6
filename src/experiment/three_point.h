// The curved three-point bending test, whose answer is known on paper: solved exactly, and done on
// a world.
#ifndef TDL_EXPERIMENT_THREE_POINT_H
#define TDL_EXPERIMENT_THREE_POINT_H

#include "tendril/world.h"

// A rod on two discs, pressed in the middle. Half of it is looked at: clamped level in the middle,
// while the disc under its other half rises. A natural curvature bends the rod up, away from the
// discs. No gravity.
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

TdlThreePointDef tdl_three_point_def_default(void);

// The rod at one indentation.
typedef struct TdlThreePoint {
    double indentation;  // m, the disc's rise since first contact
    double force;        // N, vertical, of both discs together
    double angle;        // rad, of the tangent at the contact
    double arc_length;   // m, from the middle to the contact
    double middle_curve; // 1/m, curvature in the middle, the largest
} TdlThreePoint;

// The exact solution of the planar elastica, to rounding; docs/theory/three-point.md.
// BAD_ARGUMENT when the set-up is out of range or the indentation is negative or larger than the
// one at which the tangent at the contact is upright; the log tells which.
TdlStatus tdl_three_point_solve(const TdlHost* host, const TdlThreePointDef* def,
                                double indentation, TdlThreePoint* out);

// Height of the disc's centre over the clamp at first contact, m. The set-up must be in range.
double tdl_three_point_first_height(const TdlThreePointDef* def);

// The same test done on a world: a rod of any model, clamped, and a disc that rises under it, with
// contact and friction as in any other simulation.
typedef struct TdlThreePointRunDef {
    TdlThreePointDef setup;      // friction acts as the world has it, on the centreline
    const char* model;           // one of tdl_rod_models(); default "super-helix"
    int element_count;           // default 20
    TdlContactGeometry geometry; // default: curves
    int segments;                // per element, > 0, when detection sees segments; default 5
    double length;               // m, of half the rod, longer than the largest arc length to the
                                 // contact; default 0.05
    double poisson;              // default 0.33
    double density;              // kg/m^3, > 0; default 6450
    double step;                 // s, > 0; default 1e-4
    double speed;                // m/s, >= 0: of the disc; default 0: 5e-3, or slower with long
                                 // steps, so that it rises by at most span / 1e5 in one
    double depth;                // m, > 0: the last indentation; default 0.015
    int point_count;             // > 0: at so many indentations, evenly spread; default 1000
    double tolerance;            // > 0, of the contact solver; default 1e-10
    TdlContactResponse response; // default exact
    TdlBarrierDef barrier;       // of the barrier; its distance and stiffness positive. Default: a
                                 // thousandth of the span, 100 N/m
} TdlThreePointRunDef;

TdlThreePointRunDef tdl_three_point_run_def_default(void);

// What was measured at one indentation. Without a contact the force is 0 and the rest NaN.
typedef struct TdlThreePointSample {
    double indentation; // m, at the end of the step
    double force;       // N, vertical, of both discs together
    double angle;       // rad, of the contact normal against the vertical
    double arc_length;  // m, from the middle to the contact
    double error;       // of the contact solver in this step
    int contact_count;
    double gap;          // m, the least
    TdlThreePoint exact; // of the set-up at the same indentation; with the barrier on a disc that
                         // is wider by the gap that the barrier has under that force (P.14)
    TdlThreePoint plain; // of the set-up itself
} TdlThreePointSample;

// The exact solution with a barrier between rod and disc, and the gap that it leaves. (P.14)
TdlStatus tdl_three_point_solve_barrier(const TdlHost* host, const TdlThreePointDef* def,
                                        const TdlBarrierDef* barrier, double indentation,
                                        TdlThreePoint* out, double* gap);

// Called at every sample; returns false to stop.
typedef bool (*TdlThreePointProgressFn)(void* user, int done, int total);

// Does the test and fills samples[point_count]. The disc starts at rest just under the rod, gains
// speed over a hundredth of the span, and then rises evenly. `progress` may be null.
TdlStatus tdl_three_point_run(const TdlHost* host, const TdlThreePointRunDef* def,
                              TdlThreePointProgressFn progress, void* user,
                              TdlThreePointSample* samples);

// How a measured curve compares with the exact one, over indentations from 0.02 to 0.3 spans.
// Forces are without dimension, F span^2 / (48 B), and indentations in spans.
typedef struct TdlThreePointVerdict {
    int count;         // samples compared
    double deviation;  // largest |force - exact| / max(exact, a tenth of the largest exact force)
    double at;         // indentation where
    double jump;       // L1 norm of the derivative of force less exact force
    double ratio_jump; // L1 norm of the derivative of force over exact force
    double kink;       // sum of the second differences of force less exact force: with twice the
                       // points half as much where it is smooth, but as much where it jumps
    double chord_jump; // what `jump` is for fine chords in place of a smooth rod, (T.15)
    int lost_contacts; // samples without a contact
    double bias;       // largest difference of the exact solution with a barrier from that without
    double least_gap;  // m, of the contacts
} TdlThreePointVerdict;

TdlThreePointVerdict tdl_three_point_judge(const TdlThreePointRunDef* def,
                                           const TdlThreePointSample* samples);

#endif
