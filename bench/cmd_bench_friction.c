// `tendril bench friction`: all solvers on all problems, beside Siconos when it is installed.
//
// Writes results.csv (a row for a problem and a solver), profile.csv (the part of the problems each
// solver solves within a factor of the fastest), convergence.csv (error against time), nu.csv (S1
// figure 10 again: spaghetti from few contacts to three times too many), bodies.csv (velocity space
// against explicit W); and pictures of the profile, of nu, and of the convergence on each problem
// as SVG and PNG.
#include "app/command.h"
#include "app/output.h"
#include "app/own_solver.h"
#include "app/plot.h"
#include "bench/friction_cases.h"
#include "bench/friction_nodes.h"
#include "bench/siconos.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_PROBLEMS = 512, FACTORS = 41, DIGITS = 6 };
// Something short is repeated until this much time has gone by, in seconds, or this many times.
static const double REPEAT_SECONDS = 0.01;
enum { MOST_REPEATS = 500 };
// A solver that takes longer than this for some digits is not asked for more.
static const double STUDY_MS = 2000.0;
enum { OURS = TDL_FRICTION_OWN + 1, ALL = OURS + SICONOS_COUNT };

typedef struct Cell {
    bool tried, solved;
    int iterations;
    double error, ms;
    TdlFrictionSolverKind used;
} Cell;

typedef struct Bench {
    const TdlHost* host;
    const char* directory;
    double tolerance;
    int repeats, max_iterations;
    bool peers, auto_only, from_guess;
    TdlFrictionOwnFn own; // the last of our solvers, if there is one
    int count;
    char names[MAX_PROBLEMS][96];
    int contacts[MAX_PROBLEMS];
    Cell cells[MAX_PROBLEMS][ALL];
    double factors[FACTORS], profile[ALL][FACTORS]; // part solved within a factor of the fastest
} Bench;

static const char* solver_name(int k) {
    return k < OURS ? tdl_friction_solver_name((TdlFrictionSolverKind)k)
                    : siconos_name((SiconosSolver)(k - OURS));
}

// Whether it is there: the one of the caller's may not be, and S3's solve another law.
static bool is_there(const Bench* b, int k) {
    return k == TDL_FRICTION_OWN
               ? b->own != NULL
               : k != TDL_FRICTION_ACTIVE_SET && k != TDL_FRICTION_NORMAL_INTERIOR;
}

static FILE* open_out(const Bench* b, const char* name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", b->directory, name);
    return output_open(path);
}

// Whether to run once more: what takes microseconds is at its best only when it is warm.
static bool once_more(int done, int repeats, double seconds) {
    return done < repeats || (repeats > 1 && done < MOST_REPEATS && seconds < REPEAT_SECONDS);
}

static double processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1.0e-9 * (double)t.tv_nsec;
}

// Where a solve starts: at zero, or at the guess of the problem where there is one and it is asked
// for.
static void first_impulses(const Bench* b, const TdlFrictionProblem* problem, size_t count,
                           double* r) {
    const double* guess = tdl_friction_problem_matrix(problem).laws.guess;
    memset(r, 0, count * sizeof(double));
    if (b->from_guess && guess != NULL) {
        memcpy(r, guess, count * sizeof(double));
    }
}

// One of our solvers, the best time of the repeats; waiting for a processor does not count.
static bool run_ours(const Bench* b, const TdlFrictionProblem* problem, TdlFrictionOptions options,
                     int repeats, double* r, Cell* cell) {
    TdlFrictionSize size = tdl_friction_problem_size(problem);
    size_t count = (size_t)size.contact_count * (size_t)size.block_size;
    TdlFrictionSolver* solver;
    if (tdl_friction_solver_create(b->host, &options, &solver) != TDL_STATUS_OK) {
        return false;
    }
    *cell = (Cell){.tried = true, .ms = HUGE_VAL};
    double seconds = 0.0;
    for (int k = 0; once_more(k, repeats, seconds); ++k) {
        TdlFrictionInfo info;
        first_impulses(b, problem, count, r);
        double begin = processor_time();
        if (tdl_friction_solver_solve(solver, problem, r, NULL, &info) != TDL_STATUS_OK) {
            break;
        }
        double spent = fmin(info.seconds, processor_time() - begin);
        cell->ms = fmin(cell->ms, 1.0e3 * spent);
        cell->iterations = info.iterations;
        cell->error = info.errors[TDL_FRICTION_ERROR_NATURAL];
        cell->used = info.solver;
        seconds += spent;
        if (spent > 1.0) {
            break;
        }
    }
    cell->solved = cell->error <= options.tolerance && cell->ms < HUGE_VAL;
    tdl_friction_solver_destroy(solver);
    return true;
}

