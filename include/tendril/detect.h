// Detection: the distance between two curves, and the contacts of many.
#ifndef TENDRIL_DETECT_H
#define TENDRIL_DETECT_H

#include "tendril/collider.h"
#include "tendril/curve.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- distance -----------------------------------------------------------------------------------

typedef enum TdlDistanceMethod {
    TDL_DISTANCE_FAST = 0, // branch and bound with certificates that end it early
    TDL_DISTANCE_PLAIN,    // branch and bound alone: the reference
    TDL_DISTANCE_SEGMENTS, // polylines whose segments are at most `tolerance` long, in trees
    TDL_DISTANCE_PROXY,    // polylines of `proxy_segments` segments
} TdlDistanceMethod;

typedef struct TdlDistanceDef {
    TdlDistanceMethod method;
    double bound;       // m, look no further: the gap is wanted only when below; default infinity
    double tolerance;   // in the curves' parameters, > 0; default 1e-12
    long box_limit;     // > 0: give up certifying after so many boxes; default 200000
    int proxy_segments; // per curve, for the proxy; default 8
    double meeting;     // share of the radii: of minima, where centrelines of constant radii come
                        // nearer than that, none is looked for after the second; default 1e-6
} TdlDistanceDef;

TDL_API TdlDistanceDef tdl_distance_def_default(void);

/// The gap is the distance between centrelines less the two radii there. With radii that vary the
/// gap is minimised, else the distance, which is the same.
typedef struct TdlDistance {
    bool below;      // a gap below the bound was found; else it is proved (when certified) that
                     // there is none, and the rest is not set
    bool certified;  // `gap` is the global minimum, to the tolerance; segments never certify
    double distance; // m, between the points
    double gap;      // m
    double s[2];     // where, on the first and the second curve
    TdlVec3 point[2];
    long boxes; // boxes or intervals looked at
} TdlDistance;

/// The sub-capsules of a curve, in single precision and rounded outwards: a first rejection that
/// costs less than looking at the curve.
typedef struct TdlCurveCapsules {
    float cx[8], cy[8], cz[8]; // centres
    float ux[8], uy[8], uz[8]; // half axes
    float radius[8];           // m, with the curve's own radius
    float reach;               // largest |u| + radius
    float error;               // what rounding may add to a coordinate
} TdlCurveCapsules;

TDL_API void tdl_curve_capsules(const TdlCurve* curve, TdlCurveCapsules* out);

/// The least gap between two curves. `capsules_a` and `capsules_b` may both be null.
TDL_API TdlStatus tdl_curve_distance(const TdlHost* host, const TdlCurve* a,
                                     const TdlCurveCapsules* capsules_a, const TdlCurve* b,
                                     const TdlCurveCapsules* capsules_b, const TdlDistanceDef* def,
                                     TdlDistance* out);

/// Every local minimum of the gap below def->bound (which must be finite), at most `capacity` of
/// them, nearest first, and with spacing > 0 also the points of the stretches along which the
/// curves run side by side closer than the bound: there, the parameters on b that are `offset` plus
/// a multiple of `spacing` each get their nearest point on a. Give `offset` minus the arc length at
/// which b starts on its rod, and the points of a whole rod are evenly spread, whatever its
/// elements. `count` receives how many there are, which may exceed `capacity`. `certified` (may be
/// null) tells whether the list is proved complete.
TDL_API TdlStatus tdl_curve_minima(const TdlHost* host, const TdlCurve* a, const TdlCurve* b,
                                   const TdlDistanceDef* def, double spacing, double offset,
                                   int capacity, TdlDistance* out, int* count, bool* certified);

/// The least gap between two chains of curves. `piece` receives the index of the curve on each
/// chain. The chains must not be empty.
TDL_API TdlStatus tdl_chain_distance(const TdlHost* host, const TdlCurve* a, int count_a,
                                     const TdlCurve* b, int count_b, const TdlDistanceDef* def,
                                     TdlDistance* out, int piece[2]);

// --- many fibres --------------------------------------------------------------------------------

typedef enum TdlBroadPhase {
    TDL_BROAD_TREE = 0, // a tree of capsules over pieces of elements (the faster one)
    TDL_BROAD_SWEEP,    // sorted boxes of elements along one axis
} TdlBroadPhase;

