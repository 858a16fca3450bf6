// Reading log.csv by its own heading, whatever its columns are.
#include "app/page_log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// More points than a plot has pixels across.
enum { MOST_ROWS = 4000, LINE_SIZE = 24576 };

static bool read_names(PageLog* log, char* line) {
    line[strcspn(line, "\r\n")] = '\0';
    for (char* name = strtok(line, ","); name != NULL; name = strtok(NULL, ",")) {
        if (log->column_count == PAGE_LOG_COLUMNS || strlen(name) >= PAGE_LOG_NAME) {
            return false;
        }
        snprintf(log->names[log->column_count++], PAGE_LOG_NAME, "%s", name);
    }
    return log->column_count > 0;
}

// A whole row of numbers.
static bool read_row(const PageLog* log, const char* line, double* row) {
    for (int i = 0; i < log->column_count; ++i) {
        char* end;
        row[i] = strtod(line, &end);
        bool last = i == log->column_count - 1;
        if (end == line || *end != (last ? '\n' : ',')) {
            return false;
        }
        line = end + 1;
    }
    return true;
}

// Rows are taken together by `bundle`; the first column with the name `time` keeps the first time
// in the row of least values and the last in that of the greatest.
static void put_row(PageLog* log, long capacity, long index, long bundle, const double* row) {
    long group = index / bundle, first = bundle == 1 ? group : 2 * group;
    bool opens = index % bundle == 0;
    log->row_count = bundle == 1 ? first + 1 : first + 2;
    for (int c = 0; c < log->column_count; ++c) {
        double* column = log->values + (long)c * capacity;
        column[first] = opens ? row[c] : fmin(column[first], row[c]);
        if (bundle > 1) {
            column[first + 1] = opens ? row[c] : fmax(column[first + 1], row[c]);
        }
    }
}

static void read_rows(PageLog* log, FILE* file, char* line, long capacity, long bundle) {
    double row[PAGE_LOG_COLUMNS];
    long index = 0;
    while (fgets(line, LINE_SIZE, file) != NULL) {
        if (read_row(log, line, row) && index / bundle * (bundle == 1 ? 1 : 2) + 1 < capacity) {
            put_row(log, capacity, index++, bundle, row);
        }
    }
    // close the gaps between columns
    for (int c = 1; c < log->column_count; ++c) {
        memmove(log->values + c * log->row_count, log->values + c * capacity,
                (size_t)log->row_count * sizeof *log->values);
    }
}

static TdlStatus read_file(PageLog* log, FILE* file, char* line) {
    if (fgets(line, LINE_SIZE, file) == NULL || !read_names(log, line)) {
        log->column_count = 0;
        return TDL_STATUS_OK;
    }
    long start = ftell(file), rows = 0;
    while (fgets(line, LINE_SIZE, file) != NULL) {
        ++rows;
    }
    fseek(file, start, SEEK_SET);
    long bundle = rows <= MOST_ROWS ? 1 : (2 * rows + MOST_ROWS - 1) / MOST_ROWS;
    long capacity = (bundle == 1 ? rows : 2 * (rows / bundle + 1)) + 2;
    log->values = calloc((size_t)log->column_count * (size_t)capacity, sizeof *log->values);
    if (log->values == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    read_rows(log, file, line, capacity, bundle);
    return TDL_STATUS_OK;
}

TdlStatus page_log_read(const char* path, PageLog* out) {
    *out = (PageLog){0};
    TdlHost silent = tdl_host_default(); // there need not be one
    FILE* file = NULL;
    if (path != NULL) {
        tdl_input_open(&silent, path, &file);
    }
    char* line = malloc(LINE_SIZE);
    TdlStatus status = line == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
    if (file != NULL && line != NULL) {
        status = read_file(out, file, line);
    }
    if (file != NULL) {
        fclose(file);
    }
    free(line);
    return status;
}

void page_log_free(PageLog* log) {
    free(log->values);
    *log = (PageLog){0};
}
