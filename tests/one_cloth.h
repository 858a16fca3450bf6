// A sheet without a world, for tests of what it is by itself.
#ifndef TDL_TESTS_ONE_CLOTH_H
#define TDL_TESTS_ONE_CLOTH_H

#include "base/rng.h"
#include "cloth/cloth.h"
#include "test.h"

static inline Cloth* make(const TdlClothDef* def) {
    TdlHost host = tdl_host_default();
    Cloth* c = NULL;
    if (tdl_cloth_def_fault(def) != NULL || cloth_create(&host, def, &c) != TDL_STATUS_OK) {
        FAIL("no cloth: %s", tdl_cloth_def_fault(def));
    }
    return c;
}

static inline void drop(Cloth* c) {
    TdlHost host = tdl_host_default();
    cloth_destroy(&host, c);
}

static inline void shake(Cloth* c, double by, uint64_t seed) {
    Rng rng = {seed};
    for (int i = 0; i < 3 * c->node_count; ++i) {
        c->x[i] += by * rng_range(&rng, -1.0, 1.0);
    }
}

// The gradient of a strain against differences of three sizes: the error falls with their square,
// down to roundings of 1e-16 / 1e-4.
static inline void check_gradient(const Cloth* c, const ClothElement* el) {
    TdlVec3 slope[CLOTH_MOST], other[CLOTH_MOST];
    cloth_strain(el, c->x, slope);
    for (int k = 0; k < 3 * el->count; ++k) {
        double error[3], *at = &c->x[3 * el->node[k / 3] + k % 3], kept = *at;
        const double exact = (&slope[k / 3].x)[k % 3];
        for (int s = 0; s < 3; ++s) {
            double h = 1.0e-4 / (1 << s);
            *at = kept + h;
            double high = cloth_strain(el, c->x, other);
            *at = kept - h;
            double low = cloth_strain(el, c->x, other);
            *at = kept;
            error[s] = fabs((high - low) / (2.0 * h) - exact);
        }
        CHECK(error[2] < 1.0e-3 * (1.0 + fabs(exact)));
        CHECK(error[2] < 0.3 * error[1] + 1.0e-9 && error[1] < 0.3 * error[0] + 1.0e-9);
    }
}

#endif
