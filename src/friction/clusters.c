// Clusters from the swings of a step, and their own problems by the proximal method, dense in
// effect: some microseconds a step.
#include "friction/clusters.h"

#include <stdlib.h>
#include <string.h>

// Contacts swing together when one goes this part as far as the other.
static const double TOGETHER = 0.2;
// Newton steps of one solve, and the part of what is asked of all that it may leave.
enum { CLUSTER_STEPS = 60 };
static const double CLUSTER_PART = 0.1;

// Lists the contacts that swing with `first`, the nearest as many as fit; how many.
static int gather(const System* sys, const Swing* swing, int first, int* taken, int* member) {
    int count = 0;
    member[count++] = first;
    taken[first] = 1;
    for (int k = 0; k < count; ++k) {
        int i = member[k];
        for (int e = sys->start[i]; e < sys->start[i + 1]; ++e) {
            int j = sys->column[e];
            if (taken[j] || !(swing[j].far > TOGETHER * swing[first].far)) {
                continue;
            }
            if (count == CLUSTER_MOST) {
                return count;
            }
            taken[j] = 1;
            member[count++] = j;
        }
    }
    return count;
}

static int ascending(const void* a, const void* b) {
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

// The problem of a cluster alone: all its blocks of W, zero where there is none.
static TdlStatus take_problem(const System* sys, const int* member, int n, Arena* arena,
                              System* own) {
    size_t m = (size_t)n;
    *own = *sys;
    own->n = n;
    own->phases.count = 0;
    own->pool = NULL;
    own->effort = NULL;
    own->bodies_count = 0;
    own->v_given = NULL;
    own->problem = NULL;
    own->side = NULL;
    own->sweep_bodies = false;
    own->block_count = n * n;
    own->law = ARENA_NEW(arena, ContactLaw, m);
    own->mu = ARENA_NEW(arena, double, m);
    own->b = ARENA_NEW(arena, double, 3 * m);
    own->diag = ARENA_NEW(arena, double, 9 * m);
    own->start = ARENA_NEW(arena, int, m + 1);
    own->column = ARENA_NEW(arena, int, m* m);
    own->blocks = ARENA_NEW(arena, double, 9 * m * m + 4);
    if (!own->law || !own->mu || !own->b || !own->diag || !own->start || !own->column ||
        !own->blocks) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(own->blocks, 0, (9 * m * m + 4) * sizeof(double));
    for (int a = 0; a < n; ++a) {
        int i = member[a];
        own->start[a] = a * n;
        own->law[a] = sys->law[i];
        own->mu[a] = sys->mu[i];
        memcpy(own->diag + 9 * (size_t)a, sys->diag + 9 * (size_t)i, 9 * sizeof(double));
        for (int b = 0, e = sys->start[i]; b < n; ++b) {
            int at = a * n + b;
            own->column[at] = b;
            while (e < sys->start[i + 1] && sys->column[e] < member[b]) {
                ++e;
            }
            if (e < sys->start[i + 1] && sys->column[e] == member[b]) {
                memcpy(own->blocks + 9 * (size_t)at, sys->blocks + 9 * (size_t)e,
                       9 * sizeof(double));
            }
        }
    }
    own->start[n] = n * n;
    return TDL_STATUS_OK;
}

typedef struct Seed {
    double far;
    int contact;
} Seed;

static int farthest_first(const void* a, const void* b) {
    const Seed *x = a, *y = b;
    return x->far != y->far ? (x->far < y->far) - (x->far > y->far)
                            : (x->contact > y->contact) - (x->contact < y->contact);
}

TdlStatus clusters_find(Clusters* out, Run* run, const Swing* swing) {
    const System* sys = run->sys;
    size_t n = (size_t)sys->n;
    Arena* arena = run->arena;
    *out = (Clusters){0};
    Seed* seed = ARENA_NEW(arena, Seed, n);
    int *taken = ARENA_NEW(arena, int, n), list[CLUSTER_MOST];
    out->start = ARENA_NEW(arena, int, n + 1);
    out->member = ARENA_NEW(arena, int, n);
    out->own = ARENA_NEW(arena, System, n / 2 + 1);
    if (!seed || !taken || !out->start || !out->member || !out->own) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(taken, 0, n * sizeof(int));
    int seeds = 0;
    out->start[0] = 0;
    for (int i = 0; i < sys->n; ++i) {
        if (swing[i].out) {
            seed[seeds++] = (Seed){swing[i].far, i};
        }
    }
    qsort(seed, (size_t)seeds, sizeof *seed, farthest_first);
    for (int k = 0; k < seeds; ++k) {
        int count = taken[seed[k].contact] ? 0 : gather(sys, swing, seed[k].contact, taken, list);
        if (count < 2) {
            continue; // alone it is what sweeps do
        }
        qsort(list, (size_t)count, sizeof *list, ascending);
        int at = out->start[out->count];
        memcpy(out->member + at, list, (size_t)count * sizeof *list);
        TdlStatus status = take_problem(sys, list, count, arena, &out->own[out->count]);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        out->start[++out->count] = at + count;
    }
    return TDL_STATUS_OK;
}

void clusters_solve(const Clusters* clusters, int index, Run* run, const double* u, double* r) {
    System own = clusters->own[index];
    size_t size = 3 * (size_t)own.n;
    double change[3 * CLUSTER_MOST];
    // what the others do: u without W r
    memset(own.b, 0, size * sizeof(double));
    system_velocity(&own, r, change);
    for (size_t k = 0; k < size; ++k) {
        own.b[k] = u[k] - change[k];
    }
    own.target = CLUSTER_PART * run->sys->target;
    Run alone = {.sys = &own,
                 .arena = run->arena,
                 .options = run->options,
                 .best = r,
                 .limit = CLUSTER_STEPS,
                 .worth = INFINITY};
    alone.error = system_error(&own, u, r);
    if (!run_done(&alone)) {
        run_proximal(&alone); // without memory the impulses stay as they are
    }
}
