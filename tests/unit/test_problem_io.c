// Problem files: sample data, round trips, malformed and truncated input, and the command.
#include "base/memory.h"
#include "formats/problem_io.h"
#include "test.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

static int message_count;

static void count_message(void* user, TdlLogLevel level, const char* message) {
    (void)user;
    (void)level;
    CHECK(strchr(message, '\n') == NULL);
    ++message_count;
}

// memory in use and its peak, to hold the readers to the size of the file
typedef struct Meter {
    TdlAllocator real;
    size_t used, peak;
} Meter;

static void* metered_resize(void* user, void* block, size_t old_size, size_t new_size) {
    Meter* m = user;
    void* result = m->real.resize(m->real.user, block, old_size, new_size);
    if (result != NULL || new_size == 0) {
        m->used = m->used - old_size + new_size;
        m->peak = m->used > m->peak ? m->used : m->peak;
    }
    return result;
}

// Reads text; the reader may hold a small multiple of it, and a refusal says one thing.
static TdlStatus read_text(const char* text, TdlFrictionProblem** out) {
    TdlHost host = tdl_host_default();
    Meter meter = {host.mem, 0, 0};
    host.mem = (TdlAllocator){metered_resize, &meter};
    host.log = count_message;
    message_count = 0;
    size_t size = strlen(text);
    char* copy = malloc(size + 1);
    memcpy(copy, text, size + 1);
    TdlFrictionProblem* p = NULL;
    TdlStatus status = problem_from_bytes(&host, "text", copy, size, &p);
    free(copy);
    CHECK_BELOW((double)meter.peak, 100.0 * (double)size + 8192.0);
    if (status == TDL_STATUS_OK && out == NULL) {
        tdl_friction_problem_destroy(p);
        CHECK_INT(meter.used, 0);
    } else if (status != TDL_STATUS_OK) {
        CHECK_INT(message_count, 1);
        CHECK_INT(meter.used, 0);
    }
    if (out != NULL) {
        *out = NULL;
        tdl_friction_problem_destroy(status == TDL_STATUS_OK ? p : NULL);
    }
    return status;
}

static const char* const DENSE = "3 1 0 3 3 3 3 2 0.5 0 0.5 1 0 0 0 1 -1 0.3 0.2 0.5";
static const char* const BLOCKS = "3 2 1 6 6 2 2 2 3 6 3 6 3 2 0 1 2 0 1 "
                                  "0 1 0 0 0 1 0 0 0 1 1 2 0 0 0 2 0 0 0 2 "
                                  "-1 0 0 -1 0 0 0.5 0.5 7 7";
static const char* const LISTED =
    "3 1 2 3 3 1\nCXSparse Version 3\ntriplet: 3-by-3, nzmax: 3 nnz: 3\n"
    "0 0 : 2\n1 1 : 1\n2 2 : 1\n-1 0.3 0.2 0.5";
static const char* const COMPRESSED =
    "3 1 2 3 3 2\nCXSparse Version 3\n3-by-3, nzmax: 3 nnz: 3, 1-norm: 2\n"
    "col 0 : locations 0 to 0\n0 : 2\ncol 1 : locations 1 to 1\n1 : 1\n"
    "col 2 : locations 2 to 2\n2 : 1\n-1 0.3 0.2 0.5";
static const char* const GLOBAL = "3 1 0 3 3 3 3 2 0 0 0 2 0 0 0 2 "
                                  "0 3 3 3 3 1 0 0 0 1 0 0 0 1 -2 1 0 0 0 0 0.5";

TEST(good_texts_are_read) {
    CHECK(read_text(DENSE, NULL) == TDL_STATUS_OK);
    CHECK(read_text(BLOCKS, NULL) == TDL_STATUS_OK);
    CHECK(read_text(LISTED, NULL) == TDL_STATUS_OK);
    CHECK(read_text(COMPRESSED, NULL) == TDL_STATUS_OK);
    CHECK(read_text(GLOBAL, NULL) == TDL_STATUS_OK);
}

// W = H'M^-1 H and b = q + H'M^-1 f, on paper: W = I/2, b = (-1, 0.5, 0)
TEST(global_problem_is_reduced) {
    TdlHost host = tdl_host_default();
    char text[256];
    snprintf(text, sizeof text, "%s", GLOBAL);
    TdlFrictionProblem* p;
    REQUIRE(problem_from_bytes(&host, "global", text, strlen(text), &p) == TDL_STATUS_OK);
    double r[3] = {1.0, 2.0, 3.0}, u[3];
    REQUIRE(tdl_friction_velocity(p, r, u) == TDL_STATUS_OK);
    CHECK_NEAR3(((TdlVec3){u[0], u[1], u[2]}), ((TdlVec3){-0.5, 1.5, 1.5}), 1.0e-15);
    CHECK_INT(tdl_friction_problem_size(p).dof_count, 3);
    tdl_friction_problem_destroy(p);
}

