// Frictional contact problems: checking, copying, and the two ways to apply W.
//
// The explicit form is stored as full symmetric block rows with ascending columns, so that a row
// is one contiguous stream. It is built by two stable counting sorts over the blocks and their
// transposes, O(blocks). NaN and infinity are stopped here; the solvers may assume finite data.
#include "friction/problem.h"

#include "base/log.h"
#include "base/memory.h"

#include <string.h>

// Refused above this many contacts: block indices stay within int.
enum { MAX_CONTACTS = 1 << 27 };

// Without a branch, so that it runs as fast as memory is read.
static bool all_finite(const double* x, size_t count) {
    const uint64_t exponent = 0x7ff0000000000000u;
    uint64_t bad = 0;
    for (size_t i = 0; i < count; ++i) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bad |= (bits & exponent) == exponent;
    }
    return bad == 0;
}

static TdlStatus check_laws(const TdlHost* host, const TdlFrictionLaws* laws) {
    if (laws->block_size != 3 && laws->block_size != 6) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "block size must be 3 or 6, not %d",
                        laws->block_size);
    }
    if (laws->contact_count < 0 || laws->contact_count > MAX_CONTACTS) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "%d contacts are out of range",
                        laws->contact_count);
    }
    for (int i = 0; i < laws->contact_count; ++i) {
        // false for NaN
        if (!(laws->mu[i] >= 0.0)) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                            "contact %d: friction coefficient %g is not from 0 to infinity", i,
                            laws->mu[i]);
        }
        if (laws->normal_velocity != NULL && !isfinite(laws->normal_velocity[i])) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                            "contact %d: prescribed normal velocity is not finite", i);
        }
    }
    return TDL_STATUS_OK;
}

static TdlFrictionProblem* new_problem(const TdlHost* host, const TdlFrictionLaws* laws) {
    TdlFrictionProblem* p = tdl_alloc_zero(&host->mem, sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    size_t n = (size_t)laws->contact_count, d = (size_t)laws->block_size;
    p->mem = host->mem;
    p->d = laws->block_size;
    p->n = laws->contact_count;
    p->mu = tdl_alloc_array(&p->mem, n, sizeof(double));
    p->law = tdl_alloc_array(&p->mem, n, 1);
    p->bilateral = tdl_alloc_array(&p->mem, n, 1);
    p->c = tdl_alloc_array(&p->mem, n, sizeof(double));
    p->b = tdl_alloc_array(&p->mem, n * d, sizeof(double));
    p->q = tdl_alloc_array(&p->mem, n * d, sizeof(double));
    if (!p->mu || !p->law || !p->bilateral || !p->c || !p->b || !p->q) {
        tdl_friction_problem_destroy(p);
        return NULL;
    }
    for (size_t i = 0; i < n; ++i) {
        p->mu[i] = laws->mu[i];
        p->c[i] = laws->normal_velocity == NULL ? 0.0 : laws->normal_velocity[i];
        p->bilateral[i] = laws->bilateral != NULL && laws->bilateral[i] != 0;
        p->law[i] = p->bilateral[i]   ? LAW_BILATERAL
                    : p->mu[i] == 0.0 ? LAW_SMOOTH
                    : isinf(p->mu[i]) ? LAW_ROUGH
                                      : LAW_CONE;
    }
    return p;
}

// q and its norm from b and c
static void finish_free_velocity(TdlFrictionProblem* p) {
    double sum = 0.0;
    for (int i = 0; i < p->n; ++i) {
        for (int k = 0; k < p->d; ++k) {
            double q = p->b[i * p->d + k] - (k == 0 ? p->c[i] : 0.0);
            p->q[i * p->d + k] = q;
            sum += q * q;
        }
    }
    p->q_norm = sqrt(sum);
}

void tdl_friction_problem_destroy(TdlFrictionProblem* p) {
    if (p == NULL) {
        return;
    }
    TdlAllocator mem = p->mem;
    tdl_free(&mem, p->mu);
    tdl_free(&mem, p->law);
    tdl_free(&mem, p->bilateral);
    tdl_free(&mem, p->c);
    tdl_free(&mem, p->b);
    tdl_free(&mem, p->q);
    tdl_free(&mem, p->start);
    tdl_free(&mem, p->column);
    tdl_free(&mem, p->blocks);
    tdl_free(&mem, p->own_y);
    for (int k = 0; k < 8; ++k) {
        tdl_free(&mem, p->owned[k]);
    }
    tdl_free(&mem, p->side);
    tdl_free(&mem, p);
}

// --- the explicit form ---------------------------------------------------------------------------

static TdlStatus check_matrix(const TdlHost* host, const TdlFrictionMatrixDef* def) {
    int n = def->laws.contact_count, d = def->laws.block_size;
    if (n > 0 && def->row_start[0] != 0) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "the first block row must start at 0");
    }
    for (int i = 0; i < n; ++i) {
        if (def->row_start[i + 1] < def->row_start[i] || def->row_start[i + 1] > INT32_MAX / 2) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "block row %d has a wrong end", i);
        }
        for (int e = def->row_start[i]; e < def->row_start[i + 1]; ++e) {
            if (def->column[e] < 0 || def->column[e] >= n) {
                return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                                "block row %d: column %d is outside 0 to %d", i, def->column[e],
                                n - 1);
            }
        }
    }
    size_t values = n == 0 ? 0 : (size_t)def->row_start[n] * (size_t)(d * d);
    if (!all_finite(def->blocks, values)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "the matrix has an entry that is not finite");
    }
    if (!all_finite(def->b, (size_t)n * (size_t)d)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "b has an entry that is not finite");
    }
    return TDL_STATUS_OK;
}

