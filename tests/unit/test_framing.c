// Frames of rods from their centrelines, and natural curvatures of framed curves.
// inverse-poses.md (V.80) to (V.90)
#include "base/rng.h"
#include "math/rotation.h"
#include "rod/rod.h"
#include "tendril/inverse.h"
#include "test.h"

enum { PLACES_MAX = 1281 };

static const double PI = 3.14159265358979323846;

// --- a smooth rod: all that is told of it is a function of s in [0, 1] --------------------------

static TdlVec3 wavy_reference(double s) {
    return (TdlVec3){0.4 * sin(3.0 * s), 1.5 + cos(4.0 * s), 2.0 * sin(2.0 * s + 0.3)};
}

static TdlVec3 wavy_natural(double s) {
    return (TdlVec3){0.5 - s * s, 1.0 + 0.5 * sin(5.0 * s), -0.8 * cos(s)};
}

typedef struct Sample {
    TdlVec3 reference[PLACES_MAX], natural[PLACES_MAX];
    double theta[PLACES_MAX];
    TdlFramingDef def;
} Sample;

static void fill(Sample* x, int count, TdlVec3 stiffness, double start) {
    for (int i = 0; i < count; ++i) {
        x->reference[i] = wavy_reference(i / (count - 1.0));
        x->natural[i] = wavy_natural(i / (count - 1.0));
    }
    x->def = (TdlFramingDef){1.0, count, x->reference, x->natural, stiffness, start};
}

// (4.19) of theta plus e times a bump, with derivatives by differences of fourth order.
static double energy(const Sample* x, const double* bump, double e) {
    static double at[PLACES_MAX];
    int n = x->def.count;
    double h = x->def.length / (n - 1), sum = 0.0;
    for (int i = 0; i < n; ++i) {
        at[i] = x->theta[i] + e * bump[i];
    }
    for (int i = 0; i < n; ++i) {
        int j = i < 2 ? 2 : i > n - 3 ? n - 3 : i;
        const double* t = at + j;
        double rate = 0.0; // of the quartic through five places
        static const double w[5][5] = {{-25, 48, -36, 16, -3},
                                       {-3, -10, 18, -6, 1},
                                       {1, -8, 0, 8, -1},
                                       {-1, 6, -18, 10, 3},
                                       {3, -16, 36, -48, 25}};
        for (int k = 0; k < 5; ++k) {
            rate += w[i - j + 2][k] * t[k - 2] / (12.0 * h);
        }
        double c = cos(at[i]), s = sin(at[i]);
        TdlVec3 r = x->reference[i], m = x->natural[i], K = x->def.stiffness;
        double k0 = r.x + rate - m.x, k1 = c * r.y + s * r.z - m.y, k2 = c * r.z - s * r.y - m.z;
        double share = i == 0 || i == n - 1 ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
        sum += share * h / 6.0 * (K.x * k0 * k0 + K.y * k1 * k1 + K.z * k2 * k2);
    }
    return sum;
}

static TdlStatus solve(Sample* x, int rank, TdlFraming* out) {
    TdlHost host = tdl_host_default();
    return tdl_framing_solve(&host, &x->def, rank, x->theta, out);
}

