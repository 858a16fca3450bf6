// What the barrier knows of the contacts in one shape: which of them count, and how their gaps go
// with the velocities. docs/theory/barrier.md, sections 2 and 4
#include "world/barrier_model.h"

#include "world/barrier_law.h"

#include <string.h>

// The distance, over the thinnest radius, where none is given.
static const double DISTANCE_SHARE = 0.1;

// The floor of the barrier at first, over the distance.
static const double FLOOR_SHARE = 1.0e-3;

// Contacts are solved so much better than the step that they are part of.
static const double INNER_SHARE = 1.0e-2;
static const double INNER_LEAST = 1.0e-13;

// Contacts that may come into reach in a step: so many times the distance and what it closes by.
static const double NEAR_DISTANCES = 2.0, NEAR_STEPS = 2.0;

// A gap that changes by less than this per unit of length, at the end of a curve, has its minimum
// there, as in found.c.
static const double LEVEL = 1.0e-6;

double barrier_reach(const BarrierRule* rule, const Contacts* c) {
    bool told = rule->def.distance > 0.0 || !isfinite(c->seen.thinnest);
    return told ? rule->def.distance : DISTANCE_SHARE * c->seen.thinnest;
}

// --- which contacts count --------------------------------------------------------------------

// The lighter of the two bodies that move, kg; 0 where nothing is known of it.
static double lighter_mass(const Seen* seen, const TdlContact* x) {
    double least = INFINITY;
    for (int side = 0; side < 2; ++side) {
        const Body* body = seen_body(seen, x, side);
        if (body->system->dof_count > 0) {
            least = fmin(least, body->mass);
        }
    }
    return isfinite(least) ? least : 0.0;
}

static double stiffness_of(const BarrierRule* rule, const TdlWorld* world, const Seen* seen,
                           const TdlContact* x) {
    double step = world->def.step;
    return rule->def.stiffness > 0.0 ? rule->def.stiffness : lighter_mass(seen, x) / (step * step);
}

// How fast the gap shrinks along a side from the end of a curve, into it or on to the next; not
// above 0 elsewhere, and of what does not bend, which stands on its ends.
static double falls(const Seen* seen, const TdlContact* x, int side, TdlVec3 n) {
    int body = x->body[side], place = x->element[side];
    const TdlCurve* own = seen_curve(seen, x, side);
    if (own == NULL || seen->fibre[body].stiff) {
        return 0.0;
    }
    bool end = x->u[side] >= own->end;
    if (!end && x->u[side] > 0.0) {
        return 0.0;
    }
    double outwards = side == 0 ? 1.0 : -1.0, most = 0.0;
    TdlVec3 t = tdl_unit3(tdl_curve_derivative(own, x->u[side]));
    most = fmax(most, outwards * (end ? -1.0 : 1.0) * tdl_dot3(n, t));
    int next = end ? place + 1 : place - 1;
    if (next >= 0 && next < seen->fibre[body].count) {
        const TdlCurve* other = &seen->curve[seen->first[body] + next];
        t = tdl_unit3(tdl_curve_derivative(other, end ? 0.0 : other->end));
        most = fmax(most, outwards * (end ? 1.0 : -1.0) * tdl_dot3(n, t));
    }
    return most;
}

// Whether the gap has a minimum there along the bodies that bend: others count twice at joints.
static bool is_minimum(const Seen* seen, const TdlContact* x) {
    bool curves = seen_curve(seen, x, 0) != NULL && seen_curve(seen, x, 1) != NULL;
    TdlVec3 n = curves ? tdl_unit3(tdl_sub3(x->point[1], x->point[0])) : x->basis.cx;
    return falls(seen, x, 0, n) <= LEVEL && falls(seen, x, 1, n) <= LEVEL;
}

bool barrier_counts(const Seen* seen, const Candidate* x) {
    return !x->jointed && !x->passed_on && is_minimum(seen, &x->site.contact);
}

// What the places at which two bodies touch would push with, each alone: the sum and the most, m.
typedef struct Sharing {
    double sum, most;
} Sharing;

