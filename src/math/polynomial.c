// Real roots of quadratics, cubics and quartics.
//
// Between two neighbouring critical points a polynomial is monotone, so a root there is known from
// the signs at the ends and found by a safeguarded Newton iteration. The critical points are the
// roots of the derivative, found in the same way; a quadratic ends the recursion. Against closed
// formulas this costs a few dozen evaluations (about 0.8 us for a quartic) and loses no root to
// cancellation: the backward error is a few eps for any coefficients. A critical value within
// rounding of zero counts as a multiple root.
#include "math/polynomial.h"

#include <float.h>
#include <math.h>

enum { MAX_DEGREE = 4, MAX_NEWTON = 200 };

// A value below this part of sum |a_i x^i| may be zero: half an eps from each coefficient and half
// from each step of Horner's rule, for degree 4, with a margin of 1.5.
static const double TOUCH_TOL = 6.0 * DBL_EPSILON;

// The same for the discriminant of a quadratic, which is computed to one rounding.
static const double DISCRIMINANT_TOL = 2.0 * DBL_EPSILON;

// Beyond this |x| the powers of x are not formed.
static const double FAR = 0x1p200;

typedef struct Polynomial {
    int degree;
    double a[MAX_DEGREE + 1];
} Polynomial;

typedef struct Value {
    double p, slope, size; // p(x), p'(x), sum |a_i x^i|, times a common positive factor
} Value;

static int find_roots(int degree, const double* a, double* roots);

static Value evaluate(const Polynomial* f, double x) {
    int n = f->degree;
    if (fabs(x) <= FAR) {
        Value v = {f->a[n], 0.0, fabs(f->a[n])};
        for (int i = n - 1; i >= 0; --i) {
            v.slope = v.slope * x + v.p;
            v.p = v.p * x + f->a[i];
            v.size = v.size * fabs(x) + fabs(f->a[i]);
        }
        return v;
    }

    // p = x^n q(1/x), divided by |x|^n
    double w = 1.0 / x, q = f->a[0], dq = 0.0, size = fabs(f->a[0]);
    for (int i = 1; i <= n; ++i) {
        dq = dq * w + q;
        q = q * w + f->a[i];
        size = size * fabs(w) + fabs(f->a[i]);
    }
    double sign = n % 2 == 1 && x < 0.0 ? -1.0 : 1.0;
    return (Value){sign * q, sign * w * (n * q - w * dq), size};
}

// The sign of f at x; 0 when rounding hides it
static int sign_at(const Polynomial* f, double x) {
    Value v = evaluate(f, x);
    if (fabs(v.p) <= TOUCH_TOL * v.size) {
        return 0;
    }
    return v.p > 0.0 ? 1 : -1;
}

// A point that halves the interval: in exponents while these differ, then in value.
static double middle(double low, double high) {
    if (fabs(high) > 4.0 * fabs(low) || fabs(low) > 4.0 * fabs(high)) {
        return copysign(sqrt(fabs(low)) * sqrt(fabs(high)), low);
    }
    return 0.5 * (low + high);
}

static double largest_coefficient(const Polynomial* f) {
    double largest = 0.0;
    for (int i = 0; i <= f->degree; ++i) {
        largest = fmax(largest, fabs(f->a[i]));
    }
    return largest;
}

// Removes a neighbourhood of zero from the bracket, where f has no root; f(0) is not zero.
static void exclude_zero(const Polynomial* f, int sign_low, double* low, double* high) {
    double a0 = fabs(f->a[0]), bound = 0.5 * a0 / (a0 + largest_coefficient(f));
    int sign_zero = f->a[0] > 0.0 ? 1 : -1;
    if (*low >= 0.0 || (*high > 0.0 && sign_zero == sign_low)) {
        *low = fmin(fmax(*low, bound), *high);
    } else {
        *high = fmax(fmin(*high, -bound), *low);
    }
}

// The root in [low, high], where f is monotone and changes its sign from sign_low: Newton, with
// bisection where Newton leaves the bracket, takes long steps or does not halve them.
static double refine(const Polynomial* f, double low, double high, int sign_low) {
    exclude_zero(f, sign_low, &low, &high);
    double x = middle(low, high), last_step = INFINITY;
    for (int iter = 0; iter < MAX_NEWTON; ++iter) {
        Value v = evaluate(f, x);
        if (v.p == 0.0) {
            return x;
        }
        *((v.p > 0.0) == (sign_low > 0) ? &low : &high) = x;

        double step = v.p / v.slope, next = x - step;
        bool newton = next > low && next < high && fabs(step) <= 0.5 * last_step &&
                      fabs(step) <= 0.25 * fabs(x); // else x may still be many powers of 2 away
        if (fabs(v.p) <= DBL_EPSILON * v.size) {
            return newton ? next : x; // nothing but rounding is left
        }
        last_step = newton ? fabs(step) : fabs(high - low);
        next = newton ? next : middle(low, high);
        if (fabs(next - x) <= 0.5 * DBL_EPSILON * fabs(x)) {
            return next;
        }
        x = next;
    }
    return x;
}

