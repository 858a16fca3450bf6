// Collision queries recorded from simulations, for the benchmark.
#ifndef TDL_BENCH_CCD_RECORD_H
#define TDL_BENCH_CCD_RECORD_H

#include "tendril/io.h"
#include "tendril/tendril.h"

typedef void (*CcdRecordFn)(void* user, const TdlCcdQuery* query);

// Steps the world and tells of every pair of segments of its rods whose swept boxes overlap in a
// step, and of what the step itself asked; `limit` of them at most, evenly over the steps.
TdlStatus ccd_record_world(const TdlHost* host, TdlWorld* world, int steps, int limit,
                           CcdRecordFn fn, void* user);

// The same for a scene's file, and for a heap of rods let fall crosswise.
TdlStatus ccd_record_scene(const TdlHost* host, const char* path, int steps, int limit,
                           CcdRecordFn fn, void* user);
TdlStatus ccd_record_heap(const TdlHost* host, int steps, int limit, CcdRecordFn fn, void* user);

#endif
