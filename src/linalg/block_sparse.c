// Symmetric block-sparse matrices from triplets.
//
// The places of all triplets, their mirror images and the diagonal are sorted by two passes of a
// counting sort (columns, then rows), which is linear and stable, and equal places are merged. The
// map from triplets to blocks is kept: refilling a matrix with new numbers sorts nothing.
#include "linalg/block_sparse.h"

#include "base/memory.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

// The places before merging: the diagonal, then each triplet twice.
typedef struct Places {
    int count;
    int *row, *column;   // [count]
    int *order, *sorted; // [count]
    int* bucket;         // [row_count + 1]
} Places;

static bool pattern_valid(const BlockPattern* p) {
    if (p->block_size < 1 || p->row_count < 0 || p->triplet_count < 0) {
        return false;
    }
    for (int t = 0; t < p->triplet_count; ++t) {
        if (p->row[t] < 0 || p->row[t] >= p->row_count || p->column[t] < 0 ||
            p->column[t] >= p->row_count) {
            return false;
        }
    }

    // scalar indices are ints
    double places = (double)p->row_count + 2.0 * p->triplet_count;
    return places * p->block_size * p->block_size < INT_MAX;
}

// A stable counting sort of `from` by key into `to`
static void sort_by(const Places* places, int key_count, const int* key, const int* from, int* to) {
    int* bucket = places->bucket;
    memset(bucket, 0, ((size_t)key_count + 1) * sizeof *bucket);
    for (int i = 0; i < places->count; ++i) {
        ++bucket[key[i] + 1];
    }
    for (int k = 0; k < key_count; ++k) {
        bucket[k + 1] += bucket[k];
    }
    for (int i = 0; i < places->count; ++i) {
        to[bucket[key[from[i]]]++] = from[i];
    }
}

static void list_places(const BlockPattern* p, Places* places) {
    for (int i = 0; i < p->row_count; ++i) {
        places->row[i] = places->column[i] = i;
    }
    for (int t = 0, k = p->row_count; t < p->triplet_count; ++t, k += 2) {
        places->row[k] = places->column[k + 1] = p->row[t];
        places->column[k] = places->row[k + 1] = p->column[t];
    }
    for (int i = 0; i < places->count; ++i) {
        places->order[i] = i;
    }
    sort_by(places, p->row_count, places->column, places->order, places->sorted);
    sort_by(places, p->row_count, places->row, places->sorted, places->order);
}

// Numbers the distinct places in order; the number of each place goes into places->sorted.
static int merge_places(Places* places) {
    int count = 0;
    for (int i = 0; i < places->count; ++i) {
        int k = places->order[i], last = i > 0 ? places->order[i - 1] : k;
        bool same = i > 0 && places->row[k] == places->row[last] &&
                    places->column[k] == places->column[last];
        count += same ? 0 : 1;
        places->sorted[k] = count - 1;
    }
    return count;
}

static bool allocate_places(const TdlAllocator* mem, const BlockPattern* p, Places* places) {
    size_t count = (size_t)p->row_count + 2 * (size_t)p->triplet_count;
    places->count = (int)count;
    places->row = tdl_alloc_array(mem, count, sizeof(int));
    places->column = tdl_alloc_array(mem, count, sizeof(int));
    places->order = tdl_alloc_array(mem, count, sizeof(int));
    places->sorted = tdl_alloc_array(mem, count, sizeof(int));
    places->bucket = tdl_alloc_array(mem, (size_t)p->row_count + 1, sizeof(int));
    return places->row != NULL && places->column != NULL && places->order != NULL &&
           places->sorted != NULL && places->bucket != NULL;
}

static void free_places(const TdlAllocator* mem, Places* places) {
    tdl_free(mem, places->row);
    tdl_free(mem, places->column);
    tdl_free(mem, places->order);
    tdl_free(mem, places->sorted);
    tdl_free(mem, places->bucket);
}

static bool allocate_blocks(BlockSparse* a) {
    size_t rows = (size_t)a->row_count, blocks = (size_t)a->block_count;
    size_t size = (size_t)a->block_size * (size_t)a->block_size;
    a->row_start = tdl_alloc_array(&a->mem, rows + 1, sizeof(int));
    a->column = tdl_alloc_array(&a->mem, blocks, sizeof(int));
    a->diagonal = tdl_alloc_array(&a->mem, rows, sizeof(int));
    a->twin = tdl_alloc_array(&a->mem, blocks, sizeof(int));
    a->target = tdl_alloc_array(&a->mem, (size_t)a->triplet_count, sizeof(int));
    a->value = tdl_alloc_array(&a->mem, blocks * size, sizeof(double));
    return a->row_start != NULL && a->column != NULL && a->diagonal != NULL && a->twin != NULL &&
           a->target != NULL && a->value != NULL;
}

static void build_rows(BlockSparse* a, const Places* places) {
    for (int i = 0; i < places->count; ++i) {
        int k = places->order[i], block = places->sorted[k];
        a->column[block] = places->column[k];
        a->row_start[places->row[k] + 1] = block + 1;
    }
    for (int i = 0; i < a->row_count; ++i) {
        a->diagonal[i] = places->sorted[i];
    }
    for (int t = 0, k = a->row_count; t < a->triplet_count; ++t, k += 2) {
        bool upper = places->row[k] < places->column[k];
        a->target[t] = upper ? ~places->sorted[k + 1] : places->sorted[k];
    }

    // going through the rows in order meets the blocks of each column in order too
    int* next = places->bucket;
    memcpy(next, a->row_start, (size_t)a->row_count * sizeof *next);
    for (int i = 0; i < a->block_count; ++i) {
        a->twin[i] = next[a->column[i]]++;
    }
}

