// Surfaces of triangles, and all places where a curve is nearest to one: against dense sampling.
#include "body/surface.h"

#include "detect/on_surface.h"
#include "ref/curve_pairs.h"
#include "test.h"

#include <string.h>

// --- the oracle -----------------------------------------------------------------------------

// The nearest point of a triangle, by the region of its corners, sides and inside in which the
// point lies.
static TdlVec3 nearest_on_triangle(const TdlVec3 v[3], TdlVec3 p) {
    TdlVec3 ab = tdl_sub3(v[1], v[0]), ac = tdl_sub3(v[2], v[0]);
    double d1 = tdl_dot3(ab, tdl_sub3(p, v[0])), d2 = tdl_dot3(ac, tdl_sub3(p, v[0]));
    double d3 = tdl_dot3(ab, tdl_sub3(p, v[1])), d4 = tdl_dot3(ac, tdl_sub3(p, v[1]));
    double d5 = tdl_dot3(ab, tdl_sub3(p, v[2])), d6 = tdl_dot3(ac, tdl_sub3(p, v[2]));
    if (d1 <= 0.0 && d2 <= 0.0) {
        return v[0];
    }
    if (d3 >= 0.0 && d4 <= d3) {
        return v[1];
    }
    if (d6 >= 0.0 && d5 <= d6) {
        return v[2];
    }
    double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
        return tdl_axpy3(v[0], d1 / (d1 - d3), ab);
    }
    if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
        return tdl_axpy3(v[0], d2 / (d2 - d6), ac);
    }
    if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
        return tdl_axpy3(v[1], (d4 - d3) / (d4 - d3 + d5 - d6), tdl_sub3(v[2], v[1]));
    }
    double sum = va + vb + vc;
    return tdl_axpy3(tdl_axpy3(v[0], vb / sum, ab), vc / sum, ac);
}

typedef struct Scene {
    TdlMesh mesh;
    TdlCurve curve;
} Scene;

static double distance_at(const Scene* x, double s) {
    double best = INFINITY;
    for (int f = 0; f < x->mesh.triangle_count; ++f) {
        TdlVec3 v[3], p = tdl_curve_point(&x->curve, s);
        for (int k = 0; k < 3; ++k) {
            v[k] = x->mesh.vertices[x->mesh.triangles[3 * f + k]];
        }
        best = fmin(best, tdl_norm3(tdl_sub3(p, nearest_on_triangle(v, p))));
    }
    return best;
}

// The minimum between low and high, by sections.
static double refine(const Scene* x, double low, double high) {
    const double part = 0.6180339887498949;
    for (int i = 0; i < 60; ++i) {
        double a = high - part * (high - low), b = low + part * (high - low);
        if (distance_at(x, a) < distance_at(x, b)) {
            high = b;
        } else {
            low = a;
        }
    }
    return 0.5 * (low + high);
}

enum { SAMPLES = 300, CAPACITY = 64 };

