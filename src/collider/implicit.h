// Implicit surfaces: where h(x, y, z) = 0 in a box, cut into cells in each of which the surface
// hardly turns or bends the same way. docs/theory/distance.md, section 11
#ifndef TDL_COLLIDER_IMPLICIT_H
#define TDL_COLLIDER_IMPLICIT_H

#include "base/memory.h"
#include "tendril/collider.h"

// A node of the tree. Of a leaf that the surface may pass through, what is known of it there.
typedef struct ImplicitCell {
    TdlVec3 low, high;
    int child;     // the first of two; 0: a leaf
    bool passed;   // the surface may pass through it; of others nothing else is known
    bool unsure;   // it is not excluded, but no point of it was found there
    bool hollow;   // nothing straight touches it but with its ends: no curvature is outwards
    bool rough;    // too small to be cut further: the surface is a point of it, `point`
    TdlVec3 axis;  // unit: normals are within an angle of it
    double spread; // sine of the angle
    TdlVec3 point; // of a rough one, on the surface
} ImplicitCell;

typedef struct ImplicitSurface {
    TdlImplicit h;
    ImplicitCell* cell; // the root first
    int count, capacity;
    double size;                 // m, of the box's diagonal
    int leaf_count, rough_count; // that the surface may pass through
} ImplicitSurface;

// The first thing that is wrong with a definition; or null.
const char* implicit_find_fault(const TdlImplicit* implicit);

TdlStatus implicit_create(const TdlHost* host, const TdlImplicit* def, ImplicitSurface** out);
void implicit_destroy(const TdlHost* host, ImplicitSurface* surface);

// Calls `fn` with every leaf that the surface may pass through and that meets a box.
typedef void (*ImplicitFn)(void* user, const ImplicitCell* cell);
void implicit_each_near(const ImplicitSurface* surface, TdlVec3 low, TdlVec3 high, ImplicitFn fn,
                        void* user);

// h at a place with its unit normal and the curvature of its level set, W = d normal / d place as
// seen along the surface. False where h has no gradient.
typedef struct ImplicitFrame {
    double away;    // m, h / |grad h|
    TdlVec3 normal; // unit, to the free side
    TdlMat3 turn;   // 1/m, W = (1 - n n') H / |grad h|
} ImplicitFrame;
bool implicit_frame(const ImplicitSurface* surface, TdlVec3 place, ImplicitFrame* out);

// A lower bound on how far all points of the hull of some are from the surface, on its free side,
// m; negative where nothing can be said. No more than `most` is told. (X.52)
double implicit_hull_distance(const ImplicitSurface* surface, const TdlVec3* points, int count,
                              double most);

// A place on a flat or straight thing p + u a + v b, or on one point, or a curve (in the frame of
// the surface) from which the surface is nearest for its neighbourhood. (X.51)
typedef struct ImplicitTouch {
    TdlVec3 at, foot, normal; // normal: unit, out of the surface
    double distance;          // m, from the foot to `at` along the normal; negative inside
    double u, v;              // of the thing
} ImplicitTouch;

typedef struct ImplicitThing {
    TdlVec3 point, side[2];
    int sides;             // 0 to 2
    const TdlCurve* curve; // or along this, from u = 0 to its end; then sides is 1
} ImplicitThing;

// Newton's method from a place of the surface and of the thing. False: there is none near, or it is
// no least distance. It may be beyond the thing's ends and the cell; that is the caller's question.
bool implicit_touch(const ImplicitSurface* surface, const ImplicitThing* thing,
                    const ImplicitCell* cell, double u, double v, ImplicitTouch* out);

// Where the surface is highest along a unit direction, for its neighbourhood; `out` is the caller's
// to free. (X.53)
TdlStatus implicit_peaks(const TdlHost* host, const ImplicitSurface* surface, TdlVec3 up,
                         TdlPeak** out, int* count);

// Triangles for pictures, with its peaks among their corners; freed by the caller.
TdlStatus implicit_mesh(const TdlHost* host, const ImplicitSurface* surface, const TdlPeak* peaks,
                        int peak_count, TdlMesh* out);

#endif
