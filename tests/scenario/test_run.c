// Runs through the library: what a folder holds, stopping and going on, everything that is
// refused, and the ways a disk or memory can fail.
#include "base/hash.h"
#include "command.h"
#include "look.h"
#include "result/checkpoint.h"
#include "run_folder.h"

#include <dirent.h>
#include <sys/resource.h>

typedef struct Stop {
    long at, calls;
} Stop;

static bool stop_at(void* user, const TdlStepInfo* info, long step_total) {
    Stop* stop = user;
    ++stop->calls;
    return info->step != stop->at || step_total == 0;
}

// Runs the scene of the scratch folder; stops after step `stop` unless that is 0.
static TdlStatus run_scene(const TdlHost* host, const Scratch* scratch, const char* folder,
                           const char* override, long stop_step, TdlRunInfo* info) {
    TdlScene* scene;
    TdlStatus status = tdl_scene_load(host, scratch_path(scratch, "scene.yaml"), &override,
                                      override != NULL, &scene);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    Stop stop = {.at = stop_step};
    TdlRunDef def = {.directory = folder,
                     .thread_count = 1,
                     .progress = stop_step == 0 ? NULL : stop_at,
                     .progress_user = &stop};
    status = tdl_run(host, scene, &def, info);
    tdl_scene_destroy(scene);
    return status;
}

static TdlStatus resume(const TdlHost* host, const char* folder, TdlRunInfo* info) {
    TdlRunDef def = {.directory = folder, .thread_count = 1};
    return tdl_run_resume(host, &def, info);
}

static int count_entries(const char* folder) {
    DIR* dir = opendir(folder);
    int count = 0;
    for (struct dirent* e = dir == NULL ? NULL : readdir(dir); e != NULL; e = readdir(dir)) {
        count += e->d_name[0] != '.';
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return count;
}

static int count_rows(const char* folder) {
    char* text = scratch_read(in_folder(folder, "log.csv"), NULL);
    int rows = -1;
    for (const char* c = text; c != NULL && *c != '\0'; ++c) {
        rows += *c == '\n';
    }
    free(text);
    return rows;
}

// A number that changes with any byte of any file of a run's folder.
static uint64_t folder_hash(const char* folder) {
    const char* const names[] = {"scene.yaml", "checkpoint", "result.h5", "log.csv",
                                 "summary.json"};
    uint64_t hash = HASH_START;
    for (int i = 0; i < 5; ++i) {
        size_t size = 0;
        char* data = scratch_read(in_folder(folder, names[i]), &size);
        hash = hash_bytes(hash, data, size);
        free(data);
    }
    return hash;
}

TEST(folder_holds_frames_rows_and_a_summary) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    write_run_scene(&scratch);
    char folder[600];
    snprintf(folder, sizeof folder, "%s/not/yet/there", scratch.path);
    TdlRunInfo info;
    // 205 steps: the last frame is not on the grid of ten steps
    REQUIRE(run_scene(&host, &scratch, folder, "time.end=0.205", 0, &info) == TDL_STATUS_OK);
    CHECK_INT(heard.count, 0);
    CHECK_INT(info.steps, 205);
    CHECK_INT(info.steps_here, 205);
    CHECK_INT(info.frames, 22);
    CHECK(info.finished);
    CHECK_INT(count_rows(folder), 205);
    CHECK_INT(count_entries(folder), 5);
    char hash[17];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)info.state_hash);
    CHECK_TEXT(summary_hash(folder), hash);

    TdlResult* result;
    REQUIRE(tdl_result_open(&host, folder, &result) == TDL_STATUS_OK);
    TdlResultInfo r = tdl_result_info(result);
    CHECK_TEXT(r.title, "three rods and a ball");
    CHECK_INT(r.rod_count, 3);
    CHECK_INT(r.collider_count, 1);
    CHECK_INT(r.point_count, 4 * 15 + 3);
    CHECK_INT(r.dof_count, 45);
    CHECK(r.finished);
    for (long i = 0; i < 22; ++i) {
        double time;
        CHECK_INT(tdl_result_read_frame(result, i, &time, NULL), TDL_STATUS_OK);
        CHECK_NEAR(time, i == 21 ? 0.205 : 0.01 * (double)i, 1.0e-12); // sums of 205 steps
    }
    tdl_result_close(result);

    TdlStepInfo last;
    bool running = true;
    REQUIRE(tdl_run_inspect(&host, folder, &info, &last, &running) == TDL_STATUS_OK);
    CHECK(info.finished && !running);
    CHECK_INT(last.step, 205);
    CHECK(last.energy.kinetic == info.energy.kinetic); // 17 digits keep every bit
    scratch_remove(&scratch);
}

