// Stiffness of an isotropic fibre from centrelines of its poses.
//
// Unknown are the natural bends (no twist: an isotropic fibre's does nothing), both stiffnesses and
// the clamps. Every trial settles in each pose; points are compared with it across the curve, since
// along it they may be anywhere. Gauss and Newton's method, damped as by Levenberg and Marquardt,
// with exact derivatives of the settled shapes (V.92). The start: the best of some stiffnesses,
// each with the natural curvature by which the poses rest. A dense matrix of twice the elements.
// (V.100)
#include "inverse/pose_curves.h"

#include "base/log.h"
#include "inverse/strand_derivative.h"
#include "math/dense.h"
#include "math/rotation.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum {
    ELEMENTS_MAX = 200,
    ROUNDS_MAX = 150,
    TRIES_MAX = 400, // of all rounds from one guess
    DESCENTS = 5,    // from the best guesses
    CREEPING = 4,    // rounds in a row with little progress far from the points: a wrong valley
    GUESSES = 10,    // of the stiffness, a factor 2 apart
    SETTLING = 40,   // steps at most: a trial whose rest is further away is none
};

// Damping at first, and where the search ends without progress.
static const double DAMPING = 1.0e-3, DAMPING_MOST = 1.0e10;

// Share of the sum of squares by which a round must lessen it to be worth another: with 1000 rows
// that is a hundredth of a standard deviation.
static const double PROGRESS = 1.0e-7;

// What a round leaves of the sum of squares where it makes little progress.
static const double CREEP = 0.95;

// GJ/EI and its inverse at most: a round section has 0.67 to 1, and no ribbon is isotropic.
static const double RATIO_MOST = 1.0e3;

// What exact points leave at best, over the length.
static const double ROUNDING = 1.0e-13;

// Share of the length by which elements of a strand miss any smooth curve.
static const double NEAR = 1.0e-5;

// The same where the noise is not told: cross validation may take noise for the curve's own bends.
// Rests of a wrong valley lie some 1e-2 away.
static const double NEAR_UNTOLD = 3.0e-4;

// A spin that points do not tell stays where it is, within this many rad.
static const double SPIN_GUESS = 10.0;

typedef struct Trial {
    double EI, GJ;
    TdlVec3* natural;              // [blocks]
    TdlVec3* curvature[POSES_MAX]; // [blocks]
    TdlPose start[POSES_MAX];
    double cost; // m^2, sum of squares
} Trial;

typedef struct Search {
    const TdlHost* host;
    Arena* arena;
    PoseCurve* curves;
    int count, blocks, rows, unknowns;
    bool own_clamps;
    int tries; // since the last guess
    Trial best, trial, found;
    double near; // m, root mean square of rows that is as near as one can be
    double *J, *left, *normal, *pull, *step; // [rows unknowns], [rows], [unknowns^2], [unknowns]
    TdlVec3 *place, *unit;                   // [longest pose], [blocks]
    double* rates[POSES_MAX];                // [unknowns][3 blocks] of q of each pose
} Search;

// --- trials ---------------------------------------------------------------------------------

static TdlStrand strand_of(const Search* s, const Trial* t, int a) {
    TdlStrand strand = s->curves[a].strand;
    strand.start = t->start[a];
    strand.curvature = t->curvature[a];
    strand.stiffness = (TdlVec3){t->GJ, t->EI, t->EI};
    return strand;
}

static void copy_trial(const Search* s, const Trial* from, Trial* to) {
    size_t size = (size_t)s->blocks * sizeof(TdlVec3);
    to->EI = from->EI;
    to->GJ = from->GJ;
    to->cost = from->cost;
    memcpy(to->natural, from->natural, size);
    for (int a = 0; a < s->count; ++a) {
        memcpy(to->curvature[a], from->curvature[a], size);
        to->start[a] = from->start[a];
    }
}

// Two rows a point: how far the strand is from it across the curve.
static void across_rows(const PoseCurve* curve, const TdlVec3* d, double* rows) {
    for (int k = 0; k < curve->count; ++k) {
        rows[2 * k] = tdl_dot3(curve->axes[k].cy, d[k]);
        rows[2 * k + 1] = tdl_dot3(curve->axes[k].cz, d[k]);
    }
}