static double norm_of(const double* x, size_t count) {
    double sum = 0.0;
    for (size_t k = 0; k < count; ++k) {
        sum += x[k] * x[k];
    }
    return sqrt(sum);
}

// Siconos divides its error by the largest of |q|, |r| and |u|: ask for as much less.
static void run_peer(Bench* b, const TdlFrictionProblem* problem, const char* path, int k,
                     const double* solution, double* r) {
    TdlFrictionSize size = tdl_friction_problem_size(problem);
    size_t count = (size_t)size.contact_count * (size_t)size.block_size;
    double* u = malloc((count + 1) * sizeof(double));
    Cell* cell = &b->cells[b->count][k];
    if (u == NULL || tdl_friction_velocity(problem, solution, u) != TDL_STATUS_OK) {
        free(u);
        return;
    }
    double largest = fmax(size.b_norm, fmax(norm_of(solution, count), norm_of(u, count)));
    double tolerance = b->tolerance * size.b_norm / largest, seconds = 0.0, sum = 0.0;
    *cell = (Cell){.tried = true, .ms = HUGE_VAL};
    for (int repeat = 0; once_more(repeat, b->repeats, sum); ++repeat) {
        if (!siconos_solve((SiconosSolver)(k - OURS), path, tolerance, b->max_iterations, r,
                           (int)count, &cell->iterations, &seconds)) {
            break;
        }
        cell->ms = fmin(cell->ms, 1.0e3 * seconds);
        sum += seconds;
        if (seconds > 0.5) {
            break;
        }
    }
    cell->error = tdl_friction_error(problem, TDL_FRICTION_ERROR_NATURAL, true, r);
    cell->solved = cell->error <= b->tolerance;
    free(u);
}

static void print_row(const Bench* b, int p) {
    const Cell* a = &b->cells[p][TDL_FRICTION_AUTO];
    printf("%-34s %6d  %-12s %6d %9.2e %10.3f", b->names[p], b->contacts[p],
           tdl_friction_solver_name(a->used), a->iterations, a->error, a->ms);
    for (int k = OURS; k < ALL && b->peers; ++k) {
        const Cell* c = &b->cells[p][k];
        printf(c->solved ? "  %10.3f " : " (%10.3f)", c->ms);
    }
    printf("\n");
    fflush(stdout);
}

static void bench_problem(Bench* b, const char* name, const TdlFrictionProblem* problem) {
    TdlFrictionSize size = tdl_friction_problem_size(problem);
    size_t count = (size_t)size.contact_count * (size_t)size.block_size;
    double* r = calloc(count + 1, sizeof(double));
    double* solution = calloc(count + 1, sizeof(double));
    if (b->count == MAX_PROBLEMS || r == NULL || solution == NULL) {
        free(r);
        free(solution);
        return;
    }
    snprintf(b->names[b->count], sizeof b->names[0], "%s", name);
    b->contacts[b->count] = size.contact_count;
    TdlFrictionOptions options = tdl_friction_options_default();
    options.tolerance = b->tolerance;
    options.max_iterations = b->max_iterations;
    options.own = b->own;
    for (int k = 0; k < OURS; ++k) {
        options.solver = (TdlFrictionSolverKind)k;
        bool left_out = b->auto_only && k != TDL_FRICTION_AUTO && k != TDL_FRICTION_OWN;
        if (left_out || !is_there(b, k)) {
            continue;
        }
        run_ours(b, problem, options, b->repeats, k == 0 ? solution : r, &b->cells[b->count][k]);
    }
    char path[1024];
    snprintf(path, sizeof path, "%s/peer-%d.dat", b->directory, (int)getpid());
    if (b->peers && tdl_friction_problem_write(b->host, path, problem, NULL) == TDL_STATUS_OK) {
        for (int k = OURS; k < ALL; ++k) {
            run_peer(b, problem, path, k, solution, r);
        }
        remove(path);
    }
    print_row(b, b->count++);
    free(r);
    free(solution);
}

// --- tables --------------------------------------------------------------------------------------

