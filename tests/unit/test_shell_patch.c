// The shell patch against frames that are turned step by step, sums of the slow kind, a rod of one
// element, and frequencies found by hand.
#include "base/rng.h"
#include "cloth/shell_patch.h"
#include "counting_allocator.h"
#include "math/rotation.h"
#include "tendril/world.h"
#include "test.h"

static const double PI = 3.14159265358979323846;

static ShellPatch make_patch(const double natural[3]) {
    TdlShellPatchDef def = tdl_shell_patch_def_default();
    ShellPatch patch;
    def.size[0] = 0.3;
    def.size[1] = 0.2;
    def.poisson = 0.35;
    def.pose.rotation = tdl_rotation_exp((TdlVec3){0.4, -0.9, 0.3});
    for (int i = 0; i < 3; ++i) {
        def.natural[i] = natural[i];
    }
    CHECK(tdl_shell_patch_def_fault(&def) == NULL);
    shell_init(&patch, &def);
    return patch;
}

static const double SADDLE[3] = {4.0, 3.0, -1.5}; // 1/m

// Curvatures and angles from flat to two windings.
enum { SHAPES = 7 };
static const double SHAPE[SHAPES][2] = {{0.0, 0.3},   {1.0e-7, 2.0}, {-0.8, -1.1}, {6.0, 0.0},
                                        {-11.0, 1.3}, {14.0, 4.0},   {45.0, 0.9}};

// --- the shape -------------------------------------------------------------------------------

// Over a side, frame and place by many short helices of the curvature vectors of (S.2).
static TdlVec3 walk(TdlVec3 from, TdlMat3* frame, TdlVec3 kappa, int side, double length) {
    enum { STEPS = 20000 };
    double ds = length / STEPS;
    TdlMat3 half = tdl_rotation_exp(tdl_scale3(0.5 * ds, kappa));
    for (int i = 0; i < STEPS; ++i) {
        TdlMat3 middle = tdl_mul33(*frame, half);
        from = tdl_axpy3(from, ds, side == 0 ? middle.cx : middle.cy);
        *frame = tdl_mul33(middle, half);
    }
    return from;
}

// By the first side and then along the second, and the other way: the frames are one, so are the
// places, and they are the closed form's.
TEST(frames_turned_step_by_step_lead_to_the_closed_form) {
    for (int n = 0; n < SHAPES; ++n) {
        double k = SHAPE[n][0], c = cos(SHAPE[n][1]), s = sin(SHAPE[n][1]);
        TdlVec3 ku = {k * c * s, -k * c * c, 0.0}, kv = {k * s * s, -k * c * s, 0.0};
        double u = 0.3, v = 0.2;
        TdlMat3 one = tdl_identity33(), other = one;
        TdlVec3 a = walk(walk((TdlVec3){0}, &one, ku, 0, u), &one, kv, 1, v);
        TdlVec3 b = walk(walk((TdlVec3){0}, &other, kv, 1, v), &other, ku, 0, u);
        TdlVec3 p = shell_point(SHAPE[n], u, v, NULL);
        // chords of 20000 arcs that turn by 14 rad at most: 0.3 (14/20000)^2 / 24 = 6e-9
        CHECK_NEAR3(a, p, 1.0e-8);
        CHECK_NEAR3(b, p, 1.0e-8);
        TdlMat3 whole = tdl_rotation_exp(tdl_axpy3(tdl_scale3(u, ku), v, kv));
        CHECK_NEAR3(one.cz, whole.cz, 1.0e-11); // 40000 products
        CHECK_NEAR3(other.cz, whole.cz, 1.0e-11);
    }
}

// Two points of an unrolled cylinder are apart by the chord of their arc and by their height; all
// points are as far from its axis. So lengths along it are those in the plane.
TEST(the_patch_is_a_cylinder_and_keeps_its_metric) {
    Rng rng = rng_seed(3);
    for (int n = 0; n < 2000; ++n) {
        const double* z = SHAPE[n % SHAPES];
        double place[4], k = z[0], c = cos(z[1]), s = sin(z[1]);
        for (int i = 0; i < 4; ++i) {
            place[i] = 0.3 * rng_unit(&rng);
        }
        TdlVec3 p = shell_point(z, place[0], place[1], NULL);
        TdlVec3 q = shell_point(z, place[2], place[3], NULL);
        double du = place[2] - place[0], dv = place[3] - place[1];
        double arc = du * c + dv * s, height = dv * c - du * s;
        double chord = k == 0.0 ? arc : 2.0 / k * sin(0.5 * k * arc);
        CHECK_NEAR(tdl_norm3(tdl_sub3(q, p)), hypot(chord, height), 2.0e-15); // roundings of 0.4 m
        if (fabs(k) > 0.1) {
            TdlVec3 from = {p.x, p.y, p.z - 1.0 / k}, g = {-s, c, 0.0};
            from = tdl_axpy3(from, -tdl_dot3(from, g), g);
            CHECK_NEAR(tdl_norm3(from) * fabs(k), 1.0, 1.0e-14); // of products with k x 0.4 m
        }
    }
}

// --- derivatives -----------------------------------------------------------------------------

