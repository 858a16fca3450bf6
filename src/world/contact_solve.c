// Solving contacts: the rows of H and Y = A^-1 H' of every contact, the friction problem in
// velocity space, and the displacements that take overlaps away. docs/theory/world.md
//
// Where every body that is touched can do it, A = L L', rows of G = H L'^-1 take the place of both:
// they are as short as those of H, and W = G G'. The solver's velocities are then z = L' v.
//
// Relative velocity is that of the second body less that of the first, in the contact's basis, and
// the impulse acts on the second. A gap g > 0 may close in the step: u_N >= -g / dt. What time
// stepping leaves as overlap is taken away by moving the bodies, not by giving them velocity.
#include "world/contacts.h"

#include "base/clock.h"
#include "math/dense.h"
#include "world/contact_data.h"

#include <string.h>

// A candidate takes part when its gap is below this share of the radius plus so many times what
// it closes by in a step.
static const double NEAR_RADII = 0.5;
static const double NEAR_STEPS = 2.0;

// Overlap that is left alone, the share of the rest that a step takes away, and the most it moves
// bodies apart: all in radii.
static const double SLOP = 2.0e-3;
static const double PUSH_SHARE = 0.3;
static const double PUSH_MOST = 0.1;
enum { PUSH_SWEEPS = 20 };

// Contacts up to which a solve that did not converge is done again by the thorough solver.
enum { FEW = 1000 };

// Contacts whose diagonal blocks set the unit of impulses.
enum { SCALE_SAMPLES = 32 };

typedef struct Problem {
    TdlWorld* world;
    Contacts* contacts;
    double dt;
    int count;             // of contacts
    int* of;               // [count] candidate of each
    int body_count;        // rods, then rigid bodies
    int* dof_start;        // [body_count + 1]
    double* velocity;      // [dofs] without contacts
    int* body;             // [2 count], -1: a collider
    TdlSpan* span;         // [2 count] coordinates of its body that a side's rows of H are about
    size_t *h_at, *y_at;   // [2 count] where its rows are; those of y are the first side's for both
                           // where a body touches itself, unless whitened
    double *h, *y;         // rows of H and of A^-1 H', in units of impulse that make W about 1
    bool whitened;         // y has rows of G, each where its row of H is
    double *mu, *bias;     // [count]
    double *fixed, *u, *r; // [3 count] prescribed velocity; result
    double* before;        // [3 count] relative velocity without contacts
    double* change;        // [dofs] of the velocities, as the solver sees it
    double unit;           // r in N s = r / unit
} Problem;

// Where a contact acts: between the two surfaces.
static TdlVec3 contact_point(const Contacts* c, const TdlContact* x) {
    double ra = side_radius(c, x, 0), rb = side_radius(c, x, 1);
    if (x->body[1] < 0) {
        return tdl_axpy3(x->point[0], ra + 0.5 * x->gap, x->basis.cx);
    }
    TdlVec3 a = tdl_axpy3(x->point[0], ra, x->basis.cx);
    TdlVec3 b = tdl_axpy3(x->point[1], -rb, x->basis.cx);
    return tdl_scale3(0.5, tdl_add3(a, b));
}

// --- which contacts, and where their rows are ------------------------------------------------

static void choose_contacts(Problem* p) {
    const Contacts* c = p->contacts;
    p->count = 0;
    for (int i = 0; i < c->count; ++i) {
        const Candidate* x = &c->found[i];
        double near = NEAR_RADII * x->radius + NEAR_STEPS * p->dt * fmax(0.0, x->closing);
        if (!x->jointed && !x->passed_on && (x->missed || x->site.contact.gap <= near)) {
            p->of[p->count++] = i;
        }
    }
}

static int body_dofs(const Problem* p, int body) {
    return body < 0 ? 0 : p->dof_start[body + 1] - p->dof_start[body];
}

static bool touches_itself(const Problem* p, int i) {
    return p->body[2 * i] >= 0 && p->body[2 * i] == p->body[2 * i + 1];
}

