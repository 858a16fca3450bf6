// Generated frictional contact problems for tests and benchmarks: stacks, piles and boxes of rigid
// bodies, wisps of fibres, spaghetti. All in velocity space, whitened (y == h), from a seed.
#ifndef TDL_BENCH_FRICTION_CASES_H
#define TDL_BENCH_FRICTION_CASES_H

#include "tendril/friction.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct FrictionCase {
    TdlFrictionBodiesDef def;
    int contact_capacity;
    size_t row_count, row_capacity;
    int* dof_start;
    int* body;
    double *h, *velocity, *u_free, *mu;
    uint64_t random;
} FrictionCase;

static inline double case_unit(FrictionCase* c) {
    uint64_t z = (c->random += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static inline double case_range(FrictionCase* c, double low, double high) {
    return low + (high - low) * case_unit(c);
}

static inline void case_free(FrictionCase* c) {
    free(c->dof_start);
    free(c->body);
    free(c->h);
    free(c->velocity);
    free(c->u_free);
    free(c->mu);
    memset(c, 0, sizeof *c);
}

// `dofs` unknowns in every body
static inline void case_begin(FrictionCase* c, uint64_t seed, int bodies, int dofs) {
    memset(c, 0, sizeof *c);
    c->random = seed;
    c->dof_start = malloc(((size_t)bodies + 1) * sizeof(int));
    c->velocity = calloc((size_t)(bodies * dofs) + 1, sizeof(double));
    for (int k = 0; k <= bodies; ++k) {
        c->dof_start[k] = k * dofs;
    }
    c->def.body_count = bodies;
}

// Adds a contact; rows_a and rows_b are 3 x dofs (whitened), null for an obstacle.
static inline void case_add(FrictionCase* c, int a, const double* rows_a, int b,
                            const double* rows_b, double mu) {
    int n = c->def.laws.contact_count++;
    size_t dofs = (size_t)c->dof_start[1];
    if (n == c->contact_capacity) {
        c->contact_capacity = 2 * n + 16;
        size_t grown = (size_t)c->contact_capacity;
        c->body = realloc(c->body, 2 * grown * sizeof(int));
        c->mu = realloc(c->mu, grown * sizeof(double));
        c->h = realloc(c->h, 6 * dofs * grown * sizeof(double));
    }
    c->body[2 * n] = rows_a == NULL ? -1 : a;
    c->body[2 * n + 1] = rows_b == NULL ? -1 : b;
    c->mu[n] = mu;
    const double* rows[2] = {rows_a, rows_b};
    for (int s = 0; s < 2; ++s) {
        if (rows[s] != NULL) {
            memcpy(c->h + c->row_count, rows[s], 3 * dofs * sizeof(double));
            c->row_count += 3 * dofs;
        }
    }
}

static inline TdlStatus case_problem(FrictionCase* c, const TdlHost* host,
                                     TdlFrictionProblem** out) {
    c->def.laws.block_size = 3;
    c->def.laws.mu = c->mu;
    c->def.dof_start = c->dof_start;
    c->def.velocity = c->velocity;
    c->def.u_free = c->u_free;
    c->def.body = c->body;
    c->def.h = c->h;
    c->def.y = c->h;
    return tdl_friction_problem_create_bodies(host, &c->def, out);
}

// an orthonormal basis whose first row is the unit vector n
static inline void case_basis(const double n[3], double e[9]) {
    double other[3] = {fabs(n[0]) < 0.6 ? 1.0 : 0.0, fabs(n[0]) < 0.6 ? 0.0 : 1.0, 0.0};
    double t[3] = {n[1] * other[2] - n[2] * other[1], n[2] * other[0] - n[0] * other[2],
                   n[0] * other[1] - n[1] * other[0]};
    double norm = sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
    for (int k = 0; k < 3; ++k) {
        e[k] = n[k];
        e[3 + k] = t[k] / norm;
    }
    e[6] = n[1] * e[5] - n[2] * e[4];
    e[7] = n[2] * e[3] - n[0] * e[5];
    e[8] = n[0] * e[4] - n[1] * e[3];
}

// Rows of a rigid body of mass m and inertia j at lever x, in the basis e, whitened; sign +1 or -1.
static inline void case_rigid_rows(const double e[9], const double x[3], double m, double j,
                                   double sign, double rows[18]) {
    for (int k = 0; k < 3; ++k) {
        const double* n = e + 3 * k;
        double torque[3] = {x[1] * n[2] - x[2] * n[1], x[2] * n[0] - x[0] * n[2],
                            x[0] * n[1] - x[1] * n[0]};
        for (int i = 0; i < 3; ++i) {
            rows[6 * k + i] = sign * n[i] / sqrt(m);
            rows[6 * k + 3 + i] = sign * torque[i] / sqrt(j);
        }
    }
}

static inline void case_rigid_velocity(FrictionCase* c, int body, const double v[6], double m,
                                       double j) {
    for (int i = 0; i < 6; ++i) {
        c->velocity[6 * body + i] = v[i] * sqrt(i < 3 ? m : j);
    }
}

// Columns of boxes on a floor, four corners a face: hyperstatic, nu = 2.
static inline void case_stack(FrictionCase* c, uint64_t seed, int columns, int height, double mu) {
    case_begin(c, seed, columns * height, 6);
    double m = 1.0, j = 0.05, dt = 0.01;
    for (int col = 0; col < columns; ++col) {
        for (int k = 0; k < height; ++k) {
            int body = col * height + k;
            double v[6];
            for (int i = 0; i < 6; ++i) {
                v[i] = 0.02 * case_range(c, -1.0, 1.0);
            }
            v[2] -= 9.81 * dt;
            case_rigid_velocity(c, body, v, m, j);
            double tilt = 0.02 * case_range(c, -1.0, 1.0);
            double n[3] = {sin(tilt), 0.0, cos(tilt)}, e[9], up[18], down[18];
            case_basis(n, e);
            for (int corner = 0; corner < 4; ++corner) {
                double px = corner % 2 == 0 ? -0.2 : 0.2, py = corner < 2 ? -0.2 : 0.2;
                double low[3] = {px, py, -0.25}, high[3] = {px, py, 0.25};
                case_rigid_rows(e, low, m, j, 1.0, up);
                case_rigid_rows(e, high, m, j, -1.0, down);
                case_add(c, body, up, body - 1, k == 0 ? NULL : down, mu);
            }
        }
    }
}

// A pile of rocks: so many decades between the lightest and the heaviest, and how far the normals
// of the one to four points of a pair tilt.
typedef struct CasePile {
    int bodies;
    double decades, tilt, mu;
} CasePile;

// A point where rock k leans on another, -1: on floor or wall, along an axis.
static inline void case_lean(FrictionCase* c, const CasePile* pile, const double* mass, int k,
                             int other, int axis) {
    double n[3], e[9], lever[3], back[3], a[18], b[18], norm = 0.0;
    for (int i = 0; i < 3; ++i) {
        n[i] = (i == axis ? 1.0 : 0.0) + pile->tilt * case_range(c, -1.0, 1.0);
        norm += n[i] * n[i];
        lever[i] = i == axis ? -0.5 : 0.4 * case_range(c, -1.0, 1.0);
        back[i] = i == axis ? 0.5 : lever[i];
    }
    for (int i = 0; i < 3; ++i) {
        n[i] /= sqrt(norm);
    }
    case_basis(n, e);
    case_rigid_rows(e, lever, mass[k], 0.1 * mass[k], 1.0, a);
    if (other >= 0) {
        case_rigid_rows(e, back, mass[other], 0.1 * mass[other], -1.0, b);
    }
    case_add(c, k, a, other, other >= 0 ? b : NULL, pile->mu);
}

static inline void case_pile(FrictionCase* c, uint64_t seed, CasePile pile) {
    int bodies = pile.bodies, side = (int)ceil(cbrt((double)bodies));
    case_begin(c, seed, bodies, 6);
    double* mass = malloc((size_t)bodies * sizeof(double));
    for (int k = 0; k < bodies; ++k) {
        mass[k] = pow(10.0, 0.5 * pile.decades * case_range(c, -1.0, 1.0));
        double v[6];
        for (int i = 0; i < 6; ++i) {
            v[i] = 0.05 * case_range(c, -1.0, 1.0);
        }
        v[2] -= 0.1;
        case_rigid_velocity(c, k, v, mass[k], 0.1 * mass[k]);
    }
    for (int k = 0; k < bodies; ++k) {
        int at[3] = {k % side, k / side % side, k / side / side};
        for (int axis = 0; axis < 3; ++axis) {
            int step = axis == 0 ? 1 : axis == 1 ? side : side * side;
            bool floor = axis == 2 && at[2] == 0, wall = axis < 2 && at[axis] == 0;
            int other = floor || wall ? -1 : k - step;
            if (case_unit(c) < (axis == 2 ? 0.0 : 0.4)) {
                continue;
            }
            int points = 1 + (int)(4.0 * case_unit(c));
            for (int p = 0; p < points; ++p) {
                case_lean(c, &pile, mass, k, other, axis);
            }
        }
    }
    free(mass);
}

// Rocks heaped at random, masses over two decades.
static inline void case_rocks(FrictionCase* c, uint64_t seed, int bodies, double mu) {
    case_pile(c, seed, (CasePile){.bodies = bodies, .decades = 2.0, .tilt = 0.5, .mu = mu});
}

// Rubble: masses over many decades, and points whose normals have little to do with each other.
static inline void case_rubble(FrictionCase* c, uint64_t seed, int bodies, double decades,
                               double mu) {
    case_pile(c, seed, (CasePile){.bodies = bodies, .decades = decades, .tilt = 0.8, .mu = mu});
}

// Moves a sphere out of another by half of what they overlap, or out of a wall at x = 0 or 1 by
// all.
static inline void case_part_spheres(double* a, double* b, double radius) {
    double x[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    double apart = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (int i = 0; i < 3 && apart < 2.0 * radius; ++i) {
        double half = 0.5 * (2.0 * radius - apart) * x[i] / apart;
        a[i] -= half;
        b[i] += half;
    }
}

// Lets spheres sink in a box one wide, parted from each other and from walls and floor after each
// of many small moves down, until they lie.
static inline void case_settle_spheres(double* at, int count, double radius) {
    enum { MOVES = 400, MOVING = 350 };
    for (int move = 0; move < MOVES; ++move) {
        for (int k = 0; k < count; ++k) {
            at[3 * k + 2] -= move < MOVING ? 0.05 * radius : 0.0;
            for (int j = 0; j < k; ++j) {
                case_part_spheres(at + 3 * k, at + 3 * j, radius);
            }
            for (int i = 0; i < 3; ++i) {
                double* x = at + 3 * k + i;
                *x = *x < radius ? radius : i < 2 && *x > 1.0 - radius ? 1.0 - radius : *x;
            }
        }
    }
}

static inline void case_touch_sphere(FrictionCase* c, int a, int b, double radius,
                                     const double n[3], double mu) {
    double e[9], lever[3], back[3], rows[2][18], m = 1.0, j = 0.4 * radius * radius;
    case_basis(n, e);
    for (int i = 0; i < 3; ++i) {
        lever[i] = -radius * n[i];
        back[i] = radius * n[i];
    }
    case_rigid_rows(e, lever, m, j, 1.0, rows[0]);
    case_rigid_rows(e, back, m, j, -1.0, rows[1]);
    case_add(c, a, rows[0], b, b < 0 ? NULL : rows[1], mu);
}

// Equal spheres at rest in a box: contacts where they are nearer than a hundredth of their radius.
static inline void case_spheres(FrictionCase* c, uint64_t seed, int count, double mu) {
    case_begin(c, seed, count, 6);
    int side = (int)ceil(cbrt(2.0 * count) / 1.5);
    double radius = 0.5 / (side + 0.4), near = 0.01 * radius, fall = 9.81 * 0.01;
    double* at = malloc(3 * (size_t)count * sizeof(double));
    for (int k = 0; k < count; ++k) {
        int cell[3] = {k % side, k / side % side, k / side / side};
        double v[6] = {0.0, 0.0, -fall, 0.0, 0.0, 0.0};
        for (int i = 0; i < 3; ++i) {
            at[3 * k + i] = radius * (2.1 * cell[i] + 1.0 + 0.3 * case_range(c, -1.0, 1.0));
        }
        case_rigid_velocity(c, k, v, 1.0, 0.4 * radius * radius);
    }
    case_settle_spheres(at, count, radius);
    for (int a = 0; a < count; ++a) {
        for (int b = 0; b < a; ++b) {
            double n[3], apart = 0.0;
            for (int i = 0; i < 3; ++i) {
                n[i] = at[3 * a + i] - at[3 * b + i];
                apart += n[i] * n[i];
            }
            apart = sqrt(apart);
            for (int i = 0; i < 3; ++i) {
                n[i] /= apart;
            }
            if (apart < 2.0 * radius + near) {
                case_touch_sphere(c, a, b, radius, n, mu);
            }
        }
        for (int wall = 0; wall < 5; ++wall) {
            double x = at[3 * a + wall / 2], n[3] = {0.0, 0.0, 0.0};
            n[wall / 2] = wall % 2 == 0 ? 1.0 : -1.0;
            if ((wall % 2 == 0 ? x : 1.0 - x) < radius + near) {
                case_touch_sphere(c, a, -1, radius, n, mu);
            }
        }
    }
    free(at);
}

// Lower Cholesky factor by rows of a small dense matrix.
static inline void case_cholesky(double* a, int k) {
    for (int i = 0; i < k; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = a[i * k + j];
            for (int m = 0; m < j; ++m) {
                sum -= a[i * k + m] * a[j * k + m];
            }
            a[i * k + j] = i == j ? sqrt(sum) : sum / a[j * k + j];
        }
    }
}

// row <- L^-1 row
static inline void case_whiten(const double* l, int k, double* row) {
    for (int i = 0; i < k; ++i) {
        for (int m = 0; m < i; ++m) {
            row[i] -= l[i * k + m] * row[m];
        }
        row[i] /= l[i * k + i];
    }
}

// Implicit mass-spring chains of `nodes` nodes with both ends free (S1 section 5.2), A the same for
// all up to its own direction; contacts join random points of neighbouring rods, or the plate.
static inline void case_spaghetti(FrictionCase* c, uint64_t seed, int rods, int nodes, int contacts,
                                  double mu) {
    int k = 3 * nodes;
    case_begin(c, seed, rods, k);
    double* l = calloc((size_t)(k * k), sizeof(double));
    double* rows = malloc(2 * 3 * (size_t)k * sizeof(double));
    double dt = 1.0e-3, m = 1.0e-4, stretch = 200.0, bend = 2.0;
    for (int i = 0; i < nodes; ++i) {
        for (int x = 0; x < 3; ++x) {
            int at = 3 * i + x;
            l[at * k + at] += m;
            for (int reach = 1; reach <= 2; ++reach) {
                double stiff = dt * dt * (x == 0 && reach == 1 ? stretch : bend);
                if (i + reach < nodes) {
                    int to = at + 3 * reach;
                    l[at * k + at] += stiff;
                    l[to * k + to] += stiff;
                    l[to * k + at] -= stiff;
                    l[at * k + to] -= stiff;
                }
            }
        }
    }
    case_cholesky(l, k);
    for (int rod = 0; rod < rods; ++rod) {
        for (int i = 0; i < k; ++i) {
            c->velocity[rod * k + i] = 0.05 * case_range(c, -1.0, 1.0) - (i % 3 == 2 ? 0.2 : 0.0);
        }
        // v^ = L'v
        for (int i = 0; i < k; ++i) {
            double sum = 0.0;
            for (int j = i; j < k; ++j) {
                sum += l[j * k + i] * c->velocity[rod * k + j];
            }
            c->velocity[rod * k + i] = sum;
        }
    }
    for (int q = 0; q < contacts; ++q) {
        int a = (int)(case_unit(c) * rods), reach = 1 + (int)(case_unit(c) * 4.0);
        int b = case_unit(c) < 0.2 ? -1 : a - reach;
        double n[3] = {0.1 * case_range(c, -1.0, 1.0), 0.6 * case_range(c, -1.0, 1.0), 1.0}, e[9];
        double norm = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int i = 0; i < 3; ++i) {
            n[i] /= norm;
        }
        case_basis(n, e);
        memset(rows, 0, 6 * (size_t)k * sizeof(double));
        for (int side = 0; side < 2; ++side) {
            int node = (int)(case_unit(c) * (nodes - 1));
            double s = case_unit(c), sign = side == 0 ? 1.0 : -1.0;
            for (int r = 0; r < 3; ++r) {
                double* row = rows + (3 * side + r) * k;
                for (int i = 0; i < 3; ++i) {
                    row[3 * node + i] = sign * (1.0 - s) * e[3 * r + i];
                    row[3 * node + 3 + i] = sign * s * e[3 * r + i];
                }
                case_whiten(l, k, row);
            }
        }
        case_add(c, a, rows, b, b < 0 ? NULL : rows + 3 * k, mu);
    }
    free(l);
    free(rows);
}

// A wisp: fibres clamped at the root with `elements` curvature elements of three unknowns each; a
// contact at arc length s moves only with the elements before it, by a lever that grows with the
// distance. Each fibre touches its neighbours about `per_fibre` times.
static inline void case_wisp(FrictionCase* c, uint64_t seed, int fibres, int elements,
                             int per_fibre, double mu) {
    int k = 3 * elements;
    case_begin(c, seed, fibres, k);
    double* rows = malloc(2 * 3 * (size_t)k * sizeof(double));
    for (int i = 0; i < fibres * k; ++i) {
        c->velocity[i] = 0.3 * case_range(c, -1.0, 1.0);
    }
    int contacts = fibres * per_fibre / 2;
    for (int q = 0; q < contacts; ++q) {
        int a = q % fibres, b = a + 1 + (int)(case_unit(c) * 3.0);
        if (b >= fibres) {
            b = a - 1 - (int)(case_unit(c) * (a < 3 ? a : 3));
        }
        double place = case_range(c, 0.1, 1.0);
        for (int side = 0; side < 2; ++side) {
            double s = place + 0.02 * case_range(c, -1.0, 1.0);
            for (int r = 0; r < 3; ++r) {
                double* row = rows + (3 * side + r) * k;
                for (int e = 0; e < elements; ++e) {
                    double lever = s - (double)e / elements;
                    // bending is soft, twist moves little, and stiffness grows against the root
                    for (int i = 0; i < 3; ++i) {
                        double size = i == r ? 1.0 : 0.2 * case_range(c, -1.0, 1.0);
                        row[3 * e + i] = lever > 0.0 ? (side == 0 ? 1.0 : -1.0) * size * lever *
                                                           (1.0 + 0.2 * case_range(c, -1.0, 1.0))
                                                     : 0.0;
                    }
                }
            }
        }
        case_add(c, a, rows, b, rows + 3 * k, mu);
    }
    free(rows);
}

#endif
