// S3's isometry: at every inner node the averages of the metric E, F, G over the four quads about
// it, weighted by the node's hat function; at the rim the lengths of the edges. It fixes averages
// only: a sheet hung by two corners changes its area by percents, and a flat one has rows that
// depend on each other. Kept to compare with. docs/theory/cloth.md, section 6
#include "cloth/cloth.h"

#include "math/rotation.h"

#include <stdlib.h>
#include <string.h>

// What a side may be off the two directions of all, as a share of its length.
static const double STRAIGHT = 1.0e-6;

// The node itself among the nine about it, row by row.
enum { PATCH = CLOTH_MOST, MIDDLE = 4 };

typedef struct Axes {
    TdlVec3 u, v; // unit, of the first face at rest: one frame for all
} Axes;

static const char NOT_ROWS[] =
    "isometry s3 takes a flat, inextensible sheet of rectangles in straight rows without seams";

static TdlVec3 way(const TdlVec3* rest, int i, int j) {
    return tdl_sub3(rest[j], rest[i]);
}

// -1, 0, 1: which way along an axis.
static int side_of(TdlVec3 along, TdlVec3 axis, double size) {
    double x = tdl_dot3(along, axis);
    return fabs(x) <= STRAIGHT * size ? 0 : x > 0.0 ? 1 : -1;
}

// Writes the other corners of a face into the patch of one; false where they do not fit.
static bool add_corner(const TdlVec3* rest, const Axes* axes, const int* face, int corner,
                       int* patch) {
    int own = face[corner];
    for (int k = 0; k < 4; ++k) {
        TdlVec3 d = way(rest, own, face[k]);
        double size = tdl_norm3(d);
        int u = side_of(d, axes->u, size), v = side_of(d, axes->v, size);
        TdlVec3 off =
            tdl_axpy3(tdl_axpy3(d, -tdl_dot3(d, axes->u), axes->u), -tdl_dot3(d, axes->v), axes->v);
        int at = MIDDLE + u + 3 * v;
        bool opposite = abs(k - corner) == 2;
        if (tdl_norm3(off) > STRAIGHT * size ||
            (k != corner && abs(u) + abs(v) != (opposite ? 2 : 1)) ||
            (patch[at] >= 0 && patch[at] != face[k])) {
            return false;
        }
        patch[at] = face[k];
    }
    return true;
}

// The nine nodes about every node, [PATCH node_count], -1 where there is none. False: these are no
// rows of rectangles.
static bool find_patches(const TdlClothMesh* mesh, const TdlVec3* rest, Axes* axes, int* patch) {
    const int* first = mesh->faces;
    for (int i = 0; i < PATCH * mesh->vertex_count; ++i) {
        patch[i] = -1;
    }
    axes->u = tdl_unit3(way(rest, first[0], first[1]));
    axes->v = first[3] < 0 ? (TdlVec3){0} : tdl_unit3(way(rest, first[0], first[3]));
    if (fabs(tdl_dot3(axes->u, axes->v)) > STRAIGHT) {
        return false;
    }
    for (int f = 0; f < mesh->face_count; ++f) {
        const int* face = mesh->faces + 4 * (ptrdiff_t)f;
        for (int k = 0; k < 4; ++k) {
            if (face[3] < 0 ||
                !add_corner(rest, axes, face, k, patch + PATCH * (ptrdiff_t)face[k])) {
                return false;
            }
        }
    }
    return true;
}

// Where vertices are at rest; false where faces do not agree about one.
static bool gather_rest(const TdlClothDef* def, TdlVec3* out) {
    const TdlVec3* rest = def->rest == NULL ? def->mesh.vertices : def->rest;
    bool good = true;
    memcpy(out, rest, (size_t)def->mesh.vertex_count * sizeof *out);
    for (int pass = 0; pass < 2 && def->rest_corners != NULL; ++pass) {
        for (int k = 0; k < 4 * def->mesh.face_count; ++k) {
            int i = def->mesh.faces[k];
            if (i >= 0 && pass == 0) {
                out[i] = def->rest_corners[k];
            } else if (i >= 0) {
                TdlVec3 off = tdl_sub3(out[i], def->rest_corners[k]);
                good = good && tdl_norm3(off) <= STRAIGHT * tdl_norm3(out[i]);
            }
        }
    }
    return good;
}

const char* cloth_s3_fault(const TdlClothDef* def) {
    size_t count = (size_t)def->mesh.vertex_count;
    int* patch = malloc(PATCH * count * sizeof *patch);
    TdlVec3* rest = malloc(count * sizeof *rest);
    Axes axes;
    bool good = patch != NULL && rest != NULL && def->model == TDL_CLOTH_INEXTENSIBLE &&
                def->seam_count == 0 && gather_rest(def, rest) &&
                find_patches(&def->mesh, rest, &axes, patch);
    free(patch);
    free(rest);
    return good ? NULL : NOT_ROWS;
}

// --- the forms -----------------------------------------------------------------------------------

// Integrals over a row of three nodes, h[0] and h[1] apart, of the middle one's hat times those of
// two others: both differentiated, none, the first. (N.31)
typedef struct RowIntegrals {
    double both[3][3], none[3][3], first[3][3];
} RowIntegrals;

