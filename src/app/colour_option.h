// The option --colour of pictures: what rods bear, or what grains are like.
#ifndef TDL_APP_COLOUR_OPTION_H
#define TDL_APP_COLOUR_OPTION_H

#include "app/grains_colour.h"
#include "app/inner_force.h"

// The option --colour, of rods or of grains; grains are coloured by speed unless told. False, and a
// message, where it is another word. Says of either whether it was told.
typedef struct ColourOption {
    InnerForce inner; // INNER_NONE: not told
    GrainsColour grains;
    bool of_grains;
} ColourOption;

#define COLOUR_HELP INNER_FORCE_HELP "; grains: " GRAINS_COLOUR_HELP
bool colour_option(const Args* args, ColourOption* out);

// Whether a result has what is asked for; else says on stderr what it takes.
bool colour_is_there(const ColourOption* colour, const TdlResultInfo* info, const char* path);

#endif
