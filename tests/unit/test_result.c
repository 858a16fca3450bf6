// result.h5: round trip, and reading while it is written.
#include "ref/result_sample.h"

#include <signal.h>
#include <sys/wait.h>

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

    REQUIRE(info.joint_count == 2);
    CHECK_TEXT(tdl_result_joint(result, 0).kind, "hinge");
    CHECK_TEXT(tdl_result_joint(result, 1).name, "a longer name 1");

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
    REQUIRE(info.cloth_count == 2);
    CHECK_INT(info.cloth_point_count, 7);
    for (int i = 0; i < 2; ++i) {
        TdlResultCloth cloth = tdl_result_cloth(result, i);
        CHECK(cloth.surface == i && cloth.mass == CLOTHS[i].mass && cloth.face_count == 1);
        CHECK_INT(cloth.first_point, CLOTHS[i].first_point);
        REQUIRE(cloth.point_count == CLOTHS[i].point_count);
        CHECK(memcmp(cloth.faces, FACES + 4 * i, 4 * sizeof(int)) == 0);
        CHECK(memcmp(cloth.holds, HOLDS + 4 * i, (size_t)cloth.point_count * sizeof(int)) == 0);
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
    TdlPose starts[2];
    CHECK_INT(tdl_result_read_starts(result, 7, starts), TDL_STATUS_OK);
    CHECK(starts[1].position.x == frame.starts[12] && starts[1].rotation.cz.z == frame.starts[23]);
    double q[15];
    const int* dof_start = tdl_result_dof_start(result);
    CHECK(dof_start[0] == 0 && dof_start[1] == 9 && dof_start[2] == 15);
    CHECK_INT(tdl_result_read_coordinates(result, 7, q), TDL_STATUS_OK);
    CHECK(memcmp(q, frame.q, sizeof q) == 0);
    TdlVec3 observed[2];
    CHECK_INT(tdl_result_read_observed(result, 7, observed), TDL_STATUS_OK);
    CHECK(memcmp(observed, frame.observed, sizeof observed) == 0);
    TdlResultJointState joints[2];
    CHECK_INT(tdl_result_read_joints(result, 7, joints), TDL_STATUS_OK);
    CHECK_NEAR3(joints[1].point, tdl_load3(frame.joint_points, 1), 0.0);
    CHECK_NEAR3(joints[1].force, tdl_load3(frame.joint_forces, 1), 0.0);
    CHECK_NEAR3(joints[0].torque, tdl_load3(frame.joint_torques, 0), 0.0);
    CHECK(joints[1].coordinate == frame.joint_coordinates[1]);
    for (int i = 0; i < 2; ++i) {
        CHECK(joints[i].broken == (frame.joint_broken[i] == 1));
        CHECK(joints[i].idle == (frame.joint_broken[i] == 2));
    }
    TdlVec3 vertices[7];
    CHECK_INT(tdl_result_read_surfaces(result, 7, vertices), TDL_STATUS_OK);
    for (int i = 0; i < 7; ++i) {
        CHECK(vertices[i].x == (double)frame.surface_points[3 * i]);
        CHECK(vertices[i].z == (double)frame.surface_points[3 * i + 2]);
    }
    double strains[7];
    CHECK_INT(tdl_result_read_strains(result, 7, strains), TDL_STATUS_OK);
    for (int i = 0; i < 7; ++i) {
        CHECK(strains[i] == (double)frame.strains[i]);
    }
    ResultFrame seen = {0};
    const TdlResultContact* contacts;
    fill_frame(&frame, result_counts(result), 40); // with many contacts
    CHECK_INT(tdl_result_read_contacts(result, 40, &contacts, &seen.contact_count), TDL_STATUS_OK);
    seen.contacts = (TdlResultContact*)(uintptr_t)contacts;
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
    CHECK_INT(tdl_result_read_strains(result, -1, strains), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_result_read_joints(result, 1100, joints), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(heard.count, 7);
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

static int version_of(const char* path) {
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t attribute = H5Aopen(file, "format_version", H5P_DEFAULT);
    int version = 0;
    H5Aread(attribute, H5T_NATIVE_INT, &version);
    H5Aclose(attribute);
    H5Fclose(file);
    return version;
}

// Programs that know no grains go on reading what has none.
TEST(particles_come_and_go_and_a_result_without_them_says_nothing_of_them) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    const char* path = scratch_path(&scratch, "result.h5");
    ResultDef def = sample_def();
    REQUIRE(write_sample(&host, path, &def, 4, 1, NULL));
    CHECK_INT(version_of(path), RESULT_VERSION);
    TdlResult* result;
    REQUIRE(tdl_result_open(&host, path, &result) == TDL_STATUS_OK);
    CHECK(tdl_result_info(result).has_grains);
    TdlResultGrains bed = tdl_result_grains(result);
    CHECK_TEXT(bed.name, "sand");
    CHECK(bed.dimension == 2 && bed.spacing == 0.01 && bed.size == 0.0025 && bed.depth == 0.5);
    CHECK(bed.packing == 0.6);
    const TdlResultParticle* particles;
    const int counts[4] = {20, 0, 18, 17};
    int count;
    for (long i = 3; i >= 0; --i) {
        REQUIRE(tdl_result_read_particles(result, i, &particles, &count) == TDL_STATUS_OK);
        CHECK_INT(count, counts[i]);
    }
    CHECK_INT(tdl_result_read_particles(result, 4, &particles, &count), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(count, 0);
    tdl_result_close(result);

    def.grains = NULL;
    REQUIRE(write_sample(&host, path, &def, 4, 1, NULL));
    CHECK_INT(version_of(path), RESULT_VERSION);
    REQUIRE(tdl_result_open(&host, path, &result) == TDL_STATUS_OK);
    CHECK(!tdl_result_info(result).has_grains);
    REQUIRE(tdl_result_read_particles(result, 0, &particles, &count) == TDL_STATUS_OK);
    CHECK_INT(count, 0);
    tdl_result_close(result);
    CHECK(no_handles_left());
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
            ResultWriter* writer = NULL;
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
