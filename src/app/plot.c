// Plots as SVG: linear axes with ticks at 1, 2 or 5 times a power of ten, log axes with decades, a
// legend at the right, and the numbers as CSV.
#include "app/plot.h"

#include "app/output.h"
#include "app/plot_frame.h"
#include "app/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TOP = 64, FOOT = 64 };
enum { MOST_STEPS = 9, MAX_DECADES = 8, MARK_COUNT = PLOT_MARK_COUNT };

const char* const PLOT_COLORS[PLOT_COLOR_COUNT] = {"#1b4f8a", "#c8553d", "#2e8b57", "#d9961a",
                                                   "#7a4fa3", "#3fa0c0", "#8c6d4f", "#666666"};
enum { COLOR_COUNT = PLOT_COLOR_COUNT };

// --- ranges and ticks -----------------------------------------------------------------------

// Whether an axis can show a value; the bound keeps spans finite.
bool plot_can_show(bool log, double value) {
    return fabs(value) < 1.0e300 && (!log || value > 1.0e-300);
}

static double on_axis(bool log, double value) {
    return log ? log10(value) : value;
}

static double off_axis(bool log, double place) {
    return log ? pow(10.0, place) : place;
}

// The range of the values that can be shown at all: points of which both coordinates can.
static void data_range(const Plot* plot, bool of_x, double* min, double* max) {
    *min = INFINITY;
    *max = -INFINITY;
    for (int s = 0; s < plot->series_count; ++s) {
        const PlotSeries* series = &plot->series[s];
        for (int i = 0; i < series->count; ++i) {
            if (plot_can_show(plot->x.log, series->x[i]) &&
                plot_can_show(plot->y.log, series->y[i])) {
                double v = of_x ? series->x[i] : series->y[i];
                *min = fmin(*min, v);
                *max = fmax(*max, v);
            }
        }
    }
}

// What the axis shows: the range asked for, or that of the data with a little air.
static void choose_range(const PlotAxis* axis, double low, double high, PlotScale* scale) {
    if (axis->min < axis->max && plot_can_show(axis->log, axis->min) &&
        plot_can_show(axis->log, axis->max)) {
        scale->min = axis->min;
        scale->max = axis->max;
        return;
    }
    if (!(low <= high)) { // nothing to show
        low = axis->log ? 1.0 : 0.0;
        high = axis->log ? 10.0 : 1.0;
    }
    double a = on_axis(axis->log, low), b = on_axis(axis->log, high);
    double span = b - a;
    if (span <= 1.0e-12 * fmax(fabs(a), fabs(b))) { // all the same
        span = axis->log ? 1.0 : a == 0.0 ? 2.0 : fabs(a);
        a -= 0.5 * span;
        b += 0.5 * span;
    } else {
        a -= 0.04 * span;
        b += 0.04 * span;
    }
    // a quantity that is never negative is not shown as if it could be
    if (!axis->log && low >= 0.0 && a < 0.0) {
        a = 0.0;
    }
    scale->min = off_axis(axis->log, a);
    scale->max = off_axis(axis->log, b);
}

static void add_tick(PlotScale* scale, double value, bool minor) {
    double place = on_axis(scale->log, value);
    double a = on_axis(scale->log, scale->min), b = on_axis(scale->log, scale->max);
    double slack = 1.0e-9 * (b - a);
    if (scale->tick_count < PLOT_MAX_TICKS && place >= a - slack && place <= b + slack) {
        scale->ticks[scale->tick_count++] = (PlotTick){value, minor};
    }
}

// The least of 1, 2, 5 times a power of ten that is at least `step`.
static double round_up(double step) {
    double power = pow(10.0, floor(log10(step)));
    double lead = step / power;
    return power * (lead <= 1.0 ? 1.0 : lead <= 2.0 ? 2.0 : lead <= 5.0 ? 5.0 : 10.0);
}

static void linear_ticks(PlotScale* scale) {
    scale->step = round_up((scale->max - scale->min) / MOST_STEPS);
    double first = ceil(scale->min / scale->step - 1.0e-9);
    for (int i = 0; i <= MOST_STEPS; ++i) {
        add_tick(scale, (first + i) * scale->step, false);
    }
    // large and small numbers share a power of a thousand
    double largest = fmax(fabs(scale->min), fabs(scale->max));
    if (!scale->log && (largest >= 1.0e4 || largest < 0.1)) {
        scale->power = 3 * (int)floor(log10(largest) / 3.0);
    }
}

