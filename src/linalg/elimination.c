// Orders by SuiteSparse AMD or by dissection, numbered so that children come right before their
// parent; the pattern of a column is its own rows and those of its children's columns.
#include "linalg/elimination.h"

#include "linalg/dissection.h"

#include <amd.h>
#include <string.h>

// Columns joined in one run although patterns differ: zeros stored, as a part of the run.
static const double MAX_ZEROS = 0.25;

typedef struct Graph {
    const int *start, *column;
} Graph;

// The elimination tree of the graph in the given order. (Liu, with path compression.)
static void find_tree(const Graph* g, int n, const int* order, const int* place, int* parent,
                      int* ancestor) {
    for (int k = 0; k < n; ++k) {
        parent[k] = ancestor[k] = -1;
        for (int e = g->start[order[k]]; e < g->start[order[k] + 1]; ++e) {
            int j = place[g->column[e]];
            while (j >= 0 && j < k) {
                int next = ancestor[j];
                ancestor[j] = k;
                if (next < 0) {
                    parent[j] = k;
                }
                j = next;
            }
        }
    }
}

// Renumbers so that children come right before their parent: post[k] is the old number.
static void postorder(int n, const int* parent, int* head, int* next, int* walk, int* post) {
    memset(head, 0xff, (size_t)n * sizeof(int));
    for (int k = n - 1; k >= 0; --k) {
        if (parent[k] >= 0) {
            next[k] = head[parent[k]];
            head[parent[k]] = k;
        }
    }
    int count = 0;
    for (int root = 0; root < n; ++root) {
        if (parent[root] >= 0) {
            continue;
        }
        int depth = 0;
        walk[depth++] = root;
        while (depth > 0) {
            int k = walk[depth - 1], child = head[k];
            if (child >= 0) {
                head[k] = next[child];
                walk[depth++] = child;
            } else {
                post[count++] = k;
                --depth;
            }
        }
    }
}

static TdlStatus choose_order(Elimination* plan, Arena* arena, const Graph* g, bool dissected) {
    size_t n = (size_t)plan->n;
    int* scratch = ARENA_NEW(arena, int, 6 * n + 1);
    if (scratch == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    int *order = scratch, *place = scratch + n, *head = scratch + 2 * n, *next = scratch + 3 * n;
    int *walk = scratch + 4 * n, *post = scratch + 5 * n;
    int status = dissected ? AMD_OK : amd_order(plan->n, g->start, g->column, order, NULL, NULL);
    if (status != AMD_OK && status != AMD_OK_BUT_JUMBLED) {
        return TDL_STATUS_NO_MEMORY;
    }
    if (dissected &&
        dissection_order(arena, plan->n, g->start, g->column, order) != TDL_STATUS_OK) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int k = 0; k < plan->n; ++k) {
        place[order[k]] = k;
    }
    find_tree(g, plan->n, order, place, plan->parent, head);
    postorder(plan->n, plan->parent, head, next, walk, post);
    for (int k = 0; k < plan->n; ++k) {
        plan->order[k] = order[post[k]];
        walk[post[k]] = k;
    }
    for (int k = 0; k < plan->n; ++k) {
        int up = plan->parent[post[k]];
        next[k] = up < 0 ? -1 : walk[up];
    }
    memcpy(plan->parent, next, n * sizeof(int));
    return TDL_STATUS_OK;
}

