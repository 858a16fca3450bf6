// Strands: what is asked of them, and the natural curvature that holds them in their shape.
#include "inverse/strand.h"

#include "base/log.h"
#include "math/rotation.h"

#include <string.h>

enum { MAX_ELEMENTS = 100000 };

static const StrandKind* const KINDS[] = {&STRAND_HELIX, &STRAND_CLOTHOID, &STRAND_DER};

static const StrandKind* find_kind(const char* model) {
    for (size_t i = 0; model != NULL && i < sizeof KINDS / sizeof *KINDS; ++i) {
        if (strcmp(KINDS[i]->name, model) == 0) {
            return KINDS[i];
        }
    }
    return NULL;
}

static bool positive(double x) {
    return x > 0.0 && isfinite(x);
}

// Edges that their own forces could press to nothing have no shape.
static const char* find_stretch_fault(const TdlStrand* def, TdlVec3 gravity) {
    double force = def->line_density * def->length * tdl_norm3(gravity);
    for (int i = 0; i < def->load_count; ++i) {
        force += tdl_norm3(def->loads[i].force);
    }
    return def->stretching > 0.0 && !(force < def->stretching)
               ? "stretching must be more than weight and loads"
               : NULL;
}

// The first thing that is wrong with a strand, or null.
static const char* find_fault(const TdlStrand* def, const StrandKind* kind, TdlVec3 gravity) {
    if (kind == NULL) {
        return "a strand's model is super-helix, super-clothoid or der";
    }
    if (def->element_count < 1 || def->element_count > MAX_ELEMENTS) {
        return "element_count must be from 1 to 100000";
    }
    if (!positive(def->length) || !positive(def->stiffness.x) || !positive(def->stiffness.y) ||
        !positive(def->stiffness.z)) {
        return "length and stiffness must be positive";
    }
    if (!(def->line_density >= 0.0 && isfinite(def->line_density)) ||
        !(def->stretching >= 0.0 && isfinite(def->stretching))) {
        return "line_density and stretching must not be negative";
    }
    if (!tdl_finite3(gravity) || !tdl_pose_is_good(def->start)) {
        return "gravity must be finite, and the start a place and a rotation";
    }
    if (def->curvature == NULL || def->load_count < 0 ||
        (def->load_count > 0 && def->loads == NULL)) {
        return "curvature, or loads, are missing";
    }
    double l = def->length / def->element_count;
    for (int i = 0; i < def->element_count + kind->extra_blocks; ++i) {
        if (!(l * tdl_norm3(def->curvature[i]) < kind->max_turn)) {
            return "curvature times element length is too large for the model";
        }
    }
    for (int i = 0; i < def->load_count; ++i) {
        const TdlRodLoad* load = &def->loads[i];
        if (!(load->at >= 0.0 && load->at <= def->length) || !tdl_finite3(load->force)) {
            return "a load must be finite and act at an arc length from 0 to length";
        }
        if (!(tdl_norm3(load->torque) == 0.0)) {
            return "a torque has no potential energy";
        }
    }
    return find_stretch_fault(def, gravity);
}

// Lists the loads by elements.
static bool place_loads(Strand* strand) {
    const TdlStrand* def = strand->def;
    if (def->load_count == 0) {
        return true;
    }
    int n = strand->element_count;
    strand->loads = ARENA_NEW(strand->arena, StrandLoad, def->load_count);
    strand->first_load = ARENA_NEW(strand->arena, int, n);
    if (strand->loads == NULL || strand->first_load == NULL) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        strand->first_load[i] = -1;
    }
    for (int k = 0; k < def->load_count; ++k) {
        RodLoad at = {.force = def->loads[k].force};
        at.element = strand_element(strand, def->loads[k].at / strand->l, &at.s);
        int element = at.element;
        strand->loads[k] = (StrandLoad){at, strand->first_load[element]};
        strand->first_load[element] = k;
    }
    return true;
}

TdlStatus strand_open(const TdlHost* host, Arena* arena, const TdlStrand* def, TdlVec3 gravity,
                      Strand* out) {
    const StrandKind* kind = find_kind(def->model);
    const char* fault = find_fault(def, kind, gravity);
    if (fault != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "%s", fault);
    }
    double l = def->length / def->element_count;
    *out = (Strand){.kind = kind,
                    .def = def,
                    .gravity = gravity,
                    .element_count = def->element_count,
                    .block_count = def->element_count + kind->extra_blocks,
                    .l = l,
                    .m = def->line_density * l,
                    .arena = arena};
    return place_loads(out) ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}

bool strand_gradient(const Strand* strand, double* G) {
    return strand->kind->gradient(strand, G);
}

bool strand_force(const Strand* strand, int element, double s, TdlVec3 F, double* out) {
    if (strand->kind->force != NULL) {
        return strand->kind->force(strand, element, s, F, out);
    }
    // minus the gradient of the potential of that force alone
    int n = strand->element_count;
    ArenaMark mark = arena_mark(strand->arena);
    StrandLoad load = {{.element = element, .s = s, .force = F}, -1};
    Strand alone = *strand;
    alone.gravity = (TdlVec3){0};
    alone.loads = &load;
    alone.first_load = ARENA_NEW(strand->arena, int, n);
    if (alone.first_load == NULL) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        alone.first_load[i] = i == element ? 0 : -1;
    }
    bool ok = strand_gradient(&alone, out);
    for (int i = 0; ok && i < 3 * strand->block_count; ++i) {
        out[i] = -out[i];
    }
    arena_release(strand->arena, mark);
    return ok;
}

TdlStatus strand_rest(const TdlHost* host, const Strand* strand, const double* extra,
                      TdlVec3* natural) {
    int n = 3 * strand->block_count;
    ArenaMark mark = arena_mark(strand->arena);
    double* G = ARENA_NEW(strand->arena, double, n);
    if (G == NULL || !strand_gradient(strand, G)) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; extra != NULL && i < n; ++i) {
        G[i] -= extra[i];
    }
    TdlStatus status = strand->kind->rest(host, strand, G, natural);
    arena_release(strand->arena, mark);
    return status;
}

TdlStatus tdl_strand_rest(const TdlHost* host, const TdlStrand* def, TdlVec3 gravity,
                          TdlVec3* natural) {
    Arena arena;
    Strand strand;
    arena_init(&arena, &host->mem);
    TdlStatus status = strand_open(host, &arena, def, gravity, &strand);
    if (status == TDL_STATUS_OK) {
        status = strand_rest(host, &strand, NULL, natural);
    }
    arena_destroy(&arena);
    return status;
}
