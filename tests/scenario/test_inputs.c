// Files that are not what their name says: as large as no memory, without end, or never ready.
// Every reader looks at the first bytes before it takes memory for the rest, and opens files only.
#include "command.h"
#include "run_folder.h"

#include <sys/resource.h>

// A file of zeros that takes no room on disk, and the memory a command has.
static const off_t SPARSE = (off_t)3 << 30;
static const rlim_t MEMORY = (rlim_t)1 << 30;
enum { SECONDS = 20 }; // until a command that hangs is ended by a signal

static void limit_memory(void) {
    alarm(SECONDS);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // which map more than that
    setrlimit(RLIMIT_AS, &(struct rlimit){MEMORY, MEMORY});
#endif
}

// A reader: a file, and the words of a call that reads it.
typedef struct Reader {
    const char* file;
    const char* words[12];
} Reader;

static const Reader READERS[] = {
    {"s.yaml", {"check", "s.yaml"}},
    {"s.yaml", {"run", "s.yaml", "-o", "X"}},
    {"part.yaml", {"check", "includes.yaml"}},
    {"mesh.obj", {"check", "mesh.yaml"}},
    {"curves.csv", {"check", "curves.yaml"}},
    {"p.dat", {"dfcp", "p.dat"}},
    {"p.hdf5", {"dfcp", "p.hdf5"}},
    {"start.csv", {"dfcp", "good.dat", "--start", "start.csv"}},
    {"own.so", {"dfcp", "good.dat", "--own", "own.so"}},
    {"pairs.csv", {"distance", "pairs.csv"}},
    {"q.csv", {"ccd", "q.csv", "--kind", "vf"}},
    {"ends.csv", {"inverse", "helix", "ends.csv"}},
    {"c.csv", {"inverse", "c.csv", "-o", "o.yaml"}},
    {"c.obj", {"inverse", "c.obj", "-o", "o.yaml"}},
    {"c.hair", {"inverse", "c.hair", "-o", "o.yaml"}},
    {"c.h5", {"inverse", "c.h5", "-o", "o.yaml"}},
    {"c.csv", {"inverse", "stiffness", "c.csv", "c.csv", "--line-density", "1e-5"}},
    {"m.csv",
     {"fit", "good.yaml", "--data", "m.csv", "-o", "f", "--param", "rods.a.radius=1e-5:1e-4"}},
    {"t.trace", {"bench", "detection", "--trace", "t.trace", "--out", "b"}},
    {"r.h5", {"info", "r.h5"}},
    {"r.h5", {"export", "r.h5", "--format", "csv"}},
    {"D/result.h5", {"info", "D"}},
    {"D/checkpoint", {"info", "D"}},
    {"D/checkpoint", {"run", "--resume", "D"}},
    {"D/log.csv", {"info", "D"}},
    {"D/log.csv", {"run", "--resume", "D"}},
    {"D/scene.yaml", {"info", "D", "--verify"}},
};
enum { READER_COUNT = sizeof READERS / sizeof *READERS };

static const char GOOD[] =
    "time: {step: 1e-3, end: 0.02}\n"
    "materials: [{name: hair, young: 1e9, poisson: 0.48, density: 1000}]\n"
    "rods: [{name: a, material: hair, length: 0.1, radius: 6e-5, elements: 3,\n"
    "        clamp: {position: [0, 0, 0], direction: [1, 0, 0]}}]\n";
static const char CURVES[] =
    "time: {step: 1e-3, end: 0.02}\n"
    "materials: [{name: hair, young: 1e9, poisson: 0.48, density: 1000}]\n"
    "rods: [{name: a, material: hair, radius: 6e-5, elements: 3, curves: {file: curves.csv}}]\n";
static const char MESH[] = "time: {step: 1e-3, end: 0.02}\n"
                           "colliders: [{name: m, shape: mesh, file: mesh.obj}]\n";
static const char PROBLEM[] = "3 1 1 3 3 1 1 1 3 3 2 1 0 1 0 0 1 0 0 0 1 0 0 0 1 -1 0.5 0 0.5";

static void put(const Scratch* s, const char* name, const char* text) {
    scratch_write(scratch_path(s, name), text, strlen(text));
}

static Scratch make_files(void) {
    Scratch s = scratch_make();
    put(&s, "good.yaml", GOOD);
    put(&s, "good.dat", PROBLEM);
    put(&s, "curves.yaml", CURVES);
    put(&s, "mesh.yaml", MESH);
    put(&s, "includes.yaml", "include: part.yaml\n");
    CHECK_INT(COMMAND(&s, "dfcp", "good.dat"), 0);
    // a run that may be resumed
    CHECK_INT(COMMAND(&s, "run", "good.yaml", "-o", "D", "-q"), 0);
    unlink(scratch_path(&s, "D/summary.json"));
    return s;
}

// Reads what `make` has put in place of a file: refused as bad input, in a line, without a signal.
static void read_all(const Scratch* s, bool (*make)(const char* path)) {
    for (int i = 0; i < READER_COUNT; ++i) {
        const Reader* r = &READERS[i];
        char path[600], kept[620];
        snprintf(path, sizeof path, "%s/%s", s->path, r->file);
        snprintf(kept, sizeof kept, "%s.kept", path);
        bool there = rename(path, kept) == 0;
        REQUIRE(make(path));
        int code = command_wait(command_start_prepared(s, limit_memory, r->words));
        char* said = scratch_read(scratch_path(s, "stderr"), NULL);
        if (code != 3 || said == NULL || strchr(said, '\n') == NULL) {
            FAIL("%s %s reading %s ended with %d: %s", r->words[0], r->words[1], r->file, code,
                 said == NULL ? "" : said);
        }
        free(said);
        unlink(path);
        if (there) {
            REQUIRE(rename(kept, path) == 0);
        }
    }
}

static bool make_sparse(const char* path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    bool made = fd >= 0 && ftruncate(fd, SPARSE) == 0;
    close(fd);
    return made;
}

static bool make_pipe(const char* path) {
    return mkfifo(path, 0666) == 0;
}

static bool make_device(const char* path) {
    return symlink("/dev/zero", path) == 0;
}

TEST(files_larger_than_memory_are_refused_by_their_first_bytes) {
    Scratch s = make_files();
    read_all(&s, make_sparse);
    scratch_remove(&s);
}

TEST(pipes_are_not_waited_for) {
    Scratch s = make_files();
    read_all(&s, make_pipe);
    scratch_remove(&s);
}

TEST(devices_without_end_are_not_read) {
    Scratch s = make_files();
    read_all(&s, make_device);
    scratch_remove(&s);
}

// The page does without a log that is none, and shows the frames.
TEST(a_log_that_is_none_keeps_nobody_waiting) {
    Scratch s = make_files();
    bool (*const make[])(const char*) = {make_sparse, make_pipe, make_device};
    for (int i = 0; i < 3; ++i) {
        unlink(scratch_path(&s, "D/log.csv"));
        REQUIRE(make[i](scratch_path(&s, "D/log.csv")));
        int code = COMMAND_PREPARED(&s, limit_memory, "view", "D", "-o", "p.html");
        CHECK(code == 0 || (code == 1 && command_wrote(&s, "stderr", "page")));
    }
    scratch_remove(&s);
}
