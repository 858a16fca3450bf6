// Sheets that hang, in a world.
#include "tendril/cloth.h"
#include "tendril/world.h"
#include "test.h"

static TdlVec3 vertices[41 * 41];
static int faces[4 * 41 * 41];

typedef struct Hung {
    double strain, centre, area; // the largest; m below the corners; the last change
    int split, forced;
} Hung;

static TdlWorld* make_world(double step) {
    TdlWorldDef def = tdl_world_def_default();
    TdlHost host = tdl_host_default();
    TdlWorld* world = NULL;
    def.step = step;
    CHECK(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    return world;
}

// By two corners of one side, brought to `apart` of the width in half a second; 0: by one.
static Hung hang(int columns, int rows, double width, double height, double apart, int steps) {
    TdlWorld* world = make_world(0.01);
    TdlClothDef def = tdl_cloth_def_default();
    TdlBodyId id;
    def.mesh = tdl_cloth_rectangle(width, height, columns, rows, vertices, faces);
    def.damping = 0.5;
    def.bending = 1.0e-3;
    int corner[2] = {0, columns - 1};
    TdlKeyframe keys[2][2] = {{{.time = 0.0}, {.time = 0.5}}, {{.time = 0.0}, {.time = 0.5}}};
    keys[0][1].position.x = 0.5 * (1.0 - apart) * width;
    keys[1][1].position.x = -0.5 * (1.0 - apart) * width;
    TdlClothHold hold[2] = {{.vertices = &corner[0],
                             .count = 1,
                             .motion = {.keys = keys[0], .key_count = 2, .interpolation = 0}},
                            {.vertices = &corner[1],
                             .count = 1,
                             .motion = {.keys = keys[1], .key_count = 2, .interpolation = 0}}};
    def.holds = hold;
    def.hold_count = apart > 0.0 ? 2 : 1;
    CHECK(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    Hung seen = {0};
    for (int i = 0; i < steps; ++i) {
        TdlStepInfo info;
        if (tdl_world_step(world, &info) != TDL_STATUS_OK) {
            FAIL("step %d: %s", i, info.reason);
            break;
        }
        TdlClothStrain strain;
        tdl_cloth_strain(world, id, &strain);
        seen.strain = fmax(seen.strain, strain.largest);
        seen.area = strain.area;
        seen.split += info.substeps > 1;
        seen.forced += info.forced;
    }
    TdlVec3 centre;
    double mass;
    CHECK(tdl_body_centre(world, id, &centre, &mass) == TDL_STATUS_OK);
    seen.centre = -centre.z;
    tdl_world_destroy(world);
    return seen;
}

// A sheet whose folds the mesh resolves hangs the same on any mesh.
TEST(a_sheet_hung_by_its_corners_is_the_same_on_finer_meshes) {
    const int size[4] = {5, 9, 17, 41};
    int count = getenv("TENDRIL_LONG") != NULL ? 4 : 3;
    Hung seen[4];
    for (int k = 0; k < count; ++k) {
        seen[k] = hang(size[k], size[k], 1.0, 1.0, 0.9, 300);
        printf("  %d nodes a side: centre %.4f m below, strain %.2g, area %+.2g, %d split\n",
               size[k], seen[k].centre, seen[k].strain, seen[k].area, seen[k].split);
        CHECK(seen[k].strain < 1.0e-3);
        CHECK_NEAR(seen[k].centre / seen[k > 0 ? k - 1 : 0].centre, 1.0, 0.01);
    }
}

// By two, which come together: it folds, and keeps its lengths all the same.
TEST(a_sheet_hung_by_two_corners_keeps_its_lengths) {
    Hung seen = hang(7, 9, 0.5, 0.7, 0.5, 200);
    printf("  strain %.2g, centre %.4f m below\n", seen.strain, seen.centre);
    CHECK(seen.strain < 1.0e-3);
    CHECK(seen.centre > 0.3);
}

// Flat, its corners at full width.
TEST(a_taut_start_is_no_trouble) {
    Hung seen = hang(12, 12, 0.5, 0.5, 1.0, 100);
    printf("  strain %.2g, %d split\n", seen.strain, seen.split);
    CHECK(seen.strain < 1.0e-3);
}

// Farther apart than it is wide: the hold gives way at a strain of one percent, which is told.
TEST(a_hold_that_cannot_be_met_gives_way) {
    Hung seen = hang(7, 7, 0.5, 0.5, 1.2, 150);
    printf("  strain %.4f, told in %d steps\n", seen.strain, seen.forced);
    CHECK(seen.strain > 0.009 && seen.strain < 0.033); // the way of a step is 0.023 of an edge
    CHECK(seen.forced > 50);
    CHECK_INT(hang(7, 7, 0.5, 0.5, 0.9, 150).forced, 0);
}
