// Reading result.h5, also while a run writes it or after one was killed.
//
// The file may come from anybody: every object is checked for kind, type, rank and extent before
// it is read, links must be plain (none leads out of the file), and since HDF5 reads zeros
// behind the end of a cut file without a word, the place of every chunk is compared with the
// file's size. The number of frames is the length of `time`, read before the other sets are
// opened: they are never shorter.
#include "io/result.h"

#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"
#include "io/result_object.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// A limit no sane file reaches; it stops absurd extents before memory is asked for.
enum { MAX_ROWS = 1 << 24 };

// HDF5 reads metadata with a wrong checksum again, in case a writer was in the middle of it, and
// waits 1 ns, 2 ns, 4 ns ... between: about 1 ms in all, where its default never ends.
enum { READ_ATTEMPTS = 18 };

struct TdlResult {
    TdlHost host;
    char path[PATH_SIZE]; // of the HDF5 file
    hid_t file;
    hid_t sets[RESULT_SET_COUNT];
    ContactSets contact_sets;
    int version; // of the format
    hsize_t chunk[RESULT_SET_COUNT][3];
    hsize_t proved[RESULT_SET_COUNT]; // 1 + the row of chunks last found whole
    ResultCounts counts;
    TdlResultInfo info;
    int* point_start;       // [rods + 1]
    TdlResultRod* rods;     // [rods]
    TdlResultShape* shapes; // [info.shape_count]
    TdlResultObserver* observers;
    TdlVec3* vertices; // of all meshes
    int* corners;
    ResultFrame kept; // its contacts are those last read
};

static TdlStatus bad(const TdlResult* r, const char* what) {
    return tdl_fail(&r->host, TDL_STATUS_BAD_INPUT, "%s: %s", r->path, what);
}

static TdlStatus bad_set(const TdlResult* r, const char* group, const char* name,
                         const char* what) {
    return tdl_fail(&r->host, TDL_STATUS_BAD_INPUT, "%s: /%s/%s %s", r->path, group, name, what);
}

// --- the tables ----------------------------------------------------------------------------------

// A column of one of the tables.
typedef struct Column {
    const char *group, *name;
    hid_t file_type, memory_type; // of a number
    hsize_t width;                // numbers per row
} Column;

