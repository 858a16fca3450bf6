// What commands write destroys nothing that is read, is whole or not there, and is missed when it
// does not get to where it should.
#include "app/terminal.h"
#include "command.h"
#include "formats/hdf5_writer.h"
#include "run_folder.h"

#include <sys/resource.h>
#include <sys/socket.h>

// The table of all commands, as the program has it.
int tendril_main(int argc, char** argv);
#define main tendril_main
#include "app/main.c"
#undef main

// --- what there is to call with ------------------------------------------------------------------

static const char SMALL_SCENE[] =
    "include: part.yaml\ntitle: one\ntime: {step: 1e-3, end: 0.02}\noutput: {frame: 5e-3}\n";
static const char PART[] =
    "materials: [{name: hair, young: 1e9, poisson: 0.48, density: 1000}]\n"
    "rods: [{name: a, material: hair, length: 0.1, radius: 6e-5, elements: 3,\n"
    "        clamp: {position: [0, 0, 0], direction: [1, 0, 0]}}]\n";
static const char QUERY[] = "0,1,0,1,1,1,1\n-1,1,-1,1,0,1,1\n1,1,-1,1,0,1,1\n0,1,1,1,0,1,1\n"
                            "0,1,0,1,-1,1,1\n-1,1,-1,1,0,1,1\n1,1,-1,1,0,1,1\n0,1,1,1,0,1,1\n";

typedef struct File {
    const char *name, *text;
} File;

static const File FILES[] = {
    {"scene.yaml", SMALL_SCENE},
    {"part.yaml", PART},
    {"pairs.csv", "segment,0,0,0,1,0,0,segment,0,0,1,1,0,1\n"},
    {"ends.csv", "0,0,0,1,0,0,1,0,0,1,0,0\n"},
    {"q.csv", QUERY},
    {"curve.csv", "curve,x,y,z\n0,0,0,0\n0,0.01,0,0\n0,0.02,0.001,0\n0,0.03,0.002,0\n"},
    {"data.csv", "time,a_x,a_y,a_z\n0.01,0,0,0\n"},
    {"t.trace", "tdltrace"},
    {"own.so", "no shared object"},
    {"p.dat", "3 1 1 3 3 1 1 1 3 3 2 1 0 1 0 0 1 0 0 0 1 0 0 0 1 -1 0.5 0 0.5"},
};
enum { FILE_COUNT = sizeof FILES / sizeof *FILES };

static Scratch make_files(void) {
    Scratch scratch = scratch_make();
    for (int i = 0; i < FILE_COUNT; ++i) {
        scratch_write(scratch_path(&scratch, FILES[i].name), FILES[i].text, strlen(FILES[i].text));
    }
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "-o", "D", "-q"), 0);
    return scratch;
}

// A call of each command that reads a file; `does` where the files above are right for it.
typedef struct Call {
    const char* command;
    const char* words[8];
    bool does;
} Call;

static const Call CALLS[] = {
    {"run", {"scene.yaml", "-q"}, false},
    {"check", {"scene.yaml", "--json"}, true},
    {"info", {"D", "--json"}, true},
    {"view", {"D", "--json"}, true},
    {"render", {"D", "--json"}, true},
    {"export", {"D", "--format", "csv", "--json"}, true},
    {"sweep", {"scene.yaml", "--vary", "contacts.friction=0.1,0.2"}, false},
    {"fit", {"scene.yaml", "--data", "data.csv"}, false},
    {"inverse", {"scene.yaml"}, false},
    {"inverse helix", {"ends.csv"}, true},
    {"inverse stiffness", {"curve.csv", "curve.csv"}, false},
    {"dfcp", {"p.dat"}, true},
    {"distance", {"pairs.csv"}, true},
    {"ccd", {"q.csv", "--kind", "vf"}, true},
    {"experiment comb", {"--relaxed", "D"}, false},
    {"experiment three-point", {NULL}, false},
    {"bench ccd", {"q.csv", "--scene", "scene.yaml"}, false},
    {"bench cloth", {NULL}, false},
    {"bench detection", {"--trace", "t.trace"}, false},
    {"bench distance", {NULL}, false},
    {"bench friction", {"p.dat", "--own", "own.so"}, false},
    {"bench granular", {NULL}, false},
    {"bench inverse", {NULL}, false},
    {"bench rods", {NULL}, false},
    {"bench combing", {"--relaxed", "D"}, false},
    {"bench scenes", {"--scenes", "D"}, false},
    {"manual", {NULL}, true},
    {"version", {NULL}, true},
};
enum { CALL_COUNT = sizeof CALLS / sizeof *CALLS };

