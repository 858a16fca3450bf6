// Expressions: what they say, their derivatives against differences, bounds against samples, and
// texts that are none.
#include "tendril/formats.h"

#include "capture.h"
#define RANDOM_SEED 11
#include "ref/random_vectors.h"
#include "test.h"

static TdlImplicit parse(const char* text) {
    TdlHost host = tdl_host_default();
    TdlImplicit h = {0};
    if (tdl_implicit_parse(&host, text, &h) != TDL_STATUS_OK) {
        FAIL("'%s' was refused", text);
    }
    return h;
}

static void release(TdlImplicit* h) {
    TdlHost host = tdl_host_default();
    tdl_implicit_free(&host, h);
}

static double value_at(const TdlImplicit* h, double x, double y, double z) {
    TdlImplicitPoint p;
    h->at(h->data, (TdlVec3){x, y, z}, &p);
    return p.value;
}

TEST(values_are_what_is_written) {
    static const struct {
        const char* text;
        double value; // at (0.3, -0.7, 2)
    } CASES[] = {
        {"x", 0.3},
        {"x + y*z", 0.3 - 1.4},
        {"-x^2 + 0*y", -0.09},
        {"(-x)^2", 0.09},
        {"2^3^2 * x", 512 * 0.3},
        {"z^-1", 0.5},
        {"x - y - z", -1.0},
        {"z/x/y", 2.0 / 0.3 / -0.7},
        {"sin(pi*x) + cos(y) - exp(-z)", 0.0},
        {"sqrt(z) + abs(y) + min(x, y, z) - max(x, y)", 0.0},
        {"1.5e-1*x + .5*y + 2.*z", 0.045 - 0.35 + 4.0},
        {" \t x\n*  ( + y ) ", -0.21},
        {"z^0.5 + z^1.5 + x^3 + y^0 + y^1", 0.0},
    };
    double x = 0.3, y = -0.7, z = 2.0, pi = 3.14159265358979323846;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; ++i) {
        TdlImplicit h = parse(CASES[i].text);
        double expected = CASES[i].value;
        expected = i == 8 ? sin(pi * x) + cos(y) - exp(-z) : expected;
        expected = i == 9 ? sqrt(z) + 0.7 - 0.7 - 0.3 : expected;
        expected = i == 12 ? sqrt(z) + z * sqrt(z) + x * x * x + 1.0 + y : expected;
        CHECK_NEAR(value_at(&h, x, y, z), expected, 4.0e-15);
        release(&h);
    }
}

// Every operation, each of them smooth where it is asked.
static const char* const SMOOTH[] = {
    "20*0.075*z - sin(20*x)*sin(20*y)",
    "x^2 + y^2 + z^2 - 0.15^2",
    "sqrt(x^2 + 2*y^2 + z^2 + 0.1) - 0.15",
    "exp(x*y - z) / (2 + cos(3*x + y*z)) - abs(z + 3)^1.5",
    "min(x + 10, y - 10) + max(z + 20, x*y) / (x^2 + 1) + (x + 4)^-2",
    "(x - y*z)^3 - (x + 5)^-1 * (2 - z)^0.5",
};
enum { SMOOTH_COUNT = sizeof SMOOTH / sizeof *SMOOTH };

