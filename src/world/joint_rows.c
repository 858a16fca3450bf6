// One joint: where it is on both bodies, its rows, and what they ask. docs/theory/joints.md
//
// Each row is an offset c that is to be nothing where the step ends, found from the poses that the
// bodies will have, not from their velocities: what is held does not drift. A spring is taken by
// the mean of three places in time, which keeps its energy. (J.5)
#include "math/dense.h"
#include "math/rotation.h"
#include "world/world.h"

#include <string.h>

// Offset, relative, from which on a joint is open: pushes do that, and what cannot tell where it
// ends. Below it, it is closed by velocities.
static const double OPEN = 1.0e-9;

// m: beyond it places have no digits left to be held in.
static const double FAR = 1.0e9;

// Weight of the places at both ends of a step in a spring's force: what is stable for any. (J.5)
static const double SPRING_ENDS = 0.25;

// (angular frequency of a spring times the step)^2 up to which its swing is resolved, a dozen steps
// each, and from which on its force is that of the step's end alone.
static const double RESOLVED = 0.25, UNRESOLVED = 4.0;

// --- where it is ------------------------------------------------------------------------------

static TdlPose compose(TdlPose a, TdlPose b) {
    return (TdlPose){tdl_add3(a.position, tdl_mul33_3(a.rotation, b.position)),
                     tdl_mul33(a.rotation, b.rotation)};
}

// b as seen from a.
static TdlPose relative(TdlPose a, TdlPose b) {
    return (TdlPose){tdl_tmul33_3(a.rotation, tdl_sub3(b.position, a.position)),
                     tdl_mul33(tdl_transpose33(a.rotation), b.rotation)};
}

static TdlPose place_now(const JointSide* side) {
    TdlPose pose = {.rotation = tdl_identity33()};
    if (side->body != NULL) {
        side->body->kind->frame(side->body, &side->place, &pose);
    }
    return pose;
}

void joint_pose_now(const Joint* joint, TdlPose pose[2]) {
    for (int k = 0; k < 2; ++k) {
        pose[k] = compose(place_now(&joint->side[k]), joint->side[k].local);
    }
}

// The place that a side tells by itself; false where it has none.
static const char* find_place(const TdlWorld* world, const TdlJointDef* def, int k, JointSide* side,
                              bool* own) {
    *own = false;
    side->framed = true;
    if (def->end[k].body.index == 0) {
        return NULL;
    }
    side->body = world_find_body(world, def->end[k].body, NULL);
    if (side->body == NULL) {
        return "a side is no body of the world";
    }
    if (side->body->kind->frame == NULL) {
        return "a side is of a kind that joints cannot hold";
    }
    if (side->body->kind->locate != NULL) {
        if (!side->body->kind->locate(side->body, def->end[k].at, &side->place)) {
            return "there is no such place ('at') on a side";
        }
        *own = true;
    }
    TdlPose pose;
    side->framed = side->body->kind->frame(side->body, &side->place, &pose);
    return NULL;
}

static bool is_told(TdlVec3 point) {
    return !isnan(point.x) && !isnan(point.y) && !isnan(point.z);
}

// Where both sides are held, in the world. One place is that of the first side that tells one; but
// what has no frame is held at its own place.
static const char* find_points(const TdlJointDef* def, const JointSide side[2], const bool own[2],
                               int* lead, TdlVec3 out[2]) {
    bool known[2];
    for (int k = 0; k < 2; ++k) {
        known[k] = true;
        if (is_told(def->point[k])) {
            out[k] = def->point[k];
        } else if (own[k]) {
            out[k] = place_now(&side[k]).position;
        } else {
            known[k] = false;
        }
    }
    if (!known[0] && !known[1]) {
        return "it needs a point";
    }
    *lead = known[1] && (!known[0] || (side[0].framed && !side[1].framed)) ? 1 : 0;
    if (def->kind != TDL_JOINT_DISTANCE) {
        out[0] = out[1] = out[*lead];
        return NULL;
    }
    for (int k = 0; k < 2; ++k) {
        if (!known[k]) {
            return "a distance needs a point on both sides";
        }
    }
    return NULL;
}

