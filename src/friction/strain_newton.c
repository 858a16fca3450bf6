// Rows of strain as contacts of one body: its coordinates are those of nodes, then of the other
// bodies, then in space three for each contact that nothing else is about.
//
// These make contacts of three components ones of six without another solution: there u = r in the
// three, and no law of friction has such an answer but zero. (A.60) The friction room scales,
// splits into islands and chooses among interior points and proximal steps, and factors over nodes.
#include "friction/strain_newton.h"

#include "friction/problem.h"
#include "friction/solver.h"

#include <stdlib.h>
#include <string.h>

// Multiplications of the largest problem: some seconds.
static const double MOST_WORK = 1.0e10;
// Iterations of each of the room's solvers; its budget ends it before.
enum { ITERATIONS = 2000 };
// Steps that a solve takes in all as a rule, and multiplications of one for each row of 9 or 27
// nodes and for the factor: times a power of the coordinates, 3/2 in the plane and 5/2 in space,
// which holds for slabs of 150 to 2500 and of 200 to 900 rows within a factor of 2.
static const double STEPS = 20.0, EACH_ROW = 2.0e4, PLANE = 200.0, SPACE = 5.0;
// Of the tolerance, so that the error recomputed here is within it, too.
static const double SAFE = 0.9;

static bool asked_to_stop(void* user) {
    const StrainAim* aim = ((StrainNewton*)user)->aim;
    return aim != NULL && aim->stop != NULL && aim->stop(aim->stop_user);
}

TdlStatus strain_newton_create(StrainNewton* newton, const TdlHost* host, Pool* pool) {
    TdlFrictionOptions options = tdl_friction_options_default();
    options.max_iterations = ITERATIONS;
    options.stop = asked_to_stop;
    options.stop_user = newton;
    TdlStatus status = friction_solver_create_lent(host, &options, pool, &newton->near);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    options.solver = TDL_FRICTION_INTERIOR;
    return friction_solver_create_lent(host, &options, pool, &newton->far);
}

void strain_newton_destroy(StrainNewton* newton) {
    tdl_friction_solver_destroy(newton->near);
    tdl_friction_solver_destroy(newton->far);
}

static bool whitened(const StrainSystem* s) {
    for (int side = 0; side < 2 * s->contacts; ++side) {
        const StrainSide* x = &s->side[side];
        if (x->h != NULL && (x->y_count > 0 || x->y == NULL)) {
            return false;
        }
        for (int k = 0; x->h != x->y && k < 3 * x->count; ++k) {
            if (x->h[k] != x->y[k]) {
                return false;
            }
        }
    }
    return true;
}

double strain_newton_work(const StrainSystem* s) {
    if (s->n == 0 || !whitened(s)) {
        return INFINITY;
    }
    bool plane = s->rows.dimension == 2;
    double m = s->rows.dimension * (double)s->nodes, part = s->rows.near / (plane ? 9.0 : 27.0);
    double factor = plane ? PLANE * m * sqrt(m) : SPACE * m * m * sqrt(m);
    double work = STEPS * part * (EACH_ROW * s->n + factor);
    return work < MOST_WORK ? work : INFINITY;
}

// --- the body ------------------------------------------------------------------------------------

typedef struct Embedding {
    const StrainSystem* s;
    int d, n, m;      // components, contacts, coordinates
    int* across;      // [nodes] in the plane the third coordinate of nodes in contact; else -1
    int other, spare; // first coordinates of other bodies, and of nothing
    int* body;        // [2 n]
    TdlSpan* span;    // [2 n]
    const int** list; // [2 n]
    double *h, *u_free, *mu, *velocity, *value;
    unsigned char* bilateral;
    int* start;  // [m + 1] of A, and its columns
    int* column; // [room]
    size_t used; // of column and, times d, of h
} Embedding;

static int dimension_of(const Embedding* e) {
    return e->s->rows.dimension;
}

