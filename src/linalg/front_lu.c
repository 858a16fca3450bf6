// Sparse LU by dense fronts (multifrontal), rows exchanged only among those eliminated together.
//
// A front holds the unknowns of a run of block rows whose columns have nearly the same pattern, and
// those of the later rows that they touch. It gathers its part of the matrix and what its
// children left, eliminates its own unknowns and leaves the rest to its parent on a stack. The
// arithmetic is in products of panels of pivots.
#include "linalg/front_lu.h"
#include "linalg/elimination.h"
#include "math/panel.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

// Doubles of the factors above which they are not attempted: 800 MB.
static const double MAX_FACTOR = 1.0e8;
// Block rows, and multiplications for each of them, from which on an order by dissection is tried
// too: finding it takes as long as some 5000 for each.
enum { MANY_ROWS = 2000 };
static const double DEAR_ROWS = 5.0e4;
// A row is exchanged when its pivot is this much smaller than the best.
static const double PIVOT_RATIO = 0.1;
enum { RANK = 8, LANES = 8 };
// Columns from which on there is enough for several threads.
enum { MANY_COLUMNS = 256 };

// --- symbolic ------------------------------------------------------------------------------------

typedef struct Graph {
    int *start, *column;
} Graph;

// The couplings among rows with unknowns, numbered without gaps.
static TdlStatus take_graph(FrontLu* lu, Arena* arena, Graph* g) {
    const BlockPattern* a = &lu->pattern;
    int* name = lu->place;
    lu->n = 0;
    for (int i = 0; i < a->n; ++i) {
        name[i] = lu->reduced[i].size > 0 ? lu->n++ : -1;
    }
    int count = 0;
    g->start = ARENA_NEW(arena, int, (size_t)lu->n + 1);
    g->column = ARENA_NEW(arena, int, a->start[a->n]);
    if (g->start == NULL || g->column == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < a->n; ++i) {
        if (name[i] < 0) {
            continue;
        }
        g->start[name[i]] = count;
        for (int e = a->start[i]; e < a->start[i + 1]; ++e) {
            if (name[a->column[e]] >= 0) {
                g->column[count++] = name[a->column[e]];
            }
        }
    }
    g->start[lu->n] = count;
    return TDL_STATUS_OK;
}

// Doubles and rows that a factorisation needs.
typedef struct Room {
    size_t factor, work, stack;
    int widest, unknowns;
} Room;

// Sizes and places of everything in a factorisation; the largest front and the deepest stack.
static TdlStatus lay_out(FrontLu* lu, Room* room) {
    int unknowns = 0;
    for (int k = 0; k < lu->n; ++k) {
        lu->offset[k] = unknowns;
        unknowns += lu->reduced[lu->order[k]].size;
    }
    lu->offset[lu->n] = unknowns;
    size_t factor = 0, work = 0, stack = 0, deepest = 0;
    int widest = 0;
    int* front_of = lu->mark;
    for (int f = 0; f < lu->front_count; ++f) {
        for (int k = lu->front[f].first; k <= lu->front[f].last; ++k) {
            front_of[k] = f;
        }
    }
    lu->flops = 0.0;
    for (int f = 0; f < lu->front_count; ++f) {
        Front* front = &lu->front[f];
        front->pivots = lu->offset[front->last + 1] - lu->offset[front->first];
        front->width = front->pivots;
        for (int e = front->row_start; e < front->row_start + front->row_count; ++e) {
            front->width += lu->reduced[lu->order[lu->row[e]]].size;
        }
        front->parent = front->row_count > 0 ? front_of[lu->row[front->row_start]] : -1;
        front->stride = (front->width + LANES - 1) / LANES * LANES;
        size_t p = (size_t)front->pivots, rest = (size_t)front->width - p;
        front->lower = factor;
        front->upper = factor + p * (size_t)front->width;
        factor = front->upper + p * rest;
        size_t square = (size_t)front->width * (size_t)front->stride;
        work = square > work ? square : work;
        widest = front->width > widest ? front->width : widest;
        for (int c = front->child; c >= 0; c = lu->front[c].sibling) {
            size_t left = (size_t)(lu->front[c].width - lu->front[c].pivots);
            stack -= left * left;
        }
        if (front->parent >= 0) {
            front->sibling = lu->front[front->parent].child;
            lu->front[front->parent].child = f;
        }
        stack += rest * rest;
        deepest = stack > deepest ? stack : deepest;
        double a = (double)p, w = (double)front->width;
        lu->flops += a * w * w - a * a * w + a * a * a / 3.0;
        if ((double)factor > MAX_FACTOR) {
            return TDL_STATUS_STOPPED;
        }
    }
    lu->stored = (double)factor;
    *room = (Room){factor, work, deepest, widest, unknowns};
    return TDL_STATUS_OK;
}

