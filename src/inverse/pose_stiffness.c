// Stiffness of a fibre from shapes in which it rests, in all its coordinates.
//
// K (q_a - q_rest) + G_a = 0 for every pose is linear in the compliances 1/K3 and in q_rest. What
// is measured, and noisy, is q: what is missing to balance is weighed by how it would displace the
// joints and turn their frames, not as a curvature, whose noise is that over the square of an
// element. The weights need a stiffness, so this is done again with the one found. Dense normal
// equations, O(n^3), mended by what is left: exact shapes give the stiffness to rounding.
// (V.97) to (V.99)
#include "inverse/pose_stiffness.h"

#include "base/log.h"
#include "math/dense.h"

#include <float.h>
#include <string.h>

enum {
    ELEMENTS_MAX = 200,
    PASSES = 4, // weights from no stiffness, then from the one found; the third changes little
    MENDINGS = 3
};

// What is left of exact shapes, over the length: rounding of places that are sums over elements.
// Nothing is taken as known any better.
static const double ROUNDING = 1.0e-13;

// A compliance counts as known when it is this many standard deviations above zero.
static const double KNOWN = 3.0;

enum { COMPLIANCES = 3, COLUMNS = 4 }; // q, and q for a compliance of one in twist and in bendings

typedef struct Pose {
    TdlStrand def;
    Strand strand;
    double* column[COLUMNS]; // [3 blocks], rad
    StrandHessian h;         // with the stiffness that the weights are of
    StrandFactor factor;
    double* rows; // [6 elements][unknowns]: displacements and turns by q_rest and compliances, m
} Pose;

// The equations of all poses; unknown are q_rest, then the compliances.
typedef struct System {
    Arena* arena;
    Pose* poses;
    int count, blocks, unknowns, rows; // rows: of a pose
    bool isotropic;
    bool weighted;                // by a stiffness
    double *normal, *unknown;     // [unknowns^2], [unknowns]
    double *change, *left, *mend; // [3 blocks], [rows], [unknowns]
} System;

// --- rows -----------------------------------------------------------------------------------

// A stiffness so small that the natural curvature is all load: nothing is lost when the curvature
// is taken away from it.
static double tiny_stiffness(const TdlStrand* def, TdlVec3 gravity) {
    double force = def->line_density * def->length * tdl_norm3(gravity);
    for (int i = 0; i < def->load_count; ++i) {
        force += tdl_norm3(def->loads[i].force);
    }
    int exponent = 0;
    frexp(force * def->length * def->length, &exponent);
    return force > 0.0 ? ldexp(1.0, exponent - 40) : 1.0;
}

// q, and l K^-1 G for K3 = 1, component by component. (V.97)
static TdlStatus fill_columns(const TdlHost* host, Pose* pose) {
    const Strand* strand = &pose->strand;
    int n = strand->block_count;
    double unit = tiny_stiffness(&pose->def, strand->gravity);
    pose->def.stiffness = (TdlVec3){unit, unit, unit};
    TdlVec3* rest = ARENA_NEW(strand->arena, TdlVec3, n);
    for (int c = 0; c < COLUMNS; ++c) {
        pose->column[c] = ARENA_NEW(strand->arena, double, 3 * n);
        if (pose->column[c] == NULL || rest == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        memset(pose->column[c], 0, 3 * (size_t)n * sizeof(double));
    }
    TdlStatus status = strand_rest(host, strand, NULL, rest);
    for (int i = 0; status == TDL_STATUS_OK && i < n; ++i) {
        TdlVec3 kappa = pose->def.curvature[i], d = tdl_sub3(rest[i], kappa);
        tdl_store3(pose->column[0], i, tdl_scale3(strand->l, kappa));
        pose->column[1][3 * i] = strand->l * unit * d.x;
        pose->column[2][3 * i + 1] = strand->l * unit * d.y;
        pose->column[3][3 * i + 2] = strand->l * unit * d.z;
    }
    return status;
}

// Takes the first pose away, which changes q_rest alone, and makes both bendings one. (V.97)
static void fold(Pose* poses, int count, bool isotropic) {
    int n = 3 * poses[0].strand.block_count;
    for (int a = count - 1; a >= 0; --a) {
        for (int c = 0; c < COLUMNS; ++c) {
            for (int i = 0; i < n; ++i) {
                poses[a].column[c][i] -= poses[0].column[c][i];
            }
        }
        for (int i = 0; isotropic && i < n; ++i) {
            poses[a].column[2][i] += poses[a].column[3][i];
            poses[a].column[3][i] = 0.0;
        }
    }
}

// How a change of q displaces the joints, m, and turns their frames, times l: rows[6 elements]. At
// a joint of a super-clothoid half of its own change has happened, but for O(l). (V.98)
static bool fill_rows(const Strand* strand, const StrandHessian* h, const double* change,
                      double* rows) {
    int n = strand->element_count;
    ArenaMark mark = arena_mark(strand->arena);
    double* at = ARENA_NEW(strand->arena, double, n);
    TdlVec3* moved = ARENA_NEW(strand->arena, TdlVec3, n);
    if (at == NULL || moved == NULL) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        at[i] = i + 1 < n ? strand->l * (i + 1) : strand->def->length;
    }
    if (!strand->kind->places(strand, change, n, at, moved)) {
        return false;
    }
    TdlVec3 turned = {0};
    for (int i = 0; i < n; ++i) {
        turned = tdl_add3(turned, tdl_mul33_3(h->turn[i], tdl_load3(change, i)));
        TdlVec3 frame = turned;
        if (strand->block_count > n) {
            double share = i + 1 < n ? 0.5 : 1.0;
            TdlVec3 own = tdl_mul33_3(h->turn[i + 1], tdl_load3(change, i + 1));
            frame = tdl_axpy3(frame, share, own);
        }
        tdl_store3(rows, 2 * i, moved[i]);
        tdl_store3(rows, 2 * i + 1, tdl_scale3(strand->l, frame));
    }
    arena_release(strand->arena, mark);
    return true;
}

