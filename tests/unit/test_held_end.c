// What contacts are told of a super-model whose far end is held: its answer to an impulse, its
// stretch and its hold included, against steps with and without a force at the same place.
#include "rod/held_end.h"

#include "math/dense.h"
#include "math/rotation.h"
#include "ref/whole_rows.h"
#include "test.h"

#include <string.h>

enum { ELEMENTS = 8, MOST = 3 * (ELEMENTS + 1) + 7 };

static const char* const MODELS[3] = {"super-helix", "super-helix-dense", "super-clothoid"};
static const TdlVec3 GRAVITY = {0.0, 0.0, -9.81};

static Rod* create(const char* model, TdlHold start, TdlHold end, double young) {
    TdlHost host = tdl_host_default();
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.element_count = ELEMENTS;
    def.length = 0.3;
    def.radius[0] = def.radius[1] = 1.0e-3;
    def.young = young;
    def.curvature = def.natural_curvature = (TdlVec3){0.3, 1.0, 0.4};
    def.clamp.position = (TdlVec3){0.1, -0.2, 0.3};
    def.start = start;
    def.end = end;
    Rod* rod;
    if (rod_create(&host, &def, &rod) != TDL_STATUS_OK) {
        abort();
    }
    return rod;
}

// The velocities and the rate of the stretch after a step with this force at (element, s).
static void predict(Rod* rod, const RodStep* step, RodLoad load, double* v) {
    rod->loads[rod->load_count++] = load;
    CHECK(rod->model->predict(rod, step));
    --rod->load_count;
    memcpy(v, rod->v_free, ((size_t)rod->dof_count + 1) * sizeof *v);
}

// Differences of the velocities, over the largest one, and of the rate, over itself.
typedef struct Off {
    double velocity, rate;
} Off;

static Off compare(Rod* rod, const RodStep* step, RodLoad load) {
    int n = rod->dof_count;
    double more[MOST], less[MOST], answer[MOST], rows[3 * MOST], off = 0.0, size = 0.0;
    RodLoad back = load;
    back.force = tdl_scale3(-1.0, load.force);
    predict(rod, step, load, more);
    predict(rod, step, back, less);

    TdlVec3 impulse = tdl_scale3(step->dt, load.force);
    TdlVec3 stretch = held_end_stretching(rod, rod->model->point(rod, load.element, load.s));
    whole_rows(rod, load.element, load.s, tdl_identity33(), rows);
    for (int i = 0; i < n; ++i) {
        answer[i] = impulse.x * rows[i] + impulse.y * rows[n + i] + impulse.z * rows[2 * n + i];
    }
    answer[n] = tdl_dot3(impulse, stretch);
    held_end_solve(rod, 1, answer);
    for (int i = 0; i < n; ++i) {
        off = fmax(off, fabs(answer[i] - 0.5 * (more[i] - less[i])));
        size = fmax(size, fabs(answer[i]));
    }
    double rate = 0.5 * (more[n] - less[n]);
    return (Off){off / size, fabs(answer[n] - rate) / fabs(rate)};
}

// A step closes the end where it then is, of which rows of its start do not know: what differs goes
// with its length.
TEST(answers_of_held_rods_are_those_of_their_steps) {
    Off worst[2] = {0};
    for (int k = 0; k < 48; ++k) {
        int shorter = k / 24;
        TdlHold start = k & 1 ? TDL_HOLD_CLAMPED : TDL_HOLD_PINNED;
        TdlHold end = k & 2 ? TDL_HOLD_CLAMPED : TDL_HOLD_PINNED;
        Rod* rod = create(MODELS[k % 3], start, end, k & 4 ? 1.0e5 : 1.0e7);
        RodStep step = {.dt = shorter ? 1.0e-4 : 1.0e-3,
                        .gravity = GRAVITY,
                        .base_end = rod->base.now,
                        .end_end = rod->end.now};
        RodLoad load = {.element = k % ELEMENTS, .s = 0.4, .force = {1.0e-5, -2.0e-5, 3.0e-5}};
        Off off = compare(rod, &step, load);
        worst[shorter].velocity = fmax(worst[shorter].velocity, off.velocity);
        worst[shorter].rate = fmax(worst[shorter].rate, off.rate);
        TdlHost host = tdl_host_default();
        rod_destroy(&host, rod);
    }
    for (int i = 0; i < 2; ++i) {
        printf("  steps of %.0e s: velocities off by %.1e, rates by %.1e\n", i ? 1e-4 : 1e-3,
               worst[i].velocity, worst[i].rate);
        CHECK_BELOW(worst[i].velocity, i ? 3.0e-4 : 1.0e-2);
        CHECK_BELOW(worst[i].rate, i ? 1.0e-3 : 5.0e-2);
    }
}

// (L.11) is symmetric, the stretch included.
TEST(answers_of_held_rods_are_symmetric) {
    for (int k = 0; k < 3; ++k) {
        Rod* rod = create(MODELS[k], TDL_HOLD_PINNED, TDL_HOLD_CLAMPED, 1.0e6);
        RodStep step = {
            .dt = 1.0e-3, .gravity = GRAVITY, .base_end = rod->base.now, .end_end = rod->end.now};
        REQUIRE(rod->model->predict(rod, &step));
        int n = rod->dof_count + 1;
        double X[MOST * MOST] = {0}, size = 0.0;
        for (int i = 0; i < n; ++i) {
            X[i * n + i] = 1.0;
        }
        held_end_solve(rod, n, X);
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                size = sqrt(X[i * n + i] * X[j * n + j]);
                CHECK_NEAR(X[i * n + j], X[j * n + i], 1.0e-7 * size);
            }
        }
        TdlHost host = tdl_host_default();
        rod_destroy(&host, rod);
    }
}
