// Sweeps and full Newton steps in turn, for many contacts. friction.md section 4.9
//
// Sweeps find quickly which contacts carry, stick and slide, and then creep; a Newton step for
// given modes goes all the way, and far astray where a mode is wrong. Unknowns are two for a
// contact that slides (how hard, and where to), three for one that sticks, none for one that
// carries nothing. Steps are taken on W + eps D, b - eps D r: sticking contacts are regular
// whatever W is.
#include "friction/patches.h"
#include "linalg/front_lu.h"

#include <string.h>

// eps in units of a contact's own stiffness: with less digits are lost.
static const double EPS = 1.0e-11;
// Accelerated sweeps before the first step, twice as many each time that a step was in vain, and no
// more than that; and after a step. Fewer leave too many modes wrong, more are linear: 20 to 50 and
// 10 to 20 take the same time on problems of 9000 contacts within a tenth.
enum { SWEEPS_FIRST = 30, SWEEPS_AFTER = 20, SWEEPS_MOST = 300 };
// A step was not in vain when it, with the sweeps after it, leaves less than this part of the
// error.
static const double GAIN = 0.3;
// A multiplication of a factorisation takes this part of the time of one of a sweep: steps are made
// where they cost less than sweeps to the end would at the pace of the last ones, or at this pace
// where that is faster: it does not last. Proximal steps come so many at a time.
static const double CHEAPER = 0.2, SWEEPS_PER_DECADE = 60.0;
enum { FULL_STEPS = 8 };

// A step that leads to more than so many times the error went astray everywhere: W is nearly
// singular for its modes, neither patches nor sweeps bring it back, and the next one goes there
// too. Spaghetti in heaps have 5e6 to 2e10, combed hair 110 and once 3400 at most. (F.82)
static const double ASTRAY = 1.0e5;
// After a step patches are solved until no more than this part of the error before it is left.
static const double PATCHED_PART = 0.1;
// A contact that slides, its impulse less rho u outside its cone by less than this factor, may
// stick in the next step: all that ever did were nearer; a tenth of those that slide.
static const double NEAR_STICKING = 1.2;

typedef struct Strides {
    Run* run;         // of the caller
    System sys;       // the regularised problem
    int* diagonal;    // [n] where the diagonal blocks are, -1: there is none
    double* weight;   // [n] D
    double* rho;      // [2 n] steps of the maps, normal and tangential
    Reduced* reduced; // [n] what is factored, as large as the order has room for
    int *size, *room; // [n] unknowns of the modes at hand, and of the order: no fewer
    FrontLu lu;
    bool ordered;     // lu has an order
    ArenaMark order;  // where its memory begins
    double *r, *u;    // [3 n] iterate and its velocity in the regularised problem
    double *base, *x; // [3 n] where a step starts, with the modes as they were taken; the step
    double *trial, *trial_u;
} Strides;

static TdlStatus strides_init(Strides* t, Run* run) {
    System* sys = run->sys;
    size_t n = (size_t)sys->n, blocks = (size_t)sys->block_count * 9 + 4;
    *t = (Strides){.run = run, .sys = *sys};
    t->sys.sweep_bodies = false;
    t->diagonal = ARENA_NEW(run->arena, int, n);
    t->reduced = ARENA_NEW(run->arena, Reduced, n);
    t->size = ARENA_NEW(run->arena, int, n);
    t->room = ARENA_NEW(run->arena, int, n);
    t->weight = ARENA_NEW(run->arena, double, n);
    t->rho = ARENA_NEW(run->arena, double, 2 * n);
    t->sys.diag = ARENA_NEW(run->arena, double, 9 * n);
    t->sys.blocks = ARENA_NEW(run->arena, double, blocks);
    double** vectors[] = {&t->sys.b, &t->r, &t->u, &t->base, &t->x, &t->trial, &t->trial_u};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; ++k) {
        *vectors[k] = ARENA_NEW(run->arena, double, 3 * n);
        if (*vectors[k] == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
    }
    if (!t->diagonal || !t->reduced || !t->size || !t->room || !t->weight || !t->rho ||
        !t->sys.diag || !t->sys.blocks) {
        return TDL_STATUS_NO_MEMORY;
    }
    t->order = arena_mark(run->arena);
    memcpy(t->sys.blocks, sys->blocks, blocks * sizeof(double));
    for (int i = 0; i < sys->n; ++i) {
        const double* w = sys->diag + (size_t)i * 9;
        double tangent = 0.5 * (w[4] + w[8]);
        double least = 1.0e-12 * (fabs(w[0]) + fabs(tangent)) + 1.0e-300;
        t->rho[2 * i] = 1.0 / fmax(w[0], least);
        t->rho[2 * i + 1] = 1.0 / fmax(tangent, least);
        t->weight[i] = (w[0] + w[4] + w[8]) / 3.0;
        t->diagonal[i] = -1;
        for (int e = sys->start[i]; e < sys->start[i + 1]; ++e) {
            t->diagonal[i] = sys->column[e] == i ? e : t->diagonal[i];
        }
    }
    return TDL_STATUS_OK;
}

