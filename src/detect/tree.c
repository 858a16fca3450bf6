// A tree of capsules over the sub-capsules of all elements.
//
// Boxes along the axes are wide about a slanted fibre: in a wisp every element's box meets every
// other's at its height. A capsule about a bundle of neighbouring pieces stays thin. Topology is
// built by median splits and kept from call to call; capsules are refitted from the leaves up. It
// is built again when the nodes have grown too fat. Pairs come from walking the tree against
// itself; the walk is cut into tasks whose results are joined in order.
#include "detect/broad.h"
#include "detect/search.h"

#include <float.h>
#include <stdlib.h>

enum { PIECES = 8, LEAF_PIECES = 4, TASK_TARGET = 512, MAX_DEPTH = 64 };

// Growth of the summed radii after which the tree is built again.
static const double STALE = 1.5;

typedef struct CapsuleNode {
    float c[3], u[3]; // centre and half axis
    float radius;     // m, outwards rounded
    int first, count; // pieces, in tree order
    int left;         // first child; the second follows. 0: leaf
} CapsuleNode;

typedef struct NodePair {
    int a, b;
} NodePair;

struct CapsuleTree {
    TdlAllocator mem;
    int piece_count, node_count;
    int* piece; // in tree order: 8 element + sub-capsule
    CapsuleNode* node;
    double fresh_size; // summed radii when built
    NodePair* task;
    int task_count, task_capacity;
    PairList* part; // [task_capacity]
};

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
    for (int i = 0; i < tree->task_capacity; ++i) {
        pair_list_free(&tree->mem, &tree->part[i]);
    }
    tdl_free(&tree->mem, tree->piece);
    tdl_free(&tree->mem, tree->node);
    tdl_free(&tree->mem, tree->task);
    tdl_free(&tree->mem, tree->part);
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

static Ends piece_ends(const BroadInput* in, int piece) {
    const TdlCurveCapsules* c = &in->capsules[piece / PIECES];
    int k = piece % PIECES;
    TdlVec3 m = {(double)c->cx[k], (double)c->cy[k], (double)c->cz[k]};
    TdlVec3 u = {(double)c->ux[k], (double)c->uy[k], (double)c->uz[k]};
    double radius = isfinite(c->reach) ? (double)(c->radius[k] + c->error) : INFINITY;
    return (Ends){{tdl_sub3(m, u), tdl_add3(m, u)}, radius};
}

static Ends node_ends(const CapsuleNode* n) {
    TdlVec3 m = {(double)n->c[0], (double)n->c[1], (double)n->c[2]};
    TdlVec3 u = {(double)n->u[0], (double)n->u[1], (double)n->u[2]};
    return (Ends){{tdl_sub3(m, u), tdl_add3(m, u)}, (double)n->radius};
}

// A capsule about others: the axis along the sum of their axes, through the mean of their centres;
// the radius is the largest distance of an end from that axis, plus its radius. A capsule is
// convex, so it holds the others when it holds the balls about their ends.
static void fit(CapsuleNode* node, const Ends* ends, int count) {
    TdlVec3 axis = {0}, middle = {0};
    for (int i = 0; i < count; ++i) {
        TdlVec3 d = tdl_sub3(ends[i].p[1], ends[i].p[0]);
        axis = tdl_axpy3(axis, tdl_dot3(axis, d) < 0.0 ? -1.0 : 1.0, d);
        middle = tdl_add3(middle, tdl_add3(ends[i].p[0], ends[i].p[1]));
    }
    axis = tdl_unit3(axis);
    middle = tdl_scale3(0.5 / count, middle);
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < 2 * count; ++i) {
        double along = tdl_dot3(axis, tdl_sub3(ends[i / 2].p[i % 2], middle));
        low = fmin(low, along);
        high = fmax(high, along);
    }
    TdlVec3 centre = tdl_axpy3(middle, 0.5 * (low + high), axis);
    TdlVec3 half = tdl_scale3(0.5 * (high - low), axis);
    *node = (CapsuleNode){.c = {(float)centre.x, (float)centre.y, (float)centre.z},
                          .u = {(float)half.x, (float)half.y, (float)half.z},
                          .first = node->first,
                          .count = node->count,
                          .left = node->left};
    double radius = 0.0;
    for (int i = 0; i < 2 * count; ++i) {
        TdlVec3 r = tdl_sub3(ends[i / 2].p[i % 2], middle);
        TdlVec3 across = tdl_axpy3(r, -tdl_dot3(axis, r), axis);
        radius = fmax(radius, tdl_norm3(across) + ends[i / 2].radius);
    }
    // the rounding of centre and half axis
    double size = tdl_norm3(centre) + tdl_norm3(half);
    node->radius = (float)((radius + 4.0 * FLT_EPSILON * size) * (1.0 + 4.0 * FLT_EPSILON));
}

