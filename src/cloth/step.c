// The implicit step of a sheet. docs/theory/cloth.md, section 2
//
// Backward Euler by Newton's method in which the stresses are unknowns of their own: the geometric
// stiffness and the forces then use the stress that the last linear solve predicts instead of that
// of a shape which has not converged, so that a sheet may be a million times stiffer in stretch
// than its inertia in a step. The matrix is that of the stiff sheet all the same, condensed on the
// nodes: symmetric and positive definite, whatever the constraints are. (N.7), (N.8)
#include "cloth/cloth.h"

#include <float.h>
#include <string.h>

enum { MAX_ITERATIONS = 40, CAREFUL_FROM = 25 };

// Shares of the negative part of the geometric stiffness, tried in turn until A is definite; after
// so many linearisations one more is tried again. A step that takes more of them is too long: it
// goes through states from which the sheet buckles.
enum { SHARES = 3, PATIENCE = 2, MOST_BUCKLED = 8 };
static const double NEGATIVE[SHARES] = {1.0, 0.6, 0.0};

// Change of a place, in edges, below which Newton's method has converged.
static const double CONVERGED = 1.0e-8;

// With forces expected, which contacts are going to change: where to leave it to the rounds.
enum { MOST_EXPECTED = 2 };
static const double EXPECTED = 1.0e-3;

// With less than this left A is kept, and again if that divided it by ten.
static const double SAME_BELOW = 0.02, SAME_GAIN = 0.1;

// Largest change of a place in one iteration, in edges; and later, where it did not converge.
static const double MAX_CHANGE = 1.0, CAREFUL = 0.25;

// What is left of the stiffness of a stitch that hangs loose, so that its stress has an equation.
static const double LOOSE = 1.0e-12;

// Strain beside a grip from which on it gives way; and what it comes after by in a step, in edges.
static const double MOST_STRAIN = 0.01, CATCH_UP = 0.01;

// --- before
// ---------------------------------------------------------------------------------------

// What the sheet pulls its held nodes with, N, into `missing`, and whether it is stretched there by
// more than it may be.
static void find_pulls(Cloth* c) {
    memset(c->missing, 0, 3 * (size_t)c->node_count * sizeof *c->missing);
    memset(c->strained, 0, (size_t)c->node_count * sizeof *c->strained);
    for (int e = 0; e < c->strain_count; ++e) {
        const ClothElement* el = &c->element[e];
        TdlVec3 slope[CLOTH_MOST];
        double strain = cloth_strain(el, c->x, slope);
        for (int k = 0; k < el->count; ++k) {
            int i = el->node[k];
            TdlVec3 pull = tdl_load3(c->missing, i);
            tdl_store3(c->missing, i, tdl_axpy3(pull, -el->stiffness * strain, slope[k]));
            c->strained[i] = c->strained[i] || (el->kind == CLOTH_EDGE && strain > MOST_STRAIN);
        }
    }
}

static TdlVec3 place_in(const ClothGrip* grip, const TdlPose* pose, int k) {
    return tdl_add3(pose->position, tdl_mul33_3(pose->rotation, grip->placed[k]));
}

// Where a grip is at the start and at the end of a step.
static void find_grip(const ClothGrip* grip, const ClothStep* t, TdlPose* from, TdlPose* to) {
    const ClothLead* led = grip->led;
    if (lead_is_on(&led->lead)) {
        *from = cloth_grip_pose(grip, t->end - t->dt);
        *to = lead_pose(&led->lead, *from, t->end - t->dt, t->end);
    } else {
        *from = motion_pose(&grip->motion, grip->middle, t->end - t->dt);
        *to = motion_pose(&grip->motion, grip->middle, t->end);
    }
}

