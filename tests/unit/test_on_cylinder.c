// Cylinders with flat ends against all that touches them: gaps, directions and completeness against
// the distance from a rounded cylinder in closed form, sampled densely.
#include "detect/on_cylinder.h"

#include "collider/shape.h"
#include "curve/curve.h"
#include "detect/detector.h"
#include "meshes.h"
#include "ref/curve_pairs.h"
#include "rigid/rigid.h"
#include "test.h"
#include "things.h"

enum { ARCS = 2 * CYLINDER_ARCS, SAMPLES = 4000, MOST = 400 };

static const double MARGIN = 0.03;

static TdlDetector* make_detector(void) {
    TdlHost host = tdl_host_default();
    TdlDetectorDef def = tdl_detector_def_default();
    def.margin = MARGIN;
    TdlDetector* d = NULL;
    if (tdl_detector_create(&host, &def, &d) != TDL_STATUS_OK) {
        FAIL("detector refused");
    }
    return d;
}

static Rigid* make_cylinder(TdlPose pose, double radius, double length, double rounding) {
    TdlHost host = tdl_host_default();
    TdlRigidDef def = tdl_rigid_def_default();
    def.shape = TDL_RIGID_CYLINDER;
    def.radius = radius;
    def.length = length;
    def.rounding = rounding;
    def.pose = pose;
    if (rounding > 0.0) { // its frame is elsewhere than its middle
        def.inertia = tdl_identity33();
        def.has_centre = true;
        def.centre = (TdlVec3){0.2 * length, 0.5 * radius, -0.3 * radius};
    }
    Rigid* rigid = NULL;
    if (rigid_create(&host, &def, &rigid) != TDL_STATUS_OK) {
        FAIL("rigid refused");
    }
    return rigid;
}

static void destroy(Rigid* rigid) {
    TdlHost host = tdl_host_default();
    rigid_destroy(&host, rigid);
}

// How far a point is from the surface, m; negative inside. `out` receives the way to grow it.
static double distance_from(const Rigid* c, TdlVec3 point, TdlVec3* out) {
    TdlVec3 p = tdl_tmul33_3(c->pose.rotation, tdl_sub3(point, rigid_pose(c).position));
    double off = hypot(p.y, p.z), side = p.x > 0.0 ? 1.0 : -1.0;
    double r = c->def.rounding, x = fabs(p.x) - (0.5 * c->def.length - r),
           y = off - (c->def.radius - r);
    TdlVec3 radial = off > 0.0 ? (TdlVec3){0, p.y / off, p.z / off} : (TdlVec3){0, 1, 0};
    TdlVec3 axial = {side, 0, 0}, way;
    double d;
    if (x > 0.0 && y > 0.0) {
        d = hypot(x, y);
        way = tdl_axpy3(tdl_scale3(y / d, radial), x / d, axial);
    } else {
        d = fmax(x, y);
        way = x > y ? axial : radial;
    }
    if (out != NULL) {
        *out = tdl_mul33_3(c->pose.rotation, way);
    }
    return d - r;
}

typedef struct Scene {
    TdlCurve curves[ARCS + MOST];
    TdlFibre fibre[2];
    SurfaceBody surface[2];
    int fibres, surfaces;
} Scene;

static void put_cylinder(Scene* s, const Rigid* c) {
    rigid_curves(c, s->curves);
    s->fibre[0] = (TdlFibre){.curves = s->curves, .count = ARCS, .stiff = true};
    s->surface[0] = (SurfaceBody){c->surface, c->pose,         c->pose,
                                  .body = 0,  .element = ARCS, .cylinder = &c->cylinder};
    s->fibres = s->surfaces = 1;
}

static const TdlContact* detect(TdlDetector* d, Scene* s, const TdlColliderDef* collider,
                                int* count) {
    for (int i = 0; i < s->surfaces; ++i) {
        surface_body_measure(&s->surface[i]);
    }
    detector_set_surfaces(d, s->surface, s->surfaces);
    CHECK_INT(tdl_detector_update(d, s->fibre, s->fibres, collider, collider != NULL, NULL),
              TDL_STATUS_OK);
    return tdl_detector_contacts(d, count);
}

// --- curves -------------------------------------------------------------------------------------

