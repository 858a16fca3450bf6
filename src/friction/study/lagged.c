// S3's law of friction around its normal problem: every contact slides, against the velocity that
// it had, with the normal impulse that it had, until both stand still. Without friction, or where
// all slide, that is Coulomb's law; a contact that Coulomb's law would hold is driven back instead,
// since at rest it has no direction to slide in. docs/theory/friction.md, section 6
#include "friction/study/normal.h"
#include "friction/study/study.h"

#include <string.h>

// Rows above which a dense matrix is too large: 200 MB with its factor.
enum { MOST_ROWS = 3500 };

// Tangential velocity below which a contact is at rest: it has no direction. The unit is that of b.
static const double AT_REST = 1.0e-11;

// Rounds after which directions are kept: contacts that turn each other might do so for ever.
enum { TURNING_ROUNDS = 10 };

// Where friction does not settle it is changed by a part: what it is multiplied by when it changes
// by more than the rest of what it did before, and the least.
static const double SLOWER = 0.7, SETTLING = 0.9, SLOWEST = 0.05;

typedef struct Lagged {
    Run* run;
    double part; // of a change of friction that is made
    NormalProblem normal;
    int* row;                       // [normal.n] which row of the island each one is
    double *W, *q;                  // of the normal problem
    unsigned char* free;            // [normal.n]
    double *x, *y;                  // [normal.n] impulses and velocities
    double *r, *u, *friction, *way; // [n d] of the island: impulses, velocities, the tangential
                                    // ones of friction, and the unit way that it is against
} Lagged;

// Whether S3 has an unknown in that row: normals, and what is joined.
static bool is_unknown(const System* sys, int contact, int k) {
    return k == 0 || sys->law[contact] == LAW_BILATERAL;
}

static bool can_take(const System* sys, int* rows) {
    *rows = 0;
    for (int i = 0; i < sys->n; ++i) {
        for (int k = 0; k < sys->d; ++k) {
            *rows += is_unknown(sys, i, k);
        }
        if (sys->law[i] == LAW_ROUGH) {
            return false; // friction without limit
        }
    }
    return *rows <= MOST_ROWS;
}

static bool allocate(Lagged* g, int rows) {
    Arena* arena = g->run->arena;
    size_t n = (size_t)rows, size = run_size(g->run);
    double** const own[] = {&g->q, &g->x, &g->y, &g->r, &g->u, &g->friction, &g->way};
    for (size_t k = 0; k < sizeof own / sizeof *own; ++k) {
        *own[k] = ARENA_NEW(arena, double, k < 3 ? n : size);
        if (*own[k] == NULL) {
            return false;
        }
        memset(*own[k], 0, (k < 3 ? n : size) * sizeof(double));
    }
    g->row = ARENA_NEW(arena, int, n);
    g->free = ARENA_NEW(arena, unsigned char, n);
    g->W = ARENA_NEW(arena, double, n* n);
    g->normal = (NormalProblem){rows, g->W, g->q, g->free};
    return g->row != NULL && g->free != NULL && g->W != NULL;
}

// The rows that S3 solves for; place: of each row of the island among them, -1: none.
static void list_rows(Lagged* g, int* place) {
    const System* sys = g->run->sys;
    int d = sys->d, at = 0;
    for (int i = 0; i < sys->n * d; ++i) {
        place[i] = -1;
        if (is_unknown(sys, i / d, i % d)) {
            g->free[at] = sys->law[i / d] == LAW_BILATERAL;
            g->x[at] = g->run->best[i];
            g->row[at] = i;
            place[i] = at++;
        }
    }
}

static void take_blocks(Lagged* g, const int* place) {
    const System* sys = g->run->sys;
    int d = sys->d, n = g->normal.n;
    memset(g->W, 0, (size_t)n * (size_t)n * sizeof *g->W);
    for (int i = 0; i < sys->n; ++i) {
        for (int e = sys->start[i]; e < sys->start[i + 1]; ++e) {
            const double* block = sys->blocks + (ptrdiff_t)e * d * d;
            for (int k = 0; k < d * d; ++k) {
                int to = place[i * d + k % d], from = place[sys->column[e] * d + k / d];
                if (to >= 0 && from >= 0) {
                    g->W[to + (ptrdiff_t)from * n] = block[k];
                }
            }
        }
    }
}

// Where W is not formed: what unit impulses do, through the bodies; symmetric but for rounding,
// which the mean takes away.
static void take_products(Lagged* g) {
    int n = g->normal.n;
    for (int j = 0; j < n; ++j) {
        g->r[g->row[j]] = 1.0;
        system_product(g->run->sys, g->r, g->u);
        g->r[g->row[j]] = 0.0;
        for (int i = 0; i < n; ++i) {
            double* to = g->W + (ptrdiff_t)j * n + i;
            double* other = g->W + (ptrdiff_t)i * n + j;
            *to = i < j ? 0.5 * (*to + g->u[g->row[i]]) : g->u[g->row[i]];
            *other = *to;
        }
    }
}

