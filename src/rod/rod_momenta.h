// Momenta of a free rod of a super-model, kept to rounding from step to step. super-helix.md (H.34)
#ifndef TDL_ROD_ROD_MOMENTA_H
#define TDL_ROD_ROD_MOMENTA_H

#include "rod/rod.h"

// Adds an element of mass m whose start is at `arm` and moves with `at`: with its moments about its
// start, and the momentum of its changing coordinates and the moment of it, for unit mass.
void rod_momenta_add(RodMomenta* sum, TdlVec3 arm, double m, TdlVec3 h, TdlMat3 J, Twist at,
                     TdlVec3 linear, TdlVec3 angular);

// What a free rod keeps of its momenta. Of the state: the momenta, the angular one about the centre
// of mass, and whether they are known.
typedef struct RodKept {
    TdlVec3 linear, angular;
    bool known;
    TdlVec3 centre; // of mass, before the attempt
    TdlVec3 turned; // how the angular momentum in the middle of the attempt differs from that of
                    // its velocities in the shape before it
    TdlVec3 pushed; // m, how a push displaces that in it
    Twist rigid;    // motion of the root that alone has the momenta, in the last attempt
    double energy;  // J, of that motion
} RodKept;

// Whether the rod's momenta are kept so: nothing holds it, and its model tells of them.
bool rod_keeps(const Rod* rod);

// Gives v_free, as predicted, the momenta that there were and what gravity, wind and loads add.
void rod_kept_correct(RodKept* kept, Rod* rod, const RodStep* step);

// The same of v, at the end of a step by the midpoint rule without loads and drag.
void rod_kept_correct_end(const RodKept* kept, Rod* rod, const RodStep* step);

// Takes note of the momenta of a rod whose velocities are v in its present shape.
void rod_kept_note(RodKept* kept, const Rod* rod, const double* v);

// Before the step, where its centre of mass is; and after the rod was advanced, by the midpoint
// rule or not: moves it so that this went as its momentum says. A refresh follows.
void rod_kept_start(RodKept* kept, const Rod* rod);
void rod_kept_shift(const RodKept* kept, Rod* rod, const RodStep* step, bool middle);

// What that is going to add to the places of the rod when v takes its coordinates to q and its
// start to `start`.
TdlVec3 rod_kept_ahead(const RodKept* kept, const Rod* rod, const double* v, const double* q,
                       TdlPose start, double dt);

// Before the rod is advanced, what a push is going to displace its centre of mass by; and after the
// push, which found the centre at `centre`: takes it there and no further, and the angular momentum
// that the rod goes on with, as seen from a frame, is what it was (W.25). A refresh follows.
void rod_kept_foresee(RodKept* kept, const Rod* rod, const double* push);
TdlVec3 rod_kept_centre(const Rod* rod);
void rod_kept_push(RodKept* kept, Rod* rod, TdlVec3 centre, TdlVec3 frame);

// Slows what the rod does beside moving as a whole, so that `surplus` of its kinetic energy is
// gone, or all of that motion. Returns what was taken.
double rod_kept_slow(const RodKept* kept, Rod* rod, double kinetic, double surplus);

enum { ROD_KEPT_DOUBLES = 7 };
void rod_kept_save(const RodKept* kept, double state[ROD_KEPT_DOUBLES]);
void rod_kept_load(RodKept* kept, const double state[ROD_KEPT_DOUBLES]);

#endif
