// Checkpoints: a small binary file from which a run goes on with the same bits.
#ifndef TDL_RESULT_CHECKPOINT_H
#define TDL_RESULT_CHECKPOINT_H

#include "tendril/world.h"

enum { CHECKPOINT_FAILURE = 768, CHECKPOINT_BUILD = 192 }; // bytes, multiples of 8

// Where a run stands, beside the state of its world.
typedef struct Checkpoint {
    int64_t step, step_total;         // done, and to be done
    int64_t frame_count;              // in result.h5
    int64_t log_size;                 // bytes of log.csv
    int64_t substeps_max;             // over the run
    uint64_t scene_hash;              // of scene.yaml's bytes
    uint64_t state_hash;              // tdl_world_state_hash
    double time;                      // s, simulated
    double kinetic, elastic, gravity; // J
    double energy_rise;               // J, largest over the run
    double seconds;                   // wall time spent so far
    int64_t unsolved, forced;         // steps whose contacts were not solved; kept at the floor
    double error;                     // of the contact solver, largest over the run
    double nowhere;                   // J, over the run
    char failure[CHECKPOINT_FAILURE]; // how the run failed here; empty: it did not
    // what follows is not in a checkpoint of version 3, and read from it as zero
    uint64_t log_hash;            // of these bytes of log.csv
    int64_t other_builds;         // times that another build went on with the run
    char build[CHECKPOINT_BUILD]; // of what wrote it; empty: unknown
} Checkpoint;

// Replaces the checkpoint at `path` atomically by the given one and the world's state.
TdlStatus checkpoint_write(const TdlHost* host, const char* path, const Checkpoint* checkpoint,
                           const void* state, size_t state_size);

// Reads and proves a checkpoint. `state` (may be null with `state_size`) receives the world's
// bytes, freed with tdl_free.
TdlStatus checkpoint_read(const TdlHost* host, const char* path, Checkpoint* out, char** state,
                          size_t* state_size);

#endif
