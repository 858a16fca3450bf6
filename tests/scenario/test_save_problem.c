// Contact problems of a simulation, saved and solved again alone.
#include "command.h"
#include "tendril/formats.h"
#include "tendril/run.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 3000 };

typedef struct Kept {
    const char* path[3]; // text, FCLIB, bodies
    int count;
    double r[MOST], guess[MOST];
    double unit;
    TdlFrictionInfo info;
    TdlStatus status;
} Kept;

static void keep(void* user, const TdlContactProblem* solved) {
    Kept* kept = user;
    TdlHost host = tdl_host_default();
    int n = tdl_friction_problem_size(solved->problem).contact_count;
    if (solved->step != 60 || 3 * n > MOST) {
        return;
    }
    kept->count = n;
    kept->unit = solved->unit;
    kept->info = solved->info;
    memcpy(kept->r, solved->r, 3 * (size_t)n * sizeof(double));
    memcpy(kept->guess, solved->guess, 3 * (size_t)n * sizeof(double));
    kept->status = TDL_STATUS_OK;
    for (int k = 0; k < 3 && kept->status == TDL_STATUS_OK; ++k) {
        kept->status =
            tdl_friction_problem_write(&host, kept->path[k], solved->problem, solved->guess);
    }
}

// Solves a file from zero and measures how far the impulses are from those of the simulation.
static double solve_again(const char* path, const Kept* kept) {
    TdlHost host = tdl_host_default();
    TdlFrictionProblem* problem;
    TdlFrictionSolver* solver;
    TdlFrictionOptions options = tdl_friction_options_default();
    TdlFrictionInfo info = {0};
    double r[MOST] = {0}, far = 0.0, size = 0.0;
    options.tolerance = 1.0e-11;
    if (tdl_friction_problem_read(&host, path, &problem) != TDL_STATUS_OK ||
        tdl_friction_problem_size(problem).contact_count != kept->count) {
        return HUGE_VAL;
    }
    // what the simulation found solves the problem as it was read
    CHECK_BELOW(tdl_friction_error(problem, TDL_FRICTION_ERROR_NATURAL, true, kept->r), 1.0e-8);
    CHECK_INT(tdl_friction_solver_create(&host, &options, &solver), TDL_STATUS_OK);
    CHECK_INT(tdl_friction_solver_solve(solver, problem, r, NULL, &info), TDL_STATUS_OK);
    CHECK_INT(info.outcome, TDL_FRICTION_CONVERGED);
    for (int k = 0; k < 3 * kept->count; ++k) {
        far += (r[k] - kept->r[k]) * (r[k] - kept->r[k]);
        size += r[k] * r[k];
    }
    tdl_friction_solver_destroy(solver);
    tdl_friction_problem_destroy(problem);
    return sqrt(far / size);
}

TEST(a_saved_problem_has_the_same_solution) {
    Scratch scratch = scratch_make();
    static const char* const names[3] = {"p.dat", "p.fclib.hdf5", "p.hdf5"};
    char path[1024], files[3][1024];
    snprintf(path, sizeof path, "%s/scenes/ropes-over-ball.yaml", getenv("TENDRIL_SOURCE"));
    static Kept kept;
    kept = (Kept){.status = TDL_STATUS_BAD_INPUT};
    for (int k = 0; k < 3; ++k) {
        snprintf(files[k], sizeof files[k], "%s", scratch_path(&scratch, names[k]));
        kept.path[k] = files[k];
    }
    TdlHost host = tdl_host_default();
    TdlScene* scene;
    TdlWorld* world;
    CHECK_INT(tdl_scene_load(&host, path, NULL, 0, &scene), TDL_STATUS_OK);
    CHECK_INT(tdl_scene_build(scene, 1, &world), TDL_STATUS_OK);
    tdl_world_watch_problems(world, keep, &kept);
    for (int i = 0; i < 60; ++i) {
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
    }
    CHECK_INT(kept.status, TDL_STATUS_OK);
    CHECK(kept.count >= 7);
    // impulses are defined to about the solver's tolerance times the condition of W, below 100
    for (int k = 0; k < 3; ++k) {
        CHECK_BELOW(solve_again(files[k], &kept), 1.0e-6);
    }
    // and in N s they are those of the forces on the bodies
    int count;
    const TdlContactForce* forces = tdl_world_contact_forces(world, &count);
    CHECK_INT(count, kept.count);
    double dt = tdl_world_def(world).step;
    for (int i = 0; i < count && i < kept.count; ++i) {
        CHECK_NEAR(tdl_dot3(forces[i].force, forces[i].normal) * dt, kept.r[3 * i] * kept.unit,
                   1.0e-12 * (1.0e-6 + kept.r[3 * i] * kept.unit));
    }
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
    scratch_remove(&scratch);
}

