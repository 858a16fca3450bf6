// What `tendril inverse` starts from: a scene, or curves, to which rods are fitted and put into a
// scene of their own for the time being.
#ifndef TDL_APP_INVERSE_INPUT_H
#define TDL_APP_INVERSE_INPUT_H

#include "app/command.h"
#include "app/output.h"

typedef struct InverseInput {
    char scene[OUTPUT_PATH_SIZE];   // to be loaded
    char strands[OUTPUT_PATH_SIZE]; // beside it; empty: none was made
    bool made;                      // the scene was written here: it goes when this is closed
    TdlCurves curves;               // that were fitted, in the scene's units and axes; else none
    double* fit_error;              // [curves.count] m; null: nothing was fitted
    int missed_count;               // curves that the tolerance asks more elements of
} InverseInput;

// Reads the operand of the command. What it writes lies beside `output`. Returns an exit code;
// close it in any case.
int inverse_input_open(const Args* args, const char* output, InverseInput* out);
void inverse_input_close(const Args* args, InverseInput* input);

// The options it knows, as entries of the command's table.
#define INVERSE_INPUT_OPTIONS                                                                      \
    {"elements", 'n', OPTION_INT, "N", 1, 100000, "elements of each rod; default 20", false},      \
        {"tolerance",                                                                              \
         0,                                                                                        \
         OPTION_REAL,                                                                              \
         "M",                                                                                      \
         1e-12,                                                                                    \
         1e9,                                                                                      \
         "m; as few elements as stay so near to the curve, at most --elements, then 1000",         \
         false},                                                                                   \
        {"model", 0, OPTION_CHOICE,         "super-helix|super-clothoid|der",                      \
         0,       0, "default super-helix", false},                                                \
        {"method",                                                                                 \
         0,                                                                                        \
         OPTION_CHOICE,                                                                            \
         "least-squares|floating|s4",                                                              \
         0,                                                                                        \
         0,                                                                                        \
         "how helices are fitted: floating takes a tenth of the time and is as near where "        \
         "elements "                                                                               \
         "turn by less than 0.1 rad; s4 keeps tangents, to compare with; default least-squares",   \
         false},                                                                                   \
        {"smooth",                                                                                 \
         0,                                                                                        \
         OPTION_MAYBE_REAL,                                                                        \
         "[M]",                                                                                    \
         1e-12,                                                                                    \
         1e9,                                                                                      \
         "the points are noisy, by so many metres (root mean square); without a number that is "   \
         "found by cross validation",                                                              \
         false},                                                                                   \
        {"closed", 0, OPTION_SWITCH, NULL, 0, 0, "the curves come back to their first points",     \
         false},                                                                                   \
        {"scale", 0, OPTION_REAL, "X", 1e-9, 1e9, "metres that a unit of the file is; default 1",  \
         false},                                                                                   \
        {"up",                                                                                     \
         0,                                                                                        \
         OPTION_CHOICE,                                                                            \
         "z|y",                                                                                    \
         0,                                                                                        \
         0,                                                                                        \
         "the axis of the file that points up; y becomes z; default z",                            \
         false},                                                                                   \
        {"every", 0, OPTION_INT, "N", 1, 2147483647, "takes the first curve and then each N-th",   \
         false},                                                                                   \
        {"limit", 0, OPTION_INT, "N", 1, 2147483647, "takes at most N curves", false},             \
        {"radius", 0, OPTION_REAL, "M", 1e-12, 1e6, "m; default 50e-6", false},                    \
        {"young", 0, OPTION_REAL, "PA", 1e-12, 1e15, "Pa; default 1e9", false},                    \
        {"poisson", 0, OPTION_REAL, "X", -0.999, 0.5, "default 0.48", false},                      \
        {"density", 0, OPTION_REAL, "X", 1e-12, 1e9, "kg/m^3; default 1000", false},               \
        {"damping", 0, OPTION_REAL, "S", 0, 1e9, "s, of the material when it runs; default 0.01",  \
         false},                                                                                   \
        {"gravity", 0, OPTION_TEXT, "X,Y,Z", 0, 0, "m/s^2; default 0,0,-9.81", false}, {           \
        "mu", 0, OPTION_REAL, "X", 0, 1e6, "friction coefficient; default 0.3", false              \
    }

#endif
