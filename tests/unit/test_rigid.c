// Rigid bodies: mass against integration of the body itself, motion against closed forms and an
// independent fine solution, and the borders.
#include "rigid/rigid.h"

#include "base/hash.h"
#include "base/rng.h"
#include "capture.h"
#include "counting_allocator.h"
#include "curve/curve.h"
#include "math/gauss.h"
#include "math/rotation.h"
#include "test.h"

static const double PI = 3.14159265358979323846;

static TdlRigidDef plain_def(TdlRigidShape shape) {
    return (TdlRigidDef){.shape = shape,
                         .radius = 0.01,
                         .length = 0.05,
                         .half = {0.03, 0.05, 0.02},
                         .density = 1000.0,
                         .pose.rotation = tdl_identity33()};
}

static Rigid* make(const TdlRigidDef* def) {
    TdlHost host = tdl_host_default();
    Rigid* rigid = NULL;
    if (rigid_create(&host, def, &rigid) != TDL_STATUS_OK) {
        FAIL("rigid refused");
    }
    return rigid;
}

static void destroy(Rigid* rigid) {
    TdlHost host = tdl_host_default();
    rigid_destroy(&host, rigid);
}

// --- mass ------------------------------------------------------------------------------------

// Volume and the second moments x^2, y^2, z^2.
typedef struct Moments {
    double volume, square[3];
} Moments;

// The points within r of a box (a, b, c): column by column along z, over one eighth. Beyond the
// core the angle is the variable, so that the integrands are smooth.
static Moments rounded_box(double a, double b, double c, double r) {
    enum { PARTS = 4 };
    Moments m = {0};
    for (int i = 0; i < 2 * PARTS * GAUSS12_COUNT; ++i) {
        double u = (i / GAUSS12_COUNT % PARTS + GAUSS12_POINT[i % GAUSS12_COUNT]) / PARTS;
        double wu = GAUSS12_WEIGHT[i % GAUSS12_COUNT] / PARTS, x, wx, rho;
        if (i < PARTS * GAUSS12_COUNT) {
            x = a * u, wx = a * wu, rho = r;
        } else {
            double angle = 0.5 * PI * u;
            x = a + r * sin(angle), rho = r * cos(angle), wx = 0.5 * PI * wu * rho;
        }
        for (int j = 0; j < 2 * PARTS * GAUSS12_COUNT; ++j) {
            double v = (j / GAUSS12_COUNT % PARTS + GAUSS12_POINT[j % GAUSS12_COUNT]) / PARTS;
            double wv = GAUSS12_WEIGHT[j % GAUSS12_COUNT] / PARTS, y, wy, z;
            if (j < PARTS * GAUSS12_COUNT) {
                y = b * v, wy = b * wv, z = c + rho;
            } else {
                double angle = 0.5 * PI * v;
                y = b + rho * sin(angle), z = c + rho * cos(angle);
                wy = 0.5 * PI * wv * rho * cos(angle);
            }
            double column = 8.0 * wx * wy * z;
            m.volume += column;
            m.square[0] += column * x * x;
            m.square[1] += column * y * y;
            m.square[2] += column * z * z / 3.0;
        }
    }
    return m;
}

static void check_mass(const TdlRigidDef* def, Moments m) {
    Rigid* rigid = make(def);
    double xx = def->density * m.square[0], yy = def->density * m.square[1],
           zz = def->density * m.square[2], size = xx + yy + zz;
    CHECK_NEAR(rigid->mass, def->density * m.volume, 1.0e-12 * rigid->mass);
    CHECK_NEAR3(rigid->inertia.cx, ((TdlVec3){yy + zz, 0, 0}), 1.0e-12 * size);
    CHECK_NEAR3(rigid->inertia.cy, ((TdlVec3){0, xx + zz, 0}), 1.0e-12 * size);
    CHECK_NEAR3(rigid->inertia.cz, ((TdlVec3){0, 0, xx + yy}), 1.0e-12 * size);
    CHECK_NEAR3(rigid->centre, ((TdlVec3){0}), 0.0);
    destroy(rigid);
}

