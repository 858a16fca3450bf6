// A tree of capsules over pieces of elements.
//
// Boxes along the axes are wide about a slanted fibre: in a wisp every element's box meets every
// other's at its height. A capsule about a bundle of neighbouring pieces stays thin. A straight
// element is one piece, a bent one up to eight. Building splits along the mean direction of a
// node's pieces or across it, where their centres are spread most for their size, so that leaves
// are bundles of eight. The left part of a split is full, so that every eight capsules in a row
// have one parent and no links are stored. The order is kept from call to call; capsules are
// refitted from the leaves up. It is built again when they have grown too fat.
// docs/theory/distance.md, section 6
#include "detect/tree.h"

#include "math/rotation.h"

// Growth of the summed radii after which the tree is built again.
static const double STALE = 1.3;

// Sub-capsules are joined while the radius, with half the margin, grows by no more than this.
static const double JOIN_GROWTH = 1.6;

// Ranges of pieces that are sorted side by side, and blocks that are refitted in one go.
enum { BUILD_TASKS = 32, REFIT_BLOCKS = 32 };

TdlStatus capsule_tree_create(const TdlHost* host, CapsuleTree** out) {
    CapsuleTree* tree = tdl_alloc_zero(&host->mem, sizeof *tree);
    if (tree == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    tree->mem = host->mem;
    *out = tree;
    return TDL_STATUS_OK;
}

static void clear(CapsuleTree* tree) {
    pair_parts_free(&tree->mem, &tree->parts);
    void* arrays[] = {tree->piece, tree->blocks, tree->travels, tree->cut,
                      tree->shape, tree->key,    tree->order};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) {
        tdl_free(&tree->mem, arrays[i]);
    }
    *tree = (CapsuleTree){.mem = tree->mem};
}

void capsule_tree_destroy(CapsuleTree* tree) {
    if (tree != NULL) {
        clear(tree);
        TdlAllocator mem = tree->mem;
        tdl_free(&mem, tree);
    }
}

// --- fitting
// --------------------------------------------------------------------------------------

typedef struct Ends {
    TdlVec3 p[2]; // ends of a capsule's axis
    double radius;
} Ends;

static Ends capsule_ends(const Capsule* n) {
    TdlVec3 m = {(double)n->c[0], (double)n->c[1], (double)n->c[2]};
    TdlVec3 u = {(double)n->u[0], (double)n->u[1], (double)n->u[2]};
    return (Ends){{tdl_sub3(m, u), tdl_add3(m, u)}, (double)n->radius};
}

// A capsule about others: the axis along the sum of their axes, through the mean of their centres;
// the radius is the largest distance of an end from that axis, plus its radius. A capsule is
// convex, so it holds the others when it holds the balls about their ends.
static Capsule fit(const Ends* ends, int count) {
    TdlVec3 axis = {0}, middle = {0};
    for (int i = 0; i < count; ++i) {
        TdlVec3 d = tdl_sub3(ends[i].p[1], ends[i].p[0]);
        axis = tdl_axpy3(axis, tdl_dot3(axis, d) < 0.0 ? -1.0 : 1.0, d);
        middle = tdl_add3(middle, tdl_add3(ends[i].p[0], ends[i].p[1]));
    }
    double length = tdl_norm3(axis);
    axis = tdl_scale3(length > 0.0 ? 1.0 / length : 0.0, axis);
    middle = tdl_scale3(0.5 / count, middle);
    double low = 0.0, high = 0.0, radius = 0.0;
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < 2; ++k) {
            TdlVec3 r = tdl_sub3(ends[i].p[k], middle);
            double along = tdl_dot3(axis, r);
            double away = tdl_norm3(tdl_axpy3(r, -along, axis)) + ends[i].radius;
            low = along < low ? along : low;
            high = along > high ? along : high;
            radius = away > radius ? away : radius;
        }
    }
    TdlVec3 centre = tdl_axpy3(middle, 0.5 * (low + high), axis);
    TdlVec3 half = tdl_scale3(0.5 * (high - low), axis);
    // the rounding of centre and half axis
    double size = tdl_norm3(centre) + 0.5 * (high - low);
    radius = (radius + 4.0 * FLT_EPSILON * size) * (1.0 + 4.0 * FLT_EPSILON);
    const float c[3] = {(float)centre.x, (float)centre.y, (float)centre.z};
    const float u[3] = {(float)half.x, (float)half.y, (float)half.z};
    return capsule_make(c, u, (float)radius);
}

