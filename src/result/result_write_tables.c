// Writing the tables of result.h5.
#include "result/result.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

typedef struct TableWriter {
    const TdlHost* host;
    hid_t file;
    const char* what; // could not be written
} TableWriter;

static TdlStatus table_fail(TableWriter* writer, const char* what) {
    writer->what = what;
    return TDL_STATUS_IO;
}

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
    size_t row = H5Tget_size(column->file_type) * (column->dims[1] == 0 ? 1 : column->dims[1]);
    uint64_t sum = hash_words(HASH_START, column->data, (size_t)column->dims[0] * row);
    good = good && result_write_attribute(set, "checksum", H5T_NATIVE_UINT64, &sum);
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

static TdlStatus write_rods(TableWriter* writer, const ResultDef* def) {
    RodColumns c = {0};
    hsize_t n = (hsize_t)def->rod_count;
    void* block = allocate_rods(writer->host, (size_t)n, &c);
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
    tdl_free(&writer->host->mem, block);
    return good ? TDL_STATUS_OK : table_fail(writer, "its table of rods");
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
    case TDL_SHAPE_IMPLICIT:
        return "implicit";
    }
    return "unknown";
}

static TdlStatus write_colliders(TableWriter* writer, const ResultDef* def) {
    size_t n = (size_t)def->collider_count;
    char* block =
        tdl_alloc_array(&writer->host->mem, n + 1, 2 * sizeof(double) + TDL_RESULT_WORD_SIZE);
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
         "plane, sphere, cylinder, capsule, plate, comb, curves, mesh or implicit",
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
    tdl_free(&writer->host->mem, block);
    return good ? TDL_STATUS_OK : table_fail(writer, "its table of colliders");
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
    case TDL_RIGID_MESH:
        return "mesh";
    case TDL_RIGID_CYLINDER:
        return "cylinder";
    }
    return "unknown";
}

static TdlStatus write_bodies(TableWriter* writer, const ResultDef* def) {
    size_t n = (size_t)def->body_count;
    char(*shape)[TDL_RESULT_WORD_SIZE] =
        tdl_alloc_array(&writer->host->mem, n + 1, TDL_RESULT_WORD_SIZE);
    if (shape == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < n; ++i) {
        snprintf(shape[i], TDL_RESULT_WORD_SIZE, "%s", rigid_shape_name(def->bodies[i].shape));
    }
    hid_t word = result_text_type(TDL_RESULT_WORD_SIZE);
    Column column = {"shape", "1",  "sphere, capsule, box, curves, mesh or cylinder", word, word,
                     {n, 0},  shape};
    bool good = write_columns(writer->file, "bodies", &column, 1);
    H5Tclose(word);
    tdl_free(&writer->host->mem, shape);
    return good ? TDL_STATUS_OK : table_fail(writer, "its table of bodies");
}

