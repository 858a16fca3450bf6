// Vibrations of a cantilever: the frequencies of its first modes in bending and in torsion against
// those of Euler and Bernoulli and of a twisted shaft, with the order in elements and in time of
// every model and integrator; and what becomes of the energy in a hundred periods.
#include "rod/rod_body.h"
#include "tendril/world.h"
#include "test.h"

static const double PI = 3.14159265358979323846;

static const char* const MODELS[] = {"super-helix", "super-helix-dense", "super-clothoid", "der",
                                     "corde",       "mass-spring"};
enum { MODEL_COUNT = 6, TWISTED = 5, MAX_N = 64, MAX_STEPS = 400 };

// A mode of the shaft: its frequency, rad/s, and the curvature that goes with it.
typedef struct Mode {
    bool torsion;
    double beta, omega; // beta: wave number times length
} Mode;

static TdlRodDef shaft(void) {
    TdlRodDef def = tdl_rod_def_default();
    def.length = 0.2;
    def.radius[0] = def.radius[1] = 2.0e-4;
    def.young = 1.0e9;
    def.poisson = 0.3;
    return def;
}

// Root k, from 1, of cos(x) cosh(x) = -1.
static double bending_root(int k) {
    double x = (k - 0.5) * PI;
    for (int i = 0; i < 30; ++i) {
        double f = cos(x) + 1.0 / cosh(x), slope = -sin(x) - tanh(x) / cosh(x);
        x -= f / slope;
    }
    return x;
}

static Mode make_mode(bool torsion, int k) {
    TdlRodDef def = shaft();
    double r = def.radius[0], beta = torsion ? (k - 0.5) * PI : bending_root(k);
    double wave = sqrt(def.young / (2.0 * (1.0 + def.poisson)) / def.density);
    double bend = sqrt(def.young * r * r / (4.0 * def.density)) / def.length;
    return (Mode){torsion, beta, beta * (torsion ? wave : beta * bend) / def.length};
}

// Curvature at the share s of the length, of a tip that is out by about 1.
static double mode_curvature(const Mode* mode, double s) {
    double b = mode->beta, x = b * s;
    if (mode->torsion) {
        return b * cos(x);
    }
    double ratio = (cosh(b) + cos(b)) / (sinh(b) + sin(b));
    return 0.5 * b * b * (cosh(x) + cos(x) - ratio * (sinh(x) + sin(x)));
}

static TdlWorld* make_world(const char* model, int n, const Mode* mode, double size,
                            TdlIntegrator integrator, double dt, const Rod** rod) {
    TdlHost host = tdl_host_default();
    TdlWorldDef world_def = tdl_world_def_default();
    world_def.gravity = (TdlVec3){0};
    world_def.contacts.off = true;
    world_def.integrator = integrator;
    world_def.step = dt;
    TdlRodDef def = shaft();
    TdlVec3 curvature[MAX_N];
    for (int i = 0; i < n; ++i) {
        double kappa = size / def.length * mode_curvature(mode, (i + 0.5) / n);
        curvature[i] = mode->torsion ? (TdlVec3){.x = kappa} : (TdlVec3){.z = kappa};
    }
    def.model = model;
    def.element_count = n;
    def.curvature_of = curvature;
    TdlWorld* world;
    TdlBodyId id;
    if (tdl_world_create(&host, &world_def, &world) != TDL_STATUS_OK ||
        tdl_world_add_rod(world, &def, &id) != TDL_STATUS_OK) {
        abort();
    }
    Rod* own = rod_of(world_find_body(world, id, &ROD_BODY));
    if (strcmp(model, "super-clothoid") == 0) { // it has its curvatures at the joints
        for (int i = 0; i <= n; ++i) {
            double turn = size / n * mode_curvature(mode, (double)i / n);
            own->q[3 * i + (mode->torsion ? 0 : 2)] = turn;
        }
        rod_stop(own);
        world_count_energy(world, world_find_body(world, id, &ROD_BODY));
    }
    *rod = own;
    return world;
}

// How much of the mode there is: in bending the mean of the deflection times that of the mode, in
// torsion the turn of the tip.
static double amount(const Rod* rod, const Mode* mode) {
    if (mode->torsion) {
        TdlMat3 end = rod_end(rod).rotation;
        return atan2(end.cy.z, end.cy.y);
    }
    double sum = 0.0, b = mode->beta, ratio = (cosh(b) + cos(b)) / (sinh(b) + sin(b));
    int n = 5 * rod->element_count;
    for (int i = 0; i < n; ++i) {
        double x = b * (i + 0.5) / n;
        double shape = cosh(x) - cos(x) - ratio * (sinh(x) - sin(x));
        sum += shape * rod->model->point(rod, i / 5, (i % 5 + 0.5) / 5.0).y;
    }
    return sum / n;
}

// The number a, b of y_(n+1) = a y_n - b y_(n-1) that a signal obeys best.
static void fit(const double* y, int count, double* a, double* b) {
    double xx = 0.0, xz = 0.0, zz = 0.0, xy = 0.0, zy = 0.0;
    for (int n = 1; n + 1 < count; ++n) {
        double x = y[n], z = -y[n - 1];
        xx += x * x;
        xz += x * z;
        zz += z * z;
        xy += x * y[n + 1];
        zy += z * y[n + 1];
    }
    double det = xx * zz - xz * xz;
    *a = (xy * zz - zy * xz) / det;
    *b = (zy * xx - xy * xz) / det;
}

