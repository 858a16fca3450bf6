// The scenes of rods in contact: Coulomb's cone, knots that stay knots, energy, threads, memory.
#include "look.h"
#include "stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CROSSINGS_MAX = 64 };

// --- Coulomb's cone -------------------------------------------------------------------------

// The largest |r_T| - mu r_N and -r_N over the contacts of the last step, relative to r_N.
static double cone_violation(const TdlWorld* world, int* seen) {
    int count;
    double worst = 0.0;
    const TdlContactForce* contacts = tdl_world_contact_forces(world, &count);
    for (int i = 0; i < count; ++i) {
        double normal = tdl_dot3(contacts[i].force, contacts[i].normal);
        TdlVec3 t = tdl_axpy3(contacts[i].force, -normal, contacts[i].normal);
        double size = tdl_norm3(contacts[i].force);
        if (size > 0.0) {
            double over = tdl_norm3(t) - contacts[i].mu * normal;
            worst = fmax(worst, fmax(over, -normal) / size);
        }
    }
    *seen += count;
    return worst;
}

static void check_cone(const char* name, const char* override, int steps) {
    Stage stage;
    int seen = 0;
    double worst = 0.0;
    TdlStatus status = open_stage(name, override, 1, &stage);
    for (int i = 0; i < steps && status == TDL_STATUS_OK; ++i) {
        status = tdl_world_step(stage.world, NULL);
        worst = fmax(worst, cone_violation(stage.world, &seen));
    }
    CHECK_INT(status, TDL_STATUS_OK);
    CHECK(seen > 0);
    CHECK_BELOW(worst, 1.0e-6);
    close_stage(&stage);
}

TEST(impulses_stay_in_the_cone) {
    check_cone("rotating-sphere.yaml", NULL, 1000);
    check_cone("knot.yaml", NULL, 100);
    check_cone("wavy-hair.yaml", NULL, 20);
    check_cone("wavy-hair.yaml", "contacts.friction=0", 20);
    check_cone("spaghetti.yaml", NULL, 90);
    check_cone("double-loop.yaml", NULL, 200);
}

// --- energy ---------------------------------------------------------------------------------

// What a falling scene has at its start and is given is what it has in the end and lost, all of it
// told by the log: by friction, impacts and damping, to the time step and to overlaps taken away.
static void check_books(const char* name, int steps) {
    Stage stage;
    TdlStatus status = open_stage(name, "losses=true", 1, &stage);
    REQUIRE(status == TDL_STATUS_OK);
    TdlEnergy e = tdl_world_energy(stage.world);
    double start = e.kinetic + e.elastic + e.gravity, gained = 0.0, moved = 0.0;
    for (int i = 0; i < steps && status == TDL_STATUS_OK; ++i) {
        TdlStepInfo x;
        status = tdl_world_step(stage.world, &x);
        gained += x.work + x.given + x.push - x.friction - x.impact - x.damping - x.numerical;
        moved += fabs(x.friction) + fabs(x.impact) + fabs(x.damping) + fabs(x.numerical);
    }
    CHECK_INT(status, TDL_STATUS_OK);
    e = tdl_world_energy(stage.world);
    double lost = start - e.kinetic - e.elastic - e.gravity;
    printf("  %s: lost %.4g J, unexplained %.2g of it\n", name, lost, (lost + gained) / lost);
    CHECK(lost > 0.0 && moved > 0.0);
    CHECK_BELOW(fabs(lost + gained), 0.01 * lost);
    close_stage(&stage);
}

TEST(the_books_of_falling_scenes_close) {
    check_books("spaghetti.yaml", 60);
    check_books("corde-spaghetti.yaml", 80);
    check_books("self-stacking.yaml", 340);
    check_books("ropes-over-ball.yaml", 100);
    check_books("double-loop.yaml", 400);
}

// --- a rod and itself ------------------------------------------------------------------------

