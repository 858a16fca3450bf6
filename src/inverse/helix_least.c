// Least squares for rods of helices. inverse-fit.md (V.24) to (V.27)
//
// Newton's matrix without second derivatives (Gauss and Newton), damped after Levenberg and
// Marquardt. A change of an element's q moves all that comes behind it, so the matrix is full; but
// what comes behind only knows by how much its start moves and turns. So the least sum of squares
// from element e on is a quadratic of those six numbers, found from the tip backwards, and the
// steps follow from the root on. Linear in the number of elements; about a microsecond each and
// round.
#include "inverse/helix_least.h"

#include "rod/helix.h"

#include <string.h>

enum { ROUNDS_MAX = 30 };

// Weight of q'q against squared distances in units of an element: twist that the points say nothing
// about stays small, far below the resolution of single precision.
static const double STIFFNESS = 1.0e-12;

// A round that gains less than this share of the squares is the last: distances would shrink by
// half as much.
static const double GAIN = 1.0e-3;

static const double DAMPING = 1.0e-3, DAMPING_MAX = 1.0e9, DAMPING_MIN = 1.0e-12;

// --- the first guess --------------------------------------------------------------------------

enum { STEPS_MAX = 32 };

// The rotation that takes one unit vector to another by the shortest way; none for opposite ones.
static TdlVec3 shortest_turn(TdlVec3 from, TdlVec3 to) {
    TdlVec3 axis = tdl_cross3(from, to);
    double sine = tdl_norm3(axis), cosine = tdl_dot3(from, to);
    return sine > 0.0 ? tdl_scale3(atan2(sine, cosine) / sine, axis) : (TdlVec3){0};
}

void helix_guess(const TdlVec3* tangents, int steps, LeastRod* rod) {
    TdlMat3 frame = tdl_frame_from_tangent(tangents[0]); // carried without twist
    double turned = 0.0;                                 // by the twist of all elements before
    rod->rotation = frame;
    for (int e = 0; e < rod->count; ++e) {
        double bend[STEPS_MAX][2], re = 0.0, im = 0.0;
        for (int j = 0; j < steps; ++j) {
            TdlVec3 turn = shortest_turn(frame.cx, tangents[e * steps + j + 1]);
            TdlVec3 local = tdl_tmul33_3(frame, turn);
            frame = tdl_mul33(tdl_rotation_exp(turn), frame);
            bend[j][0] = local.y;
            bend[j][1] = local.z;
            if (j > 0) { // times the conjugate of the one before
                re += local.y * bend[j - 1][0] + local.z * bend[j - 1][1];
                im += local.z * bend[j - 1][0] - local.y * bend[j - 1][1];
            }
        }
        double phase = re > 0.0 ? atan2(im, re) : 0.0;
        rod->q[e] = (TdlVec3){phase * steps, 0.0, 0.0};
        for (int j = 0; j < steps; ++j) {
            double c = cos(turned + phase * (j + 0.5)), s = sin(turned + phase * (j + 0.5));
            rod->q[e].y += c * bend[j][0] + s * bend[j][1];
            rod->q[e].z += c * bend[j][1] - s * bend[j][0];
        }
        turned += rod->q[e].x;
    }
}

// --- stages -----------------------------------------------------------------------------------

// One element: where its samples are and how they move, lengths in units of l, axes of the world.
typedef struct Stage {
    TdlVec3 arm[LEAST_SAMPLES];  // from its start to the samples
    TdlVec3 miss[LEAST_SAMPLES]; // from the targets
    TdlMat3 own[LEAST_SAMPLES];  // of the samples by q
    TdlMat3 turn;                // of its end by q, rad
    double gain[3][7];           // the step of q by z and 1 (V.27)
} Stage;

// The least sum of squares from an element on: z'P z/2 + g'z, z = (shift, turn) of its start.
typedef struct Value {
    double p[6][6], g[6];
} Value;

