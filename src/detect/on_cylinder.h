// Cylinders with flat ends, of bodies with coordinates. docs/theory/distance.md, section 13
#ifndef TDL_DETECT_ON_CYLINDER_H
#define TDL_DETECT_ON_CYLINDER_H

#include "detect/on_surface.h"

// A body with such a one is seen as its rims, which are curves, and a surface that stands in for it
// (SurfaceBody.cylinder), for what passes through it and what is inside; contacts have that
// surface's element. Its rims meet planes, surfaces and all that curves meet. These add what its
// side, its flat ends and, of elements that are no edges of surfaces, its rims meet.

// `rims` are those of the cylinder's body; `own` the surface of the element's fibre, or null. What
// is itself an arc of a rim is to go through cylinder_keep_rim.
void cylinder_on_element(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* body,
                         const TdlCurve* rims, const Element* element, const SurfaceBody* own,
                         SiteList* out);

// A ball, a capsule or an endless cylinder that is placed, or an implicit surface.
void cylinder_on_obstacle(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* body,
                          const TdlColliderDef* obstacle, int index, SiteList* out);

// The edges of a collider's mesh; the corners, edges and faces of a sheet; the sides of two.
void cylinder_on_edges(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* body,
                       const SurfaceBody* mesh, SiteList* out);
void cylinder_on_sheet(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* body,
                       const SurfaceBody* sheet, SiteList* out);
void cylinder_on_cylinder(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* a,
                          const SurfaceBody* b, SiteList* out);

// Of the sites from `first` on, which an element that is an arc of a rim of `own` got, keeps those
// at which the rim is nearest: in its cone of normals, and no end of an arc only. (X.72)
void cylinder_keep_rim(const SurfaceBody* own, const Element* rim, const TdlColliderDef* obstacles,
                       int first, SiteList* out);

#endif
