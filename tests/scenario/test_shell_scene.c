// Shell patches from end to end as a user meets them: a scene file, its run, what the result tells,
// a run gone on with, pictures, other programs; and that nothing touches them.
#include "command.h"
#include "result/result.h"
#include "run_folder.h"
#include "test.h"

#include <png.h>

enum { COLUMNS = 9, ROWS = 5, VERTICES = COLUMNS * ROWS, QUADS = (COLUMNS - 1) * (ROWS - 1) };
enum { FRAMES = 11 };

static const char SCENE[] = "title: a leaf and a towel\n"
                            "time: {step: 2e-3, end: 0.1}\n"
                            "output: {frame: 0.01}\n"
                            "losses: true\n"
                            "materials:\n"
                            "  - {name: film, young: 3e9, poisson: 0.38, density: 1400}\n"
                            "  - {name: bare}\n"
                            "shells:\n"
                            "  - name: leaf\n"
                            "    material: film\n"
                            "    size: [0.24, 0.16]\n"
                            "    thickness: 5e-4\n"
                            "    natural: [6, 3, 1.5]\n"
                            "    position: [0, 0, 0.3]\n"
                            "    nodes: [9, 5]\n"
                            "observe: [{centre: leaf}]\n";

static const char CLOTH[] = "cloths:\n"
                            "  - {name: towel, rectangle: {size: [0.2, 0.2], nodes: [3, 3]},\n"
                            "     position: [0.5, 0, 0.2], holds: [{edge: left}]}\n";

static void write_scene(const Scratch* s, const char* more) {
    char text[4096];
    int size = snprintf(text, sizeof text, "%s%s", SCENE, more);
    scratch_write(scratch_path(s, "s.yaml"), text, (size_t)size);
}

static Scratch open_run(const char* more) {
    Scratch s = scratch_make();
    write_scene(&s, more);
    if (COMMAND(&s, "run", "s.yaml", "-o", "run", "-q") != 0) {
        command_wrote(&s, "stderr", "(nothing)");
        FAIL("no run");
    }
    return s;
}

TEST(check_tells_of_shells_and_that_they_touch_nothing) {
    Scratch s = scratch_make();
    write_scene(&s, "");
    CHECK_INT(COMMAND(&s, "check", "s.yaml"), 0);
    CHECK(command_wrote(&s, "stdout", "  shells     1 with 45 vertices, which touch nothing\n"));
    CHECK(
        command_wrote(&s, "stdout", "leaf             45 vertices, film, 0.0384 m^2, 0.02688 kg"));
    char* quiet = scratch_read(scratch_path(&s, "stderr"), NULL);
    CHECK(quiet != NULL && quiet[0] == '\0'); // there is nothing that it could touch
    free(quiet);
    CHECK_INT(COMMAND(&s, "check", "s.yaml", "--json"), 0);
    CHECK(command_wrote(&s, "stdout", "\"shells\": [{\"name\": \"leaf\", \"vertices\": 45, "));
    CHECK(command_wrote(&s, "stdout", "\"touches\": false, \"material\": \"film\"}]"));
    write_scene(&s, CLOTH);
    CHECK_INT(COMMAND(&s, "check", "s.yaml"), 0);
    CHECK(command_wrote(&s, "stderr",
                        "shells touch nothing: 'leaf' will pass through whatever it meets"));
    CHECK_INT(COMMAND(&s, "check", "s.yaml", "--set", "contacts.detection=off"), 0);
    quiet = scratch_read(scratch_path(&s, "stderr"), NULL);
    CHECK(quiet != NULL && quiet[0] == '\0');
    free(quiet);
    scratch_remove(&s);
}

// What is wrong with `more` behind the scene, or with values of it.
static void check_mistake(const char* more, const char* set, const char* says) {
    Scratch s = scratch_make();
    write_scene(&s, more);
    CHECK_INT(set == NULL ? COMMAND(&s, "check", "s.yaml")
                          : COMMAND(&s, "check", "s.yaml", "--set", set),
              3);
    if (!command_wrote(&s, "stderr", says)) {
        FAIL("with %s it does not say: %s", set == NULL ? more : set, says);
    }
    scratch_remove(&s);
}

