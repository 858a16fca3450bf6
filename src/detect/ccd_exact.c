// Exact decision of a query in integer arithmetic (GMP): slow and certain, the judge of the other
// methods. docs/theory/ccd.md section 6.
//
// The coordinates become integers by a common power of two. With the cubic f = A . (B x C):
// if f is not zero, contacts can happen only at its roots in [0, 1]; at each, exact signs decide
// whether (u, v) lies in the domain, or, where B x C vanishes there, whether a vertex lies on an
// edge. If f is zero the parts stay in one plane, and a first contact is there at t = 0 or is one
// of a vertex with an edge, or of two vertices, whose times are again roots of polynomials.
// Some 20 to 300 us a query with ordinary coordinates.
#include "detect/ccd_exact.h"

#include <math.h>

void exact_vector_init(ExactVector* a) {
    for (int i = 0; i < 3; ++i) {
        alg_init(&a->x[i]);
    }
}

void exact_vector_clear(ExactVector* a) {
    for (int i = 0; i < 3; ++i) {
        alg_clear(&a->x[i]);
    }
}

void exact_vector_add(ExactVector* out, const ExactVector* a, const ExactVector* b) {
    for (int i = 0; i < 3; ++i) {
        alg_add(&out->x[i], &a->x[i], &b->x[i]);
    }
}

static void exact_vector_sub(ExactVector* out, const ExactVector* a, const ExactVector* b) {
    for (int i = 0; i < 3; ++i) {
        alg_sub(&out->x[i], &a->x[i], &b->x[i]);
    }
}

void exact_vector_cross(ExactVector* out, const ExactVector* a, const ExactVector* b) {
    AlgPoly p;
    alg_init(&p);
    for (int i = 0; i < 3; ++i) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        alg_mul(&out->x[i], &a->x[j], &b->x[k]);
        alg_mul(&p, &a->x[k], &b->x[j]);
        alg_sub(&out->x[i], &out->x[i], &p);
    }
    alg_clear(&p);
}

void exact_vector_dot(AlgPoly* out, const ExactVector* a, const ExactVector* b) {
    AlgPoly p, sum;
    alg_init(&p);
    alg_init(&sum);
    for (int i = 0; i < 3; ++i) {
        alg_mul(&p, &a->x[i], &b->x[i]);
        alg_add(&sum, &sum, &p);
    }
    alg_set(out, &sum);
    alg_clear(&p);
    alg_clear(&sum);
}

bool exact_vector_zero(const ExactVector* a) {
    return a->x[0].degree < 0 && a->x[1].degree < 0 && a->x[2].degree < 0;
}

bool exact_vector_zero_at(const ExactVector* a, AlgRoot* t) {
    return alg_sign_at(&a->x[0], t) == 0 && alg_sign_at(&a->x[1], t) == 0 &&
           alg_sign_at(&a->x[2], t) == 0;
}

// x * 2^shift as an integer
static void to_integer(mpz_t out, double x, int shift) {
    int exponent;
    double mantissa = frexp(x, &exponent);
    mpz_set_d(out, ldexp(mantissa, 53));
    int bits = exponent - 53 + shift;
    if (bits >= 0) {
        mpz_mul_2exp(out, out, (mp_bitcnt_t)bits);
    } else {
        // exact: the lowest bit set is at or above 2^-shift
        mpz_tdiv_q_2exp(out, out, (mp_bitcnt_t)-bits);
    }
}

static double coordinate(const TdlCcdQuery* query, int end, int point, int axis) {
    const TdlVec3* p = end == 0 ? &query->start[point] : &query->end[point];
    return axis == 0 ? p->x : axis == 1 ? p->y : p->z;
}

// Power of two that makes every coordinate an integer.
static int common_shift(const TdlCcdQuery* query) {
    int shift = -1024;
    for (int i = 0; i < 24; ++i) {
        double x = coordinate(query, i / 12, i / 3 % 4, i % 3);
        int exponent;
        double mantissa = frexp(x, &exponent);
        if (x == 0.0) {
            continue;
        }
        // drop the trailing zeros of the mantissa
        long long m = (long long)ldexp(fabs(mantissa), 53);
        int lowest = exponent - 53 + __builtin_ctzll((unsigned long long)m);
        shift = -lowest > shift ? -lowest : shift;
    }
    return shift;
}

