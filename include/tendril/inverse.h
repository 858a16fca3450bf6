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
/// ends where the curve does. Points that coincide with their neighbour, to 1e-6 of the mean
/// distance, do not count. BAD_ARGUMENT when fewer than two are left (three of a closed curve),
/// when a coordinate is not finite or above 1e100 m, when the curve is shorter than 1e-100 m, or
/// when an option is out of its range.
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
/// The places of a strand's centreline at arc lengths at[count], m, that do not fall;
/// out[count]. Not for a `der`, nor are the functions below.
TDL_API TdlStatus tdl_strand_places(const TdlHost* host, const TdlStrand* strand, int count,
                                    const double* at, TdlVec3* out);

/// Lets a strand come to rest from the shape that it has, with the natural curvature given, under
/// gravity and its loads: curvature[] is the stable shape that it reaches. It goes downhill, but
/// not as a motion would. TDL_STATUS_DIVERGED, and a message, when it does not come to rest.
/// `curvature` may be the strand's own.
TDL_API TdlStatus tdl_strand_settle(const TdlHost* host, const TdlStrand* strand, TdlVec3 gravity,
                                    const TdlVec3* natural, TdlVec3* curvature);

// --- derivatives of a settled shape -------------------------------------------------------------

/// A direction in which all that a strand at rest depends on may change. Young's modulus: it is a
/// factor on the stiffness, so dK3/dE is K3 / E.
typedef struct TdlStrandChange {
    TdlVec3 stiffness;      // N m^2: of GJ, EI1, EI2; the natural curvature stays
    double line_density;    // kg/m
    TdlVec3 gravity;        // m/s^2
    TdlVec3 place;          // m, the clamp moves
    TdlVec3 turn;           // rad, the clamp turns: a rotation vector in world axes
    const TdlVec3* natural; // 1/m, as many as strand->curvature; null: it stays
    const TdlVec3* loads;   // N, [load_count]; null: they stay
} TdlStrandChange;

/// The rate at which the shape in which a strand rests (with the natural curvature of
/// tdl_strand_rest) follows a change: of its curvature, 1/m, in curvature_rate[], and of the places
/// at arc lengths at[count], which do not fall, in place_rate[count]. One solve with the Hessian,
/// in linear time. Either may be null. TDL_STATUS_DIVERGED, and a message, where the shape is not
/// stable or is within 1e-9 of giving way: there is no derivative then.
/// docs/theory/inverse-poses.md
TDL_API TdlStatus tdl_strand_rates(const TdlHost* host, const TdlStrand* strand, TdlVec3 gravity,
                                   const TdlStrandChange* change, TdlVec3* curvature_rate,
                                   int count, const double* at, TdlVec3* place_rate);

/// The derivatives of one number by all that a strand depends on. Arrays are the caller's; null:
/// they are not told.
typedef struct TdlStrandGradient {
    TdlVec3 stiffness; // by GJ, EI1, EI2; by Young's modulus: its product with K3 / E
    double line_density;
    TdlVec3 gravity;
    TdlVec3 place, turn; // of the clamp
    TdlVec3* natural;    // by the natural curvature, as many as strand->curvature
    TdlVec3* loads;      // [load_count]
} TdlStrandGradient;

/// A number that depends on the shape of a strand: its derivatives by the curvature,
/// by_curvature[], and by places of the centreline, each a load whose `force` is the derivative by
/// the place at `at`; these do not fall. Either may be null. One solve tells its derivatives by all
/// that the strand depends on, in linear time; those by loads take a pass each. Refused as
/// tdl_strand_rates.
TDL_API TdlStatus tdl_strand_adjoint(const TdlHost* host, const TdlStrand* strand, TdlVec3 gravity,
                                     const TdlVec3* by_curvature, const TdlRodLoad* by_place,
                                     int place_count, TdlStrandGradient* out);

// --- stiffness from poses -----------------------------------------------------------------------

/// What poses of a fibre tell about its stiffness: GJ, EI1, EI2. A number that is not known, since
/// three times its standard deviation is more than itself, is NaN.
typedef struct TdlPoseStiffness {
    bool known[3];
    TdlVec3 stiffness; // N m^2
    TdlVec3 error;     // N m^2, standard deviations
    double noise;      // m, of places, in each coordinate: as given, or as what is left says (of
                       // curves, where that is more)
    double residual;   // m, root mean square of what is left
    double length;     // m, of the fibre
} TdlPoseStiffness;

/// Stiffness from two or more shapes, in all coordinates of a super-helix or super-clothoid of at
/// most 200 elements, in which one fibre, whose natural curvature is not known, rests clamped under
/// different gravity or loads. The `stiffness` of the poses does not count; model, elements, length
/// and density are the same in all, and the material frame is part of the shape. Weights are those
/// of shapes found by joints whose places are known to `noise` (m; 0: as what is left says) and
/// whose frames as two of them tell a direction. With `isotropic` both bendings are one.
/// BAD_ARGUMENT when a pose makes no sense. docs/theory/inverse-poses.md
TDL_API TdlStatus tdl_poses_stiffness(const TdlHost* host, const TdlStrand* poses,
                                      const TdlVec3* gravity, int count, bool isotropic,
                                      double noise, TdlPoseStiffness* out);

/// The centreline of a fibre at rest, from its clamp to its free end, by eight points or more.
typedef struct TdlCurvePose {
    const TdlVec3* points; // [count] m
    int count;
    TdlVec3 gravity;   // m/s^2
    TdlVec3 end_force; // N, on its free end
} TdlCurvePose;

typedef struct TdlCurvePoseOptions {
    const char* model;   // "super-helix" or "super-clothoid", default
    int element_count;   // 2 to 200; default 20
    double line_density; // kg/m, >= 0; default 0: then forces on the end must tell
    double noise;        // m, of the points, in each coordinate; default 0: as they themselves say
    bool own_clamps;     // directions and spins of the clamp differ from pose to pose; default
                         // false: the clamp holds in the same direction in all poses
} TdlCurvePoseOptions;
TDL_API TdlCurvePoseOptions tdl_curve_pose_options_default(void);

/// Stiffness of an isotropic fibre (EI1 = EI2) from its centrelines alone in two to 16 poses: of
/// all natural shapes and stiffnesses those are told whose rests lie nearest to the points. The
/// frame is part of what is found; a natural twist is not, as that of an isotropic fibre does
/// nothing. TDL_STATUS_DIVERGED where no rest comes near; BAD_ARGUMENT, with a message, where a
/// pose makes no sense or has too few points for so many elements.
TDL_API TdlStatus tdl_curves_stiffness(const TdlHost* host, const TdlCurvePose* poses, int count,
                                       const TdlCurvePoseOptions* options, TdlPoseStiffness* out);

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
    bool stiffen; // raises the stiffness (Young's modulus) of rods until all is stable; default
                  // false
    bool keep_guess; // the guess stays as it is also where that is not stable; default false: it
                     // then moves towards 0
    const TdlBodyId* rods; // [rod_count] those that are to rest, which are found; others count as
    int rod_count;         // if they stood still; default null: all
} TdlInverseOptions;
TDL_API TdlInverseOptions tdl_inverse_options_default(void);

/// To this part of the radius gaps are known of curves that were drawn or measured: their `reach`.
#define TDL_CAPTURED_REACH 0.2

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

/// Gives the rods of a world the natural curvature with which its present shape is an equilibrium
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
