// One table of all runs: their values, how they ended, and what their logs say of each column that
// is observed: the last, the mean over steps, and the largest size.
#include "app/output.h"
#include "sweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN_NAME_SIZE = 160 };

// The columns of a log: those of every run, such as its energies, and those that are observed.
typedef struct Column {
    char name[COLUMN_NAME_SIZE];
    bool observed;
    double last, sum, most;
} Column;

typedef struct Log {
    Column* columns; // [count]
    int count;
    long rows;
} Log;

// Of what a log has of every step, what tells about the run and not about the machine.
static const char* const PLAIN[] = {"step",    "time",        "kinetic", "elastic",
                                    "gravity", "energy_rise", "nowhere", "deepest"};
// The last column that every log has.
static const char LAST_PLAIN[] = "effort";

static bool read_header(char* line, Log* log) {
    bool observed = false;
    for (char* word = strtok(line, ",\n"); word != NULL; word = strtok(NULL, ",\n")) {
        Column* grown = realloc(log->columns, ((size_t)log->count + 1) * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        log->columns = grown;
        Column* column = &grown[log->count++];
        *column = (Column){.observed = observed};
        snprintf(column->name, sizeof column->name, "%s", word);
        observed = observed || strcmp(word, LAST_PLAIN) == 0;
    }
    return log->count > 0;
}

static bool read_row(char* line, Log* log) {
    char* rest = line;
    for (int i = 0; i < log->count; ++i) {
        char* end;
        double value = strtod(rest, &end);
        if (end == rest || (*end != ',' && *end != '\n')) {
            return false;
        }
        Column* column = &log->columns[i];
        column->last = value;
        column->sum += value;
        column->most = fmax(column->most, fabs(value));
        rest = end + 1;
    }
    ++log->rows;
    return true;
}

static void free_log(Log* log) {
    free(log->columns);
    *log = (Log){0};
}

// False, and nothing in it, where a run left no whole log.
static bool read_log(const SweepPlan* plan, int run, Log* out) {
    *out = (Log){0};
    char folder[SWEEP_PATH_SIZE], path[SWEEP_PATH_SIZE + 16];
    sweep_run_folder(plan, run, folder);
    snprintf(path, sizeof path, "%s/log.csv", folder);
    FILE* file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    char* line = NULL;
    size_t room = 0;
    bool good = getline(&line, &room, file) > 0 && read_header(line, out);
    while (good && getline(&line, &room, file) > 0) {
        good = read_row(line, out);
    }
    free(line);
    fclose(file);
    if (!good || out->rows == 0) {
        free_log(out);
    }
    return good && out->count > 0;
}

// --- figures -------------------------------------------------------------------------------------

// What a run is told by, in the same order for all of them.
typedef struct Figures {
    char (*names)[COLUMN_NAME_SIZE]; // [count]
    double* values;                  // [run_count][count], NaN where a run has none
    int count;
} Figures;

static bool is_plain(const char* name) {
    for (size_t i = 0; i < sizeof PLAIN / sizeof *PLAIN; ++i) {
        if (strcmp(PLAIN[i], name) == 0) {
            return true;
        }
    }
    return false;
}

// Either fills the names or, with a row, the values; returns how many there are.
static int tell_log(const Log* log, char (*names)[COLUMN_NAME_SIZE], double* row) {
    int n = 0;
    for (int i = 0; i < log->count; ++i) {
        const Column* c = &log->columns[i];
        if (!c->observed && !is_plain(c->name)) {
            continue;
        }
        const double told[] = {c->last, c->sum / (double)log->rows, c->most};
        static const char* const SUFFIX[] = {"", "_mean", "_most"};
        for (int k = 0; k < (c->observed ? 3 : 1); ++k, ++n) {
            if (names != NULL) {
                snprintf(names[n], COLUMN_NAME_SIZE, "%.*s%s", COLUMN_NAME_SIZE - 8, c->name,
                         SUFFIX[k]);
            }
            if (row != NULL) {
                row[n] = told[k];
            }
        }
    }
    return n;
}

// The figures are those of the first run that has a log; the others observe the same.
static bool gather(const SweepPlan* plan, Figures* out) {
    *out = (Figures){0};
    for (int run = 0; run < plan->run_count; ++run) {
        Log log;
        if (!read_log(plan, run, &log)) {
            continue;
        }
        int count = tell_log(&log, NULL, NULL);
        if (out->values == NULL) {
            size_t all = (size_t)count * (size_t)plan->run_count;
            out->count = count;
            out->names = calloc((size_t)count, sizeof *out->names);
            out->values = malloc(all * sizeof *out->values);
            if (out->names == NULL || out->values == NULL) {
                free_log(&log);
                return false;
            }
            tell_log(&log, out->names, NULL);
            for (size_t i = 0; i < all; ++i) {
                out->values[i] = NAN;
            }
        }
        if (count == out->count) {
            tell_log(&log, NULL, out->values + (size_t)run * (size_t)count);
        }
        free_log(&log);
    }
    return true;
}

static void print_values(const SweepPlan* plan, int run, FILE* out) {
    for (int i = 0; i < plan->axis_count; ++i) {
        fprintf(out, ",%s", plan->axes[i].values[sweep_value(plan, run, i)]);
    }
}

static void print_axes(const SweepPlan* plan, FILE* out) {
    for (int i = 0; i < plan->axis_count; ++i) {
        fprintf(out, ",%.*s", plan->axes[i].path_length, plan->axes[i].path);
    }
}

static void write_runs(const SweepPlan* plan, const SweepRun* runs, const Figures* f, FILE* out) {
    fprintf(out, "run");
    print_axes(plan, out);
    fprintf(out, "%s,outcome", plan->seeds > 0 ? ",seed" : "");
    for (int i = 0; i < f->count; ++i) {
        fprintf(out, ",%s", f->names[i]);
    }
    for (int run = 0; run < plan->run_count; ++run) {
        fprintf(out, "\n%05d", run);
        print_values(plan, run, out);
        if (plan->seeds > 0) {
            fprintf(out, ",%d", sweep_seed(plan, run));
        }
        fprintf(out, ",%s", sweep_state_name(runs[run].state));
        for (int i = 0; i < f->count; ++i) {
            fprintf(out, ",%.17g", f->values[run * f->count + i]);
        }
    }
    fprintf(out, "\n");
}

// Mean and standard deviation over the seeds that came to their end.
static void write_means(const SweepPlan* plan, const SweepRun* runs, const Figures* f, FILE* out) {
    fprintf(out, "runs");
    print_axes(plan, out);
    for (int i = 0; i < f->count; ++i) {
        fprintf(out, ",%s,%s_spread", f->names[i], f->names[i]);
    }
    for (int first = 0; first < plan->run_count; first += plan->seeds) {
        int good = 0;
        for (int k = first; k < first + plan->seeds; ++k) {
            good += runs[k].state == SWEEP_DONE || runs[k].state == SWEEP_DOUBTFUL;
        }
        fprintf(out, "\n%d", good);
        print_values(plan, first, out);
        for (int i = 0; i < f->count; ++i) {
            double sum = 0.0, squares = 0.0;
            for (int pass = 0; pass < 2; ++pass) {
                for (int k = first; k < first + plan->seeds; ++k) {
                    double value = f->values[k * f->count + i];
                    bool counts = runs[k].state == SWEEP_DONE || runs[k].state == SWEEP_DOUBTFUL;
                    sum += pass == 0 && counts ? value : 0.0;
                    squares += pass == 1 && counts ? pow(value - sum / good, 2.0) : 0.0;
                }
            }
            fprintf(out, ",%.17g,%.17g", good > 0 ? sum / good : NAN,
                    good > 1 ? sqrt(squares / (good - 1)) : NAN);
        }
    }
    fprintf(out, "\n");
}

typedef void (*WriteFn)(const SweepPlan* plan, const SweepRun* runs, const Figures* f, FILE* out);

static bool write_table(const SweepPlan* plan, const SweepRun* runs, const Figures* f,
                        const char* name, WriteFn write) {
    char path[SWEEP_PATH_SIZE + 16];
    snprintf(path, sizeof path, "%.4000s/%s", plan->folder, name);
    FILE* out = output_open(path);
    if (out == NULL) {
        return false;
    }
    write(plan, runs, f, out);
    return output_close(out, true);
}

bool sweep_write_tables(const SweepPlan* plan, const SweepRun* runs) {
    Figures figures;
    bool good = gather(plan, &figures);
    if (!good) {
        fprintf(stderr, "the table: there is not enough memory\n");
    }
    good = good && write_table(plan, runs, &figures, "table.csv", write_runs) &&
           (plan->seeds == 0 || write_table(plan, runs, &figures, "means.csv", write_means));
    free(figures.names);
    free(figures.values);
    return good;
}

// --- elsewhere -----------------------------------------------------------------------------------

// A word that a shell takes as it is.
static void print_word(const char* word, FILE* out) {
    putc('\'', out);
    for (; *word != '\0'; ++word) {
        if (*word == '\'') {
            fputs("'\\''", out);
        } else {
            putc(*word, out);
        }
    }
    putc('\'', out);
}

static void write_commands(const SweepPlan* plan, const SweepRun* runs, const Figures* f,
                           FILE* out) {
    (void)runs, (void)f;
    for (int run = 0; run < plan->run_count; ++run) {
        char folder[SWEEP_PATH_SIZE], text[SWEEP_PATH_SIZE];
        sweep_run_folder(plan, run, folder);
        fprintf(out, "tendril run --quiet --threads=1 ");
        print_word(plan->scene, out);
        fprintf(out, " --output ");
        print_word(folder, out);
        for (int i = 0; i < sweep_override_count(plan); ++i) {
            sweep_override(plan, run, i, text);
            fprintf(out, " --set ");
            print_word(text, out);
        }
        fprintf(out, "\n");
    }
}

static void write_slurm(const SweepPlan* plan, const SweepRun* runs, const Figures* f, FILE* out) {
    (void)runs, (void)f;
    fprintf(out,
            "#!/bin/sh\n"
            "#SBATCH --job-name=tendril-sweep\n"
            "#SBATCH --array=0-%d\n"
            "#SBATCH --cpus-per-task=1\n"
            "# the line of this task; one that was interrupted is gone on with\n"
            "folder=%s/run-$(printf %%05d \"$SLURM_ARRAY_TASK_ID\")\n"
            "if [ -e \"$folder/checkpoint\" ]; then\n"
            "    exec tendril run --quiet --threads=1 --resume \"$folder\"\n"
            "fi\n"
            "sed -n \"$((SLURM_ARRAY_TASK_ID + 1))p\" ",
            plan->run_count - 1, plan->folder);
    print_word(plan->folder, out);
    fprintf(out, "/commands.txt | sh\n");
}

int sweep_write_commands(const SweepPlan* plan, bool slurm) {
    Figures none = {0};
    if (!write_table(plan, NULL, &none, "commands.txt", write_commands) ||
        (slurm && !write_table(plan, NULL, &none, "sweep.sbatch", write_slurm))) {
        return EXIT_FAILED;
    }
    if (slurm) {
        printf("sbatch %s/sweep.sbatch\n", plan->folder);
    } else {
        printf("parallel --joblog %s/parallel.log < %s/commands.txt\n", plan->folder, plan->folder);
    }
    return EXIT_DONE;
}
