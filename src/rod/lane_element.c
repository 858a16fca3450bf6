// One element of four super-helices: shape, inertia and momentum, by the Legendre coefficients of
// helix_lanes.h. Elements that turn more than these allow take the panels of helix.c, lane by lane.
//
// Each function exists once in memory, so that a rod goes through the same instructions alone, in
// company, and loaded from bytes.
#include "rod/lane_element.h"

#include <string.h>

// The vectors that depend on q alone. (H.3)
typedef struct Axes {
    LaneVec q, e1, e2;
} Axes;

LANE_INLINE Axes axes_of(LaneVec q) {
    LaneVec e1 = {lane_all(0.0), q.z, -q.y};
    return (Axes){q, e1, lane_cross(q, e1)};
}

LANE_INLINE LaneMask large_turning(Lane y) {
    return ~(y < LANE_Y_LIMIT); // not a number counts as large
}

// y where the expansion holds, else 0
LANE_INLINE Lane bounded(Lane y) {
    return (Lane)((LaneMask)y & ~large_turning(y));
}

// Rates of e2 = q x (q x e) along the axes: q_x I + q e' - 2 e q'
LANE_INLINE LaneMat e2_rate(LaneVec q) {
    Lane zero = lane_all(0.0);
    return (LaneMat){{zero, q.y, q.z}, {-2.0 * q.y, q.x, zero}, {-2.0 * q.z, zero, q.x}};
}

// B from the values, or the means, of a, b, ak, bk. (H.5)
LANE_INLINE LaneMat displacement(const Axes* x, Lane a, Lane b, Lane ak, Lane bk) {
    LaneVec grow = lane_axpy(lane_scale(ak, x->e1), bk, x->e2);
    LaneMat E2 = e2_rate(x->q);
    LaneMat B = {lane_axpy(lane_scale(x->q.x, grow), b, E2.cx),
                 lane_axpy(lane_scale(x->q.y, grow), b, E2.cy),
                 lane_axpy(lane_scale(x->q.z, grow), b, E2.cz)};
    B.cy.z -= a; // d x e
    B.cz.y += a;
    return B;
}

// s I + a [q]x + b [q]x^2
LANE_INLINE LaneMat rotation_like(LaneVec q, Lane y, Lane s, Lane a, Lane b) {
    LaneVec bq = lane_scale(b, q), aq = lane_scale(a, q);
    Lane diagonal = s - b * y;
    return (LaneMat){{bq.x * q.x + diagonal, bq.y * q.x + aq.z, bq.z * q.x - aq.y},
                     {bq.x * q.y - aq.z, bq.y * q.y + diagonal, bq.z * q.y + aq.x},
                     {bq.x * q.z + aq.y, bq.y * q.z - aq.x, bq.z * q.z + diagonal}};
}

// The lanes where a few terms do not do.
static void finish_c_series(Lane y, Lane c[8]) {
    Lane full[8];
    LaneMask large = large_turning(y);
    lane_c_terms(bounded(y), C_TERMS, full);
    for (int k = 2; k < 8; ++k) {
        c[k] = lane_pick(lane_brief(y), c[k], full[k]);
    }
    for (int lane = 0; lane < LANE_COUNT; ++lane) {
        double own[8];
        if (large[lane] != 0) {
            tdl_c_series(y[lane], own);
            for (int k = 2; k < 8; ++k) {
                c[k][lane] = own[k];
            }
        }
    }
}

__attribute__((noinline)) void lane_element_curl(const LaneVec* q, LaneCurl* out) {
    Axes x = axes_of(*q);
    Lane y = lane_dot(x.q, x.q), *c = out->c;
    lane_c_terms(y, BRIEF_C_TERMS, c);
    if (lane_any(~lane_brief(y))) {
        finish_c_series(y, c);
    }
    out->q = x.q;
    out->y = y;
    out->p = lane_axpy(lane_scale(c[2], x.e1), c[3], x.e2);
    out->p.x += 1.0;
    out->h = lane_axpy(lane_scale(c[3], x.e1), c[4], x.e2);
    out->h.x += 0.5;
    out->B = displacement(&x, c[2], c[3], 2.0 * c[4] - c[3], 3.0 * c[5] - c[4]);
    out->T = rotation_like(x.q, y, lane_all(1.0), c[2], c[3]);
    out->turned = rotation_like(x.q, y, lane_all(1.0), 1.0 - y * c[3], c[2]);
}

