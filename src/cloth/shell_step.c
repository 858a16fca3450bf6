// The shell patch's implicit step and its rest. Both go downhill in two coordinates by Newton's
// method, with a shift along the inertia where the slope is no valley, and are halved where a move
// does not keep what it promises. shell.md (S.16) to (S.20)
#include "cloth/shell_patch.h"

#include "math/gauss.h"

#include <math.h>
#include <string.h>

// A search ends where the next move promises this share of what the present one is worth: its
// square root, 1e-13, is the error of the rates.
static const double SEARCHED = 1.0e-26;

// Share of a promise that a move has to keep, and moves and halvings before giving up.
static const double KEPT = 1.0e-4;
enum { MOST_MOVES = 100, MOST_HALVINGS = 60 };

// Forces along a step: panels turn by so much at most, rad, and a step that needs more than so many
// is too long.
static const double PANEL = 2.0;
static const double MOST_PANELS = 50.0;

// Rounding of values, as a share of the parts that they are made of: sums over thousands of points.
static const double ROUNDING = 1.0e-12;

// What is searched for its least: value, slope and second derivatives; and how large the parts are
// that the value and the slope consist of, of which rounding is a share.
typedef struct ShellValley {
    double value, slope[2], size, load[2];
    ShellMatrix curve;
} ShellValley;

typedef struct ShellSearch {
    const ShellPatch* patch;
    double dt;       // s; 0: a rest is sought
    TdlVec3 gravity; // m/s^2
    ShellMatrix inertia;
    ShellMatrix drag; // of inertia, damping and settling together, per rate
    double momentum[2];
    double start; // elastic energy and weight where the step begins, J
} ShellSearch;

static double form(ShellMatrix m, const double a[2], const double b[2]) {
    return m.kk * a[0] * b[0] + m.ka * (a[0] * b[1] + a[1] * b[0]) + m.aa * a[1] * b[1];
}

static ShellMatrix add(ShellMatrix m, double s, ShellMatrix n) {
    return (ShellMatrix){m.kk + s * n.kk, m.ka + s * n.ka, m.aa + s * n.aa};
}

// --- what is searched ------------------------------------------------------------------------

static void add_potential(ShellValley* out, const ShellPotential* p, double value, double slope,
                          double curve) {
    out->value += value * p->value;
    out->size += fabs(value * p->value);
    for (int i = 0; i < 2; ++i) {
        out->slope[i] += slope * p->slope[i];
        out->load[i] += fabs(slope * p->slope[i]);
    }
    out->curve = add(out->curve, curve, p->curve);
}

static bool valley_of_rest(const ShellSearch* s, const double z[2], ShellValley* out) {
    *out = (ShellValley){0};
    if (shell_turns_too_far(s->patch, z)) {
        return false;
    }
    ShellPotential elastic = shell_elastic(s->patch, z);
    ShellPotential weight = shell_weight(s->patch, s->gravity, z);
    add_potential(out, &elastic, 1.0, 1.0, 1.0);
    add_potential(out, &weight, 1.0, 1.0, 1.0);
    return isfinite(out->value);
}

// Panels of Gauss points along a step, in which shapes turn by PANEL at most; 0: too many.
static int panels_along(const ShellSearch* s, const double v[2], const double end[2]) {
    double turns = fabs(shell_turning(s->patch, end) - shell_turning(s->patch, s->patch->now.z));
    double panels = 1.0 + (2.0 * fabs(s->dt * v[1]) + turns) / PANEL;
    return panels < MOST_PANELS ? (int)panels : 0;
}

// The mean force along the step does exactly the work that the energies differ by. (S.18)
static bool add_forces(const ShellSearch* s, const double v[2], ShellValley* out) {
    const double* z = s->patch->now.z;
    double end[2] = {z[0] + s->dt * v[0], z[1] + s->dt * v[1]};
    int panels = shell_turns_too_far(s->patch, end) ? 0 : panels_along(s, v, end);
    for (int i = 0; i < panels * GAUSS12_COUNT; ++i) {
        double at = (i / GAUSS12_COUNT + GAUSS12_POINT[i % GAUSS12_COUNT]) / panels;
        double w = GAUSS12_WEIGHT[i % GAUSS12_COUNT] / panels;
        double now[2] = {z[0] + at * s->dt * v[0], z[1] + at * s->dt * v[1]};
        ShellPotential elastic = shell_elastic(s->patch, now);
        ShellPotential weight = shell_weight(s->patch, s->gravity, now);
        add_potential(out, &elastic, w / at, w * s->dt, w * at * s->dt * s->dt);
        add_potential(out, &weight, w / at, w * s->dt, w * at * s->dt * s->dt);
        out->value -= w / at * s->start;
    }
    return panels > 0;
}

