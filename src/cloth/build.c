// From a mesh to the elements of a sheet. docs/theory/cloth.md, section 1
//
// Every edge keeps its length, every quad the angle of its middle lines. Where all faces are flat
// rectangles in straight rows, bending is the square of second differences along the rows and
// across the quads: quadratic, and the same in all directions. Else it is in hinges between
// triangles.
#include "cloth/cloth.h"

#include "math/rotation.h"

#include <stdlib.h>
#include <string.h>

// What may be off a straight row or a right angle, as a share of the lengths.
static const double STRAIGHT = 1.0e-6;

// A side of a face: from corner k to the next; lower node first.
typedef struct Side {
    int node[2], face, corner;
} Side;

// Weights of up to four nodes, whose sum is squared, in 1/m^2, and the area it stands for.
typedef struct Stencil {
    int count, node[4];
    double weight[4], area;
} Stencil;

typedef struct Builder {
    Cloth* c;
    const TdlVec3* rest;
    const int* faces;
    int face_count;
    Side* side; // [side_count] by nodes, then faces
    int side_count;
    Stencil* stencil; // [stencil_count]
    int stencil_count;
} Builder;

static int corners_of(const int* face) {
    return face[3] < 0 ? 3 : 4;
}

static TdlVec3 between(const Builder* b, int i, int j) {
    return tdl_sub3(b->rest[j], b->rest[i]);
}

static double face_area(const Builder* b, int f) {
    const int* v = b->faces + 4 * (ptrdiff_t)f;
    double area = 0.5 * tdl_norm3(tdl_cross3(between(b, v[0], v[1]), between(b, v[0], v[2])));
    if (v[3] >= 0) {
        area += 0.5 * tdl_norm3(tdl_cross3(between(b, v[0], v[2]), between(b, v[0], v[3])));
    }
    return area;
}

// --- sides ---------------------------------------------------------------------------------------

static int compare_sides(const void* p, const void* q) {
    const Side *a = p, *b = q;
    for (int k = 0; k < 2; ++k) {
        if (a->node[k] != b->node[k]) {
            return a->node[k] < b->node[k] ? -1 : 1;
        }
    }
    return (a->face > b->face) - (a->face < b->face);
}

static bool find_sides(Builder* b) {
    b->side = ARENA_NEW(&b->c->arena, Side, 4 * (size_t)b->face_count);
    if (b->side == NULL) {
        return false;
    }
    for (int f = 0; f < b->face_count; ++f) {
        const int* v = b->faces + 4 * (ptrdiff_t)f;
        for (int k = 0, n = corners_of(v); k < n; ++k) {
            int i = v[k], j = v[(k + 1) % n];
            b->side[b->side_count++] = (Side){{i < j ? i : j, i < j ? j : i}, f, k};
        }
    }
    qsort(b->side, (size_t)b->side_count, sizeof *b->side, compare_sides);
    return true;
}

static bool same_edge(const Side* a, const Side* b) {
    return a->node[0] == b->node[0] && a->node[1] == b->node[1];
}

// Whether a side and the next in the order are of one edge.
static bool has_mate(const Builder* b, int s) {
    return s + 1 < b->side_count && same_edge(&b->side[s], &b->side[s + 1]);
}

// --- strains -------------------------------------------------------------------------------------

static ClothElement* new_element(Cloth* c, ClothStrain kind, int count) {
    ClothElement* el = &c->element[c->element_count++];
    *el = (ClothElement){.kind = kind, .count = count};
    return el;
}

// An edge stands for half of its quads and for all of its triangles. (N.4)
static void add_edges(Builder* b) {
    Cloth* c = b->c;
    int count = 0;
    for (int s = 0; s < b->side_count;) {
        const Side* first = &b->side[s];
        double area = 0.0;
        for (; s < b->side_count && same_edge(first, &b->side[s]); ++s) {
            const int* face = b->faces + 4 * (ptrdiff_t)b->side[s].face;
            area += face_area(b, b->side[s].face) * (corners_of(face) == 4 ? 0.5 : 1.0);
        }
        ClothElement* el = new_element(c, CLOTH_EDGE, 2);
        memcpy(el->node, first->node, sizeof first->node);
        el->scale = tdl_norm3(between(b, first->node[0], first->node[1]));
        el->stiffness = c->def.stretch * area;
        c->reach += el->scale;
        ++count;
    }
    c->reach /= count;
}

