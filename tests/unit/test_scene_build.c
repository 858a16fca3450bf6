// What scenes become: rods, bodies and colliders where they are told to be.
#include "scene/scene.h"

#include "capture.h"
#include "look.h"
#include "ref/scene_text.h"
#include "test.h"

static TdlWorld* build(const char* text) {
    Capture capture;
    TdlHost host = capture_host(&capture);
    TdlScene* scene;
    TdlWorld* world = NULL;
    if (scene_load_text(&host, "s", text, strlen(text), NULL, 0, &scene) != TDL_STATUS_OK ||
        tdl_scene_build(scene, 1, &world) != TDL_STATUS_OK) {
        FAIL("%s", capture.text);
    }
    tdl_scene_destroy(scene);
    return world;
}

// the clamp of rod `index`
static TdlVec3 root_of(const TdlWorld* world, int index) {
    return look_rod_point(world, look_body(world, "rod", index), 0.0);
}

TEST(a_grid_is_centred_and_jittered_within_bounds) {
    TdlWorld* world = build(TIME HAIR LONG_ROD
                            "    clamp: {position: [10, 20, 30]}\n"
                            "    repeat: {count: [3, 4, 5], spacing: [1, 2, 3], jitter: [0.1, 0.2, "
                            "0], seed: 7}\n");
    REQUIRE(world != NULL);
    REQUIRE(look_count(world, "rod") == 60);
    TdlVec3 spread = {0.0, 0.0, 0.0};
    for (int n = 0; n < 60; ++n) {
        int i = n % 3, j = n / 3 % 4, k = n / 12;
        TdlVec3 grid = {10.0 + (i - 1), 20.0 + 2.0 * (j - 1.5), 30.0 + 3.0 * (k - 2)};
        TdlVec3 d = tdl_sub3(root_of(world, n), grid);
        CHECK(fabs(d.x) <= 0.1 && fabs(d.y) <= 0.2 && fabs(d.z) < 1e-12);
        spread.x += d.x * d.x / 60.0;
        spread.y += d.y * d.y / 60.0;
    }
    // a uniform distribution on [-w, w] has the variance w^2/3; 60 samples tell it to 3 x 12 %
    CHECK_NEAR(spread.x / (0.01 / 3.0), 1.0, 0.36);
    CHECK_NEAR(spread.y / (0.04 / 3.0), 1.0, 0.36);
    tdl_world_destroy(world);

    world = build(TIME HAIR LONG_ROD "    repeat: {count: [2, 1, 1], spacing: [1, 0, 0], centred: "
                                     "false}\n");
    REQUIRE(world != NULL);
    CHECK_NEAR3(root_of(world, 0), ((TdlVec3){0.0, 0.0, 0.0}), 0.0);
    CHECK_NEAR3(root_of(world, 1), ((TdlVec3){1.0, 0.0, 0.0}), 0.0);
    tdl_world_destroy(world);
}

TEST(the_seed_decides_the_offsets) {
#define GRID(seed)                                                                                 \
    TIME HAIR LONG_ROD "    repeat: {count: [5, 1, 1], jitter: [1, 1, 1], seed: " seed "}\n"
    TdlWorld *a = build(GRID("1")), *b = build(GRID("1")), *c = build(GRID("2"));
    REQUIRE(a != NULL && b != NULL && c != NULL);
    for (int i = 0; i < 5; ++i) {
        CHECK_NEAR3(root_of(a, i), root_of(b, i), 0.0);
        CHECK(tdl_norm3(tdl_sub3(root_of(a, i), root_of(c, i))) > 1e-3);
    }
    tdl_world_destroy(a);
    tdl_world_destroy(b);
    tdl_world_destroy(c);
}

TEST(directions_and_curvatures_reach_the_rod) {
    // a half circle about the second axis, which is the hint
    TdlWorld* world = build(TIME HAIR LONG_ROD
                            "    elements: 2\n    natural_curvature: [0, 3.14159265358979, 0]\n"
                            "    clamp: {direction: [0, 0, 5], normal: [0, 2, 0]}\n");
    REQUIRE(world != NULL);
    TdlBodyId rod = look_body(world, "rod", 0);
    // r' = R e_x and R' = R [kappa]x give t' = -k1 b with b the third axis, t x n = z x y = -x
    CHECK_NEAR3(look_rod_point(world, rod, 1.0), ((TdlVec3){2.0 / 3.14159265358979, 0.0, 0.0}),
                1e-12);
    const double* q = look_rod_coordinates(world, rod);
    CHECK_NEAR(q[1], 3.14159265358979 / 2.0, 1e-15);
    tdl_world_destroy(world);

    world = build(TIME HAIR LONG_ROD "    elements: 2\n    natural_curvature: [[1, 2, 3], [4, 5, "
                                     "6]]\n    curvature: [7, 8, 9]\n");
    REQUIRE(world != NULL);
    q = look_rod_coordinates(world, look_body(world, "rod", 0));
    for (int i = 0; i < 6; ++i) {
        CHECK_NEAR(q[i], 0.5 * (7.0 + i % 3), 1e-15);
    }
    tdl_world_destroy(world);
}

