// Vertices that are near along the edges of a sheet: places that always touch and are no contact of
// the sheet with itself. Ways along edges do not depend on how a sheet is folded at first. Each
// vertex looks about itself, shortest ways first found and then mended: O(k^2) for k neighbours, of
// which a sheet thinner than its edges has none. docs/theory/distance.md, section 10
#include "body/surface_neighbours.h"

// Ways along edges shorter than this times the radius join neighbours: twice the thickness. (X.41)
static const double NEAR_RADII = 4.0;

typedef struct Ways {
    const Surface* surface;
    double limit; // m
    int count;
    int* vertex;    // [vertex_count] reached so far
    double* length; // of the way
} Ways;

// True when the way is new, or shorter than before.
static bool add_way(Ways* w, int vertex, double length) {
    for (int i = 0; i < w->count; ++i) {
        if (w->vertex[i] == vertex) {
            bool shorter = length < w->length[i];
            w->length[i] = shorter ? length : w->length[i];
            return shorter;
        }
    }
    w->vertex[w->count] = vertex;
    w->length[w->count++] = length;
    return true;
}

static void find_ways(Ways* w, int from) {
    const Surface* s = w->surface;
    w->count = 0;
    add_way(w, from, 0.0);
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < w->count; ++i) {
            int v = w->vertex[i];
            for (int k = s->vertex_first[v]; k < s->vertex_first[v + 1]; ++k) {
                const SurfaceEdge* e = &s->edge[s->vertex_edge[k]];
                TdlVec3 along = tdl_sub3(s->vertex[e->vertex[1]], s->vertex[e->vertex[0]]);
                double length = w->length[i] + tdl_norm3(along);
                int other = e->vertex[e->vertex[0] == v];
                changed = (length < w->limit && add_way(w, other, length)) || changed;
            }
        }
    }
}

TdlStatus surface_find_neighbours(const TdlHost* host, Surface* s) {
    const TdlAllocator* mem = &host->mem;
    size_t count = (size_t)s->vertex_count + 1;
    Ways w = {.surface = s, .limit = NEAR_RADII * s->radius};
    w.vertex = tdl_alloc_array(mem, count, sizeof *w.vertex);
    w.length = tdl_alloc_array(mem, count, sizeof *w.length);
    s->near_first = tdl_alloc_array(mem, count, sizeof *s->near_first);
    bool memory = w.vertex && w.length && s->near_first;
    for (int turn = 0; turn < 2 && memory; ++turn) { // counts, then fills
        for (int v = 0; v < s->vertex_count; ++v) {
            find_ways(&w, v);
            if (turn == 0) {
                s->near_first[v + 1] = s->near_first[v] + w.count - 1;
            }
            for (int i = 1; i < w.count && turn == 1; ++i) {
                s->near[s->near_first[v] + i - 1] = w.vertex[i];
            }
        }
        if (turn == 0) {
            s->near =
                tdl_alloc_array(mem, (size_t)s->near_first[s->vertex_count] + 1, sizeof *s->near);
            memory = s->near != NULL;
        }
    }
    tdl_free(mem, w.vertex);
    tdl_free(mem, w.length);
    return memory ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}
