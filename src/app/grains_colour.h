// What grains are coloured by in pictures and on the page, one number a particle.
#ifndef TDL_APP_GRAINS_COLOUR_H
#define TDL_APP_GRAINS_COLOUR_H

#include "app/raster.h"
#include "tendril/result.h"

typedef enum GrainsColour {
    GRAINS_SPEED = 0, // m/s
    GRAINS_PRESSURE,  // Pa
    GRAINS_FRACTION,  // volume fraction
    GRAINS_COLOURS,
} GrainsColour;

#define GRAINS_COLOUR_HELP "speed, pressure or fraction"

// Whether a particle is one in `every`: by its number, but without the pattern of a lattice.
bool grains_one_in(int every, int number);

// By its name; false: there is none of that name.
bool grains_colour_named(const char* word, GrainsColour* out);
const char* grains_colour_name(GrainsColour which);
const char* grains_colour_unit(GrainsColour which); // "" of one that has none

double grains_colour_of(GrainsColour which, const TdlResultParticle* particle);

// The ends of the scale, grown by the particles of a frame: from 0, or of fractions from the least,
// up to what all but a hundredth of them have at most. Of many particles some are asked.
typedef struct GrainsScale {
    GrainsColour which;
    double least, most; // most < least: nothing was seen yet
} GrainsScale;

GrainsScale grains_scale(GrainsColour which);
void grains_scale_grow(GrainsScale* scale, const TdlResultParticle* particles, int count);

// The colour of a value on the scale, from dark blue over green to yellow.
Color grains_color(const GrainsScale* scale, double value);

#endif
