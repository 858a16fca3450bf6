// Meshes whose vertices move: against the same mesh moved as a whole, against friction on paper,
// and against the books of momentum and energy.
#include "counting_allocator.h"
#include "look.h"
#include "math/rotation.h"
#include "tendril/world.h"
#include "test.h"
#include "things.h"

#include <stdlib.h>
#include <string.h>

static const double G = 9.81;
static const double PI = 3.14159265358979323846;

static TdlWorld* make_world_on(TdlHost host, double step, double mu, int threads) {
    TdlWorldDef def = tdl_world_def_default();
    def.step = step;
    def.contacts.law = (TdlContactLaw){mu, 0.0};
    def.contacts.tolerance = 1.0e-10;
    def.contacts.max_iterations = 10000;
    def.thread_count = threads;
    def.losses = true;
    TdlWorld* world = NULL;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        FAIL("world refused");
    }
    return world;
}

static TdlWorld* make_world(double step, double mu) {
    return make_world_on(tdl_host_default(), step, mu, 1);
}

// Where a point of the sheet is at a time.
typedef TdlVec3 (*WayFn)(TdlVec3 p, double time);

static TdlStatus try_sheet(TdlWorld* world, int cells, double radius, WayFn way, double period,
                           int samples) {
    TdlMesh grid = make_grid(cells, 2.0);
    TdlVec3* all = calloc((size_t)(samples * grid.vertex_count), sizeof *all);
    for (int k = 0; k < samples; ++k) {
        for (int i = 0; i < grid.vertex_count; ++i) {
            all[k * grid.vertex_count + i] = way(grid.vertices[i], k * period);
        }
    }
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id;
    def.shape = TDL_SHAPE_MESH;
    def.mesh = grid;
    def.radius = radius;
    def.vertex_motion = (TdlVertexMotion){all, samples, 0.0, period};
    TdlStatus status = tdl_world_add_collider(world, &def, &id);
    free(all);
    free_mesh(grid);
    return status;
}

static void add_sheet(TdlWorld* world, int cells, double radius, WayFn way, double period,
                      int samples) {
    if (try_sheet(world, cells, radius, way, period, samples) != TDL_STATUS_OK) {
        FAIL("sheet refused");
    }
}

static void add_block(TdlWorld* world, TdlVec3 place) {
    TdlPose pose = {place, tdl_identity33()};
    add_box(world, (TdlVec3){0.06, 0.05, 0.02}, 0.005, pose, (TdlVec3){0});
}

static void run(TdlWorld* world, int steps) {
    for (int i = 0; i < steps; ++i) {
        if (tdl_world_step(world, NULL) != TDL_STATUS_OK) {
            FAIL("step %d failed", i);
            return;
        }
    }
}

// --- the same as moved as a whole -----------------------------------------------------------

// A sheet that slides and rises, and one that tilts too, between smooth keys.
static const TdlKeyframe SLIDE[3] = {{0.0, {0, 0, 0}, {0, 0, 0}},
                                     {0.15, {0.03, -0.02, 0.02}, {0, 0, 0}},
                                     {0.3, {0, 0.02, 0.01}, {0, 0, 0}}};
static const TdlKeyframe TILT[3] = {{0.0, {0, 0, 0}, {0, 0, 0}},
                                    {0.15, {0.03, -0.02, 0.02}, {0.05, 0.1, 0.15}},
                                    {0.3, {0, 0.02, 0.01}, {-0.05, 0, 0.3}}};

static TdlVec3 along_keys(const TdlKeyframe* keys, TdlVec3 p, double time) {
    int k = time < 0.15 ? 0 : 1;
    double u = fmin((time - keys[k].time) / 0.15, 1.0);
    u = u * u * u * (10.0 + u * (6.0 * u - 15.0));
    const TdlKeyframe *a = &keys[k], *b = &keys[k + 1];
    TdlVec3 place = tdl_axpy3(a->position, u, tdl_sub3(b->position, a->position));
    TdlVec3 turn = tdl_axpy3(a->rotation, u, tdl_sub3(b->rotation, a->rotation));
    return tdl_add3(place, tdl_mul33_3(tdl_rotation_exp(turn), p));
}

static TdlVec3 along_slide(TdlVec3 p, double time) {
    return along_keys(SLIDE, p, time);
}

static TdlVec3 along_tilt(TdlVec3 p, double time) {
    return along_keys(TILT, p, time);
}

enum { PLACES = 8, BALL = 5 };

