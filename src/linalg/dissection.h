// An order of elimination by nested dissection.
//
// Where a graph is stretched out in two or three directions, few rows separate one half of it from
// the other; eliminated last, they leave the halves nothing to do with each other, and so on within
// these. For such graphs this takes several times fewer multiplications than orders of least
// degree, and for others more: the caller compares.
#ifndef TDL_LINALG_DISSECTION_H
#define TDL_LINALG_DISSECTION_H

#include "base/memory.h"

// order[k] <- the row eliminated k-th of a symmetric graph of n rows, each with the places of its
// neighbours; itself may be among them. Scratch comes from the arena.
TdlStatus dissection_order(Arena* arena, int n, const int* start, const int* column, int* order);

#endif
