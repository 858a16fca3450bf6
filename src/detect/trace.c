// Recordings of the narrow phase, written and read. docs/detection.md
//
// A file is a header and a block for each update of a detector: the curves that take part, each
// once, the planes, and the pairs by their numbers. All is little-endian and packed.
#include "detect/trace.h"

#include "base/input.h"
#include "base/log.h"
#include "base/memory.h"
#include "curve/curve.h"
#include "detect/detector.h"
#include "detect/obstacle.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "traces are written as they are in memory: little-endian"
#endif

// In version 1 there were no planes.
enum { VERSION = 2 };
static const char MAGIC[8] = {'t', 'd', 'l', 't', 'r', 'a', 'c', 'e'};

enum { PAIR_SIZE = 8, PLANE_NUMBERS = 8, KINDS = 4, MOST_NUMBERS = 60 };

// Numbers of a curve of each kind: end, two radii, origin, and what the kind adds.
static const int NUMBERS[KINDS] = {9, 16, MOST_NUMBERS, 15};

// Largest file, and largest numbers, of which squares and products stay finite.
static const size_t SIZE_MAX_BYTES = 2147483647;
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
    TdlOutput out;
    TdlStatus status; // of what was written so far
    long calls;
    int *number, *order; // [capacity] of an element in its block, plus one; elements by number
    int capacity;
};

