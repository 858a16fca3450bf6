// The sparse solver made of SuiteSparse LDL and AMD.
//
// AMD gets its workspace from us, so that all memory comes from the caller's allocator. LDL is an
// up-looking scalar factorisation: its cost is the number of operations on the nonzeros of L,
// without the speed of dense kernels, which suits the thin factors of rods and sheets.
#include "linalg/sparse_cholesky.h"

#include "base/check.h"
#include "base/memory.h"

#include <amd.h>
#include <ldl.h>
#include <limits.h>
#include <math.h>
#include <string.h>

typedef struct LdlFactor {
    TdlAllocator mem;
    Arena arena; // everything below
    int n;
    int *start, *index;               // the pattern
    int *order, *rank;                // permutation and inverse
    int *l_start, *parent, *l_count;  // pattern of L
    int *flag, *pattern_work, *l_row; // work; [l_start[n]]
    double *l_value, *d, *work;       // [l_start[n]], [n], [n]
    bool factored;
} LdlFactor;

// Shape, order and symmetry of the pattern, in one pass: walking the columns in order, each entry
// (i, j) must be the next one of column i. `next` has n entries.
static bool pattern_valid(const SparsePattern* p, int* next) {
    if (p->start[0] != 0) {
        return false;
    }
    for (int j = 0; j < p->n; ++j) {
        if (p->start[j + 1] < p->start[j]) {
            return false;
        }
        next[j] = p->start[j];
    }
    for (int j = 0; j < p->n; ++j) {
        for (int k = p->start[j]; k < p->start[j + 1]; ++k) {
            int i = p->index[k];
            if (i < 0 || i >= p->n || (k > p->start[j] && i <= p->index[k - 1])) {
                return false;
            }
            if (next[i] >= p->start[i + 1] || p->index[next[i]] != j) {
                return false;
            }
            ++next[i];
        }
    }
    return true;
}

// Approximate minimum degree. All work arrays come from `scratch`; false when one is missing.
static bool order_columns(LdlFactor* f, Arena* scratch) {
    int n = f->n, count = f->start[n], used = 0;
    size_t room = (size_t)count + (size_t)count / 5 + (size_t)n + 1; // as AMD recommends
    int *begin = ARENA_NEW(scratch, int, n), *length = ARENA_NEW(scratch, int, n);
    int *entries = ARENA_NEW(scratch, int, room), *weight = ARENA_NEW(scratch, int, n);
    int *head = ARENA_NEW(scratch, int, n), *elements = ARENA_NEW(scratch, int, n);
    int *degree = ARENA_NEW(scratch, int, n), *marks = ARENA_NEW(scratch, int, n);
    if (scratch->failed || room > INT_MAX) {
        return false;
    }

    // the pattern without its diagonal
    for (int j = 0; j < n; ++j) {
        begin[j] = used;
        for (int k = f->start[j]; k < f->start[j + 1]; ++k) {
            if (f->index[k] != j) {
                entries[used++] = f->index[k];
            }
        }
        length[j] = used - begin[j];
    }
    double control[AMD_CONTROL], info[AMD_INFO];
    amd_defaults(control);
    amd_2(n, begin, entries, length, (int)room, used, weight, f->rank, f->order, head, elements,
          degree, marks, control, info);
    for (int k = 0; k < n; ++k) {
        f->rank[f->order[k]] = k;
    }
    return true;
}

static bool allocate_pattern(LdlFactor* f, const SparsePattern* pattern) {
    int n = pattern->n, count = pattern->start[n];
    Arena* arena = &f->arena;
    f->n = n;
    f->start = ARENA_NEW(arena, int, n + 1);
    f->index = ARENA_NEW(arena, int, count);
    f->order = ARENA_NEW(arena, int, n);
    f->rank = ARENA_NEW(arena, int, n);
    f->l_start = ARENA_NEW(arena, int, n + 1);
    f->parent = ARENA_NEW(arena, int, n);
    f->l_count = ARENA_NEW(arena, int, n);
    f->flag = ARENA_NEW(arena, int, n);
    f->pattern_work = ARENA_NEW(arena, int, n);
    f->d = ARENA_NEW(arena, double, n);
    f->work = ARENA_NEW(arena, double, n);
    if (arena->failed) {
        return false;
    }
    memcpy(f->start, pattern->start, ((size_t)n + 1) * sizeof(int));
    if (count > 0) {
        memcpy(f->index, pattern->index, (size_t)count * sizeof(int));
    }
    return true;
}

