// Reports. Pictures are put into the page as data, each an image of its own, so that nothing is
// loaded and names inside two pictures cannot meet.
#include "app/report.h"

#include "app/output.h"
#include "app/svg.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_SIZE = 4096 };

struct Report {
    FILE* page;
    char folder[PATH_SIZE];
    int columns; // of the table under way, else 0
    bool failed;
};

static const char STYLE[] =
    "body{font:16px/1.5 sans-serif;color:#222;max-width:960px;margin:2em auto;padding:0 1em}"
    "h1{font-size:1.6em}h2{font-size:1.2em;margin-top:2em}img{width:100%;border:1px solid #eee}"
    "table{border-collapse:collapse;font-size:.9em}td,th{padding:.2em .8em;border-bottom:1px solid "
    "#ddd;text-align:right}td:first-child,th:first-child{text-align:left}"
    "pre{background:#f4f4f4;padding:.8em;overflow-x:auto}";

// True when the folder is there.
static bool make_folder(const char* folder) {
    char path[PATH_SIZE];
    size_t length = strlen(folder);
    if (length == 0 || length >= sizeof path - 64) {
        errno = length == 0 ? ENOENT : ENAMETOOLONG;
        return false;
    }
    for (size_t i = 1; i <= length; ++i) {
        if (folder[i] == '/' || folder[i] == '\0') {
            memcpy(path, folder, i);
            path[i] = '\0';
            if (mkdir(path, 0777) != 0 && errno != EEXIST) {
                return false;
            }
        }
    }
    struct stat made;
    if (stat(folder, &made) != 0 || !S_ISDIR(made.st_mode)) {
        errno = ENOTDIR;
        return false;
    }
    return true;
}

bool report_make_folder(const char* folder) {
    bool made = make_folder(folder);
    if (!made) {
        fprintf(stderr, "tendril: cannot make the folder %s: %s\n", folder, strerror(errno));
    }
    return made;
}

static void join(char path[PATH_SIZE], const Report* report, const char* name, const char* ending) {
    snprintf(path, PATH_SIZE, "%.*s/%s%s", PATH_SIZE - 128, report->folder, name, ending);
}

Report* report_open(const char* folder, const char* title) {
    Report* report = calloc(1, sizeof *report);
    char path[PATH_SIZE];
    if (report == NULL || !report_make_folder(folder)) {
        free(report);
        return NULL;
    }
    snprintf(report->folder, sizeof report->folder, "%s", folder);
    join(path, report, "report", ".html");
    report->page = output_open(path);
    if (report->page == NULL) {
        free(report);
        return NULL;
    }
    fprintf(report->page, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n<title>");
    svg_text(report->page, title);
    fprintf(report->page, "</title>\n<style>%s</style>\n<h1>", STYLE);
    svg_text(report->page, title);
    fprintf(report->page, "</h1>\n");
    return report;
}

static void end_table(Report* report) {
    if (report->columns > 0) {
        fprintf(report->page, "</table>\n");
        report->columns = 0;
    }
}

static void put(Report* report, const char* tag, const char* text) {
    end_table(report);
    fprintf(report->page, "<%s>", tag);
    svg_text(report->page, text);
    fprintf(report->page, "</%s>\n", tag);
}

void report_heading(Report* report, const char* text) {
    put(report, "h2", text);
}

void report_command(Report* report, const char* command) {
    put(report, "pre", command);
}

void report_text(Report* report, const char* format, ...) {
    char text[PATH_SIZE];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    put(report, "p", text);
}

static void put_row(Report* report, const char* tag, const char* const* cells) {
    fprintf(report->page, "<tr>");
    for (int i = 0; i < report->columns; ++i) {
        fprintf(report->page, "<%s>", tag);
        svg_text(report->page, cells[i]);
        fprintf(report->page, "</%s>", tag);
    }
    fprintf(report->page, "</tr>\n");
}

void report_table(Report* report, int columns, const char* const* names) {
    end_table(report);
    report->columns = columns;
    fprintf(report->page, "<table>\n");
    put_row(report, "th", names);
}

void report_row(Report* report, const char* const* cells) {
    put_row(report, "td", cells);
}

// A file's bytes as base64; false when it cannot be read.
static bool put_base64(FILE* out, const char* path) {
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    unsigned char b[3];
    size_t got;
    while ((got = fread(b, 1, 3, file)) > 0) {
        unsigned bits = (unsigned)b[0] << 16 | (got > 1 ? (unsigned)b[1] << 8 : 0u) |
                        (got > 2 ? (unsigned)b[2] : 0u);
        fputc(DIGITS[bits >> 18 & 63], out);
        fputc(DIGITS[bits >> 12 & 63], out);
        fputc(got > 1 ? DIGITS[bits >> 6 & 63] : '=', out);
        fputc(got > 2 ? DIGITS[bits & 63] : '=', out);
    }
    return fclose(file) == 0;
}

void report_picture(Report* report, const char* name, const char* text) {
    char path[PATH_SIZE];
    end_table(report);
    join(path, report, name, ".svg");
    fprintf(report->page, "<p><img alt=\"");
    svg_text(report->page, text);
    fprintf(report->page, "\" src=\"data:image/svg+xml;base64,");
    report->failed = !put_base64(report->page, path) || report->failed;
    fprintf(report->page, "\"></p>\n");
}

void report_plot(Report* report, const Plot* plot, const char* name) {
    char path[PATH_SIZE];
    join(path, report, name, ".svg");
    if (plot_write(plot, path)) {
        report_picture(report, name, plot->title == NULL ? name : plot->title);
    } else {
        report->failed = true;
    }
}

bool report_close(Report* report) {
    end_table(report);
    fprintf(report->page, "</html>\n");
    char path[PATH_SIZE];
    join(path, report, "report", ".html");
    bool written = output_close(report->page, true);
    bool ok = written && !report->failed;
    free(report);
    return ok;
}