static const Call* find_call(const Command* command) {
    for (int i = 0; i < CALL_COUNT; ++i) {
        if (strcmp(CALLS[i].command, command->name) == 0) {
            return &CALLS[i];
        }
    }
    FAIL("'%s' has no call in this test", command->name);
    return NULL;
}

// The words of a call, with `more` behind them, in `out`.
static void make_words(const Call* call, const char* const* more, char name[2][32],
                       const char* out[COMMAND_WORDS]) {
    int count = 0;
    name[1][0] = '\0';
    sscanf(call->command, "%31s %31s", name[0], name[1]);
    out[count++] = name[0];
    if (name[1][0] != '\0') {
        out[count++] = name[1];
    }
    for (int i = 0; call->words[i] != NULL; ++i) {
        out[count++] = call->words[i];
    }
    for (int i = 0; more[i] != NULL; ++i) {
        out[count++] = more[i];
    }
    out[count] = NULL;
}

static int run_call(const Scratch* scratch, void (*prepare)(void), const Call* call,
                    const char* const* more) {
    char name[2][32];
    const char* words[COMMAND_WORDS];
    make_words(call, more, name, words);
    return command_wait(command_start_prepared(scratch, prepare, words));
}

static int count_lines(const Scratch* scratch, const char* stream) {
    char* text = scratch_read(scratch_path(scratch, stream), NULL);
    int lines = 0;
    for (const char* c = text; c != NULL && *c != '\0'; ++c) {
        lines += *c == '\n';
    }
    free(text);
    return lines;
}

static bool same_bytes(const char* path, const char* data, size_t size) {
    size_t now;
    char* bytes = scratch_read(path, &now);
    bool same = bytes != NULL && now == size && memcmp(bytes, data, size) == 0;
    free(bytes);
    return same;
}

// Calls with an option that writes over `target`: refused in one line, and nothing is changed.
static void check_refused(const Scratch* scratch, const Call* call, const char* option,
                          const char* target) {
    char dashed[64];
    size_t size;
    char* before = scratch_read(scratch_path(scratch, target), &size);
    snprintf(dashed, sizeof dashed, "--%s", option);
    int code = run_call(scratch, NULL, call, (const char* const[]){dashed, target, NULL});
    if ((code != 2 && code != 3) || count_lines(scratch, "stderr") != 1 || before == NULL ||
        !same_bytes(scratch_path(scratch, target), before, size)) {
        FAIL("'%s' with %s %s ended with %d in %d lines, or changed it", call->command, dashed,
             target, code, count_lines(scratch, "stderr"));
        command_wrote(scratch, "stderr", "(nothing)");
    }
    free(before);
}

