// The published bisection (algorithm 2 of the inclusion-based method): boxes level by level, each
// level in the order of time, the axis split being the one along which F varies most. Kept plain,
// as the reference that the contracting search is measured against.
//
// As printed, the algorithm forgets a box that is small enough but not the first of its level, and
// would miss its contact if the earlier boxes turn out empty; here its time is kept. Cost: one
// box about 20 ns, memory two levels of boxes.
#include "detect/ccd_levels.h"

#include <math.h>
#include <stdlib.h>

typedef struct Corner {
    double lo[3]; // t, u, v
} Corner;

typedef struct Level {
    Corner* boxes;
    int count, capacity;
} Level;

typedef struct Bisection {
    const CcdForm* form;
    const CcdLimits* limits;
    CcdInclusionFn inclusion;
    double kappa[3]; // variation of F along t, u, v, at most
    double width[3]; // of the boxes of this level
    Level now, next, late;
    bool failed; // out of memory
    TdlCcdResult best;
    int checks;
} Bisection;

static void level_push(Bisection* b, Level* level, Corner box) {
    if (level->count == level->capacity) {
        int capacity = level->capacity > 0 ? 2 * level->capacity : 256;
        Corner* boxes = realloc(level->boxes, (size_t)capacity * sizeof *boxes);
        if (boxes == NULL) {
            b->failed = true;
            return;
        }
        level->boxes = boxes;
        level->capacity = capacity;
    }
    level->boxes[level->count++] = box;
}

// Boxes that waited for their later half of time follow the last box of the earlier half.
static void flush_late(Bisection* b) {
    for (int i = 0; i < b->late.count; ++i) {
        level_push(b, &b->next, b->late.boxes[i]);
    }
    b->late.count = 0;
}

static void push_halves(Bisection* b, Corner box, int axis) {
    Corner other = box;
    other.lo[axis] += 0.5 * b->width[axis];
    level_push(b, &b->next, box);
    // outside the triangle (a computed sum above 1 is one) or too late
    if ((b->form->triangle && other.lo[1] + other.lo[2] > 1.0) ||
        other.lo[0] > b->limits->max_time) {
        return;
    }
    level_push(b, axis == 0 ? &b->late : &b->next, other);
}

// Largest change of F along each parameter over the whole domain. (K.8)
static void set_kappa(Bisection* b) {
    const CcdForm* f = b->form;
    for (int i = 0; i < 3; ++i) {
        double da = f->da[i], db = f->db[i], dc = f->dc[i];
        double kt = fmax(fmax(fabs(da), fabs(da + db)), fmax(fabs(da + dc), fabs(da + db + dc)));
        b->kappa[0] = fmax(b->kappa[0], kt);
        b->kappa[1] = fmax(b->kappa[1], fmax(fabs(f->b0[i]), fabs(f->b1[i])));
        b->kappa[2] = fmax(b->kappa[2], fmax(fabs(f->c0[i]), fabs(f->c1[i])));
    }
}

// The axis split at this level, or -1 when the boxes are as thin as numbers allow.
static int split_axis(const Bisection* b) {
    int axis = -1;
    double largest = -1.0;
    for (int i = 0; i < 3; ++i) {
        double change = b->kappa[i] * b->width[i];
        if (b->width[i] > 0x1p-49 && change > largest) {
            largest = change;
            axis = i;
        }
    }
    return axis;
}

static double range_width(const Bisection* b, const double* lo, const double* hi) {
    double x = hi[0] - lo[0], y = hi[1] - lo[1], z = hi[2] - lo[2];
    return b->limits->euclid ? sqrt(x * x + y * y + z * z) : fmax(x, fmax(y, z));
}

// Euclidean norm: the range keeps outside the ball.
static bool outside_ball(const Bisection* b, const double* lo, const double* hi) {
    double d = b->limits->separation, square = 0.0;
    for (int i = 0; i < 3; ++i) {
        double gap = fmax(0.0, fmax(lo[i], -hi[i]));
        square += gap * gap;
    }
    return b->limits->euclid && square > d * d * (1.0 + 0x1p-48) + 0x1p-900;
}

