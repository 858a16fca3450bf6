// Making a sheet of a definition.
#include "cloth/cloth.h"

#include "cloth/membrane.h"

#include <string.h>

// --- definitions ---------------------------------------------------------------------------------

TdlClothDef tdl_cloth_def_default(void) {
    return (TdlClothDef){.density = 0.15,
                         .weight = -1.0,
                         .damping = 0.1,
                         .stretch = 1.0e6,
                         .shear = -1.0,
                         .weft = -1.0,
                         .poisson = 0.3,
                         .warp = {1.0, 0.0, 0.0},
                         .bending = 1.0e-5,
                         .bending_damping = 0.02,
                         .thickness = 1.0e-3,
                         .self = true};
}

static bool is_positive(double x) {
    return x > 0.0 && isfinite(x);
}

static bool is_not_negative(double x) {
    return x >= 0.0 && isfinite(x);
}

static const char* hold_fault(const TdlClothDef* def) {
    for (int h = 0; h < def->hold_count; ++h) {
        const TdlClothHold* hold = &def->holds[h];
        if (hold->vertices == NULL || hold->count < 1) {
            return "a hold has no vertices";
        }
        for (int k = 0; k < hold->count; ++k) {
            if (hold->vertices[k] < 0 || hold->vertices[k] >= def->mesh.vertex_count) {
                return "a hold has a vertex that is not there";
            }
        }
    }
    return NULL;
}

// Places of the corners of a face at rest, those of a triangle with the first once more.
static void rest_of(const TdlClothDef* def, int f, TdlVec3 at[4]) {
    const int* v = def->mesh.faces + 4 * (ptrdiff_t)f;
    const TdlVec3* rest = def->rest == NULL ? def->mesh.vertices : def->rest;
    for (int k = 0; k < 4; ++k) {
        at[k] = v[k] < 0                    ? at[0]
                : def->rest_corners != NULL ? def->rest_corners[4 * (ptrdiff_t)f + k]
                                            : rest[v[k]];
    }
}

static const char* rest_fault(const TdlClothDef* def) {
    for (int f = 0; f < def->mesh.face_count; ++f) {
        TdlVec3 at[4];
        rest_of(def, f, at);
        int corners = def->mesh.faces[4 * (ptrdiff_t)f + 3] < 0 ? 3 : 4, face;
        const int corner[4] = {0, 1, 2, corners == 3 ? -1 : 3};
        TdlClothMesh one = {at, corners, corner, 1};
        if (tdl_cloth_mesh_fault(&one, &face) != NULL) {
            return "a face has no area at rest, or its corners are not in turn";
        }
        if (def->model == TDL_CLOTH_ELASTIC && !cloth_panel_fits(at, corners, def->warp)) {
            return "the warp goes across a face: give a direction that lies along all of them";
        }
    }
    return NULL;
}

static const char* elastic_fault(const TdlClothDef* def) {
    if (def->model != TDL_CLOTH_INEXTENSIBLE && def->model != TDL_CLOTH_ELASTIC) {
        return "the model is not known";
    }
    double weft = def->weft < 0.0 ? def->stretch : def->weft;
    if (!is_positive(weft) || !is_not_negative(def->poisson) ||
        !(def->poisson * def->poisson * weft < def->stretch)) {
        return "weft must be positive, and poisson from 0 to below sqrt(stretch / weft)";
    }
    return tdl_finite3(def->warp) && tdl_norm3(def->warp) > 0.0 ? NULL
                                                                : "the warp must have a direction";
}

