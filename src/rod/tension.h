// Tension of a super-model's elements, as rotary inertia: what keeps a taut rod stable in steps
// longer than the time of a wave along an element. super-helix.md (H.33)
#ifndef TDL_ROD_TENSION_H
#define TDL_ROD_TENSION_H

#include "math/rotation.h"
#include "rod/rod.h"

// A force (N) that a contact is expected to have on an element.
void tension_expect(Rod* rod, int element, double s, TdlVec3 force);

// For each element the moment of inertia that its tension amounts to in a step, for unit mass and
// unit mass factor, m^2; false, and nothing written, where no element is so taut. `chord` tells
// from where to where an element goes.
bool tension_find(const Rod* rod, const RodStep* step,
                  TdlVec3 (*chord)(const Rod* rod, int element), double* out);

// p (I - t t'), t along an element's chord.
static inline TdlMat3 tension_tensor(double p, TdlVec3 chord) {
    TdlVec3 t = tdl_unit3(chord);
    return tdl_axpy33(tdl_scale33(p, tdl_identity33()), -p, tdl_outer3(t, t));
}

// The momentum of an element's inertia without what tension added to it: J, and the moment of a
// change of the coordinates that turns the element's end by `own`.
static inline void tension_leave_out(double p, TdlVec3 chord, TdlVec3 own, TdlMat3* J,
                                     TdlVec3* moment) {
    if (p > 0.0) {
        TdlMat3 P = tension_tensor(p, chord);
        *J = tdl_sub33(*J, P);
        *moment = tdl_axpy3(*moment, -0.5, tdl_mul33_3(P, own));
    }
}

#endif