static void add_shears(Builder* b) {
    Cloth* c = b->c;
    for (int f = 0; f < b->face_count; ++f) {
        const int* v = b->faces + 4 * (ptrdiff_t)f;
        if (corners_of(v) < 4) {
            continue;
        }
        TdlVec3 p = tdl_add3(between(b, v[0], v[1]), between(b, v[3], v[2]));
        TdlVec3 q = tdl_add3(between(b, v[0], v[3]), between(b, v[1], v[2]));
        ClothElement* el = new_element(c, CLOTH_SHEAR, 4);
        memcpy(el->node, v, 4 * sizeof *v);
        el->scale = 4.0 / (tdl_norm3(p) * tdl_norm3(q));
        el->rest = 0.25 * el->scale * tdl_dot3(p, q);
        el->stiffness = (c->def.shear < 0.0 ? c->def.stretch : c->def.shear) * face_area(b, f);
    }
    c->strain_count = c->element_count;
}

static void share_areas(Builder* b) {
    for (int f = 0; f < b->face_count; ++f) {
        const int* v = b->faces + 4 * (ptrdiff_t)f;
        for (int k = 0, n = corners_of(v); k < n; ++k) {
            b->c->area[v[k]] += face_area(b, f) / n;
        }
    }
}

// --- bending of straight rows --------------------------------------------------------------------

// The neighbour of a node on the other side of its face than `beside`.
static int next_on_row(const Builder* b, const Side* s, int node, int beside) {
    const int* v = b->faces + 4 * (ptrdiff_t)s->face;
    for (int k = 0; k < 4; ++k) {
        if (v[k] == node) {
            return v[(k + 1) % 4] == beside ? v[(k + 3) % 4] : v[(k + 1) % 4];
        }
    }
    return -1;
}

static bool is_rectangle(const Builder* b, const int* v) {
    if (corners_of(v) < 4) {
        return false;
    }
    TdlVec3 p = between(b, v[0], v[1]), q = between(b, v[0], v[3]), r = between(b, v[3], v[2]);
    double size = tdl_norm3(p) + tdl_norm3(q);
    return tdl_norm3(tdl_sub3(p, r)) <= STRAIGHT * size &&
           fabs(tdl_dot3(p, q)) <= STRAIGHT * tdl_norm3(p) * tdl_norm3(q);
}

static bool goes_straight(const Builder* b, int i, int j, int k) {
    TdlVec3 in = tdl_unit3(between(b, i, j)), out = tdl_unit3(between(b, j, k));
    return tdl_norm3(tdl_sub3(out, in)) <= STRAIGHT;
}

// Whether all faces are rectangles, at most two meet at an edge, and rows go straight on.
static bool is_straight(const Builder* b) {
    for (int f = 0; f < b->face_count; ++f) {
        if (!is_rectangle(b, b->faces + 4 * (ptrdiff_t)f)) {
            return false;
        }
    }
    for (int s = 0; s + 1 < b->side_count; ++s) {
        const Side *p = &b->side[s], *q = &b->side[s + 1];
        if (!same_edge(p, q)) {
            continue;
        }
        for (int k = 0; k < 2; ++k) {
            int i = p->node[k], other = p->node[1 - k];
            if (!goes_straight(b, next_on_row(b, p, i, other), i, next_on_row(b, q, i, other))) {
                return false;
            }
        }
        if (has_mate(b, s + 1)) {
            return false;
        }
    }
    return true;
}

// The second difference over three nodes of a row, for half of the strip beside an edge. Where the
// row goes into a hold it is bent on one half of the middle only. (N.5)
static void add_row(Builder* b, int i, int j, int k, double width) {
    double p = tdl_norm3(between(b, i, j)), q = tdl_norm3(between(b, j, k));
    Stencil* x = &b->stencil[b->stencil_count++];
    *x = (Stencil){.count = 3, .node = {i, j, k}, .area = 0.25 * (p + q) * width};
    x->weight[0] = 2.0 / (p * (p + q));
    x->weight[2] = 2.0 / (q * (p + q));
    x->weight[1] = -x->weight[0] - x->weight[2];
    const bool* held = b->c->held;
    if (held[j] && held[i] != held[k]) {
        x->area *= 2.0;
    }
}

