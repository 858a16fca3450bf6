// What a fit leaves in its folder: the scene with the values found, the markers in its run, tables,
// and a page with the figures.
#include "app/report.h"
#include "app/output.h"
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 64 };

static const double MM = 1.0e3;

static bool write_scene(const Fit* fit, const Found* found, const char* folder) {
    char path[OUTPUT_PATH_SIZE], texts[PARAMETERS_MAX][PARAMETER_PATH_SIZE + 40];
    int count = fit->set_count;
    for (int i = 0; i < fit->parameter_count; ++i) {
        snprintf(texts[i], sizeof texts[i], "%s=%.17g", fit->parameters[i].path, found->values[i]);
        fit->sets[count++] = texts[i];
    }
    output_path(path, folder, "", "/scene.yaml");
    TdlScene* scene = NULL;
    TdlStatus status = tdl_scene_load(args_host(fit->args), fit->scene, fit->sets, count, &scene);
    status = status == TDL_STATUS_OK ? tdl_scene_write(scene, path) : status;
    tdl_scene_destroy(scene);
    return status == TDL_STATUS_OK;
}

// Where the markers are in the best run, as a recording.
static bool write_markers(const Fit* fit, const Found* found, const char* folder) {
    char path[OUTPUT_PATH_SIZE];
    output_path(path, folder, "", "/markers.csv");
    Tracks tracks = fit->data;
    tracks.places = found->best.places;
    FILE* file = output_open(path);
    return file != NULL && output_close(file, tracks_write(&tracks, file));
}

static void show_parameters(Report* report, const Fit* fit, const Found* found) {
    static const char* const NAMES[] = {"parameter", "found",  "standard deviation",
                                        "start",     "bounds", "scale"};
    report_table(report, 6, NAMES);
    for (int i = 0; i < fit->parameter_count; ++i) {
        const Parameter* p = &fit->parameters[i];
        char value[TEXT_SIZE], deviation[TEXT_SIZE] = "unknown", start[TEXT_SIZE],
                               bounds[TEXT_SIZE];
        snprintf(value, TEXT_SIZE, "%.6g", found->values[i]);
        snprintf(start, TEXT_SIZE, "%.6g", p->start);
        snprintf(bounds, TEXT_SIZE, "%.4g to %.4g", p->low, p->high);
        if (!isnan(found->deviations[i])) {
            snprintf(deviation, TEXT_SIZE, "%.2g", found->deviations[i]);
        }
        report_row(report, (const char*[]){p->path, value, deviation, start, bounds,
                                           p->log ? "log" : "linear"});
    }
}

static double* scaled(const double* x, int count, double factor) {
    double* out = calloc((size_t)count + 1, sizeof *out);
    for (int i = 0; i < count && out != NULL; ++i) {
        out[i] = factor * x[i];
    }
    return out;
}

static void plot_time(Report* report, const Fit* fit, const Found* found) {
    int count = fit->data.moment_count;
    double* first = scaled(found->first.curve, count, MM);
    double* best = scaled(found->best.curve, count, MM);
    if (first != NULL && best != NULL) {
        PlotSeries series[] = {{"at the start", fit->data.times, first, count, PLOT_DASHED},
                               {"found", fit->data.times, best, count, PLOT_LINE}};
        report_plot(report,
                    &(Plot){.title = "Error over time",
                            .x = {.label = "time", .unit = "s"},
                            .y = {.label = "error", .unit = "mm"},
                            .series = series,
                            .series_count = 2},
                    "error");
    }
    free(first);
    free(best);
}

static void plot_search(Report* report, const Found* found) {
    int count = found->history_count;
    double *each = scaled(found->history, count, MM), *best = scaled(found->history, count, MM);
    double* number = scaled(found->history, count, 0.0);
    if (each != NULL && best != NULL && number != NULL) {
        for (int i = 0; i < count; ++i) {
            number[i] = i + 1;
            best[i] = i == 0 ? each[i] : fmin(best[i - 1], each[i]);
        }
        PlotSeries series[] = {{"evaluation", number, each, count, PLOT_MARKS},
                               {"best so far", number, best, count, PLOT_STEPS}};
        report_plot(report,
                    &(Plot){.title = "Error over evaluations",
                            .x = {.label = "evaluation"},
                            .y = {.label = "error", .unit = "mm", .log = true},
                            .series = series,
                            .series_count = 2},
                    "search");
    }
    free(each);
    free(best);
    free(number);
}

static void plot_sweeps(Report* report, const Fit* fit, const Found* found) {
    int count = found->sweep_count, all = count * fit->parameter_count;
    double *x = scaled(found->sweep_values, all, 1.0), *y = scaled(found->sweep_errors, all, MM);
    PlotSeries series[PARAMETERS_MAX];
    for (int p = 0; p < fit->parameter_count && x != NULL && y != NULL; ++p) {
        double value = found->values[p];
        for (int k = 0; k < count; ++k) {
            x[p * count + k] /= value == 0.0 ? 1.0 : value;
        }
        series[p] = (PlotSeries){fit->parameters[p].path, x + p * count, y + p * count, count,
                                 PLOT_MARKED_LINE};
    }
    if (x != NULL && y != NULL) {
        report_plot(report,
                    &(Plot){.title = "Sensitivity: one parameter changed",
                            .x = {.label = "value over the value found"},
                            .y = {.label = "error", .unit = "mm"},
                            .series = series,
                            .series_count = fit->parameter_count},
                    "sweep");
    }
    free(x);
    free(y);
}

bool fit_report(const Fit* fit, const Found* found, const char* folder) {
    bool written = write_scene(fit, found, folder) && write_markers(fit, found, folder);
    Report* report = report_open(folder, "A scene fitted to a recording");
    if (report == NULL) {
        return false;
    }
    report_text(report,
                "%s against %d markers at %d moments: the mean error is %.4g mm, with the values "
                "at the start %.4g mm; its standard deviation over markers is %.4g mm on the mean.",
                fit->scene, fit->data.marker_count, fit->data.moment_count, MM * found->best.error,
                MM * found->first.error, MM * found->best.spread);
    report_text(report, "%s after %d evaluations: %s. %d of all %d runs failed.",
                found->converged ? "Converged" : "Not converged", found->evaluations, found->end,
                fit->failed, fit->count);
    show_parameters(report, fit, found);
    report_text(report, "A standard deviation is what noise of the recording, independent from "
                        "moment to moment, leaves uncertain; what the scene cannot follow is not "
                        "in it.");
    plot_time(report, fit, found);
    plot_search(report, found);
    if (found->sweep_count > 0) {
        plot_sweeps(report, fit, found);
    }
    return report_close(report) && written;
}
