// Reading the tables of result.h5. The file may come from anybody: every column is checked for
// kind, type, extent and place before it is read, and every number that points somewhere.
#include "result/result_reader.h"

#include "base/memory.h"
#include "result/result_object.h"

#include <limits.h>
#include <math.h>
#include <string.h>

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
        return result_bad_set(r, column->group, column->name, "is missing");
    }
    hsize_t dims[3] = {0}, bytes = (hsize_t)rows * column->width * H5Tget_size(column->file_type);
    int rank = column->width == 1 ? 1 : 2;
    TdlStatus status = TDL_STATUS_OK;
    if (!set_has_type(set, column->file_type) || !set_get_dims(set, rank, dims) ||
        dims[0] != (hsize_t)rows || (rank == 2 && dims[1] != column->width) ||
        !set_has_layout(set, H5D_CONTIGUOUS, rank, dims, NULL)) {
        status = result_bad_set(r, column->group, column->name,
                                "has another type or extent than expected");
    } else if (rows > 0 && !file_holds(r->path, H5Dget_offset(set), bytes)) {
        status = result_bad_set(r, column->group, column->name,
                                "lies behind the end of the file, which was cut");
    } else if (rows > 0 &&
               H5Dread(set, column->memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0) {
        status = result_bad_set(r, column->group, column->name, "could not be read");
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
            status = result_bad_set(r, group, name, "holds something that is not a number");
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
        return result_bad_set(r, table, name, "is missing");
    }
    hsize_t dims[3] = {0};
    TdlStatus status = TDL_STATUS_OK;
    if (!set_has_type(set, H5T_STD_I32LE) || !set_get_dims(set, 1, dims) || dims[0] < 1 ||
        dims[0] > RESULT_MAX_ROWS || !set_has_layout(set, H5D_CONTIGUOUS, 1, dims, NULL)) {
        status = result_bad_set(r, table, name, "is not a table of whole numbers");
    } else if (!file_holds(r->path, H5Dget_offset(set), dims[0] * sizeof(int32_t))) {
        status = result_bad_set(r, table, name, "lies behind the end of the file, which was cut");
    }
    int* data = NULL;
    if (status == TDL_STATUS_OK) {
        data = tdl_alloc_array(&r->host.mem, (size_t)dims[0], sizeof(int));
        status = data == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
    }
    if (status == TDL_STATUS_OK &&
        H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
        status = result_bad_set(r, table, name, "could not be read");
    }
    for (hsize_t i = 0; status == TDL_STATUS_OK && i < dims[0]; ++i) {
        if (i == 0 ? data[0] != 0 : data[i] < data[i - 1]) {
            status = result_bad_set(r, table, name, "does not grow from 0");
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
        status = result_bad(r, "the tables of /rods differ in length");
    }
    if (status == TDL_STATUS_OK) {
        r->counts.rods = rows - 1;
        r->counts.points = r->point_start[rows - 1];
        r->counts.dofs = dof_start[rows - 1];
    }
    if (status == TDL_STATUS_OK && r->counts.points > INT_MAX / 3) {
        status = result_bad(r, "has more points than can be");
    }
    tdl_free(&r->host.mem, dof_start);
    return status == TDL_STATUS_OK ? read_rod_facts(r) : status;
}

// The number of rows of a table, from its first column.
static TdlStatus count_rows(TdlResult* r, const char* group_name, const char* name, int* out) {
    hid_t group = object_open(r->file, group_name, H5I_GROUP);
    hid_t set = group < 0 ? -1 : object_open(group, name, H5I_DATASET);
    hsize_t dims[3] = {0};
    bool good = set >= 0 && set_get_dims(set, 1, dims) && dims[0] <= RESULT_MAX_ROWS;
    if (set >= 0) {
        H5Dclose(set);
    }
    if (group >= 0) {
        H5Gclose(group);
    }
    *out = (int)dims[0];
    return good ? TDL_STATUS_OK : result_bad_set(r, group_name, name, "is missing or wrong");
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
            status = result_bad_set(r, "shapes", "body", "names one that is not there");
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
                return result_bad_set(r, "meshes", "triangles", "names a vertex that is not there");
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
        (rows[0] != count + 1 || rows[1] != count + 1 || vertex_start[count] > RESULT_MAX_ROWS ||
         triangle_start[count] > RESULT_MAX_ROWS)) {
        status = result_bad(r, "the tables of /meshes do not fit the shapes");
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

// Whether the triangles of a surface have their vertices; those of the file follow each other.
static TdlStatus share_surface(TdlResult* r, int index, const int* point_start,
                               const int* triangle_start) {
    TdlResultSurface* s = &r->surfaces[index];
    s->first_point = point_start[index];
    s->point_count = point_start[index + 1] - point_start[index];
    s->triangles = r->surface_corners + 3 * (size_t)triangle_start[index];
    s->triangle_count = triangle_start[index + 1] - triangle_start[index];
    for (int k = 0; k < 3 * s->triangle_count; ++k) {
        if (s->triangles[k] < 0 || s->triangles[k] >= s->point_count) {
            return result_bad_set(r, "surfaces", "triangles", "names a vertex that is not there");
        }
    }
    return s->body >= -1 && s->body < r->counts.colliders
               ? TDL_STATUS_OK
               : result_bad_set(r, "surfaces", "body", "names one that is not there");
}

// The columns beside those of starts; n surfaces.
static TdlStatus read_surface_facts(TdlResult* r, int n, const int* point_start,
                                    const int* triangle_start) {
    size_t rows = (size_t)n, corners = 3 * (size_t)triangle_start[n];
    r->surfaces = tdl_alloc_array(&r->host.mem, rows, sizeof *r->surfaces);
    r->surface_corners = tdl_alloc_array(&r->host.mem, corners + 1, sizeof *r->surface_corners);
    double* radius = tdl_alloc_array(&r->host.mem, rows, sizeof *radius);
    int* body = tdl_alloc_array(&r->host.mem, rows, sizeof *body);
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (r->surfaces != NULL && r->surface_corners != NULL && radius != NULL && body != NULL) {
        Column bodies = {"surfaces", "body", H5T_STD_I32LE, H5T_NATIVE_INT, 1};
        Column triangles = {"surfaces", "triangles", H5T_STD_I32LE, H5T_NATIVE_INT, 3};
        status = read_column(r, &bodies, n, body);
        status =
            status == TDL_STATUS_OK ? read_reals(r, "surfaces", "radius", 1, n, radius) : status;
        status = status == TDL_STATUS_OK
                     ? read_column(r, &triangles, triangle_start[n], r->surface_corners)
                     : status;
    }
    for (int i = 0; status == TDL_STATUS_OK && i < n; ++i) {
        r->surfaces[i] = (TdlResultSurface){.body = body[i], .radius = radius[i]};
        status = share_surface(r, i, point_start, triangle_start);
    }
    tdl_free(&r->host.mem, radius);
    tdl_free(&r->host.mem, body);
    return status;
}

static TdlStatus read_surfaces(TdlResult* r) {
    if (r->version < 4 || H5Lexists(r->file, "surfaces", H5P_DEFAULT) <= 0) {
        return TDL_STATUS_OK;
    }
    int rows[2] = {0}, *point_start = NULL, *triangle_start = NULL;
    TdlStatus status = read_starts(r, "surfaces", "point_start", &point_start, &rows[0]);
    if (status == TDL_STATUS_OK) {
        status = read_starts(r, "surfaces", "triangle_start", &triangle_start, &rows[1]);
    }
    int n = rows[0] - 1;
    if (status == TDL_STATUS_OK && (rows[1] != rows[0] || point_start[n] > RESULT_MAX_ROWS ||
                                    triangle_start[n] > RESULT_MAX_ROWS)) {
        status = result_bad(r, "the tables of /surfaces differ in length or are absurdly long");
    }
    if (status == TDL_STATUS_OK) {
        status = read_surface_facts(r, n, point_start, triangle_start);
        r->counts.surface_points = r->info.surface_point_count = point_start[n];
        r->info.surface_count = n;
    }
    tdl_free(&r->host.mem, point_start);
    tdl_free(&r->host.mem, triangle_start);
    return status;
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

TdlStatus result_read_tables(TdlResult* r) {
    TdlStatus status = read_rods(r);
    status = status == TDL_STATUS_OK ? read_bodies(r) : status;
    status = status == TDL_STATUS_OK ? read_surfaces(r) : status;
    return status == TDL_STATUS_OK ? read_observers(r) : status;
}
