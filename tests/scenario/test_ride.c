// Rods whose starts ride: on a head that turns, moves and deforms each start is where an
// independent reckoning has it, no contact is at a root, and a resumed run has the same bits.
#include "cables.h"
#include "capture.h"
#include "heads.h"
#include "stage.h"

#include "math/rotation.h"

static const double RADIUS = 0.09, PERIOD = 0.02;

// --- where a start has to be, anew ------------------------------------------------------------

// The pose of a triangle's frame at a place of it: first axis along its first side, third along
// its normal.
static TdlPose frame_of(const TdlVec3 x[3], double s, double t) {
    TdlVec3 e1 = tdl_sub3(x[1], x[0]), e2 = tdl_sub3(x[2], x[0]);
    TdlVec3 n = tdl_cross3(e1, e2);
    TdlVec3 a = tdl_scale3(1.0 / tdl_norm3(e1), e1), c = tdl_scale3(1.0 / tdl_norm3(n), n);
    TdlVec3 p = {x[0].x + s * e1.x + t * e2.x, x[0].y + s * e1.y + t * e2.y,
                 x[0].z + s * e1.z + t * e2.z};
    return (TdlPose){p, {a, tdl_cross3(c, a), c}};
}

// What a start is tied to: found by looking at every triangle, on a fine grid of each.
typedef struct Tie {
    int triangle; // -1: the whole
    double s, t;
    TdlPose local;
} Tie;

static void corners(const TdlWorld* world, TdlBodyId head, int triangle, TdlVec3 out[3]) {
    TdlColliderDef def;
    TdlPose pose;
    CHECK_INT(tdl_collider_def(world, head, &def), TDL_STATUS_OK);
    CHECK_INT(tdl_collider_pose(world, head, &pose), TDL_STATUS_OK);
    for (int k = 0; k < 3; ++k) {
        TdlVec3 own = def.mesh.vertices[def.mesh.triangles[3 * triangle + k]];
        out[k] = tdl_add3(pose.position, tdl_mul33_3(pose.rotation, own));
    }
}

static TdlPose frame_now(const TdlWorld* world, TdlBodyId head, const Tie* tie) {
    TdlVec3 x[3];
    TdlPose pose;
    CHECK_INT(tdl_collider_pose(world, head, &pose), TDL_STATUS_OK);
    if (tie->triangle < 0) {
        return pose;
    }
    corners(world, head, tie->triangle, x);
    return frame_of(x, tie->s, tie->t);
}

// The shares of the foot of a point over a triangle by Cramer's rule; the point is over it.
static Tie tie_to(const TdlWorld* world, TdlBodyId head, TdlPose start, bool mesh) {
    Tie tie = {.triangle = -1};
    double best = INFINITY;
    TdlColliderDef def;
    CHECK_INT(tdl_collider_def(world, head, &def), TDL_STATUS_OK);
    for (int f = 0; f < def.mesh.triangle_count && mesh; ++f) {
        TdlVec3 x[3];
        corners(world, head, f, x);
        TdlVec3 e1 = tdl_sub3(x[1], x[0]), e2 = tdl_sub3(x[2], x[0]),
                d = tdl_sub3(start.position, x[0]);
        double a = tdl_dot3(e1, e1), b = tdl_dot3(e1, e2), c = tdl_dot3(e2, e2);
        double det = a * c - b * b;
        double s = (c * tdl_dot3(d, e1) - b * tdl_dot3(d, e2)) / det;
        double t = (a * tdl_dot3(d, e2) - b * tdl_dot3(d, e1)) / det;
        TdlPose frame = frame_of(x, s, t);
        double height = tdl_norm3(tdl_sub3(start.position, frame.position));
        if (s >= 0.0 && t >= 0.0 && s + t <= 1.0 && height < best) {
            best = height;
            tie = (Tie){.triangle = f, .s = s, .t = t};
        }
    }
    TdlPose frame = frame_now(world, head, &tie);
    tie.local.position = tdl_tmul33_3(frame.rotation, tdl_sub3(start.position, frame.position));
    tie.local.rotation = tdl_tmul33(frame.rotation, start.rotation);
    return tie;
}

