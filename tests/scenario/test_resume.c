// What a resume goes on with: the files that the checkpoint counts on, and the build that wrote it.
#include "base/memory.h"
#include "base/rng.h"
#include "command.h"
#include "result/checkpoint.h"
#include "run_folder.h"

#include <sys/resource.h>

// With the folder of a whole run.
static Scratch make_runs(void) {
    Scratch s = scratch_make();
    write_run_scene(&s);
    CHECK_INT(COMMAND(&s, "run", "scene.yaml", "-o", "whole", "-q"), 0);
    return s;
}

static bool stop_at_57(void* user, const TdlStepInfo* info, long step_total) {
    (void)user, (void)step_total;
    return info->step < 57;
}

static void stop_run(const Scratch* s, const char* name) {
    TdlHost host = tdl_host_default();
    TdlScene* scene;
    TdlRunDef def = {.directory = scratch_path(s, name), .progress = stop_at_57};
    REQUIRE(tdl_scene_load(&host, scratch_path(s, "scene.yaml"), NULL, 0, &scene) == TDL_STATUS_OK);
    CHECK_INT(tdl_run(&host, scene, &def, NULL), TDL_STATUS_STOPPED);
    tdl_scene_destroy(scene);
}

// Writes the checkpoint of a folder as another build would have.
static void change_build(const char* path, const char* build) {
    TdlHost host = tdl_host_default();
    Checkpoint at;
    char* state;
    size_t size;
    REQUIRE(checkpoint_read(&host, path, &at, &state, &size) == TDL_STATUS_OK);
    snprintf(at.build, sizeof at.build, "%s", build);
    REQUIRE(checkpoint_write(&host, path, &at, state, size) == TDL_STATUS_OK);
    tdl_free(&host.mem, state);
}

TEST(another_build_goes_on_only_where_it_is_told_to) {
    Scratch s = make_runs();
    stop_run(&s, "part");
    const char* folder = scratch_path(&s, "part");
    change_build(in_folder(folder, "checkpoint"), "0.0.9, gcc 9, -O2 for base");
    CHECK_INT(COMMAND(&s, "run", "--resume", "part", "-q"), 3);
    CHECK(command_wrote(&s, "stderr", "written by another build of Tendril (0.0.9, gcc 9, -O2"));
    CHECK(command_wrote(&s, "stderr", "--other-build"));
    CHECK_INT(COMMAND(&s, "info", "part", "--verify"), 0);
    CHECK_INT(COMMAND(&s, "run", "scene.yaml", "-o", "X", "--other-build"), 2);
    CHECK_INT(COMMAND(&s, "run", "--resume", "part", "--other-build"), 0);
    CHECK(command_wrote(&s, "stderr", "from step 57 on by another build of Tendril"));
    char* summary = scratch_read(in_folder(folder, "summary.json"), NULL);
    CHECK(summary != NULL && strstr(summary, "\"other_builds\": 1,") != NULL);
    free(summary);
    // it was this build after all
    CHECK_SAME_RUNS(folder, scratch_path(&s, "whole"));
    // the same build needs no leave, and is not counted
    stop_run(&s, "own");
    CHECK_INT(COMMAND(&s, "run", "--resume", "own", "-q"), 0);
    summary = scratch_read(scratch_path(&s, "own/summary.json"), NULL);
    CHECK(summary != NULL && strstr(summary, "\"other_builds\": 0,") != NULL);
    free(summary);
    scratch_remove(&s);
}

TEST(a_finished_run_without_its_files_is_not_finished) {
    Scratch s = make_runs();
    static const char* const NAMES[] = {"result.h5", "log.csv"};
    CHECK_INT(COMMAND(&s, "run", "--resume", "whole"), 0);
    CHECK(command_wrote(&s, "stderr", "is finished already"));
    for (int i = 0; i < 2; ++i) {
        const char* path = in_folder(scratch_path(&s, "whole"), NAMES[i]);
        size_t size;
        char* good = scratch_read(path, &size);
        for (int how = 0; how < 3; ++how) { // gone, cut in the middle, cut by a byte
            scratch_write(path, good, how == 1 ? size / 2 : size - 1);
            if (how == 0) {
                unlink(path);
            }
            CHECK_INT(COMMAND(&s, "run", "--resume", "whole"), 3);
            CHECK(command_wrote(&s, "stderr", NAMES[i]));
        }
        scratch_write(path, good, size);
        free(good);
        CHECK_INT(COMMAND(&s, "run", "--resume", "whole"), 0);
    }
    scratch_remove(&s);
}

