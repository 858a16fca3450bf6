// The contacts that the rods of a world lean on, and the forces in them that explain the shapes
// best: a cone program, solved by the friction solvers. inverse-contacts.md (V.63), (V.64)
//
// Any forces in the cones go with natural curvatures that make the shape an exact equilibrium;
// those are taken with which these are nearest to a guess, in the norm of the elastic energy.
#include "inverse/world_inverse.h"

#include "base/log.h"
#include "math/dense.h"

#include <string.h>

// Error of the cone program, relative: forces to so many digits, the equilibrium being exact
// whatever they are.
static const double TOLERANCE = 1.0e-9;
// What is let pass where the solvers stall, for the same reason.
static const double ACCEPTED = 1.0e-4;

// Joints of a super-clothoid on which a moment is felt beyond where it sets in: 0.27^8 = 3e-5.
enum { FELT_JOINTS = 8 };
// What a tip that is touched counts for by itself, beside all of its rod: little, so that it
// decides only where the rest says nothing.
static const double TRUST = 0.01;

// --- K ------------------------------------------------------------------------------------------

// Entries of the matrix over joints, of one element: its own, and between its two. (C.2)
static const double JOINT_OWN = 1.0 / 3.0, JOINT_NEXT = 1.0 / 6.0;

static TdlVec3 unit_stiffness(const InverseRod* rod) {
    return tdl_scale3(1.0 / rod->rod->at_rest.element_length, rod->strand.stiffness);
}

static double joint_diagonal(int i, int count) {
    return (i > 0 && i + 1 < count ? 2.0 : 1.0) * JOINT_OWN;
}

void inverse_elastic_prepare(InverseRod* rod) {
    int count = rod->n / 3;
    for (int i = 0; i < count && rod->pivot != NULL; ++i) {
        double before = i > 0 ? JOINT_NEXT * JOINT_NEXT / rod->pivot[i - 1] : 0.0;
        rod->pivot[i] = joint_diagonal(i, count) - before;
    }
}

void inverse_elastic_solve(const InverseRod* rod, double* x) {
    TdlVec3 k = unit_stiffness(rod);
    int count = rod->n / 3;
    for (int i = 0; i < count; ++i) {
        TdlVec3 own = tdl_load3(x, i);
        tdl_store3(x, i, (TdlVec3){own.x / k.x, own.y / k.y, own.z / k.z});
    }
    for (int i = 0; i < count && rod->pivot != NULL; ++i) {
        TdlVec3 before = i > 0 ? tdl_load3(x, i - 1) : (TdlVec3){0};
        TdlVec3 left = tdl_axpy3(tdl_load3(x, i), -JOINT_NEXT, before);
        tdl_store3(x, i, tdl_scale3(1.0 / rod->pivot[i], left));
    }
    for (int i = count - 2; i >= 0 && rod->pivot != NULL; --i) {
        TdlVec3 own = tdl_load3(x, i), after = tdl_load3(x, i + 1);
        tdl_store3(x, i, tdl_axpy3(own, -JOINT_NEXT / rod->pivot[i], after));
    }
}

void inverse_elastic_add(const InverseRod* rod, double scale, const double* x, double* y) {
    TdlVec3 k = tdl_scale3(scale, unit_stiffness(rod));
    int count = rod->n / 3;
    for (int i = 0; i < count; ++i) {
        TdlVec3 sum = tdl_load3(x, i);
        if (rod->pivot != NULL) {
            sum = tdl_scale3(joint_diagonal(i, count), sum);
            sum = i > 0 ? tdl_axpy3(sum, JOINT_NEXT, tdl_load3(x, i - 1)) : sum;
            sum = i + 1 < count ? tdl_axpy3(sum, JOINT_NEXT, tdl_load3(x, i + 1)) : sum;
        }
        TdlVec3 force = {k.x * sum.x, k.y * sum.y, k.z * sum.z};
        tdl_store3(y, i, tdl_add3(tdl_load3(y, i), force));
    }
}

// --- contacts -------------------------------------------------------------------------------

static bool touches(const Inverse* v, const Candidate* x) {
    return !x->jointed && !x->passed_on && !x->spare && x->site.contact.gap < v->options.reach;
}

