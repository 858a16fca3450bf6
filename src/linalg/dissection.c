// Nested dissection by smooth numbers: every row gets a number, those far apart different ones, and
// the halves are those below and above the middle.
//
// The numbers are smoothed distances from a row at one end, by breadth first: averages over
// neighbours, which tend to the slowest mode of the graph. The rows that separate the halves are
// the fewest that cover all couplings between them: by Koenig's theorem as many as a largest
// matching has. Parts that are small or have no good separation are ordered by least degree.
// Cost: couplings times the depth of the parts, about.
#include "linalg/dissection.h"

#include <amd.h>
#include <stdlib.h>
#include <string.h>

// Rows of a part that is ordered by least degree, and the separators, as a part of the rows, above
// which it is so too.
enum { SMALL_PART = 100 };
static const double WIDE_PART = 0.3;
// Averages over neighbours: with 5 factors take half as much again, with 100 as much as with 20.
enum { SMOOTHINGS = 20 };

typedef struct Dissection {
    int n;
    const int *start, *column;
    int* part;        // [n] which part a row is in; those ordered are in none: -1
    int* rows;        // [n] of the parts, one after the other
    int* queue;       // [n] scratch
    int* level;       // [n] distance
    double *x, *next; // [n] the smooth numbers
    int* mate;        // [n] of the matching, -1: none
    int* seen;        // [n] by which search
    int *at, *local;  // [n + 1], [couplings] of a small part
    int* order;       // of all
    int done;         // rows ordered, from the end: separators come last
    int parts;
} Dissection;

typedef struct Value {
    double x;
    int row;
} Value;

static int ascending(const void* a, const void* b) {
    const Value *x = a, *y = b;
    return x->x != y->x ? (x->x > y->x) - (x->x < y->x) : (x->row > y->row) - (x->row < y->row);
}

// Distances from `first` within its part; returns how many rows are reached, the last at the end of
// the queue.
static int walk(Dissection* d, int first, int part) {
    int count = 0;
    d->level[first] = 0;
    d->queue[count++] = first;
    for (int k = 0; k < count; ++k) {
        int i = d->queue[k];
        for (int e = d->start[i]; e < d->start[i + 1]; ++e) {
            int j = d->column[e];
            if (d->part[j] == part && d->level[j] < 0) {
                d->level[j] = d->level[i] + 1;
                d->queue[count++] = j;
            }
        }
    }
    return count;
}

static void forget_levels(Dissection* d, const int* rows, int count) {
    for (int k = 0; k < count; ++k) {
        d->level[rows[k]] = -1;
    }
}

static void smooth(Dissection* d, const int* rows, int count, int part) {
    for (int k = 0; k < count; ++k) {
        d->x[rows[k]] = d->level[rows[k]];
    }
    for (int pass = 0; pass < SMOOTHINGS; ++pass) {
        for (int k = 0; k < count; ++k) {
            int i = rows[k], beside = 0;
            double sum = 0.0;
            for (int e = d->start[i]; e < d->start[i + 1]; ++e) {
                int j = d->column[e];
                if (d->part[j] == part) {
                    sum += d->x[j];
                    ++beside;
                }
            }
            d->next[i] = beside > 0 ? sum / beside : d->x[i];
        }
        for (int k = 0; k < count; ++k) {
            d->x[rows[k]] = d->next[rows[k]];
        }
    }
}

// --- the fewest rows between two parts -----------------------------------------------------------

// A way to a row of `other` without a mate, along which all mates are exchanged.
static bool match(Dissection* d, int i, int other, int search) {
    for (int e = d->start[i]; e < d->start[i + 1]; ++e) {
        int j = d->column[e];
        if (d->part[j] != other || d->seen[j] == search) {
            continue;
        }
        d->seen[j] = search;
        if (d->mate[j] < 0 || match(d, d->mate[j], other, search)) {
            d->mate[j] = i;
            d->mate[i] = j;
            return true;
        }
    }
    return false;
}

// Marks what is reached from a row of `low` without a mate by ways that alternate.
static void reach(Dissection* d, int i, int high, int search) {
    d->seen[i] = search;
    for (int e = d->start[i]; e < d->start[i + 1]; ++e) {
        int j = d->column[e];
        if (d->part[j] == high && d->seen[j] != search) {
            d->seen[j] = search;
            if (d->mate[j] >= 0 && d->seen[d->mate[j]] != search) {
                reach(d, d->mate[j], high, search);
            }
        }
    }
}

// Moves the separator of the parts `low` and `high` out of them, into `between`; how many these
// are. (Koenig: rows of low that are not reached, rows of high that are, among those with a mate.)
static int separate(Dissection* d, const int* rows, int count, int low, int high, int between) {
    int search = 0, size = 0;
    for (int k = 0; k < count; ++k) {
        d->mate[rows[k]] = d->seen[rows[k]] = -1;
    }
    for (int k = 0; k < count; ++k) {
        if (d->part[rows[k]] == low) {
            match(d, rows[k], high, search++);
        }
    }
    for (int k = 0; k < count; ++k) {
        if (d->part[rows[k]] == low && d->mate[rows[k]] < 0) {
            reach(d, rows[k], high, search);
        }
    }
    for (int k = 0; k < count; ++k) {
        int i = rows[k];
        bool reached = d->seen[i] == search;
        if (d->mate[i] >= 0 && (d->part[i] == low ? !reached : reached)) {
            d->part[i] = between;
            ++size;
        }
    }
    return size;
}

