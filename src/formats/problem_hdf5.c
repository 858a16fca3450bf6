// FCLIB problems in HDF5: a small reader of our own, and a writer through the HDF5 library.
//
// The library is not made for hostile files, so reading does not use it. What FCLIB writes is a
// plain corner of the format: superblock, groups as B-trees of symbol tables (or compact links),
// contiguous datasets of little-endian numbers without filters. That corner is read here from the
// bytes in memory, every offset checked; anything else is refused with a message.
#include "base/log.h"
#include "base/memory.h"
#include "formats/problem_io.h"

#include <hdf5.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const unsigned char SIGNATURE[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
// Structures visited in all lookups of a file: a cycle ends here.
enum { MAX_VISITS = 1 << 20, MAX_MESSAGES = 4096 };

typedef struct Reader {
    const TdlHost* host;
    const char* name;
    const unsigned char* data;
    uint64_t size, base;
    int visits;
    bool failed;
} Reader;

typedef struct Dataset {
    bool has_space, has_type, has_layout;
    int kind;      // 0 integer, 1 real
    uint64_t item; // bytes of a number
    bool is_signed;
    uint64_t count, offset, bytes;
} Dataset;

static bool fail(Reader* r, const char* format, ...) TDL_PRINTF(2, 3);
static bool fail(Reader* r, const char* format, ...) {
    if (!r->failed) {
        char text[256];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        tdl_log(r->host, TDL_LOG_ERROR, "%s: %s", r->name, text);
    }
    r->failed = true;
    return false;
}

static bool inside(const Reader* r, uint64_t at, uint64_t length) {
    return at <= r->size && length <= r->size - at;
}

// little-endian number of `length` bytes; zero outside the file
static uint64_t number_at(const Reader* r, uint64_t at, int length) {
    uint64_t x = 0;
    if (inside(r, at, (uint64_t)length)) {
        for (int k = length - 1; k >= 0; --k) {
            x = x << 8 | r->data[at + (uint64_t)k];
        }
    }
    return x;
}

static bool visit(Reader* r) {
    return ++r->visits <= MAX_VISITS || fail(r, "the file's groups form a cycle");
}

bool problem_looks_like_hdf5(const unsigned char* data, size_t size) {
    return size >= sizeof SIGNATURE && memcmp(data, SIGNATURE, sizeof SIGNATURE) == 0;
}

// --- object headers ------------------------------------------------------------------------------

// Calls fn for every message of an object until it returns false.
typedef bool (*MessageFn)(Reader* r, void* user, int type, uint64_t at, uint64_t length);

static bool walk_chunk(Reader* r, uint64_t at, uint64_t length, int version, bool ordered,
                       MessageFn fn, void* user, int depth);

static bool one_message(Reader* r, int type, uint64_t at, uint64_t length, int version,
                        bool ordered, MessageFn fn, void* user, int depth) {
    if (type != 0x10) {
        return fn(r, user, type, at, length);
    }
    uint64_t next = r->base + number_at(r, at, 8), size = number_at(r, at + 8, 8);
    if (depth > 64) {
        return fail(r, "an object header never ends");
    }
    if (version == 2) { // the chunk begins with OCHK and ends with a checksum
        if (size < 8) {
            return fail(r, "an object header is damaged");
        }
        next += 4;
        size -= 8;
    }
    return walk_chunk(r, next, size, version, ordered, fn, user, depth + 1);
}

static bool walk_chunk(Reader* r, uint64_t at, uint64_t length, int version, bool ordered,
                       MessageFn fn, void* user, int depth) {
    if (!visit(r) || !inside(r, at, length)) {
        return fail(r, "an object header lies outside the file");
    }
    uint64_t end = at + length, head = version == 1 ? 8 : ordered ? 6 : 4;
    for (int k = 0; k < MAX_MESSAGES && end - at >= head; ++k) {
        int type = (int)number_at(r, at, version == 1 ? 2 : 1);
        uint64_t size = number_at(r, at + (version == 1 ? 2 : 1), 2);
        at += head;
        if (size > end - at) {
            return fail(r, "a header message lies outside its header");
        }
        if (!one_message(r, type, at, size, version, ordered, fn, user, depth)) {
            return false;
        }
        at += size;
    }
    return true;
}

