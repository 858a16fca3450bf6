// Points and bodies in closed form or made of curves: against what is known of them, and against
// places sampled along curves.
#include "detect/near_point.h"

#include "counting_allocator.h"
#include "curve/curve.h"
#include "detect/near_parts.h"
#include "near_checks.h"
#include "rod/rod_body.h"

static TdlPose some_pose(void) {
    return (TdlPose){{0.4, -0.2, 0.9}, tdl_rotation_exp(NEAR_TURN)};
}

static Scene collider_scene(TdlColliderDef* def, double size) {
    TdlWorld* world = near_world();
    TdlBodyId id;
    def->pose = some_pose();
    if (tdl_world_add_collider(world, def, &id) != TDL_STATUS_OK) {
        abort();
    }
    return near_scene(world, id, size);
}

static Scene rigid_scene(TdlRigidDef* def, double size) {
    TdlWorld* world = near_world();
    TdlBodyId id;
    def->pose = some_pose();
    if (tdl_world_add_rigid(world, def, &id) != TDL_STATUS_OK) {
        abort();
    }
    return near_scene(world, id, size);
}

// --- obstacles
// ------------------------------------------------------------------------------------

static double plane_level(const Scene* s, TdlVec3 p) {
    (void)s;
    return p.z;
}

TEST(a_plane) {
    TdlColliderDef def = tdl_collider_def_default();
    def.shape = TDL_SHAPE_PLANE;
    Scene s = collider_scene(&def, 1.0);
    check_all(&s, plane_level, 1.0, true);
    check_point(&s, (TdlVec3){3.0, 5.0, -0.25}, -0.25);
    CHECK(isinf(point_seer_thickness(s.seer)));
    near_free(&s);
}

static double ball_level(const Scene* s, TdlVec3 p) {
    (void)s;
    return tdl_dot3(p, p) - 0.09;
}

TEST(a_ball) {
    TdlColliderDef def = tdl_collider_def_default();
    def.radius = 0.3;
    Scene s = collider_scene(&def, 0.3);
    check_all(&s, ball_level, 0.3, true);
    check_point(&s, (TdlVec3){0}, -0.3);
    CHECK_NEAR(point_seer_thickness(s.seer), 0.6, 1.0e-15);
    near_free(&s);
}

static double endless_level(const Scene* s, TdlVec3 p) {
    (void)s;
    return hypot(p.y, p.z) - 0.2;
}

TEST(an_endless_cylinder) {
    TdlColliderDef def = tdl_collider_def_default();
    def.shape = TDL_SHAPE_CYLINDER;
    def.radius = 0.2;
    Scene s = collider_scene(&def, 0.5);
    check_all(&s, endless_level, 0.5, true);
    check_point(&s, (TdlVec3){7.0, 0.0, 0.0}, -0.2);
    near_free(&s);
}

// Its axis starts at the position.
static double capsule_level(const Scene* s, TdlVec3 p) {
    (void)s;
    TdlVec3 from = {p.x - fmin(fmax(p.x, 0.0), 0.8), p.y, p.z};
    return tdl_dot3(from, from) - 0.01;
}

TEST(a_capsule) {
    TdlColliderDef def = tdl_collider_def_default();
    def.shape = TDL_SHAPE_CAPSULE;
    def.radius = 0.1;
    def.length = 0.8;
    Scene s = collider_scene(&def, 0.4);
    check_all(&s, capsule_level, 0.4, true);
    check_point(&s, (TdlVec3){0.2, 0.0, 0.0}, -0.1);
    check_point(&s, (TdlVec3){0.4, 0.0, 0.0}, -0.1);
    check_point(&s, (TdlVec3){0.8, 0.0, 0.0}, -0.1);
    check_point(&s, (TdlVec3){1.1, 0.0, 0.0}, 0.2);
    near_free(&s);
}

static double plate_level(const Scene* s, TdlVec3 p) {
    (void)s;
    double rho = hypot(p.x, p.y);
    bool slab = rho < 0.5 && p.z < 0.0 && p.z > -0.05;
    return slab || hypot(rho - 0.5, p.z) < 0.05 ? -1.0 : 1.0;
}

