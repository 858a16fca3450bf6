// Cubic splines through points of space. inverse-fit.md (V.9) to (V.11)
//
// With the lengths of the chords as parameter the curve is of fourth order in their size, however
// unevenly the points lie. Slopes by elimination of a tridiagonal matrix; arc lengths by three
// Gauss points a piece, by more where the speed changes much (cusps). All is linear in the points.
#include "inverse/spline.h"

#include "math/rotation.h"

// Three points become as many on their circle, so that the spline is the circle to 1e-6.
enum { CIRCLE_POINTS = 33 };

// Points that are nearer to each other than this share of the mean distance count as one: the
// direction from one to the next is rounding, in files of single precision, and the curve would
// follow it.
static const double SAME = 1.0e-6;

// A piece at an end that is longer than this many of the next is a parabola: the next one's cubic
// carried on so far would go astray by the square of that.
static const double LONG_END = 10.0;

// Speeds of a piece that differ by more than this share ask for a finer quadrature: three Gauss
// points leave an error of about the sixth power of the change.
static const double SPEED_CHANGE = 0.15;

bool spline_reserve(Arena* arena, int count, Spline* out) {
    out->count = count;
    out->x = ARENA_NEW(arena, TdlVec3, count + 1);
    out->slope = ARENA_NEW(arena, TdlVec3, count + 1);
    out->u = ARENA_NEW(arena, double, count + 1);
    out->s = ARENA_NEW(arena, double, count + 1);
    return out->x != NULL && out->slope != NULL && out->u != NULL && out->s != NULL;
}

// --- knots ------------------------------------------------------------------------------------

// Three points a, b, c as an arc of their circle, when it bends by less than a right angle at b.
static void round_off(Spline* out) {
    TdlVec3 a = out->x[0], u = tdl_sub3(out->x[1], a), v = tdl_sub3(out->x[2], out->x[1]);
    TdlVec3 normal = tdl_cross3(u, v);
    double sine = tdl_norm3(normal), cosine = tdl_dot3(u, v), uu = tdl_dot3(u, u);
    if (!(cosine > 0.0) || !(sine > 1.0e-12 * cosine)) {
        return;
    }
    // the angle at the circle over a chord is half that at its centre
    double turn = atan2(sine, cosine), radius = 0.5 * tdl_norm3(tdl_sub3(out->x[2], a)) / sin(turn);
    TdlVec3 axis = tdl_scale3(1.0 / sine, normal);
    double half = asin(fmin(1.0, 0.5 * sqrt(uu) / radius));
    TdlVec3 along = tdl_scale3(1.0 / sqrt(uu), u), across = tdl_cross3(axis, along);
    TdlVec3 last = out->x[2];
    for (int i = 0; i < CIRCLE_POINTS; ++i) { // from the tangent at a, which is `half` before u
        double angle = 2.0 * turn * i / (CIRCLE_POINTS - 1), way = angle / 2.0 - half;
        double chord = 2.0 * radius * sin(0.5 * angle);
        TdlVec3 x = tdl_axpy3(a, chord * cos(way), along);
        out->x[i] = tdl_axpy3(x, chord * sin(way), across);
    }
    out->count = CIRCLE_POINTS - 1;
    out->x[out->count] = last;
}

// The distance up to which points count as one, m.
static double nearest_apart(const TdlVec3* points, int count) {
    double sum = 0.0;
    for (int i = 1; i < count; ++i) {
        sum += tdl_norm3(tdl_sub3(points[i], points[i - 1]));
    }
    return SAME * sum / count;
}

bool spline_knots(Arena* arena, const TdlVec3* points, int count, bool closed, Spline* out) {
    int room = count < CIRCLE_POINTS ? CIRCLE_POINTS : count;
    if (!spline_reserve(arena, room, out)) {
        return false;
    }
    double apart = nearest_apart(points, count);
    int n = 0;
    for (int i = 0; i < count; ++i) {
        if (n == 0 || tdl_norm3(tdl_sub3(points[i], out->x[n - 1])) > apart) {
            out->x[n++] = points[i];
        }
    }
    if (!closed) { // the last point stays
        while (n > 1 && !(tdl_norm3(tdl_sub3(points[count - 1], out->x[n - 2])) > apart)) {
            --n;
        }
        out->x[n - 1] = points[count - 1];
    }
    if (closed && n > 1) {
        if (tdl_norm3(tdl_sub3(out->x[n - 1], out->x[0])) > apart) {
            out->x[n++] = out->x[0];
        }
        out->x[n - 1] = out->x[0];
    }
    out->count = n - 1;
    if (n == 3 && !closed) {
        round_off(out);
    }
    return true;
}

