// The contact problem of a step.
//
// Relative velocity is that of the second body less that of the first, in the contact's basis, and
// the impulse acts on the second. A gap g > 0 may close in the step: u_N >= -g / dt. What time
// stepping leaves as overlap is taken away by moving the bodies, not by giving them velocity.
#include "world/problem.h"

#include "world/immobile.h"

#include "math/dense.h"

#include <string.h>

// Mobility (W.11), and W over its mean, below which bodies that were placed in each other have no
// contact: next to a clamp. Of others it is only suspected then that nothing can move.
static const double IMMOBILE = 1.0e-8;
static const double IMMOBILE_SUSPECT = 1.0e-6;

// Bodies placed in each other whose centrelines are nearer than this share of their radii are on no
// side of each other: they are only pushed, in so many places of a pair.
static const double NO_SIDE = 0.5;
enum { SIDELESS_MOST = 3 };

// Longest list whose head is shared: rows of it fit on the stack.
enum { SHARED_MOST = 256 };

// Rows of z are taken up to this part of the length of the others. At 0.75 (CoRdE, 108 coordinates)
// a run is 7 % faster with them, at 1 (mass-spring, 66) 13 % slower: rows of H alone are very
// short.
static const double ROOTS_PAY = 0.8;

// Contacts whose diagonal blocks set the unit of impulses.
enum { SCALE_SAMPLES = 32 };

// --- which contacts, and where their rows are ------------------------------------------------

static bool takes_part(const Problem* p, int i) {
    return !p->immobile[i] && contacts_take_part(&p->contacts->found.at[i], p->dt);
}

// Whether the centrelines of bodies placed in each other are so near that the normal does not tell
// on which side they are.
static bool has_no_side(const Problem* p, int i) {
    const Candidate* x = &p->contacts->found.at[i];
    const TdlContact* contact = &x->site.contact;
    const TdlCurve* a = seen_curve(&p->contacts->seen, contact, 0);
    const TdlCurve* b = seen_curve(&p->contacts->seen, contact, 1);
    if (!x->apart || a == NULL || b == NULL || seen_in_tube(contact)) {
        return false;
    }
    double radii = tdl_curve_radius(a, contact->u[0]) + tdl_curve_radius(b, contact->u[1]);
    return contact->gap < -(1.0 - NO_SIDE) * radii;
}

// Of the contacts from `first` on, which are of one pair of bodies after the other, a few a pair.
static void thin_out(Problem* p, int first) {
    int kept = first;
    for (int i = first; i < p->count;) {
        const int* body = p->contacts->found.at[p->of[i]].site.contact.body;
        int end = i;
        while (end < p->count) {
            const int* other = p->contacts->found.at[p->of[end]].site.contact.body;
            if (other[0] != body[0] || other[1] != body[1]) {
                break;
            }
            ++end;
        }
        int most = end - i < SIDELESS_MOST ? end - i : SIDELESS_MOST;
        for (int k = 1; k <= most; ++k) {
            p->of[kept++] = p->of[i + k * (end - i) / most - 1];
        }
        i = end;
    }
    p->count = kept;
}

static void choose_contacts(Problem* p) {
    const Candidates* found = &p->contacts->found;
    for (p->count = 0; p->count < p->bed.count; ++p->count) {
        p->of[p->count] = -1;
    }
    for (int turn = 0; turn < 2; ++turn) {
        for (int i = 0; i < found->count; ++i) {
            if (takes_part(p, i) && has_no_side(p, i) == (turn == 1)) {
                p->of[p->count++] = i;
            }
        }
        p->law_count = turn == 0 ? p->count : p->law_count;
    }
    thin_out(p, p->law_count);
}

Body* problem_body(const Problem* p, int i, int side) {
    const Candidate* x = problem_candidate(p, i);
    if (x == NULL) {
        return side == 0 ? p->bed.body : p->bed.at[i].other;
    }
    return seen_body(&p->contacts->seen, &x->site.contact, side);
}

