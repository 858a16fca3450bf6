// Shapes and momenta of the linear-time super-helix: the pass from the root that ends a step.
//
// What one element waits for another with, the frames, places and motions from start to start, is
// short; the rest is done for four elements or four rods at once (lane_element.c). O(N).
#include "rod/held_end.h"
#include "rod/lane_batch.h"
#include "rod/super_helix.h"

#include <string.h>

static void read_constants(const RodGroup* group, LaneRoot* root) {
    root->varies = false;
    for (int lane = 0; lane < LANE_COUNT; ++lane) {
        const Rod* rod = rod_in(group, lane);
        double l = rod->element_length;
        root->l[lane] = l;
        root->varies = root->varies || rod->varies;
        root->l_before[lane] = rod->held_state.stretch_before * rod->at_rest.element_length;
        root->gyration[lane] = rod->gyration;
        root->m[lane] = rod->line_density * l;
        root->k[0][lane] = rod->stiffness.x / l;
        root->k[1][lane] = rod->stiffness.y / l;
        root->k[2][lane] = rod->stiffness.z / l;
    }
}

// Where a pass from the root has come to.
typedef struct Walk {
    LaneVec position;
    LaneMat R;
    LaneTwist at; // motion, in the shape before
} Walk;

static Walk walk_from_root(const RodGroup* group, bool before) {
    const RodBase* base = &group->rods[0]->base;
    TdlPose pose = before ? base->before : base->now;
    Walk walk = {lane_vec_all(pose.position),
                 lane_mat_all(pose.rotation),
                 {lane_vec_all(base->rate.linear), lane_vec_all(base->rate.angular)}};
    for (int lane = 1; lane < group->count; ++lane) {
        base = &group->rods[lane]->base;
        pose = before ? base->before : base->now;
        lane_vec_set(&walk.position, lane, pose.position);
        lane_mat_set(&walk.R, lane, pose.rotation);
        lane_vec_set(&walk.at.linear, lane, base->rate.linear);
        lane_vec_set(&walk.at.angular, lane, base->rate.angular);
    }
    return walk;
}

// One step towards the nearest rotation: R (3 - R'R) / 2
LANE_INLINE LaneMat orthonormal(LaneMat R) {
    LaneSym zero = {0};
    LaneSym G = lane_sym_axpy(zero, lane_all(-0.5), lane_sym_add_tproduct(zero, R, R));
    G.xx += 1.5;
    G.yy += 1.5;
    G.zz += 1.5;
    return lane_product(R, (LaneMat){{G.xx, G.xy, G.xz}, {G.xy, G.yy, G.yz}, {G.xz, G.yz, G.zz}});
}

// Frames at the starts of the elements of a batch, `out`. Rounding is taken out of every fourth.
LANE_INLINE void chain_frames(Walk* walk, const LaneCurl* curl, Batch batch, bool alone,
                              LaneMat* out) {
    for (int k = 0; k < batch.count; ++k) {
        put_mat(out, k, alone, walk->R);
        walk->R = lane_product(walk->R, take_mat(&curl->turned, k, alone));
        if ((batch.first + k) % LANE_COUNT == LANE_COUNT - 1) {
            walk->R = orthonormal(walk->R);
        }
    }
    for (int k = batch.count; k < LANE_COUNT && alone; ++k) {
        lane_mat_set(out, k, lane_mat_of(out, batch.count - 1));
    }
}

LANE_INLINE void chain_places(Walk* walk, LaneElement* e, Batch batch, bool alone) {
    for (int k = 0; k < batch.count; ++k) {
        put_vec(&e->position, k, alone, walk->position);
        walk->position = lane_add(walk->position, take_vec(&e->span, k, alone));
    }
    for (int k = batch.count; k < LANE_COUNT && alone; ++k) {
        lane_vec_set(&e->position, k, lane_vec_of(&e->position, batch.count - 1));
    }
}

// Motion at the starts, `out`; where branches want it, at the ends too.
LANE_INLINE void chain_motion(Walk* walk, const LaneElement* e, const LaneTwist* rates, Batch batch,
                              bool alone, LaneTwist* out, LaneTwist* ends) {
    for (int k = 0; k < batch.count; ++k) {
        put_vec(&out->linear, k, alone, walk->at.linear);
        put_vec(&out->angular, k, alone, walk->at.angular);
        LaneVec swung =
            lane_add_cross(walk->at.linear, walk->at.angular, take_vec(&e->span, k, alone));
        walk->at.linear = lane_add(swung, take_vec(&rates->linear, k, alone));
        walk->at.angular = lane_add(walk->at.angular, take_vec(&rates->angular, k, alone));
        if (ends != NULL) {
            ends[k] = walk->at;
        }
    }
    for (int k = batch.count; k < LANE_COUNT && alone; ++k) {
        lane_vec_set(&out->linear, k, lane_vec_of(&out->linear, batch.count - 1));
        lane_vec_set(&out->angular, k, lane_vec_of(&out->angular, batch.count - 1));
    }
}

// Gives the elements of a batch the shape of q.
LANE_INLINE void shape_batch(Walk* walk, LaneElement* e, const LaneVec* q, const Lane* l,
                             Batch batch, LaneCurl* curl) {
    LaneMat frames;
    lane_element_curl(q, curl);
    if (batch.alone) {
        chain_frames(walk, curl, batch, true, &frames);
        lane_element_place(e, curl, &frames, l);
        chain_places(walk, e, batch, true);
    } else {
        chain_frames(walk, curl, batch, false, &frames);
        lane_element_place(e, curl, &frames, l);
        chain_places(walk, e, batch, false);
    }
}

