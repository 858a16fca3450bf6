// A smooth curve through points: a C2 cubic spline, with its arc length. inverse-fit.md (V.9),
// (V.10)
#ifndef TDL_INVERSE_SPLINE_H
#define TDL_INVERSE_SPLINE_H

#include "base/memory.h"
#include "tendril/math.h"

typedef enum SplineEnds {
    SPLINE_FREE,    // the first two pieces are one cubic, and the last two
    SPLINE_NATURAL, // no curvature at the ends
    SPLINE_CLOSED,  // the last knot is the first
} SplineEnds;

typedef struct Spline {
    int count;          // pieces
    TdlVec3 *x, *slope; // [count + 1] knots, derivatives by the parameter
    double *u, *s;      // [count + 1] parameter and arc length, m
} Spline;

// What a curve is at one place.
typedef struct SplinePoint {
    TdlVec3 x, tangent; // m; of length 1
    TdlVec3 curvature;  // 1/m, across the tangent, towards the centre of the circle
} SplinePoint;

// Room for a spline of `count` pieces; false when there is no memory.
bool spline_reserve(Arena* arena, int count, Spline* out);

// Copies the points that differ from their neighbour; a closed curve ends with its first point
// again. The count becomes the number of pieces, 0 when all points coincide. Three points that bend
// by less than a right angle become many on their circle.
bool spline_knots(Arena* arena, const TdlVec3* points, int count, bool closed, Spline* out);

// The parameter by the lengths of the chords, from 0. (V.9)
void spline_chords(Spline* spline);

// Slopes and arc lengths from knots and parameters. False when there is no memory.
bool spline_make(Arena* arena, SplineEnds ends, Spline* spline);

// The curve at arc length s; `piece` is where the last search ended, and s grows.
SplinePoint spline_at(const Spline* spline, double s, int* piece);

// Only the place there, for less: off along the curve by the fourth order of a piece.
TdlVec3 spline_place(const Spline* spline, double s, int* piece);

#endif
