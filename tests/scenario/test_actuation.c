// Rods driven from inside: tendons and natural shapes that change in time, against what is known on
// paper, and what that does to the energy.
#include "counting_allocator.h"
#include "math/rotation.h"
#include "rod/rod_body.h"
#include "tendril/world.h"
#include "test.h"

#include <string.h>

static const double PI = 3.14159265358979323846;

enum { ELEMENTS = 16 };
static const char* const MODELS[4] = {"super-helix", "super-clothoid", "der", "corde"};

typedef struct Stage {
    TdlWorld* world;
    TdlBodyId id;
    const Rod* rod;
} Stage;

static TdlRodDef arm_def(const char* model) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.element_count = ELEMENTS;
    def.length = 0.2;
    def.radius[0] = def.radius[1] = 2.0e-3;
    def.young = 1.0e8;
    def.damping = 0.02;
    def.mass_damping = 20.0;
    return def;
}

static Stage make(const TdlRodDef* def, TdlIntegrator integrator) {
    TdlHost host = tdl_host_default();
    TdlWorldDef world = tdl_world_def_default();
    world.gravity = (TdlVec3){0};
    world.step = 1.0e-3;
    world.losses = true;
    world.integrator = integrator;
    world.contacts.self = false;
    Stage s;
    if (tdl_world_create(&host, &world, &s.world) != TDL_STATUS_OK ||
        tdl_world_add_rod(s.world, def, &s.id) != TDL_STATUS_OK) {
        abort();
    }
    s.rod = rod_of(world_find_body(s.world, s.id, &ROD_BODY));
    return s;
}

static double sum_of(TdlEnergy e) {
    return e.kinetic + e.elastic + e.gravity;
}

// Steps; returns the largest share of the energies at play that a step does not explain.
static double run(Stage s, int steps) {
    double worst = 0.0, before = sum_of(tdl_world_energy(s.world)), at_play = 1.0e-12;
    for (int k = 0; k < steps; ++k) {
        TdlStepInfo info;
        CHECK_INT(tdl_world_step(s.world, &info), TDL_STATUS_OK);
        CHECK_INT(info.substeps, 1);
        double now = sum_of(info.energy);
        double gain = info.given - info.damping - info.numerical;
        at_play = fmax(at_play, fabs(now) + fabs(info.given));
        worst = fmax(worst, fabs(now - before - gain) / at_play);
        CHECK_NEAR(info.energy_rise, 0.0, 0.0);
        before = now;
    }
    return worst;
}

static void straight_guides(TdlTendonGuide guide[ELEMENTS + 1], double length, double d,
                            double turns) {
    for (int i = 0; i <= ELEMENTS; ++i) {
        double a = 2.0 * PI * turns * i / ELEMENTS;
        guide[i] = (TdlTendonGuide){length * i / ELEMENTS, {d * cos(a), d * sin(a)}};
    }
}

// --- tendons --------------------------------------------------------------------------------

// Of one element under a curvature k: EI k l + T dL/dk = 0, L = 2 (1/k - d) sin(k l / 2) the way
// between two guides at the distance d on the inner side. To first order k = T d / EI. (Z.4)
static double bent_by(double EI, double T, double d, double l) {
    double low = 0.0, high = 2.0 * T * d / EI;
    for (int i = 0; i < 200; ++i) {
        double k = 0.5 * (low + high), h = 0.5 * k * l;
        double slope = -2.0 / (k * k) * sin(h) + (1.0 / k - d) * l * cos(h);
        *(EI * k * l + T * slope < 0.0 ? &low : &high) = k;
    }
    return low;
}

// The curvature of a rod that bends evenly, from the chord of its last element.
static double curvature_of(Stage s, double length) {
    TdlVec3 x[ELEMENTS + 1];
    CHECK_INT(tdl_rod_points(s.world, s.id, 1, x), TDL_STATUS_OK);
    TdlVec3 way = tdl_sub3(x[ELEMENTS], x[ELEMENTS - 1]);
    return atan2(way.y, way.x) / (length * (1.0 - 0.5 / ELEMENTS));
}

