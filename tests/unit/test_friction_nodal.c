// Bodies of nodes with their A as a sparse matrix: the rows of strain, the product with W and the
// steps over nodes against dense matrices; cloth and slopes whose answers are known.
#include "bench/friction_nodes.h"
#include "counting_allocator.h"
#include "friction/newton.h"
#include "friction/space.h"
#include "island.h"
#include "test.h"

static double next_random(uint64_t* seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 40) / 8388608.0 - 1.0;
}

// Small ones of each kind: cloth, and grains in two and three dimensions, in cells and at nodes.
enum { KINDS = 5 };

static void make_case(NodalCase* c, int kind, double degrees, double jitter) {
    if (kind == 0) {
        ClothSheet sheet = cloth_sheet(5, 4);
        case_cloth(c, 2, &sheet);
        return;
    }
    GrainSlope s = kind < 3 ? grain_slope(2, 4, 3, degrees) : grain_slope(3, 3, 2, degrees);
    s.at_nodes = kind % 2 == 0;
    s.jitter = jitter;
    case_grains(c, 2, &s);
}

// --- rows of strain ------------------------------------------------------------------------------

// chi(r) from a basis: 1 and deviators, each of <s, s> = s:s/2 = 1.
static void matrix_of(int dim, const double* r, double e[3][3]) {
    double third = 1.0 / sqrt(3.0);
    memset(e, 0, 9 * sizeof(double));
    for (int k = 0; k < dim; ++k) {
        e[k][k] = r[0] * sqrt(2.0 / dim);
    }
    e[0][0] += r[1] + (dim == 3 ? third * r[2] : 0.0);
    e[1][1] += -r[1] + (dim == 3 ? third * r[2] : 0.0);
    e[2][2] -= dim == 3 ? 2.0 * third * r[2] : 0.0;
    e[0][1] = e[1][0] = dim == 3 ? r[3] : r[2];
    e[0][2] = e[2][0] = dim == 3 ? r[4] : 0.0;
    e[1][2] = e[2][1] = dim == 3 ? r[5] : 0.0;
}

static double contract(double a[3][3], double b[3][3]) {
    double sum = 0.0;
    for (int k = 0; k < 9; ++k) {
        sum += a[k / 3][k % 3] * b[k / 3][k % 3];
    }
    return sum;
}

TEST(coordinates_of_strain_are_those_of_the_isometry) {
    uint64_t seed = 4;
    for (int dim = 2; dim <= 3; ++dim) {
        for (int trial = 0; trial < 20; ++trial) {
            double r[6], q[6], e[3][3], f[3][3], dot = 0.0, trace = 0.0;
            int d = dim == 2 ? 3 : 6;
            for (int k = 0; k < d; ++k) {
                r[k] = next_random(&seed);
            }
            matrix_of(dim, r, e);
            grain_coordinates(dim, e, q);
            for (int k = 0; k < d; ++k) {
                CHECK_NEAR(q[k], r[k], 1.0e-14); // some roundings
                dot += q[k] * q[k];
            }
            memcpy(f, e, sizeof f);
            trace = e[0][0] + e[1][1] + e[2][2];
            CHECK_NEAR(dot, 0.5 * contract(e, f), 1.0e-14);
            CHECK_NEAR(q[0], trace / sqrt(2.0 * dim), 1.0e-14);
        }
    }
}

// v = y w is at rest on the bed and has the gradient w x e_y everywhere; with every particle in
// place V_j is the volume of a cell, half of it at nodes of the bed and of the surface.
TEST(strain_of_a_linear_velocity_and_its_power_are_exact) {
    TdlHost host = tdl_host_default();
    uint64_t seed = 8;
    for (int kind = 1; kind < KINDS; ++kind) {
        NodalCase c;
        TdlFrictionProblem* p;
        make_case(&c, kind, 20.0, 0.0);
        int dim = kind < 3 ? 2 : 3, d = c.def.laws.block_size, n = c.def.laws.contact_count;
        int along = kind < 3 ? 4 : 9, up = kind < 3 ? 3 : 2; // nodes of a layer, layers of cells
        double w[3] = {0.7, -0.4, 0.3}, e[3][3] = {{0}}, spacing = 0.01, power = 0.0,
               expected = 0.0;
        for (int j = 0; j < c.dof_start[1]; ++j) {
            c.velocity[j] = spacing * (j / dim / along + 1) * w[j % dim];
        }
        for (int k = 0; k < dim; ++k) {
            e[k][1] += 0.5 * w[k];
            e[1][k] += 0.5 * w[k];
        }
        REQUIRE(nodal_problem(&c, &host, &p) == TDL_STATUS_OK);
        double *r = calloc((size_t)(n * d), sizeof *r), *u = calloc((size_t)(n * d), sizeof *u);
        REQUIRE(tdl_friction_velocity(p, r, u) == TDL_STATUS_OK);
        for (int j = 0; j < n; ++j) {
            int layer = j / along;
            bool half = kind % 2 == 0 && (layer == 0 || layer == up);
            double volume = pow(spacing, dim) * (half ? 0.5 : 1.0), x[6], s[3][3];
            grain_coordinates(dim, e, x);
            for (int k = 0; k < d; ++k) {
                r[j * d + k] = next_random(&seed);
                CHECK_NEAR(u[j * d + k], c.unit * volume * x[k], 1.0e-13 * c.unit * volume);
                power += r[j * d + k] * u[j * d + k];
            }
            matrix_of(dim, r + (ptrdiff_t)j * d, s);
            expected += 0.5 * c.unit * volume * contract(s, e); // lambda : V D
        }
        CHECK_NEAR(power, expected, 1.0e-12 * fabs(expected));
        free(r);
        free(u);
        tdl_friction_problem_destroy(p);
        nodal_free(&c);
    }
}

