// Symmetric eigenvalues: cyclic Jacobi for 3 x 3; for n x n, Householder reduction to a
// tridiagonal matrix and bisection on the number of negative pivots (Sturm). Both are backward
// stable: errors are a few eps times the norm.
#include "math/eigen.h"

#include "math/dense.h"
#include "math/rotation.h"

#include <float.h>

enum { MAX_SWEEPS = 30, MAX_BISECTIONS = 120 };

// --- 3 x 3 ----------------------------------------------------------------------------------

// One Jacobi rotation in the plane (p, q) that makes m[p][q] vanish.
static void rotate_plane(double m[3][3], double v[3][3], int p, int q) {
    if (m[p][q] == 0.0) {
        return;
    }
    double theta = (m[q][q] - m[p][p]) / (2.0 * m[p][q]);
    double t = copysign(1.0, theta) / (fabs(theta) + hypot(theta, 1.0));
    double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    int r = 3 - p - q;
    double change = t * m[p][q], mrp = m[r][p], mrq = m[r][q];
    m[p][p] -= change;
    m[q][q] += change;
    m[p][q] = m[q][p] = 0.0;
    m[r][p] = m[p][r] = c * mrp - s * mrq;
    m[r][q] = m[q][r] = s * mrp + c * mrq;
    for (int k = 0; k < 3; ++k) {
        double vp = v[p][k], vq = v[q][k];
        v[p][k] = c * vp - s * vq;
        v[q][k] = s * vp + c * vq;
    }
}

void tdl_eigen_3(TdlMat3 a, double values[3], TdlMat3* vectors) {
    double m[3][3] = {{a.cx.x, a.cx.y, a.cx.z}, {a.cx.y, a.cy.y, a.cy.z}, {a.cx.z, a.cy.z, a.cz.z}};
    double v[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}; // rows: eigenvectors
    for (int sweep = 0; sweep < MAX_SWEEPS; ++sweep) {
        double off = fabs(m[0][1]) + fabs(m[0][2]) + fabs(m[1][2]);
        double diagonal = fabs(m[0][0]) + fabs(m[1][1]) + fabs(m[2][2]);
        if (!(off > 1.0e-3 * DBL_EPSILON * diagonal)) {
            break;
        }
        rotate_plane(m, v, 0, 1);
        rotate_plane(m, v, 0, 2);
        rotate_plane(m, v, 1, 2);
    }

    // increasing order; the third vector closes a right-handed frame
    int order[3] = {0, 1, 2};
    for (int i = 0; i < 3; ++i) {
        for (int k = 2; k > i; --k) {
            if (m[order[k]][order[k]] < m[order[k - 1]][order[k - 1]]) {
                int swap = order[k];
                order[k] = order[k - 1];
                order[k - 1] = swap;
            }
        }
    }
    for (int i = 0; i < 3; ++i) {
        values[i] = m[order[i]][order[i]];
    }
    vectors->cx = tdl_load3(v[order[0]], 0);
    vectors->cy = tdl_load3(v[order[1]], 0);
    vectors->cz = tdl_cross3(vectors->cx, vectors->cy);
    *vectors = tdl_rotation_nearest(*vectors); // a dozen rotations have drifted by as many eps
}

// --- n x n ----------------------------------------------------------------------------------

// The largest entry by magnitude; NaN when one is not finite.
static double largest_entry(int n, const double* a, int ld) {
    double largest = 0.0;
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            double entry = fabs(a[i + (ptrdiff_t)j * (ptrdiff_t)ld]);
            if (!isfinite(entry)) {
                return NAN;
            }
            largest = fmax(largest, entry);
        }
    }
    return largest;
}

// p = A v for the lower triangle of a
static void symmetric_product(int n, const double* a, int ld, const double* restrict v,
                              double* restrict p) {
    for (int i = 0; i < n; ++i) {
        p[i] = 0.0;
    }
    for (int j = 0; j < n; ++j) {
        const double* restrict c = a + (ptrdiff_t)j * (ptrdiff_t)ld;
        p[j] += c[j] * v[j] + tdl_dot(n - 1 - j, c + j + 1, v + j + 1);
        for (int i = j + 1; i < n; ++i) {
            p[i] += c[i] * v[j];
        }
    }
}

// Applies to the trailing matrix the reflection that maps x (m entries) on its first axis; x is
// overwritten by the reflection vector. Returns the remaining first entry.
static double reflect(int m, double* x, double* trailing, int ld, double* p) {
    double tail = tdl_dot(m - 1, x + 1, x + 1);
    if (tail == 0.0) {
        return x[0];
    }
    double length = sqrt(x[0] * x[0] + tail), head = x[0] > 0.0 ? -length : length;
    x[0] -= head;
    double tau = 2.0 / (x[0] * x[0] + tail);

    // A <- A - v w' - w v' with w = tau A v - (tau^2/2) (v' A v) v
    symmetric_product(m, trailing, ld, x, p);
    double half = 0.5 * tau * tau * tdl_dot(m, x, p);
    for (int i = 0; i < m; ++i) {
        p[i] = tau * p[i] - half * x[i];
    }
    for (int j = 0; j < m; ++j) {
        double* restrict c = trailing + (ptrdiff_t)j * (ptrdiff_t)ld;
        double vj = x[j], wj = p[j];
        for (int i = j; i < m; ++i) {
            c[i] -= x[i] * wj + p[i] * vj;
        }
    }
    return head;
}

// The number of eigenvalues of the tridiagonal matrix (d, e) below x
static int count_below(int n, const double* d, const double* e, double x) {
    int count = 0;
    double pivot = 1.0;
    for (int i = 0; i < n; ++i) {
        pivot = d[i] - x - (i > 0 ? e[i - 1] * e[i - 1] / pivot : 0.0);
        if (pivot == 0.0) {
            pivot = DBL_MIN;
        }
        count += pivot < 0.0;
    }
    return count;
}

double tdl_smallest_eigenvalue(int n, double* a, int ld, double* scratch) {
    double *d = scratch, *e = scratch + n, *p = scratch + 2 * n;
    double scale = largest_entry(n, a, ld);
    if (!(scale > 0.0)) {
        return scale;
    }

    // scale to 1, then reduce column by column
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            a[i + (ptrdiff_t)j * (ptrdiff_t)ld] /= scale;
        }
    }
    for (int k = 0; k < n; ++k) {
        double* corner = a + (ptrdiff_t)k * (ptrdiff_t)ld + k;
        d[k] = corner[0];
        e[k] = k + 1 < n ? reflect(n - k - 1, corner + 1, corner + ld + 1, ld, p) : 0.0;
    }

    // Gershgorin's interval, then bisection down to neighbouring numbers
    double low = d[0], high = d[0];
    for (int i = 0; i < n; ++i) {
        low = fmin(low, d[i] - fabs(e[i]) - (i > 0 ? fabs(e[i - 1]) : 0.0));
        high = fmin(high, d[i]); // the smallest diagonal entry is an upper bound
    }
    for (int iter = 0; iter < MAX_BISECTIONS; ++iter) {
        double middle = 0.5 * (low + high);
        if (!(middle > low && middle < high)) {
            break;
        }
        *(count_below(n, d, e, middle) > 0 ? &high : &low) = middle;
    }
    return scale * 0.5 * (low + high);
}
