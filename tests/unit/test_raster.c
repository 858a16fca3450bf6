// The rasteriser: areas, places and order are those of geometry, and a PNG holds what was drawn.
#include "app/raster.h"
#include "scratch.h"
#include "test.h"

#include <png.h>

enum { WIDTH = 240, HEIGHT = 160 };

static const Color RED = {0.9f, 0.1f, 0.1f}, BLUE = {0.1f, 0.1f, 0.9f};

static bool is_white(const Canvas* canvas, int x, int y) {
    const unsigned char* p = canvas_pixel(canvas, x, y);
    return p[0] == 255 && p[1] == 255 && p[2] == 255;
}

static bool is_red(const Canvas* canvas, int x, int y) {
    const unsigned char* p = canvas_pixel(canvas, x, y);
    return p[0] > 2 * p[2];
}

static bool is_blue(const Canvas* canvas, int x, int y) {
    const unsigned char* p = canvas_pixel(canvas, x, y);
    return p[2] > 2 * p[0];
}

// Area that is not white, with pixels at the rim counted as whole, and its centre.
static double drawn_area(const Canvas* canvas, double* cx, double* cy) {
    double sum = 0.0, x_sum = 0.0, y_sum = 0.0;
    for (int y = 0; y < HEIGHT; ++y) {
        for (int x = 0; x < WIDTH; ++x) {
            if (!is_white(canvas, x, y)) {
                sum += 1.0;
                x_sum += x + 0.5;
                y_sum += y + 0.5;
            }
        }
    }
    *cx = x_sum / sum;
    *cy = y_sum / sum;
    return sum;
}

static void draw_sphere(Canvas* canvas, const Camera* camera, TdlVec3 centre, double radius,
                        Color color) {
    Mesh mesh = {0};
    mesh_add_sphere(&mesh, centre, radius);
    CHECK(!mesh.failed);
    canvas_draw(canvas, camera, &mesh, color);
    mesh_destroy(&mesh);
}

TEST(a_sphere_is_a_disc_at_its_place_from_anywhere) {
    Canvas* canvas = canvas_create(WIDTH, HEIGHT);
    for (int trial = 0; trial < 12; ++trial) {
        Camera camera = camera_make(37.0 * trial, -90.0 + 180.0 * trial / 11.0);
        camera.scale = 100.0;
        CHECK_NEAR(tdl_norm3(camera.forward), 1.0, 1.0e-12);
        CHECK_NEAR(tdl_dot3(camera.up, camera.forward), 0.0, 1.0e-12);
        TdlVec3 centre = tdl_axpy3(tdl_scale3(0.3, camera.right), 0.2, camera.up);
        centre = tdl_axpy3(centre, 50.0, camera.forward); // however far away
        double cx, cy;
        canvas_clear(canvas);
        draw_sphere(canvas, &camera, centre, 0.4, RED);
        canvas_finish(canvas);
        // radius 40 pixels; the rim adds half its length, 2 pi 40 / 2; facets take up to 1.5 %
        double exact = 3.14159265 * 1600.0;
        CHECK_NEAR(drawn_area(canvas, &cx, &cy), exact + 126.0, 0.02 * exact);
        CHECK_NEAR(cx, 0.5 * WIDTH + 30.0, 0.5);
        CHECK_NEAR(cy, 0.5 * HEIGHT - 20.0, 0.5);
    }
    canvas_destroy(canvas);
}