static TdlStatus reserve(FrontLu* lu, Arena* arena, const Room* room) {
    lu->factor = ARENA_NEW(arena, double, room->factor);
    lu->work = ARENA_NEW(arena, double, room->work);
    lu->packed = ARENA_NEW(arena, double, panel_size(room->widest, PANEL_RANK));
    lu->stack = ARENA_NEW(arena, double, room->stack);
    lu->swap = ARENA_NEW(arena, int, room->unknowns);
    lu->x = ARENA_NEW(arena, double, room->unknowns);
    bool good = lu->factor && lu->work && lu->packed && lu->stack && lu->swap && lu->x;
    return good ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}

// The columns of each run are a front.
static void make_fronts(FrontLu* lu) {
    int first = 0;
    for (int f = 0; f < lu->front_count; ++f) {
        int last = lu->mark[f];
        lu->front[f] = (Front){.first = first,
                               .last = last,
                               .child = -1,
                               .sibling = -1,
                               .row_start = lu->start[last],
                               .row_count = lu->start[last + 1] - lu->start[last]};
        first = last + 1;
    }
}

// Order, pattern and fronts. `place` of lu has the graph's names, -1 for rows not in it.
static TdlStatus plan(FrontLu* lu, Arena* arena, const Graph* graph, bool dissected, Room* room) {
    const BlockPattern* a = &lu->pattern;
    size_t n = (size_t)lu->n, all = (size_t)a->n;
    const int* name = lu->place;
    Elimination order;
    lu->place = ARENA_NEW(arena, int, all);
    lu->mark = ARENA_NEW(arena, int, n);
    lu->front = ARENA_NEW(arena, Front, n);
    lu->offset = ARENA_NEW(arena, int, n + 1);
    lu->position = ARENA_NEW(arena, int, n);
    lu->run = ARENA_NEW(arena, FrontRun, n);
    if (!lu->place || !lu->mark || !lu->front || !lu->offset || !lu->position || !lu->run) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status =
        elimination_plan(&order, arena, lu->n, graph->start, graph->column, dissected);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    lu->order = order.order;
    lu->start = order.start;
    lu->row = order.row;
    lu->front_count = elimination_runs(&order, INT_MAX, lu->mark);
    make_fronts(lu);
    // from the graph's numbers to those of the pattern
    for (int i = 0; i < a->n; ++i) {
        lu->place[i] = name[i] < 0 ? -1 : order.place[name[i]];
        if (lu->place[i] >= 0) {
            lu->order[lu->place[i]] = i;
        }
    }
    return lay_out(lu, room);
}

TdlStatus front_lu_analyse(FrontLu* lu, Arena* arena, const BlockPattern* a,
                           const Reduced* reduced) {
    *lu = (FrontLu){.pattern = *a, .reduced = reduced};
    Graph graph;
    lu->place = ARENA_NEW(arena, int, (size_t)a->n);
    if (lu->place == NULL || take_graph(lu, arena, &graph) != TDL_STATUS_OK) {
        return TDL_STATUS_NO_MEMORY;
    }
    FrontLu other = *lu;
    Room room, other_room;
    TdlStatus status = plan(lu, arena, &graph, false, &room);
    if (lu->n >= MANY_ROWS && status != TDL_STATUS_NO_MEMORY &&
        (status == TDL_STATUS_STOPPED || lu->flops > DEAR_ROWS * lu->n)) {
        TdlStatus again = plan(&other, arena, &graph, true, &other_room);
        if (again == TDL_STATUS_OK && (status != TDL_STATUS_OK || other.flops < lu->flops)) {
            *lu = other;
            room = other_room;
            status = again;
        }
    }
    return status == TDL_STATUS_OK ? reserve(lu, arena, &room) : status;
}

