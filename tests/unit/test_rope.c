// Ropes: helices as near as they may be, and wires that do not overlap.
#include "inverse/rope_helices.h"
#include "tendril/inverse.h"
#include "tendril/rope.h"
#include "tendril/world.h"
#include "test.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

// The least distance of one helix from its neighbour, by brute force over both.
static double brute(int count, double R, double lay) {
    double least = INFINITY;
    for (int k = 1; k < count; ++k) {
        for (int i = -4000; i <= 4000; ++i) {
            double along = 2.0 * PI * i / 4000.0, a = 2.0 * PI * k / count + along;
            double x = R * (cos(a) - 1.0), y = R * sin(a), z = lay * along / (2.0 * PI);
            least = fmin(least, sqrt(x * x + y * y + z * z));
        }
    }
    return least;
}

TEST(helices_are_as_near_as_brute_force_finds) {
    const double lays[] = {8.0, 12.0, 30.0, 100.0, -15.0};
    for (int i = 0; i < 5; ++i) {
        for (int n = 2; n < 8; ++n) {
            double exact = helices_apart(n, 2.0, lays[i]);
            double itself = helices_apart(1, 2.0, lays[i]);
            // brute force is off by what half a step of it is worth, and never below
            double c = lays[i] / (2.0 * PI), step = PI / 4000.0;
            double off = fmin(brute(n, 2.0, lays[i]), itself) - exact;
            CHECK(off > -1.0e-9);
            CHECK_BELOW(off, (4.0 + c * c) * step * step / exact);
        }
    }
}

// Six about one: wider than two radii by what the helices lean, and nearly two where they hardly
// do.
TEST(six_lie_about_one_a_little_wider_than_straight_ones) {
    double steep = tdl_helices_radius(6, 2.0, 20.0), flat = tdl_helices_radius(6, 2.0, 2000.0);
    CHECK_NEAR(brute(6, steep, 20.0), 2.0, 1.0e-5);
    CHECK(steep > 2.1);
    CHECK_NEAR(helices_apart(6, steep, 20.0), 2.0, 1.0e-12);
    CHECK_NEAR(flat, 2.0, 1.0e-4);
    CHECK(flat > 2.0);
    CHECK(isnan(tdl_helices_radius(6, 2.0, 11.0))); // six in 12 along the axis
    CHECK(isnan(tdl_helices_radius(6, NAN, 11.0)));
}

// --- wires ----------------------------------------------------------------------------------

// Places along all wires of a rope in a world, `samples` an element.
static TdlVec3* places_of(const TdlRope* rope, const TdlRodDef* wire, int samples, double* depth) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world;
    int each = wire->element_count * samples + 1, count;
    TdlVec3* out = calloc((size_t)(rope->count * each), sizeof *out);
    if (out == NULL || tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        abort();
    }
    for (int i = 0; i < rope->count; ++i) {
        TdlRodDef rod = *wire;
        const TdlVec3* kappa = rope->curvature + i * rope->curvature_count;
        rod.length = rope->length[i];
        rod.clamp = rope->start[i];
        *(rope->curvature_count > wire->element_count ? &rod.curvature_at : &rod.curvature_of) =
            kappa;
        TdlBodyId id;
        CHECK_INT(tdl_world_add_rod(world, &rod, &id), TDL_STATUS_OK);
        CHECK_INT(tdl_rod_points(world, id, samples, out + i * each), TDL_STATUS_OK);
    }
    TdlOverlap worst = {0};
    CHECK_INT(tdl_world_overlaps(world, 1, &worst, &count), TDL_STATUS_OK);
    CHECK_INT(count, 0);
    *depth = worst.depth;
    tdl_world_destroy(world);
    return out;
}

