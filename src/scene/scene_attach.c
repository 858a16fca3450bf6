// Rods whose starts ride on colliders, or are joined to rigid bodies: the table, what is checked,
// and what becomes of it in a world.
#include "scene/scene.h"

#include <math.h>
#include <string.h>

static const Field ATTACH_FIELDS[] = {
    {.key = "to",
     .kind = FIELD_NAME,
     .offset = offsetof(AttachSpec, to),
     .required = true,
     .help =
         "The name of a collider or of one of the bodies. Of a mesh with a `cache` each start "
         "rides on the triangle nearest to it. Of a body with as many copies each start has one "
         "of its own."},
    {.key = "clear",
     .kind = FIELD_REAL,
     .offset = offsetof(AttachSpec, clear),
     .unit = "m",
     .range = {0.0, 1.0e9, false, false},
     .fallback_note = "20 radii, at most a twentieth of the length, at least 2 radii",
     .help = "Within this of its start the rod does not touch that, and may lie in it."},
    {0},
};

const Group ATTACH_GROUP = {
    .name = "attach",
    .help =
        "What the start of a rod, or of each rod of a grid or a file of curves, grows from and "
        "rides on: its place and its frame follow a collider that moves or deforms, exactly at "
        "the end of each step and part of a step. On a body, which forces move, it is held by a "
        "joint, fixed or (of a start that is pinned) ball, so that the rod pulls the body as "
        "well; messages call that `rope.start`, and `observe: {reaction: rope.start}` tells it. "
        "`attach: head` is short for `attach: {to: head}`.",
    .size = sizeof(AttachSpec),
    .fields = ATTACH_FIELDS,
    .brief = "to",
};

// Its number among entries that begin with their node; -1: no such name.
static int find(const GroupList* list, size_t size, const char* name, Nearest* nearest) {
    for (int i = 0; i < list->count; ++i) {
        const Node* node;
        memcpy(&node, (const char*)list->items + (size_t)i * size, sizeof node);
        const char* own = node_find(node, "name")->text;
        if (strcmp(own, name) == 0) {
            return i;
        }
        if (nearest != NULL) {
            nearest_try(nearest, own, strlen(own));
        }
    }
    return -1;
}

static Mark mark_of(const AttachSpec* attach) {
    const Node* to = node_find(attach->node, "to");
    return to == NULL ? attach->node->mark : to->mark;
}

// Its copies in the world: of one body, or one for each start.
static TdlStatus check_body(const TdlScene* scene, RodSpec* rod, int at) {
    const BodySpec* bodies = scene->spec.bodies.items;
    AttachSpec* attach = &rod->attach;
    int copies = scene_body_copy_count(&bodies[at]), starts = scene_copy_count(rod);
    attach->joined = true;
    attach->step = copies > 1;
    for (int i = 0; i < at; ++i) {
        attach->first += scene_body_copy_count(&bodies[i]);
    }
    return copies == 1 || copies == starts
               ? TDL_STATUS_OK
               : fail_at(&scene->host, mark_of(attach),
                         "'%s' has %d copies and '%s' %d: as many, or one body", attach->to, copies,
                         rod->name, starts);
}

static TdlStatus check_name(const TdlScene* scene, RodSpec* rod) {
    const SceneSpec* spec = &scene->spec;
    AttachSpec* attach = &rod->attach;
    Nearest nearest = nearest_to(attach->to);
    int collider = find(&spec->colliders, sizeof(ColliderSpec), attach->to, &nearest);
    int body = find(&spec->bodies, sizeof(BodySpec), attach->to, &nearest);
    if (collider >= 0 && body >= 0) {
        return fail_at(&scene->host, mark_of(attach),
                       "'%s' is the name of a collider and of a body: give one of them another",
                       attach->to);
    }
    if (collider >= 0 || body >= 0) {
        return body >= 0 ? check_body(scene, rod, body) : TDL_STATUS_OK;
    }
    bool bends = find(&spec->rods, sizeof(RodSpec), attach->to, NULL) >= 0 ||
                 find(&spec->cloths, sizeof(ClothSpec), attach->to, NULL) >= 0 ||
                 find(&spec->shells, sizeof(ShellSpec), attach->to, NULL) >= 0;
    if (bends) {
        return fail_at(&scene->host, mark_of(attach), "'%s' bends: use a joint", attach->to);
    }
    Hint hint = nearest_hint(&nearest);
    return fail_at(&scene->host, mark_of(attach), "no collider or body is named '%s'%s", attach->to,
                   hint.text);
}

