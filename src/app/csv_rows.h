// Rows of numbers and words from a CSV file of a stranger, each with its line when it is wrong.
#ifndef TDL_APP_CSV_ROWS_H
#define TDL_APP_CSV_ROWS_H

#include "tendril/tendril.h"

#include <stdio.h>

// A line being taken apart.
typedef struct CsvLine {
    char* rest; // what is left; null at the end
    char message[256];
} CsvLine;

// The next field without blanks around it; null at the end.
char* csv_field(CsvLine* line);

// The next `count` numbers, all finite; else false, and the message says which one of `what` is
// wrong.
bool csv_numbers(CsvLine* line, const char* what, int count, double* out);

// Told of every line; with TDL_STATUS_BAD_INPUT its message is why.
typedef TdlStatus (*CsvRowFn)(void* user, CsvLine* line);

// Reads all lines; the one that is wrong is named in `messages`. Returns an exit code.
int csv_read(FILE* in, const char* name, FILE* messages, CsvRowFn row, void* user);

#endif
