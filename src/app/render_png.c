// Draws frames of a result with the rasteriser: rods as tubes, everything else as meshes, all
// frames from one point of view so that they make a film.
#include "app/render_png.h"

#include "app/colour_option.h"
#include "app/frame_reader.h"
#include "app/json.h"
#include "app/output.h"
#include "app/raster.h"

#include <string.h>

enum { MARGIN = 30, FOOT = 34, SHEET_GAP = 8, FEW_RODS = 8, CROWD = 100, LOOKED_AT = 24 };

// Pixels of the mark of a joint: one in so many of a picture's width, and 3 at least.
enum { MARK_SHARE = 130, MARK_LEAST = 3 };

static const Color PALETTE[] = {{0.106f, 0.31f, 0.541f}, {0.784f, 0.333f, 0.239f},
                                {0.18f, 0.545f, 0.341f}, {0.851f, 0.588f, 0.102f},
                                {0.478f, 0.31f, 0.639f}, {0.247f, 0.627f, 0.753f},
                                {0.549f, 0.427f, 0.31f}, {0.4f, 0.4f, 0.4f}};
static const Color HAIR = {0.42f, 0.27f, 0.16f}, BODY = {0.80f, 0.80f, 0.78f},
                   SHEET = {0.72f, 0.78f, 0.80f};
// Cloths, one after the other; they take part in the page's colours.
enum { CLOTH_COLORS = 4 };
static const Color CLOTH[CLOTH_COLORS] = {
    {0.77f, 0.47f, 0.36f}, {0.36f, 0.55f, 0.72f}, {0.48f, 0.62f, 0.36f}, {0.80f, 0.66f, 0.32f}};
static const Color FLOOR = {0.93f, 0.93f, 0.92f}, SHADOW = {0.82f, 0.82f, 0.82f};

// Pixels by which a shadow lies above its plane: a hundred times what a depth is rounded to.
static const double LID = 0.02;

typedef struct Painter {
    const Args* args;
    FrameReader reader;
    Camera camera;
    Canvas* canvas;
    Mesh mesh, shadow;
    int width, height;
    InnerForce inner;  // colours the rods, unless none
    double most;       // its largest size in the frames that were looked at
    GrainsScale scale; // colours the grains
} Painter;

// --- the point of view ----------------------------------------------------------------------

typedef struct Bounds {
    double low[2], high[2]; // along right and up, m
} Bounds;

static void include(Bounds* b, const Camera* camera, TdlVec3 p, double radius) {
    double at[2] = {tdl_dot3(p, camera->right), tdl_dot3(p, camera->up)};
    for (int c = 0; c < 2; ++c) {
        b->low[c] = fmin(b->low[c], at[c] - radius);
        b->high[c] = fmax(b->high[c], at[c] + radius);
    }
}

static void include_frame(Bounds* b, const Painter* p) {
    const FrameReader* reader = &p->reader;
    for (int rod = 0; rod < reader->info.rod_count; ++rod) {
        for (int i = reader->start[rod]; i < reader->start[rod + 1]; ++i) {
            include(b, &p->camera, reader->points[i], reader->radius[rod]);
        }
    }
    for (int i = 0; i < reader->info.surface_point_count; ++i) {
        include(b, &p->camera, reader->surface_points[i], 0.0);
    }
    for (int i = 0; i < reader->info.joint_count; ++i) {
        include(b, &p->camera, reader->joints[i].point, 0.0);
    }
    for (int i = 0; i < reader->particle_count; ++i) {
        include(b, &p->camera, reader->particles[i].position, frame_reader_grain(reader));
    }
    for (int k = 0; k < reader->body_count; ++k) {
        TdlPose pose = reader->poses[k];
        for (int i = 0; i < reader->bodies[k].point_count && reader->reach[k] == BODY_WHOLE; ++i) {
            TdlVec3 x = tdl_mul33_3(pose.rotation, reader->bodies[k].points[i]);
            include(b, &p->camera, tdl_add3(pose.position, x), 0.0);
        }
    }
}