// The regularised problem around the present r.
static void set_centre(Strides* t) {
    const System* sys = t->run->sys;
    for (int i = 0; i < sys->n; ++i) {
        double *w = t->sys.diag + (size_t)i * 9, add = EPS * t->weight[i];
        memcpy(w, sys->diag + (size_t)i * 9, 9 * sizeof(double));
        for (int k = 0; k < 3; ++k) {
            w[4 * k] += add;
            t->sys.b[3 * i + k] = sys->b[3 * i + k] - add * t->r[3 * i + k];
        }
        if (t->diagonal[i] >= 0) {
            memcpy(t->sys.blocks + (size_t)t->diagonal[i] * 9, w, 9 * sizeof(double));
        }
    }
    system_velocity(&t->sys, t->r, t->u);
}

// --- a step --------------------------------------------------------------------------------------

static void set_column(double* matrix, int column, double x, double y, double z) {
    matrix[3 * column] = x;
    matrix[3 * column + 1] = y;
    matrix[3 * column + 2] = z;
}

// The mode of a contact at (u, r), its part in the matrix, and the impulse a step starts from:
// none, free, or on the cone. (F.24)
static void take_mode(const Strides* t, int i, const double* u, const double* r, Reduced* a,
                      double* base) {
    ContactLaw law = t->sys.law[i];
    double mu = t->sys.mu[i], yn = r[0] - t->rho[2 * i] * u[0];
    bool pressed = law == LAW_BILATERAL || yn > 0.0;
    memset(a, 0, sizeof *a);
    base[0] = pressed ? r[0] : 0.0;
    base[1] = base[2] = 0.0;
    if (pressed) {
        set_column(a->trial, 0, 1.0, 0.0, 0.0);
        set_column(a->test, 0, 1.0, 0.0, 0.0);
        a->size = 1;
    }
    double y1 = r[1] - t->rho[2 * i + 1] * u[1], y2 = r[2] - t->rho[2 * i + 1] * u[2];
    double norm = hypot(y1, y2);
    bool cone = law == LAW_CONE && pressed;
    if (law == LAW_ROUGH || law == LAW_BILATERAL || (cone && norm <= mu * yn)) {
        for (int k = 0; k < 2; ++k) {
            set_column(a->trial, a->size, 0.0, k == 0, k == 1);
            set_column(a->test, a->size, 0.0, k == 0, k == 1);
            ++a->size;
        }
        base[1] = r[1];
        base[2] = r[2];
        return;
    }
    if (cone) {
        // slides along -e; the second unknown turns e
        double e1 = y1 / norm, e2 = y2 / norm;
        base[0] = fmax(r[0], 0.0);
        base[1] = mu * base[0] * e1;
        base[2] = mu * base[0] * e2;
        set_column(a->trial, 0, 1.0, mu * e1, mu * e2);
        set_column(a->trial, 1, 0.0, -e2, e1);
        set_column(a->test, 1, 0.0, -e2, e1);
        a->add[4] = fmax(-(u[1] * e1 + u[2] * e2), 0.0) / (mu * yn);
        a->size = 2;
    }
}

// Unknowns that an order has room for: those of the mode, and of one that may soon follow.
static int room_for(const Strides* t, int i) {
    const double *u = t->u + 3 * i, *r = t->r + 3 * i, *rho = t->rho + 2 * i;
    if (t->sys.law[i] != LAW_CONE || t->size[i] == 3) {
        return t->size[i];
    }
    double sliding = hypot(r[1] - rho[1] * u[1], r[2] - rho[1] * u[2]);
    double holding = t->sys.mu[i] * (r[0] - rho[0] * u[0]);
    return t->size[i] == 0 || sliding <= NEAR_STICKING * holding ? 3 : t->size[i];
}

