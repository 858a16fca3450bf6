// The discrete frictional contact problem, and solvers of it.
//
// Given a symmetric operator W and a free velocity b, find the contact impulses r with
//     u = W r + b,     (u_i - c_i n, r_i) in C(mu_i) for every contact i,
// where C(mu) is the exact Signorini-Coulomb law: no facets, no penalty, no regularisation. Within
// a contact the normal component comes first, then the tangential ones. docs/theory/friction.md
#ifndef TENDRIL_FRICTION_H
#define TENDRIL_FRICTION_H

#include "tendril/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A frictional contact problem in one of its two forms. Opaque; create, solve, destroy.
typedef struct TdlFrictionProblem TdlFrictionProblem;

/// What every contact needs, in both forms.
typedef struct TdlFrictionLaws {
    int block_size;                 // 3 (Coulomb in space) or 6 (Drucker-Prager); default 3
    int contact_count;              // >= 0
    const double* mu;               // [contact_count] friction coefficient, 0 to INFINITY.
                                    // 0: no friction. INFINITY: the tangential velocity is zero.
    const unsigned char* bilateral; // [contact_count] nonzero: u = c n whatever r; null: none is
    const double* normal_velocity;  // [contact_count] c, m/s: prescribed or restitution; null: 0
    const double* guess; // [contact_count block_size] N s: where a solver may start. Kept
                         // with the problem for whoever asks; null: none
    const unsigned char*
        associated;      // [contact_count] nonzero: u_i - c_i n in the dual of the cone
                         // of r_i and normal to it, without the shift by mu |u_T|; null:
                         // none is. Where all are so, r is the least of
                         // r'W r / 2 + (b - c n)'r over the cones: no law of friction,
                         // but a convex problem
    const double* gamma; // [contact_count] 1/kg, >= 0: added to the diagonal of W, so that forces
                         // are unique where that is singular; null: nothing is. In explicit form it
                         // becomes part of W, and is not told of again
} TdlFrictionLaws;

/// The explicit form: W as sparse blocks. Everything is copied. W need not be exactly symmetric:
/// (W + W')/2 is used, and TdlFrictionSize tells how far it was from it.
typedef struct TdlFrictionMatrixDef {
    TdlFrictionLaws laws;
    const double* b;      // [contact_count block_size] m/s, velocity without contact impulses
    const int* row_start; // [contact_count + 1] first block of each block row
    const int* column;    // [row_start[contact_count]] block columns; repeated ones are added
    const double* blocks; // the blocks, each column by column
    int dof_count;        // degrees of freedom behind W, 0 when unknown; only for nu = 3 n / m
} TdlFrictionMatrixDef;

/// A sparse matrix by rows, columns rising in each.
typedef struct TdlSparseRows {
    const int* start;    // [rows + 1]
    const int* column;   // [start[rows]]
    const double* value; // [start[rows]]
} TdlSparseRows;

/// Solves A_body x = rhs for one body; both have the body's degrees of freedom.
typedef void (*TdlBodySolveFn)(void* user, int body, const double* rhs, double* x);

/// Frees what `user` holds.
typedef void (*TdlReleaseFn)(void* user);

/// The velocity-space form: W = H A^-1 H' is never formed by the sweeps that do not need it.
///
/// Contact i touches bodies body[2i] and body[2i+1]; -1 is an obstacle with no unknowns. Side s of
/// contact i owns a block of block_size rows in `h` (rows of H_i), each over its span of the body's
/// degrees of freedom, and one in `y` (rows of Y_i' = (A^-1 H_i')'), each over all of them, one row
/// after the other. Blocks lie packed in the order of contacts and sides. Of a contact of a body
/// with itself `y` has one block, for both sides. Bodies in whitened coordinates
/// (z = L' v, A = L L') may give y == h, each side with its own block in its own span, which at
/// least halves the memory that a sweep reads. With `y_like_h` rows of `y` lie so, too, and may be
/// others: in coordinates in which A^-1 is diagonal with some entries -1.
///
/// Bodies of many nodes, of which a contact touches few (cloth, grains on a grid), give A itself,
/// sparse, and rows of H by lists of coordinates; then `y` and `solve` are null, nothing as large
/// as Y is made, and Newton steps are solved for over the nodes.
///
/// The arrays are not copied: they must outlive the problem and not change meanwhile. With a
/// `release` they are the problem's once it is created, and given back when it is destroyed.
typedef struct TdlFrictionBodiesDef {
    TdlFrictionLaws laws;
    int body_count;
    const int* dof_start;   // [body_count + 1] first degree of freedom of each body
    const double* velocity; // [dof_start[body_count]] A^-1 f: the velocity without contact;
                            // null: zero
    const double* u_free;   // [contact_count block_size] u when all v = 0; null: zero
    const int* body;        // [2 contact_count]
    const TdlSpan* span;    // [2 contact_count] outside which rows of H are zero; null: everything
    const int* const*
        list;             // [2 contact_count] coordinates that rows of H are about, rising: as many
                          // as the span has, in its place; null of a side: the span; null: all
    const double* h;      // rows of H, packed
    const double* y;      // rows of Y', packed; null: computed with `solve`, or not needed with a
    bool y_like_h;        // rows of Y are about the coordinates that those of H are, side by side
    TdlBodySolveFn solve; // used when y is null
    void* solve_user;     // handed to solve
    TdlSparseRows a;      // A of all bodies, symmetric and positive definite, a body's rows about
                          // its own coordinates; kg. Nulls: not given
    TdlReleaseFn release; // called once, when the problem is destroyed; null: nothing is
    void* release_user;   // handed to release
} TdlFrictionBodiesDef;

