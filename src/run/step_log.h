// log.csv: one row a step. Behind what every step tells come the observers of the scene.
#ifndef TDL_RUN_STEP_LOG_H
#define TDL_RUN_STEP_LOG_H

#include "formats/file.h"
#include "tendril/scene.h"

#include <stdio.h>

// How far a log goes that a checkpoint counts on.
typedef struct LogMark {
    int64_t size; // bytes
    int64_t rows; // below the header: one a step
    uint64_t hash;
} LogMark;

typedef struct StepLog {
    TdlHost host;
    const TdlScene* scene;
    FILE* file; // null when closed
    char path[PATH_SIZE];
    LogMark mark; // up to where it was last marked
} StepLog;

// Creates the file with the names of its columns.
TdlStatus step_log_create(const TdlHost* host, const char* path, const TdlScene* scene,
                          StepLog* out);

// Reads a log up to its mark: whether it has these rows and, where `hashed`, these very bytes.
TdlStatus step_log_check(const TdlHost* host, const char* path, const LogMark* mark, bool hashed);

// Opens an existing log of the same scene, which was checked, and drops everything behind the mark.
TdlStatus step_log_resume(const TdlHost* host, const char* path, const TdlScene* scene,
                          const LogMark* mark, StepLog* out);

// `world` is as the step left it.
TdlStatus step_log_append(StepLog* log, const TdlStepInfo* info, const TdlWorld* world);

// Hands all rows to the system.
TdlStatus step_log_flush(StepLog* log);

// The same, and marks where the log stands.
TdlStatus step_log_mark(StepLog* log);

TdlStatus step_log_close(StepLog* log);

// The last whole row; step is 0 when there is none.
TdlStatus step_log_last(const TdlHost* host, const char* path, TdlStepInfo* out);

#endif
