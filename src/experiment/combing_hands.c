// Helical perversion: hair whose curls change from one hand to the other on their way to the tip.
//
// Read from the frames of the result, so that it can be told of any experiment, however it was run.
#include "app/output.h"
#include "app/svg.h"
#include "experiment/combing.h"

#include <math.h>
#include <stdlib.h>

enum { DRAWN = 4, PANEL = 240, TALL = 460, EDGE = 20 };

static const char* const COLOURS[3] = {"#2a6f97", "#999999", "#c1440e"}; // left, none, right

typedef struct Reading {
    TdlResult* result;
    TdlResultInfo info;
    const int* start;
    double* points;
    int* hands; // of all points
} Reading;

static bool open_reading(const Args* args, const char* folder, Reading* r) {
    *r = (Reading){0};
    if (tdl_result_open(args_host(args), folder, &r->result) != TDL_STATUS_OK) {
        return false;
    }
    r->info = tdl_result_info(r->result);
    r->start = tdl_result_point_start(r->result);
    r->points = calloc(3 * (size_t)r->info.point_count + 3, sizeof *r->points);
    r->hands = calloc((size_t)r->info.point_count + 1, sizeof *r->hands);
    return r->points != NULL && r->hands != NULL;
}

static void close_reading(Reading* r) {
    free(r->points);
    free(r->hands);
    tdl_result_close(r->result);
}

static int changes_of(Reading* r, int rod) {
    int from = r->start[rod];
    return tdl_comb_hands(r->points + 3 * from, r->start[rod + 1] - from, r->hands + from);
}

bool combing_read_hands(const Args* args, Combing* combing) {
    Reading r;
    CombHands* hands = &combing->hands;
    double start = tdl_comb_times(&combing->def).start;
    bool good = open_reading(args, combing->folder, &r);
    size_t frames = good ? (size_t)r.info.frame_count : 0;
    hands->time = calloc(2 * frames + 1, sizeof *hands->time);
    good = good && hands->time != NULL;
    hands->hairs = good ? hands->time + frames : NULL;
    for (size_t f = 0; f < frames && good; ++f) {
        good = tdl_result_read_frame(r.result, (long)f, &hands->time[f], r.points) == TDL_STATUS_OK;
        for (int rod = 0; rod < r.info.rod_count && good; ++rod) {
            hands->hairs[f] += changes_of(&r, rod) > 0;
        }
        ++hands->count;
        // the first frame is of before another experiment's hair at rest was put in
        bool before = hands->time[f] <= start + 1.0e-9 || (combing->relaxed != NULL && f == 1);
        hands->before = before ? hands->hairs[f] : hands->before;
        hands->frame = hands->hairs[f] > hands->most ? (int)f : hands->frame;
        hands->most = fmax(hands->most, hands->hairs[f]);
        hands->last = hands->hairs[f];
    }
    close_reading(&r);
    return good;
}

// --- the picture ------------------------------------------------------------------------------

// What a hair takes up, seen from the side.
typedef struct Extent {
    double least[2], most[2]; // m, of x and z
} Extent;

static Extent extent_of(const Reading* r, int rod) {
    Extent e = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    for (int i = r->start[rod]; i < r->start[rod + 1]; ++i) {
        for (int k = 0; k < 2; ++k) {
            e.least[k] = fmin(e.least[k], r->points[3 * i + 2 * k]);
            e.most[k] = fmax(e.most[k], r->points[3 * i + 2 * k]);
        }
    }
    return e;
}

// Pixels per m at which it fits into its panel.
static double scale_of(Extent e) {
    return fmin((PANEL - 2 * EDGE) / (e.most[0] - e.least[0]),
                (TALL - 3 * EDGE) / (e.most[1] - e.least[1]));
}

// A hair from the side, its turns in the colours of their hands.
static void draw_hair(const Reading* r, int rod, int panel, double scale, FILE* out) {
    Extent e = extent_of(r, rod);
    fprintf(out, "<svg x=\"%d\" width=\"%d\" height=\"%d\"><g fill=\"none\" stroke-width=\"2\">\n",
            panel * PANEL, PANEL, TALL);
    for (int i = r->start[rod]; i + 1 < r->start[rod + 1]; ++i) {
        fprintf(out, "<path stroke=\"%s\" d=\"", COLOURS[1 + r->hands[i]]);
        for (int k = 0; k < 2; ++k) {
            const double* p = r->points + 3 * (size_t)(i + k);
            fprintf(out, "%c%.1f %.1f", "ML"[k],
                    0.5 * PANEL + (p[0] - 0.5 * (e.least[0] + e.most[0])) * scale,
                    EDGE + (e.most[1] - p[2]) * scale);
        }
        fprintf(out, "\"/>\n");
    }
    fprintf(out,
            "</g><text x=\"10\" y=\"%d\" font-family=\"sans-serif\" font-size=\"14\">hair "
            "%d</text></svg>\n",
            TALL - 6, rod);
}

bool combing_draw_hands(const Args* args, const Combing* combing) {
    char path[4200];
    Reading r;
    int chosen[DRAWN], count = 0;
    snprintf(path, sizeof path, "%s/hands.svg", combing->folder);
    bool good =
        open_reading(args, combing->folder, &r) &&
        tdl_result_read_frame(r.result, combing->hands.frame, NULL, r.points) == TDL_STATUS_OK;
    double scale = INFINITY;
    for (int rod = 0; good && rod < r.info.rod_count && count < DRAWN; ++rod) {
        if (changes_of(&r, rod) > 0) {
            chosen[count++] = rod;
            scale = fmin(scale, scale_of(extent_of(&r, rod)));
        }
    }
    FILE* out = good ? output_open(path) : NULL;
    good = out != NULL;
    if (good) {
        svg_open(out, DRAWN * PANEL, TALL);
        for (int i = 0; i < count; ++i) {
            draw_hair(&r, chosen[i], i, scale, out);
        }
        svg_close(out);
        good = output_close(out, true);
    }
    close_reading(&r);
    return good;
}