static bool walk_object(Reader* r, uint64_t at, MessageFn fn, void* user) {
    if (!inside(r, at, 16)) {
        return fail(r, "an object lies outside the file");
    }
    if (r->data[at] == 1) {
        return walk_chunk(r, at + 16, number_at(r, at + 8, 4), 1, false, fn, user, 0);
    }
    if (memcmp(r->data + at, "OHDR", 4) == 0 && r->data[at + 4] == 2) {
        int flags = r->data[at + 5];
        uint64_t skip = 6 + (flags & 0x20 ? 16u : 0u) + (flags & 0x10 ? 4u : 0u);
        int width = 1 << (flags & 3);
        uint64_t length = number_at(r, at + skip, width);
        return walk_chunk(r, at + skip + (uint64_t)width, length, 2, (flags & 4) != 0, fn, user, 0);
    }
    return fail(r, "an object header of unknown version");
}

// --- groups --------------------------------------------------------------------------------------

typedef struct Lookup {
    const char* wanted;
    size_t length;
    uint64_t found; // object address, 0 when not found
} Lookup;

// names in a local heap end with a zero byte
static bool name_matches(const Reader* r, uint64_t heap, uint64_t offset, const Lookup* look) {
    uint64_t size = number_at(r, heap + 8, 8), data = r->base + number_at(r, heap + 24, 8);
    if (!inside(r, heap, 32) || memcmp(r->data + heap, "HEAP", 4) != 0 || offset >= size ||
        look->length >= size - offset || !inside(r, data, size)) {
        return false;
    }
    const unsigned char* name = r->data + data + offset;
    return memcmp(name, look->wanted, look->length) == 0 && name[look->length] == 0;
}

static bool search_symbols(Reader* r, uint64_t at, uint64_t heap, Lookup* look) {
    uint64_t count = number_at(r, at + 6, 2);
    if (!visit(r) || !inside(r, at, 8 + 40 * count) || memcmp(r->data + at, "SNOD", 4) != 0) {
        return fail(r, "a symbol table is damaged");
    }
    for (uint64_t k = 0; k < count && look->found == 0; ++k) {
        uint64_t entry = at + 8 + 40 * k;
        if (name_matches(r, heap, number_at(r, entry, 8), look)) {
            look->found = r->base + number_at(r, entry + 8, 8);
        }
    }
    return true;
}

static bool search_tree(Reader* r, uint64_t at, uint64_t heap, Lookup* look, int depth) {
    uint64_t count = number_at(r, at + 6, 2);
    if (!visit(r) || depth > 16 || !inside(r, at, 24 + 16 * count + 8) ||
        memcmp(r->data + at, "TREE", 4) != 0 || r->data[at + 4] != 0) {
        return fail(r, "a group's tree is damaged");
    }
    bool leaf = r->data[at + 5] == 0;
    for (uint64_t k = 0; k < count && look->found == 0; ++k) {
        uint64_t child = r->base + number_at(r, at + 32 + 16 * k, 8);
        if (!(leaf ? search_symbols(r, child, heap, look)
                   : search_tree(r, child, heap, look, depth + 1))) {
            return false;
        }
    }
    return true;
}

// a link message of a compact group: hard links only
static void match_link(const Reader* r, uint64_t at, uint64_t length, Lookup* look) {
    if (length < 4 || r->data[at] != 1) {
        return;
    }
    int flags = r->data[at + 1];
    uint64_t p = at + 2, end = at + length;
    int kind = flags & 8 ? r->data[p++] : 0;
    p += (flags & 4 ? 8u : 0u) + (flags & 16 ? 1u : 0u);
    int width = 1 << (flags & 3);
    uint64_t size = number_at(r, p, width);
    p += (uint64_t)width;
    if (kind == 0 && p <= end && size == look->length && end - p >= size + 8 &&
        memcmp(r->data + p, look->wanted, size) == 0) {
        look->found = r->base + number_at(r, p + size, 8);
    }
}

