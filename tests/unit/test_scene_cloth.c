// Cloth in scene files: what is written becomes a sheet of the world, and each mistake is told
// once, at its place.
#include "scene/scene.h"

#include "capture.h"
#include "look.h"
#include "scratch.h"
#include "test.h"

#define TIME "time: {end: 1}\n"
#define CLOTH "cloths:\n  - name: towel\n"
#define SHEET CLOTH "    rectangle: {size: [0.4, 0.6], nodes: [3, 4]}\n"
#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

static TdlStatus load(Capture* capture, const char* text, const char* const* set, int set_count,
                      TdlScene** out) {
    TdlHost host = capture_host(capture);
    return scene_load_text(&host, "s", text, strlen(text), set, set_count, out);
}

static TdlScene* load_well(const char* text) {
    Capture capture;
    TdlScene* scene;
    if (load(&capture, text, NULL, 0, &scene) != TDL_STATUS_OK) {
        FAIL("%s", capture.text);
    }
    return scene;
}

// The definition of the first cloth, with its arrays in the scene's memory.
static TdlClothDef def_of(TdlScene* scene) {
    TdlClothDef def = {0};
    CHECK_INT(scene_make_cloth(scene, scene->spec.cloths.items, &scene->arena, &def),
              TDL_STATUS_OK);
    return def;
}

TEST(the_least_cloth_has_the_defaults_of_the_library) {
    TdlScene* scene = load_well(TIME SHEET);
    REQUIRE(scene != NULL);
    TdlClothDef def = def_of(scene), plain = tdl_cloth_def_default();
    CHECK(def.density == plain.density && def.weight == plain.weight);
    CHECK(def.damping == plain.damping && def.stretch == plain.stretch);
    CHECK(def.bending == plain.bending && def.bending_damping == plain.bending_damping);
    CHECK(def.drag == plain.drag && def.thickness == plain.thickness && def.self == plain.self);
    CHECK_NEAR3(def.velocity, plain.velocity, 0.0);
    CHECK_INT(def.material, plain.material);
    CHECK(def.rest == NULL && def.hold_count == 0);
    CHECK_INT(def.mesh.vertex_count, 12);
    CHECK_INT(def.mesh.face_count, 6);
    TdlSceneInfo info = tdl_scene_info(scene);
    CHECK_INT(info.cloth_count, 1);
    CHECK_INT(info.cloth_vertex_count, 12);
    TdlSceneCloth cloth = tdl_scene_cloth(scene, 0);
    CHECK_TEXT(cloth.name, "towel");
    CHECK(cloth.material == NULL && cloth.held_count == 0 && cloth.hold_of[11] == -1);
    CHECK_NEAR(cloth.area, 0.24, 1e-15); // a few roundings
    CHECK_NEAR(cloth.mass, 0.036, 1e-15);
    tdl_scene_destroy(scene);
}

TEST(a_cloth_is_where_and_what_it_is_told) {
    TdlScene* scene = load_well(
        TIME "materials: [{name: other}, {name: wool}]\n" SHEET
             "    position: [1, 2, 3]\n    direction: [0, 0, 2]\n    normal: [0, -1, 0]\n"
             "    density: 0.3\n    weight: 0.2\n    damping: 0.4\n    stretch: 2e4\n"
             "    bending: 3e-5\n    bending_damping: 0.05\n    drag: 0.6\n    thickness: 2e-3\n"
             "    self: false\n    velocity: [4, 5, 6]\n    material: wool\n");
    REQUIRE(scene != NULL);
    TdlClothDef def = def_of(scene);
    CHECK(def.density == 0.3 && def.weight == 0.2 && def.damping == 0.4 && def.stretch == 2e4);
    CHECK(def.bending == 3e-5 && def.bending_damping == 0.05 && def.drag == 0.6);
    CHECK(def.thickness == 2e-3 && !def.self && def.velocity.y == 5.0);
    CHECK_INT(def.material, 2);
    // first axis up, third against y, so the second is against x: (-0.2, -0.3) to (0.2, 0.3)
    CHECK_NEAR3(def.mesh.vertices[0], ((TdlVec3){1.0 + 0.3, 2.0, 3.0 - 0.2}), 1e-15);
    CHECK_NEAR3(def.mesh.vertices[11], ((TdlVec3){1.0 - 0.3, 2.0, 3.0 + 0.2}), 1e-15);
    TdlWorld* world;
    REQUIRE(tdl_scene_build(scene, 1, &world) == TDL_STATUS_OK);
    TdlBodyId id = tdl_world_body(world, "cloth", 0);
    TdlVec3 places[12], velocities[12];
    REQUIRE(tdl_cloth_state(world, id, places, velocities) == TDL_STATUS_OK);
    CHECK_NEAR3(places[11], def.mesh.vertices[11], 0.0);
    CHECK_NEAR3(velocities[4], ((TdlVec3){4, 5, 6}), 0.0);
    char name[TDL_BODY_NAME_SIZE];
    tdl_body_name(world, id, name);
    CHECK(strstr(name, "towel") != NULL);
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
}