// The turns of a coil come to lie on each other, not in each other.
TEST(a_coil_stacks_on_itself) {
    static const char* const MODELS[] = {"rods.rod.model=corde", "rods.rod.model=der",
                                         "rods.rod.model=super-helix"};
    for (int k = 0; k < 3; ++k) {
        Stage stage;
        const char* overrides[] = {MODELS[k], "rods.rod.elements=48", "time.step=5e-4"};
        REQUIRE(open_stage_with("self-stacking.yaml", overrides, 3, 1, &stage) == TDL_STATUS_OK);
        TdlStatus status = TDL_STATUS_OK;
        double deepest = 0.0;
        for (int i = 0; i < 260 && status == TDL_STATUS_OK; ++i) {
            TdlStepInfo info;
            status = tdl_world_step(stage.world, &info);
            deepest = fmin(deepest, info.deepest);
        }
        TdlBodyId rod = look_body(stage.world, "rod", 0);
        double length = look_rod_info(stage.world, rod).length, top = 0.0;
        for (int i = 0; i <= 1000; ++i) {
            top = fmax(top, look_rod_point(stage.world, rod, length * i / 1000.0).z);
        }
        printf("  %s: %.2f widths high, overlap at most %.2g radii\n", MODELS[k], top / 5.0e-3,
               -deepest / 2.5e-3);
        CHECK_INT(status, TDL_STATUS_OK);
        CHECK(top > 4.5 * 5.0e-3); // five turns, of which the fifth is a little more
        CHECK_BELOW(-deepest, 0.5 * 2.5e-3);
        close_stage(&stage);
    }
}

// --- knots ----------------------------------------------------------------------------------

typedef struct Crossing {
    double over, under; // where along the rod, in points
} Crossing;

static int compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// The crossings of a polyline seen along the z axis; -1: too many.
static int find_crossings(const TdlVec3* p, int count, Crossing* out) {
    int found = 0;
    for (int i = 0; i + 1 < count; ++i) {
        for (int j = i + 2; j + 1 < count; ++j) {
            TdlVec3 r = tdl_sub3(p[i + 1], p[i]), s = tdl_sub3(p[j + 1], p[j]);
            TdlVec3 d = tdl_sub3(p[j], p[i]);
            double den = r.x * s.y - r.y * s.x;
            double t = (d.x * s.y - d.y * s.x) / den, u = (d.x * r.y - d.y * r.x) / den;
            if (!(t >= 0.0 && t < 1.0 && u >= 0.0 && u < 1.0)) {
                continue;
            }
            if (found == CROSSINGS_MAX) {
                return -1;
            }
            bool first = p[i].z + t * r.z > p[j].z + u * s.z;
            out[found++] = first ? (Crossing){i + t, j + u} : (Crossing){j + u, i + t};
        }
    }
    return found;
}

// |determinant| of a square matrix of `stride` columns, by elimination.
static double determinant(double* a, int n, int stride) {
    double product = 1.0;
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i) {
            pivot = fabs(a[i * stride + k]) > fabs(a[pivot * stride + k]) ? i : pivot;
        }
        if (a[pivot * stride + k] == 0.0) {
            return 0.0;
        }
        for (int j = 0; j < n; ++j) {
            double swap = a[k * stride + j];
            a[k * stride + j] = a[pivot * stride + j];
            a[pivot * stride + j] = swap;
        }
        for (int i = k + 1; i < n; ++i) {
            double f = a[i * stride + k] / a[k * stride + k];
            for (int j = k; j < n; ++j) {
                a[i * stride + j] -= f * a[k * stride + j];
            }
        }
        product *= fabs(a[k * stride + k]);
    }
    return product;
}

