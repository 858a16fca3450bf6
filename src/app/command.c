// Parsing of the command line by the tables of command.h, and what follows from them: usage
// errors that name the nearest option, and exit codes. getopt_long is not used: it cannot name
// the nearest option or keep repeated values, and the tables would have to be copied into its own.
#include "app/command.h"

#include "app/output.h"
#include "app/terminal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_GIVEN = 4096 };

typedef struct Given {
    const Option* option;
    const char* text; // null for a switch, or for a value that was left out
} Given;

struct Args {
    const Command* command;
    TdlHost host;
    int given_count, operand_count;
    Given given[MAX_GIVEN];
    const char* operands[MAX_GIVEN];
};

const Option COMMON_OPTIONS[] = {
    {"json", 0, OPTION_SWITCH, NULL, 0, 0, "print one JSON object with the figures on stdout",
     false},
    {"quiet", 'q', OPTION_SWITCH, NULL, 0, 0, "no progress and no remarks, only errors", false},
    {"threads", 't', OPTION_INT, "N", 0, 1024, "threads; 0, the default, takes one per processor",
     false},
    {"help", 'h', OPTION_SWITCH, NULL, 0, 0, "show this help", false},
    {0},
};

// --- what a run function asks ---------------------------------------------------------------

int args_operand_count(const Args* args) {
    return args->operand_count;
}

const char* args_operand(const Args* args, int index) {
    return args->operands[index];
}

static const Option* find_in(const Option* table, const char* name, size_t length) {
    for (const Option* o = table; o->name != NULL; ++o) {
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) {
            return o;
        }
    }
    return NULL;
}

static const Option* find_option(const Command* command, const char* name, size_t length) {
    const Option* option = find_in(command->options, name, length);
    return option != NULL ? option : find_in(COMMON_OPTIONS, name, length);
}

static const Option* known_option(const Args* args, const char* name) {
    const Option* option = find_option(args->command, name, strlen(name));
    if (option == NULL) {
        fprintf(stderr, "tendril bug: '%s' has no option --%s\n", args->command->name, name);
        abort();
    }
    return option;
}

int args_count(const Args* args, const char* name) {
    const Option* option = known_option(args, name);
    int count = 0;
    for (int i = 0; i < args->given_count; ++i) {
        count += args->given[i].option == option;
    }
    return count;
}

bool args_has(const Args* args, const char* name) {
    return args_count(args, name) > 0;
}

const char* args_text_at(const Args* args, const char* name, int index) {
    const Option* option = known_option(args, name);
    for (int i = 0; i < args->given_count; ++i) {
        if (args->given[i].option == option && index-- == 0) {
            return args->given[i].text;
        }
    }
    return NULL;
}

// The last one given wins, as in most commands.
const char* args_text(const Args* args, const char* name, const char* fallback) {
    int count = args_count(args, name);
    return count == 0 ? fallback : args_text_at(args, name, count - 1);
}

double args_real(const Args* args, const char* name, double fallback) {
    const char* text = args_text(args, name, NULL);
    return text == NULL ? fallback : strtod(text, NULL);
}

int args_int(const Args* args, const char* name, int fallback) {
    const char* text = args_text(args, name, NULL);
    return text == NULL ? fallback : (int)strtol(text, NULL, 10);
}

const TdlHost* args_host(const Args* args) {
    return &args->host;
}

int usage_error(const Args* args, const char* format, ...) {
    const char* name = args->command == NULL ? NULL : args->command->name;
    fprintf(stderr, "tendril%s%s: ", name == NULL ? "" : " ", name == NULL ? "" : name);
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fprintf(stderr, "\nSee 'tendril %s%s--help'.\n", name == NULL ? "" : name,
            name == NULL ? "" : " ");
    return EXIT_USAGE;
}

// --- parsing --------------------------------------------------------------------------------

static bool is_choice(const char* choices, const char* text) {
    size_t length = strlen(text);
    for (const char* c = choices; length > 0 && (c = strstr(c, text)) != NULL; ++c) {
        bool starts = c == choices || c[-1] == '|';
        if (starts && (c[length] == '|' || c[length] == '\0')) {
            return true;
        }
    }
    return false;
}

