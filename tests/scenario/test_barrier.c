// The barrier response: what rests, slides, collides and winds, without ever overlapping; energy,
// states, threads, and what it refuses.
#include "capture.h"
#include "command.h"
#include "look.h"
#include "math/rotation.h"
#include "tendril/world.h"
#include "test.h"
#include "things.h"

static const double G = 9.81;

static TdlWorldDef barrier_def(double step, double distance, double stiffness, double mu) {
    TdlWorldDef def = tdl_world_def_default();
    def.step = step;
    def.losses = true;
    def.contacts.response = TDL_RESPONSE_BARRIER;
    def.contacts.law.mu = mu;
    def.contacts.barrier = (TdlBarrierDef){distance, stiffness, 1.0e-3};
    return def;
}

static TdlWorld* make_world(const TdlWorldDef* def) {
    TdlHost host = tdl_host_default();
    TdlWorld* world = NULL;
    if (tdl_world_create(&host, def, &world) != TDL_STATUS_OK) {
        FAIL("world refused");
    }
    return world;
}

// -k b'(g), from the formula.
static double carried(double k, double d, double g) {
    return g < d ? k * (2.0 * (g - d) * log(g / d) + (g - d) * (g - d) / g) : 0.0;
}

// The gap that carries a force, by bisection.
static double gap_under(double force, double k, double d) {
    double low = 0.0, high = d;
    for (int i = 0; i < 200; ++i) {
        double middle = 0.5 * (low + high);
        *(carried(k, d, middle) > force ? &low : &high) = middle;
    }
    return low;
}

static double total(TdlEnergy e) {
    return e.kinetic + e.elastic + e.gravity;
}

// What is known of every step.
typedef struct Track {
    double least_gap;  // m, of all forces
    double unbalanced; // J, the largest of a step
    double rise;       // J, the most that the energy with what is stored rose in a step
    int unsolved, most_contacts;
    int itself; // contacts of a body with itself that carried
    double law; // how far forces are from their gaps, relative
} Track;

static bool step_on(TdlWorld* world, Track* track, TdlStepInfo* before, double k, double d) {
    TdlStepInfo info;
    double was = total(tdl_world_energy(world)) + before->stored;
    if (tdl_world_step(world, &info) != TDL_STATUS_OK) {
        FAIL("step %ld failed", before->step + 1);
        return false;
    }
    double change = total(info.energy) + info.stored - was;
    double told = info.work + info.given + info.push - info.friction - info.impact - info.damping -
                  info.numerical;
    track->unbalanced = fmax(track->unbalanced, fabs(change - told));
    track->rise = fmax(track->rise, change - info.work);
    track->unsolved += info.unsolved + info.forced;
    int count;
    const TdlContactForce* f = tdl_world_contact_forces(world, &count);
    track->most_contacts = count > track->most_contacts ? count : track->most_contacts;
    for (int i = 0; i < count; ++i) {
        track->least_gap = fmin(track->least_gap, f[i].gap);
        double normal = tdl_dot3(f[i].force, f[i].normal), due = carried(k, d, f[i].gap);
        double most = fmax(fabs(normal), due);
        track->itself += normal > 0.0 && f[i].body[0].index == f[i].body[1].index;
        if (info.substeps == 1 && k > 0.0 && most > 0.0) {
            track->law = fmax(track->law, fabs(normal - due) / most);
        }
    }
    CHECK(info.deepest == 0.0); // detection finds no overlap
    *before = info;
    return true;
}

static Track run(TdlWorld* world, int steps, double k, double d) {
    Track track = {.least_gap = INFINITY};
    TdlStepInfo info = {0};
    for (int i = 0; i < steps && step_on(world, &track, &info, k, d); ++i) {
    }
    CHECK_INT(track.unsolved, 0);
    CHECK(track.least_gap > 0.0);
    return track;
}

// --- rigid bodies on a plane -----------------------------------------------------------------

