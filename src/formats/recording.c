// Reading numbers over time from .csv: names in the first row, a moment in each other. Rows with
// gaps are counted and left out, so that what moves goes evenly between those beside them. Cost:
// linear in the size of the file.
#include "formats/recording.h"

#include "base/log.h"
#include "base/memory.h"
#include "formats/number.h"
#include "formats/obj.h"
#include "formats/source.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <strings.h>

enum { FIRST_ROOM = 256 };

const RecordingKind RECORDING_MOTION = {
    .column = {"time", "x", "y", "z", "rx", "ry", "rz"},
    .count = 7,
    .needed = 4,
    .most = PLACE_MAX,
    .lacks = "a recording has the columns time, x, y and z",
    .partly = "of rx, ry and rz all are there or none",
};

const RecordingKind RECORDING_LOAD = {
    .column = {"time", "fx", "fy", "fz", "tx", "ty", "tz"},
    .count = 7,
    .needed = 4,
    .most = 1.0e12,
    .lacks = "a load has the columns time, fx, fy and fz",
    .partly = "of tx, ty and tz all are there or none",
};

const RecordingKind RECORDING_MOTOR = {
    .column = {"time", "speed", "place"},
    .count = 3,
    .needed = 1,
    .one_more = true,
    .most = PLACE_MAX,
    .lacks = "a motor has the columns time, and speed or place",
    .partly = "a motor has one of the columns speed and place",
};

// The longest time that a scene may have, s.
static const double TIME_MAX = 1.0e12;

typedef struct Table {
    const TdlHost* host;
    const char* name;
    const RecordingKind* kind;
    const char* marker; // null: columns have no name before theirs
    int line;
    int place[RECORDING_COLUMNS]; // of a column among the fields, from 0; -1: it is not there
    Recording* out;
    int capacity;
} Table;

static TdlStatus table_bad(const Table* t, const char* what) {
    return tdl_fail(t->host, TDL_STATUS_BAD_INPUT, "%s:%d: %s", t->name, t->line, what);
}

// The next field of a line, without blanks about it; false when the line is over.
static bool next_field(const char** at, const char* end, char out[FIELD_SIZE]) {
    if (*at > end) {
        return false;
    }
    const char* comma = memchr(*at, ',', (size_t)(end - *at));
    const char *from = *at, *to = comma == NULL ? end : comma;
    *at = to + 1;
    while (from < to && strchr(FIELD_BLANKS, *from) != NULL) {
        ++from;
    }
    while (to > from && strchr(FIELD_BLANKS, to[-1]) != NULL) {
        --to;
    }
    // too long a one is spoiled, so that it is no number
    bool fits = to - from < FIELD_SIZE;
    snprintf(out, FIELD_SIZE, "%.*s%s", fits ? (int)(to - from) : FIELD_SIZE - 4, from,
             fits ? "" : "...");
    return true;
}

// Whether a field is the name of a column: time, x, or of a marker NAME.x.
static bool is_column(const Table* t, const char* field, int c) {
    size_t length = c == 0 || t->marker == NULL ? 0 : strlen(t->marker);
    if (length == 0) {
        return strcmp(field, t->kind->column[c]) == 0;
    }
    return strncmp(field, t->marker, length) == 0 && field[length] == '.' &&
           strcmp(field + length + 1, t->kind->column[c]) == 0;
}

static TdlStatus no_columns(const Table* t) {
    if (t->marker == NULL) {
        return table_bad(t, t->kind->lacks);
    }
    Quote q = quote(t->marker);
    return tdl_fail(t->host, TDL_STATUS_BAD_INPUT,
                    "%s:%d: has no columns time and .x, .y, .z of the marker %s", t->name, t->line,
                    q.text);
}

static TdlStatus read_names(Table* t, const char* at, const char* end) {
    char field[FIELD_SIZE];
    const RecordingKind* kind = t->kind;
    for (int c = 0; c < RECORDING_COLUMNS; ++c) {
        t->place[c] = -1;
    }
    for (int k = 0; next_field(&at, end, field); ++k) {
        for (int c = 0; c < kind->count; ++c) {
            if (is_column(t, field, c) && t->place[c] >= 0) {
                return table_bad(t, "a column is there twice");
            }
            t->place[c] = is_column(t, field, c) ? k : t->place[c];
        }
    }
    int there = 0;
    for (int c = 0; c < kind->count; ++c) {
        there += t->place[c] >= 0;
        t->out->has[c] = t->place[c] >= 0;
        if (c < kind->needed && t->place[c] < 0) {
            return no_columns(t);
        }
    }
    if (kind->one_more && there == kind->needed) {
        return no_columns(t);
    }
    bool fits =
        kind->one_more ? there == kind->needed + 1 : there == kind->needed || there == kind->count;
    return fits ? TDL_STATUS_OK : table_bad(t, kind->partly);
}