static int check_number(const Args* args, const Option* option, const char* text) {
    char* end;
    errno = 0;
    bool whole = option->kind == OPTION_INT;
    double value = whole ? (double)strtol(text, &end, 10) : strtod(text, &end);
    if (end == text || *end != '\0' || errno == ERANGE || value - value != 0.0) {
        return usage_error(args, "--%s takes %s, not '%s'", option->name,
                           whole ? "a whole number" : "a number", text);
    }
    bool any = option->min == 0.0 && option->max == 0.0;
    if (!any && (value < option->min || value > option->max)) {
        return usage_error(args, "--%s must be from %g to %g, not %s", option->name, option->min,
                           option->max, text);
    }
    return EXIT_DONE;
}

static int check_value(const Args* args, const Option* option, const char* text) {
    if (option->kind == OPTION_REAL || option->kind == OPTION_MAYBE_REAL ||
        option->kind == OPTION_INT) {
        return check_number(args, option, text);
    }
    if (option->kind == OPTION_CHOICE && !is_choice(option->value, text)) {
        return usage_error(args, "--%s is one of %s, not '%s'", option->name, option->value, text);
    }
    return EXIT_DONE;
}

static int unknown_option(const Args* args, const char* name, size_t length) {
    const char* best = NULL;
    int best_distance = 4;
    const Option* tables[] = {args->command->options, COMMON_OPTIONS};
    for (int t = 0; t < 2; ++t) {
        for (const Option* o = tables[t]; o->name != NULL; ++o) {
            int distance = tdl_word_distance(name, length, o->name);
            if (distance < best_distance) {
                best = o->name;
                best_distance = distance;
            }
        }
    }
    if (best != NULL) {
        return usage_error(args, "no option --%.*s; did you mean --%s?", (int)length, name, best);
    }
    return usage_error(args, "no option --%.*s", (int)length, name);
}

static const Option* find_letter(const Command* command, char letter) {
    const Option* tables[] = {command->options, COMMON_OPTIONS};
    for (int t = 0; t < 2; ++t) {
        for (const Option* o = tables[t]; o->name != NULL; ++o) {
            if (o->letter != 0 && o->letter == letter) {
                return o;
            }
        }
    }
    return NULL;
}

static bool is_number(const char* text) {
    char* end;
    strtod(text, &end);
    return end != text && *end == '\0';
}

// Takes the option at argv[*index], its value from behind '=' or from the next word.
static int take_option(Args* args, int argc, char** argv, int* index) {
    const char* word = argv[*index];
    const Option* option;
    const char* value = NULL;
    if (word[1] == '-') {
        const char* name = word + 2;
        size_t length = strcspn(name, "=");
        option = find_option(args->command, name, length);
        if (option == NULL) {
            return unknown_option(args, name, length);
        }
        value = name[length] == '=' ? name + length + 1 : NULL;
    } else {
        option = find_letter(args->command, word[1]);
        if (option == NULL) {
            return usage_error(args, "no option -%c", word[1]);
        }
        value = word[2] == '\0' ? NULL : word + 2;
    }
    bool may_lack = option->kind == OPTION_MAYBE_REAL;
    if (option->kind == OPTION_SWITCH) {
        if (value != NULL) {
            return usage_error(args, "--%s takes no value", option->name);
        }
    } else if (value == NULL && *index + 1 < argc && (!may_lack || is_number(argv[*index + 1]))) {
        value = argv[++*index];
    }
    if (option->kind != OPTION_SWITCH && value == NULL && !may_lack) {
        return usage_error(args, "--%s needs a value: %s", option->name, option->value);
    }
    for (int i = 0; i < args->given_count; ++i) {
        if (args->given[i].option == option && !option->repeats && value != NULL) {
            return usage_error(args, "--%s is given twice", option->name);
        }
    }
    args->given[args->given_count++] = (Given){option, value};
    return value == NULL ? EXIT_DONE : check_value(args, option, value);
}

static int parse_words(Args* args, int argc, char** argv, int first) {
    bool options_end = false;
    for (int i = first; i < argc; ++i) {
        const char* word = argv[i];
        if (args->given_count == MAX_GIVEN || args->operand_count == MAX_GIVEN) {
            return usage_error(args, "more than %d words", MAX_GIVEN);
        }
        if (!options_end && strcmp(word, "--") == 0) {
            options_end = true;
        } else if (!options_end && word[0] == '-' && word[1] != '\0') {
            int code = take_option(args, argc, argv, &i);
            if (code != EXIT_DONE) {
                return code;
            }
        } else {
            args->operands[args->operand_count++] = word;
        }
    }
    return EXIT_DONE;
}

