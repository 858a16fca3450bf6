// The one test harness: TEST(name) { ... CHECK...(...) }. Each test file is a program that runs
// its tests in order, or the ones named on its command line, and ends with
// "N passed, N failed, N skipped". A failing check prints the values it measured.
#ifndef TDL_TEST_H
#define TDL_TEST_H

#include "tendril/math.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct TestCase {
    const char* name;
    void (*run)(void);
    struct TestCase* next;
} TestCase;

static TestCase* test_first;
static TestCase** test_end = &test_first;
static int test_failures; // failed checks of the running test
static bool test_skipped;

static inline void test_add(TestCase* test) {
    *test_end = test;
    test_end = &test->next;
}

#define TEST(test_name)                                                                            \
    static void run_##test_name(void);                                                             \
    __attribute__((constructor)) static void add_##test_name(void) {                               \
        static TestCase test = {#test_name, run_##test_name, NULL};                                \
        test_add(&test);                                                                           \
    }                                                                                              \
    static void run_##test_name(void)

// Ends the running test as skipped and says why.
#define SKIP(...)                                                                                  \
    do {                                                                                           \
        printf("  skipped: " __VA_ARGS__);                                                         \
        printf("\n");                                                                              \
        test_skipped = true;                                                                       \
        return;                                                                                    \
    } while (0)

// Under a sanitizer the same code takes four times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

// How often a test repeats what it does; under a sanitizer as often as runs the same code.
#define REPEATS(count, sanitized) (SANITIZED ? (sanitized) : (count))

// Ends a test whose length is its point where a sanitizer makes it longer still.
#define SKIP_LONG_UNDER_SANITIZER()                                                                \
    do {                                                                                           \
        if (SANITIZED && getenv("TENDRIL_LONG") == NULL) {                                         \
            SKIP("long under a sanitizer; TENDRIL_LONG=1 runs it");                                \
        }                                                                                          \
    } while (0)

#define FAIL(...)                                                                                  \
    do {                                                                                           \
        if (++test_failures <= 10) {                                                               \
            printf("  %s:%d: ", __FILE__, __LINE__);                                               \
            printf(__VA_ARGS__);                                                                   \
            printf("\n");                                                                          \
        }                                                                                          \
    } while (0)

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            FAIL("%s", #condition);                                                                \
        }                                                                                          \
    } while (0)

// Stops the test when what follows would make no sense.
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            FAIL("%s", #condition);                                                                \
            return;                                                                                \
        }                                                                                          \
    } while (0)

#define CHECK_INT(actual, expected)                                                                \
    do {                                                                                           \
        long long check_a = (long long)(actual), check_e = (long long)(expected);                  \
        if (check_a != check_e) {                                                                  \
            FAIL("%s is %lld, expected %lld", #actual, check_a, check_e);                          \
        }                                                                                          \
    } while (0)

#define CHECK_TEXT(actual, expected)                                                               \
    do {                                                                                           \
        const char *check_a = (actual), *check_e = (expected);                                     \
        if (strcmp(check_a, check_e) != 0) {                                                       \
            FAIL("%s is \"%s\", expected \"%s\"", #actual, check_a, check_e);                      \
        }                                                                                          \
    } while (0)

// |actual - expected| <= tolerance; a NaN fails
#define CHECK_NEAR(actual, expected, tolerance)                                                    \
    do {                                                                                           \
        double check_a = (actual), check_e = (expected), check_t = (tolerance);                    \
        if (!(fabs(check_a - check_e) <= check_t)) {                                               \
            FAIL("%s is %.17g, expected %.17g: off by %.3g, allowed %.3g", #actual, check_a,       \
                 check_e, fabs(check_a - check_e), check_t);                                       \
        }                                                                                          \
    } while (0)

// value < bound; a NaN fails
#define CHECK_BELOW(value, bound)                                                                  \
    do {                                                                                           \
        double check_v = (value), check_b = (bound);                                               \
        if (!(check_v < check_b)) {                                                                \
            FAIL("%s is %.6g, must be below %.6g", #value, check_v, check_b);                      \
        }                                                                                          \
    } while (0)

#define CHECK_NEAR3(actual, expected, tolerance)                                                   \
    do {                                                                                           \
        TdlVec3 check_p = (actual), check_q = (expected);                                          \
        double check_d = tdl_norm3(tdl_sub3(check_p, check_q)), check_t = (tolerance);             \
        if (!(check_d <= check_t)) {                                                               \
            FAIL("%s is (%g %g %g), expected (%g %g %g): off by %.3g, allowed %.3g", #actual,      \
                 check_p.x, check_p.y, check_p.z, check_q.x, check_q.y, check_q.z, check_d,        \
                 check_t);                                                                         \
        }                                                                                          \
    } while (0)

int main(int argc, char** argv) {
    int passed = 0, failed = 0, skipped = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (TestCase* test = test_first; test != NULL; test = test->next) {
        bool wanted = argc < 2;
        for (int i = 1; i < argc; ++i) {
            wanted = wanted || strcmp(argv[i], test->name) == 0;
        }
        if (!wanted) {
            continue;
        }
        test_failures = 0;
        test_skipped = false;
        printf("%s\n", test->name);
        test->run();
        if (test_failures > 0) {
            printf("  FAILED: %d checks\n", test_failures);
            ++failed;
        } else if (test_skipped) {
            ++skipped;
        } else {
            ++passed;
        }
    }
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed > 0 || passed + skipped == 0;
}

#endif