// Numbers at decades, or every few of them; at 1, 2, 5 too where there are few; lines between.
static void log_ticks(PlotScale* scale) {
    double decades = log10(scale->max / scale->min);
    if (decades < 1.0) {
        linear_ticks(scale);
        return;
    }
    int stride = (int)ceil(decades / MAX_DECADES);
    int first = (int)floor(log10(scale->min)), last = (int)ceil(log10(scale->max));
    for (int d = first; d <= last; ++d) {
        double power = pow(10.0, d);
        bool at = (d % stride + stride) % stride == 0;
        add_tick(scale, power, !at);
        for (int lead = 2; lead < 10 && decades < 5.0; ++lead) {
            bool numbered = decades < 3.0 && (lead == 2 || lead == 5);
            add_tick(scale, lead * power, !numbered);
        }
    }
}

static void make_scale(const PlotAxis* axis, double low, double high, PlotScale* scale) {
    *scale = (PlotScale){.log = axis->log};
    choose_range(axis, low, high, scale);
    scale->log ? log_ticks(scale) : linear_ticks(scale);
}

double plot_pixel(const PlotScale* scale, double value) {
    double a = on_axis(scale->log, scale->min), b = on_axis(scale->log, scale->max);
    double share = (on_axis(scale->log, value) - a) / (b - a);
    // far outside the frame, as far as SVG's readers count well
    return scale->from + fmax(-100.0, fmin(100.0, share)) * (scale->to - scale->from);
}

// --- text -----------------------------------------------------------------------------------

// The number at a tick, without its power; on a log axis beyond plain numbers, with an exponent.
static void tick_label(const PlotScale* scale, double value, char text[PLOT_LABEL_SIZE],
                       char exponent[PLOT_LABEL_SIZE]) {
    exponent[0] = '\0';
    if (scale->step > 0.0) {
        double unit = pow(10.0, scale->power);
        int decimals = (int)fmax(0.0, ceil(-log10(scale->step / unit) - 1.0e-9));
        double shown = value / unit;
        snprintf(text, PLOT_LABEL_SIZE, "%.*f", decimals > 15 ? 15 : decimals,
                 fabs(value) < 1.0e-9 * scale->step ? 0.0 : shown);
        return;
    }
    int decade = (int)floor(log10(value) + 1.0e-9);
    int lead = (int)lround(value / pow(10.0, decade));
    if (scale->min > 0.99e-3 && scale->max < 1.01e4) {
        snprintf(text, PLOT_LABEL_SIZE, "%g", value);
    } else {
        snprintf(text, PLOT_LABEL_SIZE, lead == 1 ? "10" : "%d&#183;10", lead);
        snprintf(exponent, PLOT_LABEL_SIZE, "%d", decade);
    }
}

static void print_power(FILE* out, const char* text, const char* exponent) {
    fputs(text, out);
    if (exponent[0] != '\0') {
        fprintf(out, "<tspan dy=\"-5\" font-size=\"10\">%s</tspan>", exponent);
    }
}

// Label, power and unit: "force (10^-6 N)".
static void print_axis_label(FILE* out, const PlotAxis* axis, int power) {
    bool has_unit = axis->unit != NULL && axis->unit[0] != '\0';
    svg_text(out, axis->label == NULL ? "" : axis->label);
    if (!has_unit && power == 0) {
        return;
    }
    fputs(" (", out);
    if (power != 0) {
        char exponent[PLOT_LABEL_SIZE];
        snprintf(exponent, sizeof exponent, "%d", power);
        print_power(out, "10", exponent);
        fputs("<tspan dy=\"5\">", out);
    }
    if (has_unit) {
        fputs(power != 0 ? "&#160;" : "", out);
        svg_text(out, axis->unit);
    }
    fputs(power != 0 ? ")</tspan>" : ")", out);
}

// --- drawing --------------------------------------------------------------------------------