// Settles all poses; DIVERGED where one does not.
static TdlStatus evaluate(Search* s, Trial* t, double* left) {
    TdlHost quiet = {.mem = s->host->mem};
    t->cost = 0.0;
    for (int a = 0, row = 0; a < s->count; row += 2 * s->curves[a++].count) {
        const PoseCurve* curve = &s->curves[a];
        TdlStrand strand = strand_of(s, t, a);
        TdlStatus status =
            strand_settle(&quiet, &strand, curve->gravity, t->natural, SETTLING, t->curvature[a]);
        if (status == TDL_STATUS_OK) {
            status = tdl_strand_places(&quiet, &strand, curve->count, curve->at, s->place);
        }
        if (status != TDL_STATUS_OK) {
            return status;
        }
        for (int k = 0; k < curve->count; ++k) {
            s->place[k] = tdl_sub3(s->place[k], curve->points[k]);
        }
        across_rows(curve, s->place, left + row);
        t->cost += tdl_dot(2 * curve->count, left + row, left + row);
    }
    return TDL_STATUS_OK;
}

// --- derivatives ----------------------------------------------------------------------------

// Clamp unknowns of a pose: its place, then its direction. They begin at:
static int clamp_at(const Search* s, int a) {
    return 2 * s->blocks + (s->own_clamps ? 6 : 3) * a;
}

// The two directions that all poses share.
static int common_at(const Search* s) {
    return 2 * s->blocks + 3 * s->count;
}

// What unknown u changes about pose a; false: nothing. Natural curvatures go through `unit`.
static bool change_of(Search* s, int a, int u, TdlStrandChange* out) {
    *out = (TdlStrandChange){0};
    TdlMat3 R = s->best.start[s->own_clamps ? a : 0].rotation;
    const TdlVec3 axes[6] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, R.cy, R.cz, R.cx};
    if (u < 2 * s->blocks) {
        memset(s->unit, 0, (size_t)s->blocks * sizeof *s->unit);
        s->unit[u / 2] = u % 2 == 0 ? (TdlVec3){0, 1, 0} : (TdlVec3){0, 0, 1};
        out->natural = s->unit;
        return true;
    }
    if (u >= s->unknowns - 2) {
        bool twist = u == s->unknowns - 1;
        out->stiffness = twist ? (TdlVec3){s->best.GJ, 0, 0} : (TdlVec3){0, s->best.EI, s->best.EI};
        return true;
    }
    int own = u - clamp_at(s, a);
    if (own >= 0 && own < 3) {
        out->place = axes[own];
        return true;
    }
    if (s->own_clamps) {
        out->turn = axes[own >= 3 && own < 6 ? own : 3];
        return own >= 3 && own < 6;
    }
    out->turn = axes[3 + (u == common_at(s) + 1)];
    return u >= common_at(s);
}

// Derivatives of the rows of pose a, one column an unknown.
static TdlStatus differentiate(Search* s, int a, int row) {
    const PoseCurve* curve = &s->curves[a];
    TdlHost quiet = {.mem = s->host->mem};
    TdlStrand def = strand_of(s, &s->best, a);
    Strand strand;
    StrandDerivative d;
    TdlStatus status = strand_open(&quiet, s->arena, &def, curve->gravity, &strand);
    if (status == TDL_STATUS_OK) {
        status = strand_derivative(&quiet, &strand, &d);
    }
    for (int u = 0; status == TDL_STATUS_OK && u < s->unknowns; ++u) {
        TdlStrandChange change;
        double* rate = s->rates[a] + 3 * (ptrdiff_t)u * s->blocks;
        double* column = s->J + (ptrdiff_t)u * s->rows + row;
        if (!change_of(s, a, u, &change)) {
            memset(column, 0, 2 * (size_t)curve->count * sizeof *column);
            memset(rate, 0, 3 * (size_t)s->blocks * sizeof *rate);
        } else if (strand_rate(&d, &change, rate) &&
                   strand_place_rates(&strand, &change, rate, curve->count, curve->at, s->place)) {
            across_rows(curve, s->place, column);
        } else {
            status = TDL_STATUS_NO_MEMORY;
        }
    }
    return status;
}

static bool is_spin(const Search* s, int u) {
    int own = u - 2 * s->blocks;
    return s->own_clamps && own >= 0 && own < 6 * s->count && own % 6 == 5;
}

