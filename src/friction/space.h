// Matrices S' W T + A of all contacts, S, T and A a block for each, A diagonal: what Newton steps,
// interior points and barriers have to factor, over contacts or over coordinates.
//
// With w = Y' T x the change of velocities, S' W T x + A x = s is
//     over contacts      (S' W T + A) x = s
//     over coordinates   (1 + Y' T A^-1 S' H) w = Y' T A^-1 s,  x = A^-1 (s - S' H w)
// friction.md section 4.4
#ifndef TDL_FRICTION_SPACE_H
#define TDL_FRICTION_SPACE_H

#include "friction/nodal_matrix.h"
#include "linalg/six_lu.h"

// --- over coordinates ----------------------------------------------------------------------------

// A contact with unknowns seen from a body it moves, `other` the second one or the same.
typedef struct Touch {
    int body, other; // of the system's list
    int contact;
    int low, high; // coordinates of `body` that its rows of H are about
    int column;    // its first in the factors of `body`
} Touch;

// Bodies that share contacts, and where their block begins in rows of the first.
typedef struct Pair {
    int a, b;
    int touch, count; // those of `a` with `b`
    int offset;       // triples before it in a row
    int back;         // the pair (b, a)
} Pair;

typedef struct Pairs {
    Pair* at;
    int count;
    int* first; // [bodies + 1]
} Pairs;

typedef struct Coordinates {
    Run* run;
    const Reduced* part; // [n]
    Touch* touch;        // [count] by body, then by the other, then by what they are about
    int count;
    int* first;     // [bodies + 1] touches of each body
    int* triple;    // [bodies + 1] its first triple of coordinates; none of those not touched
    double** left;  // [bodies] Y' T, a column for each unknown
    double** right; // [bodies] -H' S A^-1
    Pairs pairs;
    BlockPattern pattern;
    double* blocks;
    Reduced* whole; // [triples]
    FrontLu lu;
    double* x;
} Coordinates;

// Order and pattern for parts of these sizes, whose numbers may change. Memory comes from the
// run's arena. TDL_STATUS_STOPPED: too large.
TdlStatus coordinates_plan(Coordinates* c, Run* run, const Reduced* part);
// TDL_STATUS_STOPPED: the caller asked to.
TdlStatus coordinates_factor(Coordinates* c);
// v of the system <- (1 + Y' T A^-1 S' H)^-1 v
void coordinates_solve(Coordinates* c);

// --- in the better of both -----------------------------------------------------------------------

// A contact's part: columns of d numbers, and A on the diagonal of `add`.
typedef struct Part {
    int* size;
    double *test, *trial, *add; // S, T, A
} Part;

// One of a contact of six.
typedef struct WholePart {
    int size;
    double test[36], trial[36], add[36];
} WholePart;

typedef struct Space {
    Run* run;
    bool over_coordinates;
    bool over_nodes;  // of bodies that have their A
    Reduced* reduced; // [n] of contacts of three
    WholePart* whole; // [n] of six
    FrontLu lu;       // over contacts of three
    bool may_thin;    // the caller does with solutions to some digits, and without the sign
    bool thins;       // over contacts of three, unknowns that W hardly matters to are not in the
    Reduced* strong;  // factors; [n] the parts that are, and which columns: a bit for each. (F.66)
    unsigned char* which;
    ArenaMark planned; // where their order begins
    SixLu six_lu;      // over contacts of six, with their matrix
    double* value;
    Coordinates coordinates;
    NodalMatrix nodes;
    double* slope;        // [n d d] T A^-1 S' over nodes
    bool* idle;           // [n] parts that are empty
    double *z, *u, *rest; // [n d]
    double flops;         // of a factorisation with what belongs to it, about
    int sign;             // of the determinant, after one
} Space;

// Whether fewer unknowns are in the coordinates of contacts of three than in so many of their own.
bool space_coordinates_pay(const Run* run, int unknowns);

// Room for parts; all of them are empty.
TdlStatus space_init(Space* s, Run* run);
Part space_part(const Space* s, int i);
// Order and pattern for the sizes that the parts have. TDL_STATUS_STOPPED: too large.
TdlStatus space_plan(Space* s);
// TDL_STATUS_STOPPED: the caller asked to.
TdlStatus space_factor(Space* s);
// x <- (S' W T + A)^-1 x; d places a contact, of which the first `size` are used.
void space_solve(Space* s, double* x);

#endif
