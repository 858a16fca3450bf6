// Statics of trees: derivatives of the potential, rods cut into branches, what damping comes to.
// super-helix.md (H.20), (H.31)
#include "base/rng.h"
#include "math/rotation.h"
#include "rod/rod.h"
#include "test.h"

enum { RODS = 4, MAX_N = 5, MAX_DOF = RODS * 3 * MAX_N + 6 };

static const TdlVec3 GRAVITY = {0.5, -1.0, -9.7};

static TdlVec3 random_vector(Rng* rng, double size) {
    TdlVec3 v = {rng_normal(rng), rng_normal(rng), rng_normal(rng)};
    return tdl_scale3(size / (tdl_norm3(v) + 1.0e-300), v);
}

static Rod* create(const TdlRodDef* def) {
    TdlHost host = tdl_host_default();
    Rod* rod;
    if (rod_create(&host, def, &rod) != TDL_STATUS_OK) {
        abort();
    }
    return rod;
}

static void destroy(Rod** rods, int count) {
    TdlHost host = tdl_host_default();
    for (int i = 0; i < count; ++i) {
        rod_destroy(&host, rods[i]);
    }
}

static TdlRodDef twig(const char* model) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.length = 0.2;
    def.radius[0] = 0.8e-3;
    def.radius[1] = 1.0e-3;
    def.young = 2.0e7;
    def.element_count = 4;
    return def;
}

// A tree of dense rods, linked by hand: they have the potential that statics uses. Rod i hangs on
// rod (i - 1) / 2.
static void make_dense_tree(Rng* rng, TdlHold start, Rod* rods[RODS], TdlRodLoad loads[RODS]) {
    int dofs = 0;
    for (int i = 0; i < RODS; ++i) {
        TdlRodDef def = twig("super-helix-dense");
        def.element_count = 2 + rng_below(rng, MAX_N - 1);
        def.length = rng_range(rng, 0.1, 0.3);
        def.natural_curvature = random_vector(rng, 10.0);
        def.curvature = random_vector(rng, 15.0);
        def.start = i == 0 ? start : TDL_HOLD_CLAMPED;
        loads[i] = (TdlRodLoad){.at = 0.07, .force = random_vector(rng, 0.02)};
        def.loads = &loads[i];
        def.load_count = 1;
        rods[i] = create(&def);
        dofs += rods[i]->dof_count;
    }
    for (int i = 1; i < RODS; ++i) {
        Rod* parent = rods[(i - 1) / 2];
        rods[i]->parent = parent;
        rods[i]->sibling = parent->child;
        parent->child = rods[i];
        rods[i]->parent_element = rng_below(rng, parent->element_count);
        rods[i]->mount = tdl_rotation_exp(random_vector(rng, 2.0));
        rods[i]->tree_first = rods[i - 1]->tree_first + rods[i - 1]->dof_count;
    }
    for (int i = 0; i < RODS; ++i) {
        rods[i]->tree_dofs = dofs;
    }
    double none[MAX_DOF] = {0};
    rods[0]->model->move(rods[0], none); // brings the branches to their places
}

static double energy_along(Rod* root, const double* direction, double size) {
    double change[MAX_DOF], energy;
    for (int i = 0; i < root->tree_dofs; ++i) {
        change[i] = size * direction[i];
    }
    root->model->move(root, change);
    energy = root->model->potential(root, GRAVITY, NULL, NULL);
    for (int i = 0; i < root->tree_dofs; ++i) {
        change[i] = -change[i];
    }
    root->model->move(root, change);
    return energy;
}

TEST(gradient_and_hessian_of_a_tree_are_derivatives) {
    Rng rng = rng_seed(140);
    double first[3] = {0}, second[3] = {0};
    static double gradient[MAX_DOF], hessian[MAX_DOF * MAX_DOF];
    for (int trial = 0; trial < 24; ++trial) {
        static const TdlHold STARTS[2] = {TDL_HOLD_CLAMPED, TDL_HOLD_PINNED};
        Rod* rods[RODS];
        TdlRodLoad loads[RODS];
        make_dense_tree(&rng, STARTS[trial % 2], rods, loads);
        Rod* root = rods[0];
        int n = root->tree_dofs;
        root->model->potential(root, GRAVITY, gradient, hessian);
        double direction[MAX_DOF], slope = 0.0, bend = 0.0;
        for (int i = 0; i < n; ++i) {
            direction[i] = rng_normal(&rng) / sqrt(n);
        }
        for (int i = 0; i < n; ++i) {
            slope += gradient[i] * direction[i];
            for (int j = 0; j < n; ++j) {
                bend += direction[i] * hessian[j * n + i] * direction[j];
            }
        }
        double here = energy_along(root, direction, 0.0);
        double scale = root->stiffness.y / root->element_length;
        for (int k = 0; k < 3; ++k) {
            double h = 0.02 / (1 << k), ahead = energy_along(root, direction, h);
            double behind = energy_along(root, direction, -h);
            first[k] = fmax(first[k], fabs((ahead - behind) / (2.0 * h) - slope) / scale);
            double found = (ahead + behind - 2.0 * here) / (h * h);
            second[k] = fmax(second[k], fabs(found - bend) / scale);
        }
        destroy(rods, RODS);
    }
    printf("  gradient off by %.1e, %.1e, %.1e; Hessian by %.1e, %.1e, %.1e\n", first[0], first[1],
           first[2], second[0], second[1], second[2]);
    CHECK_NEAR(0.5 * log2(first[0] / first[2]), 2.0, 0.2);
    CHECK_NEAR(0.5 * log2(second[0] / second[2]), 2.0, 0.2);
    CHECK_BELOW(second[2], 0.01);
}

