// Rods next to critical loads: statics has to end on the right side of them, in every model, and
// beyond them on the shape that the rod takes.
//
// References, all computed here: Euler's column beyond its load by elliptic integrals, Greenhill's
// and Prandtl's loads by zeros of Bessel functions of their own series, the heavy column beyond its
// load by shooting, and the load at which a hanging curl leaves its plane by integrating the planar
// shape together with its small motions out of the plane.
#include "base/rng.h"
#include "capture.h"
#include "math/rotation.h"
#include "rod/statics.h"
#include "test.h"

static const double PI = 3.14159265358979323846;

// Enough elements that the critical load of the model is within 3e-4 of the exact one where tips
// are compared at 2 % above it.
typedef struct Model {
    const char* name;
    int elements;
} Model;

static const Model MODELS[] = {{"super-helix", 40},    {"super-helix-dense", 40},
                               {"super-clothoid", 20}, {"der", 80},
                               {"mass-spring", 80},    {"corde", 80}};
enum { MODEL_COUNT = 6 };

typedef struct Settled {
    TdlVec3 tip; // from the clamp, over the length
    double out;  // largest distance from the plane y = 0, over the length
    double stability, energy;
} Settled;

static Settled settle(TdlRodDef def, Model model, double gravity) {
    TdlHost host = tdl_host_default();
    TdlVec3 g = {0.0, 0.0, -gravity};
    Rod* rod;
    def.model = model.name;
    def.element_count = model.elements;
    if (rod_create(&host, &def, &rod) != TDL_STATUS_OK) {
        abort();
    }
    double residual;
    Settled out = {0};
    TdlStatus status = rod_settle(&host, rod, g, &residual, &out.stability);
    CHECK_INT(status, TDL_STATUS_OK);
    out.tip = tdl_scale3(1.0 / def.length, rod->model->point(rod, model.elements - 1, 1.0));
    for (int i = 0; i < model.elements; ++i) {
        out.out = fmax(out.out, fabs(rod->model->point(rod, i, 1.0).y) / def.length);
    }
    TdlEnergy energy = rod->model->energy(rod, g);
    out.energy = energy.elastic + energy.gravity;
    rod_destroy(&host, rod);
    return out;
}

// Twisting and bending stiffness of a definition, N m^2.
static TdlVec3 stiffness_of(TdlRodDef def) {
    TdlHost host = tdl_host_default();
    Rod* rod;
    if (rod_create(&host, &def, &rod) != TDL_STATUS_OK) {
        abort();
    }
    TdlVec3 stiffness = rod->stiffness;
    rod_destroy(&host, rod);
    return stiffness;
}

static TdlMat3 upwards(void) {
    return tdl_rotation_exp((TdlVec3){0.0, -0.5 * PI, 0.0});
}

// The first zero of J_-a, whose series is (z/2)^-a sum (-z^2/4)^k / (k! Gamma(k + 1 - a)).
static double bessel_zero(double a) {
    double low = 0.1, high = 2.4;
    for (int i = 0; i < 80; ++i) {
        double z = 0.5 * (low + high), sum = 0.0, term = 1.0;
        for (int k = 0; k < 40; ++k) {
            sum += term;
            term *= -0.25 * z * z / ((k + 1.0) * (k + 1.0 - a));
        }
        *(sum > 0.0 ? &low : &high) = z;
    }
    return low;
}

// --- Euler's column -------------------------------------------------------------------------

// Complete elliptic integrals of the modulus k, by the arithmetic-geometric mean.
static void elliptic(double k, double* K, double* E) {
    double a = 1.0, b = sqrt(1.0 - k * k), c = k, sum = 0.5 * k * k, power = 1.0;
    for (int i = 0; i < 40 && fabs(c) > 1.0e-17; ++i) {
        double next = 0.5 * (a + b);
        c = 0.5 * (a - b);
        b = sqrt(a * b);
        a = next;
        sum += power * c * c;
        power *= 2.0;
    }
    *K = 0.5 * PI / a;
    *E = *K * (1.0 - sum);
}

