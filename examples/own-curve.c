// A curve kind of one's own: a wave that no built-in kind can make, under a parabola.
//
//     cc own-curve.c $(pkg-config --cflags --libs tendril) -lm && ./a.out
//
// The library is told the wave's places, its derivative and a bound on its second derivative; that
// is enough for certified distances and for contacts. Crest and parabola are nearest at x = pi/2,
// HEIGHT - RISE apart. The exit status is 1 if anything else is found.
#include <tendril/tendril.h>

#include <math.h>
#include <stdio.h>

static const double PI = 3.14159265358979323846;
static const double RISE = 0.3, HEIGHT = 0.5, RADIUS = 0.05; // m

// x = s, y = RISE sin(s + phase); the user's data is the phase.
static TdlVec3 place(const void* user, double s) {
    const double* phase = user;
    return (TdlVec3){s + *phase, RISE * sin(s + *phase), 0.0};
}

static TdlVec3 slope(const void* user, double s) {
    const double* phase = user;
    return (TdlVec3){1.0, RISE * cos(s + *phase), 0.0};
}

static double bend(const void* user, double s0, double s1) {
    (void)user, (void)s0, (void)s1;
    return RISE;
}

// Half a wave in two pieces, joined at x = 1; then a parabola from x = 0 to x = pi, lowest in the
// middle, where its end tangents cross below it.
static TdlStatus make(const TdlHost* host, TdlCurve wave[2], TdlCurve* parabola) {
    static const TdlCurveFunctions functions = {place, slope, bend};
    static const double from[3] = {0.0, 1.0, 3.0};
    for (int i = 0; i < 2; ++i) {
        TdlStatus status =
            tdl_curve_user(host, &functions, &from[i], from[i + 1] - from[i], &wave[i]);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        tdl_curve_set_radius(host, RADIUS, RADIUS, &wave[i]);
    }
    TdlVec3 control[3] = {
        {0.0, HEIGHT + 0.2, 0.0}, {0.5 * PI, HEIGHT - 0.2, 0.0}, {PI, HEIGHT + 0.2, 0.0}};
    TdlStatus status = tdl_curve_quadratic(host, control, parabola);
    return status == TDL_STATUS_OK ? tdl_curve_set_radius(host, RADIUS, RADIUS, parabola) : status;
}

// The least distance between the two chains.
static int check_distance(const TdlHost* host, const TdlCurve* wave, const TdlCurve* parabola) {
    TdlDistanceDef def = tdl_distance_def_default();
    TdlDistance found;
    int piece[2];
    if (tdl_chain_distance(host, wave, 2, parabola, 1, &def, &found, piece) != TDL_STATUS_OK) {
        return 1;
    }
    printf("distance %.12f m at x = %.9f, on piece %d%s\n", found.distance, found.point[0].x,
           piece[0], found.certified ? ", certified" : "");
    // the distance to rounding; its place to the root of that
    return fabs(found.distance - (HEIGHT - RISE)) > 1.0e-12 ||
           fabs(found.point[0].x - 0.5 * PI) > 1.0e-6 || piece[0] != 1 || !found.certified;
}

// The same as a contact between two fibres.
static int check_contacts(const TdlHost* host, const TdlCurve* wave, const TdlCurve* parabola) {
    TdlFibre fibres[2] = {{.curves = wave, .count = 2}, {.curves = parabola, .count = 1}};
    TdlDetectorDef def = tdl_detector_def_default();
    TdlDetector* detector = NULL;
    TdlDetectInfo info;
    def.margin = 0.11; // the gap is 0.1
    if (tdl_detector_create(host, &def, &detector) != TDL_STATUS_OK ||
        tdl_detector_update(detector, fibres, 2, NULL, 0, &info) != TDL_STATUS_OK) {
        tdl_detector_destroy(detector);
        return 1;
    }
    int count, wrong = 1;
    const TdlContact* contact = tdl_detector_contacts(detector, &count);
    if (count == 1) {
        TdlVec3 normal = contact->basis.cx;
        printf("one contact: gap %.12f m, normal (%.6f, %.6f, %.6f)\n", contact->gap, normal.x,
               normal.y, normal.z);
        wrong = fabs(contact->gap - (HEIGHT - RISE - 2.0 * RADIUS)) > 1.0e-12 ||
                fabs(normal.y - 1.0) > 1.0e-12;
    }
    tdl_detector_destroy(detector);
    return wrong;
}

int main(void) {
    TdlHost host = tdl_host_default();
    TdlCurve wave[2], parabola;
    if (make(&host, wave, &parabola) != TDL_STATUS_OK) {
        return 1;
    }
    return check_distance(&host, wave, &parabola) || check_contacts(&host, wave, &parabola);
}
