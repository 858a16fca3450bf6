// A block on an incline, for one time step: it sticks while tan(angle) <= mu, else it slides with
// g (sin(angle) - mu cos(angle)). Both forms of the contact problem must say so.
//
//     cc block-on-incline.c $(pkg-config --cflags --libs tendril) -lm && ./a.out
//
// Impulses as unknowns: u = W r + b, with W = 1 / mass. Velocities as unknowns, as meshes of finite
// elements have them at their nodes: M u - f = r. The exit status is 1 if one is wrong.
#include <tendril/tendril.h>

#include <math.h>
#include <stdio.h>

static const double MASS = 2.0, GRAVITY = 9.81, STEP = 0.01, MU = 0.5; // kg, m/s^2, s

static int differs(const double* found, const double* known) {
    double worst = 0.0;
    for (int k = 0; k < 3; ++k) {
        worst = fmax(worst, fabs(found[k] - known[k]));
    }
    return worst > 1.0e-9; // of impulses about 0.2: the nodal form is asked for 1e-10
}

// Normal first, then downhill, then across.
static int check(double angle) {
    double fall[3] = {-GRAVITY * STEP * cos(angle), GRAVITY * STEP * sin(angle), 0.0};
    double w[9] = {1.0 / MASS, 0.0, 0.0, 0.0, 1.0 / MASS, 0.0, 0.0, 0.0, 1.0 / MASS};
    double m[9] = {MASS, 0.0, 0.0, 0.0, MASS, 0.0, 0.0, 0.0, MASS};
    double impulse[3] = {MASS * fall[0], MASS * fall[1], 0.0};

    // on paper
    double normal = -impulse[0], friction = fmin(impulse[1], MU * normal);
    double r_known[3] = {normal, -friction, 0.0};
    double u_known[3] = {0.0, (impulse[1] - friction) / MASS, 0.0};

    // impulses
    double r[3] = {0};
    TdlOneContact one = tdl_friction_one_contact(TDL_FRICTION_LOCAL_SECULAR, w, fall, MU, r);

    // velocities, of one node that is in contact
    TdlHost host = tdl_host_default();
    TdlFrictionNodalDef def = {.node_count = 1,
                               .mu = &MU,
                               .b = impulse,
                               .row_start = (const int[]){0, 1},
                               .column = (const int[]){0},
                               .blocks = m};
    TdlFrictionInfo info;
    double u[3] = {0}, r_nodal[3];
    TdlStatus status = tdl_friction_nodal_solve(&host, &def, 1.0e-10, 100, u, r_nodal, &info);

    printf("%2.0f degrees: friction %.6f N s, downhill %.6f m/s\n", angle * 57.29577951308232,
           fabs(r[1]), u[1]);
    return !one.solved || status != TDL_STATUS_OK || differs(r, r_known) ||
           differs(r_nodal, r_known) || differs(u, u_known);
}

int main(void) {
    int wrong = 0;
    for (int degrees = 0; degrees <= 60; degrees += 10) { // it slides from 26.6 degrees on
        wrong += check(degrees / 57.29577951308232);
    }
    return wrong > 0;
}
