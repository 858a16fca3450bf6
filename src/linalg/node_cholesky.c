// Sparse Cholesky by dense fronts (multifrontal): a front gathers its part of the matrix and what
// its children left, eliminates its own coordinates and leaves the rest to its parent on a stack.
// Most of the arithmetic is in products of panels. Of a sheet of n nodes a factorisation takes
// about 30 n^1.5 blocks of multiplications in the order of dissection.
#include "linalg/node_cholesky.h"

#include "linalg/elimination.h"
#include "math/dense.h"
#include "math/panel.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { D = 3 };                  // coordinates of a node
enum { MOST_NODES = 64 };        // of a front: its solves then work within the nearest cache
enum { BLOCK = 48, STRIP = 48 }; // pivots, and columns, taken together; of whole tiles of panel.c
enum { SMALL_BLOCK = 4, SMALL_WIDTH = 150 }; // of fronts that are not worth packing
enum { CHUNK = 192 };                        // rows of a solve taken together

// --- symbolic ------------------------------------------------------------------------------------

typedef struct Room {
    size_t factor, work, stack;
    int widest;
} Room;

static double front_flops(const NodeFront* f) {
    double p = f->pivots, r = f->width - f->pivots;
    return p * p * p / 6.0 + p * p * r / 2.0 + p * r * r / 2.0;
}

