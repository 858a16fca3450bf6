// Joints between bodies of every kind: what they hold, how they come and go, what is told of them,
// and that copies, resumed worlds and any number of threads have the same bits.
#include "math/rotation.h"
#include "tendril/tendril.h"
#include "test.h"
#include "world/world.h"

static const double GRAVITY = 9.81;

static void say(void* user, TdlLogLevel level, const char* message) {
    (void)user;
    if (level == TDL_LOG_WARNING) { // errors are asked for here
        printf("  %s\n", message);
    }
}

static TdlWorld* create_world(double step, TdlVec3 gravity, int threads) {
    TdlHost host = tdl_host_default();
    host.log = say;
    TdlWorldDef def = tdl_world_def_default();
    def.gravity = gravity;
    def.step = step;
    def.losses = true;
    def.thread_count = threads;
    TdlWorld* world;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        abort();
    }
    return world;
}

static TdlBodyId add_box(TdlWorld* world, TdlVec3 at, TdlVec3 half) {
    TdlRigidDef def = tdl_rigid_def_default();
    def.shape = TDL_RIGID_BOX;
    def.radius = 0.0;
    def.half = half;
    def.pose.position = at;
    TdlBodyId id = {0};
    CHECK_INT(tdl_world_add_rigid(world, &def, &id), TDL_STATUS_OK);
    return id;
}

static TdlBodyId add_ball(TdlWorld* world, TdlVec3 at, double radius, TdlVec3 velocity) {
    TdlRigidDef def = tdl_rigid_def_default();
    def.radius = radius;
    def.pose.position = at;
    def.velocity = velocity;
    TdlBodyId id = {0};
    CHECK_INT(tdl_world_add_rigid(world, &def, &id), TDL_STATUS_OK);
    return id;
}

static TdlJointId join(TdlWorld* world, const TdlJointDef* def) {
    TdlJointId id = {0};
    CHECK_INT(tdl_world_add_joint(world, def, &id), TDL_STATUS_OK);
    return id;
}

static TdlJointState state_of(const TdlWorld* world, TdlJointId joint) {
    TdlJointState state = {0};
    CHECK_INT(tdl_joint_state(world, joint, &state), TDL_STATUS_OK);
    return state;
}

static TdlStepInfo step_on(TdlWorld* world) {
    TdlStepInfo info = {0};
    if (tdl_world_step(world, &info) != TDL_STATUS_OK) {
        FAIL("a step failed at %g s", tdl_world_time(world));
    }
    CHECK_INT(info.forced, 0);
    return info;
}

static double box_mass(TdlVec3 half) {
    return 1000.0 * 8.0 * half.x * half.y * half.z;
}

// --- reactions of pendulums ---------------------------------------------------------------------

// What holds a body that swings in a plane about a place at the distance d from its centre, started
// from rest at an angle: along the arm and across it, N. (Paper: energy, then Newton.)
typedef struct Swing {
    double mass, inertia, arm, start; // inertia about the pivot
} Swing;

static TdlVec3 swing_force(const Swing* s, double angle) {
    double moment = s->mass * GRAVITY * s->arm;
    double spin = 2.0 * moment * (cos(angle) - cos(s->start)) / s->inertia; // squared
    double along = s->mass * (GRAVITY * cos(angle) + s->arm * spin);
    double across = s->mass * GRAVITY * sin(angle) * (1.0 - s->mass * s->arm * s->arm / s->inertia);
    // the arm points from the body to the pivot: (-sin, 0, cos) at an angle about y
    return (TdlVec3){-sin(angle) * along + cos(angle) * across, 0.0,
                     cos(angle) * along + sin(angle) * across};
}

// The largest difference of a joint's force from that on paper, over the weight. A force acts
// between two velocities, where the step begins.
static double follow_swing(TdlWorld* world, TdlJointId joint, const Swing* s, TdlBodyId body,
                           TdlVec3 pivot, int steps) {
    double worst = 0.0;
    for (int i = 0; i < steps; ++i) {
        TdlVec3 centre;
        double mass;
        tdl_body_centre(world, body, &centre, &mass);
        step_on(world);
        TdlVec3 force = state_of(world, joint).force;
        TdlVec3 arm = tdl_sub3(centre, pivot);
        TdlVec3 paper = swing_force(s, atan2(arm.x, -arm.z));
        double off = tdl_norm3(tdl_sub3(force, paper)) / (mass * GRAVITY);
        worst = fmax(worst, off);
    }
    return worst;
}