static bool group_message(Reader* r, void* user, int type, uint64_t at, uint64_t length) {
    Lookup* look = user;
    if (look->found != 0) {
        return true;
    }
    if (type == 0x11 && length >= 16) {
        return search_tree(r, r->base + number_at(r, at, 8), r->base + number_at(r, at + 8, 8),
                           look, 0);
    }
    if (type == 0x06) {
        match_link(r, at, length, look);
    }
    return true;
}

// The object at a path such as "W/x" below `at`; 0 when there is none.
static uint64_t find_object(Reader* r, uint64_t at, const char* path) {
    while (*path != '\0' && at != 0 && !r->failed) {
        const char* slash = strchr(path, '/');
        Lookup look = {path, slash == NULL ? strlen(path) : (size_t)(slash - path), 0};
        if (!walk_object(r, at, group_message, &look)) {
            return 0;
        }
        at = look.found;
        path += look.length + (slash == NULL ? 0 : 1);
    }
    return r->failed ? 0 : at;
}

// --- datasets ------------------------------------------------------------------------------------

static bool read_space(Reader* r, Dataset* d, uint64_t at, uint64_t length) {
    int version = (int)number_at(r, at, 1), rank = (int)number_at(r, at + 1, 1);
    uint64_t first = version == 1 ? 8 : 4;
    if ((version != 1 && version != 2) || length < first + 8 * (uint64_t)rank) {
        return fail(r, "a dataspace is damaged");
    }
    d->count = 1;
    for (int k = 0; k < rank; ++k) {
        uint64_t extent = number_at(r, at + first + 8 * (uint64_t)k, 8);
        if (extent > r->size || d->count * extent > r->size) {
            return fail(r, "a dataset claims more numbers than the file has bytes");
        }
        d->count *= extent;
    }
    d->has_space = true;
    return true;
}

static bool read_type(Reader* r, Dataset* d, uint64_t at, uint64_t length) {
    if (length < 8) {
        return fail(r, "a datatype is damaged");
    }
    int kind = r->data[at] & 15, order = r->data[at + 1];
    d->item = number_at(r, at + 4, 4);
    d->kind = kind;
    d->is_signed = (order & 8) != 0;
    bool integer = kind == 0 && (d->item == 1 || d->item == 2 || d->item == 4 || d->item == 8);
    bool real = kind == 1 && (d->item == 4 || d->item == 8) && (order & 0x40) == 0;
    if ((order & 1) != 0 || !(integer || real)) {
        d->kind = -1; // texts and the like: only wrong when asked for numbers
    }
    d->has_type = true;
    return true;
}

static bool read_layout(Reader* r, Dataset* d, uint64_t at, uint64_t length) {
    int version = (int)number_at(r, at, 1);
    int kind = (int)number_at(r, at + (version < 3 ? 2 : 1), 1);
    d->has_layout = true;
    if (kind == 0 && version >= 3 && length >= 4) {
        d->offset = at + 4;
        d->bytes = number_at(r, at + 2, 2);
    } else if (kind == 1 && version >= 3 && length >= 18) {
        d->offset = r->base + number_at(r, at + 2, 8);
        d->bytes = number_at(r, at + 10, 8);
    } else if (kind == 1 && version < 3 && length >= 16) {
        d->offset = r->base + number_at(r, at + 8, 8);
        d->bytes = UINT64_MAX; // not told: the dataspace decides
    } else {
        return fail(r, "a dataset is stored in chunks or in an unknown way");
    }
    return true;
}

static bool dataset_message(Reader* r, void* user, int type, uint64_t at, uint64_t length) {
    switch (type) {
    case 0x01:
        return read_space(r, user, at, length);
    case 0x03:
        return read_type(r, user, at, length);
    case 0x08:
        return read_layout(r, user, at, length);
    case 0x0b:
        return fail(r, "a dataset is compressed or filtered");
    default:
        return true;
    }
}