// One block of W or of its transpose.
typedef struct Entry {
    int row, column;
    int source; // 2 block + (1 when transposed)
} Entry;

static bool all_zero(const double* block, int size) {
    for (int k = 0; k < size; ++k) {
        if (block[k] != 0.0) {
            return false;
        }
    }
    return true;
}

// stable counting sort of `count` entries by row or by column
static void sort_entries(const Entry* in, Entry* out, int count, int* bucket, int n, bool by_row) {
    memset(bucket, 0, ((size_t)n + 1) * sizeof *bucket);
    for (int e = 0; e < count; ++e) {
        ++bucket[(by_row ? in[e].row : in[e].column) + 1];
    }
    for (int i = 0; i < n; ++i) {
        bucket[i + 1] += bucket[i];
    }
    for (int e = 0; e < count; ++e) {
        out[bucket[by_row ? in[e].row : in[e].column]++] = in[e];
    }
}

static int gather_entries(const TdlFrictionMatrixDef* def, Entry* entries) {
    int d2 = def->laws.block_size * def->laws.block_size, count = 0;
    for (int i = 0; i < def->laws.contact_count; ++i) {
        for (int e = def->row_start[i]; e < def->row_start[i + 1]; ++e) {
            if (!all_zero(def->blocks + (size_t)e * (size_t)d2, d2)) {
                entries[count++] = (Entry){i, def->column[e], 2 * e};
                entries[count++] = (Entry){def->column[e], i, 2 * e + 1};
            }
        }
    }
    return count;
}

static void add_half_block(int d, const double* from, bool transposed, double* to) {
    for (int c = 0; c < d; ++c) {
        for (int r = 0; r < d; ++r) {
            to[c * d + r] += 0.5 * (transposed ? from[r * d + c] : from[c * d + r]);
        }
    }
}

