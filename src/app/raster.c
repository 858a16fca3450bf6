// A small rasteriser. Triangles are drawn on a grid finer than the picture by SUPER in each
// direction; depth and normal are linear over a triangle since there is no perspective. A light
// stands above the viewer's left shoulder, and a weak one shines from below.
#include "app/raster.h"

#include "app/output.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

enum { SUPER = 3, GLYPH_WIDTH = 5, GLYPH_HEIGHT = 7 };

// How light the back of a sheet is beside its front: enough to tell them apart.
static const float BACK = 0.7f;

typedef struct Corner {
    double x, y, depth; // fine pixels from the upper left; depth in m
    TdlVec3 normal;     // along the camera's right, up and towards the eye
} Corner;

struct Canvas {
    int width, height;     // of the picture
    float* depth;          // [SUPER^2 width height], along the camera's forward
    float* light;          // [3 SUPER^2 width height], linear
    Corner* corners;       // [corner_capacity], scratch: a mesh as it is seen
    int corner_capacity;   //
    bool failed;           // memory ran out while drawing
    unsigned char* pixels; // [3 width height]
};

Camera camera_make(double azimuth, double elevation) {
    const double degree = 3.14159265358979323846 / 180.0;
    double ca = cos(azimuth * degree), sa = sin(azimuth * degree);
    double ce = cos(elevation * degree), se = sin(elevation * degree);
    Camera camera = {.right = {ca, sa, 0.0}, .up = {-sa * se, ca * se, ce}, .scale = 1.0};
    camera.forward = tdl_cross3(camera.up, camera.right);
    return camera;
}

static size_t fine_count(const Canvas* canvas) {
    return (size_t)canvas->width * (size_t)canvas->height * SUPER * SUPER;
}

Canvas* canvas_create(int width, int height) {
    Canvas* canvas = calloc(1, sizeof *canvas);
    if (canvas == NULL) {
        return NULL;
    }
    canvas->width = width;
    canvas->height = height;
    canvas->depth = malloc(fine_count(canvas) * sizeof *canvas->depth);
    canvas->light = malloc(fine_count(canvas) * 3 * sizeof *canvas->light);
    canvas->pixels = malloc((size_t)width * (size_t)height * 3);
    if (canvas->depth == NULL || canvas->light == NULL || canvas->pixels == NULL) {
        canvas_destroy(canvas);
        return NULL;
    }
    canvas_clear(canvas);
    return canvas;
}

void canvas_destroy(Canvas* canvas) {
    if (canvas != NULL) {
        free(canvas->depth);
        free(canvas->light);
        free(canvas->pixels);
        free(canvas->corners);
        free(canvas);
    }
}

void canvas_clear(Canvas* canvas) {
    size_t count = fine_count(canvas);
    for (size_t i = 0; i < count; ++i) {
        canvas->depth[i] = INFINITY;
    }
    for (size_t i = 0; i < 3 * count; ++i) {
        canvas->light[i] = 1.0f;
    }
    memset(canvas->pixels, 255, (size_t)canvas->width * (size_t)canvas->height * 3);
}

// --- triangles ------------------------------------------------------------------------------

static float linear_of(float value) {
    return powf(value, 2.2f);
}

// The colour of a face with this normal: two lights, a gleam, and what comes from everywhere.
static void shade(TdlVec3 normal, const float base[3], float out[3]) {
    const TdlVec3 key = {-0.46, 0.62, 0.635}, fill = {0.6, -0.6, 0.53}, half = {-0.25, 0.34, 0.906};
    double length = tdl_norm3(normal);
    TdlVec3 n = tdl_scale3(1.0 / (length > 0.0 ? length : 1.0), normal);
    double diffuse =
        0.32 + 0.62 * fmax(0.0, tdl_dot3(n, key)) + 0.16 * fmax(0.0, tdl_dot3(n, fill));
    double gleam = fmax(0.0, tdl_dot3(n, half));
    gleam *= gleam; // to the 32nd power
    gleam *= gleam;
    gleam *= gleam;
    gleam *= gleam;
    gleam *= gleam;
    for (int c = 0; c < 3; ++c) {
        out[c] = (float)fmin(1.0, base[c] * diffuse + 0.12 * gleam);
    }
}

// The part of the line y that lies in the triangle: empty when left > right.
static void span(const Corner v[3], double y, double* left, double* right) {
    *left = INFINITY;
    *right = -INFINITY;
    for (int k = 0; k < 3; ++k) {
        const Corner *a = &v[k], *b = &v[(k + 1) % 3];
        if ((a->y <= y) != (b->y <= y)) {
            double x = a->x + (y - a->y) / (b->y - a->y) * (b->x - a->x);
            *left = fmin(*left, x);
            *right = fmax(*right, x);
        }
    }
}