// Every contact is a place of the curve with its gap and direction, and every place where the curve
// comes nearest within the margin has one. `own`: which side of the contacts is the curve's.
static void check_curve(const Rigid* c, const TdlCurve* curve, double radius, int side,
                        const TdlContact* x, int count, int* found) {
    double gap[SAMPLES + 1], step = curve->end / SAMPLES;
    for (int i = 0; i < count; ++i) {
        TdlVec3 way, at = x[i].point[side];
        double d = distance_from(c, at, &way);
        TdlVec3 n = side == 0 ? tdl_scale3(-1.0, x[i].basis.cx) : x[i].basis.cx;
        CHECK_NEAR(x[i].gap, d - radius, 1.0e-12); // roundings of 0.3 m
        if (d > 0.0) {
            CHECK_NEAR3(n, way, 1.0e-7); // where minima are flat their places are known to less
        }
    }
    for (int k = 0; k <= SAMPLES; ++k) {
        gap[k] = distance_from(c, tdl_curve_point(curve, k * step), NULL) - radius;
    }
    for (int k = 0; k <= SAMPLES; ++k) {
        bool low = (k == 0 || gap[k] < gap[k - 1]) && (k == SAMPLES || gap[k] <= gap[k + 1]);
        // deep inside nothing tells which way is out; as in world.md such things are not detected
        if (!low || gap[k] > MARGIN - 2.0 * step || gap[k] < -0.5 * radius) {
            continue;
        }
        bool met = false;
        for (int i = 0; i < count && !met; ++i) {
            double apart = tdl_norm3(tdl_sub3(x[i].point[side], tdl_curve_point(curve, k * step)));
            // a level stretch has one place for all of it: the same gap is enough then
            met = apart < 4.0 * step || fabs(x[i].gap - gap[k]) < 1.0e-9;
        }
        CHECK(met);
        ++*found;
    }
}

static TdlVec3 random_place(Rng* rng, double size) {
    return (TdlVec3){size * (2.0 * rng_unit(rng) - 1.0), size * (2.0 * rng_unit(rng) - 1.0),
                     size * (2.0 * rng_unit(rng) - 1.0)};
}

TEST(curves_are_met_at_all_their_nearest_places) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(71);
    TdlDetector* d = make_detector();
    int found = 0, contacts = 0;
    for (int i = 0; i < 400; ++i) {
        double rounding = i % 2 == 0 ? 0.0 : 0.004, radius = 0.002 + 0.004 * rng_unit(&rng);
        TdlPose pose = {random_place(&rng, 0.1), random_frame(&rng)};
        Rigid* c = make_cylinder(pose, 0.03 + 0.02 * rng_unit(&rng), 0.03 + 0.1 * rng_unit(&rng),
                                 rounding);
        Scene s;
        put_cylinder(&s, c);
        TdlCurve* curve = &s.curves[ARCS];
        TdlVec3 from = tdl_add3(pose.position, random_place(&rng, 0.09));
        TdlPose start = {from, random_frame(&rng)};
        TdlVec3 bend = i % 4 == 1 ? (TdlVec3){0} : random_place(&rng, 25.0);
        bool ball = i % 4 == 0;
        if (ball) {
            *curve = (TdlCurve){.kind = TDL_CURVE_SEGMENT, .origin = from, .helix.t = {1, 0, 0}};
        } else {
            REQUIRE(tdl_curve_helix(&host, start, bend, 0.12, curve) == TDL_STATUS_OK);
        }
        curve->radius[0] = curve->radius[1] = radius;
        s.fibre[1] = (TdlFibre){.curves = curve, .count = 1, .stiff = i % 3 == 0};
        s.fibres = 2;
        int count;
        const TdlContact* x = detect(d, &s, NULL, &count);
        check_curve(c, curve, radius, 1, x, count, &found);
        contacts += count;
        destroy(c);
    }
    printf("  %d contacts, %d nearest places\n", contacts, found);
    CHECK(found > 100);
    tdl_detector_destroy(d);
}