TEST(holds_find_their_vertices) {
    // 3 columns, 4 rows: 0 1 2 at the bottom, 9 10 11 at the top
    TdlScene* scene = load_well(
        TIME SHEET "    position: [0, 0, 1]\n    holds:\n"
                   "      - {corners: [top-right, bottom-left]}\n"
                   "      - {vertices: [4, 1]}\n"
                   "      - near: [-0.19, 0.28, 7]\n"
                   "        motion: {interpolation: linear, keyframes: [{time: 0}, {time: 2, "
                   "position: [0, 0, 1], rotation: [0, 3, 0]}]}\n");
    REQUIRE(scene != NULL);
    TdlClothDef def = def_of(scene);
    REQUIRE(def.hold_count == 3);
    REQUIRE(def.holds[0].count == 2 && def.holds[1].count == 2 && def.holds[2].count == 1);
    CHECK(def.holds[0].vertices[0] == 11 && def.holds[0].vertices[1] == 0);
    CHECK(def.holds[1].vertices[0] == 4 && def.holds[1].vertices[1] == 1);
    CHECK_INT(def.holds[2].vertices[0], 9);
    CHECK_INT(def.holds[0].motion.key_count, 0);
    REQUIRE(def.holds[2].motion.key_count == 2);
    CHECK(def.holds[2].motion.keys[1].position.z == 1.0);
    CHECK(def.holds[2].motion.keys[1].rotation.y == 3.0);
    CHECK_INT(def.holds[2].motion.interpolation, TDL_INTERPOLATION_LINEAR);
    TdlSceneCloth cloth = tdl_scene_cloth(scene, 0);
    const int want[12] = {0, 1, -1, -1, 1, -1, -1, -1, -1, 2, -1, 0};
    CHECK_INT(cloth.held_count, 5);
    CHECK(memcmp(cloth.hold_of, want, sizeof want) == 0);
    tdl_scene_destroy(scene);

    static const struct {
        const char* edge;
        int count, first, last;
    } EDGES[] = {{"left", 4, 0, 9}, {"right", 4, 2, 11}, {"bottom", 3, 0, 2}, {"top", 3, 9, 11}};
    for (int i = 0; i < 4; ++i) {
        char text[512];
        snprintf(text, sizeof text, TIME SHEET "    holds: [{edge: %s}]\n", EDGES[i].edge);
        scene = load_well(text);
        REQUIRE(scene != NULL);
        def = def_of(scene);
        REQUIRE(def.hold_count == 1 && def.holds[0].count == EDGES[i].count);
        CHECK_INT(def.holds[0].vertices[0], EDGES[i].first);
        CHECK_INT(def.holds[0].vertices[EDGES[i].count - 1], EDGES[i].last);
        tdl_scene_destroy(scene);
    }
}

TEST(overrides_reach_cloth) {
    static const char* const SET[] = {"cloths.towel.rectangle.nodes=[5, 6]", "cloths.0.stretch=3",
                                      "cloths.towel.holds.0.edge=left"};
    Capture capture;
    TdlScene* scene;
    REQUIRE(load(&capture, TIME SHEET "    holds: [{edge: top}]\n", SET, 3, &scene) ==
            TDL_STATUS_OK);
    TdlClothDef def = def_of(scene);
    CHECK(def.stretch == 3.0 && def.mesh.vertex_count == 30);
    CHECK(def.holds[0].count == 6 && def.holds[0].vertices[1] == 5);
    tdl_scene_destroy(scene);
}

static void check_fails(const char* text, const char* message) {
    Capture capture;
    TdlScene* scene;
    CHECK_INT(load(&capture, text, NULL, 0, &scene), TDL_STATUS_BAD_INPUT);
    CHECK(scene == NULL);
    CHECK_INT(capture.errors, 1);
    CHECK_TEXT(capture.first, message);
}

