// Plots: the SVG is read again, and its ticks must lie where its data says they should.
#include "app/plot.h"
#include "scratch.h"
#include "test.h"

#include "base/rng.h"

typedef struct Mark {
    double x, y;
} Mark;

typedef struct Picture {
    int mark_count, x_count, y_count;
    Mark marks[512];              // circles: those of the first series
    double x_at[64], x_value[64]; // pixels and numbers of the ticks
    double y_at[64], y_value[64];
    char* text;
} Picture;

// The number a label shows: "0.2", "10<tspan ...>-4</tspan>", "5&#183;10<tspan ...>-4</tspan>".
static double label_value(const char* text) {
    double lead = strtod(text, NULL);
    const char* dot = strstr(text, "&#183;10<");
    const char* end = strchr(text, '<');
    const char* exponent = strstr(text, "size=\"10\">");
    const char* close = strstr(text, "</text>");
    if (end == NULL || exponent == NULL || exponent > close) {
        return lead;
    }
    double power = pow(10.0, strtod(exponent + strlen("size=\"10\">"), NULL));
    return dot != NULL && dot < close ? lead * power : power;
}

static bool has_xmllint(void) {
    static int known = -1;
    known = known >= 0 ? known : system("command -v xmllint >/dev/null 2>&1") == 0;
    return known == 1;
}

static bool well_formed(const char* path) {
    char line[1200];
    snprintf(line, sizeof line, "xmllint --noout '%s'", path);
    return !has_xmllint() || system(line) == 0;
}

static Picture look(const Plot* plot, const char* name) {
    static Scratch scratch;
    scratch = scratch_make();
    Picture p = {0};
    const char* path = scratch_path(&scratch, name);
    CHECK(plot_write(plot, path));
    CHECK(well_formed(path));
    p.text = scratch_read(path, NULL);
    for (const char* c = p.text; (c = strstr(c, "<circle cx=\"")) != NULL; ++c) {
        Mark m;
        if (sscanf(c, "<circle cx=\"%lf\" cy=\"%lf\"", &m.x, &m.y) == 2 && p.mark_count < 512) {
            p.marks[p.mark_count++] = m;
        }
    }
    for (const char* c = p.text; (c = strstr(c, "<text class=\"")) != NULL; ++c) {
        char axis;
        double x, y;
        if (sscanf(c, "<text class=\"%c\" x=\"%lf\" y=\"%lf\"", &axis, &x, &y) == 3) {
            double value = label_value(strchr(c, '>') + 1);
            double* at = axis == 'x' ? p.x_at : p.y_at;
            double* values = axis == 'x' ? p.x_value : p.y_value;
            int* count = axis == 'x' ? &p.x_count : &p.y_count;
            at[*count] = axis == 'x' ? x : y - 4.5; // numbers stand a little below their line
            values[(*count)++] = value;
        }
    }
    scratch_remove(&scratch);
    return p;
}

static double place(bool log, double value) {
    return log ? log10(value) : value;
}

// All ticks and two data points must lie on one affine map from value to pixel.
static void check_axis(const char* what, bool log, const double* at, const double* value, int count,
                       double power, const double data[2], const double data_at[2]) {
    double slope = (data_at[1] - data_at[0]) / (place(log, data[1]) - place(log, data[0]));
    for (int i = 0; i < count; ++i) {
        double expected = data_at[0] + slope * (place(log, value[i] * power) - place(log, data[0]));
        if (!(fabs(at[i] - expected) <= 0.03)) { // pixels are written with two digits
            FAIL("%s: tick %g at %.2f, expected %.2f", what, value[i], at[i], expected);
        }
    }
    if (count < 3 || count > 13) {
        FAIL("%s: %d ticks for data from %g to %g", what, count, data[0], data[1]);
    }
}

// The power of ten that a label names, "(10<tspan ...>-6</tspan>".
static double axis_power(const char* text, const char* label) {
    const char* at = strstr(text, label);
    const char* open = at == NULL ? NULL : strstr(at, " (10<tspan");
    const char* close = at == NULL ? NULL : strstr(at, "</text>");
    return open == NULL || open > close ? 1.0
                                        : pow(10.0, strtod(strstr(open, "\"10\">") + 5, NULL));
}

