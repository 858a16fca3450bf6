// Orders by nested dissection: every row once, and the fill counted by eliminating on paper.
#include "base/rng.h"
#include "linalg/dissection.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

typedef struct Graph {
    int n, *start, *column;
    bool* coupled; // [n n]
    Arena arena;
} Graph;

static void begin_graph(Graph* g, int n) {
    TdlHost host = tdl_host_default();
    arena_init(&g->arena, &host.mem);
    g->n = n;
    g->coupled = ARENA_NEW(&g->arena, bool, (size_t)n*(size_t)n);
    memset(g->coupled, 0, (size_t)n * (size_t)n);
}

static void couple(Graph* g, int i, int j) {
    g->coupled[(size_t)i * (size_t)g->n + (size_t)j] = true;
    g->coupled[(size_t)j * (size_t)g->n + (size_t)i] = true;
}

static void end_graph(Graph* g) {
    size_t n = (size_t)g->n;
    int count = 0;
    g->start = ARENA_NEW(&g->arena, int, n + 1);
    g->column = ARENA_NEW(&g->arena, int, n* n);
    for (size_t i = 0; i < n; ++i) {
        g->start[i] = count;
        for (size_t j = 0; j < n; ++j) {
            if (g->coupled[i * n + j]) {
                g->column[count++] = (int)j;
            }
        }
    }
    g->start[n] = count;
}

// A square of rows, each coupled to those beside it, with its names mixed up.
static void make_square(Graph* g, int side, uint64_t seed) {
    Rng rng = rng_seed(seed);
    int n = side * side, *name = malloc((size_t)n * sizeof(int));
    begin_graph(g, n);
    for (int i = 0; i < n; ++i) {
        int j = (int)(rng_unit(&rng) * (i + 1));
        name[i] = j < i ? name[j] : i;
        name[j < i ? j : i] = i;
    }
    for (int y = 0; y < side; ++y) {
        for (int x = 0; x < side; ++x) {
            for (int k = 0; k < 9; ++k) {
                int dx = k % 3 - 1, dy = k / 3 - 1;
                if (x + dx >= 0 && x + dx < side && y + dy >= 0 && y + dy < side) {
                    couple(g, name[y * side + x], name[(y + dy) * side + x + dx]);
                }
            }
        }
    }
    free(name);
    end_graph(g);
}

// Multiplications of an elimination in that order, the neighbours of each row written out.
static double count_work(const Graph* g, const int* order) {
    size_t n = (size_t)g->n;
    bool* left = malloc(n * n);
    int* near = malloc(n * sizeof(int));
    double work = 0.0;
    memcpy(left, g->coupled, n * n);
    for (size_t k = 0; k < n; ++k) {
        size_t i = (size_t)order[k];
        int count = 0;
        for (size_t j = 0; j < n; ++j) {
            if (j != i && left[i * n + j]) {
                near[count++] = (int)j;
            }
        }
        for (int a = 0; a < count; ++a) {
            for (int b = 0; b < count; ++b) {
                left[(size_t)near[a] * n + (size_t)near[b]] = true;
            }
            left[(size_t)near[a] * n + i] = false;
        }
        work += (double)count * count;
    }
    free(left);
    free(near);
    return work;
}

static void check_each_once(const int* order, int n) {
    bool* seen = calloc((size_t)n, 1);
    for (int k = 0; k < n; ++k) {
        REQUIRE(order[k] >= 0 && order[k] < n);
        CHECK(!seen[order[k]]);
        seen[order[k]] = true;
    }
    free(seen);
}

TEST(a_square_is_cut_into_squares) {
    for (uint64_t seed = 1; seed <= 2; ++seed) {
        Graph g;
        make_square(&g, 40, seed);
        int* order = malloc((size_t)g.n * sizeof(int));
        REQUIRE(dissection_order(&g.arena, g.n, g.start, g.column, order) == TDL_STATUS_OK);
        check_each_once(order, g.n);
        // cut at straight lines a square of k takes 829/84 k^3 where symmetry halves the work
        // (George 1973), 20 k^3 as counted here; row by row it is k^4, twice that
        CHECK_BELOW(count_work(&g, order), 1.5 * 20.0 * 40.0 * 40.0 * 40.0);
        free(order);
        arena_destroy(&g.arena);
    }
}

TEST(parts_without_couplings_and_full_ones_are_ordered_too) {
    enum { N = 900 };
    static int order[N];
    Graph g;
    // a clique of 400, which no few rows separate; 300 rows alone; a chain of 200
    begin_graph(&g, N);
    for (int i = 0; i < 400; ++i) {
        for (int j = 0; j <= i; ++j) {
            couple(&g, 2 * i, 2 * j);
        }
    }
    for (int k = 1; k < 200; ++k) {
        couple(&g, 2 * k + 1, 2 * k - 1);
    }
    end_graph(&g);
    REQUIRE(dissection_order(&g.arena, N, g.start, g.column, order) == TDL_STATUS_OK);
    check_each_once(order, N);
    // the clique is full anyway, and a chain takes up to two couplings a row
    double clique = 0.0;
    for (int k = 0; k < 400; ++k) {
        clique += (double)k * k;
    }
    CHECK_BELOW(count_work(&g, order), clique + 4.0 * 200.0);
    arena_destroy(&g.arena);
}
