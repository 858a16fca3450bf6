// Rows of strain and contacts: slopes that stand and slide, the friction room on the same problem,
// the law recomputed from its definition, momentum, and the same bits for any number of threads.
#include "bench/strain_cases.h"
#include "counting_allocator.h"
#include "friction/strain.h"
#include "tendril/strain.h"
#include "test.h"

typedef struct Answer {
    double *r, *u, *v, *z;
    StrainInfo info;
    TdlStatus status;
} Answer;

static Answer answer_for(const StrainCase* c) {
    size_t n = (size_t)c->problem.contacts.laws.contact_count;
    const int* dofs = c->problem.contacts.dof_start;
    size_t z = dofs == NULL ? 0 : (size_t)dofs[c->problem.contacts.body_count];
    Answer a = {0};
    a.r = calloc(3 * n + 1, sizeof(double));
    a.u = calloc(3 * n + 1, sizeof(double));
    a.v = calloc(3 * (size_t)c->bed.node_count + 1, sizeof(double));
    a.z = calloc(z + 1, sizeof(double));
    return a;
}

static void answer_free(Answer* a) {
    free(a->r);
    free(a->u);
    free(a->v);
    free(a->z);
}

static StrainAim aim_at(double tolerance, int most) {
    return (StrainAim){.tolerance = tolerance, .max_iterations = most, .allowed = INFINITY};
}

static void solve_with(const StrainCase* c, const StrainAim* aim, int threads, Answer* a) {
    TdlHost host = tdl_host_default();
    Pool* pool;
    StrainSolver* solver;
    REQUIRE(pool_create(&host, threads, &pool) == TDL_STATUS_OK);
    REQUIRE(strain_solver_create(&host, pool, &solver) == TDL_STATUS_OK);
    a->status = strain_solve(solver, &c->problem, aim, a->r, a->u, a->v, a->z, &a->info);
    strain_solver_destroy(solver);
    pool_destroy(pool);
}

static void solve(const StrainCase* c, double tolerance, int most, Answer* a) {
    StrainAim aim = aim_at(tolerance, most);
    solve_with(c, &aim, 1, a);
    CHECK(a->status == TDL_STATUS_OK);
}

// --- the definition, once more -------------------------------------------------------------------

// chi(r) by (F.61), rows and columns x, y, z or, in the plane, x, z.
static void tensor_of(int dim, const double* r, double s[3][3]) {
    double third = r[dim == 2 ? 0 : 2] / sqrt(3.0), n = r[0] * sqrt(2.0 / dim);
    memset(s, 0, 9 * sizeof(double));
    if (dim == 2) {
        s[0][0] = n + r[1];
        s[1][1] = n - r[1];
        s[0][1] = s[1][0] = r[2];
        return;
    }
    s[0][0] = n + r[1] + third;
    s[1][1] = n - r[1] + third;
    s[2][2] = n - 2.0 * third;
    s[0][1] = s[1][0] = r[3];
    s[0][2] = s[2][0] = r[4];
    s[1][2] = s[2][1] = r[5];
}

static int axis_of(int dim, int a) {
    return dim == 2 && a == 1 ? 2 : a;
}

static void push_row(const StrainCase* c, int j, const double* r, double* v) {
    const StrainRows* rows = &c->bed.rows;
    double s[3][3];
    tensor_of(rows->dimension, r, s);
    for (int k = 0; k < rows->near; ++k) {
        int node = rows->node[j * rows->near + k];
        for (int a = 0; node >= 0 && a < rows->dimension; ++a) {
            for (int b = 0; b < rows->dimension; ++b) {
                v[3 * node + axis_of(rows->dimension, a)] +=
                    s[a][b] * rows->g[(j * rows->near + k) * rows->dimension + b] /
                    c->bed.mass[node];
            }
        }
    }
}

