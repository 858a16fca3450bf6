// A motor turns a crank as an expression of the time says; a joint holds a ball on it for a while
// and then lets it fly.
//
//     cc throwing-crank.c $(pkg-config --cflags --libs tendril_io tendril) -lm && ./a.out
//
// The ball flies with the speed of its place on the crank, arm times rate, across the arm. The exit
// status is 1 if it does not.
#include <tendril/io.h>
#include <tendril/tendril.h>

#include <math.h>
#include <stdio.h>

static const double ARM = 0.3, RELEASE = 0.75, STEP = 1.0e-3; // m, s, s

typedef struct Thrower {
    TdlWorld* world;
    TdlBodyId crank, ball;
    TdlJointId axle;
} Thrower;

static TdlStatus add_bodies(Thrower* t) {
    TdlRigidDef bar = tdl_rigid_def_default(), ball = tdl_rigid_def_default();
    bar.shape = TDL_RIGID_BOX;
    bar.radius = 0.0;
    bar.half = (TdlVec3){0.5 * ARM, 0.01, 0.01};
    bar.pose.position.x = 0.5 * ARM;
    ball.radius = 0.02;
    ball.pose.position = (TdlVec3){ARM, 0.0, 0.0};
    TdlStatus status = tdl_world_add_rigid(t->world, &bar, &t->crank);
    return status == TDL_STATUS_OK ? tdl_world_add_rigid(t->world, &ball, &t->ball) : status;
}

// The axle follows an expression: 9 rad/s from half a second on. The grip lets go.
static TdlStatus add_joints(const TdlHost* host, Thrower* t) {
    const char* const rate[6] = {"9*smooth(t/0.5)"};
    TdlJointDef axle = tdl_joint_def_default(), grip = axle;
    axle.kind = TDL_JOINT_HINGE;
    axle.end[1].body = t->crank;
    axle.point[0] = (TdlVec3){0};
    axle.axis = (TdlVec3){0.0, 0.0, 1.0};
    axle.motor.mode = TDL_MOTOR_SPEED;
    TdlStatus status = tdl_time_fn_parse(host, rate, &axle.target);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_world_add_joint(t->world, &axle, &t->axle);
    tdl_time_fn_free(host, &axle.target); // the world has its own
    grip.end[0].body = t->crank;
    grip.end[1].body = t->ball;
    grip.point[1] = (TdlVec3){ARM, 0.0, 0.0};
    grip.during[0] = 0.0;
    grip.during[1] = RELEASE;
    TdlJointId id;
    return status == TDL_STATUS_OK ? tdl_world_add_joint(t->world, &grip, &id) : status;
}

static TdlStatus throw_it(Thrower* t, TdlVec3* velocity) {
    TdlStatus status = TDL_STATUS_OK;
    while (status == TDL_STATUS_OK && tdl_world_time(t->world) < RELEASE + 0.25) {
        status = tdl_world_step(t->world, NULL);
    }
    TdlVec3 spin;
    return status == TDL_STATUS_OK ? tdl_rigid_velocity(t->world, t->ball, velocity, &spin)
                                   : status;
}

int main(void) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    Thrower t = {0};
    TdlVec3 v = {0};
    def.gravity = (TdlVec3){0};
    def.step = STEP;
    TdlStatus status = tdl_world_create(&host, &def, &t.world);
    if (status == TDL_STATUS_OK) {
        status = add_bodies(&t);
    }
    if (status == TDL_STATUS_OK) {
        status = add_joints(&host, &t);
    }
    if (status == TDL_STATUS_OK) {
        status = throw_it(&t, &v);
    }
    // the angle at release: half of what the rate took to come up, and then even
    double angle = 9.0 * (0.5 * 0.5 + RELEASE - 0.5), speed = 9.0 * ARM;
    TdlVec3 wanted = {-speed * sin(angle), speed * cos(angle), 0.0};
    double off = tdl_norm3(tdl_sub3(v, wanted)) / speed;
    printf("the ball flies with (%.4f, %.4f, %.4f) m/s; off by %.1e of %.2f m/s\n", v.x, v.y, v.z,
           off, speed);
    tdl_world_destroy(t.world);
    return status == TDL_STATUS_OK && off < 0.01 ? 0 : 1; // half a step late is 9 rad/s STEP / 2
}
