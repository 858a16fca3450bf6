// Joints against answers on paper: pendulums, chains, linkages, what they bear, what they keep.
#include "math/rotation.h"
#include "tendril/world.h"
#include "test.h"

#include <float.h>

static const double GRAVITY = 9.81;

static TdlWorld* create_world(double step, TdlVec3 gravity) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.gravity = gravity;
    def.step = step;
    def.losses = true;
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

static TdlJointId join(TdlWorld* world, TdlJointKind kind, TdlBodyId a, TdlBodyId b, TdlVec3 point,
                       TdlVec3 axis) {
    TdlJointDef def = tdl_joint_def_default();
    def.kind = kind;
    def.end[0].body = a;
    def.end[1].body = b;
    def.point[0] = point;
    def.axis = axis;
    TdlJointId id = {0};
    CHECK_INT(tdl_world_add_joint(world, &def, &id), TDL_STATUS_OK);
    return id;
}

static TdlJointState state_of(const TdlWorld* world, TdlJointId joint) {
    TdlJointState state = {0};
    CHECK_INT(tdl_joint_state(world, joint, &state), TDL_STATUS_OK);
    return state;
}

// The complete elliptic integral of the first kind, by the mean of means.
static double elliptic(double k) {
    double a = 1.0, b = sqrt(1.0 - k * k);
    for (int i = 0; i < 40; ++i) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return 1.57079632679489661923 / a;
}

// Time at which x(t) falls through 0, by the secant of two steps; NAN: not yet.
typedef struct Crossing {
    double before, time;
    int count;
    double at[64];
} Crossing;

static void watch(Crossing* c, double time, double x) {
    if (c->count < 64 && c->time > 0.0 && c->before > 0.0 && x <= 0.0) {
        c->at[c->count++] = c->time + (time - c->time) * c->before / (c->before - x);
    }
    c->before = x;
    c->time = time;
}

static double mean_period(const Crossing* c) {
    return c->count < 2 ? NAN : (c->at[c->count - 1] - c->at[0]) / (c->count - 1);
}

TEST(a_box_on_a_hinge_swings_as_it_must) {
    TdlVec3 half = {0.02, 0.03, 0.05};
    double m = 1000.0 * 8.0 * half.x * half.y * half.z, d = 0.1;
    double inertia = m * (half.x * half.x + half.z * half.z) / 3.0 + m * d * d, amplitude = 1.0;
    double exact = 4.0 * sqrt(inertia / (m * GRAVITY * d)) * elliptic(sin(0.5 * amplitude));
    double error[2];
    for (int turn = 0; turn < 2; ++turn) {
        double step = turn == 0 ? 2.0e-3 : 1.0e-3;
        TdlWorld* world = create_world(
            step, (TdlVec3){-GRAVITY * sin(amplitude), 0.0, -GRAVITY * cos(amplitude)});
        TdlBodyId box = add_box(world, (TdlVec3){0.0, 0.0, -d}, half);
        TdlJointId hinge = join(world, TDL_JOINT_HINGE, (TdlBodyId){0}, box, (TdlVec3){0},
                                (TdlVec3){0.0, 1.0, 0.0});
        Crossing c = {0};
        double worst = 0.0;
        TdlEnergy before = tdl_world_energy(world);
        double e0 = before.kinetic + before.gravity, most = 0.0;
        for (int i = 0; i < (int)(4.0 / step); ++i) {
            TdlStepInfo info;
            REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
            TdlJointState s = state_of(world, hinge);
            watch(&c, info.time, s.coordinate - amplitude);
            worst = fmax(worst, fmax(s.error, s.error_angle));
            most = fmax(most, fabs(info.energy.kinetic + info.energy.gravity - e0));
            CHECK(info.forced == 0);
        }
        error[turn] = mean_period(&c) / exact - 1.0;
        printf("  step %g: period %.8f, exact %.8f, off by %.3g; drift %.3g, energy %.3g of %.3g\n",
               step, mean_period(&c), exact, error[turn], worst, most, m * GRAVITY * d);
        CHECK(fabs(error[turn]) < 1.0e-4);
        CHECK(worst < 1.0e-12);
        tdl_world_destroy(world);
    }
}