static void strain_of(const StrainCase* c, int j, const double* v, double* u) {
    const StrainRows* rows = &c->bed.rows;
    int dim = rows->dimension;
    double e[3][3] = {{0}};
    for (int k = 0; k < rows->near; ++k) {
        int node = rows->node[j * rows->near + k];
        for (int a = 0; node >= 0 && a < dim; ++a) {
            for (int b = 0; b < dim; ++b) {
                e[a][b] += v[3 * node + axis_of(dim, a)] * rows->g[(j * rows->near + k) * dim + b];
            }
        }
    }
    double trace = 0.0;
    for (int k = 0; k < dim; ++k) {
        trace += e[k][k];
    }
    u[0] = 2.0 * trace / sqrt(2.0 * dim) + rows->bias[j];
    u[1] = e[0][0] - e[1][1];
    if (dim == 2) {
        u[2] = e[0][1] + e[1][0];
        return;
    }
    u[2] = (e[0][0] + e[1][1] - 2.0 * e[2][2]) / sqrt(3.0);
    u[3] = e[0][1] + e[1][0];
    u[4] = e[0][2] + e[2][0];
    u[5] = e[1][2] + e[2][1];
}

// The natural map of one row in units in which W's diagonal is about 1; its square.
static double natural(int d, double mu, double unit, const double* r, const double* u) {
    double x[6], t = 0.0, speed = 0.0, sum = 0.0;
    for (int k = 0; k < d; ++k) {
        x[k] = r[k] / unit - unit * u[k];
        t += k > 0 ? x[k] * x[k] : 0.0;
        speed += k > 0 ? u[k] * u[k] : 0.0;
    }
    x[0] -= mu * unit * sqrt(speed);
    t = sqrt(t);
    double n = t <= mu * x[0] ? x[0] : mu * t <= -x[0] ? 0.0 : (x[0] + mu * t) / (1.0 + mu * mu);
    double part = t <= mu * x[0] || t == 0.0 ? 1.0 : mu * n / t;
    for (int k = 0; k < d; ++k) {
        double p = k == 0 ? n : part * x[k];
        sum += (r[k] / unit - p) * (r[k] / unit - p);
    }
    return sum;
}

// The error of rows alone, of a problem without contacts, and how far v is from what impulses do.
static double error_by_hand(const StrainCase* c, const double* v, double* off) {
    int n = c->bed.rows.count, d = c->bed.rows.dimension == 2 ? 3 : 6;
    size_t nodes = (size_t)c->bed.node_count;
    double *own = calloc(3 * nodes, sizeof *own), u[6], trace = 0.0, sum = 0.0, speed = 0.0;
    for (int j = 0; j < n; ++j) {
        for (int k = 0; k < d; ++k) {
            double e[6] = {0};
            e[k] = 1.0;
            memset(own, 0, 3 * nodes * sizeof *own);
            push_row(c, j, e, own);
            strain_of(c, j, own, u);
            trace += u[k] - (k == 0 ? c->bias[j] : 0.0);
        }
    }
    double unit = sqrt(n * d / trace);
    memcpy(own, c->v, 3 * nodes * sizeof *own);
    for (int j = 0; j < n; ++j) {
        strain_of(c, j, c->v, u);
        for (int k = 0; k < d; ++k) {
            speed += unit * unit * u[k] * u[k];
        }
        push_row(c, j, c->impulse + (ptrdiff_t)d * j, own);
    }
    *off = 0.0;
    for (size_t k = 0; k < 3 * nodes; ++k) {
        *off = fmax(*off, fabs(own[k] - v[k]));
    }
    for (int j = 0; j < n; ++j) {
        strain_of(c, j, own, u);
        sum += natural(d, c->mu[j], unit, c->impulse + (ptrdiff_t)d * j, u);
    }
    free(own);
    return sqrt(sum / speed);
}

