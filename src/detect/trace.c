// Recordings of the narrow phase, written and read. docs/detection.md
//
// A file is a header and a block for each update of a detector: the curves that take part, each
// once, and the pairs by their numbers. All is little-endian and packed.
#include "tendril/trace.h"

#include "base/log.h"
#include "base/memory.h"
#include "curve/curve.h"
#include "detect/detector.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "traces are written as they are in memory: little-endian"
#endif

static const char MAGIC[12] = {'t', 'd', 'l', 't', 'r', 'a', 'c', 'e', 1, 0, 0, 0};

// A block starts with step, bound, curves and pairs.
enum { BLOCK_HEAD = 32, PAIR_SIZE = 8, KINDS = 4, MOST_NUMBERS = 60 };

// Numbers of a curve of each kind: end, two radii, origin, and what the kind adds.
static const int NUMBERS[KINDS] = {9, 16, MOST_NUMBERS, 15};

// Largest file, and largest numbers, of which squares and products stay finite.
#define SIZE_MAX_BYTES 2147483647L
static const double MAX_NUMBER = 1.0e100, MAX_TURNING = 1.0e5;

// --- one curve as numbers -------------------------------------------------------------------

static double* put3(double* to, TdlVec3 v) {
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    return to + 3;
}

static TdlVec3 get3(const double** from) {
    TdlVec3 v = {(*from)[0], (*from)[1], (*from)[2]};
    *from += 3;
    return v;
}

static void curve_to_numbers(const TdlCurve* c, double out[MOST_NUMBERS]) {
    out[0] = c->end;
    out[1] = c->radius[0];
    out[2] = c->radius[1];
    double* to = put3(out + 3, c->origin);
    switch (c->kind) {
    case TDL_CURVE_SEGMENT:
        put3(to, c->helix.t);
        break;
    case TDL_CURVE_HELIX:
        to = put3(put3(put3(to, c->helix.t), c->helix.e1), c->helix.w);
        *to = c->helix.bend;
        break;
    case TDL_CURVE_CLOTHOID:
        to = put3(put3(to, c->clothoid.kappa), c->clothoid.slope);
        for (int i = 0; i < 4; ++i) {
            const TdlPose* p = &c->clothoid.node[i];
            to = put3(put3(to, p->position), p->rotation.cx);
            to = put3(put3(to, p->rotation.cy), p->rotation.cz);
        }
        break;
    case TDL_CURVE_BEZIER:
        put3(put3(put3(to, c->poly.c1), c->poly.c2), c->poly.c3);
        break;
    case TDL_CURVE_USER:
        break;
    }
}

static TdlCurve curve_from_numbers(TdlCurveKind kind, const double* in) {
    TdlCurve c = {.kind = kind, .end = in[0], .radius = {in[1], in[2]}};
    in += 3;
    c.origin = get3(&in);
    switch (kind) {
    case TDL_CURVE_SEGMENT:
        c.helix.t = get3(&in);
        break;
    case TDL_CURVE_HELIX:
        c.helix.t = get3(&in);
        c.helix.e1 = get3(&in);
        c.helix.w = get3(&in);
        c.helix.e2 = tdl_cross3(c.helix.w, c.helix.e1);
        c.helix.w2 = tdl_dot3(c.helix.w, c.helix.w);
        c.helix.bend = *in;
        break;
    case TDL_CURVE_CLOTHOID:
        c.clothoid.kappa = get3(&in);
        c.clothoid.slope = get3(&in);
        for (int i = 0; i < 4; ++i) {
            TdlPose* p = &c.clothoid.node[i];
            p->position = get3(&in);
            p->rotation.cx = get3(&in);
            p->rotation.cy = get3(&in);
            p->rotation.cz = get3(&in);
        }
        break;
    case TDL_CURVE_BEZIER:
        c.poly.c1 = get3(&in);
        c.poly.c2 = get3(&in);
        c.poly.c3 = get3(&in);
        break;
    case TDL_CURVE_USER:
        break;
    }
    return c;
}

static bool is_rotation(TdlMat3 r) {
    TdlMat3 off = tdl_sub33(tdl_tmul33(r, r), tdl_identity33());
    return tdl_norm3(off.cx) + tdl_norm3(off.cy) + tdl_norm3(off.cz) < 1.0e-6 && tdl_det33(r) > 0.0;
}