// What has no frame is held where it is, and is not turned.
static const char* find_frame_fault(const TdlJointDef* def, const JointSide side[2],
                                    const TdlVec3 point[2]) {
    bool turns = def->kind != TDL_JOINT_BALL && def->kind != TDL_JOINT_DISTANCE;
    for (int k = 0; k < 2; ++k) {
        if (side[k].framed) {
            continue;
        }
        TdlVec3 off = tdl_sub3(point[k], place_now(&side[k]).position);
        if (turns) {
            return "a side has no frame: a ball or a distance can hold it";
        }
        if (tdl_norm3(off) > 1.0e-9 * (1.0 + tdl_norm3(point[k]))) {
            return "a side has no frame: it is held at its own place and nowhere beside";
        }
    }
    return NULL;
}

// Bodies that grow out of each other are not moved by displacements, which joints need. (J.10)
static bool is_in_tree(const TdlWorld* world, const Body* body) {
    bool tree = body != NULL && body->system != body;
    for (int i = 0; i < world->body_count && body != NULL && !tree; ++i) {
        tree = world->body[i] != body && world->body[i]->system == body;
    }
    return tree;
}

static bool is_far(TdlVec3 point) {
    return is_told(point) && !(tdl_norm3(point) <= FAR);
}

static const char* find_side_fault(const TdlWorld* world, const TdlJointDef* def,
                                   const JointSide side[2]) {
    for (int k = 0; k < 2; ++k) {
        if (is_in_tree(world, side[k].body)) {
            return "a side has branches or is one: joints cannot hold these";
        }
        if (is_far(def->point[k])) {
            return "a point is not finite, or further than 1e9 m";
        }
    }
    if (!joint_moves(&side[0]) && !joint_moves(&side[1])) {
        return "nothing that it joins can move";
    }
    bool same = side[0].body != NULL && side[0].body == side[1].body;
    const BodyPlace *a = &side[0].place, *b = &side[1].place;
    bool one = same && a->element == b->element && a->u == b->u && a->v == b->v;
    if (same && (one || side[0].body->kind->locate == NULL)) {
        return one && side[0].body->kind->locate != NULL ? "both sides are the same place"
                                                         : "both sides are the same body";
    }
    return NULL;
}

const char* joint_place(const TdlWorld* world, Joint* joint) {
    const TdlJointDef* def = &joint->def;
    bool own[2];
    TdlVec3 point[2];
    for (int k = 0; k < 2; ++k) {
        const char* fault = find_place(world, def, k, &joint->side[k], &own[k]);
        if (fault != NULL) {
            return fault;
        }
    }
    const char* fault = find_side_fault(world, def, joint->side);
    if (fault == NULL) {
        fault = find_points(def, joint->side, own, &joint->lead, point);
    }
    if (fault == NULL) {
        fault = find_frame_fault(def, joint->side, point);
    }
    if (fault != NULL) {
        return fault;
    }
    TdlVec3 way = tdl_sub3(point[1], point[0]);
    bool distance = def->kind == TDL_JOINT_DISTANCE;
    if (distance && !(tdl_norm3(way) > 0.0)) {
        return "the two places of a distance are one";
    }
    double now = distance ? tdl_norm3(way) : 0.0;
    if (!(def->range[0] <= now && now <= def->range[1])) {
        return "its range does not have where it is: 0, or the length of a distance";
    }
    TdlMat3 axes = tdl_frame_from_tangent(distance ? way : def->axis);
    for (int k = 0; k < 2; ++k) {
        TdlPose frame = {point[k], axes};
        joint->side[k].local = relative(place_now(&joint->side[k]), frame);
        if (!joint->side[k].framed) {
            joint->side[k].local.position = (TdlVec3){0};
        }
    }
    joint->point = point[1];
    joint->basis = axes;
    joint->coordinate = now;
    joint->any_length = distance && isnan(def->length);
    if (joint->any_length) {
        joint->def.length = joint->coordinate;
    }
    return NULL;
}

// (J.12)
void joint_place_again(Joint* joint) {
    TdlPose pose[2];
    joint_pose_now(joint, pose);
    bool distance = joint->def.kind == TDL_JOINT_DISTANCE;
    for (int k = 0; k < 2 && !distance; ++k) {
        JointSide* side = &joint->side[k];
        if (k != joint->lead && side->framed) {
            side->local = relative(place_now(side), pose[joint->lead]);
        }
    }
    joint_pose_now(joint, pose);
    if (joint->any_length) {
        joint->def.length = tdl_norm3(tdl_sub3(pose[1].position, pose[0].position));
    }
}

