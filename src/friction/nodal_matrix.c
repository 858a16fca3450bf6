// The matrix over nodes: blocks of coordinates, their pattern, and what contacts add to it.
//
// Coordinates that follow each other and are touched by the same contacts, up to three, make a
// block: a node. A contact of d rows over c coordinates adds d c^2 multiplications, as many as the
// rows of its own; what costs is the factorisation, by fronts.
#include "friction/nodal_matrix.h"

#include <stdlib.h>
#include <string.h>

// Entries of the pattern above which it is not made: 360 MB of blocks.
static const size_t MOST_BLOCKS = MAX_FORMED;

static bool whole_bodies(NodalMatrix* m) {
    const System* sys = m->run->sys;
    const TdlFrictionProblem* p = sys->problem;
    m->local = ARENA_NEW(m->run->arena, int, p->dof_count);
    if (m->local == NULL) {
        return false;
    }
    for (int k = 0; k < sys->bodies_count; ++k) {
        int body = sys->bodies[k];
        for (int j = p->dof_start[body]; j < p->dof_start[body + 1]; ++j) {
            m->local[j] = m->count++;
        }
    }
    return true;
}

// --- columns -------------------------------------------------------------------------------------

static bool list_columns(NodalMatrix* m) {
    const System* sys = m->run->sys;
    const TdlFrictionProblem* p = sys->problem;
    size_t used = 0;
    for (int s = 0; s < 2 * sys->n; ++s) {
        used += (size_t)p->nodal->side[2 * sys->contact[s / 2] + s % 2].count;
    }
    m->column_start = ARENA_NEW(m->run->arena, int, (size_t)sys->n + 1);
    m->column = ARENA_NEW(m->run->arena, int, used);
    if (m->column_start == NULL || m->column == NULL) {
        return false;
    }
    int at = 0;
    for (int i = 0; i < sys->n; ++i) {
        m->column_start[i] = at;
        for (int s = 2 * sys->contact[i]; s < 2 * sys->contact[i] + 2; ++s) {
            const SideRows* x = &p->nodal->side[s];
            int base = p->body[s] < 0 ? 0 : p->dof_start[p->body[s]];
            for (int j = 0; j < x->count; ++j) {
                m->column[at++] = m->local[base + (x->list == NULL ? x->first + j : x->list[j])];
            }
        }
        m->most = at - m->column_start[i] > m->most ? at - m->column_start[i] : m->most;
    }
    m->column_start[sys->n] = at;
    return true;
}

// Contacts that touch each coordinate, ascending.
typedef struct Touching {
    int *start, *contact;
} Touching;

static bool list_touching(const NodalMatrix* m, Touching* t) {
    Arena* arena = m->run->arena;
    int n = m->run->sys->n;
    t->start = ARENA_NEW(arena, int, (size_t)m->count + 2);
    t->contact = ARENA_NEW(arena, int, m->column_start[n]);
    if (t->start == NULL || t->contact == NULL) {
        return false;
    }
    memset(t->start, 0, ((size_t)m->count + 2) * sizeof *t->start);
    for (int e = 0; e < m->column_start[n]; ++e) {
        ++t->start[m->column[e] + 2];
    }
    for (int j = 0; j < m->count; ++j) {
        t->start[j + 2] += t->start[j + 1];
    }
    for (int i = 0; i < n; ++i) {
        for (int e = m->column_start[i]; e < m->column_start[i + 1]; ++e) {
            t->contact[t->start[m->column[e] + 1]++] = i;
        }
    }
    return true;
}

static bool same_contacts(const Touching* t, int a, int b) {
    int count = t->start[a + 1] - t->start[a];
    return t->start[b + 1] - t->start[b] == count &&
           memcmp(t->contact + t->start[a], t->contact + t->start[b],
                  (size_t)count * sizeof *t->contact) == 0;
}

