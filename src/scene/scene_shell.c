// The scene language: shell patches. Their keys, what the keys cannot say, and their definitions.
#include "scene/scene.h"

#include "base/check.h"
#include "base/log.h"

#include <math.h>
#include <string.h>

#define ANY_LENGTH                                                                                 \
    { -1.0e9, 1.0e9, false, false }
#define ANY_CURVATURE                                                                              \
    { -1.0e9, 1.0e9, false, false }
#define AT(type, member) .offset = offsetof(type, member)

// Vertices of all patches of a scene: a result of more is not looked at.
enum { SHELL_VERTICES_MAX = 4000000 };

static const Field SHELL_FIELDS[] = {
    {.key = "name",
     .kind = FIELD_NAME,
     AT(ShellSpec, name),
     .required = true,
     .help = "What messages and overrides call it."},
    {.key = "material",
     .kind = FIELD_NAME,
     AT(ShellSpec, material),
     .required = true,
     .help = "The name of one of the `materials`, which needs a `young`."},
    {.key = "size",
     .kind = FIELD_PAIR,
     AT(ShellSpec, size),
     .unit = "m",
     .range = {1.0e-9, 1.0e9, false, false},
     .required = true,
     .help = "Along the first and the second axis; one number is a square."},
    {.key = "thickness",
     .kind = FIELD_REAL,
     AT(ShellSpec, thickness),
     .unit = "m",
     .range = {1.0e-9, 1.0e6, false, false},
     .required = true,
     .help = "Tells its mass and its stiffness, D = E h^3 / 12 (1 - nu^2)."},
    {.key = "position",
     .kind = FIELD_VEC3,
     AT(ShellSpec, position),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback = "[0, 0, 0]",
     .help = "Of the corner that is clamped, where both axes begin."},
    {.key = "direction",
     .kind = FIELD_DIRECTION,
     AT(ShellSpec, direction),
     .range = ANY_LENGTH,
     .fallback = "[1, 0, 0]",
     .help = "Its first axis at that corner; any length."},
    {.key = "normal",
     .kind = FIELD_DIRECTION,
     AT(ShellSpec, normal),
     .range = ANY_LENGTH,
     .fallback = "[0, 0, 1]",
     .help = "Its third axis there lies as near to this as it can. Positive curvature bends it "
             "towards that."},
    {.key = "natural",
     .kind = FIELD_VEC3,
     AT(ShellSpec, natural),
     .unit = "1/m",
     .range = ANY_CURVATURE,
     .fallback = "[0, 0, 0]",
     .help = "Its curvature without forces: along the first axis, of both axes together (twist), "
             "along the second. A patch is always a piece of a cylinder, and comes as near as one "
             "can."},
    {.key = "curvature",
     .kind = FIELD_REAL,
     AT(ShellSpec, curvature),
     .unit = "1/m",
     .range = ANY_CURVATURE,
     .fallback_note = "the natural one",
     .help = "At the start; over its diagonal a patch turns by 50 rad at most."},
    {.key = "angle",
     .kind = FIELD_REAL,
     AT(ShellSpec, angle),
     .unit = "rad",
     .range = {-1.0e6, 1.0e6, false, false},
     .fallback = "0",
     .help = "Goes with `curvature`: of the direction that bends, from the first axis."},
    {.key = "nodes",
     .kind = FIELD_COUNT2,
     AT(ShellSpec, nodes),
     .range = {2, 1000, false, false},
     .fallback = "[21, 21]",
     .help = "Vertices along the axes, in results; the motion does not depend on them."},
    {0},
};

const Group SHELL_GROUP = {
    .name = "shell",
    .help = "A patch of paper or sheet metal that neither stretches nor shears: a piece of a "
            "cylinder whose curvature and direction change, clamped at a corner. Shells touch "
            "nothing: they pass through each other and through all else.",
    .size = sizeof(ShellSpec),
    .fields = SHELL_FIELDS,
};

// --- checks --------------------------------------------------------------------------------------

TdlShellPatchDef scene_make_shell(const TdlScene* scene, const ShellSpec* shell) {
    TdlShellPatchDef def = tdl_shell_patch_def_default();
    const MaterialSpec* material = scene_find_material(scene, shell->material);
    def.pose = (TdlPose){shell->position, scene_axes(shell->direction, shell->normal)};
    def.thickness = shell->thickness;
    def.density = material->density;
    def.young = material->young;
    def.poisson = material->poisson;
    def.damping = material->damping;
    def.mass_damping = material->mass_damping;
    def.natural[0] = shell->natural.x;
    def.natural[1] = shell->natural.y;
    def.natural[2] = shell->natural.z;
    def.curvature = node_find(shell->node, "curvature") == NULL ? NAN : shell->curvature;
    def.angle = shell->angle;
    memcpy(def.size, shell->size, sizeof def.size);
    memcpy(def.nodes, shell->nodes, sizeof def.nodes);
    return def;
}