const char* tdl_cloth_def_fault(const TdlClothDef* def) {
    int at, pair;
    const char* fault = tdl_cloth_mesh_fault(&def->mesh, &at);
    fault = fault == NULL ? elastic_fault(def) : fault;
    fault = fault == NULL ? rest_fault(def) : fault;
    fault = fault == NULL ? tdl_cloth_seam_fault(def, &at, &pair) : fault;
    if (fault != NULL) {
        return fault;
    }
    if (!is_positive(def->density) || !is_positive(def->stretch) || !is_positive(def->thickness)) {
        return "density, stretch and thickness must be positive";
    }
    if (def->shear == 0.0 || !isfinite(def->shear)) {
        return "shear must be positive, or negative to be as stretch";
    }
    if (!isfinite(def->weight) || !is_not_negative(def->damping) ||
        !is_not_negative(def->bending) || !is_not_negative(def->bending_damping) ||
        !is_not_negative(def->drag)) {
        return "damping, bending, bending_damping and drag must not be negative";
    }
    if (!tdl_finite3(def->velocity) || def->material < 0 || def->material >= TDL_MATERIAL_LIMIT) {
        return "velocity must be finite, and material from 0 to 63";
    }
    if ((int)def->isometry < 0 || def->isometry > TDL_ISOMETRY_S3) {
        return "isometry must be edges or s3";
    }
    if (def->isometry == TDL_ISOMETRY_S3 && cloth_s3_fault(def) != NULL) {
        return cloth_s3_fault(def);
    }
    return def->hold_count < 0 || (def->hold_count > 0 && def->holds == NULL)
               ? "hold_count must not be negative"
               : hold_fault(def);
}

// --- creation ------------------------------------------------------------------------------------

// Nodes are where their vertices are in the mean, faces keep their own places at rest.
static bool sew_mesh(Cloth* c, const TdlClothDef* def) {
    size_t vertices = (size_t)def->mesh.vertex_count, faces = (size_t)def->mesh.face_count;
    c->number = ARENA_NEW(&c->arena, int, vertices);
    TdlVec3* at = ARENA_NEW(&c->arena, TdlVec3, vertices);
    int *corner = ARENA_NEW(&c->arena, int, 4 * faces), *shared;
    TdlVec3* rest = ARENA_NEW(&c->arena, TdlVec3, 4 * faces);
    shared = ARENA_NEW(&c->arena, int, vertices);
    if (!c->number || !at || !corner || !rest || !shared) {
        return false;
    }
    c->node_count = tdl_cloth_sewn_vertices(def, c->number);
    memset(shared, 0, vertices * sizeof *shared);
    for (size_t i = 0; i < vertices; ++i) {
        int node = c->number[i], n = ++shared[node];
        TdlVec3 x = def->mesh.vertices[i];
        at[node] = n == 1 ? x : tdl_axpy3(at[node], 1.0 / n, tdl_sub3(x, at[node]));
    }
    for (int f = 0; f < def->mesh.face_count; ++f) {
        rest_of(def, f, rest + 4 * (ptrdiff_t)f);
    }
    for (size_t k = 0; k < 4 * faces; ++k) {
        corner[k] = def->mesh.faces[k] < 0 ? -1 : c->number[def->mesh.faces[k]];
    }
    c->def.mesh = (TdlClothMesh){at, c->node_count, corner, def->mesh.face_count};
    c->def.rest = NULL;
    c->def.rest_corners = rest;
    return true;
}

static bool copy_mesh(Cloth* c, const TdlClothDef* def) {
    c->def = *def;
    c->def.holds = NULL;
    c->def.hold_count = 0;
    if (!sew_mesh(c, def) || !cloth_copy_seams(c, def)) {
        return false;
    }
    size_t nodes = (size_t)c->node_count;
    c->held = ARENA_NEW(&c->arena, bool, nodes);
    c->strained = ARENA_NEW(&c->arena, bool, nodes);
    c->area = ARENA_NEW(&c->arena, double, nodes);
    if (!c->held || !c->strained || !c->area) {
        return false;
    }
    memset(c->held, 0, nodes * sizeof *c->held);
    memset(c->area, 0, nodes * sizeof *c->area);
    return true;
}

