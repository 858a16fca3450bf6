// A frame as the bytes that viewer/src/frame.js reads: coordinates in 16 bits, as differences that
// pack well.
#ifndef TDL_APP_FRAME_BLOCK_H
#define TDL_APP_FRAME_BLOCK_H

#include "tendril/io.h"
#include "tendril/tendril.h"

// What a point has: its coordinates, and of a rod the curvature there (1/m), of a surface the
// strain. These two have spans of their own. Where a rod's inner forces are shown: also tension,
// shear (N), moment of bending and of twist (N m), in the order of InnerForce.
enum { FRAME_AXES = 4, FRAME_INNER = 4, FRAME_MOST_AXES = FRAME_AXES + FRAME_INNER };
// Grains have the same places and, behind all these, spans of their speed, pressure and fraction.
enum { FRAME_GRAINS = 5 + FRAME_INNER, FRAME_SPANS = FRAME_GRAINS + 3 };

// The spans: a value is origin + scale * q with q in 0..65535.
typedef struct FrameBox {
    double origin[FRAME_SPANS], scale[FRAME_SPANS];
} FrameBox;

typedef struct FrameBounds {
    double lower[FRAME_SPANS], upper[FRAME_SPANS];
} FrameBounds;

// What a frame shows. Nothing is kept of it.
typedef struct FrameView {
    double time;
    const double* points;            // [3 point_count] of the rods, then of the surfaces
    const double* strains;           // of the points of the surfaces; 0 of one that is no cloth
    const TdlVec3 *forces, *moments; // of the points of the rods, where the layout has them
    const TdlPose* poses;            // [pose_count]
    const TdlResultContact* contacts;
    int contact_count;
    const TdlResultJointState* joints;
    int joint_count;
    const TdlResultParticle* particles; // those that are shown, by number (frame_grains.h)
    int particle_count;
} FrameView;

// What stays as it is from frame to frame. A surface is a line of vertices behind the rods.
typedef struct FrameLayout {
    int rod_count, line_count; // of rods; of these and surfaces
    const int* point_start;    // [line_count + 1], belongs to the caller
    int pose_count;
    bool forces; // inside rods are shown
} FrameLayout;

// Codes frames of one layout, one after the other.
typedef struct FrameCoder {
    FrameLayout layout;
    int point_count, axes;
    double* fourth;         // [point_count] curvature of rods, strain of surfaces
    double* inner;          // [FRAME_INNER][point_count], 0 of surfaces
    uint16_t *now, *before; // [axes][point_count]
    uint16_t *trial, *best; // [point_count] residuals
    unsigned char* block;   // the last frame coded
    size_t size, capacity;
} FrameCoder;

// Small numbers of either sign as small numbers.
uint16_t frame_zigzag(uint16_t x);

// False when memory is short.
bool frame_coder_create(const FrameLayout* layout, FrameCoder* out);
void frame_coder_destroy(FrameCoder* coder);

// Bounds that hold nothing, grown by frames; what is not finite is passed over.
FrameBounds frame_bounds_empty(void);
void frame_bounds_grow(FrameCoder* coder, const FrameView* frame, FrameBounds* bounds);
FrameBox frame_box(const FrameBounds* bounds);

// Codes a frame into coder->block. With `pack`, values become the differences that pack best,
// along the fibre and, unless `key`, from the frame coded before, which must have had the same box.
// False when memory is short.
bool frame_encode(FrameCoder* coder, const FrameView* frame, const FrameBox* box, bool pack,
                  bool key);

#endif
