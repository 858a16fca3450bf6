// The exact response: Signorini's and Coulomb's laws, by the friction solvers. S3's is the same
// with a solver whose friction always slides, judged by its own law.
#include "base/clock.h"
#include "friction/nodal.h"
#include "friction/problem.h"
#include "friction/solver.h"
#include "friction/strain.h"
#include "world/answer.h"

#include <string.h>

// Contacts up to which a solve that did not converge is done again by the thorough solver.
enum { FEW = 1000 };

// Contacts from which on Newton steps over the nodes of sheets pay: of 600 nodes with 150 contacts
// a run takes 1.4 times as long with them, with 900 contacts a solve takes a tenth.
enum { NODAL_LEAST = 250 };

typedef struct Exact {
    TdlHost host;
    TdlFrictionSolver* solver;
    TdlFrictionSolver* nodal;    // the same of bodies of many nodes
    TdlFrictionSolver* thorough; // for what the first one leaves, where there are few contacts
    StrainSolver* strain;        // where something fills space
    bool s3;                     // its law is S3's, which nothing else solves
    double tolerance;            // of the last solve
    const TdlWorld* world;       // of the last solve

    // of the last solve, in the arena of the contacts
    Problem problem;
    TdlFrictionProblem* friction; // null where no contact obeys the law
} Exact;

static void destroy(void* self) {
    Exact* exact = self;
    tdl_friction_solver_destroy(exact->solver);
    tdl_friction_solver_destroy(exact->nodal);
    tdl_friction_solver_destroy(exact->thorough);
    strain_solver_destroy(exact->strain);
    tdl_free(&exact->host.mem, exact);
}

static bool asked_to_stop(void* user) {
    const Exact* exact = user;
    return world_asked_to_stop(exact->world);
}

static TdlStatus create(const TdlHost* host, const TdlWorldDef* def, Pool* pool, void** out) {
    Exact* exact = tdl_alloc_zero(&host->mem, sizeof *exact);
    if (exact == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    exact->host = *host;
    TdlFrictionOptions options = tdl_friction_options_default();
    exact->s3 = def->contacts.response == TDL_RESPONSE_S3;
    bool given = !exact->s3 || def->contacts.solver == TDL_FRICTION_NORMAL_INTERIOR;
    options.solver = given ? def->contacts.solver : TDL_FRICTION_ACTIVE_SET;
    options.tolerance = def->contacts.tolerance;
    options.max_iterations = def->contacts.max_iterations;
    options.stop = asked_to_stop;
    options.stop_user = exact;
    TdlStatus status = friction_solver_create_lent(host, &options, pool, &exact->solver);
    if (status == TDL_STATUS_OK) {
        // sheets hardly stretch, so what sweeps leave is lost on them: Newton steps alone (W.32)
        bool chosen = options.solver != TDL_FRICTION_ALTERNATING;
        options.solver = chosen ? options.solver : TDL_FRICTION_PROXIMAL;
        status = friction_solver_create_lent(host, &options, pool, &exact->nodal);
    }
    if (status == TDL_STATUS_OK) {
        options.solver = TDL_FRICTION_AUTO;
        status = friction_solver_create_lent(host, &options, pool, &exact->thorough);
    }
    if (status == TDL_STATUS_OK) {
        status = strain_solver_create(host, pool, &exact->strain);
    }
    if (status != TDL_STATUS_OK) {
        destroy(exact);
        return status;
    }
    *out = exact;
    return TDL_STATUS_OK;
}

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
    world->watch.problem(world->watch.problem_user, &solved);
}

static bool has_matrix(const Problem* p, int side) {
    int body = p->body[side];
    return body >= 0 && p->world->body[body]->kind->matrix != NULL;
}

static bool touches_nodes(const Problem* p) {
    bool found = false;
    for (int side = 0; side < 2 * p->count && !found; ++side) {
        found = has_matrix(p, side);
    }
    return found;
}

