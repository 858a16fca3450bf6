// Joints that hold for a while, and motors that follow a function of the time: what is grasped and
// let go keeps its momenta, and copies and resumed worlds have the same bits whether a joint holds
// then or not.
#include "capture.h"
#include "math/rotation.h"
#include "tendril/world.h"
#include "test.h"

static const double STEP = 1.0e-3;
static const TdlVec3 HALF = {0.02, 0.012, 0.015};

static TdlWorld* create_world(const TdlHost* host) {
    TdlWorldDef def = tdl_world_def_default();
    def.gravity = (TdlVec3){0};
    def.step = STEP;
    def.losses = true;
    TdlWorld* world;
    if (tdl_world_create(host, &def, &world) != TDL_STATUS_OK) {
        abort();
    }
    return world;
}

static TdlBodyId add_box(TdlWorld* world, TdlVec3 at, TdlVec3 velocity, TdlVec3 spin) {
    TdlRigidDef def = tdl_rigid_def_default();
    def.shape = TDL_RIGID_BOX;
    def.radius = 0.0;
    def.half = HALF;
    def.pose.position = at;
    def.velocity = velocity;
    def.angular_velocity = spin;
    TdlBodyId id = {0};
    CHECK_INT(tdl_world_add_rigid(world, &def, &id), TDL_STATUS_OK);
    return id;
}

static TdlJointState state_of(const TdlWorld* world, TdlJointId joint) {
    TdlJointState state = {0};
    CHECK_INT(tdl_joint_state(world, joint, &state), TDL_STATUS_OK);
    return state;
}

static TdlPose pose_of(const TdlWorld* world, TdlBodyId body) {
    TdlPose pose = {.rotation = tdl_identity33()};
    CHECK_INT(tdl_rigid_pose(world, body, &pose), TDL_STATUS_OK);
    return pose;
}

// Angular momentum about the origin; velocities are half a step older than poses.
static void add_momenta(const TdlWorld* world, TdlBodyId box, TdlVec3* linear, TdlVec3* angular) {
    TdlVec3 v, w, centre;
    double m;
    TdlPose pose = pose_of(world, box);
    tdl_rigid_velocity(world, box, &v, &w);
    tdl_body_centre(world, box, &centre, &m);
    TdlMat3 r = tdl_mul33(tdl_rotation_exp(tdl_scale3(-0.5 * STEP, w)), pose.rotation);
    TdlVec3 own = tdl_tmul33_3(r, w), h = HALF;
    own = (TdlVec3){own.x * m * (h.y * h.y + h.z * h.z) / 3.0,
                    own.y * m * (h.x * h.x + h.z * h.z) / 3.0,
                    own.z * m * (h.x * h.x + h.y * h.y) / 3.0};
    *linear = tdl_axpy3(*linear, m, v);
    TdlVec3 about = tdl_cross3(centre, tdl_scale3(m, v));
    *angular = tdl_add3(*angular, tdl_add3(about, tdl_mul33_3(r, own)));
}

// Two boxes that fly past each other, turning; a joint takes hold of one by the other in between.
typedef struct Pair {
    TdlWorld* world;
    TdlBodyId box[2];
    TdlJointId joint;
} Pair;

static Pair make_pair(const TdlHost* host, TdlJointKind kind, double every) {
    Pair p = {.world = create_world(host)};
    p.box[0] = add_box(p.world, (TdlVec3){0}, (TdlVec3){0.1, 0.2, 0.0}, (TdlVec3){1.0, 0.5, -2.0});
    p.box[1] = add_box(p.world, (TdlVec3){0.2, -0.1, 0.05}, (TdlVec3){-0.3, 0.1, 0.05},
                       (TdlVec3){-1.0, 2.0, 0.3});
    TdlJointDef def = tdl_joint_def_default();
    def.kind = kind;
    def.end[0].body = p.box[0];
    def.end[1].body = p.box[1];
    def.point[0] = (TdlVec3){0.03, 0.0, 0.0};
    def.point[1] = kind == TDL_JOINT_DISTANCE ? (TdlVec3){0.2, -0.1, 0.07} : def.point[1];
    def.axis = (TdlVec3){0.0, 0.3, 1.0};
    def.during[0] = 0.1;
    def.during[1] = 0.3;
    def.every = every;
    CHECK_INT(tdl_world_add_joint(p.world, &def, &p.joint), TDL_STATUS_OK);
    return p;
}

