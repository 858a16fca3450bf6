// The slow obvious fit: piecewise helices through points, by nonlinear least squares.
//
// The polyline becomes a smooth curve: cubic pieces through its points with the slopes of parabolas
// through three of them; the arc length of a piece is that of the circle through its neighbourhood.
// The curve is sampled evenly, a few points to an element. A first guess takes bends and twist of
// each element from how the tangent turns in a frame carried along without twist. Then the
// distances of the samples are made least by Levenberg and Marquardt, over windows of elements that
// overlap by half, so that the cost is linear in the number of elements and an error made early is
// corrected later. Twist that the points say nothing about (straight pieces) is kept small by a
// weight far below the resolution of single precision.
#ifndef TDL_TESTS_HELIX_FIT_REF_H
#define TDL_TESTS_HELIX_FIT_REF_H

#include "base/memory.h"
#include "math/dense.h"
#include "rod/helix.h"
#include "tendril/inverse.h"

#include <string.h>

enum { SAMPLES = 4, WINDOW = 16, UNKNOWNS = 3 + 3 * WINDOW, STEPS_MAX = 40 };

// Weight of q'q against squared distances in units of an element.
static const double STIFFNESS = 1.0e-12;

// --- the curve ------------------------------------------------------------------------------

typedef struct Smooth {
    int count;
    TdlVec3 *x, *slope; // points, and derivatives by arc length
    double* s;          // arc length at the points
} Smooth;

// One over the radius of the circle through three points.
static double circle_curvature(TdlVec3 a, TdlVec3 b, TdlVec3 c) {
    TdlVec3 u = tdl_sub3(b, a), v = tdl_sub3(c, b);
    double sides = tdl_norm3(u) * tdl_norm3(v) * tdl_norm3(tdl_sub3(c, a));
    return sides > 0.0 ? 2.0 * tdl_norm3(tdl_cross3(u, v)) / sides : 0.0;
}

// Curvature at point i; at an end that of its neighbour.
static double curvature_at(const Smooth* c, int i) {
    int mid = i == 0 ? 1 : i == c->count - 1 ? i - 1 : i;
    return c->count < 3 ? 0.0 : circle_curvature(c->x[mid - 1], c->x[mid], c->x[mid + 1]);
}

// The derivative at point i of the parabola through points a, b, c, one of which is i.
static TdlVec3 parabola_slope(const Smooth* k, int a, int b, int c, int i) {
    double sa = k->s[a], sb = k->s[b], sc = k->s[c], s = k->s[i];
    double wa = (2.0 * s - sb - sc) / ((sa - sb) * (sa - sc));
    double wb = (2.0 * s - sa - sc) / ((sb - sa) * (sb - sc));
    double wc = (2.0 * s - sa - sb) / ((sc - sa) * (sc - sb));
    TdlVec3 sum = tdl_scale3(wa, k->x[a]);
    return tdl_axpy3(tdl_axpy3(sum, wb, k->x[b]), wc, k->x[c]);
}

static bool make_smooth(Arena* arena, const TdlVec3* points, int count, Smooth* out) {
    out->x = ARENA_NEW(arena, TdlVec3, count);
    out->slope = ARENA_NEW(arena, TdlVec3, count);
    out->s = ARENA_NEW(arena, double, count);
    if (out->x == NULL || out->slope == NULL || out->s == NULL) {
        return false;
    }
    out->count = 0;
    for (int i = 0; i < count; ++i) {
        if (out->count == 0 || tdl_norm3(tdl_sub3(points[i], out->x[out->count - 1])) > 0.0) {
            out->x[out->count++] = points[i];
        }
    }
    // half an arc's angle has the sine chord * curvature / 2; a corner counts as a tight bend
    out->s[0] = 0.0;
    for (int i = 0; i + 1 < out->count; ++i) {
        double chord = tdl_norm3(tdl_sub3(out->x[i + 1], out->x[i]));
        double sine = 0.25 * chord * (curvature_at(out, i) + curvature_at(out, i + 1));
        sine = fmin(sine, 0.9);
        out->s[i + 1] = out->s[i] + chord * (sine > 1.0e-8 ? asin(sine) / sine : 1.0);
    }
    for (int i = 0; i < out->count; ++i) {
        int mid = i == 0 ? 1 : i == out->count - 1 ? i - 1 : i;
        if (out->count > 2) {
            out->slope[i] = parabola_slope(out, mid - 1, mid, mid + 1, i);
        } else if (out->count == 2) {
            out->slope[i] = tdl_scale3(1.0 / out->s[1], tdl_sub3(out->x[1], out->x[0]));
        }
    }
    return true;
}

