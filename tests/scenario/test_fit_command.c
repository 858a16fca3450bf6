// Fitting as a user meets it: values are found again from recordings with noise and lost markers,
// of cloth and rods that ran here and of a box whose motion is known on paper; what goes wrong is
// told.
#include "command.h"
#include "test.h"

#include <math.h>

static const char* source(const char* path) {
    static char paths[4][1024];
    static int next;
    char* out = paths[next++ % 4];
    snprintf(out, sizeof paths[0], "%.600s/%s", getenv("TENDRIL_SOURCE"), path);
    return out;
}

// A number of the JSON on stdout: `key` behind `after`; NaN when it is not there.
static double number(const Scratch* s, const char* after, const char* key) {
    char* text = scratch_read(scratch_path(s, "stdout"), NULL);
    char quoted[128];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char* at = text == NULL ? NULL : strstr(text, after);
    at = at == NULL ? NULL : strstr(at, quoted);
    double value = at == NULL ? NAN : strtod(at + strlen(quoted), NULL);
    free(text);
    return value;
}

// The value found of a path is the true one to within a share; and, where the recording was made by
// this very program, to within four of its standard deviations.
static void check_found(const Scratch* s, const char* path, double truth, double share, bool own) {
    double value = number(s, path, "value"), deviation = number(s, path, "deviation");
    printf("  %-28s %.6g +- %.2g, off by %.3f %%\n", path, value, deviation,
           100.0 * (value / truth - 1.0));
    CHECK_NEAR(value, truth, share * truth);
    CHECK(deviation > 0.0 && (!own || fabs(value - truth) < 4.0 * deviation));
}

static bool exists(const Scratch* s, const char* name) {
    struct stat info;
    return stat(scratch_path(s, name), &info) == 0 && info.st_size > 0;
}

// --- values are found again ----------------------------------------------------------------------

// scenes/recordings/thrown-napkin.csv was made with damping 0.2, weight 0.12 and friction 0.3, with
// noise of 1 mm and a twelfth of the places lost; the scene has 0.1, 0.15 and 0.5.
TEST(cloth_damping_weight_and_friction_are_found) {
    Scratch s = scratch_make();
    CHECK_INT(COMMAND(&s, "fit", source("scenes/thrown-napkin.yaml"), "--data",
                      source("scenes/recordings/thrown-napkin.csv"), "--params", "alpha,delta,mu",
                      "-o", "out", "--json", "--tolerance", "3e-3", "--sweep", "2"),
              0);
    CHECK(command_wrote(&s, "stdout", "\"converged\": true"));
    check_found(&s, "cloths.napkin.damping", 0.2, 0.02, false);
    check_found(&s, "cloths.napkin.weight", 0.12, 0.02, false);
    check_found(&s, "contacts.friction", 0.3, 0.02, false);
    printf("  %g evaluations, %g runs\n", number(&s, "", "evaluations"), number(&s, "", "runs"));
    // the noise is what is left: sqrt(3) mm
    double error = number(&s, "", "error");
    CHECK_NEAR(error, 1.732e-3, 0.1 * 1.732e-3);
    CHECK(number(&s, "", "lost") == 49.0);
    CHECK(command_wrote(&s, "stderr", "49 of 600 places are lost and left out (8.17 %)"));
    CHECK(command_wrote(&s, "stderr", "   1 search error "));
    static const char* const FILES[] = {"out/report.html", "out/evaluations.csv", "out/error.svg",
                                        "out/error.csv",   "out/search.svg",      "out/sweep.svg",
                                        "out/sweep.csv",   "out/markers.csv"};
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; ++i) {
        CHECK(exists(&s, FILES[i]));
    }
    // the scene that it leaves has the values: fitted again it begins with the error that was found
    CHECK_INT(COMMAND(&s, "fit", "out/scene.yaml", "--data",
                      source("scenes/recordings/thrown-napkin.csv"), "--params", "mu", "-o",
                      "again", "--json", "-q", "--evaluations", "1", "--sweep", "0"),
              1);
    CHECK_NEAR(number(&s, "", "error_at_start"), error, 1e-6 * error); // it has all digits
    scratch_remove(&s);
}