static int body_of(const TdlWorld* world, Side side) {
    switch (side.kind) {
    case TDL_BODY_ROD:
        return world->rods[side.index].root;
    case TDL_BODY_RIGID:
        return world->rod_count + side.index;
    case TDL_BODY_COLLIDER:
        break;
    }
    return -1;
}

static bool can_whiten(const TdlWorld* world, Side side) {
    if (side.kind != TDL_BODY_ROD) {
        return true;
    }
    const Rod* rod = world->rods[side.index].rod;
    return rod->model->whiten != NULL && rod->end_hold == TDL_HOLD_FREE;
}

static TdlSpan movers_of(const TdlWorld* world, Side side) {
    if (side.kind == TDL_BODY_ROD) {
        const Rod* rod = world->rods[side.index].rod;
        return rod->model->movers(rod, side.element);
    }
    return (TdlSpan){0, side.kind == TDL_BODY_RIGID ? 6 : 0};
}

static bool lay_out(Problem* p) {
    TdlWorld* world = p->world;
    Arena* arena = &p->contacts->arena;
    p->body_count = world->rod_count + world->rigid_count;
    p->dof_start = ARENA_NEW(arena, int, p->body_count + 1);
    p->body = ARENA_NEW(arena, int, 2 * p->count);
    p->span = ARENA_NEW(arena, TdlSpan, 2 * p->count);
    p->h_at = ARENA_NEW(arena, size_t, 2 * p->count);
    p->y_at = ARENA_NEW(arena, size_t, 2 * p->count);
    p->mu = ARENA_NEW(arena, double, p->count);
    p->bias = ARENA_NEW(arena, double, p->count);
    p->fixed = ARENA_NEW(arena, double, 3 * p->count);
    p->u = ARENA_NEW(arena, double, 3 * p->count);
    p->r = ARENA_NEW(arena, double, 3 * p->count);
    p->before = ARENA_NEW(arena, double, 3 * p->count);
    if (!p->dof_start || !p->body || !p->span || !p->h_at || !p->y_at || !p->mu || !p->bias ||
        !p->fixed || !p->u || !p->r || !p->before) {
        return false;
    }
    int dofs = 0;
    for (int i = 0; i < p->body_count; ++i) {
        p->dof_start[i] = dofs;
        bool root = i < world->rod_count && world->rods[i].root == i;
        dofs += i >= world->rod_count ? 6 : root ? world->rods[i].rod->tree_dofs : 0;
    }
    p->dof_start[p->body_count] = dofs;
    size_t h_used = 0, y_used = 0;
    p->whitened = true;
    for (int i = 0; i < 2 * p->count; ++i) {
        Side side = contact_side(world, &p->contacts->found[p->of[i / 2]].site.contact, i % 2);
        p->body[i] = body_of(world, side);
        p->span[i] = movers_of(world, side);
        bool again = i % 2 == 1 && touches_itself(p, i / 2);
        p->h_at[i] = h_used;
        p->y_at[i] = again ? p->y_at[i - 1] : y_used;
        h_used += 3 * (size_t)p->span[i].count;
        y_used += again ? 0 : 3 * (size_t)body_dofs(p, p->body[i]);
        p->whitened = p->whitened && can_whiten(world, side);
    }
    if (p->whitened) {
        p->y_at = p->h_at;
        y_used = h_used;
    }
    p->velocity = ARENA_NEW(arena, double, dofs);
    p->change = ARENA_NEW(arena, double, dofs);
    p->h = ARENA_NEW(arena, double, h_used + 4);
    p->y = ARENA_NEW(arena, double, y_used + 4);
    return p->velocity && p->change && p->h && p->y;
}

static void gather_velocities(Problem* p) {
    for (int i = 0; i < p->body_count; ++i) {
        int n = p->dof_start[i + 1] - p->dof_start[i], rod = i - p->world->rod_count;
        const double* v =
            rod < 0 ? p->world->rods[i].rod->v_free : p->world->rigids[rod].rigid->v_free;
        memcpy(p->velocity + p->dof_start[i], v, (size_t)n * sizeof *v);
    }
}

