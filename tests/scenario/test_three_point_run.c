// The three-point bending test on a world against the exact force, and the command that does it.
#include "command.h"
#include "experiment/three_point.h"
#include "test.h"

enum { MOST_POINTS = 200 };

// A short test, with a disc that is quicker than by default.
static TdlThreePointRunDef quick(const char* model, double kappa0, double mu) {
    TdlThreePointRunDef def = tdl_three_point_run_def_default();
    def.model = model;
    def.element_count = strcmp(model, "der") == 0 ? 50 : 20;
    def.setup.natural_curvature = kappa0;
    def.setup.mu = mu;
    def.step = 1.0e-3;
    def.speed = 2.5e-3; // 5e-5 spans a step
    def.depth = 0.07 * def.setup.span;
    def.point_count = MOST_POINTS;
    return def;
}

static TdlThreePointVerdict run(const TdlThreePointRunDef* def, TdlThreePointSample* samples) {
    Heard heard;
    TdlHost host = scratch_host(&heard);
    TdlStatus status = tdl_three_point_run(&host, def, NULL, NULL, samples);
    if (status != TDL_STATUS_OK) {
        FAIL("%s: %s", tdl_status_string(status), heard.last);
        return (TdlThreePointVerdict){.deviation = NAN};
    }
    TdlThreePointVerdict verdict = tdl_three_point_judge(def, samples);
    printf("  %s, kappa0 %g, mu %g: deviation %.4f %% at %.3f, jump %.4g\n", def->model,
           def->setup.natural_curvature, def->setup.mu, 100.0 * verdict.deviation, verdict.at,
           verdict.jump);
    CHECK_INT(verdict.lost_contacts, 0);
    CHECK(verdict.count > 140);
    return verdict;
}

TEST(smooth_curves_measure_the_exact_force) {
    static TdlThreePointSample samples[MOST_POINTS];
    for (int i = REPEATS(0, 2); i < 4; ++i) {
        double kappa0 = (const double[]){0.0, 30.0, 30.0, 30.0}[i];
        double mu = (const double[]){0.0, 0.0, 0.5, 0.0}[i];
        TdlThreePointRunDef def = quick(i == 3 ? "super-clothoid" : "super-helix", kappa0, mu);
        // 20 elements of constant curvature are too stiff by up to 0.25 %
        CHECK_BELOW(run(&def, samples).deviation, 3.0e-3);
        for (int k = 60; k < MOST_POINTS; ++k) {
            const TdlThreePointSample* s = &samples[k];
            CHECK_NEAR(s->arc_length, s->exact.arc_length, 2.0e-3 * def.setup.span);
            CHECK_NEAR(s->angle, s->exact.angle, 2.0e-3);
        }
    }
}

// With a barrier it is that of a rod on a disc wider by the gap that the barrier leaves, which
// differs from the rod's own by the bias; and nothing ever overlaps.
TEST(a_barrier_measures_the_exact_force_on_a_wider_disc) {
    static TdlThreePointSample samples[MOST_POINTS];
    const double distances[] = {1.0e-2, 1.0e-3, 1.0e-4}, stiffness[] = {2.0, 20.0, 200.0};
    double bias[3];
    for (int i = 0; i < 3; ++i) {
        TdlThreePointRunDef def = quick("super-helix", 0.0, 0.0);
        def.element_count = 60;
        def.response = TDL_RESPONSE_BARRIER;
        def.barrier.distance = distances[i] * def.setup.span;
        def.barrier.stiffness = stiffness[i];
        def.tolerance = 1.0e-8;
        TdlThreePointVerdict verdict = run(&def, samples);
        bias[i] = verdict.bias;
        printf("  distance %g spans: bias %.3f %%, least gap %.3g m\n", distances[i],
               100.0 * bias[i], verdict.least_gap);
        CHECK_BELOW(verdict.deviation, 1.0e-3);
        CHECK(verdict.least_gap > 0.0 && verdict.bias > verdict.deviation);
        // the balance of the barrier, from the formulas
        double gap, d = def.barrier.distance;
        TdlThreePoint exact;
        TdlHost host = tdl_host_default();
        REQUIRE(tdl_three_point_solve_barrier(&host, &def.setup, &def.barrier, 0.002, &exact,
                                              &gap) == TDL_STATUS_OK);
        double carried =
            stiffness[i] * (2.0 * (gap - d) * log(gap / d) + (gap - d) * (gap - d) / gap);
        CHECK_NEAR(2.0 * carried * cos(exact.angle), exact.force, 1.0e-9 * exact.force);
    }
    // it goes with the distance
    CHECK_NEAR(bias[1] / bias[2], 10.0, 0.5);
    CHECK_NEAR(bias[0] / bias[1], 10.0, 1.0);
}