TdlStatus block_sparse_create(const TdlAllocator* mem, const BlockPattern* pattern,
                              BlockSparse** out) {
    *out = NULL;
    if (!pattern_valid(pattern)) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    Places places = {0};
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    BlockSparse* a = tdl_alloc_zero(mem, sizeof *a);
    if (a != NULL && allocate_places(mem, pattern, &places)) {
        list_places(pattern, &places);
        a->mem = *mem;
        a->block_size = pattern->block_size;
        a->row_count = pattern->row_count;
        a->triplet_count = pattern->triplet_count;
        a->block_count = merge_places(&places);
        if (allocate_blocks(a)) {
            build_rows(a, &places);
            *out = a;
            status = TDL_STATUS_OK;
        }
    }
    free_places(mem, &places);
    if (status != TDL_STATUS_OK && a != NULL) {
        a->mem = *mem;
        block_sparse_destroy(a);
    }
    return status;
}

void block_sparse_destroy(BlockSparse* a) {
    if (a == NULL) {
        return;
    }
    TdlAllocator mem = a->mem;
    tdl_free(&mem, a->row_start);
    tdl_free(&mem, a->column);
    tdl_free(&mem, a->diagonal);
    tdl_free(&mem, a->twin);
    tdl_free(&mem, a->target);
    tdl_free(&mem, a->value);
    tdl_free(&mem, a);
}

static void copy_transpose(int b, const double* restrict from, double* restrict to) {
    for (int j = 0; j < b; ++j) {
        for (int i = 0; i < b; ++i) {
            to[j + i * b] = from[i + j * b];
        }
    }
}

void block_sparse_fill(BlockSparse* a, const double* blocks) {
    int b = a->block_size, size = b * b;
    memset(a->value, 0, (size_t)a->block_count * (size_t)size * sizeof(double));

    // diagonal and lower triangle
    for (int t = 0; t < a->triplet_count; ++t) {
        bool transposed = a->target[t] < 0;
        double* to = block_sparse_block(a, transposed ? ~a->target[t] : a->target[t]);
        const double* from = blocks + (ptrdiff_t)t * size;
        for (int j = 0; j < b; ++j) {
            for (int i = 0; i < b; ++i) {
                to[i + j * b] += transposed ? from[j + i * b] : from[i + j * b];
            }
        }
    }

    // upper triangle
    for (int i = 0; i < a->row_count; ++i) {
        for (int k = a->row_start[i]; k < a->diagonal[i]; ++k) {
            copy_transpose(b, block_sparse_block(a, k), block_sparse_block(a, a->twin[k]));
        }
    }
}

static void multiply_rows_3(const BlockSparse* a, int first, int last, const double* restrict x,
                            double* restrict y) {
    for (int i = first; i < last; ++i) {
        double s0 = 0.0, s1 = 0.0, s2 = 0.0;
        for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) {
            const double* m = a->value + (ptrdiff_t)9 * k;
            const double* v = x + 3 * a->column[k];
            s0 += m[0] * v[0] + m[3] * v[1] + m[6] * v[2];
            s1 += m[1] * v[0] + m[4] * v[1] + m[7] * v[2];
            s2 += m[2] * v[0] + m[5] * v[1] + m[8] * v[2];
        }
        y[3 * i] = s0;
        y[3 * i + 1] = s1;
        y[3 * i + 2] = s2;
    }
}

void block_sparse_multiply_rows(const BlockSparse* a, int first, int last, const double* x,
                                double* y) {
    int b = a->block_size;
    if (b == 3) {
        multiply_rows_3(a, first, last, x, y);
        return;
    }
    for (int i = first; i < last; ++i) {
        double* restrict sum = y + i * b;
        memset(sum, 0, (size_t)b * sizeof *sum);
        for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) {
            const double* restrict m = block_sparse_block(a, k);
            const double* v = x + a->column[k] * b;
            for (int j = 0; j < b; ++j) {
                for (int r = 0; r < b; ++r) {
                    sum[r] += m[r + j * b] * v[j];
                }
            }
        }
    }
}

void block_sparse_multiply(const BlockSparse* a, const double* x, double* y) {
    block_sparse_multiply_rows(a, 0, a->row_count, x, y);
}

double* block_sparse_find(const BlockSparse* a, int row, int column) {
    int low = a->row_start[row], high = a->row_start[row + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (a->column[middle] < column) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < a->row_start[row + 1] && a->column[low] == column;
    return found ? block_sparse_block(a, low) : NULL;
}

void block_sparse_to_csc(const BlockSparse* a, int* start, int* index, double* value) {
    // column j of the matrix is row j of its transpose, block by block through the twins
    int b = a->block_size, position = 0;
    for (int column = 0; column < a->row_count * b; ++column) {
        int block_column = column / b, j = column % b;
        if (start != NULL) {
            start[column] = position;
        }
        for (int k = a->row_start[block_column]; k < a->row_start[block_column + 1]; ++k) {
            const double* m = block_sparse_block(a, a->twin[k]);
            for (int i = 0; i < b; ++i, ++position) {
                if (index != NULL) {
                    index[position] = a->column[k] * b + i;
                }
                if (value != NULL) {
                    value[position] = m[i + j * b];
                }
            }
        }
    }
    if (start != NULL) {
        start[a->row_count * b] = position;
    }
}
