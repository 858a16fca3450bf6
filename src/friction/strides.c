// Sweeps and full Newton steps in turn, for many contacts. friction.md section 4.9
//
// Sweeps find quickly which contacts carry, stick and slide, and then creep; a Newton step for
// given modes goes all the way, and far astray where a mode is wrong. Unknowns are two for a
// contact that slides (how hard, and where to), three for one that sticks, none for one that
// carries nothing. Steps are taken on W + eps D, b - eps D r: sticking contacts are regular
// whatever W is.
#include "friction/run.h"
#include "linalg/front_lu.h"

#include <string.h>

// eps in units of a contact's own stiffness: with less digits are lost.
static const double EPS = 1.0e-11;
// Full steps: at most so many in a row, and the part of the contacts that may change their mode
// from one to the next; so many sweeps between them lower the error to ROUND_PART, or are given up.
enum { FULL_STEPS = 8, FALL_SWEEPS = 120 };
static const double FULL_CHANGES = 0.01;
// They are tried where sweeps that lowered the error to ROUND_PART changed the modes of few, and
// where all of them cost less than sweeps to the end would at the pace of the last ones; a
// multiplication of a factorisation takes this part of the time of one of a sweep.
static const double FEW_CHANGES = 0.05, CHEAPER = 0.3;

typedef struct Strides {
    Run* run;            // of the caller
    System sys;          // the regularised problem
    int* diagonal;       // [n] where the diagonal blocks are, -1: there is none
    double* weight;      // [n] D
    double* rho;         // [2 n] steps of the maps, normal and tangential
    Reduced* reduced;    // [n]
    unsigned char* mode; // [n] unknowns in the last step
    double *r, *u;       // [3 n] iterate and its velocity in the regularised problem
    double *base, *x;    // [3 n] where a step starts, with the modes as they were taken; the step
    double *trial, *trial_u;
} Strides;

