// Sweeps by the real command: every combination, the same table after kills, what fails, and what
// is refused.
#include "base/rng.h"
#include "command.h"
#include "test.h"

#include <math.h>
#include <unistd.h>

// A comb goes through three hairs with random roots.
static const char SCENE[] =
    "time: {step: 4e-3, end: 0.1}\n"
    "output: {frame: 0.05, samples: 2}\n"
    "materials: [{name: hair, young: 1e8, density: 1300, damping: 0.02, mass_damping: 2}]\n"
    "rods:\n"
    "  - name: hair\n"
    "    material: hair\n"
    "    length: 0.08\n"
    "    radius: 2e-4\n"
    "    elements: 4\n"
    "    clamp: {direction: [0, 0, -1], normal: [1, 0, 0]}\n"
    "    repeat: {count: [3, 1, 1], spacing: [4e-3, 0, 0], jitter: [1e-3, 1e-3, 0], seed: 1}\n"
    "colliders:\n"
    "  - name: comb\n"
    "    shape: capsule\n"
    "    radius: 1e-3\n"
    "    length: 0.04\n"
    "    position: [-0.015, 4e-3, -0.03]\n"
    "    direction: [1, 0, 0]\n"
    "    motion: {keyframes: [{time: 0}, {time: 0.1, position: [0, -0.012, -0.02]}]}\n"
    "contacts: {friction: 0.3, tolerance: 1e-6}\n"
    "observe: [{force: comb}]\n";

#define SWEEP_WORDS                                                                                \
    "sweep", "scene.yaml", "-q", "-v", "materials.hair.young=1e7:1e9:5:log", "-v",                 \
        "contacts.friction=0.1,0.3,0.5", "--seeds", "5"

static Scratch begin(void) {
    Scratch scratch = scratch_make();
    scratch_write(scratch_path(&scratch, "scene.yaml"), SCENE, sizeof SCENE - 1);
    return scratch;
}

static char* read_in(const Scratch* scratch, const char* name) {
    return scratch_read(scratch_path(scratch, name), NULL);
}

static int count_lines(const char* text) {
    int count = 0;
    for (const char* at = text; at != NULL && (at = strchr(at, '\n')) != NULL; ++at) {
        ++count;
    }
    return count;
}

static bool same_in(const Scratch* scratch, const char* a, const char* b) {
    char *first = read_in(scratch, a), *second = read_in(scratch, b);
    bool same = first != NULL && second != NULL && strcmp(first, second) == 0;
    free(first);
    free(second);
    return same;
}

TEST(seventy_five_combings_killed_twice_give_the_table_of_an_unbroken_sweep) {
    Scratch scratch = begin();
    REQUIRE(COMMAND(&scratch, SWEEP_WORDS, "-o", "whole") == 0);
    char* table = read_in(&scratch, "whole/table.csv");
    CHECK_INT(count_lines(table), 76);
    CHECK(table != NULL && strstr(table, ",failed") == NULL);
    free(table);
    char* means = read_in(&scratch, "whole/means.csv");
    CHECK_INT(count_lines(means), 16);
    free(means);

    // at one run in the first third, then at one in the second, wherever they are then
    static const char* const SEEN[] = {"broken/run-00017.txt", "broken/run-00041.txt"};
    for (int i = 0; i < 2; ++i) {
        pid_t child = COMMAND_START(&scratch, SWEEP_WORDS, "-o", "broken");
        CHECK(command_wait_for(child, scratch_path(&scratch, SEEN[i]), -1));
        kill(child, SIGKILL);
        CHECK_INT(command_wait(child), -SIGKILL);
    }
    CHECK(access(scratch_path(&scratch, "broken/table.csv"), F_OK) != 0);
    CHECK_INT(COMMAND(&scratch, SWEEP_WORDS, "-o", "broken"), 0);
    CHECK(same_in(&scratch, "whole/table.csv", "broken/table.csv"));
    CHECK(same_in(&scratch, "whole/means.csv", "broken/means.csv"));
    scratch_remove(&scratch);
}

