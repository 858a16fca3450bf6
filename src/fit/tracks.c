// Recordings of markers as .csv, in and out. Cost: linear in the size of the file.
#include "app/command.h"
#include "base/rng.h"
#include "fit/markers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// Times and places beyond these are mistakes, s and m.
static const double TIME_MAX = 1.0e12, PLACE_MAX = 1.0e9;

// Of columns no more than this, since names are compared with each other.
enum { AXES = 3, COLUMNS_MAX = 30000 };

// What a column is: a coordinate of a marker, the time, or nothing of ours.
enum { COLUMN_TIME = -1, COLUMN_OTHER = -2 };

typedef struct Table {
    const char* name; // of the file
    FILE* messages;
    long line;
    int* columns; // [column_count] AXES * marker + axis, or one of the above
    int column_count, column_room;
    int moment_room;
    Tracks* out;
} Table;

static int table_bad(const Table* t, int column, const char* what, const char* about) {
    fprintf(t->messages, "%s:%ld:%d: %s%.100s%s\n", t->name, t->line, column, what, about,
            about[0] == '\0' ? "" : "'");
    return EXIT_INPUT;
}

static int no_memory(const Table* t) {
    fprintf(t->messages, "tendril: not enough memory\n");
    return EXIT_FAILED;
}

// Cuts the next field off, without blanks and quotes about it; null when the line is over.
static char* next_field(char** rest) {
    char* field = *rest;
    if (field == NULL) {
        return NULL;
    }
    char* comma = strchr(field, ',');
    *rest = comma == NULL ? NULL : comma + 1;
    if (comma != NULL) {
        *comma = '\0';
    }
    field += strspn(field, " \t\"");
    size_t length = strlen(field);
    while (length > 0 && strchr(" \t\r\n\"", field[length - 1]) != NULL) {
        field[--length] = '\0';
    }
    return field;
}

// --- names ---------------------------------------------------------------------------------------

static bool grow_names(Tracks* tracks) {
    int count = tracks->marker_count;
    if ((count & (count - 1)) == 0) {
        size_t room = count == 0 ? 1 : 2 * (size_t)count;
        void* names = realloc(tracks->names, room * sizeof *tracks->names);
        if (names == NULL) {
            return false;
        }
        tracks->names = names;
    }
    return true;
}

// The marker of that name, which is new if need be; -1: no memory.
static int find_marker(Tracks* tracks, const char* name, size_t length) {
    for (int i = tracks->marker_count - 1; i >= 0; --i) {
        if (strlen(tracks->names[i]) == length && memcmp(tracks->names[i], name, length) == 0) {
            return i;
        }
    }
    if (!grow_names(tracks)) {
        return -1;
    }
    snprintf(tracks->names[tracks->marker_count], MARKER_NAME_SIZE, "%.*s", (int)length, name);
    return tracks->marker_count++;
}

static int add_column(Table* t, int column) {
    if (t->column_count == COLUMNS_MAX) {
        return table_bad(t, COLUMNS_MAX + 1, "more than 30000 columns", "");
    }
    if (t->column_count == t->column_room) {
        t->column_room = 2 * t->column_room + 16;
        int* grown = realloc(t->columns, (size_t)t->column_room * sizeof *grown);
        if (grown == NULL) {
            return no_memory(t);
        }
        t->columns = grown;
    }
    for (int k = 0; k < t->column_count && column != COLUMN_OTHER; ++k) {
        if (t->columns[k] == column) {
            return table_bad(t, t->column_count + 1, "a column is there twice", "");
        }
    }
    t->columns[t->column_count++] = column;
    return EXIT_DONE;
}

// What the name of a column says: time, or the name of a marker and .x, .y or .z.
static int read_name(Table* t, const char* field) {
    size_t length = strlen(field);
    if (strcmp(field, "time") == 0) {
        return add_column(t, COLUMN_TIME);
    }
    const char* axis =
        length < 3 || field[length - 2] != '.' ? NULL : strchr("xyz", field[length - 1]);
    if (axis == NULL || length - 2 >= MARKER_NAME_SIZE) {
        return add_column(t, COLUMN_OTHER);
    }
    int marker = find_marker(t->out, field, length - 2);
    return marker < 0 ? no_memory(t)
                      : add_column(t, AXES * marker + (*axis == 'x'   ? 0
                                                       : *axis == 'y' ? 1
                                                                      : 2));
}