// --- rows -----------------------------------------------------------------------------------

// At the root of a tree.
static void solve_rows(const Rod* rod, double* y) {
    if (rod->model->solve_columns != NULL && rod->child == NULL) {
        rod->model->solve_columns(rod, 3, y);
        return;
    }
    for (int k = 0; k < 3; ++k) {
        rod->model->solve(rod, y + (size_t)k * (size_t)rod->tree_dofs);
    }
}

// Velocity at a place of what a scripted motion prescribes, in the contact's basis.
static TdlVec3 prescribed(const TdlWorld* world, Side side, TdlVec3 at, TdlMat3 basis) {
    Twist rate = {0};
    TdlVec3 about = {0};
    if (side.kind == TDL_BODY_COLLIDER) {
        const WorldCollider* wc = &world->colliders[side.index];
        return tdl_tmul33_3(basis, collider_velocity(wc, at, side.element));
    }
    if (side.kind == TDL_BODY_ROD && world->rods[side.index].rod->model->carried) {
        const WorldRod* root = &world->rods[world->rods[side.index].root];
        rate = root->step.base_rate;
        about = root->rod->base.now.position;
    }
    TdlVec3 v = tdl_add3(rate.linear, tdl_cross3(rate.angular, tdl_sub3(at, about)));
    return tdl_tmul33_3(basis, v);
}

// Row `row` of a side's H, times a vector over the coordinates of all bodies.
static double side_product(const Problem* p, int side, int row, const double* all) {
    TdlSpan span = p->span[side];
    const double* h = p->h + p->h_at[side] + (ptrdiff_t)row * span.count;
    return tdl_dot(span.count, h, all + p->dof_start[p->body[side]] + span.first);
}

// The rows of one side, and what they make of the velocities without contacts.
static void fill_side(const Problem* p, int i, int which, TdlVec3 at, TdlVec3* u, TdlVec3* fixed) {
    TdlWorld* world = p->world;
    const TdlContact* x = &p->contacts->found[p->of[i]].site.contact;
    Side side = contact_side(world, x, which);
    double sign = which == 0 ? -1.0 : 1.0;
    TdlVec3 place = side.kind == TDL_BODY_ROD ? x->point[which] : at;
    *fixed = tdl_axpy3(*fixed, sign, prescribed(world, side, place, x->basis));
    if (p->body[2 * i + which] < 0) {
        return;
    }
    double* h = p->h + p->h_at[2 * i + which];
    if (side.kind == TDL_BODY_ROD) {
        const Rod* rod = world->rods[side.index].rod;
        rod->model->jacobian(rod, side.element, side.s, x->basis, h);
    } else {
        rigid_jacobian(world->rigids[side.index].rigid, at, x->basis, h);
    }
    int n = p->span[2 * i + which].count;
    double part[3];
    for (int k = 0; k < 3; ++k) {
        for (int j = k * n; j < (k + 1) * n; ++j) {
            h[j] *= sign;
        }
        part[k] = side_product(p, 2 * i + which, k, p->velocity);
    }
    *u = tdl_add3(*u, (TdlVec3){part[0], part[1], part[2]});
}

// What unit impulses on one side, or on both of a body that touches itself, do to its body.
static void fill_columns(const Problem* p, int side, bool both) {
    int body = p->body[side], n = body_dofs(p, body);
    double *y = p->y + p->y_at[side], scale = 1.0 / p->unit;
    memset(y, 0, 3 * (size_t)n * sizeof *y);
    for (int s = side; s <= side + both; ++s) {
        TdlSpan span = p->span[s];
        const double* h = p->h + p->h_at[s];
        for (int k = 0; k < 3; ++k) {
            for (int j = 0; j < span.count; ++j) {
                y[k * n + span.first + j] += scale * h[k * span.count + j];
            }
        }
    }
    if (body < p->world->rod_count) {
        solve_rows(p->world->rods[body].rod, y);
        return;
    }
    for (int k = 0; k < 3; ++k) {
        rigid_solve(p->world->rigids[body - p->world->rod_count].rigid, y + (size_t)k * 6);
    }
}