TEST(mass_of_round_bodies_is_that_of_columns) {
    TdlRigidDef def = plain_def(TDL_RIGID_SPHERE);
    check_mass(&def, rounded_box(0.0, 0.0, 0.0, 0.01));
    def = plain_def(TDL_RIGID_CAPSULE);
    check_mass(&def, rounded_box(0.025, 0.0, 0.0, 0.01));
    def.length = 0.0;
    check_mass(&def, rounded_box(0.0, 0.0, 0.0, 0.01));
    def = plain_def(TDL_RIGID_BOX);
    check_mass(&def, rounded_box(0.02, 0.04, 0.01, 0.01));
    def.radius = 0.02; // as thin as it can be
    check_mass(&def, rounded_box(0.01, 0.03, 0.0, 0.02));
    def.radius = 0.0;
    check_mass(&def, rounded_box(0.03, 0.05, 0.02, 0.0));
}

// The tube as x(s) + rho (cos phi d1 + sin phi d2) with the volume element from differences.
static void integrate_tube(const TdlRigidDef* def, double* volume, TdlVec3* first,
                           TdlMat3* second) {
    enum { PARTS = 6, ANGLES = 16 };
    TdlHost host = tdl_host_default();
    TdlPose start = {{0}, tdl_identity33()};
    *volume = 0.0;
    *first = (TdlVec3){0};
    *second = (TdlMat3){0};
    for (int p = 0; p < def->piece_count; ++p) {
        TdlVec3 kappa = def->pieces[p].curvature;
        double length = def->pieces[p].length;
        TdlCurve c;
        tdl_curve_helix(&host, start, kappa, length, &c);
        for (int i = 0; i < PARTS * GAUSS12_COUNT; ++i) {
            double s = length * (i / GAUSS12_COUNT + GAUSS12_POINT[i % GAUSS12_COUNT]) / PARTS;
            double ws = length * GAUSS12_WEIGHT[i % GAUSS12_COUNT] / PARTS, e = 1.0e-4 * length;
            TdlMat3 frame[3];
            TdlVec3 place[3];
            for (int k = 0; k < 3; ++k) {
                TdlVec3 turn = tdl_scale3(s + (k - 1) * e, kappa);
                frame[k] = tdl_mul33(start.rotation, tdl_rotation_exp(turn));
                place[k] = tdl_curve_point(&c, s + (k - 1) * e);
            }
            for (int g = 0; g < GAUSS12_COUNT * ANGLES; ++g) {
                double rho = def->radius * GAUSS12_POINT[g / ANGLES];
                double phi = 2.0 * PI * (g % ANGLES) / ANGLES;
                double w = ws * def->radius * GAUSS12_WEIGHT[g / ANGLES] * 2.0 * PI / ANGLES;
                TdlVec3 at[3];
                for (int k = 0; k < 3; ++k) {
                    at[k] = tdl_axpy3(tdl_axpy3(place[k], rho * cos(phi), frame[k].cy),
                                      rho * sin(phi), frame[k].cz);
                }
                TdlVec3 ds = tdl_scale3(0.5 / e, tdl_sub3(at[2], at[0]));
                // turning within the section leaves the volume element alone
                w *= rho * tdl_dot3(ds, frame[1].cx);
                *volume += w;
                *first = tdl_axpy3(*first, w, at[1]);
                *second = tdl_axpy33(*second, w, tdl_outer3(at[1], at[1]));
            }
        }
        start.position = tdl_curve_point(&c, length);
        start.rotation = tdl_mul33(start.rotation, tdl_rotation_exp(tdl_scale3(length, kappa)));
    }
}

