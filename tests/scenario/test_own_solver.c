// A solver of one's own in the command, and the history that it writes of any.
#include "command.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Two coupled blocks, and a third apart: two islands.
static const char* const PROBLEM = "3 3 1 9 9 5 3 3 3 6 9 3 6 9 4 5 0 2 4 5 0 1 0 1 2 "
                                   "0 2 0 0 0 2 0 0 0 2 1 -1 0 0 0 -1 0 0 0 -1 "
                                   "2 -1 0 0 0 -1 0 0 0 -1 3 2 0 0 0 2 0 0 0 2 "
                                   "4 1 0 0 0 1 0 0 0 1 "
                                   "-1 0.5 0 -1 -2 0.3 -1 1 0 0.5 0.3 0.7";

static void write_problem(const Scratch* scratch) {
    scratch_write(scratch_path(scratch, "p.dat"), PROBLEM, strlen(PROBLEM));
}

static int count_lines(const char* text) {
    int lines = 0;
    for (; *text != '\0'; ++text) {
        lines += *text == '\n';
    }
    return lines;
}

TEST(the_example_solves_files_like_any_other) {
    Scratch scratch = scratch_make();
    const char* own = getenv("TENDRIL_OWN_SOLVER");
    write_problem(&scratch);
    REQUIRE(own != NULL);
    CHECK_INT(COMMAND(&scratch, "dfcp", "p.dat", "--own", own, "--out", "own.csv", "--json"), 0);
    CHECK(command_wrote(&scratch, "stdout", "\"solver\": \"own\""));
    CHECK(command_wrote(&scratch, "stdout", "\"converged\": true"));
    // its impulses are a solution for the others too
    CHECK_INT(COMMAND(&scratch, "dfcp", "p.dat", "--start", "own.csv"), 0);
    CHECK(command_wrote(&scratch, "stdout", " 0 iterations"));
    CHECK_INT(COMMAND(&scratch, "dfcp", "p.dat", "--own", own, "--max-iterations", "2"), 1);
    CHECK(command_wrote(&scratch, "stdout", "iteration limit"));
    CHECK_INT(COMMAND(&scratch, "bench", "friction", "p.dat", "--own", own, "--no-peers",
                      "--repeats", "1", "--convergence", "-o", "b"),
              0);
    char* results = scratch_read(scratch_path(&scratch, "b/results.csv"), NULL);
    REQUIRE(results != NULL);
    CHECK(strstr(results, "p.dat,3,own,own,1,") != NULL);
    free(results);
    results = scratch_read(scratch_path(&scratch, "b/profile.csv"), NULL);
    REQUIRE(results != NULL);
    CHECK(strstr(results, ",faceted,nodal,own,") != NULL);
    free(results);
    CHECK_INT(
        COMMAND(&scratch, "bench", "friction", "p.dat", "--no-peers", "--repeats", "1", "-o", "b"),
        0);
    results = scratch_read(scratch_path(&scratch, "b/profile.csv"), NULL);
    REQUIRE(results != NULL);
    CHECK(strstr(results, "own") == NULL);
    free(results);
    scratch_remove(&scratch);
}

TEST(wrong_solvers_are_refused) {
    Scratch scratch = scratch_make();
    const char* own = getenv("TENDRIL_OWN_SOLVER");
    write_problem(&scratch);
    CHECK_INT(COMMAND(&scratch, "dfcp", "p.dat", "--own", "missing.so"), 3);
    CHECK(command_wrote(&scratch, "stderr", "missing.so: cannot be taken for a solver"));
    CHECK_INT(COMMAND(&scratch, "dfcp", "p.dat", "--own", "p.dat"), 3);
    CHECK_INT(COMMAND(&scratch, "bench", "friction", "p.dat", "--own", "p.dat"), 3);
    CHECK_INT(COMMAND(&scratch, "dfcp", "p.dat", "--own", own, "--solver", "auto"), 2);
    // blocks of six, which it does not know
    scratch_write(
        scratch_path(&scratch, "six.dat"),
        "6 1 0 6 6 6 6 1 0 0 0 0 0 0 1 0 0 0 0 0 0 1 0 0 0 0 0 0 1 0 0 0 0 0 0 1 0 "
        "0 0 0 0 0 1 -1 0 0 0 0 0 0.5",
        strlen("6 1 0 6 6 6 6 1 0 0 0 0 0 0 1 0 0 0 0 0 0 1 0 0 0 0 0 0 1 0 0 0 0 0 0 1 0 "
               "0 0 0 0 0 1 -1 0 0 0 0 0 0.5"));
    CHECK_INT(COMMAND(&scratch, "dfcp", "six.dat", "--own", own), 1);
    CHECK(command_wrote(&scratch, "stderr", "six.dat: the solver ended: "));
    scratch_remove(&scratch);
}

TEST(every_solver_leaves_a_history) {
    static const char* const solvers[] = {
        "auto",     "gauss-seidel", "anderson",    "newton",     "proximal",
        "interior", "admm",         "fixed-point", "gradient",   "alternating",
        "path",     "wedged",       "faceted",     "active-set", "normal-interior"};
    Scratch scratch = scratch_make();
    write_problem(&scratch);
    for (size_t k = 0; k < sizeof solvers / sizeof *solvers; ++k) {
        int code = COMMAND(&scratch, "dfcp", "p.dat", "--solver", solvers[k], "--history", "h.csv");
        CHECK(code == 0 || k >= 12); // the last three are not exact
        char* text = scratch_read(scratch_path(&scratch, "h.csv"), NULL);
        REQUIRE(text != NULL);
        CHECK(strncmp(text, "island,iteration,stage,solver,contacts,error,changed,ms\n0,0,", 60) ==
              0);
        CHECK(strstr(text, "\n0,1,") != NULL);
        CHECK(strstr(text, "\n1,0,") != NULL); // the second island
        CHECK(count_lines(text) >= 5);
        free(text);
    }
    CHECK_INT(COMMAND(&scratch, "dfcp", "p.dat", "p.dat", "--history", "h.csv"), 2);
    CHECK_INT(COMMAND(&scratch, "dfcp", "p.dat", "--history", "no/such/h.csv"), 1);
    CHECK_INT(COMMAND(&scratch, "dfcp", "p.dat", "--history", "/dev/full"), 1);
    scratch_remove(&scratch);
}
