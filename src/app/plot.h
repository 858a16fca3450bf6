// Plots as SVG, with the same numbers as CSV beside them.
//
//     double x[] = {1, 10, 100}, y[] = {0.3, 0.03, 0.003};
//     PlotSeries series[] = {{.name = "super-helix", .x = x, .y = y, .count = 3}};
//     Plot plot = {.title = "Error against cost",
//                  .x = {.label = "time", .unit = "s", .log = true},
//                  .y = {.label = "error", .log = true},
//                  .series = series, .series_count = 1};
//     if (!plot_write(&plot, "error.svg")) ...   // and error.csv
//
// Points that cannot be drawn (NaN, infinite, not positive on a log axis) are left out of the
// picture and interrupt their line; the CSV has them.
#ifndef TDL_APP_PLOT_H
#define TDL_APP_PLOT_H

#include <stdbool.h>

typedef enum PlotLook {
    PLOT_LINE = 0,
    PLOT_MARKS,       // a mark at each point
    PLOT_MARKED_LINE, // both
    PLOT_DASHED,      // a line to compare with: theory, a slope
    PLOT_STEPS,       // each y holds until the next x
} PlotLook;

typedef struct PlotSeries {
    const char* name;    // in the legend and the CSV; null or "": not in the legend
    const double *x, *y; // [count]; not copied
    int count;
    PlotLook look;
} PlotSeries;

typedef struct PlotAxis {
    const char *label, *unit; // either may be null
    bool log;
    double min, max; // what must be seen; equal (both 0): what the series need
} PlotAxis;

typedef struct Plot {
    const char* title; // may be null
    const char* note;  // a line under the title; may be null
    PlotAxis x, y;
    const PlotSeries* series; // [series_count]; drawn in this order
    int series_count;
} Plot;

// Writes the picture to `path`, and its numbers (columns: series, x, y; every digit) to the same
// name with .csv in place of .svg. On failure says on stderr what could not be written and leaves
// neither file.
bool plot_write(const Plot* plot, const char* path);

// The same as PNG, twice as large, with plainer text: for where SVG is not shown.
bool plot_write_png(const Plot* plot, const char* path);

// The picture alone, and as PNG beside it, for those who write a table of their own.
bool plot_write_picture(const Plot* plot, const char* path);

#endif
