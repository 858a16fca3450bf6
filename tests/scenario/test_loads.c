// Loads that vary in time, against answers known on paper: an oscillator driven at and off its
// resonance, the impulse of a load, the order of the step, and energy that comes from nowhere else.
#include "cables.h"
#include "capture.h"
#include "look.h"

#include "math/rotation.h"
#include "tendril/cloth.h"

static const double PI = 3.14159265358979323846;

// F sin(omega t) along an axis, as force or torque.
typedef struct Drive {
    TdlVec3 force, torque;
    double omega, phase;
} Drive;

static void drive(const void* data, double time, TdlVec3 out[2]) {
    const Drive* d = data;
    double s = sin(d->omega * time + d->phase);
    out[0] = tdl_scale3(s, d->force);
    out[1] = tdl_scale3(s, d->torque);
}

static TdlLoadDef load_of(const Drive* d, double at) {
    return (TdlLoadDef){.at = at, .value = {.at = drive, .data = d, .size = sizeof *d}};
}

// --- a cantilever of one element is an oscillator ---------------------------------------------

// Mass, stiffness and damping of the tip's small motion across a super-helix of one element:
// the shape is an arc of curvature k(t), y(s) = k s^2 / 2.
typedef struct Oscillator {
    double mass, stiffness, damping, length;
} Oscillator;

static const double LENGTH = 0.1, RADIUS = 1.0e-3, YOUNG = 1.0e9, DENSITY = 1000.0;

static TdlRodDef cantilever(double damping) {
    TdlRodDef def = tdl_rod_def_default();
    def.length = LENGTH;
    def.radius[0] = def.radius[1] = RADIUS;
    def.element_count = 1;
    def.young = YOUNG;
    def.density = DENSITY;
    def.damping = damping;
    return def;
}

// Of k: T = rho A L^5 k'^2 / 40 + rho I L k'^2 / 2 (a quarter turn of each section), V = EI L k^2 /
// 2, the load F L^2 / 2. As of the tip y = k L^2 / 2.
static Oscillator oscillator(double damping) {
    double area = PI * RADIUS * RADIUS, moment = PI * pow(RADIUS, 4.0) / 4.0, L = LENGTH;
    double m = DENSITY * area * pow(L, 5.0) / 20.0, c = YOUNG * moment * L;
    double per = 4.0 / pow(L, 4.0); // k = 2 y / L^2
    return (Oscillator){m * per, c * per, damping * c * per, L};
}

// Amplitude of the tip over the last periods, driven at a share of the resonance.
static double driven_amplitude(double share, double steps_a_period, TdlIntegrator rule) {
    double damping = 4.0e-4, force = 1.0e-4;
    Oscillator o = oscillator(damping);
    double own = sqrt(o.stiffness / o.mass), period = 2.0 * PI / (share * own);
    TdlWorldDef def = cable_world_def(period / steps_a_period, false);
    def.gravity = (TdlVec3){0};
    def.integrator = rule;
    TdlWorld* world = make_cable_world(&def);
    TdlRodDef rod = cantilever(damping);
    TdlBodyId id = add_cable(world, &rod);
    Drive d = {.force = {0.0, force, 0.0}, .omega = share * own};
    TdlLoadDef load = load_of(&d, LENGTH);
    CHECK_INT(tdl_world_add_load(world, id, &load), TDL_STATUS_OK);
    double most = 0.0;
    int periods = share > 1.5 ? 120 : 40; // until its own motion is gone, 1e-3 of it at most
    for (int i = 0; i < periods * (int)steps_a_period; ++i) {
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
        double y = look_rod_point(world, id, LENGTH).y;
        most = i >= (periods - 3) * (int)steps_a_period ? fmax(most, fabs(y)) : most;
    }
    tdl_world_destroy(world);
    return most;
}

// |y| = F / sqrt((k - m w^2)^2 + (c w)^2). Gyration of sections and the curve of the tip's path
// count for some 1e-4.
static double paper_amplitude(double share) {
    Oscillator o = oscillator(4.0e-4);
    double w = share * sqrt(o.stiffness / o.mass);
    return 1.0e-4 / hypot(o.stiffness - o.mass * w * w, o.damping * w);
}

