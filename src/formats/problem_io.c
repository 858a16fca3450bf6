// Problems from what the readers found, and files in and out.
#include "formats/problem_io.h"

#include "base/input.h"
#include "base/log.h"
#include "base/memory.h"
#include "formats/problem_global.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool triplets_add(const TdlAllocator* mem, Triplets* t, int row, int col, double value) {
    if (t->count == t->capacity) {
        int grown = t->capacity == 0 ? 64 : 2 * t->capacity;
        int* rows = tdl_grow_array(mem, t->row, (size_t)grown, sizeof(int));
        t->row = rows == NULL ? t->row : rows;
        int* cols = tdl_grow_array(mem, t->col, (size_t)grown, sizeof(int));
        t->col = cols == NULL ? t->col : cols;
        double* values = tdl_grow_array(mem, t->value, (size_t)grown, sizeof(double));
        t->value = values == NULL ? t->value : values;
        if (rows == NULL || cols == NULL || values == NULL) {
            return false;
        }
        t->capacity = grown;
    }
    t->row[t->count] = row;
    t->col[t->count] = col;
    t->value[t->count++] = value;
    return true;
}

static void triplets_free(const TdlAllocator* mem, Triplets* t) {
    tdl_free(mem, t->row);
    tdl_free(mem, t->col);
    tdl_free(mem, t->value);
    *t = (Triplets){0};
}

void raw_free(const TdlAllocator* mem, RawProblem* raw) {
    triplets_free(mem, &raw->w);
    triplets_free(mem, &raw->h);
    tdl_free(mem, raw->f);
    tdl_free(mem, raw->q);
    tdl_free(mem, raw->mu);
    *raw = (RawProblem){0};
}

// --- local problems ------------------------------------------------------------------------------

typedef struct BlockRows {
    int *start, *column, *place; // place[e]: block of entry e
    double* blocks;
} BlockRows;

// Entries of one block row share blocks through `slot`, the block last made for a column.
static int assign_blocks(const Triplets* w, int d, int n, const int* order, const int* row_begin,
                         BlockRows* out, int* slot) {
    int count = 0;
    memset(slot, 0xff, (size_t)n * sizeof(int));
    for (int i = 0; i < n; ++i) {
        out->start[i] = count;
        for (int k = row_begin[i]; k < row_begin[i + 1]; ++k) {
            int j = w->col[order[k]] / d;
            if (slot[j] < out->start[i]) {
                slot[j] = count;
                out->column[count++] = j;
            }
            out->place[order[k]] = slot[j];
        }
    }
    out->start[n] = count;
    return count;
}

static void sort_by_row(const Triplets* w, int d, int n, int* row_begin, int* order) {
    memset(row_begin, 0, ((size_t)n + 2) * sizeof(int));
    for (int e = 0; e < w->count; ++e) {
        ++row_begin[w->row[e] / d + 2];
    }
    for (int i = 0; i < n; ++i) {
        row_begin[i + 2] += row_begin[i + 1];
    }
    for (int e = 0; e < w->count; ++e) {
        order[row_begin[w->row[e] / d + 1]++] = e;
    }
}

static TdlStatus gather_blocks(const TdlAllocator* mem, const RawProblem* raw, BlockRows* out,
                               int* scratch[3]) {
    const Triplets* w = &raw->w;
    size_t n = (size_t)raw->n, count = (size_t)w->count;
    out->start = tdl_alloc_array(mem, n + 1, sizeof(int));
    out->column = tdl_alloc_array(mem, count, sizeof(int));
    out->place = tdl_alloc_array(mem, count, sizeof(int));
    for (int k = 0; k < 3; ++k) {
        scratch[k] = tdl_alloc_array(mem, k == 0 ? n + 2 : k == 1 ? count : n, sizeof(int));
    }
    if (!out->start || !out->column || !out->place || !scratch[0] || !scratch[1] || !scratch[2]) {
        return TDL_STATUS_NO_MEMORY;
    }
    sort_by_row(w, raw->d, raw->n, scratch[0], scratch[1]);
    int blocks = assign_blocks(w, raw->d, raw->n, scratch[1], scratch[0], out, scratch[2]);
    int d2 = raw->d * raw->d;
    out->blocks = tdl_alloc_array(mem, (size_t)blocks * (size_t)d2, sizeof(double));
    if (out->blocks == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int e = 0; e < w->count; ++e) {
        double* block = out->blocks + (size_t)out->place[e] * (size_t)d2;
        block[(w->col[e] % raw->d) * raw->d + w->row[e] % raw->d] += w->value[e];
    }
    return TDL_STATUS_OK;
}

