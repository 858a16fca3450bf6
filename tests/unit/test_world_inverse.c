// Natural curvatures of the rods of a world: shapes that stay, forces in their cones, what is
// refused. Wisps of curls are in test_inverse_wisp.
#include "capture.h"
#include "inverse/world_inverse.h"
#include "math/dense.h"
#include "math/eigen.h"
#include "math/rotation.h"
#include "wisps.h"

// --- without contacts ----------------------------------------------------------------------------

// Rods side by side in shapes of their own, far enough apart not to touch.
static TdlWorld* free_world(const TdlHost* host, const char* model, int count, TdlBodyId* rods,
                            double young) {
    TdlWorldDef def = tdl_world_def_default();
    def.step = 1.0e-3;
    TdlWorld* world = NULL;
    if (tdl_world_create(host, &def, &world) != TDL_STATUS_OK) {
        return NULL;
    }
    Rng rng = rng_seed(3);
    for (int i = 0; i < count; ++i) {
        TdlVec3 kappa[12];
        for (int k = 0; k < 12; ++k) {
            double s = (k + 0.5) / 12.0;
            kappa[k] = (TdlVec3){5.0 * s, 20.0 + 10.0 * sin(3.0 * s + i), 15.0 * s - 5.0};
        }
        TdlRodDef rod = tdl_rod_def_default();
        rod.model = model;
        rod.young = young;
        rod.element_count = 12;
        rod.curvature_of = kappa;
        rod.damping = 1.0e-3;
        rod.clamp.position = (TdlVec3){0.5 * i, 0.0, 0.0};
        rod.clamp.rotation = tdl_rotation_exp((TdlVec3){rng_normal(&rng), rng_normal(&rng), 0.3});
        if (tdl_world_add_rod(world, &rod, &rods[i]) != TDL_STATUS_OK) {
            tdl_world_destroy(world);
            return NULL;
        }
    }
    return world;
}

static double drift_of(TdlWorld* world, const TdlBodyId* rods, int count, int steps) {
    TdlVec3 before[4][13], now[13];
    double most = 0.0;
    for (int i = 0; i < count; ++i) {
        tdl_rod_points(world, rods[i], 1, before[i]);
    }
    for (int s = 0; s < steps; ++s) {
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
    }
    for (int i = 0; i < count; ++i) {
        tdl_rod_points(world, rods[i], 1, now);
        for (int k = 0; k < 13; ++k) {
            most = fmax(most, tdl_norm3(tdl_sub3(now[k], before[i][k])));
        }
    }
    return most;
}

TEST(rods_stay_in_their_shapes) {
    static const char* const models[] = {"super-helix", "super-helix-dense", "super-clothoid",
                                         "der"};
    TdlHost host = tdl_host_default();
    for (int m = 0; m < 4; ++m) {
        TdlBodyId rods[4];
        TdlWorld* world = free_world(&host, models[m], 4, rods, 4.0e9);
        TdlInverseOptions options = tdl_inverse_options_default();
        TdlInverseReport report;
        REQUIRE(world != NULL);
        CHECK(drift_of(world, rods, 4, 50) > 1.0e-3); // it sags as it is
        tdl_world_destroy(world);
        world = free_world(&host, models[m], 4, rods, 4.0e9);
        REQUIRE(tdl_world_inverse(world, &options, &report) == TDL_STATUS_OK);
        CHECK(report.stable);
        CHECK_INT(report.strand_count, 4);
        for (int i = 0; i < 4; ++i) {
            CHECK(m == 3 || report.strands[i].residual < 1.0e-14); // a few roundings
            CHECK(report.strands[i].stable && report.strands[i].least_factor < 1.0);
            CHECK(report.strands[i].bound_factor >= report.strands[i].least_factor);
            CHECK_NEAR(report.strands[i].stiffening, 1.0, 0.0);
        }
        double drift = drift_of(world, rods, 4, 300);
        printf("  %s: drift %.2g m\n", models[m], drift);
        // edges of a der are stretched by their weight first, 1e-7 of the length
        CHECK_BELOW(drift, m == 3 ? 1.0e-6 : 1.0e-12);
        tdl_inverse_report_free(world, &report);
        tdl_world_destroy(world);
    }
}

