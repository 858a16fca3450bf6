// Tiles of c stay in registers while L and U go by, both packed in the order in which they are
// read. The rows of a tile are reused for all columns of a call from the nearest cache.
#include "math/panel.h"

#include <string.h>

// Doubles in a register, which are also the columns of a tile; its rows fill three.
#ifdef __AVX512F__
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
enum { WIDE = 3, ROWS = WIDE * LANES };
enum { BLOCK = 8 }; // pivots of the triangle taken to the rows below them together

typedef double Lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));

size_t panel_size(int rows, int rank) {
    return (size_t)((rows + ROWS - 1) / ROWS * ROWS) * (size_t)rank;
}

void panel_pack(int rows, int rank, const double* l, size_t ld, double* packed) {
    for (int i = 0; i < rows; i += ROWS) {
        size_t count = (size_t)(rows - i < ROWS ? rows - i : ROWS);
        for (int k = 0; k < rank; ++k, packed += ROWS) {
            memcpy(packed, l + (size_t)k * ld + (size_t)i, count * sizeof(double));
            memset(packed + count, 0, (ROWS - count) * sizeof(double));
        }
    }
}

static void subtract_tile(int rank, const double* l, const Lanes* u, size_t ld, double* c) {
    Lanes sum[LANES][WIDE] = {{{0.0}}};
    for (int k = 0; k < rank; ++k, l += ROWS, ++u) {
        Lanes a[WIDE];
        for (int i = 0; i < WIDE; ++i) {
            a[i] = *(const Lanes*)(l + (size_t)i * LANES);
        }
        for (int j = 0; j < LANES; ++j) {
            for (int i = 0; i < WIDE; ++i) {
                sum[j][i] += a[i] * (*u)[j];
            }
        }
    }
    for (int j = 0; j < LANES; ++j) {
        for (int i = 0; i < WIDE; ++i) {
            Lanes* to = (Lanes*)(c + (size_t)j * ld + (size_t)i * LANES);
            *to -= sum[j][i];
        }
    }
}

// A tile that is not all there.
static void subtract_edge(int rank, const double* l, const Lanes* u, size_t ld, int rows,
                          int columns, double* c) {
    double tile[ROWS * LANES] = {0.0};
    for (int j = 0; j < columns; ++j) {
        memcpy(tile + (size_t)j * ROWS, c + (size_t)j * ld, (size_t)rows * sizeof(double));
    }
    subtract_tile(rank, l, u, ROWS, tile);
    for (int j = 0; j < columns; ++j) {
        memcpy(c + (size_t)j * ld, tile + (size_t)j * ROWS, (size_t)rows * sizeof(double));
    }
}

// u <- entries of the columns of c, by rows, and the triangle solved for them; c has them too.
static void solve_triangle(int rank, const double* triangle, size_t ld, int columns, double* c,
                           Lanes* u) {
    for (int j = 0; j < LANES; ++j) {
        const double* from = c + (size_t)(j < columns ? j : 0) * ld;
        for (int k = 0; k < rank; ++k) {
            ((double*)&u[k])[j] = from[k];
        }
    }
    for (int k0 = 0; k0 < rank; k0 += BLOCK) {
        int k1 = rank - k0 < BLOCK ? rank : k0 + BLOCK;
        for (int k = k0; k < k1; ++k) {
            const double* l = triangle + (size_t)k * ld;
            for (int i = k + 1; i < k1; ++i) {
                u[i] -= l[i] * u[k];
            }
        }
        for (int i = k1; i < rank; ++i) { // k1 - k0 is BLOCK then
            Lanes x = u[i];
            for (int k = 0; k < BLOCK; ++k) {
                x -= triangle[(size_t)(k0 + k) * ld + (size_t)i] * u[k0 + k];
            }
            u[i] = x;
        }
    }
    for (int j = 0; j < columns; ++j) {
        for (int k = 0; k < rank; ++k) {
            c[(size_t)j * ld + (size_t)k] = u[k][j];
        }
    }
}

// c -= L U
static void subtract(int rank, int rows, const double* packed, const Lanes* u, size_t ld,
                     int columns, double* c) {
    for (int i = 0; i < rows; i += ROWS, packed += (size_t)rank * ROWS) {
        int tall = rows - i < ROWS ? rows - i : ROWS;
        double* to = c + i;
        const Lanes* from = u;
        for (int j = 0; j < columns; j += LANES, from += rank, to += LANES * ld) {
            int wide = columns - j < LANES ? columns - j : LANES;
            if (tall == ROWS && wide == LANES) {
                subtract_tile(rank, packed, from, ld, to);
            } else {
                subtract_edge(rank, packed, from, ld, tall, wide, to);
            }
        }
    }
}

void panel_apply(int rank, int rows, const double* triangle, const double* packed, size_t ld,
                 int columns, double* c) {
    Lanes u[PANEL_RANK * PANEL_COLUMNS / LANES];
    for (int j = 0; j < columns; j += LANES) {
        int wide = columns - j < LANES ? columns - j : LANES;
        solve_triangle(rank, triangle, ld, wide, c + (size_t)j * ld, u + j / LANES * rank);
    }
    subtract(rank, rows, packed, u, ld, columns, c + rank);
}

void panel_product(int rank, int rows, const double* packed, const double* right, size_t right_ld,
                   int columns, size_t ld, double* c) {
    Lanes u[PANEL_RANK * PANEL_COLUMNS / LANES];
    for (int j = 0; j < columns; j += LANES) {
        size_t wide = (size_t)(columns - j < LANES ? columns - j : LANES);
        for (int k = 0; k < rank; ++k) {
            Lanes x = {0.0};
            memcpy(&x, right + (size_t)k * right_ld + (size_t)j, wide * sizeof(double));
            u[j / LANES * rank + k] = x;
        }
    }
    subtract(rank, rows, packed, u, ld, columns, c);
}