// One number of a row; NAN where it is missing.
static TdlStatus read_number(const Table* t, const char* field, double most, double* out) {
    if (field[0] == '\0' || strcasecmp(field, "nan") == 0) {
        *out = NAN;
        return TDL_STATUS_OK;
    }
    NumberFault fault = parse_real(field, out);
    if (fault == NUMBER_SMALL) {
        *out = 0.0;
    } else if (fault != NUMBER_FINE) {
        Quote q = quote(field);
        return tdl_fail(t->host, TDL_STATUS_BAD_INPUT, "%s:%d: %s is not a number", t->name,
                        t->line, q.text);
    }
    return fabs(*out) <= most ? TDL_STATUS_OK : table_bad(t, "a number is too large");
}

static TdlStatus keep_row(Table* t, const double x[RECORDING_COLUMNS]) {
    Recording* r = t->out;
    if (r->count > 0 && !(x[0] > r->keys[r->count - 1].time)) {
        return table_bad(t, "the times of a recording must grow");
    }
    if (r->count == t->capacity) {
        int room = t->capacity == 0 ? FIRST_ROOM : 2 * t->capacity;
        TdlKeyframe* grown =
            t->capacity > INT_MAX / 4
                ? NULL
                : tdl_grow_array(&t->host->mem, r->keys, (size_t)room, sizeof *grown);
        if (grown == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        r->keys = grown;
        t->capacity = room;
    }
    r->keys[r->count++] = (TdlKeyframe){x[0], {x[1], x[2], x[3]}, {x[4], x[5], x[6]}};
    return TDL_STATUS_OK;
}

static TdlStatus read_row(Table* t, const char* at, const char* end) {
    double x[RECORDING_COLUMNS];
    char field[FIELD_SIZE];
    bool whole = true;
    for (int c = 0; c < RECORDING_COLUMNS; ++c) {
        x[c] = t->place[c] < 0 ? 0.0 : NAN; // a row that is cut short has gaps
    }
    for (int k = 0; next_field(&at, end, field); ++k) {
        for (int c = 0; c < RECORDING_COLUMNS; ++c) {
            TdlStatus status =
                t->place[c] != k ? TDL_STATUS_OK
                                 : read_number(t, field, c == 0 ? TIME_MAX : t->kind->most, &x[c]);
            if (status != TDL_STATUS_OK) {
                return status;
            }
        }
    }
    for (int c = 0; c < RECORDING_COLUMNS; ++c) {
        whole = whole && !isnan(x[c]);
    }
    t->out->gap_count += !whole;
    return whole ? keep_row(t, x) : TDL_STATUS_OK;
}

TdlStatus recording_parse(const TdlHost* host, const char* name, const RecordingKind* kind,
                          const char* marker, const char* data, size_t size, Recording* out) {
    *out = (Recording){0};
    Table t = {.host = host, .name = name, .kind = kind, .marker = marker, .line = 1, .out = out};
    const char* end = data + size;
    TdlStatus status = TDL_STATUS_OK;
    for (const char* at = data; at < end && status == TDL_STATUS_OK; ++t.line) {
        const char* stop = line_end(at, end);
        size_t blank = strspn(at, FIELD_BLANKS);
        if (memchr(at, '\0', (size_t)(stop - at)) != NULL) {
            status = table_bad(&t, "has a zero byte");
        } else if (t.line == 1) {
            status = read_names(&t, at, stop);
        } else if (at + blank < stop) {
            status = read_row(&t, at, stop);
        }
        at = stop + 1;
    }
    if (status == TDL_STATUS_OK && out->count == 0) {
        status = tdl_fail(host, TDL_STATUS_BAD_INPUT, "%s: has no row without gaps", name);
    }
    if (status != TDL_STATUS_OK) {
        recording_free(host, out);
    }
    return status;
}

void recording_free(const TdlHost* host, Recording* recording) {
    tdl_free(&host->mem, recording->keys);
    *recording = (Recording){0};
}
