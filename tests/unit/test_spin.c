// The spin of sections about the tangent: what gives a straight rod that is not clamped its inertia
// about its own axis. super-helix.md (H.24)
#include "base/rng.h"
#include "math/rotation.h"
#include "rod/super_clothoid.h"
#include "rod/super_helix.h"
#include "tendril/world.h"
#include "test.h"

#include <float.h>

enum { MAX_N = 12, MAX_DOF = 3 * MAX_N + 9 };

static const char* const MODELS[3] = {"super-helix", "super-helix-dense", "super-clothoid"};

static TdlVec3 random_vector(Rng* rng, double size) {
    TdlVec3 v = {rng_normal(rng), rng_normal(rng), rng_normal(rng)};
    return tdl_scale3(size / (tdl_norm3(v) + 1.0e-300), v);
}

// A dry spaghetto, straight, anywhere.
static TdlRodDef random_def(Rng* rng, const char* model, TdlHold start) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.element_count = 1 + rng_below(rng, MAX_N);
    def.length = rng_range(rng, 0.1, 0.3);
    def.radius[0] = rng_range(rng, 0.5e-3, 1.0e-3);
    def.radius[1] = rng_range(rng, 0.5e-3, 1.0e-3);
    def.young = 3.8e9;
    def.density = 1500.0;
    def.clamp.position = random_vector(rng, 0.3);
    def.clamp.rotation = tdl_rotation_exp(random_vector(rng, 2.0));
    def.start = start;
    return def;
}

static Rod* create(const TdlRodDef* def) {
    TdlHost host = tdl_host_default();
    Rod* rod;
    if (rod_create(&host, def, &rod) != TDL_STATUS_OK) {
        abort();
    }
    return rod;
}

static void destroy(Rod* rod) {
    TdlHost host = tdl_host_default();
    rod_destroy(&host, rod);
}

static bool advance(Rod* rod, const RodStep* step) {
    bool ok = rod->model->predict(rod, step);
    rod->model->advance(rod, step, rod->v_free);
    return ok;
}

// Velocities of the root: angular, then linear.
static TdlVec3 root_rate(const Rod* rod, int which) {
    return tdl_load3(rod->v + rod->dof_count - rod->root_dofs, which);
}

static double polar_inertia(const TdlRodDef* def) {
    const double pi = 3.14159265358979323846;
    double a = def->radius[0], b = def->radius[1];
    return def->density * pi / 4.0 * a * b * (a * a + b * b) * def->length;
}

// Relative error of the inertia about the axis: it stands in one matrix, in world axes, with the
// inertia of the length across, which is larger by this factor.
static double axial_rounding(const Rod* rod) {
    return DBL_EPSILON * rod_length(rod) * rod_length(rod) / rod->gyration;
}

// Angular momentum of the spins, of a straight rod that only turns about its axis.
static double axial_momentum(const Rod* rod, double inertia) {
    int n = rod->element_count;
    bool joints = strcmp(rod->model->name, "super-clothoid") == 0;
    double spin = tdl_dot3(root_rate(rod, 0), rod->base.now.rotation.cx), sum = 0.0;
    for (int i = 0; i < n; ++i) {
        double first = rod->v[3 * i], last = rod->v[joints ? 3 * i + 3 : 3 * i];
        sum += inertia / n * (spin + first / 3.0 + last / 6.0); // the rate of twist is linear
        spin += 0.5 * (first + last);
    }
    return sum;
}

