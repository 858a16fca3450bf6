// The place of a triangle that is nearest to a point, and the frame of a triangle.
#include "body/anchor.h"

#include "math/rotation.h"

// The search begins within this share of the surface's size, and doubles.
static const double FIRST_REACH = 1.0e-3;

TdlPose anchor_frame(const TdlVec3 x[3], const double share[2]) {
    TdlVec3 e1 = tdl_sub3(x[1], x[0]), e2 = tdl_sub3(x[2], x[0]);
    TdlVec3 place = tdl_axpy3(tdl_axpy3(x[0], share[0], e1), share[1], e2);
    TdlVec3 first = tdl_unit3(e1), normal = tdl_unit3(tdl_cross3(e1, e2));
    return (TdlPose){place, {first, tdl_cross3(normal, first), normal}};
}

// The shares of the place on the side from a by e that is nearest, as a part of it.
static double along(TdlVec3 from, TdlVec3 e) {
    return fmin(fmax(tdl_dot3(from, e) / tdl_dot3(e, e), 0.0), 1.0);
}

typedef struct Nearest {
    const Surface* surface;
    TdlVec3 point;
    double square; // of the distance of the best; at first of the reach
    int triangle;  // -1: none yet
    double share[2];
} Nearest;

static void take_nearer(Nearest* n, int triangle, double s, double t) {
    const int* v = n->surface->corner + 3 * (size_t)triangle;
    const TdlVec3* x = n->surface->vertex;
    TdlVec3 e1 = tdl_sub3(x[v[1]], x[v[0]]), e2 = tdl_sub3(x[v[2]], x[v[0]]);
    TdlVec3 away = tdl_sub3(n->point, tdl_axpy3(tdl_axpy3(x[v[0]], s, e1), t, e2));
    double square = tdl_dot3(away, away);
    if (square < n->square || (square == n->square && triangle < n->triangle)) {
        n->square = square;
        n->triangle = triangle;
        n->share[0] = s;
        n->share[1] = t;
    }
}

// Its inside, where the point is above it, and its three sides.
static void look(void* user, int triangle) {
    Nearest* n = user;
    const int* v = n->surface->corner + 3 * (size_t)triangle;
    const TdlVec3* x = n->surface->vertex;
    TdlVec3 e1 = tdl_sub3(x[v[1]], x[v[0]]), e2 = tdl_sub3(x[v[2]], x[v[0]]);
    TdlVec3 from = tdl_sub3(n->point, x[v[0]]), side = tdl_sub3(x[v[2]], x[v[1]]);
    TdlVec3 normal = tdl_cross3(e1, e2);
    double area = tdl_dot3(normal, normal);
    double s = tdl_dot3(tdl_cross3(from, e2), normal) / area;
    double t = tdl_dot3(tdl_cross3(e1, from), normal) / area;
    if (s >= 0.0 && t >= 0.0 && s + t <= 1.0) {
        take_nearer(n, triangle, s, t);
        return;
    }
    double u = along(tdl_sub3(n->point, x[v[1]]), side);
    take_nearer(n, triangle, along(from, e1), 0.0);
    take_nearer(n, triangle, 0.0, along(from, e2));
    take_nearer(n, triangle, 1.0 - u, u);
}

int anchor_find(const Surface* surface, TdlVec3 point, double share[2]) {
    Nearest n = {.surface = surface, .point = point, .triangle = -1};
    for (double reach = FIRST_REACH * surface->size; n.triangle < 0; reach *= 2.0) {
        TdlVec3 all = {reach, reach, reach};
        n.square = reach * reach;
        surface_each_near(surface, (SurfaceBox){tdl_sub3(point, all), tdl_add3(point, all)}, look,
                          &n);
    }
    share[0] = n.share[0];
    share[1] = n.share[1];
    return n.triangle;
}
