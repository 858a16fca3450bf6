// Generated contact problems of bodies of many nodes, for tests and benchmarks: a sheet of cloth on
// a table, and grains on a slope as a continuum with the law of Drucker and Prager. A is given as a
// sparse matrix and rows by lists of coordinates. friction.md section 4.13
#ifndef TDL_BENCH_FRICTION_NODES_H
#define TDL_BENCH_FRICTION_NODES_H

#include "tendril/friction.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct NodalCase {
    TdlFrictionBodiesDef def;
    int dof_start[2];
    int capacity; // coordinates in all lists
    int* body;
    TdlSpan* span;
    const int** list;
    int* coordinate;
    double *h, *velocity, *mu;
    int *a_start, *a_column;
    double* a_value;
    double unit; // rows are this times what they would be in SI: W is about 1
    uint64_t random;
} NodalCase;

static inline double nodal_unit(NodalCase* c) {
    uint64_t z = (c->random += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static inline void nodal_free(NodalCase* c) {
    void* all[] = {c->body,     c->span, c->list,    c->coordinate, c->h,
                   c->velocity, c->mu,   c->a_start, c->a_column,   c->a_value};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
        free(all[k]);
    }
    memset(c, 0, sizeof *c);
}

// One body of `dofs` coordinates, `contacts` of d rows about at most `each` of them, and room for
// `entries` of A.
static inline void nodal_begin(NodalCase* c, uint64_t seed, int dofs, int contacts, int d, int each,
                               size_t entries) {
    size_t n = (size_t)contacts, m = (size_t)dofs;
    memset(c, 0, sizeof *c);
    c->random = seed;
    c->unit = 1.0;
    c->dof_start[1] = dofs;
    c->body = malloc(2 * n * sizeof *c->body);
    c->span = calloc(2 * n, sizeof *c->span);
    c->list = calloc(2 * n, sizeof *c->list);
    c->coordinate = malloc(n * (size_t)each * sizeof *c->coordinate);
    c->h = malloc(n * (size_t)(d * each) * sizeof *c->h);
    c->velocity = calloc(m, sizeof *c->velocity);
    c->mu = malloc(n * sizeof *c->mu);
    c->a_start = malloc((m + 1) * sizeof *c->a_start);
    c->a_column = malloc(entries * sizeof *c->a_column);
    c->a_value = malloc(entries * sizeof *c->a_value);
    c->def.laws.block_size = d;
    c->def.body_count = 1;
}

// A contact with the ground, about `count` coordinates, rising; rows are d x count.
static inline void nodal_add(NodalCase* c, const int* coordinates, int count, const double* rows,
                             double mu) {
    int i = c->def.laws.contact_count++, d = c->def.laws.block_size;
    int* list = c->coordinate + c->capacity;
    memcpy(list, coordinates, (size_t)count * sizeof *list);
    memcpy(c->h + (size_t)d * (size_t)c->capacity, rows, (size_t)(d * count) * sizeof *rows);
    c->capacity += count;
    c->body[2 * i] = 0;
    c->body[2 * i + 1] = -1;
    c->span[2 * i].count = count;
    c->list[2 * i] = list;
    c->mu[i] = mu;
}

static inline TdlStatus nodal_problem(NodalCase* c, const TdlHost* host, TdlFrictionProblem** out) {
    c->def.laws.mu = c->mu;
    c->def.dof_start = c->dof_start;
    c->def.velocity = c->velocity;
    c->def.body = c->body;
    c->def.span = c->span;
    c->def.list = c->list;
    c->def.h = c->h;
    c->def.a = (TdlSparseRows){c->a_start, c->a_column, c->a_value};
    return tdl_friction_problem_create_bodies(host, &c->def, out);
}

// --- cloth on a table ----------------------------------------------------------------------------

typedef struct ClothSheet {
    int along, across;       // nodes
    double spacing, density; // m, kg/m^2
    double stretch, shear;   // N/m of edges and of diagonals
    double bend;             // N/m of second differences
    double mu, dt, pull;     // pull: part of the friction that the whole sheet can bear
    double noise;            // m/s
} ClothSheet;

static inline ClothSheet cloth_sheet(int along, int across) {
    return (ClothSheet){.along = along,
                        .across = across,
                        .spacing = 0.02,
                        .density = 0.2,
                        .stretch = 1.0e4,
                        .shear = 1.0e3,
                        .bend = 1.0,
                        .mu = 0.4,
                        .dt = 0.01,
                        .pull = 0.2,
                        .noise = 1.0e-3};
}

// The lower band of a symmetric matrix by rows: entry (i, j) at i (width + 1) + j - i + width.
typedef struct ClothBand {
    int n, width;
    double* value;
} ClothBand;

static inline double* cloth_entry(const ClothBand* a, int i, int j) {
    int row = i > j ? i : j, column = i > j ? j : i;
    return a->value + (size_t)row * (size_t)(a->width + 1) + (size_t)(column - row + a->width);
}

// stiff (weights e)(weights e)' among `count` nodes, e a direction or, null, all three.
static inline void cloth_spring(ClothBand* a, int count, const int* node, const double* weight,
                                const double* e, double stiff) {
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j <= i; ++j) {
            for (int k = 0; k < 9; ++k) {
                int row = 3 * node[i] + k / 3, column = 3 * node[j] + k % 3;
                double along = e != NULL ? e[k / 3] * e[k % 3] : k % 4 == 0 ? 1.0 : 0.0;
                if (node[i] != node[j] || column <= row) {
                    *cloth_entry(a, row, column) += stiff * weight[i] * weight[j] * along;
                }
            }
        }
    }
}