TEST(an_oscillator_answers_as_on_paper_at_its_resonance_and_off_it) {
    static const double SHARE[] = {0.5, 0.9, 1.0, 1.1, 2.0};
    for (int i = 0; i < 5; ++i) {
        double paper = paper_amplitude(SHARE[i]);
        double second = driven_amplitude(SHARE[i], 200.0, TDL_INTEGRATOR_MIDPOINT) / paper - 1.0;
        double e[3];
        for (int k = 0; k < 3; ++k) {
            e[k] = driven_amplitude(SHARE[i], 100.0 * (1 << k), TDL_INTEGRATOR_EULER) / paper - 1.0;
        }
        printf("  at %.1f of it: %.4e m; midpoint off by %.1e, Euler by %.1e, %.1e, %.1e\n",
               SHARE[i], paper, second, e[0], e[1], e[2]);
        CHECK_BELOW(fabs(second), 4.0e-3);
        // Euler's rule damps by w dt/2 more: at the resonance that is all there is
        Oscillator o = oscillator(4.0e-4);
        double own = 0.5 * o.damping / sqrt(o.stiffness * o.mass);
        for (int k = 0; k < 3 && SHARE[i] == 1.0; ++k) {
            CHECK_NEAR(e[k], 1.0 / (1.0 + PI / (100.0 * (1 << k)) / own) - 1.0, 1.0e-2);
        }
        CHECK_BELOW(fabs(e[2]), 0.16);
    }
}

// --- impulses ---------------------------------------------------------------------------------

// What a free thing has of momentum is the integral of its load, as the step takes it.
TEST(the_impulse_of_a_load_is_its_integral) {
    double error[2][3];
    for (int kind = 0; kind < 2; ++kind) {
        for (int k = 0; k < 3; ++k) {
            double dt = 4.0e-3 / (1 << k), mass;
            TdlWorldDef def = cable_world_def(dt, false);
            def.gravity = (TdlVec3){0};
            TdlWorld* world = make_cable_world(&def);
            Drive d = {.force = {0.3, -0.2, 0.1}, .omega = 7.0, .phase = 0.4};
            TdlLoadDef load = load_of(&d, 0.05);
            TdlBodyId id;
            if (kind == 0) {
                TdlRodDef rod = cantilever(1.0e-3);
                rod.start = TDL_HOLD_FREE;
                rod.element_count = 2;
                id = add_cable(world, &rod);
            } else {
                TdlRigidDef rigid = tdl_rigid_def_default();
                rigid.radius = 0.05;
                REQUIRE(tdl_world_add_rigid(world, &rigid, &id) == TDL_STATUS_OK);
                load.at = 0.0;
            }
            REQUIRE(tdl_world_add_load(world, id, &load) == TDL_STATUS_OK);
            TdlVec3 from, to;
            double end = 0.5;
            REQUIRE(tdl_body_centre(world, id, &from, &mass) == TDL_STATUS_OK);
            for (int i = 0; i < (int)(end / dt + 0.5); ++i) {
                REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
            }
            REQUIRE(tdl_body_centre(world, id, &to, &mass) == TDL_STATUS_OK);
            // twice the integral of sin(w t + p)
            double w = d.omega, p = d.phase;
            double s = (cos(p) * end - (sin(w * end + p) - sin(p)) / w) / w;
            TdlVec3 expected = tdl_axpy3(from, s / mass, d.force);
            error[kind][k] = tdl_norm3(tdl_sub3(to, expected)) * mass / (0.37 * s);
            tdl_world_destroy(world);
        }
        printf("  %s: place off by %.1e, %.1e, %.1e\n", kind == 0 ? "rod" : "rigid", error[kind][0],
               error[kind][1], error[kind][2]);
    }
    CHECK_NEAR(error[0][1] / error[0][2], 2.0, 0.1); // Euler's rule is of first order
    CHECK_NEAR(error[1][1] / error[1][2], 4.0, 0.2); // rigid bodies have one of second
    CHECK_BELOW(error[1][2], 1.0e-4);
}