static double distance(TdlMat3 a, TdlMat3 b) {
    return fmax(tdl_norm3(tdl_sub3(a.cx, b.cx)),
                fmax(tdl_norm3(tdl_sub3(a.cy, b.cy)), tdl_norm3(tdl_sub3(a.cz, b.cz))));
}

// How far the start of a rod is from there, as a place and as a frame.
static void measure(const TdlWorld* world, TdlBodyId rod, TdlBodyId head, const Tie* tie,
                    double* place, double* turn) {
    TdlPose start, frame = frame_now(world, head, tie);
    TdlVec3 point,
        there = tdl_add3(frame.position, tdl_mul33_3(frame.rotation, tie->local.position));
    CHECK_INT(tdl_rod_start(world, rod, &start), TDL_STATUS_OK);
    CHECK_INT(tdl_rod_point(world, rod, 0.0, &point), TDL_STATUS_OK);
    *place = fmax(*place, tdl_norm3(tdl_sub3(start.position, there)));
    *place = fmax(*place, tdl_norm3(tdl_sub3(point, there)));
    *turn = fmax(*turn, distance(start.rotation, tdl_mul33(frame.rotation, tie->local.rotation)));
}

// --- worlds -----------------------------------------------------------------------------------

static Head head;

enum { HAIRS = 3 };

typedef struct Groom {
    TdlWorld* world;
    TdlBodyId head, hair[HAIRS];
} Groom;

// Hairs over the middles of triangles, along their normals; they begin inside the head, or above it
// where they may lie down.
static Groom make_groom(const char* model, double dt, double error, TdlHold start) {
    TdlWorldDef def = tdl_world_def_default();
    TdlHost host = tdl_host_default();
    Groom g;
    head_fill(&head, RADIUS, PERIOD);
    def.step = dt;
    def.error = error;
    def.contacts.law.mu = 0.3;
    if (tdl_world_create(&host, &def, &g.world) != TDL_STATUS_OK) {
        abort();
    }
    TdlColliderDef collider = head_def(&head, PERIOD);
    CHECK_INT(tdl_world_add_collider(g.world, &collider, &g.head), TDL_STATUS_OK);
    static const int TRIANGLE[HAIRS] = {40, 97, 160};
    for (int i = 0; i < HAIRS; ++i) {
        TdlRodDef rod = tdl_rod_def_default();
        TdlVec3 x[3];
        corners(g.world, g.head, TRIANGLE[i], x);
        TdlPose frame = frame_of(x, 0.3, 0.25);
        rod.model = model;
        rod.length = 0.06;
        rod.radius[0] = rod.radius[1] = 1.0e-4;
        rod.element_count = strcmp(model, "der") == 0 || strcmp(model, "corde") == 0 ? 12 : 6;
        rod.young = 1.0e8;
        rod.damping = 0.01;
        rod.start = start;
        rod.natural_curvature = (TdlVec3){0.0, 15.0, 5.0};
        rod.curvature = rod.natural_curvature;
        rod.clamp.position = tdl_axpy3(frame.position, start == TDL_HOLD_CLAMPED ? -1.0e-4 : 2.0e-4,
                                       frame.rotation.cz);
        rod.clamp.rotation = tdl_frame_from_tangent(frame.rotation.cz);
        CHECK_INT(tdl_world_add_rod(g.world, &rod, &g.hair[i]), TDL_STATUS_OK);
        TdlRodAttach attach = tdl_rod_attach_default();
        attach.to = g.head;
        CHECK_INT(tdl_rod_attach(g.world, g.hair[i], &attach), TDL_STATUS_OK);
    }
    return g;
}

// Contacts between a hair and the head within its clear length of the root.
static int contacts_at_roots(const Groom* g) {
    int count, found = 0;
    const TdlContactForce* f = tdl_world_contact_forces(g->world, &count);
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < HAIRS; ++k) {
            bool own = tdl_body_id_equal(f[i].body[0], g->hair[k]) &&
                       tdl_body_id_equal(f[i].body[1], g->head);
            TdlPose start;
            CHECK_INT(tdl_rod_start(g->world, g->hair[k], &start), TDL_STATUS_OK);
            // found before the step, in which the root moves
            found += own && tdl_norm3(tdl_sub3(f[i].point, start.position)) < 1.0e-3;
        }
    }
    return found;
}

