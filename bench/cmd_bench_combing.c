// tendril bench combing: S0's Table 4 again, the phases of a step of combing beside its figures.
#include "app/json.h"
#include "app/output.h"
#include "app/plot.h"
#include "app/save_problem.h"
#include "app/trace_option.h"
#include "experiment/combing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = COMBING_PATH_BYTES, DEFAULT_STEPS = 300 };

// A row of S0's Table 4: eight cores at 3.5 GHz, construction on one of them.
typedef struct PaperRow {
    const char* preset;
    double contacts, seconds, detect, build, solve;
} PaperRow;

static const PaperRow PAPER[] = {
    {"comb-2025-straight", 21191.0, 12.9, 1.7, 7.1, 3.8},
    {"comb-2025-wavy", 28709.0, 24.4, 10.3, 7.2, 6.7},
    {"comb-2025-curly", 84806.0, 62.5, 22.5, 7.6, 32.2},
    {"comb-2025-wavy-dirty", 29282.0, 23.6, 9.3, 7.2, 6.9},
    {"comb-100-coiled", 6946.0, 9.5, 0.5, 6.3, 2.6},
};
enum { PAPER_ROWS = sizeof PAPER / sizeof *PAPER };

static const PaperRow* paper_row(const char* preset) {
    for (int i = 0; i < PAPER_ROWS; ++i) {
        if (strcmp(PAPER[i].preset, preset) == 0) {
            return &PAPER[i];
        }
    }
    return NULL;
}

// --- output ---------------------------------------------------------------------------------

static void print_row(const char* who, double contacts, double seconds, double detect, double build,
                      double solve, const char* threads) {
    printf("  %-8s %9.0f %11.4g %11.4g (%2.0f %%) %11.4g (%2.0f %%) %11.4g (%2.0f %%)  %s\n", who,
           contacts, seconds, detect, 100.0 * detect / seconds, build, 100.0 * build / seconds,
           solve, 100.0 * solve / seconds, threads);
}

static void print_plain(const Combing* combing, const CombFigures* f, const PaperRow* paper,
                        int threads) {
    char text[32];
    snprintf(text, sizeof text, "%d", threads);
    printf("%s: %d steps, %d since the comb moved\n", combing->name, combing->count, f->steps);
    printf("  %-8s %9s %11s %18s %18s %18s  %s\n", "", "contacts", "step/s", "detection/s",
           "construction/s", "solve/s", "threads");
    print_row("here", f->contacts, f->seconds, f->detect, f->build, f->solve, text);
    if (paper != NULL) {
        print_row("S0", paper->contacts, paper->seconds, paper->detect, paper->build, paper->solve,
                  "8, construction 1");
        printf("  S0's step takes %.3g times as long; a contact %.3g times\n",
               paper->seconds / f->seconds,
               paper->seconds / paper->contacts / (f->seconds / f->contacts));
    }
    printf("  processor time of a step %.4g s, all threads together, over %d steps of this call\n",
           combing->processor / combing->processor_steps, combing->processor_steps);
    printf("  solver: error at most %.2g, %.0f iterations in the mean, %d steps not solved to %g\n",
           f->error, f->iterations, f->unsolved, combing->def.tolerance);
    printf("  deepest overlap %.3g %% of a radius\n", -100.0 * f->deepest / combing->def.radius);
}

static void print_json(const Combing* combing, const PaperRow* paper, int threads) {
    printf("{");
    combing_print_json(combing);
    printf(", \"threads\": %d, \"paper\": ", threads);
    if (paper == NULL) {
        printf("null}\n");
        return;
    }
    printf("{\"contacts_mean\": %g, \"seconds_per_step\": %g, \"detection_seconds\": %g, "
           "\"construction_seconds\": %g, \"solve_seconds\": %g, \"threads\": 8}}\n",
           paper->contacts, paper->seconds, paper->detect, paper->build, paper->solve);
}

static bool write_table(const char* folder, const Combing* combing, const CombFigures* f,
                        int threads) {
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/table.csv", folder);
    FILE* file = output_open(path);
    if (file == NULL) {
        return false;
    }
    fputs("who,preset,threads,contacts,step_seconds,detection_seconds,construction_seconds,"
          "solve_seconds\n",
          file);
    fprintf(file, "here,%s,%d,%.17g,%.17g,%.17g,%.17g,%.17g\n", combing->name, threads, f->contacts,
            f->seconds, f->detect, f->build, f->solve);
    for (int i = 0; i < PAPER_ROWS; ++i) {
        fprintf(file, "S0,%s,8,%g,%g,%g,%g,%g\n", PAPER[i].preset, PAPER[i].contacts,
                PAPER[i].seconds, PAPER[i].detect, PAPER[i].build, PAPER[i].solve);
    }
    return output_close(file, ferror(file) == 0);
}