// A ball on a string, a box on a ball joint and on a hinge, each from 1 rad: errors of the force at
// two steps.
TEST(what_holds_pendulums_is_as_on_paper) {
    static const TdlJointKind KINDS[] = {TDL_JOINT_DISTANCE, TDL_JOINT_BALL, TDL_JOINT_HINGE};
    TdlVec3 half = {0.02, 0.03, 0.05};
    double start = 1.0, arm = 0.2;
    for (int k = 0; k < 3; ++k) {
        double off[2];
        for (int turn = 0; turn < 2; ++turn) {
            double step = turn == 0 ? 1.0e-3 : 5.0e-4;
            TdlWorld* world = create_world(step, (TdlVec3){0.0, 0.0, -GRAVITY}, 1);
            TdlVec3 at = {arm * sin(start), 0.0, -arm * cos(start)};
            bool point = KINDS[k] == TDL_JOINT_DISTANCE;
            TdlRigidDef def = tdl_rigid_def_default();
            def.shape = TDL_RIGID_BOX;
            def.radius = 0.0;
            def.half = half;
            def.pose = (TdlPose){at, tdl_rotation_exp((TdlVec3){0.0, -start, 0.0})};
            TdlBodyId body = {0};
            if (point) {
                body = add_ball(world, at, 0.03, (TdlVec3){0});
            } else {
                CHECK_INT(tdl_world_add_rigid(world, &def, &body), TDL_STATUS_OK);
            }
            double m;
            TdlVec3 unused;
            tdl_body_centre(world, body, &unused, &m);
            Swing swing = {m, m * arm * arm, arm, start};
            swing.inertia += point ? 0.0 : m * (half.x * half.x + half.z * half.z) / 3.0;
            TdlJointDef jd = tdl_joint_def_default();
            jd.kind = KINDS[k];
            jd.end[1].body = body;
            jd.point[0] = (TdlVec3){0};
            jd.point[1] = point ? at : jd.point[1];
            jd.axis = (TdlVec3){0.0, 1.0, 0.0};
            TdlJointId joint = join(world, &jd);
            off[turn] = follow_swing(world, joint, &swing, body, (TdlVec3){0}, (int)(1.0 / step));
            tdl_world_destroy(world);
        }
        printf("  kind %d: force off by %.2e, %.2e of the weight\n", KINDS[k], off[0], off[1]);
        CHECK_BELOW(off[1], 1.0e-4);
        CHECK_BELOW(off[1], 0.3 * off[0]); // second order
    }
}

// Two boxes that are fixed to each other swing as one; and between them is what the lower one
// needs: its weight and its acceleration.
TEST(what_is_fixed_swings_as_one) {
    TdlVec3 half = {0.02, 0.02, 0.05};
    double start = 0.8, step = 5.0e-4;
    TdlVec3 g = {-GRAVITY * sin(start), 0.0, -GRAVITY * cos(start)}; // turned instead of the boxes
    TdlWorld* world = create_world(step, g, 1);
    TdlBodyId upper = add_box(world, (TdlVec3){0.0, 0.0, -0.05}, half);
    TdlBodyId lower = add_box(world, (TdlVec3){0.0, 0.0, -0.15}, half);
    TdlJointDef jd = tdl_joint_def_default();
    jd.kind = TDL_JOINT_HINGE;
    jd.end[1].body = upper;
    jd.point[0] = (TdlVec3){0};
    jd.axis = (TdlVec3){0.0, 1.0, 0.0};
    TdlJointId hinge = join(world, &jd);
    jd.kind = TDL_JOINT_FIXED;
    jd.end[0].body = upper;
    jd.end[1].body = lower;
    jd.point[0] = (TdlVec3){0.0, 0.0, -0.1};
    TdlJointId weld = join(world, &jd);
    double m = box_mass(half), own = m * (half.x * half.x + half.z * half.z) / 3.0;
    double inertia = 2.0 * own + m * (0.05 * 0.05 + 0.15 * 0.15), moment = m * GRAVITY * 0.2;
    double worst = 0.0, torque_off = 0.0, apart = 0.0;
    for (int i = 0; i < 2000; ++i) {
        double angle = state_of(world, hinge).coordinate - start; // from the vertical
        step_on(world);
        TdlJointState s = state_of(world, weld);
        double spin = 2.0 * moment * (cos(angle) - cos(start)) / inertia;
        double slope = -moment * sin(angle) / inertia; // angular acceleration
        // along the arm and across it, of the lower box whose centre is 0.15 from the pivot
        double along = m * (GRAVITY * cos(angle) + 0.15 * spin);
        double across = m * (0.15 * slope + GRAVITY * sin(angle));
        double turn = own * slope + 0.05 * across; // about the weld
        double now = sqrt(along * along + across * across);
        if (i > 0) {
            worst = fmax(worst, fabs(tdl_norm3(s.force) - now) / (m * GRAVITY));
            torque_off =
                fmax(torque_off, fabs(fabs(s.torque.y) - fabs(turn)) / (m * GRAVITY * 0.05));
        }
        apart = fmax(apart, fmax(s.error, s.error_angle));
    }
    printf("  weld: force off by %.2e of the weight, torque by %.2e; apart %.2e\n", worst,
           torque_off, apart);
    CHECK_BELOW(worst, 1.0e-4);
    CHECK_BELOW(torque_off, 1.0e-4);
    CHECK_BELOW(apart, 1.0e-12);
    tdl_world_destroy(world);
}

// A box that slides down a tilted slider: its way, and what presses on the slider.
TEST(what_slides_falls_along_its_axis) {
    TdlVec3 half = {0.02, 0.02, 0.02};
    double m = box_mass(half), tilt = 0.5, step = 1.0e-3;
    TdlWorld* world = create_world(step, (TdlVec3){0.0, 0.0, -GRAVITY}, 1);
    TdlBodyId box = add_box(world, (TdlVec3){0}, half);
    TdlJointDef jd = tdl_joint_def_default();
    jd.kind = TDL_JOINT_SLIDER;
    jd.end[1].body = box;
    jd.point[0] = (TdlVec3){0};
    jd.axis = (TdlVec3){cos(tilt), 0.0, -sin(tilt)};
    TdlJointId joint = join(world, &jd);
    for (int i = 0; i < 500; ++i) {
        TdlStepInfo info = step_on(world);
        TdlJointState s = state_of(world, joint);
        CHECK_NEAR(s.coordinate, 0.5 * GRAVITY * sin(tilt) * info.time * info.time, 1.0e-12);
        CHECK_NEAR(tdl_norm3(s.force), m * GRAVITY * cos(tilt), 1.0e-10 * m * GRAVITY);
        CHECK_BELOW(fabs(s.power), 1.0e-12); // of what holds across the way
    }
    tdl_world_destroy(world);
}

