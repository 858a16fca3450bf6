// `tendril dfcp`: frictional contact problems from files, solved and measured.
#include "app/command.h"
#include "app/json.h"
#include "app/output.h"
#include "app/own_solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Solved {
    const char* file;
    TdlFrictionSize size;
    TdlFrictionInfo info;
} Solved;

static void print_json_problem(const Solved* s, const char* error_kind) {
    const TdlFrictionInfo* i = &s->info;
    printf("{\"file\": ");
    json_text(s->file);
    printf(
        ", \"contacts\": %d, \"dofs\": %d, \"nu\": %.6g, \"solver\": \"%s\", \"outcome\": \"%s\", "
        "\"converged\": %s, \"iterations\": %d, \"error\": ",
        s->size.contact_count, s->size.dof_count, i->nu, tdl_friction_solver_name(i->solver),
        tdl_friction_outcome_name(i->outcome),
        i->outcome == TDL_FRICTION_CONVERGED ? "true" : "false", i->iterations);
    json_real(i->error);
    printf(", \"error_kind\": \"%s\", \"errors\": {", error_kind);
    for (int k = 0; k < TDL_FRICTION_ERROR_COUNT; ++k) {
        printf("%s\"%s\": ", k == 0 ? "" : ", ", tdl_friction_error_name((TdlFrictionError)k));
        json_real(i->errors[k]);
    }
    printf("}, \"s3_error\": ");
    json_real(i->s3_error);
    printf(", \"ms\": %.6g, \"failsafe\": %lld, \"unsolvable\": %lld, \"islands\": %d, "
           "\"asymmetry\": %.3g}",
           1.0e3 * i->seconds, i->failsafe_count, i->unsolvable_count, i->island_count,
           s->size.asymmetry);
}

static void print_plain_problem(const Solved* s) {
    const TdlFrictionInfo* i = &s->info;
    const char* slash = strrchr(s->file, '/');
    printf("%-36s %6d contacts", slash == NULL ? s->file : slash + 1, s->size.contact_count);
    if (i->nu > 0.0) {
        printf("  nu %5.2f", i->nu);
    }
    bool s3 = i->solver >= TDL_FRICTION_ACTIVE_SET && i->solver < TDL_FRICTION_OWN;
    printf("  %-12s %6d iterations  natural %8.2e  alart-curnier %8.2e  fischer-burmeister %8.2e"
           "  %9.3f ms  fail-safe %lld  %s\n",
           tdl_friction_solver_name(i->solver), i->iterations, i->errors[0], i->errors[1],
           i->errors[2], 1.0e3 * i->seconds, i->failsafe_count,
           tdl_friction_outcome_name(i->outcome));
    if (s3) {
        printf("  by the law that never sticks: %8.2e%s\n", i->s3_error,
               i->unsolvable_count > 0 ? "; it has no solution" : "");
    }
}

// impulses and velocities, a row a contact
static int write_rows(const char* path, int n, int d, const double* r, const double* u) {
    FILE* file = output_open(path);
    if (file == NULL) {
        return output_failure();
    }
    fprintf(file, d == 3 ? "contact,r_n,r_t1,r_t2,u_n,u_t1,u_t2\n"
                         : "contact,r_n,r_t1,r_t2,r_t3,r_t4,r_t5,u_n,u_t1,u_t2,u_t3,u_t4,u_t5\n");
    for (int i = 0; i < n; ++i) {
        fprintf(file, "%d", i);
        for (int k = 0; k < 2 * d; ++k) {
            fprintf(file, ",%.17g", k < d ? r[i * d + k] : u[i * d + k - d]);
        }
        fprintf(file, "\n");
    }
    return output_close(file, true) ? EXIT_DONE : output_failure();
}

// The impulses of such a file as a first guess; false when it is not one with n rows.
static bool read_guess(FILE* file, int n, int d, double* r) {
    int c, rows = 0;
    do { // the header
        c = fgetc(file);
    } while (c != '\n' && c != '\0' && c != EOF);
    bool good = c == '\n';
    for (; good && rows < n; ++rows) {
        int contact;
        good = fscanf(file, "%d", &contact) == 1 && contact == rows;
        for (int k = 0; good && k < d; ++k) {
            good = fscanf(file, ",%lf", &r[rows * d + k]) == 1 && isfinite(r[rows * d + k]);
        }
        do { // velocities, which are not needed
            c = fgetc(file);
        } while (c != '\n' && c != '\0' && c != EOF);
    }
    return good && fgetc(file) == EOF;
}

// The first guess: of --start, else of the file, else zero.
static int fill_guess(const Args* args, const TdlFrictionProblem* problem, double* r) {
    TdlFrictionLaws laws = tdl_friction_problem_matrix(problem).laws;
    const char* start = args_text(args, "start", NULL);
    if (start == NULL && laws.guess != NULL) {
        memcpy(r, laws.guess,
               (size_t)laws.contact_count * (size_t)laws.block_size * sizeof(double));
    }
    if (start == NULL || strcmp(start, "zero") == 0) {
        return EXIT_DONE;
    }
    FILE* file;
    TdlStatus status = tdl_input_open(args_host(args), start, &file);
    if (status != TDL_STATUS_OK) {
        return exit_code(status);
    }
    bool good = read_guess(file, laws.contact_count, laws.block_size, r);
    fclose(file);
    if (!good) {
        fprintf(stderr, "tendril: %s: is no CSV with the impulses of %d contacts\n", start,
                laws.contact_count);
        return EXIT_INPUT;
    }
    return EXIT_DONE;
}

