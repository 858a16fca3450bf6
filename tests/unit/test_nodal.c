// What the nodal models share: statics against the exact elastica and against the super-helix,
// twist, invariance, the response to contacts.
#include "rod/nodal.h"

#include "ref/elastica.h"
#include "ref/nodal_checks.h"

static const char* const MODELS[] = {"der", "mass-spring", "corde"};
static const double PI = 3.14159265358979323846;

static double settle(Rod* rod, TdlVec3 gravity) {
    TdlHost host = tdl_host_default();
    double residual, stability;
    CHECK_INT(rod_settle(&host, rod, gravity, &residual, &stability), TDL_STATUS_OK);
    return residual;
}

// --- statics --------------------------------------------------------------------------------

static TdlRodDef cantilever(const char* model, int n, double weight) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.element_count = n;
    def.radius[0] = def.radius[1] = 5.0e-6; // so thin that it does not stretch: wL/EA <= 6e-7
    double w = def.density * PI * 25.0e-12 * 9.81, I = PI / 4.0 * pow(5.0e-6, 4);
    def.young = w * pow(def.length, 3) / (weight * I);
    return def;
}

static double cantilever_error(const char* model, int n, double weight) {
    TdlRodDef def = cantilever(model, n, weight);
    TdlVec3 exact = elastica_tip(weight, def.length);
    Rod* rod = check_create(&def);
    settle(rod, (TdlVec3){0.0, 0.0, -9.81});
    TdlVec3 tip = rod->model->point(rod, n - 1, 1.0);
    check_destroy(rod);
    return tdl_norm3(tdl_sub3(tip, exact)) / def.length;
}

TEST(a_heavy_cantilever_settles_on_the_elastica) {
    for (int m = 0; m < 3; ++m) {
        for (double weight = 1.0e-2; weight < 2.0e2; weight *= 10.0) {
            double error[3];
            int n = weight < 50.0 ? 25 : 38; // the heaviest bends most, next to its clamp
            for (int k = 0; k < 3; ++k) {
                error[k] = cantilever_error(MODELS[m], n << k, weight);
            }
            double order = 0.5 * log2(error[0] / error[2]);
            printf("  %s, wL^3/EI %g: tip off by %.1e, %.1e, %.1e L with %d, %d, %d edges, order "
                   "%.2f\n",
                   MODELS[m], weight, error[0], error[1], error[2], n, 2 * n, 4 * n, order);
            CHECK_BELOW(error[2], 1.0e-4);
            CHECK(order > 1.7);
        }
    }
}

// Tip of a heavy, naturally curved rod at rest.
static TdlVec3 curved_tip(const char* model, int n, bool in_plane) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.element_count = n;
    def.length = 0.15;
    def.young = in_plane ? 1.0e10 : 1.0e9;
    def.natural_curvature = in_plane ? (TdlVec3){0.0, 6.0, 0.0} : (TdlVec3){4.0, 15.0, 8.0};
    def.curvature = def.natural_curvature;
    def.clamp.rotation = tdl_rotation_exp((TdlVec3){0.0, 0.0, 0.3});
    Rod* rod = check_create(&def);
    settle(rod, (TdlVec3){0.0, 0.0, -9.81});
    TdlVec3 tip = rod->model->point(rod, n - 1, 1.0);
    check_destroy(rod);
    return tip;
}

// The limit of super-helices: their error falls with the square of the element count.
static TdlVec3 limit_tip(bool in_plane) {
    TdlVec3 coarse = curved_tip("super-helix", 24, in_plane);
    TdlVec3 fine = curved_tip("super-helix", 48, in_plane);
    return tdl_axpy3(fine, 1.0 / 3.0, tdl_sub3(fine, coarse));
}

