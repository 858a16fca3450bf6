// What drives a rod from inside. actuation.md
//
// A natural shape is known at some times and between them goes from one to the next. A step is made
// with the one of its end, which is implicit as all elasticity is; what the change does to the
// elastic energy of the shape at hand is work from outside. A tendon under a tension T has the
// energy T times its length, so that it pulls on each of its guides along its two sides; these
// forces are taken in the shape at the start of the step, as point forces are. O(elements +
// guides).
#include "rod/rod_drive.h"

#include "base/log.h"
#include "rod/super_helix_element.h"

#include <string.h>

typedef struct Tendon {
    int guide_count, key_count, first_load; // of the rod's loads, one a guide
    TdlTendonGuide* guide;
    BodyPlace* place;
    TdlTensionKey* key;
    TdlInterpolation interpolation;
    double given;           // N, by a program; negative: its keys say
    double tension, length; // of the step under way, N; m
} Tendon;

struct RodDrive {
    int key_count; // of the natural shape
    double* time;
    TdlVec3* curvature; // [key_count * rod_curvature_count]
    TdlVec3* now;       // [rod_curvature_count] scratch
    TdlInterpolation interpolation;
    double supplied; // J, in the attempt under way
    int tendon_count;
    Tendon* tendon;
};

// --- times ----------------------------------------------------------------------------------

// Between which keys a time lies, and which share of the way from the one to the other.
static double share_at(const double* time, size_t stride, int count, TdlInterpolation how,
                       double at, int* from) {
    const char* base = (const char*)time;
    int i = 0;
    while (i + 1 < count && *(const double*)(base + stride * (size_t)(i + 1)) <= at) {
        ++i;
    }
    *from = i;
    double t0 = *(const double*)(base + stride * (size_t)i);
    if (i + 1 == count || at <= t0) {
        return 0.0;
    }
    double t1 = *(const double*)(base + stride * (size_t)(i + 1)), u = (at - t0) / (t1 - t0);
    return how == TDL_INTERPOLATION_SMOOTH ? u * u * u * (10.0 + u * (6.0 * u - 15.0)) : u;
}

static double mix(double a, double b, double u) {
    return u > 0.0 ? a + u * (b - a) : a;
}

// --- natural shapes -------------------------------------------------------------------------

static double elastic_energy(const Rod* rod) {
    return rod->model == &SUPER_HELIX ? helix_elastic_energy(rod) // it keeps that of the last step
                                      : rod->model->energy(rod, (TdlVec3){0}).elastic;
}

// False where it is as it was.
static bool set_natural(RodDrive* d, Rod* rod, double time) {
    int from, count = rod_curvature_count(rod);
    double u = share_at(d->time, sizeof(double), d->key_count, d->interpolation, time, &from);
    const TdlVec3 *a = d->curvature + (ptrdiff_t)from * count, *b = u > 0.0 ? a + count : a;
    for (int i = 0; i < count; ++i) {
        d->now[i] =
            (TdlVec3){mix(a[i].x, b[i].x, u), mix(a[i].y, b[i].y, u), mix(a[i].z, b[i].z, u)};
    }
    if (memcmp(d->now, rod->natural, (size_t)count * sizeof *d->now) == 0) {
        return false;
    }
    rod_set_natural(rod, d->now);
    return true;
}

TdlStatus rod_drive_place(const TdlHost* host, Body* body, double time) {
    (void)host;
    RodBody* rb = (RodBody*)body;
    if (rb->drive != NULL && rb->drive->key_count > 0 && set_natural(rb->drive, rb->rod, time)) {
        rb->rod->model->refresh(rb->rod);
        body->energy.elastic = rod_energy(rb->rod, (TdlVec3){0}).elastic;
    }
    return TDL_STATUS_OK;
}

// --- tendons --------------------------------------------------------------------------------

static double tension_at(const Tendon* tendon, double time) {
    if (tendon->given >= 0.0) {
        return tendon->given;
    }
    int from;
    const TdlTensionKey* key = tendon->key;
    double u =
        share_at(&key->time, sizeof *key, tendon->key_count, tendon->interpolation, time, &from);
    return mix(key[from].tension, key[u > 0.0 ? from + 1 : from].tension, u);
}

// A guide at the clamped start of a nodal rod is on the clamp: its first edge turns against it.
static bool on_clamp(const Rod* rod, const TdlTendonGuide* guide) {
    return !rod->model->reduced && guide->at == 0.0 && rod->start_hold == TDL_HOLD_CLAMPED;
}