TEST(a_plate) {
    TdlColliderDef def = tdl_collider_def_default();
    def.shape = TDL_SHAPE_PLATE;
    def.radius = 0.05;
    def.length = 0.5;
    Scene s = collider_scene(&def, 0.4);
    check_all(&s, plate_level, 0.4, false);
    check_point(&s, (TdlVec3){0.0, 0.0, 0.1}, 0.1);
    check_point(&s, (TdlVec3){0.0, 0.0, -0.01}, -0.01);
    check_point(&s, (TdlVec3){0.0, 0.0, -0.1}, 0.05);
    check_point(&s, (TdlVec3){0.0, 0.6, 0.0}, 0.05);
    CHECK_NEAR(point_seer_thickness(s.seer), 0.05, 1.0e-15);
    near_free(&s);
}

// --- rigid bodies
// ---------------------------------------------------------------------------------

static double hollow_level(const Scene* s, TdlVec3 p) {
    (void)s;
    return (tdl_norm3(p) - 0.3) * (tdl_norm3(p) - 0.2);
}

TEST(a_hollow_ball) {
    TdlRigidDef def = tdl_rigid_def_default();
    def.radius = 0.3;
    def.inner_radius = 0.2;
    Scene s = rigid_scene(&def, 0.3);
    check_all(&s, hollow_level, 0.3, true);
    check_point(&s, (TdlVec3){0}, 0.2);
    CHECK_NEAR(point_seer_thickness(s.seer), 0.1, 1.0e-15);
    TdlVec3 from = tdl_add3(some_pose().position, (TdlVec3){0.1, 0.02, 0.0}), at = from;
    CHECK(!point_seer_push(s.seer, 0.25, &at)); // there is no such place in the hollow
    CHECK_NEAR3(at, from, 0.0);
    CHECK(point_seer_push(s.seer, 0.15, &at));
    CHECK_NEAR(tdl_norm3(tdl_sub3(at, some_pose().position)), 0.05, 1.0e-9);
    near_free(&s);
}

static double box_level(const Scene* s, TdlVec3 p) {
    (void)s;
    TdlVec3 q = {fmax(fabs(p.x) - 0.25, 0.0), fmax(fabs(p.y) - 0.35, 0.0),
                 fmax(fabs(p.z) - 0.15, 0.0)};
    return tdl_dot3(q, q) - 0.0025;
}

TEST(a_box) {
    TdlRigidDef def = tdl_rigid_def_default();
    def.shape = TDL_RIGID_BOX;
    def.half = (TdlVec3){0.3, 0.4, 0.2};
    def.radius = 0.05;
    Scene s = rigid_scene(&def, 0.4);
    check_all(&s, box_level, 0.4, true);
    check_point(&s, (TdlVec3){0}, -0.2);
    check_point(&s, (TdlVec3){0.3, 0.0, 0.0}, 0.0);
    CHECK_NEAR(point_seer_thickness(s.seer), 0.4, 1.0e-15);
    near_free(&s);
}

// As round as it can be: its core has no thickness.
TEST(a_round_box) {
    TdlRigidDef def = tdl_rigid_def_default();
    def.shape = TDL_RIGID_BOX;
    def.half = (TdlVec3){0.3, 0.4, 0.05};
    def.radius = 0.05;
    Scene s = rigid_scene(&def, 0.4);
    check_point(&s, (TdlVec3){0}, -0.05);
    check_point(&s, (TdlVec3){0.1, 0.2, 0.1}, 0.05);
    check_point(&s, (TdlVec3){0.25 + 0.3, 0.35 + 0.4, 0.0}, 0.45);
    near_free(&s);
}

static double cylinder_level(const Scene* s, TdlVec3 p) {
    (void)s;
    double rho = hypot(p.y, p.z), x = fmax(fabs(p.x) - 0.35, 0.0), a = fmax(rho - 0.25, 0.0);
    return x * x + a * a - 0.0025;
}

