// The potential of the super-helix, for statics: gravity and point loads as dead forces, and
// elasticity, with exact first and second derivatives. super-helix.md
#include "rod/super_helix_element.h"

#include <string.h>

// Dead forces on all that lies beyond a point: their sum, and the sum of r F' with r from that
// point to where F acts.
typedef struct Pull {
    TdlVec3 F;
    TdlMat3 P;
} Pull;

static Pull pull_add(Pull pull, TdlVec3 r, TdlVec3 F) {
    return (Pull){tdl_add3(pull.F, F), tdl_add33(pull.P, tdl_outer3(r, F))};
}

static double trace33(TdlMat3 a) {
    return a.cx.x + a.cy.y + a.cz.z;
}

// sum of r x F
static TdlVec3 pull_moment(Pull pull) {
    TdlMat3 P = pull.P;
    return (TdlVec3){P.cz.y - P.cy.z, P.cx.z - P.cz.x, P.cy.x - P.cx.y};
}

// The forces in the axes of R.
static Pull pull_turned(Pull pull, TdlMat3 R) {
    return (Pull){tdl_tmul33_3(R, pull.F), tdl_tmul33(R, tdl_mul33(pull.P, R))};
}

// Second derivative of -sum of F.x along the unit changes r and c of q of an element: the forces
// inside it (`inside`: sum of f(s) F for each function f), and those it carries. Own axes. (H.21)
static double pull_second(const Element* e, double l, const TdlVec3 inside[HELIX_COUNT],
                          Pull beyond, TdlMat3 turn, const TdlVec3 axis[2]) {
    TdlVec3 end = helix_second(&e->axes, e->end, axis[0], axis[1]);
    TdlVec3 twist = helix_rotation_second(&e->axes, e->end, axis[0], axis[1]);
    TdlVec3 tr = tdl_mul33_3(turn, axis[0]), tc = tdl_mul33_3(turn, axis[1]);
    TdlVec3 carried =
        tdl_sub3(tdl_mul33_3(beyond.P, tc), tdl_scale3(trace33(beyond.P), tc)); // (tc x r) x F
    double own = 0.0;
    for (int f = 0; f < HELIX_COUNT; ++f) {
        double only[HELIX_COUNT] = {0};
        only[f] = 1.0;
        own += tdl_dot3(inside[f], helix_second(&e->axes, only, axis[0], axis[1]));
    }
    return -l * (own + tdl_dot3(beyond.F, end)) - tdl_dot3(twist, pull_moment(beyond)) -
           tdl_dot3(tr, carried);
}

static TdlMat3 pull_block(const Element* e, double l, const TdlVec3 inside[HELIX_COUNT],
                          Pull beyond) {
    TdlMat3 R = e->start.rotation, turn = tdl_tmul33(R, e->turn), unit = tdl_identity33();
    TdlVec3 axis[3] = {unit.cx, unit.cy, unit.cz}, own[HELIX_COUNT];
    Pull turned = pull_turned(beyond, R);
    for (int f = 0; f < HELIX_COUNT; ++f) {
        own[f] = tdl_tmul33_3(R, inside[f]);
    }
    double value[9];
    for (int k = 0; k < 9; ++k) {
        TdlVec3 pair[2] = {axis[k % 3], axis[k / 3]};
        value[k] = pull_second(e, l, own, turned, turn, pair);
    }
    return (TdlMat3){tdl_load3(value, 0), tdl_load3(value, 1), tdl_load3(value, 2)};
}

// Forces inside element j: gravity and its point loads. Fills `inside`, adds F x (displacement for
// a change of q_j) to W, and returns the forces beyond the element's start.
static Pull pull_inside(const Rod* rod, int j, TdlVec3 g, Pull beyond, TdlVec3 inside[HELIX_COUNT],
                        TdlMat3* W) {
    const Element* e = &elements_of(rod)[j];
    double l = rod->element_length, m = rod_element_density(rod, j) * l;
    beyond.P = tdl_add33(beyond.P, tdl_outer3(e->span, beyond.F));
    beyond = pull_add(beyond, e->h, tdl_scale3(m, g));
    *W = tdl_add33(*W, tdl_scale33(m, tdl_mul33(tdl_skew3(g), e->Bm)));
    for (int f = 0; f < HELIX_COUNT; ++f) {
        inside[f] = tdl_scale3(m * e->gram.g[HELIX_ONE][f], g);
    }
    for (int k = 0; k < rod->load_count; ++k) {
        const RodLoad* load = &rod->loads[k];
        if (load->element != j) {
            continue;
        }
        double at[HELIX_COUNT];
        TdlMat3 R = e->start.rotation;
        helix_functions(e->axes.y, load->s, at);
        TdlMat3 B = tdl_scale33(l, tdl_mul33(R, helix_displacement(&e->axes, at)));
        *W = tdl_add33(*W, tdl_mul33(tdl_skew3(load->force), B));
        TdlVec3 r = tdl_scale3(l, tdl_mul33_3(R, helix_position(&e->axes, at)));
        beyond = pull_add(beyond, r, load->force);
        for (int f = 0; f < HELIX_COUNT; ++f) {
            inside[f] = tdl_axpy3(inside[f], at[f], load->force);
        }
    }
    return beyond;
}

