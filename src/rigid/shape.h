// The shapes of rigid bodies: their mass, and the curves that detection sees.
#ifndef TDL_RIGID_SHAPE_H
#define TDL_RIGID_SHAPE_H

#include "body/solid.h"
#include "tendril/rigid.h"

struct Surface;

// Mass, centre and inertia of a body.
typedef struct RigidMass {
    double mass;     // kg
    TdlVec3 centre;  // of mass, from the placed pose
    TdlMat3 inertia; // kg m^2, about the centre of mass
} RigidMass;

// Its curves but for a mesh, which has those that its surface gives.
int rigid_shape_curve_count(const TdlRigidDef* def);

// The curves as seen from the placed pose: out[curve_count].
TdlStatus rigid_shape_curves(const TdlHost* host, const TdlRigidDef* def, TdlCurve* out);

// The surface as seen from the centre of mass; null where there is none, as of boxes as round as
// they can be.
TdlStatus rigid_shape_surface(const TdlHost* host, const TdlRigidDef* def, TdlVec3 centre,
                              struct Surface** out);

// The body in closed form as seen from the centre of mass; false: it has none.
bool rigid_shape_solid(const TdlRigidDef* def, TdlVec3 centre, Solid* out);

// The edges of a surface at which something can touch it: how many, and out[count] if not null.
int rigid_surface_edges(const TdlHost* host, const struct Surface* surface, TdlCurve* out);

// From the definition and, for a chain, its curves; with its own mass, centre and inertia where
// they are given. (B.1) to (B.4), (B.14) to (B.17)
RigidMass rigid_shape_mass(const TdlRigidDef* def, const TdlCurve* curves, int count);

// Whether it has an inertia of its own.
bool rigid_has_inertia(const TdlRigidDef* def);

// Half its thickness, m: what an overlap is measured against.
double rigid_shape_size(const TdlRigidDef* def);

// Inertia from the second moments of mass: trace I - S. (B.1)
static inline TdlMat3 rigid_inertia_of(TdlMat3 s) {
    double trace = s.cx.x + s.cy.y + s.cz.z;
    return tdl_sub33(tdl_scale33(trace, tdl_identity33()), s);
}

// What a closed mesh encloses (B.14), and its volume over its area: half the thickness of a plate.
RigidMass solid_mass(const TdlMesh* mesh, double density);
double solid_thickness(const TdlMesh* mesh);

// What keeps a mesh without fault from having an inside: null or a sentence, and a triangle or -1.
TdlStatus solid_check(const TdlHost* host, const TdlMesh* mesh, const char** fault, int* triangle);

#endif
