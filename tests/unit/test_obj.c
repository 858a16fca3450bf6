// Meshes from .obj files: what is right is read, whatever is wrong gets one message with its line.
#include "formats/obj.h"

#include "capture.h"
#include "test.h"

static TdlStatus parse(Capture* heard, const char* text, TdlMesh* out) {
    TdlHost host = capture_host(heard);
    return obj_parse_mesh(&host, "file", text, strlen(text), out);
}

static void release(TdlMesh* mesh) {
    TdlHost host = tdl_host_default();
    obj_free_mesh(&host, mesh);
}

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

TEST(faces_are_cut_into_triangles) {
    Capture heard;
    TdlMesh m;
    REQUIRE(parse(&heard, "# a square\nmtllib x\no thing\n" SQUARE "vn 0 0 1\nf 1/1/1 2//1 3 4/2\n",
                  &m) == TDL_STATUS_OK);
    const int want[6] = {0, 1, 2, 0, 2, 3};
    CHECK_INT(m.vertex_count, 4);
    REQUIRE(m.triangle_count == 2);
    for (int i = 0; i < 6; ++i) {
        CHECK_INT(m.triangles[i], want[i]);
    }
    CHECK_NEAR3(m.vertices[2], ((TdlVec3){1, 1, 0}), 0.0);
    release(&m);
    // counted from the end, vertices after the face, colours behind places, no line feed at the end
    REQUIRE(parse(&heard, SQUARE "f -4 -3 -2\r\nv 0 0 2 1 1 1\nf 1 2 -1", &m) == TDL_STATUS_OK);
    REQUIRE(m.triangle_count == 2);
    CHECK(m.triangles[0] == 0 && m.triangles[2] == 2 && m.triangles[5] == 4);
    release(&m);
}

static void refuse(const char* text, const char* message) {
    Capture heard;
    TdlMesh m;
    TdlStatus status = parse(&heard, text, &m);
    CHECK_INT(status, TDL_STATUS_BAD_INPUT);
    CHECK_INT(heard.errors, 1);
    CHECK_TEXT(heard.text, message);
    CHECK(m.vertices == NULL && m.triangles == NULL);
    release(&m);
}

TEST(what_is_wrong_is_told_with_its_line) {
    refuse("", "file: has no faces");
    refuse(SQUARE "l 1 2\n", "file: has no faces");
    refuse(SQUARE "f 1 2\n", "file:5: a face has three corners or more");
    refuse(SQUARE "f\n", "file:5: a face has three corners or more");
    refuse(SQUARE "f 1 2 5\n", "file:5: a face names vertex 5, which is not there: 4 came before");
    refuse(SQUARE "f 1 2 0\n", "file:5: a face names vertex 0, which is not there: 4 came before");
    refuse(SQUARE "\nf 1 2 -5\n",
           "file:6: a face names vertex -5, which is not there: 4 came before");
    refuse(SQUARE "f 1 2 x\n", "file:5: 'x' is not a number");
    refuse(SQUARE "f 1 2 2\n", "file:5: a triangle has no area");
    refuse(SQUARE "v 2 0 0\nf 1 2 5\n", "file:6: a triangle has no area");
    refuse(SQUARE "v 0.9 0.1 0\nf 1 2 3 4\nf 3 5 2 1\n",
           "file:7: a face is not convex: cut it into triangles");
    refuse("v 1 2\n", "file:1: a vertex has three numbers");
    refuse("v 1 2 1e10\n", "file:1: a vertex is too far away");
    refuse("v 1 2 nan\n", "file:1: 'nan' is not a number");
}

// --- faces as they are ---------------------------------------------------------------------------

TEST(quads_and_triangles_are_kept) {
    Capture heard;
    TdlHost host = capture_host(&heard);
    ObjFaces faces;
    static const char TEXT[] = SQUARE "v 2 0 0\n\nf 1/1/1 2//1 3 4/2\nf -4 5 -3\n";
    REQUIRE(obj_parse_faces(&host, "file", TEXT, strlen(TEXT), NULL, &faces) == TDL_STATUS_OK);
    const int want[8] = {0, 1, 2, 3, 1, 4, 2, -1};
    CHECK_INT(faces.vertex_count, 5);
    REQUIRE(faces.face_count == 2);
    for (int i = 0; i < 8; ++i) {
        CHECK_INT(faces.corners[i], want[i]);
    }
    CHECK(faces.lines[0] == 7 && faces.lines[1] == 8);
    CHECK_NEAR3(faces.vertices[4], ((TdlVec3){2, 0, 0}), 0.0);
    obj_free_faces(&host, &faces);
    CHECK(faces.vertices == NULL && faces.corners == NULL && faces.lines == NULL);
}

TEST(faces_that_no_cloth_has_are_told_with_their_line) {
    static const struct {
        const char *text, *message;
    } BAD[] = {
        {"", "file: has no faces"},
        {SQUARE "f 1 2\n", "file:5: a face of cloth has three or four corners"},
        {SQUARE "v 2 2 2\nf 1 2 3 4 5\n",
         "file:6: a face of cloth has three or four corners: cut it into these"},
        {SQUARE "f 1 2 7\n", "file:5: a face names vertex 7, which is not there: 4 came before"},
        {SQUARE "f 1 2 x\n", "file:5: 'x' is not a number"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; ++i) {
        Capture heard;
        TdlHost host = capture_host(&heard);
        ObjFaces faces;
        CHECK_INT(obj_parse_faces(&host, "file", BAD[i].text, strlen(BAD[i].text), NULL, &faces),
                  TDL_STATUS_BAD_INPUT);
        CHECK_INT(heard.errors, 1);
        CHECK_TEXT(heard.text, BAD[i].message);
        CHECK(faces.vertices == NULL && faces.corners == NULL && faces.lines == NULL);
    }
}

TEST(memory_for_faces_may_end_anywhere) {
    for (long fail_at = 1;; ++fail_at) {
        Capture heard;
        FailingMemory memory = {.fail_at = fail_at};
        TdlHost host = capture_host(&heard);
        host.mem = (TdlAllocator){failing_resize, &memory};
        ObjFaces faces;
        static const char TEXT[] = SQUARE "f 1 2 3 4\n";
        TdlStatus status = obj_parse_faces(&host, "file", TEXT, strlen(TEXT), NULL, &faces);
        bool failed = memory.calls >= fail_at;
        CHECK_INT(status, failed ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK);
        obj_free_faces(&host, &faces);
        CHECK_INT(memory.live, 0);
        if (!failed) {
            break;
        }
    }
}
