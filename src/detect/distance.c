// The distance between two curves: checks, the choice of method, and the result.
#include "base/log.h"
#include "detect/search.h"

TdlDistanceDef tdl_distance_def_default(void) {
    return (TdlDistanceDef){.method = TDL_DISTANCE_FAST,
                            .bound = INFINITY,
                            .tolerance = 1.0e-12,
                            .box_limit = 200000,
                            .proxy_segments = 8,
                            .meeting = SEARCH_MEETING};
}

// The border: beyond it all numbers are finite.
static TdlStatus check(const TdlHost* host, const TdlCurve* a, const TdlCurve* b,
                       const TdlDistanceDef* def) {
    if (isnan(def->bound)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "distance: the bound is not a number");
    }
    if (!(def->tolerance > 0.0) || isinf(def->tolerance)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "distance: tolerance is %g, must be > 0",
                        def->tolerance);
    }
    if (def->box_limit < 1 || def->proxy_segments < 1) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "distance: box limit %ld and proxy segments %d must be > 0", def->box_limit,
                        def->proxy_segments);
    }
    if (!curve_finite(a) || !curve_finite(b)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "distance: a curve is not finite");
    }
    return TDL_STATUS_OK;
}

// The smallest box of parameters that holds the pairs of sub-capsules in `bits`.
static SearchBox hull(const Search* search, uint64_t bits) {
    unsigned rows = 0, columns = 0;
    for (int i = 0; i < 8; ++i) {
        unsigned row = (unsigned)(bits >> (8 * i)) & 0xffU;
        rows |= (row != 0 ? 1U : 0U) << i;
        columns |= row;
    }
    int s0 = __builtin_ctz(rows), s1 = 32 - __builtin_clz(rows);
    int t0 = __builtin_ctz(columns), t1 = 32 - __builtin_clz(columns);
    double x = search->a->end / 16.0, y = search->b->end / 16.0;
    return (SearchBox){x * (s0 + s1), x * (s1 - s0), y * (t0 + t1), y * (t1 - t0), 0.0};
}

void search_fast(Search* search, uint64_t near, const SearchBox* boxes, int box_count) {
    for (int i = 0; i < box_count; ++i) {
        search_push(search, boxes[i]);
    }
    if (box_count == 0) {
        // the ridge gets all of a, whose true ends then are the only ones
        SearchBox box = near == ~0ULL ? search_domain(search) : hull(search, near);
        SearchBox whole = search_domain(search);
        whole.t = box.t;
        whole.y = box.y;
        if (search->tapered || !(box.x > 0.0) || !(box.y > 0.0) ||
            !search_ridge(search, &whole, box.s)) {
            search_push(search, box);
        }
    }
    search_run(search);
}

void search_report(Search* search, TdlDistanceMethod method, TdlDistance* out) {
    *out = (TdlDistance){.below = search->found,
                         .certified = search->complete && method <= TDL_DISTANCE_PLAIN,
                         .boxes = search->boxes};
    if (!search->found) {
        return;
    }
    CurvePoint a, b;
    if (method == TDL_DISTANCE_FAST) {
        search_refine(search, &a, &b);
    } else {
        a = curve_eval(search->a, search->s);
        b = curve_eval(search->b, search->t);
    }
    out->s[0] = search->s;
    out->s[1] = search->t;
    out->distance = tdl_norm3(search_difference(search, &a, &b));
    out->gap = out->distance - search->radii - search_taper(search, search->s, search->t);
    out->point[0] = tdl_add3(search->a->origin, a.p);
    out->point[1] = tdl_add3(search->b->origin, b.p);
}

TdlStatus tdl_curve_distance(const TdlHost* host, const TdlCurve* a,
                             const TdlCurveCapsules* capsules_a, const TdlCurve* b,
                             const TdlCurveCapsules* capsules_b, const TdlDistanceDef* def,
                             TdlDistance* out) {
    // most pairs end here; what is not finite never does
    uint64_t near = ~0ULL;
    bool fast = def->method == TDL_DISTANCE_FAST;
    if (fast && capsules_a != NULL && capsules_b != NULL) {
        near = capsules_near(capsules_a, capsules_b, def->bound, b);
        if (near == 0) {
            *out = (TdlDistance){.certified = true, .boxes = 1};
            return TDL_STATUS_OK;
        }
    }
    TdlStatus status = check(host, a, b, def);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    Search search;
    search_init(&search, a, b, def->tolerance);
    search.limit = def->box_limit;
    search.best = def->bound + search.radii;
    if (fast) {
        search_fast(&search, near, NULL, 0);
    } else if (def->method == TDL_DISTANCE_PLAIN) {
        status = distance_plain(host, &search);
    } else {
        status = distance_polyline(host, &search, def);
    }
    if (status == TDL_STATUS_OK) {
        search_report(&search, def->method, out);
    }
    return status;
}