TEST(each_mistake_of_cloth_is_told_at_its_place) {
    check_fails(
        TIME CLOTH,
        "s:3:5: the cloth needs one of the keys 'rectangle', 'tube', 'shorts', 'mesh', 'pieces'");
    check_fails(TIME SHEET "    mesh: {file: x.obj}\n",
                "s:5:5: a cloth is a rectangle or a mesh, not both");
    check_fails(TIME CLOTH "    mesh: {file: x.obj}\n", "s:4:18: only a file can name another");
    check_fails(TIME CLOTH "    mesh: {file: x.stl}\n", "s:4:18: meshes come from .obj files");
    check_fails(TIME CLOTH "    rectangle: {size: [1, 0], nodes: [3, 3]}\n",
                "s:4:27: size must be in [1e-9, 1e9] m, not 0");
    check_fails(TIME CLOTH "    rectangle: {size: [1, nan], nodes: [3, 3]}\n",
                "s:4:27: size takes a number here, not the text 'nan'");
    check_fails(TIME CLOTH "    rectangle: {size: 1, nodes: [1, 3]}\n",
                "s:4:34: nodes must be in [2, 100000], not 1");
    check_fails(TIME CLOTH "    rectangle: {size: 1, nodes: [3]}\n",
                "s:4:33: nodes must be a list of 2 whole numbers, not a list of 1");
    check_fails(TIME CLOTH "    rectangle: {size: 1}\n",
                "s:4:16: the rectangle needs the key 'nodes'");
    check_fails(TIME CLOTH "    rectangle: {size: 1, nodes: [100000, 100000]}\n",
                "s:4:33: 10000000000 vertices of 'towel' bring the scene above 4000000 vertices of "
                "cloth");
    check_fails(TIME SHEET "    isometry: S3\n",
                "s:5:15: isometry must be one of edges|s3, not 'S3'; did you mean 's3'?");
    check_fails(TIME SHEET "    density: 0\n",
                "s:5:14: density must be in [1e-9, 1e9] kg/m^2, not 0");
    check_fails(TIME SHEET "    stretch: -1\n",
                "s:5:14: stretch must be in [1e-6, 1e12] N/m, not -1");
    check_fails(TIME SHEET "    thickness: 0\n",
                "s:5:16: thickness must be in [1e-12, 1e6] m, not 0");
    check_fails(TIME SHEET "    wieght: 0\n",
                "s:5:5: unknown key 'wieght' in the cloth; did you mean 'weight'?");
    check_fails(TIME SHEET "    material: wool\n", "s:5:15: no material is named 'wool'");
    check_fails(TIME SHEET "    direction: [0, 0, 1]\n    normal: [0, 0, 2]\n",
                "s:6:13: normal must not lie along direction");
    check_fails(TIME SHEET "  - {name: towel, rectangle: {size: 1, nodes: [2, 2]}}\n",
                "s:5:12: the name 'towel' is already taken");
}

#define HOLD SHEET "    holds:\n      - "

TEST(each_mistake_of_holds_is_told_at_its_place) {
    check_fails(
        TIME HOLD "{motion: {keyframes: [{time: 0}]}}\n",
        "s:6:9: the hold needs one of the keys 'vertices', 'corners', 'edge', 'rim', 'near'");
    check_fails(TIME HOLD "{edge: left, near: [0, 0, 0]}\n",
                "s:6:22: a hold has one of these: edge and near are two holds");
    check_fails(TIME HOLD "{vertices: [3, 12]}\n",
                "s:6:24: there is no vertex 12: 'towel' has 12, counted from 0");
    check_fails(TIME HOLD "{vertices: [3, -1]}\n",
                "s:6:24: vertices must be in [0, 2147483647], not -1");
    check_fails(TIME HOLD "{vertices: []}\n", "s:6:20: vertices is empty");
    check_fails(TIME HOLD "{vertices: [3, 3]}\n", "s:6:24: vertex 3 of 'towel' is held twice");
    check_fails(TIME HOLD "{edge: left}\n      - {corners: [top-right, top-left]}\n",
                "s:7:31: vertex 9 of 'towel' is held twice");
    check_fails(TIME HOLD "{edge: left}\n      - {near: [-0.2, -0.3, 0]}\n",
                "s:7:16: vertex 0 of 'towel' is held twice");
    check_fails(TIME HOLD "{edge: middle}\n",
                "s:6:16: edge must be one of left|right|bottom|top, not 'middle'");
    check_fails(TIME HOLD "{corners: [top]}\n",
                "s:6:20: corners must be one of bottom-left|bottom-right|top-left|top-right, not "
                "'top'");
    check_fails(TIME HOLD "{edge: left, motion: {keyframes: [{time: 1}, {time: 1}]}}\n",
                "s:6:61: the times of keyframes must grow: 1 is not after 1");
}

// --- meshes of files -----------------------------------------------------------------------------

static void put(const Scratch* s, const char* name, const char* text) {
    FILE* out = fopen(scratch_path(s, name), "w");
    fputs(text, out);
    fclose(out);
}

static TdlStatus load_file(const Scratch* s, Capture* capture, TdlScene** out) {
    TdlHost host = capture_host(capture);
    return tdl_scene_load(&host, scratch_path(s, "scene.yaml"), NULL, 0, out);
}

