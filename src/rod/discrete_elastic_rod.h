// The discrete elastic rod: vertices, and on each edge the angle of the material frame from a
// reference frame that follows the edge without spinning. discrete-elastic-rod.md
#ifndef TDL_ROD_DISCRETE_ELASTIC_ROD_H
#define TDL_ROD_DISCRETE_ELASTIC_ROD_H

#include "rod/nodal.h"

extern const NodalModel DISCRETE_ELASTIC_ROD;

#endif