// Whether the numbers are those of a curve that can be evaluated.
static bool curve_is_sound(const TdlCurve* c, const double* numbers) {
    for (int i = 0; i < NUMBERS[c->kind]; ++i) {
        if (!(fabs(numbers[i]) <= MAX_NUMBER)) {
            return false;
        }
    }
    if (c->end < 0.0 || c->radius[0] < 0.0 || c->radius[1] < 0.0) {
        return false;
    }
    double length;
    switch (c->kind) {
    case TDL_CURVE_SEGMENT:
        length = tdl_norm3(c->helix.t);
        return fabs(length - 1.0) < 1.0e-6 || c->end == 0.0;
    case TDL_CURVE_HELIX:
        length = tdl_norm3(tdl_sub3(c->helix.e1, tdl_cross3(c->helix.w, c->helix.t)));
        return fabs(tdl_norm3(c->helix.t) - 1.0) < 1.0e-6 && length <= 1.0e-6 * sqrt(c->helix.w2) &&
               c->helix.bend >= tdl_norm3(c->helix.e1) * (1.0 - 1.0e-12) &&
               c->end * sqrt(c->helix.w2) <= MAX_TURNING;
    case TDL_CURVE_CLOTHOID:
        for (int i = 0; i < 4; ++i) {
            if (!is_rotation(c->clothoid.node[i].rotation)) {
                return false;
            }
        }
        return c->end * (tdl_norm3(c->clothoid.kappa) + c->end * tdl_norm3(c->clothoid.slope)) <=
               MAX_TURNING;
    case TDL_CURVE_BEZIER:
        return c->end <= 1.0;
    case TDL_CURVE_USER:
        break;
    }
    return false;
}

// --- writing --------------------------------------------------------------------------------

struct TdlTraceWriter {
    TdlHost host;
    FILE* file;
    char* path;
    TdlStatus status; // of what was written so far
    long calls;
    int* number; // [capacity] of an element in its block, plus one
    int capacity;
};

TdlStatus tdl_trace_writer_create(const TdlHost* host, const char* path, TdlTraceWriter** out) {
    TdlTraceWriter* w = tdl_alloc_zero(&host->mem, sizeof *w);
    char* name = tdl_alloc_array(&host->mem, strlen(path) + 1, 1);
    FILE* file = w == NULL || name == NULL ? NULL : fopen(path, "wb");
    if (file == NULL) {
        TdlStatus status = TDL_STATUS_NO_MEMORY;
        if (w != NULL && name != NULL) {
            status = tdl_fail(host, TDL_STATUS_IO, "%s: %s", path, strerror(errno));
        }
        tdl_free(&host->mem, w);
        tdl_free(&host->mem, name);
        return status;
    }
    strcpy(name, path);
    *w = (TdlTraceWriter){.host = *host, .file = file, .path = name};
    if (fwrite(MAGIC, sizeof MAGIC, 1, file) != 1) {
        w->status = TDL_STATUS_IO;
    }
    *out = w;
    return TDL_STATUS_OK;
}

static void put(TdlTraceWriter* w, const void* data, size_t size) {
    if (w->status == TDL_STATUS_OK && fwrite(data, size, 1, w->file) != 1) {
        w->status = tdl_fail(&w->host, TDL_STATUS_IO, "%s: %s", w->path, strerror(errno));
    }
}

static void put_curve(TdlTraceWriter* w, const TdlCurve* c) {
    double numbers[MOST_NUMBERS];
    unsigned char kind = (unsigned char)c->kind;
    curve_to_numbers(c, numbers);
    put(w, &kind, 1);
    put(w, numbers, (size_t)NUMBERS[kind] * sizeof *numbers);
}

static bool can_write(const DetectorPair* p) {
    return p->a->kind != TDL_CURVE_USER && p->b->kind != TDL_CURVE_USER;
}

