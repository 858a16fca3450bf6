// From a mesh to the elements of a sheet. docs/theory/cloth.md, section 1
//
// Every edge keeps its length, every quad the angle of its middle lines. Where all faces are flat
// rectangles in straight rows, bending is the square of second differences along the rows and
// across the quads: quadratic, and the same in all directions. Else it is in hinges between
// triangles.
#include "cloth/cloth.h"

#include "cloth/membrane.h"
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
    const TdlVec3* at; // [4 face_count] places of corners at rest
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

static const int* face_at(const Builder* b, int f) {
    return b->faces + 4 * (ptrdiff_t)f;
}

// From corner i to corner j of a face, at rest.
static TdlVec3 between(const Builder* b, int f, int i, int j) {
    const TdlVec3* at = b->at + 4 * (ptrdiff_t)f;
    return tdl_sub3(at[j], at[i]);
}

static double triangle_area(const Builder* b, int f, int i, int j, int k) {
    return 0.5 * tdl_norm3(tdl_cross3(between(b, f, i, j), between(b, f, i, k)));
}

static double face_area(const Builder* b, int f) {
    double area = triangle_area(b, f, 0, 1, 2);
    return face_at(b, f)[3] < 0 ? area : area + triangle_area(b, f, 0, 2, 3);
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
        const int* v = face_at(b, f);
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

// The corner of a side's face where a node is.
static int corner_of(const Builder* b, const Side* s, int node) {
    const int* v = face_at(b, s->face);
    int k = s->corner;
    return v[k] == node ? k : (k + 1) % corners_of(v);
}

// From its lower node to the other, at rest.
static TdlVec3 along(const Builder* b, const Side* s) {
    return between(b, s->face, corner_of(b, s, s->node[0]), corner_of(b, s, s->node[1]));
}

// Whether a side and the next in the order are of one edge.
static bool has_mate(const Builder* b, int s) {
    return s + 1 < b->side_count && same_edge(&b->side[s], &b->side[s + 1]);
}

// --- strains -------------------------------------------------------------------------------------

static bool is_near(double a, double b) {
    return fabs(a - b) <= STRAIGHT * (a + b);
}

static ClothElement* new_element(Cloth* c, ClothStrain kind, int count) {
    ClothElement* el = &c->element[c->element_count++];
    *el = (ClothElement){.kind = kind, .count = count};
    return el;
}

// Whether a side is of an edge that another face has, too.
static bool is_inner(const Builder* b, int s) {
    return has_mate(b, s) || (s > 0 && has_mate(b, s - 1));
}

// An edge stands for half of its quads and for all of its triangles. (N.4) Where two pieces are
// sewn whose sides are not equally long, each keeps its own.
static void add_edges(Builder* b) {
    Cloth* c = b->c;
    ClothElement* el = NULL;
    for (int s = 0; s < b->side_count; ++s) {
        const Side* side = &b->side[s];
        bool quad = corners_of(face_at(b, side->face)) == 4;
        double length = tdl_norm3(along(b, side));
        if (c->def.isometry == TDL_ISOMETRY_S3 && is_inner(b, s)) {
            continue; // of edges it has the rim's alone
        }
        bool same = el != NULL && same_edge(side - 1, side) && is_near(length, el->scale);
        if (!same) {
            el = new_element(c, CLOTH_EDGE, 2);
            memcpy(el->node, side->node, sizeof side->node);
            el->scale = length;
        }
        el->stiffness += face_area(b, side->face) * (quad ? 0.5 : 1.0);
    }
    for (int e = 0; e < c->element_count; ++e) {
        c->element[e].stiffness *= c->def.stretch;
    }
}

// The mean length of an edge; where it differs, of both sides.
static void find_reach(Builder* b) {
    double sum = 0.0, last = 0.0;
    int count = 0;
    for (int s = 0; s < b->side_count; ++s) {
        double length = tdl_norm3(along(b, &b->side[s]));
        if (s == 0 || !same_edge(&b->side[s - 1], &b->side[s]) || !is_near(length, last)) {
            sum += length;
            ++count;
        }
        last = length;
    }
    b->c->reach = sum / count;
}

static void add_shears(Builder* b) {
    Cloth* c = b->c;
    for (int f = 0; f < b->face_count; ++f) {
        const int* v = face_at(b, f);
        if (corners_of(v) < 4) {
            continue;
        }
        TdlVec3 p = tdl_add3(between(b, f, 0, 1), between(b, f, 3, 2));
        TdlVec3 q = tdl_add3(between(b, f, 0, 3), between(b, f, 1, 2));
        ClothElement* el = new_element(c, CLOTH_SHEAR, 4);
        memcpy(el->node, v, 4 * sizeof *v);
        el->scale = 4.0 / (tdl_norm3(p) * tdl_norm3(q));
        el->rest = 0.25 * el->scale * tdl_dot3(p, q);
        el->stiffness = (c->def.shear < 0.0 ? c->def.stretch : c->def.shear) * face_area(b, f);
    }
}

// --- elastic faces -------------------------------------------------------------------------------

// Strains of one face at its middle, and of a quad those that are not uniform. (N.54), (N.56)
static void add_panel(Builder* b, int f, ClothPanel* panel) {
    const TdlClothDef* def = &b->c->def;
    const int* v = face_at(b, f);
    ElasticLaw law = elastic_law(def);
    double area = cloth_panel_make(b->at + 4 * (ptrdiff_t)f, corners_of(v), def->warp, panel);
    const double weight[5][3] = {{1.0, law.coupled, 0.0},
                                 {0.0, 1.0, 0.0},
                                 {0.0, 0.0, 1.0}, // warp and weft, weft, shear
                                 {panel->slope[0], 0.0, 0.0},
                                 {0.0, panel->slope[1], 0.0}};
    const double modulus[5] = {law.first, law.weft, law.shear, law.warp / 3.0, law.weft / 3.0};
    for (int k = 0; k < (corners_of(v) == 4 ? 5 : 3); ++k) {
        ClothElement* el = new_element(b->c, k < 3 ? CLOTH_PANEL : CLOTH_TWIST, corners_of(v));
        memcpy(el->node, v, (size_t)el->count * sizeof *v);
        memcpy(el->weight, weight[k], sizeof el->weight);
        el->panel = panel;
        el->rest = k < 3 ? weight[k][0] + weight[k][1] : 0.0;
        el->stiffness = modulus[k] * area;
    }
}

static bool add_panels(Builder* b) {
    ClothPanel* panel = ARENA_NEW(&b->c->arena, ClothPanel, b->face_count);
    for (int f = 0; f < b->face_count && panel != NULL; ++f) {
        add_panel(b, f, &panel[f]);
    }
    return panel != NULL;
}

static bool add_strains(Builder* b) {
    if (b->c->def.model == TDL_CLOTH_ELASTIC) {
        return add_panels(b);
    }
    add_edges(b);
    if (b->c->def.isometry == TDL_ISOMETRY_S3) {
        return cloth_add_s3(b->c);
    }
    add_shears(b);
    return true;
}

static void share_areas(Builder* b) {
    for (int f = 0; f < b->face_count; ++f) {
        const int* v = face_at(b, f);
        for (int k = 0, n = corners_of(v); k < n; ++k) {
            b->c->area[v[k]] += face_area(b, f) / n;
        }
    }
}

// --- bending of straight rows --------------------------------------------------------------------

// The corner beside a corner of a face that is not on the side.
static int next_on_row(const Side* s, int corner) {
    return corner == s->corner ? (corner + 3) % 4 : (corner + 1) % 4;
}

static bool is_rectangle(const Builder* b, int f) {
    if (corners_of(face_at(b, f)) < 4) {
        return false;
    }
    TdlVec3 p = between(b, f, 0, 1), q = between(b, f, 0, 3), r = between(b, f, 3, 2);
    double size = tdl_norm3(p) + tdl_norm3(q);
    return tdl_norm3(tdl_sub3(p, r)) <= STRAIGHT * size &&
           fabs(tdl_dot3(p, q)) <= STRAIGHT * tdl_norm3(p) * tdl_norm3(q);
}

// The part of a row that ends on a side at a node: from where, and the way at rest.
static TdlVec3 row_to(const Builder* b, const Side* s, int node, int* from) {
    int corner = corner_of(b, s, node), next = next_on_row(s, corner);
    *from = face_at(b, s->face)[next];
    return between(b, s->face, next, corner);
}

// Whether the row through a node of an edge of two sides goes straight on.
static bool goes_straight(const Builder* b, const Side* p, const Side* q, int node) {
    int from;
    TdlVec3 in = tdl_unit3(row_to(b, p, node, &from)), out = tdl_unit3(row_to(b, q, node, &from));
    return tdl_norm3(tdl_add3(out, in)) <= STRAIGHT;
}

// Whether all faces are rectangles, at most two meet at an edge, and rows go straight on.
static bool is_straight(const Builder* b) {
    for (int f = 0; f < b->face_count; ++f) {
        if (!is_rectangle(b, f)) {
            return false;
        }
    }
    for (int s = 0; s + 1 < b->side_count; ++s) {
        const Side *p = &b->side[s], *q = &b->side[s + 1];
        if (!same_edge(p, q)) {
            continue;
        }
        if (!goes_straight(b, p, q, p->node[0]) || !goes_straight(b, p, q, p->node[1]) ||
            !is_near(tdl_norm3(along(b, p)), tdl_norm3(along(b, q))) || has_mate(b, s + 1)) {
            return false;
        }
    }
    return true;
}

// The second difference over three nodes of a row, for half of the strip beside an edge. Where the
// row goes into a hold it is bent on one half of the middle only. (N.5)
static void add_row(Builder* b, const Side* one, const Side* other, int j) {
    int i, k;
    double p = tdl_norm3(row_to(b, one, j, &i)), q = tdl_norm3(row_to(b, other, j, &k));
    double width = tdl_norm3(along(b, one));
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
    const int* v = face_at(b, f);
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
        const Side* p = &b->side[s];
        for (int k = 0; k < 2 && has_mate(b, s); ++k) {
            add_row(b, p, p + 1, p->node[k]);
        }
    }
    for (int f = 0; f < b->face_count; ++f) {
        add_twist(b, f);
    }
    return true;
}

