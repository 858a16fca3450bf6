// Messages and progress on stderr.
#include "app/terminal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

// Seconds between two drawings of the bar, and between two plain lines.
static const double REDRAW_PERIOD = 0.1;
static const double LINE_PERIOD = 5.0;

static struct {
    bool started, drawn;
    double start, last; // s
    double first_done;
} bar;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1.0e-9 * (double)t.tv_nsec;
}

static bool is_terminal(void) {
    const char* term = getenv("TERM");
    return isatty(STDERR_FILENO) && (term == NULL || strcmp(term, "dumb") != 0);
}

static bool has_color(void) {
    const char* no_color = getenv("NO_COLOR");
    return is_terminal() && (no_color == NULL || no_color[0] == '\0');
}

static void clear_line(void) {
    if (bar.drawn) {
        fputs("\r\033[K", stderr);
        bar.drawn = false;
    }
}

void terminal_log(void* user, TdlLogLevel level, const char* message) {
    (void)user;
    clear_line();
    // an error stands as it is, so that it starts with its file:line:column
    bool color = has_color();
    const char* start = !color || level > TDL_LOG_WARNING ? ""
                        : level == TDL_LOG_ERROR          ? "\033[31m"
                                                          : "\033[33m";
    fprintf(stderr, "%s%s%s%s\n", start, level == TDL_LOG_WARNING ? "warning: " : "", message,
            start[0] == '\0' ? "" : "\033[0m");
}

// "1:05" or "2:03:09"
static void print_duration(char* text, size_t size, double seconds) {
    long s = seconds < 1.0e7 ? (long)(seconds + 0.5) : 9999999;
    if (s >= 3600) {
        snprintf(text, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    } else {
        snprintf(text, size, "%ld:%02ld", s / 60, s % 60);
    }
}

static int terminal_width(void) {
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col;
    }
    return 80;
}

static void draw_bar(double fraction, const char* figures) {
    int width = terminal_width() - (int)strlen(figures) - 12;
    width = width > 40 ? 40 : width;
    fputs("\r\033[K", stderr);
    fprintf(stderr, "%3.0f%% ", 100.0 * fraction);
    if (width >= 8) {
        fputc('[', stderr);
        for (int i = 0; i < width; ++i) {
            fputc((double)i < fraction * width ? '=' : ' ', stderr);
        }
        fputs("] ", stderr);
    }
    fprintf(stderr, "%.*s", terminal_width() - 6, figures);
    fflush(stderr);
    bar.drawn = true;
}

void terminal_progress(double done, double total, const char* unit, const char* remark) {
    double time = now();
    if (!bar.started) {
        bar.started = true;
        bar.start = time;
        bar.last = time;
        bar.first_done = done;
        return;
    }
    bool live = is_terminal();
    bool end = done >= total;
    if (!end && time - bar.last < (live ? REDRAW_PERIOD : LINE_PERIOD)) {
        return;
    }
    bar.last = time;
    double elapsed = time - bar.start;
    double rate = elapsed > 0.0 ? (done - bar.first_done) / elapsed : 0.0;
    char left[32] = "?", figures[256];
    if (end) {
        print_duration(left, sizeof left, elapsed);
    } else if (rate > 0.0) {
        print_duration(left, sizeof left, (total - done) / rate);
    }
    snprintf(figures, sizeof figures, "%.0f/%.0f %s  %.4g/s  %s %s%s%s", done, total, unit, rate,
             end ? "in" : "left", left, remark == NULL ? "" : "  ", remark == NULL ? "" : remark);
    if (live) {
        draw_bar(total > 0.0 ? done / total : 1.0, figures);
        if (end) {
            fputc('\n', stderr);
        }
    } else {
        fprintf(stderr, "%3.0f%%  %s\n", total > 0.0 ? 100.0 * done / total : 100.0, figures);
    }
    if (end) {
        bar.drawn = false;
        bar.started = false;
    }
}

void terminal_end_progress(void) {
    clear_line();
    bar.started = false;
}

static volatile sig_atomic_t stop_asked;

static void ask_to_stop(int number) {
    (void)number;
    stop_asked = 1;
}

void terminal_catch_stop(void) {
    struct sigaction action = {.sa_handler = ask_to_stop, .sa_flags = SA_RESTART};
    action.sa_flags |= (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool terminal_stop_asked(void) {
    return stop_asked != 0;
}