__attribute__((noinline)) void lane_element_place(LaneElement* el, const LaneCurl* curl,
                                                  const LaneMat* frame, const Lane* l) {
    LaneMat R = *frame;
    el->q = curl->q;
    el->y = curl->y;
    el->R = R;
    el->way = curl->p;
    el->mean = curl->h;
    el->span = lane_scale(*l, lane_mul(R, curl->p));
    el->shift = lane_scale_mat(*l, lane_product(R, curl->B));
    el->turn = lane_product(R, curl->T);
}

__attribute__((noinline)) void lane_element_rates(const LaneElement* el, const LaneVec* rate,
                                                  LaneTwist* out) {
    out->linear = lane_mul(el->shift, *rate);
    out->angular = lane_mul(el->turn, *rate);
}

__attribute__((noinline)) void lane_element_field(const LaneElement* el, const Lane* length,
                                                  const LaneTwist* at, const LaneVec* rate,
                                                  LaneField* field) {
    Lane l = *length, sigma = l * lane_dot(el->q, *rate);
    Axes x = axes_of(el->q);
    LaneVec d = *rate, w = lane_tmul(el->R, at->angular), zero = {0};
    LaneVec de = {zero.x, d.z, -d.y}, we = {zero.x, w.z, -w.y};
    field->part[HELIX_ONE] = lane_tmul(el->R, at->linear);
    field->part[HELIX_S] = lane_scale(l, we);
    field->part[HELIX_A] = lane_scale(l, lane_add_cross(de, w, x.e1));
    field->part[HELIX_B] = lane_scale(l, lane_add_cross(lane_mul(e2_rate(x.q), d), w, x.e2));
    field->part[HELIX_AK] = lane_scale(sigma, x.e1);
    field->part[HELIX_BK] = lane_scale(sigma, x.e2);
    field->y = el->y;
    field->spin = lane_add_dot(lane_dot(el->way, w), el->mean, d);
    field->twist = d.x;
    field->R = el->R;
}

// --- inertia --------------------------------------------------------------------------------

static void patch_gram(Lane y, LaneGram* g) {
    LaneMask large = large_turning(y);
    Lane* to[17] = {&g->a,  &g->b,  &g->ak,  &g->bk,  &g->sa,  &g->sb,  &g->sak,  &g->sbk, &g->aa,
                    &g->ab, &g->bb, &g->aak, &g->abk, &g->bak, &g->bbk, &g->akak, &g->bkbk};
    static const unsigned char I[17] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 2, 2, 3, 3, 4, 5};
    static const unsigned char J[17] = {2, 3, 4, 5, 2, 3, 4, 5, 2, 3, 3, 4, 5, 4, 5, 4, 5};
    for (int lane = 0; lane < LANE_COUNT; ++lane) {
        HelixGram own;
        if (large[lane] != 0) {
            helix_gram(y[lane], &own);
            for (int k = 0; k < 17; ++k) {
                (*to[k])[lane] = own.g[I[k]][J[k]];
            }
        }
    }
}

// Mean of -[p]x^2, own axes. (H.11)
LANE_INLINE LaneSym second_moment(const Axes* x, const LaneGram* g) {
    // p p' = e w0' + e1 w1' + e2 w2', and e1 has no first component
    LaneVec w0 = lane_axpy(lane_scale(g->sa, x->e1), g->sb, x->e2);
    LaneVec w1 = lane_axpy(lane_scale(g->aa, x->e1), g->ab, x->e2);
    LaneVec w2 = lane_axpy(lane_scale(g->ab, x->e1), g->bb, x->e2);
    w0.x += 1.0 / 3.0;
    w1.x += g->sa;
    w2.x += g->sb;
    Lane xx = w0.x + x->e2.x * w2.x;
    Lane xy = w0.y + x->e2.x * w2.y;
    Lane xz = w0.z + x->e2.x * w2.z;
    Lane yy = x->e1.y * w1.y + x->e2.y * w2.y;
    Lane yz = x->e1.y * w1.z + x->e2.y * w2.z;
    Lane zz = x->e1.z * w1.z + x->e2.z * w2.z;
    return (LaneSym){yy + zz, -xy, -xz, xx + zz, -yz, xx + yy};
}