TEST(mass_of_a_chain_is_that_of_its_tube) {
    TdlCurvePiece pieces[3] = {{0.1, {0, 0, 20}}, {0.15, {5, 12, -8}}, {0.05, {0, 0, 0}}};
    TdlRigidDef def = plain_def(TDL_RIGID_CURVES);
    def.pieces = pieces;
    def.piece_count = 3;
    Rigid* rigid = make(&def);
    double volume;
    TdlVec3 first;
    TdlMat3 second;
    integrate_tube(&def, &volume, &first, &second);
    TdlVec3 centre = tdl_scale3(1.0 / volume, first);
    second = tdl_axpy33(second, -volume, tdl_outer3(centre, centre));
    double trace = second.cx.x + second.cy.y + second.cz.z;
    TdlMat3 inertia = tdl_scale33(1000.0, tdl_sub33(tdl_scale33(trace, tdl_identity33()), second));
    // differences over 1e-4 of a length that turns by 3 rad: 1e-8
    CHECK_NEAR(rigid->mass, 1000.0 * volume, 2.0e-8 * rigid->mass);
    CHECK_NEAR3(rigid->centre, centre, 2.0e-8 * 0.1);
    double size = tdl_norm3(inertia.cx) + tdl_norm3(inertia.cy) + tdl_norm3(inertia.cz);
    CHECK_NEAR3(rigid->inertia.cx, inertia.cx, 2.0e-8 * size);
    CHECK_NEAR3(rigid->inertia.cy, inertia.cy, 2.0e-8 * size);
    CHECK_NEAR3(rigid->inertia.cz, inertia.cz, 2.0e-8 * size);
    destroy(rigid);
}

TEST(a_ring_is_a_torus_and_a_straight_piece_a_cylinder) {
    double R = 0.1, r = 0.02;
    TdlCurvePiece ring[2] = {{PI * R, {0, 0, 10}}, {PI * R, {0, 0, 10}}};
    TdlRigidDef def = plain_def(TDL_RIGID_CURVES);
    def.radius = r;
    def.pieces = ring;
    def.piece_count = 2;
    def.pose.position = (TdlVec3){1, 2, 3};
    Rigid* rigid = make(&def);
    double m = 1000.0 * 2.0 * PI * PI * R * r * r;
    CHECK_NEAR(rigid->mass, m, 1.0e-13 * m);
    CHECK_NEAR3(rigid->pose.position, ((TdlVec3){1, 2 + R, 3}), 1.0e-15 * 4);
    CHECK_NEAR3(rigid_pose(rigid).position, def.pose.position, 1.0e-15 * 4);
    double across = m * (0.5 * R * R + 0.625 * r * r), along = m * (R * R + 0.75 * r * r);
    CHECK_NEAR3(rigid->inertia.cx, ((TdlVec3){across, 0, 0}), 1.0e-13 * along);
    CHECK_NEAR3(rigid->inertia.cy, ((TdlVec3){0, across, 0}), 1.0e-13 * along);
    CHECK_NEAR3(rigid->inertia.cz, ((TdlVec3){0, 0, along}), 1.0e-13 * along);
    destroy(rigid);

    TdlCurvePiece straight = {.length = 0.3};
    def.pieces = &straight;
    def.piece_count = 1;
    rigid = make(&def);
    m = 1000.0 * PI * r * r * 0.3;
    CHECK_NEAR(rigid->inertia.cx.x, 0.5 * m * r * r, 1.0e-13 * m);
    CHECK_NEAR(rigid->inertia.cy.y, m * (0.09 / 12.0 + 0.25 * r * r), 1.0e-13 * m);
    destroy(rigid);
}

// --- motion ----------------------------------------------------------------------------------

TEST(a_flight_is_a_parabola_and_keeps_its_energy) {
    TdlRigidDef def = plain_def(TDL_RIGID_BOX);
    def.velocity = (TdlVec3){1.0, -2.0, 3.0};
    def.pose.position = (TdlVec3){0.1, 0.2, 0.3};
    Rigid* rigid = make(&def);
    TdlVec3 g = {0.5, 0.0, -9.81};
    Rng rng = rng_seed(1);
    double t = 0.0, first = 0.0, scale = 0.5 * rigid->mass * 14.0 + rigid->mass * 9.81;
    for (int i = 0; i < 300; ++i) {
        // steps of one length, then of all lengths
        double dt = i < 100 ? 1.0e-3 : rng_range(&rng, 1.0e-4, 5.0e-3);
        REQUIRE(rigid_predict(rigid, dt, g));
        rigid_advance(rigid, dt, rigid->v_free);
        t += dt;
        TdlVec3 want = tdl_axpy3(tdl_axpy3(def.pose.position, t, def.velocity), 0.5 * t * t, g);
        CHECK_NEAR3(rigid->pose.position, want, 1.0e-14 * (i + 10));
        TdlEnergy e = rigid_energy(rigid, g);
        first = i == 0 ? e.kinetic + e.gravity : first;
        if (i < 100) {
            CHECK_NEAR(e.kinetic + e.gravity, first, 1.0e-14 * (i + 10) * scale);
        }
    }
    destroy(rigid);
}