TEST(error_is_that_of_the_definition) {
    for (int k = 0; k < 8; ++k) {
        GrainSlope s = k % 2 == 0 ? grain_slope(2, 9, 6, 28.0) : grain_slope(3, 4, 3, 31.0);
        s.at_nodes = k / 2 % 2 == 1;
        s.jitter = 0.3;
        StrainCase c;
        double off;
        case_strain(&c, 5, &s, -1.0);
        for (int j = 0; j < c.bed.rows.count && k >= 4; ++j) {
            c.bias[j] = 1.0e-9 * (j % 3);
        }
        Answer a = answer_for(&c);
        StrainAim aim = aim_at(1.0e-12, 7); // on the way, where errors are large
        aim.allowed = 1.0e6;
        solve_with(&c, &aim, 1, &a);
        double error = error_by_hand(&c, a.v, &off);
        printf("  %d: %.6g by hand %.6g, velocities off by %.2g\n", k, a.info.error, error, off);
        CHECK(fabs(a.info.error - error) < 1.0e-9 * error + 1.0e-13);
        CHECK(off < 1.0e-13);
        answer_free(&a);
        strain_free(&c);
    }
}

// --- slopes --------------------------------------------------------------------------------------

static double fastest(const StrainCase* c, const double* v) {
    double most = 0.0;
    for (int i = 0; i < c->bed.node_count; ++i) {
        most = fmax(most, hypot(v[3 * i], v[3 * i + 2]));
    }
    return most;
}

// Between the angle of friction and the static limit both standing and sliding are solutions; from
// nothing the sliding one is found.
TEST(slopes_stand_below_the_angle_and_slide_above) {
    const double degrees[4] = {24.0, 26.0, 28.0, 31.0};
    for (int k = 0; k < 16; ++k) {
        GrainSlope s = k % 4 < 2 ? grain_slope(2, 12, 8, degrees[k / 4])
                                 : grain_slope(3, 4, 4, degrees[k / 4]);
        s.at_nodes = k % 2 == 1;
        StrainCase c;
        case_strain(&c, 5, &s, -1.0);
        Answer a = answer_for(&c);
        solve(&c, 1.0e-10, 3000, &a);
        double plug = 9.81 * s.dt * (sin(s.angle) - s.mu * cos(s.angle));
        double speed = fastest(&c, a.v);
        printf("  %dD %s %.0f: %d iterations, %.2g; %.6g of %.6g m/s\n", s.dimension,
               s.at_nodes ? "nodes" : "cells", degrees[k / 4], a.info.iterations, a.info.error,
               speed, fmax(plug, 0.0));
        CHECK(a.info.converged);
        CHECK(plug < 0.0 ? speed < 1.0e-8 : fabs(speed - plug) < 3.0e-4 * plug);
        answer_free(&a);
        strain_free(&c);
    }
}

TEST(velocities_are_those_of_the_friction_room) {
    for (int k = 0; k < 4; ++k) {
        TdlHost host = tdl_host_default();
        GrainSlope s = k % 2 == 0 ? grain_slope(2, 9, 6, 31.0) : grain_slope(3, 4, 3, 31.0);
        s.at_nodes = k / 2 == 1;
        s.jitter = 0.2;
        StrainCase c;
        NodalCase other;
        TdlFrictionProblem* p;
        TdlFrictionSolver* solver;
        TdlFrictionInfo info;
        TdlFrictionOptions options = tdl_friction_options_default();
        options.tolerance = 1.0e-11;
        case_strain(&c, 9, &s, -1.0);
        case_grains(&other, 9, &s);
        REQUIRE(nodal_problem(&other, &host, &p) == TDL_STATUS_OK);
        REQUIRE(tdl_friction_solver_create(&host, &options, &solver) == TDL_STATUS_OK);
        double* r = calloc(c.size, sizeof *r);
        double* v = calloc((size_t)other.dof_start[1], sizeof *v);
        CHECK(tdl_friction_solver_solve(solver, p, r, NULL, &info) == TDL_STATUS_OK);
        CHECK(tdl_friction_body_velocity(p, r, v) == TDL_STATUS_OK);
        Answer a = answer_for(&c);
        solve(&c, 1.0e-11, 20000, &a);
        double worst = 0.0;
        for (int i = 0; i < c.bed.node_count; ++i) {
            const double* w = v + (ptrdiff_t)s.dimension * i;
            worst = fmax(worst, fabs(w[0] - a.v[3 * i]));
            worst = fmax(worst, fabs(w[1] - a.v[3 * i + 2]));
        }
        double speed = fastest(&c, a.v);
        printf("  %dD %s: %.2g and %.2g, off by %.2g of %.2g\n", s.dimension,
               s.at_nodes ? "nodes" : "cells", a.info.error, info.error, worst, speed);
        CHECK(a.info.converged);
        CHECK(worst < 1.0e-5 * speed); // the power 2/3 of the error, and some
        free(r);
        free(v);
        answer_free(&a);
        tdl_friction_solver_destroy(solver);
        tdl_friction_problem_destroy(p);
        nodal_free(&other);
        strain_free(&c);
    }
}