// Row k of G of a side.
static double* whitened_row(const Problem* p, int side, int k) {
    return p->y + p->y_at[side] + (ptrdiff_t)k * p->span[side].count;
}

static void fill_whitened(const Problem* p, int side) {
    int body = p->body[side], n = p->span[side].count;
    double *g = whitened_row(p, side, 0), scale = 1.0 / sqrt(p->unit);
    const double* h = p->h + p->h_at[side];
    for (int j = 0; j < 3 * n; ++j) {
        g[j] = scale * h[j];
    }
    if (body < p->world->rod_count) {
        const Rod* rod = p->world->rods[body].rod;
        rod->model->whiten(rod, n, 3, g);
        return;
    }
    for (int k = 0; k < 3; ++k) {
        rigid_whiten(p->world->rigids[body - p->world->rod_count].rigid, g + (ptrdiff_t)k * n);
    }
}

static void fill_contact_columns(void* user, int i, int worker) {
    (void)worker;
    const Problem* p = user;
    bool both = touches_itself(p, i) && !p->whitened;
    for (int side = 2 * i; side < 2 * i + 2 - both; ++side) {
        if (p->body[side] >= 0 && p->whitened) {
            fill_whitened(p, side);
        } else if (p->body[side] >= 0) {
            fill_columns(p, side, both);
        }
    }
}

// The normal velocity that the law asks for at least.
static double normal_bias(const Problem* p, const TdlContact* x, TdlContactLaw law, double before) {
    double gap = fmax(x->gap, 0.0);
    bool rigid = law.restitution > 0.0;
    for (int side = 0; side < 2; ++side) {
        rigid = rigid && contact_side(p->world, x, side).kind != TDL_BODY_ROD;
    }
    // slower than gravity makes it in two steps is no impact
    double rest = 2.0 * p->dt * tdl_norm3(p->world->def.gravity);
    if (rigid && gap + p->dt * before < 0.0 && before < -rest) {
        return -law.restitution * before;
    }
    return -gap / p->dt;
}

// What displacements or velocities of the bodies make along the normal.
static double normal_motion(const Problem* p, int i, const double* move) {
    double sum = 0.0;
    for (int side = 2 * i; side < 2 * i + 2; ++side) {
        sum += p->body[side] < 0 ? 0.0 : side_product(p, side, 0, move);
    }
    return sum;
}

static void fill_contact(void* user, int i, int worker) {
    (void)worker;
    const Problem* p = user;
    const Candidate* c = &p->contacts->found[p->of[i]];
    const TdlContact* x = &c->site.contact;
    TdlVec3 at = contact_point(p->contacts, x), u = {0}, fixed = {0};
    fill_side(p, i, 0, at, &u, &fixed);
    fill_side(p, i, 1, at, &u, &fixed);
    TdlContactLaw law = contact_law(p->world, side_material(p->world, contact_side(p->world, x, 0)),
                                    side_material(p->world, contact_side(p->world, x, 1)));
    p->mu[i] = law.mu;
    p->bias[i] = normal_bias(p, x, law, u.x + fixed.x);
    if (c->sunk > 0.0 && p->contacts->tried_dofs == p->dof_start[p->body_count]) {
        // so much more than in the attempt before (W.8)
        double tried = normal_motion(p, i, p->contacts->tried_velocity) + fixed.x;
        p->bias[i] = fmax(p->bias[i], tried + c->sunk / p->dt);
    } else if (c->sunk < 0.0) {
        double share = p->dt / p->world->def.step; // what is lost goes with the square (W.9)
        p->bias[i] -= share * share * c->sunk / p->dt;
    }
    tdl_store3(p->fixed, i, fixed);
    tdl_store3(p->before, i, tdl_add3(u, fixed));
    TdlVec3 guess = tdl_tmul33_3(x->basis, c->force);
    tdl_store3(p->r, i, tdl_scale3(p->dt, guess));
}

