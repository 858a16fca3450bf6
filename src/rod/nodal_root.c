// A^-1 of nodal rods in halves, by rows that are short however many nodes there are.
//
// The coordinates of a rod are a chain of blocks, one node or two each, whose Cholesky factor in
// the order of a balanced tree (chain_root.h) makes of a place's row of H one on the way from its
// block to the root. What the angular momentum of a free rod adds to A^-1 has rank six: as many
// coordinates more, three of which count with the other sign. (D.20)
#include "math/dense.h"
#include "math/eigen.h"
#include "rod/nodal_work.h"

#include <string.h>

// Coordinates of z before those of the chain: q and p of (D.20), padded to a block.
enum { TURNING = CHAIN_BLOCK };

// --- layout ----------------------------------------------------------------------------------

// One node where two do not fit into a block: no element reaches beyond the next one.
static int block_size(const NodalKind* kind) {
    int stride = 3 + kind->edge_dofs;
    return 2 * stride <= CHAIN_BLOCK ? 2 * stride : stride;
}

static int block_count(const NodalKind* kind, int element_count) {
    int n = element_count * (3 + kind->edge_dofs) + 3, size = block_size(kind);
    return (n + size - 1) / size;
}

// Coordinates of the longest way, the turning's among them.
static int longest_list(int blocks) {
    int depth = 0;
    for (int left = blocks; left > 0; left /= 2) {
        ++depth;
    }
    return TURNING + CHAIN_BLOCK * depth;
}

static size_t list_doubles(int blocks) {
    size_t ints = (size_t)blocks * (size_t)longest_list(blocks);
    return (ints * sizeof(int) + sizeof(double) - 1) / sizeof(double);
}

size_t nodal_root_doubles(const NodalKind* kind, int element_count) {
    int blocks = block_count(kind, element_count);
    return chain_root_doubles(blocks) + (size_t)(CHAIN_BLOCK * blocks) + list_doubles(blocks);
}

// The parts of the rod's memory for it.
typedef struct Root {
    ChainRoot chain;
    double* room; // [CHAIN_BLOCK blocks]
    int* list;    // [blocks][longest] coordinates of z on the way to each
    int longest, size;
} Root;

static Root root_of(const Rod* rod, const NodalWork* w) {
    int blocks = block_count(nodal_kind(rod), rod->element_count);
    Root root = {.longest = longest_list(blocks), .size = block_size(nodal_kind(rod))};
    chain_root_find(&root.chain, blocks, w->root);
    root.room = w->root + chain_root_doubles(blocks);
    root.list = (int*)(root.room + (ptrdiff_t)CHAIN_BLOCK * blocks);
    return root;
}

static void plan(const NodalWork* w, Root* root) {
    ChainRoot* c = &root->chain;
    chain_root_plan(c, c->count, w->root);
    for (int block = 0; block < c->count; ++block) {
        int* list = root->list + (ptrdiff_t)root->longest * block;
        for (int k = 0; k < TURNING; ++k) {
            list[k] = k;
        }
        for (int b = block; b >= 0; b = c->parent[b]) {
            int at = TURNING + CHAIN_BLOCK * (c->depth[b] - 1);
            for (int k = 0; k < CHAIN_BLOCK; ++k) {
                list[at + k] = TURNING + CHAIN_BLOCK * c->place[b] + k;
            }
        }
    }
}

// --- the factor ------------------------------------------------------------------------------

// The symmetric root of a matrix that is not negative.
static TdlMat3 matrix_root(TdlMat3 a) {
    double values[3];
    TdlMat3 vectors, root = tdl_scale33(0.0, tdl_identity33());
    tdl_eigen_3(a, values, &vectors);
    const TdlVec3 axis[3] = {vectors.cx, vectors.cy, vectors.cz};
    for (int k = 0; k < 3; ++k) {
        root = tdl_axpy33(root, sqrt(fmax(values[k], 0.0)), tdl_outer3(axis[k], axis[k]));
    }
    return root;
}

static void find(Rod* rod) {
    NodalWork w = nodal_work(rod);
    Root root = root_of(rod, &w);
    if (!w.kept->planned) {
        plan(&w, &root);
        w.kept->planned = true;
    }
    w.kept->rooted = chain_root_factor(&root.chain, w.n, root.size, NODAL_WIDTH, w.whole);
    if (w.kept->rooted && nodal_is_free(rod)) {
        w.kept->lock_root = matrix_root(w.kept->lock);
        w.kept->inertia_root =
            tdl_scale33(1.0 / sqrt(w.kept->mass_factor), matrix_root(w.kept->inverse_inertia));
    }
}