// Every minimum that sampling sees must be among the touches, and every touch be one. Minima on
// which the distance is 0 have no direction. Returns how many were compared.
static int compare(const Scene* x, const SurfaceTouch* touch, int count, double margin) {
    double d[SAMPLES + 1];
    int seen = 0;
    for (int i = 0; i <= SAMPLES; ++i) {
        d[i] = distance_at(x, x->curve.end * i / SAMPLES);
    }
    for (int i = 0; i <= SAMPLES; ++i) {
        bool low = (i == 0 || d[i] < d[i - 1]) && (i == SAMPLES || d[i] <= d[i + 1]);
        if (!low) {
            continue;
        }
        double from = i == 0 ? 0 : i - 1, to = i == SAMPLES ? SAMPLES : i + 1;
        double s = refine(x, x->curve.end * from / SAMPLES, x->curve.end * to / SAMPLES);
        double best = fmin(distance_at(x, s), d[i]), nearest = INFINITY;
        if (best >= 0.999 * margin || best < 1.0e-5) {
            continue;
        }
        for (int k = 0; k < count; ++k) {
            if (fabs(touch[k].s - s) < 2.0 * x->curve.end / SAMPLES) {
                nearest = fmin(nearest, fabs(touch[k].gap - best));
            }
        }
        CHECK_BELOW(nearest, 1.0e-8);
        ++seen;
    }
    for (int k = 0; k < count; ++k) {
        double here = tdl_norm3(tdl_sub3(touch[k].at, touch[k].foot));
        // in a hollow, a place may be nearest to the faces on one side while others are nearer
        bool hollow = here > distance_at(x, touch[k].s) + 1.0e-9;
        CHECK(here >= distance_at(x, touch[k].s) - 1.0e-12);
        CHECK(!hollow || x->mesh.triangle_count > 1);
        CHECK_NEAR3(tdl_axpy3(touch[k].at, here, touch[k].normal), touch[k].foot, 1.0e-9);
        for (int side = -1; side <= 1; side += 2) {
            double s = touch[k].s + 1.0e-4 * side * x->curve.end;
            if (!hollow && s >= 0.0 && s <= x->curve.end) {
                CHECK(distance_at(x, s) >= here - 1.0e-12);
            }
        }
    }
    return seen;
}

static int try_scene(const Scene* x, double margin) {
    TdlHost host = tdl_host_default();
    Surface* surface = NULL;
    int fault;
    if (tdl_mesh_fault(&x->mesh, &fault) != NULL) {
        return 0;
    }
    if (surface_create(&host, &x->mesh, &(VertexMotion){0}, 0.0, &surface) != TDL_STATUS_OK) {
        FAIL("surface refused");
        return 0;
    }
    SurfaceTouch touch[CAPACITY];
    SurfaceAim aim = {.margin = margin, .tolerance = 1.0e-12};
    bool certified = true;
    int count = surface_touches(&host, surface, &x->curve, &aim, CAPACITY, touch, &certified);
    CHECK(certified);
    int seen = compare(x, touch, count, margin);
    surface_destroy(&host, surface);
    return seen;
}

TEST(every_minimum_over_a_triangle_is_found) {
    enum { PAIRS = 10000 };
    static const int corners[3] = {0, 1, 2};
    Rng rng = rng_seed(11);
    int seen = 0;
    for (int i = 0; i < PAIRS; ++i) {
        TdlVec3 v[3] = {random_vector(&rng, 0.4), random_vector(&rng, 0.4),
                        random_vector(&rng, 0.4)};
        Scene x = {{v, 3, corners, 1},
                   random_curve(&rng, i % 5, random_vector(&rng, 0.5), i % 3 == 0 ? 15.0 : 4.0)};
        seen += try_scene(&x, 0.6);
        if (test_failures > 0) {
            FAIL("pair %d", i);
            return;
        }
    }
    CHECK(seen > PAIRS / 2);
}

// A box, a roof, a bowl of random triangles: what touches edges of which the neighbours are nearer
// is left out.
TEST(every_minimum_over_a_surface_is_found) {
    Rng rng = rng_seed(5);
    int seen = 0;
    for (int i = 0; i < 1500; ++i) {
        // a grid with random heights, open
        enum { N = 5 };
        TdlVec3 v[N * N];
        int t[6 * (N - 1) * (N - 1)], n = 0;
        for (int k = 0; k < N * N; ++k) {
            v[k] = (TdlVec3){0.3 * (k % N), 0.3 * (k / N), i % 4 == 0 ? 0.0 : 0.1 * rng_unit(&rng)};
        }
        for (int k = 0; k < (N - 1) * (N - 1); ++k) {
            int a = k % (N - 1) + N * (k / (N - 1));
            const int two[6] = {a, a + 1, a + N + 1, a, a + N + 1, a + N};
            memcpy(t + n, two, sizeof two);
            n += 6;
        }
        TdlVec3 at = {rng_range(&rng, 0.0, 1.2), rng_range(&rng, 0.0, 1.2),
                      rng_range(&rng, 0.15, 0.5)};
        Scene x = {{v, N * N, t, n / 3}, random_curve(&rng, i % 3, at, 6.0)};
        bool above = true; // what passes through it has minima of zero
        for (int k = 0; k <= 50; ++k) {
            above = above && tdl_curve_point(&x.curve, x.curve.end * k / 50).z > 0.1;
        }
        if (above) {
            seen += try_scene(&x, 0.25);
        }
        if (test_failures > 0) {
            FAIL("scene %d", i);
            return;
        }
    }
    CHECK(seen > 300);
}

