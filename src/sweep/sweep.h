// Sweeps: a scene run with every combination of some values, a folder a run, and one table of them.
#ifndef TDL_SWEEP_SWEEP_H
#define TDL_SWEEP_SWEEP_H

#include "app/command.h"

#include <sys/types.h>

enum { SWEEP_RUNS_MAX = 100000, SWEEP_AXES_MAX = 16, SWEEP_PATH_SIZE = 4096, SWEEP_TEXT_SIZE = 64 };

// A value of the scene that is varied.
typedef struct SweepAxis {
    const char* path; // as --set has it, not ended by a zero
    int path_length;
    char (*values)[SWEEP_TEXT_SIZE]; // [count]
    int count;
} SweepAxis;

typedef struct SweepPlan {
    const Args* args;
    const char *scene, *folder;
    SweepAxis axes[SWEEP_AXES_MAX]; // the last one goes fastest
    int axis_count;
    int seeds;           // of each combination; 0: as the scene has them
    const char** seeded; // [seeded_count] the key paths that a seed goes to
    char* seeded_text;   // where these stand
    int seeded_count, run_count;
} SweepPlan;

// Reads --vary and --seeds; says what is wrong and returns an exit code.
int sweep_plan_read(const Args* args, SweepPlan* out);
void sweep_plan_free(SweepPlan* plan);

// Which value of an axis a run has; seeds run fastest, from 1.
int sweep_value(const SweepPlan* plan, int run, int axis);
int sweep_seed(const SweepPlan* plan, int run);

// Its overrides, each for a --set of its own: count, and the text of one of them.
int sweep_override_count(const SweepPlan* plan);
void sweep_override(const SweepPlan* plan, int run, int index, char out[SWEEP_PATH_SIZE]);

// Its folder.
void sweep_run_folder(const SweepPlan* plan, int run, char out[SWEEP_PATH_SIZE]);

// Makes the folder of the sweep, or finds that it is of this very sweep; says why not.
int sweep_begin(const SweepPlan* plan);

// --- runs ----------------------------------------------------------------------------------------

typedef enum SweepState {
    SWEEP_WAITS = 0,
    SWEEP_RUNS,
    SWEEP_DONE,
    SWEEP_DOUBTFUL, // it came to its end, but not everything is to be relied on
    SWEEP_FAILED,
} SweepState;
const char* sweep_state_name(SweepState state);

typedef struct SweepRun {
    SweepState state;
    int tries;
    pid_t process;
    char reason[200]; // why it failed
} SweepRun;

// Makes all runs that are not done, `jobs` at once; each is tried again `retries` times. False: the
// user asked to stop.
bool sweep_make(const SweepPlan* plan, int jobs, int retries, bool quiet, SweepRun* runs);

// --- tables --------------------------------------------------------------------------------------

// Writes table.csv, a row a run, and with seeds means.csv, a row a combination. False: something
// could not be read or written, which was said.
bool sweep_write_tables(const SweepPlan* plan, const SweepRun* runs);

// Writes what makes the runs elsewhere: a list of commands for GNU parallel, or an array job.
int sweep_write_commands(const SweepPlan* plan, bool slurm);

#endif
