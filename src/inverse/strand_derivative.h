// A strand at a stable rest, ready for derivatives of its shape. docs/theory/inverse-poses.md
#ifndef TDL_INVERSE_STRAND_DERIVATIVE_H
#define TDL_INVERSE_STRAND_DERIVATIVE_H

#include "inverse/strand.h"

typedef struct StrandDerivative {
    const Strand* strand;
    StrandHessian h;
    StrandFactor factor; // of the Hessian
    double* G;           // [3 block_count] gradient of weight and loads
    double* scratch;     // [3 block_count]
} StrandDerivative;

// DIVERGED, with a message, where the shape is not stable or about to give way. (V.95)
TdlStatus strand_derivative(const TdlHost* host, const Strand* strand, StrandDerivative* out);

// The rate of q for a change, [3 block_count]; false without memory. (V.93)
bool strand_rate(const StrandDerivative* d, const TdlStrandChange* change, double* rate);

// The rates of places whose arc lengths do not fall: the clamp moves and turns them beside what the
// rate of q does. False without memory. (V.91)
bool strand_place_rates(const Strand* strand, const TdlStrandChange* change, const double* rate,
                        int count, const double* at, TdlVec3* out);

// As tdl_strand_settle, in so many steps at most.
TdlStatus strand_settle(const TdlHost* host, const TdlStrand* def, TdlVec3 gravity,
                        const TdlVec3* natural, int steps_max, TdlVec3* curvature);

// Fails where there is no such table of functions as this file needs.
TdlStatus strand_has_derivatives(const TdlHost* host, const Strand* strand);

// Whether arc lengths are on the strand and do not fall.
bool strand_has_places(const Strand* strand, int count, const double* at);

#endif
