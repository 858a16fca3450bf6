// What a step takes from the energy of a super-model, element by element. super-helix.md (H.27)
#ifndef TDL_ROD_LOSSES_H
#define TDL_ROD_LOSSES_H

#include "rod/rod.h"
#include "rod/tension.h"

// Sums over the elements; the first five in units of the mean mass of one.
typedef struct LossSum {
    double square;   // of the velocities of the step, with what tension adds to inertia
    double taut;     // that part of it
    double brought;  // their product with the velocities brought along
    TdlVec3 motion;  // their sum
    TdlVec3 carried; // that of those brought along
    double bending;  // v'Kv
    double stress;   // v'K (q - q_rest)
    double pointing; // power of the point loads
    double turning;  // of their torques alone
} LossSum;

// An element whose coordinates change at the rate d, in world axes and for unit mass: moments about
// its start, momentum of that change and the moment of it, d'Mqq d.
typedef struct LossElement {
    double share; // of the mean mass of an element
    TdlVec3 h;
    TdlMat3 J;
    TdlVec3 linear, angular;
    double square;
} LossElement;

// Adds an element whose start moves with `at`.
static inline void loss_add(LossSum* sum, Twist at, const LossElement* e) {
    TdlVec3 swing = tdl_cross3(at.angular, e->h);
    TdlVec3 shared = tdl_add3(swing, e->linear);
    double turning =
        tdl_dot3(at.angular, tdl_axpy3(tdl_mul33_3(e->J, at.angular), 2.0, e->angular));
    sum->square +=
        e->share * (tdl_dot3(at.linear, tdl_axpy3(at.linear, 2.0, shared)) + e->square + turning);
    sum->motion = tdl_axpy3(sum->motion, e->share, tdl_add3(at.linear, shared));
}

// Adds what tension p along a chord amounts to for an element whose frame turns with `at` at its
// start and whose coordinates turn its end by `own` more. (H.33)
static inline void loss_add_tension(LossSum* sum, double share, double p, TdlVec3 chord, Twist at,
                                    TdlVec3 own) {
    if (p > 0.0) {
        TdlMat3 P = tension_tensor(p, chord);
        sum->taut += share * (tdl_dot3(at.angular, tdl_mul33_3(P, tdl_add3(at.angular, own))) +
                              tdl_dot3(own, tdl_mul33_3(P, own)) / 3.0);
    }
}

// Power of a force and a moment about a point that moves with `at`.
static inline double loss_power(Twist at, TdlVec3 force, TdlVec3 moment) {
    return tdl_dot3(at.linear, force) + tdl_dot3(at.angular, moment);
}

// Motion of the root while the rod has the velocities v.
Twist loss_root(const Rod* rod, const RodStep* step, const double* v);

// `kinetic`: energy of the velocities brought along, J. `hold` is what contacts and holds do.
RodLosses loss_total(const Rod* rod, const RodStep* step, const LossSum* sum, double kinetic);

// Takes the work of the contacts out of `hold`, for a whole rod or tree.
RodLosses loss_without_contacts(const Rod* rod, const RodStep* step, RodLosses all, double touch);

#endif