// Where a guide is; `arm` from the middle of its section.
static TdlVec3 guide_place(const RodBody* rb, const Tendon* tendon, int i, TdlVec3* arm) {
    TdlPose pose;
    const double* offset = tendon->guide[i].offset;
    rod_frame(&rb->head, &tendon->place[i], &pose);
    pose = on_clamp(rb->rod, &tendon->guide[i]) ? rb->rod->base.now : pose;
    *arm = tdl_axpy3(tdl_scale3(offset[0], pose.rotation.cy), offset[1], pose.rotation.cz);
    return tdl_add3(pose.position, *arm);
}

// T times the difference of the directions of its two sides pulls at each guide. (Z.3)
static void pull_guides(const RodBody* rb, Tendon* tendon) {
    RodLoad* load = rb->rod->loads + tendon->first_load;
    TdlVec3 arm, next_arm = {0}, x = guide_place(rb, tendon, 0, &arm), before = {0};
    tendon->length = 0.0;
    for (int i = 0; i < tendon->guide_count; ++i) {
        TdlVec3 after = {0}, next = x;
        if (i + 1 < tendon->guide_count) {
            next = guide_place(rb, tendon, i + 1, &next_arm);
            TdlVec3 way = tdl_sub3(next, x);
            double length = tdl_norm3(way);
            tendon->length += length;
            after = length > 0.0 ? tdl_scale3(1.0 / length, way) : after;
        }
        TdlVec3 force = tdl_scale3(tendon->tension, tdl_sub3(after, before));
        force = on_clamp(rb->rod, &tendon->guide[i]) ? (TdlVec3){0} : force;
        load[i].force = force;
        load[i].torque = tdl_cross3(arm, force);
        before = after;
        x = next;
        arm = next_arm;
    }
}

// --- the step -------------------------------------------------------------------------------

void rod_drive_prepare(RodBody* rb, const BodyStep* t) {
    RodDrive* d = rb->drive;
    if (d == NULL) {
        return;
    }
    d->supplied = 0.0;
    if (d->key_count > 0) {
        double before = elastic_energy(rb->rod);
        d->supplied = set_natural(d, rb->rod, t->end) ? elastic_energy(rb->rod) - before : 0.0;
    }
    for (int i = 0; i < d->tendon_count; ++i) {
        d->tendon[i].tension = tension_at(&d->tendon[i], t->end);
        pull_guides(rb, &d->tendon[i]);
    }
}

bool rod_drive_acts(const RodBody* rb) {
    const RodDrive* d = rb->drive;
    bool acts = d != NULL && d->supplied != 0.0;
    for (int i = 0; d != NULL && i < d->tendon_count; ++i) {
        acts = acts || d->tendon[i].tension > 0.0;
    }
    return acts;
}

double rod_drive_supplied(const RodBody* rb) {
    return rb->drive != NULL ? rb->drive->supplied : 0.0;
}

// --- definitions ----------------------------------------------------------------------------

static const char* natural_fault(const TdlRodDef* def) {
    if (def->natural_key_count < 0 || (def->natural_key_count > 0 && def->natural_keys == NULL)) {
        return "natural_key_count must count natural_keys";
    }
    int count = tdl_rod_def_curvature_count(def);
    double element = def->length / def->element_count, most = 3000.0;
    if (!rod_model_find(def->model)->reduced) {
        most = 3.0; // as of natural curvatures that stay
    }
    for (int k = 0; k < def->natural_key_count; ++k) {
        const TdlNaturalKey* key = &def->natural_keys[k];
        if (!isfinite(key->time) || (k > 0 && !(key->time > key[-1].time))) {
            return "the times of natural_keys must be finite and grow";
        }
        for (int i = 0; i < count; ++i) {
            TdlVec3 kappa = key->curvature_of != NULL ? key->curvature_of[i] : key->curvature;
            if (!(tdl_norm3(kappa) * element < most)) {
                return "curvature times element length must be finite and below 3000, below 3 for "
                       "a model made of edges";
            }
        }
    }
    return NULL;
}

static const char* tension_fault(const TdlTendonDef* tendon) {
    if (tendon->keys == NULL || tendon->key_count < 1) {
        return "a tendon needs a tension";
    }
    for (int k = 0; k < tendon->key_count; ++k) {
        const TdlTensionKey* key = &tendon->keys[k];
        if (!isfinite(key->time) || (k > 0 && !(key->time > key[-1].time))) {
            return "the times of a tendon's keys must be finite and grow";
        }
        if (!isfinite(key->tension) || key->tension < 0.0) {
            return "a tendon's tension must not be negative: it does not push";
        }
    }
    return NULL;
}