/// Creates a problem in explicit form.
TDL_API TdlStatus tdl_friction_problem_create(const TdlHost* host, const TdlFrictionMatrixDef* def,
                                              TdlFrictionProblem** out);
/// Creates a problem in velocity space.
TDL_API TdlStatus tdl_friction_problem_create_bodies(const TdlHost* host,
                                                     const TdlFrictionBodiesDef* def,
                                                     TdlFrictionProblem** out);
/// Frees a problem; null is allowed.
TDL_API void tdl_friction_problem_destroy(TdlFrictionProblem* problem);

/// The measures of a problem.
typedef struct TdlFrictionSize {
    int block_size, contact_count;
    int dof_count;    // 0 when unknown
    int block_count;  // blocks of W kept; 0 in velocity space
    double asymmetry; // |W - W'| / |W| as given, Frobenius
    double b_norm;    // |b|, m/s
} TdlFrictionSize;
TDL_API TdlFrictionSize tdl_friction_problem_size(const TdlFrictionProblem* problem);

/// The explicit form of a problem, readable as it lies in memory: symmetric, columns ascending.
/// Null arrays in velocity space.
TDL_API TdlFrictionMatrixDef tdl_friction_problem_matrix(const TdlFrictionProblem* problem);

/// The velocity-space form of a problem, as it was given: what it is created from again. `y` is
/// there whether it was given or computed. Null arrays in explicit form.
TDL_API TdlFrictionBodiesDef tdl_friction_problem_bodies(const TdlFrictionProblem* problem);

/// The same problem with W formed; for saving one that came from bodies.
TDL_API TdlStatus tdl_friction_problem_explicit(const TdlHost* host,
                                                const TdlFrictionProblem* problem,
                                                TdlFrictionProblem** out);

/// u = W r + b.
TDL_API TdlStatus tdl_friction_velocity(const TdlFrictionProblem* problem, const double* r,
                                        double* u);

/// The v = A^-1 (f + H' r) of a problem in velocity space; [dof_start[body_count]].
TDL_API TdlStatus tdl_friction_body_velocity(const TdlFrictionProblem* problem, const double* r,
                                             double* v);

/// How far (u, r) is from the law; each is zero exactly at a solution.
typedef enum TdlFrictionError {
    TDL_FRICTION_ERROR_NATURAL = 0,        // r - P_K(r - (u + mu |u_T| n))
    TDL_FRICTION_ERROR_ALART_CURNIER,      // projections of normal and tangential part apart; of
                                           // associated contacts the natural one
    TDL_FRICTION_ERROR_FISCHER_BURMEISTER, // Jordan-algebra x + y - (x^2 + y^2)^(1/2)
    TDL_FRICTION_ERROR_COUNT
} TdlFrictionError;
TDL_API const char* tdl_friction_error_name(TdlFrictionError kind);

/// The Euclidean norm of an error map at r, with u = W r + b recomputed; divided by |b| when
/// `relative` is true and b is not zero. Beside impulses so large that velocities would be lost the
/// natural map is computed in extended precision.
TDL_API double tdl_friction_error(const TdlFrictionProblem* problem, TdlFrictionError kind,
                                  bool relative, const double* r);

