// A picture of a body of any kind.
#ifndef TDL_TEST_PICTURE_H
#define TDL_TEST_PICTURE_H

#include "app/raster.h"
#include "test.h"

// Draws the curves of a body as tubes, seen along y with a point in the middle; whether something
// is drawn there, and nothing in the corner.
static inline bool picture_shows(TdlWorld* world, TdlBodyId body, TdlVec3 point) {
    enum { MOST = 100 };
    TdlCurve curve[MOST];
    int count;
    if (tdl_body_curves(world, body, MOST, curve, &count) != TDL_STATUS_OK || count > MOST) {
        return false;
    }
    Canvas* canvas = canvas_create(200, 200);
    Camera camera = camera_make(0.0, 0.0);
    camera.centre = point;
    camera.scale = 1000.0;
    Mesh mesh = {0};
    for (int i = 0; i < count; ++i) {
        TdlVec3 ends[2] = {curve[i].origin, tdl_curve_point(&curve[i], curve[i].end)};
        mesh_add_tube(&mesh, ends, 2, curve[i].radius[0], 12, true);
    }
    canvas_draw(canvas, &camera, &mesh, (Color){1.0f, 0.0f, 0.0f});
    canvas_finish(canvas);
    bool there = canvas_pixel(canvas, 100, 100)[1] < 200,
         corner = canvas_pixel(canvas, 2, 2)[1] < 255;
    mesh_destroy(&mesh);
    canvas_destroy(canvas);
    return there && !corner;
}

#endif
