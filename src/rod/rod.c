// What all rod models share: definitions, their checks, sections, and the state as bytes.
#include "rod/rod.h"

#include "base/log.h"

#include <string.h>

enum { MAX_ELEMENTS = 100000 };

// Largest turning of one element, rad: integrals over it take work in proportion.
static const double MAX_TURNING = 3000.0;

static const double PI = 3.14159265358979323846;

static const RodModel* const MODELS[] = {&SUPER_HELIX};
enum { MODEL_COUNT = sizeof MODELS / sizeof *MODELS };

const char* tdl_rod_models(void) {
    return "super-helix";
}

const RodModel* rod_model_find(const char* name) {
    for (int i = 0; i < MODEL_COUNT; ++i) {
        if (strcmp(MODELS[i]->name, name) == 0) {
            return MODELS[i];
        }
    }
    return NULL;
}

TdlRodDef tdl_rod_def_default(void) {
    return (TdlRodDef){
        .model = "super-helix",
        .length = 0.1,
        .radius = {50.0e-6, 50.0e-6},
        .element_count = 10,
        .young = 1.0e9,
        .poisson = 0.48,
        .density = 1000.0,
        .clamp.rotation = tdl_identity33(),
    };
}

static bool positive(double x) {
    return isfinite(x) && x > 0.0;
}

// How far the columns are from orthonormal.
static double rotation_defect(TdlMat3 r) {
    TdlMat3 gram = tdl_sub33(tdl_tmul33(r, r), tdl_identity33());
    double defect = fabs(tdl_det33(r) - 1.0);
    return defect + tdl_norm3(gram.cx) + tdl_norm3(gram.cy) + tdl_norm3(gram.cz);
}

static bool turning_sane(const TdlRodDef* def, TdlVec3 kappa) {
    return tdl_norm3(kappa) * def->length / def->element_count < MAX_TURNING;
}

static bool curvatures_sane(const TdlRodDef* def) {
    bool sane = turning_sane(def, def->natural_curvature) && turning_sane(def, def->curvature);
    for (int i = 0; i < def->element_count; ++i) {
        sane = sane && (def->natural_curvature_of == NULL ||
                        turning_sane(def, def->natural_curvature_of[i]));
        sane = sane && (def->curvature_of == NULL || turning_sane(def, def->curvature_of[i]));
    }
    return sane;
}

// The first thing that is wrong with a definition, or null.
static const char* find_fault(const TdlRodDef* def) {
    if (def->model == NULL || rod_model_find(def->model) == NULL) {
        return "model is not one of those tdl_rod_models() lists";
    }
    if (!positive(def->length)) {
        return "length must be positive";
    }
    if (!positive(def->radius[0]) || !positive(def->radius[1])) {
        return "radius must be positive";
    }
    if (def->element_count < 1 || def->element_count > MAX_ELEMENTS) {
        return "element_count must be from 1 to 100000";
    }
    if (!positive(def->young)) {
        return "young must be positive";
    }
    if (!(def->poisson > -1.0 && def->poisson <= 0.5)) {
        return "poisson must be above -1 and at most 0.5";
    }
    if (!positive(def->density)) {
        return "density must be positive";
    }
    if (!(isfinite(def->damping) && def->damping >= 0.0)) {
        return "damping must not be negative";
    }
    if (!curvatures_sane(def)) {
        return "curvature times element length must be finite and below 3000";
    }
    if (!tdl_finite3(def->clamp.position) || !(rotation_defect(def->clamp.rotation) < 1.0e-9)) {
        return "clamp must be a finite place and a rotation";
    }
    return NULL;
}

// Section of half-axes a (second axis) and b (third): area, and the stiffnesses of K3.
static void set_section(Rod* rod, const TdlRodDef* def) {
    double a = def->radius[0], b = def->radius[1];
    double shear = def->young / (2.0 * (1.0 + def->poisson));
    rod->radius[0] = a;
    rod->radius[1] = b;
    rod->line_density = def->density * PI * a * b;
    rod->stiffness.x = shear * PI * (a * a * a) * (b * b * b) / (a * a + b * b);
    rod->stiffness.y = def->young * PI / 4.0 * a * (b * b * b);
    rod->stiffness.z = def->young * PI / 4.0 * (a * a * a) * b;
}

