// S3's normal problem by its active set and by interior points: both the same, and right, on
// problems that were made, degenerate ones among them, and on those of sheets that touch.
#include "base/rng.h"
#include "friction/study/normal.h"
#include "tendril/cloth.h"
#include "tendril/world.h"
#include "test.h"

enum { MOST = 160, WIDE = 24 };

typedef struct Case {
    int n;
    double W[MOST * MOST], q[MOST];
    unsigned char free[MOST];
} Case;

// How far r is from solving it, with u = W r + q made here: over |q| for velocities, over the
// impulses for impulses, and over both for their products.
static double violation(const Case* c, const double* r, double* u) {
    double q = 0.0, most = 0.0, worst = 0.0;
    for (int i = 0; i < c->n; ++i) {
        q = fmax(q, fabs(c->q[i]));
        most = fmax(most, fabs(c->q[i]) / fmax(c->W[i + i * c->n], 1.0e-3));
        most = fmax(most, fabs(r[i]));
        u[i] = c->q[i];
        for (int j = 0; j < c->n; ++j) {
            u[i] += c->W[i + j * c->n] * r[j];
        }
    }
    q = q > 0.0 ? q : 1.0;
    most = most > 0.0 ? most : 1.0;
    for (int i = 0; i < c->n; ++i) {
        if (c->free[i] != 0) {
            worst = fmax(worst, fabs(u[i]) / q);
            continue;
        }
        worst = fmax(worst, fmax(-u[i] / q, -r[i] / most));
        worst = fmax(worst, fabs(r[i] * u[i]) / (q * most));
    }
    return worst;
}

typedef struct Found {
    NormalSolve solve;
    double r[MOST], u[MOST], error;
} Found;

static void solve_by(NormalFn fn, const Case* c, const double* guess, Found* out) {
    NormalProblem p = {c->n, c->W, c->q, c->free};
    TdlHost host = tdl_host_default();
    Arena arena;
    arena_init(&arena, &host.mem);
    memset(out->r, 0, sizeof out->r);
    if (guess != NULL) {
        memcpy(out->r, guess, (size_t)c->n * sizeof *guess);
    }
    CHECK(fn(&p, &arena, NULL, out->r, out->u, &out->solve) == TDL_STATUS_OK);
    out->error = violation(c, out->r, out->u);
    arena_destroy(&arena);
}

typedef struct Tally {
    int count, infeasible, pivots, warm_pivots, steps;
    double active, interior, apart; // largest
} Tally;

// Both ways, and the active set from the answer and from a wrong guess: no matter.
static void check_case(const Case* c, Tally* tally) {
    static Found a, b, warm;
    solve_by(normal_active_set, c, NULL, &a);
    solve_by(normal_interior, c, NULL, &b);
    ++tally->count;
    if (a.solve.outcome != NORMAL_SOLVED || b.solve.outcome == NORMAL_INFEASIBLE) {
        FAIL("problem %d of %d rows: outcomes %d and %d", tally->count, c->n, (int)a.solve.outcome,
             (int)b.solve.outcome);
        return;
    }
    double q = 0.0, apart = 0.0;
    for (int i = 0; i < c->n; ++i) {
        q = fmax(q, fabs(c->q[i]));
    }
    for (int i = 0; i < c->n; ++i) {
        apart = fmax(apart, fabs(a.u[i] - b.u[i]) / q);
    }
    tally->active = fmax(tally->active, a.error);
    tally->interior = fmax(tally->interior, b.error);
    tally->apart = fmax(tally->apart, apart);
    tally->pivots += a.solve.iterations;
    tally->steps += b.solve.iterations;
    if (!(a.error < 1.0e-10 && b.error < 1.0e-8 && apart < 1.0e-8)) {
        FAIL("problem %d of %d rows: off by %.2g and %.2g, apart by %.2g", tally->count, c->n,
             a.error, b.error, apart);
    }
    solve_by(normal_active_set, c, a.r, &warm);
    CHECK(warm.solve.outcome == NORMAL_SOLVED && warm.error < 1.0e-10);
    tally->warm_pivots += warm.solve.iterations;
}

