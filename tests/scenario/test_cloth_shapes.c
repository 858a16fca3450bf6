// Strips of cloth whose shapes and forces are known: the heavy elastica, a loop, the catenary, a
// hanging chain that swings, the capstan.
#include "tendril/cloth.h"
#include "test.h"
#include "things.h"

static TdlVec3 vertices[2000], at[2000];
static int faces[8000];

static TdlWorld* make_world(double step, double mu) {
    TdlWorldDef def = tdl_world_def_default();
    TdlHost host = tdl_host_default();
    TdlWorld* world = NULL;
    def.step = step;
    def.contacts.law.mu = mu;
    CHECK(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    return world;
}

static void step_all(TdlWorld* world, int steps) {
    for (int i = 0; i < steps; ++i) {
        TdlStepInfo info;
        if (tdl_world_step(world, &info) != TDL_STATUS_OK || info.unsolved > 0) {
            FAIL("step %d: %s", i, info.reason);
            return;
        }
    }
}

// --- a strip clamped at one end
// -------------------------------------------------------------------

// kappa theta'' = -w (L - s) cos theta, theta(0) = 0, theta'(L) = 0, theta below the horizontal:
// the drop of the tip, by shooting with midpoints.
static double elastica_drop(double kappa, double w, double L) {
    double low = 0.0, high = w * L * L / kappa, drop = 0.0;
    enum { N = 20000 };
    for (int turn = 0; turn < 80; ++turn) {
        double k = 0.5 * (low + high), theta = 0.0, bend = k, h = L / N;
        drop = 0.0;
        for (int i = 0; i < N; ++i) {
            double s = i * h, mid = theta + 0.5 * h * bend;
            double half = bend - 0.5 * h * w / kappa * (L - s) * cos(theta);
            drop += h * sin(mid);
            bend -= h * w / kappa * (L - s - 0.5 * h) * cos(mid);
            theta += h * half;
        }
        *(bend > 0.0 ? &high : &low) = k;
    }
    return drop;
}

TEST(a_clamped_strip_is_the_heavy_elastica) {
    const int along = 41, across = 4;
    const double L = 0.2, h = L / (along - 2), kappa = 2.0e-4;
    TdlWorld* world = make_world(0.01, 0.0);
    TdlClothDef def = tdl_cloth_def_default();
    TdlBodyId id;
    def.mesh = tdl_cloth_rectangle(L + h, 0.03, along, across, vertices, faces);
    def.bending = kappa;
    def.damping = 1.0;
    int held[8], count = 0;
    for (int j = 0; j < across; ++j) {
        held[count++] = j * along;
        held[count++] = j * along + 1;
    }
    TdlClothHold hold = {.vertices = held, .count = count};
    def.holds = &hold;
    def.hold_count = 1;
    CHECK(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    step_all(world, 1500);
    tdl_cloth_state(world, id, at, NULL);
    double drop = -at[along - 1].z, want = elastica_drop(kappa, 0.15 * 9.81, L);
    printf("  the tip hangs %.6f m below, wanted %.6f\n", drop, want);
    CHECK_NEAR(drop / want, 1.0, 5.0e-3);
    tdl_world_destroy(world);
}

// --- a loop
// ---------------------------------------------------------------------------------------

// Half a loop of weightless elastica from its apex, where it is level, to its two ends, which are
// clamped upright beside each other: theta'' = p sin theta (the force is level there, by symmetry),
// x = 0 and theta = pi / 2 after the length 1. Leaves x and theta - pi / 2; returns the height.
static double shoot_loop(double bend, double p, double miss[2]) {
    enum { N = 4000 };
    double theta = 0.0, x = 0.0, y = 0.0, h = 1.0 / N;
    for (int i = 0; i < N; ++i) {
        double half = theta + 0.5 * h * bend;
        double middle = bend + 0.5 * h * p * sin(theta);
        x += h * cos(half);
        y += h * sin(half);
        bend += h * p * sin(half);
        theta += h * middle;
    }
    miss[0] = x;
    miss[1] = theta - 0.5 * M_PI;
    return y;
}

// By Newton's method with differences.
static double loop_height(void) {
    double k = 3.0, p = -5.0, height = 0.0; // about what a pear looks like
    for (int turn = 0; turn < 40; ++turn) {
        double at0[2], a[2], b[2], d = 1.0e-6;
        height = shoot_loop(k, p, at0);
        shoot_loop(k + d, p, a);
        shoot_loop(k, p + d, b);
        double m[4] = {(a[0] - at0[0]) / d, (b[0] - at0[0]) / d, (a[1] - at0[1]) / d,
                       (b[1] - at0[1]) / d};
        double det = m[0] * m[3] - m[1] * m[2];
        k -= (m[3] * at0[0] - m[1] * at0[1]) / det;
        p -= (m[0] * at0[1] - m[2] * at0[0]) / det;
    }
    return height;
}

// A strip bent into a loop, its ends held upright beside each other: how high it stands.
TEST(a_loop_is_as_high_as_the_elastica) {
    const int along = 63, across = 3;
    const double L = 0.2, h = L / (along - 3);
    TdlWorld* world = make_world(0.01, 0.0);
    TdlClothDef def = tdl_cloth_def_default();
    static TdlVec3 rest[63 * 3];
    TdlBodyId id;
    def.mesh = tdl_cloth_rectangle(L + 2.0 * h, 0.03, along, across, vertices, faces);
    memcpy(rest, vertices, sizeof rest);
    def.rest = rest;
    def.weight = 0.0;
    def.damping = 3.0;
    def.self = false;
    // a circle of its edges at first, broken open at the bottom
    double a = (2.0 * M_PI - 0.1) / (along - 1), r = 0.5 * h / sin(0.5 * a);
    for (int i = 0; i < along * across; ++i) {
        double angle = (i % along - along / 2) * a;
        vertices[i] = (TdlVec3){r * sin(angle), rest[i].y, r * cos(angle)};
    }
    int left[6], right[6];
    for (int j = 0; j < across; ++j) {
        left[2 * j] = j * along;
        left[2 * j + 1] = j * along + 1;
        right[2 * j] = j * along + along - 1;
        right[2 * j + 1] = j * along + along - 2;
    }
    // the ends turn until they stand upright, and come together
    double turn = 0.5 * M_PI - 0.05 - 0.5 * a, way = r * sin(0.05 + 0.5 * a);
    const TdlKeyframe one[2] = {
        {.time = 0.0}, {.time = 0.5, .position = {way, 0.0, 0.0}, .rotation = {0.0, turn, 0.0}}};
    const TdlKeyframe two[2] = {
        {.time = 0.0}, {.time = 0.5, .position = {-way, 0.0, 0.0}, .rotation = {0.0, -turn, 0.0}}};
    TdlClothHold hold[2] = {
        {.vertices = left, .count = 6, .motion = {.keys = one, .key_count = 2, .interpolation = 0}},
        {.vertices = right,
         .count = 6,
         .motion = {.keys = two, .key_count = 2, .interpolation = 0}}};
    def.holds = hold;
    def.hold_count = 2;
    REQUIRE(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    step_all(world, 600);
    tdl_cloth_state(world, id, at, NULL);
    TdlVec3 foot = tdl_scale3(0.5, tdl_add3(at[1], at[along - 2]));
    double got = (at[along / 2].z - foot.z) / (0.5 * L), want = loop_height();
    printf("  %.5f of half its length, wanted %.5f\n", got, want);
    CHECK_NEAR(got / want, 1.0, 5.0e-3);
    tdl_world_destroy(world);
}

// --- a strip held at both ends
// ---------------------------------------------------------------------

TEST(a_slack_strip_is_a_catenary) {
    const int along = 61, across = 3;
    const double L = 0.6, span = 0.45;
    TdlWorld* world = make_world(0.01, 0.0);
    TdlClothDef def = tdl_cloth_def_default();
    TdlBodyId id;
    def.mesh = tdl_cloth_rectangle(L, 0.02, along, across, vertices, faces);
    def.bending = 1.0e-8;
    def.damping = 1.0;
    int left[3], right[3];
    for (int j = 0; j < across; ++j) {
        left[j] = j * along;
        right[j] = j * along + along - 1;
    }
    const TdlKeyframe keys[2] = {{.time = 0.0}, {.time = 0.5, .position = {span - L, 0.0, 0.0}}};
    TdlClothHold hold[2] = {{.vertices = left, .count = across},
                            {.vertices = right,
                             .count = across,
                             .motion = {.keys = keys, .key_count = 2, .interpolation = 0}}};
    def.holds = hold;
    def.hold_count = 2;
    CHECK(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    step_all(world, 1000);
    tdl_cloth_state(world, id, at, NULL);
    // 2 a sinh(span / 2a) = L
    double low = 1.0e-3, high = 10.0;
    for (int k = 0; k < 200; ++k) {
        double a = 0.5 * (low + high);
        *(2.0 * a * sinh(0.5 * span / a) > L ? &low : &high) = a;
    }
    double sag = low * (cosh(0.5 * span / low) - 1.0), got = -at[along / 2].z;
    TdlVec3 force = {0};
    for (int j = 0; j < across; ++j) {
        TdlVec3 own;
        tdl_cloth_hold_force(world, id, right[j], &own);
        force = tdl_add3(force, own);
    }
    double pull = 0.15 * 9.81 * 0.02 * low;
    printf("  sag %.6f m, wanted %.6f; pull %.6f N, wanted %.6f\n", got, sag, force.x, pull);
    CHECK_NEAR(got / sag, 1.0, 5.0e-3);
    CHECK_NEAR(force.x / pull, 1.0, 5.0e-3);
    tdl_world_destroy(world);
}

// --- a strip that hangs and swings
// -----------------------------------------------------------------

// A limp strip is a hanging chain: its n-th mode is J0(z (1 - s / L)^(1/2)), z the n-th zero of J0,
// with the frequency z/2 (g/L)^(1/2).
static double mode_period(double zero, int along, double step) {
    const double L = 0.5;
    TdlWorld* world = make_world(step, 0.0);
    TdlClothDef def = tdl_cloth_def_default();
    TdlBodyId id;
    def.mesh = tdl_cloth_rectangle(L, 0.02, along, 2, vertices, faces);
    def.bending = 0.0;
    def.damping = 0.0;
    def.self = false;
    for (int i = 0; i < 2 * along; ++i) {
        double s = vertices[i].x + 0.5 * L;
        double off = 1.0e-4 * j0(zero * sqrt(fmax(1.0 - s / L, 0.0)));
        vertices[i] = (TdlVec3){off, vertices[i].y, -s};
    }
    int held[2] = {0, along};
    TdlClothHold hold = {.vertices = held, .count = 2};
    def.holds = &hold;
    def.hold_count = 1;
    CHECK(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    double first = 0.0, last = 0.0, before = 1.0;
    int crossed = 0;
    for (int i = 1; crossed < 3 && i < 5000; ++i) {
        step_all(world, 1);
        tdl_cloth_state(world, id, at, NULL);
        double now = at[along - 1].x;
        if ((now > 0.0) != (before > 0.0)) { // where it crossed
            last = step * (i - now / (now - before));
            first = crossed == 0 ? last : first;
            ++crossed;
        }
        before = now;
    }
    tdl_world_destroy(world);
    return last - first;
}

TEST(a_hanging_strip_swings_as_a_chain) {
    static const double zeros[2] = {2.404825557695773, 5.520078110286311};
    for (int n = 0; n < 2; ++n) {
        double got = mode_period(zeros[n], 41, 1.0e-3);
        double want = 2.0 * M_PI / (0.5 * zeros[n] * sqrt(9.81 / 0.5));
        printf("  mode %d: period %.5f s, wanted %.5f\n", n + 1, got, want);
        CHECK_NEAR(got / want, 1.0, 5.0e-3);
    }
}

// --- a ribbon over a cylinder
// ------------------------------------------------------------------------

// From the free end up, over the top and down: the pull at the held end of a ribbon that slides, by
// midpoints; w per length, phi from where it meets the cylinder, 0, to where it leaves, pi.
static double capstan_pull(double w, double mu, double R, double hangs, double held) {
    double T = w * hangs;
    enum { N = 20000 };
    for (int i = 0; i < N; ++i) {
        double h = M_PI / N, phi = (i + 0.5) * h;
        double slope = mu * (T + w * R * sin(phi)) + w * R * cos(phi);
        double mid = T + 0.5 * h * slope;
        T += h * (mu * (mid + w * R * sin(phi)) + w * R * cos(phi));
    }
    return T - w * held;
}

TEST(a_ribbon_pulled_over_a_cylinder_obeys_the_capstan_law) {
    const int along = 65, across = 2;
    const double R = 0.05, thick = 1.0e-3, L = 0.4, width = 0.01, mu = 0.3;
    double r = R + 0.5 * thick, straight = 0.5 * (L - M_PI * r);
    TdlWorld* world = make_world(2.0e-3, mu);
    TdlColliderDef peg = tdl_collider_def_default();
    TdlBodyId id;
    peg.shape = TDL_SHAPE_CYLINDER;
    peg.radius = R;
    peg.pose.rotation = (TdlMat3){{0.0, 1.0, 0.0}, {-1.0, 0.0, 0.0}, {0.0, 0.0, 1.0}};
    CHECK(tdl_world_add_collider(world, &peg, &id) == TDL_STATUS_OK);
    TdlClothDef def = tdl_cloth_def_default();
    def.mesh = tdl_cloth_rectangle(L, width, along, across, vertices, faces);
    TdlVec3 rest[130];
    for (int i = 0; i < along * across; ++i) {
        rest[i] = vertices[i];
        double s = vertices[i].x + 0.5 * L - straight, phi = s / r, y = vertices[i].y;
        double out = r * (1.0 + 1.0e-3); // chords stay outside
        vertices[i] = s < 0.0      ? (TdlVec3){-out, y, s}
                      : phi > M_PI ? (TdlVec3){out, y, -(s - M_PI * r)}
                                   : (TdlVec3){-out * cos(phi), y, out * sin(phi)};
    }
    def.rest = rest;
    def.bending = 1.0e-8;
    def.thickness = thick;
    def.damping = 0.0;
    def.self = false;
    int held[2];
    for (int j = 0; j < across; ++j) {
        held[j] = j * along + along - 1;
    }
    const double speed = 0.02, time = 0.2;
    const TdlKeyframe keys[2] = {{.time = 0.0},
                                 {.time = 10.0, .position = {0.0, 0.0, -10.0 * speed}}};
    TdlClothHold hold = {
        .vertices = held,
        .count = across,
        .motion = {.keys = keys, .key_count = 2, .interpolation = TDL_INTERPOLATION_LINEAR}};
    def.holds = &hold;
    def.hold_count = 1;
    CHECK(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    step_all(world, (int)(time / 2.0e-3));
    double force = 0.0;
    for (int k = 0; k < 40; ++k) { // in the mean over the facets that go by
        step_all(world, 1);
        for (int j = 0; j < across; ++j) {
            TdlVec3 own;
            tdl_cloth_hold_force(world, id, held[j], &own);
            force -= own.z / 40.0;
        }
    }
    double gone = speed * (time + 0.04);
    double want = capstan_pull(0.15 * 9.81 * width, mu, r, straight - gone, straight + gone);
    printf("  pull %.6f N, wanted %.6f\n", force, want);
    CHECK_NEAR(force / want, 1.0, 5.0e-3);
    tdl_world_destroy(world);
}
