// What a step does to rods as bodies: what moves them, by which rule, and what becomes of their
// energy.
//
// Gravity is taken at the start of the step, so a rod whose clamp stands still may end with a
// little too much energy: the surplus is taken from its velocity. Where it is not little, the
// account tells.
#include "rod/rod_body.h"

#include "math/dense.h"
#include "math/rotation.h"
#include "rod/held_end.h"
#include "rod/rod_drive.h"
#include "rod/rod_midpoint.h"
#include "rod/rod_momenta.h"

#include <string.h>

// Gain of energy that rounding explains, relative to the energies at play.
static const double ENERGY_SLACK = 1.0e-14;

// Surplus of energy, relative to the kinetic energy, that may be taken from the velocity.
static const double SURPLUS_LIMIT = 0.05;

// Turning, rad, by which no element changes in a step: coordinates move on a straight way, which
// tells nothing after half a turn. Such a state is as good as none, and dear to work with.
static const double TURN_MOST = 3.141592653589793;

// --- what moves it ---------------------------------------------------------------------------

static bool is_zero(Twist t) {
    return tdl_dot3(t.linear, t.linear) == 0.0 && tdl_dot3(t.angular, t.angular) == 0.0;
}

static bool ends_move(const RodBody* rb) {
    const Rod* rod = rb->rod;
    bool still = is_zero(rb->step.end_rate) && is_zero(rb->step.base_rate);
    if (rod->start_hold == TDL_HOLD_CLAMPED) {
        still = still && is_zero(rod->base.rate);
    } else if (rod->start_hold == TDL_HOLD_PINNED) {
        still = still && tdl_dot3(rod->base.rate.linear, rod->base.rate.linear) == 0.0;
    }
    return !still;
}

// The end of a nodal rod goes where its hold leads it, but no further from the start than a hold
// can pull it; held_end.h does the same for super-models, which stretch by the force alone.
static void limit_reach(RodBody* rb) {
    const Rod* rod = rb->rod;
    RodStep* step = &rb->step;
    if (rod->model->reduced || rod->start_hold == TDL_HOLD_FREE || rod->end_hold == TDL_HOLD_FREE) {
        return;
    }
    TdlVec3 chord = tdl_sub3(step->end_end.position, step->base_end.position);
    double distance = tdl_norm3(chord), most = held_end_reach(rod);
    if (distance > most) {
        step->end_end.position = tdl_axpy3(step->base_end.position, most / distance, chord);
        TdlVec3 way = tdl_sub3(step->end_end.position, rod->end.now.position);
        step->end_rate.linear = tdl_scale3(1.0 / step->dt, way);
        rb->gave = held_end_most(rod);
    }
}

void rod_body_prepare(Body* body, const BodyStep* t) {
    RodBody* rb = (RodBody*)body;
    Rod* rod = rb->rod;
    rod->settling = t->settling;
    rod->expects = false;
    rb->losses = (RodLosses){0};
    rb->gave = 0.0;
    rod_forces_prepare(rb->forces);
    rb->step = (RodStep){.dt = t->dt,
                         .gravity = t->gravity,
                         .wind = t->wind,
                         .base_end = rod->base.now,
                         .end_end = rod->end.now};
    bool scripted = motion_moves(&rb->motion) && rod->start_hold != TDL_HOLD_FREE;
    if (scripted || rb->carrier != NULL) {
        rb->step.base_end = rb->carrier != NULL ? rod_ride_pose(rb, t->start, t->end)
                                                : motion_pose(&rb->motion, rb->placed, t->end);
        motion_check(&rb->motion, rb->step.base_end, body);
        rb->step.base_rate = twist_between(rod->base.now, rb->step.base_end, t->dt);
        if (rod->start_hold == TDL_HOLD_PINNED) {
            rb->step.base_rate.angular = (TdlVec3){0};
        }
    }
    if (motion_moves(&rb->end_motion) && rod->end_hold != TDL_HOLD_FREE) {
        rb->step.end_end = motion_pose(&rb->end_motion, rb->end_placed, t->end);
        motion_check(&rb->end_motion, rb->step.end_end, body);
        rb->step.end_rate = twist_between(rod->end.now, rb->step.end_end, t->dt);
    }
    rod_follow_leads(rb, t);
    limit_reach(rb);
    rb->moved = ends_move(rb);
    rod_drive_prepare(rb, t);
    rb->kept.known = rb->kept.known && rod_keeps(rod);
    if (rod_keeps(rod)) {
        rod_kept_start(&rb->kept, rod);
    }
    if (rb->middle != NULL) {
        const RodMiddle* m = rb->middle;
        rb->middle->half.gravity = t->gravity;
        rb->middle->taken =
            m->swings && !body->near && !rod_drive_acts(rb) && rod_middle_can(rod, &rb->step);
    }
    bool middle = rb->middle != NULL && rb->middle->taken;
    rod_loads_take(rb, middle ? t->start + 0.5 * t->dt : t->end);
}