// --- hinges --------------------------------------------------------------------------------------

// One of the two triangles at a hinge: the edge from `first` to `second`, and the third corner.
typedef struct Leaf {
    int face, first, second, third;
} Leaf;

static bool same_place(const Builder* b, const Leaf* p, int i, const Leaf* q, int j) {
    TdlVec3 way = tdl_sub3(b->at[4 * (ptrdiff_t)p->face + i], b->at[4 * (ptrdiff_t)q->face + j]);
    return tdl_norm3(way) <= STRAIGHT * tdl_norm3(between(b, p->face, p->first, p->second));
}

// The angle of a hinge at rest; of pieces that are not joined there it is flat.
static double rest_angle(const Builder* b, const Leaf* p, const Leaf* q) {
    if (!same_place(b, p, p->first, q, q->first) || !same_place(b, p, p->second, q, q->second)) {
        return 0.0;
    }
    const TdlVec3 *at = b->at + 4 * (ptrdiff_t)p->face, *other = b->at + 4 * (ptrdiff_t)q->face;
    double x[12];
    tdl_store3(x, 0, at[p->first]);
    tdl_store3(x, 1, at[p->second]);
    tdl_store3(x, 2, at[p->third]);
    tdl_store3(x, 3, other[q->third]);
    TdlVec3 slope[CLOTH_MOST];
    const ClothElement el = {.kind = CLOTH_HINGE, .count = 4, .node = {0, 1, 2, 3}};
    return cloth_strain(&el, x, slope);
}

