// A held far end. With H the Jacobian of the end's place (and turning, when clamped) and
// Y = A^-1 H', the held rod's velocity is v + Y (H Y)^-1 (target - H v). The target brings the end
// where it has to be at the end of the step, so that errors of linearisation do not gather. O(N).
#include "rod/held_end.h"

#include "math/dense.h"
#include "math/rotation.h"

#include <string.h>

// Added to H Y, relative to its trace: an inextensible rod stretched straight cannot be moved along
// itself, and then needs no force to stay.
static const double SLACK = 1.0e-12;

static int row_count(TdlHold end) {
    return end == TDL_HOLD_CLAMPED ? 6 : end == TDL_HOLD_PINNED ? 3 : 0;
}

size_t held_end_count(TdlHold end, int dof_count) {
    size_t rows = (size_t)row_count(end);
    return rows == 0 ? 0 : 2 * rows * (size_t)dof_count + rows * rows;
}

// held: H by rows, Y by columns, Cholesky factor of H Y
static double* rows_of(const Rod* rod) {
    return rod->held;
}

static double* columns_of(const Rod* rod) {
    return rod->held + (size_t)row_count(rod->end_hold) * (size_t)rod->dof_count;
}

static double* factor_of(const Rod* rod) {
    return rod->held + 2 * (size_t)row_count(rod->end_hold) * (size_t)rod->dof_count;
}

// Velocity the constrained motions must have: what is missing over dt, less what the motion of the
// start gives the end by itself.
static void find_target(const Rod* rod, const RodStep* step, double target[6]) {
    TdlPose now = rod_end(rod);
    TdlVec3 arm = tdl_sub3(now.position, rod->base.now.position);
    TdlVec3 move = tdl_scale3(1.0 / step->dt, tdl_sub3(step->end_end.position, now.position));
    move = tdl_sub3(move, step->base_rate.linear);
    tdl_store3(target, 0, tdl_sub3(move, tdl_cross3(step->base_rate.angular, arm)));
    TdlMat3 turn = tdl_mul33(step->end_end.rotation, tdl_transpose33(now.rotation));
    TdlVec3 spin = tdl_scale3(1.0 / step->dt, tdl_rotation_log(turn));
    tdl_store3(target, 1, tdl_sub3(spin, step->base_rate.angular));
}

static bool factor(const Rod* rod, int rows) {
    double *H = rows_of(rod), *Y = columns_of(rod), *W = factor_of(rod), trace = 0.0;
    int n = rod->dof_count;
    for (int c = 0; c < rows; ++c) {
        for (int r = 0; r < rows; ++r) {
            W[r + c * rows] = tdl_dot(n, H + (size_t)r * (size_t)n, Y + (size_t)c * (size_t)n);
        }
    }
    // place and turning have different units: each gets slack of its own size
    for (int k = 0; k < rows; k += 3) {
        trace = 0.0;
        for (int r = k; r < k + 3; ++r) {
            trace += W[r + r * rows];
        }
        for (int r = k; r < k + 3; ++r) {
            W[r + r * rows] += SLACK * trace;
        }
    }
    return tdl_cholesky(rows, W, rows) == rows;
}

bool held_end_predict(Rod* rod, const RodStep* step, HeldSolve* solve) {
    int rows = row_count(rod->end_hold), n = rod->dof_count;
    if (rows == 0) {
        return true;
    }
    double *H = rows_of(rod), *Y = columns_of(rod), target[6];
    rod->model->jacobian(rod, rod->element_count - 1, 1.0, tdl_identity33(), H);
    if (rows == 6) {
        rod->model->end_turning(rod, H + 3 * (size_t)n);
    }
    memcpy(Y, H, (size_t)rows * (size_t)n * sizeof *Y);
    solve(rod, rows, Y);
    if (!factor(rod, rows)) {
        return false;
    }
    find_target(rod, step, target);
    for (int r = 0; r < rows; ++r) {
        target[r] -= tdl_dot(n, H + (size_t)r * (size_t)n, rod->v_free);
    }
    tdl_cholesky_solve(rows, factor_of(rod), rows, 1, target, rows);
    for (int r = 0; r < rows; ++r) {
        for (int i = 0; i < n; ++i) {
            rod->v_free[i] += target[r] * Y[(size_t)r * (size_t)n + (size_t)i];
        }
    }
    return true;
}

void held_end_project(const Rod* rod, double* x) {
    int rows = row_count(rod->end_hold), n = rod->dof_count;
    double force[6];
    for (int r = 0; r < rows; ++r) {
        force[r] = tdl_dot(n, rows_of(rod) + (size_t)r * (size_t)n, x);
    }
    if (rows > 0) {
        tdl_cholesky_solve(rows, factor_of(rod), rows, 1, force, rows);
    }
    for (int r = 0; r < rows; ++r) {
        for (int i = 0; i < n; ++i) {
            x[i] -= force[r] * columns_of(rod)[(size_t)r * (size_t)n + (size_t)i];
        }
    }
}
