// Frictional contact problems: checking, and the explicit form.
//
// The explicit form is stored as full symmetric block rows with ascending columns, so that a row
// is one contiguous stream. It is built by two stable counting sorts over the blocks and their
// transposes, O(blocks). NaN and infinity are stopped here; the solvers may assume finite data.
#include "friction/nodal.h"

#include "base/log.h"
#include "base/memory.h"

#include <string.h>

// Refused above this many contacts: block indices stay within int.
enum { MAX_CONTACTS = 1 << 27 };

// Without a branch, so that it runs as fast as memory is read.
bool problem_all_finite(const double* x, size_t count) {
    const uint64_t exponent = 0x7ff0000000000000u;
    uint64_t bad = 0;
    for (size_t i = 0; i < count; ++i) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bad |= (bits & exponent) == exponent;
    }
    return bad == 0;
}

TdlStatus problem_check_laws(const TdlHost* host, const TdlFrictionLaws* laws) {
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
    for (int i = 0; i < laws->contact_count && laws->gamma != NULL; ++i) {
        if (!(laws->gamma[i] >= 0.0 && isfinite(laws->gamma[i]))) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                            "contact %d: gamma %g is not finite and at least 0", i, laws->gamma[i]);
        }
    }
    size_t size = (size_t)laws->contact_count * (size_t)laws->block_size;
    if (laws->guess != NULL && !problem_all_finite(laws->guess, size)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "the guess has an entry that is not finite");
    }
    return TDL_STATUS_OK;
}

TdlFrictionProblem* problem_new(const TdlHost* host, const TdlFrictionLaws* laws) {
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
    if (laws->guess != NULL) {
        p->guess = tdl_alloc_array(&p->mem, n * d, sizeof(double));
    }
    p->associated = laws->associated == NULL ? NULL : tdl_alloc_array(&p->mem, n, 1);
    p->gamma = laws->gamma == NULL ? NULL : tdl_alloc_array(&p->mem, n, sizeof(double));
    if (!p->mu || !p->law || !p->bilateral || !p->c || !p->b || !p->q ||
        (laws->guess != NULL && p->guess == NULL) ||
        (laws->associated != NULL && p->associated == NULL) ||
        (laws->gamma != NULL && p->gamma == NULL)) {
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
        bool shiftless = laws->associated != NULL && laws->associated[i] != 0;
        if (p->associated != NULL) {
            p->associated[i] = shiftless;
        }
        if (p->gamma != NULL) {
            p->gamma[i] = laws->gamma[i];
        }
        if (shiftless && p->law[i] == LAW_CONE) {
            p->law[i] = LAW_ASSOCIATED;
        }
    }
    if (p->guess != NULL) {
        memcpy(p->guess, laws->guess, n * d * sizeof(double));
    }
    return p;
}

void problem_finish(TdlFrictionProblem* p) {
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

TdlFrictionLaws problem_laws(const TdlFrictionProblem* p) {
    return (TdlFrictionLaws){.block_size = p->d,
                             .contact_count = p->n,
                             .mu = p->mu,
                             .bilateral = p->bilateral,
                             .normal_velocity = p->c,
                             .guess = p->guess,
                             .associated = p->associated,
                             .gamma = p->gamma};
}

void problem_set_free(TdlFrictionProblem* p, const double* b, const double* normal_velocity) {
    memcpy(p->b, b, (size_t)p->n * (size_t)p->d * sizeof *b);
    p->u_free = p->b;
    memcpy(p->c, normal_velocity, (size_t)p->n * sizeof *normal_velocity);
    problem_finish(p);
}

void tdl_friction_problem_destroy(TdlFrictionProblem* p) {
    if (p == NULL) {
        return;
    }
    TdlAllocator mem = p->mem;
    tdl_free(&mem, p->mu);
    tdl_free(&mem, p->law);
    tdl_free(&mem, p->bilateral);
    tdl_free(&mem, p->associated);
    tdl_free(&mem, p->gamma);
    tdl_free(&mem, p->c);
    tdl_free(&mem, p->guess);
    tdl_free(&mem, p->b);
    tdl_free(&mem, p->q);
    tdl_free(&mem, p->start);
    tdl_free(&mem, p->column);
    tdl_free(&mem, p->blocks);
    tdl_free(&mem, p->own_y);
    nodal_destroy(&mem, p->nodal);
    if (p->release != NULL) {
        p->release(p->release_user);
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
    if (!problem_all_finite(def->blocks, values)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "the matrix has an entry that is not finite");
    }
    if (!problem_all_finite(def->b, (size_t)n * (size_t)d)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "b has an entry that is not finite");
    }
    return TDL_STATUS_OK;
}

// One block of W or of its transpose.
typedef struct Entry {
    int row, column;
    int source; // 2 block + (1 when transposed)
} Entry;