static int solve_problem(const Args* args, TdlFrictionSolver* solver,
                         const TdlFrictionProblem* problem, Solved* solved) {
    solved->size = tdl_friction_problem_size(problem);
    size_t count = (size_t)solved->size.contact_count * (size_t)solved->size.block_size;
    double* r = calloc(count + 1, sizeof(double));
    double* u = calloc(count + 1, sizeof(double));
    int code = r != NULL && u != NULL ? fill_guess(args, problem, r) : EXIT_FAILED;
    if (code == EXIT_DONE) {
        TdlStatus status = tdl_friction_solver_solve(solver, problem, r, u, &solved->info);
        if (status != TDL_STATUS_OK) {
            fprintf(stderr, "tendril: %s: the solver ended: %s\n", solved->file,
                    tdl_status_string(status));
            code = EXIT_FAILED;
        }
    }
    const char* out = args_text(args, "out", NULL);
    if (code == EXIT_DONE && out != NULL) {
        code = write_rows(out, solved->size.contact_count, solved->size.block_size, r, u);
    }
    free(r);
    free(u);
    return code;
}

static int solve_file(const Args* args, TdlFrictionSolver* solver, Solved* solved) {
    TdlFrictionProblem* problem;
    TdlStatus status = tdl_friction_problem_read(args_host(args), solved->file, &problem);
    if (status != TDL_STATUS_OK) {
        return status == TDL_STATUS_NO_MEMORY ? EXIT_FAILED : EXIT_INPUT;
    }
    int code = solve_problem(args, solver, problem, solved);
    const char* save = args_text(args, "save-problem", NULL);
    if (code == EXIT_DONE && save != NULL) {
        code = output_code(tdl_friction_problem_write(args_host(args), save, problem, NULL));
    }
    tdl_friction_problem_destroy(problem);
    if (code == EXIT_DONE && !args_has(args, "json")) {
        print_plain_problem(solved);
    }
    return code;
}

static int report(const Args* args, const Solved* solved, int count) {
    int code = EXIT_DONE;
    for (int i = 0; i < count; ++i) {
        code = solved[i].info.outcome == TDL_FRICTION_CONVERGED ? code : EXIT_FAILED;
    }
    if (args_has(args, "json")) {
        printf("{\"problems\": [");
        for (int i = 0; i < count; ++i) {
            printf("%s", i == 0 ? "" : ",\n  ");
            print_json_problem(&solved[i], args_text(args, "error", "natural"));
        }
        printf("]}\n");
    }
    return code;
}

// --- the history ---------------------------------------------------------------------------------

static void write_iterate(void* user, const TdlFrictionIterate* x) {
    fprintf(user, "%d,%d,%s,%s,%d,%.6e,%d,%.6g\n", x->island, x->iteration,
            tdl_friction_solver_name(x->stage), tdl_friction_solver_name(x->solver),
            x->contact_count, x->error, x->changed, 1.0e3 * x->seconds);
}

// Opens the file of --history, if there is to be one, and has it told of every iteration.
static int begin_history(const Args* args, TdlFrictionOptions* options) {
    const char* path = args_text(args, "history", NULL);
    FILE* file = path == NULL ? NULL : output_open(path);
    if (path != NULL && file == NULL) {
        return output_failure();
    }
    if (file != NULL) {
        fprintf(file, "island,iteration,stage,solver,contacts,error,changed,ms\n");
        options->watch = write_iterate;
        options->watch_user = file;
    }
    return EXIT_DONE;
}

static int end_history(const TdlFrictionOptions* options, int code) {
    FILE* file = options->watch_user;
    bool good = file == NULL || output_close(file, true);
    return good ? code : output_failure();
}

// --- the command ---------------------------------------------------------------------------------

static TdlFrictionOptions options_of(const Args* args) {
    TdlFrictionOptions o = tdl_friction_options_default();
    const char* solver = args_text(args, "solver", "auto");
    for (int k = 0; k < TDL_FRICTION_SOLVER_COUNT; ++k) {
        o.solver = strcmp(solver, tdl_friction_solver_name((TdlFrictionSolverKind)k)) == 0
                       ? (TdlFrictionSolverKind)k
                       : o.solver;
    }
    const char* error = args_text(args, "error", "natural");
    for (int k = 0; k < TDL_FRICTION_ERROR_COUNT; ++k) {
        o.error = strcmp(error, tdl_friction_error_name((TdlFrictionError)k)) == 0
                      ? (TdlFrictionError)k
                      : o.error;
    }
    const char* local = args_text(args, "local", "secular");
    for (int k = 0; k < TDL_FRICTION_LOCAL_COUNT; ++k) {
        o.local = strcmp(local, tdl_friction_local_name((TdlFrictionLocal)k)) == 0
                      ? (TdlFrictionLocal)k
                      : o.local;
    }
    o.tolerance = args_real(args, "tolerance", o.tolerance);
    o.max_iterations = args_int(args, "max-iterations", o.max_iterations);
    o.threads = args_int(args, "threads", 0);
    return o;
}

