// result.h5: round trip, reading while it is written, and files that are not what they seem.
#include "io/result.h"

#include "base/rng.h"
#include "scratch.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

// HDF5 loses some of its own memory on damaged files, where it keeps no handle to it. Handles of
// ours are counted instead (no_handles_left).
__attribute__((visibility("default"))) const char* __lsan_default_suppressions(void);
const char* __lsan_default_suppressions(void) {
    return "leak:libhdf5";
}

static bool no_handles_left(void) {
    return H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) == 0;
}

static const ResultRod RODS[2] = {
    {"super-helix", 3, 13, 9, 0.3, {5.0e-5, 4.0e-5}, 1.0e-5},
    {"super-helix", 2, 9, 6, 0.2, {1.0e-4, 1.0e-4}, 2.0e-5},
};
static const ResultCollider COLLIDERS[1] = {{TDL_SHAPE_SPHERE, 0.1, 0.0}};
static const ResultBody BODIES[2] = {{TDL_RIGID_BOX}, {TDL_RIGID_CURVES}};
#define SELF                                                                                       \
    {                                                                                              \
        {0.0, 0.0, 0.0}, {                                                                         \
            {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {                                                    \
                0.0, 0.0, 1.0                                                                      \
            }                                                                                      \
        }                                                                                          \
    }
static const TdlVec3 CORNERS[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.1, 0.2, 0.3}};
static const int TRIANGLES[6] = {0, 1, 2, 2, 1, 3};
static const TdlResultShape SHAPES[5] = {
    {"sphere", 0, {0.1, 0.0, 0.0}, SELF, {0}},
    {"box", 1, {0.1, 0.2, 0.3}, SELF, {0}},
    {"capsule", 2, {0.01, 0.5, 0.0}, SELF, {0}},
    {"capsule",
     2,
     {0.01, 0.25, 0.0},
     {{1.0, 2.0, 3.0}, {{0.0, 1.0, 0.0}, {-1.0, 0.0, 0.0}, {0.0, 0.0, 1.0}}},
     {0}},
    {"mesh", 1, {0.001, 0.0, 0.0}, SELF, {CORNERS, 4, TRIANGLES, 2}},
};
static const TdlResultObserver OBSERVERS[2] = {{"force_ball", "force", "N"},
                                               {"point_of_a_long_name", "point", "m"}};

static const TdlResultSurface SURFACES[2] = {{0, 0.002, 0, 4, TRIANGLES, 2},
                                             {-1, 0.0, 4, 3, TRIANGLES, 1}};

static ResultDef sample_def(void) {
    return (ResultDef){.title = "two rods \xc3\xa0 la \"carte\"",
                       .step = 1.0e-3,
                       .step_total = 990,
                       .samples = 4,
                       .rod_count = 2,
                       .collider_count = 1,
                       .body_count = 2,
                       .shape_count = 5,
                       .rods = RODS,
                       .colliders = COLLIDERS,
                       .bodies = BODIES,
                       .shapes = SHAPES,
                       .observer_count = 2,
                       .observers = OBSERVERS,
                       .surface_count = 2,
                       .surfaces = SURFACES};
}

static TdlVec3 random_vector(Rng* rng) {
    return (TdlVec3){(float)rng_normal(rng), (float)rng_normal(rng), (float)rng_normal(rng)};
}

// Contacts of a frame: sometimes none, sometimes more than a chunk of rows.
static void fill_contacts(ResultFrame* frame, Rng* rng, long index) {
    TdlHost host = tdl_host_default();
    int count = index % 3 == 0 ? 0 : index % 200 == 40 ? 3000 : (int)(index % 7);
    if (result_frame_reserve(&host, frame, count) != TDL_STATUS_OK) {
        abort();
    }
    if (count > 0) {
        memset(frame->contacts, 0, (size_t)count * sizeof *frame->contacts); // padding too
    }
    for (int i = 0; i < count; ++i) {
        TdlContactForce* c = &frame->contacts[i];
        for (int k = 0; k < 2; ++k) {
            c->kind[k] = (TdlBodyKind)rng_below(rng, 3);
            c->index[k] = (int)rng_below(rng, 1000);
            c->element[k] = (int)rng_below(rng, 100);
            c->s[k] = (float)rng_normal(rng);
        }
        c->point = random_vector(rng);
        c->normal = random_vector(rng);
        c->force = (TdlVec3){rng_normal(rng), rng_normal(rng), rng_normal(rng)};
        c->gap = rng_normal(rng);
        c->mu = 0.25;
        c->sliding = rng_below(rng, 2) == 1;
    }
    frame->contact_count = count;
}

// Frame `index`, different in every number.
static void fill_frame(ResultFrame* frame, ResultCounts counts, long index) {
    Rng rng = rng_seed((uint64_t)index);
    frame->time = 0.01 * (double)index;
    frame->step = 10 * index;
    for (int i = 0; i < 3; ++i) {
        frame->energy[i] = rng_normal(&rng);
    }
    for (int i = 0; i < 3 * counts.points; ++i) {
        frame->points[i] = (float)rng_normal(&rng);
    }
    for (int i = 0; i < counts.dofs; ++i) {
        frame->q[i] = rng_normal(&rng);
        frame->v[i] = rng_normal(&rng);
    }
    for (int i = 0; i < 12 * counts.colliders; ++i) {
        frame->poses[i] = rng_normal(&rng);
    }
    for (int i = 0; i < 12 * counts.bodies; ++i) {
        frame->body_poses[i] = rng_normal(&rng);
    }
    for (int i = 0; i < 3 * counts.observers; ++i) {
        frame->observed[i] = rng_normal(&rng);
    }
    for (int i = 0; i < 3 * counts.surface_points; ++i) {
        frame->surface_points[i] = (float)rng_normal(&rng);
    }
    fill_contacts(frame, &rng, index);
}