// Nodes go where their motion leads them. A grip that would stretch the sheet further than it may
// be stays where it is, and comes after slowly when it can. (N.10)
static void aim_grip(Cloth* c, const ClothStep* t, const ClothGrip* grip) {
    TdlPose from, to;
    find_grip(grip, t, &from, &to);
    TdlVec3 pull = {0}, mean = {0};
    double travel = 0.0, longest = 0.0;
    bool strained = false;
    for (int k = 0; k < grip->count; ++k) {
        TdlVec3 end = place_in(grip, &to, k), way = tdl_sub3(end, tdl_load3(c->x, grip->node[k]));
        travel = fmax(travel, tdl_norm3(tdl_sub3(end, place_in(grip, &from, k))));
        longest = fmax(longest, tdl_norm3(way));
        mean = tdl_add3(mean, way);
        pull = tdl_add3(pull, tdl_load3(c->missing, grip->node[k]));
        strained = strained || c->strained[grip->node[k]];
        tdl_store3(c->aim, grip->node[k], way);
    }
    double slack = CATCH_UP * c->reach, most = travel + slack;
    bool gives = strained && tdl_dot3(pull, mean) < 0.0;
    double share = gives ? 0.0 : longest > most ? most / longest : 1.0;
    for (int k = 0; k < grip->count; ++k) {
        TdlVec3 way = tdl_load3(c->aim, grip->node[k]);
        tdl_store3(c->aim, grip->node[k], tdl_scale3(share / t->dt, way));
    }
    if (gives || (1.0 - share) * longest > slack) {
        c->gave = fmax(c->gave, tdl_norm3(pull));
    }
}

static void find_normals(Cloth* c) {
    memset(c->normal, 0, (size_t)c->node_count * sizeof *c->normal);
    for (int f = 0; f < c->triangle_count; ++f) {
        const int* v = c->triangle + 3 * (ptrdiff_t)f;
        TdlVec3 a = tdl_load3(c->x, v[0]);
        TdlVec3 n =
            tdl_cross3(tdl_sub3(tdl_load3(c->x, v[1]), a), tdl_sub3(tdl_load3(c->x, v[2]), a));
        for (int k = 0; k < 3; ++k) {
            c->normal[v[k]] = tdl_add3(c->normal[v[k]], n);
        }
    }
    for (int i = 0; i < c->node_count; ++i) {
        double size = tdl_norm3(c->normal[i]);
        c->normal[i] = tdl_scale3(size > 0.0 ? 1.0 / size : 0.0, c->normal[i]);
    }
}

// Whether its nodes, as they fly, come nearer than the length by more than its pull explains.
static bool is_loose(const Cloth* c, const ClothStitch* s, double pull, double length, double dt) {
    int i = s->node[0], j = s->node[1];
    TdlVec3 d = tdl_sub3(tdl_load3(c->x, j), tdl_load3(c->x, i));
    d = tdl_axpy3(d, dt, tdl_sub3(tdl_load3(c->v, j), tdl_load3(c->v, i)));
    double mass = c->def.density * fmin(c->area[i], c->area[j]);
    return mass * (length - tdl_norm3(d)) > dt * dt * fmax(pull, 0.0);
}

// Stitches are no longer than their time lets them be at the end of the step. They do not push:
// what would hangs loose in it. (N.51)
static void draw_stitches(Cloth* c, const ClothStep* t) {
    for (int s = 0; s < c->stitch_count; ++s) {
        const ClothStitch* stitch = &c->stitch[s];
        int e = cloth_stitch_first(c) + s;
        double length = fmax(stitch->last, stitch->first * (1.0 - t->end / stitch->time));
        bool loose = is_loose(c, stitch, c->stress[e] / stitch->first, length, t->dt);
        c->rest[e] = length / stitch->first - 1.0;
        c->gain[e] = loose ? LOOSE : 1.0;
        c->base.stress[e] = loose ? 0.0 : c->stress[e];
    }
}

// Hinges are damped: pulled back to where they were, and stiffer. (N.6)
static void damp_hinges(Cloth* c, double dt) {
    double ratio = c->def.bending_damping / dt;
    for (int e = 0; e < c->element_count; ++e) {
        c->gain[e] = 1.0;
        c->rest[e] = 0.0;
        if (e >= c->strain_count) {
            TdlVec3 slope[CLOTH_MOST];
            c->gain[e] = 1.0 + ratio;
            c->rest[e] = ratio / (1.0 + ratio) * cloth_strain(&c->element[e], c->x, slope);
        }
    }
}