// The determinant of the knot that an open line makes when its ends are joined far away: 1 of the
// unknot, 3 of the trefoil. At a crossing twice the colour of the arc above is the sum of the
// colours of the two below.
static double knot_determinant(const TdlVec3* p, int count) {
    static Crossing crossings[CROSSINGS_MAX];
    static double under[CROSSINGS_MAX], a[CROSSINGS_MAX * CROSSINGS_MAX];
    int n = find_crossings(p, count, crossings);
    if (n < 3) {
        return n < 0 ? NAN : 1.0;
    }
    for (int i = 0; i < n; ++i) {
        under[i] = crossings[i].under;
    }
    qsort(under, (size_t)n, sizeof *under, compare);
    memset(a, 0, sizeof a);
    for (int i = 0; i < n; ++i) {
        int below = 0, above = 0; // arcs begin at an underpass; the last is the first
        for (int k = 0; k < n; ++k) {
            below += under[k] < crossings[i].under;
            above += under[k] < crossings[i].over;
        }
        a[i * CROSSINGS_MAX + above % n] += 2.0;
        a[i * CROSSINGS_MAX + below % n] -= 1.0;
        a[i * CROSSINGS_MAX + (below + 1) % n] -= 1.0;
    }
    return determinant(a, n - 1, CROSSINGS_MAX);
}

TEST(determinants_tell_knots) {
    TdlVec3 p[241];
    for (int i = 0; i <= 240; ++i) { // a trefoil cut open beside a lobe's tip, and a loop
        double t = 1.0472 + 0.02 + (6.28318 - 0.04) * i / 240;
        p[i] = (TdlVec3){sin(t) + 2.0 * sin(2.0 * t), cos(t) - 2.0 * cos(2.0 * t), -sin(3.0 * t)};
    }
    CHECK_NEAR(knot_determinant(p, 241), 3.0, 1.0e-9);
    for (int i = 0; i <= 240; ++i) {
        p[i].z = 0.01 * i;
    }
    CHECK_NEAR(knot_determinant(p, 241), 1.0, 1.0e-9);
}

TEST(a_knot_pulled_tight_stays_a_knot) {
    Stage stage;
    static TdlVec3 points[20 * 12 + 1];
    TdlStatus status = open_stage("knot.yaml", NULL, 1, &stage);
    REQUIRE(status == TDL_STATUS_OK);
    TdlBodyId rod = look_body(stage.world, "rod", 0);
    int wrong = 0;
    for (int i = 0; i <= 200 && status == TDL_STATUS_OK; ++i) {
        look_rod_points(stage.world, rod, 12, points);
        wrong += fabs(knot_determinant(points, 241) - 3.0) > 1.0e-6;
        status = tdl_world_step(stage.world, NULL);
    }
    CHECK_INT(status, TDL_STATUS_OK);
    CHECK_INT(wrong, 0);
    CHECK(points[240].x > 0.22); // it was pulled
    close_stage(&stage);
}

// A steady load is taken at the start of a step, so a taut rod bears steps below the time that a
// wave takes along an element: 0.25 ms at a hundred times its weight.
TEST(a_knot_pulled_with_a_hundred_times_its_weight_stays_a_knot) {
    static TdlVec3 points[20 * 12 + 1];
    static const double STEP = 2.5e-4;
    Stage stage;
    TdlStatus status =
        open_stage("knot-by-force.yaml", "rods.0.loads.0.force=[0, 0, 0]", 1, &stage);
    REQUIRE(status == TDL_STATUS_OK);
    TdlBodyId rod = look_body(stage.world, "rod", 0);
    TdlRodInfo info = look_rod_info(stage.world, rod);
    double deepest = 0.0;
    int wrong = 0;
    TdlStepInfo step = {0};
    for (int i = 0; i < 6400 && status == TDL_STATUS_OK; ++i) {
        double force = 9.81 * info.mass * pow(100.0, fmin(1.0, i * STEP / 1.2));
        TdlPull pull = {.at = info.length, .force = {force, 0.0, 0.0}};
        CHECK(tdl_body_pull(stage.world, rod, 1, &pull) == TDL_STATUS_OK);
        status = tdl_world_step(stage.world, &step);
        deepest = fmin(deepest, step.deepest);
        if (i % 16 == 0) {
            look_rod_points(stage.world, rod, 12, points);
            wrong += fabs(knot_determinant(points, 241) - 3.0) > 1.0e-6;
        }
    }
    CHECK_INT(status, TDL_STATUS_OK);
    CHECK_INT(wrong, 0);
    CHECK(points[240].x > 0.27);                  // pulled as tight as it goes
    CHECK_BELOW(-deepest, 0.05 * info.radius[0]); // and nowhere into itself
    CHECK_BELOW(step.energy.kinetic, 1.0e-6);     // J: it came to rest under the load
    close_stage(&stage);
}