static void draw_ticks_x(const PlotFrame* f, FILE* out) {
    for (int i = 0; i < f->x.tick_count; ++i) {
        PlotTick tick = f->x.ticks[i];
        double x = plot_pixel(&f->x, tick.value);
        fprintf(out, "<path stroke=\"%s\" d=\"M%.2f %.2fV%.2f\"/>\n",
                tick.minor ? "#f2f2f2" : "#dddddd", x, f->y.from, f->y.to);
        if (!tick.minor) {
            char text[PLOT_LABEL_SIZE], exponent[PLOT_LABEL_SIZE];
            tick_label(&f->x, tick.value, text, exponent);
            fprintf(out, "<text class=\"x\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\">", x,
                    f->y.from + 20.0);
            print_power(out, text, exponent);
            fprintf(out, "</text>\n");
        }
    }
}

static void draw_ticks_y(const PlotFrame* f, FILE* out) {
    for (int i = 0; i < f->y.tick_count; ++i) {
        PlotTick tick = f->y.ticks[i];
        double y = plot_pixel(&f->y, tick.value);
        fprintf(out, "<path stroke=\"%s\" d=\"M%.2f %.2fH%.2f\"/>\n",
                tick.minor ? "#f2f2f2" : "#dddddd", f->x.from, y, f->x.to);
        if (!tick.minor) {
            char text[PLOT_LABEL_SIZE], exponent[PLOT_LABEL_SIZE];
            tick_label(&f->y, tick.value, text, exponent);
            fprintf(out, "<text class=\"y\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"end\">",
                    f->x.from - 8.0, y + 4.5);
            print_power(out, text, exponent);
            fprintf(out, "</text>\n");
        }
    }
}

static void draw_axes(const PlotFrame* f, FILE* out) {
    const Plot* plot = f->plot;
    fprintf(out, "<g font-family=\"sans-serif\" font-size=\"13\" fill=\"#333\">\n");
    draw_ticks_x(f, out);
    draw_ticks_y(f, out);
    fprintf(out, "<path fill=\"none\" stroke=\"#333\" d=\"M%.2f %.2fV%.2fH%.2f\"/>\n", f->x.from,
            f->y.to, f->y.from, f->x.to);
    fprintf(out, "<text font-size=\"15\" x=\"%.2f\" y=\"%d\" text-anchor=\"middle\">",
            0.5 * (f->x.from + f->x.to), PLOT_HEIGHT - 18);
    print_axis_label(out, &plot->x, f->x.power);
    fprintf(out,
            "</text>\n<text font-size=\"15\" text-anchor=\"middle\" "
            "transform=\"translate(24 %.2f) rotate(-90)\">",
            0.5 * (f->y.from + f->y.to));
    print_axis_label(out, &plot->y, f->y.power);
    fprintf(out, "</text>\n");
    if (plot->title != NULL) {
        fprintf(out, "<text font-size=\"18\" x=\"%.2f\" y=\"28\">", f->x.from);
        svg_text(out, plot->title);
        fprintf(out, "</text>\n");
    }
    if (plot->note != NULL) {
        fprintf(out, "<text fill=\"#777\" x=\"%.2f\" y=\"48\">", f->x.from);
        svg_text(out, plot->note);
        fprintf(out, "</text>\n");
    }
    fprintf(out, "</g>\n");
}

bool plot_has_line(PlotLook look) {
    return look != PLOT_MARKS;
}

bool plot_has_marks(PlotLook look) {
    return look == PLOT_MARKS || look == PLOT_MARKED_LINE;
}

// Colours that come again are told apart by other marks and dotted lines.
static const char* dashes(PlotLook look, int series) {
    return look == PLOT_DASHED        ? " stroke-dasharray=\"7 5\""
           : series / COLOR_COUNT % 2 ? " stroke-dasharray=\"2 3\""
                                      : "";
}

static void draw_mark(FILE* out, int series, double x, double y) {
    switch ((series + series / COLOR_COUNT) % MARK_COUNT) {
    case 0:
        fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3.5\"/>\n", x, y);
        break;
    case 1:
        fprintf(out, "<path d=\"M%.2f %.2fh6.4v6.4h-6.4z\"/>\n", x - 3.2, y - 3.2);
        break;
    case 2:
        fprintf(out, "<path d=\"M%.2f %.2fl4.2 7.4h-8.4z\"/>\n", x, y - 4.7);
        break;
    default:
        fprintf(out, "<path d=\"M%.2f %.2fl4.4 4.4l-4.4 4.4l-4.4 -4.4z\"/>\n", x, y - 4.4);
    }
}

