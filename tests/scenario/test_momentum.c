// Linear and angular momentum of free bodies: rods of every model in flight and hit by a ball.
#include "base/rng.h"
#include "look.h"
#include "math/rotation.h"
#include "rod/nodal.h"
#include "rod/rod_body.h"
#include "tendril/world.h"
#include "test.h"

#include <string.h>

static const char* const MODELS[] = {"super-helix", "super-helix-dense", "super-clothoid", "der",
                                     "corde",       "mass-spring"};
enum { MODEL_COUNT = 6, REDUCED = 3 };

typedef struct Momenta {
    TdlVec3 linear, angular; // about the origin
} Momenta;

static TdlWorld* create_world(TdlIntegrator integrator, double friction) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.gravity = (TdlVec3){0};
    def.integrator = integrator;
    TdlWorld* world;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        abort();
    }
    CHECK_INT(tdl_world_set_friction(world, friction), TDL_STATUS_OK);
    return world;
}

static TdlRodDef stick(const char* model) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.length = 0.3;
    def.radius[0] = def.radius[1] = 4.0e-3;
    def.element_count = 6;
    def.young = 1.0e6;
    def.start = TDL_HOLD_FREE;
    return def;
}

static Rod* add(TdlWorld* world, const TdlRodDef* def) {
    TdlBodyId id = {0};
    CHECK_INT(tdl_world_add_rod(world, def, &id), TDL_STATUS_OK);
    return rod_of(world_find_body(world, id, &ROD_BODY));
}

// What a super-model's rod goes on with, which is part of its state.
static Momenta reduced_momenta(const Rod* rod) {
    const RodKept* kept = &rod_owner(rod)->kept;
    TdlVec3 centre = rod_kept_centre(rod);
    return (Momenta){kept->linear, tdl_add3(kept->angular, tdl_cross3(centre, kept->linear))};
}

// The momenta of its velocities, which belong to the shape before the step: of a rod that is there;
// and turned as it is in the middle of the step, about its centre. (H.36)
static Momenta momenta_of_velocities(const Rod* rod, const TdlRodDef* def, double dt) {
    TdlHost host = tdl_host_default();
    TdlRodDef alone = *def;
    Rod* twin;
    if (rod_create(&host, &alone, &twin) != TDL_STATUS_OK) {
        abort();
    }
    int n = rod->dof_count;
    memcpy(twin->q, rod->q_before, (size_t)n * sizeof(double));
    twin->base.now = rod->base.before;
    rod_stop(twin);
    Twist root = {tdl_load3(rod->v + n - 6, 1), tdl_load3(rod->v + n - 6, 0)};
    RodMomenta own = twin->model->momenta(twin, root, rod->v);
    TdlVec3 arm = twin->base.now.position;
    rod_destroy(&host, twin);
    TdlVec3 c = tdl_scale3(1.0 / own.mass, own.first);
    TdlVec3 spin = tdl_sub3(own.angular, tdl_cross3(c, own.linear));
    TdlMat3 J = tdl_axpy33(own.second, -own.mass * tdl_dot3(c, c), tdl_identity33());
    J = tdl_axpy33(J, own.mass, tdl_outer3(c, c));
    // Cramer's rule
    double det = tdl_dot3(J.cx, tdl_cross3(J.cy, J.cz));
    TdlVec3 w = {tdl_dot3(spin, tdl_cross3(J.cy, J.cz)) / det,
                 tdl_dot3(J.cx, tdl_cross3(spin, J.cz)) / det,
                 tdl_dot3(J.cx, tdl_cross3(J.cy, spin)) / det};
    spin = tdl_mul33_3(tdl_rotation_exp(tdl_scale3(0.5 * dt, w)), spin);
    return (Momenta){own.linear, tdl_add3(spin, tdl_cross3(tdl_add3(arm, c), own.linear))};
}

