// Grains from end to end as a user meets them: a block that flies through its grid without gravity,
// so that where every particle is, and when it is lost, is known; its run, what the result tells, a
// run gone on with, other programs, pictures and the page.
#include "command.h"
#include "result/result.h"
#include "run_folder.h"
#include "test.h"

#include <math.h>
#include <png.h>

// 0.1 m x 0.1 m of cells of 0.02 m, 4 x 4 particles each: 20 columns of 20
enum { ACROSS = 20, PARTICLES = ACROSS * ACROSS, FRAMES = 31 };

static const char SCENE[] =
    "title: a block that flies\n"
    "gravity: [0, 0, 0]\n"
    "time: {step: 5e-3, end: 0.3}\n"
    "output: {frame: 0.01}\n"
    "grains:\n"
    "  name: sand\n"
    "  dimension: 2\n"
    "  depth: 0.5\n"
    "  grid: {low: [0, 1, 0], high: [0.4, 0, 0.2], spacing: 0.02}\n"
    "  fill: [{low: [0.1, 0, 0.06], high: [0.2, 0, 0.16], velocity: [1, 0, 0]}]\n"
    "observe:\n"
    "  - {mass_beyond: sand, plane: {point: [0.3, 0, 0], normal: [2, 0, 0]}}\n"
    "  - {run_out: sand, about: [0.1, 0, 0.06]}\n"
    "  - {lost: sand}\n"
    "  - {volume_kept: sand}\n"
    "  - {centre: sand}\n";

static void write_scene(const Scratch* s, const char* text) {
    scratch_write(scratch_path(s, "s.yaml"), text, strlen(text));
}

static Scratch open_run(void) {
    Scratch s = scratch_make();
    write_scene(&s, SCENE);
    if (COMMAND(&s, "run", "s.yaml", "-o", "run", "-q") != 0) {
        command_wrote(&s, "stderr", "(nothing)");
        FAIL("no run");
    }
    return s;
}

// Of column `i` of the block at a time.
static double place(int i, double time) {
    return 0.1 + 0.005 * (i + 0.5) + time;
}

// Those that are still in the grid.
static int columns_left(double time) {
    int count = 0;
    for (int i = 0; i < ACROSS; ++i) {
        count += place(i, time) < 0.4;
    }
    return count;
}