static bool allocate(Inverse* v, int count) {
    InverseContacts* c = &v->contacts;
    size_t n = (size_t)count;
    c->of = ARENA_NEW(&v->arena, int, n + 1);
    c->mu = ARENA_NEW(&v->arena, double, n + 1);
    c->gamma = ARENA_NEW(&v->arena, double, n + 1);
    c->r = ARENA_NEW(&v->arena, double, 3 * n + 1);
    c->rod = ARENA_NEW(&v->arena, int, 2 * n + 1);
    c->span = ARENA_NEW(&v->arena, TdlSpan, 2 * n + 1);
    c->at = ARENA_NEW(&v->arena, size_t, 2 * n + 1);
    c->own = ARENA_NEW(&v->arena, int, 2 * n + 1);
    return c->own && c->of && c->mu && c->gamma && c->r && c->rod && c->span && c->at;
}

// Whose coordinates move a side, and which.
static TdlStatus find_side(Inverse* v, const TdlContact* contact, int side, const int* rods) {
    InverseContacts* c = &v->contacts;
    const Seen* seen = &v->world->contacts->seen;
    const Body* body = seen_body(seen, contact, side);
    int at = 2 * c->count + side, rod = rods[body->index];
    c->rod[at] = rod;
    c->span[at] = (TdlSpan){0};
    if (rod < 0) {
        return TDL_STATUS_OK;
    }
    if (!inverse_is_super(v->rod[rod].rod)) {
        char name[TDL_BODY_NAME_SIZE];
        world_name_body(body, name);
        return tdl_fail(&v->world->host, TDL_STATUS_BAD_ARGUMENT,
                        "%s touches something: contacts are told of super-helices and "
                        "super-clothoids only",
                        name);
    }
    BodyPlace place = seen_place(seen, contact, side);
    BodySupport support = body->kind->support(body, &place);
    c->span[at] = (TdlSpan){support.first, support.count};
    return TDL_STATUS_OK;
}

// The rows of a side. (V.63)
static void fill_side(Inverse* v, int i, int side) {
    InverseContacts* c = &v->contacts;
    const Seen* seen = &v->world->contacts->seen;
    const TdlContact* contact = &v->world->contacts->found.at[c->of[i]].site.contact;
    const Body* body = seen_body(seen, contact, side);
    int at = 2 * i + side;
    if (c->rod[at] < 0) {
        return;
    }
    BodyPlace place = seen_place(seen, contact, side);
    place.touch = seen_acting(seen, contact, side);
    double* h = c->h + c->at[at];
    body->kind->rows(body, &place, contact->basis, h);
    for (int j = 0; j < 3 * c->span[at].count && side == 0; ++j) {
        h[j] = -h[j];
    }
}

// The sides of each rod, in rising order.
static void sort_sides(Inverse* v) {
    InverseContacts* c = &v->contacts;
    for (int side = 0; side < 2 * c->count; ++side) {
        c->start[c->rod[side] + 2] += c->rod[side] >= 0;
    }
    for (int k = 1; k <= v->rod_count; ++k) {
        c->start[k + 1] += c->start[k];
    }
    // as they are filled the start of each moves on to where the next begins
    for (int side = 0; side < 2 * c->count; ++side) {
        if (c->rod[side] >= 0) {
            c->own[c->start[c->rod[side] + 1]++] = side;
        }
    }
}