BodyPlace problem_place(const Problem* p, int i, int side) {
    const Candidate* x = problem_candidate(p, i);
    if (x == NULL) {
        const BedContact* own = &p->bed.at[i];
        BodyPlace node = {.element = own->node, .point = p->bed.strain->place[own->node]};
        node.touch = node.point;
        return side == 0 ? node : own->place;
    }
    BodyPlace place = seen_place(&p->contacts->seen, &x->site.contact, side);
    place.touch = seen_acting(&p->contacts->seen, &x->site.contact, side);
    return place;
}

TdlMat3 problem_basis(const Problem* p, int i) {
    const Candidate* x = problem_candidate(p, i);
    return x == NULL ? p->bed.at[i].basis : x->site.contact.basis;
}

double problem_gap(const Problem* p, int i) {
    const Candidate* x = problem_candidate(p, i);
    return x == NULL ? p->bed.at[i].gap : x->site.contact.gap;
}

// The body whose coordinates move a side; null: the side has none here, or is a node of the bed.
static Body* mover(const Problem* p, int side) {
    Body* body = problem_body(p, side / 2, side % 2);
    bool node = side % 2 == 0 && problem_candidate(p, side / 2) == NULL;
    return node || body->system->dof_count == 0 ? NULL : body;
}

static bool allocate_contacts(Problem* p) {
    Arena* arena = &p->contacts->arena;
    p->body_count = p->world->body_count;
    p->dof_start = ARENA_NEW(arena, int, p->body_count + 1);
    p->body = ARENA_NEW(arena, int, 2 * p->count);
    p->span = ARENA_NEW(arena, TdlSpan, 2 * p->count);
    p->list = ARENA_NEW(arena, const int*, 2 * p->count);
    p->h_at = ARENA_NEW(arena, size_t, 2 * p->count);
    p->z_start = ARENA_NEW(arena, int, p->body_count + 1);
    p->z_span = ARENA_NEW(arena, TdlSpan, 2 * p->count);
    p->z_list = ARENA_NEW(arena, const int*, 2 * p->count);
    p->shared = ARENA_NEW(arena, int, p->count);
    p->g_at = ARENA_NEW(arena, size_t, 2 * p->count);
    p->y_at = ARENA_NEW(arena, size_t, 2 * p->count);
    p->mu = ARENA_NEW(arena, double, p->count);
    p->bias = ARENA_NEW(arena, double, p->count);
    p->fixed = ARENA_NEW(arena, double, 3 * p->count);
    p->back = ARENA_NEW(arena, double, 3 * p->count);
    p->u = ARENA_NEW(arena, double, 3 * p->count);
    p->r = ARENA_NEW(arena, double, 3 * p->count);
    p->before = ARENA_NEW(arena, double, 3 * p->count);
    return p->dof_start && p->body && p->span && p->list && p->h_at && p->z_start && p->z_span &&
           p->z_list && p->shared && p->g_at && p->y_at && p->mu && p->bias && p->fixed &&
           p->back && p->u && p->r && p->before;
}

static void count_coordinates(Problem* p) {
    int dofs = 0;
    for (int i = 0; i < p->body_count; ++i) {
        p->dof_start[i] = dofs;
        dofs += linkage_dofs(p->world->body[i]);
    }
    p->dof_start[p->body_count] = dofs;
}

static BodyRoot root_of(const Problem* p, int body) {
    const Body* own = p->world->body[body];
    bool none = own->kind->root == NULL || own->linkage != NULL;
    return none ? (BodyRoot){0} : own->kind->root(own);
}

// A list of coordinates that stand behind others of a linkage.
static const int* list_behind(const Problem* p, BodySupport support, int at) {
    if (support.list == NULL) {
        return NULL;
    }
    int* list = ARENA_NEW(&p->contacts->arena, int, support.count);
    for (int i = 0; i < support.count && list != NULL; ++i) {
        list[i] = at + support.list[i];
    }
    return list;
}

