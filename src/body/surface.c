// Surfaces of triangles. Everything is found once, in the surface's own frame: where it moves as a
// whole, what is looked at moves the other way. Where its vertices move, what depends on them is
// found again: normals, which edges are sharp, and the boxes of the tree, in O(n). The tree halves
// the triangles by their middles along the longest side of their box, down to a few; building it
// takes O(n log n).
#include "body/surface.h"
#include "body/surface_neighbours.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF = 4, MAX_DEPTH = 64, MAX_TRIANGLES = 10000000 };

// Least height of a triangle over its longest side.
static const double THINNEST = 1.0e-9;

// Edges that turn by less than this sine are flat, and directions outside of a cone of normals by
// less are in it: such a contact is off the normal of a face by no more.
static const double FLAT = 2.0e-6, CONE = 1.0e-6;

// A point beyond a side by this share of a triangle's size is still on it.
static const double COVER = 1.0e-9;

// A point this near to an edge, in sizes of the surface, is on it.
static const double ON_EDGE = 1.0e-9;

// fmin and fmax without their care for NaN, which costs a call.
static double lesser(double a, double b) {
    return a < b ? a : b;
}

static double greater(double a, double b) {
    return a > b ? a : b;
}

static TdlVec3 least(TdlVec3 a, TdlVec3 b) {
    return (TdlVec3){lesser(a.x, b.x), lesser(a.y, b.y), lesser(a.z, b.z)};
}

static TdlVec3 most(TdlVec3 a, TdlVec3 b) {
    return (TdlVec3){greater(a.x, b.x), greater(a.y, b.y), greater(a.z, b.z)};
}

// --- checks ---------------------------------------------------------------------------------

static bool is_thin(TdlVec3 a, TdlVec3 b, TdlVec3 c) {
    TdlVec3 ab = tdl_sub3(b, a), ac = tdl_sub3(c, a), bc = tdl_sub3(c, b);
    double longest = fmax(tdl_norm3(ab), fmax(tdl_norm3(ac), tdl_norm3(bc)));
    return !(tdl_norm3(tdl_cross3(ab, ac)) > THINNEST * longest * longest);
}

const char* tdl_mesh_fault(const TdlMesh* mesh, int* triangle) {
    *triangle = -1;
    if (mesh->vertices == NULL || mesh->triangles == NULL || mesh->triangle_count < 1 ||
        mesh->triangle_count > MAX_TRIANGLES || mesh->vertex_count < 3) {
        return "triangle_count must be from 1 to 10000000";
    }
    for (int i = 0; i < mesh->vertex_count; ++i) {
        if (!tdl_finite3(mesh->vertices[i])) {
            return "vertices must be finite";
        }
    }
    for (int f = 0; f < mesh->triangle_count; ++f) {
        const int* v = mesh->triangles + 3 * (size_t)f;
        *triangle = f;
        for (int k = 0; k < 3; ++k) {
            if (v[k] < 0 || v[k] >= mesh->vertex_count) {
                return "a triangle has a vertex that is not there";
            }
        }
        if (is_thin(mesh->vertices[v[0]], mesh->vertices[v[1]], mesh->vertices[v[2]])) {
            return "a triangle has no area";
        }
    }
    return NULL;
}

// --- corners and edges ----------------------------------------------------------------------

typedef struct Place {
    TdlVec3 at;
    int index;
    const VertexMotion* motion; // of what moves
} Place;

static int compare_points(TdlVec3 p, TdlVec3 q) {
    const double x[3] = {p.x, p.y, p.z}, y[3] = {q.x, q.y, q.z};
    for (int k = 0; k < 3; ++k) {
        if (x[k] != y[k]) {
            return x[k] < y[k] ? -1 : 1;
        }
    }
    return 0;
}

// 0 of vertices that are always at the same place.
static int compare_ways(const Place* p, const Place* q) {
    int order = compare_points(p->at, q->at);
    const VertexMotion* m = p->motion;
    for (int k = 1; k < m->sample_count && order == 0; ++k) {
        const TdlVec3* sample = m->samples + (size_t)k * (size_t)m->vertex_count;
        order = compare_points(sample[p->index], sample[q->index]);
    }
    return order;
}

static int compare_places(const void* a, const void* b) {
    const Place *p = a, *q = b;
    int order = compare_ways(p, q);
    return order != 0 ? order : (p->index > q->index) - (p->index < q->index);
}