// A diagonal entry of W: row `row` of H times what it does.
static double row_product(const Problem* p, int i, int row) {
    double sum = 0.0;
    if (p->whitened) {
        for (int a = 2 * i; a < 2 * i + 2; ++a) {
            for (int b = 2 * i; b < 2 * i + 2; ++b) {
                bool same = p->body[a] >= 0 && p->body[a] == p->body[b]; // spans begin at 0
                int na = p->span[a].count, nb = p->span[b].count, n = na < nb ? na : nb;
                sum += tdl_dot(same ? n : 0, whitened_row(p, a, row), whitened_row(p, b, row));
            }
        }
        return sum;
    }
    for (int side = 2 * i; side < 2 * i + 2; ++side) {
        TdlSpan span = p->span[side];
        const double* h = p->h + p->h_at[side] + (ptrdiff_t)row * span.count;
        ptrdiff_t at = (ptrdiff_t)row * body_dofs(p, p->body[side]) + span.first;
        sum += tdl_dot(span.count, h, p->y + p->y_at[side] + at);
    }
    return sum;
}

// The unit of impulse in which W is about 1: error measures compare impulses with velocities. Found
// from some contacts, whose rows of y are filled for it.
static double find_unit(Problem* p) {
    double sum = 0.0;
    int taken = 0, stride = p->count / SCALE_SAMPLES + 1;
    p->unit = 1.0;
    for (int i = 0; i < p->count; i += stride, ++taken) {
        fill_contact_columns(p, i, 0);
        sum += row_product(p, i, 0) + row_product(p, i, 1) + row_product(p, i, 2);
    }
    double unit = sum / (3.0 * taken);
    return isfinite(unit) && unit > 0.0 ? unit : 1.0;
}

// --- the friction problem -------------------------------------------------------------------

// Memory of a step: handed out by the arena, taken back with it.
static void* scratch_resize(void* user, void* block, size_t old_size, size_t new_size) {
    if (new_size == 0) {
        return NULL;
    }
    void* fresh = arena_alloc(user, new_size, 1);
    if (fresh != NULL && block != NULL) {
        memcpy(fresh, block, old_size < new_size ? old_size : new_size);
    }
    return fresh;
}

static void show_problem(const Problem* p, const TdlFrictionProblem* problem, const double* guess,
                         const TdlFrictionInfo* info) {
    TdlWorld* world = p->world;
    TdlContactProblem solved = {.step = world->step_count + 1,
                                .time = tdl_world_time(world),
                                .dt = p->dt,
                                .problem = problem,
                                .guess = guess,
                                .r = p->r,
                                .unit = 1.0 / p->unit,
                                .info = *info};
    world->problem_fn(world->problem_user, &solved);
}

