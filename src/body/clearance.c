// A line cut by balls.
#include "body/clearance.h"

#include <math.h>

// The shares of a line at which it enters and leaves a ball; false: it does not.
static bool cut(const ClearBall* ball, TdlVec3 a, TdlVec3 b, double* in, double* out) {
    TdlVec3 along = tdl_sub3(b, a), from = tdl_sub3(a, ball->centre);
    double square = tdl_dot3(along, along), radius = ball->radius;
    if (!(square > 0.0)) { // a point
        *in = 0.0;
        *out = 1.0;
        return tdl_dot3(from, from) < radius * radius;
    }
    double middle = -tdl_dot3(from, along) / square;
    TdlVec3 nearest = tdl_axpy3(from, middle, along);
    double half = (radius * radius - tdl_dot3(nearest, nearest)) / square;
    if (!(half > 0.0)) {
        return false;
    }
    *in = middle - sqrt(half);
    *out = middle + sqrt(half);
    return *in < 1.0 && *out > 0.0;
}

int clearance_outside(const ClearBall* balls, int count, TdlVec3 a, TdlVec3 b,
                      double parts[CLEAR_BALLS + 1][2]) {
    int left = 1;
    parts[0][0] = 0.0;
    parts[0][1] = 1.0;
    for (int k = 0; k < count; ++k) {
        double in, out;
        if (!cut(&balls[k], a, b, &in, &out)) {
            continue;
        }
        int kept = 0;
        double next[CLEAR_BALLS + 2][2];
        for (int i = 0; i < left; ++i) {
            double lo = parts[i][0], hi = parts[i][1];
            if (lo < in) {
                next[kept][0] = lo;
                next[kept++][1] = fmin(hi, in);
            }
            if (hi > out) {
                next[kept][0] = fmax(lo, out);
                next[kept++][1] = hi;
            }
        }
        // one ball cuts one part at most in two
        left = kept;
        for (int i = 0; i < left; ++i) {
            parts[i][0] = next[i][0];
            parts[i][1] = next[i][1];
        }
    }
    return left;
}
