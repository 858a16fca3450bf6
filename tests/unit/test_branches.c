// A tree of rods as one system: its Jacobians against finite differences, its A^-1 against A built
// from kinetic energies, and contacts on branches against loads. linear-time.md (L.12)
#include "base/rng.h"
#include "math/dense.h"
#include "math/rotation.h"
#include "ref/whole_rows.h"
#include "rod/rod.h"
#include "rod/super_helix_linear.h"
#include "test.h"

enum { RODS = 6, MAX_N = 5, MAX_DOF = RODS * 3 * MAX_N + 6 };

typedef struct Tree {
    Rod* rods[RODS]; // the first is the root
    int dofs;
} Tree;

static TdlVec3 random_vector(Rng* rng, double size) {
    TdlVec3 v = {rng_normal(rng), rng_normal(rng), rng_normal(rng)};
    return tdl_scale3(size / (tdl_norm3(v) + 1.0e-300), v);
}

static Tree random_tree(Rng* rng, TdlHold start, const TdlRodLoad* load, int loaded) {
    TdlHost host = tdl_host_default();
    Tree tree;
    for (int i = 0; i < RODS; ++i) {
        TdlRodDef def = tdl_rod_def_default();
        def.element_count = 1 + rng_below(rng, MAX_N);
        def.length = rng_range(rng, 0.05, 0.2);
        def.radius[0] = rng_range(rng, 0.5e-3, 1.0e-3);
        def.radius[1] = rng_range(rng, 0.5e-3, 1.0e-3);
        def.young = 1.0e8;
        def.damping = rng_range(rng, 0.0, 0.01);
        def.mass_damping = rng_range(rng, 0.0, 3.0);
        def.clamp.rotation = tdl_rotation_exp(random_vector(rng, 2.0));
        def.curvature = random_vector(rng, rng_range(rng, 0.0, 20.0));
        def.start = i == 0 ? start : TDL_HOLD_CLAMPED;
        def.loads = load;
        def.load_count = load != NULL && i == loaded ? 1 : 0;
        if (rod_create(&host, &def, &tree.rods[i]) != TDL_STATUS_OK ||
            (i > 0 && rod_attach(&host, tree.rods[i], tree.rods[rng_below(rng, i)],
                                 rng_range(rng, 0.01, 1.0)) != TDL_STATUS_OK)) {
            abort();
        }
    }
    tree.dofs = tree.rods[0]->tree_dofs;
    return tree;
}

static void destroy(Tree* tree) {
    TdlHost host = tdl_host_default();
    for (int i = 0; i < RODS; ++i) {
        rod_destroy(&host, tree->rods[i]);
    }
}

enum { STATE = 3 * MAX_DOF * sizeof(double) + 2 * sizeof(RodBase) };

static void save(const Tree* tree, char bytes[RODS][STATE]) {
    for (int i = 0; i < RODS; ++i) {
        rod_save_state(tree->rods[i], bytes[i]);
    }
}

static void load(Tree* tree, char bytes[RODS][STATE]) {
    for (int i = 0; i < RODS; ++i) {
        rod_load_state(tree->rods[i], bytes[i]);
    }
}

static RodStep step_of(const Tree* tree, double dt) {
    return (RodStep){.dt = dt, .base_end = tree->rods[0]->base.now};
}

static void advance(Tree* tree, double dt, const double* v) {
    RodStep step = step_of(tree, dt);
    tree->rods[0]->model->advance(tree->rods[0], &step, v);
}

TEST(the_coordinates_of_a_tree_follow_each_other) {
    Rng rng = rng_seed(110);
    Tree tree = random_tree(&rng, TDL_HOLD_PINNED, NULL, 0);
    int used[MAX_DOF] = {0}, count = 0;
    CHECK_INT(tree.rods[0]->tree_first, 0);
    for (int i = 0; i < RODS; ++i) {
        const Rod* rod = tree.rods[i];
        CHECK_INT(rod->tree_dofs, tree.dofs);
        CHECK(rod_tree_root(rod) == tree.rods[0]);
        CHECK(rod->v_free == tree.rods[0]->v_free + rod->tree_first);
        count += rod->dof_count;
        for (int j = 0; j < rod->dof_count; ++j) {
            ++used[rod->tree_first + j];
        }
    }
    CHECK_INT(count, tree.dofs);
    for (int j = 0; j < tree.dofs; ++j) {
        CHECK_INT(used[j], 1);
    }
    destroy(&tree);
}

