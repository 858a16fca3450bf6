// Mixing of velocities: a linear map comes to its fixed point in as many attempts as it has
// dimensions and some, also where it leads away from it.
#include "base/rng.h"
#include "test.h"
#include "world/barrier_mix.h"

enum { N = 4 };

// T(v) = B v + c, and A = diag(a): v_free is 0, so that v takes the impulse A v.
typedef struct Map {
    double B[N][N], c[N], a[N];
} Map;

static Map make_map(Rng* rng, double size) {
    Map m;
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) {
            m.B[i][j] = size * rng_range(rng, -1.0, 1.0);
        }
        m.c[i] = rng_range(rng, -1.0, 1.0);
        m.a[i] = pow(10.0, rng_range(rng, -4.0, 4.0)); // coordinates of different units
    }
    return m;
}

static void set(const Map* m, int i, double v, Velocities* out) {
    out->v[i] = v;
    out->impulse[i] = m->a[i] * v;
    out->known = true;
}

static double apply(const Map* m, const Velocities* from, Velocities* out) {
    double rest = 0.0;
    for (int i = 0; i < N; ++i) {
        double sum = m->c[i];
        for (int j = 0; j < N; ++j) {
            sum += m->B[i][j] * from->v[j];
        }
        set(m, i, sum, out);
        rest = fmax(rest, fabs(sum - from->v[i]));
    }
    return rest;
}

TEST(a_linear_map_comes_to_its_fixed_point) {
    TdlAllocator mem = tdl_host_default().mem;
    Rng rng = rng_seed(5);
    for (int turn = 0; turn < 50; ++turn) {
        Map m = make_map(&rng, turn % 2 == 0 ? 0.3 : 1.5);
        Mixing mixing = {0};
        Velocities from = {0}, now = {0};
        REQUIRE(velocities_reserve(&mem, &from, N) && velocities_reserve(&mem, &now, N));
        for (int i = 0; i < N; ++i) {
            set(&m, i, 0.0, &from);
        }
        double first = 0.0, rest = 0.0;
        for (int k = 0; k < 12; ++k) {
            rest = apply(&m, &from, &now);
            first = k == 0 ? rest : first;
            REQUIRE(barrier_mix_add(&mem, &mixing, N, &from, &now));
            Velocities swap = from;
            from = now;
            now = swap;
        }
        // (I - B)^-1 and eight decades of units cost some digits
        CHECK_BELOW(rest, 1.0e-6 * first);
        barrier_mix_free(&mem, &mixing);
        velocities_free(&mem, &from);
        velocities_free(&mem, &now);
    }
}

TEST(what_is_not_known_is_not_mixed) {
    TdlAllocator mem = tdl_host_default().mem;
    Rng rng = rng_seed(6);
    Map m = make_map(&rng, 0.5);
    Mixing mixing = {0};
    Velocities a = {0}, b = {0}, out = {0};
    REQUIRE(velocities_reserve(&mem, &a, N) && velocities_reserve(&mem, &b, N) &&
            velocities_reserve(&mem, &out, N));
    for (int i = 0; i < N; ++i) {
        set(&m, i, i, &a);
        set(&m, i, 2.0 * i + 1.0, &b);
    }
    velocities_between(&a, &b, 0.25, N, &out);
    CHECK(out.known);
    CHECK_NEAR(out.v[3], 3.0 + 0.25 * 4.0, 1.0e-15);
    CHECK_NEAR(out.impulse[3], m.a[3] * out.v[3], 1.0e-12 * m.a[3]);
    velocities_between(NULL, &b, 0.25, N, &out);
    CHECK(!out.known); // what 0 takes is not
    CHECK_NEAR(out.v[3], 1.75, 1.0e-15);
    for (int k = 0; k < 3; ++k) {
        REQUIRE(barrier_mix_add(&mem, &mixing, N, &out, &b));
        CHECK(mixing.count == 0 && mixing.moved == 0.0 && b.v[3] == 7.0);
    }
    barrier_mix_free(&mem, &mixing);
    velocities_free(&mem, &a);
    velocities_free(&mem, &b);
    velocities_free(&mem, &out);
}