TEST(no_command_writes_over_what_it_reads_nor_into_a_run) {
    Scratch s = make_files();
    static const char* const OF_RUN[] = {"D/result.h5", "D/checkpoint", "D/log.csv", "D/scene.yaml",
                                         "D/summary.json"};
    int tried = 0;
    REQUIRE(symlink("D/result.h5", scratch_path(&s, "soft.h5")) == 0);
    REQUIRE(link(scratch_path(&s, "D/log.csv"), scratch_path(&s, "hard.csv")) == 0);
    for (const Command* const* c = COMMANDS; *c != NULL; ++c) {
        const Call* call = find_call(*c);
        REQUIRE(call != NULL);
        for (const Option* o = (*c)->options; o->name != NULL; ++o) {
            if (o->kind != OPTION_OUTPUT) {
                continue;
            }
            for (int i = 0; call->words[i] != NULL; ++i) {
                bool file = strchr(call->words[i], '.') != NULL;
                if (file) {
                    check_refused(&s, call, o->name, call->words[i]);
                    ++tried;
                }
            }
            for (size_t i = 0; i < sizeof OF_RUN / sizeof *OF_RUN; ++i) {
                check_refused(&s, call, o->name, OF_RUN[i]);
                ++tried;
            }
            check_refused(&s, call, o->name, "soft.h5");
        }
    }
    printf("  %d outputs refused\n", tried);
    CHECK(tried > 100);
    CHECK(same_frames(scratch_path(&s, "D"), scratch_path(&s, "D"), true) == 5);
    scratch_remove(&s);
}

TEST(links_to_what_is_read_and_files_inside_it_are_seen) {
    Scratch s = make_files();
    const Call distance = {"distance", {"pairs.csv"}, true};
    REQUIRE(link(scratch_path(&s, "pairs.csv"), scratch_path(&s, "hard.csv")) == 0);
    REQUIRE(symlink("pairs.csv", scratch_path(&s, "soft.csv")) == 0);
    check_refused(&s, &distance, "out", "hard.csv");
    check_refused(&s, &distance, "out", "soft.csv");
    // a result by a hard link, outside its folder
    const Call export = {"export", {"D/result.h5", "--format", "csv"}, true};
    REQUIRE(link(scratch_path(&s, "D/result.h5"), scratch_path(&s, "r.csv")) == 0);
    check_refused(&s, &export, "output", "r.csv");
    // the second file of a format
    REQUIRE(rename(scratch_path(&s, "r.csv"), scratch_path(&s, "o-contacts.csv")) == 0);
    const Call with_set = {"run", {"scene.yaml", "-q", "-o", "E", "--trace-detection"}, true};
    int code = run_call(&s, NULL, &with_set, (const char* const[]){"part.yaml", NULL});
    CHECK(code == 2);
    CHECK(same_bytes(scratch_path(&s, "part.yaml"), PART, strlen(PART)));
    // a link to something else is followed, and stays a link
    scratch_write(scratch_path(&s, "old.csv"), "old", 3);
    REQUIRE(symlink("old.csv", scratch_path(&s, "to-old.csv")) == 0);
    CHECK_INT(COMMAND(&s, "distance", "pairs.csv", "--out", "to-old.csv"), 0);
    struct stat info;
    CHECK(lstat(scratch_path(&s, "to-old.csv"), &info) == 0 && S_ISLNK(info.st_mode));
    CHECK(!same_bytes(scratch_path(&s, "old.csv"), "old", 3));
    // what was there keeps its rights, and what cannot be written is told
    REQUIRE(chmod(scratch_path(&s, "old.csv"), 0640) == 0);
    CHECK_INT(COMMAND(&s, "distance", "pairs.csv", "--out", "old.csv"), 0);
    CHECK(stat(scratch_path(&s, "old.csv"), &info) == 0 && (info.st_mode & 0777) == 0640);
    CHECK_INT(COMMAND(&s, "distance", "pairs.csv", "--out", "/dev/full"), 1);
    CHECK_INT(COMMAND(&s, "distance", "pairs.csv", "--out", "D"), 1);
    scratch_remove(&s);
}

// --- stdout --------------------------------------------------------------------------------------

static void fill_stdout(void) {
    int full = open("/dev/full", O_WRONLY);
    dup2(full, STDOUT_FILENO);
    close(full);
}

