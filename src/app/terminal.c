// Messages and progress on stderr.
#include "app/terminal.h"

#include "app/command.h"

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

// --- what strangers wrote
// -------------------------------------------------------------------------

// The code point at `text`, of which `size` bytes are there, and its length; 0: it is none.
static size_t decode(const unsigned char* text, size_t size, unsigned* code) {
    size_t length = text[0] < 0x80   ? 1
                    : text[0] < 0xc2 ? 0
                    : text[0] < 0xe0 ? 2
                    : text[0] < 0xf0 ? 3
                    : text[0] < 0xf5 ? 4
                                     : 0;
    if (length == 0 || length > size) {
        return 0;
    }
    *code = length == 1 ? text[0] : text[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; ++i) {
        if (text[i] >> 6 != 2) {
            return 0;
        }
        *code = *code << 6 | (text[i] & 0x3fu);
    }
    return length;
}

// Controls but for the end of a line and a tab, marks and embeddings of direction, ends of lines
// and paragraphs that few programs know.
static bool is_shown_by_number(unsigned code) {
    return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0) ||
           code == 0x61c || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
           code == 0xfeff;
}

static bool print_guarded(FILE* out, const unsigned char* text, size_t size) {
    for (size_t i = 0, length; i < size; i += length) {
        unsigned code = 0;
        length = decode(text + i, size - i, &code);
        if (length == 0) {
            fprintf(out, "\\x%02x", text[i]);
            length = 1;
        } else if (is_shown_by_number(code)) {
            fprintf(out, code < 0x80 ? "\\x%02x" : "\\u%04x", code);
        } else {
            fwrite(text + i, 1, length, out);
        }
    }
    return ferror(out) == 0;
}

void terminal_print(FILE* out, const char* text) {
    print_guarded(out, (const unsigned char*)text, strlen(text));
}

static FILE* unguarded; // stderr as it was, for our own colours and bars

// In one piece, as stderr has no buffer: who reads it must not find half a word.
static ssize_t write_guarded(void* cookie, const char* text, size_t size) {
    char* shown = NULL;
    size_t length = 0;
    FILE* memory = open_memstream(&shown, &length);
    if (memory == NULL) {
        return print_guarded(cookie, (const unsigned char*)text, size) ? (ssize_t)size : 0;
    }
    bool good = print_guarded(memory, (const unsigned char*)text, size);
    good = fclose(memory) == 0 && good && fwrite(shown, 1, length, cookie) == length;
    free(shown);
    return good ? (ssize_t)size : 0;
}

void terminal_guard(void) {
    unguarded = stderr;
    FILE* guarded = fopencookie(stderr, "w", (cookie_io_functions_t){.write = write_guarded});
    if (guarded != NULL) {
        setvbuf(guarded, NULL, _IOLBF, BUFSIZ); // whole lines, so that no character is cut
        stderr = guarded;
    }
}

// Straight to the terminal, behind what was printed before.
static FILE* plain(void) {
    fflush(stderr);
    return unguarded == NULL ? stderr : unguarded;
}

// --- messages
// -------------------------------------------------------------------------------------

static void clear_line(void) {
    if (bar.drawn) {
        fputs("\r\033[K", plain());
        bar.drawn = false;
    }
}

static volatile sig_atomic_t told_error; // threads may log at once

bool terminal_told_error(void) {
    return told_error != 0;
}

void terminal_log(void* user, TdlLogLevel level, const char* message) {
    (void)user;
    if (level == TDL_LOG_ERROR) {
        told_error = 1;
    }
    clear_line();
    // an error stands as it is, so that it starts with its file:line:column
    bool color = has_color();
    const char* start = !color || level > TDL_LOG_WARNING ? ""
                        : level == TDL_LOG_ERROR          ? "\033[31m"
                                                          : "\033[33m";
    const char* warning = level == TDL_LOG_WARNING ? "warning: " : "";
    if (start[0] == '\0') {
        fprintf(stderr, "%s%s\n", warning, message);
        return;
    }
    fputs(start, plain());
    fprintf(stderr, "%s%s", warning, message);
    fputs("\033[0m\n", plain());
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
    FILE* out = plain();
    fputs("\r\033[K", out);
    fprintf(out, "%3.0f%% ", 100.0 * fraction);
    if (width >= 8) {
        fputc('[', out);
        for (int i = 0; i < width; ++i) {
            fputc((double)i < fraction * width ? '=' : ' ', out);
        }
        fputs("] ", out);
    }
    fprintf(out, "%.*s", terminal_width() - 6, figures);
    fflush(out);
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

// --- faults
// ---------------------------------------------------------------------------------------

static void tell_fault(int number) {
    static const char TEXT[] =
        "tendril: a fault inside HDF5, most likely for want of memory; the last checkpoint of a "
        "run is whole: tendril run --resume DIR goes on from there\n";
    if (tdl_result_inside_hdf5()) {
        ssize_t written = write(STDERR_FILENO, TEXT, sizeof TEXT - 1);
        (void)written; // there is nobody left to tell
        _exit(EXIT_FAILED);
    }
    signal(number, SIG_DFL);
    raise(number);
}

void terminal_catch_faults(void) {
#if !defined(__SANITIZE_ADDRESS__) &&                                                              \
    !defined(__SANITIZE_THREAD__) // which tell of faults themselves
    static char stack[1 << 16];
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = tell_fault, .sa_flags = SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    sigaltstack(&own, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGABRT, &action, NULL);
#endif
}
