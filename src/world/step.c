// The step.
//
// A step predicts every body, answers the contacts found at the end of the last step, moves the
// bodies, finds the contacts of the new shape, and judges the result. Where a body gained energy,
// the state is not finite, bodies overlap too deeply or passed through each other, the step is
// undone and done again: knowing what it missed, then in two halves, and so on down to a floor.
// Bodies are spread over threads; each is predicted and advanced by one of them, and sums run in
// the order of the bodies, so the bits do not depend on the number of threads.
#include "base/clock.h"
#include "base/log.h"
#include "world/balance.h"
#include "world/bed.h"
#include "world/budget.h"
#include "world/culprits.h"
#include "world/rounds.h"
#include "world/world.h"

#include <string.h>

// A part of a step is halved at most so often. In all so many are because of their contacts or
// since they are not finite, and none is any more after so many attempts at the step. (W.12)
enum { WHO_SIZE = 2 * TDL_BODY_NAME_SIZE + 16 };
enum { MAX_HALVINGS = 12, MAX_CONTACT_HALVINGS = 16, MAX_ATTEMPTS = 1024 };
enum { MAX_FAILED_HALVINGS = 64 };

// New overlap, in radii, for which a step is done again with its places held; while bodies settle,
// as much as the world's definition allows.
static const double SUNK = 0.03;

// So often, while what sinks becomes less by this factor.
enum { MAX_HOLDS = 4 };
static const double HOLD_GAIN = 0.8;

// A part with a taut body that gained energy, overlaps or cannot be is made again so often with the
// forces expected that it found, where they are off those expected by this part of them. (W.28)
enum { MAX_EXPECTED = 3 };
static const double UNEXPECTED = 0.1;

// For a new overlap that is left then, and is not as deep as that, a step is halved at most so
// often: it comes from fast motion, and where it does not go away with shorter steps it can stay.
enum { MAX_OVERLAP_HALVINGS = 4 };

// For an estimated error a step is halved at most so often; for that of a body that touches less,
// as its velocity may jump and will in any step.
enum { MAX_ERROR_HALVINGS = 10, MAX_JUMP_HALVINGS = 4 };

// A longer part is tried when its error is foreseen to be below this share of the allowed one.
static const double ERROR_ROOM = 0.8;

// Where there are sheets a part that took so many attempts is followed by one half as long, and one
// that took one by a longer one. (W.34)
enum { MANY_TRIES = 3, MAX_SHEET_HALVINGS = 4 };

// What may be left of a joint at the end of a step, relative or rad: of bodies that do not tell
// where they will be. It is asked for in the next step.
static const double JOINT_OPEN = 1.0e-3;

// Work of joints that is an error of the step, over what is at play, above which it is halved, at
// most so often: four times the energy's wobble, (angle of a joint's turn in it)^2. (J.9)
static const double FEIGNED_MOST = 0.04;
enum { MAX_JOINT_HALVINGS = 7 };

enum { FAULT_TEXT = 700 }; // bytes of a message

// Items of work for one body are small; enough of them make a block worth a lock.
enum { GRAIN = 4 };

// A step or a part of one. The end of a step is the time that the world then tells, which start +
// dt may miss by a rounding: what is scripted is put where a resume would put it.
typedef struct Interval {
    double start, end, dt; // s
    int halvings;
} Interval;

typedef struct Attempt {
    TdlStatus status;
    const char* fault; // why it cannot stay; null: it can
    bool moved;        // the bodies were advanced
    bool detected;     // contacts of the new shape were found
    Body* culprit;     // whose fault it is; null: of no single one
    bool unbalanced;   // it gained more than it may from nowhere
    int rounds;
    double residual; // left of the equations of bodies that are not linear
    double error;    // 1/s, the largest estimate that counts
    BodyAccount sum; // over all bodies
    ContactsSolved solved;
    ContactsFound found;
    double feigned;   // over what is at play, by joints
    double open;      // relative, how far the worst joint is from closed
    TdlJointId joint; // that it is
    bool overlaps;    // the fault is that bodies overlap or passed through each other
    ContactsVerdict verdict;
} Attempt;

// What is to be done about an attempt.
typedef enum Verdict {
    KEEP,
    LOOK_FURTHER, // again, with the contacts that it missed
    HOLD_SUNK,    // again, with the places held that overlap anew
    SOLVE_AGAIN,  // again, knowing the shape that it led to
    EXPECT,       // again, its forces being expected
    HALVE,
    GIVE_UP,
} Verdict;

