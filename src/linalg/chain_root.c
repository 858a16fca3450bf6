// Cholesky factors of chains in the order of a balanced tree. linear-time.md (L.20) to (L.22)
//
// A block is eliminated when all between the two blocks next to it on its way to the root are: it
// then couples to these two alone, so that L has three squares for each block, whatever the length
// of the chain. All squares are of one size and squares by columns, for loops without remainders.
// About four times the multiplications of the banded factor, in vectors.
#include "linalg/chain_root.h"

#include <math.h>
#include <string.h>

typedef double Column __attribute__((vector_size(8 * CHAIN_BLOCK)));
typedef double Lanes __attribute__((vector_size(8 * CHAIN_LANES)));

// --- the tree --------------------------------------------------------------------------------

enum { LISTS = 6 }; // of integers, one a block

static size_t list_doubles(int count) {
    return ((size_t)(LISTS * count) * sizeof(int) + sizeof(double) - 1) / sizeof(double);
}

size_t chain_root_doubles(int count) {
    return list_doubles(count) + 3 * (size_t)CHAIN_SQUARE * (size_t)count;
}

void chain_root_find(ChainRoot* c, int count, double* memory) {
    size_t squares = (size_t)CHAIN_SQUARE * (size_t)count;
    int* list = (int*)memory;
    *c = (ChainRoot){.count = count,
                     .node = list,
                     .place = list + count,
                     .depth = list + 2 * count,
                     .before = list + 3 * count,
                     .after = list + 4 * count,
                     .parent = list + 5 * count};
    c->own = memory + list_doubles(count);
    c->back = c->own + squares;
    c->on = c->back + squares;
}

// Of the blocks from `first` to `end`, whose middle is their root; it and then both halves follow
// each other in `node`. As deep as the tree.
static void plan_part(ChainRoot* c, int first, int end, int depth, int* used) {
    if (first == end) {
        return;
    }
    int middle = first + (end - first) / 2;
    int before = first - 1, after = end == c->count ? -1 : end;
    bool by_after = before < 0 || (after >= 0 && c->depth[after] > c->depth[before]);
    c->before[middle] = before;
    c->after[middle] = after;
    c->parent[middle] = by_after ? after : before;
    c->depth[middle] = depth;
    c->place[middle] = *used;
    c->node[(*used)++] = middle;
    plan_part(c, first, middle, depth + 1, used);
    plan_part(c, middle + 1, end, depth + 1, used);
}

void chain_root_plan(ChainRoot* c, int count, double* memory) {
    int used = 0;
    chain_root_find(c, count, memory);
    plan_part(c, 0, count, 1, &used);
}

// --- squares ---------------------------------------------------------------------------------

// By address: how vectors are handed over differs between processors.
static inline void load(const double* from, Column* x) {
    memcpy(x, from, sizeof *x);
}

static inline void store(const Column* x, double* to) {
    memcpy(to, x, sizeof *x);
}

// The lower Cholesky factor of a symmetric square, zero above, with the inverses of its diagonal in
// its place.
static bool factor_square(double* a) {
    for (int j = 0; j < CHAIN_BLOCK; ++j) {
        double pivot = a[j * CHAIN_BLOCK + j];
        if (!(pivot > 0.0) || !isfinite(pivot)) {
            return false;
        }
        double inverse = 1.0 / sqrt(pivot);
        Column column, other;
        load(a + (ptrdiff_t)j * CHAIN_BLOCK, &column);
        column *= inverse;
        for (int k = j + 1; k < CHAIN_BLOCK; ++k) {
            load(a + (ptrdiff_t)k * CHAIN_BLOCK, &other);
            other -= column * column[k];
            store(&other, a + (ptrdiff_t)k * CHAIN_BLOCK);
        }
        for (int i = 0; i < j; ++i) {
            column[i] = 0.0;
        }
        column[j] = inverse;
        store(&column, a + (ptrdiff_t)j * CHAIN_BLOCK);
    }
    return true;
}

// K := K L'^-1
static void divide_square(const double* l, double* k) {
    Column x[CHAIN_BLOCK];
    for (int j = 0; j < CHAIN_BLOCK; ++j) {
        load(k + (ptrdiff_t)j * CHAIN_BLOCK, &x[j]);
        for (int m = 0; m < j; ++m) {
            x[j] -= x[m] * l[m * CHAIN_BLOCK + j];
        }
        x[j] *= l[j * CHAIN_BLOCK + j];
        store(&x[j], k + (ptrdiff_t)j * CHAIN_BLOCK);
    }
}

// out -= a b'
static void subtract_product(const double* a, const double* b, double* out) {
    Column x[CHAIN_BLOCK];
    for (int m = 0; m < CHAIN_BLOCK; ++m) {
        load(a + (ptrdiff_t)m * CHAIN_BLOCK, &x[m]);
    }
    for (int j = 0; j < CHAIN_BLOCK; ++j) {
        Column sum;
        load(out + (ptrdiff_t)j * CHAIN_BLOCK, &sum);
        for (int m = 0; m < CHAIN_BLOCK; ++m) {
            sum -= x[m] * b[m * CHAIN_BLOCK + j];
        }
        store(&sum, out + (ptrdiff_t)j * CHAIN_BLOCK);
    }
}

static double* square_of(double* squares, int block) {
    return squares + (ptrdiff_t)CHAIN_SQUARE * block;
}

// --- the factor ------------------------------------------------------------------------------

// Entry (r, s) of what the block after `b` has with it.
static void put_next(const ChainRoot* c, int b, int r, int s, double value) {
    if (c->after[b] == b + 1) {
        square_of(c->on, b)[s * CHAIN_BLOCK + r] = value;
    } else {
        square_of(c->back, b + 1)[r * CHAIN_BLOCK + s] = value;
    }
}