static bool goes_by_middle(const Rod* rod) {
    const RodMiddle* middle = rod_owner(rod)->middle;
    return middle != NULL && middle->taken;
}

void rod_body_expect(Body* body, const BodyPlace* place, TdlVec3 force) {
    Rod* rod = rod_of(body);
    if (rod->model->expect == NULL) {
        return;
    }
    if (!rod->expects) {
        memset(rod->expected, 0, (size_t)rod->dof_count * sizeof(double));
        rod->expects = true;
    }
    rod->model->expect(rod, place->element, place->u, force);
}

// The rods that this one's turn steps: a group from its first, itself when it is alone; none where
// another does.
static int batch(Rod* rod, Rod** mates) {
    bool group = rod->group != NULL && rod->group->count > 1;
    if (rod->parent != NULL || (group && rod->lane != 0)) {
        return 0;
    }
    mates[0] = rod;
    for (int i = 1; group && i < rod->group->count; ++i) {
        mates[i] = rod->group->rods[i];
    }
    return group ? rod->group->count : 1;
}

double rod_body_residual(const Body* body, const BodyStep* t, const double* v,
                         const double* impulse) {
    (void)t;
    const RodBody* rb = (const RodBody*)body;
    if (rb->rod->held != NULL) {
        return held_end_residual(rb->rod, &rb->step);
    }
    return rb->rod->model->residual(rb->rod, &rb->step, v, impulse);
}

// For contacts, which are told of before the step.
static void find_root(const RodBody* rb) {
    if (rb->rod->model->root != NULL && rb->head.near && !rb->head.account.failed) {
        rb->rod->model->root->find(rb->rod);
    }
}

void rod_body_predict_again(Body* body, const BodyStep* t, const double* v) {
    (void)t;
    RodBody* rb = (RodBody*)body;
    if (rb->rod->held != NULL) {
        body->account.failed = !held_end_predict_again(rb->rod, &rb->step);
        return;
    }
    body->account.failed = !rb->rod->model->predict_again(rb->rod, &rb->step, v, body->impulse);
    find_root(rb);
}

bool rod_body_correct(const Body* body, double* v_free) {
    const Rod* rod = ((const RodBody*)body)->rod;
    if (rod->model->correct != NULL) {
        rod->model->correct(rod, v_free);
    }
    return rod->model->correct != NULL;
}

static bool has_torque(const Rod* rod) {
    bool turns = false;
    for (int i = 0; i < rod->load_count; ++i) {
        turns = turns || tdl_dot3(rod->loads[i].torque, rod->loads[i].torque) != 0.0;
    }
    for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        turns = turns || has_torque(branch);
    }
    return turns;
}

static bool has_drag(const Rod* rod) {
    bool drags = rod->drag != 0.0;
    for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        drags = drags || has_drag(branch);
    }
    return drags;
}

// Whether its ends are moved in this step, or were in the last; what gives way is led, too.
static bool is_moved(const RodBody* rb) {
    return rb->moved || held_end_limit(rb->rod) > 0.0;
}

