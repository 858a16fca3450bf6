// Things in tubes, which stand, or are hollow rods: weights at rest, a wire pushed round a bend, a
// rod that buckles as paper says, fast things that stay inside, and the same bits after a resume.
#include "base/rng.h"
#include "look.h"
#include "math/rotation.h"
#include "stage.h"
#include "test.h"

#include <stdlib.h>

static const char* const MODELS[] = {"super-helix", "super-clothoid", "der", "mass-spring",
                                     "corde"};
enum { MODEL_COUNT = 5 };

static const double PI = 3.14159265358979323846, G = 9.81;
static const double OUTER = 6.0e-3, BORE = 5.0e-3;

static TdlWorld* create_world(double dt, bool falls) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.step = dt;
    def.gravity.z = falls ? -G : 0.0;
    def.holds = def.forces = true;
    TdlWorld* world;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        abort();
    }
    return world;
}

static TdlBodyId add_tube(TdlWorld* world, const TdlCurvePiece* pieces, int count) {
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id = {0};
    def.shape = TDL_SHAPE_CURVES;
    def.radius = OUTER;
    def.inner_radius = BORE;
    def.pieces = pieces;
    def.piece_count = count;
    CHECK_INT(tdl_world_add_collider(world, &def, &id), TDL_STATUS_OK);
    return id;
}

static TdlBodyId add_wire(TdlWorld* world, const char* model, TdlVec3 at, TdlHold start) {
    TdlRodDef def = tdl_rod_def_default();
    TdlBodyId id = {0};
    def.model = model;
    def.length = 0.2;
    def.radius[0] = def.radius[1] = 1.0e-3;
    def.young = 1.0e9;
    def.density = 2000.0;
    def.mass_damping = 30.0;
    def.element_count = 10;
    def.start = start;
    def.clamp.position = at;
    CHECK_INT(tdl_world_add_rod(world, &def, &id), TDL_STATUS_OK);
    return id;
}

static TdlBodyId add_hose(TdlWorld* world, const char* model, TdlHold start) {
    TdlRodSection section = {.inner_radius = BORE};
    TdlRodDef def = tdl_rod_def_default();
    TdlBodyId id = {0};
    def.model = model;
    def.length = 0.3;
    def.radius[0] = def.radius[1] = OUTER;
    def.sections = &section;
    def.section_count = 1;
    def.young = 1.0e8;
    def.density = 1000.0;
    def.mass_damping = 30.0;
    def.element_count = 12;
    def.start = start;
    CHECK_INT(tdl_world_add_rod(world, &def, &id), TDL_STATUS_OK);
    return id;
}

static void step_world(TdlWorld* world, int steps) {
    for (int i = 0; i < steps; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
}

TEST(a_rod_rests_in_a_tube_with_its_weight) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        TdlWorld* world = create_world(1.0e-3, true);
        CHECK_INT(tdl_world_set_friction(world, 0.2), TDL_STATUS_OK);
        add_tube(world, &(TdlCurvePiece){.length = 0.5}, 1);
        TdlBodyId wire = add_wire(world, MODELS[m], (TdlVec3){0.1, 1.0e-3, 0.0}, TDL_HOLD_FREE);
        step_world(world, 600);
        TdlVec3 force = look_contact_wrench(world, "collider", 0).force;
        TdlVec3 p = look_rod_point(world, wire, 0.07);
        double weight = look_rod_info(world, wire).mass * G, away = hypot(p.y, p.z);
        printf("  %-14s force over weight %.2e off, %.1e m off the wall\n", MODELS[m],
               -force.z / weight - 1.0, BORE - 1.0e-3 - away);
        CHECK_NEAR3(force, ((TdlVec3){0.0, 0.0, -weight}), 1.0e-8 * weight); // what still swings
        // an overlap of 2e-3 radii is left alone
        CHECK_NEAR(away, BORE - 1.0e-3, 3.0e-6);
        tdl_world_destroy(world);
    }
}