TEST(mistakes_are_told_with_their_place) {
    check_mistake(
        "", "observe=[{force: leaf}]",
        "'leaf' is one of the shells: a force is of rods, bodies, a cloth, grains or a collider");
    check_mistake("contacts: {pairs: [{between: [film, film]}]}\n", NULL,
                  "s.yaml:17:20: shells touch nothing, and of 'film' there are only shells");
    check_mistake("", "shells.leaf.natural=[300, 0, 0]", "turn it by 50 rad at most");
    check_mistake("", "shells.leaf.curvature=300", "turn it by 50 rad at most");
    check_mistake("", "shells.leaf.angle=1", "'angle' goes with 'curvature'");
    check_mistake("", "shells.leaf.thickness=0", "thickness");
    check_mistake("", "shells.leaf.size=[0.1, -1]", "size");
    check_mistake("", "shells.leaf.nodes=[1, 5]", "nodes");
    check_mistake("", "shells.leaf.normal=[2, 0, 0]", "normal must not lie along direction");
    check_mistake("", "shells.leaf.material=bare", "needs the key 'young'");
    check_mistake("", "shells.leaf.material=wood", "wood");
    check_mistake("", "materials.film.poisson=-1", "poisson");
    check_mistake("", "shells.leaf.self=true", "self");
}

TEST(a_result_has_the_patch_as_a_cloth_that_nothing_touches) {
    Scratch s = open_run(CLOTH);
    TdlHost host = tdl_host_default();
    TdlResult* result;
    REQUIRE(tdl_result_open(&host, scratch_path(&s, "run"), &result) == TDL_STATUS_OK);
    TdlResultInfo info = tdl_result_info(result);
    REQUIRE(info.surface_count == 2 && info.cloth_count == 2 && info.frame_count == FRAMES);
    REQUIRE(info.surface_point_count == 9 + VERTICES && info.cloth_point_count == 9 + VERTICES);
    TdlResultCloth patch = tdl_result_cloth(result, 1);
    CHECK_INT(patch.first_point, 9);
    CHECK_INT(patch.face_count, QUADS);
    CHECK_NEAR(patch.mass, 0.02688, 1e-15); // a product
    TdlVec3 first[9 + VERTICES], last[9 + VERTICES], seen[1];
    double strains[9 + VERTICES];
    REQUIRE(tdl_result_read_surfaces(result, 0, first) == TDL_STATUS_OK);
    REQUIRE(tdl_result_read_surfaces(result, FRAMES - 1, last) == TDL_STATUS_OK);
    REQUIRE(tdl_result_read_strains(result, FRAMES - 1, strains) == TDL_STATUS_OK);
    REQUIRE(tdl_result_read_observed(result, FRAMES - 1, seen) == TDL_STATUS_OK);
    CHECK_NEAR3(last[9], ((TdlVec3){0.0, 0.0, 0.3}), 1e-7); // the corner, in single precision
    CHECK(last[8 + VERTICES].z < first[8 + VERTICES].z - 0.01);
    TdlVec3 sum = {0};
    for (int i = 0; i < VERTICES; ++i) {
        double share = (i % COLUMNS == 0 || i % COLUMNS == COLUMNS - 1 ? 0.5 : 1.0) *
                       (i < COLUMNS || i >= VERTICES - COLUMNS ? 0.5 : 1.0) / QUADS;
        CHECK_NEAR(strains[9 + i], 0.0, 0.0);
        sum = tdl_axpy3(sum, share, last[9 + i]);
    }
    CHECK_NEAR3(sum, seen[0], 1.0e-3); // of the trapezoidal rule, (8 1/m 0.03 m)^2 / 12 of 0.2 m
    tdl_result_close(result);
    CHECK_INT(COMMAND(&s, "info", "run"), 0);
    CHECK(command_wrote(&s, "stdout", "  cloths      2 of these, with 54 vertices\n"));
    scratch_remove(&s);
}

// On two threads, and stopped in the middle.
TEST(a_resumed_run_has_the_same_bits) {
    Scratch s = scratch_make();
    write_scene(&s, CLOTH);
    const char* const longer = "time.end=2";
    REQUIRE(COMMAND(&s, "run", "s.yaml", "-o", "whole", "-q", "-t", "1", "--set", longer) == 0);
    REQUIRE(COMMAND(&s, "run", "s.yaml", "-o", "two", "-q", "-t", "2", "--set", longer) == 0);
    CHECK_TEXT(summary_hash(scratch_path(&s, "two")), summary_hash(scratch_path(&s, "whole")));
    CHECK_INT(same_frames(scratch_path(&s, "two"), scratch_path(&s, "whole"), true), 201);
    pid_t child = COMMAND_START(&s, "run", "s.yaml", "-o", "killed", "-q", "--set", longer, "--set",
                                "output.checkpoint=1e-3");
    CHECK(command_wait_for(child, scratch_path(&s, "killed/checkpoint"), 0));
    kill(child, SIGKILL);
    printf("  ended with %d\n", command_wait(child));
    REQUIRE(COMMAND(&s, "run", "--resume", "killed", "-q") == 0);
    CHECK_INT(same_frames(scratch_path(&s, "killed"), scratch_path(&s, "whole"), true), 201);
    CHECK_TEXT(summary_hash(scratch_path(&s, "killed")), summary_hash(scratch_path(&s, "whole")));
    scratch_remove(&s);
}

