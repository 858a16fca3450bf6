// Least squares for rods of clothoids. inverse-fit.md (V.46), (V.47)
//
// As helix_least.c: Gauss and Newton, damped after Levenberg and Marquardt, and solved by going
// from the tip to the root. What is behind an element knows of it by how its start moves and turns,
// and, since neighbours share a joint, by the change of curvature there: nine numbers instead of
// six.
#include "inverse/clothoid_least.h"

#include "math/dense.h"
#include "math/rotation.h"
#include "rod/clothoid.h"

#include <string.h>

enum { ROUNDS_MAX = 30 };

// Weight of q'q against squared distances in units of an element: twist that the points say nothing
// about, where the curve is straight, stays below two turns; it costs 1e-4 of an element where q
// is 1.
static const double STIFFNESS = 1.0e-8;
// A round that gains less than this share of the sum, half of it in distance, is the last.
static const double GAIN = 1.0e-3;
// As in helix_least.c.
static const double DAMPING = 1.0e-3, DAMPING_MAX = 1.0e9, DAMPING_MIN = 1.0e-12;

// Numbers of the state at a joint, z = (shift, turn, change of q), of the control u, which is the
// change of the next q, and of both.
enum { STATE = 9, CONTROL = 3, BOTH = STATE + CONTROL };

// One element: where its samples are and how they move, lengths in units of l, axes of the world.
typedef struct Stage {
    TdlVec3 arm[LEAST_SAMPLES];      // from its start to the samples
    TdlVec3 miss[LEAST_SAMPLES];     // from the targets
    TdlMat3 own[LEAST_SAMPLES][2];   // of the samples by q at either joint
    TdlMat3 turn[2];                 // of its end by the same, rad
    double gain[STATE + 1][CONTROL]; // u for each of z, and for 1 (V.47)
} Stage;

// The least sum of squares from a joint on: z'P z/2 + g'z, P by columns.
typedef struct Value {
    double p[STATE * STATE], g[STATE];
} Value;

// Rows of (z, u), and their products: h = sum C'C by columns, rhs = sum C'r.
typedef struct Normal {
    double h[BOTH * BOTH], rhs[BOTH];
} Normal;

// The states at the samples of an element: one series for as many as it reaches.
static void sample(const Clothoid* c, ClothoidState out[LEAST_SAMPLES]) {
    ClothoidState from;
    ClothoidSeries series;
    double sigma = 0.0;
    int j = 0;
    clothoid_start(&from);
    while (j < LEAST_SAMPLES) {
        double end = clothoid_piece_end(sigma, clothoid_reach(c, sigma));
        clothoid_expand(c, &from, sigma, end - sigma, &series);
        for (; j < LEAST_SAMPLES && (j + 1.0) / LEAST_SAMPLES <= end; ++j) {
            clothoid_sum(&series, ((j + 1.0) / LEAST_SAMPLES - sigma) / (end - sigma), &out[j]);
        }
        clothoid_sum(&series, 1.0, &from);
        sigma = end;
    }
}

// Stages and the sum of squares; infinity where an element turns beyond what can be computed.
static double walk(const ClothoidRod* rod, const TdlVec3* target, Stage* stages) {
    TdlVec3 x = rod->position;
    TdlMat3 frame = rod->rotation;
    double cost = STIFFNESS * tdl_dot3(rod->q[0], rod->q[0]), per_l = 1.0 / rod->l;
    for (int e = 0; e < rod->count; ++e) {
        Stage* s = &stages[e];
        Clothoid c = clothoid_make(rod->q[e], rod->q[e + 1]);
        if (!(tdl_norm3(rod->q[e]) <= CLOTHOID_MAX_TURNING &&
              tdl_norm3(rod->q[e + 1]) <= CLOTHOID_MAX_TURNING)) {
            return INFINITY;
        }
        ClothoidState at[LEAST_SAMPLES];
        sample(&c, at);
        for (int j = 0; j < LEAST_SAMPLES; ++j) {
            s->arm[j] = tdl_mul33_3(frame, clothoid_position(&at[j]));
            for (int a = 0; a < 2; ++a) {
                s->own[j][a] = tdl_mul33(frame, clothoid_displacement(&at[j], a));
            }
            TdlVec3 off = tdl_sub3(x, target[e * LEAST_SAMPLES + j]);
            s->miss[j] = tdl_axpy3(s->arm[j], per_l, off);
            cost += tdl_dot3(s->miss[j], s->miss[j]);
        }
        cost += STIFFNESS * tdl_dot3(rod->q[e + 1], rod->q[e + 1]);
        for (int a = 0; a < 2; ++a) {
            s->turn[a] = tdl_mul33(frame, clothoid_turn(&at[LEAST_SAMPLES - 1], a));
        }
        x = tdl_axpy3(x, rod->l, s->arm[LEAST_SAMPLES - 1]);
        frame = tdl_mul33(frame, clothoid_rotation(&at[LEAST_SAMPLES - 1]));
    }
    return cost < INFINITY ? cost : INFINITY; // a NaN too
}

