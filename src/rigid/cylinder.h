// Cylinders with flat ends: mass, and what detection sees of them.
#ifndef TDL_RIGID_CYLINDER_H
#define TDL_RIGID_CYLINDER_H

#include "body/cylinder.h"
#include "rigid/shape.h"

// As seen from the centre of mass.
Cylinder cylinder_core(const TdlRigidDef* def, TdlVec3 centre);

RigidMass cylinder_mass(const TdlRigidDef* def);

// The arcs of both rims as seen from the middle: out[2 CYLINDER_ARCS].
TdlStatus cylinder_rims(const TdlHost* host, const TdlRigidDef* def, TdlCurve* out);

// A prism within the core, and triangles about its ends, as seen from the centre of mass.
TdlStatus cylinder_stand_in(const TdlHost* host, const Cylinder* cylinder, struct Surface** out);
TdlStatus cylinder_ends(const TdlHost* host, const Cylinder* cylinder, struct Surface** out);

#endif
