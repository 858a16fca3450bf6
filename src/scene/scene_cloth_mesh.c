// The mesh of a cloth of a scene: made, read or joined of pieces, and its seams. Cost: linear in
// vertices and faces.
#include "scene/scene.h"

#include "base/log.h"
#include "formats/obj.h"

#include <string.h>

// Vertices of all cloths: what a processor can step, with room.
enum { VERTICES_MAX = 4000000 };

// --- the mesh ------------------------------------------------------------------------------------

// Adds the vertices of a cloth to the sum, before anything is allocated for them.
static TdlStatus count_vertices(TdlScene* scene, const char* name, int64_t count, Mark mark) {
    if (count > VERTICES_MAX - scene->cloth_vertex_count) {
        return fail_at(&scene->host, mark,
                       "%lld vertices of '%s' bring the scene above %d vertices of cloth",
                       (long long)count, name, VERTICES_MAX);
    }
    scene->cloth_vertex_count += (int)count;
    return TDL_STATUS_OK;
}

// Room for a mesh whose vertices count.
static TdlStatus make_room(TdlScene* scene, const char* name, int64_t vertex_count,
                           int64_t face_count, Mark mark, TdlClothMesh* out) {
    TdlStatus status = count_vertices(scene, name, vertex_count, mark);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    out->vertices = ARENA_NEW(&scene->arena, TdlVec3, (size_t)vertex_count);
    out->faces = ARENA_NEW(&scene->arena, int, 4 * (size_t)face_count);
    return out->vertices == NULL || out->faces == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}

// The scene's own, to be filled.
static TdlVec3* vertices_of(const TdlClothMesh* mesh) {
    return (TdlVec3*)(uintptr_t)mesh->vertices;
}

static int* faces_of(const TdlClothMesh* mesh) {
    return (int*)(uintptr_t)mesh->faces;
}

static TdlStatus make_rectangle(TdlScene* scene, const char* name, const ShapeSpec* shape,
                                TdlClothMesh* out) {
    const RectangleSpec* r = &shape->rectangle;
    int64_t columns = r->nodes[0], rows = r->nodes[1];
    TdlStatus status = make_room(scene, name, columns * rows, (columns - 1) * (rows - 1),
                                 scene_mark_of(r->node, "nodes"), out);
    if (status == TDL_STATUS_OK) {
        *out = tdl_cloth_rectangle(r->size[0], r->size[1], r->nodes[0], r->nodes[1],
                                   vertices_of(out), faces_of(out));
    }
    return status;
}

static TdlStatus make_tube(TdlScene* scene, const char* name, const ShapeSpec* shape,
                           TdlClothMesh* out) {
    const TubeSpec* t = &shape->tube;
    Mark mark = scene_mark_of(t->node, "nodes");
    if (t->nodes[0] < 3) {
        return fail_at(&scene->host, mark, "a tube has 3 vertices around or more");
    }
    int64_t around = t->nodes[0], along = t->nodes[1];
    TdlStatus status = make_room(scene, name, around * along, around * (along - 1), mark, out);
    if (status == TDL_STATUS_OK) {
        *out = tdl_cloth_tube(t->radius, t->length, t->nodes[0], t->nodes[1], vertices_of(out),
                              faces_of(out));
    }
    return status;
}

static TdlStatus make_shorts(TdlScene* scene, const char* name, const ShapeSpec* shape,
                             TdlClothMesh* out) {
    const ShortsSpec* s = &shape->shorts;
    if (!(s->depth < s->width)) {
        return fail_at(&scene->host, scene_mark_of(s->node, "depth"),
                       "shorts are less deep than wide");
    }
    TdlClothShorts def = {s->width,  s->depth,    s->rise,     s->legs,
                          s->spread, s->nodes[0], s->nodes[1], s->nodes[2]};
    // counts of 1000 a side at most
    int vertex_count, face_count;
    tdl_cloth_shorts_counts(&def, &vertex_count, &face_count);
    TdlStatus status =
        make_room(scene, name, vertex_count, face_count, scene_mark_of(s->node, "nodes"), out);
    if (status == TDL_STATUS_OK) {
        *out = tdl_cloth_shorts(&def, vertices_of(out), faces_of(out));
    }
    return status;
}

