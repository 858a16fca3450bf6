// tendril bench granular: what the step of a bed of grains costs the solver.
#include "app/command.h"
#include "bench/granular_steps.h"
#include "bench/strain_cases.h"

#include "tendril/strain.h"

#include <time.h>

// Sweeps by whose difference a visit is timed, so that getting ready is not in it; their
// multiplications are too few for Newton steps to be thought of.
enum { FEW = 10, MANY = 40, MOST = 3000 };
static const double NO_NEWTON = 1.0e4; // a row and sweep
// The slope that follows is so much steeper, in parts of gravity along it.
static const double TILT = 1.01;

typedef struct GranularSize {
    int dimension, along, up;
} GranularSize;

static const GranularSize SIZES[] = {
    {
        2,
        45,
        21,
    },
    {2, 99, 33},
    {2, 201, 99},
    {2, 402, 249},
    {3, 9, 12},
    {3, 18, 15},
    {3, 30, 33},
    {3, 51, 39},
};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES };
static const double TOLERANCES[] = {1.0e-4, 1.0e-8};
enum { TOLERANCE_COUNT = sizeof TOLERANCES / sizeof *TOLERANCES };

typedef struct Timing {
    double seconds, error;
    int iterations;
    bool converged;
} Timing;

typedef struct Measured {
    GranularSize size;
    int rows, nodes;
    double visit; // s, with all that a sweep has beside it
    double begin; // s, getting ready
    Timing cold[TOLERANCE_COUNT], warm[TOLERANCE_COUNT];
} Measured;

