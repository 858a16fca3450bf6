// `tendril inverse` and 'rest: inverse' from outside: what is written rests when it is loaded, what
// leaves is told, curves are followed, and what cannot be is refused at its place.
#include "command.h"
#include "look.h"
#include "tendril/formats.h"
#include "tendril/inverse.h"
#include "tendril/scene.h"

// --- shapes -----------------------------------------------------------------------------------

// Points of a curl that grows sideways out of the wall and droops; the radius is that of the curl.
static void write_curl(const Scratch* s, const char* name, int curves, double radius) {
    FILE* f = fopen(scratch_path(s, name), "w");
    fprintf(f, "curve,x,y,z\n");
    for (int k = 0; k < curves; ++k) {
        for (int i = 0; i <= 120; ++i) {
            double u = i / 120.0, a = 12.0 * u;
            double r = radius * (1.0 - exp(-36.0 * u * u));
            fprintf(f, "%d,%.12g,%.12g,%.12g\n", k, 0.06 * u, r * sin(a) + 0.05 * k,
                    r * (1.0 - cos(a)) - 0.02 * u * u);
        }
    }
    fclose(f);
}

// The furthest that any rod of a scene goes in a tenth of a second, over its length.
static double drift_of(const Scratch* s, const char* name, int* rods) {
    TdlHost host = tdl_host_default();
    TdlScene* scene = NULL;
    TdlWorld* world = NULL;
    double drift = 0.0;
    CHECK_INT(tdl_scene_load(&host, scratch_path(s, name), NULL, 0, &scene), TDL_STATUS_OK);
    if (scene == NULL || tdl_scene_build(scene, 1, &world) != TDL_STATUS_OK) {
        tdl_scene_destroy(scene);
        return INFINITY;
    }
    *rods = look_count(world, "rod");
    TdlVec3 before[8][256], now[256];
    for (int k = 0; k < *rods && k < 8; ++k) {
        look_rod_points(world, look_body(world, "rod", k), 1, before[k]);
    }
    for (int i = 0; i < 100; ++i) {
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
    }
    for (int k = 0; k < *rods && k < 8; ++k) {
        TdlRodInfo info = look_rod_info(world, look_body(world, "rod", k));
        look_rod_points(world, look_body(world, "rod", k), 1, now);
        for (int i = 0; i <= info.element_count; ++i) {
            drift = fmax(drift, tdl_norm3(tdl_sub3(now[i], before[k][i])) / info.length);
        }
    }
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
    return drift;
}

// --- curves -------------------------------------------------------------------------------------

TEST(curves_become_rods_that_rest) {
    if (getenv("TENDRIL_COMMAND") == NULL) {
        SKIP("TENDRIL_COMMAND is not set");
    }
    static const char* const MODELS[] = {"super-helix", "super-clothoid", "der"};
    Scratch s = scratch_make();
    write_curl(&s, "curl.csv", 2, 3.0e-3);
    for (int m = 0; m < 3; ++m) {
        CHECK_INT(COMMAND(&s, "inverse", "curl.csv", "-o", "rest.yaml", "--model", MODELS[m],
                          "--elements", "60", "--young", "1e10", "--check", "0.1", "--json", "-q"),
                  0);
        CHECK(
            command_wrote(&s, "stdout", "\"strands\": [{\"name\": \"curl[0]\", \"elements\": 60"));
        CHECK(command_wrote(&s, "stdout", "\"contacts\": {\"count\": 0"));
        CHECK(command_wrote(&s, "stdout", "\"stable\": true"));
        CHECK(command_wrote(&s, "stdout", "\"wrong\": 0"));
        int rods = 0;
        double drift = drift_of(&s, "rest.yaml", &rods);
        printf("  %s: drift %.2g of the length\n", MODELS[m], drift);
        CHECK_INT(rods, 2);
        // edges of a der are stretched by their weight first
        CHECK_BELOW(drift, m == 2 ? 1.0e-6 : 1.0e-12);
        CHECK(access(scratch_path(&s, "rest.fitted.yaml"), F_OK) != 0);
        CHECK(access(scratch_path(&s, "rest.fitted.h5"), F_OK) != 0);
    }
    scratch_remove(&s);
}