TEST(a_mesh_comes_with_its_quads_and_its_rest_shape) {
    Scratch s = scratch_make();
    put(&s, "cloth.obj", SQUARE "v 2 0 0\nf 1 2 3 4\nf 2 5 3\n");
    put(&s, "rest.obj", "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nv 4 0 0\nf 1 2 3\n");
    put(&s, "scene.yaml",
        TIME CLOTH "    mesh: {file: cloth.obj, scale: 0.5, up: y}\n"
                   "    rest: {file: rest.obj}\n    position: [1, 0, 0]\n");
    Capture capture;
    TdlScene *scene, *again;
    REQUIRE(load_file(&s, &capture, &scene) == TDL_STATUS_OK);
    TdlClothDef def = def_of(scene);
    const int want[8] = {0, 1, 2, 3, 1, 4, 2, -1};
    REQUIRE(def.mesh.vertex_count == 5 && def.mesh.face_count == 2 && def.rest != NULL);
    CHECK(memcmp(def.mesh.faces, want, sizeof want) == 0);
    CHECK_NEAR3(def.mesh.vertices[2], ((TdlVec3){1.5, 0, 0.5}), 1e-15); // y of the file is up
    CHECK_NEAR3(def.rest[4], ((TdlVec3){4, 0, 0}), 0.0);                // not placed
    CHECK_NEAR(tdl_scene_cloth(scene, 0).area, 6.0, 1e-14);
    // the copy of a run names the file where it is, with its hash
    REQUIRE(tdl_scene_write(scene, scratch_path(&s, "copy.yaml")) == TDL_STATUS_OK);
    TdlHost host = capture_host(&capture);
    REQUIRE(tdl_scene_load(&host, scratch_path(&s, "copy.yaml"), NULL, 0, &again) == TDL_STATUS_OK);
    tdl_scene_destroy(again);
    put(&s, "rest.obj", "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nv 5 0 0\nf 1 2 3\n");
    host = capture_host(&capture);
    CHECK(tdl_scene_load(&host, scratch_path(&s, "copy.yaml"), NULL, 0, &again) ==
          TDL_STATUS_BAD_INPUT);
    CHECK(
        strstr(capture.first, "the file of the rest shape is not the one of this scene any more"));
    tdl_scene_destroy(scene);
    scratch_remove(&s);
}

static void check_file_fails(const char* mesh, const char* rest, const char* more,
                             const char* message) {
    Scratch s = scratch_make();
    put(&s, "cloth.obj", mesh);
    put(&s, "rest.obj", rest);
    char text[512];
    snprintf(text, sizeof text, TIME CLOTH "    mesh: {file: cloth.obj}\n%s", more);
    put(&s, "scene.yaml", text);
    Capture capture;
    TdlScene* scene;
    CHECK_INT(load_file(&s, &capture, &scene), TDL_STATUS_BAD_INPUT);
    CHECK_INT(capture.errors, 1);
    if (strstr(capture.first, message) == NULL) {
        FAIL("%s", capture.first);
    }
    scratch_remove(&s);
}

// Two pieces of one file by their groups, one of which is counted from the end.
TEST(groups_of_a_file_are_pieces) {
    Scratch s = scratch_make();
    put(&s, "cloth.obj",
        SQUARE "g front left\nf 1 2 3 4\n" SQUARE "v 9 9 9\ng back\nf -5 -4 -3 -2\n");
    put(&s, "scene.yaml",
        TIME CLOTH "    pieces:\n"
                   "      - {mesh: {file: cloth.obj, group: left}}\n"
                   "      - {mesh: {file: cloth.obj, group: back}, position: [1, 0, 0]}\n"
                   "    seams: [{from: [1, 2], to: [4, 7]}]\n");
    Capture capture;
    TdlScene* scene;
    REQUIRE(load_file(&s, &capture, &scene) == TDL_STATUS_OK);
    TdlClothDef def = def_of(scene);
    REQUIRE(def.mesh.vertex_count == 8 && def.mesh.face_count == 2);
    CHECK(def.mesh.faces[4] == 4 && def.mesh.faces[7] == 7);
    CHECK_NEAR3(def.mesh.vertices[6], ((TdlVec3){2, 1, 0}), 0.0);
    CHECK_INT(tdl_scene_cloth(scene, 0).vertex_count, 6);
    tdl_scene_destroy(scene);
    put(&s, "scene.yaml", TIME CLOTH "    mesh: {file: cloth.obj, group: bakc}\n");
    CHECK_INT(load_file(&s, &capture, &scene), TDL_STATUS_BAD_INPUT);
    CHECK(strstr(capture.first, "cloth.obj: has no faces in a group 'bakc'") != NULL);
    scratch_remove(&s);
}

