// A held far end. With H the Jacobian of the end's place (and turning, when clamped), Y = A^-1 H'
// and c the change of its place when the rod is stretched, the held rod has the impulse p of the
// hold with
//
//     v = v_free + Y p,   a rate = f + c.p,   H v + c rate = target                       (L.10)
//
// where a is the stiffness against stretching in the step and f what pulls at the rod's length; the
// rate stands in v_free behind the velocities, and contacts see it as one more coordinate. The
// target brings the end where it has to be at the end of the step. A straight rod has no motion
// along itself, H Y loses rank, and it is its stretching that gives the hold a finite force. O(N).
#include "rod/held_end.h"

#include "math/dense.h"
#include "math/rotation.h"

#include <string.h>

// Added to the rows' matrix, relative to its trace: rows of turning lose rank when a rod is
// straight and has no spin left.
static const double SLACK = 1.0e-12;

// Strain at which a hold that cannot be met gives way: it then pulls with the force of this strain
// and no more, and the end goes where that brings it.
static const double GIVES_AT = 0.25;

// A miss that contacts do not feel, in radii.
static const double UNFELT = 1.0e-4;

// An end that is further from its place than this, over the length, is on its way back.
static const double OFF = 1.0e-3;

// The end of a step is where it has to be when it misses by less than this, over the length, and in
// angle: a stiff rod feels more. Iterations to get there.
static const double CLOSED = 1.0e-15;
enum { MAX_CLOSINGS = 20, MAX_TURNS = 12, MAX_SHORTENINGS = 6 };

// What the end is moved by, over the length or in angle, to see what moves it where it is.
static const double NUDGE = 1.0e-7;

// A step in which it misses by more than this is too long; so is one that presses it to less than
// this share of its length, or in which a clamp turns by so much more than its end.
static const double MET = 1.0e-10;
static const double PRESSED = 0.5;
static const double HALF_TURN = 3.141592653589793;

// Rows; columns of A^-1 that are found at once.
enum { ROWS = 6, SOME = 4 };

// What is kept besides H by rows, Y by columns, the factor of the rows' matrix, and coordinates.
typedef struct Hold {
    double impulse[ROWS];
    TdlVec3 reach; // c: change of the end's place for a unit of stretch
    double soft;   // 1/a
    double pull;   // f
    double weight; // N m, of weight and loads on the rod's length; and the part that is wind
    double wind;
    double miss; // of place, over the length, or angle, at the end of the step
    bool gives;
} Hold;

enum { HOLD_DOUBLES = (sizeof(Hold) + sizeof(double) - 1) / sizeof(double) };

double held_end_reach(const Rod* rod) {
    return (1.0 + GIVES_AT) * rod_length(rod);
}

double held_end_most(const Rod* rod) {
    return GIVES_AT * rod_stretch_stiffness(rod);
}

static int row_count(TdlHold end) {
    return end == TDL_HOLD_CLAMPED ? 6 : end == TDL_HOLD_PINNED ? 3 : 0;
}

size_t held_end_count(TdlHold end, int dof_count) {
    size_t rows = (size_t)row_count(end), n = (size_t)dof_count;
    return rows == 0 ? 0 : (2 * rows + 1) * n + n + 1 + rows * rows + HOLD_DOUBLES;
}

static Hold* hold_of(const Rod* rod) {
    return (Hold*)rod->held;
}

static double* rows_of(const Rod* rod) {
    return rod->held + HOLD_DOUBLES;
}

static double* columns_of(const Rod* rod) {
    return rows_of(rod) + (size_t)row_count(rod->end_hold) * (size_t)rod->dof_count;
}

static double* trial_of(const Rod* rod) {
    return rows_of(rod) + 2 * (size_t)row_count(rod->end_hold) * (size_t)rod->dof_count;
}

// The velocities without contacts, and the rate.
static double* alone_of(const Rod* rod) {
    return trial_of(rod) + rod->dof_count;
}