// Vertices at one place become one: files that keep parts apart repeat them.
static TdlStatus weld(const TdlHost* host, const TdlMesh* mesh, const VertexMotion* motion,
                      Surface* s) {
    size_t count = (size_t)mesh->vertex_count;
    Place* place = tdl_alloc_array(&host->mem, count, sizeof *place);
    int* to = tdl_alloc_array(&host->mem, count, sizeof *to);
    s->vertex = tdl_alloc_array(&host->mem, count, sizeof *s->vertex);
    s->corner = tdl_alloc_array(&host->mem, 3 * (size_t)s->triangle_count, sizeof *s->corner);
    bool moves = motion->samples != NULL;
    s->from = moves ? tdl_alloc_array(&host->mem, count, sizeof *s->from) : NULL;
    bool memory = place && to && s->vertex && s->corner && (s->from || !moves);
    if (memory) {
        for (size_t i = 0; i < count; ++i) {
            place[i] = (Place){moves ? motion->samples[i] : mesh->vertices[i], (int)i, motion};
        }
        qsort(place, count, sizeof *place, compare_places);
        for (size_t i = 0; i < count; ++i) {
            if (i == 0 || compare_ways(&place[i - 1], &place[i]) != 0) {
                if (moves) {
                    s->from[s->vertex_count] = place[i].index;
                }
                s->vertex[s->vertex_count++] = place[i].at;
            }
            to[place[i].index] = s->vertex_count - 1;
        }
        for (size_t i = 0; i < 3 * (size_t)s->triangle_count; ++i) {
            s->corner[i] = to[mesh->triangles[i]];
        }
    }
    tdl_free(&host->mem, place);
    tdl_free(&host->mem, to);
    return memory ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}

static void find_normals(Surface* s) {
    for (int f = 0; f < s->triangle_count; ++f) {
        TdlVec3 p[3];
        for (int k = 0; k < 3; ++k) {
            p[k] = s->vertex[s->corner[3 * f + k]];
        }
        TdlVec3 n = tdl_cross3(tdl_sub3(p[1], p[0]), tdl_sub3(p[2], p[0]));
        s->normal[f] = n = tdl_scale3(1.0 / tdl_norm3(n), n);
        for (int k = 0; k < 3; ++k) {
            TdlVec3 m = tdl_cross3(n, tdl_sub3(p[(k + 1) % 3], p[k]));
            s->into[3 * f + k] = tdl_scale3(1.0 / tdl_norm3(m), m);
        }
    }
}

typedef struct SideKey {
    int low, high, side;
} SideKey;

static int compare_sides(const void* a, const void* b) {
    const SideKey *x = a, *y = b;
    const int keys[3][2] = {{x->low, y->low}, {x->high, y->high}, {x->side, y->side}};
    for (int k = 0; k < 3; ++k) {
        if (keys[k][0] != keys[k][1]) {
            return keys[k][0] < keys[k][1] ? -1 : 1;
        }
    }
    return 0;
}

static int side_end(const Surface* s, int side, int end) {
    return s->corner[3 * (side / 3) + (side % 3 + end) % 3];
}

static TdlStatus find_edges(const TdlHost* host, Surface* s) {
    int sides = 3 * s->triangle_count;
    SideKey* key = tdl_alloc_array(&host->mem, (size_t)sides, sizeof *key);
    if (key == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < sides; ++i) {
        int a = side_end(s, i, 0), b = side_end(s, i, 1);
        key[i] = (SideKey){a < b ? a : b, a < b ? b : a, i};
    }
    qsort(key, (size_t)sides, sizeof *key, compare_sides);
    for (int i = 0; i < sides; ++i) {
        if (i == 0 || key[i].low != key[i - 1].low || key[i].high != key[i - 1].high) {
            s->edge[s->edge_count++] =
                (SurfaceEdge){.vertex = {key[i].low, key[i].high}, .first = i};
        }
        s->edge_side[i] = key[i].side;
        s->edge_of[key[i].side] = s->edge_count - 1;
        ++s->edge[s->edge_count - 1].count;
    }
    tdl_free(&host->mem, key);
    return TDL_STATUS_OK;
}

static bool joins_two(const Surface* s, const SurfaceEdge* e) {
    return e->count == 2 &&
           side_end(s, s->edge_side[e->first], 0) != side_end(s, s->edge_side[e->first + 1], 0);
}

