// Statics of a super-model whose far end is held. With J the rows of the held motions of the end,
// J' = Q [R; 0]: the last columns of Q are the free motions, and the first give the forces that
// hold the end. The force on its place is one more dead force of the potential, whose Hessian the
// model knows; that of the torque comes from differences of the end's turning. (H.28)
//
// A held rod stretches evenly (linear-time.md, L.10): the stretch is one more coordinate, so that J
// has its full rank also where the rod is straight.
#include "rod/held_statics.h"

#include "math/dense.h"
#include "math/rotation.h"

#include <string.h>

enum { MAX_RETURNS = 30 };

// Distance (over the length) and angle of the end that count as there; rounding makes about this.
static const double THERE = 1.0e-13;

// Part of the slack it should have below which a rod counts as straight.
static const double STRAIGHT = 1.0e-3;

static const double TWO_PI = 6.28318530717958647693;

// Change of a coordinate by which the turning of the end is differentiated.
static const double NUDGE = 1.0e-5;

int held_statics_conditions(const Rod* rod) {
    bool super = rod->model->end_turning != NULL;
    return !super                              ? 0
           : rod->end_hold == TDL_HOLD_CLAMPED ? 6
           : rod->end_hold == TDL_HOLD_PINNED  ? 3
                                               : 0;
}

int held_statics_coordinates(const Rod* rod) {
    return rod->tree_dofs + (held_statics_conditions(rod) > 0 ? 1 : 0);
}

size_t held_statics_size(const Rod* rod) {
    size_t n = (size_t)held_statics_coordinates(rod);
    return (2 * (size_t)held_statics_conditions(rod) + 6) * n;
}

static double stretch_stiffness(const Rod* rod) {
    return rod_stretch_stiffness(rod) * rod_length(rod);
}

HeldStatics held_statics_start(Rod* rod, double* memory, void* keep) {
    size_t n = (size_t)held_statics_coordinates(rod), count = (size_t)held_statics_conditions(rod);
    double bending = rod->stiffness.y / rod->element_length;
    return (HeldStatics){.rod = rod,
                         .n = (int)n,
                         .count = (int)count,
                         .stretch = sqrt(stretch_stiffness(rod) / bending),
                         .rows = memory,
                         .reflectors = memory + count * n,
                         .step = memory + 2 * count * n,
                         .keep = keep};
}

void held_statics_move(HeldStatics* held, const double* change) {
    Rod* rod = held->rod;
    if (held->count > 0) {
        RodHeld* state = &rod->held_state;
        state->stretch = fmax(0.5, state->stretch + change[rod->dof_count] / held->stretch);
        state->stretch_before = state->stretch;
        rod_set_stretch(rod);
    }
    rod->model->move(rod, change);
}

double held_statics_energy(const HeldStatics* held) {
    double strain = held->rod->held_state.stretch - 1.0;
    return held->count > 0 ? 0.5 * stretch_stiffness(held->rod) * strain * strain : 0.0;
}

// Rows of the conditions; places over the length of the rod.
static void find_rows(HeldStatics* held) {
    const Rod* rod = held->rod;
    size_t dofs = (size_t)rod->dof_count, n = (size_t)held->n;
    double *own = held->step, length = rod_length(rod);
    TdlVec3 reach = tdl_sub3(rod_end(rod).position, rod->base.now.position);
    const double c[3] = {reach.x, reach.y, reach.z};
    rod->model->jacobian(rod, rod->element_count - 1, 1.0, tdl_identity33(), own);
    for (size_t r = 0; r < 3; ++r) {
        for (size_t i = 0; i < dofs; ++i) {
            held->rows[r * n + i] = own[r * dofs + i] / length;
        }
        held->rows[r * n + dofs] = c[r] / (length * rod->held_state.stretch * held->stretch);
    }
    if (held->count == 6) {
        rod->model->end_turning(rod, own);
        for (size_t r = 0; r < 3; ++r) {
            memcpy(held->rows + (3 + r) * n, own + r * dofs, dofs * sizeof *own);
            held->rows[(3 + r) * n + dofs] = 0.0;
        }
    }
}

// How far the end is from where it is held.
static double find_gap(const Rod* rod, double gap[HELD_MAX]) {
    TdlPose end = rod_end(rod), held = rod->end.now;
    TdlVec3 off = tdl_scale3(1.0 / rod_length(rod), tdl_sub3(end.position, held.position));
    TdlVec3 turn = tdl_rotation_log(tdl_mul33(end.rotation, tdl_transpose33(held.rotation)));
    tdl_store3(gap, 0, off);
    tdl_store3(gap, 1, turn);
    return rod->end_hold == TDL_HOLD_CLAMPED ? fmax(tdl_norm3(off), tdl_norm3(turn))
                                             : tdl_norm3(off);
}

// --- the reflections ------------------------------------------------------------------------

// x := (1 - weight v v') x
static void reflect(const double* v, double weight, int n, double* x) {
    double scale = weight * tdl_dot(n, v, x);
    for (int i = 0; i < n; ++i) {
        x[i] -= scale * v[i];
    }
}

