// Runs of the real command that end in every way: by SIGKILL at random moments, by SIGINT, and the
// same bits after each.
#include "base/clock.h"
#include "base/rng.h"
#include "command.h"
#include "run_folder.h"

// Wall time that the unbroken run should take: long enough that kills fall into it, short enough
// for twenty of them.
static const double RUN_SECONDS = 0.25;

// With several rates of checkpoints and numbers of threads in turn; a hundred where TENDRIL_LONG is
// set.
enum { KILLS = 20, KILLS_LONG = 100 };
static const char* const RATES[] = {"output.checkpoint=0.01", "output.checkpoint=0.03",
                                    "output.checkpoint=0.1", "output.checkpoint=1e3"};
static const char* const THREADS[] = {"1", "2", "3"};
static int chosen; // of these

static char end_override[64];

// Runs a short part of the scene to learn the speed, and chooses the simulated time.
static bool calibrate(const Scratch* scratch) {
    int code = COMMAND(scratch, "run", "scene.yaml", "-o", "trial", "-q", "-t", "1", "--json",
                       "--set", "time.end=0.3");
    char* text = scratch_read(scratch_path(scratch, "stdout"), NULL);
    const char* at = text == NULL ? NULL : strstr(text, "\"wall_seconds\": ");
    double seconds = at == NULL ? 0.0 : strtod(at + 16, NULL);
    free(text);
    double steps = fmin(fmax(300.0 * RUN_SECONDS / fmax(seconds, 1.0e-3), 300.0), 30000.0);
    snprintf(end_override, sizeof end_override, "time.end=%g", floor(steps) * 1.0e-3);
    scratch_remove_tree(scratch_path(scratch, "trial"));
    return code == 0;
}

static pid_t start_run(const Scratch* scratch, const char* folder) {
    return COMMAND_START(scratch, "run", "scene.yaml", "-o", folder, "-q", "--set", end_override,
                         "--set", RATES[chosen % 4], "-t", THREADS[chosen % 3]);
}

static pid_t start_resume(const Scratch* scratch, const char* folder) {
    return COMMAND_START(scratch, "run", "--resume", folder, "-q", "-t", THREADS[(chosen + 1) % 3]);
}

static void wait_then_kill(pid_t child, double seconds) {
    usleep((useconds_t)(1.0e6 * seconds));
    kill(child, SIGKILL);
    int code = command_wait(child);
    CHECK(code == 0 || code == -SIGKILL);
}

// After a kill: the result can be read, is a beginning of the unbroken one, and info tells of it.
// Returns its frames, or -1 when there is no folder yet.
static long look_at_remains(const Scratch* scratch, const char* folder, const char* whole) {
    const char* path = scratch_path(scratch, folder);
    if (access(path, F_OK) != 0) {
        return -1;
    }
    long frames = same_frames(path, whole, false);
    CHECK(frames >= 1);
    int code = COMMAND(scratch, "info", folder);
    if (code != 0) {
        FAIL("info ended with %d", code);
        command_wrote(scratch, "stderr", "(nothing)");
    }
    return frames;
}

// Resumes to the end, or starts anew when the kill came before there was a folder.
static void complete(const Scratch* scratch, const char* folder) {
    bool exists = access(scratch_path(scratch, folder), F_OK) == 0;
    int code = command_wait(exists ? start_resume(scratch, folder) : start_run(scratch, folder));
    if (code != 0) {
        FAIL("going on with %s ended with %d", folder, code);
        command_wrote(scratch, "stderr", "(nothing)");
    }
}

TEST(kills_leave_readable_results_and_the_same_bits) {
    Scratch scratch = scratch_make();
    write_run_scene(&scratch);
    REQUIRE(calibrate(&scratch));
    const char* seed_text = getenv("TENDRIL_SEED");
    uint64_t seed = seed_text == NULL ? 1 : strtoull(seed_text, NULL, 10);
    Rng rng = rng_seed(seed);

    double begin = clock_now();
    chosen = 3; // as good as no checkpoints
    REQUIRE(command_wait(start_run(&scratch, "whole")) == 0);
    double duration = clock_now() - begin;
    char whole[600];
    snprintf(whole, sizeof whole, "%s/whole", scratch.path);
    printf("  seed %llu, %s, unbroken run %.2f s\n", (unsigned long long)seed, end_override,
           duration);

    int without_folder = 0, in_the_middle = 0, in_a_resume = 0;
    // twenty, or more on a machine so slow to start that few of them fell into the run
    int kills = getenv("TENDRIL_LONG") == NULL ? KILLS : KILLS_LONG;
    for (int i = 0; i < kills || (i < 3 * kills && (in_the_middle < 5 || in_a_resume < 2)); ++i) {
        chosen = i;
        char folder[32], part[48];
        snprintf(folder, sizeof folder, "killed-%d", i);
        snprintf(part, sizeof part, "%s.part", folder);
        // every fourth kill falls into the start, the others anywhere
        double reach = i % 4 == 0 ? fmin(0.04, 0.3 * duration) : duration;
        wait_then_kill(start_run(&scratch, folder), reach * rng_unit(&rng));
        long frames = look_at_remains(&scratch, folder, whole);
        bool finished = summary_says_finished(scratch_path(&scratch, folder));
        without_folder += frames < 0;
        in_the_middle += frames >= 0 && !finished;
        // every second one is killed once more while it is resumed, some in its first moments
        if (i % 2 == 0 && frames >= 0 && !finished) {
            double again = i % 4 == 0 ? 0.02 : 0.5 * duration;
            wait_then_kill(start_resume(&scratch, folder), again * rng_unit(&rng));
            look_at_remains(&scratch, folder, whole);
            in_a_resume += !summary_says_finished(scratch_path(&scratch, folder));
        }
        complete(&scratch, folder);
        CHECK_SAME_RUNS(scratch_path(&scratch, folder), whole);
        CHECK(access(scratch_path(&scratch, part), F_OK) != 0);
        CHECK_INT(COMMAND(&scratch, "info", folder, "--verify"), 0);
        scratch_remove_tree(scratch_path(&scratch, folder));
    }
    printf("  %d kills before there was a folder, %d in the middle, %d more in a resume\n",
           without_folder, in_the_middle, in_a_resume);
    CHECK(in_the_middle >= kills / 4);
    CHECK(in_a_resume >= 1);
    scratch_remove(&scratch);
}