// A column of its least factor's softness would leave; its softness over that is told, and it is
// held when that is asked for.
TEST(what_leaves_is_told_and_held) {
    if (getenv("TENDRIL_COMMAND") == NULL) {
        SKIP("TENDRIL_COMMAND is not set");
    }
    Scratch s = scratch_make();
    write_curl(&s, "curl.csv", 1, 3.0e-3);
    CHECK_INT(COMMAND(&s, "inverse", "curl.csv", "-o", "a.yaml", "--young", "2e7", "--check", "1",
                      "--json"),
              0);
    CHECK(command_wrote(&s, "stdout", "\"stable\": false"));
    CHECK(command_wrote(&s, "stdout", "\"left\": true"));
    CHECK(command_wrote(&s, "stderr", "1 of 1 rods would not stay"));
    CHECK_INT(COMMAND(&s, "inverse", "curl.csv", "-o", "b.yaml", "--young", "2e7", "--check", "1",
                      "--stiffen", "--json"),
              0);
    CHECK(command_wrote(&s, "stdout", "\"stable\": true"));
    CHECK(command_wrote(&s, "stdout", "\"left\": false"));
    // strands are an input too
    CHECK_INT(COMMAND(&s, "inverse", "b.h5", "-o", "c.yaml", "--young", "2e7", "--json"), 0);
    CHECK(command_wrote(&s, "stdout", "\"stable\": true"));
    scratch_remove(&s);
}

TEST(a_tolerance_is_kept_or_said_to_be_missed) {
    if (getenv("TENDRIL_COMMAND") == NULL) {
        SKIP("TENDRIL_COMMAND is not set");
    }
    Scratch s = scratch_make();
    write_curl(&s, "curl.csv", 1, 3.0e-3);
    for (int m = 0; m < 2; ++m) {
        const char* model = m == 0 ? "super-helix" : "super-clothoid";
        CHECK_INT(COMMAND(&s, "inverse", "curl.csv", "-o", "a.yaml", "--tolerance", "1e-5",
                          "--model", model, "--json"),
                  0);
        char* text = scratch_read(scratch_path(&s, "stdout"), NULL);
        const char* at = text == NULL ? NULL : strstr(text, "\"fit_error\": ");
        CHECK(at != NULL && strtod(at + 13, NULL) <= 1.0e-5 && strtod(at + 13, NULL) > 0.0);
        free(text);
        CHECK_INT(COMMAND(&s, "inverse", "curl.csv", "-o", "a.yaml", "--tolerance", "1e-9",
                          "--elements", "8", "--model", model),
                  1);
        CHECK(command_wrote(&s, "stderr", "more elements for the tolerance"));
    }
    scratch_remove(&s);
}

TEST(closed_and_noisy_curves_are_followed) {
    if (getenv("TENDRIL_COMMAND") == NULL) {
        SKIP("TENDRIL_COMMAND is not set");
    }
    static const char* const METHODS[] = {"least-squares", "floating", "s4"};
    Scratch s = scratch_make();
    FILE* f = fopen(scratch_path(&s, "ring.csv"), "w");
    fprintf(f, "x,y,z\n");
    for (int i = 0; i < 40; ++i) {
        double a = 2.0 * 3.14159265358979324 * i / 40;
        fprintf(f, "%.12g,%.12g,0\n", 0.05 * cos(a), 0.05 * sin(a));
    }
    fclose(f);
    for (int m = 0; m < 3; ++m) {
        CHECK_INT(COMMAND(&s, "inverse", "ring.csv", "-o", "a.yaml", "--closed", "--gravity",
                          "0,0,-1e-3", "--method", METHODS[m], "--json"),
                  0);
        // a circle is one helix, and a spline of 40 points is 1e-6 of its radius off
        char* text = scratch_read(scratch_path(&s, "stdout"), NULL);
        const char* at = text == NULL ? NULL : strstr(text, "\"fit_error\": ");
        CHECK(at != NULL && strtod(at + 13, NULL) < 1.0e-6);
        free(text);
    }
    CHECK_INT(
        COMMAND(&s, "inverse", "ring.csv", "-o", "a.yaml", "--closed", "--model", "super-clothoid"),
        2);
    CHECK_INT(COMMAND(&s, "inverse", "ring.csv", "-o", "a.yaml", "--smooth", "1e-4", "--gravity",
                      "0,0,-1e-3", "-q"),
              0);
    CHECK_INT(COMMAND(&s, "inverse", "ring.csv", "-o", "a.yaml", "--smooth", "--gravity",
                      "0,0,-1e-3", "-q"),
              0);
    // so soft that no fibre could be bent to rest so
    CHECK_INT(COMMAND(&s, "inverse", "ring.csv", "-o", "b.yaml", "--young", "1"), 1);
    CHECK(command_wrote(&s, "stderr", "far too soft"));
    CHECK(access(scratch_path(&s, "b.yaml"), F_OK) != 0);
    scratch_remove(&s);
}

