// tendril bench cloth: what a simulated second of sheets costs, hung, on a ball and on a table.
#include "app/command.h"
#include "bench/wisp.h"
#include "tendril/cloth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A sheet of columns by rows, half a metre by 0.7 m.
typedef struct Sheet {
    int columns, rows;
} Sheet;

static const Sheet SIZES[] = {{7, 9}, {20, 30}, {40, 60}, {100, 140}};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES };
static const double WIDTH = 0.5, HEIGHT = 0.7; // m

typedef enum Case {
    CASE_HUNG,  // by two corners, flat at first
    CASE_HIT,   // the same, hit by a stick
    CASE_BALL,  // dropped on a ball
    CASE_TABLE, // lying on a table, sticking everywhere
    CASE_COUNT
} Case;

static const char* const NAMES[CASE_COUNT] = {"hung", "hit", "ball", "table"};

typedef struct Figures {
    double q;      // time over simulated time
    double strain; // largest
    int contacts;  // most of them
    int unsolved, split;
    bool failed;
} Figures;

typedef struct Bench {
    const Args* args;
    double step, time; // s
    int largest;       // columns of the largest sheet
    Figures figures[CASE_COUNT][SIZE_COUNT];
} Bench;

static TdlStatus add_obstacle(TdlWorld* world, Case which) {
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id;
    TdlKeyframe keys[2] = {{.time = 0.3}, {.time = 0.8, .position = {0.0, 0.8, 0.0}}};
    if (which == CASE_HUNG) {
        return TDL_STATUS_OK;
    }
    if (which == CASE_HIT) { // along its width, through where it hangs
        def.shape = TDL_SHAPE_CYLINDER;
        def.radius = 0.02;
        def.pose.position = (TdlVec3){0.0, -0.9, -0.4};
        def.motion = (TdlMotionDef){keys, 2, TDL_INTERPOLATION_SMOOTH};
    } else if (which == CASE_BALL) {
        def.shape = TDL_SHAPE_SPHERE;
        def.radius = 0.15;
        def.pose.position.z = -0.17;
    } else {
        def.shape = TDL_SHAPE_PLANE;
    }
    return tdl_world_add_collider(world, &def, &id);
}

static TdlStatus add_sheet(TdlWorld* world, Case which, Sheet size, TdlBodyId* id) {
    size_t count = (size_t)(size.columns * size.rows);
    TdlVec3* vertices = calloc(count, sizeof *vertices);
    int* faces = calloc(4 * count, sizeof *faces);
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (vertices != NULL && faces != NULL) {
        TdlClothDef def = tdl_cloth_def_default();
        int corner[2] = {0, size.columns - 1};
        TdlClothHold hold = {.vertices = corner, .count = 2};
        def.mesh = tdl_cloth_rectangle(WIDTH, HEIGHT, size.columns, size.rows, vertices, faces);
        for (size_t i = 0; i < count && which == CASE_TABLE; ++i) {
            vertices[i].z = 0.5 * def.thickness;
        }
        def.holds = &hold;
        def.hold_count = which == CASE_HUNG || which == CASE_HIT ? 1 : 0;
        status = tdl_world_add_cloth(world, &def, id);
    }
    free(vertices);
    free(faces);
    return status;
}

static void step_all(const Bench* bench, TdlWorld* world, TdlBodyId id, Figures* out) {
    int steps = (int)lround(bench->time / bench->step), done = 0;
    double start = wisp_clock();
    for (; done < steps && !out->failed; ++done) {
        TdlStepInfo info;
        TdlClothStrain strain = {0};
        out->failed = tdl_world_step(world, &info) != TDL_STATUS_OK ||
                      tdl_cloth_strain(world, id, &strain) != TDL_STATUS_OK;
        out->strain = fmax(out->strain, strain.largest);
        out->contacts = info.contact_count > out->contacts ? info.contact_count : out->contacts;
        out->unsolved += info.unsolved;
        out->split += info.substeps > 1;
    }
    out->q = (wisp_clock() - start) / (bench->step * done);
}