TEST(a_rounded_cylinder) {
    TdlRigidDef def = tdl_rigid_def_default();
    def.shape = TDL_RIGID_CYLINDER;
    def.radius = 0.3;
    def.length = 0.8;
    def.rounding = 0.05;
    Scene s = rigid_scene(&def, 0.4);
    check_all(&s, cylinder_level, 0.4, true);
    check_point(&s, (TdlVec3){0}, -0.3);
    check_point(&s, (TdlVec3){0.5, 0.0, 0.0}, 0.1);
    near_free(&s);
}

static double pipe_level(const Scene* s, TdlVec3 p) {
    return hypot(p.y, p.z) < 0.2 ? 1.0 : cylinder_level(s, p);
}

TEST(a_hollow_cylinder) {
    TdlRigidDef def = tdl_rigid_def_default();
    def.shape = TDL_RIGID_CYLINDER;
    def.radius = 0.3;
    def.inner_radius = 0.2;
    def.length = 0.8;
    def.rounding = 0.05;
    Scene s = rigid_scene(&def, 0.4);
    check_all(&s, pipe_level, 0.4, true);
    check_point(&s, (TdlVec3){0.1, 0.0, 0.0}, 0.2);
    check_point(&s, (TdlVec3){0.4, 0.0, 0.0}, 0.2);
    check_point(&s, (TdlVec3){0.55, 0.0, 0.0}, 0.25);
    CHECK_NEAR(point_seer_thickness(s.seer), 0.1, 1.0e-15);
    near_free(&s);
}

// --- curves, against places sampled along them
// ----------------------------------------------------

enum { SAMPLES = 300, MOST_CURVES = 64, ROUNDS = 90 };

static double ball_gap(const TdlCurve* c, double s, TdlVec3 p) {
    return tdl_norm3(tdl_sub3(tdl_curve_point(c, s), p)) - tdl_curve_radius(c, s);
}

// The least between two places beside the least of samples, by thirds.
static double refined(const TdlCurve* c, double low, double high, TdlVec3 p) {
    for (int i = 0; i < ROUNDS; ++i) {
        double a = low + (high - low) / 3.0, b = high - (high - low) / 3.0;
        *(ball_gap(c, a, p) > ball_gap(c, b, p) ? &low : &high) =
            ball_gap(c, a, p) > ball_gap(c, b, p) ? a : b;
    }
    return fmin(fmin(ball_gap(c, low, p), ball_gap(c, high, p)),
                ball_gap(c, 0.5 * (low + high), p));
}

static double sampled_gap(const TdlCurve* curves, int count, TdlVec3 p) {
    double best = INFINITY, coarse = INFINITY;
    static double gap[MOST_CURVES][SAMPLES + 1];
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k <= SAMPLES; ++k) {
            gap[i][k] = ball_gap(&curves[i], curves[i].end * k / SAMPLES, p);
            coarse = fmin(coarse, gap[i][k]);
        }
    }
    for (int i = 0; i < count; ++i) {
        double step = curves[i].end / SAMPLES;
        for (int k = 0; k <= SAMPLES; ++k) {
            bool low = (k == 0 || gap[i][k] <= gap[i][k - 1]) &&
                       (k == SAMPLES || gap[i][k] <= gap[i][k + 1]);
            if (low && gap[i][k] < coarse + 2.0 * step) {
                double a = step * fmax(k - 1, 0), b = step * fmin(k + 1, SAMPLES);
                best = fmin(best, refined(&curves[i], a, b, p));
            }
        }
    }
    return best;
}

static int curves_of(Body* body, TdlCurve* out) {
    BodyShape shape = body->kind->shape(body, 0);
    if (shape.curve_count > MOST_CURVES) {
        abort();
    }
    body->kind->curves(body, 0, out);
    return shape.curve_count;
}

static double no_level(const Scene* s, TdlVec3 p) {
    (void)s;
    (void)p;
    return 0.0;
}

static void check_curves(Scene* s, double size) {
    static TdlCurve curves[MOST_CURVES];
    int count = curves_of(s->body, curves);
    Rng rng = rng_seed(NEAR_SEED + 4);
    for (int i = 0; i < 60; ++i) {
        TdlVec3 p = near_random(s, &rng);
        CHECK_NEAR(near_gap(s, p), sampled_gap(curves, count, p), 1.0e-9 * size);
    }
    check_distance(s, no_level, 1.0e-9 * size, false);
    check_slope(s, size);
    check_reach(s, size);
}

