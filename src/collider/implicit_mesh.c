// Triangles of an implicit surface, for pictures only: a grid over its box, a vertex in every cube
// whose corners differ in sign, put on the surface, and two triangles across every edge of the grid
// that the surface cuts. O(cubes).
#include "collider/implicit.h"

// Cubes along the longest side of the box.
enum { CUBES = 80 };

typedef struct Grid {
    const TdlHost* host;
    const ImplicitSurface* surface;
    int n[3]; // cubes by axis
    TdlVec3 step;
    double* value; // at the corners of cubes
    int* vertex;   // of a cube; -1: none
    TdlVec3* vertices;
    int *triangles, vertex_count, triangle_count, vertex_capacity, triangle_capacity;
    bool failed;
} Grid;

static size_t corner_of(const Grid* g, int i, int j, int k) {
    return ((size_t)k * (size_t)(g->n[1] + 1) + (size_t)j) * (size_t)(g->n[0] + 1) + (size_t)i;
}

static size_t cube_of(const Grid* g, int i, int j, int k) {
    return ((size_t)k * (size_t)g->n[1] + (size_t)j) * (size_t)g->n[0] + (size_t)i;
}

static TdlVec3 place_of(const Grid* g, double i, double j, double k) {
    TdlVec3 low = g->surface->h.low;
    return (TdlVec3){low.x + i * g->step.x, low.y + j * g->step.y, low.z + k * g->step.z};
}

static void fill_values(Grid* g) {
    for (int k = 0; k <= g->n[2]; ++k) {
        for (int j = 0; j <= g->n[1]; ++j) {
            for (int i = 0; i <= g->n[0]; ++i) {
                TdlImplicitPoint p;
                g->surface->h.at(g->surface->h.data, place_of(g, i, j, k), &p);
                g->value[corner_of(g, i, j, k)] = p.value;
            }
        }
    }
}

// The mean of where the surface cuts the edges of a cube, in shares of it; false: it does not.
static bool middle_of_cuts(const Grid* g, int i, int j, int k, TdlVec3* out) {
    double v[8], sum[3] = {0};
    int count = 0;
    for (int c = 0; c < 8; ++c) {
        v[c] = g->value[corner_of(g, i + (c & 1), j + (c >> 1 & 1), k + (c >> 2))];
    }
    for (int e = 0; e < 12; ++e) {
        int axis = e / 4, a = 1 << (axis + 1) % 3, b = 1 << (axis + 2) % 3;
        int from = (e & 1 ? a : 0) + (e & 2 ? b : 0), to = from + (1 << axis);
        if ((v[from] > 0.0) == (v[to] > 0.0)) {
            continue;
        }
        double at[3] = {from & 1, from >> 1 & 1, from >> 2};
        at[axis] = v[from] / (v[from] - v[to]);
        for (int m = 0; m < 3; ++m) {
            sum[m] += at[m];
        }
        ++count;
    }
    *out = (TdlVec3){i + sum[0] / count, j + sum[1] / count, k + sum[2] / count};
    return count > 0;
}

// Two steps towards the surface, no farther than a cube.
static TdlVec3 on_surface(const Grid* g, TdlVec3 x) {
    TdlVec3 from = x;
    for (int i = 0; i < 3; ++i) {
        ImplicitFrame f;
        if (implicit_frame(g->surface, x, &f)) {
            x = tdl_axpy3(x, -f.away, f.normal);
        }
    }
    return tdl_norm3(tdl_sub3(x, from)) <= tdl_norm3(g->step) ? x : from;
}

static void place_vertices(Grid* g) {
    for (int k = 0; k < g->n[2]; ++k) {
        for (int j = 0; j < g->n[1]; ++j) {
            for (int i = 0; i < g->n[0]; ++i) {
                TdlVec3 share;
                int* own = &g->vertex[cube_of(g, i, j, k)];
                *own = -1;
                if (!middle_of_cuts(g, i, j, k, &share)) {
                    continue;
                }
                if (!tdl_reserve(&g->host->mem, &g->vertices, &g->vertex_capacity,
                                 g->vertex_count + 1, sizeof *g->vertices)) {
                    g->failed = true;
                    return;
                }
                *own = g->vertex_count;
                g->vertices[g->vertex_count++] =
                    on_surface(g, place_of(g, share.x, share.y, share.z));
            }
        }
    }
}

