// A rope held at both ends, straight, taut or slack: at rest it hangs as the boundary value problem
// says, whatever the model, the time step and the stiffness, and never gains energy on the way.
#include "look.h"
#include "ref/rope_ref.h"
#include "tendril/world.h"
#include "test.h"

static const double PI = 3.14159265358979323846;
static const double LENGTH = 0.6, RADIUS = 3.0e-3, DENSITY = 1100.0, GRAVITY = 9.81, POISSON = 0.48;

static const char* const MODELS[] = {"super-helix", "super-helix-dense", "super-clothoid",
                                     "der",         "mass-spring",       "corde"};
enum { HELIX, DENSE, CLOTHOID, DER, CHAIN, CORDE, MODEL_COUNT };

// Divisors of ROPE_SAMPLES: the same points are looked at in the reference. At 1e5 Pa bending next
// to a clamp dies out in 6 mm; of the sag chains of 64 leave 0.5 %, of 128 0.1 %.
enum { MOST_ELEMENTS = 128 };
static const int ELEMENTS[MODEL_COUNT] = {64, 64, 64, 128, 128, 128};

typedef struct Case {
    int model;
    double step, young, slack;
    bool clamped;
    bool settled; // by statics; else it comes to rest by itself
} Case;

// The first shape turns by -a sin(2 pi s / L), so its ends are level and look along x; its span is
// J0(a) L when elements are many. Which span it is the world tells.
static double first_amplitude(double slack) {
    double low = 0.0, high = 2.4;
    if (slack < 1.0e-3) {
        return 2.0 * sqrt(slack * (1.0 + 0.25 * slack)); // J0 = 1 - a^2/4 + a^4/64
    }
    for (int k = 0; k < 100; ++k) {
        double middle = 0.5 * (low + high);
        *(j0(middle) > 1.0 - slack ? &low : &high) = middle;
    }
    return low;
}

static TdlWorld* create(const Case* c, TdlBodyId* rod) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    TdlRodDef rope = tdl_rod_def_default();
    TdlVec3 curvature[MOST_ELEMENTS] = {{0}};
    TdlWorld* world = NULL;
    int count = ELEMENTS[c->model];
    def.step = c->step;
    def.contacts.off = true;
    double a = first_amplitude(c->slack), turned = 0.0;
    for (int i = 0; i < count; ++i) { // about y, which takes z to x
        double end = a * sin(2.0 * PI * (i + 1) / count);
        curvature[i].y = (end - turned) * count / LENGTH;
        turned = end;
    }
    rope.model = MODELS[c->model];
    rope.length = LENGTH;
    rope.radius[0] = rope.radius[1] = RADIUS;
    rope.young = c->young;
    rope.poisson = POISSON;
    rope.density = DENSITY;
    rope.damping = 0.02;
    rope.mass_damping = 10.0;
    rope.element_count = count;
    rope.curvature_of = curvature;
    rope.start = rope.end = c->clamped ? TDL_HOLD_CLAMPED : TDL_HOLD_PINNED;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK ||
        tdl_world_add_rod(world, &rope, rod) != TDL_STATUS_OK) {
        FAIL("%s refused", MODELS[c->model]);
    }
    return world;
}

// What is seen of a rope.
typedef struct Look {
    int count;
    TdlVec3 point[ROPE_SAMPLES + 1]; // at even arc lengths, of a chain its vertices
    double sag, aside;               // m, of the middle: down, and out of its plane
} Look;

static Look look_at(const TdlWorld* world, TdlBodyId rod) {
    int elements = look_rod_info(world, rod).element_count;
    Look look = {.count = elements == MOST_ELEMENTS ? elements : ROPE_SAMPLES};
    look_rod_points(world, rod, look.count / elements, look.point);
    TdlVec3 middle = look.point[look.count / 2];
    look.sag = 0.5 * (look.point[0].z + look.point[look.count].z) - middle.z;
    look.aside = middle.y;
    return look;
}

static Look look_at_answer(const RopeAnswer* answer, int count) {
    Look look = {.count = count, .sag = answer->sag};
    for (int i = 0; i <= count; ++i) {
        int k = i * ROPE_SAMPLES / count;
        look.point[i] = (TdlVec3){answer->x[k], 0.0, answer->z[k]};
    }
    return look;
}

static double turn_at(const Look* look, int i) {
    TdlVec3 a = tdl_sub3(look->point[i], look->point[i - 1]);
    TdlVec3 b = tdl_sub3(look->point[i + 1], look->point[i]);
    return atan2(a.x * b.z - a.z * b.x, a.x * b.x + a.z * b.z);
}

