// Sheets that tests put into worlds, and what must hold of them in every step.
#ifndef TDL_TEST_SHEETS_H
#define TDL_TEST_SHEETS_H

#include "detect/sheet_crossings.h"
#include "tendril/cloth.h"
#include "things.h"

// A square of cells by cells quads of a side, its middle at a place, turned; `bend` lifts its
// vertices by bend * sin(8 x) sin(7 y) of the flat places.
typedef struct SheetDef {
    int cells;
    double side, thickness, bend;
    TdlVec3 at, velocity;
    TdlMat3 turn;
    bool undamped;
} SheetDef;

static inline TdlBodyId add_sheet(TdlWorld* world, SheetDef def) {
    int n = def.cells + 1;
    TdlVec3* v = calloc((size_t)(n * n), sizeof *v);
    int* faces = calloc((size_t)(4 * def.cells * def.cells), sizeof *faces);
    TdlClothDef cloth = tdl_cloth_def_default();
    cloth.mesh = tdl_cloth_rectangle(def.side, def.side, n, n, v, faces);
    for (int i = 0; i < n * n; ++i) {
        v[i].z = def.bend * sin(8.0 * v[i].x / def.side) * sin(7.0 * v[i].y / def.side);
        v[i] = tdl_add3(def.at, tdl_mul33_3(def.turn, v[i]));
    }
    cloth.thickness = def.thickness;
    cloth.velocity = def.velocity;
    cloth.damping = def.undamped ? 0.0 : cloth.damping;
    TdlBodyId id;
    CHECK(tdl_world_add_cloth(world, &cloth, &id) == TDL_STATUS_OK);
    free(v);
    free(faces);
    return id;
}

// All sheets of a world as one mesh, and how many pairs of its triangles go through each other.
static inline int count_crossings(const TdlWorld* world, const TdlBodyId* sheets, int count) {
    TdlVec3* v = NULL;
    int *t = NULL, vertices = 0, triangles = 0;
    for (int i = 0; i < count; ++i) {
        TdlClothDef def;
        const int* own;
        int own_count;
        CHECK(tdl_cloth_def(world, sheets[i], &def) == TDL_STATUS_OK);
        CHECK(tdl_cloth_triangles(world, sheets[i], &own, &own_count) == TDL_STATUS_OK);
        v = realloc(v, (size_t)(vertices + def.mesh.vertex_count) * sizeof *v);
        t = realloc(t, (size_t)(3 * (triangles + own_count)) * sizeof *t);
        CHECK(tdl_cloth_state(world, sheets[i], v + vertices, NULL) == TDL_STATUS_OK);
        for (int k = 0; k < 3 * own_count; ++k) {
            t[3 * triangles + k] = vertices + own[k];
        }
        vertices += def.mesh.vertex_count;
        triangles += own_count;
    }
    int found = sheet_crossings(v, t, triangles, 0, NULL);
    free(v);
    free(t);
    return found;
}

#endif