// The model's own gradient of its own potential, which is where the rod was made.
TEST(the_gradient_of_the_models_own_potential_vanishes) {
    static const char* const models[] = {"super-helix-dense", "super-clothoid"};
    TdlHost host = tdl_host_default();
    for (int m = 0; m < 2; ++m) {
        TdlBodyId rods[4];
        TdlWorld* world = free_world(&host, models[m], 4, rods, 1.0e9);
        TdlInverseOptions options = tdl_inverse_options_default();
        REQUIRE(world != NULL && tdl_world_inverse(world, &options, NULL) == TDL_STATUS_OK);
        for (int i = 0; i < 4; ++i) {
            const Rod* rod = rod_of(world_find_body(world, rods[i], &ROD_BODY));
            double gradient[39], weight = rod_mass(rod) * 9.81;
            rod->model->potential(rod, tdl_world_def(world).gravity, gradient, NULL);
            for (int k = 0; k < rod->dof_count; ++k) {
                CHECK_NEAR(gradient[k], 0.0, 1.0e-14 * weight * rod_length(rod));
            }
        }
        tdl_world_destroy(world);
    }
}

TEST(soft_rods_are_stiffened_until_they_stay) {
    TdlHost host = tdl_host_default();
    TdlBodyId rods[4];
    TdlWorld* world = free_world(&host, "super-helix", 4, rods, 4.0e7);
    TdlInverseOptions options = tdl_inverse_options_default();
    TdlInverseReport report;
    REQUIRE(world != NULL && tdl_world_inverse(world, &options, &report) == TDL_STATUS_OK);
    CHECK(!report.stable && report.least_eigenvalue < 0.0);
    double least[4];
    for (int i = 0; i < 4; ++i) {
        least[i] = report.strands[i].least_factor;
    }
    tdl_inverse_report_free(world, &report);
    options.stiffen = true;
    REQUIRE(tdl_world_inverse(world, &options, &report) == TDL_STATUS_OK);
    CHECK(report.stable);
    for (int i = 0; i < 4; ++i) {
        double asked = fmax(1.0, 1.02 * least[i]);
        CHECK_NEAR(report.strands[i].stiffening, least[i] < 1.0 ? 1.0 : asked, 1.0e-9 * asked);
        TdlRodInfo info;
        tdl_rod_info(world, rods[i], &info);
        CHECK_NEAR(info.stiffening, report.strands[i].stiffening, 0.0);
    }
    CHECK_BELOW(drift_of(world, rods, 4, 300), 1.0e-9);
    tdl_inverse_report_free(world, &report);
    tdl_world_destroy(world);
}

// --- what is refused -------------------------------------------------------------------------

TEST(bad_options_and_rods_are_refused_by_name) {
    Capture log;
    TdlHost host = capture_host(&log);
    TdlBodyId rods[4];
    TdlWorld* world = free_world(&host, "super-helix", 2, rods, 1.0e9);
    REQUIRE(world != NULL);
    TdlInverseOptions bad[] = {
        tdl_inverse_options_default(), tdl_inverse_options_default(), tdl_inverse_options_default(),
        tdl_inverse_options_default(), tdl_inverse_options_default(), tdl_inverse_options_default(),
    };
    bad[0].mu_share = 0.0;
    bad[1].mu_share = 1.5;
    bad[2].gamma = -1.0;
    bad[3].gamma = NAN;
    bad[4].guess = 1.1;
    bad[5].reach = INFINITY;
    uint64_t before = tdl_world_state_hash(world);
    for (int k = 0; k < 6; ++k) {
        CHECK_INT(tdl_world_inverse(world, &bad[k], NULL), TDL_STATUS_BAD_ARGUMENT);
    }
    TdlInverseOptions good = tdl_inverse_options_default();
    TdlRodDef def = tdl_rod_def_default();
    def.end = TDL_HOLD_PINNED;
    def.clamp.position.y = 1.0;
    TdlBodyId odd;
    CHECK_INT(tdl_world_add_rod(world, &def, &odd), TDL_STATUS_OK);
    tdl_body_set_name(world, odd, "odd one");
    before = tdl_world_state_hash(world);
    CHECK_INT(tdl_world_inverse(world, &good, NULL), TDL_STATUS_BAD_ARGUMENT);
    CHECK(strstr(log.text, "odd one") != NULL);
    CHECK(before == tdl_world_state_hash(world));
    tdl_world_destroy(world);
    // an empty world has nothing to ask for
    world = free_world(&host, "super-helix", 0, rods, 1.0e9);
    TdlInverseReport report;
    REQUIRE(world != NULL && tdl_world_inverse(world, &good, &report) == TDL_STATUS_OK);
    CHECK_INT(report.strand_count, 0);
    CHECK(report.stable);
    tdl_inverse_report_free(world, &report);
    tdl_world_destroy(world);
}

