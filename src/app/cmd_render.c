// tendril render: pictures of a result. As SVG: every fibre as a line, some moments laid over each
// other from pale to dark, grains as dots, seen from afar (no perspective), with a scale. PNG is
// render_png.c's.
#include "app/colour_option.h"
#include "app/command.h"
#include "app/frame_reader.h"
#include "app/json.h"
#include "app/output.h"
#include "app/render_png.h"
#include "app/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 900, HEIGHT = 700, MARGIN = 40, FOOT = 40 };

// Above this many fibres only the last moment is drawn unless asked otherwise.
enum { CROWD = 100, DEFAULT_MOMENTS = 12 };

// Dots of a moment: more make a file that no program likes to open. Of more particles one in so
// many is drawn, and larger, so that the picture is as full.
enum { MOST_DOTS = 20000 };

typedef struct View {
    double right[3], up[3]; // axes of the picture in the world
    double min[2], max[2];  // m, what must be seen
    double scale;           // pixels per m
} View;

typedef struct Drawing {
    TdlResult* result;
    TdlResultInfo info;
    View view;
    double* points; // [3 point_count]
    long* frames;   // [moment_count]
    int moment_count;
    const char* color;
    TdlResultGrains grains;
    GrainsScale scale;
    int every; // one particle in so many is drawn
} Drawing;

// Looks along the horizontal direction `azimuth` (degrees, 0 from -y to +y so that x is to the
// right), from `elevation` degrees above the horizon; z is up.
static View make_view(double azimuth, double elevation) {
    const double degree = 3.14159265358979323846 / 180.0;
    double ca = cos(azimuth * degree), sa = sin(azimuth * degree);
    double ce = cos(elevation * degree), se = sin(elevation * degree);
    return (View){.right = {ca, sa, 0.0},
                  .up = {-sa * se, ca * se, ce},
                  .min = {INFINITY, INFINITY},
                  .max = {-INFINITY, -INFINITY}};
}

static double along(const double axis[3], const double* x) {
    return axis[0] * x[0] + axis[1] * x[1] + axis[2] * x[2];
}

static void include(View* view, const double* x) {
    double p[2] = {along(view->right, x), along(view->up, x)};
    for (int c = 0; c < 2; ++c) {
        view->min[c] = fmin(view->min[c], p[c]);
        view->max[c] = fmax(view->max[c], p[c]);
    }
}

static TdlStatus measure_grains(Drawing* d, long frame) {
    const TdlResultParticle* particles;
    int count;
    TdlStatus status = tdl_result_read_particles(d->result, frame, &particles, &count);
    for (int i = 0; i < count; ++i) {
        include(&d->view, &particles[i].position.x);
    }
    grains_scale_grow(&d->scale, particles, count);
    int every = (count + MOST_DOTS - 1) / MOST_DOTS;
    d->every = every > d->every ? every : d->every;
    return status;
}

