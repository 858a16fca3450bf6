// Problems in velocity space: rows over spans of coordinates, bodies that touch themselves, what is
// refused.
#include "base/rng.h"
#include "friction/problem.h"
#include "test.h"

#include <string.h>

// Two bodies with diagonal A, and all kinds of contacts.
enum { BODIES = 2, CONTACTS = 5, DOFS = 13 };
static const int START[BODIES + 1] = {0, 8, DOFS};
static const int BODY[2 * CONTACTS] = {0, 1, 0, -1, 1, 1, -1, -1, 0, 0};
static const TdlSpan SPAN[2 * CONTACTS] = {{2, 3}, {0, 5}, {7, 1}, {0, 0}, {0, 2},
                                           {3, 2}, {0, 0}, {0, 0}, {1, 4}, {3, 5}};
// As many coordinates as the spans have, on some sides
static const int* const LIST[2 * CONTACTS] = {(const int[]){1, 4, 6},    NULL, NULL, NULL,
                                              (const int[]){0, 4},       NULL, NULL, NULL,
                                              (const int[]){0, 2, 5, 7}, NULL};
static const double MU[CONTACTS] = {0.3, 0.3, 0.3, 0.3, 0.3};

typedef struct Case {
    double mass[DOFS], velocity[DOFS];
    double all[3 * CONTACTS][DOFS]; // H: both sides together
    double packed[3 * DOFS * 2 * CONTACTS], whole[3 * DOFS * 2 * CONTACTS];
    double y[3 * DOFS * 2 * CONTACTS]; // of `packed`
    TdlFrictionBodiesDef def;
} Case;

static void solve_body(void* user, int body, const double* rhs, double* x) {
    const Case* c = user;
    for (int j = START[body]; j < START[body + 1]; ++j) {
        x[j - START[body]] = rhs[j - START[body]] / c->mass[j];
    }
}

// Of rows over spans or, where `list` has one, over lists.
static void make_case_of(Case* c, const int* const* list) {
    Rng rng = rng_seed(5);
    memset(c, 0, sizeof *c);
    for (int j = 0; j < DOFS; ++j) {
        c->mass[j] = 0.5 + rng_unit(&rng);
        c->velocity[j] = rng_unit(&rng) - 0.5;
    }
    size_t packed = 0, whole = 0, y = 0;
    for (int side = 0; side < 2 * CONTACTS; ++side) {
        int body = BODY[side], m = body < 0 ? 0 : START[body + 1] - START[body];
        for (int k = 0; k < 3 && body >= 0; ++k, whole += (size_t)m) {
            for (int i = 0; i < SPAN[side].count; ++i) {
                bool listed = list != NULL && list[side] != NULL;
                int j = listed ? list[side][i] : SPAN[side].first + i;
                double h = rng_unit(&rng) - 0.5;
                c->packed[packed++] = h;
                c->whole[whole + (size_t)j] = h;
                c->all[3 * (side / 2) + k][START[body] + j] += h;
            }
        }
    }
    for (int side = 0; side < 2 * CONTACTS; ++side) {
        int body = BODY[side];
        if (body < 0 || (side % 2 == 1 && body == BODY[side - 1])) {
            continue;
        }
        for (int k = 0; k < 3; ++k) {
            for (int j = START[body]; j < START[body + 1]; ++j) {
                c->y[y++] = c->all[3 * (side / 2) + k][j] / c->mass[j];
            }
        }
    }
    c->def = (TdlFrictionBodiesDef){.laws = {.block_size = 3, .contact_count = CONTACTS, .mu = MU},
                                    .body_count = BODIES,
                                    .dof_start = START,
                                    .velocity = c->velocity,
                                    .body = BODY,
                                    .solve = solve_body,
                                    .solve_user = c};
}

static void make_case(Case* c) {
    make_case_of(c, NULL);
}

