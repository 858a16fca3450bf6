// Curves against surfaces of triangles. docs/theory/distance.md, section 9
#ifndef TDL_DETECT_ON_SURFACE_H
#define TDL_DETECT_ON_SURFACE_H

#include "body/cylinder.h"
#include "body/surface.h"
#include "detect/narrow.h"

// A surface as detection sees it: part of a fibre, which is then rigid, or of a collider.
typedef struct SurfaceBody {
    const Surface* surface;
    TdlPose pose, before;     // now, and before the step
    int body;                 // fibre, or -1 - collider
    int element;              // of its contacts: one more than the fibre's last; 0 of a collider,
                              // the triangle where its vertices move
    TdlVec3 centre;           // of a ball about it, now
    double ball;              // m, radius of the ball
    double travel;            // m, none of its points moved by more in the step
    bool self;                // of a sheet: it may touch itself
    const Cylinder* cylinder; // for which the surface stands in and is not touched; null: none
} SurfaceBody;

// Sets what follows from the poses.
void surface_body_measure(SurfaceBody* body);

// A place where a curve is nearest to a surface, in the frame of both.
typedef struct SurfaceTouch {
    double s;         // on the curve
    TdlVec3 at, foot; // on the centreline, on the triangles
    TdlVec3 normal;   // unit, from the curve to the surface
    double gap;       // m
    int triangle;     // on which the foot lies
    bool seat;        // in the middle of an element that lies level there. (X.36)
} SurfaceTouch;

// Which of them are wanted.
typedef struct SurfaceAim {
    double margin;     // m, those with smaller gaps
    double tolerance;  // m
    bool stiff;        // the curve does not bend
    bool ends;         // its ends over faces are wanted as well
    double seat;       // and this place where it lies level; negative: none. (X.36)
    TdlVec3 beyond[2]; // unit, how the fibre goes on beyond the curve's ends; 0 where it does not
} SurfaceAim;

// All local minima of the gap between a curve and a surface that lie below the margin, at most
// `capacity`, those with the least gaps. Returns their number; `certified` is set to false when the
// list may lack some.
int surface_touches(const TdlHost* host, const Surface* surface, const TdlCurve* curve,
                    const SurfaceAim* aim, int capacity, SurfaceTouch* out, bool* certified);

// Adds the contact sites of an element with a surface. `beside` are the curves before and after it
// on its fibre, or null. `own` is the surface of the fibre, or null; its edges then touch only
// towards their free side.
void narrow_surface(const TdlHost* host, const TdlDetectorDef* def, const Element* a,
                    const TdlCurve* const beside[2], const SurfaceBody* own,
                    const SurfaceBody* other, SiteList* out);

// Adds the contact sites of the edges and corners of a collider's mesh with a fibre's surface: the
// fibre's own edges meet the mesh as elements.
void narrow_surface_edges(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* box,
                          const SurfaceBody* mesh, SiteList* out);

// Adds the contact sites of a fibre's faces with a ball or a capsule that is placed: the fibre's
// edges meet it as elements.
void narrow_surface_obstacle(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* box,
                             const TdlColliderDef* obstacle, int index, SiteList* out);

// Where a contact lies on a surface, for the next step to find it again: in its own frame and,
// where the vertices move, where its triangle was at first.
double surface_place_along(const Surface* surface, int triangle, TdlVec3 foot);

// The address of a place on a surface: where the vertices move the triangle is told, and where on
// it.
void surface_set_address(TdlContact* contact, int side, const SurfaceBody* body, int triangle,
                         TdlVec3 foot);

// What is seen from a pose, and back.
TdlPose pose_inverse(TdlPose pose);
static inline TdlVec3 pose_point(TdlPose pose, TdlVec3 p) {
    return tdl_add3(pose.position, tdl_mul33_3(pose.rotation, p));
}

#endif