/// `auto` does what it takes to reach the tolerance, factorisations of W included. A simulation
/// that would rather go on with the best iterate takes TDL_FRICTION_ALTERNATING and a few hundred
/// iterations.
///
/// Problems with associated contacts are solved by auto, gauss-seidel, anderson, interior, admm and
/// gradient; the others refuse them (TDL_STATUS_BAD_ARGUMENT). With a gamma, the solvers form W.
typedef enum TdlFrictionSolverKind {
    TDL_FRICTION_AUTO = 0,     // chooses by nu and size, falls back from one to the next
    TDL_FRICTION_GAUSS_SEIDEL, // nonlinear Gauss-Seidel with an exact one-contact solver
    TDL_FRICTION_ANDERSON,     // the same, with safeguarded Anderson acceleration
    TDL_FRICTION_NEWTON,       // nonsmooth Newton on Alart-Curnier, Goldstein-Price search
    TDL_FRICTION_PROXIMAL,     // proximal point method around regularised Newton
    TDL_FRICTION_INTERIOR,     // interior points on the cone problem, shift in every iteration
    TDL_FRICTION_ADMM,         // alternating directions with one factorisation
    TDL_FRICTION_FIXED_POINT,  // Cadoux: a sequence of convex problems
    TDL_FRICTION_GRADIENT,     // accelerated projected gradient with the friction shift updated
    TDL_FRICTION_ALTERNATING, // sweeps and regularised Newton steps in turn, over the contacts that
                              // carry; above 3000 contacts accelerated sweeps alone
    TDL_FRICTION_PATH,        // the central path, followed through its turns
    TDL_FRICTION_WEDGED,      // auto, with contacts that wedge each other held first
    TDL_FRICTION_FACETED,     // a faceted cone, only to show what it costs: not exact
    TDL_FRICTION_NODAL,      // sweeps over the nodes of bodies with their A, each contact about one
                             // node; of other problems over contacts
    TDL_FRICTION_ACTIVE_SET, // an active set on the normal impulses, with friction that always
                             // slides: exact where nothing sticks
    TDL_FRICTION_NORMAL_INTERIOR, // the same by interior points
    TDL_FRICTION_SOLVER_COUNT,
    TDL_FRICTION_OWN = TDL_FRICTION_SOLVER_COUNT, // the caller's: `own` of the options
} TdlFrictionSolverKind;
TDL_API const char* tdl_friction_solver_name(TdlFrictionSolverKind kind);

/// One-contact solvers.
typedef enum TdlFrictionLocal {
    TDL_FRICTION_LOCAL_SECULAR = 0, // bracketed secular root; the default, the measured best
    TDL_FRICTION_LOCAL_HYBRID,      // Fischer-Burmeister, enumeration where it fails
    TDL_FRICTION_LOCAL_FISCHER,     // Fischer-Burmeister semismooth Newton alone
    TDL_FRICTION_LOCAL_ENUMERATE,   // take-off, stick, slide through a quartic
    TDL_FRICTION_LOCAL_COUNT
} TdlFrictionLocal;
TDL_API const char* tdl_friction_local_name(TdlFrictionLocal kind);

/// The order in which Gauss-Seidel visits contacts.
typedef enum TdlFrictionOrder {
    TDL_FRICTION_ORDER_AUTO = 0, // many that share bodies: by groups of these, parallel; else given
    TDL_FRICTION_ORDER_GIVEN,
    TDL_FRICTION_ORDER_COLOUR, // no two contacts of a colour are coupled: parallel
    TDL_FRICTION_ORDER_RANDOM, // from the seed
} TdlFrictionOrder;

/// Contacts that are coupled, as a solver of one's own is given them: u = W r + b and the law with
/// (u_i, r_i) in C(mu_i). There are no units (the mean of W's diagonal and the root mean square of
/// |b_i| are 1 but for a factor of 2^(1/2), docs/theory/friction.md section 5), prescribed normal
/// velocities are in b already, and W is symmetric. What is written here has no effect.
typedef struct TdlFrictionIsland {
    int block_size, contact_count;
    const int* contact;             // [contact_count] their numbers in the problem
    const double* mu;               // [contact_count] 0 to INFINITY
    const unsigned char* bilateral; // [contact_count]
    const double* b;                // [contact_count block_size]
    const int* row_start;           // [contact_count + 1] W by block rows
    const int* column;              // [row_start[contact_count]] ascending in a row
    const double* blocks;           // each column by column
    const double* start;            // [contact_count block_size] the first impulses
    double target;                  // it is solved where the error is no more than this
    double error;                   // of `start`, then of the last iterate that was offered
    int max_iterations;             // of these
    void* inside;                   // of the library
} TdlFrictionIsland;

/// u = W r + b.
TDL_API void tdl_friction_island_velocity(const TdlFrictionIsland* island, const double* r,
                                          double* u);

/// Ends an iteration: r is measured and kept if none was better. False: it is time to return, for r
/// solves the island or there are no iterations left.
TDL_API bool tdl_friction_island_offer(TdlFrictionIsland* island, const double* r);

/// A solver of one's own: offers iterates until it is told to return, or has no better ones. What
/// it returns other than TDL_STATUS_OK is what the solve returns. Called for one island after the
/// other, by the thread that solves. A shared object that defines one as `tdl_friction_own` is a
/// solver for `tendril dfcp --own`; there `user` is null.
typedef TdlStatus (*TdlFrictionOwnFn)(void* user, TdlFrictionIsland* island);