static void write_results(const Bench* b) {
    FILE* file = open_out(b, "results.csv");
    if (file == NULL) {
        return;
    }
    fprintf(file, "problem,contacts,solver,used,solved,iterations,error,ms\n");
    for (int p = 0; p < b->count; ++p) {
        for (int k = 0; k < ALL; ++k) {
            const Cell* c = &b->cells[p][k];
            if (c->tried) {
                fprintf(file, "%s,%d,%s,%s,%d,%d,%.3e,%.6g\n", b->names[p], b->contacts[p],
                        solver_name(k),
                        k < OURS ? tdl_friction_solver_name(c->used) : solver_name(k), c->solved,
                        c->iterations, c->error, c->ms);
            }
        }
    }
    output_close(file, true);
}

// The fastest of solvers [from, to) on a problem; infinite when none solved it.
static double fastest(const Bench* b, int p, int from, int to) {
    double best = HUGE_VAL;
    for (int k = from; k < to; ++k) {
        best = b->cells[p][k].solved ? fmin(best, b->cells[p][k].ms) : best;
    }
    return best;
}

static void draw(const Bench* b, const char* name, Plot plot) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", b->directory, name);
    plot_write_picture(&plot, path);
}

static void write_profile(Bench* b) {
    FILE* file = open_out(b, "profile.csv");
    if (file == NULL) {
        return;
    }
    fprintf(file, "factor");
    for (int k = 0; k < ALL; ++k) {
        if (is_there(b, k)) {
            fprintf(file, ",%s", solver_name(k));
        }
    }
    for (int i = 0; i < FACTORS; ++i) {
        b->factors[i] = exp2(0.25 * i);
        fprintf(file, "\n%.4g", b->factors[i]);
        for (int k = 0; k < ALL; ++k) {
            int within = 0;
            for (int p = 0; p < b->count; ++p) {
                const Cell* c = &b->cells[p][k];
                within += c->solved && c->ms <= b->factors[i] * fastest(b, p, 0, ALL);
            }
            b->profile[k][i] = b->count > 0 ? (double)within / b->count : 0.0;
            if (is_there(b, k)) {
                fprintf(file, ",%.4f", b->profile[k][i]);
            }
        }
    }
    fprintf(file, "\n");
    output_close(file, true);
    PlotSeries series[ALL];
    int shown = 0;
    for (int k = 0; k < (b->peers ? ALL : OURS); ++k) {
        series[shown] =
            (PlotSeries){solver_name(k), b->factors, b->profile[k], FACTORS, PLOT_STEPS};
        shown += is_there(b, k);
    }
    draw(b, "profile.svg",
         (Plot){.title = "Problems solved within a factor of the fastest solver",
                .x = {.label = "factor", .log = true},
                .y = {.label = "part of the problems", .min = 0.0, .max = 1.05},
                .series = series,
                .series_count = shown});
}

static void print_summary(const Bench* b, bool json) {
    double log_sum = 0.0, slowest = HUGE_VAL;
    int compared = 0, alone = 0, failed = 0;
    for (int p = 0; p < b->count; ++p) {
        const Cell* a = &b->cells[p][TDL_FRICTION_AUTO];
        double peer = b->peers ? fastest(b, p, OURS, ALL) : HUGE_VAL;
        failed += !a->solved;
        alone += a->solved && b->peers && peer == HUGE_VAL;
        if (a->solved && peer < HUGE_VAL) {
            log_sum += log(peer / a->ms);
            slowest = fmin(slowest, peer / a->ms);
            ++compared;
        }
    }
    double mean = compared > 0 ? exp(log_sum / compared) : 0.0;
    if (json) {
        printf("{\"problems\": %d, \"failed\": %d, \"solved_by_us_alone\": %d, \"compared\": %d, "
               "\"geometric_mean_speedup\": %.4g, \"least_speedup\": %.4g, \"results\": \"%s\"}\n",
               b->count, failed, alone, compared, mean, compared > 0 ? slowest : 0.0, b->directory);
        return;
    }
    printf("%d problems, %d not solved", b->count, failed);
    if (b->peers) {
        printf(", %d solved by auto and by no peer; against the fastest peer on the other %d: %.2f "
               "times faster in the geometric mean, at least %.2f",
               alone, compared, mean, compared > 0 ? slowest : 0.0);
    }
    printf("\n");
}

// --- studies -------------------------------------------------------------------------------------

