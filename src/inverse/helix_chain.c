// Chains of short helices. inverse-fit.md (V.15) to (V.20)
//
// A helix joins two nodes when g = e1.d/|d| = 0, with d from node to node and e1 along the change
// of the tangent (V.15). Newton: the least change of nodes and tangents that mends all g to first
// order. With the weights of (V.17) the matrix is tridiagonal and nearly the unit matrix, so that a
// chain of n elements costs O(n) and two or three rounds. Where the tangent hardly changes e1 is no
// direction: there d itself has to point along the tangents (V.19).
#include "inverse/helix_chain.h"

#include "math/rotation.h"

enum { ROUNDS_MAX = 10, LIMIT_ROUNDS = 4 };

// The largest g that is left, rad: helix_between moves d by as much, and one node adds that to the
// next. So n elements may leave this share of the first g over n: the third order's own error is a
// tenth of g (V.22), a hundred times more. Below MISS all is rounding.
static const double MISS = 1.0e-11, MISS_SHARE = 1.0e-3;

// The most that a tangent turns in a round, rad; Newton knows nothing of more.
static const double TURN_MAX = 0.5;

// An element that turns by more than twice the angle of its tangents and this, rad, is an arc. One
// that hardly bends has less of it: the points say little of how it twists, or nothing but their
// rounding, which in files of single precision is 1e-5 rad.
static const double TURN_FREE = 0.5, FAINT = 1.0e-4;

static double turn_limit(double angle) {
    return 2.0 * angle + TURN_FREE * angle / (angle + FAINT);
}

// The part of the first round's step that places take: with it helices are as long as the curve, to
// fifth order. (V.20)
static const double FIRST_SHARE = 4.0 / 15.0;

// A constraint of which less than this share is its own follows from those before it, as on a line
// that turns back, and is left out; roundings leave 1e-15.
static const double NO_PIVOT = 1.0e-12;

typedef struct Row {
    TdlVec3 e;        // the direction in which d has to vanish
    TdlVec3 j0, j1;   // dg by the tangents of the start and the end
    double g, per_d;  // g; 1/|d|, so that dg = e.(dp1 - dp0)/|d|
    double own, off;  // the matrix's entries with itself and with the next element
    double lambda, v; // of the solution; of the cyclic part
    bool flat;        // (V.19)
} Row;

bool helix_chain_reserve(Arena* arena, int count, bool closed, HelixChain* out) {
    *out = (HelixChain){.count = count, .closed = closed};
    out->p = ARENA_NEW(arena, TdlVec3, count + 1);
    out->t = ARENA_NEW(arena, TdlVec3, count + 1);
    out->turn = ARENA_NEW(arena, TdlVec3, count);
    out->rows = ARENA_NEW(arena, Row, count);
    return out->p != NULL && out->t != NULL && out->turn != NULL && out->rows != NULL;
}

static TdlVec3 across(TdlVec3 a, TdlVec3 unit) {
    return tdl_axpy3(a, -tdl_dot3(a, unit), unit);
}

// The row of one element; false when it has none, since nothing is to be mended. (V.15), (V.16)
static void fill_row(const HelixChain* c, int i, Row* row) {
    TdlVec3 d = tdl_sub3(c->p[i + 1], c->p[i]), t0 = c->t[i], t1 = c->t[i + 1];
    TdlVec3 change = tdl_sub3(t1, t0);
    double dd = tdl_dot3(d, d), kk = tdl_dot3(change, change);
    row->e = row->j0 = row->j1 = (TdlVec3){0};
    row->g = 0.0;
    if (!(dd > 0.0)) {
        row->per_d = 0.0;
        return;
    }
    row->per_d = 1.0 / sqrt(dd);
    TdlVec3 way = tdl_scale3(row->per_d, d);
    if (row->flat) { // along what is left across the mean tangent
        TdlVec3 sum = tdl_add3(t0, t1);
        double size = tdl_norm3(sum);
        TdlVec3 left = size > 0.0 ? across(way, tdl_scale3(1.0 / size, sum)) : (TdlVec3){0};
        row->g = tdl_norm3(left);
        if (row->g > 0.0) {
            row->e = tdl_scale3(1.0 / row->g, left);
            row->j0 = tdl_scale3(-1.0 / size, across(row->e, t0));
            row->j1 = tdl_scale3(-1.0 / size, across(row->e, t1));
        }
        return;
    }
    if (kk > 0.0) {
        double per_k = 1.0 / sqrt(kk);
        row->e = tdl_scale3(per_k, change);
        row->g = tdl_dot3(row->e, way);
        TdlVec3 rest = tdl_axpy3(way, -row->g, row->e);
        row->j0 = tdl_scale3(-per_k, across(rest, t0));
        row->j1 = tdl_scale3(per_k, across(rest, t1));
    }
}

