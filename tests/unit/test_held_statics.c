// Statics between two holds: second derivatives along the motions that are left, the catenary, what
// damping comes to, and Euler's elastica. super-helix.md (H.28)
#include "base/rng.h"
#include "capture.h"
#include "math/dense.h"
#include "math/rotation.h"
#include "rod/held_statics.h"
#include "test.h"

enum { MAX_N = 6, MAX_DOF = 3 * MAX_N + 10 };

static const double PI = 3.14159265358979323846;
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

static void destroy(Rod* rod) {
    TdlHost host = tdl_host_default();
    rod_destroy(&host, rod);
}

static const TdlHold HOLDS[3] = {TDL_HOLD_CLAMPED, TDL_HOLD_PINNED, TDL_HOLD_FREE};

static TdlRodDef random_def(Rng* rng, int trial) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = trial % 2 == 0 ? "super-helix-dense" : "super-clothoid";
    def.length = rng_range(rng, 0.1, 0.3);
    def.radius[0] = rng_range(rng, 0.5e-3, 1.0e-3);
    def.radius[1] = rng_range(rng, 0.5e-3, 1.0e-3);
    def.young = 1.0e7;
    def.element_count = 3 + rng_below(rng, MAX_N - 2);
    def.clamp.rotation = tdl_rotation_exp(random_vector(rng, 2.0));
    def.natural_curvature = random_vector(rng, 5.0);
    def.curvature = random_vector(rng, rng_range(rng, 5.0, 15.0));
    def.start = HOLDS[trial / 2 % 3];
    def.end = HOLDS[trial / 6 % 2];
    return def;
}

// Energy after a move along a free direction and back to where the end is held.
static double energy_along(HeldStatics* held, const void* start, const double* direction,
                           double size) {
    Rod* rod = held->rod;
    double change[MAX_DOF];
    rod_load_state(rod, start);
    for (int i = 0; i < held->n; ++i) {
        change[i] = size * direction[i];
    }
    held_statics_move(held, change);
    CHECK(held_statics_restore(held));
    double strain = rod->held_state.stretch - 1.0;
    return rod->model->potential(rod, GRAVITY, NULL, NULL) +
           0.5 * rod_stretch_stiffness(rod) * rod_length(rod) * strain * strain;
}

TEST(free_gradient_and_hessian_are_derivatives_along_the_ways_that_are_left) {
    Rng rng = rng_seed(120);
    double first[3] = {0}, second[3] = {0};
    for (int trial = 0; trial < 48; ++trial) {
        TdlRodLoad load = {.at = 0.05, .force = random_vector(&rng, 0.01)};
        TdlRodDef def = random_def(&rng, trial);
        def.loads = &load;
        def.load_count = 1;
        Rod* rod = create(&def);
        int n = rod->dof_count + 1; // and the stretch
        static double memory[20 * MAX_DOF], gradient[MAX_DOF], hessian[MAX_DOF * MAX_DOF];
        static char keep[3 * MAX_DOF * sizeof(double) + 2 * sizeof(RodBase) + sizeof(RodHeld)],
            start[sizeof keep];
        REQUIRE(held_statics_size(rod) <= 20 * MAX_DOF && n <= MAX_DOF);
        HeldStatics held = held_statics_start(rod, memory, keep);
        int left = n - held.count;
        rod_save_state(rod, start);
        rod->model->potential(rod, GRAVITY, gradient, NULL);
        held_statics_reduce(&held, GRAVITY, gradient, hessian);
        double moved[MAX_DOF], direction[MAX_DOF], slope = 0.0, bend = 0.0;
        for (int i = 0; i < left; ++i) {
            moved[i] = rng_normal(&rng) / sqrt(left);
        }
        held_statics_expand(&held, moved, direction);
        for (int i = 0; i < left; ++i) {
            slope += gradient[i] * moved[i];
            for (int j = 0; j < left; ++j) {
                bend += moved[i] * hessian[j * left + i] * moved[j];
                CHECK_NEAR(hessian[j * left + i], hessian[i * left + j],
                           1.0e-12 * fabs(hessian[0]));
            }
        }
        double here = energy_along(&held, start, direction, 0.0);
        double scale = rod->stiffness.y / rod->element_length;
        for (int k = 0; k < 3; ++k) {
            double h = 0.02 / (1 << k), ahead = energy_along(&held, start, direction, h);
            double behind = energy_along(&held, start, direction, -h);
            first[k] = fmax(first[k], fabs((ahead - behind) / (2.0 * h) - slope) / scale);
            double found = (ahead + behind - 2.0 * here) / (h * h);
            second[k] = fmax(second[k], fabs(found - bend) / scale);
        }
        destroy(rod);
    }
    printf("  gradient off by %.1e, %.1e, %.1e; Hessian by %.1e, %.1e, %.1e\n", first[0], first[1],
           first[2], second[0], second[1], second[2]);
    CHECK_NEAR(0.5 * log2(first[0] / first[2]), 2.0, 0.2);
    CHECK_NEAR(0.5 * log2(second[0] / second[2]), 2.0, 0.2);
    CHECK_BELOW(second[2], 0.01);
}