// Point and derivative at arc length s; `piece` is where the last search ended, and s grows.
static void smooth_at(const Smooth* c, double s, int* piece, TdlVec3* x, TdlVec3* slope) {
    while (*piece + 2 < c->count && c->s[*piece + 1] <= s) {
        ++*piece;
    }
    int i = *piece;
    double h = c->s[i + 1] - c->s[i], u = (s - c->s[i]) / h, v = 1.0 - u;
    TdlVec3 a = c->x[i], b = c->x[i + 1], da = c->slope[i], db = c->slope[i + 1];
    TdlVec3 sum = tdl_scale3(v * v * (1.0 + 2.0 * u), a);
    sum = tdl_axpy3(sum, u * u * (1.0 + 2.0 * v), b);
    sum = tdl_axpy3(sum, h * u * v * v, da);
    *x = tdl_axpy3(sum, -h * u * u * v, db);
    TdlVec3 rate = tdl_scale3(6.0 * u * v / h, tdl_sub3(b, a));
    rate = tdl_axpy3(rate, v * (v - 2.0 * u), da);
    *slope = tdl_axpy3(rate, u * (u - 2.0 * v), db);
}

// --- the first guess ------------------------------------------------------------------------

// The rotation that takes one unit vector to another by the shortest way.
static TdlMat3 shortest_turn(TdlVec3 from, TdlVec3 to) {
    TdlVec3 axis = tdl_cross3(from, to);
    double sine = tdl_norm3(axis), cosine = tdl_dot3(from, to);
    if (sine < 1.0e-12) {
        return tdl_identity33(); // no turn, or a cusp about which nothing is known
    }
    return tdl_rotation_exp(tdl_scale3(atan2(sine, cosine) / sine, axis));
}

// What the curve says of one element, in a frame carried along it without twist.
typedef struct Guess {
    TdlMat3 frame;  // at the element's start
    double bend[2]; // k1 and k2 times length, at the start of the element, without its twist
    double twist;   // times length
} Guess;

// Twist of bends that turn by one phase from sub-step to sub-step: the mean phase, where they bend.
static void guess_element(double bend[][2], int count, Guess* out) {
    double re = 0.0, im = 0.0;
    for (int j = 0; j + 1 < count; ++j) { // b[j+1] times the conjugate of b[j]
        re += bend[j + 1][0] * bend[j][0] + bend[j + 1][1] * bend[j][1];
        im += bend[j + 1][1] * bend[j][0] - bend[j + 1][0] * bend[j][1];
    }
    double phase = re > 0.0 ? atan2(im, re) : 0.0;
    out->twist = phase * count;
    out->bend[0] = out->bend[1] = 0.0;
    for (int j = 0; j < count; ++j) {
        double c = cos(phase * (j + 0.5)), s = sin(phase * (j + 0.5));
        out->bend[0] += c * bend[j][0] + s * bend[j][1];
        out->bend[1] += c * bend[j][1] - s * bend[j][0];
    }
}

