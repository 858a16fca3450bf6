// Points and surfaces: meshes, sheets and implicit surfaces, against all triangles one by one and
// against closed forms.
#include "base/threads.h"
#include "body/surface.h"
#include "counting_allocator.h"
#include "detect/inside.h"
#include "meshes.h"
#include "near_checks.h"
#include "sheets.h"
#include "tendril/formats.h"
#include "tendril/shell.h"

static TdlPose some_pose(void) {
    return (TdlPose){{0.4, -0.2, 0.9}, tdl_rotation_exp(NEAR_TURN)};
}

static Scene mesh_scene(TdlMesh mesh, double radius, double size) {
    TdlWorld* world = near_world();
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id;
    def.shape = TDL_SHAPE_MESH;
    def.mesh = mesh;
    def.radius = radius;
    def.pose = some_pose();
    if (tdl_world_add_collider(world, &def, &id) != TDL_STATUS_OK) {
        abort();
    }
    free_mesh(mesh);
    return near_scene(world, id, size);
}

static const Surface* surface_of(const Scene* s) {
    return s->body->kind->shape(s->body, 0).surface;
}

// --- references
// -----------------------------------------------------------------------------------

static double side_distance(TdlVec3 a, TdlVec3 b, TdlVec3 p) {
    TdlVec3 ab = tdl_sub3(b, a);
    double t = tdl_dot3(tdl_sub3(p, a), ab) / tdl_dot3(ab, ab);
    return tdl_norm3(tdl_sub3(p, tdl_axpy3(a, fmin(fmax(t, 0.0), 1.0), ab)));
}

// By the shares of the corners where the point is abreast of the face.
static double triangle_distance(const TdlVec3 v[3], TdlVec3 p) {
    TdlVec3 n = tdl_cross3(tdl_sub3(v[1], v[0]), tdl_sub3(v[2], v[0]));
    bool over = true;
    double best = INFINITY;
    for (int k = 0; k < 3; ++k) {
        TdlVec3 a = v[k], b = v[(k + 1) % 3];
        over = over && tdl_dot3(tdl_cross3(tdl_sub3(b, a), tdl_sub3(p, a)), n) >= 0.0;
        best = fmin(best, side_distance(a, b, p));
    }
    return over ? fabs(tdl_dot3(n, tdl_sub3(p, v[0]))) / tdl_norm3(n) : best;
}

static double all_triangles(const Surface* s, TdlVec3 p) {
    double best = INFINITY;
    for (int f = 0; f < s->triangle_count; ++f) {
        const int* c = s->corner + 3 * (ptrdiff_t)f;
        TdlVec3 v[3] = {s->vertex[c[0]], s->vertex[c[1]], s->vertex[c[2]]};
        best = fmin(best, triangle_distance(v, p));
    }
    return best;
}

static void check_triangles(const Scene* s, bool solid, double size) {
    const Surface* surface = surface_of(s);
    Rng rng = rng_seed(NEAR_SEED + 6);
    int inside = 0;
    for (int i = 0; i < 400; ++i) {
        TdlVec3 p = near_random(s, &rng), own = in_frame(s, p);
        double d = all_triangles(surface, own);
        bool in = solid && surface_encloses(surface, own);
        CHECK_NEAR(near_gap(s, p), (in ? -d : d) - surface->radius, 1.0e-12 * size);
        inside += in;
    }
    CHECK(solid ? inside > 3 : inside == 0);
    check_slope(s, size);
    check_reach(s, size);
}

static double surface_level(const Scene* s, TdlVec3 p) {
    return surface_encloses(surface_of(s), p) ? -1.0 : 1.0;
}

// --- meshes
// ---------------------------------------------------------------------------------------

TEST(a_box_of_triangles) {
    Scene s =
        mesh_scene(make_box_mesh((TdlVec3){0.3, 0.2, 0.4}, (TdlVec3){0.1, 0.0, 0.0}), 0.0, 0.3);
    check_triangles(&s, true, 0.3);
    check_all(&s, surface_level, 0.3, true);
    CHECK_NEAR(point_seer_thickness(s.seer), 0.4, 1.0e-12);
    for (int i = 0; i < 27; ++i) { // its corners, edges and faces themselves
        TdlVec3 on = {0.1 + 0.3 * (i % 3 - 1), 0.2 * (i / 3 % 3 - 1), 0.4 * (i / 9 - 1)};
        check_point(&s, on, i == 13 ? -0.2 : 0.0);
    }
    near_free(&s);
}

