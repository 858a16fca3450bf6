#include "linalg/block_sparse.h"

#include "base/rng.h"
#include "counting_allocator.h"
#include "test.h"

static const double EPS = 0x1p-52;

enum { ROWS = 20, MAX_B = 4, SIZE = ROWS * MAX_B, TRIPLETS = 150 };
static int row[TRIPLETS], column[TRIPLETS];
static double blocks[TRIPLETS * MAX_B * MAX_B], dense[SIZE * SIZE];

// Triplets in both triangles, with repetitions; diagonal blocks symmetric. `dense` is their sum.
static BlockPattern random_triplets(Rng* rng, int rows, int b, int count) {
    memset(dense, 0, sizeof dense);
    for (int t = 0; t < count; ++t) {
        row[t] = rng_below(rng, rows);
        column[t] = rng_below(rng, 3) == 0 ? row[t] : rng_below(rng, rows);
        double* m = blocks + t * b * b;
        for (int j = 0; j < b; ++j) {
            for (int i = 0; i < b; ++i) {
                bool mirror = row[t] == column[t] && i < j;
                m[i + j * b] = mirror ? m[j + i * b] : rng_range(rng, -1.0, 1.0);
            }
        }
        for (int j = 0; j < b; ++j) {
            for (int i = 0; i < b; ++i) {
                int p = row[t] * b + i, q = column[t] * b + j;
                dense[p + q * SIZE] += m[i + j * b];
                if (row[t] != column[t]) {
                    dense[q + p * SIZE] += m[i + j * b];
                }
            }
        }
    }
    return (BlockPattern){b, rows, count, row, column};
}

static void check_structure(const BlockSparse* a) {
    CHECK_INT(a->row_start[0], 0);
    CHECK_INT(a->row_start[a->row_count], a->block_count);
    int b = a->block_size;
    for (int i = 0; i < a->row_count; ++i) {
        CHECK_INT(a->column[a->diagonal[i]], i);
        CHECK(a->diagonal[i] >= a->row_start[i] && a->diagonal[i] < a->row_start[i + 1]);
        for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) {
            CHECK(k == a->row_start[i] || a->column[k - 1] < a->column[k]);
            int twin = a->twin[k];
            CHECK_INT(a->column[twin], i);
            CHECK_INT(a->twin[twin], k);
            for (int e = 0; e < b * b; ++e) {
                double mirrored = block_sparse_block(a, twin)[e % b * b + e / b];
                CHECK(block_sparse_block(a, k)[e] == mirrored);
            }
        }
    }
}

static void check_values(const BlockSparse* a) {
    int b = a->block_size;
    for (int p = 0; p < a->row_count * b; ++p) {
        for (int q = 0; q < a->row_count * b; ++q) {
            const double* m = block_sparse_find(a, p / b, q / b);
            double value = m == NULL ? 0.0 : m[p % b + q % b * b];
            CHECK_NEAR(value, dense[p + q * SIZE], 20.0 * EPS);
        }
    }
}

static void check_product(const BlockSparse* a, Rng* rng) {
    double x[SIZE] = {0}, y[SIZE];
    int n = a->row_count * a->block_size;
    for (int i = 0; i < n; ++i) {
        x[i] = rng_range(rng, -1.0, 1.0);
        y[i] = NAN;
    }
    block_sparse_multiply(a, x, y);
    for (int i = 0; i < n; ++i) {
        double sum = 0.0;
        for (int j = 0; j < n; ++j) {
            sum += dense[i + j * SIZE] * x[j];
        }
        CHECK_NEAR(y[i], sum, 1.0e-13);
    }
}

static void check_csc(const BlockSparse* a) {
    static int start[SIZE + 1], index[SIZE * SIZE];
    static double value[SIZE * SIZE], copy[SIZE * SIZE];
    memset(copy, 0, sizeof copy);
    block_sparse_to_csc(a, start, index, value);
    int n = a->row_count * a->block_size;
    CHECK_INT(start[n], a->block_count * a->block_size * a->block_size);
    for (int j = 0; j < n; ++j) {
        for (int k = start[j]; k < start[j + 1]; ++k) {
            CHECK(k == start[j] || index[k - 1] < index[k]);
            copy[index[k] + j * SIZE] = value[k];
        }
    }
    for (int i = 0; i < SIZE * SIZE; ++i) {
        CHECK_NEAR(copy[i], dense[i], 20.0 * EPS);
    }
}