// Which coordinates move a side. True when these are a list.
static bool find_support(Problem* p, int side) {
    const Body* body = mover(p, side);
    p->body[side] = -1;
    p->span[side] = (TdlSpan){0};
    p->list[side] = NULL;
    if (body == NULL) {
        return false;
    }
    BodyPlace place = problem_place(p, side / 2, side % 2);
    BodySupport support = body->kind->support(body, &place);
    int at = body->system->linked_at;
    p->body[side] = linkage_head(body->system)->index;
    p->span[side] = (TdlSpan){support.list == NULL ? at + support.first : 0, support.count};
    p->list[side] = at == 0 ? support.list : list_behind(p, support, at);
    return support.list != NULL;
}

// The same of the solver's coordinates, where these are z.
static bool find_root_support(Problem* p, int side) {
    const Body* body = problem_body(p, side / 2, side % 2);
    p->z_span[side] = p->span[side];
    p->z_list[side] = NULL;
    if (p->body[side] < 0 || body->kind->root_support == NULL) {
        return false;
    }
    BodyPlace place = problem_place(p, side / 2, side % 2);
    BodySupport support = body->kind->root_support(body, &place);
    p->z_span[side] = (TdlSpan){support.list == NULL ? support.first : 0, support.count};
    p->z_list[side] = support.list;
    return support.list != NULL;
}

// Of a contact of a body with itself what both lists begin with is left to the first side.
static void share_heads(Problem* p, int i) {
    const int *a = p->z_list[2 * i], *b = p->z_list[2 * i + 1];
    int most = p->z_span[2 * i].count, *count = &p->z_span[2 * i + 1].count;
    p->shared[i] = 0;
    if (!problem_touches_itself(p, i) || a == NULL || b == NULL || *count > SHARED_MOST) {
        return;
    }
    most = most < *count ? most : *count;
    while (p->shared[i] < most && a[p->shared[i]] == b[p->shared[i]]) {
        ++p->shared[i];
    }
    p->z_list[2 * i + 1] += p->shared[i];
    *count -= p->shared[i];
}

// Coordinates of z; true when every body that is touched has them. `turned`: some count with -1.
static bool count_roots(Problem* p, bool* turned) {
    int used = 0;
    bool all = true;
    *turned = false;
    for (int i = 0; i < p->body_count; ++i) {
        p->z_start[i] = -1;
    }
    for (int side = 0; side < 2 * p->count; ++side) {
        if (p->body[side] >= 0) {
            p->z_start[p->body[side]] = 0;
        }
    }
    for (int i = 0; i < p->body_count; ++i) {
        BodyRoot root = p->z_start[i] < 0 ? (BodyRoot){0} : root_of(p, i);
        all = all && (p->z_start[i] < 0 || root.count > 0);
        *turned = *turned || root.minus.count > 0;
        p->z_start[i] = used;
        used += root.count;
    }
    p->z_start[p->body_count] = used;
    return all;
}

// Lays out rows of G, and of Y where they are others; true when they are worth it beside those of
// H and A^-1 H', `size` doubles.
static bool lay_out_roots(Problem* p, size_t size) {
    bool turned, lists = false;
    if (p->plain || !count_roots(p, &turned)) {
        return false;
    }
    size_t used = 0;
    for (int i = 0; i < 2 * p->count; ++i) {
        lists = find_root_support(p, i) || lists;
        if (i % 2 == 1) {
            share_heads(p, i / 2);
        }
        p->g_at[i] = p->y_at[i] = used;
        used += 3 * (size_t)p->z_span[i].count;
    }
    if ((turned ? 2.0 : 1.0) * (double)used > ROOTS_PAY * (double)size) {
        return false;
    }
    Arena* arena = &p->contacts->arena;
    p->z_list = lists ? p->z_list : NULL;
    p->y = ARENA_NEW(arena, double, used + 4);
    p->g = turned ? ARENA_NEW(arena, double, used + 4) : p->y;
    return true;
}