// In space for the models with frames. The chain without frames is not told which way to curve, so
// it is compared where weight and curvature agree.
TEST(all_models_agree_on_a_curved_heavy_rod) {
    for (int m = 0; m < 3; ++m) {
        TdlVec3 exact = limit_tip(m == 1);
        double error[3];
        for (int k = 0; k < 3; ++k) {
            error[k] = tdl_norm3(tdl_sub3(curved_tip(MODELS[m], 20 << k, m == 1), exact)) / 0.15;
        }
        double order = 0.5 * log2(error[0] / error[2]);
        printf("  %s: tip off the super-helix's by %.1e, %.1e, %.1e L with 20, 40, 80 edges, order "
               "%.2f\n",
               MODELS[m], error[0], error[1], error[2], order);
        CHECK_BELOW(error[2], 5.0e-4);
        CHECK(order > 1.7);
    }
}

TEST(without_gravity_a_rod_settles_at_its_natural_shape) {
    for (int m = 0; m < 3; ++m) {
        TdlRodDef def = tdl_rod_def_default();
        def.model = MODELS[m];
        def.natural_curvature = (TdlVec3){3.0, 40.0, -20.0};
        def.curvature = (TdlVec3){1.0, 20.0, 10.0};
        Rod* rod = check_create(&def);
        settle(rod, (TdlVec3){0});
        TdlEnergy bent = rod->model->energy(rod, (TdlVec3){0});
        double scale = rod->stiffness.y * 45.0 * 45.0 * def.length;
        printf("  %s: energy %.1e of that of a straight one\n", MODELS[m], bent.elastic / scale);
        CHECK_BELOW(bent.elastic, 1.0e-16 * scale);
        check_destroy(rod);
    }
}

TEST(a_twisted_rod_twists_evenly) {
    for (int m = 0; m < 3; m += 2) {
        TdlRodDef def = tdl_rod_def_default();
        def.model = MODELS[m];
        def.element_count = 40;
        def.end = TDL_HOLD_CLAMPED;
        Rod* rod = check_create(&def);
        double angle = 2.0; // below the angle at which it buckles
        rod->end.now.rotation = tdl_rotation_exp((TdlVec3){angle, 0.0, 0.0});
        settle(rod, (TdlVec3){0});
        double energy = rod->model->energy(rod, (TdlVec3){0}).elastic;
        double exact = rod->stiffness.x * angle * angle / (2.0 * def.length), uneven = 0.0;
        for (int i = 0; i < 40; ++i) {
            TdlMat3 frame = nodal_kind(rod)->frame(rod, i);
            TdlVec3 turned = tdl_rotation_log(frame);
            uneven = fmax(uneven, fabs(turned.x - angle * (i + 0.5) / 40.0));
        }
        printf("  %s: energy off by %.1e, frames by %.1e rad\n", MODELS[m], energy / exact - 1.0,
               uneven);
        // CoRdE's strain is 4 tan(angle/4): off by (angle/N)^2/24 in the energy
        CHECK_BELOW(fabs(energy / exact - 1.0), m == 0 ? 1.0e-12 : 1.1 * pow(angle / 40.0, 2) / 24);
        CHECK_BELOW(uneven, m == 0 ? 1.0e-10 : pow(angle / 40.0, 3)); // half cells are linear
        check_destroy(rod);
    }
}

// --- invariance -----------------------------------------------------------------------------

// Turns and shifts a rod with all it knows of the world.
static void move_rigidly(Rod* rod, TdlMat3 turn, TdlVec3 shift) {
    int stride = nodal_stride(rod);
    Quat g = quat_from_matrix(turn);
    for (int i = 0; i <= rod->element_count; ++i) {
        double* x = rod->q + i * stride;
        tdl_store3(x, 0, tdl_add3(shift, tdl_mul33_3(turn, tdl_load3(x, 0))));
        if (i < rod->element_count && stride == 7) {
            quat_store(x + 3, quat_mul(g, quat_load(x + 3)));
        }
        if (i < rod->element_count && stride == 4) {
            quat_store(rod->memory + 4 * i, quat_mul(g, quat_load(rod->memory + 4 * i)));
        }
    }
    rod->base.now.rotation = tdl_mul33(turn, rod->base.now.rotation);
    rod->end.now.rotation = tdl_mul33(turn, rod->end.now.rotation);
}

