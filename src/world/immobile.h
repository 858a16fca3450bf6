// Contacts that nothing can move: at places that scripts put where they are. docs/theory/world.md,
// section 6
#ifndef TDL_WORLD_IMMOBILE_H
#define TDL_WORLD_IMMOBILE_H

#include "world/problem.h"

// Whether what an impulse along the normal of a contact does there, W_N in the problem's unit, is
// nothing beside what the same impulse does elsewhere on each of its bodies that has coordinates.
// (W.36)
bool immobile_contact(const Problem* problem, int contact, double product);

#endif