// Factor of J'J, damped. A column that the others make up gets a pivot of rounding. The spin of the
// first pose is everyone's; others are held by a guess far wider than they can be.
static bool factor_normal(Search* s, double damping) {
    int m = s->unknowns;
    for (int c = 0; c < m; ++c) {
        const double* column = s->J + (ptrdiff_t)c * s->rows;
        for (int d = 0; d <= c; ++d) {
            s->normal[c + (ptrdiff_t)d * m] =
                tdl_dot(s->rows, column, s->J + (ptrdiff_t)d * s->rows);
        }
        double* own = &s->normal[c + (ptrdiff_t)c * m];
        if (is_spin(s, c)) {
            *own += s->best.cost / (s->rows * SPIN_GUESS * SPIN_GUESS) +
                    1.0e-12 * *own; // exact points too leave a guess
        }
        *own = *own > 0.0 ? *own * (1.0 + damping + 4.0 * m * DBL_EPSILON) : 1.0;
    }
    if (s->own_clamps) { // of the first pose: all natural bends would turn with it
        int spin = clamp_at(s, 0) + 5;
        s->normal[spin + (ptrdiff_t)spin * m] *= 1.0e12;
    }
    return tdl_cholesky(m, s->normal, m) == m;
}

// --- steps ----------------------------------------------------------------------------------

static double bound(double x, double most) {
    return fmax(-most, fmin(most, x));
}

// The shapes follow a step by their rates: a trial settles from there.
static void follow(const Search* s, Trial* t) {
    for (int a = 0; a < s->count; ++a) {
        double l = s->curves[a].strand.length / s->curves[a].strand.element_count;
        for (int u = 0; u < s->unknowns; ++u) {
            const double* rate = s->rates[a] + 3 * (ptrdiff_t)u * s->blocks;
            double step = s->step[u] / l;
            for (int i = 0; i < s->blocks; ++i) {
                t->curvature[a][i] = tdl_axpy3(t->curvature[a][i], step, tdl_load3(rate, i));
            }
        }
    }
}

// The best, a step on.
static void go(const Search* s, Trial* t) {
    copy_trial(s, &s->best, t);
    for (int u = 0; u < 2 * s->blocks; ++u) {
        *(u % 2 == 0 ? &t->natural[u / 2].y : &t->natural[u / 2].z) += s->step[u];
    }
    for (int a = 0; a < s->count; ++a) {
        const double* own = s->step + clamp_at(s, a);
        const double* turn = s->own_clamps ? own + 3 : s->step + common_at(s);
        TdlMat3 R = s->best.start[s->own_clamps ? a : 0].rotation;
        TdlVec3 w = tdl_axpy3(tdl_scale3(turn[0], R.cy), turn[1], R.cz);
        w = tdl_axpy3(w, s->own_clamps ? turn[2] : 0.0, R.cx);
        t->start[a].position = tdl_add3(t->start[a].position, tdl_load3(own, 0));
        t->start[a].rotation = tdl_rotation_nearest(tdl_mul33(tdl_rotation_exp(w), R));
    }
    for (int k = 1; k <= 2; ++k) {
        s->step[s->unknowns - k] = bound(s->step[s->unknowns - k], 1.0);
    }
    t->EI *= exp(s->step[s->unknowns - 2]);
    t->GJ *= exp(s->step[s->unknowns - 1]);
    follow(s, t);
    t->GJ = fmax(t->EI / RATIO_MOST, fmin(t->EI * RATIO_MOST, t->GJ));
}

static TdlStatus differentiate_all(Search* s) {
    TdlStatus status = TDL_STATUS_OK;
    for (int a = 0, row = 0; a < s->count && status == TDL_STATUS_OK;
         row += 2 * s->curves[a++].count) {
        ArenaMark mark = arena_mark(s->arena);
        status = differentiate(s, a, row);
        arena_release(s->arena, mark);
    }
    for (int u = 0; u < s->unknowns; ++u) {
        s->pull[u] = -tdl_dot(s->rows, s->left, s->J + (ptrdiff_t)u * s->rows);
    }
    return status;
}

