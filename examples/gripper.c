// A gripper of two plates grasps a rope on a table by friction alone, lifts it, and lays it over a
// hook. A trial in a copy of the world tells whether the grip is good: where the rope slips, the
// plates close further. The exit status is 1 if the rope does not hang on the hook in the end.
//
//     cc gripper.c $(pkg-config --cflags --libs tendril) -lm && ./a.out
#include <tendril/tendril.h>

#include <math.h>
#include <stdio.h>

static const double RADIUS = 3.0e-3, HELD = 0.15, STEP = 2.0e-3; // m, m, s

typedef struct Gripper {
    TdlWorld* world;
    TdlBodyId rope, plate[2];
    TdlVec3 at;   // m, of its middle
    double apart; // m, of a plate from there
} Gripper;

// Its third axis, the normal, looks at the rope.
static TdlPose plate_pose(const Gripper* g, int k) {
    double side = k == 0 ? -1.0 : 1.0;
    return (TdlPose){{g->at.x, g->at.y + side * g->apart, g->at.z},
                     {{1.0, 0.0, 0.0}, {0.0, 0.0, side}, {0.0, -side, 0.0}}};
}

// Over a time to a place and a width, from rest to rest.
static bool move(Gripper* g, TdlVec3 at, double apart, double time) {
    TdlVec3 from = g->at, way = tdl_sub3(at, from);
    double closed = apart - g->apart, before = g->apart;
    for (int i = 1, steps = (int)(time / STEP); i <= steps; ++i) {
        double u = (double)i / steps, share = u * u * (3.0 - 2.0 * u);
        g->at = tdl_axpy3(from, share, way);
        g->apart = before + share * closed;
        tdl_body_move_to(g->world, g->plate[0], 0, plate_pose(g, 0));
        tdl_body_move_to(g->world, g->plate[1], 0, plate_pose(g, 1));
        if (tdl_world_step(g->world, NULL) != TDL_STATUS_OK) {
            return false;
        }
    }
    return true;
}

// How far the rope is from where the plates have it, along them; they were closed at x = HELD.
static double slip(const Gripper* g) {
    TdlVec3 p = {0.0, 0.0, 0.0};
    tdl_rod_point(g->world, g->rope, HELD, &p);
    return hypot(p.x - g->at.x, p.z - g->at.z);
}

// Whether the rope goes up with the plates, in a world that is thrown away.
static bool holds(Gripper g) {
    if (tdl_world_copy(g.world, &g.world) != TDL_STATUS_OK) {
        return false;
    }
    bool up = move(&g, (TdlVec3){HELD, 0.0, 0.2}, g.apart, 0.5);
    double slipped = slip(&g);
    printf("plates %.2f mm apart: a trial slips by %.3f mm\n", 2.0e3 * g.apart, 1.0e3 * slipped);
    tdl_world_destroy(g.world);
    return up && slipped < 2.0e-3;
}

// The rope is crimped where it is grasped, so that it presses against both plates.
static TdlBodyId add_rope(TdlWorld* world) {
    TdlVec3 bends[40] = {[7] = {.z = 20.0},  [8] = {.z = -20.0}, [9] = {.z = -20.0},
                         [10] = {.z = 20.0}, [11] = {.z = 20.0}, [12] = {.z = -20.0}};
    TdlRodDef rope = tdl_rod_def_default();
    rope.length = 0.6;
    rope.element_count = 40;
    rope.radius[0] = rope.radius[1] = rope.clamp.position.z = RADIUS;
    rope.young = 1.0e7;
    rope.density = 3000.0;
    rope.damping = 0.02;
    rope.mass_damping = 2.0;
    rope.start = TDL_HOLD_FREE;
    rope.natural_curvature_of = rope.curvature_of = bends;
    TdlBodyId id = {0};
    tdl_world_add_rod(world, &rope, &id);
    return id;
}

static TdlBodyId add(TdlWorld* world, TdlShape shape, double radius, double length, TdlPose pose) {
    TdlColliderDef def = tdl_collider_def_default();
    def.shape = shape;
    def.radius = radius;
    def.length = length;
    def.pose = pose;
    TdlBodyId id = {0};
    tdl_world_add_collider(world, &def, &id);
    return id;
}

int main(void) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.step = STEP;
    def.contacts.law.mu = 0.8; // all is of rubber
    Gripper g = {.at = {HELD, 0.0, RADIUS}, .apart = 0.03};
    if (tdl_world_create(&host, &def, &g.world) != TDL_STATUS_OK) {
        return 1;
    }
    const TdlMat3 along_y = {{0.0, 1.0, 0.0}, {-1.0, 0.0, 0.0}, {0.0, 0.0, 1.0}};
    g.rope = add_rope(g.world);
    add(g.world, TDL_SHAPE_PLANE, 0.0, 0.0, (TdlPose){.rotation = tdl_identity33()});
    add(g.world, TDL_SHAPE_CAPSULE, 0.02, 0.1, (TdlPose){{-0.1, -0.05, 0.45}, along_y}); // the hook
    for (int k = 0; k < 2; ++k) {
        g.plate[k] = add(g.world, TDL_SHAPE_PLATE, 1.0e-3, 0.055, plate_pose(&g, k));
    }
    bool good = move(&g, g.at, 6.0e-3, 0.3);
    while (good && !holds(g)) {
        good = g.apart > RADIUS && move(&g, g.at, g.apart - 5.0e-4, 0.1);
    }
    good = good && move(&g, (TdlVec3){HELD, 0.0, 0.55}, g.apart, 1.0); // lift
    good = good && move(&g, (TdlVec3){-0.18, 0.0, 0.55}, g.apart, 1.0);
    double slipped = slip(&g);
    good = good && move(&g, (TdlVec3){-0.18, 0.0, 0.35}, g.apart, 0.7);
    good = good && move(&g, g.at, 0.03, 0.2) && move(&g, g.at, 0.1, 2.0); // let go
    TdlVec3 p[3] = {{0.0, 0.0, 0.0}};
    for (int i = 0; i < 3; ++i) {
        tdl_rod_point(g.world, g.rope, 0.3 * i, &p[i]);
    }
    printf("carried with a slip of %.3f mm; the ends hang %.3f and %.3f m below the middle\n",
           1.0e3 * slipped, p[1].z - p[0].z, p[1].z - p[2].z);
    tdl_world_destroy(g.world);
    return good && slipped < 2.0e-3 && p[1].z > fmax(0.45, 0.1 + fmax(p[0].z, p[2].z)) ? 0 : 1;
}