// Differences of a function with a derivative of it, at three steps: the error falls with the
// square of the step.
typedef struct Slope {
    double error[3];
} Slope;

static const double STEP[3] = {4.0e-3, 2.0e-3, 1.0e-3};

static double order_of(Slope s) {
    return 0.5 * log2(s.error[0] / s.error[2]);
}

static void add_error(Slope* s, int step, double high, double low, double exact) {
    s->error[step] += fabs((high - low) / (2.0 * STEP[step]) - exact);
}

TEST(rates_of_points_are_derivatives) {
    Slope slope[2] = {0};
    for (int n = 0; n < SHAPES; ++n) {
        TdlVec3 rate[2];
        shell_point(SHAPE[n], 0.21, 0.17, rate);
        for (int j = 0; j < 2; ++j) {
            for (int h = 0; h < 3; ++h) {
                double up[2] = {SHAPE[n][0], SHAPE[n][1]}, down[2] = {up[0], up[1]};
                up[j] += STEP[h];
                down[j] -= STEP[h];
                TdlVec3 a = shell_point(up, 0.21, 0.17, NULL);
                TdlVec3 b = shell_point(down, 0.21, 0.17, NULL);
                add_error(&slope[j], h, a.x, b.x, rate[j].x);
                add_error(&slope[j], h, a.y, b.y, rate[j].y);
                add_error(&slope[j], h, a.z, b.z, rate[j].z);
            }
        }
    }
    CHECK_NEAR(order_of(slope[0]), 2.0, 0.05);
    CHECK_NEAR(order_of(slope[1]), 2.0, 0.05);
    CHECK(slope[0].error[2] < 1.0e-6 && slope[1].error[2] < 1.0e-4);
}

typedef ShellPotential (*PotentialOf)(const ShellPatch* patch, const double z[2]);

static ShellPotential elastic_of(const ShellPatch* patch, const double z[2]) {
    return shell_elastic(patch, z);
}

static ShellPotential weight_of(const ShellPatch* patch, const double z[2]) {
    return shell_weight(patch, (TdlVec3){2.0, -3.0, -9.0}, z);
}

// Slopes and second derivatives, each against differences of what it is the derivative of.
static void check_potential(PotentialOf of) {
    ShellPatch patch = make_patch(SADDLE);
    Slope slope[2] = {0}, curve[2] = {0};
    for (int n = 0; n < SHAPES; ++n) {
        ShellPotential at = of(&patch, SHAPE[n]);
        const double row[2][2] = {{at.curve.kk, at.curve.ka}, {at.curve.ka, at.curve.aa}};
        for (int j = 0; j < 2; ++j) {
            for (int h = 0; h < 3; ++h) {
                double up[2] = {SHAPE[n][0], SHAPE[n][1]}, down[2] = {up[0], up[1]};
                up[j] += STEP[h];
                down[j] -= STEP[h];
                ShellPotential a = of(&patch, up), b = of(&patch, down);
                add_error(&slope[j], h, a.value, b.value, at.slope[j]);
                for (int i = 0; i < 2; ++i) {
                    add_error(&curve[j], h, a.slope[i], b.slope[i], row[j][i]);
                }
            }
        }
    }
    for (int j = 0; j < 2; ++j) {
        printf("  order %.3f and %.3f\n", order_of(slope[j]), order_of(curve[j]));
    }
    // the elastic energy has no third derivative along k: nothing but rounding is left of it
    for (int j = of == elastic_of ? 1 : 0; j < 2; ++j) {
        CHECK_NEAR(order_of(slope[j]), 2.0, 0.05);
        CHECK_NEAR(order_of(curve[j]), 2.0, 0.05);
    }
    CHECK(slope[0].error[2] < 1.0e-9 && curve[0].error[2] < 1.0e-8);
}

TEST(slopes_of_the_elastic_energy_are_derivatives) {
    check_potential(elastic_of);
}

TEST(slopes_of_the_weight_are_derivatives) {
    check_potential(weight_of);
}

// --- integrals -------------------------------------------------------------------------------

// Simpson's rule on a fine grid.
static double simpson(int i, int n) {
    return i == 0 || i == n ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
}

TEST(mass_and_weight_are_the_sums_over_all_points) {
    enum { FINE = 300 };
    ShellPatch patch = make_patch(SADDLE);
    TdlVec3 gravity = {2.0, -3.0, -9.0};
    TdlVec3 own = tdl_tmul33_3(patch.def.pose.rotation, gravity);
    for (int n = 0; n < SHAPES; ++n) {
        const double *z = SHAPE[n], *y = SHAPE[(n + 3) % SHAPES];
        double M[4], mass[4] = {0}, weight = 0.0;
        for (int i = 0; i <= FINE; ++i) {
            for (int j = 0; j <= FINE; ++j) {
                double u = 0.3 * i / FINE, v = 0.2 * j / FINE;
                double share = simpson(i, FINE) * simpson(j, FINE) * 0.06 / (9.0 * FINE * FINE);
                TdlVec3 left[2], right[2], flat = {u, v, 0.0};
                TdlVec3 p = shell_point(z, u, v, left);
                shell_point(y, u, v, right);
                weight -= share * patch.area_mass * tdl_dot3(own, tdl_sub3(p, flat));
                for (int k = 0; k < 4; ++k) {
                    mass[k] += share * patch.area_mass * tdl_dot3(left[k / 2], right[k % 2]);
                }
            }
        }
        shell_mass(&patch, z, y, M);
        ShellPotential w = shell_weight(&patch, gravity, z);
        // Simpson's error, (2 * 45 rad * 0.3 / 300)^4 / 180 = 4e-7 of what is largest, at worst
        CHECK_NEAR(w.value, weight, 4.0e-7 * 0.06 * 10.0 * 0.3);
        double size = sqrt(mass[0] * mass[0] + mass[3] * mass[3]) + 1.0e-9;
        for (int k = 0; k < 4; ++k) {
            CHECK_NEAR(M[k], mass[k], 4.0e-7 * size);
        }
    }
}

