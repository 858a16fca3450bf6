// The step.
//
// A step predicts every body, solves for the impulses of the contacts found at the end of the last
// step, moves the bodies, finds the contacts of the new shape, and judges the result. Gravity is
// taken at the start of the step, so a rod whose clamp stands still may end with a little too much
// energy: the surplus is taken from its velocity. Where it is not little, the state is not finite,
// bodies overlap too deeply or passed through each other, the step is undone and done again in two
// halves, and so on down to a floor. Bodies are spread over threads; each is touched by one thread
// only, and sums run in the order of the bodies, so the bits do not depend on the number of
// threads.
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "math/rotation.h"
#include "world/bodies.h"

#include <string.h>

// A step is halved at most this often.
enum { MAX_HALVINGS = 12 };

// Gain of energy that rounding explains, relative to the energies at play.
static const double ENERGY_SLACK = 1.0e-14;

// Surplus of energy, relative to the kinetic energy, that may be taken from the velocity.
static const double SURPLUS_LIMIT = 0.05;

// Overlap, in radii, at which a step is undone; contacts of a deeper one from the start are let be.
static const double DEEP = 0.5;

// New overlap, in radii, for which a step is done again with its places held; while bodies settle,
// as much as the world's definition allows.
static const double SUNK = 0.03;

// For a new overlap that is left then, and is not as deep as that, a step is halved at most so
// often: it comes from fast motion, and where it does not go away with shorter steps it can stay.
enum { MAX_OVERLAP_HALVINGS = 4 };

// A step or a part of one. The end of a step is the time that the world then tells, which start +
// dt may miss by a rounding: what is scripted is put where a resume would put it.
typedef struct Interval {
    double start, end, dt; // s
} Interval;

// --- one rod -------------------------------------------------------------------------------

// Items of work for one body are small; enough of them make a block worth a lock.
enum { GRAIN = 4 };

// Mean velocity between two poses.
static Twist rate_between(TdlPose from, TdlPose to, double dt) {
    TdlMat3 turn = tdl_mul33(to.rotation, tdl_transpose33(from.rotation));
    return (Twist){tdl_scale3(1.0 / dt, tdl_sub3(to.position, from.position)),
                   tdl_scale3(1.0 / dt, tdl_rotation_log(turn))};
}

// Where a hand leads an end by the end of the step, at its present turn.
static Twist lead(TdlPose now, TdlVec3 place, double dt, TdlPose* arrived) {
    *arrived = (TdlPose){place, now.rotation};
    return (Twist){.linear = tdl_scale3(1.0 / dt, tdl_sub3(place, now.position))};
}

// Damping beside the materials', which ends with the time to settle: much while rods that were let
// go snap, a fortieth, falling evenly, while they swing.
static double settling(const TdlWorldDef* def, double time) {
    double left = time < def->settle ? 1.0 - time / def->settle : 0.0;
    double fourth = left * left * left * left;
    return def->settle_damping * (0.975 * fourth * fourth * fourth * fourth + 0.025 * left);
}

static void prepare_step(const TdlWorld* world, WorldRod* wr, Interval t) {
    double dt = t.dt;
    Rod* rod = wr->rod;
    rod->settling = settling(&world->def, t.start);
    wr->step = (RodStep){.dt = dt,
                         .gravity = world->def.gravity,
                         .wind = world->def.wind,
                         .base_end = rod->base.now,
                         .end_end = rod->end.now};
    if (wr->motion.keys != NULL && rod->start_hold != TDL_HOLD_FREE) {
        wr->step.base_end = motion_pose(&wr->motion, wr->placed, t.end);
        wr->step.base_rate = rate_between(rod->base.now, wr->step.base_end, dt);
        if (rod->start_hold == TDL_HOLD_PINNED) {
            wr->step.base_rate.angular = (TdlVec3){0};
        }
    } else if (wr->led[0]) {
        wr->step.base_rate = lead(rod->base.now, wr->placed.position, dt, &wr->step.base_end);
    }
    if (wr->end_motion.keys != NULL && rod->end_hold != TDL_HOLD_FREE) {
        wr->step.end_end = motion_pose(&wr->end_motion, wr->end_placed, t.end);
        wr->step.end_rate = rate_between(rod->end.now, wr->step.end_end, dt);
    } else if (wr->led[1]) {
        wr->step.end_rate = lead(rod->end.now, wr->end_placed.position, dt, &wr->step.end_end);
    }
}