// Corners that a hand leads, and a stick that hits the sheet and throws it ahead.
#define HIT(left, right)                                                                           \
    "time: {step: 0.01, end: 1}\n"                                                                 \
    "output: {frame: 0.02}\n"                                                                      \
    "cloths:\n"                                                                                    \
    "  - name: towel\n"                                                                            \
    "    rectangle: {size: [0.42, 0.594], nodes: [4, 5]}\n"                                        \
    "    position: [0, 0, 1]\n"                                                                    \
    "    normal: [0, -1, 0]\n"                                                                     \
    "    density: 0.1042\n"                                                                        \
    "    weight: 0.09\n"                                                                           \
    "    damping: 0.08\n"                                                                          \
    "    holds:\n"                                                                                 \
    "      - {corners: [top-left], motion: " left "}\n"                                            \
    "      - {corners: [top-right], motion: " right "}\n"                                          \
    "colliders:\n"                                                                                 \
    "  - {name: stick, shape: capsule, radius: 0.01, length: 1, position: [-0.5, -0.3, 0.85],\n"   \
    "     motion: {keyframes: [{time: 0}, {time: 0.8, position: [0, 0.45, 0]}, {time: 1.2}]}}\n"   \
    "observe: [{force: stick}]\n"
#define LED(x)                                                                                     \
    "{keyframes: [{time: 0}, {time: 0.4, position: [" x ", 0.1, 0]}, {time: 0.9, position: [" x    \
    ", 0, 0]}]}"

// As S3 does it: the corners go as they were recorded, and another take, with noise and gaps, is
// followed.
TEST(a_sheet_hit_by_a_stick_follows_its_recorded_corners) {
    static const char MADE[] = HIT(LED("0.02"), LED("-0.02"));
    static const char FITTED[] = HIT("{recording: {file: corners.csv, marker: left}}",
                                     "{recording: {file: corners.csv, marker: right}}");
    Scratch s = scratch_make();
    scratch_write(scratch_path(&s, "made.yaml"), MADE, sizeof MADE - 1);
    scratch_write(scratch_path(&s, "fitted.yaml"), FITTED, sizeof FITTED - 1);
    CHECK_INT(COMMAND(&s, "fit", "made.yaml", "--make-recording", "corners.csv", "-q", "--period",
                      "0.01", "-m", "left=towel:16", "-m", "right=towel:19"),
              0);
    CHECK_INT(COMMAND(&s, "fit", "made.yaml", "--make-recording", "hit.csv", "-q", "--noise",
                      "2e-4", "--lose", "0.1", "-m", "stranger=towel:16", "-m", "towel:0", "-m",
                      "towel:3", "-m", "towel:5", "-m", "towel:10", "-m", "towel@0.1 0 1.1"),
              0);
    CHECK_INT(COMMAND(&s, "fit", "fitted.yaml", "--data", "hit.csv", "--params",
                      "alpha=0.01:1:0.2, delta=0.02:0.5:0.15", "-o", "out", "--json", "--sweep",
                      "0", "--tolerance", "3e-3"),
              0);
    check_found(&s, "cloths.towel.damping", 0.08, 0.02, false);
    check_found(&s, "cloths.towel.weight", 0.09, 0.02, false);
    printf("  %g evaluations, %g runs\n", number(&s, "", "evaluations"), number(&s, "", "runs"));
    CHECK(command_wrote(&s, "stderr",
                        "markers without a place in the scene, left out: stranger (1)"));
    // the stick does touch it
    CHECK_INT(COMMAND(&s, "run", "out/scene.yaml", "-o", "run", "-q"), 0);
    char* log = scratch_read(scratch_path(&s, "run/log.csv"), NULL);
    REQUIRE(log != NULL);
    int hits = 0;
    for (const char* row = strchr(log, '\n'); row != NULL && row[1] != '\0';
         row = strchr(row + 1, '\n')) {
        const char* end = strchr(row + 1, '\n');
        const char* at = end;
        for (int comma = 0; at != NULL && at > row && comma < 2;) {
            comma += *--at == ','; // the last three columns are the force
        }
        hits += at != NULL && fabs(strtod(at + 1, NULL)) > 1e-3;
    }
    printf("  hit in %d of 100 steps\n", hits);
    CHECK(hits >= 2); // each hit throws it off
    free(log);
    scratch_remove(&s);
}

static const char ROD[] = "time: {step: 2e-3, end: 0.5}\n"
                          "output: {frame: 0.01}\n"
                          "materials:\n"
                          "  - {name: rubber, young: 4e6, density: 1100, damping: 0.01}\n"
                          "rods:\n"
                          "  - {name: strip, material: rubber, length: 0.2, radius: 4e-3,\n"
                          "     elements: 5, clamp: {position: [0, 0, 0.3]}}\n";

