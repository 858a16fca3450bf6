// Roots of chains against dense factors and products.
#include "linalg/chain_root.h"

#include "base/rng.h"
#include "math/dense.h"
#include "test.h"

enum { BLOCKS = 70, N = 8 * BLOCKS, WIDTH = 15 };
static double band[N * (WIDTH + 1)], dense[N * N], inverse[N * N];
static double memory[BLOCKS * (3 * CHAIN_SQUARE + 4)];

// Blocks coupled to the next one alone, diagonally dominant by a little.
static void random_chain(Rng* rng, int n, int size) {
    memset(dense, 0, sizeof dense);
    memset(band, 0, sizeof band);
    for (int j = 0; j < n; ++j) {
        for (int i = j + 1; i < n && i / size <= j / size + 1; ++i) {
            double x = rng_range(rng, -1.0, 1.0);
            dense[i + j * N] = dense[j + i * N] = x;
            dense[i + i * N] += 1.01 * fabs(x);
            dense[j + j * N] += 1.01 * fabs(x);
        }
        dense[j + j * N] += 0.1;
    }
    for (int j = 0; j < n; ++j) {
        for (int k = 0; k <= WIDTH && j + k < n; ++k) {
            band[k + j * (WIDTH + 1)] = dense[j + k + j * N];
        }
    }
}

static void invert(int n) {
    static double factor[N * N];
    memcpy(factor, dense, sizeof factor);
    CHECK_INT(tdl_cholesky(n, factor, N), n);
    for (int j = 0; j < n; ++j) {
        double* x = inverse + (ptrdiff_t)j * N;
        memset(x, 0, N * sizeof *x);
        x[j] = 1.0;
        tdl_cholesky_solve(n, factor, N, 1, x, N);
    }
}

// L^-1 of a unit vector of coordinate i, over all places of z; how many of them are on its way.
static int reduced(const ChainRoot* c, int size, int i, double* z) {
    ChainRow x[CHAIN_BLOCK * CHAIN_DEEPEST];
    int block = i / size;
    memset(x, 0, sizeof x);
    x[CHAIN_BLOCK * (c->depth[block] - 1) + i % size][2] = 1.0;
    chain_root_reduce(c, block, x);
    memset(z, 0, N * sizeof *z);
    for (int b = block; b >= 0; b = c->parent[b]) {
        for (int k = 0; k < CHAIN_BLOCK; ++k) {
            z[CHAIN_BLOCK * c->place[b] + k] = x[CHAIN_BLOCK * (c->depth[b] - 1) + k][2];
            CHECK(x[CHAIN_BLOCK * (c->depth[b] - 1) + k][0] == 0.0);
        }
    }
    return CHAIN_BLOCK * c->depth[block];
}

TEST(products_of_short_rows_are_the_inverse) {
    Rng rng = rng_seed(7);
    static double z[N * N];
    for (int trial = 0; trial < 12; ++trial) {
        int size = 1 + trial % CHAIN_BLOCK;
        int count = trial < 3 ? 1 + trial : 2 + rng_below(&rng, BLOCKS - 1);
        int n = size * count - rng_below(&rng, size), longest = 0, most = 1;
        ChainRoot c;
        random_chain(&rng, n, size);
        invert(n);
        chain_root_plan(&c, count, memory);
        REQUIRE(chain_root_factor(&c, n, size, WIDTH, band));
        for (int i = 0; i < n; ++i) {
            int length = reduced(&c, size, i, z + (ptrdiff_t)i * N);
            longest = length > longest ? length : longest;
        }
        double worst = 0.0, largest = 0.0;
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                double product = tdl_dot(N, z + (ptrdiff_t)i * N, z + (ptrdiff_t)j * N);
                worst = fmax(worst, fabs(product - inverse[i + j * N]));
                largest = fmax(largest, fabs(inverse[i + j * N]));
            }
        }
        CHECK_BELOW(worst / largest, 1.0e-13); // eps times a condition of some hundred
        for (; (1 << most) <= count; ++most) {
        }
        CHECK(longest <= CHAIN_BLOCK * most); // log2 of the blocks
    }
}

TEST(both_halves_are_a_solve) {
    Rng rng = rng_seed(8);
    int size = 7, count = 61, n = size * count - 4;
    double v[N], z[N], work[N], worst = 0.0;
    ChainRoot c, found;
    random_chain(&rng, n, size);
    invert(n);
    chain_root_plan(&c, count, memory);
    REQUIRE(chain_root_factor(&c, n, size, WIDTH, band));
    chain_root_find(&found, count, memory);
    for (int i = 0; i < n; i += 5) {
        reduced(&found, size, i, z);
        chain_root_expand(&found, n, size, z, work, v);
        for (int j = 0; j < n; ++j) {
            worst = fmax(worst, fabs(v[j] - inverse[j + i * N]));
        }
    }
    CHECK_BELOW(worst, 1.0e-12); // entries of up to ten
}

TEST(an_order_has_every_block_below_its_parent) {
    ChainRoot c;
    for (int count = 1; count <= BLOCKS; ++count) {
        chain_root_plan(&c, count, memory);
        for (int b = 0; b < count; ++b) {
            int up = c.parent[b];
            CHECK(c.node[c.place[b]] == b);
            CHECK(up < 0 ? c.place[b] == 0 : c.place[up] < c.place[b]);
            CHECK(c.depth[b] == (up < 0 ? 1 : c.depth[up] + 1));
        }
    }
}

TEST(what_is_not_positive_definite_is_refused) {
    Rng rng = rng_seed(9);
    ChainRoot c;
    random_chain(&rng, 5 * 20, 5);
    band[33 * (WIDTH + 1)] = -0.5;
    chain_root_plan(&c, 20, memory);
    CHECK(!chain_root_factor(&c, 5 * 20, 5, WIDTH, band));
    band[33 * (WIDTH + 1)] = NAN;
    CHECK(!chain_root_factor(&c, 5 * 20, 5, WIDTH, band));
}