// Where the blocks of a rod begin in the matrix of its tree.
static int first_block(const Rod* rod) {
    return rod->tree_first / 3;
}

// The blocks of q_j with all that carries it: the elements of its own rod before it, those of the
// rods that bear this one, and the turning of the tree's root.
static void store_carriers(const Rod* rod, int j, TdlMat3 W, double* H) {
    int dofs = rod->tree_dofs, row = first_block(rod) + j, count = j;
    for (; rod != NULL; count = rod->parent_element + 1, rod = rod->parent) {
        for (int i = 0; i < count; ++i) {
            TdlMat3 block = tdl_tmul33(W, elements_of(rod)[i].turn);
            helix_store_block(H, dofs, row, first_block(rod) + i, block);
        }
        if (rod->root_dofs >= 3 && row < rod->element_count) {
            helix_store_block(H, dofs, rod->element_count, row, W);
        } else if (rod->root_dofs >= 3) {
            helix_store_block(H, dofs, row, rod->element_count, tdl_transpose33(W));
        }
    }
}

// Hessian of the potential of gravity and point forces, tip to root: H_ij = turn_i' W_j for i < j,
// where W_j is the sum of F x (displacement for a change of q_j). Returns the forces beyond the
// rod's start. (H.20)
static Pull pull_hessian(const Rod* rod, TdlVec3 g, double* H) {
    const Element* el = elements_of(rod);
    int n = rod->element_count, dofs = rod->tree_dofs;
    Pull beyond = {0};
    for (int j = n - 1; j >= 0; --j) {
        const Element* e = &el[j];
        for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
            if (branch->parent_element == j) {
                Pull own = pull_hessian(branch, g, H);
                beyond = (Pull){tdl_add3(beyond.F, own.F), tdl_add33(beyond.P, own.P)};
            }
        }
        TdlVec3 inside[HELIX_COUNT];
        TdlMat3 around = tdl_sub33(tdl_scale33(trace33(beyond.P), tdl_identity33()), beyond.P);
        TdlMat3 W = tdl_add33(tdl_mul33(tdl_skew3(beyond.F), e->shift), tdl_mul33(around, e->turn));
        Pull all = pull_inside(rod, j, g, beyond, inside, &W);
        int at = first_block(rod) + j;
        helix_store_block(H, dofs, at, at, pull_block(e, rod->element_length, inside, beyond));
        store_carriers(rod, j, W, H);
        beyond = all;
    }
    if (rod->root_dofs >= 3) {
        TdlMat3 P = tdl_scale33(0.5, tdl_add33(beyond.P, tdl_transpose33(beyond.P)));
        helix_store_block(H, dofs, n, n, tdl_sub33(tdl_scale33(trace33(P), tdl_identity33()), P));
    }
    return beyond;
}

// Gradient of the potential of gravity and point forces over a tree. (H.14), (H.23)
static void pull_gradient(const Rod* rod, TdlVec3 gravity, double* gradient) {
    const Element* el = elements_of(rod);
    double l = rod->element_length, *wrench = wrench_of(rod);
    double* own = gradient + rod->tree_first;
    for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        pull_gradient(branch, gravity, gradient);
    }
    for (int i = 0; i < rod->element_count; ++i) {
        TdlVec3 up = tdl_scale3(-1.0, tdl_tmul33_3(el[i].start.rotation, gravity));
        HelixLoad load = helix_bias(&el[i].axes, &el[i].gram, l, &(HelixMotion){.a = up});
        helix_store_load(&el[i], i, rod_element_density(rod, i) * l, load, wrench, own);
    }
    helix_add_point_loads(rod, -1.0, wrench, own);
    helix_gather_loads(rod, wrench, own);
}

// Adds the elastic part of a tree to the gradient and the Hessian, unless null; returns the energy.
static double add_elastic(const Rod* rod, TdlVec3 gravity, double* gradient, double* hessian) {
    size_t dofs = (size_t)rod->tree_dofs;
    for (int i = 0; i < 3 * rod->element_count; ++i) {
        size_t at = (size_t)(rod->tree_first + i);
        double k = helix_stiffness(rod, i) / rod->element_length;
        if (gradient != NULL) {
            gradient[at] += k * (rod->q[i] - rod->q_rest[i]);
        }
        if (hessian != NULL) {
            hessian[at * dofs + at] += k;
        }
    }
    double sum =
        helix_gravity_energy(rod, gravity) + helix_elastic_energy(rod) + rod_load_energy(rod);
    for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        sum += add_elastic(branch, gravity, gradient, hessian);
    }
    return sum;
}

double super_helix_potential(const Rod* rod, TdlVec3 gravity, double* gradient, double* hessian) {
    size_t n = (size_t)rod->tree_dofs;
    if (gradient != NULL) {
        pull_gradient(rod, gravity, gradient);
    }
    if (hessian != NULL) {
        memset(hessian, 0, n * n * sizeof *hessian);
        pull_hessian(rod, gravity, hessian);
    }
    double energy = add_elastic(rod, gravity, gradient, hessian);
    for (size_t i = 0; i < n && hessian != NULL; ++i) {
        for (size_t j = 0; j < i; ++j) {
            hessian[i * n + j] = hessian[j * n + i];
        }
    }
    return energy;
}
