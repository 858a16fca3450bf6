// Ends that scripts hold in what scripts move: what both sides of a contact cannot do, no force is
// asked to do.
#include "cables.h"
#include "heads.h"

#include "math/rotation.h"

static const double RADIUS = 0.09;
static Head head;

typedef struct Outcome {
    double force; // N, the largest
    int forced, unsolved, attempts, parts;
    TdlEnergy energy; // of the hair at the end
    double length;    // of its gaps below nothing
} Outcome;

static Outcome run(TdlWorld* world, TdlBodyId rod, int steps) {
    Outcome o = {0};
    for (int i = 0; i < steps; ++i) {
        TdlStepInfo info;
        int count;
        CHECK_INT(tdl_world_step(world, &info), TDL_STATUS_OK);
        o.forced += info.forced;
        o.unsolved += info.unsolved;
        o.attempts += info.attempts;
        o.parts += info.substeps;
        const TdlContactForce* f = tdl_world_contact_forces(world, &count);
        for (int k = 0; k < count; ++k) {
            o.force = fmax(o.force, tdl_norm3(f[k].force));
        }
    }
    CHECK_INT(tdl_body_energy(world, rod, &o.energy), TDL_STATUS_OK);
    return o;
}

static TdlRodDef hair_def(const char* model) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.length = 0.12;
    def.radius[0] = def.radius[1] = 40.0e-6;
    def.element_count = 12;
    def.young = 3.0e9;
    def.density = 1300.0;
    def.damping = 0.05;
    def.natural_curvature = def.curvature = (TdlVec3){40.0, 60.0, 0.0};
    return def;
}

// A hair on a ball of triangles, both turned by their own scripts about one point; the root is so
// deep in it (negative: as far off).
static Outcome turn_together(const char* model, double depth, bool with_head) {
    const TdlKeyframe key[2] = {{.time = 0.0}, {.time = 0.4, .rotation = {0.0, 0.0, 0.8}}};
    const TdlMotionDef motion = {.keys = key, .key_count = 2, .about_point = true};
    TdlWorldDef def = tdl_world_def_default();
    TdlHost host = tdl_host_default();
    TdlWorld* world;
    TdlBodyId rod, body;
    head_fill(&head, RADIUS, 0.02);
    def.step = 2.0e-3;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        abort();
    }
    TdlColliderDef collider = head_def(&head, 0.02);
    collider.vertex_motion = (TdlVertexMotion){0};
    collider.pose.position = collider.angular_velocity = (TdlVec3){0};
    collider.motion = motion;
    TdlRodDef hair = hair_def(model);
    hair.motion = motion;
    // over the middle of a triangle next to the x axis
    const int* t = head.triangle;
    double best = 0.0;
    for (int f = 0; f < HEAD_TRIANGLES; ++f) {
        const TdlVec3* v = head.sample[0];
        TdlVec3 a = v[t[3 * f]], b = v[t[3 * f + 1]], c = v[t[3 * f + 2]];
        TdlVec3 middle = tdl_scale3(1.0 / 3.0, tdl_add3(a, tdl_add3(b, c)));
        TdlVec3 n = tdl_unit3(tdl_cross3(tdl_sub3(b, a), tdl_sub3(c, a)));
        if (n.x > best) {
            best = n.x;
            hair.clamp.position = tdl_axpy3(middle, -depth, n);
            hair.clamp.rotation = tdl_frame_from_tangent(n);
        }
    }
    CHECK_INT(tdl_world_add_rod(world, &hair, &rod), TDL_STATUS_OK);
    if (with_head) {
        CHECK_INT(tdl_world_add_collider(world, &collider, &body), TDL_STATUS_OK);
    }
    Outcome o = run(world, rod, 200);
    tdl_world_destroy(world);
    return o;
}

static double total(TdlEnergy e) {
    return e.kinetic + e.elastic;
}

// A root on the surface, in it or just above: the head does nothing to a hair that leaves it.
TEST(a_root_in_a_head_that_turns_with_it_has_no_force) {
    static const double DEPTH[] = {3.5e-4, 1.0e-4, 5.0e-5,  4.1e-5,  3.9e-5,   1.0e-5,
                                   0.0,    -2e-5,  -3.9e-5, -4.0e-5, -4.001e-5};
    for (size_t i = 0; i < sizeof DEPTH / sizeof *DEPTH; ++i) {
        Outcome o = turn_together("super-helix", DEPTH[i], true);
        Outcome alone = turn_together("super-helix", DEPTH[i], false);
        double off = fabs(total(o.energy) / total(alone.energy) - 1.0);
        printf("  %9.3e m deep: %.1e N, %d parts, %d attempts, forced %d, energy off by %.1e\n",
               DEPTH[i], o.force, o.parts, o.attempts, o.forced, off);
        CHECK(o.force < 1.0e-4);
        CHECK_INT(o.forced, 0);
        CHECK_INT(o.unsolved, 0);
        CHECK(o.parts < 400);
        CHECK(off < 1.0e-2);
    }
    for (int m = 0; m < MODEL_COUNT; ++m) {
        Outcome o = turn_together(MODELS[m], 3.5e-4, true);
        printf("  %-18s %.1e N, %d parts, forced %d\n", MODELS[m], o.force, o.parts, o.forced);
        CHECK(o.force < 1.0e-4);
        CHECK_INT(o.forced, 0);
    }
}

// A ball that a script drives over a clamp, where nothing can give way, and off again.
static Outcome drive_over(const char* model, double aside) {
    const TdlKeyframe key[3] = {
        {.time = 0.0}, {.time = 0.1, .position = {0.0, 0.0, 2.2e-3}}, {.time = 0.2}};
    TdlWorldDef def = tdl_world_def_default();
    TdlHost host = tdl_host_default();
    TdlWorld* world;
    TdlBodyId rod, body;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        abort();
    }
    TdlRodDef hair = hair_def(model);
    CHECK_INT(tdl_world_add_rod(world, &hair, &rod), TDL_STATUS_OK);
    TdlColliderDef ball = tdl_collider_def_default();
    ball.shape = TDL_SHAPE_SPHERE;
    ball.radius = 5.0e-3;
    ball.pose.position = (TdlVec3){aside, 0.0, -7.0e-3};
    ball.motion = (TdlMotionDef){.keys = key, .key_count = 3};
    CHECK_INT(tdl_world_add_collider(world, &ball, &body), TDL_STATUS_OK);
    Outcome o = run(world, rod, 220);
    tdl_world_destroy(world);
    return o;
}

TEST(a_ball_that_is_driven_over_a_clamp_is_let_through) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        for (int k = 0; k < 3; ++k) {
            static const double ASIDE[3] = {0.0, 1.0e-9, -1.0e-4};
            Outcome o = drive_over(MODELS[m], ASIDE[k]);
            printf("  %-18s %8.1e m aside: %.1e N, %d parts, %d attempts, forced %d\n", MODELS[m],
                   ASIDE[k], o.force, o.parts, o.attempts, o.forced);
            CHECK(o.force < 1.0);
        }
    }
}
