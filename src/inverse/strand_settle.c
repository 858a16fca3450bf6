// A strand that comes to rest, and where its places then are.
//
// Newton's method on the balance of moments, with as much more stiffness in the Hessian as makes it
// positive definite: each step goes downhill. It is cut where a section would turn by more than a
// radian, and halved until the slope along it has not turned round. O(n) a step. (V.96)
#include "inverse/strand_derivative.h"

#include "base/log.h"

#include <float.h>
#include <string.h>

enum {
    STEPS_MAX = 300,  // a straight fibre that curls up takes some 50
    WIDENINGS = 60,   // of the stiffness by 2: past any ratio that forces could have to it
    HALVINGS_MAX = 12 // of a step: it is then 2e-4 of a radian at most
};

// The most that a section turns in a step, rad.
static const double TURN_MOST = 1.0;

// What is left of the moments, in roundings of those that they are made of.
static const double BALANCE_TOL = 64.0 * DBL_EPSILON;

// A step below this, rad, is taken whole: whether it goes downhill is soon a matter of rounding.
static const double SURE_STEP = 1.0e-6;

// A step that changes nothing any more, rad.
static const double STEP_TOL = 1.0e-13;

typedef struct Settling {
    Strand strand;
    TdlStrand def;      // its curvature is `at`
    TdlVec3 *at, *goal; // [n] 1/m: present shape; a trial
    const TdlVec3* natural;
    StrandHessian h;
    StrandFactor factor;
    double *r, *step, *pull, *G; // [3 n]
    double noise;                // size of the terms of r
} Settling;

// r = K (q - q_rest) + G in the shape `kappa`.
static bool find_balance(Settling* s, const TdlVec3* kappa, double* r) {
    int n = s->strand.block_count;
    s->def.curvature = kappa;
    for (int i = 0; i < n; ++i) {
        TdlVec3 bent = tdl_scale3(s->strand.l, tdl_sub3(kappa[i], s->natural[i]));
        tdl_store3(s->pull, i, bent);
    }
    strand_apply_stiffness(&s->h, s->pull, r);
    bool ok = strand_gradient(&s->strand, s->G);
    s->noise = 0.0;
    for (int i = 0; i < 3 * n; ++i) {
        s->noise = fmax(s->noise, fabs(r[i]) + fabs(s->G[i]));
        r[i] += s->G[i];
    }
    return ok;
}

static double dot(int n, const double* a, const double* b) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

// The step, cut; false where nothing is positive definite. Tells how far a section turns by it.
static bool find_step(Settling* s, double* turn) {
    int n = s->strand.block_count;
    double k = 1.0;
    strand_factor(&s->h, k, 0.0, &s->factor);
    for (int i = 0; s->factor.negative > 0 && i < WIDENINGS; ++i) {
        k *= 2.0;
        strand_factor(&s->h, k, 0.0, &s->factor);
    }
    for (int i = 0; i < 3 * n; ++i) {
        s->step[i] = -s->r[i];
    }
    strand_solve(&s->h, &s->factor, s->step);
    TdlVec3 turned = {0};
    *turn = 0.0;
    for (int i = 0; i < n; ++i) {
        turned = tdl_add3(turned, tdl_mul33_3(s->h.turn[i], tdl_load3(s->step, i)));
        *turn = fmax(*turn, fmax(tdl_norm3(turned), tdl_norm3(tdl_load3(s->step, i))));
    }
    double cut = fmin(1.0, TURN_MOST / *turn);
    for (int i = 0; cut < 1.0 && i < 3 * n; ++i) {
        s->step[i] *= cut;
    }
    return s->factor.negative == 0 && isfinite(*turn);
}

// Goes along the step until the slope there has turned round by no more than half. (V.96)
static bool go(Settling* s, double turn) {
    int n = s->strand.block_count;
    double slope = dot(3 * n, s->r, s->step), part = 1.0;
    for (int k = 0; k < HALVINGS_MAX; ++k, part *= 0.5) {
        for (int i = 0; i < n; ++i) {
            s->goal[i] = tdl_axpy3(s->at[i], part / s->strand.l, tdl_load3(s->step, i));
        }
        if (!find_balance(s, s->goal, s->r)) {
            return false;
        }
        if (turn < SURE_STEP || dot(3 * n, s->r, s->step) <= -0.5 * slope) {
            break;
        }
    }
    memcpy(s->at, s->goal, (size_t)n * sizeof *s->at);
    s->def.curvature = s->at;
    return true;
}