void spline_chords(Spline* spline) {
    spline->u[0] = 0.0;
    for (int i = 0; i < spline->count; ++i) {
        double chord = tdl_norm3(tdl_sub3(spline->x[i + 1], spline->x[i]));
        spline->u[i + 1] = spline->u[i] + chord;
    }
}

// --- slopes -----------------------------------------------------------------------------------

// Rows of a tridiagonal matrix with a right side in space, and a second one, a number.
typedef struct Rows {
    double *below, *middle, *above, *extra;
} Rows;

static bool make_rows(Arena* arena, int count, Rows* out) {
    out->below = ARENA_NEW(arena, double, count);
    out->middle = ARENA_NEW(arena, double, count);
    out->above = ARENA_NEW(arena, double, count);
    out->extra = ARENA_NEW(arena, double, count);
    return out->below != NULL && out->middle != NULL && out->above != NULL && out->extra != NULL;
}

// Elimination without pivots: all our matrices have dominant diagonals, (V.10), or become so.
static void eliminate(int n, const Rows* r, TdlVec3* side, bool with_extra) {
    double inverse = 1.0 / r->middle[0];
    r->above[0] *= inverse;
    side[0] = tdl_scale3(inverse, side[0]);
    r->extra[0] *= inverse;
    for (int i = 1; i < n; ++i) {
        double below = r->below[i];
        inverse = 1.0 / (r->middle[i] - below * r->above[i - 1]);
        r->above[i] *= inverse;
        side[i] = tdl_scale3(inverse, tdl_axpy3(side[i], -below, side[i - 1]));
        r->extra[i] = inverse * (r->extra[i] - below * r->extra[i - 1]);
    }
    for (int i = n - 2; i >= 0; --i) {
        side[i] = tdl_axpy3(side[i], -r->above[i], side[i + 1]);
        if (with_extra) {
            r->extra[i] -= r->above[i] * r->extra[i + 1];
        }
    }
}

// The row of an inner knot with pieces p and q before and behind it. (V.10)
static void knot_row(const Spline* c, int p, int q, int i, const Rows* r) {
    double hp = c->u[p + 1] - c->u[p], hq = c->u[q + 1] - c->u[q];
    r->below[i] = hq;
    r->middle[i] = 2.0 * (hp + hq);
    r->above[i] = hp;
    r->extra[i] = 0.0;
    TdlVec3 side = tdl_scale3(3.0 * hq / hp, tdl_sub3(c->x[p + 1], c->x[p]));
    c->slope[i] = tdl_axpy3(side, 3.0 * hp / hq, tdl_sub3(c->x[q + 1], c->x[q]));
}

// The row of an end: piece p at it and q beyond, knot i at it.
static void end_row(const Spline* c, SplineEnds ends, int p, int q, int i, const Rows* r) {
    double hp = c->u[p + 1] - c->u[p], hq = c->u[q + 1] - c->u[q];
    TdlVec3 dp = tdl_scale3(1.0 / hp, tdl_sub3(c->x[p + 1], c->x[p]));
    TdlVec3 dq = tdl_scale3(1.0 / hq, tdl_sub3(c->x[q + 1], c->x[q]));
    double* beside = i == 0 ? &r->above[i] : &r->below[i];
    r->above[i] = r->below[i] = r->extra[i] = 0.0;
    if (ends == SPLINE_NATURAL) {
        r->middle[i] = 2.0;
        *beside = 1.0;
        c->slope[i] = tdl_scale3(3.0, dp);
    } else if (c->count == 2 || hp > LONG_END * hq) { // a parabola
        r->middle[i] = *beside = 1.0;
        c->slope[i] = tdl_scale3(2.0, dp);
    } else { // one cubic over p and q
        r->middle[i] = hq;
        *beside = hp + hq;
        double wp = (3.0 * hp + 2.0 * hq) * hq / (hp + hq), wq = hp * hp / (hp + hq);
        c->slope[i] = tdl_axpy3(tdl_scale3(wp, dp), wq, dq);
    }
}