TEST(block_sparse_equals_the_dense_sum) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(1);
    for (int trial = 0; trial < 60; ++trial) {
        int rows = 1 + rng_below(&rng, ROWS), b = 1 + trial % MAX_B;
        BlockPattern pattern = random_triplets(&rng, rows, b, rng_below(&rng, TRIPLETS + 1));
        BlockSparse* a;
        REQUIRE(block_sparse_create(&host.mem, &pattern, &a) == TDL_STATUS_OK);
        block_sparse_fill(a, blocks);
        block_sparse_fill(a, blocks); // the second replaces the first
        check_structure(a);
        check_values(a);
        check_product(a, &rng);
        check_csc(a);
        block_sparse_destroy(a);
    }
}

TEST(sums_follow_the_order_of_the_triplets) {
    TdlHost host = tdl_host_default();
    int r[3] = {1, 0, 1}, c[3] = {0, 1, 0};
    double forward[3] = {1.0e16, 1.0, -1.0e16}, back[3] = {1.0e16, -1.0e16, 1.0};
    BlockPattern pattern = {1, 2, 3, r, c};
    BlockSparse* a;
    REQUIRE(block_sparse_create(&host.mem, &pattern, &a) == TDL_STATUS_OK);
    block_sparse_fill(a, forward);
    CHECK(*block_sparse_find(a, 0, 1) == 0.0 && *block_sparse_find(a, 1, 0) == 0.0);
    block_sparse_fill(a, back);
    CHECK(*block_sparse_find(a, 0, 1) == 1.0 && *block_sparse_find(a, 1, 0) == 1.0);
    CHECK(*block_sparse_diagonal(a, 1) == 0.0);
    block_sparse_destroy(a);
}

TEST(empty_and_wrong_patterns) {
    TdlHost host = tdl_host_default();
    BlockSparse* a;
    BlockPattern empty = {3, 0, 0, NULL, NULL};
    REQUIRE(block_sparse_create(&host.mem, &empty, &a) == TDL_STATUS_OK);
    block_sparse_fill(a, NULL);
    block_sparse_multiply(a, NULL, NULL);
    int start = -1;
    block_sparse_to_csc(a, &start, NULL, NULL);
    CHECK_INT(start, 0);
    block_sparse_destroy(a);

    BlockPattern no_triplets = {3, 2, 0, NULL, NULL};
    REQUIRE(block_sparse_create(&host.mem, &no_triplets, &a) == TDL_STATUS_OK);
    CHECK_INT(a->block_count, 2);
    CHECK(block_sparse_find(a, 0, 1) == NULL);
    block_sparse_destroy(a);

    int r[2] = {0, 2}, c[2] = {0, -1};
    BlockPattern wrong[] = {{0, 1, 0, NULL, NULL},  {1, -1, 0, NULL, NULL},
                            {1, 1, -1, NULL, NULL}, {1, 2, 2, r, r},
                            {1, 3, 2, r, c},        {1 << 15, 1 << 15, 0, NULL, NULL}};
    for (int i = 0; i < 6; ++i) {
        CHECK_INT(block_sparse_create(&host.mem, &wrong[i], &a), TDL_STATUS_BAD_ARGUMENT);
        CHECK(a == NULL);
    }
    block_sparse_destroy(NULL);
}

TEST(block_sparse_survives_each_failed_allocation) {
    Rng rng = rng_seed(2);
    BlockPattern pattern = random_triplets(&rng, 10, 3, 40);
    bool done = false;
    int failures = 0;
    for (long fail_at = 1; !done && fail_at < 100; ++fail_at) {
        AllocCounter counter = {.fail_at = fail_at};
        TdlAllocator mem = counting_allocator(&counter);
        BlockSparse* a;
        TdlStatus status = block_sparse_create(&mem, &pattern, &a);
        done = counter.calls < fail_at;
        CHECK_INT(status, done ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY);
        CHECK((a != NULL) == done);
        failures += !done;
        block_sparse_destroy(a);
        CHECK_INT(counter.live, 0);
    }
    CHECK(done && failures >= 10);
}

TEST(filling_allocates_nothing) {
    Rng rng = rng_seed(3);
    BlockPattern pattern = random_triplets(&rng, 10, 3, 40);
    AllocCounter counter = {0};
    TdlAllocator mem = counting_allocator(&counter);
    BlockSparse* a;
    REQUIRE(block_sparse_create(&mem, &pattern, &a) == TDL_STATUS_OK);
    long calls = counter.calls;
    block_sparse_fill(a, blocks);
    CHECK_INT(counter.calls, calls);
    block_sparse_destroy(a);
}