TEST(jacobian_is_the_derivative_of_a_point_on_a_branch) {
    Rng rng = rng_seed(111);
    static char start[RODS][STATE];
    static double rows[3 * MAX_DOF];
    double worst[3] = {0};
    for (int trial = 0; trial < 12; ++trial) {
        const TdlHold starts[3] = {TDL_HOLD_CLAMPED, TDL_HOLD_PINNED, TDL_HOLD_FREE};
        Tree tree = random_tree(&rng, starts[trial % 3], NULL, 0);
        save(&tree, start);
        for (int i = 0; i < RODS; ++i) {
            Rod* rod = tree.rods[i];
            int e = rng_below(&rng, rod->element_count);
            double s = rng_range(&rng, 0.0, 1.0);
            load(&tree, start);
            whole_rows(rod, e, s, tdl_identity33(), rows);
            for (int j = 0; j < tree.dofs; ++j) {
                TdlVec3 expected = {rows[j], rows[tree.dofs + j], rows[2 * tree.dofs + j]};
                for (int k = 0; k < 3; ++k) {
                    // a step of one second moves the coordinates by the velocity
                    double v[MAX_DOF] = {0}, h = 2.0e-2 / (1 << k);
                    TdlVec3 x[2];
                    for (int side = 0; side < 2; ++side) {
                        v[j] = side == 0 ? h : -h;
                        load(&tree, start);
                        advance(&tree, 1.0, v);
                        x[side] = rod->model->point(rod, e, s);
                    }
                    TdlVec3 slope = tdl_scale3(0.5 / h, tdl_sub3(x[0], x[1]));
                    worst[k] = fmax(worst[k], tdl_norm3(tdl_sub3(slope, expected)));
                }
            }
        }
        destroy(&tree);
    }
    CHECK_NEAR(0.5 * log2(worst[0] / worst[2]), 2.0, 0.1);
    CHECK_BELOW(worst[2], 1.0e-5); // of some 0.3 m
}

// Kinetic energy of the velocities v in the present shape: that of the field which a step keeps.
static double kinetic_energy(Tree* tree, char start[RODS][STATE], const double* v) {
    double sum = 0.0;
    load(tree, start);
    advance(tree, 1.0e-6, v);
    for (int i = 0; i < RODS; ++i) {
        sum += tree->rods[i]->model->energy(tree->rods[i], (TdlVec3){0}).kinetic;
    }
    return sum;
}

// A = c M + (dt tau + dt^2) K, M by polarisation of the kinetic energy.
static void find_matrix(Tree* tree, char start[RODS][STATE], double dt, double* A) {
    int n = tree->dofs;
    static double own[MAX_DOF], tau[MAX_DOF], k[MAX_DOF], c[MAX_DOF];
    for (int i = 0; i < RODS; ++i) {
        const Rod* rod = tree->rods[i];
        const double K3[3] = {rod->stiffness.x, rod->stiffness.y, rod->stiffness.z};
        for (int j = 0; j < rod->dof_count; ++j) {
            int at = rod->tree_first + j;
            tau[at] = rod->damping;
            c[at] = rod_mass_factor(rod, dt);
            k[at] = j < 3 * rod->element_count ? K3[j % 3] / rod->element_length : 0.0;
        }
    }
    for (int j = 0; j < n; ++j) {
        double v[MAX_DOF] = {0};
        v[j] = 1.0;
        own[j] = kinetic_energy(tree, start, v);
    }
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i <= j; ++i) {
            double v[MAX_DOF] = {0};
            v[i] = v[j] = 1.0;
            double m = i == j ? 2.0 * own[i] : kinetic_energy(tree, start, v) - own[i] - own[j];
            A[i + j * n] = A[j + i * n] = c[0] * m;
        }
        A[j + j * n] += (dt * tau[j] + dt * dt) * k[j];
    }
    load(tree, start);
}

