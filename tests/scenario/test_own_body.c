// A kind of body that the library does not know, brought through the table of body.h alone: a bar
// of linear finite elements, bent into a hairpin. Its coordinates are all x, then all y, all z, so
// that a place is moved by a list of them. It touches a box, a rod and itself, and sticks to a
// slope.
#include "body/body.h"
#include "math/dense.h"
#include "picture.h"
#include "things.h"

enum { NODES = 12, DOFS = 3 * NODES };
static const double RADIUS = 4.0e-3, NODE_MASS = 2.0e-3, STIFF = 8.0; // m, kg, N/m

typedef struct Bar {
    Body head;
    double x[DOFS], v[DOFS]; // one after the other: the state
    double rest[DOFS], free[DOFS], factor[DOFS * DOFS];
    int list[NODES - 1][6];
} Bar;

// A = m + dt^2 K, f = m v + dt (m g - K (x - rest)), K springs between neighbours, by component
static void predict(Body* body, const BodyStep* t) {
    Bar* b = (Bar*)body;
    const double g[3] = {t->gravity.x, t->gravity.y, t->gravity.z};
    memset(b->factor, 0, sizeof b->factor);
    for (int i = 0; i < DOFS; ++i) {
        b->free[i] = NODE_MASS * (b->v[i] + t->dt * g[i / NODES]);
        b->factor[i + i * DOFS] = NODE_MASS;
    }
    for (int i = 0; i + 1 < DOFS; ++i) {
        double k = i % NODES + 1 < NODES ? t->dt * STIFF : 0.0;
        double pull = k * (b->x[i + 1] - b->rest[i + 1] - b->x[i] + b->rest[i]);
        b->free[i] += pull;
        b->free[i + 1] -= pull;
        b->factor[i + i * DOFS] += t->dt * k;
        b->factor[i + 1 + i * DOFS] = -t->dt * k;
        b->factor[i + 1 + (i + 1) * DOFS] += t->dt * k;
    }
    body->account.failed = tdl_cholesky(DOFS, b->factor, DOFS) < DOFS;
    tdl_cholesky_solve(DOFS, b->factor, DOFS, 1, b->free, DOFS);
}

static void advance(Body* body, const BodyStep* t) {
    Bar* b = (Bar*)body;
    memcpy(b->v, b->free, sizeof b->v);
    for (int i = 0; i < DOFS; ++i) {
        b->x[i] += t->dt * b->v[i] + (body->push == NULL ? 0.0 : body->push[i]);
    }
}

static void solve(const Body* body, int count, double* X) {
    tdl_cholesky_solve(DOFS, ((const Bar*)body)->factor, DOFS, count, X, DOFS);
}

static BodySupport support(const Body* body, const BodyPlace* place) {
    return (BodySupport){0, 6, ((const Bar*)body)->list[place->element]};
}

static void rows(const Body* body, const BodyPlace* place, TdlMat3 basis, double* out) {
    (void)body;
    for (int k = 0; k < 3; ++k) {
        TdlVec3 axis = k == 0 ? basis.cx : k == 1 ? basis.cy : basis.cz;
        const double along[3] = {axis.x, axis.y, axis.z};
        for (int j = 0; j < 6; ++j) {
            out[6 * k + j] = along[j / 2] * (j % 2 == 0 ? 1.0 - place->u : place->u);
        }
    }
}

static BodyShape shape(const Body* body, int segments) {
    (void)body, (void)segments;
    return (BodyShape){.curve_count = NODES - 1, .pieces = 1, .frameless = true, .size = RADIUS};
}

static TdlVec3 node(const Bar* b, int i) {
    return (TdlVec3){b->x[i], b->x[NODES + i], b->x[2 * NODES + i]};
}

static void curves(Body* body, int segments, TdlCurve* out) {
    (void)segments;
    for (int i = 0; i + 1 < NODES; ++i) {
        tdl_curve_segment(&(TdlHost){0}, node((Bar*)body, i), node((Bar*)body, i + 1), &out[i]);
        out[i].radius[0] = out[i].radius[1] = RADIUS;
    }
}