static double* factor_of(const Rod* rod) {
    return alone_of(rod) + rod->dof_count + 1;
}

// x := (H Y + c c'/a)^-1 x
static void solve_rows(const Rod* rod, double x[ROWS]) {
    int rows = row_count(rod->end_hold);
    tdl_cholesky_solve(rows, factor_of(rod), rows, 1, x, rows);
}

static void add_columns(const Rod* rod, const double* weight, double* x) {
    int n = rod->dof_count;
    for (int r = 0; r < row_count(rod->end_hold); ++r) {
        const double* y = columns_of(rod) + (ptrdiff_t)r * n;
        for (int i = 0; i < n; ++i) {
            x[i] += weight[r] * y[i];
        }
    }
}

// Velocity the end must have: what is missing over dt, less what the motion of the start gives the
// end by itself.
static void find_target(const Rod* rod, const RodStep* step, double target[ROWS]) {
    TdlPose now = rod_end(rod);
    TdlVec3 arm = tdl_sub3(now.position, rod->base.now.position);
    TdlVec3 move = tdl_scale3(1.0 / step->dt, tdl_sub3(step->end_end.position, now.position));
    move = tdl_sub3(move, step->base_rate.linear);
    tdl_store3(target, 0, tdl_sub3(move, tdl_cross3(step->base_rate.angular, arm)));
    TdlMat3 turn = tdl_mul33(step->end_end.rotation, tdl_transpose33(now.rotation));
    TdlVec3 spin = tdl_scale3(1.0 / step->dt, tdl_rotation_log(turn));
    tdl_store3(target, 1, tdl_sub3(spin, step->base_rate.angular));
}

// What pulls at the rod's length beside the hold: forces times the places they act at, as seen from
// the start, over the stretch.
static void find_pull(Rod* rod, const RodStep* step) {
    Hold* hold = hold_of(rod);
    TdlVec3 start = rod->base.now.position, g = rod_pull(rod, step);
    double stretch = rod->held_state.stretch, dt = step->dt;
    double stiffness = rod_stretch_stiffness(rod) * rod_length(rod);
    hold->weight = -rod->model->energy(rod, g).gravity - rod_mass(rod) * tdl_dot3(g, start);
    TdlVec3 wind = tdl_sub3(g, step->gravity);
    hold->wind = 0.0;
    if (tdl_dot3(wind, wind) > 0.0) {
        hold->wind = hold->weight + rod->model->energy(rod, step->gravity).gravity +
                     rod_mass(rod) * tdl_dot3(step->gravity, start);
    }
    for (int k = 0; k < rod->load_count; ++k) {
        hold->weight -= tdl_dot3(rod->loads[k].force, start);
    }
    hold->wind /= stretch;
    hold->weight /= stretch;
    hold->pull = dt * (hold->weight - stiffness * (stretch - 1.0));
    hold->soft = 1.0 / ((dt * dt + dt * rod->damping) * stiffness);
    hold->reach = tdl_scale3(1.0 / stretch, tdl_sub3(rod_end(rod).position, start));
}

static bool factor(const Rod* rod, int rows) {
    double *H = rows_of(rod), *Y = columns_of(rod), *W = factor_of(rod);
    const Hold* hold = hold_of(rod);
    const double c[ROWS] = {hold->reach.x, hold->reach.y, hold->reach.z};
    int n = rod->dof_count;
    for (int k = 0; k < rows; ++k) {
        for (int r = 0; r < rows; ++r) {
            W[r + k * rows] = tdl_dot(n, H + (size_t)r * (size_t)n, Y + (size_t)k * (size_t)n) +
                              hold->soft * c[r] * c[k];
        }
    }
    // place and turning have different units: each gets slack of its own size
    for (int k = 0; k < rows; k += 3) {
        double trace = 0.0;
        for (int r = k; r < k + 3; ++r) {
            trace += W[r + r * rows];
        }
        for (int r = k; r < k + 3; ++r) {
            W[r + r * rows] += SLACK * trace;
        }
    }
    return tdl_cholesky(rows, W, rows) == rows;
}