static TdlBodyId add_cloth(TdlWorld* world, TdlVec3 at) {
    enum { N = 5 };
    TdlVec3 v[N * N];
    int faces[4 * (N - 1) * (N - 1)];
    TdlClothDef def = tdl_cloth_def_default();
    def.mesh = tdl_cloth_rectangle(0.2, 0.2, N, N, v, faces);
    for (int i = 0; i < N * N; ++i) {
        v[i] = tdl_add3(v[i], at);
    }
    def.damping = 0.0;
    TdlBodyId id = {0};
    CHECK_INT(tdl_world_add_cloth(world, &def, &id), TDL_STATUS_OK);
    return id;
}

// A sheet that is pulled at one corner and bends as it likes: backward Euler gives it the force at
// the end of every step, and its momentum is their sum to roundings; by the integral it is off to
// first order. Its joules are those of the load.
TEST(a_cloth_takes_the_impulse_and_the_work_of_its_load) {
    double error[3];
    for (int k = 0; k < 3; ++k) {
        double dt = 4.0e-3 / (1 << k), mass, given = 0.0, open = 0.0, most = 0.0;
        TdlWorldDef def = cable_world_def(dt, false);
        def.gravity = (TdlVec3){0};
        TdlWorld* world = make_cable_world(&def);
        TdlBodyId id = add_cloth(world, (TdlVec3){0});
        Drive d = {.force = {0.003, -0.002, 0.001}, .omega = 7.0, .phase = 0.4};
        TdlLoadDef load = load_of(&d, 0.0);
        load.vertex = 4;
        REQUIRE(tdl_world_add_load(world, id, &load) == TDL_STATUS_OK);
        TdlVec3 from, to, before = {0}, sum = {0};
        REQUIRE(tdl_body_centre(world, id, &from, &mass) == TDL_STATUS_OK);
        to = from;
        double had = total_energy(tdl_world_energy(world));
        for (int i = 0; i < (int)(0.4 / dt + 0.5); ++i) {
            TdlStepInfo info;
            TdlVec3 value[2];
            REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
            drive(&d, info.time, value);
            sum = tdl_axpy3(sum, dt, value[0]);
            before = to;
            REQUIRE(tdl_body_centre(world, id, &to, &mass) == TDL_STATUS_OK);
            given += info.given;
            double now = total_energy(info.energy);
            open = fmax(open, fabs(now - had - info.given + info.damping + info.numerical));
            most = fmax(most, info.energy.kinetic + info.energy.elastic);
            CHECK(info.numerical > -1.0e-3 * most && info.nowhere <= 1.0e-3 * most);
            had = now;
        }
        TdlVec3 rate = tdl_scale3(mass / dt, tdl_sub3(to, before));
        CHECK_BELOW(tdl_norm3(tdl_sub3(rate, sum)), 1.0e-7 * tdl_norm3(sum)); // Newton's end, 1e-8
        CHECK_BELOW(open, 1.0e-12 * most);
        CHECK(given > most);
        double s = (cos(0.4) - cos(7.0 * 0.4 + 0.4)) / 7.0;
        error[k] = tdl_norm3(tdl_axpy3(rate, -s, d.force)) / (s * tdl_norm3(d.force));
        tdl_world_destroy(world);
    }
    printf("  momentum off the integral by %.1e, %.1e, %.1e\n", error[0], error[1], error[2]);
    CHECK_NEAR(error[1] / error[2], 2.0, 0.1);
}