// The rods of a group follow each other; the first one's task does the work of all.
static int group_count(const Rod* rod) {
    if (rod->parent != NULL) {
        return 0; // its tree's root does the work
    }
    return rod->group == NULL ? 1 : rod->lane == 0 ? rod->group->count : 0;
}

static void predict_group(void* user, int index, int worker) {
    (void)worker;
    WorldRod* wr = &((TdlWorld*)user)->rods[index];
    int count = group_count(wr->rod);
    const RodStep* steps[ROD_GROUP_SIZE];
    bool ok[ROD_GROUP_SIZE];
    for (int i = 0; i < count; ++i) {
        steps[i] = &wr[i].step;
    }
    if (count > 1) {
        wr->rod->model->predict_group(wr->rod->group, steps, ok);
    } else if (count == 1) {
        ok[0] = wr->rod->model->predict(wr->rod, &wr->step);
    }
    for (int i = 0; i < count; ++i) {
        wr[i].failed = !ok[i];
    }
}

static double total(TdlEnergy e) {
    return e.kinetic + e.elastic + e.gravity;
}

static bool is_zero(Twist t) {
    return tdl_dot3(t.linear, t.linear) == 0.0 && tdl_dot3(t.angular, t.angular) == 0.0;
}

// Whether nothing can give the rod energy: its held ends stand still, and what acts on it has a
// potential. A free rod that keeps its momenta is not asked: to take energy would take momentum.
static bool is_closed(const WorldRod* wr, TdlVec3 wind) {
    const Rod* rod = wr->rod;
    if (rod->parent != NULL || rod->child != NULL) {
        return false; // the rods of a tree pass energy on to each other
    }
    bool still = is_zero(wr->step.end_rate) && is_zero(wr->step.base_rate);
    if (rod->start_hold == TDL_HOLD_CLAMPED) {
        still = still && is_zero(rod->base.rate);
    } else if (rod->start_hold == TDL_HOLD_PINNED) {
        still = still && tdl_dot3(rod->base.rate.linear, rod->base.rate.linear) == 0.0;
    }
    for (int i = 0; i < rod->load_count; ++i) {
        still = still && tdl_dot3(rod->loads[i].torque, rod->loads[i].torque) == 0.0;
    }
    if (rod->start_hold == TDL_HOLD_FREE && rod->end_hold == TDL_HOLD_FREE) {
        still = still && !rod->model->keeps_momenta;
    }
    return still && (rod->drag == 0.0 || tdl_dot3(wind, wind) == 0.0);
}

// Takes a gain of energy from the velocity, of which kinetic energy is a quadratic form while the
// clamp stands still. Returns what was too much to take; of a rod that touches, all there is is
// taken.
static double take_surplus(WorldRod* wr, double surplus) {
    if (!wr->touched && surplus > SURPLUS_LIMIT * wr->energy.kinetic) {
        return surplus;
    }
    surplus = fmin(surplus, wr->energy.kinetic);
    double factor = surplus > 0.0 ? sqrt(1.0 - surplus / wr->energy.kinetic) : 1.0;
    for (int i = 0; i < wr->rod->dof_count; ++i) {
        wr->rod->v[i] *= factor;
    }
    wr->energy.kinetic -= surplus;
    return 0.0;
}

// Judges the energy of a rod that was advanced. True when its velocity was changed.
static bool judge_rod(const TdlWorld* world, WorldRod* wr, bool closed) {
    const Rod* rod = wr->rod;
    TdlEnergy before = wr->energy;
    wr->energy = rod->model->energy(rod, world->def.gravity);
    wr->failed = wr->failed || !rod_state_finite(rod) || !isfinite(total(wr->energy));
    wr->energy_rise = 0.0;
    double reach = rod_mass(rod) * tdl_norm3(world->def.gravity) * rod_length(rod);
    double slack = ENERGY_SLACK * (reach + fabs(before.gravity) + before.elastic + before.kinetic);
    double surplus = total(wr->energy) - total(before) - wr->touch;
    // bending itself gains in a step of a nodal rod, little but more than slow contact moves with
    bool judged = closed && (rod->model->carried || !wr->touched);
    if (!judged || !(surplus > slack)) {
        return false;
    }
    double moving = wr->energy.kinetic;
    wr->energy_rise = take_surplus(wr, surplus);
    wr->losses.numerical += world->def.losses ? moving - wr->energy.kinetic : 0.0;
    return moving != wr->energy.kinetic;
}