TEST(a_slab_slides_on_its_bed_as_a_block) {
    for (int k = 0; k < 4; ++k) {
        GrainSlope s = k % 2 == 0 ? grain_slope(2, 12, 6, 24.0) : grain_slope(3, 4, 3, 24.0);
        double wall = k / 2 == 0 ? 0.2 : 0.0;
        s.at_nodes = true;
        StrainCase c;
        case_strain(&c, 5, &s, wall);
        Answer a = answer_for(&c);
        solve(&c, 1.0e-11, 5000, &a);
        double plug = 9.81 * s.dt * (sin(s.angle) - wall * cos(s.angle)), weight = 0.0, push = 0.0;
        for (int i = 0; i < c.bed.node_count; ++i) {
            CHECK_NEAR(a.v[3 * i], plug, 1.0e-7 * plug);
            CHECK_NEAR(a.v[3 * i + 1], 0.0, 1.0e-9);
            weight += 9.81 * s.dt * cos(s.angle) * c.mass[i];
        }
        for (int i = 0; i < c.problem.contacts.laws.contact_count; ++i) {
            push += a.r[3 * i];
            CHECK_NEAR(a.u[3 * i + 1], -plug, 1.0e-7 * plug);
        }
        CHECK(a.info.converged);
        CHECK_NEAR(push, weight, 1.0e-8 * weight);
        answer_free(&a);
        strain_free(&c);
    }
}

// --- a body on top -------------------------------------------------------------------------------

enum { TOP = 16 }; // nodes of the top of a slab of 4 x 4

typedef struct Lid {
    double h[18 * (TOP + 1)], y[18 * (TOP + 1)], root[6], u_free[3 * (2 * TOP + 1)];
    int dof_start[2], node[2 * TOP + 1], body[2 * (2 * TOP + 1)];
    double mu[2 * TOP + 1];
    TdlMat3 basis[2 * TOP + 1];
} Lid;

