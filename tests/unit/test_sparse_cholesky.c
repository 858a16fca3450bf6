#include "linalg/sparse_cholesky.h"

#include "base/rng.h"
#include "counting_allocator.h"
#include "math/dense.h"
#include "test.h"

static const double EPS = 0x1p-52;
static const SparseSolver* solver = &SPARSE_SOLVER_LDL;

typedef struct Matrix {
    int n, count;
    int *start, *index;
    double* value;
} Matrix;

static Matrix matrix_new(int n, int count) {
    return (Matrix){n, 0, calloc((size_t)n + 1, sizeof(int)),
                    calloc((size_t)count + 1, sizeof(int)),
                    calloc((size_t)count + 1, sizeof(double))};
}

static void matrix_free(Matrix* a) {
    free(a->start);
    free(a->index);
    free(a->value);
}

static void push(Matrix* a, int row, double value) {
    a->index[a->count] = row;
    a->value[a->count++] = value;
}

static SparsePattern pattern_of(const Matrix* a) {
    return (SparsePattern){a->n, a->start, a->index};
}

// Five-point Laplacian on a side x side grid with fixed edges, plus `shift` on the diagonal
static Matrix laplacian(int side, double shift) {
    Matrix a = matrix_new(side * side, 5 * side * side);
    for (int j = 0; j < a.n; ++j) {
        int x = j % side, y = j / side;
        if (y > 0) {
            push(&a, j - side, -1.0);
        }
        if (x > 0) {
            push(&a, j - 1, -1.0);
        }
        push(&a, j, 4.0 + shift);
        if (x + 1 < side) {
            push(&a, j + 1, -1.0);
        }
        if (y + 1 < side) {
            push(&a, j + side, -1.0);
        }
        a.start[j + 1] = a.count;
    }
    return a;
}

// Each pair is coupled with probability `density`
static Matrix random_matrix(Rng* rng, int n, double density, bool definite) {
    double* full = calloc((size_t)(n * n + 1), sizeof(double));
    for (int j = 0; j < n; ++j) {
        for (int i = j + 1; i < n; ++i) {
            double v = rng_unit(rng) < density ? rng_range(rng, -1.0, 1.0) : 0.0;
            full[i + j * n] = full[j + i * n] = v;
            full[i + i * n] += fabs(v);
            full[j + j * n] += fabs(v);
        }
    }
    Matrix a = matrix_new(n, n * n);
    for (int j = 0; j < n; ++j) {
        double sign = definite || j % 2 == 0 ? 1.0 : -1.0;
        full[j + j * n] = sign * (full[j + j * n] + 0.1);
        for (int i = 0; i < n; ++i) {
            if (full[i + j * n] != 0.0) {
                push(&a, i, full[i + j * n]);
            }
        }
        a.start[j + 1] = a.count;
    }
    free(full);
    return a;
}

// max |A x - b| / sum |a_ij x_j|
static double residual(const Matrix* a, const double* x, const double* b) {
    double worst = 0.0;
    for (int j = 0; j < a->n; ++j) { // column j is row j
        double sum = -b[j], size = fabs(b[j]);
        for (int k = a->start[j]; k < a->start[j + 1]; ++k) {
            sum += a->value[k] * x[a->index[k]];
            size += fabs(a->value[k] * x[a->index[k]]);
        }
        worst = fmax(worst, size > 0.0 ? fabs(sum) / size : 0.0);
    }
    return worst;
}

static double solve_random(const Matrix* a, Rng* rng, bool indefinite, SparseFactorInfo* info) {
    TdlHost host = tdl_host_default();
    SparsePattern pattern = pattern_of(a);
    void* factor;
    if (solver->analyse(&host.mem, &pattern, &factor) != TDL_STATUS_OK) {
        return INFINITY;
    }
    size_t size = (size_t)(2 * a->n) + 1;
    double *b = calloc(size, sizeof *b), *x = calloc(size, sizeof *x), worst = 0.0;
    for (int pass = 0; pass < 2; ++pass) { // the second factorisation reuses the first's memory
        for (int i = 0; i < 2 * a->n; ++i) {
            x[i] = b[i] = rng_range(rng, -1.0, 1.0);
        }
        *info = solver->factor(factor, a->value, indefinite);
        if (info->outcome == SPARSE_FACTORED) {
            solver->solve(factor, 2, x, a->n);
            worst = fmax(worst, fmax(residual(a, x, b), residual(a, x + a->n, b + a->n)));
        }
    }
    free(b);
    free(x);
    solver->destroy(factor);
    return worst;
}