// Drawn pixel by pixel, it has the colours of a mesh of it to what that is rounded by its
// triangles.
TEST(a_ball_is_a_sphere) {
    Canvas *canvas = canvas_create(WIDTH, HEIGHT), *meshed = canvas_create(WIDTH, HEIGHT);
    Camera camera = camera_make(30.0, 20.0);
    camera.scale = 100.0;
    TdlVec3 centre = tdl_axpy3(tdl_scale3(0.3, camera.right), 0.2, camera.up);
    canvas_draw_ball(canvas, &camera, centre, 0.4, RED);
    // behind it and a little to the left, it is hidden but for a crescent
    TdlVec3 behind = tdl_axpy3(tdl_axpy3(centre, 1.0, camera.forward), -0.1, camera.right);
    canvas_draw_ball(canvas, &camera, behind, 0.4, BLUE);
    canvas_finish(canvas);
    draw_sphere(meshed, &camera, centre, 0.4, RED);
    draw_sphere(meshed, &camera, behind, 0.4, BLUE);
    canvas_finish(meshed);
    int red = 0, blue = 0, worst = 0;
    for (int y = 0; y < HEIGHT; ++y) {
        for (int x = 0; x < WIDTH; ++x) {
            const unsigned char *p = canvas_pixel(canvas, x, y), *q = canvas_pixel(meshed, x, y);
            red += is_red(canvas, x, y);
            blue += is_blue(canvas, x, y);
            double away = hypot(x + 0.5 - 150.0, y + 0.5 - 60.0);
            for (int c = 0; c < 3 && away < 35.0; ++c) { // within the rim
                worst = abs(p[c] - q[c]) > worst ? abs(p[c] - q[c]) : worst;
            }
        }
    }
    printf("  %d red pixels, %d blue ones, off by %d of 255\n", red, blue, worst);
    CHECK_NEAR(red, 3.14159265 * 40.0 * 40.0, 260.0); // a pixel all round
    CHECK(blue > 300 && blue < 1200);                 // 10 wide at most and 80 high
    CHECK(worst <= 12);
    canvas_destroy(canvas);
    canvas_destroy(meshed);
}

TEST(what_is_nearer_hides_what_is_farther) {
    Canvas* canvas = canvas_create(WIDTH, HEIGHT);
    Camera camera = camera_make(0.0, 0.0); // looks along +y
    camera.scale = 100.0;
    for (int order = 0; order < 2; ++order) {
        canvas_clear(canvas);
        for (int k = 0; k < 2; ++k) {
            bool red = k == order;
            draw_sphere(canvas, &camera, (TdlVec3){0.0, red ? -1.0 : 1.0, 0.0}, red ? 0.2 : 0.4,
                        red ? RED : BLUE);
        }
        canvas_finish(canvas);
        CHECK(is_red(canvas, WIDTH / 2, HEIGHT / 2));
        CHECK(is_blue(canvas, WIDTH / 2 + 30, HEIGHT / 2));
        CHECK(is_white(canvas, WIDTH / 2 + 45, HEIGHT / 2));
    }
    // light comes from above on the left
    const unsigned char* lit = canvas_pixel(canvas, WIDTH / 2 - 20, HEIGHT / 2 - 25);
    const unsigned char* dark = canvas_pixel(canvas, WIDTH / 2 + 20, HEIGHT / 2 + 25);
    CHECK(lit[2] > dark[2] + 20);
    canvas_destroy(canvas);
}

// Neighbouring triangles share no pixel and leave no gap: a box covers its rectangle exactly.
TEST(a_box_covers_its_outline) {
    Canvas* canvas = canvas_create(WIDTH, HEIGHT);
    Camera camera = camera_make(0.0, 0.0);
    camera.scale = 50.0;
    Mesh mesh = {0};
    mesh_add_box(&mesh, (TdlVec3){0}, (TdlVec3){1, 0, 0}, (TdlVec3){0, 0.3, 0},
                 (TdlVec3){0, 0, -0.5}); // left-handed on purpose
    canvas_draw(canvas, &camera, &mesh, RED);
    canvas_finish(canvas);
    double cx, cy;
    CHECK_NEAR(drawn_area(canvas, &cx, &cy), 100.0 * 50.0, 0.0);
    CHECK_NEAR(cx, 0.5 * WIDTH, 0.0);
    CHECK_NEAR(cy, 0.5 * HEIGHT, 0.0);
    for (int x = 0; x < WIDTH; ++x) {
        CHECK(is_white(canvas, x, HEIGHT / 2) == (x < 70 || x >= 170));
    }
    mesh_destroy(&mesh);
    canvas_destroy(canvas);
}

