// The checkpoint file: round trip, and every way it can be damaged.
#include "result/checkpoint.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/rng.h"
#include "scratch.h"

#include <sys/resource.h>
#include <sys/wait.h>

static const Checkpoint SAMPLE = {
    .step = 12,
    .step_total = 100,
    .frame_count = 3,
    .log_size = 777,
    .substeps_max = 4,
    .scene_hash = 0x123456789abcdef0u,
    .state_hash = 42,
    .time = 0.1,
    .kinetic = 1.0 / 3.0,
    .elastic = -0.0,
    .gravity = 1.0e-300,
    .energy_rise = 0.0,
    .seconds = 2.5,
};

TEST(round_trip_keeps_every_bit) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    const char* path = scratch_path(&scratch, "checkpoint");
    char state[1000];
    for (int i = 0; i < 1000; ++i) {
        state[i] = (char)(i * 7);
    }
    const size_t sizes[] = {0, 1, 1000};
    for (int i = 0; i < 3; ++i) {
        CHECK_INT(checkpoint_write(&host, path, &SAMPLE, state, sizes[i]), TDL_STATUS_OK);
        Checkpoint back;
        char* bytes;
        size_t size;
        REQUIRE(checkpoint_read(&host, path, &back, &bytes, &size) == TDL_STATUS_OK);
        CHECK(memcmp(&back, &SAMPLE, sizeof back) == 0);
        CHECK_INT(size, sizes[i]);
        CHECK(memcmp(bytes, state, size) == 0);
        tdl_free(&host.mem, bytes);
    }
    CHECK_INT(heard.count, 0);
    CHECK(access(scratch_path(&scratch, "checkpoint.tmp"), F_OK) != 0);
    scratch_remove(&scratch);
}

// Reads what is expected to be refused with exactly one message that names the file.
static void check_refused(const char* path, TdlStatus expected) {
    Heard heard;
    TdlHost host = scratch_host(&heard);
    Checkpoint back;
    CHECK_INT(checkpoint_read(&host, path, &back, NULL, NULL), expected);
    CHECK_INT(heard.count, 1);
    CHECK(strstr(heard.last, path) != NULL);
}

TEST(truncated_damaged_and_foreign_files_are_refused) {
    Scratch scratch = scratch_make();
    TdlHost host = tdl_host_default();
    const char* path = scratch_path(&scratch, "checkpoint");
    REQUIRE(checkpoint_write(&host, path, &SAMPLE, "some state", 10) == TDL_STATUS_OK);
    size_t size;
    char* good = scratch_read(path, &size);
    // cut anywhere
    for (size_t cut = 0; cut < size; ++cut) {
        scratch_write(path, good, cut);
        check_refused(path, TDL_STATUS_BAD_INPUT);
    }
    // one bit wrong anywhere
    for (size_t i = 0; i < size; ++i) {
        good[i] = (char)(good[i] ^ (1 << (i % 8)));
        scratch_write(path, good, size);
        check_refused(path, TDL_STATUS_BAD_INPUT);
        good[i] = (char)(good[i] ^ (1 << (i % 8)));
    }
    // one byte too many; nothing; somebody else's file
    good[size] = 0;
    scratch_write(path, good, size + 1);
    check_refused(path, TDL_STATUS_BAD_INPUT);
    scratch_write(path, "step,time\n", 10);
    check_refused(path, TDL_STATUS_BAD_INPUT);
    check_refused(scratch_path(&scratch, "absent"), TDL_STATUS_IO);
    check_refused(scratch.path, TDL_STATUS_IO);
    free(good);
    scratch_remove(&scratch);
}

// A right checksum over counts that make no sense.
TEST(contradicting_counts_are_refused) {
    Scratch scratch = scratch_make();
    TdlHost host = tdl_host_default();
    const char* path = scratch_path(&scratch, "checkpoint");
    Checkpoint wrong[5] = {SAMPLE, SAMPLE, SAMPLE, SAMPLE, SAMPLE};
    wrong[0].step = -1;
    wrong[1].step = 101;
    wrong[2].frame_count = 14;
    wrong[3].log_size = -5;
    wrong[4].time = NAN;
    for (int i = 0; i < 5; ++i) {
        REQUIRE(checkpoint_write(&host, path, &wrong[i], NULL, 0) == TDL_STATUS_OK);
        check_refused(path, TDL_STATUS_BAD_INPUT);
    }
    scratch_remove(&scratch);
}

// An older or newer version, whole and with a right checksum, is told apart from damage.
TEST(other_versions_are_named) {
    Scratch scratch = scratch_make();
    const char* path = scratch_path(&scratch, "checkpoint");
    for (int by = -2; by <= 1; by += 3) {
        Heard heard;
        TdlHost host = scratch_host(&heard);
        REQUIRE(checkpoint_write(&host, path, &SAMPLE, NULL, 0) == TDL_STATUS_OK);
        size_t size;
        char* bytes = scratch_read(path, &size);
        bytes[8] = (char)(bytes[8] + by);
        uint64_t sum = hash_bytes(HASH_START, bytes, size - 8);
        memcpy(bytes + size - 8, &sum, 8);
        scratch_write(path, bytes, size);
        Checkpoint back;
        CHECK_INT(checkpoint_read(&host, path, &back, NULL, NULL), TDL_STATUS_BAD_INPUT);
        CHECK(strstr(heard.last, "version") != NULL);
        free(bytes);
    }
    scratch_remove(&scratch);
}

// Writing fails half way (a limit on the size of files, as on a full disk): the old one stays.
TEST(failed_write_leaves_the_previous_checkpoint) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    const char* path = scratch_path(&scratch, "checkpoint");
    static char state[100000];
    REQUIRE(checkpoint_write(&host, path, &SAMPLE, state, 10) == TDL_STATUS_OK);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){5000, 5000});
        Checkpoint later = SAMPLE;
        later.step = 50;
        TdlStatus status = checkpoint_write(&host, path, &later, state, sizeof state);
        _exit(status == TDL_STATUS_IO && heard.count == 1 ? 0 : 1);
    }
    int outcome = -1;
    waitpid(child, &outcome, 0);
    CHECK_INT(outcome, 0);
    Checkpoint back;
    CHECK_INT(checkpoint_read(&host, path, &back, NULL, NULL), TDL_STATUS_OK);
    CHECK_INT(back.step, 12);
    CHECK(access(scratch_path(&scratch, "checkpoint.tmp"), F_OK) != 0);
    scratch_remove(&scratch);
}