// --- topology -------------------------------------------------------------------------------

TEST(a_box_has_twelve_sharp_edges_and_is_closed) {
    TdlHost host = tdl_host_default();
    TdlVec3 v[8];
    int t[36], sharp = 0;
    TdlMesh mesh = surface_box_mesh((TdlVec3){1, 2, 3}, v, t);
    Surface* s;
    REQUIRE(surface_create(&host, &mesh, &(VertexMotion){0}, 0.1, &s) == TDL_STATUS_OK);
    CHECK(s->closed);
    CHECK_INT(s->edge_count, 18);
    for (int e = 0; e < s->edge_count; ++e) {
        sharp += s->edge[e].sharp;
    }
    CHECK_INT(sharp, 12);
    for (int f = 0; f < 12; ++f) {
        CHECK(tdl_dot3(s->normal[f], s->vertex[s->corner[3 * f]]) > 0.0);
    }
    // inside of a face and beside it, an edge, a corner
    CHECK(surface_point_faces(s, (TdlVec3){1, 2, 0}, (TdlVec3){0.6, 0.8, 0}));
    CHECK(!surface_point_faces(s, (TdlVec3){1, 2, 0}, (TdlVec3){-0.6, 0.8, 0}));
    CHECK(surface_point_faces(s, (TdlVec3){1, 2, 3}, (TdlVec3){0.6, 0, 0.8}));
    CHECK(!surface_point_faces(s, (TdlVec3){1, 2, 3}, (TdlVec3){0.6, -0.1, 0.8}));
    surface_destroy(&host, s);
}

TEST(vertices_at_one_place_are_one) {
    TdlHost host = tdl_host_default();
    // two triangles of a square that repeat the diagonal
    const TdlVec3 v[6] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 0, 0}, {1, 1, 0}, {0, 1, 0}};
    const int t[6] = {0, 1, 2, 3, 4, 5};
    TdlMesh mesh = {v, 6, t, 2};
    Surface* s;
    REQUIRE(surface_create(&host, &mesh, &(VertexMotion){0}, 0.0, &s) == TDL_STATUS_OK);
    CHECK_INT(s->vertex_count, 4);
    CHECK_INT(s->edge_count, 5);
    CHECK(!s->closed);
    int sharp = 0;
    for (int e = 0; e < s->edge_count; ++e) {
        sharp += s->edge[e].sharp;
    }
    CHECK_INT(sharp, 4); // the diagonal is flat
    surface_destroy(&host, s);
}

