// Recordings of the narrow phase: of which pairs of curves, or of curve and plane, a run asked the
// distance, and up to which gap. The file is described in docs/detection.md.
#ifndef TENDRIL_TRACE_H
#define TENDRIL_TRACE_H

#include "tendril/detect.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TdlTraceWriter TdlTraceWriter;

/// A new file at `path`, or an old one overwritten.
TDL_API TdlStatus tdl_trace_writer_create(const TdlHost* host, const char* path,
                                          TdlTraceWriter** out);

/// Adds the pairs of the detector's last update, whose curves and colliders must still be there: of
/// elements, then of elements and colliders. A sphere is a curve of no length, a capsule a segment,
/// a cylinder the part of its axis abreast of the element. Curves of a user's own kind cannot be
/// written: their pairs are left out. After a failure nothing more is written, and the same status
/// is returned.
TDL_API TdlStatus tdl_trace_writer_add(TdlTraceWriter* writer, const TdlDetector* detector,
                                       long step);

/// Closes the file and frees the writer; `calls` (may be null) receives how many pairs it has.
TDL_API TdlStatus tdl_trace_writer_close(TdlTraceWriter* writer, long* calls);

/// A plane, or a plate: its disc.
typedef struct TdlTracePlane {
    TdlVec3 point, normal; // of the plane; in the middle of the disc
    double disc;           // m, radius of the disc; 0: a plane without end
    double rim;            // m, how far below the disc a curve may be
} TdlTracePlane;

typedef struct TdlTraceCall {
    int a, b;     // of TdlTrace.curves; a plane is b = -1 - its number in TdlTrace.planes
    double bound; // m, gap up to which the pair was asked for
    long step;
} TdlTraceCall;

typedef struct TdlTrace {
    TdlAllocator mem;
    int curve_count;
    TdlCurve* curves;
    int plane_count;
    TdlTracePlane* planes;
    int call_count;
    TdlTraceCall* calls; // in the order in which they were made
} TdlTrace;

/// Reads a file of at most 2 GB. What is not as described is refused with its place in the file.
TDL_API TdlStatus tdl_trace_load(const TdlHost* host, const char* path, TdlTrace* out);

TDL_API void tdl_trace_free(TdlTrace* trace);

#ifdef __cplusplus
}
#endif

#endif
