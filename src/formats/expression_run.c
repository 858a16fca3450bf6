// Running through expressions, forward: on numbers with their first and second derivatives, and on
// intervals with theirs, which are rounded outwards; of the time on numbers alone. O(length) each.
// docs/theory/distance.md, section 11
#include "formats/expression_run.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { SECOND = 6 };

static const double PI = 3.14159265358979323846;

// Derivatives by pairs of coordinates, in the order of TdlImplicitPoint.second.
static const int PAIR[SECOND][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

// --- numbers with derivatives ---------------------------------------------------------------

typedef struct Jet {
    double f, g[3], h[SECOND];
} Jet;

// f and its derivatives at a number.
typedef struct Chain {
    double f, f1, f2;
} Chain;

static double power(double x, double n) {
    return n == 2.0 ? x * x : pow(x, n);
}

static Chain chain_at(Op op, double n, double x) {
    double s;
    switch (op) {
    case OP_SIN:
        s = sin(x);
        return (Chain){s, cos(x), -s};
    case OP_COS:
        s = cos(x);
        return (Chain){s, -sin(x), -s};
    case OP_EXP:
        s = exp(x);
        return (Chain){s, s, s};
    case OP_SQRT:
        s = sqrt(x);
        return (Chain){s, 0.5 / s, -0.25 / (x * s)};
    case OP_ABS:
        return (Chain){fabs(x), x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0, 0.0};
    default: // to a power: the derivatives of x and of 1 are there at 0 as well
        return (Chain){power(x, n), n == 0.0 ? 0.0 : n * power(x, n - 1.0),
                       n * (n - 1.0) == 0.0 ? 0.0 : n * (n - 1.0) * power(x, n - 2.0)};
    }
}

// f(a): f' a_i, and f'' a_i a_j + f' a_ij
static void follow(Chain c, const Jet* a, Jet* out) {
    out->f = c.f;
    for (int i = 0; i < 3; ++i) {
        out->g[i] = c.f1 * a->g[i];
    }
    for (int k = 0; k < SECOND; ++k) {
        out->h[k] = c.f2 * a->g[PAIR[k][0]] * a->g[PAIR[k][1]] + c.f1 * a->h[k];
    }
}

static void combine(double s, const Jet* a, double t, const Jet* b, Jet* out) {
    out->f = s * a->f + t * b->f;
    for (int i = 0; i < 3; ++i) {
        out->g[i] = s * a->g[i] + t * b->g[i];
    }
    for (int k = 0; k < SECOND; ++k) {
        out->h[k] = s * a->h[k] + t * b->h[k];
    }
}

static void multiply(const Jet* a, const Jet* b, Jet* out) {
    out->f = a->f * b->f;
    for (int i = 0; i < 3; ++i) {
        out->g[i] = a->f * b->g[i] + b->f * a->g[i];
    }
    for (int k = 0; k < SECOND; ++k) {
        int i = PAIR[k][0], j = PAIR[k][1];
        out->h[k] = a->f * b->h[k] + b->f * a->h[k] + a->g[i] * b->g[j] + a->g[j] * b->g[i];
    }
}

static void run_step(const Step* s, TdlVec3 x, const Jet* all, Jet* out) {
    const Jet *a = all + s->left, *b = all + s->right;
    Jet inverse;
    *out = (Jet){0};
    switch (s->op) {
    case OP_NUMBER:
        out->f = s->value;
        break;
    case OP_PLACE:
        out->f = (const double[3]){x.x, x.y, x.z}[s->left];
        out->g[s->left] = 1.0;
        break;
    case OP_ADD:
    case OP_SUBTRACT:
        combine(1.0, a, s->op == OP_ADD ? 1.0 : -1.0, b, out);
        break;
    case OP_MULTIPLY:
        multiply(a, b, out);
        break;
    case OP_DIVIDE:
        follow(chain_at(OP_POWER, -1.0, b->f), b, &inverse);
        multiply(a, &inverse, out);
        break;
    case OP_MIN:
    case OP_MAX:
        *out = isnan(a->f) || (!isnan(b->f) && (a->f < b->f) == (s->op == OP_MIN)) ? *a : *b;
        break;
    default:
        follow(chain_at(s->op, s->value, a->f), a, out);
    }
}

void expression_evaluate(const void* data, TdlVec3 x, TdlImplicitPoint* out) {
    const Expression* e = data;
    Jet jet[MOST_STEPS];
    for (int i = 0; i < e->count; ++i) {
        run_step(&e->step[i], x, jet, &jet[i]);
    }
    const Jet* last = &jet[e->count - 1];
    out->value = last->f;
    out->gradient = (TdlVec3){last->g[0], last->g[1], last->g[2]};
    memcpy(out->second, last->h, sizeof out->second);
}

// --- intervals with derivatives -------------------------------------------------------------

typedef struct Interval {
    double lo, hi;
} Interval;

typedef struct IntervalJet {
    Interval f, g[3], h[SECOND];
} IntervalJet;

typedef struct IntervalChain {
    Interval f, f1, f2;
} IntervalChain;

static const Interval ANY = {-INFINITY, INFINITY};

// Two roundings outwards, which is one more than an operation or a library function is off by. 0
// stays 0: sums are 0 exactly or not at all, and products that vanish below 1e-308 do not count.
static Interval rounded(double lo, double hi) {
    if (isnan(lo) || isnan(hi)) {
        return ANY;
    }
    return (Interval){lo - 2.0 * DBL_EPSILON * fabs(lo), hi + 2.0 * DBL_EPSILON * fabs(hi)};
}

static Interval add(Interval a, Interval b) {
    return rounded(a.lo + b.lo, a.hi + b.hi);
}

static Interval negative(Interval a) {
    return (Interval){-a.hi, -a.lo};
}

static Interval times(Interval a, Interval b) {
    if ((a.lo == 0.0 && a.hi == 0.0) || (b.lo == 0.0 && b.hi == 0.0)) {
        return (Interval){0.0, 0.0};
    }
    double p[4] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi}, lo = p[0], hi = p[0];
    for (int i = 0; i < 4; ++i) {
        if (isnan(p[i])) {
            return ANY;
        }
        lo = p[i] < lo ? p[i] : lo;
        hi = p[i] > hi ? p[i] : hi;
    }
    return rounded(lo, hi);
}