TEST(a_ball_comes_to_rest_where_the_barrier_carries_it) {
    double d = 1.0e-3, k = 500.0;
    TdlWorldDef def = barrier_def(1.0e-3, d, k, 0.3);
    TdlWorld* world = make_world(&def);
    add_floor(world);
    add_sphere(world, 0.02, (TdlVec3){0, 0, 0.03}, (TdlVec3){0});
    Track track = run(world, 4000, k, d);
    double weight = 1000.0 * 4.0 / 3.0 * 3.14159265358979 * 8.0e-6 * G;
    double gap = look_rigid_pose(world, 0).position.z - 0.02;
    CHECK_NEAR(gap, gap_under(weight, k, d), 1.0e-9 * d); // what of its bounces is left
    CHECK_BELOW(track.law, 1.0e-7);
    CHECK_BELOW(track.unbalanced, 1.0e-15); // of 3e-3 J
    tdl_world_destroy(world);
}

// Four corners share the weight; what does not slide creeps at the speed of its share of mu.
TEST(a_block_on_a_slope_creeps_or_slides) {
    const double slopes[] = {0.1, 0.25, 0.35, 0.8};
    double mu = 0.3, d = 1.0e-4, dt = 1.0e-3;
    for (int i = 0; i < 4; ++i) {
        double slope = slopes[i], share = tan(slope) / mu;
        TdlWorldDef def = barrier_def(dt, d, 0.0, mu);
        def.gravity = (TdlVec3){G * sin(slope), 0.0, -G * cos(slope)};
        TdlWorld* world = make_world(&def);
        add_floor(world);
        TdlPose pose = tdl_rigid_def_default().pose;
        pose.position.z = 0.02 + 1.01 * d; // nothing is stored yet
        add_box(world, (TdlVec3){0.1, 0.1, 0.02}, 0.0, pose, (TdlVec3){0});
        Track track = run(world, 500, 0.0, d);
        double v = look_rigid_velocity(world, 0).x;
        CHECK_INT(track.most_contacts, 4);
        if (share < 1.0) {
            double creep = 1.0e-3 * (1.0 - sqrt(1.0 - share)); // 2 y - y^2 = share
            CHECK_NEAR(v, creep, 1.0e-6 * creep);
        } else {
            // that of the middle of the step; beside it what friction was less than whole at first
            double t = 0.5 - 0.5 * dt;
            CHECK_NEAR(v, t * G * (sin(slope) - mu * cos(slope)), 1.0e-4);
        }
        CHECK_BELOW(track.unbalanced, 1.0e-13);
        tdl_world_destroy(world);
    }
}

// Boxes, balls and capsules on each other, with friction.
TEST(a_heap_of_rigid_bodies_stays_apart) {
    TdlWorldDef def = barrier_def(1.0e-3, 2.0e-4, 0.0, 0.4);
    TdlWorld* world = make_world(&def);
    add_floor(world);
    TdlPose pose = tdl_rigid_def_default().pose;
    for (int i = 0; i < 3; ++i) {
        pose.position = (TdlVec3){0.003 * i, 0.002 * i, 0.012 + 0.023 * i};
        add_box(world, (TdlVec3){0.03, 0.03, 0.01}, 0.001, pose, (TdlVec3){0});
    }
    add_sphere(world, 0.01, (TdlVec3){0.0, 0.0, 0.09}, (TdlVec3){0});
    Track track = run(world, 400, 0.0, 0.0);
    printf("  %d contacts at most, least gap %.3g m\n", track.most_contacts, track.least_gap);
    CHECK(track.most_contacts >= 12);
    CHECK(look_rigid_pose(world, 2).position.z > 0.045);
    tdl_world_destroy(world);
}

// --- rods ------------------------------------------------------------------------------------

static void add_soft_rod(TdlWorld* world, const char* model, TdlVec3 start, TdlVec3 along,
                         TdlHold hold) {
    TdlRodDef rod = tdl_rod_def_default();
    TdlBodyId id;
    rod.model = model;
    rod.length = 0.2;
    rod.radius[0] = rod.radius[1] = 1.0e-3;
    rod.element_count = 8;
    rod.young = 1.0e7;
    rod.start = hold;
    rod.clamp.position = start;
    TdlVec3 side = {-along.y, along.x, 0.0};
    rod.clamp.rotation = (TdlMat3){along, side, {0.0, 0.0, 1.0}};
    REQUIRE(tdl_world_add_rod(world, &rod, &id) == TDL_STATUS_OK);
}