// A capsule about a run of sub-capsules. What single precision cannot hold is everywhere.
static Capsule piece_capsule(const BroadInput* in, int element, int first, int count) {
    const TdlCurveCapsules* c = &in->capsules[element];
    if (count == 1 || !isfinite(c->reach)) {
        return capsule_of_part(c, first);
    }
    Ends ends[BLOCK];
    for (int i = 0; i < count; ++i) {
        int k = first + i;
        TdlVec3 m = {(double)c->cx[k], (double)c->cy[k], (double)c->cz[k]};
        TdlVec3 u = {(double)c->ux[k], (double)c->uy[k], (double)c->uz[k]};
        double radius = (double)(c->radius[k] + c->error);
        ends[i] = (Ends){{tdl_sub3(m, u), tdl_add3(m, u)}, radius};
    }
    return fit(ends, count);
}

// The bounds of parts [first, first + count) become those of capsule k of a block above.
static void travel_join(const Travel* below, int first, int count, Travel* t, int k) {
    for (int axis = 0; axis < 3; ++axis) {
        float lo = INFINITY, hi = -INFINITY;
        for (int i = first; i < first + count; ++i) {
            lo = below->lo[axis][i] < lo ? below->lo[axis][i] : lo;
            hi = below->hi[axis][i] > hi ? below->hi[axis][i] : hi;
        }
        t->lo[axis][k] = lo;
        t->hi[axis][k] = hi;
    }
}

// The capsules of a block of pieces.
static void refit_pieces(CapsuleTree* tree, const BroadInput* in, int index) {
    int end = (index + 1) * BLOCK < tree->piece_count ? (index + 1) * BLOCK : tree->piece_count;
    for (int i = index * BLOCK; i < end; ++i) {
        const Piece* p = &tree->piece[i];
        Capsule c = piece_capsule(in, p->element, p->first, p->count);
        block_set(&tree->level[0].block[index], i % BLOCK, c);
        if (in->travel != NULL) {
            Travel* own = &tree->level[0].travel[index];
            travel_join(&in->travel[p->element], p->first, p->count, own, i % BLOCK);
        }
    }
}

// One capsule about a block of the level below.
static void refit_parent(CapsuleTree* tree, const BroadInput* in, int level, int index) {
    const TreeLevel* below = &tree->level[level - 1];
    int count = below->count - index * BLOCK < BLOCK ? below->count - index * BLOCK : BLOCK;
    Ends ends[BLOCK];
    for (int k = 0; k < count; ++k) {
        Capsule c = block_get(&below->block[index], k);
        ends[k] = capsule_ends(&c);
    }
    CapsuleBlock* own = &tree->level[level].block[index / BLOCK];
    block_set(own, index % BLOCK, fit(ends, count));
    if (in->travel != NULL) {
        Travel* travel = &tree->level[level].travel[index / BLOCK];
        travel_join(&below->travel[index], 0, count, travel, index % BLOCK);
    }
}

typedef struct Range {
    int first, end; // pieces
} Range;

typedef struct TreeTask {
    CapsuleTree* tree;
    const BroadInput* in;
    Range range[BUILD_TASKS];
} TreeTask;

static void refit_task(void* user, int index, int worker) {
    (void)worker;
    const TreeTask* task = user;
    CapsuleTree* tree = task->tree;
    int leaves = tree->level[1].count, end = (index + 1) * REFIT_BLOCKS;
    for (int i = index * REFIT_BLOCKS; i < end && i < leaves; ++i) {
        refit_pieces(tree, task->in, i);
        refit_parent(tree, task->in, 1, i);
    }
}

// From the pieces to the root. Returns the summed radii of the levels above the pieces.
static double refit(CapsuleTree* tree, Pool* pool, const BroadInput* in) {
    TreeTask task = {.tree = tree, .in = in};
    int leaves = tree->level[1].count;
    pool_run(pool, (leaves + REFIT_BLOCKS - 1) / REFIT_BLOCKS, 1, refit_task, &task);
    double sum = 0.0;
    for (int level = 1; level < tree->level_count; ++level) {
        for (int i = 0; i < tree->level[level].count; ++i) {
            if (level > 1) {
                refit_parent(tree, in, level, i);
            }
            sum += (double)tree->level[level].block[i / BLOCK].radius[i % BLOCK];
        }
    }
    return sum;
}

// --- building
// -------------------------------------------------------------------------------------

