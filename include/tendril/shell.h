// Shell patches: developable sheets of uniform curvature, clamped at a corner. They live in a world
// (world.h), and they touch nothing.
#ifndef TENDRIL_SHELL_H
#define TENDRIL_SHELL_H

#include "tendril/body.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A rectangle that neither stretches nor shears and whose curvature is the same everywhere: at any
/// time it is a piece of a circular cylinder. Its second fundamental form is b = k d d', with a
/// curvature k and a unit direction d in which it bends, at an angle from its first side.
/// docs/theory/shell.md
typedef struct TdlShellPatchDef {
    TdlPose pose;   // of the corner that is clamped: axes along the first and the second side, and
                    // the normal, towards which a positive curvature bends; default the world's
    double size[2]; // m, > 0: lengths of the two sides; default 0.2 and 0.1
    double thickness;  // m, > 0; default 1e-3. It tells mass and stiffness: there are no contacts
    double density;    // kg/m^3, > 0; default 1000
    double young;      // Pa, > 0; default 1e6
    double poisson;    // -1 < poisson <= 0.5; default 0.3
    double natural[3]; // 1/m: entries (1, 1), (1, 2) and (2, 2) of b without forces; it need not be
                       // developable, which the patch always is; default 0
    double damping;    // s, >= 0: moments grow by this time times their rate; default 0
    double mass_damping;     // 1/s, >= 0: a force against the velocity, over mass; default 0
    double curvature, angle; // 1/m, rad, k and the angle of d at first; curvature NaN (default):
                             // the natural ones, or the nearest of a b that is not developable
    int nodes[2];            // 2 to 1000: vertices along the sides; default 21 and 11
} TdlShellPatchDef;

TDL_API TdlShellPatchDef tdl_shell_patch_def_default(void);

/// The first thing that is wrong with a definition; null: nothing. Over the diagonal a patch turns
/// by 50 rad at most, at first and by its nature; and a step in which it would turn more fails.
TDL_API const char* tdl_shell_patch_def_fault(const TdlShellPatchDef* def);

TDL_API TdlStatus tdl_world_add_shell_patch(TdlWorld* world, const TdlShellPatchDef* def,
                                            TdlBodyId* out);

// Those that follow refuse an id that is not a shell patch of the world: TDL_STATUS_BAD_ARGUMENT.

/// As given, with the curvature and the angle as they are now. The angle may be any number of half
/// turns from where it was: it goes on without a jump.
TDL_API TdlStatus tdl_shell_patch_def(const TdlWorld* world, TdlBodyId patch,
                                      TdlShellPatchDef* out);

/// The faces that stand for it in results and pictures, in the world's own memory: vertices are
/// numbered along the first side, row by row.
typedef struct TdlShellMesh {
    int vertex_count;
    const int* faces; // [4 face_count] corners of quads
    int face_count;
    const int* triangles; // [3 triangle_count] two of a quad, about the diagonal from its first
    int triangle_count;
} TdlShellMesh;

TDL_API TdlStatus tdl_shell_patch_mesh(const TdlWorld* world, TdlBodyId patch, TdlShellMesh* out);

/// Where its vertices are, m, and their velocities, m/s: [vertex_count]; null: not asked for. All
/// lie on the cylinder exactly.
TDL_API TdlStatus tdl_shell_patch_points(const TdlWorld* world, TdlBodyId patch, TdlVec3* positions,
                                         TdlVec3* velocities);

#ifdef __cplusplus
}
#endif

#endif