// --- momentum -----------------------------------------------------------------------------------

static const char* const MODELS[] = {"super-helix", "super-helix-dense", "super-clothoid", "der",
                                     "corde",       "mass-spring"};
enum { MODEL_COUNT = 6 };

// Angular momentum about the origin of rigid boxes by their inertia, half a step before the pose.
typedef struct Momenta {
    TdlVec3 linear, angular;
} Momenta;

static Momenta box_momenta(const TdlWorld* world, TdlBodyId box, TdlVec3 half, double dt) {
    TdlPose pose;
    TdlVec3 v, w, centre;
    double m;
    tdl_rigid_pose(world, box, &pose);
    tdl_rigid_velocity(world, box, &v, &w);
    tdl_body_centre(world, box, &centre, &m);
    // velocities are half a step older than poses
    TdlMat3 r = tdl_mul33(tdl_rotation_exp(tdl_scale3(-0.5 * dt, w)), pose.rotation);
    TdlVec3 own = tdl_tmul33_3(r, w);
    own = (TdlVec3){own.x * m * (half.y * half.y + half.z * half.z) / 3.0,
                    own.y * m * (half.x * half.x + half.z * half.z) / 3.0,
                    own.z * m * (half.x * half.x + half.y * half.y) / 3.0};
    TdlVec3 spin = tdl_mul33_3(r, own);
    return (Momenta){tdl_scale3(m, v), tdl_add3(tdl_cross3(centre, tdl_scale3(m, v)), spin)};
}

TEST(free_chains_keep_their_momenta) {
    enum { BOXES = 20 };
    static const TdlJointKind KINDS[] = {TDL_JOINT_BALL, TDL_JOINT_HINGE, TDL_JOINT_FIXED,
                                         TDL_JOINT_SLIDER, TDL_JOINT_DISTANCE};
    double step = 1.0e-3;
    TdlVec3 half = {0.02, 0.012, 0.015};
    for (int kind = 0; kind < 5; ++kind) {
        TdlWorld* world = create_world(step, (TdlVec3){0});
        TdlBodyId box[BOXES];
        for (int i = 0; i < BOXES; ++i) {
            TdlRigidDef def = tdl_rigid_def_default();
            def.shape = TDL_RIGID_BOX;
            def.radius = 0.0;
            def.half = half;
            def.pose.position = (TdlVec3){0.05 * i, 0.0, 0.0};
            if (i == 0) {
                def.velocity = (TdlVec3){0.1, 0.7, 0.3};
                def.angular_velocity = (TdlVec3){3.0, 1.0, -2.0};
            }
            CHECK_INT(tdl_world_add_rigid(world, &def, &box[i]), TDL_STATUS_OK);
        }
        for (int i = 0; i + 1 < BOXES; ++i) {
            TdlJointDef def = tdl_joint_def_default();
            def.kind = KINDS[kind];
            def.end[0].body = box[i];
            def.end[1].body = box[i + 1];
            def.point[0] = (TdlVec3){0.05 * i + 0.02, 0.0, 0.0};
            def.point[1] = (TdlVec3){0.05 * i + 0.03, 0.0, 0.0};
            def.axis = i % 2 == 0 ? (TdlVec3){0.0, 1.0, 0.0} : (TdlVec3){0.0, 0.3, 1.0};
            TdlJointId id;
            CHECK_INT(tdl_world_add_joint(world, &def, &id), TDL_STATUS_OK);
        }
        Momenta first = {0}, last = {0};
        double off = 0.0;
        TdlStepInfo info = {0};
        double e0 = 0.0, rise = 0.0;
        for (int i = 0; i < REPEATS(1000, 100); ++i) {
            REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
            CHECK(info.forced == 0);
            Momenta sum = {0};
            for (int k = 0; k < BOXES; ++k) {
                Momenta own = box_momenta(world, box[k], half, step);
                sum.linear = tdl_add3(sum.linear, own.linear);
                sum.angular = tdl_add3(sum.angular, own.angular);
            }
            first = i == 0 ? sum : first;
            e0 = i == 0 ? info.energy.kinetic : e0;
            rise = fmax(rise, info.energy.kinetic / e0 - 1.0);
            last = sum;
            off = fmax(off, info.joint_error);
        }
        double lin = tdl_norm3(tdl_sub3(last.linear, first.linear)) / tdl_norm3(first.linear);
        double ang = tdl_norm3(tdl_sub3(last.angular, first.angular)) / tdl_norm3(first.angular);
        CHECK(lin < 1.0e-10 && ang < 1.0e-10);
        printf("  kind %d: linear %.2g, angular %.2g, off %.2g, energy now %.6f, most %.2g, "
               "substeps %d\n",
               kind, lin, ang, off, info.energy.kinetic / e0, rise, info.substeps);
        tdl_world_destroy(world);
    }
}