static void tell(const Tally* t, const char* what) {
    printf("  %d %s: violated by %.1e (active set, %.1f pivots, %.1f from the answer) and %.1e "
           "(interior point, %.1f steps), velocities apart by %.1e\n",
           t->count, what, t->active, (double)t->pivots / t->count,
           (double)t->warm_pivots / t->count, t->interior, (double)t->steps / t->count, t->apart);
}

// --- made ----------------------------------------------------------------------------------------

typedef enum Kind {
    KIND_PLAIN,     // as many directions as rows
    KIND_DEPENDENT, // more rows than directions
    KIND_DOUBLED,   // rows twice, also scaled
    KIND_TIGHT,     // at the solution many rows are just met, and carry nothing
    KIND_JOINED,    // some u = 0, one of them twice
    KIND_COUNT
} Kind;

// W = G G' and q = s - G v with s >= 0: v solves it, so something does.
static void make_case(Rng* rng, Kind kind, Case* c) {
    static double G[MOST * WIDE];
    int wide = kind == KIND_PLAIN ? 20 : 6;
    double v[WIDE], s[MOST] = {0};
    c->n = 6 + rng_below(rng, kind == KIND_PLAIN ? 14 : 30);
    memset(c->free, 0, sizeof c->free);
    for (int k = 0; k < wide; ++k) {
        v[k] = rng_normal(rng);
    }
    for (int i = 0; i < c->n; ++i) {
        double scale = pow(10.0, rng_range(rng, -2.0, 2.0));
        int twin = kind == KIND_DOUBLED && i > 2 && i % 2 == 0 ? i - 1 - rng_below(rng, 2) : -1;
        for (int k = 0; k < wide; ++k) {
            bool zero = kind == KIND_TIGHT && k > 2 + i % 3;
            G[i * WIDE + k] = twin >= 0 ? scale * G[twin * WIDE + k] : zero ? 0.0 : rng_normal(rng);
        }
        s[i] = kind == KIND_TIGHT ? (i % 4 == 0 ? 1.0 : 0.0) : fmax(0.0, rng_normal(rng));
        s[i] = twin >= 0 ? scale * s[twin] : s[i];
    }
    if (kind == KIND_JOINED) {
        memcpy(G + WIDE, G, WIDE * sizeof *G);
        c->free[0] = c->free[1] = c->free[2] = 1;
        s[0] = s[1] = s[2] = 0.0;
    }
    for (int i = 0; i < c->n; ++i) {
        c->q[i] = s[i];
        for (int k = 0; k < wide; ++k) {
            c->q[i] -= G[i * WIDE + k] * v[k];
        }
        for (int j = 0; j < c->n; ++j) {
            double w = 0.0;
            for (int k = 0; k < wide; ++k) {
                w += G[i * WIDE + k] * G[j * WIDE + k];
            }
            c->W[i + j * c->n] = w;
        }
    }
}

TEST(both_solve_what_was_made) {
    static const char* const names[KIND_COUNT] = {"plain", "dependent", "doubled", "tight",
                                                  "joined"};
    static Case c;
    Rng rng = {21};
    for (int kind = 0; kind < KIND_COUNT; ++kind) {
        Tally tally = {0};
        for (int k = 0; k < 120; ++k) {
            make_case(&rng, (Kind)kind, &c);
            check_case(&c, &tally);
        }
        tell(&tally, names[kind]);
    }
}

