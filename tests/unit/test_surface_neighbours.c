// Which vertices of a sheet are near along it, against shortest ways among all vertices.
#include "body/surface_neighbours.h"

#include "test.h"
#include "things.h"

enum { CELLS = 5, COUNT = (CELLS + 1) * (CELLS + 1) };

static Surface* make(TdlMesh mesh, double radius) {
    TdlHost host = tdl_host_default();
    VertexMotion start = {(TdlVec3*)(uintptr_t)mesh.vertices, 1, mesh.vertex_count, 0.0, 1.0};
    Surface* surface;
    CHECK(surface_create(&host, &mesh, &start, radius, &surface) == TDL_STATUS_OK);
    return surface;
}

// Lengths of the shortest ways along edges by trying every vertex between.
static void all_ways(const Surface* s, double way[COUNT][COUNT]) {
    for (int i = 0; i < COUNT * COUNT; ++i) {
        way[i / COUNT][i % COUNT] = i / COUNT == i % COUNT ? 0.0 : INFINITY;
    }
    for (int e = 0; e < s->edge_count; ++e) {
        int a = s->edge[e].vertex[0], b = s->edge[e].vertex[1];
        way[a][b] = way[b][a] = tdl_norm3(tdl_sub3(s->vertex[a], s->vertex[b]));
    }
    for (int k = 0; k < COUNT; ++k) {
        for (int i = 0; i < COUNT * COUNT; ++i) {
            double by = way[i / COUNT][k] + way[k][i % COUNT];
            way[i / COUNT][i % COUNT] = fmin(way[i / COUNT][i % COUNT], by);
        }
    }
}

TEST(neighbours_are_those_of_short_ways) {
    const double radius[3] = {1.0e-3, 6.0e-3, 13.0e-3};
    for (int r = 0; r < 3; ++r) {
        TdlMesh mesh = make_grid(CELLS, 0.1); // edges of 20 mm
        TdlVec3* v = (TdlVec3*)(uintptr_t)mesh.vertices;
        for (int i = 0; i < COUNT; ++i) { // folded at first: that does not matter
            v[i].x = fabs(v[i].x + 0.01);
            v[i].z = 1.0e-4 * i;
        }
        Surface* s = make(mesh, radius[r]);
        static double way[COUNT][COUNT];
        all_ways(s, way);
        int near = 0;
        for (int i = 0; i < COUNT * COUNT; ++i) {
            bool is = surface_are_neighbours(s, i / COUNT, i % COUNT);
            CHECK(is == (way[i / COUNT][i % COUNT] < 4.0 * radius[r]));
            near += is;
        }
        printf("  %d pairs at a radius of %g mm\n", near, 1.0e3 * radius[r]);
        CHECK(r > 0 ? near > COUNT : near == COUNT);
        TdlHost host = tdl_host_default();
        surface_destroy(&host, s);
        free_mesh(mesh);
    }
}

// One that deforms by itself has no inside, however it is joined.
TEST(a_sheet_is_never_closed) {
    TdlHost host = tdl_host_default();
    TdlVec3 vertices[8];
    int triangles[36];
    TdlMesh mesh = surface_box_mesh((TdlVec3){1.0, 1.0, 1.0}, vertices, triangles);
    Surface* sheet = make(mesh, 0.01);
    Surface* box;
    CHECK(surface_create(&host, &mesh, &(VertexMotion){0}, 0.01, &box) == TDL_STATUS_OK);
    CHECK(box->closed && !sheet->closed);
    surface_destroy(&host, box);
    surface_destroy(&host, sheet);
}