// Fills start, column and blocks from entries sorted by row, then column.
static TdlStatus fill_rows(TdlFrictionProblem* p, const TdlFrictionMatrixDef* def,
                           const Entry* entries, int count) {
    int blocks = 0, d2 = p->d * p->d;
    for (int e = 0; e < count; ++e) {
        blocks += e == 0 || entries[e].row != entries[e - 1].row ||
                  entries[e].column != entries[e - 1].column;
    }
    p->start = tdl_alloc_array(&p->mem, (size_t)p->n + 1, sizeof(int));
    p->column = tdl_alloc_array(&p->mem, (size_t)blocks, sizeof(int));
    p->blocks = tdl_alloc_array(&p->mem, (size_t)blocks * (size_t)d2 + 4, sizeof(double));
    if (!p->start || !p->column || !p->blocks) {
        return TDL_STATUS_NO_MEMORY;
    }
    int k = -1;
    for (int e = 0; e < count; ++e) {
        if (e == 0 || entries[e].row != entries[e - 1].row ||
            entries[e].column != entries[e - 1].column) {
            p->column[++k] = entries[e].column;
            ++p->start[entries[e].row + 1];
        }
        add_half_block(p->d, def->blocks + (size_t)(entries[e].source / 2) * (size_t)d2,
                       entries[e].source % 2 == 1, p->blocks + (size_t)k * (size_t)d2);
    }
    for (int i = 0; i < p->n; ++i) {
        p->start[i + 1] += p->start[i];
    }
    return TDL_STATUS_OK;
}

// |W - W'| / |W| = 2 sqrt(|W|^2 - |sym W|^2) / |W|, from the Frobenius norms; rows were merged, so
// sum the parts that cancel only once.
static double measure_asymmetry(const TdlFrictionProblem* p, const TdlFrictionMatrixDef* def) {
    double whole = 0.0, half = 0.0;
    int d2 = p->d * p->d, n = p->n;
    size_t given = n == 0 ? 0 : (size_t)def->row_start[n] * (size_t)d2;
    for (size_t k = 0; k < given; ++k) {
        whole += def->blocks[k] * def->blocks[k];
    }
    // difference of each given block with the symmetric part, looked up by bisection
    for (int i = 0; i < n; ++i) {
        for (int e = def->row_start[i]; e < def->row_start[i + 1]; ++e) {
            int low = p->start[i], high = p->start[i + 1] - 1;
            while (low < high) {
                int mid = low + (high - low) / 2;
                if (p->column[mid] < def->column[e]) {
                    low = mid + 1;
                } else {
                    high = mid;
                }
            }
            if (low > high || p->column[low] != def->column[e]) {
                continue; // a block of zeros
            }
            for (int k = 0; k < d2; ++k) {
                double diff = def->blocks[(size_t)e * (size_t)d2 + (size_t)k] -
                              p->blocks[(size_t)low * (size_t)d2 + (size_t)k];
                half += diff * diff;
            }
        }
    }
    return whole > 0.0 ? 2.0 * sqrt(half / whole) : 0.0;
}

static TdlStatus build_rows(TdlFrictionProblem* p, const TdlFrictionMatrixDef* def) {
    size_t most = p->n == 0 ? 0 : 2 * (size_t)def->row_start[p->n];
    Entry* a = tdl_alloc_array(&p->mem, most, sizeof(Entry));
    Entry* b = tdl_alloc_array(&p->mem, most, sizeof(Entry));
    int* bucket = tdl_alloc_array(&p->mem, (size_t)p->n + 1, sizeof(int));
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (a != NULL && b != NULL && bucket != NULL) {
        int count = gather_entries(def, a);
        sort_entries(a, b, count, bucket, p->n, false);
        sort_entries(b, a, count, bucket, p->n, true);
        status = fill_rows(p, def, a, count);
    }
    tdl_free(&p->mem, a);
    tdl_free(&p->mem, b);
    tdl_free(&p->mem, bucket);
    return status;
}

