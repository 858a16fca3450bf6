// Wedged contacts: those that can press each other without moving anything, found first and held.
//
// In a pile with much friction impulses exist that lie inside their cones and give no velocity at
// all: stones wedged against each other. Any multiple of them may be added to a solution, so that
// the contacts that carry them can be made to stick whatever else happens. Held fixed, they take
// unknowns and kernel out of the problem; what is left is solved as any other, with its own wedges,
// and at the end as much of the wedging impulses is added as brings all into their cones. One
// barrier problem finds the wedges, dense elimination holds them. friction.md section 4.12
#include "friction/barrier.h"

#include <string.h>

// The barrier problem is made sharper from the first to the last eps, by ten each time.
static const double EPS_FIRST = 0.1, EPS_LAST = 1.0e-12;
enum { NEWTON_STEPS = 15, HALVINGS = 12 };
static const double ON_PATH = 0.01;
// A contact is wedged when its least eigenvalue is above this many square roots of the last eps:
// others have about one, or with light and heavy bodies up to the root of their ratio.
static const double WEDGED = 1.0e3;
// Added to the held contacts' own stiffness, and how often the rest of that is taken out.
static const double HELD_EPS = 1.0e-9;
enum { REFINEMENTS = 4 };
// How often what cannot be held is put out: where it never ends W is not exact enough for wedges.
enum { HOLD_ROUNDS = 5 };
// Unknowns above which the dense matrix is too large: 72 MB.
enum { MOST_UNKNOWNS = 3000 };
// The rest is solved to this many times what is asked for; the last digits come from Newton steps
// on all, tried when it is within LOOSE_MOST.
static const double LOOSE = 10.0, LOOSE_MOST = 1.0e4;
// Wedges within what is left of wedges; Newton steps for the last digits.
enum { DEPTH_MOST = 2, LAST_STEPS = 100 };

