// The shapes of colliders: which fields they need, and those that detection sees as curves.
#ifndef TDL_COLLIDER_SHAPE_H
#define TDL_COLLIDER_SHAPE_H

#include "body/motion.h"
#include "tendril/collider.h"

// The first thing that is wrong with a definition, its motion apart; or null.
const char* collider_find_fault(const TdlColliderDef* def);

// A comb, a chain of curves and the rim of a plate are fixed fibres to detection: their curves in
// the collider's own frame, out[collider_curve_count]. The count is 0 for the other shapes. A comb
// has its teeth, and last the handle, a capsule of twice their radius across their tops; a rim is
// four arcs.
int collider_curve_count(const TdlColliderDef* def);
TdlStatus collider_curves(const TdlHost* host, const TdlColliderDef* def, TdlCurve* out);

// The whole motion of a collider: its keys, and its constant velocities.
TdlStatus collider_motion(const TdlHost* host, const TdlColliderDef* def, Motion* out);

#endif
