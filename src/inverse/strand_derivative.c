// How the shape in which a strand rests follows what it depends on.
//
// The balance K (q - q_rest) + G = 0 holds along with every parameter, so the Hessian times the
// rate of q is minus the balance's own derivative: one solve, forward for a direction, or backward
// for all parameters at once. K (q - q_rest) is -G, so the natural curvature itself never enters.
// The weight and the loads enter G linearly. Everything takes linear time. (V.92) to (V.95)
#include "inverse/strand_derivative.h"

#include "base/log.h"

#include <string.h>

// How near to giving way a shape may be: what the least factor lacks to 1. Rounding is 1e-15 over
// that, relative to the derivative.
static const double MARGIN = 1.0e-9;

static const TdlVec3 AXES[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

TdlStatus strand_has_derivatives(const TdlHost* host, const Strand* strand) {
    return strand->kind->places != NULL
               ? TDL_STATUS_OK
               : tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                          "this is told of a super-helix or super-clothoid, not of a %s",
                          strand->kind->name);
}

bool strand_has_places(const Strand* strand, int count, const double* at) {
    bool good = count >= 0 && (count == 0 || at != NULL);
    for (int k = 0; good && k < count; ++k) {
        good = at[k] >= (k > 0 ? at[k - 1] : 0.0) && at[k] <= strand->def->length;
    }
    return good;
}

TdlStatus strand_derivative(const TdlHost* host, const Strand* strand, StrandDerivative* out) {
    size_t n = 3 * (size_t)strand->block_count;
    *out = (StrandDerivative){.strand = strand,
                              .G = ARENA_NEW(strand->arena, double, n),
                              .scratch = ARENA_NEW(strand->arena, double, n)};
    if (out->G == NULL || out->scratch == NULL || !strand_gradient(strand, out->G) ||
        !strand_hessian(strand, &out->h) ||
        !strand_factor_new(strand->arena, &out->h, &out->factor)) {
        return TDL_STATUS_NO_MEMORY;
    }
    strand_factor(&out->h, 1.0 - MARGIN, 0.0, &out->factor);
    bool margin = out->factor.negative == 0;
    strand_factor(&out->h, 1.0, 0.0, &out->factor);
    if (out->factor.negative > 0) {
        return tdl_fail(host, TDL_STATUS_DIVERGED,
                        "the shape is not a stable rest: it has no derivative");
    }
    return margin ? TDL_STATUS_OK
                  : tdl_fail(host, TDL_STATUS_DIVERGED,
                             "the shape is about to give way: it has no derivative");
}

// The gradient of a weight (N/m) alone, or of forces at the places of the loads alone: G is linear
// in both. (V.94)
static bool part_of_gradient(const Strand* strand, TdlVec3 weight, const TdlVec3* forces,
                             double* G) {
    Strand part = *strand;
    int count = strand->def->load_count;
    if (tdl_norm3(weight) == 0.0 && (forces == NULL || count == 0)) {
        memset(G, 0, 3 * (size_t)strand->block_count * sizeof *G);
        return true;
    }
    ArenaMark mark = arena_mark(strand->arena);
    part.m = strand->l;
    part.gravity = weight;
    if (forces == NULL || count == 0) {
        part.first_load = NULL;
    } else {
        part.loads = ARENA_NEW(strand->arena, StrandLoad, count);
        if (part.loads == NULL) {
            return false;
        }
        for (int k = 0; k < count; ++k) {
            part.loads[k] = strand->loads[k];
            part.loads[k].at.force = forces[k];
        }
    }
    bool ok = strand_gradient(&part, G);
    arena_release(strand->arena, mark);
    return ok;
}

// --- forward --------------------------------------------------------------------------------

