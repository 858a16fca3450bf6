// Whether rods that lean on each other stay: the second variation of their energy, less that of the
// contact forces as forces that keep their direction, where contacts that carry do not move.
// inverse-contacts.md (V.66) to (V.69)
//
// What carries sticks strictly inside its cone, and holds three directions each; what does not is
// open. To hold is to be stiff: a million times the compliance that the contact has in the rods. So
// a positive answer is a proof, and a negative one errs by a millionth. The matrix of all rods is
// factored by dense fronts; its least eigenvalue comes by inverse iteration.
#include "inverse/world_inverse.h"

#include "base/log.h"
#include "linalg/node_cholesky.h"
#include "math/dense.h"
#include "math/eigen.h"

#include <stdlib.h>
#include <string.h>

// Stiffness of a contact that holds, over that of the rods at it.
static const double HELD = 1.0e6;
// Rows of a contact that holds: along its axes, and of rolling.
enum { ROWS = 5 };
// A contact carries from this part of the largest force on.
static const double CARRIES = 1.0e-6;
// Nearer to the cone than this part of it a contact slides.
static const double ON_CONE = 1.0e-9;
// Inverse iterations, and the change of the eigenvalue, over 1, at which it is known.
enum { MAX_ITERATIONS = 300 };
static const double KNOWN = 1.0e-8;

// --- which contacts hold ------------------------------------------------------------------------

static double tangential(const double* r) {
    return hypot(r[1], r[2]);
}

static double largest_force(const InverseContacts* c) {
    double most = 0.0;
    for (int i = 0; i < c->count; ++i) {
        most = fmax(most, hypot(c->r[3 * i], tangential(c->r + 3 * i)));
    }
    return most;
}

static bool carries(const InverseContacts* c, int i, double most) {
    return c->r[3 * i] > CARRIES * most;
}

static bool sticks(const InverseContacts* c, int i) {
    return tangential(c->r + 3 * i) < (1.0 - ON_CONE) * c->mu[i] * c->r[3 * i];
}

bool inverse_is_free(const Inverse* v, int side) {
    const Contacts* all = v->world->contacts;
    const TdlContact* contact = &all->found.at[v->contacts.of[side / 2]].site.contact;
    return v->contacts.rod[side] < 0 &&
           seen_body(&all->seen, contact, side % 2)->system->dof_count > 0;
}

// Those that hold, by number.
static int list_holding(Inverse* v, int* holding) {
    InverseContacts* c = &v->contacts;
    double most = largest_force(c);
    int count = 0;
    v->loaded_count = v->sliding_count = v->free_count = 0;
    for (int i = 0; i < c->count; ++i) {
        bool loaded = carries(c, i, most), fast = loaded && sticks(c, i);
        v->loaded_count += loaded;
        v->sliding_count += loaded && !fast;
        v->free_count += loaded && (inverse_is_free(v, 2 * i) || inverse_is_free(v, 2 * i + 1));
        holding[count] = i;
        count += fast;
    }
    return count;
}

// --- the second variation of one rod -------------------------------------------------------------

static int count_sides(const Inverse* v, int k) {
    return v->contacts.start[k + 1] - v->contacts.start[k];
}

// Its own loads, and contact forces as dead ones.
static int gather_loads(const Inverse* v, int k, RodLoad* loads) {
    const InverseContacts* c = &v->contacts;
    const Contacts* all = v->world->contacts;
    const Rod* rod = v->rod[k].rod;
    int count = rod->load_count;
    memcpy(loads, rod->loads, (size_t)count * sizeof *loads);
    for (int e = c->start[k]; e < c->start[k + 1]; ++e) {
        int side = c->own[e];
        const TdlContact* contact = &all->found.at[c->of[side / 2]].site.contact;
        BodyPlace place = seen_place(&all->seen, contact, side % 2);
        TdlVec3 force = tdl_mul33_3(contact->basis, tdl_load3(c->r, side / 2));
        loads[count++] = (RodLoad){.element = place.element,
                                   .s = place.u,
                                   .force = tdl_scale3(side % 2 == 0 ? -1.0 : 1.0, force)};
    }
    return count;
}

