// The contacts of a step and the bodies that are not linear in it, in turn. (W.10)
//
// A round costs what its linearisation does: A of the bodies, the columns A^-1 H' of all contacts
// and W. So the next one keeps these and changes v_free alone where that leads on fast enough.
#include "world/rounds.h"

#include <string.h>

// Bodies that are not linear are linearised anew with their contacts at most so often in a step,
// until what is left of their own equation is below this, relative.
enum { MAX_ROUNDS = 30 };
static const double ROUND_TOLERANCE = 1.0e-10;

// Where there are sheets, contacts of a round are solved to what bodies were off by, the first time
// to this. (W.32)
static const double ROUGH = 1.0e-3;

// With less than this left a round keeps A, and the next again if that divided it by ten.
static const double SAME_BELOW = 1.0e-5, SAME_GAIN = 0.1;

enum { GRAIN = 4 }; // bodies, as in a step

typedef struct Round {
    TdlWorld* world;
    const BodyStep* step;
} Round;

// Whether a body's own equation is asked in this attempt.
static bool takes_part(const Body* body) {
    return body_has_rounds(body) && (body->touched || body->expects);
}

static void find_residual(void* user, int index, int worker) {
    (void)worker;
    const Round* round = user;
    Body* body = round->world->body[index];
    if (takes_part(body)) {
        double own = body->kind->residual(body, round->step, body->v_free, body->impulse);
        body->residual = isnan(own) ? INFINITY : own;
    }
}

// The largest remainder of the equations of bodies that are not linear, and whose it is.
static double worst_residual(Round* round, Body** whose) {
    TdlWorld* world = round->world;
    double worst = 0.0;
    pool_run(world->pool, world->body_count, GRAIN, find_residual, round);
    *whose = NULL;
    for (int i = 0; i < world->body_count; ++i) {
        Body* body = world->body[i];
        if (takes_part(body) && (*whose == NULL || body->residual > worst)) {
            worst = body->residual;
            *whose = body;
        }
    }
    return worst;
}

// --- v_free of all bodies, one after the other ---------------------------------------------------

static bool is_asked_again(const TdlWorld* world) {
    for (int i = 0; i < world->body_count; ++i) {
        if (body_has_rounds(world->body[i])) {
            return true;
        }
    }
    return false;
}

// --- the next round ------------------------------------------------------------------------------

static void linearise_body(void* user, int index, int worker) {
    (void)worker;
    const Round* round = user;
    Body* body = round->world->body[index];
    if (takes_part(body)) {
        body->kind->predict_again(body, round->step, body->v_free);
    }
}

static void forget_contacts(TdlWorld* world) {
    for (int i = 0; i < world->body_count; ++i) {
        Body* body = world->body[i];
        body->touched = false;
        body->touch = 0.0;
        body->impulse = NULL;
    }
}

// Bodies that are not linear are linearised where they were led; the others are as they were
// predicted. Returns the first that cannot be, or null.
static Body* linearise_again(Round* round) {
    TdlWorld* world = round->world;
    const double* kept = world->free_velocity;
    Body* failed = NULL;
    pool_run(world->pool, world->body_count, GRAIN, linearise_body, round);
    for (int i = 0; i < world->body_count; ++i) {
        Body* body = world->body[i];
        if (takes_part(body)) {
            failed = failed == NULL && body->account.failed ? body : failed;
        } else if (body->dof_count > 0) {
            memcpy(body->v_free, kept, (size_t)body->dof_count * sizeof *kept);
        }
        kept += body->dof_count;
    }
    world_gather_free(world, world->free_velocity);
    forget_contacts(world);
    return failed;
}

// v_free,k+1 = v_free,k + A^-1 (H' r - F(v)), with A as it is. (W.15) False when one of the bodies
// has to be linearised anew: all are, then, from where they were led.
static bool correct(TdlWorld* world) {
    double* kept = world->free_velocity;
    for (int i = 0; i < world->body_count; ++i) {
        const Body* body = world->body[i];
        if (takes_part(body) && (body->kind->correct == NULL || !body->kind->correct(body, kept))) {
            return false;
        }
        kept += body->dof_count;
    }
    world_hand_free(world, world->free_velocity);
    forget_contacts(world);
    return true;
}

static TdlStatus solve_round(Round* round, const ContactsRound* how, Rounds* out) {
    ContactsSolved before = out->solved;
    TdlStatus status = contacts_solve(round->world, round->step, how, &out->solved);
    out->solved.iterations += before.iterations;
    out->solved.build_seconds += before.build_seconds;
    out->solved.solve_seconds += before.solve_seconds;
    ++out->count;
    return status;
}

TdlStatus rounds_solve(TdlWorld* world, const BodyStep* step, Rounds* out) {
    Round round = {world, step};
    *out = (Rounds){0};
    bool asked = is_asked_again(world);
    double tolerance = world->def.contacts.tolerance;
    ContactsRound how = {false,
                         contacts_has_sheets(world->contacts) ? fmax(tolerance, ROUGH) : tolerance};
    if (asked && !tdl_reserve(&world->host.mem, &world->free_velocity, &world->free_capacity,
                              world_dof_count(world), sizeof *world->free_velocity)) {
        return TDL_STATUS_NO_MEMORY;
    }
    if (asked) {
        world_gather_free(world, world->free_velocity);
    }
    for (double before = INFINITY; out->count < MAX_ROUNDS; before = out->residual) {
        TdlStatus status = solve_round(&round, &how, out);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        if (out->solved.imposed) {
            out->ended = true;
            return TDL_STATUS_OK;
        }
        out->residual = asked ? worst_residual(&round, &out->culprit) : 0.0;
        out->ended = !(out->residual > ROUND_TOLERANCE) && how.tolerance <= tolerance;
        if (out->ended) {
            return contacts_push(world);
        }
        how.tolerance = fmin(fmax(tolerance, out->residual), how.tolerance);
        how.same =
            out->residual < SAME_BELOW && out->residual <= SAME_GAIN * before && correct(world);
        Body* failed = how.same ? NULL : linearise_again(&round);
        if (failed != NULL) {
            out->culprit = failed;
            return TDL_STATUS_OK;
        }
    }
    return TDL_STATUS_OK;
}