static TdlStatus local_problem(const TdlHost* host, const RawProblem* raw,
                               TdlFrictionProblem** out) {
    BlockRows rows = {0};
    int* scratch[3] = {NULL, NULL, NULL};
    TdlStatus status = gather_blocks(&host->mem, raw, &rows, scratch);
    if (status == TDL_STATUS_OK) {
        TdlFrictionMatrixDef def = {
            .laws = {.block_size = raw->d, .contact_count = raw->n, .mu = raw->mu},
            .b = raw->q,
            .row_start = rows.start,
            .column = rows.column,
            .blocks = rows.blocks};
        status = tdl_friction_problem_create(host, &def, out);
    }
    tdl_free(&host->mem, rows.start);
    tdl_free(&host->mem, rows.column);
    tdl_free(&host->mem, rows.place);
    tdl_free(&host->mem, rows.blocks);
    for (int k = 0; k < 3; ++k) {
        tdl_free(&host->mem, scratch[k]);
    }
    return status;
}

// --- problems ------------------------------------------------------------------------------------

static void tell_named(void* user, TdlLogLevel level, const char* message) {
    const NamedHost* host = user;
    tdl_log(host->real, level, "%s: %s", host->name, message);
}

const TdlHost* named_host(NamedHost* host, const TdlHost* real, const char* name) {
    *host = (NamedHost){.named = *real, .real = real, .name = name};
    host->named.log = tell_named;
    host->named.log_user = host;
    return &host->named;
}

void body_arrays_free(BodyArrays* a) {
    tdl_free(&a->mem, a->dof_start);
    tdl_free(&a->mem, a->body);
    tdl_free(&a->mem, a->entries);
    tdl_free(&a->mem, a->span);
    tdl_free(&a->mem, (void*)a->list);
    tdl_free(&a->mem, a->velocity);
    tdl_free(&a->mem, a->u_free);
    tdl_free(&a->mem, a->h);
    tdl_free(&a->mem, a->y);
    tdl_free(&a->mem, a->a_start);
    tdl_free(&a->mem, a->a_column);
    tdl_free(&a->mem, a->a_value);
}

static void release_arrays(void* user) {
    BodyArrays* arrays = user;
    TdlAllocator mem = arrays->mem;
    body_arrays_free(arrays);
    tdl_free(&mem, arrays);
}

TdlStatus problem_hand_over(const TdlHost* host, TdlFrictionBodiesDef* def, BodyArrays* arrays,
                            TdlFrictionProblem** out) {
    BodyArrays* kept = tdl_alloc_zero(&host->mem, sizeof *kept);
    if (kept == NULL) {
        body_arrays_free(arrays);
        return TDL_STATUS_NO_MEMORY;
    }
    *kept = *arrays;
    def->release = release_arrays;
    def->release_user = kept;
    TdlStatus status = tdl_friction_problem_create_bodies(host, def, out);
    if (status != TDL_STATUS_OK) {
        release_arrays(kept);
    }
    return status == TDL_STATUS_BAD_ARGUMENT ? TDL_STATUS_BAD_INPUT : status;
}

// --- planar problems -----------------------------------------------------------------------------

static void spread(int* index, int count) {
    for (int e = 0; e < count; ++e) {
        index[e] = index[e] / 2 * 3 + index[e] % 2;
    }
}

