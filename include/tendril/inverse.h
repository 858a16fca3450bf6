// Rods found from shapes: piecewise helices through given points, and the natural curvature with
// which a fibre rests in a given shape.
#ifndef TENDRIL_INVERSE_H
#define TENDRIL_INVERSE_H

#include "tendril/math.h"
#include "tendril/rod.h"
#include "tendril/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- a helix from its ends --------------------------------------------------------------------

/// A helix that turns by less than 2 pi. Its tangent turns by exp([turn]x) from start to end, and
/// so does any frame that a rod carries along it: R1 = exp([turn]x) R0, curvature = R0' turn /
/// length.
typedef struct TdlShortHelix {
    TdlVec3 turn;   // rad, the rotation vector of the whole helix, in world axes
    double length;  // m
    double miss;    // m, by how much d was moved along t1 - t0
    bool converged; // false: there is no such helix, or the input is not finite; turn may be zero
} TdlShortHelix;

/// The one short helix that begins with the tangent t0, ends with t1, and whose end lies d (m) from
/// its start. Tangents need not be of length 1. There is one when d is across t1 - t0: otherwise
/// d is moved along t1 - t0 until it is, by `miss`. Opposite tangents give half a circle; tangents
/// that are equal, to 1e-12, a straight piece when d is parallel to them and nothing otherwise.
TDL_API TdlShortHelix tdl_helix_between(TdlVec3 d, TdlVec3 t0, TdlVec3 t1);

// --- piecewise helices along a curve ----------------------------------------------------------

typedef enum TdlFitMethod {
    TDL_FIT_FLOATING = 0, // places and tangents of the nodes move: third order
    TDL_FIT_S4, // only places move; second order, and turns at inflections: to compare with
} TdlFitMethod;

typedef enum TdlSmoothing {
    TDL_SMOOTHING_NONE = 0,         // the curve goes through the points
    TDL_SMOOTHING_NOISE,            // it leaves them by `noise`
    TDL_SMOOTHING_CROSS_VALIDATION, // it leaves them by what the points themselves say
} TdlSmoothing;

typedef struct TdlFitOptions {
    TdlFitMethod method; // default TDL_FIT_FLOATING
    int element_count;   // elements, 1 or more; with a tolerance, the most. Default 1
    double tolerance;    // m; the fewest elements whose error is below it. Default 0: all of them
    TdlSmoothing smoothing; // default TDL_SMOOTHING_NONE
    double noise;           // m, root mean square distance of the points from the curve, above 0
    bool closed;            // the curve comes back to its first point. Default false
    bool least_squares; // look for a nearer rod where elements turn by more than 0.1 rad, in ten
                        // times the time. Default false; not for closed curves
} TdlFitOptions;

/// A fit of one element through the points, open.
TDL_API TdlFitOptions tdl_fit_options_default(void);

/// The rod whose centreline follows a polyline.
typedef struct TdlHelixFit {
    TdlPose start;   // place and material frame of the first point
    double length;   // m, of the rod; elements are equally long
    double error;    // m, the largest distance from the curve at the same part of the length
    double smoothed; // m, root mean square distance of the points from the curve
    double turning;  // rad, how far the tangent turns along the rod: the integral of the curvature
    int element_count; // as many curvatures were told
    int arc_count;     // elements whose helix would have turned too far: they are plain arcs
} TdlHelixFit;

/// Fits helices of equal length to a smooth curve through or near the points and tells their
/// curvatures, 1/m: (twist, k1, k2) in curvature[options->element_count]. An open rod starts and
/// ends where the curve does. Points that coincide with their neighbour do not count. BAD_ARGUMENT
/// when fewer than two are left (three of a closed curve), when one is not finite, or when an
/// option is out of its range.
TDL_API TdlStatus tdl_helix_fit(const TdlHost* host, const TdlVec3* points, int count,
                                const TdlFitOptions* options, TdlVec3* curvature, TdlHelixFit* out);

/// The same from points and tangents at the ends of the elements, which are options->element_count
/// pieces of a curve of the given length (m), equally long: [element_count + 1] of each. What is a
/// chain of short helices already is found as it is. Smoothing and tolerance must be off. The error
/// is the largest distance from the points given.
TDL_API TdlStatus tdl_helix_fit_samples(const TdlHost* host, const TdlVec3* points,
                                        const TdlVec3* tangents, double length,
                                        const TdlFitOptions* options, TdlVec3* curvature,
                                        TdlHelixFit* out);

/// The super-clothoid along a curve: curvature[element_count + 1] at the ends of its elements, in a
/// frame that does not twist, so that the curvatures join. Fourth order in the length of an
/// element. The method of the options does not matter; a tolerance and closed curves are refused.
TDL_API TdlStatus tdl_clothoid_fit(const TdlHost* host, const TdlVec3* points, int count,
                                   const TdlFitOptions* options, TdlVec3* curvature,
                                   TdlHelixFit* out);