// How free a node is: of its place, in (l/2)^2, and of its tangent. (V.17)
typedef struct Free {
    double place, tangent;
} Free;

static Free freedom(const HelixChain* c, TdlFitMethod method, int node) {
    bool end = !c->closed && (node == 0 || node == c->count);
    double quarter = 0.25 * c->l * c->l;
    if (method == TDL_FIT_S4) {
        return (Free){node == 0 && !c->closed ? 0.0 : quarter, 0.0};
    }
    return end ? (Free){0.0, 2.0} : (Free){quarter, 1.0};
}

// Elements where e1 is no direction: their tangents turn by less than those beside them differ, and
// the helix would have to turn much more. (V.19) Whether there are any.
static bool find_flat(HelixChain* c) {
    int n = c->count;
    bool any = false;
    for (int i = 0; i < n; ++i) {
        int before = i > 0       ? i - 1
                     : c->closed ? n - 1
                                 : i,
            after = i + 1 < n   ? i + 1
                    : c->closed ? 0
                                : i;
        Row* row = &c->rows[i];
        TdlVec3 change = tdl_sub3(c->t[i + 1], c->t[i]), sum = tdl_add3(c->t[i + 1], c->t[i]);
        TdlVec3 a = tdl_sub3(c->t[before + 1], c->t[before]);
        TdlVec3 b = tdl_sub3(c->t[after + 1], c->t[after]);
        double steps = (before != i) + (after != i), size = tdl_norm3(sum);
        row->flat = false;
        if (steps == 0.0 || !(size > 0.0)) {
            continue;
        }
        TdlVec3 beside = tdl_scale3(1.0 / steps, tdl_sub3(b, a));
        double d = tdl_norm3(across(beside, tdl_scale3(1.0 / size, sum)));
        double k = 0.5 * tdl_norm3(change);
        if (2.0 * k < d) {
            TdlVec3 way = tdl_scale3(1.0 / c->l, tdl_sub3(c->p[i + 1], c->p[i]));
            TdlVec3 e3 = tdl_cross3(change, sum); // 4 h k e3, h about 1
            row->flat = 6.0 * fabs(tdl_dot3(way, e3)) >= 4.0 * d * 4.0 * k * k;
            any = any || row->flat;
        }
    }
    return any;
}

// The entries of the matrix. (V.18) Diagonals are kept positive where nothing can be mended.
static void fill_matrix(HelixChain* c, TdlFitMethod method) {
    int n = c->count;
    Free at = freedom(c, method, 0);
    for (int i = 0; i < n; ++i) {
        Row* r = &c->rows[i];
        const Row* next = i + 1 < n ? r + 1 : c->rows;
        Free to = freedom(c, method, i + 1);
        double ee = tdl_dot3(r->e, r->e) * r->per_d * r->per_d;
        r->own = (at.place + to.place) * ee + at.tangent * tdl_dot3(r->j0, r->j0) +
                 to.tangent * tdl_dot3(r->j1, r->j1);
        r->own = r->own > 0.0 ? r->own : 1.0;
        r->off = to.tangent * tdl_dot3(r->j1, next->j0) -
                 to.place * r->per_d * next->per_d * tdl_dot3(r->e, next->e);
        at = to;
    }
}

// Lambda of an open chain, and of the tridiagonal part of a closed one; there v with v as its right
// side as well.
static void eliminate(HelixChain* c) {
    int n = c->count;
    Row* rows = c->rows;
    double before = 0.0, before_off = 0.0, lambda = 0.0, v = 0.0;
    for (int i = 0; i < n; ++i) {
        Row* r = &rows[i];
        double pivot = r->own - before_off * before;
        double inverse = pivot > NO_PIVOT * r->own ? 1.0 / pivot : 0.0;
        lambda = inverse * (r->g - before_off * lambda);
        v = inverse * (r->v - before_off * v);
        r->lambda = lambda;
        r->v = v;
        before_off = r->off;
        before = r->off = r->off * inverse;
    }
    for (int i = n - 2; i >= 0; --i) {
        rows[i].lambda = lambda = rows[i].lambda - rows[i].off * lambda;
        rows[i].v = v = rows[i].v - rows[i].off * v;
    }
}

