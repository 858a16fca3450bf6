// Rows of H seen through the sparse Cholesky factor of A.
//
// A row of G = H C'^-1 is nonzero on the paths of the elimination tree that begin at the row's own
// coordinates: found first, then solved for there alone. Of a sheet of 600 nodes that is 370 of
// 1800 coordinates for the three rows of a contact together; where A is diagonal it is their own.
#include "friction/nodal.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

// Entries across the diagonal may differ by this part of the diagonal: some roundings.
static const double ASYMMETRY = 1.0e-12;

// --- what was given ------------------------------------------------------------------------------

// Whether row j has rising columns of its own body, `first` to `end`, the diagonal among them.
static bool row_is_good(TdlSparseRows a, int j, int first, int end) {
    bool diagonal = false;
    for (int e = a.start[j]; e < a.start[j + 1]; ++e) {
        int i = a.column[e];
        if (i < first || i >= end || (e > a.start[j] && i <= a.column[e - 1]) ||
            !isfinite(a.value[e])) {
            return false;
        }
        diagonal = diagonal || i == j;
    }
    return diagonal;
}

static double entry(TdlSparseRows a, int i, int j) {
    int low = a.start[i], high = a.start[i + 1] - 1;
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (a.column[mid] < j) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return a.column[low] == j ? a.value[low] : NAN;
}

// Symmetric, entry by entry.
static bool rows_are_symmetric(TdlSparseRows a, int m) {
    for (int j = 0; j < m; ++j) {
        for (int e = a.start[j]; e < a.start[j + 1]; ++e) {
            int i = a.column[e];
            double size = fabs(entry(a, i, i)) + fabs(entry(a, j, j));
            if (!(fabs(a.value[e] - entry(a, i, j)) <= ASYMMETRY * size)) {
                return false;
            }
        }
    }
    return true;
}

static bool rows_are_good(const TdlFrictionBodiesDef* def) {
    TdlSparseRows a = def->a;
    int m = def->dof_start[def->body_count];
    if (a.column == NULL || a.value == NULL || a.start[0] != 0) {
        return false;
    }
    for (int j = 0; j < m; ++j) {
        if (a.start[j + 1] < a.start[j]) {
            return false;
        }
    }
    for (int k = 0; k < def->body_count; ++k) {
        for (int j = def->dof_start[k]; j < def->dof_start[k + 1]; ++j) {
            if (!row_is_good(a, j, def->dof_start[k], def->dof_start[k + 1])) {
                return false;
            }
        }
    }
    return rows_are_symmetric(a, m);
}

// --- rows ----------------------------------------------------------------------------------------