// Rows of H and of A^-1 H' are the solver's.
static void lay_out_plain(Problem* p, size_t y_used) {
    size_t used = 0;
    for (int i = 0; i < 2 * p->count; ++i) {
        bool again = i % 2 == 1 && problem_touches_itself(p, i / 2);
        p->y_at[i] = again ? p->y_at[i - 1] : used;
        used += again ? 0 : 3 * (size_t)problem_dofs(p, p->body[i]);
    }
    p->z_start = p->dof_start;
    p->z_span = p->span;
    p->z_list = p->list;
    p->g_at = p->h_at;
    p->g = p->h;
    p->y = ARENA_NEW(&p->contacts->arena, double, y_used + 4);
}

static bool lay_out(Problem* p) {
    if (!allocate_contacts(p)) {
        return false;
    }
    count_coordinates(p);
    size_t h_used = 0, y_used = 0;
    bool lists = false;
    for (int i = 0; i < 2 * p->count; ++i) {
        lists = find_support(p, i) || lists;
        bool again = i % 2 == 1 && problem_touches_itself(p, i / 2);
        p->h_at[i] = h_used;
        h_used += 3 * (size_t)p->span[i].count;
        y_used += again ? 0 : 3 * (size_t)problem_dofs(p, p->body[i]);
    }
    p->list = lists ? p->list : NULL;
    Arena* arena = &p->contacts->arena;
    p->velocity = ARENA_NEW(arena, double, p->dof_start[p->body_count]);
    p->h = ARENA_NEW(arena, double, h_used + 4);
    p->whitened = lay_out_roots(p, h_used + y_used);
    if (!p->whitened) {
        lay_out_plain(p, y_used);
    }
    p->change = ARENA_NEW(arena, double, p->z_start[p->body_count]);
    return p->velocity && p->change && p->h && p->g && p->y && !arena->failed;
}

static void gather_velocities(Problem* p) {
    world_gather_free(p->world, p->velocity);
}

// --- rows -----------------------------------------------------------------------------------

// A row about a span or a list, times a vector.
static double product(const double* row, TdlSpan span, const int* list, const double* own) {
    if (list == NULL) {
        return tdl_dot(span.count, row, own + span.first);
    }
    double sum = 0.0;
    for (int j = 0; j < span.count; ++j) {
        sum += row[j] * own[list[j]];
    }
    return sum;
}

double problem_own_product(const Problem* p, int side, int row, const double* own) {
    TdlSpan span = p->span[side];
    const double* h = p->h + p->h_at[side] + (ptrdiff_t)row * span.count;
    return product(h, span, p->list == NULL ? NULL : p->list[side], own);
}

double problem_side_product(const Problem* p, int side, int row, const double* all) {
    return problem_own_product(p, side, row, all + p->dof_start[p->body[side]]);
}

// The rows of one side, and the velocity that a script gives it.
static void fill_side(const Problem* p, int i, int which, TdlVec3* fixed) {
    const Body* body = problem_body(p, i, which);
    TdlMat3 basis = problem_basis(p, i);
    double sign = which == 0 ? -1.0 : 1.0;
    BodyPlace place = problem_place(p, i, which);
    if (body->kind->prescribed != NULL) {
        TdlVec3 v = tdl_tmul33_3(basis, body->kind->prescribed(body, &place));
        *fixed = tdl_axpy3(*fixed, sign, v);
    }
    if (p->body[2 * i + which] < 0) {
        return;
    }
    double* h = p->h + p->h_at[2 * i + which];
    body->kind->rows(body, &place, basis, h);
    for (int j = 0; j < 3 * p->span[2 * i + which].count; ++j) {
        h[j] *= sign;
    }
}

