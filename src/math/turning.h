// How fast something turns that has a given angular momentum half a step ahead.
#ifndef TDL_MATH_TURNING_H
#define TDL_MATH_TURNING_H

#include "tendril/math.h"

// The rate w with exp(h w) J w = l, J positive: l is seen from the present turn, which has gone on
// by h w when w has that momentum. From a guess. rigid.md (B.6)
TdlVec3 tdl_turning_rate(TdlMat3 J, TdlVec3 l, TdlVec3 guess, double h);

#endif