// Angular momentum in space, from the middle of the last step.
static TdlVec3 spin(const Rigid* rigid) {
    TdlVec3 w = tdl_tmul33_3(rigid->pose.rotation, tdl_load3(rigid->v, 1));
    TdlMat3 back = tdl_rotation_exp(tdl_scale3(-0.5 * rigid->dt_before, w));
    TdlVec3 l = tdl_mul33_3(rigid->inertia, w);
    return tdl_mul33_3(rigid->pose.rotation, tdl_mul33_3(back, l));
}

typedef struct Turning {
    double q[4], w[3]; // quaternion, body rates
} Turning;

// Euler's equations and q' = q w / 2, in principal axes.
static Turning turning_rate(const double j[3], Turning s) {
    const double *q = s.q, *w = s.w;
    return (Turning){.q = {0.5 * (-q[1] * w[0] - q[2] * w[1] - q[3] * w[2]),
                           0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]),
                           0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]),
                           0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0])},
                     .w = {(j[1] - j[2]) / j[0] * w[1] * w[2], (j[2] - j[0]) / j[1] * w[2] * w[0],
                           (j[0] - j[1]) / j[2] * w[0] * w[1]}};
}

static Turning turning_add(Turning a, double s, Turning b) {
    for (int i = 0; i < 4; ++i) {
        a.q[i] += s * b.q[i];
    }
    for (int i = 0; i < 3; ++i) {
        a.w[i] += s * b.w[i];
    }
    return a;
}

// The rotation after `time`, by the classical Runge-Kutta rule in small steps.
static TdlMat3 turned(const double j[3], TdlVec3 w, double time, int steps) {
    Turning s = {.q = {1, 0, 0, 0}, .w = {w.x, w.y, w.z}};
    double h = time / steps;
    for (int i = 0; i < steps; ++i) {
        Turning k1 = turning_rate(j, s), k2 = turning_rate(j, turning_add(s, 0.5 * h, k1));
        Turning k3 = turning_rate(j, turning_add(s, 0.5 * h, k2));
        Turning k4 = turning_rate(j, turning_add(s, h, k3));
        s = turning_add(turning_add(s, h / 6.0, k1), h / 3.0, k2);
        s = turning_add(turning_add(s, h / 3.0, k3), h / 6.0, k4);
    }
    const double *q = s.q, n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    TdlMat3 k = tdl_skew3((TdlVec3){q[1], q[2], q[3]});
    TdlMat3 r = tdl_axpy33(tdl_identity33(), 2.0 * q[0] / n, k);
    return tdl_axpy33(r, 2.0 / n, tdl_mul33(k, k));
}

static double turn_error(TdlMat3 a, TdlMat3 b) {
    return tdl_norm3(tdl_rotation_log(tdl_tmul33(a, b)));
}

// A box with three different inertias, turning freely for `time` in `steps` steps.
static Rigid* tumble(TdlVec3 rate, double time, int steps, double* energy_low,
                     double* energy_high) {
    TdlRigidDef def = plain_def(TDL_RIGID_BOX);
    def.angular_velocity = rate;
    Rigid* rigid = make(&def);
    *energy_low = INFINITY;
    *energy_high = 0.0;
    for (int i = 0; i < steps; ++i) {
        if (!rigid_predict(rigid, time / steps, (TdlVec3){0})) {
            FAIL("not finite");
        }
        rigid_advance(rigid, time / steps, rigid->v_free);
        double e = rigid_energy(rigid, (TdlVec3){0}).kinetic;
        *energy_low = fmin(*energy_low, e);
        *energy_high = fmax(*energy_high, e);
    }
    return rigid;
}

