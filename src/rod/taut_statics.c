// Statics of a rod stretched straight. An inextensible rod whose ends are held as far apart as it
// is long has one centreline, the straight one, and to bend it even a little would take its end off
// its place: the rows of the held end have lost a rank there, and Newton's method has nothing to go
// by. The twist remains, whose energy is quadratic: it differs from the natural one by the same
// amount everywhere. (H.30)
#include "rod/taut_statics.h"

#include "math/dense.h"
#include "math/eigen.h"
#include "math/rotation.h"

// Slack, over the length, that cannot be told from none: the distance of two places is known to
// some roundings of the length, and a rod with a slack of 1e-12 still settles by Newton's method.
static const double TAUT = 2.0e-13;

// Sine between a clamp's tangent and the line of the ends that rounding makes, or a careful hand.
static const double ACROSS = 1.0e-9;

static const double TWO_PI = 6.28318530717958647693;

static TdlVec3 chord(const Rod* rod) {
    return tdl_sub3(rod->end.now.position, rod->base.now.position);
}

Tautness taut_find(const Rod* rod) {
    bool super = rod->model->end_turning != NULL;
    if (!super || rod->start_hold == TDL_HOLD_FREE || rod->end_hold == TDL_HOLD_FREE) {
        return TAUT_NOT;
    }
    double distance = tdl_norm3(chord(rod)), length = rod_length(rod);
    if (distance < (1.0 - TAUT) * length) {
        return TAUT_NOT;
    }
    if (distance > (1.0 + TAUT) * length) {
        return TAUT_TOO_FAR;
    }
    TdlVec3 line = tdl_scale3(1.0 / distance, chord(rod));
    TdlVec3 start = tdl_sub3(rod->base.now.rotation.cx, line);
    TdlVec3 end = tdl_sub3(rod->end.now.rotation.cx, line);
    bool across = (rod->start_hold == TDL_HOLD_CLAMPED && tdl_norm3(start) > ACROSS) ||
                  (rod->end_hold == TDL_HOLD_CLAMPED && tdl_norm3(end) > ACROSS);
    return across ? TAUT_ACROSS : TAUT_STRAIGHT;
}

// Number of twists: of elements, or of joints.
static int twist_count(const Rod* rod) {
    return (rod->dof_count - rod->root_dofs) / 3;
}

// How much twist i turns the end by.
static double share(const Rod* rod, int i) {
    bool joints = rod->model->extra_dofs > 0;
    return joints && (i == 0 || i == twist_count(rod) - 1) ? 0.5 : 1.0;
}

static double total_twist(const Rod* rod, const double* q) {
    double sum = 0.0;
    for (int i = 0; i < twist_count(rod); ++i) {
        sum += share(rod, i) * q[3 * i];
    }
    return sum;
}

static bool both_clamped(const Rod* rod) {
    return rod->start_hold == TDL_HOLD_CLAMPED && rod->end_hold == TDL_HOLD_CLAMPED;
}

// The angle between the clamps, with as many turns as the rod has now.
static double held_twist(const Rod* rod) {
    TdlMat3 turn = tdl_tmul33(rod->base.now.rotation, rod->end.now.rotation);
    double angle = atan2(turn.cy.z - turn.cz.y, turn.cy.y + turn.cz.z);
    return angle + TWO_PI * nearbyint((total_twist(rod, rod->q) - angle) / TWO_PI);
}

// The frame of a start that turns freely: along the line, and where the end is clamped, turned back
// from it by the natural twist.
static TdlMat3 free_frame(const Rod* rod) {
    if (rod->end_hold == TDL_HOLD_PINNED) {
        return tdl_frame_from_tangent_hint(chord(rod), rod->base.now.rotation.cy);
    }
    TdlVec3 back = {-total_twist(rod, rod->q_rest), 0.0, 0.0};
    return tdl_rotation_nearest(tdl_mul33(rod->end.now.rotation, tdl_rotation_exp(back)));
}

void taut_settle(Rod* rod) {
    int count = twist_count(rod);
    double more = 0.0;
    if (both_clamped(rod)) {
        more = (held_twist(rod) - total_twist(rod, rod->q_rest)) / rod->element_count;
    } else if (rod->start_hold == TDL_HOLD_PINNED) {
        rod->base.now.rotation = free_frame(rod);
    }
    for (int i = 0; i < count; ++i) {
        tdl_store3(rod->q, i, (TdlVec3){rod->q_rest[3 * i] + more, 0.0, 0.0});
    }
    rod_stop(rod);
}

double taut_residual(const Rod* rod, TdlVec3 gravity, double* gradient) {
    int count = twist_count(rod);
    rod->model->potential(rod, gravity, gradient, NULL);
    double along = 0.0, square = 0.0, largest = 0.0;
    for (int i = 0; i < count; ++i) { // the torque of the clamps
        along += both_clamped(rod) ? share(rod, i) * gradient[3 * i] : 0.0;
        square += share(rod, i) * share(rod, i);
    }
    for (int i = 0; i < count; ++i) {
        largest = fmax(largest, fabs(gradient[3 * i] - along / square * share(rod, i)));
    }
    return largest;
}

double taut_stiffness(const Rod* rod, TdlVec3 gravity, double* hessian, double* scratch) {
    int n = rod->dof_count, count = twist_count(rod);
    double square = 0.0, stiff = 0.0;
    rod->model->potential(rod, gravity, NULL, hessian);
    for (int j = 0; j < count; ++j) {
        for (int i = 0; i < count; ++i) {
            hessian[j * count + i] = hessian[(ptrdiff_t)(3 * j) * n + 3 * i];
        }
        square += share(rod, j) * share(rod, j);
    }
    if (rod->start_hold == TDL_HOLD_PINNED && rod->end_hold == TDL_HOLD_PINNED) {
        return 0.0; // it rolls about itself
    }
    if (!both_clamped(rod)) {
        return tdl_smallest_eigenvalue(count, hessian, count, scratch);
    }

    // H := P H P + stiff (1 - P), with P along the twists that leave the end where it is
    double *image = scratch, whole = 0.0;
    for (int i = 0; i < count; ++i) {
        image[i] = 0.0;
        for (int j = 0; j < count; ++j) {
            image[i] += hessian[j * count + i] * share(rod, j) / square;
        }
        whole += image[i] * share(rod, i) / square;
        stiff += hessian[i * count + i];
    }
    for (int j = 0; j < count; ++j) {
        for (int i = 0; i < count; ++i) {
            double a = share(rod, i), b = share(rod, j);
            hessian[j * count + i] +=
                (whole + stiff / square) * a * b - image[i] * b - a * image[j];
        }
    }
    return tdl_smallest_eigenvalue(count, hessian, count, scratch);
}