TEST(solve_applies_the_inverse_of_the_whole_tree) {
    Rng rng = rng_seed(112);
    static char start[RODS][STATE];
    static double A[MAX_DOF * MAX_DOF];
    double worst = 0.0;
    for (int trial = 0; trial < 6; ++trial) {
        const TdlHold starts[3] = {TDL_HOLD_CLAMPED, TDL_HOLD_PINNED, TDL_HOLD_FREE};
        Tree tree = random_tree(&rng, starts[trial % 3], NULL, 0);
        Rod* root = tree.rods[0];
        int n = tree.dofs;
        for (int i = 0; i < RODS; ++i) {
            tree.rods[i]->mass_damping = 1.5; // one factor of M
        }
        save(&tree, start);
        double dt = 1.0e-3, many[5 * MAX_DOF], b[5 * MAX_DOF];
        find_matrix(&tree, start, dt, A);
        RodStep step = step_of(&tree, dt);
        REQUIRE(root->model->predict(root, &step));
        for (int i = 0; i < 5 * n; ++i) {
            many[i] = b[i] = rng_normal(&rng);
        }
        super_helix_solve_columns(root, 5, many);
        double half[MAX_DOF]; // in halves it is the same
        memcpy(half, b, (size_t)n * sizeof *half);
        root->model->whiten(root, n, 1, half);
        double energy = tdl_dot(n, b, many);
        CHECK_NEAR(tdl_dot(n, half, half), energy, 1e-12 * energy);
        root->model->unwhiten(root, half);
        for (int i = 0; i < n; ++i) {
            CHECK_NEAR(half[i], many[i], 1e-9 * sqrt(tdl_dot(n, many, many)));
        }
        for (int column = 0; column < 5; ++column) {
            double one[MAX_DOF];
            const double *x = many + column * n, *given = b + column * n;
            memcpy(one, given, (size_t)n * sizeof *one);
            root->model->solve(root, one);
            CHECK(memcmp(one, x, (size_t)n * sizeof *one) == 0);
            for (int i = 0; i < n; ++i) { // residual
                double sum = -given[i], size = fabs(given[i]);
                for (int j = 0; j < n; ++j) {
                    sum += A[i + j * n] * x[j];
                    size += fabs(A[i + j * n] * x[j]);
                }
                worst = fmax(worst, fabs(sum) / size);
            }
        }
        destroy(&tree);
    }
    printf("  residual %.1e\n", worst);
    CHECK_BELOW(worst, 1.0e-10); // entries of A are differences of energies
}

// A force on a branch, as a load that predict knows and as an impulse after it.
TEST(an_impulse_on_a_branch_does_what_a_load_does) {
    double worst = 0.0;
    for (int trial = 0; trial < 30; ++trial) {
        const TdlHold starts[3] = {TDL_HOLD_CLAMPED, TDL_HOLD_PINNED, TDL_HOLD_FREE};
        TdlRodLoad force = {.at = 0.03, .force = {0.02, -0.01, 0.03}};
        Rng rng = rng_seed(300 + (uint64_t)trial), same = rng;
        int where = trial % RODS;
        Tree loaded = random_tree(&rng, starts[trial % 3], &force, where);
        Tree touched = random_tree(&same, starts[trial % 3], NULL, 0);
        Rod *a = loaded.rods[0], *b = touched.rods[0], *branch = touched.rods[where];
        int n = loaded.dofs;
        double dt = 1.0e-3, rows[3 * MAX_DOF], v[MAX_DOF];
        const double F[3] = {force.force.x, force.force.y, force.force.z};
        for (int t = 0; t < 10; ++t) {
            RodStep step = step_of(&loaded, dt);
            step.gravity = (TdlVec3){0.0, 0.0, -9.81};
            REQUIRE(a->model->predict(a, &step));
            REQUIRE(b->model->predict(b, &step));
            const RodLoad* at = &loaded.rods[where]->loads[0];
            whole_rows(branch, at->element, at->s, tdl_identity33(), rows);
            for (int i = 0; i < n; ++i) {
                v[i] = dt * (F[0] * rows[i] + F[1] * rows[n + i] + F[2] * rows[2 * n + i]);
            }
            b->model->solve(b, v);
            double off = 0.0, size = 0.0;
            for (int i = 0; i < n; ++i) {
                v[i] += b->v_free[i];
                off = fmax(off, fabs(v[i] - a->v_free[i]));
                size = fmax(size, fabs(v[i]));
            }
            worst = fmax(worst, off / size);
            a->model->advance(a, &step, a->v_free);
            b->model->advance(b, &step, v);
        }
        for (int i = 0; i < RODS; ++i) {
            CHECK_NEAR3(rod_end(loaded.rods[i]).position, rod_end(touched.rods[i]).position,
                        1.0e-10);
        }
        destroy(&loaded);
        destroy(&touched);
    }
    printf("  off by %.1e\n", worst);
    CHECK_BELOW(worst, 1.0e-9);
}
