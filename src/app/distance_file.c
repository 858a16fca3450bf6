// Reading pairs of curves from CSV: a pair a line, kindA,numbers...,kindB,numbers...
#include "app/distance_file.h"

#include "app/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A line being taken apart.
typedef struct Line {
    char* rest; // what is left; null at the end
    char message[256];
    TdlHost quiet; // says why a curve is refused, into message
} Line;

static void note(void* user, TdlLogLevel level, const char* message) {
    (void)level;
    Line* line = user;
    snprintf(line->message, sizeof line->message, "%s", message);
}

static char* next_field(Line* line) {
    if (line->rest == NULL) {
        return NULL;
    }
    char* field = line->rest + strspn(line->rest, " \t");
    char* comma = strchr(field, ',');
    line->rest = comma == NULL ? NULL : comma + 1;
    if (comma != NULL) {
        *comma = '\0';
    }
    size_t length = strlen(field);
    while (length > 0 && strchr(" \t\r\n", field[length - 1]) != NULL) {
        field[--length] = '\0';
    }
    return field;
}

static bool read_numbers(Line* line, const char* kind, int count, double* out) {
    for (int i = 0; i < count; ++i) {
        char *field = next_field(line), *end = NULL;
        out[i] = field == NULL ? 0.0 : strtod(field, &end);
        if (field == NULL || end == field || *end != '\0') {
            snprintf(line->message, sizeof line->message,
                     "%s takes %d numbers, number %d is %s%.40s", kind, count, i + 1,
                     field == NULL ? "missing" : "not a number: ", field == NULL ? "" : field);
            return false;
        }
        if (!isfinite(out[i])) {
            snprintf(line->message, sizeof line->message, "%s: number %d is not finite", kind,
                     i + 1);
            return false;
        }
    }
    return true;
}

static TdlPose pose_of(const double* x) {
    return (TdlPose){tdl_load3(x, 0), {tdl_load3(x, 1), tdl_load3(x, 2), tdl_load3(x, 3)}};
}

static bool read_curve(Line* line, TdlCurve* out) {
    const char* kind = next_field(line);
    double x[19];
    TdlStatus status = TDL_STATUS_BAD_INPUT;
    if (kind == NULL) {
        snprintf(line->message, sizeof line->message, "a curve is missing");
    } else if (strcmp(kind, "segment") == 0) {
        if (read_numbers(line, kind, 6, x)) {
            status = tdl_curve_segment(&line->quiet, tdl_load3(x, 0), tdl_load3(x, 1), out);
        }
    } else if (strcmp(kind, "helix") == 0) {
        if (read_numbers(line, kind, 16, x)) {
            status = tdl_curve_helix(&line->quiet, pose_of(x), tdl_load3(x, 4), x[15], out);
        }
    } else if (strcmp(kind, "clothoid") == 0) {
        if (read_numbers(line, kind, 19, x)) {
            status = tdl_curve_clothoid(&line->quiet, pose_of(x), tdl_load3(x, 4), tdl_load3(x, 5),
                                        x[18], out);
        }
    } else if (strcmp(kind, "bezier") == 0) {
        if (read_numbers(line, kind, 12, x)) {
            TdlVec3 control[4] = {tdl_load3(x, 0), tdl_load3(x, 1), tdl_load3(x, 2),
                                  tdl_load3(x, 3)};
            status = tdl_curve_cubic(&line->quiet, control, out);
        }
    } else {
        snprintf(line->message, sizeof line->message,
                 "'%.40s' is no curve: helix, clothoid, bezier or segment", kind);
    }
    return status == TDL_STATUS_OK;
}

static bool add_pair(DistanceBatch* batch, const DistancePair* pair) {
    if (batch->count == batch->capacity) {
        long capacity = 2 * batch->capacity + 256;
        void* grown = realloc(batch->pair, (size_t)capacity * sizeof *batch->pair);
        if (grown == NULL) {
            return false;
        }
        batch->pair = grown;
        batch->capacity = capacity;
    }
    batch->pair[batch->count++] = *pair;
    return true;
}

static bool read_pair(Line* line, DistancePair* pair) {
    if (!read_curve(line, &pair->a) || !read_curve(line, &pair->b)) {
        return false;
    }
    if (line->rest != NULL) {
        snprintf(line->message, sizeof line->message, "more numbers than two curves take");
        return false;
    }
    return true;
}

int distance_read(FILE* in, const char* name, FILE* messages, DistanceBatch* batch) {
    char* text = NULL;
    size_t size = 0;
    int code = EXIT_DONE;
    for (long number = 1; code == EXIT_DONE; ++number) {
        ssize_t length = getline(&text, &size, in);
        if (length < 0) {
            break;
        }
        Line line = {.rest = text};
        line.quiet = tdl_host_default();
        line.quiet.log = note;
        line.quiet.log_user = &line;
        DistancePair pair;
        if (strlen(text) != (size_t)length) {
            fprintf(messages, "tendril: %s: line %ld: has a zero byte\n", name, number);
            code = EXIT_INPUT;
        } else if (!read_pair(&line, &pair)) {
            fprintf(messages, "tendril: %s: line %ld: %s\n", name, number, line.message);
            code = EXIT_INPUT;
        } else if (!add_pair(batch, &pair)) {
            fprintf(messages, "tendril: not enough memory\n");
            code = EXIT_FAILED;
        }
    }
    if (ferror(in)) {
        fprintf(messages, "tendril: %s: could not be read\n", name);
        code = EXIT_INPUT;
    }
    free(text);
    return code;
}