// The Hessian of elasticity, gravity and loads, [n n]. (V.66)
static TdlStatus rod_hessian(Inverse* v, int k, double* hessian) {
    const InverseRod* own = &v->rod[k];
    ArenaMark mark = arena_mark(&v->arena);
    Rod twin = *own->rod; // lends its coordinates, keeps its own scratch and loads
    twin.model = own->rod->model->potential != NULL ? own->rod->model : own->rod->model->statics;
    twin.group = NULL;
    size_t work = twin.model->work_count(twin.dof_count, twin.element_count);
    twin.work = ARENA_NEW(&v->arena, double, work + 1);
    twin.loads = ARENA_NEW(&v->arena, RodLoad, own->rod->load_count + count_sides(v, k) + 1);
    if (twin.work == NULL || twin.loads == NULL) {
        arena_release(&v->arena, mark);
        return TDL_STATUS_NO_MEMORY;
    }
    memset(twin.work, 0, work * sizeof *twin.work);
    twin.load_count = gather_loads(v, k, twin.loads);
    twin.stiffness = own->strand.stiffness;
    twin.model->refresh(&twin);
    twin.model->potential(&twin, v->world->def.gravity, NULL, hessian);
    arena_release(&v->arena, mark);
    return TDL_STATUS_OK;
}

// --- one rod beside others that stay ------------------------------------------------------------

// a += s x y', column by column with ld rows
static void add_outer(double s, TdlSpan rows, const double* x, TdlSpan columns, const double* y,
                      int ld, double* a) {
    for (int j = 0; j < columns.count; ++j) {
        double* column = a + (ptrdiff_t)(columns.first + j) * ld + rows.first;
        double scale = s * y[j];
        for (int i = 0; i < rows.count; ++i) {
            column[i] += scale * x[i];
        }
    }
}

// What the contacts that hold add to the block of one rod.
static void hold_rod(const Inverse* v, int k, const double* stiff, double* hessian) {
    const InverseContacts* c = &v->contacts;
    for (int e = c->start[k]; e < c->start[k + 1]; ++e) {
        int a = c->own[e];
        for (int b = a - a % 2; b < a - a % 2 + 2; ++b) {
            for (int axis = 0; axis < ROWS && c->rod[b] == k; ++axis) {
                const double *x = inverse_row(c, a, axis), *y = inverse_row(c, b, axis);
                add_outer(stiff[ROWS * (a / 2) + axis], c->span[a], x, c->span[b], y, v->rod[k].n,
                          hessian);
            }
        }
    }
}

static void transpose(int n, double* a) {
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < j; ++i) {
            double x = a[j * n + i];
            a[j * n + i] = a[i * n + j];
            a[i * n + j] = x;
        }
    }
}

// The smallest eigenvalue of A x = lambda K x, A overwritten; K is positive definite.
static double least_over_elastic(const InverseRod* rod, double* a, double* k, double* scratch) {
    int n = rod->n;
    memset(k, 0, (size_t)n * (size_t)n * sizeof *k);
    for (int j = 0; j < n; ++j) {
        memset(scratch, 0, (size_t)n * sizeof *scratch);
        scratch[j] = 1.0;
        inverse_elastic_add(rod, 1.0, scratch, k + (ptrdiff_t)j * n);
    }
    tdl_cholesky(n, k, n);
    tdl_lower_solve(n, k, n, false, n, a, n);
    transpose(n, a);
    tdl_lower_solve(n, k, n, false, n, a, n);
    return tdl_smallest_eigenvalue(n, a, n, scratch);
}