// The angle whose sine is the dot product of two unit normals.
static double arc(TdlVec3 a, TdlVec3 b) {
    double size = tdl_norm3(a) * tdl_norm3(b);
    return size > 0.0 ? asin(fmax(-1.0, fmin(1.0, tdl_dot3(a, b) / size))) : 0.0;
}

// Writhe of a line: Gauss's double integral, exact for straight pieces. When the line passes
// through itself it jumps by two.
static double writhe(const TdlVec3* p, int count) {
    double sum = 0.0;
    for (int i = 0; i + 1 < count; ++i) {
        for (int j = i + 2; j + 1 < count; ++j) {
            TdlVec3 r13 = tdl_sub3(p[j], p[i]), r14 = tdl_sub3(p[j + 1], p[i]);
            TdlVec3 r23 = tdl_sub3(p[j], p[i + 1]), r24 = tdl_sub3(p[j + 1], p[i + 1]);
            TdlVec3 r12 = tdl_sub3(p[i + 1], p[i]), r34 = tdl_sub3(p[j + 1], p[j]);
            TdlVec3 a = tdl_cross3(r13, r14), b = tdl_cross3(r14, r24);
            TdlVec3 c = tdl_cross3(r24, r23), d = tdl_cross3(r23, r13);
            double angle = arc(a, b) + arc(b, c) + arc(c, d) + arc(d, a);
            sum += copysign(angle, tdl_dot3(tdl_cross3(r34, r12), r13));
        }
    }
    return sum / (2.0 * 3.14159265358979323846);
}

// Turns between the two ends of a rod that runs on straight beyond them: writhe and twist together.
// Only turning an end changes it, or passing the rod through itself, which makes it jump by two.
static double link(const TdlWorld* world, TdlBodyId rod) {
    enum { ELEMENTS = 20, EACH = 8, COUNT = ELEMENTS * EACH + 3 };
    static TdlVec3 points[COUNT];
    const double* q = look_rod_coordinates(world, rod);
    double twist = 0.0;
    look_rod_points(world, rod, EACH, points + 1);
    points[0] = tdl_sub3(points[1], (TdlVec3){100.0, 0.0, 0.0});
    points[COUNT - 1] = tdl_add3(points[COUNT - 2], (TdlVec3){100.0, 0.0, 0.0});
    for (int i = 0; i < ELEMENTS; ++i) {
        twist += q[3 * i] / (2.0 * 3.14159265358979323846);
    }
    return writhe(points, COUNT) + twist;
}

// Both ends stay on a line, so the turns of the rod are those of its end, whatever it does between.
TEST(a_plectoneme_does_not_pass_through_itself) {
    SKIP_LONG_UNDER_SANITIZER();
    Stage stage;
    TdlStatus status = open_stage("plectoneme.yaml", NULL, 1, &stage);
    REQUIRE(status == TDL_STATUS_OK);
    TdlBodyId rod = look_body(stage.world, "rod", 0);
    double start = link(stage.world, rod), worst = 0.0, turns = 0.0;
    int contacts = 0;
    for (int i = 0; i < 800 && status == TDL_STATUS_OK; ++i) {
        TdlStepInfo info;
        status = tdl_world_step(stage.world, &info);
        contacts = info.contact_count > contacts ? info.contact_count : contacts;
        turns = 2.5 * fmin(info.time, 8.0);
        if (i % 10 != 9) {
            continue;
        }
        double off = fabs(link(stage.world, rod) - start - turns);
        worst = fmax(worst, off);
    }
    CHECK_INT(status, TDL_STATUS_OK);
    CHECK_NEAR(turns, 20.0, 1.0e-9);
    CHECK(contacts >= 3);
    CHECK_BELOW(worst, 0.5);
    close_stage(&stage);
}

// --- bits and memory ------------------------------------------------------------------------