// "" takes none, "A B" two, "[A]" at most one, "A..." one or more.
static int check_operands(const Args* args) {
    const char* form = args->command->operands;
    int least = 0, most = 0;
    for (const char* c = form; *c != '\0'; c += strcspn(c, " "), c += *c == ' ') {
        size_t length = strcspn(c, " ");
        bool optional = c[0] == '[';
        bool many = length > 3 && strncmp(c + length - (optional ? 4 : 3), "...", 3) == 0;
        least += !optional;
        most = many ? MAX_GIVEN : most + 1;
    }
    if (args->operand_count < least) {
        return usage_error(args, "missing %s", form);
    }
    if (args->operand_count > most) {
        return usage_error(args, "unexpected '%s'", args->operands[most]);
    }
    return EXIT_DONE;
}

// The command that the first two words name, or the first one; *used tells how many.
static const Command* find_command(int argc, char** argv, int* used) {
    const Command* shorter = NULL;
    for (const Command* const* c = COMMANDS; *c != NULL; ++c) {
        const char* name = (*c)->name;
        const char* space = strchr(name, ' ');
        if (space == NULL && strcmp(argv[1], name) == 0) {
            *used = 1;
            shorter = *c;
        }
        if (space != NULL && argc > 2 && strlen(argv[1]) == (size_t)(space - name) &&
            strncmp(argv[1], name, (size_t)(space - name)) == 0 &&
            strcmp(argv[2], space + 1) == 0) {
            *used = 2;
            return *c;
        }
    }
    return shorter;
}

static int unknown_command(const Args* args, const char* word) {
    const char* best = NULL;
    int best_distance = 3;
    for (const Command* const* c = COMMANDS; *c != NULL; ++c) {
        int distance = tdl_word_distance(word, strlen(word), (*c)->name);
        if (distance < best_distance) {
            best = (*c)->name;
            best_distance = distance;
        }
        size_t length = strlen(word);
        if (strncmp((*c)->name, word, length) == 0 && (*c)->name[length] == ' ') {
            return usage_error(args, "%s what? One such is 'tendril %s'", word, (*c)->name);
        }
    }
    if (best != NULL) {
        return usage_error(args, "no command '%s'; did you mean '%s'?", word, best);
    }
    return usage_error(args, "no command '%s'", word);
}

// What is named to be read is not written over; told before anything is computed.
static int check_outputs(const Args* args) {
    for (int i = 0; i < args->operand_count; ++i) {
        output_guard(NULL, args->operands[i], TDL_FILE_READ);
    }
    for (int i = 0; i < args->given_count; ++i) {
        if (args->given[i].option->kind == OPTION_FILE) {
            output_guard(NULL, args->given[i].text, TDL_FILE_READ);
        }
    }
    for (int i = 0; i < args->given_count; ++i) {
        if (args->given[i].option->kind == OPTION_OUTPUT &&
            !output_guard(NULL, args->given[i].text, TDL_FILE_WRITTEN)) {
            return EXIT_USAGE;
        }
    }
    return EXIT_DONE;
}

static int run_command(int argc, char** argv) {
    static Args args;
    if (argc < 2) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_overview(stdout);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("tendril %s\n", tdl_version());
        return EXIT_DONE;
    }
    int used = 0;
    args.command = find_command(argc, argv, &used);
    if (args.command == NULL) {
        return unknown_command(&args, argv[1]);
    }
    int code = parse_words(&args, argc, argv, used + 1);
    if (args_has(&args, "help")) {
        print_help(args.command, stdout);
        return EXIT_DONE;
    }
    if (code == EXIT_DONE) {
        code = check_operands(&args);
    }
    if (code != EXIT_DONE) {
        return code;
    }
    args.host = tdl_host_default();
    args.host.log = terminal_log;
    args.host.log_level = args_has(&args, "quiet") ? TDL_LOG_ERROR : TDL_LOG_INFO;
    args.host.file = output_guard;
    code = check_outputs(&args);
    return code == EXIT_DONE ? args.command->run(&args) : code;
}

int command_main(int argc, char** argv) {
    output_prepare();
    terminal_guard();
    terminal_catch_faults();
    return output_finish(run_command(argc, argv));
}
