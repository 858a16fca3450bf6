// For tests that compare the folders of two runs.
#ifndef TDL_TEST_RUN_FOLDER_H
#define TDL_TEST_RUN_FOLDER_H

#include "result/result.h"
#include "scratch.h"
#include "tendril/run.h"

// Three rods, one shaken, and a ball that moves; short elements for quick steps.
static const char RUN_SCENE[] =
    "title: three rods and a ball\n"
    "contacts: {self: false}\n"
    "time: {step: 1e-3, end: 0.2}\n"
    "output: {frame: 0.01, checkpoint: 0.03}\n"
    "materials:\n"
    "  - {name: hair, young: 1e9, poisson: 0.48, density: 1000, damping: 0.01}\n"
    "rods:\n"
    "  - name: shaken\n"
    "    material: hair\n"
    "    length: 0.2\n"
    "    radius: 50e-6\n"
    "    elements: 6\n"
    "    natural_curvature: [0, 50, 0]\n"
    "    clamp:\n"
    "      position: [0, 0, 0]\n"
    "      direction: [1, 0, 0]\n"
    "      motion:\n"
    "        keyframes:\n"
    "          - {time: 0.02}\n"
    "          - {time: 0.1, position: [0, 0.02, 0]}\n"
    "          - {time: 0.15, rotation: [0, 0, 1.5]}\n"
    "  - {name: a, material: hair, length: 0.1, radius: 60e-6, elements: 4,\n"
    "     clamp: {position: [0, 0.1, 0], direction: [1, 0, 0]}}\n"
    "  - {name: b, material: hair, length: 0.1, radius: 60e-6, elements: 5,\n"
    "     clamp: {position: [0, 0.2, 0], direction: [0, 1, 0]}}\n"
    "colliders:\n"
    "  - {name: ball, shape: sphere, radius: 0.05, position: [0, 0, -1],\n"
    "     motion: {keyframes: [{time: 0}, {time: 0.2, position: [0.1, 0, 0]}]}}\n";

static inline void write_run_scene(const Scratch* scratch) {
    scratch_write(scratch_path(scratch, "scene.yaml"), RUN_SCENE, sizeof RUN_SCENE - 1);
}