TEST(each_mistake_of_a_mesh_is_told_with_its_face) {
    check_file_fails(SQUARE "f 1 2 3 4\nf 1 1 2\n", "", "",
                     "scene.yaml:4:18: face 1, line 6 of the file: ");
    check_file_fails(SQUARE "f 1 2 3 9\n", "", "", "cloth.obj:5: a face names vertex 9");
    check_file_fails(SQUARE "v 0 0 1\ng one\nf 1 2 3 4\nf 2 1 5\n# fin\nf 1 2 5\n", "", "",
                     "scene.yaml:4:18: face 2, line 10 of the file: more than two faces meet at an "
                     "edge");
    check_file_fails("", "", "", "cloth.obj: has no faces");
    check_file_fails(SQUARE "f 1 2 3 4\n", SQUARE "v 0 0 1\nf 1 2 3\n",
                     "    rest: {file: rest.obj}\n",
                     "scene.yaml:5:18: the rest shape has 5 vertices, the cloth 4");
    check_file_fails(SQUARE "f 1 2 3 4\n", "", "    rest: {file: gone.obj}\n",
                     "cannot be read: there is no such file");
    check_file_fails(SQUARE "f 1 2 3 4\n", "", "    holds: [{corners: [top-left]}]\n",
                     "scene.yaml:5:14: only a rectangle has corners");
    check_file_fails(SQUARE "f 1 2 3 4\n", "", "    holds: [{edge: left}]\n",
                     "scene.yaml:5:14: only a rectangle has an edge");
}

TEST(a_load_file_with_torques_is_not_of_a_cloth) {
    Scratch s = scratch_make();
    Capture capture;
    TdlScene* scene;
    put(&s, "pull.csv", "time,fx,fy,fz,tx,ty,tz\n0,0,0,1,0,0,1\n1,0,0,1,0,0,1\n");
    put(&s, "scene.yaml", TIME SHEET "    loads: [{vertex: 1, file: pull.csv}]\n");
    CHECK_INT(load_file(&s, &capture, &scene), TDL_STATUS_BAD_INPUT);
    CHECK(strstr(capture.first, "scene.yaml:5:31: the file has torques, which do nothing to a "
                                "vertex") != NULL);
    put(&s, "pull.csv", "time,fx,fy,fz\n0,0,0,1\n1,0,0,1\n");
    REQUIRE(load_file(&s, &capture, &scene) == TDL_STATUS_OK);
    tdl_scene_destroy(scene);
    scratch_remove(&s);
}

// --- tubes, shorts, pieces -----------------------------------------------------------------------

TEST(tubes_and_shorts_are_held_by_their_rims) {
    static const struct {
        const char *shape, *rim;
        int vertices, count, first;
    } RIMS[] = {
        {"tube: {radius: 0.1, length: 0.4, nodes: [6, 3]}", "bottom", 18, 6, 0},
        {"tube: {radius: 0.1, length: 0.4, nodes: [6, 3]}", "top", 18, 6, 12},
        {"shorts: {width: 0.4, depth: 0.1, rise: 0.2, legs: 0.2, spread: 0.05, nodes: [2, 3, 4]}",
         "waist", 104, 12, 0},
        {"shorts: {width: 0.4, depth: 0.1, rise: 0.2, legs: 0.2, spread: 0.05, nodes: [2, 3, 4]}",
         "right", 104, 7, 48 + 21},
        {"shorts: {width: 0.4, depth: 0.1, rise: 0.2, legs: 0.2, spread: 0.05, nodes: [2, 3, 4]}",
         "left", 104, 7, 76 + 21},
    };
    for (int i = 0; i < 5; ++i) {
        char text[512];
        snprintf(text, sizeof text,
                 TIME CLOTH "    %s\n    position: [0, 0, 5]\n"
                            "    holds: [{rim: %s}]\n",
                 RIMS[i].shape, RIMS[i].rim);
        TdlScene* scene = load_well(text);
        REQUIRE(scene != NULL);
        TdlClothDef def = def_of(scene);
        CHECK_INT(def.mesh.vertex_count, RIMS[i].vertices);
        REQUIRE(def.holds[0].count == RIMS[i].count);
        CHECK_INT(def.holds[0].vertices[0], RIMS[i].first);
        double z = def.mesh.vertices[RIMS[i].first].z;
        for (int k = 0; k < RIMS[i].count; ++k) {
            CHECK_NEAR(def.mesh.vertices[def.holds[0].vertices[k]].z, z, 1.0e-15);
        }
        CHECK_NEAR(z, i == 0 ? 4.8 : i == 3 || i == 4 ? 4.8 : 5.2, 1.0e-15);
        tdl_scene_destroy(scene);
    }
    check_fails(TIME SHEET "    holds: [{rim: waist}]\n",
                "s:5:19: 'towel' has no rim waist: a tube has bottom and top, shorts have waist, "
                "right and left");
    check_fails(TIME CLOTH "    tube: {radius: 0.1, length: 0.4, nodes: [2, 3]}\n",
                "s:4:45: a tube has 3 vertices around or more");
    check_fails(TIME CLOTH "    shorts: {width: 0.1, depth: 0.1, rise: 0.2, legs: 0.2, spread: 0.1,"
                           " nodes: [2, 3, 4]}\n",
                "s:4:33: shorts are less deep than wide");
}