// Whether ends that are moved, wind or torques may do work on a rod, or on a tree at its root.
static bool is_supplied(const RodBody* rb) {
    TdlVec3 wind = rb->step.wind;
    bool blown = tdl_dot3(wind, wind) != 0.0 && has_drag(rb->rod);
    bool driven = has_torque(rb->rod) || rod_loads_vary(rb->rod) || rod_drive_acts(rb);
    return rb->rod->parent == NULL && (is_moved(rb) || blown || driven);
}

// Whether the energy of a rod alone is judged: its ends stand still, so that kinetic energy is a
// quadratic form of v. A free rod that keeps its momenta by itself is not asked: to take energy
// would take momentum.
static bool is_judged(const RodBody* rb) {
    const Rod* rod = rb->rod;
    bool free = rod->start_hold == TDL_HOLD_FREE && rod->end_hold == TDL_HOLD_FREE;
    bool alone = rod->parent == NULL && rod->child == NULL; // those of a tree pass energy on
    return alone && !is_moved(rb) && !(free && rod->model->keeps_momenta);
}

// Whether nothing can give it energy, either: what acts on it has a potential.
static bool is_closed(const RodBody* rb) {
    return is_judged(rb) && !is_supplied(rb);
}

static void predict_for(Rod* const* mates, int count, const RodStep* const* steps, bool* ok) {
    if (count > 1) {
        mates[0]->model->predict_group(mates[0]->group, steps, ok);
    } else {
        ok[0] = mates[0]->model->predict(mates[0], steps[0]);
    }
}

static void predict_batch(Rod* const* mates, int count) {
    const RodStep* steps[ROD_GROUP_SIZE] = {NULL};
    bool ok[ROD_GROUP_SIZE];
    for (int i = 0; i < count; ++i) {
        RodBody* rb = rod_owner(mates[i]);
        steps[i] = goes_by_middle(mates[i]) ? &rb->middle->half : &rb->step;
    }
    predict_for(mates, count, steps, ok);
    for (int i = 0; i < count; ++i) {
        RodBody* rb = rod_owner(mates[i]);
        rb->head.account.failed |= !ok[i];
        rb->head.account.taut = mates[i]->taut;
        if (rod_keeps(mates[i]) && !goes_by_middle(mates[i])) {
            rod_kept_correct(&rb->kept, mates[i], &rb->step);
        }
    }
}

// The velocities in the middle of super-models that go by the midpoint rule, found there.
static void find_middle(Rod* const* mates, int count) {
    for (int pass = 0; pass < ROD_MIDDLE_PASSES; ++pass) {
        for (int i = 0; i < count; ++i) {
            if (goes_by_middle(mates[i])) {
                rod_middle_place(rod_owner(mates[i])->middle, mates[i], ROD_MIDDLE_SIDE[pass]);
            }
        }
        mates[0]->model->refresh(mates[0]);
        predict_batch(mates, count);
        for (int i = 0; i < count; ++i) {
            if (goes_by_middle(mates[i])) {
                rod_middle_hear(rod_owner(mates[i])->middle, mates[i], pass);
            }
        }
    }
}

// Ends the step of those in a batch that go by the midpoint rule; the others were advanced, or
// there are none.
static void finish_middle(Rod* const* mates, int count) {
    bool some = false;
    for (int i = 0; i < count; ++i) {
        if (goes_by_middle(mates[i])) {
            rod_middle_finish(rod_owner(mates[i])->middle, mates[i]);
            some = some || mates[i]->model->reduced;
        }
    }
    if (some) {
        mates[0]->model->refresh(mates[0]);
    }
    some = false;
    for (int i = 0; i < count; ++i) {
        if (goes_by_middle(mates[i]) && rod_keeps(mates[i])) {
            rod_kept_correct_end(&rod_owner(mates[i])->kept, mates[i], &rod_owner(mates[i])->step);
            some = true;
        }
    }
    if (some) {
        mates[0]->model->refresh(mates[0]);
    }
}

static void restore_middle(Rod* const* mates, int count) {
    for (int i = 0; i < count; ++i) {
        if (goes_by_middle(mates[i])) {
            rod_middle_restore(rod_owner(mates[i])->middle, mates[i]);
        }
    }
}

