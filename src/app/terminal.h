// What a person sees on stderr: messages and a progress bar that keep out of each other's way.
#ifndef TDL_APP_TERMINAL_H
#define TDL_APP_TERMINAL_H

#include "tendril/base.h"

#include <stdio.h>

// A TdlLogFn: errors and warnings in colour on a terminal, unless NO_COLOR is set.
// From now on what is printed on stderr may hold anything, such as a path or a title from a file:
// control characters and those that turn the direction of text are shown by their numbers.
void terminal_guard(void);

// A fault inside HDF5, which does not stand a failed allocation, ends the command with a message
// and status 1; any other as ever.
void terminal_catch_faults(void);

// Prints a stranger's text in the same way.
void terminal_print(FILE* out, const char* text);

// Whether terminal_log was given an error.
bool terminal_told_error(void);

void terminal_log(void* user, TdlLogLevel level, const char* message);

// Shows how far a long job is: a bar with rate and time left on a terminal (redrawn at most ten
// times a second), a plain line every few seconds elsewhere. `unit` names what is counted;
// `remark` may be null. Ends the bar's line when done == total.
void terminal_progress(double done, double total, const char* unit, const char* remark);

// Clears an unfinished bar.
void terminal_end_progress(void);

// From now on the first signal to end only asks to stop; the handler is then gone, so a second one
// ends the process at once, which a run survives too.
void terminal_catch_stop(void);
bool terminal_stop_asked(void);

#endif