static void find_rate(Rod* rod) {
    const Hold* hold = hold_of(rod);
    double pull = hold->pull + tdl_dot3(hold->reach, tdl_load3(hold->impulse, 0));
    rod->v_free[rod->dof_count] = hold->soft * pull;
}

static double rate_of(const Rod* rod) {
    return rod->v_free[rod->dof_count];
}

// Whether a hold has a limit: where its ends stand further apart than the limit stretches the rod,
// or the end is still on its way back from there. A hold that can be met takes what force it takes:
// that of a rod which whips is not a matter of its strain.
static bool may_give(const Rod* rod, const RodStep* step) {
    double length = rod_length(rod);
    TdlVec3 chord = tdl_sub3(step->end_end.position, step->base_end.position);
    TdlVec3 off = tdl_sub3(rod_end(rod).position, rod->end.now.position);
    return tdl_norm3(chord) > held_end_reach(rod) || tdl_norm3(off) > OFF * length;
}

// A hold that would have to pull too hard pulls as hard as it may, and turns nothing.
static void limit(Rod* rod, const RodStep* step) {
    Hold* hold = hold_of(rod);
    double most = held_end_most(rod) * step->dt;
    double force = tdl_norm3(tdl_load3(hold->impulse, 0)), change[ROWS];
    hold->gives = force > most && may_give(rod, step);
    if (!hold->gives) {
        return;
    }
    for (int r = 0; r < ROWS; ++r) {
        change[r] = hold->impulse[r] * (r < 3 ? most / force - 1.0 : -1.0);
        hold->impulse[r] += change[r];
    }
    add_columns(rod, change, rod->v_free);
    find_rate(rod);
    hold->miss = 0.0;
}

// --- closing --------------------------------------------------------------------------------

// What the end misses when the step is made with the velocity v_free and the impulse `more` of the
// hold beside its own (null: none); returns the larger of place, over the length, and angle.
static double find_miss(const Rod* rod, const RodStep* step, const double* more,
                        double miss[ROWS]) {
    const Hold* hold = hold_of(rod);
    double *q = trial_of(rod), dt = step->dt, rate = rate_of(rod);
    memcpy(q, rod->v_free, (size_t)rod->dof_count * sizeof *q);
    if (more != NULL) {
        add_columns(rod, more, q);
        rate += hold->soft * tdl_dot3(hold->reach, tdl_load3(more, 0));
    }
    TdlPose start = rod_start_after(rod, step, q);
    for (int i = 0; i < rod->dof_count; ++i) {
        q[i] = rod->q[i] + dt * q[i];
    }
    double stretch = rod->held_state.stretch + dt * rate;
    double l = stretch * rod->at_rest.element_length;
    TdlPose end = rod->model->pose_at(rod, q, start, l, rod->element_count - 1, 1.0);
    TdlVec3 off = tdl_sub3(step->end_end.position, end.position);
    TdlMat3 turn = tdl_mul33(step->end_end.rotation, tdl_transpose33(end.rotation));
    TdlVec3 angle = tdl_rotation_log(turn);
    tdl_store3(miss, 0, off);
    tdl_store3(miss, 1, angle);
    double place = tdl_norm3(off) / rod_length(rod);
    return rod->end_hold == TDL_HOLD_CLAMPED ? fmax(place, tdl_norm3(angle)) : place;
}

static void add_impulse(Rod* rod, const double change[ROWS]) {
    Hold* hold = hold_of(rod);
    for (int r = 0; r < row_count(rod->end_hold); ++r) {
        hold->impulse[r] += change[r];
    }
    add_columns(rod, change, rod->v_free);
    find_rate(rod);
}

