// Pairs of curves from a file of `tendril distance`.
#ifndef TDL_APP_DISTANCE_FILE_H
#define TDL_APP_DISTANCE_FILE_H

#include "tendril/tendril.h"

#include <stdio.h>

typedef struct DistancePair {
    TdlCurve a, b;
} DistancePair;

// Starts as {0}; `pair` is freed by the caller, whatever came of reading.
typedef struct DistanceBatch {
    DistancePair* pair;
    long count, capacity;
} DistanceBatch;

// Adds the pairs of the file; the line that is wrong is named in `messages`. Returns an exit code.
int distance_read(FILE* in, const char* name, FILE* messages, DistanceBatch* batch);

#endif