// A sheet that moves as a whole feels its mass alone; stretched, its edges.
TEST(cloth_has_the_mass_and_the_energy_of_its_springs) {
    NodalCase c;
    ClothSheet s = cloth_sheet(5, 4);
    case_cloth(&c, 1, &s);
    int m = c.dof_start[1];
    double mass = s.density * s.spacing * s.spacing, stretch = 0.0, dt2 = s.dt * s.dt;
    for (int i = 0; i < m; ++i) {
        double sum[3] = {0};
        for (int e = c.a_start[i]; e < c.a_start[i + 1]; ++e) {
            sum[c.a_column[e] % 3] += c.a_value[e]; // A times each translation
            double xi = i % 3 == 0 ? i / 3 % 5 : 0.0;
            double xj = c.a_column[e] % 3 == 0 ? c.a_column[e] / 3 % 5 : 0.0;
            stretch += c.a_value[e] * xi * xj; // of v_x = x, one a spacing
        }
        for (int k = 0; k < 3; ++k) {
            CHECK_NEAR(sum[k], k == i % 3 ? mass : 0.0, 1.0e-12); // entries are about one
        }
    }
    // 16 edges along, two diagonals in each of 12 cells, lengthened by 1/2^(1/2); bending sees none
    double expected = mass * 4.0 * 30.0 + dt2 * (16.0 * s.stretch + 24.0 * 0.5 * s.shear);
    CHECK_NEAR(stretch, expected, 1.0e-10 * expected);
    nodal_free(&c);
}

// --- against dense matrices ----------------------------------------------------------------------

// W by solving with A, row by row of H.
static double* dense_w(const NodalCase* c) {
    int m = c->dof_start[1], n = c->def.laws.contact_count, d = c->def.laws.block_size;
    size_t size = (size_t)(n * d);
    double *h = calloc(size * (size_t)m, sizeof *h), *w = calloc(size * size, sizeof *w);
    double *a = malloc((size_t)(m * m) * sizeof *a), *x = malloc((size_t)m * sizeof *x);
    const double* row = c->h;
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < d; ++k) {
            for (int j = 0; j < c->span[2 * i].count; ++j) {
                h[(i * d + k) * m + c->list[2 * i][j]] = *row++;
            }
        }
    }
    for (size_t j = 0; j < size; ++j) {
        memset(a, 0, (size_t)(m * m) * sizeof *a);
        for (int i = 0; i < m; ++i) {
            for (int e = c->a_start[i]; e < c->a_start[i + 1]; ++e) {
                a[i * m + c->a_column[e]] = c->a_value[e];
            }
        }
        memcpy(x, h + j * (size_t)m, (size_t)m * sizeof *x);
        solve_dense(m, a, x);
        for (size_t i = 0; i < size; ++i) {
            for (int k = 0; k < m; ++k) {
                w[i * size + j] += h[i * (size_t)m + (size_t)k] * x[k];
            }
        }
    }
    free(h);
    free(a);
    free(x);
    return w;
}

TEST(products_are_those_of_the_dense_matrix_in_every_form) {
    TdlHost host = tdl_host_default();
    for (int kind = 0; kind < KINDS; ++kind) {
        NodalCase c;
        TdlFrictionProblem *p, *formed;
        make_case(&c, kind, 25.0, 0.3);
        REQUIRE(nodal_problem(&c, &host, &p) == TDL_STATUS_OK);
        REQUIRE(tdl_friction_problem_explicit(&host, p, &formed) == TDL_STATUS_OK);
        int size = c.def.laws.contact_count * c.def.laws.block_size;
        double* w = dense_w(&c);
        double *r = malloc((size_t)size * sizeof *r), *u = malloc((size_t)size * sizeof *u);
        double *t = malloc((size_t)size * sizeof *t), worst = 0.0, largest = 0.0;
        uint64_t seed = 5;
        for (int k = 0; k < size; ++k) {
            r[k] = next_random(&seed);
        }
        REQUIRE(tdl_friction_velocity(p, r, u) == TDL_STATUS_OK);
        REQUIRE(tdl_friction_velocity(formed, r, t) == TDL_STATUS_OK);
        for (int i = 0; i < size; ++i) {
            double sum = p->b[i];
            for (int j = 0; j < size; ++j) {
                sum += w[i * size + j] * r[j];
            }
            largest = fmax(largest, fabs(sum));
            worst = fmax(worst, fmax(fabs(u[i] - sum), fabs(t[i] - sum)));
        }
        CHECK_BELOW(worst, 1.0e-11 * largest); // the condition of A, 1e4 in cloth
        free(w);
        free(r);
        free(u);
        free(t);
        tdl_friction_problem_destroy(formed);
        tdl_friction_problem_destroy(p);
        nodal_free(&c);
    }
}