// Squares of a block and of the next one by it.
static void take_block(const ChainRoot* c, int b, int n, int size, int width, const double* band) {
    int first = b * size, end = first + size < n ? first + size : n;
    int last = end + size < n ? end + size : n;
    double* own = square_of(c->own, b);
    for (int s = 0; s < end - first; ++s) {
        const double* column = band + (ptrdiff_t)(first + s) * (width + 1);
        int below = last - first - s - 1 < width ? last - first - s - 1 : width;
        for (int k = 0; k <= below; ++k) {
            int r = s + k;
            if (r < size) {
                own[s * CHAIN_BLOCK + r] = own[r * CHAIN_BLOCK + s] = column[k];
            } else {
                put_next(c, b, r - size, s, column[k]);
            }
        }
    }
    for (int k = end - first; k < CHAIN_BLOCK; ++k) {
        own[k * CHAIN_BLOCK + k] = 1.0;
    }
}

// What is left to the blocks next to it on its way. (L.20)
static bool eliminate(const ChainRoot* c, int block) {
    double* own = square_of(c->own, block);
    double *back = square_of(c->back, block), *on = square_of(c->on, block);
    int before = c->before[block], after = c->after[block];
    if (!factor_square(own)) {
        return false;
    }
    if (before >= 0) {
        divide_square(own, back);
        subtract_product(back, back, square_of(c->own, before));
    }
    if (after >= 0) {
        divide_square(own, on);
        subtract_product(on, on, square_of(c->own, after));
    }
    if (before >= 0 && after >= 0 && c->parent[block] == after) {
        subtract_product(back, on, square_of(c->back, after));
    } else if (before >= 0 && after >= 0) {
        subtract_product(on, back, square_of(c->on, before));
    }
    return true;
}

bool chain_root_factor(ChainRoot* c, int n, int size, int width, const double* band) {
    memset(c->own, 0, 3 * CHAIN_SQUARE * (size_t)c->count * sizeof(double));
    for (int b = 0; b < c->count; ++b) {
        take_block(c, b, n, size, width, band);
    }
    for (int k = c->count - 1; k >= 0; --k) {
        if (!eliminate(c, c->node[k])) {
            return false;
        }
    }
    return true;
}

// --- halves of A^-1 --------------------------------------------------------------------------

static inline void subtract_lanes(const double* a, const Lanes* x, ChainRow* out) {
    for (int i = 0; i < CHAIN_BLOCK; ++i) {
        Lanes sum;
        memcpy(&sum, out[i], sizeof sum);
        for (int j = 0; j < CHAIN_BLOCK; ++j) {
            sum -= x[j] * a[j * CHAIN_BLOCK + i];
        }
        memcpy(out[i], &sum, sizeof sum);
    }
}

// (L.21)
void chain_root_reduce(const ChainRoot* c, int block, ChainRow* x) {
    for (int b = block; b >= 0; b = c->parent[b]) {
        const double* own = square_of(c->own, b);
        ChainRow* at = x + (ptrdiff_t)CHAIN_BLOCK * (c->depth[b] - 1);
        int before = c->before[b], after = c->after[b];
        Lanes solved[CHAIN_BLOCK];
        memcpy(solved, at, sizeof solved);
        for (int j = 0; j < CHAIN_BLOCK; ++j) {
            solved[j] *= own[j * CHAIN_BLOCK + j];
            for (int i = j + 1; i < CHAIN_BLOCK; ++i) {
                solved[i] -= solved[j] * own[j * CHAIN_BLOCK + i];
            }
        }
        memcpy(at, solved, sizeof solved);
        if (before >= 0) {
            subtract_lanes(square_of(c->back, b), solved,
                           x + (ptrdiff_t)CHAIN_BLOCK * (c->depth[before] - 1));
        }
        if (after >= 0) {
            subtract_lanes(square_of(c->on, b), solved,
                           x + (ptrdiff_t)CHAIN_BLOCK * (c->depth[after] - 1));
        }
    }
}

// x -= a' y
static void subtract_transposed(const double* a, const double* y, double* x) {
    for (int j = 0; j < CHAIN_BLOCK; ++j) {
        double sum = 0.0;
        for (int i = 0; i < CHAIN_BLOCK; ++i) {
            sum += a[j * CHAIN_BLOCK + i] * y[i];
        }
        x[j] -= sum;
    }
}

// (L.22)
void chain_root_expand(const ChainRoot* c, int n, int size, const double* z, double* work,
                       double* v) {
    memcpy(work, z, (size_t)CHAIN_BLOCK * (size_t)c->count * sizeof *z);
    for (int k = 0; k < c->count; ++k) {
        int b = c->node[k], used = n - b * size < size ? n - b * size : size;
        const double* own = square_of(c->own, b);
        double* x = work + (ptrdiff_t)CHAIN_BLOCK * k;
        if (c->before[b] >= 0) {
            const double* y = work + (ptrdiff_t)CHAIN_BLOCK * c->place[c->before[b]];
            subtract_transposed(square_of(c->back, b), y, x);
        }
        if (c->after[b] >= 0) {
            const double* y = work + (ptrdiff_t)CHAIN_BLOCK * c->place[c->after[b]];
            subtract_transposed(square_of(c->on, b), y, x);
        }
        for (int j = CHAIN_BLOCK - 1; j >= 0; --j) {
            for (int i = j + 1; i < CHAIN_BLOCK; ++i) {
                x[j] -= own[j * CHAIN_BLOCK + i] * x[i];
            }
            x[j] *= own[j * CHAIN_BLOCK + j];
        }
        memcpy(v + (ptrdiff_t)b * size, x, (size_t)used * sizeof *v);
    }
}
