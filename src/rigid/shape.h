// The shapes of rigid bodies: their mass, and the curves that detection sees.
#ifndef TDL_RIGID_SHAPE_H
#define TDL_RIGID_SHAPE_H

#include "tendril/rigid.h"

// Mass, centre and inertia of a body.
typedef struct RigidMass {
    double mass;     // kg
    TdlVec3 centre;  // of mass, from the placed pose
    TdlMat3 inertia; // kg m^2, about the centre of mass
} RigidMass;

int rigid_shape_curve_count(const TdlRigidDef* def);

// The curves as seen from the placed pose: out[curve_count].
TdlStatus rigid_shape_curves(const TdlHost* host, const TdlRigidDef* def, TdlCurve* out);

// From the definition and, for a chain, its curves. (B.1) to (B.4)
RigidMass rigid_shape_mass(const TdlRigidDef* def, const TdlCurve* curves, int count);

#endif