// Stages and the sum of squares. (V.24)
static double walk(const LeastRod* rod, const TdlVec3* target, Stage* stages) {
    TdlVec3 x = rod->position;
    TdlMat3 frame = rod->rotation;
    double cost = 0.0, per_l = 1.0 / rod->l;
    for (int e = 0; e < rod->count; ++e) {
        Stage* s = &stages[e];
        HelixAxes axes = helix_axes(rod->q[e]);
        double f[HELIX_COUNT];
        for (int j = 0; j < LEAST_SAMPLES; ++j) {
            helix_functions(axes.y, (j + 1.0) / LEAST_SAMPLES, f);
            s->arm[j] = tdl_mul33_3(frame, helix_position(&axes, f));
            s->own[j] = tdl_mul33(frame, helix_displacement(&axes, f));
            TdlVec3 off = tdl_sub3(x, target[e * LEAST_SAMPLES + j]);
            s->miss[j] = tdl_axpy3(s->arm[j], per_l, off);
            cost += tdl_dot3(s->miss[j], s->miss[j]);
        }
        cost += STIFFNESS * tdl_dot3(rod->q[e], rod->q[e]);
        s->turn = tdl_mul33(frame, helix_rotation_rate(&axes, f));
        x = tdl_axpy3(x, rod->l, s->arm[LEAST_SAMPLES - 1]);
        frame = tdl_mul33(frame, tdl_rotation_exp(rod->q[e]));
    }
    return cost;
}

static void store(TdlMat3 m, double out[6][9], int row, int column) {
    const TdlVec3 columns[3] = {m.cx, m.cy, m.cz};
    for (int c = 0; c < 3; ++c) {
        out[row][column + c] = columns[c].x;
        out[row + 1][column + c] = columns[c].y;
        out[row + 2][column + c] = columns[c].z;
    }
}

// Adds c'c of `rows` rows of (z, u), and c'r.
static void add_rows(double rows[6][9], int count, const double* side, double h[9][10]) {
    for (int r = 0; r < count; ++r) {
        for (int i = 0; i < 9; ++i) {
            for (int j = 0; j <= i; ++j) {
                h[i][j] += rows[r][i] * rows[r][j];
            }
            h[i][9] += rows[r][i] * side[r];
        }
    }
}

// Adds what comes behind: its start moves by (z, u) as the rows say. (V.26)
static void add_behind(double rows[6][9], const Value* v, double h[9][10]) {
    double pr[6][9] = {{0.0}};
    for (int r = 0; r < 6; ++r) {
        for (int k = 0; k < 6; ++k) {
            for (int i = 0; i < 9; ++i) {
                pr[r][i] += v->p[r][k] * rows[k][i];
            }
        }
    }
    for (int r = 0; r < 6; ++r) {
        for (int i = 0; i < 9; ++i) {
            for (int j = 0; j <= i; ++j) {
                h[i][j] += rows[r][i] * pr[r][j];
            }
            h[i][9] += rows[r][i] * v->g[r];
        }
    }
}

// The Cholesky factor of a symmetric 3 x 3 matrix, with the inverses of its diagonal.
typedef struct Factor {
    double d0, d1, d2, l10, l20, l21;
} Factor;

static Factor factor3(double a[3][3]) {
    Factor f;
    f.d0 = 1.0 / sqrt(a[0][0]);
    f.l10 = a[1][0] * f.d0;
    f.l20 = a[2][0] * f.d0;
    f.d1 = 1.0 / sqrt(a[1][1] - f.l10 * f.l10);
    f.l21 = (a[2][1] - f.l20 * f.l10) * f.d1;
    f.d2 = 1.0 / sqrt(a[2][2] - f.l20 * f.l20 - f.l21 * f.l21);
    return f;
}

static void solve3(const Factor* f, double b[3]) {
    double y0 = b[0] * f->d0, y1 = (b[1] - f->l10 * y0) * f->d1;
    double y2 = (b[2] - f->l20 * y0 - f->l21 * y1) * f->d2;
    b[2] = y2 * f->d2;
    b[1] = (y1 - f->l21 * b[2]) * f->d1;
    b[0] = (y0 - f->l10 * b[1] - f->l20 * b[2]) * f->d0;
}

