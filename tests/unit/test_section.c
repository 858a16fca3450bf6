// Rods whose sections are given, or vary: against beam theory, in every model.
#include "base/rng.h"
#include "math/gauss.h"
#include "math/rotation.h"
#include "rod/section.h"
#include "rod/statics.h"
#include "tendril/world.h"
#include "test.h"

#include <string.h>

static const double PI = 3.14159265358979323846;

static const char* const MODELS[6] = {"super-helix", "super-helix-dense", "super-clothoid",
                                      "der",         "mass-spring",       "corde"};

static Rod* make(const TdlRodDef* def) {
    TdlHost host = tdl_host_default();
    Rod* rod;
    if (rod_create(&host, def, &rod) != TDL_STATUS_OK) {
        abort();
    }
    return rod;
}

static void destroy(Rod* rod) {
    TdlHost host = tdl_host_default();
    rod_destroy(&host, rod);
}

static bool twists(const char* model) {
    return strcmp(model, "mass-spring") != 0;
}

// The section of a rod as a data sheet would give it.
static TdlRodSection sheet_of(const Rod* rod, const char* model) {
    return (TdlRodSection){.bending = {rod->at_rest.stiffness.y, rod->at_rest.stiffness.z},
                           .twisting = twists(model) ? rod->at_rest.stiffness.x : 0.0,
                           .stretching = rod->at_rest.stretching,
                           .shearing = strcmp(model, "corde") == 0 ? rod->at_rest.shearing : 0.0,
                           .mass_per_length = rod->line_density};
}

static double largest_difference(const Rod* a, const Rod* b) {
    double most = 0.0;
    for (int i = 0; i < a->dof_count; ++i) {
        most = fmax(most, fabs(a->q[i] - b->q[i]));
    }
    return most;
}

static void step_rod(Rod* rod, double dt) {
    RodStep step = {
        .dt = dt, .gravity = {1.0, -2.0, -9.0}, .base_end = rod->base.now, .end_end = rod->end.now};
    REQUIRE(rod->model->predict(rod, &step));
    rod->model->advance(rod, &step, rod->v_free);
}

// Young's modulus, Poisson's ratio and density do not count where a sheet gives all.
TEST(a_sheet_that_says_what_the_material_says_gives_the_same_bits) {
    for (int m = 0; m < 6; ++m) {
        TdlRodDef def = tdl_rod_def_default();
        def.model = MODELS[m];
        def.radius[0] = 4.0e-4;
        def.radius[1] = 2.0e-4;
        // of mass-spring a curved one has its bends' directions from the last bits
        def.natural_curvature = twists(MODELS[m]) ? (TdlVec3){1.0, 5.0, -3.0} : (TdlVec3){0};
        Rod* own = make(&def);
        TdlRodSection sheet = sheet_of(own, MODELS[m]);
        def.young = 3.0;
        def.poisson = 0.1;
        def.density = 1.0;
        def.sections = &sheet;
        def.section_count = 1;
        Rod* given = make(&def);
        // the same all along, in a table
        TdlRodSection table[3] = {sheet, sheet, sheet};
        table[1].at = 0.04;
        table[2].at = 0.1;
        def.sections = table;
        def.section_count = 3;
        Rod* even = make(&def);
        for (int k = 0; k < 20; ++k) {
            step_rod(own, 2.0e-3);
            step_rod(given, 2.0e-3);
            step_rod(even, 2.0e-3);
        }
        size_t size = (size_t)own->dof_count * sizeof(double);
        CHECK(memcmp(own->q, given->q, size) == 0 && memcmp(own->v, given->v, size) == 0);
        printf("  %-18s a table of equal rows is off by %.1e\n", MODELS[m],
               largest_difference(own, even));
        CHECK_BELOW(largest_difference(own, even), 1.0e-11); // means of equal numbers round
        destroy(own);
        destroy(given);
        destroy(even);
    }
}

// --- bending --------------------------------------------------------------------------------

// A table of a number that goes linearly from 1 to `tip`.
static void taper(TdlRodSection row[2], double length, double bending, double tip) {
    row[0] = (TdlRodSection){.bending = {bending, bending}};
    row[1] = (TdlRodSection){.at = length, .bending = {tip * bending, tip * bending}};
}

