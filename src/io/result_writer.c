// Writing result.h5 frame by frame, so that it can be read at any moment.
//
// HDF5's single-writer-multiple-reader mode orders the writes of metadata, so that what is on disk
// is consistent at any moment, also after a kill. On top of that, a frame counts only when it is
// whole: all other sets are written and flushed before `time` grows by one. The file's small
// metadata is kept inside pages of 4 KB: the system may cut a write between two pages when a
// process is killed, never within one. Raw data may be cut, but a chunk written again repeats
// the bytes of the frames it already had.
#include "io/result.h"

#include "base/log.h"
#include "base/memory.h"

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

enum { PAGE_BYTES = 4096, WORD_SIZE = 32 };

struct ResultWriter {
    TdlHost host;
    char path[PATH_SIZE];
    ResultCounts counts;
    hid_t file;
    hid_t sets[RESULT_SET_COUNT]; // H5I_INVALID_HID when left out
    hsize_t frame_count;
    bool live, broken;
};

static TdlStatus writer_fail(ResultWriter* writer, const char* what) {
    writer->broken = true;
    return tdl_fail(&writer->host, TDL_STATUS_IO, "%s: could not write %s: %s", writer->path, what,
                    hdf5_reason());
}

// --- attributes ----------------------------------------------------------------------------------

static bool write_attribute(hid_t object, const char* name, hid_t type, const void* value) {
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    good = (attribute < 0 || H5Aclose(attribute) >= 0) && good;
    H5Sclose(space);
    return good;
}

static hid_t text_type(size_t size) {
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, size);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

static bool write_text(hid_t object, const char* name, const char* text) {
    hid_t type = text_type(strlen(text) + 1);
    bool good = write_attribute(object, name, type, text);
    H5Tclose(type);
    return good;
}

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
    return write_text(file, "format", RESULT_FORMAT) &&
           write_attribute(file, "format_version", H5T_NATIVE_INT, &version) &&
           write_text(file, "tendril_version", tdl_version()) && write_text(file, "title", title) &&
           write_attribute(file, "step", H5T_NATIVE_DOUBLE, &def->step) &&
           write_attribute(file, "step_total", H5T_NATIVE_INT64, &step_total) &&
           write_attribute(file, "samples", H5T_NATIVE_INT, &def->samples);
}

// --- tables of rods and colliders ----------------------------------------------------------------

typedef struct Column {
    const char *name, *unit, *meaning;
    hid_t file_type, memory_type;
    hsize_t dims[2]; // rows; numbers per row, 0 for one
    const void* data;
} Column;

static bool write_column(hid_t group, const Column* column) {
    hid_t space = H5Screate_simple(column->dims[1] == 0 ? 1 : 2, column->dims, NULL);
    hid_t set = H5Dcreate2(group, column->name, column->file_type, space, H5P_DEFAULT, H5P_DEFAULT,
                           H5P_DEFAULT);
    bool good = set >= 0 && write_text(set, "unit", column->unit) &&
                write_text(set, "meaning", column->meaning);
    good = good && (column->dims[0] == 0 || H5Dwrite(set, column->memory_type, H5S_ALL, H5S_ALL,
                                                     H5P_DEFAULT, column->data) >= 0);
    good = (set < 0 || H5Dclose(set) >= 0) && good;
    H5Sclose(space);
    return good;
}