// Reads a column of `rows` rows.
static TdlStatus read_column(TdlResult* r, const Column* column, int rows, void* out) {
    hid_t group = object_open(r->file, column->group, H5I_GROUP);
    hid_t set = group < 0 ? -1 : object_open(group, column->name, H5I_DATASET);
    if (group >= 0) {
        H5Gclose(group);
    }
    if (set < 0) {
        return bad_set(r, column->group, column->name, "is missing");
    }
    hsize_t dims[3] = {0}, bytes = (hsize_t)rows * column->width * H5Tget_size(column->file_type);
    int rank = column->width == 1 ? 1 : 2;
    TdlStatus status = TDL_STATUS_OK;
    if (!set_has_type(set, column->file_type) || !set_get_dims(set, rank, dims) ||
        dims[0] != (hsize_t)rows || (rank == 2 && dims[1] != column->width) ||
        !set_has_layout(set, H5D_CONTIGUOUS, rank, dims, NULL)) {
        status =
            bad_set(r, column->group, column->name, "has another type or extent than expected");
    } else if (rows > 0 && !file_holds(r->path, H5Dget_offset(set), bytes)) {
        status = bad_set(r, column->group, column->name,
                         "lies behind the end of the file, which was cut");
    } else if (rows > 0 &&
               H5Dread(set, column->memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0) {
        status = bad_set(r, column->group, column->name, "could not be read");
    }
    H5Dclose(set);
    return status;
}

// Texts of `size` bytes each, one after the other.
static TdlStatus read_texts(TdlResult* r, const char* group, const char* name, int rows,
                            size_t size, char* out) {
    hid_t text = result_text_type(size);
    TdlStatus status = read_column(r, &(Column){group, name, text, text, 1}, rows, out);
    H5Tclose(text);
    for (int i = 0; i < rows; ++i) {
        out[(size_t)i * size + size - 1] = '\0';
    }
    return status;
}

static TdlStatus read_words(TdlResult* r, const char* group, const char* name, int rows,
                            char (*out)[TDL_RESULT_WORD_SIZE]) {
    return read_texts(r, group, name, rows, TDL_RESULT_WORD_SIZE, (char*)out);
}

static TdlStatus read_reals(TdlResult* r, const char* group, const char* name, int width, int rows,
                            double* out) {
    Column column = {group, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, (hsize_t)width};
    TdlStatus status = read_column(r, &column, rows, out);
    for (int64_t i = 0; status == TDL_STATUS_OK && i < (int64_t)rows * width; ++i) {
        if (!isfinite(out[i])) {
            status = bad_set(r, group, name, "holds something that is not a number");
        }
    }
    return status;
}

// Reads a column of whole numbers, one a row; *out is freed by the caller.
static TdlStatus read_starts(TdlResult* r, const char* table, const char* name, int** out,
                             int* rows) {
    hid_t group = object_open(r->file, table, H5I_GROUP);
    hid_t set = group < 0 ? -1 : object_open(group, name, H5I_DATASET);
    if (group >= 0) {
        H5Gclose(group);
    }
    *out = NULL;
    *rows = 0;
    if (set < 0) {
        return bad_set(r, table, name, "is missing");
    }
    hsize_t dims[3] = {0};
    TdlStatus status = TDL_STATUS_OK;
    if (!set_has_type(set, H5T_STD_I32LE) || !set_get_dims(set, 1, dims) || dims[0] < 1 ||
        dims[0] > MAX_ROWS || !set_has_layout(set, H5D_CONTIGUOUS, 1, dims, NULL)) {
        status = bad_set(r, table, name, "is not a table of whole numbers");
    } else if (!file_holds(r->path, H5Dget_offset(set), dims[0] * sizeof(int32_t))) {
        status = bad_set(r, table, name, "lies behind the end of the file, which was cut");
    }
    int* data = NULL;
    if (status == TDL_STATUS_OK) {
        data = tdl_alloc_array(&r->host.mem, (size_t)dims[0], sizeof(int));
        status = data == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
    }
    if (status == TDL_STATUS_OK &&
        H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
        status = bad_set(r, table, name, "could not be read");
    }
    for (hsize_t i = 0; status == TDL_STATUS_OK && i < dims[0]; ++i) {
        if (i == 0 ? data[0] != 0 : data[i] < data[i - 1]) {
            status = bad_set(r, table, name, "does not grow from 0");
        }
    }
    H5Dclose(set);
    *out = data;
    *rows = (int)dims[0];
    return status;
}

// What the rods are like; r->counts.rods is known.
static TdlStatus read_rod_facts(TdlResult* r) {
    int n = r->counts.rods;
    size_t rows = (size_t)n;
    r->rods = tdl_alloc_array(&r->host.mem, rows, sizeof *r->rods);
    double* reals = tdl_alloc_array(&r->host.mem, 4 * rows, sizeof *reals);
    int* elements = tdl_alloc_array(&r->host.mem, rows, sizeof *elements);
    char(*models)[TDL_RESULT_WORD_SIZE] = tdl_alloc_array(&r->host.mem, rows, sizeof *models);
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (r->rods != NULL && reals != NULL && elements != NULL && models != NULL) {
        Column whole = {"rods", "element_count", H5T_STD_I32LE, H5T_NATIVE_INT, 1};
        status = read_column(r, &whole, n, elements);
        status = status == TDL_STATUS_OK ? read_reals(r, "rods", "length", 1, n, reals) : status;
        status =
            status == TDL_STATUS_OK ? read_reals(r, "rods", "mass", 1, n, reals + rows) : status;
        status = status == TDL_STATUS_OK ? read_reals(r, "rods", "radius", 2, n, reals + 2 * rows)
                                         : status;
        status = status == TDL_STATUS_OK ? read_words(r, "rods", "model", n, models) : status;
    }
    for (size_t i = 0; status == TDL_STATUS_OK && i < rows; ++i) {
        TdlResultRod* rod = &r->rods[i];
        *rod = (TdlResultRod){.element_count = elements[i],
                              .length = reals[i],
                              .mass = reals[rows + i],
                              .radius = {reals[2 * (rows + i)], reals[2 * (rows + i) + 1]}};
        memcpy(rod->model, models[i], sizeof rod->model);
    }
    tdl_free(&r->host.mem, reals);
    tdl_free(&r->host.mem, elements);
    tdl_free(&r->host.mem, models);
    return status;
}

static TdlStatus read_rods(TdlResult* r) {
    int rows = 0, dof_rows = 0;
    int* dof_start = NULL;
    TdlStatus status = read_starts(r, "rods", "point_start", &r->point_start, &rows);
    if (status == TDL_STATUS_OK) {
        status = read_starts(r, "rods", "dof_start", &dof_start, &dof_rows);
    }
    if (status == TDL_STATUS_OK && rows != dof_rows) {
        status = bad(r, "the tables of /rods differ in length");
    }
    if (status == TDL_STATUS_OK) {
        r->counts.rods = rows - 1;
        r->counts.points = r->point_start[rows - 1];
        r->counts.dofs = dof_start[rows - 1];
    }
    if (status == TDL_STATUS_OK && r->counts.points > INT_MAX / 3) {
        status = bad(r, "has more points than can be");
    }
    tdl_free(&r->host.mem, dof_start);
    return status == TDL_STATUS_OK ? read_rod_facts(r) : status;
}

// The number of rows of a table, from its first column.
static TdlStatus count_rows(TdlResult* r, const char* group_name, const char* name, int* out) {
    hid_t group = object_open(r->file, group_name, H5I_GROUP);
    hid_t set = group < 0 ? -1 : object_open(group, name, H5I_DATASET);
    hsize_t dims[3] = {0};
    bool good = set >= 0 && set_get_dims(set, 1, dims) && dims[0] <= MAX_ROWS;
    if (set >= 0) {
        H5Dclose(set);
    }
    if (group >= 0) {
        H5Gclose(group);
    }
    *out = (int)dims[0];
    return good ? TDL_STATUS_OK : bad_set(r, group_name, name, "is missing or wrong");
}

// Of a file without the table of shapes: each collider is one shape.
static TdlStatus read_collider_shapes(TdlResult* r) {
    int n = r->counts.colliders;
    size_t rows = (size_t)n;
    r->shapes = tdl_alloc_array(&r->host.mem, rows, sizeof *r->shapes);
    double* reals = tdl_alloc_array(&r->host.mem, 2 * rows, sizeof *reals);
    char(*words)[TDL_RESULT_WORD_SIZE] = tdl_alloc_array(&r->host.mem, rows, sizeof *words);
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (r->shapes != NULL && reals != NULL && words != NULL) {
        status = read_words(r, "colliders", "shape", n, words);
        status =
            status == TDL_STATUS_OK ? read_reals(r, "colliders", "radius", 1, n, reals) : status;
        status = status == TDL_STATUS_OK ? read_reals(r, "colliders", "length", 1, n, reals + rows)
                                         : status;
    }
    for (int i = 0; status == TDL_STATUS_OK && i < n; ++i) {
        TdlResultShape* shape = &r->shapes[i];
        *shape = (TdlResultShape){
            .body = i, .size = {reals[i], reals[n + i]}, .pose.rotation = tdl_identity33()};
        memcpy(shape->shape, words[i], sizeof shape->shape);
    }
    r->info.shape_count = n;
    tdl_free(&r->host.mem, reals);
    tdl_free(&r->host.mem, words);
    return status;
}

static TdlStatus read_shapes(TdlResult* r) {
    int n = 0;
    TdlStatus status = count_rows(r, "shapes", "shape", &n);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    size_t rows = (size_t)n;
    r->shapes = tdl_alloc_array(&r->host.mem, rows, sizeof *r->shapes);
    double* reals = tdl_alloc_array(&r->host.mem, 15 * rows, sizeof *reals);
    int* bodies = tdl_alloc_array(&r->host.mem, rows, sizeof *bodies);
    char(*words)[TDL_RESULT_WORD_SIZE] = tdl_alloc_array(&r->host.mem, rows, sizeof *words);
    status = TDL_STATUS_NO_MEMORY;
    if (r->shapes != NULL && reals != NULL && words != NULL && bodies != NULL) {
        Column whole = {"shapes", "body", H5T_STD_I32LE, H5T_NATIVE_INT, 1};
        status = read_words(r, "shapes", "shape", n, words);
        status = status == TDL_STATUS_OK ? read_column(r, &whole, n, bodies) : status;
        status = status == TDL_STATUS_OK ? read_reals(r, "shapes", "size", 3, n, reals) : status;
        status = status == TDL_STATUS_OK ? read_reals(r, "shapes", "pose", 12, n, reals + 3 * rows)
                                         : status;
    }
    for (int i = 0; status == TDL_STATUS_OK && i < n; ++i) {
        TdlResultShape* shape = &r->shapes[i];
        *shape = (TdlResultShape){.body = bodies[i],
                                  .size = {reals[3 * i], reals[3 * i + 1], reals[3 * i + 2]},
                                  .pose = result_unpack_pose(reals + 3 * rows + 12 * i)};
        memcpy(shape->shape, words[i], sizeof shape->shape);
        if (bodies[i] < 0 || bodies[i] >= r->counts.colliders + r->counts.bodies) {
            status = bad_set(r, "shapes", "body", "names one that is not there");
        }
    }
    r->info.shape_count = n;
    tdl_free(&r->host.mem, reals);
    tdl_free(&r->host.mem, bodies);
    tdl_free(&r->host.mem, words);
    return status;
}

// Hands the meshes to their shapes, when every triangle has its vertices.
static TdlStatus share_meshes(TdlResult* r, const int* vertex_start, const int* triangle_start) {
    int mesh = 0;
    for (int i = 0; i < r->info.shape_count; ++i) {
        if (strcmp(r->shapes[i].shape, "mesh") != 0) {
            continue;
        }
        int first = vertex_start[mesh], triangle = triangle_start[mesh];
        TdlMesh own = {r->vertices + first, vertex_start[mesh + 1] - first,
                       r->corners + 3 * (size_t)triangle, triangle_start[mesh + 1] - triangle};
        for (int k = 0; k < 3 * own.triangle_count; ++k) {
            if (own.triangles[k] < 0 || own.triangles[k] >= own.vertex_count) {
                return bad_set(r, "meshes", "triangles", "names a vertex that is not there");
            }
        }
        r->shapes[i].mesh = own;
        ++mesh;
    }
    return TDL_STATUS_OK;
}

static TdlStatus read_meshes(TdlResult* r) {
    int count = 0, rows[2] = {0};
    for (int i = 0; i < r->info.shape_count; ++i) {
        count += strcmp(r->shapes[i].shape, "mesh") == 0;
    }
    if (count == 0) {
        return TDL_STATUS_OK;
    }
    int *vertex_start = NULL, *triangle_start = NULL;
    TdlStatus status = read_starts(r, "meshes", "vertex_start", &vertex_start, &rows[0]);
    if (status == TDL_STATUS_OK) {
        status = read_starts(r, "meshes", "triangle_start", &triangle_start, &rows[1]);
    }
    if (status == TDL_STATUS_OK &&
        (rows[0] != count + 1 || rows[1] != count + 1 || vertex_start[count] > MAX_ROWS ||
         triangle_start[count] > MAX_ROWS)) {
        status = bad(r, "the tables of /meshes do not fit the shapes");
    }
    if (status == TDL_STATUS_OK) {
        int vertices = vertex_start[count], triangles = triangle_start[count];
        r->vertices = tdl_alloc_array(&r->host.mem, (size_t)vertices + 1, sizeof *r->vertices);
        r->corners = tdl_alloc_array(&r->host.mem, 3 * (size_t)triangles + 1, sizeof *r->corners);
        Column corners = {"meshes", "triangles", H5T_STD_I32LE, H5T_NATIVE_INT, 3};
        // three doubles in a row are a TdlVec3
        status = r->vertices == NULL || r->corners == NULL
                     ? TDL_STATUS_NO_MEMORY
                     : read_reals(r, "meshes", "vertices", 3, vertices, (double*)r->vertices);
        status = status == TDL_STATUS_OK ? read_column(r, &corners, triangles, r->corners) : status;
        status = status == TDL_STATUS_OK ? share_meshes(r, vertex_start, triangle_start) : status;
    }
    tdl_free(&r->host.mem, vertex_start);
    tdl_free(&r->host.mem, triangle_start);
    return status;
}

static TdlStatus read_bodies(TdlResult* r) {
    TdlStatus status = count_rows(r, "colliders", "shape", &r->counts.colliders);
    if (status != TDL_STATUS_OK || r->version < 2) {
        return status == TDL_STATUS_OK ? read_collider_shapes(r) : status;
    }
    status = count_rows(r, "bodies", "shape", &r->counts.bodies);
    status = status == TDL_STATUS_OK ? read_shapes(r) : status;
    return status == TDL_STATUS_OK && r->version >= 3 ? read_meshes(r) : status;
}

static TdlStatus read_observers(TdlResult* r) {
    if (r->version < 3 || H5Lexists(r->file, "observers", H5P_DEFAULT) <= 0) {
        return TDL_STATUS_OK;
    }
    int n = 0;
    TdlStatus status = count_rows(r, "observers", "name", &n);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    size_t rows = (size_t)n;
    r->observers = tdl_alloc_array(&r->host.mem, rows, sizeof *r->observers);
    char(*name)[TDL_RESULT_NAME_SIZE] = tdl_alloc_array(&r->host.mem, rows, sizeof *name);
    char(*word)[TDL_RESULT_WORD_SIZE] = tdl_alloc_array(&r->host.mem, 2 * rows, sizeof *word);
    status = TDL_STATUS_NO_MEMORY;
    if (r->observers != NULL && name != NULL && word != NULL) {
        status = read_texts(r, "observers", "name", n, TDL_RESULT_NAME_SIZE, (char*)name);
        status = status == TDL_STATUS_OK ? read_words(r, "observers", "quantity", n, word) : status;
        status = status == TDL_STATUS_OK ? read_words(r, "observers", "unit", n, word + n) : status;
    }
    for (size_t i = 0; status == TDL_STATUS_OK && i < rows; ++i) {
        memcpy(r->observers[i].name, name[i], sizeof name[i]);
        memcpy(r->observers[i].quantity, word[i], sizeof word[i]);
        memcpy(r->observers[i].unit, word[rows + i], sizeof word[i]);
    }
    r->counts.observers = r->info.observer_count = n;
    tdl_free(&r->host.mem, name);
    tdl_free(&r->host.mem, word);
    return status;
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
        return bad_set(r, "frames", spec->name, "is missing");
    }
    r->sets[set] = opened;
    if (!set_has_type(opened, result_file_type(spec->type)) || !set_get_dims(opened, rank, dims) ||
        !set_has_layout(opened, H5D_CHUNKED, rank, dims, r->chunk[set])) {
        return bad_set(r, "frames", spec->name, "has another type, rank or layout than expected");
    }
    for (int i = 1; i < rank; ++i) {
        if (dims[i] != expected[i]) {
            return bad_set(r, "frames", spec->name,
                           "does not fit the tables of rods and colliders");
        }
    }
    if (set == RESULT_TIME) {
        if (dims[0] > LONG_MAX / 2) {
            return bad_set(r, "frames", spec->name, "is absurdly long");
        }
        r->info.frame_count = (long)dims[0];
    } else if (dims[0] < (hsize_t)r->info.frame_count) {
        return bad_set(r, "frames", spec->name, "is shorter than /frames/time");
    }
    return TDL_STATUS_OK;
}