// --- the same bits -------------------------------------------------------------------------------

typedef struct Replayed {
    const char* path;
    TdlContactDef contacts; // of the world, whose solver is taken
    long first;             // step
    int count, converged, whitened;
    int alike; // rows of Y that are others than those of H, and about the same
    int again; // of these another of the same step: the same rows, other velocities
    long last; // step
    int off;   // problems that came back otherwise, or with another solution
    int contacts_most;
} Replayed;

// One value, or two nulls.
static bool same_values(const double* a, const double* b, size_t count) {
    return (a == NULL) == (b == NULL) && (a == NULL || memcmp(a, b, count * sizeof(double)) == 0);
}

// Solves what was written and read again as the world has, from the guess in the file.
static bool solve_as_world(const Replayed* x, const TdlFrictionProblem* problem, double* r) {
    TdlHost host = tdl_host_default();
    TdlFrictionOptions options = tdl_friction_options_default();
    TdlFrictionSolver* solver;
    TdlFrictionInfo info;
    options.solver = x->contacts.solver;
    options.tolerance = x->contacts.tolerance;
    options.max_iterations = x->contacts.max_iterations;
    options.threads = 2;
    CHECK_INT(tdl_friction_solver_create(&host, &options, &solver), TDL_STATUS_OK);
    CHECK_INT(tdl_friction_solver_solve(solver, problem, r, NULL, &info), TDL_STATUS_OK);
    tdl_friction_solver_destroy(solver);
    return info.outcome == TDL_FRICTION_CONVERGED;
}

static void replay(void* user, const TdlContactProblem* solved) {
    Replayed* x = user;
    TdlHost host = tdl_host_default();
    TdlFrictionProblem* again;
    if (solved->step < x->first) {
        return;
    }
    CHECK_INT(tdl_friction_problem_write(&host, x->path, solved->problem, solved->guess),
              TDL_STATUS_OK);
    REQUIRE(tdl_friction_problem_read(&host, x->path, &again) == TDL_STATUS_OK);
    TdlFrictionBodiesDef was = tdl_friction_problem_bodies(solved->problem);
    TdlFrictionBodiesDef is = tdl_friction_problem_bodies(again);
    size_t size = 3 * (size_t)was.laws.contact_count;
    CHECK_INT(is.laws.contact_count, was.laws.contact_count);
    bool same = same_values(is.laws.guess, solved->guess, size) &&
                same_values(is.velocity, was.velocity, (size_t)was.dof_start[was.body_count]) &&
                same_values(tdl_friction_problem_matrix(again).b,
                            tdl_friction_problem_matrix(solved->problem).b, size);
    double* r = malloc((size + 1) * sizeof(double));
    memcpy(r, is.laws.guess, size * sizeof(double));
    // where the world's first solver did not do, it went on with another
    bool converged = solve_as_world(x, again, r);
    same = same && (!converged || memcmp(r, solved->r, size * sizeof(double)) == 0);
    x->off += !same;
    x->converged += converged;
    x->again += x->last == solved->step;
    x->last = solved->step;
    x->whitened += is.y == is.h;
    x->alike += is.y_like_h;
    x->contacts_most =
        was.laws.contact_count > x->contacts_most ? was.laws.contact_count : x->contacts_most;
    ++x->count;
    free(r);
    tdl_friction_problem_destroy(again);
}

