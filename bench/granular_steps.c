// Whole steps of a world, transfers, rows, contacts and the solve: a slab of grains without ends,
// about ten cells deep, that slides down a slope, so that particles change their cells and every
// step needs sweeps. Depth is nearly the same for all, so a step should cost as many times more as
// there are more particles.
#include "bench/granular_steps.h"

#include "tendril/collider.h"
#include "tendril/grains.h"
#include "tendril/world.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

// m, s; the slope is 31 degrees, the angle of friction 26.6
static const double SPACING = 0.02, STEP = 2.0e-3, SLOPE = 0.541;
// Steps that get the bed going, and those that are measured.
enum { FIRST = 5, MEASURED = 10, PHASES = 4 };

typedef struct StepSize {
    int wide, deep; // cells
} StepSize;

static const StepSize STEP_SIZES[] = {{12, 9}, {24, 9}, {36, 10}, {72, 10}, {108, 11}};
enum { STEP_SIZE_COUNT = sizeof STEP_SIZES / sizeof *STEP_SIZES };

typedef struct StepCost {
    int particles, rows;
    double step;          // ns a particle, processor time
    double phase[PHASES]; // the same of sorting, to the grid, rows, back
    double sweeps;        // a step
} StepCost;

static double cpu_now(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

static TdlStatus add_slab(TdlWorld* world, StepSize size, TdlBodyId* out) {
    double wide = size.wide * SPACING, deep = size.deep * SPACING;
    TdlColliderDef floor = tdl_collider_def_default();
    floor.shape = TDL_SHAPE_PLANE;
    TdlBodyId id;
    TdlStatus status = tdl_world_add_collider(world, &floor, &id);
    TdlGrainsFill fill = {.high = {wide, wide, deep}};
    TdlGrainsDef def = tdl_grains_def_default();
    def.spacing = SPACING;
    def.low = (TdlVec3){0.0, 0.0, -SPACING};
    def.high = (TdlVec3){wide, wide, deep + 3.0 * SPACING};
    def.periodic[0] = def.periodic[1] = true;
    def.jitter = 0.3;
    def.fills = &fill;
    def.fill_count = 1;
    return status == TDL_STATUS_OK ? tdl_world_add_grains(world, &def, out) : status;
}

static TdlStatus time_steps(TdlWorld* world, TdlBodyId grains, StepCost* out) {
    TdlGrainsInfo info;
    double begin = 0.0;
    for (int k = 0; k < FIRST + MEASURED; ++k) {
        TdlStepInfo step;
        begin = k == FIRST ? cpu_now() : begin;
        TdlStatus status = tdl_world_step(world, &step);
        status = status == TDL_STATUS_OK ? tdl_grains_info(world, grains, &info) : status;
        if (status != TDL_STATUS_OK) {
            return status;
        }
        for (int p = 0; p < PHASES && k >= FIRST; ++p) {
            out->phase[p] += 1.0e9 * info.seconds[p] / MEASURED / info.particle_count;
        }
        out->sweeps += k >= FIRST ? info.iterations / MEASURED : 0.0;
    }
    out->particles = info.particle_count;
    out->rows = info.rows;
    out->step = 1.0e9 * (cpu_now() - begin) / MEASURED / info.particle_count;
    return TDL_STATUS_OK;
}

static TdlStatus measure(const Args* args, StepSize size, StepCost* out) {
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world = NULL;
    TdlBodyId grains;
    *out = (StepCost){0};
    def.step = STEP;
    def.gravity = (TdlVec3){9.81 * sin(SLOPE), 0.0, -9.81 * cos(SLOPE)};
    def.contacts.law.mu = 1.0;
    def.contacts.tolerance = 1.0e-4;
    def.thread_count = 1;
    TdlStatus status = tdl_world_create(args_host(args), &def, &world);
    status = status == TDL_STATUS_OK ? add_slab(world, size, &grains) : status;
    status = status == TDL_STATUS_OK ? time_steps(world, grains, out) : status;
    tdl_world_destroy(world);
    return status;
}

static void print_cost(const StepCost* c, const StepCost* first, bool json) {
    double solve = c->step;
    for (int p = 0; p < PHASES; ++p) {
        solve -= c->phase[p];
    }
    double growth = c->step / first->step;
    if (json) {
        printf("%s\n  {\"particles\": %d, \"rows\": %d, \"step_ns\": %.1f, \"sort_ns\": %.1f, "
               "\"to_grid_ns\": %.1f, \"rows_ns\": %.1f, \"back_ns\": %.1f, \"solve_ns\": %.1f, "
               "\"sweeps\": %.1f, \"over_first\": %.3f}",
               c == first ? "" : ",", c->particles, c->rows, c->step, c->phase[0], c->phase[1],
               c->phase[2], c->phase[3], solve, c->sweeps, growth);
    } else {
        printf("%9d %8d %8.1f %8.1f %8.1f %8.1f %8.1f %8.1f %8.1f %8.3f\n", c->particles, c->rows,
               c->step, c->phase[0], c->phase[1], c->phase[2], c->phase[3], solve, c->sweeps,
               growth);
    }
    fflush(stdout);
}

int granular_steps(const Args* args, int most, bool json) {
    StepCost cost[STEP_SIZE_COUNT];
    printf(json ? "["
                : "particles     rows  step ns     sort  to grid     rows     back    solve   "
                  "sweeps  over 1st\n");
    for (int k = 0; k < STEP_SIZE_COUNT; ++k) {
        StepSize size = STEP_SIZES[k];
        if (8 * size.wide * size.wide * size.deep > most + most / 10) {
            break;
        }
        TdlStatus status = measure(args, size, &cost[k]);
        if (status != TDL_STATUS_OK) {
            return exit_code(status);
        }
        print_cost(&cost[k], &cost[0], json);
    }
    printf(json ? "\n]\n" : "");
    return EXIT_DONE;
}
