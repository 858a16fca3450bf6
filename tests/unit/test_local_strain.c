// One block of six components, that of a row of strain: the solver of one contact against bisection
// in extended precision on the whole block, which shares no line with it; and what bounds a row's
// step.
#include "base/rng.h"
#include "friction/local.h"
#include "test.h"

enum { D = 6 };

typedef struct Block {
    double g[6], w[D * D], b[D], mu;
} Block;

// W = 2 chi^-1(sym chi(e) G) from its definition: entry (a, b) is E_a E_b : G for the basis E. The
// double entries that result are what both sides solve.
static void block_of(Block* p) {
    const double n = sqrt(2.0 / 3.0), t = 1.0 / sqrt(3.0);
    const double e[D][3][3] = {
        {{n, 0, 0}, {0, n, 0}, {0, 0, n}},      {{1, 0, 0}, {0, -1, 0}, {0, 0, 0}},
        {{t, 0, 0}, {0, t, 0}, {0, 0, -2 * t}}, {{0, 1, 0}, {1, 0, 0}, {0, 0, 0}},
        {{0, 0, 1}, {0, 0, 0}, {1, 0, 0}},      {{0, 0, 0}, {0, 0, 1}, {0, 1, 0}},
    };
    const double* g = p->g;
    const double full[3][3] = {{g[0], g[1], g[2]}, {g[1], g[3], g[4]}, {g[2], g[4], g[5]}};
    for (int a = 0; a < D; ++a) {
        for (int b = 0; b < D; ++b) {
            double sum = 0.0;
            for (int k = 0; k < 27; ++k) {
                int i = k / 9, j = k / 3 % 3, l = k % 3;
                sum += 0.5 * (e[a][i][j] * e[b][i][l] + e[b][i][j] * e[a][i][l]) * full[j][l];
            }
            p->w[D * b + a] = sum;
        }
    }
}

// G of nodes around a row: isotropic on a lattice, up to flat in one direction.
static Block random_block(Rng* rng) {
    Block p = {.mu = rng_range(rng, 0.05, 1.5)};
    double v[9], flat = pow(10.0, rng_range(rng, -1.5, 0.0));
    for (int k = 0; k < 9; ++k) {
        v[k] = (k % 4 == 0 ? 1.0 : 0.0) + rng_range(rng, 0.0, 1.0) * rng_normal(rng);
        v[k] *= k >= 6 ? flat : 1.0;
    }
    for (int b = 0, at = 0; b < 3; ++b) {
        for (int a = b; a < 3; ++a) {
            for (int k = 0; k < 3; ++k) {
                p.g[at] += v[3 * k + a] * v[3 * k + b];
            }
            p.g[at] += a == b ? 0.02 : 0.0;
            ++at;
        }
    }
    block_of(&p);
    for (int k = 0; k < D; ++k) {
        p.b[k] = rng_normal(rng);
    }
    p.b[0] = -fabs(p.b[0]);
    return p;
}

// (W + alpha T) r = -b by elimination, T one on the tangential diagonal.
static void solve_at(const Block* p, long double alpha, long double* r) {
    long double a[D][D + 1];
    for (int i = 0; i < D; ++i) {
        for (int j = 0; j < D; ++j) {
            a[i][j] = (long double)p->w[D * j + i] + (i == j && i > 0 ? alpha : 0.0L);
        }
        a[i][D] = -(long double)p->b[i];
    }
    for (int k = 0; k < D; ++k) {
        for (int i = 0; i < D; ++i) {
            long double part = i == k ? 0.0L : a[i][k] / a[k][k];
            for (int j = k; j <= D && i != k; ++j) {
                a[i][j] -= part * a[k][j];
            }
        }
    }
    for (int k = 0; k < D; ++k) {
        r[k] = a[k][D] / a[k][k];
    }
}

static long double beyond(const Block* p, const long double* r) {
    long double t = 0.0L;
    for (int k = 1; k < D; ++k) {
        t += r[k] * r[k];
    }
    return sqrtl(t) - p->mu * r[0];
}

