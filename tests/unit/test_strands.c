// Files of strands: there and back to the last bit, and files that are wrong or hostile.
#include "formats/strands.h"

#include "counting_allocator.h"
#include "formats/hdf5_writer.h"
#include "ref/strands_sample.h"
#include "scratch.h"
#include "test.h"

static const char* const MODELS[] = {"super-helix", "super-clothoid", "der", "mass-spring",
                                     "corde"};

static bool same_strands(const TdlStrands* a, const TdlStrands* b, int curvatures) {
    size_t n = (size_t)a->count, m = (size_t)curvatures;
    return strcmp(a->model, b->model) == 0 && a->count == b->count &&
           memcmp(a->element_count, b->element_count, n * sizeof(int)) == 0 &&
           memcmp(a->length, b->length, n * sizeof(double)) == 0 &&
           memcmp(a->start, b->start, n * sizeof(TdlPose)) == 0 &&
           memcmp(a->stiffening, b->stiffening, n * sizeof(double)) == 0 &&
           memcmp(a->curvature, b->curvature, m * sizeof(TdlVec3)) == 0 &&
           memcmp(a->natural_curvature, b->natural_curvature, m * sizeof(TdlVec3)) == 0;
}

TEST(strands_come_back_to_the_last_bit) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    const char *path = scratch_path(&scratch, "a.h5"), *other = scratch_path(&scratch, "b.h5");
    StrandsSample sample;
    for (int m = 0; m < 5; ++m) {
        strands_sample(&sample, MODELS[m]);
        TdlStrands back;
        REQUIRE(tdl_strands_write(&host, path, &sample.strands) == TDL_STATUS_OK);
        REQUIRE(tdl_strands_read(&host, path, &back) == TDL_STATUS_OK);
        CHECK(same_strands(&sample.strands, &back, sample.curvatures));
        REQUIRE(tdl_strands_write(&host, other, &back) == TDL_STATUS_OK);
        size_t size, size_again;
        char *bytes = scratch_read(path, &size), *again = scratch_read(other, &size_again);
        CHECK(size == size_again && memcmp(bytes, again, size) == 0);
        free(bytes);
        free(again);
        tdl_strands_free(&host, &back);
        tdl_strands_free(&host, &back); // nothing is left of it
    }
    // none at all
    sample.strands.count = 0;
    TdlStrands none;
    REQUIRE(tdl_strands_write(&host, path, &sample.strands) == TDL_STATUS_OK);
    REQUIRE(tdl_strands_read(&host, path, &none) == TDL_STATUS_OK);
    CHECK_INT(none.count, 0);
    tdl_strands_free(&host, &none);
    CHECK_INT(heard.count, 0);
    scratch_remove(&scratch);
}

// A world of the sample.
static TdlWorld* make_world(const TdlHost* host, const TdlStrands* strands, TdlBodyId* ids) {
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world = NULL;
    CHECK_INT(tdl_world_create(host, &def, &world), TDL_STATUS_OK);
    size_t first = 0;
    for (int i = 0; i < strands->count; ++i) {
        TdlRodDef rod = tdl_rod_def_default();
        first += (size_t)strands_shape(strands, i, first, &rod);
        CHECK_INT(tdl_world_add_rod(world, &rod, &ids[i]), TDL_STATUS_OK);
    }
    return world;
}