// --- springs, motors, ranges, what breaks -------------------------------------------------------

static TdlStepInfo step_on(TdlWorld* world) {
    TdlStepInfo info = {0};
    CHECK_INT(tdl_world_step(world, &info), TDL_STATUS_OK);
    CHECK_INT(info.forced, 0);
    return info;
}

static double box_mass(TdlVec3 half) {
    return 1000.0 * 8.0 * half.x * half.y * half.z;
}

// A slider with a spring, from a told way, and a hinge with one: by the period and what is left of
// the way after ten.
TEST(springs_swing_and_keep_their_energy) {
    TdlVec3 half = {0.02, 0.02, 0.02};
    double m = box_mass(half), way = 0.03, k = 50.0;
    for (int hinge = 0; hinge < 2; ++hinge) {
        double inertia = hinge ? m * 2.0 * half.x * half.x / 3.0 : m;
        k = hinge ? 0.02 : 50.0;
        double exact = 6.283185307179586 * sqrt(inertia / k), error[2];
        for (int turn = 0; turn < 2; ++turn) {
            double step = exact / (turn == 0 ? 100.0 : 200.0);
            TdlWorld* world = create_world(step, (TdlVec3){0});
            TdlBodyId box = add_box(world, (TdlVec3){0}, half);
            TdlJointDef def = tdl_joint_def_default();
            def.kind = hinge ? TDL_JOINT_HINGE : TDL_JOINT_SLIDER;
            def.end[1].body = box;
            def.point[0] = (TdlVec3){0};
            def.axis = (TdlVec3){0.3, -1.0, 2.0};
            def.axis_stiffness = k;
            def.axis_rest = way;
            TdlJointId joint;
            CHECK_INT(tdl_world_add_joint(world, &def, &joint), TDL_STATUS_OK);
            Crossing c = {0};
            double most = 0.0, work = 0.0, lost = 0.0;
            TdlStepInfo info = {0};
            while (c.count < 11) {
                info = step_on(world);
                TdlJointState s = state_of(world, joint);
                watch(&c, info.time, s.coordinate - way);
                most = fmax(most, fabs(s.coordinate - way));
                work += info.joints;
                lost += info.numerical;
                CHECK(fabs(s.coordinate - way) < 1.01 * way);
            }
            TdlJointState s = state_of(world, joint);
            error[turn] = mean_period(&c) / exact - 1.0;
            printf("  %s, %g steps a period: period off by %.3g, way %.5f of %.5f\n",
                   hinge ? "hinge" : "slider", exact / step, error[turn], most, way);
            CHECK(fabs(work - lost - info.energy.kinetic) < 1.0e-12 * k * way * way);
            CHECK(fabs(s.work - work) < 1.0e-12 * k * way * way);
            CHECK(fabs(error[turn]) < 1.0e-3);
            tdl_world_destroy(world);
        }
        CHECK(fabs(error[1]) < 0.3 * fabs(error[0])); // second order
    }
}

