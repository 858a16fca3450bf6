// Anderson's mixing. The weights are those with which the last differences cancel best in the norm
// of A, which needs no A: the impulses that velocities take are known. (P.15)
#include "world/barrier_mix.h"

#include "math/dense.h"

#include <math.h>

// Added to the diagonal of the normal equations, relative to their trace: rounding.
static const double SLACK = 1.0e-14;

bool velocities_reserve(const TdlAllocator* mem, Velocities* x, int n) {
    return tdl_reserve(mem, &x->v, &x->v_capacity, n + 1, sizeof *x->v) &&
           tdl_reserve(mem, &x->impulse, &x->impulse_capacity, n + 1, sizeof *x->impulse);
}

void velocities_free(const TdlAllocator* mem, Velocities* x) {
    tdl_free(mem, x->v);
    tdl_free(mem, x->impulse);
    *x = (Velocities){0};
}

void velocities_between(const Velocities* a, const Velocities* b, double share, int n,
                        Velocities* out) {
    out->known = a != NULL && a->known && b->known;
    for (int k = 0; k < n; ++k) {
        double v = a == NULL ? 0.0 : a->v[k];
        out->v[k] = v + share * (b->v[k] - v);
        out->impulse[k] =
            out->known ? a->impulse[k] + share * (b->impulse[k] - a->impulse[k]) : 0.0;
    }
}

void barrier_mix_free(const TdlAllocator* mem, Mixing* x) {
    for (int i = 0; i < MIX_DEPTH; ++i) {
        velocities_free(mem, &x->found[i]);
        velocities_free(mem, &x->rest[i]);
    }
}

void barrier_mix_forget(Mixing* x) {
    x->count = 0;
    x->moved = 0.0;
}

// The j-th before the last.
static int before(const Mixing* x, int j) {
    return (x->count - 1 - j) % MIX_DEPTH;
}

static double product(int n, const Velocities* a, const Velocities* b) {
    return tdl_dot(n, a->v, b->impulse);
}

// weight[j] of the difference from the last to the (j + 1)-th before it; by normal equations.
static bool find_weights(const Mixing* x, int n, int depth, double weight[MIX_DEPTH]) {
    double matrix[MIX_DEPTH * MIX_DEPTH], with_last[MIX_DEPTH], trace = 0.0;
    const Velocities* last = &x->rest[before(x, 0)];
    double own = product(n, last, last);
    for (int a = 0; a < depth; ++a) {
        with_last[a] = product(n, &x->rest[before(x, a + 1)], last);
    }
    for (int a = 0; a < depth; ++a) {
        for (int b = 0; b <= a; ++b) {
            double entry = product(n, &x->rest[before(x, a + 1)], &x->rest[before(x, b + 1)]);
            matrix[a + b * depth] = entry - with_last[a] - with_last[b] + own;
        }
        weight[a] = own - with_last[a];
        trace += matrix[a + a * depth];
    }
    for (int a = 0; a < depth; ++a) {
        matrix[a + a * depth] += SLACK * trace;
    }
    if (!(trace > 0.0) || tdl_cholesky(depth, matrix, depth) != depth) {
        return false;
    }
    tdl_cholesky_solve(depth, matrix, depth, 1, weight, depth);
    return true;
}

// now += sum of weight (found before - found last)
static void apply(Mixing* x, int n, int depth, const double weight[MIX_DEPTH], Velocities* now) {
    const Velocities* last = &x->found[before(x, 0)];
    double size = 0.0, moved = 0.0;
    for (int k = 0; k < n; ++k) {
        double v = 0.0, impulse = 0.0;
        for (int a = 0; a < depth; ++a) {
            const Velocities* old = &x->found[before(x, a + 1)];
            v += weight[a] * (old->v[k] - last->v[k]);
            impulse += weight[a] * (old->impulse[k] - last->impulse[k]);
        }
        now->v[k] += v;
        now->impulse[k] += impulse;
        moved += fabs(impulse);
        size += fabs(last->impulse[k]);
    }
    x->moved = moved > 0.0 ? moved / fmax(size, moved) : 0.0;
}

bool barrier_mix_add(const TdlAllocator* mem, Mixing* x, int n, const Velocities* from,
                     Velocities* now) {
    x->moved = 0.0;
    if (!from->known || !now->known) {
        x->count = 0;
        return true;
    }
    ++x->count;
    Velocities *found = &x->found[before(x, 0)], *rest = &x->rest[before(x, 0)];
    if (!velocities_reserve(mem, found, n) || !velocities_reserve(mem, rest, n)) {
        x->count = 0;
        return false;
    }
    for (int k = 0; k < n; ++k) {
        found->v[k] = now->v[k];
        found->impulse[k] = now->impulse[k];
        rest->v[k] = now->v[k] - from->v[k];
        rest->impulse[k] = now->impulse[k] - from->impulse[k];
    }
    int depth = (x->count < MIX_DEPTH ? x->count : MIX_DEPTH) - 1;
    double weight[MIX_DEPTH];
    if (depth > 0 && find_weights(x, n, depth, weight)) {
        apply(x, n, depth, weight, now);
    }
    return true;
}
