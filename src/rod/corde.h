// CoRdE: vertices, and on each edge a quaternion that stiff springs keep in line with it. corde.md
#ifndef TDL_ROD_CORDE_H
#define TDL_ROD_CORDE_H

#include "rod/nodal.h"

extern const NodalModel CORDE;

#endif
