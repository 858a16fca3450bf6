// `tendril distance`: the distance between the two curves of each line of a file.
#include "app/command.h"
#include "app/distance_file.h"
#include "app/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int read_batch(const Args* args, DistanceBatch* batch) {
    const char* path = args_operand(args, 0);
    FILE* in;
    TdlStatus status = tdl_input_open(args_host(args), path, &in);
    if (status != TDL_STATUS_OK) {
        return exit_code(status);
    }
    int code = distance_read(in, path, stderr, batch);
    fclose(in);
    return code;
}

typedef struct Totals {
    long below, certified, boxes;
    double least, seconds;
} Totals;

static void write_row(FILE* out, long id, const TdlDistance* d) {
    if (d->below) {
        fprintf(out, "%ld,%.17g,%.17g,%.17g,%ld,%d\n", id, d->distance, d->s[0], d->s[1], d->boxes,
                d->certified);
    } else {
        fprintf(out, "%ld,inf,nan,nan,%ld,%d\n", id, d->boxes, d->certified);
    }
}

static int solve_batch(const Args* args, const DistanceBatch* batch, FILE* out, Totals* totals) {
    TdlDistanceDef def = tdl_distance_def_default();
    def.bound = args_real(args, "bound", def.bound);
    def.tolerance = args_real(args, "tolerance", def.tolerance);
    if (strcmp(args_text(args, "method", "bnb"), "segments") == 0) {
        def.method = TDL_DISTANCE_SEGMENTS;
        def.tolerance = args_real(args, "tolerance", 1.0e-4);
    }
    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    for (long i = 0; i < batch->count; ++i) {
        TdlDistance d;
        TdlStatus status = tdl_curve_distance(args_host(args), &batch->pair[i].a, NULL,
                                              &batch->pair[i].b, NULL, &def, &d);
        if (status != TDL_STATUS_OK) {
            return exit_code(status);
        }
        totals->below += d.below;
        totals->certified += d.certified;
        totals->boxes += d.boxes;
        totals->least = d.below ? fmin(totals->least, d.distance) : totals->least;
        if (out != NULL) {
            write_row(out, i + 1, &d);
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    totals->seconds = (double)(t1.tv_sec - t0.tv_sec) + 1.0e-9 * (double)(t1.tv_nsec - t0.tv_nsec);
    return EXIT_DONE;
}

static void print_totals(const DistanceBatch* batch, const Totals* t) {
    printf("{\"pairs\": %ld, \"below\": %ld, \"certified\": %ld, \"boxes\": %ld, ", batch->count,
           t->below, t->certified, t->boxes);
    if (isfinite(t->least)) {
        printf("\"least\": %.17g, ", t->least);
    } else {
        printf("\"least\": null, ");
    }
    printf("\"seconds\": %.6g}\n", t->seconds);
}

static int run_distance(const Args* args) {
    DistanceBatch batch = {0};
    int code = read_batch(args, &batch);
    const char* path = args_text(args, "out", NULL);
    bool json = args_has(args, "json");
    FILE* out = json ? NULL : stdout;
    if (code == EXIT_DONE && path != NULL) {
        out = output_open(path);
        code = out == NULL ? output_failure() : EXIT_DONE;
    }
    if (code == EXIT_DONE) {
        Totals totals = {.least = INFINITY};
        if (out != NULL) {
            fprintf(out, "id,distance,s_a,s_b,boxes,certified\n");
        }
        code = solve_batch(args, &batch, out, &totals);
        if (code == EXIT_DONE && json) {
            print_totals(&batch, &totals);
        }
    }
    if (path != NULL && out != NULL && out != stdout && !output_close(out, code == EXIT_DONE) &&
        code == EXIT_DONE) {
        code = output_failure();
    }
    free(batch.pair);
    return code;
}

static const Option DISTANCE_OPTIONS[] = {
    {"bound", 0, OPTION_REAL, "B", 0, 1.0e100, "m; pairs further apart are only proved to be so", //
     false},
    {"tolerance", 0, OPTION_REAL, "D", 1.0e-300, 1.0e100,
     "in the parameters; default 1e-12, and 1e-4 for segments", false},
    {"method", 0, OPTION_CHOICE, "bnb|segments", 0, 0,
     "branch and bound (the default), or the segment baseline", false},
    {"out", 'o', OPTION_OUTPUT, "F.csv", 0, 0, "write the rows there instead of to stdout", false},
    {0},
};

const Command DISTANCE_COMMAND = {
    .name = "distance",
    .operands = "FILE.csv",
    .summary = "Distance between pairs of curves, with proof",
    .text = "Each line of the file is a pair, kindA,numbers...,kindB,numbers..., without a header. "
            "A helix is its start point (3), its start frame by columns t, n1, n2 (9), its "
            "curvature vector twist, k1, k2 (3) and its length (1); a clothoid has the curvature "
            "vectors at its start and end (3 + 3) before the length; a bezier is its four control "
            "points (12), a segment its two ends (6). Each row tells the id (the line), the "
            "distance, where it is reached on either curve (in arc length; for a bezier in "
            "[0, 1]), the boxes looked at, and whether the distance is certified. A pair further "
            "apart than the bound has the distance inf.",
    .example = "tendril distance pairs.csv --bound 1e-4 --out distances.csv",
    .options = DISTANCE_OPTIONS,
    .run = run_distance,
};
