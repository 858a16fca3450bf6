// Problems in velocity space as files: every field there and back, wrong and hostile files.
#include "base/memory.h"
#include "base/rng.h"
#include "counting_allocator.h"
#include "formats/hdf5_writer.h"
#include "formats/problem_io.h"
#include "scratch.h"
#include "test.h"

#include <math.h>
#include <string.h>

// Three bodies, one of them touched by nothing, and all kinds of contacts.
enum { BODIES = 3, CONTACTS = 6, DOFS = 17, SIDES = 2 * CONTACTS, MOST = 6 * SIDES * DOFS };
static const int START[BODIES + 1] = {0, 8, 13, DOFS};
static const int BODY[SIDES] = {0, 1, 0, -1, 1, 1, -1, -1, 0, 0, 1, -1};
static const TdlSpan SPAN[SIDES] = {{2, 3}, {0, 5}, {7, 1}, {0, 0}, {0, 2}, {3, 2},
                                    {0, 0}, {0, 0}, {0, 4}, {3, 5}, {0, 3}, {0, 0}};
static const int* const LIST[SIDES] = {
    NULL, NULL, NULL, NULL, (const int[]){0, 4}, NULL, NULL, NULL, (const int[]){0, 2, 5, 7}};
static const double MU[CONTACTS] = {0.3, 0.0, INFINITY, 0.3, 0.7, 0.2};
static const double C[CONTACTS] = {0.1, 0.0, -0.2, 0.0, 0.0, 0.0};
static const unsigned char BILATERAL[CONTACTS] = {0, 0, 0, 0, 0, 1};

typedef struct Case {
    double velocity[DOFS], u_free[6 * CONTACTS], guess[6 * CONTACTS], h[MOST], y[MOST];
    int a_start[DOFS + 1], a_column[3 * DOFS];
    double a_value[3 * DOFS];
    TdlFrictionBodiesDef def;
} Case;

static int dofs_of(int side) {
    return BODY[side] < 0 ? 0 : START[BODY[side] + 1] - START[BODY[side]];
}

// Y = H with A = 1: rows over whole bodies, those of a body that touches itself in one.
static void add_to_y(Case* c, bool spans, bool lists, int d) {
    size_t h = 0, y = 0, first = 0;
    for (int side = 0; side < SIDES; ++side) {
        int m = dofs_of(side), count = spans ? SPAN[side].count : m;
        bool again = side % 2 == 1 && BODY[side] == BODY[side - 1];
        first = again ? first : y;
        for (int k = 0; k < d && m > 0; ++k) {
            for (int i = 0; i < count; ++i, ++h) {
                int at = lists && LIST[side] != NULL ? LIST[side][i]
                         : spans                     ? SPAN[side].first + i
                                                     : i;
                c->y[first + (size_t)(k * m + at)] += c->h[h];
            }
        }
        y += again ? 0 : (size_t)(d * m);
    }
}

enum { SPANS = 1, LISTS = 2, WHITENED = 4, LAWS = 8, MOVES = 16, GUESS = 32, SIX = 64 };
enum { MATRIX = 128, ALIKE = 256 };

// Each body a chain of masses and springs.
static void make_matrix(Case* c) {
    int count = 0;
    for (int body = 0; body < BODIES; ++body) {
        for (int i = START[body]; i < START[body + 1]; ++i) {
            c->a_start[i] = count;
            for (int j = i - 1; j <= i + 1; ++j) {
                if (j >= START[body] && j < START[body + 1]) {
                    c->a_column[count] = j;
                    c->a_value[count++] = j == i ? 2.5 + 0.1 * i : -1.0;
                }
            }
        }
    }
    c->a_start[DOFS] = count;
    c->def.a = (TdlSparseRows){c->a_start, c->a_column, c->a_value};
    c->def.y = NULL;
}