// --- the second variation at a contact -----------------------------------------------------------

enum { LEAN_ELEMENTS = 5, LEAN_DOFS = 3 * LEAN_ELEMENTS, LEAN_AT = 3 };

// A rod that leans on an obstacle in the middle of an element.
typedef struct Lean {
    TdlWorld* world;
    TdlBodyId id;
    Body* body;
    TdlColliderDef obstacle;
    int pieces;    // of an element, that detection sees
    double u;      // m along the first of them
    TdlVec3 force; // N, on the rod
    TdlVec3 out;   // from the obstacle
} Lean;

// Distance from the middle, the axis or the face of the obstacle, and how it grows.
static double distance_of(const TdlColliderDef* o, TdlVec3 x, TdlVec3* out) {
    TdlVec3 arm = tdl_sub3(x, o->pose.position), along = o->pose.rotation.cx;
    if (o->shape == TDL_SHAPE_PLANE) {
        *out = o->pose.rotation.cz;
        return tdl_dot3(arm, *out);
    }
    if (o->shape == TDL_SHAPE_CYLINDER) {
        arm = tdl_axpy3(arm, -tdl_dot3(arm, along), along);
    }
    *out = tdl_unit3(arm);
    return tdl_norm3(arm);
}

// The piece of the element that leans.
static TdlCurve lean_curve(const Lean* lean) {
    TdlCurve curves[LEAN_ELEMENTS * 8];
    lean->body->kind->curves(lean->body, 0, curves);
    return curves[LEAN_AT * lean->pieces];
}

// The obstacle is put under the rod, with which it shares a point, a normal and no more.
static bool lean_make(TdlShape shape, const TdlVec3* kappa, Lean* out) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    TdlRodDef rod = tdl_rod_def_default();
    *out = (Lean){0};
    rod.element_count = LEAN_ELEMENTS;
    rod.young = 1.0e8;
    rod.curvature_of = kappa;
    if (tdl_world_create(&host, &def, &out->world) != TDL_STATUS_OK ||
        tdl_world_add_rod(out->world, &rod, &out->id) != TDL_STATUS_OK) {
        return false;
    }
    out->body = world_find_body(out->world, out->id, &ROD_BODY);
    out->pieces = out->body->kind->shape(out->body, 0).pieces;
    out->u = 0.55 * rod.length / (LEAN_ELEMENTS * out->pieces);
    TdlCurve curve = lean_curve(out);
    TdlVec3 at = tdl_curve_point(&curve, out->u), t = tdl_curve_derivative(&curve, out->u);
    TdlVec3 side = tdl_unit3(tdl_cross3(t, (TdlVec3){0.1, 0.2, 1.0}));
    TdlMat3 frame = {.cx = t, .cy = side, .cz = tdl_cross3(t, side)};
    TdlVec3 up = frame.cz.z > 0.0 ? frame.cz : tdl_scale3(-1.0, frame.cz);
    out->obstacle = tdl_collider_def_default();
    out->obstacle.shape = shape;
    out->obstacle.radius = 0.03;
    double down = rod.radius[0] + (shape == TDL_SHAPE_PLANE ? 0.0 : out->obstacle.radius);
    // the axis of a cylinder leans by 0.7 rad against the rod
    TdlVec3 axis = tdl_axpy3(tdl_scale3(cos(0.7), t), sin(0.7), side);
    out->obstacle.pose = (TdlPose){.position = tdl_axpy3(at, -down, up),
                                   .rotation = {axis, tdl_cross3(up, axis), up}};
    TdlBodyId id;
    return tdl_world_add_collider(out->world, &out->obstacle, &id) == TDL_STATUS_OK;
}

// The rod in another shape.
static void lean_move(const Lean* lean, const double* q) {
    Rod* rod = rod_of(lean->body);
    memcpy(rod->q, q, LEAN_DOFS * sizeof *q);
    rod->model->refresh(rod);
}