static int check_names(const Table* t) {
    int coordinates = 0;
    bool timed = false;
    for (int k = 0; k < t->column_count; ++k) {
        coordinates += t->columns[k] >= 0;
        timed = timed || t->columns[k] == COLUMN_TIME;
    }
    if (!timed) {
        return table_bad(t, 1, "a recording has a column called time", "");
    }
    if (coordinates == 0) {
        return table_bad(t, 1, "no marker is there: its columns are called NAME.x, NAME.y, NAME.z",
                         "");
    }
    for (int m = 0; m < t->out->marker_count; ++m) {
        int there = 0;
        for (int k = 0; k < t->column_count; ++k) {
            there += t->columns[k] >= 0 && t->columns[k] / AXES == m;
        }
        if (there < AXES) {
            return table_bad(t, 1, "of .x, .y and .z all are there, but not of '",
                             t->out->names[m]);
        }
    }
    return EXIT_DONE;
}

static int read_names(Table* t, char* text) {
    int code = EXIT_DONE;
    char *rest = text, *field;
    while (code == EXIT_DONE && (field = next_field(&rest)) != NULL) {
        code = read_name(t, field);
    }
    return code == EXIT_DONE ? check_names(t) : code;
}

// --- moments -------------------------------------------------------------------------------------

static bool grow_moments(Table* t) {
    Tracks* out = t->out;
    if (out->moment_count < t->moment_room) {
        return true;
    }
    int room = 2 * t->moment_room + 64;
    double* times = realloc(out->times, (size_t)room * sizeof *times);
    out->times = times == NULL ? out->times : times;
    TdlVec3* places =
        realloc(out->places, (size_t)room * (size_t)out->marker_count * sizeof *places);
    out->places = places == NULL ? out->places : places;
    t->moment_room = times == NULL || places == NULL ? t->moment_room : room;
    return times != NULL && places != NULL;
}

// One number; NaN where it is missing.
static int read_number(const Table* t, int column, const char* field, double most, double* out) {
    char* end;
    *out = NAN;
    if (field[0] == '\0' || strcasecmp(field, "nan") == 0) {
        return EXIT_DONE;
    }
    *out = strtod(field, &end);
    if (end == field || *end != '\0' || isnan(*out)) {
        return table_bad(t, column + 1, "this is not a number: '", field);
    }
    return fabs(*out) <= most ? EXIT_DONE : table_bad(t, column + 1, "too large: '", field);
}

static int read_moment(Table* t, char* text) {
    Tracks* out = t->out;
    if (!grow_moments(t)) {
        return no_memory(t);
    }
    int n = out->moment_count, code = EXIT_DONE, column = 0;
    double time = NAN;
    double* row = &out->places[(size_t)n * (size_t)out->marker_count].x;
    for (int k = 0; k < AXES * out->marker_count; ++k) {
        row[k] = NAN; // a line that is cut short has gaps
    }
    char *rest = text, *field;
    for (; code == EXIT_DONE && (field = next_field(&rest)) != NULL; ++column) {
        if (column >= t->column_count) {
            return table_bad(t, column + 1, "more fields than names", "");
        }
        int what = t->columns[column];
        if (what != COLUMN_OTHER) {
            code = read_number(t, column, field, what < 0 ? TIME_MAX : PLACE_MAX,
                               what < 0 ? &time : &row[what]);
        }
    }
    if (code == EXIT_DONE && isnan(time)) {
        return table_bad(t, 1, "a moment without time", "");
    }
    if (code == EXIT_DONE && n > 0 && !(time > out->times[n - 1])) {
        return table_bad(t, 1, "the times of a recording must grow", "");
    }
    out->times[n] = time;
    out->moment_count += code == EXIT_DONE;
    return code;
}

// A marker of which a coordinate is missing is lost.
static void lose_halves(Tracks* tracks) {
    size_t count = (size_t)tracks->moment_count * (size_t)tracks->marker_count;
    for (size_t k = 0; k < count; ++k) {
        TdlVec3* p = &tracks->places[k];
        if (isnan(p->x) || isnan(p->y) || isnan(p->z)) {
            *p = (TdlVec3){NAN, NAN, NAN};
        }
    }
}