// Mean of [p]x B, own axes.
LANE_INLINE LaneMat moment_of_rates(const Axes* x, const LaneGram* g) {
    LaneVec pa = lane_axpy(lane_scale(g->aa, x->e1), g->ab, x->e2);
    LaneVec pb = lane_axpy(lane_scale(g->ab, x->e1), g->bb, x->e2);
    LaneVec pak = lane_axpy(lane_scale(g->aak, x->e1), g->bak, x->e2);
    LaneVec pbk = lane_axpy(lane_scale(g->abk, x->e1), g->bbk, x->e2);
    pa.x += g->sa;
    pb.x += g->sb;
    pak.x += g->sak;
    pbk.x += g->sbk;
    LaneVec grow = lane_add_cross(lane_cross(pak, x->e1), pbk, x->e2);
    LaneMat H = {lane_scale(x->q.x, grow), lane_scale(x->q.y, grow), lane_scale(x->q.z, grow)};
    H = lane_add_skew(H, pb, e2_rate(x->q));
    // [pa]x (d x e): the columns of d x e are 0, -e_z, e_y
    H.cy = lane_sub(H.cy, (LaneVec){pa.y, -pa.x, lane_all(0.0)});
    H.cz = lane_add(H.cz, (LaneVec){-pa.z, lane_all(0.0), pa.x});
    return H;
}

// Mean of B'B, own axes.
LANE_INLINE LaneSym rate_inertia(const Axes* x, const LaneGram* g) {
    LaneMat E2 = e2_rate(x->q);
    LaneVec q = x->q;

    // with X d = d x e and G = ak e1 + bk e2: aX + bE2 squared
    LaneMat weighted = lane_scale_mat(g->bb, E2); // bb E2 + 2 ab X, symmetrised by hand
    LaneSym M = lane_sym_add_tproduct((LaneSym){0}, E2, weighted);
    // X'E2: rows 0, -(third row of E2), second row of E2
    Lane r1[3] = {E2.cx.y, E2.cy.y, E2.cz.y}, r2[3] = {E2.cx.z, E2.cy.z, E2.cz.z};
    M.xy -= g->ab * r2[0];
    M.xz += g->ab * r1[0];
    M.yy += g->aa - 2.0 * (g->ab * r2[1]);
    M.yz += g->ab * (r1[1] - r2[2]);
    M.zz += g->aa + 2.0 * (g->ab * r1[2]);

    // cross terms with G q', and |G|^2 q q' (e1 and e2 are orthogonal)
    LaneVec aG = lane_axpy(lane_scale(g->aak, x->e1), g->abk, x->e2);
    LaneVec bG = lane_axpy(lane_scale(g->bak, x->e1), g->bbk, x->e2);
    LaneVec t = lane_tmul(E2, bG);
    t.y -= aG.z;
    t.z += aG.y;
    Lane square = g->akak * lane_dot(x->e1, x->e1) + g->bkbk * lane_dot(x->e2, x->e2);
    t = lane_axpy(t, 0.5 * square, q);
    M.xx += 2.0 * (t.x * q.x);
    M.xy += t.x * q.y + t.y * q.x;
    M.xz += t.x * q.z + t.z * q.x;
    M.yy += 2.0 * (t.y * q.y);
    M.yz += t.y * q.z + t.z * q.y;
    M.zz += 2.0 * (t.z * q.z);
    return M;
}

LANE_INLINE void set_inertia(LaneElement* el, const Axes* x, Lane l, Lane gyration,
                             const LaneGram* g) {
    Lane l2 = l * l;
    LaneVec p = lane_scale(gyration, el->way), h = lane_scale(gyration, el->mean);
    el->h = lane_scale(l, lane_mul(el->R, el->mean));
    LaneSym zero = {0};
    LaneSym J = lane_sym_axpy(zero, l2, second_moment(x, g));
    el->J = lane_sym_rotate(el->R, lane_sym_add_outer(J, p, el->way));
    LaneMat B = displacement(x, g->a, g->b, g->ak, g->bk);
    el->Bm = lane_scale_mat(l, lane_product(el->R, B));
    LaneMat H = lane_scale_mat(l2, moment_of_rates(x, g));
    H = (LaneMat){lane_axpy(H.cx, h.x, el->way), lane_axpy(H.cy, h.y, el->way),
                  lane_axpy(H.cz, h.z, el->way)};
    el->Hm = lane_product(el->R, H);
    el->Mqq = lane_sym_add_outer(lane_sym_axpy(zero, l2, rate_inertia(x, g)), h, el->mean);
    el->Mqq.xx = lane_fma(lane_all(HELIX_TWIST_SHARE), gyration, el->Mqq.xx);
}

