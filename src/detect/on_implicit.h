// Things against implicit surfaces. docs/theory/distance.md, section 11
#ifndef TDL_DETECT_ON_IMPLICIT_H
#define TDL_DETECT_ON_IMPLICIT_H

#include "collider/implicit.h"
#include "detect/crossings.h"
#include "detect/on_surface.h"

// Adds the contacts of a sheet's corners, edges and faces; of another surface those of its faces,
// whose corners and edges are elements.
void implicit_on_surface(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* body,
                         const TdlColliderDef* obstacle, int index, SiteList* out);

// Adds those of an element. `own` is the surface of its fibre, or null: its edges then touch only
// towards their free side.
void implicit_on_element(const TdlHost* host, const TdlDetectorDef* def, const Element* element,
                         const SurfaceBody* own, const TdlColliderDef* obstacle, int index,
                         SiteList* out);

// Whether an element may be near enough for contacts.
bool implicit_meets(const TdlDetectorDef* def, const Element* element,
                    const TdlColliderDef* obstacle);

// Whether the hull of up to three points, which go from the one place to the other (in the frame of
// the surface), comes within `near` of the surface on its way. What was as near at first did not.
// Never misses one. (X.54)
bool implicit_is_met(const ImplicitSurface* surface, const TdlVec3* from, const TdlVec3* to,
                     int count, const Nearness* near);

#endif
