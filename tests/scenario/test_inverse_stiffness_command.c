// `tendril inverse stiffness` from outside: a known fibre found, and what is wrong with a call.
#include "test.h"

#include "command.h"
#include "tendril/inverse.h"

enum { ELEMENTS = 40, POINTS = 40 };
static const double LENGTH = 0.2, RADIUS = 4.0e-5, DENSITY = 1300.0, YOUNG = 3.0e9;

// The centreline of a curl at rest under gravity, as a .csv with every coordinate rounded to 12
// digits. The clamp looks down.
static void write_pose(const Scratch* scratch, const char* name, TdlVec3 gravity, double bend) {
    TdlHost host = tdl_host_default();
    double area = acos(-1.0) * RADIUS * RADIUS, EI = YOUNG * area * RADIUS * RADIUS / 4.0;
    TdlVec3 natural[ELEMENTS + 1], kappa[ELEMENTS + 1], points[POINTS];
    double at[POINTS];
    for (int i = 0; i <= ELEMENTS; ++i) {
        natural[i] = kappa[i] = (TdlVec3){8.0 * bend, 20.0 * bend, 5.0 * bend * i / ELEMENTS};
    }
    for (int k = 0; k < POINTS; ++k) {
        at[k] = k + 1 < POINTS ? LENGTH * k / (POINTS - 1) : LENGTH;
    }
    TdlStrand strand = {.model = "super-clothoid",
                        .start = {{0}, {{0, 0, -1}, {0, 1, 0}, {1, 0, 0}}},
                        .length = LENGTH,
                        .element_count = ELEMENTS,
                        .curvature = kappa,
                        .stiffness = {0.8 * EI, EI, EI},
                        .line_density = area * DENSITY};
    CHECK_INT(tdl_strand_settle(&host, &strand, gravity, natural, kappa), TDL_STATUS_OK);
    CHECK_INT(tdl_strand_places(&host, &strand, POINTS, at, points), TDL_STATUS_OK);
    FILE* f = fopen(scratch_path(scratch, name), "w");
    fprintf(f, "curve,x,y,z\n");
    for (int k = 0; k < POINTS; ++k) {
        fprintf(f, "0,%.12g,%.12g,%.12g\n", points[k].x, points[k].y, points[k].z);
    }
    fprintf(f, "1,0,0,0\n1,0,0,1\n"); // a second curve, which does not count
    fclose(f);
}

static double number_after(const char* text, const char* key) {
    const char* at = text == NULL ? NULL : strstr(text, key);
    return at == NULL ? NAN : strtod(at + strlen(key), NULL);
}

TEST(a_fibre_is_found_again) {
    if (getenv("TENDRIL_COMMAND") == NULL) {
        SKIP("TENDRIL_COMMAND is not set");
    }
    Scratch scratch = scratch_make();
    write_pose(&scratch, "a.csv", (TdlVec3){0.0, 0.0, -9.81}, 1.0);
    write_pose(&scratch, "b.csv", (TdlVec3){9.81, 0.0, 0.0}, 1.0);
    CHECK_INT(COMMAND(&scratch, "inverse", "stiffness", "a.csv", "b.csv", "--gravity", "0,0,-9.81",
                      "--gravity", "9.81,0,0", "--density", "1300", "--radius", "4e-5", "--json"),
              0);
    char* text = scratch_read(scratch_path(&scratch, "stdout"), NULL);
    double young = number_after(text, "\"young\": "), EI = number_after(text, "\"EI\": "),
           GJ = number_after(text, "\"GJ\": ");
    printf("  E off by %.1e, GJ/EI %.4f\n", young / YOUNG - 1.0, GJ / EI);
    // a spline by 40 points and 20 elements for 40: both some 1e-5 L of deflections of 0.1 L
    CHECK_NEAR(young / YOUNG, 1.0, 1.0e-3);
    CHECK_NEAR(GJ / EI, 0.8, 1.0e-3);
    CHECK_NEAR(number_after(text, "\"length\": "), LENGTH, 1.0e-5 * LENGTH);
    free(text);
    CHECK_INT(COMMAND(&scratch, "inverse", "stiffness", "a.csv", "b.csv", "--gravity", "0,0,-9.81",
                      "--gravity", "9.81,0,0", "--line-density", "6.5e-6"),
              0);
    CHECK(command_wrote(&scratch, "stdout", " N m^2\nGJ "));
    scratch_remove(&scratch);
}