// What the rows of a contact make of the velocities without contacts.
static TdlVec3 free_velocity(const Problem* p, int i) {
    TdlVec3 u = {0};
    for (int side = 2 * i; side < 2 * i + 2; ++side) {
        double part[3] = {0.0};
        for (int k = 0; k < 3 && p->body[side] >= 0; ++k) {
            part[k] = problem_side_product(p, side, k, p->velocity);
        }
        u = tdl_add3(u, tdl_load3(part, 0));
    }
    return u;
}

// y += the rows of a side's H, as columns over all n coordinates of its body.
static void scatter_rows(const Problem* p, int side, int n, double* y) {
    TdlSpan span = p->span[side];
    const double *h = p->h + p->h_at[side], scale = 1.0 / p->unit;
    const int* list = p->list == NULL ? NULL : p->list[side];
    for (int k = 0; k < 3; ++k) {
        for (int j = 0; j < span.count; ++j) {
            int at = list == NULL ? span.first + j : list[j];
            y[k * n + at] += scale * h[k * span.count + j];
        }
    }
}

// What unit impulses on one side, or on both of a body that touches itself, do to its body.
static void fill_columns(const Problem* p, int side, bool both, int worker) {
    const Body* body = p->world->body[p->body[side]];
    int n = problem_dofs(p, p->body[side]);
    double* y = p->y + p->y_at[side];
    memset(y, 0, 3 * (size_t)n * sizeof *y);
    for (int s = side; s <= side + both; ++s) {
        scatter_rows(p, s, n, y);
    }
    if (body->linkage != NULL) {
        linkage_solve(body->linkage, worker, 3, y);
    } else {
        body->kind->solve(body, 3, y);
    }
}

// The rows of G of a side; what its list shares with that of the first side is added there.
static void whiten_side(const Problem* p, int side) {
    const Body* body = problem_body(p, side / 2, side % 2);
    BodyPlace place = problem_place(p, side / 2, side % 2);
    int n = p->z_span[side].count, shared = side % 2 == 1 ? p->shared[side / 2] : 0;
    double whole[3 * SHARED_MOST], *g = p->g + p->g_at[side], scale = 1.0 / sqrt(p->unit);
    double* rows = shared > 0 ? whole : g;
    body->kind->whiten(body, &place, p->h + p->h_at[side], rows);
    for (int j = 0; j < 3 * (n + shared); ++j) {
        rows[j] *= scale;
    }
    for (int k = 0; k < 3 && shared > 0; ++k) {
        const double* row = whole + (ptrdiff_t)k * (n + shared);
        double* first = p->g + p->g_at[side - 1] + (ptrdiff_t)k * p->z_span[side - 1].count;
        for (int j = 0; j < shared; ++j) {
            first[j] += row[j];
        }
        memcpy(g + (ptrdiff_t)k * n, row + shared, (size_t)n * sizeof *g);
    }
}

// Rows of Y = G K, where K is not 1.
static void sign_side(const Problem* p, int side) {
    int n = p->z_span[side].count;
    const int* list = p->z_list == NULL ? NULL : p->z_list[side];
    const double* g = p->g + p->g_at[side];
    double* y = p->y + p->y_at[side];
    if (y == g) {
        return;
    }
    TdlSpan minus = root_of(p, p->body[side]).minus;
    for (int j = 0; j < n; ++j) {
        int at = (list == NULL ? p->z_span[side].first + j : list[j]) - minus.first;
        double sign = at >= 0 && at < minus.count ? -1.0 : 1.0;
        for (int k = 0; k < 3; ++k) {
            y[k * n + j] = sign * g[k * n + j];
        }
    }
}

static void fill_contact_columns(void* user, int i, int worker) {
    const Problem* p = user;
    bool both = problem_touches_itself(p, i);
    for (int side = 2 * i; side < 2 * i + 2; ++side) {
        if (p->body[side] >= 0 && p->whitened) {
            whiten_side(p, side);
        } else if (p->body[side] >= 0 && (side == 2 * i || !both)) {
            fill_columns(p, side, both, worker);
        }
    }
    for (int side = 2 * i; side < 2 * i + 2 && p->whitened; ++side) {
        if (p->body[side] >= 0) {
            sign_side(p, side);
        }
    }
}