// Into how many pieces an element is cut.
static int pieces_of(const BroadInput* in, int element) {
    const TdlCurveCapsules* c = &in->capsules[element];
    if (!isfinite(c->reach)) {
        return 1;
    }
    double least = 0.0;
    for (int k = 0; k < BLOCK; ++k) {
        least = fmax(least, (double)(c->radius[k] + c->error));
    }
    double most = JOIN_GROWTH * (least + 0.5 * in->margin) - 0.5 * in->margin;
    for (int pieces = 1; pieces < BLOCK; pieces *= 2) {
        double radius = 0.0;
        for (int k = 0; k < pieces; ++k) {
            int run = BLOCK / pieces;
            radius = fmax(radius, (double)piece_capsule(in, element, k * run, run).radius);
        }
        if (radius <= most) {
            return pieces;
        }
    }
    return BLOCK;
}

static bool reserve(CapsuleTree* tree, int count) {
    if (count <= tree->capacity) {
        return true;
    }
    clear(tree);
    size_t n = (size_t)count, blocks = n / 7 + MAX_LEVELS;
    tree->piece = tdl_alloc_array(&tree->mem, n, sizeof *tree->piece);
    tree->blocks = tdl_alloc_array(&tree->mem, blocks, sizeof *tree->blocks);
    tree->travels = tdl_alloc_array(&tree->mem, blocks, sizeof *tree->travels);
    tree->cut = tdl_alloc_array(&tree->mem, n, sizeof *tree->cut);
    tree->shape = tdl_alloc_array(&tree->mem, n, sizeof *tree->shape);
    tree->key = tdl_alloc_array(&tree->mem, n, sizeof *tree->key);
    tree->order = tdl_alloc_array(&tree->mem, n, sizeof *tree->order);
    if (tree->piece == NULL || tree->blocks == NULL || tree->travels == NULL || tree->cut == NULL ||
        tree->shape == NULL || tree->key == NULL || tree->order == NULL) {
        clear(tree);
        return false;
    }
    tree->capacity = count;
    return true;
}

// Cuts the elements; false when memory runs out.
static bool cut_elements(CapsuleTree* tree, const BroadInput* in) {
    // at most eight each: room for all, so that a later cut does not need more
    if (!reserve(tree, in->count * BLOCK)) {
        return false;
    }
    int count = 0;
    for (int i = 0; i < in->count; ++i) {
        int pieces = pieces_of(in, i), run = BLOCK / pieces;
        for (int k = 0; k < pieces; ++k) {
            tree->cut[count] = (Piece){i, (short)(k * run), (short)run};
            tree->shape[count] = piece_capsule(in, i, k * run, run);
            tree->order[count] = count;
            ++count;
        }
    }
    tree->piece_count = count;
    return true;
}

// The levels over the pieces, up to one of a single block. There is always one above the pieces.
static void lay_out_levels(CapsuleTree* tree) {
    int next = 0;
    tree->level_count = 0;
    for (int count = tree->piece_count;; count = (count + BLOCK - 1) / BLOCK) {
        tree->level[tree->level_count++] =
            (TreeLevel){count, tree->blocks + next, tree->travels + next};
        next += (count + BLOCK - 1) / BLOCK;
        if (count <= BLOCK && tree->level_count > 1) {
            return;
        }
    }
}

static void swap_pieces(CapsuleTree* tree, int i, int j) {
    float key = tree->key[i];
    int piece = tree->order[i];
    tree->key[i] = tree->key[j];
    tree->order[i] = tree->order[j];
    tree->key[j] = key;
    tree->order[j] = piece;
}

// Moves the pieces in [low, high] so that those before `middle` have keys no larger than the rest.
static void select_middle(CapsuleTree* tree, int low, int high, int middle) {
    const float* key = tree->key;
    while (low < high) {
        float pivot = key[low + (high - low) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (key[i] < pivot) {
                ++i;
            }
            while (key[j] > pivot) {
                --j;
            }
            if (i <= j) {
                swap_pieces(tree, i++, j--);
            }
        }
        if (middle <= j) {
            high = j;
        } else if (middle >= i) {
            low = i;
        } else {
            return;
        }
    }
}

