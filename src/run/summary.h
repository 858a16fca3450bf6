// summary.json: how a run ended.
#ifndef TDL_RUN_SUMMARY_H
#define TDL_RUN_SUMMARY_H

#include "tendril/result.h"
#include "tendril/run.h"

typedef struct Summary {
    const char* title;
    TdlStatus status;
    TdlRunInfo info;
    double seconds; // wall time over all calls
    int threads;
    const char* build;
    long other_builds; // that went on with the run
    bool has_grains;
    TdlResultGrainsState grains;
} Summary;

// Replaces the file at `path` atomically.
TdlStatus summary_write(const TdlHost* host, const char* path, const Summary* summary);

#endif