// The first pixel whose middle is not before `value`, within [0, count].
static int first_pixel(double value, int count) {
    double k = ceil(value - 0.5);
    return k <= 0.0 ? 0 : k >= count ? count : (int)k;
}

// Draws the pixels whose middles lie in the triangle, from its front only.
static void draw_triangle(Canvas* canvas, const Corner v[3], const float base[3]) {
    double ax = v[1].x - v[0].x, ay = v[1].y - v[0].y;
    double bx = v[2].x - v[0].x, by = v[2].y - v[0].y, area = ax * by - ay * bx;
    if (!(area < -1.0e-12)) { // y goes down, so counterclockwise is negative
        return;
    }
    int width = canvas->width * SUPER, height = canvas->height * SUPER;
    int y0 = first_pixel(fmin(v[0].y, fmin(v[1].y, v[2].y)), height);
    int y1 = first_pixel(fmax(v[0].y, fmax(v[1].y, v[2].y)), height);
    for (int y = y0; y < y1; ++y) {
        double left, right, dy = y + 0.5 - v[0].y;
        span(v, y + 0.5, &left, &right);
        int x1 = first_pixel(right, width);
        for (int x = first_pixel(left, width); x < x1; ++x) {
            double dx = x + 0.5 - v[0].x;
            double w1 = (dx * by - dy * bx) / area, w2 = (ax * dy - ay * dx) / area;
            double w0 = 1.0 - w1 - w2;
            size_t at = (size_t)y * (size_t)width + (size_t)x;
            float depth = (float)(w0 * v[0].depth + w1 * v[1].depth + w2 * v[2].depth);
            if (depth < canvas->depth[at]) {
                TdlVec3 normal = tdl_scale3(w0, v[0].normal);
                normal = tdl_axpy3(tdl_axpy3(normal, w1, v[1].normal), w2, v[2].normal);
                canvas->depth[at] = depth;
                shade(normal, base, canvas->light + 3 * at);
            }
        }
    }
}

static Corner project(const Canvas* canvas, const Camera* camera, TdlVec3 point, TdlVec3 normal) {
    TdlVec3 d = tdl_sub3(point, camera->centre);
    double scale = camera->scale * SUPER;
    return (Corner){
        .x = 0.5 * canvas->width * SUPER + scale * tdl_dot3(d, camera->right),
        .y = 0.5 * canvas->height * SUPER - scale * tdl_dot3(d, camera->up),
        .depth = tdl_dot3(d, camera->forward),
        .normal = {tdl_dot3(normal, camera->right), tdl_dot3(normal, camera->up),
                   -tdl_dot3(normal, camera->forward)},
    };
}

// Makes room for the corners of a mesh and puts them there.
static bool project_all(Canvas* canvas, const Camera* camera, const Mesh* mesh) {
    if (mesh->point_count > canvas->corner_capacity) {
        Corner* grown = realloc(canvas->corners, (size_t)mesh->point_count * sizeof *grown);
        if (grown == NULL) {
            canvas->failed = true;
            return false;
        }
        canvas->corners = grown;
        canvas->corner_capacity = mesh->point_count;
    }
    for (int i = 0; i < mesh->point_count; ++i) {
        canvas->corners[i] = project(canvas, camera, mesh->points[i], mesh->normals[i]);
    }
    return true;
}

void canvas_draw(Canvas* canvas, const Camera* camera, const Mesh* mesh, Color color) {
    const float base[3] = {linear_of(color.r), linear_of(color.g), linear_of(color.b)};
    int count = project_all(canvas, camera, mesh) ? mesh->triangle_count : 0;
    for (int i = 0; i < count; ++i) {
        const int* t = mesh->triangles[i];
        Corner corners[3] = {canvas->corners[t[0]], canvas->corners[t[1]], canvas->corners[t[2]]};
        if (corners[0].normal.z + corners[1].normal.z + corners[2].normal.z < 0.0) {
            for (int k = 0; k < 3; ++k) { // seen from behind
                corners[k].normal = tdl_scale3(-1.0, corners[k].normal);
            }
        }
        draw_triangle(canvas, corners, base);
    }
}

