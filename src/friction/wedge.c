// Wedged contacts: those that can press each other without moving anything, found first and held.
//
// In a pile with much friction impulses exist that lie inside their cones and give no velocity at
// all: stones wedged against each other. Any multiple of them may be added to a solution, so that
// the contacts that carry them can be made to stick whatever else happens. They are held as if
// bilateral, which leaves fewer cones; the rest is solved as any other problem, with its own
// wedges, and at the end as much of the wedging impulses is added as brings all into their cones.
// One barrier problem finds the wedges. friction.md section 4.12
#include "friction/barrier.h"
#include "friction/exact.h"

#include <string.h>

// The barrier problem is made sharper from the first to the last eps, by ten each time.
static const double EPS_FIRST = 0.1, EPS_LAST = 1.0e-12;
enum { NEWTON_STEPS = 15, HALVINGS = 12 };
static const double ON_PATH = 0.01;
// A contact is wedged when its least eigenvalue is above this many square roots of the last eps:
// others have about one, or with light and heavy bodies up to the root of their ratio.
// Contacts that are so only just need large impulses to stay, which cost digits: where these do not
// do, fewer are held.
static const double WEDGED[] = {1.0e3, 1.0e4, 1.0e5};
enum { WAYS = sizeof WEDGED / sizeof *WEDGED };
// Added to the held contacts' own stiffness, and how often the rest of that is taken out at most:
// as long as it leaves less than this part.
static const double HELD_EPS = 1.0e-9, REFINED = 0.5;
enum { REFINEMENTS = 50 };
// How often what cannot be held is put out: where it never ends W is not exact enough for wedges.
enum { HOLD_ROUNDS = 5 };
// Impulses that bring the held to rest are sought with ever less added to their own stiffness: the
// more, the smaller they are.
static const double PRESS_FIRST = 1.0e-5, PRESS_LAST = 1.0e-14, PRESS_FALL = 1.0e-2;
// They will do when no more than this part has to be added of those that wedge.
static const double ADDED_PART = 0.2;
// The rest is solved to this many times what is asked for by all means, and to part of that by
// Newton steps: beside the impulses of the held the last digits are hard to find. What they lack
// comes from Newton steps on all, tried when it is within LOOSE_MOST.
static const double LOOSE = 10.0, TIGHT = 0.5, LOOSE_MOST = 1.0e4;
// Wedges within what is left of wedges; Newton steps for the last digits.
enum { DEPTH_MOST = 2, LAST_STEPS = 100 };

typedef struct Wedge {
    Run* run;
    double wedged;  // roots of the last eps from which on a contact is
    bool* out;      // [n] not held
    int held;       // how many are
    double* stress; // [n d] impulses of the held that give no velocity
    Space space;    // W of the held, with HELD_EPS
    double* work;   // [n d]
    double* u;      // [n d]
} Wedge;

// How far inside its cone an impulse is, times mu.
static double room_of(const System* sys, int i, const double* r) {
    const double* x = r + i * sys->d;
    return sys->mu[i] * x[0] - tangent_norm(sys->d, x);
}

// --- which contacts are wedged -------------------------------------------------------------------

// One Newton step, shortened until the residual falls. False when it does not.
static bool step_down(Barrier* p, double* norm, double* base, double* dx, double* dy) {
    size_t size = run_size(p->run);
    if (barrier_factor(p) != TDL_STATUS_OK) {
        return false;
    }
    barrier_solve(p, p->g, 1.0, NULL, dx, dy);
    memcpy(base, p->z, size * sizeof(double));
    double alpha = 1.0;
    for (int k = 0; k < HALVINGS; ++k, alpha *= 0.5) {
        for (size_t j = 0; j < size; ++j) {
            p->z[j] = base[j] + alpha * (dx[j] - dy[j]);
        }
        double now = barrier_residual(p);
        if (now < *norm * (1.0 - 0.1 * alpha)) {
            *norm = now;
            return true;
        }
    }
    memcpy(p->z, base, size * sizeof(double));
    *norm = barrier_residual(p);
    return false;
}

