// Rigid bodies of a scene: keys that fit their shapes, meshes with an inside, masses that a body
// can have, and not too many of them.
#include "scene/scene.h"

#include "base/log.h"

#include <string.h>

static const int64_t BODIES_MAX = 1000000;

// Faults of these keys begin with them.
static Mark fault_mark(const BodySpec* body, const char* fault) {
    static const char* const KEYS[] = {"inner_radius", "rounding", "inertia", "centre"};
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; ++i) {
        if (strncmp(fault, KEYS[i], strlen(KEYS[i])) == 0 && node_find(body->node, KEYS[i])) {
            return scene_mark_of(body->node, KEYS[i]);
        }
    }
    return body->node->mark;
}

// What the shape itself knows: radii and sizes that do not fit.
static TdlStatus check_body_def(TdlScene* scene, const BodySpec* body) {
    ArenaMark mark = arena_mark(&scene->arena);
    TdlRigidDef def = scene_make_body(scene, body, &scene->arena);
    bool memory = body->pieces.count == 0 || def.pieces != NULL;
    const char* fault = memory ? tdl_rigid_def_fault(&def) : NULL;
    arena_release(&scene->arena, mark);
    if (!memory) {
        return TDL_STATUS_NO_MEMORY;
    }
    return fault == NULL ? TDL_STATUS_OK
                         : fail_at(&scene->host, fault_mark(body, fault), "%s", fault);
}

// The files of a mesh, and whether it has an inside.
static TdlStatus check_body_mesh(TdlScene* scene, BodySpec* body) {
    TdlStatus status = scene_read_mesh(scene, &body->mesh);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    int triangle;
    const char* fault = tdl_solid_fault(&scene->host, &body->mesh.mesh, &triangle);
    Mark mark = scene_mark_of(body->mesh.node, "file");
    if (fault == NULL) {
        return TDL_STATUS_OK;
    }
    return triangle < 0
               ? fail_at(&scene->host, mark, "%s", fault)
               : fail_at(&scene->host, mark, "triangle %d of the mesh: %s", triangle, fault);
}

static TdlStatus check_body_mass(const TdlScene* scene, const BodySpec* body) {
    const Node* density = node_find(body->node, "density");
    const Node* products = node_find(body->node, "inertia_products");
    if (body->mass > 0.0 && density != NULL) {
        return fail_at(&scene->host, density->key_mark, "a body has a mass or a density, not both");
    }
    if (products != NULL && node_find(body->node, "inertia") == NULL) {
        return fail_at(&scene->host, products->key_mark, "inertia_products need an inertia");
    }
    return TDL_STATUS_OK;
}

static const char* const BODY_KEYS[] = {"radius", "inner_radius", "rounding", "length",
                                        "half",   "pieces",       "mesh",     NULL};
static const ShapeKeys BODY_SHAPES[] = {
    [TDL_RIGID_SPHERE] = {"sphere", {"radius"}, {"inner_radius"}},
    [TDL_RIGID_CAPSULE] = {"capsule", {"radius", "length"}, {0}},
    [TDL_RIGID_BOX] = {"box", {"half"}, {"radius"}},
    [TDL_RIGID_CURVES] = {"chain of curves", {"radius", "pieces"}, {0}},
    [TDL_RIGID_MESH] = {"mesh", {"mesh"}, {"radius"}},
    [TDL_RIGID_CYLINDER] = {"cylinder", {"radius", "length"}, {"inner_radius", "rounding"}},
};

TdlStatus scene_check_body(TdlScene* scene, BodySpec* body) {
    TdlStatus status = scene_check_keys(scene, body->node, &BODY_SHAPES[body->shape], BODY_KEYS);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = check_body_mass(scene, body);
    if (status == TDL_STATUS_OK && body->shape == TDL_RIGID_MESH) {
        status = check_body_mesh(scene, body);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = scene_check_axes(scene, body->node, body->direction, body->normal);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = scene_check_pieces(scene, &body->pieces);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = scene_check_material(scene, body->material, scene_mark_of(body->node, "material"));
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = body->repeat.node != NULL ? scene_check_repeat(scene, &body->repeat) : TDL_STATUS_OK;
    if (status != TDL_STATUS_OK) {
        return status;
    }
    const int* n = body->repeat.count;
    int64_t copies = (int64_t)n[0] * n[1] * n[2];
    if (copies > BODIES_MAX - scene->rigid_count) {
        const Node* at = body->repeat.node == NULL ? body->node : body->repeat.node;
        return fail_at(&scene->host, scene_mark_of(at, "count"),
                       "%lld copies of '%s' bring the scene above %lld bodies", (long long)copies,
                       body->name, (long long)BODIES_MAX);
    }
    scene->rigid_count += (int)copies;
    status = scene_check_loads(scene, &body->loads, INFINITY);
    return status == TDL_STATUS_OK ? check_body_def(scene, body) : status;
}
