#include "base/rng.h"
#include "base/threads.h"
#include "test.h"

#include <stdatomic.h>

typedef struct Tally {
    int* hits;
    double* values;
    atomic_int bad_workers;
    int workers;
} Tally;

static void tally(void* user, int index, int worker) {
    Tally* t = user;
    if (worker < 0 || worker >= t->workers) {
        atomic_fetch_add(&t->bad_workers, 1);
    }
    ++t->hits[index];
    Rng rng = rng_seed((uint64_t)index);
    t->values[index] = rng_normal(&rng);
}

enum { COUNT = 10007 };

TEST(every_index_once_for_any_number_of_threads_and_grain) {
    TdlHost host = tdl_host_default();
    double first[COUNT];
    for (int threads = 1; threads <= 5; ++threads) {
        Pool* pool;
        REQUIRE(pool_create(&host, threads, &pool) == TDL_STATUS_OK);
        CHECK_INT(pool_thread_count(pool), threads);
        for (int grain = 1; grain < 3000; grain = grain * 7 + 1) {
            static int hits[COUNT];
            static double values[COUNT];
            memset(hits, 0, sizeof hits);
            Tally t = {.hits = hits, .values = values, .workers = threads};
            pool_run(pool, COUNT, grain, tally, &t);
            for (int i = 0; i < COUNT; ++i) {
                if (hits[i] != 1) {
                    FAIL("index %d ran %d times", i, hits[i]);
                }
            }
            CHECK_INT(atomic_load(&t.bad_workers), 0);
            if (threads == 1 && grain == 1) {
                memcpy(first, values, sizeof first);
            }
            CHECK(memcmp(first, values, sizeof first) == 0);
        }
        pool_run(pool, 0, 1, tally, NULL); // nothing to do
        pool_destroy(pool);
    }
}

TEST(pool_takes_zero_for_all_processors_and_refuses_nonsense) {
    TdlHost host = tdl_host_default();
    Pool* pool = NULL;
    REQUIRE(pool_create(&host, 0, &pool) == TDL_STATUS_OK);
    CHECK(pool_thread_count(pool) >= 1);
    pool_destroy(pool);
    pool_destroy(NULL);
    CHECK_INT(pool_create(&host, -1, &pool), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(pool_create(&host, 1 << 20, &pool), TDL_STATUS_BAD_ARGUMENT);
}

TEST(random_numbers_are_uniform_and_repeat) {
    Rng a = rng_seed(7), b = rng_seed(7);
    double sum = 0.0, squares = 0.0, normal_squares = 0.0;
    int n = 100000;
    for (int i = 0; i < n; ++i) {
        double u = rng_unit(&a);
        CHECK(u == rng_unit(&b));
        sum += u;
        squares += u * u;
    }
    for (int i = 0; i < n; ++i) {
        double g = rng_normal(&a);
        normal_squares += g * g;
    }
    // five standard deviations of each mean
    CHECK_NEAR(sum / n, 0.5, 5.0 * sqrt(1.0 / 12.0 / n));
    CHECK_NEAR(squares / n, 1.0 / 3.0, 5.0 * sqrt(4.0 / 45.0 / n));
    CHECK_NEAR(normal_squares / n, 1.0, 5.0 * sqrt(2.0 / n));
}
