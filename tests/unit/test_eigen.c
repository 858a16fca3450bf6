#include "math/eigen.h"

#include "base/rng.h"
#include "math/rotation.h"
#include "test.h"

static const double EPS = 0x1p-52;

static TdlMat3 compose(TdlMat3 v, const double d[3]) {
    TdlMat3 scaled = {tdl_scale3(d[0], v.cx), tdl_scale3(d[1], v.cy), tdl_scale3(d[2], v.cz)};
    return tdl_mul33(scaled, tdl_transpose33(v));
}

static double size33(TdlMat3 a) {
    return sqrt(tdl_dot3(a.cx, a.cx) + tdl_dot3(a.cy, a.cy) + tdl_dot3(a.cz, a.cz));
}

TEST(eigen_3_reconstructs_its_input) {
    Rng rng = rng_seed(1);
    double worst = 0.0, worst_value = 0.0, worst_defect = 0.0;
    for (int i = 0; i < 20000; ++i) {
        TdlMat3 v =
            tdl_rotation_exp((TdlVec3){rng_normal(&rng), rng_normal(&rng), rng_normal(&rng)});
        double scale = pow(10.0, rng_range(&rng, -120.0, 120.0)), d[3];
        d[0] = scale * rng_normal(&rng);
        d[1] = d[0] + (i % 3 == 0 ? pow(10.0, rng_range(&rng, -17.0, 0.0)) * scale : scale);
        d[2] = d[1] + (i % 5 == 0 ? 0.0 : scale * rng_unit(&rng));
        TdlMat3 a = compose(v, d), vectors;
        a.cy.x = a.cz.x = a.cz.y = NAN; // not read
        double values[3];
        tdl_eigen_3(a, values, &vectors);
        a.cy.x = a.cx.y, a.cz.x = a.cx.z, a.cz.y = a.cy.z;
        worst = fmax(worst, size33(tdl_sub33(compose(vectors, values), a)) / size33(a));
        worst_defect =
            fmax(worst_defect, size33(tdl_sub33(tdl_tmul33(vectors, vectors), tdl_identity33())));
        for (int k = 0; k < 3; ++k) {
            worst_value = fmax(worst_value, fabs(values[k] - d[k]) / size33(a));
        }
        CHECK(values[0] <= values[1] && values[1] <= values[2]);
        CHECK(tdl_det33(vectors) > 0.0);
    }
    printf("  worst, in eps: A V - V D %.1f, V'V - I %.1f, values %.1f\n", worst / EPS,
           worst_defect / EPS, worst_value / EPS);
    CHECK_BELOW(worst, 30.0 * EPS); // about 15 rotations of 2 eps each
    CHECK_BELOW(worst_defect, 8.0 * EPS);
    CHECK_BELOW(worst_value, 10.0 * EPS);
}

TEST(eigen_3_of_simple_matrices) {
    double values[3];
    TdlMat3 vectors;
    tdl_eigen_3(tdl_diag33((TdlVec3){0}), values, &vectors);
    CHECK(values[0] == 0.0 && values[2] == 0.0);
    tdl_eigen_3(tdl_diag33((TdlVec3){3.0, -1.0, 2.0}), values, &vectors);
    CHECK(values[0] == -1.0 && values[1] == 2.0 && values[2] == 3.0);
    TdlMat3 ones = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
    tdl_eigen_3(ones, values, &vectors);
    CHECK_NEAR(values[2], 3.0, 4 * EPS);
    CHECK_NEAR(values[0], 0.0, 4 * EPS);
}

enum { N = 60, LD = 64 };
static double a[LD * N], scratch[3 * N];

// A = H D H with a Householder reflection on each side, several times: known eigenvalues.
static void known_spectrum(Rng* rng, int n, const double* d) {
    double v[N], p[N];
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            a[i + j * LD] = i == j ? d[i] : 0.0;
        }
    }
    for (int turn = 0; turn < 3; ++turn) {
        double vv = 0.0, vp = 0.0;
        for (int i = 0; i < n; ++i) {
            v[i] = rng_normal(rng);
            vv += v[i] * v[i];
        }
        for (int i = 0; i < n; ++i) {
            p[i] = 0.0;
            for (int j = 0; j < n; ++j) {
                p[i] += a[i + j * LD] * v[j];
            }
            vp += v[i] * p[i];
        }
        for (int j = 0; j < n; ++j) {
            for (int i = 0; i < n; ++i) {
                a[i + j * LD] +=
                    -2.0 / vv * (v[i] * p[j] + p[i] * v[j]) + 4.0 * vp / (vv * vv) * v[i] * v[j];
            }
        }
    }
}

TEST(smallest_eigenvalue_of_a_known_spectrum) {
    Rng rng = rng_seed(2);
    double worst = 0.0;
    for (int trial = 0; trial < 300; ++trial) {
        int n = 1 + rng_below(&rng, N);
        double d[N], smallest = INFINITY, size = 0.0;
        double scale = trial % 3 == 0 ? pow(10.0, rng_range(&rng, -200.0, 200.0)) : 1.0;
        for (int i = 0; i < n; ++i) {
            // multiple, clustered, spread over decades, or plain
            d[i] = trial % 4 == 0   ? i % 2 - 0.5
                   : trial % 4 == 1 ? pow(10.0, rng_range(&rng, -12.0, 0.0))
                                    : rng_normal(&rng);
            d[i] *= scale;
            smallest = fmin(smallest, d[i]);
            size = fmax(size, fabs(d[i]));
        }
        known_spectrum(&rng, n, d);
        double value = tdl_smallest_eigenvalue(n, a, LD, scratch);
        worst = fmax(worst, fabs(value - smallest) / size);
    }
    printf("  worst error / norm: %.2g\n", worst);
    CHECK_BELOW(worst, 1.0e-14); // 60 eps; building the test matrix costs about 20 of them
}

TEST(smallest_eigenvalue_of_a_chain_is_known) {
    // second difference with fixed ends: 2 - 2 cos(pi/(n+1))
    for (int n = 1; n <= N; ++n) {
        memset(a, 0, sizeof a);
        for (int i = 0; i < n; ++i) {
            a[i + i * LD] = 2.0;
            if (i + 1 < n) {
                a[i + 1 + i * LD] = -1.0;
            }
        }
        double exact = 4.0 * pow(sin(1.5707963267948966 / (n + 1)), 2);
        CHECK_NEAR(tdl_smallest_eigenvalue(n, a, LD, scratch), exact, 10.0 * EPS);
    }
}

TEST(smallest_eigenvalue_of_bad_input) {
    memset(a, 0, sizeof a);
    CHECK(tdl_smallest_eigenvalue(5, a, LD, scratch) == 0.0);
    a[3 + LD] = NAN;
    CHECK(isnan(tdl_smallest_eigenvalue(5, a, LD, scratch)));
    a[3 + LD] = INFINITY;
    CHECK(isnan(tdl_smallest_eigenvalue(5, a, LD, scratch)));
}
