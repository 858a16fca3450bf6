// Global problems M v = f + H r, u = H' v + q, turned into velocity space.
#ifndef TDL_FORMATS_PROBLEM_GLOBAL_H
#define TDL_FORMATS_PROBLEM_GLOBAL_H

#include "formats/problem_io.h"

TdlStatus global_problem(const TdlHost* host, const char* name, const RawProblem* raw,
                         TdlFrictionProblem** out);

#endif
