// Keyframes and their interpolation.
#include "body/motion.h"

#include "base/log.h"
#include "math/rotation.h"

#include <string.h>

TdlStatus motion_create(const TdlHost* host, const TdlMotionDef* def, Motion* out) {
    *out = (Motion){.interpolation = def->interpolation};
    if (def->keys == NULL || def->key_count == 0) {
        return TDL_STATUS_OK;
    }
    for (int i = 0; i < def->key_count; ++i) {
        const TdlKeyframe* key = &def->keys[i];
        if (!isfinite(key->time) || !tdl_finite3(key->position) || !tdl_finite3(key->rotation)) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "motion: key %d is not finite", i);
        }
        if (i > 0 && !(key->time > def->keys[i - 1].time)) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                            "motion: the time of key %d is not after that of key %d", i, i - 1);
        }
    }
    out->keys = tdl_alloc_array(&host->mem, (size_t)def->key_count, sizeof *out->keys);
    if (out->keys == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(out->keys, def->keys, (size_t)def->key_count * sizeof *out->keys);
    out->key_count = def->key_count;
    return TDL_STATUS_OK;
}

void motion_destroy(const TdlHost* host, Motion* motion) {
    tdl_free(&host->mem, motion->keys);
    *motion = (Motion){0};
}

// The last key at or before `time`, by halving; -1 when it is before them all.
static int find_key(const Motion* motion, double time) {
    int low = -1, high = motion->key_count;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (motion->keys[middle].time <= time) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static TdlKeyframe blend(const Motion* motion, double time) {
    int i = find_key(motion, time);
    if (i < 0 || i == motion->key_count - 1) {
        return motion->keys[i < 0 ? 0 : i];
    }
    const TdlKeyframe *a = &motion->keys[i], *b = &motion->keys[i + 1];
    double u = (time - a->time) / (b->time - a->time);
    if (motion->interpolation == TDL_INTERPOLATION_SMOOTH) {
        // the quintic of least jerk: velocity and acceleration vanish at both ends
        u = u * u * u * (10.0 + u * (6.0 * u - 15.0));
    }
    return (TdlKeyframe){time, tdl_axpy3(a->position, u, tdl_sub3(b->position, a->position)),
                         tdl_axpy3(a->rotation, u, tdl_sub3(b->rotation, a->rotation))};
}

static bool is_zero(TdlVec3 a) {
    return tdl_dot3(a, a) == 0.0;
}

TdlPose motion_pose(const Motion* motion, TdlPose placed, double time) {
    TdlPose pose = placed;
    if (motion->keys != NULL) {
        TdlKeyframe key = blend(motion, time);
        pose.position = tdl_add3(placed.position, key.position);
        pose.rotation = tdl_mul33(tdl_rotation_exp(key.rotation), placed.rotation);
    }
    if (!is_zero(motion->velocity)) {
        pose.position = tdl_axpy3(pose.position, time, motion->velocity);
    }
    if (!is_zero(motion->angular_velocity)) {
        TdlMat3 turn = tdl_rotation_exp(tdl_scale3(time, motion->angular_velocity));
        pose.rotation = tdl_mul33(turn, pose.rotation);
    }
    return pose;
}

Twist twist_between(TdlPose from, TdlPose to, double dt) {
    TdlMat3 turn = tdl_mul33(to.rotation, tdl_transpose33(from.rotation));
    return (Twist){tdl_scale3(1.0 / dt, tdl_sub3(to.position, from.position)),
                   tdl_scale3(1.0 / dt, tdl_rotation_log(turn))};
}
