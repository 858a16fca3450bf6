// What went through the wall of a tube in a step. docs/theory/distance.md, section 12
#ifndef TDL_DETECT_BORE_SWEEP_H
#define TDL_DETECT_BORE_SWEEP_H

#include "detect/crossings.h"

typedef enum BoreWay {
    BORE_NONE,    // neither of the two goes into the other
    BORE_THROUGH, // a place of the one went through the wall of the other
    BORE_CLEAR,   // it is in the bore, or before a mouth: it did not
    BORE_OUTSIDE, // it is and was outside, where a tube is like any curve
} BoreWay;

// Of two curves of different fibres, by their numbers.
BoreWay bore_way(const Moved* moved, const int fibre[2], const int element[2]);

#endif
