// The product in a blocked LU: eliminated columns taken to the columns behind them; and the same
// product alone.
//
// Matrices are column-major. The panel is `rank` columns of unit lower trapezoidal L: a triangle on
// top and `rows` rows below it, which are packed once and then serve any number of columns, also
// from several threads.
#ifndef TDL_MATH_PANEL_H
#define TDL_MATH_PANEL_H

#include <stddef.h>

enum { PANEL_RANK = 64, PANEL_COLUMNS = 64 }; // at most, of a panel and of columns in one call

// Doubles of the rows below, packed.
size_t panel_size(int rows, int rank);
// l is the panel's first row below the triangle.
void panel_pack(int rows, int rank, const double* l, size_t ld, double* packed);
// Columns of c, from the row of the triangle's corner on: their first `rank` entries become those
// of U, and the product of L and U is taken from the others.
void panel_apply(int rank, int rows, const double* triangle, const double* packed, size_t ld,
                 int columns, double* c);
// c (rows x columns) -= L R', with `rank` columns of R.
void panel_product(int rank, int rows, const double* packed, const double* right, size_t right_ld,
                   int columns, size_t ld, double* c);

#endif