TEST(what_is_grasped_and_let_go_keeps_its_momenta) {
    static const TdlJointKind KINDS[] = {TDL_JOINT_FIXED, TDL_JOINT_BALL, TDL_JOINT_HINGE,
                                         TDL_JOINT_SLIDER, TDL_JOINT_DISTANCE};
    TdlHost host = tdl_host_default();
    for (int kind = 0; kind < 5; ++kind) {
        Pair p = make_pair(&host, KINDS[kind], 0.0);
        TdlVec3 first[2] = {{0}}, free[2];
        double linear = 0.0, angular = 0.0, error = 0.0, turned = 0.0;
        TdlMat3 held = tdl_identity33();
        int held_steps = 0;
        for (int i = 0; i < 500; ++i) {
            TdlStepInfo info;
            REQUIRE(tdl_world_step(p.world, &info) == TDL_STATUS_OK);
            CHECK_INT(info.forced, 0);
            TdlVec3 now[2] = {{0}};
            add_momenta(p.world, p.box[0], &now[0], &now[1]);
            add_momenta(p.world, p.box[1], &now[0], &now[1]);
            memcpy(first, i == 0 ? now : first, sizeof first);
            linear = fmax(linear, tdl_norm3(tdl_sub3(now[0], first[0])) / tdl_norm3(first[0]));
            angular = fmax(angular, tdl_norm3(tdl_sub3(now[1], first[1])) / tdl_norm3(first[1]));
            TdlJointState s = state_of(p.world, p.joint);
            CHECK_INT(s.idle, i < 100 || i >= 300);
            CHECK(!s.idle || (s.power == 0.0 && tdl_norm3(s.force) == 0.0));
            error = fmax(error, s.error);
            TdlMat3 seen = tdl_mul33(tdl_transpose33(pose_of(p.world, p.box[0]).rotation),
                                     pose_of(p.world, p.box[1]).rotation);
            if (i == 99) { // they turn together as they are when it takes hold
                held = seen;
            }
            if (!s.idle) {
                ++held_steps;
                TdlMat3 off = tdl_mul33(tdl_transpose33(held), seen);
                turned = fmax(turned, tdl_norm3(tdl_rotation_log(off)));
            }
            TdlVec3 unused;
            if (i == 301) {
                tdl_rigid_velocity(p.world, p.box[1], &free[0], &unused);
            }
        }
        TdlVec3 unused;
        tdl_rigid_velocity(p.world, p.box[1], &free[1], &unused);
        printf("  kind %d: linear off by %.1e, angular %.1e; joint open by %.1e m, turned %.1e\n",
               kind, linear, angular, error, turned);
        CHECK_INT(held_steps, 200);
        CHECK_BELOW(linear, 1.0e-12);  // roundings of 500 steps
        CHECK_BELOW(angular, 1.0e-10); // of what ends the rounds
        CHECK_BELOW(error, 1.0e-12);
        CHECK(KINDS[kind] != TDL_JOINT_FIXED || turned < 1.0e-10);
        CHECK(KINDS[kind] != TDL_JOINT_BALL || turned > 0.1);
        CHECK_NEAR3(free[0], free[1], 1.0e-15); // nothing pulls any more
        tdl_world_destroy(p.world);
    }
}

// The same bits when it goes on from a state, or as a copy: before, while, and after it holds.
TEST(resumed_and_copied_worlds_have_the_same_bits) {
    TdlHost host = tdl_host_default();
    for (int at = 50; at < 400; at += 100) {
        Pair one = make_pair(&host, TDL_JOINT_HINGE, 0.25), two, three = one;
        two = make_pair(&host, TDL_JOINT_HINGE, 0.25);
        for (int i = 0; i < at; ++i) {
            REQUIRE(tdl_world_step(one.world, NULL) == TDL_STATUS_OK);
        }
        size_t size = tdl_world_state_size(one.world);
        void* bytes = malloc(size);
        REQUIRE(bytes != NULL);
        tdl_world_save_state(one.world, bytes);
        REQUIRE(tdl_world_load_state(two.world, bytes, size) == TDL_STATUS_OK);
        REQUIRE(tdl_world_copy(one.world, &three.world) == TDL_STATUS_OK);
        int changes = 0;
        bool before = state_of(one.world, one.joint).idle;
        for (int i = 0; i < 300; ++i) {
            REQUIRE(tdl_world_step(one.world, NULL) == TDL_STATUS_OK);
            REQUIRE(tdl_world_step(two.world, NULL) == TDL_STATUS_OK);
            REQUIRE(tdl_world_step(three.world, NULL) == TDL_STATUS_OK);
            uint64_t hash = tdl_world_state_hash(one.world);
            CHECK(hash == tdl_world_state_hash(two.world));
            CHECK(hash == tdl_world_state_hash(three.world));
            bool idle = state_of(one.world, one.joint).idle;
            changes += idle != before;
            before = idle;
        }
        CHECK(changes >= 2); // 0.1 to 0.3, 0.35 to 0.55, 0.6 to 0.8
        free(bytes);
        tdl_world_destroy(one.world);
        tdl_world_destroy(two.world);
        tdl_world_destroy(three.world);
    }
}