// What the force does at the place, less what it does at the nearest point: the potential of a
// contact that rolls, by bisection.
static double lean_potential(const Lean* lean, const double* q) {
    lean_move(lean, q);
    TdlCurve curve = lean_curve(lean);
    TdlVec3 at = tdl_curve_point(&curve, lean->u), out;
    double low = 0.0, high = curve.end;
    for (int k = 0; k < 100; ++k) {
        double s = 0.5 * (low + high);
        distance_of(&lean->obstacle, tdl_curve_point(&curve, s), &out);
        if (tdl_dot3(out, tdl_curve_derivative(&curve, s)) < 0.0) {
            low = s;
        } else {
            high = s;
        }
    }
    double least = distance_of(&lean->obstacle, tdl_curve_point(&curve, low), &out);
    double lift = distance_of(&lean->obstacle, at, &out) - least;
    return tdl_dot3(lean->force, lean->out) * lift - tdl_dot3(lean->force, at);
}

// hessian += its second differences.
static void add_differences(const Lean* lean, const double* q, double h, double* hessian) {
    for (int i = 0; i < LEAN_DOFS; ++i) {
        for (int j = 0; j < LEAN_DOFS; ++j) {
            double sum = 0.0;
            for (int k = 0; k < 4; ++k) {
                double x[LEAN_DOFS], a = k % 2 == 0 ? h : -h, b = k / 2 == 0 ? h : -h;
                memcpy(x, q, sizeof x);
                x[i] += a;
                x[j] += b;
                sum += (a * b > 0.0 ? 1.0 : -1.0) * lean_potential(lean, x);
            }
            hessian[LEAN_DOFS * j + i] += sum / (4.0 * h * h);
        }
    }
}

// An orthonormal basis whose first three span the rows of the place; the others do not move it.
static void find_motions(const Lean* lean, double basis[LEAN_DOFS][LEAN_DOFS]) {
    BodyPlace place = {.element = LEAN_AT};
    TdlCurve curve = lean_curve(lean);
    place.u = lean->u / (curve.end * lean->pieces);
    place.point = place.touch = tdl_curve_point(&curve, lean->u);
    double rows[3 * LEAN_DOFS] = {0}, whole[LEAN_DOFS + 3][LEAN_DOFS] = {{0}};
    lean->body->kind->rows(lean->body, &place, tdl_identity33(), rows);
    int count = lean->body->kind->support(lean->body, &place).count, found = 0;
    for (int k = 0; k < LEAN_DOFS + 3; ++k) {
        double* x = whole[k];
        if (k < 3) {
            memcpy(x, rows + (ptrdiff_t)k * count, (size_t)count * sizeof *x);
        } else {
            x[k - 3] = 1.0;
        }
        double before = sqrt(tdl_dot(LEAN_DOFS, x, x));
        for (int j = 0; j < 2 * found; ++j) { // twice, for rounding
            double along = tdl_dot(LEAN_DOFS, x, basis[j % found]);
            for (int i = 0; i < LEAN_DOFS; ++i) {
                x[i] -= along * basis[j % found][i];
            }
        }
        double size = sqrt(tdl_dot(LEAN_DOFS, x, x));
        for (int i = 0; i < LEAN_DOFS && size > 1.0e-8 * before && found < LEAN_DOFS; ++i) {
            basis[found][i] = x[i] / size;
        }
        found += size > 1.0e-8 * before && found < LEAN_DOFS;
    }
    CHECK_INT(found, LEAN_DOFS);
}