static void keep(Bisection* b, const Corner* box, double tolerance) {
    if (!b->best.collision || box->lo[0] < b->best.time) {
        double u = box->lo[1] + 0.5 * b->width[1], v = box->lo[2] + 0.5 * b->width[2];
        v = b->form->triangle ? fmax(0.0, fmin(v, 1.0 - u)) : v;
        b->best = (TdlCcdResult){
            .collision = true, .time = box->lo[0], .tolerance = tolerance, .u = u, .v = v};
    }
}

// One level. False when the search is over.
static bool run_level(Bisection* b) {
    int axis = split_axis(b);
    bool first = true;
    for (int i = 0; i < b->now.count && !b->failed; ++i) {
        Corner box = b->now.boxes[i];
        if (b->best.collision && box.lo[0] >= b->best.time) {
            break;
        }
        if (i > 0 && box.lo[0] != b->now.boxes[i - 1].lo[0]) {
            flush_late(b);
        }
        double lo[3], hi[3];
        ++b->checks;
        if (b->inclusion(b->form, box.lo, b->width, b->limits->separation, lo, hi) ||
            outside_ball(b, lo, hi)) {
            continue;
        }
        double width = range_width(b, lo, hi);
        bool point = true; // inside the margins: no smaller box can tell more
        for (int k = 0; k < 3; ++k) {
            double margin = CCD_K_AXIS * CCD_U * b->form->size[k] + 64.0 * b->form->tiny;
            point = point && hi[k] - lo[k] <= 4.0 * margin;
        }
        bool limit = b->checks >= b->limits->max_checks;
        if (limit || width <= b->limits->tolerance || point || axis < 0) {
            // at the limit, the first box of this level that may collide is the answer
            bool earlier = limit && b->next.count > 0;
            keep(b, earlier ? &b->next.boxes[0] : &box, width);
            b->best.limited = limit;
            if (limit || first) {
                return false;
            }
        } else {
            push_halves(b, box, axis);
        }
        first = false;
    }
    flush_late(b);
    if (axis >= 0) {
        b->width[axis] *= 0.5;
    }
    Level level = b->now;
    b->now = b->next;
    b->next = level;
    b->next.count = 0;
    return !b->failed && b->now.count > 0;
}

TdlStatus ccd_search_levels(const TdlCcdQuery* query, const TdlCcdOptions* options,
                            CcdInclusionFn inclusion, TdlCcdResult* result) {
    CcdForm form;
    CcdLimits limits;
    if (!ccd_form_scaled(query, options, &form, &limits)) {
        *result = (TdlCcdResult){.collision = true, .boxes = 1};
        return TDL_STATUS_OK;
    }
    Bisection b = {.form = &form, .limits = &limits, .inclusion = inclusion};
    b.best.time = INFINITY;
    // dyadic boxes whatever the maximum time, so that neighbours share their faces exactly
    b.width[0] = b.width[1] = b.width[2] = 1.0;
    set_kappa(&b);
    level_push(&b, &b.now, (Corner){{0.0, 0.0, 0.0}});
    while (!b.failed && run_level(&b)) {
    }
    free(b.now.boxes);
    free(b.next.boxes);
    free(b.late.boxes);
    *result = b.best;
    result->boxes = b.checks;
    result->tolerance = ldexp(result->tolerance, -form.exponent);
    return b.failed ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}

TdlStatus ccd_bisect(const TdlCcdQuery* query, const TdlCcdOptions* options, TdlCcdResult* result) {
    CcdInclusionFn inclusion = ccd_inclusion_corners_scalar;
#if defined(__x86_64__)
    if (!options->scalar && __builtin_cpu_supports("avx2")) {
        inclusion = ccd_inclusion_corners_avx2;
    }
#endif
    return ccd_search_levels(query, options, inclusion, result);
}
