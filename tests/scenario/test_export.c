// The command export as a user meets it: files are read again, here by readers of our own, and by
// VTK, Blender and two parsers of USD where these are installed.
#include "command.h"
#include "result/result.h"
#include "test.h"

static const char SCENE[] =
    "title: Rods and \"bodies\" <&>\n"
    "time: {step: 1e-3, end: 0.03}\n"
    "output: {frame: 0.01, samples: 4}\n"
    "materials: [{name: hair, young: 1e9, poisson: 0.48, density: 1000, damping: 0.2}]\n"
    "rods:\n"
    "  - {name: a, material: hair, length: 0.3, radius: 2e-3, elements: 12,\n"
    "     natural_curvature: [3, 20, 5], clamp: {position: [0, 0, 0.3]}}\n"
    "  - {name: b, material: hair, length: 0.2, radius: [1e-3, 4e-3], elements: 5,\n"
    "     natural_curvature: [2, 10, 5], clamp: {position: [0, 0.1, 0.3]}}\n"
    "colliders:\n"
    "  - {name: floor, shape: plane}\n"
    "  - {name: ball, shape: sphere, radius: 0.05, position: [0.1, 0, 0.05]}\n"
    "  - {name: pill, shape: capsule, radius: 0.02, length: 0.1, position: [0, 0.2, 0.1],\n"
    "     motion: {keyframes: [{time: 0}, {time: 0.03, position: [0, 0, 0.1],\n"
    "                                      rotation: [0, 0, 1]}]}}\n"
    "  - {name: pole, shape: cylinder, radius: 0.01, position: [0, 0.3, 0.1]}\n"
    "  - {name: wedge, shape: mesh, mesh: {file: wedge.obj}, position: [0, -0.5, 0],\n"
    "     motion: {keyframes: [{time: 0}, {time: 0.03, position: [0.25, 0, 0]}]}}\n";

// A prism over a triangle, 0.1 by 0.2 and 0.3 high.
static const char WEDGE[] = "v 0 0 0\nv 0.1 0 0\nv 0 0.2 0\nv 0 0 0.3\nv 0.1 0 0.3\nv 0 0.2 0.3\n"
                            "f 1 3 2\nf 4 5 6\nf 1 2 5 4\nf 2 3 6 5\nf 3 1 4 6\n";

enum { FRAMES = 4, RODS = 2, BODIES = 5, POINTS = 49 + 21 };

// A result in the scratch folder, and its truth as the library reads it.
typedef struct Result {
    Scratch scratch;
    TdlResult* file;
    ResultCounts counts;
    ResultFrame frames[FRAMES];
} Result;

static Result* open_result(void) {
    static Result r;
    TdlHost host = tdl_host_default();
    r = (Result){.scratch = scratch_make()};
    scratch_write(scratch_path(&r.scratch, "scene.yaml"), SCENE, strlen(SCENE));
    scratch_write(scratch_path(&r.scratch, "wedge.obj"), WEDGE, strlen(WEDGE));
    if (COMMAND(&r.scratch, "run", "scene.yaml", "-o", "run", "-q") != 0 ||
        tdl_result_open(&host, scratch_path(&r.scratch, "run"), &r.file) != TDL_STATUS_OK) {
        FAIL("no result was made");
        abort();
    }
    r.counts = result_counts(r.file);
    for (int k = 0; k < FRAMES; ++k) {
        if (result_frame_create(&host, r.counts, &r.frames[k]) != TDL_STATUS_OK ||
            result_read(r.file, k, &r.frames[k]) != TDL_STATUS_OK) {
            abort();
        }
    }
    return &r;
}

static void close_result(Result* r) {
    TdlHost host = tdl_host_default();
    for (int k = 0; k < FRAMES; ++k) {
        result_frame_destroy(&host, &r->frames[k]);
    }
    tdl_result_close(r->file);
    scratch_remove(&r->scratch);
}

static int rod_of(int point) {
    return point < 49 ? 0 : 1;
}

// The half-axes' geometric mean.
static double radius_of(int point) {
    return 2.0e-3 + 0.0 * point; // sqrt(1e-3 * 4e-3) too
}

// A line through a tool; its output goes to the file tool.txt.
static bool tool(const Result* r, const char* line) {
    char whole[8192];
    snprintf(whole, sizeof whole, "cd '%s' && { %s; } >tool.txt 2>&1", r->scratch.path, line);
    bool good = system(whole) == 0;
    char* said = scratch_read(scratch_path(&r->scratch, "tool.txt"), NULL);
    printf("  %s%s", said == NULL ? "" : said, said == NULL || said[0] == '\0' ? "\n" : "");
    free(said);
    return good;
}

