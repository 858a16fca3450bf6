// From the points of poses to strands that lie along them. The frame of a fitted strand does not
// twist, and its first direction is chance: it is turned to that of the first pose where all poses
// have the same clamp.
#include "inverse/pose_curves.h"

#include "base/log.h"
#include "inverse/fit_curve.h"
#include "math/rotation.h"

#include <string.h>

// Share of a chord by which noise may move points that a curve goes through nevertheless: chords
// are then too long by twice its square, and smoothing, which leaves no curvature at the ends, does
// worse.
static const double FINE = 3.0e-3;

enum { POINTS_MIN = 8, POINTS_MAX = 1000000 };

// Copies points that differ from the one before.
static TdlStatus take_points(const TdlHost* host, Arena* arena, const TdlCurvePose* pose,
                             PoseCurve* out) {
    bool good = pose->count >= 0 && pose->count <= POINTS_MAX && pose->points != NULL &&
                tdl_finite3(pose->gravity) && tdl_finite3(pose->end_force);
    for (int i = 0; good && i < pose->count; ++i) {
        good = tdl_finite3(pose->points[i]);
    }
    if (!good) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "a pose's points, gravity and force must be finite");
    }
    TdlVec3* points = ARENA_NEW(arena, TdlVec3, pose->count);
    out->at = ARENA_NEW(arena, double, pose->count);
    out->axes = ARENA_NEW(arena, TdlMat3, pose->count);
    if (points == NULL || out->at == NULL || out->axes == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < pose->count; ++i) {
        TdlVec3 x = pose->points[i];
        if (out->count == 0 || tdl_norm3(tdl_sub3(x, points[out->count - 1])) > 0.0) {
            points[out->count++] = x;
        }
    }
    out->points = points;
    out->gravity = pose->gravity;
    return out->count >= POINTS_MIN
               ? TDL_STATUS_OK
               : tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                          "a pose has %d points that differ, and %d are needed", out->count,
                          POINTS_MIN);
}

// The curve of the points. Smoothing leaves no curvature at its ends; where it hardly moves the
// points the curve goes through them.
static TdlStatus draw_curve(Arena* arena, const TdlCurvePoseOptions* options, TdlFitOptions* fit,
                            PoseCurve* out, Spline* curve) {
    fit->element_count = options->element_count;
    fit->smoothing = options->noise > 0.0 ? TDL_SMOOTHING_NOISE : TDL_SMOOTHING_CROSS_VALIDATION;
    fit->noise = sqrt(3.0) * options->noise; // of places, not of coordinates
    TdlStatus status = fit_curve(arena, out->points, out->count, fit, 1, curve, &out->smoothed);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    double chord = curve->s[curve->count] / curve->count;
    if (out->smoothed > sqrt(3.0) * FINE * chord) {
        return status;
    }
    fit->smoothing = TDL_SMOOTHING_NONE;
    double none;
    return fit_curve(arena, out->points, out->count, fit, 1, curve, &none);
}

// The bends of a chain of helices at its joints, in a frame that goes from tangent to tangent
// without twist. Unlike the curvature of the points' own curve they hardly feel noise: the chain
// follows.
static void bends_of_chain(TdlMat3 start, double l, int n, TdlVec3* kappa) {
    TdlMat3 R = start, carried = start;
    for (int i = 0; i < n; ++i) {
        TdlMat3 next = tdl_mul33(R, tdl_rotation_exp(tdl_scale3(l, kappa[i])));
        TdlVec3 axis = tdl_cross3(R.cx, next.cx);
        double sine = tdl_norm3(axis), angle = atan2(sine, tdl_dot3(R.cx, next.cx));
        TdlVec3 turn = tdl_scale3(sine > 0.0 ? angle / sine : 0.0, axis);
        kappa[i] = tdl_scale3(1.0 / l, tdl_tmul33_3(carried, turn));
        kappa[i].x = 0.0; // but for rounding
        carried = tdl_mul33(tdl_rotation_exp(turn), carried);
        R = next;
    }
    kappa[n] = kappa[n - 1];
    for (int i = n - 1; i > 0; --i) {
        kappa[i] = tdl_scale3(0.5, tdl_add3(kappa[i - 1], kappa[i]));
    }
}