static void include_forces(Painter* p) {
    const FrameReader* reader = &p->reader;
    for (int i = 0; i < reader->info.point_count && p->inner != INNER_NONE; ++i) {
        double own = inner_force_of(p->inner, reader->forces[i], reader->moments[i]);
        p->most = fmax(p->most, fabs(own));
    }
}

// Puts everything that moves into the middle of the picture, as large as it goes.
static TdlStatus aim(Painter* p) {
    Bounds b = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    int last = p->reader.frame_count - 1, looks = last < LOOKED_AT ? last : LOOKED_AT;
    TdlStatus status = TDL_STATUS_OK;
    for (int k = 0; k <= looks && status == TDL_STATUS_OK; ++k) {
        status = frame_reader_load(&p->reader, looks == 0 ? 0 : (int)((long)last * k / looks));
        include_frame(&b, p);
        include_forces(p);
        grains_scale_grow(&p->scale, p->reader.particles, p->reader.particle_count);
    }
    if (!(b.low[0] <= b.high[0])) { // only things without end
        include(&b, &p->camera, tdl_scale3(0.5, tdl_add3(p->reader.low, p->reader.high)), 0.5);
    }
    TdlVec3 centre = tdl_scale3(0.5 * (b.low[0] + b.high[0]), p->camera.right);
    p->camera.centre = tdl_axpy3(centre, 0.5 * (b.low[1] + b.high[1]), p->camera.up);
    p->camera.scale = fmin((p->width - 2.0 * MARGIN) / fmax(b.high[0] - b.low[0], 1.0e-9),
                           (p->height - 2.0 * MARGIN - FOOT) / fmax(b.high[1] - b.low[1], 1.0e-9));
    // room for the foot
    p->camera.centre = tdl_axpy3(p->camera.centre, -0.5 * FOOT / p->camera.scale, p->camera.up);
    return status;
}

// --- one frame ------------------------------------------------------------------------------

// Few rods have colours of their own; the hairs of a wisp differ a little in how light they are.
static Color rod_color(int rod, int count) {
    if (count <= FEW_RODS) {
        return PALETTE[rod];
    }
    unsigned mixed = (unsigned)rod * 2654435761u;
    float light = 0.8f + 0.4f * (float)(mixed >> 24) / 255.0f;
    return (Color){HAIR.r * light, HAIR.g * light, HAIR.b * light};
}

// Turns a triangle round that faces against the normal.
static void turn_up(Mesh* mesh, int triangle, TdlVec3 normal) {
    int* t = mesh->triangles[triangle];
    TdlVec3 a = mesh->points[t[0]];
    TdlVec3 own = tdl_cross3(tdl_sub3(mesh->points[t[1]], a), tdl_sub3(mesh->points[t[2]], a));
    if (tdl_dot3(own, normal) < 0.0) {
        int second = t[1];
        t[1] = t[2];
        t[2] = second;
    }
}

// The shadow of p->mesh on every plane, straight down from its free side: a lid just above it.
static void draw_shadows(Painter* p, bool sheet) {
    for (int k = 0; k < p->reader.body_count; ++k) {
        if (p->reader.reach[k] != BODY_PLANE) {
            continue;
        }
        TdlVec3 normal = p->reader.poses[k].rotation.cz, at = p->reader.poses[k].position;
        Mesh* flat = &p->shadow;
        mesh_clear(flat);
        mesh_append(flat, &p->mesh);
        for (int i = 0; i < flat->point_count; ++i) {
            double height = tdl_dot3(normal, tdl_sub3(flat->points[i], at));
            // below what lies flat on the plane, such as a sheet
            double lid = fmin(LID / p->camera.scale, 0.5 * height);
            double fall = height > 0.0 ? lid - height : 0.0;
            flat->points[i] = tdl_axpy3(flat->points[i], fall, normal);
            flat->normals[i] = normal;
        }
        for (int i = 0; sheet && i < flat->triangle_count; ++i) { // whichever side is up
            turn_up(flat, i, normal);
        }
        canvas_draw(p->canvas, &p->camera, flat, SHADOW);
        p->mesh.failed = p->mesh.failed || flat->failed;
    }
}

