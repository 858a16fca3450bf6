// Contacts that hang together: who is in a cluster, written out again, and rings that sweeps alone
// do not solve.
#include "friction/clusters.h"
#include "friction/gauss_seidel.h"
#include "island.h"
#include "test.h"

// --- who is in -----------------------------------------------------------------------------------

// Those that swing at least a fifth as far and are reached through others that do.
static void reach(const System* sys, const Swing* swing, int i, double far, bool* in) {
    in[i] = true;
    for (int e = sys->start[i]; e < sys->start[i + 1]; ++e) {
        int j = sys->column[e];
        if (!in[j] && swing[j].far > 0.2 * far) {
            reach(sys, swing, j, far, in);
        }
    }
}

TEST(clusters_are_what_swings_together) {
    Island f = {0};
    Clusters found;
    case_wisp(&f.c, 3, 40, 12, 12, 0.3);
    REQUIRE(island_open(&f));
    REQUIRE(system_form_rows(&f.sys, &f.arena) == TDL_STATUS_OK);
    int n = f.sys.n, seed = 17, alone = n - 1;
    Swing* swing = calloc((size_t)n, sizeof *swing);
    bool* in = calloc((size_t)n, sizeof *in);
    // every ninth contact swings; one goes out, and so does one that nobody goes with
    for (int i = 0; i < n; ++i) {
        swing[i] = (Swing){i % 9 == 0 ? 0.5 : 0.01, 1.0, false};
    }
    swing[seed] = (Swing){1.0, 1.0, true};
    swing[alone] = (Swing){10.0, 1.0, true};
    reach(&f.sys, swing, seed, 1.0, in);
    int expected = 0;
    for (int i = 0; i < n; ++i) {
        expected += in[i];
    }
    REQUIRE(clusters_find(&found, &f.run, swing) == TDL_STATUS_OK);
    REQUIRE(found.count == 1);
    CHECK(expected > 3);
    CHECK_INT(found.start[1], expected < CLUSTER_MOST ? expected : CLUSTER_MOST);
    for (int k = 0; k < found.start[1]; ++k) {
        CHECK(in[found.member[k]]);
        CHECK(k == 0 || found.member[k] > found.member[k - 1]);
    }
    // its own problem, with what the others do, is that of all: u = b + W r at its contacts
    double *r = calloc(3 * (size_t)n, sizeof *r), *u = malloc(3 * (size_t)n * sizeof *u);
    double own_r[3 * CLUSTER_MOST], own_u[3 * CLUSTER_MOST];
    for (int i = 0; i < 3 * n; ++i) {
        r[i] = i % 3 == 0 ? 0.5 + 0.1 * (i % 7) : 0.0;
    }
    system_velocity(&f.sys, r, u);
    for (int k = 0; k < 3 * found.start[1]; ++k) {
        int at = 3 * found.member[k / 3] + k % 3;
        own_r[k] = r[at];
        own_u[k] = u[at];
    }
    clusters_solve(&found, 0, &f.run, own_u, own_r);
    for (int k = 0; k < 3 * found.start[1]; ++k) {
        r[3 * found.member[k / 3] + k % 3] = own_r[k];
    }
    system_velocity(&f.sys, r, u);
    for (int k = 0; k < 3 * found.start[1]; ++k) {
        own_u[k] = u[3 * found.member[k / 3] + k % 3];
    }
    CHECK_BELOW(system_error(&found.own[0], own_u, own_r), f.sys.target);
    free(swing);
    free(in);
    free(r);
    free(u);
    island_close(&f);
}

// --- a ring --------------------------------------------------------------------------------------

enum { RING = 4 };

// Four bodies in a ring, each touched by its two neighbours: along (1, 1, 1, 1), which is (+, -, +,
// -) seen from the bodies, W is `soft`.
typedef struct Ring {
    System sys;
    ContactLaw law[RING];
    double mu[RING], b[3 * RING], diag[9 * RING], blocks[9 * RING * RING + 4];
    int start[RING + 1], column[RING * RING];
} Ring;

static void make_ring(Ring* f, double soft, const double* r) {
    *f = (Ring){0};
    for (int i = 0; i < RING; ++i) {
        f->law[i] = LAW_CONE;
        f->mu[i] = 0.1;
        f->start[i] = RING * i;
        for (int j = 0; j < RING; ++j) {
            double* w = f->blocks + 9 * (RING * i + j);
            bool beside = (i + 1) % RING == j || (j + 1) % RING == i;
            w[0] = i == j ? 2.0 + soft : beside ? -1.0 : 0.0;
            w[4] = w[8] = i == j ? 2.0 : 0.0;
            f->column[RING * i + j] = j;
            for (int k = 0; k < 9 && i == j; ++k) {
                f->diag[9 * i + k] = w[k];
            }
        }
    }
    f->start[RING] = RING * RING;
    // u = 0 at r
    for (int i = 0; i < 3 * RING; ++i) {
        for (int j = 0; j < 3 * RING; ++j) {
            f->b[i] -= f->blocks[9 * (RING * (i / 3) + j / 3) + 3 * (j % 3) + i % 3] * r[j];
        }
    }
    f->sys = (System){.d = 3,
                      .n = RING,
                      .law = f->law,
                      .mu = f->mu,
                      .b = f->b,
                      .diag = f->diag,
                      .start = f->start,
                      .column = f->column,
                      .blocks = f->blocks,
                      .block_count = RING * RING,
                      .sigma = 1.0,
                      .beta = 1.0,
                      .rho = 1.0,
                      .target = 1.0e-10,
                      .factor = 1.0};
}

TEST(a_ring_is_solved_as_one) {
    const double expected[3 * RING] = {1.0, 0.05, 0.0, 2.0, 0.0, 0.1, 1.5, 0.0, 0.0, 2.5, 0.0, 0.2};
    TdlHost host = tdl_host_default();
    Arena arena;
    arena_init(&arena, &host.mem);
    Ring f;
    make_ring(&f, 1.0e-6, expected);
    TdlFrictionOptions o = tdl_friction_options_default();
    double r[2][3 * RING] = {{0}}, u[3 * RING];
    Swing swing[RING];
    for (int i = 0; i < RING; ++i) {
        swing[i] = (Swing){1.0, 1.0, true};
    }
    Run run = {.sys = &f.sys, .arena = &arena, .options = &o, .best = r[0], .worth = INFINITY};
    Clusters clusters;
    REQUIRE(clusters_find(&clusters, &run, swing) == TDL_STATUS_OK);
    CHECK_INT(clusters.count, 1);
    for (int together = 0; together < 2; ++together) {
        run.clusters = together ? &clusters : NULL;
        Sweeper sweeper;
        REQUIRE(sweeper_init(&sweeper, &run) == TDL_STATUS_OK);
        for (int k = 0; k < (together ? 2 : 2000); ++k) {
            sweeper_sweep(&sweeper, r[together]);
        }
        system_velocity(&f.sys, r[together], u);
        double error = system_error(&f.sys, u, r[together]);
        if (together) {
            CHECK_BELOW(error, f.sys.target);
        } else {
            CHECK(error > 1.0e-7); // 2000 sweeps go a part of 2e-3 of the way
        }
    }
    // impulses are unique, and 1e-10 over the softness is what may be left of them
    for (int k = 0; k < 3 * RING; ++k) {
        CHECK_NEAR(r[1][k], expected[k], 1.0e-3);
    }
    arena_destroy(&arena);
}