// --- numeric -------------------------------------------------------------------------------------

// F(rows of a, columns of b) += test_a' W trial_b, W by columns, transposed when `turned`
static inline void add_block(const Reduced* a, const Reduced* b, const double* w, bool turned,
                             double* f, int stride) {
    for (int c = 0; c < b->size; ++c) {
        double y[3];
        const double* t = b->trial + 3 * c;
        for (int k = 0; k < 3; ++k) {
            y[k] = turned ? w[3 * k] * t[0] + w[3 * k + 1] * t[1] + w[3 * k + 2] * t[2]
                          : w[k] * t[0] + w[3 + k] * t[1] + w[6 + k] * t[2];
        }
        for (int k = 0; k < a->size; ++k) {
            const double* s = a->test + 3 * k;
            f[(size_t)c * (size_t)stride + (size_t)k] += s[0] * y[0] + s[1] * y[1] + s[2] * y[2];
        }
    }
}

static void assemble(FrontLu* lu, const Front* front) {
    const BlockPattern* w = &lu->pattern;
    int stride = front->stride, at = 0;
    double* f = lu->work;
    memset(f, 0, (size_t)front->width * (size_t)stride * sizeof(double));
    for (int k = front->first; k <= front->last; ++k) {
        lu->position[k] = at;
        at += lu->reduced[lu->order[k]].size;
    }
    for (int e = front->row_start; e < front->row_start + front->row_count; ++e) {
        lu->position[lu->row[e]] = at;
        at += lu->reduced[lu->order[lu->row[e]]].size;
    }
    for (int k = front->first; k <= front->last; ++k) {
        int i = lu->order[k], p = lu->position[k];
        const Reduced* a = &lu->reduced[i];
        for (int e = w->start[i]; e < w->start[i + 1]; ++e) {
            int j = w->column[e], at_j = lu->place[j];
            if (at_j < k) {
                continue;
            }
            const double* block = lu->blocks + (size_t)e * 9;
            int q = lu->position[at_j];
            add_block(a, &lu->reduced[j], block, false, f + (size_t)q * (size_t)stride + p, stride);
            if (at_j > k) {
                const double* other =
                    w->across == NULL ? block : lu->blocks + (size_t)w->across[e] * 9;
                add_block(&lu->reduced[j], a, other, w->across == NULL,
                          f + (size_t)p * (size_t)stride + q, stride);
            }
        }
        for (int c = 0; c < a->size; ++c) {
            for (int r = 0; r < a->size; ++r) {
                f[(size_t)(p + c) * (size_t)stride + (size_t)(p + r)] += a->add[3 * c + r];
            }
        }
    }
}

// What a child left is added at the places of its rows, by runs of rows that stay together.
static void extend_add(FrontLu* lu, const Front* front, const Front* child, const double* left) {
    size_t stride = (size_t)front->stride;
    const int* rows = lu->row + child->row_start;
    int count = 0, end = -1;
    for (int a = 0; a < child->row_count; ++a) {
        int at = lu->position[rows[a]], tall = lu->reduced[lu->order[rows[a]]].size;
        if (at == end) {
            lu->run[count - 1].length += tall;
        } else {
            lu->run[count++] = (FrontRun){at, tall};
        }
        end = at + tall;
    }
    for (int b = 0; b < count; ++b) {
        for (int c = 0; c < lu->run[b].length; ++c) {
            double* to = lu->work + (size_t)(lu->run[b].at + c) * stride;
            for (int a = 0; a < count; ++a) {
                double* restrict x = to + lu->run[a].at;
                int length = lu->run[a].length;
                for (int k = 0; k < length; ++k) {
                    x[k] += left[k];
                }
                left += length;
            }
        }
    }
}

static void exchange_rows(double* f, int width, size_t stride, int a, int b) {
    for (int c = 0; c < width; ++c) {
        double* x = f + (size_t)c * stride;
        double keep = x[a];
        x[a] = x[b];
        x[b] = keep;
    }
}