double joint_scale(const Joint* joint) {
    double scale = 0.0;
    for (int k = 0; k < 2; ++k) {
        const Body* body = joint->side[k].body;
        TdlVec3 centre;
        if (body != NULL && body->kind->mass != NULL) {
            body->kind->mass(body, &centre);
            TdlVec3 arm = tdl_sub3(joint->start[k].position, centre);
            scale = fmax(scale, fmax(tdl_norm3(arm), body->size));
        }
    }
    return scale > 0.0 ? scale : 1.0;
}

// --- offsets ----------------------------------------------------------------------------------

static double component(TdlVec3 a, int axis) {
    return axis == 0 ? a.x : axis == 1 ? a.y : a.z;
}

double joint_coordinate(const Joint* joint, const TdlPose pose[2], double near) {
    TdlPose seen = relative(pose[0], pose[1]);
    switch (joint->def.kind) {
    case TDL_JOINT_SLIDER:
        return seen.position.x;
    case TDL_JOINT_DISTANCE:
        return tdl_norm3(seen.position);
    case TDL_JOINT_HINGE:
    case TDL_JOINT_FIXED:
    case TDL_JOINT_BALL:
        break;
    }
    const TdlMat3* q = &seen.rotation;
    double angle = atan2(q->cy.z - q->cz.y, q->cy.y + q->cz.z);
    return near + remainder(angle - near, 6.283185307179586477);
}

// What is off of what it holds: the way, and the turn.
static void held_offset(const Joint* joint, const TdlPose pose[2], TdlVec3* way, TdlVec3* turn) {
    TdlPose seen = relative(pose[0], pose[1]);
    *way = seen.position;
    *turn = (TdlVec3){0};
    if (joint->def.kind == TDL_JOINT_DISTANCE) {
        *way = (TdlVec3){tdl_norm3(seen.position) - joint->def.length, 0.0, 0.0};
    } else if (joint->def.kind == TDL_JOINT_HINGE) {
        // how its axis lies in that of the first side
        *turn = (TdlVec3){0.0, -seen.rotation.cx.z, seen.rotation.cx.y};
    } else if (joint->def.kind != TDL_JOINT_BALL) {
        *turn = tdl_rotation_log(seen.rotation);
    }
}

// The end of the range that its free coordinate is nearer to.
static double near_end(const Joint* joint) {
    const double* range = joint->def.range;
    double x = joint->coordinate;
    return x - range[0] < range[1] - x ? range[0] : range[1];
}

static double row_target(const Joint* joint, const JointRow* row, double dt) {
    switch (row->role) {
    case ROW_SPRING:
        return joint->def.axis_rest;
    case ROW_RANGE:
        return near_end(joint);
    case ROW_MOTOR:
        return joint->motor.mode == TDL_MOTOR_SPEED ? joint->coordinate + dt * joint->aim
                                                    : joint->aim;
    case ROW_HELD:
        break;
    }
    return 0.0;
}

// c of every row.
static void find_offsets(const Joint* joint, const TdlPose pose[2], double dt,
                         double out[JOINT_ROWS]) {
    TdlVec3 way, turn;
    held_offset(joint, pose, &way, &turn);
    double coordinate = joint_coordinate(joint, pose, joint->coordinate);
    for (int r = 0; r < joint->row_count; ++r) {
        const JointRow* row = &joint->row[r];
        out[r] = row->role == ROW_HELD ? component(row->turning ? turn : way, row->axis)
                                       : coordinate - row_target(joint, row, dt);
    }
}

void joint_offsets(const Joint* joint, const TdlPose pose[2], double dt, double out[JOINT_ROWS]) {
    find_offsets(joint, pose, dt, out);
}

void joint_error(const Joint* joint, const TdlPose pose[2], double* way, double* turn) {
    double c[JOINT_ROWS];
    *way = *turn = 0.0;
    find_offsets(joint, pose, 0.0, c);
    for (int r = 0; r < joint->row_count; ++r) {
        const JointRow* row = &joint->row[r];
        if (row->role == ROW_HELD && isinf(row->stiffness)) {
            double* sum = row->turning ? turn : way;
            *sum = hypot(*sum, c[r]);
        }
    }
}

// --- rows -------------------------------------------------------------------------------------

