// Writing result.h5 frame by frame, so that it can be read at any moment.
//
// HDF5's single-writer-multiple-reader mode orders the writes of metadata, so that what is on disk
// is consistent at any moment, also after a kill. On top of that, a frame counts only when it is
// whole: all other sets are written and flushed before `time` grows by one. The file's small
// metadata is kept inside pages of 4 KB: the system may cut a write between two pages when a
// process is killed, never within one. Raw data may be cut, but a chunk written again repeats
// the bytes of the frames it already had.
#include "result/result.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "formats/hdf5_writer.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// A chunk holds frames up to the small size, or part of a frame up to the large one. Each frame
// written rewrites its chunk, which bounds the small size; each chunk costs an index entry and a
// seek, which bounds it from below.
static const hsize_t SMALL_CHUNK = 64 * 1024, LARGE_CHUNK = 1024 * 1024;
static const hsize_t MAX_CHUNK_FRAMES = 1024;

// Chunks that HDF5 keeps of every set: sets only grow at their end, so the last is enough. By
// default it would be a megabyte for each. (What is asked for a single set is lost when the file
// goes live.)
enum { CACHE_SLOTS = 7, CACHE_BYTES = 128 * 1024 };

enum { PAGE_BYTES = 4096 };

struct ResultWriter {
    TdlHost host;
    char path[PATH_SIZE];
    ResultCounts counts;
    hid_t file;
    hid_t sets[RESULT_SET_COUNT]; // H5I_INVALID_HID when left out
    RowSets contacts, particles;
    FrameSums sums;
    hsize_t frame_count;
    bool live, broken;
};

static TdlStatus writer_fail(ResultWriter* writer, const char* what) {
    writer->broken = true;
    return tdl_fail(&writer->host, TDL_STATUS_IO, "%s: could not write %s: %s", writer->path, what,
                    hdf5_reason());
}

// --- attributes ----------------------------------------------------------------------------------

// A copy of the title that fits, cut between two characters of UTF-8.
static void copy_title(char out[256], const char* title) {
    size_t length = title == NULL ? 0 : strlen(title);
    if (length > 255) {
        length = 255;
        while (length > 0 && ((unsigned char)title[length] & 0xc0) == 0x80) {
            --length;
        }
    }
    if (length > 0) {
        memcpy(out, title, length);
    }
    out[length] = '\0';
}

static bool write_head(hid_t file, const ResultDef* def) {
    char title[256];
    copy_title(title, def->title);
    int version = RESULT_VERSION;
    int64_t step_total = def->step_total;
    return result_write_text(file, "format", RESULT_FORMAT) &&
           result_write_attribute(file, "format_version", H5T_NATIVE_INT, &version) &&
           result_write_text(file, "tendril_version", tdl_version()) &&
           result_write_text(file, "title", title) &&
           result_write_attribute(file, "step", H5T_NATIVE_DOUBLE, &def->step) &&
           result_write_attribute(file, "step_total", H5T_NATIVE_INT64, &step_total) &&
           result_write_attribute(file, "samples", H5T_NATIVE_INT, &def->samples);
}

// --- the sets of a frame -------------------------------------------------------------------------

static void choose_chunk(ResultSet set, int rank, const hsize_t dims[3], hsize_t chunk[3]) {
    hsize_t frame_bytes = H5Tget_size(result_file_type(RESULT_SETS[set].type));
    for (int i = 0; i < rank; ++i) {
        chunk[i] = dims[i];
        frame_bytes *= dims[i];
    }
    if (frame_bytes > LARGE_CHUNK) {
        hsize_t parts = (frame_bytes + LARGE_CHUNK - 1) / LARGE_CHUNK;
        chunk[1] = (dims[1] + parts - 1) / parts;
    } else if (frame_bytes < SMALL_CHUNK) {
        chunk[0] = SMALL_CHUNK / frame_bytes;
        chunk[0] = chunk[0] > MAX_CHUNK_FRAMES ? MAX_CHUNK_FRAMES : chunk[0];
    }
}