static void make_case(Case* c, int what) {
    Rng rng = rng_seed(9 + (uint64_t)what);
    memset(c, 0, sizeof *c);
    int d = what & SIX ? 6 : 3;
    for (int k = 0; k < MOST; ++k) {
        c->h[k] = rng_range(&rng, -1.0, 1.0);
    }
    for (int k = 0; k < DOFS; ++k) {
        c->velocity[k] = rng_range(&rng, -1.0, 1.0);
    }
    for (int k = 0; k < 6 * CONTACTS; ++k) {
        c->u_free[k] = rng_range(&rng, -1.0, 1.0);
        c->guess[k] = k % d == 0 ? rng_unit(&rng) : 0.01 * rng_unit(&rng);
    }
    add_to_y(c, what & SPANS, what & LISTS, d);
    c->def = (TdlFrictionBodiesDef){.laws = {.block_size = d,
                                             .contact_count = CONTACTS,
                                             .mu = MU,
                                             .bilateral = what & LAWS ? BILATERAL : NULL,
                                             .normal_velocity = what & LAWS ? C : NULL,
                                             .guess = what & GUESS ? c->guess : NULL},
                                    .body_count = BODIES,
                                    .dof_start = START,
                                    .velocity = what & MOVES ? c->velocity : NULL,
                                    .u_free = what & MOVES && !(what & LAWS) ? NULL : c->u_free,
                                    .body = BODY,
                                    .span = what & SPANS ? SPAN : NULL,
                                    .list = what & LISTS ? LIST : NULL,
                                    .h = c->h,
                                    .y = what & WHITENED ? c->h : c->y};
    if (what & MATRIX) {
        make_matrix(c);
    }
    if (what & ALIKE) {
        memcpy(c->y, c->h, sizeof c->y);
        c->def.y_like_h = true;
    }
}

static bool same_numbers(const double* a, const double* b, size_t count) {
    return (a == NULL) == (b == NULL) && (a == NULL || memcmp(a, b, count * sizeof *a) == 0);
}

// Impulses of 30 sweeps and Newton steps in turn, and the velocities of the bodies with these.
static void solve_some(const TdlFrictionProblem* p, double* r, double* v) {
    TdlHost host = tdl_host_default();
    TdlFrictionOptions options = tdl_friction_options_default();
    TdlFrictionSolver* solver;
    TdlFrictionInfo info;
    options.solver = TDL_FRICTION_ALTERNATING;
    options.max_iterations = 30;
    const double* guess = tdl_friction_problem_bodies(p).laws.guess;
    for (int k = 0; k < 6 * CONTACTS; ++k) {
        r[k] = guess != NULL && k < CONTACTS * tdl_friction_problem_size(p).block_size ? guess[k]
                                                                                       : 0.0;
    }
    REQUIRE(tdl_friction_solver_create(&host, &options, &solver) == TDL_STATUS_OK);
    CHECK_INT(tdl_friction_solver_solve(solver, p, r, NULL, &info), TDL_STATUS_OK);
    CHECK_INT(tdl_friction_body_velocity(p, r, v), TDL_STATUS_OK);
    tdl_friction_solver_destroy(solver);
}

