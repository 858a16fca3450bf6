// Polynomials with integer coefficients, and their real roots in [0, 1], exactly (GMP). A root is
// a dyadic number, or an open dyadic interval with one simple root of a given polynomial inside.
#ifndef TDL_DETECT_CCD_ALGEBRA_H
#define TDL_DETECT_CCD_ALGEBRA_H

#include <gmp.h>
#include <stdbool.h>

// Highest degree: n . n times a linear term stays below.
#define ALG_DEGREE_MAX 6

typedef struct AlgPoly {
    int degree; // -1 for zero
    mpz_t c[ALG_DEGREE_MAX + 1];
} AlgPoly;

void alg_init(AlgPoly* p);
void alg_clear(AlgPoly* p);
void alg_set(AlgPoly* p, const AlgPoly* a);
void alg_line(AlgPoly* p, const mpz_t at0, const mpz_t at1); // (1 - t) at0 + t at1
void alg_add(AlgPoly* p, const AlgPoly* a, const AlgPoly* b);
void alg_sub(AlgPoly* p, const AlgPoly* a, const AlgPoly* b);
void alg_mul(AlgPoly* p, const AlgPoly* a, const AlgPoly* b); // p differs from a and b
void alg_gcd(AlgPoly* p, const AlgPoly* a, const AlgPoly* b); // primitive
void alg_squarefree(AlgPoly* p, const AlgPoly* a);            // a / gcd(a, a'), primitive

typedef struct AlgRoot {
    bool exact;  // the root is num / 2^k; otherwise it lies in (num, num + 1) / 2^k
    mpz_t num;   //
    unsigned k;  //
    AlgPoly* of; // squarefree; has one root in the interval
} AlgRoot;

void alg_root_init(AlgRoot* root);
void alg_root_clear(AlgRoot* root);
void alg_root_set(AlgRoot* root, unsigned long num, unsigned k); // exact
double alg_root_floor(AlgRoot* root);                            // a double just below or at it

// Sign of p at the root: -1, 0 or 1.
int alg_sign_at(const AlgPoly* p, AlgRoot* root);

// The roots of a squarefree p in [0, 1], ascending; at most `degree` of them. They keep p.
int alg_roots(AlgPoly* p, AlgRoot* roots);

#endif