// A motor that can do no more than its most turns a box as that does, and one that can holds its
// speed; what it does is what the box gains.
TEST(motors_do_what_they_can) {
    TdlVec3 half = {0.03, 0.02, 0.02};
    double m = box_mass(half), inertia = m * (half.x * half.x + half.y * half.y) / 3.0;
    double most = 1.0e-4, speed = 5.0, step = 1.0e-3;
    TdlWorld* world = create_world(step, (TdlVec3){0});
    TdlBodyId box = add_box(world, (TdlVec3){0}, half);
    TdlJointDef def = tdl_joint_def_default();
    def.kind = TDL_JOINT_HINGE;
    def.end[1].body = box;
    def.point[0] = (TdlVec3){0};
    def.axis = (TdlVec3){0.0, 0.0, 1.0};
    def.motor = (TdlMotor){TDL_MOTOR_SPEED, speed, most};
    TdlJointId joint;
    CHECK_INT(tdl_world_add_joint(world, &def, &joint), TDL_STATUS_OK);
    double until = speed * inertia / most, work = 0.0;
    for (int i = 0; i < (int)(0.9 * until / step); ++i) {
        TdlStepInfo info = step_on(world);
        TdlJointState s = state_of(world, joint);
        CHECK_NEAR(s.drive, most, 1.0e-12 * most);
        CHECK_NEAR(s.rate, most * (info.time - 0.5 * step) / inertia, 1.0e-9 * speed);
        double way = 0.5 * most / inertia * info.time * info.time;
        CHECK_NEAR(s.coordinate, way, 1.0e-11);
        work += info.joints - info.numerical;
        CHECK_NEAR(work, info.energy.kinetic, 1.0e-12 * inertia * speed * speed);
    }
    for (int i = 0; i < (int)(0.2 * until / step); ++i) {
        step_on(world);
    }
    CHECK_NEAR(state_of(world, joint).rate, speed, 1.0e-9 * speed);
    CHECK_NEAR(state_of(world, joint).drive, 0.0, 1.0e-9 * most);
    // to a place, as strong as it takes, and off
    double here = state_of(world, joint).coordinate;
    TdlMotor place = {TDL_MOTOR_PLACE, here, INFINITY};
    for (int i = 0; i < 500; ++i) {
        place.target = here + 2.0e-3 * i;
        CHECK_INT(tdl_joint_set_motor(world, joint, place), TDL_STATUS_OK);
        step_on(world);
        CHECK_NEAR(state_of(world, joint).coordinate, place.target, 1.0e-11);
    }
    CHECK_INT(tdl_joint_set_motor(world, joint, (TdlMotor){TDL_MOTOR_OFF, 0.0, 1.0}),
              TDL_STATUS_OK);
    double rate = state_of(world, joint).rate;
    for (int i = 0; i < 100; ++i) {
        step_on(world);
    }
    CHECK_NEAR(state_of(world, joint).rate, rate, 1.0e-9 * rate);
    tdl_world_destroy(world);
}

// A box that falls along a slider stops at the end of its range and stays there.
TEST(ranges_end) {
    TdlVec3 half = {0.02, 0.02, 0.02};
    TdlWorld* world = create_world(1.0e-3, (TdlVec3){0.0, 0.0, -GRAVITY});
    TdlBodyId box = add_box(world, (TdlVec3){0}, half);
    TdlJointDef def = tdl_joint_def_default();
    def.kind = TDL_JOINT_SLIDER;
    def.end[1].body = box;
    def.point[0] = (TdlVec3){0};
    def.axis = (TdlVec3){0.0, 0.0, 1.0};
    def.range[0] = -0.1;
    def.range[1] = 0.2;
    TdlJointId joint;
    CHECK_INT(tdl_world_add_joint(world, &def, &joint), TDL_STATUS_OK);
    for (int i = 0; i < 400; ++i) {
        step_on(world);
        CHECK(state_of(world, joint).coordinate > -0.1 - 1.0e-12);
    }
    TdlJointState s = state_of(world, joint);
    CHECK_NEAR(s.coordinate, -0.1, 1.0e-12);
    CHECK_NEAR(s.force.z, box_mass(half) * GRAVITY, 1.0e-9);
    CHECK_INT(tdl_world_set_gravity(world, (TdlVec3){0.0, 0.0, GRAVITY}), TDL_STATUS_OK);
    for (int i = 0; i < 600; ++i) {
        step_on(world);
    }
    CHECK_NEAR(state_of(world, joint).coordinate, 0.2, 1.0e-12);
    tdl_world_destroy(world);
}

