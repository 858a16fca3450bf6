// Exact polynomials and roots. Isolation by Descartes' rule on dyadic intervals: the number of sign
// changes bounds the number of roots and has its parity, so 0 and 1 are certain; a squarefree
// polynomial gets there by bisection. Signs at a root by a greatest common divisor (for zero) and
// by refinement (otherwise).
#include "detect/ccd_algebra.h"

#include "base/check.h"

#include <math.h>

void alg_init(AlgPoly* p) {
    p->degree = -1;
    for (int i = 0; i <= ALG_DEGREE_MAX; ++i) {
        mpz_init(p->c[i]);
    }
}

void alg_clear(AlgPoly* p) {
    for (int i = 0; i <= ALG_DEGREE_MAX; ++i) {
        mpz_clear(p->c[i]);
    }
}

static void trim(AlgPoly* p) {
    p->degree = ALG_DEGREE_MAX;
    while (p->degree >= 0 && mpz_sgn(p->c[p->degree]) == 0) {
        --p->degree;
    }
}

void alg_set(AlgPoly* p, const AlgPoly* a) {
    for (int i = 0; i <= ALG_DEGREE_MAX; ++i) {
        mpz_set(p->c[i], a->c[i]);
    }
    p->degree = a->degree;
}

void alg_line(AlgPoly* p, const mpz_t at0, const mpz_t at1) {
    for (int i = 2; i <= ALG_DEGREE_MAX; ++i) {
        mpz_set_ui(p->c[i], 0);
    }
    mpz_sub(p->c[1], at1, at0);
    mpz_set(p->c[0], at0);
    trim(p);
}

void alg_add(AlgPoly* p, const AlgPoly* a, const AlgPoly* b) {
    for (int i = 0; i <= ALG_DEGREE_MAX; ++i) {
        mpz_add(p->c[i], a->c[i], b->c[i]);
    }
    trim(p);
}

void alg_sub(AlgPoly* p, const AlgPoly* a, const AlgPoly* b) {
    for (int i = 0; i <= ALG_DEGREE_MAX; ++i) {
        mpz_sub(p->c[i], a->c[i], b->c[i]);
    }
    trim(p);
}

void alg_mul(AlgPoly* p, const AlgPoly* a, const AlgPoly* b) {
    TDL_ASSERT(a->degree + b->degree <= ALG_DEGREE_MAX && p != a && p != b);
    for (int i = 0; i <= ALG_DEGREE_MAX; ++i) {
        mpz_set_ui(p->c[i], 0);
    }
    for (int i = 0; i <= a->degree; ++i) {
        for (int j = 0; j <= b->degree; ++j) {
            mpz_addmul(p->c[i + j], a->c[i], b->c[j]);
        }
    }
    trim(p);
}

// Divides by the common divisor of the coefficients.
static void make_primitive(AlgPoly* p) {
    if (p->degree < 0) {
        return;
    }
    mpz_t g;
    mpz_init(g);
    for (int i = 0; i <= p->degree; ++i) {
        mpz_gcd(g, g, p->c[i]);
    }
    for (int i = 0; i <= p->degree; ++i) {
        mpz_divexact(p->c[i], p->c[i], g);
    }
    mpz_clear(g);
}

// Pseudo-division: a becomes the remainder of l^m a by b; the quotient goes to q when not null.
static void pseudo_divide(AlgPoly* a, const AlgPoly* b, AlgPoly* q) {
    const mpz_t* lead = &b->c[b->degree];
    mpz_t factor;
    mpz_init(factor);
    if (q != NULL) {
        alg_sub(q, q, q);
    }
    while (a->degree >= b->degree) {
        int shift = a->degree - b->degree;
        mpz_set(factor, a->c[a->degree]);
        for (int i = 0; i <= ALG_DEGREE_MAX; ++i) {
            mpz_mul(a->c[i], a->c[i], *lead);
            if (q != NULL) {
                mpz_mul(q->c[i], q->c[i], *lead);
            }
        }
        for (int i = 0; i <= b->degree; ++i) {
            mpz_submul(a->c[i + shift], factor, b->c[i]);
        }
        if (q != NULL) {
            mpz_add(q->c[shift], q->c[shift], factor);
        }
        trim(a);
    }
    if (q != NULL) {
        trim(q);
    }
    mpz_clear(factor);
}