static void check_tumbling(const char* name, TdlVec3 rate, double time, int steps) {
    double low, high, error[3];
    for (int k = 0; k < 3; ++k) {
        Rigid* rigid = tumble(rate, time, steps << k, &low, &high);
        const double j[3] = {rigid->inertia.cx.x, rigid->inertia.cy.y, rigid->inertia.cz.z};
        TdlVec3 start = {j[0] * rate.x, j[1] * rate.y, j[2] * rate.z};
        CHECK_NEAR3(spin(rigid), start, 1.0e-14 * (steps << k) * tdl_norm3(start));
        error[k] = turn_error(rigid->pose.rotation, turned(j, rate, time, 40000));
        destroy(rigid);
    }
    printf("  %s: errors %.2e %.2e %.2e rad\n", name, error[0], error[1], error[2]);
    // of second order: four times smaller with half the step
    CHECK_NEAR(error[0] / error[1], 4.0, 0.2);
    CHECK_NEAR(error[1] / error[2], 4.0, 0.1);
    CHECK_BELOW(error[2], 1.0e-3);
}

TEST(free_turning_follows_a_fine_solution) {
    check_tumbling("all axes", (TdlVec3){3.0, -4.0, 5.0}, 2.0, 1000);
    // nearly about the middle axis (the first: half sizes 3, 5, 2 cm): it tumbles over
    TdlVec3 middle = {10.0, 0.01, 0.0};
    check_tumbling("middle axis", middle, 3.0, 4000);
    double low, high;
    Rigid* rigid = tumble(middle, 3.0, 4000, &low, &high);
    TdlVec3 w = tdl_tmul33_3(rigid->pose.rotation, tdl_load3(rigid->v, 1));
    CHECK_BELOW(w.x, -9.0);
    destroy(rigid);
}

TEST(tumbling_keeps_its_energy_for_long) {
    double low[2], high[2];
    TdlVec3 rate = {10.0, 0.01, 0.0};
    destroy(tumble(rate, 20.0, 4000, &low[0], &high[0]));
    destroy(tumble(rate, 400.0, 80000, &low[1], &high[1]));
    double start = high[0];
    printf("  energy swings by %.3e in 4000 steps, by %.3e in 80000\n", (high[0] - low[0]) / start,
           (high[1] - low[1]) / start);
    // a swing of the order of the step squared, not larger after twenty times as long
    CHECK_BELOW((high[0] - low[0]) / start, 1.0e-4);
    CHECK_BELOW(high[1] - low[1], 1.02 * (high[0] - low[0]));
}

TEST(steps_of_a_whole_turn_stay_bounded) {
    // 100 rad/s in steps of 0.1 s: nothing can be followed, but nothing may grow either
    TdlRigidDef def = plain_def(TDL_RIGID_BOX);
    def.angular_velocity = (TdlVec3){70.0, 50.0, -50.0};
    Rigid* rigid = make(&def);
    TdlVec3 w = def.angular_velocity;
    const double j[3] = {rigid->inertia.cx.x, rigid->inertia.cy.y, rigid->inertia.cz.z};
    TdlVec3 l = {j[0] * w.x, j[1] * w.y, j[2] * w.z};
    double top = 0.5 * tdl_dot3(l, l) / fmin(j[0], fmin(j[1], j[2]));
    for (int i = 0; i < 2000; ++i) {
        REQUIRE(rigid_predict(rigid, 0.1, (TdlVec3){0}));
        rigid_advance(rigid, 0.1, rigid->v_free);
        CHECK(rigid_energy(rigid, (TdlVec3){0}).kinetic <= top * (1.0 + 1.0e-9));
    }
    destroy(rigid);
}