static double cpu_now(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

static TdlStrainDef def_of(const StrainCase* c) {
    const StrainRows* rows = &c->bed.rows;
    return (TdlStrainDef){
        .dimension = rows->dimension,
        .node_count = c->bed.node_count,
        .mass = c->mass,
        .velocity = c->v,
        .row_count = rows->count,
        .near = rows->near,
        .node = rows->node,
        .g = rows->g,
        .mu = rows->mu,
        .bias = rows->bias,
        .colour = rows->start,
        .colour_count = rows->colour_count,
    };
}

typedef struct Bench {
    TdlStrainSolver* solver;
    StrainCase* c;
    double* velocity;
    int most;
    TdlStatus status;
} Bench;

static Timing time_solve(Bench* b, double tolerance, int most, double allowed) {
    TdlStrainDef def = def_of(b->c);
    TdlStrainInfo info;
    double begin = cpu_now();
    b->status = tdl_strain_solve(b->solver, &def, tolerance, most, allowed, b->c->impulse,
                                 b->velocity, &info);
    return (Timing){cpu_now() - begin, info.error, info.iterations, info.converged};
}

static void from_nothing(Bench* b) {
    memset(b->c->impulse, 0, b->c->size * sizeof *b->c->impulse);
}

// The least of three, in case something else kept the processor's caches busy.
static double time_sweeps(Bench* b, int sweeps) {
    double best = INFINITY;
    for (int k = 0; k < 3; ++k) {
        from_nothing(b);
        Timing t = time_solve(b, 1.0e-15, sweeps, NO_NEWTON * sweeps * b->c->bed.rows.count);
        best = fmin(best, t.seconds);
    }
    return best;
}

// Cold, and once more from what was found, on a slope that is a little steeper.
static void time_tolerance(Bench* b, double tolerance, Timing* cold, Timing* warm) {
    StrainCase* c = b->c;
    from_nothing(b);
    *cold = time_solve(b, tolerance, b->most, INFINITY);
    for (int i = 0; i < c->bed.node_count; ++i) {
        c->v[3 * i] *= TILT;
    }
    *warm = time_solve(b, tolerance, b->most, INFINITY);
    for (int i = 0; i < c->bed.node_count; ++i) {
        c->v[3 * i] /= TILT;
    }
}

static TdlStatus measure(const Args* args, GranularSize size, Measured* out) {
    GrainSlope s = grain_slope(size.dimension, size.along, size.up, args_real(args, "angle", 24.0));
    StrainCase c;
    s.at_nodes = !args_has(args, "cells");
    s.jitter = args_real(args, "jitter", 0.3);
    case_strain(&c, 1, &s, -1.0);
    *out = (Measured){.size = size, .rows = c.bed.rows.count, .nodes = c.bed.node_count};
    Bench b = {.c = &c, .most = args_int(args, "sweeps", MOST)};
    b.velocity = calloc(3 * (size_t)c.bed.node_count, sizeof *b.velocity);
    b.status = tdl_strain_solver_create(args_host(args), 1, &b.solver);
    if (b.status == TDL_STATUS_OK && b.velocity != NULL) {
        double few = time_sweeps(&b, FEW), many = time_sweeps(&b, MANY);
        out->visit = (many - few) / (MANY - FEW) / out->rows;
        out->begin = few - FEW * out->visit * out->rows;
    }
    for (int k = 0; k < TOLERANCE_COUNT && b.status == TDL_STATUS_OK; ++k) {
        time_tolerance(&b, TOLERANCES[k], &out->cold[k], &out->warm[k]);
    }
    tdl_strain_solver_destroy(b.solver);
    free(b.velocity);
    strain_free(&c);
    return b.status;
}

static void print_timing(const Timing* t) {
    if (t->converged) {
        printf("%9.4g %6d", t->seconds, t->iterations);
    } else {
        printf("%9s %6.1e", "-", t->error);
    }
}

static void print_row(const Measured* m) {
    printf("%dD %7d %7d %8.3f %8.3g", m->size.dimension, m->rows, m->nodes, 1.0e6 * m->visit,
           m->begin);
    for (int k = 0; k < TOLERANCE_COUNT; ++k) {
        print_timing(&m->cold[k]);
        print_timing(&m->warm[k]);
    }
    printf("\n");
    fflush(stdout);
}

static void print_json_timing(const char* name, const Timing* t, double tolerance) {
    printf(", \"%s_%.0e\": {\"seconds\": %.6g, \"iterations\": %d, \"error\": %.3e, "
           "\"converged\": %s}",
           name, tolerance, t->seconds, t->iterations, t->error, t->converged ? "true" : "false");
}

static void print_json(const Measured* m, bool first) {
    printf("%s\n  {\"dimension\": %d, \"rows\": %d, \"nodes\": %d, \"visit_us\": %.4f, "
           "\"begin_seconds\": %.6g",
           first ? "" : ",", m->size.dimension, m->rows, m->nodes, 1.0e6 * m->visit, m->begin);
    for (int k = 0; k < TOLERANCE_COUNT; ++k) {
        print_json_timing("cold", &m->cold[k], TOLERANCES[k]);
        print_json_timing("warm", &m->warm[k], TOLERANCES[k]);
    }
    printf("}");
}

static int run_bench_granular(const Args* args) {
    bool json = args_has(args, "json"), first = true;
    if (args_has(args, "steps")) {
        return granular_steps(args, args_int(args, "particles", 1000000), json);
    }
    int only = atoi(args_text(args, "dimension", "0")), most = args_int(args, "rows", 100000);
    printf(json ? "["
                : "                   us/visit  begin s  cold 1e-4 s, steps   warm          "
                  "cold 1e-8       warm\n");
    for (int k = 0; k < SIZE_COUNT; ++k) {
        Measured m;
        int rows = SIZES[k].along * (SIZES[k].up + 1);
        rows *= SIZES[k].dimension == 3 ? SIZES[k].along : 1;
        if (rows > most + most / 10 || (only != 0 && only != SIZES[k].dimension)) {
            continue;
        }
        TdlStatus status = measure(args, SIZES[k], &m);
        if (status != TDL_STATUS_OK) {
            return exit_code(status);
        }
        if (json) {
            print_json(&m, first);
        } else {
            print_row(&m);
        }
        first = false;
    }
    printf(json ? "\n]\n" : "");
    return EXIT_DONE;
}

static const Option OPTIONS[] = {
    {"dimension", 'd', OPTION_CHOICE, "2|3", 0, 0, "only this; default: both", false},
    {"rows", 'n', OPTION_INT, "COUNT", 1, 1000000, "the largest, about; default 100000", false},
    {"angle", 'a', OPTION_REAL, "DEGREES", 0, 60, "of the slope; default 24, below 26.57", false},
    {"jitter", 'j', OPTION_REAL, "PART", 0, 1,
     "how far particles are from their lattice, in parts of their distance; default 0.3", false},
    {"sweeps", 'k', OPTION_INT, "COUNT", 1, 1000000, "at most for a solve; default 3000", false},
    {"steps", 's', OPTION_SWITCH, NULL, 0, 0,
     "instead, whole steps of a world against the number of particles", false},
    {"particles", 'p', OPTION_INT, "COUNT", 10000, 10000000,
     "of --steps: the most, about; default 1000000", false},
    {"cells", 'c', OPTION_SWITCH, NULL, 0, 0, "stress in cells; default: at nodes", false},
    {0},
};

const Command BENCH_GRANULAR_COMMAND = {
    .name = "bench granular",
    .operands = "",
    .summary = "Measure what the solver of grains costs",
    .text =
        "Solves the step of a slab of grains on a slope, periodic along it, from 1e3 to 1e5 "
        "stresses in two and in three dimensions, on one thread: processor time of a visit of "
        "a row of strain with all that belongs to an accelerated sweep, of getting ready, and "
        "of a solve to 1e-4 and to 1e-8, from nothing and from the impulses of a slope that "
        "is a little less steep; with the number of sweeps and Newton steps, or the error "
        "that was left where these did not do. With --steps whole steps of a world: a slab that "
        "slides down a slope, 1e4 to 1e6 particles, in nanoseconds a particle, with what of it "
        "is sorting, transfers, rows and all the rest, and over what the smallest takes.",
    .example = "tendril bench granular --rows 10000\n"
               "tendril bench granular --dimension 3 --angle 31 --json\n"
               "tendril bench granular --steps",
    .options = OPTIONS,
    .run = run_bench_granular,
};