static bool nice_step(double step) {
    double lead = step / pow(10.0, floor(log10(step) + 1.0e-6));
    return fabs(lead - 1.0) < 1.0e-6 || fabs(lead - 2.0) < 1.0e-6 || fabs(lead - 5.0) < 1.0e-6;
}

TEST(pictures_are_read_by_a_parser_of_xml) {
    if (!has_xmllint()) {
        SKIP("xmllint is not there: the pictures below are not parsed");
    }
}

TEST(ticks_lie_where_the_data_says) {
    Rng rng = rng_seed(7);
    for (int trial = 0; trial < 200; ++trial) {
        bool log_x = trial % 2 == 1, log_y = trial / 2 % 2 == 1;
        double size_x = pow(10.0, rng_range(&rng, -9.0, 9.0));
        double size_y = pow(10.0, rng_range(&rng, -9.0, 9.0));
        double spread = rng_range(&rng, 0.1, 10.0); // decades on log axes
        double x[3], y[3];
        for (int i = 0; i < 3; ++i) {
            double u = 0.5 * i, w = i == 0 ? 0.3 : i == 1 ? 1.0 : 0.0;
            x[i] = size_x * (log_x ? pow(10.0, u * spread) : u - 0.4);
            y[i] = size_y * (log_y ? pow(10.0, w * spread) : 3.0 + w);
        }
        PlotSeries series = {"s", x, y, 3, PLOT_MARKED_LINE};
        Plot plot = {.title = "t",
                     .x = {.label = "abscissa", .unit = "m", .log = log_x},
                     .y = {.label = "ordinate", .unit = "N", .log = log_y},
                     .series = &series,
                     .series_count = 1};
        Picture p = look(&plot, "a.svg");
        REQUIRE(p.mark_count == 4); // and one in the legend
        double dx[] = {x[0], x[2]}, px[] = {p.marks[0].x, p.marks[2].x};
        double dy[] = {y[1], y[2]}, py[] = {p.marks[1].y, p.marks[2].y};
        check_axis("x", log_x, p.x_at, p.x_value, p.x_count, axis_power(p.text, "abscissa"), dx,
                   px);
        check_axis("y", log_y, p.y_at, p.y_value, p.y_count, axis_power(p.text, "ordinate"), dy,
                   py);
        if (!log_x) {
            for (int i = 0; i + 1 < p.x_count; ++i) {
                CHECK(nice_step(p.x_value[i + 1] - p.x_value[i]));
            }
        }
        free(p.text);
    }
}

TEST(what_cannot_be_drawn_is_left_out) {
    double x[] = {1.0, 2.0, NAN, 4.0, 5.0, 6.0, 7.0},
           y[] = {1.0, -2.0, 3.0, 0.0, INFINITY, 1e-320, 9.0};
    PlotSeries series = {"a", x, y, 7, PLOT_MARKED_LINE};
    Plot plot = {.series = &series, .series_count = 1};
    Picture p = look(&plot, "linear.svg");
    CHECK_INT(p.mark_count, 5 + 1);
    CHECK(strstr(p.text, "nan") == NULL && strstr(p.text, "inf") == NULL);
    free(p.text);
    plot.y.log = true;
    p = look(&plot, "log.svg");
    CHECK_INT(p.mark_count, 2 + 1);
    // the line is interrupted: it has two beginnings and no stroke between
    const char* line = strstr(p.text, "stroke-width=\"2\" d=\"M");
    REQUIRE(line != NULL);
    const char* end = strchr(line + 20, '"');
    int starts = 0;
    for (const char* c = line; c < end; ++c) {
        starts += *c == 'M';
        CHECK(*c != 'L');
    }
    CHECK_INT(starts, 2);
    CHECK(strstr(p.text, "nan") == NULL && strstr(p.text, "inf") == NULL);
    free(p.text);
}

