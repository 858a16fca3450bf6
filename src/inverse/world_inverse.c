// The natural curvatures with which the rods of a world rest in their present shapes, with or
// without what they lean on: q_rest = q + K^-1 (G - H'r). inverse-contacts.md (V.62)
//
// Everything is found before anything is changed, so that a failure leaves the world as it was.
// Where the rest is not stable the guess moves towards the tip's curvature, which asks the contacts
// for more, and then, if that is wanted, rods grow stiffer.
#include "inverse/world_inverse.h"

#include "base/clock.h"
#include "base/log.h"
#include "rod/statics.h"

#include <string.h>

// A guess below this is none: the next is 0.
static const double LEAST_GUESS = 0.1;
// Rods are stiffened by so much more than they need, and in how many rounds at most: forces of
// contacts change with the stiffness.
static const double BEYOND_LEAST = 1.02, BEYOND_CONTACTS = 1.05;
enum { STIFFENING_ROUNDS = 40 };
// Overlap, over the thinnest radius, that bodies at rest may have: steps leave a tenth of it alone.
static const double REST_OVERLAP = 0.02;

TdlInverseOptions tdl_inverse_options_default(void) {
    return (TdlInverseOptions){.mu_share = 0.8, .gamma = 1.0e-5, .reach = 1.0e-7};
}

static TdlStatus check_options(const TdlHost* host, const TdlInverseOptions* o) {
    if (!(o->mu_share > 0.0 && o->mu_share <= 1.0)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "inverse: mu_share must be above 0 and at most 1, not %g", o->mu_share);
    }
    if (!(o->gamma >= 0.0 && isfinite(o->gamma))) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "inverse: gamma must be finite and at least 0, not %g", o->gamma);
    }
    if (!(o->guess >= 0.0 && o->guess <= 1.0)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "inverse: guess must be from 0 to 1, not %g",
                        o->guess);
    }
    if (!(o->reach >= 0.0 && isfinite(o->reach))) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "inverse: reach must be finite and at least 0, not %g", o->reach);
    }
    return TDL_STATUS_OK;
}

// --- rods -----------------------------------------------------------------------------------

// What of a rod there is no inverse for; null: nothing.
static const char* find_fault(const Rod* rod) {
    if (!inverse_is_super(rod) && strcmp(rod->model->name, "der") != 0) {
        return "is neither a super-helix nor a super-clothoid nor a discrete elastic rod";
    }
    if (rod->start_hold != TDL_HOLD_CLAMPED || rod->end_hold != TDL_HOLD_FREE) {
        return "is not clamped at its start and free at its end";
    }
    if (rod->parent != NULL || rod->child != NULL) {
        return "grows out of another, or has branches";
    }
    if (rod->varies) {
        return "has a section that varies along it";
    }
    for (int k = 0; k < rod->load_count; ++k) {
        if (tdl_dot3(rod->loads[k].torque, rod->loads[k].torque) > 0.0) {
            return "is under a torque, which has no potential";
        }
    }
    return NULL;
}

// Which bodies of the world are rods that are to rest: wanted[body_count].
static TdlStatus mark_wanted(const Inverse* v, bool* wanted) {
    const TdlInverseOptions* o = &v->options;
    const TdlWorld* world = v->world;
    for (int i = 0; i < world->body_count; ++i) {
        wanted[i] = o->rods == NULL && world->body[i]->kind == &ROD_BODY;
    }
    for (int k = 0; k < o->rod_count && o->rods != NULL; ++k) {
        const Body* body = world_find_body(world, o->rods[k], &ROD_BODY);
        if (body == NULL) {
            return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT,
                            "inverse: number %d of the rods is none of this world", k);
        }
        wanted[body->index] = true;
    }
    return TDL_STATUS_OK;
}