// Super-models that would end the step with more energy than the midpoint rule's swings explain
// make it by Euler's. Those of the batch that do find their step again, as it was.
static void refuse_gains(Rod* const* mates, int count, const BodyStep* t) {
    bool refused[ROD_GROUP_SIZE] = {false}, some = false;
    for (int i = 0; i < count; ++i) {
        if (goes_by_middle(mates[i])) {
            rod_middle_keep(rod_owner(mates[i])->middle, mates[i]);
        } else {
            some = true;
        }
    }
    finish_middle(mates, count);
    for (int i = 0; i < count; ++i) {
        const RodBody* rb = rod_owner(mates[i]);
        if (goes_by_middle(mates[i]) && is_closed(rb)) {
            TdlEnergy now = rod_energy(rb->rod, t->gravity);
            refused[i] = !rod_middle_allows(rb->middle, rb->rod, rb->head.energy, now);
            some = some || refused[i];
        }
    }
    restore_middle(mates, count);
    for (int i = 0; i < count && some; ++i) {
        if (refused[i]) {
            rod_owner(mates[i])->middle->taken = false;
        }
    }
    if (some) {
        mates[0]->model->refresh(mates[0]);
        predict_batch(mates, count);
    }
    for (int i = 0; i < count && some; ++i) {
        if (goes_by_middle(mates[i])) {
            rod_middle_recall(rod_owner(mates[i])->middle, mates[i]);
        }
    }
}

// Super-models that come from Euler's rule get the velocities of the shape that they are in: those
// of a step of no time. (I.8)
static void bring_up(Rod* const* mates, int count) {
    RodStep still[ROD_GROUP_SIZE];
    const RodStep* steps[ROD_GROUP_SIZE] = {NULL};
    bool ok[ROD_GROUP_SIZE] = {false}, some = false;
    for (int i = 0; i < count; ++i) {
        some = some || (goes_by_middle(mates[i]) && rod_middle_is_behind(mates[i]));
        still[i] = (RodStep){.base_end = mates[i]->base.now, .end_end = mates[i]->end.now};
        steps[i] = &still[i];
    }
    if (some) {
        predict_for(mates, count, steps, ok);
    }
    for (int i = 0; i < count && some; ++i) {
        if (goes_by_middle(mates[i]) && rod_middle_is_behind(mates[i]) && ok[i]) {
            rod_middle_catch_up(mates[i]);
        }
    }
}

static void predict_middle(Rod* const* mates, int count, const BodyStep* t) {
    bool reduced = mates[0]->model->reduced;
    if (reduced) {
        bring_up(mates, count);
    }
    for (int i = 0; i < count; ++i) {
        if (goes_by_middle(mates[i])) {
            rod_middle_start(rod_owner(mates[i])->middle, mates[i], &rod_owner(mates[i])->step);
            if (t->holds) {
                rod_hold_start(rod_owner(mates[i]));
            }
            rod_forces_start(rod_owner(mates[i]));
        }
    }
    if (reduced) {
        find_middle(mates, count);
    } else {
        predict_batch(mates, count);
    }
    for (int i = 0; i < count; ++i) {
        if (goes_by_middle(mates[i]) &&
            (t->losses || t->holds || t->forces || is_supplied(rod_owner(mates[i])))) {
            rod_middle_lose(rod_owner(mates[i])->middle, mates[i]);
        }
    }
    if (reduced) {
        refuse_gains(mates, count, t);
    }
}

void rod_body_predict(Body* body, const BodyStep* t) {
    Rod* mates[ROD_GROUP_SIZE];
    int count = batch(rod_of(body), mates);
    bool middle = false;
    for (int i = 0; i < count; ++i) {
        middle = middle || goes_by_middle(mates[i]);
    }
    if (middle) {
        predict_middle(mates, count, t);
    } else if (count > 0) {
        predict_batch(mates, count);
    }
    for (int i = 0; i < count; ++i) {
        find_root(rod_owner(mates[i]));
    }
}

