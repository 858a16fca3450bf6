// Where the energy of a step goes: the balance of every model that keeps one, and its parts by
// quadrature over the points. super-helix.md (H.27)
#include "base/rng.h"
#include "math/gauss.h"
#include "math/rotation.h"
#include "ref/whole_rows.h"
#include "rod/rod.h"
#include "test.h"

enum { MAX_N = 10, NODAL_DOF = 7 * MAX_N + 3, MAX_DOF = NODAL_DOF };

static const char* const MODELS[3] = {"super-helix", "super-helix-dense", "super-clothoid"};
static const TdlHold STARTS[3] = {TDL_HOLD_CLAMPED, TDL_HOLD_PINNED, TDL_HOLD_FREE};

static TdlVec3 random_vector(Rng* rng, double size) {
    TdlVec3 v = {rng_normal(rng), rng_normal(rng), rng_normal(rng)};
    return tdl_scale3(size / (tdl_norm3(v) + 1.0e-300), v);
}

static bool varying; // rods have sections that vary

static void vary(Rng* rng, TdlRodDef* def, TdlRodSection row[3]) {
    for (int i = 0; i < 3; ++i) {
        row[i] = (TdlRodSection){.at = def->length * (double[]){0.0, 0.37, 0.8}[i],
                                 .radius = {rng_range(rng, 1.0e-4, 1.0e-3), 4.0e-4},
                                 .inner_radius = rng_range(rng, 0.0, 0.9e-4),
                                 .mass_per_length = rng_range(rng, 1.0e-4, 1.0e-2)};
    }
    def->sections = row;
    def->section_count = 3;
    def->drag = 0.0;
}

static Rod* random_rod(Rng* rng, const char* model, TdlHold start, TdlHold end) {
    TdlRodSection rows[3];
    TdlHost host = tdl_host_default();
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.element_count = 1 + rng_below(rng, MAX_N);
    def.length = rng_range(rng, 0.05, 0.5);
    def.radius[0] = rng_range(rng, 1.0e-4, 1.0e-3);
    def.radius[1] = rng_range(rng, 1.0e-4, 1.0e-3);
    def.damping = rng_range(rng, 0.0, 0.01);
    def.mass_damping = rng_range(rng, 0.0, 3.0);
    def.drag = rng_range(rng, 0.0, 0.01);
    def.clamp.position = random_vector(rng, 0.3);
    def.clamp.rotation = tdl_rotation_exp(random_vector(rng, 2.0));
    double most = 2.0 * def.element_count / def.length; // what an edge can tell
    def.natural_curvature = random_vector(rng, fmin(20.0, most));
    def.start = start;
    def.end = end;
    TdlRodLoad loads[2] = {
        {rng_range(rng, 0.0, def.length), random_vector(rng, 1e-3), random_vector(rng, 1e-5)},
        {def.length, random_vector(rng, 1e-3), random_vector(rng, 1e-5)}};
    def.loads = loads;
    def.load_count = rng_below(rng, 3);
    if (varying) {
        vary(rng, &def, rows);
    }
    Rod* rod;
    if (rod_create(&host, &def, &rod) != TDL_STATUS_OK) {
        abort();
    }
    return rod;
}

static void destroy(Rod* rod) {
    TdlHost host = tdl_host_default();
    rod_destroy(&host, rod);
}

// A state in the middle of a motion.
static void randomise(Rng* rng, Rod* rod, bool moving_base) {
    int root = rod->dof_count - rod->root_dofs;
    for (int i = 0; i < root; i += 3) {
        TdlVec3 q = random_vector(rng, rng_range(rng, 0.0, 2.0));
        tdl_store3(rod->q_before + i, 0, q);
        tdl_store3(rod->q + i, 0, tdl_add3(q, random_vector(rng, rng_range(rng, 0.0, 0.1))));
    }
    for (int i = 0; i < rod->dof_count; ++i) {
        rod->v[i] = 3.0 * rng_normal(rng);
    }
    rod->base.before = rod->base.now;
    if (moving_base || rod->root_dofs >= 3) {
        rod->base.now.rotation =
            tdl_mul33(tdl_rotation_exp(random_vector(rng, 0.05)), rod->base.now.rotation);
    }
    if (moving_base || rod->root_dofs == 6) {
        rod->base.now.position = tdl_add3(rod->base.now.position, random_vector(rng, 0.01));
    }
    if (moving_base) {
        rod->base.rate = (Twist){random_vector(rng, 0.3), random_vector(rng, 2.0)};
    }
    rod->model->refresh(rod);
}

