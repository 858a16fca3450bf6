// The scenes of inverse design: what is drawn stays, taken as a shape without forces it sags, and a
// wig whose curls are cut off rises.
#include "command.h"
#include "look.h"
#include "tendril/scene.h"

static const char* scene_path(const char* name) {
    static char path[1024];
    snprintf(path, sizeof path, "%.900s/scenes/%s.yaml", getenv("TENDRIL_SOURCE"), name);
    return path;
}

// A world of a scene; null: the test has failed.
static TdlWorld* build(const char* path, const char* override) {
    TdlHost host = tdl_host_default();
    TdlScene* scene = NULL;
    TdlWorld* world = NULL;
    CHECK_INT(tdl_scene_load(&host, path, &override, override != NULL, &scene), TDL_STATUS_OK);
    if (scene != NULL) {
        CHECK_INT(tdl_scene_build(scene, 1, &world), TDL_STATUS_OK);
    }
    tdl_scene_destroy(scene);
    return world;
}

static bool run(TdlWorld* world, int steps) {
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; i < steps && status == TDL_STATUS_OK; ++i) {
        status = tdl_world_step(world, NULL);
    }
    CHECK_INT(status, TDL_STATUS_OK);
    return status == TDL_STATUS_OK;
}

// How far the tip of the first rod goes in so many steps, over its length.
static double tip_drift(TdlWorld* world, int steps) {
    TdlBodyId rod = look_body(world, "rod", 0);
    double length = look_rod_info(world, rod).length;
    TdlVec3 before = look_rod_point(world, rod, length);
    run(world, steps);
    return tdl_norm3(tdl_sub3(look_rod_point(world, rod, length), before)) / length;
}

TEST(what_is_drawn_stays) {
    static const char* const SCENES[][2] = {{"cat-tail", "rods.tail.curves.rest=shape"},
                                            {"signature", "rods.signature.curves.rest=shape"}};
    if (getenv("TENDRIL_SOURCE") == NULL) {
        SKIP("TENDRIL_SOURCE is not set");
    }
    for (int k = 0; k < 2; ++k) {
        double drift[2] = {INFINITY, 0.0};
        for (int sags = 0; sags < 2; ++sags) {
            TdlWorld* world = build(scene_path(SCENES[k][0]), sags ? SCENES[k][1] : NULL);
            REQUIRE(world != NULL);
            drift[sags] = tip_drift(world, 200);
            tdl_world_destroy(world);
        }
        printf("  %s: tip goes %.1e of the length; %.2f as a shape without forces\n", SCENES[k][0],
               drift[0], drift[1]);
        CHECK_BELOW(drift[0], 1.0e-9);
        CHECK(drift[1] > 0.02);
    }
}

// --- a wig ------------------------------------------------------------------------------------

static const char WIG[] =
    "time: {step: 2e-3, end: 1}\n"
    "contacts: {friction: 0.3}\n"
    "materials:\n"
    "  - {name: hair, young: 4e9, poisson: 0.4, density: 1300, damping: 0.02}\n"
    "  - {name: skin}\n"
    "rods:\n"
    "  - name: curls\n"
    "    material: hair\n"
    "    radius: 50e-6\n"
    "    %s\n"
    "colliders:\n"
    "  - {name: head, shape: sphere, radius: 0.0999, material: skin}\n";

static void write_wig(const Scratch* s, const char* name, const char* rods) {
    char text[2048];
    size_t size = (size_t)snprintf(text, sizeof text, WIG, rods);
    scratch_write(scratch_path(s, name), text, size);
}

// The mean height of ten points in the first `length` of each curl.
static double mean_height(const TdlWorld* world, double length) {
    double sum = 0.0;
    int rods = look_count(world, "rod");
    for (int k = 0; k < rods; ++k) {
        for (int i = 1; i <= 10; ++i) {
            sum += look_rod_point(world, look_body(world, "rod", k), 0.1 * i * length).z;
        }
    }
    return sum / (10 * rods);
}

TEST(a_wig_stays_and_rises_when_it_is_cut) {
    if (getenv("TENDRIL_SOURCE") == NULL || getenv("TENDRIL_COMMAND") == NULL) {
        SKIP("TENDRIL_SOURCE or TENDRIL_COMMAND is not set");
    }
    Scratch s = scratch_make();
    char line[2048];
    snprintf(line, sizeof line, "sh '%.900s/scripts/make-curves' wig 30 > '%.900s/wig.csv'",
             getenv("TENDRIL_SOURCE"), s.path);
    REQUIRE(system(line) == 0);
    write_wig(&s, "drawn.yaml", "elements: 30\n    curves: {file: wig.csv}");
    CHECK_INT(COMMAND(&s, "inverse", "drawn.yaml", "--contacts", "-o", "wig.yaml", "--json"), 0);
    CHECK(command_wrote(&s, "stdout",
                        "\"overlaps\": 0, \"deepest\": 0, \"free\": 0}, \"stable\": true"));
    TdlWorld* wig = build(scratch_path(&s, "wig.yaml"), NULL);
    write_wig(&s, "cut.yaml", "curves: {file: wig.h5, cut: 0.06}");
    TdlWorld* cut = build(scratch_path(&s, "cut.yaml"), NULL);
    REQUIRE(wig != NULL && cut != NULL);
    // a little less than the shortest
    double length = 0.99 * look_rod_info(cut, look_body(cut, "rod", 0)).length;
    double before = mean_height(wig, length);
    CHECK_NEAR(mean_height(cut, length), before, 1.0e-12); // nothing has moved yet
    CHECK(run(wig, 100) && run(cut, 100));
    printf("  height of the first %.0f mm: %.6f mm, %.6f after 0.2 s, %.3f when cut\n",
           1e3 * length, 1e3 * before, 1e3 * mean_height(wig, length),
           1e3 * mean_height(cut, length));
    CHECK_NEAR(mean_height(wig, length), before, 1.0e-9);
    CHECK(mean_height(cut, length) > before + 1.0e-4);
    tdl_world_destroy(wig);
    tdl_world_destroy(cut);
    scratch_remove(&s);
}