// Vertices that are held twice belong to the first.
static TdlStatus make_grip(const TdlHost* host, Cloth* c, const TdlClothHold* hold) {
    ClothGrip* grip = &c->grip[c->grip_count++];
    *grip = (ClothGrip){.middle.rotation = tdl_identity33()};
    grip->node = ARENA_NEW(&c->arena, int, hold->count);
    grip->placed = ARENA_NEW(&c->arena, TdlVec3, hold->count);
    if (grip->node == NULL || grip->placed == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlVec3 sum = {0};
    for (int k = 0; k < hold->count; ++k) {
        int node = c->number[hold->vertices[k]];
        if (!c->held[node]) {
            c->held[node] = true;
            grip->node[grip->count++] = node;
            sum = tdl_add3(sum, c->def.mesh.vertices[node]);
        }
    }
    grip->middle.position = tdl_scale3(1.0 / fmax(grip->count, 1), sum);
    for (int k = 0; k < grip->count; ++k) {
        grip->placed[k] = tdl_sub3(c->def.mesh.vertices[grip->node[k]], grip->middle.position);
    }
    return motion_create(host, &hold->motion, &grip->motion);
}

static TdlStatus make_grips(const TdlHost* host, Cloth* c, const TdlClothDef* def) {
    c->grip = ARENA_NEW(&c->arena, ClothGrip, (size_t)def->hold_count + 1);
    if (c->grip == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int h = 0; h < def->hold_count; ++h) {
        TdlStatus status = make_grip(host, c, &def->holds[h]);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return TDL_STATUS_OK;
}

static bool allocate_base(Cloth* c, ClothBase* base) {
    base->v = ARENA_NEW(&c->arena, double, 3 * (size_t)c->node_count);
    base->stress = ARENA_NEW(&c->arena, double, c->element_count);
    base->left = ARENA_NEW(&c->arena, double, c->element_count);
    if (!base->v || !base->stress || !base->left) {
        return false;
    }
    memset(base->left, 0, (size_t)c->element_count * sizeof(double));
    return true;
}

static bool allocate(Cloth* c) {
    size_t n = 3 * (size_t)c->node_count, elements = (size_t)c->element_count;
    Arena* arena = &c->arena;
    size_t leads = (size_t)c->grip_count * (sizeof(ClothLead) / sizeof(double));
    c->state_count = (int)(2 * n + elements + leads);
    c->x = ARENA_NEW(arena, double, c->state_count);
    c->free = ARENA_NEW(arena, double, n);
    c->expected = ARENA_NEW(arena, double, n);
    c->aim = ARENA_NEW(arena, double, n);
    c->missing = ARENA_NEW(arena, double, n);
    c->force = ARENA_NEW(arena, double, n);
    c->normal = ARENA_NEW(arena, TdlVec3, c->node_count);
    c->rest = ARENA_NEW(arena, double, elements);
    c->gain = ARENA_NEW(arena, double, elements);
    c->slope = ARENA_NEW(arena, TdlVec3, c->slope_count);
    if (!c->x || !c->free || !c->expected || !c->aim || !c->missing || !c->force || !c->normal ||
        !c->rest || !c->gain || !c->slope || !allocate_base(c, &c->base) ||
        !allocate_base(c, &c->tried)) {
        return false;
    }
    c->v = c->x + n;
    c->stress = c->v + n;
    memset(c->force, 0, n * sizeof *c->force);
    memset(c->slope, 0, (size_t)c->slope_count * sizeof *c->slope);
    memset(c->stress, 0, (elements + leads) * sizeof *c->stress);
    for (int g = 0; g < c->grip_count; ++g) {
        c->grip[g].led = (ClothLead*)(c->stress + elements) + g;
    }
    for (int i = 0; i < c->node_count; ++i) {
        tdl_store3(c->x, i, c->def.mesh.vertices[i]);
        tdl_store3(c->v, i, c->held[i] ? (TdlVec3){0} : c->def.velocity);
    }
    return true;
}

TdlStatus cloth_create(const TdlHost* host, const TdlClothDef* def, Cloth** out) {
    Cloth* c = tdl_alloc_zero(&host->mem, sizeof *c);
    if (c == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    arena_init(&c->arena, &host->mem);
    TdlStatus status = copy_mesh(c, def) ? make_grips(host, c, def) : TDL_STATUS_NO_MEMORY;
    if (status == TDL_STATUS_OK && (!cloth_build(c) || !allocate(c))) {
        status = TDL_STATUS_NO_MEMORY;
    }
    if (status == TDL_STATUS_OK) {
        status = node_cholesky_analyse(&c->factor, &c->arena, &c->pattern);
    }
    if (status != TDL_STATUS_OK) {
        cloth_destroy(host, c);
        return status;
    }
    *out = c;
    return TDL_STATUS_OK;
}

void cloth_destroy(const TdlHost* host, Cloth* c) {
    if (c != NULL) {
        for (int g = 0; g < c->grip_count; ++g) {
            motion_destroy(host, &c->grip[g].motion);
        }
        arena_destroy(&c->arena);
        tdl_free(&host->mem, c->pull);
        load_list_free(host, &c->varying);
        tdl_free(&host->mem, c);
    }
}