// A problem of the plane as one of space: each contact gets a second tangential direction, in which
// nothing moves and nothing pulls. friction.md (F.50)
static TdlStatus embed_planar(const TdlAllocator* mem, RawProblem* raw) {
    double* q = tdl_alloc_array(mem, 3 * (size_t)raw->n, sizeof(double));
    if (q == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int k = 0; k < 2 * raw->n; ++k) {
        q[k / 2 * 3 + k % 2] = raw->q[k];
    }
    tdl_free(mem, raw->q);
    raw->q = q;
    raw->d = 3;
    if (raw->global) {
        spread(raw->h.col, raw->h.count);
        raw->h.cols = 3 * raw->n;
    } else {
        spread(raw->w.row, raw->w.count);
        spread(raw->w.col, raw->w.count);
        raw->w.rows = raw->w.cols = 3 * raw->n;
    }
    return TDL_STATUS_OK;
}

static TdlStatus problem_from_raw(const TdlHost* host, const char* name, RawProblem* raw,
                                  TdlFrictionProblem** out) {
    for (int i = 0; i < raw->n; ++i) {
        if (!(raw->mu[i] >= 0.0) || isinf(raw->mu[i])) {
            return tdl_fail(host, TDL_STATUS_BAD_INPUT,
                            "%s: contact %d: friction coefficient %g is negative or not finite",
                            name, i, raw->mu[i]);
        }
    }
    TdlStatus status = raw->d == 2 ? embed_planar(&host->mem, raw) : TDL_STATUS_OK;
    if (status != TDL_STATUS_OK) {
        return status;
    }
    NamedHost named;
    status = raw->global ? global_problem(host, name, raw, out)
                         : local_problem(named_host(&named, host, name), raw, out);
    return status == TDL_STATUS_BAD_ARGUMENT ? TDL_STATUS_BAD_INPUT : status;
}