TEST(energy_does_not_change_in_a_rigid_motion) {
    Rng rng = rng_seed(50);
    for (int m = 0; m < 3; ++m) {
        double worst = 0.0;
        for (int trial = 0; trial < 200; ++trial) {
            Rod* rod = check_random_rod(&rng, MODELS[m]);
            double before = rod->model->energy(rod, (TdlVec3){0}).elastic;
            move_rigidly(rod, tdl_rotation_exp(check_vector(&rng, rng_range(&rng, 0.0, 3.0))),
                         check_vector(&rng, 5.0));
            double after = rod->model->energy(rod, (TdlVec3){0}).elastic;
            worst = fmax(worst, fabs(after - before) / (before + 1.0e-12));
            check_destroy(rod);
        }
        printf("  %s: energy off by %.1e\n", MODELS[m], worst);
        CHECK_BELOW(worst, 1.0e-11); // rounding of edges that are small beside the shift
    }
}

// --- the linear problem of a step -----------------------------------------------------------

static bool predict(Rod* rod, double dt) {
    RodStep step = {
        .dt = dt, .gravity = CHECK_GRAVITY, .base_end = rod->base.now, .end_end = rod->end.now};
    return rod->model->predict(rod, &step);
}

// An impulse at a point changes the velocity of the step by A^-1 H' r, to first order in r; held
// ends do not move.
TEST(solve_is_the_response_to_an_impulse) {
    for (int m = 0; m < 3; ++m) {
        TdlRodDef def = tdl_rod_def_default();
        def.model = MODELS[m];
        def.curvature = (TdlVec3){0.0, 20.0, 5.0};
        TdlRodLoad load = {0.63 * def.length, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        def.loads = &load;
        def.load_count = 1;
        Rod* rod = check_create(&def);
        int n = rod->dof_count;
        double dt = 1.0e-3, error[3], still[73], response[73], rows[3 * 73];
        CHECK(predict(rod, dt));
        memcpy(still, rod->v_free, (size_t)n * sizeof(double));
        TdlVec3 force = {2.0e-6, -1.0e-6, 3.0e-6};
        const RodLoad* at = &rod->loads[0];
        whole_rows(rod, at->element, at->s, tdl_identity33(), rows);
        for (int i = 0; i < n; ++i) {
            response[i] =
                dt * (force.x * rows[i] + force.y * rows[n + i] + force.z * rows[2 * n + i]);
        }
        rod->model->solve(rod, response);
        CHECK(response[0] == 0.0 && response[1] == 0.0 && response[2] == 0.0);
        for (int k = 0; k < 3; ++k) {
            double scale = 1.0 / (1 << k), changed[73];
            rod->loads[0].force = tdl_scale3(scale, force);
            CHECK(predict(rod, dt));
            for (int i = 0; i < n; ++i) {
                changed[i] = (rod->v_free[i] - still[i]) / scale;
            }
            error[k] = check_difference(changed, response, n);
        }
        double order = 0.5 * log2(error[0] / error[2]);
        printf("  %s: off by %.1e, %.1e, %.1e, order %.2f\n", MODELS[m], error[0], error[1],
               error[2], order);
        CHECK_NEAR(order, 1.0, 0.2);
        check_destroy(rod);
    }
}

// What is left of backward Euler's equation at the velocity v under the impulse h, in coordinates
// that are not held, over the largest of its terms; elastic forces by differences of the energy.
static double left_of_the_step(const Rod* rod, const RodStep* step, const double* v,
                               const double* h) {
    enum { MOST = 200 };
    double q[MOST], load[MOST], dt = step->dt, worst = 0.0, scale = 0.0;
    int n = rod->dof_count;
    NodalShape now = nodal_shape(rod), end = now;
    nodal_dead_load(&now, step->gravity, false, load);
    end.q = q;
    for (int i = 0; i < n; ++i) {
        q[i] = rod->q[i] + dt * v[i];
    }
    for (int i = 0; i < n; ++i) {
        double at = q[i], nudge = 1.0e-5, energy[4];
        const double places[4] = {1.0, -1.0, 2.0, -2.0};
        for (int k = 0; k < 4; ++k) {
            q[i] = at + places[k] * nudge;
            energy[k] = nodal_elastic_energy(&end);
        }
        q[i] = at;
        double slope = (8.0 * (energy[0] - energy[1]) - (energy[2] - energy[3])) / (12.0 * nudge);
        double left = nodal_mass(rod, i) * (v[i] - rod->v[i]) - dt * load[i] + dt * slope - h[i];
        bool held = nodal_is_held(rod, i);
        worst = held ? worst : fmax(worst, fabs(left));
        scale = held ? scale : fmax(scale, fabs(h[i]) + dt * fabs(load[i]));
    }
    return worst / scale;
}

typedef struct RoundsMade {
    int count, linearised;
    double left;
} RoundsMade;

// As the world makes them, under the impulse h (null: nothing); those that may keep A as it is do
// where `keep` says so. v ends as the velocity.
static RoundsMade make_rounds(Rod* rod, const RodStep* step, const double* h, bool keep,
                              double* v) {
    RoundsMade made = {.left = INFINITY};
    int n = rod->dof_count;
    while (made.count < 30 && made.left > 1.0e-12) {
        double before = made.left;
        memset(v, 0, (size_t)n * sizeof *v);
        if (h != NULL) {
            memcpy(v, h, (size_t)n * sizeof *v);
            rod->model->solve(rod, v);
        }
        for (int i = 0; i < n; ++i) {
            v[i] += rod->v_free[i];
        }
        made.left = rod->model->residual(rod, step, v, h);
        ++made.count;
        if (keep && made.left < 1.0e-5 && made.left < 0.1 * before) {
            rod->model->correct(rod, rod->v_free);
        } else if (made.left > 1.0e-12) {
            ++made.linearised;
            CHECK(rod->model->predict_again(rod, step, v, h));
        }
    }
    return made;
}

// Pressed by impulses that bend it far in one step: rounds end where the whole equation holds,
// from a prediction that knew of nothing, or of half the force; also where some keep A.
TEST(rounds_end_at_the_equation_of_the_step) {
    int linearised[2] = {0};
    for (int trial = 0; trial < 24; ++trial) {
        bool keep = trial >= 12;
        TdlRodDef def = tdl_rod_def_default();
        def.model = MODELS[trial % 3];
        def.element_count = 12;
        def.young = 1.0e8;
        def.radius[0] = def.radius[1] = 1.0e-3;
        def.natural_curvature = def.curvature = (TdlVec3){0.0, trial % 12 / 6 * 5.0, 2.0};
        Rod* rod = check_create(&def);
        int n = rod->dof_count;
        RodStep step = {.dt = 5.0e-3,
                        .gravity = {0.0, 0.0, -9.81},
                        .base_end = rod->base.now,
                        .end_end = rod->end.now};
        double h[200] = {0.0}, v[200];
        const double push[3] = {1.0e-5, 2.0e-5, 8.0e-5}; // N s
        static double rows[3 * 200];
        int count = nodal_movers(rod, 11).count, first = nodal_movers(rod, 11).first;
        rod->model->jacobian(rod, 11, 0.7, tdl_identity33(), rows);
        for (int k = 0; k < 3 * count; ++k) {
            h[first + k % count] += push[k / count] * rows[k];
        }
        if (trial % 6 < 3) {
            memset(rod->expected, 0, (size_t)n * sizeof(double));
            rod->expects = true;
            rod->model->expect(rod, 11, 0.7,
                               (TdlVec3){0.5 * push[0] / step.dt, 0.5 * push[1] / step.dt,
                                         0.5 * push[2] / step.dt});
        }
        REQUIRE(rod->model->predict(rod, &step));
        RoundsMade made = make_rounds(rod, &step, h, keep, v);
        linearised[keep] += made.linearised;
        double own = left_of_the_step(rod, &step, v, h);
        printf("  %s: %d rounds, %d of them linearised anew, %.1e is left, %.1e by differences\n",
               def.model, made.count, made.linearised, made.left, own);
        CHECK_BELOW(made.left, 1.0e-12);
        CHECK(made.linearised < 8 || trial % 3 == 1); // its energy is not smooth: not quadratic
        CHECK_BELOW(own, 1.0e-6);                     // differences of a stiff energy
        check_destroy(rod);
    }
    CHECK(linearised[1] < linearised[0]);
}

// Forces that were expected and do not come: what is left is the step without them.
TEST(rounds_without_the_expected_force_end_at_the_free_step) {
    for (int m = 0; m < 3; ++m) {
        TdlRodDef def = tdl_rod_def_default();
        def.model = MODELS[m];
        def.element_count = 12;
        def.young = 1.0e8;
        def.radius[0] = def.radius[1] = 1.0e-3;
        def.natural_curvature = def.curvature = (TdlVec3){0.0, 0.0, 2.0};
        Rod* rod = check_create(&def);
        RodStep step = {.dt = 5.0e-3,
                        .gravity = {0.0, 0.0, -9.81},
                        .base_end = rod->base.now,
                        .end_end = rod->end.now};
        double nothing[200] = {0.0}, v[200];
        memset(rod->expected, 0, (size_t)rod->dof_count * sizeof(double));
        rod->expects = true;
        rod->model->expect(rod, 11, 0.7, (TdlVec3){2.0e-3, 4.0e-3, 1.6e-2});
        REQUIRE(rod->model->predict(rod, &step));
        double first = left_of_the_step(rod, &step, rod->v_free, nothing);
        RoundsMade made = make_rounds(rod, &step, NULL, true, v);
        double own = left_of_the_step(rod, &step, v, nothing);
        printf("  %s: %.1e is left at first, %.1e after %d rounds\n", def.model, first, own,
               made.count);
        CHECK(first > 1.0e-3 && made.count > 1);
        CHECK_BELOW(made.left, 1.0e-12);
        CHECK_BELOW(own, 1.0e-6); // differences of a stiff energy
        check_destroy(rod);
    }
}

TEST(the_smallest_rods_work) {
    for (int m = 0; m < 3; ++m) {
        for (int n = 1; n <= 2; ++n) {
            for (int hold = 0; hold < 9; ++hold) {
                TdlRodDef def = tdl_rod_def_default();
                def.model = MODELS[m];
                def.element_count = n;
                def.start = (TdlHold)(hold / 3);
                def.end = (TdlHold)(hold % 3);
                Rod* rod = check_create(&def);
                for (int k = 0; k < 20; ++k) {
                    RodStep step = {.dt = 1.0e-3,
                                    .gravity = CHECK_GRAVITY,
                                    .base_end = rod->base.now,
                                    .end_end = rod->end.now};
                    REQUIRE(rod->model->predict(rod, &step));
                    rod->model->advance(rod, &step, rod->v_free);
                }
                CHECK(rod_state_finite(rod));
                check_destroy(rod);
            }
        }
    }
}

TEST(an_element_that_turns_too_far_is_refused) {
    TdlHost host = tdl_host_default();
    TdlRodDef def = tdl_rod_def_default();
    def.natural_curvature.y = 310.0; // 3.1 rad over 1 cm
    for (int m = 0; m < 3; ++m) {
        Rod* rod = NULL;
        def.model = MODELS[m];
        CHECK_INT(rod_create(&host, &def, &rod), TDL_STATUS_BAD_ARGUMENT);
        rod_destroy(&host, rod);
    }
}
