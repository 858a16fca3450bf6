// Fibres with the natural curvature of their shape, in a world: they stay where they are told to
// stay, and leave where they are told to leave. TENDRIL_LONG=1 runs 200 shapes of the super-helix
// instead of 6, 20 of the others instead of 1, and all hairs instead of every 17th, for 5 s instead
// of 1 s.
#include "formats/curves.h"
#include "rod/rod_body.h"
#include "strands.h"
#include "tendril/inverse.h"
#include "tendril/world.h"

#include <stdlib.h>

static const double MARGIN = 0.02; // from the least factor
static const double KICK = 1.0e-3; // rad

// Weight acts in the shape at the start of a step. Of soft strands that hang, that is stable for
// steps below about 1 ms only: one of the 200 below, of w L^3/EI = 317, needs less.
static const double STEP = 5.0e-4; // s

static int step_count(void) {
    return getenv("TENDRIL_LONG") != NULL ? 10000 : 2000;
}

enum { LEAVE_STEPS = 40000 }; // 20 s: a hair 2 % too soft takes seconds

typedef struct Stay {
    TdlWorld* world;
    TdlBodyId id;
    Rod* rod;
    TdlVec3 home[STRAND_MAX + 1]; // joints of the shape that was given
} Stay;

// A world with the strand alone, at rest in its shape.
static bool put(const TestStrand* t, Stay* out) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    TdlRodDef rod = t->def;
    *out = (Stay){0};
    def.gravity = t->gravity;
    def.contacts.off = true;
    def.step = STEP;
    bool joints = strcmp(rod.model, "super-clothoid") == 0;
    rod.curvature_of = joints ? NULL : t->curvature;
    rod.natural_curvature_of = joints ? NULL : t->natural;
    if (tdl_world_create(&host, &def, &out->world) != TDL_STATUS_OK ||
        tdl_world_add_rod(out->world, &rod, &out->id) != TDL_STATUS_OK) {
        FAIL("no world");
        return false;
    }
    out->rod = rod_of(world_find_body(out->world, out->id, &ROD_BODY));
    if (strcmp(rod.model, "super-helix") != 0) {
        strand_shape_rod(t, out->rod); // curvature of joints, stretched edges
    }
    return tdl_rod_points(out->world, out->id, 1, out->home) == TDL_STATUS_OK;
}

// Furthest that a joint is from home, over the length.
static double drift(const Stay* stay) {
    TdlVec3 now[STRAND_MAX + 1];
    double most = 0.0;
    tdl_rod_points(stay->world, stay->id, 1, now);
    for (int i = 0; i <= stay->rod->element_count; ++i) {
        most = fmax(most, tdl_norm3(tdl_sub3(now[i], stay->home[i])));
    }
    return most / rod_length(stay->rod);
}

// The most that it drifts in so many steps, or until it is further than `enough`.
static double run(const Stay* stay, int steps, double enough) {
    double most = drift(stay);
    for (int i = 0; i < steps && most < enough; ++i) {
        if (tdl_world_step(stay->world, NULL) != TDL_STATUS_OK) {
            FAIL("step %d failed", i);
            break;
        }
        most = fmax(most, drift(stay));
    }
    return most;
}

// A shape and its stiffness, at `factor` times the least one that holds it; false where any does.
static bool at_factor(TestStrand* t, double factor, double* mode) {
    TdlHost host = tdl_host_default();
    TdlStability found;
    rod_destroy(&host, strand_make(t));
    CHECK_INT(tdl_strand_stability(&host, &t->strand, t->gravity, &found), TDL_STATUS_OK);
    if (!(found.least_factor > 0.0)) {
        return false;
    }
    t->def.young *= factor * found.least_factor;
    rod_destroy(&host, strand_make(t));
    CHECK_INT(tdl_strand_stability(&host, &t->strand, t->gravity, &found), TDL_STATUS_OK);
    // a der's stretching is scaled as well: it counts by some strains
    double strain = t->strand.line_density * t->strand.length * 9.81 / t->strand.stretching;
    bool stretches = strcmp(t->def.model, "der") == 0;
    CHECK_NEAR(found.least_factor, 1.0 / factor, stretches ? 10.0 * strain : 1.0e-9);
    CHECK_INT(tdl_strand_mode(&host, &t->strand, t->gravity, mode), TDL_STATUS_OK);
    return true;
}

