// Where the blocks of a square block-sparse matrix are. The pattern is symmetric, values need not
// be.
#ifndef TDL_LINALG_BLOCK_PATTERN_H
#define TDL_LINALG_BLOCK_PATTERN_H

enum { BLOCK_MOST = 6 }; // rows in a block at most

typedef struct BlockPattern {
    int n, d;          // block rows, rows in a block
    const int* start;  // [n + 1]
    const int* column; // [start[n]] ascending within a row
    const int* across; // [start[n]] where the block across the diagonal is; null: values are
                       // symmetric, where that is asked for
} BlockPattern;

// Where the block (row, column) is, which must be there.
static inline int block_pattern_place(const BlockPattern* a, int row, int column) {
    int low = a->start[row], high = a->start[row + 1] - 1;
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (a->column[mid] < column) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

// Pivots below this part of the largest entry are shifted: about 100 epsilons.
static const double PIVOT_PART = 2.0e-14;

#endif