// --- coming and going ---------------------------------------------------------------------------

static TdlVec3 momentum_of(const TdlWorld* world, const TdlBodyId* body, int count,
                           TdlVec3* angular) {
    TdlVec3 sum = {0};
    *angular = (TdlVec3){0};
    for (int i = 0; i < count; ++i) {
        TdlVec3 v, w, x;
        double m;
        tdl_rigid_velocity(world, body[i], &v, &w);
        tdl_body_centre(world, body[i], &x, &m);
        double radius = cbrt(m / (1000.0 * 4.0 / 3.0 * 3.14159265358979323846));
        TdlVec3 p = tdl_scale3(m, v);
        sum = tdl_add3(sum, p);
        TdlVec3 spin = tdl_scale3(0.4 * m * radius * radius, w);
        *angular = tdl_add3(*angular, tdl_add3(tdl_cross3(x, p), spin));
    }
    return sum;
}

// Two balls fly past each other; when they are nearest one grasps the other, they turn about their
// centre as one, and when it lets go they fly apart. Momentum stays, and the energy of what was
// grasped is that of the impact of two that stick.
TEST(what_is_grasped_and_let_go_keeps_its_momentum) {
    TdlWorld* world = create_world(1.0e-3, (TdlVec3){0}, 1);
    TdlBodyId ball[2] = {
        add_ball(world, (TdlVec3){-0.1, 0.0, 0.0}, 0.02, (TdlVec3){1.0, 0.0, 0.2}),
        add_ball(world, (TdlVec3){0.1, 0.06, 0.0}, 0.03, (TdlVec3){-1.0, 0.1, 0.0})};
    for (int i = 0; i < 100; ++i) {
        step_on(world);
    }
    TdlVec3 spin[3], p[3];
    p[0] = momentum_of(world, ball, 2, &spin[0]);
    double before = tdl_world_energy(world).kinetic;
    TdlJointDef jd = tdl_joint_def_default();
    jd.kind = TDL_JOINT_FIXED;
    jd.end[0].body = ball[0];
    jd.end[1].body = ball[1];
    TdlVec3 x, y, v[2], w[2];
    double m[2];
    tdl_body_centre(world, ball[0], &x, &m[0]);
    tdl_body_centre(world, ball[1], &y, &m[1]);
    jd.point[0] = tdl_scale3(0.5, tdl_add3(x, y));
    TdlJointId grip = join(world, &jd);
    double lost = 0.0;
    for (int i = 0; i < 300; ++i) {
        TdlStepInfo info = step_on(world);
        lost += info.impact + info.numerical;
    }
    p[1] = momentum_of(world, ball, 2, &spin[1]);
    TdlJointState s = state_of(world, grip);
    CHECK_BELOW(fmax(s.error, s.error_angle), 1.0e-12);
    // what two that stick keep: that of their centre and of the turn about it
    double held = tdl_world_energy(world).kinetic;
    CHECK(held < before);
    CHECK_NEAR(before - held, lost - s.work, 1.0e-11 * before);
    CHECK_INT(tdl_world_remove_joint(world, grip), TDL_STATUS_OK);
    CHECK_INT(tdl_world_remove_joint(world, grip), TDL_STATUS_BAD_ARGUMENT);
    tdl_rigid_velocity(world, ball[0], &v[0], &w[0]);
    for (int i = 0; i < 100; ++i) {
        step_on(world);
    }
    tdl_rigid_velocity(world, ball[0], &v[1], &w[1]);
    CHECK_BELOW(tdl_norm3(tdl_sub3(v[1], v[0])), 1.0e-14); // goes on as it flew
    p[2] = momentum_of(world, ball, 2, &spin[2]);
    for (int k = 1; k < 3; ++k) {
        CHECK_BELOW(tdl_norm3(tdl_sub3(p[k], p[0])), 1.0e-13 * tdl_norm3(p[0]));
        CHECK_BELOW(tdl_norm3(tdl_sub3(spin[k], spin[0])), 1.0e-10 * tdl_norm3(spin[0]));
    }
    CHECK_NEAR(tdl_world_energy(world).kinetic, held, 1.0e-10 * held);
    tdl_world_destroy(world);
}

