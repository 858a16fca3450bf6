// Things in closed form as points see them: all that is within a rounding of a core.
#ifndef TDL_BODY_SOLID_H
#define TDL_BODY_SOLID_H

#include "tendril/math.h"

typedef enum SolidKind {
    SOLID_BOX = 0,  // its core a box, which may have no size along any axis: balls and capsules
    SOLID_CYLINDER, // about the first axis, with flat ends
    SOLID_PLANE,    // all below its middle, normal along the third axis
    SOLID_PLATE,    // a disc across the third axis, touched from above, with a round rim
    SOLID_KINDS,
} SolidKind;

typedef struct Solid {
    SolidKind kind;
    TdlVec3 middle; // m, in the frame of its body, whose axes are its own
    TdlVec3 half;   // m, half sizes of the core; of a cylinder the first, which may be infinite
    double radius;  // m, of the core of a cylinder, of a plate's disc
    double round;   // m, the rounding; of a plate, that of its rim and its thickness
    double cavity;  // m, radius of a ball's hollow, or of a cylinder's bore; 0: none
} Solid;

#endif