// How far the tip of a settled rod sinks, over its length, under a small force on it.
static double sink(TdlRodDef def, double force) {
    TdlHost host = tdl_host_default();
    TdlRodLoad load = {.at = def.length, .force = {0.0, 0.0, -force}};
    def.loads = &load;
    def.load_count = 1;
    Rod* rod = make(&def);
    double residual, stability;
    CHECK_INT(rod_settle(&host, rod, (TdlVec3){0}, &residual, &stability), TDL_STATUS_OK);
    CHECK_BELOW(residual, 1.0e-9);
    double out = -rod->model->point(rod, def.element_count - 1, 1.0).z / def.length;
    destroy(rod);
    return out;
}

// A cone that is clamped at its thick end and pulled at the other sinks by
// P L^3 r0 / (3 E I0 r1); one whose EI goes linearly to t of it by the integral of
// P (L - s)^2 / EI. The error is of second order in the length of an element.
TEST(tapered_cantilevers_sink_as_beam_theory_says) {
    for (int m = 0; m < 6; ++m) {
        double error[2][2];
        for (int k = 0; k < 2; ++k) {
            TdlRodDef def = tdl_rod_def_default();
            def.model = MODELS[m];
            def.length = 0.2;
            def.radius[0] = def.radius[1] = 1.0e-3;
            def.element_count = 12 << k;
            TdlRodSection cone[2] = {{.radius = {1.0e-3, 1.0e-3}},
                                     {.at = 0.2, .radius = {0.5e-3, 0.5e-3}}};
            def.sections = cone;
            def.section_count = 2;
            double EI = def.young * PI / 4.0 * 1.0e-12, force = 3.0e-5 * EI / (0.2 * 0.2);
            double exact = force * 0.2 * 0.2 / (3.0 * EI) * 2.0;
            error[0][k] = sink(def, force) / exact - 1.0;
            TdlRodSection wedge[2];
            double t = 0.25, whole = 0.0;
            taper(wedge, 0.2, EI, t);
            def.sections = wedge;
            for (int g = 0; g < GAUSS12_COUNT; ++g) {
                double s = GAUSS12_POINT[g];
                whole += GAUSS12_WEIGHT[g] * pow(1.0 - s, 2.0) / (1.0 + (t - 1.0) * s);
            }
            error[1][k] = sink(def, force) / (force * 0.04 / EI * whole) - 1.0;
        }
        double cone = log2(fabs(error[0][0] / error[0][1])),
               wedge = log2(fabs(error[1][0] / error[1][1]));
        printf("  %-18s cone %9.2e at 24 elements, order %.2f; EI linear %9.2e, order %.2f\n",
               MODELS[m], error[0][1], cone, error[1][1], wedge);
        CHECK_BELOW(fabs(error[0][1]), 6.0e-3);
        CHECK(cone > 1.8);
        CHECK_BELOW(fabs(error[1][1]), 6.0e-3);
        CHECK(wedge > 1.8);
    }
}

// --- stretching -----------------------------------------------------------------------------

