// Frames that are fixed to what a script moves: to a thing as a whole, or to a triangle of a mesh
// whose vertices move.
#ifndef TDL_BODY_ANCHOR_H
#define TDL_BODY_ANCHOR_H

#include "body/surface.h"
#include "tendril/math.h"

typedef struct Anchor {
    int triangle;    // on whose frame `local` is; -1: on the thing's own
    double share[2]; // of its second and third corner, where its frame has its origin
    TdlPose local;
} Anchor;

// The frame of a triangle at such shares of its corners: first axis along its first side, third
// along its normal. The corners have an area.
TdlPose anchor_frame(const TdlVec3 corner[3], const double share[2]);

// The triangle of a surface that is nearest to a point, and the shares of the place on it that is;
// of several as near the first. O(log n) on a mesh that is no worse than most.
int anchor_find(const Surface* surface, TdlVec3 point, double share[2]);

// A pose in the world as seen from a frame, and back.
static inline TdlPose anchor_seen(TdlPose frame, TdlPose pose) {
    return (TdlPose){tdl_tmul33_3(frame.rotation, tdl_sub3(pose.position, frame.position)),
                     tdl_tmul33(frame.rotation, pose.rotation)};
}

static inline TdlPose anchor_pose(TdlPose frame, TdlPose local) {
    return (TdlPose){tdl_add3(frame.position, tdl_mul33_3(frame.rotation, local.position)),
                     tdl_mul33(frame.rotation, local.rotation)};
}

#endif