// Coordinate `a` (0 to 2 along x, y, z) of a node.
static int coordinate_of(const Embedding* e, int node, int a) {
    if (dimension_of(e) == 3) {
        return 3 * node + a;
    }
    return a == 1 ? e->across[node] : 2 * node + (a == 2);
}

static void count_coordinates(Embedding* e) {
    const StrainSystem* s = e->s;
    int m = dimension_of(e) * s->nodes;
    for (int i = 0; i < s->nodes; ++i) {
        e->across[i] = -1;
    }
    for (int c = 0; c < s->contacts && dimension_of(e) == 2 && s->problem->node != NULL; ++c) {
        int node = s->problem->node[c];
        if (node >= 0 && e->across[node] < 0) {
            e->across[node] = m++;
        }
    }
    e->other = m;
    e->spare = m + s->dofs;
    e->m = e->spare + (e->d == 6 ? 3 * s->contacts : 0);
}

// A value of a row about one coordinate.
typedef struct Entry {
    int coordinate;
    double row[6];
} Entry;

static int by_coordinate(const void* a, const void* b) {
    const Entry *x = a, *y = b;
    return (x->coordinate > y->coordinate) - (x->coordinate < y->coordinate);
}

// Adds a contact with these entries, which are sorted, and merged where they are about the same.
static void add_contact(Embedding* e, Entry* entry, int count, double mu, bool bilateral,
                        const double* u_free) {
    int i = e->n++, d = e->d, *list = e->column + e->used, kept = 0;
    qsort(entry, (size_t)count, sizeof *entry, by_coordinate);
    for (int k = 0; k < count; ++k) {
        if (kept > 0 && entry[kept - 1].coordinate == entry[k].coordinate) {
            for (int a = 0; a < d; ++a) {
                entry[kept - 1].row[a] += entry[k].row[a];
            }
        } else {
            entry[kept++] = entry[k];
        }
    }
    double* h = e->h + (size_t)d * e->used;
    for (int k = 0; k < kept; ++k) {
        list[k] = entry[k].coordinate;
        for (int a = 0; a < d; ++a) {
            h[a * kept + k] = entry[k].row[a];
        }
    }
    e->used += (size_t)kept;
    e->body[2 * i] = 0;
    e->body[2 * i + 1] = -1;
    e->span[2 * i] = (TdlSpan){0, kept};
    e->span[2 * i + 1] = (TdlSpan){0};
    e->list[2 * i] = list;
    e->list[2 * i + 1] = NULL;
    e->mu[i] = mu;
    e->bilateral[i] = bilateral;
    memcpy(e->u_free + (ptrdiff_t)d * i, u_free, (size_t)d * sizeof *u_free);
}

static void add_row(Embedding* e, int j, Entry* entry) {
    const StrainSystem* s = e->s;
    int dim = dimension_of(e), near = s->rows.near, count = 0;
    double u_free[6] = {s->row_unit * s->rows.bias[j]};
    for (int k = 0; k < near; ++k) {
        int node = s->rows.node[(ptrdiff_t)j * near + k];
        const double* g = s->rows.g + ((ptrdiff_t)j * near + k) * dim;
        for (int a = 0; node >= 0 && a < dim; ++a) {
            Entry* to = &entry[count++];
            to->coordinate = coordinate_of(e, node, dim == 2 && a == 1 ? 2 : a);
            strain_row_of(dim, a, g, to->row);
            for (int b = 0; b < e->d; ++b) {
                to->row[b] *= s->row_unit;
            }
        }
    }
    add_contact(e, entry, count, s->rows.mu[j], false, u_free);
}