// --- energy ----------------------------------------------------------------------------------

static double total(TdlEnergy e) {
    return e.kinetic + e.elastic + e.gravity;
}

// Takes a gain of energy from the velocity, of which kinetic energy is a quadratic form while the
// clamp stands still. Returns what was too much to take; of a rod that touches, all there is is
// taken.
static double take_surplus(RodBody* rb, double surplus) {
    TdlEnergy* energy = &rb->head.energy;
    if (!rb->head.touched && surplus > SURPLUS_LIMIT * energy->kinetic) {
        return surplus;
    }
    if (rod_keeps(rb->rod)) {
        energy->kinetic -= rod_kept_slow(&rb->kept, rb->rod, energy->kinetic, surplus);
        return 0.0;
    }
    surplus = fmin(surplus, energy->kinetic);
    double factor = surplus > 0.0 ? sqrt(1.0 - surplus / energy->kinetic) : 1.0;
    for (int i = 0; i < rb->rod->dof_count; ++i) {
        rb->rod->v[i] *= factor;
    }
    energy->kinetic -= surplus;
    return 0.0;
}

// Whether an element of a reduced model, or of its branches, would turn more than can be believed;
// told in the account of whose it is.
static bool turns_too_far(const Rod* rod, double dt) {
    double most = TURN_MOST / dt;
    bool too_far = false;
    for (int i = 0; i < rod->dof_count - rod->root_dofs && rod->model->reduced; ++i) {
        too_far |= fabs(rod->v_free[i]) > most;
    }
    BodyAccount* account = &rod_owner(rod)->head.account;
    account->failed = account->failed || too_far;
    for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        too_far = turns_too_far(branch, dt) || too_far;
    }
    return too_far;
}

// What rounding of places does to the energy goes with forces times lengths, J: of weight, of a
// hold, and of the stretch of a rod whose edges stretch, T = sqrt(2 EA energy / L) at most.
static double rounded(const Rod* rod, TdlVec3 gravity, TdlEnergy before) {
    double length = rod_length(rod), away = length + tdl_norm3(rod->base.now.position);
    double force = rod->model->reduced
                       ? tdl_norm3(rod->held_state.force)
                       : sqrt(2.0 * rod_stretch_stiffness(rod) * before.elastic / length);
    return rod_mass(rod) * tdl_norm3(gravity) * length + force * away;
}

// Judges the energy of a rod that was advanced. True when its velocity was changed.
static bool judge(RodBody* rb, const BodyStep* t, bool judged) {
    const Rod* rod = rb->rod;
    Body* head = &rb->head;
    TdlEnergy before = head->energy;
    head->energy = rod_energy(rod, t->gravity);
    head->account.failed =
        head->account.failed || !rod_state_finite(rod) || !isfinite(total(head->energy));
    head->account.energy_rise = 0.0;
    if (rb->middle != NULL) {
        TdlEnergy given = before; // with what contacts gave
        given.kinetic += head->touch;
        rod_middle_judge(rb->middle, rod, judged && !is_supplied(rb), given, head->energy);
    }
    if (goes_by_middle(rod)) {
        return false;
    }
    double reach = rounded(rod, t->gravity, before);
    double slack = ENERGY_SLACK * (reach + fabs(before.gravity) + before.elastic + before.kinetic);
    double surplus = total(head->energy) - total(before) - head->touch - head->account.supplied;
    // bending itself gains in a step of a nodal rod, little but more than slow contact moves with
    judged = judged && (rod->model->reduced || !head->touched);
    if (!judged || !(surplus > slack)) {
        return false;
    }
    double moving = head->energy.kinetic;
    head->account.energy_rise = take_surplus(rb, surplus);
    rb->losses.numerical += t->losses ? moving - head->energy.kinetic : 0.0;
    return moving != head->energy.kinetic;
}

