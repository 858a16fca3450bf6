// Mass, gravity and velocity products of a rod by the slow way: finite differences of its points
// and frames in extended precision, and 64 Gauss points an element. The including test says first
// how many elements and coordinates there are at most (MAX_N, MAX_DOF) and which function gives the
// points of its model (REF_POINTS, called as ref_points of rod_ref.h).
#ifndef TDL_TEST_ROD_TERMS_REF_H
#define TDL_TEST_ROD_TERMS_REF_H

#include "ref/rod_ref.h"
#include "rod/rod.h"

typedef struct Reference {
    int n, dofs;
    Real l, mass, gyration; // of an element
    RefMat R;
    RefVec x0;
    RefVec points[MAX_N * REF_ROW];
    RefVec J[MAX_DOF][MAX_N * REF_ROW]; // d point / d q_j
    RefVec second[MAX_N * REF_ROW];     // second derivative along v
    Real M[MAX_DOF][MAX_DOF];
    Real G[MAX_DOF], A[MAX_DOF];
} Reference;

static inline void set_pose(Reference* ref, TdlPose pose) {
    const TdlMat3* r = &pose.rotation;
    ref->R = (RefMat){
        {{r->cx.x, r->cy.x, r->cz.x}, {r->cx.y, r->cy.y, r->cz.y}, {r->cx.z, r->cy.z, r->cz.z}}};
    ref->x0 = (RefVec){{pose.position.x, pose.position.y, pose.position.z}};
}

// Sixth-order central differences of the points along `direction`: first and second derivative.
static inline void differentiate(const Reference* ref, const Real* q, const Real* direction, Real h,
                                 RefVec* first, RefVec* second) {
    static RefVec at[7][MAX_N * REF_ROW];
    static const Real w1[7] = {-1.0L / 60, 3.0L / 20,  -3.0L / 4, 0,
                               3.0L / 4,   -3.0L / 20, 1.0L / 60};
    static const Real w2[7] = {1.0L / 90, -3.0L / 20, 3.0L / 2, -49.0L / 18,
                               3.0L / 2,  -3.0L / 20, 1.0L / 90};
    Real moved[MAX_DOF];
    for (int k = 0; k < 7; ++k) {
        if (k == 3 && second == NULL) {
            continue; // its weight is 0
        }
        for (int j = 0; j < ref->dofs; ++j) {
            moved[j] = q[j] + (Real)(k - 3) * h * direction[j];
        }
        REF_POINTS(ref->n, moved, ref->l, ref->R, ref->x0, at[k]);
    }
    for (int p = 0; p < ref->n * REF_ROW; ++p) {
        for (int i = 0; i < 3; ++i) {
            Real d1 = 0, d2 = 0;
            for (int k = 0; k < 7; ++k) {
                d1 += w1[k] * at[k][p].v[i];
                d2 += w2[k] * at[k][p].v[i];
            }
            first[p].v[i] = d1 / h;
            if (second != NULL) {
                second[p].v[i] = d2 / (h * h);
            }
        }
    }
}

static inline Real ref_dot(RefVec a, RefVec b) {
    return a.v[0] * b.v[0] + a.v[1] * b.v[1] + a.v[2] * b.v[2];
}

// How the section at quadrature point k of element e turns when its rows change at the rates a,
// about column c of its frame: the rate of the column after it, along the one after that.
static inline Real turning(const Reference* ref, const RefVec* a, int e, int k, int c) {
    int row = e * REF_ROW + REF_FRAME + 3 * k;
    return ref_dot(a[row + (c + 1) % 3], ref->points[row + (c + 2) % 3]);
}

static inline Real mean_spin(const Reference* ref, const RefVec* a, int e) {
    Real sum = 0;
    for (int k = 0; k < REF_GAUSS; ++k) {
        sum += ref_weight[k] * turning(ref, a, e, k, 0);
    }
    return sum;
}

