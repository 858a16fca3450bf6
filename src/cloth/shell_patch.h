// A shell patch: an inextensible rectangle of uniform curvature, clamped at a corner. Its two
// coordinates z are the curvature k and the angle of the direction in which it bends.
// docs/theory/shell.md
#ifndef TDL_CLOTH_SHELL_PATCH_H
#define TDL_CLOTH_SHELL_PATCH_H

#include "tendril/shell.h"

// What a step changes.
typedef struct ShellState {
    double z[2], before[2], v[2]; // where it is, the shape that v belongs to, rates
} ShellState;

// A symmetric 2 x 2 matrix over (k, angle).
typedef struct ShellMatrix {
    double kk, ka, aa;
} ShellMatrix;

// A potential with its slope and second derivatives along (k, angle).
typedef struct ShellPotential {
    double value, slope[2];
    ShellMatrix curve;
} ShellPotential;

typedef struct ShellPatch {
    TdlShellPatchDef def;
    double area_mass, stiffness; // kg/m^2, N m
    double flat_inertia;         // kg m^2, of the angle (S.14)
    ShellState now;
    double free[2];            // v of the step
    double damping, numerical; // J, of the last step
} ShellPatch;

typedef struct ShellStep {
    double dt, settling; // s, 1/s
    TdlVec3 gravity;
} ShellStep;

// Of a definition without fault.
void shell_init(ShellPatch* patch, const TdlShellPatchDef* def);

// A point of the patch, (u, v) in metres from the corner, in the clamp's axes; what it moves by
// when k and the angle do; null: not asked for. (S.5), (S.7)
TdlVec3 shell_point(const double z[2], double u, double v, TdlVec3 rate[2]);

// Angle by which the patch turns from edge to edge at most, rad.
double shell_turning(const ShellPatch* patch, const double z[2]);
bool shell_turns_too_far(const ShellPatch* patch, const double z[2]);

// Of bending, and of weight from the flat patch.
ShellPotential shell_elastic(const ShellPatch* patch, const double z[2]);                 // (S.9)
ShellPotential shell_weight(const ShellPatch* patch, TdlVec3 gravity, const double z[2]); // (S.11)

// Integral of rho B(z)' B(y): entry [2 i + j] of rates i at z and j at y, without what the angle
// has in flat patches. (S.13)
void shell_mass(const ShellPatch* patch, const double z[2], const double y[2], double out[4]);

// Into `free` the rates of the step, with its losses; false: it found none. (S.16)
bool shell_predict(ShellPatch* patch, const ShellStep* step);
void shell_advance(ShellPatch* patch, double dt);

// Goes to where elastic and weight are least, downhill from here. `residual` is relative to the
// weight's work over the patch. False: it does not get there.
bool shell_settle(ShellPatch* patch, TdlVec3 gravity, double* residual);

// Kinetic, elastic and of weight, J.
TdlEnergy shell_energy(const ShellPatch* patch, TdlVec3 gravity);
TdlVec3 shell_centre(const ShellPatch* patch);

#endif
