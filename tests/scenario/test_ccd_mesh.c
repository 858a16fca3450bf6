// Collision detection of meshes and polylines: candidates and active sets against all pairs, and
// steps that let nothing through.
#include "base/rng.h"
#include "detect/ccd.h"
#include "test.h"

// A grid of (n + 1)^2 vertices in the plane z = height, its triangles and all its edges.
typedef struct Sheet {
    int vertex_count, edge_count, triangle_count;
    double x[3 * 1000], to[3 * 1000];
    int edges[2 * 3000], triangles[3 * 2000];
} Sheet;

static void sheet_add(Sheet* s, int n, double size, double height, bool faces) {
    int first = s->vertex_count;
    for (int i = 0; i <= n; ++i) {
        for (int j = 0; j <= n; ++j) {
            double* p = &s->x[3 * s->vertex_count++];
            p[0] = size * (2.0 * i / n - 1.0);
            p[1] = size * (2.0 * j / n - 1.0);
            p[2] = height;
        }
    }
    for (int i = 0; i <= n; ++i) {
        for (int j = 0; j <= n; ++j) {
            int a = first + i * (n + 1) + j, right = a + n + 1, up = a + 1;
            int pairs[3][2] = {{a, right}, {a, up}, {a, right + 1}};
            bool there[3] = {i < n, j < n, i < n && j < n};
            for (int k = 0; k < 3; ++k) {
                if (there[k]) {
                    s->edges[2 * s->edge_count] = pairs[k][0];
                    s->edges[2 * s->edge_count++ + 1] = pairs[k][1];
                }
            }
            if (i < n && j < n && faces) {
                int corners[6] = {a, right, right + 1, a, right + 1, up};
                memcpy(&s->triangles[3 * s->triangle_count], corners, sizeof corners);
                s->triangle_count += 2;
            }
        }
    }
}

static TdlCcdMesh mesh_of(const Sheet* s) {
    return (TdlCcdMesh){s->vertex_count, s->edge_count, s->triangle_count, s->x,
                        s->to,           s->edges,      s->triangles};
}

static Sheet sheet; // too large for the stack of a test

// Two sheets of cloth that fall through each other and crumple.
static void crumple(uint64_t seed, double fall) {
    memset(&sheet, 0, sizeof sheet);
    sheet_add(&sheet, 5, 1.0, 0.0, true);
    sheet_add(&sheet, 5, 0.9, 0.3, true);
    Rng rng = rng_seed(seed);
    for (int i = 0; i < 3 * sheet.vertex_count; ++i) {
        sheet.x[i] += 0.05 * rng_normal(&rng);
        sheet.to[i] = sheet.x[i] + 0.05 * rng_normal(&rng);
        if (i % 3 == 2 && i >= 3 * 36) {
            sheet.to[i] -= fall;
        }
    }
}

static bool shares(const int* a, int n, const int* b, int m) {
    for (int i = 0; i < n * m; ++i) {
        if (a[i / m] == b[i % m]) {
            return true;
        }
    }
    return false;
}