// --- scenes -------------------------------------------------------------------------------------

static const char HEAD[] =
    "time: {step: 1e-3, end: 0.1}\n"
    "materials: [{name: hair, young: 1e10, poisson: 0.48, density: 1000, damping: 0.01}]\n";

static void write_scene(const Scratch* s, const char* name, const char* rest) {
    char text[4096];
    size_t size = (size_t)snprintf(text, sizeof text, "%s%s", HEAD, rest);
    scratch_write(scratch_path(s, name), text, size);
}

// What a scene has at rest is what the command writes, to the last bit; other rods stay as they
// are.
TEST(a_scene_rests_as_what_is_written_of_it) {
    if (getenv("TENDRIL_COMMAND") == NULL) {
        SKIP("TENDRIL_COMMAND is not set");
    }
    Scratch s = scratch_make();
    TdlHost host = tdl_host_default();
    write_curl(&s, "curl.csv", 2, 3.0e-3);
    write_scene(&s, "scene.yaml",
                "contacts: {detection: off}\n"
                "rods:\n"
                "  - {name: sags, material: hair, radius: 5e-5, length: 0.05, elements: 4,\n"
                "     clamp: {position: [0, -1, 0]}}\n"
                "  - name: curl\n    material: hair\n    radius: 5e-5\n    elements: 30\n"
                "    drag: 1e-6\n"
                "    curves: {file: curl.csv, rest: inverse}\n");
    CHECK_INT(COMMAND(&s, "inverse", "scene.yaml", "-o", "out/rest.yaml", "--json"), 1);
    CHECK_INT(COMMAND(&s, "inverse", "scene.yaml", "-o", "rest.yaml", "--check", "0.1", "--json"),
              0);
    CHECK(command_wrote(&s, "stdout", "\"fit_error\": null"));
    static const char* const NAMES[] = {"scene.yaml", "rest.yaml"};
    TdlVec3 natural[2][2][31];
    for (int k = 0; k < 2; ++k) {
        TdlScene* scene = NULL;
        TdlWorld* world = NULL;
        REQUIRE(tdl_scene_load(&host, scratch_path(&s, NAMES[k]), NULL, 0, &scene) ==
                TDL_STATUS_OK);
        REQUIRE(tdl_scene_build(scene, 1, &world) == TDL_STATUS_OK);
        CHECK_INT(look_count(world, "rod"), 3);
        TdlBodyId rest[3];
        CHECK_INT(tdl_scene_rest_rods(scene, world, 3, rest), k == 0 ? 2 : 3);
        CHECK_NEAR(look_rod_info(world, look_body(world, "rod", 0)).length, 0.05, 1.0e-15);
        for (int i = 0; i < 2; ++i) {
            CHECK_INT(
                tdl_rod_natural_curvature(world, look_body(world, "rod", 1 + i), natural[k][i]),
                TDL_STATUS_OK);
        }
        tdl_world_destroy(world);
        tdl_scene_destroy(scene);
    }
    CHECK(memcmp(natural[0][0], natural[1][0], 30 * sizeof(TdlVec3)) == 0);
    CHECK(memcmp(natural[0][1], natural[1][1], 30 * sizeof(TdlVec3)) == 0);
    scratch_remove(&s);
}