static TdlStatus solve_friction(Problem* p, ContactsSolved* out) {
    TdlHost scratch = p->contacts->host;
    scratch.mem = (TdlAllocator){scratch_resize, &p->contacts->arena};
    TdlFrictionBodiesDef def = {
        .laws = {3, p->count, p->mu, NULL, p->bias},
        .body_count = p->body_count,
        .dof_start = p->dof_start,
        .u_free = p->before,
        .body = p->body,
        .span = p->span,
        .h = p->whitened ? p->y : p->h,
        .y = p->y,
    };
    TdlFrictionProblem* problem;
    TdlStatus status = tdl_friction_problem_create_bodies(&scratch, &def, &problem);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlFrictionInfo info;
    double* guess = NULL;
    if (p->world->problem_fn != NULL) {
        guess = ARENA_NEW(&p->contacts->arena, double, 3 * p->count);
        if (guess == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        memcpy(guess, p->r, 3 * (size_t)p->count * sizeof *guess);
    }
    status = tdl_friction_solver_solve(p->contacts->solver, problem, p->r, p->u, &info);
    out->iterations = info.iterations;
    if (status == TDL_STATUS_OK && info.outcome != TDL_FRICTION_CONVERGED && p->count <= FEW) {
        status = tdl_friction_solver_solve(p->contacts->thorough, problem, p->r, p->u, &info);
        out->iterations += info.iterations;
    }
    if (status == TDL_STATUS_OK) {
        out->error = info.error;
        out->converged = info.outcome == TDL_FRICTION_CONVERGED;
        status = tdl_friction_body_velocity(problem, p->r, p->change);
    }
    if (status == TDL_STATUS_OK && guess != NULL) {
        show_problem(p, problem, guess, &info);
    }
    tdl_friction_problem_destroy(problem);
    return status;
}

// --- what the impulses do -------------------------------------------------------------------

// What the impulse of a contact does on one of its sides, J.
static double side_work(const Problem* p, int side) {
    double work = 0.0;
    for (int k = 0; k < 3; ++k) {
        work += p->r[3 * (side / 2) + k] * side_product(p, side, k, p->velocity);
    }
    return work / p->unit;
}

// What the solver's coordinates of a body are in its own.
static void unwhiten(const Problem* p, int body, double* x) {
    if (!p->whitened) {
        return;
    }
    const TdlWorld* world = p->world;
    int n = body_dofs(p, body);
    for (int j = 0; j < n; ++j) {
        x[j] /= sqrt(p->unit);
    }
    if (body < world->rod_count) {
        world->rods[body].rod->model->unwhiten(world->rods[body].rod, x);
    } else {
        rigid_unwhiten(world->rigids[body - world->rod_count].rigid, x);
    }
}

// The velocities with contacts.
static TdlStatus change_velocities(Problem* p) {
    bool* touched = ARENA_NEW(&p->contacts->arena, bool, (size_t)p->body_count + 1);
    if (touched == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(touched, 0, (size_t)p->body_count + 1);
    for (int side = 0; side < 2 * p->count; ++side) {
        int body = p->body[side];
        if (body < 0 || touched[body]) {
            continue;
        }
        touched[body] = true;
        double *v = p->velocity + p->dof_start[body], *change = p->change + p->dof_start[body];
        unwhiten(p, body, change);
        for (int j = 0; j < body_dofs(p, body); ++j) {
            v[j] += change[j];
        }
    }
    return TDL_STATUS_OK;
}

static void hand_out_velocities(const Problem* p) {
    TdlWorld* world = p->world;
    for (int i = 0; i < world->rod_count; ++i) {
        world->rods[i].touched = false;
    }
    for (int i = 0; i < 2 * p->count; ++i) {
        if (p->body[i] >= 0 && p->body[i] < world->rod_count) {
            world->rods[p->body[i]].touched = true;
            world->rods[p->body[i]].touch += side_work(p, i);
        }
    }
    for (int i = 0; i < p->body_count; ++i) {
        const double* v = p->velocity + p->dof_start[i];
        int n = p->dof_start[i + 1] - p->dof_start[i], rigid = i - world->rod_count;
        if (rigid >= 0) {
            memcpy(world->rigids[rigid].rigid->v_free, v, 6 * sizeof *v);
        } else if (world->rods[i].touched) {
            memcpy(world->rods[i].rod->v_free, v, (size_t)n * sizeof *v);
        }
    }
}

// All candidates: nothing carried, nothing asked for.
static TdlStatus clear_forces(Contacts* c) {
    if (!contacts_reserve(&c->host.mem, &c->asked, &c->asked_capacity, c->count,
                          sizeof *c->asked)) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < c->count; ++i) {
        c->found[i].force = (TdlVec3){0};
        c->asked[i] = 0.0;
    }
    return TDL_STATUS_OK;
}

static TdlStatus note_forces(Problem* p, ContactsSolved* out) {
    Contacts* c = p->contacts;
    int first = c->force_kept, count = first + p->count;
    const TdlAllocator* mem = &c->host.mem;
    if (!contacts_reserve(mem, &c->force, &c->force_capacity, count, sizeof *c->force) ||
        clear_forces(c) != TDL_STATUS_OK) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < p->count; ++i) {
        Candidate* x = &c->found[p->of[i]];
        const TdlContact* contact = &x->site.contact;
        TdlVec3 r = tdl_scale3(1.0 / p->unit, tdl_load3(p->r, i)), u = tdl_load3(p->u, i);
        TdlVec3 fixed = tdl_load3(p->fixed, i);
        Side a = contact_side(p->world, contact, 0), b = contact_side(p->world, contact, 1);
        x->force = tdl_scale3(1.0 / p->dt, tdl_mul33_3(contact->basis, r));
        c->asked[p->of[i]] = p->dt * p->bias[i] + fmax(contact->gap, 0.0);
        c->force[first + i] = (TdlContactForce){
            .kind = {a.kind, b.kind},
            .index = {a.index, b.index},
            .element = {a.element, b.element},
            .s = {a.s, b.s},
            .point = contact_point(c, contact),
            .normal = contact->basis.cx,
            .force = tdl_scale3(p->dt / p->world->def.step, x->force),
            .gap = contact->gap,
            .mu = p->mu[i],
            .sliding = r.x > 0.0 && hypot(r.y, r.z) >= (1.0 - 1.0e-6) * p->mu[i] * r.x,
        };
        out->friction -= r.y * u.y + r.z * u.z;
        out->impact -= r.x * u.x;
        out->work -= tdl_dot3(r, fixed);
    }
    c->force_count = count;
    return TDL_STATUS_OK;
}