static TdlStatus measure(Drawing* d) {
    for (int k = 0; k < d->moment_count; ++k) {
        TdlStatus status = tdl_result_read_frame(d->result, d->frames[k], NULL, d->points);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        for (int i = 0; i < d->info.point_count; ++i) {
            include(&d->view, d->points + 3 * i);
        }
        status = measure_grains(d, d->frames[k]);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    if (!(d->view.min[0] <= d->view.max[0])) { // all grains are gone
        include(&d->view, (const double[3]){0});
    }
    double w = d->view.max[0] - d->view.min[0], h = d->view.max[1] - d->view.min[1];
    d->view.scale = fmin((WIDTH - 2 * MARGIN) / fmax(w, 1.0e-9),
                         (HEIGHT - 2 * MARGIN - FOOT) / fmax(h, 1.0e-9));
    return TDL_STATUS_OK;
}

// Pixels, with the content in the middle of its box.
static void project(const View* v, const double* x, double out[2]) {
    double w = (v->max[0] - v->min[0]) * v->scale, h = (v->max[1] - v->min[1]) * v->scale;
    double left = 0.5 * (WIDTH - w), bottom = 0.5 * (HEIGHT - FOOT + h);
    out[0] = left + (along(v->right, x) - v->min[0]) * v->scale;
    out[1] = bottom - (along(v->up, x) - v->min[1]) * v->scale;
}

static void put_color(FILE* out, Color c) {
    fprintf(out, "#%02x%02x%02x", (unsigned)lround(255.0 * c.r), (unsigned)lround(255.0 * c.g),
            (unsigned)lround(255.0 * c.b));
}

// The particles of a moment, those that are farther first.
static int compare_depth(const void* a, const void* b, void* user) {
    const View* v = user;
    const TdlResultParticle *p = a, *q = b;
    const double* r = v->right;
    const double *u = v->up, forward[3] = {u[1] * r[2] - u[2] * r[1], u[2] * r[0] - u[0] * r[2],
                                           u[0] * r[1] - u[1] * r[0]};
    double x = along(forward, &p->position.x), y = along(forward, &q->position.x);
    return x != y ? (x < y) - (x > y) : (p->number > q->number) - (p->number < q->number);
}

static TdlStatus draw_grains(const Drawing* d, int k, FILE* out) {
    const TdlResultParticle* all;
    int count, kept = 0;
    TdlStatus status = tdl_result_read_particles(d->result, d->frames[k], &all, &count);
    TdlResultParticle* dots = malloc(((size_t)count + 1) * sizeof *dots);
    if (status != TDL_STATUS_OK || dots == NULL) {
        free(dots);
        return status != TDL_STATUS_OK ? status : TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < count; ++i) {
        if (grains_one_in(d->every, all[i].number)) {
            dots[kept++] = all[i];
        }
    }
    qsort_r(dots, (size_t)kept, sizeof *dots, compare_depth, (void*)(uintptr_t)&d->view);
    double grown = d->grains.dimension == 2 ? sqrt(d->every) : cbrt(d->every);
    double radius = fmax(0.5, 0.56 * d->grains.size * grown * d->view.scale); // of the same area
    double age = d->moment_count > 1 ? (double)k / (d->moment_count - 1) : 1.0;
    fprintf(out, "<g stroke=\"none\" opacity=\"%.2f\">\n", 0.15 + 0.85 * age * age);
    for (int i = 0; i < kept; ++i) {
        double p[2];
        project(&d->view, &dots[i].position.x, p);
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.2f\" fill=\"", p[0], p[1], radius);
        put_color(out, grains_color(&d->scale, grains_colour_of(d->scale.which, &dots[i])));
        fprintf(out, "\"/>\n");
    }
    fprintf(out, "</g>\n");
    free(dots);
    return status;
}

static TdlStatus draw_moment(const Drawing* d, int k, FILE* out) {
    double time, age = d->moment_count > 1 ? (double)k / (d->moment_count - 1) : 1.0;
    TdlStatus status = tdl_result_read_frame(d->result, d->frames[k], &time, d->points);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    bool crowd = d->info.rod_count > CROWD;
    fprintf(
        out,
        "<g stroke=\"%s\" stroke-opacity=\"%.2f\" stroke-width=\"%s\"><title>t = %.4g s</title>\n",
        d->color, (crowd ? 0.2 : 0.15) + (crowd ? 0.25 : 0.85) * age * age,
        crowd ? "0.4" : (k == d->moment_count - 1 ? "2" : "1.2"), time);
    const int* start = tdl_result_point_start(d->result);
    for (int rod = 0; rod < d->info.rod_count; ++rod) {
        fprintf(out, "<polyline points=\"");
        for (int i = start[rod]; i < start[rod + 1]; ++i) {
            double p[2];
            project(&d->view, d->points + 3 * i, p);
            fprintf(out, "%.1f,%.1f ", p[0], p[1]);
        }
        fprintf(out, "\"/>\n");
    }
    status = d->info.has_grains ? draw_grains(d, k, out) : TDL_STATUS_OK;
    fprintf(out, "</g>\n");
    return status;
}

// The largest of 1, 2, 5 times a power of ten that is at most `length`.
static double round_length(double length) {
    double power = pow(10.0, floor(log10(length)));
    double lead = length / power;
    return power * (lead >= 5.0 ? 5.0 : lead >= 2.0 ? 2.0 : 1.0);
}

// What the colours of grains tell, above the foot at the right.
static void draw_legend(const Drawing* d, FILE* out) {
    enum { STEPS = 8, STEP = 14 };
    const GrainsScale* scale = &d->scale;
    double x = WIDTH - MARGIN - STEPS * STEP - 70.0, y = MARGIN - 12.0;
    for (int i = 0; i < STEPS; ++i) {
        double value = scale->least + (scale->most - scale->least) * i / (STEPS - 1);
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"12\" fill=\"", x + i * STEP,
                y - 11.0, STEP);
        put_color(out, grains_color(scale, value));
        fprintf(out, "\"/>\n");
    }
    fprintf(out,
            "<g font-family=\"sans-serif\" font-size=\"13\" fill=\"#333\">\n"
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s %.4g</text>\n"
            "<text x=\"%.1f\" y=\"%.1f\">%.4g %s</text>\n</g>\n",
            x - 6.0, y, grains_colour_name(scale->which), scale->least, x + STEPS * STEP + 6.0, y,
            scale->most, grains_colour_unit(scale->which));
}