static void add_twist(Builder* b, int f) {
    const int* v = b->faces + 4 * (ptrdiff_t)f;
    double area = face_area(b, f);
    Stencil* x = &b->stencil[b->stencil_count++];
    *x = (Stencil){.count = 4, .area = 2.0 * area};
    for (int k = 0; k < 4; ++k) {
        x->node[k] = v[k];
        x->weight[k] = (k % 2 == 0 ? 1.0 : -1.0) / area;
    }
}

static bool add_stencils(Builder* b) {
    size_t most = (size_t)b->side_count + (size_t)b->face_count;
    b->stencil = ARENA_NEW(&b->c->arena, Stencil, most);
    if (b->stencil == NULL) {
        return false;
    }
    for (int s = 0; s < b->side_count; ++s) {
        const Side *p = &b->side[s], *q = p + 1;
        for (int k = 0; k < 2 && has_mate(b, s); ++k) {
            int i = p->node[k], other = p->node[1 - k];
            add_row(b, next_on_row(b, p, i, other), i, next_on_row(b, q, i, other),
                    tdl_norm3(between(b, i, other)));
        }
    }
    for (int f = 0; f < b->face_count; ++f) {
        add_twist(b, f);
    }
    return true;
}

// --- hinges --------------------------------------------------------------------------------------

static double triangle_area(const Builder* b, int i, int j, int k) {
    return 0.5 * tdl_norm3(tdl_cross3(between(b, i, j), between(b, i, k)));
}

// Bent by the angle theta, a hinge has kappa e^2 / (A1 + A2) theta^2 / 2. (N.3)
static void add_hinge(Builder* b, int i, int j, int left, int right) {
    Cloth* c = b->c;
    double length = tdl_norm3(between(b, i, j));
    double areas = triangle_area(b, i, j, left) + triangle_area(b, i, j, right);
    ClothElement* el = new_element(c, CLOTH_HINGE, 4);
    const int node[4] = {i, j, left, right};
    memcpy(el->node, node, sizeof node);
    el->stiffness = c->def.bending * length * length / areas;
    TdlVec3 slope[CLOTH_MOST];
    el->rest = cloth_strain(el, (const double*)b->rest, slope);
}

// The corner of the triangle of a face that stands on one of its sides: quads are two triangles,
// about the diagonal from the first corner.
static int opposite(const Builder* b, const Side* s) {
    const int* v = b->faces + 4 * (ptrdiff_t)s->face;
    if (corners_of(v) == 3) {
        return v[(s->corner + 2) % 3];
    }
    return s->corner < 2 ? v[s->corner == 0 ? 2 : 0] : v[s->corner == 2 ? 0 : 2];
}

static void add_hinges(Builder* b) {
    for (int s = 0; s < b->side_count; ++s) {
        const Side *p = &b->side[s], *q = p + 1;
        if (has_mate(b, s)) {
            const int* v = b->faces + 4 * (ptrdiff_t)p->face;
            int i = v[p->corner], j = v[(p->corner + 1) % corners_of(v)];
            add_hinge(b, i, j, opposite(b, p), opposite(b, q));
        }
    }
    for (int f = 0; f < b->face_count; ++f) {
        const int* v = b->faces + 4 * (ptrdiff_t)f;
        if (corners_of(v) == 4) {
            add_hinge(b, v[2], v[0], v[1], v[3]);
        }
    }
}

// --- the pattern of A ----------------------------------------------------------------------------

static int compare_keys(const void* p, const void* q) {
    const uint64_t *a = p, *b = q;
    return (*a > *b) - (*a < *b);
}

static size_t add_keys(const int* node, int count, uint64_t* key, size_t at) {
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) {
            key[at++] = (uint64_t)(uint32_t)node[i] << 32 | (uint32_t)node[j];
        }
    }
    return at;
}

