// A rope between two holds by collocation: the planar elastic rod with stretch, shear and weight as
// a boundary value problem, which is not how any of our models sees it. With the force n = (H, V)
// of what lies beyond s on what lies before it, t = (cos theta, sin theta) and t' across it,
//   r' = (1 + n.t/EA) t + (n.t'/GA) t',   EI theta' = M,   M' = -(x' V - z' H),   H' = 0,   V' = w
// and three conditions at each end. taut-rods.md (E.1) Lengths are in rod lengths, forces in
// EI/L^2, moments in EI/L. Simpson's rule over cubics in each interval (order 4), Newton's method,
// continuation of the weight, of the end's place and of the stretch; meshes are doubled until
// nothing changes.
#ifndef TDL_TEST_ROPE_REF_H
#define TDL_TEST_ROPE_REF_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ROPE_SAMPLES = 256, ROPE_STATE = 6, ROPE_BAND = 8, ROPE_MESHES = 8 };
enum { ROPE_X, ROPE_Z, ROPE_THETA, ROPE_M, ROPE_H, ROPE_V };

typedef struct RopeProblem {
    double length, weight;          // m; N/m of unstretched length, downwards (-z)
    double bending, stretch, shear; // N m^2, N, N: EI, EA, GA; the last two may be INFINITY
    double x, z;                    // m, of the end as seen from the start
    bool clamped[2];                // start, end; else pinned
    double angle[2];                // rad, of the tangents, where clamped
} RopeProblem;

typedef struct RopeAnswer {
    double sag;         // m, of the point at half the arc length, below the middle of the chord
    double horizontal;  // N, tension
    double force[2][2]; // N, (x, z): what the holds do to the rod at its start and end
    double moment[2];   // N m, EI theta' there
    double elastic;     // J
    double error;       // between the last two meshes, of sag and horizontal over the end's force
    int intervals;
    double x[ROPE_SAMPLES + 1], z[ROPE_SAMPLES + 1], theta[ROPE_SAMPLES + 1]; // at even s
} RopeAnswer;

// The problem without units, as continuation changes it.
typedef struct RopeNumbers {
    double weight, a, b, x, z, angle[2]; // a = EI/EA L^2, b = EI/GA L^2
    bool clamped[2];
} RopeNumbers;

// On n intervals: places s of the nodes, states, matrix and right-hand side.
typedef struct RopeMesh {
    int n;
    double* s;    // [n + 1]
    double* y;    // [6 (n + 1)]
    double* band; // [rows][3 ROPE_BAND + 1]
    double* rhs;  // [6 (n + 1)]
} RopeMesh;

static inline RopeMesh rope_mesh(int n) {
    size_t rows = ROPE_STATE * ((size_t)n + 1);
    RopeMesh mesh = {n, malloc(((size_t)n + 1) * sizeof(double)), calloc(rows, sizeof(double)),
                     malloc(rows * (3 * ROPE_BAND + 1) * sizeof(double)),
                     malloc(rows * sizeof(double))};
    if (mesh.s == NULL || mesh.y == NULL || mesh.band == NULL || mesh.rhs == NULL) {
        abort();
    }
    for (int i = 0; i <= n; ++i) { // ten times finer at the ends, where layers of sqrt(EI/T) are
        double u = (double)i / n, tau = 6.28318530717958648;
        mesh.s[i] = u - 0.9 / tau * sin(tau * u);
    }
    return mesh;
}

static inline void rope_mesh_free(RopeMesh* mesh) {
    free(mesh->s);
    free(mesh->y);
    free(mesh->band);
    free(mesh->rhs);
    *mesh = (RopeMesh){0};
}

// The slope f of the state, and its derivative J by the state (null: not wanted).
static inline void rope_slope(const RopeNumbers* p, const double* y, double* f,
                              double J[ROPE_STATE][ROPE_STATE]) {
    double c = cos(y[ROPE_THETA]), s = sin(y[ROPE_THETA]), H = y[ROPE_H], V = y[ROPE_V];
    double N = H * c + V * s, Q = V * c - H * s, along = 1.0 + p->a * N, across = p->b * Q;
    double x = along * c - across * s, z = along * s + across * c;
    f[ROPE_X] = x;
    f[ROPE_Z] = z;
    f[ROPE_THETA] = y[ROPE_M];
    f[ROPE_M] = z * H - x * V;
    f[ROPE_H] = 0.0;
    f[ROPE_V] = p->weight;
    if (J == NULL) {
        return;
    }
    memset(J, 0, sizeof(double[ROPE_STATE][ROPE_STATE]));
    // dN/dtheta = Q, dQ/dtheta = -N
    double dx[3] = {-z + p->a * Q * c + p->b * N * s, p->a * c * c + p->b * s * s,
                    (p->a - p->b) * s * c};
    double dz[3] = {x + p->a * Q * s - p->b * N * c, (p->a - p->b) * s * c,
                    p->a * s * s + p->b * c * c};
    const int column[3] = {ROPE_THETA, ROPE_H, ROPE_V};
    for (int k = 0; k < 3; ++k) {
        J[ROPE_X][column[k]] = dx[k];
        J[ROPE_Z][column[k]] = dz[k];
        J[ROPE_M][column[k]] = dz[k] * H - dx[k] * V + (k == 1 ? z : k == 2 ? -x : 0.0);
    }
    J[ROPE_THETA][ROPE_M] = 1.0;
}