TEST(a_comb) {
    TdlColliderDef def = tdl_collider_def_default();
    def.shape = TDL_SHAPE_COMB;
    def.radius = 0.02;
    def.teeth = 9;
    def.pitch = 0.1;
    def.length = 0.6;
    Scene s = collider_scene(&def, 0.4);
    check_curves(&s, 0.4);
    CHECK_NEAR(point_seer_thickness(s.seer), 0.04, 1.0e-15);
    near_free(&s);
}

static const TdlCurvePiece BENDS[4] = {{1.0, {0.0, 0.0, 3.0}},
                                       {2.5, {0.5, 4.0, 0.0}},
                                       {0.7, {0.0, 0.0, 0.0}},
                                       {1.5, {6.0, -2.0, 5.0}}};

TEST(a_rail) {
    TdlColliderDef def = tdl_collider_def_default();
    def.shape = TDL_SHAPE_CURVES;
    def.radius = 0.05;
    def.pieces = BENDS;
    def.piece_count = 4;
    Scene s = collider_scene(&def, 0.4);
    check_curves(&s, 0.4);
    near_free(&s);
}

TEST(a_rigid_chain) {
    TdlRigidDef def = tdl_rigid_def_default();
    def.shape = TDL_RIGID_CURVES;
    def.radius = 0.05;
    def.pieces = BENDS;
    def.piece_count = 4;
    Scene s = rigid_scene(&def, 0.4);
    check_curves(&s, 0.4);
    near_free(&s);
}

// A helix or a clothoid of any bend and length, thinner at one end or not.
static TdlCurve random_curve(Rng* rng, int turn) {
    double bend = pow(10.0, rng_range(rng, -2.0, 1.2)), length = rng_range(rng, 0.2, 3.0);
    TdlVec3 k[3];
    for (int i = 0; i < 3; ++i) {
        k[i] = (TdlVec3){rng_normal(rng), rng_normal(rng), rng_normal(rng)};
        k[i] = tdl_scale3(i < 2 ? bend : 1.0, k[i]);
    }
    TdlPose start = {{0.3, -0.2, 0.1}, tdl_rotation_exp(k[2])};
    TdlHost host = tdl_host_default();
    TdlCurve out;
    CHECK(turn % 2 == 0
              ? tdl_curve_helix(&host, start, k[0], length, &out) == TDL_STATUS_OK
              : tdl_curve_clothoid(&host, start, k[0], k[1], length, &out) == TDL_STATUS_OK);
    double radius = rng_range(rng, 0.0, 0.05), end = turn % 3 == 0 ? 0.05 : radius;
    CHECK(tdl_curve_set_radius(&host, radius, end, &out) == TDL_STATUS_OK);
    return out;
}

// Points about a curve, and at the middle of its bends and beside them: there much of it is as
// near.
TEST(random_curves) {
    Rng rng = rng_seed(NEAR_SEED);
    TdlHost host = tdl_host_default();
    for (int i = 0; i < 150; ++i) {
        TdlCurve c = random_curve(&rng, i);
        CurveSet* set;
        REQUIRE(curve_set_create(&host, &c, 1, NULL, &set) == TDL_STATUS_OK);
        for (int k = 0; k < 3; ++k) {
            CurvePoint at = curve_eval(&c, c.end * rng_unit(&rng));
            double bend = tdl_norm3(at.d2), off = k == 0 ? 1.0 : k == 1 ? 1.0e-3 / bend : 0.0;
            TdlVec3 p = tdl_add3(c.origin, at.p),
                    aside = {rng_normal(&rng), rng_normal(&rng), rng_normal(&rng)};
            p = tdl_axpy3(p, k == 0 ? 0.0 : 1.0 / (bend * bend), at.d2);
            p = tdl_axpy3(p, off, aside);
            NearFoot foot;
            REQUIRE(curve_set_near(set, p, INFINITY, &foot));
            double size = fmax(1.0, foot.gap);
            CHECK_NEAR(foot.gap, sampled_gap(&c, 1, p), 1.0e-9 * size);
        }
        curve_set_destroy(&host.mem, set);
    }
}