// A torque turns a ball by its double integral over the moment of inertia; so does a force beside
// its middle, and one that turns with it makes it spin alone.
TEST(a_rigid_body_is_turned_by_torques_and_by_forces_beside_its_middle) {
    for (int way = 0; way < 3; ++way) {
        TdlWorldDef def = cable_world_def(1.0e-3, false);
        def.gravity = (TdlVec3){0};
        TdlWorld* world = make_cable_world(&def);
        TdlRigidDef rigid = tdl_rigid_def_default();
        TdlBodyId id;
        rigid.radius = 0.05;
        REQUIRE(tdl_world_add_rigid(world, &rigid, &id) == TDL_STATUS_OK);
        Drive d = {.omega = 5.0};
        TdlLoadDef load = {0};
        if (way == 0) {
            d.torque.z = 2.0e-3;
        } else {
            d.force.y = 2.0e-3 / 0.04;
        }
        load = load_of(&d, 0.0);
        load.place.x = way == 0 ? 0.0 : 0.04;
        load.turns = way == 2;
        REQUIRE(tdl_world_add_load(world, id, &load) == TDL_STATUS_OK);
        double mass, end = 0.4;
        TdlVec3 centre, linear, angular;
        TdlPose pose;
        for (int i = 0; i < 400; ++i) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        }
        REQUIRE(tdl_body_centre(world, id, &centre, &mass) == TDL_STATUS_OK);
        REQUIRE(tdl_rigid_pose(world, id, &pose) == TDL_STATUS_OK);
        REQUIRE(tdl_rigid_velocity(world, id, &linear, &angular) == TDL_STATUS_OK);
        double inertia = 0.4 * mass * 0.05 * 0.05;
        double turned = 2.0e-3 / inertia * (end - sin(5.0 * end) / 5.0) / 5.0;
        TdlVec3 turn = tdl_rotation_log(pose.rotation);
        printf("  way %d: turned by %.6f rad, on paper %.6f\n", way, turn.z, turned);
        if (way != 1) { // there the arm of the force changes as it turns
            CHECK_NEAR(turn.z, turned, 1.0e-4 * turned);
        }
        CHECK(way != 0 || tdl_norm3(centre) == 0.0);
        CHECK(way == 0 || centre.y > 1.0e-3);
        tdl_world_destroy(world);
    }
}

// --- energy -----------------------------------------------------------------------------------

// Every joule of a driven thing came from its load: (W.6) closes in every step, for every model and
// for rigid bodies, and no body gains from nowhere.
static void check_balance(const char* model, TdlIntegrator rule, bool moved) {
    TdlWorldDef def = cable_world_def(1.0e-3, true);
    def.integrator = rule;
    TdlWorld* world = make_cable_world(&def);
    TdlBodyId id;
    Drive d = {.force = {0.01, 0.02, -0.015}, .torque = {1.0e-5, 2.0e-5, 0.0}, .omega = 40.0};
    TdlLoadDef load = load_of(&d, 0.13);
    if (model == NULL) {
        TdlRigidDef rigid = tdl_rigid_def_default();
        rigid.shape = TDL_RIGID_BOX;
        rigid.half = (TdlVec3){0.02, 0.01, 0.03};
        rigid.radius = 1.0e-3;
        rigid.angular_velocity = (TdlVec3){3.0, -2.0, 1.0};
        load.place = (TdlVec3){0.02, 0.01, -0.03};
        load.turns = moved;
        REQUIRE(tdl_world_add_rigid(world, &rigid, &id) == TDL_STATUS_OK);
    } else {
        const TdlKeyframe keys[2] = {{.time = 0.0}, {0.1, {0.01, 0.0, 0.0}, {0.0, 0.3, 0.2}}};
        TdlRodDef rod = cable_def(model, 2.0e-3, 8, 1.0e7);
        rod.damping = 1.0e-3;
        if (moved) {
            rod.motion = (TdlMotionDef){.keys = keys, .key_count = 2};
        }
        id = add_cable(world, &rod);
    }
    REQUIRE(tdl_world_add_load(world, id, &load) == TDL_STATUS_OK);
    double worst = 0.0, scale = 0.0, given = 0.0, nowhere = 0.0;
    double before = total_energy(tdl_world_energy(world));
    for (int i = 0; i < 200; ++i) {
        TdlStepInfo info;
        REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        double now = total_energy(info.energy);
        double left = now - before - info.work - info.given - info.push + info.friction +
                      info.impact + info.damping + info.numerical;
        scale = fmax(scale, info.energy.kinetic + info.energy.elastic);
        worst = fmax(worst, fabs(left));
        given += fabs(info.given);
        nowhere += info.nowhere;
        before = now;
    }
    printf("  %-18s %s: open by %.1e J of %.1e, given %.1e, from nowhere %.1e\n",
           model == NULL ? "rigid" : model, rule == TDL_INTEGRATOR_EULER ? "Euler" : "midpoint",
           worst, scale, given, nowhere);
    CHECK_BELOW(worst, 1.0e-9 * scale);
    CHECK_BELOW(nowhere, 2.0e-2 * scale);
    CHECK(given > 5.0e-3 * scale);
    tdl_world_destroy(world);
}

