// Cloth from end to end as a user meets it: a scene file, its run, what the result tells, a run
// gone on with, pictures, and other programs.
#include "command.h"
#include "result/result.h"
#include "run_folder.h"
#include "test.h"

#include <png.h>

enum { COLUMNS = 5, ROWS = 6, VERTICES = COLUMNS * ROWS, QUADS = (COLUMNS - 1) * (ROWS - 1) };
enum { FRAMES = 11 };

static const char SCENE[] =
    "title: a towel and a rod\n"
    "time: {step: 5e-3, end: 0.1}\n"
    "output: {frame: 0.01}\n"
    "materials: [{name: soft, young: 1e6, density: 1000, damping: 0.05}, {name: wool}]\n"
    "rods:\n"
    "  - {name: a, material: soft, length: 0.2, radius: 3e-3, elements: 4,\n"
    "     clamp: {position: [2, 0, 1]}}\n"
    "cloths:\n"
    "  - name: towel\n"
    "    rectangle: {size: [0.4, 0.5], nodes: [5, 6]}\n"
    "    position: [0, 0, 1]\n"
    "    material: wool\n"
    "    holds:\n"
    "      - corners: [top-left, top-right]\n"
    "      - near: [0, -0.25, 1]\n"
    "        motion: {keyframes: [{time: 0}, {time: 0.1, position: [0, 0.05, 0.02]}]}\n"
    "observe: [{strain: towel}, {hold: towel}, {centre: towel}]\n";

static void write_scene(const Scratch* s) {
    scratch_write(scratch_path(s, "c.yaml"), SCENE, sizeof SCENE - 1);
}

static Scratch open_run(void) {
    Scratch s = scratch_make();
    write_scene(&s);
    if (COMMAND(&s, "run", "c.yaml", "-o", "run", "-q") != 0) {
        command_wrote(&s, "stderr", "(nothing)");
        FAIL("no run");
    }
    return s;
}

TEST(check_tells_of_cloth) {
    Scratch s = scratch_make();
    write_scene(&s);
    CHECK_INT(COMMAND(&s, "check", "c.yaml"), 0);
    CHECK(command_wrote(&s, "stdout", "  cloths     1 with 30 vertices\n"));
    CHECK(command_wrote(&s, "stdout", "30 vertices, 3 held, 20 faces, wool, 0.2 m^2, 0.03 kg\n"));
    CHECK_INT(COMMAND(&s, "check", "c.yaml", "--json", "--set", "cloths.towel.density=0.3"), 0);
    CHECK(command_wrote(&s, "stdout",
                        "\"cloths\": [{\"name\": \"towel\", \"vertices\": 30, \"faces\": 20, "
                        "\"held\": 3, "));
    CHECK_INT(COMMAND(&s, "check", "c.yaml", "--set", "cloths.towel.holds.1.near=[0.2, 0.25, 1]"),
              3);
    CHECK(command_wrote(&s, "stderr", "vertex 29 of 'towel' is held twice"));
    scratch_remove(&s);
}