// y = Q^-1 W r + eps x, x o y = eps e: as eps falls x stays where an impulse inside the cones
// gives no velocity, and falls as its square root elsewhere. (F.28)
static void find_inside(Barrier* p, double* base, double* dx, double* dy) {
    p->convex = true;
    p->first_t = p->round2 = 1.0;
    memset(p->z, 0, run_size(p->run) * sizeof(double));
    for (p->eps = EPS_FIRST; p->eps > 0.5 * EPS_LAST; p->eps *= 0.1) {
        if (run_spent(p->run, p->space.flops + run_sweep_work(p->run))) {
            break;
        }
        p->tau = log(p->eps);
        double norm = barrier_residual(p), goal = ON_PATH * p->eps * sqrt((double)p->run->sys->n);
        for (int k = 0; k < NEWTON_STEPS && norm > goal; ++k) {
            run_count(p->run, TDL_FRICTION_WEDGED, NULL);
            if (!step_down(p, &norm, base, dx, dy)) {
                break;
            }
        }
    }
}

// Puts out what the impulses at hand do not wedge; returns how many of the cones stay.
static int sift(const Barrier* p, Wedge* w) {
    const System* sys = w->run->sys;
    int cones = 0;
    for (int i = 0; i < sys->n; ++i) {
        if (sys->law[i] != LAW_CONE || w->out[i]) {
            continue;
        }
        const double* x = p->x + i * sys->d;
        w->out[i] = !(x[0] - tangent_norm(sys->d, x) > w->wedged * sqrt(EPS_LAST));
        cones += !w->out[i];
    }
    return cones;
}