static uint64_t hash_after(const char* name, int threads, int steps) {
    Stage stage;
    TdlStatus status = open_stage(name, NULL, threads, &stage);
    for (int i = 0; i < steps && status == TDL_STATUS_OK; ++i) {
        status = tdl_world_step(stage.world, NULL);
    }
    CHECK_INT(status, TDL_STATUS_OK);
    uint64_t hash = tdl_world_state_hash(stage.world);
    close_stage(&stage);
    return hash;
}

TEST(same_bits_for_any_number_of_threads) {
    static const char* const NAMES[] = {"wavy-hair.yaml", "spaghetti.yaml"};
    static const int STEPS[] = {16, 80};
    for (int k = 0; k < 2; ++k) {
        uint64_t one = hash_after(NAMES[k], 1, STEPS[k]);
        CHECK(hash_after(NAMES[k], 2, STEPS[k]) == one);
        CHECK(hash_after(NAMES[k], 3, STEPS[k]) == one);
    }
}

TEST(same_bits_after_a_resume) {
    Stage a, b;
    TdlStatus status = open_stage("wavy-hair.yaml", NULL, 1, &a);
    REQUIRE(status == TDL_STATUS_OK && open_stage("wavy-hair.yaml", NULL, 1, &b) == status);
    TdlStepInfo info = {0};
    for (int i = 0; i < 12 && status == TDL_STATUS_OK; ++i) {
        status = tdl_world_step(a.world, &info);
    }
    CHECK(info.contact_count > 0);
    size_t size = tdl_world_state_size(a.world);
    void* bytes = malloc(size);
    REQUIRE(bytes != NULL);
    tdl_world_save_state(a.world, bytes);
    CHECK_INT(tdl_world_load_state(b.world, bytes, size), TDL_STATUS_OK);
    free(bytes);
    for (int i = 0; i < 6 && status == TDL_STATUS_OK; ++i) {
        status = tdl_world_step(a.world, NULL);
        CHECK_INT(tdl_world_step(b.world, NULL), status);
    }
    CHECK(tdl_world_state_hash(a.world) == tdl_world_state_hash(b.world));
    close_stage(&a);
    close_stage(&b);
}

// Steps that are made a second time ask for no memory: all they need has been seen. What is kept
// does not grow by being used.
static void check_memory(Stage* stage, int steps) {
    TdlStatus status = TDL_STATUS_OK;
    long live = 0, calls = 0, most = 0;
    size_t size = tdl_world_state_size(stage->world);
    void* first = malloc(size);
    REQUIRE(first != NULL);
    tdl_world_save_state(stage->world, first);
    for (int i = 0; i < 2 * steps && status == TDL_STATUS_OK; ++i) {
        if (i == steps) {
            status = tdl_world_load_state(stage->world, first, size);
            live = stage->counter.live;
            calls = stage->counter.calls;
        }
        TdlStepInfo info = {0};
        status = status == TDL_STATUS_OK ? tdl_world_step(stage->world, &info) : status;
        most = info.contact_count > most ? info.contact_count : most;
    }
    free(first);
    printf("  %ld contacts at most, %.1f MB\n", most, 1.0e-6 * (double)stage->counter.live);
    CHECK_INT(status, TDL_STATUS_OK);
    CHECK(most > 0);
    CHECK_INT(stage->counter.live, live);
    CHECK_INT(stage->counter.calls, calls);
    close_stage(stage);
}

TEST(memory_does_not_grow) {
    Stage stage;
    REQUIRE(open_stage("rotating-sphere.yaml", NULL, 1, &stage) == TDL_STATUS_OK);
    check_memory(&stage, 500);
    // hairs pushed aside by a ball; TENDRIL_LONG=1: 2025 of them
    bool all = getenv("TENDRIL_LONG") != NULL;
    const char* overrides[] = {"contacts.tolerance=1e-6", "rods.hair.repeat.count=[9, 9, 1]",
                               "colliders.ball.radius=5e-3"};
    REQUIRE(open_stage_with("curtain.yaml", overrides, all ? 1 : 3, 1, &stage) == TDL_STATUS_OK);
    check_memory(&stage, 500);
}