// The frames are what the world says: the same scene stepped by hand.
TEST(frames_are_the_states_of_the_world) {
    Scratch scratch = scratch_make();
    TdlHost host = tdl_host_default();
    write_run_scene(&scratch);
    const char* folder = scratch_path(&scratch, "run");
    TdlRunInfo info;
    REQUIRE(run_scene(&host, &scratch, folder, NULL, 0, &info) == TDL_STATUS_OK);
    TdlScene* scene;
    TdlWorld* world;
    REQUIRE(tdl_scene_load(&host, scratch_path(&scratch, "scene.yaml"), NULL, 0, &scene) ==
            TDL_STATUS_OK);
    REQUIRE(tdl_scene_build(scene, 1, &world) == TDL_STATUS_OK);
    for (int i = 0; i < 200; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
    CHECK(tdl_world_state_hash(world) == info.state_hash);
    TdlResult* result;
    REQUIRE(tdl_result_open(&host, folder, &result) == TDL_STATUS_OK);
    ResultFrame frame;
    REQUIRE(result_frame_create(&host, result_counts(result), &frame) == TDL_STATUS_OK);
    REQUIRE(result_read(result, 20, &frame) == TDL_STATUS_OK);
    const int* start = tdl_result_point_start(result);
    const double* q = frame.q;
    for (int i = 0; i < 3; ++i) {
        TdlBodyId rod = look_body(world, "rod", i);
        TdlRodInfo rod_info = look_rod_info(world, rod);
        CHECK(memcmp(q, look_rod_coordinates(world, rod),
                     (size_t)rod_info.dof_count * sizeof(double)) == 0);
        q += rod_info.dof_count;
        TdlVec3 tip = look_rod_point(world, rod, rod_info.length);
        const float* p = frame.points + 3 * (start[i + 1] - 1);
        // single precision, and two ways to the tip
        CHECK_NEAR3(((TdlVec3){p[0], p[1], p[2]}), tip, 1.0e-7);
    }
    TdlPose pose = look_collider_pose(world, 0);
    CHECK(memcmp(frame.poses, &pose, sizeof pose) == 0); // position, then columns
    CHECK_NEAR(frame.poses[0], 0.1, 1.0e-12);            // the ball has arrived
    result_frame_destroy(&host, &frame);
    tdl_result_close(result);
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
    scratch_remove(&scratch);
}

TEST(stopped_runs_go_on_with_the_same_bits) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    write_run_scene(&scratch);
    TdlRunInfo info;
    char whole[600], folder[600];
    snprintf(whole, sizeof whole, "%s/whole", scratch.path);
    snprintf(folder, sizeof folder, "%s/stopped", scratch.path);
    REQUIRE(run_scene(&host, &scratch, whole, NULL, 0, &info) == TDL_STATUS_OK);
    // in the middle of two frames, on a frame, after the first step, before the last
    const long stops[] = {55, 100, 1, 199};
    for (int i = 0; i < 4; ++i) {
        CHECK_INT(run_scene(&host, &scratch, folder, NULL, stops[i], &info), TDL_STATUS_STOPPED);
        CHECK_INT(info.steps, stops[i]);
        CHECK(!info.finished);
        CHECK_INT(count_rows(folder), stops[i]);
        CHECK(!summary_says_finished(folder));
        CHECK_INT(resume(&host, folder, &info), TDL_STATUS_OK);
        CHECK_INT(info.steps_here, 200 - stops[i]);
        CHECK(info.finished);
        CHECK_SAME_RUNS(folder, whole);
        CHECK_INT(count_entries(folder), 5);
        scratch_remove_tree(folder);
    }
    // a stop asked for at the last step comes too late
    CHECK_INT(run_scene(&host, &scratch, folder, NULL, 200, &info), TDL_STATUS_OK);
    CHECK(info.finished);
    CHECK_INT(heard.count, 0);
    scratch_remove(&scratch);
}

