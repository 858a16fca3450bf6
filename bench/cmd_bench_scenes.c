// tendril bench scenes: the scenes of S1 again, one row each, beside the seconds of its Table I.
#include "app/command.h"
#include "tendril/math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATH_SIZE = 4096, OVERRIDES_MAX = 4 };

// A row: a scene with its overrides, and what S1 reports of it.
typedef struct Row {
    const char *name, *file;
    const char* overrides[OVERRIDES_MAX];
    double quick;         // share of the scene's steps that --quick takes
    int paper_contacts;   // 0: S1's table has no such row
    double paper_nu;      // largest
    double paper_seconds; // mean of a step
} Row;

static const Row ROWS[] = {
    {"plectoneme", "plectoneme.yaml", {0}, 0.25, 18, 0.9, 0.04},
    {"tight knot", "knot.yaml", {0}, 0.1, 8, 0.4, 0.033},
    {"wavy hair, mu 0", "wavy-hair.yaml", {"contacts.friction=0"}, 0.1, 392, 0.58, 2.6},
    {"wavy hair", "wavy-hair.yaml", {0}, 0.1, 380, 0.57, 41.2},
    {"self-stacking", "self-stacking.yaml", {0}, 0.35, 303, 1.18, 0.31},
    {"7 spaghetti", "corde-spaghetti.yaml", {0}, 0.05, 121, 1.08, 0.36},
    {"31 spaghetti, mu 0", "spaghetti.yaml", {"contacts.friction=0"}, 0.05, 0, NAN, NAN},
    {"31 spaghetti", "spaghetti.yaml", {0}, 0.05, 653, 1.32, 2.26},
    {"76 spaghetti",
     "spaghetti.yaml",
     {"rods.spaghetti.curves.limit=76", "rods.spaghetti.elements=21"},
     0.05,
     1806,
     1.08,
     19.1},
    {"turning sphere", "rotating-sphere.yaml", {0}, 0.2, 0, NAN, NAN},
    {"double loop", "double-loop.yaml", {0}, 0.2, 0, NAN, NAN},
    {"ropes over a ball", "ropes-over-ball.yaml", {0}, 0.2, 0, NAN, NAN},
    {"crossed layers", "crossed-layers.yaml", {0}, 0.1, 0, NAN, NAN},
    {"crossed layers",
     "crossed-layers.yaml",
     {"rods.along.elements=20", "rods.across.elements=20"},
     0.1,
     0,
     NAN,
     NAN},
    {"capstan", "capstan.yaml", {0}, 1.0, 0, NAN, NAN},
    {"capstan, mu 0.3", "capstan.yaml", {"contacts.friction=0.3"}, 1.0, 0, NAN, NAN},
    {"capstan, mu 0.7", "capstan.yaml", {"contacts.friction=0.7"}, 0.5, 0, NAN, NAN},
};
enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

typedef struct Figures {
    int rods, elements; // elements of one rod
    double mu, step;    // s
    long steps, unsolved;
    int contacts;   // most in a step
    double nu;      // most: three rows a contact over the coordinates of rods and bodies
    double seconds; // mean of a step
    double first, median, most; // s, of a step
    double error;               // largest of the solver
    double deepest;             // m, least gap
    double cone;                // most that a force left Coulomb's cone by, relative to its size
} Figures;

// Seconds this thread has worked: other programs on the machine do not count.
static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1.0e-9 * (double)t.tv_nsec;
}

// Coordinates as S1 counts them: three a node or element, six a rigid body.
static double coordinates(const TdlScene* scene) {
    TdlSceneInfo info = tdl_scene_info(scene);
    double sum = 6.0 * info.rigid_count;
    for (int i = 0; i < info.rod_group_count; ++i) {
        TdlSceneRods rods = tdl_scene_rods(scene, i);
        bool nodal = strncmp(rods.model, "super", 5) != 0;
        sum += 3.0 * rods.count * (rods.element_count + nodal);
    }
    return sum;
}

