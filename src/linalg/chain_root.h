// The Cholesky factor of a chain as a square root whose inverse has short rows: A = L L'.
//
// A is block tridiagonal: blocks of at most CHAIN_BLOCK coordinates, each coupled to the next. They
// are eliminated in the order of a balanced tree, the middle one last, so that L^-1 x of an x in
// one block is nonzero only on the way from that block to the root: log2 of the number of blocks.
// linear-time.md (L.20)
#ifndef TDL_LINALG_CHAIN_ROOT_H
#define TDL_LINALG_CHAIN_ROOT_H

#include <stdbool.h>
#include <stddef.h>

// Coordinates of a block, and doubles of a square of it; and blocks on a way, at most.
enum { CHAIN_BLOCK = 8, CHAIN_SQUARE = CHAIN_BLOCK * CHAIN_BLOCK, CHAIN_DEEPEST = 31 };

// Right sides that are taken together: a lane each.
enum { CHAIN_LANES = 4 };
typedef double ChainRow[CHAIN_LANES];

typedef struct ChainRoot {
    int count;         // blocks
    int *node, *place; // [count] blocks in the order of z, the root first, ways downwards; inverse
    int* depth;        // [count] blocks on the way from the root, both ends counted
    int *before, *after; // [count] the nearest blocks of that way along the chain, -1: none
    int* parent;         // [count] the deeper of these, -1: the root
    double* own;         // squares of A, then of L: of the block itself,
    double *back, *on;   // of the block before and of the one after by this one
} ChainRoot;

// Doubles of memory of a chain of so many blocks; and the chain laid out in it, with its tree.
size_t chain_root_doubles(int count);
void chain_root_plan(ChainRoot* c, int count, double* memory);
// The same where the tree is there already.
void chain_root_find(ChainRoot* c, int count, double* memory);

// Factors A of n coordinates, `size` to a block, given as a lower band (banded.h). Places of blocks
// beyond `size` are ones of their own. False: A is not positive definite.
bool chain_root_factor(ChainRoot* c, int n, int size, int width, const double* band);

// x := L^-1 x for an x that is zero but on the way from the root to a block, a row for each of its
// coordinates.
void chain_root_reduce(const ChainRoot* c, int block, ChainRow* x);

// v := L'^-1 z: z in the order of `node`, CHAIN_BLOCK each; v over the n coordinates. `work` has
// room for z.
void chain_root_expand(const ChainRoot* c, int n, int size, const double* z, double* work,
                       double* v);

#endif