// clang-format off
static const BodyKind BAR = {.name = "bar", .predict = predict, .advance = advance, .solve = solve,
                             .support = support, .rows = rows, .shape = shape, .curves = curves};
// clang-format on

// A hairpin: the lower leg on top of the box, the upper one above it.
static TdlBodyId add_bar(TdlWorld* world) {
    Bar* b = tdl_alloc_zero(&world_host(world)->mem, sizeof *b);
    b->head = (Body){
        .kind = &BAR, .dof_count = DOFS, .v_free = b->free, .state = b->x, .state_count = 2 * DOFS};
    for (int i = 0; i < NODES; ++i) {
        bool upper = i >= NODES / 2;
        b->rest[i] = 0.012 * (upper ? NODES - 1 - i : i) - 0.036;
        b->rest[2 * NODES + i] = 0.04 + (upper ? 4.0 : 1.05) * RADIUS;
        for (int k = 0; k < 6 && i + 1 < NODES; ++k) {
            b->list[i][k] = k / 2 * NODES + i + k % 2;
        }
    }
    memcpy(b->x, b->rest, sizeof b->x);
    CHECK(world_add_body(world, &b->head) == TDL_STATUS_OK);
    return b->head.id;
}

static TdlWorld* make_world(int threads, TdlBodyId* bar) {
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world;
    def.thread_count = threads;
    def.contacts.law.mu = 0.5;
    def.gravity = (TdlVec3){0.2 * 9.81, 0.0, -9.81}; // a slope below the angle of friction
    TdlHost host = tdl_host_default();
    CHECK(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    add_floor(world);
    add_box(world, (TdlVec3){0.06, 0.03, 0.02}, 1.0e-3,
            (TdlPose){{0.0, 0.0, 0.02}, tdl_identity33()}, (TdlVec3){0});
    *bar = add_bar(world);
    // a rod that hangs down on the bar from a clamp: a free one would roll off
    TdlRodDef rod = tdl_rod_def_default();
    TdlBodyId id;
    rod.length = 0.05;
    rod.radius[0] = rod.radius[1] = 2.0e-3;
    rod.element_count = 2;
    rod.young = 1.0e5;
    rod.clamp.position = (TdlVec3){-0.05, 0.0, 0.04 + 6.0 * RADIUS};
    CHECK(tdl_world_add_rod(world, &rod, &id) == TDL_STATUS_OK);
    return world;
}

TEST(a_bar_touches_a_rod_a_box_and_itself_and_comes_to_rest_on_a_slope) {
    TdlBodyId bar;
    TdlWorld *world = make_world(1, &bar), *later = make_world(2, &bar);
    run_steps(world, 400);
    size_t size = tdl_world_state_size(world);
    void* state = malloc(size);
    tdl_world_save_state(world, state);
    REQUIRE(tdl_world_load_state(later, state, size) == TDL_STATUS_OK); // on two threads
    run_steps(world, 2000);
    run_steps(later, 2000);
    CHECK(tdl_world_state_hash(later) == tdl_world_state_hash(world));
    CHECK(kinds_touch(world, "bar", "bar") && kinds_touch(world, "bar", "rigid") &&
          kinds_touch(world, "bar", "rod"));

    // observed: contacts carry its weight, along the slope by friction
    TdlWrench all;
    REQUIRE(tdl_body_contact_wrench(world, bar, &all) == TDL_STATUS_OK);
    CHECK_NEAR(all.force.x, -0.2 * 9.81 * NODES * NODE_MASS, 1.0e-5); // N
    CHECK_NEAR(all.force.z, 9.81 * NODES * NODE_MASS, 1.0e-5);
    CHECK(picture_shows(world, bar, node((const Bar*)world_find_body(world, bar, &BAR), 3)));
    free(state);
    tdl_world_destroy(world);
    tdl_world_destroy(later);
}