// The table against a run of its own, and means against sums over the table.
TEST(a_row_is_what_its_run_says) {
    Scratch scratch = begin();
    REQUIRE(COMMAND(&scratch, "sweep", "scene.yaml", "-q", "-o", "out", "-v",
                    "contacts.friction=0.1,0.5", "--seeds", "3", "-s", "time.end=0.06") == 0);
    REQUIRE(COMMAND(&scratch, "run", "scene.yaml", "-q", "-o", "alone", "-s", "time.end=0.06", "-s",
                    "contacts.friction=0.5", "-s", "rods.hair.repeat.seed=2") == 0);
    CHECK(same_in(&scratch, "alone/scene.yaml", "out/run-00004/scene.yaml"));

    char* log = read_in(&scratch, "alone/log.csv");
    char* last = log == NULL ? NULL : strrchr(log, '\n');
    REQUIRE(last != NULL);
    *last = '\0';
    double force_z = strtod(strrchr(log, ',') + 1, NULL);
    free(log);
    char* table = read_in(&scratch, "out/table.csv");
    REQUIRE(table != NULL);
    char* row = strstr(table, "\n00004,0.5,2,done,");
    REQUIRE(row != NULL);
    row[1 + strcspn(row + 1, "\n")] = '\0';
    char* cut = strrchr(row, ','); // the last three are force_comb_z, its mean and its most
    *cut = '\0';
    cut = strrchr(row, ',');
    *cut = '\0';
    CHECK(strtod(strrchr(row, ',') + 1, NULL) == force_z);
    free(table);
    scratch_remove(&scratch);
}

TEST(means_and_spreads_are_those_of_the_table) {
    Scratch scratch = begin();
    REQUIRE(COMMAND(&scratch, "sweep", "scene.yaml", "-q", "-o", "out", "--seeds", "4", "-s",
                    "time.end=0.08") == 0);
    char* table = read_in(&scratch, "out/table.csv");
    REQUIRE(table != NULL);
    double sum = 0.0, squares = 0.0, values[4];
    char* line = strchr(table, '\n');
    for (int i = 0; i < 4; ++i) {
        line[0] = '\0';
        char* end = strchr(line + 1, '\n');
        *end = '\0';
        values[i] = strtod(strrchr(line + 1, ',') + 1, NULL); // force_comb_z_most
        sum += values[i] / 4.0;
        line = end;
    }
    for (int i = 0; i < 4; ++i) {
        squares += (values[i] - sum) * (values[i] - sum) / 3.0;
    }
    free(table);
    char* means = read_in(&scratch, "out/means.csv");
    REQUIRE(means != NULL);
    means[strlen(means) - 1] = '\0';
    char* spread = strrchr(means, ',');
    *spread = '\0';
    // two sums of four numbers in different orders
    CHECK_NEAR(strtod(spread + 1, NULL), sqrt(squares), 1.0e-12 * sqrt(squares));
    CHECK_NEAR(strtod(strrchr(means, ',') + 1, NULL), sum, 1.0e-14 * sum);
    CHECK(squares > 0.0);
    free(means);
    scratch_remove(&scratch);
}

TEST(a_run_that_fails_is_tried_again_and_told) {
    Scratch scratch = begin();
    // a step of which nothing is left in its budget ends the run, by a rule and not by the clock
    CHECK_INT(COMMAND(&scratch, "sweep", "scene.yaml", "-q", "-o", "out", "-v",
                      "time.budget=1e18,1", "-s", "time.spent=end"),
              1);
    CHECK(command_wrote(&scratch, "stderr", "run 00001 failed: "));
    char* table = read_in(&scratch, "out/table.csv");
    CHECK(table != NULL && strstr(table, "00000,1e18,done") != NULL);
    CHECK(table != NULL && strstr(table, "00001,1,failed") != NULL);
    free(table);
    scratch_remove(&scratch);
}

TEST(a_signal_ends_it_and_the_same_command_goes_on) {
    Scratch scratch = begin();
    pid_t child = COMMAND_START(&scratch, SWEEP_WORDS, "-o", "out");
    CHECK(command_wait_for(child, scratch_path(&scratch, "out/run-00005.txt"), -1));
    kill(child, SIGTERM);
    CHECK_INT(command_wait(child), 1);
    CHECK(command_wrote(&scratch, "stderr", "the same command goes on with them"));
    CHECK_INT(COMMAND(&scratch, SWEEP_WORDS, "-o", "out"), 0);
    scratch_remove(&scratch);
}