// Offset and height of the tip over the length, at `load` times Euler's: with k the sine of half
// the tip's angle, load = (2 K / pi)^2, offset = 2 k / K, height = 2 E / K - 1.
static void bent_column(double load, double* offset, double* height) {
    double low = 0.0, high = 1.0 - 1.0e-12, K = 0.5 * PI, E = K;
    for (int i = 0; i < 100; ++i) {
        double k = 0.5 * (low + high);
        elliptic(k, &K, &E);
        *(4.0 * K * K / (PI * PI) < load ? &low : &high) = k;
    }
    *offset = load > 1.0 ? 2.0 * low / K : 0.0;
    *height = load > 1.0 ? 2.0 * E / K - 1.0 : 1.0;
}

static TdlRodDef column(void) {
    TdlRodDef def = tdl_rod_def_default();
    def.length = 1.0;
    def.radius[0] = def.radius[1] = 1.0e-3;
    def.young = 1.0e9;
    def.clamp.rotation = upwards();
    return def;
}

TEST(a_column_bends_beyond_eulers_load_and_not_below) {
    static const double loads[] = {0.98, 1.02, 1.1, 1.5, 2.5};
    TdlRodDef def = column();
    double critical = PI * PI / 4.0 * stiffness_of(def).y / (def.length * def.length);
    for (int m = 0; m < MODEL_COUNT; ++m) {
        printf("  %s, %d elements:", MODELS[m].name, MODELS[m].elements);
        for (int k = 0; k < 5; ++k) {
            TdlRodLoad load = {def.length, {0.0, 0.0, -loads[k] * critical}, {0.0, 0.0, 0.0}};
            def.loads = &load;
            def.load_count = 1;
            double offset, height;
            bent_column(loads[k], &offset, &height);
            Settled at = settle(def, MODELS[m], 0.0);
            double found = hypot(at.tip.x, at.tip.y);
            printf(" %.4f", found);
            if (loads[k] < 1.0) {
                CHECK_BELOW(found, 1.0e-6);
                CHECK(at.stability > 0.015 && at.stability < 0.035); // 0.02, over bending or twist
            } else {
                CHECK_NEAR(found, offset, 0.01 * offset);
                CHECK_NEAR(at.tip.z, height, 0.01);
                CHECK(at.stability > -1.0e-6); // it may still turn about its axis
            }
        }
        printf("\n");
    }
    for (int k = 0; k < 5; ++k) {
        double offset, height;
        bent_column(loads[k], &offset, &height);
        printf("%s%.4f%s", k == 0 ? "  exact: " : " ", offset, k == 4 ? "\n" : "");
    }
}

// --- Greenhill's column ---------------------------------------------------------------------

// The heavy column, lengths over L: theta'' = -weight (1 - s) sin theta from the vertical,
// theta(0) = 0, theta'(1) = 0. From theta'(0) by RK4; returns theta'(1).
static double shoot_column(double weight, double start, double* offset, double* height) {
    enum { STEPS = 2000 };
    double h = 1.0 / STEPS, y[4] = {0.0, start, 0.0, 0.0};
    for (int i = 0; i < STEPS; ++i) {
        double k[4][4];
        for (int j = 0; j < 4; ++j) {
            double c = j == 0 ? 0.0 : j == 3 ? h : 0.5 * h, t[4];
            for (int m = 0; m < 4; ++m) {
                t[m] = y[m] + (j == 0 ? 0.0 : c * k[j - 1][m]);
            }
            k[j][0] = t[1];
            k[j][1] = -weight * (1.0 - i * h - c) * sin(t[0]);
            k[j][2] = sin(t[0]);
            k[j][3] = cos(t[0]);
        }
        for (int m = 0; m < 4; ++m) {
            y[m] += h / 6.0 * (k[0][m] + 2.0 * k[1][m] + 2.0 * k[2][m] + k[3][m]);
        }
    }
    *offset = y[2];
    *height = y[3];
    return y[1];
}

// theta'(1) is negative for small slopes at the start and positive beyond the bent shape's.
static double bent_heavy_column(double weight) {
    double low = 1.0e-3, high = 3.0, offset, height;
    for (int i = 0; i < 60; ++i) {
        double middle = 0.5 * (low + high);
        *(shoot_column(weight, middle, &offset, &height) < 0.0 ? &low : &high) = middle;
    }
    return offset;
}