#define PIECES                                                                                     \
    CLOTH "    pieces:\n      - {rectangle: {size: [0.4, 0.6], nodes: [3, 4]}}\n"                  \
          "      - {rectangle: {size: [0.2, 0.6], nodes: [2, 4]}, position: [0.3, 0, 0]}\n"

TEST(pieces_are_sewn) {
    TdlScene* scene = load_well(TIME PIECES "    seams: [{edges: [right, left], pieces: [0, 1]}]\n"
                                            "    holds: [{vertices: [14]}, {vertices: [13, 19]}]\n"
                                            "observe: [{hold: towel}]\n");
    REQUIRE(scene != NULL);
    TdlClothDef def = def_of(scene);
    REQUIRE(def.mesh.vertex_count == 20 && def.mesh.face_count == 9 && def.seam_count == 1);
    for (int k = 0; k < 4; ++k) {
        CHECK_INT(def.seams[0].from[k], 3 * k + 2);
        CHECK_INT(def.seams[0].to[k], 12 + 2 * k);
    }
    TdlSceneCloth cloth = tdl_scene_cloth(scene, 0);
    CHECK_INT(cloth.vertex_count, 16);
    CHECK_INT(cloth.held_count, 3);
    CHECK_NEAR(cloth.area, 0.36, 1.0e-15);
    CHECK_INT(cloth.hold_of[5], 0);  // 14 was sewn to it
    CHECK_INT(cloth.hold_of[12], 1); // 13, the first that is left of the second piece
    CHECK_INT(cloth.hold_of[15], 1);
    TdlWorld* world;
    REQUIRE(tdl_scene_build(scene, 1, &world) == TDL_STATUS_OK);
    REQUIRE(tdl_cloth_def(world, tdl_world_body(world, "cloth", 0), &def) == TDL_STATUS_OK);
    CHECK_INT(def.mesh.vertex_count, 16);
    REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    CHECK(tdl_scene_observe(scene, 0, world).z > 0.0);
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
    // by vertices, from the other end
    scene =
        load_well(TIME SHEET "    seams: [{from: [0, 3], to: [11, 8], reversed: true, within: 0, "
                             "time: 0.5}]\n");
    REQUIRE(scene != NULL);
    def = def_of(scene);
    CHECK(def.seams[0].to[0] == 8 && def.seams[0].to[1] == 11 && def.seams[0].time == 0.5);
    tdl_scene_destroy(scene);
}

TEST(each_mistake_of_seams_is_told_at_its_place) {
    check_fails(TIME SHEET "    seams: [{edges: [left, right]}]\n",
                "s:5:13: vertices 0 and 2, 0.4 m apart: two vertices are farther apart than "
                "`within`, and no `time` draws them together");
    check_fails(TIME SHEET "    seams: [{edges: [left, top], time: 1}]\n",
                "s:5:21: the edges have 4 and 3 vertices");
    check_fails(TIME SHEET "    seams: [{edges: [left], time: 1}]\n",
                "s:5:21: a seam joins two edges");
    check_fails(TIME SHEET "    seams: [{edges: [left, right], pieces: [0, 1], time: 1}]\n",
                "s:5:21: there is no rectangle 1 in 'towel'");
    check_fails(TIME SHEET "    seams: [{from: [1], time: 1}]\n",
                "s:5:13: a seam has the key 'edges', or the keys 'from' and 'to'");
    check_fails(TIME SHEET "    seams: [{from: [1, 2], to: [3], time: 1}]\n",
                "s:5:32: 2 vertices are sewn to 1");
    check_fails(TIME SHEET "    seams: [{from: [1], to: [12], time: 1}]\n",
                "s:5:13: there is no vertex 12: 'towel' has 12, counted from 0");
    check_fails(TIME SHEET "    seams: [{from: [0], to: [1], within: 1}]\n",
                "s:5:12: seams sew two corners of a face together");
    check_fails(TIME PIECES "    rectangle: {size: 1, nodes: [2, 2]}\n",
                "s:4:5: a cloth is a rectangle or of pieces, not both");
    check_fails(TIME CLOTH "    pieces: [{position: [0, 0, 0]}]\n",
                "s:4:14: the piece needs one of the keys 'rectangle', 'tube', 'shorts', 'mesh'");
    check_fails(TIME PIECES "    seams: [{edges: [right, left], pieces: [0, 1]}]\n"
                            "    holds: [{vertices: [5]}, {vertices: [14]}]\n",
                "s:8:42: vertex 14 of 'towel' is held twice, or one that it is sewn to");
}