static bool write_columns(hid_t file, const char* group_name, const Column* columns, int count) {
    hid_t group = H5Gcreate2(file, group_name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0;
    for (int i = 0; good && i < count; ++i) {
        good = write_column(group, &columns[i]);
    }
    return (group < 0 || H5Gclose(group) >= 0) && good;
}

// The rods' figures by columns, in one block of memory.
typedef struct RodColumns {
    double (*radius)[2];
    double *length, *mass;
    int *point_start, *dof_start, *element_count;
    char (*model)[WORD_SIZE];
} RodColumns;

static void* allocate_rods(const TdlHost* host, size_t n, RodColumns* c) {
    size_t row = 4 * sizeof(double) + 3 * sizeof(int) + WORD_SIZE;
    char* block = tdl_alloc_array(&host->mem, n + 1, row);
    if (block != NULL) {
        c->radius = (void*)block;
        c->length = (double*)(c->radius + n);
        c->mass = c->length + n;
        c->point_start = (int*)(c->mass + n);
        c->dof_start = c->point_start + n + 1;
        c->element_count = c->dof_start + n + 1;
        c->model = (void*)(c->element_count + n);
    }
    return block;
}

static void fill_rods(const ResultDef* def, RodColumns* c) {
    for (int i = 0; i < def->rod_count; ++i) {
        const ResultRod* rod = &def->rods[i];
        c->radius[i][0] = rod->radius[0];
        c->radius[i][1] = rod->radius[1];
        c->length[i] = rod->length;
        c->mass[i] = rod->mass;
        c->point_start[i + 1] = c->point_start[i] + rod->point_count;
        c->dof_start[i + 1] = c->dof_start[i] + rod->dof_count;
        c->element_count[i] = rod->element_count;
        snprintf(c->model[i], WORD_SIZE, "%s", rod->model);
    }
}

static TdlStatus write_rods(ResultWriter* writer, const ResultDef* def) {
    RodColumns c = {0};
    hsize_t n = (hsize_t)def->rod_count;
    void* block = allocate_rods(&writer->host, (size_t)n, &c);
    if (block == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    fill_rods(def, &c);
    hid_t word = text_type(WORD_SIZE), f64 = H5T_IEEE_F64LE, i32 = H5T_STD_I32LE;
    hid_t real = H5T_NATIVE_DOUBLE, whole = H5T_NATIVE_INT;
    const Column columns[] = {
        {"point_start",
         "1",
         "first point of each rod in a frame; the last entry is the number of "
         "points",
         i32,
         whole,
         {n + 1, 0},
         c.point_start},
        {"dof_start",
         "1",
         "first generalised coordinate of each rod; the last entry is their "
         "number",
         i32,
         whole,
         {n + 1, 0},
         c.dof_start},
        {"element_count", "1", "elements of each rod", i32, whole, {n, 0}, c.element_count},
        {"length", "m", "length of each rod", f64, real, {n, 0}, c.length},
        {"radius",
         "m",
         "half-axes of the elliptic section of each rod",
         f64,
         real,
         {n, 2},
         c.radius},
        {"mass", "kg", "mass of each rod", f64, real, {n, 0}, c.mass},
        {"model", "1", "model of each rod", word, word, {n, 0}, c.model},
    };
    int count = (int)(sizeof columns / sizeof *columns);
    bool good = write_columns(writer->file, "rods", columns, count);
    H5Tclose(word);
    tdl_free(&writer->host.mem, block);
    return good ? TDL_STATUS_OK : writer_fail(writer, "its table of rods");
}

static const char* shape_name(TdlShape shape) {
    switch (shape) {
    case TDL_SHAPE_PLANE:
        return "plane";
    case TDL_SHAPE_SPHERE:
        return "sphere";
    case TDL_SHAPE_CYLINDER:
        return "cylinder";
    case TDL_SHAPE_CAPSULE:
        return "capsule";
    }
    return "unknown";
}

static TdlStatus write_colliders(ResultWriter* writer, const ResultDef* def) {
    size_t n = (size_t)def->collider_count;
    char* block = tdl_alloc_array(&writer->host.mem, n + 1, 2 * sizeof(double) + WORD_SIZE);
    if (block == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    double *radius = (double*)(void*)block, *length = radius + n;
    char(*shape)[WORD_SIZE] = (void*)(length + n);
    for (size_t i = 0; i < n; ++i) {
        radius[i] = def->colliders[i].radius;
        length[i] = def->colliders[i].length;
        snprintf(shape[i], WORD_SIZE, "%s", shape_name(def->colliders[i].shape));
    }
    hid_t word = text_type(WORD_SIZE);
    const Column columns[] = {
        {"shape", "1", "plane, sphere, cylinder or capsule", word, word, {n, 0}, shape},
        {"radius",
         "m",
         "radius of each collider; 0 for a plane",
         H5T_IEEE_F64LE,
         H5T_NATIVE_DOUBLE,
         {n, 0},
         radius},
        {"length",
         "m",
         "length of each capsule between its cap centres",
         H5T_IEEE_F64LE,
         H5T_NATIVE_DOUBLE,
         {n, 0},
         length},
    };
    int count = (int)(sizeof columns / sizeof *columns);
    bool good = write_columns(writer->file, "colliders", columns, count);
    H5Tclose(word);
    tdl_free(&writer->host.mem, block);
    return good ? TDL_STATUS_OK : writer_fail(writer, "its table of colliders");
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
    return made >= 0 && write_text(made, "unit", spec->unit) &&
           write_text(made, "meaning", spec->meaning);
}

static bool create_sets(ResultWriter* writer) {
    hid_t group = H5Gcreate2(writer->file, "frames", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0;
    for (int set = 0; good && set < RESULT_SET_COUNT; ++set) {
        good = create_set(writer, group, (ResultSet)set);
    }
    return (group < 0 || H5Gclose(group) >= 0) && good;
}

static hid_t create_file(const char* path) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), plan = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
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
    int64_t points = 0, dofs = 0;
    for (int i = 0; i < def->rod_count; ++i) {
        points += def->rods[i].point_count;
        dofs += def->rods[i].dof_count;
    }
    if (points > INT_MAX / 3 || dofs > INT_MAX || def->collider_count > INT_MAX / 12) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "%lld points a frame are too many; use fewer samples", (long long)points);
    }
    *out = (ResultCounts){def->rod_count, def->collider_count, (int)points, (int)dofs};
    return TDL_STATUS_OK;
}

static TdlStatus create_all(ResultWriter* writer, const ResultDef* def) {
    writer->file = create_file(writer->path);
    if (writer->file < 0) {
        return writer_fail(writer, "the file");
    }
    if (!write_head(writer->file, def)) {
        return writer_fail(writer, "its head");
    }
    TdlStatus status = write_rods(writer, def);
    status = status == TDL_STATUS_OK ? write_colliders(writer, def) : status;
    if (status == TDL_STATUS_OK && !create_sets(writer)) {
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

static bool append_frame(ResultWriter* writer, const ResultFrame* frame) {
    // everything but the time, out to the file
    for (int set = 0; set < RESULT_TIME; ++set) {
        if (writer->sets[set] >= 0 &&
            !append_to_set(writer, (ResultSet)set, result_frame_data(frame, (ResultSet)set))) {
            return false;
        }
    }
    for (int set = 0; writer->live && set < RESULT_TIME; ++set) {
        if (writer->sets[set] >= 0 && H5Dflush(writer->sets[set]) < 0) {
            return false;
        }
    }
    // then the time, which makes the frame count
    return append_to_set(writer, RESULT_TIME, &frame->time) &&
           (!writer->live || H5Dflush(writer->sets[RESULT_TIME]) >= 0);
}

TdlStatus result_writer_append(ResultWriter* writer, const ResultFrame* frame) {
    if (writer->broken) {
        return TDL_STATUS_IO; // told already
    }
    Hdf5Quiet quiet = hdf5_quiet_begin();
    TdlStatus status = TDL_STATUS_OK;
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
