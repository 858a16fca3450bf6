// log.csv: one row a step. Behind what every step tells come the observers of the scene.
#ifndef TDL_RUN_STEP_LOG_H
#define TDL_RUN_STEP_LOG_H

#include "formats/file.h"
#include "tendril/scene.h"

#include <stdio.h>

typedef struct StepLog {
    TdlHost host;
    const TdlScene* scene;
    FILE* file; // null when closed
    char path[PATH_SIZE];
} StepLog;

// Creates the file with the names of its columns.
TdlStatus step_log_create(const TdlHost* host, const char* path, const TdlScene* scene,
                          StepLog* out);

// Opens an existing log of the same scene and drops everything behind its first `size` bytes.
TdlStatus step_log_resume(const TdlHost* host, const char* path, const TdlScene* scene,
                          int64_t size, StepLog* out);

// `world` is as the step left it.
TdlStatus step_log_append(StepLog* log, const TdlStepInfo* info, const TdlWorld* world);

// Hands all rows to the system; *size (may be null) receives the bytes written since the start.
TdlStatus step_log_flush(StepLog* log, int64_t* size);

TdlStatus step_log_close(StepLog* log);

// The last whole row; step is 0 when there is none.
TdlStatus step_log_last(const TdlHost* host, const char* path, TdlStepInfo* out);

#endif