// Of a nodal rod's vertices, and of the spins of its edges with the frames of the shape in which
// the velocities were found: what a rotation about an axis does to a spin times its momentum.
static Momenta nodal_momenta(const Rod* rod) {
    Momenta sum = {0};
    int stride = nodal_stride(rod);
    double l = rod->element_length, spin[3][4];
    const NodalKind* kind = nodal_kind(rod);
    const NodalShape before = {.rod = rod, .q = rod->q_before};
    const TdlVec3 axis[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    for (int i = 0; i < rod->element_count && kind->edge_dofs > 0; ++i) {
        double along[3] = {0.0};
        for (int k = 0; k < 3; ++k) {
            kind->spin(&before, i, axis[k], spin[k]);
            for (int c = 0; c < kind->edge_dofs; ++c) {
                int at = i * stride + 3 + c;
                along[k] += nodal_mass(rod, at) * rod->v[at] * spin[k][c];
            }
        }
        sum.angular = tdl_add3(sum.angular, tdl_load3(along, 0));
    }
    for (int i = 0; i <= rod->element_count; ++i) {
        TdlVec3 x = tdl_scale3(l, tdl_load3(rod->q + i * stride, 0));
        TdlVec3 p = tdl_scale3(nodal_mass(rod, i * stride) / l, tdl_load3(rod->v + i * stride, 0));
        sum.linear = tdl_add3(sum.linear, p);
        sum.angular = tdl_add3(sum.angular, tdl_cross3(x, p));
    }
    return sum;
}

static Momenta momenta_of(const Rod* rod) {
    return rod->model->reduced ? reduced_momenta(rod) : nodal_momenta(rod);
}

static double apart(TdlVec3 a, TdlVec3 b) {
    return tdl_norm3(tdl_sub3(a, b));
}

// After a step in which nothing touched it a super-model's rod flies with what its state says.
static void check_flight(const Rod* rod, const TdlRodDef* def, double dt) {
    if (rod->model->reduced) {
        Momenta state = reduced_momenta(rod), own = momenta_of_velocities(rod, def, dt);
        double most = 1.0e-12 * (tdl_norm3(state.angular) + 0.3 * tdl_norm3(state.linear));
        CHECK_BELOW(apart(own.linear, state.linear), 1.0e-12 * tdl_norm3(state.linear) + 1.0e-300);
        CHECK_BELOW(apart(own.angular, state.angular), most + 1.0e-300);
    }
}

// Momenta of the points of a rod by differences of its points; sections without inertia.
TEST(momenta_of_the_super_models_are_those_of_their_points) {
    Rng rng = rng_seed(7);
    TdlHost host = tdl_host_default();
    for (int m = 0; m < REDUCED; ++m) {
        TdlRodDef def = stick(MODELS[m]);
        def.curvature = (TdlVec3){2.0, 5.0, -3.0};
        Rod* rod;
        REQUIRE(rod_create(&host, &def, &rod) == TDL_STATUS_OK);
        rod->gyration = 0.0;
        rod_stop(rod);
        int n = rod->dof_count, pieces = 400;
        double v[64], change[64], h = 1.0e-5;
        for (int i = 0; i < n; ++i) {
            v[i] = rng_normal(&rng);
        }
        Twist root = {tdl_load3(v + n - 6, 1), tdl_load3(v + n - 6, 0)};
        RodMomenta found = rod->model->momenta(rod, root, v);
        static TdlVec3 at[3][6 * 400];
        TdlVec3 start = rod->base.now.position;
        for (int side = 0; side < 3; ++side) {
            for (int i = 0; i < n; ++i) {
                change[i] = (side == 0 ? -h : side == 1 ? 2.0 * h : -h) * v[i];
            }
            rod->model->move(rod, change);
            for (int i = 0; i < 6 * pieces; ++i) {
                double s = (i % pieces + 0.5) / pieces;
                at[side][i] = rod->model->point(rod, i / pieces, s);
            }
        }
        TdlVec3 linear = {0}, angular = {0};
        for (int i = 0; i < 6 * pieces; ++i) {
            double mass = rod_mass(rod) / (6 * pieces);
            TdlVec3 p = tdl_scale3(mass * 0.5 / h, tdl_sub3(at[1][i], at[0][i]));
            linear = tdl_add3(linear, p);
            angular = tdl_add3(angular, tdl_cross3(tdl_sub3(at[2][i], start), p));
        }
        CHECK_BELOW(apart(found.linear, linear), 1.0e-5 * tdl_norm3(linear));
        CHECK_BELOW(apart(found.angular, angular), 1.0e-5 * tdl_norm3(angular));
        rod_destroy(&host, rod);
    }
}

// The frame that a rod has at the end of an element, or in the middle of an edge.
static TdlMat3 section(const Rod* rod, int element) {
    if (!rod->model->reduced) {
        return nodal_kind(rod)->frame(rod, element);
    }
    RodCurve curves[8];
    rod->model->curves(rod, curves);
    return curves[element + 1].start.rotation;
}

static void move(Rod* rod, int j, double h) {
    double change[64] = {0};
    change[j] = h;
    if (rod->model->move != NULL) {
        rod->model->move(rod, change);
    } else {
        rod->q[j] += h;
    }
}

// Torques do work on the turning of a section: rows against differences of its frame.
TEST(torques_act_on_sections_as_their_frames_turn) {
    for (int m = 0; m < MODEL_COUNT - 1; ++m) {
        TdlHost host = tdl_host_default();
        TdlRodDef def = stick(MODELS[m]);
        def.curvature = (TdlVec3){2.0, 5.0, -3.0};
        Rod* rod;
        REQUIRE(rod_create(&host, &def, &rod) == TDL_STATUS_OK);
        rod_stop(rod);
        const TdlVec3 axis[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
        int element = 3;
        TdlSpan movers = rod->model->movers(rod, element);
        double rows[3 * 64] = {0}, h = 1.0e-5, worst = 0.0;
        rod->model->add_torques(rod, element, 1.0, axis, rows);
        for (int j = 0; j < movers.count; ++j) {
            move(rod, movers.first + j, h);
            TdlMat3 after = section(rod, element);
            move(rod, movers.first + j, -2.0 * h);
            TdlMat3 before = section(rod, element);
            move(rod, movers.first + j, h);
            TdlVec3 turn = tdl_rotation_log(tdl_mul33(after, tdl_transpose33(before)));
            double found[3] = {rows[j], rows[movers.count + j], rows[2 * movers.count + j]};
            TdlVec3 wanted = tdl_scale3(0.5 / h, turn);
            worst = fmax(worst, apart(tdl_load3(found, 0), wanted));
        }
        printf("  %-17s off by %.1e\n", MODELS[m], worst);
        CHECK_BELOW(worst, 1.0e-8);
        rod_destroy(&host, rod);
    }
}

// Bent, thrown and spinning.
TEST(a_rod_in_flight_keeps_its_momenta) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        TdlWorld* world = create_world(TDL_INTEGRATOR_EULER, 0.0);
        TdlRodDef def = stick(MODELS[m]);
        def.curvature = (TdlVec3){2.0, 5.0, 3.0};
        Rod* rod = add(world, &def);
        Rng rng = rng_seed(5);
        for (int i = 0; i < rod->dof_count; ++i) { // a nodal rod gets a common velocity and noise
            rod->v[i] = rng_normal(&rng) + (m >= REDUCED && i % nodal_stride(rod) < 3 ? 20.0 : 0.0);
        }
        rod->model->refresh(rod);
        Momenta start = {0};
        double linear = 0.0, angular = 0.0, kinetic = 0.0, risen = 0.0;
        for (int i = 0; i < 500; ++i) {
            TdlStepInfo info;
            REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
            Momenta now = momenta_of(rod);
            if (i > 0) {
                check_flight(rod, &def, 1.0e-3);
            }
            double energy = info.energy.kinetic + info.energy.elastic;
            if (i == 0) {
                start = now;
                kinetic = energy;
            }
            linear = fmax(linear, apart(now.linear, start.linear));
            angular = fmax(angular, apart(now.angular, start.angular));
            risen = fmax(risen, energy / kinetic - 1.0);
        }
        linear /= tdl_norm3(start.linear);
        angular /= tdl_norm3(start.angular);
        printf("  %-17s linear momentum off by %.1e, angular by %.1e; energy rose by %.1e\n",
               MODELS[m], linear, angular, risen);
        CHECK_BELOW(linear, 1.0e-12);
        CHECK_BELOW(angular, 1.0e-12);
        tdl_world_destroy(world);
    }
}