TEST(a_result_has_every_particle_where_it_is_until_it_is_lost) {
    Scratch s = open_run();
    TdlHost host = tdl_host_default();
    TdlResult* result;
    REQUIRE(tdl_result_open(&host, scratch_path(&s, "run"), &result) == TDL_STATUS_OK);
    TdlResultInfo info = tdl_result_info(result);
    REQUIRE(info.has_grains && info.frame_count == FRAMES);
    TdlResultGrains bed = tdl_result_grains(result);
    CHECK_TEXT(bed.name, "sand");
    CHECK(bed.dimension == 2 && bed.spacing == 0.02 && bed.size == 0.005 && bed.depth == 0.5);
    const double each = 1500.0 * 0.005 * 0.005 * 0.5; // kg
    for (long k = 0; k < FRAMES; k += 5) {
        const TdlResultParticle* p;
        TdlResultGrainsState state;
        TdlVec3 seen[5];
        int count;
        double time = 0.01 * (double)k;
        REQUIRE(tdl_result_read_particles(result, k, &p, &count) == TDL_STATUS_OK);
        REQUIRE(tdl_result_read_grains_state(result, k, &state) == TDL_STATUS_OK);
        REQUIRE(tdl_result_read_observed(result, k, seen) == TDL_STATUS_OK);
        int left = columns_left(time);
        CHECK_INT(count, ACROSS * left);
        bool met[PARTICLES] = {false};
        for (int i = 0; i < count; ++i) {
            REQUIRE(p[i].number >= 0 && p[i].number < PARTICLES && !met[p[i].number]);
            met[p[i].number] = true;
            // one of the columns, to what single precision keeps of 0.4 m
            double column = (p[i].position.x - time - 0.1) / 0.005 - 0.5;
            CHECK_NEAR(column, round(column), 1.0e-4);
            CHECK_NEAR(p[i].position.y, 1.0, 0.0);
            CHECK_NEAR(p[i].velocity.x, 1.0, 1.0e-6);
            CHECK(p[i].pressure == 0.0 && p[i].shear == 0.0 && p[i].fraction > 0.0);
        }
        CHECK_NEAR(state.mass, each * count, 1.0e-12); // sums of 7 kg
        CHECK_NEAR(state.lost_mass, each * (PARTICLES - count), 1.0e-12);
        CHECK_INT((long)state.lost, PARTICLES - count);
        // the same in log.csv and as observed
        int beyond = 0;
        for (int i = 0; i < ACROSS; ++i) {
            beyond += place(i, time) > 0.3;
        }
        CHECK_NEAR(seen[0].x, each * ACROSS * beyond, 1.0e-12);
        CHECK_NEAR(seen[2].x, state.lost_mass, 1.0e-12);
        CHECK_NEAR(seen[2].y, (double)state.lost, 0.0);
        CHECK_NEAR(seen[3].x, state.volume_kept, 1.0e-12);
        if (left > 0) {
            double far = place(left - 1, time) - 0.1;
            CHECK_NEAR(seen[1].y, far, 1.0e-12);
            CHECK_NEAR(seen[1].x, far, 1.0e-6); // the farthest column is more than a hundredth
            CHECK_NEAR(seen[1].z, 0.0975, 1.0e-12);
            CHECK_NEAR(seen[4].x, 0.5 * (place(0, time) + place(left - 1, time)), 1.0e-12);
        }
    }
    tdl_result_close(result);
    CHECK_INT(COMMAND(&s, "info", "run"), 0);
    CHECK(command_wrote(&s, "stdout",
                        "  grains      0 particles in 2 dimensions, 0 kg; 400 lost, "
                        "7.5 kg; 100.00 % of the volume kept\n"));
    CHECK_INT(COMMAND(&s, "info", "run", "--json"), 0);
    CHECK(command_wrote(&s, "stdout", "\"particles\": 0, \"dimension\": 2, \"lost\": 400"));
    CHECK(command_wrote(&s, "run/summary.json", "\"grains_lost\": 400,\n"));
    scratch_remove(&s);
}

// One particle of 401 is far off: of 99 % it is none.
TEST(a_run_out_leaves_out_the_farthest_few) {
    Scratch s = scratch_make();
    write_scene(&s, SCENE);
    CHECK_INT(COMMAND(&s, "run", "s.yaml", "-o", "run", "-q", "--set", "time.end=0", "--set",
                      "grains.fill=[{low: [0.1, 0, 0.06], high: [0.2, 0, 0.16]}, {low: [0.3, 0, "
                      "0.18], high: [0.305, 0, 0.185]}]"),
              0);
    TdlHost host = tdl_host_default();
    TdlResult* result;
    TdlVec3 seen[5];
    REQUIRE(tdl_result_open(&host, scratch_path(&s, "run"), &result) == TDL_STATUS_OK);
    REQUIRE(tdl_result_read_observed(result, 0, seen) == TDL_STATUS_OK);
    CHECK_NEAR(seen[1].x, 0.0975, 0.2025 / 4096 / 4096 + 1.0e-12); // the width of a bin
    CHECK_NEAR(seen[1].y, 0.2025, 1.0e-12);
    CHECK_NEAR(seen[1].z, 0.1225, 1.0e-12);
    tdl_result_close(result);
    scratch_remove(&s);
}

