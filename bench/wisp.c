// Wisps of wavy fibres packed as in S0.
#include "bench/wisp.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

double wisp_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1.0e-9 * (double)t.tv_nsec;
}

// The same numbers everywhere for a seed.
double wisp_uniform(uint64_t* state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

double wisp_normal(uint64_t* state) {
    double u = 1.0 - wisp_uniform(state);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * wisp_uniform(state));
}

// --- a wisp
// ---------------------------------------------------------------------------------------

// The frame at the end of an element, from the curve itself.
static TdlPose next_start(const TdlCurve* c, TdlPose start, TdlVec3 kappa) {
    // R(L) = R exp(L [kappa]x), by Rodrigues about the Darboux vector in world axes
    TdlVec3 w = tdl_mul33_3(start.rotation, kappa);
    double angle = tdl_norm3(w) * c->end;
    TdlVec3 u = angle > 0.0 ? tdl_scale3(c->end / angle, w) : (TdlVec3){0};
    double cosine = cos(angle), sine = sin(angle);
    TdlVec3 in[3] = {start.rotation.cx, start.rotation.cy, start.rotation.cz}, out[3];
    for (int i = 0; i < 3; ++i) {
        TdlVec3 v = tdl_axpy3(tdl_scale3(cosine, in[i]), sine, tdl_cross3(u, in[i]));
        out[i] = tdl_axpy3(v, (1.0 - cosine) * tdl_dot3(u, in[i]), u);
    }
    return (TdlPose){tdl_curve_point(c, c->end), {out[0], out[1], out[2]}};
}

// Waves: the curvature changes sign from element to element, alike for all fibres but for a small
// perturbation; roots on a grid with offsets.
bool wisp_create(const TdlHost* host, int fibre_count, double curvature, double disorder,
                 Wisp* wisp) {
    size_t n = (size_t)fibre_count * WISP_ELEMENTS;
    wisp->fibre_count = fibre_count;
    wisp->curve = malloc(n * sizeof *wisp->curve);
    wisp->capsules = malloc(n * sizeof *wisp->capsules);
    wisp->fibre = malloc((size_t)fibre_count * sizeof *wisp->fibre);
    if (wisp->curve == NULL || wisp->capsules == NULL || wisp->fibre == NULL) {
        return false;
    }
    uint64_t seed = 2025;
    int side = (int)ceil(sqrt(fibre_count));
    for (int f = 0; f < fibre_count; ++f) {
        TdlPose start = {.rotation = {{0, 0, -1}, {1, 0, 0}, {0, -1, 0}}};
        start.position.x = WISP_SPACING * (f % side + 0.2 * wisp_normal(&seed));
        start.position.y = WISP_SPACING * (f / side + 0.2 * wisp_normal(&seed));
        for (int e = 0; e < WISP_ELEMENTS; ++e) {
            double sign = e % 2 == 0 ? 1.0 : -1.0;
            TdlVec3 kappa = {disorder * wisp_normal(&seed), disorder * wisp_normal(&seed),
                             sign * curvature + disorder * wisp_normal(&seed)};
            TdlCurve* c = &wisp->curve[f * WISP_ELEMENTS + e];
            tdl_curve_helix(host, start, kappa, WISP_LENGTH / WISP_ELEMENTS, c);
            tdl_curve_set_radius(host, WISP_RADIUS, WISP_RADIUS, c);
            tdl_curve_capsules(c, &wisp->capsules[f * WISP_ELEMENTS + e]);
            start = next_start(c, start, kappa);
        }
        wisp->fibre[f] =
            (TdlFibre){.curves = &wisp->curve[f * WISP_ELEMENTS], .count = WISP_ELEMENTS};
    }
    return true;
}

void wisp_destroy(Wisp* wisp) {
    free(wisp->curve);
    free(wisp->capsules);
    free(wisp->fibre);
}

// --- pairs whose boxes overlap
// --------------------------------------------------------------------

typedef struct Box {
    float low[3], high[3];
} Box;

static Box box_of(const TdlCurveCapsules* c) {
    const float* centre[3] = {c->cx, c->cy, c->cz};
    const float* half[3] = {c->ux, c->uy, c->uz};
    Box box;
    for (int k = 0; k < 3; ++k) {
        box.low[k] = INFINITY;
        box.high[k] = -INFINITY;
        for (int i = 0; i < 8; ++i) {
            float reach = fabsf(half[k][i]) + c->radius[i];
            box.low[k] = fminf(box.low[k], centre[k][i] - reach);
            box.high[k] = fmaxf(box.high[k], centre[k][i] + reach);
        }
    }
    return box;
}

static bool boxes_meet(const Box* a, const Box* b) {
    for (int k = 0; k < 3; ++k) {
        if (a->low[k] > b->high[k] || b->low[k] > a->high[k]) {
            return false;
        }
    }
    return true;
}

static Box* wisp_boxes(const Wisp* wisp, int count) {
    Box* box = malloc((size_t)count * sizeof *box);
    for (int i = 0; i < count && box != NULL; ++i) {
        box[i] = box_of(&wisp->capsules[i]);
    }
    return box;
}

WispPair* wisp_box_pairs(const Wisp* wisp, int* count) {
    int n = wisp->fibre_count * WISP_ELEMENTS, step = wisp->fibre_count / 16 + 1, capacity = 0;
    Box* box = wisp_boxes(wisp, n);
    WispPair* out = NULL;
    *count = 0;
    for (int i = 0; i < n && box != NULL; ++i) {
        if (i / WISP_ELEMENTS % step != 0) {
            continue;
        }
        for (int j = 0; j < n; ++j) {
            if (j / WISP_ELEMENTS == i / WISP_ELEMENTS || !boxes_meet(&box[i], &box[j])) {
                continue;
            }
            if (*count == capacity) {
                capacity = 2 * capacity + 1024;
                WispPair* grown = realloc(out, (size_t)capacity * sizeof *grown);
                if (grown == NULL) {
                    free(out);
                    free(box);
                    return NULL;
                }
                out = grown;
            }
            out[(*count)++] = (WispPair){i, j};
        }
    }
    free(box);
    return out;
}