// In the wall, but nearer to its inside: it is pushed in.
TEST(a_rod_placed_in_the_wall_is_told_and_parted) {
    TdlWorld* world = create_world(1.0e-3, true);
    CHECK_INT(tdl_world_set_friction(world, 0.2), TDL_STATUS_OK);
    add_tube(world, &(TdlCurvePiece){.length = 0.5}, 1);
    TdlBodyId wire = add_wire(world, "super-helix", (TdlVec3){0.1, 0.0, 4.4e-3}, TDL_HOLD_FREE);
    TdlOverlap overlap[2];
    int count = 0;
    CHECK_INT(tdl_world_overlaps(world, 2, overlap, &count), TDL_STATUS_OK);
    REQUIRE(count == 1);
    CHECK_NEAR(overlap[0].depth, 4.0e-4, 1.0e-12);
    step_world(world, 600);
    CHECK_NEAR(look_rod_point(world, wire, 0.1).z, -4.0e-3, 3.0e-6); // it fell on the bottom
    tdl_world_destroy(world);
}

// The hose is held at its start: its wall carries the wire, and its clamp carries both.
TEST(a_rod_rests_in_a_hollow_rod) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        TdlWorld* world = create_world(1.0e-3, true);
        CHECK_INT(tdl_world_set_friction(world, 0.3), TDL_STATUS_OK);
        TdlBodyId wire = add_wire(world, MODELS[m], (TdlVec3){0.05, 1.0e-3, 0.0}, TDL_HOLD_FREE);
        TdlBodyId hose = add_hose(world, MODELS[m], TDL_HOLD_CLAMPED);
        step_world(world, 600);
        double own = look_rod_info(world, wire).mass * G,
               all = own + look_rod_info(world, hose).mass * G;
        TdlWrench w[2] = {look_contact_wrench(world, "rod", 0),
                          look_contact_wrench(world, "rod", 1)};
        TdlRodReaction clamp = {0};
        CHECK_INT(tdl_rod_reaction(world, hose, false, &clamp), TDL_STATUS_OK);
        printf("  %-14s wire %.2e, clamp %.2e off\n", MODELS[m], w[0].force.z / own - 1.0,
               clamp.force.z / all - 1.0);
        CHECK_NEAR3(tdl_add3(w[0].force, w[1].force), ((TdlVec3){0}), 1.0e-15);
        CHECK_NEAR(w[0].force.z, own, 1.0e-3 * own); // both still creep to rest
        CHECK_NEAR(clamp.force.z, all, 1.0e-3 * all);
        tdl_world_destroy(world);
    }
}

// What more at its end asks for more at its start by exp(mu theta): the bending, which asks for as
// much either way, falls out.
TEST(a_wire_pushed_round_a_bend_obeys_the_capstan) {
    static const char* const LOAD[2] = {
        "rods.wire.loads=[{at: 0.357079632679, force: [0, 0, -1]}]",
        "rods.wire.loads=[{at: 0.357079632679, force: [0, 0, -2]}]"};
    double push[2] = {0.0};
    for (int k = 0; k < 2; ++k) {
        Stage stage;
        REQUIRE(open_stage("conduit.yaml", LOAD[k], 1, &stage) == TDL_STATUS_OK);
        for (int i = 0; i < 100; ++i) {
            REQUIRE(tdl_world_step(stage.world, NULL) == TDL_STATUS_OK);
        }
        push[k] = tdl_scene_observe(stage.scene, 0, stage.world).x;
        close_stage(&stage);
    }
    double grows = push[1] - push[0], paper = exp(0.2 * 0.5 * PI);
    printf("  1 N more asks for %.4f N more, on paper %.4f\n", grows, paper);
    CHECK_NEAR(grows / paper, 1.0, 1.0e-2);
}

// --- buckling ------------------------------------------------------------------------------------

// Small forces as a wave of n halves bend a pressed rod by y0 / (1 - F / Fc), so that 1 / y over F
// ends at Fc (Southwell). In a tube, on whose bottom the rod lies with the weight w, of a length of
// n half waves, that is
//     Fc = 2 sqrt(EI w / c),   n half waves of pi (EI c / w)^(1/4)   (Dawson and Paslay 1984).
enum { WAVES = 4, NODES = 64 };
static const double ROOM = 4.0e-3, PRESS[2] = {0.2, 0.35};