// Moves a rod out of what it overlaps; its velocity stays.
static void push_rod(const TdlWorld* world, WorldRod* wr) {
    Rod* rod = wr->rod;
    if (!wr->pushed) {
        return;
    }
    double before = total(wr->energy);
    if (rod->model->move != NULL) {
        rod->model->move(rod, wr->push);
    } else {
        for (int i = 0; i < rod->dof_count; ++i) {
            rod->q[i] += wr->push[i];
        }
        rod->model->refresh(rod);
    }
    wr->energy = rod->model->energy(rod, world->def.gravity);
    wr->push_work = total(wr->energy) - before;
}

// The work of gravity and point forces as the step counts it is not quite what their potential
// energy falls by, and that is a loss of the step too. After advance.
static void note_fall(const TdlWorld* world, WorldRod* wr) {
    if (world->def.losses) {
        double now = wr->rod->model->energy(wr->rod, world->def.gravity).gravity;
        wr->losses.numerical -= wr->losses.work - wr->losses.given + now - wr->energy.gravity;
    }
}

static void advance_group(void* user, int index, int worker) {
    (void)worker;
    TdlWorld* world = user;
    WorldRod* wr = &world->rods[index];
    int count = group_count(wr->rod);
    const RodStep* steps[ROD_GROUP_SIZE];
    bool closed[ROD_GROUP_SIZE], changed = false;
    for (int i = 0; i < count; ++i) {
        Rod* rod = wr[i].rod;
        steps[i] = &wr[i].step;
        closed[i] = is_closed(&wr[i], world->def.wind);
        if (world->def.losses) {
            wr[i].losses = rod->model->losses(rod, &wr[i].step, rod->v_free, wr[i].touch);
        }
        memcpy(rod->v, rod->v_free, (size_t)rod->dof_count * sizeof *rod->v);
    }
    if (count > 1) {
        wr->rod->model->advance_group(wr->rod->group, steps);
    } else if (count == 1) {
        wr->rod->model->advance(wr->rod, &wr->step, wr->rod->v_free);
    }
    for (int i = 0; i < count; ++i) {
        note_fall(world, &wr[i]);
        changed = judge_rod(world, &wr[i], closed[i]) || changed;
        push_rod(world, &wr[i]);
    }
    if (changed) {
        wr->rod->model->refresh(wr->rod);
    }
}

// Nothing touches: both halves of the step while a group's data is in the cache.
static void step_group(void* user, int index, int worker) {
    predict_group(user, index, worker);
    advance_group(user, index, worker);
}

// --- one attempt ----------------------------------------------------------------------------

typedef struct Attempt {
    TdlStatus status;
    const char* fault;  // why it cannot stay; null: it can
    double energy_rise; // J
    ContactsSolved solved;
    ContactsFound found;
    double push, damping, numerical, given; // J
} Attempt;

static void predict_all(TdlWorld* world, Interval t) {
    for (int i = 0; i < world->rod_count; ++i) {
        WorldRod* wr = &world->rods[i];
        prepare_step(world, wr, t);
        wr->touched = wr->pushed = false;
        wr->push_work = wr->touch = 0.0;
        wr->losses = (RodLosses){0};
    }
    for (int i = 0; i < world->collider_count; ++i) {
        WorldCollider* wc = &world->colliders[i];
        TdlPose end = motion_pose(&wc->motion, wc->def.pose, t.end);
        wc->rate = rate_between(wc->pose, end, t.dt);
        if (wc->vertex_rate != NULL) {
            wc->fastest = surface_rates(wc->surface, &wc->vertices, t.end, t.dt, wc->vertex_rate);
        }
    }
    for (int i = 0; i < world->rigid_count; ++i) {
        WorldRigid* wr = &world->rigids[i];
        wr->pushed = false;
        wr->push_work = wr->numerical = 0.0;
        wr->failed = !rigid_predict(wr->rigid, t.dt, world->def.gravity);
        memcpy(wr->free, wr->rigid->v_free, sizeof wr->free);
    }
}