static RodStep random_step(Rng* rng, const Rod* rod) {
    return (RodStep){.dt = pow(10.0, rng_range(rng, -5.0, -1.0)),
                     .gravity = random_vector(rng, 9.81),
                     .wind = random_vector(rng, 3.0),
                     .base_end = rod->base.now};
}

// Lets something touch a rod that was predicted: fills v with the velocities it has then, and
// returns the work done on them.
static double touch_rod(Rng* rng, const Rod* rod, double* v) {
    double rows[3 * MAX_DOF], change[MAX_DOF] = {0}, touch = 0.0, impulse[3];
    int n = rod->dof_count;
    whole_rows(rod, rng_below(rng, rod->element_count), 0.3, tdl_identity33(), rows);
    for (int r = 0; r < 3; ++r) {
        impulse[r] = 1.0e-5 * rng_normal(rng);
        for (int i = 0; i < n; ++i) {
            change[i] += impulse[r] * rows[r * n + i];
        }
    }
    rod->model->solve(rod, change);
    for (int i = 0; i < n; ++i) {
        v[i] = rod->v_free[i] + change[i];
        for (int r = 0; r < 3; ++r) {
            touch += impulse[r] * rows[r * n + i] * v[i];
        }
    }
    return touch;
}

// What a step with these losses leaves unexplained, over the energies at play and `more`.
static double imbalance(Rod* rod, const RodStep* step, const double* v, double touch, double more,
                        RodLosses* losses) {
    *losses = rod->model->losses(rod, step, v, touch);
    TdlEnergy before = rod->model->energy(rod, (TdlVec3){0});
    rod->model->advance(rod, step, v);
    TdlEnergy after = rod->model->energy(rod, (TdlVec3){0});
    double change = after.kinetic + after.elastic - before.kinetic - before.elastic;
    double balance = losses->work + losses->hold + touch - losses->damping - losses->numerical;
    double size = fabs(losses->work) + fabs(losses->hold) + fabs(touch) + losses->damping +
                  fabs(losses->numerical) + before.kinetic + before.elastic + more;
    return fabs(change - balance) / size;
}

static void check_balance(void) {
    Rng rng = rng_seed(100);
    double worst = 0.0;
    for (int k = 0; k < 1800; ++k) {
        Rod* rod = random_rod(&rng, MODELS[k % 3], STARTS[k / 3 % 3], TDL_HOLD_FREE);
        randomise(&rng, rod, false);
        RodStep step = random_step(&rng, rod);
        REQUIRE(rod->model->predict(rod, &step));
        double v[MAX_DOF], touch = touch_rod(&rng, rod, v);
        // a spin about the rod is what is left of terms that are larger by (length / radius)^2
        int n = rod->dof_count;
        double turning = rod->root_dofs > 0 ? tdl_norm3(tdl_load3(v + n - rod->root_dofs, 0)) : 0.0;
        double more = rod_mass(rod) * pow(rod_length(rod) * turning, 2.0);
        RodLosses losses;
        worst = fmax(worst, imbalance(rod, &step, v, touch, more, &losses));
        CHECK(losses.damping >= 0.0);
        CHECK(losses.numerical >= -1.0e-14 * (more + fabs(losses.work) + losses.damping));
        CHECK(losses.hold == 0.0);
        destroy(rod);
    }
    printf("  the balance closes to %.1e of the energies at play\n", worst);
    CHECK_BELOW(worst, 1.0e-12);
}

