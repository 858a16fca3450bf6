// S4's nodal form (eq. 3.14) as a solver: sweeps over the nodes of bodies that have their A.
//
// Unknowns are velocities in place of impulses: with y the change of velocities that contacts make,
// in each contact's own basis at its node, A^ y = r where A^ = H^-T A H^-1 is as sparse as A. At a
// node the others leave r_i = A^_ii y_i + c_i: of a free node r_i = 0, of one in contact a problem
// of one contact, solved exactly, which renews the shift of S4's fixed point at every visit. Needs
// contacts that are about one node each, one at a node; others are swept over as they are. The rate
// is that of sweeps over A: good where its stiffness is not far above its mass. friction.md 4.7
#include "friction/error.h"
#include "friction/local.h"
#include "friction/nodal.h"
#include "friction/run.h"

#include <string.h>

// Sweeps between two looks at the error, which costs about one.
enum { MEASURE_EVERY = 5 };
// The error over nodes, in parts of the target, from which on impulses are measured by the caller's
// map; less after each time that they were not good enough.
static const double OFFER_BELOW = 1.0, LESS = 0.3;
// Over-relaxation of free nodes at most.
static const double MOST_OMEGA = 1.95;

typedef struct Primal {
    Run* run;
    int first, count;    // nodes of the island's bodies: a span of those of all
    int* contact;        // [count] of the island at a node; -1: none
    double *map, *back;  // [9 n] H_i and its inverse, by columns
    int *start, *column; // A^ by rows of nodes
    double* blocks;      // [9 start[count]] by columns
    double *inverse, *prep;
    double *y, *r, *u; // [3 count], [3 n], [3 n]
    double omega;
} Primal;

// --- which node --------------------------------------------------------------------------------

// The node that a side moves; -1: none, -2: several, or coordinates that are no nodes.
static int node_of(const TdlFrictionProblem* p, int side, double* map) {
    const SideRows* rows = &p->nodal->side[side];
    const double* h = p->nodal->given.h + rows->h;
    int found = -1;
    if (p->body[side] < 0) {
        return -1;
    }
    for (int j = 0; j < rows->count; ++j) {
        int at = p->dof_start[p->body[side]] + (rows->list ? rows->list[j] : rows->first + j);
        for (int k = 0; k < 3; ++k) {
            double entry = h[(ptrdiff_t)k * rows->apart + j];
            if (entry != 0.0 && found >= 0 && found != at / 3) {
                return -2;
            }
            found = entry != 0.0 ? at / 3 : found;
            map[3 * (at % 3) + k] = entry != 0.0 ? entry : map[3 * (at % 3) + k];
        }
    }
    return found;
}

// The node of a contact and H there; -1: it is not about one alone.
static int contact_node(const TdlFrictionProblem* p, int contact, double* map) {
    memset(map, 0, 9 * sizeof *map);
    int a = node_of(p, 2 * contact, map), b = a == -2 ? -2 : node_of(p, 2 * contact + 1, map);
    return a == -2 || b == -2 || (a >= 0) == (b >= 0) ? -1 : a >= 0 ? a : b;
}

// out <- m^-1, by columns; false: it has none.
static bool invert(const double* m, double* out) {
    double c0 = m[4] * m[8] - m[5] * m[7], c1 = m[7] * m[2] - m[1] * m[8];
    double c2 = m[1] * m[5] - m[4] * m[2], det = m[0] * c0 + m[3] * c1 + m[6] * c2;
    double size = 0.0;
    for (int k = 0; k < 9; ++k) {
        size = fmax(size, fabs(m[k]));
    }
    if (!(fabs(det) > 1.0e-9 * size * size * size)) { // far from what a basis has
        return false;
    }
    const double adj[9] = {c0,
                           c1,
                           c2,
                           m[6] * m[5] - m[3] * m[8],
                           m[0] * m[8] - m[6] * m[2],
                           m[3] * m[2] - m[0] * m[5],
                           m[3] * m[7] - m[6] * m[4],
                           m[6] * m[1] - m[0] * m[7],
                           m[0] * m[4] - m[3] * m[1]};
    for (int k = 0; k < 9; ++k) {
        out[k] = adj[k] / det;
    }
    return true;
}

