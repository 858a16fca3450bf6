// Eliminated columns taken to others, against the definition in long double.
#include "base/rng.h"
#include "math/panel.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

TEST(panels_do_what_is_written_out) {
    static const int ranks[] = {1, 3, 8, 63, PANEL_RANK}, rows[] = {0, 1, 11, 12, 24, 25, 100};
    static const int columns[] = {1, 4, 7, 8, 9, PANEL_COLUMNS};
    Rng rng = rng_seed(3);
    for (int kind = 0; kind < 5 * 7 * 6; ++kind) {
        int rank = ranks[kind % 5], below = rows[kind / 5 % 7], wide = columns[kind / 35];
        size_t ld = (size_t)(rank + below + 3), all = ld * (size_t)(rank + wide);
        double* a = calloc(all, sizeof(double));
        double* was = calloc(all, sizeof(double));
        double* packed = calloc(panel_size(below, rank) + 1, sizeof(double));
        for (size_t k = 0; k < all; ++k) {
            a[k] = was[k] = (2.0 * rng_unit(&rng) - 1.0) / (1.0 + 0.1 * rank);
        }
        double* c = a + (size_t)rank * ld;
        panel_pack(below, rank, a + rank, ld, packed);
        panel_apply(rank, below, a, packed, ld, wide, c);
        CHECK(memcmp(a, was, (size_t)rank * ld * sizeof(double)) == 0);
        for (int j = 0; j < wide; ++j) {
            long double u[PANEL_RANK];
            for (size_t i = 0; i < ld; ++i) {
                long double x = was[(size_t)(rank + j) * ld + i];
                bool ours = i < (size_t)(rank + below);
                for (size_t k = 0; ours && k < (size_t)rank && k < i; ++k) {
                    x -= was[k * ld + i] * u[k];
                }
                if (i < (size_t)rank) {
                    u[i] = x;
                }
                // 64 roundings of numbers below one
                CHECK_NEAR(c[(size_t)j * ld + i], (double)x, ours ? 1.0e-14 : 0.0);
            }
        }
        free(a);
        free(was);
        free(packed);
    }
}