// A rope between two pins, heavy and with hardly any stiffness.
static double settled_sag(const char* model, int element_count, TdlVec3* pin) {
    TdlHost host = tdl_host_default();
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.element_count = element_count;
    def.length = 1.0;
    def.radius[0] = def.radius[1] = 1.0e-3;
    def.young = 1.0e5;
    def.clamp.rotation =
        tdl_frame_from_tangent_hint((TdlVec3){0.0, 0.0, -1.0}, (TdlVec3){0.0, 1.0, 0.0});
    def.curvature = (TdlVec3){0.0, -PI, 0.0}; // a half circle that hangs down
    def.start = def.end = TDL_HOLD_PINNED;
    Rod* rod = create(&def);
    double residual, stability;
    *pin = rod_end(rod).position;
    CHECK_INT(rod_settle(&host, rod, (TdlVec3){0.0, 0.0, -9.81}, &residual, &stability),
              TDL_STATUS_OK);
    CHECK_BELOW(residual, 1.0e-12);
    // it may roll about itself and swing about the line through its pins: gravity holds the swing,
    // nothing the roll, as its section is round and it is straight by nature
    CHECK_BELOW(fabs(stability), 1.0e-6);
    CHECK_NEAR3(rod_end(rod).position, *pin, 1.0e-12);
    TdlVec3 middle = rod->model->point(rod, element_count / 2, 0.0);
    destroy(rod);
    return -middle.z;
}

TEST(a_rope_between_two_pins_settles_as_a_catenary) {
    TdlVec3 pin;
    double helix = settled_sag("super-helix", 40, &pin);
    double clothoid = settled_sag("super-clothoid", 16, &pin);
    // the elastic catenary of half length S: the half span d gives the horizontal force H
    double d = 0.5 * tdl_norm3(pin), S = 0.5, area = PI * 1.0e-6, low = 1.0e-6, high = 10.0;
    double EA = 1.0e5 * area, w = tdl_rod_def_default().density * area * tdl_norm3(GRAVITY);
    for (int i = 0; i < 200; ++i) {
        double H = 0.5 * (low + high);
        *(H * S / EA + H / w * asinh(w * S / H) < d ? &low : &high) = H;
    }
    double sag = 0.5 * w * S * S / EA + low / w * (hypot(1.0, w * S / low) - 1.0);
    printf("  sag %.6f m (helix), %.6f m (clothoid), of the catenary %.6f m\n", helix, clothoid,
           sag);
    CHECK_NEAR(helix, sag, 2.0e-3 * sag); // bending stiffness and few elements
    CHECK_NEAR(clothoid, sag, 2.0e-3 * sag);
}

