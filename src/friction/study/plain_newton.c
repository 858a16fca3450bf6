// The nonsmooth Newton method of S1 as it stands: algorithm 1, without regularisation.
#include "friction/newton.h"
#include "friction/study/study.h"

TdlStatus run_newton(Run* run) {
    ArenaMark mark = arena_mark(run->arena);
    Newton nw;
    TdlStatus status = newton_init(&nw, run);
    if (status != TDL_STATUS_OK) {
        arena_release(run->arena, mark);
        return status == TDL_STATUS_STOPPED ? TDL_STATUS_OK : status;
    }
    system_velocity(run->sys, nw.r, nw.u);
    double q = newton_merit(&nw, nw.u, nw.r, nw.f);
    for (int k = 0; k < run->limit && !run_done(run); ++k) {
        q = newton_step(&nw, q);
        ++run->iterations;
        if (q < 0.0) {
            break;
        }
        run_offer(run, nw.u, nw.r);
    }
    arena_release(run->arena, mark);
    return TDL_STATUS_OK;
}
