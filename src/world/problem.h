// The contact problem of a step: which candidates take part, their rows of H and of Y = A^-1 H'.
// docs/theory/world.md, section 1
//
// Where every body that is touched has coordinates z in which A^-1 is K, ones with signs, rows of G
// and of G K take the place of both: they are short, and W = G K G'. world.md (W.27)
#ifndef TDL_WORLD_PROBLEM_H
#define TDL_WORLD_PROBLEM_H

#include "world/bed.h"
#include "world/contact_data.h"

typedef struct Problem {
    TdlWorld* world;
    Contacts* contacts;
    double dt;
    bool hurried;        // no thorough solver
    Bed bed;             // what fills space; its body null: nothing does
    int count;           // of contacts: the bed's, then candidates
    int law_count;       // of those that obey the law: the first. The others are only pushed
    int* of;             // [count] candidate of each; -1 of the bed's
    int body_count;      // all bodies of the world; those without coordinates have none here
    int* dof_start;      // [body_count + 1]
    double* velocity;    // [dofs] without contacts
    int* body;           // [2 count] whose coordinates move a side; -1: none
    TdlSpan* span;       // [2 count] coordinates of its body that a side's rows of H are about
    const int** list;    // [2 count] or those of a list, as many; null: the span. Null: all are
    size_t* h_at;        // [2 count] where its rows are
    double* h;           // rows of H
    bool plain;          // it is not to be whitened
    bool whitened;       // the solver's coordinates are z; else the bodies' own, and g is h
    int* z_start;        // [body_count + 1] the solver's coordinates of each body
    TdlSpan* z_span;     // [2 count] those that a side's rows of G are about
    const int** z_list;  // [2 count] or a list, as above
    int* shared;         // [count] coordinates at the head of both lists of a body that touches
                         // itself: rows of the first side have them for both
    size_t *g_at, *y_at; // [2 count] where rows of G and Y are: whitened both alike; else those of
                         // y are the first side's for both where a body touches itself
    double *g, *y;       // rows of G and of G K, or of H and of A^-1 H', in units of impulse that
                         // make W about 1. The same array where K is 1
    double *mu, *bias;   // [count]
    double *fixed, *u, *r; // [3 count] prescribed velocity; result
    double* back;          // [3 count] the part of it that takes back what slid (W.14)
    bool* immobile;        // [candidates] those that cannot move: they take no part
    double* mass;          // [body_count] kg, of bodies placed in others; 0: not asked yet
    double* before;        // [3 count] relative velocity without contacts
    double* change;        // of the velocities, in the solver's coordinates
    double unit;           // r in N s = r / unit
} Problem;

// Lays the problem out in the arena of the contacts, and fills it. No contact: count is 0.
TdlStatus problem_build(Problem* problem);
// The same in two parts: the contacts with their rows of H, in the shape that bodies are in; and
// what follows from A and v_free, which may be asked for after the bodies went back to where the
// step begins. Impulses are in N s, and contacts that nothing can move take part.
TdlStatus problem_build_rows(Problem* problem);
void problem_build_columns(Problem* problem);
// What follows from the bodies' v_free, where only that is another; r stays as the guess.
void problem_renew(Problem* problem);

// The candidate of a contact; null: it is the bed's.
static inline Candidate* problem_candidate(const Problem* p, int i) {
    return p->of[i] < 0 ? NULL : &p->contacts->found.at[p->of[i]];
}

// What a contact is between, and where: the body of a side, and its place as something acts there.
Body* problem_body(const Problem* problem, int contact, int side);
BodyPlace problem_place(const Problem* problem, int contact, int side);
TdlMat3 problem_basis(const Problem* problem, int contact);
double problem_gap(const Problem* problem, int contact); // m

// How long the impulse of a contact acts, s.
static inline double problem_lasts(const Problem* p, int i) {
    return body_lasts(problem_body(p, i, 0), problem_body(p, i, 1), p->dt);
}

static inline int problem_dofs(const Problem* p, int body) {
    return body < 0 ? 0 : p->dof_start[body + 1] - p->dof_start[body];
}

static inline bool problem_touches_itself(const Problem* p, int i) {
    return p->body[2 * i] >= 0 && p->body[2 * i] == p->body[2 * i + 1];
}

// Row `row` of a side's H, times a vector over the coordinates of its body, or of all bodies.
double problem_own_product(const Problem* problem, int side, int row, const double* own);
double problem_side_product(const Problem* problem, int side, int row, const double* all);

// What displacements or velocities of the bodies make along the normal of a contact.
double problem_normal_motion(const Problem* problem, int contact, const double* move);

// A diagonal entry of W.
double problem_row_product(const Problem* problem, int contact, int row);

// m W_NN of a contact, m the mass of the lighter body: about 1 where that is free, 0 where nothing
// can move. (W.11)
double problem_mobility(const Problem* problem, int contact);

// Row `row` of a side, as the solver has it, times a vector over all of the solver's coordinates;
// and the vector with `amount` of what an impulse along that row does. A side that does nothing, or
// whose first side does it for both, adds nothing.
double problem_solver_product(const Problem* problem, int side, int row, const double* z);
void problem_solver_add(const Problem* problem, int side, int row, double amount, double* z);

// What the solver's coordinates of a body are in its own; another array.
void problem_unwhiten(const Problem* problem, int body, const double* z, double* v);

// Displacements that take overlaps away without opening others; they are handed to the bodies.
// TDL_STATUS_STOPPED: the caller asked to stop, and none are.
TdlStatus problem_push(Problem* problem);

#endif
