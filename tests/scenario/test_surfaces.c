// Surfaces whose vertices move, from end to end as a user meets them: a mesh and its point cache go
// into a scene, frames into the result, out to other programs, and back again.
#include "command.h"
#include "result/result.h"
#include "run_folder.h"
#include "test.h"

#include <stdint.h>

enum { COLUMNS = 7, ROWS = 6, VERTICES = COLUMNS * ROWS, SAMPLES = 5 };
enum { TRIANGLES = 2 * (COLUMNS - 1) * (ROWS - 1) };

// In the file: millimetres, y up.
static void vertex(int i, int sample, float out[3]) {
    int column = i % COLUMNS, row = i / COLUMNS;
    out[0] = (float)(50.0 * column);
    out[1] = (float)(4.0 * sample * sin(1.1 * column + 0.3 * row));
    out[2] = (float)(-60.0 * row);
}

static const char SCENE[] =
    "time: {step: 1e-3, end: 0.04}\n"
    "output: {frame: 0.01, samples: 4}\n"
    "materials: [{name: soft, young: 1e6, density: 1000, damping: 0.05}]\n"
    "rods:\n"
    "  - {name: a, material: soft, length: 0.2, radius: 3e-3, elements: 6, start: free,\n"
    "     clamp: {position: [0.15, 0.17, 0.006]}}\n"
    "colliders:\n"
    "  - {name: ball, shape: sphere, radius: 0.05, position: [0.1, 0, -0.5], velocity: [0, 0, 1]}\n"
    "  - {name: sheet, shape: mesh, position: [0.1, 0, 0], mesh: {file: %s, scale: %s, up: %s,\n"
    "     cache: {file: %s, fps: 100}}}\n";

static void put(char* at, uint32_t value) {
    memcpy(at, &value, sizeof value);
}

static void put_real(char* at, float value) {
    memcpy(at, &value, sizeof value);
}

// A cache as it should be; returns its size.
static size_t make_cache(char out[32 + 12 * VERTICES * SAMPLES]) {
    memcpy(out, "POINTCACHE2", 12);
    put(out + 12, 1);
    put(out + 16, VERTICES);
    put_real(out + 20, 0.0f);
    put_real(out + 24, 1.0f);
    put(out + 28, SAMPLES);
    for (int k = 0; k < SAMPLES; ++k) {
        for (int i = 0; i < VERTICES; ++i) {
            float x[3];
            vertex(i, k, x);
            memcpy(out + 32 + 12 * (VERTICES * k + i), x, sizeof x);
        }
    }
    return 32 + 12 * VERTICES * SAMPLES;
}

static void write_mesh(const Scratch* s) {
    FILE* out = fopen(scratch_path(s, "sheet.obj"), "w");
    REQUIRE(out != NULL);
    for (int i = 0; i < VERTICES; ++i) {
        float x[3];
        vertex(i, 0, x);
        fprintf(out, "v %.9g %.9g %.9g\n", (double)x[0], (double)x[1], (double)x[2]);
    }
    for (int i = 0; i < (COLUMNS - 1) * (ROWS - 1); ++i) {
        int a = 1 + i % (COLUMNS - 1) + COLUMNS * (i / (COLUMNS - 1));
        fprintf(out, "f %d %d %d %d\n", a, a + 1, a + COLUMNS + 1, a + COLUMNS);
    }
    fclose(out);
}

static void write_scene(const Scratch* s, const char* mesh, const char* scale, const char* up,
                        const char* cache) {
    char text[2048];
    size_t size = (size_t)snprintf(text, sizeof text, SCENE, mesh, scale, up, cache);
    scratch_write(scratch_path(s, "m.yaml"), text, size);
}

