// What rods bear inside, one number a point, as pictures and the page colour it.
#ifndef TDL_APP_INNER_FORCE_H
#define TDL_APP_INNER_FORCE_H

#include "app/command.h"
#include "tendril/math.h"

typedef enum InnerForce {
    INNER_NONE = 0,
    INNER_TENSION, // N, negative where the rod is pressed
    INNER_SHEAR,   // N, its size
    INNER_MOMENT,  // N m, of bending, its size
    INNER_TWIST,   // N m, of twist
} InnerForce;

#define INNER_FORCE_HELP "tension, shear, moment (of bending) or twist (its moment)"

// By its name; false: there is none of that name.
bool inner_force_named(const char* word, InnerForce* out);

// Whether a result has it; else says on stderr what it takes.
bool inner_force_is_there(InnerForce which, bool has_forces, const char* path);

const char* inner_force_name(InnerForce which);
const char* inner_force_unit(InnerForce which);

// From what tdl_result_read_forces tells of a point.
double inner_force_of(InnerForce which, TdlVec3 force, TdlVec3 moment);

#endif