// The least of z'A z / z'K z over motions z that do not move the place.
static double least_among(const Lean* lean, const double* a, double basis[LEAN_DOFS][LEAN_DOFS]) {
    enum { FREE = LEAN_DOFS - 3 };
    const Rod* rod = rod_of(lean->body);
    TdlVec3 k3 = tdl_scale3(1.0 / rod->at_rest.element_length, rod->at_rest.stiffness);
    double k[3] = {k3.x, k3.y, k3.z}, own[FREE * FREE], elastic[FREE * FREE];
    double scratch[3 * LEAN_DOFS];
    for (int i = 0; i < FREE; ++i) {
        for (int j = 0; j < FREE; ++j) {
            double all = 0.0, bent = 0.0;
            for (int m = 0; m < LEAN_DOFS; ++m) {
                double along = tdl_dot(LEAN_DOFS, a + (ptrdiff_t)LEAN_DOFS * m, basis[3 + j]);
                all += basis[3 + i][m] * along;
                bent += basis[3 + i][m] * k[m % 3] * basis[3 + j][m];
            }
            own[FREE * j + i] = all;
            elastic[FREE * j + i] = bent;
        }
    }
    tdl_cholesky(FREE, elastic, FREE);
    for (int turn = 0; turn < 2; ++turn) {
        tdl_lower_solve(FREE, elastic, FREE, false, FREE, own, FREE);
        for (int i = 0; i < FREE * FREE; ++i) { // transposed, pair by pair
            double x = own[i];
            int other = i % FREE * FREE + i / FREE;
            if (other > i) {
                own[i] = own[other];
                own[other] = x;
            }
        }
    }
    return tdl_smallest_eigenvalue(FREE, own, FREE, scratch);
}

static void weigh(const Lean* lean, const double* q, double* hessian) {
    Rod twin = *rod_of(lean->body);
    lean_move(lean, q);
    twin.model = &SUPER_HELIX_DENSE;
    twin.group = NULL;
    twin.work =
        calloc(twin.model->work_count(twin.dof_count, twin.element_count) + 1, sizeof(double));
    twin.model->refresh(&twin);
    twin.model->potential(&twin, tdl_world_def(lean->world).gravity, NULL, hessian);
    free(twin.work);
}

static void check_lean(TdlShape shape, const TdlVec3* kappa) {
    Lean lean;
    TdlInverseReport report;
    TdlInverseOptions options = tdl_inverse_options_default();
    options.contacts = options.keep_guess = true;
    options.guess = 1.0;
    REQUIRE(lean_make(shape, kappa, &lean) && lean.pieces <= 8);
    REQUIRE(tdl_world_inverse(lean.world, &options, &report) == TDL_STATUS_OK);
    REQUIRE(report.contact_count == 1 && report.loaded_count == 1);
    const Candidates* found = &lean.world->contacts->found;
    for (int i = 0; i < found->count; ++i) {
        lean.force = tdl_axpy3(lean.force, -1.0, found->at[i].force);
    }
    TdlCurve curve = lean_curve(&lean);
    double q[LEAN_DOFS], basis[LEAN_DOFS][LEAN_DOFS] = {{0}}, off[3];
    distance_of(&lean.obstacle, tdl_curve_point(&curve, lean.u), &lean.out);
    memcpy(q, rod_of(lean.body)->q, sizeof q);
    find_motions(&lean, basis);
    for (int k = 0; k < 3; ++k) {
        double hessian[LEAN_DOFS * LEAN_DOFS];
        weigh(&lean, q, hessian);
        add_differences(&lean, q, 4.0e-3 / (1 << k), hessian);
        double least = least_among(&lean, hessian, basis);
        off[k] = fabs(report.least_eigenvalue - least);
        if (k == 2) {
            printf(
                "  shape %d: least eigenvalue %.6f, by differences %.6f, off by %.1e %.1e %.1e\n",
                shape, report.least_eigenvalue, least, off[0], off[1], off[2]);
        }
    }
    // differences are of second order; holding by stiffness adds some millionths
    double floor = 1.0e-5 * fabs(report.least_eigenvalue);
    CHECK(off[1] < 0.35 * off[0] + floor && off[2] < 0.35 * off[1] + floor);
    CHECK_BELOW(off[2], 1.0e-3 * fabs(report.least_eigenvalue)); // of the widest of the three
    tdl_inverse_report_free(lean.world, &report);
    tdl_world_destroy(lean.world);
}

// On a ball, a log and a floor: the second differences of the potential of a contact that rolls,
// found by bisection, on a basis of the motions that do not move its place. Second order.
TEST(what_is_told_of_a_contact_is_the_second_variation) {
    static const TdlVec3 kappa[LEAN_ELEMENTS] = {
        {3.0, 2.0, -1.0}, {1.0, 6.0, 2.0}, {-2.0, 9.0, 3.0}, {0.0, 8.0, -2.0}, {2.0, 5.0, 1.0}};
    check_lean(TDL_SHAPE_SPHERE, kappa);
    check_lean(TDL_SHAPE_CYLINDER, kappa);
    TdlVec3 upwards[LEAN_ELEMENTS]; // a floor is touched by what bends away from it
    for (int k = 0; k < LEAN_ELEMENTS; ++k) {
        upwards[k] = (TdlVec3){kappa[k].x, -kappa[k].y, kappa[k].z};
    }
    check_lean(TDL_SHAPE_PLANE, upwards);
}