// A square from above and from below covers the same pixels; what is no sheet has no back.
TEST(a_sheet_is_seen_from_both_sides) {
    static const TdlVec3 corners[4] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
    static const int triangles[6] = {0, 1, 2, 0, 2, 3};
    const TdlMesh square = {corners, 4, triangles, 2};
    Mesh mesh = {0};
    mesh_add_sheet(&mesh, &square);
    double area[2][2], cx, cy;
    unsigned char red[2];
    for (int below = 0; below < 2; ++below) {
        Camera camera = camera_make(0.0, below ? -90.0 : 90.0);
        camera.scale = 30.0;
        for (int sheet = 0; sheet < 2; ++sheet) {
            Canvas* canvas = canvas_create(WIDTH, HEIGHT);
            (sheet ? canvas_draw_sheet : canvas_draw)(canvas, &camera, &mesh, RED);
            canvas_finish(canvas);
            area[below][sheet] = drawn_area(canvas, &cx, &cy);
            red[below] = canvas_pixel(canvas, WIDTH / 2, HEIGHT / 2)[0];
            canvas_destroy(canvas);
        }
    }
    CHECK_NEAR(area[0][1], 60.0 * 60.0, 0.0);
    CHECK_NEAR(area[1][1], 60.0 * 60.0, 0.0);
    CHECK_NEAR(area[0][0], 60.0 * 60.0, 0.0);
    CHECK_NEAR(area[1][0], 0.0, 0.0);
    CHECK(red[1] < red[0] - 10); // the back is darker
    mesh_destroy(&mesh);
}

TEST(far_outside_and_degenerate_meshes_do_no_harm) {
    Canvas* canvas = canvas_create(WIDTH, HEIGHT);
    Camera camera = camera_make(20.0, 15.0);
    camera.scale = 100.0;
    Mesh mesh = {0};
    TdlVec3 same[] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, back[] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 0}};
    mesh_add_tube(&mesh, same, 3, 0.1, 8, true);
    mesh_add_tube(&mesh, back, 3, 0.1, 8, false);
    mesh_add_tube(&mesh, same, 0, 0.1, 8, false);
    mesh_add_sphere(&mesh, (TdlVec3){1.0e9, -1.0e9, 3.0e8}, 1.0e8);
    mesh_add_sphere(&mesh, (TdlVec3){0}, 1.0e9); // around everything
    mesh_add_disc(&mesh, (TdlVec3){0}, (TdlVec3){0}, 0.1);
    mesh_add_torus(&mesh, (TdlVec3){0}, (TdlVec3){0, 0, 1}, 0.5, 0.1);
    for (int i = 0; i < mesh.point_count; ++i) {
        CHECK(tdl_finite3(mesh.points[i]) && fabs(tdl_norm3(mesh.normals[i]) - 1.0) < 1.0e-9);
    }
    canvas_draw(canvas, &camera, &mesh, BLUE);
    canvas_finish(canvas);
    CHECK(!is_white(canvas, 0, 0));
    mesh_destroy(&mesh);
    canvas_destroy(canvas);
}

TEST(a_png_holds_what_was_drawn) {
    Scratch scratch = scratch_make();
    Canvas *canvas = canvas_create(WIDTH, HEIGHT), *sheet = canvas_create(WIDTH + 10, HEIGHT + 10);
    Camera camera = camera_make(20.0, 15.0);
    camera.scale = 60.0;
    draw_sphere(canvas, &camera, (TdlVec3){0}, 1.0, RED);
    canvas_finish(canvas);
    canvas_text(canvas, 4, HEIGHT - 4, 2, "t = 1.5e-3 s");
    canvas_text(canvas, -300, -5, 2, "t = 1.5e-3 s"); // outside
    CHECK(!is_white(canvas, 4 + 4, HEIGHT - 6));
    canvas_paste(sheet, canvas, 10, 5);
    CHECK(canvas_write_png(sheet, scratch_path(&scratch, "a.png")));
    png_image image = {.version = PNG_IMAGE_VERSION};
    REQUIRE(png_image_begin_read_from_file(&image, scratch_path(&scratch, "a.png")));
    CHECK(image.width == WIDTH + 10 && image.height == HEIGHT + 10);
    image.format = PNG_FORMAT_RGB;
    unsigned char* read = malloc(PNG_IMAGE_SIZE(image));
    REQUIRE(png_image_finish_read(&image, NULL, read, 0, NULL));
    for (int y = 0; y < HEIGHT; ++y) {
        CHECK(memcmp(read + 3 * ((size_t)(y + 5) * (WIDTH + 10) + 10), canvas_pixel(canvas, 0, y),
                     3 * WIDTH) == 0);
    }
    free(read);
    CHECK(!canvas_write_png(sheet, scratch_path(&scratch, "no/a.png")));
    canvas_destroy(canvas);
    canvas_destroy(sheet);
    scratch_remove(&scratch);
}