static Interval scaled(double s, Interval a) {
    return times((Interval){s, s}, a);
}

static Interval square(Interval a) {
    double most = fmax(fabs(a.lo), fabs(a.hi)), least = fmin(fabs(a.lo), fabs(a.hi));
    return rounded(a.lo <= 0.0 && a.hi >= 0.0 ? 0.0 : least * least, most * most);
}

static Interval joined(Interval a, Interval b) {
    return (Interval){fmin(a.lo, b.lo), fmax(a.hi, b.hi)};
}

static Interval inverse(Interval a) {
    return a.lo > 0.0 || a.hi < 0.0 ? rounded(1.0 / a.hi, 1.0 / a.lo) : ANY;
}

// x^n over an interval.
static Interval power_over(Interval a, double n) {
    if (n == 0.0) {
        return (Interval){1.0, 1.0};
    }
    if (n < 0.0) {
        return inverse(power_over(a, -n));
    }
    if (n == 1.0) {
        return a;
    }
    if (n == 2.0) {
        return square(a);
    }
    bool whole = floor(n) == n, even = whole && fmod(n, 2.0) == 0.0;
    if (!whole && a.lo < 0.0) {
        return ANY; // not defined
    }
    double lo = pow(a.lo, n), hi = pow(a.hi, n);
    if (even && a.lo < 0.0) {
        return rounded(a.hi >= 0.0 ? 0.0 : hi, fmax(lo, hi));
    }
    return rounded(lo, hi);
}

