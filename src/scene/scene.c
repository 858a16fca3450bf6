// Scenes: loading in stages (files, overrides, schema, checks), and building of the world.
#include "scene/scene.h"

#include "base/check.h"
#include "base/log.h"
#include "base/rng.h"
#include "math/rotation.h"

#include <string.h>

// --- loading
// --------------------------------------------------------------------------------------

static TdlStatus load_stages(TdlScene* scene, const char* const* overrides, int override_count) {
    for (int i = 0; i < override_count; ++i) {
        TdlStatus status = scene_override(scene, overrides[i]);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    SchemaReader reader = {.host = &scene->host, .pool = &scene->pool};
    TdlStatus status = schema_read(&reader, &SCENE_GROUP, scene->root, &scene->spec);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return scene_check(scene);
}

static TdlStatus load(const TdlHost* host, const char* path, const char* name, const char* text,
                      size_t size, const char* const* overrides, int override_count,
                      TdlScene** out) {
    *out = NULL;
    TdlScene* scene = tdl_alloc_zero(&host->mem, sizeof *scene);
    if (scene == NULL) {
        return tdl_fail(host, TDL_STATUS_NO_MEMORY, "out of memory");
    }
    scene->host = *host;
    arena_init(&scene->arena, &host->mem);
    scene->pool.arena = &scene->arena;
    TdlStatus status = scene_read_tree(scene, path, name, text, size);
    if (status == TDL_STATUS_OK) {
        status = load_stages(scene, overrides, override_count);
    }
    if (status != TDL_STATUS_OK) {
        tdl_scene_destroy(scene);
        return status == TDL_STATUS_NO_MEMORY ? tdl_fail(host, status, "out of memory") : status;
    }
    *out = scene;
    return TDL_STATUS_OK;
}

TdlStatus tdl_scene_load(const TdlHost* host, const char* path, const char* const* overrides,
                         int override_count, TdlScene** out) {
    if (path == NULL || override_count < 0 || (overrides == NULL && override_count > 0)) {
        *out = NULL;
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "a scene needs a path");
    }
    return load(host, path, NULL, NULL, 0, overrides, override_count, out);
}

TdlStatus scene_load_text(const TdlHost* host, const char* name, const char* text, size_t size,
                          const char* const* overrides, int override_count, TdlScene** out) {
    return load(host, NULL, name, text, size, overrides, override_count, out);
}

void tdl_scene_destroy(TdlScene* scene) {
    if (scene != NULL) {
        TdlHost host = scene->host;
        arena_destroy(&scene->arena);
        tdl_free(&host.mem, scene);
    }
}

// --- asking
// ---------------------------------------------------------------------------------------

TdlSceneInfo tdl_scene_info(const TdlScene* scene) {
    const SceneSpec* spec = &scene->spec;
    return (TdlSceneInfo){
        .title = spec->title,
        .step = spec->time.step,
        .error = spec->time.error,
        .end = spec->time.end,
        .frame_period = spec->output.frame,
        .checkpoint_period = spec->output.checkpoint,
        .samples = spec->output.samples,
        .contacts = spec->output.contacts,
        .forces = spec->output.forces,
        .settle = spec->start == START_SETTLED,
        .rod_count = scene->rod_count,
        .rod_group_count = spec->rods.count,
        .rigid_count = scene->rigid_count,
        .body_group_count = spec->bodies.count,
        .cloth_count = spec->cloths.count,
        .cloth_vertex_count = scene->cloth_vertex_count,
        .shell_count = spec->shells.count,
        .shell_vertex_count = scene->shell_vertex_count,
        .has_grains = spec->grains.node != NULL,
        .collider_count = spec->colliders.count,
        .observer_count = spec->observers.count,
        .element_count = scene->element_count,
        .dof_count = scene->dof_count,
    };
}

static int grid_count(const RepeatSpec* repeat) {
    const int* n = repeat->count;
    return n[0] * n[1] * n[2]; // bounded by scene_check
}

int scene_body_copy_count(const BodySpec* body) {
    return grid_count(&body->repeat);
}

int scene_copy_count(const RodSpec* rod) {
    return rod->curves.node != NULL ? rod->curves.set.count : grid_count(&rod->repeat);
}