// Reads the faces of a file; the caller frees them.
static TdlStatus read_faces(TdlScene* scene, const SheetSpec* spec, const char* what,
                            ObjFaces* out) {
    const Node* file = node_find(spec->node, "file");
    size_t length = strlen(file->text);
    if (length < 5 || strcmp(file->text + length - 4, ".obj") != 0) {
        return fail_at(&scene->host, file->mark, "meshes come from .obj files");
    }
    const Source* source = NULL;
    TdlStatus status = scene_import(scene, spec->node, spec->hash, what, &source);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return obj_parse_faces(&scene->host, source->name, source->text, source->size, spec->group,
                           out);
}

// The places of a file in the scene's units and axes.
static TdlVec3* take_places(TdlScene* scene, const SheetSpec* spec, const ObjFaces* all) {
    TdlVec3* places = ARENA_NEW(&scene->arena, TdlVec3, all->vertex_count);
    for (int i = 0; places != NULL && i < all->vertex_count; ++i) {
        places[i] = scene_import_point(all->vertices[i], spec->scale, spec->up);
    }
    return places;
}

// A mesh that no cloth can have is told with the line of its face.
static TdlStatus take_faces(TdlScene* scene, const char* name, const SheetSpec* spec,
                            const ObjFaces* all, TdlClothMesh* out) {
    const Node* file = node_find(spec->node, "file");
    TdlStatus status = count_vertices(scene, name, all->vertex_count, file->mark);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlVec3* places = take_places(scene, spec, all);
    int* corners = ARENA_NEW(&scene->arena, int, 4 * (size_t)all->face_count);
    if (places == NULL || corners == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(corners, all->corners, 4 * (size_t)all->face_count * sizeof *corners);
    *out = (TdlClothMesh){places, all->vertex_count, corners, all->face_count};
    int face = -1;
    const char* fault = tdl_cloth_mesh_fault(out, &face);
    if (fault == NULL) {
        return TDL_STATUS_OK;
    }
    if (face < 0) {
        return fail_at(&scene->host, file->mark, "%s", fault);
    }
    return fail_at(&scene->host, file->mark, "face %d, line %d of the file: %s", face,
                   all->lines[face], fault);
}

static TdlStatus read_mesh(TdlScene* scene, const char* name, const ShapeSpec* shape,
                           TdlClothMesh* out) {
    ObjFaces all = {0};
    TdlStatus status = read_faces(scene, &shape->mesh, "mesh", &all);
    if (status == TDL_STATUS_OK) {
        status = take_faces(scene, name, &shape->mesh, &all, out);
    }
    obj_free_faces(&scene->host, &all);
    return status;
}

static TdlStatus take_rest(TdlScene* scene, ClothSpec* cloth, const ObjFaces* all) {
    const Node* file = node_find(cloth->rest.node, "file");
    if (all->vertex_count != cloth->placed.vertex_count) {
        return fail_at(&scene->host, file->mark, "the rest shape has %d vertices, the cloth %d",
                       all->vertex_count, cloth->placed.vertex_count);
    }
    cloth->rest_shape = take_places(scene, &cloth->rest, all);
    if (cloth->rest_shape == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    // with the faces of the cloth
    TdlClothMesh at_rest = cloth->placed;
    at_rest.vertices = cloth->rest_shape;
    int face = -1;
    const char* fault = tdl_cloth_mesh_fault(&at_rest, &face);
    return fault == NULL
               ? TDL_STATUS_OK
               : fail_at(&scene->host, file->mark, "face %d of the cloth at rest: %s", face, fault);
}

static TdlStatus read_rest(TdlScene* scene, ClothSpec* cloth) {
    ObjFaces all = {0};
    TdlStatus status = read_faces(scene, &cloth->rest, "rest shape", &all);
    if (status == TDL_STATUS_OK) {
        status = take_rest(scene, cloth, &all);
    }
    obj_free_faces(&scene->host, &all);
    return status;
}

// --- shapes and pieces ---------------------------------------------------------------------------

// What a cloth or a piece may be.
typedef struct ShapeKind {
    const char* key;
    TdlStatus (*make)(TdlScene* scene, const char* name, const ShapeSpec* shape, TdlClothMesh* out);
} ShapeKind;

static const ShapeKind SHAPES[] = {
    {"rectangle", make_rectangle},
    {"tube", make_tube},
    {"shorts", make_shorts},
    {"mesh", read_mesh},
};
enum { SHAPE_COUNT = 4 };

// Moves a mesh to where it is.
static void place_mesh(const ShapeSpec* shape, const TdlClothMesh* mesh) {
    TdlMat3 axes = scene_axes(shape->direction, shape->normal);
    TdlVec3* vertices = vertices_of(mesh);
    for (int i = 0; i < mesh->vertex_count; ++i) {
        vertices[i] = tdl_add3(shape->position, tdl_mul33_3(axes, vertices[i]));
    }
}

// The one key of `node` that says what it is; `what` is a cloth or a piece.
static TdlStatus find_shape(const TdlScene* scene, const Node* node, const char* what,
                            const ShapeKind** out) {
    *out = NULL;
    for (int i = 0; i < SHAPE_COUNT; ++i) {
        const Node* key = node_find(node, SHAPES[i].key);
        if (key != NULL && *out != NULL) {
            return fail_at(&scene->host, key->key_mark, "a %s is a %s or a %s, not both", what,
                           (*out)->key, SHAPES[i].key);
        }
        *out = key != NULL ? &SHAPES[i] : *out;
    }
    return TDL_STATUS_OK;
}

static TdlStatus make_shape(TdlScene* scene, const char* name, const Node* node, const char* what,
                            const ShapeSpec* shape, TdlClothMesh* out) {
    const ShapeKind* kind;
    TdlStatus status = find_shape(scene, node, what, &kind);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (kind == NULL) {
        return fail_at(&scene->host, node->mark,
                       "the %s needs one of the keys 'rectangle', 'tube', 'shorts', 'mesh'%s", what,
                       strcmp(what, "cloth") == 0 ? ", 'pieces'" : "");
    }
    status = scene_check_axes(scene, node, shape->direction, shape->normal);
    return status == TDL_STATUS_OK ? kind->make(scene, name, shape, out) : status;
}

// Puts meshes behind each other.
static TdlStatus join_pieces(TdlScene* scene, const TdlClothMesh* part, int count,
                             TdlClothMesh* out) {
    *out = (TdlClothMesh){0};
    for (int i = 0; i < count; ++i) {
        out->vertex_count += part[i].vertex_count;
        out->face_count += part[i].face_count;
    }
    TdlVec3* vertices = ARENA_NEW(&scene->arena, TdlVec3, out->vertex_count);
    int *faces = ARENA_NEW(&scene->arena, int, 4 * (size_t)out->face_count), first = 0;
    if (vertices == NULL || faces == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    out->vertices = vertices;
    out->faces = faces;
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < part[i].vertex_count; ++k) {
            *vertices++ = part[i].vertices[k];
        }
        for (int k = 0; k < 4 * part[i].face_count; ++k) {
            *faces++ = part[i].faces[k] < 0 ? -1 : part[i].faces[k] + first;
        }
        first += part[i].vertex_count;
    }
    return TDL_STATUS_OK;
}

static TdlStatus make_pieces(TdlScene* scene, ClothSpec* cloth) {
    ClothPieceSpec* pieces = cloth->pieces.items;
    TdlClothMesh* part = ARENA_NEW(&scene->arena, TdlClothMesh, cloth->pieces.count);
    if (part == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    int first = 0;
    for (int i = 0; i < cloth->pieces.count; ++i) {
        TdlStatus status =
            make_shape(scene, cloth->name, pieces[i].node, "piece", &pieces[i].shape, &part[i]);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        place_mesh(&pieces[i].shape, &part[i]);
        pieces[i].first = first;
        first += part[i].vertex_count;
    }
    return join_pieces(scene, part, cloth->pieces.count, &cloth->placed);
}

static TdlStatus make_mesh(TdlScene* scene, ClothSpec* cloth) {
    if (cloth->pieces.count == 0) {
        return make_shape(scene, cloth->name, cloth->node, "cloth", &cloth->shape, &cloth->placed);
    }
    const ShapeKind* kind;
    TdlStatus status = find_shape(scene, cloth->node, "cloth", &kind);
    if (status == TDL_STATUS_OK && kind != NULL) {
        return fail_at(&scene->host, node_find(cloth->node, "pieces")->key_mark,
                       "a cloth is a %s or of pieces, not both", kind->key);
    }
    return status == TDL_STATUS_OK ? make_pieces(scene, cloth) : status;
}

// --- seams ---------------------------------------------------------------------------------------

int scene_edge_vertices(const RectangleSpec* r, int edge, int* out) {
    int columns = r->nodes[0], rows = r->nodes[1];
    bool upright = edge < 2;
    int first = edge == 1 ? columns - 1 : edge == 3 ? (rows - 1) * columns : 0;
    int count = upright ? rows : columns;
    for (int i = 0; i < count && out != NULL; ++i) {
        out[i] = first + i * (upright ? columns : 1);
    }
    return count;
}

int scene_rim_vertices(const ShapeSpec* shape, int rim, int* out) {
    const TubeSpec* t = &shape->tube;
    const ShortsSpec* s = &shape->shorts;
    int ring = 4 * s->nodes[0] + 4, half = 2 * s->nodes[0] + 3, first = 0, count = 0;
    if (t->node != NULL && rim < 2) { // bottom, top
        count = t->nodes[0];
        first = rim == 0 ? 0 : (t->nodes[1] - 1) * count;
    } else if (s->node != NULL && rim >= 2) { // waist, right, left
        count = rim == 2 ? ring : half;
        first = rim == 2 ? 0 : ring * (s->nodes[1] + 1) + (rim - 2) * half * s->nodes[2] - half;
    }
    for (int i = 0; i < count && out != NULL; ++i) {
        out[i] = first + i;
    }
    return count;
}

// The rectangle that a side of a seam names, and where its vertices begin; null: there is none.
static const RectangleSpec* seam_rectangle(const ClothSpec* cloth, int piece, int* first) {
    const ClothPieceSpec* pieces = cloth->pieces.items;
    bool whole = cloth->pieces.count == 0;
    *first = 0;
    if (piece >= (whole ? 1 : cloth->pieces.count)) {
        return NULL;
    }
    *first = whole ? 0 : pieces[piece].first;
    const RectangleSpec* r = whole ? &cloth->shape.rectangle : &pieces[piece].shape.rectangle;
    return r->node == NULL ? NULL : r;
}

// A seam of two edges becomes one of vertices.
static TdlStatus list_edges(TdlScene* scene, const ClothSpec* cloth, SeamSpec* seam) {
    const Node* key = node_find(seam->node, "edges");
    int count[2], first[2];
    const RectangleSpec* r[2];
    if (seam->edges.count != 2) {
        return fail_at(&scene->host, key->mark, "a seam joins two edges");
    }
    for (int k = 0; k < 2; ++k) {
        r[k] = seam_rectangle(cloth, seam->pieces[k], &first[k]);
        if (r[k] == NULL) {
            return fail_at(&scene->host, key->mark, "there is no rectangle %d in '%s'",
                           seam->pieces[k], cloth->name);
        }
        count[k] = scene_edge_vertices(r[k], seam->edges.items[k], NULL);
    }
    if (count[0] != count[1]) {
        return fail_at(&scene->host, key->mark, "the edges have %d and %d vertices", count[0],
                       count[1]);
    }
    int* list[2] = {ARENA_NEW(&scene->arena, int, count[0]),
                    ARENA_NEW(&scene->arena, int, count[0])};
    if (list[0] == NULL || list[1] == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int k = 0; k < 2; ++k) {
        scene_edge_vertices(r[k], seam->edges.items[k], list[k]);
        for (int i = 0; i < count[0]; ++i) {
            list[k][i] += first[k];
        }
    }
    seam->from = (IntList){list[0], count[0]};
    seam->to = (IntList){list[1], count[0]};
    return TDL_STATUS_OK;
}

static void reverse(IntList* list) {
    for (int i = 0, j = list->count - 1; i < j; ++i, --j) {
        int swap = list->items[i];
        list->items[i] = list->items[j];
        list->items[j] = swap;
    }
}

static TdlStatus make_seam(TdlScene* scene, ClothSpec* cloth, int number) {
    SeamSpec* seam = (SeamSpec*)cloth->seams.items + number;
    bool edges = node_find(seam->node, "edges") != NULL;
    bool listed = node_find(seam->node, "from") != NULL && node_find(seam->node, "to") != NULL;
    if (edges == listed) {
        return fail_at(&scene->host, seam->node->mark,
                       "a seam has the key 'edges', or the keys 'from' and 'to'");
    }
    TdlStatus status = edges ? list_edges(scene, cloth, seam) : TDL_STATUS_OK;
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (seam->from.count != seam->to.count) {
        return fail_at(&scene->host, node_find(seam->node, "to")->mark,
                       "%d vertices are sewn to %d", seam->from.count, seam->to.count);
    }
    if (seam->reversed) {
        reverse(&seam->to);
    }
    cloth->sewn[number] = (TdlClothSeam){seam->from.items, seam->to.items, seam->from.count,
                                         seam->within, seam->time};
    return TDL_STATUS_OK;
}

// A seam that cannot be is told with its vertices.
static TdlStatus check_seams(const TdlScene* scene, const ClothSpec* cloth,
                             const TdlClothDef* def) {
    int at, pair;
    const char* fault = tdl_cloth_seam_fault(def, &at, &pair);
    if (fault == NULL) {
        return TDL_STATUS_OK;
    }
    if (at < 0 || pair < 0) {
        return fail_at(&scene->host, node_find(cloth->node, "seams")->mark, "%s", fault);
    }
    const SeamSpec* seam = (const SeamSpec*)cloth->seams.items + at;
    int i = seam->from.items[pair], j = seam->to.items[pair], n = cloth->placed.vertex_count;
    if (i >= n || j >= n) {
        return fail_at(&scene->host, seam->node->mark,
                       "there is no vertex %d: '%s' has %d, counted from 0", i >= n ? i : j,
                       cloth->name, n);
    }
    double apart = tdl_norm3(tdl_sub3(cloth->placed.vertices[j], cloth->placed.vertices[i]));
    return fail_at(&scene->host, seam->node->mark, "vertices %d and %d, %.3g m apart: %s", i, j,
                   apart, fault);
}

static TdlStatus make_seams(TdlScene* scene, ClothSpec* cloth) {
    cloth->sewn = ARENA_NEW(&scene->arena, TdlClothSeam, cloth->seams.count);
    cloth->number = ARENA_NEW(&scene->arena, int, cloth->placed.vertex_count);
    if (cloth->sewn == NULL || cloth->number == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < cloth->seams.count; ++i) {
        TdlStatus status = make_seam(scene, cloth, i);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    TdlClothDef def = tdl_cloth_def_default();
    def.mesh = cloth->placed;
    def.seams = cloth->sewn;
    def.seam_count = cloth->seams.count;
    TdlStatus status = check_seams(scene, cloth, &def);
    if (status == TDL_STATUS_OK) {
        cloth->sewn_count = tdl_cloth_sewn_vertices(&def, cloth->number);
    }
    return status;
}

// --- the whole -----------------------------------------------------------------------------------

TdlStatus scene_make_sheet(TdlScene* scene, ClothSpec* cloth) {
    const ShapeSpec* shape = &cloth->shape;
    TdlStatus status = scene_check_axes(scene, cloth->node, shape->direction, shape->normal);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = make_mesh(scene, cloth);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = cloth->rest.node != NULL ? read_rest(scene, cloth) : TDL_STATUS_OK;
    if (status != TDL_STATUS_OK) {
        return status;
    }
    place_mesh(shape, &cloth->placed); // the shape at rest stays what it was
    return make_seams(scene, cloth);
}
