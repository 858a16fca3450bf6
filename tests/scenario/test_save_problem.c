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
    const char *text, *hdf5;
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
    kept->status = tdl_friction_problem_write(&host, kept->text, solved->problem);
    if (kept->status == TDL_STATUS_OK) {
        kept->status = tdl_friction_problem_write(&host, kept->hdf5, solved->problem);
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
    char path[1024], text[1024], hdf5[1024];
    snprintf(path, sizeof path, "%s/scenes/ropes-over-ball.yaml", getenv("TENDRIL_SOURCE"));
    snprintf(text, sizeof text, "%s", scratch_path(&scratch, "p.dat"));
    snprintf(hdf5, sizeof hdf5, "%s", scratch_path(&scratch, "p.hdf5"));
    static Kept kept;
    kept = (Kept){.text = text, .hdf5 = hdf5, .status = TDL_STATUS_BAD_INPUT};
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
    CHECK_BELOW(solve_again(text, &kept), 1.0e-6);
    CHECK_BELOW(solve_again(hdf5, &kept), 1.0e-6);
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
    CHECK_INT(COMMAND(&scratch, "dfcp", "problems/step-000070-1.hdf5", "--start",
                      "problems/step-000070-1-guess.csv", "--out", "r.csv"),
              0);
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
              3);
    scratch_remove(&scratch);
}
