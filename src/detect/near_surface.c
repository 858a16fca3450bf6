// The nearest place of a surface of triangles, by its tree, nearer boxes first. Which side a point
// is on is told by the normal of the face, or by the sum of the normals about the edge or the
// corner that is nearest, each by its angle. docs/theory/distance.md (X.76)
#include "detect/near_parts.h"

enum { MOST_NODES = 128 };

static double beyond(double x, double low, double high) {
    return x < low ? low - x : x > high ? x - high : 0.0;
}

static double box_square(const SurfaceBox* b, TdlVec3 p) {
    double x = beyond(p.x, b->lo.x, b->hi.x), y = beyond(p.y, b->lo.y, b->hi.y),
           z = beyond(p.z, b->lo.z, b->hi.z);
    return x * x + y * y + z * z;
}

// The nearest place so far.
typedef struct Nearest {
    double square; // m^2
    int triangle;  // -1: none
    int side;      // side of the triangle that it is on; -1: the face
    int end;       // 0, 1: and at this end of it; -1: between
    TdlVec3 foot;
} Nearest;

static const int* corners(const Surface* s, int f) {
    return s->corner + 3 * (ptrdiff_t)f;
}

static void look_at_side(const Surface* s, int f, int k, TdlVec3 p, Nearest* best) {
    TdlVec3 a = s->vertex[corners(s, f)[k]], b = s->vertex[corners(s, f)[(k + 1) % 3]];
    TdlVec3 ab = tdl_sub3(b, a), ap = tdl_sub3(p, a);
    double t = tdl_dot3(ap, ab) / tdl_dot3(ab, ab);
    int end = t <= 0.0 ? 0 : t >= 1.0 ? 1 : -1;
    TdlVec3 foot = end == 0 ? a : end == 1 ? b : tdl_axpy3(a, t, ab);
    TdlVec3 away = tdl_sub3(p, foot);
    double square = tdl_dot3(away, away);
    if (square < best->square) {
        *best = (Nearest){square, f, k, end, foot};
    }
}

// A point beside the triangle is nearest to one of the sides that it is beyond, and no nearer than
// to the line of any.
static void look_at_triangle(const Surface* s, int f, TdlVec3 p, Nearest* best) {
    const int* v = corners(s, f);
    double height = tdl_dot3(s->normal[f], tdl_sub3(p, s->vertex[v[0]]));
    double within[3], least = 0.0;
    for (int k = 0; k < 3; ++k) {
        within[k] = tdl_dot3(tdl_sub3(p, s->vertex[v[k]]), s->into[3 * (ptrdiff_t)f + k]);
        least = within[k] < least ? within[k] : least;
    }
    if (height * height + least * least >= best->square) {
        return;
    }
    for (int k = 0; k < 3 && least < 0.0; ++k) {
        if (within[k] < 0.0) {
            look_at_side(s, f, k, p, best);
        }
    }
    if (!(least < 0.0)) {
        TdlVec3 foot = tdl_axpy3(p, -height, s->normal[f]);
        *best = (Nearest){height * height, f, -1, -1, foot};
    }
}

static void look_through(const Surface* s, TdlVec3 p, Nearest* best) {
    int stack[MOST_NODES], depth = 1;
    stack[0] = 0;
    while (depth > 0) {
        const SurfaceNode* node = &s->node[stack[--depth]];
        if (box_square(&node->box, p) >= best->square) {
            continue;
        }
        for (int i = 0; i < node->count; ++i) {
            look_at_triangle(s, s->order[node->first + i], p, best);
        }
        if (node->count == 0) {
            int left = node->first;
            bool swap = box_square(&s->node[left].box, p) > box_square(&s->node[left + 1].box, p);
            stack[depth++] = swap ? left : left + 1;
            stack[depth++] = swap ? left + 1 : left;
        }
    }
}

// --- sides
// ----------------------------------------------------------------------------------------

static TdlVec3 normal_of_edge(const Surface* s, int edge) {
    const SurfaceEdge* e = &s->edge[edge];
    TdlVec3 sum = {0};
    for (int i = 0; i < e->count; ++i) {
        sum = tdl_add3(sum, s->normal[s->edge_side[e->first + i] / 3]);
    }
    return sum;
}

