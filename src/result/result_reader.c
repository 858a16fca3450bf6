// Reading result.h5, also while a run writes it or after one was killed.
//
// The file may come from anybody: every object is checked for kind, type, rank and extent before
// it is read, links must be plain (none leads out of the file), and since HDF5 reads zeros
// behind the end of a cut file without a word, the place of every chunk is compared with the
// file's size. The number of frames is the length of `time`, read before the other sets are
// opened: they are never shorter.
#include "result/result_reader.h"

#include "base/check.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/log.h"
#include "base/memory.h"
#include "formats/hdf5_writer.h"
#include "math/rotation.h"
#include "result/result_object.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// HDF5 reads metadata with a wrong checksum again, in case a writer was in the middle of it, and
// waits 1 ns, 2 ns, 4 ns ... between: about 1 ms in all, where its default never ends.
enum { READ_ATTEMPTS = 18 };

TdlStatus result_bad(const TdlResult* r, const char* what) {
    return tdl_fail(&r->host, TDL_STATUS_BAD_INPUT, "%s: %s", r->path, what);
}

TdlStatus result_bad_set(const TdlResult* r, const char* group, const char* name,
                         const char* what) {
    return tdl_fail(&r->host, TDL_STATUS_BAD_INPUT, "%s: /%s/%s %s", r->path, group, name, what);
}

// --- the frames ----------------------------------------------------------------------------------

static TdlStatus open_set(TdlResult* r, hid_t group, ResultSet set) {
    const ResultSetSpec* spec = &RESULT_SETS[set];
    hsize_t expected[3], dims[3] = {0};
    int rank = result_set_dims(set, r->counts, expected);
    if (rank == 0 || r->version < spec->since) {
        return TDL_STATUS_OK;
    }
    hid_t opened = object_open(group, spec->name, H5I_DATASET);
    if (opened < 0) {
        return result_bad_set(r, "frames", spec->name, "is missing");
    }
    r->sets[set] = opened;
    if (!set_has_type(opened, result_file_type(spec->type)) || !set_get_dims(opened, rank, dims) ||
        !set_has_layout(opened, H5D_CHUNKED, rank, dims, r->chunk[set])) {
        return result_bad_set(r, "frames", spec->name,
                              "has another type, rank or layout than expected");
    }
    for (int i = 1; i < rank; ++i) {
        if (dims[i] != expected[i]) {
            return result_bad_set(r, "frames", spec->name,
                                  "does not fit the tables of rods, colliders and surfaces");
        }
    }
    if (set == RESULT_TIME) {
        if (dims[0] > LONG_MAX / 2) {
            return result_bad_set(r, "frames", spec->name, "is absurdly long");
        }
        r->info.frame_count = (long)dims[0];
    } else if (dims[0] < (hsize_t)r->info.frame_count) {
        return result_bad_set(r, "frames", spec->name, "is shorter than /frames/time");
    }
    return TDL_STATUS_OK;
}

static TdlStatus open_sums(TdlResult* r, hid_t group) {
    if (r->version < SUMS_SINCE) {
        return TDL_STATUS_OK;
    }
    for (int set = 0; set < RESULT_SET_COUNT; ++set) {
        if (r->sets[set] >= 0) {
            frame_sums_name(&r->sums, RESULT_SETS[set].name);
        }
    }
    frame_sums_name(&r->sums, RESULT_CONTACTS.group);
    if (r->counts.beds > 0) {
        frame_sums_name(&r->sums, RESULT_PARTICLES.group);
    }
    r->info.has_checksums = frame_sums_open(&r->sums, group, r->info.frame_count);
    return r->info.has_checksums
               ? TDL_STATUS_OK
               : result_bad_set(r, "frames", "checksum", "is missing or does not fit the others");
}

// Compares what was read of a frame with its checksum.
static TdlStatus prove_sum(TdlResult* r, long frame, const char* name, uint64_t sum) {
    if (r->version < SUMS_SINCE) {
        return TDL_STATUS_OK;
    }
    if (!frame_sums_read(&r->sums, r->path, frame)) {
        return tdl_fail(&r->host, TDL_STATUS_BAD_INPUT,
                        "%s: /frames/checksum could not be read at frame %ld", r->path, frame);
    }
    if (r->sums.sums[frame_sums_column(&r->sums, name)] != (int64_t)sum) {
        return tdl_fail(&r->host, TDL_STATUS_BAD_INPUT,
                        "%s: damaged: %s of frame %ld has another checksum", r->path, name, frame);
    }
    return TDL_STATUS_OK;
}