// Blocks of coordinates; returns how many there are.
static int choose_nodes(NodalMatrix* m, const Touching* t) {
    const System* sys = m->run->sys;
    int nodes = -1;
    for (int k = 0; k < sys->bodies_count; ++k) {
        int body = sys->bodies[k], at = 3; // a body begins a block
        for (int j = sys->problem->dof_start[body]; j < sys->problem->dof_start[body + 1]; ++j) {
            int own = m->local[j];
            bool joins = at < 3 && same_contacts(t, own - 1, own);
            nodes += !joins;
            at = joins ? at : 0;
            m->node[own] = nodes;
            m->offset[own] = at++;
        }
    }
    return nodes + 1;
}

// --- pattern -------------------------------------------------------------------------------------

static bool list_touched(NodalMatrix* m) {
    int n = m->run->sys->n;
    m->touched_start = ARENA_NEW(m->run->arena, int, (size_t)n + 1);
    m->touched = ARENA_NEW(m->run->arena, int, m->column_start[n]);
    m->pair = ARENA_NEW(m->run->arena, size_t, (size_t)n + 1);
    if (m->touched_start == NULL || m->touched == NULL || m->pair == NULL) {
        return false;
    }
    int at = 0;
    size_t pairs = 0;
    for (int i = 0; i < n; ++i) {
        m->touched_start[i] = at;
        for (int e = m->column_start[i]; e < m->column_start[i + 1]; ++e) {
            bool begins =
                e == m->column_start[i] || m->node[m->column[e]] != m->node[m->column[e - 1]];
            if (begins) {
                m->touched[at++] = m->node[m->column[e]];
            }
        }
        size_t own = (size_t)(at - m->touched_start[i]);
        m->pair[i] = pairs;
        pairs += own * own;
    }
    m->touched_start[n] = at;
    m->pair[n] = pairs;
    return true;
}