// The frequency of the rod in space: that of a step, from which what the rule of the step does to
// it is taken. Backward Euler turns a mode by atan(omega dt) a step, the midpoint rule by
// 2 atan(omega dt / 2). (I.2)
static double frequency(const char* model, int n, const Mode* mode, TdlIntegrator integrator) {
    const Rod* rod;
    double dt = 2.0 * PI / mode->omega / 50.0, y[MAX_STEPS], a, b;
    TdlWorld* world = make_world(model, n, mode, 1.0e-4, integrator, dt, &rod);
    int count = 100;
    for (int i = 0; i < count; ++i) {
        y[i] = amount(rod, mode);
        CHECK(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
    tdl_world_destroy(world);
    fit(y, count, &a, &b);
    double angle = acos(a / (2.0 * sqrt(b)));
    return integrator == TDL_INTEGRATOR_EULER ? tan(angle) / dt : 2.0 * tan(0.5 * angle) / dt;
}

static void check_orders(bool torsion, int modes, int models, TdlIntegrator integrator) {
    for (int m = 0; m < models; ++m) {
        printf("  %-17s", MODELS[m]);
        for (int k = 1; k <= modes; ++k) {
            Mode mode = make_mode(torsion, k);
            double error[3];
            for (int j = 0; j < 3; ++j) {
                error[j] = frequency(MODELS[m], 10 << j, &mode, integrator) / mode.omega - 1.0;
            }
            double order = 0.5 * log2(fabs(error[0] / error[2]));
            printf("  mode %d: %+.1e %+.1e %+.1e, order %.2f;", k, error[0], error[1], error[2],
                   order);
            // what is right to rounding of the small swing has no order any more
            CHECK(order > 1.9 || fabs(error[2]) < 1.0e-6);
            CHECK_BELOW(fabs(error[2]), k == 1 ? 2.0e-3 : 2.0e-2);
        }
        printf("\n");
    }
}

TEST(modes_in_bending_are_right_with_order_2_in_elements_by_the_midpoint_rule) {
    check_orders(false, REPEATS(3, 1), MODEL_COUNT, TDL_INTEGRATOR_MIDPOINT);
}

TEST(modes_in_bending_are_right_with_order_2_in_elements_by_backward_euler) {
    check_orders(false, REPEATS(3, 1), MODEL_COUNT, TDL_INTEGRATOR_EULER);
}

TEST(modes_in_torsion_are_right_with_order_2_in_elements_by_the_midpoint_rule) {
    check_orders(true, REPEATS(2, 1), TWISTED, TDL_INTEGRATOR_MIDPOINT);
}

TEST(modes_in_torsion_are_right_with_order_2_in_elements_by_backward_euler) {
    check_orders(true, REPEATS(2, 1), TWISTED, TDL_INTEGRATOR_EULER);
}

// How far the tip is from where it is with hardly any time step, over its swing, after a period.
static double time_error(const char* model, const Mode* mode, double size, TdlIntegrator integrator,
                         int steps, double exact) {
    const Rod* rod;
    double dt = 2.0 * PI / mode->omega * 0.8 / steps;
    TdlWorld* world = make_world(model, 8, mode, size, integrator, dt, &rod);
    double start = amount(rod, mode);
    for (int i = 0; i < steps; ++i) {
        CHECK(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
    double end = amount(rod, mode) / start;
    tdl_world_destroy(world);
    return fabs(end - exact);
}

TEST(euler_is_of_first_and_the_midpoint_rule_of_second_order_in_time) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        for (int torsion = 0; torsion < (m < TWISTED ? 2 : 1); ++torsion) {
            Mode mode = make_mode(torsion == 1, 1);
            printf("  %-17s %-8s", MODELS[m], torsion ? "torsion" : "bending");
            for (int integrator = 0; integrator < 2; ++integrator) {
                TdlIntegrator rule = (TdlIntegrator)integrator;
                double end[4];
                for (int j = 0; j < 4; ++j) {
                    end[j] = time_error(MODELS[m], &mode, 1.0e-3, rule, 40 << j, 10.0) - 10.0;
                }
                // of three, each with half the step: the differences fall with the order
                double order = log2(fabs((end[2] - end[1]) / (end[3] - end[2])));
                printf("  %s: order %.2f, moves by %.1e from 80 to 320 steps",
                       rule == 0 ? "euler" : "midpoint", order, fabs(end[3] - end[1]));
                CHECK_NEAR(order, rule == TDL_INTEGRATOR_EULER ? 1.0 : 2.0, 0.15);
            }
            printf("\n");
        }
    }
}

static double energy_of(const TdlWorld* world) {
    TdlEnergy e = tdl_world_energy(world);
    return e.kinetic + e.elastic;
}

// Of the energy that a mode starts with: how much is left, and the most and least on the way.
TEST(the_midpoint_rule_keeps_the_energy_of_a_vibration_over_a_hundred_periods) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        for (int torsion = 0; torsion < (m < TWISTED ? 2 : 1); ++torsion) {
            Mode mode = make_mode(torsion == 1, 1);
            const Rod* rod;
            int periods = REPEATS(100, 10);
            double dt = 2.0 * PI / mode.omega / 100.0, most = 0.0, least = INFINITY;
            TdlWorld* world =
                make_world(MODELS[m], 6, &mode, 1.0e-2, TDL_INTEGRATOR_MIDPOINT, dt, &rod);
            double start = energy_of(world);
            for (int i = 0; i < 100 * periods; ++i) {
                REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
                double now = energy_of(world) / start;
                most = fmax(most, now);
                least = fmin(least, now);
            }
            double left = energy_of(world) / start;
            printf("  %-17s %-8s %.8f left; from %.8f to %.8f on the way\n", MODELS[m],
                   torsion ? "torsion" : "bending", left, least, most);
            CHECK_NEAR(least, 1.0, 1.0e-3);
            CHECK_NEAR(most, 1.0, 1.0e-3);
            tdl_world_destroy(world);
        }
    }
}