static int solve_files(const Args* args, const TdlFrictionOptions* options) {
    int count = args_operand_count(args);
    TdlFrictionSolver* solver;
    TdlStatus status = tdl_friction_solver_create(args_host(args), options, &solver);
    if (status != TDL_STATUS_OK) {
        return exit_code(status);
    }
    Solved* solved = calloc((size_t)count + 1, sizeof *solved);
    int code = solved == NULL ? EXIT_FAILED : EXIT_DONE;
    for (int i = 0; i < count && code == EXIT_DONE; ++i) {
        solved[i].file = args_operand(args, i);
        code = solve_file(args, solver, &solved[i]);
    }
    if (code == EXIT_DONE) {
        code = report(args, solved, count);
    }
    free(solved);
    tdl_friction_solver_destroy(solver);
    return code;
}

static int run_friction(const Args* args) {
    static const char* const alone[] = {"out", "start", "save-problem", "history"};
    for (size_t k = 0; k < sizeof alone / sizeof *alone; ++k) {
        if (args_operand_count(args) != 1 && args_has(args, alone[k])) {
            return usage_error(args, "--%s needs exactly one file", alone[k]);
        }
    }
    if (args_has(args, "own") && args_has(args, "solver")) {
        return usage_error(args, "--own is a solver: there cannot be a --solver besides");
    }
    TdlFrictionOptions options = options_of(args);
    if (!(options.tolerance > 0.0)) {
        return usage_error(args, "--tolerance must be greater than 0");
    }
    int code = own_solver_option(args, &options.own);
    options.solver = options.own != NULL ? TDL_FRICTION_OWN : options.solver;
    if (code == EXIT_DONE) {
        code = begin_history(args, &options);
    }
    if (code != EXIT_DONE) {
        return code;
    }
    return end_history(&options, solve_files(args, &options));
}

static const Option FRICTION_OPTIONS[] = {
    {"solver", 's', OPTION_CHOICE,
     "auto|gauss-seidel|anderson|newton|proximal|interior|admm|fixed-point|gradient|alternating|"
     "path|wedged|faceted|nodal|active-set|normal-interior",
     0, 0, "how to solve; auto, the default, falls back from one to the next", false},
    {"own", 0, OPTION_FILE, "FILE.so", 0, 0, OWN_SOLVER_HELP, false},
    {"tolerance", 'e', OPTION_REAL, "E", 0, 1.0e300,
     "error to reach, relative to |b|; default 1e-8", false},
    {"error", 0, OPTION_CHOICE, "natural|alart-curnier|fischer-burmeister", 0, 0,
     "what is measured; default natural", false},
    {"max-iterations", 'n', OPTION_INT, "N", 1, 1000000000,
     "iterations of each solver tried; default 10000", false},
    {"local", 0, OPTION_CHOICE, "secular|hybrid|fischer-burmeister|enumerate", 0, 0,
     "one-contact solver inside Gauss-Seidel; default secular", false},
    {"out", 'o', OPTION_OUTPUT, "FILE", 0, 0,
     "write impulses and velocities as CSV, a row a contact (one problem only)", false},
    {"history", 0, OPTION_OUTPUT, "FILE", 0, 0,
     "write every iteration as CSV: stage, solver, error, contacts whose mode changed, time (one "
     "problem only)",
     false},
    {"start", 0, OPTION_FILE, "FILE", 0, 0,
     "first guess, in the columns of --out, or zero; default that of the problem's file, if it has "
     "one (one problem only)",
     false},
    {"save-problem", 0, OPTION_OUTPUT, "FILE", 0, 0,
     "write the problem again: to .hdf5 as it is, with bodies where it has them; to .fclib.hdf5 or "
     "as text with W",
     false},
    {0},
};

const Command DFCP_COMMAND = {
    .name = "dfcp",
    .operands = "FILE...",
    .summary = "Solve discrete frictional contact problems from files",
    .text =
        "Reads frictional contact problems (text as Siconos writes it; FCLIB's HDF5, local or\n"
        "global; of dimension 2, 3 or 6; or what --save-problem of a run leaves) and solves\n"
        "u = W r + b with the exact Signorini-Coulomb law. The error printed is measured again\n"
        "from the problem as read, outside the solver; a problem counts as converged only when\n"
        "that error is within the tolerance. The exit code is 1 when any is not.\n"
        "docs/problems.md has the formats.",
    .example = "tendril dfcp problems/*.dat --tolerance 1e-10\n"
               "tendril dfcp stack.hdf5 --solver admm --json --out r.csv\n"
               "tendril dfcp stack.hdf5 --own ./my-solver.so --history history.csv",
    .options = FRICTION_OPTIONS,
    .run = run_friction,
};