static bool create_set(ResultWriter* writer, hid_t group, ResultSet set) {
    const ResultSetSpec* spec = &RESULT_SETS[set];
    hsize_t dims[3], chunk[3], most[3];
    int rank = result_set_dims(set, writer->counts, dims);
    if (rank == 0) {
        return true;
    }
    choose_chunk(set, rank, dims, chunk);
    memcpy(most, dims, sizeof most);
    most[0] = H5S_UNLIMITED;
    dims[0] = 0;
    hid_t space = H5Screate_simple(rank, dims, most);
    hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(plan, rank, chunk);
    hid_t made = H5Dcreate2(group, spec->name, result_file_type(spec->type), space, H5P_DEFAULT,
                            plan, H5P_DEFAULT);
    H5Pclose(plan);
    H5Sclose(space);
    writer->sets[set] = made;
    return made >= 0 && result_write_text(made, "unit", spec->unit) &&
           result_write_text(made, "meaning", spec->meaning);
}

static bool create_grains(ResultWriter* writer, const TdlResultGrains* grains) {
    hid_t group = H5I_INVALID_HID;
    bool good = row_sets_create(&writer->particles, writer->file, &group) &&
                result_write_bed(group, grains);
    return (group < 0 || H5Gclose(group) >= 0) && good;
}

// Of all that a frame has.
static bool create_sums(ResultWriter* writer, hid_t group, bool grains) {
    for (int set = 0; set < RESULT_SET_COUNT; ++set) {
        if (writer->sets[set] >= 0) {
            frame_sums_name(&writer->sums, RESULT_SETS[set].name);
        }
    }
    frame_sums_name(&writer->sums, RESULT_CONTACTS.group);
    if (grains) {
        frame_sums_name(&writer->sums, RESULT_PARTICLES.group);
    }
    return frame_sums_create(&writer->sums, group);
}

static bool create_sets(ResultWriter* writer, const ResultDef* def) {
    hid_t group = H5Gcreate2(writer->file, "frames", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0;
    for (int set = 0; good && set < RESULT_SET_COUNT; ++set) {
        good = create_set(writer, group, (ResultSet)set);
    }
    good = good && row_sets_create(&writer->contacts, writer->file, NULL);
    good = good && (def->grains == NULL || create_grains(writer, def->grains));
    good = good && create_sums(writer, group, def->grains != NULL);
    return (group < 0 || H5Gclose(group) >= 0) && good;
}

static hid_t create_file(const char* path) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), plan = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    H5Pset_cache(access, 0, CACHE_SLOTS, CACHE_BYTES, 1.0);
    H5Pset_file_locking(access, true, true); // do without on file systems that cannot lock
    H5Pset_file_space_strategy(plan, H5F_FSPACE_STRATEGY_PAGE, false, 1);
    H5Pset_file_space_page_size(plan, PAGE_BYTES);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, plan, access);
    H5Pclose(plan);
    H5Pclose(access);
    return file;
}

// --- the writer ----------------------------------------------------------------------------------

static TdlStatus count_all(const TdlHost* host, const ResultDef* def, ResultCounts* out) {
    int64_t points = 0, dofs = 0, surface_points = 0, cloth_points = 0;
    for (int i = 0; i < def->rod_count; ++i) {
        points += def->rods[i].point_count;
        dofs += def->rods[i].dof_count;
    }
    for (int i = 0; i < def->surface_count; ++i) {
        surface_points += def->surfaces[i].point_count;
    }
    for (int i = 0; i < def->cloth_count; ++i) {
        cloth_points += def->cloths[i].point_count; // no more than the surfaces have
    }
    if (points > INT_MAX / 3 || surface_points > INT_MAX / 3 || dofs > INT_MAX ||
        def->joint_count > INT_MAX / 3 || def->collider_count > INT_MAX / 12 ||
        def->body_count > INT_MAX / 12) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "%lld points a frame are too many; use fewer samples", (long long)points);
    }
    *out = (ResultCounts){.rods = def->rod_count,
                          .colliders = def->collider_count,
                          .bodies = def->body_count,
                          .points = (int)points,
                          .dofs = (int)dofs,
                          .observers = def->observer_count,
                          .surface_points = (int)surface_points,
                          .cloth_points = (int)cloth_points,
                          .forces = def->forces ? (int)points : 0,
                          .joints = def->joint_count,
                          .beds = def->grains != NULL};
    return TDL_STATUS_OK;
}

static TdlStatus create_all(ResultWriter* writer, const ResultDef* def) {
    if (!hdf5_has_room(HDF5_ROOM)) {
        return tdl_fail(&writer->host, TDL_STATUS_NO_MEMORY, "%s: not enough memory to write it",
                        writer->path);
    }
    writer->file = create_file(writer->path);
    if (writer->file < 0) {
        return writer_fail(writer, "the file");
    }
    if (!write_head(writer->file, def)) {
        return writer_fail(writer, "its head");
    }
    const char* what;
    TdlStatus status = result_write_tables(&writer->host, writer->file, def, &what);
    status = status == TDL_STATUS_IO ? writer_fail(writer, what) : status;
    if (status == TDL_STATUS_OK && !create_sets(writer, def)) {
        status = writer_fail(writer, "its sets");
    }
    return status;
}

