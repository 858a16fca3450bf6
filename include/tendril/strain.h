// Rows of strain: the step of a continuum that flows by the law of Drucker and Prager, solved
// exactly, for a code of one's own with nodes that carry lumped masses (a material point method, or
// finite elements). Grains of a world (grains.h) are solved by the same. docs/theory/granular.md
//
// Row j belongs to one stress. With g_ji = sum_p V_p N_j(x_p) grad N_i(x_p) over what carries the
// material, and chi of friction.md (F.61), it is Coulomb's law in d = 3 components in the plane, or
// 6 in space:
//     u_j = 2 chi^-1(sym sum_i v_i x g_ji) + b_j n,   m_i dv_i = chi(r_j) g_ji,   (u_j, r_j) in C.
#ifndef TENDRIL_STRAIN_H
#define TENDRIL_STRAIN_H

#include "tendril/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A step's problem. The arrays are not copied.
typedef struct TdlStrainDef {
    int dimension;          // 2, the plane of x and z, or 3
    int node_count;         // >= 0
    const double* mass;     // [node_count] kg, > 0
    const double* velocity; // [3 node_count] m/s, without stress: gravity has acted for the step
    int row_count;          // >= 0
    int near;               // nodes of a row, at most: 4 or 9 in the plane, 8 or 27 in space
    const int* node;        // [row_count near] all different in a row, -1: none
    const double* g;        // [row_count near dimension] m^2, or m in the plane
    const double* mu;       // [row_count] of the cone: the material's times (2/dimension)^(1/2);
                            // 0 to INFINITY
    const double* bias;     // [row_count] b, m^3/s; null: 0
    const int* colour;      // [colour_count + 1] first rows of colours: rows of one have no node in
    int colour_count;       // common
} TdlStrainDef;

typedef struct TdlStrainInfo {
    bool converged;
    int iterations; // sweeps and Newton steps
    double error;   // natural, relative to |u| at r = 0, of rows with a mean diagonal of W of 1
    double work;    // multiplications, counted roughly
} TdlStrainInfo;

/// A solver keeps its memory and threads between solves.
typedef struct TdlStrainSolver TdlStrainSolver;
/// `threads`: 1 to 1024, 0: one per processor. The results are the same for any number.
TDL_API TdlStatus tdl_strain_solver_create(const TdlHost* host, int threads, TdlStrainSolver** out);
TDL_API void tdl_strain_solver_destroy(TdlStrainSolver* solver);

/// Solves to a relative error of `tolerance`, or the best within so many sweeps and
/// multiplications. `impulse` [row_count d], Pa s, holds the guess (zero, or what the last step
/// found) and receives the result; `velocity` [3 node_count] receives that of nodes.
TDL_API TdlStatus tdl_strain_solve(TdlStrainSolver* solver, const TdlStrainDef* def,
                                   double tolerance, int max_iterations, double allowed,
                                   double* impulse, double* velocity, TdlStrainInfo* info);

#ifdef __cplusplus
}
#endif

#endif