// Moves a rigid body out of what it overlaps; its velocity stays.
static void push_rigid(const TdlWorld* world, WorldRigid* wr) {
    Rigid* rigid = wr->rigid;
    double before = total(rigid_energy(rigid, world->def.gravity));
    TdlMat3 turn = tdl_rotation_exp(tdl_load3(wr->push, 1));
    rigid->pose.position = tdl_add3(rigid->pose.position, tdl_load3(wr->push, 0));
    rigid->pose.rotation = tdl_rotation_nearest(tdl_mul33(turn, rigid->pose.rotation));
    wr->push_work = total(rigid_energy(rigid, world->def.gravity)) - before;
}

static TdlStatus advance_rigids(TdlWorld* world, Interval t) {
    for (int i = 0; i < world->rigid_count; ++i) {
        WorldRigid* wr = &world->rigids[i];
        wr->numerical =
            world->def.losses ? rigid_step_loss(wr->rigid, world->def.gravity, wr->free) : 0.0;
        rigid_advance(wr->rigid, t.dt, wr->rigid->v_free);
        if (wr->pushed) {
            push_rigid(world, wr);
        }
        wr->failed = wr->failed || !rigid_state_finite(wr->rigid);
    }
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; i < world->collider_count && status == TDL_STATUS_OK; ++i) {
        status = collider_place(world, &world->colliders[i], t.end);
    }
    return status;
}

static void sum_up(TdlWorld* world, Attempt* attempt) {
    bool finite = true;
    for (int i = 0; i < world->rod_count; ++i) {
        WorldRod* wr = &world->rods[i];
        if (wr->rod->parent != NULL) {
            wr->failed = false;
            note_fall(world, wr);
            judge_rod(world, wr, false);
        }
        finite = finite && !wr->failed;
        attempt->energy_rise += wr->energy_rise;
        attempt->push += wr->push_work;
        attempt->damping += wr->losses.damping;
        attempt->numerical += wr->losses.numerical;
        attempt->given += wr->losses.given + wr->losses.hold;
    }
    for (int i = 0; i < world->rigid_count; ++i) {
        attempt->push += world->rigids[i].push_work;
        attempt->numerical += world->rigids[i].numerical;
        finite = finite && !world->rigids[i].failed;
    }
    if (!finite) {
        attempt->fault = "the state is not finite";
    } else if (attempt->energy_rise > 0.0) {
        attempt->fault = "energy rose";
    }
}

// Contacts of the shape before the step, when bodies were changed from outside.
static TdlStatus look_before(TdlWorld* world, double dt) {
    ContactsFound found;
    if (world->contacts == NULL || contacts_ready(world->contacts)) {
        return TDL_STATUS_OK;
    }
    TdlStatus status = contacts_find(world, 0.0, dt, &found);
    if (status == TDL_STATUS_OK && found.worst < -DEEP) {
        tdl_log(&world->host, TDL_LOG_WARNING,
                "bodies overlap at %.6g s, before the step: the deepest by %.3g m, %.2g radii",
                tdl_world_time(world), -found.deepest, -found.worst);
    }
    return status;
}

static Attempt attempt_step(TdlWorld* world, Interval t) {
    Attempt attempt = {0};
    double t0 = clock_now();
    if (world->contacts != NULL) {
        contacts_start_attempt(world->contacts);
    }
    predict_all(world, t);
    bool contacts = world->contacts != NULL && contacts_count(world->contacts) > 0;
    if (contacts) {
        pool_run(world->pool, world->rod_count, GRAIN, predict_group, world);
        world->predict_seconds += clock_now() - t0;
        attempt.status = contacts_solve(world, t.dt, &attempt.solved);
        world->build_seconds += attempt.solved.build_seconds;
        world->solve_seconds += attempt.solved.solve_seconds;
        t0 = clock_now();
        if (attempt.status != TDL_STATUS_OK) {
            attempt.fault = "the contacts could not be solved";
            return attempt;
        }
        pool_run(world->pool, world->rod_count, GRAIN, advance_group, world);
    } else {
        pool_run(world->pool, world->rod_count, GRAIN, step_group, world);
    }
    attempt.status = advance_rigids(world, t);
    double t2 = clock_now();
    world->advance_seconds += t2 - t0;
    if (attempt.status != TDL_STATUS_OK) {
        return attempt;
    }
    sum_up(world, &attempt);
    if (world->contacts != NULL && attempt.fault == NULL) {
        attempt.status = contacts_find(world, t.dt, world->def.step, &attempt.found);
        world->detect_seconds += clock_now() - t2;
    }
    return attempt;
}