// Of loads alone over the softest of K. S4's bound. (V.68)
static double bound_of(const InverseRod* rod, const double* hessian, double* a, double* scratch) {
    int n = rod->n;
    memset(scratch, 0, (size_t)n * sizeof *scratch);
    memcpy(a, hessian, (size_t)n * (size_t)n * sizeof *a);
    for (int j = 0; j < n; ++j) {
        scratch[j] = 1.0;
        inverse_elastic_add(rod, -1.0, scratch, a + (ptrdiff_t)j * n);
        scratch[j] = 0.0;
    }
    double load = tdl_smallest_eigenvalue(n, a, n, scratch);
    memset(a, 0, (size_t)n * (size_t)n * sizeof *a);
    memset(scratch, 0, (size_t)n * sizeof *scratch);
    for (int j = 0; j < n; ++j) {
        scratch[j] = 1.0;
        inverse_elastic_add(rod, 1.0, scratch, a + (ptrdiff_t)j * n);
        scratch[j] = 0.0;
    }
    return fmax(0.0, -load / tdl_smallest_eigenvalue(n, a, n, scratch));
}

typedef struct Holding {
    int* contact; // [count] those that hold
    int count;
    double* stiff; // [5 contacts] of each of its rows; 0 of those that do not
} Holding;

// Of a rod that nothing touches, in linear time. The forces of open contacts are none.
static TdlStatus judge_alone(Inverse* v, InverseRod* rod) {
    TdlStability told;
    TdlStatus status =
        tdl_strand_stability(&v->world->host, &rod->strand, v->world->def.gravity, &told);
    if (status == TDL_STATUS_OK) {
        rod->least_factor = told.least_factor;
        rod->bound_factor = told.bound_factor;
        rod->least_eigenvalue = 1.0 - told.least_factor;
    }
    return status;
}

static TdlStatus judge_rod(Inverse* v, int k, const Holding* holding) {
    InverseRod* rod = &v->rod[k];
    if (count_sides(v, k) == 0) {
        return judge_alone(v, rod);
    }
    size_t n = (size_t)rod->n;
    ArenaMark mark = arena_mark(&v->arena);
    double* hessian = ARENA_NEW(&v->arena, double, n* n);
    double* a = ARENA_NEW(&v->arena, double, n* n);
    double* scratch = ARENA_NEW(&v->arena, double, 3 * n);
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (hessian != NULL && a != NULL && scratch != NULL) {
        status = rod_hessian(v, k, hessian);
    }
    if (status == TDL_STATUS_OK) {
        rod->bound_factor = bound_of(rod, hessian, a, scratch);
        hold_rod(v, k, holding->stiff, hessian);
        rod->least_eigenvalue = least_over_elastic(rod, hessian, a, scratch);
        rod->least_factor = fmax(0.0, 1.0 - rod->least_eigenvalue);
    }
    arena_release(&v->arena, mark);
    return status;
}

// --- all rods together --------------------------------------------------------------------------

// A rod beside another, or itself: how many of its blocks, from the first, take part.
typedef struct Beside {
    int rod, other;
    int extent, others; // of its own blocks, and of the other's
} Beside;

// The matrix of all rods, in blocks of three.
typedef struct Whole {
    int blocks;        // of rows
    Beside* beside;    // by rod, then by the other
    int* beside_start; // [rods + 1]
    int *start, *column;
    double* value;
    NodeCholesky factor;
    double *x, *y; // [3 blocks]
} Whole;

static int compare_beside(const void* a, const void* b) {
    const Beside *x = a, *y = b;
    return x->rod != y->rod ? (x->rod > y->rod) - (x->rod < y->rod)
                            : (x->other > y->other) - (x->other < y->other);
}

// Every rod beside itself, and beside those that contacts hold it to, as often as they do.
static int list_beside(const Inverse* v, const Holding* holding, Beside* beside) {
    const InverseContacts* c = &v->contacts;
    int count = 0;
    for (int k = 0; k < v->rod_count; ++k) {
        int own = v->rod[k].place >= 0 ? v->rod[k].n / 3 : 0;
        beside[count] = (Beside){k, k, own, own};
        count += own > 0;
    }
    for (int e = 0; e < holding->count; ++e) {
        int a = 2 * holding->contact[e], b = a + 1;
        for (int turn = 0; turn < 2 && c->rod[a] >= 0 && c->rod[b] >= 0; ++turn) {
            int side = turn == 0 ? a : b, other = turn == 0 ? b : a;
            int end = (c->span[side].first + c->span[side].count + 2) / 3;
            beside[count++] = (Beside){c->rod[side], c->rod[other], end, 0};
        }
    }
    return count;
}

