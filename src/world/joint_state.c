// What stays of joints after a step: their forces and work, what breaks, and the state as bytes.
#include "base/bytes.h"
#include "base/hash.h"
#include "base/log.h"
#include "world/world.h"

#include <string.h>

// How fast the offset of a row goes by velocities and scripts, in the axes of the step's start.
static double row_rate(const Joint* joint, int r) {
    double rate = joint->led[r];
    for (int k = 0; k < 2; ++k) {
        if (joint_moves(&joint->side[k])) {
            rate += joint_product(joint, k, r, joint->side[k].body->system->v_free);
        }
    }
    return rate;
}

// What it did on both sides, J; springs give back what they took. And what scripts did by it.
static double work_of(const Joint* joint, double* led) {
    double work = 0.0;
    for (int r = 0; r < joint->row_count; ++r) {
        work += joint->lambda[r] * row_rate(joint, r);
        *led -= joint->lambda[r] * joint->led[r];
    }
    return work;
}

static double stored_in(const Joint* joint, const double c[JOINT_ROWS]) {
    double stored = 0.0;
    for (int r = 0; r < joint->row_count; ++r) {
        double k = joint->row[r].stiffness;
        stored += isfinite(k) ? 0.5 * k * c[r] * c[r] : 0.0;
    }
    return stored;
}

// How much more a row's spring has in the middle of this step than of the one before, where
// velocities live. (J.5)
static double stored_more(const Joint* joint, int r, double end) {
    double before = joint->dt_before > 0.0 ? joint->before[r] : joint->c[r];
    double then = 0.5 * (before + joint->c[r]), now = 0.5 * (joint->c[r] + end);
    return 0.5 * joint->row[r].stiffness * (now * now - then * then);
}

// What rows of a joint did on both bodies beyond what sides that are led gave and springs had, J:
// of second order in how far it turns in a step, and bodies' own steps take that again. (J.9)
static void count_feigned(const Joint* joint, double dt, BodyBalance* sum) {
    TdlPose end[2];
    double after[JOINT_ROWS];
    joint_pose_now(joint, end);
    joint_offsets(joint, end, 0.0, after);
    sum->before += stored_in(joint, joint->c);
    sum->after += stored_in(joint, after);
    for (int r = 0; r < joint->row_count; ++r) {
        bool soft = isfinite(joint->row[r].stiffness);
        if (joint->row[r].role == ROW_MOTOR || (soft && joint->late[r] > 0.0)) {
            continue; // whose swing is not resolved loses energy
        }
        double rate = row_rate(joint, r), own = soft ? stored_more(joint, r, after[r]) : 0.0;
        if (joint->row[r].role == ROW_RANGE) { // it stops what comes to its end, which takes energy
            rate += (joint->c[r] - joint->rest[r]) / dt;
        }
        own += joint->lambda[r] * rate;
        sum->gained += own;
        sum->feigned += fabs(own);
    }
}

void joints_count_feigned(TdlWorld* world, const BodyStep* step) {
    for (int i = 0; i < world->joints.linkage_count; ++i) {
        const Linkage* l = &world->joints.linkage[i];
        for (int k = 0; k < l->joint_count; ++k) {
            count_feigned(l->joint[k], step->dt, &l->member[0]->balance);
        }
    }
}

// How far its end is beside where it was foreseen, what was foreseen of that included.
static void note_miss(Joint* joint, const double c[JOINT_ROWS], double dt) {
    double share = joint->dt_before > 0.0 ? dt / joint->dt_before : 0.0;
    for (int r = 0; r < joint->row_count; ++r) {
        double own = c[r] - joint->foreseen[r] + share * share * joint->miss[r];
        joint->miss[r] = joint->open ? 0.0 : own; // pushes do not go on evenly
    }
}

// Adds what it did in a part of a step.
static void tell(Joint* joint, double work) {
    double part[6] = {0.0};
    for (int r = 0; r < joint->row_count; ++r) {
        part[3 * joint->row[r].turning + joint->row[r].axis] += joint->lambda[r];
        joint->told[TOLD_DRIVE] += joint->row[r].role == ROW_HELD ? 0.0 : joint->lambda[r];
    }
    for (int k = 0; k < 2; ++k) {
        TdlVec3 own = tdl_mul33_3(joint->basis, tdl_load3(part, k));
        tdl_store3(joint->told, k, tdl_add3(tdl_load3(joint->told, k), own));
    }
    joint->told[TOLD_WORK] += work;
    joint->told[TOLD_TIME] += joint->lasts;
}

// At the end of a step, by its mean over that.
static void break_if_due(TdlWorld* world, Joint* joint, const BodyStep* step) {
    double force = tdl_norm3(tdl_load3(joint->told, 0)) / joint->told[TOLD_TIME];
    double torque = tdl_norm3(tdl_load3(joint->told, 1)) / joint->told[TOLD_TIME];
    bool holds = force <= joint->def.break_force && torque <= joint->def.break_torque;
    if (holds || step->end < world_next_time(world)) {
        return;
    }
    char name[TDL_BODY_NAME_SIZE];
    joint_name(joint, name);
    tdl_log(&world->host, TDL_LOG_INFO, "at %.6g s %s breaks: it bore %.6g N and %.6g N m",
            step->end, name, force, torque);
    joint->broken = true;
    joint_let_go(world, joint);
}

