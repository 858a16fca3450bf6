// Files in HDF5 read without its library, which is not made for hostile ones.
//
// What FCLIB and our own writer leave is a plain corner of the format: superblock, groups as
// B-trees of symbol tables (or compact links), contiguous datasets of little-endian numbers without
// filters. That corner is read here from the bytes in memory, every offset checked; anything else
// is refused with a message.
#include "formats/hdf5_reader.h"

#include "base/log.h"
#include "base/memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const unsigned char SIGNATURE[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
// Structures visited in all lookups of a file: a cycle ends here.
enum { MAX_VISITS = 1 << 20, MAX_MESSAGES = 4096 };

bool hdf5_fail(Hdf5File* r, const char* format, ...) {
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

static bool inside(const Hdf5File* r, uint64_t at, uint64_t length) {
    return at <= r->size && length <= r->size - at;
}

// little-endian number of `length` bytes; zero outside the file
static uint64_t number_at(const Hdf5File* r, uint64_t at, int length) {
    uint64_t x = 0;
    if (inside(r, at, (uint64_t)length)) {
        for (int k = length - 1; k >= 0; --k) {
            x = x << 8 | r->data[at + (uint64_t)k];
        }
    }
    return x;
}

static bool visit(Hdf5File* r) {
    return ++r->visits <= MAX_VISITS || hdf5_fail(r, "the file's groups form a cycle");
}

bool hdf5_looks_like(const unsigned char* data, size_t size) {
    return size >= sizeof SIGNATURE && memcmp(data, SIGNATURE, sizeof SIGNATURE) == 0;
}

const char* hdf5_judge(const char* head, size_t size, uint64_t total) {
    (void)total;
    return hdf5_looks_like((const unsigned char*)head, size) ? NULL : "this is not HDF5";
}

// --- object headers ------------------------------------------------------------------------------

// Calls fn for every message of an object until it returns false.
typedef bool (*MessageFn)(Hdf5File* r, void* user, int type, uint64_t at, uint64_t length);

static bool walk_chunk(Hdf5File* r, uint64_t at, uint64_t length, int version, bool ordered,
                       MessageFn fn, void* user, int depth);

static bool one_message(Hdf5File* r, int type, uint64_t at, uint64_t length, int version,
                        bool ordered, MessageFn fn, void* user, int depth) {
    if (type != 0x10) {
        return fn(r, user, type, at, length);
    }
    uint64_t next = r->base + number_at(r, at, 8), size = number_at(r, at + 8, 8);
    if (depth > 64) {
        return hdf5_fail(r, "an object header never ends");
    }
    if (version == 2) { // the chunk begins with OCHK and ends with a checksum
        if (size < 8) {
            return hdf5_fail(r, "an object header is damaged");
        }
        next += 4;
        size -= 8;
    }
    return walk_chunk(r, next, size, version, ordered, fn, user, depth + 1);
}

static bool walk_chunk(Hdf5File* r, uint64_t at, uint64_t length, int version, bool ordered,
                       MessageFn fn, void* user, int depth) {
    if (!visit(r) || !inside(r, at, length)) {
        return hdf5_fail(r, "an object header lies outside the file");
    }
    uint64_t end = at + length, head = version == 1 ? 8 : ordered ? 6 : 4;
    for (int k = 0; k < MAX_MESSAGES && end - at >= head; ++k) {
        int type = (int)number_at(r, at, version == 1 ? 2 : 1);
        uint64_t size = number_at(r, at + (version == 1 ? 2 : 1), 2);
        at += head;
        if (size > end - at) {
            return hdf5_fail(r, "a header message lies outside its header");
        }
        if (!one_message(r, type, at, size, version, ordered, fn, user, depth)) {
            return false;
        }
        at += size;
    }
    return true;
}

static bool walk_object(Hdf5File* r, uint64_t at, MessageFn fn, void* user) {
    if (!inside(r, at, 16)) {
        return hdf5_fail(r, "an object lies outside the file");
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
    return hdf5_fail(r, "an object header of unknown version");
}

// --- groups --------------------------------------------------------------------------------------

typedef struct Lookup {
    const char* wanted;
    size_t length;
    uint64_t found; // object address, 0 when not found
} Lookup;

// names in a local heap end with a zero byte
static bool name_matches(const Hdf5File* r, uint64_t heap, uint64_t offset, const Lookup* look) {
    uint64_t size = number_at(r, heap + 8, 8), data = r->base + number_at(r, heap + 24, 8);
    if (!inside(r, heap, 32) || memcmp(r->data + heap, "HEAP", 4) != 0 || offset >= size ||
        look->length >= size - offset || !inside(r, data, size)) {
        return false;
    }
    const unsigned char* name = r->data + data + offset;
    return memcmp(name, look->wanted, look->length) == 0 && name[look->length] == 0;
}

static bool search_symbols(Hdf5File* r, uint64_t at, uint64_t heap, Lookup* look) {
    uint64_t count = number_at(r, at + 6, 2);
    if (!visit(r) || !inside(r, at, 8 + 40 * count) || memcmp(r->data + at, "SNOD", 4) != 0) {
        return hdf5_fail(r, "a symbol table is damaged");
    }
    for (uint64_t k = 0; k < count && look->found == 0; ++k) {
        uint64_t entry = at + 8 + 40 * k;
        if (name_matches(r, heap, number_at(r, entry, 8), look)) {
            look->found = r->base + number_at(r, entry + 8, 8);
        }
    }
    return true;
}

static bool search_tree(Hdf5File* r, uint64_t at, uint64_t heap, Lookup* look, int depth) {
    uint64_t count = number_at(r, at + 6, 2);
    if (!visit(r) || depth > 16 || !inside(r, at, 24 + 16 * count + 8) ||
        memcmp(r->data + at, "TREE", 4) != 0 || r->data[at + 4] != 0) {
        return hdf5_fail(r, "a group's tree is damaged");
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
static void match_link(const Hdf5File* r, uint64_t at, uint64_t length, Lookup* look) {
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

static bool group_message(Hdf5File* r, void* user, int type, uint64_t at, uint64_t length) {
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
uint64_t hdf5_find(Hdf5File* r, uint64_t at, const char* path) {
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

static bool read_space(Hdf5File* r, Hdf5Dataset* d, uint64_t at, uint64_t length) {
    int version = (int)number_at(r, at, 1), rank = (int)number_at(r, at + 1, 1);
    uint64_t first = version == 1 ? 8 : 4;
    if ((version != 1 && version != 2) || length < first + 8 * (uint64_t)rank) {
        return hdf5_fail(r, "a dataspace is damaged");
    }
    d->count = 1;
    for (int k = 0; k < rank; ++k) {
        uint64_t extent = number_at(r, at + first + 8 * (uint64_t)k, 8);
        if (extent > r->size || d->count * extent > r->size) {
            return hdf5_fail(r, "a dataset claims more numbers than the file has bytes");
        }
        d->count *= extent;
    }
    d->has_space = true;
    return true;
}

static bool read_type(Hdf5File* r, Hdf5Dataset* d, uint64_t at, uint64_t length) {
    if (length < 8) {
        return hdf5_fail(r, "a datatype is damaged");
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
    d->is_text = kind == 3;
    d->has_type = true;
    return true;
}

static bool read_layout(Hdf5File* r, Hdf5Dataset* d, uint64_t at, uint64_t length) {
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
        return hdf5_fail(r, "a dataset is stored in chunks or in an unknown way");
    }
    return true;
}

static bool dataset_message(Hdf5File* r, void* user, int type, uint64_t at, uint64_t length) {
    switch (type) {
    case 0x01:
        return read_space(r, user, at, length);
    case 0x03:
        return read_type(r, user, at, length);
    case 0x08:
        return read_layout(r, user, at, length);
    case 0x0b:
        return hdf5_fail(r, "a dataset is compressed or filtered");
    default:
        return true;
    }
}

// Of numbers, or of texts.
static bool find_dataset(Hdf5File* r, uint64_t root, const char* path, bool text, Hdf5Dataset* d) {
    *d = (Hdf5Dataset){0};
    uint64_t at = hdf5_find(r, root, path);
    if (at == 0) {
        return hdf5_fail(r, "has no dataset %s", path);
    }
    if (!walk_object(r, at, dataset_message, d)) {
        return false;
    }
    if (!d->has_space || !d->has_type || !d->has_layout ||
        (text ? !d->is_text || d->item == 0 : d->kind < 0)) {
        return hdf5_fail(
            r, text ? "%s is not a text of a fixed length" : "%s is not a dataset of numbers",
            path);
    }
    // without numbers there need be no place for them
    if (d->count > d->bytes / d->item ||
        (d->count > 0 && !inside(r, d->offset, d->count * d->item))) {
        return hdf5_fail(r, "%s lies outside the file", path);
    }
    return true;
}

bool hdf5_dataset(Hdf5File* r, uint64_t root, const char* path, Hdf5Dataset* d) {
    return find_dataset(r, root, path, false, d);
}

bool hdf5_text(Hdf5File* r, uint64_t root, const char* path, size_t size, char* out) {
    Hdf5Dataset d;
    if (!find_dataset(r, root, path, true, &d)) {
        return false;
    }
    size_t length = 0;
    const unsigned char* text = r->data + d.offset;
    while (d.count == 1 && length < d.item && text[length] != 0) {
        if (length + 1 == size || text[length] < ' ' || text[length] > '~') {
            return hdf5_fail(r, "%s is too long, or no plain text", path);
        }
        out[length] = (char)text[length];
        ++length;
    }
    out[length] = '\0';
    return length > 0 || hdf5_fail(r, "%s is empty", path);
}

double hdf5_value(const Hdf5File* r, const Hdf5Dataset* d, uint64_t k) {
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

// the address of the root group's header
bool hdf5_root(Hdf5File* r, uint64_t* root) {
    int version = (int)number_at(r, 8, 1);
    uint64_t sizes = version < 2 ? 13 : 9, at;
    if (number_at(r, sizes, 1) != 8 || number_at(r, sizes + 1, 1) != 8) {
        return hdf5_fail(r, "offsets or lengths are not of eight bytes");
    }
    if (version < 2) {
        at = version == 0 ? 24 : 28;
        r->base = number_at(r, at, 8);
        *root = r->base + number_at(r, at + 40, 8);
    } else if (version < 4) {
        r->base = number_at(r, 12, 8);
        *root = r->base + number_at(r, 36, 8);
    } else {
        return hdf5_fail(r, "superblock version %d is not known", version);
    }
    return true;
}

// one whole number in [least, most]
bool hdf5_count(Hdf5File* r, uint64_t root, const char* group, const char* name, double least,
                double most, int* out) {
    char path[64];
    snprintf(path, sizeof path, "%s%s%s", group, *group == '\0' ? "" : "/", name);
    Hdf5Dataset d;
    *out = 0;
    if (!hdf5_dataset(r, root, path, &d)) {
        return false;
    }
    double x = d.count >= 1 ? hdf5_value(r, &d, 0) : NAN;
    if (!(x >= least && x <= most) || x != floor(x)) {
        return hdf5_fail(r, "%s is %g, not a whole number from %g to %g", path, x, least, most);
    }
    *out = (int)x;
    return true;
}

// The dataset of a path, with as many numbers as there must be.
static bool counted_dataset(Hdf5File* r, uint64_t root, const char* path, uint64_t count,
                            Hdf5Dataset* d) {
    if (!hdf5_dataset(r, root, path, d)) {
        return false;
    }
    return d->count == count || hdf5_fail(r, "%s has %llu numbers, not %llu", path,
                                          (unsigned long long)d->count, (unsigned long long)count);
}

bool hdf5_vector(Hdf5File* r, uint64_t root, const char* path, uint64_t count, double** out) {
    Hdf5Dataset d;
    if (!counted_dataset(r, root, path, count, &d)) {
        return false;
    }
    *out = tdl_alloc_array(&r->host->mem, (size_t)count, sizeof(double));
    if (*out == NULL) {
        return hdf5_fail(r, "out of memory");
    }
    for (uint64_t k = 0; k < count; ++k) {
        (*out)[k] = hdf5_value(r, &d, k);
        if (!isfinite((*out)[k])) {
            return hdf5_fail(r, "%s has an entry that is not finite", path);
        }
    }
    return true;
}

bool hdf5_integers(Hdf5File* r, uint64_t root, const char* path, uint64_t count, int least,
                   int most, int** out) {
    Hdf5Dataset d;
    if (!counted_dataset(r, root, path, count, &d)) {
        return false;
    }
    *out = tdl_alloc_array(&r->host->mem, (size_t)count, sizeof(int));
    if (*out == NULL) {
        return hdf5_fail(r, "out of memory");
    }
    for (uint64_t k = 0; k < count; ++k) {
        double x = hdf5_value(r, &d, k);
        if (!(x >= least && x <= most) || x != floor(x)) {
            return hdf5_fail(r, "%s: entry %llu is %g, not a whole number from %d to %d", path,
                             (unsigned long long)k, x, least, most);
        }
        (*out)[k] = (int)x;
    }
    return true;
}