TEST(bad_input_is_refused) {
    static Sample x;
    TdlFraming out;
    fill(&x, 21, (TdlVec3){1, 2, 3}, 0.0);
    TdlFramingDef good = x.def;
    CHECK_INT(solve(&x, 0, &out), TDL_STATUS_OK);
    CHECK_INT(solve(&x, -1, &out), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(solve(&x, out.solution_count + 1, &out), TDL_STATUS_BAD_ARGUMENT);
    x.def.count = 20;
    CHECK_INT(solve(&x, 0, &out), TDL_STATUS_BAD_ARGUMENT);
    x.def = good;
    x.def.length = 0.0;
    CHECK_INT(solve(&x, 0, &out), TDL_STATUS_BAD_ARGUMENT);
    x.def = good;
    x.def.stiffness.y = -1.0;
    CHECK_INT(solve(&x, 0, &out), TDL_STATUS_BAD_ARGUMENT);
    x.def = good;
    x.natural[3].z = NAN;
    CHECK_INT(solve(&x, 0, &out), TDL_STATUS_BAD_ARGUMENT);
    TdlMat3 frame = tdl_identity33();
    TdlVec3 turn = {NAN, 0, 0}, kappa;
    CHECK_INT(tdl_helix_frames(frame, &turn, 1, 1.0, NULL, &kappa), TDL_STATUS_BAD_ARGUMENT);
    turn.x = 0.0;
    CHECK_INT(tdl_helix_frames(frame, &turn, 0, 1.0, NULL, &kappa), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_helix_frames(frame, &turn, 1, 0.0, NULL, &kappa), TDL_STATUS_BAD_ARGUMENT);
    frame.cx.x = 2.0;
    CHECK_INT(tdl_helix_frames(frame, &turn, 1, 1.0, NULL, &kappa), TDL_STATUS_BAD_ARGUMENT);
}

// Turned from the world's side or from the rod's own, it is the same chain.
TEST(frames_of_a_piecewise_helix) {
    enum { N = 200 };
    TdlVec3 turns[N], kappa[N];
    TdlMat3 frames[N + 1];
    Rng rng = rng_seed(5);
    for (int i = 0; i < N; ++i) {
        turns[i] = (TdlVec3){rng_normal(&rng), rng_normal(&rng), i % 7 == 0 ? 0.0 : 1.0};
    }
    TdlMat3 R = tdl_rotation_exp((TdlVec3){0.3, -2.0, 1.0});
    CHECK_INT(tdl_helix_frames(R, turns, N, 0.02, frames, kappa), TDL_STATUS_OK);
    for (int i = 0; i <= N; ++i) {
        // 200 products of rotations on both sides, some five roundings each
        CHECK_NEAR3(frames[i].cx, R.cx, 3.0e-13);
        CHECK_NEAR3(frames[i].cy, R.cy, 3.0e-13);
        if (i < N) {
            R = tdl_mul33(R, tdl_rotation_exp(tdl_scale3(0.02, kappa[i])));
        }
    }
}

// Random bumps that are zero at the start: the energy does not change at first order, and grows at
// second. The first difference is what is left of the discrete energy's error, h^4, and falls so.
TEST(a_solution_is_a_minimum_of_the_energy) {
    static Sample x;
    static double bump[PLACES_MAX];
    double worst[2] = {0.0, 0.0};
    for (int fine = 0; fine < 2; ++fine) {
        Rng rng = rng_seed(9);
        int n = fine ? 321 : 161;
        TdlFraming out;
        fill(&x, n, (TdlVec3){0.7, 1.0, 3.0}, 0.4);
        REQUIRE(solve(&x, 0, &out) == TDL_STATUS_OK);
        CHECK_INT(out.saddle_count, 0);
        CHECK(out.complete);
        CHECK_BELOW(out.residual, 1.0e-9); // rounding of second differences: eps / h^2
        CHECK_NEAR(out.energy, energy(&x, x.theta, 0.0), 1.0e-6 * out.energy);
        CHECK_NEAR(x.theta[0], 0.4, 0.0);
        for (int trial = 0; trial < 20; ++trial) {
            double a = rng_normal(&rng), b = rng_normal(&rng), c = rng_range(&rng, 1.0, 6.0);
            for (int i = 0; i < n; ++i) {
                double s = i / (n - 1.0);
                bump[i] = a * sin(c * s) + b * s;
            }
            for (double e = 1.0e-3; e > 5.0e-6; e *= 0.1) {
                double up = energy(&x, bump, e), down = energy(&x, bump, -e);
                double here = energy(&x, bump, 0.0);
                worst[fine] = fmax(worst[fine], fabs(up - down) / (2.0 * e) - 20.0 * e * e);
                CHECK(up + down - 2.0 * here > 0.0);
            }
        }
    }
    printf("  slope of the energy: %.2e, %.2e with half the spacing\n", worst[0], worst[1]);
    CHECK_BELOW(worst[0], 1.0e-5);
    CHECK_BELOW(worst[1], worst[0] / 8.0);
}

// K0 theta'' + A cos^2 + B cos sin + C cos + D sin + E, as printed with the factor K0; twists are
// differentiated here on paper.
TEST(the_printed_equation_holds) {
    static Sample x;
    double before = 0.0;
    for (int n = 81; n <= 321; n = 2 * n - 1) {
        TdlFraming out;
        TdlVec3 K = {0.7, 1.0, 3.0};
        fill(&x, n, K, 0.4);
        REQUIRE(solve(&x, 0, &out) == TDL_STATUS_OK);
        double h = 1.0 / (n - 1), worst = 0.0;
        for (int i = 8; i < n - 8; ++i) {
            TdlVec3 r = x.reference[i], m = x.natural[i];
            const double* t = x.theta + i; // differences over pairs: elements are two intervals
            double second =
                (-t[4] + 16.0 * t[2] - 30.0 * t[0] + 16.0 * t[-2] - t[-4]) / (48.0 * h * h);
            double s = i * h, uneven = K.z - K.y, c = cos(t[0]), sine = sin(t[0]);
            double A = 2.0 * uneven * r.y * r.z, B = uneven * (r.z * r.z - r.y * r.y);
            double C = K.y * r.z * m.y - K.z * r.y * m.z, D = -(K.y * r.y * m.y + K.z * r.z * m.z);
            double E = -uneven * r.y * r.z + K.x * (1.2 * cos(3.0 * s) + 2.0 * s);
            double left = K.x * second + A * c * c + B * c * sine + C * c + D * sine + E;
            worst = fmax(worst, fabs(left));
        }
        printf("  %3d places: %.2e\n", n, worst);
        CHECK(before == 0.0 || worst < before / 11.0);
        before = worst;
    }
    CHECK_BELOW(before, 1.0e-4);
}

TEST(order_four) {
    static Sample fine, x;
    TdlFraming out;
    TdlVec3 K = {0.7, 1.0, 3.0};
    fill(&fine, PLACES_MAX, K, 0.4);
    REQUIRE(solve(&fine, 0, &out) == TDL_STATUS_OK);
    double before = 0.0;
    for (int n = 21; n <= 161; n = 2 * n - 1) {
        fill(&x, n, K, 0.4);
        REQUIRE(solve(&x, 0, &out) == TDL_STATUS_OK);
        double worst = 0.0;
        for (int i = 0; i < n; ++i) {
            worst = fmax(worst, fabs(x.theta[i] - fine.theta[i * ((PLACES_MAX - 1) / (n - 1))]));
        }
        printf("  %3d places: %.2e rad\n", n, worst);
        CHECK(before == 0.0 || worst < before / 12.0);
        before = worst;
    }
}

// The frame of a round rod without natural curvature does not twist.
TEST(round_and_straight_gives_bishop) {
    static Sample x;
    TdlFraming out;
    fill(&x, 161, (TdlVec3){0.5, 2.0, 2.0}, -1.0);
    for (int i = 0; i < 161; ++i) {
        x.natural[i] = (TdlVec3){0};
    }
    REQUIRE(solve(&x, 0, &out) == TDL_STATUS_OK);
    CHECK_INT(out.solution_count, 1);
    CHECK(out.complete);
    for (int i = 0; i < 161; ++i) { // theta' = -0.4 sin 3s, by Simpson's rule: h^4 / 180 f''''
        double s = i / 160.0, exact = -1.0 - 0.4 * (1.0 - cos(3.0 * s)) / 3.0;
        CHECK_NEAR(x.theta[i], exact, 1.0e-9);
    }
}

// A round rod on a circle, with a natural circle that looks the other way: a pendulum upside down.
// Its angle 0 is a solution; each quarter wave that fits in adds two more.
TEST(all_solutions_are_found) {
    static Sample x;
    TdlHost host = tdl_host_default();
    for (double waves = 0.2; waves < 3.0; waves += 0.4) {
        double w = waves * PI;         // omega L, with K0 = K k kn / omega^2
        int more = (int)(waves + 0.5); // n with (n - 1/2) pi < omega L
        for (int i = 0; i < 201; ++i) {
            x.reference[i] = (TdlVec3){0, 0, 2.0};
            x.natural[i] = (TdlVec3){0, 0, -3.0};
        }
        x.def = (TdlFramingDef){1.0, 201, x.reference, x.natural, {6.0 / (w * w), 1, 1}, 0.0};
        TdlFraming out, last;
        REQUIRE(solve(&x, 0, &out) == TDL_STATUS_OK);
        CHECK_INT(out.solution_count, 1 + 2 * more);
        CHECK(out.complete);
        CHECK_INT(out.saddle_count, 0);
        double before = -INFINITY;
        for (int rank = 0; rank < out.solution_count; ++rank) {
            REQUIRE(tdl_framing_solve(&host, &x.def, rank, x.theta, &last) == TDL_STATUS_OK);
            CHECK(last.energy >= before - 1.0e-9);
            CHECK_BELOW(last.residual, 1.0e-9);
            before = last.energy;
        }
        // the upright pendulum is the worst of them
        CHECK_INT(last.saddle_count, more);
        CHECK_NEAR(x.theta[200], 0.0, 1.0e-9);
    }
}

// --- rods of the project --------------------------------------------------------------------

static Rod* make_rod(int elements, double young) {
    TdlHost host = tdl_host_default();
    TdlRodDef def = tdl_rod_def_default();
    def.model = "super-clothoid";
    def.length = 0.2;
    def.radius[0] = 0.6e-3;
    def.radius[1] = 1.0e-3;
    def.young = young;
    def.element_count = elements;
    def.natural_curvature = (TdlVec3){5.0, 10.0, -4.0};
    def.curvature = def.natural_curvature;
    Rod* rod;
    if (rod_create(&host, &def, &rod) != TDL_STATUS_OK) {
        abort();
    }
    return rod;
}

// The frame of a settled rod is found again from its centreline: the better, the finer the rod.
TEST(the_frame_of_a_settled_rod) {
    static Sample x;
    TdlHost host = tdl_host_default();
    double before = 0.0;
    for (int elements = 8; elements <= 32; elements *= 2) {
        Rod* rod = make_rod(elements, 2.0e7);
        double residual, stability, angle[33], worst = 0.0, l = 0.2 / elements;
        REQUIRE(rod_settle(&host, rod, (TdlVec3){0, 0, -9.81}, &residual, &stability) ==
                TDL_STATUS_OK);
        for (int i = 0; i <= elements; ++i) { // in the frame that does not twist
            TdlVec3 k = tdl_scale3(1.0 / l, tdl_load3(rod->q, i));
            double twist = i == 0 ? 0.0 : 0.5 * (rod->q[3 * i] + rod->q[3 * i - 3]);
            angle[i] = i == 0 ? 0.0 : angle[i - 1] + twist;
            double c = cos(angle[i]), s = sin(angle[i]);
            x.reference[i] = (TdlVec3){0.0, c * k.y - s * k.z, c * k.z + s * k.y};
            x.natural[i] = (TdlVec3){5.0, 10.0, -4.0};
        }
        x.def = (TdlFramingDef){0.2, elements + 1, x.reference, x.natural, rod->stiffness, 0.0};
        TdlFraming out;
        REQUIRE(solve(&x, 0, &out) == TDL_STATUS_OK);
        for (int i = 0; i <= elements; ++i) {
            worst = fmax(worst, fabs(x.theta[i] - angle[i]));
        }
        printf("  %2d elements: %.2e of %.2f rad\n", elements, worst, fabs(angle[elements]));
        CHECK_INT(out.saddle_count, 0);
        CHECK(before == 0.0 || worst < before / 3.0); // a rod of order 2 at least
        before = worst;
        rod_destroy(&host, rod);
    }
    CHECK_BELOW(before, 5.0e-3);
}

// --- natural curvature ----------------------------------------------------------------------

static const TdlVec3 STIFF = {0.7e-5, 1.0e-5, 3.0e-5}, GRAVITY = {0, 0, -9.81};
static const double LENGTH = 0.3, DENSITY = 4.0e-3;

static TdlVec3 shape_kappa(double s) { // s in [0, 1]; 1/m
    return (TdlVec3){4.0 * sin(3.0 * s), 6.0 + 9.0 * cos(4.0 * s), 8.0 * sin(2.0 * s)};
}

// The curve of shape_kappa at `count` places: steps of Magnus of fourth order, `fine` to an
// interval; places by Simpson's rule on frames of half steps.
static void make_curve(int count, int fine, TdlPose* pose, TdlVec3* kappa) {
    double h = LENGTH / ((count - 1.0) * fine), third = sqrt(3.0) / 6.0;
    TdlPose at = {{0.1, -0.2, 0.3}, tdl_rotation_exp((TdlVec3){0.2, -0.9, 0.4})};
    for (int i = 0; i < count; ++i) {
        pose[i] = at;
        kappa[i] = shape_kappa(i / (count - 1.0));
        for (int k = 0; k < fine && i + 1 < count; ++k) {
            TdlMat3 R[3] = {at.rotation};
            for (int half = 0; half < 2; ++half) {
                double s = ((i * fine + k) * h + 0.5 * half * h) / LENGTH, w = 0.5 * h;
                TdlVec3 a = shape_kappa(s + w * (0.5 - third) / LENGTH);
                TdlVec3 b = shape_kappa(s + w * (0.5 + third) / LENGTH);
                TdlVec3 q = tdl_scale3(0.5 * w, tdl_add3(a, b));
                q = tdl_axpy3(q, w * w * third / 2.0, tdl_cross3(a, b));
                R[half + 1] = tdl_mul33(R[half], tdl_rotation_exp(q));
            }
            TdlVec3 sum = tdl_axpy3(tdl_add3(R[0].cx, R[2].cx), 4.0, R[1].cx);
            at = (TdlPose){tdl_axpy3(at.position, h / 6.0, sum), R[2]};
        }
    }
}

static TdlVec3 times(TdlVec3 K, TdlVec3 a) {
    return (TdlVec3){K.x * a.x, K.y * a.y, K.z * a.z};
}

// kbar' as the ODE (4.22) has it, with kappa' by differences.
static TdlVec3 ode_rate(double s, TdlMat3 R, TdlVec3 natural) {
    TdlVec3 k = shape_kappa(s), K = STIFF, inverse = {1.0 / K.x, 1.0 / K.y, 1.0 / K.z};
    double e = 1.0e-4;
    TdlVec3 near = tdl_sub3(shape_kappa(s + e), shape_kappa(s - e));
    TdlVec3 wide = tdl_sub3(shape_kappa(s + 2.0 * e), shape_kappa(s - 2.0 * e));
    TdlVec3 rate =
        tdl_scale3(1.0 / (12.0 * e * LENGTH), tdl_axpy3(tdl_scale3(8.0, near), -1.0, wide));
    TdlVec3 T = tdl_tmul33_3(R, tdl_scale3(DENSITY * (1.0 - s) * LENGTH, GRAVITY));
    TdlVec3 b = {k.y * k.z * (K.z - K.y), k.x * k.z * (K.x - K.z) - T.z,
                 k.x * k.y * (K.y - K.x) + T.y};
    TdlVec3 turned = times(inverse, tdl_cross3(k, times(K, natural)));
    return tdl_add3(tdl_sub3(rate, turned), times(inverse, b));
}

// The closed solution against the ODE from the tip to the start, by Runge and Kutta.
TEST(natural_curvature_agrees_with_the_equation) {
    enum { N = 401 };
    static TdlPose pose[N];
    static TdlVec3 kappa[N], natural[N];
    make_curve(N, 2, pose, kappa);
    TdlFramedCurve curve = {LENGTH, N, pose, kappa, STIFF, DENSITY, NULL, 0};
    REQUIRE(tdl_curve_natural(&curve, GRAVITY, natural) == TDL_STATUS_OK);
    TdlVec3 at = kappa[N - 1];
    double worst = 0.0, h = -2.0 * LENGTH / (N - 1), far = 0.0;
    CHECK_NEAR3(natural[N - 1], at, 1.0e-12);
    for (int i = N - 1; i >= 2; i -= 2) {
        double s = i / (N - 1.0), m = (i - 1) / (N - 1.0), e = (i - 2) / (N - 1.0);
        TdlVec3 a = ode_rate(s, pose[i].rotation, at);
        TdlVec3 b = ode_rate(m, pose[i - 1].rotation, tdl_axpy3(at, 0.5 * h, a));
        TdlVec3 c = ode_rate(m, pose[i - 1].rotation, tdl_axpy3(at, 0.5 * h, b));
        TdlVec3 d = ode_rate(e, pose[i - 2].rotation, tdl_axpy3(at, h, c));
        at = tdl_axpy3(tdl_axpy3(at, h / 6.0, tdl_add3(a, d)), h / 3.0, tdl_add3(b, c));
        worst = fmax(worst, tdl_norm3(tdl_sub3(at, natural[i - 2])));
        far = fmax(far, tdl_norm3(tdl_sub3(at, kappa[i - 2])));
    }
    printf("  apart by %.2e of %.1f 1/m\n", worst, far);
    CHECK_BELOW(worst, 1.0e-7 * far); // h^4 of Runge and Kutta
}

// Against the obvious double sum, with point loads.
TEST(natural_curvature_under_loads) {
    enum { FINE = 1025 };
    static TdlPose pose[FINE];
    static TdlVec3 kappa[FINE], natural[FINE];
    TdlRodLoad loads[2] = {{LENGTH, {1.0e-3, 0, 2.0e-3}, {1.0e-5, 0, 0}},
                           {0.3 * LENGTH, {0, 5.0e-3, 0}, {0, 0, 0}}};
    TdlFramedCurve curve = {LENGTH, FINE, pose, kappa, STIFF, DENSITY, loads, 2};
    make_curve(FINE, 1, pose, kappa);
    REQUIRE(tdl_curve_natural(&curve, GRAVITY, natural) == TDL_STATUS_OK);
    for (int i = 0; i < FINE; i += 256) { // an even number of intervals beyond: Simpson's rule
        TdlVec3 M = {0}, at = pose[i].position;
        double h = LENGTH / (FINE - 1.0);
        for (int j = i; j < FINE && i < FINE - 1; ++j) {
            double share = j == i || j == FINE - 1 ? 1.0 : (j - i) % 2 == 1 ? 4.0 : 2.0;
            TdlVec3 weight = tdl_scale3(share * h / 3.0 * DENSITY, GRAVITY);
            M = tdl_add3(M, tdl_cross3(tdl_sub3(pose[j].position, at), weight));
        }
        TdlVec3 tip = tdl_sub3(pose[FINE - 1].position, at);
        M = tdl_add3(M, tdl_add3(tdl_cross3(tip, loads[0].force), loads[0].torque));
        if (i * h <= loads[1].at) {
            // 0.3 of the way is no place: between two of them
            double u = 0.3 * (FINE - 1) - 307.0;
            TdlVec3 place =
                tdl_axpy3(tdl_scale3(1.0 - u, pose[307].position), u, pose[308].position);
            M = tdl_add3(M, tdl_cross3(tdl_sub3(place, at), loads[1].force));
        }
        TdlVec3 m = times(STIFF, tdl_sub3(kappa[i], natural[i]));
        CHECK_NEAR3(tdl_mul33_3(pose[i].rotation, m), M, 1.0e-9); // the chord of that interval
    }
}

TEST(natural_curvature_of_order_six) {
    enum { FINE = 1025 };
    static TdlPose pose[FINE];
    static TdlVec3 kappa[FINE], all[FINE], some[FINE];
    TdlFramedCurve curve = {LENGTH, FINE, pose, kappa, STIFF, DENSITY, NULL, 0};
    make_curve(FINE, 1, pose, kappa);
    REQUIRE(tdl_curve_natural(&curve, GRAVITY, all) == TDL_STATUS_OK);
    double before = 0.0;
    for (int n = 9; n <= 33; n = 2 * n - 1) {
        int skip = (FINE - 1) / (n - 1);
        double worst = 0.0;
        make_curve(n, skip, pose, kappa);
        curve.count = n;
        REQUIRE(tdl_curve_natural(&curve, GRAVITY, some) == TDL_STATUS_OK);
        for (int i = 0; i < n; ++i) {
            worst = fmax(worst, tdl_norm3(tdl_sub3(some[i], all[i * skip])));
        }
        printf("  %2d places: %.2e 1/m\n", n, worst);
        CHECK(before == 0.0 || worst < before / 40.0);
        before = worst;
    }
    curve.count = 1;
    CHECK_INT(tdl_curve_natural(&curve, GRAVITY, some), TDL_STATUS_BAD_ARGUMENT);
    curve.count = 9;
    curve.line_density = NAN;
    CHECK_INT(tdl_curve_natural(&curve, GRAVITY, some), TDL_STATUS_BAD_ARGUMENT);
}

// A rod that is given the shape and the natural curvature of it stays there, but for its elements.
TEST(a_rod_made_so_stays) {
    static TdlPose pose[65];
    static TdlVec3 kappa[65], natural[65];
    TdlHost host = tdl_host_default();
    double before = 0.0;
    for (int elements = 8; elements <= 32; elements *= 2) {
        double l = 0.2 / elements, residual, stability;
        make_curve(elements + 1, 1024 / elements, pose, kappa);
        Rod* rod = make_rod(elements, 2.0e8);
        for (int i = 0; i <= elements; ++i) { // the same curve, at two thirds of its size
            pose[i].position = tdl_scale3(0.2 / LENGTH, pose[i].position);
            kappa[i] = tdl_scale3(LENGTH / 0.2, kappa[i]);
        }
        TdlFramedCurve curve = {
            0.2, elements + 1, pose, kappa, rod->stiffness, rod->line_density, NULL, 0};
        REQUIRE(tdl_curve_natural(&curve, GRAVITY, natural) == TDL_STATUS_OK);
        rod->base.now = rod->base.before = pose[0];
        for (int i = 0; i <= elements; ++i) {
            tdl_store3(rod->q, i, tdl_scale3(l, kappa[i]));
            tdl_store3(rod->q_rest, i, tdl_scale3(l, natural[i]));
        }
        rod_stop(rod);
        TdlVec3 start = rod->model->point(rod, elements - 1, 1.0);
        REQUIRE(rod_settle(&host, rod, GRAVITY, &residual, &stability) == TDL_STATUS_OK);
        TdlVec3 end = rod->model->point(rod, elements - 1, 1.0);
        double moved = tdl_norm3(tdl_sub3(start, end)) / 0.2;
        printf("  %2d elements: tip moves by %.2e of the length\n", elements, moved);
        CHECK(before == 0.0 || moved < before / 3.0);
        before = moved;
        rod_destroy(&host, rod);
    }
    CHECK_BELOW(before, 2.0e-4);
}