TdlStatus tdl_trace_writer_create(const TdlHost* host, const char* path, TdlTraceWriter** out) {
    TdlTraceWriter* w = tdl_alloc_zero(&host->mem, sizeof *w);
    if (w == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    w->host = *host;
    TdlStatus status = tdl_output_begin(host, path, &w->out);
    if (status != TDL_STATUS_OK) {
        tdl_free(&host->mem, w);
        return status;
    }
    w->file = fopen(w->out.beside, "wb");
    if (w->file == NULL) {
        status = tdl_fail(host, TDL_STATUS_IO, "%s: %s", path, strerror(errno));
        tdl_output_end(host, &w->out, false);
        tdl_free(&host->mem, w);
        return status;
    }
    uint32_t version = VERSION;
    if (fwrite(MAGIC, sizeof MAGIC, 1, w->file) != 1 ||
        fwrite(&version, sizeof version, 1, w->file) != 1) {
        w->status = TDL_STATUS_IO;
    }
    *out = w;
    return TDL_STATUS_OK;
}

static void put(TdlTraceWriter* w, const void* data, size_t size) {
    if (w->status == TDL_STATUS_OK && fwrite(data, size, 1, w->file) != 1) {
        w->status = tdl_fail(&w->host, TDL_STATUS_IO, "%s: %s", w->out.path, strerror(errno));
    }
}

static void put_curve(TdlTraceWriter* w, const TdlCurve* c) {
    double numbers[MOST_NUMBERS];
    unsigned char kind = (unsigned char)c->kind;
    curve_to_numbers(c, numbers);
    put(w, &kind, 1);
    put(w, numbers, (size_t)NUMBERS[kind] * sizeof *numbers);
}

// One call of the narrow phase: elements a and b, or element and collider.
typedef struct NarrowCall {
    int a, b;     // b: -1 with a collider
    int collider; // -1 with an element
} NarrowCall;

// Goes through the calls in the order in which they are written.
typedef struct NarrowCalls {
    const TdlDetector* detector;
    long pair;
    int element, collider;
} NarrowCalls;

static bool next_call(NarrowCalls* at, NarrowCall* out) {
    const TdlDetector* d = at->detector;
    int elements = detector_element_count(d), colliders;
    while (at->pair < detector_pair_count(d)) {
        DetectorPair p = detector_get_pair(d, at->pair++);
        if (p.a->kind != TDL_CURVE_USER && p.b->kind != TDL_CURVE_USER) {
            *out = (NarrowCall){p.element[0], p.element[1], -1};
            return true;
        }
    }
    detector_colliders(d, &colliders);
    for (; at->element < elements; ++at->element, at->collider = 0) {
        bool known = detector_curve(d, at->element)->kind != TDL_CURVE_USER;
        while (at->collider < colliders && known) {
            int c = at->collider++;
            if (detector_meets(d, at->element, c)) {
                *out = (NarrowCall){at->element, -1, c};
                return true;
            }
        }
    }
    return false;
}

static bool is_plane(const TdlColliderDef* c) {
    return c->shape == TDL_SHAPE_PLANE || c->shape == TDL_SHAPE_PLATE;
}

// What a block holds: elements, the axes of colliders, planes.
typedef struct BlockCounts {
    uint32_t elements, axes, planes;
    uint64_t calls;
} BlockCounts;

// Numbers the elements in the order in which they first come.
static bool count_block(TdlTraceWriter* w, const TdlDetector* d, BlockCounts* out) {
    const TdlAllocator* mem = &w->host.mem;
    int elements = detector_element_count(d), colliders;
    const TdlColliderDef* collider = detector_colliders(d, &colliders);
    if (elements > w->capacity) {
        int* number = tdl_grow_array(mem, w->number, (size_t)elements, sizeof *number);
        w->number = number != NULL ? number : w->number;
        int* order = tdl_grow_array(mem, w->order, (size_t)elements, sizeof *order);
        w->order = order != NULL ? order : w->order;
        if (number == NULL || order == NULL) {
            return false;
        }
        w->capacity = elements;
    }
    memset(w->number, 0, (size_t)elements * sizeof *w->number);
    NarrowCalls at = {.detector = d};
    for (NarrowCall call; next_call(&at, &call); ++out->calls) {
        int element[2] = {call.a, call.b};
        for (int side = 0; side < 2; ++side) {
            if (element[side] >= 0 && w->number[element[side]] == 0) {
                w->order[out->elements] = element[side];
                w->number[element[side]] = (int)++out->elements;
            }
        }
        out->axes += call.b < 0 && !is_plane(&collider[call.collider]);
    }
    for (int c = 0; c < colliders; ++c) {
        out->planes += is_plane(&collider[c]);
    }
    return true;
}

static void put_plane(TdlTraceWriter* w, const TdlColliderDef* c) {
    bool disc = c->shape == TDL_SHAPE_PLATE;
    double numbers[PLANE_NUMBERS];
    double* to = put3(put3(numbers, c->pose.position), c->pose.rotation.cz);
    to[0] = disc ? c->length : 0.0;
    to[1] = disc ? c->radius : 0.0;
    put(w, numbers, sizeof numbers);
}

static void put_curves(TdlTraceWriter* w, const TdlDetector* d, const BlockCounts* counts) {
    int colliders;
    const TdlColliderDef* collider = detector_colliders(d, &colliders);
    for (uint32_t i = 0; i < counts->elements; ++i) {
        put_curve(w, detector_curve(d, w->order[i]));
    }
    NarrowCalls at = {.detector = d};
    for (NarrowCall call; counts->axes > 0 && next_call(&at, &call);) {
        if (call.b < 0 && !is_plane(&collider[call.collider])) {
            TdlCurve axis = obstacle_curve(&collider[call.collider], detector_curve(d, call.a));
            put_curve(w, &axis);
        }
    }
    for (int c = 0; c < colliders; ++c) {
        if (is_plane(&collider[c])) {
            put_plane(w, &collider[c]);
        }
    }
}

// Numbers of what stands for a collider: axes after the elements, planes after these.
static uint32_t collider_number(const TdlColliderDef* collider, int index, uint32_t* axis,
                                const BlockCounts* counts) {
    if (!is_plane(&collider[index])) {
        return (*axis)++;
    }
    uint32_t number = counts->elements + counts->axes;
    for (int c = 0; c < index; ++c) {
        number += is_plane(&collider[c]);
    }
    return number;
}

TdlStatus tdl_trace_writer_add(TdlTraceWriter* w, const TdlDetector* d, long step) {
    BlockCounts counts = {0};
    int64_t at = step;
    double bound = detector_margin(d);
    if (w->status == TDL_STATUS_OK && !count_block(w, d, &counts)) {
        w->status = TDL_STATUS_NO_MEMORY;
    }
    if (w->status != TDL_STATUS_OK) {
        return w->status;
    }
    uint32_t curves = counts.elements + counts.axes, axis = counts.elements;
    put(w, &at, sizeof at);
    put(w, &bound, sizeof bound);
    put(w, &curves, sizeof curves);
    put(w, &counts.planes, sizeof counts.planes);
    put(w, &counts.calls, sizeof counts.calls);
    put_curves(w, d, &counts);
    int colliders;
    const TdlColliderDef* collider = detector_colliders(d, &colliders);
    NarrowCalls calls = {.detector = d};
    for (NarrowCall call; w->status == TDL_STATUS_OK && next_call(&calls, &call);) {
        uint32_t pair[2] = {(uint32_t)w->number[call.a] - 1U};
        pair[1] = call.b >= 0 ? (uint32_t)w->number[call.b] - 1U
                              : collider_number(collider, call.collider, &axis, &counts);
        put(w, pair, sizeof pair);
        ++w->calls;
    }
    return w->status;
}

TdlStatus tdl_trace_writer_close(TdlTraceWriter* w, long* calls) {
    if (w == NULL) {
        return TDL_STATUS_OK;
    }
    if (fclose(w->file) != 0 && w->status == TDL_STATUS_OK) {
        w->status = tdl_fail(&w->host, TDL_STATUS_IO, "%s: %s", w->out.path, strerror(errno));
    }
    TdlStatus ended = tdl_output_end(&w->host, &w->out, w->status == TDL_STATUS_OK);
    TdlStatus status = w->status == TDL_STATUS_OK ? ended : w->status;
    if (calls != NULL) {
        *calls = w->calls;
    }
    TdlAllocator mem = w->host.mem;
    tdl_free(&mem, w->number);
    tdl_free(&mem, w->order);
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
    uint32_t version;
    int curve_capacity, plane_capacity, call_capacity;
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

static TdlStatus read_plane(Reader* r) {
    double numbers[PLANE_NUMBERS];
    if (!take(r, numbers, sizeof numbers)) {
        return bad(r, "the file ends within a plane");
    }
    const double* from = numbers;
    TdlTracePlane p = {.point = get3(&from), .normal = get3(&from)};
    p.disc = from[0];
    p.rim = from[1];
    bool sound = fabs(tdl_norm3(p.normal) - 1.0) < 1.0e-6 && p.disc >= 0.0 && p.rim >= 0.0;
    for (int i = 0; i < PLANE_NUMBERS; ++i) {
        sound = sound && fabs(numbers[i]) <= MAX_NUMBER;
    }
    if (!sound) {
        return bad(r, "the numbers before are not those of a plane");
    }
    TdlTrace* t = r->out;
    if (!room(&t->mem, &t->planes, &r->plane_capacity, (long)t->plane_count + 1, sizeof p)) {
        return TDL_STATUS_NO_MEMORY;
    }
    t->planes[t->plane_count++] = p;
    return TDL_STATUS_OK;
}

static TdlStatus read_block(Reader* r) {
    int64_t step;
    double bound;
    uint32_t curves, planes;
    uint64_t calls;
    if (!take(r, &step, sizeof step) || !take(r, &bound, sizeof bound) ||
        !take(r, &curves, sizeof curves) || !take(r, &planes, sizeof planes) ||
        !take(r, &calls, sizeof calls)) {
        return bad(r, "the file ends within the head of a block");
    }
    planes = r->version == 1 ? 0 : planes;
    if (!(fabs(bound) <= MAX_NUMBER) || step < 0 || step > LONG_MAX) {
        return bad(r, "step or bound before is out of range");
    }
    TdlTrace* t = r->out;
    int first = t->curve_count, first_plane = t->plane_count;
    if (calls > (r->size - r->at) / PAIR_SIZE || curves > r->size - r->at ||
        planes > r->size - r->at) {
        return bad(r, "the block is longer than the file");
    }
    for (uint32_t i = 0; i < curves; ++i) {
        TdlStatus status = read_curve(r);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    for (uint32_t i = 0; i < planes; ++i) {
        TdlStatus status = read_plane(r);
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
        if (pair[0] >= curves || pair[1] >= (uint64_t)curves + planes) {
            return bad(r, "a pair has a curve that the block does not have");
        }
        int b =
            pair[1] < curves ? first + (int)pair[1] : -1 - (first_plane + (int)(pair[1] - curves));
        t->calls[t->call_count++] = (TdlTraceCall){first + (int)pair[0], b, bound, (long)step};
    }
    return TDL_STATUS_OK;
}

TdlStatus trace_parse(const TdlHost* host, const char* name, const void* data, size_t size,
                      TdlTrace* out) {
    *out = (TdlTrace){.mem = host->mem};
    Reader r = {.host = host, .name = name, .data = data, .size = size, .out = out};
    char magic[sizeof MAGIC];
    TdlStatus status = TDL_STATUS_OK;
    if (!take(&r, magic, sizeof magic) || !take(&r, &r.version, sizeof r.version) ||
        memcmp(magic, MAGIC, sizeof magic) != 0 || r.version < 1 || r.version > VERSION) {
        status = bad(&r, "this is not a trace of version 1 or 2");
    }
    while (status == TDL_STATUS_OK && r.at < size) {
        status = read_block(&r);
    }
    if (status != TDL_STATUS_OK) {
        tdl_trace_free(out);
    }
    return status;
}

// The rest is looked at when it is parsed.
static const char* judge_trace(const char* head, size_t size, uint64_t total) {
    (void)total;
    return size >= sizeof MAGIC && memcmp(head, MAGIC, sizeof MAGIC) == 0
               ? NULL
               : "this is not a trace of version 1 or 2";
}

TdlStatus tdl_trace_load(const TdlHost* host, const char* path, TdlTrace* out) {
    *out = (TdlTrace){.mem = host->mem};
    char* data;
    size_t size;
    TdlStatus status = file_read(host, path, SIZE_MAX_BYTES, judge_trace, &data, &size);
    if (status == TDL_STATUS_OK) {
        status = trace_parse(host, path, data, size, out);
        tdl_free(&host->mem, data);
    }
    return status;
}

void tdl_trace_free(TdlTrace* trace) {
    tdl_free(&trace->mem, trace->curves);
    tdl_free(&trace->mem, trace->planes);
    tdl_free(&trace->mem, trace->calls);
    *trace = (TdlTrace){.mem = trace->mem};
}