// The reader sets every field, so no padding is compared.
static bool same_contacts(const ResultFrame* a, const ResultFrame* b) {
    bool same = a->contact_count == b->contact_count;
    for (int i = 0; same && i < a->contact_count; ++i) {
        const TdlContactForce *x = &a->contacts[i], *y = &b->contacts[i];
        same = memcmp(x->kind, y->kind, sizeof x->kind) == 0 &&
               memcmp(x->index, y->index, sizeof x->index) == 0 &&
               memcmp(x->element, y->element, sizeof x->element) == 0 &&
               memcmp(x->s, y->s, sizeof x->s) == 0 &&
               memcmp(&x->point, &y->point, sizeof x->point) == 0 &&
               memcmp(&x->normal, &y->normal, sizeof x->normal) == 0 &&
               memcmp(&x->force, &y->force, sizeof x->force) == 0 && x->gap == y->gap &&
               x->mu == y->mu && x->sliding == y->sliding;
    }
    return same;
}

static bool same_frame(const ResultFrame* a, const ResultFrame* b, ResultCounts counts) {
    return a->time == b->time && a->step == b->step &&
           memcmp(a->energy, b->energy, sizeof a->energy) == 0 &&
           memcmp(a->points, b->points, 3 * (size_t)counts.points * sizeof(float)) == 0 &&
           memcmp(a->q, b->q, (size_t)counts.dofs * sizeof(double)) == 0 &&
           memcmp(a->v, b->v, (size_t)counts.dofs * sizeof(double)) == 0 &&
           memcmp(a->poses, b->poses, 12 * (size_t)counts.colliders * sizeof(double)) == 0 &&
           memcmp(a->body_poses, b->body_poses, 12 * (size_t)counts.bodies * sizeof(double)) == 0 &&
           memcmp(a->observed, b->observed, 3 * (size_t)counts.observers * sizeof(double)) == 0 &&
           memcmp(a->surface_points, b->surface_points,
                  3 * (size_t)counts.surface_points * sizeof(float)) == 0 &&
           same_contacts(a, b);
}

// Writes frames [0, count); live from frame `live_from` on. Leaves the writer open when asked.
static bool write_sample(const TdlHost* host, const char* path, const ResultDef* def, long count,
                         long live_from, ResultWriter** keep) {
    ResultWriter* writer;
    if (result_writer_create(host, path, def, &writer) != TDL_STATUS_OK) {
        return false;
    }
    ResultCounts counts = result_writer_counts(writer);
    ResultFrame frame;
    bool good = result_frame_create(host, counts, &frame) == TDL_STATUS_OK;
    for (long i = 0; good && i < count; ++i) {
        good = i != live_from || result_writer_go_live(writer) == TDL_STATUS_OK;
        fill_frame(&frame, counts, i);
        good = good && result_writer_append(writer, &frame) == TDL_STATUS_OK;
    }
    result_frame_destroy(host, &frame);
    if (keep != NULL) {
        *keep = writer;
        return good;
    }
    return result_writer_close(writer) == TDL_STATUS_OK && good;
}

// The number of frames in the file if all of them are the sample's, or -1.
static long count_good_frames(const TdlHost* host, const char* path) {
    TdlResult* result;
    if (tdl_result_open(host, path, &result) != TDL_STATUS_OK) {
        return -1;
    }
    ResultCounts counts = result_counts(result);
    ResultFrame frame, expected;
    bool good = result_frame_create(host, counts, &frame) == TDL_STATUS_OK &&
                result_frame_create(host, counts, &expected) == TDL_STATUS_OK;
    long count = tdl_result_info(result).frame_count;
    for (long i = 0; good && i < count; ++i) {
        fill_frame(&expected, counts, i);
        good = result_read(result, i, &frame) == TDL_STATUS_OK &&
               same_frame(&frame, &expected, counts);
    }
    result_frame_destroy(host, &frame);
    result_frame_destroy(host, &expected);
    tdl_result_close(result);
    return good ? count : -1;
}