// Error against time: every solver asked for ever more digits, with a picture for each problem.
static void study_convergence(const Bench* b, const char* name, const TdlFrictionProblem* problem,
                              FILE* file) {
    TdlFrictionSize size = tdl_friction_problem_size(problem);
    double* r = calloc((size_t)size.contact_count * (size_t)size.block_size + 1, sizeof(double));
    double ms[OURS][DIGITS], error[OURS][DIGITS];
    PlotSeries series[OURS];
    int shown = 0;
    for (int k = 0; r != NULL && k < OURS; ++k) {
        int count = 0;
        if (!is_there(b, k)) {
            continue;
        }
        for (double tolerance = 1.0e-2; tolerance > 0.5e-12; tolerance *= 1.0e-2) {
            TdlFrictionOptions options = tdl_friction_options_default();
            options.solver = (TdlFrictionSolverKind)k;
            options.own = b->own;
            options.tolerance = tolerance;
            options.max_iterations = b->max_iterations;
            Cell cell = {0};
            run_ours(b, problem, options, b->repeats, r, &cell);
            fprintf(file, "%s,%s,%.0e,%d,%.3e,%.6g,%d\n", name, solver_name(k), tolerance,
                    cell.iterations, cell.error, cell.ms, cell.solved);
            ms[k][count] = cell.ms;
            error[k][count++] = cell.error;
            if (!cell.solved || cell.ms > STUDY_MS) {
                break;
            }
        }
        series[shown++] = (PlotSeries){solver_name(k), ms[k], error[k], count, PLOT_MARKED_LINE};
    }
    char title[160], picture[160];
    snprintf(title, sizeof title, "%s: error against time, asked for ever more digits", name);
    snprintf(picture, sizeof picture, "convergence-%s.svg", name);
    if (r != NULL) {
        draw(b, picture,
             (Plot){.title = title,
                    .x = {.label = "time", .unit = "ms", .log = true},
                    .y = {.label = "error", .log = true},
                    .series = series,
                    .series_count = shown});
    }
    free(r);
}

// S1 figure 10: chains from few contacts to nu = 3, several heaps of each; 31 of 16 nodes or 76 of
// 22 as in S1.
enum { NU_COUNT = 10, NU_WAYS = 2 };

typedef struct NuPoint {
    double solved, iterations, ms; // part of the heaps, means
} NuPoint;

static NuPoint study_one_nu(const Bench* b, FILE* file, double nu, int rods, int seeds,
                            TdlFrictionSolverKind kind) {
    int nodes = rods > 31 ? 22 : 16;
    NuPoint point = {0};
    for (int seed = 1; seed <= seeds; ++seed) {
        FrictionCase c;
        TdlFrictionProblem* problem;
        case_spaghetti(&c, (uint64_t)seed, rods, nodes, (int)(nu * rods * nodes), 0.3);
        int n = c.def.laws.contact_count;
        double* r = calloc(3 * (size_t)n + 1, sizeof(double));
        if (r != NULL && case_problem(&c, b->host, &problem) == TDL_STATUS_OK) {
            TdlFrictionOptions options = tdl_friction_options_default();
            options.solver = kind;
            options.tolerance = 1.0e-5;
            options.max_iterations = kind == TDL_FRICTION_NEWTON ? 200 : 10000;
            Cell cell = {0};
            run_ours(b, problem, options, 1, r, &cell);
            fprintf(file, "%.2f,%d,%d,%s,%s,%d,%d,%.3e,%.6g\n", nu, seed, n, solver_name((int)kind),
                    tdl_friction_solver_name(cell.used), cell.solved, cell.iterations, cell.error,
                    cell.ms);
            fflush(file);
            point.solved += (double)cell.solved / seeds;
            point.iterations += (double)cell.iterations / seeds;
            point.ms += cell.ms / seeds;
            tdl_friction_problem_destroy(problem);
        }
        free(r);
        case_free(&c);
    }
    printf("nu %4.2f  %-7s solves %3.0f %% of %d, %.0f iterations, %.1f ms in the mean\n", nu,
           solver_name((int)kind), 100.0 * point.solved, seeds, point.iterations, point.ms);
    fflush(stdout);
    return point;
}

