// Contact problems in velocity space as files of our own: what a problem was created from, number
// by number, so that what is read is solved with the bits of what was written. docs/problems.md
//
// Every count is that of a dataset that lies in the file, bodies' coordinates those of the dataset
// of their velocities, so that memory is taken only in proportion to the file.
#include "base/log.h"
#include "base/memory.h"
#include "formats/hdf5_writer.h"
#include "formats/problem_io.h"

#include <math.h>

// Files of the first version have no A.
// Version 2 has A, 3 rows of Y like those of H and lists with whitened rows, 4 associated contacts
// and gamma.
enum { VERSION = 4, MAX_CONTACTS = 1 << 26, MAX_COORDINATES = 1 << 30 };

// --- rows ----------------------------------------------------------------------------------------

static int dofs_of(const TdlFrictionBodiesDef* def, int side) {
    int body = def->body[side];
    return body < 0 ? 0 : def->dof_start[body + 1] - def->dof_start[body];
}

static int row_length(const TdlFrictionBodiesDef* def, int side) {
    int m = dofs_of(def, side);
    return m > 0 && def->span != NULL ? def->span[side].count : m;
}

// How many doubles the rows of H and, where they are others, those of Y have.
static void count_rows(const TdlFrictionBodiesDef* def, uint64_t* h, uint64_t* y) {
    uint64_t d = (uint64_t)def->laws.block_size;
    *h = *y = 0;
    for (int side = 0; side < 2 * def->laws.contact_count; ++side) {
        // of a body that touches itself the first side has the rows of Y for both
        bool again = side % 2 == 1 && def->body[side] == def->body[side - 1];
        *h += d * (uint64_t)row_length(def, side);
        *y += def->y_like_h ? d * (uint64_t)row_length(def, side)
              : again       ? 0
                            : d * (uint64_t)dofs_of(def, side);
    }
}

// --- reading -------------------------------------------------------------------------------------

// What is read, and where it is kept until it is the problem's.
typedef struct Reading {
    Hdf5File* file;
    uint64_t group;
    int version;
    TdlFrictionBodiesDef def;
    BodyArrays arrays;
    double *mu, *normal_velocity, *guess, *gamma;
    int *bilateral, *associated, *spans, *listed;
    unsigned char *flags, *shiftless; // bilateral, associated
} Reading;

static bool has(Reading* x, const char* name) {
    return hdf5_find(x->file, x->group, name) != 0;
}

static bool read_vector(Reading* x, const char* name, uint64_t count, double** out) {
    return hdf5_vector(x->file, x->group, name, count, out);
}

// A vector that may be missing.
static bool read_optional(Reading* x, const char* name, uint64_t count, double** out) {
    return has(x, name) ? read_vector(x, name, count, out) : !x->file->failed;
}

static bool read_integers(Reading* x, const char* name, uint64_t count, int least, int most,
                          int** out) {
    return hdf5_integers(x->file, x->group, name, count, least, most, out);
}

// mu may be infinite, which no other number may.
static bool read_mu(Reading* x) {
    Hdf5Dataset set;
    if (!hdf5_dataset(x->file, x->group, "mu", &set)) {
        return false;
    }
    if (set.count > MAX_CONTACTS) {
        return hdf5_fail(x->file, "mu: too many contacts");
    }
    x->mu = tdl_alloc_array(&x->file->host->mem, (size_t)set.count, sizeof(double));
    if (x->mu == NULL) {
        return hdf5_fail(x->file, "out of memory");
    }
    for (uint64_t i = 0; i < set.count; ++i) {
        x->mu[i] = hdf5_value(x->file, &set, i);
        if (!(x->mu[i] >= 0.0)) { // or NaN
            return hdf5_fail(x->file, "mu: contact %llu: %g is not from 0 to infinity",
                             (unsigned long long)i, x->mu[i]);
        }
    }
    x->def.laws.contact_count = (int)set.count;
    x->def.laws.mu = x->mu;
    return true;
}

// One flag a contact, which may be missing.
static bool read_flags(Reading* x, const char* name, int** numbers, unsigned char** flags) {
    int n = x->def.laws.contact_count;
    if (!has(x, name)) {
        return !x->file->failed;
    }
    *flags = tdl_alloc_array(&x->file->host->mem, (size_t)n, 1);
    if (*flags == NULL) {
        return hdf5_fail(x->file, "out of memory");
    }
    if (!read_integers(x, name, (uint64_t)n, 0, 1, numbers)) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        (*flags)[i] = (unsigned char)(*numbers)[i];
    }
    return true;
}