// Keeps what this attempt found, for the next one at the same step.
static TdlStatus note_tried(const Problem* p) {
    Contacts* c = p->contacts;
    const TdlAllocator* mem = &c->host.mem;
    int dofs = p->dof_start[p->body_count];
    if (!contacts_reserve(mem, &c->tried, &c->tried_capacity, c->count, sizeof *c->tried) ||
        !contacts_reserve(mem, &c->tried_velocity, &c->tried_dofs_capacity, dofs,
                          sizeof *c->tried_velocity)) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < c->count; ++i) {
        c->tried[i] = c->found[i].force;
    }
    memcpy(c->tried_velocity, p->velocity, (size_t)dofs * sizeof *p->velocity);
    c->tried_count = c->count;
    c->tried_dofs = dofs;
    return TDL_STATUS_OK;
}

// --- overlaps -------------------------------------------------------------------------------

static void add_normal(const Problem* p, int i, double amount, double* move, bool* moved) {
    for (int side = 2 * i; side < 2 * i + 2; ++side) {
        int body = p->body[side], n = p->whitened ? p->span[side].count : body_dofs(p, body);
        const double* y = p->y + p->y_at[side];
        if (body < 0 || (side % 2 == 1 && touches_itself(p, i) && !p->whitened)) {
            continue; // nothing, or moved by the first side
        }
        for (int j = 0; j < n; ++j) {
            move[p->dof_start[body] + j] += amount * y[j];
        }
        moved[body] = true;
    }
}

// What these displacements make along the normal.
static double pushed_motion(const Problem* p, int i, const double* move) {
    if (!p->whitened) {
        return normal_motion(p, i, move);
    }
    double sum = 0.0;
    for (int side = 2 * i; side < 2 * i + 2; ++side) {
        const double* from = p->body[side] < 0 ? NULL : move + p->dof_start[p->body[side]];
        sum += from == NULL ? 0.0 : tdl_dot(p->span[side].count, whitened_row(p, side, 0), from);
    }
    return sum;
}

// The displacement along the normal that a contact asks for at least, m.
static double wanted_motion(const Problem* p, int i) {
    const Candidate* x = &p->contacts->found[p->of[i]];
    double gap = x->site.contact.gap, slop = SLOP * x->radius;
    double later = gap + p->dt * p->u[3 * i];
    if (gap < -slop && later < -slop) {
        return fmin(PUSH_SHARE * (-later - slop), PUSH_MOST * x->radius);
    }
    return -fmax(later, 0.0);
}

