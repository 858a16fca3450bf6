// `tendril ccd` as a person or a script calls it: what it prints, and its exit codes.
#include "test.h"

#include <sys/wait.h>
#include <unistd.h>

static char said[65536]; // stdout and stderr of the last run
static char folder[256]; // with the files of these tests

static int run(const char* arguments) {
    char line[8192];
    snprintf(line, sizeof line, "cd '%s' && '%s' %s 2>&1", folder, getenv("TENDRIL_COMMAND"),
             arguments);
    FILE* pipe = popen(line, "r");
    size_t size = pipe == NULL ? 0 : fread(said, 1, sizeof said - 1, pipe);
    said[size] = '\0';
    int status = pipe == NULL ? -1 : pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void write_file(const char* name, const char* text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* file = fopen(path, "w");
    if (file != NULL) {
        fputs(text, file);
        fclose(file);
    }
}

// A vertex that falls through a triangle, and one that stays above.
static const char GOOD[] = "0,1,0,1,1,1,1\n-1,1,-1,1,0,1,1\n1,1,-1,1,0,1,1\n0,1,1,1,0,1,1\n"
                           "0,1,0,1,-1,1,1\n-1,1,-1,1,0,1,1\n1,1,-1,1,0,1,1\n0,1,1,1,0,1,1\n"
                           "0,1,0,1,1,1,0\n-1,1,-1,1,0,1,0\n1,1,-1,1,0,1,0\n0,1,1,1,0,1,0\n"
                           "0,1,0,1,1,2,0\n-1,1,-1,1,0,1,0\n1,1,-1,1,0,1,0\n0,1,1,1,0,1,0\n";

static bool set_up(void) {
    if (getenv("TENDRIL_COMMAND") == NULL) {
        return false;
    }
    if (folder[0] == '\0') {
        snprintf(folder, sizeof folder, "/tmp/tendril-ccd-XXXXXX");
        if (mkdtemp(folder) == NULL) {
            return false;
        }
    }
    write_file("vertex-face.csv", GOOD);
    write_file("plain.csv", GOOD);
    return true;
}

#define NEED_COMMAND()                                                                             \
    if (!set_up()) {                                                                               \
        SKIP("TENDRIL_COMMAND is not set");                                                        \
    }

TEST(answers_are_counted) {
    NEED_COMMAND();
    CHECK_INT(run("ccd vertex-face.csv"), 0);
    CHECK(strstr(said, "total") != NULL);
    static const char* const METHODS[] = {"contract", "bisect", "interval", "univariate",
                                          "cubic",    "parity", "exact"};
    for (int i = 0; i < 7; ++i) {
        char line[256];
        snprintf(line, sizeof line, "ccd --json --method %s plain.csv --kind vf plain.csv",
                 METHODS[i]);
        CHECK_INT(run(line), 0);
        CHECK(strstr(said, "\"total\": {\"queries\": 4, \"positives\": 2, \"false_positives\": 0, "
                           "\"false_negatives\": 0, \"mean_us\": ") != NULL);
        CHECK(strstr(said, "\"files\": [") != NULL && strstr(said, "\"mean_boxes\": ") != NULL);
    }
    CHECK_INT(run("ccd vertex-face.csv --exact --threads 2 --json"), 0);
    CHECK(strstr(said, "\"method\": \"exact\"") != NULL);
}

TEST(separation_counts_near_misses) {
    NEED_COMMAND();
    CHECK_INT(run("ccd vertex-face.csv --json -d 0.6 --norm euclid"), 0);
    CHECK(strstr(said, "\"false_positives\": 1") != NULL); // half a metre above
    CHECK_INT(run("ccd vertex-face.csv --json -d 0.4 --norm max"), 0);
    CHECK(strstr(said, "\"false_positives\": 0") != NULL);
}

TEST(rows_are_written) {
    NEED_COMMAND();
    CHECK_INT(run("ccd vertex-face.csv --out answers.csv && cat answers.csv"), 0);
    CHECK(strstr(said, "file,query,kind,truth,collision,time") != NULL);
    CHECK(strstr(said, "vertex-face.csv,0,vf,1,1,0.49999") != NULL);
    CHECK(strstr(said, "vertex-face.csv,1,vf,0,0,inf") != NULL);
    CHECK_INT(run("ccd vertex-face.csv --out /nonexistent/answers.csv"), 1);
}

TEST(wrong_calls_end_with_2) {
    NEED_COMMAND();
    CHECK_INT(run("ccd"), 2);
    CHECK_INT(run("ccd plain.csv"), 2);
    CHECK(strstr(said, "--kind") != NULL);
    CHECK_INT(run("ccd vertex-face.csv --method guess"), 2);
    CHECK_INT(run("ccd vertex-face.csv --tolerance -1"), 2);
    CHECK_INT(run("ccd vertex-face.csv --tolerance nan"), 2);
    CHECK_INT(run("ccd vertex-face.csv --min-separation -1"), 2);
    CHECK_INT(run("ccd vertex-face.csv --max-checks 0"), 2);
    CHECK_INT(run("ccd vertex-face.csv --exact -d 1"), 2);
}

TEST(wrong_files_end_with_3) {
    NEED_COMMAND();
    CHECK_INT(run("ccd edge-edge-missing.csv"), 3);
    CHECK(strstr(said, "edge-edge-missing.csv") != NULL);
    write_file("bad-vertex-face.csv", "0,1,0,1,1,1,1\n0,1,0,0,1,1,1\n");
    CHECK_INT(run("ccd bad-vertex-face.csv --json"), 3);
    CHECK(strstr(said, "bad-vertex-face.csv:2: ") != NULL);
    CHECK(strchr(said, '{') == NULL); // no half object
    write_file("short-vertex-face.csv", "0,1,0,1,1,1,1\n");
    CHECK_INT(run("ccd vertex-face.csv short-vertex-face.csv"), 3);
    CHECK(strstr(said, "short-vertex-face.csv:2: ") != NULL);
    CHECK_INT(run("ccd --kind ee ."), 3); // a folder
}

TEST(a_long_line_ends_with_3) {
    NEED_COMMAND();
    char path[512];
    snprintf(path, sizeof path, "%s/long-vertex-face.csv", folder);
    FILE* file = fopen(path, "w");
    REQUIRE(file != NULL);
    for (int i = 0; i < 10 << 20; ++i) {
        fputc('7', file);
    }
    fclose(file);
    CHECK_INT(run("ccd long-vertex-face.csv"), 3);
    CHECK(strstr(said, "long-vertex-face.csv:1: ") != NULL);
    remove(path);
}

// The last test: removes the folder.
TEST(tidy) {
    NEED_COMMAND();
    char line[512];
    snprintf(line, sizeof line, "rm -rf '%s'", folder);
    CHECK_INT(system(line), 0);
}