// A rigid lid over the top nodes, with its velocity (0.1, 0, -0.3) m/s and a spin, and an obstacle
// it slides under. `unit` is that of impulses.
static void put_lid(StrainCase* c, const GrainSlope* s, Lid* lid, double unit) {
    int plane = s->along * s->across, first = plane * s->up;
    TdlFrictionBodiesDef* def = &c->problem.contacts;
    const double mass = 0.5 * 1500.0 * pow(s->spacing, 3.0) * plane, inertia = 1.0e-4 * mass;
    const double velocity[6] = {0.1, 0.0, -0.3, 0.0, 0.5, 0.2};
    memset(lid, 0, sizeof *lid);
    for (int k = 0; k < 6; ++k) {
        lid->root[k] = sqrt(unit * (k < 3 ? mass : inertia));
    }
    lid->dof_start[1] = 6;
    for (int i = 0; i < 2 * TOP + 1; ++i) {
        bool floor = i < TOP, obstacle = i == 2 * TOP;
        lid->node[i] = floor ? i : obstacle ? -1 : first + i - TOP;
        lid->mu[i] = floor ? 0.3 : 0.6;
        // from the grains to the bed; from them to the lid; from the lid to the obstacle over it
        double up = floor ? -1.0 : 1.0;
        lid->basis[i] = (TdlMat3){{0.0, 0.0, up}, {1.0, 0.0, 0.0}, {0.0, up, 0.0}};
        lid->body[2 * i] = obstacle ? 0 : -1;
        lid->body[2 * i + 1] = floor || obstacle ? -1 : 0;
        for (int k = 0; k < 18 && !floor; ++k) {
            int row = k / 6, a = k % 6;
            double x = 0.01 * ((i - TOP) % 4 - 1.5), y = 0.01 * ((i - TOP) / 4 - 1.5);
            x = obstacle ? 0.0 : x;
            y = obstacle ? 0.0 : y;
            // velocity of the place (x, y, 0): V + w x p
            const double place[3][6] = {{1.0, 0.0, 0.0, 0.0, 0.0, -y},
                                        {0.0, 1.0, 0.0, 0.0, 0.0, x},
                                        {0.0, 0.0, 1.0, y, -x, 0.0}};
            const TdlVec3 n[3] = {lid->basis[i].cx, lid->basis[i].cy, lid->basis[i].cz};
            double value = n[row].x * place[0][a] + n[row].y * place[1][a] + n[row].z * place[2][a];
            value *= obstacle ? -1.0 : 1.0;
            lid->h[18 * (i - TOP) + k] = value / lid->root[a];
            lid->u_free[3 * i + row] += value * velocity[a];
        }
    }
    def->laws.contact_count = 2 * TOP + 1;
    def->laws.mu = lid->mu;
    def->body_count = 1;
    def->dof_start = lid->dof_start;
    def->u_free = lid->u_free;
    def->body = lid->body;
    def->h = def->y = lid->h;
    c->problem.node = lid->node;
    c->problem.basis = lid->basis;
    c->problem.unit = unit;
}

TEST(a_lid_and_grains_keep_their_momentum) {
    const double units[2] = {1.0, 50.0};
    double speed[2];
    for (int k = 0; k < 2; ++k) {
        static Lid lid;
        GrainSlope s = grain_slope(3, 4, 3, 10.0);
        s.at_nodes = true;
        StrainCase c;
        case_strain(&c, 5, &s, 0.3);
        put_lid(&c, &s, &lid, units[k]);
        Answer a = answer_for(&c);
        solve(&c, 1.0e-10, 5000, &a);
        CHECK(a.info.converged);
        double change[3] = {0}, given[3] = {0}, most = 0.0;
        for (int i = 0; i < c.bed.node_count; ++i) {
            for (int e = 0; e < 3; ++e) {
                change[e] += c.mass[i] * (a.v[3 * i + e] - c.v[3 * i + e]);
            }
        }
        for (int i = 0; i < 2 * TOP + 1; ++i) {
            bool floor = i < TOP, obstacle = i == 2 * TOP;
            const TdlMat3* b = &lid.basis[i];
            const double* r = a.r + (ptrdiff_t)3 * i;
            TdlVec3 f = tdl_axpy3(tdl_axpy3(tdl_scale3(r[0], b->cx), r[1], b->cy), r[2], b->cz);
            double part = floor || obstacle ? -1.0 / units[k] : 0.0; // on the first side
            given[0] += part * f.x;
            given[1] += part * f.y;
            given[2] += part * f.z;
            most = fmax(most, tdl_norm3(f) / units[k]);
        }
        for (int e = 0; e < 3; ++e) { // z/root is a velocity, root^2/unit the mass
            change[e] += lid.root[e] * a.z[e] / units[k];
            CHECK_NEAR(change[e], given[e], 1.0e-12 * most * TOP);
        }
        speed[k] = a.z[2] / lid.root[2];
        printf("  unit %g: %d iterations, %.2g, the lid is slowed by %.6g m/s\n", units[k],
               a.info.iterations, a.info.error, speed[k]);
        CHECK(a.r[3 * TOP] > 0.0);
        answer_free(&a);
        strain_free(&c);
    }
    CHECK_NEAR(speed[1], speed[0], 1.0e-6 * fabs(speed[0]));
}

