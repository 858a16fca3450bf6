// tendril bench cloth: what a simulated second of sheets costs, hung, on a ball and on a table;
// and S3's Table 3, a sheet hit by a stick, by its solvers and by ours.
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
static const double TABLE3_TIME = 4.0;         // s
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
        def.motion =
            (TdlMotionDef){.keys = keys, .key_count = 2, .interpolation = TDL_INTERPOLATION_SMOOTH};
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

// --- Table 3 -----------------------------------------------------------------------------------

// S3's fabrics, with what it reports: q on an i7-8700K.
typedef struct Fabric {
    const char* name;
    double density; // kg/m^2
    double active, interior;
} Fabric;

static const Fabric FABRICS[] = {{"polyester", 0.1042, 0.456, 1.344},
                                 {"wool", 0.1804, 0.437, 1.298},
                                 {"denim", 0.3046, 0.425, 1.235},
                                 {"stiff-cotton", 0.3046, 0.510, 1.576}};
enum { FABRIC_COUNT = sizeof FABRICS / sizeof *FABRICS };

// The ways to step it: ours, S3's two solvers on our sheet, and all of S3.
typedef struct Way {
    const char* name;
    TdlContactResponse response;
    TdlFrictionSolverKind solver;
    TdlClothIsometry isometry;
} Way;

static const Way WAYS[] = {
    {"exact", TDL_RESPONSE_EXACT, TDL_FRICTION_ALTERNATING, TDL_ISOMETRY_EDGES},
    {"active-set", TDL_RESPONSE_S3, TDL_FRICTION_ACTIVE_SET, TDL_ISOMETRY_EDGES},
    {"interior", TDL_RESPONSE_S3, TDL_FRICTION_NORMAL_INTERIOR, TDL_ISOMETRY_EDGES},
    {"all-s3", TDL_RESPONSE_S3, TDL_FRICTION_ACTIVE_SET, TDL_ISOMETRY_S3},
};
enum { WAY_COUNT = sizeof WAYS / sizeof *WAYS };

// DIN A2, the long sides upright, as S3's mesh; its stick is 0.75 m long and 1.5 cm thick.
enum { A2_COLUMNS = 7, A2_ROWS = 9, A2_NODES = A2_COLUMNS * A2_ROWS };
static const double A2_WIDTH = 0.42, A2_HEIGHT = 0.594, STICK_RADIUS = 0.0075, STICK_LENGTH = 0.75;

// Four hits in four seconds at different heights, m below the upper edge, and speeds: S3 gives no
// figures of them, only that they vary. There and back, with a rest out of reach.
static TdlStatus add_stick(TdlWorld* world) {
    static const double low[4] = {0.30, 0.45, 0.20, 0.38}, quick[4] = {0.25, 0.15, 0.30, 0.20};
    TdlColliderDef def = tdl_collider_def_default();
    TdlKeyframe keys[16];
    TdlBodyId id;
    for (int hit = 0; hit < 4; ++hit) {
        const double at[4] = {0.3, 0.3 + quick[hit], 0.4 + quick[hit], 0.4 + 2.0 * quick[hit]};
        for (int k = 0; k < 4; ++k) {
            double reach = k == 1 || k == 2 ? 0.42 : 0.0;
            keys[4 * hit + k] =
                (TdlKeyframe){.time = hit + at[k], .position = {0.0, reach, -low[hit]}};
        }
    }
    def.shape = TDL_SHAPE_CAPSULE;
    def.radius = STICK_RADIUS;
    def.length = STICK_LENGTH;
    def.pose.position.y = -0.3;
    def.motion =
        (TdlMotionDef){.keys = keys, .key_count = 16, .interpolation = TDL_INTERPOLATION_SMOOTH};
    return tdl_world_add_collider(world, &def, &id);
}

static TdlStatus add_fabric(TdlWorld* world, const Fabric* fabric, const Way* way, TdlBodyId* id) {
    TdlVec3 vertices[A2_NODES];
    int faces[4 * A2_NODES], corner[2] = {A2_NODES - A2_COLUMNS, A2_NODES - 1};
    TdlClothHold hold = {.vertices = corner, .count = 2};
    TdlClothDef def = tdl_cloth_def_default();
    def.mesh = tdl_cloth_rectangle(A2_WIDTH, A2_HEIGHT, A2_COLUMNS, A2_ROWS, vertices, faces);
    for (int i = 0; i < A2_NODES; ++i) { // upright
        vertices[i] = (TdlVec3){vertices[i].x, 0.0, vertices[i].y - 0.5 * A2_HEIGHT};
    }
    def.density = fabric->density;
    def.bending = 0.0;
    def.isometry = way->isometry;
    def.holds = &hold;
    def.hold_count = 1;
    return tdl_world_add_cloth(world, &def, id);
}