TEST(what_is_placed_is_met_at_its_nearest_places) {
    Rng rng = rng_seed(72);
    TdlDetector* d = make_detector();
    int found = 0;
    for (int i = 0; i < 300; ++i) {
        TdlPose pose = {random_place(&rng, 0.1), random_frame(&rng)};
        Rigid* c = make_cylinder(pose, 0.04, 0.02 + 0.1 * rng_unit(&rng), i % 2 == 0 ? 0.0 : 0.003);
        Scene s;
        put_cylinder(&s, c);
        TdlColliderDef o = tdl_collider_def_default();
        o.shape = i % 3 == 0   ? TDL_SHAPE_SPHERE
                  : i % 3 == 1 ? TDL_SHAPE_CAPSULE
                               : TDL_SHAPE_CYLINDER;
        o.radius = 0.01 + 0.04 * rng_unit(&rng);
        o.length = 0.1 * rng_unit(&rng);
        o.pose = (TdlPose){tdl_add3(pose.position, random_place(&rng, 0.1)), random_frame(&rng)};
        double reach = o.shape == TDL_SHAPE_SPHERE    ? 0.0
                       : o.shape == TDL_SHAPE_CAPSULE ? o.length
                                                      : 0.5;
        TdlVec3 from = o.shape == TDL_SHAPE_CYLINDER
                           ? tdl_axpy3(o.pose.position, -0.5 * reach, o.pose.rotation.cx)
                           : o.pose.position;
        // the distance of the axis from a convex body is convex: one least place
        double least = INFINITY;
        for (int k = 0; k <= SAMPLES; ++k) {
            TdlVec3 p = tdl_axpy3(from, reach * k / SAMPLES, o.pose.rotation.cx);
            least = fmin(least, distance_from(c, p, NULL) - o.radius);
        }
        int count;
        const TdlContact* x = detect(d, &s, &o, &count);
        double lowest = INFINITY;
        for (int k = 0; k < count; ++k) {
            lowest = fmin(lowest, x[k].gap);
            CHECK_INT(x[k].body[0], 0);
            CHECK_INT(x[k].body[1], -1);
        }
        if (least < MARGIN - 1.0e-3 && least > -0.5 * o.radius) {
            ++found;
            CHECK(lowest <= least + 1.0e-12);                    // samples are no nearer
            CHECK_NEAR(lowest, least, 2.0e-5 * reach + 1.0e-12); // steps of 0.5/4000 along a slope
        }
        destroy(c);
    }
    printf("  %d were near\n", found);
    CHECK(found > 100);
    tdl_detector_destroy(d);
}

// --- surfaces -----------------------------------------------------------------------------------

// The least distance of triangles from the cylinder, by places that close in on it: over a triangle
// it is a convex function.
static double least_over(const Rigid* c, TdlVec3 a, TdlVec3 b, TdlVec3 q) {
    double u0 = 0.0, v0 = 0.0, size = 1.0, least = INFINITY;
    TdlVec3 ab = tdl_sub3(b, a), aq = tdl_sub3(q, a);
    for (int round = 0; round < 40; ++round) {
        double bu = u0, bv = v0;
        for (int i = -6; i <= 6; ++i) {
            for (int j = -6; j <= 6; ++j) {
                double u = fmax(0.0, u0 + size * i / 6.0), v = fmax(0.0, v0 + size * j / 6.0);
                double over = fmax(1.0, u + v);
                u /= over;
                v /= over;
                double g = distance_from(c, tdl_axpy3(tdl_axpy3(a, u, ab), v, aq), NULL);
                if (g < least) {
                    least = g;
                    bu = u;
                    bv = v;
                }
            }
        }
        u0 = bu;
        v0 = bv;
        size *= 0.6;
    }
    return least;
}

static double least_of_mesh(const Rigid* c, const Surface* s, TdlPose pose) {
    double least = INFINITY;
    for (int f = 0; f < s->triangle_count; ++f) {
        TdlVec3 p[3];
        for (int k = 0; k < 3; ++k) {
            p[k] = pose_point(pose, s->vertex[s->corner[3 * f + k]]);
        }
        double size = fmax(tdl_norm3(tdl_sub3(p[1], p[0])), tdl_norm3(tdl_sub3(p[2], p[0])));
        if (distance_from(c, p[0], NULL) - size < least) { // else none of it is nearer
            least = fmin(least, least_over(c, p[0], p[1], p[2]));
        }
    }
    return least - s->radius;
}

static void check_least(const TdlContact* x, int count, double least, int* found) {
    double lowest = INFINITY;
    for (int k = 0; k < count; ++k) {
        lowest = fmin(lowest, x[k].gap);
    }
    if (least < MARGIN - 1.0e-3 && least > 0.0) {
        ++*found;
        CHECK_NEAR(lowest, least, 1.0e-7); // the search closes in to 0.6^40 along flat valleys
    }
}