// Bent by the angle theta, a hinge has kappa e^2 / (A1 + A2) theta^2 / 2. (N.3)
static void add_hinge(Builder* b, const Leaf* p, const Leaf* q) {
    Cloth* c = b->c;
    double length = tdl_norm3(between(b, p->face, p->first, p->second));
    double areas = triangle_area(b, p->face, p->first, p->second, p->third) +
                   triangle_area(b, q->face, q->first, q->second, q->third);
    ClothElement* el = new_element(c, CLOTH_HINGE, 4);
    const int *v = face_at(b, p->face), *w = face_at(b, q->face);
    const int node[4] = {v[p->first], v[p->second], v[p->third], w[q->third]};
    memcpy(el->node, node, sizeof node);
    el->stiffness = c->def.bending * length * length / areas;
    el->rest = rest_angle(b, p, q);
}

// The corner of the triangle of a face that stands on one of its sides: quads are two triangles,
// about the diagonal from the first corner.
static int opposite(const Builder* b, const Side* s) {
    if (corners_of(face_at(b, s->face)) == 3) {
        return (s->corner + 2) % 3;
    }
    return s->corner % 2 == 0 ? (s->corner + 2) % 4 : s->corner == 1 ? 0 : 2;
}

static void add_hinges(Builder* b) {
    for (int s = 0; s < b->side_count; ++s) {
        const Side *p = &b->side[s], *q = p + 1;
        if (has_mate(b, s)) {
            const int* v = face_at(b, p->face);
            int i = v[p->corner], j = v[(p->corner + 1) % corners_of(v)];
            const Leaf one = {p->face, p->corner, corner_of(b, p, j), opposite(b, p)};
            const Leaf other = {q->face, corner_of(b, q, i), corner_of(b, q, j), opposite(b, q)};
            add_hinge(b, &one, &other);
        }
    }
    for (int f = 0; f < b->face_count; ++f) {
        if (corners_of(face_at(b, f)) == 4) {
            add_hinge(b, &(Leaf){f, 2, 0, 1}, &(Leaf){f, 2, 0, 3});
        }
    }
}

