// One three-point bending test with its curves, as the command and its figures use it.
#ifndef TDL_EXPERIMENT_BENDING_TEST_H
#define TDL_EXPERIMENT_BENDING_TEST_H

#include "app/command.h"
#include "experiment/three_point.h"

#include <pthread.h>

typedef struct Test {
    TdlThreePointRunDef def;
    char name[96];                  // what sets it apart, for legends
    TdlThreePointSample* samples;   // [def.point_count]
    double *depth, *force, *exact;  // [point_count] indentation and forces, without dimension
    double *ratio, *excess, *slope; // [point_count] force / exact; force - exact and its derivative
    TdlThreePointVerdict verdict;   //
    double seconds;                 // wall time
    struct TestShow* show;          // while it runs
} Test;

// What the bar shows, of one test or of several at once.
typedef struct TestShow {
    bool quiet;
    int done, total; // points
    pthread_mutex_t lock;
} TestShow;

// Segments of the whole half rod that detection sees; 0 for smooth curves.
int test_proxies(const TdlThreePointRunDef* def);

// Runs the test of test->def; test_free what it holds, whatever is returned.
TdlStatus test_run(const TdlHost* host, TestShow* show, Test* test);
void test_free(Test* test);

// The set-up and the verdict as members of a JSON object, without braces.
void test_print_json(const Test* test);

// curve.csv of a test; false, with a message, when it cannot be written.
bool test_write_curve(const Test* test, const char* folder);

// All figures: a campaign of tests, their plots and the report in `folder`.
int bending_figures(const Args* args, const TdlThreePointRunDef* base, const char* folder);

#endif
