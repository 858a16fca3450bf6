// tendril ccd: answers the queries of benchmark files and says how well and how fast.
#include "app/ccd_measure.h"
#include "app/command.h"
#include "app/json.h"
#include "app/output.h"

#include <stdlib.h>
#include <string.h>

// Runs over a file at most; the best times are kept.
#define REPEATS 5

typedef struct Run {
    TdlCcdOptions options;
    int threads;
    FILE* out; // one row a query, or null
    CcdFigures total;
    CcdFigures* files; // [operands]
    TdlCcdKind* kinds; // [operands]
} Run;

// The last of the two names in the path decides.
static bool kind_from_path(const char* path, TdlCcdKind* kind) {
    bool found = false;
    for (const char* at = path; *at != '\0'; ++at) {
        if (strncmp(at, "vertex-face", 11) == 0) {
            *kind = TDL_CCD_VERTEX_FACE;
            found = true;
        } else if (strncmp(at, "edge-edge", 9) == 0) {
            *kind = TDL_CCD_EDGE_EDGE;
            found = true;
        }
    }
    return found;
}

static const char* kind_name(TdlCcdKind kind) {
    return kind == TDL_CCD_VERTEX_FACE ? "vf" : "ee";
}

static void write_rows(FILE* out, const char* path, const TdlCcdFile* file,
                       const TdlCcdResult* results, const double* seconds) {
    for (int i = 0; i < file->count; ++i) {
        const TdlCcdResult* r = &results[i];
        fprintf(out, "%s,%d,%s,%d,%d,%.17g,%.9g,%.17g,%.17g,%d,%d,%.4f\n", path, i,
                kind_name(file->queries[i].kind), file->truth[i], r->collision, r->time,
                r->tolerance, r->u, r->v, r->boxes, r->limited, 1.0e6 * seconds[i]);
    }
}

static int run_file(const Args* args, Run* run, int index) {
    const char* path = args_operand(args, index);
    TdlCcdFile file;
    int code = exit_code(tdl_ccd_file_read(args_host(args), path, run->kinds[index], &file));
    if (code != EXIT_DONE) {
        return code;
    }
    size_t count = (size_t)file.count + 1;
    TdlCcdResult* results = malloc(count * sizeof *results);
    double* seconds = malloc(count * sizeof *seconds);
    if (results == NULL || seconds == NULL) {
        code = EXIT_FAILED;
    } else {
        code = exit_code(ccd_measure(args_host(args), file.queries, file.truth, file.count,
                                     &run->options, run->threads, REPEATS, results, seconds,
                                     &run->files[index]));
    }
    if (code == EXIT_DONE) {
        ccd_figures_add(&run->total, &run->files[index]);
        if (run->out != NULL) {
            write_rows(run->out, path, &file, results, seconds);
        }
    }
    free(results);
    free(seconds);
    tdl_ccd_file_free(&file);
    return code;
}

static void print_json_figures(const CcdFigures* f) {
    printf("\"queries\": %d, \"positives\": %d, \"false_positives\": %d, \"false_negatives\": %d, "
           "\"mean_us\": %.6g, \"max_us\": %.6g, \"mean_boxes\": %.6g, \"reported\": %d, "
           "\"limited\": %d, \"largest_tolerance\": %.6g}",
           f->queries, f->positives, f->false_positives, f->false_negatives, f->mean_us, f->max_us,
           f->mean_boxes, f->reported, f->limited, f->largest_tolerance);
}

static void print_json(const Args* args, const Run* run) {
    printf("{\"method\": \"%s\", \"norm\": \"%s\", \"min_separation\": %.17g, "
           "\"tolerance\": %.17g, \"threads\": %d,\n \"files\": [",
           tdl_ccd_method_name(run->options.method),
           run->options.norm == TDL_CCD_NORM_EUCLID ? "euclid" : "max", run->options.min_separation,
           run->options.tolerance, run->threads);
    for (int i = 0; i < args_operand_count(args); ++i) {
        printf("%s\n  {\"file\": ", i > 0 ? "," : "");
        json_text(args_operand(args, i));
        printf(", \"kind\": \"%s\", ", kind_name(run->kinds[i]));
        print_json_figures(&run->files[i]);
    }
    printf("],\n \"total\": {");
    print_json_figures(&run->total);
    printf("}\n");
}

static void print_row(const char* name, const CcdFigures* f) {
    printf("%9d %9d %9d %9d %9.3f %9.2f %9.2f  %s\n", f->queries, f->positives, f->false_positives,
           f->false_negatives, f->mean_us, f->max_us, f->mean_boxes, name);
}

static void print_table(const Args* args, const Run* run) {
    printf("%9s %9s %9s %9s %9s %9s %9s\n", "queries", "positive", "false+", "false-", "mean us",
           "max us", "boxes");
    for (int i = 0; i < args_operand_count(args); ++i) {
        print_row(args_operand(args, i), &run->files[i]);
    }
    print_row("total", &run->total);
}

