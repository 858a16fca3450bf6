// Hundreds of broken scenes, made from the good ones by random mutations: each is refused with
// one message that names file, line and column, and leaves nothing behind. A mutation that
// happens to leave a valid scene must load, and is not counted.
#include "base/rng.h"
#include "capture.h"
#include "tendril/scene.h"
#include "test.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEED = 20250, TEXT_MAX = 8192, BROKEN_WANTED = 400, COMMAND_RUNS = 40 };

typedef struct Text {
    char bytes[TEXT_MAX];
    size_t size;
} Text;

// --- mutations
// ------------------------------------------------------------------------------------

// Replaces `length` bytes at `at` by `by`.
static void replace_bytes(Text* t, size_t at, size_t length, const char* by, size_t by_size) {
    if (t->size - length + by_size > TEXT_MAX) {
        return;
    }
    memmove(t->bytes + at + by_size, t->bytes + at + length, t->size - at - length);
    memcpy(t->bytes + at, by, by_size);
    t->size = t->size - length + by_size;
}

// The first byte of a random line, and its length with the line feed.
static size_t pick_line(const Text* t, Rng* rng, size_t* length) {
    size_t at = (size_t)rng_below(rng, (int)t->size);
    while (at > 0 && t->bytes[at - 1] != '\n') {
        --at;
    }
    const char* end = memchr(t->bytes + at, '\n', t->size - at);
    *length = end == NULL ? t->size - at : (size_t)(end - (t->bytes + at)) + 1;
    return at;
}

static bool in_comment(const Text* t, size_t at) {
    while (at > 0 && t->bytes[at - 1] != '\n') {
        if (t->bytes[--at] == '#') {
            return true;
        }
    }
    return t->bytes[at] == '#';
}

// A random place where `inside` begins to hold, and how long it holds; outside remarks.
static bool pick_run(const Text* t, Rng* rng, bool (*inside)(char), size_t* at, size_t* length) {
    for (int attempt = 0; attempt < 1000; ++attempt) {
        size_t i = (size_t)rng_below(rng, (int)t->size);
        if (!inside(t->bytes[i]) || (i > 0 && inside(t->bytes[i - 1])) || in_comment(t, i)) {
            continue;
        }
        *at = i;
        for (*length = 0; i < t->size && inside(t->bytes[i]); ++i) {
            ++*length;
        }
        return true;
    }
    return false;
}

static bool is_word(char c) {
    return isalpha((unsigned char)c) || c == '_' || c == '-';
}

static bool is_number(char c) {
    return isdigit((unsigned char)c) || c == '.' || c == 'e' || c == '-';
}

// Puts before, the number itself when `keep`, and after in the place of a random number.
static void replace_number(Text* t, Rng* rng, const char* before, bool keep, const char* after) {
    size_t at, length;
    do {
        if (!pick_run(t, rng, is_number, &at, &length)) {
            return;
        }
    } while (!isdigit((unsigned char)t->bytes[at]) && !isdigit((unsigned char)t->bytes[at + 1]));
    char number[128];
    snprintf(number, sizeof number, "%s%.*s%s", before, keep ? (int)length : 0, t->bytes + at,
             after);
    replace_bytes(t, at, length, number, strlen(number));
}

// A key gets two letters swapped; another word becomes nonsense.
static void replace_word(Text* t, Rng* rng, bool key) {
    for (int attempt = 0; attempt < 100; ++attempt) {
        size_t at, length;
        if (!pick_run(t, rng, is_word, &at, &length) || length < 3 ||
            (t->bytes[at + length] == ':') != key) {
            continue;
        }
        if (key && t->bytes[at] != t->bytes[at + 1]) {
            char swapped[2] = {t->bytes[at + 1], t->bytes[at]};
            replace_bytes(t, at, 2, swapped, 2);
        } else {
            replace_bytes(t, at, length, "nonsense", 8);
        }
        return;
    }
}

static void move_line(Text* t, Rng* rng) {
    char copy[TEXT_MAX];
    size_t length, line = pick_line(t, rng, &length);
    memcpy(copy, t->bytes + line, length);
    replace_bytes(t, line, length, "", 0);
    if (t->size > 0) {
        size_t other_length, other = pick_line(t, rng, &other_length);
        replace_bytes(t, other, 0, copy, length);
    }
}

typedef enum Kind {
    DELETE_CHARACTER,
    INSERT_CHARACTER,
    RENAME_KEY,
    REPLACE_WORD,
    DUPLICATE_LINE,
    DELETE_LINE,
    NUMBER_TO_TEXT,
    NUMBER_TO_NAN,
    NUMBER_TOO_LARGE,
    NEGATE_NUMBER,
    NUMBER_WITH_UNIT,
    QUOTED_NUMBER,
    INDENT_LINE,
    TAB_LINE,
    TRUNCATE,
    INSERT_NUL,
    INVALID_UTF8,
    MOVE_LINE,
    INSERT_ANCHOR,
    SECOND_DOCUMENT,
    KIND_COUNT,
} Kind;

