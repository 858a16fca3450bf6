// The pairs of a tree of capsules: every leaf is sent down from the root, tested against the eight
// capsules of a block at once, to the leaves after it. Leaves are shared out in runs whose results
// are joined in order, so that they do not depend on the number of threads.
#include "detect/tree.h"

#include "detect/capsules.h"

static inline float clamp1(float x) {
    float low = x < -1.0F ? -1.0F : x;
    return low > 1.0F ? 1.0F : low;
}

// Whether capsules c, u and d, v may come within `size`, the sum of radii and margin: the support
// along a near-best direction, as in (X.16), whose rounding is covered by `error`; written so that
// a loop over many is made wide. What is not a number meets.
static inline int capsules_meet(float cx, float cy, float cz, float ux, float uy, float uz,
                                float dx, float dy, float dz, float vx, float vy, float vz,
                                float size) {
    float rx = cx - dx, ry = cy - dy, rz = cz - dz;
    float uu = (ux * ux + uy * uy) + uz * uz, vv = (vx * vx + vy * vy) + vz * vz;
    float uv = (ux * vx + uy * vy) + uz * vz, rr = (rx * rx + ry * ry) + rz * rz;
    float ru = (rx * ux + ry * uy) + rz * uz, rv = (rx * vx + ry * vy) + rz * vz;
    float det = uu * vv - uv * uv, least = CAPSULE_LEAST_DET * (uu * vv) + FLT_MIN;
    det = det > least ? det : least;
    float x = clamp1((uv * rv - vv * ru) / det);
    float y = clamp1((uv * x + rv) / (vv + FLT_MIN));
    x = clamp1((uv * y - ru) / (uu + FLT_MIN));
    float nx = (rx + x * ux) - y * vx, ny = (ry + x * uy) - y * vy, nz = (rz + x * uz) - y * vz;
    float length = sqrtf((nx * nx + ny * ny) + nz * nz);
    float error = 32.0F * FLT_EPSILON * sqrtf(rr + (uu + vv));
    float nr = (nx * rx + ny * ry) + nz * rz;
    float gap = (nr - fabsf((nx * ux + ny * uy) + nz * uz)) - fabsf((nx * vx + ny * vy) + nz * vz);
    return !(gap > (size + error) * length);
}

typedef struct Walk {
    CapsuleTree* tree;
    const BroadInput* in;
    float margin;
} Walk;

// The capsules of a block: the last may not be full.
static unsigned used(const TreeLevel* level, int block) {
    int count = level->count - block * BLOCK;
    return count < BLOCK ? (1U << count) - 1U : 0xffU;
}

// Bit k: the k-th capsule of the block may come within the margin of c.
static unsigned block_near(const CapsuleBlock* b, const Capsule* c, float margin) {
    int meets[BLOCK];
    for (int k = 0; k < BLOCK; ++k) {
        meets[k] = capsules_meet(b->cx[k], b->cy[k], b->cz[k], b->ux[k], b->uy[k], b->uz[k],
                                 c->c[0], c->c[1], c->c[2], c->u[0], c->u[1], c->u[2],
                                 (b->radius[k] + c->radius) + margin);
    }
    unsigned bits = 0;
    for (int k = 0; k < BLOCK; ++k) {
        bits |= (unsigned)meets[k] << k;
    }
    return bits;
}

// The pairs of pieces of two leaves.
static void leaf_pairs(const Walk* w, int i, int j, PairList* out) {
    const CapsuleTree* tree = w->tree;
    const CapsuleBlock *a = &tree->level[0].block[i], *b = &tree->level[0].block[j];
    unsigned left = used(&tree->level[0], i), others = used(&tree->level[0], j);
    if (i != j) {
        Capsule hull = block_get(&tree->level[1].block[j / BLOCK], j % BLOCK);
        left &= block_near(a, &hull, w->margin);
    }
    for (; left != 0; left &= left - 1) {
        int k = __builtin_ctz(left), p = tree->piece[i * BLOCK + k].element;
        Capsule c = block_get(a, k);
        unsigned near = block_near(b, &c, w->margin) & others;
        near &= i == j ? ~0U << (k + 1) : ~0U;
        for (; near != 0; near &= near - 1) {
            int q = tree->piece[j * BLOCK + __builtin_ctz(near)].element;
            if (p == q || !broad_wants(w->in, p, q)) {
                continue;
            }
            uint64_t pair = pair_of(p, q);
            if (out->count == 0 || out->pair[out->count - 1] != pair) {
                pair_list_add(&tree->mem, out, pair);
            }
        }
    }
}

// Sends a leaf down from the root.
static void walk_leaf(const Walk* w, int leaf, PairList* out) {
    const CapsuleTree* tree = w->tree;
    Capsule hull = block_get(&tree->level[1].block[leaf / BLOCK], leaf % BLOCK);
    struct {
        int level, block;
    } stack[BLOCK * MAX_LEVELS];
    int depth = 0;
    stack[depth].level = tree->level_count - 1;
    stack[depth++].block = 0;
    while (depth > 0) {
        --depth;
        int level = stack[depth].level, block = stack[depth].block;
        const TreeLevel* l = &tree->level[level];
        unsigned near = block_near(&l->block[block], &hull, w->margin) & used(l, block);

        // only capsules that hold the leaf itself or later ones
        int first = (leaf >> (3 * (level - 1))) - block * BLOCK;
        near &= first > 0 ? ~0U << first : ~0U;
        for (; near != 0; near &= near - 1) {
            int child = block * BLOCK + __builtin_ctz(near);
            if (level == 1) {
                leaf_pairs(w, leaf, child, out);
            } else {
                stack[depth].level = level - 1;
                stack[depth++].block = child;
            }
        }
    }
}

static void walk_task(void* user, int index, int worker) {
    (void)worker;
    const Walk* w = user;
    PairList* out = &w->tree->part[index];
    out->count = 0;
    out->failed = false;
    int leaves = w->tree->level[1].count, end = (index + 1) * WALK_LEAVES;
    for (int leaf = index * WALK_LEAVES; leaf < end && leaf < leaves; ++leaf) {
        walk_leaf(w, leaf, out);
    }
}

TdlStatus capsule_tree_walk(CapsuleTree* tree, Pool* pool, const BroadInput* in, PairList* out) {
    Walk walk = {tree, in, capsule_limit(in->margin)};
    int tasks = (tree->level[1].count + WALK_LEAVES - 1) / WALK_LEAVES;
    pool_run(pool, tasks, 1, walk_task, &walk);
    for (int p = 0; p < tasks; ++p) {
        pair_list_join(&tree->mem, out, &tree->part[p]);
    }
    return !out->failed && pair_list_sort(&tree->mem, out) ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}
