// Contacts that nothing can move. Near an end that a script holds W_N goes to zero as some power of
// the distance, whatever the body is like: so it is compared with what an impulse along the same
// normal does in the middle and at the end of the same body. A ratio does not depend on how stiff,
// how heavy or how long anything is, nor on the step.
#include "world/immobile.h"

#include "curve/curve.h"

#include <string.h>

// Part of the larger of these below which nothing moves. At s from a clamp of something of length L
// it is (s / L)^3: this is at 1e-4 L, a fifth of its radius where L is 2000 of these.
static const double NOTHING = 1.0e-12;

// What a unit impulse along n at the end of an element does there along n.
static double answer(const Problem* p, const Seen* seen, int fibre, int element, TdlMat3 basis) {
    const Body* body = seen->fibre_body[fibre];
    int pieces = seen->shape[fibre].pieces, n = body->system->dof_count;
    const TdlCurve* curve = &seen->curve[seen->first[fibre] + (element + 1) * pieces - 1];
    BodyPlace place = {.element = element, .u = 1.0, .point = tdl_curve_point(curve, curve->end)};
    place.touch = place.point;
    BodySupport support = body->kind->support(body, &place);
    Arena* arena = &p->contacts->arena;
    ArenaMark mark = arena_mark(arena);
    double* h = ARENA_NEW(arena, double, 3 * support.count + 1);
    double* x = ARENA_NEW(arena, double, n + 1);
    double sum = 0.0;
    if (h != NULL && x != NULL) {
        body->kind->rows(body, &place, basis, h);
        memset(x, 0, (size_t)n * sizeof *x);
        for (int j = 0; j < support.count; ++j) {
            x[support.list == NULL ? support.first + j : support.list[j]] = h[j];
        }
        body->system->kind->solve(body->system, 1, x);
        for (int j = 0; j < support.count; ++j) {
            sum += h[j] * x[support.list == NULL ? support.first + j : support.list[j]];
        }
    }
    arena_release(arena, mark);
    return sum;
}

bool immobile_contact(const Problem* p, int contact, double product) {
    const Seen* seen = &p->contacts->seen;
    const TdlContact* x = &p->contacts->found.at[p->of[contact]].site.contact;
    double least = INFINITY;
    for (int side = 0; side < 2; ++side) {
        int fibre = x->body[side];
        if (p->body[2 * contact + side] < 0) {
            continue;
        }
        if (seen->fibre[fibre].stiff || seen_curve(seen, x, side) == NULL) {
            return false; // it moves as a whole, or is a sheet
        }
        int count = seen->fibre[fibre].count / seen->shape[fibre].pieces;
        double middle = answer(p, seen, fibre, (count - 1) / 2, x->basis);
        double end = answer(p, seen, fibre, count - 1, x->basis);
        least = fmin(least, fmax(middle, end));
    }
    return isfinite(least) && !(p->unit * product > NOTHING * least);
}