// What is apart by then is closed where it is told to be as it was made.
TEST(a_joint_as_made_closes_what_is_apart) {
    TdlHost host = tdl_host_default();
    for (int as_made = 0; as_made < 2; ++as_made) {
        TdlWorld* world = create_world(&host);
        TdlVec3 v = {1.0e-3, 0.0, 0.0};
        TdlBodyId box = add_box(world, (TdlVec3){0}, v, (TdlVec3){0});
        TdlJointDef def = tdl_joint_def_default();
        def.kind = TDL_JOINT_FIXED;
        def.end[1].body = box;
        def.point[0] = (TdlVec3){0};
        def.during[0] = 0.1;
        def.as_made = as_made == 1;
        TdlJointId joint;
        REQUIRE(tdl_world_add_joint(world, &def, &joint) == TDL_STATUS_OK);
        for (int i = 0; i < 110; ++i) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        }
        // without it, held by the world's own place: where it was at 0.1 s
        TdlVec3 at = pose_of(world, box).position;
        printf("  as made %d: at %.9g m\n", as_made, at.x);
        CHECK_NEAR(at.x, as_made == 1 ? 0.0 : 1.0e-4, 1.0e-15);
        TdlVec3 linear, angular; // it was put there, not thrown
        REQUIRE(tdl_rigid_velocity(world, box, &linear, &angular) == TDL_STATUS_OK);
        CHECK_BELOW(tdl_norm3(linear), 1.0e-15);
        tdl_world_destroy(world);
    }
}

// --- motors -------------------------------------------------------------------------------------

static void swing(const void* data, double time, TdlVec3 out[2]) {
    const double* omega = data;
    out[0].x = 0.7 * sin(*omega * time);
}

static void rate_of_swing(const void* data, double time, TdlVec3 out[2]) {
    const double* omega = data;
    out[0].x = 0.7 * *omega * cos(*omega * time);
}

static TdlJointDef hinge_of(TdlBodyId box, TdlMotorMode mode, const double* omega) {
    TdlJointDef def = tdl_joint_def_default();
    def.kind = TDL_JOINT_HINGE;
    def.end[1].body = box;
    def.point[0] = (TdlVec3){0.05, 0.0, 0.0};
    def.axis = (TdlVec3){0.0, 0.0, 1.0};
    def.motor.mode = mode;
    def.target.at = mode == TDL_MOTOR_PLACE ? swing : rate_of_swing;
    def.target.data = omega;
    def.target.size = sizeof *omega;
    return def;
}

// A place is met in every step; by its rate, asked in the middle of steps, a place is met to second
// order. The worst that it is off, rad.
static double follow(const TdlHost* host, TdlMotorMode mode, double step) {
    TdlWorldDef world_def = tdl_world_def_default();
    world_def.step = step;
    TdlWorld* world;
    double omega = 9.0, worst = 0.0;
    if (tdl_world_create(host, &world_def, &world) != TDL_STATUS_OK) {
        abort();
    }
    TdlBodyId box = add_box(world, (TdlVec3){0}, (TdlVec3){0}, (TdlVec3){0});
    TdlJointDef def = hinge_of(box, mode, &omega);
    TdlJointId joint;
    CHECK_INT(tdl_world_add_joint(world, &def, &joint), TDL_STATUS_OK);
    omega = 1.0; // its own copy is asked
    for (int i = 0; i < (int)(0.5 / step + 0.5); ++i) {
        TdlStepInfo info;
        CHECK_INT(tdl_world_step(world, &info), TDL_STATUS_OK);
        double wanted = 0.7 * sin(9.0 * info.time);
        worst = fmax(worst, fabs(state_of(world, joint).coordinate - wanted));
    }
    TdlMotor other = {TDL_MOTOR_PLACE, 0.0, 1.0};
    CHECK_INT(tdl_joint_set_motor(world, joint, other), TDL_STATUS_BAD_ARGUMENT);
    tdl_world_destroy(world);
    return worst;
}

TEST(a_motor_goes_where_a_function_has_it) {
    Capture heard;
    TdlHost host = capture_host(&heard);
    double place = follow(&host, TDL_MOTOR_PLACE, 1.0e-3);
    double rate[2] = {follow(&host, TDL_MOTOR_SPEED, 2.0e-3),
                      follow(&host, TDL_MOTOR_SPEED, 1.0e-3)};
    printf("  place off by %.1e rad; by its rate %.1e and %.1e\n", place, rate[0], rate[1]);
    CHECK_BELOW(place, 1.0e-11);
    CHECK_NEAR(rate[0] / rate[1], 4.0, 0.1);
    CHECK(strstr(heard.text, "its motor follows a function of the time") != NULL);
}