TEST(a_settled_patch_stays_where_it_is) {
    Scratch s = scratch_make();
    write_scene(&s, "");
    REQUIRE(COMMAND(&s, "run", "s.yaml", "-o", "run", "-q", "--set", "start=settled") == 0);
    TdlHost host = tdl_host_default();
    TdlResult* result;
    REQUIRE(tdl_result_open(&host, scratch_path(&s, "run"), &result) == TDL_STATUS_OK);
    TdlVec3 first[VERTICES], last[VERTICES];
    REQUIRE(tdl_result_read_surfaces(result, 0, first) == TDL_STATUS_OK);
    REQUIRE(tdl_result_read_surfaces(result, FRAMES - 1, last) == TDL_STATUS_OK);
    CHECK_NEAR3(last[VERTICES - 1], first[VERTICES - 1], 1.0e-7); // a float of 0.4 m
    tdl_result_close(result);
    scratch_remove(&s);
}

// --- pictures and other programs -----------------------------------------------------------------

// Pixels that are not white.
static int count_drawn(const Scratch* s, const char* name) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, scratch_path(s, name))) {
        return -1;
    }
    image.format = PNG_FORMAT_RGB;
    unsigned char* pixels = malloc(PNG_IMAGE_SIZE(image));
    int count = png_image_finish_read(&image, NULL, pixels, 0, NULL) != 0 ? 0 : -1;
    for (size_t i = 0; count >= 0 && i < (size_t)image.width * image.height; ++i) {
        count += pixels[3 * i] > pixels[3 * i + 1] + 10;
    }
    free(pixels);
    return count;
}

TEST(it_is_drawn_and_exported_as_sheets_are) {
    Scratch s = open_run("");
    CHECK_INT(COMMAND(&s, "render", "run", "--frames", "0", "-o", "leaf.png", "-q"), 0);
    CHECK(count_drawn(&s, "leaf.png") > 10000);
    static const char* const formats[] = {"obj", "pc2", "vtp", "usda", "csv"};
    for (int i = 0; i < 5; ++i) {
        CHECK_INT(COMMAND(&s, "export", "run", "-f", formats[i], "-q"), 0);
    }
    CHECK(command_wrote(&s, "run-cloth-0.obj", "\nf 1//1 2//2 11//11 10//10\n"));
    size_t size = 0;
    free(scratch_read(scratch_path(&s, "run-cloth-0.pc2"), &size));
    CHECK_INT((long)size, 32 + 12 * VERTICES * FRAMES);
    CHECK(command_wrote(&s, "run-surfaces-0010.vtp", "NumberOfPoints=\"45\""));
    CHECK_INT(COMMAND(&s, "view", "run", "-o", "page.html", "-q"), 0);
    CHECK(command_wrote(&s, "page.html", "\"cloth\":true"));
    scratch_remove(&s);
}

// The scene of scenes/, for half a second.
TEST(the_scene_of_a_patch_swings_and_loses_what_it_says) {
    Scratch s = scratch_make();
    char scene[1024];
    snprintf(scene, sizeof scene, "%.900s/scenes/shell-patch.yaml", getenv("TENDRIL_SOURCE"));
    REQUIRE(COMMAND(&s, "run", scene, "-o", "run", "-q", "--set", "time.end=0.5") == 0);
    char* text = scratch_read(scratch_path(&s, "run/log.csv"), NULL);
    REQUIRE(text != NULL);
    double start = NAN, sum = 0.0, least = INFINITY;
    int rows = 0;
    for (char* line = strchr(text, '\n'); line != NULL && line[1] != '\0';
         line = strchr(line + 1, '\n')) {
        double value[18];
        char* at = line + 1;
        for (int i = 0; i < 18; ++i) {
            value[i] = strtod(at, &at);
            at += *at == ',';
        }
        double total = value[8] + value[9] + value[10], lost = value[16] + value[17];
        start = rows == 0 ? total + lost : start;
        sum += lost;
        CHECK_NEAR(total + sum, start, 1.0e-12); // 500 sums of 0.1 J
        CHECK(lost >= 0.0);
        least = fmin(least, value[10]);
        ++rows;
    }
    CHECK_INT(rows, 500);
    CHECK(least < start - 0.002); // it has fallen
    free(text);
    scratch_remove(&s);
}