static int node_entries(const Embedding* e, int c, Entry* entry) {
    const StrainSystem* s = e->s;
    int node = s->problem->node == NULL ? -1 : s->problem->node[c];
    if (node < 0) {
        return 0;
    }
    const TdlMat3* basis = &s->problem->basis[c];
    const double row[3][3] = {{basis->cx.x, basis->cy.x, basis->cz.x},
                              {basis->cx.y, basis->cy.y, basis->cz.y},
                              {basis->cx.z, basis->cy.z, basis->cz.z}};
    for (int a = 0; a < 3; ++a) {
        entry[a] = (Entry){.coordinate = coordinate_of(e, node, a)};
        for (int k = 0; k < 3; ++k) {
            entry[a].row[k] = -s->contact_unit * row[a][k];
        }
    }
    return 3;
}

static int side_entries(const Embedding* e, const StrainSide* x, Entry* entry) {
    int base = e->other + (int)(x->z - e->s->z);
    for (int j = 0; j < x->count; ++j) {
        entry[j] = (Entry){.coordinate = base + (x->list == NULL ? x->first + j : x->list[j])};
        for (int k = 0; k < 3; ++k) {
            entry[j].row[k] = e->s->contact_unit * x->h[k * x->count + j];
        }
    }
    return x->count;
}

static void add_other(Embedding* e, int c, Entry* entry) {
    const StrainSystem* s = e->s;
    int count = node_entries(e, c, entry);
    for (int side = 2 * c; side < 2 * c + 2; ++side) {
        count += s->side[side].h == NULL ? 0 : side_entries(e, &s->side[side], entry + count);
    }
    for (int k = 0; k < 3 && e->d == 6; ++k) {
        entry[count] = (Entry){.coordinate = e->spare + 3 * c + k};
        entry[count++].row[3 + k] = 1.0;
    }
    double u_free[6] = {s->q[3 * c], s->q[3 * c + 1], s->q[3 * c + 2]};
    add_contact(e, entry, count, s->problem->contacts.laws.mu[c], s->law[c] == LAW_BILATERAL,
                u_free);
}

// A and the velocity without impulses.
static void add_masses(Embedding* e) {
    const StrainSystem* s = e->s;
    for (int k = 0; k <= e->m; ++k) {
        e->start[k] = k;
    }
    for (int k = e->other; k < e->m; ++k) {
        e->value[k] = k < e->spare ? 1.0 / s->problem->unit : 1.0;
        e->velocity[k] = 0.0;
    }
    for (int i = 0; i < s->nodes; ++i) {
        for (int a = 0; a < 3; ++a) {
            int k = coordinate_of(e, i, a);
            if (k >= 0) {
                e->value[k] = s->problem->bed->mass[i];
                e->velocity[k] = s->problem->v[3 * i + a];
            }
        }
    }
}

// --- making and solving it -----------------------------------------------------------------------

// Entries of all rows, and those of the longest.
static size_t entry_room(const Embedding* e, int* longest) {
    const StrainSystem* s = e->s;
    int row = s->rows.near * dimension_of(e);
    size_t room = (size_t)s->n * (size_t)row;
    *longest = row;
    for (int c = 0; c < s->contacts; ++c) {
        int count = 6 + s->side[2 * c].count + s->side[2 * c + 1].count;
        room += (size_t)count;
        *longest = count > *longest ? count : *longest;
    }
    return room;
}

static TdlStatus embed(Embedding* e, Arena* arena) {
    const StrainSystem* s = e->s;
    int longest;
    size_t room = entry_room(e, &longest), n = (size_t)(s->n + s->contacts);
    e->across = ARENA_NEW(arena, int, s->nodes);
    if (e->across == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    count_coordinates(e);
    size_t m = (size_t)e->m;
    Entry* entry = ARENA_NEW(arena, Entry, longest);
    e->body = ARENA_NEW(arena, int, 2 * n);
    e->span = ARENA_NEW(arena, TdlSpan, 2 * n);
    e->list = ARENA_NEW(arena, const int*, 2 * n);
    e->h = ARENA_NEW(arena, double, (size_t)e->d* room);
    e->u_free = ARENA_NEW(arena, double, (size_t)e->d* n);
    e->mu = ARENA_NEW(arena, double, n);
    e->bilateral = ARENA_NEW(arena, unsigned char, n);
    e->velocity = ARENA_NEW(arena, double, m);
    e->value = ARENA_NEW(arena, double, m);
    e->start = ARENA_NEW(arena, int, m + 1);
    e->column = ARENA_NEW(arena, int, room);
    if (!entry || !e->body || !e->span || !e->list || !e->h || !e->u_free || !e->mu ||
        !e->bilateral || !e->velocity || !e->value || !e->start || !e->column) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int j = 0; j < s->n; ++j) {
        add_row(e, j, entry);
    }
    for (int c = 0; c < s->contacts; ++c) {
        add_other(e, c, entry);
    }
    add_masses(e);
    return TDL_STATUS_OK;
}

