// A super-helix of given shape: gradient and Hessian of its weight and loads, from the tip.
//
// The weight of an element and the forces beyond its end enter through the same eight functions of
// arc length, once by their means and once by their values at the end, so one load of helix.h holds
// both. All integrals are closed. About 100 ns an element.
#include "inverse/strand.h"
#include "rod/helix.h"

#include <string.h>

// An element: the frame of its start, and c_k of its turning.
typedef struct HelixPart {
    TdlMat3 R;
    double c[8];
} HelixPart;

static TdlVec3 turning(const Strand* strand, int i) {
    return tdl_scale3(strand->l, strand->def->curvature[i]);
}

// Frames from the clamp on: exp[q]x = c0 I + c1 [q]x + c2 q q'. (R.4)
static void walk(const Strand* strand, HelixPart* part) {
    TdlMat3 R = strand->def->start.rotation;
    for (int i = 0; i < strand->element_count; ++i) {
        TdlVec3 q = turning(strand, i);
        double* c = part[i].c;
        part[i].R = R;
        tdl_c_series(tdl_dot3(q, q), c);
        TdlMat3 E = {{c[0], c[1] * q.z, -c[1] * q.y},
                     {-c[1] * q.z, c[0], c[1] * q.x},
                     {c[1] * q.y, -c[1] * q.x, c[0]}};
        E = tdl_axpy33(E, c[2], tdl_outer3(q, q));
        R = tdl_mul33(R, E);
    }
}

// Adds a point load to the means of the functions times the field, own axes. (H.23)
static void add_load(const RodLoad* load, TdlMat3 R, double y, TdlVec3 P[HELIX_AKK]) {
    double at[HELIX_COUNT];
    helix_functions(y, load->s, at);
    TdlVec3 F = tdl_tmul33_3(R, load->force);
    for (int f = 0; f < HELIX_AKK; ++f) {
        P[f] = tdl_axpy3(P[f], at[f], F);
    }
}

// G_i = -(B' forces + T' moment beyond), tip to root. (V.31)
static bool gradient(const Strand* strand, double* G) {
    ArenaMark mark = arena_mark(strand->arena);
    HelixPart* part = ARENA_NEW(strand->arena, HelixPart, strand->element_count);
    if (part == NULL) {
        return false;
    }
    walk(strand, part);
    TdlVec3 force = {0}, moment = {0}; // of all beyond the end of the element, world axes
    for (int i = strand->element_count - 1; i >= 0; --i) {
        TdlMat3 R = part[i].R;
        HelixAxes x = helix_axes(turning(strand, i));
        TdlVec3 g = tdl_scale3(strand->m, tdl_tmul33_3(R, strand->gravity));
        TdlVec3 F = tdl_tmul33_3(R, force), M = tdl_tmul33_3(R, moment);
        double end[HELIX_AKK], mean[HELIX_AKK];
        helix_end_and_mean(part[i].c, end, mean);
        TdlVec3 P[HELIX_AKK];
        for (int f = 0; f < HELIX_AKK; ++f) {
            P[f] = tdl_axpy3(tdl_scale3(end[f], F), mean[f], g);
        }
        for (int k = strand_first_load(strand, i); k >= 0; k = strand->loads[k].next) {
            add_load(&strand->loads[k].at, R, x.y, P);
        }
        HelixLoad load = helix_load(&x, strand->l, P);

        // T' M = (I - a K + b K^2) M
        TdlVec3 KM = tdl_cross3(x.q, M);
        TdlVec3 turned =
            tdl_axpy3(tdl_axpy3(M, -end[HELIX_A], KM), end[HELIX_B], tdl_cross3(x.q, KM));
        tdl_store3(G, i, tdl_scale3(-1.0, tdl_add3(load.generalised, turned)));
        moment = tdl_add3(moment, tdl_mul33_3(R, load.moment));
        force = tdl_mul33_3(R, load.force);
    }
    arena_release(strand->arena, mark);
    return true;
}

// kappa_rest = kappa + K3^-1 G. (V.30)
static TdlStatus rest(const TdlHost* host, const Strand* strand, const double* G,
                      TdlVec3* natural) {
    (void)host;
    TdlVec3 K = strand->def->stiffness, soft = {1.0 / K.x, 1.0 / K.y, 1.0 / K.z};
    for (int i = 0; i < strand->element_count; ++i) {
        TdlVec3 kappa = strand->def->curvature[i], own = tdl_load3(G, i);
        natural[i] =
            (TdlVec3){kappa.x + soft.x * own.x, kappa.y + soft.y * own.y, kappa.z + soft.z * own.z};
    }
    return TDL_STATUS_OK;
}

// Places, or their rates: what lies behind moves an element and turns it, and its own change bends
// it. (V.91)
static bool places(const Strand* strand, const double* change, int count, const double* at,
                   TdlVec3* out) {
    ArenaMark mark = arena_mark(strand->arena);
    HelixPart* part = ARENA_NEW(strand->arena, HelixPart, strand->element_count);
    if (part == NULL) {
        return false;
    }
    walk(strand, part);
    TdlVec3 start = strand->def->start.position, moved = {0}, turned = {0};
    for (int i = 0, k = 0; i < strand->element_count; ++i) {
        HelixAxes x = helix_axes(turning(strand, i));
        TdlVec3 own = change == NULL ? (TdlVec3){0} : tdl_load3(change, i);
        double f[HELIX_COUNT], s;
        for (; k <= count; ++k) { // those within, then its end
            bool inside = k < count && strand_element(strand, at[k] / strand->l, &s) == i;
            helix_functions(x.y, inside ? s : 1.0, f);
            TdlVec3 arm = tdl_scale3(strand->l, tdl_mul33_3(part[i].R, helix_position(&x, f)));
            TdlVec3 bent = tdl_mul33_3(helix_displacement(&x, f), own);
            TdlVec3 rate = tdl_add3(moved, tdl_cross3(turned, arm));
            rate = tdl_axpy3(rate, strand->l, tdl_mul33_3(part[i].R, bent));
            if (inside) {
                out[k] = change == NULL ? tdl_add3(start, arm) : rate;
                continue;
            }
            start = tdl_add3(start, arm);
            moved = rate;
            TdlVec3 turn = tdl_mul33_3(helix_rotation_rate(&x, f), own);
            turned = tdl_add3(turned, tdl_mul33_3(part[i].R, turn));
            break;
        }
    }
    arena_release(strand->arena, mark);
    return true;
}

