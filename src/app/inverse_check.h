// Whether rods stay where they were told to: the scene that was written is run, kicked and run on.
#ifndef TDL_APP_INVERSE_CHECK_H
#define TDL_APP_INVERSE_CHECK_H

#include "app/command.h"

typedef struct InverseCheck {
    double seconds;  // that it ran without a kick, and then again after it
    double drift;    // largest distance of a place from where it was told to stay, before the kick,
                     // over the length of its rod
    int count;       // of rods
    int left_count;  // that went a hundredth of their length and more after the kick
    int wrong_count; // that were told to stay and did not
    int unstable_count;        // that were told to leave
    double *drift_of, *end_of; // [count] before the kick, and at the end
    bool* left;                // [count]
} InverseCheck;

// rods[count] are numbers among the rods of the scene; `stable` tells of each whether it is to
// stay. Returns an exit code.
int inverse_check(const Args* args, const char* scene, double seconds, const int* rods,
                  const bool* stable, int count, InverseCheck* out);
void inverse_check_free(InverseCheck* check);

#endif