// A point mass on a rope that is slack at first: it falls freely, then swings on the circle.
TEST(a_rope_only_pulls) {
    TdlVec3 half = {0.01, 0.01, 0.01};
    TdlWorld* world = create_world(1.0e-3, (TdlVec3){0.0, 0.0, -GRAVITY});
    TdlBodyId box = add_box(world, (TdlVec3){0.3, 0.0, 0.0}, half);
    TdlJointDef def = tdl_joint_def_default();
    def.kind = TDL_JOINT_DISTANCE;
    def.end[1].body = box;
    def.point[0] = (TdlVec3){0};
    def.point[1] = (TdlVec3){0.3, 0.0, 0.0};
    def.range[0] = 0.0;
    def.range[1] = 0.5;
    TdlJointId joint;
    CHECK_INT(tdl_world_add_joint(world, &def, &joint), TDL_STATUS_OK);
    bool was_slack = false, was_taut = false;
    for (int i = 0; i < 1500; ++i) {
        step_on(world);
        TdlJointState s = state_of(world, joint);
        double pull = tdl_norm3(s.force);
        was_slack = was_slack || pull == 0.0;
        was_taut = was_taut || s.coordinate > 0.5 - 1.0e-9;
        CHECK(s.coordinate < 0.5 + 1.0e-11);
        CHECK(pull == 0.0 || tdl_dot3(s.force, s.point) < 0.0);
        CHECK(pull == 0.0 || s.coordinate > 0.5 - 1.0e-9);
    }
    CHECK(was_slack && was_taut);
    tdl_world_destroy(world);
}

// A weight whose string bears less than the pendulum asks at its lowest: it goes in that step.
TEST(what_bears_too_much_breaks) {
    TdlVec3 half = {0.01, 0.01, 0.01};
    double weight = box_mass(half) * GRAVITY;
    TdlWorld* world = create_world(1.0e-3, (TdlVec3){0.0, 0.0, -GRAVITY});
    TdlBodyId box = add_box(world, (TdlVec3){0.4, 0.0, 0.0}, half);
    TdlJointDef def = tdl_joint_def_default();
    def.kind = TDL_JOINT_DISTANCE;
    def.end[1].body = box;
    def.point[0] = (TdlVec3){0};
    def.point[1] = (TdlVec3){0.4, 0.0, 0.0};
    def.break_force = 2.0 * weight;
    TdlJointId joint;
    CHECK_INT(tdl_world_add_joint(world, &def, &joint), TDL_STATUS_OK);
    double before = 0.0, angle = 0.0;
    TdlJointState s = {0};
    for (int i = 0; i < 1000 && !s.broken; ++i) {
        before = tdl_norm3(s.force);
        step_on(world);
        s = state_of(world, joint);
        angle = asin(fmin(-s.point.z / 0.4, 1.0));
    }
    // let go from the level, a pendulum pulls with 3 m g sin(angle)
    printf("  breaks at %.5f rad, %.5f on paper, from %.5f of its strength\n", angle,
           asin(2.0 / 3.0), before / def.break_force);
    CHECK(s.broken && before <= def.break_force);
    CHECK_NEAR(angle, asin(2.0 / 3.0), 0.02); // one step
    step_on(world);
    CHECK(tdl_norm3(state_of(world, joint).force) == 0.0);
    tdl_world_destroy(world);
}