// How fast a rod flies does not change how it spins.
TEST(the_spin_of_a_free_rod_does_not_depend_on_its_flight) {
    const double speed[3] = {0.0, 1.0, 20.0};
    for (int m = 0; m < REDUCED; ++m) {
        double spin[3];
        for (int k = 0; k < 3; ++k) {
            TdlWorld* world = create_world(TDL_INTEGRATOR_EULER, 0.0);
            TdlRodDef def = stick(MODELS[m]);
            Rod* rod = add(world, &def);
            double* root = rod->v + rod->dof_count - 6;
            tdl_store3(root, 0, (TdlVec3){0.0, 0.0, 10.0});
            tdl_store3(root, 1, (TdlVec3){0.0, speed[k], 0.0});
            rod->model->refresh(rod);
            for (int i = 0; i < 300; ++i) {
                REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
            }
            spin[k] = rod->v[rod->dof_count - 4];
            tdl_world_destroy(world);
        }
        printf("  %-17s spins at %.9f, %.9f, %.9f rad/s\n", MODELS[m], spin[0], spin[1], spin[2]);
        CHECK_NEAR(spin[1], spin[0], 1.0e-6 * spin[0]);
        CHECK_NEAR(spin[2], spin[0], 1.0e-6 * spin[0]);
    }
}