static bool make_room(const TdlStrand* def, const TdlVec3* natural, Settling* s) {
    int n = s->strand.block_count;
    Arena* arena = s->strand.arena;
    s->natural = natural;
    s->at = ARENA_NEW(arena, TdlVec3, n);
    s->goal = ARENA_NEW(arena, TdlVec3, n);
    s->r = ARENA_NEW(arena, double, 12 * (size_t)n);
    if (s->at == NULL || s->goal == NULL || s->r == NULL || !strand_hessian(&s->strand, &s->h) ||
        !strand_factor_new(arena, &s->h, &s->factor)) {
        return false;
    }
    s->step = s->r + 3 * (ptrdiff_t)n;
    s->pull = s->r + 6 * (ptrdiff_t)n;
    s->G = s->r + 9 * (ptrdiff_t)n;
    memcpy(s->at, def->curvature, (size_t)n * sizeof *s->at);
    s->def = *def;
    s->def.curvature = s->at;
    s->strand.def = &s->def;
    return find_balance(s, s->at, s->r);
}

static double largest(int n, const double* r) {
    double most = 0.0;
    for (int i = 0; i < n; ++i) {
        most = fmax(most, fabs(r[i]));
    }
    return most;
}

static TdlStatus settle(const TdlHost* host, const TdlStrand* def, const TdlVec3* natural,
                        int steps_max, Settling* s) {
    if (!make_room(def, natural, s)) {
        return TDL_STATUS_NO_MEMORY;
    }
    int n = s->strand.block_count;
    for (int k = 0; k < steps_max; ++k) {
        ArenaMark mark = arena_mark(s->strand.arena);
        double turn;
        if (!s->strand.kind->hessian(&s->strand, &s->h)) {
            return TDL_STATUS_NO_MEMORY;
        }
        bool balanced = largest(3 * n, s->r) <= BALANCE_TOL * s->noise;
        if (!find_step(s, &turn)) {
            break;
        }
        strand_factor(&s->h, 1.0, 0.0, &s->factor);
        bool stable = s->factor.negative == 0;
        if (stable && (balanced || turn < STEP_TOL)) { // one step more, to rounding
            for (int i = 0; i < n; ++i) {
                s->at[i] = tdl_axpy3(s->at[i], 1.0 / s->strand.l, tdl_load3(s->step, i));
            }
            return TDL_STATUS_OK;
        }
        if (balanced) {
            return tdl_fail(host, TDL_STATUS_DIVERGED,
                            "a strand is in balance where it is not stable");
        }
        if (!go(s, turn)) {
            return TDL_STATUS_NO_MEMORY;
        }
        arena_release(s->strand.arena, mark);
    }
    return tdl_fail(host, TDL_STATUS_DIVERGED, "a strand does not come to rest");
}

TdlStatus strand_settle(const TdlHost* host, const TdlStrand* def, TdlVec3 gravity,
                        const TdlVec3* natural, int steps_max, TdlVec3* curvature) {
    Arena arena;
    Settling s = {0};
    arena_init(&arena, &host->mem);
    TdlStatus status = strand_open(host, &arena, def, gravity, &s.strand);
    if (status == TDL_STATUS_OK) {
        status = strand_has_derivatives(host, &s.strand);
    }
    for (int i = 0; status == TDL_STATUS_OK && i < s.strand.block_count; ++i) {
        if (!tdl_finite3(natural[i])) {
            status = tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "a natural curvature is not finite");
        }
    }
    if (status == TDL_STATUS_OK) {
        status = settle(host, def, natural, steps_max, &s);
    }
    if (status == TDL_STATUS_OK) {
        memcpy(curvature, s.at, (size_t)s.strand.block_count * sizeof *curvature);
    }
    arena_destroy(&arena);
    return status;
}

TdlStatus tdl_strand_settle(const TdlHost* host, const TdlStrand* def, TdlVec3 gravity,
                            const TdlVec3* natural, TdlVec3* curvature) {
    return strand_settle(host, def, gravity, natural, STEPS_MAX, curvature);
}

TdlStatus tdl_strand_places(const TdlHost* host, const TdlStrand* def, int count, const double* at,
                            TdlVec3* out) {
    Arena arena;
    Strand strand;
    arena_init(&arena, &host->mem);
    TdlStatus status = strand_open(host, &arena, def, (TdlVec3){0}, &strand);
    if (status == TDL_STATUS_OK) {
        status = strand_has_derivatives(host, &strand);
    }
    if (status == TDL_STATUS_OK && !strand_has_places(&strand, count, at)) {
        status = tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                          "places must be arc lengths of the strand that do not fall");
    }
    if (status == TDL_STATUS_OK && !strand.kind->places(&strand, NULL, count, at, out)) {
        status = TDL_STATUS_NO_MEMORY;
    }
    arena_destroy(&arena);
    return status;
}
