// All local minima of the gap between two curves, and points spread along stretches where the
// curves run side by side. docs/theory/distance.md, section 7.
//
// The same search as for the least gap, with nothing pruned but what is above the bound: every
// settled region hands over its minimum, which is followed down to one of the whole domain.
#include "base/log.h"
#include "detect/search.h"

#include <float.h>

// Where centrelines meet so often they lie in each other, and every point is a minimum: no more are
// looked for.
enum { MEETINGS = 2 };

typedef struct Found {
    int capacity, count;
    double meeting; // share of the radii within which centrelines meet
    int meetings;   // minima at which they do
    TdlDistance* out;
    SearchBox domain;
    double apart[2]; // minima nearer than this in both parameters are one
} Found;

static void keep(Found* found, const Search* search, double s, double t, double value) {
    for (int i = 0; i < found->count && i < found->capacity; ++i) {
        TdlDistance* old = &found->out[i];
        if (fabs(old->s[0] - s) <= found->apart[0] && fabs(old->s[1] - t) <= found->apart[1]) {
            if (value >= old->gap) {
                return;
            }
            // the lower of the two takes the place
            old->s[0] = s;
            old->s[1] = t;
            old->gap = value;
            return;
        }
    }
    if (found->count < found->capacity) {
        found->out[found->count] = (TdlDistance){.below = true, .gap = value, .s = {s, t}};
    }
    ++found->count;
    (void)search;
}

static void record(Search* search, double s, double t) {
    Found* found = search->user;
    double value = search_descend(search, &found->domain, &s, &t, NULL);
    if (value < search->best) {
        keep(found, search, s, t, value);
    }
    found->meetings += !search->tapered && value < found->meeting * search->radii;
    if (found->meetings >= MEETINGS) {
        search->limit = 0;
    }
}

// Fills in what follows from the parameters.
static void complete(const Search* search, TdlDistance* d) {
    CurvePoint a = curve_eval(search->a, d->s[0]), b = curve_eval(search->b, d->s[1]);
    d->distance = tdl_norm3(search_difference(search, &a, &b));
    d->gap = d->distance - search->radii - search_taper(search, d->s[0], d->s[1]);
    d->point[0] = tdl_add3(search->a->origin, a.p);
    d->point[1] = tdl_add3(search->b->origin, b.p);
    d->certified = search->complete;
    d->boxes = search->boxes;
}

// True when the curves keep side by side for a spacing: the angle takes them apart by less than
// the distance that is looked at.
static bool side_by_side(const Search* search, const TdlDistance* d, double spacing) {
    TdlVec3 u = tdl_unit3(curve_eval(search->a, d->s[0]).d1);
    TdlVec3 v = tdl_unit3(curve_eval(search->b, d->s[1]).d1);
    return tdl_norm3(tdl_cross3(u, v)) * spacing <= search->best;
}

// The nearest points of b's parameter t: local minima along a alone.
static void nearest_of(Search* search, Found* found, double t) {
    found->domain = search_domain(search);
    found->domain.t = t;
    found->domain.y = 0.0;
    search->count = 0;
    search_push(search, found->domain);
    search_run(search);
}

// Adds the spread points; isolated minima nearer than half a spacing to one of them give way.
static void spread(Search* search, Found* found, double spacing, double offset) {
    int minima = found->count < found->capacity ? found->count : found->capacity;
    Found nodes = {.meeting = found->meeting, .apart = {found->apart[0], 0.25 * spacing}};
    TdlDistance here[8];
    int first = (int)ceil(-offset / spacing);
    search->user = &nodes;
    for (int k = first; offset + k * spacing < search->b->end; ++k) {
        nodes.out = here;
        nodes.capacity = 8;
        nodes.count = 0;
        nearest_of(search, &nodes, offset + k * spacing);
        for (int i = 0; i < nodes.count && i < 8; ++i) {
            TdlDistance* d = &here[i];
            bool ends = d->s[0] <= 0.0 || d->s[0] >= search->a->end;
            if (ends || !side_by_side(search, d, spacing)) {
                continue; // beyond the stretch, or a crossing: that is an isolated minimum
            }
            for (int m = 0; m < minima; ++m) {
                // half a spacing away, or on a stretch so level that any point is a minimum
                double away = fabs(found->out[m].s[1] - d->s[1]);
                bool level = d->gap - found->out[m].gap <= 0.01 * search->best;
                if (away < (level ? 1.0 : 0.5) * spacing &&
                    fabs(found->out[m].s[0] - d->s[0]) < 2.0 * spacing) {
                    found->out[m] = found->out[--minima];
                    found->out[minima] = found->out[--found->count];
                    --m;
                }
            }
            if (found->count < found->capacity) {
                found->out[found->count] = *d;
            }
            ++found->count;
        }
    }
}