// The largest deviation of u, of v and of W from H v, A^-1 (f + H' r) and H A^-1 H'.
static double deviation(const Case* c, const TdlFrictionBodiesDef* def) {
    TdlHost host = tdl_host_default();
    TdlFrictionProblem *p, *w;
    CHECK_INT(tdl_friction_problem_create_bodies(&host, def, &p), TDL_STATUS_OK);
    CHECK_INT(tdl_friction_problem_explicit(&host, p, &w), TDL_STATUS_OK);
    double r[3 * CONTACTS], u[3 * CONTACTS], by_rows[3 * CONTACTS], v[DOFS], worst = 0.0;
    for (int k = 0; k < 3 * CONTACTS; ++k) {
        r[k] = cos(3.0 * k);
    }
    CHECK_INT(tdl_friction_velocity(p, r, u), TDL_STATUS_OK);
    CHECK_INT(tdl_friction_velocity(w, r, by_rows), TDL_STATUS_OK);
    CHECK_INT(tdl_friction_body_velocity(p, r, v), TDL_STATUS_OK);
    double exact[DOFS];
    for (int j = 0; j < DOFS; ++j) {
        exact[j] = c->velocity[j];
        for (int k = 0; k < 3 * CONTACTS; ++k) {
            exact[j] += c->all[k][j] * r[k] / c->mass[j];
        }
        worst = fmax(worst, fabs(v[j] - exact[j]));
    }
    for (int k = 0; k < 3 * CONTACTS; ++k) {
        double sum = 0.0;
        for (int j = 0; j < DOFS; ++j) {
            sum += c->all[k][j] * exact[j];
        }
        worst = fmax(worst, fmax(fabs(u[k] - sum), fabs(by_rows[k] - sum)));
    }
    tdl_friction_problem_destroy(p);
    tdl_friction_problem_destroy(w);
    return worst;
}

TEST(rows_may_be_given_over_spans) {
    Case c;
    make_case(&c);
    TdlFrictionBodiesDef whole = c.def, solved = c.def, given = c.def;
    whole.h = c.whole;
    CHECK_BELOW(deviation(&c, &whole), 1.0e-14);
    solved.span = given.span = SPAN;
    solved.h = given.h = c.packed;
    CHECK_BELOW(deviation(&c, &solved), 1.0e-14);
    given.y = c.y;
    CHECK_BELOW(deviation(&c, &given), 1.0e-14);
}

TEST(rows_may_be_given_over_lists) {
    Case c;
    make_case_of(&c, LIST);
    TdlSpan span[2 * CONTACTS];
    for (int side = 0; side < 2 * CONTACTS; ++side) {
        span[side] = (TdlSpan){LIST[side] == NULL ? SPAN[side].first : 0, SPAN[side].count};
    }
    TdlFrictionBodiesDef solved = c.def, given = c.def;
    solved.span = given.span = span;
    solved.list = given.list = LIST;
    solved.h = given.h = c.packed;
    CHECK_BELOW(deviation(&c, &solved), 1.0e-14);
    given.y = c.y;
    CHECK_BELOW(deviation(&c, &given), 1.0e-14);

    // a whole solve, beside one over all coordinates
    TdlHost host = tdl_host_default();
    TdlFrictionBodiesDef whole = c.def;
    whole.h = c.whole;
    TdlFrictionOptions options = tdl_friction_options_default();
    options.tolerance = 1.0e-13;
    double r[2][3 * CONTACTS] = {{0}}, u[2][3 * CONTACTS];
    for (int k = 0; k < 2; ++k) {
        TdlFrictionProblem* p;
        TdlFrictionSolver* solver;
        TdlFrictionInfo info;
        options.solver = TDL_FRICTION_GAUSS_SEIDEL;
        CHECK_INT(tdl_friction_problem_create_bodies(&host, k == 0 ? &given : &whole, &p),
                  TDL_STATUS_OK);
        CHECK_INT(tdl_friction_solver_create(&host, &options, &solver), TDL_STATUS_OK);
        CHECK_INT(tdl_friction_solver_solve(solver, p, r[k], u[k], &info), TDL_STATUS_OK);
        tdl_friction_solver_destroy(solver);
        tdl_friction_problem_destroy(p);
    }
    for (int k = 0; k < 3 * CONTACTS; ++k) {
        CHECK_NEAR(u[0][k], u[1][k], 1.0e-11); // both solved to 1e-13
    }

    // lists that do not rise or leave the body
    host.log = NULL;
    static const int WRONG[3][3] = {{1, 1, 2}, {3, 2, 5}, {5, 6, 8}};
    for (int k = 0; k < 3; ++k) {
        const int* list[2 * CONTACTS];
        memcpy(list, LIST, sizeof list);
        list[0] = WRONG[k];
        TdlFrictionBodiesDef bad = given;
        bad.list = list;
        TdlFrictionProblem* p;
        CHECK_INT(tdl_friction_problem_create_bodies(&host, &bad, &p), TDL_STATUS_BAD_ARGUMENT);
    }
}