// Sorts them, each pair once and with its largest extent.
static void find_extents(const Inverse* v, Whole* w, int count, int* cursor) {
    int kept = 0;
    qsort(w->beside, (size_t)count, sizeof *w->beside, compare_beside);
    memset(w->beside_start, 0, ((size_t)v->rod_count + 1) * sizeof(int));
    for (int e = 0; e < count; ++e) {
        Beside* last = kept > 0 ? &w->beside[kept - 1] : NULL;
        if (last != NULL && compare_beside(last, &w->beside[e]) == 0) {
            last->extent = w->beside[e].extent > last->extent ? w->beside[e].extent : last->extent;
            continue;
        }
        ++w->beside_start[w->beside[e].rod + 1];
        w->beside[kept++] = w->beside[e];
    }
    for (int k = 0; k < v->rod_count; ++k) {
        w->beside_start[k + 1] += w->beside_start[k];
        cursor[k] = w->beside_start[k];
    }
    // of one and the same other the rods come in the order of its own list
    for (int e = 0; e < kept; ++e) {
        w->beside[e].others = w->beside[cursor[w->beside[e].other]++].extent;
    }
}

// Rows of blocks, and columns where `w->column` is there; returns how many there are.
static size_t lay_out_rows(const Inverse* v, Whole* w) {
    size_t used = 0;
    for (int k = 0; k < v->rod_count; ++k) {
        for (int i = 0; v->rod[k].place >= 0 && i < v->rod[k].n / 3; ++i) {
            w->start[v->rod[k].place / 3 + i] = (int)used;
            for (int e = w->beside_start[k]; e < w->beside_start[k + 1]; ++e) {
                const Beside* x = &w->beside[e];
                for (int j = 0; i < x->extent && j < x->others; ++j, ++used) {
                    if (w->column != NULL) {
                        w->column[used] = v->rod[x->other].place / 3 + j;
                    }
                }
            }
        }
    }
    w->start[w->blocks] = (int)used;
    return used;
}

static double* block_at(const Whole* w, int row, int column) {
    BlockPattern pattern = {w->blocks, 3, w->start, w->column, NULL};
    return w->value + (ptrdiff_t)9 * block_pattern_place(&pattern, row, column);
}

// s x y' where rows of two sides meet: blocks are there.
static void add_pair(const Inverse* v, Whole* w, double s, int a, int b, int axis) {
    const InverseContacts* c = &v->contacts;
    const double *x = inverse_row(c, a, axis), *y = inverse_row(c, b, axis);
    int row = v->rod[c->rod[a]].place + c->span[a].first;
    int column = v->rod[c->rod[b]].place + c->span[b].first;
    for (int i = 0; i < c->span[a].count; ++i) {
        // blocks of one rod follow each other
        double* block = block_at(w, (row + i) / 3, column / 3);
        for (int j = 0; j < c->span[b].count; ++j) {
            int at = column % 3 + j;
            block[9 * (at / 3) + 3 * (at % 3) + (row + i) % 3] += s * x[i] * y[j];
        }
    }
}

static void fill_own(const Inverse* v, Whole* w, int k, double shift, double* hessian,
                     double* unit) {
    const InverseRod* rod = &v->rod[k];
    int n = rod->n;
    memset(unit, 0, (size_t)n * sizeof *unit);
    for (int j = 0; j < n; ++j) {
        unit[j] = 1.0;
        inverse_elastic_add(rod, -shift, unit, hessian + (ptrdiff_t)j * n);
        unit[j] = 0.0;
    }
    for (int i = 0; i < n / 3; ++i) {
        double* block = block_at(w, rod->place / 3 + i, rod->place / 3);
        for (int j = 0; j < n; ++j) {
            memcpy(block + (ptrdiff_t)9 * (j / 3) + 3 * (j % 3), hessian + (ptrdiff_t)j * n + 3 * i,
                   3 * sizeof *block);
        }
    }
}