// Contacts of all laws: every fifth without friction, sticking always, or bilateral.
static void mix_laws(NodalCase* c, unsigned char* bilateral) {
    for (int i = 0; i < c->def.laws.contact_count; ++i) {
        c->mu[i] = i % 5 == 1 ? 0.0 : i % 5 == 3 ? INFINITY : c->mu[i];
        bilateral[i] = i % 5 == 4 && i % 2 == 0;
    }
    c->def.laws.bilateral = bilateral;
}

// `formed`: with W in the place of bodies, for steps over contacts.
static void open_island(Island* f, NodalCase* c, int kind, unsigned char* bilateral, bool formed) {
    TdlHost host = tdl_host_default();
    memset(f, 0, sizeof *f);
    make_case(c, kind, 28.0, 0.3);
    if (bilateral != NULL) {
        mix_laws(c, bilateral);
    }
    REQUIRE(nodal_problem(c, &host, &f->problem) == TDL_STATUS_OK);
    if (formed) {
        TdlFrictionProblem* bodies = f->problem;
        REQUIRE(tdl_friction_problem_explicit(&host, bodies, &f->problem) == TDL_STATUS_OK);
        tdl_friction_problem_destroy(bodies);
    }
    REQUIRE(island_ready(f));
}

// r(u) of one contact from its definition.
static void answer_of(const System* sys, int i, double rho, const double* centre, const double* u,
                      double* r) {
    int d = sys->d;
    double y[6], norm = 0.0;
    for (int k = 0; k < d; ++k) {
        y[k] = centre[k] - rho * u[k];
        norm += k > 0 ? y[k] * y[k] : 0.0;
    }
    norm = sqrt(norm);
    bool held = sys->law[i] == LAW_BILATERAL;
    r[0] = held ? y[0] : fmax(y[0], 0.0);
    double most = held || sys->law[i] == LAW_ROUGH ? INFINITY : sys->mu[i] * r[0];
    for (int k = 1; k < d; ++k) {
        r[k] = norm > most ? y[k] * most / norm : y[k];
    }
}

// (1 - dr/du W) step = -(t - r(b + W t)), dr/du by differences and W dense.
static void expected_step(Island* f, const Newton* nw, const double* w, double* step) {
    int d = f->sys.d, n = d * f->sys.n;
    double *a = calloc((size_t)(n * n), sizeof *a), *u = malloc((size_t)n * sizeof *u);
    system_velocity(&f->sys, nw->t, u);
    for (int i = 0; i < f->sys.n; ++i) {
        double rho = nw->rho * nw->own[i], h = 1.0e-7, r[6], plus[6], minus[6], x[6];
        const double* centre = nw->centre + (ptrdiff_t)d * i;
        answer_of(&f->sys, i, rho, centre, u + (ptrdiff_t)d * i, r);
        for (int k = 0; k < d; ++k) {
            step[d * i + k] = r[k] - nw->t[d * i + k];
            a[(d * i + k) * n + d * i + k] += 1.0;
        }
        for (int col = 0; col < d; ++col) {
            memcpy(x, u + (ptrdiff_t)d * i, (size_t)d * sizeof *x);
            x[col] += h;
            answer_of(&f->sys, i, rho, centre, x, plus);
            x[col] -= 2.0 * h;
            answer_of(&f->sys, i, rho, centre, x, minus);
            for (int k = 0; k < d; ++k) {
                double slope = (plus[k] - minus[k]) / (2.0 * h);
                for (int j = 0; j < n; ++j) {
                    a[(d * i + k) * n + j] -= slope * w[(d * i + col) * n + j] / f->sys.sigma;
                }
            }
        }
    }
    solve_dense(n, a, step);
    free(a);
    free(u);
}