// An edge whose cone of normals has an inside: the border of an open surface, a fold or a ridge.
static bool is_sharp(const Surface* s, const SurfaceEdge* e) {
    if (e->count != 2) {
        return true;
    }
    const int* side = s->edge_side + e->first;
    double rise = tdl_dot3(s->normal[side[0] / 3], s->into[side[1]]);
    bool folded = tdl_dot3(s->into[side[0]], s->into[side[1]]) > 0.0;
    if (fabs(rise) <= FLAT) {
        return folded;
    }
    return !s->closed || rise < 0.0;
}

static void find_sharp(Surface* s) {
    for (int v = 0; v < s->vertex_count; ++v) {
        s->vertex_owner[v] = -1;
    }
    for (int e = s->edge_count - 1; e >= 0; --e) {
        SurfaceEdge* edge = &s->edge[e];
        edge->sharp = is_sharp(s, edge);
        for (int k = 0; k < 2 && edge->sharp; ++k) {
            s->vertex_owner[edge->vertex[k]] = e;
        }
    }
}

// Whether it is closed, and the edges and the first triangle at each corner.
static void join_edges(Surface* s) {
    for (int v = 0; v < s->vertex_count; ++v) {
        s->vertex_triangle[v] = -1;
    }
    s->closed = true;
    for (int e = 0; e < s->edge_count && s->closed; ++e) {
        s->closed = joins_two(s, &s->edge[e]);
    }
    for (int i = 0; i < 2 * s->edge_count; ++i) {
        ++s->vertex_first[s->edge[i / 2].vertex[i % 2] + 1];
    }
    for (int v = 0; v < s->vertex_count; ++v) {
        s->vertex_first[v + 1] += s->vertex_first[v];
    }
    for (int i = 0; i < 2 * s->edge_count; ++i) {
        s->vertex_edge[i] = -1;
    }
    for (int i = 0; i < 2 * s->edge_count; ++i) {
        int at = s->vertex_first[s->edge[i / 2].vertex[i % 2]];
        while (s->vertex_edge[at] >= 0) {
            ++at;
        }
        s->vertex_edge[at] = i / 2;
    }
    for (int i = 3 * s->triangle_count - 1; i >= 0; --i) {
        s->vertex_triangle[s->corner[i]] = i / 3;
    }
}

// --- the tree -------------------------------------------------------------------------------

SurfaceBox surface_triangle_box(const Surface* s, int f) {
    TdlVec3 a = s->vertex[s->corner[3 * f]];
    SurfaceBox box = {a, a};
    for (int k = 1; k < 3; ++k) {
        TdlVec3 p = s->vertex[s->corner[3 * f + k]];
        box.lo = least(box.lo, p);
        box.hi = most(box.hi, p);
    }
    return box;
}

SurfaceBox surface_swept_box(const Surface* s, int f) {
    SurfaceBox box = surface_triangle_box(s, f);
    for (int k = 0; k < 3 && s->before != NULL; ++k) {
        TdlVec3 was = tdl_add3(s->before[s->corner[3 * f + k]], s->drift);
        box.lo = least(box.lo, was);
        box.hi = most(box.hi, was);
    }
    return box;
}

bool surface_boxes_meet(const SurfaceBox* a, const SurfaceBox* b) {
    return a->lo.x <= b->hi.x && b->lo.x <= a->hi.x && a->lo.y <= b->hi.y && b->lo.y <= a->hi.y &&
           a->lo.z <= b->hi.z && b->lo.z <= a->hi.z;
}

static double middle_of(const Surface* s, int f, int axis) {
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
        TdlVec3 p = s->vertex[s->corner[3 * f + k]];
        sum += axis == 0 ? p.x : axis == 1 ? p.y : p.z;
    }
    return sum;
}

// Hoare's selection: afterwards order[middle] has its place among [first, last].
static void select_middle(Surface* s, int first, int last, int middle, int axis) {
    int* order = s->order;
    while (first < last) {
        double pivot = middle_of(s, order[first + (last - first) / 2], axis);
        int i = first, j = last;
        while (i <= j) {
            while (middle_of(s, order[i], axis) < pivot) {
                ++i;
            }
            while (middle_of(s, order[j], axis) > pivot) {
                --j;
            }
            if (i <= j) {
                int swap = order[i];
                order[i++] = order[j];
                order[j--] = swap;
            }
        }
        if (middle <= j) {
            last = j;
        } else if (middle >= i) {
            first = i;
        } else {
            return;
        }
    }
}

