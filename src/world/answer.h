// What the impulses of a step's contacts do: to velocities, to bodies, and what is told of them.
// For responses, which find r of a problem.
#ifndef TDL_WORLD_ANSWER_H
#define TDL_WORLD_ANSWER_H

#include "world/problem.h"

// Adds `change` of the problem, as its solver sees it, to the velocities.
TdlStatus answer_change_velocities(Problem* problem);

// All candidates: nothing carried, nothing asked for.
TdlStatus answer_clear_forces(Contacts* contacts);

// What is told of contact i with the impulse r, N s.
TdlContactForce answer_force(const Problem* problem, int i, TdlVec3 r);

// Adds H' r of a side to the impulse on its body, N s.
void answer_add_impulse(const Problem* problem, int side, double* impulse);

// What bodies were told of the forces on them in an earlier round is void.
void answer_forget_felt(TdlWorld* world);

// Gives the bodies their velocities, the work on them, and their impulses where they want these.
TdlStatus answer_hand_out(const Problem* problem);

#endif
