// A gripper of two plates grasps a rope on a table by friction alone, lifts it, and lays it over a
// hook. Rope, table, hook and plates are those of a scene; the program leads the plates. A trial in
// a copy of the world tells whether the grip is good: where the rope slips, they close further.
//
//     cc gripper.c $(pkg-config --cflags --libs tendril_io) -lm && ./a.out scenes/gripper.yaml
//
// The exit status is 1 if the rope does not hang on the hook in the end.
#include <math.h>
#include <tendril/io.h>

typedef struct Gripper {
    TdlWorld* world;
    TdlVec3 at;   // m, of its middle
    double apart; // m, of a plate from there
} Gripper;

// Over a time to a place and a width, from rest to rest.
static bool move(Gripper* g, TdlVec3 at, double apart, double time) {
    TdlBodyId plate[2] = {tdl_world_find(g->world, "left"), tdl_world_find(g->world, "right")};
    Gripper from = *g;
    for (int i = 1, steps = (int)(time / tdl_world_def(g->world).step); i <= steps; ++i) {
        double u = (double)i / steps, share = u * u * (3.0 - 2.0 * u);
        g->at = tdl_axpy3(from.at, share, tdl_sub3(at, from.at));
        g->apart = from.apart + share * (apart - from.apart);
        for (int k = 0; k < 2; ++k) {
            TdlPose pose;
            tdl_body_led_pose(g->world, plate[k], 0, &pose); // keeps how it is turned
            pose.position = g->at;
            pose.position.y += k == 0 ? -g->apart : g->apart;
            tdl_body_move_to(g->world, plate[k], 0, pose);
        }
        if (tdl_world_step(g->world, NULL) != TDL_STATUS_OK) {
            return false;
        }
    }
    return true;
}

static TdlVec3 rope_point(const Gripper* g, double s) {
    TdlVec3 p = {0.0, 0.0, 0.0};
    tdl_rod_point(g->world, tdl_world_find(g->world, "rope"), s, &p);
    return p;
}

// How far the place that was grasped is from the middle of the plates, along them.
static double slip(const Gripper* g) {
    TdlVec3 p = rope_point(g, 0.15);
    return hypot(p.x - g->at.x, p.z - g->at.z);
}

// Whether the rope goes up with the plates, in a world that is thrown away.
static bool holds(Gripper g) {
    if (tdl_world_copy(g.world, &g.world) != TDL_STATUS_OK) {
        return false;
    }
    bool up = move(&g, (TdlVec3){0.15, 0.0, 0.2}, g.apart, 0.5);
    double slipped = slip(&g);
    printf("plates %.2f mm apart: a trial slips by %.3f mm\n", 2.0e3 * g.apart, 1.0e3 * slipped);
    tdl_world_destroy(g.world);
    return up && slipped < 2.0e-3;
}

int main(int count, char** arguments) {
    TdlHost host = tdl_host_default();
    TdlScene* scene = NULL;
    Gripper g = {.at = {0.15, 0.0, 3.0e-3}, .apart = 0.03};
    const char* path = count > 1 ? arguments[1] : "scenes/gripper.yaml";
    if (tdl_scene_load(&host, path, NULL, 0, &scene) != TDL_STATUS_OK ||
        tdl_scene_build(scene, 1, &g.world) != TDL_STATUS_OK) {
        return 1;
    }
    bool good = move(&g, g.at, 6.0e-3, 0.3);
    while (good && !holds(g)) {
        good = g.apart > 3.0e-3 && move(&g, g.at, g.apart - 5.0e-4, 0.1);
    }
    good = good && move(&g, (TdlVec3){0.15, 0.0, 0.55}, g.apart, 1.0); // lift
    good = good && move(&g, (TdlVec3){-0.18, 0.0, 0.55}, g.apart, 1.0);
    double slipped = slip(&g);
    good = good && move(&g, (TdlVec3){-0.18, 0.0, 0.35}, g.apart, 0.7);
    good = good && move(&g, g.at, 0.03, 0.2) && move(&g, g.at, 0.1, 2.0); // let go
    double low = fmax(rope_point(&g, 0.0).z, rope_point(&g, 0.6).z), high = rope_point(&g, 0.3).z;
    printf("carried with a slip of %.3f mm; it hangs %.3f m\n", 1.0e3 * slipped, high - low);
    tdl_world_destroy(g.world);
    tdl_scene_destroy(scene);
    return good && slipped < 2.0e-3 && high > fmax(0.45, 0.1 + low) ? 0 : 1;
}
