// Overlaps: displacements of the bodies that take them away. Velocities stay as they are.
#include "world/problem.h"

#include <string.h>

// The share of an overlap that a step takes away, and the most it moves bodies apart, in radii.
static const double PUSH_SHARE = 0.3;
static const double PUSH_MOST = 0.1;

// A place whose overlap would take more steps than this to go away stays as it is: near a clamp
// bodies cannot part, and to bend them there costs the more the nearer it is.
static const double PUSH_STEPS = 30.0;

// Sweeps, and the most where some place is still moved in by others, by more than this share of
// what any place asks for: a taut wire on which a weight hangs would sink by that in every step.
// Where that does not end it there is no such displacement, as between plates that press from both
// sides, and more sweeps only make it larger: what the first ones found is taken. (W.11)
enum { PUSH_SWEEPS = 20, PUSH_SWEEPS_MOST = 500 };
static const double PUSH_HARM = 0.25;

static void add_normal(const Problem* p, int i, double amount, double* move, bool* moved) {
    for (int side = 2 * i; side < 2 * i + 2; ++side) {
        problem_solver_add(p, side, 0, amount, move);
        if (p->body[side] >= 0) {
            moved[p->body[side]] = true;
        }
    }
}

// What these displacements make along the normal.
static double pushed_motion(const Problem* p, int i, const double* move) {
    return problem_solver_product(p, 2 * i, 0, move) +
           problem_solver_product(p, 2 * i + 1, 0, move);
}

// The displacement along the normal that a contact asks for at least, m.
static double wanted_motion(const Problem* p, int i) {
    const Candidate* x = problem_candidate(p, i);
    if (x == NULL) {
        return -INFINITY; // nodes give way
    }
    double gap = x->site.contact.gap, slop = SLOP * x->radius;
    double later = gap + p->dt * p->u[3 * i];
    if (gap < -slop && later < -slop && x->apart) {
        double most = PUSH_MOST * x->radius * fmin(sqrt(problem_mobility(p, i)), 1.0);
        bool parts = fmin(-later, x->radius) < PUSH_STEPS * most;
        most *= p->dt / p->world->def.step;
        return parts ? fmin(PUSH_SHARE * (-later - slop), most) : 0.0;
    }
    if (gap < -slop && later < -slop) {
        return fmin(PUSH_SHARE * (-later - slop), PUSH_MOST * x->radius);
    }
    return -fmax(later, 0.0);
}

// --- bodies placed in each other --------------------------------------------------------------

// The radius that a body is parted by, the thinnest of its contacts with those it was placed in.
static void find_parted(const Problem* p, double* radius) {
    for (int i = 0; i < p->body_count; ++i) {
        radius[i] = INFINITY;
    }
    for (int side = 0; side < 2 * p->count; ++side) {
        const Candidate* x = problem_candidate(p, side / 2);
        if (x != NULL && x->apart && p->body[side] >= 0) {
            radius[p->body[side]] = fmin(radius[p->body[side]], x->radius);
        }
    }
}

// d' A d of the displacements of every body, kg m^2.
static void measure_cost(const Problem* p, const double* lambda, const double* move, double* cost) {
    for (int i = 0; i < p->body_count; ++i) {
        cost[i] = 0.0;
    }
    for (int side = 0; side < 2 * p->count; ++side) {
        if (p->body[side] >= 0) {
            cost[p->body[side]] +=
                lambda[side / 2] * problem_solver_product(p, side, 0, move) / p->unit;
        }
    }
}

// Shortens them where they cost more than the body has when it moves by a tenth of a radius in a
// step: many places ask at once, and what bends a body back is felt in every step. (W.11)
static bool limit_cost(const Problem* p, const double* lambda, double* move) {
    Arena* arena = &p->contacts->arena;
    double* radius = ARENA_NEW(arena, double, p->body_count + 1);
    double* cost = ARENA_NEW(arena, double, p->body_count + 1);
    if (radius == NULL || cost == NULL) {
        return false;
    }
    find_parted(p, radius);
    measure_cost(p, lambda, move, cost);
    for (int i = 0; i < p->body_count; ++i) {
        const Body* body = p->world->body[i];
        if (!isfinite(radius[i]) || body->kind->mass == NULL) {
            continue;
        }
        TdlVec3 centre;
        double way = PUSH_MOST * radius[i] * p->dt / p->world->def.step;
        double most = body->kind->mass(body, &centre) * way * way;
        double factor = cost[i] > most ? sqrt(most / cost[i]) : 1.0;
        for (int j = p->z_start[i]; j < p->z_start[i + 1] && factor < 1.0; ++j) {
            move[j] *= factor;
        }
    }
    return true;
}