TEST(active_set_holds_every_true_collision) {
    TdlHost host = tdl_host_default();
    TdlCcdOptions o = tdl_ccd_options_default(), exact = o;
    exact.method = TDL_CCD_EXACT;
    for (uint64_t seed = 1; seed <= 2; ++seed) {
        crumple(seed, 0.5);
        TdlCcdMesh mesh = mesh_of(&sheet);
        TdlCcdSet set;
        REQUIRE(tdl_ccd_active_set(&host, &mesh, &o, 2, &set) == TDL_STATUS_OK);
        // all pairs, by the exact test
        int truth = 0, found = 0, at = 0;
        for (int kind = 0; kind < 2; ++kind) {
            int na = kind == 0 ? mesh.vertex_count : mesh.edge_count;
            int nb = kind == 0 ? mesh.triangle_count : mesh.edge_count;
            for (int a = 0; a < na; ++a) {
                for (int b = kind == 0 ? 0 : a + 1; b < nb; ++b) {
                    bool skip = kind == 0 ? shares(&a, 1, &mesh.triangles[3 * b], 3)
                                          : shares(&mesh.edges[2 * a], 2, &mesh.edges[2 * b], 2);
                    TdlCcdPair pair = {(TdlCcdKind)kind, a, b};
                    TdlCcdQuery q = tdl_ccd_mesh_query(&mesh, pair);
                    if (skip || ccd_swept_apart(&q, 0.0)) {
                        continue;
                    }
                    TdlCcdResult r;
                    tdl_ccd_query(&q, &exact, &r);
                    truth += r.collision;
                    // the set is sorted as these loops run
                    while (at < set.count &&
                           ((int)set.contacts[at].pair.kind < kind ||
                            ((int)set.contacts[at].pair.kind == kind &&
                             (set.contacts[at].pair.a < a ||
                              (set.contacts[at].pair.a == a && set.contacts[at].pair.b < b))))) {
                        ++at;
                    }
                    bool in = at < set.count && (int)set.contacts[at].pair.kind == kind &&
                              set.contacts[at].pair.a == a && set.contacts[at].pair.b == b;
                    found += r.collision && in && set.contacts[at].result.time <= r.time;
                }
            }
        }
        CHECK(truth > 50);
        CHECK_INT(found, truth);
        CHECK(set.count <= truth + 2); // hardly any false alarm
        tdl_ccd_set_free(&set);
    }
}

TEST(candidates_need_overlap_within_the_margin) {
    memset(&sheet, 0, sizeof sheet);
    sheet_add(&sheet, 2, 1.0, 0.0, true);
    sheet_add(&sheet, 2, 1.0, 0.1, true);
    memcpy(sheet.to, sheet.x, sizeof sheet.x);
    TdlHost host = tdl_host_default();
    TdlCcdMesh mesh = mesh_of(&sheet);
    TdlCcdSet near, far;
    REQUIRE(tdl_ccd_candidates(&host, &mesh, 0.0999, &far) == TDL_STATUS_OK);
    REQUIRE(tdl_ccd_candidates(&host, &mesh, 0.1, &near) == TDL_STATUS_OK);
    for (int i = 0; i < far.count; ++i) { // only pairs within one sheet
        TdlCcdPair p = far.contacts[i].pair;
        int a = p.kind == TDL_CCD_VERTEX_FACE ? p.a : mesh.edges[2 * p.a];
        int b = p.kind == TDL_CCD_VERTEX_FACE ? mesh.triangles[3 * p.b] : mesh.edges[2 * p.b];
        CHECK((a < 9) == (b < 9));
    }
    CHECK(near.count > far.count);
    tdl_ccd_set_free(&near);
    tdl_ccd_set_free(&far);
}

TEST(bad_meshes_are_refused) {
    TdlHost host = tdl_host_default();
    TdlCcdOptions o = tdl_ccd_options_default();
    double x[12] = {0}, to[12] = {0};
    int edges[4] = {0, 1, 2, 4}, triangles[3] = {0, 1, -1};
    TdlCcdSet set;
    TdlCcdStep step;
    TdlCcdMesh mesh = {4, 2, 0, x, to, edges, triangles};
    CHECK_INT(tdl_ccd_candidates(&host, &mesh, 0.0, &set), TDL_STATUS_BAD_ARGUMENT);
    edges[3] = 3;
    CHECK_INT(tdl_ccd_candidates(&host, &mesh, 0.0, &set), TDL_STATUS_OK);
    tdl_ccd_set_free(&set);
    CHECK_INT(tdl_ccd_candidates(&host, &mesh, NAN, &set), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_ccd_candidates(&host, &mesh, -1.0, &set), TDL_STATUS_BAD_ARGUMENT);
    mesh.triangle_count = 1;
    CHECK_INT(tdl_ccd_candidates(&host, &mesh, 0.0, &set), TDL_STATUS_BAD_ARGUMENT);
    mesh.triangle_count = 0;
    to[7] = NAN;
    CHECK_INT(tdl_ccd_active_set(&host, &mesh, &o, 1, &set), TDL_STATUS_BAD_ARGUMENT);
    to[7] = 0.0;
    CHECK_INT(tdl_ccd_max_step(&host, &mesh, 1.0, &o, 1, &step), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_ccd_max_step(&host, &mesh, 0.0, &o, 1, &step), TDL_STATUS_BAD_ARGUMENT);
    o.tolerance = -1.0;
    CHECK_INT(tdl_ccd_max_step(&host, &mesh, 0.5, &o, 1, &step), TDL_STATUS_BAD_ARGUMENT);
    // an empty mesh is free to move
    o = tdl_ccd_options_default();
    TdlCcdMesh empty = {0};
    CHECK_INT(tdl_ccd_max_step(&host, &empty, 0.5, &o, 1, &step), TDL_STATUS_OK);
    CHECK(step.step == 1.0 && step.first == -1);
}

