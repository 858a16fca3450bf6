// Forces of contacts and joints in steps that something else has made in parts, in those after them
// and in the first: rigid bodies have velocities half a step before their places, and what rests is
// told to weigh what it weighs. world.md (W.51), joints.md (J.13)
#include "look.h"
#include "math/rotation.h"
#include "tendril/joint.h"
#include "tendril/world.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static const double G = 9.81, STEP = 4.0e-3, SIDE = 0.1, BALL = 0.02; // m/s^2, s, m

static TdlWorld* make_world(TdlContactResponse response) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.gravity = (TdlVec3){0.0, 0.0, -G};
    def.step = STEP;
    def.contacts.response = response;
    def.contacts.tolerance = 1.0e-12;
    TdlWorld* world;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        abort();
    }
    TdlColliderDef floor = tdl_collider_def_default();
    TdlBodyId id;
    floor.shape = TDL_SHAPE_PLANE;
    CHECK_INT(tdl_world_add_collider(world, &floor, &id), TDL_STATUS_OK);
    return world;
}

// Its weight is 9.81 N.
static TdlBodyId add_box(TdlWorld* world, double x, double bottom) {
    TdlRigidDef def = tdl_rigid_def_default();
    TdlBodyId id = {0};
    def.shape = TDL_RIGID_BOX;
    def.radius = 0.0;
    def.half = (TdlVec3){0.5 * SIDE, 0.5 * SIDE, 0.5 * SIDE};
    def.pose.position = (TdlVec3){x, 0.0, bottom + 0.5 * SIDE};
    CHECK_INT(tdl_world_add_rigid(world, &def, &id), TDL_STATUS_OK);
    return id;
}

static TdlBodyId add_rod(TdlWorld* world, TdlHold start, TdlVec3 from, TdlVec3 along) {
    TdlRodDef def = tdl_rod_def_default();
    TdlBodyId id = {0};
    def.length = 0.2;
    def.element_count = 5;
    def.radius[0] = def.radius[1] = 5.0e-3;
    def.young = 1.0e9;
    def.start = start;
    def.clamp.position = from;
    def.clamp.rotation = tdl_frame_from_tangent_hint(along, (TdlVec3){0.0, 1.0, 0.0});
    CHECK_INT(tdl_world_add_rod(world, &def, &id), TDL_STATUS_OK);
    return id;
}

static TdlBodyId add_ball(TdlWorld* world, TdlVec3 at, TdlVec3 velocity) {
    TdlRigidDef def = tdl_rigid_def_default();
    TdlBodyId id = {0};
    def.shape = TDL_RIGID_SPHERE;
    def.radius = BALL;
    def.pose.position = at;
    def.velocity = velocity;
    CHECK_INT(tdl_world_add_rigid(world, &def, &id), TDL_STATUS_OK);
    return id;
}

// Two balls that grasp each other from 0.05 to 0.1 s and turn so fast that steps are in parts.
static void add_splitter(TdlWorld* world) {
    TdlJointDef def = tdl_joint_def_default();
    for (int k = 0; k < 2; ++k) {
        def.point[k] = (TdlVec3){9.0 + 0.2 * k, 0.0, k == 0 ? 4.5 : 5.5};
        def.end[k].body = add_ball(world, def.point[k], (TdlVec3){0.0, 0.0, k == 0 ? 10.0 : -10.0});
    }
    def.kind = TDL_JOINT_DISTANCE;
    def.during[0] = 0.05;
    def.during[1] = 0.1;
    TdlJointId link;
    CHECK_INT(tdl_world_add_joint(world, &def, &link), TDL_STATUS_OK);
}

static double lift_of(const TdlWorld* world, TdlBodyId id) {
    TdlWrench wrench = {0};
    CHECK_INT(tdl_body_contact_wrench(world, id, &wrench), TDL_STATUS_OK);
    return wrench.force.z;
}

// The sum of forces times how long they act, on one body.
static TdlVec3 impulse_on(const TdlWorld* world, TdlBodyId id, double* lasts) {
    int count;
    const TdlContactForce* told = tdl_world_contact_forces(world, &count);
    TdlVec3 sum = {0};
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < 2; ++k) {
            if (memcmp(&told[i].body[k], &id, sizeof id) == 0) {
                sum = tdl_axpy3(sum, (k == 0 ? -1.0 : 1.0) * told[i].lasts, told[i].force);
                *lasts = told[i].lasts;
            }
        }
    }
    return sum;
}

static TdlVec3 velocity_of(const TdlWorld* world, TdlBodyId id) {
    TdlVec3 v = {0}, w;
    CHECK_INT(tdl_rigid_velocity(world, id, &v, &w), TDL_STATUS_OK);
    return v;
}