void cloth_prepare(Cloth* c, const ClothStep* t) {
    size_t bytes = 3 * (size_t)c->node_count * sizeof(double);
    memset(c->expected, 0, bytes);
    memset(c->aim, 0, bytes);
    c->gave = 0.0;
    if (c->grip_count > 0) {
        find_pulls(c);
    }
    for (int g = 0; g < c->grip_count; ++g) {
        aim_grip(c, t, &c->grip[g]);
    }
    damp_hinges(c, t->dt);
    c->careful = c->buckled = 0;
    if (c->def.drag > 0.0) {
        find_normals(c);
    }
    memcpy(c->base.v, c->v, bytes);
    memcpy(c->base.stress, c->stress, (size_t)c->element_count * sizeof(double));
    draw_stitches(c, t);
    for (int i = 0; i < c->node_count; ++i) {
        if (c->held[i]) {
            tdl_store3(c->base.v, i, tdl_load3(c->aim, i));
        }
    }
}

// --- the equation
// ----------------------------------------------------------------------------------

static double stiffness(const Cloth* c, int e) {
    return c->element[e].stiffness * c->gain[e];
}

// Mass of a node, with what damping adds to it in a step, kg.
static double damped_mass(const Cloth* c, const ClothStep* t, int i) {
    double rate = c->def.damping + c->def.density * t->settling;
    return c->area[i] * (c->def.density + t->dt * rate);
}

static double weight_of(const TdlClothDef* def) {
    return def->weight < 0.0 ? def->density : def->weight;
}

// out <- minus what the velocity v lacks of the step's equation, without stresses: momentum,
// weight, drag and bending. (N.9)
static void add_loads(const Cloth* c, const ClothStep* t, const double* v, double* out) {
    double weight = t->dt * weight_of(&c->def), drag = t->dt * c->def.drag;
    for (int i = 0; i < c->node_count; ++i) {
        TdlVec3 own = tdl_load3(v, i);
        TdlVec3 f = tdl_scale3(c->def.density * c->area[i], tdl_load3(c->v, i));
        f = tdl_axpy3(f, -damped_mass(c, t, i), own);
        f = tdl_axpy3(f, weight * c->area[i], t->gravity);
        if (drag > 0.0) {
            double wind = tdl_dot3(c->normal[i], tdl_sub3(t->wind, own));
            f = tdl_axpy3(f, drag * c->area[i] * wind, c->normal[i]);
        }
        tdl_store3(out, i, f);
    }
    for (int k = 0; k < c->pull_count; ++k) {
        int i = c->pull[k].node;
        tdl_store3(out, i, tdl_axpy3(tdl_load3(out, i), t->dt, c->pull[k].force));
    }
    for (int k = 0; k < c->varying.count; ++k) {
        int i = c->varying.at[k].slot;
        tdl_store3(out, i, tdl_axpy3(tdl_load3(out, i), t->dt, c->varying.at[k].force));
    }
    if (c->bend_count > 0) {
        return; // hinges bend it
    }
    double bend = t->dt, damp = t->dt * (t->dt + c->def.bending_damping);
    for (int i = 0; i < c->node_count; ++i) {
        TdlVec3 sum = {0};
        for (int e = c->pattern.start[i]; e < c->pattern.start[i + 1]; ++e) {
            int j = c->pattern.column[e];
            TdlVec3 y = tdl_axpy3(tdl_scale3(bend, tdl_load3(c->x, j)), damp, tdl_load3(v, j));
            sum = tdl_axpy3(sum, c->bending[e], y);
        }
        tdl_store3(out, i, tdl_sub3(tdl_load3(out, i), sum));
    }
}

static double slope_product(const ClothElement* el, const TdlVec3* slope, const double* v) {
    double sum = 0.0;
    for (int k = 0; k < el->count; ++k) {
        sum += tdl_dot3(slope[k], tdl_load3(v, el->node[k]));
    }
    return sum;
}

static void add_force(const ClothElement* el, const TdlVec3* slope, double size, double* out) {
    for (int k = 0; k < el->count; ++k) {
        TdlVec3 f = tdl_load3(out, el->node[k]);
        tdl_store3(out, el->node[k], tdl_axpy3(f, size, slope[k]));
    }
}

// What a held node lacks is the hold's to give.
void cloth_clear_held(const Cloth* c, double* x) {
    for (int i = 0; i < c->node_count; ++i) {
        if (c->held[i]) {
            tdl_store3(x, i, (TdlVec3){0});
        }
    }
}