static void build(Surface* s, int index, int first, int count) {
    SurfaceBox box = surface_triangle_box(s, s->order[first]);
    for (int i = 1; i < count; ++i) {
        SurfaceBox own = surface_triangle_box(s, s->order[first + i]);
        box.lo = least(box.lo, own.lo);
        box.hi = most(box.hi, own.hi);
    }
    s->node[index] = (SurfaceNode){box, first, count};
    if (count <= LEAF) {
        return;
    }
    TdlVec3 side = tdl_sub3(box.hi, box.lo);
    int axis = side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
    int half = count / 2, children = s->node_count;
    select_middle(s, first, first + count - 1, first + half, axis);
    s->node_count += 2;
    s->node[index] = (SurfaceNode){box, children, 0};
    build(s, children, first, half);
    build(s, children + 1, first + half, count - half);
}

static void each_in(const Surface* s, bool swept, const SurfaceBox* box, SurfaceFn fn, void* user) {
    int stack[MAX_DEPTH], depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        int index = stack[--depth];
        const SurfaceNode* node = &s->node[index];
        if (!surface_boxes_meet(swept ? &s->swept[index] : &node->box, box)) {
            continue;
        }
        if (node->count == 0) {
            stack[depth++] = node->first + 1;
            stack[depth++] = node->first;
        }
        for (int i = 0; i < node->count; ++i) {
            int f = s->order[node->first + i];
            SurfaceBox own = swept ? surface_swept_box(s, f) : surface_triangle_box(s, f);
            if (surface_boxes_meet(&own, box)) {
                fn(user, f);
            }
        }
    }
}

void surface_each_near(const Surface* s, SurfaceBox box, SurfaceFn fn, void* user) {
    each_in(s, false, &box, fn, user);
}

void surface_each_swept(const Surface* s, SurfaceBox box, SurfaceFn fn, void* user) {
    each_in(s, s->swept != NULL, &box, fn, user);
}

static void measure_size(Surface* s) {
    s->size = tdl_norm3(tdl_sub3(s->node[0].box.hi, s->node[0].box.lo));
}

// The boxes about triangles that moved, or about their ways. Children come after their parent.
static void refit(Surface* s, bool swept) {
    for (int i = s->node_count - 1; i >= 0; --i) {
        const SurfaceNode* node = &s->node[i];
        SurfaceBox box;
        for (int k = 0; k < (node->count > 0 ? node->count : 2); ++k) {
            int at = node->count > 0 ? s->order[node->first + k] : node->first + k;
            SurfaceBox own = node->count == 0 ? (swept ? s->swept[at] : s->node[at].box)
                             : swept          ? surface_swept_box(s, at)
                                              : surface_triangle_box(s, at);
            box.lo = k == 0 ? own.lo : least(box.lo, own.lo);
            box.hi = k == 0 ? own.hi : most(box.hi, own.hi);
        }
        *(swept ? &s->swept[i] : &s->node[i].box) = box;
    }
}

// --- moving ---------------------------------------------------------------------------------

static void start_move(Surface* s) {
    TdlVec3* swap = s->before;
    s->before = s->vertex;
    s->vertex = swap;
}

// Finds anew what depends on the vertices.
static int finish_move(Surface* s) {
    s->travel = 0.0;
    s->drift = (TdlVec3){0};
    for (int v = 0; v < s->vertex_count; ++v) {
        TdlVec3 way = tdl_sub3(s->vertex[v], s->before[v]);
        s->travel = fmax(s->travel, tdl_norm3(way));
        s->drift = tdl_axpy3(s->drift, 1.0 / s->vertex_count, way);
    }
    for (int f = 0; f < s->triangle_count; ++f) {
        const int* v = s->corner + 3 * (size_t)f;
        if (is_thin(s->vertex[v[0]], s->vertex[v[1]], s->vertex[v[2]])) {
            return f;
        }
    }
    find_normals(s);
    find_sharp(s);
    refit(s, false);
    refit(s, true);
    measure_size(s);
    return -1;
}

int surface_move(Surface* s, const VertexMotion* motion, double time) {
    start_move(s);
    for (int v = 0; v < s->vertex_count; ++v) {
        s->vertex[v] = vertex_motion_at(motion, s->from[v], time);
    }
    return finish_move(s);
}