// A + H'H stiff - shift K, factored; `positive` tells whether it could be.
static TdlStatus factor_whole(Inverse* v, const Holding* holding, double shift, Whole* w,
                              bool* positive) {
    ArenaMark mark = arena_mark(&v->arena);
    size_t most = 0;
    for (int k = 0; k < v->rod_count; ++k) {
        most = (size_t)v->rod[k].n > most ? (size_t)v->rod[k].n : most;
    }
    double* hessian = ARENA_NEW(&v->arena, double, most* most + 1);
    double* unit = ARENA_NEW(&v->arena, double, most + 1);
    TdlStatus status = hessian == NULL || unit == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
    memset(w->value, 0, (size_t)w->start[w->blocks] * 9 * sizeof(double));
    for (int k = 0; k < v->rod_count && status == TDL_STATUS_OK; ++k) {
        if (v->rod[k].place < 0) {
            continue;
        }
        status = world_asked_to_stop(v->world) ? TDL_STATUS_STOPPED : rod_hessian(v, k, hessian);
        if (status == TDL_STATUS_OK) {
            fill_own(v, w, k, shift, hessian, unit);
        }
    }
    const InverseContacts* c = &v->contacts;
    for (int e = 0; e < 4 * holding->count && status == TDL_STATUS_OK; ++e) {
        int first = 2 * holding->contact[e / 4], a = first + e / 2 % 2, b = first + e % 2;
        for (int axis = 0; axis < ROWS && c->rod[a] >= 0 && c->rod[b] >= 0; ++axis) {
            add_pair(v, w, holding->stiff[ROWS * holding->contact[e / 4] + axis], a, b, axis);
        }
    }
    arena_release(&v->arena, mark);
    *positive = status == TDL_STATUS_OK && node_cholesky_factor(&w->factor, w->value);
    return status;
}

// y <- K x
static void apply_elastic(const Inverse* v, const Whole* w, const double* x, double* y) {
    memset(y, 0, 3 * (size_t)w->blocks * sizeof *y);
    for (int k = 0; k < v->rod_count; ++k) {
        int at = v->rod[k].place;
        if (at >= 0) {
            inverse_elastic_add(&v->rod[k], 1.0, x + at, y + at);
        }
    }
}

// The least eigenvalue: the shift and what is nearest to it, which is positive.
static TdlStatus iterate(Inverse* v, Whole* w, double shift) {
    int n = 3 * w->blocks;
    double value = INFINITY;
    for (int i = 0; i < n; ++i) {
        w->x[i] = 1.0 + 0.5 * sin(1.7 * i); // no mode is normal to it but by chance
    }
    for (int step = 0; step < MAX_ITERATIONS; ++step) {
        if (world_asked_to_stop(v->world)) {
            return TDL_STATUS_STOPPED;
        }
        apply_elastic(v, w, w->x, w->y);
        double size = sqrt(tdl_dot(n, w->x, w->y));
        for (int i = 0; i < n; ++i) {
            w->x[i] /= size;
            w->y[i] /= size;
        }
        // x'K M^-1 K x = 1 / (lambda - shift) at an eigenvector
        memcpy(w->x, w->y, (size_t)n * sizeof *w->x);
        node_cholesky_solve(&w->factor, w->x);
        double next = shift + 1.0 / tdl_dot(n, w->x, w->y);
        bool known = fabs(next - value) <= KNOWN * (1.0 + fabs(next));
        value = next;
        if (known) {
            break;
        }
    }
    v->least_eigenvalue = value;
    return TDL_STATUS_OK;
}

