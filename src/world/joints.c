// The joints of a world: how they come and go, and what they tell. docs/theory/joints.md
#include "base/log.h"
#include "body/clearance.h"
#include "world/world.h"

#include <string.h>

enum { NAME_MOST = 200 };

// A few radii of what is slender are what its end and a joint take up.
static const double CLEAR_RADII = 4.0;
// m: no place of two bodies is so far from a joint of theirs.
static const double CLEAR_ANYWHERE = 1.0e9;

// --- definitions ------------------------------------------------------------------------------

TdlJointDef tdl_joint_def_default(void) {
    TdlVec3 untold = {NAN, NAN, NAN};
    return (TdlJointDef){.point = {untold, untold},
                         .axis = {1.0, 0.0, 0.0},
                         .length = NAN,
                         .stiffness = INFINITY,
                         .turning_stiffness = INFINITY,
                         .range = {-INFINITY, INFINITY},
                         .motor.most = INFINITY,
                         .during = {-INFINITY, INFINITY},
                         .break_force = INFINITY,
                         .break_torque = INFINITY,
                         .clear = NAN};
}

static bool is_amount(double x) {
    return x >= 0.0 && isfinite(x);
}

static bool has_axis(TdlJointKind kind) {
    return kind == TDL_JOINT_HINGE || kind == TDL_JOINT_SLIDER;
}

static const char* find_motor_fault(const TdlMotor* motor, TdlJointKind kind) {
    if ((int)motor->mode < TDL_MOTOR_OFF || motor->mode > TDL_MOTOR_PLACE) {
        return "a motor is off, or goes with a speed or to a place";
    }
    if (motor->mode != TDL_MOTOR_OFF && !has_axis(kind)) {
        return "only a hinge or a slider has a motor";
    }
    return isfinite(motor->target) && motor->most > 0.0
               ? NULL
               : "the target of a motor must be finite, and the most it can do be positive";
}

const char* tdl_joint_def_fault(const TdlJointDef* def) {
    if ((int)def->kind < TDL_JOINT_FIXED || def->kind > TDL_JOINT_DISTANCE) {
        return "kind must be fixed, ball, hinge, slider or distance";
    }
    if (has_axis(def->kind) && !(tdl_finite3(def->axis) && tdl_norm3(def->axis) > 0.0)) {
        return "axis must be finite and not zero";
    }
    if (def->kind == TDL_JOINT_DISTANCE && !isnan(def->length) &&
        !(isfinite(def->length) && def->length > 0.0)) {
        return "length must be positive";
    }
    if (!(def->stiffness > 0.0) || !(def->turning_stiffness > 0.0)) {
        return "stiffness must be positive";
    }
    if (!is_amount(def->damping) || !is_amount(def->turning_damping) ||
        !is_amount(def->axis_stiffness) || !is_amount(def->axis_damping)) {
        return "damping and what is along the axis must not be negative";
    }
    if (!isfinite(def->axis_rest)) {
        return "rest must be finite";
    }
    if (!(def->range[0] < def->range[1])) {
        return "a range goes from a lower to a higher number";
    }
    bool ranged = isfinite(def->range[0]) || isfinite(def->range[1]);
    if (ranged && !has_axis(def->kind) && def->kind != TDL_JOINT_DISTANCE) {
        return "only a hinge, a slider or a distance has a range";
    }
    if (!(def->break_force > 0.0) || !(def->break_torque > 0.0)) {
        return "what a joint bears must be positive";
    }
    if (!isnan(def->clear) && !(def->clear >= 0.0)) {
        return "clear must not be negative";
    }
    if (def->motor.mode == TDL_MOTOR_OFF && def->target.at != NULL) {
        return "a motor that follows a function goes with a speed or to a place";
    }
    const char* fault = joint_time_fault(def);
    return fault == NULL ? find_motor_fault(&def->motor, def->kind) : fault;
}

static void add_row(Joint* joint, RowRole role, bool turning, int axis, double k, double d) {
    joint->row[joint->row_count++] = (JointRow){role, turning, axis, k, d};
}