// What is missing to balance, as it would displace the shape: J H^-1 K e. Without a stiffness J e.
// (V.98)
static bool apply_weights(const System* s, const Pose* pose, const double* e, double* rows) {
    if (!s->weighted) {
        return fill_rows(&pose->strand, &pose->h, e, rows);
    }
    strand_apply_stiffness(&pose->h, e, s->change);
    strand_solve(&pose->h, &pose->factor, s->change);
    return fill_rows(&pose->strand, &pose->h, s->change, rows);
}

// The Hessian with the stiffness given; where it is not definite with as much more stiffness as
// makes it so, which is a weight as good as any.
static bool prepare_pose(Pose* pose, TdlVec3 stiffness) {
    pose->def.stiffness = stiffness;
    bool ok = pose->strand.kind->hessian(&pose->strand, &pose->h);
    double k = 1.0;
    pose->h.softest = fmin(stiffness.x, fmin(stiffness.y, stiffness.z)) / pose->strand.l;
    strand_factor(&pose->h, k, 0.0, &pose->factor);
    for (int i = 0; pose->factor.negative > 0 && i < 60; ++i) {
        k *= 2.0;
        strand_factor(&pose->h, k, 0.0, &pose->factor);
    }
    return ok;
}

// The rows of a pose, one column an unknown.
static bool fill_pose(const System* s, Pose* pose, double* unit) {
    int n = 3 * s->blocks;
    memset(unit, 0, (size_t)n * sizeof *unit);
    for (int i = 0; i < n; ++i) {
        unit[i] = -1.0;
        if (!apply_weights(s, pose, unit, pose->rows + (ptrdiff_t)i * s->rows)) {
            return false;
        }
        unit[i] = 0.0;
    }
    for (int c = 0; c < COMPLIANCES; ++c) {
        double* rows = pose->rows + (ptrdiff_t)(n + c) * s->rows;
        if (!apply_weights(s, pose, pose->column[c + 1], rows)) {
            return false;
        }
    }
    return true;
}

// --- least squares --------------------------------------------------------------------------

// The factor of the normal equations. A column that is nothing beside the others gets a pivot of
// rounding, so that it stays where it is and its variance has no end. (V.99)
static bool factor_normal(System* s) {
    int m = s->unknowns;
    for (int c = 0; c < m; ++c) {
        for (int d = 0; d <= c; ++d) {
            double sum = 0.0;
            for (int a = 0; a < s->count; ++a) {
                const double* rows = s->poses[a].rows;
                sum +=
                    tdl_dot(s->rows, rows + (ptrdiff_t)c * s->rows, rows + (ptrdiff_t)d * s->rows);
            }
            s->normal[c + (ptrdiff_t)d * m] = sum;
        }
        double* own = &s->normal[c + (ptrdiff_t)c * m];
        *own = *own > 0.0 ? *own * (1.0 + 4.0 * m * DBL_EPSILON) : 1.0;
    }
    return tdl_cholesky(m, s->normal, m) == m;
}