static TdlStatus open_sets(TdlResult* r) {
    hid_t group = object_open(r->file, "frames", H5I_GROUP);
    if (group < 0) {
        return result_bad(r, "the group /frames is missing");
    }
    if (H5Lexists(group, RESULT_SETS[RESULT_FORCES].name, H5P_DEFAULT) > 0) { // or left out
        r->counts.forces = r->counts.points;
    }
    // the time first: what is opened later is at least as long
    TdlStatus status = open_set(r, group, RESULT_TIME);
    for (int set = 0; status == TDL_STATUS_OK && set < RESULT_TIME; ++set) {
        status = open_set(r, group, (ResultSet)set);
    }
    if (status == TDL_STATUS_OK) {
        status = open_sums(r, group);
    }
    H5Gclose(group);
    if (status == TDL_STATUS_OK && r->version >= 2 &&
        !row_sets_open(&r->contact_sets, r->file, r->version)) {
        status = result_bad(r, r->contact_sets.said);
    }
    if (status == TDL_STATUS_OK && r->counts.beds > 0 &&
        !row_sets_open(&r->particle_sets, r->file, r->version)) {
        status = result_bad(r, r->particle_sets.said);
    }
    return status;
}

// Proves that the chunks holding a frame lie inside the file.
static TdlStatus prove_chunks(TdlResult* r, ResultSet set, long frame, int rank,
                              const hsize_t dims[3]) {
    const hsize_t* chunk = r->chunk[set];
    hsize_t row = (hsize_t)frame / chunk[0];
    if (r->proved[set] == row + 1) {
        return TDL_STATUS_OK;
    }
    hsize_t bytes = H5Tget_size(result_file_type(RESULT_SETS[set].type));
    for (int i = 0; i < rank; ++i) {
        bytes *= chunk[i];
    }
    hsize_t width = rank > 1 ? dims[1] : 1, part = rank > 1 ? chunk[1] : 1;
    for (hsize_t first = 0; first < width; first += part) {
        hsize_t offset[3] = {row * chunk[0], first, 0}, size = 0;
        haddr_t address = HADDR_UNDEF;
        if (H5Dget_chunk_info_by_coord(r->sets[set], offset, NULL, &address, &size) < 0 ||
            size != bytes || !file_holds(r->path, address, size)) {
            return tdl_fail(&r->host, TDL_STATUS_BAD_INPUT,
                            "%s: /frames/%s has no data for frame %ld; the file was cut", r->path,
                            RESULT_SETS[set].name, frame);
        }
    }
    r->proved[set] = row + 1;
    return TDL_STATUS_OK;
}

static TdlStatus read_set(TdlResult* r, ResultSet set, long frame, hid_t type, void* out) {
    hsize_t dims[3] = {1, 1, 1}, start[3] = {(hsize_t)frame, 0, 0};
    int rank = result_set_dims(set, r->counts, dims);
    if (rank == 0 || r->sets[set] < 0) {
        return TDL_STATUS_OK;
    }
    TdlStatus status = prove_chunks(r, set, frame, rank, dims);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    hid_t memory = H5Screate_simple(rank, dims, NULL), space = H5Dget_space(r->sets[set]);
    hid_t stored = result_file_type(RESULT_SETS[set].type);
    bool good = memory >= 0 && space >= 0 &&
                H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, dims, NULL) >= 0 &&
                H5Dread(r->sets[set], stored, memory, space, H5P_DEFAULT, out) >= 0;
    H5Sclose(memory);
    H5Sclose(space);
    size_t bytes = result_set_bytes(set, r->counts);
    if (good) {
        status = prove_sum(r, frame, RESULT_SETS[set].name, hash_words(HASH_START, out, bytes));
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    size_t numbers = bytes / H5Tget_size(stored); // in place: what is wanted is not narrower
    good = good && H5Tconvert(stored, type, numbers, out, NULL, H5P_DEFAULT) >= 0;
    if (!good) {
        return tdl_fail(&r->host, TDL_STATUS_BAD_INPUT,
                        "%s: /frames/%s could not be read at frame %ld: %s", r->path,
                        RESULT_SETS[set].name, frame, hdf5_reason());
    }
    return TDL_STATUS_OK;
}