TEST(a_mesh_that_is_none_is_refused) {
    TdlVec3 v[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    int t[3] = {0, 1, 2}, at;
    TdlMesh mesh = {v, 3, t, 1};
    CHECK(tdl_mesh_fault(&mesh, &at) == NULL);
    t[2] = 3;
    CHECK_TEXT(tdl_mesh_fault(&mesh, &at), "a triangle has a vertex that is not there");
    CHECK_INT(at, 0);
    t[2] = 1;
    CHECK_TEXT(tdl_mesh_fault(&mesh, &at), "a triangle has no area");
    t[2] = 2;
    v[2] = (TdlVec3){2, 1.0e-12, 0};
    CHECK_TEXT(tdl_mesh_fault(&mesh, &at), "a triangle has no area");
    v[2].y = NAN;
    CHECK_TEXT(tdl_mesh_fault(&mesh, &at), "vertices must be finite");
    mesh.triangle_count = 0;
    CHECK(tdl_mesh_fault(&mesh, &at) != NULL);
}

// Walks a big tree against all triangles one by one.
TEST(the_tree_finds_what_is_near) {
    enum { N = 60 };
    TdlHost host = tdl_host_default();
    TdlVec3* v = calloc(N * N, sizeof *v);
    int *t = calloc(6 * (N - 1) * (N - 1), sizeof *t), n = 0;
    Rng rng = rng_seed(2);
    for (int k = 0; k < N * N; ++k) {
        v[k] = (TdlVec3){k % N, k / N, rng_unit(&rng)};
    }
    for (int k = 0; k < (N - 1) * (N - 1); ++k) {
        int a = k % (N - 1) + N * (k / (N - 1));
        const int two[6] = {a, a + 1, a + N + 1, a, a + N + 1, a + N};
        memcpy(t + n, two, sizeof two);
        n += 6;
    }
    TdlMesh mesh = {v, N * N, t, n / 3};
    Surface* s;
    REQUIRE(surface_create(&host, &mesh, &(VertexMotion){0}, 0.0, &s) == TDL_STATUS_OK);
    for (int i = 0; i < 200; ++i) {
        TdlVec3 p = {rng_range(&rng, -1, N), rng_range(&rng, -1, N), rng_range(&rng, -2, 3)};
        double best = INFINITY;
        for (int f = 0; f < mesh.triangle_count; ++f) {
            TdlVec3 w[3] = {v[t[3 * f]], v[t[3 * f + 1]], v[t[3 * f + 2]]};
            best = fmin(best, tdl_norm3(tdl_sub3(p, nearest_on_triangle(w, p))));
        }
        CHECK(surface_is_nearer(s, p, best * 1.000001));
        CHECK(!surface_is_nearer(s, p, best * 0.999999));
    }
    surface_destroy(&host, s);
    free(v);
    free(t);
}

// Above the ridge of a roof: a corner of a polyline on it is a minimum, though both its segments
// rise from there; where the next one goes on falling it is not.
TEST(a_corner_over_a_ridge_is_found_and_a_joint_passed_on) {
    TdlHost host = tdl_host_default();
    const TdlVec3 v[4] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, -1}, {0, 1, -1}};
    const int t[6] = {0, 1, 3, 1, 0, 2};
    TdlMesh mesh = {v, 4, t, 2};
    Surface* s;
    REQUIRE(surface_create(&host, &mesh, &(VertexMotion){0}, 0.0, &s) == TDL_STATUS_OK);
    TdlCurve c;
    REQUIRE(tdl_curve_segment(&host, (TdlVec3){0, 0, 0.1}, (TdlVec3){0, 0.1, 0.13}, &c) ==
            TDL_STATUS_OK);
    const TdlVec3 beyond[3] = {{0}, {0, -0.8, 0.6}, {0, -0.8, -0.6}};
    for (int i = 0; i < 3; ++i) {
        SurfaceAim aim = {.margin = 0.2, .tolerance = 1.0e-12, .beyond = {beyond[i]}};
        SurfaceTouch touch[8];
        bool certified = true;
        int count = surface_touches(&host, s, &c, &aim, 8, touch, &certified);
        CHECK_INT(count, i == 2 ? 0 : 1);
        CHECK(count == 0 || fabs(touch[0].gap - 0.1) < 1.0e-12);
    }
    surface_destroy(&host, s);
}

// --- vertices that move ---------------------------------------------------------------------

enum { SIDE = 12, VERTICES = SIDE * SIDE, MOMENTS = 4 };

typedef struct Hills {
    TdlVec3 sample[MOMENTS][VERTICES];
    int corner[6 * (SIDE - 1) * (SIDE - 1)];
    TdlMesh mesh;
    VertexMotion motion;
} Hills;