// What is left of a pose with the unknowns as they are.
static bool find_left(const System* s, const Pose* pose, double* e) {
    const double* compliance = s->unknown + 3 * (ptrdiff_t)s->blocks;
    for (int i = 0; i < 3 * s->blocks; ++i) {
        e[i] = pose->column[0][i] - s->unknown[i];
        for (int c = 0; c < COMPLIANCES; ++c) {
            e[i] += compliance[c] * pose->column[c + 1][i];
        }
    }
    return apply_weights(s, pose, e, s->left);
}

// Solves for what is left, and again for what rounding left of that. Tells the sum of its squares.
static bool mend(System* s, double* e, double* sum) {
    for (int k = 0; k <= MENDINGS; ++k) {
        memset(s->mend, 0, (size_t)s->unknowns * sizeof *s->mend);
        *sum = 0.0;
        for (int a = 0; a < s->count; ++a) {
            const Pose* pose = &s->poses[a];
            if (!find_left(s, pose, e)) {
                return false;
            }
            *sum += tdl_dot(s->rows, s->left, s->left);
            for (int c = 0; c < s->unknowns; ++c) {
                s->mend[c] -= tdl_dot(s->rows, s->left, pose->rows + (ptrdiff_t)c * s->rows);
            }
        }
        tdl_cholesky_solve(s->unknowns, s->normal, s->unknowns, 1, s->mend, s->unknowns);
        for (int c = 0; k < MENDINGS && c < s->unknowns; ++c) {
            s->unknown[c] += s->mend[c];
        }
    }
    return true;
}

// Variance of a compliance over that of the noise.
static double variance_of(System* s, int compliance) {
    memset(s->mend, 0, (size_t)s->unknowns * sizeof *s->mend);
    int at = 3 * s->blocks + compliance;
    s->mend[at] = 1.0;
    tdl_lower_solve(s->unknowns, s->normal, s->unknowns, false, 1, s->mend, s->unknowns);
    return tdl_dot(s->unknowns, s->mend, s->mend);
}

void pose_tell(const double compliance[3], const double deviation[3], TdlPoseStiffness* out) {
    double K[3], error[3];
    for (int c = 0; c < 3; ++c) {
        out->known[c] = compliance[c] > KNOWN * deviation[c];
        K[c] = out->known[c] ? 1.0 / compliance[c] : NAN;
        error[c] = out->known[c] ? K[c] * K[c] * deviation[c] : NAN;
    }
    out->stiffness = tdl_load3(K, 0);
    out->error = tdl_load3(error, 0);
}

static void tell(System* s, double left, double noise, TdlPoseStiffness* out) {
    double length = s->poses[0].def.length, deviation[COMPLIANCES], compliance[COMPLIANCES];
    int freedoms = 3 * s->blocks * (s->count - 1) - (s->isotropic ? 2 : 3);
    double said = freedoms > 0 ? sqrt(left / freedoms) : INFINITY;
    out->residual = sqrt(left / ((double)s->rows * s->count));
    out->noise = fmax(noise > 0.0 ? noise : said, ROUNDING * length);
    out->length = length;
    for (int c = 0; c < COMPLIANCES; ++c) {
        int from = s->isotropic && c == 2 ? 1 : c;
        compliance[c] = s->unknown[3 * s->blocks + from];
        deviation[c] = out->noise * sqrt(variance_of(s, from));
    }
    pose_tell(compliance, deviation, out);
}

// The stiffness that the next weights are of: of what is not known that of what is. False where
// nothing is.
static bool weights_from(const TdlPoseStiffness* found, TdlVec3* out) {
    double K[3] = {found->stiffness.x, found->stiffness.y, found->stiffness.z};
    double fallback = found->known[1] ? K[1] : found->known[2] ? K[2] : K[0];
    for (int c = 0; c < 3; ++c) {
        K[c] = found->known[c] ? K[c] : fallback;
    }
    *out = tdl_load3(K, 0);
    return found->known[0] || found->known[1] || found->known[2];
}