// The change of the loads; turning the clamp by w is turning all forces by -w. (V.94)
static bool load_change(const Strand* strand, const TdlStrandChange* change, TdlVec3** out) {
    const TdlStrand* def = strand->def;
    *out = NULL;
    if (def->load_count == 0) {
        return true;
    }
    *out = ARENA_NEW(strand->arena, TdlVec3, def->load_count);
    for (int k = 0; *out != NULL && k < def->load_count; ++k) {
        TdlVec3 turned = tdl_cross3(def->loads[k].force, change->turn);
        (*out)[k] = change->loads == NULL ? turned : tdl_add3(turned, change->loads[k]);
    }
    return *out != NULL;
}

bool strand_rate(const StrandDerivative* d, const TdlStrandChange* change, double* rate) {
    const Strand* strand = d->strand;
    const TdlStrand* def = strand->def;
    int n = strand->block_count;
    ArenaMark mark = arena_mark(strand->arena);
    TdlVec3* forces;
    TdlVec3 g = strand->gravity;
    TdlVec3 turned = tdl_add3(change->gravity, tdl_cross3(g, change->turn));
    TdlVec3 weight = tdl_axpy3(tdl_scale3(def->line_density, turned), change->line_density, g);
    if (!load_change(strand, change, &forces) || !part_of_gradient(strand, weight, forces, rate)) {
        return false;
    }
    TdlVec3 K = def->stiffness, dK = change->stiffness;
    TdlVec3 softer = {dK.x / K.x, dK.y / K.y, dK.z / K.z};
    for (int i = 0; i < n; ++i) {
        TdlVec3 G = tdl_load3(d->G, i), own = tdl_load3(rate, i);
        tdl_store3(
            rate, i,
            (TdlVec3){softer.x * G.x - own.x, softer.y * G.y - own.y, softer.z * G.z - own.z});
    }
    if (change->natural != NULL) {
        for (int i = 0; i < n; ++i) {
            tdl_store3(d->scratch, i, tdl_scale3(strand->l, change->natural[i]));
        }
        double* pulled = ARENA_NEW(strand->arena, double, 3 * n);
        if (pulled == NULL) {
            return false;
        }
        strand_apply_stiffness(&d->h, d->scratch, pulled);
        for (int i = 0; i < 3 * n; ++i) {
            rate[i] += pulled[i];
        }
    }
    strand_solve(&d->h, &d->factor, rate);
    arena_release(strand->arena, mark);
    return true;
}

static bool change_is_finite(const TdlStrandChange* c, const Strand* strand) {
    bool good = tdl_finite3(c->stiffness) && isfinite(c->line_density) && tdl_finite3(c->gravity) &&
                tdl_finite3(c->place) && tdl_finite3(c->turn);
    for (int i = 0; good && c->natural != NULL && i < strand->block_count; ++i) {
        good = tdl_finite3(c->natural[i]);
    }
    for (int i = 0; good && c->loads != NULL && i < strand->def->load_count; ++i) {
        good = tdl_finite3(c->loads[i]);
    }
    return good;
}

bool strand_place_rates(const Strand* strand, const TdlStrandChange* change, const double* rate,
                        int count, const double* at, TdlVec3* out) {
    bool turns = tdl_norm3(change->turn) > 0.0;
    ArenaMark mark = arena_mark(strand->arena);
    TdlVec3* place = turns ? ARENA_NEW(strand->arena, TdlVec3, count) : out;
    if (place == NULL || (turns && !strand->kind->places(strand, NULL, count, at, place)) ||
        !strand->kind->places(strand, rate, count, at, out)) {
        return false;
    }
    for (int k = 0; k < count; ++k) {
        out[k] = tdl_add3(out[k], change->place);
        if (turns) {
            TdlVec3 arm = tdl_sub3(place[k], strand->def->start.position);
            out[k] = tdl_add3(out[k], tdl_cross3(change->turn, arm));
        }
    }
    arena_release(strand->arena, mark);
    return true;
}

