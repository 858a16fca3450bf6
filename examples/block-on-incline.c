// A block on an incline, for one time step: it sticks while tan(angle) <= mu, else it slides with
// g (sin(angle) - mu cos(angle)). Both forms of the contact problem must say so.
//
//     cc block-on-incline.c $(pkg-config --cflags --libs tendril) -lm && ./a.out
//
// By impulses alone: u = W r + b, with W = 1 / mass. By bodies: W = H A^-1 H', of which the solver
// is given the parts, here a body whose three coordinates are those of the contact. The exit status
// is 1 if one is wrong.
#include <tendril/tendril.h>

#include <math.h>
#include <stdio.h>

static const double MASS = 2.0, GRAVITY = 9.81, STEP = 0.01, MU = 0.5; // kg, m/s^2, s

static int differs(const double* found, const double* known) {
    double worst = 0.0;
    for (int k = 0; k < 3; ++k) {
        worst = fmax(worst, fabs(found[k] - known[k]));
    }
    return worst > 1.0e-9; // of impulses about 0.2, solved to 1e-10
}

static TdlStatus solve(const TdlHost* host, const TdlFrictionProblem* problem, double* r,
                       double* u) {
    TdlFrictionOptions options = tdl_friction_options_default();
    options.tolerance = 1.0e-10;
    TdlFrictionSolver* solver;
    TdlStatus status = tdl_friction_solver_create(host, &options, &solver);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlFrictionInfo info;
    status = tdl_friction_solver_solve(solver, problem, r, u, &info);
    tdl_friction_solver_destroy(solver);
    return status;
}

// Normal first, then downhill, then across.
static int check(double angle) {
    const double fall[3] = {-GRAVITY * STEP * cos(angle), GRAVITY * STEP * sin(angle), 0.0};
    const double w[9] = {1.0 / MASS, 0.0, 0.0, 0.0, 1.0 / MASS, 0.0, 0.0, 0.0, 1.0 / MASS};
    const double h[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};

    // on paper
    double normal = -MASS * fall[0], friction = fmin(MASS * fall[1], MU * normal);
    double r_known[3] = {normal, -friction, 0.0};
    double u_known[3] = {0.0, fall[1] - friction / MASS, 0.0};

    // by impulses, then by a body and an obstacle
    TdlHost host = tdl_host_default();
    TdlFrictionLaws laws = {.contact_count = 1, .block_size = 3, .mu = &MU};
    TdlFrictionMatrixDef matrix = {.laws = laws,
                                   .b = fall,
                                   .row_start = (const int[]){0, 1},
                                   .column = (const int[]){0},
                                   .blocks = w};
    TdlFrictionBodiesDef bodies = {.laws = laws,
                                   .body_count = 1,
                                   .dof_start = (const int[]){0, 3},
                                   .velocity = fall,
                                   .body = (const int[]){0, -1},
                                   .h = h,
                                   .y = w};
    int wrong = 0;
    for (int form = 0; form < 2; ++form) {
        TdlFrictionProblem* problem;
        TdlStatus status = form == 0 ? tdl_friction_problem_create(&host, &matrix, &problem)
                                     : tdl_friction_problem_create_bodies(&host, &bodies, &problem);
        if (status != TDL_STATUS_OK) {
            return 1;
        }
        double r[3] = {0}, u[3] = {0};
        status = solve(&host, problem, r, u);
        tdl_friction_problem_destroy(problem);
        printf("%2.0f degrees: friction %.6f N s, downhill %.6f m/s\n", angle * 57.29577951308232,
               fabs(r[1]), u[1]);
        wrong += status != TDL_STATUS_OK || differs(r, r_known) || differs(u, u_known);
    }
    return wrong > 0;
}

int main(void) {
    int wrong = 0;
    for (int degrees = 0; degrees <= 60; degrees += 10) { // it slides from 26.6 degrees on
        wrong += check(degrees / 57.29577951308232);
    }
    return wrong > 0;
}