bool problem_all_zero(const double* x, int count) {
    for (int k = 0; k < count; ++k) {
        if (x[k] != 0.0) {
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
            if (!problem_all_zero(def->blocks + (size_t)e * (size_t)d2, d2)) {
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

// The definition with gamma as blocks of W, one more a row.
static TdlStatus create_with_gamma(const TdlHost* host, TdlFrictionMatrixDef def,
                                   TdlFrictionProblem** out) {
    size_t n = (size_t)def.laws.contact_count, d = (size_t)def.laws.block_size, d2 = d * d;
    size_t count = (n == 0 ? 0 : (size_t)def.row_start[n]) + n;
    int* start = tdl_alloc_array(&host->mem, n + 1, sizeof(int));
    int* column = tdl_alloc_array(&host->mem, count, sizeof(int));
    double* blocks = tdl_alloc_array(&host->mem, count * d2, sizeof(double));
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (start != NULL && column != NULL && blocks != NULL) {
        for (size_t i = 0; i < n; ++i) {
            size_t from = (size_t)def.row_start[i], own = (size_t)def.row_start[i + 1] - from;
            size_t at = (size_t)start[i];
            memcpy(column + at, def.column + from, own * sizeof(int));
            memcpy(blocks + at * d2, def.blocks + from * d2, own * d2 * sizeof(double));
            column[at + own] = (int)i;
            for (size_t k = 0; k < d; ++k) {
                blocks[(at + own) * d2 + k * (d + 1)] = def.laws.gamma[i];
            }
            start[i + 1] = (int)(at + own + 1);
        }
        def.row_start = start;
        def.column = column;
        def.blocks = blocks;
        def.laws.gamma = NULL;
        status = tdl_friction_problem_create(host, &def, out);
    }
    tdl_free(&host->mem, start);
    tdl_free(&host->mem, column);
    tdl_free(&host->mem, blocks);
    return status;
}

TdlStatus tdl_friction_problem_create(const TdlHost* host, const TdlFrictionMatrixDef* def,
                                      TdlFrictionProblem** out) {
    TdlStatus status = problem_check_laws(host, &def->laws);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = check_matrix(host, def);
    if (status != TDL_STATUS_OK || def->laws.gamma != NULL) {
        return status != TDL_STATUS_OK ? status : create_with_gamma(host, *def, out);
    }
    TdlFrictionProblem* p = problem_new(host, &def->laws);
    if (p == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(p->b, def->b, (size_t)p->n * (size_t)p->d * sizeof(double));
    p->dof_count = def->dof_count;
    problem_finish(p);
    status = build_rows(p, def);
    if (status != TDL_STATUS_OK) {
        tdl_friction_problem_destroy(p);
        return status;
    }
    p->asymmetry = measure_asymmetry(p, def);
    *out = p;
    return TDL_STATUS_OK;
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

// The couplings, counted before, into x, and the problem from there.
static TdlStatus create_coupled(const TdlHost* host, const TdlFrictionProblem* p,
                                TdlFrictionMatrixDef def, Explicit* x, TdlFrictionProblem** out) {
    size_t count = (size_t)x->count;
    x->count = 0;
    x->row_start = tdl_alloc_array(&p->mem, (size_t)p->n + 1, sizeof(int));
    x->column = tdl_alloc_array(&p->mem, count, sizeof(int));
    x->blocks = tdl_alloc_array(&p->mem, count * (size_t)(p->d * p->d), sizeof(double));
    if (x->row_start == NULL || x->column == NULL || x->blocks == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status = problem_each_coupling(p, put_coupling, x);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    // contacts between obstacles have empty rows
    for (int i = 0; i < p->n; ++i) {
        x->row_start[i + 1] = x->row_start[i + 1] > 0 ? x->row_start[i + 1] : x->row_start[i];
    }
    def.row_start = x->row_start;
    def.column = x->column;
    def.blocks = x->blocks;
    status = tdl_friction_problem_create(host, &def, out);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    (*out)->asymmetry = 0.0; // the upper part was given alone
    return TDL_STATUS_OK;
}

TdlStatus tdl_friction_problem_explicit(const TdlHost* host, const TdlFrictionProblem* p,
                                        TdlFrictionProblem** out) {
    TdlFrictionMatrixDef def = {.laws = problem_laws(p), .b = p->b, .dof_count = p->dof_count};
    if (!problem_has_bodies(p)) {
        def.row_start = p->start;
        def.column = p->column;
        def.blocks = p->blocks;
        return tdl_friction_problem_create(host, &def, out);
    }
    Explicit x = {.d = p->d};
    TdlStatus status = problem_each_coupling(p, put_coupling, &x);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = create_coupled(host, p, def, &x, out);
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
    return (TdlFrictionMatrixDef){.laws = problem_laws(p),
                                  .b = p->b,
                                  .row_start = p->start,
                                  .column = p->column,
                                  .blocks = p->blocks,
                                  .dof_count = p->dof_count};
}

// --- applying W ----------------------------------------------------------------------------------

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

void problem_velocity(const TdlFrictionProblem* p, const double* r, double* u, double* v) {
    memcpy(u, p->b, (size_t)p->n * (size_t)p->d * sizeof(double));
    if (problem_has_bodies(p)) {
        problem_add_through_bodies(p, r, u, v);
        for (int k = 0; k < p->n * p->d && p->gamma != NULL; ++k) {
            u[k] += p->gamma[k / p->d] * r[k];
        }
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