TEST(truncated_texts_are_refused) {
    static const char* const texts[] = {DENSE, LISTED, COMPRESSED, GLOBAL};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; ++t) {
        size_t length = strlen(texts[t]);
        // up to the last number, whose own digits may be cut and still be a number
        for (size_t cut = 0; cut + 4 < length; ++cut) {
            char text[512];
            snprintf(text, sizeof text, "%.*s", (int)cut, texts[t]);
            if (read_text(text, NULL) != TDL_STATUS_BAD_INPUT) {
                FAIL("accepted: %s", text);
            }
        }
    }
}

TEST(malformed_texts_are_refused) {
    static const char* const texts[] = {
        "",
        "hello",
        "4 1 0 4 4 4 4 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 -1 0 0 0 0.5", // no such dimension
        "1 1 0 1 1 1 1 1 -1 0.5",
        "2 1 0 3 3 3 3 2 0 0 0 2 0 0 0 2 -1 0 0.5",                  // of space, says it is plane
        "3 -1 0 3 3",                                                // negative count
        "3 1000000000 1 3000000000 3000000000",                      // huge counts
        "3 100000000 0 300000000 300000000 300000000 300000000 1",   // huge, consistent
        "3 1 1 3 3 99999999 1 1 3 3 2 99999999 0 1",                 // huge block count
        "3 1 1 3 3 1 1 1 3 3 0 1 0 0 1 0 0 0 1 0 0 0 1 -1 0 0 0.5",  // a block, no row pointers
        "3 1 0 3 3 3 3 nan 0 0 0 1 0 0 0 1 -1 0 0 0.5",              // NaN
        "3 1 0 3 3 3 3 inf 0 0 0 1 0 0 0 1 -1 0 0 0.5",              // infinity
        "3 1 0 3 3 3 3 1e999 0 0 0 1 0 0 0 1 -1 0 0 0.5",            // overflow
        "3 1 0 3 3 3 3 1 0 0 0 1 0 0 0 1 -1 0 0 -0.5",               // negative mu
        "3 1 0 3 3 2 2 1 0 0 1 -1 0 0 0.5",                          // sizes disagree
        "3 1 0 3 4 3 4 1 0 0 0 1 0 0 0 1 0 0 0 -1 0 0 0.5",          // not square
        "3 1 7 3 3 3 3 1 0 0 0 1 0 0 0 1 -1 0 0 0.5",                // unknown type
        "3 1 0 3.5 3 3 3 1 0 0 0 1 0 0 0 1 -1 0 0 0.5",              // not whole
        "3 2 1 6 6 2 2 2 3 5 3 6 3 2 0 1 2 0 1 0 1 0 0 0 1 0 0 0 1", // ends disagree
        "3 2 1 6 6 2 2 2 3 6 3 6 3 2 0 1 2 0 5 0 1 0 0 0 1 0 0 0 1", // block column outside
        "3 1 2 3 3 1 triplet: 3-by-3, nnz: 3 0 0 : 2 9 1 : 1 2 2 : 1 -1 0 0 0.5", // row outside
        "3 1 0 3 3 3 3 -1 0 0 0 2 0 0 0 2 0 3 3 3 3 1 0 0 0 1 0 0 0 1 -2 1 0 0 0 0 0.5", // M < 0
    };
    for (size_t t = 0; t < sizeof texts / sizeof *texts; ++t) {
        if (read_text(texts[t], NULL) != TDL_STATUS_BAD_INPUT) {
            FAIL("accepted: %s", texts[t]);
        }
    }
}

static const char* data_path(const char* name, char* path, size_t size) {
    const char* data = getenv("TENDRIL_DATA");
    snprintf(path, size, "%s/dfcp/%s", data == NULL ? "../shared/data" : data, name);
    return access(path, R_OK) == 0 ? path : NULL;
}

static char* load(const char* path, size_t* size) {
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    fseek(file, 0, SEEK_SET);
    char* bytes = malloc(*size + 1);
    *size = fread(bytes, 1, *size, file);
    bytes[*size] = '\0';
    fclose(file);
    return bytes;
}