// Where the velocity v leads, in c->missing for the while.
static double* place_of(const Cloth* c, const ClothStep* t, const double* v) {
    for (int i = 0; i < 3 * c->node_count; ++i) {
        c->missing[i] = c->x[i] + t->dt * v[i];
    }
    return c->missing;
}

// The stresses that the linearised sheet has at the velocity v, into `tried`. (N.7)
static void find_stresses(Cloth* c, const ClothStep* t, const double* v) {
    for (int i = 0; i < 3 * c->node_count; ++i) {
        c->tried.v[i] = v[i];
        c->missing[i] = t->dt * (v[i] - c->base.v[i]);
    }
    for (int e = 0; e < c->element_count; ++e) {
        double more = slope_product(&c->element[e], c->slope + c->element[e].first, c->missing);
        c->tried.stress[e] = c->base.stress[e] + stiffness(c, e) * (c->base.left[e] + more);
    }
}

double cloth_residual(Cloth* c, const ClothStep* t, const double* v, const double* impulse) {
    find_stresses(c, t, v);
    double *x = place_of(c, t, v), *out = c->force;
    add_loads(c, t, v, out);
    for (int e = 0; e < c->element_count; ++e) {
        const ClothElement* el = &c->element[e];
        TdlVec3 slope[CLOTH_MOST];
        double stress = c->tried.stress[e];
        c->tried.left[e] = cloth_strain(el, x, slope) - c->rest[e] - stress / stiffness(c, e);
        add_force(el, slope, -t->dt * stress, out);
        add_force(el, c->slope + el->first, -t->dt * stiffness(c, e) * c->tried.left[e], out);
    }
    double most = 0.0;
    for (int i = 0; i < 3 * c->node_count; ++i) {
        c->missing[i] = out[i] + (impulse == NULL ? 0.0 : impulse[i]);
    }
    cloth_clear_held(c, c->missing);
    node_cholesky_solve(&c->factor, c->missing);
    for (int i = 0; i < c->node_count; ++i) {
        double change = tdl_norm3(tdl_load3(c->missing, i));
        most = change > most || isnan(change) ? change : most;
    }
    return t->dt * most / c->reach;
}

void cloth_rebase(Cloth* c) {
    ClothBase swap = c->base;
    c->base = c->tried;
    c->tried = swap;
}

// --- the matrix
// ------------------------------------------------------------------------------------

// Inertia, drag and bending, the same in every round.
static void fill_blocks(Cloth* c, const ClothStep* t) {
    double bend = t->dt * (t->dt + c->def.bending_damping), drag = t->dt * c->def.drag;
    for (int i = 0; i < c->node_count; ++i) {
        for (int e = c->pattern.start[i]; e < c->pattern.start[i + 1]; ++e) {
            double* block = c->blocks + (ptrdiff_t)9 * e;
            double same = bend * c->bending[e];
            same += c->pattern.column[e] == i ? damped_mass(c, t, i) : 0.0;
            memset(block, 0, 9 * sizeof *block);
            block[0] = block[4] = block[8] = same;
            if (drag > 0.0 && c->pattern.column[e] == i) {
                TdlVec3 n = c->normal[i];
                TdlMat3 S = tdl_scale33(drag * c->area[i], tdl_outer3(n, n));
                tdl_store3(block, 0, tdl_add3(tdl_load3(block, 0), S.cx));
                tdl_store3(block, 1, tdl_add3(tdl_load3(block, 1), S.cy));
                tdl_store3(block, 2, tdl_add3(tdl_load3(block, 2), S.cz));
            }
        }
    }
}

// blocks += size slope slope'
static void add_square(const ClothElement* el, const TdlVec3* slope, double size, double* blocks) {
    for (int i = 0; i < el->count; ++i) {
        TdlVec3 a = tdl_scale3(size, slope[i]);
        for (int j = 0; j < el->count; ++j) {
            double* to = blocks + (ptrdiff_t)9 * el->place[el->count * i + j];
            const double b[3] = {slope[j].x, slope[j].y, slope[j].z};
            for (int k = 0; k < 3; ++k) {
                to[3 * k] += a.x * b[k];
                to[3 * k + 1] += a.y * b[k];
                to[3 * k + 2] += a.z * b[k];
            }
        }
    }
}