// The model's name out of "a|b|c", copied since the list has no zeros.
static const char* model_name(int index, char* name, size_t size) {
    size_t length;
    const char* word = choice_at(tdl_rod_models(), index, &length);
    snprintf(name, size, "%.*s", (int)length, word);
    return name;
}

TdlSceneRods tdl_scene_rods(const TdlScene* scene, int index) {
    TDL_ASSERT(index >= 0 && index < scene->spec.rods.count);
    const RodSpec* rod = (const RodSpec*)scene->spec.rods.items + index;
    TdlSceneRods rods = {.name = rod->name,
                         .material = rod->material,
                         .count = scene_copy_count(rod),
                         .element_count = rod->elements,
                         .length = rod->length,
                         .radius = {rod->radius[0], rod->radius[1]}};
    model_name(rod->model, rods.model, sizeof rods.model);
    return rods;
}

// Its own, that of its material, or the default.
static double body_density(const TdlScene* scene, const BodySpec* body) {
    if (body->density > 0.0 || body->material == NULL) {
        return body->density > 0.0 ? body->density : tdl_rigid_def_default().density;
    }
    return scene_find_material(scene, body->material)->density;
}

TdlSceneCollider tdl_scene_collider(const TdlScene* scene, int index) {
    TDL_ASSERT(index >= 0 && index < scene->spec.colliders.count);
    static const char* const SHAPES[] = {"plane", "sphere", "cylinder", "capsule", "plate",
                                         "comb",  "curves", "mesh",     "implicit"};
    const ColliderSpec* collider = (const ColliderSpec*)scene->spec.colliders.items + index;
    bool goes = tdl_norm3(collider->velocity) + tdl_norm3(collider->angular_velocity) > 0.0;
    return (TdlSceneCollider){.name = collider->name,
                              .shape = SHAPES[collider->shape],
                              .material = collider->material,
                              .moves = goes || scene_moves(&collider->motion) ||
                                       collider->mesh.cache.node != NULL};
}

TdlSceneBodies tdl_scene_bodies(const TdlScene* scene, int index) {
    TDL_ASSERT(index >= 0 && index < scene->spec.bodies.count);
    static const char* const SHAPES[] = {"sphere", "capsule", "box", "curves", "mesh", "cylinder"};
    const BodySpec* body = (const BodySpec*)scene->spec.bodies.items + index;
    return (TdlSceneBodies){.name = body->name,
                            .shape = SHAPES[body->shape],
                            .material = body->material,
                            .count = scene_body_copy_count(body),
                            .density = body_density(scene, body),
                            .mass = body->mass};
}

TdlSceneContacts tdl_scene_contacts(const TdlScene* scene) {
    const ContactsSpec* contacts = &scene->spec.contacts;
    static const char* const DETECTION[] = {"curves", "segments", "baseline", "off"};
    static const char* const RESPONSE[] = {"exact", "barrier", "s3"};
    return (TdlSceneContacts){.detection = DETECTION[contacts->detection],
                              .response = RESPONSE[contacts->response],
                              .friction = contacts->friction,
                              .restitution = contacts->restitution,
                              .pair_count = contacts->pairs.count,
                              .refuse_overlap = contacts->start == TDL_START_REFUSE};
}

TdlStatus tdl_scene_write(const TdlScene* scene, const char* path) {
    return yaml_write(&scene->host, scene->root, path);
}

// --- building
// -------------------------------------------------------------------------------------