TdlStatus tdl_friction_problem_create(const TdlHost* host, const TdlFrictionMatrixDef* def,
                                      TdlFrictionProblem** out) {
    TdlStatus status = check_laws(host, &def->laws);
    if (status == TDL_STATUS_OK) {
        status = check_matrix(host, def);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlFrictionProblem* p = new_problem(host, &def->laws);
    if (p == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(p->b, def->b, (size_t)p->n * (size_t)p->d * sizeof(double));
    p->dof_count = def->dof_count;
    finish_free_velocity(p);
    status = build_rows(p, def);
    if (status != TDL_STATUS_OK) {
        tdl_friction_problem_destroy(p);
        return status;
    }
    p->asymmetry = measure_asymmetry(p, def);
    *out = p;
    return TDL_STATUS_OK;
}

// --- velocity space ------------------------------------------------------------------------------

static TdlStatus check_bodies(const TdlHost* host, const TdlFrictionBodiesDef* def) {
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
        if (span.count < 0 || span.first < 0 || span.first > m - span.count) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                            "contact %d: rows are about coordinates that body %d does not have",
                            i / 2, def->body[i]);
        }
        bool self = i % 2 == 1 && def->body[i] >= 0 && def->body[i] == def->body[i - 1];
        if (def->y == def->h && (def->span != NULL || self)) {
            return tdl_fail(
                host, TDL_STATUS_BAD_ARGUMENT,
                "contact %d: y may be h only without spans and contacts of a body with itself",
                i / 2);
        }
    }
    if (def->y == NULL && def->solve == NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "neither y nor a solve was given");
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
static void place_rows(TdlFrictionProblem* p, const TdlSpan* span, size_t* h, size_t* y) {
    size_t d = (size_t)p->d;
    *h = *y = 0;
    for (int side = 0; side < 2 * p->n; ++side) {
        int m = p->body[side] < 0 ? 0 : body_dofs(p, p->body[side]);
        TdlSpan about = m > 0 && span != NULL ? span[side] : (TdlSpan){0, m};
        p->side[side] = (SideRows){*h, *y, about.first, about.count, about.count};
        *h += d * (size_t)about.count;
        *y += side_moves(p, side) ? d * (size_t)m : 0;
        if (span == NULL) {
            trim_rows(p, &p->side[side]);
        }
    }
}