// A weight on a joint that bears 1.1 of it, and a box that a motor turns with all that it can,
// while two balls grasp each other and turn so fast that steps are made in parts: neither is told
// of that.
TEST(parts_of_steps_change_no_force) {
    TdlVec3 half = {0.02, 0.02, 0.02};
    double weight = box_mass(half) * GRAVITY, step = 4.0e-3, most = 1.0e-4;
    double inertia = 2.0 / 3.0 * box_mass(half) * half.x * half.x;
    TdlWorld* world = create_world(step, (TdlVec3){0.0, 0.0, -GRAVITY});
    TdlBodyId ball[2];
    TdlJointDef def = tdl_joint_def_default();
    for (int k = 0; k < 2; ++k) { // side by side at 0.05 s, where a joint begins to hold them
        TdlRigidDef round = tdl_rigid_def_default();
        round.shape = TDL_RIGID_SPHERE;
        round.radius = 0.01;
        round.velocity.z = k == 0 ? 10.0 : -10.0;
        round.pose.position = (TdlVec3){3.0 + 0.2 * k, 0.0, k == 0 ? -0.5 : 0.5};
        def.point[k] = round.pose.position;
        CHECK_INT(tdl_world_add_rigid(world, &round, &ball[k]), TDL_STATUS_OK);
        def.end[k].body = ball[k];
    }
    def.kind = TDL_JOINT_DISTANCE;
    def.during[0] = 0.05;
    def.during[1] = 0.1;
    TdlJointId link;
    CHECK_INT(tdl_world_add_joint(world, &def, &link), TDL_STATUS_OK);
    def = tdl_joint_def_default();
    def.kind = TDL_JOINT_BALL;
    def.end[1].body = add_box(world, (TdlVec3){0}, half);
    def.point[0] = (TdlVec3){0.0, 0.0, 0.1};
    def.break_force = 1.1 * weight;
    TdlJointId hook, hinge;
    CHECK_INT(tdl_world_add_joint(world, &def, &hook), TDL_STATUS_OK);
    def.kind = TDL_JOINT_HINGE;
    def.end[1].body = add_box(world, (TdlVec3){1.0, 0.0, 0.0}, half);
    def.point[0] = (TdlVec3){1.0, 0.0, 0.0};
    def.axis = (TdlVec3){0.0, 1.0, 0.0};
    def.motor = (TdlMotor){TDL_MOTOR_SPEED, 1.0e3, most};
    CHECK_INT(tdl_world_add_joint(world, &def, &hinge), TDL_STATUS_OK);
    double off = 0.0, drive = 0.0, way = 0.0;
    int parts = 0;
    for (int i = 0; i < 40; ++i) {
        TdlStepInfo info = step_on(world);
        TdlJointState s = state_of(world, hook), t = state_of(world, hinge);
        parts += info.substeps;
        off = fmax(off, fabs(tdl_norm3(s.force) / weight - 1.0));
        drive = fmax(drive, fabs(t.drive / most - 1.0));
        way = fmax(way, fabs(t.coordinate / (0.5 * most / inertia * info.time * info.time) - 1.0));
        CHECK(!s.broken);
    }
    printf(
        "  %d parts of 40 steps: force off by %.1e, what the motor does by %.1e, its way by %.1e\n",
        parts, off, drive, way);
    CHECK(parts > 60);
    CHECK_BELOW(off, 1.0e-9);
    CHECK_BELOW(drive, 1.0e-9);
    CHECK_BELOW(way, 1.0e-9);
    tdl_world_destroy(world);
}