// The phases of every step since the comb moved against its contacts, and S0's means.
static bool draw_phases(const char* folder, const Combing* combing) {
    char path[PATH_BYTES + 64];
    double* const* column = combing->column;
    int first = combing_first(combing, false), n = combing->count - first;
    double* build = calloc((size_t)n + 1, sizeof *build);
    double paper[4][PAPER_ROWS];
    if (build == NULL) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        build[i] = column[COMB_BUILD_SECONDS][first + i] + column[COMB_PREDICT_SECONDS][first + i];
    }
    for (int i = 0; i < PAPER_ROWS; ++i) {
        paper[0][i] = PAPER[i].contacts;
        paper[1][i] = PAPER[i].detect;
        paper[2][i] = PAPER[i].build;
        paper[3][i] = PAPER[i].solve;
    }
    const double* x = column[COMB_CONTACTS] + first;
    PlotSeries series[] = {
        {"detection", x, column[COMB_DETECT_SECONDS] + first, n, PLOT_MARKS},
        {"construction", x, build, n, PLOT_MARKS},
        {"solve", x, column[COMB_SOLVE_SECONDS] + first, n, PLOT_MARKS},
        {"S0 detection", paper[0], paper[1], PAPER_ROWS, PLOT_MARKS},
        {"S0 construction", paper[0], paper[2], PAPER_ROWS, PLOT_MARKS},
        {"S0 solve", paper[0], paper[3], PAPER_ROWS, PLOT_MARKS},
    };
    snprintf(path, sizeof path, "%s/phases-of-a-step.svg", folder);
    bool good = plot_write(&(Plot){.title = "Phases of a step of combing",
                                   .note = combing->name,
                                   .x = {.label = "contacts", .log = true},
                                   .y = {.label = "wall time", .unit = "s", .log = true},
                                   .series = series,
                                   .series_count = 6},
                           path);
    free(build);
    return good;
}

// --- the run --------------------------------------------------------------------------------

static int thread_count(const Args* args) {
    int asked = args_int(args, "threads", 0);
    return asked > 0 ? asked : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static int run_bench_combing(const Args* args) {
    const char* preset = args_text(args, "preset", "comb-25-wavy");
    const char* out = args_text(args, "out", "out/bench-combing");
    char folder[PATH_BYTES];
    Combing combing = {.folder = folder, .relaxed = args_text(args, "relaxed", NULL)};
    tdl_comb_preset(preset, &combing.def);
    combing.def.relaxation = args_real(args, "relax", combing.def.relaxation);
    combing.def.tolerance = args_real(args, "tolerance", combing.def.tolerance);
    snprintf(combing.name, sizeof combing.name, "%s", preset);
    snprintf(folder, sizeof folder, "%.4000s/%s", out, preset);
    bool resume = access(folder, F_OK) == 0;
    combing.step_limit = args_int(args, "steps", DEFAULT_STEPS);
    if (!resume) {
        double start = tdl_comb_times(&combing.def).start;
        combing.step_limit += (long)ceil(start / combing.def.step - 1.0e-9);
    }
    int code = combing_rest(args, true, &combing);
    code = code == EXIT_DONE ? combing_run(args, resume, &combing) : code;
    if (code == EXIT_DONE) {
        bool good = combing_read(args, &combing);
        CombFigures f = {0};
        int threads = thread_count(args);
        if (good) {
            f = combing_figures(&combing);
            good = write_table(folder, &combing, &f, threads) && draw_phases(folder, &combing);
        }
        code = good ? EXIT_DONE : EXIT_FAILED;
        if (good && args_has(args, "json")) {
            print_json(&combing, paper_row(preset), threads);
        } else if (good) {
            print_plain(&combing, &f, paper_row(preset), threads);
            printf("  %s/table.csv and phases-of-a-step.svg\n", folder);
        }
    }
    combing_free(&combing);
    return code;
}

static const Option OPTIONS[] = {
    {"preset", 'p', OPTION_CHOICE,
     "comb-1-wavy|comb-25-wavy|comb-2025-straight|comb-2025-wavy|comb-2025-curly|"
     "comb-2025-wavy-dirty|comb-100-coiled",
     0, 0, "of tendril experiment comb; default comb-25-wavy", false},
    {"steps", 0, OPTION_INT, "COUNT", 1, 1000000000, "to take since the comb moved; default 300",
     false},
    {"relax", 0, OPTION_REAL, "S", 1e-6, 1000, "time to come to rest, s; default the preset's",
     false},
    {"relaxed", 0, OPTION_FILE, "DIR", 0, 0,
     "start with the hair at rest of this experiment; see tendril experiment comb", false},
    {"tolerance", 0, OPTION_REAL, "ERROR", 1e-14, 1, "of the contact solver; default the preset's",
     false},
    {"save-problem", 0, OPTION_TEXT, "STEPS=PATH", 0, 0, SAVE_PROBLEM_HELP, false},
    TRACE_OPTIONS,
    {"out", 'o', OPTION_OUTPUT, "DIR", 0, 0,
     "the experiment is DIR/<preset>; one that is there goes on; default out/bench-combing", false},
    {0},
};

const Command BENCH_COMBING_COMMAND = {
    .name = "bench combing",
    .operands = "",
    .summary = "Time the phases of combing, beside published figures",
    .text = "Runs an experiment of tendril experiment comb until its comb has moved for some "
            "steps, and prints over these steps the mean contacts and the mean wall seconds of a "
            "step and of its phases: detection, construction (rods and the rows of contacts) and "
            "solve; beside them, where there is one, the row of Table 4 of Crespel et al. 2024, "
            "whose machine had eight cores at 3.5 GHz and constructed on one of them. On a busy "
            "machine look at the processor time. The folder "
            "of the experiment gets table.csv and phases-of-a-step.svg.",
    .example = "tendril bench combing\n"
               "tendril bench combing --preset comb-100-coiled --steps 100 --threads 2\n"
               "tendril bench combing --preset comb-2025-wavy --steps 500",
    .options = OPTIONS,
    .run = run_bench_combing,
};
