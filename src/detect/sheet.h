// Sheets, the surfaces of bodies that deform: every corner, edge and face is met by itself.
// docs/theory/distance.md, section 10
#ifndef TDL_DETECT_SHEET_H
#define TDL_DETECT_SHEET_H

#include "detect/on_surface.h"

// Sine of the angle below which two edges are parallel: what is between them is left to their ends.
static const double SHEET_PARALLEL = 1.0e-3;

// A share of a feature's size: nearer to its border a point is not inside.
static const double SHEET_INSIDE = 1.0e-9;

// It has coordinates and its vertices move; it lies in the world's frame.
static inline bool surface_is_sheet(const SurfaceBody* body) {
    return body->body >= 0 && body->surface->from != NULL;
}

// A place on a feature: a corner, inside an edge or inside a face.
typedef struct FeaturePoint {
    int triangle; // by which it is addressed, always the same of a corner (vertex_triangle) and
                  // of an edge
    double u, v;  // shares of its second and third corner
    TdlVec3 at;   // m, in the frame of the surface
    int feature;  // corners are counted first, then edges, then faces
} FeaturePoint;

// Whether an edge is addressed by a side of a triangle: by one of those that it joins.
static inline bool side_has_edge(const Surface* s, int side) {
    return s->edge_side[s->edge[s->edge_of[side]].first] == side;
}

FeaturePoint feature_corner(const Surface* surface, int vertex);
// At the share t from the first end of an edge to its second.
FeaturePoint feature_edge(const Surface* surface, int edge, double t);
FeaturePoint feature_face(const Surface* surface, int triangle, double u, double v);

// The corners of a feature, by its number; how many there are.
int feature_vertices(const Surface* surface, int feature, int out[3]);

// Whether the foot of a point lies inside a triangle; its shares, and the height above it, m.
bool feature_face_foot(const Surface* surface, int triangle, TdlVec3 point, double* u, double* v,
                       double* height);

// A contact of a sheet without its other side; `normal` leads there.
ContactSite sheet_site(const SurfaceBody* sheet, const FeaturePoint* own, TdlVec3 normal,
                       double gap);

// Adds the contacts of a sheet with an obstacle. (X.38)
void sheet_on_obstacle(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* sheet,
                       const TdlColliderDef* obstacle, int index, SiteList* out);

// The same with a straight element of one radius.
bool sheet_knows_element(const Element* element);
void sheet_on_element(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* sheet,
                      const Element* element, SiteList* out);

#endif