// By this share the diagonal of a cyclic matrix is raised, for (V.11) divides by nothing when that
// is singular, as it is of most closed chains of four. A round of Newton leaves as much, and the
// next mends it.
static const double RAISE = 1.0e-9;

// Lambda from all rows. (V.18); the cyclic matrix as in (V.11)
static void solve_rows(HelixChain* c, TdlFitMethod method) {
    int n = c->count;
    Row *rows = c->rows, *first = rows, *last = rows + n - 1;
    fill_matrix(c, method);
    for (int i = 0; i < n; ++i) {
        rows[i].v = 0.0;
    }
    if (!c->closed) {
        eliminate(c);
        return;
    }
    for (int i = 0; i < n; ++i) {
        rows[i].own *= 1.0 + RAISE;
    }
    double gamma = -first->own, corner = last->off, ratio = corner / gamma;
    first->own -= gamma;
    first->v = gamma;
    last->own -= corner * ratio;
    last->v = corner;
    eliminate(c);
    double both = (first->lambda + ratio * last->lambda) / (1.0 + first->v + ratio * last->v);
    for (int i = 0; i < n; ++i) {
        rows[i].lambda -= both * rows[i].v;
    }
}

// Moves nodes by a share of what lambda says, and tangents by all of it. (V.18)
static void move(HelixChain* c, TdlFitMethod method, double place_share) {
    int n = c->count;
    for (int i = 0; i <= n - c->closed; ++i) {
        const Row* a = i > 0 ? &c->rows[i - 1] : c->closed ? &c->rows[n - 1] : NULL;
        const Row* b = i < n ? &c->rows[i] : NULL;
        Free at = freedom(c, method, i);
        TdlVec3 dp = {0}, dt = {0};
        if (a != NULL) {
            dp = tdl_scale3(-a->lambda * a->per_d, a->e);
            dt = tdl_scale3(-a->lambda, a->j1);
        }
        if (b != NULL) {
            dp = tdl_axpy3(dp, b->lambda * b->per_d, b->e);
            dt = tdl_axpy3(dt, -b->lambda, b->j0);
        }
        c->p[i] = tdl_axpy3(c->p[i], place_share * at.place, dp);
        double size2 = at.tangent * at.tangent * tdl_dot3(dt, dt), share = at.tangent;
        if (size2 > TURN_MAX * TURN_MAX) {
            share *= TURN_MAX / sqrt(size2);
        }
        c->t[i] = tdl_axpy3(c->t[i], share, dt);
        c->t[i] = tdl_scale3(1.0 / tdl_norm3(c->t[i]), c->t[i]);
    }
    if (c->closed) {
        c->p[n] = c->p[0];
        c->t[n] = c->t[0];
    }
}

// The sine of tangents that are opposite: below it their product is rounding, and no axis.
static const double OPPOSITE = 1.0e-12;

// The rotation from one tangent to the other by the shortest way; about anything across for
// opposite ones.
static TdlVec3 arc_turn(TdlVec3 t0, TdlVec3 t1) {
    TdlVec3 axis = tdl_cross3(t0, t1);
    double sine = tdl_norm3(axis), cosine = tdl_dot3(t0, t1);
    if (sine > (cosine > 0.0 ? 0.0 : OPPOSITE)) {
        return tdl_scale3(atan2(sine, cosine) / sine, axis);
    }
    return cosine > 0.0 ? (TdlVec3){0} : tdl_scale3(acos(-1.0), tdl_frame_from_tangent(t0).cy);
}

