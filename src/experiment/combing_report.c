// The report of a combing experiment, and of two that differ in what contact sees.
#include "app/output.h"
#include "app/report.h"
#include "app/svg.h"
#include "experiment/combing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PANELS = 3, PANEL = 320, TALL = 460, CROWD = 400 };

// --- geometry before, in the middle and after -------------------------------------------------

typedef struct Sketch {
    TdlResult* result;
    TdlResultInfo info;
    double* points;
    long frame[PANELS];
    double left, top, scale; // m, m, pixels per m
} Sketch;

// The last frame not after a time.
static long frame_at(Sketch* sketch, double time) {
    long low = 0, high = sketch->info.frame_count;
    while (high - low > 1) {
        long middle = (low + high) / 2;
        double t = 0.0;
        tdl_result_read_frame(sketch->result, middle, &t, NULL);
        *(t <= time + 1.0e-9 ? &low : &high) = middle;
    }
    return low;
}

static void draw_comb(const Sketch* sketch, const TdlCombDef* def, TdlPose pose, FILE* out) {
    double x = (pose.position.x - sketch->left) * sketch->scale;
    double y = (sketch->top - pose.position.z) * sketch->scale;
    fprintf(out,
            "<path d=\"M%.1f %.1fh%.1f\" stroke=\"#888\" stroke-width=\"2\"/><circle cx=\"%.1f\" "
            "cy=\"%.1f\" r=\"3\" fill=\"#555\"/>\n",
            x, y, def->tooth_length * sketch->scale, x, y);
}

// One moment beside the others; `comb` is where the comb is.
static void draw_moment(const Sketch* sketch, const TdlCombDef* def, int panel, double time,
                        TdlPose comb, FILE* out) {
    bool crowd = sketch->info.rod_count > 50;
    int every = sketch->info.rod_count / CROWD + 1;
    const int* start = tdl_result_point_start(sketch->result);
    fprintf(out,
            "<svg x=\"%d\" width=\"%d\" height=\"%d\"><g fill=\"none\" stroke=\"#b5651d\" "
            "stroke-width=\"%s\" stroke-opacity=\"%s\">\n",
            panel * PANEL, PANEL, TALL, crowd ? "0.5" : "1", crowd ? "0.4" : "0.9");
    for (int rod = 0; rod < sketch->info.rod_count; rod += every) {
        fprintf(out, "<polyline points=\"");
        for (int i = start[rod]; i < start[rod + 1]; ++i) {
            fprintf(out, "%.1f,%.1f ", (sketch->points[3 * i] - sketch->left) * sketch->scale,
                    (sketch->top - sketch->points[3 * i + 2]) * sketch->scale);
        }
        fprintf(out, "\"/>\n");
    }
    fprintf(out, "</g>\n");
    draw_comb(sketch, def, comb, out);
    fprintf(out,
            "<text x=\"10\" y=\"%d\" font-family=\"sans-serif\" font-size=\"14\">t = %.3g "
            "s</text></svg>\n",
            TALL - 10, time);
}