typedef struct Wedge {
    Run* run;
    bool* out;      // [n] not held
    int* order;     // [n] contacts, those held first
    int held;       // how many
    double* stress; // [n d] impulses of the held that give no velocity
    double* matrix; // [n d][n d] W in this order by rows, the held eliminated
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

// y = Q^-1 (W r + b) + eps x, x o y = eps e: as eps falls x stays where an impulse inside the cones
// gives no velocity, and falls as its square root elsewhere. (F.28)
static void find_inside(Barrier* p, double* base, double* dx, double* dy) {
    p->convex = true;
    p->first_t = p->round2 = 1.0;
    memset(p->z, 0, run_size(p->run) * sizeof(double));
    for (p->eps = EPS_FIRST; p->eps > 0.5 * EPS_LAST; p->eps *= 0.1) {
        p->tau = log(p->eps);
        double norm = barrier_residual(p), goal = ON_PATH * p->eps * sqrt((double)p->run->sys->n);
        for (int k = 0; k < NEWTON_STEPS && norm > goal; ++k) {
            ++p->run->iterations;
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
        w->out[i] = !(x[0] - tangent_norm(sys->d, x) > WEDGED * sqrt(EPS_LAST));
        cones += !w->out[i];
    }
    return cones;
}

// r <- impulses inside the cones, of those not put out, that give them as little velocity as can be
// with b. With `cones` those not wedged by r are put out until none is, and told how many stay.
static TdlStatus press(Wedge* w, double* b, int* cones, double* r) {
    ArenaMark mark = arena_mark(w->run->arena);
    System sys = *w->run->sys;
    Run with_b = *w->run, *run = &with_b;
    sys.b = b;
    with_b.sys = &sys;
    size_t size = run_size(run);
    Barrier p;
    TdlStatus status = barrier_init(&p, run);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    double *base = ARENA_NEW(run->arena, double, size), *dx = ARENA_NEW(run->arena, double, size),
           *dy = ARENA_NEW(run->arena, double, size);
    if (base == NULL || dx == NULL || dy == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    p.out = w->out;
    int before = cones == NULL ? 0 : *cones;
    find_inside(&p, base, dx, dy);
    while (cones != NULL && (*cones = sift(&p, w)) > 0 && *cones != before) {
        before = *cones;
        find_inside(&p, base, dx, dy);
    }
    memcpy(r, p.r, size * sizeof(double));
    w->run->iterations = with_b.iterations;
    arena_release(w->run->arena, mark);
    return TDL_STATUS_OK;
}

// --- holding them --------------------------------------------------------------------------------

// The held come first; then W in that order, from which they are eliminated: what stays in the rows
// of the others is their W with the held at rest.
static TdlStatus eliminate(Wedge* w) {
    const System* sys = w->run->sys;
    int n = sys->n, d = sys->d, next = 0;
    size_t size = run_size(w->run), held = (size_t)w->held * (size_t)d;
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < n; ++i) {
            if (w->out[i] == (pass == 1)) {
                w->order[next++] = i;
            }
        }
    }
    int* place = (int*)w->work;
    for (int k = 0; k < n; ++k) {
        place[w->order[k]] = k;
    }
    memset(w->matrix, 0, size * size * sizeof(double));
    for (int i = 0; i < n; ++i) {
        for (int e = sys->start[i]; e < sys->start[i + 1]; ++e) {
            const double* block = sys->blocks + (size_t)e * (size_t)(d * d);
            for (int k = 0; k < d * d; ++k) {
                size_t row = (size_t)(place[i] * d + k % d);
                w->matrix[row * size + (size_t)(place[sys->column[e]] * d + k / d)] += block[k];
            }
        }
    }
    for (size_t k = 0; k < held; ++k) {
        size_t i = (size_t)w->order[k / (size_t)d];
        double trace = 0.0, *row = w->matrix + k * size;
        for (int c = 0; c < d; ++c) {
            trace += sys->diag[i * (size_t)(d * d) + (size_t)(c * d + c)] / d;
        }
        row[k] += HELD_EPS * trace;
    }
    double unasked = 0.0;
    for (size_t k = 0; k < held; ++k) {
        const double* row = w->matrix + k * size;
        double each = (double)(size - k) * (double)(size - k);
        if (unasked > STOP_EVERY && run_spent(w->run, each)) {
            return TDL_STATUS_STOPPED;
        }
        unasked = unasked > STOP_EVERY ? 0.0 : unasked + each;
        run_count(w->run, each);
        for (size_t i = k + 1; i < size; ++i) {
            double *to = w->matrix + i * size, factor = to[k] / row[k];
            to[k] = factor;
            for (size_t j = k + 1; factor != 0.0 && j < size; ++j) {
                to[j] -= factor * row[j];
            }
        }
    }
    return TDL_STATUS_OK;
}

// x <- (W + HELD_EPS)^-1 x among the held, in their order
static void solve_held(const Wedge* w, double* x) {
    size_t size = run_size(w->run), held = (size_t)(w->held * w->run->sys->d);
    for (size_t k = 0; k < held; ++k) {
        x[k] -= dot_product(k, w->matrix + k * size, x);
    }
    for (size_t k = held; k-- > 0;) {
        const double* row = w->matrix + k * size;
        x[k] = (x[k] - dot_product(held - k - 1, row + k + 1, x + k + 1)) / row[k];
    }
}

// Changes r of the held until they are at rest: with b, or without.
static void rest_held(Wedge* w, bool with_b, double* r) {
    System* sys = w->run->sys;
    int d = sys->d;
    for (int pass = 0; pass < REFINEMENTS; ++pass) {
        system_velocity(sys, r, w->u);
        for (int k = 0; k < w->held * d; ++k) {
            int at = w->order[k / d] * d + k % d;
            w->work[k] = (with_b ? 0.0 : sys->b[at]) - w->u[at];
        }
        solve_held(w, w->work);
        for (int k = 0; k < w->held * d; ++k) {
            r[w->order[k / d] * d + k % d] += w->work[k];
        }
    }
}

// Whether the wedging impulses are inside all their cones; those that are not are put out.
static bool check_stress(Wedge* w) {
    const System* sys = w->run->sys;
    bool good = true;
    rest_held(w, false, w->stress);
    for (int k = 0; k < w->held; ++k) {
        int i = w->order[k];
        if (sys->law[i] == LAW_CONE && !(room_of(sys, i, w->stress) > 0.0)) {
            w->out[i] = true;
            good = false;
        }
    }
    return good;
}

// Finds, eliminates and checks until what is held can be. False: nothing can.
static TdlStatus hold(Wedge* w, bool* found) {
    const System* sys = w->run->sys;
    int cones = 0;
    for (int i = 0; i < sys->n; ++i) {
        w->out[i] = sys->law[i] == LAW_SMOOTH || sys->law[i] == LAW_ROUGH;
        cones += sys->law[i] == LAW_CONE;
    }
    *found = false;
    for (int k = 0; k < HOLD_ROUNDS && !*found; ++k) {
        memset(w->u, 0, run_size(w->run) * sizeof(double));
        TdlStatus status = press(w, w->u, &cones, w->stress);
        if (status != TDL_STATUS_OK || cones == 0) {
            return status;
        }
        w->held = 0;
        for (int i = 0; i < sys->n; ++i) {
            w->held += !w->out[i];
            memset(w->stress + i * sys->d, 0, w->out[i] ? (size_t)sys->d * sizeof(double) : 0);
        }
        status = run_spent(w->run, 0.0) ? TDL_STATUS_STOPPED : eliminate(w);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        *found = check_stress(w);
    }
    return TDL_STATUS_OK;
}

// --- what is left --------------------------------------------------------------------------------

// Block (i, j) of what is left, made symmetric. Returns its largest entry.
static double rest_block(const Wedge* w, int i, int j, double* block) {
    int d = w->run->sys->d;
    size_t size = run_size(w->run), row = (size_t)((w->held + i) * d),
           column = (size_t)((w->held + j) * d);
    double most = 0.0;
    for (int k = 0; k < d * d; ++k) {
        size_t a = row + (size_t)(k % d), b = column + (size_t)(k / d);
        block[k] = 0.5 * (w->matrix[a * size + b] + w->matrix[b * size + a]);
        most = fmax(most, fabs(block[k]));
    }
    return most;
}

static TdlStatus build_rest(Wedge* w, System* rest) {
    const System* sys = w->run->sys;
    Arena* arena = w->run->arena;
    size_t n = (size_t)(sys->n - w->held), d = (size_t)sys->d, d2 = d * d;
    double block[CONE_MAX * CONE_MAX];
    *rest = *sys;
    rest->n = (int)n;
    rest->phases.count = 0;
    rest->pool = NULL;
    rest->sweep_bodies = false;
    rest->bodies_count = 0; // its W is not that of the bodies
    rest->block_count = 0;
    for (int i = 0; i < rest->n; ++i) {
        for (int j = 0; j < rest->n; ++j) {
            rest->block_count += i == j || rest_block(w, i, j, block) > 0.0;
        }
    }
    int* contact = ARENA_NEW(arena, int, n);
    rest->contact = contact;
    rest->law = ARENA_NEW(arena, ContactLaw, n);
    rest->mu = ARENA_NEW(arena, double, n);
    rest->b = ARENA_NEW(arena, double, n* d);
    rest->diag = ARENA_NEW(arena, double, n* d2);
    rest->start = ARENA_NEW(arena, int, n + 1);
    rest->column = ARENA_NEW(arena, int, rest->block_count);
    rest->blocks = ARENA_NEW(arena, double, (size_t)rest->block_count* d2 + 4);
    if (!contact || !rest->law || !rest->mu || !rest->b || !rest->diag || !rest->start ||
        !rest->column || !rest->blocks) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(rest->blocks + (size_t)rest->block_count * d2, 0, 4 * sizeof(double));
    // their velocities with the held at rest and no impulse of their own
    double* r = w->run->zero == NULL ? NULL : ARENA_NEW(arena, double, run_size(w->run));
    if (r == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(r, 0, run_size(w->run) * sizeof(double));
    rest_held(w, true, r);
    system_velocity(w->run->sys, r, w->u);
    int count = 0;
    for (int i = 0; i < rest->n; ++i) {
        size_t from = (size_t)w->order[w->held + i];
        contact[i] = sys->contact[from];
        rest->law[i] = sys->law[from];
        rest->mu[i] = sys->mu[from];
        memcpy(rest->b + (size_t)i * d, w->u + from * d, d * sizeof(double));
        rest->start[i] = count;
        for (int j = 0; j < rest->n; ++j) {
            double most = rest_block(w, i, j, block);
            if (i == j) {
                memcpy(rest->diag + (size_t)i * d2, block, d2 * sizeof(double));
            }
            if (i == j || most > 0.0) {
                rest->column[count] = j;
                memcpy(rest->blocks + (size_t)count++ * d2, block, d2 * sizeof(double));
            }
        }
    }
    rest->start[rest->n] = count;
    return TDL_STATUS_OK;
}

// r <- a solution of all from one of the rest: the held are brought to rest by impulses inside
// their cones; where those found are not, as much of the wedging ones is added as it takes, and as
// much again. (F.29)
static TdlStatus recover(Wedge* w, const double* rest, double* b, double* r) {
    System* sys = w->run->sys;
    int d = sys->d;
    memset(r, 0, run_size(w->run) * sizeof(double));
    for (int i = w->held; i < sys->n; ++i) {
        memcpy(r + w->order[i] * d, rest + (i - w->held) * d, (size_t)d * sizeof(double));
    }
    system_velocity(sys, r, b);
    TdlStatus status = press(w, b, NULL, r);
    for (int i = w->held; i < sys->n; ++i) {
        memcpy(r + w->order[i] * d, rest + (i - w->held) * d, (size_t)d * sizeof(double));
    }
    rest_held(w, true, r);
    double alpha = 0.0;
    for (int k = 0; k < w->held; ++k) {
        int i = w->order[k];
        if (sys->law[i] == LAW_CONE) {
            alpha = fmax(alpha, -room_of(sys, i, r) / room_of(sys, i, w->stress));
        }
    }
    for (int k = 0; k < sys->n * d; ++k) {
        r[k] += 2.0 * alpha * w->stress[k];
    }
    rest_held(w, true, r);
    return status;
}

static TdlStatus solve_rest(Wedge* w) {
    Run* run = w->run;
    System rest;
    TdlStatus status = build_rest(w, &rest);
    double *r = ARENA_NEW(run->arena, double, run_size(run)),
           *best = ARENA_NEW(run->arena, double, run_size(run)),
           *b = ARENA_NEW(run->arena, double, run_size(run));
    if (status != TDL_STATUS_OK || r == NULL || best == NULL || b == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(best, 0, run_size(run) * sizeof(double));
    Run inner = *run;
    inner.sys = &rest;
    inner.best = best;
    inner.start = NULL;
    inner.warm = false;
    inner.depth = run->depth + 1;
    rest.target *= LOOSE;
    inner.error = rest.n > 0 ? system_error(&rest, rest.b, best) : 0.0;
    TdlFrictionSolverKind used;
    if (!run_done(&inner)) {
        status = run_auto(&inner, &used);
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

TdlStatus run_wedges(Run* run) {
    size_t n = (size_t)run->sys->n, size = run_size(run);
    if (size > MOST_UNKNOWNS || run->depth >= DEPTH_MOST) {
        return TDL_STATUS_OK;
    }
    ArenaMark mark = arena_mark(run->arena);
    Wedge w = {.run = run};
    w.out = ARENA_NEW(run->arena, bool, n);
    w.order = ARENA_NEW(run->arena, int, n);
    w.stress = ARENA_NEW(run->arena, double, size);
    w.work = ARENA_NEW(run->arena, double, size);
    w.u = ARENA_NEW(run->arena, double, size);
    w.matrix = ARENA_NEW(run->arena, double, size* size);
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    bool found = false;
    if (w.out && w.order && w.stress && w.work && w.u && w.matrix) {
        status = hold(&w, &found);
    }
    if (status == TDL_STATUS_OK && found) {
        status = solve_rest(&w);
    }
    arena_release(run->arena, mark);
    return status == TDL_STATUS_STOPPED ? TDL_STATUS_OK : status;
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