static const char* tendon_fault(const TdlRodDef* def, const TdlTendonDef* tendon) {
    const RodModel* model = rod_model_find(def->model);
    if (model->frameless) {
        return "mass-spring has no frames for the guides of a tendon";
    }
    if (model->reduced && def->end != TDL_HOLD_FREE) {
        return "a tendon needs a rod whose end is free, or a model that stretches";
    }
    if (tendon->guides == NULL || tendon->guide_count < 2) {
        return "a tendon goes through two guides or more";
    }
    for (int i = 0; i < tendon->guide_count; ++i) {
        const TdlTendonGuide* g = &tendon->guides[i];
        if (!(g->at >= 0.0 && g->at <= def->length) || (i > 0 && !(g->at > g[-1].at)) ||
            !isfinite(g->offset[0]) || !isfinite(g->offset[1])) {
            return "guides follow each other along the rod, at finite offsets";
        }
    }
    return tension_fault(tendon);
}

const char* rod_drive_fault(const TdlRodDef* def) {
    const char* fault = natural_fault(def);
    if (def->tendon_count < 0 || (def->tendon_count > 0 && def->tendons == NULL)) {
        return "tendon_count must count tendons";
    }
    for (int i = 0; i < def->tendon_count && fault == NULL; ++i) {
        fault = tendon_fault(def, &def->tendons[i]);
    }
    return fault;
}

int rod_drive_load_count(const TdlRodDef* def) {
    int count = 0;
    for (int i = 0; i < def->tendon_count; ++i) {
        count += def->tendons[i].guide_count;
    }
    return count;
}

// --- making one -----------------------------------------------------------------------------

static bool make_tendon(const TdlHost* host, const Rod* rod, const TdlTendonDef* def, int first,
                        Tendon* out) {
    *out = (Tendon){.guide_count = def->guide_count,
                    .key_count = def->key_count,
                    .first_load = first,
                    .interpolation = def->interpolation,
                    .given = -1.0};
    out->guide = tdl_alloc_array(&host->mem, (size_t)def->guide_count, sizeof *out->guide);
    out->place = tdl_alloc_array(&host->mem, (size_t)def->guide_count, sizeof *out->place);
    out->key = tdl_alloc_array(&host->mem, (size_t)def->key_count, sizeof *out->key);
    if (out->guide == NULL || out->place == NULL || out->key == NULL) {
        return false;
    }
    memcpy(out->guide, def->guides, (size_t)def->guide_count * sizeof *out->guide);
    memcpy(out->key, def->keys, (size_t)def->key_count * sizeof *out->key);
    for (int i = 0; i < def->guide_count; ++i) {
        RodLoad* load = &rod->loads[first + i];
        double u = def->guides[i].at / rod_length(rod) * rod->element_count;
        int element = (int)fmin(u, rod->element_count - 1);
        out->place[i] = (BodyPlace){.element = element, .u = fmin(u - element, 1.0)};
        *load = (RodLoad){.element = element, .s = out->place[i].u, .given = true};
    }
    return true;
}

static bool reserve_natural(const TdlHost* host, int keys, int count, RodDrive* d) {
    size_t all = (size_t)keys * (size_t)count;
    d->time = tdl_alloc_array(&host->mem, (size_t)keys, sizeof *d->time);
    d->curvature = tdl_alloc_array(&host->mem, all, sizeof *d->curvature);
    d->now = tdl_alloc_array(&host->mem, (size_t)count, sizeof *d->now);
    return d->time != NULL && d->curvature != NULL && d->now != NULL;
}

static bool make_natural(const TdlHost* host, const TdlRodDef* def, const Rod* rod, RodDrive* d) {
    int count = rod_curvature_count(rod);
    if (!reserve_natural(host, def->natural_key_count, count, d)) {
        return false;
    }
    d->key_count = def->natural_key_count;
    d->interpolation = def->natural_interpolation;
    for (int k = 0; k < d->key_count; ++k) {
        const TdlNaturalKey* key = &def->natural_keys[k];
        d->time[k] = key->time;
        for (int i = 0; i < count; ++i) {
            d->curvature[(ptrdiff_t)k * count + i] =
                key->curvature_of != NULL ? key->curvature_of[i] : key->curvature;
        }
    }
    return true;
}

