// The grains of a frame for the page: some of their particles, in the order of their numbers, so
// that the same ones stand in the same places of frames with as many.
#ifndef TDL_APP_FRAME_GRAINS_H
#define TDL_APP_FRAME_GRAINS_H

#include "app/frame_block.h"
#include "app/grains_colour.h"

// Particles that a browser draws at any time on any machine. Of more, about as many are shown: one
// in `every`.
enum { FRAME_GRAINS_MOST = 30000 };
int frame_grains_every(int count);

// Keeps those that are shown, at the start of `particles`; returns how many.
int frame_grains_pick(TdlResultParticle* particles, int count, int every);

// What the page is told of a bed before its frames.
typedef struct FrameGrains {
    TdlResultGrains bed;
    int every;
    GrainsScale ends[GRAINS_COLOURS];
} FrameGrains;

FrameGrains frame_grains_begin(const TdlResultGrains* bed);
void frame_grains_see(FrameGrains* grains, const TdlResultParticle* particles, int count);

// For frame_block.c: the bounds of their places and colours, and their bytes, 12 a particle.
enum { FRAME_GRAIN_BYTES = 12 };
void frame_grains_grow(const FrameView* frame, FrameBounds* bounds);
unsigned char* frame_grains_put(const FrameView* frame, const FrameBox* box, unsigned char* at);

#endif