// A step under way: the parts still to be made, the next one last, and the attempt at that one.
typedef struct Step {
    TdlWorld* world;
    TdlStepInfo* info;
    Interval left[MAX_HALVINGS + 2];
    int left_count;
    int contact_halvings, failed_halvings;
    int level;         // the world's, before the step
    SavedState* saved; // the state before the part
    double worst;      // deepest overlap before it, in radii
    bool looked;       // it was made again so
    int held;          // and so often with places held
    int expected;      // and so often with the forces of the attempt before
    int tries;         // attempts at it
    double sunk;       // new overlap in the attempt before, in radii
    bool told_kept;    // that a part was kept that should not have been
    bool told_giving;  // that a hold gave way
    Body* riser;       // whose energy rose most in a part that was kept; null: nobody's
    double risen;      // J, by so much
    double reach;      // m that bodies came closer in the attempt that missed contacts
    BodyStep body_step;
    Attempt attempt;
} Step;

// --- one attempt: predict, answer contacts, advance, detect -----------------------------------

// Damping beside the materials', which ends with the time to settle: much while bodies that were
// let go snap, a fortieth, falling evenly, while they swing.
static double settling(const TdlWorldDef* def, double time) {
    double left = time < def->settle ? 1.0 - time / def->settle : 0.0;
    double fourth = left * left * left * left;
    return def->settle_damping * (0.975 * fourth * fourth * fourth * fourth + 0.025 * left);
}

static void prepare_bodies(TdlWorld* world, const BodyStep* step) {
    for (int i = 0; i < world->body_count; ++i) {
        Body* body = world->body[i];
        body->touched = body->expects = false;
        body->touch = body->pressed = 0.0;
        body->push = body->impulse = NULL;
        body->push_free = false;
        body->push_frame = (TdlVec3){0};
        body->lasts = 0.0;
        body->account = (BodyAccount){0};
        balance_begin(body);
        if (body->kind->prepare != NULL) {
            body->kind->prepare(body, step);
        }
    }
}

// The first body that was told what is no number, by name.
static TdlStatus refuse_senseless(const TdlWorld* world, const BodyStep* step) {
    for (int i = 0; i < world->body_count; ++i) {
        const char* what = world->body[i]->account.senseless;
        if (what != NULL) {
            char name[TDL_BODY_NAME_SIZE];
            world_name_body(world->body[i], name);
            return tdl_fail(&world->host, TDL_STATUS_BAD_INPUT,
                            "in the step from %.6g s to %.6g s %s is told %s that is not a number",
                            step->start, step->end, name, what);
        }
    }
    return TDL_STATUS_OK;
}

// What a task of the pool is about.
typedef struct Task {
    TdlWorld* world;
    const BodyStep* step;
    bool filling; // it is the turn of bodies that fill space
} Task;

static bool has_turn(const Task* task, const Body* body) {
    return (body->kind->strain != NULL) == task->filling;
}

static void predict_body(void* user, int index, int worker) {
    (void)worker;
    const Task* task = user;
    Body* body = task->world->body[index];
    if (body->kind->predict != NULL && has_turn(task, body)) {
        body->kind->predict(body, task->step);
    }
}

static void advance_body(void* user, int index, int worker) {
    (void)worker;
    const Task* task = user;
    Body* body = task->world->body[index];
    if (body->kind->advance != NULL && has_turn(task, body)) {
        body->kind->advance(body, task->step);
    }
}

// Nothing touches: both halves of the step while a body's data is in the cache.
static void step_body(void* user, int index, int worker) {
    predict_body(user, index, worker);
    advance_body(user, index, worker);
}

// All bodies by all threads; one that fills space by itself, as it shares its own work out.
static void run_bodies(const Task* task, PoolFn act) {
    Task own = *task;
    pool_run(own.world->pool, own.world->body_count, GRAIN, act, &own);
    own.filling = true;
    for (int i = 0; i < own.world->body_count; ++i) {
        if (has_turn(&own, own.world->body[i])) {
            act(&own, i, 0);
        }
    }
}

static void blame(Attempt* attempt, const char* fault, Body* culprit) {
    attempt->fault = fault;
    attempt->culprit = culprit;
}

static void blame_joint(Attempt* attempt, const Joint* joint) {
    if (joint != NULL) {
        attempt->joint = joint->id;
        attempt->culprit = joint->side[joint->side[1].body == NULL ? 0 : 1].body;
    }
}

static const char NOT_FOUND[] = "a body that is not linear found no velocity with its contacts";