TdlStatus rod_drive_create(const TdlHost* host, const TdlRodDef* def, const Rod* rod,
                           RodDrive** out) {
    *out = NULL;
    if (def->natural_key_count == 0 && def->tendon_count == 0) {
        return TDL_STATUS_OK;
    }
    RodDrive* d = tdl_alloc_zero(&host->mem, sizeof *d);
    if (d == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    *out = d;
    if (def->natural_key_count > 0 && !make_natural(host, def, rod, d)) {
        return TDL_STATUS_NO_MEMORY;
    }
    d->tendon = tdl_alloc_zero(&host->mem, ((size_t)def->tendon_count + 1) * sizeof *d->tendon);
    if (d->tendon == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    int first = def->load_count;
    for (; d->tendon_count < def->tendon_count; ++d->tendon_count) {
        const TdlTendonDef* own = &def->tendons[d->tendon_count];
        if (!make_tendon(host, rod, own, first, &d->tendon[d->tendon_count])) {
            ++d->tendon_count; // what there is of it goes with the others
            return TDL_STATUS_NO_MEMORY;
        }
        first += own->guide_count;
    }
    return TDL_STATUS_OK;
}

void rod_drive_destroy(const TdlHost* host, RodDrive* d) {
    if (d == NULL) {
        return;
    }
    for (int i = 0; i < d->tendon_count; ++i) {
        tdl_free(&host->mem, d->tendon[i].guide);
        tdl_free(&host->mem, d->tendon[i].place);
        tdl_free(&host->mem, d->tendon[i].key);
    }
    tdl_free(&host->mem, d->tendon);
    tdl_free(&host->mem, d->time);
    tdl_free(&host->mem, d->curvature);
    tdl_free(&host->mem, d->now);
    tdl_free(&host->mem, d);
}

// --- in a world -----------------------------------------------------------------------------

static RodBody* find(const TdlWorld* world, TdlBodyId id) {
    return (RodBody*)world_find_body(world, id, &ROD_BODY);
}

static Tendon* find_tendon(const TdlWorld* world, TdlBodyId id, int index) {
    RodBody* rb = find(world, id);
    bool there = rb != NULL && rb->drive != NULL && index >= 0 && index < rb->drive->tendon_count;
    return there ? &rb->drive->tendon[index] : NULL;
}

TdlStatus tdl_rod_lead_natural_curvature(TdlWorld* world, TdlBodyId id, const TdlVec3* kappa,
                                         double time) {
    RodBody* rb = find(world, id);
    double now = world_now(world);
    if (rb == NULL || kappa == NULL || !(time > now) || !isfinite(time)) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    const TdlHost* host = world_host(world);
    Rod* rod = rb->rod;
    int count = rod_curvature_count(rod);
    const char* fault = rod_natural_fault(rod, kappa);
    if (fault != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "natural curvature: %s", fault);
    }
    if (rb->drive == NULL) {
        rb->drive = tdl_alloc_zero(&host->mem, sizeof *rb->drive);
    }
    RodDrive made = {0};
    if (rb->drive == NULL || !reserve_natural(host, 2, count, &made)) {
        tdl_free(&host->mem, made.time);
        tdl_free(&host->mem, made.curvature);
        tdl_free(&host->mem, made.now);
        return TDL_STATUS_NO_MEMORY;
    }
    RodDrive* d = rb->drive;
    tdl_free(&host->mem, d->time);
    tdl_free(&host->mem, d->curvature);
    tdl_free(&host->mem, d->now);
    d->time = made.time;
    d->curvature = made.curvature;
    d->now = made.now;
    d->key_count = 2;
    d->interpolation = TDL_INTERPOLATION_LINEAR;
    d->time[0] = now;
    d->time[1] = time;
    memcpy(d->curvature, rod->natural, (size_t)count * sizeof *kappa);
    memcpy(d->curvature + count, kappa, (size_t)count * sizeof *kappa);
    return TDL_STATUS_OK;
}

TdlStatus tdl_rod_set_tension(TdlWorld* world, TdlBodyId id, int index, double tension) {
    Tendon* tendon = find_tendon(world, id, index);
    if (tendon == NULL || !isfinite(tension) || tension < 0.0) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    tendon->given = tension;
    return TDL_STATUS_OK;
}

TdlStatus tdl_rod_tendon(const TdlWorld* world, TdlBodyId id, int index, double* tension,
                         double* length) {
    Tendon* tendon = find_tendon(world, id, index);
    if (tendon == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    const RodBody* rb = find(world, id);
    TdlVec3 arm, last = guide_place(rb, tendon, 0, &arm);
    *tension = tendon->tension;
    *length = 0.0;
    for (int i = 1; i < tendon->guide_count; ++i) {
        TdlVec3 x = guide_place(rb, tendon, i, &arm);
        *length += tdl_norm3(tdl_sub3(x, last));
        last = x;
    }
    return TDL_STATUS_OK;
}
