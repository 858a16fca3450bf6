// The combing of a wisp of hair: its presets, the scene that stands for it, and what is measured.
#ifndef TDL_EXPERIMENT_COMB_H
#define TDL_EXPERIMENT_COMB_H

#include "tendril/world.h"

#include <stdio.h>

// A wisp of hair, rooted on a level grid, is let go straight down, curls up as it comes to rest,
// and is combed from root to tip. The comb has its teeth along +x; it comes from -x until its
// handle is at the wisp, and is then pulled forwards and down with the same constant speed.
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

TdlCombDef tdl_comb_def_default(void);

// The preset of that name; false when there is none.
bool tdl_comb_preset(const char* name, TdlCombDef* out);

// The experiment with which one with a rest_step begins: looser, and over when its comb starts. In
// the other the hair is to start where it came to rest there, and the comb starts soon.
TdlCombDef tdl_comb_rest(const TdlCombDef* def);

// When the comb starts, is in place, and ends its way, s.
typedef struct TdlCombTimes {
    double start, pull, end;
} TdlCombTimes;

TdlCombTimes tdl_comb_times(const TdlCombDef* def);

// Writes the experiment as a scene (docs/scene.md) with one group of rods and one collider, the
// comb. BAD_ARGUMENT when the set-up is out of range; the log tells what.
TdlStatus tdl_comb_write_scene(const TdlHost* host, const TdlCombDef* def, const char* title,
                               FILE* out);

// What is measured of the comb in a step.
typedef struct TdlCombSample {
    long step;
    double time;        // s, at the end of the step
    double indentation; // m: how far it was pulled; negative while it comes
    TdlVec3 force;      // N, of all contacts on the comb, mean over the step
    int touches;        // contacts with the comb that push
    double curvature;   // 1/m, of the material curvature vector of the hair at these contacts, mean
                        // by force; NaN without one
} TdlCombSample;

// Measures a world that was built from the scene, after a step. Rods are super-helices.
TdlCombSample tdl_comb_measure(const TdlWorld* world, const TdlCombDef* def);

// How rough a force is: over samples[count], the mean of |F(i-1) - 2 F(i) + F(i+1)| over the mean
// of |F|, F being the force's size. NaN when there are fewer than three samples, or no force.
double tdl_comb_roughness(const TdlCombSample* samples, int count);

// The hand of a curled hair, turn by turn from its root: points [3 count] along its centreline,
// and for each the hand of the turn it lies in, hands[count]: 1 right-handed, as a corkscrew, -1
// left-handed, 0 where the curl is too flat or too short to have one. Returns how often whole
// turns of one hand are followed by turns of the other: helical perversions. docs/results.md
int tdl_comb_hands(const double* points, int count, int* hands);

#endif