TdlStatus rod_create(const TdlHost* host, const TdlRodDef* def, Rod** out) {
    const char* fault = find_fault(def);
    if (fault != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "rod: %s", fault);
    }
    const RodModel* model = rod_model_find(def->model);
    int n = def->element_count;
    size_t dofs = (size_t)(n * model->dofs_per_element);
    Rod* rod = tdl_alloc_zero(&host->mem, sizeof *rod);
    double* block = tdl_alloc_array(&host->mem, 5 * dofs + model->work_count(n), sizeof(double));
    TdlVec3* kappa = tdl_alloc_array(&host->mem, (size_t)n, sizeof *kappa);
    if (rod == NULL || block == NULL || kappa == NULL) {
        tdl_free(&host->mem, rod);
        tdl_free(&host->mem, block);
        tdl_free(&host->mem, kappa);
        return TDL_STATUS_NO_MEMORY;
    }
    rod->model = model;
    rod->element_count = n;
    rod->dof_count = (int)dofs;
    rod->element_length = def->length / n;
    rod->damping = def->damping;
    rod->base.now = def->clamp;
    set_section(rod, def);
    rod->q = block;
    rod->v = block + dofs;
    rod->q_before = block + 2 * dofs;
    rod->q_rest = block + 3 * dofs;
    rod->v_free = block + 4 * dofs;
    rod->work = block + 5 * dofs;
    for (int i = 0; i < n; ++i) {
        kappa[i] =
            def->natural_curvature_of ? def->natural_curvature_of[i] : def->natural_curvature;
    }
    model->set_curvature(rod, kappa, rod->q_rest);
    for (int i = 0; i < n; ++i) {
        kappa[i] = def->curvature_of ? def->curvature_of[i] : def->curvature;
    }
    model->set_curvature(rod, kappa, rod->q);
    tdl_free(&host->mem, kappa);
    rod_stop(rod);
    *out = rod;
    return TDL_STATUS_OK;
}

void rod_destroy(const TdlHost* host, Rod* rod) {
    if (rod != NULL) {
        tdl_free(&host->mem, rod->q);
        tdl_free(&host->mem, rod);
    }
}

double rod_length(const Rod* rod) {
    return rod->element_length * rod->element_count;
}

double rod_mass(const Rod* rod) {
    return rod->line_density * rod_length(rod);
}

void rod_stop(Rod* rod) {
    size_t size = (size_t)rod->dof_count * sizeof(double);
    memset(rod->v, 0, size);
    memcpy(rod->q_before, rod->q, size);
    rod->base.before = rod->base.now;
    rod->base.rate = (Twist){0};
    rod->model->refresh(rod);
}

static size_t coordinates_size(const Rod* rod) {
    return 3 * (size_t)rod->dof_count * sizeof(double);
}

size_t rod_state_size(const Rod* rod) {
    return coordinates_size(rod) + sizeof rod->base;
}

void rod_save_state(const Rod* rod, void* bytes) {
    memcpy(bytes, rod->q, coordinates_size(rod));
    memcpy((char*)bytes + coordinates_size(rod), &rod->base, sizeof rod->base);
}

void rod_load_state(Rod* rod, const void* bytes) {
    memcpy(rod->q, bytes, coordinates_size(rod));
    memcpy(&rod->base, (const char*)bytes + coordinates_size(rod), sizeof rod->base);
    rod->model->refresh(rod);
}

bool rod_state_finite(const Rod* rod) {
    double sum = 0.0; // a NaN or an infinity survives multiplication by zero
    for (int i = 0; i < 3 * rod->dof_count; ++i) {
        sum += 0.0 * rod->q[i];
    }
    return sum == 0.0;
}