// --- second derivatives ---------------------------------------------------------------------

// What forces give the block of an element, own axes: the lower triangle of S, W, and the sum of
// r F' with r from its start.
typedef struct HelixShare {
    double S[3][3];
    TdlMat3 W, P;
} HelixShare;

static const TdlVec3 AXES[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

// A force F at the place that has the functions f, or spread over places of which f is the mean.
static void share_force(const HelixAxes* x, double l, const double f[HELIX_COUNT], TdlVec3 F,
                        HelixShare* out) {
    TdlMat3 B = helix_displacement(x, f);
    TdlVec3 lF = tdl_scale3(l, F);
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c <= r; ++c) {
            out->S[r][c] -= tdl_dot3(lF, helix_second(x, f, AXES[r], AXES[c]));
        }
    }
    TdlMat3 crossed = {tdl_cross3(lF, B.cx), tdl_cross3(lF, B.cy), tdl_cross3(lF, B.cz)};
    out->W = tdl_add33(out->W, crossed);
    out->P = tdl_add33(out->P, tdl_outer3(helix_position(x, f), lF));
}

// tr(P) I - P: the sum of F x (w x r) is that times w.
static TdlMat3 around(TdlMat3 P) {
    double trace = P.cx.x + P.cy.y + P.cz.z;
    return tdl_sub33(tdl_scale33(trace, tdl_identity33()), P);
}

// What turns with the element's end: forces with the sum P of r F' from there. (H.21)
static void share_turning(const HelixAxes* x, const double end[HELIX_COUNT], TdlMat3 turn,
                          HelixShare* out) {
    TdlMat3 P = out->P, swung = tdl_mul33(around(P), turn), own = tdl_tmul33(turn, swung);
    TdlVec3 moment = {P.cz.y - P.cy.z, P.cx.z - P.cz.x, P.cy.x - P.cx.y};
    const TdlVec3 column[3] = {own.cx, own.cy, own.cz};
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c <= r; ++c) {
            TdlVec3 second = helix_rotation_second(x, end, AXES[r], AXES[c]);
            out->S[r][c] += tdl_dot3(AXES[r], column[c]) - tdl_dot3(second, moment);
        }
    }
    out->W = tdl_add33(out->W, swung);
}

// Blocks from the tip. (V.38)
static bool hessian(const Strand* strand, StrandHessian* out) {
    ArenaMark mark = arena_mark(strand->arena);
    HelixPart* part = ARENA_NEW(strand->arena, HelixPart, strand->element_count);
    if (part == NULL) {
        return false;
    }
    walk(strand, part);
    TdlMat3 P = {0}, K = tdl_scale33(1.0 / strand->l, tdl_diag33(strand->def->stiffness));
    TdlVec3 force = {0}; // beyond the end of the element; P about it, world axes
    for (int i = strand->element_count - 1; i >= 0; --i) {
        TdlMat3 R = part[i].R;
        HelixAxes x = helix_axes(turning(strand, i));
        double end[HELIX_COUNT], mean[HELIX_COUNT], at[HELIX_COUNT];
        helix_functions(x.y, 1.0, end);
        helix_means(x.y, mean);
        TdlMat3 turn = helix_rotation_rate(&x, end);
        HelixShare share = {.P = tdl_tmul33(R, tdl_mul33(P, R))};
        share_turning(&x, end, turn, &share);
        share_force(&x, strand->l, end, tdl_tmul33_3(R, force), &share);
        TdlVec3 weight = tdl_scale3(strand->m, strand->gravity);
        share_force(&x, strand->l, mean, tdl_tmul33_3(R, weight), &share);
        force = tdl_add3(force, weight);
        for (int k = strand_first_load(strand, i); k >= 0; k = strand->loads[k].next) {
            const RodLoad* load = &strand->loads[k].at;
            helix_functions(x.y, load->s, at);
            share_force(&x, strand->l, at, tdl_tmul33_3(R, load->force), &share);
            force = tdl_add3(force, load->force);
        }
        const double(*S)[3] = (const double(*)[3])share.S;
        out->S[i] = (TdlMat3){
            {S[0][0], S[1][0], S[2][0]}, {S[1][0], S[1][1], S[2][1]}, {S[2][0], S[2][1], S[2][2]}};
        out->turn[i] = tdl_mul33(R, turn);
        out->W[i] = tdl_mul33(R, share.W);
        out->K[i] = K;
        P = tdl_mul33(tdl_mul33(R, share.P), tdl_transpose33(R));
    }
    out->stiffness_floor = out->softest;
    arena_release(strand->arena, mark);
    return true;
}

const StrandKind STRAND_HELIX = {.name = "super-helix",
                                 .max_turn = HELIX_MAX_TURNING,
                                 .gradient = gradient,
                                 .rest = rest,
                                 .places = places,
                                 .hessian = hessian};