// A stiff stick that tumbles, and spins about itself a little, is a symmetric top: it keeps its
// energy and its spin, of which axial inertia of a 900th would make much. Its velocities are given
// for a shape, and are those of the middle of a step from the second on.
TEST(a_stick_that_tumbles_keeps_its_spin) {
    for (int m = 0; m < REDUCED; ++m) {
        TdlWorld* world = create_world(TDL_INTEGRATOR_EULER, 0.0);
        TdlRodDef def = stick(MODELS[m]);
        def.young = 1.0e9;
        Rod* rod = add(world, &def);
        tdl_store3(rod->v + rod->dof_count - 6, 0, (TdlVec3){3.0, 0.0, 40.0});
        rod->model->refresh(rod);
        double energy = 0.0, spin = 0.0, gain = 0.0;
        for (int i = 0; i < 1000; ++i) {
            TdlStepInfo info;
            REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
            const double* root = rod->v + rod->dof_count - 6;
            double along = tdl_dot3(rod->base.before.rotation.cx, tdl_load3(root, 0));
            energy = i == 1 ? info.energy.kinetic : energy;
            gain = i == 0 ? 0.0 : fmax(gain, fabs(info.energy.kinetic / energy - 1.0));
            spin = i == 0 ? 0.0 : fmax(spin, fabs(along / 3.0 - 1.0));
        }
        printf("  %-17s spin off by %.2e, energy by %.1e\n", MODELS[m], spin, gain);
        CHECK_BELOW(spin, 1.0e-9);
        CHECK_BELOW(gain, 1.0e-12);
        tdl_world_destroy(world);
    }
}

// Both momenta of a world over its steps, against those at the start; relative.
typedef struct Drift {
    Momenta start;
    double linear, angular;
    double push;  // J, all of it
    bool pushed;  // in the last step
    bool touched; // and touched
} Drift;

// A super-model gives back in its next step what a push took.
static void follow(Drift* drift, Momenta now) {
    if (drift->pushed) {
        return;
    }
    double p = tdl_norm3(drift->start.linear), l = tdl_norm3(drift->start.angular);
    drift->linear = fmax(drift->linear, apart(now.linear, drift->start.linear) / p);
    drift->angular = fmax(drift->angular, apart(now.angular, drift->start.angular) / l);
}

static void step_and_note(TdlWorld* world, Drift* drift, double* friction) {
    TdlStepInfo info;
    REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
    drift->push += fabs(info.push);
    drift->pushed = info.push != 0.0;
    drift->touched = info.contact_count > 0;
    *friction += info.friction;
}

// A ball flies against a stick at rest, off its middle.
static Drift hit_by_ball(TdlIntegrator integrator, double mu, double speed, const char* model,
                         double* friction) {
    TdlWorld* world = create_world(integrator, mu);
    TdlRodDef def = stick(model);
    Rod* rod = add(world, &def);
    TdlRigidDef ball = tdl_rigid_def_default();
    ball.radius = 0.015;
    ball.pose.position = (TdlVec3){0.22, -0.05, 0.003};
    ball.velocity = tdl_scale3(speed, (TdlVec3){0.3, 2.0, 0.1});
    TdlBodyId id;
    CHECK_INT(tdl_world_add_rigid(world, &ball, &id), TDL_STATUS_OK);
    double mass, least = 1.0;
    TdlVec3 centre;
    CHECK_INT(tdl_body_centre(world, id, &centre, &mass), TDL_STATUS_OK);
    Drift drift = {.start = {tdl_scale3(mass, ball.velocity),
                             tdl_scale3(mass, tdl_cross3(ball.pose.position, ball.velocity))}};
    for (int i = 0; i < (int)(200.0 / speed); ++i) {
        step_and_note(world, &drift, friction);
        Momenta now = momenta_of(rod);
        if (integrator == TDL_INTEGRATOR_EULER && !drift.touched && i > 0) {
            check_flight(rod, &def, 1.0e-3);
        }
        TdlVec3 v, w, x;
        CHECK_INT(tdl_rigid_velocity(world, id, &v, &w), TDL_STATUS_OK);
        CHECK_INT(tdl_body_centre(world, id, &x, &mass), TDL_STATUS_OK);
        TdlVec3 p = tdl_scale3(mass, v), spin = tdl_scale3(0.4 * mass * 2.25e-4, w);
        now.linear = tdl_add3(now.linear, p);
        now.angular = tdl_add3(now.angular, tdl_add3(tdl_cross3(x, p), spin));
        follow(&drift, now);
        least = fmin(least, tdl_norm3(v) / tdl_norm3(ball.velocity));
    }
    CHECK_BELOW(least, 0.9); // it hit
    tdl_world_destroy(world);
    return drift;
}