TEST(directions_over_nodes_and_over_contacts_are_those_of_the_definition) {
    int alone = 0, together = 0; // contacts of six that answer, or all of them
    for (int kind = 0; kind < KINDS; ++kind) {
        for (int how = 0; how < 4; ++how) {
            bool mixed = how % 2 == 1, formed = how >= 2;
            Island f;
            NodalCase c;
            unsigned char bilateral[64] = {0};
            uint64_t seed = 6;
            open_island(&f, &c, kind, mixed ? bilateral : NULL, formed);
            int d = f.sys.d;
            size_t size = (size_t)(d * f.sys.n);
            for (size_t k = 0; k < size; ++k) {
                f.best[k] = next_random(&seed) + (k % (size_t)d == 0 ? 0.8 : 0.0);
            }
            Newton nw;
            REQUIRE(newton_init(&nw, &f.run) == TDL_STATUS_OK);
            nw.rho = 3.0;
            double *w = dense_w(&c), *expected = malloc(size * sizeof *expected);
            CHECK(nodal_matrix_fits(&f.run) == !formed);
            for (int pass = 0; pass < 3; ++pass) { // the same pattern with other modes
                for (int i = 0; i < f.sys.n && pass == 2; ++i) {
                    nw.centre[d * i] += 30.0; // all are pressed
                }
                newton_restart(&nw);
                nw.fresh = false;
                expected_step(&f, &nw, w, expected);
                REQUIRE(newton_step(&nw) == TDL_STATUS_OK);
                double largest = 0.0, worst = 0.0;
                for (size_t k = 0; k < size; ++k) {
                    largest = fmax(largest, fabs(expected[k]));
                    worst = fmax(worst, fabs(nw.step[k] - expected[k]));
                }
                CHECK_BELOW(worst, 1.0e-6 * largest); // differences
                alone += formed && d == 6 && !nw.few_idle;
                together += formed && d == 6 && nw.few_idle;
            }
            free(w);
            free(expected);
            island_close(&f);
            nodal_free(&c);
        }
    }
    CHECK(alone >= 4 && together >= 4);
}

// S' W T + A with parts of all sizes, as interior points have them.
TEST(matrices_over_nodes_and_over_contacts_solve_the_dense_one) {
    for (int way = 0; way < 2 * KINDS; ++way) {
        int kind = way / 2;
        bool formed = way % 2 == 1;
        Island f;
        NodalCase c;
        Space s;
        uint64_t seed = 7;
        open_island(&f, &c, kind, NULL, formed);
        int d = f.sys.d, n = d * f.sys.n;
        REQUIRE(space_init(&s, &f.run) == TDL_STATUS_OK);
        for (int i = 0; i < f.sys.n; ++i) {
            Part a = space_part(&s, i);
            *a.size = i % 4 == 3 ? i / 4 % d : d;
            for (int k = 0; k < *a.size; ++k) {
                for (int j = 0; j < d; ++j) {
                    a.trial[k * d + j] = (j == k ? 1.0 : 0.0) + 0.2 * next_random(&seed);
                    a.test[k * d + j] = a.trial[k * d + j] + 0.1 * next_random(&seed);
                }
                a.add[k * (d + 1)] = pow(10.0, 2.0 * (next_random(&seed) - 1.0));
            }
        }
        REQUIRE(space_plan(&s) == TDL_STATUS_OK);
        CHECK(s.over_nodes == !formed && s.over_coordinates == !formed);
        double *w = dense_w(&c), *x = calloc((size_t)n, sizeof *x);
        double *right = calloc((size_t)n, sizeof *right), worst = 0.0, largest = 0.0;
        for (int pass = 0; pass < 2; ++pass) { // other numbers in the same pattern
            for (int k = 0; k < n; ++k) {
                x[k] = right[k] = k % d < *space_part(&s, k / d).size ? next_random(&seed) : 0.0;
            }
            REQUIRE(space_factor(&s) == TDL_STATUS_OK);
            space_solve(&s, x);
            for (int i = 0; i < n; ++i) {
                Part a = space_part(&s, i / d);
                if (i % d >= *a.size) {
                    continue;
                }
                double left = right[i] - a.add[i % d * (d + 1)] * x[i];
                for (int e = 0; e < d * n; ++e) { // component e / n of the test vector, e % n of W
                    Part b = space_part(&s, e % n / d);
                    for (int k = 0; k < *b.size; ++k) {
                        left -= a.test[i % d * d + e / n] * w[(i / d * d + e / n) * n + e % n] /
                                f.sys.sigma * b.trial[k * d + e % d] * x[e % n / d * d + k];
                    }
                }
                worst = fmax(worst, fabs(left));
                largest = fmax(largest, fabs(right[i]));
            }
            *space_part(&s, 1).add *= 3.0;
        }
        CHECK_BELOW(worst, 1.0e-8 * largest); // refined to 1e-9 of the right-hand side
        free(w);
        free(x);
        free(right);
        island_close(&f);
        nodal_free(&c);
    }
}

// --- solutions -----------------------------------------------------------------------------------

// How far (u, r) is from the law, by its three cases; velocities and impulses are about one.
static double law_error(const TdlFrictionLaws* laws, int i, const double* u, const double* r) {
    int d = laws->block_size;
    double ut = 0.0, rt = 0.0, along = 0.0, mu = laws->mu[i];
    for (int k = 1; k < d; ++k) {
        ut += u[k] * u[k];
        rt += r[k] * r[k];
        along += u[k] * r[k];
    }
    ut = sqrt(ut);
    rt = sqrt(rt);
    if (laws->bilateral != NULL && laws->bilateral[i]) {
        return hypot(u[0], ut);
    }
    double normal = fmax(fmin(r[0], u[0]), fmax(-r[0], -u[0])); // both >= 0, one of them 0
    if (isinf(mu)) {
        return fmax(normal, ut);
    }
    // inside the disc, on it where it moves, and against the motion
    double inside = rt - mu * fmax(r[0], 0.0), slack = fmin(ut, -inside);
    double against = along + ut * rt;
    return fmax(fmax(normal, inside), fmax(slack, ut > 0.0 ? against / (ut + rt) : 0.0));
}

