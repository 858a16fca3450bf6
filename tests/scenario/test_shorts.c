// Shorts, tubes and sewn pieces in a world: nothing goes through anything, seams close.
#include "sheets.h"
#include "tendril/scene.h"
#include "test.h"

static TdlScene* load(const char* name, const char* const* set, int set_count) {
    char path[1024];
    TdlHost host = tdl_host_default();
    TdlScene* scene = NULL;
    snprintf(path, sizeof path, "%.900s/scenes/%s.yaml", getenv("TENDRIL_SOURCE"), name);
    CHECK_INT(tdl_scene_load(&host, path, set, set_count, &scene), TDL_STATUS_OK);
    return scene;
}

// S3's folding of shorts, on a coarser mesh (TENDRIL_LONG: as the scene has it): no two triangles
// go through each other in any step, edges keep their lengths, and the waist comes to lie on the
// legs.
TEST(shorts_are_folded) {
    static const char* const SET[] = {"cloths.shorts.shorts.nodes=[1, 3, 2]",
                                      "cloths.shorts.holds.0.vertices=[2, 6]"};
    TdlScene* scene = load("shorts", SET, getenv("TENDRIL_LONG") == NULL ? 2 : 0);
    REQUIRE(scene != NULL);
    TdlWorld* world;
    REQUIRE(tdl_scene_build(scene, 1, &world) == TDL_STATUS_OK);
    TdlBodyId id = tdl_world_body(world, "cloth", 0);
    TdlClothDef def;
    REQUIRE(tdl_cloth_def(world, id, &def) == TDL_STATUS_OK);
    int crossings = 0, steps = 0;
    double strain = 0.0;
    for (; steps < 280; ++steps) {
        TdlClothStrain own;
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        REQUIRE(tdl_cloth_strain(world, id, &own) == TDL_STATUS_OK);
        strain = fmax(strain, own.largest);
        crossings += count_crossings(world, &id, 1);
    }
    TdlVec3* x = calloc((size_t)def.mesh.vertex_count, sizeof *x);
    REQUIRE(tdl_cloth_state(world, id, x, NULL) == TDL_STATUS_OK);
    double high = 0.0, least = INFINITY, waist = 0.0;
    int ring = getenv("TENDRIL_LONG") == NULL ? 8 : 16;
    for (int i = 0; i < def.mesh.vertex_count; ++i) {
        high = fmax(high, x[i].z);
        least = fmin(least, x[i].y);
        waist += i < ring ? x[i].y / ring : 0.0;
    }
    printf("  %d vertices: strain %.2g, %d crossings; at the end %.3f m high, waist at %.3f m, "
           "fold at %.3f m\n",
           def.mesh.vertex_count, strain, crossings, high, waist, least);
    CHECK_INT(crossings, 0);
    CHECK(strain < 1.0e-3);
    CHECK(high < 0.15);          // it lies: 0.35 m long before
    CHECK(waist > least + 0.05); // it was drawn back over the fold
    free(x);
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
}

// A piece hung by its top, and another below it that seams draw up while it falls: the hold has the
// weight of both in the end, and they come as near as stitches are long.
TEST(a_falling_piece_is_drawn_to_a_hung_one) {
    enum { COLUMNS = 4, ROWS = 4, HALF = COLUMNS * ROWS, QUADS = 9 };
    TdlVec3 v[2 * HALF];
    int faces[8 * QUADS], from[COLUMNS], to[COLUMNS], top[COLUMNS];
    tdl_cloth_rectangle(0.2, 0.2, COLUMNS, ROWS, v, faces);
    tdl_cloth_rectangle(0.2, 0.2, COLUMNS, ROWS, v + HALF, faces + 4 * QUADS);
    for (int i = 0; i < 2 * HALF; ++i) {
        v[i] = (TdlVec3){v[i].x, 0.0, v[i].y + (i < HALF ? 1.0 : 0.76)}; // 40 mm apart
    }
    for (int k = 0; k < 4 * QUADS; ++k) {
        faces[4 * QUADS + k] += HALF;
    }
    for (int k = 0; k < COLUMNS; ++k) {
        from[k] = k;
        to[k] = HALF + (ROWS - 1) * COLUMNS + k;
        top[k] = (ROWS - 1) * COLUMNS + k;
    }
    TdlClothSeam seam = {from, to, COLUMNS, 1.0e-6, 0.4};
    TdlClothHold hold = {.vertices = top, .count = COLUMNS};
    TdlClothDef def = tdl_cloth_def_default();
    def.mesh = (TdlClothMesh){v, 2 * HALF, faces, 2 * QUADS};
    def.seams = &seam;
    def.seam_count = 1;
    def.holds = &hold;
    def.hold_count = 1;
    def.damping = 0.6;
    TdlHost host = tdl_host_default();
    TdlWorldDef scene = tdl_world_def_default();
    TdlWorld* world;
    TdlBodyId id;
    scene.step = 0.01;
    REQUIRE(tdl_world_create(&host, &scene, &world) == TDL_STATUS_OK);
    REQUIRE(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    int crossings = 0;
    double strain = 0.0;
    for (int k = 0; k < 200; ++k) {
        TdlClothStrain own;
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        REQUIRE(tdl_cloth_strain(world, id, &own) == TDL_STATUS_OK);
        strain = fmax(strain, own.largest);
        crossings += count_crossings(world, &id, 1);
    }
    TdlVec3 x[2 * HALF], force, sum = {0};
    REQUIRE(tdl_cloth_state(world, id, x, NULL) == TDL_STATUS_OK);
    double apart = 0.0;
    for (int k = 0; k < COLUMNS; ++k) {
        REQUIRE(tdl_cloth_hold_force(world, id, top[k], &force) == TDL_STATUS_OK);
        sum = tdl_add3(sum, force);
        apart = fmax(apart, tdl_norm3(tdl_sub3(x[to[k]], x[from[k]])));
    }
    printf("  %.4f mm apart, strain %.2g, %d crossings, held by %.5f N\n", 1e3 * apart, strain,
           crossings, sum.z);
    CHECK_INT(crossings, 0);
    CHECK(strain < 1.0e-3);
    CHECK(apart < 1.6e-3);                                // 1.5 thicknesses of 1 mm
    CHECK_NEAR(sum.z, 0.15 * 0.08 * 9.81, 0.02 * 0.1177); // it still swings a little
    tdl_world_destroy(world);
}