static TdlStatus check_rod(const Inverse* v, const Rod* rod) {
    const char* fault = find_fault(rod);
    if (fault == NULL) {
        return TDL_STATUS_OK;
    }
    char name[TDL_BODY_NAME_SIZE];
    world_name_body(&rod_owner(rod)->head, name);
    return tdl_fail(&v->world->host, TDL_STATUS_BAD_ARGUMENT, "inverse: %s %s", name, fault);
}

// Its shape and loads as a strand.
static bool open_rod(Inverse* v, InverseRod* own) {
    const Rod* rod = own->rod;
    int blocks = rod_curvature_count(rod);
    TdlVec3* kappa = ARENA_NEW(&v->arena, TdlVec3, blocks);
    TdlRodLoad* loads = ARENA_NEW(&v->arena, TdlRodLoad, rod->load_count + 1);
    own->pivot = rod->model->at_joints ? ARENA_NEW(&v->arena, double, blocks) : NULL;
    if (kappa == NULL || loads == NULL || (rod->model->at_joints && own->pivot == NULL)) {
        return false;
    }
    double l = rod->at_rest.element_length;
    for (int k = 0; k < rod->load_count; ++k) {
        const RodLoad* x = &rod->loads[k];
        loads[k] = (TdlRodLoad){.at = fmin((x->element + x->s) * l, l * rod->element_count),
                                .force = x->force};
    }
    rod->model->curvature(rod, kappa);
    bool dense = rod->model == &SUPER_HELIX_DENSE;
    own->strand = (TdlStrand){.model = dense ? SUPER_HELIX.name : rod->model->name,
                              .start = rod_start(rod),
                              .length = rod_length(rod),
                              .element_count = rod->element_count,
                              .curvature = kappa,
                              .stiffness = rod->at_rest.stiffness,
                              .line_density = rod->at_rest.line_density,
                              .loads = loads,
                              .load_count = rod->load_count};
    own->stiffening = 1.0;
    own->n = 3 * blocks;
    inverse_elastic_prepare(own);
    return true;
}