static bool read_laws(Reading* x) {
    TdlFrictionLaws* laws = &x->def.laws;
    if (!hdf5_count(x->file, x->group, "", "version", 1, VERSION, &x->version) ||
        !hdf5_count(x->file, x->group, "", "block_size", 3, 6, &laws->block_size)) {
        return false;
    }
    if (laws->block_size != 3 && laws->block_size != 6) {
        return hdf5_fail(x->file, "block_size is %d, not 3 or 6", laws->block_size);
    }
    if (!read_mu(x) || !read_flags(x, "bilateral", &x->bilateral, &x->flags) ||
        !read_flags(x, "associated", &x->associated, &x->shiftless)) {
        return false;
    }
    laws->bilateral = x->flags;
    laws->associated = x->shiftless;
    uint64_t n = (uint64_t)laws->contact_count, d = (uint64_t)laws->block_size;
    bool good = read_optional(x, "normal_velocity", n, &x->normal_velocity) &&
                read_optional(x, "guess", n * d, &x->guess) &&
                read_optional(x, "gamma", n, &x->gamma) &&
                read_optional(x, "u_free", n * d, &x->arrays.u_free);
    laws->normal_velocity = x->normal_velocity;
    laws->guess = x->guess;
    laws->gamma = x->gamma;
    x->def.u_free = x->arrays.u_free;
    return good;
}

static bool all_zero(const double* x, int count) {
    for (int k = 0; k < count; ++k) {
        if (x[k] != 0.0) {
            return false;
        }
    }
    return true;
}

static bool read_bodies(Reading* x) {
    Hdf5Dataset starts;
    if (!hdf5_dataset(x->file, x->group, "dof_start", &starts)) {
        return false;
    }
    if (starts.count < 1 || starts.count > MAX_CONTACTS) {
        return hdf5_fail(x->file, "dof_start has %llu numbers, not one more than there are bodies",
                         (unsigned long long)starts.count);
    }
    TdlFrictionBodiesDef* def = &x->def;
    int count = def->body_count = (int)starts.count - 1, *start = NULL;
    if (!read_integers(x, "dof_start", starts.count, 0, MAX_COORDINATES, &x->arrays.dof_start)) {
        return false;
    }
    def->dof_start = start = x->arrays.dof_start;
    for (int k = 0; k <= count; ++k) {
        if (k == 0 ? start[0] != 0 : start[k] < start[k - 1]) {
            return hdf5_fail(x->file, "dof_start does not rise from 0: its entry %d is %d", k,
                             start[k]);
        }
    }
    if (!read_vector(x, "velocity", (uint64_t)start[count], &x->arrays.velocity) ||
        !read_integers(x, "body", 2 * (uint64_t)def->laws.contact_count, -1, count - 1,
                       &x->arrays.body)) {
        return false;
    }
    def->body = x->arrays.body;
    // none was given where all are zero: then none is added
    def->velocity = all_zero(x->arrays.velocity, start[count]) ? NULL : x->arrays.velocity;
    return true;
}

static bool read_spans(Reading* x) {
    size_t sides = 2 * (size_t)x->def.laws.contact_count;
    if (!has(x, "span")) {
        return !x->file->failed;
    }
    x->arrays.span = tdl_alloc_array(&x->file->host->mem, sides, sizeof(TdlSpan));
    if (x->arrays.span == NULL) {
        return hdf5_fail(x->file, "out of memory");
    }
    if (!read_integers(x, "span", 2 * sides, 0, MAX_COORDINATES, &x->spans)) {
        return false;
    }
    for (size_t side = 0; side < sides; ++side) {
        TdlSpan span = {x->spans[2 * side], x->spans[2 * side + 1]};
        if (span.first > dofs_of(&x->def, (int)side) - span.count) {
            return hdf5_fail(x->file, "span: contact %zu reaches beyond body %d", side / 2,
                             x->def.body[side]);
        }
        x->arrays.span[side] = span;
    }
    x->def.span = x->arrays.span;
    return true;
}

// Entries of the lists of all sides, those of a side rising and of its body.
static bool check_list(Reading* x, int side, const int* list) {
    TdlSpan span = x->def.span[side];
    bool good = span.first == 0;
    for (int j = 0; j < span.count && good; ++j) {
        good = list[j] >= (j == 0 ? 0 : list[j - 1] + 1) && list[j] < dofs_of(&x->def, side);
    }
    return good ||
           hdf5_fail(x->file, "list: contact %d: not rising coordinates of body %d from span 0 on",
                     side / 2, x->def.body[side]);
}