// Rods, a ball and a box on the sheet after 0.3 s, moved by keys or, where they are null, by its
// vertices with a sample for each step.
static void shake(const TdlKeyframe* keys, WayFn way, double step, double radius,
                  TdlVec3 out[PLACES]) {
    TdlWorld* world = make_world(step, 0.4);
    if (keys != NULL) {
        TdlMesh grid = make_grid(9, 2.0);
        TdlColliderDef def = tdl_collider_def_default();
        TdlBodyId id;
        def.shape = TDL_SHAPE_MESH;
        def.mesh = grid;
        def.radius = radius;
        def.motion =
            (TdlMotionDef){.keys = keys, .key_count = 3, .interpolation = TDL_INTERPOLATION_SMOOTH};
        REQUIRE(tdl_world_add_collider(world, &def, &id) == TDL_STATUS_OK);
        free((void*)grid.vertices);
        free((void*)grid.triangles);
    } else {
        add_sheet(world, 9, radius, way, step, (int)lround(0.3 / step) + 1);
    }
    add_rod(world, 0.6, 3.0e-3, 4, (TdlVec3){-0.35, 0.2, 3.1e-3 + radius}, (TdlVec3){0});
    add_sphere(world, 0.03, (TdlVec3){0.3, -0.2, 0.0301 + radius}, (TdlVec3){0});
    add_block(world, (TdlVec3){-0.2, -0.3, 0.0201 + radius});
    run(world, (int)lround(0.3 / step));
    look_rod_points(world, look_body(world, "rod", 0), 1, out);
    out[BALL] = look_rigid_pose(world, 0).position;
    out[6] = look_rigid_pose(world, 1).position;
    out[7] = tdl_add3(out[6], tdl_scale3(0.05, look_rigid_pose(world, 1).rotation.cx));
    tdl_world_destroy(world);
}

static double apart(const TdlVec3* a, const TdlVec3* b, int first, int count) {
    double most = 0.0;
    for (int i = first; i < first + count; ++i) {
        most = fmax(most, tdl_norm3(tdl_sub3(a[i], b[i])));
    }
    return most;
}

// Where nothing turns the two sheets have the same places and velocities, but for rounding. On
// rods, whose contacts come and go as they bend, that grows by some 1e4 in 320 steps
// (surface_contact).
TEST(a_sheet_that_slides_by_its_vertices_is_the_sheet_that_slides_as_a_whole) {
    for (int thick = 0; thick < 2; ++thick) {
        TdlVec3 whole[PLACES], parts[PLACES];
        shake(SLIDE, NULL, 5.0e-4, 0.01 * thick, whole);
        shake(NULL, along_slide, 5.0e-4, 0.01 * thick, parts);
        double rod = apart(whole, parts, 0, BALL), rest = apart(whole, parts, BALL, PLACES - BALL);
        printf("  thickness %d: ball and box off by %.2e m, the rod by %.2e\n", thick, rest, rod);
        CHECK_BELOW(rest, 1.0e-12);
        CHECK_BELOW(rod, 1.0e-7);
    }
}

// At the ends of steps the two sheets are the same. In a step the vertices have the velocity of a
// chord and the whole one that of an arc: they differ by half the angle of a step, which the way of
// the ball shows. Rods and boxes that stick here and slide there are more easily put out: by no
// more than by a step of another length.
TEST(a_sheet_that_tilts_by_its_vertices_is_the_sheet_that_tilts_as_a_whole) {
    for (int thick = 0; thick < 2; ++thick) {
        TdlVec3 whole[2][PLACES], parts[2][PLACES];
        double ball[2];
        for (int i = 0; i < 2; ++i) {
            double step = i == 0 ? 1.0e-3 : 2.5e-4;
            shake(TILT, NULL, step, 0.01 * thick, whole[i]);
            shake(NULL, along_tilt, step, 0.01 * thick, parts[i]);
            ball[i] = apart(whole[i], parts[i], BALL, 1);
        }
        double off = apart(whole[0], parts[0], 0, PLACES);
        double by_step = apart(whole[0], whole[1], 0, PLACES);
        printf("  thickness %d: the ball off by %.2e m, with a quarter of the step %.2e; all by "
               "%.2e, where the step makes %.2e\n",
               thick, ball[0], ball[1], off, by_step);
        CHECK_BELOW(ball[0], 1.0e-4);
        CHECK_BELOW(ball[1], 0.35 * ball[0]);
        CHECK_BELOW(off, by_step);
    }
}

// --- friction -------------------------------------------------------------------------------

static TdlVec3 sideways(TdlVec3 p, double time) {
    return (TdlVec3){p.x + 0.5 * time, p.y, p.z};
}