TEST(kinetic_and_elastic_energy_change_by_work_less_losses) {
    check_balance();
}

TEST(so_they_do_where_sections_vary) {
    varying = true;
    check_balance();
    varying = false;
}

// A start that is led and an end that is held do work of their own.
TEST(holds_that_move_are_part_of_the_balance) {
    Rng rng = rng_seed(104);
    double worst = 0.0, most = 0.0;
    for (int k = 0; k < 600; ++k) {
        TdlHold end = STARTS[k / 3 % 3];
        Rod* rod = random_rod(&rng, MODELS[k % 3], TDL_HOLD_CLAMPED, end);
        randomise(&rng, rod, true);
        RodStep step = random_step(&rng, rod);
        step.dt = fmin(step.dt, 1.0e-2);
        step.base_rate = (Twist){random_vector(&rng, 0.3), random_vector(&rng, 2.0)};
        rod->end.now = rod->end.before = step.end_end = rod_end(rod);
        step.end_rate.linear = random_vector(&rng, 0.1);
        step.end_end.position = tdl_axpy3(step.end_end.position, step.dt, step.end_rate.linear);
        REQUIRE(rod->model->predict(rod, &step));
        double v[MAX_DOF], touch = touch_rod(&rng, rod, v);
        RodLosses losses;
        double base = pow(tdl_norm3(step.base_rate.linear), 2.0) +
                      pow(rod_length(rod) * tdl_norm3(step.base_rate.angular), 2.0);
        worst = fmax(worst, imbalance(rod, &step, v, touch, rod_mass(rod) * base, &losses));
        most = fmax(most, fabs(losses.hold));
        destroy(rod);
    }
    printf("  the balance closes to %.1e; holds do up to %.1e J\n", worst, most);
    CHECK_BELOW(worst, 1.0e-12);
    CHECK(most > 0.0);
}

static const char* const NODAL[3] = {"der", "mass-spring", "corde"};

// Nodal rods, held in every way, at rest in some shape and then thrown.
static void check_nodal_balance(void) {
    Rng rng = rng_seed(105);
    double worst = 0.0;
    int made = 0, gained = 0;
    for (int k = 0; k < 900; ++k) {
        Rod* rod = random_rod(&rng, NODAL[k % 3], STARTS[k / 3 % 3], STARTS[k / 9 % 3]);
        for (int i = 0; i < rod->dof_count; ++i) {
            rod->v[i] = 0.5 * rng_normal(&rng);
        }
        RodStep step = random_step(&rng, rod);
        step.dt = fmin(step.dt, 1.0e-2);
        step.end_end = rod->end.now;
        if (k % 2 == 0) {
            step.base_rate = (Twist){random_vector(&rng, 0.1), random_vector(&rng, 0.3)};
            step.base_end.position =
                tdl_axpy3(step.base_end.position, step.dt, step.base_rate.linear);
            TdlVec3 turn = tdl_scale3(step.dt, step.base_rate.angular);
            step.base_end.rotation = tdl_mul33(tdl_rotation_exp(turn), step.base_end.rotation);
        }
        if (rod->model->predict(rod, &step)) {
            double v[NODAL_DOF], touch = touch_rod(&rng, rod, v);
            RodLosses losses;
            worst = fmax(worst, imbalance(rod, &step, v, touch, 0.0, &losses));
            CHECK(losses.damping >= 0.0);
            gained += losses.numerical < 0.0;
            ++made;
        }
        destroy(rod);
    }
    printf("  %d steps, the balance closes to %.1e; %d steps gained\n", made, worst, gained);
    CHECK(made > 800);
    CHECK_BELOW(worst, 1.0e-12);
}

TEST(the_balance_of_nodal_rods_closes) {
    check_nodal_balance();
}

TEST(the_balance_of_nodal_rods_of_varying_sections_closes) {
    varying = true;
    check_nodal_balance();
    varying = false;
}