// The rows of its kind: what is held, then what drives the free coordinate.
static void choose_rows(Joint* joint) {
    const TdlJointDef* def = &joint->def;
    bool hinge = def->kind == TDL_JOINT_HINGE, slider = def->kind == TDL_JOINT_SLIDER;
    bool distance = def->kind == TDL_JOINT_DISTANCE;
    bool turns = def->kind == TDL_JOINT_FIXED || hinge || slider;
    bool ranged = isfinite(def->range[0]) || isfinite(def->range[1]);
    for (int axis = 0; axis < 3; ++axis) {
        bool held = distance ? axis == 0 && !ranged : !(slider && axis == 0);
        if (held) {
            add_row(joint, ROW_HELD, false, axis, def->stiffness, def->damping);
        }
    }
    for (int axis = 0; axis < 3 && turns; ++axis) {
        if (!(hinge && axis == 0)) {
            add_row(joint, ROW_HELD, true, axis, def->turning_stiffness, def->turning_damping);
        }
    }
    if (has_axis(def->kind) && (def->axis_stiffness > 0.0 || def->axis_damping > 0.0)) {
        add_row(joint, ROW_SPRING, hinge, 0, def->axis_stiffness, def->axis_damping);
    }
    if (has_axis(def->kind)) {
        add_row(joint, ROW_MOTOR, hinge, 0, INFINITY, 0.0);
    }
    if (ranged) {
        add_row(joint, ROW_RANGE, hinge, 0, INFINITY, 0.0);
    }
    joint->motor = def->motor;
    for (int r = 0; r < joint->row_count; ++r) {
        joint->mode[r] = joint->row[r].role == ROW_RANGE ? ROW_LOW : ROW_SOLVED;
    }
}

// --- they come and go -------------------------------------------------------------------------

static Joint* find_joint(const TdlWorld* world, TdlJointId id) {
    for (int i = 0; i < world->joints.count; ++i) {
        Joint* joint = world->joints.at[i];
        if (joint->id.index == id.index && joint->id.generation == id.generation) {
            return joint;
        }
    }
    tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT, "id (%d, %d) is no joint of this world",
             id.index, id.generation);
    return NULL;
}

void joint_name(const Joint* joint, char out[TDL_BODY_NAME_SIZE]) {
    if (joint->name != NULL) {
        snprintf(out, TDL_BODY_NAME_SIZE, "joint '%s'", joint->name);
    } else {
        snprintf(out, TDL_BODY_NAME_SIZE, "joint %d", joint->id.index - 1);
    }
}

void joints_tell_fault(const TdlWorld* world, TdlJointId id, char out[TDL_BODY_NAME_SIZE + 8]) {
    const Joint* joint = id.index == 0 ? NULL : find_joint(world, id);
    out[0] = '\0';
    if (joint != NULL) {
        char name[TDL_BODY_NAME_SIZE];
        joint_name(joint, name);
        snprintf(out, TDL_BODY_NAME_SIZE + 8, ": %s", name);
    }
}

static bool find_anchor(const void* owner, TdlVec3* out) {
    const Joint* joint = owner;
    TdlPose pose[2];
    if (!joint_holds(joint)) {
        return false;
    }
    joint_pose_now(joint, pose);
    *out = pose[1].position;
    return true;
}

// Near the joint the two bodies meet, and do not touch.
static TdlStatus keep_clear(TdlWorld* world, const Joint* joint) {
    const Body *a = joint->side[0].body, *b = joint->side[1].body;
    double length = joint->def.clear;
    if (a == NULL || b == NULL || length == 0.0) {
        return TDL_STATUS_OK;
    }
    if (isnan(length)) {
        length = 0.0;
        for (int k = 0; k < 2; ++k) {
            const Body* body = joint->side[k].body;
            bool along = body->kind->locate != NULL;
            length = fmax(length, along ? CLEAR_RADII * body->size : 0.0);
        }
        length = length > 0.0 ? length : CLEAR_ANYWHERE;
    }
    Clearance clearance = {{a, b}, fmin(length, CLEAR_ANYWHERE), find_anchor, joint};
    return world_keep_clear(world, &clearance);
}

