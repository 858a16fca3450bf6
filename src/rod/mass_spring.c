// The mass-spring chain.
//
// Bending at a vertex is measured by the curvature binormal b = 2 e0 x e1 / (|e0| |e1| + e0.e1), of
// length 2 tan(angle/2). A straight chain has the energy |b|^2, which is smooth; a naturally curved
// one that of |b| against its natural value, rounded near the straight state, where the direction
// of bending is not defined. (M.2), (M.3)
#include "rod/mass_spring.h"

#include "math/rotation.h"

#include <string.h>

// Radius of the rounding, relative to the natural value; stiffness is lowered by its square.
static const double ROUNDING = 1.0e-3;

// The binormal, and its derivatives by e0 and e1.
typedef struct Binormal {
    TdlVec3 e0, e1, t0, t1;
    double length0, length1;
    double D;           // |e0| |e1| + e0.e1
    double slope_D[6];  // its derivatives
    double b[3];        //
    double slope[3][6]; // of b
} Binormal;

static const TdlVec3 UNIT[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

static void store_array(TdlVec3 v, double out[3]) {
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

static void find_binormal(TdlVec3 e0, TdlVec3 e1, Binormal* out) {
    *out = (Binormal){.e0 = e0, .e1 = e1, .length0 = tdl_norm3(e0), .length1 = tdl_norm3(e1)};
    out->t0 = tdl_scale3(1.0 / out->length0, e0);
    out->t1 = tdl_scale3(1.0 / out->length1, e1);
    out->D = out->length0 * out->length1 + tdl_dot3(e0, e1);
    store_array(tdl_axpy3(e1, out->length1, out->t0), out->slope_D);
    store_array(tdl_axpy3(e0, out->length0, out->t1), out->slope_D + 3);
    store_array(tdl_scale3(2.0 / out->D, tdl_cross3(e0, e1)), out->b);
    for (int c = 0; c < 3; ++c) {
        double by0[3], by1[3];
        store_array(tdl_scale3(2.0 / out->D, tdl_cross3(UNIT[c], e1)), by0);
        store_array(tdl_scale3(2.0 / out->D, tdl_cross3(e0, UNIT[c])), by1);
        for (int k = 0; k < 3; ++k) {
            out->slope[k][c] = by0[k] - out->b[k] * out->slope_D[c] / out->D;
            out->slope[k][3 + c] = by1[k] - out->b[k] * out->slope_D[3 + c] / out->D;
        }
    }
}

// Second derivatives of f.b = 2 f.(e0 x e1) / D. (M.4)
static void binormal_second(const Binormal* x, TdlVec3 f, double out[6][6]) {
    const double t0[3] = {x->t0.x, x->t0.y, x->t0.z}, t1[3] = {x->t1.x, x->t1.y, x->t1.z};
    double volume[6], value = 2.0 * tdl_dot3(f, tdl_cross3(x->e0, x->e1)) / x->D;
    store_array(tdl_cross3(x->e1, f), volume); // derivatives of f.(e0 x e1)
    store_array(tdl_cross3(f, x->e0), volume + 3);
    for (int c = 0; c < 3; ++c) {
        for (int d = 0; d < 3; ++d) {
            double same = c == d ? 1.0 : 0.0;
            double mixed = tdl_dot3(f, tdl_cross3(UNIT[c], UNIT[d]));
            out[c][d] = -value * x->length1 / x->length0 * (same - t0[c] * t0[d]);
            out[3 + c][3 + d] = -value * x->length0 / x->length1 * (same - t1[c] * t1[d]);
            out[c][3 + d] = 2.0 * mixed - value * (same + t0[c] * t1[d]);
            out[3 + d][c] = out[c][3 + d];
        }
    }
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) {
            double grow = 2.0 * (volume[i] * x->slope_D[j] + x->slope_D[i] * volume[j]);
            out[i][j] -= (grow - 2.0 * value * x->slope_D[i] * x->slope_D[j]) / x->D;
            out[i][j] /= x->D;
        }
    }
}

// A strain's derivatives by e0 and e1, as those of the vertices; of a half cell only one edge
// moves.
static void spread_slope(const double by_edges[6], int edge_count, int first_edge, double* out) {
    for (int e = 0; e < edge_count; ++e) {
        for (int c = 0; c < 3; ++c) {
            out[3 * e + c] -= by_edges[3 * (first_edge + e) + c];
            out[3 * e + 3 + c] += by_edges[3 * (first_edge + e) + c];
        }
    }
}

static void spread_second(double by_edges[6][6], int edge_count, int first_edge, NodalBlock out) {
    for (int i = 0; i < 3 * edge_count; ++i) {
        for (int j = 0; j < 3 * edge_count; ++j) {
            double h = by_edges[3 * first_edge + i][3 * first_edge + j];
            out[i][j] += h;
            out[i][j + 3] -= h;
            out[i + 3][j] -= h;
            out[i + 3][j + 3] += h;
        }
    }
}

// Straight by nature, or curved in a direction that is known: the strains are the three components
// of b. (M.2), (M.5)
static void vector_element(const Binormal* x, const double rest[3], const double* force,
                           NodalElement* out, double second[6][6], double slope[3][6]) {
    out->count = 3;
    for (int k = 0; k < 3; ++k) {
        out->stiffness[k] = out->stiffness[0];
        out->value[k] = x->b[k];
        out->rest[k] = rest[k];
    }
    memcpy(slope, x->slope, sizeof x->slope);
    TdlVec3 strain = tdl_sub3(tdl_load3(x->b, 0), tdl_load3(rest, 0));
    TdlVec3 own = tdl_scale3(out->stiffness[0], strain);
    binormal_second(x, force != NULL ? tdl_load3(force, 0) : own, second);
}