// Adds the elements of a batch to the sums of their rods, one after the other.
static void add_sums(LaneRoot* root, const LaneElement* e, const LaneSection* own, LaneVec rest,
                     Lane square, Batch batch) {
    LaneVec strain = lane_sub(e->q, rest), centre = lane_add(e->position, e->h);
    Lane elastic = lane_sum3(own->k[0] * strain.x, strain.x, own->k[1] * strain.y, strain.y,
                             own->k[2] * strain.z, strain.z);
    if (root->varies) {
        square *= own->share;
        centre = lane_scale(own->share, centre);
    }
    if (!batch.alone) {
        root->square += square;
        root->elastic += elastic;
        root->centre = lane_add(root->centre, centre);
        return;
    }
    for (int k = 0; k < batch.count; ++k) {
        root->square[0] += square[k];
        root->elastic[0] += elastic[k];
        root->centre.x[0] += centre.x[k];
        root->centre.y[0] += centre.y[k];
        root->centre.z[0] += centre.z[k];
    }
}

static void advance_branches(Rod* rod, Batch batch, const LaneTwist* ends, double dt);

// With the elements in the shape before, and the velocities found in it: root to tip, finds the
// motion of each element there, then gives it its present shape, its inertia, and the momentum it
// brings along. Takes the branches along by branch_dt, unless that is 0. (L.1)
static void carry(RodGroup* group, double branch_dt) {
    LaneRoot* root = lane_root_of(group);
    LaneElement* e = lane_elements_of(group);
    const double *q[LANE_COUNT], *v[LANE_COUNT], *rest[LANE_COUNT];
    for (int lane = 0; lane < LANE_COUNT; ++lane) {
        const Rod* rod = rod_in(group, lane);
        q[lane] = rod->q;
        v[lane] = rod->v;
        rest[lane] = rod->q_rest;
    }
    Walk walk = walk_from_root(group, false);
    bool branches = branch_dt > 0.0 && group->rods[0]->child != NULL;
    root->square = root->elastic = lane_all(0.0);
    root->centre = (LaneVec){0};
    int n = group->rods[0]->element_count, size = batch_size(group);
    for (int first = 0; first < n; first += size, ++e) {
        Batch batch = batch_at(group, first);
        LaneVec d = gather(v, batch), q_new = gather(q, batch);
        LaneTwist rates, at, ends[LANE_COUNT];
        LaneField field;
        LaneCurl curl;
        Lane square;
        lane_element_rates(e, &d, &rates);
        if (batch.alone) {
            chain_motion(&walk, e, &rates, batch, true, &at, branches ? ends : NULL);
        } else {
            chain_motion(&walk, e, &rates, batch, false, &at, NULL);
        }
        lane_element_field(e, &root->l_before, &at, &d, &field);
        shape_batch(&walk, e, &q_new, &root->l, batch, &curl);
        LaneSection own = section_in(group, root, batch);
        lane_element_load(e, &root->l, &own.gyration, &field, &curl, &square);
        add_sums(root, e, &own, gather(rest, batch), square, batch);
        e->taut = lane_all(0.0);
        if (branches) {
            advance_branches(group->rods[0], batch, ends, branch_dt);
        }
    }
}

void super_helix_refresh_group(RodGroup* group) {
    LaneRoot* root = lane_root_of(group);
    LaneElement* e = lane_elements_of(group);
    read_constants(group, root);
    const double* q[LANE_COUNT];
    for (int lane = 0; lane < LANE_COUNT; ++lane) {
        super_helix_read_root(rod_in(group, lane));
        q[lane] = rod_in(group, lane)->q_before;
    }
    Walk walk = walk_from_root(group, true);
    int n = group->rods[0]->element_count, size = batch_size(group);
    for (int first = 0; first < n; first += size, ++e) {
        Batch batch = batch_at(group, first);
        LaneVec q_before = gather(q, batch);
        LaneCurl curl;
        shape_batch(&walk, e, &q_before, &root->l_before, batch, &curl);
    }
    carry(group, 0.0);
}

void super_helix_advance_group(RodGroup* group, const RodStep* const* steps) {
    for (int lane = 0; lane < group->count; ++lane) {
        Rod* rod = group->rods[lane];
        memcpy(rod->q_before, rod->q, (size_t)rod->dof_count * sizeof *rod->q);
        for (int i = 0; i < rod->dof_count; ++i) {
            rod->q[i] += steps[lane]->dt * rod->v[i];
        }
        super_helix_move_root(rod, steps[lane]);
        held_end_advance(rod, steps[lane]);
    }
    if (group->rods[0]->held != NULL) { // they may be stretched
        read_constants(group, lane_root_of(group));
    }
    carry(group, steps[0]->dt);
}

// --- trees ----------------------------------------------------------------------------------

// Moves the branches at the ends of a batch's elements, which had the motions `ends` in the shape
// before.
static void advance_branches(Rod* rod, Batch batch, const LaneTwist* ends, double dt) {
    for (Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        int k = branch->parent_element - batch.first;
        if (k < 0 || k >= batch.count) {
            continue;
        }
        TdlPose end = rod->model->node(rod, branch->parent_element);
        branch->base.before = branch->base.now;
        branch->base.rate =
            (Twist){lane_vec_of(&ends[k].linear, 0), lane_vec_of(&ends[k].angular, 0)};
        branch->base.now.position = end.position;
        branch->base.now.rotation = tdl_mul33(end.rotation, branch->mount);
        for (int i = 0; i < branch->dof_count; ++i) {
            branch->q_before[i] = branch->q[i];
            branch->q[i] += dt * branch->v[i];
        }
        carry(branch->group, dt);
    }
}
