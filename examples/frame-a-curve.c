// A ribbon is to rest as a given curve: which frame it may have, and how it has to be made.
//
//     cc frame-a-curve.c $(pkg-config --cflags --libs tendril) -lm && ./a.out
//
// A piecewise helix is turned, element by element, by rotation vectors; from them come its frames
// and curvatures. The natural curvature with which it rests follows in closed form; with that the
// frame is asked for again from the centreline alone, and has to be the same. The exit status is 1
// if it is not.
#include <tendril/tendril.h>

#include <math.h>
#include <stdio.h>

enum { ELEMENTS = 200, PLACES = ELEMENTS + 1 };
static const double LENGTH = 0.2;

int main(void) {
    static TdlVec3 turns[ELEMENTS], helix[ELEMENTS], kappa[PLACES], natural[PLACES], bare[PLACES];
    static TdlMat3 frames[PLACES];
    static TdlPose pose[PLACES];
    static double theta[PLACES];
    double l = LENGTH / ELEMENTS;
    for (int i = 0; i < ELEMENTS; ++i) { // a bend that turns about the z axis of the world
        double s = (i + 0.5) / ELEMENTS;
        turns[i] = (TdlVec3){l * 6.0 * cos(3.0 * s), l * 6.0 * sin(3.0 * s), l * 5.0};
    }
    TdlMat3 start = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    TdlStatus status = tdl_helix_frames(start, turns, ELEMENTS, l, frames, helix);

    // places by the midpoints of the elements, curvatures at the joints by their means
    for (int i = 0; i < PLACES; ++i) {
        TdlVec3 before = helix[i > 0 ? i - 1 : 0], after = helix[i < ELEMENTS ? i : ELEMENTS - 1];
        kappa[i] = tdl_scale3(0.5, tdl_add3(before, after));
        pose[i].rotation = frames[i];
        if (i > 0) {
            TdlVec3 sum = tdl_add3(frames[i - 1].cx, frames[i].cx);
            pose[i].position = tdl_axpy3(pose[i - 1].position, 0.5 * l, sum);
        }
    }
    TdlVec3 stiffness = {2.0e-5, 1.0e-5, 6.0e-5}; // N m^2
    TdlFramedCurve curve = {LENGTH, PLACES, pose, kappa, stiffness, 5.0e-3, NULL, 0};
    if (status == TDL_STATUS_OK) {
        status = tdl_curve_natural(&curve, (TdlVec3){0, 0, -9.81}, natural);
    }

    // the same centreline in a frame that does not twist: the material one is ahead by theirs
    double ahead = 0.0, worst = 0.0;
    static double known[PLACES];
    for (int i = 0; i < PLACES; ++i) {
        ahead += i > 0 ? l * helix[i - 1].x : 0.0;
        double c = cos(ahead), s = sin(ahead);
        bare[i] = (TdlVec3){0.0, c * kappa[i].y - s * kappa[i].z, c * kappa[i].z + s * kappa[i].y};
        known[i] = ahead;
    }
    TdlHost host = tdl_host_default();
    TdlFraming framing = {0};
    TdlFramingDef def = {LENGTH, PLACES, bare, natural, stiffness, 0.0};
    if (status == TDL_STATUS_OK) {
        status = tdl_framing_solve(&host, &def, 0, theta, &framing);
    }
    if (status != TDL_STATUS_OK) {
        fprintf(stderr, "%s\n", tdl_status_string(status));
        return 1;
    }
    for (int i = 0; i < PLACES; ++i) {
        worst = fmax(worst, fabs(theta[i] - known[i]));
    }
    printf("natural curvature at the clamp %.2f %.2f %.2f 1/m; frame found again to %.1e rad of "
           "%.2f, as %s of %d\n",
           natural[0].x, natural[0].y, natural[0].z, worst, fabs(ahead),
           framing.saddle_count == 0 ? "a minimum" : "a saddle", framing.solution_count);
    return worst > 1.0e-3 || framing.saddle_count > 0;
}
