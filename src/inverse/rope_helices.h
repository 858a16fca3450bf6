// Helices about one axis. docs/theory/ropes.md
#ifndef TDL_INVERSE_ROPE_HELICES_H
#define TDL_INVERSE_ROPE_HELICES_H

// The least distance (m) between the axes of `count` helices of the same radius and lay, evenly
// about one axis; of one helix from itself a turn on. NaN where that makes no sense. (U.4)
double helices_apart(int count, double radius, double lay);

#endif
