// Markers: points of the things of a scene that a recording follows, and such recordings as .csv.
#ifndef TDL_FIT_MARKERS_H
#define TDL_FIT_MARKERS_H

#include "tendril/cloth.h"
#include "tendril/io.h"
#include "tendril/tendril.h"

#include <stdio.h>

enum { MARKER_NAME_SIZE = 128, MARKER_FAULT_SIZE = 400 };

typedef struct MarkerKind MarkerKind;

// A point of a thing, written
//     towel:12          vertex 12 of a cloth, from 0
//     towel@0.1 0 1     the point of a cloth that is nearest to a place at the start
//     curl@0.25         the point of a rod at an arc length
//     curl:3.5          the middle of its element 3, from 0
//     die  die@0.01 0 0 the origin of a rigid body, a point of its frame
// where ropes[2] is copy 2, from 0, of what is repeated.
typedef struct Marker {
    char name[MARKER_NAME_SIZE];
    const MarkerKind* kind;
    int index;         // of the thing, among those of its kind in the world
    double at;         // m, arc length of a rod
    TdlVec3 point;     // m, in the frame of a rigid body
    int vertices[3];   // of a cloth
    double weights[3]; // of these; their sum is 1
    double mass;       // kg of the thing for which it stands: its weight in (G.2)
} Marker;

typedef struct MarkerSet {
    Marker* items; // [count]
    int count;
    TdlVec3* vertices; // [vertex_count] room for those of the largest cloth
    int vertex_count;
} MarkerSet;

typedef enum MarkerAnswer { MARKER_FOUND = 0, MARKER_UNKNOWN, MARKER_WRONG } MarkerAnswer;

// Finds the point that `place` says, in a world as it is at its start, and adds it as `name`.
// Otherwise `fault` tells why: UNKNOWN where nothing in the scene has the name.
MarkerAnswer markers_add(MarkerSet* set, const TdlScene* scene, TdlWorld* world, const char* name,
                         const char* place, char fault[MARKER_FAULT_SIZE]);

// Adds all there are: vertices of cloths that are not held, ends of the elements of rods, origins
// of rigid bodies. False when memory is short.
bool markers_add_all(MarkerSet* set, const TdlScene* scene, TdlWorld* world);

// Gives each the mass of what is nearer to it than to others on the same thing.
void markers_weigh(MarkerSet* set, const TdlWorld* world);

// Where they are now: out[count].
void markers_locate(MarkerSet* set, const TdlWorld* world, TdlVec3* out);
void markers_free(MarkerSet* set);

// --- recordings ----------------------------------------------------------------------------------

// Places of markers over time; NaN where one was lost.
typedef struct Tracks {
    char (*names)[MARKER_NAME_SIZE]; // [marker_count]
    int marker_count;
    double* times; // [moment_count], s, they grow
    int moment_count;
    TdlVec3* places; // [moment_count * marker_count], m, moment by moment
} Tracks;

// Reads a .csv: names in the first line, `time` and NAME.x, NAME.y, NAME.z of each marker, others
// are passed over; then a line a moment, where a field that is empty or nan tells that a marker was
// lost. Says what is wrong in `messages`, with file, line and column, and returns an
// exit code.
int tracks_read(FILE* in, const char* name, FILE* messages, Tracks* out);
bool tracks_create(int marker_count, int moment_count, Tracks* out); // all lost, at time 0
bool tracks_write(const Tracks* tracks, FILE* out);
void tracks_free(Tracks* tracks);

// Adds noise of a standard deviation (m) to each coordinate, and loses a share of the places, a
// marker for five moments in a row on the mean. The same for the same seed.
void tracks_spoil(Tracks* tracks, double noise, double lost, unsigned seed);

// How many places are lost.
long tracks_lost(const Tracks* tracks);

#endif
