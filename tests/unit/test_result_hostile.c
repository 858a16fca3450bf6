// result.h5: files that are cut, damaged, older, of others, and a full disk.
#include "ref/result_sample.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

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
            ResultWriter* writer = NULL;
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

// Single bits turned, everywhere in the metadata: refused, or harmless.
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

// Bits, bytes, blocks of zeros and of others, swapped blocks, cuts, anywhere in the file: never
// other numbers. What does no harm lies where nothing is: in the rest of chunks and of pages.
TEST(no_damage_gives_other_numbers) {
    Scratch scratch = scratch_make();
    TdlHost host = tdl_host_default();
    enum { FRAMES = 6 };
    const char* path = scratch_path(&scratch, "damaged.h5");
    ResultDef def = sample_def();
    REQUIRE(write_sample(&host, path, &def, FRAMES, 1, NULL));
    size_t size;
    char* data = scratch_read(path, &size);
    char* bad = malloc(size);
    Rng rng = rng_seed(5);
    int refused = 0, most = getenv("TENDRIL_LONG") == NULL ? 300 : 1000;
    for (int i = 0; i < most; ++i) {
        size_t at = (size_t)rng_below(&rng, (int)size), end = size;
        size_t other = (size_t)rng_below(&rng, (int)size);
        size_t length = (size_t)1 << rng_below(&rng, 10);
        length = length > size - at ? size - at : length;
        length = length > size - other ? size - other : length;
        memcpy(bad, data, size);
        switch (i % 5) {
        case 0:
            bad[at] = (char)(bad[at] ^ (1 << rng_below(&rng, 8)));
            break;
        case 1:
            memset(bad + at, 0, length);
            break;
        case 2:
            memmove(bad + at, data + other, length);
            break;
        case 3:
            memset(bad + at, (int)rng_below(&rng, 256), length);
            break;
        case 4:
            end = at;
            break;
        }
        scratch_write(path, bad, end);
        // with other numbers than the sample's it fails by itself
        Heard heard;
        TdlHost listening = scratch_host(&heard);
        long frames = count_good_frames(&listening, path);
        CHECK(frames == -1 || frames == FRAMES);
        CHECK_INT(heard.count, frames == -1);
        refused += frames == -1;
    }
    printf("  %d damaged: %d refused, %d without harm\n", most, refused, most - refused);
    CHECK(refused > most / 10);
    free(bad);
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

// As of a version without checksums: what is wrong is found by itself.
static hid_t edit(const char* path) {
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    set_int_attribute(file, "format_version", SUMS_SINCE - 1);
    return file;
}

static void write_numbers(hid_t file, const char* name, const double* numbers) {
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
    H5Dclose(set);
}

// An attribute of the bed as a whole number.
static void spoil_bed(hid_t file, const char* name, int value) {
    hid_t group = H5Gopen2(file, "grains", H5P_DEFAULT);
    set_int_attribute(group, name, value);
    H5Gclose(group);
}

// Every row of a column.
static void write_rows(hid_t file, const char* name, double value) {
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    size_t count = (size_t)H5Sget_simple_extent_npoints(space);
    double* numbers = malloc((count + 1) * sizeof *numbers);
    for (size_t i = 0; i < count; ++i) {
        numbers[i] = value;
    }
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
    free(numbers);
    H5Sclose(space);
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
    case 45:
        H5Ldelete(file, "frames/cloth_strain", H5P_DEFAULT);
        break;
    case 46: // fewer than there are vertices
        replace_set(file, "frames/cloth_strain", H5T_IEEE_F32LE, 2, (hsize_t[]){3, 6}, tiny);
        break;
    case 47: // never written
        replace_set(file, "frames/cloth_strain", H5T_IEEE_F32LE, 2, (hsize_t[]){3, 7},
                    (hsize_t[]){3, 7});
        break;
    case 48: // a surface that there is not
        write_numbers(file, "cloths/surface", (double[]){0, 2});
        break;
    case 49: // two cloths that are one surface
        write_numbers(file, "cloths/surface", (double[]){1, 1});
        break;
    case 50:
        write_numbers(file, "cloths/surface", (double[]){-1, 1});
        break;
    case 51: // a vertex that is not there
        write_numbers(file, "cloths/faces", (double[]){0, 1, 3, 4, 0, 2, 1, -1});
        break;
    case 52: // only a fourth corner may be left out
        write_numbers(file, "cloths/faces", (double[]){0, 1, -1, 2, 0, 2, 1, -1});
        break;
    case 53:
        write_numbers(file, "cloths/faces", (double[]){0, 1, 3, 2, 0, 2, 1, -2});
        break;
    case 54:
        write_numbers(file, "cloths/face_start", (double[]){0, 1, 3});
        break;
    case 55: // an absurd number of faces
        write_numbers(file, "cloths/face_start", (double[]){0, 1, 2000000000});
        break;
    case 56:
        replace_set(file, "cloths/face_start", H5T_STD_I32LE, 1, huge_row, NULL);
        break;
    case 57:
        write_numbers(file, "cloths/mass", (double[]){NAN, 1});
        break;
    case 58:
        write_numbers(file, "cloths/hold", (double[]){-1, 0, 0, -1, 1, -1, -2});
        break;
    case 59:
        replace_set(file, "cloths/hold", H5T_STD_I32LE, 1, times, NULL);
        break;
    case 60:
        H5Ldelete(file, "cloths/faces", H5P_DEFAULT);
        break;
    case 61:
        H5Ldelete(file, "frames/rod_start", H5P_DEFAULT);
        break;
    case 62: // of fewer rods than there are
        replace_set(file, "frames/rod_start", H5T_IEEE_F64LE, 3, (hsize_t[]){3, 1, 12}, tiny);
        break;
    case 63:
        H5Ldelete(file, "frames/joint_torque", H5P_DEFAULT);
        break;
    case 64: // of fewer joints than there are
        replace_set(file, "frames/joint_point", H5T_IEEE_F64LE, 3, (hsize_t[]){3, 1, 3}, tiny);
        break;
    case 65:
        replace_set(file, "frames/joint_broken", H5T_IEEE_F64LE, 2, (hsize_t[]){3, 2}, tiny);
        break;
    case 66:
        H5Ldelete(file, "joints/kind", H5P_DEFAULT);
        break;
    case 67:
        H5Ldelete(file, "grains/velocity", H5P_DEFAULT);
        break;
    case 68:
        H5Ldelete(file, "frames/grain_end", H5P_DEFAULT);
        break;
    case 69: // more particles than there are
        write_numbers(file, "frames/grain_end", (double[]){20, 20, 1e9});
        break;
    case 70: // fewer than none
        write_numbers(file, "frames/grain_end", (double[]){20, 10, 20});
        break;
    case 71:
        replace_set(file, "grains/position", H5T_IEEE_F32LE, 2, (hsize_t[]){40, 2}, tiny);
        break;
    case 72:
        spoil_bed(file, "dimension", 4);
        break;
    case 73:
        spoil_bed(file, "spacing", -1);
        break;
    case 74:
        spoil_bed(file, "name", 1);
        break;
    case 75:
        H5Ldelete(file, "frames/grains_state", H5P_DEFAULT);
        break;
    case 76: // a number that no particle has
        write_rows(file, "grains/number", -1.0);
        break;
    default:
        break;
    }
}