// Where faces, edges and corners are as near to roundings, sides are right and nothing jumps.
TEST(beside_edges_and_corners) {
    const TdlVec3 half = {0.3, 0.2, 0.4};
    Scene s = mesh_scene(make_box_mesh(half, (TdlVec3){0.0, 0.0, 0.0}), 0.0, 0.3);
    TdlPose pose = body_pose(s.body);
    Rng rng = rng_seed(NEAR_SEED);
    for (int i = 0; i < 3000; ++i) {
        double off = pow(10.0, rng_range(&rng, -14.0, -2.0));
        TdlVec3 p = {half.x * (i % 3 - 1), half.y * (i / 3 % 3 - 1), half.z * (i / 9 % 3 - 1)};
        TdlVec3 aside = {rng_range(&rng, -off, off), rng_range(&rng, -off, off), 0.0};
        aside.z = rng_range(&rng, -off, off);
        p = tdl_add3(p, aside);
        TdlVec3 q = {fabs(p.x) - half.x, fabs(p.y) - half.y, fabs(p.z) - half.z};
        TdlVec3 out = {fmax(q.x, 0.0), fmax(q.y, 0.0), fmax(q.z, 0.0)};
        double gap = tdl_norm3(out) + fmin(fmax(q.x, fmax(q.y, q.z)), 0.0);
        TdlVec3 at = tdl_add3(pose.position, tdl_mul33_3(pose.rotation, p));
        CHECK_NEAR(near_gap(&s, at), gap, 2.0e-15);
        CHECK_NEAR(tdl_norm3(near_normal(&s, at)), 1.0, 1.0e-12);
    }
    near_free(&s);
}

TEST(a_hook) {
    Scene s = mesh_scene(make_hook_mesh(0.1, 0.08), 0.0, 0.1);
    check_triangles(&s, true, 0.1);
    check_all(&s, surface_level, 0.1, true);
    near_free(&s);
}

TEST(a_ball_of_triangles) {
    Scene s = mesh_scene(make_sphere_mesh(0.3, 4), 0.0, 0.3);
    check_triangles(&s, true, 0.3);
    near_free(&s);
}

TEST(a_thick_mesh) {
    Scene s = mesh_scene(make_hook_mesh(0.1, 0.08), 0.01, 0.1);
    check_triangles(&s, true, 0.1);
    near_free(&s);
}

TEST(an_open_mesh_has_two_sides) {
    for (int thick = 0; thick < 2; ++thick) {
        Scene s = mesh_scene(make_grid(5, 0.4), 0.01 * thick, 0.2);
        check_triangles(&s, false, 0.2);
        CHECK_NEAR(point_seer_thickness(s.seer), 0.02 * thick, 1.0e-15);
        check_point(&s, (TdlVec3){0.03, 0.05, 0.0}, -0.01 * thick);
        check_point(&s, (TdlVec3){0.03, 0.05, 0.1}, 0.1 - 0.01 * thick);
        check_point(&s, (TdlVec3){0.03, 0.05, -0.1}, 0.1 - 0.01 * thick);
        near_free(&s);
    }
}

TEST(a_room_is_free) {
    TdlMesh mesh = make_box_mesh((TdlVec3){0.3, 0.2, 0.4}, (TdlVec3){0.0, 0.0, 0.0});
    int* corner = (int*)(uintptr_t)mesh.triangles;
    for (int f = 0; f < mesh.triangle_count; ++f) {
        int swap = corner[3 * f];
        corner[3 * f] = corner[3 * f + 1];
        corner[3 * f + 1] = swap;
    }
    Scene s = mesh_scene(mesh, 0.0, 0.3);
    check_triangles(&s, false, 0.3);
    near_free(&s);
}