// Joints, contacts and the bodies that are not linear, in turn.
static TdlStatus solve_rounds(TdlWorld* world, const BodyStep* step, Attempt* attempt) {
    Rounds rounds;
    TdlStatus status = rounds_solve(world, step, &rounds);
    attempt->solved = rounds.solved;
    attempt->rounds = rounds.count;
    attempt->residual = rounds.residual;
    if (status == TDL_STATUS_OK && !rounds.ended) {
        const char* joint = rounds.open == NULL ? NULL : "a joint could not be closed";
        blame(attempt, joint == NULL ? NOT_FOUND : joint, rounds.culprit);
        blame_joint(attempt, rounds.open);
    }
    bool solved = status == TDL_STATUS_OK && attempt->solved.count > 0;
    return solved ? contacts_note_tried(world) : status;
}

// The largest estimate of bodies for which a part may still be halved, and whose it is. (W.22)
static double worst_error(const TdlWorld* world, int halvings, Body** whose) {
    double worst = 0.0;
    *whose = NULL;
    for (int i = 0; i < world->body_count; ++i) {
        Body* body = world->body[i];
        int most = body->system->touched ? MAX_JUMP_HALVINGS : MAX_ERROR_HALVINGS;
        bool larger = halvings < most && body->account.error > worst;
        worst = larger ? body->account.error : worst;
        *whose = larger ? body : *whose;
    }
    return worst;
}

static bool is_adaptive(const TdlWorld* world) {
    return world->def.error > 0.0;
}

static void sum_up(TdlWorld* world, const BodyStep* step, int halvings, Attempt* attempt) {
    BodyAccount* sum = &attempt->sum;
    Body* gainer = balance_judge(world, step);
    for (int i = 0; i < world->body_count; ++i) {
        const BodyAccount* own = &world->body[i]->account;
        sum->failed = sum->failed || own->failed;
        sum->missed = sum->missed || own->missed;
        sum->taut = sum->taut || own->taut;
        sum->gave = own->gave > sum->gave ? own->gave : sum->gave;
        sum->energy_rise += own->energy_rise;
        sum->push += own->push;
        sum->damping += own->damping;
        sum->numerical += own->numerical;
        sum->given += own->given;
    }
    if (sum->failed) {
        blame(attempt, "the state is not finite, or not to be believed",
              culprit_find(world, fault_failed));
    } else if (sum->missed) {
        blame(attempt, "a held end is not where it has to be", culprit_find(world, fault_missed));
    } else if (gainer != NULL) {
        blame(attempt, "energy came from nowhere", gainer);
        attempt->unbalanced = true;
    } else if (sum->energy_rise > 0.0) {
        blame(attempt, "energy rose", culprit_find(world, fault_energy));
    }
    Body* whose = NULL;
    attempt->feigned = balance_feigned(world, &whose);
    if (attempt->fault == NULL && attempt->feigned > FEIGNED_MOST &&
        halvings < MAX_JOINT_HALVINGS) {
        blame(attempt, "its joints turn too far", whose);
    }
    attempt->error = step->estimate ? worst_error(world, halvings, &whose) : 0.0;
    if (attempt->fault == NULL && is_adaptive(world) && attempt->error > world->def.error) {
        blame(attempt, "its estimated error is too large", whose);
    }
}

// The longest that the next part may be, s.
static double next_length(const TdlWorld* world) {
    int level = world->level > 1 ? world->level - 1 : 0;
    return ldexp(world->def.step, -level);
}

// What the response makes of the shape that the attempt led to.
static void check_response(Step* s) {
    Attempt* a = &s->attempt;
    a->status = contacts_check(s->world, &s->body_step, &a->found, &a->solved, &a->verdict);
    if (a->status != TDL_STATUS_OK) {
        return;
    }
    if (a->verdict == CONTACTS_UNSOLVED && a->fault == NULL) {
        a->fault = "the contacts were not solved";
    } else if (a->verdict == CONTACTS_REFUSED) {
        blame(a, "bodies would overlap or pass through each other", NULL);
        a->overlaps = true;
    }
}

