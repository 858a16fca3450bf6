// Wisps of wavy fibres packed as in S0, and the clock that benches of detection read.
#ifndef TDL_BENCH_WISP_H
#define TDL_BENCH_WISP_H

#include "tendril/tendril.h"

#define WISP_RADIUS 50.0e-6   // m, of a fibre
#define WISP_LENGTH 0.305     // m
#define WISP_CURVATURE 60.0   // 1/m
#define WISP_DISORDER 1.5     // 1/m
#define WISP_SPACING 150.0e-6 // m, of the roots
enum { WISP_ELEMENTS = 12 };

typedef struct Wisp {
    int fibre_count;
    TdlCurve* curve; // [fibre_count * WISP_ELEMENTS]
    TdlCurveCapsules* capsules;
    TdlFibre* fibre;
} Wisp;

// Fibres whose curvature has the given mean, of changing sign, and is disordered: 60 and 1.5 1/m
// are a wavy wisp. False when memory runs out.
bool wisp_create(const TdlHost* host, int fibre_count, double curvature, double disorder,
                 Wisp* wisp);
void wisp_destroy(Wisp* wisp);

// Numbers that are the same everywhere for a seed: in [0, 1), and of the normal distribution.
double wisp_uniform(uint64_t* state);
double wisp_normal(uint64_t* state);

// Pairs of elements of different fibres whose boxes overlap, as a sweep would hand them over: those
// of some 16 fibres, evenly taken, against all others. The list is the caller's to free; null when
// memory runs out.
typedef struct WispPair {
    int a, b; // elements
} WispPair;
WispPair* wisp_box_pairs(const Wisp* wisp, int* count);

// Processor time of this thread, s: what other programs take does not count.
double wisp_clock(void);

#endif