TEST(a_heavy_column_bends_beyond_greenhills_load_and_not_below) {
    TdlRodDef def = column();
    double z = bessel_zero(1.0 / 3.0), critical = 9.0 / 4.0 * z * z;
    double mass = def.density * PI * def.radius[0] * def.radius[1];
    double unit = stiffness_of(def).y / (mass * pow(def.length, 3.0)); // m/s^2 for weight 1
    double exact = bent_heavy_column(1.01 * critical);
    printf("  critical weight %.4f EI/L^3; exact offset 1 %% above it %.4f L\n", critical, exact);
    CHECK_NEAR(critical, 7.8373, 1.0e-4);
    for (int m = 0; m < MODEL_COUNT; ++m) {
        Settled below = settle(def, MODELS[m], 0.99 * critical * unit);
        Settled above = settle(def, MODELS[m], 1.01 * critical * unit);
        double found = hypot(above.tip.x, above.tip.y);
        printf("  %-17s %d elements: offset %.1e below, %.4f above\n", MODELS[m].name,
               MODELS[m].elements, hypot(below.tip.x, below.tip.y), found);
        CHECK_BELOW(hypot(below.tip.x, below.tip.y), 1.0e-6);
        CHECK(below.stability > 0.0);
        CHECK_NEAR(found, exact, 0.01 * exact);
    }
}

// --- Prandtl's strip ------------------------------------------------------------------------

// A strip on edge, clamped level, bends sideways and twists at P L^2 = 2 z sqrt(B C), z the first
// zero of J_-1/4; a strip 20 times as deep as wide, at a load 0.3 % higher for it bends in its
// plane first. The chain without frames has one bending stiffness, the smaller: it has no such
// strip.
TEST(a_strip_on_edge_falls_sideways_beyond_prandtls_load_and_not_below) {
    TdlRodDef def = tdl_rod_def_default();
    def.length = 1.0;
    def.radius[0] = 0.5e-3;
    def.radius[1] = 10.0e-3;
    def.young = 1.0e9;
    TdlVec3 stiffness = stiffness_of(def);
    double factor = 2.0 * bessel_zero(0.25), B = stiffness.z, C = stiffness.x;
    CHECK_NEAR(factor, 4.0126, 1.0e-4);
    CHECK(stiffness.y > 300.0 * B);
    for (int m = 0; m < MODEL_COUNT; ++m) {
        if (strcmp(MODELS[m].name, "mass-spring") == 0) {
            continue;
        }
        Settled at[2];
        for (int side = 0; side < 2; ++side) {
            double P = (side == 0 ? 0.97 : 1.03) * factor * sqrt(B * C);
            TdlRodLoad load = {def.length, {0.0, 0.0, -P}, {0.0, 0.0, 0.0}};
            def.loads = &load;
            def.load_count = 1;
            at[side] = settle(def, MODELS[m], 0.0);
        }
        printf("  %-17s %d elements: sideways %.1e below, %.3f above\n", MODELS[m].name,
               MODELS[m].elements, at[0].out, at[1].out);
        CHECK_BELOW(at[0].out, 1.0e-6);
        CHECK(at[0].stability > 0.0);
        CHECK(at[1].out > 0.05);
        CHECK(at[1].stability > 0.0);
    }
}

// --- a hanging curl -------------------------------------------------------------------------

// A curl clamped with its tangent down. In its plane, t = (cos a, 0, -sin a), a(0) = pi/2, the
// force of what hangs below is w (L - s) down and the moment m about the second axis obeys a' =
// kappa + m / EI, m' = -w (L - s) cos a. A small turn psi of the frames, with both psi and the
// change mu of the moment in the plane: mu' = -(psi x t) x n, mu = psi x m + R K R' psi',
// psi(0) = 0, mu(L) = 0. The plane is left where two such solutions become dependent.
typedef struct Curl {
    double twisting, natural, weight; // GJ / EI, curvature times L, w L^3 / EI
} Curl;

enum { CURL_STATE = 10, CURL_STEPS = 1000 };

static void curl_slope(const Curl* c, double s, const double y[CURL_STATE],
                       double out[CURL_STATE]) {
    double co = cos(y[0]), si = sin(y[0]), n = -c->weight * (1.0 - s), m = y[1];
    out[0] = c->natural + m;
    out[1] = n * co;
    for (int k = 2; k < CURL_STATE; k += 4) {
        double rx = y[k + 2] + y[k + 1] * m, rz = y[k + 3] - y[k] * m; // mu - psi x m
        double twist = (rx * co - rz * si) / c->twisting, bend = rx * si + rz * co;
        out[k] = twist * co + bend * si;
        out[k + 1] = -twist * si + bend * co;
        out[k + 2] = -(y[k + 1] * co + y[k] * si) * n;
        out[k + 3] = 0.0;
    }
}