// Sorts the rows of every column: by columns into their rows, and from there in order into the
// columns.
static TdlStatus sort_rows(Elimination* plan, Arena* arena, int* mark) {
    int n = plan->n, count = plan->start[n];
    int *at = ARENA_NEW(arena, int, (size_t)n + 1), *column = ARENA_NEW(arena, int, count);
    if (at == NULL || column == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(at, 0, ((size_t)n + 1) * sizeof(int));
    for (int e = 0; e < count; ++e) {
        ++at[plan->row[e] + 1];
    }
    for (int k = 0; k < n; ++k) {
        at[k + 1] += at[k];
    }
    for (int k = 0; k < n; ++k) {
        for (int e = plan->start[k]; e < plan->start[k + 1]; ++e) {
            column[at[plan->row[e]]++] = k; // at[row] ends where the next one's began
        }
    }
    memcpy(mark, plan->start, (size_t)n * sizeof(int));
    for (int row = 0, e = 0; row < n; ++row) {
        for (; e < at[row]; ++e) {
            plan->row[mark[column[e]]++] = row;
        }
    }
    return TDL_STATUS_OK;
}

// The rows below the diagonal of every column; place numbers the graph's rows.
static TdlStatus find_pattern(Elimination* plan, Arena* arena, const Graph* g) {
    int n = plan->n;
    int* child = ARENA_NEW(arena, int, 3 * (size_t)n + 1);
    size_t capacity = 2 * (size_t)g->start[n] + (size_t)n;
    plan->row = ARENA_NEW(arena, int, capacity);
    if (child == NULL || plan->row == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    int *sibling = child + n, *mark = sibling + n;
    memset(child, 0xff, (size_t)n * sizeof(int));
    memset(mark, 0xff, (size_t)n * sizeof(int));
    plan->start[0] = 0;
    for (int k = 0; k < n; ++k) {
        size_t used = (size_t)plan->start[k];
        if (used + (size_t)(n - k) > capacity) {
            capacity = 2 * capacity + (size_t)n;
            int* grown = capacity > INT32_MAX ? NULL : ARENA_NEW(arena, int, capacity);
            if (grown == NULL) {
                return TDL_STATUS_NO_MEMORY;
            }
            memcpy(grown, plan->row, used * sizeof(int));
            plan->row = grown;
        }
        int *rows = plan->row + used, count = 0;
        for (int e = g->start[plan->order[k]]; e < g->start[plan->order[k] + 1]; ++e) {
            int at = plan->place[g->column[e]];
            if (at > k && mark[at] != k) {
                mark[at] = k;
                rows[count++] = at;
            }
        }
        for (int c = child[k]; c >= 0; c = sibling[c]) {
            for (int e = plan->start[c]; e < plan->start[c + 1]; ++e) {
                int at = plan->row[e];
                if (at > k && mark[at] != k) {
                    mark[at] = k;
                    rows[count++] = at;
                }
            }
        }
        plan->start[k + 1] = (int)used + count;
        if (plan->parent[k] >= 0) {
            sibling[k] = child[plan->parent[k]];
            child[plan->parent[k]] = k;
        }
    }
    return sort_rows(plan, arena, mark);
}

TdlStatus elimination_plan(Elimination* plan, Arena* arena, int n, const int* start,
                           const int* column, bool dissected) {
    size_t rows = (size_t)n;
    Graph graph = {start, column};
    *plan = (Elimination){.n = n};
    plan->order = ARENA_NEW(arena, int, rows);
    plan->place = ARENA_NEW(arena, int, rows);
    plan->parent = ARENA_NEW(arena, int, rows);
    plan->start = ARENA_NEW(arena, int, rows + 1);
    if (!plan->order || !plan->place || !plan->parent || !plan->start ||
        choose_order(plan, arena, &graph, dissected) != TDL_STATUS_OK) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int k = 0; k < n; ++k) {
        plan->place[plan->order[k]] = k;
    }
    return find_pattern(plan, arena, &graph);
}

// Column k joins k + 1, its parent, while few zeros come in by it.
int elimination_runs(const Elimination* plan, int most, int* last) {
    int count = 0, first = 0;
    double stored = 0.0; // rows really in the columns of the run
    for (int k = 0; k < plan->n; ++k) {
        int below = plan->start[k + 1] - plan->start[k];
        stored += below + 1;
        bool joins = false;
        if (k + 1 < plan->n && plan->parent[k] == k + 1 && k + 1 - first < most) {
            double next = plan->start[k + 2] - plan->start[k + 1] + 1.0, run = k + 2 - first;
            double whole = run * (next + 0.5 * (run - 1.0));
            joins = whole - stored - next <= MAX_ZEROS * whole;
        }
        if (!joins) {
            last[count++] = k;
            first = k + 1;
            stored = 0.0;
        }
    }
    return count;
}
