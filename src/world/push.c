// Overlaps: displacements of the bodies that take them away. Velocities stay as they are.
#include "math/dense.h"
#include "world/problem.h"

#include <string.h>

// Overlap that is left alone, the share of the rest that a step takes away, and the most it moves
// bodies apart: all in radii.
static const double SLOP = 2.0e-3;
static const double PUSH_SHARE = 0.3;
static const double PUSH_MOST = 0.1;
enum { PUSH_SWEEPS = 20 };

static void add_normal(const Problem* p, int i, double amount, double* move, bool* moved) {
    for (int side = 2 * i; side < 2 * i + 2; ++side) {
        int body = p->body[side], n = p->whitened ? p->span[side].count : problem_dofs(p, body);
        const double* y = p->y + p->y_at[side];
        if (body < 0 || (side % 2 == 1 && problem_touches_itself(p, i) && !p->whitened)) {
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
        return problem_normal_motion(p, i, move);
    }
    double sum = 0.0;
    for (int side = 2 * i; side < 2 * i + 2; ++side) {
        const double* from = p->body[side] < 0 ? NULL : move + p->dof_start[p->body[side]];
        sum += from == NULL ? 0.0
                            : tdl_dot(p->span[side].count, problem_whitened_row(p, side, 0), from);
    }
    return sum;
}

// The displacement along the normal that a contact asks for at least, m.
static double wanted_motion(const Problem* p, int i) {
    const Candidate* x = &p->contacts->found.at[p->of[i]];
    double gap = x->site.contact.gap, slop = SLOP * x->radius;
    double later = gap + p->dt * p->u[3 * i];
    if (gap < -slop && later < -slop) {
        return fmin(PUSH_SHARE * (-later - slop), PUSH_MOST * x->radius);
    }
    return -fmax(later, 0.0);
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
    for (int i = 0; i < p->body_count; ++i) {
        if (moved[i]) {
            p->world->body[i]->push = move + p->dof_start[i];
            problem_unwhiten(p, i, p->world->body[i]->push);
        }
    }
    return true;
}
