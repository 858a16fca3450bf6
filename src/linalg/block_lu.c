// Sparse block LU, left-looking: column k of L and row k of U are gathered in dense work vectors
// from the earlier columns that reach k, found through linked lists as in sparse Cholesky.
#include "linalg/block_lu.h"

#include <amd.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Blocks of the factors above which they are not attempted: about 400 MB.
static const size_t MAX_BLOCKS = 2000000;

// --- symbolic ------------------------------------------------------------------------------------

static TdlStatus choose_order(BlockLu* lu) {
    const BlockPattern* a = &lu->pattern;
    double info[AMD_INFO];
    int status = amd_order(a->n, a->start, a->column, lu->order, NULL, info);
    if (status != AMD_OK && status != AMD_OK_BUT_JUMBLED) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int k = 0; k < lu->n; ++k) {
        lu->place[lu->order[k]] = k;
    }
    return TDL_STATUS_OK;
}

// Marks the rows of column k: those of the matrix, and those of the children's columns. Writes
// them when `rows` is not null. `first_child` and `next_child` link the elimination tree.
typedef struct Tree {
    int *mark, *first_child, *next_child;
} Tree;

static int column_rows(const BlockLu* lu, const Tree* tree, int k, int* rows) {
    const BlockPattern* a = &lu->pattern;
    int count = 0, i = lu->order[k];
    tree->mark[k] = k;
    for (int e = a->start[i]; e < a->start[i + 1]; ++e) {
        int row = lu->place[a->column[e]];
        if (row > k && tree->mark[row] != k) {
            tree->mark[row] = k;
            rows[count++] = row;
        }
    }
    for (int c = tree->first_child[k]; c >= 0; c = tree->next_child[c]) {
        for (int e = lu->start[c]; e < lu->start[c + 1]; ++e) {
            int row = lu->row[e];
            if (row > k && tree->mark[row] != k) {
                tree->mark[row] = k;
                rows[count++] = row;
            }
        }
    }
    return count;
}