int surface_put(Surface* s, const TdlVec3* vertices) {
    start_move(s);
    for (int v = 0; v < s->vertex_count; ++v) {
        s->vertex[v] = vertices[s->from[v]];
    }
    return finish_move(s);
}

double surface_rates(const Surface* s, const VertexMotion* motion, double time, double dt,
                     TdlVec3* rate) {
    double fastest = 0.0;
    for (int v = 0; v < s->vertex_count; ++v) {
        TdlVec3 way = tdl_sub3(vertex_motion_at(motion, s->from[v], time), s->vertex[v]);
        rate[v] = tdl_scale3(1.0 / dt, way);
        fastest = fmax(fastest, tdl_norm3(rate[v]));
    }
    return fastest;
}

// A point as a mean of the corners, and a height along the normal.
typedef struct OnTriangle {
    double weight[3], height;
} OnTriangle;

static OnTriangle locate(const Surface* s, int f, TdlVec3 point) {
    OnTriangle at = {.weight[0] = 1.0};
    TdlVec3 from = tdl_sub3(point, s->vertex[s->corner[3 * f]]);
    at.height = tdl_dot3(s->normal[f], from);
    for (int k = 1; k < 3; ++k) {
        // the share of a corner grows from 0 at the side across from it
        int side = 3 * f + (k + 1) % 3;
        TdlVec3 a = s->vertex[side_end(s, side, 0)], corner = s->vertex[s->corner[3 * f + k]];
        at.weight[k] = tdl_dot3(tdl_sub3(point, a), s->into[side]) /
                       tdl_dot3(tdl_sub3(corner, a), s->into[side]);
        at.weight[0] -= at.weight[k];
    }
    return at;
}

void surface_shares(const Surface* s, int f, TdlVec3 point, double* u, double* v) {
    OnTriangle on = locate(s, f, point);
    *u = fmin(fmax(on.weight[1], 0.0), 1.0);
    *v = fmin(fmax(on.weight[2], 0.0), 1.0);
}

static TdlVec3 weigh(const Surface* s, int f, const OnTriangle* at, const TdlVec3* of) {
    TdlVec3 sum = {0};
    for (int k = 0; k < 3; ++k) {
        sum = tdl_axpy3(sum, at->weight[k], of[s->corner[3 * f + k]]);
    }
    return sum;
}

TdlVec3 surface_carried(const Surface* s, int f, TdlVec3 point, const TdlVec3* at) {
    const int* v = s->corner + 3 * (size_t)f;
    OnTriangle on = locate(s, f, point);
    TdlVec3 n = tdl_cross3(tdl_sub3(at[v[1]], at[v[0]]), tdl_sub3(at[v[2]], at[v[0]]));
    return tdl_axpy3(weigh(s, f, &on, at), on.height / tdl_norm3(n), n);
}

TdlVec3 surface_velocity(const Surface* s, int f, TdlVec3 point, const TdlVec3* rate) {
    const int* v = s->corner + 3 * (size_t)f;
    OnTriangle on = locate(s, f, point);
    TdlVec3 e1 = tdl_sub3(s->vertex[v[1]], s->vertex[v[0]]),
            e2 = tdl_sub3(s->vertex[v[2]], s->vertex[v[0]]);
    TdlVec3 d1 = tdl_sub3(rate[v[1]], rate[v[0]]), d2 = tdl_sub3(rate[v[2]], rate[v[0]]);
    TdlVec3 turn = tdl_add3(tdl_cross3(d1, e2), tdl_cross3(e1, d2)), n = s->normal[f];
    turn = tdl_axpy3(turn, -tdl_dot3(n, turn), n); // a unit vector turns across itself
    return tdl_axpy3(weigh(s, f, &on, rate), on.height / tdl_norm3(tdl_cross3(e1, e2)), turn);
}

// --- life -----------------------------------------------------------------------------------