// The normal velocity that the law asks for at least.
static double normal_bias(const Problem* p, int i, TdlContactLaw law, bool bounces, double before) {
    double gap = fmax(problem_gap(p, i), 0.0);
    // slower than gravity makes it in two steps is no impact
    double rest = 2.0 * p->dt * tdl_norm3(p->world->def.gravity);
    if (law.restitution > 0.0 && bounces && gap + p->dt * before < 0.0 && before < -rest) {
        return -law.restitution * before;
    }
    return -gap / p->dt;
}

double problem_normal_motion(const Problem* p, int i, const double* move) {
    double sum = 0.0;
    for (int side = 2 * i; side < 2 * i + 2; ++side) {
        sum += p->body[side] < 0 ? 0.0 : problem_side_product(p, side, 0, move);
    }
    return sum;
}

// What the law is asked, from the velocities without contacts.
static void fill_free(void* user, int i, int worker) {
    (void)worker;
    const Problem* p = user;
    const Retry* retry = &p->contacts->retry;
    const Candidate* c = problem_candidate(p, i);
    const Body *a = problem_body(p, i, 0), *b = problem_body(p, i, 1);
    TdlVec3 u = free_velocity(p, i), fixed = tdl_load3(p->fixed, i);
    TdlContactLaw law = contact_law(p->world, a, b);
    bool bounces = a->bounces && b->bounces && c != NULL && !c->apart;
    p->bias[i] = normal_bias(p, i, law, bounces, u.x + fixed.x);
    if (c == NULL || c->apart) {
        // no deeper, and that is all: an opening asked for would be energy (W.11)
    } else if (c->held && retry->dof_count == p->dof_start[p->body_count]) {
        // so much more than in the attempt before (W.8)
        double tried = problem_normal_motion(p, i, retry->velocity) + fixed.x;
        double least = c->site.feature ? -INFINITY : p->bias[i]; // along another normal
        p->bias[i] = fmax(least, tried + c->sunk / p->dt);
    } else if (c->loss > 0.0) {
        double share = p->dt / p->world->def.step; // what is lost goes with the square (W.9)
        p->bias[i] += fmin(share * share * c->loss, LOST_MOST * c->radius) / p->dt;
    }
    tdl_store3(p->before, i, tdl_add3(u, fixed));
}

// What a contact is in the present shape: its rows, what is prescribed, its law.
static void fill_rows(void* user, int i, int worker) {
    (void)worker;
    const Problem* p = user;
    const Candidate* c = problem_candidate(p, i);
    TdlVec3 fixed = {0}, none = {0};
    fill_side(p, i, 0, &fixed);
    fill_side(p, i, 1, &fixed);
    TdlMat3 basis = problem_basis(p, i);
    TdlVec3 back = tdl_scale3(1.0 / p->dt, tdl_tmul33_3(basis, c == NULL ? none : c->slid));
    back.x = 0.0;
    tdl_store3(p->back, i, back);
    tdl_store3(p->fixed, i, tdl_add3(fixed, back));
    p->mu[i] = contact_law(p->world, problem_body(p, i, 0), problem_body(p, i, 1)).mu;
    TdlVec3 guess = c == NULL ? p->bed.at[i].guess : tdl_scale3(problem_lasts(p, i), c->force);
    tdl_store3(p->r, i, tdl_tmul33_3(basis, guess));
}

// --- rows as the solver has them -------------------------------------------------------------