// A rod falls across another that is clamped, slides over it and lies on the floor.
TEST(rods_lie_on_rods_and_on_the_floor) {
    const char* const models[] = {"super-helix", "super-clothoid"};
    for (int i = 0; i < REPEATS(2, 1); ++i) {
        TdlWorldDef def = barrier_def(1.0e-3, 0.0, 0.0, 0.3);
        TdlWorld* world = make_world(&def);
        TdlColliderDef floor = tdl_collider_def_default();
        TdlBodyId id;
        floor.shape = TDL_SHAPE_PLANE;
        floor.pose.position.z = -0.02;
        REQUIRE(tdl_world_add_collider(world, &floor, &id) == TDL_STATUS_OK);
        add_soft_rod(world, models[i], (TdlVec3){0}, (TdlVec3){1, 0, 0}, TDL_HOLD_CLAMPED);
        add_soft_rod(world, models[i], (TdlVec3){0.05, -0.1, 0.004}, (TdlVec3){0, 1, 0},
                     TDL_HOLD_FREE);
        Track track = run(world, 150, 0.0, 0.0);
        printf("  %s: %d contacts at most, least gap %.3g m, unbalanced %.2g J\n", models[i],
               track.most_contacts, track.least_gap, track.unbalanced);
        CHECK(kinds_touch(world, "rod", "rod"));
        CHECK(kinds_touch(world, "rod", "collider"));
        CHECK_BELOW(track.unbalanced, 1.0e-11); // of 1e-4 J
        tdl_world_destroy(world);
    }
}

// A soft rod of 0.0915 N bends over a ball, where one to nine minima come and go from step to step.
// They share their stiffness (P.17): without, the force changed by 0.018 N a step in the mean.
TEST(a_soft_rod_on_a_ball_is_carried_evenly) {
    TdlWorldDef def = tdl_world_def_default();
    def.contacts.response = TDL_RESPONSE_BARRIER;
    def.contacts.law.mu = 0.5;
    TdlWorld* world = make_world(&def);
    TdlColliderDef ball = tdl_collider_def_default();
    ball.shape = TDL_SHAPE_SPHERE;
    ball.radius = 0.05;
    TdlRodDef rod = tdl_rod_def_default();
    rod.length = 0.3;
    rod.element_count = 10;
    rod.radius[0] = rod.radius[1] = 3.0e-3;
    rod.young = 1.0e6;
    rod.density = 1100.0;
    rod.damping = 0.01;
    rod.mass_damping = 5.0;
    rod.start = TDL_HOLD_FREE;
    rod.clamp.position = (TdlVec3){-0.15, 0.0, 0.0535};
    TdlBodyId id;
    REQUIRE(tdl_world_add_collider(world, &ball, &id) == TDL_STATUS_OK);
    REQUIRE(tdl_world_add_rod(world, &rod, &id) == TDL_STATUS_OK);
    enum { STEPS = 500, FIRST = 300 };
    double last = 0.0, sum = 0.0, changes = 0.0;
    for (int i = 0; i < STEPS; ++i) {
        TdlStepInfo info;
        REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        CHECK_INT(info.unsolved, 0);
        double force = -look_contact_wrench(world, "collider", 0).force.z;
        sum += i >= FIRST ? force : 0.0;
        changes += i > FIRST ? fabs(force - last) : 0.0;
        last = force;
    }
    double mean = sum / (STEPS - FIRST), change = changes / (STEPS - FIRST - 1);
    printf("  carries %.4f N, changes by %.4f N a step\n", mean, change);
    CHECK_NEAR(mean, 0.0915, 0.01); // it still swings
    CHECK_BELOW(change, 0.008);
    tdl_world_destroy(world);
}

