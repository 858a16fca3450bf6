// Curves that passed through each other in a step. docs/theory/world.md, section 5
#ifndef TDL_WORLD_CROSSINGS_H
#define TDL_WORLD_CROSSINGS_H

#include "world/contacts.h"

// Measures how far the points of a curve moved from the shape before the step to the present one.
void crossings_measure(Contacts* contacts, int curve);

// How many of the pairs that detection looked at met on the way. They join the missed contacts.
TdlStatus crossings_find(const TdlWorld* world, Contacts* contacts, int* crossed);

#endif