// The contact problems of a run, each by all solvers from where the run's began.
enum { RIVALS = 3 };
typedef struct Compared {
    TdlFrictionSolver* solver[RIVALS]; // of the first ways
    double seconds[RIVALS];
    int solves, contacts, unsolved; // of the last: by any
} Compared;

static void compare(void* user, const TdlContactProblem* solved) {
    Compared* all = user;
    int n = tdl_friction_problem_size(solved->problem).contact_count;
    double* r = malloc(3 * (size_t)n * sizeof *r);
    for (int k = 0; k < RIVALS && r != NULL; ++k) {
        TdlFrictionInfo info;
        memcpy(r, solved->guess, 3 * (size_t)n * sizeof *r);
        double start = wisp_clock();
        bool good = tdl_friction_solver_solve(all->solver[k], solved->problem, r, NULL, &info) ==
                    TDL_STATUS_OK;
        all->seconds[k] += wisp_clock() - start;
        all->unsolved += !good || info.outcome != TDL_FRICTION_CONVERGED;
    }
    all->unsolved += r == NULL;
    all->solves += 1;
    all->contacts += n;
    free(r);
}

static Figures measure_fabric(const Bench* bench, const Fabric* fabric, const Way* way,
                              Compared* compared) {
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world = NULL;
    TdlBodyId id;
    Figures out = {.failed = true};
    def.step = bench->step;
    def.contacts.law.mu = 0.0; // S3: polished, held by the corners
    def.contacts.response = way->response;
    def.contacts.solver = way->solver;
    if (tdl_world_create(args_host(bench->args), &def, &world) == TDL_STATUS_OK &&
        add_stick(world) == TDL_STATUS_OK && add_fabric(world, fabric, way, &id) == TDL_STATUS_OK) {
        out.failed = false;
        if (compared != NULL) {
            tdl_world_watch_problems(world, compare, compared);
        }
        step_all(bench, world, id, &out);
    }
    tdl_world_destroy(world);
    return out;
}

static bool create_rivals(const Bench* bench, Compared* all) {
    bool good = true;
    for (int k = 0; k < RIVALS && good; ++k) {
        TdlFrictionOptions options = tdl_friction_options_default();
        options.solver = WAYS[k].solver;
        good = tdl_friction_solver_create(args_host(bench->args), &options, &all->solver[k]) ==
               TDL_STATUS_OK;
    }
    return good;
}

// What solving alone takes: the same problems by the three solvers.
static bool compare_solvers(const Bench* bench) {
    bool json = args_has(bench->args, "json");
    Compared all = {0};
    bool good = create_rivals(bench, &all);
    for (int k = 0; k < FABRIC_COUNT && good; ++k) {
        good = !measure_fabric(bench, &FABRICS[k], &WAYS[0], &all).failed;
    }
    double each = 1.0e6 / fmax(all.solves, 1.0);
    printf(json ? ", \"solves\": {\"count\": %d, \"contacts\": %.3g, \"exact_us\": %.4g, "
                  "\"active_set_us\": %.4g, \"interior_us\": %.4g, \"unsolved\": %d}"
                : "%d contact problems of these, %.3g contacts each, in us: exact %.4g, active set "
                  "%.4g, interior point %.4g; %d not solved\n",
           all.solves, all.contacts / fmax(all.solves, 1.0), each * all.seconds[0],
           each * all.seconds[1], each * all.seconds[2], all.unsolved);
    for (int k = 0; k < RIVALS; ++k) {
        tdl_friction_solver_destroy(all.solver[k]);
    }
    return good && all.unsolved == 0;
}

static bool run_table3(const Bench* bench) {
    bool json = args_has(bench->args, "json"), failed = false;
    fputs(json ? ", \"table3\": ["
               : "\nS3's Table 3: DIN A2 of 7 x 9 nodes hit by a stick four times in four "
                 "seconds, without friction\nfabric        way               q     strain  "
                 "contacts  unsolved  split   S3's q (cited)\n",
          stdout);
    for (int k = 0; k < FABRIC_COUNT * WAY_COUNT; ++k) {
        const Fabric* fabric = &FABRICS[k / WAY_COUNT];
        const Way* way = &WAYS[k % WAY_COUNT];
        double cited = k % WAY_COUNT == 2 ? fabric->interior : fabric->active;
        Figures f = measure_fabric(bench, fabric, way, NULL);
        failed = failed || f.failed || f.unsolved > 0;
        if (json) {
            printf("%s{\"fabric\": \"%s\", \"way\": \"%s\", \"q\": %.4g, \"strain\": %.3g, "
                   "\"contacts\": %d, \"unsolved\": %d, \"split\": %d, \"failed\": %s, "
                   "\"s3_q\": %g}",
                   k > 0 ? ", " : "", fabric->name, way->name, f.q, f.strain, f.contacts,
                   f.unsolved, f.split, f.failed ? "true" : "false", cited);
        } else {
            printf("%-13s %-10s %9.4f %10.2g %9d %9d %6d %16.3f%s\n", fabric->name, way->name, f.q,
                   f.strain, f.contacts, f.unsolved, f.split, cited, f.failed ? "  failed" : "");
            fflush(stdout);
        }
    }
    fputs(json ? "]" : "", stdout);
    return compare_solvers(bench) && !failed;
}