TEST(a_parallel_tendon_bends_a_cantilever_by_T_d_over_EI) {
    for (int m = 0; m < 4; ++m) {
        TdlTendonGuide guide[ELEMENTS + 1];
        double d = 4.0e-2, T = 0.25;
        TdlTensionKey keys[2] = {{0.0, 0.0}, {0.3, T}};
        TdlRodDef def = arm_def(MODELS[m]);
        straight_guides(guide, def.length, d, 0.0);
        for (int i = 1; i <= ELEMENTS && m > 1; ++i) {
            guide[i].at = def.length * (i - 0.5) / ELEMENTS;
        }
        TdlTendonDef tendon = {
            .guides = guide, .guide_count = ELEMENTS + 1, .keys = keys, .key_count = 2};
        def.tendons = &tendon;
        def.tendon_count = 1;
        Stage s = make(&def, TDL_INTEGRATOR_EULER);
        double worst = run(s, 1500);
        double EI = s.rod->stiffness.z, plain = T * d / EI, sum = curvature_of(s, def.length);
        double exact = bent_by(EI, T, d, def.length / ELEMENTS);
        double tension, length;
        CHECK_INT(tdl_rod_tendon(s.world, s.id, 0, &tension, &length), TDL_STATUS_OK);
        printf("  %-15s curvature %.6f, T d / EI %.6f, of its guides %.6f; energy off by %.1e\n",
               MODELS[m], sum, plain, exact, worst);
        CHECK_NEAR(tension, T, 0.0);
        // chords between guides, T l^2 / 12 EI, and edges, of second order too
        CHECK_BELOW(fabs(sum / plain - 1.0), m < 2 ? 3.0e-3 : 1.0e-2);
        CHECK_BELOW(fabs(sum / exact - 1.0), m < 2 ? 1.0e-7 : 1.0e-2);
        CHECK_BELOW(worst, 1.0e-10);
        if (m == 0) { // the way of the cable along the inner side
            double l = def.length / ELEMENTS;
            CHECK_NEAR(length, ELEMENTS * 2.0 * (1.0 / exact - d) * sin(0.5 * exact * l), 1.0e-9);
        }
        tdl_world_destroy(s.world);
    }
}

// The length of a tendon and the elastic energy for any coordinates of a super-helix.
static double potential_of(const Rod* rod, const double* q, const TdlTendonGuide* guide, double T) {
    double l = rod->element_length, sum = 0.0;
    TdlVec3 last = {0};
    for (int i = 0; i <= ELEMENTS; ++i) {
        TdlPose pose =
            i == 0 ? rod->base.now : rod->model->pose_at(rod, q, rod->base.now, l, i - 1, 1.0);
        TdlVec3 x = tdl_axpy3(pose.position, guide[i].offset[0], pose.rotation.cy);
        x = tdl_axpy3(x, guide[i].offset[1], pose.rotation.cz);
        sum += i > 0 ? T * tdl_norm3(tdl_sub3(x, last)) : 0.0;
        last = x;
    }
    const double K[3] = {rod->stiffness.x, rod->stiffness.y, rod->stiffness.z};
    for (int i = 0; i < 3 * ELEMENTS; ++i) {
        sum += 0.5 * K[i % 3] / l * pow(q[i] - rod->q_rest[i], 2.0);
    }
    return sum;
}