// Arc lengths and tangents at the points, and the curvature of a strand in a frame without twist.
static TdlStatus fit_pose(const TdlHost* host, Arena* arena, const TdlCurvePoseOptions* options,
                          PoseCurve* out) {
    TdlFitOptions fit = tdl_fit_options_default();
    Spline curve;
    TdlHelixFit fitted;
    TdlStatus status = draw_curve(arena, options, &fit, out, &curve);
    out->curvature = ARENA_NEW(arena, TdlVec3, options->element_count + 1);
    if (status == TDL_STATUS_OK && out->curvature == NULL) {
        status = TDL_STATUS_NO_MEMORY;
    }
    if (status == TDL_STATUS_OK) {
        status = tdl_helix_fit(host, out->points, out->count, &fit, out->curvature, &fitted);
    }
    if (status == TDL_STATUS_BAD_ARGUMENT) {
        return tdl_fail(host, status, "no curve goes by the points of a pose");
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    for (int i = 0; i < out->count; ++i) {
        out->at[i] = curve.s[i];
        out->axes[i] = tdl_frame_from_tangent(curve.slope[i]);
    }
    out->strand.length = curve.s[curve.count];
    out->strand.start = fitted.start;
    bends_of_chain(fitted.start.rotation, fitted.length / options->element_count,
                   options->element_count, out->curvature);
    return TDL_STATUS_OK;
}

// Angle from the frame of a pose to that which has the clamp of the first; their tangents differ by
// noise only.
static double spin_of_clamp(TdlMat3 first, TdlMat3 own) {
    return -atan2(tdl_dot3(own.cy, first.cz), tdl_dot3(own.cy, first.cy));
}

double pose_spin(const TdlVec3* first, const TdlVec3* own, int count) {
    double along = 0.0, across = 0.0;
    for (int i = 0; i < count; ++i) {
        along += first[i].y * own[i].y + first[i].z * own[i].z;
        across += first[i].y * own[i].z - first[i].z * own[i].y;
    }
    return atan2(across, along);
}

void pose_spin_frame(double angle, int count, TdlVec3* kappa, TdlMat3* R) {
    for (int i = 0; i < count; ++i) {
        kappa[i] = pose_turned(kappa[i], angle);
    }
    if (R != NULL) {
        TdlVec3 y = R->cy, z = R->cz;
        R->cy = tdl_axpy3(tdl_scale3(cos(angle), y), sin(angle), z);
        R->cz = tdl_axpy3(tdl_scale3(cos(angle), z), -sin(angle), y);
    }
}

// One fibre: the same length, model and number of elements in all poses.
static void join_poses(const TdlCurvePose* poses, int count, const TdlCurvePoseOptions* options,
                       PoseCurve* out) {
    double length = 0.0;
    int n = options->element_count;
    bool helix = strcmp(options->model, "super-helix") == 0;
    for (int a = 0; a < count; ++a) {
        length += out[a].strand.length / count;
    }
    for (int a = 0; a < count; ++a) {
        PoseCurve* p = &out[a];
        TdlMat3 first = out[0].strand.start.rotation, own = p->strand.start.rotation;
        if (!options->own_clamps) {
            pose_spin_frame(spin_of_clamp(first, own), n + 1, p->curvature,
                            &p->strand.start.rotation);
        }
        double scale = p->strand.length / length;
        for (int i = 0; i < p->count; ++i) {
            p->at[i] = i + 1 < p->count ? fmin(p->at[i] / scale, length) : length;
        }
        for (int i = 0; i < n + 1; ++i) {
            TdlVec3 next = p->curvature[helix && i < n ? i + 1 : i];
            TdlVec3 mean = tdl_scale3(0.5, tdl_add3(p->curvature[i], next));
            p->curvature[i] = tdl_scale3(scale, mean);
        }
        p->end_force = (TdlRodLoad){.at = length, .force = poses[a].end_force};
        p->strand = (TdlStrand){.model = options->model,
                                .start = p->strand.start,
                                .length = length,
                                .element_count = n,
                                .curvature = p->curvature,
                                .stiffness = {1.0, 1.0, 1.0},
                                .line_density = options->line_density,
                                .loads = &p->end_force,
                                .load_count = 1};
        if (!options->own_clamps) {
            p->strand.start.rotation = first;
        }
    }
}

TdlStatus pose_curves_make(const TdlHost* host, Arena* arena, const TdlCurvePose* poses, int count,
                           const TdlCurvePoseOptions* options, PoseCurve* out) {
    for (int a = 0; a < count; ++a) {
        out[a] = (PoseCurve){0};
        TdlStatus status = take_points(host, arena, &poses[a], &out[a]);
        if (status == TDL_STATUS_OK) {
            status = fit_pose(host, arena, options, &out[a]);
        }
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    join_poses(poses, count, options, out);
    return TDL_STATUS_OK;
}