static bool read_lists(Reading* x) {
    int sides = 2 * x->def.laws.contact_count;
    if (!has(x, "listed")) {
        return !x->file->failed;
    }
    bool rows = has(x, "y") || x->def.a.start != NULL || x->version >= 3;
    if (x->def.span == NULL || !rows) {
        return hdf5_fail(x->file, "listed: lists go with a dataset span and with y or a_start");
    }
    x->arrays.list = tdl_alloc_array(&x->file->host->mem, (size_t)sides, sizeof(int*));
    if (x->arrays.list == NULL) {
        return hdf5_fail(x->file, "out of memory");
    }
    if (!read_integers(x, "listed", (uint64_t)sides, 0, 1, &x->listed)) {
        return false;
    }
    uint64_t count = 0;
    for (int side = 0; side < sides; ++side) {
        count += x->listed[side] ? (uint64_t)x->def.span[side].count : 0;
    }
    if (!read_integers(x, "list", count, 0, MAX_COORDINATES, &x->arrays.entries)) {
        return false;
    }
    const int* next = x->arrays.entries;
    for (int side = 0; side < sides; ++side) {
        if (x->listed[side]) {
            if (!check_list(x, side, next)) {
                return false;
            }
            x->arrays.list[side] = next;
            next += x->def.span[side].count;
        }
    }
    x->def.list = x->arrays.list;
    return true;
}

// What is wrong in it shows when the problem is made.
static bool read_matrix(Reading* x) {
    uint64_t dofs = (uint64_t)x->def.dof_start[x->def.body_count];
    BodyArrays* to = &x->arrays;
    if (!has(x, "a_start")) {
        return !x->file->failed;
    }
    if (!read_integers(x, "a_start", dofs + 1, 0, MAX_COORDINATES, &to->a_start)) {
        return false;
    }
    uint64_t count = (uint64_t)to->a_start[dofs];
    x->def.a.start = to->a_start;
    bool good = read_integers(x, "a_column", count, 0, MAX_COORDINATES, &to->a_column) &&
                read_vector(x, "a_value", count, &to->a_value);
    x->def.a.column = to->a_column;
    x->def.a.value = to->a_value;
    return good;
}

static bool read_rows(Reading* x) {
    uint64_t h, y;
    int alike = 0;
    if (has(x, "y_like_h") && !hdf5_count(x->file, x->group, "", "y_like_h", 0, 1, &alike)) {
        return false;
    }
    x->def.y_like_h = alike == 1;
    if (x->def.y_like_h && x->def.span == NULL) {
        return hdf5_fail(x->file, "y_like_h goes with span");
    }
    count_rows(&x->def, &h, &y);
    if (!read_vector(x, "h", h, &x->arrays.h) || !read_optional(x, "y", y, &x->arrays.y)) {
        return false;
    }
    x->def.h = x->arrays.h;
    bool whitened = x->arrays.y == NULL && x->def.a.start == NULL;
    x->def.y = whitened ? x->arrays.h : x->arrays.y;
    return true;
}

TdlStatus problem_read_bodies(Hdf5File* file, uint64_t group, TdlFrictionProblem** out) {
    const TdlAllocator* mem = &file->host->mem;
    Reading x = {.file = file, .group = group, .arrays = {.mem = *mem}};
    TdlStatus status = TDL_STATUS_BAD_INPUT;
    if (read_laws(&x) && read_bodies(&x) && read_matrix(&x) && read_spans(&x) && read_lists(&x) &&
        read_rows(&x)) {
        NamedHost named;
        status =
            problem_hand_over(named_host(&named, file->host, file->name), &x.def, &x.arrays, out);
    } else {
        body_arrays_free(&x.arrays);
    }
    tdl_free(mem, x.mu);
    tdl_free(mem, x.normal_velocity);
    tdl_free(mem, x.guess);
    tdl_free(mem, x.gamma);
    tdl_free(mem, x.bilateral);
    tdl_free(mem, x.associated);
    tdl_free(mem, x.shiftless);
    tdl_free(mem, x.spans);
    tdl_free(mem, x.listed);
    tdl_free(mem, x.flags);
    return status;
}

// --- writing -------------------------------------------------------------------------------------

static bool put_integers(hid_t group, const char* name, size_t count, const int* x) {
    return hdf5_put(group, name, H5T_NATIVE_INT, count, x);
}

// Nothing where there is nothing.
static bool put_doubles(hid_t group, const char* name, size_t count, const double* x) {
    return x == NULL || hdf5_put(group, name, H5T_NATIVE_DOUBLE, count, x);
}