// What a world is made of is taken out of it: with the same coordinates where they are curvatures,
// else with curvatures to rounding.
TEST(strands_are_taken_from_a_world) {
    Heard heard;
    TdlHost host = scratch_host(&heard);
    StrandsSample sample;
    for (int m = 0; m < 5; ++m) {
        strands_sample(&sample, MODELS[m]);
        TdlBodyId ids[SAMPLE_STRANDS], again_ids[SAMPLE_STRANDS];
        TdlWorld* world = make_world(&host, &sample.strands, ids);
        TdlStrands out;
        REQUIRE(tdl_strands_from_world(&host, world, ids, SAMPLE_STRANDS, &out) == TDL_STATUS_OK);
        CHECK(memcmp(out.natural_curvature, sample.natural,
                     (size_t)sample.curvatures * sizeof(TdlVec3)) == 0);
        CHECK(memcmp(out.stiffening, sample.stiffening, sizeof sample.stiffening) == 0);
        CHECK(memcmp(out.element_count, sample.element_count, sizeof sample.element_count) == 0);
        if (strcmp(MODELS[m], "mass-spring") != 0) { // which has no twist
            double worst = 0.0;
            for (int i = 0; i < sample.curvatures; ++i) {
                TdlVec3 d = tdl_sub3(out.curvature[i], sample.curvature[i]);
                worst = fmax(worst, tdl_norm3(d));
            }
            // 1/m: a rounding of a frame, 2e-16, over half an element of 0.01 m at least; edges
            // add up those of 12 elements, each with some ten operations
            CHECK_BELOW(worst, 12 * 10 * 2.0e-16 / 0.005);
        }
        TdlWorld* again = make_world(&host, &out, again_ids);
        CHECK(m > 1 || tdl_world_state_hash(world) == tdl_world_state_hash(again));
        tdl_strands_free(&host, &out);
        tdl_world_destroy(again);
        // of another model beside them
        TdlRodDef rod = tdl_rod_def_default();
        rod.model = MODELS[m == 0];
        REQUIRE(tdl_world_add_rod(world, &rod, &ids[2]) == TDL_STATUS_OK);
        CHECK_INT(tdl_strands_from_world(&host, world, ids, SAMPLE_STRANDS, &out),
                  TDL_STATUS_BAD_ARGUMENT);
        CHECK_INT(tdl_strands_from_world(&host, world, ids, -1, &out), TDL_STATUS_BAD_ARGUMENT);
        ids[2] = (TdlBodyId){99, 1};
        CHECK_INT(tdl_strands_from_world(&host, world, ids, SAMPLE_STRANDS, &out),
                  TDL_STATUS_BAD_ARGUMENT);
        tdl_world_destroy(world);
    }
}

TEST(what_makes_no_sense_is_not_written) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    const char* path = scratch_path(&scratch, "a.h5");
    StrandsSample s;
    int said = 0;
    for (int fault = 0; fault < 8; ++fault) {
        strands_sample(&s, "super-helix");
        switch (fault) {
        case 0:
            memset(s.strands.model, 'x', sizeof s.strands.model);
            break;
        case 1:
            s.strands.count = -1;
            break;
        case 2:
            s.element_count[3] = 0;
            break;
        case 3:
            s.length[1] = -1.0;
            break;
        case 4:
            s.stiffening[4] = 0.0;
            break;
        case 5:
            s.curvature[s.curvatures - 1].z = NAN;
            break;
        case 6:
            s.natural[0].x = 1.0e9;
            break;
        default:
            s.start[2].rotation.cx.x += 0.01;
            break;
        }
        CHECK_INT(tdl_strands_write(&host, path, &s.strands), TDL_STATUS_BAD_ARGUMENT);
        CHECK_INT(heard.count, ++said);
    }
    CHECK(access(path, F_OK) != 0);
    strands_sample(&s, "super-helix");
    CHECK_INT(tdl_strands_write(&host, scratch_path(&scratch, "no/where.h5"), &s.strands),
              TDL_STATUS_IO);
    scratch_remove(&scratch);
}

// --- wrong files -----------------------------------------------------------------------------

// A dataset of a good file put in the place of another, or taken away.
typedef struct Wrong {
    const char* name;
    int entry;    // that is changed; -1: the dataset goes; -2: it is a number short; -3: of ints
    double value; // it has then
    const char* said;
} Wrong;

