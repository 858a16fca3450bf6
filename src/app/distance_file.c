// Reading pairs of curves from CSV: a pair a line, kindA,numbers...,kindB,numbers...
#include "app/distance_file.h"

#include "app/command.h"
#include "app/csv_rows.h"

#include <stdlib.h>
#include <string.h>

// Why a curve is refused becomes the message of its line.
static void note(void* user, TdlLogLevel level, const char* message) {
    (void)level;
    CsvLine* line = user;
    snprintf(line->message, sizeof line->message, "%s", message);
}

static TdlPose pose_of(const double* x) {
    return (TdlPose){tdl_load3(x, 0), {tdl_load3(x, 1), tdl_load3(x, 2), tdl_load3(x, 3)}};
}

static bool read_curve(CsvLine* line, TdlCurve* out) {
    const char* kind = csv_field(line);
    double x[19];
    TdlHost quiet = tdl_host_default();
    quiet.log = note;
    quiet.log_user = line;
    TdlStatus status = TDL_STATUS_BAD_INPUT;
    if (kind == NULL) {
        snprintf(line->message, sizeof line->message, "a curve is missing");
    } else if (strcmp(kind, "segment") == 0) {
        if (csv_numbers(line, kind, 6, x)) {
            status = tdl_curve_segment(&quiet, tdl_load3(x, 0), tdl_load3(x, 1), out);
        }
    } else if (strcmp(kind, "helix") == 0) {
        if (csv_numbers(line, kind, 16, x)) {
            status = tdl_curve_helix(&quiet, pose_of(x), tdl_load3(x, 4), x[15], out);
        }
    } else if (strcmp(kind, "clothoid") == 0) {
        if (csv_numbers(line, kind, 19, x)) {
            status = tdl_curve_clothoid(&quiet, pose_of(x), tdl_load3(x, 4), tdl_load3(x, 5), x[18],
                                        out);
        }
    } else if (strcmp(kind, "bezier") == 0) {
        if (csv_numbers(line, kind, 12, x)) {
            TdlVec3 control[4] = {tdl_load3(x, 0), tdl_load3(x, 1), tdl_load3(x, 2),
                                  tdl_load3(x, 3)};
            status = tdl_curve_cubic(&quiet, control, out);
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

static TdlStatus read_pair(void* user, CsvLine* line) {
    DistancePair pair;
    if (!read_curve(line, &pair.a) || !read_curve(line, &pair.b)) {
        return TDL_STATUS_BAD_INPUT;
    }
    if (line->rest != NULL) {
        snprintf(line->message, sizeof line->message, "more numbers than two curves take");
        return TDL_STATUS_BAD_INPUT;
    }
    return add_pair(user, &pair) ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}

int distance_read(FILE* in, const char* name, FILE* messages, DistanceBatch* batch) {
    return csv_read(in, name, messages, read_pair, batch);
}