TEST(finished_runs_are_left_alone) {
    Scratch scratch = scratch_make();
    TdlHost host = tdl_host_default();
    write_run_scene(&scratch);
    const char* folder = scratch_path(&scratch, "run");
    TdlRunInfo info, again;
    REQUIRE(run_scene(&host, &scratch, folder, "time.end=0.02", 0, &info) == TDL_STATUS_OK);
    uint64_t before = folder_hash(folder);
    CHECK_INT(resume(&host, folder, &again), TDL_STATUS_OK);
    CHECK(again.finished);
    CHECK_INT(again.steps_here, 0);
    CHECK(again.state_hash == info.state_hash);
    CHECK(folder_hash(folder) == before);
    // killed between the last checkpoint and the summary: only the summary is missing
    unlink(in_folder(folder, "summary.json"));
    CHECK_INT(resume(&host, folder, &again), TDL_STATUS_OK);
    CHECK(summary_says_finished(folder));
    scratch_remove(&scratch);
}

TEST(scenes_without_steps_and_settled_starts) {
    Scratch scratch = scratch_make();
    TdlHost host = tdl_host_default();
    write_run_scene(&scratch);
    const char* folder = scratch_path(&scratch, "run");
    TdlRunInfo info;
    CHECK_INT(run_scene(&host, &scratch, folder, "time.end=0", 0, &info), TDL_STATUS_OK);
    CHECK_INT(info.steps, 0);
    CHECK_INT(info.frames, 1);
    CHECK(info.finished);
    scratch_remove_tree(folder);

    // from equilibrium nothing moves until the clamp does, at 0.02 s
    CHECK_INT(run_scene(&host, &scratch, folder, "start=settled", 15, &info), TDL_STATUS_STOPPED);
    CHECK_BELOW(info.energy.kinetic, 1.0e-16); // J; a fall of 15 ms gives 1e-9
    CHECK_INT(resume(&host, folder, &info), TDL_STATUS_OK);
    const char* whole = scratch_path(&scratch, "whole");
    CHECK_INT(run_scene(&host, &scratch, whole, "start=settled", 0, &info), TDL_STATUS_OK);
    CHECK_SAME_RUNS(folder, whole);
    scratch_remove(&scratch);
}

// A rod of a thousand kilometres and a nanometre leaves the numbers a double can hold.
TEST(diverged_runs_keep_the_last_good_state) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    static const char text[] = "title: too slender\n"
                               "time: {step: 1e-3, end: 0.2}\n"
                               "output: {frame: 0.001}\n"
                               "materials: [{name: hair, young: 1e9}]\n"
                               "rods:\n"
                               "  - {name: a, material: hair, length: 1e6, radius: 1e-9,\n"
                               "     elements: 6, clamp: {position: [0, 0, 0]}}\n";
    scratch_write(scratch_path(&scratch, "scene.yaml"), text, sizeof text - 1);
    const char* folder = scratch_path(&scratch, "run");
    TdlRunInfo info, again;
    TdlStatus status = run_scene(&host, &scratch, folder, NULL, 0, &info);
    if (status == TDL_STATUS_OK) {
        scratch_remove(&scratch);
        SKIP("this scene no longer diverges");
    }
    CHECK_INT(status, TDL_STATUS_DIVERGED);
    CHECK_INT(heard.count, 1);
    CHECK(!info.finished && info.steps < 200);
    CHECK_INT(count_rows(folder), info.steps);
    CHECK(access(in_folder(folder, "summary.json"), F_OK) == 0);
    CHECK(!summary_says_finished(folder));
    // the state is there, is finite, and diverges again at the same step
    TdlStepInfo last;
    CHECK_INT(tdl_run_inspect(&host, folder, &again, &last, NULL), TDL_STATUS_OK);
    CHECK_INT(again.steps, info.steps);
    CHECK(isfinite(again.energy.kinetic));
    CHECK_INT(resume(&host, folder, &again), TDL_STATUS_DIVERGED);
    CHECK_INT(again.steps, info.steps);
    CHECK(again.state_hash == info.state_hash);
    scratch_remove(&scratch);
}

// --- what is refused -----------------------------------------------------------------------------

