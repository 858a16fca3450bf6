// What a force at a place of a rod does to all coordinates of its tree: rows[k * tree_dofs + j].
#ifndef TDL_TEST_WHOLE_ROWS_H
#define TDL_TEST_WHOLE_ROWS_H

#include "rod/rod.h"

#include <string.h>

static inline void whole_rows(const Rod* rod, int element, double s, TdlMat3 basis, double* rows) {
    TdlSpan span = rod->model->movers(rod, element);
    size_t n = (size_t)span.count, all = (size_t)rod->tree_dofs;
    rod->model->jacobian(rod, element, s, basis, rows);
    for (size_t k = 3; k-- > 0;) { // from the last, since rows move up
        memmove(rows + k * all + span.first, rows + k * n, n * sizeof *rows);
        memset(rows + k * all, 0, (size_t)span.first * sizeof *rows);
        memset(rows + k * all + span.first + n, 0, (all - n - (size_t)span.first) * sizeof *rows);
    }
}

#endif