// W of these rows, dense.
static bool fill(Lagged* g) {
    int* place = ARENA_NEW(g->run->arena, int, run_size(g->run));
    if (place == NULL) {
        return false;
    }
    list_rows(g, place);
    if (g->run->sys->start != NULL) {
        take_blocks(g, place);
    } else {
        take_products(g);
    }
    return true;
}

// Multiplications that this takes.
static double fill_work(const Run* run, int rows) {
    bool formed = run->sys->start != NULL;
    return (double)rows * (formed ? rows : system_product_work(run->sys));
}

// Impulses: what was solved for, and the friction that it was solved with.
static void put_together(Lagged* g) {
    memcpy(g->r, g->friction, run_size(g->run) * sizeof *g->r);
    for (int i = 0; i < g->normal.n; ++i) {
        g->r[g->row[i]] = g->x[i];
    }
    system_velocity(g->run->sys, g->r, g->u);
}

// The direction of friction: against the velocity, as long as that does not turn back. (F.90)
static void turn(double* way, const double* u, int d, bool again) {
    double speed = tangent_norm(d, u), along = 0.0;
    for (int k = 1; k < d; ++k) {
        along += way[k] * u[k];
    }
    bool first = tangent_norm(d, way) == 0.0;
    for (int k = 1; k < d && speed > AT_REST && (first || (again && along > 0.0)); ++k) {
        way[k] = u[k] / speed;
    }
}

// Friction with the velocities and impulses found: how much it would change by.
static double renew_friction(Lagged* g, bool again) {
    const System* sys = g->run->sys;
    double change = 0.0;
    for (int i = 0; i < sys->n; ++i) {
        double *way = g->way + i * sys->d, *friction = g->friction + i * sys->d;
        if (sys->law[i] != LAW_CONE) {
            continue;
        }
        turn(way, g->u + i * sys->d, sys->d, again);
        for (int k = 1; k < sys->d; ++k) {
            double off = -sys->mu[i] * g->r[i * sys->d] * way[k] - friction[k];
            change += off * off;
            friction[k] += g->part * off;
        }
    }
    return sqrt(change);
}

// The normal problem with the friction as it is.
static TdlStatus solve_normal(Lagged* g, NormalFn solve, NormalSolve* out) {
    Run* run = g->run;
    system_velocity(run->sys, g->friction, g->u);
    for (int i = 0; i < g->normal.n; ++i) {
        g->q[i] = g->u[g->row[i]];
    }
    TdlStatus status = solve(&g->normal, run->arena, run->sys->effort, g->x, g->y, out);
    run->unsolvable += out->outcome == NORMAL_INFEASIBLE;
    return status;
}

static TdlStatus lag(Lagged* g, NormalFn solve, TdlFrictionSolverKind kind) {
    Run* run = g->run;
    double work = run_sweep_work(run), change = INFINITY;
    for (int k = 0; k < run->limit && change > ROUND_PART * run->sys->target; ++k) {
        NormalSolve solved;
        if (run_spent(run, work)) {
            return TDL_STATUS_OK;
        }
        TdlStatus status = solve_normal(g, solve, &solved);
        if (status != TDL_STATUS_OK || solved.outcome == NORMAL_INFEASIBLE) {
            return status;
        }
        put_together(g);
        run_spend(run, work);
        run_count(run, kind, g->r);
        run->error = system_error(run->sys, g->u, g->r);
        memcpy(run->best, g->r, run_size(run) * sizeof(double));
        double before = change;
        change = renew_friction(g, k < TURNING_ROUNDS);
        if (k > TURNING_ROUNDS && change > SETTLING * before) {
            g->part = fmax(SLOWER * g->part, SLOWEST);
        }
    }
    return TDL_STATUS_OK;
}

static TdlStatus run_lagged(Run* run, NormalFn solve, TdlFrictionSolverKind kind) {
    ArenaMark mark = arena_mark(run->arena);
    Lagged g = {.run = run, .part = 1.0};
    int rows;
    TdlStatus status = TDL_STATUS_OK;
    if (can_take(run->sys, &rows) && !run_spent(run, fill_work(run, rows))) {
        run_spend(run, fill_work(run, rows));
        status = allocate(&g, rows) && fill(&g) ? lag(&g, solve, kind) : TDL_STATUS_NO_MEMORY;
    }
    arena_release(run->arena, mark);
    return status;
}

TdlStatus run_active_set(Run* run) {
    return run_lagged(run, normal_active_set, TDL_FRICTION_ACTIVE_SET);
}

TdlStatus run_normal_interior(Run* run) {
    return run_lagged(run, normal_interior, TDL_FRICTION_NORMAL_INTERIOR);
}
