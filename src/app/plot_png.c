// A plot as PNG: the frame of the SVG at twice its size, drawn with bars and the canvas's own font.
#include "app/plot.h"

#include "app/plot_frame.h"
#include "app/raster.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Pixels of the PNG a pixel of the SVG; of a dot of small and large text; of a line's width.
enum { ZOOM = 2, SMALL = 2, LARGE = 3, THICK = 4, TEXT_SIZE = 200 };

static const Color GRID = {0.87f, 0.87f, 0.87f}, FAINT = {0.95f, 0.95f, 0.95f},
                   INK = {0.2f, 0.2f, 0.2f};

static Color color_of(int series) {
    unsigned long rgb = strtoul(PLOT_COLORS[series % PLOT_COLOR_COUNT] + 1, NULL, 16);
    return (Color){(float)(rgb >> 16 & 255U) / 255.0f, (float)(rgb >> 8 & 255U) / 255.0f,
                   (float)(rgb & 255U) / 255.0f};
}

static int place(double svg) {
    return (int)lround(ZOOM * svg);
}

// The font has small letters only.
static void draw_text(Canvas* canvas, int x, int y, int size, const char* text) {
    char small[TEXT_SIZE];
    size_t i = 0;
    for (; text[i] != '\0' && i + 1 < sizeof small; ++i) {
        small[i] = (char)tolower((unsigned char)text[i]);
    }
    small[i] = '\0';
    canvas_text(canvas, x, y, size, small);
}

static void tick_text(const PlotScale* scale, double value, char text[PLOT_LABEL_SIZE]) {
    double shown = value / pow(10.0, scale->power);
    bool zero = scale->step > 0.0 && fabs(value) < 1.0e-9 * scale->step;
    snprintf(text, PLOT_LABEL_SIZE, "%g", zero ? 0.0 : shown);
}

static void axis_text(const PlotAxis* axis, int power, char text[TEXT_SIZE]) {
    bool has_unit = axis->unit != NULL && axis->unit[0] != '\0';
    char unit[64] = "";
    if (power != 0) {
        snprintf(unit, sizeof unit, " (1e%d%s%s)", power, has_unit ? " " : "",
                 has_unit ? axis->unit : "");
    } else if (has_unit) {
        snprintf(unit, sizeof unit, " (%s)", axis->unit);
    }
    snprintf(text, TEXT_SIZE, "%s%s", axis->label == NULL ? "" : axis->label, unit);
}

static void draw_frame(Canvas* canvas, const PlotFrame* f) {
    int left = place(f->x.from), right = place(f->x.to), top = place(f->y.to);
    int bottom = place(f->y.from);
    char text[TEXT_SIZE];
    for (int i = 0; i < f->x.tick_count; ++i) {
        int x = place(plot_pixel(&f->x, f->x.ticks[i].value));
        canvas_bar(canvas, x, top, 2, bottom - top, f->x.ticks[i].minor ? FAINT : GRID);
        if (!f->x.ticks[i].minor) {
            tick_text(&f->x, f->x.ticks[i].value, text);
            canvas_text(canvas, x - canvas_text_width(SMALL, text) / 2, bottom + 34, SMALL, text);
        }
    }
    for (int i = 0; i < f->y.tick_count; ++i) {
        int y = place(plot_pixel(&f->y, f->y.ticks[i].value));
        canvas_bar(canvas, left, y, right - left, 2, f->y.ticks[i].minor ? FAINT : GRID);
        if (!f->y.ticks[i].minor) {
            tick_text(&f->y, f->y.ticks[i].value, text);
            canvas_text(canvas, left - 12 - canvas_text_width(SMALL, text), y + 8, SMALL, text);
        }
    }
    canvas_bar(canvas, left, top, 2, bottom - top, INK);
    canvas_bar(canvas, left, bottom, right - left, 2, INK);
    axis_text(&f->plot->x, f->x.power, text);
    draw_text(canvas, (left + right - canvas_text_width(SMALL, text)) / 2, ZOOM * PLOT_HEIGHT - 30,
              SMALL, text);
    axis_text(&f->plot->y, f->y.power, text);
    draw_text(canvas, 20, top - 12, SMALL, text); // above its numbers
    if (f->plot->title != NULL) {
        draw_text(canvas, left, 44, LARGE, f->plot->title);
    }
    if (f->plot->note != NULL) {
        draw_text(canvas, left, 84, SMALL, f->plot->note);
    }
}

