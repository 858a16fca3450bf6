// The exact form of a query: polynomials in time with integer coefficients, shared by the exact
// decision and by root parity.
#ifndef TDL_DETECT_CCD_EXACT_H
#define TDL_DETECT_CCD_EXACT_H

#include "detect/ccd.h"
#include "detect/ccd_algebra.h"

typedef struct ExactVector {
    AlgPoly x[3];
} ExactVector;

// A vertex g against the edge g + s e = 0, s in [0, 1].
typedef struct ExactIncidence {
    ExactVector g, e;
} ExactIncidence;

typedef struct Exact {
    ExactVector a, b, c;          // F = a + u b + v c
    ExactVector n;                // b x c
    AlgPoly f;                    // a . n
    AlgPoly u, v, nn;             // u = u(t) / nn(t) and v likewise, where nn > 0
    AlgPoly spare;                // scratch
    ExactIncidence incidences[4]; // what is left where b x c vanishes
    int incidence_count;
    bool face;
    // earliest contact found
    bool hit;
    double time;
    int tests;
} Exact;

void exact_build(Exact* e, const TdlCcdQuery* query); // e zeroed, time infinite
void exact_destroy(Exact* e);

// The parts touch at time t.
bool exact_touch_at(Exact* e, AlgRoot* t);
// Looks at t = 0 and at all times when a vertex meets an edge or a vertex; keeps the earliest
// contact in e->hit, e->time. This decides the query when e->f is zero.
void exact_search_plane(Exact* e);

void exact_vector_init(ExactVector* a);
void exact_vector_clear(ExactVector* a);
void exact_vector_add(ExactVector* out, const ExactVector* a, const ExactVector* b);
void exact_vector_cross(ExactVector* out, const ExactVector* a, const ExactVector* b);
void exact_vector_dot(AlgPoly* out, const ExactVector* a, const ExactVector* b);
bool exact_vector_zero(const ExactVector* a);
bool exact_vector_zero_at(const ExactVector* a, AlgRoot* t);

#endif