static int ascending(const void* a, const void* b) {
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// The blocks of row `node`, unsorted, of the coordinates from `first` on; returns how many.
static int neighbours(const NodalMatrix* m, const Touching* t, const int* global, int first,
                      int node, int* seen, int* out) {
    TdlSparseRows a = m->run->sys->problem->nodal->given.a;
    int count = 0;
    for (int j = first; j < m->count && m->node[j] == node; ++j) {
        for (int e = a.start[global[j]]; e < a.start[global[j] + 1]; ++e) {
            int other = m->node[m->local[a.column[e]]];
            if (seen[other] != node) {
                seen[other] = node;
                out[count++] = other;
            }
        }
    }
    // all of a block have the same contacts
    for (int e = t->start[first]; e < t->start[first + 1]; ++e) {
        int i = t->contact[e];
        for (int f = m->touched_start[i]; f < m->touched_start[i + 1]; ++f) {
            int other = m->touched[f];
            if (seen[other] != node) {
                seen[other] = node;
                out[count++] = other;
            }
        }
    }
    qsort(out, (size_t)count, sizeof *out, ascending);
    return count;
}

// Rows of the pattern one after the other, in memory that grows.
static TdlStatus find_rows(NodalMatrix* m, const Touching* t, const int* global, int nodes) {
    Arena* arena = m->run->arena;
    size_t room = 32 * (size_t)nodes, used = 0;
    int* start = ARENA_NEW(arena, int, (size_t)nodes + 1);
    int* seen = ARENA_NEW(arena, int, nodes);
    int* column = ARENA_NEW(arena, int, room);
    if (start == NULL || seen == NULL || column == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(seen, 0xff, (size_t)nodes * sizeof *seen);
    for (int j = 0; j < m->count; ++j) {
        if (m->offset[j] > 0) {
            continue;
        }
        if (used + (size_t)nodes > room) {
            room = 2 * room + (size_t)nodes;
            int* grown = ARENA_NEW(arena, int, room);
            if (grown == NULL) {
                return TDL_STATUS_NO_MEMORY;
            }
            memcpy(grown, column, used * sizeof *column);
            column = grown;
        }
        start[m->node[j]] = (int)used;
        used += (size_t)neighbours(m, t, global, j, m->node[j], seen, column + used);
        if (used > MOST_BLOCKS) {
            return TDL_STATUS_STOPPED;
        }
    }
    start[nodes] = (int)used;
    int* across = ARENA_NEW(arena, int, used);
    if (across == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    m->pattern = (BlockPattern){nodes, 3, start, column, across};
    for (int i = 0; i < nodes; ++i) {
        for (int e = start[i]; e < start[i + 1]; ++e) {
            across[e] = block_pattern_place(&m->pattern, column[e], i);
        }
    }
    return TDL_STATUS_OK;
}

// Where the blocks of each contact are.
static bool place_pairs(NodalMatrix* m) {
    int n = m->run->sys->n;
    m->place = ARENA_NEW(m->run->arena, int, m->pair[n]);
    if (m->place == NULL) {
        return false;
    }
    int* to = m->place;
    for (int i = 0; i < n; ++i) {
        for (int a = m->touched_start[i]; a < m->touched_start[i + 1]; ++a) {
            for (int b = m->touched_start[i]; b < m->touched_start[i + 1]; ++b) {
                *to++ = block_pattern_place(&m->pattern, m->touched[a], m->touched[b]);
            }
        }
    }
    return true;
}

static bool place_numbers(NodalMatrix* m, const int* global) {
    Arena* arena = m->run->arena;
    TdlSparseRows a = m->run->sys->problem->nodal->given.a;
    size_t nodes = (size_t)m->pattern.n, size = 9 * (size_t)m->pattern.start[m->pattern.n];
    m->base = ARENA_NEW(arena, double, size);
    m->blocks = ARENA_NEW(arena, double, size);
    m->whole = ARENA_NEW(arena, Reduced, nodes);
    m->x = ARENA_NEW(arena, double, 3 * nodes);
    if (!m->base || !m->blocks || !m->whole || !m->x) {
        return false;
    }
    memset(m->base, 0, size * sizeof *m->base);
    for (int j = 0; j < m->count; ++j) {
        m->whole[m->node[j]] = (Reduced){m->offset[j] + 1,
                                         {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0},
                                         {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0},
                                         {0}};
        for (int e = a.start[global[j]]; e < a.start[global[j] + 1]; ++e) {
            int other = m->local[a.column[e]];
            int at = block_pattern_place(&m->pattern, m->node[j], m->node[other]);
            m->base[9 * (size_t)at + (size_t)(3 * m->offset[other] + m->offset[j])] = a.value[e];
        }
    }
    return true;
}

TdlStatus nodal_matrix_plan(NodalMatrix* m, Run* run) {
    *m = (NodalMatrix){.run = run};
    const TdlFrictionProblem* p = run->sys->problem;
    Touching t;
    if (!whole_bodies(m) || !list_columns(m) || !list_touching(m, &t)) {
        return TDL_STATUS_NO_MEMORY;
    }
    int* global = ARENA_NEW(run->arena, int, m->count);
    m->node = ARENA_NEW(run->arena, int, m->count);
    m->offset = ARENA_NEW(run->arena, int, m->count);
    if (global == NULL || m->node == NULL || m->offset == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int k = 0; k < run->sys->bodies_count; ++k) {
        int body = run->sys->bodies[k];
        for (int j = p->dof_start[body]; j < p->dof_start[body + 1]; ++j) {
            global[m->local[j]] = j;
        }
    }
    int nodes = choose_nodes(m, &t);
    if (!list_touched(m)) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status = find_rows(m, &t, global, nodes);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (!place_pairs(m) || !place_numbers(m, global)) {
        return TDL_STATUS_NO_MEMORY;
    }
    return front_lu_analyse(&m->lu, run->arena, &m->pattern, m->whole);
}

// --- numbers -------------------------------------------------------------------------------------

// rows <- the d rows of contact i over its columns, one after the other.
static void take_rows(const NodalMatrix* m, int i, int width, double* rows) {
    const System* sys = m->run->sys;
    const Nodal* nodal = sys->problem->nodal;
    int at = 0;
    for (int s = 2 * sys->contact[i]; s < 2 * sys->contact[i] + 2; ++s) {
        const SideRows* x = &nodal->side[s];
        for (int k = 0; k < sys->d; ++k) {
            memcpy(rows + (ptrdiff_t)k * width + at,
                   nodal->given.h + x->h + (size_t)k * (size_t)x->apart,
                   (size_t)x->count * sizeof *rows);
        }
        at += x->count;
    }
}

// out <- the sum over k of x[k] times row k
static inline void combine(int d, int width, const double* restrict rows, const double* x,
                           double* restrict out) {
    const double *r1 = rows + width, *r2 = r1 + width;
    for (int j = 0; j < width; ++j) {
        out[j] = x[0] * rows[j] + x[1] * r1[j] + x[2] * r2[j];
    }
    for (int k = 3; k < d; k += 3) {
        const double *a = rows + (ptrdiff_t)k * width, *b = a + width, *c = b + width;
        for (int j = 0; j < width; ++j) {
            out[j] += x[k] * a[j] + x[k + 1] * b[j] + x[k + 2] * c[j];
        }
    }
}

// Adds H_i' D H_i: column by column of it, each spread over the blocks of its node.
static void add_contact(const NodalMatrix* m, int i, const double* slope, double* rows,
                        double* out) {
    const System* sys = m->run->sys;
    int d = sys->d, first = m->column_start[i], width = m->column_start[i + 1] - first;
    int touched = m->touched_start[i + 1] - m->touched_start[i], column_node = -1;
    const int* place = m->place + m->pair[i];
    take_rows(m, i, width, rows);
    for (int c = 0; c < width; ++c) {
        double y[CONE_MAX] = {0};
        for (int l = 0; l < d; ++l) {
            double h = rows[(ptrdiff_t)l * width + c] / sys->sigma;
            for (int k = 0; k < d; ++k) {
                y[k] += slope[l * d + k] * h;
            }
        }
        combine(d, width, rows, y, out);
        int own = m->column[first + c];
        column_node += c == 0 || m->node[own] != m->node[m->column[first + c - 1]];
        double* to = m->blocks + (ptrdiff_t)3 * m->offset[own];
        for (int r = 0, row_node = -1; r < width; ++r) {
            int row = m->column[first + r];
            row_node += r == 0 || m->node[row] != m->node[m->column[first + r - 1]];
            to[9 * (size_t)place[row_node * touched + column_node] + (size_t)m->offset[row]] +=
                out[r];
        }
    }
}

TdlStatus nodal_matrix_factor(NodalMatrix* m, const double* slope, const bool* idle) {
    Run* run = m->run;
    int n = run->sys->n, d = run->sys->d;
    ArenaMark mark = arena_mark(run->arena);
    double* rows = ARENA_NEW(run->arena, double, (size_t)d*(size_t)m->most);
    double* out = ARENA_NEW(run->arena, double, m->most);
    if (rows == NULL || out == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(m->blocks, m->base, 9 * (size_t)m->pattern.start[m->pattern.n] * sizeof *m->blocks);
    double work = 0.0;
    for (int i = 0; i < n; ++i) {
        if (!idle[i]) {
            double width = m->column_start[i + 1] - m->column_start[i];
            add_contact(m, i, slope + (size_t)i * (size_t)(d * d), rows, out);
            work += d * width * width;
        }
    }
    run_spend(run, work);
    arena_release(run->arena, mark);
    m->lu.stop = run_stop(run);
    return front_lu_factor(&m->lu, m->blocks, run->sys->pool) ? TDL_STATUS_OK : TDL_STATUS_STOPPED;
}

// The system's velocities to and from the right-hand side of the matrix.
static void exchange(const NodalMatrix* m, bool back) {
    const System* sys = m->run->sys;
    const TdlFrictionProblem* p = sys->problem;
    for (int k = 0; k < sys->bodies_count; ++k) {
        for (int j = p->dof_start[sys->bodies[k]]; j < p->dof_start[sys->bodies[k] + 1]; ++j) {
            double* x = &m->x[3 * m->node[m->local[j]] + m->offset[m->local[j]]];
            if (back) {
                sys->v_given[j] = *x;
            } else {
                *x = sys->v_given[j];
            }
        }
    }
}

void nodal_matrix_solve(NodalMatrix* m) {
    exchange(m, false);
    front_lu_solve(&m->lu, m->x);
    exchange(m, true);
}