static void study_nu(const Bench* b, int rods, int seeds) {
    static const double nus[NU_COUNT] = {0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0};
    static const TdlFrictionSolverKind kinds[NU_WAYS] = {TDL_FRICTION_NEWTON, TDL_FRICTION_AUTO};
    static double solved[NU_WAYS][NU_COUNT], ms[NU_WAYS][NU_COUNT];
    FILE* file = open_out(b, "nu.csv");
    if (file == NULL) {
        return;
    }
    fprintf(file, "nu,seed,contacts,solver,used,solved,iterations,error,ms\n");
    PlotSeries parts[NU_WAYS], times[NU_WAYS];
    for (int k = 0; k < NU_WAYS; ++k) {
        for (int q = 0; q < NU_COUNT; ++q) {
            NuPoint point = study_one_nu(b, file, nus[q], rods, seeds, kinds[k]);
            solved[k][q] = 100.0 * point.solved;
            ms[k][q] = point.ms;
        }
        const char* name = solver_name((int)kinds[k]);
        parts[k] = (PlotSeries){name, nus, solved[k], NU_COUNT, PLOT_MARKED_LINE};
        times[k] = (PlotSeries){name, nus, ms[k], NU_COUNT, PLOT_MARKED_LINE};
    }
    output_close(file, true);
    draw(b, "nu.svg",
         (Plot){.title = "Spaghetti solved to 1e-5 against the number of contacts",
                .x = {.label = "nu = 3 n / m"},
                .y = {.label = "solved", .unit = "%", .min = 0.0, .max = 105.0},
                .series = parts,
                .series_count = NU_WAYS});
    draw(b, "nu-time.svg",
         (Plot){.title = "Time of a solve of spaghetti to 1e-5",
                .x = {.label = "nu = 3 n / m"},
                .y = {.label = "time", .unit = "ms", .log = true},
                .series = times,
                .series_count = NU_WAYS});
}

// The same sweeps through bodies and through W.
static void study_bodies(const Bench* b, int fibres) {
    FILE* file = open_out(b, "bodies.csv");
    if (file == NULL) {
        return;
    }
    fprintf(file, "contacts_per_fibre,contacts,sweeps,ms_bodies,ms_matrix,ratio\n");
    static const int counts[] = {5, 10, 20, 50, 100};
    for (size_t q = 0; q < sizeof counts / sizeof *counts; ++q) {
        FrictionCase c;
        TdlFrictionProblem *problem, *formed = NULL;
        case_wisp(&c, 1, fibres, 12, counts[q], 0.3);
        if (case_problem(&c, b->host, &problem) == TDL_STATUS_OK &&
            tdl_friction_problem_explicit(b->host, problem, &formed) == TDL_STATUS_OK) {
            double* r = calloc(3 * (size_t)c.def.laws.contact_count + 1, sizeof(double));
            TdlFrictionOptions options = tdl_friction_options_default();
            options.solver = TDL_FRICTION_GAUSS_SEIDEL;
            options.order = TDL_FRICTION_ORDER_GIVEN;
            options.relaxation = 1.0;
            options.max_iterations = 50;
            options.tolerance = 1.0e-300;
            options.force_bodies = true;
            Cell bodies = {0}, matrix = {0};
            run_ours(b, problem, options, b->repeats, r, &bodies);
            options.force_bodies = false;
            run_ours(b, formed, options, b->repeats, r, &matrix);
            fprintf(file, "%d,%d,50,%.6g,%.6g,%.4g\n", counts[q], c.def.laws.contact_count,
                    bodies.ms, matrix.ms, matrix.ms / bodies.ms);
            printf("%3d contacts a fibre: %6d contacts, 50 sweeps through bodies %8.2f ms, through "
                   "W %8.2f ms: ratio %.2f\n",
                   counts[q], c.def.laws.contact_count, bodies.ms, matrix.ms,
                   matrix.ms / bodies.ms);
            free(r);
        }
        tdl_friction_problem_destroy(formed);
        tdl_friction_problem_destroy(problem);
        case_free(&c);
    }
    output_close(file, true);
}

// --- the command ---------------------------------------------------------------------------------

static int bench_files(Bench* b, const Args* args) {
    FILE* convergence = open_out(b, "convergence.csv");
    if (convergence != NULL) {
        fprintf(convergence, "problem,solver,tolerance,iterations,error,ms,solved\n");
    }
    int code = EXIT_DONE;
    for (int i = 0; i < args_operand_count(args) && code == EXIT_DONE; ++i) {
        const char* path = args_operand(args, i);
        const char* slash = strrchr(path, '/');
        const char* name = slash == NULL ? path : slash + 1;
        TdlFrictionProblem* problem;
        if (tdl_friction_problem_read(b->host, path, &problem) != TDL_STATUS_OK) {
            code = EXIT_INPUT;
            continue;
        }
        bench_problem(b, name, problem);
        if (convergence != NULL && args_has(args, "convergence")) {
            study_convergence(b, name, problem, convergence);
        }
        tdl_friction_problem_destroy(problem);
    }
    if (convergence != NULL) {
        output_close(convergence, true);
    }
    return code;
}

static void bench_case(Bench* b, const char* name, FrictionCase* c) {
    TdlFrictionProblem* problem;
    if (case_problem(c, b->host, &problem) == TDL_STATUS_OK) {
        bench_problem(b, name, problem);
        tdl_friction_problem_destroy(problem);
    }
    case_free(c);
}