// Numbers the elements of the pairs in the order in which they first come.
static bool number_elements(TdlTraceWriter* w, const TdlDetector* d, long pairs, uint32_t* curves,
                            uint64_t* calls) {
    int elements = detector_element_count(d);
    if (elements > w->capacity) {
        int* grown = tdl_grow_array(&w->host.mem, w->number, (size_t)elements, sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        w->number = grown;
        w->capacity = elements;
    }
    memset(w->number, 0, (size_t)elements * sizeof *w->number);
    for (long k = 0; k < pairs; ++k) {
        DetectorPair p = detector_get_pair(d, k);
        if (can_write(&p)) {
            ++*calls;
            w->number[p.element[0]] =
                w->number[p.element[0]] ? w->number[p.element[0]] : (int)++*curves;
            w->number[p.element[1]] =
                w->number[p.element[1]] ? w->number[p.element[1]] : (int)++*curves;
        }
    }
    return true;
}

TdlStatus tdl_trace_writer_add(TdlTraceWriter* w, const TdlDetector* d, long step) {
    uint32_t curves = 0, known = 0, unused = 0;
    uint64_t calls = 0;
    int64_t at = step;
    long pairs = detector_pair_count(d);
    double bound = detector_margin(d);
    if (w->status == TDL_STATUS_OK && !number_elements(w, d, pairs, &curves, &calls)) {
        w->status = TDL_STATUS_NO_MEMORY;
    }
    put(w, &at, sizeof at);
    put(w, &bound, sizeof bound);
    put(w, &curves, sizeof curves);
    put(w, &unused, sizeof unused);
    put(w, &calls, sizeof calls);
    for (long k = 0; k < pairs && w->status == TDL_STATUS_OK; ++k) {
        DetectorPair p = detector_get_pair(d, k);
        for (int side = 0; side < 2 && can_write(&p); ++side) {
            if (w->number[p.element[side]] == (int)known + 1) {
                put_curve(w, side == 0 ? p.a : p.b);
                ++known;
            }
        }
    }
    for (long k = 0; k < pairs && w->status == TDL_STATUS_OK; ++k) {
        DetectorPair p = detector_get_pair(d, k);
        if (can_write(&p)) {
            uint32_t pair[2] = {(uint32_t)w->number[p.element[0]] - 1U,
                                (uint32_t)w->number[p.element[1]] - 1U};
            put(w, pair, sizeof pair);
            ++w->calls;
        }
    }
    return w->status;
}

TdlStatus tdl_trace_writer_close(TdlTraceWriter* w, long* calls) {
    if (w == NULL) {
        return TDL_STATUS_OK;
    }
    if (fclose(w->file) != 0 && w->status == TDL_STATUS_OK) {
        w->status = tdl_fail(&w->host, TDL_STATUS_IO, "%s: %s", w->path, strerror(errno));
    }
    TdlStatus status = w->status;
    if (calls != NULL) {
        *calls = w->calls;
    }
    TdlAllocator mem = w->host.mem;
    tdl_free(&mem, w->path);
    tdl_free(&mem, w->number);
    tdl_free(&mem, w);
    return status;
}

// --- reading --------------------------------------------------------------------------------

typedef struct Reader {
    const TdlHost* host;
    const char* name;
    const unsigned char* data;
    size_t size, at;
    TdlTrace* out;
    int curve_capacity, call_capacity;
} Reader;

static TdlStatus bad(const Reader* r, const char* what) {
    return tdl_fail(r->host, TDL_STATUS_BAD_INPUT, "%s: byte %zu: %s", r->name, r->at, what);
}

// The next bytes, when they are there.
static bool take(Reader* r, void* out, size_t size) {
    if (r->size - r->at < size) {
        return false;
    }
    memcpy(out, r->data + r->at, size);
    r->at += size;
    return true;
}

static bool room(const TdlAllocator* mem, void* array, int* capacity, long count, size_t size) {
    if (count <= *capacity) {
        return true;
    }
    void* block;
    memcpy(&block, array, sizeof block);
    long wanted = count + count / 2 + 64;
    void* grown = wanted > INT_MAX ? NULL : tdl_grow_array(mem, block, (size_t)wanted, size);
    if (grown == NULL) {
        return false;
    }
    memcpy(array, &grown, sizeof grown);
    *capacity = (int)wanted;
    return true;
}

static TdlStatus read_curve(Reader* r) {
    unsigned char kind;
    double numbers[MOST_NUMBERS];
    if (!take(r, &kind, 1)) {
        return bad(r, "the file ends within a curve");
    }
    if (kind >= KINDS) {
        return bad(r, "there is no such kind of curve");
    }
    if (!take(r, numbers, (size_t)NUMBERS[kind] * sizeof *numbers)) {
        return bad(r, "the file ends within a curve");
    }
    TdlCurve c = curve_from_numbers((TdlCurveKind)kind, numbers);
    if (!curve_is_sound(&c, numbers) || !curve_finite(&c)) {
        return bad(r, "the numbers before are not those of a curve");
    }
    TdlTrace* t = r->out;
    if (!room(&t->mem, &t->curves, &r->curve_capacity, (long)t->curve_count + 1, sizeof c)) {
        return TDL_STATUS_NO_MEMORY;
    }
    t->curves[t->curve_count++] = c;
    return TDL_STATUS_OK;
}

static TdlStatus read_block(Reader* r) {
    int64_t step;
    double bound;
    uint32_t curves, unused;
    uint64_t calls;
    if (!take(r, &step, sizeof step) || !take(r, &bound, sizeof bound) ||
        !take(r, &curves, sizeof curves) || !take(r, &unused, sizeof unused) ||
        !take(r, &calls, sizeof calls)) {
        return bad(r, "the file ends within the head of a block");
    }
    if (!(fabs(bound) <= MAX_NUMBER) || step < 0 || step > LONG_MAX) {
        return bad(r, "step or bound before is out of range");
    }
    TdlTrace* t = r->out;
    int first = t->curve_count;
    if (calls > (r->size - r->at) / PAIR_SIZE || curves > r->size - r->at) {
        return bad(r, "the block is longer than the file");
    }
    for (uint32_t i = 0; i < curves; ++i) {
        TdlStatus status = read_curve(r);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    if (!room(&t->mem, &t->calls, &r->call_capacity, t->call_count + (long)calls,
              sizeof *t->calls)) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (uint64_t k = 0; k < calls; ++k) {
        uint32_t pair[2];
        if (!take(r, pair, sizeof pair)) {
            return bad(r, "the file ends within the pairs of a block");
        }
        if (pair[0] >= curves || pair[1] >= curves) {
            return bad(r, "a pair has a curve that the block does not have");
        }
        t->calls[t->call_count++] =
            (TdlTraceCall){first + (int)pair[0], first + (int)pair[1], bound, (long)step};
    }
    return TDL_STATUS_OK;
}

TdlStatus tdl_trace_parse(const TdlHost* host, const char* name, const void* data, size_t size,
                          TdlTrace* out) {
    *out = (TdlTrace){.mem = host->mem};
    Reader r = {.host = host, .name = name, .data = data, .size = size, .out = out};
    char magic[sizeof MAGIC];
    TdlStatus status = TDL_STATUS_OK;
    if (!take(&r, magic, sizeof magic) || memcmp(magic, MAGIC, sizeof magic) != 0) {
        status = bad(&r, "this is not a trace of version 1");
    }
    while (status == TDL_STATUS_OK && r.at < size) {
        status = read_block(&r);
    }
    if (status != TDL_STATUS_OK) {
        tdl_trace_free(out);
    }
    return status;
}

TdlStatus tdl_trace_load(const TdlHost* host, const char* path, TdlTrace* out) {
    *out = (TdlTrace){.mem = host->mem};
    FILE* file = fopen(path, "rb");
    long size = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        size = ftell(file);
        rewind(file);
    }
    if (size < 0 || size > SIZE_MAX_BYTES) {
        TdlStatus status = tdl_fail(host, TDL_STATUS_BAD_INPUT, "%s: %s", path,
                                    size < 0 ? strerror(errno) : "larger than 2 GB");
        if (file != NULL) {
            fclose(file);
        }
        return status;
    }
    void* data = tdl_alloc_array(&host->mem, (size_t)size + 1, 1);
    TdlStatus status = data == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
    if (status == TDL_STATUS_OK && size > 0 && fread(data, (size_t)size, 1, file) != 1) {
        status = tdl_fail(host, TDL_STATUS_BAD_INPUT, "%s: could not be read", path);
    }
    fclose(file);
    if (status == TDL_STATUS_OK) {
        status = tdl_trace_parse(host, path, data, (size_t)size, out);
    }
    tdl_free(&host->mem, data);
    return status;
}

void tdl_trace_free(TdlTrace* trace) {
    tdl_free(&trace->mem, trace->curves);
    tdl_free(&trace->mem, trace->calls);
    *trace = (TdlTrace){.mem = trace->mem};
}