// Rows of Y over all coordinates: sweeps alone, and the same answer.
TEST(rows_of_y_may_be_whole) {
    static Lid lid;
    GrainSlope s = grain_slope(3, 4, 2, 10.0);
    s.at_nodes = true;
    StrainCase c;
    case_strain(&c, 5, &s, 0.3);
    put_lid(&c, &s, &lid, 1.0);
    Answer a = answer_for(&c), b = answer_for(&c);
    solve(&c, 1.0e-9, 5000, &a);
    memcpy(lid.y, lid.h, sizeof lid.h);
    c.problem.contacts.y = lid.y;
    memset(c.impulse, 0, c.size * sizeof *c.impulse);
    solve(&c, 1.0e-9, 20000, &b);
    CHECK(a.info.converged && b.info.converged);
    for (int k = 0; k < 6; ++k) {
        CHECK_NEAR(a.z[k], b.z[k], 1.0e-5 * fabs(a.z[2]));
    }
    answer_free(&a);
    answer_free(&b);
    strain_free(&c);
}

// --- the rest ------------------------------------------------------------------------------------

TEST(bits_are_the_same_for_any_threads) {
    for (int k = 0; k < 2; ++k) {
        GrainSlope s = k == 0 ? grain_slope(2, 60, 30, 28.0) : grain_slope(3, 12, 12, 28.0);
        s.at_nodes = true;
        s.jitter = 0.3;
        StrainCase c;
        case_strain(&c, 5, &s, 0.4);
        Answer first = answer_for(&c), a = answer_for(&c);
        double* impulse = malloc(c.size * sizeof *impulse);
        StrainAim aim = aim_at(1.0e-8, 25);
        for (int threads = 1; threads <= 4; ++threads) {
            memset(c.impulse, 0, c.size * sizeof *c.impulse);
            memset(a.r, 0, 3 * (size_t)c.problem.contacts.laws.contact_count * sizeof *a.r);
            solve_with(&c, &aim, threads, &a);
            CHECK(a.status == TDL_STATUS_OK);
            size_t bytes = 3 * (size_t)c.bed.node_count * sizeof *a.v;
            if (threads == 1) {
                memcpy(impulse, c.impulse, c.size * sizeof *impulse);
                memcpy(first.v, a.v, bytes);
                first.info = a.info;
            }
            CHECK(memcmp(impulse, c.impulse, c.size * sizeof *impulse) == 0);
            CHECK(memcmp(first.v, a.v, bytes) == 0);
            CHECK(memcmp(&first.info.error, &a.info.error, sizeof(double)) == 0);
        }
        free(impulse);
        answer_free(&first);
        answer_free(&a);
        strain_free(&c);
    }
}

TEST(a_bed_that_was_at_rest_costs_a_look) {
    GrainSlope s = grain_slope(3, 6, 6, 20.0);
    s.at_nodes = true;
    StrainCase c;
    case_strain(&c, 5, &s, -1.0);
    Answer a = answer_for(&c);
    solve(&c, 1.0e-6, 3000, &a);
    CHECK(a.info.converged);
    solve(&c, 1.0e-6, 3000, &a);
    CHECK_INT(a.info.iterations, 0);
    // a slope that is a little steeper than a step ago
    for (int i = 0; i < c.bed.node_count; ++i) {
        c.v[3 * i] *= 1.0 + 1.0e-4;
    }
    solve(&c, 1.0e-6, 3000, &a);
    printf("  after a small change: %d iterations\n", a.info.iterations);
    CHECK(a.info.converged && a.info.iterations <= 60);
    answer_free(&a);
    strain_free(&c);
}

