// The command line: one table per subcommand, from which parsing, --help, the man page and shell
// completion all come. To add a subcommand, write its table and its run function in cmd_<name>.c
// and list the table in main.c.
#ifndef TDL_APP_COMMAND_H
#define TDL_APP_COMMAND_H

#include "tendril/io.h"
#include "tendril/tendril.h"

#include <stdio.h>

// Promised exit codes.
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INPUT = 3 };

typedef enum OptionKind {
    OPTION_SWITCH, // takes no value
    OPTION_TEXT,
    OPTION_REAL,
    OPTION_MAYBE_REAL, // a real that may be left out
    OPTION_INT,
    OPTION_CHOICE, // one of the words in `value`, written a|b|c
    OPTION_FILE,   // a path of what is read, completed as one
    OPTION_OUTPUT, // the same of what is written
} OptionKind;

typedef struct Option {
    const char* name;  // without the dashes; a null name ends the table
    char letter;       // short form, or 0
    OptionKind kind;   //
    const char* value; // what the value is called in the help; for a choice, the choices
    double min, max;   // range of a real or an int; both 0: any
    const char* help;  // one phrase, with unit and default
    bool repeats;      // may be given several times
} Option;

typedef struct Args Args;

typedef struct Command {
    const char* name;     // "run", or two words such as "bench rods"
    const char* operands; // such as "SCENE", "DIR", "FILE..."; "" for none
    const char* summary;  // one line
    const char* text;     // a paragraph or two that teach; may be null
    const char* example;  // lines of shell, each ready to paste
    const Option* options;
    int (*run)(const Args* args); // returns an exit code
} Command;

// Options that every subcommand takes: --json, --quiet, --threads, --help.
extern const Option COMMON_OPTIONS[];

// All subcommands; a null entry ends the table.
extern const Command* const COMMANDS[];

// --- what a run function asks
// --------------------------------------------------------------------- Names are those of the
// table; asking for one that is not there is a bug and aborts.
int args_operand_count(const Args* args);
const char* args_operand(const Args* args, int index);
bool args_has(const Args* args, const char* name);
int args_count(const Args* args, const char* name); // times given
const char* args_text(const Args* args, const char* name, const char* fallback);
const char* args_text_at(const Args* args, const char* name, int index);
double args_real(const Args* args, const char* name, double fallback);
int args_int(const Args* args, const char* name, int fallback);
const TdlHost* args_host(const Args* args); // prints the library's messages on stderr

// Says what is wrong with the call, points to --help, and returns EXIT_USAGE.
int usage_error(const Args* args, const char* format, ...) TDL_PRINTF(2, 3);

// The exit code for a status.
int exit_code(TdlStatus status);

// --- used by main ---------------------------------------------------------------------------
int command_main(int argc, char** argv);
void print_help(const Command* command, FILE* out);
void print_overview(FILE* out);

#endif
