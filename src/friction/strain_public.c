// The public call for rows of strain: nodes and rows alone, without contacts.
#include "tendril/strain.h"

#include "base/log.h"
#include "friction/strain.h"

#include <math.h>

struct TdlStrainSolver {
    TdlHost host;
    Pool* pool;
    StrainSolver* inside;
    double* bias; // zeros for problems that have none
    int bias_count;
};

void tdl_strain_solver_destroy(TdlStrainSolver* solver) {
    if (solver != NULL) {
        TdlAllocator mem = solver->host.mem;
        strain_solver_destroy(solver->inside);
        pool_destroy(solver->pool);
        tdl_free(&mem, solver->bias);
        tdl_free(&mem, solver);
    }
}

TdlStatus tdl_strain_solver_create(const TdlHost* host, int threads, TdlStrainSolver** out) {
    TdlStrainSolver* solver = tdl_alloc_zero(&host->mem, sizeof *solver);
    if (solver == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    solver->host = *host;
    TdlStatus status = pool_create(host, threads, &solver->pool);
    if (status == TDL_STATUS_OK) {
        status = strain_solver_create(host, solver->pool, &solver->inside);
    }
    if (status != TDL_STATUS_OK) {
        tdl_strain_solver_destroy(solver);
        return status;
    }
    *out = solver;
    return TDL_STATUS_OK;
}

static bool sizes_are_good(const TdlStrainDef* def, double tolerance, int max_iterations) {
    return (def->dimension == 2 || def->dimension == 3) && def->node_count >= 0 &&
           def->row_count >= 0 && tolerance > 0.0 && max_iterations >= 0;
}

TdlStatus tdl_strain_solve(TdlStrainSolver* solver, const TdlStrainDef* def, double tolerance,
                           int max_iterations, double allowed, double* impulse, double* velocity,
                           TdlStrainInfo* info) {
    *info = (TdlStrainInfo){0};
    if (!sizes_are_good(def, tolerance, max_iterations)) {
        return tdl_fail(&solver->host, TDL_STATUS_BAD_ARGUMENT,
                        "dimension %d is not 2 or 3, or a number is below 0", def->dimension);
    }
    if (def->bias == NULL && def->row_count > solver->bias_count) {
        tdl_free(&solver->host.mem, solver->bias);
        solver->bias =
            tdl_alloc_array(&solver->host.mem, (size_t)def->row_count, sizeof *solver->bias);
        solver->bias_count = solver->bias == NULL ? 0 : def->row_count;
        if (solver->bias == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
    }
    BodyStrain bed = {
        .rows = {def->dimension, def->row_count, def->near, def->node, def->g, def->mu,
                 def->bias == NULL ? solver->bias : def->bias, def->colour, def->colour_count,
                 impulse},
        .node_count = def->node_count,
        .mass = def->mass,
    };
    StrainProblem problem = {.bed = &bed, .v = def->velocity, .unit = 1.0};
    StrainAim aim = {.tolerance = tolerance, .max_iterations = max_iterations, .allowed = allowed};
    StrainInfo found;
    double none[1] = {0.0};
    TdlStatus status =
        strain_solve(solver->inside, &problem, &aim, none, none, velocity, none, &found);
    *info = (TdlStrainInfo){found.converged, found.iterations, found.error, found.work};
    return status;
}
