// Blocks of six against dense elimination.
#include "island.h"
#include "linalg/six_lu.h"
#include "test.h"

enum { N = 14, M = 6 * N, MOST = N * N };

typedef struct Matrix {
    int start[N + 1], column[MOST];
    double value[36 * MOST], dense[M * M];
} Matrix;

// A ring of blocks with some across it; the diagonal is not dominant within blocks, so that rows
// are exchanged.
static void fill(Matrix* a, uint64_t seed, double unsymmetric) {
    int count = 0;
    memset(a->dense, 0, sizeof a->dense);
    for (int i = 0; i < N; ++i) {
        a->start[i] = count;
        for (int j = 0; j < N; ++j) {
            int apart = abs(i - j);
            if (apart > 1 && apart != N - 1 && apart != 5) {
                continue;
            }
            a->column[count] = j;
            for (int k = 0; k < 36; ++k) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                double x = (double)(seed >> 40) / 8388608.0 - 1.0;
                x = i == j ? 4.0 * x : unsymmetric * x;
                x += i == j && (k % 6 + 1) % 6 == k / 6 ? 9.0 : 0.0;
                a->value[36 * count + k] = x;
                a->dense[(6 * i + k % 6) * M + 6 * j + k / 6] = x;
            }
            ++count;
        }
    }
    a->start[N] = count;
}

// Rows that are idle are not there: the matrix of the others, and what stands at idle ones stays.
TEST(idle_rows_stay_out) {
    static Matrix a;
    TdlHost host = tdl_host_default();
    Arena arena;
    SixLu lu;
    bool idle[N] = {[2] = true, [3] = true, [9] = true};
    double x[M], expected[M], before[M], worst = 0.0, largest = 0.0;
    arena_init(&arena, &host.mem);
    fill(&a, 3, 0.3);
    BlockPattern pattern = {N, 6, a.start, a.column, NULL};
    REQUIRE(six_lu_analyse(&lu, &arena, &pattern, idle) == TDL_STATUS_OK);
    for (int k = 0; k < M; ++k) {
        x[k] = before[k] = sin(1.0 + k);
        expected[k] = idle[k / 6] ? 0.0 : x[k];
        for (int j = 0; j < M; ++j) {
            if (idle[k / 6] || idle[j / 6]) {
                a.dense[k * M + j] = j == k ? 1.0 : 0.0;
            }
        }
    }
    REQUIRE(six_lu_factor(&lu, a.value, NULL));
    six_lu_solve(&lu, x);
    solve_dense(M, a.dense, expected);
    for (int k = 0; k < M; ++k) {
        if (idle[k / 6]) {
            CHECK(x[k] == before[k]);
        } else {
            worst = fmax(worst, fabs(x[k] - expected[k]));
            largest = fmax(largest, fabs(expected[k]));
        }
    }
    CHECK_BELOW(worst, 1.0e-11 * largest); // conditions of some hundred
    arena_destroy(&arena);
}

TEST(it_solves_what_dense_elimination_solves_with_any_numbers) {
    static Matrix a;
    TdlHost host = tdl_host_default();
    Arena arena;
    SixLu lu;
    arena_init(&arena, &host.mem);
    fill(&a, 1, 0.3);
    BlockPattern pattern = {N, 6, a.start, a.column, NULL};
    REQUIRE(six_lu_analyse(&lu, &arena, &pattern, NULL) == TDL_STATUS_OK);
    for (int pass = 0; pass < 4; ++pass) { // one analysis
        double x[M], expected[M], worst = 0.0, largest = 0.0;
        fill(&a, 10 + (uint64_t)pass, 0.2 * pass);
        for (int k = 0; k < M; ++k) {
            x[k] = expected[k] = sin(1.0 + k + pass);
        }
        REQUIRE(six_lu_factor(&lu, a.value, NULL));
        six_lu_solve(&lu, x);
        int sign = solve_dense(M, a.dense, expected);
        for (int k = 0; k < M; ++k) {
            worst = fmax(worst, fabs(x[k] - expected[k]));
            largest = fmax(largest, fabs(expected[k]));
        }
        CHECK_BELOW(worst, 1.0e-11 * largest); // conditions of some hundred
        CHECK(lu.lu.sign == sign && lu.lu.shifted == 0);
    }
    arena_destroy(&arena);
}
