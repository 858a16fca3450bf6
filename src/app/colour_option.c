// What a picture is coloured by: one word for rods and grains.
#include "app/colour_option.h"

#include <stdio.h>

bool colour_option(const Args* args, ColourOption* out) {
    *out = (ColourOption){.inner = INNER_NONE, .grains = GRAINS_SPEED};
    if (!args_has(args, "colour")) {
        return true;
    }
    const char* word = args_text(args, "colour", "");
    out->of_grains = grains_colour_named(word, &out->grains);
    if (out->of_grains || inner_force_named(word, &out->inner)) {
        return true;
    }
    usage_error(args, "--colour takes " COLOUR_HELP ", not '%s'", word);
    return false;
}

bool colour_is_there(const ColourOption* colour, const TdlResultInfo* info, const char* path) {
    if (colour->of_grains && !info->has_grains) {
        fprintf(stderr, "%s: has no grains to colour by %s\n", path,
                grains_colour_name(colour->grains));
        return false;
    }
    return inner_force_is_there(colour->inner, info->has_forces, path);
}