// stacks, piles and wisps from ten contacts up to `largest`, or one family of them
static void bench_generated(Bench* b, int largest, const char* only) {
    for (int size = 10; size <= largest; size *= 10) {
        for (int family = 0; family < 3; ++family) {
            static const char* const names[] = {"stack", "rocks", "wisp"};
            FrictionCase c;
            if (only != NULL && strcmp(only, names[family]) != 0) {
                continue;
            }
            if (family == 0) {
                case_stack(&c, 1, (size + 159) / 160, size < 160 ? (size + 3) / 4 : 40, 0.5);
            } else if (family == 1) {
                case_rocks(&c, 1, (size + 4) / 5, 0.4);
            } else {
                case_wisp(&c, 1, size < 40 ? 4 : size / 10, 12, 20, 0.3);
            }
            char name[64];
            snprintf(name, sizeof name, "%s-%d", names[family], c.def.laws.contact_count);
            bench_case(b, name, &c);
        }
    }
}

// Sheets of cloth that are pulled over a table, by a part of the friction they can bear; slopes of
// grains below and above the angle of friction, 26.57 degrees, with stress in cells or at nodes.
typedef struct NodalFamily {
    const char* name;
    double pull;           // of cloth of 25 x 24 nodes; 0: grains
    int along, up, across; // cells; across 0: in two dimensions
    bool at_nodes;
    double degrees;
} NodalFamily;

static const NodalFamily NODAL_FAMILIES[] = {
    {"cloth-0.05", 0.05, 0, 0, 0, false, 0.0},
    {"cloth-0.2", 0.2, 0, 0, 0, false, 0.0},
    {"cloth-0.5", 0.5, 0, 0, 0, false, 0.0},
    {"slope2-cells-26", 0.0, 68, 25, 0, false, 26.0},
    {"slope2-cells-31", 0.0, 68, 25, 0, false, 31.0},
    {"slope2-nodes-26", 0.0, 68, 24, 0, true, 26.0},
    {"slope2-nodes-31", 0.0, 68, 24, 0, true, 31.0},
    {"slope3-cells-26", 0.0, 26, 12, 6, false, 26.0},
    {"slope3-cells-31", 0.0, 26, 12, 6, false, 31.0},
    {"slope3-narrow-cells-26", 0.0, 39, 12, 4, false, 26.0},
    {"slope3-cube-cells-26", 0.0, 12, 13, 12, false, 26.0},
    {"slope3-nodes-26", 0.0, 24, 12, 6, true, 26.0},
};

static void make_nodal(const NodalFamily* family, NodalCase* c) {
    if (family->pull > 0.0) {
        ClothSheet sheet = cloth_sheet(25, 24);
        sheet.pull = family->pull;
        case_cloth(c, 1, &sheet);
        return;
    }
    GrainSlope slope =
        grain_slope(family->across > 0 ? 3 : 2, family->along, family->up, family->degrees);
    slope.across = family->across > 0 ? family->across : 1;
    slope.at_nodes = family->at_nodes;
    case_grains(c, 1, &slope);
}

// Sheets of 25 x 24 nodes on a table, from soft to stiff: `auto` against sweeps over nodes.
static void study_ratios(const Bench* b) {
    static const double RATIOS[] = {0.1, 1.0, 3.0, 10.0, 30.0, 50.0, 100.0, 300.0, 1.0e3, 1.0e4};
    FILE* file = open_out(b, "ratios.csv");
    double r[3 * 600];
    printf("%-34s %10s %10s %10s %10s %8s\n", "dt^2 Y / (rho h^2), cloth of 600", "making ms",
           "auto ms", "nodal ms", "sweeps", "error");
    for (size_t k = 0; file != NULL && k < sizeof RATIOS / sizeof *RATIOS; ++k) {
        ClothSheet sheet = cloth_sheet(25, 24);
        sheet.stretch = RATIOS[k] * sheet.density * pow(sheet.spacing / sheet.dt, 2);
        sheet.shear = 0.1 * sheet.stretch;
        sheet.bend = 1.0e-4 * sheet.stretch;
        NodalCase c;
        Cell cell[2] = {{0}};
        TdlFrictionProblem* problem;
        case_cloth(&c, 1, &sheet);
        double begin = processor_time();
        if (nodal_problem(&c, b->host, &problem) == TDL_STATUS_OK) {
            double made = 1.0e3 * (processor_time() - begin);
            TdlFrictionOptions options = tdl_friction_options_default();
            options.tolerance = b->tolerance;
            options.max_iterations = b->max_iterations;
            run_ours(b, problem, options, b->repeats, r, &cell[0]);
            options.solver = TDL_FRICTION_NODAL;
            run_ours(b, problem, options, b->repeats, r, &cell[1]);
            printf("%-34g %10.3f %10.3f %10.3f %10d %8.1e\n", RATIOS[k], made, cell[0].ms,
                   cell[1].ms, cell[1].iterations, cell[1].error);
            fprintf(file, "%s%g,%.3f,%.3f,%.3f,%d,%.3e\n",
                    k == 0 ? "ratio,making_ms,auto_ms,nodal_ms,sweeps,error\n" : "", RATIOS[k],
                    made, cell[0].ms, cell[1].ms, cell[1].iterations, cell[1].error);
            tdl_friction_problem_destroy(problem);
        }
        nodal_free(&c);
    }
    if (file != NULL) {
        output_close(file, true);
    }
}