// What is smooth about the barrier does not take the corners from segments.
TEST(a_barrier_keeps_the_jumps_of_segments) {
    static TdlThreePointSample samples[MOST_POINTS];
    double jump[2];
    for (int i = 0; i < 2; ++i) {
        TdlThreePointRunDef def = quick("super-helix", 30.0, 0.0);
        def.geometry = TDL_CONTACT_SEGMENTS;
        def.response = i == 0 ? TDL_RESPONSE_EXACT : TDL_RESPONSE_BARRIER;
        def.barrier.stiffness = 20.0;
        def.tolerance = 1.0e-8;
        jump[i] = run(&def, samples).jump;
    }
    CHECK_NEAR(jump[1], jump[0], 0.1 * jump[0]);
}

// Twice the points halve the second differences of a smooth curve.
TEST(smooth_curves_have_no_jumps) {
    static TdlThreePointSample samples[2 * MOST_POINTS];
    TdlThreePointRunDef def = quick("super-helix", 30.0, 0.0);
    double coarse = run(&def, samples).kink;
    def.point_count *= 2;
    CHECK_NEAR(run(&def, samples).kink / coarse, 0.5, 0.1);
}

TEST(segments_make_the_force_jump) {
    static TdlThreePointSample samples[MOST_POINTS];
    TdlThreePointRunDef smooth = quick("super-helix", 30.0, 0.0), segments = smooth;
    segments.geometry = TDL_CONTACT_SEGMENTS;
    TdlThreePointRunDef der = quick("der", 30.0, 0.0);
    der.geometry = TDL_CONTACT_SEGMENTS;
    der.segments = 1;
    TdlThreePointVerdict curves = run(&smooth, samples);
    TdlThreePointVerdict chords = run(&segments, samples);
    CHECK(chords.ratio_jump > 100.0 * curves.ratio_jump);
    CHECK(chords.jump > 50.0 * curves.jump);               // of three corners; of all of them 320
    CHECK_NEAR(chords.jump / chords.chord_jump, 1.0, 0.1); // whole and broken chords at the ends
    CHECK(run(&der, samples).jump > 50.0 * curves.jump);
}

// What a step gains in energy by bending, of second order, is not taken from a touched rod's
// velocity: it would ring, by ninety times what corners do.
TEST(a_discrete_rod_does_not_ring) {
    static TdlThreePointSample samples[MOST_POINTS];
    TdlThreePointRunDef der = quick("der", 5.0, 0.0);
    der.geometry = TDL_CONTACT_SEGMENTS;
    der.segments = 1;
    der.step = 2.0e-4;
    der.speed = 1.0e-2; // 4e-5 spans a step
    der.depth = 0.2 * der.setup.span;
    TdlThreePointVerdict verdict = run(&der, samples);
    // corners are felt, and nothing more; linearised with its contacts it follows them softer: 0.88
    CHECK(verdict.jump < 1.1 * verdict.chord_jump && verdict.jump > 0.5 * verdict.chord_jump);
    printf("  %.3g of the chords' jumps\n", verdict.jump / verdict.chord_jump);
}

static bool stop_at_five(void* user, int done, int total) {
    (void)total;
    *(int*)user = done;
    return done < 5;
}

TEST(a_test_can_be_stopped_and_bad_ones_are_refused) {
    static TdlThreePointSample samples[MOST_POINTS];
    Heard heard;
    TdlHost host = scratch_host(&heard);
    int done = 0;
    TdlThreePointRunDef def = quick("super-helix", 0.0, 0.0);
    CHECK_INT(tdl_three_point_run(&host, &def, stop_at_five, &done, samples), TDL_STATUS_STOPPED);
    CHECK_INT(done, 5);
    for (int i = 0; i < 9; ++i) {
        TdlThreePointRunDef bad = def;
        bad.model = i == 0 ? "no such rod" : bad.model;
        bad.element_count = i == 1 ? 0 : bad.element_count;
        bad.length = i == 2 ? 0.02 : bad.length; // does not reach the disc
        bad.step = i == 3 ? -1.0 : bad.step;
        bad.depth = i == 4 ? 0.0 : bad.depth;
        bad.point_count = i == 5 ? 0 : bad.point_count;
        bad.speed = i == 6 ? 1.0 : bad.speed; // passes several points in a step
        bad.setup.rod_radius = i == 7 ? 0.0 : bad.setup.rod_radius;
        bad.setup.natural_curvature = i == 8 ? 41.0 : bad.setup.natural_curvature;
        heard.count = 0;
        TdlStatus status = tdl_three_point_run(&host, &bad, NULL, NULL, samples);
        CHECK_INT(status, TDL_STATUS_BAD_ARGUMENT);
        CHECK_INT(heard.count, 1);
    }
}

