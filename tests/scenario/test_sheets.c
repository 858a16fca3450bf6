// Sheets that fall on things, on each other and on themselves: nothing is gone through in any step,
// by an exact test of all triangles, and nothing sinks in.
#include "math/rotation.h"
#include "sheets.h"

static TdlWorld* make_world(double step, double mu) {
    TdlWorldDef def = tdl_world_def_default();
    TdlHost host = tdl_host_default();
    TdlWorld* world;
    def.step = step;
    def.contacts.law.mu = mu;
    CHECK(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    return world;
}

static void add_collider(TdlWorld* world, TdlShape shape, double radius, double length,
                         TdlVec3 at) {
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id;
    def.shape = shape;
    def.radius = radius;
    def.length = length;
    def.pose.position = at;
    CHECK(tdl_world_add_collider(world, &def, &id) == TDL_STATUS_OK);
}

static SheetDef sheet_at(double z) {
    return (SheetDef){.cells = 8,
                      .side = 0.2,
                      .thickness = 2.0e-3,
                      .bend = 1.0e-3,
                      .at = {0.003, 0.002, z},
                      .turn = tdl_identity33()};
}

// Steps; in every one the triangles are apart, and the deepest overlap is told.
static double run(TdlWorld* world, const TdlBodyId* sheets, int count, int steps) {
    double deepest = 0.0;
    int contacts = 0, parts = 0;
    for (int i = 0; i < steps; ++i) {
        TdlStepInfo info;
        if (tdl_world_step(world, &info) != TDL_STATUS_OK) {
            FAIL("step %d failed", i);
            return -1.0;
        }
        deepest = fmin(deepest, info.deepest);
        contacts += info.contact_count;
        parts += info.substeps;
        int through = count_crossings(world, sheets, count);
        if (through != 0) {
            FAIL("step %d: %d pairs of triangles go through each other", i, through);
            return -1.0;
        }
    }
    printf("  deepest %.3g m, %.1f contacts a step, %d parts in %d steps\n", -deepest,
           (double)contacts / steps, parts, steps);
    return -deepest;
}

TEST(on_a_floor) {
    TdlWorld* world = make_world(5.0e-3, 0.3);
    add_floor(world);
    TdlBodyId id = add_sheet(world, sheet_at(0.02));
    CHECK(run(world, &id, 1, 100) < 0.1e-3); // a tenth of its radius
    tdl_world_destroy(world);
}

TEST(on_a_ball) {
    TdlWorld* world = make_world(5.0e-3, 0.3);
    add_collider(world, TDL_SHAPE_SPHERE, 0.05, 0.0, (TdlVec3){0.0, 0.0, -0.05});
    TdlBodyId id = add_sheet(world, sheet_at(0.005));
    CHECK(run(world, &id, 1, 60) < 0.1e-3);
    tdl_world_destroy(world);
}

TEST(on_a_cylinder) {
    TdlWorld* world = make_world(5.0e-3, 0.3);
    add_collider(world, TDL_SHAPE_CYLINDER, 0.03, 0.0, (TdlVec3){0.0, 0.0, -0.03});
    TdlBodyId id = add_sheet(world, sheet_at(0.005));
    CHECK(run(world, &id, 1, 60) < 0.1e-3);
    tdl_world_destroy(world);
}

TEST(on_a_capsule) {
    TdlWorld* world = make_world(5.0e-3, 0.3);
    add_collider(world, TDL_SHAPE_CAPSULE, 0.01, 0.05, (TdlVec3){-0.02, 0.01, -0.01});
    TdlBodyId id = add_sheet(world, sheet_at(0.005));
    CHECK(run(world, &id, 1, 60) < 0.1e-3);
    tdl_world_destroy(world);
}

static void add_hard_box(TdlWorld* world, TdlVec3 half, TdlPose pose) {
    TdlVec3 vertices[8];
    int triangles[36];
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id;
    def.shape = TDL_SHAPE_MESH;
    def.mesh = surface_box_mesh(half, vertices, triangles);
    def.radius = 0.0;
    def.pose = pose;
    CHECK(tdl_world_add_collider(world, &def, &id) == TDL_STATUS_OK);
}

TEST(on_a_box) {
    TdlWorld* world = make_world(5.0e-3, 0.3);
    add_hard_box(world, (TdlVec3){0.05, 0.04, 0.03},
                 (TdlPose){{0.0, 0.0, -0.03}, tdl_rotation_exp((TdlVec3){0.0, 0.0, 0.3})});
    TdlBodyId id = add_sheet(world, sheet_at(0.005));
    CHECK(run(world, &id, 1, 60) < 0.1e-3);
    tdl_world_destroy(world);
}

TEST(a_box_falls_on_a_sheet) {
    TdlWorld* world = make_world(5.0e-3, 0.3);
    add_floor(world);
    TdlBodyId id = add_sheet(world, sheet_at(0.003));
    add_box(world, (TdlVec3){0.03, 0.02, 0.02}, 1.0e-3,
            (TdlPose){{0.01, 0.0, 0.06}, tdl_rotation_exp((TdlVec3){0.2, 0.3, 0.1})}, (TdlVec3){0});
    CHECK(run(world, &id, 1, REPEATS(60, 30)) < 0.1e-3); // it is there after 17
    tdl_world_destroy(world);
}

TEST(on_each_other) {
    TdlWorld* world = make_world(5.0e-3, 0.3);
    add_collider(world, TDL_SHAPE_SPHERE, 0.05, 0.0, (TdlVec3){0.0, 0.0, -0.05});
    SheetDef upper = sheet_at(0.012);
    upper.turn = tdl_rotation_exp((TdlVec3){0.0, 0.0, 0.4});
    TdlBodyId id[2] = {add_sheet(world, sheet_at(0.005)), add_sheet(world, upper)};
    CHECK(run(world, id, 2, 60) < 0.1e-3);
    tdl_world_destroy(world);
}

// A sheet on its edge crumples onto the floor and onto itself.
TEST(on_itself) {
    TdlWorld* world = make_world(5.0e-3, 0.3);
    add_floor(world);
    SheetDef def = sheet_at(0.13);
    def.cells = 10;
    def.turn = tdl_rotation_exp((TdlVec3){1.57, 0.0, 0.0});
    def.bend = 0.02;
    TdlBodyId id = add_sheet(world, def);
    CHECK(run(world, &id, 1, 60) < 0.1e-3);
    int self = 0;
    for (int i = 0; i < 10; ++i) {
        CHECK(run(world, &id, 1, 10) < 0.1e-3);
        int count;
        const TdlContactForce* f = tdl_world_contact_forces(world, &count);
        for (int k = 0; k < count; ++k) {
            self += tdl_body_id_equal(f[k].body[0], f[k].body[1]) && tdl_norm3(f[k].force) > 0.0;
        }
    }
    printf("  pushes itself at %d places of ten steps\n", self);
    CHECK(self > 10);
    tdl_world_destroy(world);
}

// In a step it would go through: 40 times its thickness.
TEST(fast_through_a_stick) {
    TdlWorld* world = make_world(5.0e-3, 0.3);
    add_collider(world, TDL_SHAPE_CAPSULE, 1.0e-3, 0.3, (TdlVec3){-0.15, 0.0, -0.03});
    SheetDef def = sheet_at(0.02);
    def.velocity = (TdlVec3){0.0, 0.0, -8.0};
    TdlBodyId id = add_sheet(world, def);
    CHECK(run(world, &id, 1, 4) >= 0.0);
    TdlVec3 v[81];
    CHECK(tdl_cloth_state(world, id, v, NULL) == TDL_STATUS_OK);
    CHECK(v[40].z > -0.03); // the middle hangs on the stick
    tdl_world_destroy(world);
}

TEST(fast_through_each_other) {
    TdlWorld* world = make_world(5.0e-3, 0.3);
    SheetDef a = sheet_at(0.0), b = sheet_at(0.02);
    a.velocity = (TdlVec3){0.0, 0.0, 3.5};
    b.velocity = (TdlVec3){0.5, 0.0, -3.5}; // 35 mm a step, and 20 apart
    b.turn = tdl_rotation_exp((TdlVec3){0.04, 0.02, 0.7});
    TdlBodyId id[2] = {add_sheet(world, a), add_sheet(world, b)};
    CHECK(run(world, id, 2, 8) >= 0.0);
    TdlVec3 v[2][81];
    for (int k = 0; k < 2; ++k) {
        CHECK(tdl_cloth_state(world, id[k], v[k], NULL) == TDL_STATUS_OK);
    }
    CHECK(v[1][40].z > v[0][40].z);
    tdl_world_destroy(world);
}

TEST(fast_through_a_box) {
    TdlWorld* world = make_world(5.0e-3, 0.3);
    add_hard_box(world, (TdlVec3){0.02, 0.015, 0.004},
                 (TdlPose){{0.0, 0.0, -0.03}, tdl_rotation_exp((TdlVec3){0.1, 0.2, 0.3})});
    SheetDef def = sheet_at(0.02);
    def.velocity = (TdlVec3){0.0, 0.0, -8.0};
    TdlBodyId id = add_sheet(world, def);
    CHECK(run(world, &id, 1, 4) >= 0.0);
    TdlVec3 v[81];
    CHECK(tdl_cloth_state(world, id, v, NULL) == TDL_STATUS_OK);
    CHECK(v[40].z > -0.03);
    tdl_world_destroy(world);
}

// Two that go through each other at the start are named with the faces that do.
TEST(sheets_placed_in_each_other_are_named) {
    TdlWorldDef def = tdl_world_def_default();
    TdlHost host = tdl_host_default();
    TdlWorld* world;
    def.contacts.start = TDL_START_REFUSE;
    CHECK(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    SheetDef upright = sheet_at(0.0);
    upright.at = (TdlVec3){0.01, 0.013, 0.09};
    upright.turn = tdl_rotation_exp((TdlVec3){1.5, 0.0, 0.2});
    TdlBodyId id[2] = {add_sheet(world, sheet_at(0.0)), add_sheet(world, upright)};
    TdlOverlap overlap[4];
    int count;
    CHECK(tdl_world_overlaps(world, 4, overlap, &count) == TDL_STATUS_OK);
    REQUIRE(count == 1);
    CHECK(overlap[0].through && tdl_body_id_equal(overlap[0].body[0], id[0]) &&
          tdl_body_id_equal(overlap[0].body[1], id[1]));
    // the faces do go through each other
    TdlVec3 v[2][81], both[6];
    for (int k = 0; k < 2; ++k) {
        const int* t;
        int triangles;
        CHECK(tdl_cloth_triangles(world, id[k], &t, &triangles) == TDL_STATUS_OK);
        CHECK(tdl_cloth_state(world, id[k], v[k], NULL) == TDL_STATUS_OK);
        for (int j = 0; j < 3; ++j) {
            both[3 * k + j] = v[k][t[3 * overlap[0].element[k] + j]];
        }
    }
    CHECK(sheet_crossings(both, (const int[6]){0, 1, 2, 3, 4, 5}, 2, 0, NULL) > 0);
    TdlStepInfo info;
    CHECK(tdl_world_step(world, &info) == TDL_STATUS_BAD_INPUT);
    tdl_world_destroy(world);
}

// A rail of two arcs and a straight piece, which are fixed fibres, and a clamped rod.
TEST(over_a_rail_and_a_rod) {
    TdlWorld* world = make_world(5.0e-3, 0.3);
    TdlColliderDef rail = tdl_collider_def_default();
    TdlCurvePiece piece[3] = {{.length = 0.1, .curvature = {0.0, 0.0, 8.0}},
                              {.length = 0.05},
                              {.length = 0.1, .curvature = {0.0, 0.0, -8.0}}};
    TdlBodyId id, rod;
    rail.shape = TDL_SHAPE_CURVES;
    rail.radius = 4.0e-3;
    rail.pieces = piece;
    rail.piece_count = 3;
    rail.pose.position = (TdlVec3){-0.11, -0.04, -0.004};
    CHECK(tdl_world_add_collider(world, &rail, &id) == TDL_STATUS_OK);
    TdlRodDef def = tdl_rod_def_default();
    def.length = 0.25;
    def.radius[0] = def.radius[1] = 4.0e-3;
    def.element_count = 4;
    def.young = 1.0e9;
    def.clamp.position = (TdlVec3){-0.12, -0.06, -0.006};
    CHECK(tdl_world_add_rod(world, &def, &rod) == TDL_STATUS_OK);
    TdlBodyId sheet = add_sheet(world, sheet_at(0.004));
    CHECK(run(world, &sheet, 1, 100) < 0.2e-3);
    CHECK(kinds_touch(world, "cloth", "collider"));
    tdl_world_destroy(world);
}
