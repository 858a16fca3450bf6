// Keyframes and their interpolation.
#include "body/motion.h"

#include "base/log.h"
#include "body/body.h"
#include "math/rotation.h"

#include <string.h>

TdlStatus motion_create(const TdlHost* host, const TdlMotionDef* def, Motion* out) {
    *out = (Motion){
        .interpolation = def->interpolation, .about_point = def->about_point, .about = def->about};
    if (def->about_point && !tdl_finite3(def->about)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "motion: its point is not finite");
    }
    if (def->fn.at != NULL) {
        return time_fn_create(host, &def->fn, &out->fn);
    }
    if (def->keys == NULL || def->key_count == 0) {
        return TDL_STATUS_OK;
    }
    TdlStatus status = keys_check(host, "motion", def->keys, def->key_count);
    if (status != TDL_STATUS_OK) {
        return status;
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
    time_fn_destroy(host, &motion->fn);
    *motion = (Motion){0};
}

static TdlKeyframe blend(const Motion* motion, double time) {
    if (motion->fn.at != NULL) {
        TdlVec3 value[2] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        motion->fn.at(motion->fn.data, time, value);
        return (TdlKeyframe){time, value[0], value[1]};
    }
    return keys_at(motion->keys, motion->key_count, motion->interpolation, time);
}

static bool is_zero(TdlVec3 a) {
    return tdl_dot3(a, a) == 0.0;
}

TdlPose motion_pose(const Motion* motion, TdlPose placed, double time) {
    TdlPose pose = placed;
    if (motion_moves(motion)) {
        TdlKeyframe key = blend(motion, time);
        TdlMat3 turn = tdl_rotation_exp(key.rotation);
        if (motion->about_point) {
            TdlVec3 arm = tdl_sub3(placed.position, motion->about);
            pose.position = tdl_add3(motion->about, tdl_mul33_3(turn, arm));
        }
        pose.position = tdl_add3(pose.position, key.position);
        pose.rotation = tdl_mul33(turn, placed.rotation);
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

void motion_check(const Motion* motion, TdlPose pose, Body* body) {
    const TdlMat3* r = &pose.rotation;
    bool finite = tdl_finite3(pose.position) && tdl_finite3(r->cx) && tdl_finite3(r->cy) &&
                  tdl_finite3(r->cz);
    if (motion->fn.at != NULL && !finite) {
        body->account.senseless = "a motion";
    }
}

Twist twist_between(TdlPose from, TdlPose to, double dt) {
    TdlMat3 turn = tdl_mul33(to.rotation, tdl_transpose33(from.rotation));
    return (Twist){tdl_scale3(1.0 / dt, tdl_sub3(to.position, from.position)),
                   tdl_scale3(1.0 / dt, tdl_rotation_log(turn))};
}

TdlMotionDef motion_def(const Motion* motion) {
    return (TdlMotionDef){.keys = motion->keys,
                          .key_count = motion->key_count,
                          .interpolation = motion->interpolation,
                          .about_point = motion->about_point,
                          .about = motion->about,
                          .fn = motion->fn};
}