// --- momentum -------------------------------------------------------------------------------

// Coefficients of a field in the polynomials, and the mean of its square. (L.9)
LANE_INLINE void expand_field(const LaneModes* m, int count, const LaneVec part[HELIX_AKK],
                              LaneVec U[MODE_COUNT], Lane* square) {
    Lane sum = lane_all(0.0);
    for (int k = 0; k < count; ++k) {
        LaneVec u = lane_axpy(lane_scale(m->a[k], part[HELIX_A]), m->b[k], part[HELIX_B]);
        u = lane_axpy(lane_axpy(u, m->ak[k], part[HELIX_AK]), m->bk[k], part[HELIX_BK]);
        if (k == 0) {
            u = lane_axpy(lane_add(u, part[HELIX_ONE]), lane_all(0.5), part[HELIX_S]);
        } else if (k == 1) {
            u = lane_axpy(u, lane_all(SQRT_3 / 6.0), part[HELIX_S]);
        }
        sum += lane_dot(u, u);
        U[k] = u;
    }
    *square = sum;
}

// P[f] = mean of f times the field.
LANE_INLINE void project_field(const LaneModes* m, int count, const LaneVec U[MODE_COUNT],
                               LaneVec P[HELIX_AKK]) {
    P[HELIX_ONE] = U[0];
    P[HELIX_S] = lane_axpy(lane_scale(lane_all(0.5), U[0]), lane_all(SQRT_3 / 6.0), U[1]);
    P[HELIX_A] = lane_scale(m->a[0], U[0]);
    P[HELIX_B] = lane_scale(m->b[0], U[0]);
    P[HELIX_AK] = lane_scale(m->ak[0], U[0]);
    P[HELIX_BK] = lane_scale(m->bk[0], U[0]);
    for (int k = 1; k < count; ++k) {
        P[HELIX_A] = lane_axpy(P[HELIX_A], m->a[k], U[k]);
        P[HELIX_B] = lane_axpy(P[HELIX_B], m->b[k], U[k]);
        P[HELIX_AK] = lane_axpy(P[HELIX_AK], m->ak[k], U[k]);
        P[HELIX_BK] = lane_axpy(P[HELIX_BK], m->bk[k], U[k]);
    }
}

// The same by panels, for the lanes where either shape turns much.
static void patch_projection(const LaneField* field, Lane y, const LaneVec part[HELIX_AKK],
                             LaneVec P[HELIX_AKK], Lane* square) {
    LaneMask large = large_turning(y) | large_turning(field->y);
    for (int lane = 0; lane < LANE_COUNT; ++lane) {
        if (large[lane] == 0) {
            continue;
        }
        HelixGram mixed, gram;
        TdlVec3 own[HELIX_AKK];
        double sum = 0.0;
        helix_mixed_gram(y[lane], field->y[lane], &mixed);
        helix_gram(field->y[lane], &gram);
        for (int k = 0; k < HELIX_AKK; ++k) {
            own[k] = lane_vec_of(&part[k], lane);
        }
        for (int f = 0; f < HELIX_AKK; ++f) {
            TdlVec3 p = {0};
            for (int k = 0; k < HELIX_AKK; ++k) {
                p = tdl_axpy3(p, mixed.g[f][k], own[k]);
                sum += gram.g[f][k] * tdl_dot3(own[f], own[k]);
            }
            lane_vec_set(&P[f], lane, p);
        }
        (*square)[lane] = sum;
    }
}