static const char* const KIND_NAMES[KIND_COUNT] = {
    "delete a character", "insert a character", "rename a key",     "replace a word",
    "duplicate a line",   "delete a line",      "number to text",   "number to nan",
    "number to 1e999",    "negate a number",    "number with unit", "number in quotes",
    "indent a line",      "indent by a tab",    "truncate",         "insert NUL",
    "invalid UTF-8",      "move a line",        "insert an anchor", "insert a second document",
};

static void mutate_number(Text* t, Rng* rng, Kind kind) {
    static const struct {
        const char *before, *after;
        bool keep;
    } FORMS[KIND_COUNT] = {
        [NUMBER_TO_TEXT] = {"much", "", false},    [NUMBER_TO_NAN] = {"nan", "", false},
        [NUMBER_TOO_LARGE] = {"1e999", "", false}, [NEGATE_NUMBER] = {"-", "", true},
        [NUMBER_WITH_UNIT] = {"", " mm", true},    [QUOTED_NUMBER] = {"\"", "\"", true},
        [INSERT_ANCHOR] = {"&a ", "", true},
    };
    replace_number(t, rng, FORMS[kind].before, FORMS[kind].keep, FORMS[kind].after);
}

static void mutate(Text* t, Rng* rng, Kind kind) {
    static const char ODD[] = "{}[],:#&*!|>'\"%@`-?x0 \n\t";
    size_t length, at = (size_t)rng_below(rng, (int)t->size), line = pick_line(t, rng, &length);
    char copy[TEXT_MAX];
    memcpy(copy, t->bytes + line, length);
    switch (kind) {
    case DELETE_CHARACTER:
        replace_bytes(t, at, 1, "", 0);
        break;
    case INSERT_CHARACTER:
        replace_bytes(t, at, 0, &ODD[rng_below(rng, (int)sizeof ODD - 1)], 1);
        break;
    case RENAME_KEY:
    case REPLACE_WORD:
        replace_word(t, rng, kind == RENAME_KEY);
        break;
    case DUPLICATE_LINE:
        replace_bytes(t, line, 0, copy, length);
        break;
    case DELETE_LINE:
        replace_bytes(t, line, length, "", 0);
        break;
    case INDENT_LINE:
    case TAB_LINE:
        replace_bytes(t, line, 0, kind == INDENT_LINE ? " " : "\t", 1);
        break;
    case TRUNCATE:
        t->size = at;
        break;
    case INSERT_NUL:
        replace_bytes(t, at, 0, "", 1);
        break;
    case INVALID_UTF8:
        replace_bytes(t, at, 0, rng_below(rng, 2) ? "\xff" : "\xc3", 1);
        break;
    case MOVE_LINE:
        move_line(t, rng);
        break;
    case SECOND_DOCUMENT:
        replace_bytes(t, line, 0, "---\n", 4);
        break;
    default:
        mutate_number(t, rng, kind);
        break;
    }
}

// --- the folder of one trial
// ----------------------------------------------------------------------

static void read_file(const char* path, Text* text) {
    FILE* file = fopen(path, "rb");
    text->size = file == NULL ? 0 : fread(text->bytes, 1, sizeof text->bytes, file);
    if (file != NULL) {
        fclose(file);
    }
}

static void read_scene(const char* name, Text* text) {
    const char* root = getenv("TENDRIL_SOURCE");
    char path[4096];
    snprintf(path, sizeof path, "%s/scenes/%s", root == NULL ? "." : root, name);
    read_file(path, text);
    if (text->size == 0) {
        fprintf(stderr, "%s is missing\n", path);
        abort();
    }
}

static void write_file(const char* path, const Text* text) {
    FILE* file = fopen(path, "wb");
    if (file == NULL || fwrite(text->bytes, 1, text->size, file) != text->size) {
        abort();
    }
    fclose(file);
}