// Nodal rods are not linear in a step: rounds within every attempt.
TEST(a_discrete_rod_lies_on_a_cylinder) {
    TdlWorldDef def = barrier_def(1.0e-3, 2.0e-4, 10.0, 0.3);
    TdlWorld* world = make_world(&def);
    TdlColliderDef beam = tdl_collider_def_default();
    TdlBodyId id;
    beam.shape = TDL_SHAPE_CYLINDER;
    beam.radius = 0.01;
    beam.pose.position = (TdlVec3){0.1, 0.0, -0.0115};
    beam.pose.rotation = (TdlMat3){{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
    REQUIRE(tdl_world_add_collider(world, &beam, &id) == TDL_STATUS_OK);
    add_soft_rod(world, "der", (TdlVec3){0}, (TdlVec3){1, 0, 0}, TDL_HOLD_CLAMPED);
    Track track = run(world, 200, 10.0, 2.0e-4);
    CHECK(kinds_touch(world, "rod", "collider"));
    CHECK_BELOW(track.law, 1.0e-6);
    tdl_world_destroy(world);
}

// A rod that wants to be a ring of a radius below its length over 2 pi winds onto itself.
TEST(a_rod_touches_itself) {
    TdlWorldDef def = barrier_def(1.0e-3, 0.0, 0.0, 0.2);
    def.gravity = (TdlVec3){0};
    TdlWorld* world = make_world(&def);
    TdlRodDef rod = tdl_rod_def_default();
    TdlBodyId id;
    rod.length = 0.2;
    rod.radius[0] = rod.radius[1] = 2.0e-3;
    rod.element_count = 12;
    rod.young = 1.0e6;
    rod.damping = 1.0e-2;
    rod.natural_curvature = (TdlVec3){0.0, 0.0, 45.0};
    rod.curvature = (TdlVec3){1.0, 0.0, 15.0};
    REQUIRE(tdl_world_add_rod(world, &rod, &id) == TDL_STATUS_OK);
    Track track = run(world, 250, 0.0, 0.0);
    printf("  touched itself %d times, least gap %.3g m\n", track.itself, track.least_gap);
    CHECK(track.itself > 10);
    tdl_world_destroy(world);
}

// Free rods that collide, without gravity: momenta are kept, and energy does not grow.
TEST(rods_that_collide_keep_their_momentum) {
    TdlWorldDef def = barrier_def(5.0e-4, 2.0e-4, 0.0, 0.3);
    def.gravity = (TdlVec3){0};
    TdlWorld* world = make_world(&def);
    TdlBodyId id[2];
    for (int i = 0; i < 2; ++i) {
        TdlRigidDef stick = tdl_rigid_def_default();
        stick.shape = TDL_RIGID_CAPSULE;
        stick.radius = 2.0e-3;
        stick.length = 0.1;
        stick.pose.rotation = tdl_rotation_exp((TdlVec3){0, 0, 1.2 * i});
        stick.pose.position = (TdlVec3){0.01 * i, 0.02 * i, 0.006 * i};
        stick.velocity = (TdlVec3){0.0, 0.0, i == 0 ? 0.0 : -1.0};
        REQUIRE(tdl_world_add_rigid(world, &stick, &id[i]) == TDL_STATUS_OK);
    }
    TdlVec3 linear, angular, sum = {0};
    Track track = run(world, 60, 0.0, 0.0);
    for (int i = 0; i < 2; ++i) {
        REQUIRE(tdl_rigid_velocity(world, id[i], &linear, &angular) == TDL_STATUS_OK);
        sum = tdl_add3(sum, linear);
    }
    CHECK_NEAR3(sum, ((TdlVec3){0.0, 0.0, -1.0}), 1.0e-13); // they weigh the same
    CHECK(look_rigid_velocity(world, 0).z < -0.01);
    CHECK_BELOW(track.rise, 1.0e-15);
    tdl_world_destroy(world);
}

// --- the bound on steps ----------------------------------------------------------------------

// So fast that one step leads beyond: through a wire, a ball, a plate. Nothing gets through.
TEST(nothing_passes_however_fast) {
    const TdlShape shapes[] = {TDL_SHAPE_CAPSULE, TDL_SHAPE_SPHERE, TDL_SHAPE_PLATE,
                               TDL_SHAPE_PLANE, TDL_SHAPE_CURVES};
    for (int i = 0; i < 5; ++i) {
        TdlWorldDef def = barrier_def(1.0e-3, 1.0e-4, 0.0, 0.0);
        def.gravity = (TdlVec3){0};
        TdlWorld* world = make_world(&def);
        TdlCurvePiece piece = {0.2, {0, 0, 0}};
        TdlColliderDef wall = tdl_collider_def_default();
        TdlBodyId id;
        wall.shape = shapes[i];
        wall.radius = shapes[i] == TDL_SHAPE_PLATE ? 1.0e-4 : 1.0e-3;
        wall.length = 0.2;
        wall.pieces = &piece;
        wall.piece_count = shapes[i] == TDL_SHAPE_CURVES;
        bool along = shapes[i] == TDL_SHAPE_CAPSULE || shapes[i] == TDL_SHAPE_CURVES;
        wall.pose.position.x = along ? -0.1 : 0.0;
        REQUIRE(tdl_world_add_collider(world, &wall, &id) == TDL_STATUS_OK);
        add_sphere(world, 2.0e-3, (TdlVec3){0.0, 0.0, 0.031}, (TdlVec3){0.0, 0.0, -60.0});
        run(world, 5, 0.0, 0.0);
        TdlVec3 v = look_rigid_velocity(world, 0);
        if (!(look_rigid_pose(world, 0).position.z > 0.002 && v.z > -1.0)) {
            FAIL("shape %d: at %g m, %g m/s", (int)shapes[i], look_rigid_pose(world, 0).position.z,
                 v.z);
        }
        tdl_world_destroy(world);
    }
}

// --- states and threads ----------------------------------------------------------------------

static TdlWorld* make_mixed(int threads) {
    TdlWorldDef def = barrier_def(1.0e-3, 0.0, 0.0, 0.3);
    def.thread_count = threads;
    TdlWorld* world = make_world(&def);
    add_floor(world);
    for (int i = 0; i < 3; ++i) {
        add_rod(world, 0.1, 1.0e-3, 6, (TdlVec3){0.0, 0.02 * i, 0.003 + 0.003 * i},
                (TdlVec3){0.0, 0.0, 5.0 * i});
    }
    add_sphere(world, 0.005, (TdlVec3){0.05, 0.02, 0.02}, (TdlVec3){0.0, 0.0, -1.0});
    return world;
}

static void compare_states(const TdlWorld* a, const TdlWorld* b) {
    size_t size = tdl_world_state_size(a);
    REQUIRE(tdl_world_state_size(b) == size);
    char *x = calloc(size, 1), *y = calloc(size, 1);
    REQUIRE(x != NULL && y != NULL);
    tdl_world_save_state(a, x);
    tdl_world_save_state(b, y);
    CHECK(memcmp(x, y, size) == 0);
    free(x);
    free(y);
}

TEST(bits_are_the_same_for_any_threads_and_after_a_load) {
    TdlWorld *one = make_mixed(1), *three = make_mixed(3), *later = make_mixed(1);
    run(one, 25, 0.0, 0.0);
    run(three, 25, 0.0, 0.0);
    compare_states(one, three);
    size_t size = tdl_world_state_size(one);
    char* bytes = calloc(size, 1);
    REQUIRE(bytes != NULL);
    tdl_world_save_state(one, bytes);
    REQUIRE(tdl_world_load_state(later, bytes, size) == TDL_STATUS_OK);
    free(bytes);
    run(one, 15, 0.0, 0.0);
    run(later, 15, 0.0, 0.0);
    compare_states(one, later);
    tdl_world_destroy(one);
    tdl_world_destroy(three);
    tdl_world_destroy(later);
}

// --- what is refused or told -----------------------------------------------------------------

TEST(a_start_that_is_too_near_is_refused_by_name) {
    const double heights[] = {0.0099, 0.01, 0.01 + 5.0e-8};
    for (int i = 0; i < 3; ++i) {
        Capture capture;
        TdlHost host = capture_host(&capture);
        TdlWorldDef def = barrier_def(1.0e-3, 1.0e-4, 0.0, 0.3);
        TdlWorld* world;
        REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
        add_floor(world);
        add_sphere(world, 0.01, (TdlVec3){0.0, 0.0, heights[i]}, (TdlVec3){0});
        REQUIRE(tdl_body_set_name(world, tdl_world_body(world, "rigid", 0), "bead") ==
                TDL_STATUS_OK);
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_BAD_INPUT);
        CHECK(strstr(capture.text, "bead") != NULL && strstr(capture.text, "barrier") != NULL);
        tdl_world_destroy(world);
    }
}

// --- as a scene

static void write_scene(const Scratch* scratch, double height) {
    FILE* file = fopen(scratch_path(scratch, "scene.yaml"), "w");
    REQUIRE(file != NULL);
    fprintf(file,
            "time: {step: 1e-3, end: 2.0}\n"
            "contacts: {response: barrier, barrier: {distance: 1e-3, stiffness: 500}}\n"
            "bodies: [{name: bead, shape: sphere, radius: 0.02, position: [0, 0, %.17g]}]\n"
            "colliders: [{name: table, shape: plane}]\n"
            "observe: [{force: table}]\n",
            height);
    fclose(file);
}

// The last number of a column of log.csv.
static double last_of(const Scratch* scratch, const char* log, const char* column) {
    char* text = scratch_read(scratch_path(scratch, log), NULL);
    char *end = text == NULL ? NULL : strchr(text, '\n'), *last = text;
    double value = NAN;
    int index = 0;
    for (char* c = text; c != NULL && c < end && strncmp(c, column, strlen(column)) != 0; ++c) {
        index += *c == ',';
    }
    for (char* c = end; c != NULL && c[1] != '\0'; c = strchr(c + 1, '\n')) {
        last = c + 1;
    }
    for (int i = 0; last != NULL && i < index; ++i) {
        last = strchr(last, ',') + 1;
    }
    value = last == NULL ? NAN : strtod(last, NULL);
    free(text);
    return value;
}

TEST(a_scene_is_run_or_refused) {
    Scratch scratch = scratch_make();
    write_scene(&scratch, 0.0205);
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml"), 0);
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "-o", "out", "-q"), 0);
    double weight = 1000.0 * 4.0 / 3.0 * 3.14159265358979 * 8.0e-6 * G;
    CHECK_NEAR(last_of(&scratch, "out/log.csv", "force_table_z"), -weight, 1.0e-6 * weight);
    double gap = gap_under(weight, 500.0, 1.0e-3), away = gap - 1.0e-3;
    CHECK_NEAR(last_of(&scratch, "out/log.csv", "stored"), -500.0 * away * away * log(gap / 1.0e-3),
               1.0e-9);
    // placed nearer than a thousandth of the distance: nothing is written
    write_scene(&scratch, 0.02);
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml"), 3);
    CHECK(command_wrote(&scratch, "stderr", "'bead' and collider 'table' are"));
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "-o", "no", "-q"), 3);
    CHECK(command_wrote(&scratch, "stderr", "the barrier needs more than 1e-06 m"));
    char* text = scratch_read(scratch_path(&scratch, "no/log.csv"), NULL);
    CHECK(text == NULL);
    free(text);
    scratch_remove(&scratch);
}