// mu g t until it goes with the sheet; the cache of 0.04 s has nothing to do with the steps.
TEST(a_sheet_drags_along_what_lies_on_it) {
    double step = 1.0e-3, mu = 0.25, speed = 0.5;
    TdlWorld* world = make_world(step, mu);
    add_sheet(world, 7, 0.0, sideways, 0.04, 26);
    add_rod(world, 0.6, 3.0e-3, 3, (TdlVec3){-0.3, 0.2, 3.0e-3}, (TdlVec3){0});
    add_block(world, (TdlVec3){-0.2, -0.3, 0.02});
    run(world, 20); // they come to lie
    TdlBodyId rod = look_body(world, "rod", 0);
    double at = look_rod_point(world, rod, 0.3).x, v[2] = {0}, sliding = 0.0, worst[2] = {0};
    for (int i = 0; i < 400; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        double next = look_rod_point(world, rod, 0.3).x;
        double now[2] = {(next - at) / step, look_rigid_velocity(world, 0).x};
        for (int k = 0; k < 2 && i > 0; ++k) {
            double want = fmin(v[k] + mu * G * step, speed);
            sliding += want < speed ? 0.5 * step : 0.0;
            worst[k] = fmax(worst[k], fabs(now[k] - want));
        }
        at = next;
        v[0] = now[0];
        v[1] = now[1];
    }
    printf("  off by %.1e and %.1e m/s in a step; slid for %.3f s\n", worst[0], worst[1], sliding);
    CHECK_BELOW(worst[0], 1.0e-7);
    CHECK_BELOW(worst[1], 1.0e-9);
    CHECK_NEAR(sliding, speed / (mu * G) - 0.02, 2.0e-3);
    CHECK_NEAR(v[0], speed, 1.0e-9);
    CHECK_NEAR(v[1], speed, 1.0e-9);
    tdl_world_destroy(world);
}

static TdlVec3 spreading(TdlVec3 p, double time) {
    return (TdlVec3){p.x * (1.0 + 0.2 * time), p.y, p.z};
}

// A sheet that is drawn out: what sticks to it goes with its own place on it.
TEST(what_sticks_goes_with_its_place_on_a_sheet_drawn_out) {
    TdlWorld* world = make_world(1.0e-3, 5.0);
    add_sheet(world, 7, 0.0, spreading, 0.05, 21);
    for (int i = 0; i < 3; ++i) {
        add_block(world, (TdlVec3){-0.6 + 0.5 * i, 0.4 * i - 0.4, 0.02});
    }
    run(world, 500);
    for (int i = 0; i < 3; ++i) {
        // a rigid box on a sheet that slides away under both its halves: its middle stays over the
        // same place of the sheet to how unevenly its corners are loaded
        double place = (-0.6 + 0.5 * i) * (1.0 + 0.2 * 0.5);
        CHECK_NEAR(look_rigid_pose(world, i).position.x, place, 0.06 * 0.2 * 0.5);
    }
    tdl_world_destroy(world);
}

static TdlVec3 lifted(TdlVec3 p, double time) {
    return (TdlVec3){p.x, p.y, 0.5 * 3.0 * time * time};
}

TEST(a_sheet_that_speeds_up_carries_weight_and_inertia) {
    double step = 1.0e-3;
    TdlWorld* world = make_world(step, 0.3);
    add_sheet(world, 5, 0.0, lifted, step, 301);
    add_sphere(world, 0.03, (TdlVec3){0.1, 0.1, 0.03}, (TdlVec3){0});
    add_rod(world, 0.6, 3.0e-3, 3, (TdlVec3){-0.3, -0.4, 3.0e-3}, (TdlVec3){0});
    run(world, 300);
    double ball = 1000.0 * 4.0 / 3.0 * PI * 2.7e-5, rod = 1000.0 * PI * 9.0e-6 * 0.6;
    CHECK_NEAR(look_contact_wrench(world, "rigid", 0).force.z, ball * (G + 3.0), 1.0e-6 * ball * G);
    CHECK_NEAR(look_contact_wrench(world, "rod", 0).force.z, rod * (G + 3.0), 1.0e-4 * rod * G);
    tdl_world_destroy(world);
}

// --- a sheet that waves ---------------------------------------------------------------------

static TdlVec3 waving(TdlVec3 p, double time) {
    double z = 0.03 * sin(2.0 * PI * (p.x - 0.8 * time)) * cos(PI * p.y);
    return (TdlVec3){p.x, p.y, z * fmin(4.0 * time, 1.0)};
}

static double total(const TdlWorld* world) {
    TdlEnergy e = tdl_world_energy(world);
    return e.kinetic + e.elastic + e.gravity;
}

