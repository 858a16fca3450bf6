// One element of four super-helices, or four elements of one: shape, inertia and momentum.
// linear-time.md
#ifndef TDL_ROD_LANE_ELEMENT_H
#define TDL_ROD_LANE_ELEMENT_H

#include "rod/helix_lanes.h"

// World axes unless said otherwise; inertia for unit mass, about the element's start.
typedef struct LaneElement {
    // what inertia and momentum are found from
    LaneVec q; // own axes
    Lane y;    // |q|^2
    LaneMat R;

    LaneVec position, span; // of the start; from start to end
    LaneMat shift, turn;    // S = [shift; turn]: motion of the end for a change of q

    LaneVec h;
    LaneSym J;
    LaneMat Bm, Hm;
    LaneSym Mqq; // own axes

    // what the velocities brought from the shape before amount to: force, moment, pairing with q
    LaneVec force, moment, own;

    // factor: D = L diag L' and W = U D^-1 (L.2)
    Lane low[3], inverse[3]; // l10, l20, l21; 1/d0, 1/d1, 1/d2
    LaneMat W_linear, W_angular;
} LaneElement;

// Where an element starts, how it moves.
typedef struct LanePose {
    LaneVec position;
    LaneMat R;
} LanePose;

typedef struct LaneTwist {
    LaneVec linear, angular;
} LaneTwist;

// Sets the shape (not the inertia) and moves `start` on to the end of the element.
void lane_element_shape(LaneElement* el, const LaneVec* q, const Lane* l, LanePose* start);

// The velocities of an element whose start moves with `at` and whose q changes at the rate d, in
// the shape it has: its field, in the element's axes, said by the six functions.
typedef struct LaneField {
    LaneVec part[HELIX_AKK];
    Lane y, spin; // spin: of the sections about the tangent (H.24)
} LaneField;

void lane_element_field(const LaneElement* el, const Lane* l, const LaneTwist* at, const LaneVec* d,
                        LaneField* field);

// Inertia of the present shape, and the momentum of a field given in the axes `R_before`. `square`
// receives the mean square of the velocities, with gyration times that of the spin.
void lane_element_load(LaneElement* el, const Lane* l, const Lane* gyration, const LaneField* field,
                       const LaneMat* R_before, Lane* square);

// The same for `count` elements of one rod, which fills all lanes: they go through one call, in a
// lane each. (Where fewer than four, the last one fills the rest.)
void lane_element_load_alone(LaneElement* el, int count, const Lane* l, const Lane* gyration,
                             const LaneField* fields, const LaneMat* R_before, Lane* squares);

#endif