static void make_attempt(Step* s) {
    TdlWorld* world = s->world;
    TdlStepInfo* info = s->info;
    Attempt* attempt = &s->attempt;
    Task task = {.world = world, .step = &s->body_step};
    *attempt = (Attempt){.status = joints_lay_out(world)};
    if (attempt->status != TDL_STATUS_OK) {
        return;
    }
    world_lay_out_coordinates(world);

    // predict
    double t0 = clock_now();
    if (world->contacts != NULL) {
        contacts_start_attempt(world->contacts);
    }
    contacts_tell_near(world);
    attempt->status = bed_confine(world);
    if (attempt->status != TDL_STATUS_OK) {
        return;
    }
    prepare_bodies(world, &s->body_step);
    attempt->status = refuse_senseless(world, &s->body_step);
    if (attempt->status != TDL_STATUS_OK) {
        return;
    }
    bool asks = world->contacts != NULL && contacts_ask(world->contacts);
    if (asks || joints_act(world)) {
        joints_expect(world);
        if (asks) {
            contacts_expect(world->contacts, s->body_step.dt);
        }
        run_bodies(&task, predict_body);
        info->predict_seconds += clock_now() - t0;

        // answer contacts
        attempt->status = solve_rounds(world, &s->body_step, attempt);
        info->build_seconds += attempt->solved.build_seconds;
        info->solve_seconds += attempt->solved.solve_seconds;
        t0 = clock_now();
        if (attempt->status != TDL_STATUS_OK) {
            attempt->fault = "the contacts could not be solved";
        }
        if (attempt->fault != NULL) {
            return;
        }
        run_bodies(&task, advance_body);
    } else {
        run_bodies(&task, step_body);
    }

    // advance
    attempt->moved = true;
    attempt->status = world_place_bodies(world, s->body_step.end);
    attempt->status =
        attempt->status == TDL_STATUS_OK ? bed_part(world, &s->body_step) : attempt->status;
    double t1 = clock_now();
    info->advance_seconds += t1 - t0;
    if (attempt->status != TDL_STATUS_OK) {
        return;
    }
    sum_up(world, &s->body_step, s->left[s->left_count - 1].halvings, attempt);
    const Joint* worst;
    attempt->open = joints_miss(world, &worst);
    if (attempt->fault == NULL && attempt->open > JOINT_OPEN) {
        attempt->fault = "a joint is open";
        blame_joint(attempt, worst);
    }

    // detect; a response that goes by the new shape looks at it whatever became of energy
    bool looks = world->contacts != NULL && contacts_look_back(world->contacts);
    if (world->contacts != NULL && (attempt->fault == NULL || (looks && !attempt->sum.failed))) {
        attempt->detected = true;
        attempt->status =
            contacts_find(world, s->body_step.dt, next_length(world), &attempt->found);
        info->detect_seconds += clock_now() - t1;
        if (looks && attempt->status == TDL_STATUS_OK) {
            check_response(s);
        }
    }
}

// Whether no part may be halved any more: those that are left are made as they are.
static bool is_spent(const Step* s) {
    return s->info->attempts >= MAX_ATTEMPTS || s->contact_halvings >= MAX_CONTACT_HALVINGS ||
           s->failed_halvings >= MAX_FAILED_HALVINGS || budget_is_spent(s->world, s->info->effort);
}

// --- the verdict ------------------------------------------------------------------------------

static bool settles_loosely(const Step* s) {
    return s->world->def.settle_loosely && s->body_step.start < s->world->def.settle;
}

// True when contacts show that the attempt cannot stay.
static bool contacts_refuse(Step* s) {
    Attempt* attempt = &s->attempt;
    if (attempt->fault != NULL || attempt->status != TDL_STATUS_OK) {
        return false;
    }
    if (attempt->found.crossed > 0) {
        attempt->fault = "bodies passed through each other";
    } else if (attempt->found.worst < -CONTACTS_DEEP && attempt->found.worst < s->worst) {
        attempt->fault = "bodies overlap by more than half a radius";
    }
    attempt->overlaps = attempt->fault != NULL;
    return attempt->overlaps;
}

// Whether places overlap anew by more than may stay, in this attempt at a part.
static bool sinks(const Step* s) {
    const TdlWorldDef* def = &s->world->def;
    bool settles = s->body_step.start < def->settle;
    double most = settles ? fmax(SUNK, def->contacts.overlap) : SUNK;
    bool worth = s->held == 0 || s->attempt.found.fresh > HOLD_GAIN * s->sunk;
    bool deep = s->attempt.fault == NULL || (s->attempt.overlaps && s->attempt.found.crossed == 0);
    return deep && s->held < MAX_HOLDS && worth && s->attempt.found.fresh < -most;
}

static double total(TdlEnergy e) {
    return e.kinetic + e.elastic + e.gravity;
}

// Counts what makes a step dear; an energy that rose does not.
static Verdict count_halving(Step* s) {
    const Attempt* a = &s->attempt;
    bool unsolved = a->solved.count > 0 && !a->solved.converged;
    bool unfound = !a->moved && a->culprit != NULL; // by a body that is not linear
    s->contact_halvings += a->overlaps || ((unsolved || !a->moved) && !unfound);
    s->failed_halvings += a->sum.failed || unfound;
    return HALVE;
}