// A body that goes takes its joints along.
TEST(joints_go_with_their_bodies) {
    TdlWorld* world = create_world(1.0e-3, (TdlVec3){0.0, 0.0, -GRAVITY}, 1);
    TdlBodyId box[3];
    TdlJointId made[2], told[4];
    for (int i = 0; i < 3; ++i) {
        box[i] = add_box(world, (TdlVec3){0.05 * i, 0.0, 0.0}, (TdlVec3){0.02, 0.02, 0.02});
    }
    for (int i = 0; i < 2; ++i) {
        TdlJointDef jd = tdl_joint_def_default();
        jd.kind = TDL_JOINT_BALL;
        jd.end[0].body = box[i];
        jd.end[1].body = box[i + 1];
        jd.point[0] = (TdlVec3){0.05 * i + 0.025, 0.0, 0.0};
        made[i] = join(world, &jd);
    }
    step_on(world);
    CHECK_INT(tdl_world_joints(world, 4, told), 2);
    CHECK(told[0].index == made[0].index && told[1].index == made[1].index);
    CHECK_INT(tdl_world_remove(world, box[2]), TDL_STATUS_OK);
    CHECK_INT(tdl_world_joints(world, 4, told), 1);
    TdlJointDef def;
    CHECK_INT(tdl_joint_def(world, made[0], &def), TDL_STATUS_OK);
    CHECK(tdl_body_id_equal(def.end[1].body, box[1]) && def.kind == TDL_JOINT_BALL);
    CHECK_INT(tdl_joint_def(world, made[1], &def), TDL_STATUS_BAD_ARGUMENT);
    TdlJointId again = {made[1].index, made[1].generation};
    TdlJointState s;
    CHECK_INT(tdl_joint_state(world, again, &s), TDL_STATUS_BAD_ARGUMENT);
    for (int i = 0; i < 100; ++i) {
        step_on(world);
    }
    CHECK_BELOW(state_of(world, made[0]).error, 1.0e-13);
    CHECK(tdl_joint_set_motor(world, made[0], (TdlMotor){TDL_MOTOR_SPEED, 1.0, 1.0}) ==
          TDL_STATUS_BAD_ARGUMENT); // a ball has no motor
    tdl_world_destroy(world);
}

// --- parts of steps, ends, mistakes -------------------------------------------------------------

// A ball falls into a rope: it is stopped in one part of a step, and the force is what its momentum
// changed by, whatever the parts; a rope that bears less breaks by the mean of the step.
TEST(a_rope_tells_what_stopped_a_ball) {
    for (int weak = 0; weak < 2; ++weak) {
        TdlWorld* world = create_world(1.0e-3, (TdlVec3){0.0, 0.0, -GRAVITY}, 1);
        TdlVec3 at = {0.0, 0.0, -0.1};
        TdlBodyId ball = add_ball(world, at, 0.01, (TdlVec3){0});
        TdlJointDef jd = tdl_joint_def_default();
        jd.kind = TDL_JOINT_DISTANCE;
        jd.end[1].body = ball;
        jd.point[0] = (TdlVec3){0};
        jd.point[1] = at;
        jd.range[0] = 0.0;
        jd.range[1] = 0.2;
        jd.break_force = weak ? 3.0 : jd.break_force;
        TdlJointId rope = join(world, &jd);
        double m, most = 0.0;
        TdlVec3 centre;
        tdl_body_centre(world, ball, &centre, &m);
        for (int i = 0; i < 160; ++i) {
            TdlVec3 before, after, w;
            tdl_rigid_velocity(world, ball, &before, &w);
            TdlStepInfo info = step_on(world);
            tdl_rigid_velocity(world, ball, &after, &w);
            TdlJointState s = state_of(world, rope);
            CHECK_INT(info.substeps, 1); // what a range stops is no turn of a joint
            if (i > 0 && !s.broken) {    // the first velocity is that of half a step
                double need = m * ((after.z - before.z) / 1.0e-3 + GRAVITY);
                CHECK_NEAR(s.force.z, need, 1.0e-9);
                most = fmax(most, s.force.z);
            }
        }
        CHECK(state_of(world, rope).broken == (weak == 1));
        CHECK(weak ? most < 3.0 : most > 3.0);
        tdl_world_destroy(world);
    }
}

// A motor that is told a place is there at the end of the step, also where that is made in parts,
// and does no more than what the box then has.
TEST(a_motor_is_where_it_is_told_by_the_end_of_a_step) {
    TdlVec3 half = {0.05, 0.02, 0.02};
    for (int k = 0; k < 2; ++k) {
        TdlWorld* world = create_world(1.0e-3, (TdlVec3){0}, 1);
        TdlBodyId box = add_box(world, (TdlVec3){0.05, 0.0, 0.0}, half);
        TdlJointDef jd = tdl_joint_def_default();
        jd.kind = TDL_JOINT_HINGE;
        jd.end[1].body = box;
        jd.point[0] = (TdlVec3){0};
        jd.axis = (TdlVec3){0.0, 0.0, 1.0};
        jd.motor = (TdlMotor){TDL_MOTOR_PLACE, k == 0 ? 0.05 : 0.5, INFINITY};
        TdlJointId joint = join(world, &jd);
        TdlStepInfo info = step_on(world);
        CHECK_NEAR(state_of(world, joint).coordinate, jd.motor.target, 1.0e-12);
        double rate = jd.motor.target / 1.0e-3, m = box_mass(half);
        double inertia = m * (half.x * half.x + half.y * half.y) / 3.0 + m * 0.05 * 0.05;
        CHECK_BELOW(info.joints, 4.0 * 0.5 * inertia * rate * rate);
        tdl_world_destroy(world);
    }
}