// The horizontal force by the balance of moments from the middle, which carries no vertical force,
// to a place near the end: taut-rods.md (E.5). `scale` receives the sum of its terms without signs,
// over the same height: what it is worth.
static double balanced_force(const Look* look, const RopeProblem* p, double* scale) {
    int m = look->count / 2, q = m + 3 * look->count / 8;
    double l = p->length / look->count, height = look->point[q].z - look->point[m].z, weight = 0.0;
    for (int i = m; i < q; ++i) {
        weight += p->weight * (i + 0.5 - m) * l * (look->point[i + 1].x - look->point[i].x);
    }
    double at_m = p->bending * turn_at(look, m) / l, at_q = p->bending * turn_at(look, q) / l;
    *scale = (fabs(at_m) + fabs(at_q) + fabs(weight)) / fabs(height);
    return (at_q - at_m + weight) / height;
}

// Chains tell it by the stretch of the two edges next to the middle.
static double stretched_force(const Look* look, const RopeProblem* p) {
    int m = look->count / 2;
    double l = p->length / look->count;
    return 0.5 * p->stretch *
           (tdl_norm3(tdl_sub3(look->point[m], look->point[m - 1])) / l +
            tdl_norm3(tdl_sub3(look->point[m + 1], look->point[m])) / l - 2.0);
}

// Energy that rose by so many of what rounding makes: the run is lost, and its steps take long.
static const double TOO_MUCH = 1.0e6;

// The energy that rounding of places may make, of a step: eps EA L, and of what there is.
static double rounding(const RopeProblem* p, TdlEnergy e) {
    return 4.0e-16 * p->stretch * p->length +
           1.0e-12 * (e.kinetic + e.elastic + fabs(e.gravity) + p->weight * p->length * p->length);
}

// Steps until its speed would take it no further than 1e-4 of the sag in a second, 8 s at most.
// Returns how much energy ever rose above its least, in units of `rounding`.
static double come_to_rest(TdlWorld* world, TdlBodyId rod, const RopeProblem* p, double sag,
                           int least_steps, double* seconds) {
    TdlEnergy e = tdl_world_energy(world);
    double dt = tdl_world_def(world).step, mass = look_rod_info(world, rod).mass;
    double least = e.kinetic + e.elastic + e.gravity, rise = 0.0;
    int steps = (int)(8.0 / dt);
    for (int i = 0; i < steps; ++i) {
        TdlStepInfo info;
        if (tdl_world_step(world, &info) != TDL_STATUS_OK) {
            FAIL("step %d failed", i);
            break;
        }
        e = info.energy;
        double energy = e.kinetic + e.elastic + e.gravity;
        rise = energy - least <= rise * rounding(p, e) ? rise : (energy - least) / rounding(p, e);
        least = fmin(least, energy);
        *seconds = (i + 1) * dt;
        if (!isfinite(energy) || rise > TOO_MUCH ||
            (i >= least_steps && sqrt(2.0 * e.kinetic / mass) < 1.0e-4 * sag)) {
            break;
        }
    }
    return rise;
}

static RopeProblem problem_of(const Case* c, double span) {
    RopeProblem p = rope_of_rod(LENGTH, RADIUS, c->young, DENSITY, GRAVITY, span, c->clamped);
    if (c->model == CORDE) { // whose edges shear
        p.shear = p.stretch / (2.0 * (1.0 + POISSON));
    }
    return p;
}

// Tension within 0.5 % of the end's reaction, where something tells it.
static double check_tension(const Case* c, const Look* look, const Look* exact,
                            const RopeProblem* p, const RopeAnswer* answer, double* force) {
    double reaction = hypot(answer->force[1][0], answer->force[1][1]), scale;
    if (c->model >= DER) {
        *force = stretched_force(look, p);
    } else {
        double ruler = balanced_force(exact, p, &scale);
        *force = balanced_force(look, p, &scale);
        // where a thousandth of a term is a hundredth of the reaction, the shape does not tell
        if (1.0e-3 * scale > 5.0e-3 * reaction ||
            fabs(ruler - answer->horizontal) > 1.0e-3 * reaction) {
            *force = NAN;
            return 0.0;
        }
        *force -= ruler - answer->horizontal;
    }
    return fabs(*force - answer->horizontal) / reaction;
}

static bool check_case(const Case* c) {
    int failures = test_failures;
    TdlBodyId rod = {0};
    TdlWorld* world = create(c, &rod);
    Look look = look_at(world, rod), exact;
    TdlVec3 start = look.point[0], end = look.point[look.count];
    RopeProblem p = problem_of(c, end.x - start.x);
    static RopeAnswer answer;
    double residual = 0.0, force = 0.0, seconds = 0.0, rise;
    CHECK(rope_solve(&p, 1.0e-8, &answer));
    exact = look_at_answer(&answer, look.count);
    if (c->settled) {
        CHECK(tdl_world_settle(world, &residual) == TDL_STATUS_OK);
        look = look_at(world, rod);
        rise = come_to_rest(world, rod, &p, INFINITY, 20, &seconds); // it stays there
    } else {
        rise = come_to_rest(world, rod, &p, answer.sag, 10, &seconds);
        look = look_at(world, rod);
    }
    Look last = look_at(world, rod);
    double off = fabs(look.sag / answer.sag - 1.0), stays = fabs(last.sag / answer.sag - 1.0);
    double pull = check_tension(c, &look, &exact, &p, &answer, &force);
    double closure = tdl_norm3(tdl_sub3(look.point[look.count], end)) / LENGTH;
    printf("  %-17s %5.1f ms E %.0e slack %.0e %s %s: sag %.6e of %.6e m, off %.3f %%; tension "
           "%.5e of %.5e N, off %.3f %%; rise %.1e, closure %.1e, aside %.1e, %.2f s\n",
           MODELS[c->model], 1.0e3 * c->step, c->young, c->slack,
           c->clamped ? "clamped" : "pinned ", c->settled ? "settled" : "at rest", look.sag,
           answer.sag, 100.0 * fmax(off, stays), force, answer.horizontal, 100.0 * pull, rise,
           closure, look.aside, seconds);
    CHECK_BELOW(off, 5.0e-3);
    CHECK_BELOW(stays, 5.0e-3);
    CHECK_BELOW(pull, 5.0e-3);
    CHECK_BELOW(rise, 1.0);
    CHECK_BELOW(closure, 1.0e-9);
    tdl_world_destroy(world);
    return test_failures == failures;
}