// A tendon that winds about the rod twists and bends it; it rests where the energy of both has no
// slope, and the other hand twists it the other way.
TEST(a_helical_tendon_twists_and_bends) {
    double twist[2];
    for (int hand = 0; hand < 2; ++hand) {
        TdlTendonGuide guide[ELEMENTS + 1];
        TdlTensionKey key = {0.0, 4.0};
        TdlRodDef def = arm_def("super-helix");
        straight_guides(guide, def.length, 5.0e-3, hand == 0 ? 0.75 : -0.75);
        TdlTendonDef tendon = {
            .guides = guide, .guide_count = ELEMENTS + 1, .keys = &key, .key_count = 1};
        def.tendons = &tendon;
        def.tendon_count = 1;
        Stage s = make(&def, TDL_INTEGRATOR_EULER);
        double worst = run(s, 2500), q[3 * ELEMENTS], slope = 0.0, bent = 0.0;
        memcpy(q, s.rod->q, sizeof q);
        twist[hand] = 0.0;
        for (int i = 0; i < 3 * ELEMENTS; ++i) {
            double value[2], h = 1.0e-5;
            for (int side = 0; side < 2; ++side) {
                q[i] = s.rod->q[i] + (side == 0 ? h : -h);
                value[side] = potential_of(s.rod, q, guide, 4.0);
            }
            q[i] = s.rod->q[i];
            slope = fmax(slope, fabs(value[0] - value[1]) / (2.0 * h));
            *(i % 3 == 0 ? &twist[hand] : &bent) += i % 3 == 0 ? q[i] : fabs(q[i]);
        }
        printf("  twists by %.4f rad, bends by %.3f; slope of the energy %.1e N m of %.1e\n",
               twist[hand], bent, slope, 4.0 * 5.0e-3);
        CHECK_BELOW(slope, 1.0e-7 * 4.0 * 5.0e-3 + 1.0e-9);
        CHECK(fabs(twist[hand]) > 0.01 && bent > 0.1);
        CHECK_BELOW(worst, 1.0e-10);
        tdl_world_destroy(s.world);
    }
    CHECK_NEAR(twist[0], -twist[1], 1.0e-9);
}

// --- natural shapes -------------------------------------------------------------------------

TEST(a_rod_follows_its_natural_curvature) {
    static const char* const ALL[5] = {"super-helix", "super-clothoid", "der", "corde",
                                       "super-helix-dense"};
    for (int m = 0; m < 5; ++m) {
        for (int rule = REPEATS(0, 1); rule < 2; ++rule) {
            TdlRodDef def = arm_def(ALL[m]);
            TdlNaturalKey keys[3] = {{.time = 0.0},
                                     {.time = 0.2, .curvature = {2.0, 5.0, -8.0}},
                                     {.time = 0.6, .curvature = {0.0, 0.0, 10.0}}};
            def.natural_keys = keys;
            def.natural_key_count = 3;
            Stage s = make(&def, rule == 0 ? TDL_INTEGRATOR_EULER : TDL_INTEGRATOR_MIDPOINT);
            TdlVec3 kappa[ELEMENTS + 1];
            double worst = run(s, 300);
            CHECK_INT(tdl_rod_natural_curvature(s.world, s.id, kappa), TDL_STATUS_OK);
            double u = 0.25, share = u * u * u * (10.0 + u * (6.0 * u - 15.0));
            TdlVec3 between = {2.0 * (1.0 - share), 5.0 * (1.0 - share), -8.0 + 18.0 * share};
            CHECK_NEAR3(kappa[3], between, 1.0e-12);
            worst = fmax(worst, run(s, 1300));
            CHECK_INT(tdl_rod_curvature(s.world, s.id, kappa), TDL_STATUS_OK);
            double off = 0.0;
            for (int i = 0; i < ELEMENTS; ++i) {
                off = fmax(off, tdl_norm3(tdl_sub3(kappa[i], (TdlVec3){0.0, 0.0, 10.0})));
            }
            printf("  %-18s %s: off by %.1e of 10 / m, energy by %.1e\n", ALL[m],
                   rule == 0 ? "euler   " : "midpoint", off, worst);
            CHECK_BELOW(off, 1.0e-6);
            CHECK_BELOW(worst, 1.0e-9);
            tdl_world_destroy(s.world);
        }
    }
}

// The work that is given goes into the energy: a rod held straight between clamps gets
// EI k^2 L / 2, which a still shape has when its natural one bends away.
TEST(the_work_of_a_natural_shape_is_counted) {
    TdlRodDef def = arm_def("der");
    TdlNaturalKey keys[2] = {{.time = 0.0}, {.time = 0.1, .curvature = {0.0, 0.0, 3.0}}};
    def.natural_keys = keys;
    def.natural_key_count = 2;
    def.end = TDL_HOLD_CLAMPED;
    Stage s = make(&def, TDL_INTEGRATOR_EULER);
    double given = 0.0;
    for (int k = 0; k < 400; ++k) {
        TdlStepInfo info;
        CHECK_INT(tdl_world_step(s.world, &info), TDL_STATUS_OK);
        given += info.given;
    }
    // between clamps a uniform moment bends nothing; strains of a cell are 2 tan of half its angle
    double l = def.length / ELEMENTS, whole = 2.0 * tan(0.5 * 3.0 * l),
           half = 2.0 * tan(0.25 * 3.0 * l);
    double exact =
        0.5 * s.rod->stiffness.z / l * ((ELEMENTS - 1) * whole * whole + 4.0 * half * half);
    CHECK_NEAR(given / exact, 1.0, 1.0e-6);
    CHECK_NEAR(tdl_world_energy(s.world).elastic / exact, 1.0, 1.0e-6);
    tdl_world_destroy(s.world);
}

