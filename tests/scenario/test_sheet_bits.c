// Sheets in contact: what their contacts keep, the same bits for any number of threads and after a
// resume, and no allocation once warm.
#include "counting_allocator.h"
#include "math/rotation.h"
#include "sheets.h"

enum { CELLS = 6, SIDE = CELLS + 1, NODES = SIDE * SIDE };

static TdlWorld* make_world(TdlHost host, int threads, double mu, bool weight) {
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world;
    def.step = 5.0e-3;
    def.thread_count = threads;
    def.contacts.law.mu = mu;
    def.gravity = weight ? def.gravity : (TdlVec3){0};
    CHECK(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    return world;
}

static TdlBodyId add(TdlWorld* world, double z, double turn, TdlVec3 velocity, bool undamped) {
    return add_sheet(world, (SheetDef){.cells = CELLS,
                                       .side = 0.12,
                                       .thickness = 2.0e-3,
                                       .at = {0.001, 0.002, z},
                                       .velocity = velocity,
                                       .turn = tdl_rotation_exp((TdlVec3){0.2 * turn, 0.0, turn}),
                                       .undamped = undamped});
}

// Twice the sum of area and velocity, in areas of a quad: what is in a corner counts a quarter.
static TdlVec3 momentum(const TdlWorld* world, const TdlBodyId id[2]) {
    TdlVec3 sum = {0};
    for (int k = 0; k < 2 * NODES; ++k) {
        TdlVec3 v[NODES];
        CHECK(tdl_cloth_state(world, id[k / NODES], NULL, v) == TDL_STATUS_OK);
        int i = k % NODES % SIDE, j = k % NODES / SIDE;
        double share = (i % CELLS == 0 ? 0.5 : 1.0) * (j % CELLS == 0 ? 0.5 : 1.0);
        sum = tdl_axpy3(sum, share, v[k % NODES]);
    }
    return sum;
}

static TdlVec3 place_of(const TdlWorld* world, TdlBodyId id, const TdlVec3* x,
                        const TdlContactForce* f, int side) {
    const int* t;
    int count;
    CHECK(tdl_cloth_triangles(world, id, &t, &count) == TDL_STATUS_OK);
    const int* c = t + 3 * f->element[side];
    TdlVec3 at = tdl_scale3(1.0 - f->u[side] - f->v[side], x[c[0]]);
    return tdl_axpy3(tdl_axpy3(at, f->u[side], x[c[1]]), f->v[side], x[c[2]]);
}

// Two that collide in empty space keep their momentum, with friction too; and without friction the
// forces on the two have no moment.
static void collide(double mu) {
    TdlWorld* world = make_world(tdl_host_default(), 1, mu, false);
    TdlBodyId id[2] = {add(world, 0.0, 0.0, (TdlVec3){0.2, 0.0, 1.0}, true),
                       add(world, 0.02, 0.5, (TdlVec3){0.0, 0.1, -1.0}, true)};
    TdlVec3 before = momentum(world, id), x[2][NODES];
    double moved = 0.0, most = 0.0, couple = 0.0;
    for (int i = 0; i < 8; ++i) {
        TdlStepInfo info;
        for (int k = 0; k < 2; ++k) {
            CHECK(tdl_cloth_state(world, id[k], x[k], NULL) == TDL_STATUS_OK);
        }
        REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        int count;
        const TdlContactForce* f = tdl_world_contact_forces(world, &count);
        for (int k = 0; k < count && info.substeps == 1; ++k) {
            TdlVec3 arm = tdl_sub3(place_of(world, id[1], x[1], &f[k], 1),
                                   place_of(world, id[0], x[0], &f[k], 0));
            most = fmax(most, tdl_norm3(arm) * tdl_norm3(f[k].force));
            couple = fmax(couple, tdl_norm3(tdl_cross3(arm, f[k].force)));
        }
        moved += count;
    }
    TdlVec3 after = momentum(world, id);
    printf("  mu %g: momentum changed by %.2g of %.3g; couples of %.2g of %.3g N m\n", mu,
           tdl_norm3(tdl_sub3(after, before)), NODES * 1.0, couple, most);
    CHECK(moved > 5 && (mu > 0.0 || most > 0.0));
    CHECK_NEAR(tdl_norm3(tdl_sub3(after, before)), 0.0, 1.0e-12 * NODES);
    CHECK(mu > 0.0 || couple <= 1.0e-12 * most);
    tdl_world_destroy(world);
}

TEST(momentum_is_kept) {
    collide(0.0);
    collide(0.4);
}

static TdlWorld* make_pile(TdlHost host, int threads) {
    TdlWorld* world = make_world(host, threads, 0.3, true);
    TdlColliderDef ball = tdl_collider_def_default();
    TdlBodyId id;
    ball.shape = TDL_SHAPE_SPHERE;
    ball.radius = 0.03;
    ball.pose.position = (TdlVec3){0.0, 0.0, -0.03};
    CHECK(tdl_world_add_collider(world, &ball, &id) == TDL_STATUS_OK);
    add(world, 0.004, 0.0, (TdlVec3){0}, false);
    add(world, 0.02, 0.5, (TdlVec3){0}, false);
    return world;
}

static void run(TdlWorld* world, int steps) {
    for (int i = 0; i < steps; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
}

TEST(same_bits_for_any_threads_and_after_a_resume) {
    TdlWorld* one = make_pile(tdl_host_default(), 1);
    TdlWorld* three = make_pile(tdl_host_default(), 3);
    run(one, 20);
    run(three, 20);
    CHECK(tdl_world_state_hash(one) == tdl_world_state_hash(three));
    size_t size = tdl_world_state_size(one);
    void* state = malloc(size);
    tdl_world_save_state(one, state);
    TdlWorld* again = make_pile(tdl_host_default(), 1);
    REQUIRE(tdl_world_load_state(again, state, size) == TDL_STATUS_OK);
    run(one, 5);
    run(again, 5);
    CHECK(tdl_world_state_hash(one) == tdl_world_state_hash(again));
    free(state);
    tdl_world_destroy(one);
    tdl_world_destroy(three);
    tdl_world_destroy(again);
}

TEST(nothing_is_allocated_once_warm) {
    AllocCounter counter = {0};
    TdlHost host = tdl_host_default();
    host.mem = counting_allocator(&counter);
    TdlWorld* world = make_world(host, 1, 0.3, true);
    add_floor(world);
    add(world, 0.002, 0.0, (TdlVec3){0}, false);
    run(world, 100);
    long before = counter.calls;
    run(world, 20);
    CHECK_INT(counter.calls - before, 0);
    tdl_world_destroy(world);
    CHECK_INT(counter.live, 0);
}