static bool valley_of_step(const ShellSearch* s, const double v[2], ShellValley* out) {
    *out = (ShellValley){0};
    if (!add_forces(s, v, out)) {
        return false;
    }
    const double axis[2][2] = {{1.0, 0.0}, {0.0, 1.0}};
    double kinetic = 0.5 * form(s->drag, v, v);
    out->value += kinetic;
    out->size += kinetic;
    for (int i = 0; i < 2; ++i) {
        out->value -= s->momentum[i] * v[i];
        out->slope[i] += form(s->drag, axis[i], v) - s->momentum[i];
        out->load[i] += fabs(s->momentum[i]);
    }
    out->curve = add(out->curve, 1.0, s->drag);
    return isfinite(out->value);
}

static bool look(const ShellSearch* s, const double x[2], ShellValley* out) {
    return s->dt > 0.0 ? valley_of_step(s, x, out) : valley_of_rest(s, x, out);
}

// --- the search ------------------------------------------------------------------------------

// Least curvature of H in units of the inertia M. (S.19)
static double least_curve(ShellMatrix h, ShellMatrix m) {
    double det = m.kk * m.aa - m.ka * m.ka;
    double half = 0.5 * (h.kk * m.aa + h.aa * m.kk - 2.0 * h.ka * m.ka) / det;
    double product = (h.kk * h.aa - h.ka * h.ka) / det;
    double root = sqrt(fmax(half * half - product, 0.0));
    // the one of the two that does not cancel, and the other by their product
    if (half > 0.0) {
        return product / (half + root);
    }
    return half - root;
}

static void solve(ShellMatrix h, const double b[2], double out[2]) {
    double det = h.kk * h.aa - h.ka * h.ka;
    out[0] = (h.aa * b[0] - h.ka * b[1]) / det;
    out[1] = (h.kk * b[1] - h.ka * b[0]) / det;
}

// The direction of the least curvature, downhill if there is a slope.
static void along_least(ShellMatrix h, ShellMatrix m, double least, const double slope[2],
                        double out[2]) {
    ShellMatrix a = add(h, -least, m); // singular: its larger row tells
    bool first = fabs(a.kk) * m.aa > fabs(a.aa) * m.kk;
    out[0] = first ? -a.ka : a.aa;
    out[1] = first ? a.kk : -a.ka;
    double size = sqrt(form(m, out, out));
    double sign = slope[0] * out[0] + slope[1] * out[1] > 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < 2; ++i) {
        out[i] = size > 0.0 ? sign * out[i] / size : 0.0;
    }
}

// Newton's move, with H shifted to a valley; what it promises, J. (S.19)
static double find_move(const ShellSearch* s, const ShellValley* at, double move[2]) {
    double least = least_curve(at->curve, s->inertia);
    ShellMatrix h = least > 0.0 ? at->curve : add(at->curve, -2.0 * least, s->inertia);
    if (least == 0.0) {
        h = add(h, 1.0, s->inertia);
    }
    double down[2] = {-at->slope[0], -at->slope[1]};
    solve(h, down, move);
    return down[0] * move[0] + down[1] * move[1];
}

// What a move that is all rounding promises: those of slopes squared over the stiffness.
static double promise_of_rounding(const ShellValley* at) {
    double sum = 0.0;
    const double curve[2] = {fabs(at->curve.kk), fabs(at->curve.aa)};
    for (int i = 0; i < 2; ++i) {
        sum += curve[i] > 0.0 ? at->load[i] * at->load[i] / curve[i] : 0.0;
    }
    return sum;
}

// Halves the move until it keeps a share of its promise; false: it never does.
static bool go(const ShellSearch* s, double x[2], ShellValley* at, const double move[2],
               double promise) {
    double share = 1.0;
    for (int i = 0; i < MOST_HALVINGS; ++i, share *= 0.5) {
        double to[2] = {x[0] + share * move[0], x[1] + share * move[1]};
        ShellValley next;
        if (!look(s, to, &next)) {
            continue;
        }
        double room = ROUNDING * (at->size + next.size);
        if (next.value <= at->value - KEPT * share * promise + room) {
            memcpy(x, to, 2 * sizeof *x);
            *at = next;
            return true;
        }
    }
    return false;
}

// A rest at a saddle is left along its falling line.
static bool leave_saddle(const ShellSearch* s, double x[2], ShellValley* at) {
    double least = least_curve(at->curve, s->inertia), move[2];
    if (s->dt > 0.0 || !(least < -1.0e-9 * fabs(at->curve.kk / s->inertia.kk))) {
        return false; // no saddle, but for rounding
    }
    along_least(at->curve, s->inertia, least, at->slope, move);
    // so far that the normal turns by some 0.01 rad
    double most =
        fmax(fabs(move[0]) * hypot(s->patch->def.size[0], s->patch->def.size[1]), fabs(move[1]));
    for (int i = 0; i < 2; ++i) {
        move[i] *= 0.01 / most;
    }
    return go(s, x, at, move, 0.0);
}