static inline double* rope_entry(RopeMesh* mesh, int row, int column) {
    return mesh->band + (size_t)row * (3 * ROPE_BAND + 1) + (column - row + ROPE_BAND);
}

// Residual and rows of one interval: y1 - y0 - h/6 (f0 + 4 fm + f1), with the cubic's middle. (E.2)
static inline void rope_interval(const RopeNumbers* p, RopeMesh* mesh, int i) {
    enum { S = ROPE_STATE };
    double h = mesh->s[i + 1] - mesh->s[i], f[3][S], J[3][S][S], middle[S];
    const double* y = mesh->y + (size_t)S * (size_t)i;
    rope_slope(p, y, f[0], J[0]);
    rope_slope(p, y + S, f[2], J[2]);
    for (int k = 0; k < S; ++k) {
        middle[k] = 0.5 * (y[k] + y[S + k]) + h / 8.0 * (f[0][k] - f[2][k]);
    }
    rope_slope(p, middle, f[1], J[1]);
    for (int k = 0; k < S; ++k) {
        int row = 3 + S * i + k;
        mesh->rhs[row] = y[k] - y[S + k] + h / 6.0 * (f[0][k] + 4.0 * f[1][k] + f[2][k]);
        for (int m = 0; m < S; ++m) {
            double product[2] = {0.0, 0.0}; // of the middle's J with those at the ends
            for (int l = 0; l < S; ++l) {
                product[0] += J[1][k][l] * J[0][l][m];
                product[1] += J[1][k][l] * J[2][l][m];
            }
            double unit = k == m ? 1.0 : 0.0;
            *rope_entry(mesh, row, S * i + m) =
                -unit - h / 6.0 * (J[0][k][m] + 2.0 * J[1][k][m] + 0.5 * h * product[0]);
            *rope_entry(mesh, row, S * (i + 1) + m) =
                unit - h / 6.0 * (J[2][k][m] + 2.0 * J[1][k][m] - 0.5 * h * product[1]);
        }
    }
}

static inline void rope_conditions(const RopeNumbers* p, RopeMesh* mesh) {
    for (int end = 0; end < 2; ++end) {
        int node = end == 0 ? 0 : mesh->n, row = end == 0 ? 0 : ROPE_STATE * mesh->n + 3;
        const double* y = mesh->y + (size_t)ROPE_STATE * (size_t)node;
        double wanted[3] = {end == 0 ? 0.0 : p->x, end == 0 ? 0.0 : p->z,
                            p->clamped[end] ? p->angle[end] : 0.0};
        int which[3] = {ROPE_X, ROPE_Z, p->clamped[end] ? ROPE_THETA : ROPE_M};
        for (int k = 0; k < 3; ++k) {
            mesh->rhs[row + k] = wanted[k] - y[which[k]];
            *rope_entry(mesh, row + k, ROPE_STATE * node + which[k]) = 1.0;
        }
    }
}

