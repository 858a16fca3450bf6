// What pages say to a run that goes on, a line each: `pause`, `play`, `step`, `speed X`,
// `friction X`, `gravity X Y Z`, `grab POINT X Y Z`, `move X Y Z`, `drop`, `hello`.
#ifndef TDL_APP_WISHES_H
#define TDL_APP_WISHES_H

#include "tendril/math.h"

#include <stdbool.h>

typedef struct Wishes {
    bool paused, changed; // changed: something is to be shown though no step was made
    int single_steps;
    double speed;
    bool new_gravity, new_mu;
    TdlVec3 gravity;
    double mu;
    bool grabbed, new_grab; // a point, which may not be one
    int point;
    TdlVec3 target;
} Wishes;

// Notes what a line says. What is not understood, or out of range, is passed over.
void wishes_hear(Wishes* wishes, const char* words);

#endif
