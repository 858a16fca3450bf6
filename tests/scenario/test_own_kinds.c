// Two more kinds of bodies through the table of body.h: a ball on a spring that is not linear,
// which is linearised with its contacts until its own equation holds; and a membrane of triangles,
// touched on its faces.
#include "base/memory.h"
#include "body/body.h"
#include "body/surface.h"
#include "look.h"
#include "math/dense.h"
#include "things.h"

// --- a ball on a spring of force k d^3 ---------------------------------------------------------

typedef struct Ball {
    Body head;
    double x[3], v[3]; // one after the other: the state
    double free[3], factor[9];
    double missing[3]; // what Newton's method would change, at the last residual
    int rounds;        // linearised so often in the last step
} Ball;

static const double MASS = 0.05, SPRING = 4.0e3, BALL = 0.02; // kg, N/m^3, m
static const TdlVec3 ANCHOR = {0.1, 0.0, -0.15};

// m (v - v0 - dt g) + dt k d^2 d with d = x + dt v - anchor, and its slope.
static void balance(const Ball* b, const BodyStep* t, const double* v, double* left, double* A) {
    TdlVec3 d = tdl_sub3(tdl_axpy3(tdl_load3(b->x, 0), t->dt, tdl_load3(v, 0)), ANCHOR);
    double stiff = t->dt * SPRING, e[3] = {d.x, d.y, d.z};
    const double g[3] = {t->gravity.x, t->gravity.y, t->gravity.z};
    for (int i = 0; i < 3; ++i) {
        left[i] = MASS * (v[i] - b->v[i] - t->dt * g[i]) + stiff * tdl_dot3(d, d) * e[i];
        for (int j = 0; j < 3; ++j) {
            double same = i == j ? MASS + t->dt * stiff * tdl_dot3(d, d) : 0.0;
            A[i + 3 * j] = same + 2.0 * t->dt * stiff * e[i] * e[j];
        }
    }
}

static void ball_again(Body* body, const BodyStep* t, const double* v) {
    Ball* b = (Ball*)body;
    double step[3], at[3] = {v[0], v[1], v[2]};
    balance(b, t, at, step, b->factor);
    body->account.failed = tdl_cholesky(3, b->factor, 3) < 3;
    tdl_cholesky_solve(3, b->factor, 3, 1, step, 3);
    for (int i = 0; i < 3; ++i) {
        b->free[i] = at[i] - step[i];
    }
    ++b->rounds;
}

static void ball_predict(Body* body, const BodyStep* t) {
    Ball* b = (Ball*)body;
    memcpy(b->free, b->v, sizeof b->free);
    for (int i = 0; i < 30; ++i) {
        ball_again(body, t, b->free);
    }
    b->rounds = 0;
}

static double ball_residual(const Body* body, const BodyStep* t, const double* v,
                            const double* impulse) {
    double left[3], A[9], sum = 0.0, size = MASS * t->dt * tdl_norm3(t->gravity);
    balance((const Ball*)body, t, v, left, A);
    double* missing = ((Ball*)(uintptr_t)body)->missing;
    for (int i = 0; i < 3; ++i) {
        missing[i] = impulse[i] - left[i];
        sum += fabs(missing[i]);
        size += fabs(impulse[i]) + MASS * fabs(v[i]);
    }
    tdl_cholesky_solve(3, ((const Ball*)body)->factor, 3, 1, missing, 3);
    return sum / size;
}

static bool ball_correct(const Body* body, double* v_free) {
    for (int i = 0; i < 3; ++i) {
        v_free[i] += ((const Ball*)body)->missing[i];
    }
    return true;
}

static bool ball_refuse(const Body* body, double* v_free) {
    return !ball_correct(body, v_free);
}

static void ball_advance(Body* body, const BodyStep* t) {
    Ball* b = (Ball*)body;
    memcpy(b->v, b->free, sizeof b->v);
    for (int i = 0; i < 3; ++i) {
        b->x[i] += t->dt * b->v[i] + (body->push == NULL ? 0.0 : body->push[i]);
    }
}

static void ball_solve(const Body* body, int count, double* X) {
    tdl_cholesky_solve(3, ((const Ball*)body)->factor, 3, count, X, 3);
}

static BodySupport ball_support(const Body* body, const BodyPlace* place) {
    (void)body, (void)place;
    return (BodySupport){0, 3, NULL};
}