TEST(a_program_leads_a_natural_shape_and_a_tension) {
    TdlTendonGuide guide[2] = {{0.0, {4.0e-3, 0.0}}, {0.2, {4.0e-3, 0.0}}};
    TdlTensionKey key = {0.0, 0.0};
    TdlTendonDef tendon = {.guides = guide, .guide_count = 2, .keys = &key, .key_count = 1};
    TdlRodDef def = arm_def("super-helix");
    def.tendons = &tendon;
    def.tendon_count = 1;
    Stage s = make(&def, TDL_INTEGRATOR_EULER);
    TdlVec3 kappa[ELEMENTS], found[ELEMENTS];
    for (int i = 0; i < ELEMENTS; ++i) {
        kappa[i] = (TdlVec3){0.0, 4.0, 0.0};
    }
    double worst = 0.0;
    for (int k = 0; k < 100; ++k) { // in a hundred small changes
        for (int i = 0; i < ELEMENTS; ++i) {
            found[i] = tdl_scale3(0.01 * (k + 1), kappa[i]);
        }
        double now = tdl_world_time(s.world);
        CHECK_INT(tdl_rod_lead_natural_curvature(s.world, s.id, found, now + 1.0e-3),
                  TDL_STATUS_OK);
        worst = fmax(worst, run(s, 1));
    }
    worst = fmax(worst, run(s, 1200));
    CHECK_INT(tdl_rod_curvature(s.world, s.id, found), TDL_STATUS_OK);
    CHECK_NEAR3(found[5], kappa[5], 1.0e-6);
    CHECK_INT(tdl_rod_set_tension(s.world, s.id, 0, 1.0), TDL_STATUS_OK);
    worst = fmax(worst, run(s, 200));
    CHECK_BELOW(worst, 1.0e-9);
    CHECK_INT(tdl_rod_curvature(s.world, s.id, found), TDL_STATUS_OK);
    CHECK(found[5].z > 0.1); // towards the tendon
    CHECK_INT(tdl_rod_set_tension(s.world, s.id, 1, 1.0), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_rod_set_tension(s.world, s.id, 0, -1.0), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_rod_lead_natural_curvature(s.world, s.id, kappa, 0.0), TDL_STATUS_BAD_ARGUMENT);
    tdl_world_destroy(s.world);
}