// A line of round dots, within the frame; `walked` is its length so far, for dashes.
static void draw_line(Canvas* canvas, const PlotFrame* f, const double from[2], const double to[2],
                      bool dashed, double* walked, Color color) {
    double length = hypot(to[0] - from[0], to[1] - from[1]);
    int count = (int)fmin(ceil(length), 20000.0);
    for (int i = 0; i <= count; ++i) {
        double part = count > 0 ? (double)i / count : 0.0;
        double x = from[0] + part * (to[0] - from[0]), y = from[1] + part * (to[1] - from[1]);
        bool in = x >= ZOOM * f->x.from && x <= ZOOM * f->x.to && y <= ZOOM * f->y.from &&
                  y >= ZOOM * f->y.to;
        if (in && !(dashed && fmod(*walked + part * length, 24.0) > 14.0)) {
            canvas_bar(canvas, (int)lround(x) - THICK / 2, (int)lround(y) - THICK / 2, THICK, THICK,
                       color);
        }
    }
    *walked += length;
}

// A disc, a square, a triangle or a diamond, row by row.
static void draw_mark(Canvas* canvas, int series, int x, int y, Color color) {
    int kind = (series + series / PLOT_COLOR_COUNT) % PLOT_MARK_COUNT;
    for (int j = -8; j <= 8; ++j) {
        double half = kind == 0   ? sqrt(fmax(0.0, 56.0 - j * j))
                      : kind == 1 ? (abs(j) <= 6 ? 6.0 : 0.0)
                      : kind == 2 ? 0.5 * (j + 8)
                                  : 8.0 - abs(j);
        int width = (int)lround(half);
        if (width > 0) {
            canvas_bar(canvas, x - width, y + j, 2 * width + 1, 1, color);
        }
    }
}

static void draw_series(Canvas* canvas, const PlotFrame* f, int index) {
    const PlotSeries* series = &f->plot->series[index];
    Color color = color_of(index);
    double last[2] = {0.0, 0.0}, walked = 0.0;
    bool open = false;
    for (int i = 0; i < series->count; ++i) {
        double x = series->x[i], y = series->y[i];
        if (!plot_can_show(f->x.log, x) || !plot_can_show(f->y.log, y)) {
            open = false;
            continue;
        }
        double at[2] = {ZOOM * plot_pixel(&f->x, x), ZOOM * plot_pixel(&f->y, y)};
        if (open && plot_has_line(series->look)) {
            double corner[2] = {at[0], last[1]};
            bool steps = series->look == PLOT_STEPS, dashed = series->look == PLOT_DASHED;
            if (steps) {
                draw_line(canvas, f, last, corner, dashed, &walked, color);
            }
            draw_line(canvas, f, steps ? corner : last, at, dashed, &walked, color);
        }
        if (plot_has_marks(series->look) && plot_inside(&f->x, x) && plot_inside(&f->y, y)) {
            draw_mark(canvas, index, (int)lround(at[0]), (int)lround(at[1]), color);
        }
        last[0] = at[0];
        last[1] = at[1];
        open = true;
    }
}

static void draw_legend(Canvas* canvas, const PlotFrame* f) {
    int x = place(f->x.to + 16.0), y = place(f->y.to + 10.0);
    for (int s = 0; s < f->plot->series_count; ++s) {
        const PlotSeries* series = &f->plot->series[s];
        if (!plot_in_legend(series)) {
            continue;
        }
        Color color = color_of(s);
        for (int i = 0; i < 48 && plot_has_line(series->look); i += THICK) {
            if (series->look != PLOT_DASHED || i % 24 < 14) {
                canvas_bar(canvas, x + i, y - THICK / 2, THICK, THICK, color);
            }
        }
        if (plot_has_marks(series->look)) {
            draw_mark(canvas, s, x + 24, y, color);
        }
        draw_text(canvas, x + 64, y + 8, SMALL, series->name);
        y += 44;
    }
}

bool plot_write_png(const Plot* plot, const char* path) {
    Canvas* canvas = canvas_create(ZOOM * PLOT_WIDTH, ZOOM * PLOT_HEIGHT);
    if (canvas == NULL) {
        fprintf(stderr, "%s: out of memory\n", path);
        return false;
    }
    PlotFrame f = plot_frame(plot);
    draw_frame(canvas, &f);
    for (int s = 0; s < plot->series_count; ++s) {
        draw_series(canvas, &f, s);
    }
    draw_legend(canvas, &f);
    bool good = canvas_write_png(canvas, path);
    canvas_destroy(canvas);
    return good;
}