// Moves a rod out of what it overlaps; its velocity stays. A tree is not moved so.
static void push(RodBody* rb, const BodyStep* t) {
    Rod* rod = rb->rod;
    Body* head = &rb->head;
    if (head->push == NULL || rod->child != NULL) {
        return;
    }
    double before = total(head->energy);
    if (rod->held != NULL) {
        rod->held_state.stretch += head->push[rod->dof_count];
        rod_set_stretch(rod);
    }
    bool keeps = head->push_free && rod_keeps(rod) && rb->kept.known;
    TdlVec3 centre = keeps ? rod_kept_centre(rod) : (TdlVec3){0};
    if (rod->model->move != NULL) {
        rod->model->move(rod, head->push);
    } else {
        for (int i = 0; i < rod->dof_count; ++i) {
            rod->q[i] += head->push[i];
        }
        if (head->push_free && rod->model->keep_pushed != NULL) {
            rod->model->keep_pushed(rod, head->push, head->push_frame);
        }
        rod->model->refresh(rod);
    }
    if (keeps) {
        rod_kept_push(&rb->kept, rod, centre, head->push_frame);
        rod->model->refresh(rod);
    }
    head->energy = rod_energy(rod, t->gravity);
    head->account.push = total(head->energy) - before;
}

// The work of gravity and point forces as the step counts it is not quite what their potential
// energy falls by, and that is a loss of the step too. After advance.
static void note_fall(RodBody* rb, const BodyStep* t) {
    if (t->losses) {
        TdlEnergy after = rod_energy(rb->rod, t->gravity), was = rb->head.energy;
        bool middle = goes_by_middle(rb->rod);
        rb->losses = middle ? rb->middle->losses : rb->losses;
        if (middle || rod_keeps(rb->rod)) { // its own losses are what is left over
            rb->losses.numerical = rb->head.touch + rb->losses.work - rb->losses.damping -
                                   after.kinetic - after.elastic + was.kinetic + was.elastic +
                                   rod_drive_supplied(rb);
        }
        double now = after.gravity;
        rb->losses.numerical -= rb->losses.work - rb->losses.given + now - rb->head.energy.gravity;
    }
}

static void count_losses(RodBody* rb, const BodyStep* t) {
    BodyAccount* account = &rb->head.account;
    if (t->losses) {
        account->damping = rb->losses.damping;
        account->numerical = rb->losses.numerical;
        account->given = rb->losses.given + rb->losses.hold + rod_drive_supplied(rb);
    }
}

static double tree_mass(const Rod* rod) {
    double sum = rod_mass(rod);
    for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        sum += tree_mass(branch);
    }
    return sum;
}

// Before advance: half the change of velocity, in the mean over the mass, over the length. (W.22)
static double estimate(const RodBody* rb) {
    double square = 2.0 * fmax(rb->losses.jump, 0.0) / tree_mass(rb->rod);
    return 0.5 * sqrt(square) / rod_length(rb->rod);
}

// The branches of a tree, which its root has advanced.
static void judge_branches(const Rod* rod, const BodyStep* t) {
    for (Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        RodBody* rb = rod_owner(branch);
        rb->head.account.failed = false;
        note_fall(rb, t);
        judge(rb, t, false);
        count_losses(rb, t);
        judge_branches(branch, t);
    }
}

// Whether all of a batch go by the midpoint rule, which then are moved by it alone.
static bool all_by_middle(Rod* const* mates, int count) {
    int taken = 0;
    for (int i = 0; i < count; ++i) {
        taken += goes_by_middle(mates[i]);
    }
    return taken == count && mates[0]->model->reduced;
}

// Free rods whose centre of mass did not go quite as their momentum says.
static void shift_free(Rod* const* mates, int count) {
    bool some = false;
    for (int i = 0; i < count; ++i) {
        const RodBody* rb = rod_owner(mates[i]);
        if (rod_keeps(mates[i]) && rb->kept.known) {
            rod_kept_shift(&rb->kept, mates[i], &rb->step, goes_by_middle(mates[i]));
            some = true;
        }
    }
    if (some) {
        mates[0]->model->refresh(mates[0]);
    }
}