static void draw_line(const PlotFrame* f, int index, FILE* out) {
    const PlotSeries* series = &f->plot->series[index];
    bool open = false;
    double y_before = 0.0;
    fprintf(out, "<path fill=\"none\" stroke-width=\"2\"%s d=\"", dashes(series->look, index));
    for (int i = 0; i < series->count; ++i) {
        if (!plot_can_show(f->x.log, series->x[i]) || !plot_can_show(f->y.log, series->y[i])) {
            open = false;
            continue;
        }
        double x = plot_pixel(&f->x, series->x[i]), y = plot_pixel(&f->y, series->y[i]);
        if (open && series->look == PLOT_STEPS) {
            fprintf(out, "L%.2f %.2f", x, y_before);
        }
        fprintf(out, "%c%.2f %.2f", open ? 'L' : 'M', x, y);
        open = true;
        y_before = y;
    }
    fprintf(out, "\"/>\n");
}

bool plot_inside(const PlotScale* scale, double value) {
    double slack = 1.0e-9 * (scale->max - scale->min);
    return value >= scale->min - slack && value <= scale->max + slack;
}

static void draw_marks(const PlotFrame* f, int index, FILE* out) {
    const PlotSeries* series = &f->plot->series[index];
    for (int i = 0; i < series->count; ++i) {
        double x = series->x[i], y = series->y[i];
        if (plot_can_show(f->x.log, x) && plot_can_show(f->y.log, y) && plot_inside(&f->x, x) &&
            plot_inside(&f->y, y)) {
            draw_mark(out, index, plot_pixel(&f->x, x), plot_pixel(&f->y, y));
        }
    }
}

static void draw_series(const PlotFrame* f, FILE* out) {
    bool any = false;
    fprintf(out,
            "<clipPath id=\"frame\"><rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
            "height=\"%.2f\"/></clipPath>\n",
            f->x.from, f->y.to, f->x.to - f->x.from, f->y.from - f->y.to);
    for (int s = 0; s < f->plot->series_count; ++s) {
        const PlotSeries* series = &f->plot->series[s];
        const char* color = PLOT_COLORS[s % COLOR_COUNT];
        fprintf(out, "<g stroke-linejoin=\"round\" stroke=\"%s\" fill=\"%s\"><title>", color,
                color);
        svg_text(out, series->name == NULL ? "" : series->name);
        fprintf(out, "</title>\n");
        if (plot_has_line(series->look)) {
            fprintf(out, "<g clip-path=\"url(#frame)\">\n");
            draw_line(f, s, out);
            fprintf(out, "</g>\n");
        }
        if (plot_has_marks(series->look)) {
            draw_marks(f, s, out);
        }
        fprintf(out, "</g>\n");
        for (int i = 0; i < series->count && !any; ++i) {
            any = plot_can_show(f->x.log, series->x[i]) && plot_can_show(f->y.log, series->y[i]);
        }
    }
    if (!any) {
        fprintf(out,
                "<text font-family=\"sans-serif\" font-size=\"15\" fill=\"#777\" x=\"%.2f\" "
                "y=\"%.2f\" text-anchor=\"middle\">nothing to show</text>\n",
                0.5 * (f->x.from + f->x.to), 0.5 * (f->y.from + f->y.to));
    }
}

bool plot_in_legend(const PlotSeries* series) {
    return series->name != NULL && series->name[0] != '\0';
}

// Pixels of the longest name, by the mean width of a letter; 0 without a legend.
static double legend_width(const Plot* plot) {
    size_t longest = 0;
    for (int s = 0; s < plot->series_count; ++s) {
        if (plot_in_legend(&plot->series[s])) {
            size_t length = strlen(plot->series[s].name);
            longest = length > longest ? length : longest;
        }
    }
    return longest == 0 ? 0.0 : fmin(56.0 + 7.2 * (double)longest, 0.5 * PLOT_WIDTH);
}

