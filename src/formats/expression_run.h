// Expressions as lists of operations, and how these are run through.
#ifndef TDL_FORMATS_EXPRESSION_RUN_H
#define TDL_FORMATS_EXPRESSION_RUN_H

#include "tendril/collider.h"

#include <stddef.h>

// Operations of an expression, at most.
enum { MOST_STEPS = 256 };

typedef enum Op {
    OP_NUMBER,
    OP_PLACE, // coordinate `left`; of the time: that
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
    OP_TAN, // from here on of the time only
    OP_TANH,
    OP_LOG,
    OP_FLOOR,
    OP_STEP,
    OP_RAMP,
    OP_SMOOTH,
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

// Of places: value and derivatives at one, and bounds over a box; as TdlImplicit has them.
void expression_evaluate(const void* expression, TdlVec3 x, TdlImplicitPoint* out);
void expression_bound(const void* expression, TdlVec3 low, TdlVec3 high, TdlImplicitBounds* out);

// Of the time.
double expression_at(const Expression* expression, double time);

// One step about the values of steps before it.
double expression_step(const Step* step, double time, const double* before);

// Bytes that hold its steps.
static inline size_t expression_size(const Expression* expression) {
    return offsetof(Expression, step) + (size_t)expression->count * sizeof *expression->step;
}

#endif