TEST(round_trip_keeps_every_bit) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    const char* path = scratch_path(&scratch, "result.h5");
    ResultDef def = sample_def();
    // more frames than one chunk of any set holds
    REQUIRE(write_sample(&host, path, &def, 1100, 500, NULL));
    CHECK_INT(count_good_frames(&host, path), 1100);

    TdlResult* result;
    REQUIRE(tdl_result_open(&host, scratch.path, &result) == TDL_STATUS_OK);
    TdlResultInfo info = tdl_result_info(result);
    CHECK_TEXT(info.title, def.title);
    CHECK_TEXT(info.version, tdl_version());
    CHECK_INT(info.rod_count, 2);
    CHECK_INT(info.collider_count, 1);
    CHECK_INT(info.point_count, 22);
    CHECK_INT(info.dof_count, 15);
    CHECK_NEAR(info.last_time, 10.99, 1.0e-12); // a few roundings
    CHECK(!info.finished);                      // the last frame is not that of step_total
    const int* start = tdl_result_point_start(result);
    CHECK_INT(start[0], 0);
    CHECK_INT(start[1], 13);
    CHECK_INT(start[2], 22);

    // the tables
    TdlResultRod rod = tdl_result_rod(result, 1);
    CHECK_TEXT(rod.model, "super-helix");
    CHECK_INT(rod.element_count, 2);
    CHECK(rod.length == 0.2 && rod.radius[0] == 1.0e-4 && rod.mass == 2.0e-5);
    CHECK(tdl_result_rod(result, 0).radius[1] == 4.0e-5);
    CHECK_INT(info.body_count, 2);
    CHECK_INT(info.shape_count, 5);
    for (int i = 0; i < 5; ++i) {
        TdlResultShape shape = tdl_result_shape(result, i);
        CHECK_TEXT(shape.shape, SHAPES[i].shape);
        CHECK_INT(shape.body, SHAPES[i].body);
        CHECK(memcmp(shape.size, SHAPES[i].size, sizeof shape.size) == 0);
        CHECK(memcmp(&shape.pose, &SHAPES[i].pose, sizeof shape.pose) == 0);
        CHECK_INT(shape.mesh.triangle_count, SHAPES[i].mesh.triangle_count);
    }
    TdlMesh mesh = tdl_result_shape(result, 4).mesh;
    REQUIRE(mesh.vertex_count == 4 && mesh.triangle_count == 2);
    CHECK(memcmp(mesh.vertices, CORNERS, sizeof CORNERS) == 0);
    CHECK(memcmp(mesh.triangles, TRIANGLES, sizeof TRIANGLES) == 0);
    REQUIRE(info.observer_count == 2);
    CHECK_TEXT(tdl_result_observer(result, 1).name, "point_of_a_long_name");
    CHECK_TEXT(tdl_result_observer(result, 1).quantity, "point");
    CHECK_TEXT(tdl_result_observer(result, 0).unit, "N");

    REQUIRE(info.surface_count == 2);
    CHECK_INT(info.surface_point_count, 7);
    for (int i = 0; i < 2; ++i) {
        TdlResultSurface surface = tdl_result_surface(result, i);
        CHECK_INT(surface.body, SURFACES[i].body);
        CHECK(surface.radius == SURFACES[i].radius);
        CHECK_INT(surface.first_point, SURFACES[i].first_point);
        CHECK_INT(surface.point_count, SURFACES[i].point_count);
        REQUIRE(surface.triangle_count == SURFACES[i].triangle_count);
        CHECK(memcmp(surface.triangles, TRIANGLES,
                     3 * (size_t)surface.triangle_count * sizeof(int)) == 0);
    }

    // the public reader: the same points as doubles
    double points[66], time = -1.0;
    CHECK_INT(tdl_result_read_frame(result, 7, &time, points), TDL_STATUS_OK);
    CHECK_NEAR(time, 0.07, 1.0e-15); // one rounding
    ResultFrame frame;
    REQUIRE(result_frame_create(&host, result_counts(result), &frame) == TDL_STATUS_OK);
    fill_frame(&frame, result_counts(result), 7);
    for (int i = 0; i < 66; ++i) {
        CHECK(points[i] == (double)frame.points[i]);
    }
    TdlPose poses[3];
    CHECK_INT(tdl_result_read_poses(result, 7, poses), TDL_STATUS_OK);
    CHECK(poses[0].position.x == frame.poses[0] && poses[0].position.z == frame.poses[2]);
    CHECK(poses[0].rotation.cx.y == frame.poses[4] && poses[0].rotation.cz.z == frame.poses[11]);
    CHECK(poses[2].position.x == frame.body_poses[12]);
    TdlVec3 observed[2];
    CHECK_INT(tdl_result_read_observed(result, 7, observed), TDL_STATUS_OK);
    CHECK(memcmp(observed, frame.observed, sizeof observed) == 0);
    TdlVec3 vertices[7];
    CHECK_INT(tdl_result_read_surfaces(result, 7, vertices), TDL_STATUS_OK);
    for (int i = 0; i < 7; ++i) {
        CHECK(vertices[i].x == (double)frame.surface_points[3 * i]);
        CHECK(vertices[i].z == (double)frame.surface_points[3 * i + 2]);
    }
    ResultFrame seen = {0};
    const TdlContactForce* contacts;
    fill_frame(&frame, result_counts(result), 40); // with many contacts
    CHECK_INT(tdl_result_read_contacts(result, 40, &contacts, &seen.contact_count), TDL_STATUS_OK);
    seen.contacts = (TdlContactForce*)(uintptr_t)contacts;
    CHECK_INT(seen.contact_count, frame.contact_count);
    CHECK(same_contacts(&seen, &frame));
    CHECK_INT(tdl_result_read_contacts(result, 0, &contacts, &seen.contact_count), TDL_STATUS_OK);
    CHECK_INT(seen.contact_count, 0);
    result_frame_destroy(&host, &frame);
    CHECK_INT(heard.count, 0);
    CHECK_INT(tdl_result_read_frame(result, 1100, &time, NULL), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_result_read_frame(result, -1, &time, NULL), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_result_read_poses(result, 1100, poses), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_result_read_contacts(result, 1100, &contacts, &seen.contact_count),
              TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_result_read_surfaces(result, 1100, vertices), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(heard.count, 5);
    tdl_result_close(result);
    CHECK(no_handles_left());
    scratch_remove(&scratch);
}