// The modes of (u, r). False: the order at hand, if any, has no room for them.
static bool take_modes(Strides* t) {
    bool fit = t->ordered;
    for (int i = 0; i < t->sys.n; ++i) {
        take_mode(t, i, t->u + 3 * i, t->r + 3 * i, &t->reduced[i], t->base + 3 * i);
        t->size[i] = t->reduced[i].size;
        fit = fit && t->size[i] <= t->room[i];
    }
    return fit;
}

// Room that is not needed has unknowns that are zero. (F.81)
static void fill_room(Strides* t) {
    for (int i = 0; i < t->sys.n; ++i) {
        Reduced* a = &t->reduced[i];
        for (; a->size < t->room[i]; ++a->size) {
            a->add[4 * a->size] = 1.0;
        }
    }
}

// An order for the modes at hand. TDL_STATUS_STOPPED: the factors would be too large.
static TdlStatus find_order(Strides* t) {
    t->ordered = false;
    arena_release(t->run->arena, t->order);
    for (int i = 0; i < t->sys.n; ++i) {
        t->room[i] = room_for(t, i);
    }
    fill_room(t);
    BlockPattern pattern = system_pattern(&t->sys);
    TdlStatus status = front_lu_analyse(&t->lu, t->run->arena, &pattern, t->reduced);
    t->ordered = status == TDL_STATUS_OK;
    return status;
}

// x <- the step from base. TDL_STATUS_STOPPED: asked to.
static TdlStatus solve_step(Strides* t) {
    System* sys = &t->sys;
    FrontLu* lu = &t->lu;
    lu->stop = run_stop(t->run);
    run_spend(t->run, lu->flops);
    if (!front_lu_factor(lu, sys->blocks, sys->pool)) {
        return TDL_STATUS_STOPPED;
    }
    system_velocity(sys, t->base, t->trial_u);
    for (int i = 0; i < sys->n; ++i) {
        for (int k = 0; k < t->reduced[i].size; ++k) {
            const double *s = t->reduced[i].test + 3 * k, *u = t->trial_u + 3 * i;
            t->x[3 * i + k] = -(s[0] * u[0] + s[1] * u[1] + s[2] * u[2]);
        }
    }
    front_lu_solve(lu, t->x);
    return TDL_STATUS_OK;
}