// a x^2 + 2 h x + c, with the discriminant h^2 - a c to one rounding (Kahan)
static int quadratic_roots(const Polynomial* f, double* roots) {
    double a = f->a[2], h = 0.5 * f->a[1], c = f->a[0];
    double ac = a * c, d = fma(h, h, -ac) + fma(-a, c, ac);
    if (d <= 0.0) {
        roots[0] = -h / a;
        return d >= -DISCRIMINANT_TOL * (h * h + fabs(ac)) ? 1 : 0;
    }
    double s = -(h + copysign(sqrt(d), h)); // no cancellation
    double u = s / a, v = c / s;
    roots[0] = fmin(u, v);
    roots[1] = fmax(u, v);
    return u == v ? 1 : 2;
}

// The critical points of f between -bound and bound, with the two ends.
static int split_line(const Polynomial* f, double bound, double* points) {
    double derivative[MAX_DEGREE], inner[MAX_DEGREE];
    for (int i = 1; i <= f->degree; ++i) {
        derivative[i - 1] = i * f->a[i];
    }
    int inner_count = find_roots(f->degree - 1, derivative, inner), count = 0;
    points[count++] = -bound;
    for (int i = 0; i < inner_count; ++i) {
        if (fabs(inner[i]) < bound) {
            points[count++] = inner[i];
        }
    }
    points[count++] = bound;
    return count;
}

// Roots of a cubic or quartic whose first and last coefficients are not zero.
static int monotone_roots(const Polynomial* f, double* roots) {
    double points[MAX_DEGREE + 1];
    int signs[MAX_DEGREE + 1], count = 0;
    double cauchy = 1.0 + largest_coefficient(f) / fabs(f->a[f->degree]);
    int point_count = split_line(f, fmin(2.0 * cauchy, 0x1p1020), points);
    for (int i = 0; i < point_count; ++i) {
        signs[i] = sign_at(f, points[i]);
    }
    for (int i = 0; i < point_count; ++i) {
        int last = i;
        while (signs[i] == 0 && last + 1 < point_count && signs[last + 1] == 0) {
            ++last; // f is monotone between, hence zero to rounding throughout: one root
        }
        if (signs[i] == 0) {
            roots[count++] = 0.5 * points[i] + 0.5 * points[last];
        } else if (i + 1 < point_count && signs[i] * signs[i + 1] < 0) {
            roots[count++] = refine(f, points[i], points[i + 1], signs[i]);
        }
        i = last;
    }
    return count;
}

// Scales x by 2^k and f by another power of two, so that the first and last coefficients are of
// like size and the largest is near 1. Exact, short of underflow. Returns k.
static int balance(Polynomial* f) {
    int exponent[MAX_DEGREE + 1] = {0}, n = f->degree, top = -100000;
    double mantissa[MAX_DEGREE + 1];
    for (int i = 0; i <= n; ++i) {
        mantissa[i] = frexp(f->a[i], &exponent[i]);
    }
    int k = (exponent[0] - exponent[n]) / n;
    for (int i = 0; i <= n; ++i) {
        exponent[i] += i * k;
        top = f->a[i] != 0.0 && exponent[i] > top ? exponent[i] : top;
    }
    for (int i = 0; i <= n; ++i) {
        f->a[i] = ldexp(mantissa[i], exponent[i] - top);
    }
    return k;
}

// Puts the root zero into its place among the others.
static int insert_zero(double* roots, int count) {
    int i = count;
    for (; i > 0 && roots[i - 1] >= 0.0; --i) {
        if (roots[i - 1] == 0.0) {
            return count; // a root that underflowed
        }
        roots[i] = roots[i - 1];
    }
    roots[i] = 0.0;
    return count + 1;
}

// Roots of a polynomial whose first and last coefficients are not zero
static int regular_roots(Polynomial* f, double* roots) {
    if (f->degree == 0) {
        return 0;
    }
    int k = balance(f), found, count = 0;
    if (f->degree == 1) {
        roots[0] = -f->a[0] / f->a[1];
        found = 1;
    } else {
        found = f->degree == 2 ? quadratic_roots(f, roots) : monotone_roots(f, roots);
    }
    for (int i = 0; i < found; ++i) {
        double root = ldexp(roots[i], k);
        if (isfinite(root)) { // else it is beyond the range of doubles
            roots[count++] = root;
        }
    }
    return count;
}

static int find_roots(int degree, const double* a, double* roots) {
    for (int i = 0; i <= degree; ++i) {
        if (!isfinite(a[i])) {
            return 0;
        }
    }

    // vanishing coefficients at either end lower the degree
    int first = 0, last = degree;
    while (last >= 0 && a[last] == 0.0) {
        --last;
    }
    if (last < 0) {
        return TDL_ROOTS_ALL;
    }
    while (a[first] == 0.0) {
        ++first;
    }
    Polynomial f = {.degree = last - first};
    for (int i = first; i <= last; ++i) {
        f.a[i - first] = a[i];
    }
    int count = regular_roots(&f, roots);
    return first > 0 ? insert_zero(roots, count) : count;
}

int tdl_roots_quadratic(const double a[3], double roots[2]) {
    return find_roots(2, a, roots);
}

int tdl_roots_cubic(const double a[4], double roots[3]) {
    return find_roots(3, a, roots);
}

int tdl_roots_quartic(const double a[5], double roots[4]) {
    return find_roots(4, a, roots);
}