// Velocity of the point (element, s) of a rod with the velocities v and a held start that moves.
static TdlVec3 velocity_at(const Rod* rod, int element, double s, const double* v, Twist base) {
    double rows[3 * MAX_DOF], u[3] = {0};
    whole_rows(rod, element, s, tdl_identity33(), rows);
    for (int r = 0; r < 3; ++r) {
        for (int i = 0; i < rod->dof_count; ++i) {
            u[r] += rows[r * rod->dof_count + i] * v[i];
        }
    }
    TdlVec3 arm = tdl_sub3(rod->model->point(rod, element, s), rod->base.now.position);
    TdlVec3 carried = tdl_add3(base.linear, tdl_cross3(base.angular, arm));
    return tdl_add3(tdl_load3(u, 0), carried);
}

// The same velocities belong to every point in both shapes: what the step loses is their distance.
TEST(losses_are_those_of_the_points) {
    Rng rng = rng_seed(101);
    double worst[3] = {0};
    for (int k = 0; k < 90; ++k) {
        Rod* rod = random_rod(&rng, MODELS[k % 3], TDL_HOLD_CLAMPED, TDL_HOLD_FREE);
        rod->gyration = 0.0;
        rod->load_count = 0;
        randomise(&rng, rod, true);
        RodStep step = random_step(&rng, rod);
        step.base_rate = (Twist){random_vector(&rng, 0.3), random_vector(&rng, 2.0)};
        // so short that its weight makes no rod taut (H.33): that share is not one of its points
        double pull = tdl_norm3(rod_pull(rod, &step)) * rod->element_count;
        step.dt = fmin(step.dt, sqrt(0.29 * rod->element_length / (pull + 1.0e-9)));
        REQUIRE(rod->model->predict(rod, &step));
        RodLosses losses = rod->model->losses(rod, &step, rod->v_free, 0.0);

        int n = rod->dof_count, panels = 4;
        double v[MAX_DOF], v_before[MAX_DOF], m = rod->line_density * rod->element_length;
        Twist base_before = rod->base.rate;
        memcpy(v, rod->v_free, (size_t)n * sizeof *v);
        memcpy(v_before, rod->v, (size_t)n * sizeof *v);
        static TdlVec3 u[MAX_N * 4 * GAUSS12_COUNT];
        double square = 0.0, lost = 0.0, work = 0.0;
        for (int shape = 0; shape < 2; ++shape) {
            int at = 0;
            for (int e = 0; e < rod->element_count; ++e) {
                for (int p = 0; p < panels * GAUSS12_COUNT; ++p, ++at) {
                    double s = (p / GAUSS12_COUNT + GAUSS12_POINT[p % GAUSS12_COUNT]) / panels;
                    double w = m * GAUSS12_WEIGHT[p % GAUSS12_COUNT] / panels;
                    if (shape == 0) {
                        u[at] = velocity_at(rod, e, s, v, step.base_rate);
                        square += w * tdl_dot3(u[at], u[at]);
                        work += w * step.dt * tdl_dot3(rod_pull(rod, &step), u[at]);
                    } else {
                        TdlVec3 off =
                            tdl_sub3(u[at], velocity_at(rod, e, s, v_before, base_before));
                        lost += 0.5 * w * tdl_dot3(off, off);
                    }
                }
            }
            memcpy(rod->q, rod->q_before, (size_t)n * sizeof *v);
            rod->base.now = rod->base.before;
            rod->model->refresh(rod);
        }
        // v'Kv is twice the elastic energy of a rod bent by v
        for (int i = 0; i < n; ++i) {
            rod->q[i] = rod->q_rest[i] + v[i];
        }
        rod->model->refresh(rod);
        double bending = 2.0 * rod->model->energy(rod, (TdlVec3){0}).elastic, dt = step.dt;
        double slowed = dt * (rod->mass_damping + rod->drag / rod->line_density);
        double damping = slowed * square + dt * rod->damping * bending;
        double numerical = lost + 0.5 * dt * dt * bending;
        worst[0] = fmax(worst[0], fabs(losses.damping / damping - 1.0));
        worst[1] = fmax(worst[1], fabs(losses.numerical - numerical) / (numerical + square));
        worst[2] = fmax(worst[2], fabs(losses.work - work) / (fabs(work) + square));
        destroy(rod);
    }
    printf("  off by %.1e (damping), %.1e (numerical), %.1e (work)\n", worst[0], worst[1],
           worst[2]);
    CHECK_BELOW(worst[0], 1.0e-11);
    CHECK_BELOW(worst[1], 1.0e-11);
    CHECK_BELOW(worst[2], 1.0e-11);
}

