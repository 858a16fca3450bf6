// The contacts that matter: a problem is solved for those that carry or nearly do, and the others
// are looked at again at the end. friction.md section 4.9
//
// In simulations half of the contacts or more carry nothing. They cost as much as the others: W has
// a quarter of its blocks when they are left out. What was left out wrongly shows as u_N < 0 and is
// taken in, and all is solved again from where it was; contacts are never put out again, so that
// this ends.
#include "friction/gauss_seidel.h"
#include "friction/space.h"

#include <limits.h>
#include <string.h>

// In large islands what is left out is looked at again each time that the error has fallen to this
// part: the last digits are for those that stay. From a good guess after so many sweeps, before the
// first step: hardly anybody comes in later, and W and an order are found once.
static const double LOOK_PART = 0.03;
enum { LOOK_SWEEPS = 15 };
// Sweeps over all before the choice, and accelerated ones over those chosen before Newton steps.
enum { FIRST_SWEEPS = 3, SWEEPS = 30, STEPS = 500, MAX_ROUNDS = 12 };
// Where the first sweeps, from zero, leave more than this part of the error, more of them bring
// little and carry impulses into the kernel of W, which cost Newton steps to undo: these come at
// once, over all contacts, as sweeps do not tell which carry. Stacks and piles keep 0.19 to 0.7,
// heaps of rods, wisps and capsules 0.02 to 0.12. Sweeps of a handful are as good as any.
static const double STIFF_PART = 0.15;
enum { STIFF_CONTACTS = 16 };
// Sweeps that interior points may cost before Newton steps among few contacts, where these are
// cheap; they are few where the error is below so many times what is asked for.
enum { FEW_SWEEPS = 200 };
static const double FAR = 1.0e4;
// Of so many contacts sweeps from a guess that leave more than so many times what is asked for tell
// that Newton steps would be a hundred: interior points from there are a dozen.
enum { HARD_CONTACTS = 100 };
static const double HARD = 50.0;
// They are not over coordinates, where weak unknowns do not leave, nor where all unknowns are so
// many times those of a Newton step: the cube of it, 6, is what a factorisation then costs more. On
// its cone an impulse is to rounding. A factorisation of all takes at most so many multiplications,
// as those of 100 rods in crossed layers, 8e7 to 1e8: with more, 76 spaghetti took three times as
// long.
static const double NEAR_FLOPS = 1.5e8;
static const double MORE_UNKNOWNS = 1.8, ON_CONE = 1.0 - 1.0e-9;
// From a guess sweeps of few contacts go on where those to come, at the pace of the last, are fewer
// than so many and cost less than so many steps, multiplication by multiplication: factors of some
// hundred contacts take as long for one as sweeps do. With 600 rods in crossed layers wait too long
// for interior points, with 200 rods of 20 elements leave too soon; 5 to 20 steps are much alike.
static const double MOST_SWEEPS = 300.0, STEPS_TO_COME = 10.0;
// A contact at rest that nothing holds is near when it closes within this part of the velocity that
// impulses give.
static const double NEAR = 0.1;
// What the error of those taken may be of that of all: those left out add rounding only.
static const double OWN_PART = 0.9;
// With more contacts than this part of all, all are taken.
static const double MOST = 0.9;
// Where a factorisation is as much work as so many sweeps, these are all there is.
static const double STEP_SWEEPS = 1500.0;
// Sweeps of many contacts before single steps are worth their factors; or fewer, when so many of
// them leave more than this part of the error, unless steps would cost more than the sweeps that
// the caller allows: then these come first.
enum { MANY_SWEEPS = 600, SLICE = 60 };
static const double STALL = 0.7;

typedef struct ActiveSet {
    bool* taken;  // [n]
    int* at;      // [n] number among those taken
    int* contact; // [count] of the problem
    int count;
} ActiveSet;

static double near_velocity(const System* sys, const double* r) {
    double sum = 0.0;
    int carrying = 0;
    for (int i = 0; i < sys->n; ++i) {
        double push = r[3 * i] * sys->diag[9 * (size_t)i];
        sum += push > 0.0 ? sqrt(push) : 0.0; // so that a few that push hard do not decide
        carrying += push > 0.0;
    }
    double mean = carrying > 0 ? sum / carrying : 0.0;
    return NEAR * mean * mean;
}

