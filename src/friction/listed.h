// Rows about lists of coordinates: which lists are alike, and products that make use of it.
//
// Bodies that are chains have lists of fours, four coordinates that follow each other at a time,
// and lists that are ways in a tree: two of them have one run in common, and nothing after it. Then
// products are of whole vectors, and none has to look for what lists have in common entry by entry.
// friction.md (F.67)
#ifndef TDL_FRICTION_LISTED_H
#define TDL_FRICTION_LISTED_H

#include "friction/problem.h"

// Sets `fours` and `ways` of a problem whose rows are laid out, and tells whether lists are rising
// coordinates of their bodies, as spans are parts of them. False when memory runs out.
bool listed_look(TdlFrictionProblem* p);

// out += rows v, v += rows' x and w += h y' (d x d, by columns) for d rows each of one body, with
// lists; in the last, one of two.
void listed_times(const TdlFrictionProblem* p, Rows rows, const double* v, double* out);
void listed_add(const TdlFrictionProblem* p, Rows rows, const double* x, double* v);
void listed_couple(const TdlFrictionProblem* p, Rows h, Rows y, double* w);

// The run that two lists have in common where they are ways: the first place in each, and how long.
typedef struct ListedRun {
    int a, b, count;
} ListedRun;
ListedRun listed_run(const int* a, int a_count, const int* b, int b_count, int step);

#endif
