// Bodies that come and go: memory that runs out while they do, for good or once, groups that lose a
// rod, and states of other bodies.
#include "counting_allocator.h"
#include "look.h"
#include "things.h"

static TdlStatus add_clamped(TdlWorld* world, double x, TdlBodyId* id) {
    TdlRodDef def = tdl_rod_def_default();
    def.radius[0] = def.radius[1] = 1.0e-3;
    def.element_count = 4;
    def.clamp.position.x = x;
    return tdl_world_add_rod(world, &def, id);
}

static TdlWorld* make_rods(const TdlHost* host, int count, TdlBodyId* ids) {
    TdlWorldDef def = tdl_world_def_default();
    def.contacts.off = true;
    TdlWorld* world = NULL;
    CHECK_INT(tdl_world_create(host, &def, &world), TDL_STATUS_OK);
    for (int i = 0; i < count; ++i) {
        CHECK_INT(add_clamped(world, 0.01 * i, &ids[i]), TDL_STATUS_OK);
    }
    return world;
}

// From one allocation on all fail; what was there before goes on and is freed.
TEST(memory_that_runs_out_for_good_leaves_the_world_whole) {
    for (int spared = 0; spared < 12; ++spared) {
        AllocCounter counter = {0};
        TdlHost host = tdl_host_default();
        host.mem = counting_allocator(&counter);
        host.log = NULL;
        TdlBodyId ids[18];
        TdlWorld* world = make_rods(&host, 17, ids);
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
        counter.fail_from = counter.calls + 1 + spared;
        TdlStatus status = add_clamped(world, 1.0, &ids[17]);
        counter.fail_from = 0;
        CHECK_INT(look_count(world, "rod"), status == TDL_STATUS_OK ? 18 : 17);
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
        tdl_world_destroy(world);
        CHECK_INT(counter.live, 0);
    }
}

// Without memory too: what is left moves as if the other had never been there.
TEST(a_group_goes_on_without_a_rod) {
    for (int gone = 0; gone < 4; ++gone) {
        AllocCounter counter = {0};
        TdlHost host = tdl_host_default();
        host.mem = counting_allocator(&counter);
        TdlBodyId ids[6], alone[6];
        TdlWorld *world = make_rods(&host, 6, ids), *other = make_rods(&host, 6, alone);
        counter.fail_from = counter.calls + 1;
        CHECK_INT(tdl_world_remove(world, ids[gone]), TDL_STATUS_OK);
        counter.fail_from = 0;
        for (int i = 0; i < 20; ++i) {
            CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
            CHECK_INT(tdl_world_step(other, NULL), TDL_STATUS_OK);
        }
        for (int i = 0; i < 6; ++i) {
            TdlRodInfo info = look_rod_info(other, alone[i]);
            size_t size = (size_t)info.dof_count * sizeof(double);
            CHECK(i == gone || memcmp(look_rod_coordinates(world, ids[i]),
                                      look_rod_coordinates(other, alone[i]), size) == 0);
        }
        tdl_world_destroy(world);
        tdl_world_destroy(other);
        CHECK_INT(counter.live, 0);
    }
}

TEST(a_state_of_other_bodies_is_refused_and_changes_nothing) {
    TdlHost host = tdl_host_default();
    host.log = NULL;
    TdlBodyId ids[4];
    TdlWorld* world = make_rods(&host, 3, ids);
    add_sphere(world, 0.01, (TdlVec3){0.0, 0.0, 1.0}, (TdlVec3){0});
    CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
    size_t size = tdl_world_state_size(world);
    char* state = malloc(size);
    tdl_world_save_state(world, state);
    CHECK_INT(tdl_world_remove(world, ids[1]), TDL_STATUS_OK);
    CHECK_INT(add_clamped(world, 0.5, &ids[3]), TDL_STATUS_OK); // as many, in another order
    uint64_t before = tdl_world_state_hash(world);
    CHECK_INT(tdl_world_load_state(world, state, size), TDL_STATUS_BAD_INPUT);
    CHECK(tdl_world_state_hash(world) == before);
    int64_t absurd = INT64_MAX;
    memcpy(state, &absurd, sizeof absurd);
    CHECK_INT(tdl_world_load_state(world, state, size), TDL_STATUS_BAD_INPUT);
    free(state);
    tdl_world_destroy(world);
}

// A trunk is touched at an element before its branch's coordinates; the branch has next to no
// weight. (Rows that are short of the branch were read and written beyond their end.)
TEST(a_trunk_with_a_branch_is_touched) {
    double force[2];
    for (int branches = 0; branches < 2; ++branches) {
        TdlHost host = tdl_host_default();
        TdlWorldDef world_def = tdl_world_def_default();
        world_def.contacts.law.mu = 0.0; // one equilibrium, whatever led there
        TdlWorld* world;
        REQUIRE(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
        TdlColliderDef ball = tdl_collider_def_default();
        TdlBodyId trunk, id;
        ball.radius = 0.02;
        ball.pose.position = (TdlVec3){0.075, 0.0, -0.0205};
        REQUIRE(tdl_world_add_collider(world, &ball, &id) == TDL_STATUS_OK);
        TdlRodDef def = tdl_rod_def_default();
        def.radius[0] = def.radius[1] = 1.0e-3;
        def.element_count = 4;
        def.young = 1.0e6;
        def.damping = 0.01;
        def.clamp.position.z = 1.0e-3;
        REQUIRE(tdl_world_add_rod(world, &def, &trunk) == TDL_STATUS_OK);
        if (branches > 0) {
            def.parent = trunk;
            def.parent_at = 0.25;
            def.clamp.rotation = (TdlMat3){{0, 0, 1}, {0, 1, 0}, {-1, 0, 0}};
            def.length = 1.0e-3;
            def.radius[0] = def.radius[1] = 1.0e-5;
            def.element_count = 2;
            REQUIRE(tdl_world_add_rod(world, &def, &id) == TDL_STATUS_OK);
        }
        for (int i = 0; i < 500; ++i) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        }
        TdlWrench wrench;
        REQUIRE(tdl_body_contact_wrench(world, trunk, &wrench) == TDL_STATUS_OK);
        force[branches] = wrench.force.z;
        tdl_world_destroy(world);
    }
    CHECK(force[0] > 1.0e-4);
    // trees are not pushed: 0.053 mm stay of the overlap of its landing, of 44 mm that it is lifted
    CHECK_NEAR(force[1], force[0], 1.5e-3 * force[0]);
}