TEST(a_result_has_the_cloth) {
    Scratch s = open_run();
    TdlHost host = tdl_host_default();
    TdlResult* result;
    REQUIRE(tdl_result_open(&host, scratch_path(&s, "run"), &result) == TDL_STATUS_OK);
    TdlResultInfo info = tdl_result_info(result);
    REQUIRE(info.surface_count == 1 && info.cloth_count == 1 && info.frame_count == FRAMES);
    REQUIRE(info.surface_point_count == VERTICES && info.cloth_point_count == VERTICES);
    TdlResultSurface surface = tdl_result_surface(result, 0);
    TdlResultCloth cloth = tdl_result_cloth(result, 0);
    CHECK(surface.body == -1 && surface.radius == 0.5e-3);
    CHECK_INT(surface.triangle_count, 2 * QUADS);
    CHECK_INT(cloth.face_count, QUADS);
    CHECK_NEAR(cloth.mass, 0.03, 1e-12); // sums of masses of vertices
    for (int f = 0; f < QUADS; ++f) {
        int a = f % (COLUMNS - 1) + COLUMNS * (f / (COLUMNS - 1));
        const int want[4] = {a, a + 1, a + COLUMNS + 1, a + COLUMNS};
        CHECK(memcmp(cloth.faces + 4 * f, want, sizeof want) == 0);
    }
    for (int i = 0; i < VERTICES; ++i) {
        int want = i == VERTICES - COLUMNS || i == VERTICES - 1 ? 0 : i == COLUMNS / 2 ? 1 : -1;
        CHECK_INT(cloth.holds[i], want);
    }
    TdlVec3 first[VERTICES], last[VERTICES];
    double strains[VERTICES];
    REQUIRE(tdl_result_read_surfaces(result, 0, first) == TDL_STATUS_OK);
    REQUIRE(tdl_result_read_surfaces(result, FRAMES - 1, last) == TDL_STATUS_OK);
    REQUIRE(tdl_result_read_strains(result, FRAMES - 1, strains) == TDL_STATUS_OK);
    // what is held is where it is led, in single precision; the rest has fallen
    CHECK_NEAR3(last[VERTICES - 1], first[VERTICES - 1], 1e-7);
    CHECK_NEAR3(last[2], tdl_add3(first[2], (TdlVec3){0.0, 0.05, 0.02}), 1e-7);
    CHECK(last[12].z < first[12].z - 0.01);
    double most = 0.0;
    for (int i = 0; i < VERTICES; ++i) {
        CHECK(isfinite(strains[i]) && strains[i] >= 0.0);
        most = fmax(most, strains[i]);
    }
    TdlVec3 seen[3];
    REQUIRE(tdl_result_read_observed(result, FRAMES - 1, seen) == TDL_STATUS_OK);
    CHECK_NEAR(most, seen[0].x, 1e-6 * seen[0].x); // a float
    CHECK(most > 0.0);
    CHECK(seen[1].z > 0.0); // what holds it carries a part of it
    tdl_result_close(result);
    CHECK_INT(COMMAND(&s, "info", "run"), 0);
    CHECK(command_wrote(&s, "stdout", "  cloths      1 of these, with 30 vertices\n"));
    CHECK_INT(COMMAND(&s, "info", "run", "--json"), 0);
    CHECK(command_wrote(&s, "stdout", "\"surfaces\": 1, \"cloths\": 1, "));
    scratch_remove(&s);
}

// Stopped in the middle by SIGKILL, then gone on with; and on two threads.
TEST(a_resumed_run_has_the_same_bits) {
    Scratch s = scratch_make();
    write_scene(&s);
    const char* const longer = "time.end=2";
    REQUIRE(COMMAND(&s, "run", "c.yaml", "-o", "whole", "-q", "-t", "1", "--set", longer) == 0);
    REQUIRE(COMMAND(&s, "run", "c.yaml", "-o", "two", "-q", "-t", "2", "--set", longer) == 0);
    CHECK_TEXT(summary_hash(scratch_path(&s, "two")), summary_hash(scratch_path(&s, "whole")));
    CHECK_INT(same_frames(scratch_path(&s, "two"), scratch_path(&s, "whole"), true), 201);
    pid_t child = COMMAND_START(&s, "run", "c.yaml", "-o", "killed", "-q", "--set", longer, "--set",
                                "output.checkpoint=1e-3");
    CHECK(command_wait_for(child, scratch_path(&s, "killed/checkpoint"), 0));
    kill(child, SIGKILL);
    printf("  ended with %d\n", command_wait(child));
    REQUIRE(COMMAND(&s, "run", "--resume", "killed", "-q") == 0);
    CHECK_INT(same_frames(scratch_path(&s, "killed"), scratch_path(&s, "whole"), true), 201);
    CHECK_TEXT(summary_hash(scratch_path(&s, "killed")), summary_hash(scratch_path(&s, "whole")));
    scratch_remove(&s);
}

// --- a scene of scenes/ --------------------------------------------------------------------------

