// Sparse LU of a reduced matrix S' W T + A, by dense fronts. W has 3 x 3 blocks and is symmetric
// unless its pattern tells where the blocks across the diagonal are; S, T and A are block diagonal.
//
// Every block row that takes part has up to three unknowns: the columns of its trial matrix T span
// what its unknowns may be, those of its test matrix S the equations asked for. The order comes
// from AMD on the graph of these rows; columns with nearly the same pattern are
// eliminated together in a dense front, where most of the arithmetic is a product of matrices.
#ifndef TDL_LINALG_FRONT_LU_H
#define TDL_LINALG_FRONT_LU_H

#include "base/memory.h"
#include "base/stop.h"
#include "base/threads.h"
#include "linalg/block_pattern.h"

// A block row's part in the matrix; matrices 3 x size or size x size by columns of three.
typedef struct Reduced {
    int size; // unknowns, 0 to 3
    double test[9], trial[9], add[9];
} Reduced;

typedef struct Front {
    int first, last;    // block rows in elimination order, last included
    int parent;         // front, -1: none
    int child, sibling; // the last child, and the one before it of the same parent; -1: none
    int pivots, width;  // unknowns eliminated here, and with those they touch
    int stride;         // doubles from column to column
    int row_start;      // first of its rows: places of the block rows after `last` that it touches
    int row_count;
    size_t lower; // where its factors begin: width x pivots, then pivots x (width - pivots)
    size_t upper;
} Front;

// Rows of a child's rest that follow each other in its parent.
typedef struct FrontRun {
    int at, length;
} FrontRun;

typedef struct FrontLu {
    BlockPattern pattern;   // the caller's arrays, which stay as they are
    const Reduced* reduced; // [pattern.n]
    const double* blocks;   // of W, during a factorisation
    Pool* pool;
    int n;              // block rows with unknowns
    int *order, *place; // [n] row eliminated k-th; [pattern.n] its inverse, -1: no unknowns
    int* mark;          // [n] scratch
    int *start, *row;   // [n + 1] pattern of the columns: places below, ascending
    Front* front;       // [front_count]
    int front_count;
    int* offset;   // [n + 1] first unknown of the row eliminated k-th
    int* position; // [n] of a row's unknowns in the front at hand
    FrontRun* run; // [n] scratch
    double* factor;
    int* swap; // [unknowns] row exchanged with the k-th pivot row, within a front
    double *work, *stack;
    double* packed; // panel of the front at hand
    double* x;
    int shifted;    // pivots too near zero in the last factorisation
    int sign;       // of its determinant
    double flops;   // multiplications of one factorisation, about
    double stored;  // numbers of the factors, what a solve multiplies by
    Stop stop;      // asked during a factorisation; the caller's, never after an analysis
    double unasked; // multiplications since
} FrontLu;

// Finds order and fronts for the rows that have unknowns. Memory comes from the arena.
// TDL_STATUS_STOPPED: the factors would be too large.
TdlStatus front_lu_analyse(FrontLu* lu, Arena* arena, const BlockPattern* pattern,
                           const Reduced* reduced);
// `blocks` of W, column by column, one for each place of the pattern. Threads of the pool share the
// widest fronts; the bits do not depend on their number. False: stopped, and there are no factors.
bool front_lu_factor(FrontLu* lu, const double* blocks, Pool* pool);
// In and out: three places a block row, of which the first `size` are used.
void front_lu_solve(FrontLu* lu, double* x);

#endif