static void ball_rows(const Body* body, const BodyPlace* place, TdlMat3 basis, double* rows) {
    (void)body, (void)place;
    tdl_store3(rows, 0, basis.cx);
    tdl_store3(rows, 1, basis.cy);
    tdl_store3(rows, 2, basis.cz);
}

static BodyShape ball_shape(const Body* body, int segments) {
    (void)body, (void)segments;
    return (BodyShape){.curve_count = 1, .pieces = 1, .stiff = true, .size = BALL};
}

static void ball_curves(Body* body, int segments, TdlCurve* out) {
    (void)segments;
    TdlVec3 x = tdl_load3(((Ball*)body)->x, 0);
    tdl_curve_segment(&(TdlHost){0}, x, x, out);
    out->radius[0] = out->radius[1] = BALL;
}

static const BodyKind BALL_KIND = {.name = "ball",
                                   .predict = ball_predict,
                                   .predict_again = ball_again,
                                   .residual = ball_residual,
                                   .advance = ball_advance,
                                   .solve = ball_solve,
                                   .support = ball_support,
                                   .rows = ball_rows,
                                   .shape = ball_shape,
                                   .curves = ball_curves};

// One that lets a round keep A.
static BodyKind corrected_kind(void) {
    BodyKind kind = BALL_KIND;
    kind.correct = ball_correct;
    return kind;
}

static Ball* add_ball(TdlWorld* world, TdlVec3 at, TdlVec3 velocity) {
    Ball* b = tdl_alloc_zero(&world_host(world)->mem, sizeof *b);
    b->head = (Body){
        .kind = &BALL_KIND, .dof_count = 3, .v_free = b->free, .state = b->x, .state_count = 6};
    tdl_store3(b->x, 0, at);
    tdl_store3(b->v, 0, velocity);
    CHECK(world_add_body(world, &b->head) == TDL_STATUS_OK);
    return b;
}