// Also leaves the problems as files, with `keep`.
static void bench_nodal(Bench* b, bool keep) {
    for (size_t k = 0; k < sizeof NODAL_FAMILIES / sizeof *NODAL_FAMILIES; ++k) {
        NodalCase c;
        TdlFrictionProblem* problem;
        make_nodal(&NODAL_FAMILIES[k], &c);
        double begin = processor_time();
        if (nodal_problem(&c, b->host, &problem) == TDL_STATUS_OK) {
            double made = 1.0e3 * (processor_time() - begin);
            char path[1024];
            snprintf(path, sizeof path, "%s/%s.hdf5", b->directory, NODAL_FAMILIES[k].name);
            if (keep) {
                tdl_friction_problem_write(b->host, path, problem, NULL);
            }
            bench_problem(b, NODAL_FAMILIES[k].name, problem);
            printf("%-34s %6s  %-12s %6s %9s %10.3f\n", "", "", "making it", "", "", made);
            tdl_friction_problem_destroy(problem);
        }
        nodal_free(&c);
    }
}

// Rubble of 50 stones, and 256 spheres at rest in a box: so many seeds of each, three mu.
enum { RUBBLE_STONES = 50, BOXED_SPHERES = 256, PILE_MUS = 3 };

static void bench_piles(Bench* b, const Args* args) {
    static const double rubble_mu[PILE_MUS] = {0.8, 1.0, 1.5},
                        sphere_mu[PILE_MUS] = {0.3, 0.5, 0.8};
    int first = args_int(args, "first-seed", 1), rubble = args_int(args, "rubble", 0);
    int spheres = args_int(args, "spheres", 0);
    double decades = args_real(args, "decades", 6.0);
    for (int k = 0; k < PILE_MUS * (rubble + spheres); ++k) {
        bool stones = k < PILE_MUS * rubble;
        int seed = first + (stones ? k : k - PILE_MUS * rubble) / PILE_MUS;
        double mu = stones ? rubble_mu[k % PILE_MUS] : sphere_mu[k % PILE_MUS];
        char name[64];
        FrictionCase c;
        if (stones) {
            case_rubble(&c, (uint64_t)seed, RUBBLE_STONES, decades, mu);
        } else {
            case_spheres(&c, (uint64_t)seed, BOXED_SPHERES, mu);
        }
        snprintf(name, sizeof name, "%s-%d-mu-%g", stones ? "rubble" : "spheres", seed, mu);
        bench_case(b, name, &c);
    }
}

static int run_bench(const Args* args) {
    Bench* b = calloc(1, sizeof *b);
    if (b == NULL) {
        return EXIT_FAILED;
    }
    b->host = args_host(args);
    b->directory = args_text(args, "out", "bench-friction");
    b->tolerance = args_real(args, "tolerance", 1.0e-8);
    b->repeats = args_int(args, "repeats", 3);
    b->max_iterations = args_int(args, "max-iterations", 10000);
    b->auto_only = args_has(args, "auto-only");
    b->from_guess = args_has(args, "guess");
    int code = own_solver_option(args, &b->own);
    if (code != EXIT_DONE) {
        free(b);
        return code;
    }
    b->peers = siconos_available() && !args_has(args, "no-peers");
    if (mkdir(b->directory, 0777) != 0 && access(b->directory, W_OK) != 0) {
        fprintf(stderr, "tendril: %s: could not be created\n", b->directory);
        free(b);
        return EXIT_FAILED;
    }
    printf("%-34s %6s  %-12s %6s %9s %10s%s\n", "problem", "n", "used", "iter.", "error", "auto ms",
           b->peers ? "    siconos: nsgs, newton ac, admm ms; (not solved)" : "");
    code = bench_files(b, args);
    if (code == EXIT_DONE) {
        bool files = args_operand_count(args) > 0 || args_has(args, "rubble") ||
                     args_has(args, "spheres") || args_has(args, "nodal") ||
                     args_has(args, "ratios");
        bench_generated(b, args_int(args, "largest", files ? 0 : 1000),
                        args_text(args, "family", NULL));
        bench_piles(b, args);
        if (args_has(args, "nodal")) {
            bench_nodal(b, args_has(args, "keep"));
        }
        if (args_has(args, "ratios")) {
            study_ratios(b);
        }
        if (args_has(args, "studies")) {
            study_bodies(b, 200);
            study_nu(b, args_int(args, "rods", 8), args_int(args, "seeds", 5));
        }
        write_results(b);
        write_profile(b);
        print_summary(b, args_has(args, "json"));
    }
    free(b);
    return code;
}