TEST(a_sphere_spins_on) {
    TdlRigidDef def = plain_def(TDL_RIGID_SPHERE);
    def.angular_velocity = (TdlVec3){100.0, 200.0, -300.0};
    Rigid* rigid = make(&def);
    for (int i = 0; i < 1000; ++i) {
        REQUIRE(rigid_predict(rigid, 1.0e-3, (TdlVec3){0}));
        rigid_advance(rigid, 1.0e-3, rigid->v_free);
    }
    CHECK_NEAR3(tdl_load3(rigid->v, 1), def.angular_velocity, 1.0e-12 * 374.0);
    TdlMat3 want = tdl_rotation_exp(def.angular_velocity);
    CHECK_BELOW(turn_error(rigid->pose.rotation, want), 1.0e-11);
    destroy(rigid);
}

// --- what contacts need ----------------------------------------------------------------------

TEST(the_jacobian_is_the_velocity_of_a_material_point) {
    Rng rng = rng_seed(2);
    TdlRigidDef def = plain_def(TDL_RIGID_CAPSULE);
    def.pose = (TdlPose){{0.1, 0.2, 0.3}, tdl_rotation_exp((TdlVec3){1, 2, 3})};
    Rigid* rigid = make(&def);
    TdlVec3 point = {0.12, 0.19, 0.33};
    TdlMat3 basis = tdl_frame_from_tangent_hint((TdlVec3){1, 1, 0}, (TdlVec3){0, 0.3, 1});
    TdlVec3 local = tdl_tmul33_3(rigid->pose.rotation, tdl_sub3(point, rigid->pose.position));
    double rows[18], v[6], last = 0.0;
    rigid_jacobian(rigid, point, basis, rows);
    for (int j = 0; j < 6; ++j) {
        v[j] = rng_normal(&rng);
    }
    TdlVec3 along = {0};
    for (int j = 0; j < 6; ++j) {
        along = tdl_add3(along, (TdlVec3){rows[j] * v[j], rows[6 + j] * v[j], rows[12 + j] * v[j]});
    }
    TdlVec3 velocity = tdl_mul33_3(basis, along);
    for (int k = 0; k < 3; ++k) {
        double dt = 1.0e-3 / (1 << k);
        Rigid moved = *rigid;
        rigid_advance(&moved, dt, v);
        TdlVec3 now = tdl_add3(moved.pose.position, tdl_mul33_3(moved.pose.rotation, local));
        double error = tdl_norm3(tdl_sub3(tdl_scale3(1.0 / dt, tdl_sub3(now, point)), velocity));
        CHECK(k == 0 || fabs(last / error - 2.0) < 0.01); // one-sided: first order
        last = error;
    }
    CHECK_BELOW(last, 1.0e-4);
    destroy(rigid);
}

TEST(solve_divides_by_mass_and_inertia) {
    TdlRigidDef def = plain_def(TDL_RIGID_BOX);
    def.pose.rotation = tdl_rotation_exp((TdlVec3){0.3, -1.0, 2.0});
    Rigid* rigid = make(&def);
    double x[6] = {1, 2, 3, 4, 5, 6}, y[6];
    memcpy(y, x, sizeof y);
    rigid_solve(rigid, y);
    TdlMat3 r = rigid->pose.rotation;
    TdlMat3 world = tdl_mul33(r, tdl_mul33(rigid->inertia, tdl_transpose33(r)));
    CHECK_NEAR3(tdl_scale3(rigid->mass, tdl_load3(y, 0)), ((TdlVec3){1, 2, 3}), 1.0e-14);
    CHECK_NEAR3(tdl_mul33_3(world, tdl_load3(y, 1)), ((TdlVec3){4, 5, 6}), 1.0e-13);
    double half[6]; // and in halves
    memcpy(half, x, sizeof half);
    rigid_whiten(rigid, half);
    double energy = 0.0, square = 0.0;
    for (int k = 0; k < 6; ++k) {
        energy += x[k] * y[k];
        square += half[k] * half[k];
    }
    CHECK_NEAR(square, energy, 1.0e-13 * energy);
    rigid_unwhiten(rigid, half);
    for (int k = 0; k < 6; ++k) {
        CHECK_NEAR(half[k], y[k], 1.0e-13 * fabs(y[k]) + 1.0e-15);
    }
    destroy(rigid);
}