static double motion_and_bending(Rod* const* rods, int count) {
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        TdlEnergy e = rods[i]->model->energy(rods[i], (TdlVec3){0});
        sum += e.kinetic + e.elastic;
    }
    return sum;
}

TEST(a_tree_answers_for_its_branches) {
    Rng rng = rng_seed(102);
    TdlHost host = tdl_host_default();
    for (int k = 0; k < 30; ++k) {
        Rod* rods[4];
        for (int i = 0; i < 4; ++i) {
            rods[i] = random_rod(&rng, "super-helix", i > 0 ? TDL_HOLD_CLAMPED : STARTS[k % 3],
                                 TDL_HOLD_FREE);
            REQUIRE(i == 0 || rod_attach(&host, rods[i], rods[(i - 1) / 2],
                                         rng_range(&rng, 0.1, 1.0)) == TDL_STATUS_OK);
        }
        RodStep step = random_step(&rng, rods[0]);
        step.dt = 1.0e-3;
        for (int t = 0; t < 20; ++t) {
            step.base_end = rods[0]->base.now;
            double before = motion_and_bending(rods, 4);
            REQUIRE(rods[0]->model->predict(rods[0], &step));
            RodLosses losses = rods[0]->model->losses(rods[0], &step, rods[0]->v_free, 0.0);
            rods[0]->model->advance(rods[0], &step, rods[0]->v_free);
            double balance = losses.work - losses.damping - losses.numerical;
            double size = before + fabs(losses.work) + losses.damping + losses.numerical;
            CHECK_NEAR(motion_and_bending(rods, 4) - before, balance, 1.0e-11 * size);
        }
        for (int i = 0; i < 4; ++i) {
            destroy(rods[i]);
        }
    }
}

TEST(losses_do_not_depend_on_company) {
    Rng rng = rng_seed(103);
    TdlHost host = tdl_host_default();
    Rod *mates[3], *alone[3];
    for (int i = 0; i < 3; ++i) {
        Rng same = rng_seed(200); // as many elements
        mates[i] = random_rod(&same, "super-helix", TDL_HOLD_FREE, TDL_HOLD_FREE);
        same = rng_seed(200);
        alone[i] = random_rod(&same, "super-helix", TDL_HOLD_FREE, TDL_HOLD_FREE);
        CHECK(i == 0 || rod_join(&host, mates[i], mates[0]));
        randomise(&rng, alone[i], false);
        char bytes[3 * MAX_DOF * sizeof(double) + 2 * sizeof(RodBase) + sizeof(RodHeld)];
        rod_save_state(alone[i], bytes);
        rod_load_state(mates[i], bytes);
    }
    for (int i = 0; i < 3; ++i) {
        RodStep step = random_step(&rng, alone[i]);
        RodLosses a = alone[i]->model->losses(alone[i], &step, alone[i]->v, 0.0);
        RodLosses b = mates[i]->model->losses(mates[i], &step, alone[i]->v, 0.0);
        CHECK(memcmp(&a, &b, sizeof a) == 0);
    }
    for (int i = 0; i < 3; ++i) {
        destroy(mates[i]);
        destroy(alone[i]);
    }
}