// The direction in which to split: the mean of the pieces' own or one across it, by the spread of
// the centres over the size of a piece.
static TdlVec3 split_direction(const CapsuleTree* tree, int first, int count, double margin) {
    TdlVec3 mean = {0};
    for (int i = first; i < first + count; ++i) {
        const float* u = tree->shape[tree->order[i]].u;
        TdlVec3 v = {(double)u[0], (double)u[1], (double)u[2]};
        mean = tdl_axpy3(mean, tdl_dot3(mean, v) < 0.0 ? -1.0 : 1.0, v);
    }
    TdlMat3 frame = tdl_norm3(mean) > 0.0 ? tdl_frame_from_tangent(tdl_unit3(mean))
                                          : (TdlMat3){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const TdlVec3 axis[3] = {frame.cx, frame.cy, frame.cz};
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double size[3] = {0.0, 0.0, 0.0}, radius = 0.0;
    for (int i = first; i < first + count; ++i) {
        const Capsule* s = &tree->shape[tree->order[i]];
        TdlVec3 c = {(double)s->c[0], (double)s->c[1], (double)s->c[2]};
        TdlVec3 u = {(double)s->u[0], (double)s->u[1], (double)s->u[2]};
        for (int k = 0; k < 3; ++k) {
            double x = tdl_dot3(axis[k], c);
            low[k] = x < low[k] ? x : low[k];
            high[k] = x > high[k] ? x : high[k];
            size[k] += fabs(tdl_dot3(axis[k], u));
        }
        radius += isfinite(s->radius) ? (double)s->radius : 0.0;
    }
    int best = 0;
    double most = -1.0;
    for (int k = 0; k < 3; ++k) {
        double ratio = (high[k] - low[k]) / (size[k] + radius + count * (0.5 * margin + DBL_MIN));
        if (ratio > most) {
            most = ratio;
            best = k;
        }
    }
    return axis[best];
}

// Splits a range of pieces in two and returns where: the left part fills a power of two of leaves.
static int split_range(CapsuleTree* tree, Range r, double margin) {
    int leaves = (r.end - r.first + BLOCK - 1) / BLOCK, left = 1;
    while (2 * left < leaves) {
        left *= 2;
    }
    TdlVec3 axis = split_direction(tree, r.first, r.end - r.first, margin);
    for (int i = r.first; i < r.end; ++i) {
        const float* c = tree->shape[tree->order[i]].c;
        TdlVec3 centre = {(double)c[0], (double)c[1], (double)c[2]};
        tree->key[i] = (float)tdl_dot3(axis, centre);
    }
    int middle = r.first + left * BLOCK;
    select_middle(tree, r.first, r.end - 1, middle);
    return middle;
}

static void sort_range(CapsuleTree* tree, Range r, double margin) {
    if (r.end - r.first > BLOCK) {
        int middle = split_range(tree, r, margin);
        sort_range(tree, (Range){r.first, middle}, margin);
        sort_range(tree, (Range){middle, r.end}, margin);
    }
}

static void sort_task(void* user, int index, int worker) {
    (void)worker;
    const TreeTask* task = user;
    sort_range(task->tree, task->range[index], task->in->margin);
}

static bool build(CapsuleTree* tree, Pool* pool, const BroadInput* in) {
    tree->element_count = 0;
    if (!cut_elements(tree, in)) {
        return false;
    }
    lay_out_levels(tree);

    // the widest range in two until there are enough, then all side by side
    TreeTask task = {.tree = tree, .in = in, .range = {{0, tree->piece_count}}};
    int count = 1;
    for (; count < BUILD_TASKS; ++count) {
        int widest = 0;
        for (int i = 1; i < count; ++i) {
            const Range *r = &task.range[i], *w = &task.range[widest];
            widest = r->end - r->first > w->end - w->first ? i : widest;
        }
        Range r = task.range[widest];
        if (r.end - r.first <= BLOCK) {
            break;
        }
        int middle = split_range(tree, r, in->margin);
        task.range[widest] = (Range){r.first, middle};
        task.range[count] = (Range){middle, r.end};
    }
    pool_run(pool, count, 1, sort_task, &task);

    // the pieces themselves in the order found
    for (int i = 0; i < tree->piece_count; ++i) {
        tree->piece[i] = tree->cut[tree->order[i]];
    }
    tree->element_count = in->count;
    return true;
}

TdlStatus capsule_tree_pairs(CapsuleTree* tree, Pool* pool, const BroadInput* in, PairList* out) {
    out->count = 0;
    if (in->count == 0) {
        return TDL_STATUS_OK;
    }
    bool kept = tree->element_count == in->count;
    if (kept) {
        kept = refit(tree, pool, in) < STALE * tree->fresh_size;
    }
    if (!kept) {
        if (!build(tree, pool, in)) {
            return TDL_STATUS_NO_MEMORY;
        }
        tree->fresh_size = refit(tree, pool, in);
    }
    return capsule_tree_walk(tree, pool, in, out);
}