/// An iterate of a solve.
typedef struct TdlFrictionIterate {
    int island;                   // from 0, the largest
    int iteration;                // of all solvers tried on it; 0: the first guess
    TdlFrictionSolverKind stage;  // of auto the one under way, else the solver that was asked for
    TdlFrictionSolverKind solver; // that made it: stages use several
    int contact_count;            // that it is about; stages may leave out those that carry nothing
    double error;                 // of these, by the caller's kind, as the caller asked
    int changed; // contacts that are open, stick or slide and did otherwise in the iterate before
    double seconds; // wall time since the solve began, without that of telling
} TdlFrictionIterate;
/// Told of every iteration of every solver, by the thread that solves.
typedef void (*TdlFrictionWatchFn)(void* user, const TdlFrictionIterate* iterate);

typedef struct TdlFrictionOptions {
    TdlFrictionSolverKind solver; // default TDL_FRICTION_AUTO
    TdlFrictionError error;       // what the solver stops on; default natural
    bool relative;                // error divided by |b|; default true
    double tolerance;             // > 0, default 1e-8
    int max_iterations;           // of each solver tried, >= 1, default 10000
    int threads;                  // 1 to 1024, 0: one per processor; default 1
    TdlFrictionLocal local;       // default secular
    TdlFrictionOrder order;       // default auto
    uint64_t seed;                // of the random order
    double relaxation;            // Gauss-Seidel over-relaxation in (0, 2); 0: chosen by itself
    int anderson_memory;          // 1 to 32, default 15
    int facets;                   // of the faceted cone, 3 to 64, default 8
    bool split_islands;           // solve connected groups apart; default true
    bool use_bodies;              // sweep in velocity space where the problem has it and it pays;
                                  // default true
    bool force_bodies;            // sweep in velocity space even where it does not pay
    TdlFrictionOwnFn own;         // of TDL_FRICTION_OWN; default null
    void* own_user;               // handed to it
    TdlFrictionWatchFn watch;     // default null: nobody is told. The solve is the same to the last
                                  // bit, and islands are solved one after the other
    void* watch_user;             // handed to it
    TdlStopFn stop;               // asked every few milliseconds, from threads of the solver too:
                                  // true ends a solve with the best iterate; null: never
    void* stop_user;              // handed to stop
} TdlFrictionOptions;
TDL_API TdlFrictionOptions tdl_friction_options_default(void);

typedef enum TdlFrictionOutcome {
    TDL_FRICTION_CONVERGED = 0,   // the recomputed error is within the tolerance
    TDL_FRICTION_ITERATION_LIMIT, // not within max_iterations
    TDL_FRICTION_STALLED,         // no further progress; the best iterate is returned
    TDL_FRICTION_STOPPED,         // the caller asked to stop; the best iterate is returned
} TdlFrictionOutcome;
TDL_API const char* tdl_friction_outcome_name(TdlFrictionOutcome outcome);

typedef struct TdlFrictionInfo {
    TdlFrictionOutcome outcome;
    TdlFrictionSolverKind solver; // that gave the result (of the island that took longest)
    int iterations;               // of all solvers tried, the largest over the islands
    long long failsafe_count;     // one-contact problems the fail-safe had to solve
    long long unsolvable_count;   // one-contact problems, and normal problems of the active set and
                                  // its rival, certified to have no solution
    int island_count, largest_island;
    int phase_count; // of a sweep, where it is made in parallel; the most of all islands
    double error;    // by the caller's kind, as the caller asked
    double errors[TDL_FRICTION_ERROR_COUNT]; // relative, each kind, recomputed
    double s3_error; // how far from the law that `active-set` solves, which never sticks; relative
    double nu;       // block_size n / m; 0 when m is unknown
    double seconds, setup_seconds; // wall time, total and before the first iteration
    double work; // multiplications of all islands, counted roughly: the same wherever it is solved
} TdlFrictionInfo;

/// A solver keeps its memory and threads between solves.
typedef struct TdlFrictionSolver TdlFrictionSolver;
TDL_API TdlStatus tdl_friction_solver_create(const TdlHost* host, const TdlFrictionOptions* options,
                                             TdlFrictionSolver** out);
TDL_API void tdl_friction_solver_destroy(TdlFrictionSolver* solver);

/// Solves. `r` holds the first guess (zero, or the impulses of the last step) and receives the
/// result, the best iterate met even when the outcome is not converged. `u` may be null.
TDL_API TdlStatus tdl_friction_solver_solve(TdlFrictionSolver* solver,
                                            const TdlFrictionProblem* problem, double* r, double* u,
                                            TdlFrictionInfo* info);

#ifdef __cplusplus
}
#endif

#endif
