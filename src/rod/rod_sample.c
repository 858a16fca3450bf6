// Frames and velocities of a rod at many places at once.
#include "base/log.h"
#include "rod/rod_body.h"

// A rod that is asked at `count` places, and where these are.
typedef struct Sample {
    const RodBody* rb;
    int count;
    const double* at; // null: even
} Sample;

static TdlStatus begin(const TdlWorld* world, TdlBodyId id, int count, const double* at,
                       Sample* out) {
    *out = (Sample){(const RodBody*)world_find_body(world, id, &ROD_BODY), count, at};
    if (out->rb == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    bool good = count >= (at == NULL ? 2 : 1);
    for (int i = 0; i < count && good && at != NULL; ++i) {
        good = at[i] >= 0.0 && at[i] <= rod_length(out->rb->rod);
    }
    return good ? TDL_STATUS_OK
                : tdl_fail(world_host(world), TDL_STATUS_BAD_ARGUMENT,
                           "places of a rod are at arc lengths from 0 to its length, and two at "
                           "least where these are not told");
}

static BodyPlace place_of(const Sample* s, int i) {
    double length = rod_length(s->rb->rod);
    double even = i == s->count - 1 ? length : length * i / (s->count - 1);
    BodyPlace place = {0};
    rod_locate(&s->rb->head, s->at == NULL ? even : s->at[i], &place);
    return place;
}

TdlStatus tdl_rod_frames(const TdlWorld* world, TdlBodyId id, int count, const double* at,
                         TdlPose* out) {
    Sample s;
    TdlStatus status = begin(world, id, count, at, &s);
    for (int i = 0; i < count && status == TDL_STATUS_OK; ++i) {
        const Rod* rod = s.rb->rod;
        BodyPlace place = place_of(&s, i);
        if (rod->model->pose_at != NULL) {
            out[i] = rod->model->pose_at(rod, rod->q, rod_start(rod), rod->element_length,
                                         place.element, place.u);
        } else {
            rod_frame(&s.rb->head, &place, &out[i]);
        }
    }
    return status;
}

// Velocities of all coordinates that move a rod: those of its tree.
static void gather(const Rod* rod, double* v) {
    for (int i = 0; i < rod->dof_count; ++i) {
        v[rod->tree_first + i] = rod->v[i];
    }
    for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        gather(branch, v);
    }
}

// How the held start of reduced coordinates moves on its own, at a place.
static TdlVec3 carried(const Rod* root, TdlVec3 at) {
    TdlVec3 v = {0};
    if (root->model->reduced && root->start_hold != TDL_HOLD_FREE) {
        v = root->base.rate.linear;
    }
    if (root->model->reduced && root->start_hold == TDL_HOLD_CLAMPED) {
        TdlVec3 arm = tdl_sub3(at, root->base.now.position);
        v = tdl_add3(v, tdl_cross3(root->base.rate.angular, arm));
    }
    return v;
}

static TdlVec3 velocity_at(const Body* body, const BodyPlace* place, const double* v,
                           double* rows) {
    const Rod* root = rod_of(body->system);
    BodySupport moved = ROD_BODY.support(body, place);
    ROD_BODY.rows(body, place, tdl_identity33(), rows);
    double sum[3] = {0.0};
    for (int k = 0; k < 3; ++k) {
        for (int j = 0; j < moved.count && moved.first + j < root->tree_dofs; ++j) {
            sum[k] += rows[k * moved.count + j] * v[moved.first + j];
        }
    }
    return tdl_add3(tdl_load3(sum, 0), carried(root, place->point));
}

TdlStatus tdl_rod_point_velocities(const TdlWorld* world, TdlBodyId id, int count, const double* at,
                                   TdlVec3* out) {
    Sample s;
    TdlStatus status = begin(world, id, count, at, &s);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    const TdlHost* host = world_host(world);
    const Rod* root = rod_of(s.rb->head.system);
    size_t dofs = (size_t)root->tree_dofs + 1; // a held end has one more, its stretch
    double* v = tdl_alloc_array(&host->mem, 4 * dofs, sizeof *v);
    if (v == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    gather(root, v);
    for (int i = 0; i < count; ++i) {
        BodyPlace place = place_of(&s, i);
        out[i] = velocity_at(&s.rb->head, &place, v, v + dofs);
    }
    tdl_free(&host->mem, v);
    return TDL_STATUS_OK;
}
