// Anderson acceleration of a map g from points to points, over arrays cut into fixed chunks: the
// same bits for any number of threads. friction.md section 4.2
#ifndef TDL_FRICTION_ACCELERATION_H
#define TDL_FRICTION_ACCELERATION_H

#include "base/memory.h"
#include "base/threads.h"

enum { ACCELERATION_MOST = 32 };

typedef struct Acceleration {
    Pool* pool;
    size_t size;
    int capacity, count, next; // ring of columns
    float *df, *dg;            // [capacity size]
    double *f, *f_last, *g_last;
    double* sums; // [chunks] of a pass
    double gram[ACCELERATION_MOST * ACCELERATION_MOST];
    double rhs[ACCELERATION_MOST], gamma[ACCELERATION_MOST];
    double good;   // residual of the last accepted point
    double *r, *g; // of the pass under way
} Acceleration;

// Memory comes from the arena.
TdlStatus acceleration_init(Acceleration* m, Arena* arena, Pool* pool, size_t size, int capacity);
// After g = g(r): puts the next point into r. False: r did harm, and is the last g again.
bool acceleration_next(Acceleration* m, double* r, double* g);
void acceleration_forget(Acceleration* m);

#endif