static void make_guesses(const Smooth* curve, int element_count, Guess* guesses) {
    enum { SUB_STEPS = 2 * SAMPLES };
    double length = curve->s[curve->count - 1];
    int piece = 0;
    TdlVec3 x, slope;
    smooth_at(curve, 0.0, &piece, &x, &slope);
    TdlMat3 frame = tdl_frame_from_tangent(slope);
    for (int e = 0; e < element_count; ++e) {
        double bend[SUB_STEPS][2];
        guesses[e].frame = frame;
        for (int j = 0; j < SUB_STEPS; ++j) {
            double u = ((double)e + (j + 1.0) / SUB_STEPS) / element_count;
            smooth_at(curve, fmin(u, 1.0) * length, &piece, &x, &slope);
            TdlMat3 next = tdl_mul33(shortest_turn(frame.cx, tdl_unit3(slope)), frame);
            TdlVec3 turn = tdl_rotation_log(tdl_tmul33(frame, next));
            bend[j][0] = turn.y;
            bend[j][1] = turn.z;
            frame = next;
        }
        guess_element(bend, SUB_STEPS, &guesses[e]);
    }
}

// The guess as seen from a material frame that shares the tangent: its bends turn with the frame.
static TdlVec3 guess_from(const Guess* guess, TdlMat3 frame) {
    TdlVec3 y = tdl_tmul33_3(guess->frame, frame.cy);
    double size = hypot(y.y, y.z);
    double c = size > 0.0 ? y.y / size : 1.0, s = size > 0.0 ? y.z / size : 0.0;
    return (TdlVec3){guess->twist, c * guess->bend[0] + s * guess->bend[1],
                     c * guess->bend[1] - s * guess->bend[0]};
}

// --- least squares --------------------------------------------------------------------------

typedef struct Window {
    double l;              // m, of an element
    int count;             // elements in the window
    bool turns;            // the frame of the start is unknown too
    TdlPose start;         // of the window
    TdlVec3 q[WINDOW];     // curvature times length
    const TdlVec3* target; // [count SAMPLES]
    // filled by evaluate
    TdlPose pose[WINDOW + 1];
    TdlMat3 shift[WINDOW], turn[WINDOW]; // of an element's end, by its q, in world axes
    TdlVec3 x[WINDOW * SAMPLES];
    TdlMat3 own[WINDOW * SAMPLES]; // of a sample, by the q of its own element
} Window;

// The squared distances, in units of an element; positions and derivatives in passing.
static double evaluate(Window* p) {
    double cost = 0.0;
    p->pose[0] = p->start;
    for (int e = 0; e < p->count; ++e) {
        TdlPose at = p->pose[e];
        HelixAxes axes = helix_axes(p->q[e]);
        for (int j = 0; j < SAMPLES; ++j) {
            double f[HELIX_COUNT];
            int i = e * SAMPLES + j;
            helix_functions(axes.y, (j + 1.0) / SAMPLES, f);
            TdlVec3 local = tdl_mul33_3(at.rotation, helix_position(&axes, f));
            p->x[i] = tdl_axpy3(at.position, p->l, local);
            TdlMat3 rate = tdl_mul33(at.rotation, helix_displacement(&axes, f));
            p->own[i] = tdl_scale33(p->l, rate);
            TdlVec3 miss = tdl_sub3(p->x[i], p->target[i]);
            cost += tdl_dot3(miss, miss) / (p->l * p->l);
            if (j == SAMPLES - 1) {
                p->shift[e] = p->own[i];
                p->turn[e] = tdl_mul33(at.rotation, helix_rotation_rate(&axes, f));
                p->pose[e + 1] =
                    (TdlPose){p->x[i], tdl_mul33(at.rotation, tdl_rotation_exp(p->q[e]))};
            }
        }
        cost += STIFFNESS * tdl_dot3(p->q[e], p->q[e]);
    }
    return cost;
}

static TdlVec3 column(const TdlMat3* m, int c) {
    return c == 0 ? m->cx : c == 1 ? m->cy : m->cz;
}

