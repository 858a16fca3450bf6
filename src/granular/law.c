// What a bed does beside friction between its grains: friction that depends on the flow, cohesion
// and viscosity. (A.22) to (A.27)
#include "granular/bed.h"

#include <string.h>

// --- mu(I) ---------------------------------------------------------------------------------------

// (A.24), with rate and pressure of the last step
double bed_mu(const Bed* bed, int place) {
    const TdlGrainsDef* def = &bed->def;
    if (bed->rate == NULL || bed->ledger.last == 0.0) {
        return def->mu;
    }
    double normal = bed->impulse[(ptrdiff_t)place * bed->components];
    double pressure = normal * sqrt(2.0 / bed->grid.axes) / bed->ledger.last;
    double speed = bed->rate[place] * def->grain * sqrt(def->density / def->packing);
    if (speed == 0.0) {
        return def->mu;
    }
    // I/(I0 + I) without dividing by a pressure that may be zero
    double root = def->inertial * sqrt(fmax(pressure, 0.0));
    return def->mu + (def->mu_fast - def->mu) * speed / (root + speed);
}

// --- cohesion ------------------------------------------------------------------------------------

// Cohesion falls to nothing over this opening of the grains: the dead zone of packing.
static const double OPEN = 0.02;

// (A.22): what stress has before grains touch, put on the nodes; `shift` is the same in a row.
void bed_hold_together(Bed* bed, double dt) {
    for (int j = 0; j < bed->row_count; ++j) {
        bed->shift[j] = 0.0;
    }
    for (int j = 0; j < bed->row_count && bed->def.cohesion > 0.0; ++j) {
        double room = bed->place_room[bed->row_place[j]];
        double left = bed->bias[j] * dt * sqrt(0.5 * bed->grid.axes);
        double open = left > 0.0 ? left / (OPEN * room) : 0.0;
        double r[BED_COMPONENTS] = {0};
        r[0] = bed->shift[j] =
            dt * bed->def.cohesion * sqrt(0.5 * bed->grid.axes) * fmax(0.0, 1.0 - open);
        bed_row_push(bed, j, r, -1.0, bed->v_free);
        bed->guess[(ptrdiff_t)j * bed->components] += r[0];
    }
}

// --- viscosity -----------------------------------------------------------------------------------

// Vectors over the nodes of the grid.
typedef struct Gradients {
    double *x, *residual, *z, *direction, *product;
} Gradients;

static double dot_mass(const Bed* bed, const double* a, const double* b) {
    double sum = 0.0;
    for (int i = 0; i < bed->node_count; ++i) {
        ptrdiff_t k = bed->coordinate[i];
        sum += bed->mass[i] * (a[k] * b[k] + a[k + 1] * b[k + 1] + a[k + 2] * b[k + 2]);
    }
    return sum;
}

// out = v + dt M^-1 K v (A.27)
static void resist(Bed* bed, double dt, const double* v, double* out) {
    memcpy(out, v, 3 * (size_t)bed->grid.node_count * sizeof *out);
    for (int j = 0; j < bed->row_count; ++j) {
        double volume = bed_volume_at(bed, bed->row_place[j]);
        double u[BED_COMPONENTS];
        bed_row_rate(bed, j, v, u);
        u[0] = 0.0; // the deviator
        bed_row_push(bed, j, u, dt * bed->def.viscosity / volume, out);
    }
}

enum { MOST_GRADIENTS = 1000 }; // far more than a grid has nodes across, which is what it takes

// Relative change of momentum below which viscous velocities are found: that of contacts.
static const double VISCOUS_TOLERANCE = 1.0e-10;

// (A.26) by conjugate gradients in the product of masses, in which M^-1 (M + dt K) is symmetric.
static void slow_down(Bed* bed, double dt, Gradients* g) {
    size_t n = 3 * (size_t)bed->grid.node_count;
    memcpy(g->x, bed->v_free, n * sizeof *g->x);
    resist(bed, dt, g->x, g->product);
    for (size_t k = 0; k < n; ++k) {
        g->direction[k] = g->residual[k] = bed->v_free[k] - g->product[k];
    }
    double size = dot_mass(bed, bed->v_free, bed->v_free);
    double now = dot_mass(bed, g->residual, g->residual);
    for (int i = 0; i < MOST_GRADIENTS && now > size * VISCOUS_TOLERANCE * VISCOUS_TOLERANCE; ++i) {
        resist(bed, dt, g->direction, g->product);
        double step = now / dot_mass(bed, g->direction, g->product);
        for (size_t k = 0; k < n; ++k) {
            g->x[k] += step * g->direction[k];
            g->residual[k] -= step * g->product[k];
        }
        double next = dot_mass(bed, g->residual, g->residual);
        for (size_t k = 0; k < n; ++k) {
            g->direction[k] = g->residual[k] + next / now * g->direction[k];
        }
        now = next;
    }
    memcpy(bed->v_free, g->x, n * sizeof *g->x);
}

bool bed_slow(Bed* bed, double dt) {
    bed->step.viscous = 0.0;
    if (bed->def.viscosity == 0.0) {
        return true;
    }
    size_t n = 3 * (size_t)bed->grid.node_count;
    double* all = tdl_alloc_array(&bed->host.mem, 4 * n, sizeof *all);
    if (all == NULL) {
        return false;
    }
    Gradients g = {.x = all, .residual = all + n, .direction = all + 2 * n, .product = all + 3 * n};
    double before = bed_grid_kinetic(bed, bed->v_free);
    slow_down(bed, dt, &g);
    bed->step.viscous = before - bed_grid_kinetic(bed, bed->v_free);
    tdl_free(&bed->host.mem, all);
    return true;
}
