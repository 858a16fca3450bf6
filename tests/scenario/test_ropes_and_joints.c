// Chains and ropes that carry: a hung chain of bars against the discrete catenary, and a winch that
// winds a rope and holds it.
#include "look.h"
#include "math/rotation.h"
#include "stage.h"
#include "tendril/joint.h"
#include "test.h"

static const double PI = 3.14159265358979323846, G = 9.81;

// --- what is taut and overlaps ------------------------------------------------------------------

// A wire over half a cylinder with a weight on a joint at its end. Its elements do not begin where
// it meets the cylinder, so that it is placed 0.4 radii in it: it comes out, and does not sink.
TEST(a_taut_wire_that_overlaps_comes_out) {
    enum { ELEMENTS = 60 };
    const double radius = 1.0e-4, drum = 0.05, up = 0.04, down = 0.06, mass = 5.0e-3;
    double arc = PI * (drum + radius), length = up + arc + down, l = length / ELEMENTS;
    TdlWorldDef world_def = tdl_world_def_default();
    world_def.gravity = (TdlVec3){0.0, 0.0, -G};
    world_def.contacts.law.mu = 0.35;
    world_def.contacts.self = false;
    TdlHost host = tdl_host_default();
    TdlWorld* world;
    REQUIRE(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
    TdlVec3 kappa[ELEMENTS] = {{0}};
    for (int i = 0; i < ELEMENTS; ++i) { // the mean of each
        double on = fmin((i + 1) * l, up + arc) - fmax(i * l, up);
        kappa[i].y = fmax(on, 0.0) / l / (drum + radius);
    }
    TdlRodDef def = tdl_rod_def_default();
    def.length = length;
    def.element_count = ELEMENTS;
    def.radius[0] = def.radius[1] = radius;
    def.young = 1.0e9;
    def.damping = 1.0e-3;
    def.mass_damping = 50.0;
    def.curvature_of = kappa;
    def.start = TDL_HOLD_PINNED;
    def.clamp.position = (TdlVec3){-drum - radius, 0.0, -up};
    def.clamp.rotation =
        tdl_frame_from_tangent_hint((TdlVec3){0.0, 0.0, 1.0}, (TdlVec3){0.0, 1.0, 0.0});
    TdlColliderDef round = tdl_collider_def_default();
    round.shape = TDL_SHAPE_CYLINDER;
    round.radius = drum - 1.0e-9;
    round.pose.rotation =
        tdl_frame_from_tangent_hint((TdlVec3){0.0, 1.0, 0.0}, (TdlVec3){0.0, 0.0, 1.0});
    TdlRigidDef ball = tdl_rigid_def_default();
    ball.shape = TDL_RIGID_SPHERE;
    ball.radius = 5.0e-3;
    ball.density = mass / (4.0 / 3.0 * PI * 1.25e-7);
    ball.pose.position = (TdlVec3){drum + radius, 0.0, -down - 6.0e-3};
    TdlJointDef hook = tdl_joint_def_default();
    hook.kind = TDL_JOINT_BALL;
    hook.end[0].at = length;
    TdlBodyId cylinder;
    TdlJointId id;
    REQUIRE(tdl_world_add_rod(world, &def, &hook.end[0].body) == TDL_STATUS_OK);
    REQUIRE(tdl_world_add_collider(world, &round, &cylinder) == TDL_STATUS_OK);
    REQUIRE(tdl_world_add_rigid(world, &ball, &hook.end[1].body) == TDL_STATUS_OK);
    REQUIRE(tdl_world_add_joint(world, &hook, &id) == TDL_STATUS_OK);
    double first = 0.0, deepest = 0.0;
    TdlStepInfo info = {0};
    for (int i = 0; i < 100; ++i) {
        REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        first = i == 0 ? info.deepest : first;
        deepest = fmin(deepest, info.deepest);
    }
    printf("  from %.2f radii over %.2f to %.2f\n", -first / radius, -deepest / radius,
           -info.deepest / radius);
    CHECK(first < -0.2 * radius);
    CHECK(deepest > -0.5 * radius);
    CHECK(info.deepest > 0.9 * first);
    tdl_world_destroy(world);
}

// --- the discrete catenary ----------------------------------------------------------------------

// Bars of length l and weight W, hinged end to end and hung at both ends over a span D. The joint
// between two bars pulls with H along the span and, by what hangs below it, V across. About its
// first end a bar with W in its middle asks for tan phi_i = (i - (n - 1) / 2) W / H, and
// sum l cos phi_i = D tells H.
enum { BARS = 20 };
static const double BAR = 0.05, SPAN = 0.7, RADIUS = 4.0e-3;

typedef struct Hung {
    double pull;             // H, N
    TdlVec3 joint[BARS + 1]; // m
} Hung;

static double span_of(double slope) {
    double sum = 0.0;
    for (int i = 0; i < BARS; ++i) {
        sum += BAR / hypot(1.0, slope * (i - 0.5 * (BARS - 1)));
    }
    return sum;
}

// The steeper the bars the shorter the span.
static Hung hang(double weight) {
    double low = 0.0, high = 1.0e3;
    for (int i = 0; i < 200; ++i) {
        double middle = 0.5 * (low + high);
        *(span_of(middle) > SPAN ? &low : &high) = middle;
    }
    Hung out = {.pull = weight / low};
    for (int i = 0; i < BARS; ++i) {
        double t = low * (i - 0.5 * (BARS - 1)), c = 1.0 / hypot(1.0, t);
        out.joint[i + 1] = tdl_axpy3(out.joint[i], BAR * c, (TdlVec3){1.0, 0.0, t});
    }
    return out;
}

// Bar i from `from` to `to`: a capsule about its own middle.
static TdlBodyId add_bar(TdlWorld* world, TdlVec3 from, TdlVec3 to) {
    TdlRigidDef def = tdl_rigid_def_default();
    TdlBodyId id = {0};
    def.shape = TDL_RIGID_CAPSULE;
    def.radius = RADIUS;
    def.length = BAR - 2.0 * RADIUS;
    def.pose.position = tdl_scale3(0.5, tdl_add3(from, to));
    def.pose.rotation = tdl_frame_from_tangent_hint(tdl_sub3(to, from), (TdlVec3){0.0, 1.0, 0.0});
    CHECK_INT(tdl_world_add_rigid(world, &def, &id), TDL_STATUS_OK);
    return id;
}

static TdlJointId add_hinge(TdlWorld* world, TdlBodyId a, TdlBodyId b, TdlVec3 point) {
    TdlJointDef def = tdl_joint_def_default();
    TdlJointId id = {0};
    def.kind = TDL_JOINT_HINGE;
    def.end[0].body = a;
    def.end[1].body = b;
    def.point[0] = point;
    def.axis = (TdlVec3){0.0, 1.0, 0.0};
    def.axis_damping = 5.0e-4; // swings die away in 1 s, bends in 0.3 s
    CHECK_INT(tdl_world_add_joint(world, &def, &id), TDL_STATUS_OK);
    return id;
}

// Bars in a V, which swing until they hang.
static void make_chain(TdlWorld* world, TdlJointId joint[BARS + 1]) {
    double c = SPAN / (BARS * BAR), s = sqrt(1.0 - c * c);
    TdlVec3 from = {0};
    TdlBodyId before = {0};
    for (int i = 0; i < BARS; ++i) {
        TdlVec3 to = tdl_axpy3(from, BAR, (TdlVec3){c, 0.0, i < BARS / 2 ? -s : s});
        TdlBodyId bar = add_bar(world, from, to);
        joint[i] =
            i == 0 ? add_hinge(world, bar, before, from) : add_hinge(world, before, bar, from);
        before = bar;
        from = to;
    }
    joint[BARS] = add_hinge(world, before, (TdlBodyId){0}, from);
}

TEST(a_chain_of_bars_hangs_in_the_discrete_catenary) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.step = 2.0e-3;
    TdlWorld* world;
    REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    TdlJointId joint[BARS + 1];
    make_chain(world, joint);
    for (int i = 0; i < 6000; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
    double weight = look_rigid_def(world, 0).density * PI * RADIUS * RADIUS *
                    (BAR - 2.0 * RADIUS + 4.0 / 3.0 * RADIUS) * G;
    Hung paper = hang(weight);
    double off = 0.0, pull = 0.0, across = 0.0;
    for (int i = 0; i <= BARS; ++i) {
        TdlJointState state = {0};
        CHECK_INT(tdl_joint_state(world, joint[i], &state), TDL_STATUS_OK);
        off = fmax(off, tdl_norm3(tdl_sub3(state.point, paper.joint[i])));
        pull = fmax(pull, fabs(fabs(state.force.x) / paper.pull - 1.0));
        // what hangs below; the first joint tells what the world does to the chain, and so signs
        double hangs = (0.5 * BARS - i) * weight * (i == 0 ? -1.0 : 1.0);
        across = fmax(across, fabs(state.force.z - hangs) / weight);
    }
    printf("  joints %.1e m off, their pull by %.1e, what hangs on them by %.1e\n", off, pull,
           across);
    // roundings of places, over the step, are what is left of swings
    CHECK_BELOW(off, 1.0e-12);
    CHECK_BELOW(pull, 1.0e-9);
    CHECK_BELOW(across, 1.0e-9);
    tdl_world_destroy(world);
}

// --- the winch -----------------------------------------------------------------------------------

// What friction may keep of a tension along so much of a wound rope.
static double capstan(double mu, double length, double radius) {
    return exp(mu * length / radius);
}

TEST(a_winch_winds_three_turns_and_holds) {
    enum { TURNS = 3, WOUND = 1600, STEPS = 1750, PLACES = 2 * 48 + 1, BENT = 4 };
    const double radius = 0.0205, mu = 0.1, load = 1.0, length = 0.48;
    Stage stage;
    REQUIRE(open_stage("winch.yaml", NULL, 1, &stage) == TDL_STATUS_OK);
    TdlBodyId rope = look_body(stage.world, "rod", 0);
    TdlVec3 held = {0}, end = {0};
    double drift = 0.0, from = look_rod_point(stage.world, rope, length).z;
    for (int i = 0; i < STEPS; ++i) {
        TdlStepInfo info;
        REQUIRE(tdl_world_step(stage.world, &info) == TDL_STATUS_OK);
        CHECK_INT(info.forced, 0);
        CHECK_BELOW(info.error, 1.0e-8);
        end = look_rod_point(stage.world, rope, length);
        held = i == WOUND ? end : held;
        drift = i > WOUND ? fmax(drift, fabs(end.z - held.z)) : 0.0;
    }
    TdlRodForce inner[PLACES];
    CHECK_INT(tdl_rod_forces(stage.world, rope, PLACES, NULL, inner), TDL_STATUS_OK);
    double wound = TURNS * 2.0 * PI * radius, hauled = end.z - from, worst = 0.0;
    printf(
        "  hauled %.4f m of %.4f, drifts by %.1e m in 0.3 s; its start holds %.2f times the load\n",
        hauled, wound, drift, inner[0].inner.x / load);
    CHECK_NEAR(hauled, wound, 5.0e-3 * wound); // in helices, 2e-3 longer, about a guide
    CHECK_BELOW(drift, 1.0e-8);                // overlaps are taken back by a part in each step
    // in the first two elements it presses on the drum by the moment of its clamp, too
    for (int i = BENT; i < PLACES; ++i) {
        for (int k = i + 1; k < PLACES; ++k) {
            // a contact holds a whole element's share at once
            double apart = length * ((k - i) / (PLACES - 1.0) + 2.0 / (PLACES - 1.0));
            double ratio = inner[k].inner.x / inner[i].inner.x;
            ratio = fmax(ratio, 1.0 / ratio);
            worst = fmax(worst, ratio / capstan(mu, fmin(apart, wound + 0.01), radius));
        }
    }
    printf("  of two tensions one is at most %.3f of what friction may make of the other\n", worst);
    CHECK_BELOW(worst, 1.01); // the guide, and elements bent from straight to round
    close_stage(&stage);
}