static const char* checks(void) {
    static char path[1024];
    snprintf(path, sizeof path, "%.900s/tests/export", getenv("TENDRIL_SOURCE"));
    return path;
}

// --- our own readers ------------------------------------------------------------------------

TEST(csv_has_every_point) {
    Result* r = open_result();
    CHECK_INT(COMMAND(&r->scratch, "export", "run", "--format", "csv", "--json"), 0);
    CHECK(command_wrote(
        &r->scratch, "stdout",
        "{\"format\": \"csv\", \"output\": \"run.csv\", \"frames\": 4, "
        "\"rods\": 2, \"points\": 70, \"bodies\": 5, \"surfaces\": 0, \"grains\": false}"));
    char* text = scratch_read(scratch_path(&r->scratch, "run.csv"), NULL);
    REQUIRE(text != NULL);
    const char* line = strchr(text, '\n') + 1;
    for (int k = 0; k < FRAMES; ++k) {
        for (int i = 0; i < POINTS; ++i) {
            int frame, rod, point;
            double time, x[3], radius, curvature;
            REQUIRE(sscanf(line, "%d,%lf,%d,%d,%lf,%lf,%lf,%lf,%lf\n", &frame, &time, &rod, &point,
                           &x[0], &x[1], &x[2], &radius, &curvature) == 9);
            line = strchr(line, '\n') + 1;
            int first = rod_of(i) == 0 ? 0 : 49, local = i - first;
            CHECK_INT(frame, k);
            CHECK_INT(rod, rod_of(i));
            CHECK_INT(point, local);
            CHECK_NEAR(time, r->frames[k].time, 1.0e-9);
            for (int c = 0; c < 3; ++c) {
                CHECK((float)x[c] == r->frames[k].points[3 * i + c]);
            }
            CHECK_NEAR(radius, radius_of(i), 1.0e-9);
            // within an element of a super-helix the curvature is known: the bends of q / length;
            // three points 5 mm apart differ from it by (kappa h)^2 / 12, and singles by 0.01 / m
            if (local % 4 != 0) {
                const double* q = r->frames[k].q + (rod == 0 ? 0 : 36) + 3 * (local / 4);
                double element = rod == 0 ? 0.3 / 12 : 0.2 / 5;
                double expected = hypot(q[1], q[2]) / element, h = element / 4;
                double bound = expected * pow(expected * h, 2) + 0.01;
                CHECK_NEAR(curvature, expected, bound);
            }
        }
    }
    CHECK(*line == '\0');
    free(text);
    close_result(r);
}