// A chain has no twist to keep a stiff loop between clamps in its plane: it falls aside, to less
// energy (sag 0.195 m where the plane's is 0.224). That is its statics, not the plane's.
static bool falls_aside(const Case* c) {
    return c->model == CHAIN && c->clamped && c->young > 1.0e8 && c->slack > 0.4;
}

static void check_cases(const Case* cases, int count) {
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
        wrong += falls_aside(&cases[i]) || check_case(&cases[i]) ? 0 : 1;
    }
    printf("  %d of %d cases are wrong\n", wrong, count);
}

static bool all_wanted(void) {
    return getenv("TENDRIL_LONG") != NULL;
}

// All of them with TENDRIL_LONG=1 in the environment.
TEST(a_held_rope_settles_to_the_boundary_value_problem) {
    const double young[] = {1.0e5, 5.0e5, 1.0e7, 1.0e9, 1.0e11};
    const double slack[] = {0.0, 1.0e-6, 1.0e-3, 0.1, 0.5};
    Case cases[MODEL_COUNT * 5 * 5 * 2];
    int count = 0;
    for (int k = 0; k < MODEL_COUNT * 5 * 5 * 2; ++k) {
        int model = k % MODEL_COUNT, i = k / MODEL_COUNT % 5, j = k / (5 * MODEL_COUNT) % 5;
        bool clamped = k < MODEL_COUNT * 5 * 5;
        bool spins = model == 3 && i == 4 && j == 2 && !clamped; // at no cost: der, between pins
        bool chosen = (i + j + model) % 5 == (clamped ? 0 : 2) && k % REPEATS(1, 7) == 0;
        if (all_wanted() || spins || chosen) {
            cases[count++] = (Case){model, 1.0e-3, young[i], slack[j], clamped, true};
        }
    }
    check_cases(cases, count);
}

// Steps, stiffness and slack of all sizes, each with every model.
TEST(a_held_rope_comes_to_rest_at_the_boundary_value_problem) {
    const Case of_all[] = {
        {0, 2.0e-3, 5.0e5, 0.0, true, false},     {0, 1.0e-2, 1.0e5, 0.5, true, false},
        {0, 1.0e-2, 1.0e11, 0.0, true, false},    {0, 4.0e-3, 1.0e7, 1.0e-6, true, false},
        {0, 2.0e-3, 1.0e9, 1.0e-3, false, false}, {0, 1.0e-2, 1.0e5, 0.0, false, false},
        {0, 1.0e-4, 1.0e9, 0.0, false, false},
    };
    enum { COUNT = sizeof of_all / sizeof of_all[0] };
    Case cases[COUNT * MODEL_COUNT];
    int count = 0;
    for (int k = 0; k < COUNT * MODEL_COUNT; k += REPEATS(1, 5)) { // 5: each model, most cases
        cases[count] = of_all[k / MODEL_COUNT];
        cases[count++].model = k % MODEL_COUNT;
    }
    check_cases(cases, count);
}

// Every step with every stiffness and slack; with TENDRIL_LONG=1 in the environment.
TEST(a_held_rope_comes_to_rest_whatever_the_step) {
    const double step[] = {1.0e-4, 1.0e-3, 1.0e-2};
    const double young[] = {1.0e5, 1.0e7, 1.0e9, 1.0e11};
    const double slack[] = {0.0, 1.0e-6, 1.0e-3, 0.1, 0.5};
    if (!all_wanted()) {
        SKIP("360 cases take long: TENDRIL_LONG=1");
    }
    Case cases[3 * 4 * 5 * MODEL_COUNT];
    int count = 3 * 4 * 5 * MODEL_COUNT;
    for (int k = 0; k < count; ++k) {
        int rest = k / MODEL_COUNT;
        cases[k] = (Case){k % MODEL_COUNT,      step[rest % 3],    young[rest / 3 % 4],
                          slack[rest / 12 % 5], rest / 3 % 2 == 0, false};
    }
    check_cases(cases, count);
}
