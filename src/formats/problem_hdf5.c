// FCLIB problems in HDF5: out of what the reader of hostile files finds, and in by the HDF5
// library.
#include "base/log.h"
#include "base/memory.h"
#include "formats/hdf5_reader.h"
#include "formats/hdf5_writer.h"
#include "formats/problem_io.h"

#include <math.h>
#include <stdio.h>

typedef struct Columns {
    Hdf5Dataset p, i, x;
} Columns;

static bool keep(Hdf5File* r, Triplets* t, double row, double col, double value) {
    if (!(row >= 0.0 && row < t->rows && col >= 0.0 && col < t->cols)) {
        return hdf5_fail(r, "a matrix entry lies at (%g, %g), outside %d x %d", row, col, t->rows,
                         t->cols);
    }
    if (!isfinite(value)) {
        return hdf5_fail(r, "a matrix entry is not finite");
    }
    return value == 0.0 || triplets_add(&r->host->mem, t, (int)row, (int)col, value) ||
           hdf5_fail(r, "out of memory");
}

// compressed by rows (nz = -2) or by columns (nz = -1)
static bool read_compressed(Hdf5File* r, const Columns* c, bool by_row, Triplets* t) {
    int lines = by_row ? t->rows : t->cols;
    if (c->p.count < (uint64_t)lines + 1) {
        return hdf5_fail(r, "a matrix has too few pointers");
    }
    for (int line = 0; line < lines; ++line) {
        double begin = hdf5_value(r, &c->p, (uint64_t)line);
        double end = hdf5_value(r, &c->p, (uint64_t)line + 1);
        if (!(begin >= 0.0 && begin <= end && end <= (double)c->i.count &&
              end <= (double)c->x.count)) {
            return hdf5_fail(r, "a matrix pointer is out of range");
        }
        for (uint64_t e = (uint64_t)begin; e < (uint64_t)end; ++e) {
            double across = hdf5_value(r, &c->i, e), x = hdf5_value(r, &c->x, e);
            if (!keep(r, t, by_row ? line : across, by_row ? across : line, x)) {
                return false;
            }
        }
        if (t->count > INT32_MAX / 2) {
            return hdf5_fail(r, "a matrix has too many entries");
        }
    }
    return true;
}

static bool read_matrix(Hdf5File* r, uint64_t root, const char* group, Triplets* t) {
    int nz = 0;
    Columns c;
    char path[64];
    if (!hdf5_count(r, root, group, "m", 0, 1 << 30, &t->rows) ||
        !hdf5_count(r, root, group, "n", 0, 1 << 30, &t->cols) ||
        !hdf5_count(r, root, group, "nz", -2, 1 << 30, &nz)) {
        return false;
    }
    Hdf5Dataset* parts[3] = {&c.p, &c.i, &c.x};
    for (int k = 0; k < 3; ++k) {
        snprintf(path, sizeof path, "%s/%c", group, "pix"[k]);
        if (!hdf5_dataset(r, root, path, parts[k])) {
            return false;
        }
    }
    if (nz < 0) {
        return read_compressed(r, &c, nz == -2, t);
    }
    uint64_t count = (uint64_t)nz;
    if (count > c.p.count || count > c.i.count || count > c.x.count) {
        return hdf5_fail(r, "%s announces %d entries and has fewer", group, nz);
    }
    for (uint64_t e = 0; e < count; ++e) {
        if (!keep(r, t, hdf5_value(r, &c.i, e), hdf5_value(r, &c.p, e), hdf5_value(r, &c.x, e))) {
            return false;
        }
    }
    return true;
}

// --- problems ------------------------------------------------------------------------------------

static bool read_contacts(Hdf5File* r, uint64_t root, RawProblem* raw) {
    Hdf5Dataset mu;
    if (!hdf5_count(r, root, "", "spacedim", 2, 6, &raw->d)) {
        return false;
    }
    if (raw->d != 2 && raw->d != 3 && raw->d != 6) {
        return hdf5_fail(r, "spacedim is %d, not 2, 3 or 6", raw->d);
    }
    if (!hdf5_dataset(r, root, "vectors/mu", &mu)) {
        return false;
    }
    if (mu.count > (uint64_t)(INT32_MAX / 8)) {
        return hdf5_fail(r, "too many contacts");
    }
    raw->n = (int)mu.count;
    return hdf5_vector(r, root, "vectors/mu", mu.count, &raw->mu);
}

static bool read_local(Hdf5File* r, uint64_t root, RawProblem* raw) {
    int size = raw->d * raw->n;
    if (!read_matrix(r, root, "W", &raw->w)) {
        return false;
    }
    if (raw->w.rows != size || raw->w.cols != size) {
        return hdf5_fail(r, "W is %d x %d for %d contacts", raw->w.rows, raw->w.cols, raw->n);
    }
    return hdf5_vector(r, root, "vectors/q", (uint64_t)size, &raw->q);
}

static bool read_global(Hdf5File* r, uint64_t root, RawProblem* raw) {
    int size = raw->d * raw->n;
    raw->global = true;
    if (!read_matrix(r, root, "M", &raw->w) || !read_matrix(r, root, "H", &raw->h)) {
        return false;
    }
    if (raw->w.rows != raw->w.cols || raw->h.rows != raw->w.rows || raw->h.cols != size) {
        return hdf5_fail(r, "M is %d x %d and H %d x %d for %d contacts", raw->w.rows, raw->w.cols,
                         raw->h.rows, raw->h.cols, raw->n);
    }
    if (hdf5_find(r, root, "G") != 0) {
        return hdf5_fail(r, "has equality constraints G, which are not supported");
    }
    return !r->failed && hdf5_vector(r, root, "vectors/f", (uint64_t)raw->w.rows, &raw->f) &&
           hdf5_vector(r, root, "vectors/w", (uint64_t)size, &raw->q);
}

