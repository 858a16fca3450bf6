// Things whose number changes from frame to frame: a group of columns, one row each, frame after
// frame. A set of /frames tells where the rows of a frame end.
#ifndef TDL_RESULT_RESULT_ROWS_H
#define TDL_RESULT_RESULT_ROWS_H

#include "base/memory.h"
#include "result/result_format.h"

typedef struct RowColumn {
    const char *name, *unit, *meaning;
    ResultType type;
    hsize_t width; // numbers per row, at most 3
    int since;     // version of the format
} RowColumn;

enum { ROW_COLUMNS_MAX = 12, ROW_WIDTH_MAX = 3 };

// What the rows are like. In memory every number passes through a double.
typedef struct RowTable {
    const char* group;
    const RowColumn* columns; // [column_count]
    int column_count;
    hsize_t chunk_rows; // rows a chunk of the file; many frames may share one
    void (*get)(const void* rows, int row, int column, double x[ROW_WIDTH_MAX]);
    void (*put)(void* rows, int row, int column, const double x[ROW_WIDTH_MAX]);
    bool (*is_sound)(const void* rows, int row);
    const char* unsound; // what is wrong where one is not, behind the name of the group
} RowTable;

typedef struct RowSets {
    TdlHost host;
    const RowTable* table;
    hid_t sets[ROW_COLUMNS_MAX];
    hsize_t chunk_rows[ROW_COLUMNS_MAX];
    hsize_t row_count;
    double* scratch; // numbers of one column
    uint64_t sum;    // hash of the rows appended or read last, as stored
    size_t scratch_size;
    char said[160]; // what went wrong last
} RowSets;

// No sets; may be closed.
RowSets row_sets_none(const TdlHost* host, const RowTable* table);
void row_sets_close(RowSets* sets);

// Scratch for `count` rows, which must be there before they are written or read.
TdlStatus row_sets_reserve(RowSets* sets, int count);

// --- writing; false: HDF5 failed -----------------------------------------------------------------
// The group of a new file, without rows; `group` stays open for attributes of its own unless null.
bool row_sets_create(RowSets* sets, hid_t file, hid_t* group);
bool row_sets_append(RowSets* sets, const void* rows, int count);
bool row_sets_flush(const RowSets* sets);

// --- reading; false: sets->said says what is wrong -----------------------------------------------
bool row_sets_open(RowSets* sets, hid_t file, int version);

// Rows [first, first + count) of the file at `path`, put into `rows`, which are zero.
bool row_sets_read(RowSets* sets, const char* path, hsize_t first, int count, void* rows);

// Whether they make sense.
bool row_sets_sound(RowSets* sets, const void* rows, int count);

#endif
