// Continuous collision detection: whether, and when, a moving vertex meets a moving triangle or
// two moving edges meet, all vertices moving on straight lines. docs/theory/ccd.md
#ifndef TENDRIL_CCD_H
#define TENDRIL_CCD_H

#include "tendril/base.h"
#include "tendril/math.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TdlCcdKind {
    TDL_CCD_VERTEX_FACE = 0, // points: v, f0, f1, f2
    TDL_CCD_EDGE_EDGE,       // points: a0, a1, b0, b1
} TdlCcdKind;

/// One question. The contact sought is
///   vertex-face: v(t) = (1 - u - v) f0(t) + u f1(t) + v f2(t), u, v >= 0, u + v <= 1
///   edge-edge: (1 - u) a0(t) + u a1(t) = (1 - v) b0(t) + v b1(t), u, v in [0, 1]
typedef struct TdlCcdQuery {
    TdlCcdKind kind;
    TdlVec3 start[4]; // m, at t = 0
    TdlVec3 end[4];   // m, at t = 1
} TdlCcdQuery;

typedef enum TdlCcdMethod {
    TDL_CCD_CONTRACT = 0, // boxes contracted by linear bounds, best time first; conservative
    TDL_CCD_BISECT,       // boxes bisected level by level, as published; conservative
    TDL_CCD_INTERVAL,     // bisection with natural interval arithmetic; conservative, slow
    TDL_CCD_UNIVARIATE,   // intervals of the coplanarity cubic in time; conservative, crude
    TDL_CCD_CUBIC,        // floating-point roots of that cubic; misses collisions
    TDL_CCD_PARITY,       // parity of the roots by exact ray casting; misses even numbers
    TDL_CCD_SEXTIC,       // floating-point roots of the distance polynomials; misses collisions
    TDL_CCD_EXACT,        // rational arithmetic; decides, slowly. Separation 0 only
    TDL_CCD_METHOD_COUNT,
} TdlCcdMethod;

typedef enum TdlCcdNorm {
    TDL_CCD_NORM_MAX = 0, // separation measured by the largest coordinate
    TDL_CCD_NORM_EUCLID,  // separation measured as a distance
} TdlCcdNorm;

typedef struct TdlCcdOptions {
    TdlCcdMethod method;   // default TDL_CCD_CONTRACT
    TdlCcdNorm norm;       // default TDL_CCD_NORM_MAX
    double min_separation; // m, >= 0: nearer than this counts as a collision; default 0
    double tolerance;      // m, >= 0: accuracy at which a search may stop; default 1e-6
    double max_time;       // in [0, 1]: only [0, max_time] is searched; default 1
    int max_checks;    // boxes after which the search stops, conservatively; default 0: 3000 for
                       // TDL_CCD_CONTRACT, a million for the others
    int refine_checks; // boxes spent, once the tolerance is reached, on showing that there is
                       // no collision after all; default 64; TDL_CCD_CONTRACT only
    bool scalar;       // forbid the SIMD version: same bits, slower; default false
} TdlCcdOptions;

typedef struct TdlCcdResult {
    bool collision;
    bool limited;     // max_checks was reached
    int boxes;        // boxes checked
    double time;      // no contact before this time; infinity when there is none at all
    double tolerance; // m, reached: at `time`, u, v the parts are this near beyond separation
    double u, v;      // where
} TdlCcdResult;

TDL_API TdlCcdOptions tdl_ccd_options_default(void);

/// The name of a method as the command spells it, and back; null and false when there is none.
TDL_API const char* tdl_ccd_method_name(TdlCcdMethod method);
TDL_API bool tdl_ccd_method_from_name(const char* name, TdlCcdMethod* out);

/// Answers one question without allocating (the exact methods allocate through GMP). Bad argument:
/// a coordinate or option that is NaN or infinite, or an option out of its range.
TDL_API TdlStatus tdl_ccd_query(const TdlCcdQuery* query, const TdlCcdOptions* options,
                                TdlCcdResult* result);

/// Answers many, on `thread_count` threads (0: one per processor). The results do not depend on
/// the number. `seconds`, when not null, receives the wall time of each query.
TDL_API TdlStatus tdl_ccd_batch(const TdlHost* host, const TdlCcdQuery* queries, int count,
                                const TdlCcdOptions* options, int thread_count,
                                TdlCcdResult* results, double* seconds);