TdlStatus surface_create(const TdlHost* host, const TdlMesh* mesh, const VertexMotion* motion,
                         double radius, Surface** out) {
    Surface* s = tdl_alloc_zero(&host->mem, sizeof *s);
    if (s == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    const TdlAllocator* mem = &host->mem;
    size_t triangles = (size_t)mesh->triangle_count, sides = 3 * triangles;
    s->radius = radius;
    s->triangle_count = mesh->triangle_count;
    TdlStatus status = weld(host, mesh, motion, s);
    s->normal = tdl_alloc_array(mem, triangles, sizeof *s->normal);
    s->into = tdl_alloc_array(mem, sides, sizeof *s->into);
    s->edge_of = tdl_alloc_array(mem, sides, sizeof *s->edge_of);
    s->edge = tdl_alloc_array(mem, sides, sizeof *s->edge);
    s->edge_side = tdl_alloc_array(mem, sides, sizeof *s->edge_side);
    s->vertex_first = tdl_alloc_array(mem, (size_t)s->vertex_count + 1, sizeof *s->vertex_first);
    s->vertex_edge = tdl_alloc_array(mem, 2 * sides, sizeof *s->vertex_edge);
    s->vertex_owner = tdl_alloc_array(mem, (size_t)s->vertex_count + 1, sizeof *s->vertex_owner);
    s->vertex_triangle =
        tdl_alloc_array(mem, (size_t)s->vertex_count + 1, sizeof *s->vertex_triangle);
    s->node = tdl_alloc_array(mem, 2 * triangles, sizeof *s->node);
    s->order = tdl_alloc_array(mem, triangles, sizeof *s->order);
    bool moves = motion->samples != NULL, memory = true;
    if (moves) {
        s->rest = tdl_alloc_array(mem, (size_t)s->vertex_count + 1, sizeof *s->rest);
        s->before = tdl_alloc_array(mem, (size_t)s->vertex_count + 1, sizeof *s->before);
        s->swept = tdl_alloc_array(mem, 2 * triangles, sizeof *s->swept);
        memory = s->rest && s->before && s->swept;
    }
    memory = memory && s->normal && s->into && s->edge_of && s->edge && s->edge_side &&
             s->vertex_first && s->vertex_edge && s->vertex_owner && s->vertex_triangle &&
             s->node && s->order;
    if (status == TDL_STATUS_OK && memory && moves) {
        memcpy(s->rest, s->vertex, (size_t)s->vertex_count * sizeof *s->rest);
        memcpy(s->before, s->vertex, (size_t)s->vertex_count * sizeof *s->before);
    }
    if (status == TDL_STATUS_OK && memory) {
        find_normals(s);
        status = find_edges(host, s);
    }
    if (status != TDL_STATUS_OK || !memory) {
        surface_destroy(host, s);
        return TDL_STATUS_NO_MEMORY;
    }
    join_edges(s);
    bool deforms = moves && motion->sample_count == 1;
    s->closed = s->closed && !deforms; // it has no inside
    if (deforms && surface_find_neighbours(host, s) != TDL_STATUS_OK) {
        surface_destroy(host, s);
        return TDL_STATUS_NO_MEMORY;
    }
    find_sharp(s);
    for (int f = 0; f < s->triangle_count; ++f) {
        s->order[f] = f;
    }
    s->node_count = 1;
    build(s, 0, 0, s->triangle_count);
    if (moves) {
        refit(s, true);
    }
    measure_size(s);
    *out = s;
    return TDL_STATUS_OK;
}

void surface_destroy(const TdlHost* host, Surface* s) {
    if (s == NULL) {
        return;
    }
    void* arrays[] = {s->vertex,       s->vertex_triangle,
                      s->corner,       s->normal,
                      s->into,         s->edge_of,
                      s->edge,         s->edge_side,
                      s->vertex_edge,  s->vertex_owner,
                      s->node,         s->order,
                      s->vertex_first, s->from,
                      s->rest,         s->before,
                      s->swept,        s->near_first,
                      s->near,         s};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) {
        tdl_free(&host->mem, arrays[i]);
    }
}

