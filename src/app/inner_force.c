// What rods bear inside, one number a point.
#include "app/inner_force.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *unit;
} TABLE[] = {[INNER_NONE] = {"none", ""},
             [INNER_TENSION] = {"tension", "N"},
             [INNER_SHEAR] = {"shear", "N"},
             [INNER_MOMENT] = {"moment", "N m"},
             [INNER_TWIST] = {"twist", "N m"}};

bool inner_force_named(const char* word, InnerForce* out) {
    for (int i = INNER_TENSION; i <= INNER_TWIST; ++i) {
        if (strcmp(word, TABLE[i].name) == 0) {
            *out = (InnerForce)i;
            return true;
        }
    }
    return false;
}

bool inner_force_is_there(InnerForce which, bool has_forces, const char* path) {
    if (which != INNER_NONE && !has_forces) {
        fprintf(stderr,
                "%s: has no forces inside rods: run its scene with --set output.forces=true\n",
                path);
        return false;
    }
    return true;
}

const char* inner_force_name(InnerForce which) {
    return TABLE[which].name;
}

const char* inner_force_unit(InnerForce which) {
    return TABLE[which].unit;
}

double inner_force_of(InnerForce which, TdlVec3 force, TdlVec3 moment) {
    switch (which) {
    case INNER_TENSION:
        return force.x;
    case INNER_SHEAR:
        return hypot(force.y, force.z);
    case INNER_MOMENT:
        return hypot(moment.y, moment.z);
    case INNER_TWIST:
        return moment.x;
    case INNER_NONE:
        break;
    }
    return 0.0;
}
