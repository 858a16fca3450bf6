// A copied world steps with the bits of the original, in memory of its own: every shipped scene, a
// world with what they do not have, and memory that runs out on the way.
#include "look.h"
#include "stage.h"
#include "tendril/tendril.h"

#include <math.h>
#include <string.h>

static void steps(TdlWorld* world, int count) {
    for (int i = 0; i < count; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
}

// The original is gone when the copy steps: nothing is shared.
static void check_copy(TdlWorld** world, int more) {
    TdlWorld* copy = NULL;
    REQUIRE(tdl_world_copy(*world, &copy) == TDL_STATUS_OK);
    CHECK(tdl_world_state_hash(copy) == tdl_world_state_hash(*world));
    CHECK(tdl_world_time(copy) == tdl_world_time(*world));
    int a, b;
    const TdlContactForce* of = tdl_world_contact_forces(*world, &a);
    const TdlContactForce* same = tdl_world_contact_forces(copy, &b);
    CHECK_INT(a, b);
    for (int i = 0; i < a && i < b; ++i) {
        CHECK(memcmp(&of[i].force, &same[i].force, sizeof of[i].force) == 0);
        CHECK(tdl_body_id_equal(of[i].body[0], same[i].body[0]));
    }
    TdlEnergy e = tdl_world_energy(*world), f = tdl_world_energy(copy);
    CHECK(memcmp(&e, &f, sizeof e) == 0);
    steps(*world, more);
    uint64_t hash = tdl_world_state_hash(*world);
    size_t size = tdl_world_state_size(*world);
    char *bytes = malloc(size), *others = malloc(size);
    tdl_world_save_state(*world, bytes);
    tdl_world_destroy(*world);
    steps(copy, more);
    CHECK(tdl_world_state_hash(copy) == hash);
    REQUIRE(tdl_world_state_size(copy) == size);
    tdl_world_save_state(copy, others);
    CHECK(memcmp(bytes, others, size) == 0);
    free(bytes);
    free(others);
    *world = copy;
}

// Scenes, the steps before the copy and after it: far enough that most have contacts by then.
typedef struct Case {
    const char* scene;
    int before, after;
} Case;

static const Case CASES[] = {
    {"bowl.yaml", 30, 5},
    {"cantilever.yaml", 20, 20},
    {"capstan.yaml", 60, 20},
    {"chain.yaml", 60, 40},
    {"cat-tail.yaml", 20, 20},
    {"corde-spaghetti.yaml", 6, 3},
    {"crank.yaml", 20, 20},
    {"crossed-layers.yaml", 4, 3},
    {"curl-unfolding.yaml", 20, 20},
    {"curtain.yaml", 6, 4},
    {"double-loop.yaml", 20, 10},
    {"flag.yaml", 6, 4},
    {"fold-by-stick.yaml", 4, 3},
    {"hair-over-collar.yaml", 4, 3},
    {"hanging-curl.yaml", 20, 20},
    {"held-strip.yaml", 10, 10},
    {"hung-sheet.yaml", 6, 4},
    {"knot.yaml", 40, 10},
    {"needles.yaml", 30, 5},
    {"plectoneme.yaml", 40, 10},
    {"ribbon-capstan.yaml", 20, 10},
    {"ropes-over-ball.yaml", 20, 10},
    {"rotating-ball.yaml", 4, 3},
    {"rotating-sphere.yaml", 20, 10},
    {"self-stacking.yaml", 20, 10},
    {"sheet-on-ball.yaml", 6, 4},
    {"sheet-on-cylinder.yaml", 4, 3},
    {"shell-patch.yaml", 30, 30},
    {"shorts.yaml", 2, 2},
    {"signature.yaml", 4, 4},
    {"tablecloth.yaml", 4, 3},
    {"thrown-napkin.yaml", 4, 3},
    {"twisted-rod.yaml", 20, 20},
    {"waving-sheet.yaml", 6, 4},
    {"wavy-hair.yaml", 6, 4},
    {"whip-grating.yaml", 20, 10},
    {"whipped-cable.yaml", 20, 10},
    {"willow.yaml", 20, 10},
    {"wisp.yaml", 4, 3},
};

TEST(copies_of_the_shipped_scenes_go_on_with_the_same_bits) {
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; ++i) {
        Stage stage;
        REQUIRE(open_stage(CASES[i].scene, NULL, 1, &stage) == TDL_STATUS_OK);
        steps(stage.world, CASES[i].before);
        int count;
        tdl_world_contact_forces(stage.world, &count);
        check_copy(&stage.world, CASES[i].after);
        printf("  %s: %d contacts\n", CASES[i].scene, count);
        close_stage(&stage);
    }
}