TEST(damping_brings_a_rod_between_holds_to_where_statics_puts_it) {
    Rng rng = rng_seed(121);
    TdlHost host = tdl_host_default();
    for (int trial = 0; trial < 6; ++trial) {
        TdlRodDef def = random_def(&rng, 1 + trial % 2);
        def.model = trial % 2 == 0 ? "super-helix" : "super-clothoid";
        def.start = TDL_HOLD_CLAMPED;
        def.end = HOLDS[trial / 2 % 2];
        def.damping = 0.02;
        def.mass_damping = 20.0;
        Rod *still = create(&def), *damped = create(&def);
        double residual, stability;
        CHECK_INT(rod_settle(&host, still, GRAVITY, &residual, &stability), TDL_STATUS_OK);
        CHECK_BELOW(residual, 1.0e-12);
        CHECK(stability > 0.0);
        // from nearby, so that both come to the same of several equilibria
        char state[3 * MAX_DOF * sizeof(double) + 2 * sizeof(RodBase) + sizeof(RodHeld)];
        rod_save_state(still, state);
        rod_load_state(damped, state);
        for (int i = 0; i < damped->dof_count; ++i) {
            damped->v[i] = 0.3 * rng_normal(&rng);
        }
        damped->model->refresh(damped);
        RodStep step = {.dt = 5.0e-3,
                        .gravity = GRAVITY,
                        .base_end = damped->base.now,
                        .end_end = still->end.now};
        for (int t = 0; t < 2000; ++t) {
            REQUIRE(damped->model->predict(damped, &step));
            damped->model->advance(damped, &step, damped->v_free);
        }
        for (int e = 0; e < still->element_count; ++e) {
            CHECK_NEAR3(damped->model->point(damped, e, 0.5), still->model->point(still, e, 0.5),
                        1.0e-8);
        }
        destroy(still);
        destroy(damped);
    }
}

// Complete elliptic integrals of modulus p, by the arithmetic-geometric mean.
static void elliptic(double p, double* K, double* E) {
    double a = 1.0, b = sqrt(1.0 - p * p), c = p, sum = 0.5 * p * p, power = 0.5;
    while (fabs(c) > 1.0e-16) {
        c = 0.5 * (a - b);
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
        power *= 2.0;
        sum += power * c * c;
    }
    *K = 0.5 * PI / a;
    *E = *K * (1.0 - sum);
}

// Height over the chord of Euler's elastica between two pins, for length 1: chord 2 E/K - 1, height
// p / K. Between two clamps that face each other the rod is two quarters of it, turned, and a half:
// the same numbers.
static double elastica_height(double chord) {
    double low = 0.0, high = 1.0 - 1.0e-12, K, E;
    for (int k = 0; k < 100; ++k) {
        double p = 0.5 * (low + high);
        elliptic(p, &K, &E);
        *(2.0 * E / K - 1.0 > chord ? &low : &high) = p;
    }
    return low / K;
}

TEST(a_bent_rod_between_holds_is_eulers_elastica) {
    TdlHost host = tdl_host_default();
    enum { N = 80 };
    TdlVec3 kappa[N];
    for (int trial = 0; trial < 8; ++trial) {
        TdlRodDef def = tdl_rod_def_default();
        bool clothoid = trial % 2 == 1, clamped = trial / 2 % 2 == 1;
        def.model = clothoid ? "super-clothoid" : "super-helix";
        def.element_count = clothoid ? 32 : N;
        def.length = 0.4;
        def.radius[0] = 0.5e-4; // it bends in the plane across its second axis, and so thin a rod
        def.radius[1] = 1.0e-4; // is hardly pressed together: by some (r / L)^2
        def.start = def.end = clamped ? TDL_HOLD_CLAMPED : TDL_HOLD_PINNED;
        double bend = trial < 4 ? 2.0 : 6.0;
        for (int i = 0; i < def.element_count; ++i) {
            double s = (i + 0.5) / def.element_count;
            kappa[i] = (TdlVec3){0.0, 0.0, clamped ? bend * PI * cos(2.0 * PI * s) : bend};
        }
        def.curvature_of = kappa;
        Rod* rod = create(&def);
        TdlVec3 chord = tdl_sub3(rod_end(rod).position, rod->base.now.position);
        double residual, stability, reach = tdl_norm3(chord);
        CHECK_INT(rod_settle(&host, rod, (TdlVec3){0}, &residual, &stability), TDL_STATUS_OK);
        CHECK_BELOW(residual, 1.0e-11);
        CHECK(stability > (clamped ? 1.0e-9 : -1.0e-6)); // between pins it may turn about its chord
        TdlVec3 middle =
            tdl_sub3(rod->model->point(rod, def.element_count / 2, 0.0), rod->base.now.position);
        double height = tdl_norm3(tdl_cross3(chord, middle)) / reach / def.length;
        double exact = elastica_height(reach / def.length);
        printf("  %s, %s: chord %.4f, height %.7f, of the elastica %.7f\n", def.model,
               clamped ? "clamped" : "pinned", reach / def.length, height, exact);
        CHECK_NEAR(height, exact, clothoid ? 2.0e-6 : 2.0e-4);
        destroy(rod);
    }
}