// Returns how many come in.
static int choose(const System* sys, const double* u, const double* r, double near, ActiveSet* a) {
    int before = a->count;
    a->count = 0;
    for (int i = 0; i < sys->n; ++i) {
        const double* x = r + 3 * i;
        bool carries = x[0] != 0.0 || x[1] != 0.0 || x[2] != 0.0;
        bool always = sys->law[i] == LAW_ROUGH || sys->law[i] == LAW_BILATERAL;
        a->taken[i] = a->taken[i] || carries || always || u[3 * i] < near;
        a->at[i] = a->count;
        if (a->taken[i]) {
            a->contact[a->count++] = sys->contact[i];
        }
    }
    return a->count - before;
}

static TdlStatus copy_rows(const System* sys, const ActiveSet* a, Arena* arena, System* part) {
    int count = 0;
    for (int i = 0; i < sys->n; ++i) {
        for (int e = sys->start[i]; a->taken[i] && e < sys->start[i + 1]; ++e) {
            count += a->taken[sys->column[e]];
        }
    }
    part->start = ARENA_NEW(arena, int, (size_t)a->count + 1);
    part->column = ARENA_NEW(arena, int, count);
    part->blocks = ARENA_NEW(arena, double, 9 * (size_t)count + 4);
    if (!part->start || !part->column || !part->blocks) {
        return TDL_STATUS_NO_MEMORY;
    }
    part->block_count = count;
    int k = 0;
    for (int i = 0; i < sys->n; ++i) {
        if (!a->taken[i]) {
            continue;
        }
        part->start[a->at[i]] = k;
        for (int e = sys->start[i]; e < sys->start[i + 1]; ++e) {
            if (a->taken[sys->column[e]]) {
                part->column[k] = a->at[sys->column[e]];
                memcpy(part->blocks + 9 * (size_t)k++, sys->blocks + 9 * (size_t)e,
                       9 * sizeof(double));
            }
        }
    }
    part->start[a->count] = k;
    memset(part->blocks + 9 * (size_t)k, 0, 4 * sizeof(double));
    return TDL_STATUS_OK;
}

// Those taken on each body.
static int* count_touching(const TdlFrictionProblem* p, const ActiveSet* a, Arena* arena) {
    int* touching = ARENA_NEW(arena, int, (size_t)p->body_count + 1);
    for (int k = 0; k < p->body_count && touching != NULL; ++k) {
        touching[k] = 0;
    }
    for (int k = 0; k < 2 * a->count && touching != NULL; ++k) {
        int body = p->body[2 * a->contact[k / 2] + k % 2];
        if (body >= 0) {
            ++touching[body];
        }
    }
    return touching;
}

// What is left of each task; those taken keep their order.
static bool keep_phases(const System* sys, const ActiveSet* a, Arena* arena, Phases* out) {
    int tasks = out->count > 0 ? out->first_task[out->count] : 0;
    out->start = ARENA_NEW(arena, int, (size_t)tasks + 1);
    for (int k = 0, i = 0, kept = 0; k < tasks + 1 && out->start != NULL; ++k) {
        int from = tasks > 0 ? sys->phases.start[k] : 0;
        for (; i < from; ++i) {
            kept += a->taken[i];
        }
        out->start[k] = kept;
    }
    return out->start != NULL;
}

// The problem of those taken. In velocity space W is formed for them alone, if at all.
static TdlStatus build_part(const System* sys, const ActiveSet* a, Arena* arena, System* part) {
    size_t n = (size_t)a->count;
    *part = *sys;
    part->n = a->count;
    part->contact = a->contact;
    if (a->count < LARGE_ISLAND) {
        // some hundred contacts take less time than threads to meet
        part->phases.count = 0;
        part->pool = NULL;
    } else if (!keep_phases(sys, a, arena, &part->phases)) {
        return TDL_STATUS_NO_MEMORY;
    }
    part->law = ARENA_NEW(arena, ContactLaw, n);
    part->mu = ARENA_NEW(arena, double, n);
    part->b = ARENA_NEW(arena, double, 3 * n);
    part->diag = ARENA_NEW(arena, double, 9 * n);
    if (!part->law || !part->mu || !part->b || !part->diag) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < sys->n; ++i) {
        if (a->taken[i]) {
            size_t k = (size_t)a->at[i];
            part->law[k] = sys->law[i];
            part->mu[k] = sys->mu[i];
            memcpy(part->b + 3 * k, sys->b + 3 * i, 3 * sizeof(double));
            memcpy(part->diag + 9 * k, sys->diag + 9 * (size_t)i, 9 * sizeof(double));
        }
    }
    if (sys->start != NULL) {
        part->sweep_bodies = false;
        part->side = NULL;
        return copy_rows(sys, a, arena, part);
    }
    int* touching = count_touching(sys->problem, a, arena);
    if (touching == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status = system_list_bodies(part, arena);
    FormWeights form = problem_weigh_forms(sys->problem, a->contact, a->count, touching);
    part->sweep_bodies = sys->sweep_bodies && form.bodies_pay;
    part->block_count = (int)fmin(form.blocks, INT_MAX);
    return part->sweep_bodies || status != TDL_STATUS_OK ? status : system_form_rows(part, arena);
}