// The load of a field from its projections, own axes turned to the world. (H.12)
LANE_INLINE void set_load(LaneElement* el, const Axes* x, Lane l, Lane spin, Lane twist,
                          const LaneVec P[HELIX_AKK]) {
    LaneVec s = P[HELIX_S], zero = {0};
    LaneVec moment = lane_add_cross((LaneVec){zero.x, -s.z, s.y}, x->e1, P[HELIX_A]);
    moment = lane_scale(l, lane_add_cross(moment, x->e2, P[HELIX_B]));
    moment = lane_axpy(moment, spin, el->way); // (H.25)
    LaneVec bend = lane_add_cross(P[HELIX_A], P[HELIX_B], x->q);
    LaneVec own = lane_add_cross((LaneVec){zero.x, -bend.z, bend.y}, x->e1, P[HELIX_B]);
    Lane grow = lane_dot(x->e1, P[HELIX_AK]) + lane_dot(x->e2, P[HELIX_BK]);
    el->force = lane_mul(el->R, P[HELIX_ONE]);
    el->moment = lane_mul(el->R, moment);
    el->own = lane_axpy(lane_scale(l, lane_axpy(own, grow, x->q)), spin, el->mean);
    el->own.x += twist;
}

// What a field and a shape make with each other.
typedef struct Integrals {
    LaneVec P[HELIX_AKK];
    LaneGram gram;
    Lane square;
} Integrals;

LANE_INLINE void integrate(Lane y, Lane y_before, const LaneCurl* curl, const LaneVec* part,
                           int count, int tail, int terms, Integrals* out) {
    LaneModes modes;
    LaneVec U[MODE_COUNT];
    Lane c[8];
    lane_c_terms(y_before, terms, c);
    lane_modes(y_before, c, count, tail, &modes);
    expand_field(&modes, count, part, U, &out->square);
    lane_modes(y, curl->c, count, tail, &modes);
    lane_gram(&modes, count, &out->gram);
    project_field(&modes, count, U, out->P);
}

// For elements that turn little.
static __attribute__((noinline)) void integrate_briefly(Lane* y, Lane* y_before,
                                                        const LaneCurl* curl, const LaneVec* part,
                                                        Integrals* out) {
    integrate(*y, *y_before, curl, part, BRIEF_COUNT, BRIEF_TAIL_TERMS, BRIEF_C_TERMS, out);
}

static __attribute__((noinline)) void integrate_fully(const LaneField* field, const LaneCurl* curl,
                                                      const LaneVec* part, Integrals* out) {
    integrate(bounded(curl->y), bounded(field->y), curl, part, MODE_COUNT, TAIL_TERMS, C_TERMS,
              out);
    if (lane_any(large_turning(curl->y) | large_turning(field->y))) {
        patch_gram(curl->y, &out->gram);
        patch_projection(field, curl->y, part, out->P, &out->square);
    }
}

// Each lane gets what its own turning asks for.
static void find_integrals(const LaneField* field, const LaneCurl* curl, const LaneVec* part,
                           Integrals* out) {
    LaneMask brief = lane_brief(curl->y) & lane_brief(field->y);
    Lane y = lane_pick(brief, curl->y, lane_all(0.0));
    Lane y_before = lane_pick(brief, field->y, lane_all(0.0));
    if (!lane_any(~brief)) {
        integrate_briefly(&y, &y_before, curl, part, out);
        return;
    }
    integrate_fully(field, curl, part, out);
    if (lane_any(brief)) {
        Integrals some;
        integrate_briefly(&y, &y_before, curl, part, &some);
        for (size_t i = 0; i < sizeof some / sizeof(Lane); ++i) {
            Lane* to = (Lane*)out + i;
            *to = lane_pick(brief, ((const Lane*)&some)[i], *to);
        }
    }
}

__attribute__((noinline)) void lane_element_load(LaneElement* el, const Lane* l,
                                                 const Lane* gyration, const LaneField* field,
                                                 const LaneCurl* curl, Lane* square) {
    Axes x = axes_of(el->q);
    Lane spin = *gyration * field->spin, twist = HELIX_TWIST_SHARE * *gyration * field->twist;
    LaneVec part[HELIX_AKK];
    Integrals found;

    // the field of the shape before, in the present axes
    LaneMat turn = lane_tproduct(el->R, field->R);
    for (int k = 0; k < HELIX_AKK; ++k) {
        part[k] = lane_mul(turn, field->part[k]);
    }
    find_integrals(field, curl, part, &found);
    *square = lane_fma(twist, field->twist, lane_fma(spin, field->spin, found.square));
    set_load(el, &x, *l, spin, twist, found.P);
    set_inertia(el, &x, *l, *gyration, &found.gram);
}
