// What a user may change in a world between two steps.
//
// A force that changes and a gravity that changes give energy, which the judgement of a step must
// not take for its own: the energies of the rods are counted anew.
#include "base/log.h"
#include "world/bodies.h"

static TdlStatus refuse(const TdlWorld* world, const char* what) {
    return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT, "%s", what);
}

static WorldRod* find_rod(TdlWorld* world, TdlRodId id) {
    return id.index >= 1 && id.index <= world->rod_count ? &world->rods[id.index - 1] : NULL;
}

TdlStatus tdl_world_set_gravity(TdlWorld* world, TdlVec3 gravity) {
    if (!tdl_finite3(gravity)) {
        return refuse(world, "gravity must be finite");
    }
    world->def.gravity = gravity;
    for (int i = 0; i < world->rod_count; ++i) {
        WorldRod* wr = &world->rods[i];
        wr->energy = wr->rod->model->energy(wr->rod, gravity);
    }
    return TDL_STATUS_OK;
}

TdlStatus tdl_world_set_friction(TdlWorld* world, double mu) {
    if (!(mu >= 0.0)) {
        return refuse(world, "a friction coefficient must not be negative");
    }
    for (int i = 0; i < TDL_MATERIAL_LIMIT * TDL_MATERIAL_LIMIT; ++i) {
        world->laws[i].mu = mu;
    }
    return TDL_STATUS_OK;
}

TdlStatus tdl_rod_pull(TdlWorld* world, TdlRodId id, double at, TdlVec3 force) {
    WorldRod* wr = find_rod(world, id);
    if (wr == NULL || !(at >= 0.0 && at <= rod_length(wr->rod)) || !tdl_finite3(force)) {
        return refuse(world, "a pull needs a rod, an arc length on it and a finite force");
    }
    Rod* rod = wr->rod;
    if (!wr->pulled) {
        wr->pulled = true;
        ++rod->load_count; // there is room for one more
    }
    double u = at / rod->element_length;
    int element = (int)fmin(u, rod->element_count - 1);
    rod->loads[rod->load_count - 1] =
        (RodLoad){.element = element, .s = fmin(u - element, 1.0), .force = force};
    wr->energy = rod->model->energy(rod, world->def.gravity);
    return TDL_STATUS_OK;
}

bool tdl_rod_lead(TdlWorld* world, TdlRodId id, bool end, TdlVec3 place) {
    WorldRod* wr = find_rod(world, id);
    if (wr == NULL || !tdl_finite3(place)) {
        return false;
    }
    const Motion* motion = end ? &wr->end_motion : &wr->motion;
    TdlHold hold = end ? wr->rod->end_hold : wr->rod->start_hold;
    if (hold == TDL_HOLD_FREE || motion->keys != NULL || (!end && wr->rod->parent != NULL)) {
        return false;
    }
    wr->led[end] = true;
    (end ? &wr->end_placed : &wr->placed)->position = place;
    return true;
}
