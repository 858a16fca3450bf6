// Sheets that go through surfaces and themselves in a step, against asking collision detection
// about every pair of features.
#include "detect/sheet_sweep.h"

#include "math/rotation.h"
#define RANDOM_SEED 11
#include "ref/random_vectors.h"
#include "test.h"
#include "things.h"

static const double RADIUS = 1.0e-3; // m

static SurfaceBody make_sheet(int cells, int body) {
    TdlHost host = tdl_host_default();
    TdlMesh mesh = make_grid(cells, 0.1);
    VertexMotion start = {(TdlVec3*)(uintptr_t)mesh.vertices, 1, mesh.vertex_count, 0.0, 1.0};
    Surface* surface;
    CHECK(surface_create(&host, &mesh, &start, RADIUS, &surface) == TDL_STATUS_OK);
    free_mesh(mesh);
    SurfaceBody out = {.surface = surface, .body = body, .self = true};
    out.pose = out.before = (TdlPose){{0.0, 0.0, 0.0}, tdl_identity33()};
    return out;
}

// To a height with rough vertices, then on by a way and some.
static void throw(SurfaceBody * body, double height, TdlVec3 way, double rough) {
    Surface* s = (Surface*)(uintptr_t)body->surface;
    TdlVec3 at[64];
    for (int turn = 0; turn < 2; ++turn) {
        for (int v = 0; v < s->vertex_count; ++v) {
            TdlVec3 from = turn == 0 ? tdl_add3(s->rest[v], (TdlVec3){0.0, 0.0, height})
                                     : tdl_add3(s->vertex[v], way);
            at[s->from[v]] = tdl_add3(from, random_vector(rough));
        }
        CHECK_INT(surface_put(s, at), -1);
    }
    surface_body_measure(body);
}

static bool query_meets(TdlCcdQuery q, int first) {
    double radii = 2.0 * RADIUS, travel = 0.0;
    double lo[2][3], hi[2][3];
    for (int k = 0; k < 4; ++k) {
        TdlVec3 w = tdl_sub3(q.end[k], q.start[k]);
        const double way[3] = {w.x, w.y, w.z};
        for (int c = 0; c < 3; ++c) {
            int side = k >= first;
            bool fresh = k == 0 || k == first;
            lo[side][c] = fresh ? way[c] : fmin(lo[side][c], way[c]);
            hi[side][c] = fresh ? way[c] : fmax(hi[side][c], way[c]);
        }
    }
    for (int c = 0; c < 3; ++c) {
        double most = fmax(hi[0][c] - lo[1][c], hi[1][c] - lo[0][c]);
        travel += most * most;
    }
    TdlCcdOptions options = tdl_ccd_options_default();
    TdlCcdResult result;
    options.norm = TDL_CCD_NORM_EUCLID;
    options.tolerance = 0.02 * RADIUS;
    options.min_separation = 0.4 * radii;
    CHECK(tdl_ccd_query(&q, &options, &result) == TDL_STATUS_OK);
    return sqrt(travel) >= 0.25 * radii && result.collision && result.time > 0.0;
}

static void set(TdlCcdQuery* q, int place, const Surface* s, int vertex) {
    q->start[place] = s->before[vertex];
    q->end[place] = s->vertex[vertex];
}

static bool corners_meet(const Surface* a, const Surface* b) {
    for (int i = 0; i < a->vertex_count * b->triangle_count; ++i) {
        int v = i % a->vertex_count;
        const int* c = b->corner + 3 * (i / a->vertex_count);
        TdlCcdQuery q = {.kind = TDL_CCD_VERTEX_FACE};
        set(&q, 0, a, v);
        for (int k = 0; k < 3; ++k) {
            set(&q, 1 + k, b, c[k]);
        }
        if (!(a == b && (c[0] == v || c[1] == v || c[2] == v)) && query_meets(q, 1)) {
            return true;
        }
    }
    return false;
}

static bool edges_meet(const Surface* a, const Surface* b) {
    for (int i = 0; i < a->edge_count * b->edge_count; ++i) {
        const int *x = a->edge[i % a->edge_count].vertex, *y = b->edge[i / a->edge_count].vertex;
        TdlCcdQuery q = {.kind = TDL_CCD_EDGE_EDGE};
        for (int k = 0; k < 2; ++k) {
            set(&q, k, a, x[k]);
            set(&q, 2 + k, b, y[k]);
        }
        bool shared = x[0] == y[0] || x[0] == y[1] || x[1] == y[0] || x[1] == y[1];
        if (!(a == b && shared) && query_meets(q, 2)) {
            return true;
        }
    }
    return false;
}

static bool sweep_meets(const SurfaceBody* a, const SurfaceBody* b) {
    Moved moved = {0};
    bool met = false;
    for (int f = 0; f < a->surface->triangle_count; ++f) {
        met = sheet_sweep(&moved, a, f, b) >= 0 || met;
    }
    return met;
}

TEST(two_sheets_on_their_ways) {
    int met = 0, apart = 0;
    for (int i = 0; i < 300; ++i) {
        SurfaceBody a = make_sheet(2, 0), b = make_sheet(3, 1);
        TdlVec3 way = random_vector(0.03);
        throw(&a, 0.0, way, 0.003);
        throw(&b, random_between(0.006, 0.025), tdl_add3(way, random_vector(0.02)), 0.003);
        const Surface *s = a.surface, *o = b.surface;
        bool truth = corners_meet(s, o) || corners_meet(o, s) || edges_meet(s, o);
        CHECK_INT(sweep_meets(&a, &b), truth);
        ++*(truth ? &met : &apart);
        TdlHost host = tdl_host_default();
        surface_destroy(&host, (Surface*)(uintptr_t)a.surface);
        surface_destroy(&host, (Surface*)(uintptr_t)b.surface);
    }
    printf("  %d met, %d did not\n", met, apart);
    CHECK(met > 50 && apart > 50);
}

// Rough enough that some triangles pass through others.
TEST(a_sheet_on_its_way_through_itself) {
    int met = 0, apart = 0;
    for (int i = 0; i < 200; ++i) {
        SurfaceBody a = make_sheet(3, 0);
        throw(&a, 0.0, random_vector(0.1), random_between(0.002, 0.02));
        bool truth = corners_meet(a.surface, a.surface) || edges_meet(a.surface, a.surface);
        CHECK_INT(sweep_meets(&a, &a), truth);
        ++*(truth ? &met : &apart);
        TdlHost host = tdl_host_default();
        surface_destroy(&host, (Surface*)(uintptr_t)a.surface);
    }
    printf("  %d met, %d did not\n", met, apart);
    CHECK(met > 20 && apart > 20);
}
