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
    ContactSets contacts;
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
    bool good = set >= 0 && result_write_text(set, "unit", column->unit) &&
                result_write_text(set, "meaning", column->meaning);
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
    char (*model)[TDL_RESULT_WORD_SIZE];
} RodColumns;

static void* allocate_rods(const TdlHost* host, size_t n, RodColumns* c) {
    size_t row = 4 * sizeof(double) + 3 * sizeof(int) + TDL_RESULT_WORD_SIZE;
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
        snprintf(c->model[i], TDL_RESULT_WORD_SIZE, "%s", rod->model);
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
    hid_t word = result_text_type(TDL_RESULT_WORD_SIZE), f64 = H5T_IEEE_F64LE, i32 = H5T_STD_I32LE;
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
    case TDL_SHAPE_PLATE:
        return "plate";
    case TDL_SHAPE_COMB:
        return "comb";
    case TDL_SHAPE_MESH:
        return "mesh";
    case TDL_SHAPE_CURVES:
        return "curves";
    }
    return "unknown";
}

static TdlStatus write_colliders(ResultWriter* writer, const ResultDef* def) {
    size_t n = (size_t)def->collider_count;
    char* block =
        tdl_alloc_array(&writer->host.mem, n + 1, 2 * sizeof(double) + TDL_RESULT_WORD_SIZE);
    if (block == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    double *radius = (double*)(void*)block, *length = radius + n;
    char(*shape)[TDL_RESULT_WORD_SIZE] = (void*)(length + n);
    for (size_t i = 0; i < n; ++i) {
        radius[i] = def->colliders[i].radius;
        length[i] = def->colliders[i].length;
        snprintf(shape[i], TDL_RESULT_WORD_SIZE, "%s", shape_name(def->colliders[i].shape));
    }
    hid_t word = result_text_type(TDL_RESULT_WORD_SIZE);
    const Column columns[] = {
        {"shape",
         "1",
         "plane, sphere, cylinder, capsule, plate, comb, curves or mesh",
         word,
         word,
         {n, 0},
         shape},
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

static const char* rigid_shape_name(TdlRigidShape shape) {
    switch (shape) {
    case TDL_RIGID_SPHERE:
        return "sphere";
    case TDL_RIGID_CAPSULE:
        return "capsule";
    case TDL_RIGID_BOX:
        return "box";
    case TDL_RIGID_CURVES:
        return "curves";
    }
    return "unknown";
}

static TdlStatus write_bodies(ResultWriter* writer, const ResultDef* def) {
    size_t n = (size_t)def->body_count;
    char(*shape)[TDL_RESULT_WORD_SIZE] =
        tdl_alloc_array(&writer->host.mem, n + 1, TDL_RESULT_WORD_SIZE);
    if (shape == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < n; ++i) {
        snprintf(shape[i], TDL_RESULT_WORD_SIZE, "%s", rigid_shape_name(def->bodies[i].shape));
    }
    hid_t word = result_text_type(TDL_RESULT_WORD_SIZE);
    Column column = {"shape", "1", "sphere, capsule, box or curves", word, word, {n, 0}, shape};
    bool good = write_columns(writer->file, "bodies", &column, 1);
    H5Tclose(word);
    tdl_free(&writer->host.mem, shape);
    return good ? TDL_STATUS_OK : writer_fail(writer, "its table of bodies");
}

static TdlStatus write_shapes(ResultWriter* writer, const ResultDef* def) {
    size_t n = (size_t)def->shape_count;
    size_t row = 15 * sizeof(double) + sizeof(int) + TDL_RESULT_WORD_SIZE;
    char* block = tdl_alloc_array(&writer->host.mem, n + 1, row);
    if (block == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    double *size = (double*)(void*)block, *pose = size + 3 * n;
    int* body = (int*)(pose + 12 * n);
    char(*word)[TDL_RESULT_WORD_SIZE] = (void*)(body + n);
    for (size_t i = 0; i < n; ++i) {
        const TdlResultShape* shape = &def->shapes[i];
        memcpy(size + 3 * i, shape->size, sizeof shape->size);
        result_pack_pose(shape->pose, pose + 12 * i);
        body[i] = shape->body;
        memcpy(word[i], shape->shape, TDL_RESULT_WORD_SIZE);
    }
    hid_t words = result_text_type(TDL_RESULT_WORD_SIZE);
    const Column columns[] = {
        {"shape",
         "1",
         "plane, sphere, cylinder, capsule, disc, box or mesh",
         words,
         words,
         {n, 0},
         word},
        {"body",
         "1",
         "which it moves with: colliders from 0, then rigid bodies",
         H5T_STD_I32LE,
         H5T_NATIVE_INT,
         {n, 0},
         body},
        {"size",
         "m",
         "radius, then length of a capsule; radius of a disc, then of its rim; half sizes of a "
         "box; "
         "thickness of a mesh to each side",
         H5T_IEEE_F64LE,
         H5T_NATIVE_DOUBLE,
         {n, 3},
         size},
        {"pose",
         "m, 1",
         "in the frame of the body: position (3 numbers), columns of the rotation (9)",
         H5T_IEEE_F64LE,
         H5T_NATIVE_DOUBLE,
         {n, 12},
         pose},
    };
    int count = (int)(sizeof columns / sizeof *columns);
    bool good = write_columns(writer->file, "shapes", columns, count);
    H5Tclose(words);
    tdl_free(&writer->host.mem, block);
    return good ? TDL_STATUS_OK : writer_fail(writer, "its table of shapes");
}

// The meshes of the shapes, one after the other; with a null `vertex_start` they are only counted.
static void count_meshes(const ResultDef* def, size_t* count, size_t* vertices, size_t* triangles,
                         int* vertex_start, int* triangle_start) {
    *count = *vertices = *triangles = 0;
    for (int i = 0; i < def->shape_count; ++i) {
        const TdlMesh* mesh = &def->shapes[i].mesh;
        if (mesh->triangle_count > 0) {
            ++*count;
            *vertices += (size_t)mesh->vertex_count;
            *triangles += (size_t)mesh->triangle_count;
            if (vertex_start != NULL) {
                vertex_start[*count] = (int)*vertices;
                triangle_start[*count] = (int)*triangles;
            }
        }
    }
}

static void gather_meshes(const ResultDef* def, double* vertex, int* corner) {
    for (int i = 0; i < def->shape_count; ++i) {
        const TdlMesh* mesh = &def->shapes[i].mesh;
        for (int k = 0; k < mesh->vertex_count; ++k, vertex += 3) {
            tdl_store3(vertex, 0, mesh->vertices[k]);
        }
        for (int k = 0; k < 3 * mesh->triangle_count; ++k) {
            *corner++ = mesh->triangles[k];
        }
    }
}

static TdlStatus write_meshes(ResultWriter* writer, const ResultDef* def) {
    size_t n, vertices, triangles;
    count_meshes(def, &n, &vertices, &triangles, NULL, NULL);
    if (n == 0) {
        return TDL_STATUS_OK;
    }
    const TdlAllocator* mem = &writer->host.mem;
    double* vertex = tdl_alloc_array(mem, 3 * vertices, sizeof *vertex);
    int* corner = tdl_alloc_array(mem, 3 * triangles + 2 * (n + 1), sizeof *corner);
    bool memory = vertex != NULL && corner != NULL, good = false;
    if (memory) {
        int *vertex_start = corner + 3 * triangles, *triangle_start = vertex_start + n + 1;
        count_meshes(def, &n, &vertices, &triangles, vertex_start, triangle_start);
        gather_meshes(def, vertex, corner);
        const Column columns[] = {
            {"vertex_start",
             "1",
             "first vertex of each mesh, in the order of the shapes that are meshes; and the end",
             H5T_STD_I32LE,
             H5T_NATIVE_INT,
             {n + 1, 0},
             vertex_start},
            {"triangle_start",
             "1",
             "first triangle of each mesh; and the end",
             H5T_STD_I32LE,
             H5T_NATIVE_INT,
             {n + 1, 0},
             triangle_start},
            {"vertices",
             "m",
             "places in the frame of the shape",
             H5T_IEEE_F64LE,
             H5T_NATIVE_DOUBLE,
             {vertices, 3},
             vertex},
            {"triangles",
             "1",
             "their vertices, from 0 in each mesh, counterclockwise seen from outside",
             H5T_STD_I32LE,
             H5T_NATIVE_INT,
             {triangles, 3},
             corner},
        };
        int count = (int)(sizeof columns / sizeof *columns);
        good = write_columns(writer->file, "meshes", columns, count);
    }
    tdl_free(mem, vertex);
    tdl_free(mem, corner);
    return !memory ? TDL_STATUS_NO_MEMORY
           : good  ? TDL_STATUS_OK
                   : writer_fail(writer, "its meshes");
}

static TdlStatus write_observers(ResultWriter* writer, const ResultDef* def) {
    size_t n = (size_t)def->observer_count;
    size_t row = TDL_RESULT_NAME_SIZE + 2 * TDL_RESULT_WORD_SIZE;
    char* block = n == 0 ? NULL : tdl_alloc_array(&writer->host.mem, n, row);
    if (block == NULL) {
        return n == 0 ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
    }
    char(*name)[TDL_RESULT_NAME_SIZE] = (void*)block;
    char(*quantity)[TDL_RESULT_WORD_SIZE] = (void*)(name + n);
    char(*unit)[TDL_RESULT_WORD_SIZE] = quantity + n;
    for (size_t i = 0; i < n; ++i) {
        memcpy(name[i], def->observers[i].name, sizeof name[i]);
        memcpy(quantity[i], def->observers[i].quantity, sizeof quantity[i]);
        memcpy(unit[i], def->observers[i].unit, sizeof unit[i]);
    }
    hid_t words = result_text_type(TDL_RESULT_WORD_SIZE);
    hid_t names = result_text_type(TDL_RESULT_NAME_SIZE);
    const Column columns[] = {
        {"name", "1", "as in the scene", names, names, {n, 0}, name},
        {"quantity", "1", "what is observed", words, words, {n, 0}, quantity},
        {"unit", "1", "of the numbers of /frames/observed", words, words, {n, 0}, unit},
    };
    bool good = write_columns(writer->file, "observers", columns, 3);
    H5Tclose(words);
    H5Tclose(names);
    tdl_free(&writer->host.mem, block);
    return good ? TDL_STATUS_OK : writer_fail(writer, "its table of observers");
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

static bool create_sets(ResultWriter* writer) {
    hid_t group = H5Gcreate2(writer->file, "frames", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0;
    for (int set = 0; good && set < RESULT_SET_COUNT; ++set) {
        good = create_set(writer, group, (ResultSet)set);
    }
    good = good && contact_sets_create(&writer->contacts, writer->file);
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
    int64_t points = 0, dofs = 0;
    for (int i = 0; i < def->rod_count; ++i) {
        points += def->rods[i].point_count;
        dofs += def->rods[i].dof_count;
    }
    if (points > INT_MAX / 3 || dofs > INT_MAX || def->collider_count > INT_MAX / 12 ||
        def->body_count > INT_MAX / 12) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "%lld points a frame are too many; use fewer samples", (long long)points);
    }
    *out = (ResultCounts){def->rod_count, def->collider_count, def->body_count,
                          (int)points,    (int)dofs,           def->observer_count};
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
    status = status == TDL_STATUS_OK ? write_bodies(writer, def) : status;
    status = status == TDL_STATUS_OK ? write_shapes(writer, def) : status;
    status = status == TDL_STATUS_OK ? write_meshes(writer, def) : status;
    status = status == TDL_STATUS_OK ? write_observers(writer, def) : status;
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
    writer->contacts = contact_sets_none(host);
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

static bool append_frame(ResultWriter* writer, const ResultFrame* given) {
    // everything but the time, out to the file
    if (!contact_sets_append(&writer->contacts, given->contacts, given->contact_count)) {
        return false;
    }
    ResultFrame frame = *given;
    frame.contact_end = (int64_t)writer->contacts.row_count;
    for (int set = 0; set < RESULT_TIME; ++set) {
        if (writer->sets[set] >= 0 &&
            !append_to_set(writer, (ResultSet)set, result_frame_data(&frame, (ResultSet)set))) {
            return false;
        }
    }
    if (writer->live && frame.contact_count > 0 && !contact_sets_flush(&writer->contacts)) {
        return false;
    }
    for (int set = 0; writer->live && set < RESULT_TIME; ++set) {
        if (writer->sets[set] >= 0 && H5Dflush(writer->sets[set]) < 0) {
            return false;
        }
    }
    // then the time, which makes the frame count
    return append_to_set(writer, RESULT_TIME, &frame.time) &&
           (!writer->live || H5Dflush(writer->sets[RESULT_TIME]) >= 0);
}

TdlStatus result_writer_append(ResultWriter* writer, const ResultFrame* frame) {
    if (writer->broken) {
        return TDL_STATUS_IO; // told already
    }
    TdlStatus status = contact_sets_reserve(&writer->contacts, frame->contact_count);
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
    contact_sets_close(&writer->contacts);
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