// --- peers ---------------------------------------------------------------------------------------

// What others take for a simulated second on one processor, s, as reported for 7 x 9, 20 x 30 and
// 40 x 60 nodes: cited, not measured here. A dash: not reported.
typedef struct Peer {
    const char *name, *seconds[3], *note;
} Peer;

static const Peer PEERS[] = {
    {"clothilde-sim, hung",
     {"0.23 to 0.28", "1.1 to 1.3", "5 to 6"},
     "S3's successor; the second of 20 x 33; strains of about 5 %"},
    {"MuJoCo flex", {"1.0", "3.7", "12"}, "stretches by 273 %"},
    {"Bullet", {"0.04", "0.44", "1.9"}, "strain 17 %, sinks by 44 mm"},
    {"S3, hit by a stick", {"0.43 to 0.51", "-", "-"}, "on an i7-8700K"},
};
enum { PEER_COUNT = sizeof PEERS / sizeof *PEERS };

static void print_peers(bool json) {
    fputs(json ? ", \"cited\": ["
               : "\nCited, not measured here: seconds for a simulated second at 7 x 9, 20 x 30, "
                 "40 x 60\n",
          stdout);
    for (int k = 0; k < PEER_COUNT; ++k) {
        const Peer* p = &PEERS[k];
        if (json) {
            printf("%s{\"name\": \"%s\", \"seconds\": [\"%s\", \"%s\", \"%s\"], \"note\": \"%s\"}",
                   k > 0 ? ", " : "", p->name, p->seconds[0], p->seconds[1], p->seconds[2],
                   p->note);
        } else {
            printf("%-20s %13s %11s %7s   %s\n", p->name, p->seconds[0], p->seconds[1],
                   p->seconds[2], p->note);
        }
    }
    fputs(json ? "]" : "", stdout);
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
    } else if (only == NULL || strcmp(only, "table3") != 0) {
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
    fputs(json ? "]" : "", stdout);
    if (only == NULL || !strcmp(only, "table3")) {
        failed =
            !run_table3(&(Bench){
                .args = args, .step = bench.step, .time = args_real(args, "time", TABLE3_TIME)}) ||
            failed;
    }
    print_peers(json);
    fputs(json ? "}\n" : "", stdout);
    return failed ? EXIT_FAILED : EXIT_DONE;
}

static const Option OPTIONS[] = {
    {"case", 'c', OPTION_CHOICE, "hung|hit|ball|table|table3", 0, 0, "only this one; default: all",
     false},
    {"columns", 'n', OPTION_INT, "COUNT", 7, 100,
     "sheets of up to so many columns: 7, 20, 40, 100; default 40", false},
    {"step", 's', OPTION_REAL, "S", 1e-5, 0.1, "length of a step, s; default 0.01", false},
    {"time", 0, OPTION_REAL, "S", 1e-3, 100, "simulated time, s; default 1, of table3 4", false},
    {0},
};

const Command BENCH_CLOTH_COMMAND = {
    .name = "bench cloth",
    .operands = "",
    .summary = "Measure what a simulated second of cloth costs",
    .text =
        "Steps sheets of half a metre by 0.7 m and 7 x 9 to 40 x 60 nodes (100 x 140 with "
        "--columns 100): hung by two corners, hit by a stick, dropped on a ball, lying on a "
        "table where they stick everywhere; friction is 0.3. Prints q, processor time over "
        "simulated time on one thread, the largest strain of any step, the most contacts, "
        "steps whose contacts were not solved, and steps that were split. Then S3's Table 3: a "
        "DIN A2 sheet of each of its fabrics hit by its stick, by our exact response, by S3's "
        "active set and by an interior point on our sheet, and by S3's isometry and active set "
        "together, beside the q that S3 reports; where the stick goes S3 does not say. At the "
        "end what others are reported to take, cited and not measured. Exit status 1 when a run "
        "failed or contacts were not solved.",
    .example = "tendril bench cloth\n"
               "tendril bench cloth --case table3\n"
               "tendril bench cloth --case hung --columns 100 --time 0.2 --json",
    .options = OPTIONS,
    .run = run_bench_cloth,
};
