// Meshes of sheets: rectangles, tubes, shorts; what may be wrong with one. Cost: linear in the
// faces, but for sorting their sides.
#include "cloth/cloth.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FACES = 2000000 };

// --- shapes --------------------------------------------------------------------------------------

static int* put_quad(int* to, int i, int j, int k, int l) {
    const int corner[4] = {i, j, k, l};
    memcpy(to, corner, sizeof corner);
    return to + 4;
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
        for (int i = 0; i + 1 < columns; ++i) {
            int first = j * columns + i;
            next = put_quad(next, first, first + 1, first + columns + 1, first + columns);
        }
    }
    return (TdlClothMesh){vertices, columns * rows, faces, (columns - 1) * (rows - 1)};
}

TdlClothMesh tdl_cloth_tube(double radius, double length, int around, int along, TdlVec3* vertices,
                            int* faces) {
    int* next = faces;
    for (int j = 0; j < along; ++j) {
        double z = length * ((double)j / (along - 1) - 0.5);
        for (int i = 0; i < around; ++i) {
            double angle = 2.0 * M_PI * i / around;
            int at = j * around + i, beside = j * around + (i + 1) % around;
            vertices[at] = (TdlVec3){radius * cos(angle), radius * sin(angle), z};
            if (j + 1 < along) {
                next = put_quad(next, at, beside, beside + around, at + around);
            }
        }
    }
    return (TdlClothMesh){vertices, around * along, faces, around * (along - 1)};
}

// Vertices of a ring of the trunk, and of a leg.
static int trunk_ring(const TdlClothShorts* s) {
    return 4 * s->across + 4;
}

static int leg_ring(const TdlClothShorts* s) {
    return 2 * s->across + 3;
}

void tdl_cloth_shorts_counts(const TdlClothShorts* s, int* vertex_count, int* face_count) {
    int legs = 2 * leg_ring(s) * s->leg_rows;
    *vertex_count = trunk_ring(s) * (s->rise_rows + 1) + legs;
    *face_count = trunk_ring(s) * s->rise_rows + legs;
}

// The k-th of a half ring from the front by the side to the back; `hand` is 1 on the right, -1 on
// the left. (N.52)
static TdlVec3 half_ring(const TdlClothShorts* s, int k, double hand) {
    if (k == s->across + 1) {
        return (TdlVec3){hand * 0.5 * s->width, 0.0, 0.0};
    }
    bool front = k <= s->across;
    int column = front ? k : leg_ring(s) - 1 - k;
    double x = 0.5 * (s->width - s->depth) * column / s->across;
    return (TdlVec3){hand * x, front ? -0.5 * s->depth : 0.5 * s->depth, 0.0};
}

// Where the k-th of a half ring is in a ring of the trunk.
static int place_in_ring(const TdlClothShorts* s, int k, double hand) {
    return hand > 0.0 || k == 0 ? k : trunk_ring(s) - k;
}

static int* put_trunk(const TdlClothShorts* s, TdlVec3* vertices, int* next) {
    int around = trunk_ring(s);
    for (int j = 0; j <= s->rise_rows; ++j) {
        double z = s->rise * (1.0 - (double)j / s->rise_rows);
        for (int i = 0; i < around; ++i) {
            bool right = i < leg_ring(s);
            TdlVec3 x = half_ring(s, right ? i : around - i, right ? 1.0 : -1.0);
            int at = j * around + i, beside = j * around + (i + 1) % around;
            vertices[at] = (TdlVec3){x.x, x.y, z};
            if (j < s->rise_rows) {
                next = put_quad(next, at, at + around, beside + around, beside);
            }
        }
    }
    return next;
}

// `first`: its vertices below the crotch.
static int* put_leg(const TdlClothShorts* s, double hand, int first, TdlVec3* vertices, int* next) {
    int around = leg_ring(s), crotch = trunk_ring(s) * s->rise_rows;
    for (int j = 0; j < s->leg_rows; ++j) {
        double down = (double)(j + 1) / s->leg_rows;
        for (int k = 0; k < around; ++k) {
            int below = first + j * around + k, beside = first + j * around + (k + 1) % around;
            int above = below - around, aside = beside - around;
            if (j == 0) { // the crotch is the trunk's
                above = crotch + place_in_ring(s, k, hand);
                aside = crotch + place_in_ring(s, (k + 1) % around, hand);
            }
            TdlVec3 x = half_ring(s, k, hand);
            vertices[below] = (TdlVec3){x.x + hand * s->spread * down, x.y, -s->legs * down};
            next = hand > 0.0 ? put_quad(next, above, below, beside, aside)
                              : put_quad(next, above, aside, beside, below);
        }
    }
    return next;
}

TdlClothMesh tdl_cloth_shorts(const TdlClothShorts* s, TdlVec3* vertices, int* faces) {
    TdlClothMesh mesh = {.vertices = vertices, .faces = faces};
    tdl_cloth_shorts_counts(s, &mesh.vertex_count, &mesh.face_count);
    int first = trunk_ring(s) * (s->rise_rows + 1);
    int* next = put_trunk(s, vertices, faces);
    next = put_leg(s, 1.0, first, vertices, next);
    put_leg(s, -1.0, first + leg_ring(s) * s->leg_rows, vertices, next);
    return mesh;
}

// --- faults --------------------------------------------------------------------------------------

static int corners_of(const int* face) {
    return face[3] < 0 ? 3 : 4;
}

// A side: its nodes, the lower first, and its face.
typedef struct MeshSide {
    int node[2], face;
} MeshSide;

static int compare_sides(const void* p, const void* q) {
    return memcmp(p, q, sizeof(MeshSide));
}

// memcmp orders by bytes: whatever the order, equal nodes come together
static int find_third(MeshSide* side, size_t count) {
    int found = -1;
    qsort(side, count, sizeof *side, compare_sides);
    for (size_t k = 2; k < count; ++k) {
        if (memcmp(side[k].node, side[k - 2].node, sizeof side[k].node) == 0) {
            int last = side[k].face;
            for (size_t i = k - 2; i < k; ++i) {
                last = side[i].face > last ? side[i].face : last;
            }
            found = found < 0 || last < found ? last : found;
        }
    }
    return found;
}

int cloth_third_face(const int* faces, int face_count, const int* number) {
    MeshSide* side = malloc(4 * (size_t)face_count * sizeof *side);
    size_t count = 0;
    for (int f = 0; f < face_count && side != NULL; ++f) {
        const int* v = faces + 4 * (ptrdiff_t)f;
        for (int k = 0, n = corners_of(v); k < n; ++k) {
            int i = v[k], j = v[(k + 1) % n];
            i = number == NULL ? i : number[i];
            j = number == NULL ? j : number[j];
            side[count++] = (MeshSide){{i < j ? i : j, i < j ? j : i}, f};
        }
    }
    int face = side == NULL ? -1 : find_third(side, count);
    free(side);
    return face;
}

static const char* face_fault(const TdlClothMesh* mesh, const int* v) {
    for (int k = 0; k < corners_of(v); ++k) {
        if (v[k] < 0 || v[k] >= mesh->vertex_count) {
            return "a face has a vertex that is not there";
        }
    }
    for (int k = 1; k + 1 < corners_of(v); ++k) {
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
    *face = cloth_third_face(mesh->faces, mesh->face_count, NULL);
    if (*face >= 0) {
        return "more than two faces meet at an edge";
    }
    return all_used(mesh) ? NULL : "a vertex is in no face";
}