TEST(a_mesh_with_mass) {
    TdlWorld* world = near_world();
    TdlRigidDef def = tdl_rigid_def_default();
    TdlMesh mesh = make_hook_mesh(0.1, 0.08);
    TdlBodyId id;
    def.shape = TDL_RIGID_MESH;
    def.mesh = mesh;
    def.radius = 0.005;
    def.pose = some_pose();
    def.angular_velocity = (TdlVec3){3.0, 2.0, 1.0};
    REQUIRE(tdl_world_add_rigid(world, &def, &id) == TDL_STATUS_OK);
    free_mesh(mesh);
    for (int i = 0; i < 5; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
    Scene s = near_scene(world, id, 0.1);
    check_triangles(&s, true, 0.1);
    near_free(&s);
}

// --- vertices that move
// ---------------------------------------------------------------------------

// A plate of triangles that becomes a hill of another one; its places go as its triangles do.
TEST(a_mesh_whose_vertices_move) {
    TdlMesh mesh = make_grid(4, 0.4);
    int n = mesh.vertex_count;
    TdlVec3* samples = calloc(2 * (size_t)n, sizeof *samples);
    for (int i = 0; i < n; ++i) {
        samples[i] = samples[n + i] = mesh.vertices[i];
        samples[n + i].z = 0.1 * cos(9.0 * mesh.vertices[i].x) + mesh.vertices[i].y;
    }
    TdlWorld* world = near_world();
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id;
    def.shape = TDL_SHAPE_MESH;
    def.mesh = mesh;
    def.radius = 0.01;
    def.vertex_motion = (TdlVertexMotion){samples, 2, 0.0, 0.1};
    REQUIRE(tdl_world_add_collider(world, &def, &id) == TDL_STATUS_OK);
    REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    Scene s = near_scene(world, id, 0.2);
    check_triangles(&s, false, 0.2);
    Rng rng = rng_seed(NEAR_SEED);
    for (int i = 0; i < 100; ++i) {
        NearPoint near;
        REQUIRE(point_seer_find(s.seer, near_random(&s, &rng), INFINITY, &near));
        BodyPlace p = near.place;
        CHECK_NEAR(tdl_norm3(tdl_sub3(p.touch, p.point)), 0.0, 0.0);
        TdlVec3 rate = {0}, point = {0};
        const Surface* surface = surface_of(&s);
        const double share[3] = {1.0 - p.u - p.v, p.u, p.v};
        for (int k = 0; k < 3; ++k) {
            int v = surface->corner[3 * p.element + k], from = surface->from[v];
            TdlVec3 way = tdl_sub3(samples[n + from], samples[from]);
            rate = tdl_axpy3(rate, share[k] / 0.1, way);
            point = tdl_axpy3(point, share[k], surface->vertex[v]);
        }
        CHECK_NEAR(tdl_norm3(tdl_sub3(p.point, point)), 0.0, 1.0e-12);
        CHECK_NEAR3(s.body->kind->velocity(s.body, &p), rate, 1.0e-10);
    }
    free(samples);
    free_mesh(mesh);
    near_free(&s);
}

TEST(a_sheet) {
    TdlWorld* world = near_world();
    SheetDef def = {.cells = 8,
                    .side = 0.4,
                    .thickness = 0.004,
                    .bend = 0.05,
                    .at = {0.1, 0.2, 0.3},
                    .turn = some_pose().rotation};
    TdlBodyId id = add_sheet(world, def);
    for (int i = 0; i < 10; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
    Scene s = near_scene(world, id, 0.2);
    check_triangles(&s, false, 0.2);
    CHECK_NEAR(point_seer_thickness(s.seer), 0.004, 1.0e-15);
    int count;
    const int* corner;
    static TdlVec3 x[81], v[81];
    REQUIRE(tdl_cloth_triangles(world, id, &corner, &count) == TDL_STATUS_OK);
    REQUIRE(tdl_cloth_state(world, id, x, v) == TDL_STATUS_OK);
    Rng rng = rng_seed(NEAR_SEED);
    for (int i = 0; i < 100; ++i) {
        NearPoint near;
        REQUIRE(point_seer_find(s.seer, near_random(&s, &rng), INFINITY, &near));
        BodyPlace p = near.place;
        const double share[3] = {1.0 - p.u - p.v, p.u, p.v};
        TdlVec3 point = {0}, rate = {0};
        for (int k = 0; k < 3; ++k) {
            point = tdl_axpy3(point, share[k], x[corner[3 * p.element + k]]);
            rate = tdl_axpy3(rate, share[k], v[corner[3 * p.element + k]]);
        }
        CHECK_NEAR(tdl_norm3(tdl_sub3(point, p.point)), 0.0, 1.0e-12);
        CHECK_NEAR(tdl_norm3(tdl_sub3(p.touch, p.point)), 0.0, 0.0);
        CHECK_NEAR3(s.body->kind->velocity(s.body, &p), rate, 1.0e-12);
    }
    near_free(&s);
}

// --- implicit surfaces
// ----------------------------------------------------------------------------

static Scene implicit_scene(const char* text, double half, double finest) {
    TdlWorld* world = near_world();
    TdlColliderDef def = tdl_collider_def_default();
    TdlHost host = tdl_host_default();
    TdlBodyId id;
    def.shape = TDL_SHAPE_IMPLICIT;
    if (tdl_implicit_parse(&host, text, &def.implicit) != TDL_STATUS_OK) {
        abort();
    }
    def.implicit.low = (TdlVec3){-half, -half, -half};
    def.implicit.high = (TdlVec3){half, half, half};
    def.implicit.finest = finest;
    def.pose = some_pose();
    if (tdl_world_add_collider(world, &def, &id) != TDL_STATUS_OK) {
        abort();
    }
    tdl_implicit_free(&host, &def.implicit);
    return near_scene(world, id, 0.2 * half);
}

static double ball_level(const Scene* s, TdlVec3 p) {
    (void)s;
    return tdl_norm3(p) - 0.3;
}

TEST(an_implicit_ball) {
    Scene s = implicit_scene("x^2 + y^2 + z^2 - 0.09", 0.5, 0.0);
    check_all(&s, ball_level, 0.3, true);
    Rng rng = rng_seed(NEAR_SEED);
    for (int i = 0; i < 500; ++i) {
        TdlVec3 p = near_random(&s, &rng);
        CHECK_NEAR(near_gap(&s, p), ball_level(&s, in_frame(&s, p)), 1.0e-11);
    }
    check_point(&s, (TdlVec3){0.3, 0.0, 0.0}, 0.0);
    check_point(&s, (TdlVec3){0}, -0.3); // as far from all of it
    near_free(&s);
}

static double wave_level(const Scene* s, TdlVec3 p) {
    (void)s;
    bool within = fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))) <= 0.4;
    return within ? p.z - 0.05 * sin(10.0 * p.x) * cos(8.0 * p.y) : 0.0;
}