enum { SPOIL_COUNT = 77 };

// What version 1 did not have yet, taken away: the rest is read as ever.
TEST(version_1_is_still_read) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    const char* path = scratch_path(&scratch, "result.h5");
    ResultDef def = sample_def();
    def.body_count = def.observer_count = def.surface_count = def.cloth_count = 0;
    def.joint_count = 0;
    def.grains = NULL;
    def.shape_count = 1;
    REQUIRE(write_sample(&host, path, &def, 5, 1, NULL));
    hid_t file = edit(path);
    const char* const gone[] = {"bodies", "shapes", "contacts", "frames/contact_end",
                                "frames/rod_start"};
    for (int i = 0; i < 5; ++i) {
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
        memset(expected.starts, 0, 12 * sizeof *expected.starts * (size_t)info.rod_count);
        CHECK_INT(result_read(result, i, &frame), TDL_STATUS_OK);
        CHECK(same_frame(&frame, &expected, result_counts(result)));
    }
    CHECK_INT(heard.count, 0);
    TdlPose starts[2];
    CHECK_INT(tdl_result_read_starts(result, 0, starts), TDL_STATUS_BAD_INPUT);
    CHECK(strstr(heard.last, "/frames/rod_start is missing") != NULL);
    CHECK_INT(heard.count, 1);
    result_frame_destroy(&host, &frame);
    result_frame_destroy(&host, &expected);
    tdl_result_close(result);
    CHECK(no_handles_left());
    scratch_remove(&scratch);
}

