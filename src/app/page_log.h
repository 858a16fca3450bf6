// log.csv for the plots of a page: every column, in at most a few thousand rows.
#ifndef TDL_APP_PAGE_LOG_H
#define TDL_APP_PAGE_LOG_H

#include "tendril/tendril.h"

enum { PAGE_LOG_COLUMNS = 256, PAGE_LOG_NAME = 96 };

typedef struct PageLog {
    int column_count;
    char names[PAGE_LOG_COLUMNS][PAGE_LOG_NAME];
    long row_count;
    double* values; // [column_count][row_count]
} PageLog;

// Reads a log; a null path or a file that is not there gives an empty one. Of a long log, rows are
// taken together: the least value of each column, then the greatest, so that no peak is lost.
TdlStatus page_log_read(const char* path, PageLog* out);
void page_log_free(PageLog* log);

#endif