// Rows of G and Y of two sides of one body, over the coordinates that both are about.
static double common_product(const Problem* p, int a, int b, int row) {
    int na = p->z_span[a].count, nb = p->z_span[b].count;
    const double* g = p->g + p->g_at[a] + (ptrdiff_t)row * na;
    const double* y = p->y + p->y_at[b] + (ptrdiff_t)row * nb;
    const int* la = p->z_list == NULL ? NULL : p->z_list[a];
    const int* lb = p->z_list == NULL ? NULL : p->z_list[b];
    // an empty rest of a list begins where the next list does
    if (na == nb && la == lb && (la != NULL || a == b)) {
        return tdl_dot(na, g, y);
    }
    double sum = 0.0;
    for (int i = 0, j = 0; i < na && j < nb;) {
        int at = la == NULL ? p->z_span[a].first + i : la[i];
        int other = lb == NULL ? p->z_span[b].first + j : lb[j];
        sum += at == other ? g[i] * y[j] : 0.0;
        i += at <= other;
        j += other <= at;
    }
    return sum;
}

double problem_row_product(const Problem* p, int i, int row) {
    double sum = 0.0;
    for (int a = 2 * i; a < 2 * i + 2 && p->whitened; ++a) {
        sum += p->body[a] >= 0 ? common_product(p, a, a, row) : 0.0;
    }
    if (p->whitened && problem_touches_itself(p, i)) {
        sum += 2.0 * common_product(p, 2 * i, 2 * i + 1, row); // K is symmetric
    }
    for (int side = 2 * i; side < 2 * i + 2 && !p->whitened; ++side) {
        ptrdiff_t column = (ptrdiff_t)row * problem_dofs(p, p->body[side]);
        sum += problem_own_product(p, side, row, p->y + p->y_at[side] + column);
    }
    return sum;
}

double problem_solver_product(const Problem* p, int side, int row, const double* z) {
    if (p->body[side] < 0) {
        return 0.0;
    }
    if (!p->whitened) {
        return problem_side_product(p, side, row, z);
    }
    TdlSpan span = p->z_span[side];
    const double* g = p->g + p->g_at[side] + (ptrdiff_t)row * span.count;
    const double* own = z + p->z_start[p->body[side]];
    const int* list = p->z_list == NULL ? NULL : p->z_list[side];
    return product(g, span, list, own);
}

void problem_solver_add(const Problem* p, int side, int row, double amount, double* z) {
    bool again = side % 2 == 1 && problem_touches_itself(p, side / 2);
    if (p->body[side] < 0 || (again && !p->whitened)) {
        return;
    }
    TdlSpan span = p->whitened ? p->z_span[side] : (TdlSpan){0, problem_dofs(p, p->body[side])};
    const int* list = p->whitened && p->z_list != NULL ? p->z_list[side] : NULL;
    const double* y = p->y + p->y_at[side] + (ptrdiff_t)row * span.count;
    double* own = z + p->z_start[p->body[side]];
    for (int j = 0; j < span.count; ++j) {
        own[list == NULL ? span.first + j : list[j]] += amount * y[j];
    }
}

static double lighter_mass(const Problem* p, int i) {
    double least = INFINITY;
    for (int side = 0; side < 2; ++side) {
        const Body* body = problem_body(p, i, side);
        if (p->body[2 * i + side] < 0 || body->kind->mass == NULL) {
            continue;
        }
        TdlVec3 centre;
        double* mass = &p->mass[body->index];
        *mass = *mass > 0.0 ? *mass : body->kind->mass(body, &centre);
        least = fmin(least, *mass);
    }
    return least;
}

double problem_mobility(const Problem* p, int i) {
    double mass = lighter_mass(p, i);
    return isfinite(mass) ? fmax(mass * p->unit * problem_row_product(p, i, 0), 0.0) : 1.0;
}

// The unit of impulse in which W is about 1: error measures compare impulses with velocities. Found
// from some contacts, whose rows of y are filled for it.
static double find_unit(Problem* p) {
    double sum = 0.0;
    int taken = 0, stride = p->count / SCALE_SAMPLES + 1;
    p->unit = 1.0;
    if (p->bed.body != NULL) {
        return p->unit; // rows of strain have units of their own
    }
    for (int i = 0; i < p->count; i += stride, ++taken) {
        fill_contact_columns(p, i, 0);
        sum += problem_row_product(p, i, 0) + problem_row_product(p, i, 1) +
               problem_row_product(p, i, 2);
    }
    double unit = sum / (3.0 * taken);
    return isfinite(unit) && unit > 0.0 ? unit : 1.0;
}