// Three rows of a side over all coordinates of its system, of what is touched at `touch`.
static void fill_rows(const JointSide* side, TdlVec3 now, TdlVec3 touch, TdlMat3 basis,
                      double* scratch, double* out) {
    const Body* body = side->body;
    const BodyPlace* place = &side->place;
    int n = body->system->dof_count;
    BodyPlace at = *place;
    at.point = now;
    at.touch = touch;
    BodySupport support = body->kind->support(body, &at);
    body->kind->rows(body, &at, basis, scratch);
    memset(out, 0, 3 * (size_t)n * sizeof *out);
    for (int k = 0; k < 3; ++k) {
        for (int j = 0; j < support.count; ++j) {
            int to = support.list == NULL ? support.first + j : support.list[j];
            out[k * n + to] = scratch[k * support.count + j];
        }
    }
}

// Rows of the way of a side and of its turn, [6][n]. What a place turns by is told by how places
// beside it move: e_j . (w x e_k) with e_k x e_j the axis. Rows are linear in the arm.
static bool fill_six(const JointSide* side, TdlVec3 touch, TdlMat3 basis, bool turns, Arena* arena,
                     double* out) {
    int n = side->body->system->dof_count;
    ArenaMark mark = arena_mark(arena);
    double* scratch = ARENA_NEW(arena, double, 6 * n + 1);
    if (scratch == NULL) {
        return false;
    }
    double* beside = scratch + 3 * n;
    const TdlVec3 axis[3] = {basis.cx, basis.cy, basis.cz};
    TdlVec3 now = place_now(side).position;
    fill_rows(side, now, touch, basis, scratch, out);
    for (int i = 0; i < 3 && turns; ++i) {
        int k = (i + 1) % 3, j = (i + 2) % 3;
        fill_rows(side, now, tdl_add3(touch, axis[k]), basis, scratch, beside);
        for (int c = 0; c < n; ++c) {
            out[(3 + i) * n + c] = beside[j * n + c] - out[j * n + c];
        }
    }
    if (!turns) {
        memset(out + 3 * (ptrdiff_t)n, 0, 3 * (size_t)n * sizeof *out);
    }
    arena_release(arena, mark);
    return true;
}

// The rows that a side has of those, with its sign, and A^-1 times them.
static bool fill_side(Joint* joint, int k, TdlVec3 touch, Arena* arena) {
    const JointSide* side = &joint->side[k];
    joint->h[k] = joint->y[k] = joint->six[k] = NULL;
    if (!joint_moves(side)) {
        return true;
    }
    const Body* system = side->body->system;
    int n = system->dof_count, rows = joint->row_count;
    double* six = ARENA_NEW(arena, double, 6 * n);
    joint->six[k] = six;
    joint->touch[k] = touch;
    joint->h[k] = ARENA_NEW(arena, double, rows* n);
    joint->y[k] = ARENA_NEW(arena, double, rows* n);
    if (six == NULL || joint->h[k] == NULL || joint->y[k] == NULL ||
        !fill_six(side, touch, joint->basis, side->framed, arena, six)) {
        return false;
    }
    for (int r = 0; r < rows; ++r) {
        const JointRow* row = &joint->row[r];
        const double* from = six + (ptrdiff_t)(3 * row->turning + row->axis) * n;
        for (int c = 0; c < n; ++c) {
            joint->h[k][r * n + c] = k == 0 ? -from[c] : from[c];
        }
    }
    memcpy(joint->y[k], joint->h[k], (size_t)(rows * n) * sizeof(double));
    system->kind->solve(system, rows, joint->y[k]);
    return true;
}

// What a script does to the offsets of the rows of a side that moves: the way of its place, and as
// in `fill_six` the turn.
static void add_led(Joint* joint, int k) {
    const JointSide* side = &joint->side[k];
    if (!joint_moves(side) || side->body->kind->prescribed == NULL) {
        return;
    }
    const TdlVec3 axis[3] = {joint->basis.cx, joint->basis.cy, joint->basis.cz};
    BodyPlace place = side->place;
    place.point = place_now(side).position;
    place.touch = joint->touch[k];
    TdlVec3 way = side->body->kind->prescribed(side->body, &place);
    for (int r = 0; r < joint->row_count; ++r) {
        const JointRow* row = &joint->row[r];
        int beside = (row->axis + 1) % 3, along = (row->axis + 2) % 3;
        place.touch = tdl_add3(joint->touch[k], axis[beside]);
        TdlVec3 swing = tdl_sub3(side->body->kind->prescribed(side->body, &place), way);
        double own = row->turning ? tdl_dot3(axis[along], swing) : tdl_dot3(axis[row->axis], way);
        joint->led[r] += k == 0 ? -own : own;
    }
}

