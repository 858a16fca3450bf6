// Velocities that attempts at a step found one after the other, mixed so that they come to rest
// sooner. docs/theory/barrier.md, section 5
#ifndef TDL_WORLD_BARRIER_MIX_H
#define TDL_WORLD_BARRIER_MIX_H

#include "base/memory.h"

enum { MIX_DEPTH = 6 }; // attempts that are remembered

// Velocities v of all bodies, and the impulses A (v - v_free) that they take.
typedef struct Velocities {
    double *v, *impulse; // [dof_count]
    int v_capacity, impulse_capacity;
    bool known; // the impulses are
} Velocities;

bool velocities_reserve(const TdlAllocator* mem, Velocities* x, int dof_count);
void velocities_free(const TdlAllocator* mem, Velocities* x);
// out = a + share (b - a); a null stands for velocities of 0, whose impulses are not known.
void velocities_between(const Velocities* a, const Velocities* b, double share, int dof_count,
                        Velocities* out);

// What attempts led to: velocities that were found, and by how much they differ from those that
// led there.
typedef struct Mixing {
    Velocities found[MIX_DEPTH], rest[MIX_DEPTH];
    int count;    // of attempts; the last MIX_DEPTH are kept
    double moved; // by how much the last were mixed, over what contacts did, as impulses
} Mixing;

void barrier_mix_free(const TdlAllocator* mem, Mixing* mixing);
void barrier_mix_forget(Mixing* mixing);

// Takes up the velocities `now` that were found from those of the shape, `from`, and mixes them
// with those of the attempts before. False when memory runs out.
bool barrier_mix_add(const TdlAllocator* mem, Mixing* mixing, int dof_count, const Velocities* from,
                     Velocities* now);

#endif