// A bar that hangs by its start, in models that stretch: EA and its mass per length go linearly.
// It grows by the integral of N / EA. The weight of an edge hangs at its ends: second order.
TEST(tapered_bars_hang_as_long_as_they_must) {
    for (int m = 3; m < 6; ++m) {
        double error[2];
        for (int k = 0; k < 2; ++k) {
            TdlRodDef def = tdl_rod_def_default();
            def.model = MODELS[m];
            def.length = 1.0;
            def.radius[0] = def.radius[1] = 5.0e-3;
            def.element_count = 10 << k;
            def.clamp.rotation = tdl_frame_from_tangent((TdlVec3){0.0, 0.0, -1.0});
            TdlRodSection row[2] = {{.stretching = 2.0e5, .mass_per_length = 1.0},
                                    {.at = 1.0, .stretching = 0.5e5, .mass_per_length = 0.5}};
            def.sections = row;
            def.section_count = 2;
            Rod* rod = make(&def);
            TdlHost host = tdl_host_default();
            double residual, stability, exact = 0.0;
            CHECK_INT(rod_settle(&host, rod, (TdlVec3){0.0, 0.0, -9.81}, &residual, &stability),
                      TDL_STATUS_OK);
            for (int g = 0; g < GAUSS12_COUNT; ++g) {
                double s = GAUSS12_POINT[g], u = 1.0 - s;
                double N = 9.81 * (u - 0.25 * (1.0 - s * s)); // of 1 - s/2 from s to 1
                exact += GAUSS12_WEIGHT[g] * N / (2.0e5 - 1.5e5 * s);
            }
            double grown = -rod->model->point(rod, def.element_count - 1, 1.0).z - 1.0;
            error[k] = grown / exact - 1.0;
            CHECK_NEAR(rod_stretch_stiffness(rod), 1.5e5 / log(4.0), 1.0e-6);
            CHECK_NEAR(rod_mass(rod), 0.75, 1.0e-14);
            destroy(rod);
        }
        double order = log2(fabs(error[0] / error[1]));
        printf("  %-12s grows by %.2e more at 20 elements, order %.2f\n", MODELS[m], error[1],
               order);
        CHECK_BELOW(fabs(error[1]), 5.0e-3);
        CHECK(order > 1.8);
    }
}

// --- twist ----------------------------------------------------------------------------------

// By how much the end turns of a shaft of two halves, one ten times as stiff, under a torque: long
// implicit steps take it there. Over T (L1 / GJ1 + T L2 / GJ2), less one.
static double twist_error(const char* model, int elements) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.length = 0.2;
    def.radius[0] = def.radius[1] = 1.0e-3;
    def.element_count = elements;
    TdlRodSection row[3] = {
        {.twisting = 1.0e-3}, {.at = 0.1, .twisting = 1.0e-3}, {.at = 0.1, .twisting = 1.0e-4}};
    TdlRodLoad load = {.at = 0.2, .torque = {2.0e-5, 0.0, 0.0}};
    def.sections = row;
    def.section_count = 3;
    def.loads = &load;
    def.load_count = 1;
    Rod* rod = make(&def);
    for (int k = 0; k < 60; ++k) {
        RodStep step = {.dt = 0.05, .base_end = rod->base.now, .end_end = rod->end.now};
        CHECK(rod->model->predict(rod, &step));
        rod->model->advance(rod, &step, rod->v_free);
    }
    TdlMat3 end = rod->model->end_frame(rod);
    destroy(rod);
    return atan2(end.cy.z, end.cy.y) / (2.0e-5 * (100.0 + 1000.0)) - 1.0;
}

// Exact where the jump lies between elements, but for the super-clothoid: its curvature does not
// jump, so the error is of first order there.
TEST(stepped_shafts_twist_as_springs_in_a_row) {
    for (int m = 0; m < 6; ++m) {
        if (twists(MODELS[m])) {
            double error[2] = {twist_error(MODELS[m], 8), twist_error(MODELS[m], 16)};
            printf("  %-18s off by %.1e with 8 elements, %.1e with 16\n", MODELS[m], error[0],
                   error[1]);
            CHECK_BELOW(fabs(error[1]), m == 2 ? 0.55 * fabs(error[0]) : 1.0e-5);
        }
    }
}

// --- swinging -------------------------------------------------------------------------------

// The first frequency of a cantilever, from passages of its tip.
static double frequency(const TdlRodDef* def, double dt) {
    Rod* rod = make(def);
    TdlHost host = tdl_host_default();
    double residual, stability, last = 1.0, first = 0.0, end = 0.0;
    int passages = 0;
    CHECK_INT(rod_settle(&host, rod, (TdlVec3){0}, &residual, &stability), TDL_STATUS_OK);
    rod->load_count = 0;
    for (int k = 0; k < 11000 && passages < 5; ++k) {
        RodStep step = {.dt = dt, .base_end = rod->base.now, .end_end = rod->end.now};
        CHECK(rod->model->predict(rod, &step));
        rod->model->advance(rod, &step, rod->v_free);
        double z = rod->model->point(rod, def->element_count - 1, 1.0).z;
        if (k > 0 && last * z < 0.0) {
            end = dt * (k + last / (last - z));
            first = passages++ == 0 ? end : first;
        }
        last = z;
    }
    CHECK_INT(passages, 5);
    destroy(rod);
    return 2.0 / (end - first);
}