TEST(empty_worlds_and_frames_of_many_chunks) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    const char* path = scratch_path(&scratch, "result.h5");
    ResultDef empty = {.title = NULL, .step = 1.0, .step_total = 20, .samples = 1};
    REQUIRE(write_sample(&host, path, &empty, 3, 0, NULL));
    CHECK_INT(count_good_frames(&host, path), 3);

    // 250000 points are 3 MB a frame, the odd number makes the last chunk a part
    ResultRod large = RODS[0];
    large.point_count = 250001;
    ResultDef def = sample_def();
    def.rod_count = 1;
    def.rods = &large;
    REQUIRE(write_sample(&host, path, &def, 3, 1, NULL));
    CHECK_INT(count_good_frames(&host, path), 3);
    CHECK_INT(heard.count, 0);

    large.point_count = 2000000000;
    CHECK(!write_sample(&host, path, &def, 1, 1, NULL));
    CHECK_INT(heard.count, 1);
    scratch_remove(&scratch);
}

TEST(long_titles_are_cut_between_characters) {
    Scratch scratch = scratch_make();
    TdlHost host = tdl_host_default();
    char title[600];
    for (int i = 0; i < 299; ++i) {
        memcpy(title + 2 * i + 1, "\xc3\xa9", 2);
    }
    title[0] = 'x';
    title[599] = '\0';
    ResultDef def = sample_def();
    def.title = title;
    REQUIRE(write_sample(&host, scratch_path(&scratch, "result.h5"), &def, 1, 0, NULL));
    TdlResult* result;
    REQUIRE(tdl_result_open(&host, scratch.path, &result) == TDL_STATUS_OK);
    CHECK_INT(strlen(tdl_result_info(result).title), 255);
    tdl_result_close(result);
    def.title = title + 1; // now a character straddles the limit
    title[599] = '\0';
    REQUIRE(write_sample(&host, scratch_path(&scratch, "result.h5"), &def, 1, 0, NULL));
    REQUIRE(tdl_result_open(&host, scratch.path, &result) == TDL_STATUS_OK);
    CHECK_INT(strlen(tdl_result_info(result).title), 254);
    tdl_result_close(result);
    scratch_remove(&scratch);
}

// Another process reads whatever is there while this one writes; frames never disappear. It is
// forked before anything is written: HDF5 would hand a later child the parent's open file.
TEST(can_be_read_while_it_is_written) {
    Scratch scratch = scratch_make();
    TdlHost host = tdl_host_default();
    const char* path = scratch_path(&scratch, "result.h5");
    const char* building = scratch_path(&scratch, "result.h5.tmp");
    ResultDef def = sample_def();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        while (access(path, F_OK) != 0) {
            usleep(100);
        }
        long last = 0, looks = 0;
        while (last < 300) {
            long count = count_good_frames(&host, path);
            if (count < last || count == 0) {
                printf("  %ld good frames after %ld\n", count, last);
                fflush(stdout);
                _exit(1);
            }
            last = count;
            ++looks;
        }
        printf("  %ld looks\n", looks);
        fflush(stdout);
        _exit(looks < 5);
    }
    ResultWriter* writer;
    REQUIRE(write_sample(&host, building, &def, 1, 0, &writer));
    REQUIRE(rename(building, path) == 0);
    ResultCounts counts = result_writer_counts(writer);
    ResultFrame frame;
    REQUIRE(result_frame_create(&host, counts, &frame) == TDL_STATUS_OK);
    for (long i = 1; i < 300; ++i) {
        fill_frame(&frame, counts, i);
        CHECK_INT(result_writer_append(writer, &frame), TDL_STATUS_OK);
        usleep(500);
    }
    result_frame_destroy(&host, &frame);
    int outcome = -1;
    waitpid(child, &outcome, 0);
    CHECK_INT(outcome, 0);
    CHECK_INT(result_writer_close(writer), TDL_STATUS_OK);
    CHECK_INT(count_good_frames(&host, path), 300);
    scratch_remove(&scratch);
}

