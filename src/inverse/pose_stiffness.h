// What both ways to a stiffness from poses share. docs/theory/inverse-poses.md
#ifndef TDL_INVERSE_POSE_STIFFNESS_H
#define TDL_INVERSE_POSE_STIFFNESS_H

#include "inverse/strand.h"

enum { POSES_MAX = 16 };

// Tells those compliances that are known, with the deviations of all. (V.99)
void pose_tell(const double compliance[3], const double deviation[3], TdlPoseStiffness* out);

#endif