static bool put_laws(hid_t group, const TdlFrictionLaws* laws, const double* guess, int version) {
    size_t n = (size_t)laws->contact_count, d = (size_t)laws->block_size;
    return put_integers(group, "version", 1, &version) &&
           put_integers(group, "block_size", 1, &laws->block_size) &&
           put_doubles(group, "mu", n, laws->mu) &&
           hdf5_put(group, "bilateral", H5T_NATIVE_UCHAR, n, laws->bilateral) &&
           put_doubles(group, "normal_velocity", n, laws->normal_velocity) &&
           put_doubles(group, "guess", n * d, guess) &&
           (laws->associated == NULL ||
            hdf5_put(group, "associated", H5T_NATIVE_UCHAR, n, laws->associated)) &&
           put_doubles(group, "gamma", n, laws->gamma);
}

// Which sides have a list, and the entries of all.
static bool put_lists(const TdlHost* host, hid_t group, const TdlFrictionBodiesDef* def) {
    size_t sides = 2 * (size_t)def->laws.contact_count, count = 0;
    for (size_t side = 0; side < sides; ++side) {
        count += def->list[side] != NULL ? (size_t)def->span[side].count : 0;
    }
    int* listed = tdl_alloc_array(&host->mem, sides, sizeof(int));
    int* entries = tdl_alloc_array(&host->mem, count, sizeof(int));
    bool good = listed != NULL && entries != NULL;
    for (size_t side = 0, k = 0; good && side < sides; ++side) {
        listed[side] = def->list[side] != NULL;
        for (int j = 0; listed[side] && j < def->span[side].count; ++j) {
            entries[k++] = def->list[side][j];
        }
    }
    good = good && put_integers(group, "listed", sides, listed) &&
           put_integers(group, "list", count, entries);
    tdl_free(&host->mem, listed);
    tdl_free(&host->mem, entries);
    return good;
}

static bool put_bodies(const TdlHost* host, hid_t group, const TdlFrictionBodiesDef* def) {
    static const int nothing = 0; // where there are no bodies
    size_t bodies = (size_t)def->body_count;
    const int* start = bodies > 0 ? def->dof_start : &nothing;
    size_t dofs = (size_t)start[bodies];
    double* zero = tdl_alloc_array(&host->mem, dofs, sizeof(double));
    bool good = zero != NULL && put_integers(group, "dof_start", bodies + 1, start) &&
                put_doubles(group, "velocity", dofs, def->velocity != NULL ? def->velocity : zero);
    tdl_free(&host->mem, zero);
    TdlSparseRows a = def->a;
    if (a.start == NULL) {
        return good;
    }
    size_t entries = (size_t)a.start[dofs];
    return good && put_integers(group, "a_start", dofs + 1, a.start) &&
           put_integers(group, "a_column", entries, a.column) &&
           put_doubles(group, "a_value", entries, a.value);
}

static bool put_rows(const TdlHost* host, hid_t group, const TdlFrictionBodiesDef* def) {
    size_t n = (size_t)def->laws.contact_count;
    uint64_t h, y;
    count_rows(def, &h, &y);
    static const int alike = 1;
    // a TdlSpan is two ints
    return put_integers(group, "body", 2 * n, def->body) &&
           (def->span == NULL || put_integers(group, "span", 4 * n, &def->span->first)) &&
           (def->list == NULL || put_lists(host, group, def)) &&
           put_doubles(group, "h", h, def->h) &&
           (def->y == def->h || put_doubles(group, "y", y, def->y)) &&
           (!def->y_like_h || put_integers(group, "y_like_h", 1, &alike)) &&
           put_doubles(group, "u_free", n * (size_t)def->laws.block_size, def->u_free);
}

// The first that has all of it.
static int version_of(const TdlFrictionBodiesDef* def) {
    bool alike = def->y_like_h || (def->y == def->h && def->list != NULL);
    bool more = def->laws.associated != NULL || def->laws.gamma != NULL;
    return more ? VERSION : alike ? 3 : def->a.start != NULL ? 2 : 1;
}

TdlStatus problem_write_bodies(const TdlHost* host, const TdlOutput* out,
                               const TdlFrictionBodiesDef* def, const double* guess) {
    hid_t file = hdf5_create(out->beside);
    hid_t group =
        file < 0 ? -1 : H5Gcreate2(file, "tendril_bodies", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0 && put_laws(group, &def->laws, guess, version_of(def)) &&
                put_bodies(host, group, def) && put_rows(host, group, def);
    good = (group < 0 || H5Gclose(group) >= 0) && good;
    good = (file < 0 || hdf5_close(file)) && good;
    return good ? TDL_STATUS_OK
                : tdl_fail(host, TDL_STATUS_IO, "%s: could not be written", out->path);
}