// The writer is killed at random moments, also within a frame: whole frames stay.
TEST(whole_frames_survive_a_kill) {
    Scratch scratch = scratch_make();
    TdlHost host = tdl_host_default();
    const char* path = scratch_path(&scratch, "result.h5");
    ResultDef def = sample_def();
    Rng rng = rng_seed(20);
    fflush(stdout);
    for (int round = 0; round < 40; ++round) {
        int told[2];
        REQUIRE(pipe(told) == 0);
        pid_t child = fork();
        if (child == 0) {
            ResultWriter* writer;
            bool good = write_sample(&host, path, &def, 1, 0, &writer);
            ResultCounts counts = result_writer_counts(writer);
            ResultFrame frame;
            good = good && result_frame_create(&host, counts, &frame) == TDL_STATUS_OK;
            for (int i = 1; good && i < 100000; ++i) {
                good = write(told[1], &i, sizeof i) == sizeof i; // i frames are whole
                fill_frame(&frame, counts, i);
                good = good && result_writer_append(writer, &frame) == TDL_STATUS_OK;
            }
            _exit(1);
        }
        close(told[1]);
        int whole = 0, last = 0;
        REQUIRE(read(told[0], &last, sizeof last) == sizeof last);
        usleep((useconds_t)rng_below(&rng, 15000));
        kill(child, SIGKILL);
        int outcome;
        waitpid(child, &outcome, 0);
        CHECK(WIFSIGNALED(outcome));
        while (read(told[0], &whole, sizeof whole) == sizeof whole) {
            last = whole;
        }
        close(told[0]);
        long count = count_good_frames(&host, path);
        if (count < last || count > last + 1) {
            FAIL("round %d: %ld good frames, the writer had told %d", round, count, last);
        }
    }
    scratch_remove(&scratch);
}

TEST(refresh_sees_new_frames_and_replaced_files) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    const char* path = scratch_path(&scratch, "result.h5");
    ResultDef def = sample_def();
    REQUIRE(write_sample(&host, path, &def, 4, 0, NULL));
    TdlResult* result;
    REQUIRE(tdl_result_open(&host, path, &result) == TDL_STATUS_OK);
    const char* other = scratch_path(&scratch, "other.h5");
    REQUIRE(write_sample(&host, other, &def, 6, 0, NULL));
    REQUIRE(rename(other, path) == 0);
    CHECK_INT(tdl_result_info(result).frame_count, 4);
    CHECK_INT(tdl_result_refresh(result), TDL_STATUS_OK);
    CHECK_INT(tdl_result_info(result).frame_count, 6);
    unlink(path);
    CHECK_INT(tdl_result_refresh(result), TDL_STATUS_IO);
    CHECK_INT(tdl_result_info(result).frame_count, 6);
    CHECK_INT(heard.count, 1);
    tdl_result_close(result);
    scratch_remove(&scratch);
}

// --- hostile files -------------------------------------------------------------------------------

// Opens and reads everything. True when it was refused with one message that names the file;
// false when all frames are the sample's. Anything else fails the test.
static bool is_refused(const char* path) {
    Heard heard;
    TdlHost host = scratch_host(&heard);
    long count = count_good_frames(&host, path);
    if (count >= 0) {
        CHECK_INT(heard.count, 0);
        return false;
    }
    CHECK_INT(heard.count, 1);
    CHECK(strstr(heard.last, path) != NULL);
    CHECK(no_handles_left());
    return true;
}

// Files closed properly and files left by a kill, cut at many places: refused, or, where only
// padding is lost, read right. Never zeros for data.
TEST(truncated_files_are_refused_or_read_right) {
    Scratch scratch = scratch_make();
    TdlHost host = tdl_host_default();
    const char* path = scratch_path(&scratch, "whole.h5");
    const char* cut_path = scratch_path(&scratch, "cut.h5");
    ResultDef def = sample_def();
    for (int killed = 0; killed < 2; ++killed) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            ResultWriter* writer;
            bool good = write_sample(&host, path, &def, 5, 1, &writer);
            if (!killed) {
                result_writer_close(writer);
            }
            _exit(good ? 0 : 1);
        }
        int outcome = -1;
        waitpid(child, &outcome, 0);
        REQUIRE(outcome == 0);
        CHECK_INT(count_good_frames(&host, path), 5);
        size_t size;
        char* data = scratch_read(path, &size);
        int refused = 0, read = 0;
        Rng rng = rng_seed(7);
        for (size_t cut = 0; cut < size;) {
            scratch_write(cut_path, data, cut);
            ++*(is_refused(cut_path) ? &refused : &read);
            // every byte of the superblock, then steps of up to 8000 bytes
            cut += cut < 100 ? 1 : (size_t)(1 + rng_below(&rng, 8000));
        }
        printf("  %zu bytes: %d cuts refused, %d read right\n", size, refused, read);
        CHECK(refused > 100);
        free(data);
    }
    scratch_remove(&scratch);
}

// Single bits turned, everywhere in the metadata: refused, or harmless. Data has no checksum, so
// only the way it ends is checked there.
TEST(damaged_files_do_not_crash) {
    Scratch scratch = scratch_make();
    TdlHost host = tdl_host_default();
    const char* path = scratch_path(&scratch, "damaged.h5");
    ResultDef def = sample_def();
    REQUIRE(write_sample(&host, path, &def, 3, 1, NULL));
    size_t size;
    char* data = scratch_read(path, &size);
    Rng rng = rng_seed(11);
    int refused = 0;
    for (int i = 0; i < 300; ++i) {
        // mostly near the front, where the head lies
        size_t at = (size_t)(rng_unit(&rng) * (double)(i % 4 == 0 ? size : size / 16));
        char bit = (char)(1 << rng_below(&rng, 8));
        data[at] = (char)(data[at] ^ bit);
        scratch_write(path, data, size);
        data[at] = (char)(data[at] ^ bit);
        Heard heard;
        TdlHost listening = scratch_host(&heard);
        TdlResult* result;
        TdlStatus status = tdl_result_open(&listening, path, &result);
        refused += status != TDL_STATUS_OK;
        CHECK_INT(heard.count, status != TDL_STATUS_OK);
        if (status == TDL_STATUS_OK) {
            CHECK(tdl_result_info(result).frame_count <= 3);
            tdl_result_close(result);
        }
    }
    printf("  %d of 300 refused\n", refused);
    CHECK(refused > 10);
    free(data);
    scratch_remove(&scratch);
}

