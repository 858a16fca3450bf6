// The Cholesky factor of a matrix of 3 x 3 blocks, one row of them for each node of a mesh, by
// dense fronts; to solve with, and as a square root: P A P' = L L', z = L' P v.
//
// Nodes that are eliminated together make a front. Factors stay with the object, so that the
// pattern is analysed once and matrices follow each other without allocation. linear-time.md (L.23)
#ifndef TDL_LINALG_NODE_CHOLESKY_H
#define TDL_LINALG_NODE_CHOLESKY_H

#include "base/memory.h"
#include "linalg/block_pattern.h"

typedef struct NodeFront {
    int first, last;    // nodes by place, last included
    int parent;         // front, -1: none
    int child, sibling; // the last child, and the one before it of the same parent; -1: none
    int row_start;      // first of its rows: places of the later nodes that it touches
    int row_count;
    int pivots, width; // coordinates eliminated here, and with those they touch
    size_t at;         // where its columns begin: width x pivots
} NodeFront;

typedef struct NodeCholesky {
    BlockPattern pattern; // the caller's arrays, which stay as they are
    int *order, *place;   // [n] node eliminated k-th; its inverse
    int* row;             // places, by front
    NodeFront* front;     // [front_count] children before parents
    int front_count;
    int* front_of; // [n] by place
    double* factor;
    double flops, stored; // multiplications of a factorisation; numbers of the factor
    // scratch of a factorisation
    double *work, *stack, *packed;
    int* position; // [n]
} NodeCholesky;

// Order and fronts of a pattern of blocks of three. Memory comes from the arena, and stays there.
TdlStatus node_cholesky_analyse(NodeCholesky* c, Arena* arena, const BlockPattern* pattern);

// `blocks` column by column, one for each place of the pattern; of those across the diagonal of
// each other one is read. False: not positive definite.
bool node_cholesky_factor(NodeCholesky* c, const double* blocks);

// x <- A^-1 x, coordinates by node. From any number of threads.
void node_cholesky_solve(const NodeCholesky* c, double* x);

// z <- L^-1 P f and v <- P' L'^-1 z: z by place, f and v by node; other arrays.
void node_cholesky_drive(const NodeCholesky* c, const double* f, double* z);
void node_cholesky_unwhiten(const NodeCholesky* c, const double* z, double* v);

// The coordinates of z that a force at some nodes reaches, rising: all of the fronts on the ways
// from these to the roots. At most `capacity` are written; returns how many there are.
int node_cholesky_reach(const NodeCholesky* c, int count, const int* nodes, int capacity, int* out);

// g <- L^-1 P f on such a list for three forces f[3][3 count] on the nodes, rows of g one after the
// other.
void node_cholesky_whiten(const NodeCholesky* c, int count, const int* nodes, const double* f,
                          const int* list, int length, double* g);

#endif