// The columns of the Jacobian for one sample: how it moves with each unknown that comes before it.
// Returns the number of columns that are not zero.
static int sample_rows(const Window* p, int element, int sample, TdlVec3* rows) {
    int i = element * SAMPLES + sample, n = 0;
    for (int c = 0; c < 3; ++c) { // the frame of the start, about the axes of the world
        TdlVec3 axis = {c == 0, c == 1, c == 2};
        TdlVec3 arm = tdl_sub3(p->x[i], p->start.position);
        rows[n++] = p->turns ? tdl_cross3(axis, arm) : (TdlVec3){0};
    }
    for (int e = 0; e < element; ++e) { // what comes behind an element moves with its end
        TdlVec3 arm = tdl_sub3(p->x[i], p->pose[e + 1].position);
        for (int c = 0; c < 3; ++c) {
            rows[n++] = tdl_add3(column(&p->shift[e], c), tdl_cross3(column(&p->turn[e], c), arm));
        }
    }
    for (int c = 0; c < 3; ++c) {
        rows[n++] = column(&p->own[i], c);
    }
    return n;
}

// Lower triangle of J'J and J'r, in units of an element.
static void normal_equations(const Window* p, double* a, double* b) {
    int n = 3 + 3 * p->count;
    TdlVec3 rows[UNKNOWNS];
    memset(a, 0, (size_t)(n * n) * sizeof *a);
    memset(b, 0, (size_t)n * sizeof *b);
    double scale = 1.0 / (p->l * p->l);
    for (int e = 0; e < p->count; ++e) {
        for (int j = 0; j < SAMPLES; ++j) {
            int i = e * SAMPLES + j, used = sample_rows(p, e, j, rows);
            TdlVec3 miss = tdl_sub3(p->x[i], p->target[i]);
            for (int col = 0; col < used; ++col) {
                b[col] += scale * tdl_dot3(rows[col], miss);
                for (int row = col; row < used; ++row) {
                    a[row + col * n] += scale * tdl_dot3(rows[row], rows[col]);
                }
            }
        }
        for (int c = 0; c < 3; ++c) {
            int k = 3 + 3 * e + c;
            a[k + k * n] += STIFFNESS;
            b[k] += STIFFNESS * (&p->q[e].x)[c];
        }
    }
    for (int c = 0; c < 3 && !p->turns; ++c) {
        a[c + c * n] = 1.0; // known: these unknowns stay zero
    }
}

static void move(Window* p, const double* step) {
    TdlVec3 turn = {-step[0], -step[1], -step[2]};
    if (p->turns) {
        p->start.rotation = tdl_mul33(tdl_rotation_exp(turn), p->start.rotation);
    }
    for (int e = 0; e < p->count; ++e) {
        p->q[e] = tdl_sub3(p->q[e], tdl_load3(step, 1 + e));
    }
}

// Levenberg and Marquardt, until a step gains nothing any more.
static void minimise(Window* p, Window* trial) {
    double a[UNKNOWNS * UNKNOWNS], factor[UNKNOWNS * UNKNOWNS], b[UNKNOWNS], step[UNKNOWNS];
    int n = 3 + 3 * p->count;
    double cost = evaluate(p), damping = 1.0e-3;
    for (int round = 0; round < STEPS_MAX && damping < 1.0e9; ++round) {
        normal_equations(p, a, b);
        bool better = false;
        while (!better && damping < 1.0e9) {
            memcpy(factor, a, (size_t)(n * n) * sizeof *a);
            memcpy(step, b, (size_t)n * sizeof *b);
            for (int k = 0; k < n; ++k) {
                factor[k + k * n] *= 1.0 + damping;
            }
            double reached = INFINITY;
            if (tdl_cholesky(n, factor, n) == n) {
                tdl_cholesky_solve(n, factor, n, 1, step, n);
                *trial = *p;
                move(trial, step);
                reached = evaluate(trial);
            }
            better = reached < cost;
            damping = better ? fmax(0.1 * damping, 1.0e-12) : 10.0 * damping;
            if (better) {
                *p = *trial;
                if (cost - reached <= 1.0e-9 * cost) {
                    return;
                }
                cost = reached;
            }
        }
    }
}

