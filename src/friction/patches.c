// Relaxation by patches, the worst first: each is a contact problem by the proximal method, with
// what all others do for its b. Some milliseconds a patch, of which a step leaves one to four.
#include "friction/patches.h"

#include "friction/error.h"

#include <stdlib.h>
#include <string.h>

// Contacts of a patch: a contact of hair shares its two hairs with some twenty others, these theirs
// with 200 more. With 128 sweeps after a step take a third longer, patches a quarter of the time.
enum { PATCH_CONTACTS = 256 };
// Patches after a step at most; where more would be due the error is everywhere.
enum { MOST_PATCHES = 12 };
// Newton steps of a patch (2 to 25 do), and the part of what is asked of all that it may leave.
enum { PATCH_STEPS = 60 };
static const double PATCH_PART = 0.1;
// A patch has most of the error when it has this part of its square; what it leaves of its own is
// less than that, or it is of no help.
static const double MOST_OF = 0.5;

typedef struct Patches {
    Run* run;
    double *u, *r; // [3 n] the caller's
    double* off;   // [n] squares of the error
    int* at;       // [n] place in the patch at hand, -1: none
    int* member;   // [count] its contacts, ascending
    int count;
} Patches;

// The squared error of all; where it is largest.
static double measure(Patches* p, int* worst) {
    const System* sys = p->run->sys;
    double sum = 0.0;
    *worst = 0;
    for (int i = 0; i < sys->n; ++i) {
        double f[3];
        error_map(sys->error_kind, 3, sys->law[i], sys->mu[i], sys->rho, p->u + 3 * i, p->r + 3 * i,
                  f);
        p->off[i] = f[0] * f[0] + f[1] * f[1] + f[2] * f[2];
        sum += p->off[i];
        *worst = p->off[i] > p->off[*worst] ? i : *worst;
    }
    return sum;
}

