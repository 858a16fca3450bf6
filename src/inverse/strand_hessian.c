// The Hessian of a strand: factored, solved with and applied in linear time.
//
// A change of one block turns all that lies beyond it as one, so blocks that are not neighbours
// couple through three numbers: S_ij = turn_i' W_j. Elimination from the tip keeps that form, with
// one symmetric 3 x 3 matrix X for all that is eliminated. Where all pivots are positive this is
// Cholesky's factorisation, backward stable: the answer "positive definite" is that of a matrix
// within rounding. (V.38) to (V.41)
#include "inverse/strand.h"

#include <float.h>

bool strand_hessian(const Strand* strand, StrandHessian* out) {
    int n = strand->block_count;
    bool next = strand->kind->neighbours;
    TdlVec3 K = strand->def->stiffness;
    TdlMat3* all = ARENA_NEW(strand->arena, TdlMat3, (size_t)n * (next ? 6 : 4));
    if (all == NULL) {
        return false;
    }
    *out = (StrandHessian){.count = n,
                           .turn = all,
                           .W = all + n,
                           .S = all + 2 * (ptrdiff_t)n,
                           .K = all + 3 * (ptrdiff_t)n,
                           .S_next = next ? all + 4 * (ptrdiff_t)n : NULL,
                           .K_next = next ? all + 5 * (ptrdiff_t)n : NULL,
                           .softest = fmin(K.x, fmin(K.y, K.z)) / strand->l};
    return strand->kind->hessian(strand, out);
}

bool strand_factor_new(Arena* arena, const StrandHessian* h, StrandFactor* out) {
    *out = (StrandFactor){.count = h->count,
                          .W = ARENA_NEW(arena, TdlMat3, h->count),
                          .D = arena_alloc(arena, (size_t)h->count, sizeof *out->D)};
    if (h->S_next != NULL) {
        out->next = ARENA_NEW(arena, TdlMat3, h->count);
    }
    return out->W != NULL && out->D != NULL && (h->S_next == NULL || out->next != NULL);
}

// --- pivots ---------------------------------------------------------------------------------

// A pivot that is not positive counts; one that is zero, or not a number, is replaced by what
// rounding might have left.
static double invert_pivot(double d, double size, int* negative) {
    if (!(d > 0.0)) {
        ++*negative;
        d = d < 0.0 ? d : -DBL_EPSILON * (size + DBL_MIN / DBL_EPSILON);
    }
    return 1.0 / d;
}

// L D L' of a symmetric block, without exchanges.
static void factor_pivot(TdlMat3 A, double out[6], int* negative) {
    double size = fabs(A.cx.x) + fabs(A.cy.y) + fabs(A.cz.z);
    out[3] = invert_pivot(A.cx.x, size, negative);
    out[0] = A.cx.y * out[3];
    out[1] = A.cx.z * out[3];
    out[4] = invert_pivot(A.cy.y - out[0] * A.cx.y, size, negative);
    double a21 = A.cy.z - out[0] * A.cx.z;
    out[2] = a21 * out[4];
    out[5] = invert_pivot(A.cz.z - out[1] * A.cx.z - out[2] * a21, size, negative);
}

// The rows of L^-1 A', each a vector: row r belongs to pivot r.
static TdlMat3 reduce(const double D[6], TdlMat3 A) {
    TdlVec3 r0 = A.cx, r1 = tdl_axpy3(A.cy, -D[0], r0);
    TdlVec3 r2 = tdl_axpy3(tdl_axpy3(A.cz, -D[1], r0), -D[2], r1);
    return (TdlMat3){r0, r1, r2};
}

// A D^-1 B' from their reductions.
static TdlMat3 join(const double D[6], TdlMat3 a, TdlMat3 b) {
    TdlMat3 sum = tdl_outer3(tdl_scale3(D[3], a.cx), b.cx);
    sum = tdl_add33(sum, tdl_outer3(tdl_scale3(D[4], a.cy), b.cy));
    return tdl_add33(sum, tdl_outer3(tdl_scale3(D[5], a.cz), b.cz));
}

static TdlVec3 solve_pivot(const double D[6], TdlVec3 b) {
    b.y -= D[0] * b.x;
    b.z -= D[1] * b.x + D[2] * b.y;
    b = (TdlVec3){D[3] * b.x, D[4] * b.y, D[5] * b.z};
    b.y -= D[2] * b.z;
    b.x -= D[0] * b.y + D[1] * b.z;
    return b;
}

// --- factors --------------------------------------------------------------------------------

static TdlMat3 diagonal_block(const StrandHessian* h, int i, double k, double e) {
    return tdl_axpy33(tdl_axpy33(h->S[i], k, h->K[i]), e, tdl_identity33());
}

// (V.39)
static void factor_plain(const StrandHessian* h, double k, double e, StrandFactor* out) {
    TdlMat3 X = {0};
    for (int i = h->count - 1; i >= 0; --i) {
        TdlMat3 Y = tdl_mul33(X, h->turn[i]);
        TdlMat3 D = tdl_sub33(diagonal_block(h, i, k, e), tdl_tmul33(h->turn[i], Y));
        out->W[i] = tdl_sub33(h->W[i], Y);
        factor_pivot(D, out->D[i], &out->negative);
        TdlMat3 w = reduce(out->D[i], out->W[i]);
        X = tdl_add33(X, join(out->D[i], w, w));
    }
}

// Block (i, i + 1).
static TdlMat3 next_block(const StrandHessian* h, int i, double k) {
    return tdl_axpy33(h->S_next[i], k, h->K_next[i]);
}