// Gaussian elimination in the band with row exchanges; the answer takes the place of rhs.
static inline void rope_band_solve(RopeMesh* mesh) {
    int rows = ROPE_STATE * (mesh->n + 1);
    for (int k = 0; k < rows; ++k) {
        int last = k + ROPE_BAND < rows ? k + ROPE_BAND : rows - 1, pivot = k;
        int right = k + 2 * ROPE_BAND < rows ? k + 2 * ROPE_BAND : rows - 1;
        for (int i = k + 1; i <= last; ++i) {
            pivot = fabs(*rope_entry(mesh, i, k)) > fabs(*rope_entry(mesh, pivot, k)) ? i : pivot;
        }
        for (int j = k; pivot != k && j <= right; ++j) {
            double keep = *rope_entry(mesh, k, j);
            *rope_entry(mesh, k, j) = *rope_entry(mesh, pivot, j);
            *rope_entry(mesh, pivot, j) = keep;
        }
        double keep = mesh->rhs[k];
        mesh->rhs[k] = mesh->rhs[pivot];
        mesh->rhs[pivot] = keep;
        for (int i = k + 1; i <= last; ++i) {
            double factor = *rope_entry(mesh, i, k) / *rope_entry(mesh, k, k);
            for (int j = k + 1; factor != 0.0 && j <= right; ++j) {
                *rope_entry(mesh, i, j) -= factor * *rope_entry(mesh, k, j);
            }
            mesh->rhs[i] -= factor * mesh->rhs[k];
        }
    }
    for (int k = rows - 1; k >= 0; --k) {
        int right = k + 2 * ROPE_BAND < rows ? k + 2 * ROPE_BAND : rows - 1;
        for (int j = k + 1; j <= right; ++j) {
            mesh->rhs[k] -= *rope_entry(mesh, k, j) * mesh->rhs[j];
        }
        mesh->rhs[k] /= *rope_entry(mesh, k, k);
    }
}

// One of Newton's steps. Returns the largest change, each state in its own largest value or 1.
static inline double rope_newton_step(const RopeNumbers* p, RopeMesh* mesh) {
    size_t rows = ROPE_STATE * ((size_t)mesh->n + 1);
    memset(mesh->band, 0, rows * (3 * ROPE_BAND + 1) * sizeof(double));
    for (int i = 0; i < mesh->n; ++i) {
        rope_interval(p, mesh, i);
    }
    rope_conditions(p, mesh);
    rope_band_solve(mesh);
    double scale[ROPE_STATE] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}, change = 0.0;
    for (size_t i = 0; i < rows; ++i) {
        scale[i % ROPE_STATE] = fmax(scale[i % ROPE_STATE], fabs(mesh->y[i]));
    }
    for (size_t i = 0; i < rows; ++i) {
        mesh->y[i] += mesh->rhs[i];
        double now = fabs(mesh->rhs[i]) / scale[i % ROPE_STATE];
        change = now <= change ? change : now; // a NaN stays
    }
    return change;
}

// From a near guess; false where it was not near.
static inline bool rope_newton(const RopeNumbers* p, RopeMesh* mesh) {
    double before = INFINITY;
    for (int k = 0; k < 14; ++k) {
        double change = rope_newton_step(p, mesh);
        if (!(change < 3.0) || (k > 2 && change > 1.0e-6 && change > before)) {
            return false;
        }
        if (change < 1.0e-10) {
            return true;
        }
        before = change;
    }
    return before < 1.0e-8; // as far as rounding lets it
}

static inline double rope_mix(double a, double b, double share) {
    return a + share * (b - a);
}

static inline RopeNumbers rope_between(const RopeNumbers* p, const RopeNumbers* q, double share) {
    RopeNumbers out = *q;
    out.weight = rope_mix(p->weight, q->weight, share);
    out.a = rope_mix(p->a, q->a, share);
    out.b = rope_mix(p->b, q->b, share);
    out.x = rope_mix(p->x, q->x, share);
    out.z = rope_mix(p->z, q->z, share);
    for (int k = 0; k < 2; ++k) {
        out.angle[k] = rope_mix(p->angle[k], q->angle[k], share);
    }
    return out;
}

static inline double rope_turned(const RopeMesh* mesh, const double* from) {
    double most = 0.0;
    for (int i = 0; i <= mesh->n; ++i) {
        size_t k = ROPE_STATE * (size_t)i + ROPE_THETA;
        most = fmax(most, fabs(mesh->y[k] - from[k]));
    }
    return most;
}

// Follows the shape from problem p, whose solution the mesh has, to q. A step that turns any part
// by more than 0.1 rad beyond what the last two foretell is halved: no branch is jumped to.
static inline bool rope_follow(const RopeNumbers* p, const RopeNumbers* q, RopeMesh* mesh) {
    size_t rows = ROPE_STATE * ((size_t)mesh->n + 1), bytes = rows * sizeof(double);
    double *last = malloc(bytes), *guess = malloc(bytes), *rate = calloc(rows, sizeof(double));
    if (last == NULL || guess == NULL || rate == NULL) {
        abort();
    }
    double done = 0.0, step = 1.0e-3;
    while (done < 1.0 && step > 1.0e-12) {
        double next = fmin(done + step, 1.0);
        RopeNumbers now = rope_between(p, q, next);
        memcpy(last, mesh->y, bytes);
        for (size_t i = 0; i < rows; ++i) {
            guess[i] = mesh->y[i] += (next - done) * rate[i];
        }
        if (rope_newton(&now, mesh) && rope_turned(mesh, guess) < 0.1) {
            double share = rope_turned(mesh, guess) < 0.01 ? 2.0 : 1.2;
            for (size_t i = 0; i < rows; ++i) {
                rate[i] = (mesh->y[i] - last[i]) / (next - done);
            }
            done = next;
            step *= share;
        } else {
            memcpy(mesh->y, last, bytes);
            step *= 0.25;
        }
    }
    free(last);
    free(guess);
    free(rate);
    return done >= 1.0;
}