static uint32_t get_u32(const char* at) {
    const unsigned char* b = (const unsigned char*)at;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static float get_f32(const char* at) {
    uint32_t bits = get_u32(at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

TEST(hair_is_read_again) {
    Result* r = open_result();
    CHECK_INT(COMMAND(&r->scratch, "export", "run/", "-f", "hair", "-q"), 0);
    size_t size;
    char* data = scratch_read(scratch_path(&r->scratch, "run.hair"), &size);
    REQUIRE(data != NULL && size == 128 + 2 * RODS + 12 * POINTS + 4 * POINTS);
    CHECK(memcmp(data, "HAIR", 4) == 0);
    CHECK_INT(get_u32(data + 4), RODS);
    CHECK_INT(get_u32(data + 8), POINTS);
    CHECK_INT(get_u32(data + 12), 1 + 2 + 4);
    CHECK_INT(data[128], 48);
    CHECK_INT(data[130], 20);
    const char *points = data + 128 + 2 * RODS, *thickness = points + 12 * POINTS;
    for (int i = 0; i < 3 * POINTS; ++i) {
        CHECK(get_f32(points + 4 * i) == r->frames[FRAMES - 1].points[i]);
    }
    for (int i = 0; i < POINTS; ++i) {
        CHECK(get_f32(thickness + 4 * i) == (float)(2.0 * radius_of(i)));
    }
    free(data);
    // one file a frame
    CHECK_INT(COMMAND(&r->scratch, "export", "run", "-f", "hair", "--frames", "1:", "-q"), 0);
    CHECK(access(scratch_path(&r->scratch, "run-0000.hair"), F_OK) != 0);
    for (int k = 1; k < FRAMES; ++k) {
        char name[32];
        snprintf(name, sizeof name, "run-000%d.hair", k);
        data = scratch_read(scratch_path(&r->scratch, name), &size);
        REQUIRE(data != NULL);
        CHECK(get_f32(data + 132 + 12 * 48) == r->frames[k].points[3 * 48]);
        free(data);
    }
    close_result(r);
}

TEST(a_point_cache_is_read_again) {
    Result* r = open_result();
    CHECK_INT(COMMAND(&r->scratch, "export", "run", "-f", "pc2", "-o", "c.pc2", "-q"), 0);
    size_t size;
    char* data = scratch_read(scratch_path(&r->scratch, "c.pc2"), &size);
    REQUIRE(data != NULL && size == 32 + 12 * POINTS * FRAMES);
    CHECK(memcmp(data, "POINTCACHE2\0", 12) == 0);
    CHECK_INT(get_u32(data + 12), 1);
    CHECK_INT(get_u32(data + 16), POINTS);
    CHECK(get_f32(data + 20) == 0.0f && get_f32(data + 24) == 1.0f);
    CHECK_INT(get_u32(data + 28), FRAMES);
    for (int i = 0; i < 3 * POINTS * FRAMES; ++i) {
        CHECK(get_f32(data + 32 + 4 * i) == r->frames[i / (3 * POINTS)].points[i % (3 * POINTS)]);
    }
    free(data);
    char* text = scratch_read(scratch_path(&r->scratch, "c.obj"), NULL);
    REQUIRE(text != NULL);
    CHECK(strstr(text, "o body") == NULL && strstr(text, "l 48 49\nl 50 51\n") != NULL);
    free(text);
    close_result(r);
}

enum { MAX_VERTICES = 20000 };

typedef struct Body {
    double volume;         // by the divergence theorem; positive when faces look outwards
    TdlVec3 low, high;     //
    double worst_normal;   // least cosine between a face and its corners' normals
    int faces, open_edges; // edges, by place, that do not belong to two faces
} Body;

typedef struct Obj {
    TdlVec3 v[MAX_VERTICES], n[MAX_VERTICES];
    int v_count, n_count, line_count, body_count;
    Body bodies[8];
} Obj;

static double edge_key(TdlVec3 a, TdlVec3 b) {
    return 1.0e3 * tdl_dot3(a, (TdlVec3){1.0, 17.13, 291.7}) +
           tdl_dot3(b, (TdlVec3){1.3, 13.7, 311.1});
}

static int compare_reals(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// Reads lines and faces; a face's edges go to `there` and, turned round, to `back`: of a closed
// surface both hold the same.
static void read_obj(const char* text, Obj* obj) {
    static double there[3 * MAX_VERTICES], back[3 * MAX_VERTICES];
    int edges = 0;
    *obj = (Obj){0};
    for (const char* line = text; line != NULL && *line != '\0';) {
        TdlVec3 p;
        int a[3], m[3];
        const char* next = strchr(line, '\n') + 1;
        Body* body = &obj->bodies[obj->body_count > 0 ? obj->body_count - 1 : 0];
        if (sscanf(line, "v %lf %lf %lf", &p.x, &p.y, &p.z) == 3) {
            obj->v[++obj->v_count] = p;
        } else if (sscanf(line, "vn %lf %lf %lf", &p.x, &p.y, &p.z) == 3) {
            obj->n[++obj->n_count] = p;
        } else if (sscanf(line, "l %d %d", &a[0], &a[1]) == 2) {
            CHECK(a[0] > 0 && a[1] <= obj->v_count && a[1] == a[0] + 1);
            ++obj->line_count;
        } else if (strncmp(line, "o bod", 5) == 0) {
            obj->bodies[obj->body_count++] =
                (Body){.low = {9, 9, 9}, .high = {-9, -9, -9}, .worst_normal = 1.0};
        } else if (sscanf(line, "f %d//%d %d//%d %d//%d", &a[0], &m[0], &a[1], &m[1], &a[2],
                          &m[2]) == 6) {
            TdlVec3 x[3];
            for (int c = 0; c < 3; ++c) {
                REQUIRE(a[c] > 0 && a[c] <= obj->v_count && m[c] > 0 && m[c] <= obj->n_count);
                x[c] = obj->v[a[c]];
                body->low = (TdlVec3){fmin(body->low.x, x[c].x), fmin(body->low.y, x[c].y),
                                      fmin(body->low.z, x[c].z)};
                body->high = (TdlVec3){fmax(body->high.x, x[c].x), fmax(body->high.y, x[c].y),
                                       fmax(body->high.z, x[c].z)};
            }
            TdlVec3 area = tdl_cross3(tdl_sub3(x[1], x[0]), tdl_sub3(x[2], x[0]));
            for (int c = 0; c < 3; ++c) {
                double size = tdl_norm3(area);
                double cosine = size > 1e-12 ? tdl_dot3(area, obj->n[m[c]]) / size : 1.0;
                body->worst_normal = fmin(body->worst_normal, cosine);
                there[edges] = edge_key(x[c], x[(c + 1) % 3]);
                back[edges++] = edge_key(x[(c + 1) % 3], x[c]);
            }
            body->volume += tdl_dot3(area, x[0]) / 6.0;
            ++body->faces;
        }
        bool body_ends = strncmp(next, "o body", 6) == 0 || *next == '\0';
        if (body_ends && edges > 0) {
            qsort(there, (size_t)edges, sizeof *there, compare_reals);
            qsort(back, (size_t)edges, sizeof *back, compare_reals);
            for (int i = 0; i < edges; ++i) {
                body->open_edges += !(fabs(there[i] - back[i]) < 1.0e-3);
            }
            edges = 0;
        }
        line = next;
    }
}

TEST(obj_is_read_again_and_its_meshes_are_closed) {
    static Obj obj;
    Result* r = open_result();
    CHECK_INT(COMMAND(&r->scratch, "export", "run", "-f", "obj", "--frames", "3", "-q"), 0);
    char* text = scratch_read(scratch_path(&r->scratch, "run.obj"), NULL);
    REQUIRE(text != NULL);
    read_obj(text, &obj);
    free(text);
    CHECK_INT(obj.line_count, POINTS - RODS);
    REQUIRE(obj.body_count == BODIES);
    for (int i = 0; i < POINTS; ++i) {
        const float* x = r->frames[3].points + 3 * i;
        CHECK((float)obj.v[i + 1].x == x[0] && (float)obj.v[i + 1].y == x[1] &&
              (float)obj.v[i + 1].z == x[2]);
    }
    const double pi = 3.14159265358979323846;
    const Body *floor_ = &obj.bodies[0], *ball = &obj.bodies[1], *pill = &obj.bodies[2];
    CHECK_INT(floor_->faces, 4); // both sides
    CHECK(floor_->low.z == 0.0 && floor_->high.z == 0.0 && floor_->high.x > 0.3);
    for (int i = 0; i < BODIES; ++i) {
        CHECK_INT(obj.bodies[i].open_edges, 0);
        CHECK(obj.bodies[i].worst_normal > 0.8); // facets of 48 sides and 12 rings
    }
    // a polyhedron inscribed with 48 sides lacks 0.6 % of its section, 12 rings a little more
    CHECK_NEAR(ball->volume, 4.0 / 3.0 * pi * pow(0.05, 3), 0.015 * ball->volume);
    CHECK_NEAR(pill->volume, pi * 4.0e-4 * (0.1 + 4.0 / 3.0 * 0.02), 0.015 * pill->volume);
    CHECK_NEAR(ball->high.z, 0.1, 1.0e-3);
    // the capsule was lifted to 0.2 and turned by one radian about the vertical
    CHECK_NEAR(pill->high.z, 0.22, 1.0e-6);
    CHECK_NEAR(pill->high.x - pill->low.x, 0.1 * cos(1.0) + 0.04, 1.0e-3);
    CHECK_NEAR(pill->high.y - pill->low.y, 0.1 * sin(1.0) + 0.04, 1.0e-3);
    // the mesh is the file's, with points doubled at its edges, moved along
    const Body* wedge = &obj.bodies[4];
    CHECK_INT(wedge->faces, 8);
    CHECK(wedge->worst_normal > 0.999);
    CHECK_NEAR(wedge->volume, 0.5 * 0.1 * 0.2 * 0.3, 1.0e-9);
    CHECK_NEAR3(wedge->low, ((TdlVec3){0.25, -0.5, 0.0}), 1.0e-7);
    CHECK_NEAR3(wedge->high, ((TdlVec3){0.35, -0.3, 0.3}), 1.0e-7);
    close_result(r);
}

// The cache of the bodies has the points of every frame's .obj.
TEST(a_point_cache_of_bodies_is_read_again) {
    static Obj obj;
    Result* r = open_result();
    CHECK_INT(COMMAND(&r->scratch, "export", "run", "-f", "pc2", "-o", "c.pc2", "-q"), 0);
    CHECK_INT(
        COMMAND(&r->scratch, "export", "run", "-f", "obj", "-o", "all.obj", "--frames", ":", "-q"),
        0);
    size_t size;
    char* data = scratch_read(scratch_path(&r->scratch, "c-bodies.pc2"), &size);
    REQUIRE(data != NULL && size > 32);
    int count = (int)get_u32(data + 16);
    REQUIRE(size == 32 + 12 * (size_t)count * FRAMES && get_u32(data + 28) == FRAMES);
    for (int k = 0; k < FRAMES; ++k) {
        char name[32];
        snprintf(name, sizeof name, "all-%04d.obj", k);
        char* text = scratch_read(scratch_path(&r->scratch, name), NULL);
        REQUIRE(text != NULL);
        read_obj(text, &obj);
        free(text);
        REQUIRE(obj.v_count == POINTS + count);
        for (int i = 0; i < count; ++i) {
            const char* at = data + 32 + 12 * (k * count + i);
            TdlVec3 p = {get_f32(at), get_f32(at + 4), get_f32(at + 8)};
            CHECK_NEAR3(p, obj.v[POINTS + 1 + i], 1.0e-7);
        }
    }
    free(data);
    char* text = scratch_read(scratch_path(&r->scratch, "c-bodies.obj"), NULL);
    REQUIRE(text != NULL);
    read_obj(text, &obj);
    free(text);
    CHECK_INT(obj.v_count, count);
    CHECK_INT(obj.body_count, 1); // a cache moves one object
    close_result(r);
}

// A result of bodies only: a plate with a rim, a comb of two teeth, a box that was turned, a
// cylinder and a pipe.
static void write_bodies(const char* path) {
    TdlHost host = tdl_host_default();
    const TdlPose here = {{0}, tdl_identity33()};
    const TdlPose down = {{0.01, 0.0, -0.02}, {{0, 0, -1}, {0, 1, 0}, {1, 0, 0}}};
    const ResultCollider colliders[] = {{TDL_SHAPE_PLATE, 0.005, 0.1},
                                        {TDL_SHAPE_COMB, 0.001, 0.04}};
    const ResultBody bodies[] = {{TDL_RIGID_BOX}, {TDL_RIGID_CYLINDER}, {TDL_RIGID_CYLINDER}};
    const TdlResultShape shapes[] = {
        {.shape = "disc", .body = 0, .size = {0.1, 0.005}, .pose = here},
        {.shape = "capsule", .body = 1, .size = {0.002, 0.02}, .pose = here},
        {.shape = "capsule", .body = 1, .size = {0.001, 0.04}, .pose = down},
        {.shape = "box", .body = 2, .size = {0.01, 0.02, 0.03}, .pose = here},
        {.shape = "cylinder", .body = 3, .size = {0.02, 0.05}, .pose = here},
        {.shape = "cylinder", .body = 4, .size = {0.02, 0.05, 0.015}, .pose = here},
    };
    ResultDef def = {.title = "bodies",
                     .step = 1e-3,
                     .step_total = 1,
                     .samples = 1,
                     .collider_count = 2,
                     .body_count = 3,
                     .shape_count = 6,
                     .colliders = colliders,
                     .bodies = bodies,
                     .shapes = shapes};
    ResultWriter* writer;
    ResultFrame frame;
    REQUIRE(result_writer_create(&host, path, &def, &writer) == TDL_STATUS_OK);
    REQUIRE(result_frame_create(&host, result_writer_counts(writer), &frame) == TDL_STATUS_OK);
    for (int i = 0; i < 9; i += 4) {
        frame.poses[3 + i] = frame.poses[12 + 3 + i] = 1.0;
    }
    frame.poses[12 + 2] = 0.2; // the comb is lifted
    // a quarter turn about z, at x = 0.5
    const double turned[] = {0.5, 0, 0, 0, 1, 0, -1, 0, 0, 0, 0, 1};
    memcpy(frame.body_poses, turned, sizeof turned);
    for (int i = 0; i < 9; i += 4) {
        frame.body_poses[12 + 3 + i] = frame.body_poses[24 + 3 + i] = 1.0;
    }
    CHECK(result_writer_append(writer, &frame) == TDL_STATUS_OK);
    CHECK(result_writer_close(writer) == TDL_STATUS_OK);
    result_frame_destroy(&host, &frame);
}

TEST(bodies_of_several_shapes_are_drawn_whole) {
    static Obj obj;
    Scratch s = scratch_make();
    write_bodies(scratch_path(&s, "b.h5"));
    CHECK_INT(COMMAND(&s, "export", "b.h5", "-f", "obj", "-q"), 0);
    char* text = scratch_read(scratch_path(&s, "b.obj"), NULL);
    REQUIRE(text != NULL);
    read_obj(text, &obj);
    free(text);
    REQUIRE(obj.body_count == 5 && obj.line_count == 0);
    const Body *plate = &obj.bodies[0], *comb = &obj.bodies[1], *box = &obj.bodies[2];
    const Body *solid = &obj.bodies[3], *pipe = &obj.bodies[4];
    for (int i = 0; i < 5; ++i) {
        CHECK_INT(obj.bodies[i].open_edges, 0);
    }
    // of a prism of n sides (pi/n)^2 2/3 is missing: n is 48 or more
    double around = 3.14159265 * 4.0e-4 * 0.05, bore = 3.14159265 * 2.25e-4 * 0.05;
    CHECK_NEAR(solid->volume, around, 0.003 * around);
    CHECK_NEAR(pipe->volume, around - bore, 0.003 * around);
    CHECK_NEAR(solid->high.x, 0.025, 1.0e-7);
    CHECK_NEAR(pipe->low.x, -0.025, 1.0e-7);
    CHECK(pipe->worst_normal > 0.9 && solid->worst_normal > 0.9);
    CHECK_NEAR(plate->high.x, 0.105, 1.0e-4);
    CHECK_NEAR(plate->high.z, 0.005, 1.0e-4);
    // the disc has no volume, its rim that of a torus
    CHECK_NEAR(plate->volume, 2.0 * pow(3.14159265, 2) * 0.1 * 25e-6, 0.05 * plate->volume);
    CHECK_NEAR(comb->high.z, 0.202, 1.0e-5);
    CHECK_NEAR(comb->low.z, 0.2 - 0.041, 1.0e-5);
    CHECK_NEAR(comb->low.x, -0.012, 1.0e-5);
    CHECK_NEAR(box->volume, 8.0 * 0.01 * 0.02 * 0.03, 1.0e-9);
    CHECK_NEAR3(box->high, ((TdlVec3){0.52, 0.01, 0.03}), 1.0e-9);
    // without rods every format is written all the same
    static const char* const formats[] = {"vtp", "usda", "pc2", "hair", "csv"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i) {
        CHECK_INT(COMMAND(&s, "export", "b.h5", "-f", formats[i], "--json"), 0);
        CHECK(command_wrote(&s, "stdout", "\"rods\": 0, \"points\": 0, \"bodies\": 5"));
    }
    CHECK(access(scratch_path(&s, "b-0000.vtp"), F_OK) != 0);
    CHECK_INT(COMMAND(&s, "render", "b.h5", "-o", "b.png", "-q"), 0);
    scratch_remove(&s);
}

// --- other programs -------------------------------------------------------------------------

TEST(vtk_reads_what_was_written) {
    if (system("/usr/bin/python3 -c 'import vtkmodules.vtkIOXML' >/dev/null 2>&1") != 0) {
        SKIP("VTK for Python (python3-vtk9) is not there");
    }
    char line[4096];
    Result* r = open_result();
    CHECK_INT(COMMAND(&r->scratch, "export", "run", "-f", "vtp", "-o", "a & b.pvd", "-q"), 0);
    CHECK_INT(COMMAND(&r->scratch, "export", "run", "-f", "csv", "-q"), 0);
    snprintf(line, sizeof line, "/usr/bin/python3 '%s/check_vtp.py' './a & b.pvd' run.csv",
             checks());
    CHECK(tool(r, line));
    CHECK(command_wrote(&r->scratch, "tool.txt", "VTK read 4 frames, 5 bodies and "));
    close_result(r);
}

// A soft rod that falls on a ball.
static const char TOUCHING[] =
    "time: {step: 1e-3, end: 0.06}\n"
    "output: {frame: 0.02}\n"
    "materials: [{name: soft, young: 1e6, density: 1000, damping: 0.01}]\n"
    "rods:\n"
    "  - {name: a, material: soft, length: 0.3, radius: 2e-3, elements: 6,\n"
    "     clamp: {position: [0, 0, 0.3]}}\n"
    "colliders:\n"
    "  - {name: ball, shape: sphere, radius: 0.05, position: [0.2, 0, 0.246]}\n";

TEST(vtk_reads_contacts) {
    if (system("/usr/bin/python3 -c 'import vtkmodules.vtkIOXML' >/dev/null 2>&1") != 0) {
        SKIP("VTK for Python (python3-vtk9) is not there");
    }
    Result r = {.scratch = scratch_make()};
    scratch_write(scratch_path(&r.scratch, "s.yaml"), TOUCHING, strlen(TOUCHING));
    REQUIRE(COMMAND(&r.scratch, "run", "s.yaml", "-o", "run", "-q") == 0);
    CHECK_INT(COMMAND(&r.scratch, "export", "run", "-f", "vtp", "-q"), 0);
    CHECK_INT(COMMAND(&r.scratch, "export", "run", "-f", "csv", "-q"), 0);
    char line[4096];
    snprintf(line, sizeof line, "/usr/bin/python3 '%s/check_vtp.py' ./run.pvd run.csv", checks());
    CHECK(tool(&r, line));
    CHECK(command_wrote(&r.scratch, "tool.txt", "VTK read 4 frames, 1 bodies and "));
    CHECK(access(scratch_path(&r.scratch, "run-contacts-0003.vtp"), F_OK) == 0);
    CHECK(access(scratch_path(&r.scratch, "run-contacts-0000.vtp"), F_OK) != 0);
    scratch_remove(&r.scratch);
}

// Contacts as CSV against the result, and as USD against the CSV.
TEST(contacts_are_in_csv_and_usd) {
    Result r = {.scratch = scratch_make()};
    scratch_write(scratch_path(&r.scratch, "s.yaml"), TOUCHING, strlen(TOUCHING));
    REQUIRE(COMMAND(&r.scratch, "run", "s.yaml", "-o", "run", "-q") == 0);
    CHECK_INT(COMMAND(&r.scratch, "export", "run", "-f", "usda", "-q"), 0);
    CHECK_INT(COMMAND(&r.scratch, "export", "run", "-f", "csv", "-q"), 0);
    char* text = scratch_read(scratch_path(&r.scratch, "run-contacts.csv"), NULL);
    REQUIRE(text != NULL);
    const char* line = strchr(text, '\n') + 1;
    TdlHost host = tdl_host_default();
    TdlResult* result;
    REQUIRE(tdl_result_open(&host, scratch_path(&r.scratch, "run"), &result) == TDL_STATUS_OK);
    int all = 0;
    for (long k = 0; k < tdl_result_info(result).frame_count; ++k) {
        const TdlResultContact* contacts;
        int count;
        REQUIRE(tdl_result_read_contacts(result, k, &contacts, &count) == TDL_STATUS_OK);
        for (int i = 0; i < count; ++i, ++all) {
            long frame;
            int body[2], element[2], sliding;
            double time, s[2], x[3], n[3], f[3], gap, mu;
            REQUIRE(sscanf(line,
                           "%ld,%lf,rod,%d,%d,%lf,collider,%d,%d,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,"
                           "%lf,%lf,%lf,%lf,%d\n",
                           &frame, &time, &body[0], &element[0], &s[0], &body[1], &element[1],
                           &s[1], &x[0], &x[1], &x[2], &n[0], &n[1], &n[2], &f[0], &f[1], &f[2],
                           &gap, &mu, &sliding) == 20);
            line = strchr(line, '\n') + 1;
            CHECK(frame == k && body[0] == 0 && body[1] == 0);
            CHECK_INT(element[0], contacts[i].element[0]);
            CHECK_NEAR(s[0], contacts[i].u[0], 1.0e-8);
            CHECK_NEAR3(tdl_load3(x, 0), contacts[i].point, 1.0e-9);
            CHECK_NEAR3(tdl_load3(n, 0), contacts[i].normal, 1.0e-8);
            CHECK_NEAR3(tdl_load3(f, 0), contacts[i].force, 1.0e-8 * tdl_norm3(contacts[i].force));
            CHECK_NEAR(mu, contacts[i].mu, 1.0e-8);
            CHECK_INT(sliding, contacts[i].sliding);
        }
    }
    CHECK(all > 0 && *line == '\0');
    tdl_result_close(result);
    free(text);
    char tools[4096];
    snprintf(tools, sizeof tools,
             "command -v node >/dev/null && test -d '%s/node_modules' || exit 0; "
             "node '%s/check_usd.mjs' run.usda run.csv 1 run-contacts.csv",
             checks(), checks());
    CHECK(tool(&r, tools));
    scratch_remove(&r.scratch);
}

TEST(parsers_of_usd_read_what_was_written) {
    char line[4096];
    snprintf(line, sizeof line, "command -v node >/dev/null && test -d '%s/node_modules'",
             checks());
    if (system(line) != 0) {
        SKIP("the parsers of USD are not there: npm ci in tests/export fetches them");
    }
    Result* r = open_result();
    CHECK_INT(COMMAND(&r->scratch, "export", "run", "-f", "usda", "-q"), 0);
    CHECK_INT(COMMAND(&r->scratch, "export", "run", "-f", "csv", "-q"), 0);
    snprintf(line, sizeof line, "node '%s/check_usd.mjs' run.usda run.csv 5", checks());
    CHECK(tool(r, line));
    CHECK(command_wrote(&r->scratch, "tool.txt", "USD: 4 frames, 2 rods, 5 bodies"));
    close_result(r);
}

TEST(blender_reads_what_was_written) {
    if (system("command -v blender >/dev/null 2>&1") != 0) {
        SKIP("Blender is not there");
    }
    char line[4096];
    Result* r = open_result();
    CHECK_INT(COMMAND(&r->scratch, "export", "run", "-f", "obj", "-o", "all.obj", "-q"), 0);
    CHECK_INT(COMMAND(&r->scratch, "export", "run", "-f", "pc2", "-q"), 0);
    CHECK_INT(COMMAND(&r->scratch, "export", "run", "-f", "csv", "-q"), 0);
    snprintf(line, sizeof line,
             "blender -b --factory-startup --python-exit-code 1 --python '%s/check_blender.py' -- "
             "\"$PWD/run.obj\" \"$PWD/run.pc2\" run.csv \"$PWD/all.obj\" 5 \"$PWD/run-bodies.obj\" "
             "\"$PWD/run-bodies.pc2\"",
             checks());
    CHECK(tool(r, line));
    CHECK(command_wrote(&r->scratch, "tool.txt", ": 70 points, 4 frames"));
    close_result(r);
}

// --- what cannot be done --------------------------------------------------------------------

TEST(bad_calls_are_refused) {
    Result* r = open_result();
    const Scratch* s = &r->scratch;
    CHECK_INT(COMMAND(s, "export", "run"), 2);
    CHECK_INT(COMMAND(s, "export", "run", "-f", "fbx"), 2);
    static const char* const slices[] = {"4",     "-5",      "2:1", "0:4", "a",
                                         "1:2:0", "1:2:3:4", "",    "1x"};
    for (size_t i = 0; i < sizeof slices / sizeof *slices; ++i) {
        CHECK_INT(COMMAND(s, "export", "run", "-f", "csv", "--frames", slices[i]), 2);
        CHECK(command_wrote(s, "stderr", "frames 0 to 3"));
    }
    CHECK_INT(COMMAND(s, "export", "run", "-f", "csv", "--frames", "-3::2", "--json"), 0);
    CHECK(command_wrote(s, "stdout", "\"frames\": 2"));
    static const char* const formats[] = {"vtp", "usda", "obj", "pc2", "hair", "csv"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i) {
        CHECK_INT(COMMAND(s, "export", "run", "-f", formats[i], "-o", "no/where"), 1);
        CHECK(command_wrote(s, "stderr", "no/where"));
    }
    close_result(r);
}

TEST(results_that_are_not_right_are_refused) {
    Result* r = open_result();
    const Scratch* s = &r->scratch;
    CHECK_INT(COMMAND(s, "export", "nothing", "-f", "csv"), 3);
    scratch_write(scratch_path(s, "text.h5"), "not ours", 8);
    CHECK_INT(COMMAND(s, "export", "text.h5", "-f", "usda"), 3);
    size_t size;
    char* data = scratch_read(scratch_path(s, "run/result.h5"), &size);
    REQUIRE(data != NULL);
    scratch_write(scratch_path(s, "cut.h5"), data, size / 2);
    CHECK_INT(COMMAND(s, "export", "cut.h5", "-f", "vtp", "-o", "cut.pvd"), 3);
    CHECK(command_wrote(s, "stderr", "cut.h5"));
    CHECK(access(scratch_path(s, "cut.pvd"), F_OK) != 0);
    CHECK_INT(COMMAND(s, "render", "cut.h5", "-o", "cut.svg"), 3);
    // from a newer Tendril
    scratch_write(scratch_path(s, "new.h5"), data, size);
    hid_t file = H5Fopen(scratch_path(s, "new.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t version = H5Aopen(file, "format_version", H5P_DEFAULT);
    int newer = RESULT_VERSION + 1;
    CHECK(H5Awrite(version, H5T_NATIVE_INT, &newer) >= 0);
    H5Aclose(version);
    H5Fclose(file);
    CHECK_INT(COMMAND(s, "export", "new.h5", "-f", "csv"), 3);
    char told[32];
    snprintf(told, sizeof told, "format version %d", newer);
    CHECK(command_wrote(s, "stderr", told));
    free(data);
    close_result(r);
}