static int ascending(const void* a, const void* b) {
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

// The pattern grows column by column; lu->row is enlarged by doubling within the arena.
static TdlStatus find_pattern(BlockLu* lu, Arena* arena) {
    int n = lu->n;
    Tree tree = {ARENA_NEW(arena, int, n), ARENA_NEW(arena, int, n), ARENA_NEW(arena, int, n)};
    size_t capacity = (size_t)lu->pattern.start[n] + (size_t)n;
    lu->row = ARENA_NEW(arena, int, capacity);
    if (!tree.mark || !tree.first_child || !tree.next_child || !lu->row) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(tree.mark, 0xff, (size_t)n * sizeof(int));
    memset(tree.first_child, 0xff, (size_t)n * sizeof(int));
    lu->start[0] = 0;
    lu->flops = 0.0;
    for (int k = 0; k < n; ++k) {
        size_t used = (size_t)lu->start[k];
        if (used + (size_t)(n - k) > capacity) {
            capacity = 2 * capacity + (size_t)n;
            int* grown = ARENA_NEW(arena, int, capacity);
            if (grown == NULL || capacity > INT32_MAX) {
                return TDL_STATUS_NO_MEMORY;
            }
            memcpy(grown, lu->row, used * sizeof(int));
            lu->row = grown;
        }
        int count = column_rows(lu, &tree, k, lu->row + used);
        qsort(lu->row + used, (size_t)count, sizeof(int), ascending);
        lu->start[k + 1] = (int)used + count;
        if (count > 0) {
            int parent = lu->row[used];
            tree.next_child[k] = tree.first_child[parent];
            tree.first_child[parent] = k;
        }
        if ((size_t)lu->start[k + 1] > MAX_BLOCKS) {
            return TDL_STATUS_STOPPED;
        }
        lu->flops += (double)count * (count + 1) * lu->d * lu->d * lu->d;
    }
    return TDL_STATUS_OK;
}

TdlStatus block_lu_analyse(BlockLu* lu, Arena* arena, const BlockPattern* a) {
    size_t n = (size_t)a->n;
    *lu = (BlockLu){.pattern = *a, .n = a->n, .d = a->d, .stride = a->d == 3 ? 4 : 6};
    lu->order = ARENA_NEW(arena, int, n);
    lu->place = ARENA_NEW(arena, int, n);
    lu->start = ARENA_NEW(arena, int, n + 1);
    lu->next = ARENA_NEW(arena, int, n);
    lu->head = ARENA_NEW(arena, int, n);
    lu->at = ARENA_NEW(arena, int, n);
    lu->x = ARENA_NEW(arena, double, n*(size_t)lu->d);
    if (!lu->order || !lu->place || !lu->start || !lu->next || !lu->head || !lu->at || !lu->x ||
        choose_order(lu) != TDL_STATUS_OK) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status = find_pattern(lu, arena);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    size_t block = (size_t)(lu->d * lu->stride), blocks = (size_t)lu->start[n];
    lu->lower = ARENA_NEW(arena, double, blocks* block);
    lu->upper = ARENA_NEW(arena, double, blocks* block);
    lu->pivot = ARENA_NEW(arena, double, n* block);
    lu->column = ARENA_NEW(arena, double, n* block);
    lu->line = ARENA_NEW(arena, double, n* block);
    bool good = lu->lower && lu->upper && lu->pivot && lu->column && lu->line;
    return good ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}

// --- blocks, columns padded to `s` ---------------------------------------------------------------

// c -= a b
static inline void subtract_product(int d, int s, const double* restrict a,
                                    const double* restrict b, double* restrict c) {
    for (int j = 0; j < d; ++j) {
        for (int m = 0; m < d; ++m) {
            double x = b[j * s + m];
            for (int k = 0; k < s; ++k) {
                c[j * s + k] -= a[m * s + k] * x;
            }
        }
    }
}

// c <- a b
static inline void product(int d, int s, const double* restrict a, const double* restrict b,
                           double* restrict c) {
    for (int j = 0; j < d; ++j) {
        for (int k = 0; k < s; ++k) {
            c[j * s + k] = 0.0;
        }
        for (int m = 0; m < d; ++m) {
            double x = b[j * s + m];
            for (int k = 0; k < s; ++k) {
                c[j * s + k] += a[m * s + k] * x;
            }
        }
    }
}

// c <- a'
static inline void transpose(int d, int s, const double* a, double* c) {
    for (int j = 0; j < d; ++j) {
        for (int k = 0; k < d; ++k) {
            c[j * s + k] = a[k * s + j];
        }
        for (int k = d; k < s; ++k) {
            c[j * s + k] = 0.0;
        }
    }
}

// Inverse by Gauss-Jordan with row pivoting; returns how many pivots were shifted.
static int invert(int d, int s, const double* a, double* inverse, int* sign) {
    double w[6][12];
    double largest = 0.0;
    int shifted = 0;
    for (int i = 0; i < d; ++i) {
        for (int j = 0; j < d; ++j) {
            w[i][j] = a[j * s + i];
            w[i][d + j] = i == j ? 1.0 : 0.0;
            largest = fmax(largest, fabs(w[i][j]));
        }
    }
    largest = largest > 0.0 ? largest : 1.0;
    for (int k = 0; k < d; ++k) {
        int best = k;
        for (int i = k + 1; i < d; ++i) {
            best = fabs(w[i][k]) > fabs(w[best][k]) ? i : best;
        }
        if (best != k) {
            double swap[12];
            memcpy(swap, w[k], sizeof swap);
            memcpy(w[k], w[best], sizeof swap);
            memcpy(w[best], swap, sizeof swap);
            *sign = -*sign;
        }
        if (fabs(w[k][k]) < PIVOT_PART * largest) {
            w[k][k] = w[k][k] < 0.0 ? -PIVOT_PART * largest : PIVOT_PART * largest;
            ++shifted;
        }
        *sign = w[k][k] < 0.0 ? -*sign : *sign;
        double scale = 1.0 / w[k][k];
        for (int j = 0; j < 2 * d; ++j) {
            w[k][j] *= scale;
        }
        for (int i = 0; i < d; ++i) {
            double x = w[i][k];
            for (int j = 0; i != k && j < 2 * d; ++j) {
                w[i][j] -= x * w[k][j];
            }
        }
    }
    for (int j = 0; j < d; ++j) {
        for (int i = 0; i < s; ++i) {
            inverse[j * s + i] = i < d ? w[i][d + j] : 0.0;
        }
    }
    return shifted;
}

// --- numeric -------------------------------------------------------------------------------------

static void load_block(int d, int s, const double* from, double* to) {
    for (int j = 0; j < d; ++j) {
        for (int k = 0; k < s; ++k) {
            to[j * s + k] = k < d ? from[j * d + k] : 0.0;
        }
    }
}

// row k of the matrix, both as the column below (by symmetry of the pattern) and the row beside
static void gather(BlockLu* lu, int d, int s, const double* value, int k) {
    const BlockPattern* a = &lu->pattern;
    int i = lu->order[k];
    size_t block = (size_t)(d * s);
    memset(lu->column + (size_t)k * block, 0, block * sizeof(double));
    for (int e = lu->start[k]; e < lu->start[k + 1]; ++e) {
        memset(lu->column + (size_t)lu->row[e] * block, 0, block * sizeof(double));
        memset(lu->line + (size_t)lu->row[e] * block, 0, block * sizeof(double));
    }
    for (int e = a->start[i]; e < a->start[i + 1]; ++e) {
        int j = a->column[e], row = lu->place[j];
        const double* v = value + (size_t)e * (size_t)(d * d);
        if (row == k) {
            load_block(d, s, v, lu->column + (size_t)k * block);
        } else if (row > k && !lu->symmetric) {
            load_block(d, s, v, lu->line + (size_t)row * block);
        }
        if (row > k) {
            // the entry (j, i): bisect row j for column i
            int low = a->start[j], high = a->start[j + 1] - 1;
            while (low < high) {
                int mid = low + (high - low) / 2;
                if (a->column[mid] < i) {
                    low = mid + 1;
                } else {
                    high = mid;
                }
            }
            load_block(d, s, value + (size_t)low * (size_t)(d * d),
                       lu->column + (size_t)row * block);
        }
    }
}

// subtracts what column c contributes to the column and row at hand; e is its place in c
static inline void update(BlockLu* lu, int d, int s, int c, int e) {
    size_t block = (size_t)(d * s);
    const double* l_kc = lu->lower + (size_t)e * block;
    const double* u_ck = lu->upper + (size_t)e * block;
    int end = lu->start[c + 1];
    for (int f = e; f < end; ++f) {
        int row = lu->row[f];
        subtract_product(d, s, lu->lower + (size_t)f * block, u_ck,
                         lu->column + (size_t)row * block);
    }
    for (int f = e + 1; f < end && !lu->symmetric; ++f) {
        subtract_product(d, s, l_kc, lu->upper + (size_t)f * block,
                         lu->line + (size_t)lu->row[f] * block);
    }
}

// puts column c into the list of the next row it reaches
static void enlist(BlockLu* lu, int c, int e) {
    lu->at[c] = e;
    if (e < lu->start[c + 1]) {
        int row = lu->row[e];
        lu->next[c] = lu->head[row];
        lu->head[row] = c;
    }
}

static inline bool factor(BlockLu* lu, int d, int s, const double* value, const bool* idle) {
    size_t block = (size_t)(d * s);
    double unasked = 0.0; // multiplications since the last question
    for (int k = 0; k < lu->n; ++k) {
        if (unasked > STOP_EVERY) {
            unasked = 0.0;
            if (stop_asked(lu->stop)) {
                return false;
            }
        }
        gather(lu, d, s, value, k);
        for (int c = lu->head[k]; c >= 0;) {
            int after = lu->next[c], e = lu->at[c];
            update(lu, d, s, c, e);
            unasked += 2.0 * (double)block * d * (lu->start[c + 1] - e);
            enlist(lu, c, e + 1);
            c = after;
        }
        double* pivot = lu->pivot + (size_t)k * block;
        lu->shifted += invert(d, s, lu->column + (size_t)k * block, pivot, &lu->sign);
        for (int e = lu->start[k]; e < lu->start[k + 1]; ++e) {
            size_t row = (size_t)lu->row[e] * block;
            product(d, s, lu->column + row, pivot, lu->lower + (size_t)e * block);
            double* u = lu->upper + (size_t)e * block;
            if (lu->symmetric) {
                transpose(d, s, lu->column + row, u);
            } else {
                memcpy(u, lu->line + row, block * sizeof(double));
            }
        }
        if (idle == NULL || !idle[lu->order[k]]) {
            enlist(lu, k, lu->start[k]);
        }
    }
    return true;
}

bool block_lu_factor(BlockLu* lu, const double* value, const bool* idle, bool symmetric) {
    lu->symmetric = symmetric;
    lu->shifted = 0;
    lu->sign = 1;
    memset(lu->head, 0xff, (size_t)lu->n * sizeof(int));
    return lu->d == 3 ? factor(lu, 3, 4, value, idle) : factor(lu, 6, 6, value, idle);
}

// y -= a x
static inline void subtract_apply(int d, int s, const double* a, const double* x, double* y) {
    for (int j = 0; j < d; ++j) {
        for (int k = 0; k < d; ++k) {
            y[k] -= a[j * s + k] * x[j];
        }
    }
}

static inline void solve(BlockLu* lu, int d, int s, double* x) {
    size_t block = (size_t)(d * s);
    double* y = lu->x;
    for (int k = 0; k < lu->n; ++k) {
        memcpy(y + k * d, x + lu->order[k] * d, (size_t)d * sizeof(double));
    }
    for (int k = 0; k < lu->n; ++k) {
        for (int e = lu->start[k]; e < lu->start[k + 1]; ++e) {
            subtract_apply(d, s, lu->lower + (size_t)e * block, y + k * d, y + lu->row[e] * d);
        }
    }
    for (int k = lu->n - 1; k >= 0; --k) {
        for (int e = lu->start[k]; e < lu->start[k + 1]; ++e) {
            subtract_apply(d, s, lu->upper + (size_t)e * block, y + lu->row[e] * d, y + k * d);
        }
        double z[BLOCK_MOST] = {0};
        const double* pivot = lu->pivot + (size_t)k * block;
        for (int j = 0; j < d; ++j) {
            for (int i = 0; i < d; ++i) {
                z[i] += pivot[j * s + i] * y[k * d + j];
            }
        }
        memcpy(y + k * d, z, (size_t)d * sizeof(double));
    }
    for (int k = 0; k < lu->n; ++k) {
        memcpy(x + lu->order[k] * d, y + k * d, (size_t)d * sizeof(double));
    }
}

void block_lu_solve(BlockLu* lu, double* x) {
    if (lu->d == 3) {
        solve(lu, 3, 4, x);
    } else {
        solve(lu, 6, 6, x);
    }
}
