// Colours of grains: what they tell, between which ends, and which colour that is.
#include "app/grains_colour.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Particles that are asked of a frame: enough for a hundredth of them to be told.
enum { ASKED = 20000, STOPS = 3 };
static const double SHARE = 0.99;

static const struct {
    const char *name, *unit;
} TABLE[GRAINS_COLOURS] = {[GRAINS_SPEED] = {"speed", "m/s"},
                           [GRAINS_PRESSURE] = {"pressure", "Pa"},
                           [GRAINS_FRACTION] = {"fraction", ""}};

bool grains_one_in(int every, int number) {
    uint32_t mixed = (uint32_t)number * 2654435761u; // 2^32 over the golden ratio
    mixed = (mixed ^ mixed >> 15) * 2246822519u;
    return (mixed ^ mixed >> 13) % (uint32_t)every == 0;
}

bool grains_colour_named(const char* word, GrainsColour* out) {
    for (int i = 0; i < GRAINS_COLOURS; ++i) {
        if (strcmp(word, TABLE[i].name) == 0) {
            *out = (GrainsColour)i;
            return true;
        }
    }
    return false;
}

const char* grains_colour_name(GrainsColour which) {
    return TABLE[which].name;
}

const char* grains_colour_unit(GrainsColour which) {
    return TABLE[which].unit;
}

double grains_colour_of(GrainsColour which, const TdlResultParticle* particle) {
    switch (which) {
    case GRAINS_SPEED:
        return tdl_norm3(particle->velocity);
    case GRAINS_PRESSURE:
        return particle->pressure;
    case GRAINS_FRACTION:
        return particle->fraction;
    case GRAINS_COLOURS:
        break;
    }
    return 0.0;
}

GrainsScale grains_scale(GrainsColour which) {
    bool from_zero = which != GRAINS_FRACTION;
    return (GrainsScale){which, from_zero ? 0.0 : INFINITY, -INFINITY};
}

static int compare(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

void grains_scale_grow(GrainsScale* scale, const TdlResultParticle* particles, int count) {
    int stride = count / ASKED + 1, asked = 0;
    double* values = malloc(((size_t)count / (size_t)stride + 1) * sizeof *values);
    for (int i = 0; values != NULL && i < count; i += stride) {
        values[asked++] = grains_colour_of(scale->which, &particles[i]);
    }
    if (asked > 0) {
        qsort(values, (size_t)asked, sizeof *values, compare);
        double least = values[(int)((1.0 - SHARE) * (asked - 1))];
        scale->most = fmax(scale->most, values[(int)ceil(SHARE * (asked - 1))]);
        scale->least = scale->which == GRAINS_FRACTION ? fmin(scale->least, least) : 0.0;
    }
    free(values);
}

// As the page's heat in viewer/src/fibres.js, readable without red and green.
static const Color SCALE[STOPS] = {
    {0.13f, 0.24f, 0.55f}, {0.15f, 0.60f, 0.60f}, {0.97f, 0.80f, 0.25f}};

Color grains_color(const GrainsScale* scale, double value) {
    double span = scale->most - scale->least;
    double share = span > 0.0 ? fmin(1.0, fmax(0.0, (value - scale->least) / span)) : 0.0;
    double at = share * (STOPS - 1);
    int k = at >= STOPS - 1 ? STOPS - 2 : (int)at;
    float t = (float)(at - k);
    Color a = SCALE[k], b = SCALE[k + 1];
    return (Color){a.r + t * (b.r - a.r), a.g + t * (b.g - a.g), a.b + t * (b.b - a.b)};
}