/// The benchmark's file: eight rows a query, each `xn,xd,yn,yd,zn,zd,truth`.
typedef struct TdlCcdFile {
    int count;
    TdlCcdQuery* queries; // [count]
    bool* truth;          // [count]
    TdlAllocator mem;
} TdlCcdFile;

/// Reads a file; each quotient must be exactly a double. The log names the line of an error.
TDL_API TdlStatus tdl_ccd_file_read(const TdlHost* host, const char* path, TdlCcdKind kind,
                                    TdlCcdFile* out);
TDL_API void tdl_ccd_file_free(TdlCcdFile* file);

/// Appends one query to a file of the benchmark's format. False when writing failed.
TDL_API bool tdl_ccd_query_write(FILE* file, const TdlCcdQuery* query, bool truth);

/// A moving mesh or set of polylines. Edges alone make a polyline; triangles bring their edges
/// only if these are listed too.
typedef struct TdlCcdMesh {
    int vertex_count, edge_count, triangle_count;
    const double* start;  // [3 vertex_count] m
    const double* end;    // [3 vertex_count] m
    const int* edges;     // [2 edge_count]
    const int* triangles; // [3 triangle_count]
} TdlCcdMesh;

/// A pair that may touch: vertex `a` and triangle `b`, or edges a < b.
typedef struct TdlCcdPair {
    TdlCcdKind kind;
    int a, b;
} TdlCcdPair;

typedef struct TdlCcdContact {
    TdlCcdPair pair;
    TdlCcdResult result;
} TdlCcdContact;

/// Lists that grow; start from zeroed structs, free with tdl_ccd_set_free.
typedef struct TdlCcdSet {
    int count, capacity;
    TdlCcdContact* contacts; // [count], sorted by kind, a, b
    TdlAllocator mem;
} TdlCcdSet;

/// The pairs whose swept boxes, grown by `margin`, overlap; pairs that share a vertex are left
/// out. Results are not tested: `result` is zero.
TDL_API TdlStatus tdl_ccd_candidates(const TdlHost* host, const TdlCcdMesh* mesh, double margin,
                                     TdlCcdSet* out);
/// The candidates that collide, with their times.
TDL_API TdlStatus tdl_ccd_active_set(const TdlHost* host, const TdlCcdMesh* mesh,
                                     const TdlCcdOptions* options, int thread_count,
                                     TdlCcdSet* out);
TDL_API void tdl_ccd_set_free(TdlCcdSet* set);

/// The query of one pair of a mesh.
TDL_API TdlCcdQuery tdl_ccd_mesh_query(const TdlCcdMesh* mesh, TdlCcdPair pair);

/// The longest step in [0, 1] such that the mesh moved by it along start + step (end - start)
/// keeps, for each pair, the share `keep` (in (0, 1)) of its present Euclidean distance, or the
/// tolerance where that is less. Repeated steps approach contact without reaching it. The step is 0
/// only when the mesh touches itself already, up to rounding (about 1e-12 of the motion).
typedef struct TdlCcdStep {
    double step;
    double distance;  // m, smallest distance over the candidates at the start
    double tolerance; // m, largest reached
    double keep;      // the fraction really kept; halved when the tolerance asked for it
    int candidates;
    int first; // index in the pair's order of the pair that bounds the step; -1 when none does
} TdlCcdStep;
TDL_API TdlStatus tdl_ccd_max_step(const TdlHost* host, const TdlCcdMesh* mesh, double keep,
                                   const TdlCcdOptions* options, int thread_count, TdlCcdStep* out);

/// Backtracking line search: the largest of step, step/2, ... that lowers the energy, never
/// beyond tdl_ccd_max_step. `energy` is called with positions [3 vertex_count]. Step 0 when none
/// above `min_step` does.
typedef double (*TdlCcdEnergyFn)(void* user, const double* positions);
TDL_API TdlStatus tdl_ccd_line_search(const TdlHost* host, const TdlCcdMesh* mesh, double keep,
                                      const TdlCcdOptions* options, int thread_count,
                                      double min_step, TdlCcdEnergyFn energy, void* user,
                                      TdlCcdStep* out);

#ifdef __cplusplus
}
#endif

#endif