// A ball that a joint holds to the end of a stick flies off with it.
static Drift joined_to_ball(TdlJointKind kind, const char* model, double* off) {
    TdlWorld* world = create_world(TDL_INTEGRATOR_EULER, 0.3);
    TdlRodDef def = stick(model);
    Rod* rod = add(world, &def);
    TdlRigidDef ball = tdl_rigid_def_default();
    ball.radius = 0.015;
    ball.pose.position = (TdlVec3){0.3 + 0.02, 0.004, 0.003};
    ball.velocity = (TdlVec3){0.3, 2.0, 0.1};
    ball.angular_velocity = (TdlVec3){5.0, -3.0, 8.0};
    TdlBodyId id;
    CHECK_INT(tdl_world_add_rigid(world, &ball, &id), TDL_STATUS_OK);
    TdlJointDef joint = tdl_joint_def_default();
    joint.kind = kind;
    joint.end[0] = (TdlJointEnd){rod_owner(rod)->head.id, 0.3};
    joint.end[1].body = id;
    joint.point[1] = kind == TDL_JOINT_DISTANCE ? ball.pose.position : joint.point[1];
    joint.axis = (TdlVec3){0.3, 0.2, 1.0};
    TdlJointId made;
    CHECK_INT(tdl_world_add_joint(world, &joint, &made), TDL_STATUS_OK);
    double mass, friction = 0.0;
    TdlVec3 centre;
    CHECK_INT(tdl_body_centre(world, id, &centre, &mass), TDL_STATUS_OK);
    TdlVec3 p0 = tdl_scale3(mass, ball.velocity);
    TdlVec3 spin0 = tdl_scale3(0.4 * mass * 2.25e-4, ball.angular_velocity);
    Drift drift = {.start = {p0, tdl_add3(spin0, tdl_cross3(ball.pose.position, p0))}};
    *off = 0.0;
    for (int i = 0; i < 400; ++i) {
        step_and_note(world, &drift, &friction);
        Momenta now = momenta_of(rod);
        TdlVec3 v, w, x;
        TdlJointState state;
        CHECK_INT(tdl_rigid_velocity(world, id, &v, &w), TDL_STATUS_OK);
        CHECK_INT(tdl_body_centre(world, id, &x, &mass), TDL_STATUS_OK);
        CHECK_INT(tdl_joint_state(world, made, &state), TDL_STATUS_OK);
        TdlVec3 p = tdl_scale3(mass, v), spin = tdl_scale3(0.4 * mass * 2.25e-4, w);
        now.linear = tdl_add3(now.linear, p);
        now.angular = tdl_add3(now.angular, tdl_add3(tdl_cross3(x, p), spin));
        follow(&drift, now);
        *off = fmax(*off, fmax(state.error / 0.3, state.error_angle));
    }
    CHECK_INT(tdl_world_remove_joint(world, made), TDL_STATUS_OK);
    CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
    check_flight(rod, &def, 1.0e-3);
    tdl_world_destroy(world);
    return drift;
}

static Momenta of_both(Rod* const rod[2]) {
    Momenta a = momenta_of(rod[0]), b = momenta_of(rod[1]);
    return (Momenta){tdl_add3(a.linear, b.linear), tdl_add3(a.angular, b.angular)};
}