TEST(files_of_others_are_refused) {
    Scratch scratch = scratch_make();
    const char* path = scratch_path(&scratch, "x.h5");
    // nothing, text, zeros, HDF5's signature and nothing behind
    static char zeros[5000];
    scratch_write(path, "", 0);
    CHECK(is_refused(path));
    scratch_write(path, "title: not a result\n", 20);
    CHECK(is_refused(path));
    scratch_write(path, zeros, sizeof zeros);
    CHECK(is_refused(path));
    memcpy(zeros, "\x89HDF\r\n\x1a\n", 8);
    scratch_write(path, zeros, sizeof zeros);
    CHECK(is_refused(path));
    // HDF5 of another program, old format and new
    for (int latest = 0; latest < 2; ++latest) {
        hid_t access = H5Pcreate(H5P_FILE_ACCESS);
        if (latest) {
            H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
        }
        hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
        H5Gclose(H5Gcreate2(file, "fclib_local", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        H5Fclose(file);
        H5Pclose(access);
        CHECK(is_refused(path));
    }
    // a folder without a result, nothing at all, a path too long
    Heard heard;
    TdlHost host = scratch_host(&heard);
    TdlResult* result;
    unlink(path);
    CHECK_INT(tdl_result_open(&host, scratch.path, &result), TDL_STATUS_IO);
    CHECK_INT(tdl_result_open(&host, path, &result), TDL_STATUS_IO);
    static char name[10000];
    memset(name, 'a', sizeof name - 1);
    CHECK_INT(tdl_result_open(&host, name, &result), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_result_open(&host, "", &result), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(heard.count, 4);
    scratch_remove(&scratch);
}

static hid_t edit(const char* path) {
    return H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
}

static void replace_set(hid_t file, const char* name, hid_t type, int rank, const hsize_t* dims,
                        const hsize_t* chunk) {
    H5Ldelete(file, name, H5P_DEFAULT);
    const hsize_t most[4] = {H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED};
    hid_t space = H5Screate_simple(rank, dims, chunk == NULL ? NULL : most);
    hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    if (chunk != NULL) {
        H5Pset_chunk(plan, rank, chunk);
    }
    H5Dclose(H5Dcreate2(file, name, type, space, H5P_DEFAULT, plan, H5P_DEFAULT));
    H5Pclose(plan);
    H5Sclose(space);
}

static void set_int_attribute(hid_t file, const char* name, int value) {
    H5Adelete(file, name);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_INT, &value);
    H5Aclose(attribute);
    H5Sclose(space);
}

static void write_numbers(hid_t file, const char* name, const double* numbers) {
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
    H5Dclose(set);
}

// One edit each; all must be refused.
static void spoil(hid_t file, int kind) {
    const hsize_t one[3] = {1, 1, 1}, huge[3] = {(hsize_t)1 << 60, 22, 3};
    const hsize_t huge_row[1] = {(hsize_t)1 << 40}, few[2] = {3, 15}, tiny[3] = {1, 1, 1};
    const hsize_t wide[3] = {3, (hsize_t)1 << 40, 3}, times[1] = {3};
    switch (kind) {
    case 0:
        set_int_attribute(file, "format_version", RESULT_VERSION + 1);
        break;
    case 1:
        set_int_attribute(file, "format", 3);
        break;
    case 2:
        set_int_attribute(file, "title", 3);
        break;
    case 3:
        H5Adelete(file, "step_total");
        break;
    case 4:
        H5Ldelete(file, "rods", H5P_DEFAULT);
        break;
    case 5:
        H5Ldelete(file, "frames/q", H5P_DEFAULT);
        break;
    case 6: // wrong type
        replace_set(file, "frames/q", H5T_STD_I32LE, 2, few, few);
        break;
    case 7: // wrong rank
        replace_set(file, "frames/points", H5T_IEEE_F32LE, 1, times, times);
        break;
    case 8: // shorter than the time
        replace_set(file, "frames/points", H5T_IEEE_F32LE, 3, (hsize_t[]){1, 22, 3}, one);
        break;
    case 9: // absurdly many frames without data
        replace_set(file, "frames/time", H5T_IEEE_F64LE, 1, huge, one);
        break;
    case 10: // absurdly wide
        replace_set(file, "frames/points", H5T_IEEE_F32LE, 3, wide, tiny);
        break;
    case 11: // an absurd number of rods
        replace_set(file, "rods/point_start", H5T_STD_I32LE, 1, huge_row, NULL);
        break;
    case 12: // as many rows as frames, but never written
        replace_set(file, "frames/time", H5T_IEEE_F64LE, 1, times, times);
        break;
    case 13: // a link out of the file
        H5Ldelete(file, "frames/q", H5P_DEFAULT);
        H5Lcreate_external("/etc/passwd", "/q", file, "frames/q", H5P_DEFAULT, H5P_DEFAULT);
        break;
    case 14: // a link in a circle
        H5Ldelete(file, "frames", H5P_DEFAULT);
        H5Lcreate_soft("/frames", file, "frames", H5P_DEFAULT, H5P_DEFAULT);
        break;
    case 15: // a group where a set should be
        H5Ldelete(file, "frames/time", H5P_DEFAULT);
        H5Gclose(H5Gcreate2(file, "frames/time", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        break;
    case 16:
        H5Ldelete(file, "contacts/force", H5P_DEFAULT);
        break;
    case 17: // another type
        replace_set(file, "contacts/gap", H5T_STD_I32LE, 1, times, times);
        break;
    case 18: // fewer contacts than the frames count
        replace_set(file, "contacts/gap", H5T_IEEE_F64LE, 1, (hsize_t[]){1}, times);
        break;
    case 19: // never written
        replace_set(file, "contacts/gap", H5T_IEEE_F64LE, 1, times, times);
        break;
    case 20:
        write_numbers(file, "frames/contact_end", (double[]){0, 1, 0});
        break;
    case 21:
        write_numbers(file, "frames/contact_end", (double[]){-1, 1, 3});
        break;
    case 22: // a kind that there is not
        write_numbers(file, "contacts/kind", (double[]){7, 0, 0, 0, 0, 0});
        break;
    case 23:
        write_numbers(file, "shapes/body", (double[]){0, 1, 2, 3, 0});
        break;
    case 24:
        write_numbers(file, "rods/length", (double[]){1, NAN});
        break;
    case 25:
        H5Ldelete(file, "shapes/pose", H5P_DEFAULT);
        break;
    case 26:
        H5Ldelete(file, "meshes", H5P_DEFAULT);
        break;
    case 27: // a vertex that is not there
        write_numbers(file, "meshes/triangles", (double[]){0, 1, 2, 2, 1, 4});
        break;
    case 28:
        write_numbers(file, "meshes/triangles", (double[]){0, -1, 2, 2, 1, 3});
        break;
    case 29:
        write_numbers(file, "meshes/triangle_start", (double[]){0, 3});
        break;
    case 30:
        write_numbers(file, "meshes/vertices", (double[12]){0, NAN});
        break;
    case 31: // more meshes than shapes of that kind
        replace_set(file, "meshes/vertex_start", H5T_STD_I32LE, 1, times, NULL);
        break;
    case 32:
        H5Ldelete(file, "observers", H5P_DEFAULT);
        replace_set(file, "observers", H5T_STD_I32LE, 1, times, NULL);
        break;
    case 33:
        H5Ldelete(file, "frames/observed", H5P_DEFAULT);
        break;
    case 34:
        H5Ldelete(file, "frames/surface_points", H5P_DEFAULT);
        break;
    case 35: // fewer vertices than the table says
        replace_set(file, "frames/surface_points", H5T_IEEE_F32LE, 3, (hsize_t[]){3, 6, 3}, tiny);
        break;
    case 36: // never written
        replace_set(file, "frames/surface_points", H5T_IEEE_F32LE, 3, (hsize_t[]){3, 7, 3},
                    (hsize_t[]){3, 7, 3});
        break;
    case 37: // a vertex that is not there
        write_numbers(file, "surfaces/triangles", (double[]){0, 1, 2, 2, 1, 3, 0, 1, 3});
        break;
    case 38:
        write_numbers(file, "surfaces/triangles", (double[]){0, 1, 2, 2, 1, 3, 0, -1, 2});
        break;
    case 39:
        write_numbers(file, "surfaces/triangle_start", (double[]){0, 2, 4});
        break;
    case 40:
        write_numbers(file, "surfaces/point_start", (double[]){0, 8, 7});
        break;
    case 41: // a collider that there is not
        write_numbers(file, "surfaces/body", (double[]){1, -1});
        break;
    case 42:
        write_numbers(file, "surfaces/radius", (double[]){NAN, 0});
        break;
    case 43: // an absurd number of triangles
        write_numbers(file, "surfaces/triangle_start", (double[]){0, 2, 2000000000});
        break;
    case 44:
        replace_set(file, "surfaces/point_start", H5T_STD_I32LE, 1, huge_row, NULL);
        break;
    default:
        break;
    }
}

enum { SPOIL_COUNT = 45 };

// What version 1 did not have yet, taken away: the rest is read as ever.
TEST(version_1_is_still_read) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    const char* path = scratch_path(&scratch, "result.h5");
    ResultDef def = sample_def();
    def.body_count = def.observer_count = def.surface_count = 0;
    def.shape_count = 1;
    REQUIRE(write_sample(&host, path, &def, 5, 1, NULL));
    hid_t file = edit(path);
    const char* const gone[] = {"bodies", "shapes", "contacts", "frames/contact_end"};
    for (int i = 0; i < 4; ++i) {
        CHECK(H5Ldelete(file, gone[i], H5P_DEFAULT) >= 0);
    }
    set_int_attribute(file, "format_version", 1);
    H5Fclose(file);
    TdlResult* result;
    REQUIRE(tdl_result_open(&host, path, &result) == TDL_STATUS_OK);
    TdlResultInfo info = tdl_result_info(result);
    CHECK_INT(info.frame_count, 5);
    CHECK_INT(info.body_count, 0);
    CHECK_INT(info.shape_count, 1);
    CHECK_TEXT(tdl_result_shape(result, 0).shape, "sphere");
    CHECK(tdl_result_shape(result, 0).size[0] == 0.1);
    ResultFrame frame, expected;
    REQUIRE(result_frame_create(&host, result_counts(result), &frame) == TDL_STATUS_OK);
    REQUIRE(result_frame_create(&host, result_counts(result), &expected) == TDL_STATUS_OK);
    for (long i = 0; i < 5; ++i) {
        fill_frame(&expected, result_counts(result), i);
        expected.contact_count = 0;
        CHECK_INT(result_read(result, i, &frame), TDL_STATUS_OK);
        CHECK(same_frame(&frame, &expected, result_counts(result)));
    }
    result_frame_destroy(&host, &frame);
    result_frame_destroy(&host, &expected);
    tdl_result_close(result);
    CHECK_INT(heard.count, 0);
    CHECK(no_handles_left());
    scratch_remove(&scratch);
}

// A result without what `version` did not have yet, that says so, is read without a word.
static void check_version(int version, ResultDef def) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    const char* path = scratch_path(&scratch, "result.h5");
    def.surface_count = 0;
    REQUIRE(write_sample(&host, path, &def, 5, 1, NULL));
    hid_t file = edit(path);
    CHECK(H5Lexists(file, "surfaces", H5P_DEFAULT) == 0);
    CHECK(H5Lexists(file, "frames/surface_points", H5P_DEFAULT) == 0);
    set_int_attribute(file, "format_version", version);
    H5Fclose(file);
    CHECK_INT(count_good_frames(&host, path), 5);
    CHECK_INT(heard.count, 0);
    scratch_remove(&scratch);
}

TEST(versions_2_and_3_are_still_read) {
    check_version(3, sample_def());
    ResultDef def = sample_def();
    def.shape_count = 4;
    def.observer_count = 0;
    check_version(2, def);
}

TEST(spoiled_results_are_refused) {
    Scratch scratch = scratch_make();
    TdlHost host = tdl_host_default();
    const char* path = scratch_path(&scratch, "result.h5");
    ResultDef def = sample_def();
    for (int kind = 0; kind <= SPOIL_COUNT; ++kind) {
        REQUIRE(write_sample(&host, path, &def, 3, 1, NULL));
        Hdf5Quiet quiet = hdf5_quiet_begin();
        hid_t file = edit(path);
        REQUIRE(file >= 0);
        spoil(file, kind);
        H5Fclose(file);
        hdf5_quiet_end(quiet);
        if (is_refused(path) != (kind < SPOIL_COUNT)) {
            FAIL("spoiled in way %d: not as expected", kind);
        }
    }
    scratch_remove(&scratch);
}

// point_start that jumps about, or a time that is not a number
TEST(wrong_numbers_are_refused) {
    Scratch scratch = scratch_make();
    TdlHost host = tdl_host_default();
    const char* path = scratch_path(&scratch, "result.h5");
    ResultDef def = sample_def();
    const int wrong[3][3] = {{1, 13, 22}, {0, 23, 22}, {0, 13, -1}};
    for (int i = 0; i < 3; ++i) {
        REQUIRE(write_sample(&host, path, &def, 3, 1, NULL));
        hid_t file = edit(path), set = H5Dopen2(file, "rods/point_start", H5P_DEFAULT);
        H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, wrong[i]);
        H5Dclose(set);
        H5Fclose(file);
        CHECK(is_refused(path));
    }
    REQUIRE(write_sample(&host, path, &def, 3, 1, NULL));
    hid_t file = edit(path), set = H5Dopen2(file, "frames/time", H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, (double[]){0.0, 1.0, NAN});
    H5Dclose(set);
    H5Fclose(file);
    CHECK(is_refused(path));
    scratch_remove(&scratch);
}

// A disk that is full (a limit on the size of files): one message, and what was whole stays.
TEST(full_disk_is_told_once_and_loses_nothing) {
    Scratch scratch = scratch_make();
    const char* path = scratch_path(&scratch, "result.h5");
    ResultDef def = sample_def();
    fflush(stdout);
    for (rlim_t limit = 2000; limit < 600000; limit = limit * 3 / 2) {
        pid_t child = fork();
        if (child == 0) {
            signal(SIGXFSZ, SIG_IGN);
            setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit, limit});
            Heard heard;
            TdlHost host = scratch_host(&heard);
            bool good = write_sample(&host, path, &def, 2000, 1, NULL);
            _exit(!good && heard.count == 1 && strstr(heard.last, "File too large") != NULL ? 0
                                                                                            : 1);
        }
        int outcome = -1;
        waitpid(child, &outcome, 0);
        if (outcome != 0) {
            FAIL("limit %ld: the writer ended with %x", (long)limit, (unsigned)outcome);
        }
        Heard heard;
        TdlHost host = scratch_host(&heard);
        long count = count_good_frames(&host, path);
        printf("  limit %ld: %ld frames %s\n", (long)limit, count, heard.last);
        CHECK(limit < 400000 || count > 0); // five sets of 64 kB a chunk and the contacts
    }
    scratch_remove(&scratch);
}