TEST(curves_lie_on_the_body) {
    TdlRigidDef def = plain_def(TDL_RIGID_BOX);
    def.pose = (TdlPose){{1, 2, 3}, tdl_rotation_exp((TdlVec3){0.3, -1.0, 2.0})};
    Rigid* rigid = make(&def);
    REQUIRE(rigid->curve_count == 12);
    TdlCurve curves[12];
    rigid_curves(rigid, curves);
    int met[8] = {0};
    for (int i = 0; i < 12; ++i) {
        CHECK_NEAR(curves[i].radius[0], 0.01, 0.0);
        for (int end = 0; end < 2; ++end) {
            TdlVec3 p =
                tdl_sub3(tdl_curve_point(&curves[i], end * curves[i].end), def.pose.position);
            p = tdl_tmul33_3(def.pose.rotation, p);
            CHECK_NEAR3(((TdlVec3){fabs(p.x), fabs(p.y), fabs(p.z)}), ((TdlVec3){0.02, 0.04, 0.01}),
                        1.0e-15);
            ++met[(p.x > 0) + 2 * (p.y > 0) + 4 * (p.z > 0)];
        }
    }
    for (int k = 0; k < 8; ++k) {
        CHECK_INT(met[k], 3); // three edges at every corner
    }
    destroy(rigid);

    // a chain's curves keep their place as seen from the placed pose
    TdlCurvePiece pieces[2] = {{0.1, {0, 0, 20}}, {0.15, {5, 12, -8}}};
    def.shape = TDL_RIGID_CURVES;
    def.pieces = pieces;
    def.piece_count = 2;
    rigid = make(&def);
    REQUIRE(rigid->curve_count == 2);
    rigid_curves(rigid, curves);
    CHECK_NEAR3(tdl_curve_point(&curves[0], 0.0), def.pose.position, 1.0e-14);
    CHECK_NEAR3(tdl_curve_derivative(&curves[0], 0.0), def.pose.rotation.cx, 1.0e-14);
    CHECK_NEAR3(tdl_curve_point(&curves[0], 0.1), tdl_curve_point(&curves[1], 0.0), 1.0e-14);
    CHECK_NEAR3(tdl_curve_derivative(&curves[0], 0.1), tdl_curve_derivative(&curves[1], 0.0),
                1.0e-14);
    destroy(rigid);
}

TEST(the_state_goes_through_bytes) {
    TdlRigidDef def = plain_def(TDL_RIGID_BOX);
    def.angular_velocity = (TdlVec3){3.0, -4.0, 5.0};
    Rigid *a = make(&def), *b = make(&def);
    TdlVec3 g = {0, 0, -9.81};
    char bytes[256];
    REQUIRE(rigid_state_size(a) <= sizeof bytes);
    for (int i = 0; i < 20; ++i) {
        rigid_predict(a, 1.0e-3, g);
        rigid_advance(a, 1.0e-3, a->v_free);
    }
    CHECK(rigid_state_hash(a, HASH_START) != rigid_state_hash(b, HASH_START));
    rigid_save_state(a, bytes);
    rigid_load_state(b, bytes);
    for (int i = 0; i < 20; ++i) {
        rigid_predict(a, 1.0e-3, g);
        rigid_advance(a, 1.0e-3, a->v_free);
        rigid_predict(b, 1.0e-3, g);
        rigid_advance(b, 1.0e-3, b->v_free);
    }
    CHECK(rigid_state_hash(a, HASH_START) == rigid_state_hash(b, HASH_START));
    CHECK(rigid_state_finite(a));
    a->v[4] = NAN;
    CHECK(!rigid_state_finite(a));
    CHECK(!rigid_predict(a, 1.0e-3, g));
    a->v[4] = 0.0;
    a->pose.position.y = INFINITY;
    CHECK(!rigid_state_finite(a));
    destroy(a);
    destroy(b);
}

