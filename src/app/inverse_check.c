// Runs what was written, from its files, as a user would: first as it is, then after a kick by
// gravity that leans over for a moment.
#include "app/inverse_check.h"

#include "app/terminal.h"

#include <stdlib.h>
#include <string.h>

// The kick: gravity leans over by this part of itself (without gravity by so many m/s^2) for some
// steps. A shape that is stable by one part in fifty swings from it by less than 1e-3 of its
// length.
static const double LEAN = 1.0e-4;
enum { KICK_STEPS = 50 };
// Beyond this part of its length from its place, after the kick, a rod has left.
static const double LEFT = 1.0e-2;
// Drift, over the length, of a rod that was told to stay: a balance that holds keeps far below it.
static const double HELD = 1.0e-4;

// The places of all rods at one time.
typedef struct Places {
    TdlVec3* at;
    int* start;     // [count + 1]
    double* length; // [count]
    TdlBodyId* rod; // [count]
    int count;
} Places;

static void places_free(Places* p) {
    free(p->at);
    free(p->start);
    free(p->length);
    free(p->rod);
}

static TdlStatus places_take(const TdlWorld* world, const int* rods, int all, Places* p) {
    *p = (Places){.count = all};
    p->rod = calloc((size_t)all + 1, sizeof *p->rod);
    p->start = calloc((size_t)all + 1, sizeof *p->start);
    p->length = calloc((size_t)all + 1, sizeof *p->length);
    if (!p->rod || !p->start || !p->length) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < all; ++i) {
        TdlRodInfo info = {0};
        p->rod[i] = tdl_world_body(world, "rod", rods[i]);
        tdl_rod_info(world, p->rod[i], &info);
        p->length[i] = info.length;
        p->start[i + 1] = p->start[i] + info.element_count + 1;
    }
    p->at = calloc((size_t)p->start[all] + 1, sizeof *p->at);
    for (int i = 0; i < all && p->at != NULL; ++i) {
        tdl_rod_points(world, p->rod[i], 1, p->at + p->start[i]);
    }
    return p->at == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}

// How far each rod is from its places, over its length.
static bool find_drifts(const TdlWorld* world, const Places* p, double* drift) {
    int most = 1;
    for (int i = 0; i < p->count; ++i) {
        int own = p->start[i + 1] - p->start[i];
        most = own > most ? own : most;
    }
    TdlVec3* now = calloc((size_t)most, sizeof *now);
    for (int i = 0; i < p->count && now != NULL; ++i) {
        drift[i] = 0.0;
        tdl_rod_points(world, p->rod[i], 1, now);
        for (int k = p->start[i]; k < p->start[i + 1]; ++k) {
            double off = tdl_norm3(tdl_sub3(now[k - p->start[i]], p->at[k]));
            drift[i] = fmax(drift[i], off / p->length[i]);
        }
    }
    free(now);
    return now != NULL;
}

static bool asked_to_stop(void* user) {
    (void)user;
    return terminal_stop_asked();
}

// What the two runs and the kick have in common.
typedef struct Checking {
    TdlWorld* world;
    bool quiet;
    long done, total; // steps
} Checking;

static TdlStatus run(Checking* c, long steps) {
    TdlStatus status = TDL_STATUS_OK;
    for (long i = 0; i < steps && status == TDL_STATUS_OK; ++i) {
        status = terminal_stop_asked() ? TDL_STATUS_STOPPED : tdl_world_step(c->world, NULL);
        if (!c->quiet) {
            terminal_progress((double)++c->done, (double)c->total, "steps", "check");
        }
    }
    return status;
}

static TdlVec3 unit(TdlVec3 a) {
    return tdl_scale3(1.0 / tdl_norm3(a), a);
}

// Leans gravity over for a moment.
static TdlStatus kick(Checking* c) {
    TdlVec3 gravity = tdl_world_def(c->world).gravity;
    double size = tdl_norm3(gravity);
    TdlVec3 down = size > 0.0 ? unit(gravity) : (TdlVec3){0.0, 0.0, -1.0};
    TdlVec3 other = fabs(down.z) > 0.6 ? (TdlVec3){1.0, 0.0, 0.0} : (TdlVec3){0.0, 0.0, 1.0};
    TdlVec3 first = unit(tdl_cross3(down, other));
    TdlVec3 aside = tdl_add3(first, tdl_cross3(down, first)); // along neither axis
    tdl_world_set_gravity(c->world, tdl_axpy3(gravity, LEAN * (size > 0.0 ? size : 1.0), aside));
    TdlStatus status = run(c, KICK_STEPS);
    tdl_world_set_gravity(c->world, gravity);
    return status;
}

static TdlStatus check_world(Checking* c, const Places* p, long steps, InverseCheck* out) {
    TdlStatus status = run(c, steps);
    if (status == TDL_STATUS_OK && !find_drifts(c->world, p, out->drift_of)) {
        status = TDL_STATUS_NO_MEMORY;
    }
    status = status == TDL_STATUS_OK ? kick(c) : status;
    status = status == TDL_STATUS_OK ? run(c, steps) : status;
    if (status == TDL_STATUS_OK && !find_drifts(c->world, p, out->end_of)) {
        status = TDL_STATUS_NO_MEMORY;
    }
    return status;
}

static void judge(const bool* stable, InverseCheck* out) {
    for (int i = 0; i < out->count; ++i) {
        out->drift = fmax(out->drift, out->drift_of[i]);
        out->left[i] = !(out->end_of[i] <= LEFT);
        out->left_count += out->left[i];
        out->wrong_count += stable[i] && (out->left[i] || !(out->drift_of[i] <= HELD));
        out->unstable_count += !stable[i];
    }
}

int inverse_check(const Args* args, const char* path, double seconds, const int* rods,
                  const bool* stable, int count, InverseCheck* out) {
    TdlScene* scene = NULL;
    TdlWorld* world = NULL;
    Places places = {0};
    *out = (InverseCheck){.seconds = seconds, .count = count};
    out->drift_of = calloc((size_t)count + 1, sizeof *out->drift_of);
    out->end_of = calloc((size_t)count + 1, sizeof *out->end_of);
    out->left = calloc((size_t)count + 1, sizeof *out->left);
    bool good = out->drift_of != NULL && out->end_of != NULL && out->left != NULL;
    TdlStatus status =
        !good ? TDL_STATUS_NO_MEMORY : tdl_scene_load(args_host(args), path, NULL, 0, &scene);
    if (status == TDL_STATUS_OK) {
        status = tdl_scene_build(scene, args_int(args, "threads", 0), &world);
    }
    if (status == TDL_STATUS_OK) {
        status = places_take(world, rods, count, &places);
    }
    if (status == TDL_STATUS_OK) {
        long steps = (long)ceil(seconds / tdl_scene_info(scene).step - 1.0e-9);
        Checking checking = {world, args_has(args, "quiet"), 0, 2 * steps + KICK_STEPS};
        tdl_world_watch_stop(world, asked_to_stop, NULL);
        status = check_world(&checking, &places, steps, out);
        terminal_end_progress();
    }
    if (status == TDL_STATUS_OK) {
        judge(stable, out);
    }
    places_free(&places);
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
    return exit_code(status);
}

void inverse_check_free(InverseCheck* check) {
    free(check->drift_of);
    free(check->end_of);
    free(check->left);
    *check = (InverseCheck){0};
}