// Writes a case, reads it and compares what was given, what b is, and what solvers make of it.
static void there_and_back(const char* path, int what) {
    TdlHost host = tdl_host_default();
    Case c;
    TdlFrictionProblem *p, *q;
    make_case(&c, what);
    REQUIRE(tdl_friction_problem_create_bodies(&host, &c.def, &p) == TDL_STATUS_OK);
    REQUIRE(tdl_friction_problem_write(&host, path, p, NULL) == TDL_STATUS_OK);
    REQUIRE(tdl_friction_problem_read(&host, path, &q) == TDL_STATUS_OK);
    TdlFrictionBodiesDef a = tdl_friction_problem_bodies(p), b = tdl_friction_problem_bodies(q);
    size_t size = CONTACTS * (size_t)c.def.laws.block_size;
    bool good =
        b.body_count == BODIES && b.laws.block_size == c.def.laws.block_size &&
        same_numbers(b.laws.mu, MU, CONTACTS) &&
        same_numbers(b.laws.normal_velocity, a.laws.normal_velocity, CONTACTS) &&
        memcmp(b.laws.bilateral, a.laws.bilateral, CONTACTS) == 0 &&
        same_numbers(b.laws.guess, c.def.laws.guess, size) &&
        memcmp(b.dof_start, START, sizeof START) == 0 && memcmp(b.body, BODY, sizeof BODY) == 0 &&
        same_numbers(b.velocity, c.def.velocity, DOFS) &&
        same_numbers(b.u_free, c.def.u_free, size) &&
        (b.span == NULL ? c.def.span == NULL : memcmp(b.span, SPAN, sizeof SPAN) == 0) &&
        (b.list == NULL) == (c.def.list == NULL) && (b.y == b.h) == (a.y == a.h) &&
        b.y_like_h == c.def.y_like_h &&
        same_numbers(tdl_friction_problem_matrix(q).b, tdl_friction_problem_matrix(p).b, size);
    for (int side = 0; side < SIDES && b.list != NULL; ++side) {
        good = good && (b.list[side] == NULL ? LIST[side] == NULL
                                             : memcmp(b.list[side], LIST[side],
                                                      sizeof(int) * (size_t)SPAN[side].count) == 0);
    }
    if (what & MATRIX) {
        size_t entries = (size_t)c.a_start[DOFS];
        good = good && b.y == NULL && memcmp(b.a.start, c.a_start, sizeof c.a_start) == 0 &&
               memcmp(b.a.column, c.a_column, entries * sizeof *c.a_column) == 0 &&
               same_numbers(b.a.value, c.a_value, entries);
    }
    double r[2][6 * CONTACTS], v[2][DOFS];
    solve_some(p, r[0], v[0]);
    solve_some(q, r[1], v[1]);
    good = good && memcmp(r[0], r[1], size * sizeof(double)) == 0 &&
           memcmp(v[0], v[1], sizeof v[0]) == 0;
    if (!good) {
        FAIL("another problem came back of case %d", what);
    }
    tdl_friction_problem_destroy(p);
    tdl_friction_problem_destroy(q);
}

TEST(every_field_comes_back_and_so_do_the_bits) {
    Scratch scratch = scratch_make();
    int count = 0;
    for (int what = 0; what < 2 * ALIKE; ++what) {
        bool alone = what & (LISTS | ALIKE) && !(what & SPANS);
        int ways = !!(what & WHITENED) + !!(what & MATRIX) + !!(what & ALIKE);
        if (!alone && ways <= 1) {
            there_and_back(scratch_path(&scratch, "p.hdf5"), what);
            ++count;
        }
    }
    printf("  %d cases\n", count);
    CHECK(count >= 170);
    scratch_remove(&scratch);
}

TEST(a_problem_without_contacts_is_a_file_too) {
    Scratch scratch = scratch_make();
    TdlHost host = tdl_host_default();
    Case c;
    TdlFrictionProblem *p, *q;
    make_case(&c, 0);
    c.def.laws.contact_count = 0;
    REQUIRE(tdl_friction_problem_create_bodies(&host, &c.def, &p) == TDL_STATUS_OK);
    const char* path = scratch_path(&scratch, "none.hdf5");
    REQUIRE(tdl_friction_problem_write(&host, path, p, NULL) == TDL_STATUS_OK);
    REQUIRE(tdl_friction_problem_read(&host, path, &q) == TDL_STATUS_OK);
    CHECK_INT(tdl_friction_problem_size(q).contact_count, 0);
    CHECK_INT(tdl_friction_problem_size(q).dof_count, DOFS);
    tdl_friction_problem_destroy(p);
    tdl_friction_problem_destroy(q);
    scratch_remove(&scratch);
}

// --- wrong files ---------------------------------------------------------------------------------

// A dataset of a good file put in the place of another, or taken away.
typedef struct Wrong {
    const char* name;
    int entry;    // that is changed; -1: the dataset goes; -2: it is a number short
    double value; // it has then
    const char* said;
} Wrong;