// --- stitches ------------------------------------------------------------------------------------

// As stiff as a spring of Y. (N.51)
static void add_stitches(Builder* b) {
    Cloth* c = b->c;
    for (int s = 0; s < c->stitch_count; ++s) {
        const ClothStitch* stitch = &c->stitch[s];
        ClothElement* el = new_element(c, CLOTH_EDGE, 2);
        memcpy(el->node, stitch->node, sizeof stitch->node);
        el->scale = stitch->first;
        el->stiffness = c->def.stretch * stitch->first * stitch->first;
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
    size_t most = 16 * (size_t)b->stencil_count, count = 0, kept = 0;
    for (int k = 0; k < c->element_count; ++k) {
        most += (size_t)c->element[k].count * (size_t)c->element[k].count;
    }
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
        el->first = c->slope_count;
        c->slope_count += el->count;
        el->place = ARENA_NEW(&c->arena, int, el->count * el->count);
        for (int k = 0; k < el->count * el->count && el->place != NULL; ++k) {
            el->place[k] =
                block_pattern_place(&c->pattern, el->node[k / el->count], el->node[k % el->count]);
        }
        if (el->place == NULL) {
            return false;
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
        const int* v = face_at(b, f);
        for (int k = 1; k + 1 < corners_of(v); ++k) {
            const int corner[3] = {v[0], v[k], v[k + 1]};
            memcpy(c->triangle + 3 * (ptrdiff_t)c->triangle_count++, corner, sizeof corner);
        }
    }
    return true;
}

bool cloth_build(Cloth* c) {
    Builder b = {c, c->def.rest_corners, c->def.mesh.faces, .face_count = c->def.mesh.face_count};
    if (!split_faces(&b) || !find_sides(&b)) {
        return false;
    }
    // edges, shears and hinges at most, or five strains a face; and stitches
    size_t most = 2 * (size_t)b.side_count + 2 * (size_t)b.face_count + (size_t)c->stitch_count;
    c->element = ARENA_NEW(&c->arena, ClothElement, most);
    if (c->element == NULL) {
        return false;
    }
    share_areas(&b);
    find_reach(&b);
    if (!add_strains(&b)) {
        return false;
    }
    c->strain_count = c->element_count;
    if (!is_straight(&b)) {
        if (c->def.bending > 0.0) { // a hinge without stiffness has no stress of its own
            add_hinges(&b);
        }
    } else if (!add_stencils(&b)) {
        return false;
    }
    c->bend_count = c->element_count - c->strain_count;
    add_stitches(&b);
    return find_pattern(&b) && place_elements(&b);
}