// Three rods, each clamped on the tip of the one before, are one rod.
TEST(a_rod_cut_into_branches_settles_as_a_whole) {
    TdlHost host = tdl_host_default();
    TdlRodDef def = twig("super-helix");
    def.natural_curvature = def.curvature = (TdlVec3){2.0, 12.0, -3.0};
    Rod *whole, *part[3];
    double residual, stability, own;
    TdlRodDef uncut = def;
    uncut.length = 3.0 * def.length;
    uncut.element_count = 3 * def.element_count;
    whole = create(&uncut);
    for (int i = 0; i < 3; ++i) {
        if (i > 0) {
            def.clamp = rod_end(part[i - 1]);
        }
        part[i] = create(&def);
        REQUIRE(i == 0 || rod_attach(&host, part[i], part[i - 1], 1.0) == TDL_STATUS_OK);
    }
    REQUIRE(rod_settle(&host, whole, GRAVITY, &residual, &own) == TDL_STATUS_OK);
    REQUIRE(rod_settle(&host, part[0], GRAVITY, &residual, &stability) == TDL_STATUS_OK);
    CHECK_BELOW(residual, 1.0e-12);
    CHECK_NEAR(stability, own, 1.0e-8 * own);
    for (int i = 0; i < 3; ++i) {
        for (int e = 0; e < def.element_count; ++e) {
            TdlVec3 a = whole->model->point(whole, i * def.element_count + e, 0.6);
            CHECK_NEAR3(part[i]->model->point(part[i], e, 0.6), a, 1.0e-10);
        }
    }
    destroy(part, 3);
    destroy(&whole, 1);
}

// Long after it was let go, a damped tree is where statics puts it, and stays when it is put there.
TEST(a_damped_tree_comes_to_where_statics_is) {
    TdlHost host = tdl_host_default();
    Rod* tree[2][RODS];
    TdlRodLoad load = {.at = 0.1, .force = {0.0, 5.0e-3, 0.0}};
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < RODS; ++i) {
            TdlRodDef def = twig("super-helix");
            def.damping = 0.01;
            def.mass_damping = 4.0;
            def.natural_curvature = (TdlVec3){0.0, 3.0 * i, -2.0};
            def.clamp.rotation = tdl_rotation_exp((TdlVec3){0.2 * i, -0.5, 0.4 * i});
            def.loads = &load;
            def.load_count = i == 2;
            tree[k][i] = create(&def);
            REQUIRE(i == 0 || rod_attach(&host, tree[k][i], tree[k][(i - 1) / 2],
                                         i == 1 ? 0.5 : 1.0) == TDL_STATUS_OK);
        }
    }
    double residual, stability, worst = 0.0;
    REQUIRE(rod_settle(&host, tree[0][0], GRAVITY, &residual, &stability) == TDL_STATUS_OK);
    CHECK(stability > 0.0);
    TdlVec3 settled = rod_end(tree[0][3]).position;
    for (int k = 0; k < 2; ++k) {
        Rod* root = tree[k][0];
        for (int t = 0; t < (k == 0 ? 10 : 4000); ++t) {
            RodStep step = {.dt = 2.0e-3, .gravity = GRAVITY, .base_end = root->base.now};
            REQUIRE(root->model->predict(root, &step));
            root->model->advance(root, &step, root->v_free);
        }
    }
    CHECK_NEAR3(rod_end(tree[0][3]).position, settled, 1.0e-11);
    for (int i = 0; i < RODS; ++i) {
        TdlVec3 a = rod_end(tree[0][i]).position, b = rod_end(tree[1][i]).position;
        worst = fmax(worst, tdl_norm3(tdl_sub3(a, b)));
    }
    printf("  tips apart by %.1e m; stability %.3f\n", worst, stability);
    CHECK_BELOW(worst, 1.0e-7); // 8 s at 4 1/s leave e^-16 of the fall
    destroy(tree[0], RODS);
    destroy(tree[1], RODS);
}