static TdlStatus list_contacts(Inverse* v, const int* rods) {
    InverseContacts* c = &v->contacts;
    const Candidates* found = &v->world->contacts->found;
    const Seen* seen = &v->world->contacts->seen;
    size_t used = 0;
    for (int i = 0; i < found->count; ++i) {
        const TdlContact* contact = &found->at[i].site.contact;
        if (!touches(v, &found->at[i])) {
            continue;
        }
        for (int side = 0; side < 2; ++side) {
            TdlStatus status = find_side(v, contact, side, rods);
            if (status != TDL_STATUS_OK) {
                return status;
            }
        }
        int first = 2 * c->count;
        if (c->span[first].count + c->span[first + 1].count == 0) {
            continue; // nothing that bends
        }
        for (int side = 0; side < 2; ++side) {
            c->at[first + side] = used;
            used += 3 * (size_t)c->span[first + side].count;
        }
        c->of[c->count] = i;
        c->mu[c->count] =
            contact_law(v->world, seen_body(seen, contact, 0), seen_body(seen, contact, 1)).mu;
        ++c->count;
    }
    c->h = ARENA_NEW(&v->arena, double, used + 4);
    c->roll = ARENA_NEW(&v->arena, double, used / 3 * 2 + 4);
    if (c->h == NULL || c->roll == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    sort_sides(v);
    for (int i = 0; i < c->count; ++i) {
        fill_side(v, i, 0);
        fill_side(v, i, 1);
    }
    return TDL_STATUS_OK;
}

TdlStatus inverse_find_contacts(Inverse* v) {
    TdlWorld* world = v->world;
    v->contacts = (InverseContacts){.start = ARENA_NEW(&v->arena, int, v->rod_count + 2)};
    if (v->contacts.start == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(v->contacts.start, 0, ((size_t)v->rod_count + 2) * sizeof(int));
    if (!v->options.contacts || world->contacts == NULL) {
        return TDL_STATUS_OK;
    }
    TdlStatus status = contacts_find_near(world, v->options.reach);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    int* rods = ARENA_NEW(&v->arena, int, world->body_count + 1);
    if (rods == NULL || !allocate(v, world->contacts->found.count)) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < world->body_count; ++i) {
        rods[i] = -1;
    }
    for (int k = 0; k < v->rod_count; ++k) {
        rods[v->rod[k].body->head.index] = k;
    }
    return list_contacts(v, rods);
}

void inverse_add_pull(const Inverse* v, double scale, double* out) {
    const InverseContacts* c = &v->contacts;
    for (int side = 0; side < 2 * c->count; ++side) {
        if (c->rod[side] < 0) {
            continue;
        }
        TdlSpan span = c->span[side];
        double* own = out + v->rod[c->rod[side]].first + span.first;
        for (int k = 0; k < 3; ++k) {
            double r = scale * c->r[3 * (side / 2) + k];
            const double* row = inverse_row(c, side, k);
            for (int j = 0; j < span.count; ++j) {
                own[j] += r * row[j];
            }
        }
    }
}

// --- the cone program -----------------------------------------------------------------------

// x <- x less its mean, the uniform curvature that is nearest to it in the elastic energy, which
// counts against `first` as told. Returns what was taken. (V.65)
static TdlVec3 take_mean(const InverseRod* rod, TdlVec3 first, double* x) {
    int count = rod->n / 3;
    TdlVec3 sum = {0};
    double weight = 0.0;
    for (int i = 0; i < count; ++i) {
        // a joint at an end of a super-clothoid is shared by one element only
        double share = rod->pivot != NULL && (i == 0 || i + 1 == count) ? 0.5 : 1.0;
        sum = tdl_axpy3(sum, share, tdl_load3(x, i));
        weight += share;
    }
    TdlVec3 mean = tdl_axpy3(tdl_scale3(1.0 / weight, sum), TRUST, first);
    mean = tdl_scale3(1.0 / (1.0 + TRUST), mean);
    for (int i = 0; i < count; ++i) {
        tdl_store3(x, i, tdl_sub3(tdl_load3(x, i), mean));
    }
    return mean;
}

static void solve_body(void* user, int body, const double* rhs, double* x) {
    const Inverse* v = user;
    const InverseRod* rod = &v->rod[body];
    memcpy(x, rhs, (size_t)rod->n * sizeof *x);
    inverse_elastic_solve(rod, x);
    if (v->tips_float && rod->tip_touched) {
        take_mean(rod, (TdlVec3){0}, x);
    }
}

// q0 - q - K^-1 G: what elasticity would have to be changed by. (V.64)
static void find_wish(const Inverse* v, double* wish) {
    memcpy(wish, v->gradient, (size_t)v->dof_count * sizeof *wish);
    for (int k = 0; k < v->rod_count; ++k) {
        const InverseRod* rod = &v->rod[k];
        double *own = wish + rod->first, tip[3] = {rod->tip.x, rod->tip.y, rod->tip.z};
        double far = v->tips_float ? 1.0 : 1.0 - v->guess;
        if (!inverse_is_super(rod->rod)) {
            memset(own, 0, (size_t)rod->n * sizeof *own);
            continue;
        }
        inverse_elastic_solve(rod, own);
        bool floats = v->tips_float && rod->tip_touched;
        for (int j = 0; j < rod->n; ++j) {
            double known = floats ? 0.0 : tip[j % 3];
            own[j] = far * (known - rod->rod->q[j]) - own[j];
        }
        if (floats) {
            take_mean(rod, tdl_scale3(-1.0, rod->tip), own);
        }
    }
}

// Elements of a side within so many of the end have a part in the tip's curvature: of a
// super-helix those of the last one; in a super-clothoid a moment that sets in inside of an element
// is felt on joints beyond, by 0.27 less on each. (V.65)
static bool feels_tip(const InverseRod* rod, TdlSpan span) {
    int beyond = rod->n - span.first - span.count;
    return span.count > 0 && beyond <= (rod->pivot != NULL ? 3 * FELT_JOINTS : 0);
}

// Nothing is beyond the tip: unless contacts have a part in it, its natural curvature is the one
// without them. True where some are to be found. (V.65)
static TdlStatus find_tips(Inverse* v, bool* touched) {
    double* free = ARENA_NEW(&v->arena, double, v->dof_count + 1);
    if (free == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(free, v->gradient, (size_t)v->dof_count * sizeof *free);
    for (int k = 0; k < v->rod_count; ++k) {
        InverseRod* rod = &v->rod[k];
        int last = rod->n / 3 - 1;
        if (inverse_is_super(rod->rod)) {
            inverse_elastic_solve(rod, free + rod->first);
            rod->tip = tdl_add3(tdl_load3(rod->rod->q, last), tdl_load3(free + rod->first, last));
        }
        rod->tip_touched = false;
    }
    *touched = false;
    for (int side = 0; side < 2 * v->contacts.count; ++side) {
        InverseRod* rod = v->contacts.rod[side] < 0 ? NULL : &v->rod[v->contacts.rod[side]];
        if (rod != NULL && feels_tip(rod, v->contacts.span[side])) {
            rod->tip_touched = *touched = true;
        }
    }
    return TDL_STATUS_OK;
}

// The tips that were sought, from the forces that were found with them. (V.65)
static TdlStatus read_tips(Inverse* v) {
    double* rest = ARENA_NEW(&v->arena, double, v->dof_count + 1);
    if (rest == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(rest, v->gradient, (size_t)v->dof_count * sizeof *rest);
    inverse_add_pull(v, -1.0, rest);
    for (int k = 0; k < v->rod_count; ++k) {
        InverseRod* rod = &v->rod[k];
        if (!rod->tip_touched) {
            continue;
        }
        double* own = rest + rod->first;
        inverse_elastic_solve(rod, own);
        for (int j = 0; j < rod->n; ++j) {
            own[j] += rod->rod->q[j];
        }
        rod->tip = take_mean(rod, rod->tip, own);
    }
    return TDL_STATUS_OK;
}

double inverse_compliance(const Inverse* v, int i, int axis, double* whole) {
    const InverseContacts* c = &v->contacts;
    double sum = 0.0;
    for (int side = 2 * i; side < 2 * i + 2; ++side) {
        if (c->rod[side] < 0) {
            continue;
        }
        const InverseRod* rod = &v->rod[c->rod[side]];
        TdlSpan span = c->span[side];
        const double* row = inverse_row(c, side, axis);
        memset(whole, 0, (size_t)rod->n * sizeof *whole);
        memcpy(whole + span.first, row, (size_t)span.count * sizeof *row);
        inverse_elastic_solve(rod, whole);
        sum += tdl_dot(span.count, row, whole + span.first);
    }
    return sum;
}

// Of each contact, by the mean compliance of all. (V.64)
static TdlStatus choose_gamma(Inverse* v) {
    double sum = 0.0, *whole = ARENA_NEW(&v->arena, double, v->dof_count + 1);
    if (whole == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < 3 * v->contacts.count; ++i) {
        sum += inverse_compliance(v, i / 3, i % 3, whole);
    }
    for (int i = 0; i < v->contacts.count; ++i) {
        v->contacts.gamma[i] = v->options.gamma * sum / (3.0 * v->contacts.count);
    }
    return TDL_STATUS_OK;
}

// The program itself, with W formed.
static TdlStatus form_program(Inverse* v, TdlFrictionProblem** out) {
    const TdlHost* host = &v->world->host;
    InverseContacts* c = &v->contacts;
    double* wish = ARENA_NEW(&v->arena, double, v->dof_count + 1);
    double* mu = ARENA_NEW(&v->arena, double, c->count);
    unsigned char* associated = ARENA_NEW(&v->arena, unsigned char, c->count);
    if (wish == NULL || mu == NULL || associated == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    find_wish(v, wish);
    TdlStatus status = choose_gamma(v);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    for (int i = 0; i < c->count; ++i) {
        mu[i] = v->options.mu_share * c->mu[i];
        associated[i] = 1;
    }
    TdlFrictionBodiesDef def = {
        .laws = {.block_size = 3, .contact_count = c->count, .mu = mu, .associated = associated},
        .body_count = v->rod_count,
        .dof_start = v->dof_start,
        .velocity = wish,
        .body = c->rod,
        .span = c->span,
        .h = c->h,
        .solve = solve_body,
        .solve_user = v};
    TdlFrictionProblem *bodies = NULL, *plain = NULL;
    status = tdl_friction_problem_create_bodies(host, &def, &bodies);
    if (status == TDL_STATUS_OK) {
        status = tdl_friction_problem_explicit(host, bodies, &plain);
    }
    if (status == TDL_STATUS_OK) {
        TdlFrictionMatrixDef w = tdl_friction_problem_matrix(plain);
        w.laws.gamma = c->gamma;
        status = tdl_friction_problem_create(host, &w, out);
    }
    tdl_friction_problem_destroy(bodies);
    tdl_friction_problem_destroy(plain);
    return status;
}

static TdlStatus solve_program(Inverse* v, const TdlFrictionProblem* program) {
    const TdlHost* host = &v->world->host;
    TdlFrictionOptions options = tdl_friction_options_default();
    options.tolerance = TOLERANCE;
    options.stop = v->world->watch.stop;
    options.stop_user = v->world->watch.stop_user;
    TdlFrictionSolver* solver = NULL;
    TdlFrictionInfo info = {0};
    TdlStatus status = tdl_friction_solver_create(host, &options, &solver);
    memset(v->contacts.r, 0, 3 * (size_t)v->contacts.count * sizeof(double));
    if (status == TDL_STATUS_OK) {
        status = tdl_friction_solver_solve(solver, program, v->contacts.r, NULL, &info);
    }
    tdl_friction_solver_destroy(solver);
    v->contacts.residual = info.error;
    if (status == TDL_STATUS_OK && info.outcome == TDL_FRICTION_STOPPED) {
        return TDL_STATUS_STOPPED;
    }
    if (status == TDL_STATUS_OK && !(info.error <= ACCEPTED)) {
        return tdl_fail(host, TDL_STATUS_DIVERGED,
                        "the forces of %d contacts were not found: an error of %.2g remains",
                        v->contacts.count, info.error);
    }
    return status;
}

static TdlStatus find_forces(Inverse* v) {
    TdlFrictionProblem* program = NULL;
    ArenaMark mark = arena_mark(&v->arena);
    TdlStatus status = form_program(v, &program);
    if (status == TDL_STATUS_OK) {
        status = solve_program(v, program);
    }
    tdl_friction_problem_destroy(program);
    arena_release(&v->arena, mark);
    return status;
}

TdlStatus inverse_find_forces(Inverse* v) {
    v->contacts.residual = 0.0;
    if (v->contacts.count == 0) {
        return TDL_STATUS_OK;
    }
    ArenaMark mark = arena_mark(&v->arena);
    bool touched = false;
    TdlStatus status = find_tips(v, &touched);
    v->tips_float = touched && v->guess < 1.0;
    if (status == TDL_STATUS_OK && v->tips_float) {
        status = find_forces(v);
    }
    if (status == TDL_STATUS_OK && v->tips_float) {
        status = read_tips(v);
    }
    // with the tips that were found, the guess 0 is what these forces are for already
    if (status == TDL_STATUS_OK && !(v->tips_float && v->guess == 0.0)) {
        v->tips_float = false;
        status = find_forces(v);
    }
    arena_release(&v->arena, mark);
    return status;
}