static TdlStatus open_rods(Inverse* v) {
    const TdlWorld* world = v->world;
    v->rod = ARENA_NEW(&v->arena, InverseRod, world->body_count + 1);
    v->dof_start = ARENA_NEW(&v->arena, int, world->body_count + 2);
    bool* wanted = ARENA_NEW(&v->arena, bool, world->body_count + 1);
    if (v->rod == NULL || v->dof_start == NULL || wanted == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status = mark_wanted(v, wanted);
    for (int i = 0; i < world->body_count && status == TDL_STATUS_OK; ++i) {
        if (!wanted[i]) {
            continue;
        }
        InverseRod* own = &v->rod[v->rod_count];
        *own = (InverseRod){.body = (RodBody*)world->body[i], .rod = rod_of(world->body[i])};
        status = check_rod(v, own->rod);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        if (!open_rod(v, own)) {
            return TDL_STATUS_NO_MEMORY;
        }
        own->first = v->dof_start[v->rod_count++] = v->dof_count;
        v->dof_count += own->n;
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    v->dof_start[v->rod_count] = v->dof_count;
    v->gradient = ARENA_NEW(&v->arena, double, v->dof_count + 1);
    v->natural = ARENA_NEW(&v->arena, double, v->dof_count + 1);
    return v->gradient == NULL || v->natural == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}

// G of every rod: it does not depend on stiffness or contacts.
static TdlStatus find_gradients(Inverse* v) {
    for (int k = 0; k < v->rod_count; ++k) {
        if (world_asked_to_stop(v->world)) {
            return TDL_STATUS_STOPPED;
        }
        ArenaMark mark = arena_mark(&v->arena);
        Strand strand;
        TdlStatus status = strand_open(&v->world->host, &v->arena, &v->rod[k].strand,
                                       v->world->def.gravity, &strand);
        if (status == TDL_STATUS_OK && !strand_gradient(&strand, v->gradient + v->rod[k].first)) {
            status = TDL_STATUS_NO_MEMORY;
        }
        arena_release(&v->arena, mark);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return TDL_STATUS_OK;
}

// --- what is sought --------------------------------------------------------------------------

// Natural curvatures from the forces. (V.62)
static TdlStatus find_natural(Inverse* v) {
    ArenaMark mark = arena_mark(&v->arena);
    double* pull = ARENA_NEW(&v->arena, double, v->dof_count + 1);
    if (pull == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(pull, 0, (size_t)v->dof_count * sizeof *pull);
    inverse_add_pull(v, 1.0, pull);
    TdlStatus status = TDL_STATUS_OK;
    for (int k = 0; k < v->rod_count && status == TDL_STATUS_OK; ++k) {
        ArenaMark own = arena_mark(&v->arena);
        Strand strand;
        status = world_asked_to_stop(v->world)
                     ? TDL_STATUS_STOPPED
                     : strand_open(&v->world->host, &v->arena, &v->rod[k].strand,
                                   v->world->def.gravity, &strand);
        if (status == TDL_STATUS_OK) {
            status = strand_rest(&v->world->host, &strand, pull + v->rod[k].first,
                                 (TdlVec3*)(v->natural + v->rod[k].first));
        }
        arena_release(&v->arena, own);
    }
    arena_release(&v->arena, mark);
    return status;
}

// What overlaps: steps part it, and with it the rest that is found. The deepest comes first.
static TdlStatus find_overlaps(Inverse* v) {
    int count = 0;
    TdlStatus status = tdl_world_overlaps(v->world, 0, NULL, &count);
    if (status != TDL_STATUS_OK || count == 0) {
        return status;
    }
    ArenaMark mark = arena_mark(&v->arena);
    TdlOverlap* all = ARENA_NEW(&v->arena, TdlOverlap, count);
    status = all == NULL ? TDL_STATUS_NO_MEMORY : tdl_world_overlaps(v->world, count, all, &count);
    double allowed = REST_OVERLAP * v->world->contacts->seen.thinnest;
    for (int i = 0; i < count && status == TDL_STATUS_OK; ++i) {
        bool told = all[i].through || all[i].depth > allowed;
        v->overlap_count += told;
        v->deepest = fmax(v->deepest, told ? all[i].depth : 0.0);
    }
    if (status == TDL_STATUS_OK && v->overlap_count > 0) {
        char text[TDL_OVERLAP_TEXT_SIZE];
        tdl_overlap_text(v->world, &all[0], text);
        tdl_log(&v->world->host, TDL_LOG_WARNING,
                "inverse: %d pairs of bodies overlap in the given shapes, which steps will part: "
                "%s",
                v->overlap_count, text);
    }
    arena_release(&v->arena, mark);
    return status;
}

// A body that carries and is free to move: nothing holds it where it counts as still.
static void tell_of_free(const Inverse* v) {
    const InverseContacts* c = &v->contacts;
    for (int side = 0; side < 2 * c->count && v->free_count > 0; ++side) {
        if (inverse_is_free(v, side) && c->r[side / 2 * 3] > 0.0) {
            char name[TDL_BODY_NAME_SIZE];
            const TdlContact* x = &v->world->contacts->found.at[c->of[side / 2]].site.contact;
            world_name_body(seen_body(&v->world->contacts->seen, x, side % 2), name);
            tdl_log(&v->world->host, TDL_LOG_WARNING,
                    "inverse: rods lean on %s, which is free to move and counts as if it stood "
                    "still; with %d such contacts nothing is promised",
                    name, v->free_count);
            return;
        }
    }
}

// Forces and stability with the guess and the stiffness that are tried.
static TdlStatus try_once(Inverse* v) {
    TdlStatus status = inverse_find_forces(v);
    return status == TDL_STATUS_OK ? inverse_judge(v) : status;
}

// The guess moves towards the tip.
static TdlStatus move_guess(Inverse* v) {
    TdlStatus status = try_once(v);
    bool may = v->contacts.count > 0 && !v->options.keep_guess;
    while (status == TDL_STATUS_OK && !v->stable && may && v->guess > 0.0) {
        v->guess = v->guess > 2.0 * LEAST_GUESS ? 0.5 * v->guess : 0.0;
        status = try_once(v);
    }
    return status;
}

static void stiffen_by(InverseRod* rod, double factor) {
    rod->stiffening *= factor;
    rod->strand.stiffness = tdl_scale3(rod->stiffening, rod->rod->at_rest.stiffness);
}

// Each rod by what it lacks itself, and all by what they lack together.
static TdlStatus stiffen(Inverse* v) {
    TdlStatus status = TDL_STATUS_OK;
    double beyond = v->contacts.count > 0 ? BEYOND_CONTACTS : BEYOND_LEAST;
    for (int round = 0; round < STIFFENING_ROUNDS && !v->stable &&
                        v->sliding_count + v->free_count == 0 && status == TDL_STATUS_OK;
         ++round) {
        bool grew = false;
        for (int k = 0; k < v->rod_count; ++k) {
            if (!(v->rod[k].least_eigenvalue > 0.0)) {
                stiffen_by(&v->rod[k], beyond * fmax(v->rod[k].least_factor, 1.0));
                grew = true;
            }
        }
        for (int k = 0; k < v->rod_count && !grew; ++k) {
            stiffen_by(&v->rod[k], beyond * fmax(1.0, 1.0 - v->least_eigenvalue));
        }
        status = try_once(v);
    }
    return status;
}

// --- what becomes of it -----------------------------------------------------------------------

// The forces are the first guess of the next step.
static void hand_over_forces(const Inverse* v) {
    const InverseContacts* c = &v->contacts;
    if (!v->options.contacts || v->world->contacts == NULL) {
        return;
    }
    Candidates* found = &v->world->contacts->found;
    for (int i = 0; i < found->count; ++i) {
        found->at[i].force = (TdlVec3){0};
    }
    for (int i = 0; i < c->count; ++i) {
        Candidate* x = &found->at[c->of[i]];
        x->force = tdl_mul33_3(x->site.contact.basis, tdl_load3(c->r, i));
    }
}

static void apply(const Inverse* v) {
    for (int k = 0; k < v->rod_count; ++k) {
        const InverseRod* own = &v->rod[k];
        if (own->stiffening != 1.0) {
            rod_set_stiffening(own->rod, own->rod->stiffening * own->stiffening);
        }
        rod_set_natural(own->rod, (const TdlVec3*)(v->natural + own->first));
        rod_stop(own->rod);
        world_count_energy(v->world, &own->body->head);
    }
    hand_over_forces(v);
}

// What is left of the generalised forces of a rod as it is now, over weight times length: of
// super-models K (q - q_rest) + G - H'r with the q_rest that the rod has.
static double residual_of(const Inverse* v, int k, const double* pull, double* left) {
    const InverseRod* own = &v->rod[k];
    double worst = 0.0;
    memcpy(left, v->gradient + own->first, (size_t)own->n * sizeof *left);
    for (int j = 0; j < own->n; ++j) {
        left[own->n + j] = own->rod->q[j] - own->rod->q_rest[j];
    }
    inverse_elastic_add(own, 1.0, left + own->n, left);
    for (int j = 0; j < own->n; ++j) {
        worst = fmax(worst, fabs(left[j] - pull[own->first + j]));
    }
    return worst / statics_force_scale(own->rod, v->world->def.gravity);
}

static TdlStatus fill_strands(Inverse* v, TdlInverseStrand* out) {
    ArenaMark mark = arena_mark(&v->arena);
    double* pull = ARENA_NEW(&v->arena, double, v->dof_count + 1);
    double* left = ARENA_NEW(&v->arena, double, 2 * (size_t)v->dof_count + 1);
    if (pull == NULL || left == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(pull, 0, (size_t)v->dof_count * sizeof *pull);
    inverse_add_pull(v, 1.0, pull);
    for (int k = 0; k < v->rod_count; ++k) {
        const InverseRod* own = &v->rod[k];
        bool known = inverse_is_super(own->rod);
        out[k] = (TdlInverseStrand){.rod = own->body->head.id,
                                    .least_factor = own->least_factor,
                                    .bound_factor = own->bound_factor,
                                    .stable = own->least_eigenvalue > 0.0,
                                    .residual = known ? residual_of(v, k, pull, left) : NAN,
                                    .stiffening = own->stiffening};
    }
    arena_release(&v->arena, mark);
    return TDL_STATUS_OK;
}

static void fill_report(const Inverse* v, TdlInverseReport* out) {
    const InverseContacts* c = &v->contacts;
    out->strand_count = v->rod_count;
    out->contact_count = c->count;
    out->loaded_count = v->loaded_count;
    out->sliding_count = v->sliding_count;
    out->free_count = v->free_count;
    out->overlap_count = v->overlap_count;
    out->deepest = v->deepest;
    out->contact_residual = c->residual;
    for (int i = 0; i < c->count; ++i) {
        out->largest_force = fmax(out->largest_force, tdl_norm3(tdl_load3(c->r, i)));
    }
    out->guess = v->guess;
    out->stable = v->stable;
    out->least_eigenvalue = v->rod_count > 0 ? v->least_eigenvalue : 1.0;
}

static TdlStatus find_all(Inverse* v) {
    TdlStatus status = open_rods(v);
    if (status == TDL_STATUS_OK) {
        status = find_gradients(v);
    }
    if (status == TDL_STATUS_OK) {
        status = find_overlaps(v);
    }
    if (status == TDL_STATUS_OK) {
        status = inverse_find_contacts(v);
    }
    if (status == TDL_STATUS_OK) {
        status = move_guess(v);
    }
    if (status == TDL_STATUS_OK && v->options.stiffen) {
        status = stiffen(v);
    }
    return status == TDL_STATUS_OK ? find_natural(v) : status;
}

TdlStatus tdl_world_inverse(TdlWorld* world, const TdlInverseOptions* options,
                            TdlInverseReport* out) {
    double begin = clock_now();
    TdlInverseReport report = {0};
    Inverse v = {.world = world, .options = *options, .guess = options->guess};
    TdlStatus status = check_options(&world->host, options);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    arena_init(&v.arena, &world->host.mem);
    status = find_all(&v);
    if (status == TDL_STATUS_OK && out != NULL) {
        report.strands =
            tdl_alloc_array(&world->host.mem, (size_t)v.rod_count + 1, sizeof *report.strands);
        // what the report needs later is there before anything is changed: the arena keeps it
        ArenaMark mark = arena_mark(&v.arena);
        double* scratch = ARENA_NEW(&v.arena, double, 3 * (size_t)v.dof_count + 4);
        arena_release(&v.arena, mark);
        status = report.strands == NULL || scratch == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
    }
    if (status == TDL_STATUS_OK) {
        tell_of_free(&v);
        apply(&v);
    }
    if (status == TDL_STATUS_OK && out != NULL) {
        status = fill_strands(&v, report.strands);
        fill_report(&v, &report);
        report.seconds = clock_now() - begin;
    }
    if (status == TDL_STATUS_OK && out != NULL) {
        *out = report;
    }
    if (status != TDL_STATUS_OK) {
        tdl_free(&world->host.mem, report.strands);
    }
    arena_destroy(&v.arena);
    return status;
}

void tdl_inverse_report_free(const TdlWorld* world, TdlInverseReport* report) {
    if (report != NULL) {
        tdl_free(&world->host.mem, report->strands);
        *report = (TdlInverseReport){0};
    }
}
