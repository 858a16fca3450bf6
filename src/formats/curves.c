// Readers of curves. Nothing in a file is believed: counts are compared with the bytes that are
// there before anything is allocated for them.
//
// .hair (Cem Yuksel): a head of 128 bytes (the word HAIR, number of hairs, of points, which arrays
// follow, the number of segments of hairs that do not tell), then the arrays: segments of each
// hair (16 bits), points, and others that are passed over. Numbers are little-endian.
// .obj: vertices and polylines ('v', 'l'); polylines that go on where the one before ended are one.
// .csv: a row of names with x, y and z; a new curve begins where `rod` or `curve` changes. When
// there is a `frame`, the last one is taken: so are results of `tendril export --format csv`.
#include "formats/curves.h"

#include "base/log.h"
#include "base/memory.h"
#include "formats/file.h"
#include "formats/number.h"
#include "formats/obj.h"
#include "tendril/formats.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const size_t FILE_MAX = (size_t)1 << 31; // bytes
enum { HAIR_HEAD = 128, HAIR_HAS_SEGMENTS = 1, HAIR_HAS_POINTS = 2 };

// A set that grows.
typedef struct Builder {
    const TdlHost* host;
    const char* name;
    TdlCurves set;
    int point_count, point_capacity, start_capacity;
} Builder;

static TdlStatus bad(const Builder* b, const char* what) {
    return tdl_fail(b->host, TDL_STATUS_BAD_INPUT, "%s: %s", b->name, what);
}

static TdlStatus bad_line(const Builder* b, int line, const char* what) {
    return tdl_fail(b->host, TDL_STATUS_BAD_INPUT, "%s:%d: %s", b->name, line, what);
}

static bool is_place(TdlVec3 p) {
    return fabs(p.x) <= PLACE_MAX && fabs(p.y) <= PLACE_MAX && fabs(p.z) <= PLACE_MAX; // NaN is not
}