// Displacements that take overlaps away without opening others: a projected Gauss-Seidel on the
// normals, over the contacts of the bodies that move.
static bool find_pushes(Problem* p) {
    TdlWorld* world = p->world;
    int overlaps = 0;
    for (int i = 0; i < p->count; ++i) {
        overlaps += wanted_motion(p, i) > 0.0;
    }
    if (overlaps == 0) {
        return true;
    }
    Arena* arena = &p->contacts->arena;
    int dofs = p->dof_start[p->body_count];
    double* move = ARENA_NEW(arena, double, dofs);
    double* lambda = ARENA_NEW(arena, double, p->count);
    double* stiff = ARENA_NEW(arena, double, p->count);
    bool* moved = ARENA_NEW(arena, bool, p->body_count + 1);
    if (!move || !lambda || !stiff || !moved) {
        return false;
    }
    memset(move, 0, (size_t)dofs * sizeof *move);
    memset(lambda, 0, (size_t)p->count * sizeof *lambda);
    memset(stiff, 0, (size_t)p->count * sizeof *stiff);
    memset(moved, 0, (size_t)p->body_count + 1);
    for (int sweep = 0; sweep < PUSH_SWEEPS; ++sweep) {
        for (int i = 0; i < p->count; ++i) {
            double wanted = wanted_motion(p, i);
            int a = p->body[2 * i], b = p->body[2 * i + 1];
            if (wanted <= 0.0 && !(a >= 0 && moved[a]) && !(b >= 0 && moved[b])) {
                continue;
            }
            if (stiff[i] == 0.0) {
                stiff[i] = row_product(p, i, 0);
            }
            double missing = wanted - pushed_motion(p, i, move);
            double next = fmax(0.0, lambda[i] + missing / stiff[i]);
            if (stiff[i] > 0.0 && next != lambda[i]) {
                add_normal(p, i, next - lambda[i], move, moved);
                lambda[i] = next;
            }
        }
    }
    for (int i = 0; i < p->body_count; ++i) {
        if (!moved[i]) {
            continue;
        }
        unwhiten(p, i, move + p->dof_start[i]);
        int rigid = i - world->rod_count;
        if (rigid < 0) {
            world->rods[i].pushed = world->rods[i].rod->child == NULL;
            world->rods[i].push = move + p->dof_start[i];
        } else {
            world->rigids[rigid].pushed = true;
            memcpy(world->rigids[rigid].push, move + p->dof_start[i], 6 * sizeof *move);
        }
    }
    return true;
}

void tdl_world_watch_problems(TdlWorld* world, TdlContactProblemFn fn, void* user) {
    world->problem_fn = fn;
    world->problem_user = user;
}

TdlStatus contacts_solve(TdlWorld* world, double dt, ContactsSolved* out) {
    Contacts* c = world->contacts;
    *out = (ContactsSolved){.converged = true};
    arena_release(&c->arena, (ArenaMark){0});
    Problem p = {
        .world = world, .contacts = c, .dt = dt, .of = ARENA_NEW(&c->arena, int, c->count)};
    if (p.of == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    choose_contacts(&p);
    out->count = p.count;
    out->skipped = c->count - p.count;
    c->force_count = 0;
    if (p.count == 0) {
        return clear_forces(c);
    }
    if (!lay_out(&p)) {
        return TDL_STATUS_NO_MEMORY;
    }
    double start = clock_now();
    gather_velocities(&p);
    pool_run(world->pool, p.count, 16, fill_contact, &p);
    p.unit = find_unit(&p);
    pool_run(world->pool, p.count, 16, fill_contact_columns, &p);
    for (int k = 0; k < 3 * p.count; ++k) {
        p.r[k] *= p.unit;
    }
    double built = clock_now();
    out->build_seconds = built - start;
    TdlStatus status = solve_friction(&p, out);
    if (status == TDL_STATUS_OK) {
        status = change_velocities(&p);
    }
    if (status == TDL_STATUS_OK) {
        status = note_forces(&p, out);
    }
    if (status == TDL_STATUS_OK) {
        status = note_tried(&p);
    }
    if (status == TDL_STATUS_OK && !find_pushes(&p)) {
        status = TDL_STATUS_NO_MEMORY;
    }
    if (status == TDL_STATUS_OK) {
        hand_out_velocities(&p);
    }
    out->solve_seconds = clock_now() - built;
    return status;
}