// Rows and columns of held nodes are those of 1: nothing moves them.
static void hold_blocks(Cloth* c) {
    for (int i = 0; i < c->node_count; ++i) {
        for (int e = c->pattern.start[i]; e < c->pattern.start[i + 1]; ++e) {
            int j = c->pattern.column[e];
            if (c->held[i] || c->held[j]) {
                double* block = c->blocks + (ptrdiff_t)9 * e;
                memset(block, 0, 9 * sizeof *block);
                block[0] = block[4] = block[8] = i == j ? 1.0 : 0.0;
            }
        }
    }
}

// The velocity v becomes the base, `tried` having the stresses there.
static void take_base(Cloth* c, const ClothStep* t, const double* v, double share) {
    memcpy(c->base.v, v, 3 * (size_t)c->node_count * sizeof *v);
    memcpy(c->base.stress, c->tried.stress, (size_t)c->element_count * sizeof(double));
    fill_blocks(c, t);
    const double* x = place_of(c, t, v);
    for (int e = 0; e < c->element_count; ++e) {
        const ClothElement* el = &c->element[e];
        TdlVec3* slope = c->slope + el->first;
        double strain = cloth_strain(el, x, slope) - c->rest[e], stress = c->base.stress[e];
        c->base.left[e] = strain - stress / stiffness(c, e);
        add_square(el, slope, t->dt * t->dt * stiffness(c, e), c->blocks);
        cloth_add_geometric(el, x, stress, t->dt * t->dt, share, c->blocks);
    }
    hold_blocks(c);
}

// A at the velocity v, `tried` having the stresses there. With the whole geometric stiffness it
// need not be definite, where the sheet is about to buckle: then with less of its negative part.
static bool factor_at(Cloth* c, const ClothStep* t, const double* v) {
    if (c->careful > 0 && --c->patience == 0) {
        --c->careful;
    }
    for (; c->careful < SHARES; ++c->careful, c->patience = PATIENCE) {
        take_base(c, t, v, NEGATIVE[c->careful]);
        if (node_cholesky_factor(&c->factor, c->blocks)) {
            c->buckled += c->careful > 0;
            return c->buckled <= MOST_BUCKLED;
        }
    }
    return false;
}

bool cloth_linearise(Cloth* c, const ClothStep* t, const double* v) {
    find_stresses(c, t, v);
    if (!factor_at(c, t, v) || !isfinite(cloth_residual(c, t, c->base.v, NULL))) {
        return false;
    }
    for (int i = 0; i < 3 * c->node_count; ++i) {
        c->free[i] = c->base.v[i] + c->missing[i];
    }
    return true;
}

// --- without contacts
// ------------------------------------------------------------------------------

// free <- base + missing, which is as large as `change`; not more than may be at once.
static void go_on(Cloth* c, double change, int iteration) {
    double most = iteration < CAREFUL_FROM ? MAX_CHANGE : CAREFUL;
    double share = change > most ? most / change : 1.0;
    for (int i = 0; i < 3 * c->node_count; ++i) {
        c->free[i] = c->base.v[i] + share * c->missing[i];
    }
}

static bool has_expected(const Cloth* c) {
    for (int i = 0; i < 3 * c->node_count; ++i) {
        if (c->expected[i] != 0.0) {
            return true;
        }
    }
    return false;
}

// A may be that of the iteration before. What is expected led to `free`; without it, as A has it.
static void take_back(Cloth* c) {
    if (has_expected(c)) {
        memcpy(c->missing, c->expected, 3 * (size_t)c->node_count * sizeof(double));
        cloth_clear_held(c, c->missing);
        node_cholesky_solve(&c->factor, c->missing);
        for (int i = 0; i < 3 * c->node_count; ++i) {
            c->free[i] -= c->missing[i];
        }
    }
}

