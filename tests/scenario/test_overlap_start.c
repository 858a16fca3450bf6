// Things that overlap when a run begins, and states that no step can make good: they are told by
// name, the first step ends within a second, and no energy comes out of nothing.
#include "command.h"
#include "look.h"
#include "tendril/scene.h"

#include <time.h>

// A step is attempted at most so often for its contacts: 16 halvings make 33 parts, of which each
// has six attempts (one that looks further and four with places held), and the parts that are left
// then.
enum { ATTEMPTS_MOST = 240 };

static const char HEAD[] = "time: {step: 1e-3, end: 1e-3}\n"
                           "materials: [{name: m, young: 1e9}]\n"
                           "losses: true\n";
static const char HAIR[] = "material: m, length: 0.1, radius: 5e-5, elements: 5";
static const char CURLY[] = ", natural_curvature: [0, 50, 0]";
static const char BIG_BOX[] = "{name: outer, shape: box, half: [0.1, 0.1, 0.1], radius: 1e-3}";

static const char CUBE[] = "v -0.1 -0.1 -0.1\nv 0.1 -0.1 -0.1\nv -0.1 0.1 -0.1\nv 0.1 0.1 -0.1\n"
                           "v -0.1 -0.1 0.1\nv 0.1 -0.1 0.1\nv -0.1 0.1 0.1\nv 0.1 0.1 0.1\n"
                           "f 1 3 4\nf 1 4 2\nf 5 6 8\nf 5 8 7\nf 1 2 6\nf 1 6 5\nf 3 7 8\n"
                           "f 3 8 4\nf 1 5 7\nf 1 7 3\nf 2 4 8\nf 2 8 6\n";

typedef struct Trial {
    Scratch scratch;
    Heard heard;
    TdlScene* scene;
    TdlWorld* world;
} Trial;

static void write_text(const Scratch* scratch, const char* name, const char* text) {
    FILE* file = fopen(scratch_path(scratch, name), "w");
    REQUIRE(file != NULL);
    fputs(text, file);
    fclose(file);
}

static void open_trial(const char* things, Trial* t) {
    static char text[65536];
    *t = (Trial){.scratch = scratch_make()};
    TdlHost host = scratch_host(&t->heard);
    snprintf(text, sizeof text, "%s%s", HEAD, things);
    write_text(&t->scratch, "cube.obj", CUBE);
    write_text(&t->scratch, "scene.yaml", text);
    TdlStatus status =
        tdl_scene_load(&host, scratch_path(&t->scratch, "scene.yaml"), NULL, 0, &t->scene);
    REQUIRE(status == TDL_STATUS_OK);
    REQUIRE(tdl_scene_build(t->scene, 1, &t->world) == TDL_STATUS_OK);
}

static void close_trial(Trial* t) {
    tdl_world_destroy(t->world);
    tdl_scene_destroy(t->scene);
    scratch_remove(&t->scratch);
}

// --- what is measured -----------------------------------------------------------------------

static double total(TdlEnergy e) {
    return e.kinetic + e.elastic + e.gravity;
}

