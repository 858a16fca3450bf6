// Where bodies are kept clear of each other: lines cut by balls, contacts that do not enter, and
// what passes through there.
#include "body/clearance.h"

#include "body/body.h"
#include "things.h"

// A line against the slow answer: places along it, each inside or outside.
TEST(what_is_outside_of_balls_is_what_no_ball_covers) {
    const ClearBall ball[3] = {
        {{0.2, 0.05, 0.0}, 0.1}, {{0.7, 0.0, -0.02}, 0.15}, {{0.1, 0.5, 0.0}, 0.2}};
    const TdlVec3 line[4][2] = {{{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}},
                                {{0.2, 0.0, 0.0}, {0.7, 0.0, 0.0}},
                                {{0.2, 0.05, 0.0}, {0.21, 0.05, 0.0}},
                                {{0.0, 1.0, 0.0}, {1.0, 1.0, 0.0}}};
    const int expected[4] = {3, 1, 0, 1};
    for (int i = 0; i < 4; ++i) {
        double part[CLEAR_BALLS + 1][2];
        TdlVec3 a = line[i][0], b = line[i][1];
        int count = clearance_outside(ball, 3, a, b, part);
        CHECK_INT(count, expected[i]);
        for (int n = 0; n <= 1000; ++n) {
            double share = n / 1000.0;
            TdlVec3 p = tdl_axpy3(a, share, tdl_sub3(b, a));
            bool outside = true, told = false;
            for (int k = 0; k < 3; ++k) {
                outside = outside && tdl_norm3(tdl_sub3(p, ball[k].centre)) > ball[k].radius;
            }
            for (int k = 0; k < count; ++k) {
                told = told || (share > part[k][0] && share < part[k][1]);
            }
            bool edge = share == 0.0 || share == 1.0; // ends belong to their part
            CHECK(edge || outside == told);
        }
    }
}

// A place that a test puts somewhere.
static bool anchor(const void* owner, TdlVec3* out) {
    *out = *(const TdlVec3*)owner;
    return isfinite(out->x);
}

static Clearance between(const TdlWorld* world, const char* a, const char* b, const TdlVec3* where,
                         double length) {
    return (Clearance){.body = {world_find_body(world, tdl_world_body(world, a, 0), NULL),
                                world_find_body(world, tdl_world_body(world, b, 0), NULL)},
                       .length = length,
                       .anchor = anchor,
                       .owner = where};
}

static double height(const TdlWorld* world, const char* kind) {
    TdlVec3 centre;
    double mass;
    CHECK_INT(tdl_body_centre(world, tdl_world_body(world, kind, 0), &centre, &mass),
              TDL_STATUS_OK);
    return centre.z;
}

static void step(TdlWorld* world, int count) {
    for (int i = 0; i < count; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
}

// A ball rests, falls when the floor is kept clear, and is parted slowly when it no longer is.
TEST(a_ball_sinks_into_a_floor_that_is_kept_clear) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world;
    REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    add_sphere(world, 0.01, (TdlVec3){0.0, 0.0, 0.01}, (TdlVec3){0});
    add_floor(world);
    step(world, 20);
    CHECK_NEAR(height(world, "rigid"), 0.01, 1.0e-4);
    CHECK(kinds_touch(world, "rigid", "collider"));

    TdlVec3 where = {0.0, 0.0, 0.0};
    Clearance clear = between(world, "collider", "rigid", &where, 0.02);
    REQUIRE(world_keep_clear(world, &clear) == TDL_STATUS_OK);
    step(world, 20);
    CHECK(!kinds_touch(world, "rigid", "collider"));
    double fallen = 0.01 - 0.5 * 9.81 * 0.02 * 0.02;
    CHECK_NEAR(height(world, "rigid"), fallen, 1.0e-4); // 1 mm, and it began at rest to 1e-4

    world_end_clearances(world, &where);
    double before = height(world, "rigid"), fastest = 0.0;
    for (int i = 0; i < 200; ++i) {
        step(world, 1);
        double now = height(world, "rigid");
        fastest = fmax(fastest, fabs(now - before) / 1.0e-3);
        before = now;
    }
    CHECK_NEAR(before, 0.01, 1.0e-4);
    CHECK(fastest < 1.1); // a tenth of a radius a step: 1 m/s
    tdl_world_destroy(world);
}

TEST(an_anchor_elsewhere_changes_nothing) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    uint64_t hash[2];
    for (int turn = 0; turn < 2; ++turn) {
        TdlWorld* world;
        TdlVec3 where = {0.5, 0.0, 0.0};
        REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
        add_rod(world, 0.1, 1.0e-3, 5, (TdlVec3){0.0, 0.0, 5.0e-3}, (TdlVec3){0});
        add_floor(world);
        if (turn == 1) {
            Clearance clear = between(world, "rod", "collider", &where, 0.1);
            REQUIRE(world_keep_clear(world, &clear) == TDL_STATUS_OK);
        }
        step(world, 60);
        CHECK(kinds_touch(world, "rod", "collider"));
        hash[turn] = tdl_world_state_hash(world);
        tdl_world_destroy(world);
    }
    CHECK(hash[0] == hash[1]);
}

// A rod falls through a sheet of triangles where all of it is kept clear, and is stopped else.
static void fall_through(double length, double* z, bool* lies) {
    const TdlVec3 corner[4] = {
        {-0.2, -0.2, 0.0}, {0.2, -0.2, 0.0}, {0.2, 0.2, 0.0}, {-0.2, 0.2, 0.0}};
    const int triangle[6] = {0, 1, 2, 0, 2, 3};
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    TdlColliderDef mesh = tdl_collider_def_default();
    TdlBodyId id;
    TdlWorld* world;
    TdlVec3 where = {0};
    REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    add_rod(world, 0.1, 1.0e-3, 4, (TdlVec3){-0.05, 0.01, 0.01}, (TdlVec3){0});
    mesh.shape = TDL_SHAPE_MESH;
    mesh.radius = 1.0e-3;
    mesh.mesh = (TdlMesh){corner, 4, triangle, 2};
    REQUIRE(tdl_world_add_collider(world, &mesh, &id) == TDL_STATUS_OK);
    if (length > 0.0) {
        Clearance clear = between(world, "rod", "collider", &where, length);
        REQUIRE(world_keep_clear(world, &clear) == TDL_STATUS_OK);
    }
    step(world, 100);
    *lies = kinds_touch(world, "rod", "collider");
    *z = height(world, "rod");
    tdl_world_destroy(world);
}

TEST(what_is_kept_clear_passes_through_a_mesh) {
    bool lies;
    double z;
    fall_through(0.0, &z, &lies);
    CHECK_NEAR(z, 2.0e-3, 1.0e-4);
    CHECK(lies);
    fall_through(0.03, &z, &lies); // half of it is in the ball: the ends hold it
    CHECK(z > -1.0e-3);
    CHECK(lies);
    double fallen = 0.01 - 0.5 * 9.81 * 0.1 * 0.1;
    fall_through(1.0, &z, &lies);
    CHECK_NEAR(z, fallen, 1.0e-3); // first order in the step: 0.5 mm
    CHECK(!lies);
}
