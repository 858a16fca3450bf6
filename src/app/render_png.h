// Pictures and films of results as PNG; see `tendril render`.
#ifndef TDL_APP_RENDER_PNG_H
#define TDL_APP_RENDER_PNG_H

#include "app/command.h"

// Draws by the options of `tendril render`; `path` ends in .png. Returns an exit code.
int render_png(const Args* args, const char* path);

#endif
