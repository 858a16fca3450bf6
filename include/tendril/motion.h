// Scripted motion: where a moved thing is at which time.
#ifndef TENDRIL_MOTION_H
#define TENDRIL_MOTION_H

#include "tendril/math.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TdlInterpolation {
    TDL_INTERPOLATION_SMOOTH = 0, // from rest to rest between keys, with the least jerk
    TDL_INTERPOLATION_LINEAR,     // constant velocity between keys
} TdlInterpolation;

/// Where a moved thing is at one moment, relative to where it was placed.
typedef struct TdlKeyframe {
    double time;      // s, growing from key to key
    TdlVec3 position; // m, displacement from the placed position, world axes
    TdlVec3 rotation; // rad, rotation vector applied to the placed orientation, world axes
} TdlKeyframe;

/// A scripted motion. Before the first key and after the last, the thing stands still there.
typedef struct TdlMotionDef {
    const TdlKeyframe* keys; // [key_count], copied; null: the thing does not move
    int key_count;
    TdlInterpolation interpolation;
} TdlMotionDef;

#ifdef __cplusplus
}
#endif

#endif