// --- from the tip to the root
// ---------------------------------------------------------------------

// A block of three rows, by columns of nine.
static void store(TdlMat3 m, int row, int column, double rows[BOTH][STATE]) {
    tdl_store3(&rows[column][row], 0, m.cx);
    tdl_store3(&rows[column + 1][row], 0, m.cy);
    tdl_store3(&rows[column + 2][row], 0, m.cz);
}

// How the end of an element, or a sample of it, follows z and u: its place.
static void fill_place(const Stage* s, int j, double rows[BOTH][STATE]) {
    store(tdl_identity33(), 0, 0, rows);
    store(tdl_scale33(-1.0, tdl_skew3(s->arm[j])), 0, 3, rows);
    store(s->own[j][0], 0, 6, rows);
    store(s->own[j][1], 0, 9, rows);
}

// h += C'W C and rhs += C'w over the first `count` rows; null W: the unit matrix.
static void add_products(int count, double rows[BOTH][STATE], const double* weight,
                         const double* side, Normal* n) {
    for (int j = 0; j < BOTH; ++j) {
        double w[STATE];
        memcpy(w, rows[j], sizeof w);
        for (int r = 0; r < count && weight != NULL; ++r) {
            w[r] = tdl_dot(count, weight + (ptrdiff_t)r * STATE, rows[j]);
        }
        for (int i = 0; i < BOTH; ++i) {
            double sum = 0.0;
            for (int r = 0; r < count; ++r) {
                sum += rows[i][r] * w[r];
            }
            n->h[j * BOTH + i] += sum;
        }
        for (int r = 0; r < count; ++r) {
            n->rhs[j] += rows[j][r] * side[r];
        }
    }
}

// The value before an element from the one behind it, and its gain. `q` is at its end. (V.47)
static void step_back(Stage* s, TdlVec3 q, double damping, Value* v) {
    double rows[BOTH][STATE], matrix[CONTROL * CONTROL];
    const double own[3] = {q.x, q.y, q.z};
    Normal n = {0};
    memset(rows, 0, sizeof rows);
    fill_place(s, LEAST_SAMPLES - 1, rows);
    store(tdl_identity33(), 3, 3, rows);
    store(s->turn[0], 3, 6, rows);
    store(s->turn[1], 3, 9, rows);
    store(tdl_identity33(), 6, 9, rows);
    add_products(STATE, rows, v->p, v->g, &n);
    memset(rows, 0, sizeof rows);
    for (int j = 0; j < LEAST_SAMPLES; ++j) {
        const double miss[3] = {s->miss[j].x, s->miss[j].y, s->miss[j].z};
        fill_place(s, j, rows);
        add_products(3, rows, NULL, miss, &n);
    }
    for (int j = 0; j < CONTROL; ++j) {
        double* column = n.h + (STATE + j) * BOTH + STATE;
        memcpy(matrix + j * CONTROL, column, CONTROL * sizeof *column);
        matrix[j * CONTROL + j] = (column[j] + STIFFNESS) * (1.0 + damping);
        n.rhs[STATE + j] += STIFFNESS * own[j];
    }
    tdl_cholesky(CONTROL, matrix, CONTROL); // positive: the samples see q
    for (int c = 0; c <= STATE; ++c) {
        for (int k = 0; k < CONTROL; ++k) {
            s->gain[c][k] = c < STATE ? -n.h[c * BOTH + STATE + k] : -n.rhs[STATE + k];
        }
    }
    tdl_cholesky_solve(CONTROL, matrix, CONTROL, STATE + 1, s->gain[0], CONTROL);
    for (int j = 0; j <= STATE; ++j) {
        for (int i = 0; i < STATE; ++i) {
            double sum = j < STATE ? n.h[j * BOTH + i] : n.rhs[i];
            sum += tdl_dot(CONTROL, n.h + (ptrdiff_t)i * BOTH + STATE, s->gain[j]);
            *(j < STATE ? &v->p[j * STATE + i] : &v->g[i]) = sum;
        }
    }
}