static void ride(const char* model, double error, TdlHold start) {
    Groom g = make_groom(model, 2.0e-3, error, start);
    Tie tie[HAIRS];
    double place = 0.0, turn = 0.0, most = 0.0;
    for (int k = 0; k < HAIRS; ++k) {
        TdlPose pose;
        REQUIRE(tdl_rod_start(g.world, g.hair[k], &pose) == TDL_STATUS_OK);
        tie[k] = tie_to(g.world, g.head, pose, true);
        measure(g.world, g.hair[k], g.head, &tie[k], &place, &turn);
    }
    int parts = 0, forced = 0, roots = 0;
    for (int i = 0; i < 250; ++i) {
        TdlStepInfo info;
        REQUIRE(tdl_world_step(g.world, &info) == TDL_STATUS_OK);
        parts += info.substeps;
        forced += info.forced;
        for (int k = 0; k < HAIRS; ++k) {
            measure(g.world, g.hair[k], g.head, &tie[k], &place, &turn);
        }
        roots += contacts_at_roots(&g);
        int count;
        const TdlContactForce* f = tdl_world_contact_forces(g.world, &count);
        for (int c = 0; c < count; ++c) {
            most = fmax(most, tdl_norm3(f[c].force));
        }
    }
    printf("  %-18s root %.1e m, frame %.1e, parts %d, forced %d, largest force %.1e N\n", model,
           place, turn, parts, forced, most);
    CHECK(place < 1.0e-12);
    CHECK(start == TDL_HOLD_PINNED || turn < 1.0e-11);
    CHECK_INT(roots, 0);
    CHECK_INT(forced, 0);
    CHECK(error == 0.0 || parts > 250);
    tdl_world_destroy(g.world);
}

TEST(starts_are_where_the_triangles_have_them) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        ride(MODELS[m], 0.0, TDL_HOLD_CLAMPED);
    }
}

TEST(so_they_are_where_steps_are_made_in_parts_and_starts_are_pinned) {
    ride("super-helix", 0.05, TDL_HOLD_CLAMPED);
    ride("super-helix", 0.0, TDL_HOLD_PINNED);
    ride("der", 0.0, TDL_HOLD_PINNED);
}

// Round things and stiff meshes carry as a whole.
TEST(starts_ride_on_what_does_not_deform) {
    for (int turn = 0; turn < 2; ++turn) {
        TdlWorldDef def = tdl_world_def_default();
        TdlHost host = tdl_host_default();
        TdlWorld* world;
        TdlBodyId body, rod;
        head_fill(&head, RADIUS, PERIOD);
        REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
        TdlColliderDef ball = head_def(&head, PERIOD);
        ball.vertex_motion = (TdlVertexMotion){0};
        if (turn == 1) {
            ball.shape = TDL_SHAPE_CAPSULE;
            ball.radius = RADIUS;
            ball.length = 0.1;
        }
        REQUIRE(tdl_world_add_collider(world, &ball, &body) == TDL_STATUS_OK);
        TdlRodDef hair = tdl_rod_def_default();
        hair.clamp.position = (TdlVec3){0.3, -0.2, 1.0 + RADIUS};
        hair.clamp.rotation = tdl_frame_from_tangent((TdlVec3){0.0, 0.0, 1.0});
        hair.length = 0.05;
        REQUIRE(tdl_world_add_rod(world, &hair, &rod) == TDL_STATUS_OK);
        TdlRodAttach attach = {.to = body, .clear = 2.0e-3};
        REQUIRE(tdl_rod_attach(world, rod, &attach) == TDL_STATUS_OK);
        Tie tie = tie_to(world, body, hair.clamp, false);
        double place = 0.0, frame = 0.0;
        for (int i = 0; i < 500; ++i) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
            measure(world, rod, body, &tie, &place, &frame);
        }
        CHECK(place < 1.0e-12);
        CHECK(frame < 1.0e-11);
        tdl_world_destroy(world);
    }
}