// Points that are sharper than cubes are where they are.
static void sharpen(Grid* g, const TdlPeak* peak, int count) {
    TdlVec3 low = g->surface->h.low;
    for (int i = 0; i < count; ++i) {
        TdlVec3 p = tdl_sub3(peak[i].point, low);
        int at[3] = {(int)(p.x / g->step.x), (int)(p.y / g->step.y), (int)(p.z / g->step.z)};
        bool inside = true;
        for (int m = 0; m < 3; ++m) {
            inside = inside && at[m] >= 0 && at[m] < g->n[m];
        }
        int vertex = inside ? g->vertex[cube_of(g, at[0], at[1], at[2])] : -1;
        if (vertex >= 0) {
            g->vertices[vertex] = peak[i].point;
        }
    }
}

static bool add_triangle(Grid* g, int a, int b, int c) {
    TdlVec3 *v = g->vertices, p = tdl_sub3(v[b], v[a]), q = tdl_sub3(v[c], v[a]);
    if (!(tdl_norm3(tdl_cross3(p, q)) > 1.0e-12 * tdl_dot3(g->step, g->step))) {
        return true; // no area: nothing to see
    }
    if (!tdl_reserve(&g->host->mem, &g->triangles, &g->triangle_capacity,
                     3 * (g->triangle_count + 1), sizeof *g->triangles)) {
        return false;
    }
    int* t = g->triangles + 3 * (size_t)g->triangle_count++;
    t[0] = a;
    t[1] = b;
    t[2] = c;
    return true;
}

// The four cubes about an edge of the grid along an axis, seen from its free end turned left.
static void join_about(Grid* g, int axis, const int at[3]) {
    int b = (axis + 1) % 3, c = (axis + 2) % 3, end[3] = {at[0], at[1], at[2]}, q[4];
    ++end[axis];
    bool from = g->value[corner_of(g, at[0], at[1], at[2])] > 0.0;
    if (at[b] == 0 || at[c] == 0 || at[b] == g->n[b] || at[c] == g->n[c] ||
        from == (g->value[corner_of(g, end[0], end[1], end[2])] > 0.0)) {
        return;
    }
    for (int m = 0; m < 4; ++m) {
        int cube[3] = {at[0], at[1], at[2]};
        cube[b] -= m == 0 || m == 3;
        cube[c] -= m < 2;
        q[m] = g->vertex[cube_of(g, cube[0], cube[1], cube[2])];
    }
    int one = from ? q[3] : q[1], other = from ? q[1] : q[3];
    g->failed =
        g->failed || !add_triangle(g, q[0], one, q[2]) || !add_triangle(g, q[0], q[2], other);
}

static void join_vertices(Grid* g) {
    for (int axis = 0; axis < 3; ++axis) {
        int top[3] = {g->n[0], g->n[1], g->n[2]};
        --top[axis];
        for (int k = 0; k <= top[2]; ++k) {
            for (int j = 0; j <= top[1]; ++j) {
                for (int i = 0; i <= top[0] && !g->failed; ++i) {
                    join_about(g, axis, (const int[3]){i, j, k});
                }
            }
        }
    }
}

TdlStatus implicit_mesh(const TdlHost* host, const ImplicitSurface* s, const TdlPeak* peaks,
                        int peak_count, TdlMesh* out) {
    Grid g = {.host = host, .surface = s};
    TdlVec3 side = tdl_sub3(s->h.high, s->h.low);
    double longest = fmax(side.x, fmax(side.y, side.z)), sides[3] = {side.x, side.y, side.z};
    for (int m = 0; m < 3; ++m) {
        g.n[m] = (int)fmax(ceil(CUBES * sides[m] / longest), 2.0);
    }
    g.step = (TdlVec3){side.x / g.n[0], side.y / g.n[1], side.z / g.n[2]};
    size_t corners = corner_of(&g, g.n[0], g.n[1], g.n[2]) + 1;
    g.value = tdl_alloc_array(&host->mem, corners, sizeof *g.value);
    g.vertex = tdl_alloc_array(&host->mem, corners, sizeof *g.vertex);
    g.failed = g.value == NULL || g.vertex == NULL;
    if (!g.failed) {
        fill_values(&g);
        place_vertices(&g);
    }
    if (!g.failed) {
        sharpen(&g, peaks, peak_count);
        join_vertices(&g);
    }
    tdl_free(&host->mem, g.value);
    tdl_free(&host->mem, g.vertex);
    *out = (TdlMesh){g.vertices, g.vertex_count, g.triangles, g.triangle_count};
    return g.failed ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}