// Curved by nature: the strain is s = sqrt(|b|^2 + eps^2). (M.3)
static void curved_element(const Binormal* x, double natural, const double* force,
                           NodalElement* out, double second[6][6], double slope[3][6]) {
    double eps = ROUNDING * natural, square = x->b[0] * x->b[0] + x->b[1] * x->b[1];
    double s = sqrt(square + x->b[2] * x->b[2] + eps * eps);
    out->count = 1;
    out->value[0] = s;
    out->rest[0] = sqrt(natural * natural + eps * eps);
    for (int i = 0; i < 6; ++i) {
        slope[0][i] = 0.0;
        for (int k = 0; k < 3; ++k) {
            slope[0][i] += x->b[k] * x->slope[k][i] / s;
        }
    }
    double f = force != NULL ? force[0] : out->stiffness[0] * (s - out->rest[0]);
    binormal_second(x, tdl_scale3(f / s, tdl_load3(x->b, 0)), second);
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) {
            double gram = -slope[0][i] * slope[0][j];
            for (int k = 0; k < 3; ++k) {
                gram += x->slope[k][i] * x->slope[k][j];
            }
            second[i][j] += f / s * gram;
        }
    }
}

// The edges that meet at vertex i; at an end, the tangent of the clamp.
static void edges_at(const NodalShape* shape, int i, TdlVec3* e0, TdlVec3* e1) {
    int n = shape->rod->element_count;
    *e0 = i > 0 ? nodal_edge(shape, i - 1) : quat_first_axis(shape->start);
    *e1 = i < n ? nodal_edge(shape, i) : quat_first_axis(shape->end);
}

// The direction of the present binormal: b / s. (M.5)
static void lag(const NodalShape* shape, double* out) {
    for (int i = 0; i <= shape->rod->element_count; ++i) {
        double eps = ROUNDING * nodal_rest(shape->rod, i)[0];
        TdlVec3 e0, e1, b = {0};
        if (eps > 0.0) {
            edges_at(shape, i, &e0, &e1);
            double D = tdl_norm3(e0) * tdl_norm3(e1) + tdl_dot3(e0, e1);
            b = tdl_scale3(2.0 / D, tdl_cross3(e0, e1));
            b = tdl_scale3(1.0 / sqrt(tdl_dot3(b, b) + eps * eps), b);
        }
        tdl_store3(out, i, b);
    }
}

static void element(const NodalShape* shape, int i, const double* force, NodalElement* out,
                    NodalBlock second) {
    const Rod* rod = shape->rod;
    int n = rod->element_count, edges = i == 0 || i == n ? 1 : 2, first_edge = i == 0 ? 1 : 0;
    double factor = nodal_cell_factor(rod, i) / rod->element_length;
    *out = (NodalElement){.first = i == 0 ? 0 : 3 * (i - 1), .dof_count = 3 * edges + 3};
    if (factor == 0.0) {
        return;
    }
    TdlVec3 e0, e1;
    edges_at(shape, i, &e0, &e1);
    double by_edges[6][6], slope[3][6], natural = nodal_rest(rod, i)[0];
    Binormal x;
    find_binormal(e0, e1, &x);
    TdlVec3 K3 = nodal_cell_stiffness(rod, i);
    out->stiffness[0] = factor * fmin(K3.y, K3.z);
    if (natural == 0.0 || shape->lag != NULL) {
        double eps = ROUNDING * natural, size = sqrt(natural * natural + eps * eps);
        double rest[3] = {0.0, 0.0, 0.0};
        for (int k = 0; k < 3 && natural > 0.0; ++k) {
            rest[k] = size * shape->lag[3 * i + k];
        }
        vector_element(&x, rest, force, out, by_edges, slope);
    } else {
        curved_element(&x, natural, force, out, by_edges, slope);
    }
    for (int k = 0; k < out->count; ++k) {
        spread_slope(slope[k], edges, first_edge, out->slope[k]);
    }
    if (second != NULL) {
        spread_second(by_edges, edges, first_edge, second);
    }
}

static int element_count(int edge_count) {
    return edge_count + 1;
}

// --- frames: none ---------------------------------------------------------------------------

static void set_rest(Quat between, double rest[3]) {
    rest[0] = 2.0 * hypot(between.y, between.z) / hypot(between.w, between.x);
    rest[1] = rest[2] = 0.0;
}

static void set_frame(const Rod* rod, int edge, Quat frame, double* q) {
    (void)rod, (void)edge, (void)frame, (void)q;
}

static void keep_frames(Rod* rod, bool stepped) {
    (void)rod, (void)stepped;
}

static double edge_inertia(const Rod* rod, int edge) {
    (void)rod, (void)edge;
    return 0.0;
}

static TdlMat3 frame(const Rod* rod, int edge) {
    NodalShape shape = {.rod = rod, .q = rod->q};
    return tdl_frame_from_tangent(nodal_edge(&shape, edge));
}

static int dof_count(const TdlRodDef* def) {
    return 3 * def->element_count + 3;
}

static size_t work_count(int dofs, int edge_count) {
    (void)dofs;
    return nodal_work_count(&MASS_SPRING.kind, edge_count);
}

const NodalModel MASS_SPRING = {
    .rod = {.name = "mass-spring",
            .work_count = work_count,
            .dof_count = dof_count,
            .frameless = true,
            NODAL_FUNCTIONS},
    .kind = {.edge_dofs = 0,
             .element_count = element_count,
             .element = element,
             .edge_inertia = edge_inertia,
             .set_rest = set_rest,
             .set_frame = set_frame,
             .keep_frames = keep_frames,
             .lag = lag,
             .frame = frame},
};
