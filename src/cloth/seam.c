// Seams: which vertices become one, and which are drawn together. docs/theory/cloth.md, section 4
#include "cloth/cloth.h"

#include <stdlib.h>
#include <string.h>

// Stitches end up so long, in thicknesses: sheets that they join do not touch there.
static const double STITCH = 1.5;

static double distance(const TdlClothDef* def, int i, int j) {
    return tdl_norm3(tdl_sub3(def->mesh.vertices[j], def->mesh.vertices[i]));
}

static bool is_welded(const TdlClothDef* def, const TdlClothSeam* seam, int k) {
    return distance(def, seam->from[k], seam->to[k]) <= seam->within;
}

// --- which become one ----------------------------------------------------------------------------

// The lowest vertex that one has been joined with.
static int root_of(int* parent, int i) {
    for (; parent[i] != i; i = parent[i]) {
        parent[i] = parent[parent[i]];
    }
    return i;
}

int tdl_cloth_sewn_vertices(const TdlClothDef* def, int* number) {
    int n = def->mesh.vertex_count, count = 0;
    for (int i = 0; i < n; ++i) {
        number[i] = i;
    }
    for (int s = 0; s < def->seam_count; ++s) {
        const TdlClothSeam* seam = &def->seams[s];
        for (int k = 0; k < seam->count; ++k) {
            int i = root_of(number, seam->from[k]), j = root_of(number, seam->to[k]);
            if (is_welded(def, seam, k)) {
                number[i > j ? i : j] = i > j ? j : i;
            }
        }
    }
    for (int i = 0; i < n; ++i) {
        number[i] = root_of(number, i);
    }
    // roots come before what was joined with them: -1 - number until all are done
    for (int i = 0; i < n; ++i) {
        number[i] = number[i] == i ? -1 - count++ : number[number[i]];
    }
    for (int i = 0; i < n; ++i) {
        number[i] = -1 - number[i];
    }
    return count;
}

// --- faults --------------------------------------------------------------------------------------

static const char* pair_fault(const TdlClothDef* def, const TdlClothSeam* seam, int k) {
    int i = seam->from[k], j = seam->to[k], n = def->mesh.vertex_count;
    if (i < 0 || i >= n || j < 0 || j >= n) {
        return "a seam has a vertex that is not there";
    }
    if (i == j) {
        return "a seam sews a vertex to itself";
    }
    return seam->time > 0.0 || is_welded(def, seam, k)
               ? NULL
               : "two vertices are farther apart than `within`, and no `time` draws them together";
}

static const char* seam_fault(const TdlClothDef* def, const TdlClothSeam* seam, int* pair) {
    *pair = -1;
    if (seam->from == NULL || seam->to == NULL || seam->count < 1) {
        return "a seam has no vertices";
    }
    if (!(seam->within >= 0.0 && isfinite(seam->within) && seam->time >= 0.0 &&
          isfinite(seam->time))) {
        return "within and time of a seam must not be negative";
    }
    for (int k = 0; k < seam->count; ++k) {
        const char* fault = pair_fault(def, seam, k);
        if (fault != NULL) {
            *pair = k;
            return fault;
        }
    }
    return NULL;
}

static const char* sewn_fault(const TdlClothDef* def, int* number) {
    tdl_cloth_sewn_vertices(def, number);
    for (int f = 0; f < def->mesh.face_count; ++f) {
        const int* v = def->mesh.faces + 4 * (ptrdiff_t)f;
        for (int k = 0; k < 4 && v[k] >= 0; ++k) {
            for (int i = 0; i < k; ++i) {
                if (number[v[i]] == number[v[k]]) {
                    return "seams sew two corners of a face together";
                }
            }
        }
    }
    return cloth_third_face(def->mesh.faces, def->mesh.face_count, number) < 0
               ? NULL
               : "seams make more than two faces meet at an edge";
}

const char* tdl_cloth_seam_fault(const TdlClothDef* def, int* seam, int* pair) {
    *seam = *pair = -1;
    if (def->seam_count < 0 || (def->seam_count > 0 && def->seams == NULL)) {
        return "seam_count must not be negative";
    }
    for (int s = 0; s < def->seam_count; ++s) {
        const char* fault = seam_fault(def, &def->seams[s], pair);
        if (fault != NULL) {
            *seam = s;
            return fault;
        }
    }
    if (def->seam_count == 0) {
        return NULL;
    }
    int* number = malloc((size_t)def->mesh.vertex_count * sizeof *number);
    const char* fault = number == NULL ? NULL : sewn_fault(def, number);
    free(number);
    return fault;
}

// --- what is drawn -------------------------------------------------------------------------------

static void add_stitch(Cloth* c, const TdlClothDef* def, const TdlClothSeam* seam, int k) {
    double first = distance(def, seam->from[k], seam->to[k]);
    c->stitch[c->stitch_count++] = (ClothStitch){{c->number[seam->from[k]], c->number[seam->to[k]]},
                                                 first,
                                                 fmin(first, STITCH * def->thickness),
                                                 seam->time};
}

// The pairs of a seam that are drawn, as nodes, behind those of the seams before.
static TdlClothSeam copy_seam(Cloth* c, const TdlClothDef* def, const TdlClothSeam* seam, int* to) {
    int *from = to, *other = to + seam->count, count = 0;
    for (int k = 0; k < seam->count; ++k) {
        int i = c->number[seam->from[k]], j = c->number[seam->to[k]];
        if (i != j && !is_welded(def, seam, k)) {
            from[count] = i;
            other[count++] = j;
            add_stitch(c, def, seam, k);
        }
    }
    return (TdlClothSeam){from, other, count, seam->within, seam->time};
}

bool cloth_copy_seams(Cloth* c, const TdlClothDef* def) {
    size_t pairs = 0;
    for (int s = 0; s < def->seam_count; ++s) {
        pairs += (size_t)def->seams[s].count;
    }
    int* list = ARENA_NEW(&c->arena, int, 2 * pairs);
    TdlClothSeam* seams = ARENA_NEW(&c->arena, TdlClothSeam, def->seam_count);
    c->stitch = ARENA_NEW(&c->arena, ClothStitch, pairs);
    if (list == NULL || seams == NULL || c->stitch == NULL) {
        return false;
    }
    c->def.seams = seams;
    c->def.seam_count = 0;
    for (int s = 0; s < def->seam_count; ++s) {
        seams[c->def.seam_count] = copy_seam(c, def, &def->seams[s], list);
        c->def.seam_count += seams[c->def.seam_count].count > 0;
        list += 2 * def->seams[s].count;
    }
    return true;
}