TEST(energy_of_driven_things_comes_from_their_loads) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        check_balance(MODELS[m], TDL_INTEGRATOR_EULER, false);
        check_balance(MODELS[m], TDL_INTEGRATOR_MIDPOINT, false);
        check_balance(MODELS[m], TDL_INTEGRATOR_EULER, true);
    }
    check_balance(NULL, TDL_INTEGRATOR_EULER, false);
    check_balance(NULL, TDL_INTEGRATOR_EULER, true);
}

// --- motions that are functions ---------------------------------------------------------------

static void sway(const void* data, double time, TdlVec3 out[2]) {
    (void)data;
    out[0] = (TdlVec3){0.01 * sin(9.0 * time), 0.0, 0.02 * time * time};
    out[1] = (TdlVec3){0.0, 0.2 * sin(4.0 * time), 0.0};
}

TEST(things_go_where_a_function_has_them) {
    TdlWorldDef def = cable_world_def(1.0e-3, false);
    TdlWorld* world = make_cable_world(&def);
    TdlRodDef rod = cantilever(0.0);
    rod.motion.fn.at = sway;
    TdlBodyId id = add_cable(world, &rod), ball;
    TdlColliderDef collider = tdl_collider_def_default();
    collider.shape = TDL_SHAPE_SPHERE;
    collider.motion.fn.at = sway;
    REQUIRE(tdl_world_add_collider(world, &collider, &ball) == TDL_STATUS_OK);
    for (int i = 1; i <= 100; ++i) {
        TdlVec3 value[2];
        TdlPose pose, start;
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        sway(NULL, tdl_world_time(world), value);
        REQUIRE(tdl_rod_start(world, id, &start) == TDL_STATUS_OK);
        REQUIRE(tdl_collider_pose(world, ball, &pose) == TDL_STATUS_OK);
        CHECK_NEAR3(start.position, value[0], 0.0);
        CHECK_NEAR3(pose.position, value[0], 0.0);
        CHECK_NEAR3(tdl_rotation_log(start.rotation), value[1], 1.0e-15);
    }
    tdl_world_destroy(world);
}

// --- the same bits, and what is refused -------------------------------------------------------

static TdlWorld* loaded_world(void) {
    TdlWorldDef def = cable_world_def(1.0e-3, true);
    TdlWorld* world = make_cable_world(&def);
    for (int m = 0; m < 4; m += 3) {
        TdlRodDef rod = cable_def(MODELS[m], 2.0e-3, 6, 1.0e7);
        rod.clamp.position.y = 0.1 * m;
        TdlBodyId id = add_cable(world, &rod);
        Drive d = {.force = {0.0, 0.01, 0.0}, .omega = 30.0};
        TdlLoadDef load = load_of(&d, 0.2);
        CHECK_INT(tdl_world_add_load(world, id, &load), TDL_STATUS_OK);
        TdlPull pull = {.at = 0.3};
        CHECK_INT(tdl_body_pull(world, id, 1, &pull), TDL_STATUS_OK);
        CHECK_INT(tdl_world_add_load(world, id, &load), TDL_STATUS_OK); // before the hand's
    }
    Drive d = {.force = {0.0, 0.01, 0.0}, .torque = {0.0, 1.0e-5, 0.0}, .omega = 30.0};
    TdlLoadDef load = load_of(&d, 0.0);
    TdlRigidDef rigid = tdl_rigid_def_default();
    TdlBodyId ball, cloth = add_cloth(world, (TdlVec3){0.0, 1.0, 0.0});
    rigid.radius = 0.02;
    rigid.pose.position.y = -1.0;
    CHECK_INT(tdl_world_add_rigid(world, &rigid, &ball), TDL_STATUS_OK);
    load.place.x = 0.01;
    CHECK_INT(tdl_world_add_load(world, ball, &load), TDL_STATUS_OK);
    load.vertex = 7;
    CHECK_INT(tdl_world_add_load(world, cloth, &load), TDL_STATUS_OK);
    return world;
}

