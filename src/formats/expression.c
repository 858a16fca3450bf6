// Expressions in x, y and z. The text becomes a list of operations, each about earlier ones, which
// is run through forward: on numbers with their first and second derivatives, and on intervals with
// theirs. Intervals are rounded outwards. O(length) each. docs/theory/distance.md, section 11
#include "formats/expression.h"

#include "base/log.h"
#include "base/memory.h"
#include "formats/number.h"
#include "tendril/formats.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Operations of an expression, and parentheses, signs and calls within each other, at most.
enum { MOST_STEPS = 256, MOST_DEPTH = 48, NAME_SIZE = 16, SECOND = 6 };

static const double PI = 3.14159265358979323846;

// Derivatives by pairs of coordinates, in the order of TdlImplicitPoint.second.
static const int PAIR[SECOND][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

typedef enum Op {
    OP_NUMBER,
    OP_PLACE, // coordinate `left`
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_MIN,
    OP_MAX,
    OP_POWER, // to `value`; from here on of one operand
    OP_SIN,
    OP_COS,
    OP_EXP,
    OP_SQRT,
    OP_ABS,
} Op;

typedef struct Step {
    Op op;
    int left, right; // earlier steps
    double value;
} Step;

typedef struct Expression {
    int count;
    Step step[MOST_STEPS];
} Expression;

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

static void evaluate(const void* data, TdlVec3 x, TdlImplicitPoint* out) {
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

static void bound(const void* data, TdlVec3 low, TdlVec3 high, TdlImplicitBounds* out) {
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

// --- text -----------------------------------------------------------------------------------

typedef struct Parser {
    const char *text, *at;
    Expression* out;
    int depth;
    char fault[96]; // empty: none so far
    const char* fault_at;
} Parser;

// The first mistake stays.
static int refuse(Parser* p, const char* at, const char* what) {
    if (p->fault[0] == '\0') {
        snprintf(p->fault, sizeof p->fault, "%s", what);
        p->fault_at = at;
    }
    return 0;
}

static void skip_blanks(Parser* p) {
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r') {
        ++p->at;
    }
}

static bool take(Parser* p, char c) {
    skip_blanks(p);
    if (*p->at != c) {
        return false;
    }
    ++p->at;
    return true;
}

static double number_of(const Parser* p, int step, bool* is_number) {
    *is_number = p->out->step[step].op == OP_NUMBER;
    return p->out->step[step].value;
}

// Adds a step; one about numbers only becomes a number.
static int emit(Parser* p, const char* at, Step step) {
    Expression* e = p->out;
    if (p->fault[0] != '\0') {
        return 0;
    }
    bool fixed = step.op != OP_PLACE, known = true;
    if (step.op >= OP_ADD) {
        number_of(p, step.left, &known);
        fixed = fixed && known;
    }
    if (step.op >= OP_ADD && step.op < OP_POWER) {
        number_of(p, step.right, &known);
        fixed = fixed && known;
    }
    if (fixed && step.op != OP_NUMBER) {
        Jet operand[2] = {{.f = e->step[step.left].value}, {.f = e->step[step.right].value}}, value;
        step.left = 0;
        step.right = 1;
        run_step(&step, (TdlVec3){0}, operand, &value);
        step = (Step){.op = OP_NUMBER, .value = value.f};
        if (!isfinite(value.f)) {
            return refuse(p, at, "this is not a finite number");
        }
    }
    if (e->count == MOST_STEPS) {
        return refuse(p, at, "too long an expression: at most 256 numbers, names and operations");
    }
    e->step[e->count] = step;
    return e->count++;
}

static int parse_sum(Parser* p);

static int parse_number(Parser* p) {
    const char *start = p->at, *end = start;
    while (isdigit((unsigned char)*end) || *end == '.') {
        ++end;
    }
    if (*end == 'e' || *end == 'E') {
        const char* sign = end + 1 + (end[1] == '+' || end[1] == '-');
        if (isdigit((unsigned char)*sign)) {
            for (end = sign; isdigit((unsigned char)*end);) {
                ++end;
            }
        }
    }
    char digits[64];
    double value;
    size_t length = (size_t)(end - start);
    if (length >= sizeof digits) {
        return refuse(p, start, "too long a number");
    }
    memcpy(digits, start, length);
    digits[length] = '\0';
    if (parse_real(digits, &value) != NUMBER_FINE) {
        return refuse(p, start, "this is not a number that can be used");
    }
    p->at = end;
    return emit(p, start, (Step){.op = OP_NUMBER, .value = value});
}

// In parentheses, with commas between.
static int parse_call(Parser* p, const char* at, Op op) {
    bool pair = op == OP_MIN || op == OP_MAX;
    if (!take(p, '(')) {
        return refuse(p, p->at, "'(' is missing");
    }
    int first = parse_sum(p);
    int step = pair ? first : emit(p, at, (Step){.op = op, .left = first});
    int more = 0;
    while (pair && take(p, ',')) {
        int next = parse_sum(p);
        step = emit(p, at, (Step){.op = op, .left = step, .right = next});
        ++more;
    }
    if (pair && more == 0) {
        return refuse(p, p->at, "min and max take two or more, with commas between");
    }
    return take(p, ')') ? step : refuse(p, p->at, "')' is missing");
}

static int parse_name(Parser* p) {
    static const struct {
        const char* name;
        Op op;
    } CALLS[] = {{"sin", OP_SIN}, {"cos", OP_COS}, {"exp", OP_EXP}, {"sqrt", OP_SQRT},
                 {"abs", OP_ABS}, {"min", OP_MIN}, {"max", OP_MAX}};
    const char* start = p->at;
    size_t length = 0;
    while (isalnum((unsigned char)start[length]) || start[length] == '_') {
        ++length;
    }
    p->at += length;
    if (length == 1 && *start >= 'x' && *start <= 'z') {
        return emit(p, start, (Step){.op = OP_PLACE, .left = *start - 'x'});
    }
    if (length == 2 && strncmp(start, "pi", 2) == 0) {
        return emit(p, start, (Step){.op = OP_NUMBER, .value = PI});
    }
    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; ++i) {
        if (strlen(CALLS[i].name) == length && strncmp(start, CALLS[i].name, length) == 0) {
            return parse_call(p, start, CALLS[i].op);
        }
    }
    char what[96];
    int shown = length < NAME_SIZE ? (int)length : NAME_SIZE;
    snprintf(what, sizeof what, "'%.*s' is not x, y, z, pi, sin, cos, exp, sqrt, abs, min or max",
             shown, start);
    return refuse(p, start, what);
}

static int parse_atom(Parser* p) {
    skip_blanks(p);
    if (isdigit((unsigned char)*p->at) || *p->at == '.') {
        return parse_number(p);
    }
    if (isalpha((unsigned char)*p->at)) {
        return parse_name(p);
    }
    if (take(p, '(')) {
        int step = parse_sum(p);
        return take(p, ')') ? step : refuse(p, p->at, "')' is missing");
    }
    return refuse(p, p->at,
                  *p->at == '\0' ? "it ends too early" : "a number, a name or '(' belongs here");
}

// A sign, or an atom to a power: -x^2 is -(x^2), and 2^-1 is 1/2. What nests does so through here.
static int parse_signed(Parser* p) {
    if (++p->depth > MOST_DEPTH) {
        --p->depth;
        return refuse(p, p->at, "too many parentheses, signs and powers within each other");
    }
    skip_blanks(p);
    const char* at = p->at;
    int step;
    if (take(p, '-')) {
        int right = parse_signed(p);
        int minus = emit(p, at, (Step){.op = OP_NUMBER, .value = -1.0});
        step = emit(p, at, (Step){.op = OP_MULTIPLY, .left = minus, .right = right});
    } else if (take(p, '+')) {
        step = parse_signed(p);
    } else {
        step = parse_atom(p);
        skip_blanks(p);
        const char* sign = p->at;
        if (p->fault[0] == '\0' && take(p, '^')) {
            bool known = false;
            double n = number_of(p, parse_signed(p), &known);
            step = known || p->fault[0] != '\0'
                       ? emit(p, sign, (Step){.op = OP_POWER, .left = step, .value = n})
                       : refuse(p, sign, "a power must be a number, without x, y and z");
        }
    }
    --p->depth;
    return step;
}

static int parse_product(Parser* p) {
    int step = parse_signed(p);
    while (p->fault[0] == '\0') {
        skip_blanks(p);
        const char* at = p->at;
        Op op = *at == '*' ? OP_MULTIPLY : OP_DIVIDE;
        if (!take(p, '*') && !take(p, '/')) {
            break;
        }
        int right = parse_signed(p);
        step = emit(p, at, (Step){.op = op, .left = step, .right = right});
    }
    return step;
}

static int parse_sum(Parser* p) {
    int step = parse_product(p);
    while (p->fault[0] == '\0') {
        skip_blanks(p);
        const char* at = p->at;
        Op op = *at == '+' ? OP_ADD : OP_SUBTRACT;
        if (!take(p, '+') && !take(p, '-')) {
            break;
        }
        int right = parse_product(p);
        step = emit(p, at, (Step){.op = op, .left = step, .right = right});
    }
    return step;
}

const char* expression_parse(const TdlHost* host, const char* text, TdlImplicit* out,
                             ExpressionFault* fault) {
    Expression* e = tdl_alloc_zero(&host->mem, sizeof *e);
    if (e == NULL) {
        return "no memory";
    }
    Parser p = {.text = text, .at = text, .out = e};
    int last = parse_sum(&p);
    skip_blanks(&p);
    if (*p.at != '\0') {
        refuse(&p, p.at, "an operation belongs here: + - * / or ^");
    }
    if (p.fault[0] == '\0' && e->step[last].op == OP_NUMBER) {
        refuse(&p, text, "it has none of x, y and z");
    }
    if (p.fault[0] != '\0') {
        fault->place = (int)(p.fault_at - text);
        snprintf(fault->what, sizeof fault->what, "%s", p.fault);
        tdl_free(&host->mem, e);
        return fault->what;
    }
    out->at = evaluate;
    out->over = bound;
    out->data = e;
    out->size = offsetof(Expression, step) + (size_t)e->count * sizeof *e->step;
    return NULL;
}

TdlStatus tdl_implicit_parse(const TdlHost* host, const char* text, TdlImplicit* out) {
    ExpressionFault fault = {0};
    const char* what = expression_parse(host, text, out, &fault);
    if (what == NULL) {
        return TDL_STATUS_OK;
    }
    if (fault.what[0] == '\0') {
        return TDL_STATUS_NO_MEMORY;
    }
    return tdl_fail(host, TDL_STATUS_BAD_INPUT, "expression, at character %d: %s", fault.place + 1,
                    what);
}

void tdl_implicit_free(const TdlHost* host, TdlImplicit* implicit) {
    tdl_free(&host->mem, (void*)(uintptr_t)implicit->data);
    implicit->data = NULL;
    implicit->size = 0;
}
