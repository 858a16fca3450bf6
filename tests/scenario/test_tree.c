// Trees of rods: one system, however it is cut into branches.
#include "look.h"
#include "math/rotation.h"
#include "scene/scene.h"
#include "tendril/world.h"
#include "test.h"

static TdlWorld* create_world(TdlVec3 gravity, TdlVec3 wind) {
    TdlHost host = tdl_host_default();
    host.log = NULL;
    TdlWorldDef def = tdl_world_def_default();
    def.contacts.off = true;
    def.gravity = gravity;
    def.wind = wind;
    def.step = 1.0e-3;
    TdlWorld* world;
    CHECK(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    return world;
}

static TdlRodDef twig(int elements) {
    TdlRodDef def = tdl_rod_def_default();
    def.length = 0.03 * elements;
    def.radius[0] = def.radius[1] = 1.5e-3;
    def.young = 1.0e7;
    def.element_count = elements;
    def.damping = 2.0e-3;
    def.natural_curvature = (TdlVec3){2.0, 6.0, -3.0};
    def.curvature = (TdlVec3){1.0, 4.0, -3.0};
    return def;
}

static void step(TdlWorld* world, int count) {
    for (int i = 0; i < count; ++i) {
        CHECK(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
}

static double total(const TdlWorld* world) {
    TdlEnergy e = tdl_world_energy(world);
    return e.kinetic + e.elastic + e.gravity;
}

// A rod of ten elements, and the same rod as a chain of three branches, shaken by its clamp in the
// wind.
TEST(a_rod_cut_into_branches_moves_as_the_whole) {
    TdlKeyframe keys[3] = {{0.0, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
                           {0.1, {0.05, 0.0, 0.02}, {0.3, 0.5, 0.0}},
                           {0.2, {-0.05, 0.02, 0.0}, {0.0, -0.4, 0.3}}};
    TdlMotionDef motion = {.keys = keys, .key_count = 3, .interpolation = TDL_INTERPOLATION_SMOOTH};
    TdlVec3 wind = {1.0, -2.0, 0.5}, g = {0.0, 0.0, -9.81};
    TdlWorld *whole = create_world(g, wind), *cut = create_world(g, wind);
    TdlRodDef def = twig(10);
    TdlRodLoad load = {0.27, {0.01, -0.02, 0.0}, {1.0e-4, 0.0, 0.0}}, moved = load;
    def.motion = motion;
    def.drag = 0.02;
    def.mass_damping = 0.5;
    def.loads = &load;
    def.load_count = 1;
    TdlBodyId rod, part[3];
    CHECK(tdl_world_add_rod(whole, &def, &rod) == TDL_STATUS_OK);

    // each part continues the frame of the one before
    const int sizes[3] = {3, 4, 3};
    TdlMat3 frame = def.clamp.rotation;
    for (int k = 0; k < 3; ++k) {
        TdlRodDef own = def;
        own.element_count = sizes[k];
        own.length = 0.03 * sizes[k];
        own.clamp.rotation = frame;
        own.motion = k == 0 ? motion : (TdlMotionDef){0};
        own.parent = k == 0 ? (TdlBodyId){0} : part[k - 1];
        moved.at = load.at - 0.21;
        own.loads = &moved;
        own.load_count = k == 2 ? 1 : 0;
        CHECK(tdl_world_add_rod(cut, &own, &part[k]) == TDL_STATUS_OK);
        for (int i = 0; i < sizes[k]; ++i) {
            frame = tdl_mul33(frame, tdl_rotation_exp(tdl_scale3(0.03, def.curvature)));
        }
    }
    for (int k = 0; k < 30; ++k) {
        step(whole, 10);
        step(cut, 10);
        for (int i = 0; i <= 9; ++i) {
            double s = 0.01 * i;
            CHECK_NEAR3(look_rod_point(cut, part[2], s), look_rod_point(whole, rod, 0.21 + s),
                        1.0e-9);
        }
        TdlEnergy a = tdl_world_energy(whole), b = tdl_world_energy(cut);
        CHECK_NEAR(a.kinetic, b.kinetic, 1.0e-8 * a.kinetic);
    }
    tdl_world_destroy(whole);
    tdl_world_destroy(cut);
}

// A stem with four branches, of which two carry branches themselves.
static void plant(TdlWorld* world, double damping, TdlBodyId* stem, TdlBodyId* top) {
    TdlRodDef def = twig(6);
    def.damping = damping;
    def.clamp.rotation = tdl_frame_from_tangent((TdlVec3){0.0, 0.0, 1.0});
    CHECK(tdl_world_add_rod(world, &def, stem) == TDL_STATUS_OK);
    for (int k = 0; k < 4; ++k) {
        TdlRodDef own = twig(3 + k % 2);
        own.damping = damping;
        own.parent = *stem;
        own.parent_at = 0.4 + 0.2 * k;
        own.clamp.rotation = tdl_frame_from_tangent((TdlVec3){cos(2.0 * k), sin(2.0 * k), 0.5});
        TdlBodyId branch;
        CHECK(tdl_world_add_rod(world, &own, &branch) == TDL_STATUS_OK);
        own.parent = branch;
        own.parent_at = 1.0;
        if (k % 2 == 1) {
            CHECK(tdl_world_add_rod(world, &own, top) == TDL_STATUS_OK);
        }
    }
}

TEST(a_tree_without_gravity_never_gains_energy) {
    TdlWorld* world = create_world((TdlVec3){0}, (TdlVec3){0});
    TdlBodyId stem, top;
    plant(world, 0.0, &stem, &top);
    double last = total(world);
    for (int i = 0; i < 500; ++i) {
        step(world, 1);
        double now = total(world);
        CHECK_BELOW(now - last, 1.0e-12 * last);
        last = now;
    }
    tdl_world_destroy(world);
}

TEST(branches_stay_on_their_parents_and_states_continue_with_the_same_bits) {
    TdlWorld* world = create_world((TdlVec3){0.0, 0.0, -9.81}, (TdlVec3){3.0, 0.0, 0.0});
    TdlBodyId stem, top;
    plant(world, 1.0e-3, &stem, &top);
    step(world, 50);
    static char bytes[1 << 16];
    REQUIRE(tdl_world_state_size(world) <= sizeof bytes);
    tdl_world_save_state(world, bytes);
    step(world, 50);
    uint64_t hash = tdl_world_state_hash(world);
    CHECK(tdl_world_load_state(world, bytes, tdl_world_state_size(world)) == TDL_STATUS_OK);
    step(world, 50);
    CHECK(tdl_world_state_hash(world) == hash);
    // the first branch grows from 0.4 of six elements: the end of the second
    TdlVec3 node = look_rod_point(world, stem, 0.06);
    CHECK_NEAR3(look_rod_point(world, look_body(world, "rod", 1), 0.0), node, 1.0e-14);
    tdl_world_destroy(world);
}

TEST(bad_branches_are_refused) {
    TdlWorld* world = create_world((TdlVec3){0}, (TdlVec3){0});
    TdlRodDef def = twig(3);
    TdlBodyId stem, out;
    CHECK(tdl_world_add_rod(world, &def, &stem) == TDL_STATUS_OK);
    def.parent = (TdlBodyId){7, 1};
    CHECK(tdl_world_add_rod(world, &def, &out) == TDL_STATUS_BAD_ARGUMENT);
    def.parent = stem;
    def.parent_at = 0.0;
    CHECK(tdl_world_add_rod(world, &def, &out) == TDL_STATUS_BAD_ARGUMENT);
    def.parent_at = NAN;
    CHECK(tdl_world_add_rod(world, &def, &out) == TDL_STATUS_BAD_ARGUMENT);
    def.parent_at = 1.0;
    def.start = TDL_HOLD_FREE;
    CHECK(tdl_world_add_rod(world, &def, &out) == TDL_STATUS_BAD_ARGUMENT);
    def.start = TDL_HOLD_CLAMPED;
    def.model = "super-helix-dense";
    CHECK(tdl_world_add_rod(world, &def, &out) == TDL_STATUS_BAD_ARGUMENT);
    CHECK(look_count(world, "rod") == 1);
    step(world, 3);
    tdl_world_destroy(world);
}

static TdlStatus load(const char* branch, TdlScene** scene) {
    TdlHost host = tdl_host_default();
    host.log = NULL;
    char text[1024];
    snprintf(text, sizeof text,
             "time: {end: 1}\n"
             "materials: [{name: m, young: 1e9, density: 700}]\n"
             "rods:\n"
             "- {name: stem, material: m, length: 1, radius: 1e-2, elements: 4,\n"
             "   repeat: {count: [3, 1, 1], spacing: [1, 0, 0]}}\n"
             "- {name: twig, material: m, length: 0.5, radius: 1e-3, elements: 2, %s}\n",
             branch);
    return scene_load_text(&host, "s", text, strlen(text), NULL, 0, scene);
}

TEST(scenes_grow_branches_copy_by_copy) {
    TdlScene* scene;
    TdlWorld* world;
    REQUIRE(load("parent: stem, parent_at: 0.5, clamp: {direction: [0, 1, 0]}, "
                 "repeat: {count: [3, 1, 1]}",
                 &scene) == TDL_STATUS_OK);
    REQUIRE(tdl_scene_build(scene, 1, &world) == TDL_STATUS_OK);
    for (int k = 0; k < 3; ++k) {
        TdlVec3 tip = look_rod_point(world, look_body(world, "rod", 3 + k), 0.5);
        CHECK_NEAR3(tip, ((TdlVec3){k - 0.5, 0.5, 0.0}), 1.0e-12);
    }
    step(world, 3);
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
}

TEST(scenes_with_bad_branches_are_refused) {
    static const char* const bad[] = {
        "parent: twig",                             // itself
        "parent: nobody",                           //
        "parent: stem",                             // one branch on three copies
        "parent: stem, repeat: {count: [2, 1, 1]}", //
        "parent: stem, parent_at: 1.5, repeat: {count: [3, 1, 1]}",
        "parent: stem, parent_at: 0, repeat: {count: [3, 1, 1]}",
        "parent: stem, start: free, repeat: {count: [3, 1, 1]}",
        "parent: stem, model: super-clothoid, repeat: {count: [3, 1, 1]}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        TdlScene* scene = NULL;
        CHECK(load(bad[i], &scene) == TDL_STATUS_BAD_INPUT);
        tdl_scene_destroy(scene);
    }
}

TEST(trees_settle_and_stay) {
    TdlScene* scene;
    TdlWorld* world;
    REQUIRE(load("parent: stem, parent_at: 0.5, clamp: {direction: [0, 1, 0]}, "
                 "repeat: {count: [3, 1, 1]}",
                 &scene) == TDL_STATUS_OK);
    REQUIRE(tdl_scene_build(scene, 1, &world) == TDL_STATUS_OK);
    double residual;
    REQUIRE(tdl_world_settle(world, &residual) == TDL_STATUS_OK);
    CHECK_BELOW(residual, 1.0e-12);
    TdlVec3 tip = look_rod_point(world, look_body(world, "rod", 4), 0.5);
    double energy = total(world);
    step(world, 20);
    CHECK_NEAR3(look_rod_point(world, look_body(world, "rod", 4), 0.5), tip, 1.0e-10);
    CHECK_NEAR(total(world), energy, 1.0e-12 * fabs(energy));
    for (int k = 0; k < 3; ++k) { // a branch tells what its tree is
        double own = look_rod_stability(world, look_body(world, "rod", 3 + k));
        CHECK(own > 0.0 && own == look_rod_stability(world, look_body(world, "rod", k)));
    }
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
}
