// Timing of collision queries. The clock costs about as much as a query, so the mean comes from
// whole runs without a clock inside, and only the largest time from runs with one.
#include "app/ccd_measure.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

// s
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1.0e-9 * (double)t.tv_nsec;
}

// After this time no further run is started, s.
static const double TIME_ENOUGH = 2.0;

static void count_answers(const TdlCcdResult* results, const bool* truth, int count,
                          CcdFigures* out) {
    double boxes = 0.0;
    for (int i = 0; i < count; ++i) {
        bool hit = results[i].collision;
        out->positives += truth[i];
        out->reported += hit;
        out->false_positives += hit && !truth[i];
        out->false_negatives += !hit && truth[i];
        out->limited += results[i].limited;
        boxes += results[i].boxes;
        if (hit) {
            out->largest_tolerance = fmax(out->largest_tolerance, results[i].tolerance);
        }
    }
    out->mean_boxes = count > 0 ? boxes / count : 0.0;
}

TdlStatus ccd_measure(const TdlHost* host, const TdlCcdQuery* queries, const bool* truth, int count,
                      const TdlCcdOptions* options, int threads, int repeats, TdlCcdResult* results,
                      double* seconds, CcdFigures* out) {
    *out = (CcdFigures){.queries = count};
    double* once = malloc(((size_t)count + 1) * sizeof *once);
    if (once == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    double start = now(), best = INFINITY;
    TdlStatus status = TDL_STATUS_OK;
    for (int run = 0; run < repeats && status == TDL_STATUS_OK; ++run) {
        // each query by the clock, in the best of its runs
        double sum = 0.0;
        status = tdl_ccd_batch(host, queries, count, options, threads, results, once);
        for (int i = 0; i < count; ++i) {
            seconds[i] = run == 0 ? once[i] : fmin(seconds[i], once[i]);
            sum += once[i];
        }
        // all together; on one thread only, or waiting would count
        if (threads == 1 && status == TDL_STATUS_OK && now() - start < TIME_ENOUGH) {
            double begin = now();
            status = tdl_ccd_batch(host, queries, count, options, threads, results, NULL);
            sum = fmin(sum, now() - begin);
        }
        best = fmin(best, sum);
        if (now() - start > TIME_ENOUGH) {
            break;
        }
    }
    free(once);
    count_answers(results, truth, count, out);
    // the sum of the best times, clock included, is a bound too, and forgets what disturbed a run
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        out->max_us = fmax(out->max_us, 1.0e6 * seconds[i]);
        sum += seconds[i];
    }
    best = fmin(best, sum);
    out->mean_us = count > 0 ? 1.0e6 * best / count : 0.0;
    return status;
}

void ccd_figures_add(CcdFigures* total, const CcdFigures* part) {
    double before = total->queries, more = part->queries, all = before + more;
    if (all > 0.0) {
        total->mean_us = (before * total->mean_us + more * part->mean_us) / all;
        total->mean_boxes = (before * total->mean_boxes + more * part->mean_boxes) / all;
    }
    total->queries += part->queries;
    total->positives += part->positives;
    total->reported += part->reported;
    total->false_positives += part->false_positives;
    total->false_negatives += part->false_negatives;
    total->limited += part->limited;
    total->max_us = fmax(total->max_us, part->max_us);
    total->largest_tolerance = fmax(total->largest_tolerance, part->largest_tolerance);
}