// --- from the root to the tip
// -----------------------------------------------------------------------

// Turn and curvature of the root, whose place stays: z of the first joint. False: no step.
static bool step_root(const ClothoidRod* rod, const Value* v, double damping, double z[STATE]) {
    enum { FREE = 6 };
    double matrix[FREE * FREE], own[3] = {rod->q[0].x, rod->q[0].y, rod->q[0].z};
    for (int j = 0; j < FREE; ++j) {
        memcpy(matrix + j * FREE, v->p + (3 + j) * STATE + 3, FREE * sizeof *matrix);
        matrix[j * FREE + j] = (matrix[j * FREE + j] + STIFFNESS) * (1.0 + damping);
        z[3 + j] = -v->g[3 + j] - (j < 3 ? 0.0 : STIFFNESS * own[j - 3]);
    }
    if (tdl_cholesky(FREE, matrix, FREE) != FREE) {
        return false;
    }
    tdl_cholesky_solve(FREE, matrix, FREE, 1, z + 3, FREE);
    z[0] = z[1] = z[2] = 0.0;
    return true;
}

// The rod after a step. (V.47)
static bool step_on(const ClothoidRod* rod, const Stage* stages, const Value* v, double damping,
                    ClothoidRod* out) {
    double z[STATE];
    if (!step_root(rod, v, damping, z)) {
        return false;
    }
    out->rotation = tdl_mul33(tdl_rotation_exp(tdl_load3(z, 1)), rod->rotation);
    out->q[0] = tdl_add3(rod->q[0], tdl_load3(z, 2));
    for (int e = 0; e < rod->count; ++e) {
        const Stage* s = &stages[e];
        TdlVec3 u = tdl_load3(s->gain[STATE], 0);
        for (int c = 0; c < STATE; ++c) {
            u = tdl_axpy3(u, z[c], tdl_load3(s->gain[c], 0));
        }
        TdlVec3 shift = tdl_load3(z, 0), turn = tdl_load3(z, 1), change = tdl_load3(z, 2);
        const TdlMat3* own = s->own[LEAST_SAMPLES - 1];
        shift = tdl_add3(shift, tdl_cross3(turn, s->arm[LEAST_SAMPLES - 1]));
        shift = tdl_add3(shift, tdl_mul33_3(own[0], change));
        shift = tdl_add3(shift, tdl_mul33_3(own[1], u));
        turn = tdl_add3(turn, tdl_mul33_3(s->turn[0], change));
        turn = tdl_add3(turn, tdl_mul33_3(s->turn[1], u));
        tdl_store3(z, 0, shift);
        tdl_store3(z, 1, turn);
        tdl_store3(z, 2, u);
        out->q[e + 1] = tdl_add3(rod->q[e + 1], u);
    }
    return true;
}

bool clothoid_least(Arena* arena, ClothoidRod* rod, const TdlVec3* target) {
    ArenaMark mark = arena_mark(arena);
    size_t count = (size_t)rod->count;
    Stage* stages = ARENA_NEW(arena, Stage, count);
    Stage* tried = ARENA_NEW(arena, Stage, count);
    ClothoidRod trial = *rod;
    trial.q = ARENA_NEW(arena, TdlVec3, count + 1);
    if (stages == NULL || tried == NULL || trial.q == NULL) {
        return false;
    }
    double damping = DAMPING, cost = walk(rod, target, stages);
    bool done = !isfinite(cost);
    for (int round = 0; round < ROUNDS_MAX && damping < DAMPING_MAX && !done; ++round) {
        Value v = {0};
        for (int e = rod->count - 1; e >= 0; --e) {
            step_back(&stages[e], rod->q[e + 1], damping, &v);
        }
        bool stepped = step_on(rod, stages, &v, damping, &trial);
        double reached = stepped ? walk(&trial, target, tried) : INFINITY;
        bool better = reached < cost;
        damping = better ? fmax(0.1 * damping, DAMPING_MIN) : 10.0 * damping;
        if (better) {
            done = cost - reached <= GAIN * cost;
            cost = reached;
            rod->rotation = trial.rotation;
            memcpy(rod->q, trial.q, (count + 1) * sizeof *rod->q);
            Stage* other = stages;
            stages = tried;
            tried = other;
        }
    }
    arena_release(arena, mark);
    return true;
}