TEST(a_full_stdout_is_a_failure) {
    Scratch s = make_files();
    int did = 0;
    for (const Command* const* c = COMMANDS; *c != NULL; ++c) {
        const Call* call = find_call(*c);
        REQUIRE(call != NULL);
        CHECK_INT(run_call(&s, fill_stdout, call, (const char* const[]){"--help", NULL}), 1);
        CHECK(command_wrote(&s, "stderr", "stdout could not be written: No space left"));
        if (call->does && !(strcmp(call->command, "view") == 0 && getenv("TENDRIL_NO_PAGE"))) {
            int code = run_call(&s, fill_stdout, call, (const char* const[]){NULL});
            if (code != 1) {
                FAIL("'%s' ended with %d", call->command, code);
            }
            ++did;
        }
    }
    CHECK(did >= 8);
    CHECK_INT(COMMAND_PREPARED(&s, fill_stdout, "--version"), 1);
    CHECK_INT(COMMAND_PREPARED(&s, fill_stdout, "run", "scene.yaml", "-o", "F", "--json"), 1);
    scratch_remove(&s);
}

static void close_stdout(void) {
    close(STDOUT_FILENO);
}

static void close_all(void) {
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
}

// Without the three streams a file of the run would get their numbers, and what is printed.
TEST(closed_streams_take_no_file) {
    Scratch s = make_files();
    CHECK_INT(COMMAND(&s, "run", "scene.yaml", "-o", "open", "--set", "output.checkpoint=1e-9"), 0);
    CHECK_INT(COMMAND_PREPARED(&s, close_all, "run", "scene.yaml", "-o", "closed", "--set",
                               "output.checkpoint=1e-9"),
              0);
    CHECK_SAME_RUNS(scratch_path(&s, "closed"), scratch_path(&s, "open"));
    CHECK_INT(COMMAND(&s, "info", "closed", "--verify"), 0);
    CHECK_INT(COMMAND_PREPARED(&s, close_stdout, "info", "D"), 1);
    CHECK(command_wrote(&s, "stderr", "stdout could not be written"));
    CHECK_INT(COMMAND_PREPARED(&s, close_stdout, "run", "scene.yaml", "-o", "quiet", "-q"), 0);
    scratch_remove(&s);
}

// --- the disk ------------------------------------------------------------------------------------

static void limit_files(void) {
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){2000, 2000});
}

static int count_entries(const char* folder) {
    char line[1200];
    int count = -1;
    snprintf(line, sizeof line, "ls -A '%s' | wc -l", folder);
    FILE* pipe = popen(line, "r");
    if (pipe == NULL || fscanf(pipe, "%d", &count) != 1) {
        count = -1;
    }
    pclose(pipe);
    return count;
}

TEST(beyond_a_limit_of_size_nothing_is_left) {
    Scratch s = make_files();
    scratch_write(scratch_path(&s, "o.csv"), "old", 3);
    scratch_write(scratch_path(&s, "stderr"), "", 0);
    scratch_write(scratch_path(&s, "stdout"), "", 0);
    int before = count_entries(s.path);
    CHECK_INT(COMMAND_PREPARED(&s, limit_files, "export", "D", "--format", "csv", "-o", "o.csv"),
              1);
    CHECK(command_wrote(&s, "stderr", "o.csv: could not be written: File too large"));
    CHECK(same_bytes(scratch_path(&s, "o.csv"), "old", 3));
    CHECK_INT(COMMAND_PREPARED(&s, limit_files, "export", "D", "--format", "usda"), 1);
    CHECK_INT(COMMAND_PREPARED(&s, limit_files, "render", "D", "-o", "p.png"), 1);
    CHECK_INT(COMMAND_PREPARED(&s, limit_files, "run", "scene.yaml", "-o", "E", "-q"), 1);
    CHECK(command_wrote(&s, "stderr", "could not"));
    CHECK_INT(count_entries(s.path), before);
    scratch_remove(&s);
}

// --- faults -------------------------------------------------------------------------------------

