// Which vertices of a sheet are near along it.
#ifndef TDL_BODY_SURFACE_NEIGHBOURS_H
#define TDL_BODY_SURFACE_NEIGHBOURS_H

#include "body/surface.h"

// Fills near_first and near, from the lengths of the edges now.
TdlStatus surface_find_neighbours(const TdlHost* host, Surface* surface);

#endif
