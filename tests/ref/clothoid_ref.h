// The slow obvious space clothoid, in extended precision: the frame's equation R' = R [k]x and
// p' = R e stepped by the modified midpoint rule with Richardson's extrapolation (Gragg, Bulirsch
// and Stoer). It knows no series and shares no line with the library.
#ifndef TDL_TEST_CLOTHOID_REF_H
#define TDL_TEST_CLOTHOID_REF_H

#include "ref/rod_ref.h"

#include <stdbool.h>
#include <string.h>

typedef struct RefFrame {
    Real y[12]; // R by rows, then p
} RefFrame;

static inline RefFrame ref_frame_start(void) {
    return (RefFrame){{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}};
}

// out = a + h f(s, b) for the element whose turning per unit length goes from q0 to q1
static inline void ref_frame_axpy(const Real* q0, const Real* q1, Real s, const RefFrame* a, Real h,
                                  const RefFrame* b, RefFrame* out) {
    Real k[3];
    for (int i = 0; i < 3; ++i) {
        k[i] = (1 - s) * q0[i] + s * q1[i];
    }
    RefFrame next;
    for (int r = 0; r < 3; ++r) {
        const Real *x = b->y + 3 * r, *y = a->y + 3 * r;
        next.y[3 * r] = y[0] + h * (x[1] * k[2] - x[2] * k[1]);
        next.y[3 * r + 1] = y[1] + h * (x[2] * k[0] - x[0] * k[2]);
        next.y[3 * r + 2] = y[2] + h * (x[0] * k[1] - x[1] * k[0]);
        next.y[9 + r] = a->y[9 + r] + h * x[0];
    }
    *out = next;
}

enum { REF_MAX_LEVELS = 8 };

// From s to s + step, with order 2 levels.
static inline void ref_frame_step(int levels, const Real* q0, const Real* q1, Real s, Real step,
                                  RefFrame* y) {
    RefFrame table[REF_MAX_LEVELS];
    for (int level = 0; level < levels; ++level) {
        // the modified midpoint rule with 2, 4, 6 ... substeps
        int n = 2 * (level + 1);
        Real h = step / (Real)n;
        RefFrame before = *y, now, next;
        ref_frame_axpy(q0, q1, s, y, h, y, &now);
        for (int m = 1; m < n; ++m) {
            ref_frame_axpy(q0, q1, s + (Real)m * h, &before, 2 * h, &now, &next);
            before = now;
            now = next;
        }
        ref_frame_axpy(q0, q1, s + step, &before, h, &now, &next);
        for (int i = 0; i < 12; ++i) {
            table[level].y[i] = (now.y[i] + next.y[i]) / 2;
        }
        // its error has even powers of h only
        for (int k = level - 1; k >= 0; --k) {
            Real ratio = (Real)n / (Real)(2 * (k + 1));
            for (int i = 0; i < 12; ++i) {
                table[k].y[i] =
                    table[k + 1].y[i] + (table[k + 1].y[i] - table[k].y[i]) / (ratio * ratio - 1);
            }
        }
    }
    *y = table[0];
}

// The quadrature points of one element of unit length, and its end.
typedef struct RefElement {
    Real q[6];
    RefFrame at[REF_GAUSS + 1];
} RefElement;

// Between two points of an element of three turns there is less than half a radian, for which
// order 10 is good to 1e-14.
static inline void ref_clothoid_element(const Real q[6], RefElement* el) {
    RefFrame y = ref_frame_start();
    for (int k = 0; k <= REF_GAUSS; ++k) {
        Real from = k == 0 ? 0 : ref_point[k - 1], to = k == REF_GAUSS ? 1 : ref_point[k];
        ref_frame_step(5, q, q + 3, from, to - from, &y);
        el->at[k] = y;
    }
    memcpy(el->q, q, sizeof el->q);
}

// The rows of a rod of n elements of length l with turnings q at its joints, clamped at the pose
// (R0, x0): out[n * REF_ROW]. An element that is as it was on the last call is not
// integrated again.
enum { REF_MAX_ELEMENTS = 8 };

static inline void ref_clothoid_points(int n, const Real* q, Real l, RefMat R0, RefVec x0,
                                       RefVec* out) {
    static RefElement elements[REF_MAX_ELEMENTS];
    for (int e = 0; e < n; ++e) {
        RefElement* el = &elements[e];
        bool same = el->at[0].y[0] != 0;
        for (int i = 0; i < 6; ++i) {
            same = same && el->q[i] == q[3 * e + i];
        }
        if (!same) {
            ref_clothoid_element(q + 3 * e, el);
        }
        RefVec p;
        RefMat frame;
        out[e * REF_ROW + REF_TWIST] = (RefVec){{0}};
        for (int k = 0; k <= REF_GAUSS; ++k) {
            const Real* y = el->at[k].y;
            p = ref_apply(&R0, (RefVec){{y[9], y[10], y[11]}});
            for (int i = 0; i < 3; ++i) {
                p.v[i] = x0.v[i] + l * p.v[i];
            }
            RefMat turn = {{{y[0], y[1], y[2]}, {y[3], y[4], y[5]}, {y[6], y[7], y[8]}}};
            frame = ref_product(&R0, &turn);
            if (k < REF_GAUSS) {
                out[e * REF_ROW + k] = p;
                ref_store_frame(&frame, k, out + e * REF_ROW);
            }
        }
        R0 = frame;
        x0 = p;
    }
}

#endif