static Replayed replay_scene(const Scratch* scratch, const char* name, long first, long last) {
    TdlHost host = tdl_host_default();
    TdlScene* scene;
    TdlWorld* world;
    char path[1024];
    Replayed x = {.path = scratch_path(scratch, "again.hdf5"), .first = first};
    snprintf(path, sizeof path, "%s/scenes/%s.yaml", getenv("TENDRIL_SOURCE"), name);
    CHECK_INT(tdl_scene_load(&host, path, NULL, 0, &scene), TDL_STATUS_OK);
    CHECK_INT(tdl_scene_build(scene, 1, &world), TDL_STATUS_OK);
    x.contacts = tdl_world_def(world).contacts;
    tdl_world_watch_problems(world, replay, &x);
    for (long i = 0; i < last; ++i) {
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
    }
    printf("  %s: %d problems of up to %d contacts, %d whitened, %d with signs, %d converged\n",
           name, x.count, x.contacts_most, x.whitened, x.alike, x.converged);
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
    return x;
}

TEST(what_is_saved_is_solved_with_the_same_bits) {
    static const struct {
        const char* name;
        long first, last;
    } scenes[] = {{"ropes-over-ball", 56, 160}, {"spaghetti", 40, 60}, {"self-stacking", 330, 350}};
    Scratch scratch = scratch_make();
    int whitened = 0, alike = 0, others = 0, again = 0;
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; ++k) {
        Replayed x = replay_scene(&scratch, scenes[k].name, scenes[k].first, scenes[k].last);
        CHECK_INT(x.off, 0);
        whitened += x.whitened;
        alike += x.alike;
        others += x.count - x.whitened - x.alike;
        again += x.again;
    }
    CHECK(whitened >= 30);
    CHECK(alike >= 20);
    CHECK(others >= 20);
    CHECK(again > 0);
    scratch_remove(&scratch);
}

TEST(run_saves_problems_that_dfcp_solves) {
    Scratch scratch = scratch_make();
    char scene[1024];
    snprintf(scene, sizeof scene, "%s/scenes/ropes-over-ball.yaml", getenv("TENDRIL_SOURCE"));
    CHECK_INT(COMMAND(&scratch, "run", scene, "-o", "a", "--set", "time.end=0.14", "--save-problem",
                      "56-70/7=problems"),
              0);
    CHECK(command_wrote(&scratch, "stderr", "problems: 3 contact problems saved"));
    CHECK_INT(COMMAND(&scratch, "dfcp", "problems/step-000056-1.hdf5",
                      "problems/step-000063-1.hdf5", "problems/step-000070-1.hdf5", "--json"),
              0);
    CHECK_INT(COMMAND(&scratch, "dfcp", "problems/step-000070-1.hdf5", "--out", "r.csv"), 0);
    // the guess is in the file, and may be left aside
    CHECK_INT(COMMAND(&scratch, "dfcp", "problems/step-000070-1.hdf5", "--save-problem", "w.dat"),
              0);
    CHECK_INT(COMMAND(&scratch, "dfcp", "problems/step-000070-1.hdf5", "--start", "zero"), 0);
    CHECK_INT(COMMAND(&scratch, "dfcp", "w.dat", "--start", "r.csv"), 0);
    CHECK(command_wrote(&scratch, "stdout", " 0 iterations"));
    CHECK_INT(COMMAND(&scratch, "bench", "friction", "problems/step-000070-1.hdf5", "--guess",
                      "--auto-only", "--no-peers"),
              0);
    CHECK(command_wrote(&scratch, "stdout", "1 problems, 0 not solved"));
    // from the solution there is nothing left to do
    CHECK_INT(COMMAND(&scratch, "dfcp", "problems/step-000070-1.hdf5", "--start", "r.csv"), 0);
    CHECK(command_wrote(&scratch, "stdout", " 0 iterations"));
    CHECK_INT(COMMAND(&scratch, "dfcp", "problems/step-000070-1.hdf5", "--start",
                      "problems/problems.csv"),
              3);
    CHECK_INT(COMMAND(&scratch, "run", scene, "-o", "b", "--set", "time.end=0.14", "--quiet",
                      "--save-problem", "all=one.dat"),
              0);
    CHECK_INT(COMMAND(&scratch, "dfcp", "one.dat"), 0);
    static const char* const wrong[] = {"5",           "0=p.dat", "7-3=p.dat",
                                        "3-7/0=p.dat", "x=p.dat", "4="};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        CHECK_INT(COMMAND(&scratch, "run", scene, "-o", "c", "--save-problem", wrong[k]), 2);
    }
    CHECK_INT(COMMAND(&scratch, "run", scene, "-o", "d", "--set", "time.end=0.14", "--save-problem",
                      "60=missing/folder/p.dat"),
              1);
    scratch_remove(&scratch);
}