static void draw_legend(const PlotFrame* f, FILE* out) {
    double x = f->x.to + 16.0, y = f->y.to + 10.0;
    fprintf(out, "<g font-family=\"sans-serif\" font-size=\"13\">\n");
    for (int s = 0; s < f->plot->series_count; ++s) {
        const PlotSeries* series = &f->plot->series[s];
        const char* color = PLOT_COLORS[s % COLOR_COUNT];
        if (!plot_in_legend(series)) {
            continue;
        }
        fprintf(out, "<g stroke=\"%s\" fill=\"%s\">", color, color);
        if (plot_has_line(series->look)) {
            fprintf(out, "<path stroke-width=\"2\"%s d=\"M%.2f %.2fh24\"/>",
                    dashes(series->look, s), x, y);
        }
        if (plot_has_marks(series->look)) {
            draw_mark(out, s, x + 12.0, y);
        }
        fprintf(out, "</g><text fill=\"#333\" x=\"%.2f\" y=\"%.2f\">", x + 32.0, y + 4.5);
        svg_text(out, series->name);
        fprintf(out, "</text>\n");
        y += 22.0;
    }
    fprintf(out, "</g>\n");
}

// Pixels that the numbers at the left take.
static double label_width(const PlotScale* scale) {
    size_t longest = 0;
    for (int i = 0; i < scale->tick_count; ++i) {
        char text[PLOT_LABEL_SIZE], exponent[PLOT_LABEL_SIZE];
        tick_label(scale, scale->ticks[i].value, text, exponent);
        size_t length = strlen(text) + strlen(exponent);
        longest = !scale->ticks[i].minor && length > longest ? length : longest;
    }
    return 7.5 * (double)longest;
}

PlotFrame plot_frame(const Plot* plot) {
    PlotFrame f = {.plot = plot};
    double low, high;
    data_range(plot, true, &low, &high);
    make_scale(&plot->x, low, high, &f.x);
    data_range(plot, false, &low, &high);
    make_scale(&plot->y, low, high, &f.y);
    f.x.from = 48.0 + label_width(&f.y);
    f.x.to = PLOT_WIDTH - 28.0 - legend_width(plot);
    f.y.from = PLOT_HEIGHT - FOOT;
    f.y.to = TOP;
    return f;
}

static void draw_plot(const Plot* plot, FILE* out) {
    PlotFrame f = plot_frame(plot);
    svg_open(out, PLOT_WIDTH, PLOT_HEIGHT);
    draw_axes(&f, out);
    draw_series(&f, out);
    draw_legend(&f, out);
    svg_close(out);
}

// --- the numbers ----------------------------------------------------------------------------

static void print_quoted(FILE* out, const char* text) {
    for (const char* c = text; *c != '\0'; ++c) {
        fputs(*c == '"' ? "\"" : "", out);
        fputc(*c, out);
    }
}

// A field of a CSV, in quotes where it must be.
static void print_field(FILE* out, const char* text, const char* unit) {
    bool has_unit = unit != NULL && unit[0] != '\0';
    bool quoted = strpbrk(text, ",\"\n\r") || (has_unit && strpbrk(unit, ",\"\n\r"));
    fputs(quoted ? "\"" : "", out);
    print_quoted(out, text);
    if (has_unit) {
        fputs(" (", out);
        print_quoted(out, unit);
        fputc(')', out);
    }
    fputs(quoted ? "\"" : "", out);
}

static void print_table(const Plot* plot, FILE* out) {
    fputs("series,", out);
    print_field(out, plot->x.label == NULL ? "x" : plot->x.label, plot->x.unit);
    fputc(',', out);
    print_field(out, plot->y.label == NULL ? "y" : plot->y.label, plot->y.unit);
    fputc('\n', out);
    for (int s = 0; s < plot->series_count; ++s) {
        const PlotSeries* series = &plot->series[s];
        for (int i = 0; i < series->count; ++i) {
            print_field(out, series->name == NULL ? "" : series->name, NULL);
            fprintf(out, ",%.17g,%.17g\n", series->x[i], series->y[i]);
        }
    }
}

static bool write_with(const Plot* plot, const char* path, void (*print)(const Plot*, FILE*)) {
    FILE* out = output_open(path);
    if (out == NULL) {
        return false;
    }
    print(plot, out);
    return output_close(out, true);
}

bool plot_write_picture(const Plot* plot, const char* path) {
    char png[OUTPUT_PATH_SIZE];
    output_path(png, path, ".svg", ".png");
    return write_with(plot, path, draw_plot) && plot_write_png(plot, png);
}

bool plot_write(const Plot* plot, const char* path) {
    char table[OUTPUT_PATH_SIZE];
    output_path(table, path, ".svg", ".csv");
    // the table first: where it cannot be written, the picture does not change either
    return write_with(plot, table, print_table) && write_with(plot, path, draw_plot);
}