static void open_slopes(const Spline* c, SplineEnds ends, const Rows* r) {
    int n = c->count;
    end_row(c, ends, 0, n > 1 ? 1 : 0, 0, r);
    for (int i = 1; i < n; ++i) {
        knot_row(c, i - 1, i, i, r);
    }
    end_row(c, ends, n - 1, n > 1 ? n - 2 : 0, n, r);
    eliminate(n + 1, r, c->slope, false);
}

// A cyclic matrix is a tridiagonal one and a product of two vectors. (V.11)
static void closed_slopes(const Spline* c, const Rows* r) {
    int n = c->count;
    for (int i = 0; i < n; ++i) {
        knot_row(c, i == 0 ? n - 1 : i - 1, i, i, r);
    }
    double gamma = -r->middle[0], corner = r->below[0], other = r->above[n - 1];
    r->middle[0] -= gamma;
    r->middle[n - 1] -= corner * other / gamma;
    r->extra[0] = gamma;
    r->extra[n - 1] = other;
    eliminate(n, r, c->slope, true);
    double ratio = corner / gamma, below = 1.0 + r->extra[0] + ratio * r->extra[n - 1];
    TdlVec3 both = tdl_axpy3(c->slope[0], ratio, c->slope[n - 1]);
    for (int i = 0; i < n; ++i) {
        c->slope[i] = tdl_axpy3(c->slope[i], -r->extra[i] / below, both);
    }
    c->slope[n] = c->slope[0];
}

// --- pieces -----------------------------------------------------------------------------------

// x(w) = a + w (b + w (c + w d)), w in [0, h].
typedef struct Piece {
    TdlVec3 a, b, c, d;
    double h;
} Piece;

static Piece piece_of(const Spline* k, int i) {
    double h = k->u[i + 1] - k->u[i], inverse = 1.0 / h;
    TdlVec3 chord = tdl_scale3(inverse, tdl_sub3(k->x[i + 1], k->x[i]));
    TdlVec3 m0 = tdl_sub3(k->slope[i], chord), m1 = tdl_sub3(k->slope[i + 1], chord);
    TdlVec3 c = tdl_scale3(-inverse, tdl_axpy3(m1, 2.0, m0));
    return (Piece){k->x[i], k->slope[i], c, tdl_scale3(inverse * inverse, tdl_add3(m0, m1)), h};
}

static TdlVec3 velocity(const Piece* p, double w) {
    return tdl_axpy3(p->b, w, tdl_axpy3(tdl_scale3(2.0, p->c), 3.0 * w, p->d));
}

// Three Gauss points on [from, to]; the share by which the speeds differ.
static double gauss(const Piece* p, double from, double to, double* change) {
    double middle = 0.5 * (from + to), half = 0.5 * (to - from), off = half * 0.7745966692414834;
    double a = tdl_norm3(velocity(p, middle - off)), b = tdl_norm3(velocity(p, middle));
    double c = tdl_norm3(velocity(p, middle + off));
    *change = fabs(a - b) + fabs(b - c) - SPEED_CHANGE * b;
    return half * (5.0 / 9.0 * (a + c) + 8.0 / 9.0 * b);
}

// The arc length of a piece up to w.
static double arc(const Piece* p, double w) {
    enum { PARTS = 32 };
    double change, sum = gauss(p, 0.0, w, &change);
    if (change <= 0.0) {
        return sum;
    }
    sum = 0.0;
    for (int i = 0; i < PARTS; ++i) {
        sum += gauss(p, w * i / PARTS, w * (i + 1) / PARTS, &change);
    }
    return sum;
}

