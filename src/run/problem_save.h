// Contact problems of a run, saved as they are solved.
#ifndef TDL_RUN_PROBLEM_SAVE_H
#define TDL_RUN_PROBLEM_SAVE_H

#include "tendril/run.h"

#include <stdio.h>

typedef struct ProblemSaver {
    TdlHost host;
    TdlSaveProblems def;
    TdlWorld* world;
    FILE* index;      // problems.csv of a folder
    TdlOutput out;    // its place
    long step;        // of the last problem
    int part;         // which of that step's problems
    long count;       // saved so far
    TdlStatus status; // of the first that could not be saved
} ProblemSaver;

// Makes the folder, if it is to be one, and has the world tell of its problems. The saver must not
// move before its end. With a null path it does nothing.
TdlStatus problem_saver_start(ProblemSaver* saver, const TdlHost* host, const TdlSaveProblems* def,
                              TdlWorld* world);
TdlStatus problem_saver_end(ProblemSaver* saver);

typedef struct QuerySaver {
    TdlHost host;
    TdlSaveProblems def;
    TdlWorld* world;
    FILE* file;
    TdlOutput out; // its place
    long count;
    bool failed;
} QuerySaver;

// The same for what the steps ask of collision detection; truth is that of the exact test.
TdlStatus query_saver_start(QuerySaver* saver, const TdlHost* host, const TdlSaveProblems* def,
                            TdlWorld* world);
TdlStatus query_saver_end(QuerySaver* saver);

#endif