// What moves the start already.
static TdlStatus check_start(const TdlScene* scene, const RodSpec* rod) {
    Mark mark = rod->attach.node->mark;
    if (rod->start == TDL_HOLD_FREE) {
        return fail_at(&scene->host, mark, "a start that is free rides on nothing");
    }
    if (rod->parent != NULL) {
        return fail_at(&scene->host, mark, "a branch moves with its parent: it rides on nothing");
    }
    return rod->clamp.motion.node == NULL ? TDL_STATUS_OK
                                          : fail_at(&scene->host, rod->clamp.motion.node->mark,
                                                    "a start that rides has no motion of its own");
}

TdlStatus scene_check_attached(TdlScene* scene) {
    RodSpec* rods = scene->spec.rods.items;
    for (int i = 0; i < scene->spec.rods.count; ++i) {
        if (rods[i].attach.node == NULL) {
            continue;
        }
        TdlStatus status = check_name(scene, &rods[i]);
        if (status == TDL_STATUS_OK) {
            status = check_start(scene, &rods[i]);
        }
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return TDL_STATUS_OK;
}

TdlStatus scene_attach_rods(const TdlScene* scene, TdlWorld* world) {
    const RodSpec* rods = scene->spec.rods.items;
    TdlStatus status = TDL_STATUS_OK;
    int first = 0; // of its copies, in the order of the scene
    for (int i = 0; i < scene->spec.rods.count; first += scene_copy_count(&rods[i++])) {
        const AttachSpec* attach = &rods[i].attach;
        if (attach->node == NULL || attach->joined) {
            continue;
        }
        int at = find(&scene->spec.colliders, sizeof(ColliderSpec), attach->to, NULL);
        TdlRodAttach def = tdl_rod_attach_default();
        def.to = tdl_world_body(world, "collider", at);
        def.clear = node_find(attach->node, "clear") != NULL ? attach->clear : def.clear;
        for (int k = 0; k < scene_copy_count(&rods[i]) && status == TDL_STATUS_OK; ++k) {
            status = tdl_rod_attach(world, tdl_world_body(world, "rod", first + k), &def);
        }
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return TDL_STATUS_OK;
}

int scene_attached_joints(const TdlScene* scene, int rod) {
    const RodSpec* rods = scene->spec.rods.items;
    int sum = 0;
    for (int i = 0; i < rod; ++i) {
        sum += rods[i].attach.joined ? scene_copy_count(&rods[i]) : 0;
    }
    return sum;
}

// The start of one rod, whose place and turn the joint is at.
static TdlStatus join_rod(const TdlScene* scene, const RodSpec* rod, int copy, TdlBodyId id,
                          TdlWorld* world) {
    const AttachSpec* attach = &rod->attach;
    TdlRodInfo info;
    TdlStatus status = tdl_rod_info(world, id, &info);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlJointDef def = tdl_joint_def_default();
    def.kind = rod->start == TDL_HOLD_PINNED ? TDL_JOINT_BALL : TDL_JOINT_FIXED;
    def.end[0].body = tdl_world_body(world, "rigid", attach->first + attach->step * copy);
    def.end[1].body = id; // what the joint does is told of the rod
    double radius = info.radius[0];
    def.clear = node_find(attach->node, "clear") != NULL
                    ? attach->clear
                    : fmax(2.0 * radius, fmin(20.0 * radius, info.length / 20.0));
    const char* fault = tdl_world_joint_fault(world, &def);
    if (fault != NULL) {
        return fail_at(&scene->host, mark_of(attach), "'%s' on '%s': %s", rod->name, attach->to,
                       fault);
    }
    TdlJointId joint;
    char name[128];
    snprintf(name, sizeof name, scene_copy_count(rod) > 1 ? "%s.start %d" : "%s.start", rod->name,
             copy);
    status = tdl_world_add_joint(world, &def, &joint);
    return status == TDL_STATUS_OK ? tdl_joint_set_name(world, joint, name) : status;
}

TdlStatus scene_join_rods(const TdlScene* scene, TdlWorld* world) {
    const RodSpec* rods = scene->spec.rods.items;
    TdlStatus status = TDL_STATUS_OK;
    int first = 0; // of its copies, in the order of the scene
    for (int i = 0; i < scene->spec.rods.count; first += scene_copy_count(&rods[i++])) {
        int copies = rods[i].attach.joined ? scene_copy_count(&rods[i]) : 0;
        for (int k = 0; k < copies && status == TDL_STATUS_OK; ++k) {
            status = join_rod(scene, &rods[i], k, tdl_world_body(world, "rod", first + k), world);
        }
    }
    return status;
}