// M + dt^2 K of a flat sheet, nodes in rows along x.
static inline void cloth_matrix(const ClothSheet* s, ClothBand* a) {
    static const double pair[2] = {1.0, -1.0}, triple[3] = {1.0, -2.0, 1.0};
    int nx = s->along, ny = s->across;
    double dt2 = s->dt * s->dt, mass = s->density * s->spacing * s->spacing, half = sqrt(0.5);
    for (int k = 0; k < a->n; ++k) {
        *cloth_entry(a, k, k) += mass;
    }
    for (int i = 0; i < nx * ny; ++i) {
        bool right = i % nx + 1 < nx, up = i / nx + 1 < ny;
        if (right) {
            cloth_spring(a, 2, (int[]){i, i + 1}, pair, (double[]){1.0, 0.0, 0.0},
                         dt2 * s->stretch);
        }
        if (up) {
            cloth_spring(a, 2, (int[]){i, i + nx}, pair, (double[]){0.0, 1.0, 0.0},
                         dt2 * s->stretch);
        }
        if (right && up) {
            cloth_spring(a, 2, (int[]){i, i + nx + 1}, pair, (double[]){half, half, 0.0},
                         dt2 * s->shear);
            cloth_spring(a, 2, (int[]){i + 1, i + nx}, pair, (double[]){half, -half, 0.0},
                         dt2 * s->shear);
        }
        if (i % nx + 2 < nx) {
            cloth_spring(a, 3, (int[]){i, i + 1, i + 2}, triple, NULL, dt2 * s->bend);
        }
        if (i / nx + 2 < ny) {
            cloth_spring(a, 3, (int[]){i, i + nx, i + 2 * nx}, triple, NULL, dt2 * s->bend);
        }
    }
}

// The rows of A from its band, without what is zero.
static inline void cloth_rows(NodalCase* c, const ClothBand* a) {
    int count = 0;
    for (int i = 0; i < a->n; ++i) {
        c->a_start[i] = count;
        int first = i > a->width ? i - a->width : 0;
        int last = i + a->width < a->n ? i + a->width : a->n - 1;
        for (int j = first; j <= last; ++j) {
            double value = *cloth_entry(a, i, j);
            if (value != 0.0) {
                c->a_column[count] = j;
                c->a_value[count++] = value;
            }
        }
    }
    c->a_start[a->n] = count;
}

