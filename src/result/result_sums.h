// Checksums of frames: one of each set of /frames, and of the rows of each group of rows that
// belong to the frame. So any part of a frame is proved when it is read, alone.
//
// They are a set of their own and not HDF5's filter Fletcher32, which sums up chunks: a chunk holds
// many frames and is written again with each, and a kill amid that would lose them all, where now
// it loses none. HDF5 itself has checksums of its metadata only.
#ifndef TDL_RESULT_RESULT_SUMS_H
#define TDL_RESULT_RESULT_SUMS_H

#include "result/result_rows.h"

enum { SUMS_MOST = 40, SUMS_SINCE = 9 }; // columns; version of the format

typedef struct FrameSums {
    hid_t set; // H5I_INVALID_HID: none, the file is older
    int count;
    const char* names[SUMS_MOST]; // of the columns: sets and groups of rows
    hsize_t chunk[3];
    int64_t sums[SUMS_MOST];
    long frame; // that these are of; -1: none yet
} FrameSums;

FrameSums frame_sums_none(void);
void frame_sums_close(FrameSums* sums);

// Adds a column, before the set is created or opened.
void frame_sums_name(FrameSums* sums, const char* name);

// The column of that name; -1: there is none.
int frame_sums_column(const FrameSums* sums, const char* name);

// In the group /frames; false: HDF5 failed. Then a row a frame, from sums->sums.
bool frame_sums_create(FrameSums* sums, hid_t frames);
bool frame_sums_append(FrameSums* sums, long frame);

// Opens them for `count` frames; they must have the columns that were named, in any order.
bool frame_sums_open(FrameSums* sums, hid_t frames, long count);
bool frame_sums_read(FrameSums* sums, const char* path, long frame);

#endif