// Contacts with their six components, or back from these.
static void spread(const Embedding* e, const double* r, double* wide) {
    const StrainSystem* s = e->s;
    size_t rows = (size_t)e->d * (size_t)s->n;
    memcpy(wide, r, rows * sizeof *r);
    for (int c = 0; c < s->contacts; ++c) {
        double* to = wide + rows + (ptrdiff_t)e->d * c;
        memset(to, 0, (size_t)e->d * sizeof *to);
        memcpy(to, r + rows + (ptrdiff_t)3 * c, 3 * sizeof *r);
    }
}

static void gather(const Embedding* e, const double* wide, double* r) {
    const StrainSystem* s = e->s;
    size_t rows = (size_t)e->d * (size_t)s->n;
    memcpy(r, wide, rows * sizeof *r);
    for (int c = 0; c < s->contacts; ++c) {
        memcpy(r + rows + (ptrdiff_t)3 * c, wide + rows + (ptrdiff_t)e->d * c, 3 * sizeof *r);
    }
}

static TdlStatus create_problem(const Embedding* e, const TdlHost* host, Arena* arena,
                                TdlFrictionProblem** out) {
    int *dof_start = ARENA_NEW(arena, int, 2), *diagonal = ARENA_NEW(arena, int, e->m);
    if (dof_start == NULL || diagonal == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    dof_start[0] = 0;
    dof_start[1] = e->m;
    for (int k = 0; k < e->m; ++k) {
        diagonal[k] = k;
    }
    TdlFrictionBodiesDef def = {
        .laws = {.block_size = e->d, .contact_count = e->n, .mu = e->mu, .bilateral = e->bilateral},
        .body_count = 1,
        .dof_start = dof_start,
        .velocity = e->velocity,
        .u_free = e->u_free,
        .body = e->body,
        .span = e->span,
        .list = e->list,
        .h = e->h,
        .a = {e->start, diagonal, e->value},
    };
    return tdl_friction_problem_create_bodies(host, &def, out);
}

TdlStatus strain_newton_solve(TdlFrictionSolver* solver, const StrainSystem* s, Arena* arena,
                              const TdlHost* host, double tolerance, double budget, double* r,
                              TdlFrictionInfo* info) {
    ArenaMark mark = arena_mark(arena);
    Embedding e = {.s = s, .d = s->d};
    TdlFrictionProblem* problem = NULL;
    TdlStatus status = embed(&e, arena);
    double* wide = ARENA_NEW(arena, double, (size_t)e.d*(size_t)(s->n + s->contacts));
    if (status == TDL_STATUS_OK) {
        status = wide == NULL ? TDL_STATUS_NO_MEMORY : create_problem(&e, host, arena, &problem);
    }
    if (status == TDL_STATUS_OK) {
        spread(&e, r, wide);
        friction_solver_set_tolerance(solver, SAFE * tolerance);
        friction_solver_set_budget(solver, budget);
        status = tdl_friction_solver_solve(solver, problem, wide, NULL, info);
        gather(&e, wide, r);
    }
    tdl_friction_problem_destroy(problem);
    arena_release(arena, mark);
    return status;
}