TEST(joints_that_cannot_be_are_refused) {
    TdlWorld* world = create_world(1.0e-3, (TdlVec3){0}, 1);
    TdlBodyId box = add_box(world, (TdlVec3){0}, (TdlVec3){0.02, 0.02, 0.02});
    TdlJointDef good = tdl_joint_def_default();
    good.kind = TDL_JOINT_HINGE;
    good.end[1].body = box;
    good.point[0] = (TdlVec3){0};
    CHECK(tdl_world_joint_fault(world, &good) == NULL);
    TdlJointDef bad = good;
    bad.range[0] = 0.2; // it is at 0
    bad.range[1] = 1.0;
    CHECK(tdl_world_joint_fault(world, &bad) != NULL);
    bad = good;
    bad.point[0] = (TdlVec3){INFINITY, 0.0, 0.0};
    CHECK(tdl_world_joint_fault(world, &bad) != NULL);
    bad.point[0] = (TdlVec3){1.0e160, 0.0, 0.0};
    CHECK(tdl_world_joint_fault(world, &bad) != NULL);
    bad = good;
    bad.end[0].body = box;
    CHECK(tdl_world_joint_fault(world, &bad) != NULL);
    TdlRodDef def = tdl_rod_def_default();
    TdlBodyId trunk = {0}, branch = {0};
    CHECK_INT(tdl_world_add_rod(world, &def, &trunk), TDL_STATUS_OK);
    bad = good;
    bad.kind = TDL_JOINT_BALL;
    bad.end[0] = bad.end[1] = (TdlJointEnd){.body = trunk, .at = 0.5 * def.length};
    CHECK(tdl_world_joint_fault(world, &bad) != NULL); // one place
    bad.end[0].body = box;
    CHECK(tdl_world_joint_fault(world, &bad) == NULL);
    def.parent = trunk;
    CHECK_INT(tdl_world_add_rod(world, &def, &branch), TDL_STATUS_OK);
    CHECK(tdl_world_joint_fault(world, &bad) != NULL); // a tree
    bad.end[1].body = branch;
    CHECK(tdl_world_joint_fault(world, &bad) != NULL);
    tdl_world_destroy(world);
}

// --- all kinds ----------------------------------------------------------------------------------

enum { KIND_ROD_END, KIND_ROD_MIDDLE, KIND_RIGID, KIND_COLLIDER, KIND_CLOTH, KIND_COUNT };
static const char* const KIND_NAMES[] = {"end of a rod", "middle of a rod", "rigid body",
                                         "collider", "vertex of a cloth"};
static const char* const JOINT_NAMES[] = {"fixed", "ball", "hinge", "slider", "distance"};

static const char* const MODELS[] = {"super-helix", "super-clothoid", "der", "corde",
                                     "mass-spring"};
enum { MODEL_COUNT = 5 };

static TdlBodyId add_rod(TdlWorld* world, const char* model, double at, double sign, double angle,
                         TdlVec3 place) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.length = 0.1;
    def.element_count = 8;
    def.radius[0] = def.radius[1] = 2.0e-3;
    def.young = 1.0e8;
    def.start = TDL_HOLD_FREE;
    double aside = sin(angle);
    TdlVec3 along = {-sign * cos(angle), sign < 0.0 ? aside : 0.0, sign < 0.0 ? 0.0 : aside};
    def.clamp.rotation = tdl_frame_from_tangent(along);
    def.clamp.position = tdl_axpy3(place, -at, along);
    TdlBodyId id = {0};
    CHECK_INT(tdl_world_add_rod(world, &def, &id), TDL_STATUS_OK);
    return id;
}

static TdlBodyId add_moved(TdlWorld* world, TdlVec3 at) {
    static const TdlKeyframe KEYS[] = {
        {.time = 0.0}, {.time = 0.2, .position = {0.01, 0.0, 0.02}, .rotation = {0.0, 0.4, 0.2}}};
    TdlColliderDef def = tdl_collider_def_default();
    def.shape = TDL_SHAPE_SPHERE;
    def.radius = 0.004;
    def.pose.position = at;
    def.motion.keys = KEYS;
    def.motion.key_count = 2;
    TdlBodyId id = {0};
    CHECK_INT(tdl_world_add_collider(world, &def, &id), TDL_STATUS_OK);
    return id;
}

// A square of cloth with a corner, its vertex 0, in a place.
static TdlBodyId add_sheet(TdlWorld* world, double sign, TdlVec3 corner) {
    TdlVec3 vertices[25];
    int faces[64];
    TdlClothDef def = tdl_cloth_def_default();
    def.mesh = tdl_cloth_rectangle(0.06, 0.06, 5, 5, vertices, faces);
    for (int i = 0; i < 25; ++i) {
        TdlVec3 x = {vertices[i].x + 0.03, 0.0, vertices[i].y + 0.03};
        vertices[i] = tdl_add3(corner, (TdlVec3){sign * x.x, 0.0, sign * x.z});
    }
    TdlBodyId id = {0};
    CHECK_INT(tdl_world_add_cloth(world, &def, &id), TDL_STATUS_OK);
    return id;
}

// A body of a kind one place of which is told; those of two sides lie on either side of that.
static TdlJointEnd add_thing(TdlWorld* world, int kind, double sign, const char* model,
                             TdlVec3 place) {
    TdlJointEnd end = {0};
    switch (kind) {
    case KIND_RIGID:
        end.body = add_box(world, tdl_add3(place, (TdlVec3){0.05 * sign, 0.0, 0.0}),
                           (TdlVec3){0.02, 0.015, 0.01});
        return end;
    case KIND_COLLIDER:
        end.body = add_moved(world, tdl_add3(place, (TdlVec3){0.01 * sign, 0.0, 0.0}));
        return end;
    case KIND_CLOTH:
        end.body = add_sheet(world, sign, place);
        return end;
    default:
        end.at = kind == KIND_ROD_END ? 0.1 : 0.05;
        end.body = add_rod(world, model, end.at, sign, kind == KIND_ROD_END ? 0.0 : 1.0, place);
        return end;
    }
}

static bool has_frame(int kind, const char* model) {
    bool rod = kind == KIND_ROD_END || kind == KIND_ROD_MIDDLE;
    return kind != KIND_CLOTH && !(rod && strcmp(model, "mass-spring") == 0);
}