// --- momentum ---------------------------------------------------------------------------------

// Bodies that are pushed together: a tree of indices, and what is known of its root.
typedef struct Group {
    int parent;
    bool seen, held; // a velocity was found; something of it is not free
    TdlVec3 frame;   // m/s
} Group;

static int group_root(const Group* groups, int i) {
    while (groups[i].parent != i) {
        i = groups[i].parent;
    }
    return i;
}

static bool is_free(Body* body) {
    return body->kind->shift != NULL && body->kind->shift(body, (TdlVec3){0});
}

// The same of all that is joined to it.
static bool all_free(Body* body) {
    const Linkage* l = body->linkage;
    bool all = l != NULL || is_free(body);
    for (int i = 0; l != NULL && i < l->member_count; ++i) {
        all = all && is_free(l->member[i]);
    }
    for (int i = 0; l != NULL && i < l->joint_count; ++i) {
        all = all && l->joint[i]->h[0] != NULL && l->joint[i]->h[1] != NULL;
    }
    return all;
}

// What is told to a body, or to all that are joined to it.
static void tell_push(Body* body, double* push, bool free, TdlVec3 frame) {
    const Linkage* l = body->linkage;
    for (int i = 0; i < (l == NULL ? 1 : l->member_count); ++i) {
        Body* own = l == NULL ? body : l->member[i];
        own->push = push == NULL ? own->push : push + own->linked_at;
        own->push_free = free;
        own->push_frame = frame;
    }
}

// The velocity of a contact's second side.
static TdlVec3 side_velocity(const Problem* p, int i) {
    TdlVec3 own = {problem_side_product(p, 2 * i + 1, 0, p->velocity),
                   problem_side_product(p, 2 * i + 1, 1, p->velocity),
                   problem_side_product(p, 2 * i + 1, 2, p->velocity)};
    return tdl_mul33_3(problem_basis(p, i), own);
}

// Tells the bodies that are pushed against free ones alone from what frame they keep their angular
// momentum: one for all that are pushed together, since the sum of their displacements times their
// masses is nothing. (W.25)
static bool tell_frames(Problem* p, const double* lambda, const bool* moved) {
    Group* groups = ARENA_NEW(&p->contacts->arena, Group, p->body_count + 1);
    if (groups == NULL) {
        return false;
    }
    for (int i = 0; i < p->body_count; ++i) {
        groups[i] = (Group){.parent = i, .held = moved[i] && !all_free(p->world->body[i])};
    }
    for (int i = 0; i < p->count; ++i) {
        int a = p->body[2 * i], b = p->body[2 * i + 1];
        if (lambda[i] > 0.0 && (a < 0 || b < 0)) {
            groups[group_root(groups, a < 0 ? b : a)].held = true;
        } else if (lambda[i] > 0.0) {
            Group *x = &groups[group_root(groups, a)], *y = &groups[group_root(groups, b)];
            x->held = x->held || y->held;
            x->frame = x->seen ? x->frame : y->seen ? y->frame : side_velocity(p, i);
            x->seen = true;
            y->parent = x->parent;
        }
    }
    for (int i = 0; i < p->body_count; ++i) {
        const Group* own = &groups[group_root(groups, i)];
        bool free = moved[i] && own->seen && !own->held;
        if (moved[i] || p->world->body[i]->linkage == NULL) {
            tell_push(p->world->body[i], NULL, free, own->frame);
        }
    }
    return true;
}

// The displacements under way: what is asked for at each contact, the impulses and what they do.
typedef struct Push {
    double *wanted, *lambda, *stiff; // [count]
    double* move;
    bool* moved;
} Push;