// Closes a held end after contacts; what these do is then counted with the end where it has to be.
// Returns the part that they do to its stretch, J.
static double touch_held(RodBody* rb, const RodStep* step) {
    Rod* rod = rb->rod;
    const double *impulse = rb->head.impulse, *v = rod->v_free;
    held_end_touch(rod, step, impulse);
    if (rod->held == NULL || impulse == NULL) {
        return 0.0;
    }
    double stretching = impulse[rod->dof_count] * v[rod->dof_count];
    rb->head.touch = tdl_dot(rod->dof_count, impulse, v) + stretching;
    return stretching;
}

void rod_body_advance(Body* body, const BodyStep* t) {
    Rod *rod = rod_of(body), *mates[ROD_GROUP_SIZE];
    const RodStep* steps[ROD_GROUP_SIZE];
    bool judged[ROD_GROUP_SIZE], changed = false;
    int count = batch(rod, mates);
    if (count == 0) {
        return;
    }
    bool moved = all_by_middle(mates, count);
    for (int i = 0; i < count; ++i) {
        if (turns_too_far(mates[i], t->dt)) {
            return; // the attempt fails
        }
    }
    for (int i = 0; i < count; ++i) {
        RodBody* rb = rod_owner(mates[i]);
        steps[i] = &rb->step;
        judged[i] = is_judged(rb);
        double stretching = touch_held(rb, steps[i]);
        rb->head.account.missed = !held_end_met(mates[i]);
        rb->head.account.gave = fmax(rb->gave, held_end_limit(mates[i]));
        bool supplied = is_supplied(rb), middle = goes_by_middle(mates[i]);
        rb->head.account.swings = rb->middle != NULL;
        if (!middle && (t->losses || t->estimate || t->holds || t->forces || supplied)) {
            rb->losses = rod->model->losses(mates[i], steps[i], mates[i]->v_free,
                                            rb->head.touch - stretching);
            held_end_add_losses(mates[i], steps[i], &rb->losses);
            if (mates[i]->held != NULL && !is_moved(rb)) { // what it seems to do is the step's own
                rb->losses.numerical -= rb->losses.hold;
                rb->losses.hold = 0.0;
            }
            rod_hold_find(rb);
        }
        rod_forces_find(rb);
        rb->head.account.error = t->estimate && !middle ? estimate(rb) : 0.0;
        if (supplied) { // an end that is held still does no work
            const RodLosses* own = middle ? &rb->middle->losses : &rb->losses;
            rb->head.account.supplied =
                own->given + (is_moved(rb) ? own->hold : 0.0) + rod_drive_supplied(rb);
        }
        memcpy(mates[i]->v, mates[i]->v_free, (size_t)mates[i]->dof_count * sizeof(double));
        if (rod_keeps(mates[i]) && !goes_by_middle(mates[i])) {
            rod_kept_note(&rb->kept, mates[i], mates[i]->v);
        }
        if (rb->head.push != NULL && rod_keeps(mates[i])) {
            rod_kept_foresee(&rb->kept, mates[i], rb->head.push);
        }
    }
    if (count > 1 && !moved) {
        rod->model->advance_group(rod->group, steps);
    } else if (!moved) {
        rod->model->advance(rod, steps[0], rod->v_free);
    }
    finish_middle(mates, count);
    shift_free(mates, count);
    for (int i = 0; i < count; ++i) {
        RodBody* rb = rod_owner(mates[i]);
        if (rod_keeps(mates[i]) && goes_by_middle(mates[i])) {
            rod_kept_note(&rb->kept, mates[i], mates[i]->v);
        }
        if (t->holds) {
            rod_hold_end(rb);
        }
        rod_forces_end(rb);
        note_fall(rb, t);
        changed = judge(rb, t, judged[i]) || changed;
        push(rb, t);
        count_losses(rb, t);
        judge_branches(mates[i], t);
    }
    if (changed) {
        rod->model->refresh(rod);
        for (int i = 0; i < count; ++i) { // as a resume would count it
            rod_owner(mates[i])->head.energy = rod_energy(mates[i], t->gravity);
        }
    }
}