// 1.8751^2 sqrt(EI / m L^4) / 2 pi of given EI and m; young and density say something else.
TEST(a_cantilever_swings_at_the_frequency_of_its_sheet) {
    double f = 1.87510406871 * 1.87510406871 / (2.0 * PI) * sqrt(2.0e-3 / (0.02 * pow(0.3, 4.0)));
    for (int m = 0; m < 6; ++m) {
        double error[2];
        for (int k = 0; k < 2; ++k) {
            TdlRodDef def = tdl_rod_def_default();
            def.model = MODELS[m];
            def.length = 0.3;
            def.radius[0] = def.radius[1] = 1.0e-3;
            def.element_count = 8 << k;
            def.young = 1.0e7;
            TdlRodSection sheet = {
                .bending = {2.0e-3, 2.0e-3}, .stretching = 1.0e4, .mass_per_length = 0.02};
            sheet.shearing = m == 5 ? 1.0e4 : 0.0; // stiff: the theory has no shear
            def.sections = &sheet;
            def.section_count = 1;
            TdlRodLoad loads[16]; // as the mode is: then the shape is the mode
            for (int i = 0; i < def.element_count; ++i) {
                double s = (i + 0.5) / def.element_count, x = 1.87510406871 * s;
                double shape = cosh(x) - cos(x) - 0.734095514 * (sinh(x) - sin(x));
                loads[i] = (TdlRodLoad){.at = 0.3 * s,
                                        .force = {0.0, 0.0, 2.0e-6 * shape / def.element_count}};
            }
            def.loads = loads;
            def.load_count = def.element_count;
            error[k] = frequency(&def, 1.0 / (f * 4000.0)) / f - 1.0;
        }
        printf("  %-18s off by %.2e with 8 elements, %.2e with 16\n", MODELS[m], error[0],
               error[1]);
        CHECK_BELOW(fabs(error[1]), 5.0e-3);
        CHECK(fabs(error[1]) < 1.0e-4 || log2(fabs(error[0] / error[1])) > 1.7);
    }
}

// --- ways through the same ------------------------------------------------------------------

static void random_rows(Rng* rng, TdlRodSection row[3], double length) {
    for (int i = 0; i < 3; ++i) {
        row[i] = (TdlRodSection){.at = 0.5 * i * length,
                                 .radius = {rng_range(rng, 1.0e-4, 1.0e-3), 4.0e-4},
                                 .rotary_inertia = rng_range(rng, 1.0e-10, 1.0e-9),
                                 .twisting = rng_range(rng, 1.0e-7, 1.0e-6)};
    }
}

TEST(linear_and_dense_super_helices_of_varying_sections_agree) {
    Rng rng = rng_seed(7);
    double worst = 0.0;
    for (int k = 0; k < 40; ++k) {
        TdlRodDef def = tdl_rod_def_default();
        TdlRodSection row[3];
        def.element_count = 1 + rng_below(&rng, 13);
        def.start = (TdlHold)(k % 3);
        def.end = k % 4 == 0 ? TDL_HOLD_PINNED : TDL_HOLD_FREE;
        def.natural_curvature = (TdlVec3){3.0, 20.0, -5.0};
        random_rows(&rng, row, def.length);
        def.sections = row;
        def.section_count = 3;
        Rod* linear = make(&def);
        def.model = "super-helix-dense";
        Rod* dense = make(&def);
        for (int i = 0; i < 5; ++i) {
            step_rod(linear, 1.0e-3);
            step_rod(dense, 1.0e-3);
        }
        worst = fmax(worst, largest_difference(linear, dense));
        destroy(linear);
        destroy(dense);
    }
    CHECK_BELOW(worst, 1.0e-8); // conditioning of spins about the axis
}