static bool open_dataset(Reader* r, uint64_t root, const char* path, Dataset* d) {
    *d = (Dataset){0};
    uint64_t at = find_object(r, root, path);
    if (at == 0) {
        return fail(r, "has no dataset %s", path);
    }
    if (!walk_object(r, at, dataset_message, d)) {
        return false;
    }
    if (!d->has_space || !d->has_type || !d->has_layout || d->kind < 0) {
        return fail(r, "%s is not a dataset of numbers", path);
    }
    if (d->count > d->bytes / d->item || !inside(r, d->offset, d->count * d->item)) {
        return fail(r, "%s lies outside the file", path);
    }
    return true;
}

static double value_at(const Reader* r, const Dataset* d, uint64_t k) {
    uint64_t at = d->offset + k * d->item, bits = number_at(r, at, (int)d->item);
    if (d->kind == 1) {
        if (d->item == 8) {
            double x;
            memcpy(&x, &bits, sizeof x);
            return x;
        }
        float x;
        uint32_t low = (uint32_t)bits;
        memcpy(&x, &low, sizeof x);
        return x;
    }
    int unused = 64 - 8 * (int)d->item;
    return d->is_signed ? (double)((int64_t)(bits << unused) >> unused) : (double)bits;
}

// one whole number in [least, most]
static bool read_count(Reader* r, uint64_t root, const char* group, const char* name, double least,
                       double most, int* out) {
    char path[64];
    snprintf(path, sizeof path, "%s%s%s", group, *group == '\0' ? "" : "/", name);
    Dataset d;
    *out = 0;
    if (!open_dataset(r, root, path, &d)) {
        return false;
    }
    double x = d.count >= 1 ? value_at(r, &d, 0) : NAN;
    if (!(x >= least && x <= most) || x != floor(x)) {
        return fail(r, "%s is %g, not a whole number from %g to %g", path, x, least, most);
    }
    *out = (int)x;
    return true;
}

static bool read_vector(Reader* r, uint64_t root, const char* path, uint64_t count, double** out) {
    Dataset d;
    if (!open_dataset(r, root, path, &d)) {
        return false;
    }
    if (d.count != count) {
        return fail(r, "%s has %llu numbers, not %llu", path, (unsigned long long)d.count,
                    (unsigned long long)count);
    }
    *out = tdl_alloc_array(&r->host->mem, (size_t)count, sizeof(double));
    if (*out == NULL) {
        return fail(r, "out of memory");
    }
    for (uint64_t k = 0; k < count; ++k) {
        (*out)[k] = value_at(r, &d, k);
        if (!isfinite((*out)[k])) {
            return fail(r, "%s has an entry that is not finite", path);
        }
    }
    return true;
}

typedef struct Columns {
    Dataset p, i, x;
} Columns;

static bool keep(Reader* r, Triplets* t, double row, double col, double value) {
    if (!(row >= 0.0 && row < t->rows && col >= 0.0 && col < t->cols)) {
        return fail(r, "a matrix entry lies at (%g, %g), outside %d x %d", row, col, t->rows,
                    t->cols);
    }
    if (!isfinite(value)) {
        return fail(r, "a matrix entry is not finite");
    }
    return value == 0.0 || triplets_add(&r->host->mem, t, (int)row, (int)col, value) ||
           fail(r, "out of memory");
}

// compressed by rows (nz = -2) or by columns (nz = -1)
static bool read_compressed(Reader* r, const Columns* c, bool by_row, Triplets* t) {
    int lines = by_row ? t->rows : t->cols;
    if (c->p.count < (uint64_t)lines + 1) {
        return fail(r, "a matrix has too few pointers");
    }
    for (int line = 0; line < lines; ++line) {
        double begin = value_at(r, &c->p, (uint64_t)line);
        double end = value_at(r, &c->p, (uint64_t)line + 1);
        if (!(begin >= 0.0 && begin <= end && end <= (double)c->i.count &&
              end <= (double)c->x.count)) {
            return fail(r, "a matrix pointer is out of range");
        }
        for (uint64_t e = (uint64_t)begin; e < (uint64_t)end; ++e) {
            double across = value_at(r, &c->i, e), x = value_at(r, &c->x, e);
            if (!keep(r, t, by_row ? line : across, by_row ? across : line, x)) {
                return false;
            }
        }
        if (t->count > INT32_MAX / 2) {
            return fail(r, "a matrix has too many entries");
        }
    }
    return true;
}