static void not_a_number(const void* data, double time, TdlVec3 out[2]) {
    (void)data;
    out[0].x = time > 2.5e-3 ? NAN : 0.0;
}

TEST(what_is_no_time_and_no_target_is_refused_by_name) {
    Capture heard;
    TdlHost host = capture_host(&heard);
    TdlWorld* world = create_world(&host);
    TdlBodyId box = add_box(world, (TdlVec3){0}, (TdlVec3){0}, (TdlVec3){0});
    double omega = 1.0;
    TdlJointId joint;
    TdlJointDef def = hinge_of(box, TDL_MOTOR_PLACE, &omega);
    def.during[0] = 1.0;
    def.during[1] = 0.5;
    CHECK(strstr(tdl_joint_def_fault(&def), "ends after it begins") != NULL);
    def.during[0] = NAN;
    CHECK(tdl_joint_def_fault(&def) != NULL);
    def.during[0] = 0.0;
    def.every = 0.4;
    CHECK(strstr(tdl_joint_def_fault(&def), "before it has let go") != NULL);
    def.every = -1.0;
    CHECK(tdl_joint_def_fault(&def) != NULL);
    def.every = 0.0;
    CHECK(tdl_joint_def_fault(&def) == NULL);
    def.motor.mode = TDL_MOTOR_OFF;
    CHECK(strstr(tdl_joint_def_fault(&def), "follows a function") != NULL);
    def.motor.mode = TDL_MOTOR_PLACE;
    def.target = (TdlTimeFn){.at = not_a_number};
    REQUIRE(tdl_world_add_joint(world, &def, &joint) == TDL_STATUS_OK);
    CHECK_INT(tdl_joint_set_name(world, joint, "elbow"), TDL_STATUS_OK);
    for (int i = 0; i < 2; ++i) {
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
    }
    CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_BAD_INPUT);
    CHECK_TEXT(heard.text, "at 0.003 s the motor of joint 'elbow' is told a place that is not a "
                           "number");
    CHECK_NEAR(tdl_world_time(world), 2.0e-3, 1.0e-15); // the step was not made
    tdl_world_destroy(world);
}

// A target whose function was taken away again: its data stay whose they were.
TEST(data_without_a_function_are_left_alone) {
    FailingMemory memory = {0};
    TdlHost host = tdl_host_default();
    host.mem = (TdlAllocator){failing_resize, &memory};
    TdlKeyframe keys[2] = {{.time = 0.0}, {.time = 1.0}};
    TdlTimeFn fn;
    CHECK_INT(tdl_time_fn_of_keys(&host, keys, 2, TDL_INTERPOLATION_LINEAR, &fn), TDL_STATUS_OK);
    long own = memory.live;
    TdlWorld* world = create_world(&host);
    TdlBodyId box = add_box(world, (TdlVec3){0}, (TdlVec3){0}, (TdlVec3){0});
    double omega = 1.0;
    TdlJointDef def = hinge_of(box, TDL_MOTOR_OFF, &omega);
    def.target = fn;
    def.target.at = NULL;
    TdlJointId joint;
    CHECK_INT(tdl_world_add_joint(world, &def, &joint), TDL_STATUS_OK);
    tdl_world_destroy(world);
    CHECK(own > 0);
    REQUIRE(memory.live == own);
    tdl_time_fn_free(&host, &fn);
    CHECK_INT(memory.live, 0);
}

// A distance that begins to hold where its two places have become one: steps and ways are powers of
// two, so that they are one to the last bit.
TEST(a_distance_without_length_is_told) {
    Capture heard;
    TdlHost host = capture_host(&heard);
    TdlWorldDef world_def = tdl_world_def_default();
    world_def.gravity = (TdlVec3){0};
    world_def.step = 1.0 / 1024.0;
    TdlWorld* world;
    REQUIRE(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
    TdlBodyId box = add_box(world, (TdlVec3){0}, (TdlVec3){1.0, 0.0, 0.0}, (TdlVec3){0});
    TdlJointDef def = tdl_joint_def_default();
    def.kind = TDL_JOINT_DISTANCE;
    def.end[1].body = box;
    def.point[0] = (TdlVec3){0.125, 0.0, 0.0};
    def.point[1] = (TdlVec3){0};
    def.during[0] = 0.125;
    TdlJointId joint;
    REQUIRE(tdl_world_add_joint(world, &def, &joint) == TDL_STATUS_OK);
    for (int i = 0; i < 128; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
    CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_BAD_INPUT);
    CHECK_TEXT(heard.text,
               "at 0.125 s joint 0 begins to hold: the two places of a distance are one");
    CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_BAD_INPUT); // and again
    CHECK(state_of(world, joint).idle);
    tdl_world_destroy(world);
}