// --- what scenes do not have -----------------------------------------------------------------

static const char* const MODELS[] = {"super-helix", "super-clothoid", "der",
                                     "mass-spring", "corde",          "super-helix-dense"};

static TdlBodyId add_rod(TdlWorld* world, const char* model, double y, TdlBodyId parent) {
    TdlVec3 bent[4] = {{0.0, 3.0, 0.0}, {0.0, 5.0, 1.0}, {1.0, 4.0, 0.0}, {0.0, 3.0, 0.0}};
    TdlRodLoad load = {.at = 0.11, .force = {0.0, 1.0e-4, 0.0}};
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.length = 0.12;
    def.element_count = 4;
    def.radius[0] = def.radius[1] = 1.0e-3;
    def.young = 1.0e7;
    def.damping = 0.01;
    def.natural_curvature_of = def.curvature_of = bent;
    def.clamp.position = (TdlVec3){-0.06, y, 0.1};
    def.loads = &load;
    def.load_count = 1;
    def.parent = parent;
    def.parent_at = 0.5;
    TdlBodyId id = {0};
    CHECK_INT(tdl_world_add_rod(world, &def, &id), TDL_STATUS_OK);
    return id;
}

static void add_collider(TdlWorld* world) {
    static const TdlVec3 vertices[4] = {
        {-0.2, -0.2, -0.01}, {0.2, -0.2, -0.01}, {0.2, 0.2, -0.01}, {-0.2, 0.2, -0.01}};
    static const TdlVec3 samples[8] = {{-0.2, -0.2, -0.01}, {0.2, -0.2, -0.01}, {0.2, 0.2, -0.01},
                                       {-0.2, 0.2, -0.01},  {-0.2, -0.2, 0.0},  {0.2, -0.2, -0.01},
                                       {0.2, 0.2, 0.0},     {-0.2, 0.2, -0.01}};
    static const int triangles[6] = {0, 1, 2, 0, 2, 3};
    TdlKeyframe keys[2] = {{.time = 0.0}, {.time = 0.1, .position = {0.0, 0.0, 2.0e-3}}};
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id;
    def.shape = TDL_SHAPE_MESH;
    def.radius = 1.0e-3;
    def.mesh = (TdlMesh){vertices, 4, triangles, 2};
    def.vertex_motion = (TdlVertexMotion){samples, 2, 0.0, 0.2};
    def.motion =
        (TdlMotionDef){.keys = keys, .key_count = 2, .interpolation = TDL_INTERPOLATION_SMOOTH};
    CHECK_INT(tdl_world_add_collider(world, &def, &id), TDL_STATUS_OK);
    const TdlCurvePiece pieces[2] = {{0.1, {0.0, 0.0, 10.0}}, {0.05, {1.0, 5.0, 0.0}}};
    def = tdl_collider_def_default();
    def.shape = TDL_SHAPE_CURVES;
    def.radius = 2.0e-3;
    def.pieces = pieces;
    def.piece_count = 2;
    def.pose.position = (TdlVec3){0.0, 0.3, 0.3};
    def.angular_velocity.z = 1.0;
    CHECK_INT(tdl_world_add_collider(world, &def, &id), TDL_STATUS_OK);
}

// Two pieces whose vertices were sewn though they are not quite in one place, and that are drawn
// together further on.
static void add_cloth(TdlWorld* world) {
    TdlVec3 vertices[12];
    int faces[4 * 6], from[2] = {0, 1}, to[2] = {8, 9}, held[2] = {4, 5};
    tdl_cloth_rectangle(0.03, 0.02, 2, 3, vertices, faces);
    tdl_cloth_rectangle(0.03, 0.02, 2, 3, vertices + 6, faces + 8);
    for (int i = 0; i < 12; ++i) {
        vertices[i].z += 0.2 + (i >= 6 ? 0.0005 : 0.0) + 1.0e-4 * i;
    }
    for (int k = 8; k < 16; ++k) {
        faces[k] += 6;
    }
    int near[1] = {4}, other[1] = {10};
    TdlClothSeam seams[2] = {{from, to, 2, 1.0e-4, 0.3}, {near, other, 1, 0.0017, 0.0}};
    TdlClothHold hold = {.vertices = held, .count = 2};
    TdlClothDef def = tdl_cloth_def_default();
    def.mesh = (TdlClothMesh){vertices, 12, faces, 4};
    def.seams = seams;
    def.seam_count = 2;
    def.holds = &hold;
    def.hold_count = 1;
    def.thickness = 5.0e-4;
    TdlBodyId id;
    CHECK_INT(tdl_world_add_cloth(world, &def, &id), TDL_STATUS_OK);
}

