// Rows from CSV files: line after line, field after field.
#include "app/csv_rows.h"

#include "app/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

char* csv_field(CsvLine* line) {
    if (line->rest == NULL) {
        return NULL;
    }
    char* field = line->rest + strspn(line->rest, " \t");
    char* comma = strchr(field, ',');
    line->rest = comma == NULL ? NULL : comma + 1;
    if (comma != NULL) {
        *comma = '\0';
    }
    size_t length = strlen(field);
    while (length > 0 && strchr(" \t\r\n", field[length - 1]) != NULL) {
        field[--length] = '\0';
    }
    return field;
}

bool csv_numbers(CsvLine* line, const char* what, int count, double* out) {
    for (int i = 0; i < count; ++i) {
        char *field = csv_field(line), *end = NULL;
        out[i] = field == NULL ? 0.0 : strtod(field, &end);
        if (field == NULL || end == field || *end != '\0') {
            snprintf(line->message, sizeof line->message,
                     "%s takes %d numbers, number %d is %s%.40s", what, count, i + 1,
                     field == NULL ? "missing" : "not a number: ", field == NULL ? "" : field);
            return false;
        }
        if (!isfinite(out[i])) {
            snprintf(line->message, sizeof line->message, "%s: number %d is not finite", what,
                     i + 1);
            return false;
        }
    }
    return true;
}

int csv_read(FILE* in, const char* name, FILE* messages, CsvRowFn row, void* user) {
    char* text = NULL;
    size_t size = 0;
    int code = EXIT_DONE;
    for (long number = 1; code == EXIT_DONE; ++number) {
        long length = tdl_input_line(in, &text, &size);
        if (length < 0) {
            break;
        }
        CsvLine line = {.rest = text};
        if (text[length - 1] == '\0') {
            fprintf(messages, "tendril: %s: line %ld: has a zero byte\n", name, number);
            code = EXIT_INPUT;
            break;
        }
        TdlStatus status = row(user, &line);
        if (status == TDL_STATUS_NO_MEMORY) {
            fprintf(messages, "tendril: not enough memory\n");
            code = EXIT_FAILED;
        } else if (status != TDL_STATUS_OK) {
            fprintf(messages, "tendril: %s: line %ld: %s\n", name, number, line.message);
            code = EXIT_INPUT;
        }
    }
    if (code == EXIT_DONE && !feof(in)) {
        fprintf(messages, "tendril: %s: could not be read\n", name);
        code = EXIT_INPUT;
    }
    free(text);
    return code;
}
