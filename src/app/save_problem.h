// --save-problem STEPS=PATH of the commands that run a simulation.
#ifndef TDL_APP_SAVE_PROBLEM_H
#define TDL_APP_SAVE_PROBLEM_H

#include "app/command.h"

#define SAVE_PROBLEM_HELP                                                                          \
    "save the contact problems of steps (N, N-M, N-M/EVERY or all) for tendril dfcp; a PATH that " \
    "ends in .dat or .hdf5 is one file, else a folder with one .hdf5 for each solve. A .hdf5 has " \
    "bodies, rows and the guess as they were solved; .fclib.hdf5 and .dat have W instead"

#define SAVE_QUERIES_HELP                                                                          \
    "save what steps ask of collision detection, with the exact answer, for tendril ccd; a PATH "  \
    "with edge-edge in it needs no --kind there"

// Reads --save-problem, if it was given; a usage error's exit code, or EXIT_DONE.
int save_problem_option(const Args* args, TdlSaveProblems* out);
int save_queries_option(const Args* args, TdlSaveProblems* out);

// Says what came of it.
void save_problem_tell(const TdlSaveProblems* def, const TdlRunInfo* info);

#endif