typedef struct Solved {
    TdlFrictionProblem* problem;
    TdlFrictionInfo info;
    double *r, *u, *v;
} Solved;

static Solved solve_case(NodalCase* c, double tolerance, int threads) {
    TdlHost host = tdl_host_default();
    TdlFrictionOptions o = tdl_friction_options_default();
    TdlFrictionSolver* solver;
    Solved s = {0};
    size_t size = (size_t)(c->def.laws.contact_count * c->def.laws.block_size);
    o.tolerance = tolerance;
    o.threads = threads;
    s.r = calloc(size, sizeof *s.r);
    s.u = calloc(size, sizeof *s.u);
    s.v = calloc((size_t)c->dof_start[1], sizeof *s.v);
    if (nodal_problem(c, &host, &s.problem) == TDL_STATUS_OK &&
        tdl_friction_solver_create(&host, &o, &solver) == TDL_STATUS_OK) {
        if (tdl_friction_solver_solve(solver, s.problem, s.r, s.u, &s.info) != TDL_STATUS_OK ||
            tdl_friction_body_velocity(s.problem, s.r, s.v) != TDL_STATUS_OK) {
            FAIL("the solve failed");
        }
        tdl_friction_solver_destroy(solver);
    }
    return s;
}

static double worst_law(const NodalCase* c, const Solved* s) {
    double worst = 0.0;
    int d = c->def.laws.block_size;
    for (int i = 0; i < c->def.laws.contact_count; ++i) {
        worst = fmax(worst,
                     law_error(&c->def.laws, i, s->u + (ptrdiff_t)i * d, s->r + (ptrdiff_t)i * d));
    }
    return worst;
}

static void close_solved(Solved* s) {
    tdl_friction_problem_destroy(s->problem);
    free(s->r);
    free(s->u);
    free(s->v);
}

TEST(a_slope_stands_below_the_angle_of_friction_and_slides_as_a_plug_above) {
    static const double degrees[] = {24.0, 26.0, 31.0, 35.0};
    for (int kind = 1; kind < KINDS; ++kind) {
        for (int k = 0; k < 4; ++k) {
            NodalCase c;
            make_case(&c, kind, degrees[k], 0.0);
            Solved s = solve_case(&c, 1.0e-11, 1);
            double angle = degrees[k] * acos(-1.0) / 180.0, dt = 0.01;
            double plug = fmax(0.0, 9.81 * dt * (sin(angle) - 0.5 * cos(angle))), worst = 0.0;
            CHECK(s.info.outcome == TDL_FRICTION_CONVERGED);
            CHECK_BELOW(worst_law(&c, &s), 1.0e-8); // of impulses of some ten
            int dim = kind < 3 ? 2 : 3;
            for (int j = 0; j < c.dof_start[1]; ++j) {
                worst = fmax(worst, fabs(s.v[j] - (j % dim == 0 ? plug : 0.0)));
            }
            // a slab that slides is at its limit all through: stress turned by t lacks t^2 of shear
            // and shows as u t only, so that velocities are known to the power 2/3 of the tolerance
            CHECK_BELOW(worst, (plug > 0.0 ? 1.0e-5 : 1.0e-10) * 9.81 * dt);
            close_solved(&s);
            nodal_free(&c);
        }
    }
}

TEST(cloth_is_pulled_and_its_momentum_is_what_friction_leaves) {
    static const double pulls[] = {0.1, 0.5, 1.5};
    for (int k = 0; k < 3; ++k) {
        NodalCase c;
        ClothSheet sheet = cloth_sheet(8, 6);
        sheet.pull = pulls[k];
        sheet.noise = 0.0;
        case_cloth(&c, 1, &sheet);
        Solved s = solve_case(&c, 1.0e-11, 1);
        CHECK(s.info.outcome == TDL_FRICTION_CONVERGED);
        CHECK_BELOW(worst_law(&c, &s), 1.0e-9);
        // springs pass on what they are given: m sum v = dt (pull + weight) + impulses of the table
        double mass = sheet.density * sheet.spacing * sheet.spacing, sum[3] = {0};
        double weight = mass * 9.81 * 48.0, pull = pulls[k] * sheet.mu * weight;
        for (int i = 0; i < 48; ++i) {
            for (int x = 0; x < 3; ++x) {
                sum[x] += mass * s.v[3 * i + x] - c.unit * s.r[3 * i + (x + 1) % 3];
            }
        }
        CHECK_NEAR(sum[0], sheet.dt * pull, 1.0e-9 * sheet.dt * weight);
        CHECK_NEAR(sum[1], 0.3 * sheet.dt * pull, 1.0e-9 * sheet.dt * weight);
        CHECK_NEAR(sum[2], -sheet.dt * weight, 1.0e-9 * sheet.dt * weight);
        int moving = 0;
        for (int i = 0; i < 48; ++i) {
            moving += hypot(s.u[3 * i + 1], s.u[3 * i + 2]) > 1.0e-9;
        }
        // 0.1: each of six nodes bears its 0.83 itself; 0.5: 25 that slide bear all; 1.5: none can
        CHECK(k == 0 ? moving == 0 : k == 1 ? moving > 6 && moving <= 25 : moving == 48);
        close_solved(&s);
        nodal_free(&c);
    }
}

