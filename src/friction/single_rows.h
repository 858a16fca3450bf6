// Rows in single precision, for sweeps: half of what a sweep reads, which is what it waits for.
//
// Whitened rows (F.30) are rounded and packed in the order of sweeps. What rounding does to the
// velocities is made good at one point, r0, where they are known exactly:
//     u(r) = u(r0) + G~ G~' (r - r0)                                     friction.md (F.31)
// so that sweeps still end where the exact velocities say, when r0 follows them.
#ifndef TDL_FRICTION_LIGHT_H
#define TDL_FRICTION_LIGHT_H

#include "friction/system.h"

typedef struct LightSide {
    int at, count; // coordinates of the system's v; none: an obstacle
} LightSide;

typedef struct Light {
    float* rows;     // of each contact three of its first side, then three of its second
    size_t* start;   // [n] where those of a contact begin
    LightSide* side; // [2 n]
    double* b;       // [3 n] velocity at v = 0
} Light;

// Whether a system may be swept so: whitened, in velocity space, and large.
bool light_fits(const System* sys);

// Packs the rows. Memory comes from the arena.
TdlStatus light_init(Light* light, Arena* arena, System* sys);

// v of the system <- G~' r
void light_refresh(const Light* light, System* sys, const double* r);

// Makes r, whose velocity is u, the point where velocities are exact. Leaves v as light_refresh.
void light_correct(Light* light, System* sys, const double* r, const double* u);

// out <- velocity at contact i; and what a change of its impulse does to v.
void light_velocity(const Light* light, const double* v, int i, double out[3]);
void light_apply(const Light* light, double* v, int i, const double dr[3]);

#endif