void alg_gcd(AlgPoly* p, const AlgPoly* a, const AlgPoly* b) {
    AlgPoly x, y;
    alg_init(&x);
    alg_init(&y);
    alg_set(&x, a);
    alg_set(&y, b);
    make_primitive(&x);
    make_primitive(&y);
    while (y.degree >= 0) {
        if (x.degree >= y.degree) {
            pseudo_divide(&x, &y, NULL);
            make_primitive(&x);
        }
        AlgPoly swap = x;
        x = y;
        y = swap;
    }
    alg_set(p, &x);
    alg_clear(&x);
    alg_clear(&y);
}

void alg_squarefree(AlgPoly* p, const AlgPoly* a) {
    AlgPoly derivative, g, rest, quotient;
    alg_init(&derivative);
    alg_init(&g);
    alg_init(&rest);
    alg_init(&quotient);
    for (int i = 1; i <= a->degree; ++i) {
        mpz_mul_ui(derivative.c[i - 1], a->c[i], (unsigned long)i);
    }
    trim(&derivative);
    alg_set(&rest, a);
    make_primitive(&rest);
    if (a->degree > 0) {
        alg_gcd(&g, a, &derivative);
        pseudo_divide(&rest, &g, &quotient);
        make_primitive(&quotient);
        alg_set(p, &quotient);
    } else {
        alg_set(p, &rest);
    }
    alg_clear(&derivative);
    alg_clear(&g);
    alg_clear(&rest);
    alg_clear(&quotient);
}

// --- roots
// ------------------------------------------------------------------------------------------

void alg_root_init(AlgRoot* root) {
    *root = (AlgRoot){.exact = true};
    mpz_init(root->num);
}

void alg_root_clear(AlgRoot* root) {
    mpz_clear(root->num);
}

void alg_root_set(AlgRoot* root, unsigned long num, unsigned k) {
    root->exact = true;
    mpz_set_ui(root->num, num);
    root->k = k;
}

// 2^(k n) p(num / 2^k), n the degree
static void scaled_value(const AlgPoly* p, const mpz_t num, unsigned k, mpz_t out) {
    mpz_set_ui(out, 0);
    mpz_t term;
    mpz_init(term);
    for (int i = p->degree; i >= 0; --i) {
        mpz_mul(out, out, num);
        mpz_mul_2exp(term, p->c[i], (mp_bitcnt_t)k * (mp_bitcnt_t)(p->degree - i));
        mpz_add(out, out, term);
    }
    mpz_clear(term);
}

static int sign_at_dyadic(const AlgPoly* p, const mpz_t num, unsigned k) {
    mpz_t value;
    mpz_init(value);
    scaled_value(p, num, k, value);
    int sign = mpz_sgn(value);
    mpz_clear(value);
    return sign;
}

// Sign changes of Descartes' rule for the open interval (num, num + 1) / 2^k: of the coefficients
// of (1 + x)^n p((num + x / (1 + x)) / 2^k).
static int variations(const AlgPoly* p, const mpz_t num, unsigned k) {
    int n = p->degree;
    mpz_t c[ALG_DEGREE_MAX + 1];
    for (int i = 0; i <= n; ++i) {
        mpz_init(c[i]);
        mpz_mul_2exp(c[i], p->c[i], (mp_bitcnt_t)k * (mp_bitcnt_t)(n - i));
    }
    // shift by num, reverse, shift by one
    for (int i = 0; i < n; ++i) {
        for (int j = n - 1; j >= i; --j) {
            mpz_addmul(c[j], c[j + 1], num);
        }
    }
    for (int i = 0; i < n - i; ++i) {
        mpz_swap(c[i], c[n - i]);
    }
    for (int i = 0; i < n; ++i) {
        for (int j = n - 1; j >= i; --j) {
            mpz_add(c[j], c[j], c[j + 1]);
        }
    }
    int changes = 0, last = 0;
    for (int i = 0; i <= n; ++i) {
        int sign = mpz_sgn(c[i]);
        changes += sign != 0 && last != 0 && sign != last;
        last = sign != 0 ? sign : last;
        mpz_clear(c[i]);
    }
    return changes;
}