// A box on the floor, a ball on another, a box on two rods that lie there, and a ball that is
// thrown along the floor: at rest each is carried by its weight, and what is told times how long it
// acts is the change of momentum. A copy taken at any step goes on with the same bits.
TEST(what_rests_is_told_to_weigh_what_it_weighs) {
    TdlWorld* world = make_world(TDL_RESPONSE_EXACT);
    TdlBodyId alone = add_box(world, 0.0, 0.0), under = add_box(world, 1.0, 0.0);
    TdlBodyId above = add_ball(world, (TdlVec3){1.0, 0.0, SIDE + BALL}, (TdlVec3){0});
    TdlBodyId over = add_box(world, 2.0, 0.01);
    for (int k = 0; k < 2; ++k) {
        add_rod(world, TDL_HOLD_FREE, (TdlVec3){1.9, k == 0 ? -0.03 : 0.03, 5.0e-3},
                (TdlVec3){1.0, 0.0, 0.0});
    }
    TdlBodyId ball = add_ball(world, (TdlVec3){3.0, 0.0, 0.03}, (TdlVec3){1.0, 0.5, -1.0});
    double mass = 1000.0 * 4.0 / 3.0 * 3.14159265358979323846 * BALL * BALL * BALL;
    add_splitter(world);
    double off[4] = {0.0}, kept = 0.0;
    int parts = 0, same = 0;
    for (int i = 0; i < 40; ++i) {
        TdlWorld* copy;
        REQUIRE(tdl_world_copy(world, &copy) == TDL_STATUS_OK);
        TdlStepInfo info;
        TdlVec3 before = velocity_of(world, ball);
        REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        REQUIRE(tdl_world_step(copy, NULL) == TDL_STATUS_OK);
        parts += info.substeps;
        double lasts = 0.0;
        TdlVec3 gained = tdl_sub3(velocity_of(world, ball), before);
        TdlVec3 impulse = impulse_on(world, ball, &lasts);
        impulse.z -= lasts * mass * G;
        kept = lasts > 0.0
                   ? fmax(kept, tdl_norm3(tdl_axpy3(impulse, -mass, gained)) / (mass * G * STEP))
                   : kept;
        off[0] = fmax(off[0], fabs(lift_of(world, alone) / G - 1.0));
        off[1] = fmax(off[1], fabs(lift_of(world, above) / (mass * G) - 1.0));
        off[2] = fmax(off[2], fabs(lift_of(world, under) / G - 1.0));
        off[3] = fmax(off[3], fabs(lift_of(world, over) / G - 1.0));
        same += lift_of(copy, over) == lift_of(world, over) &&
                lift_of(copy, alone) == lift_of(world, alone);
        tdl_world_destroy(copy);
    }
    printf("  %d parts of 40 steps: weights off by %.1e on the floor, %.1e on a box, %.1e of that, "
           "%.1e on rods; momentum by %.1e\n",
           parts, off[0], off[1], off[2], off[3], kept);
    CHECK(parts > 60);
    for (int k = 0; k < 4; ++k) {
        CHECK_BELOW(off[k], 1.0e-9);
    }
    CHECK_BELOW(kept, 1.0e-9);
    CHECK_INT(same, 40);
    tdl_world_destroy(world);
}

// The same of a joint that holds a box on the end of a rod, which hangs.
TEST(what_hangs_on_a_rod_is_told_to_weigh_what_it_weighs) {
    TdlWorld* world = make_world(TDL_RESPONSE_EXACT);
    TdlBodyId rod =
        add_rod(world, TDL_HOLD_CLAMPED, (TdlVec3){0.0, 0.0, 1.0}, (TdlVec3){0.0, 0.0, -1.0});
    TdlJointDef def = tdl_joint_def_default();
    def.kind = TDL_JOINT_BALL;
    def.end[0] = (TdlJointEnd){rod, 0.2};
    def.end[1].body = add_box(world, 0.0, 0.8 - SIDE);
    def.break_force = 1.1 * G;
    TdlJointId hook;
    CHECK_INT(tdl_world_add_joint(world, &def, &hook), TDL_STATUS_OK);
    add_splitter(world);
    double off = 0.0;
    int parts = 0;
    for (int i = 0; i < 40; ++i) {
        TdlStepInfo info;
        REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        parts += info.substeps;
        TdlJointState state;
        CHECK_INT(tdl_joint_state(world, hook, &state), TDL_STATUS_OK);
        off = fmax(off, fabs(tdl_norm3(state.force) / G - 1.0));
        CHECK(!state.broken);
    }
    printf("  %d parts of 40 steps: force off by %.1e\n", parts, off);
    CHECK(parts > 60);
    CHECK_BELOW(off, 1.0e-9);
    tdl_world_destroy(world);
}

// With the barrier: a box that has come to rest, put there anew, stays at its gap from the first
// step on, and is told to weigh what it weighs.
TEST(the_barrier_carries_a_box_from_the_first_step_on) {
    double gap = 1.0e-4, off = 0.0, moved = 0.0;
    for (int again = 0; again < 2; ++again) {
        TdlWorld* world = make_world(TDL_RESPONSE_BARRIER);
        TdlBodyId box = add_box(world, 0.0, gap);
        for (int i = 0; i < (again ? 20 : 2000); ++i) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
            off = again ? fmax(off, fabs(lift_of(world, box) / G - 1.0)) : 0.0;
            double now = look_rigid_pose(world, 0).position.z - 0.5 * SIDE;
            moved = again ? fmax(moved, fabs(now - gap)) : 0.0;
        }
        gap = look_rigid_pose(world, 0).position.z - 0.5 * SIDE;
        tdl_world_destroy(world);
    }
    printf("  at a gap of %.3e m: moved by %.1e m, weight off by %.1e\n", gap, moved, off);
    CHECK_BELOW(moved, 1.0e-6 * gap);
    CHECK_BELOW(off, 1.0e-5);
}
