// What other programs and pictures need of a result, frame by frame: the rods as lines with radius
// and curvature, surfaces as they are, and meshes of everything else with their places.
#ifndef TDL_APP_FRAME_READER_H
#define TDL_APP_FRAME_READER_H

#include "app/command.h"
#include "app/mesh.h"

// Whether a body ends somewhere; the mesh of one that does not is cut off beyond what moves.
typedef enum BodyReach {
    BODY_WHOLE = 0,
    BODY_ENDLESS,
    BODY_PLANE, // endless, and flat: its normal is the third axis of its pose
} BodyReach;

typedef struct FrameReader {
    const TdlHost* host;
    const char* path;
    TdlResult* result;
    TdlResultInfo info;
    const int* start; // [rod_count + 1], see tdl_result_point_start
    double* radius;   // [rod_count], m: of the circle with the section's area
    long* frames;     // [frame_count]: the frames that were asked for
    int frame_count;
    int body_count;             // colliders, then rigid bodies
    Mesh* bodies;               // [body_count], each about its own origin
    BodyReach* reach;           // [body_count]
    int surface_count;          // whose vertices move
    TdlResultSurface* surfaces; // [surface_count]
    int* cloth_of;              // [surface_count] which of the cloths it is; -1: none
    TdlVec3 low, high;          // m: a box around all points of some of these frames
    // the frame that was loaded
    double time;       // s
    TdlVec3* points;   // [point_count]
    double* curvature; // [point_count], 1/m: of the circle through a point and its neighbours
    TdlVec3 *forces, *moments; // [point_count], see tdl_result_read_forces; 0 where it has none
    const TdlResultContact* contacts; // [contact_count], of the step before; may be none
    int contact_count;
    TdlResultJointState* joints;        // [joint_count]
    TdlResultGrains grains;             // of one that has some
    const TdlResultParticle* particles; // [particle_count]
    int particle_count;
    TdlPose* poses;          // [body_count]
    Mesh* sheets;            // [surface_count] the surfaces, in the world
    TdlVec3* surface_points; // [surface_point_count]
    double* strains;         // [surface_point_count] of the cloths; else 0
    double* scratch;         // [cloth_point_count]
} FrameReader;

// Opens the operand of a command and chooses frames by its option --frames, or `fallback` when that
// is not given. Says what is wrong and returns an exit code; frame_reader_close accepts what is
// half open.
int frame_reader_open(const Args* args, const char* fallback, FrameReader* reader);
void frame_reader_close(FrameReader* reader);

// Reads frame reader->frames[index].
TdlStatus frame_reader_load(FrameReader* reader, int index);

// Whether there are contacts in any of the frames.
TdlStatus frame_reader_touches(FrameReader* reader, bool* out);

// The radius that a particle is drawn with, m: those that are packed leave no holes.
double frame_reader_grain(const FrameReader* reader);

// Whether its particles lie in a plane of x and z, which is looked at from the front.
bool frame_reader_is_flat(const FrameReader* reader);

// The option --frames, for the tables of commands.
#define FRAMES_HELP                                                                                \
    "frames FIRST:LAST:STEP, from 0, negative from the end; a single number is one frame"

#endif