TEST(rods_at_rest_that_are_not_clamped_take_whole_steps_however_straight) {
    Rng rng = rng_seed(90);
    TdlHost host = tdl_host_default();
    for (int k = 0; k < 1000; ++k) {
        TdlWorldDef world_def = tdl_world_def_default();
        world_def.step = pow(10.0, rng_range(&rng, -4.0, -2.0));
        world_def.contacts.off = true;
        TdlWorld* world;
        REQUIRE(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
        TdlRodDef def =
            random_def(&rng, MODELS[k % 3], k % 2 == 0 ? TDL_HOLD_FREE : TDL_HOLD_PINNED);
        if (k % 5 == 1) { // a hair
            def.radius[0] = def.radius[1] = 50.0e-6;
        }
        def.curvature = random_vector(&rng, k % 4 == 0 ? 0.0 : pow(10.0, -rng_range(&rng, 0, 12)));
        def.natural_curvature = k % 8 < 6 ? def.curvature : (TdlVec3){0};
        TdlBodyId id;
        REQUIRE(tdl_world_add_rod(world, &def, &id) == TDL_STATUS_OK);
        for (int t = 0; t < 5; ++t) {
            TdlStepInfo info;
            CHECK_INT(tdl_world_step(world, &info), TDL_STATUS_OK);
            CHECK_INT(info.substeps, 1);
        }
        tdl_world_destroy(world);
    }
}

TEST(a_straight_free_rod_falls_with_gravity_and_stays_straight) {
    Rng rng = rng_seed(91);
    for (int k = 0; k < 60; ++k) {
        TdlRodDef def = random_def(&rng, MODELS[k % 3], TDL_HOLD_FREE);
        Rod* rod = create(&def);
        TdlVec3 from = rod->base.now.position, g = random_vector(&rng, 9.81);
        TdlPose end = rod_end(rod);
        double dt = 1.0e-3;
        RodStep step = {.dt = dt, .gravity = g, .base_end = rod->base.now};
        int n = 100;
        for (int t = 0; t < n; ++t) {
            REQUIRE(advance(rod, &step));
        }
        TdlVec3 fall = tdl_scale3(0.5 * dt * dt * n * (n + 1), g);
        // over 5 cm; rounding turns the rod by 1e-13 rad
        CHECK_NEAR3(rod->base.now.position, tdl_add3(from, fall), 1.0e-13);
        CHECK_NEAR3(rod_end(rod).position, tdl_add3(end.position, fall), 1.0e-13);
        CHECK_NEAR3(root_rate(rod, 1), tdl_scale3(dt * n, g), 1.0e-12);
        destroy(rod);
    }
}

TEST(a_torque_about_the_axis_spins_a_straight_rod_up_by_its_polar_inertia) {
    Rng rng = rng_seed(92);
    for (int k = 0; k < 60; ++k) {
        TdlRodDef def =
            random_def(&rng, MODELS[k % 3], k % 2 == 0 ? TDL_HOLD_FREE : TDL_HOLD_PINNED);
        double inertia = polar_inertia(&def), torque = 20.0 * inertia;
        TdlRodLoad load = {.at = rng_range(&rng, 0.0, def.length)};
        load.torque = tdl_scale3(torque, def.clamp.rotation.cx);
        def.loads = &load;
        def.load_count = 1;
        Rod* rod = create(&def);
        double dt = 1.0e-3;
        RodStep step = {.dt = dt, .base_end = rod->base.now};
        for (int t = 1; t <= 50; ++t) {
            REQUIRE(advance(rod, &step));
            double turned = torque * dt * t;
            CHECK_NEAR(axial_momentum(rod, inertia), turned, t * axial_rounding(rod) * turned);
        }
        // 1 rad/s; the twist that carries the torque on has come to rest
        TdlVec3 rate = tdl_scale3(20.0 * dt * 50, def.clamp.rotation.cx);
        CHECK_NEAR3(root_rate(rod, 0), rate, 50 * axial_rounding(rod));
        destroy(rod);
    }
}

TEST(a_straight_rod_that_spins_keeps_its_angular_momentum_and_energy) {
    Rng rng = rng_seed(93);
    for (int k = 0; k < 60; ++k) {
        TdlRodDef def =
            random_def(&rng, MODELS[k % 3], k % 2 == 0 ? TDL_HOLD_FREE : TDL_HOLD_PINNED);
        Rod* rod = create(&def);
        double inertia = polar_inertia(&def), spin = rng_range(&rng, -50.0, 50.0);
        TdlVec3 rate = tdl_scale3(spin, def.clamp.rotation.cx);
        tdl_store3(rod->v + rod->dof_count - rod->root_dofs, 0, rate);
        rod->model->refresh(rod);
        double kinetic = rod->model->energy(rod, (TdlVec3){0}).kinetic;
        CHECK_NEAR(kinetic, 0.5 * inertia * spin * spin, 1.0e-13 * kinetic);
        RodStep step = {.dt = pow(10.0, rng_range(&rng, -4.0, 0.0)), .base_end = rod->base.now};
        for (int t = 0; t < 200; ++t) {
            REQUIRE(advance(rod, &step));
        }
        double rounding = 200.0 * axial_rounding(rod); // in every step
        CHECK_NEAR(axial_momentum(rod, inertia), inertia * spin, rounding * inertia * fabs(spin));
        CHECK_NEAR3(root_rate(rod, 0), rate, rounding * fabs(spin));
        CHECK_NEAR(rod->model->energy(rod, (TdlVec3){0}).kinetic, kinetic, rounding * kinetic);
        destroy(rod);
    }
}

TEST(straight_rods_that_spin_and_bend_never_gain_energy) {
    Rng rng = rng_seed(94);
    for (int k = 0; k < 600; ++k) {
        TdlRodDef def =
            random_def(&rng, MODELS[k % 3], k % 2 == 0 ? TDL_HOLD_FREE : TDL_HOLD_PINNED);
        def.curvature = random_vector(&rng, k % 4 == 0 ? 0.0 : pow(10.0, -rng_range(&rng, 0, 12)));
        Rod* rod = create(&def);
        for (int i = 0; i < rod->dof_count; ++i) {
            rod->v[i] = k % 5 == 0 ? 0.0 : rng_normal(&rng);
        }
        tdl_store3(rod->v + rod->dof_count - rod->root_dofs, 0,
                   tdl_scale3(100.0 * rng_normal(&rng), def.clamp.rotation.cx));
        rod->model->refresh(rod);
        RodStep step = {.dt = pow(10.0, rng_range(&rng, -6.0, 0.0)), .base_end = rod->base.now};
        for (int t = 0; t < 10; ++t) {
            TdlEnergy before = rod->model->energy(rod, (TdlVec3){0});
            REQUIRE(advance(rod, &step));
            TdlEnergy after = rod->model->energy(rod, (TdlVec3){0});
            double sum = before.kinetic + before.elastic;
            CHECK_BELOW(after.kinetic + after.elastic - sum, (1.0e-12 + axial_rounding(rod)) * sum);
        }
        destroy(rod);
    }
}

// Twice the kinetic energy of the velocities x (a rate of curvature that is the same everywhere,
// then the root's), by the mass matrix.
static double mass_form(const Rod* rod, const double* M, const double x[9]) {
    double v[MAX_DOF], sum = 0.0;
    int n = rod->dof_count, root = n - rod->root_dofs;
    for (int i = 0; i < n; ++i) {
        v[i] = i < root ? x[i % 3] : x[3 + i - root];
    }
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            sum += (i == j ? 1.0 : 2.0) * M[j * n + i] * v[i] * v[j];
        }
    }
    return sum;
}