int tracks_read(FILE* in, const char* name, FILE* messages, Tracks* out) {
    char* text = NULL;
    size_t size = 0;
    int code = EXIT_DONE;
    long length;
    *out = (Tracks){0};
    Table t = {.name = name, .messages = messages, .out = out};
    while (code == EXIT_DONE && (length = tdl_input_line(in, &text, &size)) >= 0) {
        ++t.line;
        if (text[length - 1] == '\0') {
            code = table_bad(&t, 1, "a zero byte", "");
        } else if (t.line == 1) {
            code = read_names(&t, text);
        } else if (text[strspn(text, " \t\r\n")] != '\0') {
            code = read_moment(&t, text);
        }
    }
    if (code == EXIT_DONE && !feof(in)) {
        fprintf(messages, "%s: could not be read\n", name);
        code = EXIT_INPUT;
    } else if (code == EXIT_DONE && out->moment_count == 0) {
        t.line = t.line < 1 ? 1 : t.line;
        code = table_bad(&t, 1, "no moment was recorded", "");
    }
    free(text);
    free(t.columns);
    if (code != EXIT_DONE) {
        tracks_free(out);
    } else {
        lose_halves(out);
    }
    return code;
}

// --- making and writing --------------------------------------------------------------------------

bool tracks_create(int marker_count, int moment_count, Tracks* out) {
    size_t count = (size_t)moment_count * (size_t)marker_count;
    *out = (Tracks){.marker_count = marker_count, .moment_count = moment_count};
    out->names = calloc((size_t)marker_count + 1, sizeof *out->names);
    out->times = calloc((size_t)moment_count + 1, sizeof *out->times);
    out->places = calloc(count + 1, sizeof *out->places);
    if (out->names == NULL || out->times == NULL || out->places == NULL) {
        tracks_free(out);
        return false;
    }
    for (size_t k = 0; k < count; ++k) {
        out->places[k] = (TdlVec3){NAN, NAN, NAN};
    }
    return true;
}

bool tracks_write(const Tracks* tracks, FILE* out) {
    fprintf(out, "time");
    for (int i = 0; i < tracks->marker_count; ++i) {
        const char* name = tracks->names[i];
        fprintf(out, ",%s.x,%s.y,%s.z", name, name, name);
    }
    for (int n = 0; n < tracks->moment_count; ++n) {
        fprintf(out, "\n%.9g", tracks->times[n]);
        for (int i = 0; i < tracks->marker_count; ++i) {
            TdlVec3 p = tracks->places[(size_t)n * (size_t)tracks->marker_count + (size_t)i];
            if (isnan(p.x)) {
                fprintf(out, ",,,");
            } else {
                fprintf(out, ",%.7g,%.7g,%.7g", p.x, p.y, p.z);
            }
        }
    }
    fprintf(out, "\n");
    return !ferror(out);
}

void tracks_free(Tracks* tracks) {
    free(tracks->names);
    free(tracks->times);
    free(tracks->places);
    *tracks = (Tracks){0};
}

void tracks_spoil(Tracks* tracks, double noise, double lost, unsigned seed) {
    const double stay = 0.8; // so that a gap has five moments on the mean
    Rng rng = rng_seed(seed);
    // the share of moments in which a seen marker gets lost, so that `lost` of them are
    double leave = lost >= 1.0 ? 1.0 : fmin((1.0 - stay) * lost / (1.0 - lost), 1.0);
    for (int i = 0; i < tracks->marker_count; ++i) {
        bool gone = rng_unit(&rng) < lost;
        for (int n = 0; n < tracks->moment_count; ++n) {
            TdlVec3* p = &tracks->places[(size_t)n * (size_t)tracks->marker_count + (size_t)i];
            TdlVec3 shift = {rng_normal(&rng), rng_normal(&rng), rng_normal(&rng)};
            *p = gone ? (TdlVec3){NAN, NAN, NAN} : tdl_axpy3(*p, noise, shift);
            gone = rng_unit(&rng) < (gone && lost < 1.0 ? stay : leave);
        }
    }
}

long tracks_lost(const Tracks* tracks) {
    long lost = 0;
    for (size_t k = 0; k < (size_t)tracks->moment_count * (size_t)tracks->marker_count; ++k) {
        lost += isnan(tracks->places[k].x);
    }
    return lost;
}