TEST(a_resumed_run_has_the_same_bits) {
    for (int m = 0; m < 4; m += 3) { // super-helix and der
        Groom g = make_groom(MODELS[m], 2.0e-3, 0.0, TDL_HOLD_CLAMPED);
        char* bytes = NULL;
        size_t size = 0;
        for (int i = 0; i < 120; ++i) {
            REQUIRE(tdl_world_step(g.world, NULL) == TDL_STATUS_OK);
            if (i == 59) {
                size = tdl_world_state_size(g.world);
                bytes = malloc(size);
                REQUIRE(bytes != NULL);
                tdl_world_save_state(g.world, bytes);
            }
        }
        Groom again = make_groom(MODELS[m], 2.0e-3, 0.0, TDL_HOLD_CLAMPED);
        REQUIRE(tdl_world_load_state(again.world, bytes, size) == TDL_STATUS_OK);
        for (int i = 0; i < 60; ++i) {
            REQUIRE(tdl_world_step(again.world, NULL) == TDL_STATUS_OK);
        }
        CHECK(tdl_world_state_hash(again.world) == tdl_world_state_hash(g.world));
        free(bytes);
        tdl_world_destroy(g.world);
        tdl_world_destroy(again.world);
    }
}

// A program takes the head over, stops it and brings it elsewhere.
static void lead_head(const Groom* g, int step) {
    TdlVec3 v = {0.05, 0.2, -0.1}, w = {0.0, 1.0, 3.0};
    if (step == 10) {
        CHECK_INT(tdl_body_set_velocity(g->world, g->head, 0, v, w), TDL_STATUS_OK);
    } else if (step >= 60 && step % 20 == 0) {
        TdlPose to;
        CHECK_INT(tdl_body_led_pose(g->world, g->head, 0, &to), TDL_STATUS_OK);
        to.position.x += 2.0e-4;
        to.rotation = tdl_mul33(tdl_rotation_exp((TdlVec3){1.0e-2, 0.0, 0.0}), to.rotation);
        CHECK_INT(tdl_body_move_to(g->world, g->head, 0, to), TDL_STATUS_OK);
    }
}

TEST(starts_ride_on_what_a_program_leads) {
    enum { STEPS = 100, SAVED = 45 };
    for (int turn = 0; turn < 3; ++turn) {
        double error = turn == 1 ? 0.05 : 0.0; // in parts
        const char* model = turn == 2 ? "der" : "super-helix";
        Groom g = make_groom(model, 2.0e-3, error, TDL_HOLD_CLAMPED), again;
        Tie tie[HAIRS];
        double place = 0.0, frame = 0.0;
        TdlPose first, last;
        for (int k = 0; k < HAIRS; ++k) {
            REQUIRE(tdl_rod_start(g.world, g.hair[k], &first) == TDL_STATUS_OK);
            tie[k] = tie_to(g.world, g.head, first, true);
        }
        char* bytes = NULL;
        size_t size = 0;
        CHECK_INT(tdl_collider_pose(g.world, g.head, &first), TDL_STATUS_OK);
        for (int i = 0; i < STEPS; ++i) {
            if (i == SAVED) {
                size = tdl_world_state_size(g.world);
                bytes = malloc(size);
                REQUIRE(bytes != NULL);
                tdl_world_save_state(g.world, bytes);
            }
            lead_head(&g, i);
            REQUIRE(tdl_world_step(g.world, NULL) == TDL_STATUS_OK);
            for (int k = 0; k < HAIRS; ++k) {
                measure(g.world, g.hair[k], g.head, &tie[k], &place, &frame);
            }
        }
        CHECK_INT(tdl_collider_pose(g.world, g.head, &last), TDL_STATUS_OK);
        CHECK(last.position.y - first.position.y > 0.01); // it was led
        printf("  root %.1e m, frame %.1e\n", place, frame);
        CHECK_BELOW(place, 1.0e-12);
        CHECK_BELOW(frame, 1.0e-11);
        again = make_groom(model, 2.0e-3, error, TDL_HOLD_CLAMPED);
        REQUIRE(tdl_world_load_state(again.world, bytes, size) == TDL_STATUS_OK);
        for (int i = SAVED; i < STEPS; ++i) {
            lead_head(&again, i);
            REQUIRE(tdl_world_step(again.world, NULL) == TDL_STATUS_OK);
        }
        CHECK(tdl_world_state_hash(again.world) == tdl_world_state_hash(g.world));
        free(bytes);
        tdl_world_destroy(g.world);
        tdl_world_destroy(again.world);
    }
}