// --- what is told
// ----------------------------------------------------------------------------------

static void collect(void* user, TdlLogLevel level, const char* message) {
    char* all = user;
    (void)level;
    snprintf(all + strlen(all), 4096 - strlen(all), "%s\n", message);
}

// A rod that lies on a ball which is free to fall: it gets its forces, and no promise.
TEST(bodies_that_are_free_and_shapes_that_overlap_are_told_of) {
    for (int deep = 0; deep < 2; ++deep) {
        char log[4096] = "";
        TdlHost host = tdl_host_default();
        TdlWorldDef def = tdl_world_def_default();
        TdlWorld* world = NULL;
        host.log = collect;
        host.log_user = log;
        REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
        TdlRodDef rod = tdl_rod_def_default();
        TdlBodyId rods[1], ball;
        rod.young = 1.0e8;
        CHECK_INT(tdl_world_add_rod(world, &rod, &rods[0]), TDL_STATUS_OK);
        TdlRigidDef rigid = tdl_rigid_def_default();
        rigid.shape = TDL_RIGID_SPHERE;
        rigid.radius = 0.02;
        rigid.pose.position = (TdlVec3){0.065, 0.0, -0.02 - rod.radius[0] * (deep ? 0.5 : 1.0)};
        CHECK_INT(tdl_world_add_rigid(world, &rigid, &ball), TDL_STATUS_OK);
        tdl_body_set_name(world, ball, "loose ball");
        TdlInverseOptions options = tdl_inverse_options_default();
        options.contacts = true;
        options.guess = 1.0;
        TdlInverseReport report;
        REQUIRE(tdl_world_inverse(world, &options, &report) == TDL_STATUS_OK);
        CHECK_INT(report.loaded_count, 1);
        CHECK_INT(report.free_count, 1);
        CHECK(!report.stable);
        CHECK(strstr(log, "loose ball") != NULL);
        CHECK_INT(report.overlap_count, deep);
        // a radius of 50 um, half of it inside
        CHECK_NEAR(report.deepest, deep ? 0.5 * rod.radius[0] : 0.0, 1.0e-12);
        CHECK((strstr(log, "overlap") != NULL) == (deep == 1));
        tdl_inverse_report_free(world, &report);
        tdl_world_destroy(world);
    }
}

// --- odd worlds --------------------------------------------------------------------------------

typedef struct Odd {
    const char* name;
    int elements;
    double
        at; // of the length, where a ball lies under the rod; below 0: a coil that touches itself
    double mu, gravity, gamma;
    bool slides, joints;
} Odd;

static TdlWorld* odd_world(TdlHost host, const Odd* odd, TdlBodyId* id) {
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world = NULL;
    def.gravity = (TdlVec3){0.0, 0.0, -odd->gravity};
    def.contacts.law.mu = odd->mu;
    TdlRodDef rod = tdl_rod_def_default();
    TdlBodyId ball;
    rod.element_count = odd->elements;
    rod.model = odd->joints ? "super-clothoid" : "super-helix";
    if (odd->at < 0.0) { // two and a half turns, one beside the next
        double a = 0.02, b = 0.31831e-3, size = a * a + b * b;
        rod.radius[0] = rod.radius[1] = 1.0e-3;
        rod.length = 0.31;
        rod.curvature = (TdlVec3){b / size, 0.0, a / size};
        rod.natural_curvature = rod.curvature;
    }
    TdlColliderDef shape = tdl_collider_def_default();
    shape.shape = TDL_SHAPE_SPHERE;
    shape.radius = 0.01;
    shape.pose.position = (TdlVec3){odd->at * rod.length, 0.0, -0.01 - rod.radius[0]};
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK ||
        tdl_world_add_rod(world, &rod, id) != TDL_STATUS_OK ||
        (odd->at >= 0.0 && tdl_world_add_collider(world, &shape, &ball) != TDL_STATUS_OK)) {
        tdl_world_destroy(world);
        return NULL;
    }
    return world;
}

