// Joints and what they hold together. docs/theory/joints.md
//
// Bodies that joints hold together, directly or by others, are a linkage. What its joints ask is
// eliminated from the step's problem: with A^-1 of its bodies and the rows J of its joints,
//
//     B = A^-1 - A^-1 J' (J A^-1 J' + C)^-1 J A^-1                                          (J.3)
//
// takes the place of A^-1, so that contacts see bodies that are joined and solvers no joints.
#ifndef TDL_WORLD_JOINT_H
#define TDL_WORLD_JOINT_H

#include "base/memory.h"
#include "body/body.h"
#include "body/time_fn.h"
#include "tendril/joint.h"

enum { JOINT_ROWS = 8 };

// What a joint did in a step: its impulse and the moment of it, in the world; what drives its
// coordinate; its work; and how long that was, from velocities to velocities. (J.13)
typedef enum JointTold {
    TOLD_IMPULSE = 0, // 3
    TOLD_MOMENT = 3,  // 3
    TOLD_DRIVE = 6,
    TOLD_WORK,
    TOLD_TIME,
    JOINT_TOLD,
} JointTold;

// What a row of a joint is about.
typedef enum RowRole {
    ROW_HELD = 0, // is nothing at the end of the step, or has its spring
    ROW_SPRING,   // of the free coordinate
    ROW_MOTOR,
    ROW_RANGE,
} RowRole;

// The way along an axis of the joint's frame, or the turn about it.
typedef struct JointRow {
    RowRole role;
    bool turning;
    int axis;
    double stiffness, damping; // INFINITY: exact
} JointRow;

// How a row takes part in an attempt.
typedef enum RowMode {
    ROW_SOLVED = 0, // its equation holds
    ROW_LOW,        // its impulse is the least that it may be
    ROW_HIGH,       // or the most
} RowMode;

typedef struct JointSide {
    Body* body;      // null: the world
    BodyPlace place; // element and shares
    bool framed;     // its place has a frame
    TdlPose local;   // the joint's frame in that of the place, or in the world's
} JointSide;

typedef struct Joint {
    TdlJointDef def;
    TdlJointId id;
    char* name; // null: none
    JointSide side[2];
    int lead;        // side whose place, and axes, are the joint's
    bool any_length; // of a distance: as it is where it joins
    int row_count;
    JointRow row[JOINT_ROWS];

    // --- the state; with it where the joint is on both sides, and its length
    bool broken;
    bool idle;                 // its time is not now
    double force[JOINT_ROWS];  // N or N m in the last step, by rows
    double before[JOINT_ROWS]; // offsets that it began with, for what is second order in time
    double miss[JOINT_ROWS];   // m or rad that it ended beside where it was foreseen to. (J.8)
    int mode[JOINT_ROWS];
    double dt_before;
    double coordinate, rate; // of the free coordinate: a hinge's goes on beyond half a turn
    TdlMotor motor;
    double aim;              // of the motor in this part of a step; no state
    double work, stored;     // J
    double told[JOINT_TOLD]; // N s, N m s, N m s or N s, J: of all parts of the step so far, see
                             // `JointTold`
    TdlMat3 basis;           // the axes of `force`, and where it is
    TdlVec3 point;

    // --- an attempt; rows are over the coordinates of a side's system
    int first;                                // of its rows in the linkage
    TdlPose start[2], end[2];                 // of the joint's frame on both sides
    TdlVec3 touch[2];                         // m, where its rows are about
    double* six[2];                           // [6][dofs] rows of the way there and of the turn
    double *h[2], *y[2];                      // [rows][dofs] J, and A^-1 J'
    double lasts;                             // s, how long its impulse acts. (J.13)
    double c[JOINT_ROWS];                     // offsets at the start
    double rest[JOINT_ROWS];                  // those that no velocity is to close. (J.10)
    bool open;                                // whether there are any
    double low[JOINT_ROWS], high[JOINT_ROWS]; // N s
    double soft[JOINT_ROWS];                  // C
    double led[JOINT_ROWS];                   // how fast scripts change c
    double late[JOINT_ROWS];                  // of springs: 0 resolved in time, to 1
    double lag[JOINT_ROWS];                   // c / dt + C lambda + lag is to be nothing
    double ask[JOINT_ROWS];                   // J v + C lambda is to be that
    double asked[JOINT_ROWS];                 // and was, in the last solve
    double lambda[JOINT_ROWS];                // N s
    double off[JOINT_ROWS];                   // c / dt + C lambda + lag, as it is
    double foreseen[JOINT_ROWS];              // c at the end
} Joint;

typedef struct Linkage {
    Body** member; // [member_count] systems with coordinates, in their order
    int member_count, dof_count;
    Joint** joint; // [joint_count] in an order that keeps the band narrow
    int joint_count, row_count, width;

    // --- an attempt, in the arena of the joints
    double *matrix, *factor; // S by its band, and with a little more factored
    double* free;            // [dof_count] velocities without joints
    double* rows;            // [row_count]
    double* scratch;         // [threads][3 row_count]
} Linkage;

typedef struct Joints {
    Joint** at; // [count] in the order in which they were added
    int count, capacity;
    int generation;
    Linkage* linkage; // [linkage_count]
    int linkage_count;
    bool laid_out;
    Arena arena; // of an attempt
} Joints;

void joints_destroy(TdlWorld* world);

void linkages_free(TdlWorld* world);

// Who is joined to whom, where bodies or joints came or went; whether any joint holds.
TdlStatus joints_lay_out(TdlWorld* world);
void joints_lay_out_again(TdlWorld* world);
bool joints_act(const TdlWorld* world);

// The same joints between the bodies of a copy, which are all there.
TdlStatus joints_copy(const TdlWorld* from, TdlWorld* to);