// Those whose fault it is, in brackets; nothing where that is not known.
static void name_culprits(const Step* s, char out[WHO_SIZE]) {
    const Attempt* attempt = &s->attempt;
    Body* body[2] = {attempt->culprit, NULL};
    for (int k = 0; k < 2 && attempt->overlaps; ++k) {
        const Body* met = attempt->found.pair[k];
        body[k] = met == NULL ? NULL : s->world->body[met->index];
    }
    if (body[0] == NULL && attempt->solved.count > 0) { // of contacts that were not solved
        culprits_find_pressed(s->world, body);
    }
    char name[2][TDL_BODY_NAME_SIZE];
    world_name_body(body[0], name[0]);
    world_name_body(body[1], name[1]);
    out[0] = '\0';
    if (body[0] != NULL) {
        snprintf(out, WHO_SIZE, " (%s%s%s)", name[0], body[1] == NULL ? "" : " and ",
                 body[1] == NULL ? "" : name[1]);
    }
}

// Of an attempt that cannot be made better by knowing more.
static Verdict judge_last(Step* s) {
    Attempt* attempt = &s->attempt;
    const Interval* part = &s->left[s->left_count - 1];
    double most = fmin(-s->world->def.contacts.overlap, s->worst);
    if (attempt->status == TDL_STATUS_OK && attempt->fault == NULL && !settles_loosely(s) &&
        attempt->found.fresh < most && part->halvings < MAX_OVERLAP_HALVINGS) {
        attempt->fault = "places overlap anew";
        attempt->overlaps = true;
    }
    if (attempt->status == TDL_STATUS_OK && attempt->fault == NULL) {
        return KEEP;
    }
    if (attempt->status == TDL_STATUS_NO_MEMORY || attempt->status == TDL_STATUS_BAD_INPUT) {
        return GIVE_UP;
    }
    if (part->halvings < MAX_HALVINGS && !is_spent(s)) {
        return count_halving(s);
    }
    if (!attempt->moved || attempt->sum.failed || attempt->status != TDL_STATUS_OK ||
        attempt->unbalanced || attempt->verdict == CONTACTS_REFUSED ||
        !isfinite(total(tdl_world_energy(s->world)))) {
        return GIVE_UP;
    }
    if (s->world->contacts != NULL && !attempt->detected) {
        // contacts of the next part are those of the shape that is kept
        attempt->status =
            contacts_find(s->world, s->body_step.dt, s->world->def.step, &attempt->found);
        if (attempt->status != TDL_STATUS_OK) {
            return GIVE_UP;
        }
    }
    if (!s->told_kept) {
        char who[WHO_SIZE];
        name_culprits(s, who);
        tdl_log(&s->world->host, TDL_LOG_WARNING,
                "step %ld at %.6g s: %s%s, in a part of %.3g s, which is not halved any more",
                s->world->step_count + 1, part->start, attempt->fault, who, part->dt);
    }
    s->told_kept = true;
    return KEEP;
}

// Whether a part with taut bodies went wrong in a way that forces nobody expected may have caused.
// (W.28)
static bool may_expect(const Step* s) {
    const Attempt* a = &s->attempt;
    bool gained = a->sum.failed || a->unbalanced || a->sum.energy_rise > 0.0;
    bool wild = gained || (a->overlaps && a->found.crossed == 0);
    bool first = !s->looked && s->held == 0 && s->expected < MAX_EXPECTED;
    return wild && first && a->sum.taut && a->solved.news > UNEXPECTED;
}

static Verdict judge(Step* s) {
    if (s->attempt.status == TDL_STATUS_OK && s->attempt.verdict == CONTACTS_AGAIN) {
        return SOLVE_AGAIN;
    }
    if (s->attempt.verdict != CONTACTS_STAY) {
        return judge_last(s);
    }
    bool refused = (!settles_loosely(s) || s->looked || s->held > 0) && contacts_refuse(s);
    if (is_spent(s)) {
        return judge_last(s);
    }
    if (may_expect(s)) {
        return EXPECT;
    }
    if (refused && !s->looked && s->held == 0) {
        return LOOK_FURTHER;
    }
    if (s->attempt.status == TDL_STATUS_OK && !settles_loosely(s) && sinks(s)) {
        return HOLD_SUNK;
    }
    return judge_last(s);
}

// --- what follows from it -----------------------------------------------------------------------

static void say_again(const Step* s, const char* fault, const char* how) {
    const Interval* part = &s->left[s->left_count - 1];
    tdl_log(&s->world->host, TDL_LOG_DEBUG, "step %ld at %.6g s, %.3g s long: %s; %s",
            s->world->step_count + 1, part->start, part->dt, fault, how);
}

static TdlStatus undo(Step* s) {
    return world_load_state(s->world, s->saved->bytes, s->saved->size, s->body_step.start);
}