// The solver, and where it stops short the thorough one.
static TdlStatus run_solvers(const Exact* exact, Problem* p, const TdlFrictionProblem* problem,
                             double allowed, TdlFrictionInfo* info, ContactsSolved* out) {
    TdlFrictionSolver* first = touches_nodes(p) ? exact->nodal : exact->solver;
    friction_solver_set_budget(first, allowed);
    TdlStatus status = tdl_friction_solver_solve(first, problem, p->r, p->u, info);
    out->iterations = info->iterations;
    out->effort = info->work;
    if (status == TDL_STATUS_OK && info->outcome == TDL_FRICTION_STOPPED) {
        return TDL_STATUS_STOPPED;
    }
    bool enough =
        info->outcome == TDL_FRICTION_CONVERGED || p->count > FEW || p->hurried || exact->s3;
    enough = enough || out->effort >= allowed;
    if (status != TDL_STATUS_OK || enough) {
        return status;
    }
    friction_solver_set_budget(exact->thorough, allowed - out->effort);
    status = tdl_friction_solver_solve(exact->thorough, problem, p->r, p->u, info);
    out->iterations += info->iterations;
    out->effort += info->work;
    bool stopped = status == TDL_STATUS_OK && info->outcome == TDL_FRICTION_STOPPED;
    return stopped ? TDL_STATUS_STOPPED : status;
}

