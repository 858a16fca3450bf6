// The implicit midpoint rule for rods. docs/theory/integrators.md
//
// v_m is found by backward Euler over half a step; then q goes on with v_m for the whole step and v
// to 2 v_m - v. Nodal rods have a constant mass: that is all. The mass of a super-model belongs to
// a shape, so it is put in the middle first, where v_m of the pass before leads; two passes give
// order 2 for motions of any size. What a model takes from its strain at the start of a step is
// taken from the right place by moving the natural shape along. O(N).
#include "rod/rod_midpoint.h"

#include "math/rotation.h"

#include <string.h>

// The swing of the energy that is let be, relative to what moves, bends and can fall.
static const double SWING = 0.02;

TdlStatus rod_middle_create(const TdlHost* host, const Rod* rod, RodMiddle** out) {
    size_t n = (size_t)rod->dof_count;
    RodMiddle* m = tdl_alloc_zero(&host->mem, sizeof *m + 6 * n * sizeof(double));
    if (m == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    m->q = (double*)(m + 1);
    m->v = m->q + n;
    m->q_before = m->v + n;
    m->q_rest = m->q_before + n;
    m->u = m->q_rest + n;
    m->product = m->u + n;
    m->swings = true;
    *out = m;
    return TDL_STATUS_OK;
}

static bool is_still(Twist t) {
    return tdl_dot3(t.linear, t.linear) == 0.0 && tdl_dot3(t.angular, t.angular) == 0.0;
}

bool rod_middle_can(const Rod* rod, const RodStep* step) {
    Twist start = rod->base.rate;
    if (rod->start_hold != TDL_HOLD_CLAMPED) {
        start.angular = (TdlVec3){0};
    }
    bool still = (rod->start_hold == TDL_HOLD_FREE || is_still(start)) && is_still(rod->end.rate) &&
                 is_still(step->base_rate) && is_still(step->end_rate);
    bool alone = rod->parent == NULL && rod->child == NULL;
    bool unheld = !rod->model->reduced || rod->end_hold == TDL_HOLD_FREE;
    return still && alone && unheld && rod->settling == 0.0;
}

// Euler's step leaves the velocities in the shape that it started from.
bool rod_middle_is_behind(const Rod* rod) {
    size_t size = (size_t)rod->dof_count * sizeof(double);
    TdlPose now = rod->base.now, before = rod->base.before;
    return rod->model->reduced &&
           (memcmp(rod->q, rod->q_before, size) != 0 || memcmp(&now, &before, sizeof now) != 0);
}

void rod_middle_catch_up(Rod* rod) {
    size_t size = (size_t)rod->dof_count * sizeof(double);
    memcpy(rod->v, rod->v_free, size);
    memcpy(rod->q_before, rod->q, size);
    rod->base.before = rod->base.now;
}

void rod_middle_start(RodMiddle* m, const Rod* rod, const RodStep* step) {
    size_t size = (size_t)rod->dof_count * sizeof(double);
    memcpy(m->q, rod->q, size);
    memcpy(m->v, rod->v, size);
    memcpy(m->u, rod->v, size);
    memcpy(m->q_before, rod->q_before, size);
    if (rod->model->reduced) {
        memcpy(m->q_rest, rod->q_rest, size);
    }
    m->base = rod->base;
    m->half = *step;
    m->half.dt = 0.5 * step->dt;
    m->half.middle = true;
}

// The pose of a start that moves with the last velocities of v, a time later.
static TdlPose moved_root(const Rod* rod, TdlPose pose, double time, const double* v) {
    const double* root = v + rod->dof_count - rod->root_dofs;
    if (rod->root_dofs >= 3) {
        TdlMat3 turn = tdl_rotation_exp(tdl_scale3(time, tdl_load3(root, 0)));
        pose.rotation = tdl_rotation_nearest(tdl_mul33(turn, pose.rotation));
    }
    if (rod->root_dofs == 6) {
        pose.position = tdl_axpy3(pose.position, time, tdl_load3(root, 1));
    }
    return pose;
}

// The first pass guesses u, the next three find it where that leads.
const double ROD_MIDDLE_SIDE[ROD_MIDDLE_PASSES] = {1.0, 1.0, -1.0, 0.0};

// The field brought along is v of a shape h (2 u - v) before the middle, so that its momentum there
// is M v - h A(u, u) and more of second order, which half the difference from the other side has
// not; and but for a rotation of the root that does not commute. (I.4)
void rod_middle_place(const RodMiddle* m, Rod* rod, double side) {
    double h = m->half.dt;
    int n = rod->dof_count, root = n - rod->root_dofs;
    for (int i = 0; i < n; ++i) {
        double middle = m->q[i] + h * m->u[i];
        rod->q[i] = middle;
        rod->q_rest[i] = m->q_rest[i] + h * m->u[i];
        rod->q_before[i] = middle - side * h * (2.0 * m->u[i] - m->v[i]);
        rod->v[i] = m->v[i];
    }
    rod->base.now = rod->base.before = moved_root(rod, m->base.now, h, m->u);
    if (rod->root_dofs >= 3) {
        TdlVec3 w = tdl_load3(m->v + root, 0), ahead = tdl_load3(m->u + root, 0);
        TdlVec3 back = tdl_scale3(-side * h, tdl_axpy3(tdl_scale3(2.0, ahead), -1.0, w));
        rod->base.before.rotation = tdl_mul33(tdl_rotation_exp(back), rod->base.now.rotation);
        tdl_store3(rod->v + root, 0, tdl_axpy3(w, side * h, tdl_cross3(w, ahead)));
    }
}

void rod_middle_hear(RodMiddle* m, Rod* rod, int pass) {
    for (int i = 0; i < rod->dof_count; ++i) {
        double found = rod->v_free[i];
        if (pass == 0) {
            m->u[i] = found;
            m->product[i] = 0.0;
        } else if (pass < ROD_MIDDLE_PASSES - 1) {
            m->product[i] += 0.5 * ROD_MIDDLE_SIDE[pass] * found;
        } else {
            rod->v_free[i] += m->product[i];
        }
    }
}

void rod_middle_restore(const RodMiddle* m, Rod* rod) {
    size_t size = (size_t)rod->dof_count * sizeof(double);
    memcpy(rod->q, m->q, size);
    memcpy(rod->v, m->v, size);
    memcpy(rod->q_before, m->q_before, size);
    if (rod->model->reduced) {
        memcpy(rod->q_rest, m->q_rest, size);
    }
    rod->base = m->base;
}

void rod_middle_lose(RodMiddle* m, const Rod* rod) {
    RodLosses half = rod->model->losses(rod, &m->half, rod->v_free, 0.0);
    m->losses = (RodLosses){.damping = 2.0 * half.damping,
                            .work = 2.0 * half.work,
                            .given = 2.0 * half.given,
                            .start = tdl_scale3(2.0, half.start),
                            .end = tdl_scale3(2.0, half.end)};
}

void rod_middle_finish(const RodMiddle* m, Rod* rod) {
    double dt = 2.0 * m->half.dt;
    for (int i = 0; i < rod->dof_count; ++i) {
        rod->v[i] = 2.0 * rod->v_free[i] - m->v[i];
    }
    if (rod->model->reduced) {
        for (int i = 0; i < rod->dof_count; ++i) {
            rod->q[i] = rod->q_before[i] = m->q[i] + dt * rod->v_free[i];
            rod->q_rest[i] = m->q_rest[i];
        }
        rod->base = m->base;
        rod->base.now = rod->base.before = moved_root(rod, m->base.now, dt, rod->v_free);
    }
}

static double total(TdlEnergy e) {
    return e.kinetic + e.elastic + e.gravity;
}

// What swings of the rule may make of the energy, on either side.
static double swing_of(const RodMiddle* m, const Rod* rod, TdlEnergy now) {
    double fall = rod_mass(rod) * tdl_norm3(m->half.gravity) * rod_length(rod);
    return SWING * (now.kinetic + now.elastic + fall);
}

// What is less than swings explain is gone.
static double excess_after(const RodMiddle* m, const Rod* rod, TdlEnergy before, TdlEnergy now) {
    return fmax(-swing_of(m, rod, now), m->excess + total(now) - total(before));
}

bool rod_middle_allows(const RodMiddle* m, const Rod* rod, TdlEnergy before, TdlEnergy now) {
    return excess_after(m, rod, before, now) <= swing_of(m, rod, now);
}

void rod_middle_judge(RodMiddle* m, const Rod* rod, bool closed, TdlEnergy before, TdlEnergy now) {
    m->excess = closed ? excess_after(m, rod, before, now) : 0.0;
    m->swings = m->excess <= swing_of(m, rod, now);
}

void rod_middle_keep(RodMiddle* m, const Rod* rod) {
    memcpy(m->product, rod->v_free, (size_t)rod->dof_count * sizeof(double));
}

void rod_middle_recall(const RodMiddle* m, Rod* rod) {
    memcpy(rod->v_free, m->product, (size_t)rod->dof_count * sizeof(double));
}