// Begins with the next part: nothing is known of it yet.
static TdlStatus begin_part(Step* s) {
    TdlWorld* world = s->world;
    const Interval* part = &s->left[s->left_count - 1];
    s->saved = part->halvings == 0 ? &world->step_start : &world->part_start;
    if (!world_save_state(world, s->saved)) {
        return TDL_STATUS_NO_MEMORY;
    }
    s->worst = world->contacts == NULL ? 0.0 : contacts_worst(world->contacts);
    s->looked = false;
    s->held = s->expected = s->tries = 0;
    s->reach = 0.0;
    s->body_step = (BodyStep){.start = part->start,
                              .end = part->end,
                              .dt = part->dt,
                              .gravity = world->def.gravity,
                              .wind = world->def.wind,
                              .settling = settling(&world->def, part->start),
                              .losses = world->def.losses,
                              .holds = world->def.holds,
                              .forces = world->def.forces,
                              .hurried = is_spent(s),
                              .estimate = world->def.losses || is_adaptive(world)};
    if (world->contacts != NULL) {
        contacts_start_interval(world);
    }
    return TDL_STATUS_OK;
}

// After a part was kept: halvings of the next one. The estimate goes with the length of a part.
static void choose_level(Step* s) {
    TdlWorld* world = s->world;
    int halvings = s->left[s->left_count - 1].halvings;
    bool longer = 2.0 * s->attempt.error < ERROR_ROOM * world->def.error;
    world->level = longer && halvings > 0 ? halvings - 1 : halvings;
    world->level = world->level < MAX_ERROR_HALVINGS ? world->level : MAX_ERROR_HALVINGS;
}

// The same where there are sheets: a part that took many attempts would have cost less as two.
static void choose_sheet_level(Step* s) {
    int halvings = s->left[s->left_count - 1].halvings;
    int level = halvings + (s->tries >= MANY_TRIES) - (s->tries == 1 && halvings > 0);
    s->world->level = level < MAX_SHEET_HALVINGS ? level : MAX_SHEET_HALVINGS;
}

// The same where there are joints.
static void choose_joint_level(Step* s) {
    int halvings = s->left[s->left_count - 1].halvings;
    bool longer = 4.0 * s->attempt.feigned < ERROR_ROOM * FEIGNED_MOST;
    int level = longer && halvings > 0 ? halvings - 1 : halvings;
    s->world->level = level < MAX_JOINT_HALVINGS ? level : MAX_JOINT_HALVINGS;
}

static void note_riser(Step* s) {
    Body* body = culprit_find(s->world, fault_energy);
    if (body != NULL && body->account.energy_rise > s->risen) {
        s->riser = body;
        s->risen = body->account.energy_rise;
    }
}

static void keep_part(Step* s) {
    const Attempt* attempt = &s->attempt;
    TdlStepInfo* info = s->info;
    note_riser(s);
    ++info->substeps;
    info->energy_rise += attempt->sum.energy_rise;
    info->contact_count = attempt->solved.count;
    info->iterations += attempt->solved.iterations;
    info->error = fmax(info->error, attempt->solved.error);
    info->unsolved += attempt->solved.count > 0 && !attempt->solved.converged;
    info->deepest = attempt->found.deepest;
    info->friction += attempt->solved.friction;
    info->impact += attempt->solved.impact;
    info->stored = attempt->solved.stored;
    info->work += attempt->solved.work;
    info->push += attempt->sum.push + attempt->solved.back;
    info->damping += attempt->sum.damping;
    info->numerical += attempt->sum.numerical;
    info->given += attempt->sum.given;
    info->residual = fmax(info->residual, attempt->residual);
    info->rounds = attempt->rounds > info->rounds ? attempt->rounds : info->rounds;
    info->nowhere += balance_keep(s->world);
    info->joint_error = fmax(info->joint_error, attempt->open);
    info->joints += joints_keep(s->world, &s->body_step, &info->work);
    info->forced += attempt->fault != NULL || attempt->sum.gave > 0.0;
    if (attempt->sum.gave > 0.0 && !s->told_giving) {
        culprits_tell_giving(s->world, s->body_step.start);
        s->told_giving = true;
    }
    info->estimate += s->body_step.dt * attempt->error;
    if (is_adaptive(s->world)) {
        choose_level(s);
    } else if (s->world->contacts != NULL && contacts_has_sheets(s->world->contacts)) {
        choose_sheet_level(s);
    } else if (joints_act(s->world)) {
        choose_joint_level(s);
    } else {
        s->world->level = 0; // joints that let go leave none
    }
    for (int i = 0; i < s->world->body_count; ++i) {
        s->world->body[i]->lasted += s->world->body[i]->lasts;
    }
    if (s->world->contacts != NULL) {
        contacts_keep_attempt(s->world->contacts);
    }
    --s->left_count;
}

