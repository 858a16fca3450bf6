// Masses of closed meshes against closed forms, masses that are given, hollow balls, and what is
// refused.
#include "capture.h"
#include "counting_allocator.h"
#include "curve/curve.h"
#include "math/gauss.h"
#include "math/rotation.h"
#include "meshes.h"
#include "rigid/rigid.h"
#include "rigid/shape.h"
#include "test.h"
#include "things.h"

static const double PI = 3.14159265358979323846;

static TdlRigidDef mesh_def(TdlMesh mesh) {
    TdlRigidDef def = tdl_rigid_def_default();
    def.shape = TDL_RIGID_MESH;
    def.radius = 0.0;
    def.mesh = mesh;
    return def;
}

static Rigid* make(const TdlRigidDef* def) {
    TdlHost host = tdl_host_default();
    Rigid* rigid = NULL;
    if (rigid_create(&host, def, &rigid) != TDL_STATUS_OK) {
        FAIL("rigid refused");
    }
    return rigid;
}

static void destroy(Rigid* rigid) {
    TdlHost host = tdl_host_default();
    rigid_destroy(&host, rigid);
}

static void check_matrix(TdlMat3 got, TdlMat3 want, double tolerance) {
    CHECK_NEAR3(got.cx, want.cx, tolerance);
    CHECK_NEAR3(got.cy, want.cy, tolerance);
    CHECK_NEAR3(got.cz, want.cz, tolerance);
}

static void check_refused(const TdlRigidDef* def, const char* message) {
    Capture capture;
    TdlHost host = capture_host(&capture);
    Rigid* rigid = NULL;
    CHECK_INT(rigid_create(&host, def, &rigid), TDL_STATUS_BAD_ARGUMENT);
    CHECK_TEXT(capture.text, message);
}

// --- mass of meshes ----------------------------------------------------------------------------

TEST(a_mesh_of_a_box_weighs_as_the_box) {
    TdlVec3 half = {0.03, 0.05, 0.02}, at = {0.7, -0.3, 0.2};
    TdlRigidDef box = tdl_rigid_def_default();
    box.shape = TDL_RIGID_BOX;
    box.radius = 0.0;
    box.half = half;
    TdlRigidDef def = mesh_def(make_box_mesh(half, at));
    Rigid *a = make(&box), *b = make(&def);
    // sums of 12 tetrahedra that reach from one corner over the box: about ten roundings of each
    CHECK_NEAR(b->mass, a->mass, 1.0e-14 * a->mass);
    CHECK_NEAR3(b->centre, at, 1.0e-15);
    check_matrix(b->inertia, a->inertia, 2.0e-14 * a->inertia.cx.x);
    CHECK_INT(b->curve_count, 12); // diagonals of its faces are flat
    destroy(a);
    destroy(b);
    free_mesh(def.mesh);
}