// From blue, the most that presses or turns the other way, over grey to red, the most that pulls.
static Color force_color(const Painter* p, double value) {
    static const Color LESS = {0.10f, 0.28f, 0.62f}, NOTHING = {0.80f, 0.80f, 0.78f},
                       MORE = {0.80f, 0.16f, 0.10f};
    float share = p->most > 0.0 ? (float)fmin(fabs(value) / p->most, 1.0) : 0.0f;
    Color to = value < 0.0 ? LESS : MORE;
    return (Color){NOTHING.r + share * (to.r - NOTHING.r), NOTHING.g + share * (to.g - NOTHING.g),
                   NOTHING.b + share * (to.b - NOTHING.b)};
}

// Piece by piece, each with the colour of its middle.
static void draw_coloured_rod(Painter* p, int from, int count, double radius, int sides) {
    const FrameReader* reader = &p->reader;
    for (int i = from; i + 1 < from + count; ++i) {
        double value = 0.0;
        for (int k = i; k <= i + 1; ++k) {
            value += 0.5 * inner_force_of(p->inner, reader->forces[k], reader->moments[k]);
        }
        mesh_clear(&p->mesh);
        mesh_add_tube(&p->mesh, reader->points + i, 2, radius, sides, true);
        canvas_draw(p->canvas, &p->camera, &p->mesh, force_color(p, value));
    }
}

static void draw_rods(Painter* p) {
    const FrameReader* reader = &p->reader;
    int sides = reader->info.rod_count > CROWD ? 6 : 16;
    double thinnest = 0.6 / p->camera.scale; // of what is drawn: a hair must be seen
    for (int rod = 0; rod < reader->info.rod_count; ++rod) {
        int from = reader->start[rod], count = reader->start[rod + 1] - from;
        double radius = fmax(reader->radius[rod], thinnest);
        if (p->inner != INNER_NONE) {
            draw_coloured_rod(p, from, count, radius, sides);
        }
        mesh_clear(&p->mesh);
        mesh_add_tube(&p->mesh, reader->points + from, count, radius, sides, true);
        if (p->inner == INNER_NONE) {
            canvas_draw(p->canvas, &p->camera, &p->mesh, rod_color(rod, reader->info.rod_count));
        }
        draw_shadows(p, false);
    }
}

static void draw_bodies(Painter* p) {
    for (int k = 0; k < p->reader.body_count; ++k) {
        bool plane = p->reader.reach[k] == BODY_PLANE;
        mesh_clear(&p->mesh);
        mesh_append(&p->mesh, &p->reader.bodies[k]);
        mesh_place(&p->mesh, 0, p->reader.poses[k]);
        canvas_draw(p->canvas, &p->camera, &p->mesh, plane ? FLOOR : BODY);
        if (!plane) {
            draw_shadows(p, false);
        }
    }
}

static void draw_surfaces(Painter* p) {
    for (int k = 0; k < p->reader.surface_count; ++k) {
        mesh_clear(&p->mesh);
        mesh_append(&p->mesh, &p->reader.sheets[k]);
        int cloth = p->reader.cloth_of[k];
        canvas_draw_sheet(p->canvas, &p->camera, &p->mesh,
                          cloth < 0 ? SHEET : CLOTH[cloth % CLOTH_COLORS]);
        draw_shadows(p, true);
    }
}

static void draw_grains(Painter* p) {
    double radius = fmax(frame_reader_grain(&p->reader), 0.3 / p->camera.scale);
    for (int i = 0; i < p->reader.particle_count; ++i) {
        const TdlResultParticle* particle = &p->reader.particles[i];
        double value = grains_colour_of(p->scale.which, particle);
        canvas_draw_ball(p->canvas, &p->camera, particle->position, radius,
                         grains_color(&p->scale, value));
    }
}