// Hills that change: a grid with heights of its own in each sample.
static void make_hills(Hills* x) {
    Rng rng = rng_seed(5);
    int n = 0;
    for (int i = 0; i < MOMENTS * VERTICES; ++i) {
        int k = i % VERTICES;
        x->sample[i / VERTICES][k] = (TdlVec3){k % SIDE + 0.3 * rng_unit(&rng),
                                               k / SIDE + 0.3 * rng_unit(&rng), rng_unit(&rng)};
    }
    for (int k = 0; k < (SIDE - 1) * (SIDE - 1); ++k) {
        int a = k % (SIDE - 1) + SIDE * (k / (SIDE - 1));
        const int two[6] = {a, a + 1, a + SIDE + 1, a, a + SIDE + 1, a + SIDE};
        memcpy(x->corner + n, two, sizeof two);
        n += 6;
    }
    x->mesh = (TdlMesh){x->sample[0], VERTICES, x->corner, n / 3};
    x->motion = (VertexMotion){x->sample[0], MOMENTS, VERTICES, 1.0, 0.5};
}

TEST(vertices_go_straight_between_samples_and_stay_before_and_after) {
    Hills x;
    make_hills(&x);
    for (int i = 0; i < VERTICES; ++i) {
        for (int k = 0; k < MOMENTS; ++k) {
            CHECK_NEAR3(vertex_motion_at(&x.motion, i, 1.0 + 0.5 * k), x.sample[k][i], 0.0);
        }
        CHECK_NEAR3(vertex_motion_at(&x.motion, i, -3.0), x.sample[0][i], 0.0);
        CHECK_NEAR3(vertex_motion_at(&x.motion, i, 1.0e9), x.sample[MOMENTS - 1][i], 0.0);
        TdlVec3 between = tdl_axpy3(tdl_scale3(0.3, x.sample[1][i]), 0.7, x.sample[2][i]);
        CHECK_NEAR3(vertex_motion_at(&x.motion, i, 1.85), between, 1.0e-14);
    }
}

static void count_near(void* user, int triangle) {
    ((int*)user)[triangle] += 1;
}

// After moves here and there all is as in a surface made there.
TEST(a_surface_that_moved_is_the_one_made_there) {
    TdlHost host = tdl_host_default();
    Hills x;
    Surface *moved, *fresh;
    make_hills(&x);
    REQUIRE(surface_create(&host, &x.mesh, &x.motion, 0.1, &moved) == TDL_STATUS_OK);
    const double times[] = {1.2, 2.5, 0.0, 1.83};
    for (int i = 0; i < 4; ++i) {
        TdlVec3 there[VERTICES];
        CHECK_INT(surface_move(moved, &x.motion, times[i]), -1);
        for (int k = 0; k < VERTICES; ++k) {
            there[k] = vertex_motion_at(&x.motion, k, times[i]);
        }
        TdlMesh mesh = {there, VERTICES, x.corner, x.mesh.triangle_count};
        REQUIRE(surface_create(&host, &mesh, &(VertexMotion){0}, 0.1, &fresh) == TDL_STATUS_OK);
        CHECK(moved->size == fresh->size);
        CHECK(moved->closed == fresh->closed);
        int sharp[2] = {0}, near[2][2 * (SIDE - 1) * (SIDE - 1)] = {0};
        for (int e = 0; e < moved->edge_count; ++e) {
            sharp[0] += moved->edge[e].sharp;
            sharp[1] += fresh->edge[e].sharp;
        }
        CHECK_INT(sharp[0], sharp[1]);
        SurfaceBox box = {{2.2, 3.1, -0.2}, {4.0, 7.7, 0.6}};
        surface_each_near(moved, box, count_near, near[0]);
        surface_each_near(fresh, box, count_near, near[1]);
        for (int f = 0; f < x.mesh.triangle_count; ++f) {
            CHECK_NEAR3(moved->normal[f], fresh->normal[f], 0.0);
            CHECK_INT(near[0][f], near[1][f]);
        }
        surface_destroy(&host, fresh);
    }
    // the way of the last move
    double most = 0.0;
    for (int v = 0; v < moved->vertex_count; ++v) {
        TdlVec3 from = vertex_motion_at(&x.motion, moved->from[v], 0.0);
        CHECK_NEAR3(moved->before[v], from, 0.0);
        most = fmax(most, tdl_norm3(tdl_sub3(moved->vertex[v], from)));
    }
    CHECK(moved->travel == most);
    surface_destroy(&host, moved);
}