static void build_parts(Exact* e, const TdlCcdQuery* query) {
    int shift = common_shift(query);
    mpz_t p[2][4];
    for (int i = 0; i < 8; ++i) {
        mpz_init(p[i / 4][i % 4]);
    }
    mpz_t d0, d1;
    mpz_inits(d0, d1, NULL);
    // pairs (first - second) of points for a, b, c
    static const int FACE[3][2] = {{0, 1}, {1, 2}, {1, 3}}, EDGE[3][2] = {{0, 2}, {1, 0}, {2, 3}};
    ExactVector* parts[3] = {&e->a, &e->b, &e->c};
    for (int axis = 0; axis < 3; ++axis) {
        for (int i = 0; i < 8; ++i) {
            to_integer(p[i / 4][i % 4], coordinate(query, i / 4, i % 4, axis), shift);
        }
        for (int k = 0; k < 3; ++k) {
            const int* pair = e->face ? FACE[k] : EDGE[k];
            mpz_sub(d0, p[0][pair[0]], p[0][pair[1]]);
            mpz_sub(d1, p[1][pair[0]], p[1][pair[1]]);
            alg_line(&parts[k]->x[axis], d0, d1);
        }
    }
    for (int i = 0; i < 8; ++i) {
        mpz_clear(p[i / 4][i % 4]);
    }
    mpz_clears(d0, d1, NULL);
}

static ExactIncidence* add_incidence(Exact* e) {
    ExactIncidence* in = &e->incidences[e->incidence_count++];
    exact_vector_init(&in->g);
    exact_vector_init(&in->e);
    return in;
}

static void copy_vector(ExactVector* out, const ExactVector* a) {
    for (int i = 0; i < 3; ++i) {
        alg_set(&out->x[i], &a->x[i]);
    }
}

// Vertex-edge pairs: for a face, its three edges; for two edges, each end on the other edge.
static void build_incidences(Exact* e) {
    ExactIncidence* in = add_incidence(e);
    copy_vector(&in->g, &e->a);
    copy_vector(&in->e, &e->b);
    in = add_incidence(e);
    copy_vector(&in->g, &e->a);
    copy_vector(&in->e, &e->c);
    in = add_incidence(e);
    exact_vector_add(&in->g, &e->a, &e->b);
    if (e->face) {
        exact_vector_sub(&in->e, &e->c, &e->b);
        return;
    }
    copy_vector(&in->e, &e->c);
    in = add_incidence(e);
    exact_vector_add(&in->g, &e->a, &e->c);
    copy_vector(&in->e, &e->b);
}

void exact_build(Exact* e, const TdlCcdQuery* query) {
    e->face = query->kind == TDL_CCD_VERTEX_FACE;
    exact_vector_init(&e->a);
    exact_vector_init(&e->b);
    exact_vector_init(&e->c);
    exact_vector_init(&e->n);
    AlgPoly* polys[] = {&e->f, &e->u, &e->v, &e->nn, &e->spare};
    for (int i = 0; i < 5; ++i) {
        alg_init(polys[i]);
    }
    build_parts(e, query);
    build_incidences(e);
    exact_vector_cross(&e->n, &e->b, &e->c);
    exact_vector_dot(&e->f, &e->a, &e->n);

    // u n = c x a and v n = a x b
    ExactVector w;
    exact_vector_init(&w);
    exact_vector_cross(&w, &e->c, &e->a);
    exact_vector_dot(&e->u, &w, &e->n);
    exact_vector_cross(&w, &e->a, &e->b);
    exact_vector_dot(&e->v, &w, &e->n);
    exact_vector_dot(&e->nn, &e->n, &e->n);
    exact_vector_clear(&w);
}

void exact_destroy(Exact* e) {
    exact_vector_clear(&e->a);
    exact_vector_clear(&e->b);
    exact_vector_clear(&e->c);
    exact_vector_clear(&e->n);
    AlgPoly* polys[] = {&e->f, &e->u, &e->v, &e->nn, &e->spare};
    for (int i = 0; i < 5; ++i) {
        alg_clear(polys[i]);
    }
    for (int i = 0; i < e->incidence_count; ++i) {
        exact_vector_clear(&e->incidences[i].g);
        exact_vector_clear(&e->incidences[i].e);
    }
}

// 0 <= p and p <= q at t
static bool between(Exact* e, const AlgPoly* p, const AlgPoly* q, AlgRoot* t) {
    if (alg_sign_at(p, t) < 0) {
        return false;
    }
    alg_sub(&e->spare, q, p);
    return alg_sign_at(&e->spare, t) >= 0;
}