// Newton's method with the rows of the start of the step, as long as it comes nearer by half. A
// last turn that led away is taken back. (L.16)
static void close_as_at_start(Rod* rod, const RodStep* step) {
    Hold* hold = hold_of(rod);
    double change[ROWS] = {0}, last = INFINITY;
    for (int k = 0; k < MAX_CLOSINGS; ++k) {
        double miss[ROWS];
        hold->miss = find_miss(rod, step, NULL, miss);
        if (!(hold->miss > CLOSED) || !(hold->miss < 0.5 * last)) {
            break;
        }
        last = hold->miss;
        for (int r = 0; r < row_count(rod->end_hold); ++r) {
            change[r] = miss[r] / step->dt;
        }
        solve_rows(rod, change);
        add_impulse(rod, change);
    }
    if (!(hold->miss <= last) && !(hold->miss <= MET)) {
        for (int r = 0; r < ROWS; ++r) {
            change[r] = -change[r];
        }
        add_impulse(rod, change);
        hold->miss = last;
    }
}

// The change of impulse that brings the end where it has to be, to first order about where it is
// now: each row by a difference. False when there is none.
static bool find_turn(const Rod* rod, const RodStep* step, const double miss[ROWS],
                      double change[ROWS]) {
    int rows = row_count(rod->end_hold), n = rod->dof_count;
    const Hold* hold = hold_of(rod);
    const double c[ROWS] = {hold->reach.x, hold->reach.y, hold->reach.z};
    double J[ROWS * ROWS];
    for (int k = 0; k < rows; ++k) {
        const double *h = rows_of(rod) + (ptrdiff_t)k * n, *y = columns_of(rod) + (ptrdiff_t)k * n;
        double size = k < 3 ? rod_length(rod) : 1.0, nudge[ROWS] = {0}, nudged[ROWS];
        double answer = tdl_dot(n, h, y) + hold->soft * c[k] * c[k];
        nudge[k] = NUDGE * size / (step->dt * answer);
        find_miss(rod, step, nudge, nudged);
        for (int r = 0; r < rows; ++r) {
            J[r + k * rows] = (miss[r] - nudged[r]) / nudge[k];
        }
    }
    memcpy(change, miss, (size_t)rows * sizeof *change);
    return tdl_gauss_solve(rows, J, rows, change);
}

// Newton's method with rows found anew (L.17), for steps in which the rod turns much; by shorter
// turns where a whole one leads away.
static void close_anew(Rod* rod, const RodStep* step) {
    Hold* hold = hold_of(rod);
    double miss[ROWS], tried[ROWS], change[ROWS] = {0};
    hold->miss = find_miss(rod, step, NULL, miss);
    for (int k = 0; k < MAX_TURNS && hold->miss > CLOSED; ++k) {
        double last = hold->miss, next = INFINITY;
        if (!find_turn(rod, step, miss, change)) {
            return;
        }
        for (int i = 0; i < MAX_SHORTENINGS && !(next < last); ++i) {
            for (int r = 0; r < row_count(rod->end_hold) && i > 0; ++r) {
                change[r] *= 0.5;
            }
            next = find_miss(rod, step, change, tried);
        }
        if (!(next < last)) {
            return;
        }
        add_impulse(rod, change);
        hold->miss = find_miss(rod, step, NULL, miss);
    }
}

// A frame does not tell whole turns: whether a clamped end has turned by one more, or less, than it
// was led.
static bool slips(const Rod* rod, const RodStep* step) {
    int n = rod->dof_count;
    double target[ROWS], off[3];
    if (rod->end_hold != TDL_HOLD_CLAMPED) {
        return false;
    }
    find_target(rod, step, target);
    for (int r = 0; r < 3; ++r) {
        off[r] = tdl_dot(n, rows_of(rod) + (ptrdiff_t)(3 + r) * n, rod->v_free) - target[3 + r];
    }
    return !(step->dt * tdl_norm3(tdl_load3(off, 0)) < HALF_TURN);
}