static int ascending(const void* a, const void* b) {
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int coordinate_of(const SideRows* x, int j) {
    return x->list == NULL ? x->first + j : x->list[j];
}

// The coordinates of z that a side's rows are about, ascending; returns how many. `mark` tells
// which were met for this side.
static int find_paths(const Nodal* a, const SideRows* x, int base, int side, int* mark, int* list) {
    int count = 0;
    for (int j = 0; j < x->count; ++j) {
        for (int k = a->c.place[base + coordinate_of(x, j)]; k >= 0 && mark[k] != side;
             k = a->c.parent[k]) {
            mark[k] = side;
            list[count++] = k;
        }
    }
    qsort(list, (size_t)count, sizeof *list, ascending);
    return count;
}

// g <- the d rows of a side, solved for along their paths. `work` has d zeros for each coordinate.
static inline void solve_rows(const Nodal* a, const SideRows* x, int base, int d, const int* list,
                              int count, double* work, double* g) {
    for (int j = 0; j < x->count; ++j) {
        double* to = work + (ptrdiff_t)d * a->c.place[base + coordinate_of(x, j)];
        for (int k = 0; k < d; ++k) {
            to[k] = a->given.h[x->h + (size_t)(k * x->apart + j)];
        }
    }
    for (int j = 0; j < count; ++j) {
        double* from = work + (ptrdiff_t)d * list[j];
        for (int e = a->c.start[list[j]]; e < a->c.start[list[j] + 1]; ++e) {
            double* restrict to = work + (ptrdiff_t)d * a->c.row[e];
            for (int k = 0; k < d; ++k) {
                to[k] -= a->c.value[e] * from[k];
            }
        }
        for (int k = 0; k < d; ++k) {
            g[(ptrdiff_t)k * count + j] = from[k] / a->c.root[list[j]];
            from[k] = 0.0;
        }
    }
}

// The rows of all sides, packed, and their lists. Two passes: the lists tell how much there is.
static TdlStatus fill_rows(Nodal* a, TdlFrictionProblem* p, int m) {
    Arena* arena = &a->arena;
    size_t used = 0, d = (size_t)p->d;
    int* mark = ARENA_NEW(arena, int, m);
    int* found = ARENA_NEW(arena, int, m);
    double* work = ARENA_NEW(arena, double, d*(size_t)m);
    if (arena->failed) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(mark, 0xff, (size_t)m * sizeof *mark);
    memset(work, 0, d * (size_t)m * sizeof *work);
    for (int s = 0; s < 2 * p->n; ++s) {
        int base = p->body[s] < 0 ? 0 : p->dof_start[p->body[s]];
        int count = find_paths(a, &a->side[s], base, s, mark, found);
        int* list = ARENA_NEW(arena, int, count);
        if (list == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        memcpy(list, found, (size_t)count * sizeof *list);
        p->side[s] = (SideRows){used, used, 0, count, count, list};
        used += d * (size_t)count;
    }
    a->g = ARENA_NEW(arena, double, used);
    if (a->g == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int s = 0; s < 2 * p->n; ++s) {
        int base = p->body[s] < 0 ? 0 : p->dof_start[p->body[s]];
        int *list = (int*)p->side[s].list, count = p->side[s].count;
        double* g = a->g + p->side[s].h;
        if (p->d == 3) {
            solve_rows(a, &a->side[s], base, 3, list, count, work, g);
        } else {
            solve_rows(a, &a->side[s], base, 6, list, count, work, g);
        }
        for (int j = 0; j < count; ++j) {
            list[j] -= base;
        }
    }
    p->h = p->y = a->g;
    p->y_like_h = true;
    return problem_all_finite(a->g, used) ? TDL_STATUS_OK : TDL_STATUS_BAD_ARGUMENT;
}

TdlStatus nodal_create(const TdlHost* host, TdlFrictionProblem* p,
                       const TdlFrictionBodiesDef* def) {
    int m = p->dof_count;
    if (!rows_are_good(def)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "rows of A are not finite, rising, symmetric, and each body's own");
    }
    Nodal* a = p->nodal = tdl_alloc_zero(&p->mem, sizeof *a);
    if (a == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    arena_init(&a->arena, &p->mem);
    a->given = *def;
    a->side = ARENA_NEW(&a->arena, SideRows, 2 * (size_t)p->n);
    if (a->side == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(a->side, p->side, 2 * (size_t)p->n * sizeof *a->side);
    SparsePattern pattern = {m, def->a.start, def->a.column};
    TdlStatus status = sparse_root_create(&a->c, &a->arena, &pattern, def->a.value, def->body_count,
                                          def->dof_start);
    if (status != TDL_STATUS_OK) {
        return status == TDL_STATUS_NO_MEMORY
                   ? status
                   : tdl_fail(host, status, "A is not positive definite");
    }
    if (def->velocity != NULL) {
        a->z = ARENA_NEW(&a->arena, double, m);
        if (a->z == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        sparse_root_whiten(&a->c, 0, m, def->velocity, a->z);
        p->velocity = a->z;
    }
    return fill_rows(a, p, m);
}

TdlStatus nodal_attach(TdlFrictionProblem* p, const TdlFrictionBodiesDef* def,
                       const NodalRoot* root) {
    Nodal* a = p->nodal = tdl_alloc_zero(&p->mem, sizeof *a);
    if (a == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    arena_init(&a->arena, &p->mem);
    a->given = *def;
    a->whitened = true;
    a->root = *root;
    a->side = ARENA_NEW(&a->arena, SideRows, 2 * (size_t)p->n);
    if (a->side == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    size_t used = 0;
    for (int s = 0; s < 2 * p->n; ++s) {
        TdlSpan span = p->body[s] < 0 ? (TdlSpan){0} : def->span[s];
        const int* list = p->body[s] < 0 || def->list == NULL ? NULL : def->list[s];
        a->side[s] = (SideRows){used, used, span.first, span.count, span.count, list};
        used += (size_t)p->d * (size_t)span.count;
    }
    return TDL_STATUS_OK;
}

void nodal_drive(const TdlFrictionProblem* p, int body, const double* f, double* z) {
    const Nodal* a = p->nodal;
    int first = p->dof_start[body], end = p->dof_start[body + 1];
    if (a->whitened) {
        a->root.drive(a->root.user, body, f + first, z + first);
    } else {
        sparse_root_drive(&a->c, first, end, f, z);
    }
}

void nodal_velocity(const TdlFrictionProblem* p, int body, const double* z, double* v) {
    const Nodal* a = p->nodal;
    int first = p->dof_start[body], end = p->dof_start[body + 1];
    if (a->whitened) {
        a->root.velocity(a->root.user, body, z + first, v + first);
    } else {
        sparse_root_velocity(&a->c, first, end, z, v);
    }
}

void nodal_destroy(const TdlAllocator* mem, Nodal* nodal) {
    if (nodal != NULL) {
        arena_destroy(&nodal->arena);
        tdl_free(mem, nodal);
    }
}