// --- parts ---------------------------------------------------------------------------------------

static bool order_by_degree(Dissection* d, const int* rows, int count, int part) {
    int used = 0;
    for (int k = 0; k < count; ++k) {
        d->level[rows[k]] = k;
    }
    for (int k = 0; k < count; ++k) {
        d->at[k] = used;
        for (int e = d->start[rows[k]]; e < d->start[rows[k] + 1]; ++e) {
            if (d->part[d->column[e]] == part) {
                d->local[used++] = d->level[d->column[e]];
            }
        }
    }
    d->at[count] = used;
    int status = amd_order(count, d->at, d->local, d->queue, NULL, NULL);
    d->done -= count;
    for (int k = 0; k < count; ++k) {
        d->order[d->done + k] = rows[d->queue[k]];
    }
    forget_levels(d, rows, count);
    return status == AMD_OK || status == AMD_OK_BUT_JUMBLED;
}

// Sorts rows into those of three parts, in their order; where the second and third begin.
static void deal(Dissection* d, int* rows, int count, const int part[3], int begin[2]) {
    int to = 0;
    for (int p = 0; p < 3; ++p) {
        for (int k = 0; k < count; ++k) {
            if (d->part[rows[k]] == part[p]) {
                d->queue[to++] = rows[k];
            }
        }
        if (p < 2) {
            begin[p] = to;
        }
    }
    memcpy(rows, d->queue, (size_t)count * sizeof *rows);
}

// Cuts a connected part at the middle of its smooth numbers. False: no good way.
static bool cut(Dissection* d, int* rows, int count, int part, Value* value, int begin[2]) {
    for (int k = 0; k < count; ++k) {
        value[k] = (Value){d->x[rows[k]], rows[k]};
    }
    qsort(value, (size_t)count, sizeof *value, ascending);
    int low = d->parts++, high = d->parts++, between = d->parts++;
    for (int k = 0; k < count; ++k) {
        d->part[value[k].row] = k < count / 2 ? low : high;
    }
    int size = separate(d, rows, count, low, high, between);
    if (size > WIDE_PART * count) {
        for (int k = 0; k < count; ++k) {
            d->part[rows[k]] = part;
        }
        return false;
    }
    deal(d, rows, count, (int[3]){between, low, high}, begin);
    return true;
}

// Orders the rows of a part, the last ones first.
static bool dissect(Dissection* d, int* rows, int count, Value* value) {
    if (count == 0) {
        return true;
    }
    int part = d->part[rows[0]], begin[2];
    if (count <= SMALL_PART) {
        return order_by_degree(d, rows, count, part);
    }
    // from one end, which is far from any row
    int reached = walk(d, rows[0], part), end = d->queue[reached - 1];
    if (reached < count) {
        int one = d->parts++, rest = d->parts++;
        for (int k = 0; k < count; ++k) {
            d->part[rows[k]] = d->level[rows[k]] >= 0 ? one : rest;
        }
        forget_levels(d, rows, count);
        deal(d, rows, count, (int[3]){one, rest, -2}, begin);
        return dissect(d, rows, begin[0], value) &&
               dissect(d, rows + begin[0], count - begin[0], value);
    }
    forget_levels(d, rows, count);
    walk(d, end, part);
    smooth(d, rows, count, part);
    forget_levels(d, rows, count);
    if (!cut(d, rows, count, part, value, begin)) {
        return order_by_degree(d, rows, count, part);
    }
    return order_by_degree(d, rows, begin[0], d->part[rows[0]]) &&
           dissect(d, rows + begin[0], begin[1] - begin[0], value) &&
           dissect(d, rows + begin[1], count - begin[1], value);
}

TdlStatus dissection_order(Arena* arena, int n, const int* start, const int* column, int* order) {
    Dissection d = {.n = n, .start = start, .column = column, .order = order, .done = n};
    size_t rows = (size_t)n;
    ArenaMark mark = arena_mark(arena);
    int** lists[] = {&d.part, &d.rows, &d.queue, &d.level, &d.mate, &d.seen, &d.at};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; ++k) {
        *lists[k] = ARENA_NEW(arena, int, rows + 1);
        if (*lists[k] == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
    }
    d.local = ARENA_NEW(arena, int, (size_t)start[n] + 1);
    d.x = ARENA_NEW(arena, double, rows + 1);
    d.next = ARENA_NEW(arena, double, rows + 1);
    Value* value = ARENA_NEW(arena, Value, rows + 1);
    if (!d.local || !d.x || !d.next || !value) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < n; ++i) {
        d.part[i] = 0;
        d.rows[i] = i;
        d.level[i] = -1;
    }
    d.parts = 1;
    bool good = dissect(&d, d.rows, n, value);
    arena_release(arena, mark);
    return good ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}