// Knowing which contacts the attempt missed.
static TdlStatus look_further(Step* s) {
    s->looked = true;
    s->reach = s->body_step.dt * s->attempt.found.closing;
    say_again(s, s->attempt.fault, "looking further");
    TdlStatus status = contacts_note_missed(s->world->contacts);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = undo(s);
    if (status != TDL_STATUS_OK || !(s->reach > 0.0)) {
        return status;
    }
    return contacts_widen(s->world, s->reach);
}

// With the places held that overlap anew.
static TdlStatus hold_sunk(Step* s) {
    bool again = s->held++ > 0;
    s->sunk = s->attempt.found.fresh;
    say_again(s, "places overlap anew", "held too");
    TdlStatus status = contacts_note_sunk(s->world->contacts, again);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = undo(s);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = s->reach > 0.0 ? contacts_widen(s->world, s->reach) : TDL_STATUS_OK;
    return status == TDL_STATUS_OK ? contacts_hold_sunk(s->world, again) : status;
}

static void split(Step* s) {
    Interval whole = s->left[--s->left_count];
    double middle = whole.start + 0.5 * whole.dt, dt = 0.5 * whole.dt;
    s->left[s->left_count++] = (Interval){middle, whole.end, dt, whole.halvings + 1};
    s->left[s->left_count++] = (Interval){whole.start, middle, dt, whole.halvings + 1};
}

static TdlStatus halve(Step* s) {
    split(s);
    return undo(s);
}

// With the forces expected that the attempt found.
static TdlStatus expect_tried(Step* s) {
    ++s->expected;
    say_again(s, s->attempt.fault, "its forces expected");
    TdlStatus status = undo(s);
    if (status == TDL_STATUS_OK) {
        contacts_guess_tried(s->world->contacts);
    }
    return status;
}

// The next part is made as short as the last one needed to be.
static void split_to_level(Step* s) {
    while (s->left[s->left_count - 1].halvings < s->world->level) {
        split(s);
    }
}

static TdlStatus give_up(const Step* s) {
    TdlStatus status = s->attempt.status;
    bool hopeless = status == TDL_STATUS_NO_MEMORY || status == TDL_STATUS_BAD_INPUT ||
                    status == TDL_STATUS_STOPPED;
    return hopeless ? status : TDL_STATUS_DIVERGED;
}

static void make_attempt_within_budget(Step* s) {
    TdlStepInfo* info = s->info;
    s->body_step.allowed = budget_allowed(s->world, info->effort);
    s->body_step.hurried = s->body_step.hurried || budget_is_spent(s->world, info->effort);
    make_attempt(s);
    ++info->attempts;
    ++s->tries;
    info->effort += s->attempt.solved.effort + budget_of_attempt(s->world, s->attempt.solved.count);
}

// Whether the budget ended what would have gone on, for the first time in the step.
static bool lacks_budget(const Step* s, Verdict verdict) {
    bool unsolved = s->attempt.solved.count > 0 && !s->attempt.solved.converged;
    bool done = verdict == KEEP && s->left_count == 1 && !unsolved;
    return !done && !s->info->spent && budget_is_spent(s->world, s->info->effort);
}

// Tells so. True: the step is to fail.
static bool spend_all(Step* s) {
    Body* pair[2];
    s->info->spent = true;
    culprits_find_pressed(s->world, pair);
    if (s->world->def.spent == TDL_SPENT_END) {
        s->info->reason = "its budget of work is spent (time.budget)";
        s->attempt.culprit = pair[0] == NULL ? s->attempt.culprit : pair[0];
        return true;
    }
    budget_tell(s->world, s->body_step.start, s->info->attempts, s->attempt.solved.count, pair);
    return false;
}