TEST(laplacians) {
    Rng rng = rng_seed(1);
    int sides[] = {1, 2, 3, 10, 60};
    for (int i = 0; i < 5; ++i) {
        Matrix a = laplacian(sides[i], 0.0);
        SparseFactorInfo info;
        CHECK_BELOW(solve_random(&a, &rng, false, &info), 20.0 * EPS);
        CHECK_INT(info.outcome, SPARSE_FACTORED);
        CHECK_INT(info.negative_count, 0);
        CHECK_INT(info.column, -1);
        matrix_free(&a);
    }
}

TEST(ordering_keeps_the_factor_thin) {
    TdlHost host = tdl_host_default();
    Matrix a = laplacian(60, 0.0);
    SparsePattern pattern = pattern_of(&a);
    void* factor;
    REQUIRE(solver->analyse(&host.mem, &pattern, &factor) == TDL_STATUS_OK);
    // in the given order the band fills: 60 a column, 216000 in all
    printf("  %d entries below the diagonal of L, n = %d\n", solver->fill(factor), a.n);
    CHECK(solver->fill(factor) < 100000);
    solver->destroy(factor);
    matrix_free(&a);
}

TEST(random_patterns_agree_with_dense) {
    Rng rng = rng_seed(2);
    TdlHost host = tdl_host_default();
    for (int trial = 0; trial < 60; ++trial) {
        int n = 1 + rng_below(&rng, 60);
        Matrix a = random_matrix(&rng, n, rng_unit(&rng) * 0.3, true);
        SparseFactorInfo info;
        CHECK_BELOW(solve_random(&a, &rng, false, &info), 30.0 * EPS);
        CHECK_INT(info.outcome, SPARSE_FACTORED);

        static double dense[60 * 60], x[60], y[60];
        memset(dense, 0, sizeof dense);
        for (int j = 0; j < n; ++j) {
            x[j] = y[j] = rng_range(&rng, -1.0, 1.0);
            for (int k = a.start[j]; k < a.start[j + 1]; ++k) {
                dense[a.index[k] + j * n] = a.value[k];
            }
        }
        SparsePattern pattern = pattern_of(&a);
        void* factor;
        REQUIRE(solver->analyse(&host.mem, &pattern, &factor) == TDL_STATUS_OK);
        solver->factor(factor, a.value, false);
        solver->solve(factor, 1, x, n);
        CHECK_INT(tdl_cholesky(n, dense, n), n);
        tdl_cholesky_solve(n, dense, n, 1, y, n);
        for (int i = 0; i < n; ++i) {
            CHECK_NEAR(x[i], y[i], 1.0e-12); // condition up to 200, entries of x up to 10
        }
        solver->destroy(factor);
        matrix_free(&a);
    }
}

TEST(indefinite_matrices) {
    Rng rng = rng_seed(3);
    for (int trial = 0; trial < 40; ++trial) {
        // diagonally dominant with mixed signs: half of the eigenvalues are negative (Gershgorin)
        int n = 2 + rng_below(&rng, 50);
        Matrix a = random_matrix(&rng, n, 0.2, false);
        SparseFactorInfo info;
        CHECK_BELOW(solve_random(&a, &rng, true, &info), 30.0 * EPS);
        CHECK_INT(info.outcome, SPARSE_FACTORED);
        CHECK_INT(info.negative_count, n / 2);
        solve_random(&a, &rng, false, &info);
        CHECK_INT(info.outcome, SPARSE_NEGATIVE_PIVOT);
        CHECK(info.pivot < 0.0 && info.column >= 0 && info.column < n);
        matrix_free(&a);
    }
    // the Laplacian of a 12 x 12 grid, shifted: eigenvalues 4 - 2 cos - 2 cos + shift below zero
    double shift = -1.0, pi = 3.14159265358979323846;
    int negative = 0;
    for (int i = 1; i <= 12; ++i) {
        for (int j = 1; j <= 12; ++j) {
            negative += 4.0 - 2.0 * cos(pi * i / 13) - 2.0 * cos(pi * j / 13) + shift < 0.0;
        }
    }
    Matrix a = laplacian(12, shift);
    SparseFactorInfo info;
    CHECK_BELOW(solve_random(&a, &rng, true, &info), 1.0e-12); // no pivoting: some growth
    CHECK_INT(info.negative_count, negative);
    CHECK(negative > 0);
    matrix_free(&a);
}

