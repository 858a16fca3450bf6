// Rows of strain and contacts as the solver sees them: velocities, impulses and prepared blocks, in
// units in which the diagonal blocks of rows, and those of contacts, have a mean of 1.
// granular-solver.md
#ifndef TDL_FRICTION_STRAIN_SYSTEM_H
#define TDL_FRICTION_STRAIN_SYSTEM_H

#include "friction/cone.h"
#include "friction/strain.h"

// One side of a contact on a body with coordinates.
typedef struct StrainSide {
    const double *h, *y; // three rows each; y null: this side does not move its body
    double* z;           // of its body
    const int* list;     // coordinates that rows are about; null: from `first` on
    int first, count;
    int y_count; // as many of Y from the first coordinate on; 0: Y is about what H is
} StrainSide;

typedef struct StrainSystem {
    const StrainProblem* problem;
    StrainRows rows;
    Pool* pool;
    int d;           // components of a row
    int n, contacts; // rows, contacts
    size_t size;     // d n + 3 contacts: impulses of rows, then of contacts
    int nodes, dofs;
    double row_unit;      // u and r in units: row_unit u, r/row_unit. (A.44)
    double contact_unit;  // the same of contacts, in N s
    double* node;         // [4 nodes] velocity, 1/mass
    double* z;            // of the other bodies, the caller's
    double* step;         // [n] of a row: its impulse changes by so much times -u; 0: it has none
    double* contact_prep; // [contacts] the same
    double* block;        // [9 contacts] of W's diagonal, by columns
    double* q;            // [3 contacts] u that no body has a part in, without c
    unsigned char* law;   // [contacts] ContactLaw
    StrainSide* side;     // [2 contacts]
    double b_norm;        // of all u at r = 0
    int task_count;       // blocks of rows of a colour
    int *task, *colour_task; // [task_count + 1] first rows, [colours + 1] first tasks
    double* sums;            // [task_count]
    double visit_work;       // multiplications of a visit of a row
} StrainSystem;

// Checks the problem, chooses units and prepares blocks; memory comes from the arena.
TdlStatus strain_system_init(StrainSystem* s, Arena* arena, Pool* pool,
                             const StrainProblem* problem, double* z);

// Velocities of all that moves, from impulses.
void strain_refresh(StrainSystem* s, double* r);
// |u| of all rows and contacts.
double strain_speed(StrainSystem* s);
// Where impulses of contacts begin.
double* strain_contact_part(const StrainSystem* s, double* r);
// Puts impulses into the cones.
void strain_project(StrainSystem* s, double* r);
// One sweep from velocities that belong to r; returns the norm of the change of r.
double strain_sweep(StrainSystem* s, double* r);
// |r - P_K(r - u~)| at velocities that belong to r.
double strain_error(StrainSystem* s, double* r);

// --- rows ----------------------------------------------------------------------------------------

// Their units and steps. TDL_STATUS_BAD_ARGUMENT: something is not finite.
TdlStatus strain_rows_prepare(StrainSystem* s, Arena* arena);
// Visits all; returns the square of the change of r.
double strain_rows_sweep(StrainSystem* s, double* r);
// Nodes change by what impulses do.
void strain_rows_push(StrainSystem* s, double* r);
// The square of r - P_K(r - u~).
double strain_rows_error(StrainSystem* s, double* r);
// What velocity 1 along axis a of a node with this g does to u, without the unit.
void strain_row_of(int dimension, int a, const double* g, double* row);
// u of row j.
void strain_row_velocity(const StrainSystem* s, int j, double* u);

static inline ContactLaw row_law(double mu) {
    return mu == 0.0 ? LAW_SMOOTH : isinf(mu) ? LAW_ROUGH : LAW_CONE;
}

// --- contacts ------------------------------------------------------------------------------------

TdlStatus strain_contacts_prepare(StrainSystem* s, Arena* arena);
void strain_contact_velocity(const StrainSystem* s, int c, double* u);
// Velocities change by what an impulse does.
void strain_contact_push(StrainSystem* s, int c, const double* dr);
// Visits all; r is theirs. Returns the square of the change.
double strain_contacts_sweep(StrainSystem* s, double* r);
double strain_contacts_error(const StrainSystem* s, const double* r);

#endif