TEST(stiffness_and_damping_of_a_rod_are_found) {
    Scratch s = scratch_make();
    scratch_write(scratch_path(&s, "rod.yaml"), ROD, sizeof ROD - 1);
    CHECK_INT(COMMAND(&s, "fit", "rod.yaml", "--make-recording", "rod.csv", "--noise", "5e-4",
                      "--lose", "0.2", "--marker", "tip=strip@0.2", "--marker", "strip:2.5",
                      "--marker", "strip:4", "--marker", "strip:4.5", "--marker", "strip@0.13",
                      "--json"),
              0);
    CHECK(command_wrote(&s, "stdout", "\"markers\": 5, \"moments\": 51, "));
    CHECK_INT(COMMAND(&s, "fit", "rod.yaml", "--data", "rod.csv", "--marker", "tip=strip@0.2",
                      "--param", "materials.rubber.young=1e5:1e7:1e6", "--param",
                      "materials.rubber.damping=1e-3:0.1:0.04", "-o", "out", "--json", "-q",
                      "--sweep", "0"),
              0);
    check_found(&s, "materials.rubber.young", 4e6, 0.02, true);
    check_found(&s, "materials.rubber.damping", 0.01, 0.02, true);
    // the same bits on one thread and on two
    static const char* const THREADS[] = {"1", "2"};
    for (int i = 0; i < 2; ++i) {
        CHECK_INT(COMMAND(&s, "fit", "rod.yaml", "--data", "rod.csv", "--param",
                          "materials.rubber.young=1e5:1e7:1e6", "-o", THREADS[i], "-t", THREADS[i],
                          "-q", "--sweep", "0", "--evaluations", "8"),
                  1);
    }
    char* one = scratch_read(scratch_path(&s, "1/markers.csv"), NULL);
    char* two = scratch_read(scratch_path(&s, "2/markers.csv"), NULL);
    CHECK(one != NULL && two != NULL && strcmp(one, two) == 0);
    free(one);
    free(two);
    scratch_remove(&s);
}

static const char BOX[] = "time: {step: 5e-3, end: 0.5}\n"
                          "contacts: {friction: 0.4, start: refuse}\n"
                          "bodies:\n"
                          "  - {name: box, shape: box, half: [0.1, 0.1, 0.02], density: 500,\n"
                          "     position: [1, 0, 0.02], velocity: [2, 0, 0]}\n"
                          "colliders: [{name: floor, shape: plane},\n"
                          "            {name: wall, shape: plane, position: [1.2, 0, 0],\n"
                          "             normal: [-1, 0, 0]}]\n";

// A box slides by x = v t - mu g t^2 / 2, recorded by another program: y is up, in mm, half a
// second later; the marker is on its edge.
static void write_slide(const Scratch* s, double v, double mu) {
    char text[8192];
    size_t size = (size_t)snprintf(text, sizeof text,
                                   "frame,time,P7.x,P7.y,P7.z,stick.x,stick.y,"
                                   "stick.z\n");
    for (int n = 0; n <= 40; ++n) {
        double t = 0.01 * n;
        size += (size_t)snprintf(text + size, sizeof text - size, "%d,%.3f,%.6f,40,-50,1,2,3\n", n,
                                 0.5 + t, 1e3 * (0.1 + v * t - 0.5 * mu * 9.81 * t * t));
    }
    scratch_write(scratch_path(s, "slide.csv"), text, size);
}

// Runs that begin in the wall are refused, and only count as bad.
TEST(a_sliding_box_is_found_in_spite_of_runs_that_fail) {
    Scratch s = scratch_make();
    scratch_write(scratch_path(&s, "box.yaml"), BOX, sizeof BOX - 1);
    write_slide(&s, 1.5, 0.25);
    CHECK_INT(COMMAND(&s, "fit", "box.yaml", "--data", "slide.csv", "--marker",
                      "P7=box@0.1 0.05 0.02", "--scale", "1e-3", "--up", "y", "--delay", "-0.5",
                      "--param", "mu=0.05:0.8", "--param", "bodies.box.velocity.0=0.5:3", "--param",
                      "bodies.box.position.0=-0.5:1.4", "-o", "out", "--json", "--sweep", "0"),
              0);
    double mu = number(&s, "contacts.friction", "value");
    double v = number(&s, "box.velocity.0", "value"), x = number(&s, "box.position.0", "value");
    printf("  mu %.6f, v %.6f m/s, x %.2e m; %g of %g runs failed\n", mu, v, x,
           number(&s, "", "failed"), number(&s, "", "runs"));
    // steps follow a parabola exactly; the recording has nine digits
    CHECK_NEAR(mu, 0.25, 1e-6);
    CHECK_NEAR(v, 1.5, 1e-6);
    CHECK_NEAR(x, 0.0, 1e-6);
    CHECK(number(&s, "", "failed") > 0.0);
    CHECK(command_wrote(&s, "stderr", "failed: things overlap at the start"));
    CHECK(command_wrote(&s, "stderr", "runs failed and counted as bad"));
    CHECK(command_wrote(&s, "stderr", "markers without a place in the scene, left out: stick (1)"));
    CHECK(command_wrote(&s, "stderr", "moments left out: 1 at or before 0 s"));
    scratch_remove(&s);
}