// With neighbours that couple in their own way: next[i] is block (i - 1, i) once all beyond i is
// eliminated. (V.40)
static void factor_next(const StrandHessian* h, double k, double e, StrandFactor* out) {
    int n = h->count;
    TdlMat3 X = {0}, D = diagonal_block(h, n - 1, k, e);
    out->W[n - 1] = h->W[n - 1];
    out->next[0] = (TdlMat3){0};
    if (n > 1) {
        out->next[n - 1] = next_block(h, n - 2, k);
    }
    for (int i = n - 1; i >= 0; --i) {
        factor_pivot(D, out->D[i], &out->negative);
        if (i == 0) {
            break;
        }
        TdlMat3 w = reduce(out->D[i], out->W[i]), b = reduce(out->D[i], out->next[i]);
        TdlMat3 turned = tdl_mul33(X, h->turn[i - 1]);
        TdlMat3 Y = tdl_add33(turned, join(out->D[i], w, b));
        D = tdl_sub33(diagonal_block(h, i - 1, k, e), tdl_tmul33(h->turn[i - 1], turned));
        D = tdl_sub33(D, join(out->D[i], b, b));
        out->W[i - 1] = tdl_sub33(h->W[i - 1], Y);
        if (i > 1) {
            TdlMat3 far = tdl_tmul33(h->turn[i - 2], Y);
            out->next[i - 1] = tdl_sub33(next_block(h, i - 2, k), far);
        }
        X = tdl_add33(X, join(out->D[i], w, w));
    }
}

void strand_factor(const StrandHessian* h, double k, double e, StrandFactor* out) {
    out->negative = 0;
    if (h->S_next == NULL) {
        factor_plain(h, k, e, out);
    } else {
        factor_next(h, k, e, out);
    }
}

void strand_solve(const StrandHessian* h, const StrandFactor* f, double* x) {
    int n = h->count;
    bool near = h->S_next != NULL;

    // from the tip: sum of W_k times the answers of eliminated blocks, those that couple far
    TdlVec3 sum = {0}, last = {0};
    for (int i = n - 1; i >= 0; --i) {
        TdlVec3 b = tdl_sub3(tdl_load3(x, i), tdl_tmul33_3(h->turn[i], sum));
        if (near && i + 1 < n) {
            b = tdl_sub3(b, tdl_mul33_3(f->next[i + 1], tdl_load3(x, i + 1)));
        }
        TdlVec3 y = solve_pivot(f->D[i], b), own = tdl_mul33_3(f->W[i], y);
        sum = tdl_add3(sum, near ? last : own);
        last = own;
        tdl_store3(x, i, y);
    }

    // from the start: how far all before has turned a block, but for a near neighbour
    TdlVec3 turned = {0};
    for (int i = 1; i < n; ++i) {
        TdlVec3 before = tdl_load3(x, i - 1), b;
        if (near) {
            b = tdl_add3(tdl_tmul33_3(f->next[i], before), tdl_tmul33_3(f->W[i], turned));
            turned = tdl_add3(turned, tdl_mul33_3(h->turn[i - 1], before));
        } else {
            turned = tdl_add3(turned, tdl_mul33_3(h->turn[i - 1], before));
            b = tdl_tmul33_3(f->W[i], turned);
        }
        tdl_store3(x, i, tdl_sub3(tdl_load3(x, i), solve_pivot(f->D[i], b)));
    }
}

void strand_apply_stiffness(const StrandHessian* h, const double* x, double* y) {
    for (int i = 0; i < h->count; ++i) {
        TdlVec3 sum = tdl_mul33_3(h->K[i], tdl_load3(x, i));
        if (h->K_next != NULL && i > 0) {
            sum = tdl_add3(sum, tdl_tmul33_3(h->K_next[i - 1], tdl_load3(x, i - 1)));
        }
        if (h->K_next != NULL && i + 1 < h->count) {
            sum = tdl_add3(sum, tdl_mul33_3(h->K_next[i], tdl_load3(x, i + 1)));
        }
        tdl_store3(y, i, sum);
    }
}

void strand_apply(const StrandHessian* h, double k, double e, const double* x, double* y) {
    int n = h->count;
    bool near = h->S_next != NULL;
    TdlVec3 turned = {0}, pulled = {0};
    for (int i = 0; i < n; ++i) {
        TdlVec3 own = tdl_load3(x, i), sum = tdl_mul33_3(diagonal_block(h, i, k, e), own);
        if (near && i > 0) {
            TdlVec3 before = tdl_load3(x, i - 1);
            sum = tdl_add3(sum, tdl_tmul33_3(next_block(h, i - 1, k), before));
        }
        if (near && i > 1) {
            turned = tdl_add3(turned, tdl_mul33_3(h->turn[i - 2], tdl_load3(x, i - 2)));
        } else if (!near && i > 0) {
            turned = tdl_add3(turned, tdl_mul33_3(h->turn[i - 1], tdl_load3(x, i - 1)));
        }
        tdl_store3(y, i, tdl_add3(sum, tdl_tmul33_3(h->W[i], turned)));
    }
    for (int i = n - 1; i >= 0; --i) {
        TdlVec3 sum = tdl_load3(y, i);
        if (near && i + 1 < n) {
            sum = tdl_add3(sum, tdl_mul33_3(next_block(h, i, k), tdl_load3(x, i + 1)));
        }
        int far = i + (near ? 2 : 1);
        if (far < n) {
            pulled = tdl_add3(pulled, tdl_mul33_3(h->W[far], tdl_load3(x, far)));
        }
        tdl_store3(y, i, tdl_add3(sum, tdl_tmul33_3(h->turn[i], pulled)));
    }
}