// Options and kinds from the command line.
static int read_options(const Args* args, Run* run) {
    TdlCcdOptions* o = &run->options;
    *o = tdl_ccd_options_default();
    const char* method = args_text(args, "method", "contract");
    if (args_has(args, "exact")) {
        method = "exact";
    }
    if (!tdl_ccd_method_from_name(method, &o->method)) {
        return usage_error(args, "no method '%s'", method);
    }
    o->norm = strcmp(args_text(args, "norm", "max"), "euclid") == 0 ? TDL_CCD_NORM_EUCLID
                                                                    : TDL_CCD_NORM_MAX;
    o->min_separation = args_real(args, "min-separation", 0.0);
    o->tolerance = args_real(args, "tolerance", o->tolerance);
    o->max_checks = args_int(args, "max-checks", 0);
    o->scalar = args_has(args, "scalar");
    // one thread unless asked: times are those of a query alone
    run->threads = args_int(args, "threads", 1);
    if (o->method == TDL_CCD_EXACT && o->min_separation > 0.0) {
        return usage_error(args, "the exact method knows no separation");
    }
    for (int i = 0; i < args_operand_count(args); ++i) {
        const char* kind = args_text(args, "kind", NULL);
        if (kind != NULL) {
            run->kinds[i] = strcmp(kind, "vf") == 0 ? TDL_CCD_VERTEX_FACE : TDL_CCD_EDGE_EDGE;
        } else if (!kind_from_path(args_operand(args, i), &run->kinds[i])) {
            return usage_error(args,
                               "'%s' names neither vertex-face nor edge-edge in its path; "
                               "say --kind vf or --kind ee",
                               args_operand(args, i));
        }
    }
    return EXIT_DONE;
}

static int open_out(const Args* args, Run* run) {
    const char* path = args_text(args, "out", NULL);
    if (path == NULL) {
        return EXIT_DONE;
    }
    run->out = output_open(path);
    if (run->out == NULL) {
        return output_failure();
    }
    fprintf(run->out,
            "file,query,kind,truth,collision,time,tolerance,u,v,boxes,limited,microseconds\n");
    return EXIT_DONE;
}

static int close_out(Run* run, int code) {
    if (run->out == NULL) {
        return code;
    }
    bool stands = output_close(run->out, code == EXIT_DONE);
    return stands || code != EXIT_DONE ? code : output_failure();
}

static int run_ccd(const Args* args) {
    size_t count = (size_t)args_operand_count(args);
    Run run = {.files = calloc(count, sizeof *run.files),
               .kinds = calloc(count, sizeof *run.kinds)};
    int code = run.files != NULL && run.kinds != NULL ? read_options(args, &run) : EXIT_FAILED;
    if (code == EXIT_DONE) {
        code = open_out(args, &run);
    }
    for (int i = 0; i < args_operand_count(args) && code == EXIT_DONE; ++i) {
        code = run_file(args, &run, i);
    }
    code = close_out(&run, code);
    if (code == EXIT_DONE) {
        if (args_has(args, "json")) {
            print_json(args, &run);
        } else {
            print_table(args, &run);
        }
    }
    free(run.files);
    free(run.kinds);
    return code;
}

static const Option CCD_OPTIONS[] = {
    {"kind", 'k', OPTION_CHOICE, "vf|ee", 0, 0,
     "vertex-face or edge-edge; read from the path when not given", false},
    {"method", 'm', OPTION_CHOICE, "contract|bisect|interval|univariate|cubic|parity|sextic|exact",
     0, 0, "how to answer; default contract", false},
    {"exact", 0, OPTION_SWITCH, NULL, 0, 0, "the same as --method exact", false},
    {"min-separation", 'd', OPTION_REAL, "M", 0, 1.0e300,
     "nearer than this, in metres, counts as a collision; default 0", false},
    {"norm", 'n', OPTION_CHOICE, "max|euclid", 0, 0, "how the separation is measured; default max",
     false},
    {"tolerance", 'e', OPTION_REAL, "M", 0, 1.0e300,
     "accuracy in metres at which a search may stop; default 1e-6", false},
    {"max-checks", 0, OPTION_INT, "N", 1, 2.0e9,
     "boxes after which a search stops; default 3000 for contract, else 1000000", false},
    {"out", 'o', OPTION_OUTPUT, "CSV", 0, 0, "write one row a query", false},
    {"scalar", 0, OPTION_SWITCH, NULL, 0, 0, "without SIMD: same answers, slower", false},
    {0},
};

const Command CCD_COMMAND = {
    .name = "ccd",
    .operands = "FILE...",
    .summary = "Answer continuous collision queries and compare with their truth",
    .text = "Each FILE holds queries of the public collision benchmark: eight rows a query, the\n"
            "numerator and denominator of each coordinate, and the truth. Reading is not timed;\n"
            "times are the best of five runs, on one thread unless --threads is given.\n"
            "\n"
            "contract, bisect, interval and univariate never miss a collision; exact is never\n"
            "wrong; cubic, parity and sextic show what goes wrong without such care.",
    .example = "tendril ccd data/unit-tests/edge-edge/data_0_0.csv --json\n"
               "tendril ccd --kind vf --method bisect queries.csv --out answers.csv\n"
               "tendril ccd --min-separation 1e-3 --norm euclid data/*/vertex-face/*.csv",
    .options = CCD_OPTIONS,
    .run = run_ccd,
};
