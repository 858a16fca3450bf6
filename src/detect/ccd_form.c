// The form F = A + u B + v C of a query: differences of points, and their scaling by a power of
// two when the coordinates are so large or small that products could overflow or vanish.
#include "detect/ccd.h"

#include <float.h>
#include <math.h>
#include <string.h>

bool ccd_query_finite(const TdlCcdQuery* query) {
    bool finite = true;
    for (int i = 0; i < 4; ++i) {
        finite = finite && tdl_finite3(query->start[i]) && tdl_finite3(query->end[i]);
    }
    return finite;
}

static double coordinate(TdlVec3 p, int axis) {
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

bool ccd_swept_apart(const TdlCcdQuery* query, double separation) {
    bool face = query->kind == TDL_CCD_VERTEX_FACE;
    for (int axis = 0; axis < 3; ++axis) {
        double low = INFINITY, high = -INFINITY;
        for (int end = 0; end < 2; ++end) {
            const TdlVec3* p = end == 0 ? query->start : query->end;
            double x[4];
            for (int i = 0; i < 4; ++i) {
                x[i] = coordinate(p[i], axis);
            }
            double a_low = face ? x[0] : fmin(x[0], x[1]);
            double a_high = face ? x[0] : fmax(x[0], x[1]);
            double b_low = face ? fmin(x[1], fmin(x[2], x[3])) : fmin(x[2], x[3]);
            double b_high = face ? fmax(x[1], fmax(x[2], x[3])) : fmax(x[2], x[3]);
            low = fmin(low, a_low - b_high);
            high = fmax(high, a_high - b_low);
        }
        if (low > separation || high < -separation) {
            return true;
        }
    }
    return false;
}

// Differences of axis values x at one end: A, B, C of (K.2).
static void differences(const double* x, bool face, double* a, double* b, double* c) {
    *a = face ? x[0] - x[1] : x[0] - x[2];
    *b = face ? x[1] - x[2] : x[1] - x[0];
    *c = face ? x[1] - x[3] : x[2] - x[3];
}

static double largest_coordinate(const TdlCcdQuery* query) {
    double largest = 0.0;
    for (int i = 0; i < 4; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            largest = fmax(largest, fabs(coordinate(query->start[i], axis)));
            largest = fmax(largest, fabs(coordinate(query->end[i], axis)));
        }
    }
    return largest;
}

// Multiplies by 2^exponent in two steps, as the factor itself may not be a double.
static double scaled(double x, int exponent) {
    return ldexp(x, exponent);
}

bool ccd_form_scaled(const TdlCcdQuery* query, const TdlCcdOptions* options, CcdForm* form,
                     CcdLimits* limits) {
    bool face = query->kind == TDL_CCD_VERTEX_FACE;
    memset(form, 0, sizeof *form);
    form->triangle = face;

    // differences cannot overflow after a first scaling, which loses at most half of the smallest
    // subnormal per coordinate
    bool huge = largest_coordinate(query) > 0x1p1000;
    double first = huge ? 0x1p-8 : 1.0;
    double size = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        double p0[4], p1[4];
        for (int i = 0; i < 4; ++i) {
            p0[i] = first * coordinate(query->start[i], axis);
            p1[i] = first * coordinate(query->end[i], axis);
        }
        differences(p0, face, &form->a0[axis], &form->b0[axis], &form->c0[axis]);
        differences(p1, face, &form->a1[axis], &form->b1[axis], &form->c1[axis]);
        size = fmax(size, fmax(fabs(form->a0[axis]), fabs(form->a1[axis])));
        size = fmax(size, fmax(fabs(form->b0[axis]), fabs(form->b1[axis])));
        size = fmax(size, fmax(fabs(form->c0[axis]), fabs(form->c1[axis])));
    }
    if (size == 0.0) {
        return false;
    }

    // then the largest difference goes to [1/2, 1)
    int exponent;
    frexp(size, &exponent);
    double eta = scaled(huge ? 0x1p-1072 : 0.0, -exponent) + 0x1p-1072;
    for (int i = 0; i < 3; ++i) {
        form->a0[i] = scaled(form->a0[i], -exponent);
        form->a1[i] = scaled(form->a1[i], -exponent);
        form->b0[i] = scaled(form->b0[i], -exponent);
        form->b1[i] = scaled(form->b1[i], -exponent);
        form->c0[i] = scaled(form->c0[i], -exponent);
        form->c1[i] = scaled(form->c1[i], -exponent);
        form->da[i] = form->a1[i] - form->a0[i];
        form->db[i] = form->b1[i] - form->b0[i];
        form->dc[i] = form->c1[i] - form->c0[i];
        form->size[i] = fmax(fabs(form->a0[i]), fabs(form->a1[i])) +
                        fmax(fabs(form->b0[i]), fabs(form->b1[i])) +
                        fmax(fabs(form->c0[i]), fabs(form->c1[i]));
    }
    form->exponent = -exponent - (huge ? 8 : 0);
    form->tiny = eta;
    limits->separation = fmin(scaled(options->min_separation, form->exponent), 0x1p100);
    limits->tolerance = fmin(scaled(options->tolerance, form->exponent), 0x1p100);
    limits->max_time = options->max_time;
    bool contract = options->method == TDL_CCD_CONTRACT;
    int fallback = contract ? CCD_CHECKS_CONTRACT : CCD_CHECKS_OTHERS;
    limits->max_checks = options->max_checks > 0 ? options->max_checks : fallback;
    limits->refine_checks = options->refine_checks;
    limits->euclid = options->norm == TDL_CCD_NORM_EUCLID;
    return true;
}
