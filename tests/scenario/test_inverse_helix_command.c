// `tendril inverse helix` from outside: rows integrated again, ends without a helix, bad lines.
#include "test.h"

#include "command.h"

// The end of a helix by small steps: place and tangent.
static void walk(TdlVec3 turn, double length, TdlVec3 t, TdlVec3* d, TdlVec3* t1) {
    enum { STEPS = 4000 };
    // the tangent turns about the axis of `turn` evenly; Simpson's rule over pairs of steps
    double angle = tdl_norm3(turn);
    TdlVec3 axis = tdl_scale3(1.0 / angle, turn), sum = {0};
    double along = tdl_dot3(axis, t);
    TdlVec3 across = tdl_sub3(t, tdl_scale3(along, axis)), third = tdl_cross3(axis, t);
    for (int i = 0; i <= STEPS; ++i) {
        double a = angle * i / STEPS, weight = i == 0 || i == STEPS ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
        TdlVec3 at = tdl_axpy3(tdl_scale3(along, axis), cos(a), across);
        at = tdl_axpy3(at, sin(a), third);
        sum = tdl_axpy3(sum, weight * length / (3.0 * STEPS), at);
        *t1 = at;
    }
    *d = sum;
}

TEST(rows_are_the_helices_that_were_walked) {
    if (getenv("TENDRIL_COMMAND") == NULL) {
        SKIP("TENDRIL_COMMAND is not set");
    }
    static const double ROWS[][6] = {// turn, length, azimuth and height of t0
                                     {0.3, 0.1, -0.2, 0.5, 0.3, 0.2},
                                     {4.0, 1.0, 2.0, 2.0, 1.0, -0.7},
                                     {0.0, 0.0, 3.0, 0.01, 0.0, 0.4},
                                     {1e-3, 2e-3, 0.0, 1.0, 2.0, 1.0}};
    enum { COUNT = 4 };
    Scratch scratch = scratch_make();
    FILE* f = fopen(scratch_path(&scratch, "ends.csv"), "w");
    for (int i = 0; i < COUNT; ++i) {
        const double* x = ROWS[i];
        TdlVec3 t = {cos(x[5]) * cos(x[4]), cos(x[5]) * sin(x[4]), sin(x[5])}, d, t1;
        walk(tdl_load3(x, 0), x[3], t, &d, &t1);
        // from (1, 2, 3), and tangents of another length
        fprintf(f, "1, 2,3,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", 5.0 * t.x,
                5.0 * t.y, 5.0 * t.z, 1.0 + d.x, 2.0 + d.y, 3.0 + d.z, t1.x, t1.y, t1.z);
    }
    fclose(f);
    CHECK_INT(COMMAND(&scratch, "inverse", "helix", "ends.csv", "--out", "out.csv", "--json"), 0);
    CHECK(command_wrote(&scratch, "stdout", "\"helices\": 4, \"converged\": 4"));
    char* text = scratch_read(scratch_path(&scratch, "out.csv"), NULL);
    const char* head = "id,qx,qy,qz,length,converged\n";
    CHECK(text != NULL && strncmp(text, head, strlen(head)) == 0);
    const char* at = text == NULL ? "" : text + strlen(head);
    for (int i = 0; i < COUNT; ++i) {
        int id = 0, converged = 0, used = 0;
        double q[3] = {0}, length = 0.0;
        CHECK_INT(sscanf(at, "%d,%lf,%lf,%lf,%lf,%d\n%n", &id, &q[0], &q[1], &q[2], &length,
                         &converged, &used),
                  6);
        CHECK_INT(id, i + 1);
        CHECK_INT(converged, 1);
        // places are rounded near 4: 1e-15 over the length, and that over the sine of small turns
        double rounding = 1.0e-14 / (ROWS[i][3] * fmin(1.0, tdl_norm3(tdl_load3(ROWS[i], 0))));
        CHECK_NEAR(length / ROWS[i][3], 1.0, 20.0 * rounding);
        for (int k = 0; k < 3; ++k) {
            CHECK_NEAR(q[k], ROWS[i][k], 20.0 * rounding);
        }
        at += used;
    }
    free(text);
    scratch_remove(&scratch);
}

TEST(ends_without_a_helix_are_told) {
    if (getenv("TENDRIL_COMMAND") == NULL) {
        SKIP("TENDRIL_COMMAND is not set");
    }
    Scratch scratch = scratch_make();
    // d along t1 - t0; equal tangents beside each other; and one that there is
    static const char TEXT[] = "0,0,0,1,0,0,-1,1,0,0,1,0\n"
                               "0,0,0,1,0,0,0,1,0,1,0,0\n"
                               "0,0,0,1,0,0,2,0,0,1,0,0\n";
    scratch_write(scratch_path(&scratch, "ends.csv"), TEXT, strlen(TEXT));
    CHECK_INT(COMMAND(&scratch, "inverse", "helix", "ends.csv"), 1);
    CHECK(command_wrote(&scratch, "stderr", "2 of 3 rows have no such helix"));
    CHECK(command_wrote(&scratch, "stdout", "\n3,0,0,0,2,1\n"));
    scratch_remove(&scratch);
}

TEST(bad_lines_are_named) {
    if (getenv("TENDRIL_COMMAND") == NULL) {
        SKIP("TENDRIL_COMMAND is not set");
    }
    static const char* const BAD[][2] = {
        {"0,0,0,1,0,0,1,1,0,0,1\n", "number 12 is missing"},
        {"0,0,0,1,0,0,1,1,0,0,1,0,7\n", "more numbers"},
        {"0,0,0,0,0,0,1,1,0,0,1,0\n", "a tangent is zero"},
        {"0,0,0,1,0,0,0,0,0,0,1,0\n", "the same place"},
        {"0,0,0,1,0,0,1,nan,0,0,1,0\n", "not finite"},
        {"p0,0,0,1,0,0,1,1,0,0,1,0\n", "not a number: p0"},
        {"-1e308,0,0,1,0,0,1e308,1,0,0,1,0\n", "too far"},
    };
    Scratch scratch = scratch_make();
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; ++i) {
        char text[200];
        snprintf(text, sizeof text, "0,0,0,1,0,0,1,1,0,0,1,0\n%s", BAD[i][0]);
        scratch_write(scratch_path(&scratch, "ends.csv"), text, strlen(text));
        remove(scratch_path(&scratch, "out.csv"));
        CHECK_INT(COMMAND(&scratch, "inverse", "helix", "ends.csv", "-o", "out.csv"), 3);
        CHECK(command_wrote(&scratch, "stderr", "ends.csv: line 2: "));
        CHECK(command_wrote(&scratch, "stderr", BAD[i][1]));
        CHECK(fopen(scratch_path(&scratch, "out.csv"), "r") == NULL);
    }
    CHECK_INT(COMMAND(&scratch, "inverse", "helix", "none.csv"), 3);
    scratch_remove(&scratch);
}