static TdlWorld* make_world(double step, double mu) {
    TdlWorldDef def = tdl_world_def_default();
    TdlHost host = tdl_host_default();
    TdlWorld* world;
    def.step = step;
    def.contacts.law.mu = mu;
    def.contacts.tolerance = 1.0e-12;
    CHECK(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    return world;
}

typedef struct Throw {
    int touched, most, linearised; // steps; rounds of a step, of all
    TdlVec3 end;
} Throw;

// Thrown onto the floor and drawn along it by the spring: in every step the ball's own equation
// holds with what the contacts tell, though it is far from linear in a step of 10 ms.
static Throw throw_ball(const BodyKind* kind) {
    TdlWorld* world = make_world(1.0e-2, 0.3);
    add_floor(world);
    Ball* ball = add_ball(world, (TdlVec3){-0.1, 0.0, 0.03}, (TdlVec3){2.0, 0.0, -1.0});
    ball->head.kind = kind;
    BodyStep step = {.dt = 1.0e-2, .gravity = {0.0, 0.0, -9.81}};
    Throw seen = {0};
    for (int i = 0; i < 60; ++i) {
        Ball before = *ball;
        TdlStepInfo info;
        CHECK(tdl_world_step(world, &info) == TDL_STATUS_OK && info.substeps == 1);
        TdlWrench wrench = {0};
        CHECK(tdl_body_contact_wrench(world, ball->head.id, &wrench) == TDL_STATUS_OK);
        double left[3], A[9];
        balance(&before, &step, ball->v, left, A);
        TdlVec3 force = tdl_scale3(1.0 / step.dt, tdl_load3(left, 0));
        CHECK_NEAR3(wrench.force, force, 1.0e-8 * (1.0 + tdl_norm3(force))); // the rounds' end
        seen.most = info.rounds > seen.most ? info.rounds : seen.most;
        seen.linearised += ball->rounds;
        seen.touched += info.contact_count > 0;
    }
    seen.end = tdl_load3(ball->x, 0);
    tdl_world_destroy(world);
    return seen;
}

TEST(a_body_that_is_not_linear_is_solved_with_its_contacts) {
    Throw seen = throw_ball(&BALL_KIND);
    CHECK(seen.touched > 20 && seen.most >= 3);
}

// Rounds that keep A end at the same equation.
TEST(rounds_may_keep_the_linearisation) {
    BodyKind kind = corrected_kind();
    Throw anew = throw_ball(&BALL_KIND), kept = throw_ball(&kind);
    printf("  linearised again %d times in %d steps, %d where rounds keep A\n", anew.linearised,
           anew.touched, kept.linearised);
    CHECK(kept.linearised < anew.linearised);
    CHECK_NEAR3(kept.end, anew.end, 1.0e-8); // sixty steps that end at 1e-10 each
    kind.correct = ball_refuse;              // changed its mind: as if it could not
    Throw refused = throw_ball(&kind);
    CHECK_INT(refused.linearised, anew.linearised);
    CHECK_NEAR3(refused.end, anew.end, 0.0);
}

static void hear_error(void* user, TdlLogLevel level, const char* message) {
    if (level == TDL_LOG_ERROR) {
        snprintf(user, 512, "%s", message);
    }
}

static double never_small(const Body* body, const BodyStep* t, const double* v,
                          const double* impulse) {
    (void)body, (void)t, (void)v, (void)impulse;
    return 1.0;
}

// Of two the one whose equation cannot be fulfilled is named.
TEST(a_body_whose_rounds_do_not_end_is_named) {
    char heard[512] = "";
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world;
    host.log = hear_error;
    host.log_user = heard;
    REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    add_floor(world);
    BodyKind kind = BALL_KIND;
    kind.residual = never_small;
    Ball* good = add_ball(world, (TdlVec3){0.0, 0.0, BALL}, (TdlVec3){0});
    Ball* bad = add_ball(world, (TdlVec3){0.2, 0.0, BALL}, (TdlVec3){0});
    bad->head.kind = &kind;
    CHECK(tdl_body_set_name(world, good->head.id, "good") == TDL_STATUS_OK);
    CHECK(tdl_body_set_name(world, bad->head.id, "bad") == TDL_STATUS_OK);
    TdlStepInfo info;
    CHECK(tdl_world_step(world, &info) == TDL_STATUS_DIVERGED);
    CHECK(tdl_body_id_equal(info.fault.body, bad->head.id));
    CHECK_INT(info.fault.element, -1); // nothing has moved
    CHECK(strstr(heard, "found no velocity with its contacts: ball 'bad'") != NULL);
    tdl_world_destroy(world);
}

// At rest the force is that of the spring and the weight, whatever the step.
TEST(the_force_at_rest_does_not_depend_on_the_step) {
    for (int k = 0; k < 3; ++k) {
        TdlWorld* world = make_world(1.0e-3 * (1 << (2 * k)), 0.0);
        add_box(world, (TdlVec3){0.2, 0.1, 0.02}, 1.0e-3,
                (TdlPose){{0.0, 0.0, 0.02}, tdl_identity33()}, (TdlVec3){0});
        add_floor(world);
        Ball* ball = add_ball(world, (TdlVec3){0.05, 0.0, 0.065}, (TdlVec3){0});
        for (int i = 0; i < 4000 >> (2 * k) << k; ++i) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        }
        TdlWrench wrench = {0};
        CHECK(tdl_body_contact_wrench(world, ball->head.id, &wrench) == TDL_STATUS_OK);
        double d = ball->x[2] - ANCHOR.z;
        CHECK_NEAR(ball->x[0], ANCHOR.x, 1.0e-4); // drawn over its anchor, without friction
        CHECK_NEAR(wrench.force.z, MASS * 9.81 + SPRING * d * d * d, 1.0e-5);
        tdl_world_destroy(world);
    }
}

// --- a membrane of triangles, held at its rim ---------------------------------------------------

enum { CELLS = 6, SIDE = CELLS + 1, NODES = SIDE * SIDE, DOFS = 3 * NODES };
static const double SPAN = 0.12, NODE_MASS = 1.0e-3, STIFF = 30.0, THICK = 2.0e-3; // m, kg, N/m, m

typedef struct Membrane {
    Body head;
    double x[DOFS], v[DOFS]; // one after the other: the state
    double rest[DOFS], free[DOFS], factor[DOFS * DOFS];
    TdlMesh mesh;
    Surface* surface;
    int list[2 * CELLS * CELLS][9]; // coordinates of a triangle, rising
    int corner[2 * CELLS * CELLS][3];
} Membrane;

static bool at_rim(int node) {
    int i = node % SIDE, j = node / SIDE;
    return i == 0 || j == 0 || i == CELLS || j == CELLS;
}