// Columns k0 to k0 + rank: eliminated within the panel; rows are exchanged among the pivots only.
static void factor_panel(FrontLu* lu, const Front* front, int k0, int rank, double least,
                         int* swap) {
    double* f = lu->work;
    size_t stride = (size_t)front->stride;
    for (int k = k0; k < k0 + rank; ++k) {
        double* column = f + (size_t)k * stride;
        int best = k;
        for (int i = k + 1; i < front->pivots; ++i) {
            best = fabs(column[i]) > fabs(column[best]) ? i : best;
        }
        swap[k] = fabs(column[k]) < PIVOT_RATIO * fabs(column[best]) ? best : k;
        if (swap[k] != k) {
            exchange_rows(f, front->width, stride, k, swap[k]);
            lu->sign = -lu->sign;
        }
        if (!(fabs(column[k]) > least)) {
            column[k] = column[k] < 0.0 ? -least : least;
            ++lu->shifted;
        }
        lu->sign = column[k] < 0.0 ? -lu->sign : lu->sign;
        double inverse = 1.0 / column[k];
        for (int i = k + 1; i < front->width; ++i) {
            column[i] *= inverse;
        }
        for (int j = k + 1; j < k0 + rank; ++j) {
            double* other = f + (size_t)j * stride;
            double x = other[k];
            for (int i = k + 1; i < front->width; ++i) {
                other[i] -= column[i] * x;
            }
        }
    }
}

// A panel of eliminated pivots, and the columns it is taken to, by some at a time.
typedef struct Taking {
    const FrontLu* lu;
    const Front* front;
    int k0, rank, to;
} Taking;

static void take_some(void* user, int index, int worker) {
    const Taking* t = user;
    const FrontLu* lu = t->lu;
    size_t stride = (size_t)t->front->stride, k0 = (size_t)t->k0;
    int from = t->k0 + t->rank + index * PANEL_COLUMNS, count = t->to - from;
    (void)worker;
    panel_apply(t->rank, t->front->width - t->k0 - t->rank, lu->work + k0 * stride + k0, lu->packed,
                stride, count < PANEL_COLUMNS ? count : PANEL_COLUMNS,
                lu->work + (size_t)from * stride + k0);
}

// The pivots k0 to k0 + rank, taken to the columns behind them up to `to`.
static void take_panel(FrontLu* lu, const Front* front, int k0, int rank, int to) {
    int behind = k0 + rank, count = (to - behind + PANEL_COLUMNS - 1) / PANEL_COLUMNS;
    Taking taking = {lu, front, k0, rank, to};
    if (count > 0) {
        size_t stride = (size_t)front->stride;
        panel_pack(front->width - behind, rank, lu->work + (size_t)k0 * stride + behind, stride,
                   lu->packed);
        pool_run(to - behind >= MANY_COLUMNS ? lu->pool : NULL, count, 1, take_some, &taking);
    }
}

// Asked each time that enough was done since the last.
static bool asked_to_stop(FrontLu* lu, double flops) {
    lu->unasked += flops;
    if (lu->unasked < STOP_EVERY) {
        return false;
    }
    lu->unasked = 0.0;
    return stop_asked(lu->stop);
}

// By blocks of pivots, and within them by panels: most of the work is the product that takes a
// block to all columns behind it. False: stopped.
static bool eliminate(FrontLu* lu, const Front* front, int* swap) {
    double *f = lu->work, least = 0.0;
    size_t stride = (size_t)front->stride;
    for (int k = 0; k < front->pivots; ++k) {
        least = fmax(least, fabs(f[(size_t)k * stride + (size_t)k]));
    }
    least = fmax(PIVOT_PART * least, DBL_MIN);
    for (int b0 = 0; b0 < front->pivots; b0 += PANEL_RANK) {
        int b1 = front->pivots - b0 < PANEL_RANK ? front->pivots : b0 + PANEL_RANK;
        for (int k0 = b0; k0 < b1; k0 += RANK) {
            int rank = b1 - k0 < RANK ? b1 - k0 : RANK;
            factor_panel(lu, front, k0, rank, least, swap);
            take_panel(lu, front, k0, rank, b1);
        }
        take_panel(lu, front, b0, b1 - b0, front->width);
        double rest = front->width - b0;
        if (asked_to_stop(lu, rest * rest * (b1 - b0))) {
            return false;
        }
    }
    return true;
}