bool cloth_predict(Cloth* c, const ClothStep* t) {
    double change = 0.0;
    bool same = false, expects = has_expected(c);
    memcpy(c->tried.stress, c->base.stress, (size_t)c->element_count * sizeof(double));
    memcpy(c->free, c->base.v, 3 * (size_t)c->node_count * sizeof(double));
    for (int k = 0; k < MAX_ITERATIONS; ++k) {
        if (same) {
            cloth_rebase(c);
        } else {
            if (!factor_at(c, t, c->free)) {
                return false;
            }
            change = cloth_residual(c, t, c->base.v, c->expected);
        }
        if (!isfinite(change)) {
            return false;
        }
        go_on(c, change, k);
        if (change < CONVERGED || (expects && (change < EXPECTED || k >= MOST_EXPECTED))) {
            c->buckled = 0; // the rounds have their own
            take_back(c);
            return true;
        }
        double left = cloth_residual(c, t, c->free, c->expected);
        same = left < SAME_BELOW && left < SAME_GAIN * change;
        change = left;
    }
    return false;
}

// --- after
// -----------------------------------------------------------------------------------------

double cloth_advance(Cloth* c, const ClothStep* t, const double* impulse) {
    int n = 3 * c->node_count;
    cloth_residual(c, t, c->free, impulse);
    memcpy(c->stress, c->tried.stress, (size_t)c->element_count * sizeof(double));
    double work = 0.0;
    for (int k = 0; k < c->pull_count; ++k) {
        work += t->dt * tdl_dot3(c->pull[k].force, tdl_load3(c->free, c->pull[k].node));
    }
    for (int k = 0; k < c->varying.count; ++k) {
        const VaryingLoad* load = &c->varying.at[k];
        work += t->dt * tdl_dot3(load->force, tdl_load3(c->free, load->slot));
    }
    for (int g = 0; g < c->grip_count; ++g) {
        ClothLead* led = c->grip[g].led;
        TdlPose from, now = {0};
        if (lead_is_on(&led->lead)) {
            find_grip(&c->grip[g], t, &from, &now);
        }
        led->now = now;
    }
    double drag = t->dt * c->def.drag;
    for (int i = 0; i < c->node_count; ++i) {
        TdlVec3 v = tdl_load3(c->free, i), f = {0};
        if (c->held[i]) {
            f = tdl_load3(c->force, i);
            f = impulse == NULL ? f : tdl_add3(f, tdl_load3(impulse, i));
            work -= tdl_dot3(f, v);
        }
        if (drag > 0.0) {
            double wind = tdl_dot3(c->normal[i], tdl_sub3(t->wind, v));
            work += drag * c->area[i] * wind * tdl_dot3(c->normal[i], v);
        }
        tdl_store3(c->force, i, tdl_scale3(-1.0 / t->dt, f));
    }
    memcpy(c->v, c->free, (size_t)n * sizeof *c->v);
    for (int i = 0; i < n; ++i) {
        c->x[i] += t->dt * c->v[i];
    }
    for (int e = cloth_stitch_first(c); e < c->element_count; ++e) { // they pull from outside
        TdlVec3 slope[CLOTH_MOST];
        cloth_strain(&c->element[e], c->x, slope);
        work -= t->dt * c->stress[e] * slope_product(&c->element[e], slope, c->v);
    }
    return work;
}

TdlEnergy cloth_energy(const Cloth* c, TdlVec3 gravity) {
    TdlEnergy sum = {0};
    double weight = weight_of(&c->def);
    for (int i = 0; i < c->node_count; ++i) {
        TdlVec3 v = tdl_load3(c->v, i), x = tdl_load3(c->x, i), bent = {0};
        sum.kinetic += 0.5 * c->def.density * c->area[i] * tdl_dot3(v, v);
        sum.gravity -= weight * c->area[i] * tdl_dot3(gravity, x);
        for (int e = c->pattern.start[i]; e < c->pattern.start[i + 1]; ++e) {
            bent = tdl_axpy3(bent, c->bending[e], tdl_load3(c->x, c->pattern.column[e]));
        }
        sum.elastic += 0.5 * tdl_dot3(x, bent);
    }
    for (int e = 0; e < cloth_stitch_first(c); ++e) {
        TdlVec3 slope[CLOTH_MOST];
        double strain = cloth_strain(&c->element[e], c->x, slope);
        sum.elastic += 0.5 * c->element[e].stiffness * strain * strain;
    }
    return sum;
}
