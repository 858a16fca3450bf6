// The contacts of a step and the bodies that are not linear in it, in turn. (W.10)
//
// A round costs what its linearisation does: A of the bodies, the columns A^-1 H' of all contacts
// and W. So the next one keeps these and changes v_free alone where that leads on fast enough.
#include "world/rounds.h"

#include "world/answer.h"

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

// What joints are off where a step ends, relative. It is found from poses, which are known to some
// roundings.
static const double JOINTS_CLOSED = 1.0e-12;

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
        body->touch = body->pressed = 0.0;
        body->impulse = NULL;
    }
}

// Bodies that are not linear are linearised where they were led; the others are as they were
// predicted. Returns the first that cannot be, or null.
static Body* linearise_again(Round* round) {
    TdlWorld* world = round->world;
    Body* failed = NULL;
    pool_run(world->pool, world->body_count, GRAIN, linearise_body, round);
    for (int i = 0; i < world->body_count; ++i) {
        Body* body = world->body[i];
        if (takes_part(body)) {
            failed = failed == NULL && body->account.failed ? body : failed;
        } else if (body->dof_count > 0) {
            memcpy(body->v_free, world->free_velocity + body->dof_at,
                   (size_t)body->dof_count * sizeof *body->v_free);
        }
    }
    world_gather_free(world, world->free_velocity);
    forget_contacts(world);
    return failed;
}

// v_free,k+1 = v_free,k + A^-1 (H' r - F(v)), with A as it is. (W.15) False when one of the bodies
// has to be linearised anew: all are, then, from where they were led.
static bool correct(TdlWorld* world) {
    for (int i = 0; i < world->body_count; ++i) {
        const Body* body = world->body[i];
        if (takes_part(body) && (body->kind->correct == NULL ||
                                 !body->kind->correct(body, world->free_velocity + body->dof_at))) {
            return false;
        }
    }
    world_hand_free(world, world->free_velocity);
    forget_contacts(world);
    return true;
}

// Joints, then contacts between what they hold together, then what that makes of the joints.
static TdlStatus solve_round(Round* round, const ContactsRound* how, JointsOff* joints,
                             Rounds* out) {
    TdlWorld* world = round->world;
    ContactsSolved before = out->solved;
    ContactsRound own = *how;
    own.allowed = fmax(0.0, round->step->allowed - before.effort);
    TdlStatus status = TDL_STATUS_OK;
    *joints = (JointsOff){0};
    ++out->count;
    if (joints_act(world)) {
        answer_forget_felt(world);
        status = joints_apply(world, round->step, out->count == 1);
    }
    if (status == TDL_STATUS_OK && world->contacts != NULL && contacts_ask(world->contacts)) {
        status = contacts_solve(world, round->step, &own, &out->solved);
        out->solved.iterations += before.iterations;
        out->solved.effort += before.effort;
        out->solved.build_seconds += before.build_seconds;
        out->solved.solve_seconds += before.solve_seconds;
    }
    if (status == TDL_STATUS_OK && joints_act(world)) {
        status = joints_answer(world, round->step, joints);
    }
    return status;
}

// Room for v_free of all bodies, where it is asked for again.
static TdlStatus keep_free(TdlWorld* world) {
    if (!tdl_reserve(&world->host.mem, &world->free_velocity, &world->free_capacity,
                     world_dof_count(world), sizeof *world->free_velocity)) {
        return TDL_STATUS_NO_MEMORY;
    }
    world_gather_free(world, world->free_velocity);
    return TDL_STATUS_OK;
}

// What the next round is about: v_free alone, or all anew. Null: it can be made; else whose fault
// it is that it cannot.
static TdlStatus begin_again(Round* round, ContactsRound* how, const JointsOff* joints,
                             double before, Rounds* out) {
    TdlWorld* world = round->world;
    bool gains = out->residual <= SAME_GAIN * before || out->residual <= ROUND_TOLERANCE;
    how->same = !joints->changed && out->residual < SAME_BELOW && gains && correct(world);
    if (how->same) {
        return TDL_STATUS_OK;
    }
    Body* failed = linearise_again(round);
    out->failed = failed != NULL;
    out->culprit = out->failed ? failed : out->culprit; // else the one that is off most
    return out->failed || !joints_act(world) ? TDL_STATUS_OK
                                             : joints_build(world, round->step, false);
}

TdlStatus rounds_solve(TdlWorld* world, const BodyStep* step, Rounds* out) {
    Round round = {world, step};
    *out = (Rounds){0};
    bool asked = is_asked_again(world), joined = joints_act(world), stopped = false;
    double tolerance = world->def.contacts.tolerance;
    bool sheets = world->contacts != NULL && contacts_has_sheets(world->contacts);
    ContactsRound how = {.tolerance = sheets ? fmax(tolerance, ROUGH) : tolerance};
    TdlStatus status = asked || joined ? keep_free(world) : TDL_STATUS_OK;
    if (status == TDL_STATUS_OK && joined) {
        status = joints_build(world, step, true);
    }
    for (double before = INFINITY; out->count < MAX_ROUNDS && !stopped; before = out->residual) {
        JointsOff joints;
        if (world_asked_to_stop(world)) {
            return TDL_STATUS_STOPPED;
        }
        status = status == TDL_STATUS_OK ? solve_round(&round, &how, &joints, out) : status;
        if (status != TDL_STATUS_OK) {
            return status;
        }
        if (out->solved.imposed) {
            out->ended = true;
            return TDL_STATUS_OK;
        }
        out->residual = asked ? worst_residual(&round, &out->culprit) : 0.0;
        bool closed = !(joints.off > JOINTS_CLOSED) && !joints.changed;
        out->ended = !(out->residual > ROUND_TOLERANCE) && how.tolerance <= tolerance && closed;
        if (out->ended) {
            status = world->contacts == NULL ? TDL_STATUS_OK : contacts_push(world);
            return status == TDL_STATUS_OK && joined ? joints_push(world) : status;
        }
        out->open = closed ? NULL : joints.worst;
        how.tolerance = fmin(fmax(tolerance, out->residual), how.tolerance);
        status = begin_again(&round, &how, &joints, before, out);
        stopped = out->failed;
    }
    return status;
}