static TdlStatus find_rates(const TdlHost* host, const Strand* strand,
                            const TdlStrandChange* change, TdlVec3* curvature_rate, int count,
                            const double* at, TdlVec3* place_rate) {
    if (!change_is_finite(change, strand) ||
        (place_rate != NULL && !strand_has_places(strand, count, at))) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "a change must be finite, and places grow along the strand");
    }
    StrandDerivative d;
    TdlStatus status = strand_derivative(host, strand, &d);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    double* rate = ARENA_NEW(strand->arena, double, 3 * strand->block_count);
    if (rate == NULL || !strand_rate(&d, change, rate)) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; curvature_rate != NULL && i < strand->block_count; ++i) {
        curvature_rate[i] = tdl_scale3(1.0 / strand->l, tdl_load3(rate, i));
    }
    bool ok = place_rate == NULL || count == 0 ||
              strand_place_rates(strand, change, rate, count, at, place_rate);
    return ok ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}

TdlStatus tdl_strand_rates(const TdlHost* host, const TdlStrand* def, TdlVec3 gravity,
                           const TdlStrandChange* change, TdlVec3* curvature_rate, int count,
                           const double* at, TdlVec3* place_rate) {
    Arena arena;
    Strand strand;
    arena_init(&arena, &host->mem);
    TdlStatus status = strand_open(host, &arena, def, gravity, &strand);
    if (status == TDL_STATUS_OK) {
        status = strand_has_derivatives(host, &strand);
    }
    if (status == TDL_STATUS_OK) {
        status = find_rates(host, &strand, change, curvature_rate, count, at, place_rate);
    }
    arena_destroy(&arena);
    return status;
}

// --- adjoint --------------------------------------------------------------------------------

static double dot(int n, const double* a, const double* b) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

// The derivative of the number by q, of its places and of its curvature; what moving and turning
// the clamp does to places by itself.
static bool by_shape(const Strand* strand, const TdlVec3* by_curvature, const TdlRodLoad* by_place,
                     int place_count, double* out, TdlStrandGradient* gradient) {
    double* at = ARENA_NEW(strand->arena, double, place_count);
    TdlVec3* place = ARENA_NEW(strand->arena, TdlVec3, place_count);
    TdlStrand pulled = *strand->def;
    Strand alone;
    pulled.loads = by_place;
    pulled.load_count = place_count;
    pulled.line_density = pulled.stretching = 0.0; // those forces need not be small
    TdlHost quiet = {.mem = strand->arena->mem};
    for (int k = 0; at != NULL && k < place_count; ++k) {
        at[k] = by_place[k].at;
    }
    if (at == NULL || place == NULL ||
        !strand->kind->places(strand, NULL, place_count, at, place) ||
        strand_open(&quiet, strand->arena, &pulled, (TdlVec3){0}, &alone) != TDL_STATUS_OK ||
        !strand_gradient(&alone, out)) {
        return false;
    }
    for (int i = 0; i < strand->block_count; ++i) {
        TdlVec3 sum = tdl_scale3(-1.0, tdl_load3(out, i));
        TdlVec3 own = by_curvature == NULL ? (TdlVec3){0} : by_curvature[i];
        tdl_store3(out, i, tdl_axpy3(sum, 1.0 / strand->l, own));
    }
    for (int k = 0; k < place_count; ++k) {
        TdlVec3 F = by_place[k].force, arm = tdl_sub3(place[k], strand->def->start.position);
        gradient->place = tdl_add3(gradient->place, F);
        gradient->turn = tdl_add3(gradient->turn, tdl_cross3(arm, F));
    }
    return true;
}

// From x, the solution with the Hessian. (V.94)
static bool by_weight(const StrandDerivative* d, const double* x, TdlStrandGradient* out) {
    const Strand* strand = d->strand;
    double along[3];
    for (int a = 0; a < 3; ++a) {
        if (!part_of_gradient(strand, AXES[a], NULL, d->scratch)) {
            return false;
        }
        along[a] = -dot(3 * strand->block_count, x, d->scratch);
    }
    TdlVec3 weight = tdl_load3(along, 0), g = strand->gravity;
    out->line_density = tdl_dot3(weight, g);
    out->gravity = tdl_scale3(strand->def->line_density, weight);
    out->turn = tdl_add3(out->turn, tdl_cross3(out->gravity, g));
    return true;
}