TEST(a_tetrahedron_weighs_as_its_corners_say) {
    // any one: volume det/6, S = V/20 (sum of x x' + 16 c c') about the origin of its corners
    static const int FACES[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    TdlVec3 v[4] = {{0.2, 0.1, -0.1}, {1.3, 0.2, 0.1}, {0.3, 0.9, 0.0}, {0.1, 0.4, 1.1}};
    TdlVec3 a = tdl_sub3(v[1], v[0]), b = tdl_sub3(v[2], v[0]), c = tdl_sub3(v[3], v[0]);
    double volume = tdl_dot3(a, tdl_cross3(b, c)) / 6.0;
    TdlVec3 centre = {0};
    for (int i = 0; i < 4; ++i) {
        centre = tdl_axpy3(centre, 0.25, v[i]);
    }
    TdlMat3 second = {0};
    for (int i = 0; i < 4; ++i) { // about the centre the corners' mean square is a fifth as large
        TdlVec3 x = tdl_sub3(v[i], centre);
        second = tdl_axpy33(second, volume / 20.0, tdl_outer3(x, x));
    }
    double trace = second.cx.x + second.cy.y + second.cz.z;
    TdlMat3 want = tdl_sub33(tdl_scale33(trace, tdl_identity33()), second);
    TdlRigidDef def = mesh_def(mesh_of(v, 4, FACES, 4));
    def.density = 7.0;
    Rigid* rigid = make(&def);
    CHECK_NEAR(rigid->mass, 7.0 * volume, 1.0e-14);
    CHECK_NEAR3(rigid->centre, centre, 1.0e-15);
    check_matrix(rigid->inertia, tdl_scale33(7.0, want), 1.0e-14);
    CHECK_INT(rigid->curve_count, 6);
    destroy(rigid);
    free_mesh(def.mesh);
}

TEST(a_hook_weighs_as_its_two_boxes) {
    double s = 0.02, t = 0.01;
    TdlRigidDef def = mesh_def(make_hook_mesh(s, t));
    Rigid* rigid = make(&def);
    // a foot of 2 by 1 and a stem of 1 by 2 above it, in sizes s
    double foot = 2.0 * 1000.0 * s * s * t, stem = foot, m = foot + stem;
    TdlVec3 at[2] = {{s, 0, 0.5 * s}, {0.5 * s, 0, 2.0 * s}},
            c = tdl_scale3(0.5, tdl_add3(at[0], at[1]));
    TdlVec3 size[2] = {{2 * s, t, s}, {s, t, 2 * s}};
    TdlMat3 want = {0};
    for (int k = 0; k < 2; ++k) {
        TdlVec3 d = tdl_sub3(at[k], c),
                q = {size[k].x * size[k].x / 12, t * t / 12, size[k].z * size[k].z / 12};
        TdlMat3 second = tdl_scale33(foot, tdl_add33(tdl_diag33(q), tdl_outer3(d, d)));
        want = tdl_add33(want, rigid_inertia_of(second));
    }
    CHECK_NEAR(rigid->mass, m, 1.0e-14 * m);
    CHECK_NEAR3(rigid->centre, c, 1.0e-16);
    check_matrix(rigid->inertia, want, 1.0e-14 * want.cx.x);
    CHECK_INT(rigid->curve_count, 17); // of 18 edges the hollow one cannot be touched
    destroy(rigid);
    free_mesh(def.mesh);
}

TEST(a_fine_mesh_of_a_ball_weighs_as_the_ball_to_second_order) {
    double r = 0.01, m = 1000.0 * 4.0 / 3.0 * PI * r * r * r, last[2] = {0};
    for (int level = 2; level <= 5; ++level) {
        TdlRigidDef def = mesh_def(make_sphere_mesh(r, level));
        Rigid* rigid = make(&def);
        double off[2] = {1.0 - rigid->mass / m, 1.0 - rigid->inertia.cx.x / (0.4 * m * r * r)};
        for (int k = 0; k < 2; ++k) {
            CHECK(off[k] > 0.0);
            if (level > 3) { // four to one as the sides halve, to terms of fourth order
                CHECK_NEAR(last[k] / off[k], 4.0, 0.1);
            }
            last[k] = off[k];
        }
        // the eight octants mirror each other
        CHECK_NEAR3(rigid->centre, ((TdlVec3){0}), 1.0e-16);
        check_matrix(rigid->inertia, tdl_scale33(rigid->inertia.cx.x, tdl_identity33()),
                     1.0e-13 * rigid->inertia.cx.x);
        destroy(rigid);
        free_mesh(def.mesh);
    }
    printf("  8192 triangles lack %.2e of the mass, %.2e of the inertia\n", last[0], last[1]);
}

TEST(a_turned_mesh_has_a_turned_inertia) {
    TdlVec3 half = {0.03, 0.05, 0.02};
    TdlMesh mesh = make_box_mesh(half, (TdlVec3){0.1, 0, 0});
    TdlMat3 turn = tdl_rotation_exp((TdlVec3){0.4, -1.0, 0.7});
    TdlRigidDef def = mesh_def(mesh);
    Rigid* plain = make(&def);
    for (int i = 0; i < 8; ++i) {
        ((TdlVec3*)(uintptr_t)mesh.vertices)[i] = tdl_mul33_3(turn, mesh.vertices[i]);
    }
    Rigid* turned = make(&def);
    TdlMat3 want = tdl_mul33(turn, tdl_mul33(plain->inertia, tdl_transpose33(turn)));
    check_matrix(turned->inertia, want, 1.0e-13 * plain->inertia.cx.x);
    CHECK_NEAR3(turned->centre, tdl_mul33_3(turn, plain->centre), 1.0e-16);
    destroy(plain);
    destroy(turned);
    free_mesh(mesh);
}

// --- motion ------------------------------------------------------------------------------------

// Angular momentum in space, from the middle of the last step.
static TdlVec3 spin(const Rigid* rigid) {
    TdlVec3 w = tdl_tmul33_3(rigid->pose.rotation, tdl_load3(rigid->v, 1));
    TdlMat3 back = tdl_rotation_exp(tdl_scale3(-0.5 * rigid->dt_before, w));
    TdlVec3 l = tdl_mul33_3(back, tdl_mul33_3(rigid->inertia, w));
    return tdl_mul33_3(rigid->pose.rotation, l);
}

TEST(a_hook_tumbles_about_its_middle_axis_and_keeps_what_it_has) {
    TdlRigidDef def = mesh_def(make_hook_mesh(0.02, 0.01));
    Rigid* rigid = make(&def);
    // y has the largest moment; of the two axes in the plane of the L the larger is the middle one
    TdlMat3 j = rigid->inertia;
    double angle = 0.5 * atan2(2.0 * j.cx.z, j.cx.x - j.cz.z);
    TdlVec3 one = {cos(angle), 0, sin(angle)}, two = {-sin(angle), 0, cos(angle)};
    bool first = tdl_dot3(one, tdl_mul33_3(j, one)) > tdl_dot3(two, tdl_mul33_3(j, two));
    TdlVec3 middle = first ? one : two;
    tdl_store3(rigid->v, 1, tdl_axpy3(tdl_scale3(20.0, middle), 0.02, (TdlVec3){0, 1, 0}));
    TdlVec3 start = spin(rigid), none = {0};
    double energy = rigid_energy(rigid, none).kinetic, low = 1.0, high = 1.0, least = 1.0;
    for (int i = 0; i < 20000; ++i) {
        REQUIRE(rigid_predict(rigid, 1.0e-3, none));
        rigid_advance(rigid, 1.0e-3, rigid->v_free);
        double share = rigid_energy(rigid, none).kinetic / energy;
        low = fmin(low, share);
        high = fmax(high, share);
        TdlVec3 axis = tdl_mul33_3(rigid->pose.rotation, middle);
        least = fmin(least, tdl_dot3(axis, tdl_unit3(start)));
    }
    printf("  axis turned to cosine %.3f, energy within %.2e\n", least, high - low);
    CHECK_BELOW(least, -0.9); // it flips over
    // a swing of the order of (20 rad/s x 1 ms)^2 / 12 = 3.3e-5, twice in a flip
    CHECK_BELOW(high - low, 1.0e-4);
    CHECK_NEAR3(spin(rigid), start, 2.0e-12 * tdl_norm3(start)); // 20000 roundings
    destroy(rigid);
    free_mesh(def.mesh);
}

// --- masses that are given ---------------------------------------------------------------------

TEST(a_hollow_ball_is_a_ball_less_a_ball) {
    TdlRigidDef def = tdl_rigid_def_default();
    def.radius = 0.05;
    def.inner_radius = 0.04;
    Rigid* rigid = make(&def);
    double out = pow(0.05, 3), in = pow(0.04, 3), out5 = pow(0.05, 5), in5 = pow(0.04, 5);
    double m = 1000.0 * 4.0 / 3.0 * PI * (out - in), want = 0.4 * m * (out5 - in5) / (out - in);
    CHECK_NEAR(rigid->mass, m, 1.0e-14 * m);
    check_matrix(rigid->inertia, tdl_scale33(want, tdl_identity33()), 1.0e-14 * want);
    destroy(rigid);
    // thin: 2/3 m r^2, off by the thickness over the radius
    def.inner_radius = 0.05 * (1.0 - 1.0e-6);
    rigid = make(&def);
    CHECK_NEAR(rigid->inertia.cy.y / (rigid->mass * 0.0025), 2.0 / 3.0, 1.0e-6);
    destroy(rigid);
}

// Slices across the axis; over a rounding the angle is the variable, so that all is smooth.
TEST(a_cylinder_weighs_as_its_slices) {
    const double rounding[] = {0.0, 0.004, 0.0149}, inner[] = {0.0, 0.012, 0.005};
    for (int i = 0; i < 9; ++i) {
        TdlRigidDef def = tdl_rigid_def_default();
        def.shape = TDL_RIGID_CYLINDER;
        def.radius = 0.02;
        def.length = 0.03;
        def.rounding = rounding[i % 3];
        def.inner_radius = fmin(inner[i / 3], 0.02 - def.rounding);
        double a = def.radius - def.rounding, h = 0.015 - def.rounding, r = def.rounding;
        double q = def.inner_radius, volume = 0.0, along = 0.0, across = 0.0;
        for (int k = 0; k < 2 * 4 * GAUSS12_COUNT; ++k) {
            double u = (k / GAUSS12_COUNT % 4 + GAUSS12_POINT[k % GAUSS12_COUNT]) / 4.0;
            double w = GAUSS12_WEIGHT[k % GAUSS12_COUNT] / 4.0, x = h * u, R = a + r;
            w *= h;
            if (k >= 4 * GAUSS12_COUNT) {
                double angle = 0.5 * PI * u;
                x = h + r * sin(angle);
                R = a + r * cos(angle);
                w *= 0.5 * PI * r * cos(angle) / h;
            }
            double area = PI * (R * R - q * q);
            volume += 2.0 * w * area;
            along += 2.0 * w * area * x * x;
            across += 2.0 * w * 0.25 * PI * (pow(R, 4) - pow(q, 4));
        }
        Rigid* rigid = make(&def);
        double jx = 2000.0 * across, jy = 1000.0 * (along + across);
        CHECK_NEAR(rigid->mass, 1000.0 * volume, 1.0e-13 * rigid->mass);
        check_matrix(rigid->inertia, tdl_diag33((TdlVec3){jx, jy, jy}), 1.0e-13 * (jx + jy));
        CHECK_INT(rigid->curve_count, 16);
        destroy(rigid);
    }
}

// What stands in for it is closed and within it, and what is about its ends is about them.
TEST(a_cylinder_is_seen_where_it_is) {
    TdlRigidDef def = tdl_rigid_def_default();
    def.shape = TDL_RIGID_CYLINDER;
    def.radius = 0.02;
    def.length = 0.03;
    def.rounding = 0.004;
    def.inertia = tdl_diag33((TdlVec3){1e-4, 1e-4, 1e-4});
    def.has_centre = true;
    def.centre = (TdlVec3){0.001, 0.002, 0.003};
    Rigid* rigid = make(&def);
    const Surface* s = rigid->surface;
    CHECK(s->closed);
    for (int v = 0; v < s->vertex_count; ++v) {
        TdlVec3 p = tdl_add3(s->vertex[v], def.centre);
        CHECK(fabs(p.x) <= 0.011 + 1e-15 && hypot(p.y, p.z) <= 0.016 + 1e-15);
        TdlVec3 to = tdl_sub3(s->vertex[v], rigid->cylinder.middle);
        CHECK_NEAR3(to, p, 1.0e-16);
    }
    for (int f = 0; f < s->triangle_count; ++f) { // outwards
        TdlVec3 p = tdl_add3(s->vertex[s->corner[3 * f]], def.centre);
        CHECK(tdl_dot3(p, s->normal[f]) > 0.0);
    }
    for (int f = 0; f < 2; ++f) {
        CHECK_NEAR(fabs(rigid->ends->normal[f].x), 1.0, 1.0e-15);
    }
    TdlCurve rims[16];
    rigid_curves(rigid, rims);
    for (int i = 0; i < 16; ++i) {
        for (int k = 0; k <= 4; ++k) {
            TdlVec3 p = tdl_curve_point(&rims[i], 0.25 * k * rims[i].end);
            CHECK_NEAR(p.x, i < 8 ? -0.011 : 0.011, 1.0e-15);
            CHECK_NEAR(hypot(p.y, p.z), 0.016, 1.0e-15);
        }
        int next = i % 8 == 7 ? i - 7 : i + 1; // each ends where the next one starts
        CHECK_NEAR3(tdl_curve_point(&rims[i], rims[i].end), rims[next].origin, 1.0e-15);
    }
    destroy(rigid);
}

TEST(cylinders_that_cannot_be_are_refused) {
    TdlRigidDef good = tdl_rigid_def_default(), def;
    good.shape = TDL_RIGID_CYLINDER;
    good.radius = 0.02;
    good.length = 0.03;
    CHECK(tdl_rigid_def_fault(&good) == NULL);
    const double bad[] = {-1.0, NAN, INFINITY};
    for (int i = 0; i < 3; ++i) {
        def = good;
        def.length = bad[i];
        check_refused(&def, "rigid: length must be positive");
        def = good;
        def.rounding = bad[i];
        check_refused(&def,
                      "rigid: rounding must not be negative, and below radius and half the length");
        def = good;
        def.inner_radius = bad[i];
        check_refused(&def, "rigid: inner_radius must not be negative, below radius and at most it "
                            "less rounding");
    }
    def = good;
    def.rounding = 0.015;
    check_refused(&def,
                  "rigid: rounding must not be negative, and below radius and half the length");
    def.rounding = 0.005;
    def.inner_radius = 0.016;
    check_refused(&def, "rigid: inner_radius must not be negative, below radius and at most it "
                        "less rounding");
    def = tdl_rigid_def_default();
    def.rounding = 0.001;
    check_refused(&def, "rigid: rounding is of a cylinder only");
}

TEST(a_given_mass_scales_the_inertia_and_a_given_inertia_stays) {
    TdlRigidDef def = tdl_rigid_def_default();
    def.mass = 3.0;
    Rigid* rigid = make(&def);
    CHECK_NEAR(rigid->mass, 3.0, 0.0);
    CHECK_NEAR(rigid->inertia.cz.z, 0.4 * 3.0 * 1.0e-4, 1.0e-18);
    destroy(rigid);
    def.inertia = (TdlMat3){{2e-4, 1e-5, 0}, {1e-5, 3e-4, 0}, {0, 0, 4e-4}};
    def.has_centre = true;
    def.centre = (TdlVec3){0, 0, -0.004};
    def.pose = (TdlPose){{1, 2, 3}, tdl_rotation_exp((TdlVec3){0.5 * PI, 0, 0})};
    rigid = make(&def);
    check_matrix(rigid->inertia, def.inertia, 0.0);
    // its pose is that of the ball's middle, its state that of the centre of mass: -z became y
    CHECK_NEAR3(rigid->pose.position, ((TdlVec3){1, 2.004, 3}), 1.0e-15);
    CHECK_NEAR3(rigid_pose(rigid).position, def.pose.position, 1.0e-15);
    TdlCurve curve;
    rigid_curves(rigid, &curve);
    CHECK_NEAR3(curve.origin, def.pose.position, 1.0e-15);
    destroy(rigid);
}

// --- what is refused ---------------------------------------------------------------------------

// The same at a triangle which has two corners with the one that is wrong.
static void check_gap(const TdlRigidDef* def, int wrong, const char* message) {
    TdlHost host = tdl_host_default();
    int triangle, shared = 0;
    CHECK_TEXT(tdl_solid_fault(&host, &def->mesh, &triangle), message);
    REQUIRE(triangle >= 0 && triangle < 12);
    for (int i = 0; i < 9; ++i) {
        shared +=
            def->mesh.triangles[3 * triangle + i / 3] == def->mesh.triangles[3 * wrong + i % 3];
    }
    CHECK(shared >= 2);
    char text[256];
    snprintf(text, sizeof text, "rigid: triangle %d: %s", triangle, message);
    check_refused(def, text);
}

TEST(meshes_without_an_inside_are_refused) {
    TdlHost host = tdl_host_default();
    int triangle;
    TdlMesh mesh = make_box_mesh((TdlVec3){1, 1, 1}, (TdlVec3){0});
    CHECK(tdl_solid_fault(&host, &mesh, &triangle) == NULL);
    TdlRigidDef def = mesh_def(mesh);
    int* corner = (int*)(uintptr_t)mesh.triangles;
    def.mesh.triangle_count = 11;
    check_gap(&def, 11, "mesh must be closed: nothing joins a side of this triangle");
    def.mesh.triangle_count = 12;
    int swap = corner[30];
    corner[30] = corner[31];
    corner[31] = swap;
    check_gap(&def, 10, "mesh must be closed: a triangle beside this one faces the other way");
    for (int f = 0; f < 12; ++f) { // all of them the other way
        if (f != 10) {
            swap = corner[3 * f];
            corner[3 * f] = corner[3 * f + 1];
            corner[3 * f + 1] = swap;
        }
    }
    check_refused(&def, "rigid: mesh is inside out: its normals point inwards");
    free_mesh(mesh);
    // a sheet that is its own other side
    static const TdlVec3 FLAT[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    static const int TWICE[6] = {0, 1, 2, 0, 2, 1}, THRICE[9] = {0, 1, 2, 0, 2, 1, 0, 1, 2};
    def.mesh = (TdlMesh){FLAT, 3, TWICE, 2};
    check_refused(&def, "rigid: mesh must have a volume");
    def.mesh = (TdlMesh){FLAT, 3, THRICE, 3};
    check_refused(&def, "rigid: triangle 0: mesh must be closed: more than two triangles join at a "
                        "side of this one");
    def.mesh = (TdlMesh){0};
    check_refused(&def, "rigid: triangle_count must be from 1 to 10000000");
}

TEST(masses_that_no_body_has_are_refused) {
    TdlRigidDef def = tdl_rigid_def_default();
    const TdlMat3 bad[] = {
        {{1, 0, 0}, {0, 2, 0}, {0, 0, 3.0001}},  // above the sum of the others
        {{1, 0, 0}, {0, -1, 0}, {0, 0, 1}},      // negative
        {{1, 0, 0}, {0, 1, 0}, {0, 0, 0}},       // nothing about an axis
        {{1, 0.9, 0}, {0.9, 1, 0}, {0, 0, 0.1}}, // 1.9 against 0.1 and 0.1
        {{1, 1.1, 0}, {1.1, 1, 0}, {0, 0, 1}},   // not definite
        {{1, 0.1, 0}, {0.2, 1, 0}, {0, 0, 1}},   // not symmetric
        {{1, 0, 0}, {0, NAN, 0}, {0, 0, 1}},
        {{INFINITY, 0, 0}, {0, INFINITY, 0}, {0, 0, INFINITY}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        def.inertia = bad[i];
        check_refused(&def, "rigid: inertia must be symmetric, its principal moments positive and "
                            "none above the sum of the others");
    }
    // what just is one: a disc without thickness, and a rod that has hardly any
    def.inertia = (TdlMat3){{1, 0, 0}, {0, 2, 0}, {0, 0, 3}};
    CHECK(tdl_rigid_def_fault(&def) == NULL);
    def.inertia = (TdlMat3){{1.0e-9, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    CHECK(tdl_rigid_def_fault(&def) == NULL);
    def = tdl_rigid_def_default();
    const double wrong[] = {-1.0, NAN, INFINITY};
    for (int i = 0; i < 3; ++i) {
        def.mass = wrong[i];
        check_refused(&def, "rigid: mass must be positive");
        def.mass = 0.0;
        def.inner_radius = wrong[i];
        check_refused(&def, "rigid: inner_radius must not be negative, and below radius");
        def.inner_radius = 0.0;
    }
    def.inner_radius = def.radius;
    check_refused(&def, "rigid: inner_radius must not be negative, and below radius");
    def.shape = TDL_RIGID_CAPSULE;
    check_refused(&def, "rigid: inner_radius is of a sphere or a cylinder only");
    def = tdl_rigid_def_default();
    def.has_centre = true;
    check_refused(&def, "rigid: centre needs an inertia about it");
    def.inertia = tdl_identity33();
    def.centre.y = NAN;
    check_refused(&def, "rigid: centre must be finite");
    def.shape = TDL_RIGID_BOX;
    def.radius = 0.0;
    def.half = (TdlVec3){1e-3, 1e-3, 1e-3};
    def.centre.y = 1.0e30;
    check_refused(&def, "rigid: centre is too far away, triangles vanish from there");
}

TEST(memory_running_out_leaves_nothing_behind) {
    TdlRigidDef def = mesh_def(make_hook_mesh(0.02, 0.01));
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    int failures = 0;
    for (long fail = 1; status == TDL_STATUS_NO_MEMORY && fail < 200; ++fail) {
        AllocCounter counter = {.fail_at = fail};
        TdlHost host = tdl_host_default();
        host.mem = counting_allocator(&counter);
        Rigid* rigid = NULL;
        status = rigid_create(&host, &def, &rigid);
        failures += status == TDL_STATUS_NO_MEMORY;
        rigid_destroy(&host, rigid);
        CHECK_INT(counter.live, 0);
    }
    CHECK_INT(status, TDL_STATUS_OK);
    CHECK(failures > 20);
    free_mesh(def.mesh);
}