// Value of a number in one line of JSON.
static double json_value(const char* text, const char* name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char* at = text == NULL ? NULL : strstr(text, key);
    return at == NULL ? NAN : strtod(at + strlen(key), NULL);
}

TEST(the_command_writes_curve_and_report) {
    Scratch scratch = scratch_make();
    CHECK_INT(COMMAND(&scratch, "experiment", "three-point", "-k", "20", "--dt", "1e-3", "--speed",
                      "2.5e-3", "--depth", "0.05", "-n", "50", "-o", "a/b", "--json"),
              0);
    char* text = scratch_read(scratch_path(&scratch, "stdout"), NULL);
    CHECK_BELOW(json_value(text, "largest_deviation"), 4.0e-3);
    CHECK_NEAR(json_value(text, "kappa0"), 20.0, 0.0);
    CHECK_NEAR(json_value(text, "lost_contacts"), 0.0, 0.0);
    free(text);
    text = scratch_read(scratch_path(&scratch, "a/b/curve.csv"), NULL);
    REQUIRE(text != NULL);
    CHECK(strncmp(text, "indentation,force,exact_force,ratio,arc_length,angle,", 53) == 0);
    int rows = 0;
    double depth = 0.0, force = 0.0, exact = 0.0, ratio = 0.0;
    for (char* row = strchr(text, '\n'); row != NULL && row[1] != '\0';
         row = strchr(row + 1, '\n')) {
        CHECK_INT(sscanf(row + 1, "%lf,%lf,%lf,%lf", &depth, &force, &exact, &ratio), 4);
        CHECK_NEAR(ratio * exact, force, 1.0e-12);
        ++rows;
    }
    CHECK_INT(rows, 50);
    CHECK_NEAR(depth, 0.05, 1.0e-4);
    CHECK_NEAR(exact, 0.029084, 1.0e-4); // docs/theory/three-point.md, at 0.05
    free(text);
    text = scratch_read(scratch_path(&scratch, "a/b/report.html"), NULL);
    REQUIRE(text != NULL);
    CHECK(strstr(text, "data:image/svg+xml;base64,") != NULL);
    CHECK(strstr(text, "--kappa0 20") != NULL);
    CHECK(strstr(text, "</html>") != NULL);
    free(text);
    scratch_remove(&scratch);
}

TEST(wrong_calls_are_refused) {
    Scratch scratch = scratch_make();
    CHECK_INT(COMMAND(&scratch, "experiment", "three-point", "--model", "hair"), 2);
    CHECK_INT(COMMAND(&scratch, "experiment", "three-point", "--kappa0", "41"), 2);
    CHECK_INT(COMMAND(&scratch, "experiment", "three-point", "--mu", "-1"), 2);
    CHECK_INT(COMMAND(&scratch, "experiment", "three-point", "--proxies", "100"), 2);
    CHECK_INT(
        COMMAND(&scratch, "experiment", "three-point", "--model", "der", "--detection", "curves"),
        2);
    CHECK_INT(COMMAND(&scratch, "experiment", "three-point", "--detection", "segments", "-p", "50"),
              2);
    CHECK(command_wrote(&scratch, "stderr", "multiple of --elements"));
    CHECK_INT(COMMAND(&scratch, "experiment", "three-point", "--all", "--mu", "0.1"), 2);
    CHECK(command_wrote(&scratch, "stderr", "--all chooses --mu itself"));
    CHECK_INT(COMMAND(&scratch, "experiment", "three-point", "--distance", "1e-3"), 2);
    CHECK(command_wrote(&scratch, "stderr", "go with --response barrier"));
    CHECK_INT(COMMAND(&scratch, "experiment", "three-point", "--response", "barrier", "--mu", "1"),
              2);
    CHECK_INT(COMMAND(&scratch, "experiment", "three-point", "--response", "barrier", "--all"), 2);
    // a folder that cannot be made
    FILE* file = fopen(scratch_path(&scratch, "file"), "w");
    fclose(file);
    CHECK_INT(COMMAND(&scratch, "experiment", "three-point", "--dt", "1e-3", "--speed", "2.5e-3",
                      "--depth", "0.01", "-n", "5", "-o", "file/out"),
              3);
    CHECK(command_wrote(&scratch, "stderr", "file/out"));
    scratch_remove(&scratch);
}