// C of a sparse root, as a body's own.
static void root_drive(void* user, int body, const double* f, double* z) {
    const TdlFrictionProblem* p = user;
    (void)body; // one
    sparse_root_drive(&p->nodal->c, 0, p->dof_count, f, z);
}

static void root_velocity(void* user, int body, const double* z, double* v) {
    const TdlFrictionProblem* p = user;
    (void)body;
    sparse_root_velocity(&p->nodal->c, 0, p->dof_count, z, v);
}

// Rows that came whitened, with A and H beside them, are solved as those of A are.
TEST(whitened_rows_with_their_matrix_have_the_same_velocities) {
    TdlHost host = tdl_host_default();
    NodalCase c;
    ClothSheet sheet = cloth_sheet(8, 6);
    sheet.pull = 0.5;
    case_cloth(&c, 1, &sheet);
    TdlFrictionProblem *own, *other;
    REQUIRE(nodal_problem(&c, &host, &own) == TDL_STATUS_OK);
    int n = own->n, m = own->dof_count;
    TdlSpan span[96];
    const int* list[96];
    for (int s = 0; s < 2 * n; ++s) {
        span[s] = (TdlSpan){0, own->side[s].count};
        list[s] = own->side[s].list;
    }
    TdlFrictionBodiesDef def = c.def;
    def.a = (TdlSparseRows){0};
    def.span = span;
    def.list = list;
    def.h = def.y = own->h;
    def.velocity = own->velocity; // z
    REQUIRE(tdl_friction_problem_create_bodies(&host, &def, &other) == TDL_STATUS_OK);
    NodalRoot root = {root_drive, root_velocity, own};
    REQUIRE(nodal_attach(other, &c.def, &root) == TDL_STATUS_OK);
    double r[2][144] = {{0}}, u[144], v[2][144], z[144];
    TdlFrictionOptions options = tdl_friction_options_default();
    options.tolerance = 1.0e-11;
    TdlFrictionSolver* solver;
    REQUIRE(tdl_friction_solver_create(&host, &options, &solver) == TDL_STATUS_OK);
    for (int k = 0; k < 2; ++k) {
        TdlFrictionInfo info;
        const TdlFrictionProblem* p = k == 0 ? own : other;
        REQUIRE(tdl_friction_solver_solve(solver, p, r[k], u, &info) == TDL_STATUS_OK);
        CHECK(info.outcome == TDL_FRICTION_CONVERGED);
    }
    tdl_friction_solver_destroy(solver);
    REQUIRE(tdl_friction_body_velocity(own, r[0], v[0]) == TDL_STATUS_OK);
    REQUIRE(tdl_friction_body_velocity(other, r[1], z) == TDL_STATUS_OK); // in its coordinates
    root_velocity(own, 0, z, v[1]);
    double size = 0.0;
    for (int j = 0; j < m; ++j) {
        size = fmax(size, fabs(v[0][j]));
    }
    for (int j = 0; j < m; ++j) {
        CHECK_NEAR(v[1][j], v[0][j], 1.0e-8 * size);
    }
    tdl_friction_problem_destroy(other);
    tdl_friction_problem_destroy(own);
    nodal_free(&c);
}

TEST(all_laws_are_solved_and_threads_do_not_change_a_bit) {
    for (int kind = 0; kind < KINDS; ++kind) {
        for (int mixed = 0; mixed < 2; ++mixed) {
            NodalCase c;
            unsigned char bilateral[64] = {0};
            make_case(&c, kind, 29.0, 0.0);
            if (mixed) {
                mix_laws(&c, bilateral);
            }
            Solved one = solve_case(&c, 1.0e-10, 1), two = solve_case(&c, 1.0e-10, 3);
            size_t size = (size_t)(c.def.laws.contact_count * c.def.laws.block_size);
            CHECK(one.info.outcome == TDL_FRICTION_CONVERGED);
            CHECK_BELOW(worst_law(&c, &one), 1.0e-7); // of impulses of some ten
            CHECK(memcmp(one.r, two.r, size * sizeof *one.r) == 0);
            close_solved(&one);
            close_solved(&two);
            nodal_free(&c);
        }
    }
}

