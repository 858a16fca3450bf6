// What the two pictures of a plot, SVG and PNG, share: where things lie. All in pixels of the SVG.
#ifndef TDL_APP_PLOT_FRAME_H
#define TDL_APP_PLOT_FRAME_H

#include "app/plot.h"

enum { PLOT_WIDTH = 900, PLOT_HEIGHT = 560, PLOT_MAX_TICKS = 64, PLOT_LABEL_SIZE = 32 };
enum { PLOT_COLOR_COUNT = 8, PLOT_MARK_COUNT = 4 };

extern const char* const PLOT_COLORS[PLOT_COLOR_COUNT]; // "#rrggbb"

typedef struct PlotTick {
    double value;
    bool minor; // on a log axis: a line without a number
} PlotTick;

// An axis as drawn: what it shows, from which pixel to which.
typedef struct PlotScale {
    bool log;
    double min, max; // shown
    double from, to; // pixels of min and max
    double step;     // between the ticks of a linear axis, else 0
    int power;       // the numbers of a linear axis are divided by 10^power
    PlotTick ticks[PLOT_MAX_TICKS];
    int tick_count;
} PlotScale;

typedef struct PlotFrame {
    const Plot* plot;
    PlotScale x, y;
} PlotFrame;

PlotFrame plot_frame(const Plot* plot);

// Whether an axis can show a value; whether it lies between the ends; and where.
bool plot_can_show(bool log, double value);
bool plot_inside(const PlotScale* scale, double value);
double plot_pixel(const PlotScale* scale, double value);

bool plot_has_line(PlotLook look);
bool plot_has_marks(PlotLook look);
bool plot_in_legend(const PlotSeries* series);

#endif