TEST(boxes_and_placed_meshes_are_met_where_they_are_nearest) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(73);
    TdlDetector* d = make_detector();
    int found = 0;
    for (int i = 0; i < 240; ++i) {
        TdlPose pose = {{0, 0, 0}, random_frame(&rng)};
        if (i % 5 == 0) {
            pose.rotation = tdl_rotation_exp((TdlVec3){0, 0, rng_unit(&rng)}); // lies level
        }
        Rigid* c =
            make_cylinder(pose, 0.03, 0.02 + 0.08 * rng_unit(&rng), i % 2 == 0 ? 0.0 : 0.004);
        TdlRigidDef def = tdl_rigid_def_default();
        def.shape = i % 3 == 0 ? TDL_RIGID_MESH : TDL_RIGID_BOX;
        TdlMesh hook = make_hook_mesh(0.03, 0.04);
        def.mesh = hook;
        def.half = (TdlVec3){0.02 + 0.1 * rng_unit(&rng), 0.03, 0.02};
        def.radius = i % 2 == 0 ? 0.002 : 0.0;
        def.pose = (TdlPose){random_place(&rng, 0.11), random_frame(&rng)};
        if (i % 5 == 0) {
            def.pose.rotation = tdl_rotation_exp((TdlVec3){0, 0, rng_unit(&rng)});
        }
        Rigid* other = NULL;
        REQUIRE(rigid_create(&host, &def, &other) == TDL_STATUS_OK);
        Scene s;
        put_cylinder(&s, c);
        bool placed = i % 4 == 1; // as a mesh of a collider
        REQUIRE(other->curve_count <= MOST);
        rigid_curves(other, s.curves + ARCS);
        s.fibre[1] =
            (TdlFibre){.curves = s.curves + ARCS, .count = other->curve_count, .stiff = true};
        s.fibres = placed ? 1 : 2;
        s.surface[1] =
            (SurfaceBody){other->surface, other->pose, other->pose, .body = placed ? -1 : 1,
                          .element = placed ? 0 : other->curve_count};
        s.surfaces = 2;
        TdlColliderDef o = tdl_collider_def_default();
        o.shape = TDL_SHAPE_MESH;
        int count;
        const TdlContact* x = detect(d, &s, placed ? &o : NULL, &count);
        check_least(x, count, least_of_mesh(c, other->surface, other->pose), &found);
        for (int k = 0; k < count && placed; ++k) {
            CHECK(x[k].body[0] == 0 && x[k].body[1] == -1);
        }
        destroy(c);
        destroy(other);
        free_mesh(hook);
    }
    printf("  %d were near\n", found);
    CHECK(found > 60);
    tdl_detector_destroy(d);
}

// The least distance of the core of one from the other: a convex function over a convex body, by
// places that close in on it.
static double least_of_core(const Rigid* c, const Rigid* other) {
    const Cylinder* core = &other->cylinder;
    TdlVec3 middle = {0};
    double size[2] = {core->half, core->radius}, least = INFINITY;
    for (int round = 0; round < 60; ++round, size[0] *= 0.7, size[1] *= 0.7) {
        TdlVec3 best = middle;
        for (int i = 0; i < 9 * 9 * 9; ++i) {
            TdlVec3 p = {middle.x + size[0] * (i % 9 - 4) / 4.0,
                         middle.y + size[1] * (i / 9 % 9 - 4) / 4.0,
                         middle.z + size[1] * (i / 81 - 4) / 4.0};
            double over = fmax(1.0, hypot(p.y, p.z) / core->radius);
            p = (TdlVec3){fmin(fmax(p.x, -core->half), core->half), p.y / over, p.z / over};
            double g = distance_from(c, pose_point(rigid_pose(other), p), NULL);
            if (g < least) {
                least = g;
                best = p;
            }
        }
        middle = best;
    }
    return least - core->round;
}

TEST(two_cylinders_are_met_where_they_are_nearest) {
    Rng rng = rng_seed(74);
    TdlDetector* d = make_detector();
    int found = 0;
    for (int i = 0; i < 400; ++i) {
        TdlPose pose[2] = {{{0, 0, 0}, random_frame(&rng)},
                           {random_place(&rng, 0.1), random_frame(&rng)}};
        double radius[2] = {0.02 + 0.03 * rng_unit(&rng), 0.03};
        double length[2] = {0.05, 0.02 + 0.1 * rng_unit(&rng)};
        if (i % 4 == 0) { // parallel
            pose[1].rotation = pose[0].rotation;
        }
        if (i % 8 == 0) { // stacked
            radius[0] = radius[1];
            pose[1].position =
                tdl_scale3(0.5 * (length[0] + length[1]) + 0.01, pose[0].rotation.cx);
        }
        Rigid* c[2];
        Scene s;
        for (int k = 0; k < 2; ++k) {
            c[k] = make_cylinder(pose[k], radius[k], length[k], 0.002);
        }
        put_cylinder(&s, c[0]);
        rigid_curves(c[1], s.curves + ARCS);
        s.fibre[1] = (TdlFibre){.curves = s.curves + ARCS, .count = ARCS, .stiff = true};
        s.surface[1] = (SurfaceBody){c[1]->surface, c[1]->pose,      c[1]->pose,
                                     .body = 1,     .element = ARCS, .cylinder = &c[1]->cylinder};
        s.fibres = s.surfaces = 2;
        int count;
        const TdlContact* x = detect(d, &s, NULL, &count);
        check_least(x, count, least_of_core(c[0], c[1]), &found);
        destroy(c[0]);
        destroy(c[1]);
    }
    printf("  %d were near\n", found);
    CHECK(found > 100);
    tdl_detector_destroy(d);
}
