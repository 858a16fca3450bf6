// `tendril distance` from outside: a good file, its rows, and files that are wrong.
#include "test.h"

#include <sys/wait.h>
#include <unistd.h>

static char directory[64];

static const char* path(const char* name) {
    static char text[2][160];
    static int turn;
    turn = 1 - turn;
    snprintf(text[turn], sizeof text[turn], "%s/%s", directory, name);
    return text[turn];
}

static void write_text(const char* name, const char* text) {
    if (directory[0] == '\0') {
        strcpy(directory, "/tmp/tendril-distance-XXXXXX");
        if (mkdtemp(directory) == NULL) {
            FAIL("no directory");
        }
    }
    FILE* f = fopen(path(name), "w");
    fputs(text, f);
    fclose(f);
}

static int run(const char* arguments) {
    const char* command = getenv("TENDRIL_COMMAND");
    char line[1024];
    snprintf(line, sizeof line, "%s distance %s > %s/stdout 2> %s/stderr",
             command == NULL ? "tendril" : command, arguments, directory, directory);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void read_text(const char* name, char* text, size_t size) {
    FILE* f = fopen(path(name), "r");
    size_t length = f == NULL ? 0 : fread(text, 1, size - 1, f);
    text[length] = '\0';
    if (f != NULL) {
        fclose(f);
    }
}

TEST(a_batch_is_solved) {
    if (getenv("TENDRIL_COMMAND") == NULL) {
        SKIP("TENDRIL_COMMAND is not set");
    }
    // two crossing segments; an arc of radius 1 in the x-y plane about (0, 1, 0) and a point
    write_text("good.csv", "segment,0,0,0,1,0,0,segment,0.5,-1,0.25,0.5,1,0.25\n"
                           "helix,0,0,0,1,0,0,0,1,0,0,0,1,0,0,1,1.5,"
                           "segment,2,1,0,2,1,0\n"
                           "bezier,0,0,0,1,0,0,2,0,0,3,0,0,"
                           "clothoid,0,5,0,1,0,0,0,1,0,0,0,1,0,0,0,0,0,0,3\n");
    char arguments[256], text[2000];
    snprintf(arguments, sizeof arguments, "%s --bound 4 --out %s/out.csv --json", path("good.csv"),
             directory);
    CHECK_INT(run(arguments), 0);
    read_text("out.csv", text, sizeof text);
    double d[2], s[2], t[2];
    int id[2], n = 0;
    CHECK(sscanf(text,
                 "id,distance,s_a,s_b,boxes,certified\n%d,%lf,%lf,%lf,%*d,1\n%d,%lf,%lf,%lf,%*d,1\n"
                 "3,inf,nan,nan,%*d,1\n%n",
                 &id[0], &d[0], &s[0], &t[0], &id[1], &d[1], &s[1], &t[1], &n) == 8 &&
          n > 0);
    CHECK_NEAR(d[0], 0.25, 1e-15);
    CHECK_NEAR(s[0], 0.5, 1e-15);
    CHECK_NEAR(t[0], 1.0, 1e-15);
    // the end at 1.5 rad is short of the angle pi/2 at which the point lies
    CHECK_NEAR(s[1], 1.5, 0.0);
    CHECK_NEAR(d[1], hypot(2.0 - sin(1.5), cos(1.5)), 1e-15);
    read_text("stdout", text, sizeof text);
    CHECK(strstr(text, "\"pairs\": 3, \"below\": 2, \"certified\": 3") != NULL);
}

TEST(bad_lines_are_named) {
    if (getenv("TENDRIL_COMMAND") == NULL) {
        SKIP("TENDRIL_COMMAND is not set");
    }
    static const char* const bad[] = {
        "segment,0,0,0,1,0,0,segment,0,0,0,1,0\n",
        "segment,0,0,0,1,0,0,segment,0,0,0,1,0,nan\n",
        "segment,0,0,0,1,0,0,segment,0,0,0,1,0,inf\n",
        "segment,0,0,0,1,0,x,segment,0,0,0,1,0,0\n",
        "segment,0,0,0,1,0,0,segment,0,0,0,1,0,0,7\n",
        "spline,0,0,0,1,0,0,segment,0,0,0,1,0,0\n",
        "helix,0,0,0,1,0,0,0,1,0,0,0,2,0,0,1,1.5,segment,0,0,0,1,0,0\n",
        "helix,0,0,0,1,0,0,0,1,0,0,0,1,0,0,1,-1,segment,0,0,0,1,0,0\n",
        "segment,0,0,0,1,0,0\n",
        "\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        char text[600], arguments[256];
        snprintf(text, sizeof text, "segment,0,0,0,1,0,0,segment,0,0,1,1,0,1\n%s", bad[i]);
        write_text("bad.csv", text);
        write_text("kept.csv", "kept");
        snprintf(arguments, sizeof arguments, "%s --out %s/kept.csv", path("bad.csv"), directory);
        CHECK_INT(run(arguments), 3);
        read_text("stderr", text, sizeof text);
        CHECK(strstr(text, "line 2:") != NULL);
        read_text("kept.csv", text, sizeof text);
        CHECK_TEXT(text, "kept"); // nothing is written over
    }
    char arguments[256];
    snprintf(arguments, sizeof arguments, "%s", path("absent.csv"));
    CHECK_INT(run(arguments), 3);
    write_text("good.csv", "segment,0,0,0,1,0,0,segment,0,0,1,1,0,1\n");
    snprintf(arguments, sizeof arguments, "%s --method best", path("good.csv"));
    CHECK_INT(run(arguments), 2);
    CHECK_INT(run(""), 2);
    snprintf(arguments, sizeof arguments, "rm -r %s", directory);
    CHECK_INT(system(arguments), 0);
}