// The height of the strip's centre at the times 0.6 s and 1 s.
static bool drop_on_cylinder(const Scratch* s, const char* mu, double height[2]) {
    char scene[1024], set[64];
    snprintf(scene, sizeof scene, "%.900s/scenes/sheet-on-cylinder.yaml", getenv("TENDRIL_SOURCE"));
    snprintf(set, sizeof set, "contacts.friction=%s", mu);
    TdlHost host = tdl_host_default();
    TdlResult* result;
    if (COMMAND(s, "run", scene, "-o", mu, "-q", "--set", set, "--set", "time.end=1") != 0 ||
        tdl_result_open(&host, scratch_path(s, mu), &result) != TDL_STATUS_OK) {
        return false;
    }
    bool good = tdl_result_info(result).frame_count == 51;
    for (int k = 0; good && k < 2; ++k) {
        TdlVec3 seen[3]; // strain, force, centre
        good = tdl_result_read_observed(result, k == 0 ? 30 : 50, seen) == TDL_STATUS_OK;
        height[k] = seen[2].z;
        good = good && seen[0].x < 1.0e-3; // it hardly stretches
    }
    tdl_result_close(result);
    return good;
}

// S3's cylinder: the sheet falls, lags or stays as the friction says. Its axis is at 0.31 m.
TEST(friction_decides_whether_a_sheet_stays_on_a_cylinder) {
    Scratch s = scratch_make();
    double falls[2], lags[2], stays[2];
    REQUIRE(drop_on_cylinder(&s, "0.2", falls));
    REQUIRE(drop_on_cylinder(&s, "0.4", lags));
    REQUIRE(drop_on_cylinder(&s, "0.55", stays));
    printf("  heights at 0.6 s %.3f, %.3f, %.3f m, at 1 s %.3f, %.3f, %.3f m\n", falls[0], lags[0],
           stays[0], falls[1], lags[1], stays[1]);
    CHECK(falls[0] < 0.15 && lags[0] > 0.15 && stays[0] > 0.25);
    CHECK(falls[1] < 0.05 && lags[1] < 0.05); // on the floor
    CHECK(stays[1] > 0.25);                   // over the cylinder still
    scratch_remove(&s);
}

// --- pictures ------------------------------------------------------------------------------------

// How many pixels of a picture are of the first cloth's colour: more red than green, than blue.
static int count_cloth(const Scratch* s, const char* name) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, scratch_path(s, name))) {
        return -1;
    }
    image.format = PNG_FORMAT_RGB;
    unsigned char* pixels = malloc(PNG_IMAGE_SIZE(image));
    int count = png_image_finish_read(&image, NULL, pixels, 0, NULL) != 0 ? 0 : -1;
    for (size_t i = 0; count >= 0 && i < (size_t)image.width * image.height; ++i) {
        const unsigned char* p = pixels + 3 * i;
        count += p[0] > p[1] + 10 && p[1] > p[2];
    }
    free(pixels);
    return count;
}

TEST(both_sides_are_drawn) {
    Scratch s = scratch_make();
    write_scene(&s);
    REQUIRE(COMMAND(&s, "run", "c.yaml", "-o", "run", "-q", "--set",
                    "rods.a.clamp.position=[0, 0, "
                    "2]") == 0);
    CHECK_INT(COMMAND(&s, "render", "run", "--frames", "0", "--azimuth", "0", "--elevation", "60",
                      "-o", "above.png", "-q"),
              0);
    CHECK_INT(COMMAND(&s, "render", "run", "--frames", "0", "--azimuth", "0", "--elevation", "-60",
                      "-o", "below.png", "-q"),
              0);
    int above = count_cloth(&s, "above.png"), below = count_cloth(&s, "below.png");
    printf("  %d pixels from above, %d from below\n", above, below);
    CHECK(above > 10000);
    CHECK(abs(above - below) < above / 100); // of the rim, whose pixels mix with white
    scratch_remove(&s);
}

// --- other programs ------------------------------------------------------------------------------

static int count_lines(const Scratch* s, const char* name, const char* start) {
    char* text = scratch_read(scratch_path(s, name), NULL);
    int count = 0;
    for (const char* at = text; at != NULL && *at != '\0'; at += strcspn(at, "\n") + 1) {
        count += strncmp(at, start, strlen(start)) == 0;
        if (at[strcspn(at, "\n")] == '\0') {
            break;
        }
    }
    free(text);
    return text == NULL ? -1 : count;
}

