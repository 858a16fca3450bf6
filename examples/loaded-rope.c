// A rope between two clamps with a weight on it: what the clamps pull with.
//
//     cc loaded-rope.c $(pkg-config --cflags --libs tendril) -lm && ./a.out
//
// The weight is in the middle. At rest each clamp carries half of it and of the rope, and they pull
// against each other. The exit status is 1 if anything else is found.
#include <tendril/tendril.h>

#include <math.h>
#include <stdio.h>

static const double LENGTH = 0.5, WEIGHT = 0.4; // m, N

static TdlStatus add_rope(TdlWorld* world, TdlBodyId* rope) {
    TdlRodLoad load = {.at = 0.5 * LENGTH, .force = {0.0, 0.0, -WEIGHT}};
    TdlRodDef def = tdl_rod_def_default();
    def.length = LENGTH;
    def.radius[0] = def.radius[1] = 2.0e-3;
    def.young = 1.0e7;
    def.damping = 0.01;
    def.mass_damping = 20.0;
    def.end = TDL_HOLD_CLAMPED;
    def.loads = &load;
    def.load_count = 1;
    return tdl_world_add_rod(world, &def, rope);
}

static int check(const TdlWorld* world, TdlBodyId rope) {
    TdlVec3 start, end;
    TdlRodInfo info;
    if (tdl_rod_hold_force(world, rope, false, &start) != TDL_STATUS_OK ||
        tdl_rod_hold_force(world, rope, true, &end) != TDL_STATUS_OK ||
        tdl_rod_info(world, rope, &info) != TDL_STATUS_OK) {
        return 1;
    }
    double weight = WEIGHT + 9.81 * info.mass;
    printf("start (%.4f %.4f %.4f) N, end (%.4f %.4f %.4f) N, weight %.4f N\n", start.x, start.y,
           start.z, end.x, end.y, end.z, weight);
    double off = fabs(start.z + end.z - weight) + fabs(start.x + end.x) + fabs(start.y) +
                 fabs(end.y) + fabs(start.z - end.z);
    return off < 1.0e-3 * weight && end.x > 0.0 ? 0 : 1;
}

int main(void) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.holds = true;
    TdlWorld* world = NULL;
    TdlBodyId rope;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        return 1;
    }
    TdlStatus status = add_rope(world, &rope);
    for (int i = 0; i < 2000 && status == TDL_STATUS_OK; ++i) {
        status = tdl_world_step(world, NULL);
    }
    int wrong = status != TDL_STATUS_OK || check(world, rope);
    tdl_world_destroy(world);
    return wrong;
}
