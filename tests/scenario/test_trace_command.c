// A run's narrow phase recorded and measured, as a user does: tendril run --trace-detection, then
// tendril bench detection.
#include "command.h"

// Five hairs that cross and lie on each other.
static const char SCENE[] = "title: crossing\n"
                            "time: {step: 1.0e-3, end: 0.02}\n"
                            "materials:\n"
                            "  - {name: hair, young: 1.0e9, poisson: 0.48, density: 1000}\n"
                            "rods:\n"
                            "  - name: a\n"
                            "    material: hair\n"
                            "    length: 0.1\n"
                            "    radius: 5.0e-4\n"
                            "    elements: 6\n"
                            "    natural_curvature: [0, 20, 0]\n"
                            "    clamp: {direction: [1, 0, 0]}\n"
                            "    repeat: {count: [1, 5, 1], spacing: [0, 1.1e-3, 0]}\n"
                            "contacts: {friction: 0.3}\n";

// The number of contacts of the last step in a run's log.
static int last_contacts(const Scratch* scratch, const char* name) {
    char* text = scratch_read(scratch_path(scratch, name), NULL);
    if (text == NULL) {
        return -1;
    }
    int contacts = -1;
    for (char* line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        sscanf(line, "%*d,%*g,%*d,%d", &contacts);
    }
    free(text);
    return contacts;
}

static bool exists(const Scratch* scratch, const char* name) {
    return access(scratch_path(scratch, name), R_OK) == 0;
}

TEST(a_run_is_recorded_and_measured) {
    Scratch scratch = scratch_make();
    FILE* file = fopen(scratch_path(&scratch, "s.yaml"), "w");
    REQUIRE(file != NULL);
    fputs(SCENE, file);
    fclose(file);
    CHECK_INT(COMMAND(&scratch, "run", "s.yaml", "-o", "r", "--trace-detection", "all.trace"), 0);
    CHECK(command_wrote(&scratch, "stderr", "pairs recorded"));
    CHECK_INT(COMMAND(&scratch, "run", "s.yaml", "-o", "r2", "--trace-detection", "few.trace",
                      "--trace-steps", "3-4"),
              0);
    struct stat all = {0}, few = {0};
    CHECK(stat(scratch_path(&scratch, "all.trace"), &all) == 0 &&
          stat(scratch_path(&scratch, "few.trace"), &few) == 0);
    printf("  %ld bytes, of two steps %ld\n", (long)all.st_size, (long)few.st_size);
    CHECK(few.st_size > 1000 && all.st_size > 5 * few.st_size);

    CHECK_INT(COMMAND(&scratch, "bench", "detection", "--trace", "few.trace", "--out", "b",
                      "--finest", "1e-4", "--calls", "10"),
              0);
    CHECK(command_wrote(&scratch, "stdout", "segments over fast at equal error"));
    static const char* const names[] = {"b/methods.csv", "b/ratio.csv", "b/error.csv",
                                        "b/error.svg",   "b/error.png", "b/gap.csv",
                                        "b/gap.svg",     "b/gap.png"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        CHECK(exists(&scratch, names[i]));
    }
    CHECK_INT(COMMAND(&scratch, "bench", "detection", "--trace", "s.yaml", "--out", "c"), 3);
    CHECK(command_wrote(&scratch, "stderr", "s.yaml: this is not a trace"));
    CHECK_INT(COMMAND(&scratch, "run", "s.yaml", "-o", "r3", "--trace-steps", "3"), 2);
    CHECK_INT(COMMAND(&scratch, "run", "s.yaml", "-o", "r3", "--trace-detection", "t",
                      "--trace-steps", "4-3"),
              2);
    CHECK(!exists(&scratch, "r3"));
    scratch_remove(&scratch);
}

TEST(a_scene_chooses_what_detection_sees) {
    Scratch scratch = scratch_make();
    FILE* file = fopen(scratch_path(&scratch, "s.yaml"), "w");
    REQUIRE(file != NULL);
    fputs(SCENE, file);
    fclose(file);
    CHECK_INT(COMMAND(&scratch, "run", "s.yaml", "-o", "curves"), 0);
    CHECK_INT(COMMAND(&scratch, "run", "s.yaml", "-o", "segments", "--set",
                      "contacts.detection=segments", "--set", "contacts.segments=3"),
              0);
    CHECK_INT(COMMAND(&scratch, "run", "s.yaml", "-o", "baseline", "--set",
                      "contacts.detection=baseline", "--set", "contacts.segment_length=2e-4"),
              0);
    int curves = last_contacts(&scratch, "curves/log.csv");
    int segments = last_contacts(&scratch, "segments/log.csv");
    int baseline = last_contacts(&scratch, "baseline/log.csv");
    printf("  contacts: curves %d, segments %d, baseline %d\n", curves, segments, baseline);
    CHECK(curves > 0 && segments > 0 && baseline > 0);
    CHECK_INT(
        COMMAND(&scratch, "run", "s.yaml", "-o", "wrong", "--set", "contacts.segment_length=0"), 3);
    scratch_remove(&scratch);
}
