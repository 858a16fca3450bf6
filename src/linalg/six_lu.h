// Sparse LU of matrices with blocks of 6 x 6 on a symmetric pattern, by dense fronts: each block
// row is two of three in a FrontLu. Analysed once, factored for any numbers.
#ifndef TDL_LINALG_SIX_LU_H
#define TDL_LINALG_SIX_LU_H

#include "linalg/front_lu.h"

typedef struct SixLu {
    BlockPattern six;   // the caller's arrays, which stay as they are
    BlockPattern three; // the same by blocks of 3 x 3
    Reduced* whole;     // [2 n]
    double* blocks;
    FrontLu lu;
} SixLu;

// Of the block rows that are not idle; null: of all. Memory comes from the arena.
// TDL_STATUS_STOPPED: the factors would be too large.
TdlStatus six_lu_analyse(SixLu* s, Arena* arena, const BlockPattern* six, const bool* idle);
// `value` has a block, column by column, for each place of the pattern; need not be symmetric.
// False: stopped, and there are no factors.
bool six_lu_factor(SixLu* s, const double* value, Pool* pool);
// x <- A^-1 x; of idle rows it stays as it is.
void six_lu_solve(SixLu* s, double* x);

#endif