// --- elastic cloth -------------------------------------------------------------------------------

TEST(elastic_cloth_has_its_keys) {
    TdlScene* scene = load_well(TIME SHEET "    direction: [0, 1, 0]\n    model: elastic\n"
                                           "    stretch: 800\n    weft: 300\n    poisson: 0.5\n"
                                           "    shear: 20\n    warp: [0, 2, 0]\n");
    REQUIRE(scene != NULL);
    TdlClothDef def = def_of(scene);
    CHECK(def.model == TDL_CLOTH_ELASTIC && def.stretch == 800.0 && def.weft == 300.0);
    CHECK(def.poisson == 0.5 && def.shear == 20.0);
    CHECK_NEAR3(def.warp, ((TdlVec3){-2, 0, 0}), 1e-15); // turned with the cloth
    tdl_scene_destroy(scene);
    scene = load_well(TIME SHEET "    model: elastic\n");
    REQUIRE(scene != NULL);
    def = def_of(scene);
    CHECK(def.weft == -1.0 && def.poisson == 0.3 && def.shear == -1.0);
    tdl_scene_destroy(scene);
    check_fails(TIME SHEET "    weft: 300\n", "s:5:5: only cloth of `model: elastic` has 'weft'");
    check_fails(TIME SHEET "    model: elastic\n    poisson: 1\n",
                "s:3:5: weft must be positive, and poisson from 0 to below sqrt(stretch / weft)");
    check_fails(TIME CLOTH
                "    tube: {radius: 0.1, length: 0.4, nodes: [8, 3]}\n"
                "    model: elastic\n    warp: [0.923879532511286, 0.38268343236509, 0]\n",
                "s:3:5: the warp goes across a face: give a direction that lies along all of them");
}

// --- recorded motions ----------------------------------------------------------------------------

TEST(holds_follow_a_recording) {
    Scratch s = scratch_make();
    put(&s, "hand.csv", "time,x,y,z\n0,1,2,3\n0.5,,,\n1,1,2,4\n2,3,2,4\n");
    put(&s, "scene.yaml",
        TIME SHEET "    holds:\n"
                   "      - {edge: top, motion: {recording: {file: hand.csv, up: y, scale: 0.1}}}\n"
                   "      - {vertices: [0], motion: {interpolation: smooth, recording: {file: "
                   "hand.csv, from: origin}}}\n");
    Capture capture;
    TdlScene *scene, *again;
    REQUIRE(load_file(&s, &capture, &scene) == TDL_STATUS_OK);
    TdlClothDef def = def_of(scene);
    REQUIRE(def.hold_count == 2);
    const TdlMotionDef *first = &def.holds[0].motion, *origin = &def.holds[1].motion;
    REQUIRE(first->key_count == 3 && origin->key_count == 3); // without the gap
    CHECK(first->interpolation == TDL_INTERPOLATION_LINEAR);
    CHECK(origin->interpolation == TDL_INTERPOLATION_SMOOTH);
    CHECK(first->keys[1].time == 1.0);
    CHECK_NEAR3(first->keys[0].position, (TdlVec3){0}, 0.0);
    CHECK_NEAR3(first->keys[2].position, ((TdlVec3){0.2, -0.1, 0.0}), 1e-16); // z of the file is -y
    CHECK_NEAR3(origin->keys[2].position, ((TdlVec3){3, 2, 4}), 0.0);
    REQUIRE(tdl_scene_write(scene, scratch_path(&s, "copy.yaml")) == TDL_STATUS_OK);
    tdl_scene_destroy(scene);
    TdlHost host = capture_host(&capture);
    REQUIRE(tdl_scene_load(&host, scratch_path(&s, "copy.yaml"), NULL, 0, &again) == TDL_STATUS_OK);
    tdl_scene_destroy(again);
    put(&s, "many.csv", "time,l.x,l.y,l.z,r.x,r.y,r.z\n0,1,2,3,0,0,0\n1,1,2,4,5,6,7\n");
    put(&s, "scene.yaml",
        TIME SHEET "    holds: [{edge: top, motion: {recording: {file: many.csv, marker: r}}}]\n");
    REQUIRE(load_file(&s, &capture, &scene) == TDL_STATUS_OK);
    def = def_of(scene);
    CHECK_NEAR3(def.holds[0].motion.keys[1].position, ((TdlVec3){5, 6, 7}), 0.0);
    tdl_scene_destroy(scene);
    put(&s, "scene.yaml",
        TIME SHEET "    holds: [{edge: top, motion: {recording: {file: hand.csv}}}]\n");
    put(&s, "hand.csv", "time,x,y,z\n0,1,2,3\n0,1,2,4\n");
    CHECK_INT(load_file(&s, &capture, &scene), TDL_STATUS_BAD_INPUT);
    CHECK(strstr(capture.first, "hand.csv:3: the times of a recording must grow") != NULL);
    scratch_remove(&s);
    check_fails(TIME SHEET "    holds: [{edge: top, motion: {recording: {file: x.txt}}}]\n",
                "s:5:52: recordings come from .csv files");
    check_fails(TIME SHEET "    holds: [{edge: top, motion: {recording: {file: x.csv}, keyframes: "
                           "[{time: 0}]}}]\n",
                "s:5:33: a motion has one of: keyframes, a recording, position and rotation");
}