// Large enough for threads, with fronts that they share.
TEST(large_slopes_have_the_same_bits_with_any_threads) {
    NodalCase c;
    GrainSlope slope = grain_slope(2, 44, 24, 26.0);
    slope.at_nodes = true;
    case_grains(&c, 1, &slope);
    Solved one = solve_case(&c, 1.0e-8, 1);
    CHECK(one.info.outcome == TDL_FRICTION_CONVERGED);
    for (int threads = 2; threads <= 4; ++threads) {
        Solved more = solve_case(&c, 1.0e-8, threads);
        CHECK(memcmp(one.r, more.r, 3 * (size_t)c.def.laws.contact_count * sizeof *one.r) == 0);
        close_solved(&more);
    }
    close_solved(&one);
    nodal_free(&c);
}

// Sweeps go through rows of G: the same iterates as with W formed.
TEST(sweeps_are_those_of_the_formed_matrix) {
    TdlHost host = tdl_host_default();
    for (int kind = 0; kind < KINDS; kind += 3) {
        NodalCase c;
        TdlFrictionProblem *p, *formed;
        make_case(&c, kind, 28.0, 0.3);
        REQUIRE(nodal_problem(&c, &host, &p) == TDL_STATUS_OK);
        REQUIRE(tdl_friction_problem_explicit(&host, p, &formed) == TDL_STATUS_OK);
        TdlFrictionOptions o = tdl_friction_options_default();
        o.solver = TDL_FRICTION_GAUSS_SEIDEL;
        o.tolerance = 1.0e-300;
        o.max_iterations = 20;
        o.relaxation = 1.0;
        o.force_bodies = true;
        TdlFrictionSolver* solver;
        REQUIRE(tdl_friction_solver_create(&host, &o, &solver) == TDL_STATUS_OK);
        size_t size = (size_t)(p->n * p->d);
        double *r = calloc(size, sizeof *r), *s = calloc(size, sizeof *s), worst = 0.0;
        TdlFrictionInfo info;
        REQUIRE(tdl_friction_solver_solve(solver, p, r, NULL, &info) == TDL_STATUS_OK);
        REQUIRE(tdl_friction_solver_solve(solver, formed, s, NULL, &info) == TDL_STATUS_OK);
        for (size_t k = 0; k < size; ++k) {
            worst = fmax(worst, fabs(r[k] - s[k]));
        }
        CHECK_BELOW(worst, 1.0e-9); // rounding of both, in 20 sweeps
        tdl_friction_solver_destroy(solver);
        tdl_friction_problem_destroy(formed);
        tdl_friction_problem_destroy(p);
        free(r);
        free(s);
        nodal_free(&c);
    }
}

// Chains of masses and springs, one of 8 coordinates and one of 6, that touch each other,
// themselves and the ground.
enum { CHAINS = 2, MEETINGS = 5, LINKS = 14 };
static const int CHAIN[CHAINS + 1] = {0, 8, LINKS};
static const int MET[2 * MEETINGS] = {0, 1, 0, -1, 1, 1, -1, 0, 0, 0};
static const TdlSpan ABOUT[2 * MEETINGS] = {{2, 3}, {0, 2}, {0, 4}, {0, 0}, {0, 2},
                                            {3, 3}, {0, 0}, {5, 3}, {0, 3}, {4, 4}};
static const int* const AMONG[2 * MEETINGS] = {NULL, (const int[]){1, 5},
                                               (const int[]){0, 3, 4, 7}};

static void chain_matrix(double* a) {
    memset(a, 0, LINKS * LINKS * sizeof *a);
    for (int i = 0; i < LINKS; ++i) {
        a[i * LINKS + i] = 3.0 + 0.2 * i;
        if (i != CHAIN[1] - 1 && i + 1 < LINKS) {
            a[i * LINKS + i + 1] = a[(i + 1) * LINKS + i] = -1.2;
        }
    }
}

static void solve_chain(void* user, int body, const double* rhs, double* x) {
    int first = CHAIN[body], m = CHAIN[body + 1] - first;
    double whole[LINKS * LINKS], a[LINKS * LINKS];
    (void)user;
    chain_matrix(whole);
    for (int k = 0; k < m * m; ++k) {
        a[k] = whole[(first + k / m) * LINKS + first + k % m];
    }
    memcpy(x, rhs, (size_t)m * sizeof *x);
    solve_dense(m, a, x);
}