// The rows that a checkpoint counts on: as many, and these.
TEST(rows_of_the_log_are_counted_and_compared) {
    Scratch s = make_runs();
    stop_run(&s, "part");
    const char* path = scratch_path(&s, "part/log.csv");
    size_t size;
    char* good = scratch_read(path, &size);
    REQUIRE(good != NULL);
    // a digit, an end of line that becomes another letter, a row twice in place of two rows
    char* digit = strstr(good + size / 2, "0.");
    REQUIRE(digit != NULL);
    digit[2] = digit[2] == '1' ? '2' : '1';
    scratch_write(path, good, size);
    CHECK_INT(COMMAND(&s, "run", "--resume", "part", "-q"), 3);
    CHECK(command_wrote(&s, "stderr", "log.csv: damaged"));
    CHECK_INT(COMMAND(&s, "info", "part", "--verify"), 3);
    digit[2] = digit[2] == '1' ? '2' : '1';
    free(good);
    stop_run(&s, "other");
    path = scratch_path(&s, "other/log.csv");
    good = scratch_read(path, &size);
    char* end = strchr(good + size / 2, '\n');
    REQUIRE(end != NULL);
    *end = ',';
    scratch_write(path, good, size);
    CHECK_INT(COMMAND(&s, "run", "--resume", "other", "-q"), 3);
    CHECK(command_wrote(&s, "stderr", "are not 57 whole rows"));
    *end = '\n';
    // rows behind the checkpoint are dropped, also half of one
    FILE* file = fopen(path, "wb");
    fwrite(good, 1, size, file);
    fputs("58,0.05", file);
    fclose(file);
    free(good);
    CHECK_INT(COMMAND(&s, "run", "--resume", "other", "-q"), 0);
    CHECK_SAME_RUNS(scratch_path(&s, "other"), scratch_path(&s, "whole"));
    CHECK_INT(COMMAND(&s, "info", "other", "--verify"), 0);
    scratch_remove(&s);
}

// --- memory --------------------------------------------------------------------------------------

static rlim_t memory;

static void limit_memory(void) {
    setrlimit(RLIMIT_AS, &(struct rlimit){memory, memory});
}

// A run under a limit ended with a message, not by a signal; what it left goes on to the same bits.
// Returns its exit code.
static int look_at_end(const Scratch* s, const char* name, int code) {
    const char* folder = scratch_path(s, name);
    size_t said = 0;
    free(scratch_read(scratch_path(s, "stderr"), &said));
    if (code < 0 || (code > 1 && code != 127) || (code != 0 && said == 0)) {
        FAIL("%s ended with %d and %zu bytes of message", name, code, said);
        command_wrote(s, "stderr", "(nothing)");
    }
    if (access(folder, F_OK) == 0) {
        CHECK_INT(COMMAND(s, "run", "--resume", name, "-q"), 0);
        CHECK_SAME_RUNS(folder, scratch_path(s, "whole"));
    }
    scratch_remove_tree(folder);
    return code;
}

// With ever less from the start on: the least that is enough by bisection, then steps below it.
TEST(a_run_that_lacks_memory_says_so) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    SKIP("sanitizers map more than any limit");
#endif
    Scratch s = make_runs();
    rlim_t enough = 512u << 20, less = 1u << 20;
    while (enough - less > 100 << 10) {
        memory = (enough + less) / 2;
        int code = look_at_end(
            &s, "m", COMMAND_PREPARED(&s, limit_memory, "run", "scene.yaml", "-o", "m", "-q"));
        *(code == 0 ? &enough : &less) = memory;
    }
    int failed = 0, most = getenv("TENDRIL_LONG") == NULL ? 20 : 300;
    for (int i = 0; i < most; ++i) {
        memory = enough - (rlim_t)i * (24u << 20) / (rlim_t)most;
        failed += look_at_end(&s, "m",
                              COMMAND_PREPARED(&s, limit_memory, "run", "scene.yaml", "-o", "m",
                                               "-q")) != 0;
    }
    printf("  %llu KB are enough; with less %d of %d ended early\n",
           (unsigned long long)enough >> 10, failed, most);
    CHECK(failed > most / 2);
    scratch_remove(&s);
}

// From some moment on nothing more can be had.
TEST(a_run_whose_memory_runs_out_can_be_resumed) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    SKIP("sanitizers end a process that gets no memory");
#endif
    Scratch s = make_runs();
    Rng rng = rng_seed(3);
    int failed = 0, faults = 0, most = getenv("TENDRIL_LONG") == NULL ? 20 : 300;
    for (int i = 0; i < most; ++i) {
        pid_t child =
            COMMAND_START(&s, "run", "scene.yaml", "-o", "m", "-q", "-t", i % 2 == 0 ? "1" : "2",
                          "--set", "output.checkpoint=0.01", "--set", "output.frame=1e-3");
        const char *starting = scratch_path(&s, "m.part"), *running = scratch_path(&s, "m");
        while (access(starting, F_OK) != 0 && access(running, F_OK) != 0) {
            usleep(1000); // before, it is loaded
        }
        usleep((useconds_t)rng_below(&rng, 100000));
        prlimit(child, RLIMIT_AS, &(struct rlimit){1 << 20, 1 << 20}, NULL);
        int code = command_wait(child);
        char* said = scratch_read(scratch_path(&s, "stderr"), NULL);
        if (code < 0 || code > 1 || (code != 0 && (said == NULL || said[0] == '\0'))) {
            FAIL("run %d ended with %d: %s", i, code, said == NULL ? "" : said);
        }
        failed += code != 0;
        faults += said != NULL && strstr(said, "a fault inside HDF5") != NULL;
        free(said);
        const char* folder = scratch_path(&s, "m");
        if (access(folder, F_OK) == 0) {
            CHECK_INT(COMMAND(&s, "run", "--resume", "m", "-q"), 0);
            CHECK_TEXT(summary_hash(folder), summary_hash(scratch_path(&s, "whole")));
            CHECK(same_logs(folder, scratch_path(&s, "whole")));
            CHECK_INT(COMMAND(&s, "info", "m", "--verify"), 0);
        }
        scratch_remove_tree(folder);
        scratch_remove_tree(scratch_path(&s, "m.part")); // else the next one seems to have begun
    }
    printf("  %d of %d ended early, %d by a fault inside HDF5\n", failed, most, faults);
    CHECK(failed > most / 4);
    scratch_remove(&s);
}