TEST(failures_name_the_column) {
    Rng rng = rng_seed(4);
    Matrix a = matrix_new(5, 5);
    for (int j = 0; j < 5; ++j) {
        push(&a, j, j + 1.0);
        a.start[j + 1] = a.count;
    }
    SparseFactorInfo info;
    double bad[] = {0.0, -3.0, NAN, INFINITY};
    SparseOutcome expected[] = {SPARSE_ZERO_PIVOT, SPARSE_NEGATIVE_PIVOT, SPARSE_BAD_PIVOT,
                                SPARSE_BAD_PIVOT};
    for (int i = 0; i < 4; ++i) {
        a.value[3] = bad[i];
        solve_random(&a, &rng, false, &info);
        CHECK_INT(info.outcome, expected[i]);
        CHECK_INT(info.column, 3);
    }
    matrix_free(&a);

    // a free chain is singular, exactly: integers only
    Matrix chain = matrix_new(3, 7);
    int rows[] = {0, 1, 0, 1, 2, 1, 2}, starts[] = {0, 2, 5, 7};
    double values[] = {1, -1, -1, 2, -1, -1, 1};
    memcpy(chain.index, rows, sizeof rows);
    memcpy(chain.start, starts, sizeof starts);
    memcpy(chain.value, values, sizeof values);
    solve_random(&chain, &rng, true, &info);
    CHECK_INT(info.outcome, SPARSE_ZERO_PIVOT);
    matrix_free(&chain);

    // a diagonal that is not there: [0 1; 1 0]
    Matrix exchange = matrix_new(2, 2);
    push(&exchange, 1, 1.0);
    exchange.start[1] = 1;
    push(&exchange, 0, 1.0);
    exchange.start[2] = 2;
    solve_random(&exchange, &rng, true, &info);
    CHECK_INT(info.outcome, SPARSE_ZERO_PIVOT);
    matrix_free(&exchange);
}

TEST(empty_matrix) {
    TdlHost host = tdl_host_default();
    int start[1] = {0};
    SparsePattern pattern = {0, start, NULL};
    void* factor;
    REQUIRE(solver->analyse(&host.mem, &pattern, &factor) == TDL_STATUS_OK);
    CHECK_INT(solver->factor(factor, NULL, false).outcome, SPARSE_FACTORED);
    solver->solve(factor, 1, NULL, 0);
    CHECK_INT(solver->fill(factor), 0);
    solver->destroy(factor);
    solver->destroy(NULL);
}

TEST(wrong_patterns_are_refused) {
    TdlHost host = tdl_host_default();
    typedef struct Case {
        int n, start[4], index[4];
    } Case;
    Case cases[] = {
        {-1, {0}, {0}},               // size
        {2, {1, 1, 2}, {0, 1}},       // first start
        {2, {0, 2, 1}, {0, 1}},       // decreasing starts
        {2, {0, 1, 2}, {0, 2}},       // row out of range
        {2, {0, 1, 2}, {-1, 1}},      // row out of range
        {2, {0, 2, 4}, {1, 0, 0, 1}}, // unsorted
        {2, {0, 2, 3}, {0, 0, 1}},    // repeated
        {2, {0, 2, 3}, {0, 1, 1}},    // lower triangle only
        {2, {0, 1, 3}, {0, 0, 1}},    // upper triangle only
        {3, {0, 1, 2, 3}, {1, 2, 0}}, // a cycle
    };
    for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); ++i) {
        SparsePattern pattern = {cases[i].n, cases[i].start, cases[i].index};
        void* factor;
        CHECK_INT(solver->analyse(&host.mem, &pattern, &factor), TDL_STATUS_BAD_ARGUMENT);
        CHECK(factor == NULL);
    }
}

TEST(analysis_survives_each_failed_allocation) {
    Matrix a = laplacian(20, 0.0);
    SparsePattern pattern = pattern_of(&a);
    bool done = false;
    int failures = 0;
    for (long fail_at = 1; !done && fail_at < 100; ++fail_at) {
        AllocCounter counter = {.fail_at = fail_at};
        TdlAllocator mem = counting_allocator(&counter);
        void* factor;
        TdlStatus status = solver->analyse(&mem, &pattern, &factor);
        done = counter.calls < fail_at;
        CHECK_INT(status, done ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY);
        CHECK((factor != NULL) == done);
        failures += !done;
        if (done) {
            long calls = counter.calls;
            double b[400] = {1.0};
            CHECK_INT(solver->factor(factor, a.value, false).outcome, SPARSE_FACTORED);
            solver->solve(factor, 1, b, 400);
            CHECK_INT(counter.calls, calls); // factoring and solving allocate nothing
        }
        solver->destroy(factor);
        CHECK_INT(counter.live, 0);
    }
    CHECK(done && failures >= 3);
    matrix_free(&a);
}