static double most_of(const double* x, int count) {
    double most = 0.0;
    for (int i = 0; i < count; ++i) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

// What (W.6) leaves unexplained of a step, over the largest of its terms.
static double unexplained(TdlEnergy before, const TdlStepInfo* i) {
    double change = total(i->energy) - total(before);
    double in = i->work + i->given + i->push;
    double out = i->friction + i->impact + i->damping + i->numerical;
    const double terms[] = {i->work,           i->given,          i->push,        i->friction,
                            i->impact,         i->damping,        i->numerical,   i->energy.kinetic,
                            i->energy.elastic, i->energy.gravity, before.elastic, before.gravity};
    double play = most_of(terms, (int)(sizeof terms / sizeof *terms));
    return play > 0.0 ? fabs(change - in + out) / play : 0.0;
}

// The first step: in time, its energy explained. Returns what it came to.
static TdlStatus first_step(Trial* t, const char* what, TdlStepInfo* info) {
    TdlEnergy before = tdl_world_energy(t->world);
    clock_t start = clock();
    TdlStatus status = tdl_world_step(t->world, info);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("  %-24s status %d, %.3f s, %d attempts, %d parts, %d contacts; kinetic %.2g, elastic "
           "%.2g, push %.2g J\n",
           what, (int)status, seconds, info->attempts, info->substeps, info->contact_count,
           info->energy.kinetic, info->energy.elastic, info->push);
    CHECK_BELOW(seconds, 1.0);
    CHECK(info->attempts <= ATTEMPTS_MOST);
    if (status == TDL_STATUS_OK) {
        CHECK_BELOW(unexplained(before, info), 1.0e-9);
        CHECK(info->energy_rise == fmax(info->push, 0.0)); // nothing but the push
    } else {
        CHECK_INT(status, TDL_STATUS_DIVERGED);
        CHECK(t->heard.count > 0 && strstr(t->heard.last, "could not be made") != NULL);
        CHECK(strstr(t->heard.last, "rod 'a'") != NULL || strstr(t->heard.last, "rod 'b'") != NULL);
    }
    return status;
}

// The deepest overlap, by name.
static void check_told(Trial* t, const char* first, const char* second, double depth,
                       bool through) {
    TdlOverlap worst;
    int count = 0;
    CHECK_INT(tdl_world_overlaps(t->world, 1, &worst, &count), TDL_STATUS_OK);
    REQUIRE(count > 0);
    char a[TDL_BODY_NAME_SIZE], b[TDL_BODY_NAME_SIZE];
    tdl_body_name(t->world, worst.body[0], a);
    tdl_body_name(t->world, worst.body[1], b);
    CHECK_TEXT(a, first);
    CHECK_TEXT(b, second);
    CHECK_NEAR(worst.depth, depth, 1.0e-4 * depth);
    CHECK(worst.through == through);
}

// --- hairs ------------------------------------------------------------------------------------

static void open_pair(double apart, bool curly, Trial* t) {
    char text[1024];
    snprintf(text, sizeof text,
             "rods:\n  - {name: a, %s%s}\n  - {name: b, %s%s, clamp: {position: [0, %.17g, 0]}}\n",
             HAIR, curly ? CURLY : "", HAIR, curly ? CURLY : "", apart);
    open_trial(text, t);
}

// Energy after 50 steps, and the most that was kinetic on the way.
static double run_on(Trial* t, double* moving) {
    TdlStepInfo info = {0};
    for (int i = 0; i < 49; ++i) {
        TdlEnergy before = tdl_world_energy(t->world);
        CHECK_INT(tdl_world_step(t->world, &info), TDL_STATUS_OK);
        CHECK_BELOW(unexplained(before, &info), 1.0e-9);
        CHECK_INT(info.substeps, 1);
        *moving = fmax(*moving, info.energy.kinetic);
    }
    return total(info.energy);
}

// Compared with the same two that do not overlap, whose roots are 100.1 um apart.
TEST(pairs_of_hairs_keep_their_energy) {
    static const double APART[] = {100.1e-6, 100.0e-6, 99.9e-6, 99.0e-6, 98.0e-6,
                                   95.0e-6,  90.0e-6,  80.0e-6, 40.0e-6};
    for (int curly = 0; curly < 2; ++curly) {
        double free = 0.0;
        for (int k = 0; k < 9; ++k) {
            Trial t;
            TdlStepInfo info;
            char what[64];
            snprintf(what, sizeof what, "%s, %.1f um", curly ? "curly" : "straight",
                     1.0e6 * APART[k]);
            open_pair(APART[k], curly, &t);
            if (APART[k] < 99.95e-6) {
                check_told(&t, "rod 'a'", "rod 'b'", 100.0e-6 - APART[k], false);
            }
            REQUIRE(first_step(&t, what, &info) == TDL_STATUS_OK);
            CHECK_INT(info.substeps, 1);
            double moving = 0.0, energy = run_on(&t, &moving);
            free = k == 0 ? energy : free;
            // what they are parted by is in `push`: at 40 um 0.3 % of what moves
            CHECK_BELOW(fabs(energy - free), (APART[k] < 80.0e-6 ? 1.0e-2 : 1.0e-3) * moving);
            close_trial(&t);
        }
    }
}

TEST(fifty_identical_rods_are_one_step_apart_from_rest) {
    static char text[16384];
    for (int curly = 0; curly < 2; ++curly) {
        Trial t;
        TdlStepInfo info;
        int used = snprintf(text, sizeof text, "rods:\n");
        for (int i = 0; i < 50; ++i) {
            used += snprintf(text + used, sizeof text - (size_t)used, "  - {name: r%d, %s%s}\n", i,
                             HAIR, curly ? CURLY : "");
        }
        open_trial(text, &t);
        check_told(&t, "rod 'r0'", "rod 'r1'", 1.0e-4, false);
        REQUIRE(first_step(&t, curly ? "fifty curly" : "fifty straight", &info) == TDL_STATUS_OK);
        CHECK_BELOW(info.energy.elastic, 0.2 * info.energy.kinetic);
        close_trial(&t);
    }
}

TEST(a_curl_tighter_than_its_thickness_rests) {
    static const double RADII[] = {0.5, 1.3, 1.9};
    for (int k = 0; k < 6; ++k) {
        char text[512], what[64];
        Trial t;
        TdlStepInfo info;
        snprintf(what, sizeof what, "curl of %.1f radii%s", RADII[k / 2], k % 2 ? ", rising" : "");
        snprintf(text, sizeof text,
                 "rods: [{name: a, material: m, length: 0.02, radius: 5e-4, elements: 10, "
                 "natural_curvature: [%d, 0, %.17g]}]\n",
                 k % 2 ? 20 : 0, 1.0 / (RADII[k / 2] * 5.0e-4));
        open_trial(text, &t);
        double moving = 0.0;
        REQUIRE(first_step(&t, what, &info) == TDL_STATUS_OK);
        run_on(&t, &moving);
        // its weight over its length is 3.4e-6 J, its bending 0.2 to 3 J
        CHECK_BELOW(moving, 1.0e-8);
        CHECK_BELOW(tdl_world_energy(t.world).elastic, 1.0e-5);
        close_trial(&t);
    }
}

// --- one inside the other ---------------------------------------------------------------------

// Slowly where contacts do it; never where nothing of it can be moved.
typedef enum Parting { AT_ONCE, SLOWLY, NEVER } Parting;

typedef struct Inside {
    const char *what, *things, *first, *second;
    double depth; // m
    bool through;
    Parting parts;
} Inside;

// Nothing is told any more that only parts through a surface.
static void check_beside(Trial* t) {
    TdlOverlap left[8];
    int count = 0;
    CHECK_INT(tdl_world_overlaps(t->world, 8, left, &count), TDL_STATUS_OK);
    for (int i = 0; i < count && i < 8; ++i) {
        CHECK(!left[i].through);
    }
}

// The first step fails before it is tried, and says whose fault it is.
static void check_refused(Trial* t, const char* first, const char* second) {
    TdlStepInfo info;
    CHECK_INT(tdl_world_step(t->world, &info), TDL_STATUS_BAD_INPUT);
    CHECK(strstr(t->heard.last, first) != NULL && strstr(t->heard.last, second) != NULL);
    CHECK(strstr(t->heard.last, "cannot be put beside each other") != NULL);
}

TEST(things_inside_each_other_are_told_and_parted_or_refused) {
    static const char ROD[] = "rods: [{name: rod, material: m, length: 0.05, radius: 1e-3, "
                              "elements: 5}]\n";
    static const char MESH[] = "colliders: [{name: outer, shape: mesh, mesh: {file: cube.obj}, "
                               "radius: 1e-3}]\n";
    static const char SMALL_BOX[] = "{name: inner, shape: box, half: [0.01, 0.01, 0.01], "
                                    "radius: 1e-3}";
    char text[9][1024];
    snprintf(text[0], 1024, "bodies: [%s, %s]\n", SMALL_BOX, BIG_BOX);
    snprintf(text[1], 1024, "bodies: [{name: ball, shape: sphere, radius: 0.01}, %s]\n", BIG_BOX);
    snprintf(text[2], 1024, "%sbodies: [%s]\n", ROD, BIG_BOX);
    snprintf(text[3], 1024, "%s%s", ROD, MESH);
    snprintf(text[4], 1024, "bodies: [%s]\n%s", SMALL_BOX, MESH);
    snprintf(text[5], 1024, "%sbodies: [{name: outer, shape: sphere, radius: 0.1}]\n", ROD);
    snprintf(text[6], 1024, "%scolliders: [{name: outer, shape: sphere, radius: 0.1}]\n", ROD);
    snprintf(text[7], 1024,
             "bodies: [{name: outer, shape: box, half: [0.3, 0.3, 0.3], radius: 1e-3}]\n"
             "colliders: [{name: inner, shape: sphere, radius: 0.1}]\n");
    snprintf(text[8], 1024,
             "bodies: [{name: pair, shape: box, half: [0.01, 0.01, 0.01], radius: 1e-3, "
             "repeat: {count: [2, 1, 1], spacing: [0.004, 0, 0]}}]\n");
    // in boxes: to the core's faces and both radii
    const Inside cases[] = {
        {"box in box", text[0], "rigid 'inner'", "rigid 'outer'", 0.099 - 0.009 + 2.0e-3, true,
         AT_ONCE},
        {"ball in box", text[1], "rigid 'ball'", "rigid 'outer'", 0.099 + 1.0e-3 + 0.01, true,
         AT_ONCE},
        {"rod in box", text[2], "rod 'rod'", "rigid 'outer'", 0.099 + 2.0e-3, true, AT_ONCE},
        {"rod in mesh", text[3], "rod 'rod'", "collider 'outer'", 0.1 + 2.0e-3, true, NEVER},
        {"box in mesh", text[4], "rigid 'inner'", "collider 'outer'", 0.1 - 0.009 + 2.0e-3, true,
         AT_ONCE},
        {"rod in ball", text[5], "rod 'rod'", "rigid 'outer'", 0.101, false, AT_ONCE},
        {"rod in placed ball", text[6], "rod 'rod'", "collider 'outer'", 0.101, false, AT_ONCE},
        {"placed ball in box", text[7], "rigid 'outer'", "collider 'inner'", 0.299 + 0.101, true,
         AT_ONCE},
        {"copies of a box", text[8], "rigid 'pair[0]'", "rigid 'pair[1]'", 2.0e-3, true, SLOWLY},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        Trial t;
        TdlStepInfo info;
        open_trial(cases[k].things, &t);
        check_told(&t, cases[k].first, cases[k].second, cases[k].depth, cases[k].through);
        if (cases[k].parts == NEVER) {
            check_refused(&t, cases[k].first, cases[k].second);
        } else {
            REQUIRE(first_step(&t, cases[k].what, &info) == TDL_STATUS_OK);
            CHECK_INT(info.substeps, 1);
            if (cases[k].parts == AT_ONCE) {
                check_beside(&t);
            }
        }
        close_trial(&t);
    }
}

// Free rods of every model in a mesh, nearer to its top: they are put on top of it, at rest, and
// what that takes against gravity is in `push` and in `energy_rise`.
TEST(free_rods_are_put_beside_a_mesh_at_rest) {
    static const char* const MODELS[] = {
        "super-helix", "super-helix-dense", "super-clothoid", "der", "corde", "mass-spring"};
    for (int k = 0; k < 6; ++k) {
        char text[1024];
        Trial t;
        TdlStepInfo info;
        snprintf(text, sizeof text,
                 "rods: [{name: rod, material: m, model: %s, length: 0.05, radius: 1e-3, "
                 "elements: 5, start: free, clamp: {position: [-0.02, 0, 0.06]}}]\n"
                 "colliders: [{name: outer, shape: mesh, mesh: {file: cube.obj}, radius: 1e-3}]\n",
                 MODELS[k]);
        open_trial(text, &t);
        TdlBodyId rod = look_body(t.world, "rod", 0);
        TdlEnergy before = tdl_world_energy(t.world);
        REQUIRE(first_step(&t, MODELS[k], &info) == TDL_STATUS_OK);
        check_beside(&t);
        double mass = look_rod_info(t.world, rod).mass, low = INFINITY;
        for (int i = 0; i <= 50; ++i) {
            low = fmin(low, look_rod_point(t.world, rod, 1.0e-3 * i).z);
        }
        CHECK(low > 0.1 + 2.0e-3 - 1.0e-5 && low < 0.1 + 2.0e-3 + 1.0e-5);
        CHECK_NEAR(info.push, mass * 9.81 * 0.042, 1.0e-4 * mass * 9.81 * 0.042);
        CHECK(info.energy_rise == info.push && before.kinetic == 0.0);
        CHECK_BELOW(info.energy.kinetic, mass * 9.81e-3 * 9.81e-3); // it falls for a step
        close_trial(&t);
    }
}

// A rod that passes through both faces of a mesh, with its ends outside: no point of it needs to be
// enclosed for that. It is clamped: refused, or left as it is where the scene says so.
TEST(a_rod_through_a_mesh_is_told) {
    static const char THINGS[] =
        "rods: [{name: rod, material: m, length: 0.5, radius: 1e-3, elements: 5, "
        "clamp: {position: [-0.25, 0, 0]}}]\n"
        "colliders: [{name: mesh, shape: mesh, mesh: {file: cube.obj}, radius: 1e-3}]\n";
    char text[1024];
    Trial t;
    TdlStepInfo info;
    open_trial(THINGS, &t);
    check_told(&t, "rod 'rod'", "collider 'mesh'", 0.1 + 2.0e-3, true);
    check_refused(&t, "rod 'rod'", "collider 'mesh'");
    close_trial(&t);
    snprintf(text, sizeof text, "%scontacts: {start: keep}\n", THINGS);
    open_trial(text, &t);
    REQUIRE(first_step(&t, "rod through mesh", &info) == TDL_STATUS_OK);
    CHECK_BELOW(info.energy.kinetic + info.energy.elastic, 1.0e-6); // it falls: 6.5e-8 J
    close_trial(&t);
}

// --- parting ----------------------------------------------------------------------------------

// Without weight nothing moves but by the push: not faster than told, and at rest all the way.
TEST(rigid_bodies_part_at_the_told_speed_and_rest) {
    static const char* const THINGS[] = {
        "bodies: [{name: a, shape: sphere, radius: 0.01}, "
        "{name: b, shape: sphere, radius: 0.01, position: [0.014, 0, 0]}]\n",
        "bodies: [{name: a, shape: capsule, radius: 0.01, length: 0.1}, {name: b, shape: capsule, "
        "radius: 0.01, length: 0.1, position: [0.05, -0.05, 0.012], direction: [0, 1, 0]}]\n",
        "bodies: [{name: a, shape: box, half: [0.05, 0.05, 0.05], radius: 2e-3}, {name: b, "
        "shape: box, half: [0.05, 0.05, 0.05], radius: 2e-3, position: [0.02, 0.03, 0.09]}]\n",
        "bodies: [{name: a, shape: box, half: [0.05, 0.05, 0.05], radius: 2e-3}]\n"
        "colliders: [{name: floor, shape: plane, position: [0, 0, -0.04]}]\n"};
    static const double RADIUS[] = {0.01, 0.01, 2.0e-3, 2.0e-3};
    for (int k = 0; k < 4; ++k) {
        Trial t;
        char text[1024];
        snprintf(text, sizeof text, "gravity: [0, 0, 0]\n%s", THINGS[k]);
        open_trial(text, &t);
        TdlOverlap worst;
        int count = 0, steps = 0;
        double before = INFINITY;
        for (; steps < 200; ++steps) {
            TdlStepInfo info;
            CHECK_INT(tdl_world_overlaps(t.world, 1, &worst, &count), TDL_STATUS_OK);
            double depth = count == 0 ? 0.0 : worst.depth;
            CHECK(depth <= before && (steps == 0 || before - depth <= 0.11 * RADIUS[k]));
            before = depth;
            if (depth <= 0.0021 * RADIUS[k]) {
                break; // the slop
            }
            REQUIRE(tdl_world_step(t.world, &info) == TDL_STATUS_OK);
            CHECK(info.energy.kinetic == 0.0 && info.substeps == 1);
        }
        printf("  case %d: apart after %d steps\n", k, steps);
        CHECK(steps < 100);
        close_trial(&t);
    }
}

// --- what no step can make good ---------------------------------------------------------------

TEST(clamps_that_jump_end_in_time) {
    static const char* const JUMPS[] = {"1e-3", "1e-2", "1", "1e3"};
    for (int k = 0; k < 8; ++k) {
        Trial t;
        TdlStepInfo info;
        char text[2048], what[64];
        snprintf(what, sizeof what, "%s m %s", JUMPS[k / 2], k % 2 ? "through another" : "alone");
        int used = snprintf(text, sizeof text,
                            "rods:\n  - {name: a, %s%s, clamp: {motion: {interpolation: linear, "
                            "keyframes: [{time: 0}, {time: 1e-3, position: [0, %s, 0]}]}}}\n",
                            HAIR, CURLY, JUMPS[k / 2]);
        if (k % 2) {
            snprintf(text + used, sizeof text - (size_t)used,
                     "  - {name: b, %s%s, clamp: {position: [0, 2e-4, 0]}}\n"
                     "colliders: [{name: c, shape: sphere, radius: 0.01, "
                     "position: [0.05, 0, -0.02]}]\n",
                     HAIR, CURLY);
        }
        open_trial(text, &t);
        first_step(&t, what, &info);
        close_trial(&t);
    }
}

TEST(a_storm_ends_in_time) {
    static const char* const WINDS[] = {"1", "1e3", "1e6"};
    for (int k = 0; k < 3; ++k) {
        Trial t;
        TdlStepInfo info;
        char text[1024], what[64];
        snprintf(what, sizeof what, "wind %s m/s", WINDS[k]);
        snprintf(text, sizeof text,
                 "wind: [0, %s, 0]\nrods:\n  - {name: a, %s%s, drag: 1}\n"
                 "  - {name: b, %s%s, drag: 1, clamp: {position: [0, 2e-4, 0]}}\n",
                 WINDS[k], HAIR, CURLY, HAIR, CURLY);
        open_trial(text, &t);
        TdlStatus status = first_step(&t, what, &info);
        CHECK(k > 0 || status == TDL_STATUS_OK);
        close_trial(&t);
    }
}

// --- the command ------------------------------------------------------------------------------

TEST(check_and_run_tell_and_refuse) {
    Trial t;
    open_pair(99.0e-6, true, &t);
    const Scratch* s = &t.scratch;
    CHECK_INT(COMMAND(s, "check", "scene.yaml"), 0);
    CHECK(command_wrote(s, "stdout", "overlap    1 pair at the start\n"));
    CHECK(command_wrote(s, "stdout", "rod 'a' and rod 'b', by 1e-06 m at ("));
    CHECK_INT(COMMAND(s, "check", "scene.yaml", "--json"), 0);
    CHECK(command_wrote(s, "stdout",
                        "\"overlap_count\": 1, \"overlaps\": [{\"between\": "
                        "[\"rod 'a'\", \"rod 'b'\"]"));
    CHECK_INT(COMMAND(s, "check", "scene.yaml", "--set", "contacts.start=refuse"), 3);
    CHECK_INT(COMMAND(s, "run", "scene.yaml", "-o", "kept"), 0);
    CHECK(command_wrote(s, "stderr", "overlap at the start: rod 'a' and rod 'b', by 1e-06 m"));
    CHECK_INT(COMMAND(s, "run", "scene.yaml", "-o", "none", "--set", "contacts.start=refuse"), 3);
    CHECK(command_wrote(s, "stderr", "overlap at the start: rod 'a' and rod 'b', by 1e-06 m"));
    CHECK(command_wrote(s, "stderr", "which the scene refuses"));
    CHECK(access(scratch_path(s, "none"), F_OK) != 0);
    close_trial(&t);
}

// The library refuses by itself: the first step, and only that.
TEST(a_world_refuses_its_first_step) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.contacts.start = TDL_START_REFUSE;
    for (int k = 0; k < 2; ++k) {
        TdlWorld* world;
        REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
        for (int i = 0; i < 2; ++i) {
            TdlRigidDef ball = tdl_rigid_def_default();
            TdlBodyId id;
            ball.radius = 0.01;
            ball.pose.position.x = i * (k == 0 ? 0.019 : 0.021);
            REQUIRE(tdl_world_add_rigid(world, &ball, &id) == TDL_STATUS_OK);
        }
        CHECK_INT(tdl_world_step(world, NULL), k == 0 ? TDL_STATUS_BAD_INPUT : TDL_STATUS_OK);
        CHECK_INT(tdl_world_step_count(world), k);
        tdl_world_destroy(world);
    }
}

// What is being parted is part of the state.
TEST(a_resumed_parting_has_the_same_bits) {
    Trial a, b;
    open_pair(90.0e-6, true, &a);
    open_pair(90.0e-6, true, &b);
    for (int i = 0; i < 5; ++i) {
        REQUIRE(tdl_world_step(a.world, NULL) == TDL_STATUS_OK);
    }
    size_t size = tdl_world_state_size(a.world);
    void* bytes = malloc(size);
    REQUIRE(bytes != NULL);
    tdl_world_save_state(a.world, bytes);
    REQUIRE(tdl_world_load_state(b.world, bytes, size) == TDL_STATUS_OK);
    free(bytes);
    for (int i = 0; i < 20; ++i) {
        REQUIRE(tdl_world_step(a.world, NULL) == TDL_STATUS_OK);
        REQUIRE(tdl_world_step(b.world, NULL) == TDL_STATUS_OK);
    }
    CHECK(tdl_world_state_hash(a.world) == tdl_world_state_hash(b.world));
    close_trial(&a);
    close_trial(&b);
}
