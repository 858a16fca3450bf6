// Blocks of six in the fronts that blocks of three have.
#include "linalg/six_lu.h"

#include <string.h>

// Of the block at place e of row i its part (half, other), among the blocks of three.
static int part_of(const BlockPattern* six, int i, int e, int half, int other) {
    int first = six->start[i], count = six->start[i + 1] - first;
    return 4 * first + 2 * count * half + 2 * (e - first) + other;
}

static bool split_pattern(SixLu* s, Arena* arena) {
    const BlockPattern* six = &s->six;
    size_t rows = 2 * (size_t)six->n, count = 4 * (size_t)six->start[six->n];
    int* start = ARENA_NEW(arena, int, rows + 1);
    int *column = ARENA_NEW(arena, int, count), *across = ARENA_NEW(arena, int, count);
    if (start == NULL || column == NULL || across == NULL) {
        return false;
    }
    for (int i = 0; i < six->n; ++i) {
        start[2 * i] = part_of(six, i, six->start[i], 0, 0);
        start[2 * i + 1] = part_of(six, i, six->start[i], 1, 0);
        for (int e = six->start[i]; e < six->start[i + 1]; ++e) {
            int j = six->column[e], back = block_pattern_place(six, j, i);
            for (int k = 0; k < 4; ++k) {
                int at = part_of(six, i, e, k / 2, k % 2);
                column[at] = 2 * j + k % 2;
                across[at] = part_of(six, j, back, k % 2, k / 2);
            }
        }
    }
    start[rows] = (int)count;
    s->three = (BlockPattern){(int)rows, 3, start, column, across};
    return true;
}

TdlStatus six_lu_analyse(SixLu* s, Arena* arena, const BlockPattern* six, const bool* idle) {
    *s = (SixLu){.six = *six};
    if (six->start[six->n] > INT32_MAX / 4) {
        return TDL_STATUS_STOPPED;
    }
    s->whole = ARENA_NEW(arena, Reduced, 2 * (size_t)six->n);
    s->blocks = ARENA_NEW(arena, double, 36 * (size_t)six->start[six->n]);
    if (s->whole == NULL || s->blocks == NULL || !split_pattern(s, arena)) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < 2 * six->n; ++i) {
        s->whole[i] = (Reduced){idle != NULL && idle[i / 2] ? 0 : 3,
                                {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0},
                                {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0},
                                {0}};
    }
    return front_lu_analyse(&s->lu, arena, &s->three, s->whole);
}

bool six_lu_factor(SixLu* s, const double* value, Pool* pool) {
    for (int i = 0; i < s->six.n; ++i) {
        for (int e = s->six.start[i]; e < s->six.start[i + 1]; ++e) {
            const double* from = value + 36 * (size_t)e;
            for (int k = 0; k < 4; ++k) {
                double* to = s->blocks + 9 * (size_t)part_of(&s->six, i, e, k / 2, k % 2);
                for (int c = 0; c < 3; ++c) {
                    memcpy(to + 3 * c, from + 6 * (3 * (k % 2) + c) + 3 * (k / 2), 3 * sizeof *to);
                }
            }
        }
    }
    return front_lu_factor(&s->lu, s->blocks, pool);
}

void six_lu_solve(SixLu* s, double* x) {
    front_lu_solve(&s->lu, x);
}