TEST(colliders_face_where_they_are_told) {
    TdlWorld* world = build(
        TIME HAIR ROD "colliders:\n"
                      "  - {name: p, shape: plane, position: [1, 2, 3], normal: [0, 3, 4]}\n"
                      "  - {name: c, shape: capsule, radius: 2, length: 5, direction: [0, -2, "
                      "0], motion: {interpolation: linear, keyframes: [{time: 0}, {time: 1, "
                      "position: [1, 0, 0]}]}}\n");
    REQUIRE(world != NULL);
    REQUIRE(look_count(world, "collider") == 2);
    TdlPose plane = look_collider_pose(world, 0);
    CHECK_NEAR3(plane.position, ((TdlVec3){1.0, 2.0, 3.0}), 0.0);
    CHECK_NEAR3(plane.rotation.cz, ((TdlVec3){0.0, 0.6, 0.8}), 1e-15);
    CHECK_NEAR(tdl_det33(plane.rotation), 1.0, 1e-14);
    TdlColliderDef capsule = look_collider_def(world, 1);
    CHECK(capsule.shape == TDL_SHAPE_CAPSULE && capsule.radius == 2.0 && capsule.length == 5.0);
    CHECK_NEAR3(capsule.pose.rotation.cx, ((TdlVec3){0.0, -1.0, 0.0}), 1e-15);
    // a step of 1 ms on the way at 1 m/s
    CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
    CHECK_NEAR3(look_collider_pose(world, 1).position, ((TdlVec3){1e-3, 0.0, 0.0}), 1e-15);
    tdl_world_destroy(world);
}

TEST(bodies_stand_where_they_are_told) {
    TdlWorld* world = build(
        TIME "materials: [{name: steel, density: 7800}]\n"
             "bodies:\n"
             "  - {name: grid, shape: sphere, radius: 0.1, material: steel, position: [1, 2, 3],\n"
             "     repeat: {count: [2, 1, 3], spacing: [1, 0, 2], centred: false}}\n"
             "  - {name: box, shape: box, half: [1, 2, 3], radius: 0.5, density: 5,\n"
             "     direction: [0, 3, 0], normal: [2, 1, 0], velocity: [1, 2, 3],\n"
             "     angular_velocity: [4, 5, 6]}\n"
             "  - {name: hook, shape: curves, radius: 0.1, pieces: [{length: 1}, {length: 2, "
             "curvature: [0, 0, 3]}]}\n");
    REQUIRE(world != NULL);
    REQUIRE(look_count(world, "rigid") == 8);
    for (int i = 0; i < 6; ++i) {
        TdlRigidDef def = look_rigid_def(world, i);
        CHECK(def.shape == TDL_RIGID_SPHERE && def.radius == 0.1 && def.density == 7800.0);
        CHECK_INT(def.material, 1);
        CHECK_NEAR3(look_rigid_pose(world, i).position,
                    ((TdlVec3){1.0 + i % 2, 2.0, 3.0 + 2.0 * (i / 2)}), 0.0);
    }
    TdlRigidDef box = look_rigid_def(world, 6);
    CHECK(box.shape == TDL_RIGID_BOX && box.radius == 0.5 && box.density == 5.0);
    CHECK_NEAR3(box.half, ((TdlVec3){1, 2, 3}), 0.0);
    CHECK_INT(box.material, 0);
    TdlPose pose = look_rigid_pose(world, 6);
    CHECK_NEAR3(pose.rotation.cx, ((TdlVec3){0, 1, 0}), 1e-15);
    CHECK_NEAR3(pose.rotation.cz, ((TdlVec3){1, 0, 0}), 1e-15);
    CHECK_NEAR3(look_rigid_velocity(world, 6), ((TdlVec3){1, 2, 3}), 0.0);
    CHECK_NEAR3(look_rigid_angular_velocity(world, 6), ((TdlVec3){4, 5, 6}), 0.0);
    TdlRigidDef hook = look_rigid_def(world, 7);
    REQUIRE(hook.shape == TDL_RIGID_CURVES && hook.piece_count == 2);
    CHECK(hook.pieces[1].length == 2.0 && hook.pieces[1].curvature.z == 3.0);
    CHECK_NEAR(hook.density, 1000.0, 0.0);
    CHECK_NEAR3(look_rigid_pose(world, 7).position, ((TdlVec3){0}), 1e-15);
    tdl_world_destroy(world);
}