TEST(an_implicit_field_of_hills) {
    Scene s = implicit_scene("z - 0.05*sin(10*x)*cos(8*y)", 0.4, 0.0);
    Rng rng = rng_seed(NEAR_SEED + 7);
    int near_count = 0;
    for (int i = 0; i < 300; ++i) {
        TdlVec3 p = near_random(&s, &rng), own = in_frame(&s, p);
        double level = wave_level(&s, own);
        NearPoint near;
        if (level == 0.0 || fabs(own.x) > 0.25 || fabs(own.y) > 0.25 || fabs(own.z) > 0.2) {
            continue;
        }
        REQUIRE(point_seer_find(s.seer, p, INFINITY, &near));
        CHECK((near.gap < 0.0) == (level < 0.0));
        TdlVec3 foot = in_frame(&s, tdl_axpy3(p, near.gap, near.normal));
        CHECK_NEAR(wave_level(&s, foot), 0.0, 1.0e-11);
        for (int k = 0; k < 2000; ++k) { // none of these is nearer
            TdlVec3 on = {rng_range(&rng, -0.4, 0.4), rng_range(&rng, -0.4, 0.4), 0.0};
            on.z = 0.05 * sin(10.0 * on.x) * cos(8.0 * on.y);
            CHECK(fabs(near.gap) <= tdl_norm3(tdl_sub3(own, on)) + 1.0e-12);
        }
        ++near_count;
    }
    CHECK(near_count > 10);
    near_free(&s);
}

