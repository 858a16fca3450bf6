// A report: one page of HTML that needs no other file, with text, tables and plots.
//
//     Report* report = report_open("out", "Three-point bending");
//     report_text(report, "Forces against %s.", "indentation");
//     report_table(report, 3, (const char*[]){"model", "deviation", "jump"});
//     report_row(report, (const char*[]){"super-helix", "0.21 %", "0.004"});
//     report_plot(report, &plot, "force"); // also out/force.svg and force.csv
//     if (!report_close(report)) ...
#ifndef TDL_APP_REPORT_H
#define TDL_APP_REPORT_H

#include "app/plot.h"
#include "tendril/base.h"

typedef struct Report Report;

// Makes a folder and its parents where they are not there; says on stderr when it cannot.
bool report_make_folder(const char* folder);

// Makes the folder too. Says on stderr what cannot be made, and returns null.
Report* report_open(const char* folder, const char* title);

void report_heading(Report* report, const char* text);
void report_text(Report* report, const char* format, ...) TDL_PRINTF(2, 3);
void report_command(Report* report, const char* command); // how to do it again

// A table, by rows of texts; the first row begins it, and anything else ends it.
void report_table(Report* report, int columns, const char* const* names);
void report_row(Report* report, const char* const* cells);

// Writes the plot's picture and numbers into the folder, and shows it in the page.
void report_plot(Report* report, const Plot* plot, const char* name);

// Shows the picture name.svg that is in the folder already; `text` stands where it cannot be seen.
void report_picture(Report* report, const char* name, const char* text);

// False when something could not be written; it was said on stderr.
bool report_close(Report* report);

#endif