// x <- A^-1 x by Cholesky, which takes the place of the band.
static inline void cloth_solve(ClothBand* a, double* x) {
    for (int i = 0; i < a->n; ++i) {
        int first = i > a->width ? i - a->width : 0;
        for (int j = first; j <= i; ++j) {
            int from = j > a->width ? j - a->width : 0;
            double sum = *cloth_entry(a, i, j);
            for (int k = from > first ? from : first; k < j; ++k) {
                sum -= *cloth_entry(a, i, k) * *cloth_entry(a, j, k);
            }
            *cloth_entry(a, i, j) = i == j ? sqrt(sum) : sum / *cloth_entry(a, j, j);
        }
        for (int k = first; k < i; ++k) {
            x[i] -= *cloth_entry(a, i, k) * x[k];
        }
        x[i] /= *cloth_entry(a, i, i);
    }
    for (int i = a->n - 1; i >= 0; --i) {
        x[i] /= *cloth_entry(a, i, i);
        for (int k = i > a->width ? i - a->width : 0; k < i; ++k) {
            x[k] -= *cloth_entry(a, i, k) * x[i];
        }
    }
}

// Every node of a flat sheet on a table; one edge is pulled along x, with some of it across.
static inline void case_cloth(NodalCase* c, uint64_t seed, const ClothSheet* s) {
    int nodes = s->along * s->across;
    double mass = s->density * s->spacing * s->spacing, gravity = 9.81;
    ClothBand a = {3 * nodes, 6 * s->along + 2, NULL};
    a.value = calloc((size_t)a.n * (size_t)(a.width + 1), sizeof *a.value);
    nodal_begin(c, seed, a.n, nodes, 3, 3, 3 * 13 * (size_t)a.n);
    cloth_matrix(s, &a);
    cloth_rows(c, &a);
    // f = M (v + dt g) + dt pull
    double force = s->pull * s->mu * mass * gravity * nodes / s->across;
    for (int i = 0; i < nodes; ++i) {
        double* v = c->velocity + (ptrdiff_t)3 * i;
        for (int k = 0; k < 3; ++k) {
            v[k] = mass * s->noise * (2.0 * nodal_unit(c) - 1.0);
        }
        v[2] -= mass * gravity * s->dt;
        bool pulled = i % s->along == s->along - 1;
        v[0] += pulled ? s->dt * force : 0.0;
        v[1] += pulled ? 0.3 * s->dt * force : 0.0;
    }
    cloth_solve(&a, c->velocity);
    free(a.value);
    c->unit = sqrt(mass);
    for (int i = 0; i < nodes; ++i) {
        double u = c->unit, rows[9] = {0.0, 0.0, u, u, 0.0, 0.0, 0.0, u, 0.0};
        nodal_add(c, (int[]){3 * i, 3 * i + 1, 3 * i + 2}, 3, rows, s->mu);
    }
}

// --- grains on a slope ---------------------------------------------------------------------------

typedef struct GrainSlope {
    int dimension;           // 2 or 3
    int along, up, across;   // cells; across: 1 in two dimensions
    bool at_nodes;           // stress and strain at nodes, bilinear; else one for each cell
    double spacing, density; // m, kg/m^dimension
    double angle, mu, dt;    // of the slope, rad; tangent of the angle of friction; s
    double jitter;           // how far particles are from their places, in parts of these
} GrainSlope;

static inline GrainSlope grain_slope(int dimension, int along, int up, double degrees) {
    return (GrainSlope){.dimension = dimension,
                        .along = along,
                        .up = up,
                        .across = dimension == 3 ? along : 1,
                        .spacing = 0.01,
                        .density = 1500.0,
                        .angle = degrees * 3.14159265358979323846 / 180.0,
                        .mu = 0.5,
                        .dt = 0.01};
}

// chi^-1 of a symmetric matrix: the coordinates in which <s, t> = s:t/2 is their product. (F.61)
static inline void grain_coordinates(int dimension, double e[3][3], double* u) {
    double trace = 0.0;
    for (int k = 0; k < dimension; ++k) {
        trace += e[k][k];
    }
    u[0] = trace / sqrt(2.0 * dimension);
    u[1] = 0.5 * (e[0][0] - e[1][1]);
    if (dimension == 2) {
        u[2] = e[0][1];
        return;
    }
    u[2] = (e[0][0] + e[1][1] - 2.0 * e[2][2]) / (2.0 * sqrt(3.0));
    u[3] = e[0][1];
    u[4] = e[0][2];
    u[5] = e[1][2];
}