static bool read_problem(Hdf5File* r, uint64_t root, RawProblem* raw) {
    uint64_t local = hdf5_find(r, root, "fclib_local");
    uint64_t global = local == 0 ? hdf5_find(r, root, "fclib_global") : 0;
    if (r->failed) {
        return false;
    }
    if (local == 0 && global == 0) {
        return hdf5_fail(r, "has neither fclib_local nor fclib_global nor tendril_bodies");
    }
    return read_contacts(r, local != 0 ? local : global, raw) &&
           (local != 0 ? read_local(r, local, raw) : read_global(r, global, raw));
}

TdlStatus problem_parse_hdf5(Hdf5File* r, uint64_t root, RawProblem* raw) {
    *raw = (RawProblem){0};
    if (!read_problem(r, root, raw)) {
        raw_free(&r->host->mem, raw);
        return TDL_STATUS_BAD_INPUT;
    }
    return TDL_STATUS_OK;
}

// --- writing -------------------------------------------------------------------------------------

// W by rows, scalar, and what the law sees of b.
typedef struct RowsOut {
    int *p, *i;
    double *x, *q;
} RowsOut;

static void spread_rows(const TdlFrictionMatrixDef* m, RowsOut* o) {
    int d = m->laws.block_size, n = m->laws.contact_count, k = 0;
    o->p[0] = 0;
    for (int i = 0; i < n; ++i) {
        for (int row = 0; row < d; ++row) {
            for (int e = m->row_start[i]; e < m->row_start[i + 1]; ++e) {
                for (int c = 0; c < d; ++c, ++k) {
                    o->i[k] = m->column[e] * d + c;
                    o->x[k] = m->blocks[(size_t)e * (size_t)(d * d) + (size_t)(c * d + row)];
                }
            }
            o->p[i * d + row + 1] = k;
        }
    }
    for (int row = 0; row < n * d; ++row) {
        o->q[row] = m->b[row] - (row % d == 0 ? m->laws.normal_velocity[row / d] : 0.0);
    }
}

static bool put_problem(hid_t file, const TdlFrictionMatrixDef* m, const RowsOut* o) {
    int d = m->laws.block_size, n = m->laws.contact_count;
    int size = d * n, nz = -2, nzmax = m->row_start[n] * d * d;
    hid_t local = H5Gcreate2(file, "fclib_local", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t w = H5Gcreate2(local, "W", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t vectors = H5Gcreate2(local, "vectors", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = hdf5_put(local, "spacedim", H5T_NATIVE_INT, 1, &d) &&
                hdf5_put(w, "m", H5T_NATIVE_INT, 1, &size) &&
                hdf5_put(w, "n", H5T_NATIVE_INT, 1, &size) &&
                hdf5_put(w, "nz", H5T_NATIVE_INT, 1, &nz) &&
                hdf5_put(w, "nzmax", H5T_NATIVE_INT, 1, &nzmax) &&
                hdf5_put(w, "p", H5T_NATIVE_INT, (size_t)size + 1, o->p) &&
                hdf5_put(w, "i", H5T_NATIVE_INT, (size_t)nzmax, o->i) &&
                hdf5_put(w, "x", H5T_NATIVE_DOUBLE, (size_t)nzmax, o->x) &&
                hdf5_put(vectors, "q", H5T_NATIVE_DOUBLE, (size_t)size, o->q) &&
                hdf5_put(vectors, "mu", H5T_NATIVE_DOUBLE, (size_t)n, m->laws.mu);
    H5Gclose(vectors);
    H5Gclose(w);
    H5Gclose(local);
    return good;
}

static TdlStatus write_rows(const TdlHost* host, const TdlOutput* out,
                            const TdlFrictionMatrixDef* m, RowsOut* o) {
    spread_rows(m, o);
    hid_t file = hdf5_create(out->beside);
    bool good = file >= 0 && put_problem(file, m, o);
    good = file >= 0 && hdf5_close(file) && good;
    return good ? TDL_STATUS_OK
                : tdl_fail(host, TDL_STATUS_IO, "%s: could not be written", out->path);
}

TdlStatus problem_write_hdf5(const TdlHost* host, const TdlOutput* out,
                             const TdlFrictionMatrixDef* m) {
    size_t d = (size_t)m->laws.block_size, n = (size_t)m->laws.contact_count;
    size_t entries = (size_t)m->row_start[n] * d * d;
    if (entries > INT32_MAX) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "%s: W has too many entries", out->path);
    }
    RowsOut o = {.p = tdl_alloc_array(&host->mem, d * n + 1, sizeof(int)),
                 .i = tdl_alloc_array(&host->mem, entries, sizeof(int)),
                 .x = tdl_alloc_array(&host->mem, entries, sizeof(double)),
                 .q = tdl_alloc_array(&host->mem, d * n, sizeof(double))};
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (o.p != NULL && o.i != NULL && o.x != NULL && o.q != NULL) {
        status = write_rows(host, out, m, &o);
    }
    tdl_free(&host->mem, o.p);
    tdl_free(&host->mem, o.i);
    tdl_free(&host->mem, o.x);
    tdl_free(&host->mem, o.q);
    return status;
}
