// Energies of the super-clothoid, and the exact gradient and Hessian of its potential energy.
//
// The second derivative of gravity and point forces is one integral along the rod, of the turn of
// each section with the swing of all that lies beyond it, so no second derivative of the curve is
// ever formed. (C.17) O(N^2) small operations.
#include "rod/clothoid_element.h"

#include <string.h>

// --- energies -------------------------------------------------------------------------------

// Half of d0.K3 d0 + d0.K3 d1 + d1.K3 d1 over three, by element. (C.2)
static double elastic_energy(const Rod* rod) {
    double sum = 0.0;
    for (int i = 0; i < rod->element_count; ++i) {
        TdlMat3 K3 = tdl_diag33(rod_element_stiffness(rod, i));
        TdlVec3 d0 = tdl_sub3(tdl_load3(rod->q, i), tdl_load3(rod->q_rest, i));
        TdlVec3 d1 = tdl_sub3(tdl_load3(rod->q, i + 1), tdl_load3(rod->q_rest, i + 1));
        sum += tdl_dot3(d0, tdl_mul33_3(K3, tdl_add3(d0, d1)));
        sum += tdl_dot3(d1, tdl_mul33_3(K3, d1));
    }
    return sum / (6.0 * rod->element_length);
}

static double gravity_energy(const Rod* rod, TdlVec3 gravity) {
    const ClothoidElement* el = elements_of(rod);
    double height = 0.0, m = rod->line_density * rod->element_length;
    for (int i = 0; i < rod->element_count; ++i) {
        double up = -tdl_dot3(gravity, tdl_add3(el[i].start.position, el[i].h));
        height += rod->share[i].mass * up;
    }
    return m * height;
}

TdlEnergy super_clothoid_energy(const Rod* rod, TdlVec3 gravity) {
    const ClothoidElement* el = elements_of(rod);
    double square = 0.0, m = rod->line_density * rod->element_length;
    for (int i = 0; i < rod->element_count; ++i) {
        square += rod->share[i].mass * el[i].field_square;
    }
    return (TdlEnergy){0.5 * m * square, elastic_energy(rod),
                       gravity_energy(rod, gravity) + rod_load_energy(rod)};
}

// --- second derivatives ---------------------------------------------------------------------

static ClothoidBeyond pull_add(ClothoidBeyond pull, TdlVec3 r, TdlVec3 F) {
    return (ClothoidBeyond){tdl_add3(pull.F, F), tdl_add33(pull.P, tdl_outer3(r, F))};
}

// tr(P) I - P: the sum of F x (w x r) is that times w.
static TdlMat3 around(TdlMat3 P) {
    return tdl_sub33(tdl_scale33(P.cx.x + P.cy.y + P.cz.z, tdl_identity33()), P);
}

ClothoidBeyond clothoid_share_gravity(const ClothoidElement* e, double l, double m, TdlVec3 g,
                                      ClothoidBeyond beyond, ClothoidShare* share) {
    TdlMat3 R = e->start.rotation, turned = tdl_tmul33(R, tdl_mul33(beyond.P, R));
    ClothoidPull own = {1.0, l, m, tdl_tmul33_3(R, g), tdl_tmul33_3(R, beyond.F), turned};
    clothoid_pull_second(&e->shape, &own, share->own);
    TdlMat3 inertial = tdl_scale33(m, tdl_skew3(g)), forced = tdl_skew3(beyond.F);
    for (int a = 0; a < 2; ++a) {
        TdlMat3 W = tdl_add33(tdl_mul33(forced, e->shift[a]), tdl_mul33(inertial, e->Bm[a]));
        share->W[a] = tdl_add33(W, tdl_mul33(around(beyond.P), e->turn[a]));
    }
    beyond.P = tdl_add33(beyond.P, tdl_outer3(e->span, beyond.F));
    return pull_add(beyond, e->h, tdl_scale3(m, g));
}

ClothoidBeyond clothoid_share_load(const ClothoidElement* e, double l, const RodLoad* load,
                                   ClothoidBeyond beyond, ClothoidShare* share) {
    TdlMat3 R = e->start.rotation;
    ClothoidPull own = {.end = load->s, .l = l, .F = tdl_tmul33_3(R, load->force)};
    clothoid_pull_second(&e->shape, &own, share->own);
    ClothoidState at;
    clothoid_at(&e->shape, load->s, &at);
    TdlMat3 forced = tdl_scale33(l, tdl_mul33(tdl_skew3(load->force), R));
    for (int a = 0; a < 2; ++a) {
        TdlMat3 W = tdl_mul33(forced, clothoid_displacement(&at, a));
        share->W[a] = tdl_add33(share->W[a], W);
    }
    TdlVec3 r = tdl_scale3(l, tdl_mul33_3(R, clothoid_position(&at)));
    return pull_add(beyond, r, load->force);
}

static void add_share(const Rod* rod, int j, const ClothoidShare* share, double* H) {
    const ClothoidElement* el = elements_of(rod);
    int n = rod->dof_count;
    for (int a = 0; a < 2; ++a) {
        for (int b = 0; b <= a; ++b) {
            add_block(H, n, j + a, j + b, share->own[a + b]);
        }
        for (int i = j - 1; i >= 0; --i) {
            add_pair(H, n, j + a, i, tdl_tmul33(share->W[a], el[i].turn[0]));
            add_pair(H, n, j + a, i + 1, tdl_tmul33(share->W[a], el[i].turn[1]));
        }
        if (rod->root_dofs >= 3) {
            add_block(H, n, root_of(rod), j + a, share->W[a]);
        }
    }
}

// Hessian of the potential of gravity and point forces, tip to root: between elements i < j it is
// turn_i' W_j. (C.17)
static void pull_hessian(const Rod* rod, TdlVec3 g, double* H) {
    ClothoidBeyond beyond = {0};
    double l = rod->element_length;
    for (int j = rod->element_count - 1; j >= 0; --j) {
        const ClothoidElement* e = &elements_of(rod)[j];
        ClothoidShare share = {0};
        beyond = clothoid_share_gravity(e, l, rod_element_density(rod, j) * l, g, beyond, &share);
        for (int k = 0; k < rod->load_count; ++k) {
            if (rod->loads[k].element == j) {
                beyond = clothoid_share_load(e, l, &rod->loads[k], beyond, &share);
            }
        }
        add_share(rod, j, &share, H);
    }
    if (rod->root_dofs >= 3) {
        TdlMat3 P = tdl_scale33(0.5, tdl_add33(beyond.P, tdl_transpose33(beyond.P)));
        add_block(H, rod->dof_count, root_of(rod), root_of(rod), around(P));
    }
}

double super_clothoid_potential(const Rod* rod, TdlVec3 gravity, double* gradient,
                                double* hessian) {
    size_t n = (size_t)rod->dof_count;
    if (gradient != NULL) {
        super_clothoid_forces(rod, gravity, gradient);
        super_clothoid_add_elastic(rod, 1.0, gradient);
    }
    if (hessian != NULL) {
        memset(hessian, 0, n * n * sizeof *hessian);
        pull_hessian(rod, gravity, hessian);
        super_clothoid_add_stiffness(rod, 1.0, hessian);
        for (size_t i = 0; i < n; ++i) {
            for (size_t j = 0; j < i; ++j) {
                hessian[i * n + j] = hessian[j * n + i];
            }
        }
    }
    return gravity_energy(rod, gravity) + elastic_energy(rod) + rod_load_energy(rod);
}