// --- opening -------------------------------------------------------------------------------------

static hid_t open_mode(const char* path, unsigned mode) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_file_locking(access, true, true);
    H5Pset_metadata_read_attempts(access, READ_ATTEMPTS);
    hid_t file = H5Fopen(path, mode, access);
    H5Pclose(access);
    return file;
}

static TdlStatus open_file(TdlResult* r) {
    char reason[INPUT_REASON];
    int fd = input_open(&r->host, r->path, reason); // HDF5 would wait for a pipe
    if (fd < 0) {
        return tdl_fail(&r->host, TDL_STATUS_IO, "%s: could not be opened: %s", r->path, reason);
    }
    close(fd);
    if (!hdf5_has_room(HDF5_ROOM)) {
        return tdl_fail(&r->host, TDL_STATUS_NO_MEMORY, "%s: not enough memory to open it",
                        r->path);
    }
    r->file = open_mode(r->path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ);
    if (r->file >= 0) {
        return TDL_STATUS_OK;
    }
    // older files of other programs cannot be opened that way; they deserve the right message
    hid_t other = open_mode(r->path, H5F_ACC_RDONLY);
    if (other >= 0) {
        H5Fclose(other);
        return result_bad(r, "an HDF5 file, but not a result of Tendril");
    }
    return tdl_fail(&r->host, TDL_STATUS_BAD_INPUT, "%s: not a result of Tendril, or damaged: %s",
                    r->path, hdf5_reason());
}

static TdlStatus read_head(TdlResult* r, int64_t* step_total) {
    char format[64];
    int version = 0;
    if (!object_read_text(r->file, "format", format, sizeof format) ||
        strcmp(format, RESULT_FORMAT) != 0 ||
        !object_read_number(r->file, "format_version", H5T_INTEGER, H5T_NATIVE_INT, &version)) {
        return result_bad(r, "an HDF5 file, but not a result of Tendril");
    }
    if (version < RESULT_OLDEST || version > RESULT_VERSION) {
        return tdl_fail(&r->host, TDL_STATUS_BAD_INPUT,
                        "%s: has format version %d; this Tendril (%s) reads versions %d to %d",
                        r->path, version, tdl_version(), RESULT_OLDEST, RESULT_VERSION);
    }
    r->version = version;
    if (!object_read_text(r->file, "tendril_version", r->info.version, sizeof r->info.version) ||
        !object_read_text(r->file, "title", r->info.title, sizeof r->info.title) ||
        !object_read_number(r->file, "step_total", H5T_INTEGER, H5T_NATIVE_INT64, step_total)) {
        return result_bad(
            r, "the attributes tendril_version, title or step_total are missing or wrong");
    }
    return TDL_STATUS_OK;
}

static TdlStatus read_span(TdlResult* r, int64_t step_total) {
    long count = r->info.frame_count;
    int64_t step = -1;
    if (count == 0) {
        return TDL_STATUS_OK;
    }
    TdlStatus status = read_set(r, RESULT_TIME, count - 1, H5T_NATIVE_DOUBLE, &r->info.last_time);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = read_set(r, RESULT_STEP, count - 1, H5T_NATIVE_INT64, &step);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = read_set(r, RESULT_TIME, 0, H5T_NATIVE_DOUBLE, &r->info.first_time);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (!isfinite(r->info.first_time) || !isfinite(r->info.last_time)) {
        return result_bad_set(r, "frames", "time", "holds something that is not a number");
    }
    r->info.finished = step == step_total;
    return TDL_STATUS_OK;
}

static TdlStatus open_all(TdlResult* r) {
    int64_t step_total = 0;
    TdlStatus status = open_file(r);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = read_head(r, &step_total);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = result_read_tables(r);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = open_sets(r);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    r->info.rod_count = r->counts.rods;
    r->info.collider_count = r->counts.colliders;
    r->info.body_count = r->counts.bodies;
    r->info.point_count = r->counts.points;
    r->info.dof_count = r->counts.dofs;
    r->info.has_forces = r->counts.forces > 0;
    r->info.has_grains = r->counts.beds > 0;
    return read_span(r, step_total);
}

