// Sheets that touch: what friction holds and what it lets slide, in figures known on paper.
#include "tendril/cloth.h"
#include "test.h"
#include "things.h"

static TdlVec3 vertices[64 * 64], at[64 * 64];
static int faces[4 * 64 * 64];

static TdlWorld* make_world(double step, double mu, int threads) {
    TdlWorldDef def = tdl_world_def_default();
    TdlHost host = tdl_host_default();
    TdlWorld* world = NULL;
    def.step = step;
    def.thread_count = threads;
    def.contacts.law.mu = mu;
    CHECK(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    return world;
}

static TdlBodyId add_obstacle(TdlWorld* world, TdlShape shape, double radius, TdlPose pose) {
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id = {0};
    def.shape = shape;
    def.radius = radius;
    def.pose = pose;
    CHECK(tdl_world_add_collider(world, &def, &id) == TDL_STATUS_OK);
    return id;
}

static TdlPose placed(double x, double y, double z) {
    return (TdlPose){{x, y, z}, tdl_identity33()};
}

// Turned about the second axis: downhill is the first.
static TdlMat3 slope_of(double angle) {
    double c = cos(angle), s = sin(angle);
    return (TdlMat3){{c, 0.0, -s}, {0.0, 1.0, 0.0}, {s, 0.0, c}};
}

static double step_all(TdlWorld* world, TdlBodyId cloth, int steps) {
    double strain = 0.0;
    for (int i = 0; i < steps; ++i) {
        TdlStepInfo info;
        if (tdl_world_step(world, &info) != TDL_STATUS_OK || info.unsolved > 0) {
            FAIL("step %d: %s, %d unsolved", i, info.reason, info.unsolved);
            break;
        }
        TdlClothStrain now;
        CHECK(tdl_cloth_strain(world, cloth, &now) == TDL_STATUS_OK);
        strain = fmax(strain, now.largest);
    }
    return strain;
}

static TdlVec3 centre_of(TdlWorld* world, TdlBodyId body) {
    TdlVec3 centre = {0};
    double mass;
    CHECK(tdl_body_centre(world, body, &centre, &mass) == TDL_STATUS_OK);
    return centre;
}

// A sheet that lies on a slope.
static TdlVec3 slide(double angle, double mu, double damping, int steps, double step) {
    TdlWorld* world = make_world(step, mu, 1);
    TdlMat3 turn = slope_of(angle);
    add_obstacle(world, TDL_SHAPE_PLANE, 0.01, (TdlPose){{0}, turn});
    TdlClothDef def = tdl_cloth_def_default();
    TdlBodyId id;
    def.mesh = tdl_cloth_rectangle(0.2, 0.2, 8, 8, vertices, faces);
    def.damping = damping;
    for (int i = 0; i < 64; ++i) {
        vertices[i] = tdl_mul33_3(turn, tdl_axpy3(vertices[i], 1.0, (TdlVec3){0.0, 0.0, 5.0e-4}));
    }
    CHECK(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    TdlVec3 before = centre_of(world, id);
    step_all(world, id, steps);
    TdlVec3 way = tdl_tmul33_3(turn, tdl_sub3(centre_of(world, id), before));
    tdl_world_destroy(world);
    return way;
}

TEST(friction_holds_a_sheet_on_a_slope) {
    double mu = 0.4, limit = atan(mu), half = 0.5 * M_PI / 180.0;
    TdlVec3 way = slide(limit - half, mu, 0.1, 1000, 0.01);
    printf("  half a degree below the limit it went by %.2g m in 10 s\n", tdl_norm3(way));
    CHECK(tdl_norm3(way) < 1.0e-10);
}

TEST(above_the_limit_it_slides_as_a_block) {
    double mu = 0.4, angle = atan(mu) + 3.0 * M_PI / 180.0, step = 0.01;
    int steps = 100;
    TdlVec3 way = slide(angle, mu, 0.0, steps, step);
    double a = 9.81 * (sin(angle) - mu * cos(angle));
    double want = 0.5 * a * step * step * steps * (steps + 1.0); // by steps of Euler's rule
    printf("  %.6f m, wanted %.6f\n", way.x, want);
    CHECK_NEAR(way.x / want, 1.0, 1.0e-3);
}

// Of damping alpha and weight delta: v' = (delta g - alpha v) / rho.
TEST(it_falls_by_its_weight_and_damping) {
    TdlWorld* world = make_world(1.0e-3, 0.0, 1);
    TdlClothDef def = tdl_cloth_def_default();
    TdlBodyId id;
    def.mesh = tdl_cloth_rectangle(0.2, 0.3, 5, 6, vertices, faces);
    def.density = 0.2;
    def.weight = 0.12;
    def.damping = 0.5;
    CHECK(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    step_all(world, id, 1000);
    double k = 0.5 / 0.2, g = 9.81 * 0.12 / 0.2;
    double want = -g / k * (1.0 - (1.0 - exp(-k)) / k);
    CHECK_NEAR(centre_of(world, id).z / want, 1.0,
               1.0e-3); // a step of Euler's rule is off by dt k / 2
    tdl_world_destroy(world);
}

// Over a ball, on a floor: nothing sinks in, nothing stretches, and in the end the ball and the
// floor bear the weight.
static double drape(int threads, double* hash) {
    TdlWorld* world = make_world(0.005, 0.3, threads);
    TdlBodyId floor = add_obstacle(world, TDL_SHAPE_PLANE, 0.01, placed(0.0, 0.0, 0.0));
    TdlBodyId ball = add_obstacle(world, TDL_SHAPE_SPHERE, 0.15, placed(0.0, 0.0, 0.16)), id;
    TdlClothDef def = tdl_cloth_def_default();
    def.mesh = tdl_cloth_rectangle(0.6, 0.6, 10, 10, vertices, faces);
    def.thickness = 2.0e-3;
    def.damping = 0.5;
    for (int i = 0; i < 100; ++i) {
        vertices[i] = tdl_add3(vertices[i], (TdlVec3){0.013, 0.007, 0.32});
    }
    CHECK(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    double strain = step_all(world, id, 300), nearest = INFINITY;
    CHECK(tdl_cloth_state(world, id, at, NULL) == TDL_STATUS_OK);
    for (int i = 0; i < 100; ++i) {
        nearest = fmin(nearest, tdl_norm3(tdl_sub3(at[i], (TdlVec3){0.0, 0.0, 0.16})) - 0.151);
        nearest = fmin(nearest, at[i].z - 1.0e-3);
    }
    TdlWrench on[2];
    CHECK(tdl_body_contact_wrench(world, floor, &on[0]) == TDL_STATUS_OK);
    CHECK(tdl_body_contact_wrench(world, ball, &on[1]) == TDL_STATUS_OK);
    double weight = 0.36 * 0.15 * 9.81;
    printf("  strain %.2g, nearest %.2g m, borne %.5f of %.5f N\n", strain, nearest,
           -on[0].force.z - on[1].force.z, weight);
    CHECK(strain < 1.0e-3);
    CHECK(nearest > -5.0e-5); // a twentieth of its half thickness
    CHECK_NEAR(-on[0].force.z - on[1].force.z, weight, 0.02 * weight); // it still moves a little
    *hash = (double)(tdl_world_state_hash(world) % 1000000007u);
    tdl_world_destroy(world);
    return strain;
}

TEST(a_sheet_drapes_over_a_ball_with_the_same_bits_on_any_threads) {
    double one, two;
    drape(1, &one);
    drape(2, &two);
    CHECK(one == two);
}

// A state saved on the way goes on as it would have.
TEST(a_saved_sheet_goes_on_with_the_same_bits) {
    TdlWorld* world[2];
    TdlBodyId id[2];
    for (int k = 0; k < 2; ++k) {
        world[k] = make_world(0.005, 0.3, 1);
        add_obstacle(world[k], TDL_SHAPE_PLANE, 0.01, placed(0.0, 0.0, 0.0));
        add_obstacle(world[k], TDL_SHAPE_CYLINDER, 0.1, placed(0.0, 0.0, 0.15));
        TdlClothDef def = tdl_cloth_def_default();
        def.mesh = tdl_cloth_rectangle(0.4, 0.5, 7, 8, vertices, faces);
        for (int i = 0; i < 56; ++i) {
            vertices[i].z += 0.26;
        }
        CHECK(tdl_world_add_cloth(world[k], &def, &id[k]) == TDL_STATUS_OK);
    }
    step_all(world[0], id[0], 40);
    size_t size = tdl_world_state_size(world[0]);
    void* bytes = malloc(size);
    tdl_world_save_state(world[0], bytes);
    REQUIRE(tdl_world_load_state(world[1], bytes, size) == TDL_STATUS_OK);
    step_all(world[0], id[0], 40);
    step_all(world[1], id[1], 40);
    CHECK(tdl_world_state_hash(world[0]) == tdl_world_state_hash(world[1]));
    free(bytes);
    tdl_world_destroy(world[0]);
    tdl_world_destroy(world[1]);
}

// How deep the sheet is in a cylinder along the first axis, at points all over its triangles, m.
static double depth_in(const TdlWorld* world, TdlBodyId cloth, TdlVec3 axis, double radius) {
    const int* v;
    int count;
    double deepest = 0.0;
    CHECK(tdl_cloth_triangles(world, cloth, &v, &count) == TDL_STATUS_OK);
    CHECK(tdl_cloth_state(world, cloth, at, NULL) == TDL_STATUS_OK);
    for (int f = 0; f < count; ++f) {
        for (int k = 0; k < 66; ++k) { // tenths of the corners
            int i = k % 11, j = k / 11 * 2;
            if (i + j > 10) {
                continue;
            }
            TdlVec3 x = tdl_scale3(0.1 * i, at[v[3 * f]]);
            x = tdl_axpy3(x, 0.1 * j, at[v[3 * f + 1]]);
            x = tdl_axpy3(x, 0.1 * (10 - i - j), at[v[3 * f + 2]]);
            deepest = fmax(deepest, radius - hypot(x.y - axis.y, x.z - axis.z));
        }
    }
    return deepest;
}

// A stick comes at 1.6 m/s, most of its radius in a step: contacts are asked for along the normals
// that they have at the end of it.
TEST(a_stick_that_hits_does_not_go_in) {
    TdlWorld* world = make_world(0.01, 0.3, 1);
    TdlKeyframe keys[2] = {{.time = 0.3}, {.time = 0.8, .position = {0.0, 0.8, 0.0}}};
    TdlColliderDef stick = tdl_collider_def_default();
    TdlBodyId id, other;
    stick.shape = TDL_SHAPE_CYLINDER;
    stick.radius = 0.02;
    stick.pose = placed(0.0, -0.9, -0.4);
    stick.motion =
        (TdlMotionDef){.keys = keys, .key_count = 2, .interpolation = TDL_INTERPOLATION_LINEAR};
    REQUIRE(tdl_world_add_collider(world, &stick, &other) == TDL_STATUS_OK);
    TdlClothDef def = tdl_cloth_def_default();
    int corner[2] = {0, 6};
    TdlClothHold hold = {.vertices = corner, .count = 2};
    def.mesh = tdl_cloth_rectangle(0.5, 0.7, 7, 9, vertices, faces);
    def.holds = &hold;
    def.hold_count = 1;
    REQUIRE(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    double deepest = 0.0;
    int split = 0, contacts = 0;
    for (int i = 1; i <= 80; ++i) {
        TdlStepInfo info;
        REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        CHECK_INT(info.unsolved, 0);
        double gone = fmin(fmax((0.01 * i - 0.3) / 0.5, 0.0), 1.0);
        TdlVec3 axis = {0.0, -0.9 + 0.8 * gone, -0.4};
        deepest = fmax(deepest, depth_in(world, id, axis, 0.02 + 0.5 * def.thickness));
        split += info.substeps > 1;
        contacts = info.contact_count > contacts ? info.contact_count : contacts;
    }
    printf("  %.2g m deep at most, %d steps in parts, %d contacts\n", deepest, split, contacts);
    CHECK(contacts > 10);
    CHECK(deepest < 0.1 * 0.5 * def.thickness); // what may stay, contacts.overlap
    CHECK(split <= 8);
    tdl_world_destroy(world);
}

// A sheet on a table with so many contacts that they are solved over its nodes, drawn by a held
// corner.
TEST(a_sheet_is_drawn_over_a_table_by_its_corner) {
    TdlWorld* world = make_world(0.01, 0.2, 1);
    add_obstacle(world, TDL_SHAPE_PLANE, 0.01, placed(0.0, 0.0, 0.0));
    TdlKeyframe keys[2] = {{.time = 0.0}, {.time = 0.3, .position = {-0.05, 0.0, 0.0}}};
    TdlClothDef def = tdl_cloth_def_default();
    int corner = 0;
    TdlClothHold hold = {.vertices = &corner, .count = 1};
    TdlBodyId id;
    hold.motion =
        (TdlMotionDef){.keys = keys, .key_count = 2, .interpolation = TDL_INTERPOLATION_LINEAR};
    def.mesh = tdl_cloth_rectangle(0.4, 0.4, 17, 17, vertices, faces);
    for (int i = 0; i < 289; ++i) {
        vertices[i].z = 0.5 * def.thickness;
    }
    def.holds = &hold;
    def.hold_count = 1;
    REQUIRE(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    TdlVec3 before = centre_of(world, id);
    double strain = step_all(world, id, 30);
    TdlVec3 force, centre = centre_of(world, id);
    CHECK(tdl_cloth_state(world, id, at, NULL) == TDL_STATUS_OK);
    CHECK(tdl_cloth_hold_force(world, id, corner, &force) == TDL_STATUS_OK);
    CHECK_NEAR(at[0].x, -0.25, 1.0e-12);
    CHECK(centre.x < before.x - 0.01 && strain < 1.0e-3);
    // steadily drawn, by as much as friction has at most
    double most = 0.2 * 9.81 * def.density * 0.16;
    printf("  %.4f N of %.4f, strain %.2g, centre went %.4f m\n", tdl_norm3(force), most, strain,
           before.x - centre.x);
    CHECK(tdl_norm3(force) > 0.5 * most && tdl_norm3(force) < 1.5 * most);
    tdl_world_destroy(world);
}

// Two sheets on a table, the lower one drawn away by an edge with the acceleration a, steps of
// Euler's rule: how far the upper one went.
static double draw_lower(double a, double mu, int steps, double step) {
    enum { MOST = 64 };
    TdlWorld* world = make_world(step, mu, 1);
    add_obstacle(world, TDL_SHAPE_PLANE, 0.01, placed(0.0, 0.0, 0.0));
    TdlKeyframe keys[MOST] = {0};
    for (int i = 0; i <= steps; ++i) {
        keys[i].time = step * i;
        keys[i].position.x = 0.5 * a * step * step * i * (i + 1.0);
    }
    TdlBodyId id[2];
    for (int k = 0; k < 2; ++k) {
        TdlClothDef def = tdl_cloth_def_default();
        int edge[4] = {3, 7, 11, 15};
        TdlClothHold hold = {.vertices = edge, .count = 4};
        double size = k == 0 ? 0.3 : 0.12;
        hold.motion = (TdlMotionDef){
            .keys = keys, .key_count = steps + 1, .interpolation = TDL_INTERPOLATION_LINEAR};
        def.mesh = tdl_cloth_rectangle(size, size, 4, 4, vertices, faces);
        def.damping = 0.0;
        for (int i = 0; i < 16; ++i) {
            vertices[i] =
                tdl_add3(vertices[i], (TdlVec3){-0.013 * k, 0.007 * k, (0.5 + k) * def.thickness});
        }
        def.holds = &hold;
        def.hold_count = k == 0 ? 1 : 0;
        CHECK(tdl_world_add_cloth(world, &def, &id[k]) == TDL_STATUS_OK);
    }
    TdlVec3 before = centre_of(world, id[1]);
    step_all(world, id[1], steps);
    double way = centre_of(world, id[1]).x - before.x;
    tdl_world_destroy(world);
    return way;
}

TEST(a_sheet_on_another_follows_or_stays_behind) {
    const double mu = 0.3, step = 0.005;
    const int steps = 30;
    double most = mu * 9.81, way = 0.5 * step * step * steps * (steps + 1.0);
    double slow = draw_lower(0.6 * most, mu, steps, step);
    double fast = draw_lower(2.0 * most, mu, steps, step);
    printf("  %.6f m and %.6f m, wanted %.6f and %.6f\n", slow, fast, 0.6 * most * way, most * way);
    CHECK_NEAR(slow / (0.6 * most * way), 1.0, 1.0e-3);
    CHECK_NEAR(fast / (most * way), 1.0, 5.0e-3);
}

// A strip that lies on a table with a round rim of radius R, and hangs over it: it slips where,
// with its weight per length for a unit, mu table at the rim, grown on the quarter by friction and
// less the weight of the quarter, is less than what hangs. The least length on the table.
static double least_table(double mu, double R, double hangs) {
    enum { N = 20000 };
    double low = 0.0, high = 10.0 * hangs;
    for (int turn = 0; turn < 60; ++turn) {
        double table = 0.5 * (low + high), T = mu * table, h = 0.5 * M_PI / N;
        for (int i = 0; i < N; ++i) { // phi from the top on; the weight presses and pulls
            double phi = (i + 0.5) * h, mid = T + 0.5 * h * (mu * T);
            T += h * (mu * (mid + R * cos(phi)) - R * sin(phi));
        }
        *(T < hangs ? &low : &high) = table;
    }
    return high;
}

// How far a strip with so much of it on the table went in the time.
static double slips(double table, double mu, double hangs, int cells) {
    const double R = 0.04, thick = 1.0e-3, r = R + 0.5 * thick;
    double length = table + 0.5 * M_PI * r + hangs;
    TdlWorld* world = make_world(0.005, mu, 1);
    TdlVec3 corner[4] = {{-1.0, -0.1, 0.0}, {0.0, -0.1, 0.0}, {0.0, 0.1, 0.0}, {-1.0, 0.1, 0.0}};
    int triangle[6] = {0, 1, 2, 0, 2, 3};
    TdlColliderDef top = tdl_collider_def_default();
    TdlBodyId id;
    top.shape = TDL_SHAPE_MESH;
    top.radius = 1.0e-3;
    top.mesh = (TdlMesh){corner, 4, triangle, 2};
    top.pose = placed(0.0, 0.0, -top.radius);
    CHECK(tdl_world_add_collider(world, &top, &id) == TDL_STATUS_OK);
    add_obstacle(world, TDL_SHAPE_CYLINDER, R,
                 (TdlPose){{0.0, 0.0, -R}, {{0.0, 1.0, 0.0}, {-1.0, 0.0, 0.0}, {0.0, 0.0, 1.0}}});
    TdlClothDef def = tdl_cloth_def_default();
    static TdlVec3 rest[2 * 200];
    def.mesh = tdl_cloth_rectangle(length, 0.02, cells + 1, 2, vertices, faces);
    memcpy(rest, vertices, sizeof rest);
    def.rest = rest;
    def.bending = 1.0e-7;
    def.damping = 0.5;
    def.self = false;
    for (int i = 0; i < 2 * (cells + 1); ++i) {
        double s = rest[i].x + 0.5 * length - table, phi = fmin(fmax(s / r, 0.0), 0.5 * M_PI);
        double down = fmax(s - 0.5 * M_PI * r, 0.0);
        vertices[i] = (TdlVec3){fmin(s, 0.0) + r * sin(phi), rest[i].y, r * cos(phi) - R - down};
    }
    CHECK(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    step_all(world, id, 60);
    CHECK(tdl_cloth_state(world, id, at, NULL) == TDL_STATUS_OK);
    double way = at[0].x + table;
    tdl_world_destroy(world);
    return way;
}

TEST(an_overhang_slips_off_a_table_when_it_is_too_long) {
    const double mu = 0.4, hangs = 0.12, R = 0.04;
    double least = least_table(mu, R + 5.0e-4, hangs);
    double stays = slips(1.02 * least, mu, hangs, 64), goes = slips(0.98 * least, mu, hangs, 64);
    printf("  least %.4f m; 2 %% more goes %.2g m, 2 %% less %.2g m\n", least, stays, goes);
    CHECK(fabs(stays) < 3.0e-4); // it settles by 1e-4 m where chords cut into the rim at first
    CHECK(goes > 2.0e-3);
}

// Without anything that moves energy does not grow.
TEST(energy_does_not_grow) {
    TdlWorld* world = make_world(0.005, 0.3, 1);
    add_obstacle(world, TDL_SHAPE_SPHERE, 0.15, placed(0.0, 0.0, 0.0));
    TdlClothDef def = tdl_cloth_def_default();
    TdlBodyId id;
    def.mesh = tdl_cloth_rectangle(0.5, 0.5, 8, 8, vertices, faces);
    def.damping = 0.0;
    def.bending_damping = 0.0;
    for (int i = 0; i < 64; ++i) {
        vertices[i] = tdl_add3(vertices[i], (TdlVec3){0.03, 0.01, 0.17});
    }
    CHECK(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    double before = INFINITY, rise = 0.0;
    for (int i = 0; i < 200; ++i) {
        TdlStepInfo info;
        REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        double now = info.energy.kinetic + info.energy.elastic + info.energy.gravity;
        rise = fmax(rise, now - before - fmax(info.push, 0.0));
        before = now;
    }
    printf("  largest rise %.2g J\n", rise);
    CHECK(rise < 1.0e-9);
    tdl_world_destroy(world);
}
