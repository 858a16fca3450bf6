// Twisted ropes: strands laid in helices about each other, without overlap.
#ifndef TENDRIL_ROPE_H
#define TENDRIL_ROPE_H

#include "tendril/rod.h"

#ifdef __cplusplus
extern "C" {
#endif

/// One level of a rope: so many laid about a common axis; from six on one of them is the core, on
/// the axis, and the others lie around it.
typedef struct TdlRopeLevel {
    int count;  // 2 to 40
    double lay; // m along the axis for one turn, not 0; negative: a left hand
} TdlRopeLevel;

enum { TDL_ROPE_LEVELS = 2, TDL_ROPE_POINTS = 1000 };

/// A rope of one level (7: six wires around one), or of two, the inner first ({7, 7}: seven strands
/// of seven wires). Its axis goes from `start` along the first axis of that frame, or along a
/// smooth curve through points.
typedef struct TdlRopeDef {
    int level_count; // 1 or 2; default 1
    TdlRopeLevel level[TDL_ROPE_LEVELS];
    double length;        // m, of the axis, > 0; not with points
    TdlPose start;        // default the world's; not with points
    const TdlVec3* point; // [point_count], 2 to TDL_ROPE_POINTS; default: none
    int point_count;
    double gap; // m, > 0: least gap between two wires; default 0: 5e-4 of their radius. It is met
                // within 60 %, as the model of the wires makes them
} TdlRopeDef;

TDL_API TdlRopeDef tdl_rope_def_default(void);

/// The wires of a rope as shapes for TdlRodDef, sub-ropes one after the other, the core of each
/// first.
typedef struct TdlRope {
    int count;                      // of wires
    int curvature_count;            // of each
    double radius[TDL_ROPE_LEVELS]; // m, of the helices at each level
    double gap;                     // m, the least between two wires
    TdlPose* start;                 // [count] place and frame of the start
    double* length;                 // [count] m
    TdlVec3* curvature;             // [count * curvature_count] 1/m
} TdlRope;

/// Lays a rope of wires like `wire` (its model, radius and element_count count). The helices are as
/// wide as the wires need: docs/theory/ropes.md. BAD_ARGUMENT, and the log says why, where a
/// definition is wrong or a lay too short; DIVERGED where wires of so few elements do not come so
/// near without overlap.
TDL_API TdlStatus tdl_rope_lay(const TdlHost* host, const TdlRopeDef* def, const TdlRodDef* wire,
                               TdlRope* out);
TDL_API void tdl_rope_free(const TdlHost* host, TdlRope* rope);

/// The least radius (m) at which the axes of `count` helices of the same lay, evenly about one
/// axis, are `apart`. NaN where a lay is too short for any.
TDL_API double tdl_helices_radius(int count, double apart, double lay);

#ifdef __cplusplus
}
#endif

#endif