// Nodes of the grid: periodic along and across, up from the bed.
static inline int grain_node(const GrainSlope* s, int x, int y, int z) {
    int nx = s->along, nz = s->across;
    return (x + nx) % nx + nx * ((z + nz) % nz + nz * y);
}

// A particle's weights at the nodes of its cell, and their gradients; at in [0, 1].
static inline void grain_weights(const GrainSlope* s, const double at[3], double weight[8],
                                 double slope[8][3]) {
    for (int k = 0; k < 1 << s->dimension; ++k) {
        weight[k] = 1.0;
        for (int a = 0; a < s->dimension; ++a) {
            weight[k] *= k >> a & 1 ? at[a] : 1.0 - at[a];
        }
        for (int a = 0; a < 3; ++a) {
            slope[k][a] = a < s->dimension ? (k >> a & 1 ? 1.0 : -1.0) / s->spacing : 0.0;
            for (int b = 0; b < s->dimension && a < s->dimension; ++b) {
                slope[k][a] *= b == a ? 1.0 : k >> b & 1 ? at[b] : 1.0 - at[b];
            }
        }
    }
}

// The vectors g_ji = sum_p V_p N_j grad N_i of all stresses j and nodes i near them, by the place
// of i seen from j: 27 of three numbers; and the mass of the nodes. (F.62)
typedef struct GrainSums {
    int stresses;
    double *g, *mass;
} GrainSums;

enum { GRAIN_NEAR = 81 };

static inline void grain_particle(const GrainSlope* s, const int cell[3], const double at[3],
                                  GrainSums* out) {
    double weight[8], slope[8][3], volume = pow(0.5 * s->spacing, s->dimension);
    int corners = 1 << s->dimension;
    grain_weights(s, at, weight, slope);
    for (int i = 0; i < corners; ++i) {
        int to[3] = {i & 1, i >> 1 & 1, i >> 2 & 1};
        out->mass[grain_node(s, cell[0] + to[0], cell[1] + to[1], cell[2] + to[2])] +=
            s->density * volume * weight[i];
        for (int j = 0; j < (s->at_nodes ? corners : 1); ++j) {
            int from[3] = {j & 1, j >> 1 & 1, j >> 2 & 1};
            int stress = grain_node(s, cell[0] + (s->at_nodes ? from[0] : 0),
                                    cell[1] + (s->at_nodes ? from[1] : 0),
                                    cell[2] + (s->at_nodes ? from[2] : 0));
            int near = 0;
            for (int a = 2; a >= 0; --a) {
                near = 3 * near + to[a] - (s->at_nodes ? from[a] : 0) + 1;
            }
            for (int a = 0; a < s->dimension; ++a) {
                out->g[(size_t)stress * GRAIN_NEAR + (size_t)(3 * near + a)] +=
                    volume * (s->at_nodes ? weight[j] : 1.0) * slope[i][a];
            }
        }
    }
}

// Particles, two a cell in each direction.
static inline GrainSums grain_sums(NodalCase* c, const GrainSlope* s) {
    size_t plane = (size_t)s->along * (size_t)s->across, nodes = plane * ((size_t)s->up + 1);
    GrainSums out = {(int)(plane * (size_t)(s->up + (s->at_nodes ? 1 : 0))), NULL, NULL};
    out.g = calloc((size_t)out.stresses * GRAIN_NEAR, sizeof *out.g);
    out.mass = calloc(nodes, sizeof *out.mass);
    for (int k = 0; k < s->along * s->up * s->across; ++k) {
        int cell[3] = {k % s->along, k / s->along / s->across, k / s->along % s->across};
        for (int p = 0; p < 1 << s->dimension; ++p) {
            double at[3] = {0};
            for (int a = 0; a < s->dimension; ++a) {
                at[a] = 0.25 + 0.5 * (p >> a & 1) + 0.5 * s->jitter * (nodal_unit(c) - 0.5);
            }
            grain_particle(s, cell, at, &out);
        }
    }
    return out;
}