// stress <- impulses inside the cones of those not put out that give them no velocity; what is not
// wedged by them is put out until nothing is. `cones` tells how many stay.
static TdlStatus find_wedged(Wedge* w, int* cones) {
    ArenaMark mark = arena_mark(w->run->arena);
    System sys = *w->run->sys;
    Run still = *w->run; // nothing moves by itself
    size_t size = run_size(&still);
    memset(w->work, 0, size * sizeof(double));
    sys.b = w->work;
    still.sys = &sys;
    Barrier p;
    TdlStatus status = barrier_init(&p, &still);
    double *base = ARENA_NEW(still.arena, double, size), *dx = ARENA_NEW(still.arena, double, size),
           *dy = ARENA_NEW(still.arena, double, size);
    if (status != TDL_STATUS_OK || base == NULL || dx == NULL || dy == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    p.out = w->out;
    int before;
    do {
        before = *cones;
        find_inside(&p, base, dx, dy);
        *cones = sift(&p, w);
    } while (*cones > 0 && *cones != before);
    memcpy(w->stress, p.r, size * sizeof(double));
    w->run->iterations = still.iterations;
    arena_release(w->run->arena, mark);
    return TDL_STATUS_OK;
}

// --- holding them --------------------------------------------------------------------------------

// Factors of W among the held.
static TdlStatus factor_held(Wedge* w) {
    const System* sys = w->run->sys;
    int d = sys->d;
    TdlStatus status = space_init(&w->space, w->run);
    for (int i = 0; i < sys->n && status == TDL_STATUS_OK; ++i) {
        Part a = space_part(&w->space, i);
        double trace = 0.0;
        for (int k = 0; k < d; ++k) {
            trace += sys->diag[(size_t)i * (size_t)(d * d) + (size_t)(k * d + k)] / d;
        }
        *a.size = w->out[i] ? 0 : d;
        for (int k = 0; k < *a.size; ++k) { // a diagonal of about one
            a.test[k * (d + 1)] = a.trial[k * (d + 1)] = 1.0 / sqrt(fmax(trace, 1.0e-12));
            a.add[k * (d + 1)] = HELD_EPS;
        }
    }
    if (status == TDL_STATUS_OK) {
        status = space_plan(&w->space);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return run_spent(w->run, w->space.flops) ? TDL_STATUS_STOPPED : space_factor(&w->space);
}

// Velocities that the held have left: with b, or without. Returns their norm. What rounding would
// add beside large impulses could not be refined away.
static double measure_held(Wedge* w, bool with_b, const double* r) {
    const System* sys = w->run->sys;
    double sum = 0.0;
    ExactView view = exact_view(sys);
    view.b = with_b ? sys->b : NULL;
    run_spend(w->run, EXACT_WORK * system_product_work(sys));
    if (exact_velocity(&view, w->run->arena, r, w->u) != TDL_STATUS_OK) {
        return INFINITY;
    }
    for (int k = 0; k < sys->n * sys->d; ++k) {
        sum += w->out[k / sys->d] ? 0.0 : w->u[k] * w->u[k];
    }
    return sqrt(sum);
}

// Changes r of the held until they are at rest: with b, or without.
static void rest_held(Wedge* w, bool with_b, double* r) {
    const System* sys = w->run->sys;
    int d = sys->d;
    double before = INFINITY, now = measure_held(w, with_b, r);
    double work = (5.0 + EXACT_WORK) * system_product_work(sys); // a solve that refines, a measure
    for (int pass = 0; pass < REFINEMENTS && now < REFINED * before && now > 0.0; ++pass) {
        if (run_spent(w->run, work)) {
            break;
        }
        for (int k = 0; k < sys->n * d; ++k) {
            Part a = space_part(&w->space, k / d);
            w->work[k] = *a.size == 0 ? 0.0 : -a.test[k % d * (d + 1)] * w->u[k];
        }
        space_solve(&w->space, w->work);
        for (int k = 0; k < sys->n * d; ++k) {
            Part a = space_part(&w->space, k / d);
            r[k] += *a.size == 0 ? 0.0 : a.trial[k % d * (d + 1)] * w->work[k];
        }
        before = now;
        now = measure_held(w, with_b, r);
    }
}

// Whether the wedging impulses are inside all their cones; those that are not are put out.
static bool check_stress(Wedge* w) {
    const System* sys = w->run->sys;
    bool good = true;
    rest_held(w, false, w->stress);
    for (int i = 0; i < sys->n; ++i) {
        if (!w->out[i] && sys->law[i] == LAW_CONE && !(room_of(sys, i, w->stress) > 0.0)) {
            w->out[i] = true;
            good = false;
        }
    }
    return good;
}

// Finds, factors and checks until what is held can be. False: nothing can.
static TdlStatus hold(Wedge* w, bool* found) {
    const System* sys = w->run->sys;
    int cones = 0;
    for (int i = 0; i < sys->n; ++i) {
        w->out[i] = sys->law[i] == LAW_SMOOTH || sys->law[i] == LAW_ROUGH;
        cones += sys->law[i] == LAW_CONE;
    }
    *found = false;
    for (int k = 0; k < HOLD_ROUNDS && !*found; ++k) {
        TdlStatus status = find_wedged(w, &cones);
        if (status != TDL_STATUS_OK || cones == 0) {
            return status;
        }
        w->held = 0;
        for (int i = 0; i < sys->n; ++i) {
            w->held += !w->out[i];
            memset(w->stress + i * sys->d, 0, w->out[i] ? (size_t)sys->d * sizeof(double) : 0);
        }
        status = factor_held(w);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        *found = check_stress(w);
    }
    return TDL_STATUS_OK;
}

// --- what is left --------------------------------------------------------------------------------

static double norm_of(const Wedge* w, const double* x) {
    return sqrt(dot_product(run_size(w->run), x, x));
}

// r <- impulses of the held inside their cones that bring them to rest from b; of the others as in
// the rest
static TdlStatus press_on(Wedge* w, double* b, double eps, const double* rest, double* r) {
    System sys = *w->run->sys;
    Run run = *w->run;
    sys.b = b;
    run.sys = &sys;
    TdlStatus status = interior_press(&run, w->out, eps, r);
    w->run->iterations = run.iterations;
    for (int k = 0; k < sys.n * sys.d; ++k) {
        r[k] = w->out[k / sys.d] ? rest[k] : r[k];
    }
    rest_held(w, true, r);
    return status;
}

// r <- a solution of all from one of the rest: the held are brought to rest by impulses inside
// their cones; where those found are not, as much of the wedging ones is added as it takes, and as
// much again. (F.29)
static TdlStatus recover(Wedge* w, const double* rest, double* b, double* r) {
    System* sys = w->run->sys;
    int d = sys->d;
    double alpha = 0.0;
    bool small = false; // what is added
    TdlStatus status = TDL_STATUS_OK;
    for (double eps = PRESS_FIRST; status == TDL_STATUS_OK && !small && eps > PRESS_LAST;
         eps *= PRESS_FALL) {
        for (int k = 0; k < sys->n * d; ++k) {
            r[k] = w->out[k / d] ? rest[k] : 0.0;
        }
        system_velocity(sys, r, b);
        status = press_on(w, b, eps, rest, r);
        alpha = 0.0;
        for (int i = 0; i < sys->n; ++i) {
            if (!w->out[i] && sys->law[i] == LAW_CONE) {
                alpha = fmax(alpha, -room_of(sys, i, r) / room_of(sys, i, w->stress));
            }
        }
        small = 2.0 * alpha * norm_of(w, w->stress) <= ADDED_PART * norm_of(w, r);
    }
    for (int k = 0; k < sys->n * d; ++k) {
        r[k] += 2.0 * alpha * w->stress[k];
    }
    rest_held(w, true, r);
    return status;
}

static TdlStatus solve_rest(Wedge* w) {
    Run* run = w->run;
    System rest = *run->sys;
    ContactLaw* law = ARENA_NEW(run->arena, ContactLaw, rest.n);
    double *r = ARENA_NEW(run->arena, double, run_size(run)),
           *best = ARENA_NEW(run->arena, double, run_size(run)),
           *b = ARENA_NEW(run->arena, double, run_size(run));
    if (law == NULL || r == NULL || best == NULL || b == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < rest.n; ++i) {
        law[i] = w->out[i] ? rest.law[i] : LAW_BILATERAL;
    }
    rest.law = law;
    memset(best, 0, run_size(run) * sizeof(double));
    Run inner = *run;
    inner.sys = &rest;
    inner.best = best;
    inner.start = NULL;
    inner.warm = false;
    inner.depth = run->depth + 1;
    rest.target *= LOOSE;
    inner.error = system_error(&rest, rest.b, best);
    TdlFrictionSolverKind used;
    TdlStatus status = run_done(&inner) ? TDL_STATUS_OK : run_auto(&inner, &used);
    rest.target = TIGHT * run->sys->target;
    inner.limit = LAST_STEPS;
    if (status == TDL_STATUS_OK && !run_done(&inner) &&
        inner.error <= LOOSE_MOST * run->sys->target) {
        status = run_proximal(&inner);
    }
    run->iterations = inner.iterations;
    run->failsafe = inner.failsafe;
    run->unsolvable = inner.unsolvable;
    if (status != TDL_STATUS_OK || inner.error > LOOSE_MOST * run->sys->target) {
        return status;
    }
    status = recover(w, best, b, r);
    system_velocity(run->sys, r, w->u);
    run_offer(run, w->u, r);
    run_count(run, TDL_FRICTION_WEDGED, r);
    if (status != TDL_STATUS_OK || run_done(run)) {
        return status;
    }
    int limit = run->limit;
    run->start = r;
    run->limit = LAST_STEPS;
    status = run_proximal(run);
    run->start = NULL;
    run->limit = limit;
    return status;
}

// Holds what is wedged by so much, and solves the rest. `held` is how many were held last, and are.
static TdlStatus try_wedges(Run* run, double wedged, int* held) {
    size_t n = (size_t)run->sys->n, size = run_size(run);
    ArenaMark mark = arena_mark(run->arena);
    Wedge w = {.run = run, .wedged = wedged};
    w.out = ARENA_NEW(run->arena, bool, n);
    w.stress = ARENA_NEW(run->arena, double, size);
    w.work = ARENA_NEW(run->arena, double, size);
    w.u = ARENA_NEW(run->arena, double, size);
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    bool found = false;
    if (w.out && w.stress && w.work && w.u) {
        status = hold(&w, &found);
    }
    bool same = found && w.held == *held;
    *held = found ? w.held : 0;
    if (status == TDL_STATUS_OK && found && !same) {
        status = solve_rest(&w);
    }
    arena_release(run->arena, mark);
    return status == TDL_STATUS_STOPPED ? TDL_STATUS_OK : status;
}

TdlStatus run_wedges(Run* run) {
    System before = *run->sys; // without the rows of W that are formed on the way
    TdlStatus status = TDL_STATUS_OK;
    int ways = run->depth >= DEPTH_MOST ? 0 : run->depth > 0 ? 1 : WAYS, held = -1;
    for (int k = 0; k < ways && status == TDL_STATUS_OK && held != 0 && !run_done(run); ++k) {
        status = try_wedges(run, WEDGED[k], &held);
        *run->sys = before;
    }
    return status;
}

TdlStatus run_wedged(Run* run) {
    TdlFrictionSolverKind used;
    TdlStatus status = run_wedges(run);
    run->depth = DEPTH_MOST;
    if (status != TDL_STATUS_OK || run_done(run)) {
        return status;
    }
    return run_auto(run, &used);
}
