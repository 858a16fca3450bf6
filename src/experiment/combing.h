// A combing experiment in its folder: run or resumed, and what was measured.
#ifndef TDL_EXPERIMENT_COMBING_H
#define TDL_EXPERIMENT_COMBING_H

#include "app/command.h"
#include "experiment/comb.h"

enum { COMBING_PATH_BYTES = 4096 };

// Columns of log.csv that are looked at.
typedef enum CombColumn {
    COMB_CONTACTS = 0,
    COMB_ITERATIONS,
    COMB_ERROR,
    COMB_UNSOLVED,
    COMB_DEEPEST,
    COMB_KINETIC,
    COMB_ELASTIC,
    COMB_GRAVITY,
    COMB_PREDICT_SECONDS,
    COMB_DETECT_SECONDS,
    COMB_BUILD_SECONDS,
    COMB_SOLVE_SECONDS,
    COMB_ADVANCE_SECONDS,
    COMB_COLUMNS,
} CombColumn;

// How many hairs change the hand of their curls between root and tip, in the frames of the result.
typedef struct CombHands {
    double *time, *hairs; // [count]
    int count;
    double before, most, last; // hairs: when the comb started, most of all, in the last frame
    int frame;                 // the first one with the most
} CombHands;

typedef struct Combing {
    TdlCombDef def;
    char name[64];       // title of the scene, such as comb-25-wavy
    const char* folder;  //
    long step_limit;     // of one call of combing_run; 0: to the end
    const char* relaxed; // folder of an experiment whose hair came to rest, to start from, or null
    char rest[COMBING_PATH_BYTES]; // folder in which its hair came to rest, when combing_rest saw
                                   // to it
    bool rest_only;         // ends when the comb starts; nothing is saved or traced on the way
    TdlCombSample* samples; // [count], one a step
    int count;
    double* column[COMB_COLUMNS]; // [count] each, of log.csv
    CombHands hands;
    double processor; // s, of all threads, in the steps since the comb moved that this call made
    int processor_steps;
    bool finished;
} Combing;

// Runs the experiment into combing->folder, or goes on with it; Ctrl-C and the step limit stop and
// save. The scene is written beside the folder, under its name with .yaml; when the comb starts,
// the state of the hair is left in the folder as relaxed.state. Says what is wrong; an exit code.
int combing_run(const Args* args, bool resume, Combing* combing);

// With a rest_step and nothing to start from: has the hair come to rest, in the folder's name with
// -rest, unless it did before, and has combing->relaxed name that. An exit code.
int combing_rest(const Args* args, bool resume, Combing* combing);

// Reads comb.csv, log.csv and the frames of the folder; false, with a message, when it cannot.
bool combing_read(const Args* args, Combing* combing);
bool combing_read_hands(const Args* args, Combing* combing); // a part of it
void combing_free(Combing* combing);

// What Table 4 of S0 and the report tell, over the steps since the comb moved; NaN without one.
typedef struct CombFigures {
    int steps, pulled;           // since the comb moved; of these, while it was pulled
    double rest_speed;           // m/s: root of the mean square, when the comb started
    double contacts, most;       // mean and most
    double seconds;              // of a step, mean
    double detect, build, solve; // likewise, of its phases; build has the prediction of the rods
    double deepest;              // m, least gap
    double error, iterations;    // largest error of the solver; mean iterations
    int unsolved;                // steps that missed its tolerance
    double force, most_force;    // N, mean and largest while pulled
    double roughness;            // see tdl_comb_roughness, while pulled
} CombFigures;

CombFigures combing_figures(const Combing* combing);

// The first sample since the comb moved, or since it is pulled.
int combing_first(const Combing* combing, bool pulled);

// The set-up and the figures as members of a JSON object, without braces.
void combing_print_json(const Combing* combing);

// Curves against segments, in even windows of the pull. Windows in which the number of touched
// places changes with curves are left out: there the force jumps because hair strikes or leaves a
// tooth. S0 figure 13 plots `jump` against `curvature`.
enum { COMB_WINDOWS = 24 };

typedef struct CombNoise {
    int count;
    double curvature[COMB_WINDOWS]; // 1/m, mean at the contacts, with curves
    double jump[COMB_WINDOWS];      // mean change from step to step of segments' over curves' force
    double roughness[2][COMB_WINDOWS]; // of curves and segments, see tdl_comb_roughness
    double median_ratio;               // of the roughness, segments over curves
    double slope, offset, r2;          // m, -, -: the line through the jumps
} CombNoise;

CombNoise combing_noise(const Combing* curves, const Combing* segments);

// One experiment, or curves and segments side by side, as report.html in `folder`; false, with a
// message, when it cannot be written.
bool combing_report(const Args* args, const Combing* combing);

// hands.svg in the folder: the first hairs whose curls change their hand, in the first frame with
// the most of them. The report has it.
bool combing_draw_hands(const Args* args, const Combing* combing);
bool combing_compare(const Combing* curves, const Combing* segments, const char* folder);

// The options that give the same set-up again.
void combing_tell_options(const TdlCombDef* def, const char* detection, char text[512]);

#endif