TEST(the_public_call_gives_the_same_bits) {
    GrainSlope s = grain_slope(3, 4, 4, 26.0);
    s.at_nodes = true;
    s.jitter = 0.3;
    StrainCase c;
    case_strain(&c, 5, &s, -1.0);
    const StrainRows* rows = &c.bed.rows;
    TdlStrainDef def = {
        .dimension = 3,
        .node_count = c.bed.node_count,
        .mass = c.mass,
        .velocity = c.v,
        .row_count = rows->count,
        .near = rows->near,
        .node = rows->node,
        .g = rows->g,
        .mu = rows->mu,
        .colour = rows->start,
        .colour_count = rows->colour_count,
    };
    TdlHost host = tdl_host_default();
    TdlStrainSolver* solver;
    TdlStrainInfo info;
    Answer a = answer_for(&c);
    double* impulse = calloc(c.size, sizeof *impulse);
    double* v = calloc(3 * (size_t)c.bed.node_count, sizeof *v);
    solve(&c, 1.0e-8, 3000, &a);
    REQUIRE(tdl_strain_solver_create(&host, 2, &solver) == TDL_STATUS_OK);
    CHECK(tdl_strain_solve(solver, &def, 1.0e-8, 3000, INFINITY, impulse, v, &info) ==
          TDL_STATUS_OK);
    CHECK(info.converged && info.iterations == a.info.iterations);
    CHECK(memcmp(impulse, c.impulse, c.size * sizeof *impulse) == 0);
    CHECK(memcmp(v, a.v, 3 * (size_t)c.bed.node_count * sizeof *v) == 0);
    def.dimension = 4;
    CHECK(tdl_strain_solve(solver, &def, 1.0e-8, 3000, INFINITY, impulse, v, &info) ==
          TDL_STATUS_BAD_ARGUMENT);
    tdl_strain_solver_destroy(solver);
    tdl_strain_solver_destroy(NULL);
    free(impulse);
    free(v);
    answer_free(&a);
    strain_free(&c);
}

static bool always(void* user) {
    ++*(int*)user;
    return true;
}

TEST(what_is_allowed_is_not_exceeded) {
    GrainSlope s = grain_slope(3, 6, 6, 26.0);
    s.at_nodes = true;
    s.jitter = 0.3;
    StrainCase c;
    int asked = 0;
    case_strain(&c, 5, &s, 0.5);
    Answer a = answer_for(&c);
    StrainAim aim = {1.0e-8, 1000, 1.0e8, NULL, NULL};
    solve_with(&c, &aim, 1, &a);
    CHECK(a.status == TDL_STATUS_OK && !a.info.converged);
    CHECK(a.info.work <= 1.0e8 && a.info.iterations > 10);
    CHECK(a.info.error < 1.0);
    // as few sweeps as are not looked at on the way
    StrainAim few = {1.0e-8, 1000, 1.5e6, NULL, NULL};
    double before = a.info.error;
    memset(c.impulse, 0, c.size * sizeof *c.impulse);
    memset(a.r, 0, 3 * (size_t)c.problem.contacts.laws.contact_count * sizeof *a.r);
    solve_with(&c, &few, 1, &a);
    printf("  %d sweeps: %.3g\n", a.info.iterations, a.info.error);
    CHECK(a.info.iterations > 0 && a.info.iterations < 10);
    CHECK(a.info.error < 0.5 && a.info.error > before);
    aim = (StrainAim){1.0e-8, 1000, INFINITY, always, &asked};
    solve_with(&c, &aim, 1, &a);
    CHECK(a.status == TDL_STATUS_OK && a.info.stopped && asked > 0);
    answer_free(&a);
    strain_free(&c);
}

