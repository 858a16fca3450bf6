// Problems in velocity space: rows of H and of Y' = (A^-1 H')' by contact and side, and what goes
// through the bodies without forming W.
#include "friction/listed.h"
#include "friction/nodal.h"

#include "base/log.h"
#include "base/memory.h"

#include <string.h>

// Whether a side's list has rising coordinates of its body.
static bool list_is_good(const int* list, int count, int m) {
    for (int j = 0; j < count; ++j) {
        if (list[j] < (j == 0 ? 0 : list[j - 1] + 1) || list[j] >= m) {
            return false;
        }
    }
    return true;
}

static TdlStatus check_bodies(const TdlHost* host, const TdlFrictionBodiesDef* def) {
    if ((def->list != NULL || def->y_like_h) && def->span == NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "lists of coordinates, and rows of Y like those of H, go with spans");
    }
    for (int k = 0; k < def->body_count; ++k) {
        if (def->dof_start[k + 1] < def->dof_start[k]) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "body %d has negative size", k);
        }
    }
    for (int i = 0; i < 2 * def->laws.contact_count; ++i) {
        if (def->body[i] < -1 || def->body[i] >= def->body_count) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "contact %d: body %d is outside 0 to %d",
                            i / 2, def->body[i], def->body_count - 1);
        }
        int m =
            def->body[i] < 0 ? 0 : def->dof_start[def->body[i] + 1] - def->dof_start[def->body[i]];
        TdlSpan span = def->span == NULL ? (TdlSpan){0, m} : def->span[i];
        const int* list = def->list == NULL ? NULL : def->list[i];
        if (span.count < 0 || span.first < 0 || span.first > m - span.count ||
            (list != NULL && (span.first != 0 || !list_is_good(list, span.count, m)))) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                            "contact %d: rows are about coordinates that body %d does not have",
                            i / 2, def->body[i]);
        }
    }
    if (def->y_like_h && def->y == NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "rows of Y like those of H are to be given");
    }
    int ways = (def->y != NULL) + (def->solve != NULL && def->y == NULL) + (def->a.start != NULL);
    if (ways != 1) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "one of y, a solve and A is to be given");
    }
    return TDL_STATUS_OK;
}

// A place of a rod feels few of its coordinates: two nodes, or the elements before it.
static void trim_rows(const TdlFrictionProblem* p, SideRows* x) {
    int first = x->count, end = 0;
    for (int k = 0; k < p->d; ++k) {
        const double* row = p->h + x->h + (size_t)k * (size_t)x->apart;
        for (int j = 0; j < first; ++j) {
            first = row[j] != 0.0 ? j : first;
        }
        for (int j = x->count - 1; j >= end; --j) {
            end = row[j] != 0.0 ? j + 1 : end;
        }
    }
    x->first = first < end ? first : 0;
    x->count = first < end ? end - first : 0;
    x->h += (size_t)x->first;
}

// Tells how many doubles `h` and `y` have.
static void place_rows(TdlFrictionProblem* p, const TdlFrictionBodiesDef* def, size_t* h,
                       size_t* y) {
    const TdlSpan* span = def->span;
    size_t d = (size_t)p->d;
    *h = *y = 0;
    for (int side = 0; side < 2 * p->n; ++side) {
        int m = p->body[side] < 0 ? 0 : body_dofs(p, p->body[side]);
        TdlSpan about = m > 0 && span != NULL ? span[side] : (TdlSpan){0, m};
        const int* list = m > 0 && def->list != NULL ? def->list[side] : NULL;
        p->side[side] = (SideRows){*h, *y, about.first, about.count, about.count, list};
        *h += d * (size_t)about.count;
        *y += side_moves(p, side) ? d * (size_t)(p->y_like_h ? about.count : m) : 0;
        if (span == NULL) {
            trim_rows(p, &p->side[side]);
        }
    }
}

// Row k of a side, added to one over all coordinates.
static void add_row(const TdlFrictionProblem* p, int side, int k, double* whole) {
    Rows x = rows_of_h(p, side);
    const double* row = x.row + (ptrdiff_t)k * x.apart;
    for (int j = 0; j < x.count; ++j) {
        whole[x.list == NULL ? x.first + j : x.list[j]] += row[j];
    }
}

