// Strips of cloth whose shapes and forces are known: the heavy elastica, the catenary, the capstan.
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
                            {.vertices = right, .count = across, .motion = {keys, 2, 0}}};
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
        .vertices = held, .count = across, .motion = {keys, 2, TDL_INTERPOLATION_LINEAR}};
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
