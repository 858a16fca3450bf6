// Planar problems: read as problems of space, solved by every solver, against all solutions that
// there are, found by trying every mode of every contact.
#include "base/rng.h"
#include "formats/hdf5_writer.h"
#include "formats/problem_io.h"
#include "scratch.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 5, SIZE = 2 * MOST, MODES = 4, KEPT = 64 };

// u = W r + b in the plane, the normal component of a contact first.
typedef struct Planar {
    int n;
    double w[SIZE][SIZE], b[SIZE], mu[MOST];
} Planar;

// W = G G' of so many columns, and b = G z: what impulses can bring to rest, so that there is a
// solution even where W is singular. z is such that most contacts close.
static void make_planar(Planar* p, uint64_t seed, int n, int columns, double mu) {
    Rng rng = rng_seed(seed);
    double g[SIZE][2 * SIZE], z[2 * SIZE];
    memset(p, 0, sizeof *p);
    p->n = n;
    for (int j = 0; j < columns; ++j) {
        z[j] = rng_range(&rng, -1.0, 1.0);
        for (int i = 0; i < 2 * n; ++i) {
            g[i][j] = rng_range(&rng, -1.0, 1.0);
            z[j] -= i % 2 == 0 ? 0.5 * g[i][j] : 0.0;
        }
    }
    for (int i = 0; i < 2 * n; ++i) {
        p->mu[i / 2] = mu * rng_range(&rng, 0.5, 1.0);
        for (int k = 0; k < columns; ++k) {
            p->b[i] += g[i][k] * z[k];
            for (int j = 0; j < 2 * n; ++j) {
                p->w[i][j] += g[i][k] * g[j][k];
            }
        }
    }
}

static void velocity_of(const Planar* p, const double* r, double* u) {
    for (int i = 0; i < 2 * p->n; ++i) {
        u[i] = p->b[i];
        for (int j = 0; j < 2 * p->n; ++j) {
            u[i] += p->w[i][j] * r[j];
        }
    }
}

// --- every mode of every contact -----------------------------------------------------------------

enum { OPEN, STICKS, FORWARD, BACKWARD };

