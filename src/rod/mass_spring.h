// The mass-spring chain: vertices joined by springs, and springs against bending. It has no frames,
// so neither twist nor a direction to bend in: natural curvature is an angle. mass-spring.md
#ifndef TDL_ROD_MASS_SPRING_H
#define TDL_ROD_MASS_SPRING_H

#include "rod/nodal.h"

extern const NodalModel MASS_SPRING;

#endif