// --- a rod whipped at a plate
// ---------------------------------------------------------------------

enum { ROD = 24, PLATE = 6 };

// Where the whip wants the rod at time t: clamped above the plate, its tip going down through it.
static void whip(double t, int i, double* p) {
    double s = (double)i / ROD, angle = 1.2 - 2.6 * t * s;
    p[0] = -0.9 + 1.8 * s * cos(0.4 * sin(3.0 * t));
    p[1] = 0.05 + 0.3 * s * sin(5.0 * t);
    p[2] = 0.5 + 1.8 * s * sin(angle) - 1.2 * t;
}

// Triple product sign changes count how often a segment passes an edge of the plate; the plate is
// flat and still, so the rod is through it when a vertex over the plate is below.
static int vertices_below(const double* x) {
    int below = 0;
    for (int i = 0; i <= ROD; ++i) {
        const double* p = &x[3 * i];
        below += p[2] <= 0.0 && fabs(p[0]) < 1.0 && fabs(p[1]) < 1.0;
    }
    return below;
}

static void build_whip(void) {
    memset(&sheet, 0, sizeof sheet);
    for (int i = 0; i <= ROD; ++i) {
        whip(0.0, i, &sheet.x[3 * i]);
        if (i < ROD) {
            sheet.edges[2 * i] = i;
            sheet.edges[2 * i + 1] = i + 1;
        }
    }
    sheet.vertex_count = ROD + 1;
    sheet.edge_count = ROD;
    sheet_add(&sheet, PLATE, 1.0, 0.0, true);
}

TEST(a_rod_whipped_at_a_plate_does_not_pass) {
    build_whip();
    TdlHost host = tdl_host_default();
    TdlCcdOptions o = tdl_ccd_options_default();
    // without detection it would go through
    double free_rod[3 * (ROD + 1)];
    for (int i = 0; i <= ROD; ++i) {
        whip(1.0, i, &free_rod[3 * i]);
    }
    CHECK(vertices_below(free_rod) > 0);

    int stopped = 0;
    double nearest = INFINITY;
    for (int step = 1; step <= 60; ++step) {
        memcpy(sheet.to, sheet.x, sizeof sheet.x);
        for (int i = 0; i <= ROD; ++i) {
            whip(step / 60.0, i, &sheet.to[3 * i]);
        }
        TdlCcdMesh mesh = mesh_of(&sheet);
        TdlCcdStep info;
        REQUIRE(tdl_ccd_max_step(&host, &mesh, 0.9, &o, 2, &info) == TDL_STATUS_OK);
        CHECK(info.step > 0.0); // a sequence of valid steps never ends
        stopped += info.step < 1.0;
        for (int i = 0; i < 3 * (ROD + 1); ++i) {
            sheet.x[i] += info.step * (sheet.to[i] - sheet.x[i]);
        }
        nearest = fmin(nearest, info.distance);
        CHECK_INT(vertices_below(sheet.x), 0);
        // no pair touches in the configuration reached: the exact test at rest
        memcpy(sheet.to, sheet.x, sizeof sheet.x);
        TdlCcdSet set;
        TdlCcdOptions exact = o;
        exact.method = TDL_CCD_EXACT;
        REQUIRE(tdl_ccd_active_set(&host, &mesh, &exact, 1, &set) == TDL_STATUS_OK);
        int across = 0; // pairs of the rod with the plate; the flat plate meets itself everywhere
        for (int i = 0; i < set.count; ++i) {
            TdlCcdPair p = set.contacts[i].pair;
            across += p.kind == TDL_CCD_VERTEX_FACE ? p.a <= ROD : p.a < ROD && p.b >= ROD;
        }
        CHECK_INT(across, 0);
        tdl_ccd_set_free(&set);
    }
    CHECK(stopped > 10);
    printf("  held back in %d of 60 steps, nearest %.3g m\n", stopped, nearest);
}