static void share_add(Sharing* all, double gap, double distance) {
    double own = -barrier_term(gap, distance, FLOOR_SHARE * distance).first;
    all->sum += own;
    all->most = fmax(all->most, own);
}

// Whether one of two bodies bends: minima along it come and go, ends and edges of others do not.
static bool one_bends(const Seen* seen, const TdlContact* x) {
    bool first = x->body[0] >= 0 && !seen->fibre[x->body[0]].stiff;
    return first || (x->body[1] >= 0 && !seen->fibre[x->body[1]].stiff);
}

// The part of its stiffness that each of them has. (P.17)
static double share_part(const Seen* seen, const TdlContact* x, Sharing all) {
    return one_bends(seen, x) && all.sum > 0.0 ? all.most / all.sum : 1.0;
}

// The energy of the contacts of two bodies, which begin at `first`; `end` is behind them. (P.3)
static double stored_between(const BarrierRule* rule, const TdlWorld* world, int first, int* end) {
    const Contacts* c = world->contacts;
    double distance = barrier_reach(rule, c), sum = 0.0;
    Sharing all = {0};
    for (*end = first;
         *end < c->found.count && contacts_same_bodies(&c->found.at[first], &c->found.at[*end]);
         ++*end) {
        const Candidate* x = &c->found.at[*end];
        const TdlContact* contact = &x->site.contact;
        if (contact->gap < distance && barrier_counts(&c->seen, x)) {
            BarrierTerm b = barrier_term(contact->gap, distance, FLOOR_SHARE * distance);
            sum += stiffness_of(rule, world, &c->seen, contact) * b.value;
            share_add(&all, contact->gap, distance);
        }
    }
    return sum * share_part(&c->seen, &c->found.at[first].site.contact, all);
}

double barrier_stored(const BarrierRule* rule, const TdlWorld* world) {
    double sum = 0.0;
    for (int i = 0, end; i < world->contacts->found.count; i = end) {
        sum += stored_between(rule, world, i, &end);
    }
    return sum;
}

// --- the model of a shape --------------------------------------------------------------------

// Copies the contacts that may come into reach.
static bool copy_contacts(const BarrierRule* rule, const TdlWorld* world, double dt,
                          BarrierModel* m) {
    const Contacts* c = world->contacts;
    m->contacts.seen = c->seen;
    Candidates* own = &m->contacts.found;
    *own = (Candidates){.at = ARENA_NEW(&m->contacts.arena, Candidate, c->found.count + 1)};
    m->source = ARENA_NEW(&m->contacts.arena, int, c->found.count + 1);
    if (own->at == NULL || m->source == NULL) {
        return false;
    }
    double distance = barrier_reach(rule, c);
    for (int i = 0; i < c->found.count; ++i) {
        const Candidate* x = &c->found.at[i];
        double near = NEAR_DISTANCES * distance + NEAR_STEPS * dt * fmax(x->closing, 0.0);
        if (x->site.contact.gap <= near && barrier_counts(&c->seen, x)) {
            m->source[own->count] = i;
            own->at[own->count++] = (Candidate){.site = x->site,
                                                .force = x->force,
                                                .radius = x->radius,
                                                .missed = true}; // takes part whatever its gap
        }
    }
    return true;
}

// Where a place of a side is now: it moves with its curve, or as a whole where it is of a surface,
// whose body was at `then`. False where that bends.
static bool place_now(const Seen* seen, const TdlContact* x, int side, TdlPose then, TdlVec3* out) {
    const TdlCurve* curve = seen_curve(seen, x, side);
    const Body* body = seen_body(seen, x, side);
    if (curve != NULL) {
        *out = tdl_curve_point(curve, x->u[side]);
        return true;
    }
    *out = x->point[side];
    if (body->system->dof_count == 0) {
        return true; // in every shape of an attempt it is where the step ends
    }
    TdlPose now = body_pose(body);
    TdlVec3 inside = tdl_tmul33_3(then.rotation, tdl_sub3(x->point[side], then.position));
    *out = tdl_add3(now.position, tdl_mul33_3(now.rotation, inside));
    return seen->fibre[x->body[side]].stiff;
}