static RowIntegrals integrate(const double h[2]) {
    RowIntegrals r = {0};
    for (int side = 0; side < 2; ++side) {
        int far = 2 * side, mid = 1;
        double sign = side == 0 ? 1.0 : -1.0; // the middle's hat rises, then falls
        double rate = 0.5 / h[side];
        r.both[far][far] += rate;
        r.both[mid][mid] += rate;
        r.both[far][mid] -= rate;
        r.both[mid][far] -= rate;
        r.none[far][far] += h[side] / 12.0;
        r.none[far][mid] += h[side] / 12.0;
        r.none[mid][far] += h[side] / 12.0;
        r.none[mid][mid] += h[side] / 4.0;
        r.first[mid][mid] += sign / 3.0;
        r.first[mid][far] += sign / 6.0;
        r.first[far][mid] -= sign / 3.0;
        r.first[far][far] -= sign / 6.0;
    }
    return r;
}

// The forms of E, F and G over the nine nodes, E = x' form x, F = x' form x / 2. (N.30)
static void fill_forms(const double hu[2], const double hv[2], double* form) {
    RowIntegrals u = integrate(hu), v = integrate(hv);
    double area = 0.25 * (hu[0] + hu[1]) * (hv[0] + hv[1]);
    for (int p = 0; p < PATCH; ++p) {
        for (int q = 0; q < PATCH; ++q) {
            int pu = p % 3, pv = p / 3, qu = q % 3, qv = q / 3, at = PATCH * p + q;
            form[at] = u.both[pu][qu] * v.none[pv][qv] / area;
            form[PATCH * PATCH + at] =
                (u.first[pu][qu] * v.first[qv][pv] + u.first[qu][pu] * v.first[pv][qv]) / area;
            form[2 * PATCH * PATCH + at] = u.none[pu][qu] * v.both[pv][qv] / area;
        }
    }
}

static void spacings(const TdlVec3* rest, const int* node, const Axes* axes, double hu[2],
                     double hv[2]) {
    for (int s = 0; s < 2; ++s) {
        hu[s] = fabs(tdl_dot3(way(rest, node[MIDDLE], node[MIDDLE - 1 + 2 * s]), axes->u));
        hv[s] = fabs(tdl_dot3(way(rest, node[MIDDLE], node[MIDDLE - 3 + 6 * s]), axes->v));
    }
}

static bool is_inner(const int* node) {
    for (int k = 0; k < PATCH; ++k) {
        if (node[k] < 0) {
            return false;
        }
    }
    return true;
}

static void add_node(Cloth* c, const TdlVec3* rest, const int* node, const Axes* axes,
                     double* form) {
    double hu[2], hv[2], soft = c->def.shear < 0.0 ? c->def.stretch : c->def.shear;
    spacings(rest, node, axes, hu, hv);
    fill_forms(hu, hv, form);
    for (int k = 0; k < 3; ++k) {
        ClothElement* el = &c->element[c->element_count++];
        *el = (ClothElement){.kind = k == 1 ? CLOTH_METRIC_SHEAR : CLOTH_METRIC, .count = PATCH};
        memcpy(el->node, node, sizeof el->node);
        el->form = form + PATCH * PATCH * k;
        el->rest = k == 1 ? 0.0 : 0.5;
        el->stiffness = (k == 1 ? soft : c->def.stretch) * c->area[node[MIDDLE]];
    }
}

bool cloth_add_s3(Cloth* c) {
    int* patch = ARENA_NEW(&c->arena, int, PATCH*(size_t)c->node_count);
    TdlVec3* rest = ARENA_NEW(&c->arena, TdlVec3, c->node_count);
    Axes axes;
    if (patch == NULL || rest == NULL || !gather_rest(&c->def, rest) ||
        !find_patches(&c->def.mesh, rest, &axes, patch)) {
        return false;
    }
    for (int i = 0; i < c->node_count; ++i) {
        const int* node = patch + PATCH * (ptrdiff_t)i;
        if (is_inner(node)) {
            double* form = ARENA_NEW(&c->arena, double, 3 * PATCH * PATCH);
            if (form == NULL) {
                return false;
            }
            add_node(c, rest, node, &axes, form);
        }
    }
    return true;
}

// --- strains -------------------------------------------------------------------------------------

// c = x' form x / 2 - rest, of places from the middle: rows of the form add up to zero. (N.30)
double cloth_metric_strain(const ClothElement* el, const double* x, TdlVec3 slope[CLOTH_MOST]) {
    TdlVec3 middle = tdl_load3(x, el->node[MIDDLE]), at[PATCH];
    double sum = 0.0;
    for (int k = 0; k < PATCH; ++k) {
        at[k] = tdl_sub3(tdl_load3(x, el->node[k]), middle);
    }
    for (int p = 0; p < PATCH; ++p) {
        slope[p] = (TdlVec3){0};
        for (int q = 0; q < PATCH; ++q) {
            slope[p] = tdl_axpy3(slope[p], el->form[PATCH * p + q], at[q]);
        }
        sum += 0.5 * tdl_dot3(at[p], slope[p]);
    }
    return sum - el->rest;
}

// An entry of the form, with a share of what its product with the stress has that is negative: E
// and G have nothing negative themselves, F is half of (E + G + F) less half of (E + G - F). (N.32)
static double shared_entry(const ClothElement* el, int at, double stress, double share) {
    double own = el->form[at];
    if (el->kind == CLOTH_METRIC) {
        return stress < 0.0 ? share * own : own;
    }
    double sign = stress > 0.0 ? 1.0 : -1.0;
    double both = el->form[at - PATCH * PATCH] + el->form[at + PATCH * PATCH];
    return own + 0.5 * (1.0 - share) * sign * (both - sign * own);
}

void cloth_metric_geometric(const ClothElement* el, double stress, double factor, double share,
                            double* blocks) {
    for (int p = 0; p < PATCH * PATCH; ++p) {
        double* to = blocks + (ptrdiff_t)9 * el->place[p];
        double size = factor * stress * shared_entry(el, p, stress, share);
        to[0] += size;
        to[4] += size;
        to[8] += size;
    }
}
