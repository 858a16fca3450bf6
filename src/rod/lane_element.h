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
    LaneVec way, mean; // own axes, unit length: the end, and the mean of all points

    LaneVec position, span; // of the start; from start to end
    LaneMat shift, turn;    // S = [shift; turn]: motion of the end for a change of q

    LaneVec h;
    LaneSym J;
    LaneMat Bm, Hm;
    LaneSym Mqq; // own axes
    Lane taut;   // of tension.h: what it added to J, Hm and Mqq

    // what the velocities brought from the shape before amount to: force, moment, pairing with q
    LaneVec force, moment, own;

    // factor: D = L diag L' and Z = U L'^-1 diag^-1 (L.2)
    Lane low[3], inverse[3]; // l10, l20, l21; 1/d0, 1/d1, 1/d2
    LaneMat Z_linear, Z_angular;
} LaneElement;

// How an element starts: its motion.
typedef struct LaneTwist {
    LaneVec linear, angular;
} LaneTwist;

// What follows from q alone, in own axes and for unit length: the end and the mean of all points,
// the rates of the end and of its frame, and that frame.
typedef struct LaneCurl {
    LaneVec q, p, h;
    Lane y, c[8]; // (H.4) at s = 1
    LaneMat B, T, turned;
} LaneCurl;

void lane_element_curl(const LaneVec* q, LaneCurl* out);

// Sets the shape, but for the place and the inertia, from the frame at the start.
void lane_element_place(LaneElement* el, const LaneCurl* curl, const LaneMat* frame, const Lane* l);

// Motion of the end when q changes at the rate d and the start stands still.
void lane_element_rates(const LaneElement* el, const LaneVec* rate, LaneTwist* out);

// The velocities of an element whose start moves with `at` and whose q changes at the rate d, in
// the shape it has: its field, in the element's axes R, said by the six functions.
typedef struct LaneField {
    LaneVec part[HELIX_AKK];
    Lane y, spin, twist; // of the sections about their tangents; rate of the twist (H.24)
    LaneMat R;
} LaneField;

void lane_element_field(const LaneElement* el, const Lane* l, const LaneTwist* at, const LaneVec* d,
                        LaneField* field);

// Inertia of the present shape, which has this curl, and the momentum of a field of another one.
// `square` receives the mean square of the velocities, with gyration times that of the spin.
void lane_element_load(LaneElement* el, const Lane* l, const Lane* gyration, const LaneField* field,
                       const LaneCurl* curl, Lane* square);

#endif