// A contact as it was in another shape, at the same places in the present one. False where that is
// not known.
static bool hold_place(const Seen* seen, const TdlPose then[2], Candidate* x) {
    TdlContact* contact = &x->site.contact;
    TdlVec3 moved = {0};
    double radii = 0.0;
    int curves = 0;
    for (int side = 0; side < 2; ++side) {
        TdlVec3 now;
        if (!place_now(seen, contact, side, then[side], &now)) {
            return false;
        }
        moved = tdl_axpy3(moved, side == 0 ? -1.0 : 1.0, tdl_sub3(now, contact->point[side]));
        contact->point[side] = now;
        const TdlCurve* curve = seen_curve(seen, contact, side);
        radii += curve == NULL ? 0.0 : tdl_curve_radius(curve, contact->u[side]);
        curves += curve != NULL;
    }
    contact->gap += tdl_dot3(moved, contact->basis.cx);
    if (curves == 2) {
        TdlVec3 between = tdl_sub3(contact->point[1], contact->point[0]), n = tdl_unit3(between);
        TdlVec3 t = contact->basis.cy;
        t = tdl_unit3(tdl_axpy3(t, -tdl_dot3(t, n), n));
        contact->basis = (TdlMat3){n, t, tdl_cross3(n, t)};
        contact->gap = tdl_norm3(between) - radii;
    }
    return true;
}

static bool is_near(const Candidate* a, const Candidate* b) {
    const TdlContact *x = &a->site.contact, *y = &b->site.contact;
    return x->body[0] == y->body[0] && x->body[1] == y->body[1] &&
           tdl_norm3(tdl_sub3(x->point[0], y->point[0])) < a->radius;
}

// Adds the contacts of the shape before that are no minima any more: where a body lies along
// another they come and go with every attempt. (P.16)
static bool keep_places(const BarrierRule* rule, const Contacts* c, const BarrierModel* from,
                        BarrierModel* m) {
    Candidates* own = &m->contacts.found;
    int known = own->count, before = from->problem.count;
    Candidate* at = ARENA_NEW(&m->contacts.arena, Candidate, known + before + 1);
    int* source = ARENA_NEW(&m->contacts.arena, int, known + before + 1);
    if (at == NULL || source == NULL) {
        return false;
    }
    memcpy(at, own->at, (size_t)known * sizeof *at);
    memcpy(source, m->source, (size_t)known * sizeof *source);
    own->at = at;
    m->source = source;
    for (int k = 0; k < before; ++k) {
        Candidate x = from->contacts.found.at[from->problem.of[k]];
        const TdlPose* then = from->pose + 2 * (ptrdiff_t)k;
        bool found =
            !hold_place(&c->seen, then, &x) || !(x.site.contact.gap < barrier_reach(rule, c));
        for (int i = 0; i < known && !found; ++i) {
            found = is_near(&x, &at[i]);
        }
        if (!found) {
            source[own->count] = -1;
            at[own->count++] = x;
        }
    }
    return true;
}

static bool allocate_barrier(BarrierModel* m) {
    Arena* arena = &m->contacts.arena;
    size_t n = (size_t)m->problem.count;
    m->offset = ARENA_NEW(arena, double, n + 1);
    m->stiffness = ARENA_NEW(arena, double, n + 1);
    m->W = ARENA_NEW(arena, double, 9 * n * n + 1);
    m->free = ARENA_NEW(arena, double, 3 * n + 1);
    m->pose = ARENA_NEW(arena, TdlPose, 2 * n + 1);
    m->barrier.lambda = ARENA_NEW(arena, double, n + 1);
    return m->offset && m->stiffness && m->W && m->free && m->pose && m->barrier.lambda;
}

// Of a contact of the problem: its share among all of the same bodies.
static double share_of(const BarrierModel* m, int i, double distance) {
    const Candidate* at = m->contacts.found.at;
    const int* of = m->problem.of;
    Sharing all = {0};
    for (int k = 0; k < m->problem.count; ++k) {
        if (contacts_same_bodies(&at[of[i]], &at[of[k]])) {
            share_add(&all, at[of[k]].site.contact.gap, distance);
        }
    }
    return share_part(&m->contacts.seen, &at[of[i]].site.contact, all);
}