// g + s e = 0 at t for some s in [0, 1]
static bool incident_at(Exact* e, const ExactIncidence* in, AlgRoot* t) {
    if (exact_vector_zero_at(&in->e, t)) {
        return exact_vector_zero_at(&in->g, t);
    }
    ExactVector w;
    exact_vector_init(&w);
    exact_vector_cross(&w, &in->g, &in->e);
    bool collinear = exact_vector_zero_at(&w, t);
    exact_vector_clear(&w);
    if (!collinear) {
        return false;
    }
    // s e.e = -g.e
    AlgPoly ge, ee;
    alg_init(&ge);
    alg_init(&ee);
    exact_vector_dot(&ee, &in->e, &in->e);
    exact_vector_dot(&e->spare, &in->g, &in->e);
    alg_sub(&ge, &ge, &e->spare);
    bool inside = between(e, &ge, &ee, t);
    alg_clear(&ge);
    alg_clear(&ee);
    return inside;
}

// The parts touch at time t.
bool exact_touch_at(Exact* e, AlgRoot* t) {
    ++e->tests;
    if (alg_sign_at(&e->f, t) != 0) {
        return false;
    }
    if (!exact_vector_zero_at(&e->n, t)) {
        if (!e->face) {
            return between(e, &e->u, &e->nn, t) && between(e, &e->v, &e->nn, t);
        }
        if (alg_sign_at(&e->u, t) < 0 || alg_sign_at(&e->v, t) < 0) {
            return false;
        }
        alg_sub(&e->spare, &e->nn, &e->u);
        alg_sub(&e->spare, &e->spare, &e->v);
        return alg_sign_at(&e->spare, t) >= 0;
    }
    // the face is a segment, or the edges are parallel: then a vertex lies on an edge
    for (int i = 0; i < e->incidence_count; ++i) {
        if (incident_at(e, &e->incidences[i], t)) {
            return true;
        }
    }
    return false;
}

static void try_roots_of(Exact* e, const AlgPoly* p) {
    AlgPoly s;
    AlgRoot roots[ALG_DEGREE_MAX];
    alg_init(&s);
    for (int i = 0; i < ALG_DEGREE_MAX; ++i) {
        alg_root_init(&roots[i]);
    }
    alg_squarefree(&s, p);
    int count = alg_roots(&s, roots);
    for (int i = 0; i < count; ++i) {
        if (exact_touch_at(e, &roots[i])) {
            e->hit = true;
            e->time = fmin(e->time, alg_root_floor(&roots[i]));
            break;
        }
    }
    for (int i = 0; i < ALG_DEGREE_MAX; ++i) {
        alg_root_clear(&roots[i]);
    }
    alg_clear(&s);
}

// Times at which all coordinates vanish together.
static void try_common_roots(Exact* e, const ExactVector* a) {
    AlgPoly g;
    alg_init(&g);
    for (int i = 0; i < 3; ++i) {
        alg_gcd(&g, &g, &a->x[i]);
    }
    try_roots_of(e, &g);
    alg_clear(&g);
}

// Always in one plane: t = 0, and the times of the vertex-edge and vertex-vertex contacts.
void exact_search_plane(Exact* e) {
    AlgRoot start;
    alg_root_init(&start);
    if (exact_touch_at(e, &start)) {
        e->hit = true;
        e->time = 0.0;
    }
    alg_root_clear(&start);
    for (int i = 0; i < e->incidence_count && e->time > 0.0; ++i) {
        const ExactIncidence* in = &e->incidences[i];
        ExactVector w;
        exact_vector_init(&w);
        exact_vector_cross(&w, &in->g, &in->e);
        if (!exact_vector_zero(&w)) {
            try_common_roots(e, &w);
        } else {
            try_common_roots(e, &in->g);
            exact_vector_add(&w, &in->g, &in->e);
            try_common_roots(e, &w);
        }
        exact_vector_clear(&w);
    }
}

TdlStatus ccd_exact(const TdlCcdQuery* query, const TdlCcdOptions* options, TdlCcdResult* result) {
    (void)options;
    Exact e = {.time = INFINITY};
    exact_build(&e, query);
    if (e.f.degree >= 0) {
        try_roots_of(&e, &e.f);
    } else {
        exact_search_plane(&e);
    }
    exact_destroy(&e);
    *result = (TdlCcdResult){.collision = e.hit, .time = e.time, .boxes = e.tests};
    return TDL_STATUS_OK;
}