static void free_joint(TdlWorld* world, Joint* joint) {
    time_fn_destroy(&world->host, &joint->def.target);
    tdl_free(&world->host.mem, joint->name);
    tdl_free(&world->host.mem, joint);
}

static void destroy_joint(TdlWorld* world, Joint* joint) {
    world_end_clearances(world, joint);
    free_joint(world, joint);
}

void joints_lay_out_again(TdlWorld* world) {
    world->joints.laid_out = false;
}

const char* tdl_world_joint_fault(const TdlWorld* world, const TdlJointDef* def) {
    Joint joint = {.def = *def};
    const char* fault = tdl_joint_def_fault(def);
    if (fault == NULL && world->def.contacts.response == TDL_RESPONSE_BARRIER &&
        world->contacts != NULL) {
        fault = "bodies whose contacts are a barrier cannot be joined";
    }
    return fault == NULL ? joint_place(world, &joint) : fault;
}

TdlStatus tdl_world_add_joint(TdlWorld* world, const TdlJointDef* def, TdlJointId* out) {
    Joints* all = &world->joints;
    const TdlAllocator* mem = &world->host.mem;
    const char* fault = tdl_world_joint_fault(world, def);
    if (fault != NULL) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT, "joint: %s", fault);
    }
    Joint* joint = tdl_alloc_zero(mem, sizeof *joint);
    if (joint == NULL ||
        !tdl_reserve(mem, &all->at, &all->capacity, all->count + 1, sizeof *all->at)) {
        tdl_free(mem, joint);
        return TDL_STATUS_NO_MEMORY;
    }
    joint->def = *def;
    joint->idle = joint_has_time(def);
    joint_place(world, joint);
    choose_rows(joint);
    joint->id = (TdlJointId){all->generation + 1, 1};
    TdlStatus status = time_fn_create(&world->host, &def->target, &joint->def.target);
    status = status == TDL_STATUS_OK ? keep_clear(world, joint) : status;
    if (status != TDL_STATUS_OK) {
        destroy_joint(world, joint);
        return status;
    }
    ++all->generation;
    all->at[all->count++] = joint;
    joints_lay_out_again(world);
    *out = joint->id;
    return TDL_STATUS_OK;
}

