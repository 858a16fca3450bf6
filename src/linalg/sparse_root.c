// Sparse square roots by SuiteSparse LDL and AMD.
#include "linalg/sparse_root.h"

#include <amd.h>
#include <ldl.h>
#include <limits.h>
#include <math.h>
#include <string.h>

// AMD's order, sorted by groups: within each it stays as it was, and so does the fill.
static bool choose_order(SparseRoot* c, Arena* arena, const SparsePattern* a, int group_count,
                         const int* first) {
    int* whole = ARENA_NEW(arena, int, c->n);
    int* group = ARENA_NEW(arena, int, c->n);
    int* next = ARENA_NEW(arena, int, (size_t)group_count + 1);
    c->order = ARENA_NEW(arena, int, c->n);
    c->place = ARENA_NEW(arena, int, c->n);
    if (whole == NULL || group == NULL || next == NULL || c->order == NULL || c->place == NULL) {
        return false;
    }
    if (c->n > 0 && amd_order(c->n, a->start, a->index, whole, NULL, NULL) != AMD_OK) {
        return false;
    }
    for (int k = 0; k < group_count; ++k) {
        next[k] = first[k];
        for (int j = first[k]; j < first[k + 1]; ++j) {
            group[j] = k;
        }
    }
    for (int k = 0; k < c->n; ++k) {
        int at = next[group[whole[k]]]++;
        c->order[at] = whole[k];
        c->place[whole[k]] = at;
    }
    return true;
}

static bool roots_of_pivots(SparseRoot* c, int good) {
    for (int k = 0; k < c->n; ++k) {
        if (good < c->n || !(c->root[k] > 0.0) || !isfinite(c->root[k])) {
            return false;
        }
        c->root[k] = sqrt(c->root[k]);
    }
    return true;
}

TdlStatus sparse_root_create(SparseRoot* c, Arena* arena, const SparsePattern* a,
                             const double* value, int group_count, const int* first) {
    int n = a->n, *start = (int*)a->start, *index = (int*)a->index; // LDL does not write to them
    *c = (SparseRoot){.n = n};
    c->start = ARENA_NEW(arena, int, (size_t)n + 1);
    c->parent = ARENA_NEW(arena, int, n);
    c->root = ARENA_NEW(arena, double, n);
    int *count = ARENA_NEW(arena, int, n), *flag = ARENA_NEW(arena, int, n);
    int* pattern = ARENA_NEW(arena, int, n);
    double* work = ARENA_NEW(arena, double, n);
    if (!c->start || !c->parent || !c->root || !count || !flag || !pattern || !work ||
        !choose_order(c, arena, a, group_count, first)) {
        return TDL_STATUS_NO_MEMORY;
    }
    ldl_symbolic(n, start, index, c->start, c->parent, count, flag, c->order, c->place);
    double total = 0.0;
    for (int j = 0; j < n; ++j) {
        total += count[j];
    }
    if (total >= INT_MAX) {
        return TDL_STATUS_NO_MEMORY;
    }
    c->row = ARENA_NEW(arena, int, c->start[n]);
    c->value = ARENA_NEW(arena, double, c->start[n]);
    if (c->row == NULL || c->value == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    int good = ldl_numeric(n, start, index, (double*)value, c->start, c->parent, count, c->row,
                           c->value, c->root, work, pattern, flag, c->order, c->place);
    return roots_of_pivots(c, good) ? TDL_STATUS_OK : TDL_STATUS_BAD_ARGUMENT;
}

void sparse_root_whiten(const SparseRoot* c, int first, int end, const double* v, double* z) {
    for (int j = first; j < end; ++j) {
        double sum = v[c->order[j]];
        for (int e = c->start[j]; e < c->start[j + 1]; ++e) {
            sum += c->value[e] * v[c->order[c->row[e]]];
        }
        z[j] = c->root[j] * sum;
    }
}

void sparse_root_drive(const SparseRoot* c, int first, int end, const double* f, double* z) {
    for (int j = first; j < end; ++j) {
        z[j] = f[c->order[j]];
    }
    for (int j = first; j < end; ++j) {
        double x = z[j];
        for (int e = c->start[j]; e < c->start[j + 1]; ++e) {
            z[c->row[e]] -= c->value[e] * x;
        }
        z[j] = x / c->root[j];
    }
}

void sparse_root_velocity(const SparseRoot* c, int first, int end, const double* z, double* v) {
    for (int j = end - 1; j >= first; --j) {
        double sum = z[j] / c->root[j];
        for (int e = c->start[j]; e < c->start[j + 1]; ++e) {
            sum -= c->value[e] * v[c->order[c->row[e]]];
        }
        v[c->order[j]] = sum;
    }
}