static void close_end(Rod* rod, const RodStep* step) {
    Hold* hold = hold_of(rod);
    close_as_at_start(rod, step);
    if (!(hold->miss <= MET)) {
        close_anew(rod, step);
    }
    if (slips(rod, step) || !(rod->held_state.stretch + step->dt * rate_of(rod) > PRESSED)) {
        hold->miss = INFINITY;
    }
}

bool held_end_predict(Rod* rod, const RodStep* step) {
    int rows = row_count(rod->end_hold), n = rod->dof_count;
    if (rows == 0) {
        return true;
    }
    Hold* hold = hold_of(rod);
    double *H = rows_of(rod), *Y = columns_of(rod);
    rod->model->jacobian(rod, rod->element_count - 1, 1.0, tdl_identity33(), H);
    if (rows == ROWS) {
        rod->model->end_turning(rod, H + 3 * (size_t)n);
    }
    memcpy(Y, H, (size_t)rows * (size_t)n * sizeof *Y);
    rod->model->solve_columns(rod, rows, Y);
    find_pull(rod, step);
    if (!factor(rod, rows)) {
        return false;
    }
    memset(hold->impulse, 0, sizeof hold->impulse);
    find_rate(rod);
    find_target(rod, step, hold->impulse);
    for (int r = 0; r < rows; ++r) {
        hold->impulse[r] -= tdl_dot(n, H + (size_t)r * (size_t)n, rod->v_free);
    }
    tdl_store3(hold->impulse, 0,
               tdl_axpy3(tdl_load3(hold->impulse, 0), -rate_of(rod), hold->reach));
    solve_rows(rod, hold->impulse);
    for (int r = rows; r < ROWS; ++r) {
        hold->impulse[r] = 0.0;
    }
    add_columns(rod, hold->impulse, rod->v_free);
    find_rate(rod);
    limit(rod, step);
    if (!hold->gives) {
        close_end(rod, step);
        limit(rod, step);
    }
    memcpy(alone_of(rod), rod->v_free, ((size_t)n + 1) * sizeof(double));
    return true;
}

// --- contacts -------------------------------------------------------------------------------

TdlVec3 held_end_stretching(const Rod* rod, TdlVec3 point) {
    TdlVec3 arm = tdl_sub3(point, rod->base.now.position);
    return tdl_scale3(1.0 / rod->held_state.stretch, arm);
}

// The force of the hold that answers velocities x, with the rate behind them.
static void find_answer(const Rod* rod, const double* x, double force[ROWS]) {
    int rows = row_count(rod->end_hold), n = rod->dof_count;
    const Hold* hold = hold_of(rod);
    const double c[ROWS] = {hold->reach.x, hold->reach.y, hold->reach.z};
    for (int r = 0; r < rows; ++r) {
        force[r] = -tdl_dot(n, rows_of(rod) + (ptrdiff_t)r * n, x) - c[r] * x[n];
    }
    solve_rows(rod, force);
}

// (L.11)
static void project(const Rod* rod, double* x) {
    const Hold* hold = hold_of(rod);
    double force[ROWS];
    if (hold->gives) {
        return;
    }
    find_answer(rod, x, force);
    add_columns(rod, force, x);
    x[rod->dof_count] += hold->soft * tdl_dot3(hold->reach, tdl_load3(force, 0));
}

// The columns without their last entries, side by side as the model has them, and back.
static void solve_some(const Rod* rod, int count, double* X) {
    size_t n = (size_t)rod->dof_count, size = n * sizeof *X;
    double pull[SOME];
    for (int k = 0; k < count; ++k) {
        pull[k] = X[(size_t)k * (n + 1) + n];
    }
    for (int k = 1; k < count; ++k) {
        memmove(X + (size_t)k * n, X + (size_t)k * (n + 1), size);
    }
    rod->model->solve_columns(rod, count, X);
    for (int k = count - 1; k >= 0; --k) {
        memmove(X + (size_t)k * (n + 1), X + (size_t)k * n, size);
        X[(size_t)k * (n + 1) + n] = hold_of(rod)->soft * pull[k];
    }
}

