#include "friction/run.h"
TdlStatus run_admm(Run* run){(void)run; return 0;}
TdlStatus run_fixed_point(Run* run){(void)run; return 0;}
TdlStatus run_gradient(Run* run){(void)run; return 0;}
TdlStatus run_faceted(Run* run){(void)run; return 0;}
TdlStatus run_auto(Run* run, TdlFrictionSolverKind* used){*used=TDL_FRICTION_ANDERSON; return run_anderson(run);}