static void sort_by_gap(TdlDistance* out, int count) {
    for (int i = 1; i < count; ++i) {
        TdlDistance d = out[i];
        int k = i;
        for (; k > 0 && out[k - 1].gap > d.gap; --k) {
            out[k] = out[k - 1];
        }
        out[k] = d;
    }
}

TdlStatus tdl_curve_minima(const TdlHost* host, const TdlCurve* a, const TdlCurve* b,
                           const TdlDistanceDef* def, double spacing, double offset, int capacity,
                           TdlDistance* out, int* count, bool* certified) {
    *count = 0;
    if (!isfinite(def->bound) || !(def->tolerance > 0.0) || def->box_limit < 1) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "minima: the bound must be finite, the tolerance and the limit > 0");
    }
    if (!(spacing >= 0.0) || !isfinite(offset) || capacity < 1 || isinf(spacing) ||
        (spacing > 0.0 && !(b->end / spacing < 1.0e6))) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "minima: spacing %g or offset %g is wrong",
                        spacing, offset);
    }
    if (!curve_finite(a) || !curve_finite(b)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "minima: a curve is not finite");
    }
    Search search;
    search_init(&search, a, b, def->tolerance);
    search.limit = def->box_limit;
    search.best = def->bound + search.radii;
    search.collect = true;
    search.grain = fmax(0.5 * spacing, fmin(a->end, b->end) / 256.0);
    search.record = record;
    Found found = {.capacity = capacity,
                   .meeting = def->meeting,
                   .out = out,
                   .domain = search_domain(&search)};
    found.apart[0] = fmax(search.grain, 1.0e-9 * a->end);
    found.apart[1] = fmax(search.grain, 1.0e-9 * b->end);
    search.user = &found;
    search_push(&search, found.domain);
    search_run(&search);
    bool complete_list = search.complete;
    if (spacing > 0.0) {
        spread(&search, &found, spacing, offset);
    }
    int stored = found.count < capacity ? found.count : capacity;
    for (int i = 0; i < stored; ++i) {
        complete(&search, &out[i]);
    }
    sort_by_gap(out, stored);
    *count = found.count;
    if (certified != NULL) {
        *certified = complete_list;
    }
    return TDL_STATUS_OK;
}

TdlStatus tdl_chain_distance(const TdlHost* host, const TdlCurve* a, int count_a, const TdlCurve* b,
                             int count_b, const TdlDistanceDef* def, TdlDistance* out,
                             int piece[2]) {
    if (count_a < 1 || count_b < 1) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "chain: a chain is empty");
    }
    TdlDistanceDef here = *def;
    TdlDistance best = {.certified = true};
    piece[0] = piece[1] = 0;
    for (int i = 0; i < count_a; ++i) {
        for (int j = 0; j < count_b; ++j) {
            TdlDistance d;
            TdlStatus status = tdl_curve_distance(host, &a[i], NULL, &b[j], NULL, &here, &d);
            if (status != TDL_STATUS_OK) {
                return status;
            }
            bool certified = best.certified && d.certified;
            long boxes = best.boxes + d.boxes;
            if (d.below) {
                best = d;
                here.bound = d.gap;
                piece[0] = i;
                piece[1] = j;
            }
            best.certified = certified;
            best.boxes = boxes;
        }
    }
    *out = best;
    return TDL_STATUS_OK;
}