// The state at s, by the cubic of its interval.
static inline void rope_at(const RopeNumbers* p, const RopeMesh* mesh, double s, double* out) {
    int low = 0, high = mesh->n;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        *(mesh->s[middle] <= s ? &low : &high) = middle;
    }
    const double *y0 = mesh->y + (size_t)ROPE_STATE * (size_t)low, *y1 = y0 + ROPE_STATE;
    double h = mesh->s[low + 1] - mesh->s[low], t = (s - mesh->s[low]) / h;
    double f0[ROPE_STATE], f1[ROPE_STATE];
    rope_slope(p, y0, f0, NULL);
    rope_slope(p, y1, f1, NULL);
    for (int k = 0; k < ROPE_STATE; ++k) {
        out[k] = (1.0 - t) * (1.0 - t) * ((1.0 + 2.0 * t) * y0[k] + t * h * f0[k]) +
                 t * t * ((3.0 - 2.0 * t) * y1[k] - (1.0 - t) * h * f1[k]);
    }
}

static inline RopeNumbers rope_numbers(const RopeProblem* def) {
    double L = def->length, EI = def->bending;
    return (RopeNumbers){def->weight * L * L * L / EI,
                         EI / (def->stretch * L * L),
                         EI / (def->shear * L * L),
                         def->x / L,
                         def->z / L,
                         {def->angle[0], def->angle[1]},
                         {def->clamped[0], def->clamped[1]}};
}

// On a coarse mesh: the weight comes on the straight rod, then its end is moved, then the weight
// and the stretch lent to it on the way are taken back. A weight of 30 tells a stiff rod which way
// to buckle: down.
static inline bool rope_reach(const RopeNumbers* p, RopeMesh* mesh) {
    RopeNumbers straight = *p, loaded, moved = *p;
    straight.weight = straight.z = straight.angle[0] = straight.angle[1] = 0.0;
    straight.x = 1.0;
    straight.a = fmax(p->a, fmin(1.0e-5, 5.0e-3 / fmax(p->weight, 1.0e-300)));
    loaded = straight;
    loaded.weight = moved.weight = fmax(p->weight, 30.0);
    moved.a = straight.a;
    for (int i = 0; i <= mesh->n; ++i) {
        mesh->y[(size_t)ROPE_STATE * (size_t)i + ROPE_X] = mesh->s[i];
    }
    return rope_follow(&straight, &loaded, mesh) && rope_follow(&loaded, &moved, mesh) &&
           rope_follow(&moved, p, mesh);
}

// The same shape on twice as many intervals, solved there.
static inline bool rope_refine(const RopeNumbers* p, RopeMesh* mesh) {
    RopeMesh fine = rope_mesh(2 * mesh->n);
    for (int i = 0; i <= fine.n; ++i) {
        rope_at(p, mesh, fine.s[i], fine.y + (size_t)ROPE_STATE * (size_t)i);
    }
    rope_mesh_free(mesh);
    *mesh = fine;
    return rope_newton(p, mesh);
}

static inline double rope_elastic(const RopeNumbers* p, const RopeMesh* mesh) {
    double sum = 0.0;
    for (int i = 0; i < mesh->n; ++i) {
        double h = mesh->s[i + 1] - mesh->s[i];
        for (int k = 0; k < 3; ++k) { // Simpson
            double y[ROPE_STATE];
            rope_at(p, mesh, mesh->s[i] + 0.5 * k * h, y);
            double c = cos(y[ROPE_THETA]), s = sin(y[ROPE_THETA]);
            double N = y[ROPE_H] * c + y[ROPE_V] * s, Q = y[ROPE_V] * c - y[ROPE_H] * s;
            sum += (k == 1 ? 4.0 : 1.0) * h / 12.0 *
                   (y[ROPE_M] * y[ROPE_M] + p->a * N * N + p->b * Q * Q);
        }
    }
    return sum;
}