TEST(definitions_out_of_range_are_refused) {
    const TdlBarrierDef bad[] = {{-1.0, 0.0, 1.0e-3},     {NAN, 0.0, 1.0e-3}, {0.0, -1.0, 1.0e-3},
                                 {0.0, INFINITY, 1.0e-3}, {0.0, 0.0, 0.0},    {0.0, 0.0, NAN}};
    Capture capture;
    TdlHost host = capture_host(&capture);
    TdlWorld* world;
    for (int i = 0; i < 6; ++i) {
        TdlWorldDef def = barrier_def(1.0e-3, 0.0, 0.0, 0.3);
        def.contacts.barrier = bad[i];
        CHECK_INT(tdl_world_create(&host, &def, &world), TDL_STATUS_BAD_ARGUMENT);
    }
    TdlWorldDef def = barrier_def(1.0e-3, 0.0, 0.0, INFINITY);
    CHECK_INT(tdl_world_create(&host, &def, &world), TDL_STATUS_BAD_ARGUMENT);
    def = barrier_def(1.0e-3, 0.0, 0.0, 0.3);
    def.contacts.law.restitution = 0.5;
    CHECK_INT(tdl_world_create(&host, &def, &world), TDL_STATUS_BAD_ARGUMENT);
    def.contacts.law.restitution = 0.0;
    REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    TdlContactLaw law = {0.3, 0.5};
    CHECK_INT(tdl_world_set_contact_law(world, 1, 1, law), TDL_STATUS_BAD_ARGUMENT);
    tdl_world_destroy(world);
}