TdlStatus joints_copy(const TdlWorld* from, TdlWorld* to) {
    Joints* all = &to->joints;
    const TdlAllocator* mem = &to->host.mem;
    all->generation = from->joints.generation;
    for (int i = 0; i < from->joints.count; ++i) {
        const Joint* old = from->joints.at[i];
        Joint* joint = tdl_alloc_zero(mem, sizeof *joint);
        if (joint == NULL ||
            !tdl_reserve(mem, &all->at, &all->capacity, all->count + 1, sizeof *all->at)) {
            tdl_free(mem, joint);
            return TDL_STATUS_NO_MEMORY;
        }
        *joint = *old;
        joint->name = NULL;
        TdlStatus status = time_fn_create(&to->host, &old->def.target, &joint->def.target);
        for (int k = 0; k < 2; ++k) {
            const Body* body = old->side[k].body;
            joint->side[k].body = body == NULL ? NULL : to->body[body->index];
        }
        all->at[all->count++] = joint;
        status = status == TDL_STATUS_OK ? keep_clear(to, joint) : status;
        if (status == TDL_STATUS_OK && old->name != NULL) {
            status = tdl_joint_set_name(to, joint->id, old->name);
        }
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    joints_lay_out_again(to);
    return TDL_STATUS_OK;
}

static void take_away(TdlWorld* world, int index) {
    Joints* all = &world->joints;
    destroy_joint(world, all->at[index]);
    memmove(all->at + index, all->at + index + 1,
            (size_t)(all->count - index - 1) * sizeof(Joint*));
    --all->count;
    joints_lay_out_again(world);
}

TdlStatus tdl_world_remove_joint(TdlWorld* world, TdlJointId id) {
    const Joint* joint = find_joint(world, id);
    for (int i = 0; i < world->joints.count && joint != NULL; ++i) {
        if (world->joints.at[i] == joint) {
            take_away(world, i);
            return TDL_STATUS_OK;
        }
    }
    return TDL_STATUS_BAD_ARGUMENT;
}

void joints_forget_body(TdlWorld* world, const Body* body) {
    for (int i = world->joints.count - 1; i >= 0; --i) {
        const Joint* joint = world->joints.at[i];
        if (joint->side[0].body == body || joint->side[1].body == body) {
            take_away(world, i);
        }
    }
    joints_lay_out_again(world);
}

void joints_destroy(TdlWorld* world) {
    Joints* all = &world->joints;
    linkages_free(world);
    for (int i = 0; i < all->count; ++i) {
        free_joint(world, all->at[i]);
    }
    tdl_free(&world->host.mem, all->at);
    arena_destroy(&all->arena);
}

int tdl_world_joints(const TdlWorld* world, int capacity, TdlJointId* out) {
    for (int i = 0; i < world->joints.count && i < capacity; ++i) {
        out[i] = world->joints.at[i]->id;
    }
    return world->joints.count;
}

TdlJointId tdl_world_joint(const TdlWorld* world, int index) {
    bool there = index >= 0 && index < world->joints.count;
    return there ? world->joints.at[index]->id : (TdlJointId){0};
}

TdlStatus tdl_joint_set_name(TdlWorld* world, TdlJointId id, const char* name) {
    Joint* joint = find_joint(world, id);
    size_t length = name == NULL ? 0 : strlen(name);
    if (joint == NULL || length > NAME_MOST) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    char* copy = NULL;
    if (name != NULL) {
        copy = tdl_alloc_array(&world->host.mem, length + 1, 1);
        if (copy == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        memcpy(copy, name, length + 1);
    }
    tdl_free(&world->host.mem, joint->name);
    joint->name = copy;
    return TDL_STATUS_OK;
}

const char* tdl_joint_name(const TdlWorld* world, TdlJointId id) {
    const Joint* joint = find_joint(world, id);
    return joint == NULL || joint->name == NULL ? "" : joint->name;
}

TdlStatus tdl_joint_set_motor(TdlWorld* world, TdlJointId id, TdlMotor motor) {
    Joint* joint = find_joint(world, id);
    if (joint == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    const char* fault = find_motor_fault(&motor, joint->def.kind);
    if (fault == NULL && joint->def.target.at != NULL) {
        fault = "its motor follows a function of the time";
    }
    if (fault != NULL) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT, "joint: %s", fault);
    }
    for (int r = 0; r < joint->row_count; ++r) {
        if (joint->row[r].role == ROW_MOTOR && motor.mode != joint->motor.mode) {
            joint->mode[r] = ROW_SOLVED;
        }
    }
    joint->motor = motor;
    return TDL_STATUS_OK;
}

TdlStatus tdl_joint_def(const TdlWorld* world, TdlJointId id, TdlJointDef* out) {
    const Joint* joint = find_joint(world, id);
    if (joint == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    *out = joint->def;
    return TDL_STATUS_OK;
}

TdlStatus tdl_joint_state(const TdlWorld* world, TdlJointId id, TdlJointState* out) {
    const Joint* joint = find_joint(world, id);
    if (joint == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    TdlPose pose[2];
    joint_pose_now(joint, pose);
    const double *told = joint->told, time = told[TOLD_TIME];
    double per_time = time > 0.0 ? 1.0 / time : 0.0;
    *out = (TdlJointState){.broken = joint->broken,
                           .idle = joint->idle,
                           .point = pose[1].position,
                           .coordinate = joint->coordinate,
                           .rate = joint->rate,
                           .force = tdl_scale3(per_time, tdl_load3(told, 0)),
                           .torque = tdl_scale3(per_time, tdl_load3(told, 1)),
                           .drive = per_time * told[TOLD_DRIVE],
                           .power = per_time * told[TOLD_WORK],
                           .work = joint->work,
                           .stored = joint->stored};
    if (joint_holds(joint)) {
        joint_error(joint, pose, &out->error, &out->error_angle);
    }
    return TDL_STATUS_OK;
}