static void integrate_curl(const Curl* c, double moment, double y[CURL_STATE]) {
    static const double fraction[4] = {0.0, 0.5, 0.5, 1.0};
    double h = 1.0 / CURL_STEPS, k[4][CURL_STATE], at[CURL_STATE];
    memset(y, 0, CURL_STATE * sizeof *y);
    y[0] = 0.5 * PI;
    y[1] = moment;
    y[4] = y[9] = 1.0;
    for (int i = 0; i < CURL_STEPS; ++i) {
        for (int stage = 0; stage < 4; ++stage) {
            for (int j = 0; j < CURL_STATE; ++j) {
                at[j] = y[j] + (stage > 0 ? fraction[stage] * h * k[stage - 1][j] : 0.0);
            }
            curl_slope(c, (i + fraction[stage]) * h, at, k[stage]);
        }
        for (int j = 0; j < CURL_STATE; ++j) {
            y[j] += h / 6.0 * (k[0][j] + 2.0 * k[1][j] + 2.0 * k[2][j] + k[3][j]);
        }
    }
}

// The clamp's moment by Newton's method from a guess, and the determinant of the motions.
static double curl_determinant(const Curl* c, double* moment) {
    double y[CURL_STATE], up[CURL_STATE], down[CURL_STATE], h = 1.0e-6, change = 1.0;
    for (int i = 0; i < 30 && fabs(change) > 1.0e-12; ++i) {
        integrate_curl(c, *moment, y);
        integrate_curl(c, *moment + h, up);
        integrate_curl(c, *moment - h, down);
        change = y[1] * 2.0 * h / (up[1] - down[1]);
        *moment -= change;
    }
    integrate_curl(c, *moment, y);
    return y[4] * y[9] - y[5] * y[8];
}

// Follows the planar shape from no weight on until it can leave its plane.
static double critical_weight(double twisting, double natural) {
    Curl c = {twisting, natural, 0.0};
    double moment = 0.0, step = 0.25, low = 0.0, kept = 0.0;
    while (curl_determinant(&c, &moment) > 0.0 && c.weight < 400.0) {
        low = c.weight;
        kept = moment;
        c.weight += step;
    }
    double high = c.weight;
    for (int i = 0; i < 30; ++i) {
        c.weight = 0.5 * (low + high);
        moment = kept;
        *(curl_determinant(&c, &moment) > 0.0 ? &low : &high) = c.weight;
    }
    return low;
}

TEST(a_hanging_curl_leaves_its_plane_at_the_load_of_the_exact_solution) {
    static const double turning[] = {6.0, 7.0, 8.0, 9.5, 12.0}; // natural curvature times length
    static const Model models[] = {
        {"super-helix", 40}, {"super-clothoid", 20}, {"der", 80}, {"corde", 80}};
    TdlRodDef def = tdl_rod_def_default();
    def.length = 0.3;
    def.radius[0] = def.radius[1] = 0.3e-3;
    def.young = 1.0e9;
    def.clamp.rotation = tdl_rotation_exp((TdlVec3){0.0, 0.5 * PI, 0.0});
    TdlVec3 stiffness = stiffness_of(def);
    double mass = def.density * PI * def.radius[0] * def.radius[1];
    double unit = stiffness.y / (mass * pow(def.length, 3.0));
    for (int k = 0; k < 5; ++k) {
        double critical = critical_weight(stiffness.x / stiffness.y, turning[k]);
        printf("  turning %g: critical weight %.4f EI/L^3;", turning[k], critical);
        CHECK(critical < 400.0);
        def.natural_curvature = def.curvature = (TdlVec3){0.0, turning[k] / def.length, 0.0};
        for (int m = 0; m < 4; ++m) {
            Settled below = settle(def, models[m], 0.98 * critical * unit);
            Settled above = settle(def, models[m], 1.02 * critical * unit);
            printf(" %s %.0e, %.3f", models[m].name, below.out, above.out);
            CHECK_BELOW(below.out, 1.0e-6);
            CHECK(below.stability > 0.0);
            CHECK(above.out > 0.01);
            CHECK(above.stability > 0.0);
        }
        printf("\n");
    }
}