TEST(degenerate_problems) {
    GrainSlope s = grain_slope(2, 6, 4, 31.0);
    s.at_nodes = true;
    s.jitter = 0.3;
    for (int k = 0; k < 7; ++k) {
        StrainCase c;
        case_strain(&c, 5, &s, k == 0 || k == 1 ? 0.3 : -1.0);
        int near = c.bed.rows.near;
        if (k == 0) { // contacts alone
            c.bed.rows.count = 0;
        } else if (k == 2) { // neither
            c.bed.rows.count = 0;
        } else if (k == 3) { // rows about nothing
            memset(c.g, 0, 4 * (size_t)(2 * near) * sizeof *c.g);
            for (int e = 0; e < near; ++e) {
                c.node[4 * near + e] = -1;
            }
        } else if (k == 4) { // masses over eight decades
            for (int i = 0; i < c.bed.node_count; ++i) {
                c.mass[i] *= pow(10.0, i % 9 - 4);
            }
        } else if (k == 5) { // no friction, and no end of it
            for (int j = 0; j < c.bed.rows.count; ++j) {
                c.mu[j] = j % 2 == 0 ? 0.0 : INFINITY;
            }
        } else if (k == 6) { // nothing moves
            memset(c.v, 0, 3 * (size_t)c.bed.node_count * sizeof *c.v);
        }
        Answer a = answer_for(&c);
        solve(&c, 1.0e-8, 20000, &a);
        printf("  %d: %d iterations, %.2g\n", k, a.info.iterations, a.info.error);
        CHECK(a.info.converged);
        for (int i = 0; i < 3 * c.bed.node_count; ++i) {
            CHECK(isfinite(a.v[i]));
        }
        answer_free(&a);
        strain_free(&c);
    }
}

TEST(what_is_not_finite_is_refused) {
    GrainSlope s = grain_slope(2, 6, 4, 31.0);
    s.at_nodes = true;
    for (int k = 0; k < 9; ++k) {
        StrainCase c;
        case_strain(&c, 5, &s, 0.3);
        TdlFrictionBodiesDef* def = &c.problem.contacts;
        double u_free[3 * 6] = {NAN};
        c.mass[3] = k == 0 ? NAN : k == 1 ? 0.0 : c.mass[3];
        c.v[4] = k == 2 ? INFINITY : c.v[4];
        c.g[40] = k == 3 ? NAN : c.g[40];
        c.mu[7] = k == 4 ? -1.0 : c.mu[7];
        c.bias[2] = k == 5 ? NAN : 0.0;
        def->u_free = k == 6 ? u_free : NULL;
        c.contact_mu[2] = k == 7 ? NAN : 0.3;
        c.node[9] = k == 8 ? c.bed.node_count : c.node[9];
        Answer a = answer_for(&c);
        StrainAim aim = aim_at(1.0e-8, 100);
        solve_with(&c, &aim, 1, &a);
        CHECK(a.status == TDL_STATUS_BAD_ARGUMENT);
        answer_free(&a);
        strain_free(&c);
    }
    // a guess that is not finite is none
    StrainCase c;
    case_strain(&c, 5, &s, 0.3);
    c.impulse[5] = NAN;
    Answer a = answer_for(&c);
    solve(&c, 1.0e-8, 3000, &a);
    CHECK(a.info.converged);
    answer_free(&a);
    strain_free(&c);
}

TEST(each_allocation_may_fail) {
    GrainSlope s = grain_slope(2, 6, 4, 28.0);
    s.at_nodes = true;
    StrainCase c;
    case_strain(&c, 5, &s, 0.3);
    Answer a = answer_for(&c);
    bool done = false;
    long calls = 0;
    for (long fail = 1; !done && fail < 4000; ++fail) {
        AllocCounter counter = {.fail_at = fail};
        TdlHost host = tdl_host_default();
        host.mem = counting_allocator(&counter);
        StrainSolver* solver = NULL;
        memset(c.impulse, 0, c.size * sizeof *c.impulse);
        memset(a.r, 0, 18 * sizeof *a.r);
        StrainAim aim = aim_at(1.0e-9, 2000);
        TdlStatus status = strain_solver_create(&host, NULL, &solver);
        if (status == TDL_STATUS_OK) {
            status = strain_solve(solver, &c.problem, &aim, a.r, a.u, a.v, a.z, &a.info);
        }
        done = counter.calls < fail;
        CHECK(done ? status == TDL_STATUS_OK && a.info.converged
                   : status == TDL_STATUS_NO_MEMORY || status == TDL_STATUS_OK);
        strain_solver_destroy(solver);
        CHECK_INT(counter.live, 0);
        calls = counter.calls;
    }
    printf("  %ld allocations\n", calls);
    CHECK(done);
    answer_free(&a);
    strain_free(&c);
}
