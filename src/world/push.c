// Overlaps: displacements of the bodies that take them away. Velocities stay as they are.
#include "world/problem.h"

#include <string.h>

// The share of an overlap that a step takes away, and the most it moves bodies apart, in radii.
static const double PUSH_SHARE = 0.3;
static const double PUSH_MOST = 0.1;

// A place whose overlap would take more steps than this to go away stays as it is: near a clamp
// bodies cannot part, and to bend them there costs the more the nearer it is.
static const double PUSH_STEPS = 30.0;

enum { PUSH_SWEEPS = 20 };

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
    const Candidate* x = &p->contacts->found.at[p->of[i]];
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
        const Candidate* x = &p->contacts->found.at[p->of[side / 2]];
        if (x->apart && p->body[side] >= 0) {
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

// The velocity of a contact's second side.
static TdlVec3 side_velocity(const Problem* p, int i) {
    TdlVec3 own = {problem_side_product(p, 2 * i + 1, 0, p->velocity),
                   problem_side_product(p, 2 * i + 1, 1, p->velocity),
                   problem_side_product(p, 2 * i + 1, 2, p->velocity)};
    return tdl_mul33_3(p->contacts->found.at[p->of[i]].site.contact.basis, own);
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
        groups[i] = (Group){.parent = i, .held = moved[i] && !is_free(p->world->body[i])};
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
        p->world->body[i]->push_free = moved[i] && own->seen && !own->held;
        p->world->body[i]->push_frame = own->frame;
    }
    return true;
}

// Displacements that take overlaps away without opening others: a projected Gauss-Seidel on the
// normals, over the contacts of the bodies that move.
bool problem_push(Problem* p) {
    int overlaps = 0;
    for (int i = 0; i < p->count; ++i) {
        overlaps += wanted_motion(p, i) > 0.0;
    }
    if (overlaps == 0) {
        return true;
    }
    Arena* arena = &p->contacts->arena;
    int dofs = p->z_start[p->body_count];
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
                stiff[i] = problem_row_product(p, i, 0);
            }
            double missing = wanted - pushed_motion(p, i, move);
            double next = fmax(0.0, lambda[i] + missing / stiff[i]);
            if (stiff[i] > 0.0 && next != lambda[i]) {
                add_normal(p, i, next - lambda[i], move, moved);
                lambda[i] = next;
            }
        }
    }
    if (!limit_cost(p, lambda, move) || !tell_frames(p, lambda, moved)) {
        return false;
    }
    for (int i = 0; i < p->body_count; ++i) {
        if (moved[i]) {
            double* push = ARENA_NEW(arena, double, p->world->body[i]->dof_count);
            if (push == NULL) {
                return false;
            }
            problem_unwhiten(p, i, move + p->z_start[i], push);
            p->world->body[i]->push = push;
        }
    }
    return true;
}