typedef struct Tally {
    int shapes, held, stayed, left;
    double drift, wander, growth; // most, most and least; the last two over that of the kick
} Tally;

static void try_shape(TestStrand t, Tally* tally) {
    static double mode[4 * STRAND_MAX];
    Stay stay;
    TestStrand soft = t;
    if (!at_factor(&t, 1.0 + MARGIN, mode) || !put(&t, &stay)) {
        return;
    }
    ++tally->shapes;
    double off = run(&stay, step_count(), 1.0);
    tally->drift = fmax(tally->drift, off);
    tally->held += off < 1.0e-9;
    tdl_world_destroy(stay.world);
    for (int way = -1; way <= 1; way += 2) {
        put(&t, &stay);
        strand_kick(&t, stay.rod, mode, way * KICK);
        double start = drift(&stay), ratio = run(&stay, step_count(), 3.0 * start) / start;
        tally->wander = fmax(tally->wander, ratio);
        tally->stayed += ratio < 3.0;
        tdl_world_destroy(stay.world);
    }
    at_factor(&soft, 1.0 - MARGIN, mode);
    for (int way = -1; way <= 1; way += 2) {
        put(&soft, &stay);
        strand_kick(&soft, stay.rod, mode, way * KICK);
        double start = drift(&stay), ratio = run(&stay, LEAVE_STEPS, 3.0 * start) / start;
        tally->growth = fmin(tally->growth, ratio);
        tally->left += ratio >= 3.0;
        tdl_world_destroy(stay.world);
    }
}

static void try_model(const char* model, int least, int more, int count, uint64_t seed) {
    Rng rng = rng_seed(seed);
    Tally tally = {.growth = INFINITY};
    while (tally.shapes < count) {
        TestStrand t;
        strand_random(&rng, model, least + rng_below(&rng, more), 4.0, &t);
        try_shape(t, &tally);
    }
    printf("  %s: %d shapes; at 1.02 drift %.1e L, %d held; kicked %d of %d stayed (at most "
           "%.2f times the kick); at 0.98 %d of %d left (at least %.2f times)\n",
           model, tally.shapes, tally.drift, tally.held, tally.stayed, 2 * tally.shapes,
           tally.wander, tally.left, 2 * tally.shapes, tally.growth);
    CHECK_INT(tally.held, tally.shapes);
    CHECK_INT(tally.stayed, 2 * tally.shapes);
    CHECK_INT(tally.left, 2 * tally.shapes);
}

// --- the ponytail of a captured groom -------------------------------------------------------

// Reads tail.hair where there is one. Its unit is about 4 mm, y points upwards.
static bool read_tail(TdlCurves* out) {
    TdlHost host = tdl_host_default();
    char path[4096];
    const char* folder = getenv("TENDRIL_DATA");
    snprintf(path, sizeof path, "%s/hair/tail.hair", folder == NULL ? "." : folder);
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    static char data[1 << 20];
    size_t size = fread(data, 1, sizeof data - 1, file);
    fclose(file);
    return curves_parse(&host, path, CURVES_HAIR, data, size, out) == TDL_STATUS_OK;
}