TdlStatus result_writer_create(const TdlHost* host, const char* path, const ResultDef* def,
                               ResultWriter** out) {
    ResultCounts counts;
    TdlStatus status = count_all(host, def, &counts);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    ResultWriter* writer = tdl_alloc_zero(&host->mem, sizeof *writer);
    if (writer == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    writer->host = *host;
    writer->counts = counts;
    writer->file = H5I_INVALID_HID;
    writer->contacts = row_sets_none(host, &RESULT_CONTACTS);
    writer->particles = row_sets_none(host, &RESULT_PARTICLES);
    writer->sums = frame_sums_none();
    for (int i = 0; i < RESULT_SET_COUNT; ++i) {
        writer->sets[i] = H5I_INVALID_HID;
    }
    snprintf(writer->path, sizeof writer->path, "%s", path);
    Hdf5Quiet quiet = hdf5_quiet_begin();
    status = create_all(writer, def);
    hdf5_quiet_end(quiet);
    if (status != TDL_STATUS_OK) {
        result_writer_close(writer);
        return status;
    }
    *out = writer;
    return TDL_STATUS_OK;
}

ResultCounts result_writer_counts(const ResultWriter* writer) {
    return writer->counts;
}

long result_writer_frame_count(const ResultWriter* writer) {
    return (long)writer->frame_count;
}

void result_writer_moved(ResultWriter* writer, const char* path) {
    snprintf(writer->path, sizeof writer->path, "%s", path);
}

TdlStatus result_writer_go_live(ResultWriter* writer) {
    Hdf5Quiet quiet = hdf5_quiet_begin();
    TdlStatus status = TDL_STATUS_OK;
    if (H5Fflush(writer->file, H5F_SCOPE_LOCAL) < 0 || H5Fstart_swmr_write(writer->file) < 0) {
        status = writer_fail(writer, "its head");
    }
    hdf5_quiet_end(quiet);
    writer->live = true;
    return status;
}

// Extends a set by one frame and writes it there.
static bool append_to_set(ResultWriter* writer, ResultSet set, const void* data) {
    hsize_t dims[3], start[3] = {writer->frame_count, 0, 0};
    int rank = result_set_dims(set, writer->counts, dims);
    hid_t memory = H5Screate_simple(rank, dims, NULL);
    hsize_t grown[3] = {writer->frame_count + 1, dims[1], dims[2]};
    bool good = H5Dset_extent(writer->sets[set], grown) >= 0;
    hid_t space = good ? H5Dget_space(writer->sets[set]) : H5I_INVALID_HID;
    good = good && space >= 0 &&
           H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, dims, NULL) >= 0 &&
           H5Dwrite(writer->sets[set], result_memory_type(RESULT_SETS[set].type), memory, space,
                    H5P_DEFAULT, data) >= 0;
    if (space >= 0) {
        H5Sclose(space);
    }
    H5Sclose(memory);
    return good;
}

static void put_sum(FrameSums* sums, const char* name, uint64_t sum) {
    int column = frame_sums_column(sums, name);
    if (column >= 0) {
        sums->sums[column] = (int64_t)sum;
    }
}

// The checksums of a frame whose rows are written.
static bool append_sums(ResultWriter* writer, const ResultFrame* frame) {
    FrameSums* sums = &writer->sums;
    for (int set = 0; set < RESULT_SET_COUNT; ++set) {
        if (writer->sets[set] >= 0) {
            size_t size = result_set_bytes((ResultSet)set, writer->counts);
            const void* data = result_frame_data(frame, (ResultSet)set);
            put_sum(sums, RESULT_SETS[set].name, hash_words(HASH_START, data, size));
        }
    }
    put_sum(sums, RESULT_CONTACTS.group, writer->contacts.sum);
    put_sum(sums, RESULT_PARTICLES.group, writer->particles.sum);
    return frame_sums_append(sums, (long)writer->frame_count) &&
           (!writer->live || H5Dflush(sums->set) >= 0);
}