// The shipped groom, every tenth strand of it, through its first turn.
TEST(roots_of_the_shipped_groom_ride) {
    enum { EVERY = 10, STRANDS = 30, STEPS = 400 };
    const char* less = "rods.groom.curves.every=10";
    Stage stage;
    REQUIRE(open_stage("groom-on-head.yaml", less, 1, &stage) == TDL_STATUS_OK);
    TdlBodyId body = tdl_world_body(stage.world, "collider", 0), rod[STRANDS];
    Tie tie[STRANDS];
    double place = 0.0, turn = 0.0;
    REQUIRE(tdl_world_bodies(stage.world, "rod", STRANDS, rod) == STRANDS);
    for (int k = 0; k < STRANDS; ++k) {
        TdlPose pose;
        REQUIRE(tdl_rod_start(stage.world, rod[k], &pose) == TDL_STATUS_OK);
        tie[k] = tie_to(stage.world, body, pose, true);
        CHECK(tdl_norm3(tie[k].local.position) < 1.0e-6); // strands are floats on its triangles
    }
    int contacts = 0;
    for (int i = 0; i < STEPS; ++i) {
        TdlStepInfo info;
        int count;
        REQUIRE(tdl_world_step(stage.world, &info) == TDL_STATUS_OK);
        CHECK_INT(info.forced, 0);
        for (int k = 0; k < STRANDS; ++k) {
            measure(stage.world, rod[k], body, &tie[k], &place, &turn);
        }
        const TdlContactForce* f = tdl_world_contact_forces(stage.world, &count);
        contacts += count;
        for (int c = 0; c < count; ++c) {
            bool on_head = tdl_body_id_equal(f[c].body[1], body);
            for (int k = 0; k < STRANDS && on_head; ++k) {
                TdlPose start;
                REQUIRE(tdl_rod_start(stage.world, rod[k], &start) == TDL_STATUS_OK);
                CHECK(!tdl_body_id_equal(f[c].body[0], rod[k]) ||
                      tdl_norm3(tdl_sub3(f[c].point, start.position)) > 2.0e-3);
            }
        }
    }
    printf("  roots %.1e m, frames %.1e, %d contacts\n", place, turn, contacts);
    CHECK(place < 1.0e-12);
    CHECK(turn < 1.0e-11);
    CHECK(contacts > 0);
    close_stage(&stage);
}

// A head that stands still leaves a rod as still as a clamp does: the same energies to rounding.
TEST(a_start_that_rides_on_what_stands_still_is_still) {
    Head* h = &head;
    double energy[2];
    for (int turn = 0; turn < 2; ++turn) {
        TdlWorldDef def = tdl_world_def_default();
        TdlHost host = tdl_host_default();
        TdlWorld* world;
        TdlBodyId body, rod;
        head_fill(h, RADIUS, PERIOD);
        REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
        TdlColliderDef collider = head_def(h, PERIOD);
        collider.motion = (TdlMotionDef){0};
        collider.angular_velocity = (TdlVec3){0};
        collider.vertex_motion.start = 10.0; // it deforms later
        REQUIRE(tdl_world_add_collider(world, &collider, &body) == TDL_STATUS_OK);
        TdlRodDef hair = tdl_rod_def_default();
        hair.clamp.position = (TdlVec3){0.3 + RADIUS, -0.2, 1.02};
        REQUIRE(tdl_world_add_rod(world, &hair, &rod) == TDL_STATUS_OK);
        TdlRodAttach attach = {.to = body, .clear = 5.0e-3};
        if (turn == 1) {
            REQUIRE(tdl_rod_attach(world, rod, &attach) == TDL_STATUS_OK);
        } else {
            REQUIRE(tdl_world_remove(world, body) == TDL_STATUS_OK);
        }
        for (int i = 0; i < 30; ++i) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        }
        TdlEnergy e;
        REQUIRE(tdl_body_energy(world, rod, &e) == TDL_STATUS_OK);
        energy[turn] = e.kinetic + e.elastic;
        tdl_world_destroy(world);
    }
    CHECK_NEAR(energy[0], energy[1], 1.0e-10 * energy[0]);
}