static TdlStatus draw_panel(Sketch* sketch, const TdlCombDef* def, int panel, FILE* out) {
    double time;
    long frame = sketch->frame[panel];
    TdlStatus status = tdl_result_read_frame(sketch->result, frame, &time, sketch->points);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlPose* poses = calloc((size_t)sketch->info.collider_count + 1, sizeof *poses);
    if (poses == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    status = tdl_result_read_poses(sketch->result, frame, poses);
    if (status == TDL_STATUS_OK) {
        draw_moment(sketch, def, panel, time, poses[0], out);
    }
    free(poses);
    return status;
}

// geometry.svg, seen from the side of the comb's way; at most some hundred hairs are drawn.
static bool draw_geometry(const Args* args, const Combing* combing) {
    char path[4200];
    snprintf(path, sizeof path, "%s/geometry.svg", combing->folder);
    Sketch sketch = {0};
    TdlStatus status = tdl_result_open(args_host(args), combing->folder, &sketch.result);
    if (status != TDL_STATUS_OK) {
        return false;
    }
    sketch.info = tdl_result_info(sketch.result);
    sketch.points = calloc(3 * (size_t)sketch.info.point_count + 3, sizeof *sketch.points);
    TdlCombTimes t = tdl_comb_times(&combing->def);
    double last = sketch.info.last_time;
    sketch.frame[0] = frame_at(&sketch, fmin(t.start, last));
    if (combing->relaxed != NULL && sketch.frame[0] == 0 && sketch.info.frame_count > 1) {
        sketch.frame[0] = 1; // the first one is of before the hair at rest was put in
    }
    sketch.frame[1] = frame_at(&sketch, fmin(0.5 * (t.pull + t.end), 0.5 * (t.start + last)));
    sketch.frame[2] = sketch.info.frame_count - 1;
    double size = fmax(1.15 * combing->def.length, 0.05);
    sketch.scale = (TALL - 30) / size;
    sketch.top = 0.02 * size;
    sketch.left = -0.35 * PANEL / sketch.scale;
    FILE* out = sketch.points == NULL ? NULL : output_open(path);
    bool good = out != NULL;
    if (good) {
        svg_open(out, PANELS * PANEL, TALL);
        for (int i = 0; i < PANELS && status == TDL_STATUS_OK; ++i) {
            status = draw_panel(&sketch, &combing->def, i, out);
        }
        svg_close(out);
        good = output_close(out, status == TDL_STATUS_OK);
    }
    free(sketch.points);
    tdl_result_close(sketch.result);
    return good;
}

// --- plots ----------------------------------------------------------------------------------

// Columns of doubles made of the samples.
typedef struct Lines {
    double *time, *indentation, *force, *down, *forwards, *touches, *depth;
} Lines;

static bool make_lines(const Combing* combing, Lines* lines) {
    size_t n = (size_t)combing->count + 1;
    double* all = calloc(7 * n, sizeof *all);
    *lines = (Lines){all, all + n, all + 2 * n, all + 3 * n, all + 4 * n, all + 5 * n, all + 6 * n};
    if (all == NULL) {
        return false;
    }
    for (int i = 0; i < combing->count; ++i) {
        const TdlCombSample* s = &combing->samples[i];
        lines->time[i] = s->time;
        lines->indentation[i] = s->indentation;
        lines->force[i] = tdl_norm3(s->force);
        lines->forwards[i] = -s->force.x; // the comb pushes the hair the other way
        lines->down[i] = s->force.z;      // likewise, and down is -z
        lines->touches[i] = s->touches;
        lines->depth[i] =
            -100.0 * fmin(combing->column[COMB_DEEPEST][i], 0.0) / combing->def.radius;
    }
    return true;
}

static void plot_time(Report* report, const char* title, const char* file, PlotAxis y,
                      const double* time, int count, const char* const* names,
                      const double* const* lines, int line_count) {
    PlotSeries series[6];
    for (int i = 0; i < line_count; ++i) {
        series[i] = (PlotSeries){names[i], time, lines[i], count, PLOT_LINE};
    }
    report_plot(report,
                &(Plot){.title = title,
                        .x = {.label = "time", .unit = "s"},
                        .y = y,
                        .series = series,
                        .series_count = line_count},
                file);
}

static void write_plots(Report* report, const Combing* combing, const Lines* l) {
    int first = combing_first(combing, false), n = combing->count - first;
    double* const* column = combing->column;
    PlotSeries force[] = {
        {"size", l->indentation + first, l->force + first, n, PLOT_LINE},
        {"on the hair, forwards", l->indentation + first, l->forwards + first, n, PLOT_LINE},
        {"on the hair, down", l->indentation + first, l->down + first, n, PLOT_LINE}};
    report_plot(report,
                &(Plot){.title = "Force of the comb",
                        .x = {.label = "pulled", .unit = "m"},
                        .y = {.label = "force", .unit = "N"},
                        .series = force,
                        .series_count = 3},
                "force");
    plot_time(report, "Contacts", "contacts", (PlotAxis){.label = "contacts"}, l->time,
              combing->count, (const char*[]){"all", "with the comb"},
              (const double*[]){column[COMB_CONTACTS], l->touches}, 2);
    plot_time(report, "Energy", "energy", (PlotAxis){.label = "energy", .unit = "J"}, l->time,
              combing->count, (const char*[]){"kinetic", "elastic", "gravity"},
              (const double*[]){column[COMB_KINETIC], column[COMB_ELASTIC], column[COMB_GRAVITY]},
              3);
    plot_time(report, "Seconds of a step", "phases", (PlotAxis){.label = "wall time", .unit = "s"},
              l->time, combing->count,
              (const char*[]){"detection", "construction: rods", "construction: contacts", "solve"},
              (const double*[]){column[COMB_DETECT_SECONDS], column[COMB_PREDICT_SECONDS],
                                column[COMB_BUILD_SECONDS], column[COMB_SOLVE_SECONDS]},
              4);
    plot_time(report, "Deepest overlap", "overlap",
              (PlotAxis){.label = "of a hair's radius", .unit = "%"}, l->time, combing->count,
              (const char*[]){""}, (const double*[]){l->depth}, 1);
    plot_time(report, "Error of the solver", "error", (PlotAxis){.label = "error", .log = true},
              l->time, combing->count, (const char*[]){""}, (const double*[]){column[COMB_ERROR]},
              1);
    const CombHands* hands = &combing->hands;
    if (hands->most > 0.0) {
        plot_time(report, "Hairs whose curls change their hand", "hand-changes",
                  (PlotAxis){.label = "hairs"}, hands->time, hands->count, (const char*[]){""},
                  (const double*[]){hands->hairs}, 1);
    }
}

static void row(Report* report, const char* what, const char* format, double value) {
    char text[64];
    snprintf(text, sizeof text, format, value);
    report_row(report, (const char*[]){what, text});
}

static void write_figures(Report* report, const Combing* combing) {
    CombFigures f = combing_figures(combing);
    report_table(report, 2, (const char*[]){"since the comb moved", ""});
    row(report, "steps", "%.0f", f.steps);
    row(report, "of these, while it was pulled", "%.0f", f.pulled);
    row(report, "speed of the hair before, root of the mean square (m/s)", "%.3g", f.rest_speed);
    row(report, "contacts, mean", "%.0f", f.contacts);
    row(report, "contacts, most", "%.0f", f.most);
    row(report, "seconds of a step", "%.4g", f.seconds);
    row(report, "detection (s)", "%.4g", f.detect);
    row(report, "construction (s)", "%.4g", f.build);
    row(report, "solve (s)", "%.4g", f.solve);
    row(report, "force, mean while pulled (N)", "%.4g", f.force);
    row(report, "force, largest while pulled (N)", "%.4g", f.most_force);
    row(report, "roughness of the force", "%.4g", f.roughness);
    row(report, "deepest overlap (% of a radius)", "%.3g",
        -100.0 * f.deepest / combing->def.radius);
    row(report, "largest error of the solver", "%.2g", f.error);
    row(report, "iterations, mean", "%.0f", f.iterations);
    row(report, "steps not solved to the tolerance", "%.0f", f.unsolved);
    row(report, "hairs whose curls change their hand, before", "%.0f", combing->hands.before);
    row(report, "the same, most", "%.0f", combing->hands.most);
    row(report, "the same, in the last frame", "%.0f", combing->hands.last);
}

bool combing_report(const Args* args, const Combing* combing) {
    Lines lines;
    char text[512], command[640];
    if (!draw_geometry(args, combing) || !make_lines(combing, &lines)) {
        return false;
    }
    snprintf(text, sizeof text, "Combing: %s", combing->name);
    Report* report = report_open(combing->folder, text);
    bool good = report != NULL;
    if (good) {
        const TdlCombDef* def = &combing->def;
        report_text(report,
                    "%d hairs of %g cm, %d elements each, natural curvature %g 1/m, friction %g, "
                    "touched as %s; steps of %g s. %s",
                    def->fibre_count, 100.0 * def->length, def->element_count,
                    def->natural_curvature, def->mu,
                    def->geometry == TDL_CONTACT_CURVES ? "smooth curves" : "segments", def->step,
                    combing->finished ? "" : "The experiment has not come to its end yet.");
        report_picture(report, "geometry", "the wisp before, in the middle and at the end");
        write_figures(report, combing);
        write_plots(report, combing, &lines);
        if (combing->hands.most > 0.0) {
            good = combing_draw_hands(args, combing);
            report_text(report,
                        "Hairs whose curls change their hand, at %.3g s, from the side: "
                        "right-handed turns red, left-handed blue, flat ones grey.",
                        combing->hands.time[combing->hands.frame]);
            report_picture(report, "hands", "curls that change their hand");
        }
        report_heading(report, "Again");
        combing_tell_options(def, def->geometry == TDL_CONTACT_CURVES ? "curves" : "segments",
                             text);
        snprintf(command, sizeof command, "tendril experiment comb %s --out comb", text);
        report_command(report, command);
        good = report_close(report) && good;
    }
    free(lines.time);
    return good;
}

// --- curves against segments ------------------------------------------------------------------

// The least squares line through the jumps.
static void fit_line(CombNoise* noise) {
    double mx = 0.0, my = 0.0, xx = 0.0, xy = 0.0, yy = 0.0;
    for (int i = 0; i < noise->count; ++i) {
        mx += noise->curvature[i] / noise->count;
        my += noise->jump[i] / noise->count;
    }
    for (int i = 0; i < noise->count; ++i) {
        double x = noise->curvature[i] - mx, y = noise->jump[i] - my;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    noise->slope = xy / xx; // NaN without two windows
    noise->offset = my - noise->slope * mx;
    noise->r2 = xy * xy / (xx * yy);
}

static int compare_reals(const void* a, const void* b) {
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static double median_ratio(const CombNoise* noise) {
    double ratio[COMB_WINDOWS];
    int n = noise->count;
    for (int i = 0; i < n; ++i) {
        ratio[i] = noise->roughness[1][i] / noise->roughness[0][i];
    }
    qsort(ratio, (size_t)n, sizeof *ratio, compare_reals);
    return n == 0 ? NAN : 0.5 * (ratio[(n - 1) / 2] + ratio[n / 2]);
}

// Whether hair touches in as many places all through a window, and segments in some.
static bool is_quiet(const Combing* curves, const Combing* segments, int from, int to) {
    bool quiet = to > from + 2 && curves->samples[from].touches > 0;
    for (int i = from; i < to; ++i) {
        quiet = quiet && curves->samples[i].touches == curves->samples[from].touches &&
                segments->samples[i].touches > 0;
    }
    return quiet;
}

CombNoise combing_noise(const Combing* curves, const Combing* segments) {
    CombNoise noise = {0};
    int first = combing_first(curves, true);
    int end = curves->count < segments->count ? curves->count : segments->count;
    for (int w = 0; w < COMB_WINDOWS; ++w) {
        int from = first + (int)((long)(end - first) * w / COMB_WINDOWS);
        int to = first + (int)((long)(end - first) * (w + 1) / COMB_WINDOWS);
        if (!is_quiet(curves, segments, from, to)) {
            continue;
        }
        double sum = 0.0, jumps = 0.0, before = NAN;
        for (int i = from; i < to; ++i) {
            double ratio =
                tdl_norm3(segments->samples[i].force) / tdl_norm3(curves->samples[i].force);
            sum += curves->samples[i].curvature;
            jumps += i > from ? fabs(ratio - before) : 0.0;
            before = ratio;
        }
        int n = noise.count++;
        noise.curvature[n] = sum / (to - from);
        noise.jump[n] = jumps / (to - from - 1);
        noise.roughness[0][n] = tdl_comb_roughness(curves->samples + from, to - from);
        noise.roughness[1][n] = tdl_comb_roughness(segments->samples + from, to - from);
    }
    noise.median_ratio = median_ratio(&noise);
    fit_line(&noise);
    return noise;
}

bool combing_compare(const Combing* curves, const Combing* segments, const char* folder) {
    Lines a = {0}, b = {0};
    Report* report = NULL;
    bool good = make_lines(curves, &a) && make_lines(segments, &b);
    if (good) {
        report = report_open(folder, "Combing: curves against segments");
        good = report != NULL;
    }
    if (good) {
        CombFigures f = combing_figures(curves), g = combing_figures(segments);
        int pa = combing_first(curves, true), pb = combing_first(segments, true);
        CombNoise noise = combing_noise(curves, segments);
        report_text(report,
                    "%s. Roughness of the force, the mean of its second differences over its "
                    "mean: %.4g with curves, %.4g with %d segments a hair, %.4g times as much. In "
                    "the windows of the pull without an impact the median of the ratio is %.4g.",
                    curves->name, f.roughness, g.roughness,
                    segments->def.segments * segments->def.element_count, g.roughness / f.roughness,
                    noise.median_ratio);
        PlotSeries force[] = {
            {"segments", b.indentation + pb, b.force + pb, segments->count - pb, PLOT_LINE},
            {"curves", a.indentation + pa, a.force + pa, curves->count - pa, PLOT_LINE}};
        report_plot(report,
                    &(Plot){.title = "Force of the comb",
                            .x = {.label = "pulled", .unit = "m"},
                            .y = {.label = "force", .unit = "N"},
                            .series = force,
                            .series_count = 2},
                    "force-both");
        PlotSeries rough[] = {
            {"segments", noise.curvature, noise.roughness[1], noise.count, PLOT_MARKS},
            {"curves", noise.curvature, noise.roughness[0], noise.count, PLOT_MARKS}};
        report_plot(report,
                    &(Plot){.title = "Roughness against curvature at the contacts",
                            .note = "in even windows of the pull without an impact",
                            .x = {.label = "curvature", .unit = "1/m"},
                            .y = {.label = "roughness", .log = true},
                            .series = rough,
                            .series_count = 2},
                    "noise");
        double ends[2] = {INFINITY, -INFINITY}, line[2];
        for (int i = 0; i < noise.count; ++i) {
            ends[0] = fmin(ends[0], noise.curvature[i]);
            ends[1] = fmax(ends[1], noise.curvature[i]);
        }
        for (int i = 0; i < 2; ++i) {
            line[i] = noise.offset + noise.slope * ends[i];
        }
        char note[96];
        snprintf(note, sizeof note, "line: slope %.3g m, R^2 = %.3f; S0 figure 13", noise.slope,
                 noise.r2);
        PlotSeries jumps[] = {{"jumps", noise.curvature, noise.jump, noise.count, PLOT_MARKS},
                              {"line", ends, line, noise.count > 1 ? 2 : 0, PLOT_DASHED}};
        report_plot(report,
                    &(Plot){.title = "Jumps of segments' force over curves' force",
                            .note = note,
                            .x = {.label = "curvature at the contacts", .unit = "1/m"},
                            .y = {.label = "mean change from step to step"},
                            .series = jumps,
                            .series_count = 2},
                    "jumps");
        char text[512], command[640];
        combing_tell_options(&curves->def, "both", text);
        snprintf(command, sizeof command, "tendril experiment comb %s --out comb-both", text);
        report_heading(report, "Again");
        report_command(report, command);
        good = report_close(report);
    }
    free(a.time);
    free(b.time);
    return good;
}