// sin(x + quarters pi/2): 1 where a top lies between. Tops are looked for a little too far.
static Interval sine_over(Interval a, int quarters) {
    double slack = 8.0 * DBL_EPSILON * (fabs(a.lo) + fabs(a.hi) + 4.0);
    double lo = a.lo + quarters * (0.5 * PI) - slack, hi = a.hi + quarters * (0.5 * PI) + slack;
    if (!(hi - lo < 2.0 * PI) || !(fmax(fabs(lo), fabs(hi)) < 1.0e9)) {
        return (Interval){-1.0, 1.0};
    }
    Interval out = {fmin(sin(lo), sin(hi)) - 2.0 * slack, fmax(sin(lo), sin(hi)) + 2.0 * slack};
    double top = 0.5 * PI + 2.0 * PI * ceil((lo - 0.5 * PI) / (2.0 * PI) - 1.0e-9);
    double bottom = -0.5 * PI + 2.0 * PI * ceil((lo + 0.5 * PI) / (2.0 * PI) - 1.0e-9);
    return (Interval){bottom <= hi ? -1.0 : fmax(out.lo, -1.0),
                      top <= hi ? 1.0 : fmin(out.hi, 1.0)};
}

static IntervalChain abs_over(Interval a) {
    Interval zero = {0.0, 0.0};
    if (a.lo > 0.0) {
        return (IntervalChain){a, {1.0, 1.0}, zero};
    }
    if (a.hi < 0.0) {
        return (IntervalChain){negative(a), {-1.0, -1.0}, zero};
    }
    return (IntervalChain){{0.0, fmax(-a.lo, a.hi)}, {-1.0, 1.0}, ANY};
}

static IntervalChain chain_over(Op op, double n, Interval a) {
    Interval s;
    switch (op) {
    case OP_SIN:
        s = sine_over(a, 0);
        return (IntervalChain){s, sine_over(a, 1), negative(s)};
    case OP_COS:
        s = sine_over(a, 1);
        return (IntervalChain){s, negative(sine_over(a, 0)), negative(s)};
    case OP_EXP:
        s = rounded(exp(a.lo), exp(a.hi));
        return (IntervalChain){s, s, s};
    case OP_ABS:
        return abs_over(a);
    case OP_SQRT:
        n = 0.5;
        break;
    default:
        break;
    }
    IntervalChain c = {power_over(a, n), {0.0, 0.0}, {0.0, 0.0}};
    if (n != 0.0) {
        c.f1 = scaled(n, power_over(a, n - 1.0));
    }
    if (n * (n - 1.0) != 0.0) {
        c.f2 = scaled(n * (n - 1.0), power_over(a, n - 2.0));
    }
    return c;
}

static void follow_over(IntervalChain c, const IntervalJet* a, IntervalJet* out) {
    out->f = c.f;
    for (int i = 0; i < 3; ++i) {
        out->g[i] = times(c.f1, a->g[i]);
    }
    for (int k = 0; k < SECOND; ++k) {
        int i = PAIR[k][0], j = PAIR[k][1];
        Interval product = i == j ? square(a->g[i]) : times(a->g[i], a->g[j]);
        out->h[k] = add(times(c.f2, product), times(c.f1, a->h[k]));
    }
}

static void sum_over(const IntervalJet* a, bool minus, const IntervalJet* b, IntervalJet* out) {
    out->f = add(a->f, minus ? negative(b->f) : b->f);
    for (int i = 0; i < 3; ++i) {
        out->g[i] = add(a->g[i], minus ? negative(b->g[i]) : b->g[i]);
    }
    for (int k = 0; k < SECOND; ++k) {
        out->h[k] = add(a->h[k], minus ? negative(b->h[k]) : b->h[k]);
    }
}

static void multiply_over(const IntervalJet* a, const IntervalJet* b, IntervalJet* out) {
    out->f = times(a->f, b->f);
    for (int i = 0; i < 3; ++i) {
        out->g[i] = add(times(a->f, b->g[i]), times(b->f, a->g[i]));
    }
    for (int k = 0; k < SECOND; ++k) {
        int i = PAIR[k][0], j = PAIR[k][1];
        Interval first = add(times(a->f, b->h[k]), times(b->f, a->h[k]));
        Interval second = add(times(a->g[i], b->g[j]), times(a->g[j], b->g[i]));
        out->h[k] = add(first, second);
    }
}