// --- what is refused --------------------------------------------------------------------------

TEST(what_cannot_ride_is_refused_by_name) {
    Capture heard;
    TdlHost host = capture_host(&heard);
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world;
    TdlBodyId ball, box, rod, loose;
    REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    TdlRigidDef rigid = tdl_rigid_def_default();
    rigid.shape = TDL_RIGID_SPHERE;
    rigid.radius = 0.05;
    REQUIRE(tdl_world_add_rigid(world, &rigid, &ball) == TDL_STATUS_OK);
    REQUIRE(tdl_body_set_name(world, ball, "skull") == TDL_STATUS_OK);
    TdlColliderDef collider = tdl_collider_def_default();
    collider.shape = TDL_SHAPE_SPHERE;
    collider.radius = 0.05;
    collider.pose.position.z = 1.0;
    REQUIRE(tdl_world_add_collider(world, &collider, &box) == TDL_STATUS_OK);
    TdlRodDef hair = tdl_rod_def_default();
    hair.clamp.position = (TdlVec3){0.05, 0.0, 1.0};
    REQUIRE(tdl_world_add_rod(world, &hair, &rod) == TDL_STATUS_OK);
    hair.start = TDL_HOLD_FREE;
    hair.clamp.position.x = 0.5;
    REQUIRE(tdl_world_add_rod(world, &hair, &loose) == TDL_STATUS_OK);

    TdlRodAttach attach = tdl_rod_attach_default();
    attach.to = ball;
    CHECK_INT(tdl_rod_attach(world, rod, &attach), TDL_STATUS_BAD_ARGUMENT);
    CHECK(strstr(heard.text, "'skull' is moved by forces: use a joint") != NULL);
    attach.to = rod;
    CHECK_INT(tdl_rod_attach(world, rod, &attach), TDL_STATUS_BAD_ARGUMENT);
    attach.to = box;
    CHECK_INT(tdl_rod_attach(world, loose, &attach), TDL_STATUS_BAD_ARGUMENT);
    CHECK(strstr(heard.text, "its start is free") != NULL);
    attach.clear = NAN;
    CHECK_INT(tdl_rod_attach(world, rod, &attach), TDL_STATUS_BAD_ARGUMENT);
    attach.clear = 1.0e-3;
    CHECK_INT(tdl_rod_attach(world, rod, &attach), TDL_STATUS_OK);
    CHECK_INT(tdl_rod_attach(world, rod, &attach), TDL_STATUS_BAD_ARGUMENT);
    CHECK(strstr(heard.text, "rides already") != NULL);
    TdlPose origin = {.rotation = tdl_identity33()};
    CHECK_INT(tdl_body_move_to(world, rod, TDL_LED_START, origin), TDL_STATUS_BAD_ARGUMENT);

    // what carries stays until nothing rides
    CHECK_INT(tdl_world_remove(world, box), TDL_STATUS_BAD_ARGUMENT);
    CHECK(strstr(heard.text, "1 bodies that ride") != NULL);
    CHECK_INT(tdl_rod_attach(world, rod, NULL), TDL_STATUS_OK);
    CHECK_INT(tdl_rod_attach(world, rod, NULL), TDL_STATUS_OK);
    CHECK_INT(tdl_rod_attach(world, rod, &attach), TDL_STATUS_OK);
    CHECK_INT(tdl_world_remove(world, rod), TDL_STATUS_OK);
    CHECK_INT(tdl_world_remove(world, box), TDL_STATUS_OK);
    tdl_world_destroy(world);
}
