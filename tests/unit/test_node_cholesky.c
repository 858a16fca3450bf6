// Sparse Cholesky of meshes against the dense one.
#include "base/rng.h"
#include "linalg/node_cholesky.h"
#include "math/dense.h"
#include "test.h"

typedef struct Sample {
    Arena arena;
    BlockPattern pattern;
    double* blocks;
    double* dense; // [m m], whole
    int m;
} Sample;

// A grid in which each node meets those up to `far` columns and rows away; blocks random, the
// diagonal as large as its row.
static Sample make_sample(int columns, int rows, int far, uint64_t seed) {
    Sample s = {.m = 3 * columns * rows};
    TdlHost host = tdl_host_default();
    arena_init(&s.arena, &host.mem);
    int n = columns * rows, count = 0;
    int *start = ARENA_NEW(&s.arena, int, n + 1), *column = ARENA_NEW(&s.arena, int, n * 25 + 1);
    size_t m = (size_t)s.m;
    s.blocks = ARENA_NEW(&s.arena, double, 9 * 25 * n);
    s.dense = ARENA_NEW(&s.arena, double, m* m);
    memset(s.dense, 0, m * m * sizeof(double));
    Rng random = {seed};
    start[0] = 0;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            if (abs(i % columns - j % columns) <= far && abs(i / columns - j / columns) <= far) {
                column[count++] = j;
            }
        }
        start[i + 1] = count;
    }
    for (int i = 0; i < n; ++i) {
        for (int e = start[i]; e < start[i + 1]; ++e) {
            for (int k = 0; k < 9 && column[e] <= i; ++k) {
                int a = 3 * i + k % 3, b = 3 * column[e] + k / 3;
                double x = rng_range(&random, -1.0, 1.0) + (a == b ? 60.0 : 0.0);
                s.dense[a + b * s.m] = s.dense[b + a * s.m] = x;
            }
        }
    }
    for (int i = 0; i < n; ++i) {
        for (int e = start[i]; e < start[i + 1]; ++e) {
            for (int k = 0; k < 9; ++k) {
                s.blocks[9 * e + k] = s.dense[3 * i + k % 3 + (3 * column[e] + k / 3) * s.m];
            }
        }
    }
    s.pattern = (BlockPattern){n, 3, start, column, NULL};
    return s;
}

static double largest_difference(int n, const double* a, const double* b) {
    double most = 0.0;
    for (int i = 0; i < n; ++i) {
        most = fmax(most, fabs(a[i] - b[i]));
    }
    return most;
}

// Solved with, and as a square root: g' g and h' A^-1 h are the same, and so are v and A^-1 h.
static void compare(int columns, int rows, int far, uint64_t seed) {
    Sample s = make_sample(columns, rows, far, seed);
    NodeCholesky c;
    REQUIRE(node_cholesky_analyse(&c, &s.arena, &s.pattern) == TDL_STATUS_OK);
    REQUIRE(node_cholesky_factor(&c, s.blocks));
    double *x = ARENA_NEW(&s.arena, double, s.m), *y = ARENA_NEW(&s.arena, double, s.m);
    double* z = ARENA_NEW(&s.arena, double, s.m);
    Rng random = {seed + 1};
    REQUIRE(tdl_cholesky(s.m, s.dense, s.m) == s.m);
    for (int i = 0; i < s.m; ++i) {
        x[i] = y[i] = rng_range(&random, -1.0, 1.0);
    }
    node_cholesky_solve(&c, x);
    tdl_cholesky_solve(s.m, s.dense, s.m, 1, y, s.m);
    CHECK_NEAR(largest_difference(s.m, x, y), 0.0, 1.0e-14); // entries of 1/60

    int n = columns * rows, nodes[3] = {n / 2, n / 3, n - 1}, length = 0;
    double f[27], wanted[3] = {0.0};
    for (int k = 0; k < 27; ++k) {
        f[k] = rng_range(&random, -1.0, 1.0);
    }
    length = node_cholesky_reach(&c, 3, nodes, 0, NULL);
    int* list = ARENA_NEW(&s.arena, int, length);
    double* g = ARENA_NEW(&s.arena, double, 3 * length);
    double* force = ARENA_NEW(&s.arena, double, s.m);
    double* whole = ARENA_NEW(&s.arena, double, s.m);
    CHECK_INT(node_cholesky_reach(&c, 3, nodes, length, list), length);
    node_cholesky_whiten(&c, 3, nodes, f, list, length, g);
    for (int r = 0; r < 3; ++r) {
        memset(y, 0, (size_t)s.m * sizeof *y);
        memset(z, 0, (size_t)s.m * sizeof *z);
        for (int k = 0; k < 9; ++k) {
            y[3 * nodes[k / 3] + k % 3] += f[9 * r + k];
        }
        tdl_cholesky_solve(s.m, s.dense, s.m, 1, y, s.m);
        for (int k = 0; k < 9; ++k) {
            wanted[r] += f[9 * r + k] * y[3 * nodes[k / 3] + k % 3];
        }
        for (int k = 0; k < length; ++k) {
            CHECK(k == 0 || list[k] > list[k - 1]);
            z[list[k]] = g[r * length + k];
        }
        CHECK_NEAR(tdl_dot(length, g + r * length, g + r * length), wanted[r], 1.0e-13);
        // all of z at once
        memset(force, 0, (size_t)s.m * sizeof *force);
        for (int k = 0; k < 9; ++k) {
            force[3 * nodes[k / 3] + k % 3] += f[9 * r + k];
        }
        node_cholesky_drive(&c, force, whole);
        CHECK_NEAR(largest_difference(s.m, whole, z), 0.0, 1.0e-14);
        node_cholesky_unwhiten(&c, z, x);
        CHECK_NEAR(largest_difference(s.m, x, y), 0.0, 1.0e-14);
    }
    arena_destroy(&s.arena);
}

TEST(it_solves_as_the_dense_one_does) {
    compare(1, 1, 0, 1);
    compare(2, 2, 1, 2);
    compare(9, 7, 1, 3);
    compare(9, 7, 2, 4);
    compare(31, 3, 2, 5);
    compare(17, 19, 1, 6);
}

TEST(nodes_may_have_nothing_to_do_with_each_other) {
    compare(5, 5, 0, 7);
}

TEST(a_matrix_that_is_not_positive_is_refused) {
    Sample s = make_sample(6, 6, 1, 8);
    NodeCholesky c;
    REQUIRE(node_cholesky_analyse(&c, &s.arena, &s.pattern) == TDL_STATUS_OK);
    s.blocks[9 * s.pattern.start[20] + 9 * 4] = -1.0; // of the diagonal
    CHECK(!node_cholesky_factor(&c, s.blocks));
    arena_destroy(&s.arena);
}
