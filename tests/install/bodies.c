// Ids of bodies as a user meets them, in C and in C++: every accessor with a null id, one of
// another kind, one that was never given and one whose body is gone; bodies that are removed while
// they are touched, out of a group, off a tree. Prints what is wrong; the exit status is 1 then.
#include <tendril/tendril.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static int wrong;

static void expect(bool good, const char* what, int line) {
    if (!good) {
        printf("line %d: %s\n", line, what);
        ++wrong;
    }
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define REFUSED(call) expect((call) == TDL_STATUS_BAD_ARGUMENT, "not refused: " #call, __LINE__)

static TdlBodyId add_rod(TdlWorld* world, double x, double z) {
    TdlRodDef def = tdl_rod_def_default();
    TdlBodyId id = {0, 0};
    def.length = 0.1;
    def.radius[0] = def.radius[1] = 1.0e-3;
    def.element_count = 4;
    def.start = TDL_HOLD_FREE;
    def.clamp.position.x = x;
    def.clamp.position.z = z;
    EXPECT(tdl_world_add_rod(world, &def, &id) == TDL_STATUS_OK && id.index > 0);
    return id;
}

static TdlBodyId add_ball(TdlWorld* world, double x, double z) {
    TdlRigidDef def = tdl_rigid_def_default();
    TdlBodyId id = {0, 0};
    def.pose.position.x = x;
    def.pose.position.z = z;
    EXPECT(tdl_world_add_rigid(world, &def, &id) == TDL_STATUS_OK);
    return id;
}

static TdlBodyId add_floor(TdlWorld* world) {
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id = {0, 0};
    def.shape = TDL_SHAPE_PLANE;
    EXPECT(tdl_world_add_collider(world, &def, &id) == TDL_STATUS_OK);
    return id;
}

// An id that no body answers to.
static void check_refused(TdlWorld* world, TdlBodyId id) {
    TdlRodInfo info;
    TdlVec3 a, b, points[9];
    TdlPose pose = {{0.0, 0.0, 0.0}, {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
    TdlRigidDef rigid;
    TdlColliderDef collider;
    TdlEnergy energy;
    TdlWrench wrench;
    TdlCurve curve;
    const double* q;
    double number;
    int count;
    TdlVec3 zero = {0.0, 0.0, 0.0};
    REFUSED(tdl_rod_info(world, id, &info));
    REFUSED(tdl_rod_point(world, id, 0.0, &a));
    REFUSED(tdl_rod_points(world, id, 2, points));
    REFUSED(tdl_rod_coordinates(world, id, &q));
    REFUSED(tdl_rod_velocities(world, id, &q));
    REFUSED(tdl_rod_stability(world, id, &number));
    REFUSED(tdl_rod_frames(world, id, 2, NULL, &pose));
    REFUSED(tdl_rod_point_velocities(world, id, 2, NULL, points));
    REFUSED(tdl_body_pull(world, id, 0, NULL));
    REFUSED(tdl_body_move_to(world, id, TDL_LED_START, pose));
    REFUSED(tdl_body_set_velocity(world, id, TDL_LED_START, zero, zero));
    REFUSED(tdl_body_let_go(world, id, TDL_LED_START));
    REFUSED(tdl_body_led_pose(world, id, TDL_LED_START, &pose));
    REFUSED(tdl_body_contacts(world, id, 0, NULL, &count));
    REFUSED(tdl_rigid_def(world, id, &rigid));
    REFUSED(tdl_rigid_pose(world, id, &pose));
    REFUSED(tdl_rigid_velocity(world, id, &a, &b));
    REFUSED(tdl_collider_def(world, id, &collider));
    REFUSED(tdl_collider_pose(world, id, &pose));
    REFUSED(tdl_body_energy(world, id, &energy));
    REFUSED(tdl_body_centre(world, id, &a, &number));
    REFUSED(tdl_body_contact_wrench(world, id, &wrench));
    REFUSED(tdl_body_curves(world, id, 1, &curve, &count));
    REFUSED(tdl_world_remove(world, id));
    EXPECT(tdl_body_kind(world, id) == NULL && tdl_body_index(world, id) == -1);
}

static void step(TdlWorld* world, int count) {
    for (int i = 0; i < count; ++i) {
        EXPECT(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
}

static void check_kinds(TdlWorld* world, TdlBodyId rod, TdlBodyId ball, TdlBodyId floor) {
    TdlRodInfo info;
    TdlPose pose;
    TdlVec3 a, b;
    double stability = 0.0;
    const double* v;
    REFUSED(tdl_rod_info(world, ball, &info));
    REFUSED(tdl_rigid_pose(world, rod, &pose));
    REFUSED(tdl_collider_pose(world, ball, &pose));
    REFUSED(tdl_rigid_velocity(world, floor, &a, &b));
    EXPECT(tdl_rod_info(world, rod, &info) == TDL_STATUS_OK && info.element_count == 4);
    EXPECT(tdl_rod_stability(world, rod, &stability) == TDL_STATUS_OK && isnan(stability));
    EXPECT(tdl_rod_velocities(world, rod, &v) == TDL_STATUS_OK && v != NULL);
    EXPECT(tdl_rigid_velocity(world, ball, &a, &b) == TDL_STATUS_OK);
    EXPECT(tdl_collider_pose(world, floor, &pose) == TDL_STATUS_OK);
    EXPECT(strcmp(tdl_body_kind(world, ball), "rigid") == 0 && tdl_body_index(world, ball) == 0);
    REFUSED(tdl_rod_points(world, rod, 0, &a));
    REFUSED(tdl_body_centre(world, floor, &a, &stability));
    EXPECT(tdl_body_centre(world, rod, &a, &stability) == TDL_STATUS_OK && stability > 0.0);
    REFUSED(tdl_rod_point(world, rod, NAN, &a));
}

static void check_observers(TdlWorld* world) {
    TdlObserver o;
    TdlVec3 value;
    o.quantity = TDL_QUANTITY_CENTRE;
    o.kind = "rod";
    o.first = 0;
    o.count = 6;
    o.at = 0.05;
    EXPECT(tdl_world_observe(world, &o, &value) == TDL_STATUS_OK && fabs(value.x - 0.05) < 1.0e-3);
    o.quantity = TDL_QUANTITY_POINT;
    EXPECT(tdl_world_observe(world, &o, &value) == TDL_STATUS_OK);
    o.count = 7;
    REFUSED(tdl_world_observe(world, &o, &value));
    o.first = -1;
    REFUSED(tdl_world_observe(world, &o, &value));
    o.first = 0;
    o.count = 0;
    REFUSED(tdl_world_observe(world, &o, &value));
    o.count = 1;
    o.kind = "rigid";
    REFUSED(tdl_world_observe(world, &o, &value)); // a ball has no arc length
    o.quantity = TDL_QUANTITY_TORQUE;
    EXPECT(tdl_world_observe(world, &o, &value) == TDL_STATUS_OK);
    o.kind = "collider";
    o.quantity = TDL_QUANTITY_CENTRE;
    REFUSED(tdl_world_observe(world, &o, &value));
    o.quantity = TDL_QUANTITY_FORCE;
    EXPECT(tdl_world_observe(world, &o, &value) == TDL_STATUS_OK);
    o.kind = "unicorn";
    REFUSED(tdl_world_observe(world, &o, &value));
    o.kind = NULL;
    REFUSED(tdl_world_observe(world, &o, &value));
}

static bool touches(const TdlWorld* world, TdlBodyId id) {
    TdlWrench wrench;
    return tdl_body_contact_wrench(world, id, &wrench) == TDL_STATUS_OK && wrench.force.z > 0.0;
}

int main(void) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world = NULL;
    TdlBodyId null = {0, 0}, far = {1000, 1}, ids[16];
    host.log = NULL; // what is refused is told in the log
    EXPECT(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    check_refused(world, null);
    TdlBodyId floor = add_floor(world), ball = add_ball(world, 0.05, 0.01);
    TdlBodyId rods[6];
    for (int i = 0; i < 6; ++i) { // a heap: four of them make a group
        rods[i] = add_rod(world, 0.0, 0.022 + 0.003 * i);
    }
    EXPECT(tdl_world_bodies(world, NULL, 0, NULL) == 8);
    EXPECT(tdl_world_bodies(world, "rod", 16, ids) == 6 && tdl_body_id_equal(ids[5], rods[5]));
    EXPECT(tdl_body_id_equal(tdl_world_body(world, "rod", 2), rods[2]));
    EXPECT(tdl_world_body(world, "rod", 6).index == 0 && tdl_world_body(world, "x", 0).index == 0);
    check_refused(world, far);
    check_kinds(world, rods[0], ball, floor);
    check_observers(world);
    step(world, 60);
    EXPECT(touches(world, ball));

    // a rod that is touched, from the middle of a group
    EXPECT(tdl_world_remove(world, rods[1]) == TDL_STATUS_OK);
    check_refused(world, rods[1]);
    int count;
    tdl_world_contact_forces(world, &count);
    EXPECT(count == 0 && tdl_world_bodies(world, "rod", 0, NULL) == 5);
    EXPECT(tdl_body_index(world, rods[2]) == 1);
    step(world, 20);

    // its place is given again, not its id
    TdlBodyId next = add_rod(world, 0.0, 0.2);
    EXPECT(next.index == rods[1].index && next.generation == rods[1].generation + 1);
    check_refused(world, rods[1]);
    step(world, 5);

    // what everything lies on
    EXPECT(tdl_world_remove(world, ball) == TDL_STATUS_OK);
    EXPECT(tdl_world_remove(world, floor) == TDL_STATUS_OK);
    check_refused(world, floor);
    step(world, 5);

    // a tree loses its branches first
    TdlRodDef branch = tdl_rod_def_default();
    TdlRodDef trunk = tdl_rod_def_default();
    TdlBodyId trunk_id = null, branch_id = null, bad = null;
    EXPECT(tdl_world_add_rod(world, &trunk, &trunk_id) == TDL_STATUS_OK);
    branch.parent = trunk_id;
    EXPECT(tdl_world_add_rod(world, &branch, &branch_id) == TDL_STATUS_OK);
    branch.parent = rods[1]; // gone
    REFUSED(tdl_world_add_rod(world, &branch, &bad));
    branch.parent = null;
    branch.material = TDL_MATERIAL_LIMIT;
    REFUSED(tdl_world_add_rod(world, &branch, &bad));
    step(world, 3);
    REFUSED(tdl_world_remove(world, trunk_id));
    EXPECT(tdl_world_remove(world, branch_id) == TDL_STATUS_OK);
    step(world, 3);
    EXPECT(tdl_world_remove(world, trunk_id) == TDL_STATUS_OK);
    int left = tdl_world_bodies(world, NULL, 16, ids);
    for (int i = 0; i < left && i < 16; ++i) {
        EXPECT(tdl_world_remove(world, ids[i]) == TDL_STATUS_OK);
    }
    step(world, 2);
    EXPECT(tdl_world_bodies(world, NULL, 0, NULL) == 0);
    tdl_world_destroy(world);
    printf(wrong > 0 ? "%d wrong\n" : "bodies come and go as they should\n", wrong);
    return wrong > 0;
}