// The rows of a stress: u = unit chi^-1(sym sum_i v_i x g_ji), over nodes that move. (F.63) Returns
// the number of coordinates.
static inline int grain_rows(const GrainSlope* s, const double* g, int stress, double unit,
                             int* list, double* rows) {
    int dim = s->dimension, d = dim == 2 ? 3 : 6, count = 0, plane = s->along * s->across;
    int x = stress % s->along, z = stress / s->along % s->across, y = stress / plane;
    const double* from[GRAIN_NEAR];
    for (int near = 0; near < 27; ++near) {
        const double* v = g + (ptrdiff_t)3 * near;
        int above = y + near / 3 % 3 - 1;
        if ((v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0) || above < 1) {
            continue;
        }
        int first = dim * (grain_node(s, x + near % 3 - 1, above, z + near / 9 - 1) - plane), k = 0;
        for (k = count; k > 0 && list[dim * (k - 1)] > first; --k) {
            memmove(list + dim * k, list + dim * (k - 1), (size_t)dim * sizeof *list);
            from[k] = from[k - 1];
        }
        for (int a = 0; a < dim; ++a) {
            list[dim * k + a] = first + a;
        }
        from[k] = v;
        ++count;
    }
    for (int k = 0; k < count * dim; ++k) {
        double e[3][3] = {{0}}, u[6];
        for (int b = 0; b < 3; ++b) {
            e[k % dim][b] += 0.5 * from[k / dim][b];
            e[b][k % dim] += 0.5 * from[k / dim][b];
        }
        grain_coordinates(dim, e, u);
        for (int r = 0; r < d; ++r) {
            rows[r * count * dim + k] = unit * u[r];
        }
    }
    return count * dim;
}

// W about 1: the root of the mean of the diagonal, of rows without unit.
static inline double grain_unit(const GrainSlope* s, const GrainSums* sums) {
    int list[GRAIN_NEAR], d = s->dimension == 2 ? 3 : 6, plane = s->along * s->across;
    double rows[6 * GRAIN_NEAR], sum = 0.0;
    for (int j = 0; j < sums->stresses; ++j) {
        int count = grain_rows(s, sums->g + (size_t)j * GRAIN_NEAR, j, 1.0, list, rows);
        for (int k = 0; k < d * count; ++k) {
            sum += rows[k] * rows[k] / sums->mass[list[k % count] / s->dimension + plane];
        }
    }
    return 1.0 / sqrt(sum / (d * sums->stresses));
}

// A slab of grains of even depth on a slope, periodic along it, the lowest nodes at rest. It has
// been at rest for ever, and gravity acts for a step.
static inline void case_grains(NodalCase* c, uint64_t seed, const GrainSlope* s) {
    int dim = s->dimension, d = dim == 2 ? 3 : 6, plane = s->along * s->across;
    int dofs = dim * plane * s->up, list[GRAIN_NEAR];
    int stresses = plane * (s->up + (s->at_nodes ? 1 : 0));
    double rows[6 * GRAIN_NEAR];
    nodal_begin(c, seed, dofs, stresses, d, s->at_nodes ? (dim == 2 ? 18 : 81) : dim << dim,
                (size_t)dofs);
    GrainSums sums = grain_sums(c, s);
    for (int j = 0; j < dofs; ++j) {
        c->a_start[j] = c->a_column[j] = j;
        c->a_value[j] = sums.mass[j / dim + plane];
        c->velocity[j] = j % dim == 0   ? 9.81 * s->dt * sin(s->angle)
                         : j % dim == 1 ? -9.81 * s->dt * cos(s->angle)
                                        : 0.0;
    }
    c->a_start[dofs] = dofs;
    c->unit = grain_unit(s, &sums);
    for (int j = 0; j < stresses; ++j) {
        int count = grain_rows(s, sums.g + (size_t)j * GRAIN_NEAR, j, c->unit, list, rows);
        nodal_add(c, list, count, rows, s->mu * sqrt(2.0 / dim));
    }
    free(sums.g);
    free(sums.mass);
}

#endif