// Every two nodes of an element or a stencil meet in a block.
static bool find_pattern(Builder* b) {
    Cloth* c = b->c;
    size_t most = 16 * ((size_t)c->element_count + (size_t)b->stencil_count), count = 0, kept = 0;
    uint64_t* key = ARENA_NEW(&c->arena, uint64_t, most);
    int* start = ARENA_NEW(&c->arena, int, (size_t)c->node_count + 1);
    if (key == NULL || start == NULL) {
        return false;
    }
    for (int k = 0; k < c->element_count; ++k) {
        count = add_keys(c->element[k].node, c->element[k].count, key, count);
    }
    for (int k = 0; k < b->stencil_count; ++k) {
        count = add_keys(b->stencil[k].node, b->stencil[k].count, key, count);
    }
    qsort(key, count, sizeof *key, compare_keys);
    int* column = ARENA_NEW(&c->arena, int, count);
    if (column == NULL) {
        return false;
    }
    memset(start, 0, ((size_t)c->node_count + 1) * sizeof *start);
    for (size_t k = 0; k < count; ++k) {
        if (k == 0 || key[k] != key[k - 1]) {
            column[kept++] = (int)(uint32_t)key[k];
            start[(key[k] >> 32) + 1] = (int)kept;
        }
    }
    c->pattern = (BlockPattern){c->node_count, 3, start, column, NULL};
    return true;
}

static bool place_elements(Builder* b) {
    Cloth* c = b->c;
    size_t blocks = (size_t)c->pattern.start[c->node_count];
    c->blocks = ARENA_NEW(&c->arena, double, 9 * blocks);
    c->bending = ARENA_NEW(&c->arena, double, blocks);
    if (c->blocks == NULL || c->bending == NULL) {
        return false;
    }
    for (int e = 0; e < c->element_count; ++e) {
        ClothElement* el = &c->element[e];
        for (int i = 0; i < el->count; ++i) {
            for (int j = 0; j < el->count; ++j) {
                el->place[CLOTH_MOST * i + j] =
                    block_pattern_place(&c->pattern, el->node[i], el->node[j]);
            }
        }
    }
    memset(c->bending, 0, blocks * sizeof *c->bending);
    for (int s = 0; s < b->stencil_count; ++s) {
        const Stencil* x = &b->stencil[s];
        for (int i = 0; i < x->count; ++i) {
            for (int j = 0; j < x->count; ++j) {
                int at = block_pattern_place(&c->pattern, x->node[i], x->node[j]);
                c->bending[at] += c->def.bending * x->area * x->weight[i] * x->weight[j];
            }
        }
    }
    return true;
}

static bool split_faces(Builder* b) {
    Cloth* c = b->c;
    c->triangle = ARENA_NEW(&c->arena, int, 6 * (size_t)b->face_count);
    if (c->triangle == NULL) {
        return false;
    }
    for (int f = 0; f < b->face_count; ++f) {
        const int* v = b->faces + 4 * (ptrdiff_t)f;
        for (int k = 1; k + 1 < corners_of(v); ++k) {
            const int corner[3] = {v[0], v[k], v[k + 1]};
            memcpy(c->triangle + 3 * (ptrdiff_t)c->triangle_count++, corner, sizeof corner);
        }
    }
    return true;
}

bool cloth_build(Cloth* c) {
    Builder b = {c, c->def.rest, c->def.mesh.faces, .face_count = c->def.mesh.face_count};
    if (!split_faces(&b) || !find_sides(&b)) {
        return false;
    }
    // edges, shears and hinges at most
    size_t most = 2 * (size_t)b.side_count + 2 * (size_t)b.face_count;
    c->element = ARENA_NEW(&c->arena, ClothElement, most);
    if (c->element == NULL) {
        return false;
    }
    share_areas(&b);
    add_edges(&b);
    add_shears(&b);
    if (!is_straight(&b)) {
        if (c->def.bending > 0.0) { // a hinge without stiffness has no stress of its own
            add_hinges(&b);
        }
    } else if (!add_stencils(&b)) {
        return false;
    }
    return find_pattern(&b) && place_elements(&b);
}
