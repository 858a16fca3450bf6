// The smooth curve along a polyline: checks, knots, smoothing, spline.
#include "inverse/fit_curve.h"

#include "inverse/smoothing.h"

TdlFitOptions tdl_fit_options_default(void) {
    return (TdlFitOptions){.element_count = 1};
}

static bool options_are_good(const TdlFitOptions* o) {
    bool method = o->method == TDL_FIT_FLOATING || o->method == TDL_FIT_S4;
    bool smoothing =
        o->smoothing >= TDL_SMOOTHING_NONE && o->smoothing <= TDL_SMOOTHING_CROSS_VALIDATION;
    bool noise = o->smoothing != TDL_SMOOTHING_NOISE || (o->noise > 0.0 && isfinite(o->noise));
    return method && smoothing && noise && !(o->closed && o->least_squares) &&
           o->element_count > 0 && o->tolerance >= 0.0 && isfinite(o->tolerance);
}

// Twice, since noise makes chords longer than the curve between them.
static bool smooth_curve(Arena* arena, const TdlFitOptions* o, Spline* curve, double* smoothed) {
    double noise = o->smoothing == TDL_SMOOTHING_NOISE ? o->noise : 0.0;
    ArenaMark mark = arena_mark(arena);
    Spline trial = *curve;
    trial.x = ARENA_NEW(arena, TdlVec3, curve->count + 1);
    if (trial.x == NULL) {
        return false;
    }
    for (int i = 0; i <= curve->count; ++i) {
        trial.x[i] = curve->x[i];
    }
    bool good = smooth_knots(arena, &trial, o->closed, noise, smoothed);
    spline_chords(&trial); // into the parameter that both share
    bool apart = true;
    for (int i = 0; i < curve->count; ++i) {
        apart = apart && curve->u[i + 1] > curve->u[i];
    }
    if (!apart) { // smoothed onto each other: the first parameter was good enough
        spline_chords(curve);
    }
    good = good && smooth_knots(arena, curve, o->closed, noise, smoothed);
    arena_release(arena, mark);
    return good;
}

bool fit_point_is_good(TdlVec3 point) {
    const double most = 1.0e100;
    return fabs(point.x) <= most && fabs(point.y) <= most && fabs(point.z) <= most;
}

TdlStatus fit_curve(Arena* arena, const TdlVec3* points, int count, const TdlFitOptions* options,
                    int passes, Spline* out, double* smoothed) {
    *smoothed = 0.0;
    bool good = count > 0 && options_are_good(options);
    for (int i = 0; good && i < count; ++i) {
        good = fit_point_is_good(points[i]);
    }
    if (!good) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    if (!spline_knots(arena, points, count, options->closed, out)) {
        return TDL_STATUS_NO_MEMORY;
    }
    if (out->count < (options->closed ? 3 : 1)) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    spline_chords(out);
    if (!(isfinite(out->u[out->count]) && out->u[out->count] >= FIT_LENGTH_MIN)) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    bool smooth = options->smoothing != TDL_SMOOTHING_NONE;
    if (smooth && !smooth_curve(arena, options, out, smoothed)) {
        return TDL_STATUS_NO_MEMORY;
    }
    SplineEnds ends = options->closed ? SPLINE_CLOSED : smooth ? SPLINE_NATURAL : SPLINE_FREE;
    bool made = spline_make(arena, ends, out);
    for (int pass = 0; made && pass < passes; ++pass) {
        for (int i = 0; i <= out->count; ++i) {
            out->u[i] = out->s[i];
        }
        made = spline_make(arena, ends, out);
    }
    if (!made) {
        return TDL_STATUS_NO_MEMORY;
    }
    return isfinite(out->s[out->count]) ? TDL_STATUS_OK : TDL_STATUS_BAD_ARGUMENT;
}
