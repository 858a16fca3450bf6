// Plates sink towards a floor, each by the line search that lets none pass through another.
//
//     cc stacked-plates.c $(pkg-config --cflags --libs tendril) -lm && ./a.out
//
// Every plate is a triangle on soft springs that pull it to the floor's level, where only one has
// room. Each step goes along minus the gradient, as far as tdl_ccd_line_search allows: the energy
// falls, and each pair keeps a share of its distance. The exit status is 1 if the order changes,
// the energy rises, or the stack does not close up.
#include <tendril/tendril.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PLATES = 5, POINTS = 3 * PLATES, STEPS = 6 };
static const double KEEP = 0.2, LEAST_STEP = 1.0e-9;

static double x[3 * POINTS], target[3 * POINTS];
static int edges[2 * POINTS], triangles[POINTS];

// The first is the floor, and wider. Each plate is turned against the one below, and tilted.
static void make_plates(void) {
    for (int p = 0; p < POINTS; ++p) {
        int plate = p / 3, corner = p % 3;
        double angle = 0.7 * plate + 2.0943951023931953 * corner, size = plate == 0 ? 0.5 : 0.1;
        x[3 * p] = size * cos(angle);
        x[3 * p + 1] = size * sin(angle);
        x[3 * p + 2] = plate == 0 ? 0.0 : 0.05 * plate + 0.01 * (corner == plate % 3);
        edges[2 * p] = p;
        edges[2 * p + 1] = 3 * plate + (corner + 1) % 3;
        triangles[p] = p;
    }
}

static double energy(void* user, const double* positions) {
    (void)user;
    double sum = 0.0;
    for (int p = 3; p < POINTS; ++p) {
        sum += 0.5 * positions[3 * p + 2] * positions[3 * p + 2];
    }
    return sum;
}

// Whether the middle of every plate lies above that of the one below.
static int in_order(void) {
    double below = 0.0;
    for (int plate = 1; plate < PLATES; ++plate) {
        double middle = 0.0;
        for (int corner = 0; corner < 3; ++corner) {
            middle += x[3 * (3 * plate + corner) + 2] / 3.0;
        }
        if (middle <= below) {
            return 0;
        }
        below = middle;
    }
    return 1;
}

int main(void) {
    TdlHost host = tdl_host_default();
    TdlCcdOptions options = tdl_ccd_options_default();
    TdlCcdMesh mesh = {.vertex_count = POINTS,
                       .edge_count = POINTS,
                       .triangle_count = PLATES,
                       .start = x,
                       .end = target,
                       .edges = edges,
                       .triangles = triangles};
    make_plates();
    double first = energy(NULL, x), last = first;
    TdlCcdStep made = {0};
    for (int step = 0; step < STEPS; ++step) {
        memcpy(target, x, sizeof x);
        for (int p = 3; p < POINTS; ++p) {
            target[3 * p + 2] -= x[3 * p + 2];
        }
        TdlStatus status =
            tdl_ccd_line_search(&host, &mesh, KEEP, &options, 1, LEAST_STEP, energy, NULL, &made);
        if (status != TDL_STATUS_OK) {
            return 1;
        }
        for (int k = 0; k < 3 * POINTS; ++k) {
            x[k] += made.step * (target[k] - x[k]);
        }
        double now = energy(NULL, x);
        if (now > last || !in_order()) {
            printf("step %d: energy %.3g after %.3g\n", step, now, last);
            return 1;
        }
        last = now;
    }
    printf("%d steps: energy %.3g to %.3g, nearest %.3g m\n", STEPS, first, last, made.distance);
    return !(last < 1.0e-6 * first);
}