TEST(colliders_of_all_shapes_are_made) {
    TdlWorld* world = build(
        TIME
        "materials: [{name: a}, {name: b}]\n"
        "bodies: [{name: ball, shape: sphere, radius: 0.1, position: [0, 0, 9]}]\n"
        "colliders:\n"
        "  - {name: p, shape: plate, radius: 0.01, length: 0.5, normal: [0, 1, 0], material: b}\n"
        "  - {name: c, shape: comb, radius: 0.02, length: 0.3, teeth: 7, pitch: 0.1,\n"
        "     direction: [0, 1, 0], velocity: [1, 0, 0], angular_velocity: [0, 0, 2]}\n"
        "  - {name: r, shape: curves, radius: 0.01, position: [0, 0, 1],\n"
        "     pieces: [{length: 0.4, curvature: [0, 0, 1]}]}\n");
    REQUIRE(world != NULL);
    REQUIRE(look_count(world, "collider") == 3);
    TdlColliderDef plate = look_collider_def(world, 0), comb = look_collider_def(world, 1);
    CHECK(plate.shape == TDL_SHAPE_PLATE && plate.radius == 0.01 && plate.length == 0.5);
    CHECK_INT(plate.material, 2);
    CHECK_NEAR3(plate.pose.rotation.cz, ((TdlVec3){0, 1, 0}), 1e-15);
    CHECK(comb.shape == TDL_SHAPE_COMB && comb.teeth == 7 && comb.pitch == 0.1);
    CHECK_NEAR3(comb.pose.rotation.cx, ((TdlVec3){0, 1, 0}), 1e-15);
    CHECK_NEAR3(comb.pose.rotation.cz, ((TdlVec3){0, 0, 1}), 1e-15);
    TdlColliderDef rail = look_collider_def(world, 2);
    REQUIRE(rail.shape == TDL_SHAPE_CURVES && rail.piece_count == 1);
    CHECK(rail.pieces[0].length == 0.4 && rail.pieces[0].curvature.z == 1.0);
    // a step of 1 ms
    CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
    CHECK_NEAR3(look_collider_pose(world, 1).position, ((TdlVec3){1e-3, 0, 0}), 1e-17);
    CHECK_NEAR3(look_collider_pose(world, 1).rotation.cx, ((TdlVec3){-sin(2e-3), cos(2e-3), 0}),
                1e-15);
    tdl_world_destroy(world);
}

// The force that holds a ball on a slope tells which law acts.
TEST(pairs_of_materials_have_their_own_law) {
#define SLOPE(contacts)                                                                            \
    TIME "materials: [{name: ice}, {name: rubber}]\n"                                              \
         "bodies: [{name: a, shape: sphere, radius: 0.1, position: [0, 0, 0.1], material: ice,\n"  \
         "          velocity: [1, 0, 0]},\n"                                                       \
         "         {name: b, shape: sphere, radius: 0.1, position: [0, 5, 0.1], material: "        \
         "rubber,\n          velocity: [1, 0, 0]}]\n"                                              \
         "colliders: [{name: floor, shape: plane, material: ice}]\n"                               \
         "contacts: " contacts "\n"
    static const struct {
        const char* text;
        double mu[2];
    } CASES[] = {
        {SLOPE("{friction: 0.1}"), {0.1, 0.1}},
        {SLOPE("{friction: 0.1, pairs: [{between: [rubber, ice], friction: 0.2}]}"), {0.1, 0.2}},
        {SLOPE("{pairs: [{between: [ice, ice], friction: 0}]}"), {0.0, 0.3}},
        {SLOPE("{pairs: [{between: [rubber, rubber], friction: 0}]}"), {0.3, 0.3}},
        {SLOPE("{detection: off}"), {0.0, 0.0}},
    };
    for (int i = 0; i < 5; ++i) {
        TdlWorld* world = build(CASES[i].text);
        REQUIRE(world != NULL);
        for (int step = 0; step < 10; ++step) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        }
        for (int k = 0; k < 2; ++k) {
            // nine and a half steps of 1 ms of sliding at mu g
            CHECK_NEAR(1.0 - look_rigid_velocity(world, k).x, CASES[i].mu[k] * 9.81 * 9.5e-3, 1e-6);
        }
        tdl_world_destroy(world);
    }
}

TEST(the_example_of_the_reference_is_built) {
    TdlWorld* world = build(SCENE_EXAMPLE);
    REQUIRE(world != NULL);
    CHECK_INT(look_count(world, "rod"), 2);
    tdl_world_destroy(world);
}
