// Terms of the super-helix's equation of motion M q'' + K (q - q_rest) + G + A = 0, one by one, in
// the rod's present state. The world uses the rod interface; these serve statics, tests and the
// faster paths' comparison.
#ifndef TDL_ROD_SUPER_HELIX_H
#define TDL_ROD_SUPER_HELIX_H

#include "rod/helix.h"
#include "rod/losses.h"

// The lower triangle of M, [dof * dof] in columns. (H.16)
void super_helix_mass(const Rod* rod, double* M);

// G + A: the generalised force asked for by motion without accelerations of q. `root` is the
// motion of the clamp (its d is not used), whose acceleration carries minus gravity; v may be
// null for a rod at rest. (H.14)
void super_helix_bias(const Rod* rod, HelixMotion root, const double* v, double* out);

// Momentum that the velocities bring from the shape they were found in, plus what gravity adds in
// the step and less what the clamp's motion takes up, as seen by the motions of the present
// shape. (H.19)
void super_helix_momentum(const Rod* rod, const RodStep* step, double* out);

// A point load on an element with the frame R at its start: force and moment about the start in
// world axes, and the generalised force on its own q. (H.23)
HelixLoad super_helix_point_load(TdlVec3 q, TdlMat3 R, double l, const RodLoad* load);

// Adds the power of a point load on an element whose start moves with `at` and whose q changes at
// the rate d.
void super_helix_load_power(TdlVec3 q, TdlMat3 R, double l, const RodLoad* load, Twist at,
                            TdlVec3 d, LossSum* sum);

// The coordinates that move an element: those before it, or all where the root moves too.
TdlSpan super_helix_movers(const Rod* rod, int element);

// The share that a root which is not clamped has of a force and a moment about it.
void super_helix_store_root(const Rod* rod, TdlVec3 force, TdlVec3 moment, double* row);

// The pose at (element, s) for other coordinates.
TdlPose super_helix_pose_at(const Rod* rod, const double* q, TdlPose start, double l, int element,
                            double s);

// An element of unit length; the rod model's `local`.
void super_helix_local(const double* q, const double* d, double s, RodLocal* out);

// Writes the turning of the end for a change of q_i into the three rows of end_turning.
void super_helix_add_torque(double* row, int i, TdlMat3 turn, TdlVec3 torque);
void super_helix_store_turning(const Rod* rod, int i, TdlMat3 turn, double* rows);

// A start that is not clamped: takes its velocity from the last of v; moves it over a step.
void super_helix_read_root(Rod* rod);
void super_helix_move_root(Rod* rod, const RodStep* step);
void super_helix_turn_root(Rod* rod, const double* change);

#endif