// The files, and a run of them.
static Scratch open_run(void) {
    static char cache[32 + 12 * VERTICES * SAMPLES];
    Scratch s = scratch_make();
    write_mesh(&s);
    scratch_write(scratch_path(&s, "sheet.pc2"), cache, make_cache(cache));
    write_scene(&s, "sheet.obj", "1e-3", "y", "sheet.pc2");
    if (COMMAND(&s, "run", "m.yaml", "-o", "run", "-q") != 0) {
        command_wrote(&s, "stderr", "(nothing)");
        FAIL("no run");
    }
    return s;
}

TEST(a_result_has_the_vertices_of_the_cache) {
    Scratch s = open_run();
    TdlHost host = tdl_host_default();
    TdlResult* result;
    REQUIRE(tdl_result_open(&host, scratch_path(&s, "run"), &result) == TDL_STATUS_OK);
    TdlResultInfo info = tdl_result_info(result);
    REQUIRE(info.surface_count == 1 && info.surface_point_count == VERTICES);
    CHECK_INT(info.shape_count, 1); // the ball: the sheet is no shape
    TdlResultSurface surface = tdl_result_surface(result, 0);
    CHECK_INT(surface.body, 1);
    CHECK_INT(surface.triangle_count, TRIANGLES);
    REQUIRE(info.frame_count == SAMPLES);
    int touching = 0;
    for (int k = 0; k < SAMPLES; ++k) {
        TdlVec3 seen[VERTICES];
        REQUIRE(tdl_result_read_surfaces(result, k, seen) == TDL_STATUS_OK);
        for (int i = 0; i < VERTICES; ++i) {
            float x[3];
            vertex(i, k, x);
            // y up: (x, y, z) becomes (x, -z, y); in millimetres; at its position
            TdlVec3 want = {0.1 + 1.0e-3 * (double)x[0], -1.0e-3 * (double)x[2],
                            1.0e-3 * (double)x[1]};
            CHECK_NEAR3(seen[i], want, 3.0e-8); // a float
        }
        const TdlResultContact* contacts;
        int count;
        REQUIRE(tdl_result_read_contacts(result, k, &contacts, &count) == TDL_STATUS_OK);
        touching += count;
    }
    CHECK(touching > 0); // the rod lies on it
    tdl_result_close(result);
    CHECK_INT(COMMAND(&s, "check", "m.yaml", "--json"), 0);
    CHECK_INT(COMMAND(&s, "render", "run", "-o", "a.png", "-q"), 0);
    CHECK_INT(COMMAND(&s, "render", "run", "-o", "a.svg", "-q"), 0);
    scratch_remove(&s);
}

// Frames of two results: whether all vertices agree to the bit.
static bool same_vertices(const Scratch* s, const char* a, const char* b) {
    TdlHost host = tdl_host_default();
    TdlResult* result[2];
    bool same = tdl_result_open(&host, scratch_path(s, a), &result[0]) == TDL_STATUS_OK &&
                tdl_result_open(&host, scratch_path(s, b), &result[1]) == TDL_STATUS_OK;
    for (int k = 0; same && k < SAMPLES; ++k) {
        TdlVec3 seen[2][VERTICES];
        for (int i = 0; i < 2; ++i) {
            same = same && tdl_result_read_surfaces(result[i], k, seen[i]) == TDL_STATUS_OK;
        }
        same = same && memcmp(seen[0], seen[1], sizeof seen[0]) == 0;
    }
    for (int i = 0; i < 2; ++i) {
        tdl_result_close(result[i]);
    }
    return same;
}

TEST(what_was_exported_comes_back_as_a_collider) {
    Scratch s = open_run();
    REQUIRE(COMMAND(&s, "export", "run", "-f", "pc2", "-q") == 0);
    write_scene(&s, "run-surface-0.obj", "1", "z", "run-surface-0.pc2");
    REQUIRE(COMMAND(&s, "run", "m.yaml", "-o", "again", "-q", "--set",
                    "colliders.sheet.position=[0, 0, 0]") == 0);
    CHECK(same_vertices(&s, "run", "again"));
    scratch_remove(&s);
}