// True when contacts show that the step cannot stay; `worst` is the deepest overlap before it.
static bool judge_contacts(Attempt* attempt, double worst) {
    if (attempt->fault != NULL || attempt->status != TDL_STATUS_OK) {
        return false;
    }
    if (attempt->found.crossed > 0) {
        attempt->fault = "bodies passed through each other";
    } else if (attempt->found.worst < -DEEP && attempt->found.worst < worst) {
        attempt->fault = "bodies overlap by more than half a radius";
    }
    return attempt->fault != NULL;
}

static void note_attempt(const Attempt* attempt, TdlStepInfo* info) {
    ++info->substeps;
    info->energy_rise += attempt->energy_rise;
    info->contact_count = attempt->solved.count;
    info->iterations += attempt->solved.iterations;
    info->error = fmax(info->error, attempt->solved.error);
    info->unsolved += attempt->solved.count > 0 && !attempt->solved.converged;
    info->deepest = attempt->found.deepest;
    info->friction += attempt->solved.friction;
    info->impact += attempt->solved.impact;
    info->work += attempt->solved.work;
    info->push += attempt->push;
    info->damping += attempt->damping;
    info->numerical += attempt->numerical;
    info->given += attempt->given;
}

static void say_again(const TdlWorld* world, Interval t, const char* fault, const char* how) {
    tdl_log(&world->host, TDL_LOG_DEBUG, "step %ld at %.6g s, %.3g s long: %s; %s",
            world->step_count + 1, t.start, t.dt, fault, how);
}

// Makes the step again, knowing what the attempt before has missed.
static TdlStatus attempt_again(TdlWorld* world, Interval t, const SavedState* saved, double reach,
                               bool hold, Attempt* attempt) {
    TdlStatus status = world_load_state(world, saved->bytes, saved->size, t.start);
    if (status == TDL_STATUS_OK && reach > 0.0) {
        status = contacts_widen(world, reach);
    }
    if (status == TDL_STATUS_OK && hold) {
        status = contacts_hold_sunk(world);
    }
    if (status == TDL_STATUS_OK) {
        *attempt = attempt_step(world, t);
        status = attempt->status;
    }
    return status;
}

// One attempt; where contacts were missed a second one that looks further; and where places overlap
// anew one with these held. `worst` is the deepest overlap before it.
static TdlStatus try_interval(TdlWorld* world, Interval t, const SavedState* saved, double worst,
                              Attempt* attempt) {
    double reach = 0.0;
    bool loosely = world->def.settle_loosely && t.start < world->def.settle;
    if (world->contacts != NULL) {
        contacts_start_interval(world->contacts);
    }
    *attempt = attempt_step(world, t);
    TdlStatus status = attempt->status;
    bool missed = !loosely && judge_contacts(attempt, worst);
    if (status == TDL_STATUS_OK && missed) {
        reach = t.dt * attempt->found.closing;
        say_again(world, t, attempt->fault, "looking further");
        status = contacts_note_missed(world->contacts);
        if (status == TDL_STATUS_OK) {
            status = attempt_again(world, t, saved, reach, false, attempt);
        }
        judge_contacts(attempt, worst);
    }
    bool settles = t.start < world->def.settle;
    double sinks = settles ? fmax(SUNK, world->def.contacts.overlap) : SUNK;
    bool sunk = !loosely && attempt->fault == NULL && attempt->found.fresh < -sinks;
    if (status == TDL_STATUS_OK && sunk) {
        say_again(world, t, "places overlap anew", "held too");
        status = contacts_note_sunk(world->contacts);
        if (status == TDL_STATUS_OK) {
            status = attempt_again(world, t, saved, reach, true, attempt);
        }
        judge_contacts(attempt, worst);
    }
    return status;
}