// A hair that lies on a floor from its middle on: with contacts it leans on it.
TEST(a_scene_leans_on_what_it_touches) {
    if (getenv("TENDRIL_COMMAND") == NULL) {
        SKIP("TENDRIL_COMMAND is not set");
    }
    Scratch s = scratch_make();
    FILE* f = fopen(scratch_path(&s, "bent.csv"), "w");
    fprintf(f, "curve,x,y,z\n");
    for (int i = 0; i <= 60; ++i) {
        double u = i / 60.0, down = fmax(0.0, 1.0 - 2.0 * u);
        fprintf(f, "0,%.12g,0,%.12g\n", 0.1 * u, 5.0e-5 + 0.02 * down * down * down);
    }
    fclose(f);
    write_scene(&s, "scene.yaml",
                "rods:\n  - name: hair\n    material: hair\n    radius: 5e-5\n    elements: 40\n"
                "    curves: {file: bent.csv, rest: inverse}\n"
                "inverse: {contacts: true}\n"
                "colliders: [{name: floor, shape: plane, material: hair}]\n");
    CHECK_INT(COMMAND(&s, "inverse", "scene.yaml", "-o", "rest.yaml", "--check", "0.2", "--json"),
              0);
    CHECK(command_wrote(&s, "stdout", "\"stable\": true"));
    CHECK(command_wrote(&s, "stdout", "\"wrong\": 0"));
    char* text = scratch_read(scratch_path(&s, "stdout"), NULL);
    const char* at = text == NULL ? NULL : strstr(text, "\"loaded\": ");
    CHECK(at != NULL && strtol(at + 10, NULL, 10) > 0);
    free(text);
    scratch_remove(&s);
}

// The part that is left of a strand is as it was.
TEST(strands_can_be_cut) {
    if (getenv("TENDRIL_COMMAND") == NULL) {
        SKIP("TENDRIL_COMMAND is not set");
    }
    Scratch s = scratch_make();
    TdlHost host = tdl_host_default();
    write_curl(&s, "curl.csv", 1, 3.0e-3);
    for (int m = 0; m < 2; ++m) {
        CHECK_INT(COMMAND(&s, "inverse", "curl.csv", "-o", "rest.yaml", "--model",
                          m == 0 ? "super-helix" : "super-clothoid"),
                  0);
        TdlStrands strands;
        REQUIRE(tdl_strands_read(&host, scratch_path(&s, "rest.h5"), &strands) == TDL_STATUS_OK);
        char rest[512];
        snprintf(rest, sizeof rest,
                 "rods: [{name: h, material: hair, radius: 5e-5, curves: {file: rest.h5, cut: "
                 "%.17g}}]\n",
                 0.42 * strands.length[0]);
        write_scene(&s, "cut.yaml", rest);
        TdlScene* scene = NULL;
        TdlWorld* world = NULL;
        REQUIRE(tdl_scene_load(&host, scratch_path(&s, "cut.yaml"), NULL, 0, &scene) ==
                TDL_STATUS_OK);
        REQUIRE(tdl_scene_build(scene, 1, &world) == TDL_STATUS_OK);
        TdlRodInfo info = look_rod_info(world, look_body(world, "rod", 0));
        CHECK_INT(info.element_count, 8); // 0.42 of 20
        CHECK_NEAR(info.length, 0.4 * strands.length[0], 1.0e-15);
        TdlVec3 natural[21];
        CHECK_INT(tdl_rod_natural_curvature(world, look_body(world, "rod", 0), natural),
                  TDL_STATUS_OK);
        CHECK(memcmp(natural, strands.natural_curvature, (size_t)(8 + m) * sizeof(TdlVec3)) == 0);
        tdl_world_destroy(world);
        tdl_scene_destroy(scene);
        tdl_strands_free(&host, &strands);
    }
    scratch_remove(&s);
}

// --- what is wrong ------------------------------------------------------------------------------