// Stopped in the middle by SIGKILL, then gone on with.
TEST(a_resumed_run_has_the_same_bits) {
    Scratch s = open_run();
    const char* const longer = "time.end=0.8";
    REQUIRE(COMMAND(&s, "run", "m.yaml", "-o", "whole", "-q", "--set", longer) == 0);
    pid_t child = COMMAND_START(&s, "run", "m.yaml", "-o", "killed", "-q", "--set", longer, "--set",
                                "output.checkpoint=0.01");
    CHECK(command_wait_for(child, scratch_path(&s, "killed/checkpoint"), 0));
    kill(child, SIGKILL);
    int code = command_wait(child);
    printf("  ended with %d\n", code);
    REQUIRE(COMMAND(&s, "run", "--resume", "killed", "-q") == 0);
    CHECK_INT(same_frames(scratch_path(&s, "killed"), scratch_path(&s, "whole"), true), 81);
    // another cache is not taken for it
    scratch_write(scratch_path(&s, "sheet.pc2"), "POINTCACHE2", 12);
    CHECK_INT(COMMAND(&s, "run", "whole/scene.yaml", "-o", "other", "-q"), 3);
    CHECK(command_wrote(&s, "stderr", "the file of the cache is not the one of this scene"));
    scratch_remove(&s);
}

TEST(what_is_wrong_with_a_cache_is_told) {
    static const struct {
        int at;         // of four bytes that are replaced
        uint32_t value; //
        int less;       // bytes cut off the end
        const char* message;
    } cases[] = {
        {0, 0x504f504f, 0, "the cache is not a .pc2 file"},
        {12, 2, 0, "the cache has a version other than 1"},
        {16, VERTICES - 1, 0, "the cache has 41 points, the mesh that it moves 42 vertices"},
        {16, 0xfffffff0, 0, "a number of points or samples that cannot be"},
        {16, 0x7ffffff0, 0, "the cache is cut"},
        {16, 0, 0, "a number of points or samples that cannot be"},
        {20, 0x7fc00000, 0, "how many frames lie between its samples"},
        {24, 0, 0, "how many frames lie between its samples"},
        {28, 1, 0, "the cache has fewer than two samples"},
        {28, 0x7fffffff, 0, "the cache is cut"},
        {28, SAMPLES + 1, 0, "the cache is cut: it has fewer samples than its head tells"},
        {28, SAMPLES, 1, "the cache is cut"},
        {28, SAMPLES, 12 * VERTICES * SAMPLES + 1, "the cache is not a .pc2 file"},
        {32 + 12 * (2 * VERTICES + 5) + 4, 0x7fc00000, 0,
         "sample 2 of the cache has a place of point 5 that is not a number"},
        {32 + 12 * VERTICES + 12, 0, 0, "sample 1 of the cache, triangle 0 of the mesh"},
    };
    static char cache[32 + 12 * VERTICES * SAMPLES];
    Scratch s = scratch_make();
    write_mesh(&s);
    write_scene(&s, "sheet.obj", "1e-3", "y", "sheet.pc2");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        size_t size = make_cache(cache);
        put(cache + cases[i].at, cases[i].value);
        if (i + 1 == sizeof cases / sizeof *cases) { // vertex 1 on vertex 0
            memcpy(cache + 32 + 12 * VERTICES + 12, cache + 32 + 12 * VERTICES, 12);
        }
        scratch_write(scratch_path(&s, "sheet.pc2"), cache, size - (size_t)cases[i].less);
        CHECK_INT(COMMAND(&s, "run", "m.yaml", "-o", "run", "-q"), 3);
        CHECK(command_wrote(&s, "stderr", cases[i].message));
        CHECK(command_wrote(&s, "stderr", "m.yaml:10:")); // where the scene names it
        CHECK(access(scratch_path(&s, "run"), F_OK) != 0);
    }
    write_scene(&s, "sheet.obj", "1e-3", "y", "none.pc2");
    CHECK_INT(COMMAND(&s, "run", "m.yaml", "-o", "run", "-q"), 3);
    CHECK(command_wrote(&s, "stderr", "cannot be read: there is no such file"));
    write_scene(&s, "sheet.obj", "1e-3", "y", "sheet.obj");
    CHECK_INT(COMMAND(&s, "run", "m.yaml", "-o", "run", "-q"), 3);
    CHECK(command_wrote(&s, "stderr", "caches come from .pc2 files"));
    write_scene(&s, "sheet.obj", "1e-3", "y", "sheet.pc2, fps: 0");
    CHECK_INT(COMMAND(&s, "run", "m.yaml", "-o", "run", "-q"), 3);
    scratch_remove(&s);
}