// A small square where a joint is, red where it broke: on top, since it lies inside what it holds.
static void draw_joints(Painter* p) {
    static const Color INK = {0.12f, 0.12f, 0.14f}, HOLDS = {0.98f, 0.80f, 0.20f},
                       BROKEN = {0.86f, 0.10f, 0.10f};
    int own = p->width / MARK_SHARE, size = own > MARK_LEAST ? own : MARK_LEAST;
    int rim = 1 + size / 7;
    for (int i = 0; i < p->reader.info.joint_count; ++i) {
        const TdlResultJointState* joint = &p->reader.joints[i];
        TdlVec3 at = tdl_sub3(joint->point, p->camera.centre);
        double x = 0.5 * p->width + p->camera.scale * tdl_dot3(at, p->camera.right);
        double y = 0.5 * p->height - p->camera.scale * tdl_dot3(at, p->camera.up);
        if (!joint->idle && fabs(x) < 2.0 * p->width &&
            fabs(y) < 2.0 * p->height) { // else it is not seen
            int left = (int)lround(x) - size / 2, top = (int)lround(y) - size / 2;
            canvas_bar(p->canvas, left, top, size, size, INK);
            canvas_bar(p->canvas, left + rim, top + rim, size - 2 * rim, size - 2 * rim,
                       joint->broken ? BROKEN : HOLDS);
        }
    }
}

// The largest of 1, 2, 5 times a power of ten that is at most `length`.
static double round_length(double length) {
    double power = pow(10.0, floor(log10(length)));
    double lead = length / power;
    return power * (lead >= 5.0 ? 5.0 : lead >= 2.0 ? 2.0 : 1.0);
}

// What the colours of grains tell, from `x` on: a bar with its ends beside it.
static void draw_grains_legend(Painter* p, int x, int base, int size) {
    enum { BAR = 60 };
    char text[64];
    const GrainsScale* scale = &p->scale;
    snprintf(text, sizeof text, "%s %.4g", grains_colour_name(scale->which), scale->least);
    canvas_text(p->canvas, x, base, size, text);
    x += canvas_text_width(size, text) + 8;
    for (int i = 0; i < BAR * size; ++i) {
        double value = scale->least + (scale->most - scale->least) * (i + 0.5) / (BAR * size);
        canvas_bar(p->canvas, x + i, base - 7 * size, 1, 7 * size, grains_color(scale, value));
    }
    x += BAR * size + 8;
    snprintf(text, sizeof text, "%.4g %s", scale->most, grains_colour_unit(scale->which));
    canvas_text(p->canvas, x, base, size, text);
}

// Time at the left, a bar with its length at the right.
static void draw_foot(Painter* p) {
    char text[64];
    int size = p->width >= 640 ? 2 : 1, base = p->height - 12;
    snprintf(text, sizeof text, "t = %.4g s", p->reader.time);
    canvas_text(p->canvas, MARGIN, base, size, text);
    if (p->inner != INNER_NONE) {
        int after = MARGIN + canvas_text_width(size, text) + 24;
        snprintf(text, sizeof text, "%s to %.3g", inner_force_name(p->inner), p->most);
        canvas_text(p->canvas, after + 20, base, size, text);
        canvas_bar(p->canvas, after, base - 5 * size, 14, 5 * size, force_color(p, p->most));
    }
    if (p->inner == INNER_NONE && p->scale.most >= p->scale.least) {
        int after = MARGIN + canvas_text_width(size, text) + 24;
        bool wide = p->width >= 640; // else a line of its own
        draw_grains_legend(p, wide ? after : MARGIN, wide ? base : base - 12, size);
    }
    double length = round_length(0.25 * p->width / p->camera.scale);
    int pixels = (int)lround(length * p->camera.scale), right = p->width - MARGIN;
    const char* unit = length >= 0.5 ? "m" : length >= 0.5e-3 ? "mm" : "um";
    double value = length * (length >= 0.5 ? 1.0 : length >= 0.5e-3 ? 1.0e3 : 1.0e6);
    snprintf(text, sizeof text, "%.3g %s", value, unit);
    canvas_bar(p->canvas, right - pixels, base - 2, pixels, 2, (Color){0.2f, 0.2f, 0.2f});
    canvas_text(p->canvas, right - canvas_text_width(size, text), base - 7, size, text);
}

