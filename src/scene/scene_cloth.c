// Cloth of a scene: its mesh is made or read when the scene is loaded, what holds it is found, and
// the definition is made of both when the world is built. Cost: linear in vertices and faces.
#include "scene/scene.h"

#include "base/check.h"
#include "base/log.h"
#include "formats/obj.h"

#include <math.h>
#include <string.h>

// Vertices of all cloths: what a processor can step, with room.
enum { VERTICES_MAX = 4000000 };

// --- the mesh ------------------------------------------------------------------------------------

// Adds the vertices of a cloth to the sum, before anything is allocated for them.
static TdlStatus count_vertices(TdlScene* scene, const ClothSpec* cloth, int64_t count, Mark mark) {
    if (count > VERTICES_MAX - scene->cloth_vertex_count) {
        return fail_at(&scene->host, mark,
                       "%lld vertices of '%s' bring the scene above %d vertices of cloth",
                       (long long)count, cloth->name, VERTICES_MAX);
    }
    scene->cloth_vertex_count += (int)count;
    return TDL_STATUS_OK;
}

static TdlStatus make_rectangle(TdlScene* scene, ClothSpec* cloth) {
    const RectangleSpec* r = &cloth->rectangle;
    int64_t count = (int64_t)r->nodes[0] * r->nodes[1];
    TdlStatus status = count_vertices(scene, cloth, count, scene_mark_of(r->node, "nodes"));
    if (status != TDL_STATUS_OK) {
        return status;
    }
    size_t faces = (size_t)(r->nodes[0] - 1) * (size_t)(r->nodes[1] - 1);
    TdlVec3* vertices = ARENA_NEW(&scene->arena, TdlVec3, (size_t)count);
    int* corners = ARENA_NEW(&scene->arena, int, 4 * faces);
    if (vertices == NULL || corners == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    cloth->placed =
        tdl_cloth_rectangle(r->size[0], r->size[1], r->nodes[0], r->nodes[1], vertices, corners);
    return TDL_STATUS_OK;
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
    return obj_parse_faces(&scene->host, source->name, source->text, source->size, out);
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
static TdlStatus take_faces(TdlScene* scene, ClothSpec* cloth, const ObjFaces* all) {
    const Node* file = node_find(cloth->mesh.node, "file");
    TdlStatus status = count_vertices(scene, cloth, all->vertex_count, file->mark);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlVec3* places = take_places(scene, &cloth->mesh, all);
    int* corners = ARENA_NEW(&scene->arena, int, 4 * (size_t)all->face_count);
    if (places == NULL || corners == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(corners, all->corners, 4 * (size_t)all->face_count * sizeof *corners);
    cloth->placed = (TdlClothMesh){places, all->vertex_count, corners, all->face_count};
    int face = -1;
    const char* fault = tdl_cloth_mesh_fault(&cloth->placed, &face);
    if (fault == NULL) {
        return TDL_STATUS_OK;
    }
    if (face < 0) {
        return fail_at(&scene->host, file->mark, "%s", fault);
    }
    return fail_at(&scene->host, file->mark, "face %d, line %d of the file: %s", face,
                   all->lines[face], fault);
}

static TdlStatus read_mesh(TdlScene* scene, ClothSpec* cloth) {
    ObjFaces all = {0};
    TdlStatus status = read_faces(scene, &cloth->mesh, "mesh", &all);
    if (status == TDL_STATUS_OK) {
        status = take_faces(scene, cloth, &all);
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

// Moves the mesh to where the cloth is; the shape at rest stays what it was.
static void place_mesh(ClothSpec* cloth) {
    TdlMat3 axes = scene_axes(cloth->direction, cloth->normal);
    TdlVec3* vertices = (TdlVec3*)(uintptr_t)cloth->placed.vertices; // the scene's own
    for (int i = 0; i < cloth->placed.vertex_count; ++i) {
        vertices[i] = tdl_add3(cloth->position, tdl_mul33_3(axes, vertices[i]));
    }
}

static TdlStatus make_mesh(TdlScene* scene, ClothSpec* cloth) {
    bool flat = cloth->rectangle.node != NULL, given = cloth->mesh.node != NULL;
    if (flat == given) {
        return fail_at(&scene->host, cloth->node->mark,
                       flat ? "a cloth is a rectangle or a mesh, not both"
                            : "the cloth needs the key 'rectangle' or the key 'mesh'");
    }
    TdlStatus status = flat ? make_rectangle(scene, cloth) : read_mesh(scene, cloth);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = cloth->rest.node != NULL ? read_rest(scene, cloth) : TDL_STATUS_OK;
    if (status == TDL_STATUS_OK) {
        place_mesh(cloth);
    }
    return status;
}

// --- holds ---------------------------------------------------------------------------------------

static const char* const HOLD_KEYS[] = {"vertices", "corners", "edge", "near"};
enum { HOLD_KEY_COUNT = 4 };

// The one key that says what is held.
static TdlStatus find_key(const TdlScene* scene, const ClothSpec* cloth, const HoldSpec* hold,
                          const Node** out) {
    *out = NULL;
    for (int i = 0; i < HOLD_KEY_COUNT; ++i) {
        const Node* node = node_find(hold->node, HOLD_KEYS[i]);
        if (node != NULL && *out != NULL) {
            return fail_at(&scene->host, node->key_mark,
                           "a hold has one of these: %s and %s are two holds", (*out)->key,
                           node->key);
        }
        *out = node != NULL ? node : *out;
    }
    if (*out == NULL) {
        return fail_at(&scene->host, hold->node->mark,
                       "the hold needs one of the keys 'vertices', 'corners', 'edge', 'near'");
    }
    bool of_rectangle = hold->corners.count > 0 || strcmp((*out)->key, "edge") == 0;
    return of_rectangle && cloth->rectangle.node == NULL
               ? fail_at(&scene->host, (*out)->key_mark, "only a rectangle has %s",
                         hold->corners.count > 0 ? "corners" : "an edge")
               : TDL_STATUS_OK;
}

// Vertices of a rectangle: the corners in the order of their choices, and every `*step`-th from
// `*first` on of an edge.
static int corner_of(const RectangleSpec* r, int corner) {
    int column = corner % 2 == 0 ? 0 : r->nodes[0] - 1, row = corner < 2 ? 0 : r->nodes[1] - 1;
    return row * r->nodes[0] + column;
}

static int edge_of(const RectangleSpec* r, int edge, int* first, int* step) {
    bool upright = edge < 2;
    *step = upright ? r->nodes[0] : 1;
    *first = corner_of(r, edge == 1 ? 1 : edge == 3 ? 2 : 0);
    return upright ? r->nodes[1] : r->nodes[0];
}

static int nearest_vertex(const TdlClothMesh* mesh, TdlVec3 place) {
    int best = 0;
    double least = INFINITY;
    for (int i = 0; i < mesh->vertex_count; ++i) {
        TdlVec3 away = tdl_sub3(mesh->vertices[i], place);
        double distance = tdl_dot3(away, away);
        if (distance < least) {
            least = distance;
            best = i;
        }
    }
    return best;
}

// Writes what is held into hold->held, which has room.
static void list_held(const ClothSpec* cloth, HoldSpec* hold, const char* key) {
    int* out = hold->held.items;
    if (strcmp(key, "vertices") == 0) {
        memcpy(out, hold->vertices.items, (size_t)hold->vertices.count * sizeof *out);
        hold->held.count = hold->vertices.count;
    } else if (strcmp(key, "corners") == 0) {
        for (int i = 0; i < hold->corners.count; ++i) {
            out[i] = corner_of(&cloth->rectangle, hold->corners.items[i]);
        }
        hold->held.count = hold->corners.count;
    } else if (strcmp(key, "edge") == 0) {
        int first, step;
        hold->held.count = edge_of(&cloth->rectangle, hold->edge, &first, &step);
        for (int i = 0; i < hold->held.count; ++i) {
            out[i] = first + i * step;
        }
    } else {
        out[0] = nearest_vertex(&cloth->placed, hold->near);
        hold->held.count = 1;
    }
}

// Every vertex that is held is there, and is held once.
static TdlStatus check_held(const TdlScene* scene, const ClothSpec* cloth, const HoldSpec* hold,
                            const Node* key, int number) {
    int* hold_of = (int*)(uintptr_t)cloth->hold_of;
    for (int i = 0; i < hold->held.count; ++i) {
        int vertex = hold->held.items[i];
        bool listed = key->kind == NODE_LIST && strcmp(key->key, "near") != 0;
        Mark mark = listed ? node_item(key, i)->mark : key->mark;
        if (vertex >= cloth->placed.vertex_count) {
            return fail_at(&scene->host, mark, "there is no vertex %d: '%s' has %d, counted from 0",
                           vertex, cloth->name, cloth->placed.vertex_count);
        }
        if (hold_of[vertex] >= 0) {
            return fail_at(&scene->host, mark, "vertex %d of '%s' is held twice", vertex,
                           cloth->name);
        }
        hold_of[vertex] = number;
    }
    return TDL_STATUS_OK;
}

static TdlStatus check_hold(TdlScene* scene, ClothSpec* cloth, int number) {
    HoldSpec* hold = (HoldSpec*)cloth->holds.items + number;
    const Node* key;
    TdlStatus status = find_key(scene, cloth, hold, &key);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    int room = hold->vertices.count + hold->corners.count + cloth->rectangle.nodes[0] +
               cloth->rectangle.nodes[1] + 1;
    hold->held.items = ARENA_NEW(&scene->arena, int, room);
    if (hold->held.items == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    list_held(cloth, hold, key->key);
    status = check_held(scene, cloth, hold, key, number);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return scene_check_motion(scene, &hold->motion);
}

static TdlStatus check_holds(TdlScene* scene, ClothSpec* cloth) {
    int* hold_of = ARENA_NEW(&scene->arena, int, cloth->placed.vertex_count);
    if (hold_of == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < cloth->placed.vertex_count; ++i) {
        hold_of[i] = -1;
    }
    cloth->hold_of = hold_of;
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; status == TDL_STATUS_OK && i < cloth->holds.count; ++i) {
        status = check_hold(scene, cloth, i);
    }
    return status;
}

// --- the whole -----------------------------------------------------------------------------------

TdlStatus scene_make_cloth(const TdlScene* scene, const ClothSpec* cloth, Arena* arena,
                           TdlClothDef* out) {
    TdlClothDef def = tdl_cloth_def_default();
    def.mesh = cloth->placed;
    def.rest = cloth->rest_shape;
    def.density = cloth->density;
    def.weight = node_find(cloth->node, "weight") == NULL ? -1.0 : cloth->weight;
    def.damping = cloth->damping;
    def.stretch = cloth->stretch;
    def.shear = node_find(cloth->node, "shear") == NULL ? -1.0 : cloth->shear;
    def.bending = cloth->bending;
    def.bending_damping = cloth->bending_damping;
    def.drag = cloth->drag;
    def.thickness = cloth->thickness;
    def.self = cloth->self;
    def.velocity = cloth->velocity;
    def.material = scene_material_number(scene, cloth->material);
    TdlClothHold* holds = ARENA_NEW(arena, TdlClothHold, cloth->holds.count);
    TdlStatus status = holds == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
    const HoldSpec* from = cloth->holds.items;
    for (int i = 0; status == TDL_STATUS_OK && i < cloth->holds.count; ++i) {
        holds[i] = (TdlClothHold){.vertices = from[i].held.items, .count = from[i].held.count};
        status = scene_make_motion(arena, &from[i].motion, &holds[i].motion);
    }
    def.holds = holds;
    def.hold_count = cloth->holds.count;
    *out = def;
    return status;
}

// What the cloth itself knows.
static TdlStatus check_def(TdlScene* scene, const ClothSpec* cloth) {
    ArenaMark mark = arena_mark(&scene->arena);
    TdlClothDef def;
    TdlStatus status = scene_make_cloth(scene, cloth, &scene->arena, &def);
    const char* fault = status == TDL_STATUS_OK ? tdl_cloth_def_fault(&def) : NULL;
    arena_release(&scene->arena, mark);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return fault == NULL ? TDL_STATUS_OK : fail_at(&scene->host, cloth->node->mark, "%s", fault);
}

TdlStatus scene_check_cloth(TdlScene* scene, ClothSpec* cloth) {
    TdlStatus status = scene_check_axes(scene, cloth->node, cloth->direction, cloth->normal);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = scene_check_material(scene, cloth->material, scene_mark_of(cloth->node, "material"));
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = make_mesh(scene, cloth);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = check_holds(scene, cloth);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return check_def(scene, cloth);
}

// Of the triangles that a face is in contact: a quad's about the diagonal from its first corner.
static double face_area(const TdlVec3* x, const int corner[4]) {
    double twice = 0.0;
    for (int k = 1; k < 3 && corner[k + 1] >= 0; ++k) {
        twice += tdl_norm3(tdl_cross3(tdl_sub3(x[corner[k]], x[corner[0]]),
                                      tdl_sub3(x[corner[k + 1]], x[corner[0]])));
    }
    return 0.5 * twice;
}

TdlSceneCloth tdl_scene_cloth(const TdlScene* scene, int index) {
    TDL_ASSERT(index >= 0 && index < scene->spec.cloths.count);
    const ClothSpec* cloth = (const ClothSpec*)scene->spec.cloths.items + index;
    const TdlVec3* x = cloth->rest_shape != NULL ? cloth->rest_shape : cloth->placed.vertices;
    TdlSceneCloth out = {.name = cloth->name,
                         .material = cloth->material,
                         .vertex_count = cloth->placed.vertex_count,
                         .face_count = cloth->placed.face_count,
                         .hold_of = cloth->hold_of};
    const HoldSpec* holds = cloth->holds.items;
    for (int i = 0; i < cloth->holds.count; ++i) {
        out.held_count += holds[i].held.count;
    }
    for (int i = 0; i < cloth->placed.face_count; ++i) {
        out.area += face_area(x, cloth->placed.faces + 4 * (size_t)i);
    }
    out.mass = cloth->density * out.area;
    return out;
}
