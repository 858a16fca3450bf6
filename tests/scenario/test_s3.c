// What S3 does otherwise, kept to compare with: its friction, and its isometry.
#include "command.h"
#include "tendril/cloth.h"
#include "test.h"
#include "things.h"

static TdlVec3 vertices[64 * 64];
static int faces[4 * 64 * 64];

static TdlWorld* make_world(TdlContactResponse response, TdlFrictionSolverKind solver, double mu) {
    TdlWorldDef def = tdl_world_def_default();
    TdlHost host = tdl_host_default();
    TdlWorld* world = NULL;
    def.step = 0.01;
    def.contacts.law.mu = mu;
    def.contacts.response = response;
    def.contacts.solver = solver;
    CHECK(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    return world;
}

static void step_all(TdlWorld* world, int steps) {
    for (int i = 0; i < steps; ++i) {
        TdlStepInfo info;
        if (tdl_world_step(world, &info) != TDL_STATUS_OK || info.unsolved > 0) {
            FAIL("step %d: %s, %d unsolved", i, info.reason, info.unsolved);
            break;
        }
    }
}

static TdlVec3 centre_of(TdlWorld* world, TdlBodyId body) {
    TdlVec3 centre = {0};
    double mass;
    CHECK(tdl_body_centre(world, body, &centre, &mass) == TDL_STATUS_OK);
    return centre;
}

// --- friction ------------------------------------------------------------------------------------

// The way of a sheet on a slope in a second, downhill first; and the farthest that it came.
static TdlVec3 slide(double angle, double mu, TdlContactResponse response,
                     TdlFrictionSolverKind solver, double* farthest) {
    TdlWorld* world = make_world(response, solver, mu);
    double c = cos(angle), s = sin(angle);
    TdlMat3 turn = {{c, 0.0, -s}, {0.0, 1.0, 0.0}, {s, 0.0, c}};
    TdlColliderDef plane = tdl_collider_def_default();
    TdlClothDef def = tdl_cloth_def_default();
    TdlBodyId id;
    plane.shape = TDL_SHAPE_PLANE;
    plane.pose.rotation = turn;
    CHECK(tdl_world_add_collider(world, &plane, &id) == TDL_STATUS_OK);
    def.mesh = tdl_cloth_rectangle(0.2, 0.2, 6, 6, vertices, faces);
    def.damping = 0.0;
    for (int i = 0; i < 36; ++i) {
        vertices[i] = tdl_mul33_3(turn, tdl_axpy3(vertices[i], 1.0, (TdlVec3){0.0, 0.0, 5.0e-4}));
    }
    CHECK(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    TdlVec3 before = centre_of(world, id), way = {0};
    *farthest = 0.0;
    for (int k = 0; k < 100; ++k) {
        step_all(world, 1);
        way = tdl_tmul33_3(turn, tdl_sub3(centre_of(world, id), before));
        *farthest = fmax(*farthest, tdl_norm3(way));
    }
    tdl_world_destroy(world);
    return way;
}

// Half a degree below the limit exact friction holds; S3's, which never sticks, does not. Its first
// step goes uphill, by what its friction is too large.
TEST(its_friction_creeps_where_exact_friction_holds) {
    double mu = 0.4, angle = atan(mu) - 0.5 * M_PI / 180.0, held, crept[2];
    slide(angle, mu, TDL_RESPONSE_EXACT, TDL_FRICTION_ALTERNATING, &held);
    slide(angle, mu, TDL_RESPONSE_S3, TDL_FRICTION_ACTIVE_SET, &crept[0]);
    slide(angle, mu, TDL_RESPONSE_S3, TDL_FRICTION_NORMAL_INTERIOR, &crept[1]);
    printf("  in a second it went %.2g m by exact friction, %.2g and %.2g m by S3's\n", held,
           crept[0], crept[1]);
    CHECK_BELOW(held, 1.0e-10);
    CHECK(crept[0] > 1.0e-3 && crept[1] > 1.0e-3);
}

// Where all slides it is Coulomb's law, by either solver.
TEST(its_friction_is_coulombs_where_all_slides) {
    double mu = 0.4, angle = atan(mu) + 3.0 * M_PI / 180.0, far;
    double a = 9.81 * (sin(angle) - mu * cos(angle)), want = 0.5 * a * 1.0e-4 * 100.0 * 101.0;
    TdlFrictionSolverKind kinds[2] = {TDL_FRICTION_ACTIVE_SET, TDL_FRICTION_NORMAL_INTERIOR};
    for (int k = 0; k < 2; ++k) {
        TdlVec3 way = slide(angle, mu, TDL_RESPONSE_S3, kinds[k], &far);
        printf("  %.6f m, wanted %.6f\n", way.x, want);
        CHECK_NEAR(way.x / want, 1.0, 1.0e-6);
        CHECK_BELOW(fabs(way.y), 1.0e-8);
    }
}

// A sheet let fall on a ball without friction: one law, three ways to solve it.
TEST(without_friction_all_are_one) {
    TdlVec3 first[64];
    for (int k = 0; k < 3; ++k) {
        TdlFrictionSolverKind kinds[3] = {TDL_FRICTION_ALTERNATING, TDL_FRICTION_ACTIVE_SET,
                                          TDL_FRICTION_NORMAL_INTERIOR};
        TdlWorld* world = make_world(k == 0 ? TDL_RESPONSE_EXACT : TDL_RESPONSE_S3, kinds[k], 0.0);
        TdlColliderDef ball = tdl_collider_def_default();
        TdlClothDef def = tdl_cloth_def_default();
        TdlVec3 at[64];
        TdlBodyId id;
        ball.shape = TDL_SHAPE_SPHERE;
        ball.radius = 0.1;
        ball.pose.position = (TdlVec3){0.02, 0.01, -0.105};
        CHECK(tdl_world_add_collider(world, &ball, &id) == TDL_STATUS_OK);
        def.mesh = tdl_cloth_rectangle(0.3, 0.3, 6, 6, vertices, faces);
        CHECK(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
        step_all(world, 15);
        CHECK(tdl_cloth_state(world, id, at, NULL) == TDL_STATUS_OK);
        double apart = 0.0;
        for (int i = 0; i < 36; ++i) {
            first[i] = k == 0 ? at[i] : first[i];
            apart = fmax(apart, tdl_norm3(tdl_sub3(at[i], first[i])));
        }
        printf("  apart by %.2g m\n", apart);
        CHECK_BELOW(apart, 1.0e-6); // 1e-8 of a step's velocities, and 15 steps
        tdl_world_destroy(world);
    }
}

// All of S3 on a ball: the same bits for one thread and for three.
TEST(threads_do_not_matter) {
    TdlVec3 at[2][64];
    for (int k = 0; k < 2; ++k) {
        TdlHost host = tdl_host_default();
        TdlWorldDef world_def = tdl_world_def_default();
        TdlColliderDef ball = tdl_collider_def_default();
        TdlClothDef def = tdl_cloth_def_default();
        TdlWorld* world = NULL;
        TdlBodyId id;
        world_def.step = 0.01;
        world_def.thread_count = k == 0 ? 1 : 3;
        world_def.contacts.response = TDL_RESPONSE_S3;
        REQUIRE(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
        ball.shape = TDL_SHAPE_SPHERE;
        ball.radius = 0.1;
        ball.pose.position = (TdlVec3){0.02, 0.01, -0.101};
        CHECK(tdl_world_add_collider(world, &ball, &id) == TDL_STATUS_OK);
        def.isometry = TDL_ISOMETRY_S3;
        def.mesh = tdl_cloth_rectangle(0.3, 0.3, 8, 8, vertices, faces);
        CHECK(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
        step_all(world, 10);
        CHECK(tdl_cloth_state(world, id, at[k], NULL) == TDL_STATUS_OK);
        tdl_world_destroy(world);
    }
    CHECK(memcmp(at[0], at[1], sizeof at[0]) == 0);
}

// --- isometry ------------------------------------------------------------------------------------

typedef struct Hung {
    double area, edge; // the largest changes, of the first relative and of the second
} Hung;

// Table 1's size, 7 x 9, flat at first and hung by two corners, which come nearer by a tenth.
static Hung hang(TdlClothIsometry isometry) {
    TdlWorld* world = make_world(TDL_RESPONSE_EXACT, TDL_FRICTION_ALTERNATING, 0.3);
    TdlClothDef def = tdl_cloth_def_default();
    TdlKeyframe keys[2] = {{.time = 0.5}, {.time = 1.0, .position = {-0.042, 0.0, 0.0}}};
    int corner[2] = {0, 6};
    TdlClothHold hold[2] = {{.vertices = corner, .count = 1}, {.vertices = corner + 1, .count = 1}};
    TdlBodyId id;
    Hung out = {0};
    def.mesh = tdl_cloth_rectangle(0.42, 0.594, 7, 9, vertices, faces);
    def.isometry = isometry;
    hold[1].motion =
        (TdlMotionDef){.keys = keys, .key_count = 2, .interpolation = TDL_INTERPOLATION_SMOOTH};
    def.holds = hold;
    def.hold_count = 2;
    CHECK(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    for (int k = 0; k < 200; ++k) {
        TdlClothStrain strain;
        step_all(world, 1);
        CHECK(tdl_cloth_strain(world, id, &strain) == TDL_STATUS_OK);
        out.area = fmax(out.area, fabs(strain.area));
        out.edge = fmax(out.edge, strain.largest);
    }
    tdl_world_destroy(world);
    return out;
}

// Averages of the metric are kept all the same: what is told of the edges is what they changed by.
TEST(its_isometry_lets_the_area_change) {
    Hung s3 = hang(TDL_ISOMETRY_S3), edges = hang(TDL_ISOMETRY_EDGES);
    printf("  S3: area by %.1f %%, edges by %.1f %%; all edges: %.2f %% and %.4f %%\n",
           100.0 * s3.area, 100.0 * s3.edge, 100.0 * edges.area, 100.0 * edges.edge);
    CHECK(s3.area > 0.06 && s3.edge > 0.05);
    CHECK_BELOW(edges.area, 5.0e-3); // folds that quads bend along, which two triangles do not see
    CHECK_BELOW(edges.edge, 1.0e-3);
}

// --- the command ---------------------------------------------------------------------------------

TEST(the_bench_prints_its_table) {
    Scratch scratch = scratch_make();
    CHECK_INT(COMMAND(&scratch, "bench", "cloth", "--case", "table3", "--time", "0.02", "--json"),
              0);
    CHECK(command_wrote(&scratch, "stdout", "\"table3\": [{\"fabric\": \"polyester\", \"way\": "));
    CHECK(command_wrote(&scratch, "stdout", "\"way\": \"all-s3\""));
    CHECK(command_wrote(&scratch, "stdout", "\"cited\": [{\"name\": "));
    scratch_remove(&scratch);
}

// One thing between two that close on it from both sides: no impulses part them, and that is told.
TEST(what_nothing_solves_is_named) {
    static const char problem[] = "3 2 0 6 6 6 6\n"
                                  "1 0 0 -1 0 0  0 1 0 0 -1 0  0 0 1 0 0 -1\n"
                                  "-1 0 0 1 0 0  0 -1 0 0 1 0  0 0 -1 0 0 1\n"
                                  "-1 0.1 0 -1 -0.1 0\n0 0\n";
    Scratch scratch = scratch_make();
    scratch_write(scratch_path(&scratch, "p.dat"), problem, strlen(problem));
    static const char* const solvers[2] = {"active-set", "normal-interior"};
    for (int k = 0; k < 2; ++k) {
        CHECK_INT(COMMAND(&scratch, "dfcp", "p.dat", "--solver", solvers[k]), 1);
        CHECK(command_wrote(&scratch, "stdout", "it has no solution"));
        CHECK_INT(COMMAND(&scratch, "dfcp", "p.dat", "--solver", solvers[k], "--json"), 1);
        CHECK(command_wrote(&scratch, "stdout", "\"unsolvable\": 1"));
    }
    scratch_remove(&scratch);
}