static TdlStatus open_sets(TdlResult* r) {
    hid_t group = object_open(r->file, "frames", H5I_GROUP);
    if (group < 0) {
        return bad(r, "the group /frames is missing");
    }
    // the time first: what is opened later is at least as long
    TdlStatus status = open_set(r, group, RESULT_TIME);
    for (int set = 0; status == TDL_STATUS_OK && set < RESULT_TIME; ++set) {
        status = open_set(r, group, (ResultSet)set);
    }
    H5Gclose(group);
    const char* what;
    if (status == TDL_STATUS_OK && r->version >= 2 &&
        !contact_sets_open(&r->contact_sets, r->file, &what)) {
        status = bad(r, what);
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
    bool good = memory >= 0 && space >= 0 &&
                H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, dims, NULL) >= 0 &&
                H5Dread(r->sets[set], type, memory, space, H5P_DEFAULT, out) >= 0;
    H5Sclose(memory);
    H5Sclose(space);
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
    struct stat info;
    if (stat(r->path, &info) != 0) {
        return tdl_fail(&r->host, TDL_STATUS_IO, "%s: could not be opened: %s", r->path,
                        strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return tdl_fail(&r->host, TDL_STATUS_IO, "%s: not a regular file", r->path);
    }
    r->file = open_mode(r->path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ);
    if (r->file >= 0) {
        return TDL_STATUS_OK;
    }
    // older files of other programs cannot be opened that way; they deserve the right message
    hid_t other = open_mode(r->path, H5F_ACC_RDONLY);
    if (other >= 0) {
        H5Fclose(other);
        return bad(r, "an HDF5 file, but not a result of Tendril");
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
        return bad(r, "an HDF5 file, but not a result of Tendril");
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
        return bad(r, "the attributes tendril_version, title or step_total are missing or wrong");
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
    if (status == TDL_STATUS_OK) {
        status = read_set(r, RESULT_STEP, count - 1, H5T_NATIVE_INT64, &step);
    }
    if (status == TDL_STATUS_OK) {
        status = read_set(r, RESULT_TIME, 0, H5T_NATIVE_DOUBLE, &r->info.first_time);
    }
    if (status == TDL_STATUS_OK &&
        (!isfinite(r->info.first_time) || !isfinite(r->info.last_time))) {
        status = bad_set(r, "frames", "time", "holds something that is not a number");
    }
    r->info.finished = step == step_total;
    return status;
}

static TdlStatus open_all(TdlResult* r) {
    int64_t step_total = 0;
    TdlStatus status = open_file(r);
    status = status == TDL_STATUS_OK ? read_head(r, &step_total) : status;
    status = status == TDL_STATUS_OK ? read_rods(r) : status;
    status = status == TDL_STATUS_OK ? read_bodies(r) : status;
    status = status == TDL_STATUS_OK ? read_observers(r) : status;
    status = status == TDL_STATUS_OK ? open_sets(r) : status;
    status = status == TDL_STATUS_OK ? read_span(r, step_total) : status;
    r->info.rod_count = r->counts.rods;
    r->info.collider_count = r->counts.colliders;
    r->info.body_count = r->counts.bodies;
    r->info.point_count = r->counts.points;
    r->info.dof_count = r->counts.dofs;
    return status;
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
    r->contact_sets = contact_sets_none(host);
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
    contact_sets_close(&r->contact_sets);
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
    tdl_free(&mem, result->rods);
    tdl_free(&mem, result->shapes);
    tdl_free(&mem, result->observers);
    tdl_free(&mem, result->vertices);
    tdl_free(&mem, result->corners);
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

TdlResultRod tdl_result_rod(const TdlResult* result, int index) {
    TDL_ASSERT(index >= 0 && index < result->counts.rods);
    return result->rods[index];
}

TdlResultShape tdl_result_shape(const TdlResult* result, int index) {
    TDL_ASSERT(index >= 0 && index < result->info.shape_count);
    return result->shapes[index];
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

TdlResultObserver tdl_result_observer(const TdlResult* result, int index) {
    TDL_ASSERT(index >= 0 && index < result->info.observer_count);
    return result->observers[index];
}

TdlStatus tdl_result_read_observed(TdlResult* result, long frame, TdlVec3* values) {
    TdlStatus status = check_frame(result, frame);
    Hdf5Quiet quiet = hdf5_quiet_begin();
    if (status == TDL_STATUS_OK) { // three doubles in a row are a TdlVec3
        status = read_set(result, RESULT_OBSERVED, frame, H5T_NATIVE_DOUBLE, values);
    }
    hdf5_quiet_end(quiet);
    return status;
}

// Reads the contacts of a frame into another's room for them.
static TdlStatus read_contacts(TdlResult* r, long frame, ResultFrame* out) {
    int64_t first = 0, end = 0;
    TdlStatus status = TDL_STATUS_OK;
    if (frame > 0) {
        status = read_set(r, RESULT_CONTACT_END, frame - 1, H5T_NATIVE_INT64, &first);
    }
    if (status == TDL_STATUS_OK) {
        status = read_set(r, RESULT_CONTACT_END, frame, H5T_NATIVE_INT64, &end);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (first < 0 || end < first || end - first > MAX_ROWS ||
        end > (int64_t)r->contact_sets.row_count) {
        return bad_set(r, "frames", "contact_end", "does not fit /contacts");
    }
    int count = (int)(end - first);
    status = result_frame_reserve(&r->host, out, count);
    status = status == TDL_STATUS_OK ? contact_sets_reserve(&r->contact_sets, count) : status;
    const char* what;
    if (status == TDL_STATUS_OK && !contact_sets_read(&r->contact_sets, r->path, (hsize_t)first,
                                                      count, out->contacts, &what)) {
        status = bad(r, what);
    }
    out->contact_count = status == TDL_STATUS_OK ? count : 0;
    return status;
}

TdlStatus tdl_result_read_contacts(TdlResult* result, long frame, const TdlContactForce** contacts,
                                   int* count) {
    TdlStatus status = check_frame(result, frame);
    Hdf5Quiet quiet = hdf5_quiet_begin();
    status = status == TDL_STATUS_OK ? read_contacts(result, frame, &result->kept) : status;
    hdf5_quiet_end(quiet);
    *contacts = result->kept.contacts;
    *count = status == TDL_STATUS_OK ? result->kept.contact_count : 0;
    return status;
}

TdlStatus result_read(TdlResult* result, long frame, ResultFrame* out) {
    TdlStatus status = check_frame(result, frame);
    Hdf5Quiet quiet = hdf5_quiet_begin();
    for (int set = 0; status == TDL_STATUS_OK && set < RESULT_SET_COUNT; ++set) {
        status = read_set(result, (ResultSet)set, frame, result_memory_type(RESULT_SETS[set].type),
                          result_frame_data(out, (ResultSet)set));
    }
    status = status == TDL_STATUS_OK ? read_contacts(result, frame, out) : status;
    hdf5_quiet_end(quiet);
    return status;
}