static TdlStatus strides_init(Strides* t, Run* run) {
    System* sys = run->sys;
    size_t n = (size_t)sys->n, blocks = (size_t)sys->block_count * 9 + 4;
    *t = (Strides){.run = run, .sys = *sys};
    t->sys.sweep_bodies = false;
    t->diagonal = ARENA_NEW(run->arena, int, n);
    t->reduced = ARENA_NEW(run->arena, Reduced, n);
    t->mode = ARENA_NEW(run->arena, unsigned char, n);
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
    if (!t->diagonal || !t->reduced || !t->mode || !t->weight || !t->rho || !t->sys.diag ||
        !t->sys.blocks) {
        return TDL_STATUS_NO_MEMORY;
    }
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
    memset(t->mode, 0xff, n); // none
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

static void take_modes(Strides* t) {
    for (int i = 0; i < t->sys.n; ++i) {
        take_mode(t, i, t->u + 3 * i, t->r + 3 * i, &t->reduced[i], t->base + 3 * i);
    }
}

// x <- the step from base, by the factors of a matrix just analysed. TDL_STATUS_STOPPED: asked to.
static TdlStatus solve_step(Strides* t, FrontLu* lu) {
    System* sys = &t->sys;
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

// The same with the modes of (u, r). TDL_STATUS_STOPPED: the factors would be too large, or not
// worth it.
static TdlStatus find_step(Strides* t) {
    Arena* arena = t->run->arena;
    ArenaMark mark = arena_mark(arena);
    take_modes(t);
    FrontLu lu;
    BlockPattern pattern = system_pattern(&t->sys);
    TdlStatus status = front_lu_analyse(&lu, arena, &pattern, t->reduced);
    bool good = status == TDL_STATUS_OK;
    bool dear = good && (lu.flops > t->run->worth || run_spent(t->run, lu.flops));
    if (good && !dear) {
        status = solve_step(t, &lu);
    }
    arena_release(arena, mark);
    return dear ? TDL_STATUS_STOPPED : status;
}

// out <- base + x; what slides stays on the cone as long as it is pressed.
static void go(const Strides* t, double* out) {
    const System* sys = &t->sys;
    for (int i = 0; i < sys->n; ++i) {
        const Reduced* a = &t->reduced[i];
        double* r = out + 3 * i;
        memcpy(r, t->base + 3 * i, 3 * sizeof *r);
        for (int k = 0; k < a->size; ++k) {
            double x = t->x[3 * i + k];
            for (int c = 0; c < 3; ++c) {
                r[c] += isfinite(x) ? x * a->trial[3 * k + c] : 0.0;
            }
        }
        if (a->size == 2 && sys->law[i] == LAW_CONE && r[0] > 0.0) {
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

// --- full steps --------------------------------------------------------------------------------

// Contacts whose mode is another than in the last step.
static int count_changes(Strides* t) {
    int changes = 0;
    for (int i = 0; i < t->sys.n; ++i) {
        changes += t->reduced[i].size != t->mode[i];
        t->mode[i] = (unsigned char)t->reduced[i].size;
    }
    return changes;
}

// Full steps from the best iterate: near the solution a few do, elsewhere modes keep changing.
static TdlStatus step_freely(Strides* t) {
    Run* run = t->run;
    size_t size = 3 * (size_t)t->sys.n * sizeof(double);
    memcpy(t->r, run->best, size);
    set_centre(t);
    take_modes(t);
    if (count_changes(t) > FEW_CHANGES * t->sys.n) {
        return TDL_STATUS_OK;
    }
    for (int k = 0; k < FULL_STEPS && !run_done(run); ++k) {
        TdlStatus status = find_step(t);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        if (count_changes(t) > FULL_CHANGES * t->sys.n && k > 0) {
            return TDL_STATUS_OK;
        }
        go(t, t->r); // a contact that pulls is open in the next step
        system_velocity(&t->sys, t->r, t->u);
        put_back(t, t->r, t->trial);
        system_velocity(run->sys, t->trial, t->trial_u);
        run_offer(run, t->trial_u, t->trial);
        run_count(run, TDL_FRICTION_ALTERNATING, t->trial);
    }
    return TDL_STATUS_OK;
}

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

// Sweeps to the end at the pace of those that took the error from `before` to what it is.
static double sweeps_left(const Run* run, double before, int sweeps) {
    return log(run->error / run->sys->target) / log(before / run->error) * sweeps;
}

// Sweeps that lower the error to ROUND_PART, then full steps, for which t is made ready the first
// time.
static TdlStatus stride(Run* run, Strides* t, ArenaMark* mark) {
    System* sys = run->sys;
    double target = sys->target, before = run->error;
    int begun = run->iterations;
    sys->target = fmax(target, ROUND_PART * before);
    TdlStatus status = run_anderson(run);
    sys->target = target;
    if (status != TDL_STATUS_OK || run_done(run)) {
        return status;
    }
    if (t->run == NULL) {
        status = begin_strides(t, run, mark);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    run->worth = run_worth(run, sweeps_left(run, before, run->iterations - begun));
    return step_freely(t);
}

// Accelerated sweeps and full steps from the best iterate, until sweeps no longer help.
TdlStatus run_strides(Run* run) {
    ArenaMark mark;
    Strides t = {0}; // until the first step
    TdlStatus status = TDL_STATUS_OK;
    double before = INFINITY;
    int limit = run->limit;
    run->limit = limit < FALL_SWEEPS ? limit : FALL_SWEEPS;
    while (status == TDL_STATUS_OK && !run_done(run) && run->error < 2.0 * ROUND_PART * before &&
           !run_spent(run, run_sweep_work(run))) {
        before = run->error;
        status = stride(run, &t, &mark);
    }
    run->limit = limit;
    run->worth = INFINITY;
    if (t.run != NULL) {
        arena_release(run->arena, mark);
    }
    return status == TDL_STATUS_STOPPED ? TDL_STATUS_OK : status;
}