static double component(TdlVec3 v, int k) {
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

static TdlVec3 moved(TdlVec3 p, int k, double by) {
    p.x += k == 0 ? by : 0.0;
    p.y += k == 1 ? by : 0.0;
    p.z += k == 2 ? by : 0.0;
    return p;
}

// Worst error of both derivatives by central differences of a step, relative to their sizes.
static double difference_error(const TdlImplicit* h, TdlVec3 p, double step) {
    static const int PAIR[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    TdlImplicitPoint at, a, b;
    double worst = 0.0;
    h->at(h->data, p, &at);
    for (int k = 0; k < 3; ++k) {
        h->at(h->data, moved(p, k, step), &a);
        h->at(h->data, moved(p, k, -step), &b);
        double slope = (a.value - b.value) / (2.0 * step);
        worst = fmax(worst, fabs(slope - component(at.gradient, k)) / (1.0 + fabs(slope)));
        for (int m = 0; m < 6; ++m) {
            if (PAIR[m][0] == k) {
                int j = PAIR[m][1];
                double bend = (component(a.gradient, j) - component(b.gradient, j)) / (2.0 * step);
                worst = fmax(worst, fabs(bend - at.second[m]) / (1.0 + fabs(bend)));
            }
        }
    }
    return worst;
}

// A third of the step gives a ninth of the error: second order, at three sizes.
TEST(derivatives_agree_with_differences) {
    for (int i = 0; i < SMOOTH_COUNT; ++i) {
        TdlImplicit h = parse(SMOOTH[i]);
        double error[3] = {0};
        for (int n = 0; n < 50; ++n) {
            TdlVec3 p = random_vector(0.9);
            for (int k = 0; k < 3; ++k) {
                error[k] = fmax(error[k], difference_error(&h, p, 9.0e-4 / pow(3.0, k)));
            }
        }
        // polynomials of degree two have no error but rounding
        if (error[2] > 1.0e-9) {
            CHECK_NEAR(error[0] / error[1], 9.0, 0.5);
            CHECK_NEAR(error[1] / error[2], 9.0, 0.5);
        }
        CHECK_BELOW(error[2], 2.0e-4);
        release(&h);
    }
}

static bool holds(double low, double x, double high) {
    return x >= low && x <= high;
}

// Bounds hold at every sample, edges included, and close in on a small box.
TEST(bounds_hold) {
    static const char* const ROUGH[] = {"max(abs(x), abs(y), abs(z)) - 0.3", "z + sqrt(x^2 + y^2)",
                                        "1/x + y/z", "min(sin(9*x), cos(7*y)) - z^0.5"};
    for (int i = 0; i < SMOOTH_COUNT + 4; ++i) {
        TdlImplicit h = parse(i < SMOOTH_COUNT ? SMOOTH[i] : ROUGH[i - SMOOTH_COUNT]);
        int missed = 0;
        double widest = 0.0;
        for (int n = 0; n < 2000; ++n) {
            double size = n % 2 == 0 ? 0.3 : 1.0e-6;
            TdlVec3 low = random_vector(0.9), side = random_vector(size);
            TdlVec3 high = tdl_add3(low, (TdlVec3){fabs(side.x), fabs(side.y), fabs(side.z)});
            TdlImplicitBounds b;
            TdlImplicitPoint p;
            h.over(h.data, low, high, &b);
            for (int k = 0; k < 10; ++k) {
                double u = k < 2 ? k : random_between(0.0, 1.0),
                       v = k < 2 ? k : random_between(0.0, 1.0);
                TdlVec3 x = {low.x + u * (high.x - low.x), low.y + v * (high.y - low.y),
                             k < 2 ? (k == 0 ? low.z : high.z) : low.z + u * v * (high.z - low.z)};
                x.x = fmin(x.x, high.x);
                x.y = fmin(x.y, high.y);
                h.at(h.data, x, &p);
                if (isnan(p.value)) {
                    missed += !(isinf(b.low) && isinf(b.high)); // not defined: nothing is known
                    continue;
                }
                missed += !holds(b.low, p.value, b.high);
                for (int m = 0; m < 3; ++m) {
                    missed += isfinite(component(p.gradient, m)) &&
                              !holds(component(b.gradient_low, m), component(p.gradient, m),
                                     component(b.gradient_high, m));
                }
                for (int m = 0; m < 6; ++m) {
                    missed += isfinite(p.second[m]) &&
                              !holds(b.second_low[m], p.second[m], b.second_high[m]);
                }
            }
            if (n % 2 == 1 && i < SMOOTH_COUNT) {
                widest = fmax(widest, (b.high - b.low) / (1.0 + fabs(p.value)));
            }
        }
        CHECK_INT(missed, 0);
        CHECK_BELOW(widest, 1.0e-3);
        release(&h);
    }
}

// What is not defined somewhere is so in all of it.
TEST(undefined_parts_are_not_passed_over) {
    static const char* const TEXT[] = {"min(x, y^0.5)", "min(y^0.5, x)", "max(sqrt(y), x, 3)",
                                       "abs(sqrt(y)) + x"};
    for (int i = 0; i < 4; ++i) {
        TdlImplicit h = parse(TEXT[i]);
        CHECK(isnan(value_at(&h, 0.1, -0.5, 0.0)));
        CHECK(isfinite(value_at(&h, 0.1, 0.5, 0.0)));
        release(&h);
    }
}

TEST(mistakes_are_told_with_their_place) {
    static const struct {
        const char *text, *message;
    } CASES[] = {
        {"", "character 1: it ends too early"},
        {"x +", "character 4: it ends too early"},
        {"x + foo", "character 5: 'foo' is not x"},
        {"x * (y", "character 7: ')' is missing"},
        {"x y", "character 3: an operation belongs here"},
        {"x ) ", "character 3: an operation belongs here"},
        {"sin x", "character 5: '(' is missing"},
        {"min(x)", "character 6: min and max take two or more"},
        {"x^y", "character 2: a power must be a number"},
        {"3 + 4", "character 1: it has none of x, y and z"},
        {"x + 1/0", "character 6: this is not a finite number"},
        {"x + sqrt(-1)", "character 5: this is not a finite number"},
        {"x + 1e999", "character 5: this is not a number that can be used"},
        {"x + 1.2.3", "character 5: this is not a number that can be used"},
        {"x + $", "character 5: a number, a name or '(' belongs here"},
        {"x, y", "character 2: an operation belongs here"},
        {"x + nan", "character 5: 'nan' is not"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; ++i) {
        Capture capture;
        TdlHost host = capture_host(&capture);
        TdlImplicit h = {0};
        CHECK(tdl_implicit_parse(&host, CASES[i].text, &h) == TDL_STATUS_BAD_INPUT);
        if (strstr(capture.text, CASES[i].message) == NULL) {
            FAIL("'%s' gave: %s", CASES[i].text, capture.text);
        }
        CHECK(h.data == NULL);
    }
}

// What nests too deep or goes on for too long ends, without recursion that grows with it.
TEST(hostile_texts_end) {
    enum { LONG = 200000 };
    static const char* const PATTERN[] = {"(", "-", "sin(", "x^", "x+", "2^", "min(x,"};
    char* text = malloc(LONG + 8);
    for (size_t i = 0; i < sizeof PATTERN / sizeof *PATTERN; ++i) {
        size_t each = strlen(PATTERN[i]), at = 0;
        for (; at + each < LONG; at += each) {
            memcpy(text + at, PATTERN[i], each);
        }
        memcpy(text + at, "x", 2);
        Capture capture;
        TdlHost host = capture_host(&capture);
        TdlImplicit h = {0};
        CHECK(tdl_implicit_parse(&host, text, &h) == TDL_STATUS_BAD_INPUT);
    }
    free(text);
}

// --- of the time --------------------------------------------------------------------------------

TEST(functions_of_the_time_are_what_is_written) {
    static const struct {
        const char* text;
        double value; // at t = 0.3
    } CASES[] = {
        {"t", 0.3},
        {"0.25", 0.25},
        {"-1.5e-3", -1.5e-3},
        {"49/49", 1.0},
        {"2*t + t/0.3", 1.6},
        {"floor(10*t + 0.5) + floor(-t)", 2.0},
        {"step(t - 0.3) + 2*step(t - 0.31) + 4*step(0.3 - t)", 5.0},
        {"ramp(t) + ramp(2*t - 1) + ramp(10*t)", 1.3},
        {"smooth(t + 0.2) + smooth(-t) + smooth(9)", 1.5},
        {"min(t, 0.1, 5) + max(t, 0.1)", 0.4},
        {"tan(t) - tanh(t) + log(exp(t)) + sqrt(t^2) - abs(-t)", 0.0},
    };
    TdlHost host = tdl_host_default();
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; ++i) {
        const char* const text[6] = {NULL, CASES[i].text, "1", "t", NULL, CASES[i].text};
        TdlTimeFn fn;
        REQUIRE(tdl_time_fn_parse(&host, text, &fn) == TDL_STATUS_OK);
        TdlVec3 value[2];
        fn.at(fn.data, 0.3, value);
        double expected = CASES[i].value;
        expected = i == 10 ? tan(0.3) - tanh(0.3) + 0.3 : expected;
        CHECK_NEAR(value[0].y, expected, 4.0e-15); // some roundings of numbers about 1
        CHECK(value[0].x == 0.0 && value[0].z == 1.0 && value[1].x == 0.3 && value[1].y == 0.0);
        CHECK(value[1].z == value[0].y);
        tdl_time_fn_free(&host, &fn);
    }
}

// It is 0 and 1 beyond its ends, and what it says there is met without a kink: by its velocity and
// acceleration from differences.
TEST(smooth_goes_from_rest_to_rest) {
    TdlHost host = tdl_host_default();
    const char* const text[6] = {"smooth(t)"};
    TdlTimeFn fn;
    REQUIRE(tdl_time_fn_parse(&host, text, &fn) == TDL_STATUS_OK);
    for (int k = 0; k < 2; ++k) {
        double h = 1.0e-4;
        TdlVec3 a[2], b[2], c[2];
        fn.at(fn.data, k - h, a);
        fn.at(fn.data, k, b);
        fn.at(fn.data, k + h, c);
        CHECK_NEAR(b[0].x, k, 0.0);
        CHECK_NEAR((c[0].x - a[0].x) / (2.0 * h), 0.0, 6.0 * h * h); // 10 h^3 / 2 h
        CHECK_NEAR((c[0].x - 2.0 * b[0].x + a[0].x) / (h * h), 0.0, 11.0 * h);
    }
    tdl_time_fn_free(&host, &fn);
}

TEST(what_is_no_function_of_the_time_is_told_with_its_place) {
    static const struct {
        const char *text, *message;
    } BAD[] = {
        {"", "expression, at character 1: it ends too early"},
        {"2*x",
         "expression, at character 3: 'x' is not t, pi, sin, cos, exp, sqrt, abs, min or max, "
         "nor tan, tanh, log, floor, step, ramp or smooth"},
        {"t^t", "expression, at character 2: a power must be a number, without t"},
        {"3.5 N", "expression, at character 5: an operation belongs here: + - * / or ^"},
        {"log(0)", "expression, at character 1: this is not a finite number"},
        {"step t", "expression, at character 6: '(' is missing"},
        {"ramp(t, 1)", "expression, at character 7: ')' is missing"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; ++i) {
        Capture heard;
        TdlHost host = capture_host(&heard);
        const char* const text[6] = {"t", NULL, BAD[i].text};
        TdlTimeFn fn;
        CHECK_INT(tdl_time_fn_parse(&host, text, &fn), TDL_STATUS_BAD_INPUT);
        CHECK_INT(heard.errors, 1);
        CHECK_TEXT(heard.text, BAD[i].message);
        CHECK(fn.at == NULL && fn.data == NULL);
    }
    // those of the time have no bounds
    Capture heard;
    TdlHost host = capture_host(&heard);
    TdlImplicit h = {0};
    CHECK_INT(tdl_implicit_parse(&host, "step(x)", &h), TDL_STATUS_BAD_INPUT);
    CHECK_INT(tdl_implicit_parse(&host, "t + x", &h), TDL_STATUS_BAD_INPUT);
}