static const Option BENCH_FRICTION_OPTIONS[] = {
    {"out", 'o', OPTION_OUTPUT, "DIR", 0, 0, "where the tables go; default bench-friction", false},
    {"tolerance", 'e', OPTION_REAL, "E", 1.0e-300, 1.0,
     "error to reach, relative to |b|; default 1e-8", false},
    {"repeats", 0, OPTION_INT, "N", 1, 1000,
     "times each is run, the best counts; from two on, what is short is run for 10 ms; default 3",
     false},
    {"max-iterations", 'n', OPTION_INT, "N", 1, 1000000000, "of each solver; default 10000", false},
    {"largest", 0, OPTION_INT, "N", 0, 1000000,
     "generated problems up to about this many contacts; default 1000 without files or piles, "
     "else 0",
     false},
    {"nodal", 0, OPTION_SWITCH, NULL, 0, 0,
     "cloth of 600 nodes on a table, grains on slopes of 1700 and 1900 blocks of 3 and of 6",
     false},
    {"ratios", 0, OPTION_SWITCH, NULL, 0, 0,
     "cloth of 600 nodes from soft to stiff: auto against sweeps over nodes", false},
    {"keep", 0, OPTION_SWITCH, NULL, 0, 0,
     "with --nodal: leave these problems as .hdf5 beside the tables", false},
    {"family", 0, OPTION_CHOICE, "stack|rocks|wisp", 0, 0, "of these one only", false},
    {"rubble", 0, OPTION_INT, "N", 0, 100,
     "so many piles of 50 stones of very different mass, each with mu 0.8, 1 and 1.5", false},
    {"decades", 0, OPTION_REAL, "D", 0.0, 12.0, "of their masses; default 6", false},
    {"spheres", 0, OPTION_INT, "N", 0, 100,
     "so many boxes of 256 spheres at rest, each with mu 0.3, 0.5 and 0.8", false},
    {"first-seed", 0, OPTION_INT, "N", 0, 1000000, "of piles and boxes; default 1", false},
    {"convergence", 0, OPTION_SWITCH, NULL, 0, 0, "error against time of every solver", false},
    {"studies", 0, OPTION_SWITCH, NULL, 0, 0,
     "convergence against nu on spaghetti, and velocity space against explicit W", false},
    {"rods", 0, OPTION_INT, "N", 1, 1000,
     "rods of the spaghetti; of 16 nodes, above 31 of 22; default 8, S1 has 31 and 76", false},
    {"seeds", 0, OPTION_INT, "N", 1, 1000, "heaps of spaghetti for each nu; default 5", false},
    {"own", 0, OPTION_FILE, "FILE.so", 0, 0, OWN_SOLVER_HELP, false},
    {"guess", 0, OPTION_SWITCH, NULL, 0, 0,
     "ours start from the guess of a file that has one (--save-problem of a run), not from r = 0",
     false},
    {"auto-only", 0, OPTION_SWITCH, NULL, 0, 0, "of our solvers time auto alone", false},
    {"no-peers", 0, OPTION_SWITCH, NULL, 0, 0, "do not time Siconos", false},
    {0},
};

const Command BENCH_FRICTION_COMMAND = {
    .name = "bench friction",
    .operands = "[FILE...]",
    .summary = "Time all friction solvers on files and generated problems",
    .text = "Every solver starts from r = 0 on one thread; the error is measured again outside the "
            "solver, and so is Siconos', which is timed in the same run when its library "
            "(libsiconos-numerics) is installed.",
    .example = "tendril bench friction problems/* --largest 1000 --out results",
    .options = BENCH_FRICTION_OPTIONS,
    .run = run_bench,
};