void canvas_draw_sheet(Canvas* canvas, const Camera* camera, const Mesh* mesh, Color color) {
    canvas_draw(canvas, camera, mesh, color);
    const float base[3] = {BACK * linear_of(color.r), BACK * linear_of(color.g),
                           BACK * linear_of(color.b)};
    int count = project_all(canvas, camera, mesh) ? mesh->triangle_count : 0;
    for (int i = 0; i < count; ++i) {
        const int* t = mesh->triangles[i];
        // the other way round, with the normals of the other side
        Corner corners[3] = {canvas->corners[t[0]], canvas->corners[t[2]], canvas->corners[t[1]]};
        for (int k = 0; k < 3; ++k) {
            corners[k].normal = tdl_scale3(-1.0, corners[k].normal);
        }
        draw_triangle(canvas, corners, base);
    }
}

void canvas_draw_ball(Canvas* canvas, const Camera* camera, TdlVec3 centre, double radius,
                      Color color) {
    const float base[3] = {linear_of(color.r), linear_of(color.g), linear_of(color.b)};
    int width = canvas->width * SUPER, height = canvas->height * SUPER;
    Corner at = project(canvas, camera, centre, (TdlVec3){0});
    double size = radius * camera->scale * SUPER; // fine pixels
    int x0 = first_pixel(at.x - size, width), x1 = first_pixel(at.x + size, width);
    int y1 = first_pixel(at.y + size, height);
    for (int y = first_pixel(at.y - size, height); y < y1; ++y) {
        for (int x = x0; x < x1; ++x) {
            TdlVec3 n = {(x + 0.5 - at.x) / size, (at.y - y - 0.5) / size, 0.0};
            double rest = 1.0 - n.x * n.x - n.y * n.y;
            if (rest <= 0.0) {
                continue;
            }
            n.z = sqrt(rest);
            size_t k = (size_t)y * (size_t)width + (size_t)x;
            float depth = (float)(at.depth - radius * n.z);
            if (depth < canvas->depth[k]) {
                canvas->depth[k] = depth;
                shade(n, base, canvas->light + 3 * k);
            }
        }
    }
}

void canvas_finish(Canvas* canvas) {
    for (int y = 0; y < canvas->height; ++y) {
        for (int x = 0; x < canvas->width; ++x) {
            for (int c = 0; c < 3; ++c) {
                float sum = 0.0f;
                for (int k = 0; k < SUPER * SUPER; ++k) {
                    size_t row = (size_t)(y * SUPER + k / SUPER) * (size_t)canvas->width * SUPER;
                    sum += canvas->light[3 * (row + (size_t)(x * SUPER + k % SUPER)) + (size_t)c];
                }
                float value = powf(sum / (SUPER * SUPER), 1.0f / 2.2f);
                size_t at = ((size_t)y * (size_t)canvas->width + (size_t)x) * 3 + (size_t)c;
                canvas->pixels[at] = (unsigned char)(255.0f * value + 0.5f);
            }
        }
    }
}

// --- text -----------------------------------------------------------------------------------

