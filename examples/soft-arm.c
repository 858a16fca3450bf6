// A soft arm with a wheel at its tip: a tendon curls it up, a motor spins the wheel, the clamp
// tells what it bears, and the wheel is let go.
//
//     cc soft-arm.c $(pkg-config --cflags --libs tendril) -lm && ./a.out
//
// At rest the clamp carries arm and wheel. The exit status is 1 if it is off by more than a part in
// ten thousand, or the wheel does not spin as its motor says.
#include <tendril/tendril.h>

#include <math.h>
#include <stdio.h>

static const double LENGTH = 0.2, GRAVITY = 9.81; // m, m/s^2

static TdlStatus add_arm(TdlWorld* world, TdlBodyId* arm) {
    TdlTendonGuide guides[9];
    for (int i = 0; i < 9; ++i) { // above the centreline
        guides[i] = (TdlTendonGuide){LENGTH * i / 8.0, {0.0, 8.0e-3}};
    }
    TdlTensionKey slack = {0.0, 0.0};
    TdlTendonDef tendon = {.guides = guides, .guide_count = 9, .keys = &slack, .key_count = 1};
    TdlRodDef def = tdl_rod_def_default();
    def.length = LENGTH;
    def.radius[0] = def.radius[1] = 5.0e-3;
    def.young = 1.0e7;
    def.element_count = 8;
    def.damping = 0.05;
    def.mass_damping = 8.0;
    def.tendons = &tendon;
    def.tendon_count = 1;
    return tdl_world_add_rod(world, &def, arm);
}

// On a hinge along the arm, with a motor that is told what to do later.
static TdlStatus add_wheel(TdlWorld* world, TdlBodyId arm, TdlBodyId* wheel, TdlJointId* axle) {
    TdlRigidDef def = tdl_rigid_def_default();
    def.radius = 0.012;
    def.pose.position = (TdlVec3){LENGTH + 0.015, 0.0, 0.0};
    TdlStatus status = tdl_world_add_rigid(world, &def, wheel);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlJointDef joint = tdl_joint_def_default();
    joint.kind = TDL_JOINT_HINGE;
    joint.end[0] = (TdlJointEnd){arm, LENGTH};
    joint.end[1].body = *wheel;
    joint.axis = (TdlVec3){1.0, 0.0, 0.0};
    return tdl_world_add_joint(world, &joint, axle);
}

static TdlStatus steps(TdlWorld* world, double time) {
    for (double end = tdl_world_time(world) + time; tdl_world_time(world) < end;) {
        TdlStatus status = tdl_world_step(world, NULL);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return TDL_STATUS_OK;
}

static TdlStatus show(TdlWorld* world, TdlBodyId arm, const char* what, TdlRodReaction* hold) {
    TdlVec3 tip;
    double tension, length;
    tdl_rod_point(world, arm, LENGTH, &tip);
    tdl_rod_tendon(world, arm, 0, &tension, &length);
    TdlStatus status = tdl_rod_reaction(world, arm, false, hold);
    printf("%-22s tip at (%.3f, %.3f) m, tendon %.4f m under %.1f N, clamp bears %.5f N\n", what,
           tip.x, tip.z, length, tension, hold->force.z);
    return status;
}

static bool run(TdlWorld* world) {
    TdlBodyId arm, wheel;
    TdlJointId axle;
    TdlRodReaction hold = {0};
    if (add_arm(world, &arm) != TDL_STATUS_OK ||
        add_wheel(world, arm, &wheel, &axle) != TDL_STATUS_OK) {
        return false;
    }
    bool ok = steps(world, 3.0) == TDL_STATUS_OK && show(world, arm, "it sags", &hold) == 0;
    tdl_rod_set_tension(world, arm, 0, 30.0);
    ok = ok && steps(world, 3.0) == TDL_STATUS_OK &&
         show(world, arm, "its tendon is pulled", &hold) == 0;

    double arm_mass, wheel_mass;
    TdlVec3 centre;
    tdl_body_centre(world, arm, &centre, &arm_mass);
    tdl_body_centre(world, wheel, &centre, &wheel_mass);
    double weight = (arm_mass + wheel_mass) * GRAVITY;
    ok = ok && fabs(hold.force.z - weight) < 1.0e-4 * weight;

    TdlMotor motor = {TDL_MOTOR_SPEED, 20.0, 1.0};
    TdlJointState state = {0};
    ok = ok && tdl_joint_set_motor(world, axle, motor) == TDL_STATUS_OK && steps(world, 0.2) == 0 &&
         tdl_joint_state(world, axle, &state) == TDL_STATUS_OK;
    printf("%-22s it turns at %.6f rad/s\n", "a motor spins it", state.rate);
    ok = ok && fabs(state.rate - motor.target) < 1.0e-6;

    ok = ok && tdl_world_remove_joint(world, axle) == TDL_STATUS_OK;
    TdlVec3 curl[8] = {{0}};
    for (int i = 0; i < 8; ++i) { // and the arm is told to curl on by itself
        curl[i].y = -10.0;
    }
    tdl_rod_lead_natural_curvature(world, arm, curl, tdl_world_time(world) + 1.0);
    ok = ok && steps(world, 3.0) == TDL_STATUS_OK &&
         show(world, arm, "the wheel is let go", &hold) == 0;
    return ok && fabs(hold.force.z - arm_mass * GRAVITY) < 1.0e-4 * arm_mass * GRAVITY;
}

int main(void) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.forces = true; // tdl_rod_reaction needs them
    TdlWorld* world;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        return 1;
    }
    bool ok = run(world);
    tdl_world_destroy(world);
    return ok ? 0 : 1;
}
