// A solver of one's own: an island as the public header shows it, and what its solver asks back.
#include "friction/run.h"

#include <string.h>

typedef struct Own {
    Run* run;
    int end; // iterations at which there are no more
    double* u;
} Own;

void tdl_friction_island_velocity(const TdlFrictionIsland* island, const double* r, double* u) {
    const Own* own = island->inside;
    system_velocity(own->run->sys, r, u);
}

bool tdl_friction_island_offer(TdlFrictionIsland* island, const double* r) {
    Own* own = island->inside;
    Run* run = own->run;
    system_velocity(run->sys, r, own->u);
    island->error = run_offer(run, own->u, r);
    run_count(run, TDL_FRICTION_OWN, r);
    return !run_done(run) && run->iterations < own->end;
}

TdlStatus run_own(Run* run) {
    const System* sys = run->sys;
    ArenaMark mark = arena_mark(run->arena);
    size_t n = (size_t)sys->n, size = run_size(run);
    Own own = {run, run->iterations + run->limit, ARENA_NEW(run->arena, double, size)};
    unsigned char* bilateral = ARENA_NEW(run->arena, unsigned char, n);
    double* start = ARENA_NEW(run->arena, double, size);
    if (own.u == NULL || bilateral == NULL || start == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < n; ++i) {
        bilateral[i] = sys->law[i] == LAW_BILATERAL;
    }
    memcpy(start, run->best, size * sizeof(double)); // the best moves on
    TdlFrictionIsland island = {.block_size = sys->d,
                                .contact_count = sys->n,
                                .contact = sys->contact,
                                .mu = sys->mu,
                                .bilateral = bilateral,
                                .b = sys->b,
                                .row_start = sys->start,
                                .column = sys->column,
                                .blocks = sys->blocks,
                                .start = start,
                                .target = sys->target,
                                .error = run->error,
                                .max_iterations = run->limit,
                                .inside = &own};
    TdlStatus status = run->options->own(run->options->own_user, &island);
    arena_release(run->arena, mark);
    return status;
}
