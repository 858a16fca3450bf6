// The distance between two curves against a dense grid and descent, against plain branch and
// bound, and against cases known on paper. TENDRIL_LONG=1 runs 20,000 pairs instead of 1500.
#include "ref/curve_pairs.h"

#include "base/clock.h"
#include "detect/search.h"
#include "test.h"

static TdlDistance distance(const TdlCurve* a, const TdlCurve* b, double bound,
                            TdlDistanceMethod method) {
    TdlHost host = tdl_host_default();
    TdlDistanceDef def = tdl_distance_def_default();
    def.bound = bound;
    def.method = method;
    if (method == TDL_DISTANCE_PLAIN) {
        def.tolerance = 1.0e-6;
    }
    TdlDistance out = {0};
    TdlStatus status = tdl_curve_distance(&host, a, NULL, b, NULL, &def, &out);
    if (status != TDL_STATUS_OK) {
        printf("status %d\n", (int)status);
    }
    return out;
}

TEST(random_pairs_are_never_above_the_grid) {
    int per_kind = getenv("TENDRIL_LONG") != NULL ? 2000 : 150;
    for (int kind = 0; kind < PAIR_KINDS; ++kind) {
        Rng rng = rng_seed(1000u + (unsigned)kind);
        double worst = 0.0, worst_parameter = 0.0, seconds = 0.0, slowest = 0.0;
        long boxes = 0, uncertified = 0;
        for (int i = 0; i < per_kind; ++i) {
            TdlCurve a, b;
            random_pair(&rng, kind, &a, &b);
            double start = clock_now();
            TdlDistance d = distance(&a, &b, INFINITY, TDL_DISTANCE_FAST);
            double took = clock_now() - start;
            seconds += took;
            slowest = fmax(slowest, took);
            GridResult ref = grid_ref(&a, &b, 48);
            CHECK(d.below);
            double above = d.distance - ref.distance;
            worst = fmax(worst, above);
            if (above > 1.0e-12) {
                FAIL("%s %d: %.17g is above %.17g by %g (%ld boxes, certified %d)",
                     PAIR_NAMES[kind], i, d.distance, ref.distance, above, d.boxes, d.certified);
            }
            // isolated minima: the parameters too
            double off = newton_ref(&a, &b, d.s[0], d.s[1], 1.0e-4);
            if (off == off) {
                worst_parameter = fmax(worst_parameter, off);
                CHECK_BELOW(off, 1.0e-9);
            }
            boxes += d.boxes;
            uncertified += !d.certified;
        }
        printf("  %-10s above the grid by at most %.1e, parameters within %.1e, %.0f boxes, "
               "%.1f us (%.0f), %ld not certified\n",
               PAIR_NAMES[kind], worst, worst_parameter, (double)boxes / per_kind,
               1.0e6 * seconds / per_kind, 1.0e6 * slowest, uncertified);
    }
}