static TdlStatus solve_columns(TdlFrictionProblem* p, const TdlFrictionBodiesDef* def,
                               size_t used) {
    int most = 0;
    for (int k = 0; k < p->body_count; ++k) {
        most = body_dofs(p, k) > most ? body_dofs(p, k) : most;
    }
    double* row = tdl_alloc_array(&p->mem, (size_t)most, sizeof(double));
    p->own_y = tdl_alloc_array(&p->mem, used, sizeof(double));
    if (row == NULL || p->own_y == NULL) {
        tdl_free(&p->mem, row);
        return TDL_STATUS_NO_MEMORY;
    }
    for (int side = 0; side < 2 * p->n; ++side) {
        size_t m = side_moves(p, side) ? (size_t)body_dofs(p, p->body[side]) : 0;
        for (int k = 0; k < p->d && m > 0; ++k) {
            memset(row, 0, m * sizeof *row);
            add_row(p, side, k, row);
            if (side % 2 == 0 && p->body[side + 1] == p->body[side]) {
                add_row(p, side + 1, k, row);
            }
            def->solve(def->solve_user, p->body[side], row,
                       p->own_y + p->side[side].y + (size_t)k * m);
        }
    }
    tdl_free(&p->mem, row);
    p->y = p->own_y;
    return TDL_STATUS_OK;
}

// Row k of a side times velocities of all bodies.
static double row_times(const TdlFrictionProblem* p, int side, int k, const double* v) {
    if (p->body[side] < 0) {
        return 0.0;
    }
    Rows x = rows_of_h(p, side);
    const double* row = x.row + (ptrdiff_t)k * x.apart;
    const double* own = v + p->dof_start[p->body[side]];
    return x.list == NULL ? dot_product((size_t)x.count, row, own + x.first)
                          : gather_product(x.count, row, x.list, own);
}

// b = H v_free + u_free
static void free_velocity(TdlFrictionProblem* p, const TdlFrictionBodiesDef* def) {
    for (int i = 0; i < p->n; ++i) {
        for (int k = 0; k < p->d; ++k) {
            double u = def->u_free == NULL ? 0.0 : def->u_free[i * p->d + k];
            if (p->velocity != NULL) {
                u += row_times(p, 2 * i, k, p->velocity);
                u += row_times(p, 2 * i + 1, k, p->velocity);
            }
            p->b[i * p->d + k] = u;
        }
    }
}

// Places of the rows, Y where it was not given, and b; everything finite.
static TdlStatus lay_out(const TdlHost* host, TdlFrictionProblem* p,
                         const TdlFrictionBodiesDef* def) {
    size_t h_used, y_used;
    p->side = tdl_alloc_array(&p->mem, 2 * (size_t)p->n, sizeof(SideRows));
    if (p->side == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    place_rows(p, def, &h_used, &y_used);
    bool finite = problem_all_finite(p->h, h_used);
    TdlStatus status = TDL_STATUS_OK;
    if (def->a.start != NULL && finite) {
        status = nodal_create(host, p, def);
    } else if (p->y == NULL && finite) {
        status = solve_columns(p, def, y_used);
    }
    if (status != TDL_STATUS_OK || !listed_look(p)) {
        return status != TDL_STATUS_OK ? status : TDL_STATUS_NO_MEMORY;
    }
    if (finite) {
        free_velocity(p, def);
        problem_finish(p);
        finite = isfinite(p->q_norm) && (p->nodal != NULL || problem_all_finite(p->y, y_used));
    }
    if (!finite) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "the contacts' rows or velocities are not finite");
    }
    return TDL_STATUS_OK;
}

