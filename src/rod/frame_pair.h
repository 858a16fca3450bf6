// Strains of two neighbouring frames, from the quaternion between them, with exact first and second
// derivatives. discrete-elastic-rod.md (D.4) to (D.8), corde.md (Q.3)
#ifndef TDL_ROD_FRAME_PAIR_H
#define TDL_ROD_FRAME_PAIR_H

#include "rod/quaternion.h"

enum { FRAME_DOFS = 4, PAIR_DOFS = 2 * FRAME_DOFS };

// One frame: a quaternion of any length, and its derivatives by its coordinates. A frame that is
// prescribed has none.
typedef struct FrameSide {
    Quat g;
    Quat slope[FRAME_DOFS];
    bool fixed;
} FrameSide;

// How strains (twist, and bending about the second and third axes) follow from the quaternion
// between two frames, which may have any length.
typedef struct StrainLaw {
    void (*value)(Quat between, double strain[3], Quat slope[3]);
    // sum over k of force[k] times the second derivatives of strain k
    void (*second)(Quat between, const double force[3], double out[4][4]);
} StrainLaw;

// The discrete elastic rod's: the angle of twist, and the curvature binormal 2 tan(angle/2) seen
// in the frame half way along the twist. (D.4)
extern const StrainLaw BINORMAL_LAW;

// CoRdE's quaternion difference: 4 tan(angle/4) along the axis of the rotation. (Q.3)
extern const StrainLaw DIFFERENCE_LAW;

// Strains, and their derivatives by the coordinates of a, then of b.
void frame_pair_strain(const StrainLaw* law, const FrameSide* a, const FrameSide* b,
                       double strain[3], double slope[3][PAIR_DOFS]);

// Second derivatives of force . strain, without what comes from the curvature of the frames
// themselves: mu[0] . (second derivative of a) + mu[1] . (second derivative of b). (D.8)
void frame_pair_second(const StrainLaw* law, const FrameSide* a, const FrameSide* b,
                       const double force[3], double out[PAIR_DOFS][PAIR_DOFS], Quat mu[2]);

#endif
