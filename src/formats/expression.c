// Expressions in x, y and z, or in the time: the text becomes a list of operations, each about
// earlier ones. expression_run.c runs through it.
#include "formats/expression.h"

#include "base/log.h"
#include "base/memory.h"
#include "formats/expression_run.h"
#include "formats/number.h"
#include "tendril/formats.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Parentheses, signs and calls within each other, at most; bytes of a name that are shown.
enum { MOST_DEPTH = 48, NAME_SIZE = 16 };

static const double PI = 3.14159265358979323846;

// --- text -----------------------------------------------------------------------------------

typedef struct Parser {
    const char *text, *at;
    Expression* out;
    bool of_time; // in t alone, with functions that have no bounds
    int depth;
    char fault[FAULT_SIZE]; // empty: none so far
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
        const double operand[2] = {e->step[step.left].value, e->step[step.right].value};
        step.left = 0;
        step.right = 1;
        step = (Step){.op = OP_NUMBER, .value = expression_step(&step, 0.0, operand)};
        if (!isfinite(step.value)) {
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

static int unknown_name(Parser* p, const char* start, size_t length) {
    char what[FAULT_SIZE];
    int shown = length < NAME_SIZE ? (int)length : NAME_SIZE;
    snprintf(what, sizeof what, "'%.*s' is not %s, pi, sin, cos, exp, sqrt, abs, min or max%s",
             shown, start, p->of_time ? "t" : "x, y, z",
             p->of_time ? ", nor tan, tanh, log, floor, step, ramp or smooth" : "");
    return refuse(p, start, what);
}

static int parse_name(Parser* p) {
    static const struct {
        const char* name;
        Op op;
    } CALLS[] = {{"sin", OP_SIN},   {"cos", OP_COS},      {"exp", OP_EXP},     {"sqrt", OP_SQRT},
                 {"abs", OP_ABS},   {"min", OP_MIN},      {"max", OP_MAX},     {"tan", OP_TAN},
                 {"tanh", OP_TANH}, {"log", OP_LOG},      {"floor", OP_FLOOR}, {"step", OP_STEP},
                 {"ramp", OP_RAMP}, {"smooth", OP_SMOOTH}};
    const char *start = p->at, *places = p->of_time ? "t" : "xyz";
    size_t length = 0;
    while (isalnum((unsigned char)start[length]) || start[length] == '_') {
        ++length;
    }
    p->at += length;
    const char* place = length == 1 ? strchr(places, *start) : NULL;
    if (place != NULL) {
        return emit(p, start, (Step){.op = OP_PLACE, .left = (int)(place - places)});
    }
    if (length == 2 && strncmp(start, "pi", 2) == 0) {
        return emit(p, start, (Step){.op = OP_NUMBER, .value = PI});
    }
    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; ++i) {
        bool same = strlen(CALLS[i].name) == length && strncmp(start, CALLS[i].name, length) == 0;
        if (same && (p->of_time || CALLS[i].op < OP_TAN)) {
            return parse_call(p, start, CALLS[i].op);
        }
    }
    return unknown_name(p, start, length);
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
                       : refuse(p, sign,
                                p->of_time ? "a power must be a number, without t"
                                           : "a power must be a number, without x, y and z");
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

// The whole text into `e`; null, or what is wrong.
static const char* parse_all(const char* text, bool of_time, Expression* e,
                             ExpressionFault* fault) {
    Parser p = {.text = text, .at = text, .out = e, .of_time = of_time};
    int last = parse_sum(&p);
    skip_blanks(&p);
    if (*p.at != '\0') {
        refuse(&p, p.at, "an operation belongs here: + - * / or ^");
    }
    if (!of_time && p.fault[0] == '\0' && e->step[last].op == OP_NUMBER) {
        refuse(&p, text, "it has none of x, y and z");
    }
    if (p.fault[0] == '\0') {
        return NULL;
    }
    fault->place = (int)(p.fault_at - text);
    snprintf(fault->what, sizeof fault->what, "%s", p.fault);
    return fault->what;
}

const char* expression_parse(const TdlHost* host, const char* text, TdlImplicit* out,
                             ExpressionFault* fault) {
    Expression* e = tdl_alloc_zero(&host->mem, sizeof *e);
    if (e == NULL) {
        return "no memory";
    }
    const char* what = parse_all(text, false, e, fault);
    if (what != NULL) {
        tdl_free(&host->mem, e);
        return what;
    }
    out->at = expression_evaluate;
    out->over = expression_bound;
    out->data = e;
    out->size = expression_size(e);
    return NULL;
}

static TdlStatus tell(const TdlHost* host, const ExpressionFault* fault) {
    return fault->what[0] == '\0'
               ? TDL_STATUS_NO_MEMORY
               : tdl_fail(host, TDL_STATUS_BAD_INPUT, "expression, at character %d: %s",
                          fault->place + 1, fault->what);
}

TdlStatus tdl_implicit_parse(const TdlHost* host, const char* text, TdlImplicit* out) {
    ExpressionFault fault = {0};
    const char* what = expression_parse(host, text, out, &fault);
    return what == NULL ? TDL_STATUS_OK : tell(host, &fault);
}

void tdl_implicit_free(const TdlHost* host, TdlImplicit* implicit) {
    tdl_free(&host->mem, (void*)(uintptr_t)implicit->data);
    implicit->data = NULL;
    implicit->size = 0;
}

// --- functions of the time ----------------------------------------------------------------------

// Six expressions, one behind the other.
typedef struct TimeExpressions {
    size_t start[TIME_PARTS]; // bytes from here; 0: it is 0
} TimeExpressions;

static void run_time(const void* data, double time, TdlVec3 out[2]) {
    const TimeExpressions* all = data;
    double value[TIME_PARTS] = {0.0};
    for (int k = 0; k < TIME_PARTS; ++k) {
        if (all->start[k] > 0) {
            const void* own = (const char*)data + all->start[k];
            value[k] = expression_at(own, time);
        }
    }
    out[0] = tdl_load3(value, 0);
    out[1] = tdl_load3(value, 1);
}

const char* expression_parse_time(const TdlHost* host, const char* const text[TIME_PARTS],
                                  TdlTimeFn* out, ExpressionFault* fault) {
    *out = (TdlTimeFn){0};
    Expression* e = tdl_alloc_zero(&host->mem, sizeof *e);
    TimeExpressions head = {{0}};
    size_t size = sizeof head;
    char* data = tdl_alloc_array(&host->mem, size + TIME_PARTS * sizeof *e, 1);
    const char* what = e == NULL || data == NULL ? "no memory" : NULL;
    for (int k = 0; k < TIME_PARTS && what == NULL; ++k) {
        if (text[k] != NULL) {
            e->count = 0;
            fault->part = k;
            what = parse_all(text[k], true, e, fault);
            head.start[k] = size;
            memcpy(data + size, e, expression_size(e));
            size += expression_size(e);
        }
    }
    tdl_free(&host->mem, e);
    if (what != NULL) {
        tdl_free(&host->mem, data);
        return what;
    }
    memcpy(data, &head, sizeof head);
    *out = (TdlTimeFn){run_time, data, size};
    return NULL;
}

TdlStatus tdl_time_fn_parse(const TdlHost* host, const char* const text[6], TdlTimeFn* out) {
    ExpressionFault fault = {0};
    const char* what = expression_parse_time(host, text, out, &fault);
    return what == NULL ? TDL_STATUS_OK : tell(host, &fault);
}