// The helix of one element; the arc when it is flat, or when there is none. Whether it was not flat
// and is now, since its helix turns too far. (V.19)
static bool join(HelixChain* c, int i, bool limited) {
    TdlVec3 t0 = c->t[i], t1 = c->t[i + 1], d = tdl_sub3(c->p[i + 1], c->p[i]);
    TdlShortHelix helix = {0};
    bool flat = c->rows[i].flat;
    if (!flat) {
        helix = tdl_helix_between(d, t0, t1);
    }
    bool kept = helix.converged;
    if (kept && limited) {
        double turn = tdl_norm3(helix.turn);
        // the chord of the angle will do but for elements that turn far
        kept = turn <= turn_limit(tdl_norm3(tdl_sub3(t1, t0))) ||
               turn <= turn_limit(atan2(tdl_norm3(tdl_cross3(t0, t1)), tdl_dot3(t0, t1)));
    }
    c->turn[i] = kept ? helix.turn : arc_turn(t0, t1);
    if (!kept) { // an arc over the chord d; where that is none, as long as it should be
        double half = 0.5 * tdl_norm3(c->turn[i]);
        helix.length = tdl_norm3(d) * (half > 1.0e-8 ? half / sin(half) : 1.0);
        bool fits = helix.length > 0.5 * c->l && helix.length < 2.0 * c->l;
        helix.length = fits ? helix.length : c->l;
        c->rows[i].flat = limited;
    }
    c->length += helix.length;
    return !kept && !flat;
}

// Fills all rows; the largest g.
static double fill_rows(HelixChain* c) {
    double worst = 0.0;
    for (int i = 0; i < c->count; ++i) {
        fill_row(c, i, &c->rows[i]);
        double g = fabs(c->rows[i].g);
        worst = g > worst ? g : worst;
    }
    return worst;
}

// Whether the helix of an element is sure to turn too far, by the first guess of (V.7): it is
// within a twentieth where the tangents turn by less than half a radian.
static bool turns_too_far(const HelixChain* c, int i) {
    TdlVec3 d = tdl_sub3(c->p[i + 1], c->p[i]);
    TdlVec3 change = tdl_sub3(c->t[i + 1], c->t[i]), sum = tdl_add3(c->t[i + 1], c->t[i]);
    double hh = tdl_dot3(sum, sum), kk = tdl_dot3(change, change) / hh, d2 = tdl_dot3(d, sum);
    if (!(kk > 0.0 && kk < 0.0625 && d2 > 0.0)) {
        return false;
    }
    // turn = 2 sqrt(k^2 + (3 d3/(k d2))^2), with h = 1; e3 = change x sum / (4 h k)
    double twist = 3.0 * tdl_dot3(d, tdl_cross3(change, sum)) / (d2 * sqrt(hh) * kk);
    double limit = 1.05 * turn_limit(2.0 * sqrt(kk));
    return 4.0 * (kk + twist * twist) > limit * limit;
}

// Elements whose helix would turn too far become flat before it is sought; how many. (V.19)
static int flatten(HelixChain* c) {
    int more = 0;
    for (int i = 0; i < c->count; ++i) {
        Row* row = &c->rows[i];
        bool far = !row->flat && turns_too_far(c, i);
        row->flat = row->flat || far;
        more += far;
    }
    return more;
}

// Newton until all constraints hold, from rows that are filled. (V.18)
static void mend(HelixChain* c, TdlFitMethod method, double first_share, double worst) {
    double enough = fmax(MISS, fmin(MISS_SHARE, MISS_SHARE * worst) / c->count);
    bool limited = first_share < 1.0;
    for (int round = 0; round < ROUNDS_MAX && worst > enough; ++round) {
        solve_rows(c, method);
        move(c, method, round == 0 ? first_share : 1.0);
        if (round == 0 && limited) { // tangents are right by now, but for squares
            c->arc_count += flatten(c);
        }
        worst = fill_rows(c);
    }
}

// The helices of all elements; how many more are flat now, since theirs would turn too far.
static int join_all(HelixChain* c, bool limited) {
    int more = 0;
    c->length = 0.0;
    for (int i = 0; i < c->count; ++i) {
        more += join(c, i, limited);
    }
    c->arc_count += more;
    return more;
}

void helix_chain_fit(HelixChain* c, TdlFitMethod method) {
    for (int i = 0; i < c->count; ++i) {
        c->rows[i].flat = false;
    }
    double worst = fill_rows(c);
    c->arc_count = 0;
    // what is a chain of helices already stays one
    if (!(worst > MISS) || method == TDL_FIT_S4) {
        mend(c, method, 1.0, worst);
        join_all(c, false);
        return;
    }
    if (find_flat(c)) {
        worst = fill_rows(c);
    }
    for (int round = 0; round < LIMIT_ROUNDS; ++round) {
        mend(c, method, round == 0 ? FIRST_SHARE : 1.0, worst);
        if (join_all(c, true) == 0) {
            return;
        }
        worst = fill_rows(c);
    }
}