static bool has_nodes(const Run* run) {
    const System* sys = run->sys;
    if (sys->v_given == NULL || sys->d != 3 || sys->problem->nodal == NULL) {
        return false;
    }
    for (int k = 0; k < sys->bodies_count; ++k) {
        const int* start = sys->problem->dof_start + sys->bodies[k];
        if (start[0] % 3 != 0 || start[1] % 3 != 0) {
            return false;
        }
    }
    return true;
}

bool primal_fits(const Run* run) {
    const System* sys = run->sys;
    double map[9], back[9];
    for (int i = 0; i < sys->n; ++i) {
        if ((i == 0 && !has_nodes(run)) || contact_node(sys->problem, sys->contact[i], map) < 0 ||
            !invert(map, back)) {
            return false;
        }
    }
    return true;
}

double primal_stiffness(const Run* run) {
    const System* sys = run->sys;
    double most = 0.0;
    if (!primal_fits(run)) {
        return INFINITY;
    }
    TdlSparseRows a = sys->problem->nodal->given.a;
    for (int b = 0; b < sys->bodies_count; ++b) {
        const int* dof = sys->problem->dof_start + sys->bodies[b];
        for (int i = dof[0]; i < dof[1]; ++i) {
            double own = 0.0, sum = 0.0;
            for (int e = a.start[i]; e < a.start[i + 1]; ++e) {
                own += a.column[e] == i ? a.value[e] : 0.0;
                sum += a.column[e] % 3 == i % 3 ? a.value[e] : 0.0;
            }
            most = fmax(most, sum > 0.0 ? own / sum : INFINITY);
        }
    }
    return most;
}

// --- the matrix --------------------------------------------------------------------------------

// out <- back_i' block back_j; null: 1.
static void turn_block(const double* left, const double* block, const double* right, double* out) {
    double half[9];
    for (int c = 0; c < 3; ++c) {
        for (int r = 0; r < 3; ++r) {
            double sum = 0.0;
            for (int k = 0; k < 3; ++k) {
                sum += right == NULL ? (k == c ? block[3 * k + r] : 0.0)
                                     : block[3 * k + r] * right[3 * c + k];
            }
            half[3 * c + r] = sum;
        }
    }
    for (int c = 0; c < 3; ++c) {
        for (int r = 0; r < 3; ++r) {
            out[3 * c + r] = half[3 * c + r];
            if (left != NULL) {
                out[3 * c + r] = left[3 * r] * half[3 * c] + left[3 * r + 1] * half[3 * c + 1] +
                                 left[3 * r + 2] * half[3 * c + 2];
            }
        }
    }
}

// Blocks of the row of a node, as A has them; returns how many.
static int gather_row(const Primal* s, int node, int* seen, int* column, double* blocks) {
    TdlSparseRows a = s->run->sys->problem->nodal->given.a;
    int count = 0;
    for (int k = 0; k < 3; ++k) {
        int row = 3 * (s->first + node) + k;
        for (int e = a.start[row]; e < a.start[row + 1]; ++e) {
            int other = a.column[e] / 3 - s->first;
            if (seen[other] < 0) {
                seen[other] = count;
                column[count] = other;
                memset(blocks + (ptrdiff_t)9 * count++, 0, 9 * sizeof *blocks);
            }
            blocks[9 * (ptrdiff_t)seen[other] + 3 * (a.column[e] % 3) + k] = a.value[e];
        }
    }
    for (int e = 0; e < count; ++e) {
        seen[column[e]] = -1;
    }
    return count;
}

static const double* back_of(const Primal* s, int node) {
    return s->contact[node] < 0 ? NULL : s->back + (ptrdiff_t)9 * s->contact[node];
}