// The pattern of L; false when memory or the range of int does not suffice.
static bool analyse_factor(LdlFactor* f) {
    ldl_symbolic(f->n, f->start, f->index, f->l_start, f->parent, f->l_count, f->flag, f->order,
                 f->rank);
    double total = 0.0;
    for (int j = 0; j < f->n; ++j) {
        total += f->l_count[j];
    }
    if (total >= INT_MAX) {
        return false;
    }
    f->l_row = ARENA_NEW(&f->arena, int, f->l_start[f->n]);
    f->l_value = ARENA_NEW(&f->arena, double, f->l_start[f->n]);
    return !f->arena.failed;
}

static void ldl_destroy(void* factor) {
    LdlFactor* f = factor;
    if (f == NULL) {
        return;
    }
    TdlAllocator mem = f->mem;
    arena_destroy(&f->arena);
    tdl_free(&mem, f);
}

static TdlStatus ldl_analyse(const TdlAllocator* mem, const SparsePattern* pattern, void** factor) {
    *factor = NULL;
    if (pattern->n < 0) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    LdlFactor* f = tdl_alloc_zero(mem, sizeof *f);
    if (f == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    f->mem = *mem;
    arena_init(&f->arena, mem);
    Arena scratch;
    arena_init(&scratch, mem);

    TdlStatus status = TDL_STATUS_NO_MEMORY;
    int* next = ARENA_NEW(&scratch, int, pattern->n);
    if (next != NULL && !pattern_valid(pattern, next)) {
        status = TDL_STATUS_BAD_ARGUMENT;
    } else if (next != NULL && allocate_pattern(f, pattern) &&
               (f->n == 0 || order_columns(f, &scratch)) && analyse_factor(f)) {
        status = TDL_STATUS_OK;
        *factor = f;
    }
    arena_destroy(&scratch);
    if (status != TDL_STATUS_OK) {
        ldl_destroy(f);
    }
    return status;
}

// Looks through the first `count` pivots in the order of elimination.
static void judge_pivots(const LdlFactor* f, int count, bool allow_indefinite,
                         SparseFactorInfo* info) {
    for (int k = 0; k < count; ++k) {
        double pivot = f->d[k];
        info->negative_count += pivot < 0.0;
        SparseOutcome outcome = !isfinite(pivot)                   ? SPARSE_BAD_PIVOT
                                : pivot == 0.0                     ? SPARSE_ZERO_PIVOT
                                : pivot < 0.0 && !allow_indefinite ? SPARSE_NEGATIVE_PIVOT
                                                                   : SPARSE_FACTORED;
        if (outcome != SPARSE_FACTORED) {
            info->outcome = outcome;
            info->column = f->order[k];
            info->pivot = pivot;
            return;
        }
    }
}

static SparseFactorInfo ldl_factor(void* factor, const double* value, bool allow_indefinite) {
    LdlFactor* f = factor;
    SparseFactorInfo info = {.column = -1};

    // LDL stops at a pivot that is exactly zero, which is then d[good]; it does not write to value
    int good = ldl_numeric(f->n, f->start, f->index, (double*)value, f->l_start, f->parent,
                           f->l_count, f->l_row, f->l_value, f->d, f->work, f->pattern_work,
                           f->flag, f->order, f->rank);
    judge_pivots(f, good < f->n ? good + 1 : f->n, allow_indefinite, &info);
    f->factored = info.outcome == SPARSE_FACTORED;
    return info;
}

static void ldl_solve(void* factor, int rhs_count, double* b, int ldb) {
    LdlFactor* f = factor;
    TDL_ASSERT(f->factored);
    for (int r = 0; r < rhs_count; ++r) {
        double* x = b + (ptrdiff_t)r * ldb;
        ldl_perm(f->n, f->work, x, f->order);
        ldl_lsolve(f->n, f->work, f->l_start, f->l_row, f->l_value);
        ldl_dsolve(f->n, f->work, f->d);
        ldl_ltsolve(f->n, f->work, f->l_start, f->l_row, f->l_value);
        ldl_permt(f->n, x, f->work, f->order);
    }
}

static int ldl_fill(const void* factor) {
    const LdlFactor* f = factor;
    return f->l_start[f->n];
}

const SparseSolver SPARSE_SOLVER_LDL = {
    .name = "LDL",
    .analyse = ldl_analyse,
    .factor = ldl_factor,
    .solve = ldl_solve,
    .fill = ldl_fill,
    .destroy = ldl_destroy,
};