// How far the forces of the last step leave their cones: |f_T| - mu f_N and -f_N over |f|, the
// most.
static double cone_violation(const TdlWorld* world) {
    int count;
    const TdlContactForce* c = tdl_world_contact_forces(world, &count);
    double worst = 0.0;
    for (int i = 0; i < count; ++i) {
        double normal = tdl_dot3(c[i].force, c[i].normal), size = tdl_norm3(c[i].force);
        double along = tdl_norm3(tdl_axpy3(c[i].force, -normal, c[i].normal));
        if (size > 0.0) {
            worst = fmax(worst, fmax(along - c[i].mu * normal, -normal) / size);
        }
    }
    return worst;
}

static int compare_times(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// Of the seconds of all steps.
static void sum_up_times(double* took, Figures* out) {
    double used = 0.0;
    for (long i = 0; i < out->steps; ++i) {
        used += took[i];
    }
    if (out->steps > 0) {
        out->first = took[0];
        qsort(took, (size_t)out->steps, sizeof *took, compare_times);
        out->median = took[out->steps / 2];
        out->most = took[out->steps - 1];
    }
    out->seconds = out->steps == 0 ? NAN : used / (double)out->steps;
}

static TdlStatus step_through(TdlWorld* world, long steps, Figures* out) {
    TdlStatus status = TDL_STATUS_OK;
    double* times = malloc((size_t)(steps > 0 ? steps : 1) * sizeof *times);
    if (times == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    while (out->steps < steps && status == TDL_STATUS_OK) {
        TdlStepInfo info;
        double start = cpu_now();
        status = tdl_world_step(world, &info);
        if (status == TDL_STATUS_OK) {
            times[out->steps++] = cpu_now() - start;
            out->unsolved += info.unsolved > 0;
            out->contacts = info.contact_count > out->contacts ? info.contact_count : out->contacts;
            out->error = fmax(out->error, info.error);
            out->deepest = fmin(out->deepest, info.deepest);
            out->cone = fmax(out->cone, cone_violation(world));
        }
    }
    sum_up_times(times, out);
    free(times);
    return status;
}

static TdlStatus measure(const Args* args, const Row* row, Figures* out) {
    char path[PATH_SIZE], tolerance[64];
    const char* overrides[OVERRIDES_MAX + 1] = {tolerance};
    int count = 0;
    TdlScene* scene = NULL;
    TdlWorld* world = NULL;
    snprintf(path, sizeof path, "%s/%s", args_text(args, "scenes", "scenes"), row->file);
    snprintf(tolerance, sizeof tolerance, "contacts.tolerance=%.17g",
             args_real(args, "tolerance", 1.0e-6));
    for (; count < OVERRIDES_MAX && row->overrides[count] != NULL; ++count) {
        overrides[count + 1] = row->overrides[count];
    }
    *out = (Figures){0};
    TdlStatus status = tdl_scene_load(args_host(args), path, overrides, count + 1, &scene);
    if (status == TDL_STATUS_OK) {
        TdlSceneInfo info = tdl_scene_info(scene);
        double share = args_has(args, "quick") ? row->quick : 1.0;
        out->rods = info.rod_count;
        out->elements = info.rod_group_count == 0 ? 0 : tdl_scene_rods(scene, 0).element_count;
        out->mu = tdl_scene_contacts(scene).friction;
        out->step = info.step;
        status = tdl_scene_build(scene, 1, &world);
        if (status == TDL_STATUS_OK) {
            status = step_through(world, lround(share * info.end / info.step), out);
        }
        out->nu = 3.0 * out->contacts / coordinates(scene);
    }
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
    return status;
}

static void print_plain(const Row* row, const Figures* f) {
    printf("%-19s %4d %4d %4.1f %6.2f %6ld %8d %5.2f %9.2f %9.2f %9.2f %9.1f %8.1e %8ld %8.1e",
           row->name, f->rods, f->elements, f->mu, 1.0e3 * f->step, f->steps, f->contacts, f->nu,
           1.0e3 * f->seconds, 1.0e3 * f->first, 1.0e3 * f->median, 1.0e3 * f->most, f->error,
           f->unsolved, f->cone);
    if (row->paper_contacts > 0) {
        printf(" %8d %5.2f %9.0f %6.0f\n", row->paper_contacts, row->paper_nu,
               1.0e3 * row->paper_seconds, row->paper_seconds / f->seconds);
    } else {
        printf(" %8s %5s %9s %6s\n", "-", "-", "-", "-");
    }
}

static void print_json(const Row* row, const Figures* f) {
    printf("{\"scene\": \"%s\", \"rods\": %d, \"elements\": %d, \"mu\": %g, \"step\": %g, "
           "\"steps\": %ld, \"max_contacts\": %d, \"max_nu\": %.4g, \"step_seconds\": %.4g, "
           "\"first_seconds\": %.4g, \"median_seconds\": %.4g, \"most_seconds\": %.4g, "
           "\"max_error\": %.3g, \"unsolved_steps\": %ld, \"deepest\": %.3g, "
           "\"cone\": %.3g, ",
           row->name, f->rods, f->elements, f->mu, f->step, f->steps, f->contacts, f->nu,
           f->seconds, f->first, f->median, f->most, f->error, f->unsolved, f->deepest, f->cone);
    if (row->paper_contacts > 0) {
        printf("\"paper_contacts\": %d, \"paper_nu\": %g, \"paper_seconds\": %g}",
               row->paper_contacts, row->paper_nu, row->paper_seconds);
    } else {
        printf("\"paper_contacts\": null, \"paper_nu\": null, \"paper_seconds\": null}");
    }
}

static int run_bench_scenes(const Args* args) {
    bool json = args_has(args, "json");
    const char* only = args_text(args, "only", NULL);
    int shown = 0;
    TdlStatus status = TDL_STATUS_OK;
    if (json) {
        printf("{\"rows\": [");
    } else {
        printf("%-19s %4s %4s %4s %6s %6s %8s %5s %9s %9s %9s %9s %8s %8s %8s %8s %5s %9s %6s\n",
               "scene", "rods", "each", "mu", "dt/ms", "steps", "contacts", "nu", "step/ms",
               "first/ms", "median/ms", "most/ms", "error", "unsolved", "cone", "S1: cts", "nu",
               "step/ms", "ratio");
    }
    for (int i = 0; i < ROW_COUNT && status == TDL_STATUS_OK; ++i) {
        Figures figures;
        if (only != NULL && strcmp(only, ROWS[i].file) != 0) {
            continue;
        }
        status = measure(args, &ROWS[i], &figures);
        if (status == TDL_STATUS_OK) {
            printf("%s", json && shown > 0 ? ", " : "");
            json ? print_json(&ROWS[i], &figures) : print_plain(&ROWS[i], &figures);
            fflush(stdout);
            ++shown;
        }
    }
    if (json) {
        printf("]}\n");
    }
    if (status == TDL_STATUS_OK && shown == 0) {
        return usage_error(args, "no scene of the benchmark is called '%s'", only);
    }
    return exit_code(status);
}

static const Option OPTIONS[] = {
    {"quick", 0, OPTION_SWITCH, NULL, 0, 0, "only the first part of each scene", false},
    {"scenes", 's', OPTION_FILE, "DIR", 0, 0, "where the scenes are; default scenes", false},
    {"only", 0, OPTION_TEXT, "FILE", 0, 0, "only the rows of this scene, such as knot.yaml", false},
    {"tolerance", 'e', OPTION_REAL, "E", 1.0e-15, 1.0,
     "relative error at which the contact solver stops; default 1e-6", false},
    {0},
};

const Command BENCH_SCENES_COMMAND = {
    .name = "bench scenes",
    .operands = "",
    .summary = "Run the scenes of rods in contact, beside published seconds",
    .text = "Steps each scene on one thread and prints rods, elements of each, friction, step, "
            "the most contacts in a step, the largest nu (three times the contacts over three "
            "times the nodes or elements), the mean processor time of a step, that of the first, "
            "the median and the most, the largest "
            "relative error of the contact solver, the steps in which it missed its tolerance, and "
            "the most by which a force left Coulomb's cone, relative to its size; beside them "
            "contacts, nu and mean time of S1's Table I, whose machine had one core "
            "at 2.1 GHz, and the ratio of the times. S1's solver stopped at a relative error of "
            "1e-3.",
    .example = "tendril bench scenes\n"
               "tendril bench scenes --quick --json\n"
               "tendril bench scenes --only spaghetti.yaml",
    .options = OPTIONS,
    .run = run_bench_scenes,
};