static TdlStatus paint(Painter* p, int index) {
    TdlStatus status = frame_reader_load(&p->reader, index);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    canvas_clear(p->canvas);
    draw_bodies(p);
    draw_surfaces(p);
    draw_rods(p);
    draw_grains(p);
    canvas_finish(p->canvas);
    draw_joints(p);
    draw_foot(p);
    return p->mesh.failed ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}

// --- files ----------------------------------------------------------------------------------

// Where "%d" or "%04d" stands in a path, and how wide the number is; false when there is none.
static bool find_number(const char* path, size_t* at, size_t* size, int* width) {
    const char* percent = strchr(path, '%');
    if (percent == NULL) {
        return false;
    }
    const char* c = percent + 1;
    *width = 0;
    while (*c >= '0' && *c <= '9' && *width < 20) {
        *width = 10 * *width + (*c++ - '0');
    }
    *at = (size_t)(percent - path);
    *size = (size_t)(c + 1 - percent);
    return *c == 'd' && strchr(c, '%') == NULL;
}

static int paint_frames(Painter* p, const char* path) {
    size_t at, size;
    int width, code = EXIT_DONE;
    bool numbered = find_number(path, &at, &size, &width);
    for (int k = 0; k < p->reader.frame_count && code == EXIT_DONE; ++k) {
        char file[OUTPUT_PATH_SIZE];
        snprintf(file, sizeof file, "%.4000s", path);
        if (numbered) {
            snprintf(file, sizeof file, "%.*s%0*d%.2000s", (int)(at > 2000 ? 2000 : at), path,
                     width, k, path + at + size);
        }
        code = exit_code(paint(p, k));
        if (code == EXIT_DONE && !canvas_write_png(p->canvas, file)) {
            code = output_failure();
        }
    }
    return code;
}

// All frames on one sheet, row by row.
static int paint_sheet(Painter* p, const char* path) {
    int count = p->reader.frame_count, columns = (int)ceil(sqrt((double)count));
    int rows = (count + columns - 1) / columns;
    Canvas* sheet = canvas_create(columns * (p->width + SHEET_GAP) + SHEET_GAP,
                                  rows * (p->height + SHEET_GAP) + SHEET_GAP);
    int code = sheet == NULL ? EXIT_FAILED : EXIT_DONE;
    for (int k = 0; k < count && code == EXIT_DONE; ++k) {
        code = exit_code(paint(p, k));
        canvas_paste(sheet, p->canvas, SHEET_GAP + k % columns * (p->width + SHEET_GAP),
                     SHEET_GAP + k / columns * (p->height + SHEET_GAP));
    }
    if (code == EXIT_DONE && !canvas_write_png(sheet, path)) {
        code = output_failure();
    }
    canvas_destroy(sheet);
    return code;
}

// Frames a second at which a film runs as time does.
static double frame_rate(Painter* p) {
    if (frame_reader_load(&p->reader, 0) != TDL_STATUS_OK) {
        return 25.0;
    }
    double first = p->reader.time;
    if (frame_reader_load(&p->reader, p->reader.frame_count - 1) != TDL_STATUS_OK) {
        return 25.0;
    }
    double span = p->reader.time - first;
    return span > 0.0 ? (p->reader.frame_count - 1) / span : 25.0;
}

