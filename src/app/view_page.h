// A result as one HTML file: the page of viewer/ with the frames and the log inside it.
#ifndef TDL_APP_VIEW_PAGE_H
#define TDL_APP_VIEW_PAGE_H

#include "tendril/tendril.h"

#include <stdio.h>

typedef struct ViewPage {
    TdlResult* result;
    const char* log_path; // of log.csv, or null
    long most_frames;     // evenly spread over the result; 0: all
    long frame_count;     // set: frames in the page
} ViewPage;

// Whether the page was built into this command; says so on stderr when it was not.
bool view_page_available(void);

// Writes the page; whether all of it reached the file is left in `out`.
TdlStatus view_page_write(ViewPage* page, FILE* out);

#endif