TEST(existing_folders_and_files_are_not_touched) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    write_run_scene(&scratch);
    TdlRunInfo info;
    const char* folder = scratch_path(&scratch, "run");
    REQUIRE(run_scene(&host, &scratch, folder, "time.end=0.02", 0, &info) == TDL_STATUS_OK);
    uint64_t before = folder_hash(folder);
    CHECK_INT(run_scene(&host, &scratch, folder, NULL, 0, &info), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(info.steps, -1);
    CHECK(strstr(heard.last, "--resume") != NULL);
    CHECK(folder_hash(folder) == before);
    // an empty folder, a file, a file where a folder should be, a path too long
    const char* empty = scratch_path(&scratch, "empty");
    mkdir(empty, 0777);
    CHECK_INT(run_scene(&host, &scratch, empty, NULL, 0, &info), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(count_entries(empty), 0);
    const char* file = scratch_path(&scratch, "scene.yaml");
    CHECK_INT(run_scene(&host, &scratch, file, NULL, 0, &info), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(run_scene(&host, &scratch, in_folder(file, "x"), NULL, 0, &info), TDL_STATUS_IO);
    CHECK_INT(run_scene(&host, &scratch, "", NULL, 0, &info), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(heard.count, 5);
    CHECK_INT(count_entries(scratch.path), 3);
    scratch_remove(&scratch);
}

TEST(remains_of_a_start_are_cleared_but_not_the_files_of_others) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    write_run_scene(&scratch);
    TdlRunInfo info;
    const char* folder = scratch_path(&scratch, "run");
    const char* part = scratch_path(&scratch, "run.part");
    mkdir(part, 0777);
    scratch_write(in_folder(part, "result.h5"), "half", 4);
    scratch_write(in_folder(part, "checkpoint.tmp"), "half", 4);
    CHECK_INT(run_scene(&host, &scratch, folder, "time.end=0.02", 0, &info), TDL_STATUS_OK);
    CHECK_INT(count_entries(folder), 5);
    scratch_remove_tree(folder);
    mkdir(part, 0777);
    scratch_write(in_folder(part, "thesis.tex"), "years of work", 13);
    CHECK_INT(run_scene(&host, &scratch, folder, "time.end=0.02", 0, &info), TDL_STATUS_IO);
    CHECK_INT(heard.count, 1);
    CHECK(access(in_folder(part, "thesis.tex"), F_OK) == 0);
    CHECK(access(folder, F_OK) != 0);
    scratch_remove(&scratch);
}

static void refuse_resume(const char* folder, TdlStatus expected) {
    Heard heard;
    TdlHost host = scratch_host(&heard);
    TdlRunInfo info;
    CHECK_INT(resume(&host, folder, &info), expected);
    CHECK_INT(heard.count, 1);
    CHECK(strstr(heard.last, folder) != NULL);
}

// Spoils one file of a stopped run at a time; each is named, and put right again it goes on.
TEST(spoiled_folders_are_refused_and_kept) {
    Scratch scratch = scratch_make();
    TdlHost host = tdl_host_default();
    write_run_scene(&scratch);
    char folder[600];
    snprintf(folder, sizeof folder, "%s/run", scratch.path);
    TdlRunInfo info;
    REQUIRE(run_scene(&host, &scratch, folder, NULL, 57, &info) == TDL_STATUS_STOPPED);
    const char* const names[] = {"scene.yaml", "checkpoint", "result.h5", "log.csv"};
    for (int i = 0; i < 4; ++i) {
        const char* path = in_folder(folder, names[i]);
        size_t size;
        char* good = scratch_read(path, &size);
        REQUIRE(good != NULL);
        unlink(path);
        refuse_resume(folder, TDL_STATUS_IO);
        scratch_write(path, good, size / 2 + 1);
        refuse_resume(folder, TDL_STATUS_BAD_INPUT);
        scratch_write(path, "x: 1\n", 5);
        refuse_resume(folder, TDL_STATUS_BAD_INPUT);
        scratch_write(path, good, size);
        free(good);
    }
    CHECK_INT(resume(&host, folder, &info), TDL_STATUS_OK);
    const char* whole = scratch_path(&scratch, "whole");
    CHECK_INT(run_scene(&host, &scratch, whole, NULL, 0, &info), TDL_STATUS_OK);
    CHECK_SAME_RUNS(folder, whole);
    refuse_resume(scratch_path(&scratch, "nowhere"), TDL_STATUS_IO);
    refuse_resume(scratch_path(&scratch, "scene.yaml"), TDL_STATUS_IO);
    scratch_remove(&scratch);
}

// Files of two runs mixed: each whole by itself, together wrong.
TEST(mixed_folders_are_refused) {
    Scratch scratch = scratch_make();
    TdlHost host = tdl_host_default();
    write_run_scene(&scratch);
    char a[600], b[600];
    snprintf(a, sizeof a, "%s/a", scratch.path);
    snprintf(b, sizeof b, "%s/b", scratch.path);
    TdlRunInfo info;
    REQUIRE(run_scene(&host, &scratch, a, NULL, 57, &info) == TDL_STATUS_STOPPED);
    REQUIRE(run_scene(&host, &scratch, b, "rods.0.elements=7", 30, &info) == TDL_STATUS_STOPPED);
    const char* const names[] = {"scene.yaml", "checkpoint", "result.h5", "log.csv"};
    for (int i = 0; i < 4; ++i) {
        size_t size, other_size;
        char* own = scratch_read(in_folder(a, names[i]), &size);
        char* other = scratch_read(in_folder(b, names[i]), &other_size);
        scratch_write(in_folder(a, names[i]), other, other_size);
        refuse_resume(a, TDL_STATUS_BAD_INPUT);
        scratch_write(in_folder(a, names[i]), own, size);
        free(own);
        free(other);
    }
    CHECK_INT(resume(&host, a, &info), TDL_STATUS_OK);
    scratch_remove(&scratch);
}

// --- disks and memory that fail ------------------------------------------------------------------

// A limit on the size of files stands for a full disk. The run ends with one message and can be
// continued when there is room again.
TEST(full_disk_ends_cleanly_and_can_be_resumed) {
    Scratch scratch = scratch_make();
    write_run_scene(&scratch);
    char whole[600], folder[600];
    snprintf(whole, sizeof whole, "%s/whole", scratch.path);
    snprintf(folder, sizeof folder, "%s/full", scratch.path);
    TdlHost host = tdl_host_default();
    TdlRunInfo info;
    REQUIRE(run_scene(&host, &scratch, whole, "output.frame=0.001", 0, &info) == TDL_STATUS_OK);
    int made = 0, not_made = 0;
    // up to 300 kB go into the head and the first frame, then every 86th frame needs a new chunk
    for (rlim_t limit = 100; limit < 500000; limit += limit < 20000    ? 4000
                                                      : limit < 250000 ? 80000
                                                                       : 20000) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            signal(SIGXFSZ, SIG_IGN);
            setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit, limit});
            Heard heard;
            TdlHost listening = scratch_host(&heard);
            TdlStatus status =
                run_scene(&listening, &scratch, folder, "output.frame=0.001", 0, &info);
            bool right = status == TDL_STATUS_OK ? heard.count == 0 : heard.count == 1;
            // once the folder has its name, messages use that
            right = right && (info.steps < 0 || strstr(heard.last, ".part") == NULL);
            _exit(!right ? 99 : (int)status);
        }
        int code = command_wait(child);
        bool exists = access(folder, F_OK) == 0;
        CHECK(code == TDL_STATUS_IO || (code == TDL_STATUS_OK && exists));
        CHECK(access(in_folder(scratch.path, "full.part"), F_OK) != 0);
        ++*(exists ? &made : &not_made);
        if (exists) {
            CHECK(same_frames(folder, whole, false) >= 1);
            CHECK_INT(resume(&host, folder, &info), TDL_STATUS_OK);
            CHECK_SAME_RUNS(folder, whole);
        }
        scratch_remove_tree(folder);
    }
    printf("  %d ended before there was a folder, %d after\n", not_made, made);
    CHECK(made > 3 && not_made > 3);
    scratch_remove(&scratch);
}