TEST(a_natural_shape_that_finds_no_memory_leaves_nothing) {
    AllocCounter counter = {0};
    TdlHost host = tdl_host_default();
    host.mem = counting_allocator(&counter);
    TdlWorldDef world_def = tdl_world_def_default();
    TdlWorld* world;
    TdlBodyId rod;
    REQUIRE(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
    TdlRodDef def = arm_def("super-helix");
    REQUIRE(tdl_world_add_rod(world, &def, &rod) == TDL_STATUS_OK);
    TdlVec3 kappa[ELEMENTS] = {{0.0, 4.0, 0.0}};
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    int failures = 0;
    for (; status != TDL_STATUS_OK && failures < 10; ++failures) {
        // anew, since what was got before it failed may stay for the next
        tdl_world_destroy(world);
        CHECK_INT(counter.live, 0);
        counter = (AllocCounter){0};
        REQUIRE(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
        REQUIRE(tdl_world_add_rod(world, &def, &rod) == TDL_STATUS_OK);
        counter.fail_at = counter.calls + 1 + failures;
        status = tdl_rod_lead_natural_curvature(world, rod, kappa, 1.0);
        CHECK(status == TDL_STATUS_OK || status == TDL_STATUS_NO_MEMORY);
    }
    CHECK_INT(failures, 5); // the drive and its three arrays, and once nothing
    tdl_world_destroy(world);
    CHECK_INT(counter.live, 0);
}

// --- the state ------------------------------------------------------------------------------

TEST(a_driven_rod_goes_on_with_the_same_bits) {
    for (int m = 0; m < 3; ++m) {
        TdlTendonGuide guide[ELEMENTS + 1];
        TdlTensionKey key[2] = {{0.0, 0.0}, {0.2, 2.0}};
        TdlNaturalKey keys[2] = {{.time = 0.0}, {.time = 0.2, .curvature = {2.0, 5.0, -8.0}}};
        TdlRodDef def = arm_def(MODELS[m]);
        straight_guides(guide, def.length, 5.0e-3, 0.5);
        TdlTendonDef tendon = {
            .guides = guide, .guide_count = ELEMENTS + 1, .keys = key, .key_count = 2};
        def.tendons = &tendon;
        def.tendon_count = 1;
        def.natural_keys = keys;
        def.natural_key_count = 2;
        Stage a = make(&def, TDL_INTEGRATOR_EULER), b = make(&def, TDL_INTEGRATOR_EULER);
        TdlBodyId more;
        def.clamp.position.x = 1.0;                                        // out of reach
        CHECK_INT(tdl_world_add_rod(a.world, &def, &more), TDL_STATUS_OK); // in the next lane
        CHECK_INT(tdl_world_add_rod(b.world, &def, &more), TDL_STATUS_OK);
        run(a, 60);
        size_t size = tdl_world_state_size(a.world);
        void* bytes = malloc(size);
        tdl_world_save_state(a.world, bytes);
        CHECK_INT(tdl_world_load_state(b.world, bytes, size), TDL_STATUS_OK);
        run(a, 60);
        run(b, 60);
        CHECK(tdl_world_state_hash(a.world) == tdl_world_state_hash(b.world));
        CHECK(sum_of(tdl_world_energy(a.world)) == sum_of(tdl_world_energy(b.world)));
        free(bytes);
        tdl_world_destroy(a.world);
        tdl_world_destroy(b.world);
    }
}

// --- what is refused ------------------------------------------------------------------------

static const char* fault_of(const char* model, TdlTendonGuide a, TdlTendonGuide b, double T) {
    TdlTendonGuide guide[2] = {a, b};
    TdlTensionKey key = {0.0, T};
    TdlTendonDef tendon = {.guides = guide, .guide_count = 2, .keys = &key, .key_count = 1};
    TdlRodDef def = arm_def(model);
    def.tendons = &tendon;
    def.tendon_count = 1;
    const char* fault = tdl_rod_def_fault(&def);
    return fault == NULL ? "" : fault;
}

TEST(drives_that_cannot_be_are_refused) {
    TdlTendonGuide a = {0.0, {0.0, 0.0}}, b = {0.1, {0.0, 0.0}}, far = {0.3, {0.0, 0.0}};
    CHECK_TEXT(fault_of("der", a, b, 1.0), "");
    CHECK(strstr(fault_of("mass-spring", a, b, 1.0), "frames") != NULL);
    CHECK(strstr(fault_of("der", b, a, 1.0), "follow") != NULL);
    CHECK(strstr(fault_of("der", a, far, 1.0), "follow") != NULL);
    CHECK(strstr(fault_of("der", a, b, -1.0), "negative") != NULL);
    CHECK(strstr(fault_of("der", a, b, NAN), "negative") != NULL);
    TdlRodDef def = arm_def("der");
    TdlNaturalKey keys[2] = {{.time = 1.0}, {.time = 1.0}};
    def.natural_keys = keys;
    def.natural_key_count = 2;
    CHECK(strstr(tdl_rod_def_fault(&def), "grow") != NULL);
    keys[1] = (TdlNaturalKey){.time = 2.0, .curvature = {0.0, 1.0e4, 0.0}};
    CHECK(strstr(tdl_rod_def_fault(&def), "below 3") != NULL);
}