// An HDF5 of our own: written by the library, read by our reader; then cut and damaged.
TEST(hdf5_survives_cuts_and_flips) {
    TdlHost host = tdl_host_default();
    char text[512], path[64];
    snprintf(text, sizeof text, "%s", BLOCKS);
    snprintf(path, sizeof path, "/tmp/tendril-io-%d.hdf5", (int)getpid());
    TdlFrictionProblem *p, *q;
    REQUIRE(problem_from_bytes(&host, "blocks", text, strlen(text), &p) == TDL_STATUS_OK);
    REQUIRE(tdl_friction_problem_write(&host, path, p, NULL) == TDL_STATUS_OK);
    tdl_friction_problem_destroy(p);
    size_t size;
    char* bytes = load(path, &size);
    remove(path);
    REQUIRE(bytes != NULL);
    char* copy = malloc(size + 1);
    Meter meter = {host.mem, 0, 0};
    host.mem = (TdlAllocator){metered_resize, &meter};
    int read = 0;
    for (size_t k = 0; k < 2 * size; ++k) {
        memcpy(copy, bytes, size + 1);
        size_t length = k < size ? k : size;
        if (k >= size) {
            copy[k - size] = (char)(copy[k - size] ^ (k % 3 == 0 ? 0xff : 1 << k % 8));
        }
        q = NULL;
        meter.peak = 0;
        if (problem_from_bytes(&host, "damaged", copy, length, &q) == TDL_STATUS_OK) {
            ++read; // a flip in an unused byte
            tdl_friction_problem_destroy(q);
        }
        CHECK_INT(meter.used, 0);
        CHECK_BELOW((double)meter.peak, 40.0 * (double)size + 65536.0);
    }
    CHECK(read > 0);
    free(copy);
    free(bytes);
}

static void check_round_trip(const char* path, const char* suffix) {
    TdlHost host = tdl_host_default();
    char copy[64];
    snprintf(copy, sizeof copy, "/tmp/tendril-io-%d%s", (int)getpid(), suffix);
    TdlFrictionProblem *a, *b;
    REQUIRE(tdl_friction_problem_read(&host, path, &a) == TDL_STATUS_OK);
    REQUIRE(tdl_friction_problem_write(&host, copy, a, NULL) == TDL_STATUS_OK);
    REQUIRE(tdl_friction_problem_read(&host, copy, &b) == TDL_STATUS_OK);
    remove(copy);
    TdlFrictionSize size = tdl_friction_problem_size(a);
    CHECK_INT(tdl_friction_problem_size(b).contact_count, size.contact_count);
    size_t count = 3 * (size_t)size.contact_count;
    double* r = malloc(count * sizeof(double));
    double* u = malloc(count * sizeof(double));
    double* v = malloc(count * sizeof(double));
    for (size_t k = 0; k < count; ++k) {
        r[k] = sin(1.0 + (double)k);
    }
    tdl_friction_velocity(a, r, u);
    tdl_friction_velocity(b, r, v);
    double worst = 0.0, most = 0.0;
    for (size_t k = 0; k < count; ++k) {
        worst = fmax(worst, fabs(u[k] - v[k]));
        most = fmax(most, fabs(u[k]));
    }
    CHECK_BELOW(worst, 1.0e-13 * most); // W formed from bodies rounds differently
    free(r);
    free(u);
    free(v);
    tdl_friction_problem_destroy(a);
    tdl_friction_problem_destroy(b);
}

TEST(written_problems_read_back) {
    static const char* const names[] = {"Rover1040.dat", "Capsules-i100-889.dat",
                                        "GFC3D_TwoRods1.dat", "Box_Stacks-i0122-82-5.hdf5"};
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
        char path[1024];
        if (data_path(names[k], path, sizeof path) == NULL) {
            SKIP("no sample problems");
        }
        check_round_trip(path, ".dat");
        check_round_trip(path, ".hdf5");
    }
}

// The natural map from its definition, sharing nothing with the library but u = W r + b.
static double natural_error(const TdlFrictionProblem* p, const double* r) {
    TdlFrictionMatrixDef m = tdl_friction_problem_matrix(p);
    int n = m.laws.contact_count;
    double* u = malloc(3 * (size_t)n * sizeof(double));
    tdl_friction_velocity(p, r, u);
    long double sum = 0.0L, size = 0.0L;
    for (int i = 0; i < n; ++i) {
        long double mu = m.laws.mu[i], z[3], t, d[3];
        long double shift = mu * hypotl(u[3 * i + 1], u[3 * i + 2]);
        for (int k = 0; k < 3; ++k) {
            z[k] = (long double)r[3 * i + k] - u[3 * i + k] - (k == 0 ? shift : 0.0L);
            size += (long double)m.b[3 * i + k] * m.b[3 * i + k];
        }
        t = hypotl(z[1], z[2]);
        long double scale = t <= mu * z[0] ? 1.0L : mu * t <= -z[0] ? 0.0L : -1.0L;
        long double onto = (z[0] + mu * t) / (1.0L + mu * mu);
        for (int k = 0; k < 3; ++k) {
            long double image = scale >= 0.0L ? scale * z[k] : k == 0 ? onto : mu * onto * z[k] / t;
            d[k] = r[3 * i + k] - image;
            sum += d[k] * d[k];
        }
    }
    free(u);
    return (double)sqrtl(sum / size);
}