// The solution next to r: sticking where that is in the cone, else u_T = -alpha r_T with
// |r_T| = mu r_N, by bisection around the alpha of r. Strong coupling may have others. False: there
// is no change of sign.
static bool reference(const Block* p, const double* r, long double* exact) {
    long double square = 0.0L, product = 0.0L;
    solve_at(p, 0.0L, exact);
    if (beyond(p, exact) <= 0.0L) {
        return true;
    }
    for (int i = 1; i < D; ++i) {
        long double u = p->b[i];
        for (int j = 0; j < D; ++j) {
            u += (long double)p->w[D * j + i] * r[j];
        }
        square += (long double)r[i] * r[i];
        product -= u * r[i];
    }
    long double alpha = product / square, low = alpha - 1.0e-8L, high = alpha + 1.0e-8L;
    solve_at(p, low, exact);
    bool outside = beyond(p, exact) > 0.0L;
    solve_at(p, high, exact);
    bool inside = beyond(p, exact) <= 0.0L;
    for (int k = 0; k < 70; ++k) {
        long double mid = 0.5L * (low + high);
        solve_at(p, mid, exact);
        if (beyond(p, exact) > 0.0L) {
            low = mid;
        } else {
            high = mid;
        }
    }
    return outside && inside;
}

TEST(blocks_of_six_are_solved_to_thirteen_digits) {
    Rng rng = rng_seed(7);
    double worst = 0.0;
    int slides = 0;
    for (int k = 0; k < 5000; ++k) {
        Block p = random_block(&rng);
        double prep[40], r[D];
        long double exact[D], size = 0.0L, off = 0.0L;
        local_prepare(D, p.w, prep);
        CHECK(local_secular6(prep, LAW_CONE, p.mu, p.b, r) == LOCAL_SOLVED);
        CHECK(reference(&p, r, exact));
        slides += fabsl(beyond(&p, exact)) < 1.0e-12L;
        for (int e = 0; e < D; ++e) {
            size += exact[e] * exact[e];
            off += (r[e] - exact[e]) * (r[e] - exact[e]);
        }
        worst = fmax(worst, (double)sqrtl(off / size));
    }
    printf("  %d of 5000 slide; off by %.2g\n", slides, worst);
    CHECK(slides > 1000 && slides < 4900);
    CHECK(worst < 1.0e-13);
}

// Isotropic ones, and those of rows about one node or about a plane of them.
TEST(degenerate_matrices) {
    const double g[5][6] = {{1, 0, 0, 1, 0, 1},
                            {1, 0, 0, 0, 0, 0},
                            {1, 0, 0, 1, 0, 0},
                            {1e-20, 2e-21, 0, 1e-20, 0, 3e-20},
                            {0, 0, 0, 0, 0, 0}};
    for (int k = 0; k < 5; ++k) {
        Block p = {.mu = 0.4, .b = {-1.0, 0.3, -0.2, 0.1, 0.5, -0.7}};
        double prep[40], r[D];
        memcpy(p.g, g[k], sizeof p.g);
        block_of(&p);
        local_prepare(D, p.w, prep);
        LocalResult found = local_secular6(prep, LAW_CONE, p.mu, p.b, r);
        CHECK(found == (k == 4 ? LOCAL_NONE : LOCAL_SOLVED));
        double t = 0.0, u = p.b[0], scale = 0.0;
        for (int e = 0; e < D; ++e) {
            CHECK(isfinite(r[e]));
            t += e > 0 ? r[e] * r[e] : 0.0;
            u += p.w[D * e] * r[e];
            scale += fabs(p.w[D * e] * r[e]);
        }
        CHECK(sqrt(t) <= p.mu * r[0] * (1.0 + 1.0e-12));
        CHECK(k == 4 || fabs(u) <= 1.0e-12 * scale);
    }
}

static double largest_over_mean(const Block* p) {
    double a[D * D], q[D * D], most = 0.0, trace = 0.0;
    memcpy(a, p->w, sizeof a);
    local_eigen(D, a, q);
    for (int k = 0; k < D; ++k) {
        most = fmax(most, a[(D + 1) * k]);
        trace += a[(D + 1) * k];
    }
    return most / (trace / D);
}

// (A.46): the largest eigenvalue is at most three times the mean, and it is where all nodes lie on
// a line. Steps of 0.6 of the mean's inverse stay below 2 over the largest.
TEST(steps_are_short_enough_for_every_block) {
    Rng rng = rng_seed(11);
    double worst = 0.0;
    for (int k = 0; k < 5000; ++k) {
        Block p = random_block(&rng);
        worst = fmax(worst, largest_over_mean(&p));
    }
    Block even = {.g = {1, 0, 0, 1, 0, 1}}, line = {.g = {4, 2, -2, 1, -1, 1}};
    block_of(&even);
    block_of(&line);
    printf("  %.4f at most, %.4f on a line\n", worst, largest_over_mean(&line));
    CHECK(worst > 1.5 && worst < 3.0);
    CHECK_NEAR(largest_over_mean(&even), 1.0, 1.0e-14);
    CHECK_NEAR(largest_over_mean(&line), 3.0, 1.0e-13);
}