static TdlStatus solve_problem(const Exact* exact, Problem* p, const TdlFrictionProblem* problem,
                               double allowed, ContactsSolved* out) {
    TdlFrictionInfo info;
    double* guess = NULL;
    if (p->world->watch.problem != NULL) {
        guess = ARENA_NEW(&p->contacts->arena, double, 3 * p->count);
        if (guess == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        memcpy(guess, p->r, 3 * (size_t)p->count * sizeof *guess);
    }
    TdlStatus status = run_solvers(exact, p, problem, allowed, &info, out);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    out->error = exact->s3 ? info.s3_error : info.error;
    out->converged =
        exact->s3 ? info.s3_error <= exact->tolerance : info.outcome == TDL_FRICTION_CONVERGED;
    status = tdl_friction_body_velocity(problem, p->r, p->change);
    if (status == TDL_STATUS_OK && guess != NULL) {
        show_problem(p, problem, guess, &info);
    }
    return status;
}

// Whether all bodies that are touched give their A, and Newton steps over all of its coordinates
// cost less than over the contacts. (W.30)
static bool is_nodal(const Problem* p) {
    bool given = p->whitened && p->law_count >= NODAL_LEAST;
    for (int side = 0; side < 2 * p->count && given; ++side) {
        given = p->body[side] < 0 || has_matrix(p, side);
    }
    return given;
}

// A of the bodies that are touched, in the unit of impulses.
static bool gather_matrix(const Problem* p, TdlSparseRows* out) {
    Arena* arena = &p->contacts->arena;
    int n = p->z_start[p->body_count], used = 0, at = 0;
    BodyMatrix* own = ARENA_NEW(arena, BodyMatrix, p->body_count + 1);
    if (own == NULL) {
        return false;
    }
    for (int i = 0; i < p->body_count; ++i) {
        const Body* body = p->world->body[i];
        bool has = p->z_start[i + 1] > p->z_start[i];
        own[i] = has ? body->kind->matrix(body) : (BodyMatrix){0};
        used += has ? own[i].start[problem_dofs(p, i)] : 0;
    }
    int* start = ARENA_NEW(arena, int, n + 1);
    int* column = ARENA_NEW(arena, int, used);
    double* value = ARENA_NEW(arena, double, used);
    if (start == NULL || column == NULL || value == NULL) {
        return false;
    }
    for (int i = 0; i < p->body_count; ++i) {
        int first = p->z_start[i];
        for (int k = 0; k < p->z_start[i + 1] - first; ++k) {
            start[first + k] = at;
            for (int e = own[i].start[k]; e < own[i].start[k + 1]; ++e, ++at) {
                column[at] = first + own[i].column[e];
                value[at] = p->unit * own[i].value[e];
            }
        }
    }
    start[n] = at;
    *out = (TdlSparseRows){start, column, value};
    return true;
}

static void drive(void* user, int body, const double* f, double* z) {
    const Problem* p = user;
    const Body* own = p->world->body[body];
    own->kind->drive(own, f, z);
    for (int j = 0; j < own->dof_count; ++j) {
        z[j] /= sqrt(p->unit);
    }
}

static void velocity(void* user, int body, const double* z, double* v) {
    problem_unwhiten(user, body, z, v);
}

// A and H beside the whitened rows.
static TdlStatus add_nodes(Exact* exact, Problem* p) {
    TdlFrictionBodiesDef def = {.span = p->span, .list = p->list, .h = p->h};
    NodalRoot root = {drive, velocity, p};
    return gather_matrix(p, &def.a) ? nodal_attach(exact->friction, &def, &root)
                                    : TDL_STATUS_NO_MEMORY;
}

static TdlFrictionBodiesDef contacts_def(const Problem* p) {
    return (TdlFrictionBodiesDef){
        .laws = {.block_size = 3,
                 .contact_count = p->law_count,
                 .mu = p->mu,
                 .normal_velocity = p->bias},
        .body_count = p->body_count,
        .dof_start = p->z_start,
        .u_free = p->before,
        .body = p->body,
        .span = p->z_span,
        .list = p->z_list,
        .h = p->g,
        .y = p->y,
        .y_like_h = p->whitened,
    };
}

// Its memory goes with the arena.
static TdlStatus make_friction(Exact* exact, Problem* p) {
    TdlHost scratch = p->contacts->host;
    scratch.mem = (TdlAllocator){scratch_resize, &p->contacts->arena};
    TdlFrictionBodiesDef def = contacts_def(p);
    TdlStatus status = tdl_friction_problem_create_bodies(&scratch, &def, &exact->friction);
    return status == TDL_STATUS_OK && is_nodal(p) ? add_nodes(exact, p) : status;
}

// --- where something fills space -----------------------------------------------------------------

// Velocities of the bed's nodes, taken and given back; and what was done to them, J.
static double* gather_nodes(const Problem* p) {
    const BodyStrain* strain = p->bed.strain;
    double* v = ARENA_NEW(&p->contacts->arena, double, 3 * strain->node_count + 1);
    for (int i = 0; i < strain->node_count && v != NULL; ++i) {
        memcpy(v + (ptrdiff_t)3 * i, p->bed.body->v_free + strain->coordinate[i], 3 * sizeof *v);
    }
    return v;
}

static double hand_nodes(const Problem* p, const double* v) {
    const BodyStrain* strain = p->bed.strain;
    double work = 0.0;
    for (int i = 0; i < strain->node_count; ++i) {
        double* own = p->bed.body->v_free + strain->coordinate[i];
        for (int k = 0; k < 3; ++k) {
            work += strain->mass[i] * (v[3 * i + k] - own[k]) * v[3 * i + k];
            own[k] = v[3 * i + k];
        }
        if (p->count > 0) { // bodies are given theirs from there
            int at = p->dof_start[p->bed.body->index] + strain->coordinate[i];
            memcpy(p->velocity + at, own, 3 * sizeof *own);
        }
    }
    return work;
}

static bool bed_arrays(const Problem* p, int** node, TdlMat3** basis) {
    Arena* arena = &p->contacts->arena;
    *node = ARENA_NEW(arena, int, p->law_count + 1);
    *basis = ARENA_NEW(arena, TdlMat3, p->law_count + 1);
    for (int i = 0; i < p->law_count && *node != NULL && *basis != NULL; ++i) {
        bool own = i < p->bed.count;
        (*node)[i] = own ? p->bed.at[i].node : -1;
        (*basis)[i] = own ? p->bed.at[i].basis : tdl_identity33();
    }
    return *node != NULL && *basis != NULL;
}

// What contacts did to nodes.
static void note_reactions(const Problem* p) {
    double* reaction = p->bed.strain->reaction;
    memset(reaction, 0, 3 * (size_t)p->bed.strain->node_count * sizeof *reaction);
    for (int i = 0; i < p->bed.count; ++i) {
        TdlVec3 r = tdl_mul33_3(p->bed.at[i].basis, tdl_load3(p->r, i));
        TdlVec3 sum = tdl_load3(reaction, p->bed.at[i].node);
        tdl_store3(reaction, p->bed.at[i].node, tdl_axpy3(sum, -1.0 / p->unit, r));
    }
}

// Rows of strain with all contacts, in one problem.
static TdlStatus solve_bed(Exact* exact, Problem* p, const ContactsRound* round,
                           ContactsSolved* out) {
    const TdlWorldDef* def = &p->world->def;
    StrainProblem problem = {.bed = p->bed.strain, .contacts = contacts_def(p), .unit = p->unit};
    StrainAim aim = {.tolerance = round->tolerance,
                     .max_iterations = def->contacts.max_iterations,
                     .allowed = round->allowed,
                     .stop = asked_to_stop,
                     .stop_user = exact};
    int* node;
    TdlMat3* basis;
    double *free = gather_nodes(p), *v = gather_nodes(p);
    if (free == NULL || v == NULL || !bed_arrays(p, &node, &basis)) {
        return TDL_STATUS_NO_MEMORY;
    }
    problem.v = free;
    problem.node = node;
    problem.basis = basis;
    StrainInfo info;
    TdlStatus status = strain_solve(exact->strain, &problem, &aim, p->r, p->u, v, p->change, &info);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    out->iterations = info.iterations;
    out->effort = info.work;
    out->error = info.error;
    out->converged = info.converged;
    p->bed.strain->iterations = info.iterations;
    p->bed.strain->error = info.error;
    note_reactions(p);
    p->bed.body->touched = true;
    p->bed.body->touch += hand_nodes(p, v);
    return info.stopped ? TDL_STATUS_STOPPED : TDL_STATUS_OK;
}

static TdlStatus solve_friction(Exact* exact, Problem* p, const ContactsRound* round,
                                ContactsSolved* out) {
    if (round->same) {
        problem_set_free(exact->friction, p->before, p->bias);
    } else {
        TdlStatus status = make_friction(exact, p);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    exact->tolerance = round->tolerance;
    TdlFrictionSolver* all[] = {exact->solver, exact->nodal, exact->thorough};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
        friction_solver_set_tolerance(all[k], round->tolerance);
    }
    return solve_problem(exact, p, exact->friction, round->allowed, out);
}

// How far the forces are from those that were expected, as a part of them.
static double find_news(const Problem* p) {
    double news = 0.0, all = 0.0;
    for (int i = 0; i < p->count; ++i) {
        const Candidate* x = problem_candidate(p, i);
        TdlVec3 r = tdl_scale3(1.0 / (p->unit * problem_lasts(p, i)), tdl_load3(p->r, i));
        TdlVec3 force = tdl_mul33_3(problem_basis(p, i), r);
        TdlVec3 off = x == NULL ? (TdlVec3){0} : tdl_sub3(force, x->force);
        news += tdl_dot3(off, off);
        all += tdl_dot3(force, force);
    }
    return all > 0.0 ? sqrt(news / all) : 0.0;
}

// What a candidate carries, for the next step and the next attempt.
static void note_candidate(Problem* p, int i, TdlVec3 r, bool sticks) {
    Candidate* x = problem_candidate(p, i);
    if (x != NULL) {
        x->force = tdl_scale3(1.0 / problem_lasts(p, i), tdl_mul33_3(x->site.contact.basis, r));
        x->sticks = sticks;
        double asked = p->dt * p->bias[i] + fmax(x->site.contact.gap, 0.0);
        p->contacts->retry.asked[p->of[i]] = asked;
    }
}

static TdlStatus note_forces(Problem* p, ContactsSolved* out) {
    Contacts* c = p->contacts;
    Forces* forces = &c->forces;
    int first = forces->kept, count = first + p->count;
    if (!tdl_reserve(&c->host.mem, &forces->at, &forces->capacity, count, sizeof *forces->at)) {
        return TDL_STATUS_NO_MEMORY;
    }
    out->news = find_news(p);
    TdlStatus status = answer_clear_forces(c);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    for (int i = 0; i < p->count; ++i) {
        TdlVec3 r = tdl_scale3(1.0 / p->unit, tdl_load3(p->r, i)), u = tdl_load3(p->u, i);
        forces->at[first + i] = answer_force(p, i, r);
        out->friction -= r.y * u.y + r.z * u.z;
        out->impact -= r.x * u.x;
        out->back -= tdl_dot3(r, tdl_load3(p->back, i));
        out->work -= tdl_dot3(r, tdl_sub3(tdl_load3(p->fixed, i), tdl_load3(p->back, i)));
        note_candidate(p, i, r, r.x > 0.0 && !forces->at[first + i].sliding);
    }
    forces->count = count;
    return TDL_STATUS_OK;
}

// Of the contacts that are not under the law: nothing acts, and they move as they do.
static void let_be(Problem* p) {
    for (int i = p->law_count; i < p->count; ++i) {
        tdl_store3(p->r, i, (TdlVec3){0});
        TdlVec3 u = tdl_load3(p->fixed, i);
        u.x += problem_normal_motion(p, i, p->velocity);
        tdl_store3(p->u, i, u);
    }
}

static TdlStatus answer(Exact* exact, Problem* p, const ContactsRound* round, ContactsSolved* out) {
    TdlStatus status = p->bed.body != NULL ? solve_bed(exact, p, round, out)
                       : p->law_count > 0  ? solve_friction(exact, p, round, out)
                                           : TDL_STATUS_OK;
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = p->law_count > 0 ? answer_change_velocities(p) : TDL_STATUS_OK;
    if (status != TDL_STATUS_OK) {
        return status;
    }
    let_be(p);
    status = note_forces(p, out);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return answer_hand_out(p);
}

// The problem of the attempt; where it is the same but for v_free, only what follows from that.
static TdlStatus build(Exact* exact, TdlWorld* world, const BodyStep* step, bool same) {
    Contacts* c = world->contacts;
    if (same) {
        if (exact->problem.count > 0) { // joints go on without contacts, too
            problem_renew(&exact->problem);
        }
        return TDL_STATUS_OK;
    }
    arena_release(&c->arena, (ArenaMark){0});
    exact->friction = NULL;
    exact->problem =
        (Problem){.world = world, .contacts = c, .dt = step->dt, .hurried = step->hurried};
    TdlStatus status = bed_find(world, step->dt, &c->arena, &exact->problem.bed);
    return status == TDL_STATUS_OK ? problem_build(&exact->problem) : status;
}

static TdlStatus solve(void* self, TdlWorld* world, const BodyStep* step,
                       const ContactsRound* round, ContactsSolved* out) {
    Exact* exact = self;
    Contacts* c = world->contacts;
    Problem* p = &exact->problem;
    *out = (ContactsSolved){.converged = true};
    exact->world = world;
    double start = clock_now();
    TdlStatus status = build(exact, world, step, round->same);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    int rows = p->bed.body == NULL ? 0 : p->bed.strain->rows.count;
    out->count = p->count + rows;
    out->skipped = c->found.count - p->count + p->bed.count;
    c->forces.count = c->forces.kept;
    if (out->count == 0) {
        return answer_clear_forces(c);
    }
    double built = clock_now();
    out->build_seconds = built - start;
    status = answer(exact, p, round, out);
    out->solve_seconds = clock_now() - built;
    return status;
}

static TdlStatus push(void* self) {
    Problem* p = &((Exact*)self)->problem;
    return p->count == 0 ? TDL_STATUS_OK : problem_push(p);
}

const Response EXACT_RESPONSE = {
    .create = create, .destroy = destroy, .solve = solve, .push = push};