// Halves the interval.
static void alg_root_refine(AlgRoot* root) {
    if (root->exact) {
        return;
    }
    mpz_mul_2exp(root->num, root->num, 1);
    ++root->k;
    // the left half holds the root when its number of sign changes is odd
    if (variations(root->of, root->num, root->k) % 2 != 0) {
        return;
    }
    mpz_add_ui(root->num, root->num, 1);
    if (sign_at_dyadic(root->of, root->num, root->k) == 0) {
        root->exact = true;
    }
}

double alg_root_floor(AlgRoot* root) {
    while (!root->exact && root->k < 64) {
        alg_root_refine(root);
    }
    long exponent;
    double mantissa = mpz_get_d_2exp(&exponent, root->num); // towards zero
    return ldexp(mantissa, (int)exponent - (int)root->k);
}

// 2 |p(middle)| > width * sum i |c_i| >= width * max |p'|: the sign is that at the middle.
static bool sign_is_certain(const AlgPoly* p, const AlgRoot* root, int* sign) {
    mpz_t num, value, bound, term;
    mpz_inits(num, value, bound, term, NULL);
    unsigned k = root->k + 1;
    mpz_mul_2exp(num, root->num, 1);
    mpz_add_ui(num, num, 1);
    scaled_value(p, num, k, value); // 2^(k n) p(middle)
    for (int i = 1; i <= p->degree; ++i) {
        mpz_abs(term, p->c[i]);
        mpz_addmul_ui(bound, term, (unsigned long)i);
    }
    // half the width is 2^-k
    if (p->degree > 0) {
        mpz_mul_2exp(bound, bound, (mp_bitcnt_t)k * (mp_bitcnt_t)(p->degree - 1));
    }
    *sign = mpz_sgn(value);
    bool certain = mpz_cmpabs(value, bound) > 0;
    mpz_clears(num, value, bound, term, NULL);
    return certain;
}

int alg_sign_at(const AlgPoly* p, AlgRoot* root) {
    if (p->degree <= 0) {
        return p->degree < 0 ? 0 : mpz_sgn(p->c[0]);
    }
    int sign = 0;
    if (!root->exact) {
        // a common root, if the common divisor has one in the interval: 0 or 1, told by parity
        AlgPoly g;
        alg_init(&g);
        alg_gcd(&g, p, root->of);
        bool zero = g.degree > 0 && variations(&g, root->num, root->k) % 2 != 0;
        alg_clear(&g);
        if (zero) {
            return 0;
        }
    }
    while (!root->exact) {
        if (sign_is_certain(p, root, &sign)) {
            return sign;
        }
        alg_root_refine(root);
    }
    return sign_at_dyadic(p, root->num, root->k);
}

static int isolate(AlgPoly* p, const mpz_t num, unsigned k, AlgRoot* roots, int count) {
    int changes = variations(p, num, k);
    if (changes == 0) {
        return count;
    }
    if (changes == 1) {
        roots[count].exact = false;
        mpz_set(roots[count].num, num);
        roots[count].k = k;
        roots[count].of = p;
        return count + 1;
    }
    mpz_t half;
    mpz_init(half);
    mpz_mul_2exp(half, num, 1);
    count = isolate(p, half, k + 1, roots, count);
    mpz_add_ui(half, half, 1);
    if (sign_at_dyadic(p, half, k + 1) == 0) {
        roots[count].exact = true;
        mpz_set(roots[count].num, half);
        roots[count].k = k + 1;
        ++count;
    }
    count = isolate(p, half, k + 1, roots, count);
    mpz_clear(half);
    return count;
}

int alg_roots(AlgPoly* p, AlgRoot* roots) {
    if (p->degree < 1) {
        return 0;
    }
    int count = 0;
    mpz_t zero, one;
    mpz_init_set_ui(zero, 0);
    mpz_init_set_ui(one, 1);
    if (sign_at_dyadic(p, zero, 0) == 0) {
        alg_root_set(&roots[count++], 0, 0);
    }
    count = isolate(p, zero, 0, roots, count);
    if (sign_at_dyadic(p, one, 0) == 0) {
        alg_root_set(&roots[count++], 1, 0);
    }
    mpz_clear(zero);
    mpz_clear(one);
    return count;
}