static void fit_leaf(CapsuleTree* tree, const BroadInput* in, CapsuleNode* node) {
    Ends ends[LEAF_PIECES];
    for (int i = 0; i < node->count; ++i) {
        ends[i] = piece_ends(in, tree->piece[node->first + i]);
    }
    fit(node, ends, node->count);
}

// From the last node to the root: children come after their parent. Returns the summed radii.
static double refit(CapsuleTree* tree, const BroadInput* in) {
    double sum = 0.0;
    for (int n = tree->node_count - 1; n >= 0; --n) {
        CapsuleNode* node = &tree->node[n];
        if (node->left == 0) {
            fit_leaf(tree, in, node);
        } else {
            Ends ends[2] = {node_ends(&tree->node[node->left]),
                            node_ends(&tree->node[node->left + 1])};
            fit(node, ends, 2);
        }
        sum += (double)node->radius;
    }
    return sum;
}

// --- building
// -------------------------------------------------------------------------------------

static float piece_centre(const BroadInput* in, int piece, int axis) {
    const TdlCurveCapsules* c = &in->capsules[piece / PIECES];
    return (axis == 0 ? c->cx : axis == 1 ? c->cy : c->cz)[piece % PIECES];
}

// Moves the pieces so that the middle one is in its place along the axis, smaller ones before it.
// Ties are told apart by the piece's number: the order is one and the same.
static void select_middle(const BroadInput* in, int* piece, int count, int axis) {
    int low = 0, high = count - 1, middle = count / 2;
    while (low < high) {
        int pivot = piece[(low + high) / 2];
        float x = piece_centre(in, pivot, axis);
        int i = low, j = high;
        while (i <= j) {
            for (;; ++i) {
                float y = piece_centre(in, piece[i], axis);
                if (!(y < x || (y == x && piece[i] < pivot))) {
                    break;
                }
            }
            for (;; --j) {
                float y = piece_centre(in, piece[j], axis);
                if (!(y > x || (y == x && piece[j] > pivot))) {
                    break;
                }
            }
            if (i <= j) {
                int swap = piece[i];
                piece[i++] = piece[j];
                piece[j--] = swap;
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

static int widest_axis(const BroadInput* in, const int* piece, int count) {
    int best = 0;
    float widest = -1.0F;
    for (int axis = 0; axis < 3; ++axis) {
        float low = INFINITY, high = -INFINITY;
        for (int i = 0; i < count; ++i) {
            float x = piece_centre(in, piece[i], axis);
            low = fminf(low, x);
            high = fmaxf(high, x);
        }
        if (high - low > widest) {
            widest = high - low;
            best = axis;
        }
    }
    return best;
}

static bool build(CapsuleTree* tree, const BroadInput* in) {
    clear(tree);
    int count = in->count * PIECES;
    tree->piece = tdl_alloc_array(&tree->mem, (size_t)count, sizeof *tree->piece);
    tree->node = tdl_alloc_array(&tree->mem, (size_t)(2 * count), sizeof *tree->node);
    tree->task_capacity = 4 * TASK_TARGET;
    tree->task = tdl_alloc_array(&tree->mem, (size_t)tree->task_capacity, sizeof *tree->task);
    tree->part = tdl_alloc_array(&tree->mem, (size_t)tree->task_capacity, sizeof *tree->part);
    if (tree->piece == NULL || tree->node == NULL || tree->task == NULL || tree->part == NULL) {
        tree->task_capacity = tree->part == NULL ? 0 : tree->task_capacity;
        clear(tree);
        return false;
    }
    for (int i = 0; i < count; ++i) {
        tree->piece[i] = i;
    }
    tree->piece_count = count;
    tree->node[0] = (CapsuleNode){.first = 0, .count = count};
    tree->node_count = 1;
    for (int n = 0; n < tree->node_count; ++n) {
        CapsuleNode* node = &tree->node[n];
        if (node->count <= LEAF_PIECES) {
            continue;
        }
        int* piece = tree->piece + node->first;
        select_middle(in, piece, node->count, widest_axis(in, piece, node->count));
        int half = node->count / 2;
        node->left = tree->node_count;
        tree->node[tree->node_count++] = (CapsuleNode){.first = node->first, .count = half};
        tree->node[tree->node_count++] =
            (CapsuleNode){.first = node->first + half, .count = node->count - half};
    }
    return true;
}

// --- walking
// --------------------------------------------------------------------------------------

static float dot3f(const float* a, const float* b) {
    return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

static float clamp1f(float x) {
    return x < -1.0F ? -1.0F : x > 1.0F ? 1.0F : x;
}

// True when the capsules may come within the margin: the support along a near-best direction, as
// in (X.16), whose rounding is covered by `error`.
static bool capsules_meet(const float* ca, const float* ua, float ra, const float* cb,
                          const float* ub, float rb, float margin) {
    float r[3] = {ca[0] - cb[0], ca[1] - cb[1], ca[2] - cb[2]};
    float uu = dot3f(ua, ua), vv = dot3f(ub, ub), uv = dot3f(ua, ub);
    float rr = dot3f(r, r), size = (ra + rb) + margin;
    // the enclosing balls first: (|r| > size + |u| + |v|) follows from its square
    float balls = 3.0F * (size * size + (uu + vv)) * 1.00001F;
    if (rr > balls) {
        return false;
    }
    float ru = dot3f(r, ua), rv = dot3f(r, ub);
    float det = uu * vv - uv * uv, least = 1.0e-6F * (uu * vv) + FLT_MIN;
    det = det > least ? det : least;
    float x = clamp1f((uv * rv - vv * ru) / det);
    float y = clamp1f((uv * x + rv) / (vv + FLT_MIN));
    x = clamp1f((uv * y - ru) / (uu + FLT_MIN));
    float n[3] = {r[0] + x * ua[0] - y * ub[0], r[1] + x * ua[1] - y * ub[1],
                  r[2] + x * ua[2] - y * ub[2]};
    float length = sqrtf(dot3f(n, n));
    float error = 16.0F * FLT_EPSILON * (sqrtf(rr) + sqrtf(uu) + sqrtf(vv));
    float gap = dot3f(n, r) - fabsf(dot3f(n, ua)) - fabsf(dot3f(n, ub));
    return !(gap > (size + error) * length);
}

typedef struct Walk {
    CapsuleTree* tree;
    const BroadInput* in;
    float margin;
} Walk;

static bool nodes_meet(const Walk* w, int a, int b) {
    const CapsuleNode *na = &w->tree->node[a], *nb = &w->tree->node[b];
    return capsules_meet(na->c, na->u, na->radius, nb->c, nb->u, nb->radius, w->margin);
}

static void leaf_pairs(const Walk* w, const CapsuleNode* a, const CapsuleNode* b, PairList* out) {
    for (int i = a->first; i < a->first + a->count; ++i) {
        int p = w->tree->piece[i], k = p % PIECES;
        const TdlCurveCapsules* c = &w->in->capsules[p / PIECES];
        float cp[3] = {c->cx[k], c->cy[k], c->cz[k]}, up[3] = {c->ux[k], c->uy[k], c->uz[k]};
        float radius = isfinite(c->reach) ? c->radius[k] + c->error : INFINITY;
        for (int j = a == b ? i + 1 : b->first; j < b->first + b->count; ++j) {
            int q = w->tree->piece[j], m = q % PIECES;
            uint64_t low = (uint64_t)(p < q ? p : q) / PIECES;
            uint64_t key = low << 32 | (uint64_t)(p < q ? q : p) / PIECES;
            if (!broad_wants(w->in, p / PIECES, q / PIECES) || p / PIECES == q / PIECES ||
                (out->count > 0 && out->pair[out->count - 1] == key)) {
                continue; // not wanted, or just seen
            }
            const TdlCurveCapsules* d = &w->in->capsules[q / PIECES];
            float cq[3] = {d->cx[m], d->cy[m], d->cz[m]}, uq[3] = {d->ux[m], d->uy[m], d->uz[m]};
            float other = isfinite(d->reach) ? d->radius[m] + d->error : INFINITY;
            if (capsules_meet(cp, up, radius, cq, uq, other, w->margin)) {
                pair_list_add(&w->tree->mem, out, p / PIECES, q / PIECES);
            }
        }
    }
}

// The node pairs below a pair that is known to meet: opened at its larger node.
static int open_pair(const Walk* w, NodePair p, NodePair out[4]) {
    const CapsuleNode *a = &w->tree->node[p.a], *b = &w->tree->node[p.b];
    int count = 0;
    if (p.a == p.b) {
        out[count++] = (NodePair){a->left, a->left};
        out[count++] = (NodePair){a->left + 1, a->left + 1};
        if (nodes_meet(w, a->left, a->left + 1)) {
            out[count++] = (NodePair){a->left, a->left + 1};
        }
        return count;
    }
    bool open_a = b->left == 0 || (a->left != 0 && a->count >= b->count);
    for (int k = 0; k < 2; ++k) {
        NodePair q = open_a ? (NodePair){a->left + k, p.b} : (NodePair){p.a, b->left + k};
        if (nodes_meet(w, q.a, q.b)) {
            out[count++] = q;
        }
    }
    return count;
}

static bool is_leaf_pair(const Walk* w, NodePair p) {
    return w->tree->node[p.a].left == 0 && w->tree->node[p.b].left == 0;
}

static void walk_task(void* user, int index, int worker) {
    (void)worker;
    const Walk* w = user;
    PairList* out = &w->tree->part[index];
    out->count = 0;
    NodePair stack[4 * MAX_DEPTH];
    int depth = 0;
    stack[depth++] = w->tree->task[index];
    while (depth > 0) {
        NodePair p = stack[--depth];
        if (is_leaf_pair(w, p)) {
            leaf_pairs(w, &w->tree->node[p.a], &w->tree->node[p.b], out);
        } else {
            depth += open_pair(w, p, stack + depth);
        }
    }
}

// Opens pairs breadth first until there are enough to share out.
static void make_tasks(const Walk* w) {
    CapsuleTree* tree = w->tree;
    tree->task[0] = (NodePair){0, 0};
    tree->task_count = 1;
    for (bool opened = true; opened && tree->task_count < TASK_TARGET;) {
        opened = false;
        int count = tree->task_count, kept = 0;
        NodePair next[4 * TASK_TARGET];
        for (int i = 0; i < count; ++i) {
            if (is_leaf_pair(w, tree->task[i])) {
                next[kept++] = tree->task[i];
            } else {
                kept += open_pair(w, tree->task[i], next + kept);
                opened = true;
            }
        }
        for (int i = 0; i < kept; ++i) {
            tree->task[i] = next[i];
        }
        tree->task_count = kept;
    }
}

TdlStatus capsule_tree_pairs(CapsuleTree* tree, Pool* pool, const BroadInput* in, PairList* out) {
    out->count = 0;
    if (in->count == 0) {
        return TDL_STATUS_OK;
    }
    bool kept = tree->piece_count == in->count * PIECES;
    if (kept) {
        kept = refit(tree, in) < STALE * tree->fresh_size;
    }
    if (!kept) {
        if (!build(tree, in)) {
            return TDL_STATUS_NO_MEMORY;
        }
        tree->fresh_size = refit(tree, in);
    }
    Walk walk = {tree, in, (float)(in->margin * (1.0 + 4.0 * FLT_EPSILON)) + FLT_MIN};
    make_tasks(&walk);
    pool_run(pool, tree->task_count, 1, walk_task, &walk);
    for (int p = 0; p < tree->task_count; ++p) {
        const PairList* part = &tree->part[p];
        for (long k = 0; k < part->count; ++k) {
            pair_list_add(&tree->mem, out, (int)(part->pair[k] >> 32),
                          (int)(part->pair[k] & 0xffffffffU));
        }
        out->failed = out->failed || part->failed;
    }
    return !out->failed && pair_list_sort(&tree->mem, out) ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}