TEST(what_is_not_told_is_said) {
    if (getenv("TENDRIL_COMMAND") == NULL) {
        SKIP("TENDRIL_COMMAND is not set");
    }
    Scratch scratch = scratch_make();
    write_pose(&scratch, "a.csv", (TdlVec3){0.0, 0.0, -9.81}, 0.0);
    write_pose(&scratch, "b.csv", (TdlVec3){9.81, 0.0, 0.0}, 0.0);
    // straight by nature: EI, but no GJ
    CHECK_INT(COMMAND(&scratch, "inverse", "stiffness", "a.csv", "b.csv", "-g", "0,0,-9.81", "-g",
                      "9.81,0,0", "--line-density", "6.5e-6"),
              0);
    CHECK(command_wrote(&scratch, "stdout", "GJ               the poses do not tell\n"));
    // the same pose twice
    CHECK_INT(COMMAND(&scratch, "inverse", "stiffness", "b.csv", "b.csv", "-g", "9.81,0,0",
                      "--line-density", "6.5e-6", "--json"),
              1);
    CHECK(command_wrote(&scratch, "stdout", "\"EI\": null, \"EI_error\": null, \"GJ\": null"));
    CHECK(command_wrote(&scratch, "stderr", "these poses do not tell EI"));
    scratch_remove(&scratch);
}

TEST(bad_calls_and_bad_files) {
    if (getenv("TENDRIL_COMMAND") == NULL) {
        SKIP("TENDRIL_COMMAND is not set");
    }
    Scratch scratch = scratch_make();
    write_pose(&scratch, "a.csv", (TdlVec3){0.0, 0.0, -9.81}, 1.0);
    static const char SHORT[] = "x,y,z\n0,0,0\n1,0,0\n", WRONG[] = "x,y,z\n0,0,0\n1,zero,0\n";
    scratch_write(scratch_path(&scratch, "short.csv"), SHORT, strlen(SHORT));
    scratch_write(scratch_path(&scratch, "wrong.csv"), WRONG, strlen(WRONG));
    const struct {
        const char *a, *b, *option, *value, *message;
        int code;
    } CALLS[] = {
        {"a.csv", "a.csv", "--quiet", NULL, "either --line-density, or", 2},
        {"a.csv", "a.csv", "--density", "1000", "--density needs --radius", 2},
        {"a.csv", "a.csv", "--gravity", "0,1", "three numbers x,y,z, not 0,1", 2},
        {"a.csv", "--quiet", "--line-density", "1e-5", "takes 2 to 16 poses", 2},
        {"a.csv", "none.csv", "--line-density", "1e-5", "none.csv", 3},
        {"a.csv", "a.txt", "--line-density", "1e-5", ".hair, .obj or .csv", 3},
        {"a.csv", "wrong.csv", "--line-density", "1e-5", "wrong.csv:3: ", 3},
        {"a.csv", "short.csv", "--line-density", "1e-5", "2 points that differ", 3},
    };
    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; ++i) {
        bool density = strcmp(CALLS[i].option, "--gravity") == 0;
        CHECK_INT(COMMAND(&scratch, "inverse", "stiffness", CALLS[i].a, CALLS[i].b, "--quiet",
                          density ? "--line-density=1e-5" : "--quiet", CALLS[i].option,
                          CALLS[i].value),
                  CALLS[i].code);
        CHECK(command_wrote(&scratch, "stderr", CALLS[i].message));
        char* text = scratch_read(scratch_path(&scratch, "stdout"), NULL);
        CHECK(text != NULL && text[0] == '\0');
        free(text);
    }
    CHECK_INT(COMMAND(&scratch, "inverse", "stiffness", "a.csv", "a.csv", "-g", "1,0,0", "-g",
                      "1,0,0", "-g", "1,0,0", "--line-density", "1e-5"),
              2);
    CHECK(command_wrote(&scratch, "stderr", "once for each of the 2 poses"));
    scratch_remove(&scratch);
}
