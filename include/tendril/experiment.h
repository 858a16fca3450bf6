// Experiments: the curved three-point bending test, whose answer is known on paper, and the combing
// of a wisp of hair.
#ifndef TENDRIL_EXPERIMENT_H
#define TENDRIL_EXPERIMENT_H

#include "tendril/world.h"

#include <stdio.h>

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

/// The same test done on a world: a rod of any model, clamped, and a disc that rises under it, with
/// contact and friction as in any other simulation.
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
} TdlThreePointRunDef;

TDL_API TdlThreePointRunDef tdl_three_point_run_def_default(void);

/// What was measured at one indentation. Without a contact the force is 0 and the rest NaN.
typedef struct TdlThreePointSample {
    double indentation; // m, at the end of the step
    double force;       // N, vertical, of both discs together
    double angle;       // rad, of the contact normal against the vertical
    double arc_length;  // m, from the middle to the contact
    double error;       // of the contact solver in this step
    int contact_count;
    TdlThreePoint exact; // of the set-up at the same indentation
} TdlThreePointSample;

/// Called at every sample; returns false to stop.
typedef bool (*TdlThreePointProgressFn)(void* user, int done, int total);

/// Does the test and fills samples[point_count]. The disc starts at rest just under the rod, gains
/// speed over a hundredth of the span, and then rises evenly. `progress` may be null.
TDL_API TdlStatus tdl_three_point_run(const TdlHost* host, const TdlThreePointRunDef* def,
                                      TdlThreePointProgressFn progress, void* user,
                                      TdlThreePointSample* samples);

/// How a measured curve compares with the exact one, over indentations from 0.02 to 0.3 spans.
/// Forces are without dimension, F span^2 / (48 B), and indentations in spans.
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
} TdlThreePointVerdict;

TDL_API TdlThreePointVerdict tdl_three_point_judge(const TdlThreePointRunDef* def,
                                                   const TdlThreePointSample* samples);

// --- combing
// --------------------------------------------------------------------------------------
/// A wisp of hair, rooted on a level grid, is let go straight down, curls up as it comes to rest,
/// and is combed from root to tip. The comb has its teeth along +x; it comes from -x until its
/// handle is at the wisp, and is then pulled forwards and down with the same constant speed.
typedef struct TdlCombDef {
    int fibre_count;             // > 0: the squarest grid of so many; default 25
    double natural_curvature;    // 1/m, >= 0; default 60
    double mu;                   // >= 0, of hair on hair and on the comb; default 0.1
    TdlContactGeometry geometry; // default: curves
    int segments;                // per element, > 0, with segments; default 8
    int element_count;           // default 12
    double length, radius;       // m, > 0; default 0.305, 50e-6
    double young, poisson;       // Pa, -; default 1e9, 0.48
    double density;              // kg/m^3; default 1000
    double damping;              // s, >= 0, internal; default 0.01
    double mass_damping;         // 1/s, >= 0: of all motion; default 4
    double settle_damping;       // 1/s, >= 0: the same at first, falling to 0 within 4/5 of
                                 // the relaxation; default 2000
    bool hung;                   // hair starts as it hangs with a weight at its tip that draws its
                                 // curls out, near its rest, and not straight; default false
    bool settle_loosely;         // hair may pass through hair meanwhile; default false
    double spacing, jitter;      // m: of roots, and how far each is moved at most along x and y;
                                 // jitter below (spacing - 2 radius) / 2; default 5e-4, 1e-4
    int seed;                    // of the random offsets, >= 0; default 1
    double step;                 // s, > 0; default 1e-3
    double relaxation;           // s, > 0, before the comb moves; default 4
    double rest_step;            // s, >= 0: that the hair comes to rest in steps of this length, in
                                 // an experiment of its own, tdl_comb_rest; default 0: no
    double speed;                // m/s, > 0, of the comb; default 0.05
    double depth;                // m, > 0: of the comb's first place below the roots; default 0.03
    bool inside;         // the comb is in the wisp from the start, roots in the middle of its
                         // gaps: spacing is a multiple of 2.3 mm; default false
    double clearance;    // m, >= 0: of its teeth to the outermost roots at first; default 0:
                         // as far as hair may curl, and 2 cm
    double travel;       // m, > 0: how far it is pulled; default 0.3
    double tooth_length; // m, > 0; default 0.04
    double frame_period; // s between frames of the result; default 0.02
    double tolerance;    // > 0, of the contact solver; default 1e-8
    int max_iterations;  // > 0, of the contact solver; default 1000
    double overlap;      // in (0, 1]: new overlap, in radii, at which a step is made in parts;
                         // default 0.05
} TdlCombDef;

TDL_API TdlCombDef tdl_comb_def_default(void);

/// The names of the presets, separated by '|', and one of them; false when there is none so called.
TDL_API const char* tdl_comb_presets(void);
TDL_API bool tdl_comb_preset(const char* name, TdlCombDef* out);

/// The experiment with which one with a rest_step begins: looser, and over when its comb starts. In
/// the other the hair is to start where it came to rest there, and the comb starts soon.
TDL_API TdlCombDef tdl_comb_rest(const TdlCombDef* def);

/// When the comb starts, is in place, and ends its way, s.
typedef struct TdlCombTimes {
    double start, pull, end;
} TdlCombTimes;

TDL_API TdlCombTimes tdl_comb_times(const TdlCombDef* def);

/// Writes the experiment as a scene (docs/scene.md) with one group of rods and one collider, the
/// comb. BAD_ARGUMENT when the set-up is out of range; the log tells what.
TDL_API TdlStatus tdl_comb_write_scene(const TdlHost* host, const TdlCombDef* def,
                                       const char* title, FILE* out);

/// What is measured of the comb in a step.
typedef struct TdlCombSample {
    long step;
    double time;        // s, at the end of the step
    double indentation; // m: how far it was pulled; negative while it comes
    TdlVec3 force;      // N, of all contacts on the comb, mean over the step
    int touches;        // contacts with the comb that push
    double curvature;   // 1/m, of the material curvature vector of the hair at these contacts, mean
                        // by force; NaN without one
} TdlCombSample;

/// Measures a world that was built from the scene, after a step. Rods are super-helices.
TDL_API TdlCombSample tdl_comb_measure(const TdlWorld* world, const TdlCombDef* def);

/// How rough a force is: over samples[count], the mean of |F(i-1) - 2 F(i) + F(i+1)| over the mean
/// of |F|, F being the force's size. NaN when there are fewer than three samples, or no force.
TDL_API double tdl_comb_roughness(const TdlCombSample* samples, int count);

/// The hand of a curled hair, turn by turn from its root: points [3 count] along its centreline,
/// and for each the hand of the turn it lies in, hands[count]: 1 right-handed, as a corkscrew, -1
/// left-handed, 0 where the curl is too flat or too short to have one. Returns how often whole
/// turns of one hand are followed by turns of the other: helical perversions. docs/results.md
TDL_API int tdl_comb_hands(const double* points, int count, int* hands);

#ifdef __cplusplus
}
#endif

#endif