static bool fit_hair(const TdlVec3* points, int count, TestStrand* out) {
    TdlHost host = tdl_host_default();
    TdlVec3 scaled[64];
    TdlHelixFit fit;
    TdlFitOptions options = tdl_fit_options_default();
    options.element_count = 30;
    for (int i = 0; i < count && i < 64; ++i) {
        scaled[i] = tdl_scale3(4.0e-3, points[i]);
    }
    *out = (TestStrand){.def = tdl_rod_def_default(), .gravity = {0.0, -9.81, 0.0}};
    out->def.element_count = 30;
    out->def.young = 4.0e9; // of hair
    if (count > 64 ||
        tdl_helix_fit(&host, scaled, count, &options, out->curvature, &fit) != TDL_STATUS_OK) {
        return false;
    }
    out->def.length = fit.length;
    out->def.clamp = fit.start;
    return true;
}

// Every strand that is called stable stays, the others leave once they are touched.
TEST(hair_stays_and_leaves_as_told) {
    TdlHost host = tdl_host_default();
    TdlCurves tail;
    if (!read_tail(&tail)) {
        SKIP("no tail.hair");
    }
    int stride = getenv("TENDRIL_LONG") != NULL ? 1 : 17, stayed = 0, left = 0, stable = 0, all = 0;
    double most = 0.0, least = INFINITY, range[2] = {INFINITY, 0.0};
    for (int i = 0; i < tail.count; i += stride) {
        static double mode[4 * STRAND_MAX];
        TestStrand t;
        TdlStability found;
        Stay stay;
        REQUIRE(fit_hair(tail.points + tail.start[i], tail.start[i + 1] - tail.start[i], &t));
        rod_destroy(&host, strand_make(&t));
        CHECK_INT(tdl_strand_stability(&host, &t.strand, t.gravity, &found), TDL_STATUS_OK);
        CHECK_INT(tdl_strand_mode(&host, &t.strand, t.gravity, mode), TDL_STATUS_OK);
        range[0] = fmin(range[0], found.least_factor);
        range[1] = fmax(range[1], found.least_factor);
        REQUIRE(put(&t, &stay));
        ++all;
        if (found.stable) {
            double off = run(&stay, step_count(), 1.0);
            most = fmax(most, off);
            stayed += off < 1.0e-6;
            ++stable;
        } else {
            strand_kick(&t, stay.rod, mode, KICK);
            double start = drift(&stay), ratio = run(&stay, LEAVE_STEPS, 3.0 * start) / start;
            least = fmin(least, ratio);
            left += ratio >= 3.0;
        }
        tdl_world_destroy(stay.world);
    }
    printf("  %d of %d stayed, drift %.1e L; %d of %d left; least factors %.3g to %.3g\n", stayed,
           stable, most, left, all - stable, range[0], range[1]);
    CHECK_INT(stayed, stable);
    CHECK_INT(left, all - stable);
    tdl_curves_free(&host, &tail);
}

// All of them in one world, each as stiff as it has to be.
static TdlWorld* put_tail(const TdlCurves* tail, int limit, int stride, bool touch, TdlBodyId* rods,
                          int* count) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world = NULL;
    def.gravity = (TdlVec3){0.0, -9.81, 0.0};
    def.contacts.off = !touch;
    def.step = STEP;
    *count = 0;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        return NULL;
    }
    for (int i = 0; i < tail->count && i < limit; i += stride) {
        TestStrand t;
        bool fits =
            fit_hair(tail->points + tail->start[i], tail->start[i + 1] - tail->start[i], &t);
        t.def.curvature_of = t.def.natural_curvature_of = t.curvature;
        if (!fits || tdl_world_add_rod(world, &t.def, &rods[(*count)++]) != TDL_STATUS_OK) {
            tdl_world_destroy(world);
            return NULL;
        }
    }
    return world;
}

// The furthest that a joint of a hair is from where it was, over its length.
static double tail_drift(TdlWorld* world, const TdlBodyId* rods, int count, const TdlVec3* before) {
    double most = 0.0;
    for (int i = 0; i < count; ++i) {
        TdlVec3 now[STRAND_MAX + 1];
        TdlRodInfo info;
        tdl_rod_points(world, rods[i], 1, now);
        tdl_rod_info(world, rods[i], &info);
        for (int k = 0; k <= 30; ++k) {
            TdlVec3 off = tdl_sub3(now[k], before[31 * i + k]);
            most = fmax(most, tdl_norm3(off) / info.length);
        }
    }
    return most;
}

