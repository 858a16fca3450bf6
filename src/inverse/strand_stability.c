// Whether a strand stays in its shape: the least stiffness that holds it, exactly.
//
// Stiffness enters the Hessian S + c K linearly, and S, which has the weight and the moments that
// balance it, does not depend on it. So the least factor is minus the smallest eigenvalue of the
// pencil (S, K). Inverse iteration finds it; whether a shift lies below all eigenvalues is asked of
// the factorisation, never assumed. Some ten factorisations of O(n). (V.42)
#include "inverse/strand.h"

#include "base/log.h"
#include "base/rng.h"

#include <string.h>

// w L^3 / EI at which an upright column of uniform weight buckles: a first guess of the scale.
static const double COLUMN = 7.837;

// Factors below this share of the scale above count as none: S is then not negative but for
// rounding, which leaves about 1e-15 of it for a hundred elements.
static const double NO_FACTOR = 1.0e-12;

// Relative width of the bracket in which an eigenvalue is known, and where the value is the
// quotient of Rayleigh at its upper end: its error is the square of that.
static const double VALUE_TOL = 1.0e-9;

enum {
    MAX_WIDENINGS = 40, // of the first shift by 4: sure to pass any ratio of double numbers
    MAX_STEPS = 100,    // twice what halving the bracket alone would take
};

// S + k K + e I with one of the two factors to be found: k = -sigma, or e = -sigma.
typedef struct Pencil {
    const StrandHessian* h;
    bool by_stiffness;
    double k; // where it is not
    StrandFactor* factor;
    double *x, *Bx, *y; // [3 count]
} Pencil;

static void factor_at(const Pencil* p, double sigma) {
    strand_factor(p->h, p->by_stiffness ? -sigma : p->k, p->by_stiffness ? 0.0 : -sigma, p->factor);
}

static void apply_metric(const Pencil* p, const double* x, double* out) {
    if (p->by_stiffness) {
        strand_apply_stiffness(p->h, x, out);
    } else {
        memcpy(out, x, 3 * (size_t)p->h->count * sizeof *out);
    }
}

static double dot(int n, const double* a, const double* b) {
    double sum[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < n; i += 3) {
        for (int c = 0; c < 3; ++c) {
            sum[c] += a[i + c] * b[i + c];
        }
    }
    return sum[0] + sum[1] + sum[2];
}

// A step of inverse iteration with the factor at sigma. Tells the quotient of Rayleigh of the new
// vector, and its residual: an eigenvalue is not further away than that. (V.43)
static double iterate(const Pencil* p, double sigma, double* residual) {
    int n = 3 * p->h->count;
    memcpy(p->y, p->Bx, (size_t)n * sizeof *p->y);
    strand_solve(p->h, p->factor, p->y);
    double xx = dot(n, p->x, p->Bx), yx = dot(n, p->y, p->Bx);
    apply_metric(p, p->y, p->Bx);
    double yy = dot(n, p->y, p->Bx), away = yx / yy, scale = 1.0 / sqrt(yy);
    *residual = sqrt(fmax(0.0, xx / yy - away * away));
    for (int i = 0; i < n; ++i) {
        p->x[i] = scale * p->y[i];
        p->Bx[i] *= scale;
    }
    return sigma + away;
}

// A vector that no mode is orthogonal to but by chance.
static void start(const Pencil* p) {
    Rng rng = rng_seed(1);
    for (int i = 0; i < 3 * p->h->count; ++i) {
        p->x[i] = rng_range(&rng, 0.5, 1.5);
    }
    apply_metric(p, p->x, p->Bx);
}

// The smallest eigenvalue, from a guess that is below zero, to VALUE_TOL of itself or to `floor`;
// x is its mode. NaN when something is not finite.
static double lowest(const Pencil* p, double guess, double floor) {
    double low = guess, residual;
    factor_at(p, low);
    for (int i = 0; p->factor->negative > 0; ++i) {
        if (i == MAX_WIDENINGS) {
            return NAN;
        }
        low *= 4.0;
        factor_at(p, low);
    }
    start(p);
    double rho = iterate(p, low, &residual), high = rho;
    for (int i = 0; i < MAX_STEPS && high - low > fmax(VALUE_TOL * fabs(high), floor); ++i) {
        // just below where the eigenvalue is now; where it is not the lowest, or that is no
        // progress, in the middle
        double sigma = rho - residual, middle = low + 0.5 * (high - low);
        sigma = rho <= high && sigma > low ? fmax(sigma, low + 0.1 * (high - low)) : middle;
        sigma = fmin(sigma, high - 0.3 * fmax(VALUE_TOL * fabs(high), floor));
        factor_at(p, sigma);
        *(p->factor->negative == 0 ? &low : &high) = sigma;
        rho = iterate(p, sigma, &residual);
        high = fmin(high, rho);
    }
    return isfinite(high) ? high : NAN;
}

// --- strands --------------------------------------------------------------------------------

typedef struct Stability {
    StrandHessian h;
    StrandFactor factor;
    double* memory; // [9 count]
    double scale;   // of a factor
} Stability;