// --- the whole ------------------------------------------------------------------------------

static void sample_curve(const Smooth* curve, int element_count, TdlVec3* targets) {
    double length = curve->s[curve->count - 1];
    int piece = 0, total = element_count * SAMPLES;
    for (int i = 0; i < total; ++i) {
        TdlVec3 slope;
        smooth_at(curve, length * (i + 1.0) / total, &piece, &targets[i], &slope);
    }
}

// Window after window; each keeps the first half of its elements, the last all.
static void fit_windows(Window* p, Window* trial, const Guess* guesses, const TdlVec3* targets,
                        int element_count, TdlVec3* curvature, TdlHelixFit* out) {
    int begin = 0, known = 0; // elements with a value from an earlier window
    double largest = 0.0;
    for (bool last = false; !last;) {
        last = begin + WINDOW >= element_count;
        p->count = last ? element_count - begin : WINDOW;
        p->turns = begin == 0;
        p->target = targets + (size_t)begin * SAMPLES;
        TdlMat3 frame = p->start.rotation;
        for (int e = 0; e < p->count; ++e) {
            if (begin + e >= known) {
                p->q[e] = guess_from(&guesses[begin + e], frame);
            }
            frame = tdl_mul33(frame, tdl_rotation_exp(p->q[e]));
        }
        minimise(p, trial);
        out->start = begin == 0 ? p->start : out->start;
        int kept = last ? p->count : WINDOW / 2;
        for (int e = 0; e < kept; ++e) {
            curvature[begin + e] = tdl_scale3(1.0 / p->l, p->q[e]);
            for (int i = e * SAMPLES; i < (e + 1) * SAMPLES; ++i) {
                largest = fmax(largest, tdl_norm3(tdl_sub3(p->x[i], p->target[i])));
            }
        }
        p->start = p->pose[kept];
        known = begin + p->count;
        begin += kept;
        memmove(p->q, p->q + kept, (size_t)(p->count - kept) * sizeof *p->q);
    }
    out->error = largest;
}

static TdlStatus fit(Arena* arena, const TdlVec3* points, int count, int element_count,
                     TdlVec3* curvature, TdlHelixFit* out) {
    Smooth curve;
    Guess* guesses = ARENA_NEW(arena, Guess, element_count);
    TdlVec3* targets = ARENA_NEW(arena, TdlVec3, (size_t)element_count * SAMPLES);
    Window* work = ARENA_NEW(arena, Window, 2);
    if (guesses == NULL || targets == NULL || work == NULL ||
        !make_smooth(arena, points, count, &curve)) {
        return TDL_STATUS_NO_MEMORY;
    }
    if (curve.count < 2) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    out->length = curve.s[curve.count - 1];
    make_guesses(&curve, element_count, guesses);
    sample_curve(&curve, element_count, targets);
    work[0] = (Window){.l = out->length / element_count, .start = {curve.x[0], guesses[0].frame}};
    fit_windows(&work[0], &work[1], guesses, targets, element_count, curvature, out);
    return TDL_STATUS_OK;
}

// Fits `element_count` helices of equal length; start, length and error are told.
static inline TdlStatus helix_fit_ref(const TdlHost* host, const TdlVec3* points, int count,
                                      int element_count, TdlVec3* curvature, TdlHelixFit* out) {
    *out = (TdlHelixFit){0};
    bool good = count > 0 && element_count > 0;
    for (int i = 0; good && i < count; ++i) {
        good = tdl_finite3(points[i]);
    }
    if (!good) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    Arena arena;
    arena_init(&arena, &host->mem);
    TdlStatus status = fit(&arena, points, count, element_count, curvature, out);
    arena_destroy(&arena);
    return status;
}

#endif
