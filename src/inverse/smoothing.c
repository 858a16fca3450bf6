// The smoothing spline: least squares of the distances plus alpha times the integral of x''^2.
//
// Its second derivatives at the inner knots solve a matrix with five diagonals (V.12). Cross
// validation (V.13) needs the trace of the inverse of it times another with five: the five
// diagonals of the inverse follow from the factors, backwards. One alpha costs O(n); it is sought
// on a grid of powers, since the criterion may have two minima, then by the golden section; that of
// a given noise by halving.
#include "inverse/smoothing.h"

// Decades of alpha over the cube of the mean step that are looked at: at the lowest a spline
// follows all but 1e-8 of what changes from knot to knot, at the highest a line is left of 1000
// knots.
static const double LOWEST = -8.0, HIGHEST = 12.0;

// By how much a freedom counts more than one in cross validation, which otherwise follows the noise
// of one set of 30 points in ten (turning up to 1.9 of the true one); with more than this curves
// lose their bends at the ends. (V.13)
static const double PENALTY = 1.2;

// Both end with alpha known to 1e-5 of a decade.
enum { GRID = 41, GOLDEN_STEPS = 24, HALVINGS = 21 };

typedef struct Smoother {
    int n;            // knots
    const double* u;  // [n]
    const TdlVec3* y; // [n]
    double scale;     // the cube of the mean step
    double* per;      // [n - 1] one over each step
    // [n - 2]: entries of R and of Q'Q in a row, on the diagonal and behind it; Q'x
    double *r0, *r1, *q0, *q1, *q2;
    TdlVec3* side;
    // [n - 2]: of R + alpha Q'Q = L D L', its second derivatives, and the inverse's diagonals
    double *d, *l1, *l2, *b0, *b1, *b2;
    TdlVec3* gamma;
} Smoother;

// Column j of Q: second differences at knot j + 1, over the steps. (V.12)
static void column(const Smoother* m, int j, double q[3]) {
    q[0] = m->per[j];
    q[2] = m->per[j + 1];
    q[1] = -q[0] - q[2];
}

// What does not change with alpha. (V.12)
static void fill_bands(Smoother* m) {
    int k = m->n - 2;
    for (int i = 0; i <= k; ++i) {
        m->per[i] = 1.0 / (m->u[i + 1] - m->u[i]);
    }
    for (int j = 0; j < k; ++j) {
        double a[3], b[3] = {0}, c[3] = {0};
        column(m, j, a);
        if (j + 1 < k) {
            column(m, j + 1, b);
        }
        if (j + 2 < k) {
            column(m, j + 2, c);
        }
        m->r0[j] = (m->u[j + 2] - m->u[j]) / 3.0;
        m->r1[j] = j + 1 < k ? (m->u[j + 2] - m->u[j + 1]) / 6.0 : 0.0;
        m->q0[j] = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
        m->q1[j] = a[1] * b[0] + a[2] * b[1];
        m->q2[j] = a[2] * c[0];
        TdlVec3 side = tdl_scale3(a[0], m->y[j]);
        m->side[j] = tdl_axpy3(tdl_axpy3(side, a[1], m->y[j + 1]), a[2], m->y[j + 2]);
    }
}

static bool make_smoother(Arena* arena, Smoother* m) {
    int k = m->n - 2;
    double** arrays[] = {&m->per, &m->r0, &m->r1, &m->q0, &m->q1, &m->q2,
                         &m->d,   &m->l1, &m->l2, &m->b0, &m->b1, &m->b2};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) {
        *arrays[i] = ARENA_NEW(arena, double, k + 2);
        if (*arrays[i] == NULL) {
            return false;
        }
    }
    m->gamma = ARENA_NEW(arena, TdlVec3, k + 2);
    m->side = ARENA_NEW(arena, TdlVec3, k + 2);
    if (m->gamma == NULL || m->side == NULL) {
        return false;
    }
    fill_bands(m);
    return true;
}

// Factors, and second derivatives in gamma. (V.12)
static void solve(Smoother* m, double alpha) {
    int k = m->n - 2;
    for (int j = 0; j < k; ++j) {
        TdlVec3 side = m->side[j];
        double d = m->r0[j] + alpha * m->q0[j], next = m->r1[j] + alpha * m->q1[j];
        if (j >= 1) {
            d -= m->l1[j - 1] * m->l1[j - 1] * m->d[j - 1];
            next -= m->l1[j - 1] * m->d[j - 1] * m->l2[j - 1];
            side = tdl_axpy3(side, -m->l1[j - 1], m->gamma[j - 1]);
        }
        if (j >= 2) {
            d -= m->l2[j - 2] * m->l2[j - 2] * m->d[j - 2];
            side = tdl_axpy3(side, -m->l2[j - 2], m->gamma[j - 2]);
        }
        double inverse = 1.0 / d;
        m->d[j] = d;
        m->l1[j] = next * inverse;
        m->l2[j] = alpha * m->q2[j] * inverse;
        m->gamma[j] = side;
    }
    for (int j = k - 1; j >= 0; --j) {
        TdlVec3 g = tdl_scale3(1.0 / m->d[j], m->gamma[j]);
        g = j + 1 < k ? tdl_axpy3(g, -m->l1[j], m->gamma[j + 1]) : g;
        m->gamma[j] = j + 2 < k ? tdl_axpy3(g, -m->l2[j], m->gamma[j + 2]) : g;
    }
}