// A row of five dots is five bits, the highest at the left.
static const struct {
    char letter;
    unsigned char rows[GLYPH_HEIGHT];
} GLYPHS[] = {
    {'0', {14, 17, 19, 21, 25, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},
    {'2', {14, 17, 1, 2, 4, 8, 31}},     {'3', {31, 2, 4, 2, 1, 17, 14}},
    {'4', {2, 6, 10, 18, 31, 2, 2}},     {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},   {'7', {31, 1, 2, 4, 8, 8, 8}},
    {'8', {14, 17, 17, 14, 17, 17, 14}}, {'9', {14, 17, 17, 15, 1, 2, 12}},
    {'.', {0, 0, 0, 0, 0, 12, 12}},      {'-', {0, 0, 0, 31, 0, 0, 0}},
    {'+', {0, 4, 4, 31, 4, 4, 0}},       {'=', {0, 0, 31, 0, 31, 0, 0}},
    {'e', {0, 0, 14, 17, 31, 16, 14}},   {'m', {0, 0, 26, 21, 21, 21, 21}},
    {'s', {0, 0, 15, 16, 14, 1, 30}},    {'t', {8, 8, 28, 8, 8, 9, 6}},
    {'u', {0, 0, 17, 17, 17, 19, 13}},   {'a', {0, 0, 14, 1, 15, 17, 15}},
    {'b', {16, 16, 22, 25, 17, 17, 30}}, {'c', {0, 0, 14, 16, 16, 17, 14}},
    {'d', {1, 1, 13, 19, 17, 17, 15}},   {'f', {6, 9, 8, 28, 8, 8, 8}},
    {'g', {0, 15, 17, 17, 15, 1, 14}},   {'h', {16, 16, 22, 25, 17, 17, 17}},
    {'i', {4, 0, 12, 4, 4, 4, 14}},      {'j', {2, 0, 6, 2, 2, 18, 12}},
    {'k', {16, 16, 18, 20, 24, 20, 18}}, {'l', {12, 4, 4, 4, 4, 4, 14}},
    {'n', {0, 0, 22, 25, 17, 17, 17}},   {'o', {0, 0, 14, 17, 17, 17, 14}},
    {'P', {30, 17, 17, 30, 16, 16, 16}}, {'p', {0, 0, 30, 17, 30, 16, 16}},
    {'q', {0, 0, 13, 19, 15, 1, 1}},     {'r', {0, 0, 22, 25, 16, 16, 16}},
    {'v', {0, 0, 17, 17, 17, 10, 4}},    {'w', {0, 0, 17, 17, 21, 21, 10}},
    {'x', {0, 0, 17, 10, 4, 10, 17}},    {'y', {0, 0, 17, 17, 15, 1, 14}},
    {'z', {0, 0, 31, 2, 4, 8, 31}},      {'(', {2, 4, 8, 8, 8, 4, 2}},
    {')', {8, 4, 2, 2, 2, 4, 8}},        {'/', {0, 1, 2, 4, 8, 16, 0}},
    {',', {0, 0, 0, 0, 12, 4, 8}},       {':', {0, 12, 12, 0, 12, 12, 0}},
};

static const unsigned char* glyph_of(char letter) {
    for (size_t i = 0; i < sizeof GLYPHS / sizeof *GLYPHS; ++i) {
        if (GLYPHS[i].letter == letter) {
            return GLYPHS[i].rows;
        }
    }
    return NULL;
}

void canvas_bar(Canvas* canvas, int x, int y, int width, int height, Color color) {
    const float channels[3] = {color.r, color.g, color.b};
    for (int j = y < 0 ? 0 : y; j < y + height && j < canvas->height; ++j) {
        for (int i = x < 0 ? 0 : x; i < x + width && i < canvas->width; ++i) {
            for (int c = 0; c < 3; ++c) {
                size_t at = ((size_t)j * (size_t)canvas->width + (size_t)i) * 3 + (size_t)c;
                canvas->pixels[at] = (unsigned char)(255.0f * channels[c] + 0.5f);
            }
        }
    }
}

int canvas_text_width(int size, const char* text) {
    return (int)strlen(text) * (GLYPH_WIDTH + 1) * size;
}

void canvas_text(Canvas* canvas, int x, int y, int size, const char* text) {
    const Color ink = {0.2f, 0.2f, 0.2f};
    for (const char* c = text; *c != '\0'; ++c, x += (GLYPH_WIDTH + 1) * size) {
        const unsigned char* rows = glyph_of(*c);
        for (int dot = 0; rows != NULL && dot < GLYPH_WIDTH * GLYPH_HEIGHT; ++dot) {
            int i = dot % GLYPH_WIDTH, j = dot / GLYPH_WIDTH;
            if (rows[j] >> (GLYPH_WIDTH - 1 - i) & 1) {
                canvas_bar(canvas, x + i * size, y - (GLYPH_HEIGHT - j) * size, size, size, ink);
            }
        }
    }
}

void canvas_paste(Canvas* canvas, const Canvas* from, int x, int y) {
    int width = from->width < canvas->width - x ? from->width : canvas->width - x;
    for (int j = 0; j < from->height && y + j < canvas->height && width > 0; ++j) {
        memcpy(canvas->pixels + 3 * ((size_t)(y + j) * (size_t)canvas->width + (size_t)x),
               from->pixels + 3 * (size_t)j * (size_t)from->width, 3 * (size_t)width);
    }
}

const unsigned char* canvas_pixel(const Canvas* canvas, int x, int y) {
    return canvas->pixels + 3 * ((size_t)y * (size_t)canvas->width + (size_t)x);
}

// --- PNG ------------------------------------------------------------------------------------

bool canvas_write_png(const Canvas* canvas, const char* path) {
    if (canvas->failed) {
        fprintf(stderr, "%s: out of memory\n", path);
        return false;
    }
    FILE* out = output_open(path);
    if (out == NULL) {
        return false;
    }
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)canvas->width,
                       .height = (png_uint_32)canvas->height,
                       .format = PNG_FORMAT_RGB};
    bool good = png_image_write_to_stdio(&image, out, 0, canvas->pixels, 0, NULL) != 0;
    if (!good) {
        fprintf(stderr, "%s: %s\n", path, image.message);
    }
    png_image_free(&image);
    return output_close(out, good);
}
