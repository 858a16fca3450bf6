// Which particles the page shows, and their coding: places and colours in 16 bits, as differences
// from the particle before, the low bytes of each and then the high ones.
#include "app/frame_grains.h"

#include <math.h>
#include <stdlib.h>

enum { AXES = 3 + GRAINS_COLOURS };

int frame_grains_every(int count) {
    return count <= FRAME_GRAINS_MOST ? 1 : (count + FRAME_GRAINS_MOST - 1) / FRAME_GRAINS_MOST;
}

static int compare(const void* a, const void* b) {
    int x = ((const TdlResultParticle*)a)->number, y = ((const TdlResultParticle*)b)->number;
    return (x > y) - (x < y);
}

int frame_grains_pick(TdlResultParticle* particles, int count, int every) {
    int kept = 0;
    for (int i = 0; i < count; ++i) {
        if (grains_one_in(every, particles[i].number)) {
            particles[kept++] = particles[i];
        }
    }
    if (kept > 0) { // else there is nothing, not even an array
        qsort(particles, (size_t)kept, sizeof *particles, compare);
    }
    return kept;
}

FrameGrains frame_grains_begin(const TdlResultGrains* bed) {
    FrameGrains grains = {.bed = *bed, .every = 1};
    for (int i = 0; i < GRAINS_COLOURS; ++i) {
        grains.ends[i] = grains_scale((GrainsColour)i);
    }
    return grains;
}

void frame_grains_see(FrameGrains* grains, const TdlResultParticle* particles, int count) {
    int every = frame_grains_every(count);
    grains->every = every > grains->every ? every : grains->every;
    for (int i = 0; i < GRAINS_COLOURS; ++i) {
        grains_scale_grow(&grains->ends[i], particles, count);
    }
}

// Place, then what it is coloured by; and the span of that.
static double value_of(const TdlResultParticle* particle, int axis) {
    return axis < 3 ? (&particle->position.x)[axis]
                    : grains_colour_of((GrainsColour)(axis - 3), particle);
}

static int span_of(int axis) {
    return axis < 3 ? axis : FRAME_GRAINS + axis - 3;
}

void frame_grains_grow(const FrameView* frame, FrameBounds* bounds) {
    for (int i = 0; i < frame->particle_count; ++i) {
        for (int axis = 0; axis < AXES; ++axis) {
            double x = value_of(&frame->particles[i], axis);
            int span = span_of(axis);
            if (isfinite(x)) {
                bounds->lower[span] = fmin(bounds->lower[span], x);
                bounds->upper[span] = fmax(bounds->upper[span], x);
            }
        }
    }
}

unsigned char* frame_grains_put(const FrameView* frame, const FrameBox* box, unsigned char* at) {
    size_t count = (size_t)frame->particle_count;
    for (int axis = 0; axis < AXES; ++axis, at += 2 * count) {
        int span = span_of(axis);
        double per_unit = box->scale[span] > 0.0 ? 1.0 / box->scale[span] : 0.0;
        uint16_t before = 0;
        for (size_t i = 0; i < count; ++i) {
            double q = (value_of(&frame->particles[i], axis) - box->origin[span]) * per_unit;
            uint16_t now = q >= 65535.0 ? 65535 : q > 0.0 ? (uint16_t)lround(q) : 0;
            uint16_t r = frame_zigzag((uint16_t)(now - before));
            before = now;
            at[i] = (unsigned char)r;
            at[count + i] = (unsigned char)(r >> 8);
        }
    }
    return at;
}