// With A, and with rows of Y from dense solves.
TEST(bodies_that_touch_each_other_and_themselves_are_the_same_with_rows_of_y) {
    TdlHost host = tdl_host_default();
    for (int d = 3; d <= 6; d += 3) {
        double h[6 * 6 * 2 * MEETINGS], velocity[LINKS], whole[LINKS * LINKS], value[3 * LINKS];
        double mu[MEETINGS] = {0.3, 0.5, 0.4, INFINITY, 0.2}, r[2][6 * MEETINGS] = {{0}};
        int start[LINKS + 1] = {0}, column[3 * LINKS], count = 0;
        uint64_t seed = 12;
        for (size_t k = 0; k < sizeof h / sizeof *h; ++k) {
            h[k] = next_random(&seed);
        }
        chain_matrix(whole);
        for (int i = 0; i < LINKS; ++i) {
            velocity[i] = next_random(&seed);
            for (int j = 0; j < LINKS; ++j) {
                if (whole[i * LINKS + j] != 0.0) {
                    column[count] = j;
                    value[count++] = whole[i * LINKS + j];
                }
            }
            start[i + 1] = count;
        }
        TdlFrictionBodiesDef def = {.laws = {.block_size = d, .contact_count = MEETINGS, .mu = mu},
                                    .body_count = CHAINS,
                                    .dof_start = CHAIN,
                                    .velocity = velocity,
                                    .body = MET,
                                    .span = ABOUT,
                                    .list = AMONG,
                                    .h = h,
                                    .solve = solve_chain};
        TdlFrictionProblem* p[2];
        REQUIRE(tdl_friction_problem_create_bodies(&host, &def, &p[0]) == TDL_STATUS_OK);
        def.solve = NULL;
        def.a = (TdlSparseRows){start, column, value};
        REQUIRE(tdl_friction_problem_create_bodies(&host, &def, &p[1]) == TDL_STATUS_OK);
        double u[2][6 * MEETINGS], v[2][LINKS];
        for (int k = 0; k < d * MEETINGS; ++k) {
            r[0][k] = r[1][k] = next_random(&seed);
        }
        for (int k = 0; k < 2; ++k) {
            REQUIRE(tdl_friction_velocity(p[k], r[k], u[k]) == TDL_STATUS_OK);
            REQUIRE(tdl_friction_body_velocity(p[k], r[k], v[k]) == TDL_STATUS_OK);
        }
        for (int k = 0; k < d * MEETINGS; ++k) {
            CHECK_NEAR(u[1][k], u[0][k], 1.0e-13); // roundings of numbers of about one
        }
        for (int k = 0; k < LINKS; ++k) {
            CHECK_NEAR(v[1][k], v[0][k], 1.0e-13);
        }
        TdlFrictionOptions o = tdl_friction_options_default();
        TdlFrictionSolver* solver;
        TdlFrictionInfo info;
        o.tolerance = 1.0e-12;
        REQUIRE(tdl_friction_solver_create(&host, &o, &solver) == TDL_STATUS_OK);
        memset(r, 0, sizeof r);
        REQUIRE(tdl_friction_solver_solve(solver, p[1], r[1], u[1], &info) == TDL_STATUS_OK);
        CHECK(info.outcome == TDL_FRICTION_CONVERGED);
        // what solves one solves the other
        CHECK_BELOW(tdl_friction_error(p[0], TDL_FRICTION_ERROR_NATURAL, true, r[1]), 1.0e-11);
        tdl_friction_solver_destroy(solver);
        tdl_friction_problem_destroy(p[0]);
        tdl_friction_problem_destroy(p[1]);
    }
}

// --- what is refused -----------------------------------------------------------------------------

TEST(wrong_matrices_are_refused) {
    TdlHost host = tdl_host_default();
    TdlFrictionProblem* p = NULL;
    for (int wrong = 0; wrong < 6; ++wrong) {
        NodalCase c;
        make_case(&c, 0, 0.0, 0.0);
        int own = c.a_start[4];
        while (c.a_column[own] != 4) {
            ++own;
        }
        switch (wrong) {
        case 0:
            c.a_value[own] = -1.0; // not positive
            break;
        case 1:
            c.a_value[own + 1] += 1.0e-3; // not symmetric
            break;
        case 2:
            c.a_column[own] = 1000000; // no coordinate
            break;
        case 3:
            c.a_column[own + 1] = 4; // twice
            break;
        case 4:
            c.a_value[own] = NAN;
            break;
        default:
            c.def.y = c.h; // both A and Y
        }
        CHECK(nodal_problem(&c, &host, &p) == TDL_STATUS_BAD_ARGUMENT);
        nodal_free(&c);
    }
}

TEST(every_allocation_may_fail) {
    NodalCase c;
    make_case(&c, 3, 28.0, 0.0);
    bool done = false;
    for (long at = 1; at < 200 && !done; ++at) {
        AllocCounter counter = {.fail_at = at};
        TdlHost host = tdl_host_default();
        host.mem = counting_allocator(&counter);
        TdlFrictionProblem* p = NULL;
        TdlStatus status = nodal_problem(&c, &host, &p);
        TdlFrictionOptions o = tdl_friction_options_default();
        TdlFrictionSolver* solver = NULL;
        double* r = calloc((size_t)(6 * c.def.laws.contact_count), sizeof *r);
        TdlFrictionInfo info;
        status = status == TDL_STATUS_OK ? tdl_friction_solver_create(&host, &o, &solver) : status;
        status =
            status == TDL_STATUS_OK ? tdl_friction_solver_solve(solver, p, r, NULL, &info) : status;
        done = status == TDL_STATUS_OK;
        CHECK(done || status == TDL_STATUS_NO_MEMORY);
        tdl_friction_solver_destroy(solver);
        tdl_friction_problem_destroy(p);
        CHECK(counter.live == 0);
        free(r);
    }
    CHECK(done);
    nodal_free(&c);
}
