// Bodies on implicit surfaces: the same motion as on the built-in shapes, friction as on paper, and
// nothing that sinks.
#include "collider/implicit.h"
#include "tendril/cloth.h"
#include "tendril/formats.h"
#include "test.h"
#include "things.h"

static TdlVec3 vertices[32 * 32], at[32 * 32];
static int faces[4 * 32 * 32];

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

static TdlVec3 rising, turning; // of the next colliders

static TdlBodyId add_implicit(TdlWorld* world, const char* text, TdlVec3 low, TdlVec3 high,
                              TdlPose pose) {
    TdlHost host = tdl_host_default();
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id = {0};
    def.shape = TDL_SHAPE_IMPLICIT;
    def.pose = pose;
    def.velocity = rising;
    def.angular_velocity = turning;
    CHECK(tdl_implicit_parse(&host, text, &def.implicit) == TDL_STATUS_OK);
    def.implicit.low = low;
    def.implicit.high = high;
    CHECK(tdl_world_add_collider(world, &def, &id) == TDL_STATUS_OK);
    tdl_implicit_free(&host, &def.implicit); // the world has its own
    return id;
}

static TdlBodyId add_shape(TdlWorld* world, TdlShape shape, double radius, TdlPose pose) {
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id = {0};
    def.shape = shape;
    def.radius = radius;
    def.pose = pose;
    def.velocity = rising;
    def.angular_velocity = turning;
    CHECK(tdl_world_add_collider(world, &def, &id) == TDL_STATUS_OK);
    return id;
}

static TdlPose placed(TdlVec3 p) {
    return (TdlPose){p, tdl_identity33()};
}