// The force of the springs along the edges of the grid, K (rest - x), and dt^2 K into A.
static void add_springs(Membrane* m, double dt, double* force, double* A) {
    for (int node = 0; node < NODES; ++node) {
        for (int way = 0; way < 2; ++way) {
            int next = way == 0 ? node + 1 : node + SIDE;
            if ((way == 0 && node % SIDE == CELLS) || next >= NODES) {
                continue;
            }
            for (int c = 0; c < 3; ++c) {
                int i = 3 * node + c, j = 3 * next + c;
                double pull = STIFF * (m->x[j] - m->rest[j] - m->x[i] + m->rest[i]);
                force[i] += pull;
                force[j] -= pull;
                if (A != NULL) {
                    A[i + i * DOFS] += dt * dt * STIFF;
                    A[j + j * DOFS] += dt * dt * STIFF;
                    A[j + i * DOFS] -= dt * dt * STIFF;
                }
            }
        }
    }
}

static void membrane_predict(Body* body, const BodyStep* t) {
    Membrane* m = (Membrane*)body;
    double force[DOFS] = {0};
    memset(m->factor, 0, sizeof m->factor);
    add_springs(m, t->dt, force, m->factor);
    for (int i = 0; i < DOFS; ++i) {
        double mass = at_rim(i / 3) ? 1.0e12 : NODE_MASS;
        m->factor[i + i * DOFS] += mass;
        double weight = at_rim(i / 3) || i % 3 < 2 ? 0.0 : mass * t->gravity.z;
        m->free[i] = mass * m->v[i] + t->dt * (force[i] + weight);
    }
    body->account.failed = tdl_cholesky(DOFS, m->factor, DOFS) < DOFS;
    tdl_cholesky_solve(DOFS, m->factor, DOFS, 1, m->free, DOFS);
}

static void membrane_advance(Body* body, const BodyStep* t) {
    Membrane* m = (Membrane*)body;
    memcpy(m->v, m->free, sizeof m->v);
    for (int i = 0; i < DOFS; ++i) {
        m->x[i] += t->dt * m->v[i] + (body->push == NULL ? 0.0 : body->push[i]);
    }
}

static TdlStatus membrane_place(const TdlHost* host, Body* body, double time) {
    (void)host, (void)time;
    Membrane* m = (Membrane*)body;
    TdlVec3 at[NODES];
    for (int i = 0; i < NODES; ++i) {
        at[i] = tdl_load3(m->x, i);
    }
    return surface_put(m->surface, at) < 0 ? TDL_STATUS_OK : TDL_STATUS_DIVERGED;
}

static void membrane_solve(const Body* body, int count, double* X) {
    tdl_cholesky_solve(DOFS, ((const Membrane*)body)->factor, DOFS, count, X, DOFS);
}

static BodySupport membrane_support(const Body* body, const BodyPlace* place) {
    return (BodySupport){0, 9, ((const Membrane*)body)->list[place->element]};
}

// Share of a node in a place of a triangle.
static double share(const Membrane* m, int triangle, double u, double v, int node) {
    const int* corner = m->corner[triangle];
    return node == corner[0] ? 1.0 - u - v : node == corner[1] ? u : node == corner[2] ? v : 0.0;
}

static void membrane_rows(const Body* body, const BodyPlace* place, TdlMat3 basis, double* rows) {
    const Membrane* m = (const Membrane*)body;
    const int* list = m->list[place->element];
    for (int k = 0; k < 3; ++k) {
        TdlVec3 axis = k == 0 ? basis.cx : k == 1 ? basis.cy : basis.cz;
        const double along[3] = {axis.x, axis.y, axis.z};
        for (int j = 0; j < 9; ++j) {
            double own = share(m, place->element, place->u, place->v, list[j] / 3);
            rows[9 * k + j] = along[list[j] % 3] * own;
        }
    }
}

static TdlVec3 membrane_velocity(const Body* body, const BodyPlace* place) {
    const Membrane* m = (const Membrane*)body;
    TdlVec3 sum = {0};
    for (int k = 0; k < 3; ++k) {
        int node = m->corner[place->element][k];
        sum = tdl_axpy3(sum, share(m, place->element, place->u, place->v, node),
                        tdl_load3(m->v, node));
    }
    return sum;
}

static BodyShape membrane_shape(const Body* body, int segments) {
    (void)segments;
    return (BodyShape){
        .pieces = 1, .frameless = true, .size = THICK, .surface = ((const Membrane*)body)->surface};
}

static void membrane_destroy(const TdlHost* host, Body* body) {
    surface_destroy(host, ((Membrane*)body)->surface);
    free_mesh(((Membrane*)body)->mesh);
    tdl_free(&host->mem, body);
}

