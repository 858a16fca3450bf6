// `tendril inverse helix`: the short helix between the two ends that each line of a file gives.
#include "app/command.h"
#include "app/csv_rows.h"
#include "app/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Share of the distance by which an end may be moved to where a helix reaches it: more than what
// seven digits in a file round away is another end.
static const double MISS_MOST = 1.0e-6;

// Two ends: place and unit tangent of each.
typedef struct Ends {
    TdlVec3 d, t0, t1;
} Ends;

typedef struct Batch {
    Ends* at;
    long count, capacity;
} Batch;

static TdlStatus read_ends(void* user, CsvLine* line) {
    Batch* batch = user;
    double x[12];
    if (!csv_numbers(line, "a helix between p0, t0 and p1, t1", 12, x)) {
        return TDL_STATUS_BAD_INPUT;
    }
    Ends ends = {tdl_sub3(tdl_load3(x, 2), tdl_load3(x, 0)), tdl_load3(x, 1), tdl_load3(x, 3)};
    double n0 = tdl_norm3(ends.t0), n1 = tdl_norm3(ends.t1);
    const char* fault = line->rest != NULL                ? "more numbers than two ends take"
                        : !(n0 > 0.0 && n1 > 0.0)         ? "a tangent is zero"
                        : !(isfinite(n0) && isfinite(n1)) ? "a tangent is too long"
                        : !(tdl_norm3(ends.d) > 0.0)      ? "the two ends are at the same place"
                        : !isfinite(tdl_norm3(ends.d))    ? "the two ends are too far apart"
                                                          : NULL;
    if (fault != NULL) {
        snprintf(line->message, sizeof line->message, "%s", fault);
        return TDL_STATUS_BAD_INPUT;
    }
    if (batch->count == batch->capacity) {
        long capacity = 2 * batch->capacity + 256;
        void* grown = realloc(batch->at, (size_t)capacity * sizeof *batch->at);
        if (grown == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        batch->at = grown;
        batch->capacity = capacity;
    }
    ends.t0 = tdl_scale3(1.0 / n0, ends.t0);
    ends.t1 = tdl_scale3(1.0 / n1, ends.t1);
    batch->at[batch->count++] = ends;
    return TDL_STATUS_OK;
}

static int read_batch(const Args* args, Batch* batch) {
    const char* path = args_operand(args, 0);
    FILE* in;
    TdlStatus status = tdl_input_open(args_host(args), path, &in);
    if (status != TDL_STATUS_OK) {
        return exit_code(status);
    }
    int code = csv_read(in, path, stderr, read_ends, batch);
    fclose(in);
    return code;
}

typedef struct Totals {
    long converged;
    double worst; // m, miss
    double seconds;
} Totals;

static void solve(const Batch* batch, TdlShortHelix* out, Totals* totals) {
    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    for (long i = 0; i < batch->count; ++i) {
        const Ends* e = &batch->at[i];
        out[i] = tdl_helix_between(e->d, e->t0, e->t1);
    }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    totals->seconds = (double)(t1.tv_sec - t0.tv_sec) + 1.0e-9 * (double)(t1.tv_nsec - t0.tv_nsec);
    for (long i = 0; i < batch->count; ++i) {
        bool exact = out[i].miss <= MISS_MOST * tdl_norm3(batch->at[i].d);
        out[i].converged = out[i].converged && exact;
        totals->converged += out[i].converged;
        totals->worst = fmax(totals->worst, out[i].miss);
    }
}

static int write_rows(const char* path, const TdlShortHelix* helix, long count) {
    FILE* out = path == NULL ? stdout : output_open(path);
    if (out == NULL) {
        return output_failure();
    }
    fprintf(out, "id,qx,qy,qz,length,converged\n");
    for (long i = 0; i < count; ++i) {
        fprintf(out, "%ld,%.17g,%.17g,%.17g,%.17g,%d\n", i + 1, helix[i].turn.x, helix[i].turn.y,
                helix[i].turn.z, helix[i].length, helix[i].converged);
    }
    return path == NULL || output_close(out, true) ? EXIT_DONE : output_failure();
}

static int run_inverse_helix(const Args* args) {
    Batch batch = {0};
    int code = read_batch(args, &batch);
    TdlShortHelix* helix = calloc((size_t)batch.count + 1, sizeof *helix);
    const char* path = args_text(args, "out", NULL);
    bool json = args_has(args, "json");
    if (code == EXIT_DONE && helix == NULL) {
        fprintf(stderr, "tendril: not enough memory\n");
        code = EXIT_FAILED;
    }
    if (code == EXIT_DONE) {
        Totals totals = {0};
        solve(&batch, helix, &totals);
        code = path != NULL || !json ? write_rows(path, helix, batch.count) : EXIT_DONE;
        if (code == EXIT_DONE && json) {
            printf("{\"helices\": %ld, \"converged\": %ld, \"largest_miss\": %.17g, "
                   "\"seconds\": %.6g}\n",
                   batch.count, totals.converged, totals.worst, totals.seconds);
        }
        if (code == EXIT_DONE && totals.converged < batch.count) {
            fprintf(stderr, "tendril: %ld of %ld rows have no such helix\n",
                    batch.count - totals.converged, batch.count);
            code = EXIT_FAILED;
        }
    }
    free(helix);
    free(batch.at);
    return code;
}

static const Option INVERSE_HELIX_OPTIONS[] = {
    {"out", 'o', OPTION_OUTPUT, "F.csv", 0, 0, "write the rows there instead of to stdout", false},
    {0},
};

const Command INVERSE_HELIX_COMMAND = {
    .name = "inverse helix",
    .operands = "FILE.csv",
    .summary = "The short helix between two places with their tangents",
    .text =
        "Each line of the file is the place and the tangent of a start, then of an end: x, y, z "
        "four times, 12 numbers without a header; tangents need not be of length 1. Each row tells "
        "the id (the line), the rotation vector by which the tangent turns from start to end (rad, "
        "in the axes of the file), the length, and whether there is such a helix. There is exactly "
        "one that turns by less than a full turn where the way from start to end is at right "
        "angles to the difference of the tangents. Where that misses by more than 1e-6 of the "
        "distance the row is of the nearest end and counts as not converged: exit status 1.",
    .example = "tendril inverse helix ends.csv --out helices.csv",
    .options = INVERSE_HELIX_OPTIONS,
    .run = run_inverse_helix,
};