static TdlStatus check_shell_material(const TdlScene* scene, const ShellSpec* shell) {
    Mark mark = scene_mark_of(shell->node, "material");
    TdlStatus status = scene_check_material(scene, shell->material, mark);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return scene_find_material(scene, shell->material)->young > 0.0
               ? TDL_STATUS_OK
               : fail_at(&scene->host, mark, "a shell needs the key 'young' in its material '%s'",
                         shell->material);
}

static TdlStatus check_shell(TdlScene* scene, const ShellSpec* shell) {
    TdlStatus status = check_shell_material(scene, shell);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = scene_check_axes(scene, shell->node, shell->direction, shell->normal);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    const Node* angle = node_find(shell->node, "angle");
    if (angle != NULL && node_find(shell->node, "curvature") == NULL) {
        return fail_at(&scene->host, angle->key_mark, "'angle' goes with 'curvature'");
    }
    TdlShellPatchDef def = scene_make_shell(scene, shell);
    const char* fault = tdl_shell_patch_def_fault(&def);
    if (fault != NULL) {
        return fail_at(&scene->host, shell->node->mark, "shell '%s': %s", shell->name, fault);
    }
    scene->shell_vertex_count += shell->nodes[0] * shell->nodes[1];
    return scene->shell_vertex_count <= SHELL_VERTICES_MAX
               ? TDL_STATUS_OK
               : fail_at(&scene->host, scene_mark_of(shell->node, "nodes"),
                         "all shells together have more than %d vertices", SHELL_VERTICES_MAX);
}

// Whether something that can be touched is of the material; or, of a null one, is there at all.
static bool touches(const SceneSpec* spec, const char* material) {
    const RodSpec* rods = spec->rods.items;
    const BodySpec* bodies = spec->bodies.items;
    const ClothSpec* cloths = spec->cloths.items;
    const ColliderSpec* colliders = spec->colliders.items;
    int count[4] = {spec->rods.count, spec->bodies.count, spec->cloths.count,
                    spec->colliders.count};
    for (int kind = 0; kind < 4; ++kind) {
        for (int i = 0; i < count[kind]; ++i) {
            const char* own = kind == 0   ? rods[i].material
                              : kind == 1 ? bodies[i].material
                              : kind == 2 ? cloths[i].material
                                          : colliders[i].material;
            if (material == NULL || (own != NULL && strcmp(own, material) == 0)) {
                return true;
            }
        }
    }
    return false;
}

// Shells touch nothing: a pair of materials that only they have is a mistake, and of a scene with
// other things it is told, unless contacts are off anyway.
static TdlStatus check_contacts(const TdlScene* scene) {
    const SceneSpec* spec = &scene->spec;
    const ShellSpec* shells = spec->shells.items;
    const PairSpec* pairs = spec->contacts.pairs.items;
    for (int i = 0; i < spec->contacts.pairs.count; ++i) {
        for (int n = 0; n < 2 * spec->shells.count; ++n) {
            const char *name = pairs[i].between[n % 2], *own = shells[n / 2].material;
            if (strcmp(name, own) == 0 && !touches(spec, name)) {
                return fail_at(&scene->host, pairs[i].node->mark,
                               "shells touch nothing, and of '%s' there are only shells", name);
            }
        }
    }
    if (spec->shells.count > 0 && spec->contacts.detection != DETECTION_OFF &&
        touches(spec, NULL)) {
        tdl_log(&scene->host, TDL_LOG_WARNING,
                "shells touch nothing: '%s' will pass through whatever it meets", shells[0].name);
    }
    return TDL_STATUS_OK;
}

TdlStatus scene_check_shells(TdlScene* scene) {
    const ShellSpec* shells = scene->spec.shells.items;
    for (int i = 0; i < scene->spec.shells.count; ++i) {
        TdlStatus status = check_shell(scene, &shells[i]);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return check_contacts(scene);
}

TdlSceneShell tdl_scene_shell(const TdlScene* scene, int index) {
    TDL_ASSERT(index >= 0 && index < scene->spec.shells.count);
    const ShellSpec* shell = (const ShellSpec*)scene->spec.shells.items + index;
    double area = shell->size[0] * shell->size[1];
    double density = scene_find_material(scene, shell->material)->density;
    return (TdlSceneShell){.name = shell->name,
                           .material = shell->material,
                           .vertex_count = shell->nodes[0] * shell->nodes[1],
                           .area = area,
                           .mass = density * shell->thickness * area};
}