// A helix is both a super-helix and a super-clothoid; of the spins the super-helix takes less than
// all (H.24).
TEST(the_inertia_of_a_helix_is_the_same_in_all_models_but_for_their_spins) {
    Rng rng = rng_seed(95);
    for (int k = 0; k < 100; ++k) {
        TdlRodDef def = random_def(&rng, "super-helix-dense", TDL_HOLD_FREE);
        def.curvature = random_vector(&rng, k % 4 == 0 ? 0.0 : rng_range(&rng, 0.0, 20.0));
        Rod *rods[3], *helix, *clothoid;
        for (int m = 0; m < 3; ++m) {
            def.model = MODELS[m];
            rods[m] = create(&def);
            rods[m]->gyration = 0.0;
            rods[m]->model->refresh(rods[m]);
        }
        helix = rods[1];
        clothoid = rods[2];
        static double M[2][MAX_DOF * MAX_DOF];
        super_helix_mass(helix, M[0]);
        super_clothoid_mass(clothoid, M[1]);
        for (int t = 0; t < 20; ++t) {
            double x[9];
            for (int i = 0; i < 9; ++i) {
                x[i] = t < 9 ? i == t : rng_normal(&rng);
            }
            double twice = mass_form(helix, M[0], x);
            double rounding = 1.0e-11 * fabs(twice) + 1.0e-15 * rod_mass(helix);
            CHECK_NEAR(mass_form(clothoid, M[1], x), twice, rounding);
            for (int m = 0; m < 3; ++m) {
                int root = rods[m]->dof_count - 6;
                for (int i = 0; i < rods[m]->dof_count; ++i) {
                    rods[m]->v[i] = i < root ? x[i % 3] : x[3 + i - root];
                }
                rods[m]->model->refresh(rods[m]);
                double kinetic = rods[m]->model->energy(rods[m], (TdlVec3){0}).kinetic;
                CHECK_NEAR(2.0 * kinetic, twice, rounding);
            }
        }
        for (int m = 0; m < 3; ++m) {
            destroy(rods[m]);
        }
    }
}

// The spin's part of the kinetic energy of a helix whose curvature changes evenly while it turns.
static double spin_energy(TdlRodDef* def, const char* model, int elements, const double x[6]) {
    double with[2];
    def->model = model;
    def->element_count = elements;
    for (int k = 0; k < 2; ++k) {
        Rod* rod = create(def);
        int root = rod->dof_count - 6;
        rod->gyration = k == 0 ? rod->gyration : 0.0;
        for (int i = 0; i < root; ++i) {
            rod->v[i] = x[i % 3] * rod->element_length;
        }
        tdl_store3(rod->v + root, 0, tdl_load3(x, 1));
        rod->model->refresh(rod);
        with[k] = rod->model->energy(rod, (TdlVec3){0}).kinetic;
        destroy(rod);
    }
    return with[0] - with[1];
}

TEST(the_spins_of_a_super_helix_come_near_those_of_the_sections_with_order_2) {
    Rng rng = rng_seed(96);
    for (int k = 0; k < 20; ++k) {
        TdlRodDef def = random_def(&rng, "super-clothoid", TDL_HOLD_FREE);
        def.radius[0] = def.radius[1] = 5.0e-3; // digits
        def.curvature = random_vector(&rng, rng_range(&rng, 1.0, 20.0));
        double x[6], error[2][3];
        for (int i = 0; i < 6; ++i) {
            x[i] = rng_normal(&rng) * (i < 3 ? 10.0 : 1.0);
        }
        double exact = spin_energy(&def, "super-clothoid", 8, x);
        CHECK_NEAR(spin_energy(&def, "super-clothoid", 3, x), exact, 1.0e-9 * exact);
        for (int m = 0; m < 2; ++m) {
            for (int j = 0; j < 3; ++j) {
                error[m][j] = fabs(spin_energy(&def, MODELS[m], 8 << j, x) - exact);
            }
            CHECK_NEAR(log2(error[m][1] / error[m][2]), 2.0, 0.1);
            CHECK_BELOW(error[m][2], 1.0e-2 * exact);
        }
    }
}
