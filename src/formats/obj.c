// Reading .obj files: 'v', 'f' (also with texture and normal numbers, and counted from the end),
// everything else is passed over.
#include "formats/obj.h"

#include "base/log.h"
#include "base/memory.h"
#include "formats/number.h"
#include "formats/source.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

bool next_word(const char** at, const char* end, const char* separators, char out[FIELD_SIZE]) {
    while (*at < end && strchr(separators, **at) != NULL) {
        ++*at;
    }
    size_t length = 0;
    const char* from = *at;
    while (*at < end && strchr(separators, **at) == NULL) {
        ++*at;
        ++length;
    }
    bool fits = length < FIELD_SIZE;
    snprintf(out, FIELD_SIZE, "%.*s%s", (int)(fits ? length : FIELD_SIZE - 4), from,
             fits ? "" : "...");
    return length > 0;
}

const char* line_end(const char* at, const char* end) {
    const char* found = memchr(at, '\n', (size_t)(end - at));
    return found == NULL ? end : found;
}

static TdlStatus obj_bad(const ObjFile* file, const char* what) {
    return tdl_fail(file->host, TDL_STATUS_BAD_INPUT, "%s:%d: %s", file->name, file->line, what);
}

TdlStatus obj_not_a_number(const ObjFile* file, const char* word) {
    Quote q = quote(word);
    return tdl_fail(file->host, TDL_STATUS_BAD_INPUT, "%s:%d: %s is not a number", file->name,
                    file->line, q.text);
}

// Makes room for one more.
static bool grow(const TdlHost* host, void* array, int count, int* capacity, size_t size) {
    if (count < *capacity) {
        return true;
    }
    void* block;
    memcpy(&block, array, sizeof block);
    int room = *capacity == 0 ? 1024 : 2 * *capacity;
    void* grown =
        *capacity > INT_MAX / 8 ? NULL : tdl_grow_array(&host->mem, block, (size_t)room, size);
    if (grown == NULL) {
        return false;
    }
    memcpy(array, &grown, sizeof grown);
    *capacity = room;
    return true;
}

// The vertex that stands on the rest of a line.
static TdlStatus add_vertex(ObjFile* file, const char* at, const char* end) {
    char word[FIELD_SIZE];
    double x[3];
    for (int c = 0; c < 3; ++c) {
        if (!next_word(&at, end, FIELD_BLANKS, word)) {
            return obj_bad(file, "a vertex has three numbers");
        }
        NumberFault fault = parse_real(word, &x[c]);
        if (fault == NUMBER_SMALL) {
            x[c] = 0.0;
        } else if (fault != NUMBER_FINE) {
            return obj_not_a_number(file, word);
        }
        if (!(fabs(x[c]) <= PLACE_MAX)) {
            return obj_bad(file, "a vertex is too far away");
        }
    }
    if (!grow(file->host, &file->vertices, file->vertex_count, &file->vertex_capacity,
              sizeof *file->vertices)) {
        return TDL_STATUS_NO_MEMORY;
    }
    file->vertices[file->vertex_count++] = (TdlVec3){x[0], x[1], x[2]};
    return TDL_STATUS_OK;
}

TdlStatus obj_next_index(const ObjFile* file, const char** at, const char* end, const char* what,
                         int* out) {
    char word[FIELD_SIZE];
    *out = -1;
    if (!next_word(at, end, FIELD_BLANKS, word)) {
        return TDL_STATUS_OK;
    }
    int index;
    word[strcspn(word, "/")] = '\0'; // texture vertex and normal may follow
    if (parse_int(word, &index) != NUMBER_FINE) {
        return obj_not_a_number(file, word);
    }
    index = index < 0 ? file->vertex_count + index : index - 1; // from the end, or from 1
    if (index < 0 || index >= file->vertex_count) {
        return tdl_fail(file->host, TDL_STATUS_BAD_INPUT,
                        "%s:%d: a %s names vertex %s, which is not there: %d came before",
                        file->name, file->line, what, word, file->vertex_count);
    }
    *out = index;
    return TDL_STATUS_OK;
}