// How a process ends that meets a fault; `inside`: while HDF5 is at work.
static int fault(const Scratch* s, bool inside) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        dup2(open(scratch_path(s, "stderr"), O_WRONLY | O_CREAT | O_TRUNC, 0666), STDERR_FILENO);
        terminal_catch_faults();
        if (inside) {
            hdf5_enter();
        }
        raise(SIGSEGV);
        _exit(0);
    }
    return command_wait(child);
}

TEST(a_fault_inside_hdf5_ends_with_a_message) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    SKIP("sanitizers tell of faults themselves");
#endif
    Scratch s = scratch_make();
    CHECK_INT(fault(&s, true), 1);
    CHECK(command_wrote(&s, "stderr", "a fault inside HDF5"));
    CHECK_INT(fault(&s, false), -SIGSEGV);
    scratch_remove(&s);
}

// --- small things --------------------------------------------------------------------------------

TEST(options_of_a_command_differ) {
    for (const Command* const* c = COMMANDS; *c != NULL; ++c) {
        const Option* tables[] = {(*c)->options, COMMON_OPTIONS};
        const Option* all[256];
        int count = 0;
        for (int t = 0; t < 2; ++t) {
            for (const Option* o = tables[t]; o->name != NULL && count < 256; ++o) {
                all[count++] = o;
            }
        }
        for (int i = 0; i < count; ++i) {
            for (int k = 0; k < i; ++k) {
                if (strcmp(all[i]->name, all[k]->name) == 0 ||
                    (all[i]->letter != 0 && all[i]->letter == all[k]->letter)) {
                    FAIL("'%s' has --%s and --%s by one name", (*c)->name, all[i]->name,
                         all[k]->name);
                }
            }
        }
    }
}

TEST(what_a_stranger_wrote_cannot_pose_as_a_message) {
    Scratch s = make_files();
    CHECK_INT(COMMAND(&s, "info", "no\033[2Jsuch\xe2\x80\xae\nfile\xff\xc2\x9b.h5"), 3);
    CHECK(command_wrote(&s, "stderr", "no\\x1b[2Jsuch\\u202e\nfile\\xff\\u009b.h5: "));
    CHECK_INT(COMMAND(&s, "run", "scene.yaml", "--no\033such"), 2);
    CHECK(command_wrote(&s, "stderr", "no option --no\\x1bsuch"));
    // letters of any language stay
    CHECK_INT(COMMAND(&s, "info", "\xc3\xa9\xe7\xbe\x8e.h5"), 3);
    CHECK(command_wrote(&s, "stderr", "\xc3\xa9\xe7\xbe\x8e.h5: "));
    // a title in an SVG
    CHECK_INT(COMMAND(&s, "run", "scene.yaml", "-o", "T", "-q", "--set", "title=']]><x>&\"'"), 0);
    CHECK_INT(COMMAND(&s, "render", "T", "-o", "t.svg"), 0);
    char* svg = scratch_read(scratch_path(&s, "t.svg"), NULL);
    CHECK(svg != NULL && strstr(svg, "]]&gt;&lt;x&gt;&amp;&quot;") != NULL);
    free(svg);
    scratch_remove(&s);
}

// Packets keep apart what was written apart.
static int packets[2];

static void hear_packets(void) {
    dup2(packets[1], STDERR_FILENO);
}

TEST(a_message_is_written_in_one_piece) {
    Scratch s = scratch_make();
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, packets) == 0);
    CHECK_INT(COMMAND_PREPARED(&s, hear_packets, "check", "there-is-none.yaml"), 3);
    close(packets[1]);
    char heard[1000];
    ssize_t size = read(packets[0], heard, sizeof heard - 1);
    heard[size < 0 ? 0 : size] = '\0';
    CHECK_TEXT(heard, "there-is-none.yaml: cannot be read: there is no such file\n");
    CHECK(read(packets[0], heard, sizeof heard) == 0);
    close(packets[0]);
    scratch_remove(&s);
}
