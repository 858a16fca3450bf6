// Runs a scene with observers into a folder and reads back what they saw: the floor carries the
// weight of a ball that rests on it.
//
//     cc read-observers.c $(pkg-config --cflags --libs tendril_io) -lm && ./a.out
//
// The exit status is 1 if the force of the last frame is not the weight.
#define _XOPEN_SOURCE 700 // mkdtemp
#include <tendril/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double RADIUS = 0.01, DENSITY = 1000.0;
static const char SCENE[] = "time: {step: 1e-3, end: 0.2}\n"
                            "output: {frame: 0.05}\n"
                            "bodies:\n"
                            "  - {name: ball, shape: sphere, radius: 0.01, density: 1000,\n"
                            "     position: [0, 0, 0.01]}\n"
                            "colliders: [{name: floor, shape: plane}]\n"
                            "observe: [{force: floor}, {centre: ball}]\n";

static void tell(void* user, TdlLogLevel level, const char* message) {
    (void)user, (void)level;
    fprintf(stderr, "%s\n", message);
}

static TdlStatus run(const TdlHost* host, const char* path, const char* folder) {
    FILE* file = fopen(path, "w");
    if (file == NULL || fputs(SCENE, file) < 0 || fclose(file) != 0) {
        return TDL_STATUS_IO;
    }
    TdlScene* scene = NULL;
    TdlStatus status = tdl_scene_load(host, path, NULL, 0, &scene);
    if (status == TDL_STATUS_OK) {
        TdlRunDef def = {.directory = folder, .thread_count = 1};
        TdlRunInfo info;
        status = tdl_run(host, scene, &def, &info);
    }
    tdl_scene_destroy(scene);
    return status;
}

// Prints every frame; returns the force of the last.
static TdlStatus read_frames(const TdlHost* host, const char* folder, TdlVec3* force) {
    TdlResult* result = NULL;
    TdlStatus status = tdl_result_open(host, folder, &result);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlResultInfo info = tdl_result_info(result);
    TdlVec3 values[2];
    for (long frame = 0; frame < info.frame_count && info.observer_count == 2; ++frame) {
        double time = 0.0;
        tdl_result_read_frame(result, frame, &time, NULL);
        status = tdl_result_read_observed(result, frame, values);
        if (status != TDL_STATUS_OK) {
            break;
        }
        printf("%.2f s:", time);
        for (int i = 0; i < 2; ++i) {
            TdlResultObserver observer = tdl_result_observer(result, i);
            printf("  %s (%.6f %.6f %.6f) %s", observer.name, values[i].x, values[i].y, values[i].z,
                   observer.unit);
        }
        printf("\n");
        *force = values[0];
    }
    tdl_result_close(result);
    return status;
}

int main(void) {
    char place[] = "/tmp/read-observers-XXXXXX", path[64], folder[64], clean[80];
    TdlHost host = tdl_host_default();
    host.log = tell;
    if (mkdtemp(place) == NULL) {
        return 1;
    }
    snprintf(path, sizeof path, "%s/ball.yaml", place);
    snprintf(folder, sizeof folder, "%s/out", place);
    TdlVec3 force = {0};
    TdlStatus status = run(&host, path, folder);
    if (status == TDL_STATUS_OK) {
        status = read_frames(&host, folder, &force);
    }
    snprintf(clean, sizeof clean, "rm -r %s", place);
    if (system(clean) != 0 || status != TDL_STATUS_OK) {
        return 1;
    }
    double weight = DENSITY * 4.18879020478639 * RADIUS * RADIUS * RADIUS * 9.81;
    printf("weight %.6f N\n", weight);
    return !(fabs(force.z + weight) < 1.0e-6 * weight); // the solver is asked for 1e-8
}