// Whether a 'g' or 'o' line has the name of the group that counts.
static bool names_group(const ObjFile* file, const char* at, const char* end) {
    char word[FIELD_SIZE];
    while (next_word(&at, end, FIELD_BLANKS, word)) {
        if (strcmp(word, file->group) == 0) {
            return true;
        }
    }
    return false;
}

TdlStatus obj_read(ObjFile* file, const char* data, size_t size, const char* kind, ObjLineFn fn,
                   void* user) {
    const char* end = data + size;
    TdlStatus status = TDL_STATUS_OK;
    file->line = 1;
    for (const char* at = data; at < end && status == TDL_STATUS_OK; ++file->line) {
        const char *stop = line_end(at, end), *inside = at;
        char word[FIELD_SIZE];
        bool any = next_word(&inside, stop, FIELD_BLANKS, word);
        if (any && strcmp(word, "v") == 0) {
            status = add_vertex(file, inside, stop);
        } else if (any && file->group != NULL && (word[0] == 'g' || word[0] == 'o') && !word[1]) {
            file->outside = !names_group(file, inside, stop);
        } else if (any && !file->outside && strcmp(word, kind) == 0) {
            status = fn(user, file, inside, stop);
        }
        at = stop + 1;
    }
    return status;
}

// --- meshes ---------------------------------------------------------------------------------

typedef struct Triangles {
    int* corners;
    int count, capacity; // of corners
} Triangles;

static TdlVec3 normal_of(const ObjFile* file, const int corner[3]) {
    TdlVec3 a = file->vertices[corner[0]];
    return tdl_cross3(tdl_sub3(file->vertices[corner[1]], a),
                      tdl_sub3(file->vertices[corner[2]], a));
}

static TdlStatus add_triangle(const ObjFile* file, Triangles* t, const int corner[3]) {
    int fault;
    const TdlVec3 place[3] = {file->vertices[corner[0]], file->vertices[corner[1]],
                              file->vertices[corner[2]]};
    const TdlMesh one = {place, 3, (const int[3]){0, 1, 2}, 1};
    const char* what = tdl_mesh_fault(&one, &fault);
    if (what != NULL) {
        return obj_bad(file, what);
    }
    for (int k = 0; k < 3; ++k) {
        if (!grow(file->host, &t->corners, t->count, &t->capacity, sizeof *t->corners)) {
            return TDL_STATUS_NO_MEMORY;
        }
        t->corners[t->count++] = corner[k];
    }
    return TDL_STATUS_OK;
}

