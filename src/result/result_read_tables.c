// Reading the tables of result.h5. The file may come from anybody: every column is checked for
// kind, type, extent and place before it is read, and every number that points somewhere.
#include "result/result_reader.h"

#include "base/hash.h"
#include "base/log.h"
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

static const char DAMAGED[] = "is damaged: its checksum is another";

// Whether what was read of a set is what was written, as far as the file tells.
static bool is_intact(const TdlResult* r, hid_t set, const void* data, size_t size) {
    uint64_t sum;
    return r->version < SUMS_SINCE ||
           (object_read_number(set, "checksum", H5T_INTEGER, H5T_NATIVE_UINT64, &sum) &&
            sum == hash_words(HASH_START, data, size));
}

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
    } else if (!is_intact(r, set, out, (size_t)bytes)) {
        status = result_bad_set(r, column->group, column->name, DAMAGED);
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

// A column that is wanted of a table: its name, what it holds, numbers or bytes a row, and where
// to.
typedef enum Content { WHOLES, REALS, TEXTS } Content;
typedef struct Wanted {
    const char* name;
    Content content;
    int width;
    void* out;
} Wanted;

static TdlStatus read_wanted(TdlResult* r, const char* group, int rows, const Wanted* w) {
    if (w->content == TEXTS) {
        return read_texts(r, group, w->name, rows, (size_t)w->width, w->out);
    }
    if (w->content == REALS) {
        return read_reals(r, group, w->name, w->width, rows, w->out);
    }
    Column column = {group, w->name, H5T_STD_I32LE, H5T_NATIVE_INT, (hsize_t)w->width};
    return read_column(r, &column, rows, w->out);
}

static TdlStatus read_table(TdlResult* r, const char* group, int rows, const Wanted* wanted,
                            int count) {
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; status == TDL_STATUS_OK && i < count; ++i) {
        status = read_wanted(r, group, rows, &wanted[i]);
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
    } else if (status == TDL_STATUS_OK &&
               !is_intact(r, set, data, (size_t)dims[0] * sizeof(int32_t))) {
        status = result_bad_set(r, table, name, DAMAGED);
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
        const Wanted wanted[] = {{"element_count", WHOLES, 1, elements},
                                 {"length", REALS, 1, reals},
                                 {"mass", REALS, 1, reals + rows},
                                 {"radius", REALS, 2, reals + 2 * rows},
                                 {"model", TEXTS, TDL_RESULT_WORD_SIZE, models}};
        status = read_table(r, "rods", n, wanted, 5);
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
    TdlStatus status = read_starts(r, "rods", "point_start", &r->point_start, &rows);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = read_starts(r, "rods", "dof_start", &r->dof_start, &dof_rows);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    r->counts.dofs = r->dof_start[dof_rows - 1];
    if (rows != dof_rows) {
        return result_bad(r, "the tables of /rods differ in length");
    }
    r->counts.rods = rows - 1;
    r->counts.points = r->point_start[rows - 1];
    if (r->counts.points > INT_MAX / 3) {
        return result_bad(r, "has more points than can be");
    }
    return read_rod_facts(r);
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
        const Wanted wanted[] = {{"shape", TEXTS, TDL_RESULT_WORD_SIZE, words},
                                 {"radius", REALS, 1, reals},
                                 {"length", REALS, 1, reals + rows}};
        status = read_table(r, "colliders", n, wanted, 3);
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
        const Wanted wanted[] = {{"shape", TEXTS, TDL_RESULT_WORD_SIZE, words},
                                 {"body", WHOLES, 1, bodies},
                                 {"size", REALS, 3, reals},
                                 {"pose", REALS, 12, reals + 3 * rows}};
        status = read_table(r, "shapes", n, wanted, 4);
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

// Where the parts of each of several surfaces start, in the columns of their vertices and
// triangles.
typedef struct Starts {
    int *vertices, *triangles; // [rows]
    int rows;                  // one more than there are surfaces
} Starts;

static TdlStatus starts_read(TdlResult* r, const char* group, const char* vertices, Starts* out) {
    int rows = 0;
    TdlStatus status = read_starts(r, group, vertices, &out->vertices, &out->rows);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = read_starts(r, group, "triangle_start", &out->triangles, &rows);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    int last = out->rows - 1;
    bool fit = rows == out->rows && out->vertices[last] <= RESULT_MAX_ROWS &&
               out->triangles[last] <= RESULT_MAX_ROWS;
    return fit ? TDL_STATUS_OK
               : tdl_fail(&r->host, TDL_STATUS_BAD_INPUT,
                          "%s: the tables of /%s differ in length or are absurdly long", r->path,
                          group);
}

static void starts_free(const TdlResult* r, Starts* starts) {
    tdl_free(&r->host.mem, starts->vertices);
    tdl_free(&r->host.mem, starts->triangles);
}

// The vertices and triangles of all meshes, `count` in number.
static TdlStatus read_mesh_parts(TdlResult* r, const Starts* starts, int count) {
    if (starts->rows != count + 1) {
        return result_bad(r, "the tables of /meshes do not fit the shapes");
    }
    int vertices = starts->vertices[count], triangles = starts->triangles[count];
    r->vertices = tdl_alloc_array(&r->host.mem, (size_t)vertices + 1, sizeof *r->vertices);
    r->corners = tdl_alloc_array(&r->host.mem, 3 * (size_t)triangles + 1, sizeof *r->corners);
    if (r->vertices == NULL || r->corners == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    // three doubles in a row are a TdlVec3
    const Wanted points = {"vertices", REALS, 3, r->vertices};
    const Wanted corners = {"triangles", WHOLES, 3, r->corners};
    TdlStatus status = read_wanted(r, "meshes", vertices, &points);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = read_wanted(r, "meshes", triangles, &corners);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return share_meshes(r, starts->vertices, starts->triangles);
}

static TdlStatus read_meshes(TdlResult* r) {
    int count = 0;
    for (int i = 0; i < r->info.shape_count; ++i) {
        count += strcmp(r->shapes[i].shape, "mesh") == 0;
    }
    if (count == 0) {
        return TDL_STATUS_OK;
    }
    Starts starts = {0};
    TdlStatus status = starts_read(r, "meshes", "vertex_start", &starts);
    if (status == TDL_STATUS_OK) {
        status = read_mesh_parts(r, &starts, count);
    }
    starts_free(r, &starts);
    return status;
}

static TdlStatus read_bodies(TdlResult* r) {
    TdlStatus status = count_rows(r, "colliders", "shape", &r->counts.colliders);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (r->version < 2) {
        return read_collider_shapes(r);
    }
    status = count_rows(r, "bodies", "shape", &r->counts.bodies);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = read_shapes(r);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return r->version >= 3 ? read_meshes(r) : TDL_STATUS_OK;
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
static TdlStatus read_surface_facts(TdlResult* r, int n, const Starts* starts) {
    size_t rows = (size_t)n, corners = 3 * (size_t)starts->triangles[n];
    r->surfaces = tdl_alloc_array(&r->host.mem, rows, sizeof *r->surfaces);
    r->surface_corners = tdl_alloc_array(&r->host.mem, corners + 1, sizeof *r->surface_corners);
    double* radius = tdl_alloc_array(&r->host.mem, rows, sizeof *radius);
    int* body = tdl_alloc_array(&r->host.mem, rows, sizeof *body);
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (r->surfaces != NULL && r->surface_corners != NULL && radius != NULL && body != NULL) {
        const Wanted wanted[] = {{"body", WHOLES, 1, body}, {"radius", REALS, 1, radius}};
        status = read_table(r, "surfaces", n, wanted, 2);
    }
    if (status == TDL_STATUS_OK) {
        const Wanted triangles = {"triangles", WHOLES, 3, r->surface_corners};
        status = read_wanted(r, "surfaces", starts->triangles[n], &triangles);
    }
    for (int i = 0; status == TDL_STATUS_OK && i < n; ++i) {
        r->surfaces[i] = (TdlResultSurface){.body = body[i], .radius = radius[i]};
        status = share_surface(r, i, starts->vertices, starts->triangles);
    }
    tdl_free(&r->host.mem, radius);
    tdl_free(&r->host.mem, body);
    return status;
}

static TdlStatus read_surfaces(TdlResult* r) {
    if (r->version < 4 || H5Lexists(r->file, "surfaces", H5P_DEFAULT) <= 0) {
        return TDL_STATUS_OK;
    }
    Starts starts = {0};
    TdlStatus status = starts_read(r, "surfaces", "point_start", &starts);
    if (status == TDL_STATUS_OK) {
        int n = starts.rows - 1;
        status = read_surface_facts(r, n, &starts);
        r->counts.surface_points = r->info.surface_point_count = starts.vertices[n];
        r->info.surface_count = n;
    }
    starts_free(r, &starts);
    return status;
}

// Whether a cloth has its surface, behind that of the cloth before, and its faces and holds their
// vertices; those of the file follow each other.
static TdlStatus share_cloth(TdlResult* r, int index, const int* face_start) {
    TdlResultCloth* c = &r->cloths[index];
    int least = index == 0 ? 0 : c[-1].surface + 1;
    if (c->surface < least || c->surface >= r->info.surface_count) {
        return result_bad_set(r, "cloths", "surface", "names one that is not there");
    }
    c->first_point = index == 0 ? 0 : c[-1].first_point + c[-1].point_count;
    c->point_count = r->surfaces[c->surface].point_count;
    c->faces = r->cloth_faces + 4 * (size_t)face_start[index];
    c->face_count = face_start[index + 1] - face_start[index];
    for (int k = 0; k < 4 * c->face_count; ++k) {
        if (c->faces[k] < (k % 4 == 3 ? -1 : 0) || c->faces[k] >= c->point_count) {
            return result_bad_set(r, "cloths", "faces", "names a vertex that is not there");
        }
    }
    return TDL_STATUS_OK;
}

// The holds of all vertices, which are counted.
static TdlStatus read_holds(TdlResult* r) {
    int count = r->counts.cloth_points;
    r->cloth_holds = tdl_alloc_array(&r->host.mem, (size_t)count + 1, sizeof *r->cloth_holds);
    if (r->cloth_holds == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    const Wanted holds = {"hold", WHOLES, 1, r->cloth_holds};
    TdlStatus status = read_wanted(r, "cloths", count, &holds);
    for (int i = 0; status == TDL_STATUS_OK && i < count; ++i) {
        if (r->cloth_holds[i] < -1) {
            status = result_bad_set(r, "cloths", "hold", "names one that cannot be");
        }
    }
    for (int i = 0; status == TDL_STATUS_OK && i < r->info.cloth_count; ++i) {
        r->cloths[i].holds = r->cloth_holds + r->cloths[i].first_point;
    }
    return status;
}

// The columns beside those of starts; n cloths.
static TdlStatus read_cloth_facts(TdlResult* r, int n, const int* face_start) {
    size_t rows = (size_t)n, corners = 4 * (size_t)face_start[n];
    r->cloths = tdl_alloc_array(&r->host.mem, rows + 1, sizeof *r->cloths);
    r->cloth_faces = tdl_alloc_array(&r->host.mem, corners + 1, sizeof *r->cloth_faces);
    double* mass = tdl_alloc_array(&r->host.mem, rows + 1, sizeof *mass);
    int* surface = tdl_alloc_array(&r->host.mem, rows + 1, sizeof *surface);
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (r->cloths != NULL && r->cloth_faces != NULL && mass != NULL && surface != NULL) {
        const Wanted wanted[] = {{"surface", WHOLES, 1, surface}, {"mass", REALS, 1, mass}};
        status = read_table(r, "cloths", n, wanted, 2);
    }
    if (status == TDL_STATUS_OK) {
        const Wanted faces = {"faces", WHOLES, 4, r->cloth_faces};
        status = read_wanted(r, "cloths", face_start[n], &faces);
    }
    for (int i = 0; status == TDL_STATUS_OK && i < n; ++i) {
        r->cloths[i] = (TdlResultCloth){.surface = surface[i], .mass = mass[i]};
        status = share_cloth(r, i, face_start);
        r->counts.cloth_points += r->cloths[i].point_count;
    }
    tdl_free(&r->host.mem, mass);
    tdl_free(&r->host.mem, surface);
    return status;
}

static TdlStatus read_cloths(TdlResult* r) {
    if (r->version < 6 || H5Lexists(r->file, "cloths", H5P_DEFAULT) <= 0) {
        return TDL_STATUS_OK;
    }
    int *face_start = NULL, rows = 0;
    TdlStatus status = read_starts(r, "cloths", "face_start", &face_start, &rows);
    if (status == TDL_STATUS_OK && face_start[rows - 1] > RESULT_MAX_ROWS) {
        status = result_bad_set(r, "cloths", "face_start", "is absurdly long");
    }
    if (status == TDL_STATUS_OK) {
        status = read_cloth_facts(r, rows - 1, face_start);
    }
    tdl_free(&r->host.mem, face_start);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    r->info.cloth_count = rows - 1;
    r->info.cloth_point_count = r->counts.cloth_points;
    return read_holds(r);
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
        const Wanted wanted[] = {{"name", TEXTS, TDL_RESULT_NAME_SIZE, name},
                                 {"quantity", TEXTS, TDL_RESULT_WORD_SIZE, word},
                                 {"unit", TEXTS, TDL_RESULT_WORD_SIZE, word + n}};
        status = read_table(r, "observers", n, wanted, 3);
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

static TdlStatus read_joints(TdlResult* r) {
    if (r->version < 7 || H5Lexists(r->file, "joints", H5P_DEFAULT) <= 0) {
        return TDL_STATUS_OK;
    }
    int n = 0;
    TdlStatus status = count_rows(r, "joints", "name", &n);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    size_t rows = (size_t)n;
    r->joints = tdl_alloc_array(&r->host.mem, rows, sizeof *r->joints);
    char(*name)[TDL_RESULT_NAME_SIZE] = tdl_alloc_array(&r->host.mem, rows, sizeof *name);
    char(*kind)[TDL_RESULT_WORD_SIZE] = tdl_alloc_array(&r->host.mem, rows, sizeof *kind);
    status = TDL_STATUS_NO_MEMORY;
    if (r->joints != NULL && name != NULL && kind != NULL) {
        const Wanted wanted[] = {{"name", TEXTS, TDL_RESULT_NAME_SIZE, name},
                                 {"kind", TEXTS, TDL_RESULT_WORD_SIZE, kind}};
        status = read_table(r, "joints", n, wanted, 2);
    }
    for (size_t i = 0; status == TDL_STATUS_OK && i < rows; ++i) {
        memcpy(r->joints[i].name, name[i], sizeof name[i]);
        memcpy(r->joints[i].kind, kind[i], sizeof kind[i]);
    }
    r->counts.joints = r->info.joint_count = n;
    tdl_free(&r->host.mem, name);
    tdl_free(&r->host.mem, kind);
    return status;
}

static TdlStatus read_bed(TdlResult* r) {
    if (r->version < 8 || H5Lexists(r->file, RESULT_PARTICLES.group, H5P_DEFAULT) <= 0) {
        return TDL_STATUS_OK;
    }
    r->counts.beds = 1;
    return result_read_bed(r->file, &r->grains)
               ? TDL_STATUS_OK
               : result_bad(r, "the attributes of /grains are missing or wrong");
}

TdlStatus result_read_tables(TdlResult* r) {
    // in this order: each may rely on the counts of those before
    static TdlStatus (*const READERS[])(TdlResult*) = {
        read_rods, read_bodies, read_surfaces, read_cloths, read_observers, read_joints, read_bed};
    TdlStatus status = TDL_STATUS_OK;
    for (size_t i = 0; status == TDL_STATUS_OK && i < sizeof READERS / sizeof *READERS; ++i) {
        status = READERS[i](r);
    }
    return status;
}
