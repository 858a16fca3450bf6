// The pairs of a tree of capsules: every leaf is sent down from the root, tested against the eight
// capsules of a block at once, to the leaves after it. Leaves are shared out in runs whose results
// are joined in order, so that they do not depend on the number of threads.
#include "detect/tree.h"

#include "detect/capsules.h"

// Blocks tested before looking at what was found, and leaves collected before they are.
enum { AT_ONCE = 4, ROW = 128 };

typedef struct Walk {
    CapsuleTree* tree;
    const BroadInput* in;
    float margin[BLOCK], thin; // the margin eight times, and twice the least radius
    bool travels;
} Walk;

static TravelQuery query_of(const Walk* w, int level, int index) {
    const TreeLevel* l = &w->tree->level[level];
    TravelQuery q = {.capsule = block_get(&l->block[index / BLOCK], index % BLOCK)};
    for (int axis = 0; axis < 3 && w->travels; ++axis) {
        q.lo[axis] = l->travel[index / BLOCK].lo[axis][index % BLOCK];
        q.hi[axis] = l->travel[index / BLOCK].hi[axis][index % BLOCK];
    }
    return q;
}

// The capsules of a block that may be as near as is wanted.
static unsigned near_block(const Walk* w, int level, int block, const TravelQuery* q) {
    const TreeLevel* l = &w->tree->level[level];
    return w->travels
               ? travel_block_near(&l->block[block], &l->travel[block], q, w->margin[0], w->thin)
               : capsule_block_near(&l->block[block], &q->capsule, w->margin);
}

// The capsules of a block: the last may not be full.
static unsigned used(const TreeLevel* level, int block) {
    int count = level->count - block * BLOCK;
    return count < BLOCK ? (1U << count) - 1U : 0xffU;
}

// Writes base + k for each bit k of `bits`, without a branch; returns how many.
static inline int expand(unsigned bits, int base, int* out) {
    int count = 0;
    for (int k = 0; k < BLOCK; ++k) {
        out[count] = base + k;
        count += (int)(bits >> k & 1U);
    }
    return count;
}

// The pairs of pieces of a leaf and others, none before it. Tests are made in rows, one not waiting
// for what another found.
static void leaf_pairs(const Walk* w, int leaf, const int* others, int count, PairList* out) {
    const CapsuleTree* tree = w->tree;
    const TreeLevel* pieces = &tree->level[0];
    int piece[BLOCK * ROW + BLOCK]; // other leaf times eight, plus a piece of this one
    int row = 0;
    for (int i = 0; i < count; ++i) {
        int other = others[i];
        TravelQuery hull = query_of(w, 1, other);
        unsigned bits = near_block(w, 0, leaf, &hull) & used(pieces, leaf);
        row += expand(bits, other * BLOCK, piece + row);
    }
    for (int i = 0; i < row; ++i) {
        int other = piece[i] / BLOCK, k = piece[i] % BLOCK;
        TravelQuery c = query_of(w, 0, leaf * BLOCK + k);
        unsigned near = near_block(w, 0, other, &c) & used(pieces, other);
        near &= other == leaf ? ~0U << (k + 1) : ~0U;
        int p = tree->piece[leaf * BLOCK + k].element;
        for (; near != 0; near &= near - 1) {
            int q = tree->piece[other * BLOCK + __builtin_ctz(near)].element;
            uint64_t pair = pair_of(p, q);
            if (p != q && (out->count == 0 || out->pair[out->count - 1] != pair) &&
                broad_wants(w->in, p, q)) {
                pair_list_add(&tree->mem, out, pair);
            }
        }
    }
}

// Sends a leaf down from the root. The stack is in order of levels, the lowest on top: of each
// there are at most AT_ONCE blocks' children.
static void walk_leaf(const Walk* w, int leaf, PairList* out) {
    const CapsuleTree* tree = w->tree;
    TravelQuery hull = query_of(w, 1, leaf);
    int level[(AT_ONCE * MAX_LEVELS + 1) * BLOCK], block[(AT_ONCE * MAX_LEVELS + 1) * BLOCK];
    int leaves[ROW], leaf_count = 0, depth = 1;
    level[0] = tree->level_count - 1;
    block[0] = 0;
    while (depth > 0) {
        int taken = depth < AT_ONCE ? depth : AT_ONCE;
        int from[AT_ONCE], at[AT_ONCE];
        unsigned near[AT_ONCE];
        depth -= taken;
        for (int i = 0; i < taken; ++i) {
            from[i] = level[depth + i];
            at[i] = block[depth + i];
            const TreeLevel* l = &tree->level[from[i]];
            near[i] = near_block(w, from[i], at[i], &hull) & used(l, at[i]);

            // only capsules that hold the leaf itself or later ones
            int first = (leaf >> (3 * (from[i] - 1))) - at[i] * BLOCK;
            near[i] &= first > 0 ? ~0U << first : ~0U;
        }
        for (int i = 0; i < taken; ++i) {
            if (from[i] == 1) {
                leaf_count += expand(near[i], at[i] * BLOCK, leaves + leaf_count);
                continue;
            }
            int count = expand(near[i], at[i] * BLOCK, block + depth);
            for (int k = 0; k < count; ++k) {
                level[depth + k] = from[i] - 1;
            }
            depth += count;
        }
        if (leaf_count > ROW - (AT_ONCE + 1) * BLOCK || depth == 0) {
            leaf_pairs(w, leaf, leaves, leaf_count, out);
            leaf_count = 0;
        }
    }
}

static void walk_task(void* user, int index, int worker) {
    const Walk* w = user;
    PairList* out = &w->tree->parts.part[worker];
    int leaves = w->tree->level[1].count, end = (index + 1) * WALK_LEAVES;
    for (int leaf = index * WALK_LEAVES; leaf < end && leaf < leaves; ++leaf) {
        walk_leaf(w, leaf, out);
    }
}

TdlStatus capsule_tree_walk(CapsuleTree* tree, Pool* pool, const BroadInput* in, PairList* out) {
    Walk walk = {
        .tree = tree, .in = in, .thin = broad_thin(in->thinnest), .travels = in->travel != NULL};
    for (int k = 0; k < BLOCK; ++k) {
        walk.margin[k] = capsule_limit(in->margin);
    }
    if (!pair_parts_start(&tree->mem, &tree->parts, pool_thread_count(pool))) {
        return TDL_STATUS_NO_MEMORY;
    }
    int tasks = (tree->level[1].count + WALK_LEAVES - 1) / WALK_LEAVES;
    pool_run(pool, tasks, 1, walk_task, &walk);
    return pair_parts_join(&tree->mem, &tree->parts, out) ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}