static void draw_foot(const Drawing* d, FILE* out) {
    double length = round_length(0.25 * (WIDTH - 2 * MARGIN) / d->view.scale);
    const char* units[] = {"m", "mm", "&#181;m"};
    int unit = length >= 0.5 ? 0 : length >= 0.5e-3 ? 1 : 2;
    double value = length * (unit == 0 ? 1.0 : unit == 1 ? 1.0e3 : 1.0e6);
    double y = HEIGHT - 24.0, x = WIDTH - MARGIN;
    fprintf(out, "<g stroke=\"#333\" stroke-width=\"2\"><path d=\"M%.1f %.1fH%.1f\"/></g>\n", x, y,
            x - length * d->view.scale);
    fprintf(out,
            "<g font-family=\"sans-serif\" font-size=\"15\" fill=\"#333\">\n"
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.3g %s</text>\n",
            x, y - 8.0, value, units[unit]);
    fprintf(out, "<text x=\"%d\" y=\"%.1f\">", MARGIN, y);
    svg_text(out, d->info.title[0] == '\0' ? "Tendril" : d->info.title);
    fprintf(out, ", t = %.4g s</text>\n</g>\n", d->info.last_time);
}

static TdlStatus draw(Drawing* d, FILE* out) {
    TdlStatus status = measure(d);
    svg_open(out, WIDTH, HEIGHT);
    fprintf(out, "<g fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n");
    for (int k = 0; k < d->moment_count && status == TDL_STATUS_OK; ++k) {
        status = draw_moment(d, k, out);
    }
    fprintf(out, "</g>\n");
    if (d->info.has_grains && d->scale.most >= d->scale.least) {
        draw_legend(d, out);
    }
    draw_foot(d, out);
    svg_close(out);
    return status;
}

static void choose_frames(Drawing* d) {
    for (int k = 0; k < d->moment_count; ++k) {
        long last = d->info.frame_count - 1;
        d->frames[k] = d->moment_count > 1 ? last * k / (d->moment_count - 1) : last;
    }
}

static int write_picture(const Args* args, Drawing* d, const char* path) {
    FILE* out = output_open(path);
    if (out == NULL) {
        return output_failure();
    }
    TdlStatus status = draw(d, out);
    if (!output_close(out, status == TDL_STATUS_OK)) {
        return status != TDL_STATUS_OK ? exit_code(status) : output_failure();
    }
    if (args_has(args, "json")) {
        printf("{\"picture\": ");
        json_text(path);
        printf(", \"moments\": %d, \"rods\": %d", d->moment_count, d->info.rod_count);
        if (d->info.has_grains) {
            printf(", \"every\": %d", d->every);
        }
        printf("}\n");
    } else if (!args_has(args, "quiet")) {
        fprintf(stderr, "Drew %d moment%s of %d rod%s in %s\n", d->moment_count,
                d->moment_count == 1 ? "" : "s", d->info.rod_count,
                d->info.rod_count == 1 ? "" : "s", path);
        if (d->every > 1) {
            fprintf(stderr, "Of its grains one particle in %d is drawn; a .png has all\n",
                    d->every);
        }
    }
    return EXIT_DONE;
}

static int render_svg(const Args* args, const char* path, const ColourOption* colour) {
    TdlResult* result;
    TdlStatus status = tdl_result_open(args_host(args), args_operand(args, 0), &result);
    if (status != TDL_STATUS_OK) {
        return exit_code(status);
    }
    Drawing d = {.result = result,
                 .info = tdl_result_info(result),
                 .color = "#1b4f8a",
                 .scale = grains_scale(colour->grains),
                 .every = 1};
    if (d.info.has_grains) {
        d.grains = tdl_result_grains(result);
    }
    bool flat = d.info.has_grains && d.grains.dimension == 2;
    d.view = make_view(args_real(args, "azimuth", flat ? 0.0 : 20.0),
                       args_real(args, "elevation", flat ? 0.0 : 15.0));
    bool one = d.info.rod_count > CROWD || d.info.has_grains;
    int wanted = args_int(args, "moments", one ? 1 : DEFAULT_MOMENTS);
    d.moment_count = wanted < d.info.frame_count ? wanted : (int)d.info.frame_count;
    int code = EXIT_INPUT;
    if (!colour_is_there(colour, &d.info, args_operand(args, 0))) {
        code = EXIT_INPUT;
    } else if (d.moment_count < 1 || (d.info.point_count < 1 && !d.info.has_grains)) {
        fprintf(stderr, "%s: there is nothing to draw yet\n", args_operand(args, 0));
    } else {
        d.points = malloc((3 * (size_t)d.info.point_count + 1) * sizeof *d.points);
        d.frames = malloc((size_t)d.moment_count * sizeof *d.frames);
        code = EXIT_FAILED;
        if (d.points != NULL && d.frames != NULL) {
            choose_frames(&d);
            code = write_picture(args, &d, path);
        }
    }
    free(d.points);
    free(d.frames);
    tdl_result_close(result);
    return code;
}

