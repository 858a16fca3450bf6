// Rows in single precision, for sweeps: half of what a sweep reads, which is what it waits for.
//
// Whitened rows (F.30) are rounded and packed in the order of sweeps. What rounding does to the
// velocities is made good at one point, r0, where they are known exactly:
//     u(r) = u(r0) + G~ G~' (r - r0)                                     friction.md (F.31)
// so that sweeps still end where the exact velocities say, when r0 follows them.
#ifndef TDL_FRICTION_SINGLE_ROWS_H
#define TDL_FRICTION_SINGLE_ROWS_H

#include "friction/system.h"

typedef struct SingleSide {
    int at, count; // coordinates of the system's v; none: an obstacle
} SingleSide;

typedef struct SingleRows {
    float* rows;      // of each contact three of its first side, then three of its second
    size_t* start;    // [n] where those of a contact begin
    SingleSide* side; // [2 n]
    double* b;        // [3 n] velocity at v = 0
} SingleRows;

// Whether a system may be swept so: whitened, in velocity space, and large.
bool single_rows_fit(const System* sys);

// Packs the rows. Memory comes from the arena.
TdlStatus single_rows_init(SingleRows* single, Arena* arena, System* sys);

// v of the system <- G~' r
void single_rows_refresh(const SingleRows* single, System* sys, const double* r);

// Makes r, whose velocity is u, the point where velocities are exact. Leaves v as
// single_rows_refresh.
void single_rows_correct(SingleRows* single, System* sys, const double* r, const double* u);

// out <- velocity at contact i; and what a change of its impulse does to v.
void single_rows_velocity(const SingleRows* single, const double* v, int i, double out[3]);
void single_rows_apply(const SingleRows* single, double* v, int i, const double dr[3]);

#endif