// With masses of one, Y is H: over spans, whole, and with bodies that touch themselves.
TEST(whitened_rows_may_be_given_once) {
    Case c;
    make_case(&c);
    for (int j = 0; j < DOFS; ++j) {
        c.mass[j] = 1.0;
    }
    TdlFrictionBodiesDef whole = c.def, given = c.def;
    whole.h = whole.y = c.whole;
    CHECK_BELOW(deviation(&c, &whole), 1.0e-14);
    given.span = SPAN;
    given.h = given.y = c.packed;
    CHECK_BELOW(deviation(&c, &given), 1.0e-14);
    memset(c.velocity, 0, sizeof c.velocity);
    given.velocity = NULL;
    CHECK_BELOW(deviation(&c, &given), 1.0e-14);
}

// Rows of Y that lie as those of H, over spans and lists, with masses of one and of minus one.
TEST(rows_of_y_may_be_like_those_of_h) {
    for (int what = 0; what < 4; ++what) {
        bool lists = what % 2 == 1, turned = what >= 2;
        Case c;
        double y[3 * DOFS * 2 * CONTACTS];
        TdlSpan span[2 * CONTACTS];
        make_case_of(&c, lists ? LIST : NULL);
        for (int j = 0; j < DOFS; ++j) {
            c.mass[j] = turned && j % 3 == 1 ? -1.0 : 1.0;
        }
        size_t at = 0;
        for (int side = 0; side < 2 * CONTACTS; ++side) {
            const int* list = lists ? LIST[side] : NULL;
            span[side] = (TdlSpan){list == NULL ? SPAN[side].first : 0, SPAN[side].count};
            for (int k = 0; k < 3 * span[side].count; ++k, ++at) {
                int i = k % span[side].count, j = list == NULL ? span[side].first + i : list[i];
                y[at] = c.packed[at] * c.mass[START[BODY[side]] + j];
            }
        }
        TdlFrictionBodiesDef def = c.def;
        def.span = span;
        def.list = lists ? LIST : NULL;
        def.h = c.packed;
        def.y = turned ? y : c.packed;
        def.y_like_h = true;
        CHECK_BELOW(deviation(&c, &def), 1.0e-14); // some roundings of numbers of about one
        TdlHost host = tdl_host_default();
        host.log = NULL;
        TdlFrictionProblem* p;
        TdlFrictionBodiesDef bad = def;
        bad.y = NULL; // which a solve would make as long as bodies are
        CHECK_INT(tdl_friction_problem_create_bodies(&host, &bad, &p), TDL_STATUS_BAD_ARGUMENT);
        bad = def;
        bad.span = NULL;
        CHECK_INT(tdl_friction_problem_create_bodies(&host, &bad, &p), TDL_STATUS_BAD_ARGUMENT);
    }
}

TEST(wrong_spans_and_rows_are_refused) {
    Case c;
    make_case(&c);
    static const TdlSpan wrong[] = {{-1, 2}, {7, 2}, {0, 9}, {3, -1}, {9, 0}};
    TdlHost host = tdl_host_default();
    host.log = NULL;
    TdlFrictionProblem* p;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        TdlSpan span[2 * CONTACTS];
        memcpy(span, SPAN, sizeof span);
        span[2] = wrong[k];
        TdlFrictionBodiesDef def = c.def;
        def.span = span;
        def.h = c.packed;
        CHECK_INT(tdl_friction_problem_create_bodies(&host, &def, &p), TDL_STATUS_BAD_ARGUMENT);
    }
    c.y[20] = NAN;
    TdlFrictionBodiesDef hole = c.def;
    hole.span = SPAN;
    hole.h = c.packed;
    hole.y = c.y;
    CHECK_INT(tdl_friction_problem_create_bodies(&host, &hole, &p), TDL_STATUS_BAD_ARGUMENT);
}

static void count_release(void* user) {
    ++*(int*)user;
}

// Arrays that are handed over are given back once, and only by a problem that was made.
TEST(arrays_may_be_handed_over) {
    static Case c;
    make_case(&c);
    int released = 0;
    TdlHost host = tdl_host_default();
    TdlFrictionBodiesDef def = c.def;
    def.h = c.whole;
    def.release = count_release;
    def.release_user = &released;
    TdlFrictionProblem* p = NULL;
    REQUIRE(tdl_friction_problem_create_bodies(&host, &def, &p) == TDL_STATUS_OK);
    CHECK_INT(released, 0);
    tdl_friction_problem_destroy(p);
    CHECK_INT(released, 1);
    c.whole[0] = NAN;
    CHECK_INT(tdl_friction_problem_create_bodies(&host, &def, &p), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(released, 1);
}