// The distance of two segments.
static double segments_apart(TdlVec3 a, TdlVec3 b, TdlVec3 c, TdlVec3 d) {
    TdlVec3 u = tdl_sub3(b, a), v = tdl_sub3(d, c);
    double s = 0.5, t = 0.5, uu = tdl_dot3(u, u), vv = tdl_dot3(v, v);
    for (int k = 0; k < 60; ++k) { // in turns: both stay in their segment
        TdlVec3 y = tdl_axpy3(c, t, v);
        s = fmin(1.0, fmax(0.0, tdl_dot3(tdl_sub3(y, a), u) / uu));
        TdlVec3 x = tdl_axpy3(a, s, u);
        t = fmin(1.0, fmax(0.0, tdl_dot3(tdl_sub3(x, c), v) / vv));
    }
    return tdl_norm3(tdl_sub3(tdl_axpy3(a, s, u), tdl_axpy3(c, t, v)));
}

// The least gap between chords of different wires, of those up to `most`: off by the sag of a chord
// at most.
static double least_gap(const TdlVec3* x, int wires, int each, double r, double most) {
    double least = INFINITY;
    for (int a = 0; a < wires; ++a) {
        for (int b = a + 1; b < wires; ++b) {
            for (int i = 0; i + 1 < each; ++i) {
                for (int j = 0; j + 1 < each; ++j) {
                    const TdlVec3 *p = &x[a * each + i], *q = &x[b * each + j];
                    double near = tdl_norm3(tdl_sub3(p[0], q[0]));
                    double reach = tdl_norm3(tdl_sub3(p[1], p[0])) +
                                   tdl_norm3(tdl_sub3(q[1], q[0])) + 2.0 * r + most;
                    if (near < reach) {
                        least = fmin(least, segments_apart(p[0], p[1], q[0], q[1]));
                    }
                }
            }
        }
    }
    return least - 2.0 * r;
}

static void check_rope(const TdlRopeDef* def, const char* model, int elements, int samples) {
    TdlHost host = tdl_host_default();
    TdlRodDef wire = tdl_rod_def_default();
    TdlRope rope;
    double depth, r = 1.0e-3;
    wire.model = model;
    wire.element_count = elements;
    wire.radius[0] = wire.radius[1] = r;
    REQUIRE(tdl_rope_lay(&host, def, &wire, &rope) == TDL_STATUS_OK);
    bool edges = strcmp(model, "der") == 0 || strcmp(model, "mass-spring") == 0;
    int each = elements * (edges ? 1 : samples) + 1;
    TdlVec3* x = places_of(&rope, &wire, edges ? 1 : samples, &depth);
    double gap = least_gap(x, rope.count, each, r, 0.1 * r);
    double chord = edges ? 0.0 : rope.length[rope.count - 1] / (each - 1);
    double sag = 300.0 * chord * chord / 8.0; // of a curvature of at most 300 / m
    printf("  %-15s %2d wires of %3d elements: helices of %.4f and %.4f mm, least gap %.2e r, by "
           "chords %.2e r\n",
           model, rope.count, elements, 1.0e3 * rope.radius[0], 1.0e3 * rope.radius[1],
           rope.gap / r, gap / r);
    CHECK(rope.gap > 0.0 && rope.gap < 1.0e-3 * r);
    CHECK_NEAR(gap, rope.gap, 1.0e-6 * r + sag);
    free(x);
    tdl_rope_free(&host, &rope);
}

static TdlRopeDef seven(double lay, double length) {
    TdlRopeDef def = tdl_rope_def_default();
    def.level[0] = (TdlRopeLevel){7, lay};
    def.length = length;
    return def;
}

TEST(seven_wires_do_not_overlap_in_any_model) {
    static const char* const MODELS[] = {"super-helix", "super-clothoid", "der", "mass-spring",
                                         "corde"};
    TdlRopeDef def = seven(0.03, 0.09);
    for (int m = 0; m < 5; ++m) {
        check_rope(&def, MODELS[m], 24, 24);
    }
    def.level[0].lay = -0.05;
    check_rope(&def, "super-helix", 12, 48);
    def.level[0].count = 3; // no core
    check_rope(&def, "super-helix", 12, 48);
}

TEST(seven_strands_of_seven_wires_do_not_overlap) {
    TdlRopeDef def = tdl_rope_def_default();
    def.level_count = 2;
    def.level[0] = (TdlRopeLevel){7, 0.04};
    def.level[1] = (TdlRopeLevel){7, -0.12};
    def.length = 0.12;
    check_rope(&def, "super-helix", 40, 12);
}