TEST(a_rod_that_cannot_move_is_refused) {
    Capture capture;
    TdlHost host = capture_host(&capture);
    TdlRodDef def = tdl_rod_def_default();
    def.element_count = 2;
    def.curvature = (TdlVec3){0.0, 10.0, 0.0};
    def.end = TDL_HOLD_CLAMPED;
    Rod* rod = create(&def);
    double residual, stability;
    CHECK_INT(rod_settle(&host, rod, GRAVITY, &residual, &stability), TDL_STATUS_BAD_ARGUMENT);
    CHECK(strstr(capture.text, "no way to move") != NULL);
    destroy(rod);
}

// --- taut -----------------------------------------------------------------------------------

static const char* const SUPER[3] = {"super-helix", "super-helix-dense", "super-clothoid"};

// A rod without weight that is stretched straight between its holds stays so, and twists evenly.
TEST(a_taut_rod_settles_straight_and_evenly_twisted) {
    for (int k = 0; k < 12; ++k) {
        TdlRodDef def = tdl_rod_def_default();
        TdlHost host = tdl_host_default();
        def.model = SUPER[k % 3];
        def.start = k / 3 % 2 == 0 ? TDL_HOLD_CLAMPED : TDL_HOLD_PINNED;
        def.end = k / 6 == 0 ? TDL_HOLD_CLAMPED : TDL_HOLD_PINNED;
        def.element_count = 7;
        def.clamp.rotation = tdl_rotation_exp((TdlVec3){0.3, -0.7, 1.1});
        def.curvature = (TdlVec3){30.0, 0.0, 0.0};
        def.natural_curvature = (TdlVec3){12.0, 0.0, 0.0};
        Rod* rod = create(&def);
        TdlPose end = rod_end(rod), start = rod->base.now;
        double residual, stability;
        REQUIRE(rod_settle(&host, rod, (TdlVec3){0}, &residual, &stability) == TDL_STATUS_OK);
        CHECK_BELOW(residual, 1.0e-12);
        // between pins it may roll about itself
        CHECK(stability > (def.start == def.end && def.end == TDL_HOLD_PINNED ? -1.0e-9 : 0.0));
        CHECK_NEAR(rod->held_state.stretch, 1.0, 1.0e-15);
        TdlPose settled = rod_end(rod);
        CHECK_NEAR3(settled.position, end.position, 1.0e-15); // roundings of 0.1 m
        CHECK_NEAR3(rod->base.now.position, start.position, 0.0);
        bool clamps = def.start == TDL_HOLD_CLAMPED && def.end == TDL_HOLD_CLAMPED;
        double twist = (clamps ? 30.0 : 12.0) * rod->element_length;
        for (int i = 0; i < rod->element_count; ++i) {
            CHECK_NEAR3(tdl_load3(rod->q, i), ((TdlVec3){twist, 0.0, 0.0}), 1.0e-14);
        }
        if (def.end == TDL_HOLD_CLAMPED) {
            CHECK_NEAR3(settled.rotation.cy, end.rotation.cy, 1.0e-14);
        }
        if (def.start == TDL_HOLD_CLAMPED) {
            CHECK_NEAR3(rod->base.now.rotation.cy, start.rotation.cy, 0.0);
        }
        destroy(rod);
    }
}

TEST(a_rod_that_cannot_reach_says_so) {
    for (int k = 0; k < 6; ++k) {
        TdlRodDef def = tdl_rod_def_default();
        Capture capture;
        TdlHost host = capture_host(&capture);
        def.model = SUPER[k % 3];
        def.end = TDL_HOLD_PINNED;
        Rod* rod = create(&def);
        if (k < 3) {
            rod->end.now.position.x *= 1.001;
        } else {
            rod->base.now.rotation = tdl_rotation_exp((TdlVec3){0.0, 0.1, 0.0});
        }
        double residual, stability, tip = rod_end(rod).position.x;
        CHECK_INT(rod_settle(&host, rod, GRAVITY, &residual, &stability), TDL_STATUS_DIVERGED);
        CHECK(k >= 3 || strstr(capture.first, "further apart") != NULL);
        CHECK(rod_end(rod).position.x == tip || k >= 3); // nothing was moved
        destroy(rod);
    }
}
