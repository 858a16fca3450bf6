// What of joints goes by the clock: when they hold, and motors that follow a function of the time.
// Both are functions of the time alone; that a joint holds, and where, is state. Joints come and go
// between two steps, never inside one, so that a step that is made again has the same joints.
#include "base/log.h"
#include "world/world.h"

#include <string.h>

bool joint_has_time(const TdlJointDef* def) {
    return isfinite(def->during[0]) || isfinite(def->during[1]);
}

const char* joint_time_fault(const TdlJointDef* def) {
    double from = def->during[0], to = def->during[1];
    if (!(from < to)) {
        return "the time in which it holds ends after it begins";
    }
    if (!(def->every >= 0.0) || !isfinite(def->every)) {
        return "the time after which it holds again must not be negative";
    }
    return def->every == 0.0 || def->every >= to - from
               ? NULL
               : "it holds again before it has let go: `every` is at least the time that it holds";
}

// Judged in the middle of a step, which is never at the ends of a time that steps begin with.
// (J.11)
static bool is_due(const TdlJointDef* def, double middle) {
    double since = middle - def->during[0];
    if (def->every > 0.0 && since >= 0.0) {
        since = fmod(since, def->every);
        return since < def->during[1] - def->during[0];
    }
    return middle >= def->during[0] && middle < def->during[1];
}

static void change(TdlWorld* world, const Joint* joint) {
    const Body *a = joint->side[0].body, *b = joint->side[1].body;
    if (world->contacts != NULL && a != NULL && b != NULL) {
        contacts_clear_again(world, a,
                             b); // its bodies touch where they were kept clear, or no longer
    }
    joints_lay_out_again(world);
}

void joint_let_go(TdlWorld* world, Joint* joint) {
    joint->rate = joint->stored = 0.0;
    memset(joint->told, 0, sizeof joint->told);
    memset(joint->force, 0, sizeof joint->force);
    change(world, joint);
}

static TdlStatus join(TdlWorld* world, Joint* joint, double time) {
    TdlPose pose[2];
    if (!joint->def.as_made) {
        joint_place_again(joint);
    }
    memset(joint->before, 0, sizeof joint->before);
    memset(joint->miss, 0, sizeof joint->miss);
    joint->dt_before = 0.0;
    for (int r = 0; r < joint->row_count; ++r) {
        joint->mode[r] = joint->row[r].role == ROW_RANGE ? ROW_LOW : ROW_SOLVED;
    }
    joint_pose_now(joint, pose);
    TdlVec3 way = tdl_sub3(pose[1].position, pose[0].position);
    if (joint->def.kind == TDL_JOINT_DISTANCE && !(tdl_norm3(way) > 0.0)) {
        char name[TDL_BODY_NAME_SIZE];
        joint_name(joint, name);
        return tdl_fail(&world->host, TDL_STATUS_BAD_INPUT,
                        "at %.6g s %s begins to hold: the two places of a distance are one", time,
                        name);
    }
    joint->point = pose[1].position;
    joint->basis = pose[0].rotation;
    joint->coordinate = joint_coordinate(joint, pose, 0.0);
    joint->idle = false;
    change(world, joint);
    return TDL_STATUS_OK;
}

TdlStatus joints_heed_time(TdlWorld* world, double start, double end) {
    for (int i = 0; i < world->joints.count; ++i) {
        Joint* joint = world->joints.at[i];
        memset(joint->told, 0, sizeof joint->told); // of a new step
        if (!joint_has_time(&joint->def) || joint->broken) {
            continue;
        }
        bool idle = !is_due(&joint->def, 0.5 * (start + end));
        if (idle && !joint->idle) {
            joint->idle = true;
            joint_let_go(world, joint);
        } else if (!idle && joint->idle) {
            TdlStatus status = join(world, joint, start);
            if (status != TDL_STATUS_OK) {
                return status;
            }
        }
    }
    return TDL_STATUS_OK;
}

TdlStatus joint_take_target(const TdlWorld* world, Joint* joint, const BodyStep* step) {
    const TdlTimeFn* fn = &joint->def.target;
    bool speed = joint->motor.mode == TDL_MOTOR_SPEED;
    if (fn->at == NULL) { // a place is gone to by the end of the step, evenly by its parts
        double from = joint->coordinate, way = joint->motor.target - from;
        double left = world_next_time(world) - step->start;
        joint->aim =
            speed || !(step->dt < left) ? joint->motor.target : from + way * step->dt / left;
        return TDL_STATUS_OK;
    }
    double time = speed ? 0.5 * (step->start + step->end) : step->end;
    TdlVec3 value[2] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    fn->at(fn->data, time, value);
    if (!isfinite(value[0].x)) {
        char name[TDL_BODY_NAME_SIZE];
        joint_name(joint, name);
        return tdl_fail(&world->host, TDL_STATUS_BAD_INPUT,
                        "at %.6g s the motor of %s is told a %s that is not a number", time, name,
                        speed ? "speed" : "place");
    }
    joint->motor.target = joint->aim = value[0].x;
    return TDL_STATUS_OK;
}