// On two threads, and stopped in the middle: the frames before are copied.
TEST(a_resumed_run_has_the_same_frames) {
    Scratch s = scratch_make();
    write_scene(&s, SCENE);
    const char* const finer = "time.step=2e-4";
    REQUIRE(COMMAND(&s, "run", "s.yaml", "-o", "whole", "-q", "-t", "1", "--set", finer) == 0);
    REQUIRE(COMMAND(&s, "run", "s.yaml", "-o", "two", "-q", "-t", "2", "--set", finer) == 0);
    CHECK_TEXT(summary_hash(scratch_path(&s, "two")), summary_hash(scratch_path(&s, "whole")));
    CHECK_INT(same_frames(scratch_path(&s, "two"), scratch_path(&s, "whole"), true), FRAMES);
    pid_t child = COMMAND_START(&s, "run", "s.yaml", "-o", "killed", "-q", "--set", finer, "--set",
                                "output.checkpoint=1e-3");
    CHECK(command_wait_for(child, scratch_path(&s, "killed/checkpoint"), 0));
    kill(child, SIGKILL);
    printf("  ended with %d\n", command_wait(child));
    REQUIRE(COMMAND(&s, "run", "--resume", "killed", "-q") == 0);
    CHECK_INT(same_frames(scratch_path(&s, "killed"), scratch_path(&s, "whole"), true), FRAMES);
    CHECK_TEXT(summary_hash(scratch_path(&s, "killed")), summary_hash(scratch_path(&s, "whole")));
    scratch_remove(&s);
}

// --- other programs ------------------------------------------------------------------------------

static int count_text(const Scratch* s, const char* name, const char* text) {
    char* data = scratch_read(scratch_path(s, name), NULL);
    int count = 0;
    for (const char* at = data; at != NULL && (at = strstr(at, text)) != NULL; ++at) {
        ++count;
    }
    free(data);
    return count;
}

TEST(it_is_exported_as_points) {
    Scratch s = open_run();
    static const char* const formats[] = {"vtp", "usda", "csv"};
    for (int i = 0; i < 3; ++i) {
        CHECK_INT(COMMAND(&s, "export", "run", "-f", formats[i], "--frames", "0:30:10", "-q"), 0);
    }
    // at 0.1 s all are there, at 0.2 s those before 0.2, at 0.3 s none
    CHECK(command_wrote(&s, "run-grains-0010.vtp", "NumberOfPoints=\"400\""));
    CHECK(command_wrote(&s, "run-grains-0010.vtp", "Name=\"pressure\""));
    CHECK(command_wrote(&s, "run.pvd", "run-grains-0020.vtp"));
    CHECK_INT(count_text(&s, "run.pvd", "run-grains-0030.vtp"), 0);
    int left = columns_left(0.2);
    CHECK_INT(count_text(&s, "run-grains.csv", "\n") - 1, 2 * PARTICLES + ACROSS * left);
    CHECK(command_wrote(&s, "run-grains.csv", "frame,time,particle,x,y,z,velocity_x,"));
    CHECK(command_wrote(&s, "run.usda", "    def Points \"Grains\"\n"));
    CHECK(command_wrote(&s, "run.usda", "        int64[] ids.timeSamples = {\n"));
    CHECK_INT(COMMAND(&s, "export", "run", "-f", "vtp", "--json"), 0);
    CHECK(command_wrote(&s, "stdout", "\"grains\": true}"));
    scratch_remove(&s);
}

// --- pictures ------------------------------------------------------------------------------------

// Pixels near a colour, and the means of their places, as shares of the picture.
typedef struct Spot {
    int count;
    double x, y;
} Spot;