// A ball between the floor and a ceiling that comes down further than it is thick: the step fails,
// and says why.
TEST(what_has_no_solution_fails_by_name) {
    Capture capture;
    TdlHost host = capture_host(&capture);
    TdlWorldDef def = barrier_def(1.0e-3, 1.0e-4, 0.0, 0.3);
    TdlWorld* world;
    REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    add_floor(world);
    TdlColliderDef ceiling = tdl_collider_def_default();
    TdlBodyId id;
    ceiling.shape = TDL_SHAPE_PLANE;
    ceiling.pose.position.z = 0.0212;
    ceiling.pose.rotation = tdl_rotation_exp((TdlVec3){3.14159265358979, 0.0, 0.0});
    ceiling.velocity.z = -0.1;
    REQUIRE(tdl_world_add_collider(world, &ceiling, &id) == TDL_STATUS_OK);
    add_sphere(world, 0.01, (TdlVec3){0.0, 0.0, 0.0105}, (TdlVec3){0});
    TdlStatus status = TDL_STATUS_OK;
    int steps = 0;
    TdlStepInfo info;
    for (; steps < 30 && status == TDL_STATUS_OK; ++steps) {
        status = tdl_world_step(world, &info);
    }
    CHECK_INT(status, TDL_STATUS_DIVERGED);
    CHECK(steps > 10 && steps < 14); // 1.2 mm of room at 0.1 m/s
    CHECK(strstr(capture.text, "overlap") != NULL);
    tdl_world_destroy(world);
}