static const Wrong WRONG[] = {
    {"version", 0, 2.0, "version is 2"},
    {"version", -1, 0.0, "no dataset version"},
    {"model", -1, 0.0, "no dataset model"},
    {"model", 0, 1.0, "model is not a text"},
    {"element_count", 1, 8.0, "curvature has 93 numbers, not 96"},
    {"element_count", 1, 0.0, "strand 1 (from 0) has 0 elements"},
    {"element_count", 1, -7.0, "strand 1 (from 0) has -7 elements"},
    {"element_count", 1, 7.5, "strand 1 (from 0) has 7.5 elements"},
    {"element_count", 1, 1.0e300, "strand 1"},
    {"element_count", 1, NAN, "strand 1"},
    {"element_count", -2, 0.0, "start has 60 numbers, not 48"},
    {"element_count", -1, 0.0, "no dataset element_count"},
    {"length", 2, 0.0, "strand 2 (from 0): length must be"},
    {"length", 2, -0.1, "strand 2 (from 0): length must be"},
    {"length", 2, NAN, "strand 2 (from 0): length must be"},
    {"length", 2, 1.0e10, "strand 2 (from 0): length must be"},
    {"length", -2, 0.0, "length has 4"},
    {"length", -3, 0.0, "length must be reals"},
    {"start", 24, 1.0e10, "strand 2 (from 0): it starts beyond"},
    {"start", 24, NAN, "strand 2 (from 0): it starts beyond"},
    {"start", 59, 3.0, "strand 4 (from 0): clamp must be"},
    {"start", -2, 0.0, "start has 59"},
    {"start", -1, 0.0, "no dataset start"},
    {"stiffening", 0, 0.0, "strand 0 (from 0): stiffening"},
    {"stiffening", 0, INFINITY, "strand 0 (from 0): stiffening"},
    {"stiffening", -1, 0.0, "no dataset stiffening"},
    {"curvature", 92, NAN, "strand 4 (from 0): curvature times"},
    {"curvature", 92, 1.0e9, "strand 4 (from 0): curvature times"},
    {"curvature", -2, 0.0, "curvature has 92"},
    {"curvature", -3, 0.0, "curvature must be reals"},
    {"natural_curvature", 0, -INFINITY, "strand 0 (from 0): curvature times"},
    {"natural_curvature", -2, 0.0, "natural_curvature has 92"},
    {"natural_curvature", -1, 0.0, "no dataset natural_curvature"},
};

static bool spoil(const char* path, const Wrong* w) {
    double values[3 * SAMPLE_MOST] = {0};
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t group = H5Gopen2(file, "tendril_strands", H5P_DEFAULT);
    hid_t set = H5Dopen2(group, w->name, H5P_DEFAULT), space = H5Dget_space(set);
    size_t count = (size_t)H5Sget_simple_extent_npoints(space);
    bool text = strcmp(w->name, "model") == 0;
    bool good = text || H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    H5Sclose(space);
    H5Dclose(set);
    good = good && H5Ldelete(group, w->name, H5P_DEFAULT) >= 0;
    if (good && w->entry >= 0) {
        values[w->entry] = w->value;
    }
    if (good && w->entry == -3) {
        const int ints[3 * SAMPLE_MOST] = {0};
        good = hdf5_put(group, w->name, H5T_NATIVE_INT, count, ints);
    } else if (good && w->entry != -1) {
        good = hdf5_put(group, w->name, H5T_NATIVE_DOUBLE, count - (w->entry == -2), values);
    }
    H5Gclose(group);
    return H5Fclose(file) >= 0 && good;
}

TEST(wrong_files_are_refused_with_one_message) {
    Scratch scratch = scratch_make();
    const char* path = scratch_path(&scratch, "wrong.h5");
    StrandsSample sample;
    strands_sample(&sample, "super-helix");
    CHECK_INT(sample.curvatures, 31);
    for (size_t k = 0; k < sizeof WRONG / sizeof *WRONG; ++k) {
        Heard heard;
        AllocCounter counter = {0};
        TdlHost host = scratch_host(&heard);
        host.mem = counting_allocator(&counter);
        TdlStrands out;
        REQUIRE(tdl_strands_write(&host, path, &sample.strands) == TDL_STATUS_OK);
        REQUIRE(spoil(path, &WRONG[k]));
        CHECK_INT(tdl_strands_read(&host, path, &out), TDL_STATUS_BAD_INPUT);
        if (heard.count != 1 || strstr(heard.last, WRONG[k].said) == NULL ||
            strstr(heard.last, "wrong.h5: ") == NULL) {
            FAIL("%s, %d: %d messages, the last: %s", WRONG[k].name, WRONG[k].entry, heard.count,
                 heard.last);
        }
        CHECK(out.curvature == NULL && counter.live == 0);
    }
    scratch_remove(&scratch);
}

