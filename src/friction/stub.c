#include "friction/run.h"
TdlStatus run_auto(Run* run, TdlFrictionSolverKind* used){*used=TDL_FRICTION_ANDERSON; return run_anderson(run);}
