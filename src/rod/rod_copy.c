// The same rod in another world: made of the definition that is kept, with what was changed of it
// since; its state is loaded after that.
#include "base/log.h"
#include "rod/rod_body.h"

#include <string.h>

// Whoever adds to a definition says here how a copy comes by it: what is a value is kept in
// RodBody.def, what it points to is taken from the rod.
enum { ROD_DEF_SIZE = 504 };
_Static_assert(sizeof(void*) != 8 || sizeof(TdlRodDef) == ROD_DEF_SIZE,
               "a new field of TdlRodDef: see definition_of");

static TdlRodDef definition_of(const RodBody* rb, const TdlWorld* to) {
    const Rod* rod = rb->rod;
    TdlRodDef def = rb->def;
    def.stiffening = rod->stiffening;
    *(rod->model->at_joints ? &def.natural_curvature_at : &def.natural_curvature_of) = rod->natural;
    def.motion = motion_def(&rb->motion);
    def.end_motion = motion_def(&rb->end_motion);
    if (rod->parent != NULL) {
        int parent = rod_owner(rod->parent)->head.kind_index;
        def.parent = tdl_world_body(to, ROD_BODY.name, parent);
    }
    return def;
}

TdlStatus rod_copy(const Body* body, TdlWorld* to) {
    const RodBody* rb = (const RodBody*)body;
    const Rod* rod = rb->rod;
    if (rb->drive != NULL || rb->carrier != NULL || rb->def.section_count > 0) {
        return tdl_fail(world_host(to), TDL_STATUS_BAD_ARGUMENT,
                        "a rod that is driven, rides or has sections cannot be copied");
    }
    TdlRodDef def = definition_of(rb, to);
    RodBody* copy;
    TdlStatus status = rod_add(to, &def, rb, &copy);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    Rod* own = copy->rod;
    if (rod->load_count > 0) {
        if (!rod_reserve_loads(world_host(to), copy, rod->load_count)) {
            return TDL_STATUS_NO_MEMORY;
        }
        memcpy(own->loads, rod->loads, (size_t)rod->load_count * sizeof *rod->loads);
    }
    own->load_count = rod->load_count;
    own->mount = rod->mount;
    copy->pull_count = rb->pull_count;
    copy->placed = rb->placed;
    copy->end_placed = rb->end_placed;
    copy->stability = rb->stability;
    memcpy(copy->hold, rb->hold, sizeof rb->hold);
    return load_list_copy(world_host(to), &rb->varying, &copy->varying);
}
