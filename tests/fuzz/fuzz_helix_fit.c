// A libFuzzer target for fits of helices. Three bytes choose options and size; every other six are
// a point on a coarse grid, so that points coincide, lie in lines and turn back, or, where the
// first byte says so, the bits of three floats. Whatever comes, a fit is refused, or its rod is
// finite and the error that it tells is hardly less than the one measured here.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz/fuzz_helix_fit CORPUS
#include "inverse/fit_curve.h"
#include "ref/rod_points.h"

#include <stdlib.h>
#include <string.h>

enum { POINTS_MAX = 200, ELEMENTS_MAX = 32, DENSE = 16 };

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static TdlVec3 points[POINTS_MAX];

static int read_points(const uint8_t* data, size_t size, bool raw, double scale) {
    size_t each = raw ? 12 : 6;
    int count = 0;
    for (; size >= each && count < POINTS_MAX; data += each, size -= each) {
        double x[3];
        for (int i = 0; i < 3; ++i) {
            float bits = 0.0f;
            int16_t step = 0;
            memcpy(&bits, data + 4 * i * raw, sizeof bits);
            memcpy(&step, data + 2 * i, sizeof step);
            x[i] = raw ? (double)bits : scale * (step / 256); // a grid of 256 places a side
        }
        points[count++] = (TdlVec3){x[0], x[1], x[2]};
    }
    return count;
}

static bool is_finite(const TdlHelixFit* fit, const TdlVec3* kappa, int count) {
    bool good = isfinite(fit->length) && fit->length > 0.0 && isfinite(fit->error) &&
                isfinite(fit->turning) && isfinite(fit->smoothed) && tdl_pose_is_good(fit->start);
    for (int i = 0; i < count; ++i) {
        good = good && tdl_finite3(kappa[i]);
    }
    return good;
}

// The largest distance from the spline, at DENSE places an element.
static double measure(const TdlHost* host, int count, const TdlFitOptions* options,
                      const TdlHelixFit* fit, const TdlVec3* kappa) {
    static TdlVec3 x[ELEMENTS_MAX * DENSE + 1];
    Arena arena;
    Spline curve;
    double smoothed, worst = 0.0;
    arena_init(&arena, &host->mem);
    if (fit_curve(&arena, points, count, options, 0, &curve, &smoothed) != TDL_STATUS_OK) {
        abort();
    }
    int places = rod_points(fit->start, fit->length, kappa, fit->element_count, DENSE, x, NULL);
    int piece = 0;
    for (int i = 0; i < places; ++i) {
        double s = curve.s[curve.count] * i / (places - 1);
        worst = fmax(worst, tdl_norm3(tdl_sub3(x[i], spline_at(&curve, s, &piece).x)));
    }
    arena_destroy(&arena);
    return worst;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static TdlVec3 kappa[ELEMENTS_MAX + 1];
    if (size < 3) {
        return 0;
    }
    TdlHost host = tdl_host_default();
    double scale = pow(10.0, data[1] % 19 - 9.0);
    bool raw = (data[0] & 1) != 0;
    int count = read_points(data + 3, size - 3, raw, scale);
    TdlFitOptions o = {.element_count = data[2] % ELEMENTS_MAX + 1};
    o.method = (data[0] & 2) != 0 ? TDL_FIT_S4 : TDL_FIT_FLOATING;
    o.closed = (data[0] & 4) != 0;
    o.least_squares = !o.closed && (data[0] & 8) != 0;
    o.smoothing = (TdlSmoothing)((data[0] >> 4) % 3);
    o.noise = scale;
    o.tolerance = (data[0] & 128) != 0 ? 0.1 * scale : 0.0;
    TdlHelixFit fit;
    if (tdl_helix_fit(&host, points, count, &o, kappa, &fit) == TDL_STATUS_OK) {
        if (!is_finite(&fit, kappa, fit.element_count)) {
            abort();
        }
        // coarse fits of corners are wrong by elements, and places were 16 an element
        double found = measure(&host, count, &o, &fit, kappa), size_of = 0.0;
        for (int i = 0; i < count; ++i) {
            size_of = fmax(size_of, tdl_norm3(points[i]));
        }
        if (!(fit.error >= 0.8 * found - 1.0e-11 * size_of)) {
            abort();
        }
    }
    o.tolerance = 0.0;
    if (tdl_clothoid_fit(&host, points, count, &o, kappa, &fit) == TDL_STATUS_OK &&
        !is_finite(&fit, kappa, o.element_count + 1)) {
        abort();
    }
    return 0;
}