// Two things and their joint in a world under gravity; a null id where they cannot be joined so.
static TdlJointId join_two(TdlWorld* world, const int kind[2], TdlJointKind joint,
                           const char* model) {
    TdlVec3 place[2] = {{0}, {joint == TDL_JOINT_DISTANCE ? 0.03 : 0.0, 0.0, 0.0}};
    TdlJointDef def = tdl_joint_def_default();
    def.kind = joint;
    def.axis = (TdlVec3){0.2, 1.0, 0.3};
    def.clear = 1.0; // joints alone
    for (int k = 0; k < 2; ++k) {
        def.end[k] = add_thing(world, kind[k], k == 0 ? -1.0 : 1.0, model, place[k]);
        bool own = kind[k] != KIND_RIGID && kind[k] != KIND_COLLIDER;
        def.point[k] = own ? def.point[k] : place[k];
    }
    bool turns = joint != TDL_JOINT_BALL && joint != TDL_JOINT_DISTANCE;
    bool can = (!turns || (has_frame(kind[0], model) && has_frame(kind[1], model))) &&
               !(kind[0] == KIND_COLLIDER && kind[1] == KIND_COLLIDER);
    TdlJointId id = {0};
    CHECK((tdl_world_joint_fault(world, &def) == NULL) == can);
    CHECK_INT(tdl_world_add_joint(world, &def, &id), can ? TDL_STATUS_OK : TDL_STATUS_BAD_ARGUMENT);
    return id;
}

typedef struct Held {
    double off, balance; // of the size of the bodies; of the energy at play
} Held;

static Held follow_two(TdlWorld* world, TdlJointId joint) {
    Held held = {0};
    TdlEnergy e = tdl_world_energy(world);
    double before = e.kinetic + e.elastic + e.gravity, play = 0.0;
    for (int i = 0; i < 150; ++i) {
        TdlStepInfo info = step_on(world);
        TdlJointState s = state_of(world, joint);
        held.off = fmax(held.off, fmax(s.error / 0.1, s.error_angle));
        double now = info.energy.kinetic + info.energy.elastic + info.energy.gravity;
        double gain = info.work + info.given + info.joints + info.push - info.friction -
                      info.impact - info.damping - info.numerical;
        play = fmax(play, info.energy.kinetic);
        held.balance = fmax(held.balance, fabs(now - before - gain));
        before = now;
    }
    held.balance /= play;
    return held;
}

// Any place of any body to any place of any other, by every kind of joint: met to rounding. What a
// step takes of a cloth is not told, so that its energy has no balance.
TEST(any_two_places_are_held) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        double worst = 0.0, balance = 0.0;
        int pairs = 0;
        for (int p = 0; p < KIND_COUNT * KIND_COUNT * 5; ++p) {
            int kind[2] = {p / 5 / KIND_COUNT, p / 5 % KIND_COUNT};
            bool rods = kind[0] <= KIND_ROD_MIDDLE || kind[1] <= KIND_ROD_MIDDLE;
            bool sheets =
                kind[0] == KIND_CLOTH && p % 5 == TDL_JOINT_BALL; // these are sewn instead
            if (kind[0] > kind[1] || (m > 0 && !rods) || sheets) {
                continue;
            }
            TdlWorld* world = create_world(1.0e-3, (TdlVec3){0.0, 0.0, -GRAVITY}, 1);
            TdlJointId joint = join_two(world, kind, (TdlJointKind)(p % 5), MODELS[m]);
            if (joint.index != 0) {
                Held held = follow_two(world, joint);
                ++pairs;
                worst = fmax(worst, held.off);
                bool cloth = kind[0] == KIND_CLOTH || kind[1] == KIND_CLOTH;
                held.balance = cloth ? 0.0 : held.balance;
                balance = fmax(balance, held.balance);
                if (!(held.off < 1.0e-11) || !(held.balance < 1.0e-11)) {
                    printf("  %s, %s to %s, %s: off %.2g, energy %.2g\n", MODELS[m],
                           KIND_NAMES[kind[0]], KIND_NAMES[kind[1]], JOINT_NAMES[p % 5], held.off,
                           held.balance);
                }
            }
            tdl_world_destroy(world);
        }
        printf("  %s: %d pairs, off by at most %.2g, energy by %.2g\n", MODELS[m], pairs, worst,
               balance);
        CHECK_BELOW(worst, 1.0e-11);
        CHECK_BELOW(balance, 1.0e-11);
    }
}