TdlStatus tdl_result_open(const TdlHost* host, const char* path, TdlResult** out) {
    TdlStatus status = path_check(host, path);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlResult* r = tdl_alloc_zero(&host->mem, sizeof *r);
    if (r == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    r->host = *host;
    r->file = H5I_INVALID_HID;
    r->contact_sets = row_sets_none(host, &RESULT_CONTACTS);
    r->particle_sets = row_sets_none(host, &RESULT_PARTICLES);
    r->sums = frame_sums_none();
    for (int i = 0; i < RESULT_SET_COUNT; ++i) {
        r->sets[i] = H5I_INVALID_HID;
    }
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        path_join(r->path, path, "result.h5");
    } else {
        snprintf(r->path, sizeof r->path, "%s", path);
    }
    Hdf5Quiet quiet = hdf5_quiet_begin();
    status = open_all(r);
    hdf5_quiet_end(quiet);
    if (status != TDL_STATUS_OK) {
        tdl_result_close(r);
        return status;
    }
    *out = r;
    return TDL_STATUS_OK;
}

static void close_handles(TdlResult* r) {
    Hdf5Quiet quiet = hdf5_quiet_begin();
    row_sets_close(&r->contact_sets);
    row_sets_close(&r->particle_sets);
    frame_sums_close(&r->sums);
    for (int i = 0; i < RESULT_SET_COUNT; ++i) {
        if (r->sets[i] >= 0) {
            H5Dclose(r->sets[i]);
        }
    }
    if (r->file >= 0) {
        H5Fclose(r->file);
    }
    hdf5_quiet_end(quiet);
}

void tdl_result_close(TdlResult* result) {
    if (result == NULL) {
        return;
    }
    close_handles(result);
    TdlAllocator mem = result->host.mem;
    tdl_free(&mem, result->point_start);
    tdl_free(&mem, result->dof_start);
    tdl_free(&mem, result->rods);
    tdl_free(&mem, result->shapes);
    tdl_free(&mem, result->observers);
    tdl_free(&mem, result->joints);
    tdl_free(&mem, result->vertices);
    tdl_free(&mem, result->corners);
    tdl_free(&mem, result->surfaces);
    tdl_free(&mem, result->surface_corners);
    tdl_free(&mem, result->cloths);
    tdl_free(&mem, result->cloth_faces);
    tdl_free(&mem, result->cloth_holds);
    result_frame_destroy(&result->host, &result->kept);
    tdl_free(&mem, result);
}

// Opens anew: a resumed run has put another file in the old one's place.
TdlStatus tdl_result_refresh(TdlResult* result) {
    TdlResult* fresh;
    TdlStatus status = tdl_result_open(&result->host, result->path, &fresh);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlResult old = *result;
    *result = *fresh;
    *fresh = old;
    tdl_result_close(fresh);
    return TDL_STATUS_OK;
}

TdlResultInfo tdl_result_info(const TdlResult* result) {
    return result->info;
}

const int* tdl_result_point_start(const TdlResult* result) {
    return result->point_start;
}

const int* tdl_result_dof_start(const TdlResult* result) {
    return result->dof_start;
}

TdlResultRod tdl_result_rod(const TdlResult* result, int index) {
    TDL_ASSERT(index >= 0 && index < result->counts.rods);
    return result->rods[index];
}

TdlResultShape tdl_result_shape(const TdlResult* result, int index) {
    TDL_ASSERT(index >= 0 && index < result->info.shape_count);
    return result->shapes[index];
}

TdlResultSurface tdl_result_surface(const TdlResult* result, int index) {
    TDL_ASSERT(index >= 0 && index < result->info.surface_count);
    return result->surfaces[index];
}

TdlResultCloth tdl_result_cloth(const TdlResult* result, int index) {
    TDL_ASSERT(index >= 0 && index < result->info.cloth_count);
    return result->cloths[index];
}

ResultCounts result_counts(const TdlResult* result) {
    return result->counts;
}

static TdlStatus check_frame(const TdlResult* r, long frame) {
    if (frame < 0 || frame >= r->info.frame_count) {
        return tdl_fail(&r->host, TDL_STATUS_BAD_ARGUMENT, "%s: there is no frame %ld among %ld",
                        r->path, frame, r->info.frame_count);
    }
    return TDL_STATUS_OK;
}