// Before a body is removed: its joints are.
void joints_forget_body(TdlWorld* world, const Body* body);

// Before bodies are predicted: those that are joined expect the forces of the step before.
void joints_expect(TdlWorld* world);

// After they were predicted (`anew`), and again whenever A changed or a row went over to or from
// its bounds: rows, and their matrix. TDL_STATUS_DIVERGED where that cannot be factored.
TdlStatus joints_build(TdlWorld* world, const BodyStep* step, bool anew);

// How far joints will be from closed where the step ends.
typedef struct JointsOff {
    double off;         // relative
    bool changed;       // rows went over to or from their bounds
    const Joint* worst; // null: none is off
} JointsOff;

// Velocities of all that is joined become those with joints and without contacts; and after
// contacts the impulses of the joints are found, and what is asked of them is changed by what they
// are off. `first`: they are to be closed without contacts; else as was asked with these.
// TDL_STATUS_DIVERGED where they do not close.
TdlStatus joints_apply(TdlWorld* world, const BodyStep* step, bool first);
TdlStatus joints_answer(TdlWorld* world, const BodyStep* step, JointsOff* out);

// What joints did that they cannot do, as a gain of the linkage's first body.
void joints_count_feigned(TdlWorld* world, const BodyStep* step);

// Then: what was open at the start is closed by displacements, as contacts push. (J.10)
TdlStatus joints_push(TdlWorld* world);

// After bodies were advanced: how far joints are from closed, relative, and the worst of them.
double joints_miss(const TdlWorld* world, const Joint** worst);
// Once an attempt is kept: what they did, and what breaks. Returns their work, J; `led`
// receives in addition what scripts did by them.
double joints_keep(TdlWorld* world, const BodyStep* step, double* led);

// At the start of a step: joints whose time begins hold from now on what is there, others let go.
// A message, and TDL_STATUS_BAD_INPUT, where one cannot. joint_time.c
TdlStatus joints_heed_time(TdlWorld* world, double start, double end);
const char* joint_time_fault(const TdlJointDef* def);
bool joint_has_time(const TdlJointDef* def);
// What a motor's function has for a step, or a part of one. A message, and TDL_STATUS_BAD_INPUT,
// where that is no number.
TdlStatus joint_take_target(const TdlWorld* world, Joint* joint, const BodyStep* step);
// It holds nothing from now on.
void joint_let_go(TdlWorld* world, Joint* joint);

void joint_name(const Joint* joint, char out[TDL_BODY_NAME_SIZE]);
// ": joint 'x'", or nothing for a null id.
void joints_tell_fault(const TdlWorld* world, TdlJointId id, char out[TDL_BODY_NAME_SIZE + 8]);

// Their state as bytes; `save` and `load` return what is behind it.
size_t joints_state_size(const TdlWorld* world);
char* joints_save(const TdlWorld* world, char* bytes);
const char* joints_load(TdlWorld* world, const char* bytes);
uint64_t joints_layout_hash(const TdlWorld* world, uint64_t hash);
uint64_t joints_hash(const TdlWorld* world, uint64_t hash);

// --- one joint: joint_rows.c
// Puts it where its definition says, in the present state; what is wrong with that, or null.
const char* joint_place(const TdlWorld* world, Joint* joint);
// Joins both sides as they are by now: place and axes are where the leading side has them.
void joint_place_again(Joint* joint);
void joint_pose_now(const Joint* joint, TdlPose pose[2]);
// Its rows and their equations for a step, at A as it is; false when memory runs out. `anew`: what
// is asked of them begins from the bodies' velocities.
bool joint_fill(Joint* joint, const BodyStep* step, bool anew, Arena* arena);
// With the bodies' velocities and its impulses: where it ends and how far its equations are off.
void joint_look(Joint* joint, const BodyStep* step);
// The rows of a side times velocities of its system.
double joint_product(const Joint* joint, int side, int row, const double* v);
double joint_scale(const Joint* joint); // m, against which places are measured
// Offsets of its rows in these poses; and how far what it holds exactly is off in them, m and rad.
void joint_offsets(const Joint* joint, const TdlPose pose[2], double dt, double out[JOINT_ROWS]);
void joint_error(const Joint* joint, const TdlPose pose[2], double* way, double* turn);
double joint_coordinate(const Joint* joint, const TdlPose pose[2], double near);

static inline bool joint_holds(const Joint* joint) {
    return !joint->broken && !joint->idle;
}

static inline bool joint_moves(const JointSide* side) {
    return side->body != NULL && side->body->system->dof_count > 0;
}

// --- linkage.c
// S and its factor, from the rows of the joints; false when it cannot be factored.
bool linkage_factor(Linkage* linkage);
// b := S^-1 b; scratch of twice as many.
void linkage_find(const Linkage* linkage, double* b, double* scratch);
// J v of all rows; v += factor A^-1 J' lambda.
void linkage_rows(const Linkage* linkage, const double* v, double* out);
void linkage_add(const Linkage* linkage, double factor, const double* lambda, double* v);
// Nothing for rows at their bounds.
void linkage_clear_bounded(const Linkage* linkage, double* rows);
// X := B X, `count` columns over the coordinates of the linkage; for the worker of a pool.
void linkage_solve(const Linkage* linkage, int worker, int count, double* X);

// Coordinates that are solved as one with a body: those of its linkage, at its first member.
static inline const Body* linkage_head(const Body* system) {
    return system->linkage == NULL ? system : system->linkage->member[0];
}

static inline int linkage_dofs(const Body* body) {
    if (body->linkage == NULL) {
        return body->dof_count;
    }
    return body->linkage->member[0] == body ? body->linkage->dof_count : 0;
}

#endif
