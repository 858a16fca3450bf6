// Bodies whose A is given as a sparse matrix: sheets of nodes, grids of a continuum.
//
// With A = C C', C its Cholesky factor in an order with little fill, the problem is kept in
// z = C' v, where A is 1 and rows are G = H C'^-1; both are sparse. A and H stay beside them: over
// nodes the matrix of a Newton step has the pattern of A + H' H. friction.md section 4.13
#ifndef TDL_FRICTION_NODAL_H
#define TDL_FRICTION_NODAL_H

#include "base/memory.h"
#include "friction/problem.h"
#include "linalg/sparse_root.h"

// C of whoever whitened the rows: z <- C^-1 f and v <- C'^-1 z of one body, other arrays.
typedef struct NodalRoot {
    void (*drive)(void* user, int body, const double* f, double* z);
    void (*velocity)(void* user, int body, const double* z, double* v);
    void* user;
} NodalRoot;

typedef struct Nodal {
    Arena arena;                // everything below
    TdlFrictionBodiesDef given; // the caller's arrays
    SideRows* side;             // [2 n] rows of H as given
    bool whitened;              // the problem was given in z already: `root` is the caller's C
    NodalRoot root;
    SparseRoot c;  // else: in an order in which bodies stay together
    double *g, *z; // rows of G; [m] the free velocity; z is null where there is none
} Nodal;

// Factors A and puts p into z: its rows, their lists and its velocity. The sides of p are those of
// H as given. TDL_STATUS_BAD_ARGUMENT: A is not symmetric and positive definite.
TdlStatus nodal_create(const TdlHost* host, TdlFrictionProblem* p, const TdlFrictionBodiesDef* def);

// A and rows of H beside a problem that was given in z: those of `def`, about the same bodies and
// contacts, of which only `a`, `span`, `list` and `h` are read.
TdlStatus nodal_attach(TdlFrictionProblem* p, const TdlFrictionBodiesDef* def,
                       const NodalRoot* root);

// Of one body: z <- C^-1 f, v <- C'^-1 z. Arrays over the coordinates of all bodies.
void nodal_drive(const TdlFrictionProblem* p, int body, const double* f, double* z);
void nodal_velocity(const TdlFrictionProblem* p, int body, const double* z, double* v);

void nodal_destroy(const TdlAllocator* mem, Nodal* nodal);

// v += H' x and out += H v of the rows of a side as given; v of its body.
static inline void nodal_rows_drive(const Nodal* a, int side, int d, const double* x, double* v) {
    const SideRows* rows = &a->side[side];
    const double* h = a->given.h + rows->h;
    for (int j = 0; j < rows->count; ++j) {
        double sum = 0.0;
        for (int k = 0; k < d; ++k) {
            sum += h[(ptrdiff_t)k * rows->apart + j] * x[k];
        }
        v[rows->list == NULL ? rows->first + j : rows->list[j]] += sum;
    }
}

static inline void nodal_rows_add(const Nodal* a, int side, int d, const double* v, double* out) {
    const SideRows* rows = &a->side[side];
    const double* h = a->given.h + rows->h;
    for (int k = 0; k < d; ++k) {
        const double* row = h + (ptrdiff_t)k * rows->apart;
        out[k] += rows->list == NULL ? dot_product((size_t)rows->count, row, v + rows->first)
                                     : gather_product(rows->count, row, rows->list, v);
    }
}

#endif