// Whether sweeps from zero got nowhere near.
static bool is_far(const Run* run, const Run* inner) {
    return !run->warm && inner->error > FAR * run->sys->target;
}

// Whether the first sweeps, which left this part of the error, are not worth more of them. From a
// guess, even a poor one, they are: most of its modes are right.
static bool is_stiff(const Run* run, double left) {
    int n = run->sys->n;
    return !run->given && n > STIFF_CONTACTS && n <= LARGE_ISLAND && left > STIFF_PART &&
           is_far(run, run);
}

// There interior points, if they are as cheap as so many sweeps.
static TdlStatus go_inside(const Run* run, Run* inner, double sweeps) {
    double target = inner->sys->target;
    if (!is_far(run, inner)) {
        return TDL_STATUS_OK;
    }
    inner->limit = run->limit;
    inner->sys->target = fmin(target, OWN_PART * run->sys->target); // its last steps are its best
    TdlStatus status = run_inside(inner, sweeps);
    inner->sys->target = target;
    return status;
}

// Unknowns of a Newton step with the modes that contacts have now.
static int count_unknowns(const System* sys, const double* r) {
    int count = 0;
    for (int i = 0; i < sys->n; ++i) {
        double normal = r[3 * i], tangential = tangent_norm(3, r + 3 * i);
        bool slides = sys->law[i] == LAW_CONE && tangential > ON_CONE * sys->mu[i] * normal;
        count += normal == 0.0 && tangential == 0.0 ? 0 : slides ? 2 : 3;
    }
    return count;
}

// Whether interior points are due from a guess where sweeps got stuck.
static bool is_hard(const Run* run, const Run* inner) {
    const System* sys = inner->sys;
    int all = 3 * sys->n;
    return sys->n > HARD_CONTACTS && inner->error > HARD * run->sys->target &&
           !space_coordinates_pay(inner, all) &&
           all <= MORE_UNKNOWNS * count_unknowns(sys, inner->best);
}

// They are, where a factorisation takes no more than that.
static TdlStatus go_near(const Run* run, Run* inner, double worth) {
    inner->limit = run->limit;
    inner->worth = fmin(NEAR_FLOPS, worth);
    TdlStatus status = run_near(inner);
    inner->worth = INFINITY;
    return status;
}

static TdlStatus take_steps(const Run* run, Run* inner) {
    inner->limit = run->limit < STEPS ? run->limit : STEPS;
    return run_done(inner) ? TDL_STATUS_OK : run_proximal(inner);
}

// Interior points or Newton steps in place of more sweeps, where a factorisation takes no more than
// that; what was refused of either is not asked again, an order being as dear as some sweeps.
static TdlStatus leave_sweeps(const Run* run, Run* inner, double worth, double refused[2],
                              bool* left) {
    int begun = inner->iterations;
    bool hard = is_hard(run, inner);
    *left = false;
    if (worth < refused[hard]) {
        return TDL_STATUS_OK;
    }
    inner->refused = 0.0;
    TdlStatus status = hard ? go_near(run, inner, worth) : TDL_STATUS_OK;
    *left = inner->iterations > begun;
    if (status != TDL_STATUS_OK || (hard && !*left && isfinite(worth))) {
        refused[true] = inner->refused;
        return status; // a hundred Newton steps would be no cheaper
    }
    status = go_inside(run, inner, FEW_SWEEPS);
    *left = inner->iterations > begun;
    if (status != TDL_STATUS_OK) {
        return status;
    }
    inner->worth = *left ? INFINITY : worth;
    status = take_steps(run, inner);
    inner->worth = INFINITY;
    *left = inner->iterations > begun;
    refused[false] = inner->refused;
    return status;
}

