// The search for the nearest points of two curves, from inside. docs/theory/distance.md
#ifndef TDL_DETECT_SEARCH_H
#define TDL_DETECT_SEARCH_H

#include "curve/curve.h"
#include "tendril/detect.h"

// A box of parameters: the midpoint and the half-width on each curve.
typedef struct SearchBox {
    double s, x;  // on a
    double t, y;  // on b
    double lower; // a bound on the value, known before the box is looked at
} SearchBox;

enum { SEARCH_HEAP = 512 };

// Centrelines nearer than this share of their radii meet: how near they come does not matter.
static const double SEARCH_MEETING = 1.0e-6;

// A search under way. The value that is minimised is |a - b| less the varying part of the radii;
// with constant radii it is the distance between the centrelines.
typedef struct Search {
    const TdlCurve *a, *b;
    TdlVec3 offset;          // origin of b seen from that of a
    double taper_a, taper_b; // rate of the radii per parameter
    double radii;            // sum of the radii at both starts
    bool tapered;
    double slack;     // m, all that rounding can do to a distance. (X.3)
    double rounding;  // and to a unit tangent
    double tolerance; // in the parameters
    double shear[2];  // |w_b - w_a| and |w_b + w_a|, for helices
    double wa, wb;    // |w|
    double cross;     // |w_a x w_b|

    double best;   // least value found, or the bound
    double s, t;   // where, once found
    bool found;    //
    bool complete; // no box was given up
    long boxes, limit;

    // every local minimum below the bound is wanted: nothing is pruned by `best`
    bool collect;
    double grain; // boxes narrower than this are not split when collecting
    void (*record)(struct Search* search, double s, double t);
    void* user;

    int count;
    SearchBox heap[SEARCH_HEAP]; // boxes still to be looked at, the least lower bound first
} Search;

// The difference a(s) - b(t) of two evaluated points.
static inline TdlVec3 search_difference(const Search* search, const CurvePoint* a,
                                        const CurvePoint* b) {
    return tdl_sub3(tdl_sub3(a->p, b->p), search->offset);
}

static inline double search_taper(const Search* search, double s, double t) {
    return search->taper_a * s + search->taper_b * t;
}

// An edge of a box is a sum, and off by some roundings from the end of the curve for which it may
// stand: that end, or the edge as it is.
static inline double search_edge(double edge, double end) {
    double slack = 1.0e-14 * end;
    return edge <= slack ? 0.0 : edge >= end - slack ? end : edge;
}

// How far above the minimum a value of the size `size` may stay: the tolerance, eight digits, and
// no finer than rounding.
static inline double search_allowance(const Search* search, double size) {
    double wanted = search->tolerance < 1.0e-8 * size ? search->tolerance : 1.0e-8 * size;
    return wanted > 4.0 * search->slack ? wanted : 4.0 * search->slack;
}

// How much smaller than the best a value must be to be worth finding; never more than a thousandth
// of it, however large the curves are.
// Where the centrelines all but meet, nothing is: how near they come would be looked for along all
// of two curves that lie in each other.
static inline double search_epsilon(const Search* search) {
    if (search->found && !search->tapered && search->best < SEARCH_MEETING * search->radii) {
        return search->best + search->radii;
    }
    double size = search->tapered ? search->radii : search->best;
    double allowed = search_allowance(search, size);
    return !search->found ? 0.0 : allowed < 1.0e-3 * size ? allowed : 1.0e-3 * size;
}

// True when nothing above `lower` is wanted.
static inline bool search_prunes(const Search* search, double lower) {
    if (search->collect) {
        return lower >= search->best;
    }
    return lower >= search->best - search_epsilon(search);
}

static inline void search_offer(Search* search, double s, double t, double value) {
    if (search->collect) {
        search->record(search, s, t);
    } else if (value < search->best) {
        search->best = value;
        search->s = s;
        search->t = t;
        search->found = true;
    }
}

// Sets everything but the bound.
void search_init(Search* search, const TdlCurve* a, const TdlCurve* b, double tolerance);

// A lower bound on |r + x u - y v| over |x|, |y| <= 1, and near-best x and y. (X.6)
double search_axis_gap(TdlVec3 r, TdlVec3 u, TdlVec3 v, double* x, double* y);

// The value at (s, t).
double search_value(const Search* search, double s, double t);

// Descends from (s, t) within the box to a local minimum there, by Newton's method. Returns its
// value; `slope` (may be null) receives the sum over both parameters of what is left of the
// gradient of half the squared distance times the box's width. (X.9)
double search_descend(const Search* search, const SearchBox* box, double* s, double* t,
                      double* slope);

// Takes the point found to full precision, and evaluates both curves there. (X.9)
void search_refine(Search* search, CurvePoint* a, CurvePoint* b);

// Looks through the boxes in the heap and those they push: afterwards `best` is the minimum over
// them, or still the bound.
void search_run(Search* search);

// The ridge: settles the box when the curves, of any kind but the user's own, are close enough to
// each other. False: not applicable, no more than points found. `guess` is a parameter on a near
// the box's middle. (X.12), (X.27)
bool search_ridge(Search* search, const SearchBox* box, double guess);

static inline SearchBox search_domain(const Search* search) {
    double x = 0.5 * search->a->end, y = 0.5 * search->b->end;
    return (SearchBox){x, x, y, y, 0.0};
}

void search_push(Search* search, SearchBox box);

// The fast method over `boxes` or, when there are none, over the hull of the sub-capsule pairs in
// `near`, which is not zero.
void search_fast(Search* search, uint64_t near, const SearchBox* boxes, int box_count);

// What the search found.
void search_report(Search* search, TdlDistanceMethod method, TdlDistance* out);

// --- the other methods
TdlStatus distance_plain(const TdlHost* host, Search* search);
TdlStatus distance_polyline(const TdlHost* host, Search* search, const TdlDistanceDef* def);

// --- the prefilter: bit 8 i + j is set when sub-capsules i of a and j of b may come within
// `margin` of each other, beyond their radii; `soon` is fetched when spheres about them do. (X.16)
uint64_t capsules_near(const TdlCurveCapsules* a, const TdlCurveCapsules* b, double margin,
                       const TdlCurve* soon);
uint64_t capsules_near_scalar(const TdlCurveCapsules* a, const TdlCurveCapsules* b, double margin);

#endif