// A result without what `version` did not have yet, that says so, is read without a word.
static void check_version(int version, ResultDef def) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    const char* path = scratch_path(&scratch, "result.h5");
    def.joint_count = 0;
    def.grains = NULL;
    def.surface_count = version < 4 ? 0 : def.surface_count;
    def.cloth_count = version < 6 ? 0 : def.cloth_count;
    REQUIRE(write_sample(&host, path, &def, 5, 1, NULL));
    hid_t file = edit(path);
    CHECK(H5Ldelete(file, "frames/rod_start", H5P_DEFAULT) >= 0);
    CHECK((H5Lexists(file, "surfaces", H5P_DEFAULT) > 0) == (version >= 4));
    CHECK((H5Lexists(file, "frames/surface_points", H5P_DEFAULT) > 0) == (version >= 4));
    CHECK((H5Lexists(file, "cloths", H5P_DEFAULT) > 0) == (version >= 6));
    CHECK((H5Lexists(file, "frames/cloth_strain", H5P_DEFAULT) > 0) == (version >= 6));
    if (version < 5) {
        CHECK(H5Ldelete(file, "contacts/v", H5P_DEFAULT) >= 0);
    }
    set_int_attribute(file, "format_version", version);
    H5Fclose(file);
    CHECK_INT(count_frames_of(&host, path, version), 5);
    CHECK_INT(heard.count, 0);
    scratch_remove(&scratch);
}

TEST(versions_2_to_6_are_still_read) {
    check_version(6, sample_def());
    check_version(5, sample_def());
    check_version(4, sample_def());
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

// Starts that are no rotations, as those of frames that an older Tendril wrote and a newer copied.
TEST(starts_that_are_none_are_refused) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    const char* path = scratch_path(&scratch, "result.h5");
    ResultDef def = sample_def();
    REQUIRE(write_sample(&host, path, &def, 1, 1, NULL));
    hid_t file = edit(path);
    write_numbers(file, "frames/rod_start", (double[24]){0});
    H5Fclose(file);
    TdlResult* result;
    REQUIRE(tdl_result_open(&host, path, &result) == TDL_STATUS_OK);
    TdlPose starts[2];
    CHECK_INT(tdl_result_read_starts(result, 0, starts), TDL_STATUS_BAD_INPUT);
    CHECK(strstr(heard.last, "/frames/rod_start has no place and frame") != NULL);
    CHECK_INT(tdl_result_read_starts(result, 1, starts), TDL_STATUS_BAD_ARGUMENT);
    tdl_result_close(result);
    CHECK_INT(heard.count, 2);
    scratch_remove(&scratch);
}

// A disk that is full (a limit on the size of files): one message, and what was whole stays.
TEST(full_disk_is_told_once_and_loses_nothing) {
    Scratch scratch = scratch_make();
    const char* path = scratch_path(&scratch, "result.h5");
    ResultDef def = sample_def();
    fflush(stdout);
    for (rlim_t limit = 2000; limit < 1400000; limit = limit * 3 / 2) {
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
        CHECK(limit < 1200000 || count > 0); // eight sets of 64 kB a chunk, contacts, particles
    }
    scratch_remove(&scratch);
}
