// A three-point bending test with its curves.
#include "experiment/bending_test.h"

#include "app/json.h"
#include "app/output.h"
#include "app/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int test_proxies(const TdlThreePointRunDef* def) {
    return def->geometry == TDL_CONTACT_CURVES ? 0 : def->element_count * def->segments;
}

static bool show_progress(void* user, int done, int total) {
    (void)done;
    (void)total;
    const Test* test = user;
    TestShow* show = test->show;
    pthread_mutex_lock(&show->lock);
    ++show->done;
    if (!show->quiet) {
        terminal_progress(show->done, show->total, "points", test->name);
    }
    pthread_mutex_unlock(&show->lock);
    return true;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1.0e-9 * (double)t.tv_nsec;
}

// What is plotted: all without dimension.
static void make_curves(Test* test) {
    const TdlThreePointDef* setup = &test->def.setup;
    double unit = setup->span * setup->span / (48.0 * setup->bending);
    for (int i = 0; i < test->def.point_count; ++i) {
        const TdlThreePointSample* sample = &test->samples[i];
        test->depth[i] = sample->indentation / setup->span;
        test->force[i] = sample->force * unit;
        test->exact[i] = sample->exact.force * unit;
        test->ratio[i] = sample->force / sample->exact.force;
        test->slope[i] =
            i == 0 ? NAN
                   : (test->ratio[i] - test->ratio[i - 1]) / (test->depth[i] - test->depth[i - 1]);
    }
}

TdlStatus test_run(const TdlHost* host, TestShow* show, Test* test) {
    size_t count = test->def.point_count > 0 ? (size_t)test->def.point_count : 1;
    test->show = show;
    test->samples = calloc(count, sizeof *test->samples);
    double* curves = calloc(6 * count, sizeof *curves);
    test->depth = curves;
    if (test->samples == NULL || curves == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    test->force = curves + count;
    test->exact = curves + 2 * count;
    test->ratio = curves + 3 * count;
    test->slope = curves + 4 * count;
    test->excess = curves + 5 * count;
    double started = now();
    TdlStatus status = tdl_three_point_run(host, &test->def, show_progress, test, test->samples);
    test->seconds = now() - started;
    if (status == TDL_STATUS_OK) {
        make_curves(test);
        test->verdict = tdl_three_point_judge(&test->def, test->samples);
    }
    return status;
}

void test_free(Test* test) {
    free(test->samples);
    free(test->depth);
    test->samples = NULL;
    test->depth = NULL;
}

static void member(const char* name, double value) {
    printf(", \"%s\": ", name);
    json_real(value);
}

void test_print_json(const Test* test) {
    const TdlThreePointRunDef* def = &test->def;
    printf("\"model\": ");
    json_text(def->model);
    printf(", \"detection\": \"%s\", \"elements\": %d, \"proxies\": %d",
           def->geometry == TDL_CONTACT_CURVES ? "curves" : "segments", def->element_count,
           test_proxies(def));
    member("kappa0", def->setup.natural_curvature);
    member("mu", def->setup.mu);
    member("dt", def->step);
    member("length", def->length);
    printf(", \"points\": %d, \"judged\": %d", def->point_count, test->verdict.count);
    member("largest_deviation", test->verdict.deviation);
    member("deviation_at", test->verdict.at);
    member("jump", test->verdict.jump);
    member("ratio_jump", test->verdict.ratio_jump);
    member("kink", test->verdict.kink);
    member("chord_jump", test->verdict.chord_jump);
    printf(", \"lost_contacts\": %d", test->verdict.lost_contacts);
    if (def->response == TDL_RESPONSE_BARRIER) {
        printf(", \"response\": \"barrier\"");
        member("distance", def->barrier.distance);
        member("stiffness", def->barrier.stiffness);
        member("bias", test->verdict.bias);
        member("least_gap", test->verdict.least_gap);
    }
    member("seconds", test->seconds);
}

bool test_write_curve(const Test* test, const char* folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/curve.csv", folder);
    FILE* out = output_open(path);
    if (out != NULL) {
        fprintf(out, "indentation,force,exact_force,ratio,arc_length,angle,exact_arc_length,"
                     "exact_angle,contacts,solver_error\n");
        double span = test->def.setup.span;
        for (int i = 0; i < test->def.point_count; ++i) {
            const TdlThreePointSample* s = &test->samples[i];
            fprintf(out, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%d,%.3g\n",
                    test->depth[i], test->force[i], test->exact[i], test->ratio[i],
                    s->arc_length / span, s->angle, s->exact.arc_length / span, s->exact.angle,
                    s->contact_count, s->error);
        }
    }
    return out != NULL && output_close(out, true);
}