// Against all sets of rows, one after the other.
TEST(small_ones_are_those_of_all_sets) {
    static Case c;
    static Found found;
    Rng rng = {5};
    for (int k = 0; k < 60; ++k) {
        make_case(&rng, KIND_PLAIN, &c);
        Case small = {.n = 5};
        for (int i = 0; i < 5; ++i) {
            small.q[i] = c.q[i];
            for (int j = 0; j < 5; ++j) {
                small.W[i + 5 * j] = c.W[i + j * c.n];
            }
        }
        solve_by(normal_active_set, &small, NULL, &found);
        double best = 0.0, value = 0.0;
        for (int i = 0; i < 5; ++i) {
            value += 0.5 * found.r[i] * (found.u[i] + small.q[i]);
        }
        for (int set = 1; set < 32; ++set) {
            // the minimum over the set, by sweeps to the end
            double r[5] = {0};
            for (int sweep = 0; sweep < 4000; ++sweep) {
                for (int i = 0; i < 5; ++i) {
                    double u = small.q[i];
                    for (int j = 0; j < 5; ++j) {
                        u += small.W[i + 5 * j] * r[j];
                    }
                    r[i] = set >> i & 1 ? fmax(0.0, r[i] - u / small.W[6 * i]) : 0.0;
                }
            }
            double own = 0.0;
            for (int i = 0; i < 5; ++i) {
                own += small.q[i] * r[i];
                for (int j = 0; j < 5; ++j) {
                    own += 0.5 * r[i] * small.W[i + 5 * j] * r[j];
                }
            }
            best = fmin(best, own);
        }
        CHECK_NEAR(value, best, 1.0e-9 * (1.0 + fabs(best)));
    }
}

// Pinched between two that close: r >= 0 with W r = 0 and q'r < 0 says that nothing solves it.
TEST(what_nothing_solves_is_named) {
    static Case c;
    static Found a, b;
    Rng rng = {8};
    for (int k = 0; k < 100; ++k) {
        make_case(&rng, KIND_DEPENDENT, &c);
        int n =
            c.n; // the last becomes minus a sum of two others, and asks for more than they leave
        for (int i = 0; i < n - 1; ++i) {
            c.W[i + (n - 1) * n] = -2.0 * c.W[i] - 0.5 * c.W[i + n];
            c.W[n - 1 + i * n] = c.W[i + (n - 1) * n];
        }
        c.W[n * n - 1] = 4.0 * c.W[0] + 2.0 * c.W[1] + 0.25 * c.W[1 + n];
        c.q[n - 1] = -2.0 * c.q[0] - 0.5 * c.q[1] - 1.0;
        solve_by(normal_active_set, &c, NULL, &a);
        solve_by(normal_interior, &c, NULL, &b);
        CHECK(a.solve.outcome == NORMAL_INFEASIBLE);
        CHECK(b.solve.outcome == NORMAL_INFEASIBLE);
        double moved = 0.0, asked = 0.0, size = 0.0;
        for (int i = 0; i < n; ++i) {
            CHECK(a.r[i] >= 0.0);
            moved = fmax(moved, fabs(a.u[i] - c.q[i]));
            asked += c.q[i] * a.r[i];
            size = fmax(size, c.W[i + i * n] * a.r[i]);
        }
        CHECK(asked < 0.0);
        CHECK_BELOW(moved, 1.0e-5 * size); // the root of what counts as dependent
    }
}

TEST(nothing_and_one) {
    static Found found;
    Case c = {.n = 0};
    solve_by(normal_active_set, &c, NULL, &found);
    CHECK(found.solve.outcome == NORMAL_SOLVED);
    solve_by(normal_interior, &c, NULL, &found);
    CHECK(found.solve.outcome == NORMAL_SOLVED);
    c.n = 1; // nothing moves it
    c.q[0] = 1.0;
    solve_by(normal_active_set, &c, NULL, &found);
    CHECK(found.solve.outcome == NORMAL_SOLVED && found.r[0] == 0.0);
    c.q[0] = -1.0;
    solve_by(normal_active_set, &c, NULL, &found);
    CHECK(found.solve.outcome == NORMAL_INFEASIBLE);
    solve_by(normal_interior, &c, NULL, &found);
    CHECK(found.solve.outcome == NORMAL_INFEASIBLE);
}

// --- of sheets -----------------------------------------------------------------------------------