// Q and R of J', by Householder's reflections.
static void factor(HeldStatics* held) {
    int n = held->n;
    for (int k = 0; k < held->count; ++k) {
        double* v = held->reflectors + (ptrdiff_t)k * n;
        memcpy(v, held->rows + (ptrdiff_t)k * n, (size_t)n * sizeof *v);
        for (int j = 0; j < k; ++j) {
            reflect(held->reflectors + (ptrdiff_t)j * n, held->weight[j], n, v);
            held->R[j][k] = v[j];
        }
        memset(v, 0, (size_t)k * sizeof *v);
        double norm = sqrt(tdl_dot(n, v, v));
        held->R[k][k] = v[k] > 0.0 ? -norm : norm;
        v[k] -= held->R[k][k];
        double square = tdl_dot(n, v, v);
        held->weight[k] = square > 0.0 ? 2.0 / square : 0.0;
    }
}

// x := Q' x; x := Q x
static void turn_in(const HeldStatics* held, double* x) {
    int n = held->n;
    for (int k = 0; k < held->count; ++k) {
        reflect(held->reflectors + (ptrdiff_t)k * n, held->weight[k], n, x);
    }
}

static void turn_out(const HeldStatics* held, double* x) {
    int n = held->n;
    for (int k = held->count - 1; k >= 0; --k) {
        reflect(held->reflectors + (ptrdiff_t)k * n, held->weight[k], n, x);
    }
}

void held_statics_expand(const HeldStatics* held, const double* moved, double* change) {
    int n = held->n, count = held->count;
    memset(change, 0, (size_t)count * sizeof *change);
    memcpy(change + count, moved, (size_t)(n - count) * sizeof *change);
    turn_out(held, change);
}

// --- the way back ---------------------------------------------------------------------------

// Bends a straight rod whose ends are to be nearer: no small change shortens it, and J has lost a
// rank. Tangents that turn by theta sin(2 pi s / L), which leaves both ends as they look, shorten
// it by theta^2 / 4 of its length; about the softer axis.
static void bend_straight(HeldStatics* held) {
    Rod* rod = held->rod;
    double length = rod_length(rod);
    TdlVec3 start = rod->base.now.position;
    double wanted = 1.0 - tdl_norm3(tdl_sub3(rod->end.now.position, start)) / length;
    double slack = 1.0 - tdl_norm3(tdl_sub3(rod_end(rod).position, start)) / length;
    if (held->count == 0 || !(wanted > THERE && slack < STRAIGHT * wanted)) {
        return;
    }
    bool joints = rod->model->extra_dofs > 0;
    int axis = rod->stiffness.y <= rod->stiffness.z ? 1 : 2, count = rod->element_count;
    double bend = 2.0 * sqrt(wanted) * TWO_PI / count;
    memset(held->step, 0, (size_t)rod->dof_count * sizeof(double));
    for (int i = 0; i < count + (joints ? 1 : 0); ++i) {
        held->step[3 * i + axis] = bend * cos(TWO_PI * (i + (joints ? 0.0 : 0.5)) / count);
    }
    rod->model->move(rod, held->step);
}

// The shortest change with J change = -gap: in the first columns of Q, R' y = -gap.
bool held_statics_restore(HeldStatics* held) {
    Rod* rod = held->rod;
    double gap[HELD_MAX], last = INFINITY;
    bend_straight(held);
    for (int k = 0; k < MAX_RETURNS && held->count > 0; ++k) {
        double off = find_gap(rod, gap);
        if (!(off > THERE) || (off < 100.0 * THERE && off >= 0.5 * last)) {
            return isfinite(off);
        }
        last = off;
        find_rows(held);
        factor(held);
        memset(held->step, 0, (size_t)held->n * sizeof(double));
        for (int i = 0; i < held->count; ++i) {
            double sum = -gap[i];
            for (int j = 0; j < i; ++j) {
                sum -= held->R[j][i] * held->step[j];
            }
            held->step[i] = sum / held->R[i][i];
        }
        turn_out(held, held->step);
        held_statics_move(held, held->step);
    }
    return held->count == 0;
}

// --- forces and second derivatives ----------------------------------------------------------

// The forces of the conditions: R multiplier = -(first of Q' gradient).
static void find_multipliers(const HeldStatics* held, const double* gradient,
                             double multiplier[HELD_MAX]) {
    for (int i = held->count - 1; i >= 0; --i) {
        double sum = -gradient[i];
        for (int j = i + 1; j < held->count; ++j) {
            sum -= held->R[i][j] * multiplier[j];
        }
        multiplier[i] = sum / held->R[i][i];
    }
}

