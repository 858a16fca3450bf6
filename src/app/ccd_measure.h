// Runs and times collision queries with known truth; shared by `tendril ccd` and its bench.
#ifndef TDL_APP_CCD_MEASURE_H
#define TDL_APP_CCD_MEASURE_H

#include "tendril/ccd.h"

typedef struct CcdFigures {
    int queries, positives, reported; // positives: collisions by the truth
    int false_positives, false_negatives;
    int limited;              // stopped at the limit of checks
    double mean_us, max_us;   // microseconds a query
    double mean_boxes;        //
    double largest_tolerance; // m, reached by a reported collision
} CcdFigures;

// Answers the queries `repeats` times at most, for about two seconds, and keeps the best times:
// the mean of the best whole run, the largest of each query's best. results and seconds [count]
// hold the answers and the best time of each query.
TdlStatus ccd_measure(const TdlHost* host, const TdlCcdQuery* queries, const bool* truth, int count,
                      const TdlCcdOptions* options, int threads, int repeats, TdlCcdResult* results,
                      double* seconds, CcdFigures* out);

// Adds figures of another set of queries.
void ccd_figures_add(CcdFigures* total, const CcdFigures* part);

#endif