// Attempts that do not settle are counted as unsolved and told: here forces would have to agree to
// less than their rounding.
static void count_unsolved(void* user, TdlLogLevel level, const char* message) {
    *(int*)user += level == TDL_LOG_WARNING && strstr(message, "contacts were not solved") != NULL;
}

TEST(what_does_not_converge_is_told) {
    int told = 0, unsolved = 0;
    TdlHost host = tdl_host_default();
    host.log = count_unsolved;
    host.log_user = &told;
    TdlWorldDef def = barrier_def(1.0e-3, 0.0, 0.0, 0.3);
    def.contacts.tolerance = 1.0e-30;
    TdlWorld* world;
    REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    add_floor(world);
    for (int i = 0; i < 2; ++i) {
        add_rod(world, 0.1, 1.0e-3, 6, (TdlVec3){0.0, 0.001 * i, 0.00105 + 0.0023 * i},
                (TdlVec3){0.0, 0.0, 5.0 * i});
    }
    for (int i = 0; i < 8; ++i) {
        TdlStepInfo info;
        REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        unsolved += info.unsolved;
        CHECK(info.error > 0.0 || info.unsolved == 0);
    }
    printf("  %d parts unsolved, told %d times\n", unsolved, told);
    CHECK(unsolved > 0 && told > 0);
    tdl_world_destroy(world);
}

TEST(memory_may_end_at_every_place) {
    int failures = 0;
    for (long fail_at = 1;; ++fail_at) {
        Capture capture;
        FailingMemory memory = {.fail_at = fail_at};
        TdlHost host = capture_host(&capture);
        host.mem = (TdlAllocator){failing_resize, &memory};
        TdlWorldDef def = barrier_def(1.0e-3, 0.0, 0.0, 0.3);
        TdlColliderDef floor = tdl_collider_def_default();
        TdlRodDef rod = tdl_rod_def_default();
        TdlBodyId id;
        TdlWorld* world = NULL;
        floor.shape = TDL_SHAPE_PLANE;
        rod.radius[0] = rod.radius[1] = 1.0e-3;
        rod.length = 0.1;
        rod.element_count = 4;
        rod.start = TDL_HOLD_FREE;
        rod.clamp.position.z = 1.05e-3;
        TdlStatus status = tdl_world_create(&host, &def, &world);
        status = status == TDL_STATUS_OK ? tdl_world_add_collider(world, &floor, &id) : status;
        status = status == TDL_STATUS_OK ? tdl_world_add_rod(world, &rod, &id) : status;
        for (int i = 0; i < 3 && status == TDL_STATUS_OK; ++i) {
            status = tdl_world_step(world, NULL);
        }
        tdl_world_destroy(world);
        CHECK_INT(memory.live, 0);
        if (memory.calls < fail_at) {
            CHECK_INT(status, TDL_STATUS_OK);
            break;
        }
        CHECK_INT(status, TDL_STATUS_NO_MEMORY);
        ++failures;
    }
    printf("  %d allocations failed in turn\n", failures);
    CHECK(failures > 50);
}