TEST(cloth_is_exported_with_its_quads_and_strains) {
    Scratch s = open_run();
    static const char* const formats[] = {"pc2", "usda", "vtp", "csv"};
    REQUIRE(COMMAND(&s, "export", "run", "-f", "obj", "-o", "all.obj", "-q") == 0);
    for (int i = 0; i < 4; ++i) {
        REQUIRE(COMMAND(&s, "export", "run", "-f", formats[i], "-q") == 0);
    }
    CHECK(command_wrote(&s, "all.obj", "o cloth_0\n"));
    CHECK_INT(count_lines(&s, "all.obj", "f "), QUADS);
    CHECK_INT(count_lines(&s, "run-cloth-0.obj", "v "), VERTICES);
    CHECK(command_wrote(&s, "run-cloth-0.obj", "\nf 1//1 2//2 7//7 6//6\n"));
    size_t size;
    free(scratch_read(scratch_path(&s, "run-cloth-0.pc2"), &size));
    CHECK_INT((long)size, 32 + 12 * VERTICES * FRAMES);
    CHECK(command_wrote(&s, "run.usda", "def Mesh \"Cloth0\""));
    CHECK(command_wrote(&s, "run.usda", "faceVertexCounts = [4, 4, 4, "));
    CHECK(command_wrote(&s, "run.usda", "float[] primvars:strain.timeSamples"));
    CHECK(command_wrote(&s, "run-surfaces-0010.vtp", "Name=\"strain\""));
    CHECK_INT(count_lines(&s, "run-cloths.csv", ""), 1 + VERTICES * FRAMES);
    CHECK(
        command_wrote(&s, "run-cloths.csv", "frame,time,cloth,vertex,x,y,z,strain\n0,0,0,0,-0.2"));
    scratch_remove(&s);
}

// What was exported comes back as a cloth of the same vertices.
TEST(an_exported_cloth_is_taken_up_again) {
    static const char TEXT[] = "time: {step: 5e-3, end: 0.01}\n"
                               "cloths:\n"
                               "  - {name: towel, mesh: {file: run-cloth-0.obj}}\n";
    Scratch s = open_run();
    REQUIRE(COMMAND(&s, "export", "run", "-f", "pc2", "--frames", "5", "-q") == 0);
    scratch_write(scratch_path(&s, "again.yaml"), TEXT, sizeof TEXT - 1);
    REQUIRE(COMMAND(&s, "run", "again.yaml", "-o", "again", "-q") == 0);
    TdlHost host = tdl_host_default();
    TdlResult *a, *b;
    REQUIRE(tdl_result_open(&host, scratch_path(&s, "run"), &a) == TDL_STATUS_OK);
    REQUIRE(tdl_result_open(&host, scratch_path(&s, "again"), &b) == TDL_STATUS_OK);
    TdlVec3 x[VERTICES], y[VERTICES];
    REQUIRE(tdl_result_info(b).cloth_point_count == VERTICES);
    REQUIRE(tdl_result_read_surfaces(a, 5, x) == TDL_STATUS_OK);
    REQUIRE(tdl_result_read_surfaces(b, 0, y) == TDL_STATUS_OK);
    CHECK(memcmp(x, y, sizeof x) == 0);
    CHECK(memcmp(tdl_result_cloth(a, 0).faces, tdl_result_cloth(b, 0).faces,
                 4 * QUADS * sizeof(int)) == 0);
    tdl_result_close(a);
    tdl_result_close(b);
    scratch_remove(&s);
}

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

TEST(vtk_reads_the_strains) {
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
             "/usr/bin/python3 '%s/check_vtp.py' ./run.pvd run.csv run-cloth-0.pc2 run-cloths.csv",
             checks());
    CHECK(tool(&s, line, "VTK read a surface of 40 triangles"));
    scratch_remove(&s);
}

TEST(parsers_of_usd_read_the_cloth) {
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
    snprintf(line, sizeof line,
             "node '%s/check_usd.mjs' run.usda run.csv 0 - run-cloth-0.pc2 run-cloths.csv",
             checks());
    CHECK(tool(&s, line, "USD: a cloth of 20 quads"));
    scratch_remove(&s);
}
