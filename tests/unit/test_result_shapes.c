// What pictures show of a world: shapes where detection has them, surfaces and cloths in one order.
#include "result/result.h"

#include "look.h"
#include "tendril/cloth.h"
#include "test.h"

// A ball let fall on either end of a capsule stops there, and the drawn shape reaches as far.
TEST(a_capsule_is_drawn_where_it_is_touched) {
    TdlColliderDef def = tdl_collider_def_default();
    def.shape = TDL_SHAPE_CAPSULE;
    def.radius = 0.02;
    def.length = 0.5;
    def.pose.position = (TdlVec3){1.0, 2.0, 3.0};
    TdlResultShape shape;
    REQUIRE(result_collider_shapes(&def, 4, &shape) == 1);
    CHECK_INT(shape.body, 4);
    CHECK(shape.size[0] == 0.02 && shape.size[1] == 0.5);
    CHECK_NEAR3(shape.pose.position, ((TdlVec3){0.25, 0.0, 0.0}), 0.0);
    for (int end = 0; end < 2; ++end) {
        TdlHost host = tdl_host_default();
        TdlWorldDef world_def = tdl_world_def_default();
        TdlWorld* world;
        TdlBodyId id;
        REQUIRE(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
        REQUIRE(tdl_world_add_collider(world, &def, &id) == TDL_STATUS_OK);
        TdlRigidDef ball = tdl_rigid_def_default();
        ball.radius = 0.01;
        double half = end == 0 ? -0.24 : 0.24; // from the shape's middle, within its length
        ball.pose.position = (TdlVec3){1.0 + shape.pose.position.x + half, 2.0, 3.031};
        REQUIRE(tdl_world_add_rigid(world, &ball, &id) == TDL_STATUS_OK);
        for (int i = 0; i < 50; ++i) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        }
        TdlPose pose;
        REQUIRE(tdl_rigid_pose(world, id, &pose) == TDL_STATUS_OK);
        CHECK_NEAR(pose.position.z, 3.03, 1.0e-4); // it would have fallen by 12 mm
        tdl_world_destroy(world);
    }
}

static TdlStatus add_sheet(TdlWorld* world, int columns, double height) {
    TdlVec3 vertices[20];
    int faces[48];
    TdlClothDef def = tdl_cloth_def_default();
    def.mesh = tdl_cloth_rectangle(0.3, 0.2, columns, 3, vertices, faces);
    for (int i = 0; i < def.mesh.vertex_count; ++i) {
        vertices[i].z = height;
    }
    def.thickness = 0.002 * columns;
    TdlBodyId id;
    return tdl_world_add_cloth(world, &def, &id);
}

// A mesh whose vertices move comes first, then the cloths in their order.
TEST(surfaces_and_cloths_of_a_world) {
    static const TdlVec3 corners[6] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, // at first
                                       {0, 0, 1}, {1, 0, 1}, {0, 1, 1}};
    static const int triangle[3] = {0, 1, 2};
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world;
    REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    REQUIRE(add_sheet(world, 3, 5.0) == TDL_STATUS_OK);
    TdlColliderDef collider = tdl_collider_def_default();
    collider.shape = TDL_SHAPE_MESH;
    collider.radius = 0.01;
    collider.mesh = (TdlMesh){corners, 3, triangle, 1};
    collider.vertex_motion = (TdlVertexMotion){corners, 2, 0.0, 1.0};
    collider.pose.position = (TdlVec3){10, 0, 0};
    TdlBodyId id;
    REQUIRE(tdl_world_add_collider(world, &collider, &id) == TDL_STATUS_OK);
    REQUIRE(add_sheet(world, 4, 7.0) == TDL_STATUS_OK);

    TdlResultSurface surface[3];
    TdlResultCloth cloth[2];
    REQUIRE(tdl_world_surfaces(world, NULL) == 3 && tdl_world_cloths(world, NULL) == 2);
    CHECK_INT(tdl_world_surfaces(world, surface), 3);
    CHECK_INT(tdl_world_cloths(world, cloth), 2);
    CHECK(surface[0].body == 0 && surface[1].body == -1 && surface[2].body == -1);
    CHECK(surface[0].first_point == 0 && surface[1].first_point == 3);
    CHECK(surface[2].first_point == 12 && surface[2].point_count == 12);
    CHECK(surface[1].triangle_count == 8 && surface[2].triangle_count == 12);
    CHECK_NEAR(surface[1].radius, 0.003, 1e-18);
    for (int i = 0; i < 2; ++i) {
        CHECK(cloth[i].surface == i + 1 && cloth[i].holds == NULL);
        CHECK(cloth[i].first_point == 9 * i && cloth[i].point_count == surface[i + 1].point_count);
        CHECK_INT(cloth[i].face_count, 4 + 2 * i);
        CHECK_NEAR(cloth[i].mass, 0.15 * 0.06, 1e-15);
    }
    TdlVec3 points[24];
    double strains[21];
    tdl_world_surface_points(world, points);
    tdl_world_strains(world, strains);
    CHECK_NEAR3(points[1], ((TdlVec3){11, 0, 0}), 1e-15);
    CHECK(points[3].z == 5.0 && points[11].z == 5.0 && points[12].z == 7.0 && points[23].z == 7.0);
    for (int i = 0; i < 21; ++i) {
        CHECK_NEAR(strains[i], 0.0, 1e-12); // lengths of decimal places
    }
    tdl_world_destroy(world);
}
