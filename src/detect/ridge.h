// The ridge from inside: what the walk over intervals (ridge.c) asks of helices (ridge_helix.c) and
// of other curves (ridge_any.c). Curves are seen by arc length. docs/theory/distance.md, section 4
#ifndef TDL_DETECT_RIDGE_H
#define TDL_DETECT_RIDGE_H

#include "detect/search.h"

// The largest curvature times distance for which the nearest point is proved unique. (X.11)
#define RIDGE_CLOSENESS 0.4

// The largest turning, rad, of the piece of a within which that holds: pi, less rounding.
#define RIDGE_TURNING 3.14

enum { RIDGE_STACK = 64, RIDGE_EDGES = 16 };

// Of numbers; fmin and fmax, which look for what is not one, are calls.
static inline double ridge_least(double a, double b) {
    return a < b ? a : b;
}

static inline double ridge_most(double a, double b) {
    return a > b ? a : b;
}

// A point of a curve: place from the origin, unit tangent, curvature vector, speed of the
// parameter.
typedef struct ArcPoint {
    TdlVec3 p, t, k;
    double speed;
} ArcPoint;

// A point of the ridge.
typedef struct RidgePoint {
    double t, s;
    TdlVec3 g;              // b(t) - a(s)
    TdlVec3 a1, a2, b1, b2; // unit tangents and curvature vectors
    double speed[2];        // of the parameters s and t
    double d, q, c;         // |g|, 1 - g.a'', a'.b'
    double e1, e2;          // E' and E'', by b's arc length
    double tau;             // |b' - a'| or |b' + a'|, the smaller
    bool reversed;          // the smaller is |b' + a'|
    bool clamped;           // s was cut to the piece of a: e2 is that of a fixed s
} RidgePoint;

// Over a range of parameters: speeds, and the largest curvature and rate of its change.
typedef struct ArcBounds {
    double slow, fast, bend, twist;
} ArcBounds;

// Over an interval about a ridge point.
typedef struct RidgeBounds {
    double h;      // half-width by arc length
    double bend;   // curvature of b
    double reach;  // largest distance
    double turn;   // T: largest tau
    double third;  // M: bound on |E'''|
    double second; // lower bound on E''
    double speed;  // bound on |ds/dt|, t by arc length
} RidgeBounds;

typedef struct RidgeInterval {
    double low, high;
    bool inside; // the nearest points on a are known to lie within the box
} RidgeInterval;

typedef struct Ridge {
    Search* search;
    bool helices;             // both are
    bool by_arc;              // b's parameter is its arc length
    double s_low, s_high;     // the piece of a
    double far_low, far_high; // where its bounds hold
    ArcBounds a;              // over that
    double error;             // of a computed second derivative, which is of order one
    double guess, from;       // a last nearest parameter, and the t it belongs to
    double rate;              // ds/dt there
    int depth, edge_count;
    RidgeInterval stack[RIDGE_STACK];
    SearchBox edges[RIDGE_EDGES]; // what is left to the boxes: a's parameter fixed at an end
} Ridge;

// A bound on |1/q - 1| for |1 - q| <= share of near <= RIDGE_CLOSENESS: x/(1 - x) without a
// division.
static inline double ridge_inverse_excess(double x, double near) {
    return x * (1.0 + near * (1.0 / (1.0 - RIDGE_CLOSENESS)));
}

// Distance, angle and derivatives from g, tangents and curvature vectors. (X.12)
static inline void ridge_set_point(RidgePoint* p) {
    double ga = curve_dot(p->g, p->a2), gb = curve_dot(p->g, p->b2);
    p->d = sqrt(curve_dot(p->g, p->g));
    p->q = 1.0 - ga;
    p->c = curve_dot(p->a1, p->b1);
    p->reversed = p->c < 0.0;
    TdlVec3 turn = tdl_axpy3(p->b1, p->reversed ? 1.0 : -1.0, p->a1);
    double tau2 = curve_dot(turn, turn);
    p->tau = sqrt(tau2);
    p->e1 = curve_dot(p->g, p->b1);
    // 1 - c^2 without cancellation, and the rest
    p->e2 = tau2 * (1.0 - 0.25 * tau2) + (gb - ga) + ga * (p->q - p->c * p->c) / p->q;
    p->clamped = false;
}

// What rounding can do to E': little where the curves are close and nearly parallel. (X.30)
static inline double ridge_slope_error(const Ridge* ridge, const RidgePoint* p) {
    const Search* search = ridge->search;
    double across = ridge_least(1.0, p->tau) + 4.0 * ridge->a.bend * p->d;
    return across * search->slack + 4.0 * search->rounding * p->d;
}

// For the box, without intervals; false when curves that are far, turn or cross are for boxes.
bool ridge_begin(Ridge* ridge, Search* search, const SearchBox* box, double guess);

// The nearest point on the extended curve a of b(t); false when it is not found.
bool ridge_project_helix(Ridge* ridge, double t, RidgePoint* out);
bool ridge_project_any(Ridge* ridge, double t, RidgePoint* out);

// Bounds over [low, high], from the ridge point in its middle; false when it is too long for them.
bool ridge_bound_helix(const Ridge* ridge, const RidgePoint* p, double h, RidgeBounds* out);
bool ridge_bound_any(const Ridge* ridge, const RidgePoint* p, double low, double high,
                     RidgeBounds* out);

// A place of a curve by its arc length, and bounds over parameters; false when there are none.
ArcPoint ridge_arc(const TdlCurve* c, double u);
bool ridge_arc_bounds(const TdlCurve* c, double u0, double u1, ArcBounds* out);

#endif