// --- observers -----------------------------------------------------------------------------------

TEST(cloth_is_observed) {
    TdlScene* scene = load_well(TIME SHEET "    position: [0, 0, 2]\n    holds: [{edge: top}]\n"
                                           "observe: [{force: towel}, {centre: towel}, {strain: "
                                           "towel}, {hold: towel}]\n");
    REQUIRE(scene != NULL);
    TdlWorld* world;
    REQUIRE(tdl_scene_build(scene, 1, &world) == TDL_STATUS_OK);
    CHECK_NEAR3(tdl_scene_observe(scene, 0, world), (TdlVec3){0}, 0.0);
    CHECK_NEAR3(tdl_scene_observe(scene, 1, world), ((TdlVec3){0, 0, 2}), 1e-15);
    CHECK_TEXT(tdl_scene_observer(scene, 2).name, "strain_towel");
    CHECK_TEXT(tdl_scene_observer(scene, 2).unit, "1");
    CHECK_TEXT(tdl_scene_observer(scene, 3).unit, "N");
    REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    TdlClothStrain strain;
    TdlBodyId id = tdl_world_body(world, "cloth", 0);
    REQUIRE(tdl_cloth_strain(world, id, &strain) == TDL_STATUS_OK);
    CHECK_NEAR3(tdl_scene_observe(scene, 2, world), ((TdlVec3){strain.largest, strain.area, 0.0}),
                0.0);
    TdlVec3 sum = {0}, force;
    for (int i = 9; i < 12; ++i) {
        REQUIRE(tdl_cloth_hold_force(world, id, i, &force) == TDL_STATUS_OK);
        sum = tdl_add3(sum, force);
    }
    CHECK(sum.z > 0.0);
    CHECK_NEAR3(tdl_scene_observe(scene, 3, world), sum, 0.0);
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
    check_fails(TIME SHEET "observe: [{torque: towel}]\n",
                "s:5:20: 'towel' is one of the cloths: a torque is of a rod, a body or a collider");
    check_fails(TIME SHEET "observe: [{strain: towle}]\n",
                "s:5:20: nothing is named 'towle' that has a strain, a cloth; did you mean "
                "'towel'?");
    check_fails(TIME SHEET "colliders: [{name: floor, shape: plane}]\nobserve: [{hold: floor}]\n",
                "s:6:18: 'floor' is one of the colliders: a hold is of a cloth");
}

TEST(memory_for_cloth_may_end_anywhere) {
    Scratch s = scratch_make();
    put(&s, "cloth.obj", SQUARE "f 1 2 3 4\n");
    put(&s, "scene.yaml",
        TIME SHEET "    holds: [{edge: top}]\n"
                   "  - {name: other, mesh: {file: cloth.obj}, rest: {file: cloth.obj}, position: "
                   "[5, 0, 0]}\n"
                   "  - name: sewn\n"
                   "    position: [9, 0, 0]\n"
                   "    pieces: [{mesh: {file: cloth.obj}}, {tube: {radius: 0.1, length: 0.4, "
                   "nodes: [4, 3]}, position: [0.5, 0.5, 2]}]\n"
                   "    seams: [{from: [0, 1], to: [4, 5], time: 1}]\n"
                   "    holds: [{vertices: [3]}]\n"
                   "    model: elastic\n"
                   "    warp: [0.1, 0.2, 1]\n");
    int failures = 0;
    for (long fail_at = 1;; ++fail_at) {
        Capture capture;
        FailingMemory memory = {.fail_at = fail_at};
        TdlHost host = capture_host(&capture);
        host.mem = (TdlAllocator){failing_resize, &memory};
        TdlScene* scene;
        TdlWorld* world = NULL;
        TdlStatus status = tdl_scene_load(&host, scratch_path(&s, "scene.yaml"), NULL, 0, &scene);
        if (status == TDL_STATUS_OK) {
            status = tdl_scene_build(scene, 1, &world);
        }
        bool failed = memory.calls >= fail_at;
        CHECK_INT(status, failed ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK);
        tdl_world_destroy(world);
        tdl_scene_destroy(scene);
        CHECK_INT(memory.live, 0);
        failures += failed;
        if (!failed) {
            break;
        }
    }
    CHECK(failures > 8);
    scratch_remove(&s);
}
