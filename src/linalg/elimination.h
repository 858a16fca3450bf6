// In which order the rows of a sparse symmetric matrix are eliminated, and what its factor then
// has: the tree of elimination, the rows of every column, and runs of columns with nearly the same
// rows, which dense arithmetic can take together.
#ifndef TDL_LINALG_ELIMINATION_H
#define TDL_LINALG_ELIMINATION_H

#include "base/memory.h"

typedef struct Elimination {
    int n;
    int *order, *place; // [n] row eliminated k-th; its inverse
    int* parent;        // [n] tree of elimination, by place; children before parents; -1: none
    int *start, *row;   // [n + 1] of each column the places below its diagonal, ascending
} Elimination;

// Of a symmetric graph of n rows, each with the places of its neighbours; itself may be among them.
// The order is AMD's or, `dissected`, that of nested dissection. Memory comes from the arena.
TdlStatus elimination_plan(Elimination* plan, Arena* arena, int n, const int* start,
                           const int* column, bool dissected);

// Columns joined into runs: last[k] <- the last column of run k, [n] at most, of `most` columns
// each. Returns how many runs there are.
int elimination_runs(const Elimination* plan, int most, int* last);

#endif