// --- ends ----------------------------------------------------------------------------------------

TEST(what_does_not_converge_has_status_1) {
    Scratch s = scratch_make();
    scratch_write(scratch_path(&s, "rod.yaml"), ROD, sizeof ROD - 1);
    CHECK_INT(COMMAND(&s, "fit", "rod.yaml", "--make-recording", "rod.csv", "-q"), 0);
    CHECK_INT(COMMAND(&s, "fit", "rod.yaml", "--data", "rod.csv", "--param",
                      "materials.rubber.young=1e5:1e7:1e6", "-o", "few", "--evaluations", "4",
                      "--sweep", "0"),
              1);
    CHECK(command_wrote(&s, "stdout", "not converged after 4 evaluations: the allowed"));
    // a bound that keeps it from the truth is told
    CHECK_INT(COMMAND(&s, "fit", "rod.yaml", "--data", "rod.csv", "--param",
                      "materials.rubber.young=1e5:1e6:5e5", "-o", "bound", "--sweep", "0"),
              0);
    CHECK(command_wrote(&s, "stdout", "(at its bound: widen it)"));
    // every algorithm ends, and leaves its evaluations
    static const char* const ALGORITHMS[] = {"cobyla", "sbplx", "nelder-mead", "direct", "crs"};
    for (int i = 0; i < 5; ++i) {
        int code =
            COMMAND(&s, "fit", "rod.yaml", "--set", "time.end=0.15", "--data", "rod.csv", "--param",
                    "materials.rubber.young=1e6:1e7:3e6", "-o", ALGORITHMS[i], "--sweep", "0",
                    "--evaluations", "80", "--json", "-q", "--algorithm", ALGORITHMS[i]);
        double off = number(&s, "young", "value") / 4e6 - 1.0;
        printf("  %s: status %d after %g evaluations, off by %.3f %%\n", ALGORITHMS[i], code,
               number(&s, "", "evaluations"), 100.0 * off);
        CHECK(code == 0 || code == 1);
        CHECK_NEAR(off, 0.0, 0.1);
    }
    scratch_remove(&s);
}

TEST(ctrl_c_ends_the_search_with_the_best_so_far) {
    Scratch s = scratch_make();
    scratch_write(scratch_path(&s, "rod.yaml"), ROD, sizeof ROD - 1);
    CHECK_INT(COMMAND(&s, "fit", "rod.yaml", "--make-recording", "rod.csv", "-q"), 0);
    pid_t child = COMMAND_START(&s, "fit", "rod.yaml", "--data", "rod.csv", "--param",
                                "materials.rubber.young=1e5:1e7:1e6", "-o", "out", "--algorithm",
                                "crs", "--evaluations", "1000000");
    char* table = NULL;
    while ((table == NULL || strstr(table, "\n3,search") == NULL) && !command_ended(child)) {
        poll(NULL, 0, 5);
        free(table);
        table = scratch_read(scratch_path(&s, "out/evaluations.csv"), NULL);
    }
    REQUIRE(table != NULL);
    static const char HEAD[] =
        "evaluation,phase,materials.rubber.young,error,outcome,seconds\n1,search,1000000,";
    CHECK(strncmp(table, HEAD, sizeof HEAD - 1) == 0);
    free(table);
    kill(child, SIGINT);
    CHECK_INT(command_wait(child), 1);
    CHECK(command_wrote(&s, "stdout", "evaluations: it was stopped"));
    CHECK(command_wrote(&s, "stdout", "  materials.rubber.young "));
    CHECK(exists(&s, "out/scene.yaml"));
    scratch_remove(&s);
}

// --- mistakes ------------------------------------------------------------------------------------