// --- a fibre that rests in a given shape ------------------------------------------------------

/// A fibre clamped at its start and free at its end, in the shape in which it is to rest.
typedef struct TdlStrand {
    const char* model;        // "super-helix", "super-clothoid" or "der"
    TdlPose start;            // place and material frame of the clamp
    double length;            // m, > 0
    int element_count;        // 1 to 100000
    const TdlVec3* curvature; // 1/m; [element_count]; of a super-clothoid [element_count + 1], at
                              // its joints
    TdlVec3 stiffness;        // K3: GJ, EI1, EI2, N m^2; > 0
    double line_density;      // kg/m, >= 0
    double stretching;        // EA, N, of a "der": its edges are as much longer as it lets them;
                              // 0: they are not. The others do not stretch
    const TdlRodLoad* loads;  // [load_count] forces that keep their direction; without torques,
    int load_count;           // which have no potential
} TdlStrand;

/// The natural curvature, 1/m, with which a strand is in equilibrium in its shape under gravity
/// (m/s^2) and its loads; natural[] has as many as strand->curvature. It is what
/// TdlRodDef.natural_curvature_of takes. BAD_ARGUMENT, and the log says why, when the strand is
/// not as its fields ask for, or a `der` would need edges that turn by 3 rad.
TDL_API TdlStatus tdl_strand_rest(const TdlHost* host, const TdlStrand* strand, TdlVec3 gravity,
                                  TdlVec3* natural);
// --- framing -----------------------------------------------------------------------------------

/// The material frames at the joints of a piecewise helix whose elements turn by the rotation
/// vectors turns[element_count], rad, in the axes of the world; frames[element_count + 1]. And its
/// curvatures, 1/m, in curvature[element_count]. Either may be null.
TDL_API TdlStatus tdl_helix_frames(TdlMat3 start, const TdlVec3* turns, int element_count,
                                   double element_length, TdlMat3* frames, TdlVec3* curvature);

/// A centreline of which the material frame is sought: it is known in any frame that has the
/// tangent as its first axis. All arrays are told at places spread evenly from start to end.
typedef struct TdlFramingDef {
    double length;            // m
    int count;                // of places: odd, 3 or more
    const TdlVec3* reference; // [count] 1/m: (twist, k1, k2) of the known frame
    const TdlVec3* natural;   // [count] 1/m: natural curvature in the material frame
    TdlVec3 stiffness;        // N m^2, > 0: GJ, EI1, EI2
    double start;             // rad, from the known frame to the material one at the clamp
} TdlFramingDef;

/// One way in which the sections of a rod are in balance about its centreline.
typedef struct TdlFraming {
    double energy;    // J, elastic
    double residual;  // largest torque a length that is not balanced, over the largest there may be
    int saddle_count; // directions in which the energy falls; 0: it is a minimum
    int solution_count; // ways that were found
    bool complete;      // no other way was missed, as far as the places tell
} TdlFraming;

/// Finds the angle theta[count] from the known frame to the material one: (twist, k1, k2) turn by
/// it as in the theory's (V.82). Of several ways, `rank` 0 is the one with the least energy.
/// BAD_ARGUMENT when there are not that many, or the definition makes no sense.
TDL_API TdlStatus tdl_framing_solve(const TdlHost* host, const TdlFramingDef* def, int rank,
                                    double* theta, TdlFraming* out);

/// A centreline with its material frame, as a rod that is clamped at its start is to rest in.
typedef struct TdlFramedCurve {
    double length;            // m
    int count;                // of places, spread evenly from start to end; 2 or more
    const TdlPose* pose;      // [count] place and frame
    const TdlVec3* curvature; // [count] 1/m, of that frame
    TdlVec3 stiffness;        // N m^2, > 0: GJ, EI1, EI2
    double line_density;      // kg/m, >= 0
    const TdlRodLoad* loads;  // [load_count]
    int load_count;
} TdlFramedCurve;

/// The natural curvature at the places, natural[count], 1/m, with which the curve is in
/// equilibrium.
TDL_API TdlStatus tdl_curve_natural(const TdlFramedCurve* curve, TdlVec3 gravity, TdlVec3* natural);

/// Whether a strand stays in its shape, with the natural curvature of tdl_strand_rest.
typedef struct TdlStability {
    bool stable;         // least_factor < 1
    double least_factor; // stiffness, as a factor on K3, at which the shape is about to give way,
                         // exactly: softer, it leaves; stiffer, it stays. Below 1: stable as it is;
                         // 0: however soft
    double bound_factor; // the factor above which the smallest eigenvalues of stiffness and weight,
                         // each by itself, promise stability: never less than least_factor
    double least_eigenvalue; // smallest eigenvalue of the Hessian of the potential energy, over the
                             // smallest K3 / element length, as tdl_rod_stability tells of the
                             // super-models; of a `der` in rotations about its vertices
} TdlStability;