static double angle_at(const Surface* s, int f, int k) {
    const int* v = corners(s, f);
    TdlVec3 a = tdl_sub3(s->vertex[v[(k + 1) % 3]], s->vertex[v[k]]);
    TdlVec3 b = tdl_sub3(s->vertex[v[(k + 2) % 3]], s->vertex[v[k]]);
    return atan2(tdl_norm3(tdl_cross3(a, b)), tdl_dot3(a, b));
}

// Triangles at a corner have two of its edges each: half for every one.
static TdlVec3 normal_of_corner(const Surface* s, int vertex) {
    TdlVec3 sum = {0};
    for (int i = s->vertex_first[vertex]; i < s->vertex_first[vertex + 1]; ++i) {
        const SurfaceEdge* e = &s->edge[s->vertex_edge[i]];
        for (int n = 0; n < e->count; ++n) {
            int f = s->edge_side[e->first + n] / 3, k = 0;
            while (k < 2 && corners(s, f)[k] != vertex) {
                ++k;
            }
            sum = tdl_axpy3(sum, 0.5 * angle_at(s, f, k), s->normal[f]);
        }
    }
    return sum;
}

static TdlVec3 normal_at(const Surface* s, const Nearest* n) {
    if (n->side < 0) {
        return s->normal[n->triangle];
    }
    if (n->end < 0) {
        return normal_of_edge(s, s->edge_of[3 * n->triangle + n->side]);
    }
    return normal_of_corner(s, corners(s, n->triangle)[(n->side + n->end) % 3]);
}

// The unit vector from the surface to a point on its free side, and how far that is out.
static TdlVec3 leave(const Surface* s, bool solid, TdlVec3 p, const Nearest* n, double* out) {
    TdlVec3 away = tdl_sub3(p, n->foot), up = normal_at(s, n);
    double side = tdl_dot3(away, up) < 0.0 ? -1.0 : 1.0, d = sqrt(n->square);
    *out = solid ? side * d : d;
    bool on = !(d > 0.0);
    if (n->side < 0 || on) { // of a face its own normal, whose digits do not go with the distance
        double size = tdl_norm3(up);
        up = size > 0.0 ? tdl_scale3(1.0 / size, up) : s->normal[n->triangle];
        return solid || on ? up : tdl_scale3(side, up);
    }
    return tdl_scale3(solid ? side / d : 1.0 / d, away);
}

static bool in_box(const SurfaceBox* b, TdlVec3 p) {
    return box_square(b, p) <= 0.0;
}

bool surface_near(const Surface* s, bool solid, TdlVec3 p, double reach, NearFoot* out) {
    double far = reach + s->radius;
    bool may_be_inside = solid && in_box(&s->node[0].box, p);
    if (!may_be_inside && !(far > 0.0)) {
        return false;
    }
    Nearest n = {.square = may_be_inside ? INFINITY : far * far, .triangle = -1};
    look_through(s, p, &n);
    if (n.triangle < 0) {
        return false;
    }
    double height;
    TdlVec3 up = leave(s, solid, p, &n, &height);
    *out = (NearFoot){.gap = height - s->radius,
                      .normal = tdl_scale3(-1.0, up),
                      .element = n.triangle,
                      .point = n.foot};
    surface_shares(s, n.triangle, n.foot, &out->u, &out->v);
    return out->gap < reach;
}

// --- what it is
// -----------------------------------------------------------------------------------

// It is closed and no room turned inside out: its volume is positive.
bool surface_has_inside(const Surface* s) {
    double volume = 0.0;
    for (int f = 0; f < s->triangle_count && s->closed; ++f) {
        const int* v = corners(s, f);
        TdlVec3 a = tdl_sub3(s->vertex[v[0]], s->vertex[0]);
        TdlVec3 b = tdl_sub3(s->vertex[v[1]], s->vertex[0]);
        volume += tdl_dot3(a, tdl_cross3(b, tdl_sub3(s->vertex[v[2]], s->vertex[0])));
    }
    return volume > 0.0;
}

double surface_least(const Surface* s, bool solid) {
    TdlVec3 side = tdl_sub3(s->node[0].box.hi, s->node[0].box.lo);
    return 2.0 * s->radius + (solid ? fmin(side.x, fmin(side.y, side.z)) : 0.0);
}