TEST(little_or_nothing_to_draw) {
    double one = 3.0, same[] = {-2.0, -2.0, -2.0}, none = NAN, zero = 0.0;
    const PlotSeries cases[] = {{"one", &one, &one, 1, PLOT_MARKS},
                                {"same", same, same, 3, PLOT_MARKS},
                                {"zero", &zero, &zero, 1, PLOT_MARKS},
                                {"none", &none, &none, 1, PLOT_MARKS},
                                {"empty", NULL, NULL, 0, PLOT_MARKED_LINE}};
    const int drawn[] = {1, 3, 1, 0, 0};
    for (int i = 0; i < 5; ++i) {
        for (int log = 0; log < 2; ++log) {
            Plot plot = {.x.log = log, .y.log = log, .series = &cases[i], .series_count = 1};
            Picture p = look(&plot, "few.svg");
            int expected = log && i > 0 ? 0 : drawn[i];
            CHECK_INT(p.mark_count, expected + 1);
            CHECK((strstr(p.text, "nothing to show") != NULL) == (expected == 0));
            CHECK(p.x_count >= 2 && p.y_count >= 2);
            CHECK(strstr(p.text, "nan") == NULL && strstr(p.text, "inf") == NULL);
            for (int k = 0; k < expected; ++k) {
                CHECK(p.marks[k].x > 0.0 && p.marks[k].x < 900.0);
                CHECK(p.marks[k].y > 0.0 && p.marks[k].y < 560.0);
            }
            free(p.text);
        }
    }
    Plot empty = {.title = "no series"};
    Picture p = look(&empty, "empty.svg");
    CHECK(strstr(p.text, "nothing to show") != NULL);
    free(p.text);
}

TEST(extremes_stay_finite) {
    double x[] = {-1.0e308, 0.0, 1.0e308}, y[] = {1.0, 1.0 + 1e-15, 1.0 - 1e-15};
    PlotSeries series = {"far", x, y, 3, PLOT_LINE};
    for (int log = 0; log < 2; ++log) {
        Plot plot = {.x.log = log, .series = &series, .series_count = 1};
        Picture p = look(&plot, "far.svg");
        CHECK(strstr(p.text, "nan") == NULL && strstr(p.text, "inf") == NULL);
        free(p.text);
    }
    // data far outside the range asked for
    double u[] = {-1.0e200, 0.5, 1.0e200};
    PlotSeries wide = {"wide", u, u, 3, PLOT_MARKED_LINE};
    Plot plot = {
        .x = {.min = 0.0, .max = 1.0}, .y = {.max = 1.0}, .series = &wide, .series_count = 1};
    Picture p = look(&plot, "wide.svg");
    CHECK_INT(p.mark_count, 1 + 1);
    CHECK(strlen(p.text) < 20000);
    free(p.text);
}

TEST(text_is_escaped) {
    double one = 1.0;
    PlotSeries series = {"a<b & \"c\", \x01 \xff \xc3\xa9", &one, &one, 1, PLOT_STEPS};
    Plot plot = {.title = "</svg><",
                 .note = "\xed\xa0\x80 \xf5\x80\x80\x80 \xc0\x80",
                 .x = {.label = "&", .unit = "\""},
                 .series = &series,
                 .series_count = 1};
    Picture p = look(&plot, "text.svg");
    CHECK(strstr(p.text, "a&lt;b &amp; &quot;c&quot;, ? ? \xc3\xa9") != NULL);
    CHECK(strstr(p.text, "</svg><") == NULL);
    CHECK(strstr(p.text, ">?\?? ?\??? ?\?<") != NULL);
    free(p.text);
}

TEST(the_table_has_every_digit) {
    Scratch scratch = scratch_make();
    double x[] = {1.0 / 3.0, 2.0}, y[] = {0.1, NAN};
    PlotSeries series[] = {{"a,\"b\"", x, y, 2, PLOT_LINE}, {NULL, x, y, 1, PLOT_LINE}};
    Plot plot = {.x = {"time", "s", false, 0, 0}, .series = series, .series_count = 2};
    CHECK(plot_write(&plot, scratch_path(&scratch, "p.svg")));
    char* text = scratch_read(scratch_path(&scratch, "p.csv"), NULL);
    REQUIRE(text != NULL);
    CHECK_TEXT(text, "series,time (s),y\n"
                     "\"a,\"\"b\"\"\",0.33333333333333331,0.10000000000000001\n"
                     "\"a,\"\"b\"\"\",2,nan\n"
                     ",0.33333333333333331,0.10000000000000001\n");
    free(text);
    CHECK(!plot_write(&plot, scratch_path(&scratch, "no/p.svg")));
    // the table cannot be written: the picture does not stay either
    REQUIRE(mkdir(scratch_path(&scratch, "q.csv"), 0777) == 0);
    CHECK(!plot_write(&plot, scratch_path(&scratch, "q.svg")));
    CHECK(access(scratch_path(&scratch, "q.svg"), F_OK) != 0);
    scratch_remove(&scratch);
}