typedef struct Record {
    Tally plain, doubled;
    int most; // of each
} Record;

// The normal problem of a step, with the friction that was found.
static bool take_normals(const TdlContactProblem* solved, Case* c) {
    TdlHost host = tdl_host_default();
    TdlFrictionProblem* p = NULL;
    c->n = tdl_friction_problem_size(solved->problem).contact_count;
    if (2 * c->n > MOST ||
        tdl_friction_problem_explicit(&host, solved->problem, &p) != TDL_STATUS_OK) {
        return false;
    }
    TdlFrictionMatrixDef def = tdl_friction_problem_matrix(p);
    memset(c->W, 0, sizeof c->W);
    memset(c->free, 0, sizeof c->free);
    for (int i = 0; i < c->n; ++i) {
        c->q[i] = def.b[3 * i] - def.laws.normal_velocity[i];
        for (int e = def.row_start[i]; e < def.row_start[i + 1]; ++e) {
            int j = def.column[e];
            const double *w = def.blocks + 9 * e, *r = solved->r + 3 * j;
            c->W[i + j * c->n] = w[0];
            c->q[i] += w[3] * r[1] + w[6] * r[2];
        }
    }
    tdl_friction_problem_destroy(p);
    return true;
}

// Every row twice.
static void double_rows(const Case* from, Case* to) {
    int n = from->n;
    to->n = 2 * n;
    memset(to->free, 0, sizeof to->free);
    for (int i = 0; i < 2 * n; ++i) {
        to->q[i] = from->q[i % n];
        for (int j = 0; j < 2 * n; ++j) {
            to->W[i + j * 2 * n] = from->W[i % n + j % n * n];
        }
    }
}

static void record(void* user, const TdlContactProblem* solved) {
    static Case c, twice;
    Record* all = user;
    if (all->plain.count < all->most && take_normals(solved, &c)) {
        check_case(&c, &all->plain);
        double_rows(&c, &twice);
        check_case(&twice, &all->doubled);
    }
}

// Small sheets on a ball or on a slope, at first a little above it.
static void run_sheet(Record* all, TdlShape shape, double mu, int columns, int rows) {
    static TdlVec3 vertices[64];
    static int faces[256];
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    TdlColliderDef obstacle = tdl_collider_def_default();
    TdlClothDef sheet = tdl_cloth_def_default();
    TdlWorld* world = NULL;
    TdlBodyId id;
    def.step = 0.005;
    def.contacts.law.mu = mu;
    obstacle.shape = shape;
    obstacle.radius = 0.1;
    obstacle.pose.position.z = shape == TDL_SHAPE_SPHERE ? -0.102 : -0.002;
    sheet.mesh = tdl_cloth_rectangle(0.2, 0.24, columns, rows, vertices, faces);
    sheet.velocity = (TdlVec3){0.3, 0.1, -0.2};
    REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    CHECK(tdl_world_add_collider(world, &obstacle, &id) == TDL_STATUS_OK);
    CHECK(tdl_world_add_cloth(world, &sheet, &id) == TDL_STATUS_OK);
    tdl_world_watch_problems(world, record, all);
    for (int k = 0; k < 60 && all->plain.count < all->most; ++k) {
        TdlStepInfo info;
        CHECK(tdl_world_step(world, &info) == TDL_STATUS_OK);
    }
    tdl_world_destroy(world);
}

TEST(both_solve_what_sheets_meet) {
    Record all = {0};
    static const double mu[2] = {0.0, 0.4};
    for (int k = 0; k < 4; ++k) {
        all.most += 50;
        run_sheet(&all, k < 2 ? TDL_SHAPE_SPHERE : TDL_SHAPE_PLANE, mu[k % 2], 5, 6);
    }
    tell(&all.plain, "of sheets");
    tell(&all.doubled, "of sheets, with every row twice");
    CHECK_INT(all.plain.count, 200);
    CHECK_INT(all.doubled.count, 200);
}