static TdlStatus open_whole(Inverse* v, const Holding* holding, Whole* w) {
    size_t rods = (size_t)v->rod_count;
    for (int k = 0; k < v->rod_count; ++k) {
        v->rod[k].place = count_sides(v, k) > 0 ? 3 * w->blocks : -1;
        w->blocks += v->rod[k].place >= 0 ? v->rod[k].n / 3 : 0;
    }
    w->beside = ARENA_NEW(&v->arena, Beside, rods + 2 * (size_t)holding->count + 1);
    w->beside_start = ARENA_NEW(&v->arena, int, rods + 1);
    int* cursor = ARENA_NEW(&v->arena, int, rods + 1);
    w->start = ARENA_NEW(&v->arena, int, w->blocks + 1);
    w->x = ARENA_NEW(&v->arena, double, 3 * (size_t)w->blocks);
    w->y = ARENA_NEW(&v->arena, double, 3 * (size_t)w->blocks);
    if (!w->beside || !w->beside_start || !cursor || !w->start || !w->x || !w->y) {
        return TDL_STATUS_NO_MEMORY;
    }
    find_extents(v, w, list_beside(v, holding, w->beside), cursor);
    size_t count = lay_out_rows(v, w);
    w->column = ARENA_NEW(&v->arena, int, count + 1);
    w->value = ARENA_NEW(&v->arena, double, 9 * count + 4);
    if (w->column == NULL || w->value == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    lay_out_rows(v, w);
    BlockPattern pattern = {w->blocks, 3, w->start, w->column, NULL};
    return node_cholesky_analyse(&w->factor, &v->arena, &pattern);
}

// The least eigenvalue of all. (V.67)
static TdlStatus judge_whole(Inverse* v, const Holding* holding) {
    Whole w = {0};
    TdlStatus status = open_whole(v, holding, &w);
    double shift = 0.0;
    bool positive = false;
    // downwards until it is positive: loads are finite, so it ends
    while (status == TDL_STATUS_OK && !positive && isfinite(shift)) {
        status = factor_whole(v, holding, shift, &w, &positive);
        if (status == TDL_STATUS_OK && positive) {
            status = iterate(v, &w, shift);
        }
        shift = shift == 0.0 ? -1.0 : 4.0 * shift;
    }
    return status;
}

// --- all ----------------------------------------------------------------------------------------

static TdlStatus open_holding(Inverse* v, Holding* holding) {
    int most = 0;
    for (int k = 0; k < v->rod_count; ++k) {
        most = v->rod[k].n > most ? v->rod[k].n : most;
    }
    holding->contact = ARENA_NEW(&v->arena, int, v->contacts.count + 1);
    holding->stiff = ARENA_NEW(&v->arena, double, ROWS*(size_t)v->contacts.count + 1);
    double* whole = ARENA_NEW(&v->arena, double, most + 1);
    if (holding->contact == NULL || holding->stiff == NULL || whole == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    holding->count = list_holding(v, holding->contact);
    memset(holding->stiff, 0, ROWS * (size_t)v->contacts.count * sizeof(double));
    for (int e = 0; e < ROWS * holding->count; ++e) {
        int i = holding->contact[e / ROWS], axis = e % ROWS;
        double soft = axis < 3 ? inverse_compliance(v, i, axis, whole) : 0.0;
        double held = soft > 0.0 ? HELD / soft : 0.0;
        holding->stiff[ROWS * i + axis] = axis < 3 ? held : v->contacts.r[3 * i];
    }
    return inverse_find_rolling(v, holding->contact, holding->count);
}

TdlStatus inverse_judge(Inverse* v) {
    ArenaMark mark = arena_mark(&v->arena);
    Holding holding = {0};
    TdlStatus status = open_holding(v, &holding);
    v->least_eigenvalue = INFINITY;
    for (int k = 0; k < v->rod_count && status == TDL_STATUS_OK; ++k) {
        status = world_asked_to_stop(v->world) ? TDL_STATUS_STOPPED : judge_rod(v, k, &holding);
        v->least_eigenvalue = fmin(v->least_eigenvalue, v->rod[k].least_eigenvalue);
    }
    // between rods nothing is shared where nothing is held
    if (status == TDL_STATUS_OK && holding.count > 0) {
        double alone = v->least_eigenvalue;
        status = judge_whole(v, &holding);
        v->least_eigenvalue = fmin(v->least_eigenvalue, alone);
    }
    v->stable = v->least_eigenvalue > 0.0 && v->sliding_count == 0 && v->free_count == 0;
    arena_release(&v->arena, mark);
    return status;
}