// --- borders ---------------------------------------------------------------------------------

static void check_refused(TdlRigidDef def, const char* message) {
    Capture capture;
    TdlHost host = capture_host(&capture);
    Rigid* rigid = NULL;
    CHECK_INT(rigid_create(&host, &def, &rigid), TDL_STATUS_BAD_ARGUMENT);
    CHECK_TEXT(capture.text, message);
}

TEST(bad_definitions_are_refused) {
    TdlRigidDef def = plain_def(TDL_RIGID_SPHERE);
    const double bad[] = {0.0, -1.0, NAN, INFINITY};
    for (int i = 0; i < 4; ++i) {
        def = plain_def(TDL_RIGID_SPHERE);
        def.radius = bad[i];
        check_refused(def, "rigid: radius must be positive");
        def = plain_def(TDL_RIGID_SPHERE);
        def.density = bad[i];
        check_refused(def, "rigid: density must be positive");
        def = plain_def(TDL_RIGID_BOX);
        def.half.y = bad[i];
        check_refused(def, "rigid: half must be positive");
        if (i > 0) {
            def = plain_def(TDL_RIGID_CAPSULE);
            def.length = bad[i];
            check_refused(def, "rigid: length must not be negative");
            def = plain_def(TDL_RIGID_BOX);
            def.radius = bad[i];
            check_refused(def, "rigid: radius must not be negative");
        }
    }
    def = plain_def(TDL_RIGID_BOX);
    def.radius = 0.021;
    check_refused(def, "rigid: radius must not exceed half");
    def = plain_def((TdlRigidShape)7);
    check_refused(def, "rigid: shape must be sphere, capsule, box, curves, mesh or cylinder");
    def = plain_def(TDL_RIGID_SPHERE);
    def.pose.rotation.cx.x = 1.1;
    check_refused(def, "rigid: pose must be a finite place and a rotation");
    def = plain_def(TDL_RIGID_SPHERE);
    def.pose.position.x = NAN;
    check_refused(def, "rigid: pose must be a finite place and a rotation");
    def = plain_def(TDL_RIGID_SPHERE);
    def.angular_velocity.x = INFINITY;
    check_refused(def, "rigid: velocity and angular_velocity must be finite");
    def = plain_def(TDL_RIGID_SPHERE);
    def.material = TDL_MATERIAL_LIMIT;
    check_refused(def, "rigid: material must be from 0 to 63");
    def = plain_def(TDL_RIGID_SPHERE);
    def.radius = 1.0e-200;
    check_refused(def, "rigid: mass is 0 kg, inertia too small");

    TdlCurvePiece piece = {0.1, {0, 0, 100.0}};
    def = plain_def(TDL_RIGID_CURVES);
    check_refused(def, "rigid: piece_count must be from 1 to 100000");
    def.pieces = &piece;
    def.piece_count = 1;
    check_refused(def, "rigid: curvature of a piece times radius must be below 1");
    piece = (TdlCurvePiece){0};
    check_refused(def, "rigid: length of a piece must be positive, its curvature finite");
}

TEST(memory_running_out_leaves_nothing_behind) {
    TdlCurvePiece pieces[2] = {{0.1, {0, 0, 20}}, {0.15, {5, 12, -8}}};
    TdlRigidDef def = plain_def(TDL_RIGID_CURVES);
    def.pieces = pieces;
    def.piece_count = 2;
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    int failures = 0;
    for (long fail = 1; status == TDL_STATUS_NO_MEMORY && fail < 100; ++fail) {
        AllocCounter counter = {.fail_at = fail};
        TdlHost host = tdl_host_default();
        host.mem = counting_allocator(&counter);
        Rigid* rigid = NULL;
        status = rigid_create(&host, &def, &rigid);
        failures += status == TDL_STATUS_NO_MEMORY;
        rigid_destroy(&host, rigid);
        CHECK_INT(counter.live, 0);
    }
    CHECK_INT(status, TDL_STATUS_OK);
    CHECK_INT(failures, 3);
}
