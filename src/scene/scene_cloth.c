// Cloth of a scene: its mesh is made or read when the scene is loaded (scene_cloth_mesh.c), what
// holds it is found, and the definition is made of both when the world is built. Cost: linear in
// vertices and faces.
#include "scene/scene.h"

#include "base/check.h"
#include "base/log.h"

#include <math.h>
#include <string.h>

// --- holds ---------------------------------------------------------------------------------------

static const char* const HOLD_KEYS[] = {"vertices", "corners", "edge", "rim", "near"};
enum { HOLD_KEY_COUNT = 5 };

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
        return fail_at(
            &scene->host, hold->node->mark,
            "the hold needs one of the keys 'vertices', 'corners', 'edge', 'rim', 'near'");
    }
    bool of_rectangle = hold->corners.count > 0 || strcmp((*out)->key, "edge") == 0;
    if (of_rectangle && cloth->shape.rectangle.node == NULL) {
        return fail_at(&scene->host, (*out)->key_mark, "only a rectangle has %s",
                       hold->corners.count > 0 ? "corners" : "an edge");
    }
    bool no_rim =
        strcmp((*out)->key, "rim") == 0 && scene_rim_vertices(&cloth->shape, hold->rim, NULL) == 0;
    return no_rim ? fail_at(&scene->host, (*out)->mark,
                            "'%s' has no rim %s: a tube has bottom and top, shorts have waist, "
                            "right and left",
                            cloth->name, (*out)->text)
                  : TDL_STATUS_OK;
}

// Of a rectangle, in the order of the choices.
static int corner_of(const RectangleSpec* r, int corner) {
    int column = corner % 2 == 0 ? 0 : r->nodes[0] - 1, row = corner < 2 ? 0 : r->nodes[1] - 1;
    return row * r->nodes[0] + column;
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
            out[i] = corner_of(&cloth->shape.rectangle, hold->corners.items[i]);
        }
        hold->held.count = hold->corners.count;
    } else if (strcmp(key, "edge") == 0) {
        hold->held.count = scene_edge_vertices(&cloth->shape.rectangle, hold->edge, out);
    } else if (strcmp(key, "rim") == 0) {
        hold->held.count = scene_rim_vertices(&cloth->shape, hold->rim, out);
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
        int sewn = cloth->number[vertex];
        if (hold_of[sewn] >= 0) {
            return fail_at(&scene->host, mark, "vertex %d of '%s' is held twice%s", vertex,
                           cloth->name,
                           cloth->seams.count > 0 ? ", or one that it is sewn to" : "");
        }
        hold_of[sewn] = number;
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
    int room = hold->vertices.count + hold->corners.count + cloth->shape.rectangle.nodes[0] +
               cloth->shape.rectangle.nodes[1] +
               scene_rim_vertices(&cloth->shape, hold->rim, NULL) + 1;
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
    int* hold_of = ARENA_NEW(&scene->arena, int, cloth->sewn_count);
    if (hold_of == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < cloth->sewn_count; ++i) {
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
    def.seams = cloth->sewn;
    def.seam_count = cloth->seams.count;
    def.model = (TdlClothModel)cloth->model;
    def.weft = node_find(cloth->node, "weft") == NULL ? -1.0 : cloth->weft;
    def.poisson = cloth->poisson;
    def.warp =
        cloth->rest_shape != NULL
            ? cloth->warp
            : tdl_mul33_3(scene_axes(cloth->shape.direction, cloth->shape.normal), cloth->warp);
    def.isometry = (TdlClothIsometry)cloth->isometry;
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

// Keys that only elastic cloth has.
static TdlStatus check_model(const TdlScene* scene, const ClothSpec* cloth) {
    static const char* const KEYS[] = {"weft", "poisson", "warp"};
    for (int i = 0; i < 3 && cloth->model == TDL_CLOTH_INEXTENSIBLE; ++i) {
        const Node* key = node_find(cloth->node, KEYS[i]);
        if (key != NULL) {
            return fail_at(&scene->host, key->key_mark, "only cloth of `model: elastic` has '%s'",
                           KEYS[i]);
        }
    }
    return TDL_STATUS_OK;
}

TdlStatus scene_check_cloth(TdlScene* scene, ClothSpec* cloth) {
    TdlStatus status = check_model(scene, cloth);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = scene_check_material(scene, cloth->material, scene_mark_of(cloth->node, "material"));
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = scene_make_sheet(scene, cloth);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = check_holds(scene, cloth);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = scene_check_cloth_loads(scene, cloth);
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
                         .isometry = cloth->isometry == TDL_ISOMETRY_S3 ? "s3" : "edges",
                         .vertex_count = cloth->sewn_count,
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