// The elastic energy is that of plates: bending in both directions, coupled by Poisson's number.
TEST(elastic_energy_is_that_of_a_plate) {
    ShellPatch patch = make_patch(SADDLE);
    double nu = 0.35, D = 1.0e6 * 1.0e-9 / (12.0 * (1.0 - nu * nu));
    for (int n = 0; n < SHAPES; ++n) {
        double k = SHAPE[n][0], c = cos(SHAPE[n][1]), s = sin(SHAPE[n][1]);
        double x = k * c * c - 4.0, xy = k * c * s - 3.0, y = k * s * s + 1.5;
        double form = x * x + y * y + 2.0 * nu * x * y + 2.0 * (1.0 - nu) * xy * xy;
        double expected = 0.5 * D * 0.06 * form;
        CHECK_NEAR(shell_elastic(&patch, SHAPE[n]).value, expected, 1.0e-14 * (1.0 + expected));
    }
}

// Of a b that is no cylinder's it starts in the nearest one, whichever the signs.
TEST(the_natural_start_has_the_least_elastic_energy) {
    const double natural[5][3] = {
        {4.0, 3.0, -1.5}, {-4.0, 1.0, -2.0}, {0.0, 0.0, 5.0}, {1.0, 0.0, 1.0}, {0.0, 2.0, 0.0}};
    for (int n = 0; n < 5; ++n) {
        ShellPatch patch = make_patch(natural[n]);
        double least = shell_elastic(&patch, patch.now.z).value;
        for (int i = 0; i < 400; ++i) {
            for (int j = 0; j < 40; ++j) {
                double z[2] = {-10.0 + 0.05 * i, j * PI / 40.0};
                CHECK(shell_elastic(&patch, z).value >= least - 1.0e-15);
            }
        }
    }
    double flat[3] = {0.0, 0.0, 0.0}, rolled[3] = {0.0, 0.0, -5.0};
    ShellPatch at_rest = make_patch(flat), roll = make_patch(rolled);
    CHECK_NEAR(at_rest.now.z[0], 0.0, 0.0);
    CHECK_NEAR(roll.now.z[0], -5.0, 1.0e-14);
    CHECK_NEAR(shell_elastic(&roll, roll.now.z).value, 0.0, 1.0e-16);
}

// --- rest ------------------------------------------------------------------------------------

