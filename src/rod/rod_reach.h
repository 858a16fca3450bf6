// Whether the held ends of a rod can be where they are to be.
#ifndef TDL_ROD_ROD_REACH_H
#define TDL_ROD_ROD_REACH_H

#include "body/motion.h"
#include "rod/rod.h"

// Of a rod whose start was placed and moves so, and whose end was placed and moves so, from a time
// on.
typedef struct RodHolds {
    const Motion *motion, *end_motion;
    TdlPose placed, end_placed;
    double now; // s
} RodHolds;

TdlRodReach rod_reach(const Rod* rod, const RodHolds* holds);

// The same in words; the text is empty where all is well.
enum { ROD_REACH_TEXT = 200 };
const char* rod_reach_text(const TdlRodReach* reach, char out[ROD_REACH_TEXT]);

#endif