// A^ in the system's units, and what a visit of a node needs. TDL_STATUS_STOPPED: a block of its
// diagonal has no inverse.
static TdlStatus make_rows(Primal* s) {
    const System* sys = s->run->sys;
    Arena* arena = s->run->arena;
    TdlSparseRows a = sys->problem->nodal->given.a;
    size_t most = (size_t)(a.start[3 * (s->first + s->count)] - a.start[3 * s->first]);
    int* seen = ARENA_NEW(arena, int, s->count);
    s->column = ARENA_NEW(arena, int, most);
    s->blocks = ARENA_NEW(arena, double, 9 * most);
    if (seen == NULL || s->column == NULL || s->blocks == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(seen, 0xff, (size_t)s->count * sizeof *seen);
    double slack = 1.0; // the least of mass over stiffness
    int used = 0;
    for (int i = 0; i < s->count; ++i) {
        s->start[i] = used;
        int count = gather_row(s, i, seen, s->column + used, s->blocks + (ptrdiff_t)9 * used);
        double own = 0.0, sum = 0.0;
        for (int e = used; e < used + count; ++e) {
            double *block = s->blocks + (ptrdiff_t)9 * e, turned[9];
            own += s->column[e] == i ? block[0] + block[4] + block[8] : 0.0;
            sum += block[0] + block[4] + block[8];
            turn_block(back_of(s, i), block, back_of(s, s->column[e]), turned);
            for (int k = 0; k < 9; ++k) {
                block[k] = sys->sigma * turned[k];
            }
            if (s->column[e] == i && !invert(block, s->inverse + (ptrdiff_t)9 * i)) {
                return TDL_STATUS_STOPPED;
            }
        }
        slack = fmin(slack, fmax(sum / own, 0.0));
        local_prepare(3, s->inverse + (ptrdiff_t)9 * i, s->prep + (ptrdiff_t)prep_size(3) * i);
        used += count;
    }
    s->start[s->count] = used;
    double jacobi = 1.0 - slack; // about its rate
    s->omega = fmin(MOST_OMEGA, 2.0 / (1.0 + sqrt(fmax(1.0 - jacobi * jacobi, 0.0))));
    return TDL_STATUS_OK;
}

// --- making it ---------------------------------------------------------------------------------

// The span of nodes of the island's bodies, and contacts at them; false: two at one.
static bool place_contacts(Primal* s) {
    const System* sys = s->run->sys;
    for (int i = 0; i < s->count; ++i) {
        s->contact[i] = -1;
    }
    for (int i = 0; i < sys->n; ++i) {
        double* map = s->map + (ptrdiff_t)9 * i;
        int node = contact_node(sys->problem, sys->contact[i], map) - s->first;
        if (s->contact[node] >= 0) {
            return false;
        }
        invert(map, s->back + (ptrdiff_t)9 * i);
        s->contact[node] = i;
    }
    return true;
}

// TDL_STATUS_STOPPED: two contacts at a node, or A has no blocks of its own.
static TdlStatus primal_init(Primal* s, Run* run) {
    const System* sys = run->sys;
    const int* dof_start = sys->problem->dof_start;
    Arena* arena = run->arena;
    *s = (Primal){.run = run, .first = dof_start[sys->bodies[0]] / 3};
    s->count = dof_start[sys->bodies[sys->bodies_count - 1] + 1] / 3 - s->first;
    size_t count = (size_t)s->count, n = (size_t)sys->n;
    s->contact = ARENA_NEW(arena, int, count);
    s->start = ARENA_NEW(arena, int, count + 1);
    s->map = ARENA_NEW(arena, double, 9 * n);
    s->back = ARENA_NEW(arena, double, 9 * n);
    s->inverse = ARENA_NEW(arena, double, 9 * count);
    s->prep = ARENA_NEW(arena, double, (size_t)prep_size(3) * count);
    s->y = ARENA_NEW(arena, double, 3 * count);
    s->r = ARENA_NEW(arena, double, 3 * n);
    s->u = ARENA_NEW(arena, double, 3 * n);
    if (!s->contact || !s->start || !s->map || !s->back || !s->inverse || !s->prep || !s->y ||
        !s->r || !s->u) {
        return TDL_STATUS_NO_MEMORY;
    }
    return place_contacts(s) ? make_rows(s) : TDL_STATUS_STOPPED;
}

// y of the impulses so far: A^-1 H' r, turned.
static void take_best(Primal* s) {
    System* sys = s->run->sys;
    memcpy(s->r, s->run->best, run_size(s->run) * sizeof(double));
    memset(s->y, 0, 3 * (size_t)s->count * sizeof *s->y);
    bool some = false;
    for (size_t k = 0; k < run_size(s->run) && !some; ++k) {
        some = s->r[k] != 0.0;
    }
    if (!some) {
        return;
    }
    system_refresh_bodies(sys, s->r); // z = C^-1 H' r
    for (int b = 0; b < sys->bodies_count; ++b) {
        nodal_velocity(sys->problem, sys->bodies[b], sys->v, sys->v_given);
    }
    for (int i = 0; i < s->count; ++i) {
        const double* v = sys->v_given + 3 * (ptrdiff_t)(s->first + i);
        const double* map = s->contact[i] < 0 ? NULL : s->map + (ptrdiff_t)9 * s->contact[i];
        for (int k = 0; k < 3; ++k) {
            s->y[3 * i + k] =
                map == NULL ? v[k] : map[k] * v[0] + map[3 + k] * v[1] + map[6 + k] * v[2];
        }
    }
}

// --- sweeps ------------------------------------------------------------------------------------

// out <- (A^ y)_i
static void node_impulse(const Primal* s, int i, double* out) {
    double sum[3] = {0};
    for (int e = s->start[i]; e < s->start[i + 1]; ++e) {
        const double *a = s->blocks + (ptrdiff_t)9 * e, *y = s->y + (ptrdiff_t)3 * s->column[e];
        for (int k = 0; k < 3; ++k) {
            sum[k] += a[k] * y[0] + a[3 + k] * y[1] + a[6 + k] * y[2];
        }
    }
    memcpy(out, sum, sizeof sum);
}

static void apply3(const double* m, const double* x, double* out) {
    for (int k = 0; k < 3; ++k) {
        out[k] = m[k] * x[0] + m[3 + k] * x[1] + m[6 + k] * x[2];
    }
}

static void visit(Primal* s, int i) {
    const System* sys = s->run->sys;
    const double* inverse = s->inverse + (ptrdiff_t)9 * i;
    double now[3], step[3], b[3], *y = s->y + (ptrdiff_t)3 * i;
    node_impulse(s, i, now);
    apply3(inverse, now, step);
    int at = s->contact[i];
    if (at < 0) {
        for (int k = 0; k < 3; ++k) {
            y[k] -= s->omega * step[k];
        }
        return;
    }
    for (int k = 0; k < 3; ++k) {
        y[k] -= step[k]; // what it is without an impulse
        b[k] = sys->b[3 * at + k] + y[k];
    }
    double* r = s->r + (ptrdiff_t)3 * at;
    LocalResult found =
        local_secular3(s->prep + (ptrdiff_t)prep_size(3) * i, sys->law[at], sys->mu[at], b, r);
    s->run->unsolvable += found == LOCAL_NONE;
    apply3(inverse, r, step);
    for (int k = 0; k < 3; ++k) {
        y[k] += step[k];
    }
}

// The caller's map at the nodes' velocities, and what free nodes lack as changes of theirs.
static double node_error(const Primal* s) {
    const System* sys = s->run->sys;
    double sum = 0.0;
    for (int i = 0; i < s->count; ++i) {
        double now[3], f[3], u[3];
        int at = s->contact[i];
        node_impulse(s, i, now);
        if (at < 0) {
            apply3(s->inverse + (ptrdiff_t)9 * i, now, f);
        } else {
            for (int k = 0; k < 3; ++k) {
                u[k] = sys->b[3 * at + k] + s->y[3 * i + k];
            }
            error_map(sys->error_kind, 3, sys->law[at], sys->mu[at], sys->rho, u, now, f);
        }
        sum += f[0] * f[0] + f[1] * f[1] + f[2] * f[2];
    }
    return sqrt(sum);
}

static void sweep(Primal* s) {
    double below = OFFER_BELOW;
    int limit = s->run->iterations + s->run->limit;
    double work = 9.0 * s->start[s->count] + 60.0 * s->count;
    System* sys = s->run->sys;
    for (int k = 1; s->run->iterations < limit && !run_done(s->run) && !run_spent(s->run, work);
         ++k) {
        for (int i = 0; i < s->count; ++i) {
            visit(s, i);
        }
        run_spend(s->run, work);
        run_count(s->run, TDL_FRICTION_NODAL, s->r);
        bool last = s->run->iterations == limit;
        if ((k % MEASURE_EVERY == 0 && node_error(s) <= below * sys->target) || last) {
            system_velocity(sys, s->r, s->u);
            run_spend(s->run, system_product_work(sys));
            run_offer(s->run, s->u, s->r);
            below *= LESS;
        }
    }
}

TdlStatus run_nodal(Run* run) {
    if (!primal_fits(run)) {
        return run_gauss_seidel(run);
    }
    ArenaMark mark = arena_mark(run->arena);
    Primal s;
    TdlStatus status = primal_init(&s, run);
    if (status == TDL_STATUS_OK) {
        take_best(&s);
        sweep(&s);
    }
    arena_release(run->arena, mark);
    return status == TDL_STATUS_STOPPED ? run_gauss_seidel(run) : status;
}