// The Hessian of the potential with the force that holds the end as one more load: there is room
// for it after the others.
static void load_end(const HeldStatics* held, TdlVec3 gravity, const double* multiplier,
                     double* hessian) {
    Rod* rod = held->rod;
    int dofs = rod->dof_count, n = held->n, loads = rod->load_count;
    double *all = held->step, *bending = held->step + n;
    double unit = held->stretch * rod->held_state.stretch;
    TdlVec3 force = tdl_scale3(-1.0 / rod_length(rod), tdl_load3(multiplier, 0));
    rod->loads[rod->load_count++] =
        (RodLoad){.element = rod->element_count - 1, .s = 1.0, .force = force};
    rod->model->potential(rod, gravity, all, hessian);
    rod->load_count = 0;
    rod->model->potential(rod, (TdlVec3){0}, bending, NULL);
    rod->load_count = loads;
    rod->held_state.force = force;

    // places as seen from the start are in proportion to the stretch, and so are the gradients of
    // what pulls at them; not by the place of a start that is free
    int moving = rod->root_dofs == 6 ? dofs - 3 : dofs;
    for (int j = dofs - 1; j >= 0; --j) {
        memmove(hessian + (ptrdiff_t)j * n, hessian + (ptrdiff_t)j * dofs,
                (size_t)dofs * sizeof *hessian);
    }
    for (int j = 0; j < dofs; ++j) {
        double mixed = j < moving ? (all[j] - bending[j]) / unit : 0.0;
        hessian[(ptrdiff_t)j * n + dofs] = hessian[(ptrdiff_t)dofs * n + j] = mixed;
    }
    hessian[(ptrdiff_t)dofs * n + dofs] = stretch_stiffness(rod) / (held->stretch * held->stretch);
}

// The derivative of the energy by the stretch, beside what the hold does.
static double stretch_force(const HeldStatics* held, TdlVec3 gravity) {
    const Rod* rod = held->rod;
    TdlVec3 start = rod->base.now.position;
    double strain = rod->held_state.stretch - 1.0;
    double pull =
        -rod->model->energy(rod, gravity).gravity - rod_mass(rod) * tdl_dot3(gravity, start);
    for (int k = 0; k < rod->load_count; ++k) {
        pull -= tdl_dot3(rod->loads[k].force, start);
    }
    return (stretch_stiffness(rod) * strain - pull / rod->held_state.stretch) / held->stretch;
}

// torque . turning of the end for each coordinate
static void find_turning(const HeldStatics* held, const double* torque, double* out) {
    const Rod* rod = held->rod;
    int n = rod->dof_count;
    double* rows = held->step + held->n;
    rod->model->end_turning(rod, rows);
    for (int i = 0; i < n; ++i) {
        out[i] = torque[0] * rows[i] + torque[1] * rows[n + i] + torque[2] * rows[2 * n + i];
    }
}

// Adds the second derivatives of the end's turning: the symmetric part of its derivative.
static void twist_end(const HeldStatics* held, const double* torque, double* hessian) {
    Rod* rod = held->rod;
    int n = rod->dof_count, stride = held->n;
    double *change = held->step, *after = change + 4 * stride, *before = change + 5 * stride;
    rod_save_state(rod, held->keep);
    for (int j = 0; j < n; ++j) {
        memset(change, 0, (size_t)n * sizeof *change);
        change[j] = NUDGE;
        rod->model->move(rod, change);
        find_turning(held, torque, after);
        change[j] = -2.0 * NUDGE;
        rod->model->move(rod, change);
        find_turning(held, torque, before);
        rod_load_state(rod, held->keep);
        for (int i = 0; i < n; ++i) {
            double half = 0.25 * (after[i] - before[i]) / NUDGE;
            hessian[(ptrdiff_t)j * stride + i] += half;
            hessian[(ptrdiff_t)i * stride + j] += half;
        }
    }
}

// H := the last rows and columns of Q' H Q, next to each other.
static void reduce_matrix(const HeldStatics* held, double* H) {
    int n = held->n, count = held->count;
    for (int side = 0; side < 2; ++side) { // H Q is the transpose of Q' H
        for (int j = 0; j < n; ++j) {
            turn_in(held, H + (ptrdiff_t)j * n);
        }
        for (int j = 0; j < n; ++j) {
            for (int i = 0; i < j; ++i) {
                double keep = H[(ptrdiff_t)j * n + i];
                H[(ptrdiff_t)j * n + i] = H[(ptrdiff_t)i * n + j];
                H[(ptrdiff_t)i * n + j] = keep;
            }
        }
    }
    size_t left = (size_t)(n - count);
    for (size_t j = 0; j < left; ++j) {
        memmove(H + j * left, H + (j + (size_t)count) * (size_t)n + count, left * sizeof *H);
    }
}

void held_statics_reduce(HeldStatics* held, TdlVec3 gravity, double* gradient, double* hessian) {
    int n = held->n, count = held->count;
    if (count == 0) {
        return;
    }
    gradient[n - 1] = stretch_force(held, gravity);
    find_rows(held);
    factor(held);
    turn_in(held, gradient);
    if (hessian != NULL) {
        double multiplier[HELD_MAX];
        find_multipliers(held, gradient, multiplier);
        load_end(held, gravity, multiplier, hessian);
        if (count == 6) {
            twist_end(held, multiplier + 3, hessian);
        }
        reduce_matrix(held, hessian);
    }
    memmove(gradient, gradient + count, (size_t)(n - count) * sizeof *gradient);
}