// A load's derivative is how its place moves with x.
static bool by_loads(const StrandDerivative* d, const double* x, TdlStrandGradient* out) {
    const TdlStrand* def = d->strand->def;
    for (int k = 0; k < def->load_count; ++k) {
        TdlVec3 moved;
        if (!d->strand->kind->places(d->strand, x, 1, &def->loads[k].at, &moved)) {
            return false;
        }
        out->turn = tdl_add3(out->turn, tdl_cross3(moved, def->loads[k].force));
        if (out->loads != NULL) {
            out->loads[k] = moved;
        }
    }
    return true;
}

static TdlStatus find_adjoint(const TdlHost* host, const Strand* strand,
                              const TdlVec3* by_curvature, const TdlRodLoad* by_place,
                              int place_count, TdlStrandGradient* out) {
    int n = strand->block_count;
    StrandDerivative d;
    TdlStatus status = strand_derivative(host, strand, &d);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    double* x = ARENA_NEW(strand->arena, double, 3 * n);
    if (x == NULL || !by_shape(strand, by_curvature, by_place, place_count, x, out)) {
        return TDL_STATUS_NO_MEMORY;
    }
    strand_solve(&d.h, &d.factor, x);
    double along[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < 3 * n; ++i) {
        along[i % 3] += x[i] * d.G[i];
    }
    TdlVec3 K = strand->def->stiffness;
    out->stiffness = (TdlVec3){along[0] / K.x, along[1] / K.y, along[2] / K.z};
    if (out->natural != NULL) {
        strand_apply_stiffness(&d.h, x, d.scratch);
        for (int i = 0; i < n; ++i) {
            out->natural[i] = tdl_scale3(strand->l, tdl_load3(d.scratch, i));
        }
    }
    bool ok = by_weight(&d, x, out) && by_loads(&d, x, out);
    return ok ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}

static const char* find_adjoint_fault(const Strand* strand, const TdlVec3* by_curvature,
                                      const TdlRodLoad* by_place, int place_count) {
    for (int i = 0; by_curvature != NULL && i < strand->block_count; ++i) {
        if (!tdl_finite3(by_curvature[i])) {
            return "a derivative by the curvature is not finite";
        }
    }
    bool good = place_count >= 0 && (place_count == 0 || by_place != NULL);
    for (int k = 0; good && k < place_count; ++k) {
        good = by_place[k].at >= (k > 0 ? by_place[k - 1].at : 0.0) &&
               by_place[k].at <= strand->def->length && tdl_finite3(by_place[k].force) &&
               tdl_norm3(by_place[k].torque) == 0.0;
    }
    return good ? NULL : "derivatives by places must be forces that go along the strand";
}

TdlStatus tdl_strand_adjoint(const TdlHost* host, const TdlStrand* def, TdlVec3 gravity,
                             const TdlVec3* by_curvature, const TdlRodLoad* by_place,
                             int place_count, TdlStrandGradient* out) {
    Arena arena;
    Strand strand;
    *out = (TdlStrandGradient){.natural = out->natural, .loads = out->loads};
    arena_init(&arena, &host->mem);
    TdlStatus status = strand_open(host, &arena, def, gravity, &strand);
    if (status == TDL_STATUS_OK) {
        status = strand_has_derivatives(host, &strand);
    }
    if (status == TDL_STATUS_OK) {
        const char* fault = find_adjoint_fault(&strand, by_curvature, by_place, place_count);
        status = fault != NULL
                     ? tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "%s", fault)
                     : find_adjoint(host, &strand, by_curvature, by_place, place_count, out);
    }
    arena_destroy(&arena);
    return status;
}
