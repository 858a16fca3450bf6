// What a frictional contact problem holds, for the solvers and the writers.
#ifndef TDL_FRICTION_PROBLEM_H
#define TDL_FRICTION_PROBLEM_H

#include "friction/cone.h"
#include "tendril/friction.h"

// Where the rows of a side are, and what those of H are about: beyond that they are zero.
typedef struct SideRows {
    size_t h, y;      // the first double of each; y: nothing of a side that does not move its body
    int first, count; // coordinates of its body
    int apart;        // doubles from a row of H to the next
    const int* list;  // or `count` coordinates of a list, with `first` 0; null: the span
} SideRows;

struct TdlFrictionProblem {
    TdlAllocator mem;
    int d, n;                  // block size, contacts
    int dof_count;             // 0 when unknown
    double asymmetry;          // of W as given
    double* mu;                // [n]
    unsigned char* law;        // [n] ContactLaw
    unsigned char* bilateral;  // [n]
    unsigned char* associated; // [n] as given; null: none is
    double* gamma;             // [n] beside W, in velocity space; null: nothing is
    double* c;                 // [n] prescribed normal velocity
    double* guess;             // [n d] of the caller's, null: none
    double* b;                 // [n d] u at r = 0
    double* q;                 // [n d] b - c n: what the law sees
    double q_norm;

    // explicit form; null in velocity space
    int* start;     // [n + 1]
    int* column;    // [start[n]] ascending within a row
    double* blocks; // [start[n] d d] and four doubles more, so that wide loads stay inside

    // velocity space; null in explicit form
    int body_count;
    int moving_count; // of bodies that have coordinates
    const int* dof_start;
    const double* velocity;
    const double* u_free;
    const int* body; // [2 n]
    const TdlSpan* span;
    const int* const* list;
    const double *h, *y;
    bool y_like_h;        // rows of Y are about what those of H are, side by side
    double* own_y;        // y when it was computed here
    TdlReleaseFn release; // of a caller that handed its arrays over
    void* release_user;
    SideRows* side;      // [2 n]
    bool fours, ways;    // of lists: see listed.h
    struct Nodal* nodal; // where A was given: this form is in z = C' v; null: it was not
};

static inline bool problem_has_bodies(const TdlFrictionProblem* p) {
    return p->body != NULL;
}

// What both forms of a problem are made with: laws checked; all but W and b; q and its norm from b.
TdlStatus problem_check_laws(const TdlHost* host, const TdlFrictionLaws* laws);
TdlFrictionProblem* problem_new(const TdlHost* host, const TdlFrictionLaws* laws);
void problem_finish(TdlFrictionProblem* p);
// What it was made with.
TdlFrictionLaws problem_laws(const TdlFrictionProblem* p);
// Another b, and another prescribed normal velocity, of the same W without velocities of bodies.
void problem_set_free(TdlFrictionProblem* p, const double* b, const double* normal_velocity);
bool problem_all_finite(const double* x, size_t count);
bool problem_all_zero(const double* x, int count);

// u += H A^-1 H' r; v is scratch for [dof_count].
void problem_add_through_bodies(const TdlFrictionProblem* p, const double* r, double* u, double* v);

// u <- W r + b, through the bodies where the problem has them; v is scratch for [dof_count].
void problem_velocity(const TdlFrictionProblem* p, const double* r, double* u, double* v);

static inline int body_dofs(const TdlFrictionProblem* p, int body) {
    return p->dof_start[body + 1] - p->dof_start[body];
}

// Whether coordinates are such that A is 1 and Y is H.
static inline bool problem_whitened(const TdlFrictionProblem* p) {
    return p->y == p->h;
}

// Whether a side has rows in y: of a body that touches itself the first side moves it for both.
static inline bool side_moves(const TdlFrictionProblem* p, int side) {
    bool again = side % 2 == 1 && p->body[side] == p->body[side - 1];
    return p->body[side] >= 0 && (p->y_like_h || !again);
}

// Rows of a side, zero but for `count` coordinates of its body from `first` on.
typedef struct Rows {
    const double* row;
    int first, count;
    int apart;       // doubles from a row to the next
    const int* list; // or but for those of a list; null: from `first` on
} Rows;

// Those of H: what velocities do at the contact.
static inline Rows rows_of_h(const TdlFrictionProblem* p, int side) {
    SideRows x = p->side[side];
    return (Rows){p->h + x.h, x.first, x.count, x.apart, x.list};
}

// Those of Y, of a side that moves: what impulses do to velocities.
static inline Rows rows_of_y(const TdlFrictionProblem* p, int side) {
    if (p->y_like_h) {
        SideRows x = p->side[side];
        return (Rows){p->y + x.h, x.first, x.count, x.apart, x.list};
    }
    int m = body_dofs(p, p->body[side]);
    return (Rows){p->y + p->side[side].y, 0, m, m, NULL};
}

// What a sweep over some contacts reads: all blocks of a contact's row of W, or its rows of H and
// Y.
typedef struct FormWeights {
    double blocks; // of W, about: a contact that two share in two bodies counts twice
    bool bodies_pay;
} FormWeights;
// `touching` has the number of these contacts on each body.
FormWeights problem_weigh_forms(const TdlFrictionProblem* p, const int* contact, int n,
                                const int* touching);

// w (d x d, column by column) += the coupling H_i Y_j' of contacts i and j through shared bodies.
void problem_add_coupling(const TdlFrictionProblem* p, int i, int j, double* w);

// The upper part (j >= i) of W from bodies: calls add for every coupled pair once, i ascending.
typedef void (*CouplingFn)(void* user, int i, int j, const double* w);
TdlStatus problem_each_coupling(const TdlFrictionProblem* p, CouplingFn fn, void* user);

// The sum of a[i] b[list[i]].
static inline double gather_product(int n, const double* a, const int* list, const double* b) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[list[i]];
    }
    return sum;
}

static inline double dot_product(size_t n, const double* a, const double* b) {
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2];
        s3 += a[i + 3] * b[i + 3];
    }
    for (; i < n; ++i) {
        s0 += a[i] * b[i];
    }
    return (s0 + s1) + (s2 + s3);
}

#endif