static TdlBodyId add_cloth(TdlWorld* world, double side, int nodes, TdlMat3 turn, TdlVec3 place,
                           double shear) {
    TdlClothDef def = tdl_cloth_def_default();
    TdlBodyId id = {0};
    def.mesh = tdl_cloth_rectangle(side, side, nodes, nodes, vertices, faces);
    def.shear = shear > 0.0 ? shear : def.shear;
    for (int i = 0; i < nodes * nodes; ++i) {
        vertices[i] = tdl_add3(place, tdl_mul33_3(turn, vertices[i]));
    }
    CHECK(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    return id;
}

static bool step_once(TdlWorld* world, TdlStepInfo* info) {
    if (tdl_world_step(world, info) != TDL_STATUS_OK || info->unsolved > 0) {
        FAIL("at %g s: %s, %d unsolved", tdl_world_time(world), info->reason, info->unsolved);
        return false;
    }
    return true;
}

static TdlVec3 centre_of(TdlWorld* world, TdlBodyId body) {
    TdlVec3 centre = {0};
    double mass;
    CHECK(tdl_body_centre(world, body, &centre, &mass) == TDL_STATUS_OK);
    return centre;
}

// The force of all contacts.
static TdlVec3 force_of(const TdlWorld* world) {
    int count;
    TdlVec3 sum = {0};
    const TdlContactForce* f = tdl_world_contact_forces(world, &count);
    for (int i = 0; i < count; ++i) {
        sum = tdl_add3(sum, f[i].force);
    }
    return sum;
}

// A sheet lowered onto a ball or a cylinder, told twice: every vertex and the forces agree while
// what happens is not left to rounding.
TEST(sheets_move_as_on_built_in_shapes) {
    static const char* const TEXT[] = {"z", "x^2 + y^2 + z^2 - 0.0225", "y^2 + z^2 - 0.0225",
                                       "x^2 + y^2 + z^2 - 0.0225"};
    static const TdlShape SHAPE[] = {TDL_SHAPE_PLANE, TDL_SHAPE_SPHERE, TDL_SHAPE_CYLINDER,
                                     TDL_SHAPE_SPHERE};
    for (int c = 0; c < 4; ++c) { // the last one rises and turns
        rising = (TdlVec3){0.0, 0.0, c == 3 ? 0.2 : 0.0};
        turning = (TdlVec3){0.0, 0.0, c == 3 ? 3.0 : 0.0};
        TdlWorld* world[2];
        TdlBodyId cloth[2];
        double top = c == 0 ? 0.0 : 0.15, heaviest = 0.0;
        for (int k = 0; k < 2; ++k) {
            world[k] = make_world(5.0e-3, 0.4, 1);
            if (k == 0) {
                add_shape(world[k], SHAPE[c], 0.15, placed((TdlVec3){0}));
            } else {
                add_implicit(world[k], TEXT[c], (TdlVec3){-0.5, -0.5, -0.5},
                             (TdlVec3){0.5, 0.5, 0.5}, placed((TdlVec3){0}));
            }
            cloth[k] = add_cloth(world[k], 0.3, 7, tdl_identity33(),
                                 (TdlVec3){0.01, 0.02, top + 2.0e-3}, 0.0);
        }
        for (int i = 0; i < 20; ++i) {
            TdlStepInfo info[2];
            if (!step_once(world[0], &info[0]) || !step_once(world[1], &info[1])) {
                break;
            }
            if (info[0].substeps != info[1].substeps) {
                // a step in parts, which depends on what is looked at on the way
                CHECK(i > 15);
                break;
            }
            TdlVec3 a[49], b[49];
            CHECK(tdl_cloth_state(world[0], cloth[0], a, NULL) == TDL_STATUS_OK);
            CHECK(tdl_cloth_state(world[1], cloth[1], b, NULL) == TDL_STATUS_OK);
            double off = 0.0;
            for (int v = 0; v < 49; ++v) {
                off = fmax(off, tdl_norm3(tdl_sub3(a[v], b[v])));
            }
            TdlVec3 force = force_of(world[0]);
            heaviest = fmax(heaviest, tdl_norm3(force));
            CHECK_BELOW(off, 2.0e-7); // what the solver's 1e-8 lets differ
            CHECK_NEAR3(force_of(world[1]), force, 1.0e-4 * heaviest + 1.0e-9);
        }
        CHECK(heaviest > 0.05);
        tdl_world_destroy(world[0]);
        tdl_world_destroy(world[1]);
    }
    rising = turning = (TdlVec3){0};
}

// A plane as an expression, tilted by it and not by a pose: atan(mu) decides.
TEST(friction_holds_on_a_slope) {
    double mu = 0.4, hold = atan(mu) - 0.0087, slide = atan(mu) + 0.1, way[2];
    for (int k = 0; k < 2; ++k) {
        double angle = k == 0 ? hold : slide;
        char text[128];
        snprintf(text, sizeof text, "3*(%.17g*z + %.17g*x)", cos(angle), sin(angle));
        TdlWorld* world = make_world(5.0e-3, mu, 1);
        add_implicit(world, text, (TdlVec3){-1.0, -0.5, -1.0}, (TdlVec3){1.0, 0.5, 1.0},
                     placed((TdlVec3){0}));
        TdlMat3 turn = {
            {cos(angle), 0.0, -sin(angle)}, {0.0, 1.0, 0.0}, {sin(angle), 0.0, cos(angle)}};
        TdlClothDef plain = tdl_cloth_def_default();
        TdlClothDef def = plain;
        TdlBodyId id;
        def.mesh = tdl_cloth_rectangle(0.2, 0.2, 6, 6, vertices, faces);
        def.damping = 0.0;
        for (int i = 0; i < 36; ++i) {
            vertices[i].z += 0.5 * def.thickness;
            vertices[i] = tdl_mul33_3(turn, vertices[i]);
        }
        CHECK(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
        TdlVec3 before = centre_of(world, id);
        for (int i = 0; i < 100; ++i) {
            TdlStepInfo info;
            if (!step_once(world, &info)) {
                break;
            }
        }
        way[k] = tdl_norm3(tdl_sub3(centre_of(world, id), before));
        tdl_world_destroy(world);
    }
    // 100 backward steps of h: a h^2 n (n + 1) / 2
    double a = 9.81 * (sin(slide) - mu * cos(slide)), expected = a * 25.0e-6 * 100.0 * 101.0 / 2.0;
    CHECK_BELOW(way[0], 1.0e-9);
    CHECK_NEAR(way[1] / expected, 1.0, 1.0e-3);
}

// A ball that rolls down a hill, on the built-in shape and on the implicit one; a box and a rod
// rest.
TEST(rods_and_rigid_bodies_rest_and_roll) {
    TdlVec3 end[2][3];
    for (int k = 0; k < 2; ++k) {
        TdlWorld* world = make_world(2.0e-3, 0.5, 1);
        if (k == 0) {
            add_shape(world, TDL_SHAPE_SPHERE, 0.5, placed((TdlVec3){0.0, 0.0, -0.5}));
            add_shape(world, TDL_SHAPE_PLANE, 0.5, placed((TdlVec3){0.0, 0.0, -0.2}));
        } else {
            add_implicit(world, "x^2 + y^2 + z^2 + z", (TdlVec3){-0.6, -0.6, -0.6},
                         (TdlVec3){0.6, 0.6, 0.1}, placed((TdlVec3){0}));
            add_implicit(world, "z + 0.2", (TdlVec3){-2.0, -2.0, -0.5}, (TdlVec3){2.0, 2.0, 0.1},
                         placed((TdlVec3){0}));
        }
        add_sphere(world, 0.02, (TdlVec3){0.05, 0.0, 0.0176}, (TdlVec3){0});
        add_box(world, (TdlVec3){0.05, 0.04, 0.03}, 0.0, placed((TdlVec3){1.0, 0.0, -0.169}),
                (TdlVec3){0});
        add_rod(world, 0.2, 2.0e-3, 6, (TdlVec3){0.9, 0.5, -0.197}, (TdlVec3){0.0, 0.0, 4.0});
        for (int i = 0; i < 150; ++i) {
            TdlStepInfo info;
            if (!step_once(world, &info)) {
                break;
            }
        }
        end[k][0] = centre_of(world, tdl_world_body(world, "rigid", 0));
        end[k][1] = centre_of(world, tdl_world_body(world, "rigid", 1));
        end[k][2] = centre_of(world, tdl_world_body(world, "rod", 0));
        tdl_world_destroy(world);
    }
    CHECK(end[0][0].x > 0.08); // it rolled
    for (int b = 0; b < 3; ++b) {
        CHECK_NEAR3(end[1][b], end[0][b], 1.0e-6);
    }
    CHECK_NEAR(end[1][1].z, -0.17, 1.0e-5);
}

// A flat box on one needle: it stands on its face and tips over.
TEST(boxes_stand_on_peaks) {
    TdlWorld* world = make_world(2.0e-3, 0.5, 1);
    double peak = 3.14159265358979323846 / 40.0, top = 2.0 / 3.0;
    add_implicit(world, "20*0.075*z - sin(20*x)*sin(20*y)", (TdlVec3){0.0, 0.0, 0.4},
                 (TdlVec3){0.157, 0.157, 0.7}, placed((TdlVec3){0}));
    add_box(world, (TdlVec3){0.05, 0.05, 0.01}, 0.0, placed((TdlVec3){peak, peak, top + 0.0105}),
            (TdlVec3){0});
    for (int i = 0; i < 100; ++i) {
        TdlStepInfo info;
        if (!step_once(world, &info)) {
            break;
        }
    }
    CHECK_NEAR3(centre_of(world, tdl_world_body(world, "rigid", 0)),
                ((TdlVec3){peak, peak, top + 0.01}), 1.0e-5);
    tdl_world_destroy(world);
}

// How far the triangles of a sheet are in the surface, by samples: the least of h / |grad h|.
static double depth_of(TdlWorld* world, TdlBodyId cloth, const TdlColliderDef* collider) {
    const int* triangle;
    int count;
    double least = INFINITY;
    CHECK(tdl_cloth_state(world, cloth, at, NULL) == TDL_STATUS_OK);
    CHECK(tdl_cloth_triangles(world, cloth, &triangle, &count) == TDL_STATUS_OK);
    for (int f = 0; f < count; ++f) {
        const TdlVec3 *a = &at[triangle[3 * f]], *b = &at[triangle[3 * f + 1]],
                      *c = &at[triangle[3 * f + 2]];
        for (int i = 0; i <= 8; ++i) {
            for (int j = 0; i + j <= 8; ++j) {
                double u = i / 8.0, v = j / 8.0;
                TdlVec3 x = tdl_axpy3(tdl_axpy3(tdl_scale3(1.0 - u - v, *a), u, *b), v, *c);
                TdlVec3 low = collider->implicit.low, high = collider->implicit.high;
                TdlImplicitPoint p;
                collider->implicit.at(collider->implicit.data, x, &p);
                if (x.x > low.x && x.y > low.y && x.z > low.z && x.x < high.x && x.y < high.y &&
                    x.z < high.z) {
                    least = fmin(least, p.value / tdl_norm3(p.gradient));
                }
            }
        }
    }
    return least;
}

// A sheet that falls on an implicit surface: no sample of a triangle is ever inside, no step is
// kept that could not stay, and energy does not grow.
static void drop_on(const char* text, TdlVec3 low, TdlVec3 high, TdlVec3 from, int steps,
                    int threads, TdlVec3* end) {
    TdlWorld* world = make_world(0.01, 0.3, threads);
    TdlBodyId surface = add_implicit(world, text, low, high, placed((TdlVec3){0}));
    TdlMat3 turn = {{0.995, 0.0, -0.0998}, {0.0, 1.0, 0.0}, {0.0998, 0.0, 0.995}};
    TdlBodyId cloth = add_cloth(world, 0.4, 8, turn, from, 10.0);
    TdlColliderDef def;
    CHECK(tdl_collider_def(world, surface, &def) == TDL_STATUS_OK);
    TdlEnergy energy;
    CHECK(tdl_body_energy(world, cloth, &energy) == TDL_STATUS_OK);
    double before = energy.kinetic + energy.elastic + energy.gravity, least = INFINITY;
    for (int i = 0; i < steps; ++i) {
        TdlStepInfo info;
        if (!step_once(world, &info)) {
            break;
        }
        CHECK_INT(info.forced, 0);
        least = fmin(least, depth_of(world, cloth, &def));
        CHECK(tdl_body_energy(world, cloth, &energy) == TDL_STATUS_OK);
        double now = energy.kinetic + energy.elastic + energy.gravity;
        CHECK_BELOW(now, before + 1.0e-5); // what pushing out of overlaps may put in
        before = now;
    }
    CHECK(least > 0.0);
    CHECK_BELOW(least, 1.0e-3); // it touched
    CHECK(tdl_cloth_state(world, cloth, end, NULL) == TDL_STATUS_OK);
    tdl_world_destroy(world);
}

// Needles thinner than the mesh is wide; the same bits on any number of threads.
TEST(nothing_sinks_on_needles) {
    TdlVec3 end[2][64];
    double edge = 2.0 * 3.14159265358979323846 / 20.0;
    for (int k = 0; k < 2; ++k) {
        drop_on("20*0.075*z - sin(20*x)*sin(20*y)", (TdlVec3){-edge, -edge, 0.25},
                (TdlVec3){edge, edge, 0.7}, (TdlVec3){0.01, 0.02, 0.7}, 20, 1 + 2 * k, end[k]);
    }
    CHECK(memcmp(end[0], end[1], sizeof end[0]) == 0);
    CHECK(end[0][27].z > 0.5); // it lies on them
}

// Edges, corners, a tip and a valley, where there is no normal.
TEST(nothing_sinks_on_edges) {
    static const char* const TEXT[] = {"max(abs(x) - 0.1, abs(y) - 0.08, abs(z) - 0.1)",
                                       "z - 0.1 + 1.5*sqrt(x^2 + y^2)", "z - abs(x)/2 - 0.1"};
    TdlVec3 end[64];
    for (int i = 0; i < 3; ++i) {
        drop_on(TEXT[i], (TdlVec3){-0.3, -0.3, -0.2}, (TdlVec3){0.3, 0.3, 0.4},
                (TdlVec3){0.01, 0.02, i == 2 ? 0.23 : 0.125}, 14, 1, end);
    }
}

// A sheet thrown so fast that a step would carry it through needles stays on top.
TEST(fast_sheets_do_not_pass) {
    TdlWorld* world = make_world(0.01, 0.3, 1);
    double edge = 3.14159265358979323846 / 20.0;
    TdlBodyId needle =
        add_implicit(world, "20*0.075*z - sin(20*x)*sin(20*y)", (TdlVec3){0.0, 0.0, 0.3},
                     (TdlVec3){edge, edge, 0.7}, placed((TdlVec3){0}));
    TdlClothDef def = tdl_cloth_def_default();
    TdlBodyId cloth;
    def.mesh = tdl_cloth_rectangle(0.2, 0.2, 3, 3, vertices, faces);
    def.velocity = (TdlVec3){0.0, 0.0, -10.0};
    for (int i = 0; i < 9; ++i) {
        vertices[i] = tdl_add3(vertices[i], (TdlVec3){0.11, 0.1, 0.72});
    }
    CHECK(tdl_world_add_cloth(world, &def, &cloth) == TDL_STATUS_OK);
    TdlColliderDef collider;
    CHECK(tdl_collider_def(world, needle, &collider) == TDL_STATUS_OK);
    double least = INFINITY;
    for (int i = 0; i < 3; ++i) {
        TdlStepInfo info;
        if (!step_once(world, &info)) {
            break;
        }
        least = fmin(least, depth_of(world, cloth, &collider));
    }
    CHECK(least > 0.0);
    TdlVec3 now[9];
    CHECK(tdl_cloth_state(world, cloth, now, NULL) == TDL_STATUS_OK);
    CHECK(now[4].z > 0.6); // the middle is held up
    tdl_world_destroy(world);
}
