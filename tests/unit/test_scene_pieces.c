// Rods that have their first shape from pieces, and tubes, in scene files.
#include "scene/scene.h"

#include "capture.h"
#include "ref/scene_text.h"
#include "result/result.h"
#include "test.h"

#define PIECES(count, pieces)                                                                      \
    TIME HAIR "rods: [{name: r, material: hair, length: 0.4, radius: 5e-5, elements: " count       \
              ", pieces: " pieces "}]\n"
#define TUBE(keys) TIME HAIR ROD "colliders: [{name: t, shape: curves, radius: 0.02, " keys "}]\n"

static TdlStatus load(const char* text, Capture* capture, TdlScene** out) {
    TdlHost host = capture_host(capture);
    return scene_load_text(&host, "s", text, strlen(text), NULL, 0, out);
}

static void check_fails(const char* text, const char* message) {
    Capture capture;
    TdlScene* scene;
    CHECK_INT(load(text, &capture, &scene), TDL_STATUS_BAD_INPUT);
    CHECK_INT(capture.errors, 1);
    CHECK_TEXT(capture.first, message);
}

// Joints of pieces within elements and between them; beyond the last it is straight.
TEST(every_element_has_the_mean_of_its_pieces) {
    static const char TEXT[] =
        PIECES("4", "[{length: 0.05}, {length: 0.1, curvature: [1, 2, 0]}, "
                    "{length: 0.05, curvature: [0, 0, -8]}, {length: 0.15, curvature: [0, 4, 0]}]");
    static const TdlVec3 MEAN[4] = {
        {0.5, 1.0, 0.0}, {0.5, 1.0, -4.0}, {0.0, 4.0, 0.0}, {0.0, 2.0, 0.0}};
    Capture capture;
    TdlScene* scene;
    REQUIRE(load(TEXT, &capture, &scene) == TDL_STATUS_OK);
    const RodSpec* rod = scene->spec.rods.items;
    REQUIRE(rod->curvature.each && rod->curvature.count == 4);
    for (int i = 0; i < 4; ++i) {
        CHECK_NEAR3(rod->curvature.items[i], MEAN[i], 1.0e-14); // sums of decimals
    }
    tdl_scene_destroy(scene);
}

TEST(mistakes_in_pieces_are_told_at_their_place) {
    check_fails(PIECES("4", "[{length: 0.3}, {length: 0.11}]"),
                "s:3:107: the pieces are longer than the rod, 0.4 m");
    check_fails(PIECES("4", "[{length: 0.3, curvature: [0, 0, 4000]}]"),
                "s:3:108: a piece of 0.3 m would turn by 1.2e+03 rad, at most 1000");
    check_fails(PIECES("4", "[{length: 0.3}], curvature: [0, 0, 1]"),
                "s:3:99: a rod of pieces has no curvature: they tell");
}

TEST(mistakes_in_tubes_are_told_at_their_place) {
    check_fails(TUBE("pieces: [{length: 1}], inner_radius: 0.02"),
                "s:5:89: inner_radius must be less than the radius, 0.02 m");
    check_fails(
        TUBE("inner_radius: 0.01, pieces: [{length: 1}, {length: 1, curvature: [0, 30, 40]}]"),
        "s:5:117: the tube would bend with a radius of 0.02 m, not above its own, 0.02 m");
    check_fails(TIME HAIR ROD
                "colliders: [{name: t, shape: sphere, radius: 1, inner_radius: 0.5}]\n",
                "s:5:49: a sphere has no inner_radius");
}

// Bars along the wall of each part, and rings about its ends.
TEST(tubes_are_shown_as_cages) {
    TdlCurvePiece pieces[2] = {{.length = 0.5}, {0.1, {0.0, 0.0, 5.0}}};
    TdlColliderDef def = tdl_collider_def_default();
    def.shape = TDL_SHAPE_CURVES;
    def.radius = 0.02;
    def.inner_radius = 0.01;
    def.pieces = pieces;
    def.piece_count = 2;
    int count = result_collider_shapes(&def, 0, NULL);
    TdlResultShape* shape = calloc((size_t)count, sizeof *shape);
    CHECK_INT(result_collider_shapes(&def, 0, shape), count);
    CHECK_INT(count, 3 * 16 + 8 * (1 + 6));
    for (int i = 0; i < count; ++i) {
        TdlVec3 p = shape[i].pose.position;
        // of the arc: about (0.5, 0.2); bars are chords, nearer to the centreline than their ends
        double away = p.x < 0.5 ? hypot(p.y, p.z) : hypot(hypot(p.x - 0.5, p.y - 0.2) - 0.2, p.z);
        CHECK_NEAR(away, 0.015, 0.02 * 0.015);
        CHECK_NEAR(shape[i].size[0], 0.005, 1.0e-15);
    }
    free(shape);
}