TEST(resumed_runs_and_copies_have_the_same_bits) {
    TdlWorld *one = loaded_world(), *two = loaded_world(), *three;
    for (int i = 0; i < 40; ++i) {
        REQUIRE(tdl_world_step(one, NULL) == TDL_STATUS_OK);
    }
    size_t size = tdl_world_state_size(one);
    void* bytes = malloc(size);
    REQUIRE(bytes != NULL);
    tdl_world_save_state(one, bytes);
    REQUIRE(tdl_world_load_state(two, bytes, size) == TDL_STATUS_OK);
    REQUIRE(tdl_world_copy(one, &three) == TDL_STATUS_OK);
    for (int i = 0; i < 40; ++i) {
        REQUIRE(tdl_world_step(one, NULL) == TDL_STATUS_OK);
        REQUIRE(tdl_world_step(two, NULL) == TDL_STATUS_OK);
        REQUIRE(tdl_world_step(three, NULL) == TDL_STATUS_OK);
    }
    CHECK(tdl_world_state_hash(one) == tdl_world_state_hash(two));
    CHECK(tdl_world_state_hash(one) == tdl_world_state_hash(three));
    tdl_world_destroy(three);
    free(bytes);
    tdl_world_destroy(one);
    tdl_world_destroy(two);
}

static void not_a_number(const void* data, double time, TdlVec3 out[2]) {
    (void)data;
    out[0].x = time > 2.5e-3 ? NAN : 0.0;
}

TEST(what_is_no_load_is_refused) {
    Capture heard;
    TdlHost host = capture_host(&heard);
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world;
    TdlBodyId ball;
    REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    TdlRodDef rod = cantilever(0.0);
    TdlBodyId id = add_cable(world, &rod);
    TdlColliderDef collider = tdl_collider_def_default();
    collider.pose.position.z = -1.0;
    REQUIRE(tdl_world_add_collider(world, &collider, &ball) == TDL_STATUS_OK);
    Drive d = {.omega = 1.0};
    TdlLoadDef load = load_of(&d, 0.05);
    CHECK_INT(tdl_world_add_load(world, ball, &load), TDL_STATUS_BAD_ARGUMENT);
    CHECK(strstr(heard.text, "a collider takes none") != NULL);
    load.at = 0.2;
    CHECK_INT(tdl_world_add_load(world, id, &load), TDL_STATUS_BAD_ARGUMENT);
    load.at = 0.05;
    load.value.at = NULL;
    CHECK_INT(tdl_world_add_load(world, id, &load), TDL_STATUS_BAD_ARGUMENT);
    load.value = (TdlTimeFn){.at = not_a_number};
    CHECK_INT(tdl_world_add_load(world, id, &load), TDL_STATUS_OK);
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; i < 4 && status == TDL_STATUS_OK; ++i) {
        status = tdl_world_step(world, NULL);
    }
    CHECK_INT(status, TDL_STATUS_BAD_INPUT); // told at once, not computed with
    CHECK_TEXT(heard.text, "in the step from 0.002 s to 0.003 s rod 0 is told a load that is not a "
                           "number");
    CHECK_NEAR(tdl_world_time(world), 2.0e-3, 1.0e-15);
    TdlBodyId cloth = add_cloth(world, (TdlVec3){0});
    load = load_of(&d, 0.0);
    load.vertex = 25;
    CHECK_INT(tdl_world_add_load(world, cloth, &load), TDL_STATUS_BAD_ARGUMENT);
    CHECK_TEXT(heard.text, "load: there is no vertex 25");
    tdl_world_destroy(world);
}

