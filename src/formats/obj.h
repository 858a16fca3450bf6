// Wavefront .obj files: words of lines, vertices, meshes of triangles, and faces as they are.
#ifndef TDL_FORMATS_OBJ_H
#define TDL_FORMATS_OBJ_H

#include "tendril/world.h"

enum { FIELD_SIZE = 64 };
#define FIELD_BLANKS " \t\r"
#define PLACE_MAX 1.0e9 // the most that a coordinate may be

// The next word of a line that ends before `end`: separated by `separators`, put into `out`; too
// long a one is spoiled, so that it is no number. False when there is none.
bool next_word(const char** at, const char* end, const char* separators, char out[FIELD_SIZE]);

// The end of the line at `at`.
const char* line_end(const char* at, const char* end);

// A file under reading.
typedef struct ObjFile {
    const TdlHost* host;
    const char* name; // what messages call it
    int line;
    TdlVec3* vertices;
    int vertex_count, vertex_capacity;
    const char* group; // only lines under a 'g' or 'o' of this name count; null: all
    bool outside;      // of it
} ObjFile;

TdlStatus obj_not_a_number(const ObjFile* file, const char* word);

// Reads all of a file, which has a zero byte behind it: keeps its vertices, and calls `fn` with
// what follows the word `kind` on a line. The vertices are the caller's to free.
typedef TdlStatus (*ObjLineFn)(void* user, const ObjFile* file, const char* at, const char* end);
TdlStatus obj_read(ObjFile* file, const char* data, size_t size, const char* kind, ObjLineFn fn,
                   void* user);

// The next vertex that a line names, from 0; `what` is the line's thing. -1: the line is over.
TdlStatus obj_next_index(const ObjFile* file, const char** at, const char* end, const char* what,
                         int* out);

// Reads the triangles of a file, which has a zero byte behind it. Faces of more corners are cut
// into triangles about their first; they must be convex. On TDL_STATUS_BAD_INPUT one message was
// logged, with file and line. The arrays of `out` are the caller's to free.
TdlStatus obj_parse_mesh(const TdlHost* host, const char* name, const char* data, size_t size,
                         TdlMesh* out);
void obj_free_mesh(const TdlHost* host, TdlMesh* mesh);

// Faces of three or four corners as a file has them.
typedef struct ObjFaces {
    TdlVec3* vertices; // [vertex_count]
    int vertex_count;
    int* corners; // [4 face_count], from 0; the fourth of a triangle is -1
    int* lines;   // [face_count] where each stands in the file
    int face_count;
} ObjFaces;

// Reads them, or those of a group with the vertices that they have (null: all); one of more corners
// is refused, all else that a mesh may be is left to the caller. On TDL_STATUS_BAD_INPUT one
// message was logged, with file and line.
TdlStatus obj_parse_faces(const TdlHost* host, const char* name, const char* data, size_t size,
                          const char* group, ObjFaces* out);
void obj_free_faces(const TdlHost* host, ObjFaces* faces);

#endif