TdlStatus problem_from_bytes(const TdlHost* host, const char* name, char* bytes, size_t size,
                             TdlFrictionProblem** out) {
    RawProblem raw;
    TdlStatus status;
    Hdf5File file = {.host = host, .name = name, .data = (const unsigned char*)bytes, .size = size};
    if (hdf5_looks_like(file.data, size)) {
        uint64_t root = 0;
        uint64_t bodies = hdf5_root(&file, &root) ? hdf5_find(&file, root, "tendril_bodies") : 0;
        if (bodies != 0) {
            return problem_read_bodies(&file, bodies, out);
        }
        status = file.failed ? TDL_STATUS_BAD_INPUT : problem_parse_hdf5(&file, root, &raw);
    } else {
        status = problem_parse_text(host, name, bytes, size, &raw);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = problem_from_raw(host, name, &raw, out);
    raw_free(&host->mem, &raw);
    return status;
}

// --- files ---------------------------------------------------------------------------------------

// Either a text or HDF5.
static const char* judge_problem(const char* head, size_t size, uint64_t total) {
    return hdf5_looks_like((const unsigned char*)head, size) ? NULL
                                                             : input_judge_text(head, size, total);
}

TdlStatus tdl_friction_problem_read(const TdlHost* host, const char* path,
                                    TdlFrictionProblem** out) {
    char* bytes = NULL;
    size_t size = 0;
    TdlStatus status = file_read(host, path, INT32_MAX - 1, judge_problem, &bytes, &size);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = problem_from_bytes(host, path, bytes, size, out);
    tdl_free(&host->mem, bytes);
    return status;
}

static bool ends_with(const char* text, const char* end) {
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

static void write_ends(FILE* file, int n, int d) {
    for (int i = 1; i <= n; ++i) {
        fprintf(file, "%d\t", d * i);
    }
    fprintf(file, "\n");
}

// blocks numbered in row order, columns of each block under each other
static void write_blocks(FILE* file, const TdlFrictionMatrixDef* m) {
    int n = m->laws.contact_count, d = m->laws.block_size, count = m->row_start[n];
    fprintf(file, "1\n%d\n%d\n%d\n%d\n%d\n", d * n, d * n, count, n, n);
    write_ends(file, n, d);
    write_ends(file, n, d);
    fprintf(file, "%d\n%d\n", n + 1, count);
    for (int i = 0; i <= n; ++i) {
        fprintf(file, "%d\t", m->row_start[i]);
    }
    fprintf(file, "\n");
    for (int e = 0; e < count; ++e) {
        fprintf(file, "%d\t", m->column[e]);
    }
    fprintf(file, "\n");
    for (int e = 0; e < count; ++e) {
        fprintf(file, "%d\n", e);
        for (int k = 0; k < d * d; ++k) {
            fprintf(file, "%.17g\n", m->blocks[(size_t)e * (size_t)(d * d) + (size_t)k]);
        }
    }
}

static TdlStatus write_text(const TdlHost* host, const TdlOutput* out,
                            const TdlFrictionMatrixDef* m) {
    FILE* file = fopen(out->beside, "wb");
    if (file == NULL) {
        return tdl_fail(host, TDL_STATUS_IO, "%s: could not be opened for writing", out->path);
    }
    int n = m->laws.contact_count, d = m->laws.block_size;
    fprintf(file, "%d\n%d\n", d, n);
    write_blocks(file, m);
    for (int k = 0; k < n * d; ++k) {
        double c = k % d == 0 ? m->laws.normal_velocity[k / d] : 0.0;
        fprintf(file, "%.17g ", m->b[k] - c);
    }
    fprintf(file, "\n");
    for (int i = 0; i < n; ++i) {
        fprintf(file, "%.17g ", m->laws.mu[i]);
    }
    fprintf(file, "\n0\n");
    bool good = ferror(file) == 0;
    good = fclose(file) == 0 && good;
    return good ? TDL_STATUS_OK
                : tdl_fail(host, TDL_STATUS_IO, "%s: could not be written", out->path);
}

static bool is_hdf5(const char* path) {
    return ends_with(path, ".hdf5") || ends_with(path, ".h5");
}

static bool is_fclib(const char* path) {
    return ends_with(path, ".fclib.hdf5") || ends_with(path, ".fclib.h5");
}

// W formed where it is not.
static TdlStatus write_explicit(const TdlHost* host, const TdlOutput* out,
                                const TdlFrictionProblem* problem) {
    TdlFrictionMatrixDef m = tdl_friction_problem_matrix(problem);
    for (int i = 0; i < m.laws.contact_count; ++i) {
        bool associated = m.laws.associated != NULL && m.laws.associated[i] != 0;
        if (m.laws.bilateral[i] != 0 || isinf(m.laws.mu[i]) || associated) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                            "%s: contact %d is bilateral, associated or has infinite friction, "
                            "which the format cannot hold",
                            out->path, i);
        }
    }
    TdlFrictionProblem* formed = NULL;
    TdlStatus status = TDL_STATUS_OK;
    if (m.row_start == NULL) {
        status = tdl_friction_problem_explicit(host, problem, &formed);
        problem = formed;
    }
    if (status == TDL_STATUS_OK) {
        m = tdl_friction_problem_matrix(problem);
        status = is_hdf5(out->path) ? problem_write_hdf5(host, out, &m) : write_text(host, out, &m);
    }
    tdl_friction_problem_destroy(formed);
    return status;
}

TdlStatus tdl_friction_problem_write(const TdlHost* host, const char* path,
                                     const TdlFrictionProblem* problem, const double* guess) {
    TdlFrictionBodiesDef def = tdl_friction_problem_bodies(problem);
    bool bodies = def.body != NULL && is_hdf5(path) && !is_fclib(path);
    TdlOutput out;
    TdlStatus status = tdl_output_begin(host, path, &out);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = bodies ? problem_write_bodies(host, &out, &def, guess != NULL ? guess : def.laws.guess)
                    : write_explicit(host, &out, problem);
    TdlStatus ended = tdl_output_end(host, &out, status == TDL_STATUS_OK);
    return status == TDL_STATUS_OK ? ended : status;
}