// All of it is as near from the middle; and nearly so from places beside it.
TEST(in_the_middle_of_a_ring) {
    TdlColliderDef def = tdl_collider_def_default();
    TdlCurvePiece ring = {2.0 * 3.14159265358979323846 * 0.5, {0.0, 0.0, 2.0}};
    def.shape = TDL_SHAPE_CURVES;
    def.radius = 0.1;
    def.pieces = &ring;
    def.piece_count = 1;
    Scene s = collider_scene(&def, 0.4);
    Rng rng = rng_seed(NEAR_SEED);
    check_point(&s, (TdlVec3){0.0, 0.5, 0.0}, 0.4);
    for (int i = 0; i < 40; ++i) {
        double size = pow(10.0, rng_range(&rng, -12.0, -1.0)), angle = rng_range(&rng, 0.0, 6.28);
        double x = size * cos(angle), y = size * sin(angle);
        TdlVec3 own = {x, 0.5 + y, 0.0};
        TdlPose pose = body_pose(s.body);
        double gap = near_gap(&s, tdl_add3(pose.position, tdl_mul33_3(pose.rotation, own)));
        CHECK_NEAR(gap, 0.4 - size, 3.0e-10);
    }
    near_free(&s);
}

// --- tubes
// ----------------------------------------------------------------------------------------

static double tube_level(const Scene* s, TdlVec3 p) {
    (void)s;
    double rho = hypot(p.y, p.z), beyond = fmax(fmax(-p.x, p.x - 1.0), 0.0);
    return hypot(beyond, rho - 0.15) - 0.05;
}

TEST(a_straight_tube) {
    TdlColliderDef def = tdl_collider_def_default();
    TdlCurvePiece pieces[2] = {{0.4, {0.0, 0.0, 0.0}}, {0.6, {0.0, 0.0, 0.0}}};
    def.shape = TDL_SHAPE_CURVES;
    def.radius = 0.2;
    def.inner_radius = 0.1;
    def.pieces = pieces;
    def.piece_count = 2;
    Scene s = collider_scene(&def, 0.4);
    check_all(&s, tube_level, 0.4, true);
    Rng rng = rng_seed(NEAR_SEED);
    for (int i = 0; i < 2000; ++i) {
        TdlVec3 p = near_random(&s, &rng);
        CHECK_NEAR(near_gap(&s, p), tube_level(&s, in_frame(&s, p)), 1.0e-12);
    }
    check_point(&s, (TdlVec3){0.3, 0.0, 0.0}, 0.1);
    check_point(&s, (TdlVec3){0.4, 0.0, 0.0}, 0.1);
    check_point(&s, (TdlVec3){0.4, 0.15, 0.0}, -0.05);
    CHECK_NEAR(point_seer_thickness(s.seer), 0.1, 1.0e-15);
    near_free(&s);
}

TEST(a_bent_tube) {
    TdlColliderDef def = tdl_collider_def_default();
    TdlCurvePiece pieces[3] = {
        {0.8, {0.0, 0.0, 2.0}}, {0.6, {0.0, 0.0, 0.0}}, {0.9, {1.0, 3.0, 0.0}}};
    def.shape = TDL_SHAPE_CURVES;
    def.radius = 0.1;
    def.inner_radius = 0.06;
    def.pieces = pieces;
    def.piece_count = 3;
    Scene s = collider_scene(&def, 0.2);
    check_distance(&s, no_level, 1.0e-10, true);
    check_slope(&s, 0.2);
    check_reach(&s, 0.2);
    static TdlCurve curve[MOST_CURVES];
    int count = curves_of(s.body, curve), inside = 0;
    Rng rng = rng_seed(NEAR_SEED);
    for (int i = 0; i < 400; ++i) { // across the middle of each piece
        const TdlCurve* c = &curve[i % count];
        double t = c->end * rng_range(&rng, 0.02, 0.98), out = rng_range(&rng, 0.0, 0.15);
        TdlMat3 frame = tdl_frame_from_tangent(tdl_curve_derivative(c, t));
        TdlVec3 p = tdl_axpy3(tdl_curve_point(c, t), out, frame.cy);
        CHECK_NEAR(near_gap(&s, p), fabs(out - 0.08) - 0.02, 1.0e-11);
        inside += out < 0.08;
    }
    CHECK(inside > 100);
    near_free(&s);
}