typedef struct Failing {
    long left, live; // allocations until the one that fails; blocks not yet freed
} Failing;

static void* failing_resize(void* user, void* block, size_t old_size, size_t new_size) {
    Failing* failing = user;
    (void)old_size;
    if (new_size == 0) {
        failing->live -= block != NULL;
        free(block);
        return NULL;
    }
    if (failing->left-- == 0) {
        return NULL;
    }
    failing->live += block == NULL;
    return realloc(block, new_size);
}

// Each allocation fails in turn: always an honest status, no memory lost, and no folder unless it
// can be resumed.
TEST(each_allocation_may_fail) {
    Scratch scratch = scratch_make();
    write_run_scene(&scratch);
    char folder[600];
    snprintf(folder, sizeof folder, "%s/run", scratch.path);
    TdlHost sound = tdl_host_default();
    long stride = 1, tried = 0;
    for (long fail_at = 0;; fail_at += stride) {
        Failing failing = {.left = fail_at};
        TdlHost host = tdl_host_default();
        host.mem = (TdlAllocator){failing_resize, &failing};
        TdlRunInfo info;
        TdlStatus status = run_scene(&host, &scratch, folder, "time.end=0.003", 0, &info);
        CHECK_INT(failing.live, 0);
        if (failing.left >= 0) {
            CHECK_INT(status, TDL_STATUS_OK);
            break;
        }
        CHECK_INT(status, TDL_STATUS_NO_MEMORY);
        if (access(folder, F_OK) == 0) {
            CHECK_INT(resume(&sound, folder, &info), TDL_STATUS_OK);
            scratch_remove_tree(folder);
        }
        ++tried;
        stride = fail_at > 200 ? 7 : 1; // the many small blocks of the scene need not all fail
    }
    printf("  %ld failures tried\n", tried);
    CHECK(tried > 20);
    scratch_remove(&scratch);
}