static Figures measure(const Bench* bench, Case which, Sheet size) {
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world = NULL;
    TdlBodyId id;
    Figures out = {.failed = true};
    def.step = bench->step;
    def.contacts.law.mu = 0.3;
    if (tdl_world_create(args_host(bench->args), &def, &world) == TDL_STATUS_OK &&
        add_obstacle(world, which) == TDL_STATUS_OK &&
        add_sheet(world, which, size, &id) == TDL_STATUS_OK) {
        out.failed = false;
        step_all(bench, world, id, &out);
    }
    tdl_world_destroy(world);
    return out;
}

static void print_figures(const Bench* bench, Case which, int size) {
    const Figures* f = &bench->figures[which][size];
    Sheet s = SIZES[size];
    if (args_has(bench->args, "json")) {
        printf("%s{\"case\": \"%s\", \"columns\": %d, \"rows\": %d, \"q\": %.4g, \"strain\": %.3g, "
               "\"contacts\": %d, \"unsolved\": %d, \"split\": %d, \"failed\": %s}",
               (int)which + size > 0 ? ", " : "", NAMES[which], s.columns, s.rows, f->q, f->strain,
               f->contacts, f->unsolved, f->split, f->failed ? "true" : "false");
    } else {
        printf("%-6s %4d x %-4d %9.4f %10.2g %9d %9d %6d%s\n", NAMES[which], s.columns, s.rows,
               f->q, f->strain, f->contacts, f->unsolved, f->split, f->failed ? "  failed" : "");
        fflush(stdout);
    }
}

static int run_bench_cloth(const Args* args) {
    Bench bench = {.args = args};
    bool json = args_has(args, "json"), failed = false;
    const char* only = args_text(args, "case", NULL);
    bench.step = args_real(args, "step", 0.01);
    bench.time = args_real(args, "time", 1.0);
    bench.largest = args_int(args, "columns", 40);
    if (json) {
        printf("{\"step\": %g, \"time\": %g, \"sheets\": [", bench.step, bench.time);
    } else {
        printf("%-6s %11s %9s %10s %9s %9s %6s\n", "case", "nodes", "q", "strain", "contacts",
               "unsolved", "split");
    }
    for (int k = 0; k < CASE_COUNT; ++k) {
        for (int i = 0; i < SIZE_COUNT; ++i) {
            if (SIZES[i].columns <= bench.largest && (only == NULL || !strcmp(only, NAMES[k]))) {
                bench.figures[k][i] = measure(&bench, (Case)k, SIZES[i]);
                failed = failed || bench.figures[k][i].failed || bench.figures[k][i].unsolved > 0;
                print_figures(&bench, (Case)k, i);
            }
        }
    }
    if (json) {
        printf("]}\n");
    }
    return failed ? EXIT_FAILED : EXIT_DONE;
}

static const Option OPTIONS[] = {
    {"case", 'c', OPTION_CHOICE, "hung|hit|ball|table", 0, 0, "only this one; default: all", false},
    {"columns", 'n', OPTION_INT, "COUNT", 7, 100,
     "sheets of up to so many columns: 7, 20, 40, 100; default 40", false},
    {"step", 's', OPTION_REAL, "S", 1e-5, 0.1, "length of a step, s; default 0.01", false},
    {"time", 't', OPTION_REAL, "S", 1e-3, 100, "simulated time, s; default 1", false},
    {0},
};

const Command BENCH_CLOTH_COMMAND = {
    .name = "bench cloth",
    .operands = "",
    .summary = "Measure what a simulated second of cloth costs",
    .text = "Steps sheets of half a metre by 0.7 m and 7 x 9 to 40 x 60 nodes (100 x 140 with "
            "--columns 100): hung by two corners, hit by a stick, dropped on a ball, lying on a "
            "table where they stick everywhere; friction is 0.3. Prints q, processor time over "
            "simulated time on one thread, the largest strain of any step, the most contacts, "
            "steps whose contacts were not solved, and steps that were split. Exit status 1 when a "
            "run failed or contacts were not solved.",
    .example = "tendril bench cloth\n"
               "tendril bench cloth --case hung --columns 100 --time 0.2 --json",
    .options = OPTIONS,
    .run = run_bench_cloth,
};