// --- rods
// -----------------------------------------------------------------------------------------

static const TdlRodSection TAPER[2] = {
    {.at = 0.0, .radius = {0.012, 0.012}, .inner_radius = 0.006},
    {.at = 0.8, .radius = {0.006, 0.006}, .inner_radius = 0.004}};

enum { ROD_ELEMENTS = 8 };

static Scene rod_scene(const char* model, bool tapers, bool hollow) {
    TdlWorld* world = near_world();
    TdlRodDef def = tdl_rod_def_default();
    TdlBodyId id;
    TdlVec3 curvature[ROD_ELEMENTS + 1];
    for (int i = 0; i <= ROD_ELEMENTS; ++i) {
        curvature[i] = (TdlVec3){2.0 + i, 6.0 - 1.1 * i, 3.0 + 0.4 * i * i};
    }
    TdlRodSection sections[2] = {TAPER[0], TAPER[1]};
    for (int k = 0; k < 2; ++k) {
        sections[k].inner_radius = hollow ? sections[k].inner_radius : 0.0;
    }
    def.model = model;
    def.length = 0.8;
    def.element_count = ROD_ELEMENTS;
    def.radius[0] = def.radius[1] = 0.01;
    def.sections = tapers ? sections : NULL;
    def.section_count = tapers ? 2 : 0;
    def.curvature_of = curvature;
    def.clamp = some_pose();
    if (tdl_world_add_rod(world, &def, &id) != TDL_STATUS_OK) {
        abort();
    }
    return near_scene(world, id, 0.1);
}

static void check_places(const Scene* s, bool framed) {
    Rng rng = rng_seed(NEAR_SEED);
    const Rod* rod = rod_of(s->body);
    for (int i = 0; i < 200; ++i) {
        TdlVec3 p = near_random(s, &rng);
        NearPoint near;
        REQUIRE(point_seer_find(s->seer, p, INFINITY, &near));
        BodyPlace place = near.place;
        REQUIRE(place.element >= 0 && place.element < rod->element_count);
        CHECK(place.u >= 0.0 && place.u <= 1.0);
        TdlVec3 point = rod->model->point(rod, place.element, place.u);
        CHECK_NEAR(tdl_norm3(tdl_sub3(point, place.point)), 0.0, 1.0e-9);
        TdlVec3 touch = framed ? p : place.point;
        CHECK_NEAR(tdl_norm3(tdl_sub3(touch, place.touch)), 0.0, 1.0e-15);
    }
}

static const char* const MODELS[6] = {"super-helix", "super-clothoid", "der",
                                      "mass-spring", "corde",          "super-helix-dense"};

TEST(rods_of_all_models) {
    for (int i = 0; i < 6; ++i) {
        Scene s = rod_scene(MODELS[i], false, false);
        check_curves(&s, 0.1);
        bool framed = !s.body->kind->shape(s.body, 0).frameless;
        CHECK_INT(framed, i != 3);
        check_places(&s, framed);
        CHECK_NEAR(point_seer_thickness(s.seer), 0.02, 1.0e-12);
        near_free(&s);
    }
}

TEST(rods_that_become_thinner) {
    for (int i = 0; i < 6; ++i) {
        Scene s = rod_scene(MODELS[i], true, false);
        check_curves(&s, 0.1);
        check_places(&s, i != 3);
        CHECK_NEAR(point_seer_thickness(s.seer), 0.012, 1.0e-12);
        near_free(&s);
    }
}

