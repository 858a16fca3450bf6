// Curves against the corners and edges of a sheet: against asking every one of them.
#include "detect/sheet_curve.h"

#include "test.h"
#include "things.h"

static const double RADIUS = 1.0e-3, TUBE = 0.01, MARGIN = 2.0e-3; // m

// A sheet bent about the first axis, round a tube.
static Surface* make_sheet(int cells, double tube) {
    TdlHost host = tdl_host_default();
    TdlMesh mesh = make_grid(cells, 0.03);
    TdlVec3* v = (TdlVec3*)(uintptr_t)mesh.vertices;
    for (int i = 0; i < mesh.vertex_count; ++i) {
        double angle = v[i].y / tube;
        v[i] = (TdlVec3){v[i].x + 1.0e-4 * (i % 3), tube * sin(angle), tube * cos(angle)};
    }
    VertexMotion start = {v, 1, mesh.vertex_count, 0.0, 1.0};
    Surface* surface;
    CHECK(surface_create(&host, &mesh, &start, RADIUS, &surface) == TDL_STATUS_OK);
    free_mesh(mesh);
    return surface;
}

// The inside of the bend has no place that is nearest for its neighbourhood but where the curve
// ends: the corners and edges have.
TEST(a_tube_in_a_hollow_is_met_by_every_edge_across) {
    TdlHost host = tdl_host_default();
    Surface* s = make_sheet(5, TUBE + 1.5e-3);
    TdlCurve curve;
    TdlPose start = {{-0.05, 0.0, -4.0e-5}, tdl_identity33()};
    REQUIRE(tdl_curve_helix(&host, start, (TdlVec3){0.0, 0.1, 0.0}, 0.1, &curve) == TDL_STATUS_OK);
    curve.radius[0] = curve.radius[1] = TUBE;
    SurfaceAim aim = {.margin = MARGIN, .tolerance = 1.0e-12, .seat = -1.0};
    enum { MOST = 256 };
    static SurfaceTouch touch[MOST];
    bool certified = true;
    int count = sheet_touches(&host, s, &curve, &aim, MOST, 0, touch, &certified);
    CHECK(certified);
    // every corner and edge in turn, without the tree
    int corners = 0, edges = 0;
    double sum = 0.0, found = 0.0;
    for (int i = 0; i < s->vertex_count + s->edge_count; ++i) {
        const int* e = s->edge[i < s->vertex_count ? 0 : i - s->vertex_count].vertex;
        bool corner = i < s->vertex_count;
        TdlVec3 a = s->vertex[corner ? i : e[0]], b = s->vertex[corner ? i : e[1]];
        TdlCurve line;
        TdlDistance d;
        TdlDistanceDef def = tdl_distance_def_default();
        CHECK(tdl_curve_segment(&host, a, b, &line) == TDL_STATUS_OK);
        line.radius[0] = line.radius[1] = RADIUS;
        def.method = TDL_DISTANCE_PLAIN;
        CHECK(tdl_curve_distance(&host, &curve, NULL, &line, NULL, &def, &d) == TDL_STATUS_OK);
        bool inside = corner || (d.s[1] > 1.0e-7 * line.end && d.s[1] < (1.0 - 1.0e-7) * line.end);
        if (d.gap < MARGIN && inside) {
            corners += corner;
            edges += !corner;
            sum += d.gap;
        }
    }
    for (int i = 0; i < count; ++i) {
        found += touch[i].gap;
        CHECK_NEAR3(tdl_axpy3(touch[i].at, touch[i].gap + TUBE + RADIUS, touch[i].normal),
                    touch[i].foot, 1.0e-12);
    }
    printf("  %d corners, %d edges\n", corners, edges);
    CHECK_INT(count, corners + edges);
    CHECK_NEAR(found, sum, 1.0e-9 * count);
    CHECK(corners > 20 && edges > 20);
    // where the curve has no end nothing else is found
    SurfaceTouch other[MOST];
    int before = surface_touches(&host, s, &curve, &aim, MOST, other, &certified);
    CHECK(before < edges);
    surface_destroy(&host, s);
}
