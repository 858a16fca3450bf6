// Products of rows over lists against dense ones, and which lists are alike.
#include "friction/listed.h"

#include "base/rng.h"
#include "test.h"

#include <string.h>

// A tree of fours, root first: the parent of each.
enum { NODES = 9, DOFS = 4 * NODES, CONTACTS = 12 };
static const int PARENT[NODES] = {-1, 0, 1, 2, 1, 0, 5, 6, 5};

typedef struct Case {
    int entries[2 * CONTACTS][DOFS], body[2 * CONTACTS];
    const int* list[2 * CONTACTS];
    TdlSpan span[2 * CONTACTS];
    double mu[CONTACTS], h[6 * CONTACTS * DOFS], y[6 * CONTACTS * DOFS];
    double dense_h[3 * CONTACTS][DOFS], dense_y[3 * CONTACTS][DOFS];
    TdlFrictionBodiesDef def;
} Case;

// The way to a node from the root, or from below it: `cut` nodes are left out.
static int way_to(int node, int cut, int* list) {
    int nodes[NODES], count = 0;
    for (int k = node; k >= 0; k = PARENT[k]) {
        nodes[count++] = k;
    }
    cut = cut < count ? cut : count - 1;
    for (int j = 0; j < 4 * (count - cut); ++j) {
        list[j] = 4 * nodes[count - 1 - cut - j / 4] + j % 4;
    }
    return 4 * (count - cut);
}

static void make_case(Case* c, uint64_t seed) {
    static const int START[2] = {0, DOFS};
    Rng rng = rng_seed(seed);
    memset(c, 0, sizeof *c);
    size_t at = 0;
    for (int side = 0; side < 2 * CONTACTS; ++side) {
        int count = way_to(rng_below(&rng, NODES), rng_below(&rng, 3), c->entries[side]);
        c->list[side] = c->entries[side];
        c->span[side] = (TdlSpan){0, count};
        c->mu[side / 2] = 0.3;
        for (int k = 0; k < 3 * count; ++k, ++at) {
            int row = 3 * (side / 2) + k / count, j = c->entries[side][k % count];
            c->h[at] = rng_range(&rng, -1.0, 1.0);
            c->y[at] = j < 3 ? -c->h[at] : c->h[at];
            c->dense_h[row][j] += c->h[at];
            c->dense_y[row][j] += c->y[at];
        }
    }
    c->def =
        (TdlFrictionBodiesDef){.laws = {.block_size = 3, .contact_count = CONTACTS, .mu = c->mu},
                               .body_count = 1,
                               .dof_start = START,
                               .body = c->body,
                               .span = c->span,
                               .list = c->list,
                               .h = c->h,
                               .y = c->y,
                               .y_like_h = true};
}

// The largest deviation of couplings, of rows times velocities and of what impulses do.
static double deviation(const Case* c, const TdlFrictionProblem* p) {
    double worst = 0.0, v[DOFS], moved[DOFS] = {0}, exact[DOFS] = {0};
    const double x[3] = {0.3, -0.7, 1.1};
    for (int j = 0; j < DOFS; ++j) {
        v[j] = cos(2.0 * j);
    }
    for (int i = 0; i < CONTACTS; ++i) {
        for (int j = 0; j < CONTACTS; ++j) {
            double w[9] = {0};
            problem_add_coupling(p, i, j, w);
            for (int k = 0; k < 9; ++k) {
                double sum = 0.0;
                for (int m = 0; m < DOFS; ++m) {
                    sum += c->dense_h[3 * i + k % 3][m] * c->dense_y[3 * j + k / 3][m];
                }
                worst = fmax(worst, fabs(w[k] - sum));
            }
        }
        double out[3] = {0};
        for (int s = 2 * i; s < 2 * i + 2; ++s) {
            listed_times(p, rows_of_h(p, s), v, out);
            listed_add(p, rows_of_y(p, s), x, moved);
        }
        for (int k = 0; k < 3; ++k) {
            double sum = 0.0;
            for (int m = 0; m < DOFS; ++m) {
                sum += c->dense_h[3 * i + k][m] * v[m];
                exact[m] += c->dense_y[3 * i + k][m] * x[k];
            }
            worst = fmax(worst, fabs(out[k] - sum));
        }
    }
    for (int m = 0; m < DOFS; ++m) {
        worst = fmax(worst, fabs(moved[m] - exact[m]));
    }
    return worst;
}

TEST(products_are_those_of_dense_rows) {
    TdlHost host = tdl_host_default();
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        static Case c;
        TdlFrictionProblem* p;
        make_case(&c, seed);
        REQUIRE(tdl_friction_problem_create_bodies(&host, &c.def, &p) == TDL_STATUS_OK);
        CHECK(p->fours && p->ways);
        double by_fours = deviation(&c, p);
        p->fours = false;
        double by_ways = deviation(&c, p);
        p->ways = false;
        double by_entries = deviation(&c, p);
        // some ten roundings of numbers of about one
        CHECK_BELOW(fmax(by_fours, fmax(by_ways, by_entries)), 1.0e-14);
        tdl_friction_problem_destroy(p);
    }
}

TEST(other_lists_are_told_apart) {
    TdlHost host = tdl_host_default();
    static Case c;
    TdlFrictionProblem* p;
    make_case(&c, 3);
    int* list = c.entries[7];
    int last = c.span[7].count - 1;
    list[last] = list[last] == DOFS - 1 ? DOFS - 2 : list[last] + 1; // three and one
    if (list[last] <= list[last - 1]) {
        list[last] = list[last - 1] + 1;
    }
    bool moved = list[last] != list[last - 1] + 1;
    REQUIRE(tdl_friction_problem_create_bodies(&host, &c.def, &p) == TDL_STATUS_OK);
    CHECK(moved && !p->fours);
    tdl_friction_problem_destroy(p);

    // four coordinates that come after others than they did
    make_case(&c, 3);
    for (int j = 0; j < 8; ++j) {
        c.entries[4][j] = j < 4 ? j : 4 * 7 + j - 4;
    }
    c.span[4].count = 8;
    c.span[5].count = way_to(7, 0, c.entries[5]);
    REQUIRE(tdl_friction_problem_create_bodies(&host, &c.def, &p) == TDL_STATUS_OK);
    CHECK(p->fours && !p->ways);
    tdl_friction_problem_destroy(p);
}

TEST(runs_in_common) {
    static const int a[] = {0, 4, 8, 20}, b[] = {8, 20, 24}, none[] = {5, 9};
    ListedRun run = listed_run(a, 4, b, 3, 1);
    CHECK(run.a == 2 && run.b == 0 && run.count == 2);
    run = listed_run(b, 3, a, 4, 1);
    CHECK(run.a == 0 && run.b == 2 && run.count == 2);
    CHECK_INT(listed_run(a, 4, none, 2, 1).count, 0);
    CHECK_INT(listed_run(a, 4, none, 0, 1).count, 0);
    CHECK_INT(listed_run(a, 0, b, 3, 1).count, 0);
}
