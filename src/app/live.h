// A run that pages watch and take a hand in: tendril run --live.
#ifndef TDL_APP_LIVE_H
#define TDL_APP_LIVE_H

#include "tendril/io.h"
#include "tendril/tendril.h"

typedef struct Live Live;

typedef struct LiveDef {
    int port;    // 0: any that is free
    int samples; // points per element
    const char* title;
    const TdlScene* scene;       // of which the observers are plotted; may be null
    double speed;                // of simulated time, at most; 1: as the clock runs
    bool (*asked_to_stop)(void); // looked at while waiting
} LiveDef;

// Starts serving; says on stderr why it could not, and returns null.
Live* live_start(const LiveDef* def);
const char* live_url(const Live* live);

// A TdlWatchFn; `user` is a Live*. Waits for the first page, while paused, and for the clock.
void live_watch(void* user, TdlWorld* world, const TdlStepInfo* info);

// Stops serving, from which the pages see that the run has ended; accepts null.
void live_stop(Live* live);

#endif