// In the lanes of a group with others, or alone.
TEST(a_rod_of_varying_sections_has_the_same_bits_in_company) {
    Rng rng = rng_seed(8);
    TdlHost host = tdl_host_default();
    TdlRodSection row[3];
    TdlRodDef def = tdl_rod_def_default();
    def.element_count = 7;
    Rod *plain = make(&def), *alone_plain = make(&def);
    random_rows(&rng, row, def.length);
    def.sections = row;
    def.section_count = 3;
    Rod *own = make(&def), *alone = make(&def);
    REQUIRE(rod_join(&host, own, plain));
    Rod* both[2] = {plain, own};
    for (int k = 0; k < 10; ++k) {
        RodStep step[2];
        const RodStep* steps[2] = {&step[0], &step[1]};
        for (int i = 0; i < 2; ++i) {
            step[i] = (RodStep){
                .dt = 1.0e-3, .gravity = {1.0, -2.0, -9.0}, .base_end = both[i]->base.now};
        }
        bool ok[2];
        plain->model->predict_group(plain->group, steps, ok);
        REQUIRE(ok[0] && ok[1]);
        for (int i = 0; i < 2; ++i) {
            memcpy(both[i]->v, both[i]->v_free, 21 * sizeof(double));
        }
        plain->model->advance_group(plain->group, steps);
        step_rod(alone, 1.0e-3);
        step_rod(alone_plain, 1.0e-3);
    }
    CHECK(memcmp(own->q, alone->q, 21 * sizeof(double)) == 0);
    CHECK(memcmp(plain->q, alone_plain->q, 21 * sizeof(double)) == 0);
    TdlVec3 g = {0.0, 0.0, -9.81};
    CHECK(own->model->energy(own, g).kinetic == alone->model->energy(alone, g).kinetic);
    destroy(own);
    destroy(plain);
    destroy(alone);
    destroy(alone_plain);
}

// The gradient of the potential by differences of it.
TEST(the_potential_of_varying_sections_has_its_gradient) {
    Rng rng = rng_seed(9);
    for (int m = 1; m < 6; ++m) {
        TdlRodDef def = tdl_rod_def_default();
        TdlRodSection row[3];
        def.model = MODELS[m];
        def.element_count = 4;
        def.natural_curvature = (TdlVec3){0.0, 15.0, 0.0};
        random_rows(&rng, row, def.length);
        for (int i = 0; i < 3 && !twists(MODELS[m]); ++i) {
            row[i].twisting = row[i].rotary_inertia = 0.0;
        }
        def.sections = row;
        def.section_count = 3;
        Rod* rod = make(&def);
        TdlVec3 g = {1.0, 2.0, -9.0};
        double gradient[64], worst = 0.0, size = 0.0;
        int n = rod->dof_count;
        double* change = calloc((size_t)n, sizeof *change);
        rod->model->potential(rod, g, gradient, NULL);
        for (int i = 7; i < n; ++i) {
            double value[2];
            for (int side = 0; side < 2; ++side) {
                rod->q[i] += side == 0 ? 1.0e-6 : -2.0e-6;
                rod->model->refresh(rod);
                value[side] = rod->model->potential(rod, g, NULL, NULL);
            }
            rod->q[i] += 1.0e-6;
            worst = fmax(worst, fabs((value[0] - value[1]) / 2.0e-6 - gradient[i]));
            size = fmax(size, fabs(gradient[i]) + rod->stiffness.y / rod->element_length);
        }
        CHECK_BELOW(worst / size, 1.0e-5); // 1e-12 of the square of a stiff stretch
        free(change);
        destroy(rod);
    }
}

// --- what is refused ------------------------------------------------------------------------

static const char* fault_of(const char* model, int count, TdlRodSection a, TdlRodSection b) {
    TdlRodDef def = tdl_rod_def_default();
    TdlRodSection rows[2] = {a, b};
    def.model = model;
    def.sections = rows;
    def.section_count = count;
    def.drag = 1.0e-3;
    const char* fault = tdl_rod_def_fault(&def);
    return fault == NULL ? "" : fault;
}