static TdlWorld* make_waves(TdlHost host, int threads) {
    TdlWorld* world = make_world_on(host, 5.0e-4, 0.5, threads);
    add_sheet(world, 24, 2.0e-3, waving, 0.02, 51);
    add_rod(world, 0.6, 3.0e-3, 8, (TdlVec3){-0.3, 0.2, 0.02}, (TdlVec3){0});
    add_rod(world, 0.6, 3.0e-3, 8, (TdlVec3){-0.4, -0.2, 0.02}, (TdlVec3){0});
    add_sphere(world, 0.03, (TdlVec3){0.1, 0.0, 0.04}, (TdlVec3){0});
    add_block(world, (TdlVec3){0.2, -0.4, 0.03});
    return world;
}

// Momentum changes by what contacts and weight give; energy by what the step says it went to.
TEST(momentum_and_energy_are_kept_on_a_waving_sheet) {
    TdlWorld* world = make_waves(tdl_host_default(), 1);
    double h = 5.0e-4, mass = 1000.0 * 4.0 / 3.0 * PI * 2.7e-5, work = 0.0, deepest = 0.0;
    run(world, 1); // a body starts with half a step of weight
    for (int i = 0; i < 1200; ++i) {
        TdlVec3 v = look_rigid_velocity(world, 0);
        double before = total(world);
        TdlStepInfo info;
        REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        TdlVec3 push = look_contact_wrench(world, "rigid", 0).force;
        TdlVec3 gain = tdl_sub3(look_rigid_velocity(world, 0), v);
        TdlVec3 want = tdl_scale3(h / mass, tdl_axpy3(push, -mass * G, (TdlVec3){0, 0, 1}));
        CHECK_NEAR3(gain, want, 1.0e-10);
        double told = info.work + info.given + info.push - info.friction - info.impact -
                      info.damping - info.numerical;
        CHECK_NEAR(total(world) - before, told, 1.0e-9);
        work += info.work;
        deepest = fmin(deepest, info.deepest);
    }
    printf("  the sheet did %.3g J of work; deepest overlap %.2e m\n", work, -deepest);
    CHECK(fabs(work) > 1.0e-3);
    CHECK_BELOW(-deepest, 0.1 * 3.0e-3);
    // all are still on top: above the sheet where they are
    for (int i = 0; i < 2; ++i) {
        for (int k = 0; k <= 8; ++k) {
            TdlVec3 p = look_rod_point(world, look_body(world, "rod", i), 0.6 * k / 8);
            CHECK(p.z > waving(p, tdl_world_time(world)).z + 3.0e-3);
        }
    }
    tdl_world_destroy(world);
}

TEST(a_waving_sheet_gives_the_same_bits_after_a_resume_and_with_threads) {
    uint64_t hash[3];
    size_t size = 0;
    char* state = NULL;
    for (int way = 0; way < 3; ++way) {
        TdlWorld* world = make_waves(tdl_host_default(), way == 1 ? 3 : 1);
        if (way == 2) {
            REQUIRE(tdl_world_load_state(world, state, size) == TDL_STATUS_OK);
        } else {
            run(world, 300);
        }
        if (way == 0) {
            size = tdl_world_state_size(world);
            state = malloc(size);
            tdl_world_save_state(world, state);
        }
        run(world, 300);
        hash[way] = tdl_world_state_hash(world);
        tdl_world_destroy(world);
    }
    free(state);
    CHECK(hash[1] == hash[0]);
    CHECK(hash[2] == hash[0]);
}

// A rod on a plane that rises by its velocity, or on a sheet that does by its vertices.
static TdlWorld* make_lift(bool sheet) {
    TdlWorld* world = make_world(1.0e-3, 0.3);
    if (sheet) {
        add_sheet(world, 5, 0.0, sideways, 0.01, 11);
    } else {
        TdlColliderDef def = tdl_collider_def_default();
        TdlBodyId id;
        def.shape = TDL_SHAPE_PLANE;
        def.velocity = (TdlVec3){0.1, 0, 0.05};
        CHECK_INT(tdl_world_add_collider(world, &def, &id), TDL_STATUS_OK);
    }
    add_rod(world, 0.6, 3.0e-3, 4, (TdlVec3){-0.3, 0.2, 3.5e-3}, (TdlVec3){0});
    return world;
}

