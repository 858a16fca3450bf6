// Root parity in exact arithmetic: the number of roots of F in its domain is odd exactly when a ray
// from the origin meets the image of the domain's boundary an odd number of times.
//
// The image of the boundary is two flat faces (t = 0 and t = 1) and three or four ruled patches
// G(t) + s E(t). A ray that meets a seam is thrown away and another one is shot; an origin that
// lies on the boundary is found first, as a contact of a vertex or at an end of the time step.
//
// What it gets wrong: an even number of roots inside (a vertex that goes through the face and comes
// back within the step) looks like none and is missed; and it knows neither time nor separation.
#include "base/rng.h"
#include "detect/ccd_exact.h"

#include <math.h>

// Rays tried before the query is declared a hit: an image that degenerate is as good as touched.
#define RAYS_MAX 64

typedef struct Ray {
    ExactVector direction; // constant polynomials
    Rng rng;
} Ray;

typedef enum Crossing { CROSS_NO, CROSS_YES, CROSS_SEAM } Crossing;

static void shoot(Ray* ray) {
    for (int i = 0; i < 3; ++i) {
        mpz_t x;
        mpz_init_set_si(x, (long)(rng_next(&ray->rng) >> 44) - (1L << 19));
        alg_line(&ray->direction.x[i], x, x);
        mpz_clear(x);
    }
}

// Sign of (p x q) . r at t
static int triple_sign(const ExactVector* p, const ExactVector* q, const ExactVector* r,
                       AlgRoot* t) {
    ExactVector w;
    AlgPoly d;
    exact_vector_init(&w);
    alg_init(&d);
    exact_vector_cross(&w, p, q);
    exact_vector_dot(&d, &w, r);
    int sign = alg_sign_at(&d, t);
    exact_vector_clear(&w);
    alg_clear(&d);
    return sign;
}

// The flat face at time t (0 or 1): A + u B + v C = lambda r, by Cramer's rule.
static Crossing cross_face(Exact* e, const Ray* ray, AlgRoot* t) {
    if (exact_vector_zero_at(&e->n, t)) {
        return CROSS_NO;
    }
    const ExactVector* r = &ray->direction;
    ExactVector ab, ac, abc;
    exact_vector_init(&ab);
    exact_vector_init(&ac);
    exact_vector_init(&abc);
    exact_vector_add(&ab, &e->a, &e->b);
    exact_vector_add(&ac, &e->a, &e->c);
    exact_vector_add(&abc, &ab, &e->c);
    // the ray passes each side on the same hand
    int facing = triple_sign(&e->b, &e->c, r, t), sides[4], count = e->face ? 3 : 4;
    sides[0] = triple_sign(&e->a, &ab, r, t);
    sides[1] = triple_sign(&ab, e->face ? &ac : &abc, r, t);
    sides[2] = e->face ? triple_sign(&ac, &e->a, r, t) : triple_sign(&abc, &ac, r, t);
    sides[3] = triple_sign(&ac, &e->a, r, t);
    int distance = alg_sign_at(&e->f, t);
    exact_vector_clear(&ab);
    exact_vector_clear(&ac);
    exact_vector_clear(&abc);
    bool seam = facing == 0;
    for (int i = 0; i < count; ++i) {
        if (facing != 0 && sides[i] == -facing) {
            return CROSS_NO; // beside the face
        }
        seam = seam || sides[i] == 0;
    }
    if (seam) {
        return CROSS_SEAM;
    }
    return distance == facing ? CROSS_YES : CROSS_NO;
}

// At a root t of (G x E) . r: whether s lies inside (0, 1) and the ray goes forward.
static Crossing cross_at(const ExactIncidence* in, const Ray* ray, AlgRoot* t) {
    ExactVector w, z;
    AlgPoly ww, zw, rest, gr, er, p, q;
    exact_vector_init(&w);
    exact_vector_init(&z);
    AlgPoly* polys[] = {&ww, &zw, &rest, &gr, &er, &p, &q};
    for (int i = 0; i < 7; ++i) {
        alg_init(polys[i]);
    }
    // s w = z with w = E x r, z = r x G
    exact_vector_cross(&w, &in->e, &ray->direction);
    exact_vector_cross(&z, &ray->direction, &in->g);
    exact_vector_dot(&ww, &w, &w);
    exact_vector_dot(&zw, &z, &w);
    alg_sub(&rest, &ww, &zw);
    // lambda (r.r) (w.w) = (G.r) (w.w) + (E.r) (z.w)
    exact_vector_dot(&gr, &in->g, &ray->direction);
    exact_vector_dot(&er, &in->e, &ray->direction);
    alg_mul(&p, &gr, &ww);
    alg_mul(&q, &er, &zw);
    alg_add(&gr, &p, &q);
    int width = alg_sign_at(&ww, t), low = alg_sign_at(&zw, t), high = alg_sign_at(&rest, t),
        forward = alg_sign_at(&gr, t);
    exact_vector_clear(&w);
    exact_vector_clear(&z);
    for (int i = 0; i < 7; ++i) {
        alg_clear(polys[i]);
    }
    if (width > 0 && (low < 0 || high < 0)) {
        return CROSS_NO; // beside the patch
    }
    if (width == 0 || low == 0 || high == 0 || forward == 0) {
        return CROSS_SEAM;
    }
    return forward > 0 ? CROSS_YES : CROSS_NO;
}