// A point beside a triangle, carried along: by differences of three sizes.
TEST(velocities_on_a_moving_surface_are_differences_of_places) {
    TdlHost host = tdl_host_default();
    Hills x;
    Surface* s;
    TdlVec3 rate[VERTICES], later[VERTICES];
    make_hills(&x);
    REQUIRE(surface_create(&host, &x.mesh, &x.motion, 0.0, &s) == TDL_STATUS_OK);
    surface_move(s, &x.motion, 1.6);
    Rng rng = rng_seed(8);
    double error[3] = {0};
    for (int i = 0; i < 200; ++i) {
        int f = i % s->triangle_count;
        double w[2] = {rng_unit(&rng), rng_unit(&rng)}, height = rng_range(&rng, -0.2, 0.2);
        TdlVec3 p = s->vertex[s->corner[3 * f]], q = p;
        for (int k = 0; k < 2; ++k) {
            p = tdl_axpy3(p, 0.5 * w[k], tdl_sub3(s->vertex[s->corner[3 * f + 1 + k]], q));
        }
        p = tdl_axpy3(p, height, s->normal[f]);
        CHECK_NEAR3(surface_carried(s, f, p, s->vertex), p, 1.0e-13);
        for (int k = 0; k < 3; ++k) {
            double dt = 1.0e-2 / (1 << k);
            surface_rates(s, &x.motion, 1.6 + dt, dt, rate);
            for (int v = 0; v < s->vertex_count; ++v) {
                later[v] = tdl_axpy3(s->vertex[v], dt, rate[v]);
            }
            TdlVec3 way = tdl_sub3(surface_carried(s, f, p, later), p);
            TdlVec3 off = tdl_axpy3(surface_velocity(s, f, p, rate), -1.0 / dt, way);
            error[k] = fmax(error[k], tdl_norm3(off));
        }
    }
    printf("  differences off by %.2e, %.2e, %.2e m/s\n", error[0], error[1], error[2]);
    CHECK_NEAR(log2(error[0] / error[1]), 1.0, 0.1);
    CHECK_NEAR(log2(error[1] / error[2]), 1.0, 0.1);
    surface_destroy(&host, s);
}

// Two triangles whose sides coincide: one edge while they go together, two when they part.
TEST(vertices_are_one_when_they_stay_together) {
    TdlHost host = tdl_host_default();
    TdlVec3 v[2][6] = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}};
    const int t[6] = {0, 1, 2, 3, 4, 5};
    TdlMesh mesh = {v[0], 6, t, 2};
    for (int parts = 0; parts < 2; ++parts) {
        for (int k = 0; k < 6; ++k) {
            v[1][k] = tdl_add3(v[0][k], (TdlVec3){0, 0, k < 3 || !parts ? 1.0 : 2.0});
        }
        VertexMotion motion = {v[0], 2, 6, 0.0, 1.0};
        Surface* s;
        REQUIRE(surface_create(&host, &mesh, &motion, 0.0, &s) == TDL_STATUS_OK);
        CHECK_INT(s->vertex_count, parts ? 6 : 4);
        CHECK_INT(s->edge_count, parts ? 6 : 5);
        surface_destroy(&host, s);
    }
}