// How fast scripts change the offsets, those that lead a side as a whole too.
static void find_led(Joint* joint, const BodyStep* step) {
    TdlPose led[2];
    double c[JOINT_ROWS];
    for (int k = 0; k < 2; ++k) {
        const JointSide* side = &joint->side[k];
        TdlPose place;
        bool moves =
            !joint_moves(side) && side->body != NULL && side->body->kind->frame_after != NULL &&
            side->body->kind->frame_after(side->body, &side->place, step->dt, NULL, &place);
        led[k] = moves ? compose(place, side->local) : joint->start[k];
    }
    find_offsets(joint, led, 0.0, c);
    for (int r = 0; r < joint->row_count; ++r) {
        joint->led[r] = (c[r] - joint->c[r]) / step->dt;
    }
    add_led(joint, 0);
    add_led(joint, 1);
}

double joint_product(const Joint* joint, int side, int row, const double* v) {
    int n = joint->side[side].body->system->dof_count;
    return tdl_dot(n, joint->h[side] + (ptrdiff_t)row * n, v);
}

// How far the force of a spring goes over from the mean of three places in time to the last: a
// swing that steps do not resolve would wander in energy, and so dies away instead.
static double find_late(const Joint* joint, int r, double dt) {
    double give = 0.0; // of the row, 1/kg
    for (int k = 0; k < 2; ++k) {
        if (joint->h[k] != NULL) {
            int n = joint->side[k].body->system->dof_count;
            ptrdiff_t at = (ptrdiff_t)r * n;
            give += tdl_dot(n, joint->h[k] + at, joint->y[k] + at);
        }
    }
    double z = joint->row[r].stiffness * give * dt * dt;
    return fmin(fmax((z - RESOLVED) / (UNRESOLVED - RESOLVED), 0.0), 1.0);
}

// C and the lag of a row with a spring and a damper: lambda is -h times the force of the spring at
// the mean place, and of the damper at the rate of the step. (J.5)
static void soften(Joint* joint, int r, double dt) {
    const JointRow* row = &joint->row[r];
    double h = 0.5 * (dt + joint->dt_before), k = row->stiffness, d = row->damping;
    double late = find_late(joint, r, dt), before = SPRING_ENDS * (1.0 - late);
    double end = SPRING_ENDS + (1.0 - SPRING_ENDS) * late, c = joint->c[r];
    double m = h * (k * end + d / dt);
    double back = joint->dt_before > 0.0 ? (c - joint->before[r]) * dt / joint->dt_before : 0.0;
    joint->soft[r] = 1.0 / (m * dt);
    joint->late[r] = late;
    joint->lag[r] = h * (k * ((1.0 - end) * c - before * back) - d * c / dt) * joint->soft[r];
}

// What a row may do, and how it begins.
static void bound(Joint* joint, int r) {
    const JointRow* row = &joint->row[r];
    joint->low[r] = -INFINITY;
    joint->high[r] = INFINITY;
    if (row->role == ROW_MOTOR) {
        double most = joint->motor.mode == TDL_MOTOR_OFF ? 0.0 : joint->lasts * joint->motor.most;
        joint->low[r] = -most;
        joint->high[r] = most;
        joint->mode[r] = most == 0.0 ? ROW_LOW : joint->mode[r];
    } else if (row->role == ROW_RANGE) {
        bool at_low = near_end(joint) == joint->def.range[0];
        joint->low[r] = at_low ? 0.0 : -INFINITY;
        joint->high[r] = at_low ? INFINITY : 0.0;
        if (joint->mode[r] != ROW_SOLVED) {
            joint->mode[r] = at_low ? ROW_LOW : ROW_HIGH;
        }
    }
}

// The axes of its rows, and the place where the first side is touched: there where the second is,
// so that both are pulled in one place; a distance pulls along its line.
static TdlVec3 choose_axes(Joint* joint) {
    TdlVec3 way = tdl_sub3(joint->start[1].position, joint->start[0].position);
    joint->point = joint->start[1].position;
    joint->basis = joint->start[0].rotation;
    if (joint->def.kind == TDL_JOINT_DISTANCE) {
        joint->basis = tdl_frame_from_tangent(way);
        return joint->start[0].position;
    }
    return joint->side[0].framed ? joint->start[1].position : joint->start[0].position;
}