// One interval, halved as often as it needs. `info` counts the substeps.
static TdlStatus advance_interval(TdlWorld* world, Interval t, int halvings, TdlStepInfo* info) {
    SavedState* saved = halvings == 0 ? &world->step_start : &world->attempt_start;
    if (!world_save_state(world, saved)) {
        return TDL_STATUS_NO_MEMORY;
    }
    double worst = world->contacts == NULL ? 0.0 : contacts_worst(world->contacts);
    Attempt attempt;
    TdlStatus status = try_interval(world, t, saved, worst, &attempt);
    bool loosely = world->def.settle_loosely && t.start < world->def.settle;
    double most = fmin(-world->def.contacts.overlap, worst);
    if (status == TDL_STATUS_OK && attempt.fault == NULL && !loosely &&
        attempt.found.fresh < most && halvings < MAX_OVERLAP_HALVINGS) {
        attempt.fault = "places overlap anew";
    }
    bool good = status == TDL_STATUS_OK && attempt.fault == NULL;
    bool floor = halvings == MAX_HALVINGS;
    if (floor && !good && status == TDL_STATUS_OK && isfinite(total(tdl_world_energy(world)))) {
        tdl_log(&world->host, TDL_LOG_WARNING, "step %ld at %.6g s: %s, in the smallest step",
                world->step_count + 1, t.start, attempt.fault);
        good = true;
    }
    if (good) {
        note_attempt(&attempt, info);
        if (world->contacts != NULL) {
            contacts_keep_attempt(world->contacts);
        }
        return TDL_STATUS_OK;
    }
    info->reason = attempt.fault == NULL ? tdl_status_string(status) : attempt.fault;
    bool hopeless = status == TDL_STATUS_NO_MEMORY || status == TDL_STATUS_BAD_INPUT;
    if (floor || hopeless) {
        return hopeless ? status : TDL_STATUS_DIVERGED;
    }
    say_again(world, t, info->reason, "tried in halves");
    double middle = t.start + 0.5 * t.dt;
    status = world_load_state(world, saved->bytes, saved->size, t.start);
    if (status == TDL_STATUS_OK) {
        status =
            advance_interval(world, (Interval){t.start, middle, 0.5 * t.dt}, halvings + 1, info);
    }
    if (status == TDL_STATUS_OK) {
        status = advance_interval(world, (Interval){middle, t.end, 0.5 * t.dt}, halvings + 1, info);
    }
    return status;
}

TdlStatus tdl_world_step(TdlWorld* world, TdlStepInfo* info) {
    TdlStepInfo local;
    info = info == NULL ? &local : info;
    *info = (TdlStepInfo){0};
    world->predict_seconds = world->advance_seconds = 0.0;
    world->detect_seconds = world->build_seconds = world->solve_seconds = 0.0;
    double start = tdl_world_time(world);
    world->step_start.size = 0; // nothing to go back to yet
    TdlStatus status = look_before(world, world->def.step);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (world->contacts != NULL) {
        contacts_start_step(world->contacts);
    }
    double end = (double)(world->step_count + 1) * world->def.step; // as tdl_world_time
    status = advance_interval(world, (Interval){start, end, world->def.step}, 0, info);
    if (status != TDL_STATUS_OK) {
        if (world->step_start.size > 0) {
            world_load_state(world, world->step_start.bytes, world->step_start.size, start);
        }
        if (status == TDL_STATUS_BAD_INPUT) {
            return status; // told already
        }
        return tdl_fail(&world->host, status,
                        "step %ld at %.6g s could not be made after %d halvings: %s",
                        world->step_count + 1, start, MAX_HALVINGS,
                        info->reason == NULL ? tdl_status_string(status) : info->reason);
    }
    if (info->energy_rise > 0.0) {
        tdl_log(&world->host, TDL_LOG_WARNING, "step %ld at %.6g s: energy rose by %.3g J",
                world->step_count + 1, start, info->energy_rise);
    }
    ++world->step_count;
    info->step = world->step_count;
    info->time = tdl_world_time(world);
    info->energy = tdl_world_energy(world);
    info->predict_seconds = world->predict_seconds;
    info->detect_seconds = world->detect_seconds;
    info->build_seconds = world->build_seconds;
    info->solve_seconds = world->solve_seconds;
    info->advance_seconds = world->advance_seconds;
    return TDL_STATUS_OK;
}