// Makes the parts that are left, from the first to the last.
static TdlStatus make_parts(Step* s) {
    bool begin = true;
    while (s->left_count > 0) {
        if (s->info->attempts > 0 && world_asked_to_stop(s->world)) {
            return TDL_STATUS_STOPPED;
        }
        if (begin) {
            split_to_level(s);
        }
        TdlStatus status = begin ? begin_part(s) : TDL_STATUS_OK;
        if (status != TDL_STATUS_OK) {
            return status;
        }
        make_attempt_within_budget(s);
        if (s->attempt.status == TDL_STATUS_STOPPED) {
            return TDL_STATUS_STOPPED;
        }
        Verdict verdict = judge(s);
        begin = verdict == KEEP || verdict == HALVE;
        if (lacks_budget(s, verdict) && spend_all(s)) {
            return give_up(s);
        }
        switch (verdict) {
        case KEEP:
            keep_part(s);
            break;
        case LOOK_FURTHER:
            status = look_further(s);
            break;
        case HOLD_SUNK:
            status = hold_sunk(s);
            break;
        case SOLVE_AGAIN:
            status = undo(s);
            break;
        case EXPECT:
            status = expect_tried(s);
            break;
        case HALVE:
        case GIVE_UP:
            s->info->reason =
                s->attempt.fault == NULL ? tdl_status_string(s->attempt.status) : s->attempt.fault;
            if (verdict == GIVE_UP) {
                return give_up(s);
            }
            say_again(s, s->info->reason, "tried in halves");
            status = halve(s);
            break;
        }
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return TDL_STATUS_OK;
}

// The culprit of the last attempt; else one of those that met, or that press on each other most.
static Body* find_to_blame(const Step* s) {
    const Attempt* attempt = &s->attempt;
    Body* body[2] = {attempt->culprit, NULL};
    if (body[0] == NULL && attempt->overlaps && attempt->found.pair[0] != NULL) {
        body[0] = s->world->body[attempt->found.pair[0]->index];
    }
    if (body[0] == NULL && attempt->solved.count > 0) {
        culprits_find_pressed(s->world, body);
    }
    return body[0];
}

// Tells of a step that failed what can be told, and goes back to before it.
static TdlStatus fail_step(const Step* s, TdlStatus status) {
    TdlWorld* world = s->world;
    TdlStepInfo* info = s->info;
    double start = tdl_world_time(world);
    bool diverged = status == TDL_STATUS_DIVERGED;
    Body* culprit = diverged ? find_to_blame(s) : NULL;
    FaultPlace failed = balance_note_failed(world, culprit == NULL ? NULL : culprit->system);
    if (s->attempt.unbalanced && failed.head != NULL) {
        info->fault.gained = failed.head->balance.gained;
        info->fault.at_play = balance_at_play(failed.head);
    }
    info->fault.joint = s->attempt.joint;
    world->level = s->level;
    if (world->step_start.size > 0) {
        world_load_state(world, world->step_start.bytes, world->step_start.size, start);
    }
    balance_locate(world, &failed, &info->fault);
    if (status == TDL_STATUS_BAD_INPUT || status == TDL_STATUS_STOPPED) {
        return status; // told already, or known
    }
    info->reason = info->reason == NULL ? tdl_status_string(status) : info->reason;
    char text[FAULT_TEXT];
    tdl_world_tell_fault(world, info, sizeof text, text);
    return tdl_fail(&world->host, status,
                    "step %ld at %.6g s could not be made: %s; try smaller "
                    "steps (time.step)",
                    world->step_count + 1, start, text);
}

// Body by body, what came from nowhere since the start may be too much though no step's was.
static TdlStatus judge_leaks(Step* s) {
    Body* leak = balance_find_leak(s->world);
    if (leak == NULL) {
        return TDL_STATUS_OK;
    }
    s->attempt.culprit = leak;
    s->info->reason = "energy came from nowhere, little by little";
    s->info->fault.gained = leak->ledger.gained;
    s->info->fault.at_play = balance_at_play(leak);
    return TDL_STATUS_DIVERGED;
}

TdlStatus tdl_world_step(TdlWorld* world, TdlStepInfo* info) {
    TdlStepInfo local;
    info = info == NULL ? &local : info;
    *info = (TdlStepInfo){.fault.element = -1};
    world->step_start.size = 0; // nothing to go back to yet
    double start = tdl_world_time(world);
    double end = world_next_time(world);
    double parted = 0.0;
    TdlStatus status = joints_heed_time(world, start, end);
    if (status == TDL_STATUS_OK && world->contacts != NULL) {
        status = contacts_look_at_start(world, &parted);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (world->contacts != NULL) {
        contacts_start_step(world->contacts);
    }
    for (int i = 0; i < world->body_count; ++i) {
        world->body[i]->lasted = 0.0;
    }
    Step step = {.world = world,
                 .info = info,
                 .left = {{start, end, world->def.step, 0}},
                 .left_count = 1,
                 .level = world->level};
    if (world->level > 0 && !world_save_state(world, &world->step_start)) {
        return TDL_STATUS_NO_MEMORY;
    }
    status = make_parts(&step);
    status = status == TDL_STATUS_OK ? judge_leaks(&step) : status;
    if (status != TDL_STATUS_OK) {
        return fail_step(&step, status);
    }
    if (world->contacts != NULL) {
        contacts_end_step(world);
    }
    if (info->energy_rise > 0.0) {
        culprits_tell_rise(world, start, info->energy_rise, step.riser);
    }
    info->push += parted;
    info->energy_rise += fmax(info->push, 0.0); // nobody gave it, either
    ++world->step_count;
    info->step = world->step_count;
    info->time = tdl_world_time(world);
    info->energy = tdl_world_energy(world);
    return TDL_STATUS_OK;
}
