// Files beside scenes: frictional contact problems, curves, strands. Formulas as text. Part of
// libtendril_io.
#ifndef TENDRIL_FORMATS_H
#define TENDRIL_FORMATS_H

#include "tendril/collider.h"
#include "tendril/friction.h"
#include "tendril/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Reads a problem from a file: Siconos' text (local or global), FCLIB HDF5 (`fclib_local` or
/// `fclib_global`), or bodies with their rows (`tendril_bodies`, docs/problems.md), told apart by
/// content. Those of dimension 2 become problems of dimension 3 whose third direction moves nothing
/// (docs/theory/friction.md). A guess that the file has is with the laws of the problem. A global
/// problem (M v = f + H r, u = H' v + w) becomes one in velocity space, or an explicit one where a
/// contact moves more than two bodies. A file that is wrong in any way gives TDL_STATUS_BAD_INPUT
/// and one message with file and place.
TDL_API TdlStatus tdl_friction_problem_read(const TdlHost* host, const char* path,
                                            TdlFrictionProblem** out);

/// Writes a problem. Where the path ends in .hdf5 or .h5 one in velocity space is written as it is,
/// with the guess (null: the problem's own, if it has one): reading it gives the same problem to
/// the last bit. Where it ends in .fclib.hdf5 or .fclib.h5, or W is explicit, as FCLIB's local
/// problem; any other name is Siconos' text. Of these two numbers keep all digits, but bilateral
/// contacts and infinite mu have no place in them and are refused, a prescribed normal velocity is
/// folded into b, and the guess is left out.
TDL_API TdlStatus tdl_friction_problem_write(const TdlHost* host, const char* path,
                                             const TdlFrictionProblem* problem,
                                             const double* guess);

/// An implicit surface from an expression in x, y and z, such as "z - 0.1*sin(20*x)": numbers, pi,
/// + - * / ^ (to a constant power), parentheses, sin, cos, exp, sqrt, abs, min, max. Sets the
/// functions and the data of `out`; tdl_implicit_free gives the data back. What is wrong in it is
/// told with its place: TDL_STATUS_BAD_INPUT.
TDL_API TdlStatus tdl_implicit_parse(const TdlHost* host, const char* text, TdlImplicit* out);
TDL_API void tdl_implicit_free(const TdlHost* host, TdlImplicit* implicit);

/// A function of the time from expressions in t, one for each number of its two vectors (null: 0),
/// such as "0.1*sin(2*pi*5*t)": as above, and tan, tanh, log, floor; step(x), 1 from x = 0 on;
/// ramp(x) and smooth(x), from 0 at x = 0 to 1 at x = 1, evenly or as between keyframes, and still
/// beyond. Given back by tdl_time_fn_free. What is wrong is told with its place:
/// TDL_STATUS_BAD_INPUT.
TDL_API TdlStatus tdl_time_fn_parse(const TdlHost* host, const char* const text[6], TdlTimeFn* out);

/// The points of curves, one curve after the other.
typedef struct TdlCurves {
    TdlVec3* points; // [start[count]]
    int* start;      // [count + 1]
    int count;
} TdlCurves;

/// Reads curves from a file of another program: Cem Yuksel's .hair, polylines of Wavefront's .obj,
/// or .csv with columns x, y, z and `curve`, by the ending of the path. Each has two points or
/// more; coordinates are as in the file. The arrays are one's own until tdl_curves_free. What is
/// wrong in the file is told with its place: TDL_STATUS_BAD_INPUT.
TDL_API TdlStatus tdl_curves_read(const TdlHost* host, const char* path, TdlCurves* out);
TDL_API void tdl_curves_free(const TdlHost* host, TdlCurves* curves);

/// Rods of one model as shapes: what a scene says of each, but its section and its material.
typedef struct TdlStrands {
    char model[32];             // one of tdl_rod_models()
    int count;                  // 0 to 1e6
    int* element_count;         // [count]
    double* length;             // [count] m, 1e-9 to 1e9
    TdlPose* start;             // [count] place and material frame of the start
    double* stiffening;         // [count] factor on Young's modulus, as TdlRodDef has it
    TdlVec3* curvature;         // 1/m, one strand after the other: element_count of each, of a
    TdlVec3* natural_curvature; // super-clothoid one more
} TdlStrands;

/// The rods given, as they are now. The arrays are one's own until tdl_strands_free. Refused:
/// TDL_STATUS_BAD_ARGUMENT, where they are not rods of one model.
TDL_API TdlStatus tdl_strands_from_world(const TdlHost* host, const TdlWorld* world,
                                         const TdlBodyId* rods, int count, TdlStrands* out);

/// Writes strands as HDF5 (docs/inverse.md), whatever the path is called; scenes take them from
/// paths that end in .h5 or .hdf5. The same strands give the same bytes.
TDL_API TdlStatus tdl_strands_write(const TdlHost* host, const char* path,
                                    const TdlStrands* strands);

/// Reads them again, to the last bit. A file that is wrong in any way gives TDL_STATUS_BAD_INPUT
/// and one message with its name.
TDL_API TdlStatus tdl_strands_read(const TdlHost* host, const char* path, TdlStrands* out);
TDL_API void tdl_strands_free(const TdlHost* host, TdlStrands* strands);

#ifdef __cplusplus
}
#endif

#endif