static BodyRoot tell(const Rod* rod) {
    NodalWork w = nodal_work(rod);
    int blocks = block_count(nodal_kind(rod), rod->element_count);
    BodyRoot none = {0}, root = {TURNING + CHAIN_BLOCK * blocks, {0, nodal_is_free(rod) ? 3 : 0}};
    return w.kept->rooted ? root : none;
}

// --- places ----------------------------------------------------------------------------------

// The deeper one of the blocks that the coordinates of an element are in: the other is on its way.
static int block_of(const Rod* rod, const Root* root, int element) {
    TdlSpan span = nodal_movers(rod, element);
    int a = span.first / root->size, b = (span.first + span.count - 1) / root->size;
    return root->chain.depth[a] > root->chain.depth[b] ? a : b;
}

static BodySupport support(const Rod* rod, int element) {
    NodalWork w = nodal_work(rod);
    Root root = root_of(rod, &w);
    int block = block_of(rod, &root, element), skipped = nodal_is_free(rod) ? 0 : TURNING;
    const int* list = root.list + (ptrdiff_t)root.longest * block;
    int count = TURNING + CHAIN_BLOCK * root.chain.depth[block];
    return (BodySupport){0, count - skipped, list + skipped};
}

// Three columns, n apart, times a short row.
static TdlVec3 short_dots(const double* columns, ptrdiff_t n, int count, const double* row) {
    TdlVec3 sum = {0};
    for (int i = 0; i < count; ++i) {
        sum.x += columns[i] * row[i];
        sum.y += columns[n + i] * row[i];
        sum.z += columns[2 * n + i] * row[i];
    }
    return sum;
}

// q and p of (D.20), and two places that nothing is in.
static void turn_rows(const NodalWork* w, TdlSpan span, const double* h, int apart, double* g) {
    ptrdiff_t n = w->n;
    for (int k = 0; k < 3; ++k) {
        const double* row = h + (ptrdiff_t)k * span.count;
        TdlVec3 momentum = short_dots(w->response + span.first, n, span.count, row);
        TdlVec3 torque = short_dots(w->rotation + span.first, n, span.count, row);
        double* out = g + (ptrdiff_t)k * apart;
        tdl_store3(out, 0, tdl_mul33_3(w->kept->lock_root, momentum));
        tdl_store3(out, 1, tdl_mul33_3(w->kept->inertia_root, torque));
        out[6] = out[7] = 0.0;
    }
}

static void whiten(const Rod* rod, int element, const double* h, double* g) {
    NodalWork w = nodal_work(rod);
    Root root = root_of(rod, &w);
    const ChainRoot* c = &root.chain;
    TdlSpan span = nodal_movers(rod, element);
    int block = block_of(rod, &root, element), free = nodal_is_free(rod) ? TURNING : 0;
    int length = CHAIN_BLOCK * c->depth[block], apart = length + free;
    ChainRow x[CHAIN_BLOCK * CHAIN_DEEPEST];
    memset(x, 0, (size_t)length * sizeof *x);
    for (int j = 0; j < span.count; ++j) {
        int dof = span.first + j, b = dof / root.size;
        int at = CHAIN_BLOCK * (c->depth[b] - 1) + dof - b * root.size;
        for (int k = 0; k < 3 && !nodal_is_held(rod, dof); ++k) {
            x[at][k] = h[k * span.count + j];
        }
    }
    chain_root_reduce(c, block, x);
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < length; ++i) {
            g[k * apart + free + i] = x[i][k];
        }
    }
    if (free > 0) {
        turn_rows(&w, span, h, apart, g);
    }
}

// What a free rod bends by loses its angular momentum as found in v, not as z tells: to rounding of
// v itself.
static void unwhiten(const Rod* rod, const double* z, double* v) {
    NodalWork w = nodal_work(rod);
    Root root = root_of(rod, &w);
    chain_root_expand(&root.chain, w.n, root.size, z + TURNING, root.room, v);
    if (nodal_is_free(rod)) {
        TdlVec3 kept = nodal_dots(w.turn, w.n, w.n, v);
        kept = tdl_scale3(-1.0, tdl_mul33_3(w.kept->lock, kept));
        nodal_add_columns(w.response, w.n, kept, v);
        TdlVec3 turning = tdl_mul33_3(w.kept->inertia_root, tdl_load3(z, 1));
        nodal_add_columns(w.rotation, w.n, turning, v);
    }
}

const RodRoot NODAL_ROOT = {
    .find = find, .root = tell, .support = support, .whiten = whiten, .unwhiten = unwhiten};
