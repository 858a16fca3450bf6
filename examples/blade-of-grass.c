// How tall may a blade of grass grow in the shape it has, and how does it give way?
//
//     cc blade-of-grass.c $(pkg-config --cflags --libs tendril) -lm && ./a.out
//
// The blade is an arc that leans over by 0.6 rad, told by places and tangents. Its least factor of
// stiffness grows with the third power of its size, so the size at which it is about to give way
// follows at once. The exit status is 1 if a blade of that size is not at its limit, or if the
// motion with which it gives way costs energy or gains some.
#include <tendril/tendril.h>

#include <math.h>
#include <stdio.h>

enum { ELEMENTS = 60 };
static const TdlVec3 GRAVITY = {0.0, 0.0, -9.81};
static const double LEAN = 0.6; // rad

// A round blade of 1 mm and 1 GPa in the given length, m.
static TdlStatus grow(double length, TdlVec3* curvature, TdlStrand* out) {
    TdlVec3 place[ELEMENTS + 1], tangent[ELEMENTS + 1];
    double radius = length / LEAN; // of the arc
    for (int i = 0; i <= ELEMENTS; ++i) {
        double a = LEAN * i / ELEMENTS;
        place[i] = (TdlVec3){radius * (1.0 - cos(a)), 0.0, radius * sin(a)};
        tangent[i] = (TdlVec3){sin(a), 0.0, cos(a)};
    }
    TdlFitOptions options = tdl_fit_options_default();
    options.element_count = ELEMENTS;
    TdlHelixFit fit;
    TdlHost host = tdl_host_default();
    TdlStatus status =
        tdl_helix_fit_samples(&host, place, tangent, length, &options, curvature, &fit);
    double area = 3.14159265358979 * 0.5e-3 * 0.5e-3, EI = 1.0e9 * area * 0.5e-3 * 0.5e-3 / 4.0;
    *out = (TdlStrand){.model = "super-helix",
                       .start = fit.start,
                       .length = fit.length,
                       .element_count = ELEMENTS,
                       .curvature = curvature,
                       .stiffness = {EI / 1.3, EI, EI},
                       .line_density = 500.0 * area};
    return status;
}

int main(void) {
    TdlHost host = tdl_host_default();
    TdlVec3 curvature[ELEMENTS];
    double mode[3 * ELEMENTS];
    TdlStrand blade;
    TdlStability small, limit;
    TdlStatus status = grow(0.3, curvature, &blade);
    if (status == TDL_STATUS_OK) {
        status = tdl_strand_stability(&host, &blade, GRAVITY, &small);
    }
    double tallest = 0.3 / cbrt(small.least_factor);
    if (status == TDL_STATUS_OK) {
        status = grow(tallest, curvature, &blade);
    }
    if (status == TDL_STATUS_OK) {
        status = tdl_strand_stability(&host, &blade, GRAVITY, &limit);
    }
    if (status == TDL_STATUS_OK) {
        status = tdl_strand_mode(&host, &blade, GRAVITY, mode);
    }
    if (status != TDL_STATUS_OK) {
        fprintf(stderr, "%s\n", tdl_status_string(status));
        return 1;
    }
    printf("30 cm of it need %.4f of its stiffness; it may grow to %.4f m\n", small.least_factor,
           tallest);
    printf("there its least factor is %.9f, its least eigenvalue %.1e\n", limit.least_factor,
           limit.least_eigenvalue);

    // in the plane of the arc, or sideways?
    double in_plane = 0.0, all = 0.0, low = 0.0;
    for (int i = 0; i < 3 * ELEMENTS; ++i) {
        TdlVec3 bend = curvature[i / 3]; // of the arc: its axis
        double along = (i % 3 == 1 ? bend.y : i % 3 == 2 ? bend.z : 0.0) / tdl_norm3(bend);
        all += mode[i] * mode[i];
        in_plane += mode[i] * mode[i] * along * along;
        low += i < 3 * ELEMENTS / 2 ? mode[i] * mode[i] : 0.0;
    }
    printf("it gives way %s, with %.0f %% of the bending in its lower half\n",
           in_plane > 0.5 * all ? "in its plane" : "sideways", 100.0 * low / all);
    bool good = fabs(limit.least_factor - 1.0) < 1.0e-9 && fabs(limit.least_eigenvalue) < 1.0e-6;
    return good ? 0 : 1;
}
