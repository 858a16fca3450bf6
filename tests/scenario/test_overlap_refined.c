// Overlaps that time stepping leaves, with finer and finer elements at the same step: a plectoneme,
// a knot and a heap. They are computed from dense samples of the rods and every pair of them, which
// shares nothing with detection.
#include "look.h"
#include "stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MAX = 20000, TEXT_MAX = 20000 };

// What a step may leave, in radii: the default of contacts.overlap; and what samples are off by.
static const double ALLOWED = 0.1, SAMPLED = 0.02;

// Points of one rod count as places that touch when they are so many radii apart along it: nearer
// ones are near each other in any rod that is not folded more sharply than its own radius.
static const double ALONG = 4.0;

typedef struct Samples {
    int count;
    TdlVec3 at[POINTS_MAX];
    double arc[POINTS_MAX];
    int rod[POINTS_MAX];
} Samples;

static Samples samples;

static void add_rod(const TdlWorld* world, int index, int each) {
    TdlBodyId rod = look_body(world, "rod", index);
    TdlRodInfo info = look_rod_info(world, rod);
    int count = info.element_count * each + 1, first = samples.count;
    REQUIRE(first + count <= POINTS_MAX);
    look_rod_points(world, rod, each, samples.at + first);
    for (int i = 0; i < count; ++i) {
        samples.arc[first + i] = info.length * i / (count - 1);
        samples.rod[first + i] = index;
    }
    samples.count += count;
}

// The nearest that the segment from point i comes to point j.
static double distance(int i, int j) {
    TdlVec3 a = samples.at[i], d = tdl_sub3(samples.at[i + 1], a), g = tdl_sub3(samples.at[j], a);
    double t = fmin(fmax(tdl_dot3(g, d) / fmax(tdl_dot3(d, d), 1.0e-300), 0.0), 1.0);
    return tdl_norm3(tdl_axpy3(g, -t, d));
}

// The deepest overlap of the rods of a world, in radii, from samples a fifth of a radius apart.
static double sampled_overlap(const TdlWorld* world, double radius) {
    int rods = look_count(world, "rod");
    samples.count = 0;
    for (int k = 0; k < rods; ++k) {
        TdlRodInfo info = look_rod_info(world, look_body(world, "rod", k));
        add_rod(world, k, (int)ceil(info.length / info.element_count / (0.2 * radius)));
    }
    double least = 2.0 * radius, reach = 2.5 * radius;
    for (int i = 0; i + 1 < samples.count; ++i) {
        int j = 0;
        while (j < samples.count && samples.rod[i] == samples.rod[i + 1]) {
            bool trivial = samples.rod[i] == samples.rod[j] &&
                           fabs(samples.arc[i] - samples.arc[j]) < ALONG * radius;
            double away = tdl_norm3(tdl_sub3(samples.at[i], samples.at[j]));
            if (!trivial && away < reach) {
                least = fmin(least, distance(i, j));
            }
            // as many on as cannot be nearer
            int skip = (int)((away - reach) / (0.3 * radius));
            j += skip > 1 && j + skip < samples.count && samples.rod[j + skip] == samples.rod[j]
                     ? skip
                     : 1;
        }
    }
    return 2.0 - least / radius;
}

typedef struct Result {
    double sampled, told; // radii, the deepest over all steps
    int contacts, forced;
} Result;

static Result run(const char* scene, const char* const* overrides, int count, int steps, int every,
                  double radius) {
    Stage stage;
    Result out = {0};
    TdlStatus status = open_stage_with(scene, overrides, count, 1, &stage);
    for (int i = 0; i < steps && status == TDL_STATUS_OK; ++i) {
        TdlStepInfo info;
        status = tdl_world_step(stage.world, &info);
        out.contacts = info.contact_count > out.contacts ? info.contact_count : out.contacts;
        out.forced += info.forced;
        out.told = fmax(out.told, -info.deepest / radius);
        if (i % every == every - 1) {
            out.sampled = fmax(out.sampled, sampled_overlap(stage.world, radius));
        }
    }
    CHECK_INT(status, TDL_STATUS_OK);
    close_stage(&stage);
    return out;
}

static void check(const char* name, int elements, Result x) {
    printf("  %s, %d elements: %.4f radii of overlap sampled, %.4f told, at most %d contacts\n",
           name, elements, x.sampled, x.told, x.contacts);
    CHECK(x.contacts > 3);
    CHECK_INT(x.forced, 0);
    CHECK_BELOW(x.sampled, ALLOWED + SAMPLED);
    CHECK_BELOW(x.told, ALLOWED);
}

// From its first contacts on it winds up; all of it with TENDRIL_LONG.
TEST(a_plectoneme_of_finer_elements_overlaps_no_more) {
    static const int ELEMENTS[] = {50, 100, 170, 250};
    int steps = getenv("TENDRIL_LONG") != NULL ? 700 : 300;
    for (int k = 0; k < REPEATS(4, 2); ++k) {
        char elements[64];
        snprintf(elements, sizeof elements, "rods.rod.elements=%d", ELEMENTS[k]);
        const char* overrides[] = {elements};
        check("plectoneme", ELEMENTS[k], run("plectoneme.yaml", overrides, 1, steps, 1, 1.5e-3));
    }
}

// The curvatures of the knot's elements, each of them `cut` times, as an override.
static void write_knot(int cut, char text[TEXT_MAX]) {
    Stage stage;
    REQUIRE(open_stage("knot.yaml", NULL, 1, &stage) == TDL_STATUS_OK);
    TdlBodyId rod = look_body(stage.world, "rod", 0);
    TdlRodInfo info = look_rod_info(stage.world, rod);
    const double* q = look_rod_coordinates(stage.world, rod); // turns of the elements
    double length = info.length / info.element_count;
    int at = snprintf(text, TEXT_MAX, "rods.rod.curvature=[");
    for (int i = 0; i < info.element_count * cut; ++i) {
        const double* own = q + 3 * (i / cut);
        at += snprintf(text + at, (size_t)(TEXT_MAX - at), "%s[%.17g, %.17g, %.17g]",
                       i == 0 ? "" : ", ", own[0] / length, own[1] / length, own[2] / length);
    }
    snprintf(text + at, (size_t)(TEXT_MAX - at), "]");
    close_stage(&stage);
}

TEST(a_knot_of_finer_elements_overlaps_no_more) {
    for (int cut = 1; cut <= REPEATS(8, 2); cut *= 2) {
        static char curvature[TEXT_MAX];
        char elements[64];
        snprintf(elements, sizeof elements, "rods.rod.elements=%d", 20 * cut);
        write_knot(cut, curvature);
        const char* overrides[] = {elements, curvature};
        check("knot", 20 * cut, run("knot.yaml", overrides, 2, 200, 1, 1.5e-3));
    }
}

// The turns of a coil that falls on a table and on itself.
TEST(a_heap_of_finer_elements_overlaps_no_more) {
    static const int ELEMENTS[] = {64, 128, 255};
    for (int k = 0; k < REPEATS(3, 1); ++k) {
        char elements[64];
        snprintf(elements, sizeof elements, "rods.rod.elements=%d", ELEMENTS[k]);
        const char* overrides[] = {elements, "time.step=5e-4"};
        check("heap", ELEMENTS[k], run("self-stacking.yaml", overrides, 2, 260, 4, 2.5e-3));
    }
}