// --- ends that are held ---------------------------------------------------------------------

// A rod clamped at both ends, its ends brought together, is four columns of Euler's one after the
// other: the chord is (2 E / K - 1) L and the middle lies k L / K beside it.
TEST(a_rod_pressed_between_clamps_bends) {
    TdlHost host = tdl_host_default();
    double chord = 0.95, low = 0.0, high = 0.9, K = 1.0, E = 1.0;
    for (int i = 0; i < 100; ++i) {
        double k = 0.5 * (low + high);
        elliptic(k, &K, &E);
        *(2.0 * E / K - 1.0 > chord ? &low : &high) = k;
    }
    for (int m = 0; m < MODEL_COUNT; ++m) {
        TdlRodDef def = column();
        def.model = MODELS[m].name;
        def.element_count = MODELS[m].elements;
        def.end = TDL_HOLD_CLAMPED;
        Rod* rod;
        REQUIRE(rod_create(&host, &def, &rod) == TDL_STATUS_OK);
        rod->end.now.position = (TdlVec3){0.0, 0.0, chord * def.length};
        rod->end.now.rotation = rod->base.now.rotation;
        rod->end.before = rod->end.now;
        double residual, stability;
        CHECK_INT(rod_settle(&host, rod, (TdlVec3){0}, &residual, &stability), TDL_STATUS_OK);
        TdlVec3 middle = rod->model->point(rod, def.element_count / 2, 0.0);
        printf("  %-17s middle %.4f L beside the chord, exact %.4f; stability %.1e\n",
               MODELS[m].name, hypot(middle.x, middle.y), low / K, stability);
        CHECK_NEAR(hypot(middle.x, middle.y), low / K, 0.01 * low / K);
        rod_destroy(&host, rod);
    }
}

// --- several minima -------------------------------------------------------------------------

// A heavy curl of five elements, clamped level and curling upwards, has two stable shapes. Let go
// from its natural shape under its whole weight it falls into the upper one; loaded slowly it goes
// to the lower one, below which no start leads.
TEST(a_rod_in_its_natural_shape_is_loaded_slowly) {
    TdlRodDef def = tdl_rod_def_default();
    Model five = {"super-helix", 5};
    def.length = 0.3;
    def.radius[0] = def.radius[1] = 0.3e-3;
    def.young = 1.0e9;
    def.clamp.rotation = tdl_rotation_exp((TdlVec3){0.0, PI, 0.0});
    TdlVec3 natural = {0.0, 18.0 / def.length, 0.0};
    def.natural_curvature = natural;
    double mass = def.density * PI * def.radius[0] * def.radius[1];
    double gravity = 290.0 * stiffness_of(def).y / (mass * pow(def.length, 3.0));
    double unit = mass * def.length * def.length * gravity;

    def.curvature = natural;
    Settled slowly = settle(def, five, gravity);
    def.curvature = tdl_scale3(1.0 + 1.0e-5, natural);
    Settled at_once = settle(def, five, gravity);
    double lowest = INFINITY;
    Rng rng = rng_seed(5);
    for (int k = 0; k < 30; ++k) {
        double kappa = natural.y;
        def.curvature =
            (TdlVec3){rng_range(&rng, -0.1, 0.1) * kappa, rng_range(&rng, -0.6, 1.4) * kappa,
                      rng_range(&rng, -0.5, 0.5) * kappa};
        lowest = fmin(lowest, settle(def, five, gravity).energy);
    }
    printf("  energy over weight times length: slowly %.6f, at once %.6f, lowest of 30 %.6f\n",
           slowly.energy / unit, at_once.energy / unit, lowest / unit);
    CHECK(at_once.energy > slowly.energy + 1.0e-3 * unit);
    CHECK(at_once.stability > 0.0 && slowly.stability > 0.0);
    CHECK_NEAR(slowly.energy, lowest, 1.0e-9 * unit);
}