// Which offsets are errors of places: no velocity may close them, which would make energy of them,
// the more the shorter the step.
static void find_open(Joint* joint) {
    double scale = joint_scale(joint);
    joint->open = false;
    for (int r = 0; r < joint->row_count; ++r) {
        const JointRow* row = &joint->row[r];
        double c = joint->c[r], most = OPEN * (row->turning ? 1.0 : scale);
        bool beyond = row->role == ROW_RANGE && (joint->low[r] == 0.0 ? c < -most : c > most);
        bool held = row->role == ROW_HELD && isinf(row->stiffness) && fabs(c) > most;
        joint->rest[r] = beyond || held ? c : 0.0;
        joint->open = joint->open || beyond || held;
    }
}

bool joint_fill(Joint* joint, const BodyStep* step, bool anew, Arena* arena) {
    double dt = step->dt;
    joint_pose_now(joint, joint->start);
    TdlVec3 touch = choose_axes(joint);
    if (!fill_side(joint, 0, touch, arena) ||
        !fill_side(joint, 1, joint->start[1].position, arena)) {
        return false;
    }
    find_offsets(joint, joint->start, 0.0, joint->c);
    find_led(joint, step);
    for (int r = 0; r < joint->row_count; ++r) {
        joint->soft[r] = joint->lag[r] = 0.0;
        if (isfinite(joint->row[r].stiffness)) {
            soften(joint, r, dt);
        }
        bound(joint, r);
    }
    find_open(joint);
    if (anew) {
        memset(joint->lambda, 0, sizeof joint->lambda);
        for (int r = 0; r < joint->row_count; ++r) {
            joint->ask[r] = 0.0;
            for (int k = 0; k < 2; ++k) {
                if (joint_moves(&joint->side[k])) {
                    joint->ask[r] +=
                        joint_product(joint, k, r, joint->side[k].body->system->v_free);
                }
            }
        }
        joint_look(joint, step);
    }
    return true;
}

// --- where it ends ------------------------------------------------------------------------------

// Of a place that does not tell: along a straight line, turning evenly, as its rows have it.
static TdlPose go_straight(const Joint* joint, int k, TdlPose from, const double* v, double dt) {
    const JointSide* side = &joint->side[k];
    int n = side->body->system->dof_count;
    double own[6];
    for (int r = 0; r < 6; ++r) {
        own[r] = tdl_dot(n, joint->six[k] + (ptrdiff_t)r * n, v);
    }
    TdlVec3 way = tdl_mul33_3(joint->basis, tdl_load3(own, 0));
    TdlVec3 turn = tdl_mul33_3(joint->basis, tdl_load3(own, 1));
    way = tdl_add3(way, tdl_cross3(turn, tdl_sub3(from.position, joint->touch[k])));
    if (side->body->kind->prescribed != NULL) {
        BodyPlace place = side->place;
        place.point = place.touch = from.position;
        way = tdl_add3(way, side->body->kind->prescribed(side->body, &place));
    }
    TdlMat3 turned = tdl_rotation_exp(tdl_scale3(dt, turn));
    return (TdlPose){tdl_axpy3(from.position, dt, way), tdl_mul33(turned, from.rotation)};
}

static TdlPose pose_after(const Joint* joint, const BodyStep* step, int k) {
    const JointSide* side = &joint->side[k];
    TdlPose place = place_now(side);
    if (side->body == NULL) {
        return side->local;
    }
    const Body* body = side->body;
    const double* v = body->system->v_free;
    if (body->kind->frame_after == NULL ||
        !body->kind->frame_after(body, &side->place, step->dt, v, &place)) {
        place = joint_moves(side) ? go_straight(joint, k, place, v, step->dt) : place;
    }
    return compose(place, side->local);
}

void joint_look(Joint* joint, const BodyStep* step) {
    double c[JOINT_ROWS];
    for (int k = 0; k < 2; ++k) {
        joint->end[k] = pose_after(joint, step, k);
    }
    find_offsets(joint, joint->end, step->dt, c);
    // what moves otherwise than its coordinates tell does so to second order, and goes on. (J.8)
    double share = joint->dt_before > 0.0 ? step->dt / joint->dt_before : 0.0;
    for (int r = 0; r < joint->row_count; ++r) {
        c[r] += share * share * joint->miss[r] - joint->rest[r];
        joint->foreseen[r] = c[r];
        joint->off[r] = c[r] / step->dt + joint->soft[r] * joint->lambda[r] + joint->lag[r];
    }
}