static Spot look_for(const Scratch* s, const char* name, const int color[3]) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    Spot spot = {-1, 0.0, 0.0};
    if (!png_image_begin_read_from_file(&image, scratch_path(s, name))) {
        return spot;
    }
    image.format = PNG_FORMAT_RGB;
    unsigned char* pixels = malloc(PNG_IMAGE_SIZE(image));
    spot.count = png_image_finish_read(&image, NULL, pixels, 0, NULL) != 0 ? 0 : -1;
    for (unsigned i = 0; spot.count >= 0 && i < image.width * image.height; ++i) {
        const unsigned char* p = pixels + 3 * (size_t)i;
        if (abs(p[0] - color[0]) + abs(p[1] - color[1]) + abs(p[2] - color[2]) < 60) {
            ++spot.count;
            spot.x += (i % image.width + 0.5) / image.width;
            spot.y += (i / image.width + 0.5) / image.height;
        }
    }
    spot.x /= spot.count > 0 ? spot.count : 1;
    spot.y /= spot.count > 0 ? spot.count : 1;
    free(pixels);
    return spot;
}

// All have one speed, the most: they are yellow. The block goes to the right.
TEST(a_picture_shows_them_from_the_front_in_the_colour_of_their_speed) {
    Scratch s = open_run();
    const int yellow[3] = {235, 195, 62};
    CHECK_INT(COMMAND(&s, "render", "run", "-o", "f%02d.png", "--frames", "0:20:10", "-q"), 0);
    Spot first = look_for(&s, "f00.png", yellow), second = look_for(&s, "f01.png", yellow);
    printf("  %d and %d pixels, about %.3f and %.3f\n", first.count, second.count, first.x,
           second.x);
    CHECK(first.count > 10000 && second.count > 10000);
    CHECK(second.x > first.x + 0.1);
    CHECK_NEAR(second.y, first.y, 0.01);
    CHECK_INT(COMMAND(&s, "render", "run", "--frames", "5", "--colour", "fraction", "-o", "p.png",
                      "--json"),
              0);
    CHECK(command_wrote(&s, "stdout", "\"particles\": 400, \"fraction\": ["));
    CHECK_INT(COMMAND(&s, "render", "run", "--colour", "colour", "-o", "p.png"), 2);
    CHECK(command_wrote(&s, "stderr", "grains: speed, pressure or fraction, not 'colour'"));
    CHECK_INT(COMMAND(&s, "render", "run", "--colour", "tension", "-o", "p.png"), 3);
    CHECK(command_wrote(&s, "stderr", "has no forces inside rods"));
    scratch_remove(&s);
}

TEST(a_drawing_has_a_dot_each_or_tells_how_many_it_leaves_out) {
    Scratch s = scratch_make();
    write_scene(&s, SCENE);
    REQUIRE(COMMAND(&s, "run", "s.yaml", "-o", "few", "-q", "--set", "time.end=0.05") == 0);
    CHECK_INT(COMMAND(&s, "render", "few", "-o", "few.svg"), 0);
    CHECK_INT(count_text(&s, "few.svg", "<circle "), PARTICLES);
    CHECK(command_wrote(&s, "few.svg", ">speed 0</text>"));
    CHECK(command_wrote(&s, "few.svg", ">1 m/s</text>"));
    // 100 x 100 particles of a cell as large as the block, six times over: 40000
    REQUIRE(COMMAND(&s, "run", "s.yaml", "-o", "many", "-q", "--set", "time.end=0.05", "--set",
                    "grains.grid.spacing=0.002") == 0);
    CHECK_INT(COMMAND(&s, "render", "many", "-o", "many.svg"), 0);
    CHECK(command_wrote(&s, "stderr", "Of its grains one particle in 2 is drawn"));
    int dots = count_text(&s, "many.svg", "<circle ");
    printf("  %d dots of 40000\n", dots);
    CHECK(dots > 19000 && dots < 21000); // 20000 and five times the root of 10000
    scratch_remove(&s);
}

TEST(a_page_has_them) {
    Scratch s = open_run();
    CHECK_INT(COMMAND(&s, "view", "run", "-o", "page.html", "-q"), 0);
    CHECK_INT(count_text(&s, "page.html",
                         "\"grains\":{\"name\":\"sand\",\"dimension\":2,\"size\":0.005,"
                         "\"every\":1,\"ends\":[[0,1],[0,0],["),
              1);
    scratch_remove(&s);
}