TEST(sections_that_cannot_be_meant_are_refused) {
    TdlRodSection none = {0}, sheared = {.shearing = 1.0}, twisted = {.twisting = 1.0};
    TdlRodSection late = {.at = 0.01}, far = {.at = 0.2}, heavy = {.at = 0.1},
                  hollow = {.inner_radius = 60.0e-6}, half = {.bending = {1.0, 0.0}},
                  wrong = {.stretching = NAN};
    heavy.radius[0] = heavy.radius[1] = 70.0e-6;
    TdlRodSection thin = {.radius = {50.0e-6, 50.0e-6}};
    CHECK_TEXT(fault_of("der", 1, none, none), "");
    CHECK(strstr(fault_of("der", 1, sheared, none), "shearing") != NULL);
    CHECK_TEXT(fault_of("corde", 1, sheared, none), "");
    CHECK(strstr(fault_of("mass-spring", 1, twisted, none), "twist") != NULL);
    CHECK(strstr(fault_of("der", 1, late, none), "begin at 0") != NULL);
    CHECK(strstr(fault_of("der", 2, none, far), "rod's length") != NULL);
    CHECK(strstr(fault_of("der", 2, twisted, none), "in none") != NULL);
    CHECK(strstr(fault_of("der", 1, hollow, none), "inner_radius") != NULL);
    CHECK(strstr(fault_of("der", 1, half, none), "both directions") != NULL);
    CHECK(strstr(fault_of("der", 1, wrong, none), "finite") != NULL);
    CHECK(strstr(fault_of("der", 2, thin, heavy), "drag") != NULL);
}

// A tube of the same mass is stiffer: by (1 + q^2) / (1 - q^2).
TEST(hollow_sections_are_those_of_tubes) {
    TdlRodDef def = tdl_rod_def_default();
    def.radius[0] = def.radius[1] = 5.0e-3;
    TdlRodSection tube = {.inner_radius = 4.0e-3};
    def.sections = &tube;
    def.section_count = 1;
    Rod* rod = make(&def);
    double I = PI / 4.0 * (pow(5.0e-3, 4.0) - pow(4.0e-3, 4.0));
    double A = PI * (25.0e-6 - 16.0e-6);
    CHECK_NEAR(rod->stiffness.y, 1.0e9 * I, 1.0e-14 * 1.0e9);
    CHECK_NEAR(rod->stiffness.x, 1.0e9 / 2.96 * 2.0 * I, 1.0e-14 * 1.0e9);
    CHECK_NEAR(rod->line_density, 1000.0 * A, 1.0e-15);
    CHECK_NEAR(rod_stretch_stiffness(rod), 1.0e9 * A, 1.0e-9);
    CHECK_NEAR(rod->gyration, 2.0 * I / A, 1.0e-18);
    destroy(rod);
}

// --- contact --------------------------------------------------------------------------------

// A cone is as thick to the touch as it is where it is touched: a thin rod across it at the height
// z is nearest where the cone's flank is, of slope c, at z sqrt(1 - c^2).
TEST(a_cone_is_touched_at_its_flank) {
    for (int m = 0; m < 6; ++m) {
        TdlHost host = tdl_host_default();
        TdlWorldDef def = tdl_world_def_default();
        TdlWorld* world;
        REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
        TdlRodDef cone = tdl_rod_def_default(), across = cone;
        TdlRodSection row[2] = {{.radius = {2.0e-3, 2.0e-3}},
                                {.at = 0.1, .radius = {6.0e-3, 6.0e-3}}};
        cone.model = across.model = MODELS[m];
        cone.sections = row;
        cone.section_count = 2;
        across.radius[0] = across.radius[1] = 1.0e-3;
        across.clamp =
            (TdlPose){{0.0625, -0.047, 4.5e-3}, tdl_frame_from_tangent((TdlVec3){0.0, 1.0, 0.0})};
        TdlBodyId id;
        REQUIRE(tdl_world_add_rod(world, &cone, &id) == TDL_STATUS_OK);
        REQUIRE(tdl_world_add_rod(world, &across, &id) == TDL_STATUS_OK);
        TdlOverlap overlap;
        int count;
        CHECK_INT(tdl_world_overlaps(world, 1, &overlap, &count), TDL_STATUS_OK);
        CHECK_INT(count, 1);
        double exact = 4.5e-3 + 1.0e-3 - 4.5e-3 * sqrt(1.0 - 0.04 * 0.04);
        CHECK_NEAR(overlap.depth, exact, 1.0e-9); // of detection
        tdl_world_destroy(world);
    }
}