void held_end_solve(const Rod* rod, int count, double* X) {
    size_t stride = (size_t)rod->dof_count + 1;
    for (int k = 0; k < count; k += SOME) {
        solve_some(rod, count - k < SOME ? count - k : SOME, X + (size_t)k * stride);
    }
    for (int k = 0; k < count; ++k) {
        project(rod, X + (size_t)k * stride);
    }
}

// What the end misses moves the rod's points when it is closed; less than this, in radii, contacts
// need not know of.
double held_end_residual(const Rod* rod, const RodStep* step) {
    double miss[ROWS];
    if (hold_of(rod)->gives) {
        return 0.0;
    }
    double left = find_miss(rod, step, NULL, miss);
    double radius = fmin(rod->radius[0], rod->radius[1]);
    return left * rod_length(rod) > UNFELT * radius ? left : 0.0;
}

bool held_end_predict_again(Rod* rod, const RodStep* step) {
    double miss[ROWS], change[ROWS] = {0};
    size_t size = ((size_t)rod->dof_count + 1) * sizeof(double);
    find_miss(rod, step, NULL, miss);
    bool found = find_turn(rod, step, miss, change);
    memcpy(rod->v_free, alone_of(rod), size);
    add_impulse(rod, change);
    memcpy(alone_of(rod), rod->v_free, size);
    return found;
}

void held_end_touch(Rod* rod, const RodStep* step, const double* impulse) {
    if (rod->held == NULL || impulse == NULL) {
        return;
    }
    int rows = row_count(rod->end_hold), n = rod->dof_count;
    Hold* hold = hold_of(rod);
    hold->pull += impulse[n];
    if (hold->gives) {
        find_rate(rod);
        return;
    }
    const double c[ROWS] = {hold->reach.x, hold->reach.y, hold->reach.z};
    double change[ROWS];
    for (int r = 0; r < rows; ++r) {
        change[r] = -tdl_dot(n, columns_of(rod) + (ptrdiff_t)r * n, impulse) -
                    c[r] * hold->soft * impulse[n];
    }
    solve_rows(rod, change);
    for (int r = 0; r < rows; ++r) { // v_free has it already
        hold->impulse[r] += change[r];
    }
    find_rate(rod);
    close_end(rod, step);
    limit(rod, step);
}

// --- the end of the step --------------------------------------------------------------------

void held_end_add_losses(const Rod* rod, const RodStep* step, RodLosses* losses) {
    if (rod->held == NULL) {
        return;
    }
    const Hold* hold = hold_of(rod);
    double dt = step->dt, stiffness = rod_stretch_stiffness(rod) * rod_length(rod);
    double rate = rate_of(rod), square = stiffness * rate * rate;
    losses->damping += dt * rod->damping * square;
    losses->numerical += 0.5 * dt * dt * square;
    losses->work += dt * hold->weight * rate;
    losses->given += dt * hold->wind * rate;
    losses->hold += rate * tdl_dot3(hold->reach, tdl_load3(hold->impulse, 0));
}

void held_end_advance(Rod* rod, const RodStep* step) {
    if (rod->held == NULL) {
        return;
    }
    const Hold* hold = hold_of(rod);
    RodHeld* state = &rod->held_state;
    state->stretch_before = state->stretch;
    state->stretch += step->dt * rate_of(rod);
    state->force = tdl_scale3(1.0 / step->dt, tdl_load3(hold->impulse, 0));
    rod_set_stretch(rod);
}

RodWrench held_end_impulse(const Rod* rod) {
    const Hold* hold = hold_of(rod);
    return (RodWrench){tdl_load3(hold->impulse, 0), tdl_load3(hold->impulse, 1)};
}

bool held_end_met(const Rod* rod) {
    return rod->held == NULL || hold_of(rod)->miss <= MET;
}

double held_end_limit(const Rod* rod) {
    return rod->held != NULL && hold_of(rod)->gives ? held_end_most(rod) : 0.0;
}