TEST(other_files_are_no_strands) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    const char* path = scratch_path(&scratch, "a.h5");
    TdlStrands out;
    scratch_write(path, "x,y,z\n", 6);
    CHECK_INT(tdl_strands_read(&host, path, &out), TDL_STATUS_BAD_INPUT);
    CHECK(strstr(heard.last, "not HDF5") != NULL);
    hid_t file = hdf5_create(path);
    REQUIRE(H5Fclose(file) >= 0);
    CHECK_INT(tdl_strands_read(&host, path, &out), TDL_STATUS_BAD_INPUT);
    CHECK(strstr(heard.last, "no group tendril_strands") != NULL);
    // a model that is not known, one without an end, one that is none
    static const char* const MODEL[] = {"super-noodle", "super-helix-that-goes-on-and-on-and-on",
                                        "\x1b[1m"};
    StrandsSample sample;
    strands_sample(&sample, "super-helix");
    for (int i = 0; i < 3; ++i) {
        REQUIRE(tdl_strands_write(&host, path, &sample.strands) == TDL_STATUS_OK);
        file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        hid_t type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, strlen(MODEL[i]));
        hid_t group = H5Gopen2(file, "tendril_strands", H5P_DEFAULT);
        H5Ldelete(group, "model", H5P_DEFAULT);
        CHECK(hdf5_put(group, "model", type, 1, MODEL[i]));
        H5Gclose(group);
        H5Tclose(type);
        REQUIRE(H5Fclose(file) >= 0);
        CHECK_INT(tdl_strands_read(&host, path, &out), TDL_STATUS_BAD_INPUT);
        CHECK(strstr(heard.last, "model") != NULL);
        CHECK_INT(heard.count, 3 + i);
    }
    CHECK_INT(tdl_strands_read(&host, scratch_path(&scratch, "none.h5"), &out), TDL_STATUS_IO);
    scratch_remove(&scratch);
}

// Whatever was read is sane, and is told at most once.
static void read_bytes(const char* bytes, size_t size, int* good) {
    Heard heard;
    AllocCounter counter = {0};
    TdlHost host = scratch_host(&heard);
    host.mem = counting_allocator(&counter);
    TdlStrands out;
    char* exact = malloc(size);
    memcpy(exact, bytes, size);
    TdlStatus status = strands_parse(&host, "f", exact, size, &out);
    CHECK(status == (heard.count == 0 ? TDL_STATUS_OK : TDL_STATUS_BAD_INPUT));
    CHECK(heard.count <= 1);
    if (status == TDL_STATUS_OK) {
        ++*good;
        TdlRodDef def = tdl_rod_def_default();
        for (int i = 0, first = 0; i < out.count; ++i) {
            first += strands_shape(&out, i, (size_t)first, &def);
            CHECK(tdl_rod_def_fault(&def) == NULL);
        }
    }
    tdl_strands_free(&host, &out);
    CHECK(counter.live == 0);
    free(exact);
}

TEST(hostile_bytes_do_no_harm) {
    Scratch scratch = scratch_make();
    TdlHost host = tdl_host_default();
    const char* path = scratch_path(&scratch, "a.h5");
    StrandsSample sample;
    strands_sample(&sample, "super-clothoid");
    REQUIRE(tdl_strands_write(&host, path, &sample.strands) == TDL_STATUS_OK);
    size_t size;
    char* bytes = scratch_read(path, &size);
    int good = 0, whole = 0;
    for (size_t cut = 0; cut < size; ++cut) {
        read_bytes(bytes, cut, &good);
    }
    printf("  %zu bytes; %d of the shorter ones are whole\n", size, good);
    static const unsigned char CHANGE[] = {0x01, 0x80, 0xff};
    for (size_t at = 0; at < size; ++at) {
        for (int k = 0; k < 3; ++k) {
            bytes[at] = (char)(bytes[at] ^ CHANGE[k]);
            read_bytes(bytes, size, &whole);
            bytes[at] = (char)(bytes[at] ^ CHANGE[k]);
        }
    }
    printf("  %d of %zu with one byte changed can be read\n", whole, 3 * size);
    CHECK((size_t)whole < 3 * size);
    free(bytes);
    scratch_remove(&scratch);
}