static bool read_matrix(Reader* r, uint64_t root, const char* group, Triplets* t) {
    int nz = 0;
    Columns c;
    char path[64];
    if (!read_count(r, root, group, "m", 0, 1 << 30, &t->rows) ||
        !read_count(r, root, group, "n", 0, 1 << 30, &t->cols) ||
        !read_count(r, root, group, "nz", -2, 1 << 30, &nz)) {
        return false;
    }
    Dataset* parts[3] = {&c.p, &c.i, &c.x};
    for (int k = 0; k < 3; ++k) {
        snprintf(path, sizeof path, "%s/%c", group, "pix"[k]);
        if (!open_dataset(r, root, path, parts[k])) {
            return false;
        }
    }
    if (nz < 0) {
        return read_compressed(r, &c, nz == -2, t);
    }
    uint64_t count = (uint64_t)nz;
    if (count > c.p.count || count > c.i.count || count > c.x.count) {
        return fail(r, "%s announces %d entries and has fewer", group, nz);
    }
    for (uint64_t e = 0; e < count; ++e) {
        if (!keep(r, t, value_at(r, &c.i, e), value_at(r, &c.p, e), value_at(r, &c.x, e))) {
            return false;
        }
    }
    return true;
}

// --- problems ------------------------------------------------------------------------------------

static bool read_contacts(Reader* r, uint64_t root, RawProblem* raw) {
    Dataset mu;
    if (!read_count(r, root, "", "spacedim", 2, 6, &raw->d)) {
        return false;
    }
    if (raw->d != 3 && raw->d != 6) {
        return fail(r, "spacedim is %d, not 3 or 6", raw->d);
    }
    if (!open_dataset(r, root, "vectors/mu", &mu)) {
        return false;
    }
    if (mu.count > (uint64_t)(INT32_MAX / 8)) {
        return fail(r, "too many contacts");
    }
    raw->n = (int)mu.count;
    return read_vector(r, root, "vectors/mu", mu.count, &raw->mu);
}

static bool read_local(Reader* r, uint64_t root, RawProblem* raw) {
    int size = raw->d * raw->n;
    if (!read_matrix(r, root, "W", &raw->w)) {
        return false;
    }
    if (raw->w.rows != size || raw->w.cols != size) {
        return fail(r, "W is %d x %d for %d contacts", raw->w.rows, raw->w.cols, raw->n);
    }
    return read_vector(r, root, "vectors/q", (uint64_t)size, &raw->q);
}

static bool read_global(Reader* r, uint64_t root, RawProblem* raw) {
    int size = raw->d * raw->n;
    raw->global = true;
    if (!read_matrix(r, root, "M", &raw->w) || !read_matrix(r, root, "H", &raw->h)) {
        return false;
    }
    if (raw->w.rows != raw->w.cols || raw->h.rows != raw->w.rows || raw->h.cols != size) {
        return fail(r, "M is %d x %d and H %d x %d for %d contacts", raw->w.rows, raw->w.cols,
                    raw->h.rows, raw->h.cols, raw->n);
    }
    if (find_object(r, root, "G") != 0) {
        return fail(r, "has equality constraints G, which are not supported");
    }
    return !r->failed && read_vector(r, root, "vectors/f", (uint64_t)raw->w.rows, &raw->f) &&
           read_vector(r, root, "vectors/w", (uint64_t)size, &raw->q);
}

// the address of the root group's header
static bool open_root(Reader* r, uint64_t* root) {
    int version = (int)number_at(r, 8, 1);
    uint64_t sizes = version < 2 ? 13 : 9, at;
    if (number_at(r, sizes, 1) != 8 || number_at(r, sizes + 1, 1) != 8) {
        return fail(r, "offsets or lengths are not of eight bytes");
    }
    if (version < 2) {
        at = version == 0 ? 24 : 28;
        r->base = number_at(r, at, 8);
        *root = r->base + number_at(r, at + 40, 8);
    } else if (version < 4) {
        r->base = number_at(r, 12, 8);
        *root = r->base + number_at(r, 36, 8);
    } else {
        return fail(r, "superblock version %d is not known", version);
    }
    return true;
}

