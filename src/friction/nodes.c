// Bodies that have their A: Newton steps over nodes come first, since they are cheap there and
// sweeps, which go from node to neighbour, are not. friction.md section 4.13
#include "friction/nodal_matrix.h"

// Where W is singular many impulses give the same velocities, and Newton steps from zero change the
// modes of contacts one by one: interior points come before them, until the error is this part of
// what it was. So many of them; stuck ones leave it to what follows.
static const double NEAR_PART = 1.0e-4;
enum { INSIDE_STEPS = 40 };
// Newton steps, of which 3 to 60 do.
enum { STEPS = 100 };

// Diagonal of A over its mass up to which sweeps over nodes come first, and how many: below, they
// take a third of the time of Newton steps at most. `bench friction --ratios`
static const double SOFT = 200.0;
enum { SOFT_SWEEPS = 300 };

static TdlStatus sweep_soft(Run* run) {
    int limit = run->limit;
    run->limit = limit < SOFT_SWEEPS ? limit : SOFT_SWEEPS;
    TdlStatus status = run_nodal(run);
    run->limit = limit;
    return status;
}

static TdlStatus go_inside(Run* run) {
    double target = run->sys->target;
    int limit = run->limit;
    run->sys->target = fmax(target, NEAR_PART * run->error);
    run->limit = limit < INSIDE_STEPS ? limit : INSIDE_STEPS;
    TdlStatus status = run_interior(run);
    run->limit = limit;
    run->sys->target = target;
    return status;
}

TdlStatus run_nodes(Run* run) {
    const System* sys = run->sys;
    if (!nodal_matrix_fits(run)) {
        return TDL_STATUS_OK;
    }
    if (primal_stiffness(run) < SOFT) {
        TdlStatus status = sweep_soft(run);
        if (status != TDL_STATUS_OK || run_done(run)) {
            return status;
        }
    }
    bool singular = run_size(run) > (size_t)system_coordinates(sys);
    TdlStatus status = singular && !run->warm ? go_inside(run) : TDL_STATUS_OK;
    if (status != TDL_STATUS_OK || run_done(run)) {
        return status;
    }
    int limit = run->limit;
    run->limit = limit < STEPS ? limit : STEPS;
    status = run_proximal(run);
    run->limit = limit;
    return status;
}
