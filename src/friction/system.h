// One island made ready for a solver: unit-free, reordered, in flat arrays. friction.md section 5
//
// With sigma the mean stiffness trace(W_ii)/d and beta the root mean square of |b_i|, the solvers
// see W/sigma, b/beta, r sigma/beta and u/beta, so that no threshold in them carries a unit. The
// error they stop on is still the caller's, in SI: see rho and target.
#ifndef TDL_FRICTION_SYSTEM_H
#define TDL_FRICTION_SYSTEM_H

#include "base/memory.h"
#include "base/threads.h"
#include "friction/cone.h"
#include "friction/effort.h"
#include "friction/islands.h"
#include "friction/problem.h"
#include "linalg/block_pattern.h"

// Contacts from which an island is large: threads share its products and its sweeps by groups of
// bodies, which fewer do not repay, and cheap steps come before dear ones.
enum { LARGE_ISLAND = 1000 };
// Contacts up to which an island is small: its factors cost less than many sweeps, and all of it
// less than waking threads.
enum { SMALL_ISLAND = 200 };
// Contacts, and bodies, that a thread takes at once in products: some microseconds of work.
enum { ROW_CHUNK = 128, BODY_GRAIN = 8 };

typedef struct System {
    int d, n;
    ContactLaw* law; // [n]
    bool associated; // some are LAW_ASSOCIATED
    double* mu;      // [n]
    double* b;       // [n d]
    double* diag;    // [n d d] diagonal blocks of W

    // W by block rows, columns ascending; null until needed when the problem has bodies
    int *start, *column;
    double* blocks;  // padded by four doubles
    int block_count; // about, where they are not there

    // velocity space
    const TdlFrictionProblem* problem; // null: of rows of W alone, a part of another
    const int* contact;                // [n] contacts of the problem, in this island's order
    int* bodies;                       // [bodies_count] that these touch, ascending
    int bodies_count;
    int *side_start, *side; // sides on each of these, 2 i and 2 i + 1 of contact i, ascending; null
                            // where there are not enough of them for threads
    double row_size;        // doubles in their rows of H and Y
    double* v;         // [problem dofs] H-driven velocity A^-1 H' r / beta; islands share the array
    double* v_given;   // [problem dofs] of bodies with their A the same in coordinates as given, or
                       // what drives it; null: there are none
    bool sweep_bodies; // sweeps go through bodies rather than rows of W

    double sigma, beta; // units: W and b
    TdlFrictionError error_kind;
    double rho;    // step of the error maps, which is 1 in SI
    double target; // norm of the unit-free map at which the caller's tolerance is met
    double factor; // caller's error of this island alone = factor * that norm

    Phases phases;
    Pool* pool;     // null: this thread alone
    Effort* effort; // of the island; null: nothing is counted
} System;

typedef struct SystemSetup {
    TdlFrictionError error_kind;
    double tolerance; // caller's, absolute in SI for this island
    bool sweep_bodies;
    double* shared_v; // [problem dofs], zeroed by the system
    int* local_of;    // [problem n] scratch, this island's part is written
    Effort* effort;   // null: nothing is counted
} SystemSetup;

// Builds the island of `n` contacts in the given order. Memory comes from the arena.
TdlStatus system_build(System* sys, Arena* arena, const TdlFrictionProblem* problem,
                       const int* contact, int n, const SystemSetup* setup);

// Lists the bodies that the contacts touch, where the problem has any, and the sides on them.
TdlStatus system_list_bodies(System* sys, Arena* arena);

// Coordinates of these bodies; 0 where the problem has none.
int system_coordinates(const System* sys);

// Forms the rows of W when the island has only bodies so far.
TdlStatus system_form_rows(System* sys, Arena* arena);

// Where the blocks of W are, once its rows are there.
static inline BlockPattern system_pattern(const System* sys) {
    return (BlockPattern){sys->n, sys->d, sys->start, sys->column, NULL};
}

// Multiplications of one product with W.
double system_product_work(const System* sys);

// u <- W r + b
void system_velocity(System* sys, const double* r, double* u);

// u <- W r
void system_product(System* sys, const double* r, double* u);

// v <- A^-1 H' r, ready for a sweep through bodies
void system_refresh_bodies(System* sys, const double* r);

// Of bodies with their A, in coordinates as given: v_given <- H' r / sigma, and out += H_i v_given.
void system_drive_nodes(System* sys, const double* r);
void node_row_add(const System* sys, int i, double* out);

// The norm of the caller's error map at (u, r), unit-free. Same bits for any number of threads.
double system_error(const System* sys, const double* u, const double* r);

// out <- b_i + sum_j W_ij r_j for one row. The scalar version is the definition.
void row_velocity_scalar(int d, const double* blocks, const int* column, int count, const double* r,
                         const double* b, double* out);
void row_velocity3(const double* blocks, const int* column, int count, const double* r,
                   const double* b, double* out);
void row_velocity6(const double* blocks, const int* column, int count, const double* r,
                   const double* b, double* out);

// out += rows v and v += rows' x for three rows of m, `apart` doubles from each other; the scalar
// versions are the definition
void rows3_times_scalar(int m, int apart, const double* rows, const double* v, double* out);
void rows3_add_scalar(int m, int apart, const double* rows, const double* x, double* v);
void rows3_times(int m, int apart, const double* rows, const double* v, double* out);
void rows3_add(int m, int apart, const double* rows, const double* x, double* v);

// out <- b_i + H_i v through the bodies, or out += H_i v; and the change of v by dr; and before
// that, while others are at work, the rows of H asked for
void body_row_add(const System* sys, int i, double* out);
void body_row_fetch(const System* sys, int i);
void body_row_velocity(const System* sys, int i, double* out);
void body_row_apply(System* sys, int i, const double* dr);

#endif
