// A friction solver of one's own: the projected gradient with the friction shift, for
// contacts of three components with finite friction.
//
//     cc own-solver.c $(pkg-config --cflags --libs tendril) -lm && ./a.out
//
// Or as a shared object, for problems from files:
//
//     cc -shared -fPIC -o own.so own-solver.c $(pkg-config --cflags --libs tendril) -lm
//     tendril dfcp problem.hdf5 --own ./own.so --history history.csv
//     tendril bench friction problem.hdf5 --own ./own.so
#include <tendril/tendril.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TdlStatus tdl_friction_own(void* user, TdlFrictionIsland* island);

// r <- the impulse nearest to x with |r_T| <= mu r_N.
static void project(double mu, const double* x, double* r) {
    double t = hypot(x[1], x[2]);
    int inside = t <= mu * x[0];
    r[0] = inside ? x[0] : fmax((x[0] + mu * t) / (1.0 + mu * mu), 0.0);
    r[1] = inside ? x[1] : mu * r[0] * x[1] / t;
    r[2] = inside ? x[2] : mu * r[0] * x[2] / t;
}

// The largest sum of a row of |W|: no eigenvalue is larger.
static double bound(const TdlFrictionIsland* island) {
    double most = 1.0;
    for (int row = 0; row < 3 * island->contact_count; ++row) {
        double sum = 0.0;
        for (int e = island->row_start[row / 3]; e < island->row_start[row / 3 + 1]; ++e) {
            for (int c = 0; c < 3; ++c) { // blocks are column by column
                sum += fabs(island->blocks[9 * e + 3 * c + row % 3]);
            }
        }
        most = fmax(most, sum);
    }
    return most;
}

// r <- P(r - (u + mu |u_T| n) / bound) until it is told to end.
TdlStatus tdl_friction_own(void* user, TdlFrictionIsland* island) {
    (void)user;
    if (island->block_size != 3) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    size_t size = 3 * (size_t)island->contact_count;
    double* r = malloc(2 * size * sizeof *r);
    if (r == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    double *u = r + size, most = bound(island);
    memcpy(r, island->start, size * sizeof *r);
    do {
        tdl_friction_island_velocity(island, r, u);
        for (int i = 0; i < island->contact_count; ++i) {
            double *v = u + 3 * i, *x = r + 3 * i, shift = island->mu[i] * hypot(v[1], v[2]);
            double y[3] = {x[0] - (v[0] + shift) / most, x[1] - v[1] / most, x[2] - v[2] / most};
            project(island->mu[i], y, x);
        }
    } while (tdl_friction_island_offer(island, r));
    free(r);
    return TDL_STATUS_OK;
}

// A block pushed along the floor: on paper r = (1, -mu, 0) and it slides on with 2 - mu.
int main(void) {
    const double w[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, b[3] = {-1.0, 2.0, 0.0};
    const double mu = 0.5;
    TdlHost host = tdl_host_default();
    TdlFrictionMatrixDef def = {.laws = {.block_size = 3, .contact_count = 1, .mu = &mu},
                                .b = b,
                                .row_start = (const int[]){0, 1},
                                .column = (const int[]){0},
                                .blocks = w};
    TdlFrictionOptions options = tdl_friction_options_default();
    options.solver = TDL_FRICTION_OWN;
    options.own = tdl_friction_own;
    TdlFrictionProblem* problem;
    TdlFrictionSolver* solver;
    TdlFrictionInfo info;
    double r[3] = {0};
    if (tdl_friction_problem_create(&host, &def, &problem) != TDL_STATUS_OK ||
        tdl_friction_solver_create(&host, &options, &solver) != TDL_STATUS_OK ||
        tdl_friction_solver_solve(solver, problem, r, NULL, &info) != TDL_STATUS_OK) {
        return 1;
    }
    printf("%s: %d iterations, error %.1e\n", tdl_friction_solver_name(info.solver),
           info.iterations, info.error);
    tdl_friction_solver_destroy(solver);
    tdl_friction_problem_destroy(problem);
    return fabs(r[0] - 1.0) + fabs(r[1] + mu) + fabs(r[2]) < 1.0e-7 ? 0 : 1; // solved to 1e-8
}