static bool prepare(const Strand* strand, Stability* out) {
    const TdlStrand* def = strand->def;
    double L = def->length,
           softest = fmin(def->stiffness.x, fmin(def->stiffness.y, def->stiffness.z));
    double force = def->line_density * L * tdl_norm3(strand->gravity);
    for (int i = 0; i < def->load_count; ++i) {
        force += tdl_norm3(def->loads[i].force);
    }
    out->scale = force * L * L / (COLUMN * softest);
    out->memory = ARENA_NEW(strand->arena, double, 9 * (size_t)strand->block_count);
    return out->memory != NULL && strand_hessian(strand, &out->h) &&
           strand_factor_new(strand->arena, &out->h, &out->factor);
}

static Pencil pencil_of(Stability* s, bool by_stiffness, double k) {
    ptrdiff_t n = 3 * (ptrdiff_t)s->h.count;
    return (Pencil){&s->h,         by_stiffness,     k, &s->factor, s->memory,
                    s->memory + n, s->memory + 2 * n};
}

// The mode is left in the first of `memory`. (V.42)
static double find_least_factor(Stability* s) {
    Pencil p = pencil_of(s, true, 0.0);
    double none = NO_FACTOR * s->scale;
    if (none > 0.0) {
        factor_at(&p, -none);
    }
    return none == 0.0 || s->factor.negative == 0 ? 0.0 : fmax(0.0, -lowest(&p, -s->scale, none));
}

// S4's bound: c times the smallest eigenvalue of K against that of S. (V.45)
static double find_bound_factor(Stability* s, double least) {
    Pencil p = pencil_of(s, false, 0.0);
    double unit = s->h.stiffness_floor, none = NO_FACTOR * s->scale * unit;
    if (none > 0.0) {
        factor_at(&p, -none);
    }
    if (none == 0.0 || s->factor.negative == 0) {
        return least;
    }
    return fmax(least, -lowest(&p, -fmax(least, none / NO_FACTOR * 0.1) * unit, none) / unit);
}

static double find_least_eigenvalue(Stability* s, double least) {
    Pencil p = pencil_of(s, false, 1.0);
    double unit = s->h.softest;
    return lowest(&p, -(1.0e-3 + least) * unit, VALUE_TOL * unit) / unit;
}

static TdlStatus find_stability(const TdlHost* host, const Strand* strand, TdlStability* out) {
    Stability s = {0};
    if (!prepare(strand, &s)) {
        return TDL_STATUS_NO_MEMORY;
    }
    out->least_factor = find_least_factor(&s);
    out->bound_factor = find_bound_factor(&s, out->least_factor);
    out->least_eigenvalue = find_least_eigenvalue(&s, out->least_factor);
    out->stable = out->least_factor < 1.0;
    if (isnan(out->least_factor) || isnan(out->bound_factor) || isnan(out->least_eigenvalue)) {
        return tdl_fail(host, TDL_STATUS_DIVERGED, "the Hessian of a strand is not finite");
    }
    return TDL_STATUS_OK;
}

TdlStatus tdl_strand_stability(const TdlHost* host, const TdlStrand* def, TdlVec3 gravity,
                               TdlStability* out) {
    Arena arena;
    Strand strand;
    *out = (TdlStability){.least_factor = NAN, .bound_factor = NAN, .least_eigenvalue = NAN};
    arena_init(&arena, &host->mem);
    TdlStatus status = strand_open(host, &arena, def, gravity, &strand);
    if (status == TDL_STATUS_OK) {
        status = find_stability(host, &strand, out);
    }
    arena_destroy(&arena);
    return status;
}

// Scales a mode so that the most turned section turns by 1 rad.
static void scale_mode(const StrandHessian* h, const double* x, double* mode) {
    TdlVec3 turned = {0};
    double most = 0.0;
    for (int i = 0; i < h->count; ++i) {
        turned = tdl_add3(turned, tdl_mul33_3(h->turn[i], tdl_load3(x, i)));
        most = fmax(most, tdl_norm3(turned));
    }
    for (int i = 0; i < 3 * h->count; ++i) {
        mode[i] = x[i] / most;
    }
}

TdlStatus tdl_strand_mode(const TdlHost* host, const TdlStrand* def, TdlVec3 gravity,
                          double* mode) {
    Arena arena;
    Strand strand;
    Stability s = {0};
    arena_init(&arena, &host->mem);
    TdlStatus status = strand_open(host, &arena, def, gravity, &strand);
    if (status == TDL_STATUS_OK && !prepare(&strand, &s)) {
        status = TDL_STATUS_NO_MEMORY;
    }
    if (status == TDL_STATUS_OK) {
        double least = find_least_factor(&s);
        double value = least > 0.0 ? least : find_least_eigenvalue(&s, 0.0);
        if (isnan(least) || isnan(value)) {
            status = tdl_fail(host, TDL_STATUS_DIVERGED, "the Hessian of a strand is not finite");
        } else {
            scale_mode(&s.h, s.memory, mode);
        }
    }
    arena_destroy(&arena);
    return status;
}