// One 'f' line, as a fan. Its triangles turn the same way round when the face is convex.
static TdlStatus add_face(void* user, const ObjFile* file, const char* at, const char* end) {
    Triangles* t = user;
    int corner[3], next, first = t->count;
    for (int k = 0; k < 2; ++k) {
        TdlStatus status = obj_next_index(file, &at, end, "face", &corner[k]);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    for (int made = 0;; ++made) {
        TdlStatus status = obj_next_index(file, &at, end, "face", &next);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        if (next < 0) {
            return made > 0 ? TDL_STATUS_OK : obj_bad(file, "a face has three corners or more");
        }
        corner[2] = next;
        status = add_triangle(file, t, corner);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        if (tdl_dot3(normal_of(file, corner), normal_of(file, t->corners + first)) <= 0.0) {
            return obj_bad(file, "a face is not convex: cut it into triangles");
        }
        corner[1] = next;
    }
}

TdlStatus obj_parse_mesh(const TdlHost* host, const char* name, const char* data, size_t size,
                         TdlMesh* out) {
    ObjFile file = {.host = host, .name = name};
    Triangles triangles = {0};
    TdlStatus status = obj_read(&file, data, size, "f", add_face, &triangles);
    if (status == TDL_STATUS_OK && triangles.count == 0) {
        status = tdl_fail(host, TDL_STATUS_BAD_INPUT, "%s: has no faces", name);
    }
    *out = (TdlMesh){file.vertices, file.vertex_count, triangles.corners, triangles.count / 3};
    if (status != TDL_STATUS_OK) {
        obj_free_mesh(host, out);
    }
    return status;
}

void obj_free_mesh(const TdlHost* host, TdlMesh* mesh) {
    tdl_free(&host->mem, (void*)(uintptr_t)mesh->vertices);
    tdl_free(&host->mem, (void*)(uintptr_t)mesh->triangles);
    *mesh = (TdlMesh){0};
}

// --- faces as they are ------------------------------------------------------------------------

typedef struct FaceList {
    int *corners, *lines;
    int count, corner_capacity, line_capacity; // of faces; of numbers
} FaceList;

static TdlStatus keep_face(const ObjFile* file, FaceList* list, const int corner[4]) {
    for (int k = 0; k < 4; ++k) {
        if (!grow(file->host, &list->corners, 4 * list->count + k, &list->corner_capacity,
                  sizeof *list->corners)) {
            return TDL_STATUS_NO_MEMORY;
        }
        list->corners[4 * list->count + k] = corner[k];
    }
    if (!grow(file->host, &list->lines, list->count, &list->line_capacity, sizeof *list->lines)) {
        return TDL_STATUS_NO_MEMORY;
    }
    list->lines[list->count++] = file->line;
    return TDL_STATUS_OK;
}

static TdlStatus read_face(void* user, const ObjFile* file, const char* at, const char* end) {
    int corner[4] = {-1, -1, -1, -1}, count = 0;
    for (int next = 0;; ++count) {
        TdlStatus status = obj_next_index(file, &at, end, "face", &next);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        if (next < 0) {
            break;
        }
        if (count == 4) {
            return obj_bad(file, "a face of cloth has three or four corners: cut it into these");
        }
        corner[count] = next;
    }
    return count < 3 ? obj_bad(file, "a face of cloth has three or four corners")
                     : keep_face(file, user, corner);
}

// Leaves out vertices that are in no face, and numbers the others anew.
static TdlStatus drop_unused(const TdlHost* host, ObjFaces* all) {
    int *number = tdl_alloc_array(&host->mem, (size_t)all->vertex_count, sizeof *number), kept = 0;
    if (number == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < all->vertex_count; ++i) {
        number[i] = -1;
    }
    for (int k = 0; k < 4 * all->face_count; ++k) {
        if (all->corners[k] >= 0) {
            number[all->corners[k]] = 0;
        }
    }
    for (int i = 0; i < all->vertex_count; ++i) {
        if (number[i] == 0) {
            number[i] = kept;
            all->vertices[kept++] = all->vertices[i];
        }
    }
    for (int k = 0; k < 4 * all->face_count; ++k) {
        all->corners[k] = all->corners[k] < 0 ? -1 : number[all->corners[k]];
    }
    all->vertex_count = kept;
    tdl_free(&host->mem, number);
    return TDL_STATUS_OK;
}

TdlStatus obj_parse_faces(const TdlHost* host, const char* name, const char* data, size_t size,
                          const char* group, ObjFaces* out) {
    ObjFile file = {.host = host, .name = name, .group = group, .outside = group != NULL};
    FaceList list = {0};
    TdlStatus status = obj_read(&file, data, size, "f", read_face, &list);
    if (status == TDL_STATUS_OK && list.count == 0) {
        Quote q = quote(group == NULL ? "" : group);
        status = tdl_fail(host, TDL_STATUS_BAD_INPUT, "%s: has no faces%s%s", name,
                          group == NULL ? "" : " in a group ", group == NULL ? "" : q.text);
    }
    *out = (ObjFaces){file.vertices, file.vertex_count, list.corners, list.lines, list.count};
    if (status == TDL_STATUS_OK && group != NULL) {
        status = drop_unused(host, out);
    }
    if (status != TDL_STATUS_OK) {
        obj_free_faces(host, out);
    }
    return status;
}

void obj_free_faces(const TdlHost* host, ObjFaces* faces) {
    tdl_free(&host->mem, faces->vertices);
    tdl_free(&host->mem, faces->corners);
    tdl_free(&host->mem, faces->lines);
    *faces = (ObjFaces){0};
}