static bool read_problem(Reader* r, RawProblem* raw) {
    uint64_t root = 0;
    if (!open_root(r, &root)) {
        return false;
    }
    uint64_t local = find_object(r, root, "fclib_local");
    uint64_t global = local == 0 ? find_object(r, root, "fclib_global") : 0;
    if (r->failed) {
        return false;
    }
    if (local == 0 && global == 0) {
        return fail(r, "has neither fclib_local nor fclib_global");
    }
    return read_contacts(r, local != 0 ? local : global, raw) &&
           (local != 0 ? read_local(r, local, raw) : read_global(r, global, raw));
}

TdlStatus problem_parse_hdf5(const TdlHost* host, const char* name, const unsigned char* data,
                             size_t size, RawProblem* raw) {
    Reader r = {.host = host, .name = name, .data = data, .size = size};
    *raw = (RawProblem){0};
    if (!read_problem(&r, raw)) {
        raw_free(&host->mem, raw);
        return TDL_STATUS_BAD_INPUT;
    }
    return TDL_STATUS_OK;
}

// --- writing -------------------------------------------------------------------------------------

static bool put(hid_t group, const char* name, hid_t type, size_t count, const void* data) {
    hsize_t extent = count;
    hid_t space = H5Screate_simple(1, &extent, NULL);
    hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    H5Sclose(space);
    if (set >= 0) {
        H5Dclose(set);
    }
    return good;
}

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
    bool good = put(local, "spacedim", H5T_NATIVE_INT, 1, &d) &&
                put(w, "m", H5T_NATIVE_INT, 1, &size) && put(w, "n", H5T_NATIVE_INT, 1, &size) &&
                put(w, "nz", H5T_NATIVE_INT, 1, &nz) &&
                put(w, "nzmax", H5T_NATIVE_INT, 1, &nzmax) &&
                put(w, "p", H5T_NATIVE_INT, (size_t)size + 1, o->p) &&
                put(w, "i", H5T_NATIVE_INT, (size_t)nzmax, o->i) &&
                put(w, "x", H5T_NATIVE_DOUBLE, (size_t)nzmax, o->x) &&
                put(vectors, "q", H5T_NATIVE_DOUBLE, (size_t)size, o->q) &&
                put(vectors, "mu", H5T_NATIVE_DOUBLE, (size_t)n, m->laws.mu);
    H5Gclose(vectors);
    H5Gclose(w);
    H5Gclose(local);
    return good;
}

static TdlStatus write_rows(const TdlHost* host, const char* path, const TdlFrictionMatrixDef* m,
                            RowsOut* o) {
    spread_rows(m, o);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    bool good = file >= 0 && put_problem(file, m, o);
    good = file >= 0 && H5Fclose(file) >= 0 && good;
    return good ? TDL_STATUS_OK : tdl_fail(host, TDL_STATUS_IO, "%s: could not be written", path);
}

TdlStatus problem_write_hdf5(const TdlHost* host, const char* path, const TdlFrictionMatrixDef* m) {
    size_t d = (size_t)m->laws.block_size, n = (size_t)m->laws.contact_count;
    size_t entries = (size_t)m->row_start[n] * d * d;
    if (entries > INT32_MAX) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "%s: W has too many entries", path);
    }
    RowsOut o = {.p = tdl_alloc_array(&host->mem, d * n + 1, sizeof(int)),
                 .i = tdl_alloc_array(&host->mem, entries, sizeof(int)),
                 .x = tdl_alloc_array(&host->mem, entries, sizeof(double)),
                 .q = tdl_alloc_array(&host->mem, d * n, sizeof(double))};
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (o.p != NULL && o.i != NULL && o.x != NULL && o.q != NULL) {
        status = write_rows(host, path, m, &o);
    }
    tdl_free(&host->mem, o.p);
    tdl_free(&host->mem, o.i);
    tdl_free(&host->mem, o.x);
    tdl_free(&host->mem, o.q);
    return status;
}