static TdlStatus write_shapes(TableWriter* writer, const ResultDef* def) {
    size_t n = (size_t)def->shape_count;
    size_t row = 15 * sizeof(double) + sizeof(int) + TDL_RESULT_WORD_SIZE;
    char* block = tdl_alloc_array(&writer->host->mem, n + 1, row);
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
         "radius, then length of a capsule or of a cylinder with ends; radius of a disc, then of "
         "its rim; half sizes of a "
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
    tdl_free(&writer->host->mem, block);
    return good ? TDL_STATUS_OK : table_fail(writer, "its table of shapes");
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

static TdlStatus write_meshes(TableWriter* writer, const ResultDef* def) {
    size_t n, vertices, triangles;
    count_meshes(def, &n, &vertices, &triangles, NULL, NULL);
    if (n == 0) {
        return TDL_STATUS_OK;
    }
    const TdlAllocator* mem = &writer->host->mem;
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
    return !memory ? TDL_STATUS_NO_MEMORY : good ? TDL_STATUS_OK : table_fail(writer, "its meshes");
}

// The surfaces whose vertices move; their triangles one after the other.
static TdlStatus write_surfaces(TableWriter* writer, const ResultDef* def) {
    size_t n = (size_t)def->surface_count, triangles = 0;
    for (size_t i = 0; i < n; ++i) {
        triangles += (size_t)def->surfaces[i].triangle_count;
    }
    if (n == 0) {
        return TDL_STATUS_OK;
    }
    const TdlAllocator* mem = &writer->host->mem;
    double* radius = tdl_alloc_array(mem, n, sizeof *radius);
    int* whole = tdl_alloc_array(mem, 3 * n + 2 + 3 * triangles, sizeof *whole);
    bool memory = radius != NULL && whole != NULL, good = false;
    if (memory) {
        int *point_start = whole, *triangle_start = whole + n + 1, *body = triangle_start + n + 1;
        int* corner = body + n;
        for (size_t i = 0; i < n; ++i) {
            const TdlResultSurface* s = &def->surfaces[i];
            point_start[i + 1] = point_start[i] + s->point_count;
            triangle_start[i + 1] = triangle_start[i] + s->triangle_count;
            body[i] = s->body;
            radius[i] = s->radius;
            memcpy(corner + 3 * (size_t)triangle_start[i], s->triangles,
                   3 * (size_t)s->triangle_count * sizeof *corner);
        }
        hid_t i32 = H5T_STD_I32LE, native = H5T_NATIVE_INT;
        const Column columns[] = {
            {"point_start",
             "1",
             "first vertex of each surface in a frame; the last entry is their number",
             i32,
             native,
             {n + 1, 0},
             point_start},
            {"triangle_start",
             "1",
             "first triangle of each surface; and the end",
             i32,
             native,
             {n + 1, 0},
             triangle_start},
            {"body", "1", "which collider it is", i32, native, {n, 0}, body},
            {"radius",
             "m",
             "thickness of each surface to each side",
             H5T_IEEE_F64LE,
             H5T_NATIVE_DOUBLE,
             {n, 0},
             radius},
            {"triangles",
             "1",
             "their vertices, from 0 in each surface, counterclockwise seen from outside",
             i32,
             native,
             {triangles, 3},
             corner},
        };
        good = write_columns(writer->file, "surfaces", columns, 5);
    }
    tdl_free(mem, radius);
    tdl_free(mem, whole);
    return !memory ? TDL_STATUS_NO_MEMORY
           : good  ? TDL_STATUS_OK
                   : table_fail(writer, "its table of surfaces");
}

// The cloths' figures by columns, in one block of memory.
typedef struct ClothColumns {
    double* mass;
    int *surface, *face_start, *faces, *hold;
} ClothColumns;

static void* allocate_cloths(const TdlHost* host, size_t n, size_t faces, size_t points,
                             ClothColumns* c) {
    size_t whole = n + (n + 1) + 4 * faces + points;
    char* block = tdl_alloc_array(&host->mem, n * sizeof(double) + whole * sizeof(int), 1);
    if (block != NULL) {
        c->mass = (double*)(void*)block;
        c->surface = (int*)(void*)(c->mass + n);
        c->face_start = c->surface + n;
        c->faces = c->face_start + n + 1;
        c->hold = c->faces + 4 * faces;
    }
    return block;
}

static void fill_cloths(const ResultDef* def, ClothColumns* c) {
    int point = 0;
    c->face_start[0] = 0;
    for (int i = 0; i < def->cloth_count; ++i) {
        const TdlResultCloth* cloth = &def->cloths[i];
        c->mass[i] = cloth->mass;
        c->surface[i] = cloth->surface;
        c->face_start[i + 1] = c->face_start[i] + cloth->face_count;
        memcpy(c->faces + 4 * (size_t)c->face_start[i], cloth->faces,
               4 * (size_t)cloth->face_count * sizeof(int));
        for (int k = 0; k < cloth->point_count; ++k) {
            c->hold[point++] = cloth->holds == NULL ? -1 : cloth->holds[k];
        }
    }
}

// The cloths among the surfaces; their faces and vertices one after the other.
static TdlStatus write_cloths(TableWriter* writer, const ResultDef* def) {
    hsize_t n = (hsize_t)def->cloth_count, faces = 0, points = 0;
    for (hsize_t i = 0; i < n; ++i) {
        faces += (hsize_t)def->cloths[i].face_count;
        points += (hsize_t)def->cloths[i].point_count;
    }
    if (n == 0) {
        return TDL_STATUS_OK;
    }
    ClothColumns c = {0};
    void* block = allocate_cloths(writer->host, n, faces, points, &c);
    if (block == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    fill_cloths(def, &c);
    hid_t i32 = H5T_STD_I32LE, native = H5T_NATIVE_INT;
    hid_t f64 = H5T_IEEE_F64LE, real = H5T_NATIVE_DOUBLE;
    const char* hold = "which hold of the scene has a vertex, from 0; -1: none";
    const char* corners = "their vertices, from 0 in each cloth; the fourth of a triangle is -1";
    const Column columns[] = {
        {"surface", "1", "which of the surfaces it is", i32, native, {n, 0}, c.surface},
        {"mass", "kg", "mass of each cloth", f64, real, {n, 0}, c.mass},
        {"face_start",
         "1",
         "first face of each; and the end",
         i32,
         native,
         {n + 1, 0},
         c.face_start},
        {"faces", "1", corners, i32, native, {faces, 4}, c.faces},
        {"hold", "1", hold, i32, native, {points, 0}, c.hold},
    };
    bool good = write_columns(writer->file, "cloths", columns, 5);
    tdl_free(&writer->host->mem, block);
    return good ? TDL_STATUS_OK : table_fail(writer, "its table of cloths");
}

static TdlStatus write_observers(TableWriter* writer, const ResultDef* def) {
    size_t n = (size_t)def->observer_count;
    size_t row = TDL_RESULT_NAME_SIZE + 2 * TDL_RESULT_WORD_SIZE;
    char* block = n == 0 ? NULL : tdl_alloc_array(&writer->host->mem, n, row);
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
    tdl_free(&writer->host->mem, block);
    return good ? TDL_STATUS_OK : table_fail(writer, "its table of observers");
}

static TdlStatus write_joints(TableWriter* writer, const ResultDef* def) {
    size_t n = (size_t)def->joint_count;
    size_t row = TDL_RESULT_NAME_SIZE + TDL_RESULT_WORD_SIZE;
    char* block = n == 0 ? NULL : tdl_alloc_array(&writer->host->mem, n, row);
    if (block == NULL) {
        return n == 0 ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
    }
    char(*name)[TDL_RESULT_NAME_SIZE] = (void*)block;
    char(*kind)[TDL_RESULT_WORD_SIZE] = (void*)(name + n);
    for (size_t i = 0; i < n; ++i) {
        memcpy(name[i], def->joints[i].name, sizeof name[i]);
        memcpy(kind[i], def->joints[i].kind, sizeof kind[i]);
    }
    hid_t words = result_text_type(TDL_RESULT_WORD_SIZE);
    hid_t names = result_text_type(TDL_RESULT_NAME_SIZE);
    const Column columns[] = {
        {"name", "1", "as in the scene", names, names, {n, 0}, name},
        {"kind", "1", "fixed, ball, hinge, slider or distance", words, words, {n, 0}, kind},
    };
    bool good = write_columns(writer->file, "joints", columns, 2);
    H5Tclose(words);
    H5Tclose(names);
    tdl_free(&writer->host->mem, block);
    return good ? TDL_STATUS_OK : table_fail(writer, "its table of joints");
}

TdlStatus result_write_tables(const TdlHost* host, hid_t file, const ResultDef* def,
                              const char** what) {
    TableWriter writer = {.host = host, .file = file};
    static TdlStatus (*const WRITERS[])(TableWriter*, const ResultDef*) = {
        write_rods,     write_colliders, write_bodies,    write_shapes, write_meshes,
        write_surfaces, write_cloths,    write_observers, write_joints};
    TdlStatus status = TDL_STATUS_OK;
    for (size_t i = 0; status == TDL_STATUS_OK && i < sizeof WRITERS / sizeof *WRITERS; ++i) {
        status = WRITERS[i](&writer, def);
    }
    *what = writer.what;
    return status;
}
