// Colliders and rigid bodies as lists of simple shapes, for those who draw them.
#ifndef TDL_IO_RESULT_SHAPES_H
#define TDL_IO_RESULT_SHAPES_H

#include "tendril/run.h"

// How many shapes a collider or a rigid body has, and the shapes; `body` as TdlResultShape has it.
// With a null `out` they are only counted.
int collider_shapes(const TdlColliderDef* def, int body, TdlResultShape* out);
int rigid_shapes(const TdlRigidDef* def, int body, TdlResultShape* out);

#endif