// One round: the best becomes better, or `done`. `trial_left` is [rows].
static TdlStatus improve(Search* s, double* damping, double* trial_left, bool* done) {
    TdlStatus status = differentiate_all(s);
    while (status == TDL_STATUS_OK && *damping < DAMPING_MOST && s->tries++ < TRIES_MAX) {
        memcpy(s->step, s->pull, (size_t)s->unknowns * sizeof *s->step);
        bool factored = factor_normal(s, *damping);
        tdl_cholesky_solve(s->unknowns, s->normal, s->unknowns, 1, s->step, s->unknowns);
        double gain = tdl_dot(s->unknowns, s->pull, s->step);
        if (*damping <= DAMPING && gain < PROGRESS * s->best.cost) {
            break;
        }
        go(s, &s->trial);
        TdlStatus settled = factored ? evaluate(s, &s->trial, trial_left) : TDL_STATUS_DIVERGED;
        if (settled == TDL_STATUS_NO_MEMORY) {
            return settled;
        }
        if (settled == TDL_STATUS_OK && s->trial.cost < s->best.cost) {
            *done = s->best.cost - s->trial.cost < PROGRESS * s->best.cost;
            copy_trial(s, &s->trial, &s->best);
            memcpy(s->left, trial_left, (size_t)s->rows * sizeof *s->left);
            *damping = fmax(0.25 * *damping, 1.0e-12);
            return TDL_STATUS_OK;
        }
        *damping *= 4.0;
    }
    *done = true;
    return status;
}

// --- start ----------------------------------------------------------------------------------

// The weight and the force on the end of a pose, N.
static double force_of(const PoseCurve* curve) {
    double weight = curve->strand.line_density * curve->strand.length * tdl_norm3(curve->gravity);
    return weight + tdl_norm3(curve->end_force.force);
}

// The natural bends with which a pose rests, and its shape, in the frame in which nature has no
// twist. (V.82), (V.100)
static TdlStatus untwist(Search* s, int a, TdlVec3* natural) {
    TdlHost quiet = {.mem = s->host->mem};
    Trial* t = &s->best;
    TdlStrand strand = strand_of(s, t, a);
    TdlStatus status = tdl_strand_rest(&quiet, &strand, s->curves[a].gravity, natural);
    double angle = 0.0, l = strand.length / strand.element_count;
    for (int i = 0; status == TDL_STATUS_OK && i < s->blocks; ++i) {
        double twist = natural[i].x;
        angle -= i > 0 ? 0.5 * l * (twist + natural[i - 1].x) : 0.0;
        natural[i] = pose_turned(natural[i], angle);
        t->curvature[a][i] = pose_turned(t->curvature[a][i], angle);
        t->curvature[a][i].x -= twist;
    }
    return status;
}

// Mean of the natural bends of all poses, which are the same but for the spins of the clamps.
static TdlStatus guess_natural(Search* s) {
    Trial* t = &s->best;
    TdlStatus status = TDL_STATUS_OK;
    memset(t->natural, 0, (size_t)s->blocks * sizeof *t->natural);
    for (int a = 0; a < s->count && status == TDL_STATUS_OK; ++a) {
        memcpy(t->curvature[a], s->curves[a].curvature, (size_t)s->blocks * sizeof(TdlVec3));
        t->start[a] = s->curves[a].strand.start;
        status = untwist(s, a, s->unit);
        if (s->own_clamps && a > 0) {
            double spin = pose_spin(t->natural, s->unit, s->blocks);
            pose_spin_frame(spin, s->blocks, t->curvature[a], &t->start[a].rotation);
            pose_spin_frame(spin, s->blocks, s->unit, NULL);
        }
        for (int i = 0; i < s->blocks; ++i) {
            TdlVec3 bends = {0.0, s->unit[i].y, s->unit[i].z};
            t->natural[i] = tdl_axpy3(t->natural[i], 1.0 / s->count, bends);
        }
    }
    return status;
}

// A first guess with the stiffness that makes the load `load` times EI / L^2. DIVERGED where a pose
// does not settle.
static TdlStatus guess(Search* s, double load) {
    double force = 0.0, L = s->curves[0].strand.length;
    for (int a = 0; a < s->count; ++a) {
        force = fmax(force, force_of(&s->curves[a]));
    }
    s->best.EI = force * L * L / load;
    s->best.GJ = 0.8 * s->best.EI;
    TdlStatus status = guess_natural(s);
    return status == TDL_STATUS_OK ? evaluate(s, &s->best, s->left) : status;
}

typedef struct Guess {
    double load, cost;
} Guess;

static int compare_guesses(const void* a, const void* b) {
    double x = ((const Guess*)a)->cost, y = ((const Guess*)b)->cost;
    return (x > y) - (x < y);
}

// Stiffnesses over three decades, those first with which poses rest nearest to their points.
static TdlStatus find_guesses(Search* s, Guess guesses[GUESSES], int* count) {
    double load = 1.0;
    *count = 0;
    for (int k = 0; k < GUESSES; ++k, load *= 2.0) {
        TdlStatus status = guess(s, load);
        if (status == TDL_STATUS_OK) {
            guesses[(*count)++] = (Guess){load, s->best.cost};
        } else if (status != TDL_STATUS_DIVERGED) {
            return status;
        }
    }
    qsort(guesses, (size_t)*count, sizeof *guesses, compare_guesses);
    return *count > 0 ? TDL_STATUS_OK
                      : tdl_fail(s->host, TDL_STATUS_DIVERGED, "no fibre rests near the poses");
}