TEST(mistakes_are_told_before_anything_runs) {
    Scratch s = scratch_make();
    scratch_write(scratch_path(&s, "rod.yaml"), ROD, sizeof ROD - 1);
    CHECK_INT(COMMAND(&s, "fit", "rod.yaml", "--make-recording", "rod.csv", "-q"), 0);
    static const char WRONG[] = "time,strip@0.3.x,strip@0.3.y,strip@0.3.z\n1,2,3,4\n";
    scratch_write(scratch_path(&s, "wrong.csv"), WRONG, sizeof WRONG - 1);
    static const char OTHER[] = "time,M.x,M.y,M.z\n1,2,3,4\n";
    scratch_write(scratch_path(&s, "other.csv"), OTHER, sizeof OTHER - 1);
#define YOUNG "--param", "materials.rubber.young=1e5:1e7"
    static const struct {
        const char* words[8];
        int code;
        const char* message;
    } BAD[] = {
        {{NULL}, 2, "say either --data FILE, to fit, or --make-recording FILE"},
        {{"--data", "rod.csv", "-o", "out"}, 2, "say what is sought with --param PATH=LOW:HIGH"},
        {{"--data", "rod.csv", YOUNG}, 2, "say with --output DIR where the result goes"},
        {{"--data", "no.csv", YOUNG, "-o", "out"}, 3, "no.csv: could not be opened: No such file"},
        {{"--data", "wrong.csv", YOUNG, "-o", "out"},
         3,
         "wrong.csv:1: marker 'strip@0.3': 0.3 "
         "lies beyond the rod, which has 0.2 m"},
        {{"--data", "other.csv", YOUNG, "-o", "out"},
         3,
         "other.csv:1: none of the markers is a "
         "place of the scene"},
        {{"--data", "rod.csv", YOUNG, "-o", "out", "-m", "M=strip:1"}, 2, "has no marker 'M'"},
        {{"--data", "rod.csv", YOUNG, "-o", "out", "-m", "M"}, 2, "is written NAME=PLACE: 'M'"},
        {{"--data", "rod.csv", "-p", "materials.rubber.yung=1:2", "-o", "out"},
         3,
         "materials.rubber.yung:1:18: a material has no key 'yung'; did you mean 'young'?"},
        {{"--data", "rod.csv", "-p", "materials.rubber.poisson=0.1:0.9:0.4", "-o", "out"},
         3,
         "poisson must be in (-1, 0.5]"},
        {{"--data", "rod.csv", "-p", "materials.rubber.young=2:1", "-o", "out"},
         2,
         "the lower bound 2 is not below 1"},
        {{"--data", "rod.csv", "-p", "materials.rubber.young=1:2", "-o", "out"},
         2,
         "the start 4e+06 is not between 1 and 2"},
        {{"--data", "rod.csv", "-p", "materials.rubber.young=0:1e7:log", "-o", "out"},
         2,
         "on a log scale the lower bound must be above 0"},
        {{"--data", "rod.csv", "-p", "materials.rubber.young=1e5:x", "-o", "out"},
         2,
         "bounds are written LOW:HIGH[:START][:log|:linear], not '1e5:x'"},
        {{"--data", "rod.csv", "--params", "alpha", "-o", "out"},
         2,
         "alpha is of a scene's only "
         "cloth"},
        {{"--data", "rod.csv", "--params", "rods.strip.drag", "-o", "out"},
         2,
         "the scene gives no value to start rods.strip.drag from"},
        {{"--data", "rod.csv", "--params", "mu,mu", "-o", "out"},
         2,
         "contacts.friction is a parameter twice"},
        {{"--data", "rod.csv", YOUNG, "-o", "out", "--noise", "1"}, 2, "go with --make-recording"},
        {{"--data", "rod.csv", YOUNG, "-o", "."}, 3, ".: is there already: name a new folder"},
        {{"--data", "rod.csv", YOUNG, "-o", "out", "--delay", "9"},
         3,
         "rod.csv: nothing was recorded between 0 and 0.5 s, the end of the scene"},
        {{"--make-recording", "x.csv", "-m", "strp:1"}, 2, "nothing to mark is named 'strp:1'"},
        {{"--make-recording", "no/x.csv"}, 1, "no/x.csv: could not be written: No such file"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; ++i) {
        const char* const* w = BAD[i].words;
        CHECK_INT(COMMAND(&s, "fit", "rod.yaml", w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]),
                  BAD[i].code);
        CHECK(command_wrote(&s, "stderr", BAD[i].message));
        CHECK(!exists(&s, "out") && !exists(&s, "x.csv"));
    }
    scratch_remove(&s);
}
