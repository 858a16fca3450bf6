// Coding of frames for the page; viewer/src/frame.js describes the bytes.
//
// A smooth fibre has small second and third differences along itself, and smaller ones still of its
// change since the last frame. Which of them packs best differs from scene to scene and from
// axis to axis, so all eight are tried, with the length of the residuals in bits as the measure.
// All arithmetic is modulo 65536, so nothing overflows and decoding is exact.
#include "app/frame_block.h"

#include "app/frame_grains.h"
#include "app/inner_force.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Steps of the box: places to the last bit that is kept, the rest as fine as a plot or a colour
// shows it.
static const double STEPS[FRAME_SPANS] = {65535.0, 65535.0, 65535.0, 4095.0, 4095.0, 4095.0,
                                          4095.0,  4095.0,  4095.0,  4095.0, 4095.0, 4095.0};

enum {
    HEAD_BYTES = 24 + 8 * FRAME_SPANS,
    POSE_BYTES = 12 * 4,
    CONTACT_BYTES = 7 * 4,
    JOINT_BYTES = 8 * 4,
    ORDERS = 4
};

bool frame_coder_create(const FrameLayout* layout, FrameCoder* out) {
    size_t points = (size_t)layout->point_start[layout->line_count];
    size_t axes = layout->forces ? FRAME_MOST_AXES : FRAME_AXES;
    *out = (FrameCoder){.layout = *layout,
                        .point_count = (int)points,
                        .axes = (int)axes,
                        .fourth = calloc(points + 1, sizeof(double)),
                        .inner = calloc((axes - FRAME_AXES) * points + 1, sizeof(double)),
                        .now = calloc(axes * points + 1, sizeof(uint16_t)),
                        .before = calloc(axes * points + 1, sizeof(uint16_t)),
                        .trial = calloc(points + 1, sizeof(uint16_t)),
                        .best = calloc(points + 1, sizeof(uint16_t))};
    if (out->fourth == NULL || out->inner == NULL || out->now == NULL || out->before == NULL ||
        out->trial == NULL || out->best == NULL) {
        frame_coder_destroy(out);
        return false;
    }
    return true;
}

void frame_coder_destroy(FrameCoder* coder) {
    free(coder->fourth);
    free(coder->inner);
    free(coder->now);
    free(coder->before);
    free(coder->trial);
    free(coder->best);
    free(coder->block);
    *coder = (FrameCoder){0};
}

// --- bounds --------------------------------------------------------------------------------------

// Curvature of the circle through three points: 4 area / product of the sides.
static double circle_curvature(TdlVec3 a, TdlVec3 b, TdlVec3 c) {
    TdlVec3 ab = tdl_sub3(b, a), bc = tdl_sub3(c, b);
    double sides = tdl_norm3(ab) * tdl_norm3(bc) * tdl_norm3(tdl_sub3(c, a));
    return sides > 0.0 ? 2.0 * tdl_norm3(tdl_cross3(ab, bc)) / sides : 0.0;
}

static void measure_inner(FrameCoder* coder, const FrameView* frame) {
    int count = coder->layout.point_start[coder->layout.rod_count];
    for (int axis = FRAME_AXES; axis < coder->axes; ++axis) {
        double* out = coder->inner + (size_t)(axis - FRAME_AXES) * (size_t)coder->point_count;
        InnerForce which = (InnerForce)(INNER_TENSION + axis - FRAME_AXES);
        for (int i = 0; i < count; ++i) {
            out[i] = inner_force_of(which, frame->forces[i], frame->moments[i]);
        }
    }
}

// Curvature of the rods, at their ends as at the neighbour; strain of the surfaces; what rods bear.
static void measure_points(FrameCoder* coder, const FrameView* frame) {
    const double* points = frame->points;
    const int* point_start = coder->layout.point_start;
    for (int rod = 0; rod < coder->layout.rod_count; ++rod) {
        int first = point_start[rod], end = point_start[rod + 1];
        for (int i = first + 1; i + 1 < end; ++i) {
            coder->fourth[i] = circle_curvature(tdl_load3(points, i - 1), tdl_load3(points, i),
                                                tdl_load3(points, i + 1));
        }
        if (end - first > 2) {
            coder->fourth[first] = coder->fourth[first + 1];
            coder->fourth[end - 1] = coder->fourth[end - 2];
        }
    }
    int first = point_start[coder->layout.rod_count];
    for (int i = first; i < coder->point_count; ++i) {
        coder->fourth[i] = frame->strains[i - first];
    }
    measure_inner(coder, frame);
}