// The one that is certainly less (or more), or both together: where they cross there is an edge.
static void choose_over(bool least, const IntervalJet* a, const IntervalJet* b, IntervalJet* out) {
    if (a->f.hi < b->f.lo || b->f.hi < a->f.lo) {
        *out = (a->f.hi < b->f.lo) == least ? *a : *b;
        return;
    }
    out->f = least ? (Interval){fmin(a->f.lo, b->f.lo), fmin(a->f.hi, b->f.hi)}
                   : (Interval){fmax(a->f.lo, b->f.lo), fmax(a->f.hi, b->f.hi)};
    for (int i = 0; i < 3; ++i) {
        out->g[i] = joined(a->g[i], b->g[i]);
    }
    for (int k = 0; k < SECOND; ++k) {
        out->h[k] = ANY;
    }
}

static void run_step_over(const Step* s, const Interval x[3], const IntervalJet* all,
                          IntervalJet* out) {
    const IntervalJet *a = all + s->left, *b = all + s->right;
    IntervalJet under;
    *out = (IntervalJet){0};
    switch (s->op) {
    case OP_NUMBER:
        out->f = (Interval){s->value, s->value};
        break;
    case OP_PLACE:
        out->f = x[s->left];
        out->g[s->left] = (Interval){1.0, 1.0};
        break;
    case OP_ADD:
    case OP_SUBTRACT:
        sum_over(a, s->op == OP_SUBTRACT, b, out);
        break;
    case OP_MULTIPLY:
        multiply_over(a, b, out);
        break;
    case OP_DIVIDE:
        follow_over(chain_over(OP_POWER, -1.0, b->f), b, &under);
        multiply_over(a, &under, out);
        break;
    case OP_MIN:
    case OP_MAX:
        choose_over(s->op == OP_MIN, a, b, out);
        break;
    default:
        follow_over(chain_over(s->op, s->value, a->f), a, out);
    }
}

void expression_bound(const void* data, TdlVec3 low, TdlVec3 high, TdlImplicitBounds* out) {
    const Expression* e = data;
    IntervalJet jet[MOST_STEPS];
    const Interval x[3] = {{low.x, high.x}, {low.y, high.y}, {low.z, high.z}};
    for (int i = 0; i < e->count; ++i) {
        run_step_over(&e->step[i], x, jet, &jet[i]);
    }
    const IntervalJet* last = &jet[e->count - 1];
    out->low = last->f.lo;
    out->high = last->f.hi;
    out->gradient_low = (TdlVec3){last->g[0].lo, last->g[1].lo, last->g[2].lo};
    out->gradient_high = (TdlVec3){last->g[0].hi, last->g[1].hi, last->g[2].hi};
    for (int k = 0; k < SECOND; ++k) {
        out->second_low[k] = last->h[k].lo;
        out->second_high[k] = last->h[k].hi;
    }
}

// --- of the time ------------------------------------------------------------------------------

static double unary(Op op, double n, double x) {
    switch (op) {
    case OP_TAN:
        return tan(x);
    case OP_TANH:
        return tanh(x);
    case OP_LOG:
        return log(x);
    case OP_FLOOR:
        return floor(x);
    case OP_STEP:
        return x >= 0.0 ? 1.0 : x < 0.0 ? 0.0 : x;
    case OP_RAMP:
        return x >= 1.0 ? 1.0 : x < 0.0 ? 0.0 : x;
    case OP_SMOOTH: // the quintic of least jerk, as between keyframes
        x = unary(OP_RAMP, n, x);
        return x * x * x * (10.0 + x * (6.0 * x - 15.0));
    default:
        return chain_at(op, n, x).f;
    }
}

double expression_step(const Step* s, double time, const double* all) {
    double a = all[s->left], b = all[s->right];
    switch (s->op) {
    case OP_NUMBER:
        return s->value;
    case OP_PLACE:
        return time;
    case OP_ADD:
        return a + b;
    case OP_SUBTRACT:
        return a - b;
    case OP_MULTIPLY:
        return a * b;
    case OP_DIVIDE:
        return a / b;
    case OP_MIN:
    case OP_MAX: // what is not a number is not hidden by the other
        return isnan(a) || (!isnan(b) && (a < b) == (s->op == OP_MIN)) ? a : b;
    default:
        return unary(s->op, s->value, a);
    }
}

double expression_at(const Expression* e, double time) {
    double value[MOST_STEPS] = {0.0};
    for (int i = 0; i < e->count; ++i) {
        value[i] = expression_step(&e->step[i], time, value);
    }
    return value[e->count - 1];
}
