// Functions of the time: their data are copied like everything that a definition points to. And
// those that go through keys.
#include "body/time_fn.h"

#include "base/log.h"

#include <string.h>

typedef struct TimeKeys {
    TdlInterpolation interpolation;
    int count;
    TdlKeyframe key[];
} TimeKeys;

TdlStatus time_fn_create(const TdlHost* host, const TdlTimeFn* given, TdlTimeFn* out) {
    *out = given->at == NULL ? (TdlTimeFn){0} : *given; // none has no data to free either
    if (out->size == 0) {
        return TDL_STATUS_OK;
    }
    void* data = tdl_alloc_array(&host->mem, given->size, 1);
    out->data = data;
    if (data == NULL) {
        out->size = 0;
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(data, given->data, given->size);
    return TDL_STATUS_OK;
}

void time_fn_destroy(const TdlHost* host, TdlTimeFn* fn) {
    if (fn->size > 0) {
        tdl_free(&host->mem, (void*)(uintptr_t)fn->data);
    }
    *fn = (TdlTimeFn){0};
}

// --- keys
// -----------------------------------------------------------------------------------------

TdlStatus keys_check(const TdlHost* host, const char* what, const TdlKeyframe* keys, int count) {
    for (int i = 0; i < count; ++i) {
        const TdlKeyframe* key = &keys[i];
        if (!isfinite(key->time) || !tdl_finite3(key->position) || !tdl_finite3(key->rotation)) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "%s: key %d is not finite", what, i);
        }
        if (i > 0 && !(key->time > keys[i - 1].time)) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                            "%s: the time of key %d is not after that of key %d", what, i, i - 1);
        }
    }
    return TDL_STATUS_OK;
}

// The last key at or before `time`, by halving; -1 when it is before them all.
static int find_key(const TdlKeyframe* keys, int count, double time) {
    int low = -1, high = count;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (keys[middle].time <= time) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

TdlKeyframe keys_at(const TdlKeyframe* keys, int count, TdlInterpolation interpolation,
                    double time) {
    int i = find_key(keys, count, time);
    if (i < 0 || i == count - 1) {
        return keys[i < 0 ? 0 : i];
    }
    const TdlKeyframe *a = &keys[i], *b = &keys[i + 1];
    double u = (time - a->time) / (b->time - a->time);
    if (interpolation == TDL_INTERPOLATION_SMOOTH) {
        // the quintic of least jerk: velocity and acceleration vanish at both ends
        u = u * u * u * (10.0 + u * (6.0 * u - 15.0));
    }
    return (TdlKeyframe){time, tdl_axpy3(a->position, u, tdl_sub3(b->position, a->position)),
                         tdl_axpy3(a->rotation, u, tdl_sub3(b->rotation, a->rotation))};
}

static void go_through_keys(const void* data, double time, TdlVec3 out[2]) {
    const TimeKeys* k = data;
    TdlKeyframe key = keys_at(k->key, k->count, k->interpolation, time);
    out[0] = key.position;
    out[1] = key.rotation;
}

TdlStatus tdl_time_fn_of_keys(const TdlHost* host, const TdlKeyframe* keys, int count,
                              TdlInterpolation interpolation, TdlTimeFn* out) {
    *out = (TdlTimeFn){0};
    if (count < 1) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "a function through keys needs some");
    }
    TdlStatus status = keys_check(host, "function", keys, count);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    size_t size = sizeof(TimeKeys) + (size_t)count * sizeof *keys;
    TimeKeys* data = tdl_alloc_array(&host->mem, size, 1);
    if (data == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    *data = (TimeKeys){interpolation, count};
    memcpy(data->key, keys, (size_t)count * sizeof *keys);
    *out = (TdlTimeFn){go_through_keys, data, size};
    return TDL_STATUS_OK;
}

void tdl_time_fn_free(const TdlHost* host, TdlTimeFn* fn) {
    time_fn_destroy(host, fn);
}