TEST(what_cannot_be_is_refused_before_the_first_run) {
    Scratch scratch = begin();
    static const struct {
        const char *vary, *says;
        int code;
    } CASES[] = {
        {"contacts.friction", "is not PATH=VALUES", 2},
        {"contacts.friction=", "is not PATH=VALUES", 2},
        {"contacts.friction=0.1,,0.2", "is empty", 2},
        {"contacts.friction=0:1:1", "a count from 2", 2},
        {"contacts.friction=0:1:3:log", "above 0", 2},
        {"contacts.friction=0:nan:3", "two finite ends", 2},
        {"contacts.friction=0:1:3:even", "':even'", 2},
        {"contacts.friction=0.1,-1", "contacts.friction", 3},
        {"contacts.frictoin=0.1,1", "friction", 3},
        {"contacts.friction=0:1:99999999", "to 100000", 2},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; ++i) {
        CHECK_INT(COMMAND(&scratch, "sweep", "scene.yaml", "-o", "out", "-v", CASES[i].vary),
                  CASES[i].code);
        CHECK(command_wrote(&scratch, "stderr", CASES[i].says));
        CHECK(access(scratch_path(&scratch, "out"), F_OK) != 0);
    }
    CHECK_INT(COMMAND(&scratch, "sweep", "scene.yaml", "-o", "out"), 2);
    CHECK_INT(COMMAND(&scratch, "sweep", "scene.yaml", "-v", "time.end=1,2"), 2);
    CHECK_INT(COMMAND(&scratch, "sweep", "nothing.yaml", "-o", "out", "-v", "time.end=1,2"), 3);
    scratch_remove(&scratch);
}

TEST(a_folder_of_another_sweep_is_refused) {
    Scratch scratch = begin();
    REQUIRE(COMMAND(&scratch, "sweep", "scene.yaml", "-q", "-o", "out", "-v",
                    "contacts.friction=0.1,0.2", "-s", "time.end=0.02") == 0);
    CHECK_INT(COMMAND(&scratch, "sweep", "scene.yaml", "-q", "-o", "out", "-v",
                      "contacts.friction=0.1,0.3", "-s", "time.end=0.02"),
              2);
    CHECK(command_wrote(&scratch, "stderr", "out is there and not of this sweep"));
    // the same words about another scene
    char changed[sizeof SCENE + 8];
    snprintf(changed, sizeof changed, "%s", SCENE);
    *strstr(changed, "0.08") = '1';
    scratch_write(scratch_path(&scratch, "scene.yaml"), changed, strlen(changed));
    CHECK_INT(COMMAND(&scratch, "sweep", "scene.yaml", "-q", "-o", "out", "-v",
                      "contacts.friction=0.1,0.2", "-s", "time.end=0.02"),
              2);
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "-q", "-o", "run", "-s", "time.end=0.02"), 0);
    CHECK_INT(COMMAND(&scratch, "sweep", "scene.yaml", "-o", "run", "-v", "time.end=1,2"), 2);
    CHECK(command_wrote(&scratch, "stderr", "run is there and is no sweep"));
    scratch_remove(&scratch);
}

// The list of commands, carried out by a shell, and then the table by the sweep itself.
TEST(runs_made_elsewhere_are_taken) {
    Scratch scratch = begin();
    CHECK_INT(COMMAND(&scratch, "sweep", "scene.yaml", "-o", "out", "-v",
                      "contacts.friction=0.1,0.2", "-s", "time.end=0.02", "--slurm"),
              0);
    CHECK(command_wrote(&scratch, "stdout", "sbatch out/sweep.sbatch"));
    char line[1200];
    snprintf(line, sizeof line,
             "cd '%s' && tendril() { \"$TENDRIL_COMMAND\" \"$@\"; } && . out/commands.txt && "
             "sed 's/^tendril/\"$TENDRIL_COMMAND\"/' -i out/commands.txt && "
             "SLURM_ARRAY_TASK_ID=1 sh out/sweep.sbatch 2>again; test -s again",
             scratch.path);
    CHECK_INT(system(line), 0); // the task's folder is there already, which its run says
    CHECK_INT(COMMAND(&scratch, "sweep", "scene.yaml", "-q", "-o", "out", "-v",
                      "contacts.friction=0.1,0.2", "-s", "time.end=0.02"),
              0);
    char* table = read_in(&scratch, "out/table.csv");
    CHECK_INT(count_lines(table), 3);
    free(table);
    scratch_remove(&scratch);
}