// Few contacts, from a guess: sweeps, and steps as soon as these cost less than the sweeps to come.
static TdlStatus sweep_few(const Run* run, Run* inner) {
    double refused[2] = {0};
    int sweeps = SWEEPS, most = inner->iterations + run->limit;
    bool stepped = false;
    TdlStatus status = TDL_STATUS_OK;
    while (status == TDL_STATUS_OK && !stepped && !run_done(inner) && inner->iterations < most &&
           !run_spent(inner, run_sweep_work(inner))) {
        double before = inner->error;
        int begun = inner->iterations;
        inner->limit = most - begun < sweeps ? most - begun : sweeps;
        status = run_anderson(inner);
        if (status != TDL_STATUS_OK || run_done(inner)) {
            break;
        }
        double left = run_sweeps_left(inner, before, inner->iterations - begun);
        double worth = left * run_sweep_work(inner) / STEPS_TO_COME;
        bool last = left > MOST_SWEEPS;
        status = leave_sweeps(run, inner, last ? INFINITY : worth, refused, &stepped);
        stepped = stepped || last;
        sweeps = (int)fmin(fmax(left, SWEEPS), 2.0 * sweeps);
    }
    return status;
}

// Few contacts that sweeps do not help.
static TdlStatus step_at_once(const Run* run, Run* inner) {
    inner->limit = run->limit;
    TdlStatus status = is_far(run, inner) ? run_easy(inner) : TDL_STATUS_OK;
    if (status == TDL_STATUS_OK) {
        status = go_inside(run, inner, STEP_SWEEPS);
    }
    return status == TDL_STATUS_OK ? take_steps(run, inner) : status;
}

