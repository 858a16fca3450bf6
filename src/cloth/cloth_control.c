// What a program does to a cloth between two steps: it leads its holds and pulls at its vertices.
// And the same cloth once more, for another world.
#include "cloth/cloth.h"

#include <string.h>

TdlPose cloth_grip_pose(const ClothGrip* grip, double time) {
    bool was_led = tdl_norm3(grip->led->now.rotation.cx) > 0.0;
    return was_led ? grip->led->now : motion_pose(&grip->motion, grip->middle, time);
}

Lead* cloth_lead(Cloth* c, int part, double time, TdlPose* now) {
    if (part < 0 || part >= c->grip_count) {
        return NULL;
    }
    ClothGrip* grip = &c->grip[part];
    *now = cloth_grip_pose(grip, time);
    return &grip->led->lead;
}

TdlStatus cloth_pull_at(const TdlHost* host, Cloth* c, int count, const TdlPull* pulls) {
    if (count > c->pull_count) {
        ClothPull* grown = tdl_grow_array(&host->mem, c->pull, (size_t)count, sizeof *grown);
        if (grown == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        c->pull = grown;
    }
    for (int i = 0; i < count; ++i) {
        c->pull[i] = (ClothPull){pulls[i].vertex, pulls[i].force};
    }
    c->pull_count = count;
    return TDL_STATUS_OK;
}

// --- in another world ------------------------------------------------------------------------

// Its holds and seams as a definition has them, of the nodes that there are now: what was sewn is
// one node, and what is drawn is not sewn by it.
static bool describe(const Cloth* c, Arena* arena, TdlClothDef* def) {
    TdlClothHold* holds = ARENA_NEW(arena, TdlClothHold, (size_t)c->grip_count + 1);
    TdlClothSeam* seams = ARENA_NEW(arena, TdlClothSeam, (size_t)c->def.seam_count + 1);
    if (holds == NULL || seams == NULL) {
        return false;
    }
    for (int g = 0; g < c->grip_count; ++g) {
        holds[g] =
            (TdlClothHold){c->grip[g].node, c->grip[g].count, motion_def(&c->grip[g].motion)};
    }
    for (int s = 0; s < c->def.seam_count; ++s) {
        seams[s] = c->def.seams[s];
        seams[s].within = 0.0;
    }
    *def = c->def;
    def->holds = holds;
    def->hold_count = c->grip_count;
    def->seams = seams;
    return true;
}

TdlStatus cloth_create_copy(const TdlHost* host, const Cloth* c, Cloth** out) {
    Arena arena;
    arena_init(&arena, &host->mem);
    TdlClothDef def;
    TdlStatus status =
        describe(c, &arena, &def) ? cloth_create(host, &def, out) : TDL_STATUS_NO_MEMORY;
    arena_destroy(&arena);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    Cloth* own = *out;
    // sewing moved nodes, so that the distances which seams began with are not found again
    memcpy(own->stitch, c->stitch, (size_t)c->stitch_count * sizeof *c->stitch);
    for (int e = cloth_stitch_first(c); e < c->element_count; ++e) {
        own->element[e].scale = c->element[e].scale;
        own->element[e].stiffness = c->element[e].stiffness;
    }
    memcpy(own->force, c->force, 3 * (size_t)c->node_count * sizeof *c->force);
    if (c->pull_count > 0) {
        own->pull = tdl_alloc_array(&host->mem, (size_t)c->pull_count, sizeof *own->pull);
        if (own->pull == NULL) {
            cloth_destroy(host, own);
            return TDL_STATUS_NO_MEMORY;
        }
        memcpy(own->pull, c->pull, (size_t)c->pull_count * sizeof *c->pull);
        own->pull_count = c->pull_count;
    }
    status = load_list_copy(host, &c->varying, &own->varying);
    if (status != TDL_STATUS_OK) {
        cloth_destroy(host, own);
    }
    return status;
}
