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

enum { OUTER = 60, INNER = 50 };

typedef struct Nest {
    Pool *pool, *other; // other: null, or a pool between the two runs of the first
    int hits[OUTER][INNER];
    int worker[OUTER];
    atomic_int bad_workers;
    int row;
    struct Nest* whole;
} Nest;

static void run_inner(void* user, int index, int worker) {
    Nest* nest = user;
    ++nest->whole->hits[nest->row][index];
    if (worker != nest->whole->worker[nest->row]) {
        atomic_fetch_add(&nest->whole->bad_workers, 1);
    }
}

static void run_between(void* user, int index, int worker) {
    (void)index, (void)worker;
    Nest* nest = user;
    pool_run(nest->whole->pool, INNER, 1, run_inner, nest);
}

static void run_outer(void* user, int index, int worker) {
    Nest* whole = user;
    Nest inner = {.row = index, .whole = whole};
    whole->worker[index] = worker;
    if (whole->other == NULL) {
        run_between(&inner, 0, 0);
    } else {
        pool_run(whole->other, 1, 1, run_between, &inner);
    }
}

// Threads that work for a pool and ask it again do the asked work themselves, as the same workers.
TEST(a_run_inside_a_run_is_done_by_the_worker_that_asks) {
    TdlHost host = tdl_host_default();
    for (int threads = 1; threads <= 4; ++threads) {
        static Nest nest;
        nest = (Nest){0};
        REQUIRE(pool_create(&host, threads, &nest.pool) == TDL_STATUS_OK);
        for (int round = 1; round <= 3; ++round) { // the outer runs are whole again each time
            pool_run(nest.pool, OUTER, 1, run_outer, &nest);
            for (int i = 0; i < OUTER * INNER; ++i) {
                CHECK_INT(nest.hits[i / INNER][i % INNER], round);
            }
        }
        CHECK_INT(atomic_load(&nest.bad_workers), 0);
        pool_destroy(nest.pool);
    }
}

TEST(a_run_is_known_through_that_of_another_pool) {
    TdlHost host = tdl_host_default();
    static Nest nest;
    nest = (Nest){0};
    REQUIRE(pool_create(&host, 1, &nest.pool) == TDL_STATUS_OK);
    REQUIRE(pool_create(&host, 1, &nest.other) == TDL_STATUS_OK);
    pool_run(nest.pool, OUTER, 1, run_outer, &nest);
    for (int i = 0; i < OUTER * INNER; ++i) {
        CHECK_INT(nest.hits[i / INNER][i % INNER], 1);
    }
    CHECK_INT(atomic_load(&nest.bad_workers), 0);
    pool_destroy(nest.other);
    pool_destroy(nest.pool);
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