static TdlStatus solve_passes(const TdlHost* host, System* s, double noise, TdlPoseStiffness* out) {
    TdlVec3 stiffness = {1.0, 1.0, 1.0};
    double* e = ARENA_NEW(s->arena, double, 3 * s->blocks);
    bool ok = e != NULL;
    for (int pass = 0; ok && pass < PASSES; ++pass) {
        double left = 0.0;
        s->weighted = pass > 0;
        for (int a = 0; ok && a < s->count; ++a) {
            ok = prepare_pose(&s->poses[a], stiffness) && fill_pose(s, &s->poses[a], e);
        }
        if (ok && !factor_normal(s)) {
            return tdl_fail(host, TDL_STATUS_DIVERGED, "the equations of the poses are singular");
        }
        memset(s->unknown, 0, (size_t)s->unknowns * sizeof *s->unknown);
        ok = ok && mend(s, e, &left);
        if (ok) {
            tell(s, left, noise, out);
        }
        if (ok && !weights_from(out, &stiffness)) {
            break;
        }
    }
    return ok ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}

// --- poses ----------------------------------------------------------------------------------

static TdlStatus open_pose(const TdlHost* host, Arena* arena, const TdlStrand* first,
                           const TdlStrand* def, TdlVec3 gravity, Pose* out) {
    out->def = *def;
    out->def.stiffness = (TdlVec3){1.0, 1.0, 1.0};
    out->def.stretching = 0.0;
    TdlStatus status = strand_open(host, arena, &out->def, gravity, &out->strand);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (out->strand.kind->places == NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "poses are told of a super-helix or super-clothoid, not of a %s",
                        def->model);
    }
    if (def->element_count > ELEMENTS_MAX) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "poses have at most %d elements",
                        ELEMENTS_MAX);
    }
    bool same = strcmp(def->model, first->model) == 0 && def->length == first->length &&
                def->element_count == first->element_count &&
                def->line_density == first->line_density;
    return same ? fill_columns(host, out)
                : tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                           "poses of one fibre have one model, length, density and number of "
                           "elements");
}

static bool make_room(System* s) {
    Arena* arena = s->arena;
    s->blocks = s->poses[0].strand.block_count;
    s->unknowns = 3 * s->blocks + COMPLIANCES;
    s->rows = 6 * s->poses[0].strand.element_count;
    size_t m = (size_t)s->unknowns;
    s->normal = ARENA_NEW(arena, double, m* m);
    s->unknown = ARENA_NEW(arena, double, m);
    s->mend = ARENA_NEW(arena, double, m);
    s->change = ARENA_NEW(arena, double, m);
    s->left = ARENA_NEW(arena, double, s->rows);
    bool ok = s->normal != NULL && s->unknown != NULL && s->mend != NULL && s->change != NULL &&
              s->left != NULL;
    for (int a = 0; ok && a < s->count; ++a) {
        Pose* pose = &s->poses[a];
        pose->rows = ARENA_NEW(arena, double, m*(size_t)s->rows);
        ok = pose->rows != NULL && strand_hessian(&pose->strand, &pose->h) &&
             strand_factor_new(arena, &pose->h, &pose->factor);
    }
    return ok;
}

static TdlStatus find_stiffness(const TdlHost* host, Arena* arena, const TdlStrand* defs,
                                const TdlVec3* gravity, int count, bool isotropic, double noise,
                                TdlPoseStiffness* out) {
    System s = {.arena = arena,
                .poses = ARENA_NEW(arena, Pose, count),
                .count = count,
                .isotropic = isotropic};
    if (s.poses == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int a = 0; a < count; ++a) {
        TdlStatus status = open_pose(host, arena, &defs[0], &defs[a], gravity[a], &s.poses[a]);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    fold(s.poses, count, isotropic);
    return make_room(&s) ? solve_passes(host, &s, noise, out) : TDL_STATUS_NO_MEMORY;
}

TdlStatus tdl_poses_stiffness(const TdlHost* host, const TdlStrand* poses, const TdlVec3* gravity,
                              int count, bool isotropic, double noise, TdlPoseStiffness* out) {
    *out = (TdlPoseStiffness){.stiffness = {NAN, NAN, NAN}, .error = {NAN, NAN, NAN}};
    if (count < 2 || count > POSES_MAX || !(noise >= 0.0 && isfinite(noise))) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "stiffness takes two to %d poses, and a noise of 0 or more", POSES_MAX);
    }
    Arena arena;
    arena_init(&arena, &host->mem);
    TdlStatus status = find_stiffness(host, &arena, poses, gravity, count, isotropic, noise, out);
    arena_destroy(&arena);
    return status;
}
