// Pictures without a graphics card: shaded triangles with a depth buffer, smoothed by drawing
// larger and averaging, a few lines of small text, PNG.
#ifndef TDL_APP_RASTER_H
#define TDL_APP_RASTER_H

#include "app/mesh.h"

typedef struct Color {
    float r, g, b; // 0 to 1, as in a file
} Color;

// Looks from far away along `forward`: no perspective. `up` and `right` are the picture's axes.
typedef struct Camera {
    TdlVec3 right, up, forward;
    TdlVec3 centre; // what is seen in the middle
    double scale;   // pixels per m
} Camera;

// `azimuth` turns about the vertical, 0 has x to the right; `elevation` is the eye's height;
// degrees.
Camera camera_make(double azimuth, double elevation);

typedef struct Canvas Canvas;

// A white canvas of the given size in pixels; null when memory runs out.
Canvas* canvas_create(int width, int height);
void canvas_destroy(Canvas* canvas);
void canvas_clear(Canvas* canvas);

// What is closed is seen from its front only.
void canvas_draw(Canvas* canvas, const Camera* camera, const Mesh* mesh, Color color);

// A sheet is seen from both sides; its back is a little darker.
void canvas_draw_sheet(Canvas* canvas, const Camera* camera, const Mesh* mesh, Color color);

// A ball, pixel by pixel: many small ones cost little.
void canvas_draw_ball(Canvas* canvas, const Camera* camera, TdlVec3 centre, double radius,
                      Color color);

// Averages what was drawn into the picture. Text and lines go on top afterwards.
void canvas_finish(Canvas* canvas);

// Text of digits, small letters, P and . , : = - + ( ) / in a font of 5 by 7 dots of `size` pixels,
// with its lower left corner at (x, y) from the upper left of the picture; other characters are
// blank.
void canvas_text(Canvas* canvas, int x, int y, int size, const char* text);
int canvas_text_width(int size, const char* text);
void canvas_bar(Canvas* canvas, int x, int y, int width, int height, Color color);

// Copies the picture of another canvas to (x, y), as far as it fits.
void canvas_paste(Canvas* canvas, const Canvas* from, int x, int y);

const unsigned char* canvas_pixel(const Canvas* canvas, int x, int y); // red, green, blue

// Says on stderr why it cannot.
bool canvas_write_png(const Canvas* canvas, const char* path);

#endif
