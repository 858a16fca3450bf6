// Slopes of grains (friction_nodes.h) as rows of strain, for tests and benchmarks: the lowest nodes
// at rest, or free and in contact with the bed.
#ifndef TDL_BENCH_STRAIN_CASES_H
#define TDL_BENCH_STRAIN_CASES_H

#include "bench/friction_nodes.h"
#include "friction/strain.h"

typedef struct StrainCase {
    BodyStrain bed;
    StrainProblem problem;
    int *node, *start, *contact_node, *body;
    double *g, *mu, *bias, *impulse, *mass, *v, *contact_mu;
    TdlMat3* basis;
    size_t size; // components of all rows
} StrainCase;

static inline void strain_free(StrainCase* c) {
    void* all[] = {c->node, c->start,   c->contact_node, c->body, c->g,          c->mu,
                   c->bias, c->impulse, c->mass,         c->v,    c->contact_mu, c->basis};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
        free(all[k]);
    }
    memset(c, 0, sizeof *c);
}

// One row of a stress as it lies: those of its places that have a node. The plane is x, z.
static inline void strain_row(const GrainSlope* s, const double* sums, int stress, bool floor,
                              int* node, double* g) {
    int dim = s->dimension, plane = s->along * s->across, count = 0, least = s->at_nodes ? 0 : 1;
    int x = stress % s->along, z = stress / s->along % s->across, y = stress / plane;
    for (int near = 0; near < 27; ++near) {
        int a = near % 3, b = near / 3 % 3, e = near / 9;
        if (a < least || b < least || (dim == 3 ? e < least : e != 1)) {
            continue;
        }
        const double* from = sums + (size_t)stress * GRAIN_NEAR + (size_t)(3 * near);
        int above = y + b - 1;
        bool there = above >= (floor ? 0 : 1) && above <= s->up &&
                     (from[0] != 0.0 || from[1] != 0.0 || from[2] != 0.0);
        node[count] = there ? grain_node(s, x + a - 1, above, z + e - 1) - (floor ? 0 : plane) : -1;
        // y of the slope is up, which is z here
        g[dim * count] = from[0];
        if (dim == 3) {
            g[dim * count + 1] = from[2];
        }
        g[dim * count + dim - 1] = from[1];
        ++count;
    }
}

// Sorts rows by colours, first fit.
static inline void strain_colours(StrainCase* c, int count, int near, int dim, int nodes) {
    uint64_t* used = calloc((size_t)nodes, sizeof *used);
    int* colour = malloc((size_t)count * sizeof *colour);
    int *list = malloc((size_t)(count * near) * sizeof *list), at = 0;
    double* g = malloc((size_t)count * (size_t)(near * dim) * sizeof *g);
    for (int j = 0; j < count; ++j) {
        uint64_t taken = 0;
        for (int k = 0; k < near; ++k) {
            taken |= c->node[j * near + k] < 0 ? 0 : used[c->node[j * near + k]];
        }
        for (colour[j] = 0; taken >> colour[j] & 1; ++colour[j]) {
        }
        for (int k = 0; k < near; ++k) {
            if (c->node[j * near + k] >= 0) {
                used[c->node[j * near + k]] |= (uint64_t)1 << colour[j];
            }
        }
    }
    int colours = 0;
    for (int k = 0; k < 64 && at < count; ++k) {
        c->start[k] = at;
        for (int j = 0; j < count; ++j) {
            if (colour[j] == k) {
                memcpy(list + (size_t)at * (size_t)near, c->node + (size_t)j * (size_t)near,
                       (size_t)near * sizeof *list);
                memcpy(g + (size_t)at * (size_t)(near * dim),
                       c->g + (size_t)j * (size_t)(near * dim), (size_t)(near * dim) * sizeof *g);
                ++at;
            }
        }
        colours = k + 1;
    }
    c->start[colours] = at;
    c->bed.rows.colour_count = colours;
    free(c->node);
    free(c->g);
    free(used);
    free(colour);
    c->node = list;
    c->g = g;
}

static inline void strain_floor(StrainCase* c, int plane, double mu) {
    TdlFrictionBodiesDef* def = &c->problem.contacts;
    size_t n = (size_t)plane;
    c->contact_node = malloc(n * sizeof *c->contact_node);
    c->contact_mu = malloc(n * sizeof *c->contact_mu);
    c->basis = malloc(n * sizeof *c->basis);
    c->body = malloc(2 * n * sizeof *c->body);
    for (int i = 0; i < plane; ++i) {
        c->contact_node[i] = i;
        c->contact_mu[i] = mu;
        c->basis[i] = (TdlMat3){{0.0, 0.0, -1.0}, {1.0, 0.0, 0.0}, {0.0, -1.0, 0.0}};
        c->body[2 * i] = c->body[2 * i + 1] = -1;
    }
    def->laws.contact_count = plane;
    def->laws.mu = c->contact_mu;
    def->body = c->body;
    c->problem.node = c->contact_node;
    c->problem.basis = c->basis;
}

// A slab at rest, and gravity for a step. `wall` below 0: the lowest nodes are at rest, else they
// slide on the bed with this friction.
static inline void case_strain(StrainCase* c, uint64_t seed, const GrainSlope* s, double wall) {
    NodalCase random = {.random = seed};
    bool floor = wall >= 0.0;
    int dim = s->dimension, plane = s->along * s->across, d = dim == 2 ? 3 : 6;
    int nodes = plane * (s->up + (floor ? 1 : 0)), first = floor ? 0 : plane;
    int count = plane * (s->up + (s->at_nodes ? 1 : 0));
    int near = s->at_nodes ? (dim == 2 ? 9 : 27) : 1 << dim;
    GrainSums sums = grain_sums(&random, s);
    memset(c, 0, sizeof *c);
    c->node = malloc((size_t)(count * near) * sizeof *c->node);
    c->g = malloc((size_t)count * (size_t)(near * dim) * sizeof *c->g);
    c->mu = malloc((size_t)count * sizeof *c->mu);
    c->bias = calloc((size_t)count, sizeof *c->bias);
    c->start = malloc(65 * sizeof *c->start);
    c->size = (size_t)count * (size_t)d;
    c->impulse = calloc(c->size, sizeof *c->impulse);
    c->mass = malloc((size_t)nodes * sizeof *c->mass);
    c->v = calloc(3 * (size_t)nodes, sizeof *c->v);
    for (int j = 0; j < count; ++j) {
        strain_row(s, sums.g, j, floor, c->node + (size_t)j * (size_t)near,
                   c->g + (size_t)j * (size_t)(near * dim));
        c->mu[j] = s->mu * sqrt(2.0 / dim);
    }
    for (int i = 0; i < nodes; ++i) {
        c->mass[i] = sums.mass[i + first];
        c->v[3 * i] = 9.81 * s->dt * sin(s->angle);
        c->v[3 * i + 2] = -9.81 * s->dt * cos(s->angle);
    }
    strain_colours(c, count, near, dim, nodes);
    if (floor) {
        strain_floor(c, plane, wall);
    }
    int colours = c->bed.rows.colour_count;
    c->bed.rows = (StrainRows){dim,   count,   near,     c->node, c->g,
                               c->mu, c->bias, c->start, colours, c->impulse};
    c->bed.node_count = nodes;
    c->bed.mass = c->mass;
    c->bed.spacing = s->spacing;
    c->problem.bed = &c->bed;
    c->problem.v = c->v;
    c->problem.unit = 1.0;
    c->problem.contacts.laws.block_size = 3;
    free(sums.g);
    free(sums.mass);
}

#endif