typedef struct TdlDetectorDef {
    TdlDistanceMethod method; // default TDL_DISTANCE_FAST
    double margin;            // m, >= 0: contacts are wanted up to this gap; default 0
    double tolerance;         // m, > 0; default 1e-12
    int proxy_segments;       // per element, for the proxy; default 8
    bool all_minima;          // every local minimum of a pair of elements, not only the least;
                              // default false
    double minima_share; // in [0, 1]: with all_minima, of two minima of a pair nearer along both
                         // elements than this share of them the lower stays: of curves that
                         // keep level, few; default 0
    bool obstacle_ends;  // elements also meet planes and round colliders with their ends
                         // within the margin: a bent one touches with its middle or with both,
                         // a flat one lies on both; and round ones in two places between, if
                         // their curvature changes; default false
    double spacing;      // m: with all_minima, spread points so far apart along stretches that
                         // run side by side; 0 (default): none
    bool self;           // contacts of a fibre with itself; default true
    double merge;        // m: of two contacts of the same two bodies nearer than this, the
                         // deeper stays; < 0: that many times the wider fibre's width, and of
                         // two fibres a fiftieth of the shorter element along both (with things
                         // that do not bend: the fibre's width, and theirs only among
                         // themselves); default -1
    TdlBroadPhase broad; // default TDL_BROAD_TREE
    int thread_count;    // 0: one per processor; default 1. Results do not depend on it
} TdlDetectorDef;

TDL_API TdlDetectorDef tdl_detector_def_default(void);

/// A fibre as detection sees it: its elements, end to end. The radius comes with the curves. A
/// rigid body or a part of a kinematic obstacle is one too; its elements need not join.
typedef struct TdlFibre {
    const TdlCurve* curves; // [count]; must stay until the update is over
    int count;
    TdlSeats seats;     // default none
    int pieces;         // curves that make an element of it, of which the seats are; 0 counts as 1
    const double* bore; // [2 count] m, of a tube: the radius of its bore at both ends of each
                        // curve, in which what is thinner touches it from inside; null: it has none
    bool stiff;         // never touches itself; stands on all its ends (see tdl_detector_update)
    bool fixed;         // kinematic: as stiff, and touches neither another fixed one nor a collider
} TdlFibre;

/// Two bodies that touch or nearly do. A collider counts as body -1 - index and comes second.
typedef struct TdlContact {
    int body[2];      // fibres, the lower first; or fibre and collider
    int element[2];   // 0 for a collider; of a mesh whose vertices move, the triangle
    double u[2];      // parameters on the elements; on a capsule, arc length from its start; on a
    double v[2];      // surface whose vertices move, u and v are shares of two corners; else 0
    TdlVec3 point[2]; // on the centrelines (of the collider: on its axis, centre or surface), m
    bool tube[2];     // it is touched inside its bore or at its mouth: its point is on its surface
    double gap;       // m, negative when they overlap
    TdlMat3 basis;    // columns: normal from the first to the second, two tangents
    int previous;     // the contact of the last update that it continues, or -1
} TdlContact;

typedef struct TdlDetectInfo {
    int contact_count;
    long pair_count;     // of elements (or element and collider) that reached the narrow phase
    long accepted_count; // of these, pairs with a gap below the margin
    bool certified;      // every pair was decided with proof
    double broad_seconds, narrow_seconds, finish_seconds; // wall time
} TdlDetectInfo;

typedef struct TdlDetector TdlDetector;

TDL_API TdlStatus tdl_detector_create(const TdlHost* host, const TdlDetectorDef* def,
                                      TdlDetector** out);
TDL_API void tdl_detector_destroy(TdlDetector* detector);

/// Finds the contacts between the fibres, of fibres with themselves, and with the colliders (whose
/// present pose is in the definition; their motion is not used). Of a plate only the disc counts;
/// its rim, combs and chains of curves are to be given as fixed fibres. A rigid fibre meets a plane
/// or a disc also with every end of an element within the margin, and straight elements of two
/// rigid fibres that lie side by side meet at both ends of the stretch: so that things can stand on
/// each other. The contacts are sorted by bodies and elements and stay valid until the next update.
/// On failure there are none.
TDL_API TdlStatus tdl_detector_update(TdlDetector* detector, const TdlFibre* fibres,
                                      int fibre_count, const TdlColliderDef* colliders,
                                      int collider_count, TdlDetectInfo* info);
TDL_API const TdlContact* tdl_detector_contacts(const TdlDetector* detector, int* count);

/// The pairs of elements that reached the narrow phase in the last update: fibre and element of
/// the first, then of the second.
TDL_API int tdl_detector_pair(const TdlDetector* detector, long index, int fibre[2],
                              int element[2]);

#ifdef __cplusplus
}
#endif

#endif