static TdlStatus add_point(Builder* b, TdlVec3 point) {
    if (b->point_count == b->point_capacity) {
        int capacity = b->point_capacity == 0 ? 1024 : 2 * b->point_capacity;
        TdlVec3* grown =
            b->point_capacity > INT_MAX / 4
                ? NULL
                : tdl_grow_array(&b->host->mem, b->set.points, (size_t)capacity, sizeof *grown);
        if (grown == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        b->set.points = grown;
        b->point_capacity = capacity;
    }
    b->set.points[b->point_count++] = point;
    return TDL_STATUS_OK;
}

// A curve begins at the next point.
static TdlStatus add_start(Builder* b) {
    if (b->set.count + 1 >= b->start_capacity) {
        int capacity = b->start_capacity == 0 ? 64 : 2 * b->start_capacity;
        int* grown =
            b->start_capacity > INT_MAX / 4
                ? NULL
                : tdl_grow_array(&b->host->mem, b->set.start, (size_t)capacity, sizeof *grown);
        if (grown == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        b->set.start = grown;
        b->start_capacity = capacity;
    }
    b->set.start[b->set.count++] = b->point_count;
    return TDL_STATUS_OK;
}

static TdlStatus finish(Builder* b) {
    if (b->set.count == 0) {
        return bad(b, "holds no curve");
    }
    b->set.start[b->set.count] = b->point_count; // add_start left room
    for (int i = 0; i < b->set.count; ++i) {
        if (b->set.start[i + 1] - b->set.start[i] < 2) {
            return tdl_fail(b->host, TDL_STATUS_BAD_INPUT,
                            "%s: curve %d (from 0) has fewer than two points", b->name, i);
        }
    }
    return TDL_STATUS_OK;
}

// --- .hair ----------------------------------------------------------------------------------

static uint32_t get_u32(const char* at) {
    const unsigned char* b = (const unsigned char*)at;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double get_f32(const char* at) {
    uint32_t bits = get_u32(at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static const char* judge_hair(const char* head, size_t size, uint64_t total) {
    (void)total;
    return size >= 4 && memcmp(head, "HAIR", 4) == 0
               ? NULL
               : "is no .hair file: it does not begin with the word HAIR";
}

static TdlStatus parse_hair(Builder* b, const char* data, size_t size) {
    const char* fault = judge_hair(data, size, size);
    if (fault != NULL) {
        return bad(b, fault);
    }
    if (size < HAIR_HEAD) {
        return bad(b, "is cut off within its head");
    }
    uint64_t hairs = get_u32(data + 4), points = get_u32(data + 8);
    uint32_t arrays = get_u32(data + 12), segments_of_all = get_u32(data + 16);
    bool tells = (arrays & HAIR_HAS_SEGMENTS) != 0;
    if ((arrays & HAIR_HAS_POINTS) == 0) {
        return bad(b, "has no points");
    }
    // thickness, transparency and colour follow, of which nothing is read
    uint64_t per_point =
        12u + (arrays & 4 ? 4u : 0u) + (arrays & 8 ? 4u : 0u) + (arrays & 16 ? 12u : 0u);
    uint64_t needed = HAIR_HEAD + (tells ? 2 * hairs : 0) + per_point * points;
    if (size < needed) {
        return tdl_fail(
            b->host, TDL_STATUS_BAD_INPUT,
            "%s: is cut off: %llu hairs with %llu points take %llu bytes, there are %zu", b->name,
            (unsigned long long)hairs, (unsigned long long)points, (unsigned long long)needed,
            size);
    }
    const char* segments = data + HAIR_HEAD;
    const char* at = segments + (tells ? 2 * hairs : 0);
    uint64_t left = points;
    for (uint64_t h = 0; h < hairs; ++h) {
        uint64_t count = 1 + (tells ? (uint64_t)(unsigned char)segments[2 * h] +
                                          256u * (uint64_t)(unsigned char)segments[2 * h + 1]
                                    : (uint64_t)segments_of_all);
        if (count > left) {
            return tdl_fail(b->host, TDL_STATUS_BAD_INPUT,
                            "%s: its hairs have more points than the %llu it tells of", b->name,
                            (unsigned long long)points);
        }
        left -= count;
        TdlStatus status = add_start(b);
        for (uint64_t i = 0; i < count && status == TDL_STATUS_OK; ++i, at += 12) {
            TdlVec3 p = {get_f32(at), get_f32(at + 4), get_f32(at + 8)};
            if (!is_place(p)) {
                return tdl_fail(b->host, TDL_STATUS_BAD_INPUT,
                                "%s: point %llu of hair %llu (from 0) is no place", b->name,
                                (unsigned long long)i, (unsigned long long)h);
            }
            status = add_point(b, p);
        }
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return TDL_STATUS_OK;
}

// --- .obj -----------------------------------------------------------------------------------

typedef struct Polylines {
    Builder* builder;
    int last; // the vertex at which the curve before ended, -1 for none
} Polylines;

// One 'l' line.
static TdlStatus add_polyline(void* user, const ObjFile* file, const char* at, const char* end) {
    Polylines* lines = user;
    Builder* b = lines->builder;
    int before = lines->last;
    for (int k = 0;; ++k) {
        int index;
        TdlStatus status = obj_next_index(file, &at, end, "polyline", &index);
        if (status != TDL_STATUS_OK || index < 0) {
            return status;
        }
        if (k == 0 && index == before) {
            continue; // goes on
        }
        status = k == 0 ? add_start(b) : TDL_STATUS_OK;
        if (status != TDL_STATUS_OK) {
            return status;
        }
        status = add_point(b, file->vertices[index]);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        lines->last = index;
    }
}

static TdlStatus parse_obj(Builder* b, const char* data, size_t size) {
    ObjFile file = {.host = b->host, .name = b->name};
    Polylines lines = {b, -1};
    TdlStatus status = obj_read(&file, data, size, "l", add_polyline, &lines);
    tdl_free(&b->host->mem, file.vertices);
    return status;
}

// --- .csv -----------------------------------------------------------------------------------

enum { COLUMN_X, COLUMN_Y, COLUMN_Z, COLUMN_CURVE, COLUMN_FRAME, COLUMN_KINDS };

// Which column holds what, -1 where there is none.
static TdlStatus parse_names(Builder* b, const char* at, const char* end, int columns[]) {
    static const char* const names[] = {"x", "y", "z", "rod", "frame"};
    for (int k = 0; k < COLUMN_KINDS; ++k) {
        columns[k] = -1;
    }
    at += end - at >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; // a byte-order mark
    for (int i = 0; at <= end; ++i) {
        const char* stop = memchr(at, ',', (size_t)(end - at));
        stop = stop == NULL ? end : stop;
        char word[FIELD_SIZE];
        const char* inside = at;
        bool any = next_word(&inside, stop, FIELD_BLANKS, word);
        for (int k = 0; any && k < COLUMN_KINDS; ++k) {
            bool is =
                strcmp(word, names[k]) == 0 || (k == COLUMN_CURVE && strcmp(word, "curve") == 0);
            columns[k] = is && columns[k] < 0 ? i : columns[k];
        }
        at = stop + 1;
    }
    if (columns[COLUMN_X] < 0 || columns[COLUMN_Y] < 0 || columns[COLUMN_Z] < 0) {
        return bad_line(b, 1, "the first row must name columns x, y and z");
    }
    return TDL_STATUS_OK;
}

static TdlStatus parse_row(Builder* b, const char* at, const char* end, int line,
                           const int columns[], double values[]) {
    bool seen[COLUMN_KINDS] = {false};
    for (int i = 0; at <= end; ++i) {
        const char* stop = memchr(at, ',', (size_t)(end - at));
        stop = stop == NULL ? end : stop;
        for (int k = 0; k < COLUMN_KINDS; ++k) {
            if (columns[k] == i) {
                char word[FIELD_SIZE];
                const char* inside = at;
                bool any = next_word(&inside, stop, FIELD_BLANKS, word);
                NumberFault fault = any ? parse_real(word, &values[k]) : NUMBER_NOT;
                if (fault == NUMBER_SMALL) {
                    values[k] = 0.0;
                } else if (fault != NUMBER_FINE) {
                    return obj_not_a_number(
                        &(ObjFile){.host = b->host, .name = b->name, .line = line}, word);
                }
                seen[k] = true;
            }
        }
        at = stop + 1;
    }
    for (int k = 0; k < COLUMN_KINDS; ++k) {
        if (columns[k] >= 0 && !seen[k]) {
            return bad_line(b, line, "the row is shorter than the first");
        }
    }
    return TDL_STATUS_OK;
}

// A row's point; `last` has the values of the row before.
static TdlStatus add_row(Builder* b, const double values[COLUMN_KINDS],
                         const double last[COLUMN_KINDS]) {
    if (values[COLUMN_FRAME] != last[COLUMN_FRAME]) { // only the last frame stays
        b->set.count = b->point_count = 0;
    }
    if (b->set.count == 0 || values[COLUMN_CURVE] != last[COLUMN_CURVE]) {
        TdlStatus status = add_start(b);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return add_point(b, (TdlVec3){values[COLUMN_X], values[COLUMN_Y], values[COLUMN_Z]});
}

static TdlStatus parse_csv(Builder* b, const char* data, size_t size) {
    const char *end = data + size, *stop = line_end(data, end);
    int columns[COLUMN_KINDS];
    double values[COLUMN_KINDS] = {0}, last[COLUMN_KINDS];
    TdlStatus status = parse_names(b, data, stop, columns);
    int line = 2;
    for (const char* at = stop + 1; at < end && status == TDL_STATUS_OK; ++line, at = stop + 1) {
        stop = line_end(at, end);
        if (at + strspn(at, FIELD_BLANKS) >= stop) {
            continue;
        }
        memcpy(last, values, sizeof last);
        status = parse_row(b, at, stop, line, columns, values);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        if (!is_place((TdlVec3){values[COLUMN_X], values[COLUMN_Y], values[COLUMN_Z]})) {
            return bad_line(b, line, "a point is too far away");
        }
        status = add_row(b, values, last);
    }
    return status;
}

// --- the whole ------------------------------------------------------------------------------

bool curves_format(const char* path, CurveFormat* out) {
    static const char* const endings[] = {".hair", ".obj", ".csv"};
    size_t length = strlen(path);
    for (int i = 0; i < 3; ++i) {
        size_t size = strlen(endings[i]);
        if (length > size && strcmp(path + length - size, endings[i]) == 0) {
            *out = (CurveFormat)i;
            return true;
        }
    }
    return false;
}

TdlStatus curves_parse(const TdlHost* host, const char* name, CurveFormat format, const char* data,
                       size_t size, TdlCurves* out) {
    static TdlStatus (*const parse[])(Builder*, const char*, size_t) = {parse_hair, parse_obj,
                                                                        parse_csv};
    Builder b = {.host = host, .name = name};
    TdlStatus status = parse[format](&b, data, size);
    if (status == TDL_STATUS_OK) {
        status = finish(&b);
    }
    if (status != TDL_STATUS_OK) {
        tdl_curves_free(host, &b.set);
        b.set = (TdlCurves){0};
    }
    *out = b.set;
    return status;
}

TdlStatus tdl_curves_read(const TdlHost* host, const char* path, TdlCurves* out) {
    CurveFormat format = CURVES_HAIR;
    char* data = NULL;
    size_t size = 0;
    *out = (TdlCurves){0};
    if (!curves_format(path, &format)) {
        return tdl_fail(host, TDL_STATUS_BAD_INPUT,
                        "%s: curves come from .hair, .obj or .csv files", path);
    }
    InputJudge judge = format == CURVES_HAIR ? judge_hair : input_judge_text;
    TdlStatus status = file_read(host, path, FILE_MAX, judge, &data, &size);
    if (status == TDL_STATUS_OK) {
        status = curves_parse(host, path, format, data, size, out);
        tdl_free(&host->mem, data);
    }
    return status;
}

void tdl_curves_free(const TdlHost* host, TdlCurves* curves) {
    tdl_free(&host->mem, curves->points);
    tdl_free(&host->mem, curves->start);
    *curves = (TdlCurves){0};
}