static int ascending(const void* a, const void* b) {
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

// Whether a contact carries, or would if nobody else moved.
static bool answers(const Patches* p, int i) {
    const double* r = p->r + 3 * (size_t)i;
    return r[0] != 0.0 || r[1] != 0.0 || r[2] != 0.0 || p->u[3 * (size_t)i] <= 0.0;
}

// The patch around `first`, by couplings, as many as fit. Returns its squared error.
static double gather(Patches* p, int first) {
    const System* sys = p->run->sys;
    double sum = 0.0;
    p->count = 0;
    p->at[first] = 0;
    p->member[p->count++] = first;
    for (int k = 0; k < p->count; ++k) {
        int i = p->member[k];
        for (int e = sys->start[i]; e < sys->start[i + 1] && p->count < PATCH_CONTACTS; ++e) {
            int j = sys->column[e];
            if (p->at[j] < 0 && answers(p, j)) {
                p->at[j] = 0;
                p->member[p->count++] = j;
            }
        }
    }
    qsort(p->member, (size_t)p->count, sizeof *p->member, ascending);
    for (int k = 0; k < p->count; ++k) {
        p->at[p->member[k]] = k;
        sum += p->off[p->member[k]];
    }
    return sum;
}

static void dismiss(Patches* p) {
    for (int k = 0; k < p->count; ++k) {
        p->at[p->member[k]] = -1;
    }
}

static int count_blocks(const Patches* p) {
    const System* sys = p->run->sys;
    int blocks = 0;
    for (int k = 0; k < p->count; ++k) {
        int i = p->member[k];
        for (int e = sys->start[i]; e < sys->start[i + 1]; ++e) {
            blocks += p->at[sys->column[e]] >= 0;
        }
    }
    return blocks;
}

// The problem of the patch alone, but for its b.
static TdlStatus take_problem(const Patches* p, System* own) {
    const System* sys = p->run->sys;
    Arena* arena = p->run->arena;
    size_t m = (size_t)p->count;
    *own = (System){.d = 3,
                    .n = p->count,
                    .sigma = sys->sigma,
                    .beta = sys->beta,
                    .error_kind = sys->error_kind,
                    .rho = sys->rho,
                    .target = PATCH_PART * sys->target,
                    .factor = sys->factor,
                    .effort = sys->effort};
    own->block_count = count_blocks(p);
    own->law = ARENA_NEW(arena, ContactLaw, m);
    own->mu = ARENA_NEW(arena, double, m);
    own->b = ARENA_NEW(arena, double, 3 * m);
    own->diag = ARENA_NEW(arena, double, 9 * m);
    own->start = ARENA_NEW(arena, int, m + 1);
    own->column = ARENA_NEW(arena, int, own->block_count);
    own->blocks = ARENA_NEW(arena, double, 9 * (size_t)own->block_count + 4);
    if (!own->law || !own->mu || !own->b || !own->diag || !own->start || !own->column ||
        !own->blocks) {
        return TDL_STATUS_NO_MEMORY;
    }
    int used = 0;
    for (int k = 0; k < p->count; ++k) {
        int i = p->member[k];
        own->start[k] = used;
        own->law[k] = sys->law[i];
        own->mu[k] = sys->mu[i];
        memcpy(own->diag + 9 * (size_t)k, sys->diag + 9 * (size_t)i, 9 * sizeof(double));
        for (int e = sys->start[i]; e < sys->start[i + 1]; ++e) {
            if (p->at[sys->column[e]] >= 0) {
                own->column[used] = p->at[sys->column[e]];
                memcpy(own->blocks + 9 * (size_t)used++, sys->blocks + 9 * (size_t)e,
                       9 * sizeof(double));
            }
        }
    }
    own->start[p->count] = used;
    memset(own->blocks + 9 * (size_t)used, 0, 4 * sizeof(double));
    return TDL_STATUS_OK;
}

// b <- what the others do, u - W r with the patch's own W. (F.80)
static void take_others(const Patches* p, System* own, double* u, double* r) {
    size_t size = 3 * (size_t)own->n;
    for (int k = 0; k < p->count; ++k) {
        memcpy(r + 3 * k, p->r + 3 * (size_t)p->member[k], 3 * sizeof *r);
    }
    memset(own->b, 0, size * sizeof(double));
    system_velocity(own, r, u);
    for (size_t k = 0; k < size; ++k) {
        double now = p->u[3 * (size_t)p->member[k / 3] + k % 3];
        own->b[k] = now - u[k];
        u[k] = now;
    }
}

// Takes over what the patch came to, and what that does to all velocities.
static void give_back(Patches* p, const double* r) {
    const System* sys = p->run->sys;
    for (int k = 0; k < p->count; ++k) {
        int i = p->member[k];
        double dr[3];
        for (int c = 0; c < 3; ++c) {
            dr[c] = r[3 * k + c] - p->r[3 * i + c];
            p->r[3 * i + c] = r[3 * k + c];
        }
        for (int e = sys->start[i]; e < sys->start[i + 1]; ++e) {
            const double* w = sys->blocks + 9 * (size_t)e; // W_ij by columns; W_ji is its transpose
            double* u = p->u + 3 * (size_t)sys->column[e];
            for (int c = 0; c < 3; ++c) {
                u[c] += w[3 * c] * dr[0] + w[3 * c + 1] * dr[1] + w[3 * c + 2] * dr[2];
            }
        }
    }
}

// Solves the patch at hand. `helped`: little is left of its error.
static TdlStatus solve_patch(Patches* p, bool* helped) {
    Run* run = p->run;
    ArenaMark mark = arena_mark(run->arena);
    size_t size = 3 * (size_t)p->count;
    System own;
    TdlStatus status = take_problem(p, &own);
    double *u = ARENA_NEW(run->arena, double, size), *r = ARENA_NEW(run->arena, double, size);
    if (status != TDL_STATUS_OK || u == NULL || r == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    take_others(p, &own, u, r);
    Run alone = {.sys = &own,
                 .arena = run->arena,
                 .options = run->options,
                 .best = r,
                 .limit = PATCH_STEPS,
                 .worth = INFINITY};
    alone.error = system_error(&own, u, r);
    double before = alone.error;
    status = run_proximal(&alone);
    if (status == TDL_STATUS_OK) {
        give_back(p, r);
    }
    *helped = alone.error < MOST_OF * before;
    arena_release(run->arena, mark);
    return status;
}

TdlStatus patches_solve(Run* run, double goal, double most, double* u, double* r) {
    size_t n = (size_t)run->sys->n;
    ArenaMark mark = arena_mark(run->arena);
    Patches p = {.run = run, .u = u, .r = r};
    p.off = ARENA_NEW(run->arena, double, n);
    p.at = ARENA_NEW(run->arena, int, n);
    p.member = ARENA_NEW(run->arena, int, PATCH_CONTACTS);
    if (!p.off || !p.at || !p.member) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < n; ++i) {
        p.at[i] = -1;
    }
    TdlStatus status = TDL_STATUS_OK;
    bool helped = true;
    double budget = run_allow(run, most);
    for (int k = 0; k < MOST_PATCHES && helped && status == TDL_STATUS_OK; ++k) {
        int worst;
        double all = measure(&p, &worst);
        if (sqrt(all) <= goal || gather(&p, worst) < MOST_OF * all) {
            break;
        }
        status = solve_patch(&p, &helped);
        dismiss(&p);
    }
    run->sys->effort->budget = budget;
    arena_release(run->arena, mark);
    return status;
}
