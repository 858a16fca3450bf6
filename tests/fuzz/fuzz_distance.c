// A libFuzzer target for the reader of pairs of curves and for the search. Whatever comes, reading
// ends with pairs or with one message that names a line; a distance that is certified is not above
// that of any two points of the curves, and is not found below a bound that is half of it.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz/fuzz_distance -dict=tests/fuzz/distance.dict CORPUS
#include "app/distance_file.h"

#include "app/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// Boxes that a search may take: enough for most, and soon over.
enum { BOXES = 2000, SAMPLES = 5, PAIRS = 3 };

static void answer(const DistancePair* pair) {
    TdlHost host = tdl_host_default();
    TdlDistanceDef def = tdl_distance_def_default();
    def.box_limit = BOXES;
    TdlCurveCapsules ca, cb;
    tdl_curve_capsules(&pair->a, &ca);
    tdl_curve_capsules(&pair->b, &cb);
    TdlDistance d;
    if (tdl_curve_distance(&host, &pair->a, &ca, &pair->b, &cb, &def, &d) != TDL_STATUS_OK ||
        !d.below) {
        abort();
    }
    double size = 0.0;
    for (int i = 0; i < SAMPLES; ++i) {
        size = fmax(size, tdl_norm3(tdl_curve_point(&pair->a, pair->a.end * i / (SAMPLES - 1))));
        size = fmax(size, tdl_norm3(tdl_curve_point(&pair->b, pair->b.end * i / (SAMPLES - 1))));
    }
    for (int i = 0; i < SAMPLES * SAMPLES; ++i) {
        double s = pair->a.end * (i % SAMPLES) / (SAMPLES - 1);
        double t = pair->b.end * (i / SAMPLES) / (SAMPLES - 1);
        TdlVec3 p = tdl_curve_point(&pair->a, s), q = tdl_curve_point(&pair->b, t);
        double here = tdl_norm3(tdl_sub3(p, q));
        // the rounding of places far from the origin, and of many turns
        if (d.certified && d.distance > here + 1.0e-7 * here + 1.0e-9 * size) {
            abort();
        }
    }
    bool on_curves =
        d.s[0] >= 0.0 && d.s[0] <= pair->a.end && d.s[1] >= 0.0 && d.s[1] <= pair->b.end;
    if (!on_curves || !(d.distance >= 0.0)) {
        abort();
    }
    def.bound = 0.5 * d.distance;
    TdlDistance half;
    if (tdl_curve_distance(&host, &pair->a, &ca, &pair->b, &cb, &def, &half) != TDL_STATUS_OK ||
        (half.below && d.certified && d.distance > 1.0e-9 * size)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) {
        return 0;
    }
    char text[400] = "";
    void* bytes = malloc(size); // fmemopen takes no constant ones
    memcpy(bytes, data, size);
    FILE* in = fmemopen(bytes, size, "r");
    FILE* messages = fmemopen(text, sizeof text, "w");
    if (in == NULL || messages == NULL) {
        abort();
    }
    DistanceBatch batch = {0};
    int code = distance_read(in, "f", messages, &batch);
    fclose(messages);
    fclose(in);
    free(bytes);
    long line = 0;
    bool named = sscanf(text, "tendril: f: line %ld: ", &line) == 1 && line >= 1;
    if ((code == EXIT_DONE) != (text[0] == '\0') || (code != EXIT_DONE && !named)) {
        abort();
    }
    for (long i = 0; i < batch.count && i < PAIRS && code == EXIT_DONE; ++i) {
        answer(&batch.pair[i]);
    }
    free(batch.pair);
    return 0;
}