// By how much knot i moves: alpha Q gamma.
static TdlVec3 shift(const Smoother* m, double alpha, int i) {
    TdlVec3 sum = {0};
    for (int j = i - 2; j <= i; ++j) {
        if (j >= 0 && j < m->n - 2) {
            double q[3];
            column(m, j, q);
            sum = tdl_axpy3(sum, alpha * q[i - j], m->gamma[j]);
        }
    }
    return sum;
}

static double squares(const Smoother* m, double alpha) {
    double sum = 0.0;
    for (int i = 0; i < m->n; ++i) {
        TdlVec3 by = shift(m, alpha, i);
        sum += tdl_dot3(by, by);
    }
    return sum;
}

// The trace of alpha Q (R + alpha Q'Q)^-1 Q', from the inverse's diagonals. (V.14)
static double trace(Smoother* m, double alpha) {
    int k = m->n - 2;
    double sum = 0.0;
    for (int j = k - 1; j >= 0; --j) {
        double l1 = j + 1 < k ? m->l1[j] : 0.0, l2 = j + 2 < k ? m->l2[j] : 0.0;
        double n0 = j + 1 < k ? m->b0[j + 1] : 0.0, n1 = j + 2 < k ? m->b1[j + 1] : 0.0;
        double f0 = j + 2 < k ? m->b0[j + 2] : 0.0;
        m->b1[j] = -l1 * n0 - l2 * n1;
        m->b2[j] = -l1 * n1 - l2 * f0;
        m->b0[j] = 1.0 / m->d[j] - l1 * m->b1[j] - l2 * m->b2[j];
        sum += m->q0[j] * m->b0[j] + 2.0 * (m->q1[j] * m->b1[j] + m->q2[j] * m->b2[j]);
    }
    return alpha * sum;
}

// What is to be least. (V.13)
static double criterion(Smoother* m, double decade) {
    double alpha = m->scale * pow(10.0, decade);
    solve(m, alpha);
    double mean = squares(m, alpha) / m->n;
    double rest = 1.0 - PENALTY * (1.0 - trace(m, alpha) / m->n);
    return rest > 0.0 ? mean / (rest * rest) : INFINITY;
}

// Where the root mean square of the distances is the noise: it grows with alpha.
static double decade_of_noise(Smoother* m, double noise) {
    double low = LOWEST, high = HIGHEST;
    for (int i = 0; i < HALVINGS; ++i) {
        double middle = 0.5 * (low + high), alpha = m->scale * pow(10.0, middle);
        solve(m, alpha);
        *(squares(m, alpha) < noise * noise * m->n ? &low : &high) = middle;
    }
    return 0.5 * (low + high);
}

static double best_decade(Smoother* m) {
    double best = LOWEST, least = INFINITY, step = (HIGHEST - LOWEST) / (GRID - 1);
    for (int i = 0; i < GRID; ++i) {
        double value = criterion(m, LOWEST + i * step);
        if (value < least) {
            least = value;
            best = LOWEST + i * step;
        }
    }
    const double GOLDEN = 0.6180339887498949;
    double a = best - step, b = best + step, p = b - GOLDEN * (b - a), q = a + GOLDEN * (b - a);
    double fp = criterion(m, p), fq = criterion(m, q);
    for (int i = 0; i < GOLDEN_STEPS; ++i) {
        if (fp < fq) {
            b = q;
            q = p;
            fq = fp;
            p = b - GOLDEN * (b - a);
            fp = criterion(m, p);
        } else {
            a = p;
            p = q;
            fp = fq;
            q = a + GOLDEN * (b - a);
            fq = criterion(m, q);
        }
    }
    return 0.5 * (a + b);
}

// A closed curve three times round, of which the middle one is kept: its ends are far enough.
static bool lay_out(Arena* arena, const Spline* spline, bool closed, Smoother* m) {
    int pieces = spline->count, rounds = closed ? 3 : 1;
    m->n = rounds * pieces + 1;
    double* u = ARENA_NEW(arena, double, m->n);
    TdlVec3* y = ARENA_NEW(arena, TdlVec3, m->n);
    if (u == NULL || y == NULL) {
        return false;
    }
    for (int i = 0; i < m->n; ++i) {
        int round = i < m->n - 1 || closed ? i / pieces : 0;
        int knot = i - round * pieces;
        u[i] = spline->u[knot] + round * spline->u[pieces];
        y[i] = spline->x[knot];
    }
    m->u = u;
    m->y = y;
    m->scale = pow(spline->u[pieces] / pieces, 3.0);
    return make_smoother(arena, m);
}

bool smooth_knots(Arena* arena, Spline* spline, bool closed, double noise, double* moved) {
    *moved = 0.0;
    if (spline->count < 4) {
        return true;
    }
    ArenaMark mark = arena_mark(arena);
    Smoother m;
    if (!lay_out(arena, spline, closed, &m)) {
        return false;
    }
    double alpha = m.scale * pow(10.0, noise > 0.0 ? decade_of_noise(&m, noise) : best_decade(&m));
    solve(&m, alpha);
    int first = closed ? spline->count : 0, last = closed ? spline->count - 1 : spline->count;
    double sum = 0.0;
    for (int i = 0; i <= last; ++i) {
        TdlVec3 by = shift(&m, alpha, first + i);
        sum += tdl_dot3(by, by);
        spline->x[i] = tdl_sub3(spline->x[i], by);
    }
    if (closed) {
        spline->x[spline->count] = spline->x[0];
    }
    *moved = sqrt(sum / (last + 1));
    arena_release(arena, mark);
    return true;
}