// The end of a step is n h, which (n - 1) h + h misses by a rounding here and there: what is
// scripted must be where a resume puts it.
TEST(a_resume_from_any_step_has_the_same_bits) {
    enum { STEPS = 80 };
    for (int sheet = 0; sheet < 2; ++sheet) {
        char* state[STEPS];
        size_t size[STEPS];
        uint64_t hash[STEPS + 1];
        TdlWorld* world = make_lift(sheet);
        for (int i = 0; i < STEPS; ++i) {
            size[i] = tdl_world_state_size(world);
            state[i] = malloc(size[i]);
            tdl_world_save_state(world, state[i]);
            run(world, 1);
            hash[i + 1] = tdl_world_state_hash(world);
        }
        tdl_world_destroy(world);
        int other = 0;
        for (int i = 0; i < STEPS; ++i) {
            world = make_lift(sheet);
            REQUIRE(tdl_world_load_state(world, state[i], size[i]) == TDL_STATUS_OK);
            run(world, 1);
            other += tdl_world_state_hash(world) != hash[i + 1];
            tdl_world_destroy(world);
            free(state[i]);
        }
        CHECK_INT(other, 0);
    }
}

TEST(a_waving_sheet_allocates_nothing_once_warm) {
    AllocCounter counter = {0};
    TdlHost host = tdl_host_default();
    host.mem = counting_allocator(&counter);
    TdlWorld* world = make_waves(host, 1);
    run(world, 600);
    long before = counter.calls;
    run(world, 20);
    CHECK_INT(counter.calls - before, 0);
    tdl_world_destroy(world);
    CHECK_INT(counter.live, 0);
}

TEST(each_allocation_of_a_sheet_fails_in_turn) {
    for (long k = 1;; ++k) {
        AllocCounter counter = {.fail_at = 0};
        TdlHost host = tdl_host_default();
        host.mem = counting_allocator(&counter);
        host.log_level = TDL_LOG_ERROR;
        TdlWorld* world = make_world_on(host, 1.0e-3, 0.3, 1);
        counter.fail_at = counter.calls + k;
        TdlStatus status = try_sheet(world, 3, 0.0, waving, 0.02, 3);
        tdl_world_destroy(world);
        CHECK_INT(counter.live, 0);
        if (status == TDL_STATUS_OK) {
            printf("  %ld allocations failed in turn\n", k - 1);
            CHECK(k > 10);
            break;
        }
        CHECK_INT(status, TDL_STATUS_NO_MEMORY);
    }
}

// --- what is hard ---------------------------------------------------------------------------

static TdlVec3 struck(TdlVec3 p, double time) {
    return (TdlVec3){p.x, p.y, -0.05 + 40.0 * time};
}

// Up through a rod's place in a single step: many radii. It is thrown, not passed.
TEST(a_sheet_that_strikes_does_not_pass_through_a_rod) {
    TdlWorld* world = make_world(2.0e-3, 0.3);
    add_sheet(world, 5, 0.0, struck, 0.1, 2);
    add_rod(world, 0.6, 1.0e-3, 3, (TdlVec3){-0.3, 0.15, 0.0}, (TdlVec3){0});
    run(world, 10);
    for (int k = 0; k <= 3; ++k) {
        TdlVec3 p = look_rod_point(world, look_body(world, "rod", 0), 0.2 * k);
        CHECK(p.z > struck(p, tdl_world_time(world)).z);
    }
    tdl_world_destroy(world);
}

static TdlVec3 flipped(TdlVec3 p, double time) {
    return tdl_mul33_3(tdl_rotation_exp((TdlVec3){PI * time / 0.1, 0, 0}), p);
}

static void keep_text(void* user, TdlLogLevel level, const char* text) {
    (void)level;
    snprintf(user, 256, "%s", text);
}

// Half a turn between two samples takes the triangles through nothing.
TEST(a_sheet_without_area_is_refused) {
    char text[256] = "";
    TdlHost host = tdl_host_default();
    host.log = keep_text;
    host.log_user = text;
    TdlWorld* world = make_world_on(host, 1.0e-2, 0.3, 1);
    add_sheet(world, 3, 0.0, flipped, 0.1, 2);
    add_rod(world, 0.6, 3.0e-3, 3, (TdlVec3){-0.3, 0.2, 1.0}, (TdlVec3){0});
    run(world, 4);
    CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_BAD_INPUT);
    CHECK(strstr(text, "has no area at 0.05 s") != NULL);
    CHECK_INT(tdl_world_step_count(world), 4);
    // and from the start, when a sample is so
    CHECK_INT(try_sheet(world, 3, 0.0, flipped, 0.05, 2), TDL_STATUS_OK);
    CHECK_INT(try_sheet(world, 3, 0.0, flipped, 0.05, 1), TDL_STATUS_BAD_ARGUMENT);
    CHECK(strstr(text, "two samples or more") != NULL);
    CHECK_INT(try_sheet(world, 3, 0.0, flipped, 0.0, 2), TDL_STATUS_BAD_ARGUMENT);
    tdl_world_destroy(world);
}