// What the law is asked of the contacts: gaps that are linear in the velocities, which have the
// value `gap` of the shape at the velocities that led to it. (P.8)
static void fill_barrier(const BarrierRule* rule, BarrierModel* m, const double* v) {
    Problem* p = &m->problem;
    BarrierProblem* b = &m->barrier;
    double distance = barrier_reach(rule, p->world->contacts);
    for (int i = 0; i < p->count; ++i) {
        const TdlContact* x = &m->contacts.found.at[p->of[i]].site.contact;
        double moved = v == NULL ? -p->fixed[3 * i] : problem_normal_motion(p, i, v);
        m->offset[i] = x->gap - p->dt * moved;
        double own = stiffness_of(rule, p->world, &m->contacts.seen, x);
        double share = problem_lasts(p, i) / p->dt; // an impulse is the gap's force for so long
        m->stiffness[i] = share * own * share_of(m, i, distance);
    }
    b->count = p->count;
    b->dt = p->dt;
    b->distance = distance;
    b->floor = FLOOR_SHARE * b->distance;
    b->creep = rule->def.creep;
    b->tolerance = fmax(INNER_SHARE * rule->tolerance, INNER_LEAST);
    b->offset = m->offset;
    b->stiffness = m->stiffness;
    b->W = m->W;
    b->free = m->free;
    b->mu = p->mu;
    b->fixed = p->fixed;
    b->r = p->r;
    b->u = p->u;
}

static void note_poses(BarrierModel* m) {
    for (int side = 0; side < 2 * m->problem.count; ++side) {
        const TdlContact* x = &m->contacts.found.at[m->problem.of[side / 2]].site.contact;
        m->pose[side] = body_pose(seen_body(&m->contacts.seen, x, side % 2));
    }
}

TdlStatus barrier_model_make(const BarrierRule* rule, TdlWorld* world, double dt, const double* v,
                             const BarrierModel* from, BarrierModel* m) {
    arena_release(&m->contacts.arena, (ArenaMark){0});
    m->problem = (Problem){.world = world, .contacts = &m->contacts, .dt = dt, .plain = true};
    if (!copy_contacts(rule, world, dt, m) ||
        (from != NULL && !keep_places(rule, world->contacts, from, m))) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status = problem_build_rows(&m->problem);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (!allocate_barrier(m)) {
        return TDL_STATUS_NO_MEMORY;
    }
    fill_barrier(rule, m, v);
    note_poses(m);
    for (int i = 0; i < m->problem.count; ++i) {
        double own = m->problem.r[3 * i] / dt; // what the last step's force says
        m->barrier.lambda[i] = fmax(own, 0.0);
    }
    return TDL_STATUS_OK;
}

// Row k of H_i times the columns of contact j.
static double block_entry(const Problem* p, int i, int k, int j, int l) {
    double sum = 0.0;
    for (int a = 2 * i; a < 2 * i + 2; ++a) {
        for (int b = 2 * j; b < 2 * j + 2 && p->body[a] >= 0; ++b) {
            bool again = b % 2 == 1 && problem_touches_itself(p, j); // both are in the first
            if (p->body[b] == p->body[a] && !again) {
                const double* y = p->y + p->y_at[b] + (ptrdiff_t)l * problem_dofs(p, p->body[b]);
                sum += problem_own_product(p, a, k, y);
            }
        }
    }
    return sum;
}

static void fill_column(void* user, int j, int worker) {
    (void)worker;
    const BarrierModel* m = user;
    const Problem* p = &m->problem;
    size_t n = 3 * (size_t)p->count;
    double* W = m->W;
    for (int l = 0; l < 3; ++l) {
        for (int i = j; i < p->count; ++i) {
            for (int k = 0; k < 3; ++k) {
                double entry = block_entry(p, i, k, j, l);
                W[(size_t)(3 * i + k) + (size_t)(3 * j + l) * n] = entry;
                W[(size_t)(3 * j + l) + (size_t)(3 * i + k) * n] = entry;
            }
        }
    }
}