TEST(without_memory_nothing_is_left) {
    Scratch scratch = scratch_make();
    TdlHost sound = tdl_host_default();
    const char* path = scratch_path(&scratch, "a.h5");
    StrandsSample sample;
    strands_sample(&sample, "super-clothoid");
    REQUIRE(tdl_strands_write(&sound, path, &sample.strands) == TDL_STATUS_OK);
    TdlBodyId ids[SAMPLE_STRANDS];
    TdlWorld* world = make_world(&sound, &sample.strands, ids);
    for (int what = 0; what < 2; ++what) {
        TdlStatus status = TDL_STATUS_NO_MEMORY;
        int failures = 0;
        for (long fail = 1; status == TDL_STATUS_NO_MEMORY && fail < 100; ++fail) {
            AllocCounter counter = {.fail_at = fail};
            Heard heard;
            TdlHost host = scratch_host(&heard);
            host.mem = counting_allocator(&counter);
            TdlStrands out;
            status = what == 0 ? tdl_strands_read(&host, path, &out)
                               : tdl_strands_from_world(&host, world, ids, SAMPLE_STRANDS, &out);
            failures += status == TDL_STATUS_NO_MEMORY;
            CHECK(heard.count <= (what == 0 && fail == 1)); // only the file as a whole is told
            tdl_strands_free(&host, &out);
            CHECK(counter.live == 0);
        }
        CHECK_INT(status, TDL_STATUS_OK);
        CHECK(failures >= 6);
    }
    tdl_world_destroy(world);
    scratch_remove(&scratch);
}

// As other writers leave it: the model as a scalar without a zero behind it, counts of eight bytes.
TEST(files_of_other_writers_are_read) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    const char* path = scratch_path(&scratch, "a.h5");
    const int64_t version = 1, elements[2] = {1, 2};
    const double length[2] = {0.1, 0.2}, ones[2] = {1.0, 1.0};
    const double start[24] = {1, 2, 3, 1, 0, 0, 0, 1, 0, 0, 0, 1, 4, 5, 6, 0, 1, 0, 0, 0, 1, 1};
    const double kappa[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    hid_t file = hdf5_create(path);
    hid_t group = H5Gcreate2(file, "tendril_strands", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, strlen("super-helix"));
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    hid_t set = H5Dcreate2(group, "model", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, "super-helix") >= 0);
    CHECK(hdf5_put(group, "version", H5T_NATIVE_INT64, 1, &version));
    CHECK(hdf5_put(group, "element_count", H5T_NATIVE_INT64, 2, elements));
    CHECK(hdf5_put(group, "length", H5T_NATIVE_DOUBLE, 2, length));
    CHECK(hdf5_put(group, "stiffening", H5T_NATIVE_DOUBLE, 2, ones));
    CHECK(hdf5_put(group, "start", H5T_NATIVE_DOUBLE, 24, start));
    CHECK(hdf5_put(group, "curvature", H5T_NATIVE_DOUBLE, 9, kappa));
    CHECK(hdf5_put(group, "natural_curvature", H5T_NATIVE_DOUBLE, 9, kappa));
    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
    H5Gclose(group);
    REQUIRE(H5Fclose(file) >= 0);
    TdlStrands out;
    REQUIRE(tdl_strands_read(&host, path, &out) == TDL_STATUS_OK);
    CHECK_TEXT(out.model, "super-helix");
    CHECK_INT(out.count, 2);
    CHECK_INT(out.element_count[1], 2);
    CHECK(out.start[1].rotation.cx.y == 1.0 && out.natural_curvature[2].z == 9.0);
    tdl_strands_free(&host, &out);
    scratch_remove(&scratch);
}