// Sweeps, and steps where they pay, over the contacts of `inner`, some of those of `run`.
static TdlStatus sweep_and_step(const Run* run, Run* inner) {
    bool few = inner->sys->n <= LARGE_ISLAND;
    if (few && run->stiff) {
        return step_at_once(run, inner);
    }
    if (few && run->given) {
        return sweep_few(run, inner);
    }
    bool steps = few || (inner->sys->block_count <= MAX_FORMED &&
                         run_factor_work(inner) < STEP_SWEEPS * run_sweep_work(inner));
    if (steps && !few && !run_done(inner)) {
        TdlStatus status = go_inside(run, inner, STEP_SWEEPS);
        status = status == TDL_STATUS_OK && !run_done(inner) ? run_strides(inner) : status;
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    int most = few ? run->limit : run->options->max_iterations;
    int left = few ? SWEEPS : MANY_SWEEPS, slice = SLICE;
    left = most < left ? most : left;
    bool dear = few, turned = false;
    while (left > 0 && !run_done(inner) && !run_spent(inner, run_sweep_work(inner))) {
        double before = inner->error;
        int begun = inner->iterations;
        inner->limit = steps && left > slice ? slice : left;
        TdlStatus status = run_anderson(inner);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        left -= inner->iterations - begun;
        most -= inner->iterations - begun;
        slice = inner->error < before ? SLICE : 2 * slice; // from the same point it takes more
        if (steps && !dear && inner->error > STALL * before) {
            begun = inner->iterations;
            inner->worth = run_worth(inner, most);
            status = take_steps(run, inner);
            if (status != TDL_STATUS_OK) {
                return status;
            }
            turned = inner->iterations > begun;
            dear = !turned;
            left = turned ? 0 : most;
        }
    }
    inner->worth = INFINITY;
    if (steps && few) {
        TdlStatus status = go_inside(run, inner, FEW_SWEEPS);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return steps && !turned ? take_steps(run, inner) : TDL_STATUS_OK;
}

// Until the error of those taken is `goal` of that of all, or what is asked for.
static TdlStatus solve_part(Run* run, const ActiveSet* a, double goal, double* r) {
    System part;
    TdlStatus status = build_part(run->sys, a, run->arena, &part);
    size_t size = 3 * (size_t)a->count;
    Run inner = *run;
    inner.sys = &part;
    inner.best = ARENA_NEW(run->arena, double, size);
    double* u = ARENA_NEW(run->arena, double, size);
    if (status != TDL_STATUS_OK || inner.best == NULL || u == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < run->sys->n; ++i) {
        if (a->taken[i]) {
            memcpy(inner.best + 3 * a->at[i], r + 3 * i, 3 * sizeof(double));
        }
    }
    inner.end = OWN_PART * part.target;
    part.target = fmax(inner.end, goal * run->error);
    system_velocity(&part, inner.best, u);
    inner.error = system_error(&part, u, inner.best);
    inner.start = NULL;
    if (goal > 0.0 && run->warm) {
        inner.limit = LOOK_SWEEPS;
        status = run_anderson(&inner);
    } else {
        status = sweep_and_step(run, &inner);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    for (int i = 0; i < run->sys->n; ++i) {
        if (a->taken[i]) {
            memcpy(r + 3 * i, inner.best + 3 * a->at[i], 3 * sizeof(double));
        }
    }
    run->iterations = inner.iterations;
    run->failsafe = inner.failsafe;
    run->unsolvable = inner.unsolvable;
    return TDL_STATUS_OK;
}

// Blocks of six have no modes of their own here.
static TdlStatus run_without_active_set(Run* run) {
    // bodies with their A are done over nodes
    bool form = run->sys->problem->nodal == NULL;
    TdlStatus status = form ? system_form_rows(run->sys, run->arena) : TDL_STATUS_OK;
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return run_proximal(run);
}

TdlStatus run_active(Run* run) {
    System* sys = run->sys;
    Arena* arena = run->arena;
    if (sys->d != 3) {
        return run_without_active_set(run);
    }
    double first = (1 + FIRST_SWEEPS) * run_sweep_work(run);
    if (run_spent(run, first)) {
        return TDL_STATUS_OK;
    }
    run_spend(run, first);
    ArenaMark mark = arena_mark(arena);
    size_t n = (size_t)sys->n;
    ActiveSet a = {ARENA_NEW(arena, bool, n), ARENA_NEW(arena, int, n), ARENA_NEW(arena, int, n),
                   0};
    double *r = ARENA_NEW(arena, double, 3 * n), *u = ARENA_NEW(arena, double, 3 * n);
    Sweeper sweeper;
    TdlStatus status = sweeper_init(&sweeper, run);
    if (!a.taken || !a.at || !a.contact || !r || !u || status != TDL_STATUS_OK) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(a.taken, 0, n * sizeof(bool));
    memcpy(r, run->best, 3 * n * sizeof(double));
    if (sys->sweep_bodies) {
        system_refresh_bodies(sys, r);
    }
    for (int k = 0; k < FIRST_SWEEPS; ++k) {
        sweeper_sweep(&sweeper, r);
        run_count(run, TDL_FRICTION_GAUSS_SEIDEL, r);
    }
    double near = 0.0, goal = 0.0, before = run->error;
    for (int round = 0; round < MAX_ROUNDS; ++round) {
        system_velocity(sys, r, u);
        double now = run_offer(run, u, r);
        run->stiff = round == 0 ? is_stiff(run, now / before) : run->stiff;
        near = round == 0 ? near_velocity(sys, r) : 0.0;
        int come = choose(sys, u, r, near, &a);
        bool last = come == 0 && goal == 0.0;
        if (run_done(run) || last || run_spent(run, run_sweep_work(run))) {
            break;
        }
        // where nobody comes in any more the last digits are due
        goal = come > 0 && sys->n > LARGE_ISLAND ? LOOK_PART : 0.0;
        if (a.count > MOST * sys->n || run->stiff) {
            for (int i = 0; i < sys->n; ++i) {
                u[3 * i] = -1.0;
            }
            choose(sys, u, r, 0.0, &a);
        }
        ArenaMark inside = arena_mark(arena);
        status = solve_part(run, &a, goal, r);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        arena_release(arena, inside);
    }
    arena_release(arena, mark);
    return TDL_STATUS_OK;
}

TdlStatus run_alternating(Run* run) {
    TdlStatus status = run_active(run);
    if (status != TDL_STATUS_OK || run_done(run)) {
        return status;
    }
    return run_anderson(run);
}