// Gaps are met to 60 % of what was asked for, also where they are more than a wire is thick.
TEST(wide_gaps_are_met) {
    enum { ELEMENTS = 24, SAMPLES = 24, EACH = ELEMENTS * SAMPLES + 1 };
    static const double GAPS[] = {0.06, 0.3, 1.0, 2.5}; // radii
    TdlHost host = tdl_host_default();
    TdlRodDef wire = tdl_rod_def_default();
    double depth, r = 1.0e-3;
    wire.element_count = ELEMENTS;
    wire.radius[0] = wire.radius[1] = r;
    for (int i = 0; i < 8; ++i) {
        TdlRopeDef def = seven(0.05, 0.09);
        def.gap = GAPS[i % 4] * r;
        wire.model = i < 4 ? "super-helix" : "der";
        TdlRope rope;
        REQUIRE(tdl_rope_lay(&host, &def, &wire, &rope) == TDL_STATUS_OK);
        int samples = i < 4 ? SAMPLES : 1, each = ELEMENTS * samples + 1;
        TdlVec3* x = places_of(&rope, &wire, samples, &depth);
        double gap = least_gap(x, rope.count, each, r, 2.0 * def.gap);
        double chord = i < 4 ? rope.length[rope.count - 1] / (EACH - 1) : 0.0;
        printf("  %-11s gap %.2f r: %.4f r, by chords %.4f r\n", wire.model, GAPS[i % 4],
               rope.gap / r, gap / r);
        CHECK_NEAR(rope.gap, def.gap, 0.6 * def.gap);
        CHECK_NEAR(gap, rope.gap, 1.0e-6 * r + 300.0 * chord * chord / 8.0); // sag, as above
        free(x);
        tdl_rope_free(&host, &rope);
    }
}

TEST(a_rope_lies_along_a_curve) {
    TdlVec3 point[13];
    for (int i = 0; i < 13; ++i) {
        double a = PI * i / 12.0;
        point[i] = (TdlVec3){0.05 * cos(a), 0.05 * sin(a), 0.01 * i / 12.0};
    }
    TdlRopeDef def = seven(0.05, 0.0);
    def.point = point;
    def.point_count = 13;
    check_rope(&def, "super-helix", 40, 12);
}

TEST(ropes_that_cannot_be_are_refused) {
    TdlHost host = tdl_host_default();
    host.log_level = TDL_LOG_ERROR;
    TdlRodDef wire = tdl_rod_def_default();
    wire.radius[0] = wire.radius[1] = 1.0e-3;
    TdlRope rope;
    TdlRopeDef def = seven(0.012, 0.1); // too short a lay
    CHECK_INT(tdl_rope_lay(&host, &def, &wire, &rope), TDL_STATUS_BAD_ARGUMENT);
    def = seven(0.0, 0.1);
    CHECK_INT(tdl_rope_lay(&host, &def, &wire, &rope), TDL_STATUS_BAD_ARGUMENT);
    def = seven(0.05, NAN);
    CHECK_INT(tdl_rope_lay(&host, &def, &wire, &rope), TDL_STATUS_BAD_ARGUMENT);
    def = seven(0.05, 0.1);
    def.level[0].count = 1;
    CHECK_INT(tdl_rope_lay(&host, &def, &wire, &rope), TDL_STATUS_BAD_ARGUMENT);
    def.level[0].count = 7;
    def.level_count = 3;
    CHECK_INT(tdl_rope_lay(&host, &def, &wire, &rope), TDL_STATUS_BAD_ARGUMENT);
    def.level_count = 1;
    def.point_count = 2;
    CHECK_INT(tdl_rope_lay(&host, &def, &wire, &rope), TDL_STATUS_BAD_ARGUMENT);
    def.point_count = 0;
    wire.radius[1] = 2.0e-3;
    CHECK_INT(tdl_rope_lay(&host, &def, &wire, &rope), TDL_STATUS_BAD_ARGUMENT);
    CHECK(rope.start == NULL);
}
