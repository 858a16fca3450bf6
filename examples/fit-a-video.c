// Young's modulus and density of a hanging hair from noisy pictures of markers on it.
//
//     cc fit-a-video.c $(pkg-config --cflags --libs tendril) -lm && ./a.out
//
// Its natural shape is known; two pictures show it, in one with a known weight on its tip. From
// rates of the settled shape Gauss and Newton's method finds both, in a few solves. The exit status
// is 1 if they are off by more than 2 %, or the gradient by one adjoint solve is not the same.
#include <tendril/tendril.h>

#include <math.h>
#include <stdio.h>

enum { ELEMENTS = 24, MARKERS = 15, PICTURES = 2 };
static const double LENGTH = 0.25, RADIUS = 5.0e-5, NOISE = 5.0e-5; // m
static const TdlVec3 GRAVITY = {0.0, 0.0, -9.81};

typedef struct Hair {
    TdlVec3 natural[ELEMENTS], curvature[PICTURES][ELEMENTS];
    TdlRodLoad weight[PICTURES];
    double at[MARKERS]; // m, along it
} Hair;

// The hair as picture k has it, with its shape for a Young's modulus and a density.
static TdlStrand strand_of(Hair* hair, int k, double young, double density) {
    double area = acos(-1.0) * RADIUS * RADIUS, EI = young * area * RADIUS * RADIUS / 4.0;
    return (TdlStrand){.model = "super-helix",
                       .start = {{0}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                       .length = LENGTH,
                       .element_count = ELEMENTS,
                       .curvature = hair->curvature[k],
                       .stiffness = {EI / 1.4, EI, EI},
                       .line_density = density * area,
                       .loads = &hair->weight[k],
                       .load_count = 1};
}

// Marker places, and their rates by log E and log density.
static TdlStatus look(Hair* hair, int k, double young, double density, TdlVec3* place,
                      TdlVec3 rate[2][MARKERS]) {
    TdlHost host = tdl_host_default();
    TdlStrand strand = strand_of(hair, k, young, density);
    TdlStatus status =
        tdl_strand_settle(&host, &strand, GRAVITY, hair->natural, hair->curvature[k]);
    if (status == TDL_STATUS_OK) {
        status = tdl_strand_places(&host, &strand, MARKERS, hair->at, place);
    }
    const TdlStrandChange change[2] = {{.stiffness = strand.stiffness},
                                       {.line_density = strand.line_density}};
    for (int p = 0; rate != NULL && p < 2 && status == TDL_STATUS_OK; ++p) {
        status =
            tdl_strand_rates(&host, &strand, GRAVITY, &change[p], NULL, MARKERS, hair->at, rate[p]);
    }
    return status;
}

// A number between -1 and 1 of variance 1/3, the same on every machine.
static double noise(void) {
    static unsigned state = 12345;
    state = 1664525u * state + 1013904223u;
    return (double)(state >> 8) / 8388608.0 - 1.0;
}

// Adds what a picture says: its slope g and curvature H of the squares' sum, and that sum.
static TdlStatus add_picture(Hair* hair, int k, double young, double density, const TdlVec3* seen,
                             double g[2], double H[3], double* sum) {
    TdlVec3 place[MARKERS], rate[2][MARKERS];
    TdlStatus status = look(hair, k, young, density, place, rate);
    for (int m = 0; m < MARKERS && status == TDL_STATUS_OK; ++m) {
        TdlVec3 off = tdl_sub3(place[m], seen[m]);
        *sum += tdl_dot3(off, off);
        for (int p = 0; p < 2; ++p) {
            g[p] += tdl_dot3(rate[p][m], off);
            H[p] += tdl_dot3(rate[p][m], rate[p][m]);
        }
        H[2] += tdl_dot3(rate[0][m], rate[1][m]);
    }
    return status;
}

// The slope by log E once more, of all markers of a picture in one solve.
static double adjoint_slope(Hair* hair, double young, double density, const TdlVec3* seen) {
    TdlHost host = tdl_host_default();
    TdlStrand strand = strand_of(hair, 0, young, density);
    TdlVec3 place[MARKERS];
    TdlRodLoad by[MARKERS];
    TdlStrandGradient gradient = {0};
    if (tdl_strand_places(&host, &strand, MARKERS, hair->at, place) != TDL_STATUS_OK) {
        return NAN;
    }
    for (int m = 0; m < MARKERS; ++m) {
        by[m] = (TdlRodLoad){.at = hair->at[m], .force = tdl_sub3(place[m], seen[m])};
    }
    TdlStatus status = tdl_strand_adjoint(&host, &strand, GRAVITY, NULL, by, MARKERS, &gradient);
    return status == TDL_STATUS_OK ? tdl_dot3(gradient.stiffness, strand.stiffness) : NAN;
}

int main(void) {
    Hair hair = {.weight = {{.at = LENGTH}, {.at = LENGTH, .force = {0.0, 2.0e-6, -1.0e-5}}}};
    TdlVec3 seen[PICTURES][MARKERS];
    double true_young = 3.0e9, true_density = 1320.0;
    for (int i = 0; i < ELEMENTS; ++i) {
        hair.natural[i] = (TdlVec3){6.0, 15.0, 4.0};
        hair.curvature[0][i] = hair.curvature[1][i] = hair.natural[i];
    }
    for (int m = 0; m < MARKERS; ++m) {
        hair.at[m] = m + 1 < MARKERS ? LENGTH * (m + 1) / MARKERS : LENGTH;
    }
    for (int k = 0; k < PICTURES; ++k) {
        if (look(&hair, k, true_young, true_density, seen[k], NULL) != TDL_STATUS_OK) {
            return 1;
        }
        for (int m = 0; m < MARKERS; ++m) {
            TdlVec3 error = {noise(), noise(), noise()};
            seen[k][m] = tdl_axpy3(seen[k][m], sqrt(3.0) * NOISE, error);
        }
    }
    double young = 5.0e9, density = 1000.0, apart = INFINITY; // first guesses
    for (int round = 0; round < 8; ++round) {
        double g[2] = {0}, H[3] = {0}, sum = 0.0, first = 0.0;
        for (int k = 0; k < PICTURES; ++k) {
            if (add_picture(&hair, k, young, density, seen[k], g, H, &sum) != TDL_STATUS_OK) {
                return 1;
            }
            first = k == 0 ? g[0] : first;
        }
        double slope = adjoint_slope(&hair, young, density, seen[0]);
        apart = fabs(slope - first) / (sqrt(H[0] * sum) + 1.0e-300);
        printf("E %.4g Pa, density %.5g kg/m^3: markers off by %.3g m\n", young, density,
               sqrt(sum / (3 * MARKERS * PICTURES)));
        double det = H[0] * H[1] - H[2] * H[2];
        young *= exp(fmax(-1.0, fmin(1.0, -(H[1] * g[0] - H[2] * g[1]) / det)));
        density *= exp(fmax(-1.0, fmin(1.0, -(H[0] * g[1] - H[2] * g[0]) / det)));
    }
    printf("off by %.2g and %.2g; adjoint by %.1g\n", young / true_young - 1.0,
           density / true_density - 1.0, apart);
    bool good = fabs(young / true_young - 1.0) < 0.02 &&
                fabs(density / true_density - 1.0) < 0.02 && apart < 1.0e-10; // roundings of solves
    return good ? 0 : 1;
}
