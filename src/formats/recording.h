// Numbers over time, from tables: recorded motions, as trackers of markers write them, and what
// loads and motors are to do.
#ifndef TDL_FORMATS_RECORDING_H
#define TDL_FORMATS_RECORDING_H

#include "tendril/motion.h"

enum { RECORDING_COLUMNS = 7 };

// Which columns there are, in the order of the numbers of a key.
typedef struct RecordingKind {
    const char* column[RECORDING_COLUMNS];
    int count, needed;          // the first are needed; of the others all are there or none,
    bool one_more;              // or just one
    double most;                // of a number but the time
    const char *lacks, *partly; // what is told
} RecordingKind;

extern const RecordingKind RECORDING_MOTION, RECORDING_LOAD, RECORDING_MOTOR;

typedef struct Recording {
    TdlKeyframe* keys;           // [count], their times grow
    bool has[RECORDING_COLUMNS]; // which columns there were
    int count;
    int gap_count; // rows that were passed over, since something in them is missing
} Recording;

// Reads a .csv, which has a zero byte behind it and which messages call `name`: a row of names,
// such as time (s), x, y and z, perhaps rx, ry and rz (an axis times an angle, rad), then a row a
// moment. Of a marker (null: none) the names are those of a file with many, MARKER.x and so on. A
// field that is empty or nan makes its row a gap. On TDL_STATUS_BAD_INPUT one message was logged,
// with file and line.
TdlStatus recording_parse(const TdlHost* host, const char* name, const RecordingKind* kind,
                          const char* marker, const char* data, size_t size, Recording* out);
void recording_free(const TdlHost* host, Recording* recording);

#endif
