// Recorded motions: a table of places over time, as trackers of markers write them.
#ifndef TDL_FORMATS_RECORDING_H
#define TDL_FORMATS_RECORDING_H

#include "tendril/motion.h"

typedef struct Recording {
    TdlKeyframe* keys; // [count], their times grow
    int count;
    int gap_count; // rows that were passed over, since something in them is missing
} Recording;

// Reads a .csv, which has a zero byte behind it and which messages call `name`: a row of names with
// time (s), x, y and z, perhaps rx, ry and rz (an axis times an angle, rad), then a row a moment.
// Of a marker (null: none) the names are those of a file with many, MARKER.x and so on. A field
// that is empty or nan makes its row a gap. On TDL_STATUS_BAD_INPUT one message was logged, with
// file and line.
TdlStatus recording_parse(const TdlHost* host, const char* name, const char* marker,
                          const char* data, size_t size, Recording* out);
void recording_free(const TdlHost* host, Recording* recording);

#endif