TdlStatus tdl_friction_problem_create_bodies(const TdlHost* host, const TdlFrictionBodiesDef* def,
                                             TdlFrictionProblem** out) {
    TdlStatus status = problem_check_laws(host, &def->laws);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = check_bodies(host, def);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlFrictionProblem* p = problem_new(host, &def->laws);
    if (p == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    p->body_count = def->body_count;
    for (int k = 0; k < def->body_count; ++k) {
        p->moving_count += def->dof_start[k + 1] > def->dof_start[k];
    }
    p->dof_start = def->dof_start;
    p->velocity = def->velocity;
    p->u_free = def->u_free;
    p->body = def->body;
    p->span = def->span;
    p->list = def->list;
    p->h = def->h;
    p->y = def->y;
    p->y_like_h = def->y_like_h || def->y == def->h;
    p->dof_count = def->body_count == 0 ? 0 : def->dof_start[def->body_count];
    status = lay_out(host, p, def);
    if (status != TDL_STATUS_OK) {
        tdl_friction_problem_destroy(p);
        return status;
    }
    p->release = def->release;
    p->release_user = def->release_user;
    *out = p;
    return TDL_STATUS_OK;
}

TdlFrictionBodiesDef tdl_friction_problem_bodies(const TdlFrictionProblem* p) {
    if (p->nodal != NULL && !p->nodal->whitened) {
        TdlFrictionBodiesDef def = p->nodal->given;
        def.laws = problem_laws(p);
        def.release = NULL;
        return def;
    }
    return (TdlFrictionBodiesDef){.laws = problem_laws(p),
                                  .body_count = p->body_count,
                                  .dof_start = p->dof_start,
                                  .velocity = p->velocity,
                                  .u_free = p->u_free,
                                  .body = p->body,
                                  .span = p->span,
                                  .list = p->list,
                                  .h = p->h,
                                  .y = p->y,
                                  .y_like_h = p->y_like_h && !problem_whitened(p)};
}

// w += three rows of h times three of y, each column by column.
static void add_products3(int count, const double* h, int h_apart, const double* y, int y_apart,
                          double* w) {
    const double *h1 = h + h_apart, *h2 = h1 + h_apart, *y1 = y + y_apart, *y2 = y1 + y_apart;
    double s[9] = {0};
    for (int k = 0; k < count; ++k) {
        s[0] += h[k] * y[k];
        s[1] += h1[k] * y[k];
        s[2] += h2[k] * y[k];
        s[3] += h[k] * y1[k];
        s[4] += h1[k] * y1[k];
        s[5] += h2[k] * y1[k];
        s[6] += h[k] * y2[k];
        s[7] += h1[k] * y2[k];
        s[8] += h2[k] * y2[k];
    }
    for (int k = 0; k < 9; ++k) {
        w[k] += s[k];
    }
}

static void add_products(int d, int count, const double* h, int h_apart, const double* y,
                         int y_apart, double* w) {
    for (int col = 0; col < d; ++col) {
        for (int row = 0; row < d; ++row) {
            const double *a = h + (ptrdiff_t)row * h_apart, *b = y + (ptrdiff_t)col * y_apart;
            w[col * d + row] += dot_product((size_t)count, a, b);
        }
    }
}

// The same where rows of H are about a list of coordinates.
static void add_gathered(int d, Rows h, Rows y, double* w) {
    for (int col = 0; col < d; ++col) {
        for (int row = 0; row < d; ++row) {
            const double* a = h.row + (ptrdiff_t)row * h.apart;
            const double* b = y.row + (ptrdiff_t)col * y.apart;
            w[col * d + row] += gather_product(h.count, a, h.list, b);
        }
    }
}

void problem_add_coupling(const TdlFrictionProblem* p, int i, int j, double* w) {
    for (int a = 2 * i; a < 2 * i + 2; ++a) {
        for (int c = 2 * j; c < 2 * j + 2; ++c) {
            if (p->body[a] < 0 || p->body[a] != p->body[c] || !side_moves(p, c)) {
                continue;
            }
            Rows h = rows_of_h(p, a), y = rows_of_y(p, c);
            if (p->y_like_h && (h.list != NULL || y.list != NULL)) {
                listed_couple(p, h, y, w);
                continue;
            }
            if (h.list != NULL) {
                add_gathered(p->d, h, y, w);
                continue;
            }
            int first = h.first > y.first ? h.first : y.first;
            int h_end = h.first + h.count, y_end = y.first + y.count;
            int count = (h_end < y_end ? h_end : y_end) - first;
            if (count <= 0) {
                continue;
            }
            h.row += first - h.first;
            y.row += first - y.first;
            if (p->d == 3) {
                add_products3(count, h.row, h.apart, y.row, y.apart, w);
            } else {
                add_products(p->d, count, h.row, h.apart, y.row, y.apart, w);
            }
        }
    }
}

FormWeights problem_weigh_forms(const TdlFrictionProblem* p, const int* contact, int n,
                                const int* touching) {
    double blocks = 0.0, rows = 0.0;
    for (int k = 0; k < n; ++k) {
        for (int side = 2 * contact[k]; side < 2 * contact[k] + 2; ++side) {
            if (p->body[side] >= 0) {
                blocks += touching[p->body[side]];
                rows += p->side[side].count;
                // read once where they are the same
                rows += !problem_whitened(p) && side_moves(p, side) ? rows_of_y(p, side).count : 0;
            }
        }
    }
    return (FormWeights){blocks, blocks * p->d > rows};
}

typedef struct Touching {
    int* start;   // [body_count + 1]
    int* contact; // contacts that touch each body, ascending, a self-contact twice
    int* seen;    // [n] the last row that visited a contact
} Touching;

static bool list_touching(const TdlFrictionProblem* p, Touching* t) {
    *t = (Touching){0};
    t->start = tdl_alloc_array(&p->mem, (size_t)p->body_count + 2, sizeof(int));
    t->contact = tdl_alloc_array(&p->mem, 2 * (size_t)p->n, sizeof(int));
    t->seen = tdl_alloc_array(&p->mem, (size_t)p->n, sizeof(int));
    if (!t->start || !t->contact || !t->seen) {
        return false;
    }
    for (int s = 0; s < 2 * p->n; ++s) {
        if (p->body[s] >= 0) {
            ++t->start[p->body[s] + 2];
        }
    }
    for (int k = 0; k < p->body_count; ++k) {
        t->start[k + 2] += t->start[k + 1];
    }
    for (int s = 0; s < 2 * p->n; ++s) {
        if (p->body[s] >= 0) {
            t->contact[t->start[p->body[s] + 1]++] = s / 2;
        }
    }
    memset(t->seen, 0xff, (size_t)p->n * sizeof(int));
    return true;
}

TdlStatus problem_each_coupling(const TdlFrictionProblem* p, CouplingFn fn, void* user) {
    Touching t;
    TdlStatus status = list_touching(p, &t) ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
    for (int i = 0; status == TDL_STATUS_OK && i < p->n; ++i) {
        for (int s = 2 * i; s < 2 * i + 2; ++s) {
            for (int e = p->body[s] < 0 ? 0 : t.start[p->body[s]];
                 p->body[s] >= 0 && e < t.start[p->body[s] + 1]; ++e) {
                int j = t.contact[e];
                if (j < i || t.seen[j] == i) {
                    continue;
                }
                t.seen[j] = i;
                double w[CONE_MAX * CONE_MAX] = {0};
                problem_add_coupling(p, i, j, w);
                fn(user, i, j, w);
            }
        }
    }
    tdl_free(&p->mem, t.start);
    tdl_free(&p->mem, t.contact);
    tdl_free(&p->mem, t.seen);
    return status;
}

// --- going through the bodies --------------------------------------------------------------------

// The velocity in the coordinates that the problem is kept in.
static void velocity_of(const TdlFrictionProblem* p, const double* r, double* v) {
    for (int j = 0; j < p->dof_count; ++j) {
        v[j] = p->velocity == NULL ? 0.0 : p->velocity[j];
    }
    for (int s = 0; s < 2 * p->n; ++s) {
        const double* x = r + (ptrdiff_t)(s / 2) * p->d;
        if (!side_moves(p, s) || problem_all_zero(x, p->d)) {
            continue;
        }
        Rows rows = rows_of_y(p, s);
        double* restrict at = v + p->dof_start[p->body[s]] + rows.first;
        for (int k = 0; k < p->d; k += 3) {
            const double* y = rows.row + (ptrdiff_t)k * rows.apart;
            const double *y1 = y + rows.apart, *y2 = y1 + rows.apart;
            for (int j = 0; j < rows.count && rows.list == NULL; ++j) {
                at[j] += y[j] * x[k] + y1[j] * x[k + 1] + y2[j] * x[k + 2];
            }
            for (int j = 0; j < rows.count && rows.list != NULL; ++j) {
                at[rows.list[j]] += y[j] * x[k] + y1[j] * x[k + 1] + y2[j] * x[k + 2];
            }
        }
    }
}

TdlStatus tdl_friction_body_velocity(const TdlFrictionProblem* p, const double* r, double* v) {
    if (!problem_has_bodies(p)) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    if (p->nodal == NULL || p->nodal->whitened) {
        velocity_of(p, r, v);
        return TDL_STATUS_OK;
    }
    double* z = tdl_alloc_array(&p->mem, (size_t)p->dof_count, sizeof *z);
    if (z == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    velocity_of(p, r, z);
    sparse_root_velocity(&p->nodal->c, 0, p->dof_count, z, v);
    tdl_free(&p->mem, z);
    return TDL_STATUS_OK;
}

void problem_add_through_bodies(const TdlFrictionProblem* p, const double* r, double* u,
                                double* v) {
    velocity_of(p, r, v);
    for (int j = 0; j < p->dof_count && p->velocity != NULL; ++j) {
        v[j] -= p->velocity[j];
    }
    for (int i = 0; i < p->n; ++i) {
        for (int k = 0; k < p->d; ++k) {
            u[i * p->d + k] += row_times(p, 2 * i, k, v) + row_times(p, 2 * i + 1, k, v);
        }
    }
}