// The contacts that take part, with their rows.
static TdlStatus lay_rows(Problem* p) {
    choose_contacts(p);
    if (p->count == 0) {
        return TDL_STATUS_OK;
    }
    if (!lay_out(p)) {
        return TDL_STATUS_NO_MEMORY;
    }
    pool_run(p->world->pool, p->count, 16, fill_rows, p);
    return TDL_STATUS_OK;
}

static TdlStatus fill(Problem* p) {
    TdlStatus status = lay_rows(p);
    if (status != TDL_STATUS_OK || p->count == 0) {
        return status;
    }
    problem_renew(p);
    p->unit = find_unit(p);
    pool_run(p->world->pool, p->count, 16, fill_contact_columns, p);
    for (int k = 0; k < 3 * p->count; ++k) {
        p->r[k] *= p->unit;
    }
    return TDL_STATUS_OK;
}

void problem_renew(Problem* p) {
    gather_velocities(p);
    pool_run(p->world->pool, p->count, 16, fill_free, p);
}

// Whether nothing can move a contact along its normal, for bodies placed in each other and for
// others. Of the former W is compared with that of the other contacts, too: stiff bodies move
// little anywhere.
static bool is_immobile(const Problem* p, int i) {
    if (problem_candidate(p, i) == NULL) {
        return false; // its node moves
    }
    double product = problem_row_product(p, i, 0);
    if (p->contacts->found.at[p->of[i]].apart) {
        return !(product > IMMOBILE) && !(problem_mobility(p, i) > IMMOBILE);
    }
    return !(problem_mobility(p, i) > IMMOBILE_SUSPECT) && immobile_contact(p, i, product);
}

// Marks them; how many.
static int find_immobile(Problem* p) {
    int count = 0;
    for (int i = 0; i < p->count; ++i) {
        if (is_immobile(p, i)) {
            p->immobile[p->of[i]] = true;
            ++count;
        }
    }
    return count;
}

static bool allocate_choice(Problem* p) {
    Arena* arena = &p->contacts->arena;
    size_t candidates = (size_t)p->contacts->found.count, bodies = (size_t)p->world->body_count;
    p->of = ARENA_NEW(arena, int, candidates + (size_t)p->bed.count + 1);
    p->immobile = ARENA_NEW(arena, bool, candidates + 1);
    p->mass = ARENA_NEW(arena, double, bodies + 1);
    if (p->of == NULL || p->immobile == NULL || p->mass == NULL) {
        return false;
    }
    memset(p->immobile, 0, candidates);
    memset(p->mass, 0, bodies * sizeof *p->mass);
    return true;
}

TdlStatus problem_build(Problem* p) {
    if (!allocate_choice(p)) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status = fill(p);
    if (status != TDL_STATUS_OK || p->count == 0 || find_immobile(p) == 0) {
        return status;
    }
    return fill(p); // without them
}

TdlStatus problem_build_rows(Problem* p) {
    return allocate_choice(p) ? lay_rows(p) : TDL_STATUS_NO_MEMORY;
}

void problem_build_columns(Problem* p) {
    problem_renew(p);
    p->unit = 1.0;
    pool_run(p->world->pool, p->count, 16, fill_contact_columns, p);
}

void problem_unwhiten(const Problem* p, int body, const double* z, double* v) {
    const Body* own = p->world->body[body];
    if (!p->whitened) {
        memcpy(v, z, (size_t)problem_dofs(p, body) * sizeof *v);
        return;
    }
    own->kind->unwhiten(own, z, v);
    for (int j = 0; j < own->dof_count; ++j) {
        v[j] /= sqrt(p->unit);
    }
}