// The spins of the sections of an element about their tangents, multiplied: of the super-helix
// (REF_MEAN_SPIN) their means, and a sixth of the rates of twist; else their mean product.
static inline Real spin_product(const Reference* ref, const RefVec* a, const RefVec* b, int e) {
#ifdef REF_MEAN_SPIN
    int twist = e * REF_ROW + REF_TWIST;
    return mean_spin(ref, a, e) * mean_spin(ref, b, e) + ref_dot(a[twist], b[twist]) / 6;
#else
    Real sum = 0;
    for (int k = 0; k < REF_GAUSS; ++k) {
        sum += ref_weight[k] * turning(ref, a, e, k, 0) * turning(ref, b, e, k, 0);
    }
    return sum;
#endif
}

// The inner product of velocities: points by their mass, and the spins of the sections.
static inline Real weighted_dot(const Reference* ref, const RefVec* a, const RefVec* b) {
    Real sum = 0;
    for (int e = 0; e < ref->n; ++e) {
        for (int k = 0; k < REF_GAUSS; ++k) {
            sum += ref->mass * ref_weight[k] * ref_dot(a[e * REF_ROW + k], b[e * REF_ROW + k]);
        }
        sum += ref->mass * ref->gyration * spin_product(ref, a, b, e);
    }
    return sum;
}

// What mean spins ask for along the motion J, beyond the second derivative of the frames' columns:
// with w the turning along the path, t . w' = y''. z - (w.y)(w.z), and the tangents swing.
static inline Real swung_spins(const Reference* ref, const RefVec* J, const RefVec* first) {
    Real sum = 0;
    for (int e = 0; e < ref->n; ++e) {
        Real swing = 0, product = 0;
        for (int k = 0; k < REF_GAUSS; ++k) {
            Real w1 = turning(ref, first, e, k, 1), w2 = turning(ref, first, e, k, 2);
            swing +=
                ref_weight[k] * (w2 * turning(ref, J, e, k, 1) - w1 * turning(ref, J, e, k, 2));
            product += ref_weight[k] * w1 * w2;
        }
        sum += mean_spin(ref, first, e) * swing - mean_spin(ref, J, e) * product;
    }
    return ref->mass * ref->gyration * sum;
}

static inline void compute_reference(const Rod* rod, TdlVec3 g, Reference* ref) {
    static RefVec gravity[MAX_N * REF_ROW], along[MAX_N * REF_ROW];
    Real q[MAX_DOF], v[MAX_DOF], speed = 0;
    ref->n = rod->element_count;
    ref->dofs = rod->dof_count;
    ref->l = rod->element_length;
    ref->mass = rod->line_density * rod->element_length;
    ref->gyration = rod->gyration;
    set_pose(ref, rod->base.now);
    for (int j = 0; j < ref->dofs; ++j) {
        q[j] = rod->q[j];
        v[j] = rod->v[j];
        speed = fmaxl(speed, fabsl(v[j]));
    }
    REF_POINTS(ref->n, q, ref->l, ref->R, ref->x0, ref->points);
    for (int j = 0; j < ref->dofs; ++j) {
        Real unit[MAX_DOF] = {0};
        unit[j] = 1;
        differentiate(ref, q, unit, 0.005L, ref->J[j], NULL);
    }
    differentiate(ref, q, v, 0.02L / speed, along, ref->second);
    for (int p = 0; p < ref->n * REF_ROW; ++p) {
        gravity[p] = p % REF_ROW < REF_GAUSS ? (RefVec){{-g.x, -g.y, -g.z}} : (RefVec){{0}};
    }
    for (int i = 0; i < ref->dofs; ++i) {
        ref->G[i] = weighted_dot(ref, ref->J[i], gravity);
        ref->A[i] = weighted_dot(ref, ref->J[i], ref->second) + swung_spins(ref, ref->J[i], along);
        for (int j = 0; j <= i; ++j) {
            ref->M[i][j] = ref->M[j][i] = weighted_dot(ref, ref->J[i], ref->J[j]);
        }
    }
}

#endif