// The same with the modes of (u, r), in the order of the step before where it has room for them:
// few change. TDL_STATUS_STOPPED: the factors would be too large, or not worth it.
static TdlStatus find_step(Strides* t) {
    if (take_modes(t)) {
        fill_room(t);
    } else {
        TdlStatus status = find_order(t);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    bool dear = t->lu.flops > t->run->worth || run_spent(t->run, t->lu.flops);
    return dear ? TDL_STATUS_STOPPED : solve_step(t);
}

// out <- base + x; what slides stays on the cone as long as it is pressed.
static void go(const Strides* t, double* out) {
    const System* sys = &t->sys;
    for (int i = 0; i < sys->n; ++i) {
        const Reduced* a = &t->reduced[i];
        double* r = out + 3 * i;
        memcpy(r, t->base + 3 * i, 3 * sizeof *r);
        for (int k = 0; k < t->size[i]; ++k) {
            double x = t->x[3 * i + k];
            for (int c = 0; c < 3; ++c) {
                r[c] += isfinite(x) ? x * a->trial[3 * k + c] : 0.0;
            }
        }
        if (t->size[i] == 2 && sys->law[i] == LAW_CONE && r[0] > 0.0) {
            double norm = hypot(r[1], r[2]), s = norm > 0.0 ? sys->mu[i] * r[0] / norm : 0.0;
            r[1] *= s;
            r[2] *= s;
        }
    }
}

// out <- r, every contact put back into its set
static void put_back(const Strides* t, const double* r, double* out) {
    for (int i = 0; i < t->sys.n; ++i) {
        double p[3];
        law_project(3, t->sys.law[i], t->sys.mu[i], r + 3 * i, p);
        memcpy(out + 3 * i, p, sizeof p);
    }
}

// --- steps and sweeps in turn --------------------------------------------------------------------

// W is formed for the steps only, and stays.
static TdlStatus begin_strides(Strides* t, Run* run, ArenaMark* mark) {
    TdlStatus status = system_form_rows(run->sys, run->arena);
    *mark = arena_mark(run->arena);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return strides_init(t, run);
}

double run_worth(const Run* run, double sweeps) {
    return sweeps * run_sweep_work(run) / (CHEAPER * FULL_STEPS);
}

double run_sweeps_left(const Run* run, double before, int sweeps) {
    double fall = log(before / run->error), pace = SWEEPS_PER_DECADE / M_LN10;
    double end = run->end > 0.0 ? run->end : run->sys->target;
    return fall > 0.0 ? log(run->error / end) * fmax(sweeps / fall, pace) : INFINITY;
}

static TdlStatus sweep_on(Run* run, int sweeps) {
    int limit = run->limit;
    run->limit = sweeps;
    TdlStatus status = run_anderson(run);
    run->limit = limit;
    return status;
}

// A full step from the best iterate; patches where it led astray; and sweeps from there, which need
// not be better until they have put right what is left. TDL_STATUS_STOPPED: no step, or one that is
// of no use; `astray` tells.
static TdlStatus step_and_sweep(Strides* t, bool* astray) {
    Run* run = t->run;
    size_t size = run_size(run) * sizeof(double);
    memcpy(t->r, run->best, size);
    set_centre(t);
    TdlStatus status = find_step(t);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    double before = run->error;
    go(t, t->trial);
    put_back(t, t->trial, t->trial);
    system_velocity(run->sys, t->trial, t->trial_u);
    *astray = !(run_offer(run, t->trial_u, t->trial) <= ASTRAY * before); // not a number: so too
    if (*astray) {
        run_count(run, TDL_FRICTION_ALTERNATING, t->trial);
        return TDL_STATUS_STOPPED;
    }
    // a step's worth: where contacts outnumber coordinates W is full, and patches are dearer than
    // it
    status = patches_solve(run, PATCHED_PART * before, t->lu.flops, t->trial_u, t->trial);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    system_velocity(run->sys, t->trial, t->trial_u);
    Run after = *run;
    after.best = t->trial;
    after.error = run_offer(run, t->trial_u, t->trial);
    run_count(&after, TDL_FRICTION_ALTERNATING, t->trial);
    status = sweep_on(&after, SWEEPS_AFTER);
    run->iterations = after.iterations;
    run->failsafe = after.failsafe;
    run->unsolvable = after.unsolvable;
    if (after.error < run->error) {
        memcpy(run->best, t->trial, size);
        run->error = after.error;
    }
    return status;
}

// Accelerated sweeps and full steps from the best iterate, until neither helps.
TdlStatus run_strides(Run* run) {
    ArenaMark mark;
    Strides t = {0}; // until the first step
    TdlStatus status = TDL_STATUS_OK;
    double before = run->error;
    int begun = run->iterations, sweeps = SWEEPS_FIRST;
    bool stepped = false; // the best iterate comes from a step, with sweeps after it
    bool astray = false;
    while (status == TDL_STATUS_OK && !run_done(run) && sweeps < SWEEPS_MOST &&
           !run_spent(run, run_sweep_work(run))) {
        if (!stepped) {
            before = run->error;
            begun = run->iterations;
            status = sweep_on(run, sweeps);
        }
        if (status == TDL_STATUS_OK && !run_done(run) && t.run == NULL) {
            status = begin_strides(&t, run, &mark);
        }
        if (status != TDL_STATUS_OK || run_done(run)) {
            break;
        }
        double left = run_sweeps_left(run, before, run->iterations - begun);
        run->worth = left * run_sweep_work(run) / CHEAPER;
        before = run->error;
        begun = run->iterations;
        status = step_and_sweep(&t, &astray);
        stepped = status == TDL_STATUS_OK && run->error < GAIN * before;
        if (status == TDL_STATUS_STOPPED && left < SWEEPS_MOST && !astray) {
            // not worth it: the end is near
            sweeps = (int)fmax(left, SWEEPS_FIRST);
            status = TDL_STATUS_OK;
        } else {
            sweeps = stepped ? SWEEPS_FIRST : 2 * sweeps;
        }
    }
    run->worth = INFINITY;
    if (t.run != NULL) {
        arena_release(run->arena, mark);
    }
    return status == TDL_STATUS_STOPPED ? TDL_STATUS_OK : status;
}