// The span that a value of a point lies in.
static int span_of(const FrameCoder* coder, int axis, int i) {
    bool surface = i >= coder->layout.point_start[coder->layout.rod_count];
    return axis < 3 ? axis : axis == 3 ? 3 + surface : axis + 1;
}

static double value_at(const FrameCoder* coder, const double* points, int axis, int i) {
    if (axis >= FRAME_AXES) {
        return coder->inner[(ptrdiff_t)(axis - FRAME_AXES) * coder->point_count + i];
    }
    return axis < 3 ? points[3 * i + axis] : coder->fourth[i];
}

FrameBounds frame_bounds_empty(void) {
    FrameBounds bounds;
    for (int span = 0; span < FRAME_SPANS; ++span) {
        bounds.lower[span] = INFINITY;
        bounds.upper[span] = -INFINITY;
    }
    return bounds;
}

void frame_bounds_grow(FrameCoder* coder, const FrameView* frame, FrameBounds* bounds) {
    measure_points(coder, frame);
    frame_grains_grow(frame, bounds);
    for (int axis = 0; axis < coder->axes; ++axis) {
        for (int i = 0; i < coder->point_count; ++i) {
            double x = value_at(coder, frame->points, axis, i);
            int span = span_of(coder, axis, i);
            if (isfinite(x)) {
                bounds->lower[span] = fmin(bounds->lower[span], x);
                bounds->upper[span] = fmax(bounds->upper[span], x);
            }
        }
    }
}

FrameBox frame_box(const FrameBounds* bounds) {
    FrameBox box;
    for (int span = 0; span < FRAME_SPANS; ++span) {
        bool empty = !(bounds->lower[span] <= bounds->upper[span]);
        box.origin[span] = empty ? 0.0 : bounds->lower[span];
        box.scale[span] = empty ? 0.0 : (bounds->upper[span] - bounds->lower[span]) / STEPS[span];
    }
    return box;
}

// --- numbers -------------------------------------------------------------------------------------

static unsigned char* put32(unsigned char* at, uint32_t value) {
    for (int i = 0; i < 4; ++i) {
        *at++ = (unsigned char)(value >> (8 * i));
    }
    return at;
}

static unsigned char* put_float(unsigned char* at, double value) {
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return put32(at, bits);
}

static unsigned char* put_double(unsigned char* at, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return put32(put32(at, (uint32_t)bits), (uint32_t)(bits >> 32));
}

static unsigned char* put_vec3(unsigned char* at, TdlVec3 v) {
    return put_float(put_float(put_float(at, v.x), v.y), v.z);
}

static unsigned char* put_pose(unsigned char* at, TdlPose pose) {
    at = put_vec3(at, pose.position);
    at = put_vec3(at, pose.rotation.cx);
    at = put_vec3(at, pose.rotation.cy);
    return put_vec3(at, pose.rotation.cz);
}

// --- values --------------------------------------------------------------------------------------

static void quantise(FrameCoder* coder, const FrameView* frame, const FrameBox* box) {
    measure_points(coder, frame);
    double per_unit[FRAME_SPANS];
    for (int span = 0; span < FRAME_SPANS; ++span) {
        per_unit[span] = box->scale[span] > 0.0 ? 1.0 / box->scale[span] : 0.0;
    }
    for (int axis = 0; axis < coder->axes; ++axis) {
        uint16_t* out = coder->now + (size_t)axis * (size_t)coder->point_count;
        for (int i = 0; i < coder->point_count; ++i) {
            int span = span_of(coder, axis, i);
            double x = value_at(coder, frame->points, axis, i);
            double q = (x - box->origin[span]) * per_unit[span];
            out[i] = q >= 65535.0 ? 65535 : q > 0.0 ? (uint16_t)lround(q) : 0; // 0 for NaN too
        }
    }
}

// Differences along each rod and from vertex to vertex of each surface, in place.
static void difference(const FrameCoder* coder, uint16_t* x) {
    const int* start = coder->layout.point_start;
    for (int line = 0; line < coder->layout.line_count; ++line) {
        for (int i = start[line + 1] - 1; i > start[line]; --i) {
            x[i] = (uint16_t)(x[i] - x[i - 1]);
        }
    }
}

uint16_t frame_zigzag(uint16_t x) {
    int r = x < 32768 ? (int)x : (int)x - 65536;
    return (uint16_t)(r < 0 ? -2 * r - 1 : 2 * r);
}