// --- the command ---------------------------------------------------------------------------------

TEST(command_refuses_wrong_use_and_names_the_way) {
    Scratch scratch = scratch_make();
    write_run_scene(&scratch);
    CHECK_INT(COMMAND(&scratch, "run"), 2);
    CHECK(command_wrote(&scratch, "stderr", "missing SCENE"));
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "--resume", "x"), 2);
    CHECK_INT(COMMAND(&scratch, "run", "--resume", "x", "-o", "y"), 2);
    CHECK_INT(COMMAND(&scratch, "run", "--resume", "x", "--set", "time.end=1"), 2);
    CHECK_INT(COMMAND(&scratch, "run", "--resume", "x"), 3);
    CHECK_INT(COMMAND(&scratch, "run", "absent.yaml"), 3);
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "--set", "time.stop=1"), 3);
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "-o", "scene.yaml"), 2);
    CHECK_INT(COMMAND(&scratch, "info"), 2);
    CHECK_INT(COMMAND(&scratch, "info", "absent"), 3);
    CHECK_INT(COMMAND(&scratch, "info", "scene.yaml"), 3);
    CHECK_INT(count_entries(scratch.path), 3); // the scene, stdout and stderr
    scratch_remove(&scratch);
}

TEST(command_runs_into_the_default_folder_and_tells) {
    Scratch scratch = scratch_make();
    write_run_scene(&scratch);
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "--set", "time.end=0.02", "--json"), 0);
    CHECK(command_wrote(&scratch, "stdout", "\"finished\": true"));
    CHECK(command_wrote(&scratch, "stderr", "tendril info out/scene"));
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml"), 2);
    CHECK(command_wrote(&scratch, "stderr", "--resume out/scene"));
    CHECK_INT(COMMAND(&scratch, "run", "--resume", "out/scene"), 0);
    CHECK(command_wrote(&scratch, "stderr", "finished already"));
    CHECK_INT(COMMAND(&scratch, "info", "out/scene"), 0);
    CHECK(command_wrote(&scratch, "stdout", "finished, step 20 of 20"));
    CHECK_INT(COMMAND(&scratch, "info", "out/scene/result.h5", "--json"), 0);
    CHECK(command_wrote(&scratch, "stdout", "\"state\": \"finished\""));
    CHECK_INT(
        COMMAND(&scratch, "run", "scene.yaml", "-q", "-o", "quiet/one/", "--set", "time.end=0.02"),
        0);
    char* said = scratch_read(scratch_path(&scratch, "stderr"), NULL);
    CHECK_TEXT(said, "");
    free(said);
    scratch_remove(&scratch);
}