// The w at which the arc length is `s`, of a piece that is `whole` long: Newton inside a bracket.
static double arc_inverse(const Piece* p, double s, double whole) {
    double low = 0.0, high = p->h, w = p->h * s / whole;
    for (int step = 0; step < 60 && low < high; ++step) {
        double off = arc(p, w) - s;
        if (fabs(off) <= 1.0e-12 * whole) {
            break;
        }
        *(off > 0.0 ? &high : &low) = w;
        double speed = tdl_norm3(velocity(p, w)), next = w - off / speed;
        // Newton squares its relative error: this one was the last that matters
        bool last = fabs(off) <= 1.0e-7 * whole;
        w = next > low && next < high ? next : 0.5 * (low + high);
        if (last) {
            break;
        }
    }
    return w;
}

bool spline_make(Arena* arena, SplineEnds ends, Spline* spline) {
    ArenaMark mark = arena_mark(arena);
    Rows rows;
    if (!make_rows(arena, spline->count + 1, &rows)) {
        return false;
    }
    if (spline->count == 1) { // the matrix has nothing to say
        TdlVec3 chord = tdl_sub3(spline->x[1], spline->x[0]);
        spline->slope[0] = spline->slope[1] = tdl_scale3(1.0 / spline->u[1], chord);
    } else if (ends == SPLINE_CLOSED) {
        closed_slopes(spline, &rows);
    } else {
        open_slopes(spline, ends, &rows);
    }
    arena_release(arena, mark);
    spline->s[0] = 0.0;
    for (int i = 0; i < spline->count; ++i) {
        Piece piece = piece_of(spline, i);
        spline->s[i + 1] = spline->s[i] + arc(&piece, piece.h);
    }
    return true;
}

// Moves on to the piece in which s lies.
static int find_piece(const Spline* spline, double s, int* piece) {
    while (*piece + 1 < spline->count && spline->s[*piece + 1] <= s) {
        ++*piece;
    }
    return *piece;
}

TdlVec3 spline_place(const Spline* spline, double s, int* piece) {
    int i = find_piece(spline, s, piece);
    double h = spline->u[i + 1] - spline->u[i], whole = spline->s[i + 1] - spline->s[i];
    double v0 = tdl_norm3(spline->slope[i]), v1 = tdl_norm3(spline->slope[i + 1]);
    double part = (s - spline->s[i]) / whole;
    part = part > 0.0 ? part < 1.0 ? part : 1.0 : 0.0;
    double rest = 1.0 - part;
    double mean = whole / h, change = fabs(v0 - mean) + fabs(v1 - mean);
    if (!(change < SPEED_CHANGE * mean)) {
        return spline_at(spline, s, piece).x;
    }
    // the parameter over h: the cubic with the right slopes at both ends
    double w = part * part * (1.0 + 2.0 * rest);
    w += part * rest * mean * (rest / v0 - part / v1);
    double m = 1.0 - w;
    TdlVec3 x = tdl_axpy3(tdl_scale3(m * m * (1.0 + 2.0 * w), spline->x[i]),
                          w * w * (1.0 + 2.0 * m), spline->x[i + 1]);
    return tdl_axpy3(tdl_axpy3(x, h * w * m * m, spline->slope[i]), -h * m * w * w,
                     spline->slope[i + 1]);
}

SplinePoint spline_at(const Spline* spline, double s, int* piece) {
    int i = find_piece(spline, s, piece);
    Piece p = piece_of(spline, i);
    double whole = spline->s[i + 1] - spline->s[i], to = s - spline->s[i];
    double w = to <= 0.0 ? 0.0 : to >= whole ? p.h : arc_inverse(&p, to, whole);
    TdlVec3 rate = velocity(&p, w), second = tdl_axpy3(tdl_scale3(2.0, p.c), 6.0 * w, p.d);
    TdlVec3 x = tdl_axpy3(p.a, w, tdl_axpy3(p.b, w, tdl_axpy3(p.c, w, p.d)));
    double speed2 = tdl_dot3(rate, rate);
    if (!(speed2 > 0.0)) { // a cusp: the tangent is that of the chord
        TdlVec3 chord = tdl_sub3(spline->x[i + 1], spline->x[i]);
        return (SplinePoint){x, tdl_unit3(chord), {0.0, 0.0, 0.0}};
    }
    TdlVec3 across = tdl_axpy3(second, -tdl_dot3(second, rate) / speed2, rate);
    return (SplinePoint){x, tdl_scale3(1.0 / sqrt(speed2), rate), tdl_scale3(1.0 / speed2, across)};
}