// --- the whole ------------------------------------------------------------------------------

static bool make_trial(const Search* s, Trial* t) {
    t->natural = ARENA_NEW(s->arena, TdlVec3, s->blocks);
    bool ok = t->natural != NULL;
    for (int a = 0; a < s->count; ++a) {
        t->curvature[a] = ARENA_NEW(s->arena, TdlVec3, s->blocks);
        ok = ok && t->curvature[a] != NULL;
    }
    return ok;
}

static TdlStatus make_room(Search* s, const TdlCurvePoseOptions* options) {
    int longest = 0;
    s->blocks = options->element_count + (strcmp(options->model, "super-helix") != 0);
    s->unknowns = 2 * s->blocks + (s->own_clamps ? 6 * s->count : 3 * s->count + 2) + 2;
    for (int a = 0; a < s->count; ++a) {
        longest = s->curves[a].count > longest ? s->curves[a].count : longest;
        s->rows += 2 * s->curves[a].count;
        s->near = fmax(s->near, sqrt(3.0) * s->curves[a].smoothed);
    }
    // three times what free curves leave, or half as much again as the noise that was told
    double told = options->noise;
    s->near = told > 0.0 ? 1.5 * told + NEAR * s->curves[0].strand.length
                         : s->near + NEAR_UNTOLD * s->curves[0].strand.length;
    if (s->rows <= s->unknowns) {
        return tdl_fail(s->host, TDL_STATUS_BAD_ARGUMENT,
                        "the poses have %d points together, too few for %d elements", s->rows / 2,
                        options->element_count);
    }
    size_t m = (size_t)s->unknowns;
    s->J = ARENA_NEW(s->arena, double, m*(size_t)s->rows);
    s->left = ARENA_NEW(s->arena, double, s->rows);
    s->normal = ARENA_NEW(s->arena, double, m* m);
    s->pull = ARENA_NEW(s->arena, double, m);
    s->step = ARENA_NEW(s->arena, double, m);
    s->place = ARENA_NEW(s->arena, TdlVec3, longest);
    s->unit = ARENA_NEW(s->arena, TdlVec3, s->blocks);
    bool ok = make_trial(s, &s->best) && make_trial(s, &s->trial) && make_trial(s, &s->found) &&
              s->J != NULL && s->left != NULL && s->normal != NULL && s->pull != NULL &&
              s->step != NULL && s->place != NULL && s->unit != NULL;
    for (int a = 0; a < s->count; ++a) {
        s->rates[a] = ARENA_NEW(s->arena, double, 3 * m * (size_t)s->blocks);
        ok = ok && s->rates[a] != NULL;
    }
    return ok ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}

// Deviations from the undamped normal equations at the best. (V.101)
static TdlStatus tell(Search* s, double noise, TdlPoseStiffness* out) {
    TdlStatus status = differentiate_all(s);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    double L = s->curves[0].strand.length, deviation[2] = {INFINITY, INFINITY};
    out->length = L;
    out->residual = sqrt(s->best.cost / s->rows);
    double said = sqrt(s->best.cost / (s->rows - s->unknowns));
    out->noise = fmax(fmax(noise, said), ROUNDING * L);
    // stiffness goes with the cube of the length, which is as noisy as two ends of every pose
    double scale = 3.0 * out->noise / L * sqrt(2.0 / s->count);
    bool factored = factor_normal(s, 0.0);
    for (int k = 0; factored && k < 2; ++k) {
        int u = s->unknowns - 2 + k;
        const double* column = s->J + (ptrdiff_t)u * s->rows;
        if (tdl_dot(s->rows, column, column) == 0.0) {
            continue; // nothing depends on it at all
        }
        memset(s->step, 0, (size_t)s->unknowns * sizeof *s->step);
        s->step[u] = 1.0;
        tdl_lower_solve(s->unknowns, s->normal, s->unknowns, false, 1, s->step, s->unknowns);
        deviation[k] = hypot(scale, out->noise * sqrt(tdl_dot(s->unknowns, s->step, s->step)));
    }
    double EI = 1.0 / s->best.EI, GJ = 1.0 / s->best.GJ;
    pose_tell((double[3]){GJ, EI, EI},
              (double[3]){GJ * deviation[1], EI * deviation[0], EI * deviation[0]}, out);
    return TDL_STATUS_OK;
}