// A stick flies across another one at rest, aslant and off its middle.
static Drift hit_by_stick(double mu, double speed, const char* model, double* friction) {
    TdlWorld* world = create_world(TDL_INTEGRATOR_EULER, mu);
    TdlRodDef def[2] = {stick(model), stick(model)};
    def[1].clamp = (TdlPose){{0.2, -0.1, 0.03}, tdl_frame_from_tangent((TdlVec3){0.2, 1.0, 0.1})};
    Rod* rod[2] = {add(world, &def[0]), add(world, &def[1])};
    TdlVec3 v = tdl_scale3(speed, (TdlVec3){0.3, 0.4, -1.0});
    if (rod[1]->model->reduced) {
        tdl_store3(rod[1]->v + rod[1]->dof_count - 6, 1, v);
    }
    for (int i = 0; i <= def[1].element_count && !rod[1]->model->reduced; ++i) {
        tdl_store3(rod[1]->v + i * nodal_stride(rod[1]), 0,
                   tdl_scale3(1.0 / rod[1]->element_length, v));
    }
    rod[1]->model->refresh(rod[1]);
    Drift drift = {0};
    TdlVec3 first = {0};
    for (int i = 0; i < (int)(100.0 / speed); ++i) {
        step_and_note(world, &drift, friction);
        Momenta now = of_both(rod);
        if (i == 0) {
            drift.start = now;
            first = momenta_of(rod[0]).linear;
        }
        follow(&drift, now);
    }
    double given = apart(momenta_of(rod[0]).linear, first);
    CHECK(given > 0.05 * tdl_norm3(drift.start.linear)); // it hit
    tdl_world_destroy(world);
    return drift;
}

static void check_drift(const char* model, Drift x, double most) {
    printf("  %-17s linear momentum off by %.1e, angular by %.1e; push %.1e J\n", model, x.linear,
           x.angular, x.push);
    CHECK_BELOW(x.linear, 1.0e-12);
    CHECK_BELOW(x.angular, most);
}

TEST(a_stick_that_a_ball_hits_keeps_the_momenta_of_both) {
    double friction = 0.0;
    for (int m = 0; m < MODEL_COUNT; ++m) {
        check_drift(MODELS[m], hit_by_ball(TDL_INTEGRATOR_EULER, 0.0, 1.0, MODELS[m], &friction),
                    1.0e-12);
    }
}

TEST(with_friction_they_are_kept_as_well) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        double friction = 0.0;
        check_drift(MODELS[m], hit_by_ball(TDL_INTEGRATOR_EULER, 0.5, 1.0, MODELS[m], &friction),
                    1.0e-12);
        CHECK(friction > 0.0);
    }
}

// Slow enough to leave no overlap that is pushed apart, and faster.
TEST(two_sticks_keep_theirs_with_and_without_friction) {
    static const double SPEEDS[] = {0.08, 1.0};
    for (int k = 0; k < 2 * MODEL_COUNT; ++k) {
        const char* model = MODELS[k / 2];
        double none = 0.0, friction = 0.0;
        Drift without = hit_by_stick(0.0, SPEEDS[k % 2], model, &none);
        check_drift(model, without, 1.0e-11);
        // mass-spring chains do not turn about themselves: what turns them so is lost
        double most = strcmp(model, "mass-spring") == 0 ? 0.02 : 1.0e-11;
        check_drift(model, hit_by_stick(0.5, SPEEDS[k % 2], model, &friction), most);
        CHECK(friction > 0.0 && (without.push > 0.0) == (k % 2 == 1));
    }
}

TEST(by_the_midpoint_rule_they_are_nearly_kept) {
    double friction = 0.0;
    for (int m = 0; m < MODEL_COUNT; ++m) {
        check_drift(MODELS[m], hit_by_ball(TDL_INTEGRATOR_MIDPOINT, 0.0, 1.0, MODELS[m], &friction),
                    1.0e-6);
    }
}

TEST(a_stick_and_a_ball_that_are_joined_keep_theirs) {
    static const TdlJointKind KINDS[] = {TDL_JOINT_BALL, TDL_JOINT_DISTANCE, TDL_JOINT_FIXED,
                                         TDL_JOINT_HINGE, TDL_JOINT_SLIDER};
    for (int k = 0; k < 5; ++k) {
        for (int m = 0; m < (k < 2 ? MODEL_COUNT : MODEL_COUNT - 1); ++m) {
            double off;
            Drift drift = joined_to_ball(KINDS[k], MODELS[m], &off);
            printf("  kind %d, off %.1e:", KINDS[k], off);
            check_drift(MODELS[m], drift, 1.0e-10);
        }
    }
}