static void keep_factors(FrontLu* lu, const Front* front) {
    size_t stride = (size_t)front->stride, p = (size_t)front->pivots, w = (size_t)front->width;
    for (size_t c = 0; c < p; ++c) {
        memcpy(lu->factor + front->lower + c * w, lu->work + c * stride, w * sizeof(double));
    }
    for (size_t c = p; c < w; ++c) {
        memcpy(lu->factor + front->upper + (c - p) * p, lu->work + c * stride, p * sizeof(double));
    }
}

bool front_lu_factor(FrontLu* lu, const double* blocks, Pool* pool) {
    double* top = lu->stack;
    lu->blocks = blocks;
    lu->pool = pool;
    lu->shifted = 0;
    lu->sign = 1;
    for (int f = 0; f < lu->front_count; ++f) {
        Front* front = &lu->front[f];
        assemble(lu, front);
        // the children are on top of the stack, the last one first
        for (int c = front->child; c >= 0; c = lu->front[c].sibling) {
            size_t left = (size_t)(lu->front[c].width - lu->front[c].pivots);
            top -= left * left;
            extend_add(lu, front, &lu->front[c], top);
        }
        if (!eliminate(lu, front, lu->swap + lu->offset[front->first])) {
            return false;
        }
        keep_factors(lu, front);
        size_t p = (size_t)front->pivots, rest = (size_t)front->width - p;
        for (size_t c = 0; c < rest; ++c) {
            memcpy(top, lu->work + (p + c) * (size_t)front->stride + p, rest * sizeof(double));
            top += rest;
        }
    }
    return true;
}

// --- solving -------------------------------------------------------------------------------------

static void forward(FrontLu* lu, const Front* front, double* y) {
    int p = front->pivots, w = front->width, first = lu->offset[front->first];
    const int* swap = lu->swap + first;
    const double* l = lu->factor + front->lower;
    for (int k = 0; k < p; ++k) {
        double keep = y[first + k];
        y[first + k] = y[first + swap[k]];
        y[first + swap[k]] = keep;
    }
    double* rest = lu->work;
    memset(rest, 0, (size_t)(w - p) * sizeof(double));
    for (int k = 0; k < p; ++k) {
        double x = y[first + k];
        const double* column = l + (size_t)k * (size_t)w;
        for (int i = k + 1; i < p; ++i) {
            y[first + i] -= column[i] * x;
        }
        for (int i = p; i < w; ++i) {
            rest[i - p] += column[i] * x;
        }
    }
    for (int e = front->row_start; e < front->row_start + front->row_count; ++e) {
        int at = lu->row[e];
        for (int k = lu->offset[at]; k < lu->offset[at + 1]; ++k) {
            y[k] -= *rest++;
        }
    }
}

static void backward(FrontLu* lu, const Front* front, double* y) {
    int p = front->pivots, w = front->width, first = lu->offset[front->first];
    const double *l = lu->factor + front->lower, *u = lu->factor + front->upper;
    for (int e = front->row_start; e < front->row_start + front->row_count; ++e) {
        int at = lu->row[e];
        for (int k = lu->offset[at]; k < lu->offset[at + 1]; ++k, u += p) {
            for (int i = 0; i < p; ++i) {
                y[first + i] -= u[i] * y[k];
            }
        }
    }
    for (int k = p - 1; k >= 0; --k) {
        const double* column = l + (size_t)k * (size_t)w;
        y[first + k] /= column[k];
        for (int i = 0; i < k; ++i) {
            y[first + i] -= column[i] * y[first + k];
        }
    }
}

void front_lu_solve(FrontLu* lu, double* x) {
    double* y = lu->x;
    for (int k = 0; k < lu->n; ++k) {
        int size = lu->offset[k + 1] - lu->offset[k];
        memcpy(y + lu->offset[k], x + 3 * lu->order[k], (size_t)size * sizeof(double));
    }
    for (int f = 0; f < lu->front_count; ++f) {
        forward(lu, &lu->front[f], y);
    }
    for (int f = lu->front_count - 1; f >= 0; --f) {
        backward(lu, &lu->front[f], y);
    }
    for (int k = 0; k < lu->n; ++k) {
        int size = lu->offset[k + 1] - lu->offset[k];
        memcpy(x + 3 * lu->order[k], y + lu->offset[k], (size_t)size * sizeof(double));
    }
}