// The ruled patch G(t) + s E(t): *count grows by its crossings.
static Crossing cross_patch(const ExactIncidence* in, const Ray* ray, int* count) {
    ExactVector area;
    AlgPoly h, s;
    AlgRoot roots[ALG_DEGREE_MAX];
    exact_vector_init(&area);
    alg_init(&h);
    alg_init(&s);
    for (int i = 0; i < ALG_DEGREE_MAX; ++i) {
        alg_root_init(&roots[i]);
    }
    exact_vector_cross(&area, &in->g, &in->e);
    exact_vector_dot(&h, &area, &ray->direction);
    Crossing result = CROSS_YES;
    if (h.degree < 0) {
        // a patch without area is not seen; any other may be, from another direction
        result = exact_vector_zero(&area) ? CROSS_YES : CROSS_SEAM;
    } else {
        // a double root counts twice, that is not at all
        alg_squarefree(&s, &h);
        int found = s.degree == h.degree ? alg_roots(&s, roots) : 0;
        for (int i = 0; i < found && result != CROSS_SEAM; ++i) {
            bool end = roots[i].exact && (mpz_sgn(roots[i].num) == 0 ||
                                          (mpz_cmp_ui(roots[i].num, 1) == 0 && roots[i].k == 0));
            Crossing crossing = cross_at(in, ray, &roots[i]);
            // passing beside the patch at an end of time does no harm
            result = crossing == CROSS_SEAM || (crossing == CROSS_YES && end) ? CROSS_SEAM : result;
            *count += crossing == CROSS_YES;
        }
    }
    exact_vector_clear(&area);
    alg_clear(&h);
    alg_clear(&s);
    for (int i = 0; i < ALG_DEGREE_MAX; ++i) {
        alg_root_clear(&roots[i]);
    }
    return result;
}

// Crossings of one ray with the whole boundary; false when it met a seam.
static bool count_crossings(Exact* e, const Ray* ray, int* count) {
    *count = 0;
    AlgRoot t;
    alg_root_init(&t);
    bool clean = true;
    for (unsigned long end = 0; end < 2 && clean; ++end) {
        alg_root_set(&t, end, 0);
        Crossing crossing = cross_face(e, ray, &t);
        *count += crossing == CROSS_YES;
        clean = crossing != CROSS_SEAM;
    }
    alg_root_clear(&t);
    for (int i = 0; i < e->incidence_count && clean; ++i) {
        clean = cross_patch(&e->incidences[i], ray, count) != CROSS_SEAM;
    }
    return clean;
}

TdlStatus ccd_parity(const TdlCcdQuery* query, const TdlCcdOptions* options, TdlCcdResult* result) {
    (void)options;
    Exact e = {.time = INFINITY};
    exact_build(&e, query);
    int rays = 0;

    // the origin on the boundary
    exact_search_plane(&e);
    AlgRoot end;
    alg_root_init(&end);
    alg_root_set(&end, 1, 0);
    e.hit = e.hit || exact_touch_at(&e, &end);
    alg_root_clear(&end);

    // the parity of a ray that meets no seam
    Ray ray = {.rng = rng_seed(1)};
    exact_vector_init(&ray.direction);
    bool decided = e.hit;
    while (!decided && rays < RAYS_MAX) {
        int count = 0;
        ++rays;
        shoot(&ray);
        decided = count_crossings(&e, &ray, &count);
        e.hit = decided && count % 2 != 0;
    }
    e.hit = e.hit || !decided;
    exact_vector_clear(&ray.direction);
    exact_destroy(&e);
    *result = (TdlCcdResult){.collision = e.hit, .time = e.hit ? 0.0 : INFINITY, .boxes = rays};
    return TDL_STATUS_OK;
}
