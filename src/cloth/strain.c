// Strains of a sheet and their derivatives. docs/theory/cloth.md, section 1
//
// An edge: c = |d| / scale - 1. A quad's shear: c = scale p.q - rest, p and q its middle lines. A
// hinge: c = theta - rest, theta the angle between the normals of two triangles.
#include "cloth/cloth.h"

#include "cloth/membrane.h"

static TdlVec3 node_at(const ClothElement* el, const double* x, int k) {
    return tdl_load3(x, el->node[k]);
}

static double edge_strain(const ClothElement* el, const double* x, TdlVec3 slope[CLOTH_MOST]) {
    TdlVec3 d = tdl_sub3(node_at(el, x, 1), node_at(el, x, 0));
    double length = tdl_norm3(d);
    slope[1] = tdl_scale3(1.0 / (length * el->scale), d);
    slope[0] = tdl_scale3(-1.0, slope[1]);
    return length / el->scale - 1.0;
}

// p = (x1 - x0 + x2 - x3) / 2 and q = (x3 - x0 + x2 - x1) / 2. (N.2)
static double shear_strain(const ClothElement* el, const double* x, TdlVec3 slope[CLOTH_MOST]) {
    TdlVec3 a = tdl_sub3(node_at(el, x, 2), node_at(el, x, 0)); // p + q
    TdlVec3 b = tdl_sub3(node_at(el, x, 1), node_at(el, x, 3)); // p - q
    double half = 0.5 * el->scale;
    slope[2] = tdl_scale3(half, a);
    slope[0] = tdl_scale3(-half, a);
    slope[1] = tdl_scale3(-half, b);
    slope[3] = tdl_scale3(half, b);
    return 0.25 * el->scale * (tdl_dot3(a, a) - tdl_dot3(b, b)) - el->rest;
}

// Nodes 0 and 1 are the edge; 2 and 3 stand on its left and on its right. (N.3)
static double hinge_strain(const ClothElement* el, const double* x, TdlVec3 slope[CLOTH_MOST]) {
    TdlVec3 x0 = node_at(el, x, 0), x1 = node_at(el, x, 1);
    TdlVec3 x2 = node_at(el, x, 2), x3 = node_at(el, x, 3);
    TdlVec3 e = tdl_sub3(x1, x0);
    TdlVec3 n = tdl_cross3(e, tdl_sub3(x2, x0)), m = tdl_cross3(tdl_sub3(x3, x0), e);
    double length = tdl_norm3(e);
    TdlVec3 a = tdl_scale3(1.0 / tdl_dot3(n, n), n), b = tdl_scale3(1.0 / tdl_dot3(m, m), m);
    TdlVec3 t = tdl_scale3(1.0 / length, e);
    slope[2] = tdl_scale3(-length, a);
    slope[3] = tdl_scale3(-length, b);
    slope[0] = tdl_add3(tdl_scale3(-tdl_dot3(tdl_sub3(x2, x1), t), a),
                        tdl_scale3(-tdl_dot3(tdl_sub3(x3, x1), t), b));
    slope[1] = tdl_add3(tdl_scale3(tdl_dot3(tdl_sub3(x2, x0), t), a),
                        tdl_scale3(tdl_dot3(tdl_sub3(x3, x0), t), b));
    return atan2(tdl_dot3(tdl_cross3(n, m), t), tdl_dot3(n, m)) - el->rest;
}

typedef double (*StrainFn)(const ClothElement* el, const double* x, TdlVec3 slope[CLOTH_MOST]);

static const StrainFn STRAIN[] = {
    [CLOTH_EDGE] = edge_strain,
    [CLOTH_SHEAR] = shear_strain,
    [CLOTH_HINGE] = hinge_strain,
    [CLOTH_PANEL] = panel_strain,
    [CLOTH_TWIST] = twist_strain,
    [CLOTH_METRIC] = cloth_metric_strain,
    [CLOTH_METRIC_SHEAR] = cloth_metric_strain,
};

double cloth_strain(const ClothElement* el, const double* x, TdlVec3 slope[CLOTH_MOST]) {
    return STRAIN[el->kind](el, x, slope);
}

double cloth_stretched(const ClothElement* el, const double* x) {
    TdlVec3 slope[CLOTH_MOST];
    return el->kind == CLOTH_PANEL ? panel_stretched(el, x) : fabs(cloth_strain(el, x, slope));
}

// blocks += S between two nodes of an element, as a spring of stiffness S.
static void add_spring(const ClothElement* el, int i, int j, TdlMat3 S, double* blocks) {
    double s[9];
    tdl_store3(s, 0, S.cx);
    tdl_store3(s, 1, S.cy);
    tdl_store3(s, 2, S.cz);
    const int pair[4][2] = {{i, i}, {j, j}, {i, j}, {j, i}};
    for (int k = 0; k < 4; ++k) {
        double* to = blocks + (ptrdiff_t)9 * el->place[el->count * pair[k][0] + pair[k][1]];
        for (int c = 0; c < 9; ++c) {
            to[c] += k < 2 ? s[c] : -s[c];
        }
    }
}

// Of an edge (1 - t t') / (|d| l), of a shear that of the diagonals that it stretches and shortens;
// a hinge's is left out. (N.8) Of elastic faces see membrane.c.
void cloth_add_geometric(const ClothElement* el, const double* x, double stress, double factor,
                         double share, double* blocks) {
    if (el->kind == CLOTH_EDGE) {
        TdlVec3 d = tdl_sub3(node_at(el, x, 1), node_at(el, x, 0));
        double length = tdl_norm3(d), size = factor * stress / (length * el->scale);
        TdlVec3 t = tdl_scale3(1.0 / length, d);
        size *= stress < 0.0 ? share : 1.0;
        add_spring(el, 0, 1, tdl_scale33(size, tdl_sub33(tdl_identity33(), tdl_outer3(t, t))),
                   blocks);
    } else if (el->kind == CLOTH_SHEAR) {
        double size = 0.5 * factor * stress * el->scale;
        TdlMat3 one = tdl_identity33();
        add_spring(el, 0, 2, tdl_scale33(stress < 0.0 ? share * size : size, one), blocks);
        add_spring(el, 1, 3, tdl_scale33(stress > 0.0 ? -share * size : -size, one), blocks);
    } else if (el->kind == CLOTH_PANEL) {
        panel_add_second(el, x, factor * stress, share, blocks);
    } else if (el->kind == CLOTH_TWIST) {
        twist_add_second(el, x, factor * stress, share, blocks);
    } else if (el->kind == CLOTH_METRIC || el->kind == CLOTH_METRIC_SHEAR) {
        cloth_metric_geometric(el, stress, factor, share, blocks);
    }
}