void barrier_model_columns(BarrierModel* m, bool same) {
    Problem* p = &m->problem;
    if (same) {
        problem_renew(p);
    } else {
        problem_build_columns(p);
        pool_run(p->world->pool, p->count, 4, fill_column, m);
    }
    for (int k = 0; k < 3 * p->count; ++k) {
        m->free[k] = p->before[k] - p->fixed[k];
    }
}

void barrier_model_impulses(BarrierModel* m, const double* v) {
    const Problem* p = &m->problem;
    for (int i = 0; i < p->count; ++i) {
        double u[3] = {0.0};
        for (int side = 2 * i; side < 2 * i + 2; ++side) {
            for (int k = 0; k < 3 && p->body[side] >= 0; ++k) {
                u[k] += problem_side_product(p, side, k, v);
            }
        }
        TdlVec3 normal = barrier_impulse(&m->barrier, i, tdl_load3(u, 0), 0.0);
        m->barrier.lambda[i] = normal.x / p->dt;
        tdl_store3(p->r, i, barrier_impulse(&m->barrier, i, tdl_load3(u, 0), m->barrier.lambda[i]));
        tdl_store3(p->u, i, tdl_load3(u, 0));
    }
}

TdlVec3 barrier_model_force(const BarrierModel* m, int i) {
    const Problem* p = &m->problem;
    const TdlContact* x = &m->contacts.found.at[p->of[i]].site.contact;
    return tdl_scale3(1.0 / problem_lasts(p, i), tdl_mul33_3(x->basis, tdl_load3(p->r, i)));
}

// The contact of the one model that goes on as contact i of the other: of the same bodies, the
// nearest that is not taken; -1: none.
static int find_same(const BarrierModel* from, const bool* taken, const BarrierModel* to, int i) {
    const TdlContact* x = &to->contacts.found.at[to->problem.of[i]].site.contact;
    double least = INFINITY;
    int best = -1;
    for (int k = 0; k < from->problem.count; ++k) {
        const TdlContact* y = &from->contacts.found.at[from->problem.of[k]].site.contact;
        double away = tdl_norm3(tdl_sub3(x->point[0], y->point[0]));
        bool same = x->body[0] == y->body[0] && x->body[1] == y->body[1];
        if (same && !taken[k] && away < least) {
            least = away;
            best = k;
        }
    }
    return best;
}

static double mass_of(const BarrierModel* m, int i) {
    return lighter_mass(&m->contacts.seen, &m->contacts.found.at[m->problem.of[i]].site.contact);
}

double barrier_model_compare(const BarrierModel* from, const BarrierModel* now, bool* taken) {
    const Problem* p = &now->problem;
    double worst = 0.0, unit = now->barrier.distance / (p->dt * p->dt);
    int before = from == NULL ? 0 : from->problem.count;
    memset(taken, 0, (size_t)before * sizeof *taken);
    for (int i = 0; i < p->count; ++i) {
        int k = before > 0 ? find_same(from, taken, now, i) : -1;
        TdlVec3 own = barrier_model_force(now, i), other = {0};
        if (k >= 0) {
            taken[k] = true;
            other = barrier_model_force(from, k);
        }
        double apart = tdl_norm3(tdl_sub3(own, other));
        double size = fmax(tdl_norm3(own), tdl_norm3(other)) + unit * mass_of(now, i);
        worst = apart > 0.0 ? fmax(worst, apart / size) : worst;
    }
    for (int k = 0; k < before; ++k) {
        double own = taken[k] ? 0.0 : tdl_norm3(barrier_model_force(from, k));
        worst = own > 0.0 ? fmax(worst, own / (own + unit * mass_of(from, k))) : worst;
    }
    return worst;
}

bool barrier_model_apart(const BarrierModel* m) {
    for (int i = 0; i < m->problem.count; ++i) {
        if (!(m->contacts.found.at[m->problem.of[i]].site.contact.gap > 0.0)) {
            return false;
        }
    }
    return true;
}
