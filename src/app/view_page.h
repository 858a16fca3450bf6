// A result as one HTML file: the page of viewer/ with the frames and the log inside it.
#ifndef TDL_APP_VIEW_PAGE_H
#define TDL_APP_VIEW_PAGE_H

#include "app/frame_grains.h"
#include "app/page_log.h"
#include "tendril/io.h"

#include <stdio.h>

typedef struct ViewPage {
    TdlResult* result;
    const char* log_path; // of log.csv, or null
    long most_frames;     // evenly spread over the result; 0: all
    long frame_count;     // set: frames in the page
} ViewPage;

// What a page says before its frames. Nothing is kept of it.
typedef struct PageHead {
    const char *title, *version;
    bool live;
    int rod_count, collider_count, body_count, shape_count;
    const int* point_start;       // [rod_count + 1]
    const double* radius;         // [rod_count] m
    const TdlResultShape* shapes; // [shape_count]
    int surface_count;
    const TdlResultSurface* surfaces; // [surface_count]
    int cloth_count;
    const TdlResultCloth* cloths; // [cloth_count] among them
    bool forces;                  // inside rods are shown
    int joint_count;
    const TdlResultJoint* joints; // [joint_count]
    const FrameGrains* grains;    // null: none
    FrameBox box;
    bool contacts;    // whether to speak of contacts at all
    double force_max; // N, the longest arrow; 0: not known yet
    long frame_count;
    const double* times; // [frame_count]
    int column_count;
    const char (*columns)[PAGE_LOG_NAME]; // [column_count] of the log
    // while it runs
    TdlVec3 gravity;
    double mu; // negative: nothing touches
} PageHead;

// The page without its frames, in three parts: the first frame goes before the script, the others
// behind it.
void page_put_start(FILE* out, const PageHead* head);
void page_put_script(FILE* out);
void page_put_end(FILE* out);

// Whether the page was built into this command; says so on stderr when it was not.
bool view_page_available(void);

// Writes the page; whether all of it reached the file is left in `out`.
TdlStatus view_page_write(ViewPage* page, FILE* out);

#endif