static void add_rest(TdlWorld* world) {
    TdlBodyId id;
    TdlRigidDef box = tdl_rigid_def_default();
    box.shape = TDL_RIGID_BOX;
    box.half = (TdlVec3){0.01, 0.02, 0.005};
    box.radius = 1.0e-3;
    box.pose.position = (TdlVec3){0.1, -0.1, 0.012};
    box.angular_velocity = (TdlVec3){3.0, 1.0, 2.0};
    box.material = 2;
    CHECK_INT(tdl_world_add_rigid(world, &box, &id), TDL_STATUS_OK);
    TdlPull pull = {.point = {0.01, 0.0, 0.0}, .force = {0.01, 0.0, 0.02}};
    CHECK_INT(tdl_body_pull(world, id, 1, &pull), TDL_STATUS_OK);
    const TdlCurvePiece piece = {0.05, {0.0, 0.0, 30.0}};
    box.shape = TDL_RIGID_CURVES;
    box.pieces = &piece;
    box.piece_count = 1;
    box.pose.position.z = 0.1;
    CHECK_INT(tdl_world_add_rigid(world, &box, &id), TDL_STATUS_OK);
    CHECK_INT(tdl_body_set_name(world, id, "hook"), TDL_STATUS_OK);
    TdlShellPatchDef shell = tdl_shell_patch_def_default();
    CHECK_INT(tdl_world_add_shell_patch(world, &shell, &id), TDL_STATUS_OK);
}

// Bodies of every kind; some went, some were changed since.
static TdlWorld* make_all(const TdlHost* host, TdlIntegrator rule, TdlContactResponse response) {
    TdlWorldDef def = tdl_world_def_default();
    def.integrator = rule;
    def.holds = true;
    def.contacts.response = response;
    TdlWorld* world = NULL;
    if (tdl_world_create(host, &def, &world) != TDL_STATUS_OK) {
        abort();
    }
    TdlBodyId none = {0}, gone = add_rod(world, MODELS[0], -0.1, none), rod[8];
    for (int k = 0; k < 6; ++k) {
        rod[k] = add_rod(world, MODELS[k], 0.02 * k, none);
    }
    add_collider(world);
    add_cloth(world);
    add_rest(world);
    CHECK_INT(tdl_world_remove(world, gone), TDL_STATUS_OK);
    rod[6] = add_rod(world, MODELS[0], -0.05, none); // by the id that was free
    rod[7] = add_rod(world, MODELS[0], 0.0, rod[6]); // a branch
    TdlVec3 curl[5] = {
        {0.0, 9.0, 0.0}, {0.0, 8.0, 0.0}, {0.0, 7.0, 0.0}, {0.0, 6.0, 0.0}, {0.0, 5.0, 0.0}};
    CHECK_INT(tdl_rod_set_natural_curvature(world, rod[1], curl), TDL_STATUS_OK);
    CHECK_INT(tdl_rod_set_natural_curvature(world, rod[2], curl), TDL_STATUS_OK);
    CHECK_INT(tdl_rod_set_stiffening(world, rod[2], 1.7), TDL_STATUS_OK);
    TdlPull pulls[2] = {{.at = 0.1, .force = {0.0, 1.0e-3, 0.0}},
                        {.at = 0.05, .torque = {1.0e-6, 0.0, 0.0}}};
    CHECK_INT(tdl_body_pull(world, rod[0], 2, pulls), TDL_STATUS_OK);
    TdlPull draw = {.vertex = 2, .force = {1.0e-3, 0.0, 0.0}};
    TdlBodyId cloth = look_body(world, "cloth", 0), mesh = look_body(world, "collider", 0);
    CHECK_INT(tdl_body_pull(world, cloth, 1, &draw), TDL_STATUS_OK);
    TdlVec3 v = {0.0, 0.02, 0.01}, w = {0.0, 0.0, 0.2};
    CHECK_INT(tdl_body_set_velocity(world, cloth, 0, v, w), TDL_STATUS_OK);
    CHECK_INT(tdl_body_set_velocity(world, mesh, 0, v, w), TDL_STATUS_OK);
    CHECK_INT(tdl_body_set_velocity(world, rod[4], TDL_LED_START, v, w), TDL_STATUS_OK);
    if (response == TDL_RESPONSE_EXACT) {
        TdlContactLaw law = {.mu = 0.7, .restitution = 0.3};
        CHECK_INT(tdl_world_set_contact_law(world, 0, 2, law), TDL_STATUS_OK);
    }
    CHECK_INT(tdl_world_set_gravity(world, (TdlVec3){0.5, 0.0, -9.0}), TDL_STATUS_OK);
    return world;
}

