// Helices about one axis: how near they come to each other, and how wide they must be. ropes.md
//
// The distance of a point of one helix from another of the same radius and lay depends on one angle
// alone, so the least is a search along a line: O(1), to rounding.
#include "inverse/rope_helices.h"

#include "tendril/rope.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

// A helix comes no nearer to another than where they are less than half a turn apart along the axis
// or a little more: the samples that bracket the minima of (U.4), a degree apart.
enum { SAMPLES = 720, NARROWINGS = 60, WIDENINGS = 200 };

// (U.4): squared distance at the angle `along` further on, of helices `ahead` apart. R^2 of the
// first part is 1, c^2 = `pitch`.
static double apart2(double ahead, double along, double pitch) {
    double half = sin(0.5 * (ahead + along));
    return 4.0 * half * half + pitch * along * along;
}

// The least of (U.4) between two samples around one, by golden section.
static double narrow(double ahead, double a, double b, double pitch) {
    const double golden = 0.6180339887498949;
    double x = b - golden * (b - a), y = a + golden * (b - a);
    double fx = apart2(ahead, x, pitch), fy = apart2(ahead, y, pitch);
    for (int k = 0; k < NARROWINGS; ++k) {
        if (fx < fy) {
            b = y, y = x, fy = fx;
            x = b - golden * (b - a), fx = apart2(ahead, x, pitch);
        } else {
            a = x, x = y, fx = fy;
            y = a + golden * (b - a), fy = apart2(ahead, y, pitch);
        }
    }
    return fmin(fx, fy);
}

// The least over both directions of a helix that is `ahead`; itself (0) only a turn on.
static double least2(double ahead, double pitch) {
    double step = 4.0 * PI / SAMPLES, least = INFINITY;
    for (int k = 1; k < SAMPLES; ++k) {
        double at = -2.0 * PI + k * step;
        double own = apart2(ahead, at, pitch);
        bool itself = ahead == 0.0 && fabs(at) < PI;
        if (!itself && own <= apart2(ahead, at - step, pitch) &&
            own <= apart2(ahead, at + step, pitch)) {
            least = fmin(least, narrow(ahead, at - step, at + step, pitch));
        }
    }
    return least;
}

double helices_apart(int count, double radius, double lay) {
    if (count < 1 || !(radius > 0.0) || !isfinite(radius) || !isfinite(lay) || lay == 0.0) {
        return NAN;
    }
    double pitch = pow(lay / (2.0 * PI * radius), 2.0), least = INFINITY;
    for (int k = 0; k <= count / 2; ++k) {
        least = fmin(least, least2(2.0 * PI * k / count, pitch));
    }
    return radius * sqrt(least);
}

// The distance grows with the radius until the helices are one above the other, |lay| / count
// apart.
double tdl_helices_radius(int count, double apart, double lay) {
    if (count < 2 || !(apart > 0.0) || !isfinite(apart) || !isfinite(lay) || lay == 0.0) {
        return NAN;
    }
    double high = 0.5 * apart / sin(PI / count), low = 0.5 * high;
    for (int k = 0; helices_apart(count, high, lay) < apart; ++k) {
        if (k == WIDENINGS || high > fabs(lay)) {
            return NAN;
        }
        low = high;
        high *= 1.02;
    }
    for (int k = 0; k < NARROWINGS; ++k) {
        double middle = 0.5 * (low + high);
        *(helices_apart(count, middle, lay) < apart ? &low : &high) = middle;
    }
    return high;
}