// The keys of a motion in the arena, which the world copies.
TdlStatus scene_make_motion(Arena* arena, const MotionSpec* spec, TdlMotionDef* out) {
    int count = spec->keyframes.count;
    *out = (TdlMotionDef){.interpolation = (TdlInterpolation)spec->interpolation,
                          .about = spec->about,
                          .fn = spec->fn};
    out->about_point = spec->node != NULL && node_find(spec->node, "about") != NULL;
    if (count == 0) {
        return TDL_STATUS_OK;
    }
    TdlKeyframe* keys = ARENA_NEW(arena, TdlKeyframe, count);
    if (keys == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    const KeyframeSpec* from = spec->keyframes.items;
    for (int i = 0; i < count; ++i) {
        keys[i] = (TdlKeyframe){from[i].time, from[i].position, from[i].rotation};
    }
    out->keys = keys;
    out->key_count = count;
    return TDL_STATUS_OK;
}

TdlRodDef scene_make_rod(const TdlScene* scene, const RodSpec* rod,
                         char model[TDL_SCENE_MODEL_SIZE]) {
    const MaterialSpec* material = scene_find_material(scene, rod->material);
    const VecList* natural = &rod->natural_curvature;
    const VecList* curvature = rod->curvature.count == 0 ? natural : &rod->curvature;
    TdlRodDef def = tdl_rod_def_default();
    def.model = model_name(rod->model, model, TDL_SCENE_MODEL_SIZE);
    def.length = rod->length;
    def.radius[0] = rod->radius[0];
    def.radius[1] = rod->radius[1];
    def.sections = rod->section;
    def.section_count = rod->section != NULL ? rod->sections.count : 0;
    def.natural_keys = rod->natural_key;
    def.natural_key_count = rod->natural_key != NULL ? rod->natural_motion.keyframes.count : 0;
    def.natural_interpolation = (TdlInterpolation)rod->natural_motion.interpolation;
    def.tendons = rod->tendon;
    def.tendon_count = rod->tendon != NULL ? rod->tendons.count : 0;
    def.element_count = rod->elements;
    def.young = material->young;
    def.poisson = material->poisson;
    def.density = material->density;
    def.damping = material->damping;
    def.mass_damping = material->mass_damping;
    def.drag = rod->drag;
    def.material = scene_material_number(scene, rod->material);
    def.start = rod->attach.joined ? TDL_HOLD_FREE : (TdlHold)rod->start;
    def.end = (TdlHold)rod->end;
    def.natural_curvature = natural->items[0];
    def.curvature = curvature->items[0];
    *(natural->count > rod->elements ? &def.natural_curvature_at : &def.natural_curvature_of) =
        natural->each ? natural->items : NULL;
    *(curvature->count > rod->elements ? &def.curvature_at : &def.curvature_of) =
        curvature->each ? curvature->items : NULL;
    def.clamp.position = rod->clamp.position;
    def.clamp.rotation = tdl_frame_from_tangent_hint(rod->clamp.direction, rod->clamp.normal);
    return def;
}

// Where a copy of a grid stands relative to the place given; x varies fastest, and each takes three
// draws, in order.
static TdlVec3 copy_offset(const RepeatSpec* repeat, int copy, Rng* rng) {
    TdlVec3 s = repeat->spacing, w = repeat->jitter;
    double shift = repeat->centred ? 0.5 : 0.0;
    const int* n = repeat->count;
    int i = copy % n[0], j = copy / n[0] % n[1], k = copy / n[0] / n[1];
    TdlVec3 offset = {s.x * (i - shift * (n[0] - 1)), s.y * (j - shift * (n[1] - 1)),
                      s.z * (k - shift * (n[2] - 1))};
    offset.x += rng_range(rng, -w.x, w.x);
    offset.y += rng_range(rng, -w.y, w.y);
    offset.z += rng_range(rng, -w.z, w.z);
    return offset;
}

static TdlVec3 numbers_of(const Formula part[3]) {
    return (TdlVec3){part[0].value, part[1].value, part[2].value};
}

// Loads that stay as they are, which have a potential, in the arena; the world copies them.
static TdlStatus make_loads(Arena* arena, const RodSpec* rod, TdlRodDef* def) {
    const LoadSpec* from = rod->loads.items;
    TdlRodLoad* loads = ARENA_NEW(arena, TdlRodLoad, rod->loads.count);
    if (loads == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    def->loads = loads;
    def->load_count = 0;
    for (int i = 0; i < rod->loads.count; ++i) {
        if (!from[i].varies) {
            loads[def->load_count++] =
                (TdlRodLoad){from[i].at, numbers_of(from[i].force), numbers_of(from[i].torque)};
        }
    }
    return TDL_STATUS_OK;
}

// The first copy of a branch's parent; copies are numbered in the order of the scene.
static TdlBodyId find_parent(const TdlScene* scene, const TdlWorld* world, const RodSpec* rod,
                             int copy) {
    const RodSpec* rods = scene->spec.rods.items;
    int index = 0;
    while (strcmp(rods->name, rod->parent) != 0) {
        index += scene_copy_count(rods++);
    }
    return tdl_world_body(world, "rod", index + (scene_copy_count(rods) == 1 ? 0 : copy));
}

// One of several copies is told apart by its number, as `observe` counts them.
static TdlStatus set_name(TdlWorld* world, TdlBodyId id, const char* name, int copy, int copies) {
    char text[160];
    if (copies > 1) {
        snprintf(text, sizeof text, "%.128s[%d]", name, copy);
    } else {
        snprintf(text, sizeof text, "%.128s", name);
    }
    return tdl_body_set_name(world, id, text);
}

static TdlStatus add_rods(const TdlScene* scene, Arena* arena, const RodSpec* rod,
                          TdlWorld* world) {
    char model[TDL_SCENE_MODEL_SIZE];
    TdlRodDef def = scene_make_rod(scene, rod, model);
    TdlStatus status = scene_make_motion(arena, &rod->clamp.motion, &def.motion);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = scene_make_motion(arena, &rod->end_motion, &def.end_motion);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = make_loads(arena, rod, &def);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    Rng rng = rng_seed((uint64_t)rod->repeat.seed);
    int copies = scene_copy_count(rod);
    for (int copy = 0; status == TDL_STATUS_OK && copy < copies; ++copy) {
        TdlVec3 offset = copy_offset(&rod->repeat, copy, &rng);
        def.clamp.position = tdl_add3(rod->clamp.position, offset);
        ArenaMark mark = arena_mark(arena);
        status = stop_asked(scene->stop) ? TDL_STATUS_STOPPED : TDL_STATUS_OK;
        if (status == TDL_STATUS_OK && rod->curves.node != NULL) {
            status = scene_fit_curve(scene, arena, rod, copy, &def);
        }
        if (rod->parent != NULL) {
            def.parent = find_parent(scene, world, rod, copy);
            def.parent_at = rod->parent_at;
        }
        if (status == TDL_STATUS_OK) {
            TdlBodyId id;
            status = tdl_world_add_rod(world, &def, &id);
            status =
                status == TDL_STATUS_OK ? set_name(world, id, rod->name, copy, copies) : status;
            status = status == TDL_STATUS_OK ? scene_make_loads(&rod->loads, false, NULL, world, id)
                                             : status;
        }
        arena_release(arena, mark);
    }
    return status;
}

TdlMat3 scene_axes(TdlVec3 direction, TdlVec3 normal) {
    TdlVec3 first = tdl_unit3(direction), third = tdl_unit3(normal);
    return tdl_frame_from_tangent_hint(first, tdl_cross3(third, first));
}

static TdlMat3 symmetric(TdlVec3 diagonal, TdlVec3 off) {
    return (TdlMat3){
        {diagonal.x, off.x, off.y}, {off.x, diagonal.y, off.z}, {off.y, off.z, diagonal.z}};
}

TdlRigidDef scene_make_body(const TdlScene* scene, const BodySpec* body, Arena* arena) {
    TdlRigidDef def = tdl_rigid_def_default();
    def.shape = (TdlRigidShape)body->shape;
    def.radius = body->radius;
    def.inner_radius = body->inner_radius;
    def.rounding = body->rounding;
    def.length = body->length;
    def.half = body->half;
    def.mesh = body->mesh.mesh;
    def.pieces = scene_make_pieces(arena, &body->pieces);
    def.piece_count = body->pieces.count;
    def.density = body_density(scene, body);
    def.mass = body->mass;
    def.inertia = symmetric(body->inertia, body->inertia_products);
    def.has_centre = node_find(body->node, "centre") != NULL;
    def.centre = body->centre;
    def.pose = (TdlPose){body->position, scene_axes(body->direction, body->normal)};
    def.velocity = body->velocity;
    def.angular_velocity = body->angular_velocity;
    def.material = scene_material_number(scene, body->material);
    return def;
}

static TdlStatus add_bodies(const TdlScene* scene, Arena* arena, const BodySpec* body,
                            TdlWorld* world) {
    TdlRigidDef def = scene_make_body(scene, body, arena);
    TdlStatus status = def.pieces == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
    Rng rng = rng_seed((uint64_t)body->repeat.seed);
    int copies = scene_body_copy_count(body);
    for (int copy = 0; status == TDL_STATUS_OK && copy < copies; ++copy) {
        def.pose.position = tdl_add3(body->position, copy_offset(&body->repeat, copy, &rng));
        TdlBodyId id;
        status = tdl_world_add_rigid(world, &def, &id);
        status = status == TDL_STATUS_OK ? set_name(world, id, body->name, copy, copies) : status;
        status = status == TDL_STATUS_OK ? scene_make_loads(&body->loads, true, NULL, world, id)
                                         : status;
    }
    return status;
}

static TdlStatus add_cloth(const TdlScene* scene, Arena* arena, const ClothSpec* cloth,
                           TdlWorld* world) {
    TdlClothDef def;
    TdlStatus status = scene_make_cloth(scene, cloth, arena, &def);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlBodyId id;
    status = tdl_world_add_cloth(world, &def, &id);
    status = status == TDL_STATUS_OK ? set_name(world, id, cloth->name, 0, 1) : status;
    return status == TDL_STATUS_OK ? scene_make_loads(&cloth->loads, true, cloth->number, world, id)
                                   : status;
}

static TdlStatus add_shell(const TdlScene* scene, const ShellSpec* shell, TdlWorld* world) {
    TdlShellPatchDef def = scene_make_shell(scene, shell);
    TdlBodyId id;
    TdlStatus status = tdl_world_add_shell_patch(world, &def, &id);
    return status == TDL_STATUS_OK ? set_name(world, id, shell->name, 0, 1) : status;
}

static TdlStatus add_grains(const TdlScene* scene, Arena* arena, TdlWorld* world) {
    TdlGrainsDef def;
    TdlStatus status = scene_make_grains(scene, arena, &def);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlBodyId id;
    status = tdl_world_add_grains(world, &def, &id);
    return status == TDL_STATUS_OK ? set_name(world, id, scene->spec.grains.name, 0, 1) : status;
}

static TdlStatus add_collider(const TdlScene* scene, Arena* arena, const ColliderSpec* spec,
                              TdlWorld* world) {
    TdlColliderDef def = tdl_collider_def_default();
    def.shape = (TdlShape)spec->shape;
    def.pose.position = spec->position;
    if (def.shape == TDL_SHAPE_PLANE || def.shape == TDL_SHAPE_PLATE) {
        // the normal is the third axis
        TdlMat3 frame = tdl_frame_from_tangent(spec->normal);
        def.pose.rotation = (TdlMat3){frame.cy, frame.cz, frame.cx};
    } else if (def.shape >= TDL_SHAPE_COMB) {
        def.pose.rotation = scene_axes(spec->direction, spec->normal);
    } else {
        def.pose.rotation = tdl_frame_from_tangent(spec->direction);
    }
    if (def.shape != TDL_SHAPE_PLANE && def.shape != TDL_SHAPE_IMPLICIT) {
        def.radius = spec->radius;
        def.length = spec->length;
    }
    def.inner_radius = spec->inner_radius;
    def.teeth = spec->teeth;
    def.pitch = spec->pitch;
    def.pieces = scene_make_pieces(arena, &spec->pieces);
    def.piece_count = spec->pieces.count;
    def.mesh = spec->mesh.mesh;
    def.implicit = spec->implicit;
    def.vertex_motion = spec->mesh.cache.motion;
    def.velocity = spec->velocity;
    def.angular_velocity = spec->angular_velocity;
    def.material = scene_material_number(scene, spec->material);
    TdlStatus status = scene_make_motion(arena, &spec->motion, &def.motion);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (def.pieces == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlBodyId id;
    status = tdl_world_add_collider(world, &def, &id);
    return status == TDL_STATUS_OK ? set_name(world, id, spec->name, 0, 1) : status;
}

static TdlStatus set_laws(const TdlScene* scene, TdlWorld* world) {
    const ContactsSpec* contacts = &scene->spec.contacts;
    const PairSpec* pairs = contacts->pairs.items;
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; status == TDL_STATUS_OK && i < contacts->pairs.count; ++i) {
        const PairSpec* pair = &pairs[i];
        TdlContactLaw law = {contacts->friction, contacts->restitution};
        law.mu = node_find(pair->node, "friction") != NULL ? pair->friction : law.mu;
        if (node_find(pair->node, "restitution") != NULL) {
            law.restitution = pair->restitution;
        }
        status = tdl_world_set_contact_law(world, scene_material_number(scene, pair->between[0]),
                                           scene_material_number(scene, pair->between[1]), law);
    }
    return status;
}

static TdlStatus fill_world(const TdlScene* scene, Arena* arena, TdlWorld* world) {
    const SceneSpec* spec = &scene->spec;
    const RodSpec* rods = spec->rods.items;
    const BodySpec* bodies = spec->bodies.items;
    const ClothSpec* cloths = spec->cloths.items;
    const ShellSpec* shells = spec->shells.items;
    const ColliderSpec* colliders = spec->colliders.items;
    tdl_world_watch_stop(world, scene->stop.asked, scene->stop.user);
    TdlStatus status = set_laws(scene, world);
    for (int i = 0; status == TDL_STATUS_OK && i < spec->rods.count; ++i) {
        status = add_rods(scene, arena, &rods[i], world);
    }
    for (int i = 0; status == TDL_STATUS_OK && i < spec->bodies.count; ++i) {
        status = add_bodies(scene, arena, &bodies[i], world);
    }
    for (int i = 0; status == TDL_STATUS_OK && i < spec->cloths.count; ++i) {
        status = add_cloth(scene, arena, &cloths[i], world);
    }
    for (int i = 0; status == TDL_STATUS_OK && i < spec->shells.count; ++i) {
        status = add_shell(scene, &shells[i], world);
    }
    for (int i = 0; status == TDL_STATUS_OK && i < spec->colliders.count; ++i) {
        status = add_collider(scene, arena, &colliders[i], world);
    }
    if (status == TDL_STATUS_OK && spec->grains.node != NULL) {
        status = add_grains(scene, arena, world);
    }
    if (status == TDL_STATUS_OK) {
        status = scene_attach_rods(scene, world);
    }
    if (status == TDL_STATUS_OK) {
        status = scene_make_joints(scene, world);
    }
    if (status == TDL_STATUS_OK) {
        status = scene_join_rods(scene, world);
    }
    return status == TDL_STATUS_OK ? scene_make_rest(scene, world) : status;
}

static TdlContactDef make_contacts(const ContactsSpec* spec) {
    TdlContactDef def = tdl_world_def_default().contacts;
    def.off = spec->detection == DETECTION_OFF;
    def.geometry = spec->detection == DETECTION_SEGMENTS   ? TDL_CONTACT_SEGMENTS
                   : spec->detection == DETECTION_BASELINE ? TDL_CONTACT_BASELINE
                                                           : TDL_CONTACT_CURVES;
    def.law = (TdlContactLaw){spec->friction, spec->restitution};
    def.segments = spec->segments;
    def.segment_length = spec->segment_length;
    def.self = spec->self;
    def.margin = spec->margin;
    def.response = (TdlContactResponse)spec->response;
    def.barrier =
        (TdlBarrierDef){spec->barrier.distance, spec->barrier.stiffness, spec->barrier.creep};
    def.solver = (TdlFrictionSolverKind)spec->solver;
    def.tolerance = spec->tolerance;
    def.max_iterations = spec->max_iterations;
    def.overlap = spec->overlap;
    def.start = (TdlContactStart)spec->start;
    return def;
}

void tdl_scene_watch_stop(TdlScene* scene, TdlStopFn fn, void* user) {
    scene->stop = (Stop){fn, user};
}

TdlStatus tdl_scene_build(const TdlScene* scene, int thread_count, TdlWorld** out) {
    *out = NULL;
    TdlWorldDef def = tdl_world_def_default();
    def.gravity = scene->spec.gravity;
    def.wind = scene->spec.wind;
    def.step = scene->spec.time.step;
    def.settle = scene->spec.time.settle;
    def.settle_damping = scene->spec.time.settle_damping;
    def.settle_loosely = scene->spec.time.settle_loosely;
    def.integrator = (TdlIntegrator)scene->spec.time.integrator;
    def.thread_count = thread_count;
    def.losses = scene->spec.losses;
    def.holds = scene_observes_holds(scene);
    def.forces = scene->spec.output.forces || scene_observes_forces(scene);
    def.energy_limit = scene->spec.time.energy_limit;
    def.error = scene->spec.time.error;
    def.budget = scene->spec.time.budget;
    def.spent = (TdlSpent)scene->spec.time.spent;
    def.contacts = make_contacts(&scene->spec.contacts);
    TdlWorld* world;
    TdlStatus status = tdl_world_create(&scene->host, &def, &world);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    Arena scratch;
    arena_init(&scratch, &scene->host.mem);
    status = fill_world(scene, &scratch, world);
    arena_destroy(&scratch);
    if (status != TDL_STATUS_OK) {
        tdl_world_destroy(world);
        return status;
    }
    *out = world;
    return TDL_STATUS_OK;
}