static void tell(void* user, TdlLogLevel level, const char* message) {
    (void)user;
    if (level <= TDL_LOG_WARNING) {
        printf("  %s\n", message);
    }
}

static TdlHost counted(AllocCounter* counter) {
    TdlHost host = tdl_host_default();
    host.log = tell;
    host.mem = counting_allocator(counter);
    return host;
}

TEST(copies_of_bodies_of_every_kind_go_on_with_the_same_bits) {
    for (int k = 0; k < 3; ++k) {
        AllocCounter counter = {0};
        TdlHost host = counted(&counter);
        TdlWorld* world = make_all(&host, k == 1 ? TDL_INTEGRATOR_MIDPOINT : TDL_INTEGRATOR_EULER,
                                   k == 2 ? TDL_RESPONSE_BARRIER : TDL_RESPONSE_EXACT);
        check_copy(&world, 10); // before the first step
        steps(world, 60);
        int count;
        tdl_world_contact_forces(world, &count);
        check_copy(&world, 40); // a copy of a copy
        printf("  %d contacts\n", count);
        CHECK(count > 0);
        char name[TDL_BODY_NAME_SIZE];
        tdl_body_name(world, look_body(world, "rigid", 1), name);
        CHECK(strcmp(name, "rigid 'hook'") == 0);
        tdl_world_destroy(world);
        CHECK_INT(counter.live, 0);
    }
}

// Neither hears of what is done to the other.
TEST(a_trial_leaves_its_world_alone) {
    TdlHost host = tdl_host_default();
    TdlWorld* world = make_all(&host, TDL_INTEGRATOR_EULER, TDL_RESPONSE_EXACT);
    steps(world, 10);
    uint64_t before = tdl_world_state_hash(world);
    TdlWorld* trial = NULL;
    REQUIRE(tdl_world_copy(world, &trial) == TDL_STATUS_OK);
    TdlVec3 up = {0.0, 0.0, 1.0}, zero = {0};
    TdlBodyId plate = look_body(trial, "collider", 0);
    CHECK_INT(tdl_body_set_velocity(trial, plate, 0, up, zero), TDL_STATUS_OK);
    CHECK_INT(tdl_world_remove(trial, look_body(trial, "rigid", 0)), TDL_STATUS_OK);
    steps(trial, 5);
    CHECK(tdl_world_state_hash(world) == before);
    tdl_world_destroy(trial);
    // the other way: load what the world is by now into a copy made before, for one trial more
    REQUIRE(tdl_world_copy(world, &trial) == TDL_STATUS_OK);
    steps(world, 10);
    size_t size = tdl_world_state_size(world);
    char* bytes = malloc(size);
    tdl_world_save_state(world, bytes);
    CHECK_INT(tdl_world_load_state(trial, bytes, size), TDL_STATUS_OK);
    free(bytes);
    steps(world, 5);
    steps(trial, 5);
    CHECK(tdl_world_state_hash(world) == tdl_world_state_hash(trial));
    tdl_world_destroy(world);
    tdl_world_destroy(trial);
}

TEST(a_copy_that_runs_out_of_memory_leaves_nothing) {
    AllocCounter counter = {0};
    TdlHost host = counted(&counter);
    TdlWorld* world = make_all(&host, TDL_INTEGRATOR_MIDPOINT, TDL_RESPONSE_EXACT);
    steps(world, 3);
    uint64_t hash = tdl_world_state_hash(world);
    long live = counter.live, start = counter.calls;
    TdlWorld* copy = NULL;
    REQUIRE(tdl_world_copy(world, &copy) == TDL_STATUS_OK);
    long total = counter.calls - start;
    tdl_world_destroy(copy);
    CHECK_INT(counter.live, live);
    int refused = 0;
    for (long k = 1; k <= total; ++k) {
        counter.fail_at = counter.calls + k;
        TdlStatus status = tdl_world_copy(world, &copy);
        counter.fail_at = 0;
        refused += status == TDL_STATUS_NO_MEMORY;
        if (status == TDL_STATUS_OK) { // rods that got no place in a group step alone
            CHECK(tdl_world_state_hash(copy) == hash);
            tdl_world_destroy(copy);
        }
        REQUIRE(status == TDL_STATUS_OK || status == TDL_STATUS_NO_MEMORY);
        CHECK_INT(counter.live, live);
    }
    printf("  %ld allocations, %d of them refuse the copy when they fail\n", total, refused);
    CHECK(refused > total / 2);
    CHECK(tdl_world_state_hash(world) == hash);
    steps(world, 3);
    tdl_world_destroy(world);
    CHECK_INT(counter.live, 0);
}