TEST(all_samples_are_solved) {
    const char* data = getenv("TENDRIL_DATA");
    char folder[1024];
    snprintf(folder, sizeof folder, "%s/dfcp", data == NULL ? "../shared/data" : data);
    DIR* dir = opendir(folder);
    if (dir == NULL) {
        SKIP("no sample problems in %s", folder);
    }
    TdlHost host = tdl_host_default();
    int count = 0;
    for (struct dirent* entry; (entry = readdir(dir)) != NULL;) {
        char path[2048];
        TdlFrictionProblem* p;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "LICENSE") == 0 ||
            tdl_friction_problem_read(&host, path, &p) != TDL_STATUS_OK) {
            continue;
        }
        double* r = calloc(3 * (size_t)tdl_friction_problem_size(p).contact_count, sizeof(double));
        for (int k = 0; k < 2; ++k) {
            TdlFrictionOptions o = tdl_friction_options_default();
            o.tolerance = k == 0 ? 1.0e-8 : 1.0e-12;
            TdlFrictionSolver* solver;
            TdlFrictionInfo info;
            REQUIRE(tdl_friction_solver_create(&host, &o, &solver) == TDL_STATUS_OK);
            memset(r, 0, 3 * sizeof(double) * (size_t)tdl_friction_problem_size(p).contact_count);
            CHECK(tdl_friction_solver_solve(solver, p, r, NULL, &info) == TDL_STATUS_OK);
            double error = natural_error(p, r);
            if (!(error <= 1.01 * o.tolerance)) {
                FAIL("%s: error %.3g, asked for %g", entry->d_name, error, o.tolerance);
            }
            CHECK(info.outcome == TDL_FRICTION_CONVERGED);
            tdl_friction_solver_destroy(solver);
        }
        free(r);
        tdl_friction_problem_destroy(p);
        ++count;
    }
    closedir(dir);
    printf("  %d problems to 1e-8 and to 1e-12\n", count);
    CHECK(count > 0);
}

static int run_command(const char* arguments) {
    const char* command = getenv("TENDRIL_COMMAND");
    char line[2048];
    snprintf(line, sizeof line, "%s %s", command, arguments);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void write_file(const char* path, const char* text) {
    FILE* file = fopen(path, "wb");
    if (file != NULL) {
        fputs(text, file);
        fclose(file);
    }
}

TEST(command_keeps_its_exit_codes) {
    if (getenv("TENDRIL_COMMAND") == NULL) {
        SKIP("no command to run");
    }
    char good[64], bad[64], line[512];
    snprintf(good, sizeof good, "/tmp/tendril-io-%d-good.dat", (int)getpid());
    snprintf(bad, sizeof bad, "/tmp/tendril-io-%d-bad.dat", (int)getpid());
    write_file(good, DENSE);
    write_file(bad, "3 1 0 3 3 3 3 nan");
    snprintf(line, sizeof line, "dfcp %s --json --out %s.csv > %s.json", good, good, good);
    CHECK_INT(run_command(line), 0);
    size_t size;
    snprintf(line, sizeof line, "%s.json", good);
    char* json = load(line, &size);
    CHECK(json != NULL && strstr(json, "\"problems\": [{\"file\"") != NULL &&
          strstr(json, "\"converged\": true") != NULL);
    free(json);
    remove(line);
    snprintf(line, sizeof line, "%s.csv", good);
    char* csv = load(line, &size);
    CHECK(csv != NULL && strncmp(csv, "contact,r_n,r_t1,r_t2,u_n,u_t1,u_t2\n0,", 38) == 0);
    free(csv);
    remove(line);
    snprintf(line, sizeof line, "dfcp %s 2> /dev/null", bad);
    CHECK_INT(run_command(line), 3);
    CHECK_INT(run_command("dfcp /nonexistent 2> /dev/null"), 3);
    CHECK_INT(run_command("dfcp 2> /dev/null"), 2);
    snprintf(line, sizeof line, "dfcp %s --tolerance 0 2> /dev/null", good);
    CHECK_INT(run_command(line), 2);
    snprintf(line, sizeof line, "dfcp %s --solver magic 2> /dev/null", good);
    CHECK_INT(run_command(line), 2);
    // one sweep is not enough for 1e-300
    snprintf(line, sizeof line, "dfcp %s --tolerance 1e-300 > /dev/null", good);
    CHECK_INT(run_command(line), 1);
    remove(good);
    remove(bad);
}