static TdlStatus make_fronts(NodeCholesky* c, Arena* arena, const Elimination* e, Room* room) {
    int n = e->n, first = 0;
    int* last = ARENA_NEW(arena, int, n);
    c->front = ARENA_NEW(arena, NodeFront, n);
    c->front_of = ARENA_NEW(arena, int, n);
    if (last == NULL || c->front == NULL || c->front_of == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    c->front_count = elimination_runs(e, MOST_NODES, last);
    *room = (Room){0};
    c->flops = 0.0;
    for (int f = 0; f < c->front_count; ++f) {
        NodeFront* front = &c->front[f];
        *front = (NodeFront){.first = first,
                             .last = last[f],
                             .child = -1,
                             .sibling = -1,
                             .row_start = e->start[last[f]]};
        front->row_count = e->start[last[f] + 1] - front->row_start;
        front->pivots = D * (front->last - first + 1);
        front->width = front->pivots + D * front->row_count;
        front->at = room->factor;
        for (int k = first; k <= front->last; ++k) {
            c->front_of[k] = f;
        }
        size_t square = (size_t)front->width * (size_t)front->width;
        room->factor += (size_t)front->width * (size_t)front->pivots;
        room->work = square > room->work ? square : room->work;
        room->widest = front->width > room->widest ? front->width : room->widest;
        c->flops += front_flops(front);
        first = front->last + 1;
    }
    c->stored = (double)room->factor;
    return TDL_STATUS_OK;
}

static size_t rest_size(const NodeFront* f) {
    size_t rest = (size_t)(f->width - f->pivots);
    return rest * rest;
}

// Parents, and the deepest stack: a front takes those of its children, which lie on top.
static void find_parents(NodeCholesky* c, Room* room) {
    size_t used = 0;
    for (int f = 0; f < c->front_count; ++f) {
        NodeFront* front = &c->front[f];
        front->parent = front->row_count > 0 ? c->front_of[c->row[front->row_start]] : -1;
        if (front->parent >= 0) {
            front->sibling = c->front[front->parent].child;
            c->front[front->parent].child = f;
        }
    }
    for (int f = 0; f < c->front_count; ++f) {
        for (int k = c->front[f].child; k >= 0; k = c->front[k].sibling) {
            used -= rest_size(&c->front[k]);
        }
        used += rest_size(&c->front[f]);
        room->stack = used > room->stack ? used : room->stack;
    }
}

static TdlStatus plan(NodeCholesky* c, Arena* arena, bool dissected, Room* room) {
    Elimination e;
    TdlStatus status =
        elimination_plan(&e, arena, c->pattern.n, c->pattern.start, c->pattern.column, dissected);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    c->order = e.order;
    c->place = e.place;
    c->row = e.row;
    return make_fronts(c, arena, &e, room);
}

TdlStatus node_cholesky_analyse(NodeCholesky* c, Arena* arena, const BlockPattern* pattern) {
    *c = (NodeCholesky){.pattern = *pattern};
    NodeCholesky other = *c;
    Room room, other_room;
    TdlStatus status = plan(c, arena, false, &room);
    if (status == TDL_STATUS_OK) {
        status = plan(&other, arena, true, &other_room);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (other.flops < c->flops) {
        *c = other;
        room = other_room;
    }
    find_parents(c, &room);
    c->factor = ARENA_NEW(arena, double, room.factor);
    c->work = ARENA_NEW(arena, double, room.work);
    c->stack = ARENA_NEW(arena, double, room.stack);
    c->packed = ARENA_NEW(arena, double, panel_size(room.widest, BLOCK));
    c->position = ARENA_NEW(arena, int, pattern->n);
    bool good = c->factor && c->work && c->stack && c->packed && c->position;
    return good ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}

// --- numeric -------------------------------------------------------------------------------------

// Where the front's nodes stand in it; the matrix's blocks in the columns of its pivots.
static void assemble(NodeCholesky* c, const NodeFront* front, const double* blocks) {
    const BlockPattern* a = &c->pattern;
    size_t w = (size_t)front->width;
    double* f = c->work;
    int at = 0;
    memset(f, 0, w * w * sizeof *f);
    for (int k = front->first; k <= front->last; ++k, at += D) {
        c->position[k] = at;
    }
    for (int e = front->row_start; e < front->row_start + front->row_count; ++e, at += D) {
        c->position[c->row[e]] = at;
    }
    for (int k = front->first; k <= front->last; ++k) {
        int i = c->order[k];
        for (int e = a->start[i]; e < a->start[i + 1]; ++e) {
            int below = c->place[a->column[e]];
            if (below < k) {
                continue;
            }
            // block (i, j) stands across the diagonal: its transpose is that of (j, i)
            double* to = f + (size_t)c->position[k] * w + (size_t)c->position[below];
            const double* from = blocks + (ptrdiff_t)9 * e;
            for (int x = 0; x < D; ++x) {
                for (int y = 0; y < D; ++y) {
                    to[(size_t)x * w + (size_t)y] = from[x + D * y];
                }
            }
        }
    }
}

// Adds what a child left, the lower half of it.
static void extend(const NodeCholesky* c, const NodeFront* front, const NodeFront* child,
                   const double* left) {
    size_t w = (size_t)front->width;
    int n = child->row_count, rest = D * n;
    const int* row = c->row + child->row_start;
    for (int j = 0; j < n; ++j) {
        for (int x = 0; x < D; ++x) {
            double* to = c->work + (size_t)(c->position[row[j]] + x) * w;
            const double* from = left + (size_t)(D * j + x) * (size_t)rest;
            for (int i = j; i < n; ++i) {
                double* block = to + c->position[row[i]];
                for (int y = 0; y < D; ++y) {
                    block[y] += from[D * i + y];
                }
            }
        }
    }
}

// Rows below a factored triangle of `count` columns: X L' = B, column by column.
static void solve_rows(int rows, int count, const double* l, size_t ld, double* b) {
    for (int j = 0; j < count; ++j) {
        double* to = b + (size_t)j * ld;
        for (int k = 0; k < j; ++k) {
            const double *from = b + (size_t)k * ld, x = l[(size_t)k * ld + (size_t)j];
            for (int i = 0; i < rows; ++i) {
                to[i] -= x * from[i];
            }
        }
        double inverse = 1.0 / l[(size_t)j * ld + (size_t)j];
        for (int i = 0; i < rows; ++i) {
            to[i] *= inverse;
        }
    }
}

// One column of L from the `count` columns of its block before it. False: its pivot is not
// positive.
static bool finish_column(int rows, int count, const double* before, size_t ld, double* column) {
    for (int k = 0; k < count; ++k) {
        const double *from = before + (size_t)k * ld, x = from[0];
        for (int i = 0; i < rows; ++i) {
            column[i] -= x * from[i];
        }
    }
    if (!(column[0] > 0.0)) {
        return false;
    }
    double inverse = 1.0 / sqrt(column[0]);
    for (int i = 0; i < rows; ++i) {
        column[i] *= inverse;
    }
    return true;
}

// Columns after a block of `count` finished ones, of which `l` is the first below it.
static void subtract_block(int rows, int count, const double* l, size_t ld, double* rest) {
    for (int j = 0; j < rows; ++j) {
        const double* a = l + j;
        double x[SMALL_BLOCK] = {0.0};
        for (int k = 0; k < count; ++k) {
            x[k] = a[(size_t)k * ld];
        }
        double* to = rest + (size_t)j * (ld + 1);
        if (count == SMALL_BLOCK) {
            const double *b = a + ld, *c = b + ld, *d = c + ld;
            for (int i = 0; i < rows - j; ++i) {
                to[i] -= x[0] * a[i] + x[1] * b[i] + x[2] * c[i] + x[3] * d[i];
            }
        } else {
            for (int k = 0; k < count; ++k) {
                for (int i = 0; i < rows - j; ++i) {
                    to[i] -= x[k] * a[(size_t)k * ld + (size_t)i];
                }
            }
        }
    }
}

// The same as eliminate() for a front that fits the nearest cache: four pivots at a time, in place.
static bool eliminate_small(NodeCholesky* c, const NodeFront* front) {
    size_t w = (size_t)front->width;
    for (int j = 0; j < front->pivots; j += SMALL_BLOCK) {
        int count = front->pivots - j < SMALL_BLOCK ? front->pivots - j : SMALL_BLOCK;
        for (int k = 0; k < count; ++k) {
            size_t row = (size_t)(j + k);
            if (!finish_column(front->width - j - k, k, c->work + (size_t)j * w + row, w,
                               c->work + row * (w + 1))) {
                return false;
            }
        }
        size_t next = (size_t)(j + count);
        subtract_block(front->width - j - count, count, c->work + (size_t)j * w + next, w,
                       c->work + next * (w + 1));
    }
    return true;
}

// Eliminates the pivots of the front at hand. False: one is not positive.
static bool eliminate(NodeCholesky* c, const NodeFront* front) {
    size_t w = (size_t)front->width;
    double* f = c->work;
    for (int j = 0; j < front->pivots; j += BLOCK) {
        int count = front->pivots - j < BLOCK ? front->pivots - j : BLOCK;
        double* corner = f + (size_t)j * w + (size_t)j;
        if (tdl_cholesky(count, corner, front->width) < count) {
            return false;
        }
        int rows = front->width - j - count;
        solve_rows(rows, count, corner, w, corner + count);
        panel_pack(rows, count, corner + count, w, c->packed);
        double* rest = corner + (size_t)count * (w + 1);
        for (int s = 0; s < rows; s += STRIP) {
            int columns = rows - s < STRIP ? rows - s : STRIP;
            panel_product(count, rows - s, c->packed + (size_t)s * (size_t)count,
                          corner + count + s, w, columns, w, rest + (size_t)s * (w + 1));
        }
    }
    return true;
}

// The columns of the pivots go to the factor, the rest on the stack. Returns its top.
static double* store(NodeCholesky* c, const NodeFront* front, double* top) {
    size_t w = (size_t)front->width, p = (size_t)front->pivots, rest = w - p;
    memcpy(c->factor + front->at, c->work, w * p * sizeof(double));
    for (size_t j = 0; j < rest; ++j) {
        memcpy(top + j * rest + j, c->work + (p + j) * (w + 1), (rest - j) * sizeof(double));
    }
    return top + rest * rest;
}

bool node_cholesky_factor(NodeCholesky* c, const double* blocks) {
    double* top = c->stack;
    for (int f = 0; f < c->front_count; ++f) {
        const NodeFront* front = &c->front[f];
        assemble(c, front, blocks);
        for (int k = front->child; k >= 0; k = c->front[k].sibling) {
            top -= rest_size(&c->front[k]);
            extend(c, front, &c->front[k], top);
        }
        if (!(front->width <= SMALL_WIDTH ? eliminate_small(c, front) : eliminate(c, front))) {
            return false;
        }
        top = store(c, front, top);
    }
    return true;
}

// --- solves --------------------------------------------------------------------------------------

// What a front's own coordinates are behind, and those of its rows.
static inline double* at_place(const int* order, int place, double* x) {
    return x + (ptrdiff_t)D * (order == NULL ? place : order[place]);
}

static inline double* at_node(const NodeCholesky* c, int place, double* x) {
    return x + (ptrdiff_t)D * c->order[place];
}

// In x coordinates are by node, in the order given, or (null) by place.
static void forward(const NodeCholesky* c, const int* order, const NodeFront* front, double* x) {
    const double* l = c->factor + front->at;
    int w = front->width, p = front->pivots;
    double y[D * MOST_NODES], sum[CHUNK];
    for (int k = 0; k < p / D; ++k) {
        memcpy(y + D * k, at_place(order, front->first + k, x), D * sizeof *y);
    }
    tdl_lower_solve(p, l, w, false, 1, y, p);
    for (int k = 0; k < p / D; ++k) {
        memcpy(at_place(order, front->first + k, x), y + D * k, D * sizeof *y);
    }
    for (int i0 = p; i0 < w; i0 += CHUNK) {
        int rows = w - i0 < CHUNK ? w - i0 : CHUNK;
        memset(sum, 0, sizeof sum);
        for (int k = 0; k < p; ++k) {
            const double* column = l + (size_t)k * (size_t)w + i0;
            for (int i = 0; i < rows; ++i) {
                sum[i] += column[i] * y[k];
            }
        }
        for (int i = 0; i < rows; i += D) {
            double* to = at_place(order, c->row[front->row_start + (i0 - p + i) / D], x);
            for (int k = 0; k < D; ++k) {
                to[k] -= sum[i + k];
            }
        }
    }
}

// Of the later coordinates `x` has the solution already; y is the front's own part of L' x = y.
static void backward(const NodeCholesky* c, const NodeFront* front, double* y, double* x) {
    const double* l = c->factor + front->at;
    int w = front->width, p = front->pivots;
    double rest[CHUNK];
    for (int i0 = p; i0 < w; i0 += CHUNK) {
        int rows = w - i0 < CHUNK ? w - i0 : CHUNK;
        for (int i = 0; i < rows; i += D) {
            memcpy(rest + i, at_node(c, c->row[front->row_start + (i0 - p + i) / D], x),
                   D * sizeof *rest);
        }
        for (int k = 0; k < p; ++k) {
            y[k] -= tdl_dot(rows, l + (size_t)k * (size_t)w + i0, rest);
        }
    }
    tdl_lower_transpose_solve(p, l, w, false, 1, y, p);
    for (int k = 0; k < p / D; ++k) {
        memcpy(at_node(c, front->first + k, x), y + D * k, D * sizeof *y);
    }
}

void node_cholesky_solve(const NodeCholesky* c, double* x) {
    for (int f = 0; f < c->front_count; ++f) {
        forward(c, c->order, &c->front[f], x);
    }
    for (int f = c->front_count - 1; f >= 0; --f) {
        const NodeFront* front = &c->front[f];
        double y[D * MOST_NODES];
        for (int k = front->first; k <= front->last; ++k) {
            memcpy(y + D * (k - front->first), at_node(c, k, x), D * sizeof *y);
        }
        backward(c, front, y, x);
    }
}

void node_cholesky_drive(const NodeCholesky* c, const double* f, double* z) {
    for (int k = 0; k < c->pattern.n; ++k) {
        memcpy(z + (ptrdiff_t)D * k, f + (ptrdiff_t)D * c->order[k], D * sizeof *z);
    }
    for (int k = 0; k < c->front_count; ++k) {
        forward(c, NULL, &c->front[k], z);
    }
}

void node_cholesky_unwhiten(const NodeCholesky* c, const double* z, double* v) {
    for (int f = c->front_count - 1; f >= 0; --f) {
        const NodeFront* front = &c->front[f];
        double y[D * MOST_NODES];
        memcpy(y, z + (ptrdiff_t)D * front->first, (size_t)front->pivots * sizeof *y);
        backward(c, front, y, v);
    }
}

// --- forces at few nodes -------------------------------------------------------------------------

// The front after `f` on the ways from some nodes to the roots: the next in the order; -1: none.
static int next_front(const NodeCholesky* c, int count, const int* nodes, int f) {
    int next = -1;
    for (int i = 0; i < count; ++i) {
        int at = c->front_of[c->place[nodes[i]]];
        while (at >= 0 && at <= f) {
            at = c->front[at].parent;
        }
        next = at >= 0 && (next < 0 || at < next) ? at : next;
    }
    return next;
}

int node_cholesky_reach(const NodeCholesky* c, int count, const int* nodes, int capacity,
                        int* out) {
    int length = 0;
    for (int f = next_front(c, count, nodes, -1); f >= 0; f = next_front(c, count, nodes, f)) {
        for (int k = 0; k < c->front[f].pivots; ++k, ++length) {
            if (length < capacity) {
                out[length] = D * c->front[f].first + k;
            }
        }
    }
    return length;
}

// Where the coordinates of a place stand in a list of whole fronts, from `from` on.
static int find_in(const int* list, int from, int coordinate) {
    while (list[from] != coordinate) {
        ++from;
    }
    return from;
}

// Three right-hand sides side by side, so that a column of L is read once for all.
typedef struct Three {
    double* x[3];
} Three;

// The first of the front's coordinates at which one of them is not zero; before it all is.
static int first_filled(int count, const Three* g) {
    int k = 0;
    while (k < count && g->x[0][k] == 0.0 && g->x[1][k] == 0.0 && g->x[2][k] == 0.0) {
        ++k;
    }
    return k;
}

// L y = x within a front of `count` coordinates, from `first` on.
static void solve_three(int first, int count, const double* l, size_t w, const Three* g) {
    double* restrict x = g->x[0], * restrict y = g->x[1], * restrict z = g->x[2];
    for (int j = first; j < count; ++j) {
        const double* restrict column = l + (size_t)j * w;
        double inverse = 1.0 / column[j];
        double a = x[j] *= inverse, b = y[j] *= inverse, c = z[j] *= inverse;
        for (int i = j + 1; i < count; ++i) {
            x[i] -= column[i] * a;
            y[i] -= column[i] * b;
            z[i] -= column[i] * c;
        }
    }
}

// sum += `rows` rows of the columns from `first` to `end`, times g; two columns at a time.
static void multiply_three(int rows, int first, int end, const double* l, size_t w, const Three* g,
                           double sum[3][CHUNK]) {
    double* restrict s = sum[0], * restrict t = sum[1], * restrict u = sum[2];
    int k = first;
    for (; k + 1 < end; k += 2) {
        const double* restrict p = l + (size_t)k * w, * restrict q = p + w;
        double a = g->x[0][k], b = g->x[1][k], c = g->x[2][k];
        double d = g->x[0][k + 1], e = g->x[1][k + 1], f = g->x[2][k + 1];
        for (int i = 0; i < rows; ++i) {
            s[i] += p[i] * a + q[i] * d;
            t[i] += p[i] * b + q[i] * e;
            u[i] += p[i] * c + q[i] * f;
        }
    }
    for (int i = 0; i < rows && k < end; ++i) {
        double p = l[(size_t)k * w + (size_t)i];
        s[i] += p * g->x[0][k];
        t[i] += p * g->x[1][k];
        u[i] += p * g->x[2][k];
    }
}

// The same as forward(), on a list whose `own` entry is the front's first, for three rows of g.
static void forward_list(const NodeCholesky* c, const NodeFront* front, const int* list, int own,
                         int length, double* g) {
    const double* l = c->factor + front->at;
    size_t w = (size_t)front->width;
    int p = front->pivots, at = own + p;
    Three three = {{g + own, g + length + own, g + (ptrdiff_t)2 * length + own}};
    int first = first_filled(p, &three);
    if (first == p) {
        return;
    }
    solve_three(first, p, l, w, &three);
    for (int i0 = p; i0 < front->width; i0 += CHUNK) {
        int rows = front->width - i0 < CHUNK ? front->width - i0 : CHUNK;
        double sum[3][CHUNK] = {{0.0}};
        multiply_three(rows, first, p, l + i0, w, &three, sum);
        for (int i = 0; i < rows; i += D) {
            at = find_in(list, at, D * c->row[front->row_start + (i0 - p + i) / D]);
            for (int k = 0; k < 3 * D; ++k) {
                g[(ptrdiff_t)(k / D) * length + at + k % D] -= sum[k / D][i + k % D];
            }
        }
    }
}

void node_cholesky_whiten(const NodeCholesky* c, int count, const int* nodes, const double* f,
                          const int* list, int length, double* g) {
    memset(g, 0, 3 * (size_t)length * sizeof *g);
    for (int i = 0; i < count; ++i) {
        int at = find_in(list, 0, D * c->place[nodes[i]]);
        for (int k = 0; k < 3 * D; ++k) {
            g[(ptrdiff_t)(k / D) * length + at + k % D] += f[(k / D * count + i) * D + k % D];
        }
    }
    for (int own = 0; own < length;) {
        const NodeFront* front = &c->front[c->front_of[list[own] / D]];
        forward_list(c, front, list, own, length, g);
        own += front->pivots;
    }
}