static bool append_frame(ResultWriter* writer, const ResultFrame* given) {
    // everything but the time, out to the file
    if (!row_sets_append(&writer->contacts, given->contacts, given->contact_count) ||
        !row_sets_append(&writer->particles, given->particles, given->particle_count)) {
        return false;
    }
    ResultFrame frame = *given;
    frame.contact_end = (int64_t)writer->contacts.row_count;
    frame.grain_end = (int64_t)writer->particles.row_count;
    for (int set = 0; set < RESULT_TIME; ++set) {
        if (writer->sets[set] >= 0 &&
            !append_to_set(writer, (ResultSet)set, result_frame_data(&frame, (ResultSet)set))) {
            return false;
        }
    }
    if (writer->live && frame.contact_count > 0 && !row_sets_flush(&writer->contacts)) {
        return false;
    }
    if (writer->live && frame.particle_count > 0 && !row_sets_flush(&writer->particles)) {
        return false;
    }
    for (int set = 0; writer->live && set < RESULT_TIME; ++set) {
        if (writer->sets[set] >= 0 && H5Dflush(writer->sets[set]) < 0) {
            return false;
        }
    }
    // then the time, which makes the frame count
    return append_sums(writer, &frame) && append_to_set(writer, RESULT_TIME, &frame.time) &&
           (!writer->live || H5Dflush(writer->sets[RESULT_TIME]) >= 0);
}

// What HDF5 may take for a frame: a copy of the largest set, and of the chunks it lies in.
static bool has_room(const ResultWriter* writer, const ResultFrame* frame) {
    size_t most = sizeof(double) * ROW_WIDTH_MAX *
                  (size_t)(frame->contact_count > frame->particle_count ? frame->contact_count
                                                                        : frame->particle_count);
    for (int set = 0; set < RESULT_SET_COUNT; ++set) {
        size_t bytes = result_set_bytes((ResultSet)set, writer->counts);
        most = bytes > most ? bytes : most;
    }
    return hdf5_has_room(HDF5_ROOM + 2 * most);
}

TdlStatus result_writer_append(ResultWriter* writer, const ResultFrame* frame) {
    if (writer->broken) {
        return TDL_STATUS_IO; // told already
    }
    if (!has_room(writer, frame)) {
        return tdl_fail(&writer->host, TDL_STATUS_NO_MEMORY,
                        "%s: not enough memory to write frame %llu", writer->path,
                        (unsigned long long)writer->frame_count);
    }
    TdlStatus status = row_sets_reserve(&writer->contacts, frame->contact_count);
    if (status == TDL_STATUS_OK) {
        status = row_sets_reserve(&writer->particles, frame->particle_count);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    Hdf5Quiet quiet = hdf5_quiet_begin();
    if (append_frame(writer, frame)) {
        ++writer->frame_count;
    } else {
        char what[64];
        snprintf(what, sizeof what, "frame %llu", (unsigned long long)writer->frame_count);
        status = writer_fail(writer, what);
    }
    hdf5_quiet_end(quiet);
    return status;
}

// Puts a nameless file in memory behind the descriptor. Closing would otherwise mark a file whose
// last writes failed as complete, with an end it never reached; this way it stays as a kill would
// leave it, readable up to its last whole frame.
static void abandon_file(ResultWriter* writer) {
    void* handle = NULL;
    if (writer->file < 0 || H5Fget_vfd_handle(writer->file, H5P_DEFAULT, &handle) < 0) {
        return;
    }
    int nowhere = memfd_create("abandoned", MFD_CLOEXEC);
    if (nowhere >= 0) {
        dup2(nowhere, *(const int*)handle);
        close(nowhere);
    }
}

TdlStatus result_writer_close(ResultWriter* writer) {
    if (writer == NULL) {
        return TDL_STATUS_OK;
    }
    Hdf5Quiet quiet = hdf5_quiet_begin();
    bool told = writer->broken, good = true;
    if (writer->broken) {
        abandon_file(writer);
    }
    row_sets_close(&writer->contacts);
    row_sets_close(&writer->particles);
    frame_sums_close(&writer->sums);
    for (int i = 0; i < RESULT_SET_COUNT; ++i) {
        good = (writer->sets[i] < 0 || H5Dclose(writer->sets[i]) >= 0) && good;
    }
    good = (writer->file < 0 || H5Fclose(writer->file) >= 0) && good;
    TdlStatus status = told ? TDL_STATUS_IO : TDL_STATUS_OK;
    if (!good && !told) {
        status = writer_fail(writer, "its end");
    }
    hdf5_quiet_end(quiet);
    TdlAllocator mem = writer->host.mem;
    tdl_free(&mem, writer);
    return status;
}