// A script lifts a rod and turns it, and a box hangs on it: what the joint does to the rod beside
// its coordinates is the script's, and none of it comes from nowhere. Of second order in the step.
TEST(what_scripts_lift_is_given) {
    static const TdlKeyframe KEYS[] = {
        {.time = 0.0}, {.time = 1.0, .position = {0.0, 0.0, 0.2}, .rotation = {0.3, 0.0, 2.0}}};
    static const TdlJointKind KINDS[] = {TDL_JOINT_FIXED, TDL_JOINT_BALL, TDL_JOINT_HINGE};
    for (int k = 0; k < 3; ++k) {
        double nowhere[2];
        for (int turn = 0; turn < 2; ++turn) {
            double step = turn == 0 ? 2.0e-3 : 1.0e-3;
            TdlWorld* world = create_world(step, (TdlVec3){0.0, 0.0, -GRAVITY}, 1);
            TdlRodDef def = tdl_rod_def_default();
            def.length = 0.1;
            def.element_count = 8;
            def.radius[0] = def.radius[1] = 1.0e-3;
            def.young = 1.0e8;
            def.damping = 0.01;
            def.clamp.rotation = tdl_frame_from_tangent((TdlVec3){0.0, 0.0, -1.0});
            def.motion.keys = KEYS;
            def.motion.key_count = 2;
            TdlJointDef jd = tdl_joint_def_default();
            CHECK_INT(tdl_world_add_rod(world, &def, &jd.end[0].body), TDL_STATUS_OK);
            TdlVec3 half = {0.01, 0.01, 0.02};
            jd.kind = KINDS[k];
            jd.end[0].at = 0.1;
            jd.end[1].body = add_box(world, (TdlVec3){0.0, 0.0, -0.12}, half);
            jd.axis = (TdlVec3){1.0, 0.0, 0.0};
            join(world, &jd);
            nowhere[turn] = 0.0;
            double given = 0.0, joints = 0.0;
            for (int i = 0; i < (int)(1.0 / step); ++i) {
                TdlStepInfo info = step_on(world);
                nowhere[turn] += info.nowhere;
                given += info.given + info.work;
                joints += info.joints - info.numerical;
            }
            double lifted = box_mass(half) * GRAVITY * 0.2;
            CHECK(given > lifted && given < 1.5 * lifted);
            CHECK_BELOW(fabs(joints), 0.05 * lifted); // nearly: bending was damped
            nowhere[turn] /= lifted;
            tdl_world_destroy(world);
        }
        printf("  %s: %.2e, %.2e of what was lifted\n", JOINT_NAMES[KINDS[k]], nowhere[0],
               nowhere[1]);
        CHECK_BELOW(nowhere[1], 1.0e-3);
    }
}

// --- the same bits ------------------------------------------------------------------------------

// A bit of everything: a chain on a rod on a sheet, a motor, a spring, a strut that breaks.
static TdlWorld* make_assembly(int threads) {
    TdlWorld* world = create_world(1.0e-3, (TdlVec3){0.0, 0.0, -GRAVITY}, threads);
    TdlBodyId box[6];
    for (int i = 0; i < 6; ++i) {
        box[i] = add_box(world, (TdlVec3){0.06 * i, 0.2, 0.0}, (TdlVec3){0.02, 0.015, 0.01});
    }
    TdlJointDef def = tdl_joint_def_default();
    def.axis = (TdlVec3){0.0, 1.0, 0.0};
    for (int i = 0; i < 6; ++i) {
        def.kind = i % 2 == 0 ? TDL_JOINT_HINGE : TDL_JOINT_BALL;
        def.end[0].body = i == 0 ? (TdlBodyId){0} : box[i - 1];
        def.end[1].body = box[i];
        def.point[0] = (TdlVec3){0.06 * i - 0.03, 0.2, 0.0};
        def.motor.mode = i == 2 ? TDL_MOTOR_SPEED : TDL_MOTOR_OFF;
        def.motor.target = 3.0;
        def.motor.most = 0.02;
        def.axis_stiffness = i == 4 ? 0.05 : 0.0;
        join(world, &def);
    }
    TdlBodyId rod = add_rod(world, "super-helix", 0.0, -1.0, 0.0, (TdlVec3){0.33, 0.2, 0.0});
    def = tdl_joint_def_default();
    def.end[0].body = box[5];
    def.end[1].body = rod;
    join(world, &def);
    TdlBodyId sheet = add_sheet(world, 1.0, (TdlVec3){0.43, 0.2, 0.0});
    def.kind = TDL_JOINT_BALL;
    def.end[0] = (TdlJointEnd){rod, 0.1};
    def.end[1].body = sheet;
    join(world, &def);
    def = tdl_joint_def_default();
    def.kind = TDL_JOINT_DISTANCE;
    def.end[1].body = box[3];
    def.point[0] = (TdlVec3){0.18, 0.2, 0.3};
    def.point[1] = (TdlVec3){0.18, 0.2, 0.01};
    def.break_force = 1.05;
    TdlJointId strut = join(world, &def);
    CHECK_INT(tdl_joint_set_name(world, strut, "strut"), TDL_STATUS_OK);
    return world;
}

static void steps(TdlWorld* world, int count) {
    for (int i = 0; i < count; ++i) {
        step_on(world);
    }
}

TEST(copies_threads_and_resumed_worlds_have_the_same_bits) {
    enum { HALF = 60 };
    TdlWorld* world = make_assembly(1);
    steps(world, HALF);
    TdlJointId strut = tdl_world_joint(world, 8);
    size_t size = tdl_world_state_size(world);
    char* bytes = malloc(size);
    REQUIRE(bytes != NULL);
    tdl_world_save_state(world, bytes);
    TdlWorld* copy;
    REQUIRE(tdl_world_copy(world, &copy) == TDL_STATUS_OK);
    CHECK(tdl_world_state_hash(copy) == tdl_world_state_hash(world));
    steps(world, HALF);
    uint64_t hash = tdl_world_state_hash(world);
    CHECK(state_of(world, strut).broken);
    steps(copy, HALF);
    CHECK(tdl_world_state_hash(copy) == hash);
    tdl_world_destroy(world);
    steps(copy, 5); // the original is gone
    tdl_world_destroy(copy);

    TdlWorld* resumed = make_assembly(2);
    CHECK_INT(tdl_world_load_state(resumed, bytes, size), TDL_STATUS_OK);
    steps(resumed, HALF);
    CHECK(tdl_world_state_hash(resumed) == hash);
    // back to where the strut holds
    CHECK_INT(tdl_world_load_state(resumed, bytes, size), TDL_STATUS_OK);
    CHECK(!state_of(resumed, tdl_world_joint(resumed, 8)).broken);
    steps(resumed, HALF);
    CHECK(tdl_world_state_hash(resumed) == hash);
    // a world with other joints is another world
    CHECK_INT(tdl_world_remove_joint(resumed, tdl_world_joint(resumed, 0)), TDL_STATUS_OK);
    CHECK(tdl_world_load_state(resumed, bytes, size) != TDL_STATUS_OK);
    tdl_world_destroy(resumed);
    free(bytes);
}