// From x, of which `at` knows.
static bool search(const ShellSearch* s, double x[2], ShellValley* at) {
    for (int i = 0; i < MOST_MOVES; ++i) {
        double move[2], promise = find_move(s, at, move);
        double worth = (s->dt > 0.0 ? form(s->drag, x, x) : 0.0) + promise_of_rounding(at);
        if (!(promise > SEARCHED * worth)) {
            x[0] += isfinite(move[0]) ? move[0] : 0.0;
            x[1] += isfinite(move[1]) ? move[1] : 0.0;
            if (!leave_saddle(s, x, at)) {
                return look(s, x, at);
            }
        } else if (!go(s, x, at, move, promise)) {
            return false;
        }
    }
    return false;
}

// --- the step --------------------------------------------------------------------------------

static ShellMatrix inertia_at(const ShellPatch* patch, const double z[2]) {
    double M[4];
    shell_mass(patch, z, z, M);
    return (ShellMatrix){M[0], 0.5 * (M[1] + M[2]), M[3] + patch->flat_inertia};
}

// tau times the elastic energy's form in the rate of b, twice. (S.12)
static ShellMatrix damping_at(const ShellPatch* patch) {
    double area = patch->def.size[0] * patch->def.size[1], k = patch->now.z[0];
    double scale = patch->def.damping * patch->stiffness * area;
    return (ShellMatrix){scale, 0.0, 2.0 * (1.0 - patch->def.poisson) * scale * k * k};
}

bool shell_predict(ShellPatch* patch, const ShellStep* step) {
    double mixed[4];
    const double* old = patch->now.v;
    ShellMatrix inertia = inertia_at(patch, patch->now.z), damping = damping_at(patch);
    ShellMatrix loss = add(damping, step->settling + patch->def.mass_damping, inertia);
    shell_mass(patch, patch->now.z, patch->now.before, mixed);
    ShellSearch s = {.patch = patch,
                     .dt = step->dt,
                     .gravity = step->gravity,
                     .inertia = inertia,
                     .drag = add(inertia, step->dt, loss),
                     .momentum = {mixed[0] * old[0] + mixed[1] * old[1],
                                  mixed[2] * old[0] + (mixed[3] + patch->flat_inertia) * old[1]}};
    s.start = shell_elastic(patch, patch->now.z).value +
              shell_weight(patch, step->gravity, patch->now.z).value;
    ShellValley at;
    double v[2] = {old[0], old[1]};
    if (!look(&s, v, &at)) { // too far: from where it stands still
        memset(v, 0, sizeof v);
        if (!look(&s, v, &at)) {
            return false;
        }
    }
    if (!search(&s, v, &at)) {
        return false;
    }
    double before = form(inertia_at(patch, patch->now.before), old, old);
    double pull = s.momentum[0] * v[0] + s.momentum[1] * v[1];
    patch->damping = step->dt * form(loss, v, v);
    patch->numerical = 0.5 * (form(inertia, v, v) + before) - pull; // (S.17)
    memcpy(patch->free, v, sizeof v);
    return true;
}

void shell_advance(ShellPatch* patch, double dt) {
    memcpy(patch->now.before, patch->now.z, sizeof patch->now.z);
    memcpy(patch->now.v, patch->free, sizeof patch->now.v);
    for (int i = 0; i < 2; ++i) {
        patch->now.z[i] += dt * patch->now.v[i];
    }
}

// --- rest ------------------------------------------------------------------------------------

bool shell_settle(ShellPatch* patch, TdlVec3 gravity, double* residual) {
    double z[2] = {patch->now.z[0], patch->now.z[1]};
    double diagonal = hypot(patch->def.size[0], patch->def.size[1]);
    double stiff = patch->stiffness * patch->def.size[0] * patch->def.size[1];
    // of a rest the inertia only tells how far k and the angle go together
    ShellSearch s = {
        .patch = patch, .gravity = gravity, .inertia = {stiff, 0.0, stiff / (diagonal * diagonal)}};
    ShellValley at;
    if (!look(&s, z, &at) || !search(&s, z, &at)) {
        return false;
    }
    double work =
        patch->area_mass * patch->def.size[0] * patch->def.size[1] * tdl_norm3(gravity) * diagonal +
        stiff / (diagonal * diagonal);
    *residual = (fabs(at.slope[0]) / diagonal + fabs(at.slope[1])) / work;
    memcpy(patch->now.z, z, sizeof z);
    memcpy(patch->now.before, z, sizeof z);
    memset(patch->now.v, 0, sizeof patch->now.v);
    return true;
}