static bool is_near(const Search* s, double cost) {
    return cost <= s->near * s->near * s->rows;
}

// From one guess to where it leads.
static TdlStatus descend(Search* s, double load, double* trial_left) {
    double damping = DAMPING;
    bool done = false;
    int creeping = 0;
    s->tries = 0;
    TdlStatus status = guess(s, load);
    for (int k = 0; status == TDL_STATUS_OK && !done && k < ROUNDS_MAX; ++k) {
        double before = s->best.cost;
        status = improve(s, &damping, trial_left, &done);
        bool creeps = s->best.cost > CREEP * before && !is_near(s, s->best.cost);
        creeping = creeps ? creeping + 1 : 0;
        done = done || creeping == CREEPING;
    }
    return status;
}

// The best of the first guesses; one that leads as near to the points as their own curves will do.
static TdlStatus find_best(Search* s, Trial* found) {
    Guess guesses[GUESSES];
    int count;
    double* trial_left = ARENA_NEW(s->arena, double, s->rows);
    TdlStatus status = trial_left == NULL ? TDL_STATUS_NO_MEMORY : find_guesses(s, guesses, &count);
    found->cost = INFINITY;
    for (int k = 0; status == TDL_STATUS_OK && k < count && k < DESCENTS; ++k) {
        if (is_near(s, found->cost)) {
            break;
        }
        status = descend(s, guesses[k].load, trial_left);
        if (status == TDL_STATUS_OK && s->best.cost < found->cost) {
            copy_trial(s, &s->best, found);
        }
        status = status == TDL_STATUS_DIVERGED ? TDL_STATUS_OK : status;
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (found->cost == INFINITY) {
        return tdl_fail(s->host, TDL_STATUS_DIVERGED,
                        "the rests that lie nearest to the poses give way");
    }
    copy_trial(s, found, &s->best);
    return evaluate(s, &s->best, s->left);
}

static TdlStatus search(Search* s, const TdlCurvePose* poses, const TdlCurvePoseOptions* options,
                        TdlPoseStiffness* out) {
    s->curves = ARENA_NEW(s->arena, PoseCurve, s->count);
    if (s->curves == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status = pose_curves_make(s->host, s->arena, poses, s->count, options, s->curves);
    if (status == TDL_STATUS_OK) {
        status = make_room(s, options);
    }
    double force = 0.0;
    for (int a = 0; status == TDL_STATUS_OK && a < s->count; ++a) {
        force = fmax(force, force_of(&s->curves[a]));
    }
    if (status == TDL_STATUS_OK && force == 0.0) {
        status = tdl_fail(s->host, TDL_STATUS_BAD_ARGUMENT,
                          "without weight and forces no pose tells a stiffness");
    }
    if (status == TDL_STATUS_OK) {
        status = find_best(s, &s->found);
    }
    return status == TDL_STATUS_OK ? tell(s, options->noise, out) : status;
}

TdlCurvePoseOptions tdl_curve_pose_options_default(void) {
    return (TdlCurvePoseOptions){.model = "super-clothoid", .element_count = 20};
}

TdlStatus tdl_curves_stiffness(const TdlHost* host, const TdlCurvePose* poses, int count,
                               const TdlCurvePoseOptions* options, TdlPoseStiffness* out) {
    *out = (TdlPoseStiffness){.stiffness = {NAN, NAN, NAN}, .error = {NAN, NAN, NAN}};
    bool known = options->model != NULL && (strcmp(options->model, "super-helix") == 0 ||
                                            strcmp(options->model, "super-clothoid") == 0);
    if (!known || options->element_count < 2 || options->element_count > ELEMENTS_MAX ||
        !(options->line_density >= 0.0 && isfinite(options->line_density)) ||
        !(options->noise >= 0.0 && isfinite(options->noise)) || count < 2 || count > POSES_MAX) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "stiffness takes 2 to %d poses of a super-helix or super-clothoid with 2 "
                        "to %d elements; density and noise are not negative",
                        POSES_MAX, ELEMENTS_MAX);
    }
    Arena arena;
    arena_init(&arena, &host->mem);
    Search s = {.host = host, .arena = &arena, .count = count, .own_clamps = options->own_clamps};
    TdlStatus status = search(&s, poses, options, out);
    arena_destroy(&arena);
    return status;
}