// Its edges are rows of points: places beside them are off by little.
TEST(an_implicit_box) {
    Scene s = implicit_scene("max(max(abs(x) - 0.2, abs(y) - 0.3), abs(z) - 0.1)", 0.5, 0.0);
    Rng rng = rng_seed(NEAR_SEED);
    for (int i = 0; i < 200; ++i) {
        TdlVec3 p = near_random(&s, &rng), own = in_frame(&s, p);
        TdlVec3 q = {fabs(own.x) - 0.2, fabs(own.y) - 0.3, fabs(own.z) - 0.1};
        TdlVec3 out = {fmax(q.x, 0.0), fmax(q.y, 0.0), fmax(q.z, 0.0)};
        double gap = tdl_norm3(out) + fmin(fmax(q.x, fmax(q.y, q.z)), 0.0);
        int beside = (q.x > 0.0) + (q.y > 0.0) + (q.z > 0.0);
        CHECK_NEAR(near_gap(&s, p), gap, beside > 1 ? 2.0e-4 : 1.0e-11);
    }
    near_free(&s);
}

// --- nothing, and failures
// ------------------------------------------------------------------------

TEST(a_shell_patch_is_not_seen) {
    TdlWorld* world = near_world();
    TdlShellPatchDef def = tdl_shell_patch_def_default();
    TdlBodyId id;
    REQUIRE(tdl_world_add_shell_patch(world, &def, &id) == TDL_STATUS_OK);
    Scene s = near_scene(world, id, 0.1);
    NearPoint near;
    CHECK(!point_seer_find(s.seer, (TdlVec3){0}, INFINITY, &near));
    TdlVec3 low, high, at = {0};
    point_seer_box(s.seer, &low, &high);
    CHECK(low.x > high.x);
    CHECK(point_seer_push(s.seer, 0.1, &at));
    near_free(&s);
}

TEST(a_seer_of_a_mesh_without_memory) {
    Scene s = mesh_scene(make_hook_mesh(0.1, 0.08), 0.0, 0.1);
    AllocCounter counter = {.fail_at = 1};
    TdlHost host = s.host;
    host.mem = counting_allocator(&counter);
    PointSeer* seer = NULL;
    CHECK(point_seer_create(&host, s.body, &seer) == TDL_STATUS_NO_MEMORY);
    CHECK_INT(counter.live, 0);
    near_free(&s);
}

// --- threads
// --------------------------------------------------------------------------------------

enum { ASKED = 4000 };

typedef struct Asking {
    const Scene* scene;
    TdlVec3 point[ASKED];
    NearPoint answer[ASKED];
} Asking;

static void ask(void* user, int index, int worker) {
    (void)worker;
    Asking* a = user;
    point_seer_find(a->scene->seer, a->point[index], INFINITY, &a->answer[index]);
}

// The same bits for any number of them.
TEST(questions_from_several_threads) {
    Scene scenes[3] = {implicit_scene("x^2 + y^2 + z^2 - 0.09", 0.5, 0.0),
                       mesh_scene(make_hook_mesh(0.1, 0.08), 0.0, 0.1),
                       mesh_scene(make_grid(5, 0.4), 0.01, 0.1)};
    static Asking one, four;
    for (int i = 0; i < 3; ++i) {
        Rng rng = rng_seed(NEAR_SEED);
        one.scene = four.scene = &scenes[i];
        for (int k = 0; k < ASKED; ++k) {
            one.point[k] = four.point[k] = near_random(&scenes[i], &rng);
        }
        Pool* pool;
        REQUIRE(pool_create(&scenes[i].host, 4, &pool) == TDL_STATUS_OK);
        pool_run(NULL, ASKED, 16, ask, &one);
        pool_run(pool, ASKED, 16, ask, &four);
        pool_destroy(pool);
        for (int k = 0; k < ASKED; ++k) {
            CHECK(one.answer[k].gap == four.answer[k].gap);
            CHECK_NEAR3(one.answer[k].normal, four.answer[k].normal, 0.0);
        }
        near_free(&scenes[i]);
    }
}