// Four bars in a plane, whose hinges hold one thing three times over: the coupler of a
// parallelogram stays level and the crank goes as a pendulum of the same reduced mass does.
TEST(a_parallelogram_of_bars_swings) {
    double step = 1.0e-3, l = 0.2, start = 0.6, g = GRAVITY;
    TdlVec3 bar = {0.1, 0.005, 0.005}, coupler = {0.15, 0.01, 0.01};
    // turned by `start` against gravity
    TdlWorld* world = create_world(step, (TdlVec3){g * sin(start), 0.0, -g * cos(start)});
    TdlBodyId a = {0}, b = {0};
    for (int k = 0; k < 2; ++k) {
        TdlRigidDef def = tdl_rigid_def_default();
        def.shape = TDL_RIGID_BOX;
        def.radius = 0.0;
        def.half = (TdlVec3){bar.y, bar.z, bar.x};
        def.pose.position = (TdlVec3){k == 0 ? 0.0 : 0.3, 0.0, -0.5 * l};
        CHECK_INT(tdl_world_add_rigid(world, &def, k == 0 ? &a : &b), TDL_STATUS_OK);
    }
    TdlBodyId c = add_box(world, (TdlVec3){0.15, 0.0, -l}, coupler);
    TdlVec3 y = {0.0, 1.0, 0.0};
    TdlJointId crank = join(world, TDL_JOINT_HINGE, (TdlBodyId){0}, a, (TdlVec3){0}, y);
    join(world, TDL_JOINT_HINGE, (TdlBodyId){0}, b, (TdlVec3){0.3, 0.0, 0.0}, y);
    join(world, TDL_JOINT_HINGE, a, c, (TdlVec3){0.0, 0.0, -l}, y);
    join(world, TDL_JOINT_HINGE, b, c, (TdlVec3){0.3, 0.0, -l}, y);
    double mb = box_mass(bar), mc = box_mass(coupler);
    double inertia =
        2.0 * (mb * (bar.x * bar.x + bar.y * bar.y) / 3.0 + 0.25 * mb * l * l) + mc * l * l;
    double moment = (2.0 * 0.5 * mb + mc) * l;
    double exact = 4.0 * sqrt(inertia / (moment * g)) * elliptic(sin(0.5 * start));
    Crossing crossing = {0};
    double worst = 0.0, level = 0.0;
    while (crossing.count < 4) {
        TdlStepInfo info = step_on(world);
        TdlPose pose;
        tdl_rigid_pose(world, c, &pose);
        level = fmax(level, fabs(pose.rotation.cx.z));
        watch(&crossing, info.time, state_of(world, crank).coordinate + start);
        worst = fmax(worst, info.joint_error);
        CHECK(info.time < 10.0);
    }
    printf("  period %.6f, exact %.6f; level to %.2g, joints to %.2g\n", mean_period(&crossing),
           exact, level, worst);
    CHECK_NEAR(mean_period(&crossing) / exact, 1.0, 1.0e-4);
    CHECK(level < 1.0e-10 && worst < 1.0e-10);
    tdl_world_destroy(world);
}

// --- rods
// -----------------------------------------------------------------------------------------

TEST(rods_carry_weights) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        TdlWorld* world = create_world(1.0e-3, (TdlVec3){0.0, 0.0, -GRAVITY});
        TdlRodDef def = tdl_rod_def_default();
        def.model = MODELS[m];
        def.length = 0.3;
        def.radius[0] = def.radius[1] = 2.0e-3;
        def.element_count = 20;
        def.young = 1.0e7;
        def.mass_damping = 5.0;
        def.damping = 0.02;
        TdlBodyId rod;
        CHECK_INT(tdl_world_add_rod(world, &def, &rod), TDL_STATUS_OK);
        TdlVec3 half = {0.005, 0.005, 0.005};
        TdlBodyId box = add_box(world, (TdlVec3){0.3, 0.0, -0.01}, half);
        TdlJointDef jd = tdl_joint_def_default();
        jd.kind = TDL_JOINT_BALL;
        jd.end[0] = (TdlJointEnd){rod, 0.3};
        jd.end[1].body = box;
        TdlJointId id;
        CHECK_INT(tdl_world_add_joint(world, &jd, &id), TDL_STATUS_OK);
        TdlStepInfo info = {0};
        int subs = 0;
        double off = 0.0;
        for (int i = 0; i < REPEATS(8000, 500); ++i) {
            REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
            subs += info.substeps;
            off = fmax(off, info.joint_error);
        }
        TdlJointState s = state_of(world, id);
        double weight = 1000.0 * 8.0 * 1.25e-7 * GRAVITY;
        printf("  %s: force (%.8g, %.3g, %.8g) of weight %.8g, off %.2g, error %.2g, substeps %d, "
               "tip %g\n",
               MODELS[m], s.force.x, s.force.y, s.force.z, weight, off, s.error, subs, s.point.z);
        tdl_world_destroy(world);
    }
}