static void report(Painter* p, const char* path, bool sheet) {
    int count = p->reader.frame_count;
    if (args_has(p->args, "json")) {
        printf("{\"picture\": ");
        json_text(path);
        printf(", \"frames\": %d, \"rods\": %d, \"bodies\": %d, \"width\": %d, \"height\": %d",
               count, p->reader.info.rod_count, p->reader.body_count, p->width, p->height);
        if (p->inner != INNER_NONE) {
            printf(", \"%s\": %.9g", inner_force_name(p->inner), p->most);
        }
        if (p->reader.info.has_grains) {
            printf(", \"particles\": %d, \"%s\": [%.9g, %.9g]", p->reader.particle_count,
                   grains_colour_name(p->scale.which), p->scale.least, p->scale.most);
        }
        printf("}\n");
    } else if (!args_has(p->args, "quiet")) {
        fprintf(stderr, "Drew %d frame%s of %d rod%s in %s\n", count, count == 1 ? "" : "s",
                p->reader.info.rod_count, p->reader.info.rod_count == 1 ? "" : "s", path);
        if (p->inner != INNER_NONE) {
            fprintf(stderr, "Red is a %s of %.3g %s, blue of as much the other way\n",
                    inner_force_name(p->inner), p->most, inner_force_unit(p->inner));
        }
        if (count > 1 && !sheet) {
            fprintf(stderr, "A film: ffmpeg -framerate %.6g -i '%s' -pix_fmt yuv420p film.mp4\n",
                    frame_rate(p), path);
        }
    }
}

// Evenly spread frames when nobody says which: --moments of them, from the first to the last.
static void thin_out(FrameReader* reader, int wanted) {
    int count = reader->frame_count < wanted ? reader->frame_count : wanted;
    for (int k = 0; k < count; ++k) {
        int last = reader->frame_count - 1;
        reader->frames[k] =
            reader->frames[count > 1 ? (int)lround((double)last * k / (count - 1)) : last];
    }
    reader->frame_count = count;
}

int render_png(const Args* args, const char* path) {
    size_t at, size;
    int digits;
    bool sheet = args_has(args, "contact-sheet"), chosen = args_has(args, "frames");
    bool numbered = !sheet && find_number(path, &at, &size, &digits);
    if (!numbered && strchr(path, '%') != NULL) {
        return usage_error(args,
                           sheet ? "a contact sheet is one picture: '%s' has a number"
                                 : "the number in '%s' must be written %%d or %%04d",
                           path);
    }
    Painter p = {.args = args,
                 .width = args_int(args, "width", sheet ? 320 : 960),
                 .height = args_int(args, "height", sheet ? 240 : 720)};
    ColourOption colour;
    if (!colour_option(args, &colour)) {
        return EXIT_USAGE;
    }
    p.inner = colour.inner;
    p.scale = grains_scale(colour.grains);
    int code = frame_reader_open(args, sheet || numbered ? ":" : "-1", &p.reader);
    bool flat = code == EXIT_DONE && frame_reader_is_flat(&p.reader);
    p.camera = camera_make(args_real(args, "azimuth", flat ? 0.0 : 20.0),
                           args_real(args, "elevation", flat ? 0.0 : 15.0));
    if (code == EXIT_DONE && !colour_is_there(&colour, &p.reader.info, args_operand(args, 0))) {
        code = EXIT_INPUT;
    }
    if (code == EXIT_DONE && !numbered && !sheet && p.reader.frame_count > 1) {
        code =
            usage_error(args, "several frames need a number in the name, such as frame%%04d.png");
    }
    if (code == EXIT_DONE && sheet && !chosen) {
        thin_out(&p.reader, args_int(args, "moments", 12));
    }
    if (code == EXIT_DONE) {
        p.canvas = canvas_create(p.width, p.height);
        code = p.canvas == NULL ? EXIT_FAILED : exit_code(aim(&p));
    }
    if (code == EXIT_DONE) {
        code = sheet ? paint_sheet(&p, path) : paint_frames(&p, path);
    }
    if (code == EXIT_DONE) {
        report(&p, path, sheet);
    }
    canvas_destroy(p.canvas);
    mesh_destroy(&p.mesh);
    mesh_destroy(&p.shadow);
    frame_reader_close(&p.reader);
    return code;
}