// Interrupts a run and returns its exit code. A machine that was busy elsewhere may let the run
// finish before the signal comes; then it is done again, until the signal falls into the run.
static int interrupt_run(const Scratch* scratch, const char* folder, int number) {
    int code = 0;
    while (code == 0) {
        scratch_remove_tree(folder);
        pid_t child = start_run(scratch, folder);
        CHECK(command_wait_for(child, folder, 0));
        kill(child, number);
        code = command_wait(child);
    }
    return code;
}

TEST(interrupt_saves_says_how_to_resume_and_resumes) {
    Scratch scratch = scratch_make();
    write_run_scene(&scratch);
    REQUIRE(calibrate(&scratch));
    REQUIRE(command_wait(start_run(&scratch, "whole")) == 0);
    const int signals[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; ++i) {
        char folder[600], hint[700];
        snprintf(folder, sizeof folder, "%s/stopped-%d", scratch.path, i);
        snprintf(hint, sizeof hint, "tendril run --resume %s\n", folder);
        CHECK_INT(interrupt_run(&scratch, folder, signals[i]), 1);
        CHECK(command_wrote(&scratch, "stderr", hint));
        CHECK(access(in_folder(folder, "summary.json"), F_OK) == 0);
        CHECK(!summary_says_finished(folder));
        CHECK_INT(COMMAND(&scratch, "info", folder), 0);
        CHECK(command_wrote(&scratch, "stdout", "interrupted"));
        CHECK(command_wrote(&scratch, "stdout", hint));
        CHECK_INT(command_wait(start_resume(&scratch, folder)), 0);
        CHECK_SAME_RUNS(folder, scratch_path(&scratch, "whole"));
    }
    scratch_remove(&scratch);
}

TEST(same_bits_for_one_and_two_threads) {
    Scratch scratch = scratch_make();
    write_run_scene(&scratch);
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "-o", "one", "-q", "--threads", "1"), 0);
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "-o", "two", "-q", "--threads", "2"), 0);
    CHECK_SAME_RUNS(scratch_path(&scratch, "one"), scratch_path(&scratch, "two"));
    scratch_remove(&scratch);
}

// While a run is at work (held here by SIGSTOP), nobody else writes its folder; afterwards the
// lock is gone.
TEST(two_runs_cannot_share_a_folder) {
    Scratch scratch = scratch_make();
    write_run_scene(&scratch);
    snprintf(end_override, sizeof end_override, "time.end=1000");
    pid_t child = start_run(&scratch, "busy");
    CHECK(command_wait_for(child, scratch_path(&scratch, "busy"), 0));
    kill(child, SIGSTOP);
    CHECK_INT(COMMAND(&scratch, "run", "--resume", "busy"), 3);
    CHECK(command_wrote(&scratch, "stderr", "another process"));
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "-o", "busy"), 2);
    CHECK(command_wrote(&scratch, "stderr", "tendril run --resume busy"));
    CHECK_INT(COMMAND(&scratch, "info", "busy"), 0);
    CHECK(command_wrote(&scratch, "stdout", "running"));
    kill(child, SIGKILL);
    CHECK_INT(command_wait(child), -SIGKILL);
    CHECK_INT(COMMAND(&scratch, "info", "busy"), 0);
    CHECK(command_wrote(&scratch, "stdout", "interrupted"));
    child = start_resume(&scratch, "busy");
    usleep(50000);
    kill(child, SIGINT);
    int code = command_wait(child); // 1, or the signal when it came before the handler was set
    CHECK(code == 1 || code == -SIGINT);
    scratch_remove(&scratch);
}

// A second interrupt ends the process at once, without saving; the run can still be resumed.
TEST(second_interrupt_ends_at_once) {
    Scratch scratch = scratch_make();
    write_run_scene(&scratch);
    snprintf(end_override, sizeof end_override, "time.end=1000");
    pid_t child = start_run(&scratch, "twice");
    CHECK(command_wait_for(child, scratch_path(&scratch, "twice"), 0));
    kill(child, SIGINT);
    usleep(100);
    kill(child, SIGINT);
    int code = command_wait(child);
    CHECK(code == -SIGINT || code == 1); // 1 when it had saved within the pause
    CHECK_INT(COMMAND(&scratch, "info", "twice"), 0);
    scratch_remove(&scratch);
}
