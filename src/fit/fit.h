// Fitting: values of a scene are sought with which its markers follow a recording.
// Theory: docs/theory/fit.md.
#ifndef TDL_FIT_FIT_H
#define TDL_FIT_FIT_H

#include "app/command.h"
#include "fit/markers.h"

enum { PARAMETERS_MAX = 16, PARAMETER_PATH_SIZE = 256 };

// A value of the scene that is sought. The search sees z in [0, 1] between the bounds.
typedef struct Parameter {
    char path[PARAMETER_PATH_SIZE];
    double low, high, start;
    bool log; // ratios count, not differences
} Parameter;

double parameter_value(const Parameter* p, double z);
double parameter_place(const Parameter* p, double value); // z

// Reads PATH[=LOW:HIGH[:START][:log|:linear]], or one of the short names of fit.md in place of the
// path; what is not said comes from the scene. Says what is wrong and returns an exit code.
int parameter_read(const Args* args, const TdlScene* scene, const char* text, Parameter* out);

typedef struct Fit {
    const Args* args;
    const char* scene; // path of the file
    const char** sets; // [set_count] overrides, with room for the parameters behind them
    int set_count;
    Parameter parameters[PARAMETERS_MAX];
    int parameter_count;
    MarkerSet markers;
    Tracks data;  // places of these markers that were recorded; none of the moments lacks all
    double reach; // m: a moment that a run does not reach counts as an error of this; more than
                  // runs that came to their end have had so far
    FILE* table;  // of evaluations; null: none
    int count;    // evaluations so far
    int failed;   // of these
    double best;  // m, the least error so far
} Fit;

// Reads the recording that --data says into fit->data, with fit->markers, weighed in a world as it
// is at its start; tells what is left out. Returns an exit code.
int fit_read_data(Fit* fit, const TdlScene* scene, TdlWorld* world);

typedef enum TrialOutcome {
    TRIAL_SOUND = 0,
    TRIAL_DOUBTFUL, // it came to its end, but a run would not end with status 0
    TRIAL_FAILED,   // it did not come to its end
    TRIAL_STOPPED,  // by the user
} TrialOutcome;

// One run of the scene with some values, beside the recording.
typedef struct Trial {
    TrialOutcome outcome;
    char reason[400]; // why it is not sound
    double error;     // m, the mean error over time, (G.3)
    double spread;    // m, the mean of the standard deviation over markers, (G.4)
    int reached;      // moments
    double seconds;   // of processor time
    TdlVec3* places;  // [moment_count * marker_count]
    double* curve;    // [moment_count] m, (G.2)
} Trial;

bool trial_create(const Fit* fit, Trial* out); // false: no memory
void trial_free(Trial* trial);

// Runs the scene with `values` of the parameters (null: as it is).
void trial_run(Fit* fit, const double* values, Trial* out);

// The same, told in a line and in the table as an evaluation of `phase`.
void trial_tell(Fit* fit, const char* phase, const double* values, Trial* out);

// Fills error, spread and curve from the places.
void trial_judge(const Fit* fit, Trial* trial);

// --- the search ----------------------------------------------------------------------------------

typedef struct Found {
    double values[PARAMETERS_MAX];
    Trial best, first; // at these values, and of the first evaluation
    bool any;          // some run came to its end
    bool converged, stopped;
    const char* end; // why the search ended, in words
    int evaluations; // of the search
    double* history; // [history_count] errors of these, and of the steps behind them
    int history_count;
    double deviations[PARAMETERS_MAX]; // one standard deviation of each, (G.7); NaN: unknown
    double correlations[PARAMETERS_MAX][PARAMETERS_MAX];
    // sweeps of one parameter about the values, [parameter_count * sweep_count]
    int sweep_count; // of each; 0: none
    double *sweep_values, *sweep_errors;
} Found;

// The names of the algorithms, separated by '|'; the first is the default.
#define FIT_ALGORITHMS "bobyqa|cobyla|sbplx|nelder-mead|direct|crs"

typedef struct SearchDef {
    const char* algorithm;
    double tolerance; // of z
    double step;      // the first, of z
    int most;         // evaluations
} SearchDef;

// False: no memory, or nothing could be evaluated. `found` is to be freed in any case.
bool fit_search(Fit* fit, const SearchDef* def, Found* found);

// Steps from what was found, as long as the error falls, with slopes by differences: two runs a
// parameter and one; and standard deviations and correlations where they end.
void fit_polish(Fit* fit, Found* found);

// Trajectories with one of the parameters at q - h and at q + h, q its value or the logarithm.
typedef struct Slopes {
    int count;                                              // parameters
    TdlVec3 *lower[PARAMETERS_MAX], *upper[PARAMETERS_MAX]; // [moment_count * marker_count] each
    double width[PARAMETERS_MAX];                           // 2 h
} Slopes;

// Sums over moments of what their errors tell, in q. (G.6)
typedef struct Curvature {
    int count, moments;
    double slope[PARAMETERS_MAX];
    double squares[PARAMETERS_MAX * PARAMETERS_MAX]; // of slopes
    double inverse[PARAMETERS_MAX * PARAMETERS_MAX]; // of the curvature
    double across;                                   // 1 - 1/d, d the coordinates of a moment
} Curvature;

// False where the recording does not tell the parameters, or not apart.
bool fit_curvature(const Fit* fit, const Trial* best, const Slopes* slopes, Curvature* out);
double curvature_covariance(const Curvature* c, int p, int q); // (G.7)
double curvature_step(const Curvature* c, int p);              // (G.8)

// Errors with each parameter alone changed, from half to one and a half of its value.
void fit_sweep(Fit* fit, int count, Found* found);

void found_free(Found* found);

// Writes everything into the folder. False: something could not be written, which was said.
bool fit_report(const Fit* fit, const Found* found, const char* folder);

// Runs the scene once and writes its markers as a recording, as the options say. Returns an exit
// code.
int make_recording(Fit* fit, const TdlScene* scene, TdlWorld* world, const char* path);

#endif