static inline const char* in_folder(const char* folder, const char* name) {
    static char paths[8][1024];
    static int next;
    char* path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

// The state hash in a folder's summary.json, or "".
static inline const char* summary_hash(const char* folder) {
    static char hashes[4][17];
    static int next;
    char* hash = hashes[next++ % 4];
    hash[0] = '\0';
    char* text = scratch_read(in_folder(folder, "summary.json"), NULL);
    const char* at = text == NULL ? NULL : strstr(text, "\"state_hash\": \"");
    if (at != NULL) {
        snprintf(hash, 17, "%.16s", at + 15);
    }
    free(text);
    return hash;
}

static inline bool summary_says_finished(const char* folder) {
    char* text = scratch_read(in_folder(folder, "summary.json"), NULL);
    bool finished = text != NULL && strstr(text, "\"finished\": true") != NULL;
    free(text);
    return finished;
}

// Which columns of a log are wall times, by its header; at most `most` are looked at.
static inline int find_wall_times(const char* header, bool* wall, int most) {
    static const char END[] = "_seconds";
    int count = 0;
    for (const char* at = header; count < most; at += strcspn(at, ",\n") + 1) {
        size_t length = strcspn(at, ",\n"), end = sizeof END - 1;
        wall[count++] = length >= end && strncmp(at + length - end, END, end) == 0;
        if (at[length] != ',') {
            break;
        }
    }
    return count;
}

// Whether two logs are the same, byte for byte, but for wall times.
static inline bool same_logs(const char* a, const char* b) {
    char* text_a = scratch_read(in_folder(a, "log.csv"), NULL);
    char* text_b = scratch_read(in_folder(b, "log.csv"), NULL);
    const char *p = text_a, *q = text_b;
    bool same = p != NULL && q != NULL, wall[256];
    int columns = same ? find_wall_times(p, wall, 256) : 0;
    for (int column = 0, row = 0; same && (*p != '\0' || *q != '\0');) {
        size_t m = strcspn(p, ",\n"), n = strcspn(q, ",\n");
        bool skipped = row > 0 && wall[column];
        same = p[m] == q[n] && p[m] != '\0' && (skipped || (m == n && memcmp(p, q, n) == 0));
        row += p[m] == '\n';
        column = p[m] == '\n' ? 0 : column + 1;
        same = same && column < columns;
        p += m + (p[m] != '\0');
        q += n + (q[n] != '\0');
    }
    free(text_a);
    free(text_b);
    return same;
}

static inline bool same_frame_bits(const ResultFrame* a, const ResultFrame* b, ResultCounts n) {
    return memcmp(&a->time, &b->time, sizeof a->time) == 0 && a->step == b->step &&
           memcmp(a->energy, b->energy, sizeof a->energy) == 0 &&
           memcmp(a->points, b->points, 3 * (size_t)n.points * sizeof(float)) == 0 &&
           memcmp(a->q, b->q, (size_t)n.dofs * sizeof(double)) == 0 &&
           memcmp(a->v, b->v, (size_t)n.dofs * sizeof(double)) == 0 &&
           memcmp(a->starts, b->starts, 12 * (size_t)n.rods * sizeof(double)) == 0 &&
           memcmp(a->poses, b->poses, 12 * (size_t)n.colliders * sizeof(double)) == 0 &&
           memcmp(a->body_poses, b->body_poses, 12 * (size_t)n.bodies * sizeof(double)) == 0 &&
           memcmp(a->surface_points, b->surface_points,
                  3 * (size_t)n.surface_points * sizeof(float)) == 0 &&
           memcmp(a->strains, b->strains, (size_t)n.cloth_points * sizeof(float)) == 0 &&
           a->contact_count == b->contact_count && a->particle_count == b->particle_count &&
           memcmp(a->bed, b->bed, sizeof a->bed) == 0 &&
           (a->particle_count == 0 ||
            memcmp(a->particles, b->particles, (size_t)a->particle_count * sizeof *a->particles) ==
                0);
}

// Whether the first frames of `a` are those of `b`, bit for bit; all of them when `whole`.
// Returns the number of frames of `a`, or -1.
static inline long same_frames(const char* a, const char* b, bool whole) {
    TdlHost host = tdl_host_default();
    TdlResult *x = NULL, *y = NULL;
    ResultFrame f = {0}, g = {0};
    bool same = tdl_result_open(&host, a, &x) == TDL_STATUS_OK &&
                tdl_result_open(&host, b, &y) == TDL_STATUS_OK;
    long count = same ? tdl_result_info(x).frame_count : -1;
    long other = same ? tdl_result_info(y).frame_count : -1;
    ResultCounts n = same ? result_counts(x) : (ResultCounts){0};
    same = same && (whole ? count == other : count <= other) && result_counts(y).dofs == n.dofs &&
           result_counts(y).points == n.points && result_counts(y).colliders == n.colliders &&
           result_frame_create(&host, n, &f) == TDL_STATUS_OK &&
           result_frame_create(&host, n, &g) == TDL_STATUS_OK;
    for (long i = 0; same && i < count; ++i) {
        same = result_read(x, i, &f) == TDL_STATUS_OK && result_read(y, i, &g) == TDL_STATUS_OK &&
               same_frame_bits(&f, &g, n);
    }
    result_frame_destroy(&host, &f);
    result_frame_destroy(&host, &g);
    tdl_result_close(x);
    tdl_result_close(y);
    return same ? count : -1;
}

// Checks that two finished runs are the same but for wall times.
#define CHECK_SAME_RUNS(a, b)                                                                      \
    do {                                                                                           \
        CHECK(summary_says_finished(a));                                                           \
        CHECK_TEXT(summary_hash(a), summary_hash(b));                                              \
        CHECK(same_logs(a, b));                                                                    \
        CHECK(same_frames(a, b, true) > 0);                                                        \
    } while (0)

#endif