static int count_files(const char* path) {
    DIR* dir = opendir(path);
    int count = 0;
    while (dir != NULL && readdir(dir) != NULL) {
        ++count;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return count - 2; // without . and ..
}

static void check_folder(void) {
    CHECK_INT(count_files("."), 2); // scene.yaml and common
    CHECK_INT(count_files("common"), 1);
}

// --- judging
// --------------------------------------------------------------------------------------

// "file:line:column: " at the start, the file one of the two, the line inside it or one behind.
static bool names_a_place(const char* message, const char** rest) {
    static const char* const FILES[] = {"scene.yaml", "common/hair.yaml"};
    for (int i = 0; i < 2; ++i) {
        size_t length = strlen(FILES[i]);
        int line = 0, column = 0, used = 0;
        if (strncmp(message, FILES[i], length) != 0 ||
            sscanf(message + length, ":%d:%d: %n", &line, &column, &used) != 2 || used == 0) {
            continue;
        }
        Text text;
        read_file(FILES[i], &text);
        int lines = 1;
        for (size_t k = 0; k < text.size; ++k) {
            lines += text.bytes[k] == '\n';
        }
        *rest = message + length + used;
        return line >= 1 && line <= lines && column >= 1;
    }
    return false;
}

// Runs `tendril check scene.yaml` and returns its exit code; what it says goes to `said`.
static int run_command(const char* command, Text* said) {
    pid_t child = fork();
    if (child == 0) {
        int out = open("../out", O_CREAT | O_TRUNC | O_WRONLY, 0600);
        if (out < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0) {
            _exit(126);
        }
        execl(command, command, "check", "scene.yaml", (char*)NULL);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    read_file("../out", said);
    said->bytes[said->size < TEXT_MAX ? said->size : TEXT_MAX - 1] = '\0';
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_broken(const Capture* capture, Kind kind) {
    const char* rest = "";
    if (capture->errors != 1 || !names_a_place(capture->text, &rest) || strlen(rest) < 5 ||
        strstr(rest, "\n    ") == NULL || strchr(rest, '^') == NULL) {
        FAIL("%s: %d errors, the last is: %s", KIND_NAMES[kind], capture->errors, capture->text);
    }
}

static void check_command(const char* command, Kind kind) {
    Text said;
    const char* rest;
    int code = run_command(command, &said);
    if (code != 3 || !names_a_place(said.bytes, &rest)) {
        FAIL("%s: exit %d: %s", KIND_NAMES[kind], code, said.bytes);
    }
}

// One mutated scene, or one with a mutated include; true when it was broken.
static bool try_one(Rng* rng, Kind kind, const char* command) {
    static const char* const SCENES[] = {"hanging-curl.yaml", "wisp.yaml", "whipped-cable.yaml"};
    static Text scene, hair;
    int which = rng_below(rng, 4);
    read_scene(SCENES[which < 3 ? which : 1], &scene);
    read_scene("common/hair.yaml", &hair);
    mutate(which < 3 ? &scene : &hair, rng, kind);
    write_file("scene.yaml", &scene);
    write_file("common/hair.yaml", &hair);
    Capture capture;
    TdlHost host = capture_host(&capture);
    TdlScene* loaded;
    TdlStatus status = tdl_scene_load(&host, "scene.yaml", NULL, 0, &loaded);
    check_folder();
    if (status == TDL_STATUS_OK) {
        CHECK(loaded != NULL);
        CHECK_INT(capture.errors, 0);
        tdl_scene_destroy(loaded);
        return false;
    }
    CHECK_INT(status, TDL_STATUS_BAD_INPUT);
    CHECK(loaded == NULL);
    check_broken(&capture, kind);
    if (command != NULL) {
        check_command(command, kind);
        check_folder();
    }
    return true;
}

TEST(broken_scenes_are_refused_with_their_place) {
    char folder[64], inside[80];
    snprintf(folder, sizeof folder, "/tmp/tendril-broken-XXXXXX");
    REQUIRE(mkdtemp(folder) != NULL && chdir(folder) == 0);
    REQUIRE(mkdir("in", 0700) == 0 && chdir("in") == 0 && mkdir("common", 0700) == 0);
    const char* command = getenv("TENDRIL_COMMAND");
    Rng rng = rng_seed(SEED);
    int broken = 0, tried = 0, of_kind[KIND_COUNT] = {0};
    for (; broken < BROKEN_WANTED && tried < 20 * BROKEN_WANTED; ++tried) {
        Kind kind = (Kind)(tried % KIND_COUNT);
        bool run = broken % (BROKEN_WANTED / COMMAND_RUNS) == 0;
        bool is_broken = try_one(&rng, kind, run ? command : NULL);
        broken += is_broken;
        of_kind[kind] += is_broken;
    }
    CHECK_INT(broken, BROKEN_WANTED);
    printf("  seed %d: %d scenes, %d of them broken\n", SEED, tried, broken);
    for (int kind = 0; kind < KIND_COUNT; ++kind) {
        printf("  %4d  %s\n", of_kind[kind], KIND_NAMES[kind]);
        CHECK(of_kind[kind] >= 3);
    }
    unlink("scene.yaml");
    unlink("common/hair.yaml");
    unlink("../out");
    CHECK(rmdir("common") == 0 && chdir("/") == 0);
    snprintf(inside, sizeof inside, "%s/in", folder);
    CHECK(rmdir(inside) == 0 && rmdir(folder) == 0);
}