double joints_keep(TdlWorld* world, const BodyStep* step, double* led) {
    double all = 0.0;
    for (int i = 0; i < world->joints.count; ++i) {
        Joint* joint = world->joints.at[i];
        if (!joint_holds(joint)) {
            continue;
        }
        TdlPose pose[2];
        double c[JOINT_ROWS], work = work_of(joint, led);
        joint_pose_now(joint, pose);
        double coordinate = joint_coordinate(joint, pose, joint->coordinate);
        joint_offsets(joint, pose, step->dt, c);
        note_miss(joint, c, step->dt);
        joint_offsets(joint, pose, 0.0, c);
        joint->rate = (coordinate - joint->coordinate) / step->dt;
        joint->coordinate = coordinate;
        joint->work += work;
        tell(joint, work);
        joint->stored = stored_in(joint, c);
        joint->dt_before = step->dt;
        memcpy(joint->before, joint->c, sizeof joint->before);
        for (int r = 0; r < joint->row_count; ++r) {
            joint->force[r] = joint->lambda[r] / joint->lasts;
        }
        all += work;
        break_if_due(world, joint, step);
    }
    return all;
}

enum { STATE_DOUBLES = 3 * JOINT_ROWS + 8 + JOINT_TOLD + 9 + 3 + 24, STATE_INTS = JOINT_ROWS + 3 };

size_t joints_state_size(const TdlWorld* world) {
    return (size_t)world->joints.count * 8 * (STATE_DOUBLES + STATE_INTS);
}

static void save_joint(const Joint* joint, ByteWriter* out) {
    const double rest[] = {joint->dt_before,  joint->coordinate, joint->rate,   joint->motor.target,
                           joint->motor.most, joint->work,       joint->stored, joint->def.length};
    put_doubles(out, joint->force, JOINT_ROWS);
    put_doubles(out, joint->before, JOINT_ROWS);
    put_doubles(out, joint->miss, JOINT_ROWS);
    put_doubles(out, rest, 8);
    put_doubles(out, joint->told, JOINT_TOLD);
    put_doubles(out, (const double*)&joint->basis, 9);
    put_doubles(out, (const double*)&joint->point, 3);
    for (int k = 0; k < 2; ++k) {
        put_doubles(out, (const double*)&joint->side[k].local.position, 3);
        put_doubles(out, (const double*)&joint->side[k].local.rotation, 9);
    }
    put_int(out, joint->broken);
    put_int(out, joint->idle);
    put_int(out, joint->motor.mode);
    for (int r = 0; r < JOINT_ROWS; ++r) {
        put_int(out, joint->mode[r]);
    }
}

static int in_range(int64_t x, int most) {
    return x < 0 || x > most ? 0 : (int)x;
}

static void load_joint(Joint* joint, ByteReader* in) {
    double rest[8];
    get_doubles(in, joint->force, JOINT_ROWS);
    get_doubles(in, joint->before, JOINT_ROWS);
    get_doubles(in, joint->miss, JOINT_ROWS);
    get_doubles(in, rest, 8);
    get_doubles(in, joint->told, JOINT_TOLD);
    get_doubles(in, (double*)&joint->basis, 9);
    get_doubles(in, (double*)&joint->point, 3);
    joint->dt_before = rest[0];
    joint->coordinate = rest[1];
    joint->rate = rest[2];
    joint->motor.target = rest[3];
    joint->motor.most = rest[4];
    joint->work = rest[5];
    joint->stored = rest[6];
    joint->def.length = rest[7];
    for (int k = 0; k < 2; ++k) {
        get_doubles(in, (double*)&joint->side[k].local.position, 3);
        get_doubles(in, (double*)&joint->side[k].local.rotation, 9);
    }
    joint->broken = get_int(in) != 0;
    joint->idle = get_int(in) != 0;
    joint->motor.mode = (TdlMotorMode)in_range(get_int(in), TDL_MOTOR_PLACE);
    for (int r = 0; r < JOINT_ROWS; ++r) {
        joint->mode[r] = in_range(get_int(in), ROW_HIGH);
    }
}

char* joints_save(const TdlWorld* world, char* bytes) {
    ByteWriter out = {bytes};
    for (int i = 0; i < world->joints.count; ++i) {
        save_joint(world->joints.at[i], &out);
    }
    return out.at;
}

const char* joints_load(TdlWorld* world, const char* bytes) {
    ByteReader in = {bytes};
    for (int i = 0; i < world->joints.count; ++i) {
        Joint* joint = world->joints.at[i];
        bool before = joint_holds(joint);
        load_joint(joint, &in);
        if (joint_holds(joint) != before) {
            joints_lay_out_again(world);
        }
    }
    return in.at;
}

uint64_t joints_layout_hash(const TdlWorld* world, uint64_t hash) {
    for (int i = 0; i < world->joints.count; ++i) {
        int kind = (int)world->joints.at[i]->def.kind;
        hash = hash_bytes(hash, &kind, sizeof kind);
    }
    return hash;
}

uint64_t joints_hash(const TdlWorld* world, uint64_t hash) {
    char bytes[8 * (STATE_DOUBLES + STATE_INTS)];
    for (int i = 0; i < world->joints.count; ++i) {
        ByteWriter out = {bytes};
        save_joint(world->joints.at[i], &out);
        hash = hash_bytes(hash, bytes, sizeof bytes);
    }
    return hash;
}