// Around the middle of a hollow rod: outside as of a solid one, in the bore as far from its wall.
static void check_hollow(const Scene* s, const TdlCurve* outer, const TdlCurve* bore, int count) {
    Rng rng = rng_seed(NEAR_SEED + 5);
    for (int i = 0; i < 200; ++i) {
        const TdlCurve* c = &outer[1 + rng_below(&rng, count - 2)];
        double t = c->end * rng_unit(&rng);
        TdlMat3 frame = tdl_frame_from_tangent(tdl_unit3(tdl_curve_derivative(c, t)));
        double out = rng_range(&rng, 0.0, 0.02), angle = rng_range(&rng, 0.0, 6.28);
        TdlVec3 p = tdl_axpy3(tdl_curve_point(c, t), out * cos(angle), frame.cy);
        p = tdl_axpy3(p, out * sin(angle), frame.cz);
        double expected = fmax(sampled_gap(outer, count, p), -sampled_gap(bore, count, p));
        CHECK_NEAR(near_gap(s, p), expected, 1.0e-10);
    }
}

// Edges of nodal rods meet at angles, where walls are rounded outside and not inside: bends alone.
TEST(hollow_rods) {
    static TdlCurve outer[MOST_CURVES], inner[MOST_CURVES];
    static double bore[2 * MOST_CURVES];
    for (int i = 0; i < 2; ++i) {
        Scene s = rod_scene(MODELS[i], true, true);
        int count = curves_of(s.body, outer);
        s.body->kind->bores(s.body, 0, bore);
        memcpy(inner, outer, sizeof inner);
        for (int k = 0; k < count; ++k) {
            inner[k].radius[0] = bore[2 * k];
            inner[k].radius[1] = bore[2 * k + 1];
        }
        check_hollow(&s, outer, inner, count);
        check_slope(&s, 0.1);
        check_reach(&s, 0.1);
        check_places(&s, true);
        CHECK_NEAR(point_seer_thickness(s.seer), 0.002, 1.0e-12);
        near_free(&s);
    }
}

// --- what moves, and what fails
// -------------------------------------------------------------------

TEST(a_rod_that_swings) {
    Scene s = rod_scene("super-helix", false, false);
    for (int i = 0; i < 20; ++i) {
        REQUIRE(tdl_world_step(s.world, NULL) == TDL_STATUS_OK);
    }
    point_seer_destroy(s.seer);
    REQUIRE(point_seer_create(&s.host, s.body, &s.seer) == TDL_STATUS_OK);
    check_curves(&s, 0.1);
    check_places(&s, true);
    near_free(&s);
}

// What a rigid body does at a point beside it is what its rows tell of that point.
TEST(a_rigid_body_moves_as_one) {
    TdlRigidDef def = tdl_rigid_def_default();
    def.velocity = (TdlVec3){0.3, -0.2, 0.1};
    def.angular_velocity = (TdlVec3){2.0, 1.0, -3.0};
    Scene s = rigid_scene(&def, 0.01);
    TdlVec3 p = tdl_add3(some_pose().position, (TdlVec3){0.007, 0.02, -0.01}), v;
    NearPoint near;
    REQUIRE(point_seer_find(s.seer, p, 1.0, &near));
    v = tdl_add3(def.velocity, tdl_cross3(def.angular_velocity, tdl_sub3(p, some_pose().position)));
    CHECK_NEAR3(s.body->kind->velocity(s.body, &near.place), v, 1.0e-14);
    double rows[18], six[6];
    s.body->kind->rows(s.body, &near.place, tdl_identity33(), rows);
    tdl_store3(six, 0, def.velocity);
    tdl_store3(six, 1, def.angular_velocity);
    for (int k = 0; k < 3; ++k) {
        double sum = 0.0;
        for (int j = 0; j < 6; ++j) {
            sum += rows[6 * k + j] * six[j];
        }
        CHECK_NEAR(sum, k == 0 ? v.x : k == 1 ? v.y : v.z, 1.0e-14);
    }
    near_free(&s);
}

TEST(a_seer_of_a_rod_without_memory) {
    Scene s = rod_scene("super-clothoid", true, true);
    for (int i = 1; i < 10; ++i) {
        AllocCounter counter = {.fail_at = i};
        TdlHost host = s.host;
        host.mem = counting_allocator(&counter);
        PointSeer* seer = NULL;
        TdlStatus status = point_seer_create(&host, s.body, &seer);
        CHECK(status == (i <= 6 ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK));
        if (status == TDL_STATUS_OK) {
            point_seer_destroy(seer);
        }
        CHECK_INT(counter.live, 0);
    }
    near_free(&s);
}
