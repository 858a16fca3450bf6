// Points inside surfaces of triangles, against a box in closed form.
#include "detect/inside.h"

#include "base/rng.h"
#include "test.h"

#include <stdlib.h>

static const TdlVec3 HALF = {0.3, 0.2, 0.5};

static Surface* make_box(int triangle_count) {
    TdlVec3 vertices[8];
    int triangles[36];
    TdlMesh mesh = surface_box_mesh(HALF, vertices, triangles);
    mesh.triangle_count = triangle_count;
    TdlHost host = tdl_host_default();
    Surface* surface = NULL;
    if (surface_create(&host, &mesh, &(VertexMotion){0}, 0.0, &surface) != TDL_STATUS_OK) {
        abort();
    }
    return surface;
}

static void drop(Surface* surface) {
    TdlHost host = tdl_host_default();
    surface_destroy(&host, surface);
}

// Signed: negative inside.
static double box_distance(TdlVec3 p) {
    TdlVec3 d = {fabs(p.x) - HALF.x, fabs(p.y) - HALF.y, fabs(p.z) - HALF.z};
    TdlVec3 out = {fmax(d.x, 0.0), fmax(d.y, 0.0), fmax(d.z, 0.0)};
    return tdl_norm3(out) + fmin(fmax(d.x, fmax(d.y, d.z)), 0.0);
}

TEST(points_in_a_box) {
    Surface* box = make_box(12);
    Rng rng = rng_seed(7);
    int inside = 0;
    for (int i = 0; i < 20000; ++i) {
        TdlVec3 p = {rng_range(&rng, -0.6, 0.6), rng_range(&rng, -0.6, 0.6),
                     rng_range(&rng, -0.6, 0.6)};
        double exact = box_distance(p);
        if (fabs(exact) > 1.0e-9) {
            CHECK(surface_encloses(box, p) == (exact < 0.0));
            inside += exact < 0.0;
        }
        if (i < 500) {
            CHECK_NEAR(surface_distance(box, p), fabs(exact), 2.0e-6 * fabs(exact) + 1.0e-12);
        }
    }
    CHECK(inside > 1000);
    // on the lines that a mesh is made of: the middle, and behind edges and diagonals
    CHECK(surface_encloses(box, (TdlVec3){0}));
    CHECK(!surface_encloses(box, (TdlVec3){-0.4, 0.2, 0.0}));
    CHECK(!surface_encloses(box, (TdlVec3){-0.4, 0.0, 0.0}));
    drop(box);
}

// Turned inside out it is a room, in which things are free.
TEST(a_room_encloses_nothing) {
    TdlVec3 vertices[8];
    int triangles[36];
    TdlMesh mesh = surface_box_mesh(HALF, vertices, triangles);
    for (int i = 0; i < 12; ++i) {
        int swap = triangles[3 * i];
        triangles[3 * i] = triangles[3 * i + 1];
        triangles[3 * i + 1] = swap;
    }
    TdlHost host = tdl_host_default();
    Surface* room = NULL;
    REQUIRE(surface_create(&host, &mesh, &(VertexMotion){0}, 0.0, &room) == TDL_STATUS_OK);
    CHECK(room->closed);
    Rng rng = rng_seed(3);
    for (int i = 0; i < 1000; ++i) {
        TdlVec3 p = {rng_range(&rng, -0.6, 0.6), rng_range(&rng, -0.6, 0.6),
                     rng_range(&rng, -0.6, 0.6)};
        CHECK(!surface_encloses(room, p));
    }
    drop(room);
}

TEST(an_open_surface_encloses_nothing) {
    Surface* lid = make_box(10);
    CHECK(!lid->closed);
    CHECK(!surface_encloses(lid, (TdlVec3){0}));
    drop(lid);
}

TEST(segments_through_a_box) {
    Surface* box = make_box(12);
    TdlVec3 where;
    CHECK(surface_pierced(box, (TdlVec3){-1.0, 0.01, 0.02}, (TdlVec3){1.0, 0.01, 0.02}, &where) >=
          0);
    CHECK_NEAR3(where, ((TdlVec3){-0.3, 0.01, 0.02}), 1.0e-15);
    CHECK_INT(surface_pierced(box, (TdlVec3){-1.0, 0.21, 0.0}, (TdlVec3){1.0, 0.21, 0.0}, &where),
              -1);
    CHECK_INT(surface_pierced(box, (TdlVec3){-0.2, 0.0, 0.0}, (TdlVec3){0.2, 0.1, 0.3}, &where),
              -1);
    CHECK(surface_pierced(box, (TdlVec3){0.0, 0.0, 0.0}, (TdlVec3){0.0, 0.05, 0.6}, &where) >= 0);
    CHECK_NEAR(where.z, 0.5, 1.0e-15);
    drop(box);
}