TEST(hair_that_is_stiffened_stays) {
    enum { MOST_HAIRS = 512 };
    TdlCurves tail;
    TdlHost host = tdl_host_default();
    static TdlBodyId rods[MOST_HAIRS];
    static TdlVec3 before[31 * MOST_HAIRS];
    int stride = getenv("TENDRIL_LONG") != NULL ? 1 : 17, count, stiffened = 0;
    if (!read_tail(&tail)) {
        SKIP("no tail.hair");
    }
    REQUIRE(tail.count <= MOST_HAIRS);
    TdlWorld* world = put_tail(&tail, tail.count, stride, false, rods, &count);
    REQUIRE(world != NULL);
    for (int i = 0; i < count; ++i) {
        tdl_rod_points(world, rods[i], 1, before + (ptrdiff_t)31 * i);
    }
    TdlInverseOptions options = tdl_inverse_options_default();
    TdlInverseReport report;
    options.stiffen = true;
    REQUIRE(tdl_world_inverse(world, &options, &report) == TDL_STATUS_OK);
    CHECK(report.stable);
    double most = 1.0;
    for (int i = 0; i < count; ++i) {
        stiffened += report.strands[i].stiffening > 1.0;
        most = fmax(most, report.strands[i].stiffening);
    }
    for (int i = 0; i < step_count(); ++i) {
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
    }
    double drift = tail_drift(world, rods, count, before);
    printf("  %d hairs, %d stiffened, by %.3g at most: drift %.1e L\n", count, stiffened, most,
           drift);
    CHECK_BELOW(drift, 1.0e-6); // rounding has seconds to grow in, if it does
    tdl_inverse_report_free(world, &report);
    tdl_world_destroy(world);
    // as drawn they overlap: told, as a rest of such shapes will not last
    world = put_tail(&tail, stride == 1 ? tail.count : 60, 1, true, rods, &count);
    REQUIRE(world != NULL);
    options.stiffen = false;
    options.contacts = true;
    REQUIRE(tdl_world_inverse(world, &options, &report) == TDL_STATUS_OK);
    static TdlOverlap all[64 * MOST_HAIRS];
    int found, overlaps = 0;
    CHECK_INT(tdl_world_overlaps(world, 64 * MOST_HAIRS, all, &found), TDL_STATUS_OK);
    REQUIRE(found <= 64 * MOST_HAIRS);
    for (int i = 0; i < found; ++i) {
        overlaps += all[i].through || all[i].depth > 0.02 * 50.0e-6; // m, the radius
    }
    printf("  with contacts: %d, %d carry, %d pairs overlap, by %.2g m at most; least eigenvalue "
           "%.3g, %.2g s\n",
           report.contact_count, report.loaded_count, report.overlap_count, report.deepest,
           report.least_eigenvalue, report.seconds);
    CHECK(report.overlap_count > 0);
    CHECK_INT(report.overlap_count, overlaps);
    CHECK_NEAR(report.deepest, all[0].depth, 0.0);
    tdl_inverse_report_free(world, &report);
    tdl_world_destroy(world);
    tdl_curves_free(&host, &tail);
}

TEST(super_helices_stay_and_leave_as_told) {
    try_model("super-helix", 12, 20, getenv("TENDRIL_LONG") != NULL ? 200 : 6, 2321);
}

TEST(super_clothoids_stay_and_leave_as_told) {
    try_model("super-clothoid", 5, 5, getenv("TENDRIL_LONG") != NULL ? 20 : 1, 2322);
}

TEST(discrete_elastic_rods_stay_and_leave_as_told) {
    try_model("der", 12, 20, getenv("TENDRIL_LONG") != NULL ? 20 : 1, 2323);
}