// The value of one element from that of what is behind it, and its gain. (V.26), (V.27)
static void step_back(Stage* s, TdlVec3 q, double damping, Value* v) {
    double h[9][10] = {{0.0}}, rows[6][9];
    memset(rows, 0, sizeof rows);
    for (int i = 0; i < 3; ++i) {
        rows[i][i] = rows[3 + i][3 + i] = 1.0;
    }
    store(tdl_scale33(-1.0, tdl_skew3(s->arm[LEAST_SAMPLES - 1])), rows, 0, 3);
    store(s->own[LEAST_SAMPLES - 1], rows, 0, 6);
    store(s->turn, rows, 3, 6);
    add_behind(rows, v, h);
    for (int j = 0; j < LEAST_SAMPLES; ++j) {
        const double side[3] = {s->miss[j].x, s->miss[j].y, s->miss[j].z};
        store(tdl_scale33(-1.0, tdl_skew3(s->arm[j])), rows, 0, 3);
        store(s->own[j], rows, 0, 6);
        add_rows(rows, 3, side, h);
    }
    // u: its matrix, and what it answers to z and 1
    double m[3][3], qs[3] = {q.x, q.y, q.z};
    for (int i = 0; i < 3; ++i) {
        h[6 + i][6 + i] = (h[6 + i][6 + i] + STIFFNESS) * (1.0 + damping);
        h[6 + i][9] += STIFFNESS * qs[i];
        for (int j = 0; j < 3; ++j) {
            m[i][j] = i >= j ? h[6 + i][6 + j] : h[6 + j][6 + i];
        }
    }
    Factor factor = factor3(m);
    for (int c = 0; c < 7; ++c) {
        int column = c < 6 ? c : 9;
        double b[3] = {-h[6][column], -h[7][column], -h[8][column]};
        solve3(&factor, b);
        for (int i = 0; i < 3; ++i) {
            s->gain[i][c] = b[i];
        }
    }
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) {
            double sum = i >= j ? h[i][j] : h[j][i];
            for (int k = 0; k < 3; ++k) {
                sum += h[6 + k][i] * s->gain[k][j];
            }
            v->p[i][j] = sum;
        }
        v->g[i] = h[i][9];
        for (int k = 0; k < 3; ++k) {
            v->g[i] += h[6 + k][i] * s->gain[k][6];
        }
    }
}

// The rod after a step. (V.27)
static void step_on(const LeastRod* rod, const Stage* stages, const Value* v, double damping,
                    LeastRod* out) {
    double m[3][3], z[6] = {0.0}, b[3];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            m[i][j] = v->p[3 + i][3 + j] * (i == j ? 1.0 + damping : 1.0);
        }
        m[i][i] += STIFFNESS;
        b[i] = -v->g[3 + i];
    }
    Factor factor = factor3(m);
    solve3(&factor, b);
    memcpy(z + 3, b, sizeof b);
    out->rotation = tdl_mul33(tdl_rotation_exp((TdlVec3){b[0], b[1], b[2]}), rod->rotation);
    for (int e = 0; e < rod->count; ++e) {
        const Stage* s = &stages[e];
        double u[3];
        for (int i = 0; i < 3; ++i) {
            u[i] = s->gain[i][6];
            for (int k = 0; k < 6; ++k) {
                u[i] += s->gain[i][k] * z[k];
            }
        }
        TdlVec3 du = {u[0], u[1], u[2]}, shift = {z[0], z[1], z[2]}, turn = {z[3], z[4], z[5]};
        out->q[e] = tdl_add3(rod->q[e], du);
        shift = tdl_add3(shift, tdl_cross3(turn, s->arm[LEAST_SAMPLES - 1]));
        shift = tdl_add3(shift, tdl_mul33_3(s->own[LEAST_SAMPLES - 1], du));
        turn = tdl_add3(turn, tdl_mul33_3(s->turn, du));
        tdl_store3(z, 0, shift);
        tdl_store3(z, 1, turn);
    }
}

bool helix_least(Arena* arena, LeastRod* rod, const TdlVec3* target) {
    ArenaMark mark = arena_mark(arena);
    size_t count = (size_t)rod->count;
    Stage* stages = ARENA_NEW(arena, Stage, count);
    Stage* tried = ARENA_NEW(arena, Stage, count);
    LeastRod trial = *rod;
    trial.q = ARENA_NEW(arena, TdlVec3, count);
    if (stages == NULL || tried == NULL || trial.q == NULL) {
        return false;
    }
    double damping = DAMPING, cost = walk(rod, target, stages);
    bool done = false;
    for (int round = 0; round < ROUNDS_MAX && damping < DAMPING_MAX && !done; ++round) {
        Value v;
        memset(&v, 0, sizeof v);
        for (int e = rod->count - 1; e >= 0; --e) {
            step_back(&stages[e], rod->q[e], damping, &v);
        }
        step_on(rod, stages, &v, damping, &trial);
        double reached = walk(&trial, target, tried);
        bool better = reached < cost; // false for what is no number
        damping = better ? fmax(0.1 * damping, DAMPING_MIN) : 10.0 * damping;
        if (better) {
            done = cost - reached <= GAIN * cost;
            cost = reached;
            rod->rotation = trial.rotation;
            memcpy(rod->q, trial.q, count * sizeof *rod->q);
            Stage* other = stages;
            stages = tried;
            tried = other;
        }
    }
    arena_release(arena, mark);
    return true;
}
