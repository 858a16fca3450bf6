// Sparse LU of the reduced Newton matrix S' W T + A, by dense fronts. friction.md section 4.9
//
// Every contact that takes part has up to three unknowns: the columns of its trial matrix T span
// the changes of its impulse, those of its test matrix S the components of velocity asked for. The
// order comes from AMD on the graph of these contacts; columns with nearly the same pattern are
// eliminated together in a dense front, where most of the arithmetic is a product of matrices.
#ifndef TDL_FRICTION_FRONT_LU_H
#define TDL_FRICTION_FRONT_LU_H

#include "friction/system.h"

// A contact's part in the matrix; matrices 3 x size or size x size by columns of three.
typedef struct Reduced {
    int size; // unknowns, 0 to 3
    double test[9], trial[9], add[9];
} Reduced;

typedef struct Front {
    int first, last;    // contacts in elimination order, last included
    int parent;         // front, -1: none
    int child, sibling; // the last child, and the one before it of the same parent; -1: none
    int pivots, width;  // unknowns eliminated here, and with those they touch
    int stride;         // doubles from column to column
    int row_start;      // first of its rows: places of the contacts after `last` that it touches
    int row_count;
    size_t lower; // where its factors begin: width x pivots, then pivots x (width - pivots)
    size_t upper;
} Front;

// Rows of a child's rest that follow each other in its parent.
typedef struct FrontRun {
    int at, length;
} FrontRun;

typedef struct FrontLu {
    const System* sys;
    const Reduced* reduced; // [sys->n]
    int n;                  // contacts with unknowns
    int *order, *place;     // [n] contact eliminated k-th; [sys->n] its inverse, -1: no unknowns
    int *parent, *mark;     // [n] elimination tree; scratch
    int *start, *row;       // [n + 1] pattern of the columns: places below, ascending
    Front* front;           // [front_count]
    int front_count;
    int* offset;   // [n + 1] first unknown of the contact eliminated k-th
    int* position; // [n] of a contact's unknowns in the front at hand
    FrontRun* run; // [n] scratch
    double* factor;
    int* swap; // [unknowns] row exchanged with the k-th pivot row, within a front
    double *work, *stack;
    double* packed; // panel of the front at hand
    double* x;
    int shifted;  // pivots too near zero in the last factorisation
    double flops; // multiplications of one factorisation, about
} FrontLu;

// Finds order and fronts for the contacts that have unknowns. Memory comes from the arena.
// TDL_STATUS_STOPPED: the factors would be too large.
TdlStatus front_lu_analyse(FrontLu* lu, Arena* arena, const System* sys, const Reduced* reduced);
void front_lu_factor(FrontLu* lu);
// In and out: three places a contact of sys, of which the first `size` are used.
void front_lu_solve(FrontLu* lu, double* x);

#endif