static const BodyKind MEMBRANE = {.name = "membrane",
                                  .destroy = membrane_destroy,
                                  .predict = membrane_predict,
                                  .advance = membrane_advance,
                                  .place = membrane_place,
                                  .solve = membrane_solve,
                                  .support = membrane_support,
                                  .rows = membrane_rows,
                                  .velocity = membrane_velocity,
                                  .shape = membrane_shape};

static int compare_ints(const void* a, const void* b) {
    return *(const int*)a - *(const int*)b;
}

static Membrane* add_membrane(TdlWorld* world) {
    const TdlHost* host = world_host(world);
    Membrane* m = tdl_alloc_zero(&host->mem, sizeof *m);
    m->head = (Body){.kind = &MEMBRANE,
                     .dof_count = DOFS,
                     .v_free = m->free,
                     .state = m->x,
                     .state_count = 2 * DOFS};
    m->mesh = make_grid(CELLS, SPAN);
    for (int i = 0; i < NODES; ++i) {
        tdl_store3(m->rest, i, m->mesh.vertices[i]);
    }
    memcpy(m->x, m->rest, sizeof m->x);
    for (int f = 0; f < m->mesh.triangle_count; ++f) {
        for (int k = 0; k < 9; ++k) {
            m->corner[f][k / 3] = m->mesh.triangles[3 * f + k / 3];
            m->list[f][k] = 3 * m->corner[f][k / 3] + k % 3;
        }
        qsort(m->list[f], 9, sizeof(int), compare_ints);
    }
    VertexMotion start = {(TdlVec3*)(uintptr_t)m->mesh.vertices, 1, NODES, 0.0, 1.0};
    CHECK(surface_create(host, &m->mesh, &start, THICK, &m->surface) == TDL_STATUS_OK);
    CHECK(world_add_body(world, &m->head) == TDL_STATUS_OK);
    return m;
}

// A ball and a rod lie on it: the addresses of the contacts, which are on its faces, and their
// forces make the springs' equilibrium.
TEST(a_deforming_surface_is_touched_on_its_faces) {
    TdlWorld* world = make_world(2.0e-3, 0.3);
    Membrane* m = add_membrane(world);
    add_sphere(world, 0.01, (TdlVec3){0.013, 0.007, 0.02}, (TdlVec3){0});
    add_rod(world, 0.03, 2.0e-3, 3, (TdlVec3){-0.04, -0.015, 0.01}, (TdlVec3){0});
    for (int i = 0; i < 9000; ++i) { // the rod rolls to and fro
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
    CHECK(kinds_touch(world, "membrane", "rigid") && kinds_touch(world, "membrane", "rod"));
    double left[DOFS] = {0}, carried = 0.0;
    add_springs(m, 0.0, left, NULL);
    int count;
    const TdlContactForce* f = tdl_world_contact_forces(world, &count);
    for (int i = 0; i < count; ++i) {
        int side = tdl_body_id_equal(f[i].body[1], m->head.id);
        if (!tdl_body_id_equal(f[i].body[side], m->head.id)) {
            continue; // the ball and the rod come near each other
        }
        TdlVec3 force = tdl_scale3(side == 0 ? -1.0 : 1.0, f[i].force), point = {0};
        for (int k = 0; k < 3; ++k) {
            int node = m->corner[f[i].element[side]][k];
            double own = share(m, f[i].element[side], f[i].u[side], f[i].v[side], node);
            tdl_store3(left, node, tdl_axpy3(tdl_load3(left, node), own, force));
            point = tdl_axpy3(point, own, tdl_load3(m->x, node));
        }
        carried -= force.z;
        CHECK(tdl_norm3(tdl_sub3(point, f[i].point)) < 1.1 * THICK);
    }
    for (int i = 0; i < DOFS; ++i) { // N; what a step of the slowest waves leaves
        double weight = i % 3 == 2 ? NODE_MASS * 9.81 : 0.0;
        CHECK_NEAR(at_rim(i / 3) ? 0.0 : left[i] - weight, 0.0, 1.0e-5);
    }
    double weights = 1000.0 * (4.0 / 3.0 * 1.0e-6 + 0.03 * 4.0e-6) * M_PI * 9.81;
    CHECK_NEAR(carried, weights, 1.0e-5);
    tdl_world_destroy(world);
}