static const Wrong WRONG[] = {
    {"version", 0, 5.0, "version is 5"},
    {"version", -1, 0.0, "no dataset version"},
    {"block_size", 0, 4.0, "block_size is 4"},
    {"block_size", 0, 6.0, "numbers, not"},
    {"mu", 1, -0.5, "contact 1"},
    {"mu", 1, NAN, "contact 1"},
    {"mu", -1, 0.0, "no dataset mu"},
    {"mu", -2, 0.0, "numbers, not"},
    {"bilateral", 0, 2.0, "bilateral: entry 0 is 2"},
    {"bilateral", -2, 0.0, "bilateral has 5"},
    {"normal_velocity", 2, INFINITY, "normal_velocity"},
    {"normal_velocity", -2, 0.0, "normal_velocity has 5"},
    {"guess", 5, NAN, "guess"},
    {"guess", -2, 0.0, "guess has 17"},
    {"dof_start", 0, 1.0, "dof_start"},
    {"dof_start", 1, 14.0, "dof_start"},
    {"dof_start", 3, 18.0, "velocity has 17 numbers, not 18"},
    {"dof_start", 3, 1.5, "dof_start: entry 3 is 1.5"},
    {"dof_start", 3, 1.0e300, "dof_start: entry 3"},
    {"dof_start", -1, 0.0, "no dataset dof_start"},
    {"velocity", 0, NAN, "velocity"},
    {"velocity", -1, 0.0, "no dataset velocity"},
    {"body", 0, 3.0, "body: entry 0 is 3"},
    {"body", 0, -2.0, "body: entry 0 is -2"},
    {"body", 0, NAN, "body: entry 0"},
    {"body", -2, 0.0, "body has 11"},
    {"body", -1, 0.0, "no dataset body"},
    {"span", 1, 9.0, "span: contact 0"},
    {"span", 0, -1.0, "span: entry 0"},
    {"span", 1, 2.0, "h has"},
    {"span", -2, 0.0, "span has 23"},
    {"span", -1, 0.0, "listed"},
    {"listed", 0, 1.0, "list has"},
    {"listed", 0, 3.0, "listed: entry 0"},
    {"listed", -2, 0.0, "listed has 11"},
    {"list", 0, 4.0, "list: contact 2"},
    {"list", 1, 5.0, "list: contact 2"},
    {"list", -1, 0.0, "no dataset list"},
    {"h", 3, NAN, "h has an entry"},
    {"h", 3, 1.0e300, "not finite"}, // b overflows
    {"h", -2, 0.0, "h has"},
    {"h", -1, 0.0, "no dataset h"},
    {"y", 3, -INFINITY, "y has an entry"},
    {"y", -2, 0.0, "y has"},
    {"y", -1, 0.0, "listed"},
    {"u_free", 0, NAN, "u_free"},
    {"u_free", -2, 0.0, "u_free has 17"},
};

static const Wrong WRONG_MATRIX[] = {
    {"a_start", 0, 1.0, "rows of A"},
    {"a_start", 3, 400.0, "rows of A"},
    {"a_start", 3, 1.0, "rows of A"},
    {"a_start", 17, 1000.0, "a_column has"},
    {"a_start", -2, 0.0, "a_start has 17"},
    {"a_start", -1, 0.0, "listed"},    // neither y nor A
    {"a_column", 0, 8.0, "rows of A"}, // another body's
    {"a_column", 0, 1.0, "rows of A"}, // twice, and no diagonal
    {"a_column", 0, -1.0, "a_column: entry 0"},
    {"a_column", -1, 0.0, "no dataset a_column"},
    {"a_value", 0, -2.0, "positive definite"},
    {"a_value", 1, 0.5, "rows of A"}, // not symmetric
    {"a_value", 0, NAN, "a_value has an entry"},
    {"a_value", -1, 0.0, "no dataset a_value"},
};

// Numbers are written as doubles, which a reader of whole ones takes as well.
static bool spoil(const char* path, const Wrong* w) {
    double values[MOST];
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t group = H5Gopen2(file, "tendril_bodies", H5P_DEFAULT);
    hid_t set = H5Dopen2(group, w->name, H5P_DEFAULT), space = H5Dget_space(set);
    size_t count = (size_t)H5Sget_simple_extent_npoints(space);
    bool good = count <= MOST &&
                H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    H5Sclose(space);
    H5Dclose(set);
    good = good && H5Ldelete(group, w->name, H5P_DEFAULT) >= 0;
    if (good && w->entry >= 0) {
        values[w->entry] = w->value;
    }
    if (good && w->entry != -1) {
        good = hdf5_put(group, w->name, H5T_NATIVE_DOUBLE, count - (w->entry == -2), values);
    }
    H5Gclose(group);
    return H5Fclose(file) >= 0 && good;
}