// Of clamps, ends, colliders and holds.
TEST(motions_that_are_no_numbers_fail_by_name) {
    static const char* const NAMES[] = {"rod 0", "rod 0", "collider 0", "cloth 0"};
    for (int way = 0; way < 4; ++way) {
        Capture heard;
        TdlHost host = capture_host(&heard);
        TdlWorldDef def = tdl_world_def_default();
        TdlWorld* world;
        TdlBodyId id;
        REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
        TdlRodDef rod = cantilever(0.0);
        rod.motion.fn.at = way == 0 ? not_a_number : NULL;
        rod.end = way == 1 ? TDL_HOLD_PINNED : TDL_HOLD_FREE;
        rod.end_motion.fn.at = way == 1 ? not_a_number : NULL;
        add_cable(world, &rod);
        TdlColliderDef collider = tdl_collider_def_default();
        collider.pose.position.z = -1.0;
        collider.motion.fn.at = way == 2 ? not_a_number : NULL;
        REQUIRE(tdl_world_add_collider(world, &collider, &id) == TDL_STATUS_OK);
        TdlVec3 v[9];
        int faces[16], first = 0;
        TdlClothHold hold = {&first, 1, {.fn.at = way == 3 ? not_a_number : NULL}};
        TdlClothDef cloth = tdl_cloth_def_default();
        cloth.mesh = tdl_cloth_rectangle(0.1, 0.1, 3, 3, v, faces);
        cloth.holds = &hold;
        cloth.hold_count = 1;
        for (int i = 0; i < 9; ++i) {
            v[i].y += 1.0;
        }
        REQUIRE(tdl_world_add_cloth(world, &cloth, &id) == TDL_STATUS_OK);
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_BAD_INPUT);
        CHECK(strstr(heard.text, NAMES[way]) != NULL && strstr(heard.text, "a motion") != NULL);
        tdl_world_destroy(world);
    }
}

// Between keys as motions go, and still beyond them.
TEST(a_function_goes_through_keys) {
    Capture heard;
    TdlHost host = capture_host(&heard);
    const TdlKeyframe keys[3] = {{1.0, {0.0, 1.0, 2.0}, {0.0, 0.0, 0.0}},
                                 {2.0, {1.0, 1.0, 4.0}, {0.0, 3.0, 0.0}},
                                 {4.0, {3.0, 1.0, 4.0}, {0.0, 4.0, 0.0}}};
    static const double TIME[] = {-1.0, 1.0, 1.25, 2.0, 3.0, 9.0};
    static const double LINEAR[] = {0.0, 0.0, 0.25, 1.0, 2.0, 3.0};
    TdlTimeFn fn;
    REQUIRE(tdl_time_fn_of_keys(&host, keys, 3, TDL_INTERPOLATION_LINEAR, &fn) == TDL_STATUS_OK);
    for (int i = 0; i < 6; ++i) {
        TdlVec3 value[2];
        fn.at(fn.data, TIME[i], value);
        CHECK_NEAR(value[0].x, LINEAR[i], 0.0);
        CHECK_NEAR(value[0].y, 1.0, 0.0);
    }
    tdl_time_fn_free(&host, &fn);
    REQUIRE(tdl_time_fn_of_keys(&host, keys, 3, TDL_INTERPOLATION_SMOOTH, &fn) == TDL_STATUS_OK);
    TdlVec3 value[2];
    double u = 0.25;
    fn.at(fn.data, 1.25, value);
    CHECK_NEAR(value[1].y, 3.0 * u * u * u * (10.0 - 15.0 * u + 6.0 * u * u), 1.0e-15);
    tdl_time_fn_free(&host, &fn);
    const TdlKeyframe back[2] = {{.time = 1.0}, {.time = 1.0}};
    CHECK_INT(tdl_time_fn_of_keys(&host, back, 2, 0, &fn), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_time_fn_of_keys(&host, back, 0, 0, &fn), TDL_STATUS_BAD_ARGUMENT);
}
