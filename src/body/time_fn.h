// Two vectors that are a function of the time, of one's own.
#ifndef TDL_BODY_TIME_FN_H
#define TDL_BODY_TIME_FN_H

#include "base/memory.h"
#include "tendril/motion.h"

// Copies the data where its size is told.
TdlStatus time_fn_create(const TdlHost* host, const TdlTimeFn* given, TdlTimeFn* out);
void time_fn_destroy(const TdlHost* host, TdlTimeFn* fn);

// Keys are finite and their times grow; else a message about `what`.
TdlStatus keys_check(const TdlHost* host, const char* what, const TdlKeyframe* keys, int count);

// Between keys, one or more.
TdlKeyframe keys_at(const TdlKeyframe* keys, int count, TdlInterpolation interpolation,
                    double time);

#endif