TEST(steps_do_not_depend_on_threads) {
    crumple(3, 0.2);
    TdlHost host = tdl_host_default();
    TdlCcdOptions o = tdl_ccd_options_default();
    TdlCcdMesh mesh = mesh_of(&sheet);
    TdlCcdStep one, three;
    REQUIRE(tdl_ccd_max_step(&host, &mesh, 0.3, &o, 1, &one) == TDL_STATUS_OK);
    REQUIRE(tdl_ccd_max_step(&host, &mesh, 0.3, &o, 3, &three) == TDL_STATUS_OK);
    CHECK(one.step == three.step && one.first == three.first && one.distance == three.distance &&
          one.tolerance == three.tolerance && one.keep == three.keep);
}

// Towards contact in a straight line: the steps grow smaller, never zero, and tend to it.
TEST(valid_steps_approach_contact) {
    double x[18] = {0, 0, 1, -1, -1, 0, 2, -1, 0, -1, 2, 0}, goal[18];
    int triangles[3] = {1, 2, 3};
    memcpy(goal, x, sizeof goal);
    goal[2] = -1.0;
    TdlHost host = tdl_host_default();
    TdlCcdOptions o = tdl_ccd_options_default();
    TdlCcdMesh mesh = {4, 0, 1, x, goal, NULL, triangles};
    for (int i = 0; i < 60; ++i) {
        TdlCcdStep info;
        REQUIRE(tdl_ccd_max_step(&host, &mesh, 0.5, &o, 1, &info) == TDL_STATUS_OK);
        double before = x[2];
        x[2] += info.step * (goal[2] - x[2]);
        // progress down to where times are no longer told apart; never through, even then
        CHECK(x[2] > 0.0 && (x[2] < before || before < 1.0e-10));
        // keeps at least its share, or the tolerance
        CHECK(x[2] >= fmin(0.5 * before, o.tolerance) * (1.0 - 1.0e-9));
    }
    CHECK_BELOW(x[2], 1.0e-10);
}

static double height(void* user, const double* x) {
    ++*(int*)user;
    return (x[2] - 0.4) * (x[2] - 0.4);
}

TEST(line_search_lowers_the_energy) {
    double x[12] = {0, 0, 1, -1, -1, 0, 2, -1, 0, -1, 2, 0}, goal[12];
    int triangles[3] = {1, 2, 3}, calls = 0;
    memcpy(goal, x, sizeof goal);
    goal[2] = -1.0;
    TdlHost host = tdl_host_default();
    TdlCcdOptions o = tdl_ccd_options_default();
    TdlCcdMesh mesh = {4, 0, 1, x, goal, NULL, triangles};
    TdlCcdStep info;
    REQUIRE(tdl_ccd_line_search(&host, &mesh, 0.5, &o, 1, 1.0e-6, height, &calls, &info) ==
            TDL_STATUS_OK);
    double z = 1.0 - 2.0 * info.step;
    CHECK(z > 0.0 && (z - 0.4) * (z - 0.4) < 0.36);
    CHECK(calls >= 2);
    goal[2] = 2.0; // uphill: no step lowers it
    REQUIRE(tdl_ccd_line_search(&host, &mesh, 0.5, &o, 1, 1.0e-3, height, &calls, &info) ==
            TDL_STATUS_OK);
    CHECK(info.step == 0.0);
}