TdlStatus tdl_result_read_frame(TdlResult* result, long frame, double* time, double* points) {
    TdlStatus status = check_frame(result, frame);
    Hdf5Quiet quiet = hdf5_quiet_begin();
    if (status == TDL_STATUS_OK && time != NULL) {
        status = read_set(result, RESULT_TIME, frame, H5T_NATIVE_DOUBLE, time);
    }
    if (status == TDL_STATUS_OK && points != NULL) {
        status = read_set(result, RESULT_POINTS, frame, H5T_NATIVE_DOUBLE, points);
    }
    hdf5_quiet_end(quiet);
    return status;
}

TdlStatus tdl_result_read_poses(TdlResult* result, long frame, TdlPose* poses) {
    TdlStatus status = check_frame(result, frame);
    size_t colliders = (size_t)result->counts.colliders;
    size_t count = colliders + (size_t)result->counts.bodies;
    double* numbers = tdl_alloc_array(&result->host.mem, 12 * count, sizeof *numbers);
    if (numbers == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    Hdf5Quiet quiet = hdf5_quiet_begin();
    if (status == TDL_STATUS_OK) {
        status = read_set(result, RESULT_POSES, frame, H5T_NATIVE_DOUBLE, numbers);
    }
    if (status == TDL_STATUS_OK) {
        status =
            read_set(result, RESULT_BODY_POSES, frame, H5T_NATIVE_DOUBLE, numbers + 12 * colliders);
    }
    hdf5_quiet_end(quiet);
    for (size_t i = 0; status == TDL_STATUS_OK && i < count; ++i) {
        poses[i] = result_unpack_pose(numbers + 12 * i);
    }
    tdl_free(&result->host.mem, numbers);
    return status;
}

// The numbers of a set in a frame; of one of vectors, a TdlVec3 is three doubles in a row.
static TdlStatus read_numbers(TdlResult* r, ResultSet set, long frame, void* out) {
    TdlStatus status = check_frame(r, frame);
    Hdf5Quiet quiet = hdf5_quiet_begin();
    if (status == TDL_STATUS_OK) {
        status = read_set(r, set, frame, H5T_NATIVE_DOUBLE, out);
    }
    hdf5_quiet_end(quiet);
    return status;
}

TdlStatus tdl_result_read_coordinates(TdlResult* result, long frame, double* q) {
    return read_numbers(result, RESULT_Q, frame, q);
}

TdlStatus tdl_result_read_starts(TdlResult* result, long frame, TdlPose* starts) {
    if (result->version < RESULT_SETS[RESULT_STARTS].since) {
        return result_bad_set(result, "frames", "rod_start",
                              "is missing: the result is from an older Tendril");
    }
    double* numbers =
        tdl_alloc_array(&result->host.mem, 12 * (size_t)result->counts.rods, sizeof *numbers);
    if (numbers == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status = read_numbers(result, RESULT_STARTS, frame, numbers);
    for (int i = 0; status == TDL_STATUS_OK && i < result->counts.rods; ++i) {
        starts[i] = result_unpack_pose(numbers + 12 * (size_t)i);
        if (!tdl_pose_is_good(starts[i])) { // also of a frame that an older Tendril wrote
            status = result_bad_set(result, "frames", "rod_start", "has no place and frame");
        }
    }
    tdl_free(&result->host.mem, numbers);
    return status;
}

TdlStatus tdl_result_read_surfaces(TdlResult* result, long frame, TdlVec3* points) {
    return read_numbers(result, RESULT_SURFACE_POINTS, frame, points);
}

TdlStatus tdl_result_read_strains(TdlResult* result, long frame, double* strains) {
    return read_numbers(result, RESULT_STRAINS, frame, strains);
}

TdlStatus tdl_result_read_forces(TdlResult* result, long frame, TdlVec3* forces, TdlVec3* moments) {
    if (result->counts.forces == 0) {
        return result_bad_set(result, "frames", "rod_force",
                              "is missing: the scene has no 'output: {forces: true}'");
    }
    TdlStatus status = read_numbers(result, RESULT_FORCES, frame, forces);
    return status == TDL_STATUS_OK ? read_numbers(result, RESULT_MOMENTS, frame, moments) : status;
}

TdlResultObserver tdl_result_observer(const TdlResult* result, int index) {
    TDL_ASSERT(index >= 0 && index < result->info.observer_count);
    return result->observers[index];
}

TdlStatus tdl_result_read_observed(TdlResult* result, long frame, TdlVec3* values) {
    return read_numbers(result, RESULT_OBSERVED, frame, values);
}

TdlResultJoint tdl_result_joint(const TdlResult* result, int index) {
    TDL_ASSERT(index >= 0 && index < result->info.joint_count);
    return result->joints[index];
}

// Ten numbers a joint, set after set, into `out`.
static TdlStatus read_joint_numbers(TdlResult* r, long frame, double* out, int32_t* broken) {
    size_t count = (size_t)r->counts.joints;
    const ResultSet sets[] = {RESULT_JOINT_POINTS, RESULT_JOINT_FORCES, RESULT_JOINT_TORQUES,
                              RESULT_JOINT_COORDINATES};
    TdlStatus status = TDL_STATUS_OK;
    for (size_t i = 0; status == TDL_STATUS_OK && i < sizeof sets / sizeof *sets; ++i) {
        status = read_set(r, sets[i], frame, H5T_NATIVE_DOUBLE, out + 3 * i * count);
    }
    return status == TDL_STATUS_OK
               ? read_set(r, RESULT_JOINT_BROKEN, frame, H5T_NATIVE_INT32, broken)
               : status;
}

TdlStatus tdl_result_read_joints(TdlResult* result, long frame, TdlResultJointState* joints) {
    size_t count = (size_t)result->counts.joints;
    double* numbers = tdl_alloc_array(&result->host.mem, 10 * count, sizeof *numbers);
    int32_t* broken = tdl_alloc_array(&result->host.mem, count, sizeof *broken);
    TdlStatus status = numbers == NULL || broken == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
    status = status == TDL_STATUS_OK ? check_frame(result, frame) : status;
    Hdf5Quiet quiet = hdf5_quiet_begin();
    if (status == TDL_STATUS_OK) {
        status = read_joint_numbers(result, frame, numbers, broken);
    }
    hdf5_quiet_end(quiet);
    for (int i = 0; status == TDL_STATUS_OK && i < result->counts.joints; ++i) {
        joints[i] = (TdlResultJointState){.point = tdl_load3(numbers, i),
                                          .force = tdl_load3(numbers + 3 * count, i),
                                          .torque = tdl_load3(numbers + 6 * count, i),
                                          .coordinate = numbers[9 * count + (size_t)i],
                                          .broken = broken[i] == 1,
                                          .idle = broken[i] == 2};
    }
    tdl_free(&result->host.mem, numbers);
    tdl_free(&result->host.mem, broken);
    return status;
}

// The rows of a frame in a group of rows, whose ends are in a set of /frames.
typedef struct RowSpan {
    hsize_t first;
    int count;
} RowSpan;

static TdlStatus find_rows(TdlResult* r, ResultSet ends, const RowSets* sets, long frame,
                           RowSpan* out) {
    int64_t first = 0, end = 0;
    TdlStatus status = TDL_STATUS_OK;
    *out = (RowSpan){0};
    if (frame > 0) {
        status = read_set(r, ends, frame - 1, H5T_NATIVE_INT64, &first);
    }
    if (status == TDL_STATUS_OK) {
        status = read_set(r, ends, frame, H5T_NATIVE_INT64, &end);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (first < 0 || end < first || end - first > RESULT_MAX_ROWS ||
        end > (int64_t)sets->row_count) {
        char what[64];
        snprintf(what, sizeof what, "does not fit /%s", sets->table->group);
        return result_bad_set(r, "frames", RESULT_SETS[ends].name, what);
    }
    *out = (RowSpan){(hsize_t)first, (int)(end - first)};
    return TDL_STATUS_OK;
}

// The rows themselves, into room for them.
static TdlStatus read_rows(TdlResult* r, RowSets* sets, long frame, RowSpan span, void* rows,
                           size_t size) {
    if (span.count == 0) {
        return TDL_STATUS_OK;
    }
    TdlStatus status = row_sets_reserve(sets, span.count);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    memset(rows, 0, (size_t)span.count * size);
    if (!row_sets_read(sets, r->path, span.first, span.count, rows)) {
        return result_bad(r, sets->said);
    }
    status = prove_sum(r, frame, sets->table->group, sets->sum);
    if (status == TDL_STATUS_OK && !row_sets_sound(sets, rows, span.count)) {
        status = result_bad(r, sets->said);
    }
    return status;
}

// Reads the contacts of a frame into another's room for them.
static TdlStatus read_contacts(TdlResult* r, long frame, ResultFrame* out) {
    RowSpan span;
    TdlStatus status = find_rows(r, RESULT_CONTACT_END, &r->contact_sets, frame, &span);
    out->contact_count = 0;
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = result_frame_reserve(&r->host, out, span.count);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = read_rows(r, &r->contact_sets, frame, span, out->contacts, sizeof *out->contacts);
    out->contact_count = status == TDL_STATUS_OK ? span.count : 0;
    return status;
}

// The same of particles; there are none without a bed.
static TdlStatus read_particles(TdlResult* r, long frame, ResultFrame* out) {
    RowSpan span;
    TdlStatus status = find_rows(r, RESULT_GRAIN_END, &r->particle_sets, frame, &span);
    out->particle_count = 0;
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = result_frame_reserve_particles(&r->host, out, span.count);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = read_rows(r, &r->particle_sets, frame, span, out->particles, sizeof *out->particles);
    out->particle_count = status == TDL_STATUS_OK ? span.count : 0;
    return status;
}

TdlResultGrains tdl_result_grains(const TdlResult* result) {
    TDL_ASSERT(result->counts.beds > 0);
    return result->grains;
}

TdlStatus tdl_result_read_particles(TdlResult* result, long frame,
                                    const TdlResultParticle** particles, int* count) {
    TdlStatus status = check_frame(result, frame);
    Hdf5Quiet quiet = hdf5_quiet_begin();
    if (status == TDL_STATUS_OK) {
        status = read_particles(result, frame, &result->kept);
    }
    hdf5_quiet_end(quiet);
    *particles = result->kept.particles;
    *count = status == TDL_STATUS_OK ? result->kept.particle_count : 0;
    return status;
}

TdlStatus tdl_result_read_grains_state(TdlResult* result, long frame, TdlResultGrainsState* out) {
    double numbers[RESULT_BED_NUMBERS] = {0};
    TdlStatus status = read_numbers(result, RESULT_GRAINS_STATE, frame, numbers);
    *out = result_unpack_bed(numbers);
    return status;
}

TdlStatus tdl_result_read_contacts(TdlResult* result, long frame, const TdlResultContact** contacts,
                                   int* count) {
    TdlStatus status = check_frame(result, frame);
    Hdf5Quiet quiet = hdf5_quiet_begin();
    if (status == TDL_STATUS_OK) {
        status = read_contacts(result, frame, &result->kept);
    }
    hdf5_quiet_end(quiet);
    *contacts = result->kept.contacts;
    *count = status == TDL_STATUS_OK ? result->kept.contact_count : 0;
    return status;
}

TdlStatus tdl_result_verify(TdlResult* result, long* frame) {
    ResultFrame all = {0};
    TdlStatus status = result_frame_create(&result->host, result->counts, &all);
    for (*frame = 0; status == TDL_STATUS_OK && *frame < result->info.frame_count; ++*frame) {
        status = result_read(result, *frame, &all);
        if (status != TDL_STATUS_OK) {
            break;
        }
    }
    result_frame_destroy(&result->host, &all);
    return status;
}

TdlStatus result_read(TdlResult* result, long frame, ResultFrame* out) {
    TdlStatus status = check_frame(result, frame);
    Hdf5Quiet quiet = hdf5_quiet_begin();
    for (int set = 0; status == TDL_STATUS_OK && set < RESULT_SET_COUNT; ++set) {
        status = read_set(result, (ResultSet)set, frame, result_memory_type(RESULT_SETS[set].type),
                          result_frame_data(out, (ResultSet)set));
    }
    if (status == TDL_STATUS_OK) {
        status = read_contacts(result, frame, out);
    }
    if (status == TDL_STATUS_OK) {
        status = read_particles(result, frame, out);
    }
    hdf5_quiet_end(quiet);
    return status;
}