static TdlWorld* make_world(double step) {
    TdlWorldDef def = tdl_world_def_default();
    TdlHost host = tdl_host_default();
    TdlWorld* world;
    def.step = step;
    def.losses = true;
    def.contacts.off = true;
    CHECK(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    return world;
}

// A strip that bends along its length, and a super-helix of one element with EI = D width and its
// mass: how far their rests are apart, as a share of the bending.
static double apart_from_rod(double width) {
    TdlShellPatchDef def = tdl_shell_patch_def_default();
    TdlWorld* world = make_world(1.0e-3);
    TdlBodyId patch, rod;
    def.size[1] = width;
    def.natural[0] = 5.0;
    CHECK(tdl_world_add_shell_patch(world, &def, &patch) == TDL_STATUS_OK);
    TdlRodDef line = tdl_rod_def_default();
    double r = 1.0e-3, D = 1.0e6 * 1.0e-9 / (12.0 * (1.0 - 0.09));
    TdlVec3 bent = {0.0, -5.0, 0.0}; // towards the normal
    line.model = "super-helix";
    line.length = 0.2;
    line.element_count = 1;
    line.radius[0] = line.radius[1] = r;
    line.young = 4.0 * D * width / (PI * r * r * r * r);
    line.density = width / (PI * r * r);
    line.curvature = line.natural_curvature = bent;
    CHECK(tdl_world_add_rod(world, &line, &rod) == TDL_STATUS_OK);
    double residual;
    CHECK(tdl_world_settle(world, &residual) == TDL_STATUS_OK && residual < 1.0e-10);
    TdlVec3 kappa;
    CHECK(tdl_rod_curvature(world, rod, &kappa) == TDL_STATUS_OK);
    CHECK(tdl_shell_patch_def(world, patch, &def) == TDL_STATUS_OK);
    double k = -kappa.y;
    CHECK(fabs(k - 5.0) > 1.0); // its weight does something
    tdl_world_destroy(world);
    return fabs(def.curvature * cos(def.angle) * cos(def.angle) - k) / 5.0;
}

// What a strip has beside the rod, a moment about its middle line, turns its direction by a share
// of the width: curvatures then differ by the square of it.
TEST(a_narrow_strip_rests_like_a_rod_of_one_element) {
    double wide = apart_from_rod(4.0e-3), half = apart_from_rod(2.0e-3),
           narrow = apart_from_rod(1.0e-3);
    printf("  apart by %.3g, %.3g and %.3g of the curvature\n", wide, half, narrow);
    CHECK_NEAR(log2(wide / half), 2.0, 0.1);
    CHECK_NEAR(log2(half / narrow), 2.0, 0.1);
    CHECK(narrow < 1.0e-3);
}

// At rest the slopes vanish, found by differences of energies, and every way leads up.
TEST(a_rest_is_a_valley_of_the_energy) {
    const double natural[4][3] = {
        {4.0, 3.0, -1.5}, {0.0, 0.0, 0.0}, {6.0, 0.0, 0.0}, {-3.0, 1.0, -8.0}};
    TdlVec3 gravity = {0.0, 0.0, -9.81};
    for (int n = 0; n < 4; ++n) {
        ShellPatch patch = make_patch(natural[n]);
        double residual;
        REQUIRE(shell_settle(&patch, gravity, &residual));
        CHECK(residual < 1.0e-12);
        TdlEnergy e = shell_energy(&patch, gravity);
        double least = e.elastic + e.gravity, span = 1.0e-3;
        for (int i = 0; i < 16; ++i) {
            ShellPatch near = patch;
            near.now.z[0] += span * cos(i * PI / 8.0) / 0.3;
            near.now.z[1] += span * sin(i * PI / 8.0);
            e = shell_energy(&near, gravity);
            CHECK(e.elastic + e.gravity > least);
        }
    }
}

// A square one under a load along its normal bends along either diagonal: along that which does not
// go through the corner it is at a saddle, which it leaves.
TEST(a_rest_at_a_saddle_is_left) {
    const double flat[3] = {0.0, 0.0, 0.0};
    ShellPatch patch = make_patch(flat);
    patch.def.size[1] = 0.3;
    patch.def.pose.rotation = tdl_identity33();
    TdlVec3 gravity = {0.0, 0.0, -0.1};
    // along the saddle's direction, its best curvature by bisection of the slope
    double low = -6.0, high = 0.0;
    for (int i = 0; i < 60; ++i) {
        double z[2] = {0.5 * (low + high), -0.25 * PI};
        double slope =
            shell_elastic(&patch, z).slope[0] + shell_weight(&patch, gravity, z).slope[0];
        low = slope < 0.0 ? z[0] : low;
        high = slope < 0.0 ? high : z[0];
    }
    patch.now.z[0] = low;
    patch.now.z[1] = -0.25 * PI;
    CHECK(low < -1.0e-3 && fabs(shell_weight(&patch, gravity, patch.now.z).slope[1]) < 1.0e-15);
    CHECK(shell_weight(&patch, gravity, patch.now.z).curve.aa < 0.0);
    double residual;
    REQUIRE(shell_settle(&patch, gravity, &residual));
    double turned = remainder(patch.now.z[1] - 0.25 * PI, PI);
    CHECK_NEAR(turned, 0.0, 1.0e-9); // of a search to 1e-13 of what it is worth
    CHECK(residual < 1.0e-12);
}

// --- steps -----------------------------------------------------------------------------------

static double total(TdlEnergy e) {
    return e.kinetic + e.elastic + e.gravity;
}

// Whatever the step: from 0.1 ms to a second, through flat shapes and windings, with weight. What
// goes is what the losses tell, but for the end of the search (1e-13) and sums of thousands.
TEST(energy_never_rises_and_the_losses_account_for_it) {
    const double step[5] = {1.0e-4, 1.0e-3, 1.0e-2, 0.1, 1.0};
    const double natural[4][3] = {
        {4.0, 3.0, -1.5}, {0.0, 0.0, 0.0}, {6.0, 0.0, 0.0}, {-30.0, 10.0, 8.0}};
    int steps = getenv("TENDRIL_LONG") != NULL ? 1000 : 40;
    double worst = 0.0;
    for (int n = 0; n < 20; ++n) {
        ShellPatch patch = make_patch(natural[n % 4]);
        patch.now.z[0] = patch.now.before[0] = n % 3 == 0 ? 0.0 : -9.0 + n;
        patch.now.z[1] = patch.now.before[1] = 0.3 * n;
        patch.now.v[0] = 10.0 * (n % 2);
        patch.def.damping = n % 7 == 0 ? 1.0e-3 : 0.0;
        patch.def.mass_damping = n % 5 == 0 ? 0.3 : 0.0;
        ShellStep t = {.dt = step[n / 4], .gravity = {0.0, 3.0, -9.81}};
        double before = total(shell_energy(&patch, t.gravity)), size = fabs(before) + 0.1;
        for (int i = 0; i < steps; ++i) {
            if (!shell_predict(&patch, &t)) {
                FAIL("case %d: no step %d", n, i);
                break;
            }
            shell_advance(&patch, t.dt);
            double now = total(shell_energy(&patch, t.gravity));
            CHECK(patch.damping >= 0.0 && patch.numerical >= -1.0e-13 * size);
            double left = now - before + patch.damping + patch.numerical;
            worst = fmax(worst, fabs(left) / size);
            CHECK(now <= before + 1.0e-11 * size);
            before = now;
        }
    }
    printf("  energies and losses differ by %.2g of what is at play\n", worst);
    CHECK(worst < 1.0e-11);
}

// What a load does at once on a flat patch that bends in a direction: (S.22), by plain sums.
static double fall_along(double angle) {
    enum { FINE = 60 };
    double square = 0.0, fourth = 0.0;
    for (int i = 0; i < FINE * FINE; ++i) {
        double u = 0.3 * (i / FINE + 0.5) / FINE, v = 0.2 * (i % FINE + 0.5) / FINE;
        double x = u * cos(angle) + v * sin(angle);
        square += x * x;
        fourth += x * x * x * x;
    }
    return square * square / fourth;
}

// A flat one has no direction yet: step by step it finds that in which it falls fastest. Towards it
// what is missing falls with about the root of the steps.
TEST(a_flat_patch_finds_the_direction_in_which_it_falls_fastest) {
    const double flat[3] = {0.0, 0.0, 0.0};
    double wanted = 0.0, missing[2] = {0};
    for (int i = 1; i < 314; ++i) {
        wanted = fall_along(0.01 * i) > fall_along(wanted) ? 0.01 * i : wanted;
    }
    ShellPatch patch = make_patch(flat);
    patch.def.pose.rotation = tdl_identity33();
    ShellStep t = {.dt = 1.0e-5, .gravity = {0.0, 0.0, -9.81}};
    for (int i = 0; i < 2000; ++i) {
        REQUIRE(shell_predict(&patch, &t));
        shell_advance(&patch, t.dt);
        missing[0] = i == 499 ? wanted - patch.now.z[1] : missing[0];
    }
    missing[1] = wanted - patch.now.z[1];
    printf("  from %.2f rad by %.3f after 500 steps, by %.3f after 2000\n", wanted, missing[0],
           missing[1]);
    CHECK(patch.now.z[0] < -0.01 && patch.now.z[0] > -0.1); // downwards, and still nearly flat
    CHECK(missing[1] > 0.0 && missing[1] < 0.15 && missing[1] < 0.55 * missing[0]);
}

// Lagrange's equations by Runge and Kutta, with momenta p = M v and derivatives of the mass by
// differences.
static void slopes_of_motion(const ShellPatch* patch, TdlVec3 gravity, const double x[4],
                             double out[4]) {
    double M[4], h = 1.0e-5;
    shell_mass(patch, x, x, M);
    double det = M[0] * M[3] - M[1] * M[2];
    out[0] = (M[3] * x[2] - M[1] * x[3]) / det;
    out[1] = (M[0] * x[3] - M[1] * x[2]) / det;
    ShellPotential e = shell_elastic(patch, x), w = shell_weight(patch, gravity, x);
    for (int j = 0; j < 2; ++j) {
        double up[2] = {x[0], x[1]}, down[2] = {x[0], x[1]}, A[4], B[4];
        up[j] += h;
        down[j] -= h;
        shell_mass(patch, up, up, A);
        shell_mass(patch, down, down, B);
        out[2 + j] = -e.slope[j] - w.slope[j];
        for (int k = 0; k < 4; ++k) {
            out[2 + j] += 0.25 / h * (A[k] - B[k]) * out[k / 2] * out[k % 2];
        }
    }
}

static void move_by_lagrange(const ShellPatch* patch, TdlVec3 gravity, double time, double z[2]) {
    enum { STEPS = 200 };
    double x[4] = {patch->now.z[0], patch->now.z[1], 0.0, 0.0}, dt = time / STEPS;
    for (int i = 0; i < STEPS; ++i) {
        double k[4][4], at[4];
        for (int s = 0; s < 4; ++s) {
            for (int j = 0; j < 4; ++j) {
                at[j] = x[j] + (s == 0 ? 0.0 : (s == 3 ? dt : 0.5 * dt) * k[s - 1][j]);
            }
            slopes_of_motion(patch, gravity, at, k[s]);
        }
        for (int j = 0; j < 4; ++j) {
            x[j] += dt / 6.0 * (k[0][j] + 2.0 * k[1][j] + 2.0 * k[2][j] + k[3][j]);
        }
    }
    z[0] = x[0];
    z[1] = x[1];
}

// Steps of dt, dt/2 and dt/4 come to Lagrange's motion with the first order.
TEST(steps_lead_to_the_motion_of_lagrange) {
    const double natural[3] = {8.0, 2.0, 0.5};
    TdlVec3 gravity = {0.0, 0.0, -9.81};
    ShellPatch start = make_patch(natural);
    double wanted[2], error[3], time = 0.2;
    move_by_lagrange(&start, gravity, time, wanted);
    for (int n = 0; n < 3; ++n) {
        ShellPatch patch = start;
        int steps = 200 << n;
        ShellStep t = {.dt = time / steps, .gravity = gravity};
        for (int i = 0; i < steps; ++i) {
            REQUIRE(shell_predict(&patch, &t));
            shell_advance(&patch, t.dt);
        }
        error[n] = hypot(0.3 * (patch.now.z[0] - wanted[0]), patch.now.z[1] - wanted[1]);
    }
    double far = hypot(0.3 * (wanted[0] - start.now.z[0]), wanted[1] - start.now.z[1]);
    printf("  moved by %.3f, errors %.3g, %.3g and %.3g\n", far, error[0], error[1], error[2]);
    CHECK(far > 0.5);
    CHECK_NEAR(log2(error[0] / error[1]), 1.0, 0.1);
    CHECK_NEAR(log2(error[1] / error[2]), 1.0, 0.1);
    CHECK(error[2] < 0.02 * far);
}

// A nearly flat one of curvature c along its first side, in (k, c times the angle): by hand
// M = rho (U^5 V/20, U^4 V^2/16, U^3 V^3/9) and K = D U V (1, 2 (1 - nu)). In the step's rule a
// mode of frequency w loses (1 + (w dt)^2/2)^(-1/2) a step. (S.21)
TEST(small_oscillations_have_the_frequencies_found_by_hand) {
    const double natural[3] = {0.05, 0.0, 0.0}, c = 0.05, U = 0.3, V = 0.2, nu = 0.35;
    double D = 1.0e6 * 1.0e-9 / (12.0 * (1.0 - nu * nu)), rho = 1.0;
    double kk = rho * pow(U, 5.0) * V / 20.0, ka = rho * pow(U, 4.0) * V * V / 16.0;
    double aa = rho * pow(U * V, 3.0) / 9.0, K = D * U * V, Ka = 2.0 * (1.0 - nu) * K;
    // det(K - x M) = 0
    double a = kk * aa - ka * ka, b = K * aa + Ka * kk, d = sqrt(b * b - 4.0 * a * K * Ka);
    for (int mode = 0; mode < 2; ++mode) {
        double x = (b + (mode == 0 ? -d : d)) / (2.0 * a), w = sqrt(x);
        double shape[2] = {x * ka, K - x * kk}; // in the null space of K - x M
        double size = 1.0e-3 * c / hypot(shape[0], shape[1]);
        ShellPatch patch = make_patch(natural);
        patch.now.z[0] += size * shape[0];
        patch.now.z[1] += size * shape[1] / c;
        memcpy(patch.now.before, patch.now.z, sizeof patch.now.z);
        enum { PERIOD = 200 };
        ShellStep t = {.dt = 2.0 * PI / w / PERIOD};
        // over two periods: the place of the last zero, and how much is left
        double before = 1.0, zero = 0.0;
        for (int i = 0; i < 2 * PERIOD; ++i) {
            REQUIRE(shell_predict(&patch, &t));
            shell_advance(&patch, t.dt);
            double now = (shape[0] * (patch.now.z[0] - c) + shape[1] * c * patch.now.z[1]) /
                         (size * (shape[0] * shape[0] + shape[1] * shape[1]));
            zero = before < 0.0 && now >= 0.0 ? i + before / (before - now) : zero;
            before = now;
        }
        double step = 2.0 * PI / PERIOD, kept = pow(1.0 + 0.5 * step * step, -PERIOD);
        printf("  mode %d: %.4f rad/s, %.6f periods till the last zero, %.4f left\n", mode, w,
               zero / PERIOD, before);
        // the rule's, 0.115 step^2 = 1e-4; (c U)^2 and the amplitude, 1e-3
        CHECK_NEAR(zero / PERIOD, 1.75, 2.0e-3);
        CHECK_NEAR(before, kept, 5.0e-3);
    }
}

// --- in a world ------------------------------------------------------------------------------

static TdlBodyId add_patch(TdlWorld* world, double curvature) {
    TdlShellPatchDef def = tdl_shell_patch_def_default();
    TdlBodyId id = {0};
    def.natural[0] = curvature;
    def.natural[1] = 0.3 * curvature;
    def.natural[2] = 0.09 * curvature;
    CHECK(tdl_world_add_shell_patch(world, &def, &id) == TDL_STATUS_OK);
    return id;
}

static void run(TdlWorld* world, int steps) {
    for (int i = 0; i < steps; ++i) {
        TdlStepInfo info;
        TdlEnergy before = tdl_world_energy(world);
        REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        double rise = total(info.energy) - total(before);
        CHECK_NEAR(rise, -info.damping - info.numerical, 1.0e-12); // of 1e-2 J at play
    }
}

TEST(a_saved_state_goes_on_with_the_same_bits) {
    TdlWorld *world = make_world(2.0e-3), *later = make_world(2.0e-3);
    add_patch(world, 7.0);
    add_patch(later, 7.0);
    run(world, 50);
    size_t size = tdl_world_state_size(world);
    void* state = malloc(size);
    tdl_world_save_state(world, state);
    REQUIRE(tdl_world_load_state(later, state, size) == TDL_STATUS_OK);
    run(world, 100);
    run(later, 100);
    CHECK(tdl_world_state_hash(world) == tdl_world_state_hash(later));
    free(state);
    tdl_world_destroy(world);
    tdl_world_destroy(later);
}

// Where steps are chosen, they are halved while the patch moves fast.
TEST(a_wanted_error_makes_steps_short) {
    double k[3];
    for (int n = 0; n < 3; ++n) {
        TdlWorldDef def = tdl_world_def_default();
        TdlHost host = tdl_host_default();
        TdlWorld* world;
        TdlShellPatchDef patch;
        def.step = n == 2 ? 1.0e-4 : 2.0e-2;
        def.error = n == 1 ? 0.03 : 0.0;
        CHECK(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
        TdlBodyId id = add_patch(world, 7.0);
        int substeps = 0, steps = n == 2 ? 1000 : 5;
        for (int i = 0; i < steps; ++i) {
            TdlStepInfo info;
            REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
            substeps += info.substeps;
        }
        CHECK(n == 1 ? substeps > 2 * steps : substeps == steps);
        CHECK(tdl_shell_patch_def(world, id, &patch) == TDL_STATUS_OK);
        k[n] = patch.curvature;
        tdl_world_destroy(world);
    }
    printf("  off by %.3g 1/m, by %.3g with the error\n", fabs(k[0] - k[2]), fabs(k[1] - k[2]));
    CHECK(fabs(k[1] - k[2]) < 0.5 * fabs(k[0] - k[2]));
}

TEST(the_mesh_lies_on_the_patch) {
    TdlWorld* world = make_world(1.0e-3);
    TdlBodyId id = add_patch(world, 7.0);
    run(world, 20);
    TdlShellPatchDef def;
    TdlShellMesh mesh;
    TdlVec3 before[21 * 11], x[21 * 11], v[21 * 11], centre;
    double mass, step = 1.0e-3;
    REQUIRE(tdl_shell_patch_def(world, id, &def) == TDL_STATUS_OK);
    REQUIRE(tdl_shell_patch_mesh(world, id, &mesh) == TDL_STATUS_OK);
    CHECK_INT(mesh.vertex_count, 21 * 11);
    CHECK_INT(mesh.face_count, 200);
    CHECK_INT(mesh.triangle_count, 400);
    tdl_shell_patch_points(world, id, before, NULL);
    CHECK_NEAR3(before[0], ((TdlVec3){0}), 0.0); // the corner that is held
    double area = 0.0;
    for (int f = 0; f < mesh.triangle_count; ++f) {
        const int* t = mesh.triangles + 3 * (size_t)f;
        TdlVec3 a = tdl_sub3(before[t[1]], before[t[0]]), b = tdl_sub3(before[t[2]], before[t[0]]);
        area += 0.5 * tdl_norm3(tdl_cross3(a, b));
    }
    // chords: (k h)^2 / 24 of what bends, k = 7.6 1/m and h = 0.01 m
    CHECK_NEAR(area / 0.02, 1.0, 3.0e-4);
    run(world, 1);
    tdl_shell_patch_points(world, id, x, v);
    for (int i = 0; i < mesh.vertex_count; ++i) {
        // half an acceleration of 40 m/s^2 times the step is all that differs
        CHECK_NEAR3(tdl_scale3(1.0 / step, tdl_sub3(x[i], before[i])), v[i], 20.0 * step);
    }
    CHECK(tdl_body_centre(world, id, &centre, &mass) == TDL_STATUS_OK);
    CHECK_NEAR(mass, 0.02, 1.0e-16);
    CHECK_NEAR(tdl_world_energy(world).gravity, mass * 9.81 * centre.z, 1.0e-15);
    tdl_world_destroy(world);
}

// What is near it goes on as if it were not there, to the bit.
TEST(nothing_touches_a_patch) {
    TdlVec3 end[4];
    for (int n = 0; n < 4; ++n) {
        bool with = n % 2 == 1;
        TdlWorldDef def = tdl_world_def_default();
        TdlHost host = tdl_host_default();
        TdlWorld* world;
        def.contacts.response = n < 2 ? TDL_RESPONSE_EXACT : TDL_RESPONSE_BARRIER;
        CHECK(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
        if (with) {
            add_patch(world, 3.0);
        }
        TdlColliderDef floor = tdl_collider_def_default();
        TdlRigidDef ball = tdl_rigid_def_default();
        TdlBodyId id;
        floor.shape = TDL_SHAPE_PLANE;
        floor.pose.position.z = -0.1;
        ball.shape = TDL_RIGID_SPHERE;
        ball.pose.position = (TdlVec3){0.05, 0.05, 0.1}; // above the patch, which is above a floor
        ball.radius = 0.02;
        CHECK(tdl_world_add_collider(world, &floor, &id) == TDL_STATUS_OK);
        CHECK(tdl_world_add_rigid(world, &ball, &id) == TDL_STATUS_OK);
        int contacts = 0;
        for (int i = 0; i < 400; ++i) {
            TdlStepInfo info;
            REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
            contacts += info.contact_count;
        }
        CHECK(contacts > 0); // of the ball and the floor
        double mass;
        tdl_body_centre(world, id, &end[n], &mass);
        tdl_world_destroy(world);
    }
    CHECK_NEAR3(end[1], end[0], 0.0);
    CHECK_NEAR3(end[3], end[2], 0.0);
}

// --- bad input -------------------------------------------------------------------------------

static const char* fault_with(void (*spoil)(TdlShellPatchDef* def)) {
    TdlShellPatchDef def = tdl_shell_patch_def_default();
    spoil(&def);
    return tdl_shell_patch_def_fault(&def);
}

#define SPOIL(name, statement)                                                                     \
    static void name(TdlShellPatchDef* d) {                                                        \
        statement;                                                                                 \
    }
SPOIL(nan_place, d->pose.position.x = NAN)
SPOIL(no_rotation, d->pose.rotation.cx.x = 2.0)
SPOIL(mirror, d->pose.rotation.cz.z = -1.0)
SPOIL(no_width, d->size[1] = 0.0)
SPOIL(infinite, d->size[0] = INFINITY)
SPOIL(no_thickness, d->thickness = 0.0)
SPOIL(nan_thickness, d->thickness = NAN)
SPOIL(light, d->density = -1.0)
SPOIL(soft, d->young = 0.0)
SPOIL(low_poisson, d->poisson = -1.0)
SPOIL(high_poisson, d->poisson = 0.51)
SPOIL(nan_poisson, d->poisson = NAN)
SPOIL(gain, d->damping = -1.0e-9)
SPOIL(mass_gain, d->mass_damping = NAN)
SPOIL(nan_natural, d->natural[1] = NAN)
SPOIL(rolled, d->natural[2] = 300.0)
SPOIL(wound, d->curvature = -300.0)
SPOIL(unbounded, d->curvature = INFINITY)
SPOIL(nan_angle, d->angle = NAN)
SPOIL(one_node, d->nodes[0] = 1)
SPOIL(many_nodes, d->nodes[1] = 1001)

TEST(a_definition_that_cannot_be_is_refused) {
    static const struct {
        void (*spoil)(TdlShellPatchDef* def);
        const char* word;
    } CASES[] = {{nan_place, "pose"},
                 {no_rotation, "pose"},
                 {mirror, "pose"},
                 {no_width, "size"},
                 {infinite, "size"},
                 {no_thickness, "thickness"},
                 {nan_thickness, "thickness"},
                 {light, "density"},
                 {soft, "young"},
                 {low_poisson, "poisson"},
                 {high_poisson, "poisson"},
                 {nan_poisson, "poisson"},
                 {gain, "damping"},
                 {mass_gain, "mass_damping"},
                 {nan_natural, "natural"},
                 {rolled, "natural"},
                 {wound, "curvature"},
                 {unbounded, "curvature"},
                 {nan_angle, "angle"},
                 {one_node, "nodes"},
                 {many_nodes, "nodes"}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; ++i) {
        const char* fault = fault_with(CASES[i].spoil);
        if (fault == NULL || strstr(fault, CASES[i].word) == NULL) {
            FAIL("case %zu: %s, not of %s", i, fault == NULL ? "no fault" : fault, CASES[i].word);
        }
    }
    TdlWorld* world = make_world(1.0e-3);
    TdlShellPatchDef def = tdl_shell_patch_def_default();
    TdlBodyId id = {0};
    def.poisson = -1.0;
    CHECK(tdl_world_add_shell_patch(world, &def, &id) == TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_world_bodies(world, "shell", 0, NULL), 0);
    CHECK(tdl_shell_patch_def(world, id, &def) == TDL_STATUS_BAD_ARGUMENT);
    CHECK(tdl_shell_patch_points(world, id, NULL, NULL) == TDL_STATUS_BAD_ARGUMENT);
    tdl_world_destroy(world);
}

// A world with a patch, a step on and away again; of its allocations the given one fails.
static TdlStatus build_with(AllocCounter* counter) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    TdlShellPatchDef patch = tdl_shell_patch_def_default();
    TdlWorld* world;
    TdlBodyId id;
    host.mem = counting_allocator(counter);
    TdlStatus status = tdl_world_create(&host, &def, &world);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_world_add_shell_patch(world, &patch, &id);
    CHECK_INT(tdl_world_bodies(world, "shell", 0, NULL), status == TDL_STATUS_OK);
    status = status == TDL_STATUS_OK ? tdl_world_step(world, NULL) : status;
    tdl_world_destroy(world);
    return status;
}

TEST(each_allocation_fails_in_turn) {
    AllocCounter counter = {0};
    REQUIRE(build_with(&counter) == TDL_STATUS_OK && counter.live == 0);
    long calls = counter.calls;
    for (long k = 1; k <= calls; ++k) {
        counter = (AllocCounter){.fail_at = k};
        CHECK(build_with(&counter) == TDL_STATUS_NO_MEMORY);
        CHECK_INT(counter.live, 0);
    }
    printf("  %ld allocations failed in turn\n", calls);
}