// One sweep; how far in a contact was still moved at most, m.
static double sweep_push(const Problem* p, Push* push) {
    double harm = 0.0;
    for (int i = 0; i < p->count; ++i) {
        int a = p->body[2 * i], b = p->body[2 * i + 1];
        double wanted = push->wanted[i];
        bool moves = (a >= 0 && push->moved[a]) || (b >= 0 && push->moved[b]);
        if (isinf(wanted) || (wanted <= 0.0 && !moves)) {
            continue;
        }
        if (push->stiff[i] == 0.0) {
            push->stiff[i] = problem_row_product(p, i, 0);
        }
        double now = pushed_motion(p, i, push->move);
        double next = fmax(0.0, push->lambda[i] + (wanted - now) / push->stiff[i]);
        harm = fmax(harm, fmin(wanted, 0.0) - now);
        if (push->stiff[i] > 0.0 && next != push->lambda[i]) {
            add_normal(p, i, next - push->lambda[i], push->move, push->moved);
            push->lambda[i] = next;
        }
    }
    return harm;
}

// Sweeps from one number to another, or until the harm is small; asks between them whether to stop.
static bool sweep_pushes(const Problem* p, int from, int to, double little, Push* push,
                         double* harm) {
    for (int sweep = from; sweep<to&& * harm> little; ++sweep) {
        if (world_asked_to_stop(p->world)) {
            return false;
        }
        *harm = sweep_push(p, push);
    }
    return true;
}

static TdlStatus find_push(const Problem* p, int dofs, double most, Push* push) {
    Arena* arena = &p->contacts->arena;
    double harm = INFINITY, little = PUSH_HARM * most;
    if (!sweep_pushes(p, 0, PUSH_SWEEPS, -1.0, push, &harm)) {
        return TDL_STATUS_STOPPED;
    }
    if (harm <= little) {
        return TDL_STATUS_OK;
    }
    double* move = ARENA_NEW(arena, double, dofs);
    double* lambda = ARENA_NEW(arena, double, p->count);
    if (move == NULL || lambda == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(move, push->move, (size_t)dofs * sizeof *move);
    memcpy(lambda, push->lambda, (size_t)p->count * sizeof *lambda);
    if (!sweep_pushes(p, PUSH_SWEEPS, PUSH_SWEEPS_MOST, little, push, &harm)) {
        return TDL_STATUS_STOPPED;
    }
    if (harm > little) {
        push->move = move;
        push->lambda = lambda;
    }
    return TDL_STATUS_OK;
}

static bool hand_out(const Problem* p, const Push* push) {
    for (int i = 0; i < p->body_count; ++i) {
        if (push->moved[i]) {
            Body* body = p->world->body[i];
            double* own = ARENA_NEW(&p->contacts->arena, double, problem_dofs(p, i));
            if (own == NULL) {
                return false;
            }
            problem_unwhiten(p, i, push->move + p->z_start[i], own);
            tell_push(body, own, body->push_free, body->push_frame);
        }
    }
    return true;
}

// Displacements that take overlaps away without opening others: a projected Gauss-Seidel on the
// normals, over the contacts of the bodies that move.
TdlStatus problem_push(Problem* p) {
    Arena* arena = &p->contacts->arena;
    double most = 0.0, *wanted = ARENA_NEW(arena, double, p->count);
    for (int i = 0; i < p->count && wanted != NULL; ++i) {
        wanted[i] = wanted_motion(p, i);
        most = fmax(most, wanted[i]);
    }
    if (wanted == NULL || most == 0.0) {
        return wanted != NULL || p->count == 0 ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
    }
    int dofs = p->z_start[p->body_count];
    Push push = {wanted, ARENA_NEW(arena, double, p->count), ARENA_NEW(arena, double, p->count),
                 ARENA_NEW(arena, double, dofs), ARENA_NEW(arena, bool, p->body_count + 1)};
    if (!push.move || !push.lambda || !push.stiff || !push.moved) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(push.move, 0, (size_t)dofs * sizeof *push.move);
    memset(push.lambda, 0, (size_t)p->count * sizeof *push.lambda);
    memset(push.stiff, 0, (size_t)p->count * sizeof *push.stiff);
    memset(push.moved, 0, (size_t)p->body_count + 1);
    TdlStatus status = find_push(p, dofs, most, &push);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    bool told = limit_cost(p, push.lambda, push.move) && tell_frames(p, push.lambda, push.moved) &&
                hand_out(p, &push);
    return told ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}