static void check_wrong(int what, const Wrong* wrong, size_t count) {
    Scratch scratch = scratch_make();
    Case c;
    TdlFrictionProblem *p, *q;
    make_case(&c, what);
    TdlHost silent = tdl_host_default();
    REQUIRE(tdl_friction_problem_create_bodies(&silent, &c.def, &p) == TDL_STATUS_OK);
    const char* path = scratch_path(&scratch, "wrong.hdf5");
    for (size_t k = 0; k < count; ++k) {
        Heard heard = {0};
        AllocCounter counter = {0};
        TdlHost host = scratch_host(&heard);
        host.mem = counting_allocator(&counter);
        REQUIRE(tdl_friction_problem_write(&silent, path, p, NULL) == TDL_STATUS_OK);
        REQUIRE(spoil(path, &wrong[k]));
        TdlStatus status = tdl_friction_problem_read(&host, path, &q);
        if (status != TDL_STATUS_BAD_INPUT || strstr(heard.last, wrong[k].said) == NULL ||
            strstr(heard.last, "wrong.hdf5: ") == NULL || counter.live != 0) {
            FAIL("%s, entry %d: status %d, heard '%s', %ld bytes left", wrong[k].name,
                 wrong[k].entry, (int)status, heard.last, counter.live);
        }
    }
    tdl_friction_problem_destroy(p);
    scratch_remove(&scratch);
}

TEST(wrong_files_are_refused_with_what_is_wrong) {
    int what = SPANS | LISTS | LAWS | MOVES | GUESS;
    check_wrong(what, WRONG, sizeof WRONG / sizeof *WRONG);
    check_wrong(what | MATRIX, WRONG_MATRIX, sizeof WRONG_MATRIX / sizeof *WRONG_MATRIX);
}

static void cut_and_flip(int what) {
    Scratch scratch = scratch_make();
    Case c;
    TdlFrictionProblem *p, *q;
    make_case(&c, what);
    TdlHost host = tdl_host_default();
    const char* path = scratch_path(&scratch, "p.hdf5");
    REQUIRE(tdl_friction_problem_create_bodies(&host, &c.def, &p) == TDL_STATUS_OK);
    REQUIRE(tdl_friction_problem_write(&host, path, p, NULL) == TDL_STATUS_OK);
    tdl_friction_problem_destroy(p);
    size_t size = 0;
    char* bytes = scratch_read(path, &size);
    REQUIRE(bytes != NULL);
    char* copy = malloc(size + 1);
    AllocCounter counter = {0};
    host.mem = counting_allocator(&counter);
    int read = 0;
    for (size_t k = 0; k < 2 * size; ++k) {
        memcpy(copy, bytes, size + 1);
        if (k >= size) {
            copy[k - size] = (char)(copy[k - size] ^ (k % 3 == 0 ? 0xff : 1 << k % 8));
        }
        q = NULL;
        if (problem_from_bytes(&host, "p", copy, k < size ? k : size, &q) == TDL_STATUS_OK) {
            ++read; // a flip in a number, or in a byte that is not used
            tdl_friction_problem_destroy(q);
        }
        CHECK_INT(counter.live, 0);
    }
    CHECK(read > 0);
    counter.calls = 0;
    REQUIRE(problem_from_bytes(&host, "p", bytes, size, &q) == TDL_STATUS_OK);
    tdl_friction_problem_destroy(q);
    long calls = counter.calls;
    for (long k = 1; k <= calls; ++k) {
        counter.calls = 0;
        counter.fail_at = k;
        CHECK(problem_from_bytes(&host, "p", bytes, size, &q) != TDL_STATUS_OK);
        CHECK_INT(counter.live, 0);
    }
    free(copy);
    free(bytes);
    scratch_remove(&scratch);
}

TEST(cuts_and_flips_are_survived_and_any_allocation_may_fail) {
    int what = SPANS | LISTS | LAWS | MOVES | GUESS;
    cut_and_flip(what);
    cut_and_flip(what | MATRIX);
}