TdlMesh surface_box_mesh(TdlVec3 half, TdlVec3* vertices, int* triangles) {
    // corner bit k: the upper end of axis k; each face with its normal outwards
    static const int FACES[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (int i = 0; i < 8; ++i) {
        vertices[i] =
            (TdlVec3){i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z};
    }
    for (int f = 0; f < 6; ++f) {
        for (int k = 0; k < 6; ++k) {
            static const int FAN[6] = {0, 1, 2, 0, 2, 3};
            triangles[6 * f + k] = FACES[f][FAN[k]];
        }
    }
    return (TdlMesh){vertices, 8, triangles, 12};
}

// --- questions ------------------------------------------------------------------------------

bool surface_covers(const Surface* s, int f, TdlVec3 point) {
    SurfaceBox box = surface_triangle_box(s, f);
    double slack = COVER * tdl_norm3(tdl_sub3(box.hi, box.lo));
    for (int k = 0; k < 3; ++k) {
        TdlVec3 from = tdl_sub3(point, s->vertex[s->corner[3 * f + k]]);
        if (tdl_dot3(from, s->into[3 * f + k]) < -slack) {
            return false;
        }
    }
    return true;
}

// Square of the distance of a point from a triangle: from its inside, or the nearest of its sides.
static double triangle_square(const Surface* s, int f, TdlVec3 point) {
    double best = INFINITY;
    bool inside = true;
    for (int k = 0; k < 3; ++k) {
        TdlVec3 a = s->vertex[s->corner[3 * f + k]], b = s->vertex[side_end(s, 3 * f + k, 1)];
        TdlVec3 ab = tdl_sub3(b, a), ap = tdl_sub3(point, a);
        double t = fmin(fmax(tdl_dot3(ap, ab) / tdl_dot3(ab, ab), 0.0), 1.0);
        TdlVec3 away = tdl_axpy3(ap, -t, ab);
        best = fmin(best, tdl_dot3(away, away));
        inside = inside && tdl_dot3(ap, s->into[3 * f + k]) >= 0.0;
    }
    double height = tdl_dot3(s->normal[f], tdl_sub3(point, s->vertex[s->corner[3 * f]]));
    return inside ? height * height : best;
}

typedef struct Nearer {
    const Surface* surface;
    TdlVec3 point;
    double square;
    bool found;
} Nearer;

static void look_nearer(void* user, int triangle) {
    Nearer* n = user;
    n->found = n->found || triangle_square(n->surface, triangle, n->point) < n->square;
}

bool surface_is_nearer(const Surface* s, TdlVec3 point, double limit) {
    TdlVec3 reach = {limit, limit, limit};
    Nearer n = {s, point, limit * limit, false};
    surface_each_near(s, (SurfaceBox){tdl_sub3(point, reach), tdl_add3(point, reach)}, look_nearer,
                      &n);
    return n.found;
}

bool surface_edge_faces(const Surface* s, int edge, TdlVec3 d) {
    const SurfaceEdge* e = &s->edge[edge];
    for (int i = 0; i < e->count; ++i) {
        if (tdl_dot3(d, s->into[s->edge_side[e->first + i]]) > CONE) {
            return false;
        }
    }
    return true;
}

bool surface_vertex_faces(const Surface* s, int vertex, TdlVec3 d) {
    bool free_side = !s->closed;
    for (int i = s->vertex_first[vertex]; i < s->vertex_first[vertex + 1]; ++i) {
        const SurfaceEdge* e = &s->edge[s->vertex_edge[i]];
        int other = e->vertex[e->vertex[0] == vertex ? 1 : 0];
        TdlVec3 along = tdl_sub3(s->vertex[other], s->vertex[vertex]);
        if (tdl_dot3(d, along) > CONE * tdl_norm3(along)) {
            return false;
        }
        for (int k = 0; k < e->count && !free_side; ++k) {
            free_side = tdl_dot3(d, s->normal[s->edge_side[e->first + k] / 3]) > 0.0;
        }
    }
    return free_side;
}

bool surface_point_faces(const Surface* s, TdlVec3 point, TdlVec3 d) {
    double near = ON_EDGE * s->size;
    for (int i = 0; i < s->edge_count; ++i) {
        const SurfaceEdge* e = &s->edge[i];
        TdlVec3 a = s->vertex[e->vertex[0]], ab = tdl_sub3(s->vertex[e->vertex[1]], a);
        double length = tdl_norm3(ab), t = tdl_dot3(tdl_sub3(point, a), ab) / length;
        TdlVec3 foot = tdl_axpy3(a, t / length, ab);
        if (!e->sharp || t < -near || t > length + near ||
            tdl_norm3(tdl_sub3(point, foot)) > near) {
            continue;
        }
        bool corner = t <= near || t >= length - near;
        if (!(corner ? surface_vertex_faces(s, e->vertex[t <= near ? 0 : 1], d)
                     : surface_edge_faces(s, i, d))) {
            return false;
        }
    }
    return true;
}
