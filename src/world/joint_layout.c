// Who is joined to whom: the linkages of a world, laid out anew when bodies or joints come or go.
#include "world/world.h"

#include <string.h>

void linkages_free(TdlWorld* world) {
    Joints* all = &world->joints;
    for (int i = 0; i < all->linkage_count; ++i) {
        tdl_free(&world->host.mem, all->linkage[i].member);
        tdl_free(&world->host.mem, all->linkage[i].joint);
    }
    tdl_free(&world->host.mem, all->linkage);
    all->linkage = NULL;
    all->linkage_count = 0;
}

// Joints of one linkage, from one to those that share a system with it, so that the band of their
// matrix is narrow; `group` of the bodies is theirs. Returns how many.
static int walk(const Joints* all, const int* group, int wanted, bool* seen, Joint** out) {
    int count = 0;
    for (int i = 0; i < all->count; ++i) {
        const Joint* joint = all->at[i];
        const JointSide* side = joint_moves(&joint->side[0]) ? &joint->side[0] : &joint->side[1];
        if (!joint_holds(joint) || seen[i] || group[side->body->system->index] != wanted) {
            continue;
        }
        seen[i] = true;
        out[count++] = all->at[i];
        for (int done = count - 1; done < count; ++done) {
            for (int k = i + 1; k < all->count; ++k) {
                const Joint *a = out[done], *b = all->at[k];
                bool near = false;
                for (int s = 0; s < 4 && !seen[k] && joint_holds(b); ++s) {
                    const JointSide *x = &a->side[s / 2], *y = &b->side[s % 2];
                    near = near ||
                           (joint_moves(x) && joint_moves(y) && x->body->system == y->body->system);
                }
                if (near) {
                    seen[k] = true;
                    out[count++] = all->at[k];
                }
            }
        }
    }
    return count;
}

static void find_width(Linkage* l) {
    l->row_count = l->width = 0;
    for (int i = 0; i < l->joint_count; ++i) {
        l->joint[i]->first = l->row_count;
        l->row_count += l->joint[i]->row_count;
    }
    for (int i = 0; i < l->joint_count; ++i) {
        for (int k = 0; k <= i; ++k) {
            bool share = i == k;
            for (int s = 0; s < 4; ++s) {
                const JointSide *x = &l->joint[i]->side[s / 2], *y = &l->joint[k]->side[s % 2];
                share = share ||
                        (joint_moves(x) && joint_moves(y) && x->body->system == y->body->system);
            }
            int reach = l->joint[i]->first + l->joint[i]->row_count - 1 - l->joint[k]->first;
            l->width = share && reach > l->width ? reach : l->width;
        }
    }
}

static TdlStatus make_linkage(TdlWorld* world, const int* group, int wanted, bool* seen,
                              Linkage* l) {
    const TdlAllocator* mem = &world->host.mem;
    size_t members = 0, joints = 0;
    for (int i = 0; i < world->body_count; ++i) {
        members += group[i] == wanted;
    }
    for (int i = 0; i < world->joints.count; ++i) {
        const Joint* joint = world->joints.at[i];
        const JointSide* side = joint_moves(&joint->side[0]) ? &joint->side[0] : &joint->side[1];
        joints += group[side->body->system->index] == wanted;
    }
    l->member = tdl_alloc_array(mem, members, sizeof(Body*));
    l->joint = tdl_alloc_array(mem, joints, sizeof(Joint*));
    if (l->member == NULL || l->joint == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < world->body_count; ++i) {
        Body* body = world->body[i];
        if (group[i] == wanted && body->system == body && body->dof_count > 0) {
            body->linkage = l;
            body->linked_at = l->dof_count;
            l->dof_count += body->dof_count;
            l->member[l->member_count++] = body;
        }
    }
    l->joint_count = walk(&world->joints, group, wanted, seen, l->joint);
    find_width(l);
    return TDL_STATUS_OK;
}

static int root_of(int* group, int i) {
    while (group[i] != i) {
        i = group[i] = group[group[i]];
    }
    return i;
}

// Which system each body is joined to: the first of its linkage; those that nothing joins are -1.
static void find_groups(const TdlWorld* world, int* group) {
    for (int i = 0; i < world->body_count; ++i) {
        group[i] = i;
    }
    for (int i = 0; i < world->joints.count; ++i) {
        const Joint* joint = world->joints.at[i];
        if (joint_holds(joint) && joint_moves(&joint->side[0]) && joint_moves(&joint->side[1])) {
            int a = root_of(group, joint->side[0].body->system->index);
            int b = root_of(group, joint->side[1].body->system->index);
            group[a > b ? a : b] = a > b ? b : a;
        }
    }
    for (int i = 0; i < world->body_count; ++i) {
        group[i] = root_of(group, i);
    }
}

TdlStatus joints_lay_out(TdlWorld* world) {
    Joints* all = &world->joints;
    if (all->laid_out) {
        return TDL_STATUS_OK;
    }
    const TdlAllocator* mem = &world->host.mem;
    linkages_free(world);
    for (int i = 0; i < world->body_count; ++i) {
        world->body[i]->linkage = NULL;
        world->body[i]->linked_at = 0;
    }
    if (all->count == 0) {
        all->laid_out = true;
        return TDL_STATUS_OK;
    }
    size_t bodies = (size_t)world->body_count, joints = (size_t)all->count;
    int* group = tdl_alloc_array(mem, bodies, sizeof *group);
    bool* seen = tdl_alloc_array(mem, joints, sizeof *seen);
    all->linkage = tdl_alloc_array(mem, joints, sizeof *all->linkage);
    TdlStatus status = group && seen && all->linkage ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
    if (status == TDL_STATUS_OK) {
        find_groups(world, group);
    }
    for (int i = 0; i < all->count && status == TDL_STATUS_OK; ++i) {
        const Joint* joint = all->at[i];
        if (joint_holds(joint) && !seen[i]) {
            const JointSide* side =
                joint_moves(&joint->side[0]) ? &joint->side[0] : &joint->side[1];
            status = make_linkage(world, group, group[side->body->system->index], seen,
                                  &all->linkage[all->linkage_count++]);
        }
    }
    tdl_free(mem, group);
    tdl_free(mem, seen);
    all->laid_out = status == TDL_STATUS_OK;
    return status;
}

bool joints_act(const TdlWorld* world) {
    return world->joints.linkage_count > 0;
}