// Row k of a side, added to one over all coordinates.
static void add_row(const TdlFrictionProblem* p, int side, int k, double* whole) {
    SideRows x = p->side[side];
    const double* row = p->h + x.h + (size_t)k * (size_t)x.apart;
    for (int j = 0; j < x.count; ++j) {
        whole[x.first + j] += row[j];
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
    SideRows x = p->side[side];
    const double* row = p->h + x.h + (size_t)k * (size_t)x.apart;
    return dot_product((size_t)x.count, row, v + p->dof_start[p->body[side]] + x.first);
}

// b = H v_free + u_free
static void free_velocity(TdlFrictionProblem* p, const TdlFrictionBodiesDef* def) {
    for (int i = 0; i < p->n; ++i) {
        for (int k = 0; k < p->d; ++k) {
            double u = def->u_free == NULL ? 0.0 : def->u_free[i * p->d + k];
            u += row_times(p, 2 * i, k, p->velocity);
            u += row_times(p, 2 * i + 1, k, p->velocity);
            p->b[i * p->d + k] = u;
        }
    }
}

TdlStatus tdl_friction_problem_create_bodies(const TdlHost* host, const TdlFrictionBodiesDef* def,
                                             TdlFrictionProblem** out) {
    TdlStatus status = check_laws(host, &def->laws);
    if (status == TDL_STATUS_OK) {
        status = check_bodies(host, def);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlFrictionProblem* p = new_problem(host, &def->laws);
    if (p == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    p->body_count = def->body_count;
    p->dof_start = def->dof_start;
    p->velocity = def->velocity;
    p->body = def->body;
    p->h = def->h;
    p->y = def->y;
    p->dof_count = def->body_count == 0 ? 0 : def->dof_start[def->body_count];
    p->side = tdl_alloc_array(&p->mem, 2 * (size_t)p->n, sizeof(SideRows));
    if (p->side == NULL) {
        tdl_friction_problem_destroy(p);
        return TDL_STATUS_NO_MEMORY;
    }
    size_t h_used, y_used;
    place_rows(p, def->span, &h_used, &y_used);
    if (p->y == NULL) {
        status = solve_columns(p, def, y_used);
    }
    if (status == TDL_STATUS_OK) {
        free_velocity(p, def);
        finish_free_velocity(p);
        if (!all_finite(p->h, h_used) || !all_finite(p->y, y_used) || !isfinite(p->q_norm)) {
            status = tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                              "the contacts' rows or velocities are not finite");
        }
    }
    if (status != TDL_STATUS_OK) {
        tdl_friction_problem_destroy(p);
        return status;
    }
    *out = p;
    return TDL_STATUS_OK;
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

void problem_add_coupling(const TdlFrictionProblem* p, int i, int j, double* w) {
    for (int a = 2 * i; a < 2 * i + 2; ++a) {
        for (int c = 2 * j; c < 2 * j + 2; ++c) {
            if (p->body[a] < 0 || p->body[a] != p->body[c] || !side_moves(p, c)) {
                continue;
            }
            int m = body_dofs(p, p->body[a]);
            SideRows x = p->side[a];
            const double *h = p->h + x.h, *y = p->y + p->side[c].y + x.first;
            if (p->d == 3) {
                add_products3(x.count, h, x.apart, y, m, w);
            } else {
                add_products(p->d, x.count, h, x.apart, y, m, w);
            }
        }
    }
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

// --- the explicit form of a problem in velocity space --------------------------------------------

typedef struct Explicit {
    int d;
    int count;      // couplings met
    int* row_start; // null while counting
    int* column;
    double* blocks;
} Explicit;

static void put_coupling(void* user, int i, int j, const double* w) {
    Explicit* x = user;
    int e = x->count++;
    if (x->row_start == NULL) {
        return;
    }
    x->row_start[i + 1] = x->count;
    x->column[e] = j;
    // Rows are symmetrised with a half on creation, so the part above the diagonal counts twice.
    double factor = i == j ? 1.0 : 2.0;
    for (int k = 0; k < x->d * x->d; ++k) {
        x->blocks[(size_t)e * (size_t)(x->d * x->d) + (size_t)k] = factor * w[k];
    }
}

TdlStatus tdl_friction_problem_explicit(const TdlHost* host, const TdlFrictionProblem* p,
                                        TdlFrictionProblem** out) {
    TdlFrictionMatrixDef def = {
        .laws = {p->d, p->n, p->mu, p->bilateral, p->c}, .b = p->b, .dof_count = p->dof_count};
    if (!problem_has_bodies(p)) {
        def.row_start = p->start;
        def.column = p->column;
        def.blocks = p->blocks;
        return tdl_friction_problem_create(host, &def, out);
    }
    Explicit x = {.d = p->d};
    TdlStatus status = problem_each_coupling(p, put_coupling, &x);
    size_t count = (size_t)x.count;
    x.count = 0;
    x.row_start = tdl_alloc_array(&p->mem, (size_t)p->n + 1, sizeof(int));
    x.column = tdl_alloc_array(&p->mem, count, sizeof(int));
    x.blocks = tdl_alloc_array(&p->mem, count * (size_t)(p->d * p->d), sizeof(double));
    if (x.row_start == NULL || x.column == NULL || x.blocks == NULL) {
        status = TDL_STATUS_NO_MEMORY;
    }
    if (status == TDL_STATUS_OK) {
        status = problem_each_coupling(p, put_coupling, &x);
        // contacts between obstacles have empty rows
        for (int i = 0; i < p->n; ++i) {
            x.row_start[i + 1] = x.row_start[i + 1] > 0 ? x.row_start[i + 1] : x.row_start[i];
        }
    }
    if (status == TDL_STATUS_OK) {
        def.row_start = x.row_start;
        def.column = x.column;
        def.blocks = x.blocks;
        status = tdl_friction_problem_create(host, &def, out);
        if (status == TDL_STATUS_OK) {
            (*out)->asymmetry = 0.0; // the upper part was given alone
        }
    }
    tdl_free(&p->mem, x.row_start);
    tdl_free(&p->mem, x.column);
    tdl_free(&p->mem, x.blocks);
    return status;
}

TdlFrictionSize tdl_friction_problem_size(const TdlFrictionProblem* p) {
    return (TdlFrictionSize){.block_size = p->d,
                             .contact_count = p->n,
                             .dof_count = p->dof_count,
                             .block_count = p->start == NULL ? 0 : p->start[p->n],
                             .asymmetry = p->asymmetry,
                             .b_norm = p->q_norm};
}

TdlFrictionMatrixDef tdl_friction_problem_matrix(const TdlFrictionProblem* p) {
    return (TdlFrictionMatrixDef){.laws = {p->d, p->n, p->mu, p->bilateral, p->c},
                                  .b = p->b,
                                  .row_start = p->start,
                                  .column = p->column,
                                  .blocks = p->blocks,
                                  .dof_count = p->dof_count};
}

// --- applying W ----------------------------------------------------------------------------------

TdlStatus tdl_friction_body_velocity(const TdlFrictionProblem* p, const double* r, double* v) {
    if (!problem_has_bodies(p)) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    memcpy(v, p->velocity, (size_t)p->dof_count * sizeof(double));
    for (int s = 0; s < 2 * p->n; ++s) {
        const double* x = r + (ptrdiff_t)(s / 2) * p->d;
        if (!side_moves(p, s) || all_zero(x, p->d)) {
            continue;
        }
        int m = body_dofs(p, p->body[s]);
        double* restrict at = v + p->dof_start[p->body[s]];
        for (int k = 0; k < p->d; k += 3) {
            const double* y = p->y + p->side[s].y + (size_t)k * (size_t)m;
            for (int j = 0; j < m; ++j) {
                at[j] += y[j] * x[k] + y[m + j] * x[k + 1] + y[2 * m + j] * x[k + 2];
            }
        }
    }
    return TDL_STATUS_OK;
}

// u += W r by block rows
static void add_rows(const TdlFrictionProblem* p, const double* r, double* u) {
    int d = p->d;
    for (int i = 0; i < p->n; ++i) {
        for (int e = p->start[i]; e < p->start[i + 1]; ++e) {
            const double* block = p->blocks + (size_t)e * (size_t)(d * d);
            for (int c = 0; c < d; ++c) {
                for (int k = 0; k < d; ++k) {
                    u[i * d + k] += block[c * d + k] * r[p->column[e] * d + c];
                }
            }
        }
    }
}

// u += H (A^-1 H' r); v is scratch
static void add_through_bodies(const TdlFrictionProblem* p, const double* r, double* u, double* v) {
    tdl_friction_body_velocity(p, r, v);
    for (int j = 0; j < p->dof_count; ++j) {
        v[j] -= p->velocity[j];
    }
    for (int i = 0; i < p->n; ++i) {
        for (int k = 0; k < p->d; ++k) {
            u[i * p->d + k] += row_times(p, 2 * i, k, v) + row_times(p, 2 * i + 1, k, v);
        }
    }
}

void problem_velocity(const TdlFrictionProblem* p, const double* r, double* u, double* v) {
    memcpy(u, p->b, (size_t)p->n * (size_t)p->d * sizeof(double));
    if (problem_has_bodies(p)) {
        add_through_bodies(p, r, u, v);
    } else {
        add_rows(p, r, u);
    }
}

TdlStatus tdl_friction_velocity(const TdlFrictionProblem* p, const double* r, double* u) {
    double* v = tdl_alloc_array(&p->mem, (size_t)p->dof_count, sizeof(double));
    if (v == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    problem_velocity(p, r, u, v);
    tdl_free(&p->mem, v);
    return TDL_STATUS_OK;
}