/// Tells it in time that is linear in the number of elements. BAD_ARGUMENT as tdl_strand_rest.
TDL_API TdlStatus tdl_strand_stability(const TdlHost* host, const TdlStrand* strand,
                                       TdlVec3 gravity, TdlStability* out);

/// The motion with which the shape gives way at its least factor (where that is 0: the one of the
/// least eigenvalue), as a change of curvature times element length, three numbers for each of
/// strand->curvature (for a `der`, rotations about its vertices, in the axes of the frame before),
/// of which the most turned section turns by 1 rad.
TDL_API TdlStatus tdl_strand_mode(const TdlHost* host, const TdlStrand* strand, TdlVec3 gravity,
                                  double* mode);

// --- a world whose rods rest in their present shapes -------------------------------------------

typedef struct TdlInverseOptions {
    bool contacts;   // rods lean on what they touch; default false: as if nothing touched
    double mu_share; // in (0, 1]: of the friction coefficient of each pair that forces may use, so
                     // that all that carry stick strictly; default 0.8
    double gamma;    // >= 0: what a force costs beside the bending that it saves, in units of the
                     // mean compliance of a contact; default 1e-5
    double guess; // in [0, 1], where the natural curvature is to be near: 0, everywhere as at the
                  // tip; 1, as the shape; default 0
    double reach; // m, >= 0: gap below which two things touch; default 1e-7, for shapes that were
                  // at rest; a fifth of the radius is good for shapes that were measured
    bool stiffen;    // raises the stiffness (Young's modulus) of rods until all is stable; default
                     // false
    bool keep_guess; // the guess stays as it is also where that is not stable; default false: it
                     // then moves towards 0
} TdlInverseOptions;
TDL_API TdlInverseOptions tdl_inverse_options_default(void);

/// What became of one rod. Factors are those on its stiffness at which it would be about to give
/// way, beside its neighbours that stay: below 1 it is stable as it is.
typedef struct TdlInverseStrand {
    TdlBodyId rod;
    double least_factor; // 0: stable however soft
    double bound_factor; // from the smallest eigenvalues of stiffness and load apart, never less
    bool stable;         // beside its neighbours
    double residual;     // largest generalised force that is left, over weight times length; NaN
                         // of a discrete elastic rod, whose edges are still to be stretched
    double stiffening;   // factor by which it was stiffened here; 1: it was not
} TdlInverseStrand;

typedef struct TdlInverseReport {
    int strand_count;
    TdlInverseStrand* strands; // [strand_count] the rods, in the order of the world
    int contact_count;         // that were found within reach
    int loaded_count;          // of these, that carry
    int sliding_count;       // of those, that do not stick strictly inside the cone of their pair:
                             // nothing is promised with them, and `stable` is false
    int free_count;          // of those, on bodies without natural curvature that are free to move,
                             // and counted as if they stood still: the same
    int overlap_count;       // pairs of bodies that overlap in the given shapes, which steps part:
                             // they will not rest in just these
    double deepest;          // m, by how much at most; 0: none does
    double contact_residual; // of the cone program, relative
    double largest_force;    // N, of a contact
    double guess;            // that was used
    bool stable;             // of all rods together
    double least_eigenvalue; // of the energy's second variation over the elastic one: 1 without
                             // loads, positive where all is stable
    double seconds;          // of wall time
} TdlInverseReport;

/// Gives every rod of a world the natural curvature with which its present shape is an equilibrium
/// at rest, and tells whether that is stable. All rods are clamped at their start, free at their
/// end and grow out of nothing; they are super-helices and super-clothoids, and without contacts
/// discrete elastic rods too. With contacts, forces in the cones are sought with which natural
/// curvatures are nearest to the guess in the elastic energy; the next step begins with them. Other
/// bodies count as if they stood still; the log names one that carries and is free to move. Bodies
/// that overlap are counted, and the deepest pair is named. TDL_STATUS_BAD_ARGUMENT where a rod is
/// not so, by name, or an option is out of range, and TDL_STATUS_DIVERGED where forces are not
/// found; then the world is as it was. `out` may be null; else tdl_inverse_report_free frees it.
/// docs/theory/inverse-contacts.md
TDL_API TdlStatus tdl_world_inverse(TdlWorld* world, const TdlInverseOptions* options,
                                    TdlInverseReport* out);
TDL_API void tdl_inverse_report_free(const TdlWorld* world, TdlInverseReport* report);

#ifdef __cplusplus
}
#endif

#endif