static inline void rope_tell(const RopeProblem* def, const RopeNumbers* p, const RopeMesh* mesh,
                             RopeAnswer* out) {
    double L = def->length, force = def->bending / (L * L), y[ROPE_STATE];
    for (int i = 0; i <= ROPE_SAMPLES; ++i) {
        rope_at(p, mesh, (double)i / ROPE_SAMPLES, y);
        out->x[i] = L * y[ROPE_X];
        out->z[i] = L * y[ROPE_Z];
        out->theta[i] = y[ROPE_THETA];
        out->sag = i == ROPE_SAMPLES / 2 ? 0.5 * def->z - out->z[i] : out->sag;
    }
    for (int end = 0; end < 2; ++end) {
        const double* at = mesh->y + (end == 0 ? 0 : (size_t)ROPE_STATE * (size_t)mesh->n);
        double sign = end == 0 ? -1.0 : 1.0;
        out->force[end][0] = sign * force * at[ROPE_H];
        out->force[end][1] = sign * force * at[ROPE_V];
        out->moment[end] = force * L * at[ROPE_M];
    }
    out->horizontal = out->force[1][0];
    out->elastic = force * L * rope_elastic(p, mesh);
    out->intervals = mesh->n;
}

// False where there is no such shape, or it was not reached.
static inline bool rope_solve(const RopeProblem* def, double tolerance, RopeAnswer* out) {
    RopeNumbers p = rope_numbers(def);
    RopeMesh mesh = rope_mesh(256);
    bool reached = rope_reach(&p, &mesh);
    memset(out, 0, sizeof *out);
    out->error = INFINITY;
    for (int k = 0; reached && k < ROPE_MESHES && out->error > tolerance; ++k) {
        double sag = out->sag, horizontal = out->horizontal;
        rope_tell(def, &p, &mesh, out);
        double scale = hypot(out->force[1][0], out->force[1][1]);
        if (isfinite(def->stretch)) { // places are known to rounding, and strains by them
            scale = fmax(scale, 1.0e-6 * def->stretch);
        }
        out->error = k == 0 ? INFINITY
                            : fmax(fabs(out->sag - sag) / fmax(fabs(sag), 1.0e-6 * def->length),
                                   fabs(out->horizontal - horizontal) / scale);
        reached = out->error <= tolerance || rope_refine(&p, &mesh);
    }
    rope_mesh_free(&mesh);
    return reached && out->error <= tolerance;
}

// The mean of the tension along the rod.
static inline double rope_mean_tension(const RopeProblem* def, const RopeAnswer* answer) {
    double sum = 0.0;
    for (int i = 0; i <= ROPE_SAMPLES; ++i) {
        double share = (double)i / ROPE_SAMPLES, end = i == 0 || i == ROPE_SAMPLES ? 0.5 : 1.0;
        double V = def->weight * def->length * share - answer->force[0][1];
        sum += end / ROPE_SAMPLES *
               (answer->horizontal * cos(answer->theta[i]) + V * sin(answer->theta[i]));
    }
    return sum;
}

// The same rod when all of it stretches alike, by the share e that makes the sum of EA L e^2/2 and
// of what the rest of it has stationary: EA e is the mean tension of a rod that is (1 + e) L long,
// has its weight, and bends by angle per unstretched length (E.4). The search starts from the
// answer of rope_solve, in `out`.
static inline bool rope_solve_alike(const RopeProblem* def, double tolerance, RopeAnswer* out) {
    double e = rope_mean_tension(def, out) / def->stretch, before = 0.0, miss = 0.0;
    for (int k = 0; k < 40; ++k) {
        RopeProblem p = *def;
        p.length *= 1.0 + e;
        p.weight /= 1.0 + e;
        p.bending *= 1.0 + e;
        p.stretch = INFINITY;
        if (!rope_solve(&p, 0.1 * tolerance, out)) {
            return false;
        }
        double now = rope_mean_tension(&p, out) / def->stretch - e;
        double step = k == 0 ? copysign(1.0e-3 * e, now) : -now * (e - before) / (now - miss);
        before = e;
        miss = now;
        e += step;
        if (k > 0 && fabs(step) < tolerance * fabs(e)) {
            return true;
        }
    }
    return false;
}

// A round rod along x of one of our materials, its ends `span` apart.
static inline RopeProblem rope_of_rod(double length, double radius, double young, double density,
                                      double gravity, double span, bool clamped) {
    const double pi = 3.14159265358979323846;
    double area = pi * radius * radius;
    return (RopeProblem){.length = length,
                         .weight = density * area * gravity,
                         .bending = 0.25 * young * area * radius * radius,
                         .stretch = young * area,
                         .shear = INFINITY,
                         .x = span,
                         .clamped = {clamped, clamped}};
}

#endif
