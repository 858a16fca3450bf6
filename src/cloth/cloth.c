// Making a sheet of a definition.
#include "cloth/cloth.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FACES = 2000000 };

// --- definitions ---------------------------------------------------------------------------------

TdlClothDef tdl_cloth_def_default(void) {
    return (TdlClothDef){.density = 0.15,
                         .weight = -1.0,
                         .damping = 0.1,
                         .stretch = 1.0e6,
                         .shear = -1.0,
                         .bending = 1.0e-5,
                         .bending_damping = 0.02,
                         .thickness = 1.0e-3,
                         .self = true};
}

TdlClothMesh tdl_cloth_rectangle(double width, double height, int columns, int rows,
                                 TdlVec3* vertices, int* faces) {
    for (int j = 0; j < rows; ++j) {
        for (int i = 0; i < columns; ++i) {
            vertices[(ptrdiff_t)j * columns + i] =
                (TdlVec3){width * ((double)i / (columns - 1) - 0.5),
                          height * ((double)j / (rows - 1) - 0.5), 0.0};
        }
    }
    int* next = faces;
    for (int j = 0; j + 1 < rows; ++j) {
        for (int i = 0; i + 1 < columns; ++i, next += 4) {
            int first = j * columns + i;
            const int corner[4] = {first, first + 1, first + columns + 1, first + columns};
            memcpy(next, corner, sizeof corner);
        }
    }
    return (TdlClothMesh){vertices, columns * rows, faces, (columns - 1) * (rows - 1)};
}

static const char* face_fault(const TdlClothMesh* mesh, const int* v) {
    for (int k = 0; k < (v[3] < 0 ? 3 : 4); ++k) {
        if (v[k] < 0 || v[k] >= mesh->vertex_count) {
            return "a face has a vertex that is not there";
        }
    }
    for (int k = 1; k + 1 < (v[3] < 0 ? 3 : 4); ++k) {
        const int corner[3] = {0, 1, 2};
        const TdlVec3 at[3] = {mesh->vertices[v[0]], mesh->vertices[v[k]],
                               mesh->vertices[v[k + 1]]};
        TdlMesh one = {at, 3, corner, 1};
        int triangle;
        if (tdl_mesh_fault(&one, &triangle) != NULL) {
            return "a face has no area, or its corners are not in turn";
        }
    }
    return NULL;
}

// Whether every vertex is in a face; false too when there is no memory to tell.
static bool all_used(const TdlClothMesh* mesh) {
    bool* used = calloc((size_t)mesh->vertex_count, sizeof *used);
    int count = 0;
    for (int k = 0; k < 4 * mesh->face_count && used != NULL; ++k) {
        int v = mesh->faces[k];
        count += v >= 0 && !used[v];
        used[v < 0 ? 0 : v] |= v >= 0;
    }
    free(used);
    return count == mesh->vertex_count;
}

const char* tdl_cloth_mesh_fault(const TdlClothMesh* mesh, int* face) {
    *face = -1;
    if (mesh->vertices == NULL || mesh->faces == NULL || mesh->face_count < 1 ||
        mesh->face_count > MAX_FACES || mesh->vertex_count < 3 ||
        mesh->vertex_count > 4 * mesh->face_count) {
        return "a cloth has from 1 to 2000000 faces, and no more vertices than their corners";
    }
    for (int i = 0; i < mesh->vertex_count; ++i) {
        if (!tdl_finite3(mesh->vertices[i])) {
            return "vertices must be finite";
        }
    }
    for (int f = 0; f < mesh->face_count; ++f) {
        const char* fault = face_fault(mesh, mesh->faces + 4 * (ptrdiff_t)f);
        if (fault != NULL) {
            *face = f;
            return fault;
        }
    }
    return all_used(mesh) ? NULL : "a vertex is in no face";
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

const char* tdl_cloth_def_fault(const TdlClothDef* def) {
    int face;
    const char* fault = tdl_cloth_mesh_fault(&def->mesh, &face);
    if (fault == NULL && def->rest != NULL) {
        TdlClothMesh rest = def->mesh;
        rest.vertices = def->rest;
        fault = tdl_cloth_mesh_fault(&rest, &face);
    }
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
    return def->hold_count < 0 || (def->hold_count > 0 && def->holds == NULL)
               ? "hold_count must not be negative"
               : hold_fault(def);
}

// --- creation ------------------------------------------------------------------------------------

static void* copy(Arena* arena, const void* from, size_t count, size_t size) {
    void* to = arena_alloc(arena, count, size);
    return to == NULL ? NULL : memcpy(to, from, count * size);
}

static bool copy_mesh(Cloth* c, const TdlClothDef* def) {
    size_t nodes = (size_t)def->mesh.vertex_count, faces = (size_t)def->mesh.face_count;
    const TdlVec3* rest = def->rest == NULL ? def->mesh.vertices : def->rest;
    c->def = *def;
    c->def.holds = NULL;
    c->def.hold_count = 0;
    c->node_count = def->mesh.vertex_count;
    c->def.mesh.faces = copy(&c->arena, def->mesh.faces, 4 * faces, sizeof(int));
    c->def.mesh.vertices = copy(&c->arena, def->mesh.vertices, nodes, sizeof(TdlVec3));
    c->def.rest = copy(&c->arena, rest, nodes, sizeof(TdlVec3));
    c->held = ARENA_NEW(&c->arena, bool, nodes);
    c->strained = ARENA_NEW(&c->arena, bool, nodes);
    c->area = ARENA_NEW(&c->arena, double, nodes);
    if (!c->def.mesh.faces || !c->def.mesh.vertices || !c->def.rest || !c->held || !c->strained ||
        !c->area) {
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
        int node = hold->vertices[k];
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
    c->state_count = (int)(2 * n + elements);
    c->x = ARENA_NEW(arena, double, c->state_count);
    c->free = ARENA_NEW(arena, double, n);
    c->expected = ARENA_NEW(arena, double, n);
    c->aim = ARENA_NEW(arena, double, n);
    c->missing = ARENA_NEW(arena, double, n);
    c->force = ARENA_NEW(arena, double, n);
    c->normal = ARENA_NEW(arena, TdlVec3, c->node_count);
    c->rest = ARENA_NEW(arena, double, elements);
    c->gain = ARENA_NEW(arena, double, elements);
    c->slope = ARENA_NEW(arena, TdlVec3, CLOTH_MOST * elements);
    if (!c->x || !c->free || !c->expected || !c->aim || !c->missing || !c->force || !c->normal ||
        !c->rest || !c->gain || !c->slope || !allocate_base(c, &c->base) ||
        !allocate_base(c, &c->tried)) {
        return false;
    }
    c->v = c->x + n;
    c->stress = c->v + n;
    memset(c->force, 0, n * sizeof *c->force);
    memset(c->slope, 0, CLOTH_MOST * elements * sizeof *c->slope);
    memset(c->stress, 0, elements * sizeof *c->stress);
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
        tdl_free(&host->mem, c);
    }
}