// --- other programs -------------------------------------------------------------------------

static const char* checks(void) {
    static char path[1024];
    snprintf(path, sizeof path, "%.900s/tests/export", getenv("TENDRIL_SOURCE"));
    return path;
}

static bool tool(const Scratch* s, const char* line, const char* says) {
    char whole[8192];
    snprintf(whole, sizeof whole, "cd '%s' && { %s; } >tool.txt 2>&1", s->path, line);
    bool good = system(whole) == 0;
    return command_wrote(s, "tool.txt", says) && good;
}

TEST(vtk_reads_the_surface_of_every_frame) {
    if (system("/usr/bin/python3 -c 'import vtkmodules.vtkIOXML' >/dev/null 2>&1") != 0) {
        SKIP("VTK for Python (python3-vtk9) is not there");
    }
    char line[4096];
    Scratch s = open_run();
    static const char* const formats[] = {"vtp", "csv", "pc2"};
    for (int i = 0; i < 3; ++i) {
        REQUIRE(COMMAND(&s, "export", "run", "-f", formats[i], "-q") == 0);
    }
    snprintf(line, sizeof line,
             "/usr/bin/python3 '%s/check_vtp.py' ./run.pvd run.csv run-surface-0.pc2", checks());
    CHECK(tool(&s, line, "VTK read a surface of 60 triangles"));
    scratch_remove(&s);
}

TEST(blender_plays_the_cache_of_the_surface) {
    if (system("command -v blender >/dev/null 2>&1") != 0) {
        SKIP("Blender is not there");
    }
    char line[4096];
    Scratch s = open_run();
    REQUIRE(COMMAND(&s, "export", "run", "-f", "obj", "-o", "all.obj", "-q") == 0);
    REQUIRE(COMMAND(&s, "export", "run", "-f", "pc2", "-q") == 0);
    REQUIRE(COMMAND(&s, "export", "run", "-f", "csv", "-q") == 0);
    snprintf(line, sizeof line,
             "blender -b --factory-startup --python-exit-code 1 --python '%s/check_blender.py' -- "
             "\"$PWD/run.obj\" \"$PWD/run.pc2\" run.csv \"$PWD/all.obj\" 1 \"$PWD/run-bodies.obj\" "
             "\"$PWD/run-bodies.pc2\" \"$PWD/run-surface-0.obj\" \"$PWD/run-surface-0.pc2\"",
             checks());
    CHECK(tool(&s, line, "Blender moved the surface by 0.01")); // 16 mm times a sine
    scratch_remove(&s);
}

TEST(parsers_of_usd_read_the_surface) {
    char line[4096];
    snprintf(line, sizeof line, "command -v node >/dev/null && test -d '%s/node_modules'",
             checks());
    if (system(line) != 0) {
        SKIP("the parsers of USD are not there: npm ci in tests/export fetches them");
    }
    Scratch s = open_run();
    static const char* const formats[] = {"usda", "csv", "pc2"};
    for (int i = 0; i < 3; ++i) {
        REQUIRE(COMMAND(&s, "export", "run", "-f", formats[i], "-q") == 0);
    }
    snprintf(line, sizeof line, "node '%s/check_usd.mjs' run.usda run.csv 1 - run-surface-0.pc2",
             checks());
    CHECK(tool(&s, line, "USD: a surface of 60 triangles"));
    scratch_remove(&s);
}