static double add_pressed_rod(TdlWorld* world, double press, TdlBodyId* rod, double* paper) {
    double r = 1.0e-3, young = 1.0e9, w = 8000.0 * PI * r * r * G,
           EI = young * PI * r * r * r * r / 4.0, half = pow(EI * ROOM / w, 0.25) * PI,
           length = WAVES * half, shorter = press * length / (young * PI * r * r);
    TdlRodLoad loads[NODES - 1];
    for (int i = 1; i < NODES; ++i) {
        double s = length * i / NODES;
        loads[i - 1] = (TdlRodLoad){.at = s, .force = {0.0, 2.0e-5 * sin(PI * s / half), 0.0}};
    }
    TdlKeyframe keys[2] = {{.time = 0.0}, {.time = 0.1, .position = {shorter, 0.0, 0.0}}};
    TdlRodDef def = tdl_rod_def_default();
    def.model = "der";
    def.length = length;
    def.radius[0] = def.radius[1] = r;
    def.young = young;
    def.density = 8000.0;
    def.mass_damping = 40.0;
    def.element_count = NODES;
    def.start = def.end = TDL_HOLD_PINNED;
    def.clamp.position.z = -ROOM;
    def.motion = (TdlMotionDef){.keys = keys, .key_count = 2};
    def.loads = loads;
    def.load_count = NODES - 1;
    CHECK_INT(tdl_world_add_rod(world, &def, rod), TDL_STATUS_OK);
    *paper = 2.0 * sqrt(EI * w / ROOM);
    return half;
}

TEST(a_rod_on_the_bottom_of_a_tube_buckles_as_on_paper) {
    double F[2], y[2], paper = 0.0;
    for (int k = 0; k < 2; ++k) {
        TdlWorld* world = create_world(2.0e-3, true);
        TdlBodyId rod = {0};
        CHECK_INT(tdl_world_set_friction(world, 0.0), TDL_STATUS_OK);
        add_tube(world, &(TdlCurvePiece){.length = 1.0}, 1);
        double half = add_pressed_rod(world, PRESS[k], &rod, &paper);
        step_world(world, 400);
        TdlRodReaction start = {0};
        CHECK_INT(tdl_rod_reaction(world, rod, false, &start), TDL_STATUS_OK);
        F[k] = start.force.x;
        y[k] = 0.0;
        for (int i = 0; i < WAVES; ++i) {
            double side = look_rod_point(world, rod, (i + 0.5) * half).y;
            y[k] += (i % 2 == 0 ? 1.0 : -1.0) * side / WAVES;
        }
        tdl_world_destroy(world);
    }
    double slope = (1.0 / y[1] - 1.0 / y[0]) / (F[1] - F[0]), found = F[0] - 1.0 / y[0] / slope;
    printf("  %.3f N: %.2e m, %.3f N: %.2e m aside; ends at %.4f N, on paper %.4f\n", F[0], y[0],
           F[1], y[1], found, paper);
    // polygons of 16 sides a half wave are too soft by (pi/16)^2 / 12, and friction of time is gone
    CHECK_NEAR(found / paper, 1.0, 5.0e-3);
}

// --- what is fast --------------------------------------------------------------------------------

// A ring of 345 degrees about (0, 0, -0.1), and how far off its centreline a place is.
static const double BEND = 0.1, RING = 2.0 * 3.14159265358979323846 * 0.96;

static double off_axis(TdlVec3 p) {
    return hypot(hypot(p.x, p.z + BEND) - BEND, p.y);
}

static bool is_in_ring(TdlVec3 p) {
    double turned = atan2(p.x, p.z + BEND);
    turned += turned < 0.0 ? 2.0 * PI : 0.0;
    return turned > 0.5 && turned < RING - 0.5; // more than a step's way
}