static long bit_count(const uint16_t* x, int count) {
    long bits = 0;
    for (int i = 0; i < count; ++i) {
        bits += 32 - __builtin_clz((unsigned)frame_zigzag(x[i]) | 1U);
    }
    return bits;
}

// Leaves the best residuals of one axis in coder->best; returns how they were made.
static uint32_t predict_axis(FrameCoder* coder, int axis, bool key) {
    int n = coder->point_count;
    const uint16_t* now = coder->now + (size_t)axis * (size_t)n;
    const uint16_t* before = coder->before + (size_t)axis * (size_t)n;
    long least = -1;
    uint32_t how = 0;
    for (uint32_t temporal = 0; temporal < (key ? 1U : 2U); ++temporal) {
        for (int i = 0; i < n; ++i) {
            coder->trial[i] = (uint16_t)(now[i] - (temporal != 0 ? before[i] : 0));
        }
        for (uint32_t order = 0; order < ORDERS; ++order) {
            if (order > 0) {
                difference(coder, coder->trial);
            }
            long bits = bit_count(coder->trial, n);
            if (least < 0 || bits < least) {
                least = bits;
                how = order | temporal << 2;
                memcpy(coder->best, coder->trial, (size_t)n * sizeof *coder->best);
            }
        }
    }
    return how;
}

static void put_axis(FrameCoder* coder, int axis, unsigned char* residuals) {
    size_t n = (size_t)coder->point_count;
    unsigned char* low = residuals + (size_t)axis * n;
    for (size_t i = 0; i < n; ++i) {
        uint16_t z = frame_zigzag(coder->best[i]);
        low[i] = (unsigned char)z;
        low[(size_t)coder->axes * n + i] = (unsigned char)(z >> 8);
    }
}

static bool reserve(FrameCoder* coder, size_t size) {
    if (size > coder->capacity) {
        unsigned char* grown = realloc(coder->block, size);
        if (grown == NULL) {
            return false;
        }
        coder->block = grown;
        coder->capacity = size;
    }
    coder->size = size;
    return true;
}

bool frame_encode(FrameCoder* coder, const FrameView* frame, const FrameBox* box, bool pack,
                  bool key) {
    size_t n = (size_t)coder->point_count;
    int pose_count = coder->layout.pose_count;
    size_t residual_at = HEAD_BYTES + (size_t)pose_count * POSE_BYTES +
                         (size_t)frame->contact_count * CONTACT_BYTES +
                         (size_t)frame->joint_count * JOINT_BYTES;
    size_t grains_at = residual_at + 2 * (size_t)coder->axes * n;
    if (!reserve(coder, grains_at + FRAME_GRAIN_BYTES * (size_t)frame->particle_count)) {
        return false;
    }
    frame_grains_put(frame, box, coder->block + grains_at);
    // what the points have
    quantise(coder, frame, box);
    uint32_t how = 0;
    for (int axis = 0; axis < coder->axes; ++axis) {
        if (pack) {
            how |= predict_axis(coder, axis, key) << (3 * axis);
        } else {
            memcpy(coder->best, coder->now + (size_t)axis * n, n * sizeof *coder->best);
        }
        put_axis(coder, axis, coder->block + residual_at);
    }
    uint16_t* swap = coder->before;
    coder->before = coder->now;
    coder->now = swap;
    // the rest
    unsigned char* at = put_double(coder->block, frame->time);
    for (int span = 0; span < FRAME_SPANS; ++span) {
        at = put_float(at, box->origin[span]);
    }
    for (int span = 0; span < FRAME_SPANS; ++span) {
        at = put_float(at, box->scale[span]);
    }
    at = put32(put32(at, how), (uint32_t)frame->contact_count);
    at = put32(at, (uint32_t)frame->joint_count);
    at = put32(at, (uint32_t)frame->particle_count);
    for (int i = 0; i < pose_count; ++i) {
        at = put_pose(at, frame->poses[i]);
    }
    for (int i = 0; i < frame->contact_count; ++i) {
        const TdlResultContact* contact = &frame->contacts[i];
        at = put_vec3(put_vec3(at, contact->point), contact->force);
        at = put_float(at, contact->sliding ? 1.0 : 0.0);
    }
    for (int i = 0; i < frame->joint_count; ++i) {
        const TdlResultJointState* joint = &frame->joints[i];
        at = put_vec3(put_vec3(at, joint->point), joint->force);
        at = put_float(put_float(at, tdl_norm3(joint->torque)), joint->broken ? 1.0
                                                                : joint->idle ? 2.0
                                                                              : 0.0);
    }
    return true;
}