static bool solve_dense(int m, double a[SIZE][SIZE + 1]) {
    for (int k = 0; k < m; ++k) {
        int pivot = k;
        for (int i = k + 1; i < m; ++i) {
            pivot = fabs(a[i][k]) > fabs(a[pivot][k]) ? i : pivot;
        }
        if (fabs(a[pivot][k]) < 1.0e-11) {
            return false;
        }
        for (int j = 0; j <= m; ++j) {
            double swap = a[k][j];
            a[k][j] = a[pivot][j];
            a[pivot][j] = swap;
        }
        for (int i = 0; i < m; ++i) {
            double factor = i == k ? 0.0 : a[i][k] / a[k][k];
            for (int j = k; j <= m && factor != 0.0; ++j) {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    for (int k = 0; k < m; ++k) {
        a[k][m] /= a[k][k];
    }
    return true;
}

// r with the modes given, two equations a contact; whether it is a solution.
static bool try_modes(const Planar* p, const int* mode, double* r) {
    double a[SIZE][SIZE + 1] = {{0}}, u[SIZE];
    int m = 2 * p->n;
    for (int i = 0; i < m; ++i) {
        int s = mode[i / 2];
        if (s == OPEN) {
            a[i][i] = 1.0; // r = 0
        } else if (i % 2 == 1 && s != STICKS) {
            a[i][i] = 1.0; // r_T = -+ mu r_N
            a[i][i - 1] = s == FORWARD ? p->mu[i / 2] : -p->mu[i / 2];
        } else {
            for (int j = 0; j < m; ++j) { // u = 0
                a[i][j] = p->w[i][j];
            }
            a[i][m] = -p->b[i];
        }
    }
    if (!solve_dense(m, a)) {
        return false;
    }
    for (int i = 0; i < m; ++i) {
        r[i] = a[i][m];
    }
    velocity_of(p, r, u);
    bool good = true;
    for (int i = 0; i < p->n; ++i) {
        const double *x = r + 2 * i, *v = u + 2 * i, little = 1.0e-10;
        good = good && (mode[i] == OPEN ? v[0] >= -little
                        : mode[i] == STICKS
                            ? fabs(x[1]) <= p->mu[i] * x[0] + little
                            : x[0] >= -little && (mode[i] == FORWARD ? v[1] : -v[1]) >= -little);
    }
    return good;
}

static int all_solutions(const Planar* p, double found[KEPT][SIZE]) {
    int count = 0, all = 1;
    for (int i = 0; i < p->n; ++i) {
        all *= MODES;
    }
    for (int k = 0; k < all && count < KEPT; ++k) {
        int mode[MOST];
        for (int i = 0, left = k; i < p->n; ++i, left /= MODES) {
            mode[i] = left % MODES;
        }
        count += try_modes(p, mode, found[count]);
    }
    return count;
}

// How far r is from the nearest of these.
static double distance(const Planar* p, int count, double found[KEPT][SIZE], const double* r) {
    double nearest = INFINITY;
    for (int k = 0; k < count; ++k) {
        double sum = 0.0;
        for (int i = 0; i < 2 * p->n; ++i) {
            sum += (found[k][i] - r[i]) * (found[k][i] - r[i]);
        }
        nearest = fmin(nearest, sqrt(sum));
    }
    return nearest;
}

// The natural map of the plane: where an impulse lies against the wedge |r_T| <= mu r_N, whose
// sides are two rays.
static double planar_error(const Planar* p, const double* r) {
    double u[SIZE], sum = 0.0, size = 0.0;
    velocity_of(p, r, u);
    for (int i = 0; i < p->n; ++i) {
        double mu = p->mu[i], x = r[2 * i] - u[2 * i] - mu * fabs(u[2 * i + 1]);
        double y = r[2 * i + 1] - u[2 * i + 1], nx = x, ny = y;
        if (fabs(y) > mu * x) {
            double side = y > 0.0 ? 1.0 : -1.0; // the nearer ray, along (1, side mu)
            double along = fmax((x + side * mu * y) / (1.0 + mu * mu), 0.0);
            nx = along;
            ny = side * mu * along;
        }
        sum += (r[2 * i] - nx) * (r[2 * i] - nx) + (r[2 * i + 1] - ny) * (r[2 * i + 1] - ny);
        size += p->b[2 * i] * p->b[2 * i] + p->b[2 * i + 1] * p->b[2 * i + 1];
    }
    return sqrt(sum / size);
}

// --- as files ------------------------------------------------------------------------------------

static TdlFrictionProblem* read_text(const char* text) {
    TdlHost host = tdl_host_default();
    TdlFrictionProblem* problem = NULL;
    char* copy = strdup(text);
    CHECK_INT(problem_from_bytes(&host, "planar", copy, strlen(copy), &problem), TDL_STATUS_OK);
    free(copy);
    return problem;
}

// As Siconos writes it: dense, column by column.
static TdlFrictionProblem* problem_of(const Planar* p) {
    static char text[1 << 16];
    int m = 2 * p->n;
    size_t at = (size_t)sprintf(text, "2 %d 0 %d %d %d %d\n", p->n, m, m, m, m);
    for (int k = 0; k < m * m; ++k) {
        at += (size_t)sprintf(text + at, "%.17g\n", p->w[k % m][k / m]);
    }
    for (int k = 0; k < m; ++k) {
        at += (size_t)sprintf(text + at, "%.17g ", p->b[k]);
    }
    for (int k = 0; k < p->n; ++k) {
        at += (size_t)sprintf(text + at, "%.17g ", p->mu[k]);
    }
    return read_text(text);
}

// The impulses of the plane that a solver finds; whether it says that they solve the problem.
static bool solve_planar(const TdlFrictionProblem* problem, TdlFrictionOptions options, int n,
                         double* r) {
    TdlHost host = tdl_host_default();
    TdlFrictionSolver* solver;
    TdlFrictionInfo info;
    double all[3 * MOST] = {0};
    CHECK_INT(tdl_friction_solver_create(&host, &options, &solver), TDL_STATUS_OK);
    CHECK_INT(tdl_friction_solver_solve(solver, problem, all, NULL, &info), TDL_STATUS_OK);
    tdl_friction_solver_destroy(solver);
    for (int i = 0; i < n; ++i) {
        // nothing leaks into the direction that the plane does not have
        if (all[3 * i + 2] != 0.0) {
            FAIL("%s: contact %d has %g out of the plane", tdl_friction_solver_name(options.solver),
                 i, all[3 * i + 2]);
        }
        r[2 * i] = all[3 * i];
        r[2 * i + 1] = all[3 * i + 1];
    }
    return info.outcome == TDL_FRICTION_CONVERGED;
}

TEST(every_solver_finds_planar_solutions) {
    int tried = 0;
    double worst = 0.0, error = 0.0;
    for (int seed = 1; seed <= 100; ++seed) {
        Planar p;
        int n = 1 + seed % MOST;
        make_planar(&p, (uint64_t)seed, n, 2 * n + 2, 0.5);
        static double found[KEPT][SIZE];
        int count = all_solutions(&p, found);
        CHECK(count > 0);
        TdlFrictionProblem* problem = problem_of(&p);
        // the faceted cone has corners along the plane, but what it leaves out of it is arbitrary
        for (int kind = 0; kind < TDL_FRICTION_FACETED; ++kind, ++tried) {
            TdlFrictionOptions options = tdl_friction_options_default();
            options.solver = (TdlFrictionSolverKind)kind;
            options.tolerance = 1.0e-10;
            double r[SIZE];
            bool solved = solve_planar(problem, options, n, r);
            double left = planar_error(&p, r);
            // interior points lose their last digits at the cones' boundary, and say so
            bool near = kind == TDL_FRICTION_INTERIOR && left < 1.0e-9;
            if (!solved && !near) {
                FAIL("%s, seed %d: error %.2g", tdl_friction_solver_name(options.solver), seed,
                     left);
            }
            error = solved ? fmax(error, left) : error;
            worst = fmax(worst, distance(&p, count, found, r));
        }
        tdl_friction_problem_destroy(problem);
    }
    printf("  %d solves: error %.1e, at most %.1e from a solution\n", tried, error, worst);
    CHECK_BELOW(error, 1.01e-10);
    CHECK_BELOW(worst, 1.0e-7); // 1e-10 |b| times the condition of W, some hundreds
}

TEST(every_measure_and_one_contact_solver_does) {
    for (int k = 0; k < TDL_FRICTION_ERROR_COUNT * TDL_FRICTION_LOCAL_COUNT; ++k) {
        TdlFrictionOptions options = tdl_friction_options_default();
        options.solver = TDL_FRICTION_GAUSS_SEIDEL;
        options.error = (TdlFrictionError)(k % TDL_FRICTION_ERROR_COUNT);
        options.local = (TdlFrictionLocal)(k / TDL_FRICTION_ERROR_COUNT);
        options.tolerance = 1.0e-10;
        for (int seed = 200; seed < 220; ++seed) {
            Planar p;
            static double found[KEPT][SIZE];
            double r[SIZE];
            make_planar(&p, (uint64_t)seed, 1 + seed % 3, 8, 0.4);
            TdlFrictionProblem* problem = problem_of(&p);
            // Newton on Fischer-Burmeister alone is known to fail on some contacts, in space too
            bool solved = solve_planar(problem, options, p.n, r);
            CHECK(solved || options.local == TDL_FRICTION_LOCAL_FISCHER);
            if (solved) {
                CHECK_BELOW(distance(&p, all_solutions(&p, found), found, r), 1.0e-7); // as above
            }
            tdl_friction_problem_destroy(problem);
        }
    }
}

// Forces are not unique then; the law is what can be checked.
TEST(singular_and_rough_problems_are_solved_too) {
    double error = 0.0;
    for (int seed = 1; seed <= 60; ++seed) {
        Planar p;
        make_planar(&p, 300 + (uint64_t)seed, MOST, seed % 2 == 0 ? 4 : 7,
                    seed % 3 == 0 ? 0.1 : 1.0);
        TdlFrictionProblem* problem = problem_of(&p);
        TdlFrictionOptions options = tdl_friction_options_default();
        double r[SIZE];
        if (!solve_planar(problem, options, MOST, r)) {
            FAIL("seed %d: error %g", seed, planar_error(&p, r));
        }
        error = fmax(error, planar_error(&p, r));
        tdl_friction_problem_destroy(problem);
    }
    CHECK_BELOW(error, 1.01e-8);
}

// --- other files ---------------------------------------------------------------------------------

// A block of 2 kg on an incline for 10 ms: its coordinates are x, y and the angle, the contact is
// below its centre. On paper: r_N = m g dt cos, r_T as much as it takes to hold it, or mu r_N.
static void incline(double angle, double* f, double* r) {
    double mass = 2.0, gravity = 9.81, dt = 0.01, mu = 0.5;
    f[0] = -mass * gravity * dt * cos(angle);
    f[1] = mass * gravity * dt * sin(angle);
    f[2] = 0.0;
    r[0] = -f[0];
    r[1] = -fmin(f[1], mu * r[0]);
}

TEST(global_problems_of_the_plane) {
    for (int degrees = 0; degrees <= 60; degrees += 10) {
        double f[3], known[2], r[2];
        char text[512];
        incline(degrees / 57.29577951308232, f, known);
        // M, H (3 x 2), f, q, mu
        snprintf(text, sizeof text,
                 "2 1 0 3 3 3 3 2 0 0 0 2 0 0 0 1 0 3 2 3 2 1 0 0 0 1 0 %.17g %.17g %.17g 0 0 0.5",
                 f[0], f[1], f[2]);
        TdlFrictionProblem* problem = read_text(text);
        REQUIRE(problem != NULL);
        CHECK_INT(tdl_friction_problem_size(problem).dof_count, 3);
        CHECK(solve_planar(problem, tdl_friction_options_default(), 1, r));
        CHECK_NEAR(r[0], known[0], 1.0e-9);
        CHECK_NEAR(r[1], known[1], 1.0e-9);
        tdl_friction_problem_destroy(problem);
    }
}

static hid_t open_group(hid_t file, const char* name) {
    return H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

// A sparse matrix as FCLIB has it, with all entries listed.
static void put_matrix(hid_t at, const char* name, int rows, int cols, const double* by_rows) {
    hid_t group = open_group(at, name);
    int count = rows * cols, row[64], col[64];
    for (int k = 0; k < count; ++k) {
        row[k] = k / cols;
        col[k] = k % cols;
    }
    CHECK(hdf5_put(group, "m", H5T_NATIVE_INT, 1, &rows) &&
          hdf5_put(group, "n", H5T_NATIVE_INT, 1, &cols) &&
          hdf5_put(group, "nz", H5T_NATIVE_INT, 1, &count) &&
          hdf5_put(group, "nzmax", H5T_NATIVE_INT, 1, &count) &&
          hdf5_put(group, "i", H5T_NATIVE_INT, (size_t)count, row) &&
          hdf5_put(group, "p", H5T_NATIVE_INT, (size_t)count, col) &&
          hdf5_put(group, "x", H5T_NATIVE_DOUBLE, (size_t)count, by_rows));
    H5Gclose(group);
}

static void write_fclib(const char* path, bool global, int dimension, const double* f) {
    hid_t file = hdf5_create(path);
    hid_t root = open_group(file, global ? "fclib_global" : "fclib_local");
    hid_t vectors = open_group(root, "vectors");
    double mu = 0.5, zero[2] = {0}, b[2] = {f[0] / 2.0, f[1] / 2.0};
    CHECK(hdf5_put(root, "spacedim", H5T_NATIVE_INT, 1, &dimension));
    CHECK(hdf5_put(vectors, "mu", H5T_NATIVE_DOUBLE, 1, &mu));
    if (global) {
        put_matrix(root, "M", 3, 3, (double[]){2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0});
        put_matrix(root, "H", 3, 2, (double[]){1.0, 0.0, 0.0, 1.0, 0.0, 0.0});
        CHECK(hdf5_put(vectors, "f", H5T_NATIVE_DOUBLE, 3, f));
        CHECK(hdf5_put(vectors, "w", H5T_NATIVE_DOUBLE, 2, zero));
    } else {
        put_matrix(root, "W", 2, 2, (double[]){0.5, 0.0, 0.0, 0.5});
        CHECK(hdf5_put(vectors, "q", H5T_NATIVE_DOUBLE, 2, b));
    }
    H5Gclose(vectors);
    H5Gclose(root);
    CHECK(H5Fclose(file) >= 0);
}

TEST(fclib_problems_of_the_plane) {
    Scratch scratch = scratch_make();
    TdlHost host = tdl_host_default();
    double f[3], known[2], r[2];
    incline(0.6, f, known);
    for (int k = 0; k < 2; ++k) {
        TdlFrictionProblem* problem;
        const char* path = scratch_path(&scratch, "planar.hdf5");
        write_fclib(path, k == 1, 2, f);
        REQUIRE(tdl_friction_problem_read(&host, path, &problem) == TDL_STATUS_OK);
        CHECK(solve_planar(problem, tdl_friction_options_default(), 1, r));
        CHECK_NEAR(r[0], known[0], 1.0e-9);
        CHECK_NEAR(r[1], known[1], 1.0e-9);
        tdl_friction_problem_destroy(problem);
        // matrices of the plane in a file that says it is of space, or of neither
        write_fclib(path, k == 1, 3, f);
        CHECK_INT(tdl_friction_problem_read(&host, path, &problem), TDL_STATUS_BAD_INPUT);
        write_fclib(path, k == 1, 4, f);
        CHECK_INT(tdl_friction_problem_read(&host, path, &problem), TDL_STATUS_BAD_INPUT);
    }
    scratch_remove(&scratch);
}
