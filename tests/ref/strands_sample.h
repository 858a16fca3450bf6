// Some strands of a model, with numbers that show a lost bit.
#ifndef TDL_TEST_STRANDS_SAMPLE_H
#define TDL_TEST_STRANDS_SAMPLE_H

#include "base/rng.h"
#include "formats/strands.h"
#include "math/rotation.h"

#include <stdio.h>
#include <string.h>

enum { SAMPLE_STRANDS = 5, SAMPLE_MOST = 64 };

typedef struct StrandsSample {
    int element_count[SAMPLE_STRANDS];
    double length[SAMPLE_STRANDS], stiffening[SAMPLE_STRANDS];
    TdlPose start[SAMPLE_STRANDS];
    TdlVec3 curvature[SAMPLE_MOST], natural[SAMPLE_MOST];
    int curvatures; // of all strands
    TdlStrands strands;
} StrandsSample;

static inline TdlVec3 sample_vector(Rng* rng, double size) {
    double x = size * rng_normal(rng), y = size * rng_normal(rng);
    return (TdlVec3){x, y, size * rng_normal(rng)};
}

static inline void strands_sample(StrandsSample* s, const char* model) {
    static const int ELEMENTS[SAMPLE_STRANDS] = {4, 7, 1, 7, 12};
    Rng rng = rng_seed(23);
    memset(s, 0, sizeof *s);
    for (int i = 0; i < SAMPLE_STRANDS; ++i) {
        s->element_count[i] = ELEMENTS[i];
        s->length[i] = rng_range(&rng, 0.1, 0.3);
        s->stiffening[i] = i == 0 ? 1.0 : rng_range(&rng, 0.5, 3.0);
        s->start[i].position = sample_vector(&rng, 0.5);
        s->start[i].rotation = tdl_rotation_exp(sample_vector(&rng, 1.0));
        s->curvatures += ELEMENTS[i] + (strcmp(model, "super-clothoid") == 0);
    }
    for (int i = 0; i < s->curvatures; ++i) {
        s->curvature[i] = sample_vector(&rng, 2.0);
        s->natural[i] = sample_vector(&rng, 2.0);
    }
    s->strands = (TdlStrands){.count = SAMPLE_STRANDS,
                              .element_count = s->element_count,
                              .length = s->length,
                              .start = s->start,
                              .stiffening = s->stiffening,
                              .curvature = s->curvature,
                              .natural_curvature = s->natural};
    snprintf(s->strands.model, sizeof s->strands.model, "%s", model);
}

#endif