// Two chains of capsules that hit each other: what pushed them in one step is nothing to the next,
// so that a copy made at any time goes on with the same bits.
TEST(copies_of_what_was_pushed_have_the_same_bits) {
    double pushed = 0.0;
    for (int trial = 0; trial < 4; ++trial) {
        TdlWorld* world = create_world(1.0e-3, (TdlVec3){0}, 1);
        TdlBodyId id[6];
        for (int i = 0; i < 6; ++i) {
            TdlRigidDef def = tdl_rigid_def_default();
            def.shape = TDL_RIGID_CAPSULE;
            def.radius = 0.01;
            def.length = 0.06;
            double side = i < 3 ? 0.0 : 1.0, shift = 1.3e-3 * ((i * 7 + trial * 3) % 5 - 2);
            def.pose.position = (TdlVec3){i % 3 * 0.085, side * 0.05 + shift, -shift};
            def.velocity = (TdlVec3){100.0 * shift, side > 0.0 ? -2.0 : 2.0, 60.0 * shift};
            CHECK_INT(tdl_world_add_rigid(world, &def, &id[i]), TDL_STATUS_OK);
        }
        for (int i = 0; i < 5; ++i) {
            TdlJointDef jd = tdl_joint_def_default();
            jd.kind = TDL_JOINT_BALL;
            jd.end[0].body = id[i];
            jd.end[1].body = id[i + 1];
            jd.point[0] = (TdlVec3){0.0425 + i % 3 * 0.085, i < 3 ? 0.0 : 0.05, 0.0};
            if (i != 2) {
                join(world, &jd);
            }
        }
        for (int i = 0; i < 60; ++i) {
            TdlWorld* copy;
            REQUIRE(tdl_world_copy(world, &copy) == TDL_STATUS_OK);
            TdlStepInfo info = step_on(world);
            step_on(copy);
            CHECK(tdl_world_state_hash(copy) == tdl_world_state_hash(world));
            pushed += fabs(info.push);
            tdl_world_destroy(copy);
        }
        tdl_world_destroy(world);
    }
    CHECK(pushed > 0.0);
}

// --- rows ---------------------------------------------------------------------------------------

// A row times a velocity is how fast its offset changes: where the step ends less where it began,
// over steps that are a tenth each time, which differs by what is of second order in time.
TEST(rows_are_the_rates_of_offsets) {
    static const int SIDES[][2] = {
        {KIND_RIGID, KIND_RIGID}, {KIND_ROD_END, KIND_RIGID}, {KIND_ROD_MIDDLE, KIND_ROD_END}};
    for (int m = 0; m < 4; ++m) {
        for (int p = 0; p < 3 * 5; ++p) {
            TdlWorld* world = create_world(1.0e-3, (TdlVec3){0}, 1);
            TdlJointId id = join_two(world, SIDES[p / 5], (TdlJointKind)(p % 5), MODELS[m]);
            REQUIRE(id.index != 0);
            steps(world, 1); // closed, and all is laid out
            Joint* joint = world->joints.at[0];
            double worst[3] = {0.0};
            for (int s = 0; s < 3; ++s) {
                BodyStep step = {.dt = 1.0e-3 * pow(0.1, s), .gravity = {0}};
                step.start = tdl_world_time(world);
                step.end = step.start + step.dt;
                for (int i = 0; i < world->body_count; ++i) {
                    Body* body = world->body[i];
                    if (body->kind->prepare != NULL) {
                        body->kind->prepare(body, &step);
                    }
                    body->kind->predict(body, &step);
                    for (int j = 0; j < body->dof_count; ++j) {
                        body->v_free[j] = 0.3 * sin(1.0 + i + 0.7 * j);
                    }
                }
                REQUIRE(joint_fill(joint, &step, false, &world->joints.arena));
                joint_pose_now(joint, joint->start);
                memset(joint->miss, 0, sizeof joint->miss);
                joint_look(joint, &step);
                double c[JOINT_ROWS];
                joint_offsets(joint, joint->start, step.dt, c);
                for (int r = 0; r < joint->row_count; ++r) {
                    double rate = 0.0;
                    for (int k = 0; k < 2; ++k) {
                        rate +=
                            joint_moves(&joint->side[k])
                                ? joint_product(joint, k, r, joint->side[k].body->system->v_free)
                                : 0.0;
                    }
                    double own = (joint->foreseen[r] - c[r]) / step.dt - rate;
                    worst[s] = fmax(worst[s], fabs(own));
                }
            }
            printf("  %s %d, %s: %.2e %.2e %.2e\n", MODELS[m], p / 5, JOINT_NAMES[p % 5], worst[0],
                   worst[1], worst[2]);
            CHECK_BELOW(worst[2], 0.02 * worst[0] + 1.0e-8); // first order, to roundings over dt
            tdl_world_destroy(world);
        }
    }
}
