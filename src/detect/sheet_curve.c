// Curves against the corners and edges of a sheet. Over a sheet that bends round a curve its edges
// lie in hollows, where nothing is nearest for its neighbourhood: there each corner and each edge
// is met by itself, where the curve is nearest to it. docs/theory/distance.md, section 10
#include "detect/sheet_curve.h"

#include "detect/sheet.h"

#include <float.h>

// A distance that falls by more than this per unit of length on the next curve of the fibre is
// least there. As in on_surface.c.
static const double LEVEL = 1.0e-6;

// Sub-capsules of a curve.
enum { PARTS = 8 };

typedef struct CurveWalk {
    const TdlHost* host;
    const Surface* sheet;
    const TdlCurve* curve;
    const SurfaceAim* aim;
    SurfaceBox part[PARTS]; // of the curve, grown by how far is looked
    int capacity, count;
    SurfaceTouch* out;
    bool certified;
} CurveWalk;

// A joint belongs to the curve before it.
static bool is_passed_on(const CurveWalk* w, double s, TdlVec3 normal) {
    const TdlVec3* beyond = w->aim->beyond;
    bool before = tdl_dot3(beyond[0], beyond[0]) > 0.0;
    return (s <= 0.0 && before) || (s >= w->curve->end && tdl_dot3(normal, beyond[1]) > LEVEL);
}

// The least distance of the curve from a corner, or from an edge.
static void meet(CurveWalk* w, TdlVec3 a, TdlVec3 b, bool edge, int triangle) {
    TdlCurve line;
    tdl_curve_segment(w->host, a, b, &line);
    line.radius[0] = line.radius[1] = w->sheet->radius;
    TdlDistanceDef def = tdl_distance_def_default();
    def.bound = w->aim->margin;
    def.tolerance = w->aim->tolerance;
    TdlDistance found;
    if (tdl_curve_distance(w->host, w->curve, NULL, &line, NULL, &def, &found) != TDL_STATUS_OK) {
        w->certified = false;
        return;
    }
    w->certified = w->certified && found.certified;
    bool inside = !edge || (found.s[1] > SHEET_INSIDE * line.end &&
                            found.s[1] < (1.0 - SHEET_INSIDE) * line.end);
    if (!found.below || !inside || !(found.distance > DBL_MIN)) {
        return;
    }
    TdlVec3 normal = tdl_scale3(1.0 / found.distance, tdl_sub3(found.point[1], found.point[0]));
    if (is_passed_on(w, found.s[0], normal)) {
        return;
    }
    if (w->count == w->capacity) {
        w->certified = false;
        return;
    }
    w->out[w->count++] = (SurfaceTouch){found.s[0], found.point[0], found.point[1], normal,
                                        found.gap,  triangle,       false};
}

static void meet_triangle(void* user, int f) {
    CurveWalk* w = user;
    const Surface* s = w->sheet;
    SurfaceBox box = surface_triangle_box(s, f);
    bool near = false;
    for (int i = 0; i < PARTS && !near; ++i) {
        near = surface_boxes_meet(&w->part[i], &box);
    }
    for (int k = 0; k < 3 && near; ++k) {
        int vertex = s->corner[3 * f + k];
        TdlVec3 a = s->vertex[vertex], b = s->vertex[s->corner[3 * f + (k + 1) % 3]];
        if (s->vertex_triangle[vertex] == f) {
            meet(w, a, a, false, f);
        }
        if (side_has_edge(s, 3 * f + k)) {
            meet(w, a, b, true, f);
        }
    }
}

int sheet_touches(const TdlHost* host, const Surface* sheet, const TdlCurve* curve,
                  const SurfaceAim* aim, int capacity, int count, SurfaceTouch* out,
                  bool* certified) {
    CurveWalk w = {.host = host,
                   .sheet = sheet,
                   .curve = curve,
                   .aim = aim,
                   .capacity = capacity,
                   .count = count,
                   .out = out,
                   .certified = true};
    SurfaceBox whole = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    TdlCurveCapsules c;
    tdl_curve_capsules(curve, &c);
    for (int i = 0; i < PARTS; ++i) {
        double more = (double)c.radius[i] + (double)c.error + aim->margin + sheet->radius;
        TdlVec3 at = {(double)c.cx[i], (double)c.cy[i], (double)c.cz[i]};
        TdlVec3 half = {fabs((double)c.ux[i]) + more, fabs((double)c.uy[i]) + more,
                        fabs((double)c.uz[i]) + more};
        SurfaceBox own = w.part[i] = (SurfaceBox){tdl_sub3(at, half), tdl_add3(at, half)};
        whole.lo = (TdlVec3){fmin(whole.lo.x, own.lo.x), fmin(whole.lo.y, own.lo.y),
                             fmin(whole.lo.z, own.lo.z)};
        whole.hi = (TdlVec3){fmax(whole.hi.x, own.hi.x), fmax(whole.hi.y, own.hi.y),
                             fmax(whole.hi.z, own.hi.z)};
    }
    surface_each_near(sheet, whole, meet_triangle, &w);
    *certified = *certified && w.certified;
    return w.count;
}