static int run_render(const Args* args) {
    bool sheet = args_has(args, "contact-sheet");
    const char* path = args_text(args, "output", sheet ? "sheet.png" : "picture.svg");
    const char* ending = strrchr(path, '.');
    if (ending != NULL && strcmp(ending, ".png") == 0) {
        return render_png(args, path);
    }
    if (ending == NULL || strcmp(ending, ".svg") != 0) {
        return usage_error(args, "'%s' must end in .svg or .png", path);
    }
    ColourOption colour;
    if (!colour_option(args, &colour)) {
        return EXIT_USAGE;
    }
    if (sheet || args_has(args, "frames") || args_has(args, "width") || args_has(args, "height") ||
        colour.inner != INNER_NONE) {
        return usage_error(args, "--contact-sheet, --frames, --width, --height and --colour of "
                                 "rods go with .png");
    }
    return render_svg(args, path, &colour);
}

static const Option RENDER_OPTIONS[] = {
    {"output", 'o', OPTION_OUTPUT, "FILE", 0, 0,
     "the picture, .svg or .png, or frame%04d.png for a film; default picture.svg", false},
    {"moments", 'm', OPTION_INT, "N", 1, 1000,
     "how many moments to lay over each other in an .svg, or to put on a sheet; default 12, or 1 "
     "in an .svg for more than 100 rods or for grains",
     false},
    {"contact-sheet", 0, OPTION_SWITCH, NULL, 0, 0,
     "put many frames on one .png, default sheet.png", false},
    {"frames", 0, OPTION_TEXT, "SLICE", 0, 0, FRAMES_HELP "; default: the last, of a film all",
     false},
    {"width", 0, OPTION_INT, "N", 64, 8192, "of a .png, pixels; default 960, on a sheet 320",
     false},
    {"height", 0, OPTION_INT, "N", 64, 8192, "likewise; default 720, on a sheet 240", false},
    {"colour", 0, OPTION_TEXT, "WHAT", 0, 0,
     "colour the rods of a .png by what they bear: " INNER_FORCE_HELP
     "; the scene keeps it with 'output: {forces: true}'. Or grains by " GRAINS_COLOUR_HELP
     "; default speed",
     false},
    {"azimuth", 0, OPTION_REAL, "DEG", -360, 360,
     "turn about the vertical; 0 has x to the right; default 20, of grains in two dimensions 0",
     false},
    {"elevation", 0, OPTION_REAL, "DEG", -90, 90,
     "height of the eye; default 15, of grains in two dimensions 0", false},
    {0},
};

const Command RENDER_COMMAND = {
    .name = "render",
    .operands = "DIR",
    .summary = "Draw a result: SVG, PNG, the frames of a film",
    .text =
        "In an .svg every rod is a line; moments from the first frame to the last are laid\n"
        "over each other from pale to dark. A .png shows one frame with shaded tubes and\n"
        "bodies; a name with %04d makes a picture of every frame, all from one point of view,\n"
        "and tells the ffmpeg line that makes them a film. Hairs thinner than a pixel are\n"
        "drawn a pixel wide. The length of the bar is given beside it. Grains are dots with the\n"
        "colour of their speed, pressure or fraction; of more than 20,000 in an .svg one in so\n"
        "many is drawn, larger, and told.",
    .example = "tendril render out/hanging-curl -o curl.svg\n"
               "tendril render out/hanging-curl -o frame%04d.png\n"
               "tendril render out/hanging-curl --contact-sheet\n"
               "tendril render out/wisp --azimuth 0 --elevation 90 -o from-above.svg",
    .options = RENDER_OPTIONS,
    .run = run_render,
};