TEST(bad_calls_are_refused) {
    if (getenv("TENDRIL_COMMAND") == NULL) {
        SKIP("TENDRIL_COMMAND is not set");
    }
    Scratch s = scratch_make();
    write_curl(&s, "curl.csv", 1, 3.0e-3);
    scratch_write(scratch_path(&s, "nan.csv"), "x,y,z\n0,0,0\n0,nan,1\n", 20);
    scratch_write(scratch_path(&s, "dot.csv"), "x,y,z\n0,0,0\n0,0,0\n", 18);
    write_scene(&s, "scene.yaml",
                "rods: [{name: h, material: hair, radius: 5e-5, length: 0.1, end: clamped}]\n");
    CHECK_INT(COMMAND(&s, "inverse", "none.csv", "-o", "a.yaml"), 3);
    CHECK(command_wrote(&s, "stderr", "none.csv"));
    CHECK_INT(COMMAND(&s, "inverse", "nan.csv", "-o", "a.yaml"), 3);
    CHECK(command_wrote(&s, "stderr", "nan.csv:3"));
    CHECK_INT(COMMAND(&s, "inverse", "dot.csv", "-o", "a.yaml"), 3);
    CHECK_INT(COMMAND(&s, "inverse", "curl.txt", "-o", "a.yaml"), 3);
    CHECK(command_wrote(&s, "stderr", ".hair, .obj or .csv"));
    CHECK_INT(COMMAND(&s, "inverse", "none.h5", "-o", "a.yaml"), 3);
    CHECK_INT(COMMAND(&s, "inverse", "none.yaml", "-o", "a.yaml"), 3);
    CHECK_INT(COMMAND(&s, "inverse", "scene.yaml", "-o", "a.yaml"), 3);
    CHECK(command_wrote(&s, "stderr", "rod 'h'"));
    CHECK_INT(COMMAND(&s, "inverse", "scene.yaml", "-o", "a.yaml", "--young", "1e9"), 2);
    CHECK_INT(COMMAND(&s, "inverse", "curl.csv", "-o", "a.yaml", "--mu", "0.1"), 2);
    CHECK_INT(COMMAND(&s, "inverse", "curl.csv", "-o", "a.yaml", "--guess", "tip"), 2);
    CHECK_INT(COMMAND(&s, "inverse", "curl.csv", "-o", "a.yaml", "--contacts", "--guess", "2"), 2);
    CHECK_INT(COMMAND(&s, "inverse", "curl.csv", "-o", "a.yaml", "--gravity", "1,2"), 2);
    CHECK_INT(COMMAND(&s, "inverse", "curl.csv", "-o", "a.csv"), 2);
    CHECK_INT(COMMAND(&s, "inverse"), 2);
    CHECK_INT(COMMAND(&s, "inverse", "scene.yaml", "-o", "./scene.yaml"), 2);
    CHECK(command_wrote(&s, "stderr", "scene.yaml: not written: it is what is read"));
    CHECK(access(scratch_path(&s, "a.yaml"), F_OK) != 0);
    CHECK(access(scratch_path(&s, "a.h5"), F_OK) != 0);
    CHECK(access(scratch_path(&s, "a.fitted.yaml"), F_OK) != 0);
    CHECK(access(scratch_path(&s, "a.fitted.h5"), F_OK) != 0);
    scratch_remove(&s);
}

static void refuse(const Scratch* s, const char* rest, const char* message) {
    write_scene(s, "scene.yaml", rest);
    CHECK_INT(COMMAND(s, "check", "scene.yaml"), 3);
    CHECK(command_wrote(s, "stderr", message));
    CHECK(command_wrote(s, "stderr", "scene.yaml:"));
}

TEST(scenes_say_what_cannot_rest) {
    if (getenv("TENDRIL_COMMAND") == NULL) {
        SKIP("TENDRIL_COMMAND is not set");
    }
    Scratch s = scratch_make();
    write_curl(&s, "curl.csv", 1, 3.0e-3);
    const char* const line = "rods: [{name: h, material: hair, radius: 5e-5, %s, curves: {file: "
                             "curl.csv, rest: inverse}}]\n";
    static const char* const WRONG[][2] = {
        {"model: corde", "a super-helix, a super-clothoid and a der only"},
        {"end: pinned", "clamped at their start and free at their end"},
        {"start: free", "clamped at their start and free at their end"},
        {"loads: [{at: 0.01, torque: [0, 0, 1]}]", "under a torque"},
        {"natural_curvature: [0, 1, 0]", "cannot be given too"},
    };
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; ++i) {
        char text[512];
        snprintf(text, sizeof text, line, WRONG[i][0]);
        refuse(&s, text, WRONG[i][1]);
    }
    refuse(&s,
           "rods: [{name: h, material: hair, radius: 5e-5, curves: {file: curl.csv}}]\n"
           "inverse: {stiffen: true}\n",
           "'rest: inverse'");
    refuse(&s,
           "rods: [{name: h, material: hair, radius: 5e-5, curves: {file: curl.csv, cut: 1}}]\n",
           "only strands");
    refuse(&s,
           "rods: [{name: h, material: hair, radius: 5e-5, curves: {file: curl.csv, rest: "
           "inverse}}]\ncontacts: {detection: off}\ninverse: {contacts: true}\n",
           "nothing touches");
    scratch_remove(&s);
}
