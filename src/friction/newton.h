// Newton's method on a proximal point problem, judged by the velocities that it leaves.
//
// Around a centre every velocity has an impulse r(u) that answers it. An iterate t with
// d = t - r(b + W t) is off by the velocity W d.
// friction.md section 4.4
#ifndef TDL_FRICTION_NEWTON_H
#define TDL_FRICTION_NEWTON_H

#include "friction/nodal_matrix.h"
#include "linalg/six_lu.h"

typedef struct Newton {
    Run* run;
    double rho;         // slope of the answers, in units of 1 / a contact's own stiffness
    double* own;        // [n] that unit
    double* centre;     // [n d]
    double *t, *u;      // [n d] impulses, b + W t
    double* r;          // [n d] r(u)
    double *d, *g;      // [n d] t - r, and W d
    bool fresh;         // no step was made around this centre
    int made;           // steps in all
    double off;         // |g|, infinite where a step had no digits left
    double *step, *du;  // [n d] direction, and W of it
    Reduced* part;      // [n] -dr/du at each contact of three in factors: trial test'/add
    double* slope;      // [n d d] the same of six and over nodes, by columns; null: not needed
    bool* idle;         // [n] that have none
    int unknowns;       // of all parts
    int coordinates;    // of the bodies touched; 0: unknown
    bool few_idle;      // contacts of six: nearly all of them answer
    SixLu* blocks;      // over contacts of six; null: no step was made yet
    NodalMatrix* nodes; // over which steps are sought; null: none was yet
} Newton;

// Ready at run->start, or at the best iterate, with that for a centre.
TdlStatus newton_init(Newton* nw, Run* run);
// Measures t again: it, the centre or rho is another.
void newton_restart(Newton* nw);
// A step. TDL_STATUS_STOPPED: the factors would be too large or too dear.
TdlStatus newton_step(Newton* nw);

// step <- the direction at t. newton_space.c
TdlStatus newton_direction(Newton* nw);

#endif