TEST(nothing_goes_through_the_wall) {
    Rng rng = rng_seed(3);
    int kept = 0;
    double worst = 0.0;
    for (int trial = 0; trial < 20; ++trial) {
        TdlWorld* world = create_world(1.0e-3, false);
        CHECK_INT(tdl_world_set_friction(world, 0.1), TDL_STATUS_OK);
        add_tube(world, &(TdlCurvePiece){RING * BEND, {0.0, 1.0 / BEND, 0.0}}, 1);
        for (int k = 0; k < 3; ++k) {
            TdlRigidDef def = tdl_rigid_def_default();
            TdlBodyId id;
            double at = 1.0 + 1.5 * k;
            def.shape = k == 0 ? TDL_RIGID_SPHERE : TDL_RIGID_CAPSULE;
            def.radius = k == 2 ? 4.0e-4 : 2.0e-3;
            def.length = 0.01;
            def.pose.position = (TdlVec3){BEND * sin(at), 0.0, BEND * cos(at) - BEND};
            def.pose.rotation = tdl_frame_from_tangent((TdlVec3){cos(at), 0.0, -sin(at)});
            // up to twice as far as the bore is wide in a step
            def.velocity = (TdlVec3){rng_range(&rng, -10.0, 10.0), rng_range(&rng, -10.0, 10.0),
                                     rng_range(&rng, -10.0, 10.0)};
            def.angular_velocity = (TdlVec3){0.0, rng_range(&rng, -100.0, 100.0), 0.0};
            CHECK_INT(tdl_world_add_rigid(world, &def, &id), TDL_STATUS_OK);
        }
        bool gone[3] = {false}; // near a mouth once, it may leave through it
        for (int i = 0; i < 40; ++i) {
            step_world(world, 1);
            for (int k = 0; k < 3; ++k) {
                TdlVec3 p = look_rigid_pose(world, k).position;
                double radius = k == 2 ? 4.0e-4 : 2.0e-3;
                gone[k] = gone[k] || !is_in_ring(p);
                if (!gone[k]) {
                    worst = fmax(worst, (off_axis(p) + radius - BORE) / radius);
                    ++kept;
                }
            }
        }
        tdl_world_destroy(world);
    }
    printf("  %d places, at most %.2f radii into the wall\n", kept, worst);
    CHECK_BELOW(worst, 0.1); // what a step may overlap by
    CHECK(kept > 1000);
}

// --- the same bits -------------------------------------------------------------------------------

TEST(tubes_give_the_same_bits_after_a_resume_and_for_any_threads) {
    Stage stage, other;
    REQUIRE(open_stage("conduit.yaml", NULL, 1, &stage) == TDL_STATUS_OK);
    REQUIRE(open_stage("conduit.yaml", NULL, 3, &other) == TDL_STATUS_OK);
    for (int i = 0; i < 30; ++i) {
        REQUIRE(tdl_world_step(stage.world, NULL) == TDL_STATUS_OK);
        if (i == 12) {
            size_t size = tdl_world_state_size(stage.world);
            void* bytes = malloc(size);
            tdl_world_save_state(stage.world, bytes);
            CHECK_INT(tdl_world_load_state(other.world, bytes, size), TDL_STATUS_OK);
            free(bytes);
        } else if (i > 12) {
            REQUIRE(tdl_world_step(other.world, NULL) == TDL_STATUS_OK);
        }
    }
    CHECK(tdl_world_state_hash(stage.world) == tdl_world_state_hash(other.world));
    close_stage(&stage);
    close_stage(&other);
}

// --- what is refused -----------------------------------------------------------------------------

TEST(tubes_without_a_wall_or_with_sharp_bends_are_refused) {
    TdlWorld* world = create_world(1.0e-3, false);
    TdlCurvePiece piece = {0.1, {0.0, 1.0 / OUTER, 0.0}};
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id;
    def.shape = TDL_SHAPE_CURVES;
    def.radius = OUTER;
    def.pieces = &piece;
    def.piece_count = 1;
    CHECK_INT(tdl_world_add_collider(world, &def, &id), TDL_STATUS_OK); // a solid one may
    def.inner_radius = BORE;
    CHECK_INT(tdl_world_add_collider(world, &def, &id), TDL_STATUS_BAD_ARGUMENT);
    piece.curvature.y = 0.0;
    def.inner_radius = OUTER;
    CHECK_INT(tdl_world_add_collider(world, &def, &id), TDL_STATUS_BAD_ARGUMENT);
    def.inner_radius = NAN;
    CHECK_INT(tdl_world_add_collider(world, &def, &id), TDL_STATUS_BAD_ARGUMENT);
    def.inner_radius = BORE;
    def.shape = TDL_SHAPE_CAPSULE;
    CHECK_INT(tdl_world_add_collider(world, &def, &id), TDL_STATUS_BAD_ARGUMENT);
    tdl_world_destroy(world);
}