// Where little or nothing tells forces, they are still finite, in the cones, and the shape at rest.
TEST(odd_worlds_have_an_answer) {
    static const Odd odds[] = {
        {"no friction", 8, 0.6, 0.0, 9.81, 1.0e-5, true, false},
        {"no gravity", 8, 0.6, 0.3, 0.0, 1.0e-5, false, false},
        {"one element", 1, 0.5, 0.3, 9.81, 1.0e-5, false, false},
        {"one element with joints", 1, 0.5, 0.3, 9.81, 1.0e-5, false, true},
        {"at the clamp", 8, 0.0, 0.3, 9.81, 1.0e-5, false, false},
        {"beside the clamp", 8, 0.01, 0.3, 9.81, 0.0, false, true},
        {"at the tip", 8, 1.0, 0.3, 9.81, 0.0, false, false},
        {"a coil", 25, -1.0, 0.3, 9.81, 1.0e-5, false, false},
    };
    for (size_t k = 0; k < sizeof odds / sizeof *odds; ++k) {
        for (int guess = 0; guess < 2; ++guess) {
            TdlBodyId id;
            TdlWorld* world = odd_world(tdl_host_default(), &odds[k], &id);
            TdlInverseOptions options = tdl_inverse_options_default();
            TdlInverseReport report;
            REQUIRE(world != NULL);
            options.contacts = options.keep_guess = true;
            options.guess = guess;
            options.gamma = odds[k].gamma;
            options.reach = 1.0e-6;
            TdlStatus status = tdl_world_inverse(world, &options, &report);
            CHECK_INT(status, TDL_STATUS_OK);
            if (status != TDL_STATUS_OK) {
                printf("  %s\n", odds[k].name);
                tdl_world_destroy(world);
                continue;
            }
            printf("  %s, guess %d: %d contacts, %d carry, %d slide, force %.2g N, residual %.1e, "
                   "least eigenvalue %.3g\n",
                   odds[k].name, guess, report.contact_count, report.loaded_count,
                   report.sliding_count, report.largest_force, report.strands[0].residual,
                   report.least_eigenvalue);
            CHECK(report.contact_count > 0);
            CHECK(report.strands[0].residual < 1.0e-12); // some roundings of forces
            CHECK(isfinite(report.largest_force) && isfinite(report.least_eigenvalue));
            CHECK_INT(report.sliding_count, odds[k].slides ? report.loaded_count : 0);
            CHECK(report.stable == (report.least_eigenvalue > 0.0 && report.sliding_count == 0));
            CHECK(odds[k].gravity > 0.0 || report.largest_force == 0.0);
            tdl_inverse_report_free(world, &report);
            tdl_world_destroy(world);
        }
    }
}

// Whichever allocation fails, it is told, natural curvatures stay, and nothing leaks.
TEST(a_world_is_as_it_was_without_memory) {
    static const Odd odd = {"no memory", 8, 0.6, 0.3, 9.81, 1.0e-5, false, false};
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    int failures = 0;
    for (int at = 1; status == TDL_STATUS_NO_MEMORY && at < 1000; ++at) {
        FailingMemory memory = {0};
        TdlHost host = tdl_host_default();
        TdlBodyId id;
        host.mem = (TdlAllocator){.resize = failing_resize, .user = &memory};
        TdlWorld* world = odd_world(host, &odd, &id);
        REQUIRE(world != NULL);
        TdlInverseOptions options = tdl_inverse_options_default();
        TdlInverseReport report = {0};
        TdlVec3 natural[8];
        options.contacts = options.stiffen = true;
        memory.calls = 0;
        memory.fail_at = at;
        status = tdl_world_inverse(world, &options, &report);
        CHECK(status == TDL_STATUS_OK || status == TDL_STATUS_NO_MEMORY);
        tdl_rod_natural_curvature(world, id, natural);
        for (int k = 0; k < 8 && status == TDL_STATUS_NO_MEMORY; ++k) {
            CHECK_NEAR3(natural[k], (TdlVec3){0}, 0.0);
        }
        failures += status == TDL_STATUS_NO_MEMORY;
        tdl_inverse_report_free(world, &report);
        tdl_world_destroy(world);
        CHECK_INT(memory.live, 0);
    }
    printf("  %d allocations\n", failures);
    CHECK_INT(status, TDL_STATUS_OK);
    CHECK(failures > 10);
}