// The chain without frames may curve any way at every vertex, so its hanging curl is not one of the
// other models'. It still ends in a stable shape, wherever that is.
TEST(curls_without_frames_end_in_stable_shapes) {
    TdlRodDef def = tdl_rod_def_default();
    Model chain = {"mass-spring", 20};
    def.length = 0.3;
    def.radius[0] = def.radius[1] = 0.3e-3;
    def.young = 1.0e9;
    double mass = def.density * PI * def.radius[0] * def.radius[1];
    double unit = stiffness_of(def).y / (mass * pow(def.length, 3.0));
    for (int side = 0; side < 3; ++side) {
        def.clamp.rotation = tdl_rotation_exp((TdlVec3){0.0, 0.5 * PI * side, 0.0});
        for (double turning = 6.0; turning < 13.0; turning += 3.0) {
            def.natural_curvature = def.curvature = (TdlVec3){0.0, turning / def.length, 0.0};
            Settled at = settle(def, chain, 30.0 * unit);
            printf("  clamp %d x 90 degrees, turning %g: stability %.1e\n", side, turning,
                   at.stability);
            CHECK(at.stability > -1.0e-6);
        }
    }
}

// --- what counts as stable ------------------------------------------------------------------

// The load at which the straight column of a model has no stiffness left: its smallest eigenvalue
// falls linearly with the load.
static double own_critical(TdlRodDef def, Model model, double load) {
    double value[2];
    for (int k = 0; k < 2; ++k) {
        TdlRodLoad push = {def.length, {0.0, 0.0, -(k == 0 ? 0.97 : 0.98) * load}, {0.0, 0.0, 0.0}};
        def.loads = &push;
        def.load_count = 1;
        value[k] = settle(def, model, 0.0).stability;
    }
    return load * (0.97 * value[1] - 0.98 * value[0]) / (value[1] - value[0]);
}

TEST(exactly_critical_is_no_error) {
    TdlRodDef def = column();
    double euler = PI * PI / 4.0 * stiffness_of(def).y / (def.length * def.length);
    for (int m = 0; m < MODEL_COUNT; ++m) {
        double critical = own_critical(def, MODELS[m], euler);
        printf("  %-17s own load %.5f of Euler's; stability there", MODELS[m].name,
               critical / euler);
        CHECK_NEAR(critical, euler, 1.0e-3 * euler);
        for (int k = -1; k <= 1; ++k) {
            TdlRodLoad load = {
                def.length, {0.0, 0.0, -(1.0 + 1.0e-8 * k) * critical}, {0.0, 0.0, 0.0}};
            def.loads = &load;
            def.load_count = 1;
            Settled at = settle(def, MODELS[m], 0.0); // which checks the status
            printf(" %.1e", at.stability);
            CHECK_BELOW(fabs(at.stability), 1.0e-4);
        }
        printf("\n");
    }
}

// A way that gives up where it is told to.
static double given_lowest;

static Equilibrium give_up(Loading* loading, double* memory) {
    (void)loading, (void)memory;
    return (Equilibrium){.lowest = given_lowest};
}

static size_t no_memory(const Rod* root) {
    (void)root;
    return 1;
}

static double turns_little(Loading* loading, double* memory) {
    (void)loading, (void)memory;
    return 0.0;
}

TEST(a_saddle_is_an_error_that_names_it) {
    static const struct {
        double lowest;
        TdlStatus status;
    } cases[] = {{0.5, TDL_STATUS_OK},
                 {-5.0e-7, TDL_STATUS_OK}, // what a neutral motion may have
                 {-2.0e-6, TDL_STATUS_DIVERGED},
                 {-0.125, TDL_STATUS_DIVERGED},
                 {NAN, TDL_STATUS_DIVERGED}};
    RodStatics way = {no_memory, give_up, turns_little};
    RodModel model = SUPER_HELIX_DENSE;
    model.own_statics = &way;
    for (int k = 0; k < 5; ++k) {
        Capture capture;
        TdlHost host = capture_host(&capture);
        TdlRodDef def = tdl_rod_def_default();
        def.model = "super-helix-dense";
        Rod* rod;
        REQUIRE(rod_create(&host, &def, &rod) == TDL_STATUS_OK);
        rod->model = &model;
        double residual, stability;
        given_lowest = cases[k].lowest;
        CHECK_INT(rod_settle(&host, rod, (TdlVec3){0}, &residual, &stability), cases[k].status);
        CHECK(stability == cases[k].lowest || isnan(cases[k].lowest));
        if (k == 3) {
            CHECK(strstr(capture.text, "saddle") != NULL && strstr(capture.text, "-0.125") != NULL);
        }
        rod->model = &SUPER_HELIX_DENSE;
        rod_destroy(&host, rod);
    }
}
