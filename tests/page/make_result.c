// Writes a result whose every number is known, for the tests of the page: fibres on helices that
// swing, a ball, a floor, a comb, a mesh, a rigid box, a sheet that waves and a cloth beside it,
// contacts, and a log.
// With `forces` also what the rods bear inside, and joints; with `grains` a bed of them.
//   make_result FOLDER RODS POINTS FRAMES [forces|grains]
// test_page.mjs has the same formulas.
#include "result/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const double FRAME_TIME = 0.01, LENGTH = 0.2;

// Point i of n of rod r at time t: on a helix about x, its radius changing in time.
static TdlVec3 place(int r, int i, int n, double t) {
    double u = (double)i / (n - 1), radius = 0.01 * (1.0 + r % 7) * (1.0 + 0.3 * sin(9.0 * t + r));
    double angle = (3.0 + r % 5) * u + 0.1 * r;
    return (TdlVec3){LENGTH * u, 0.004 * r + radius * cos(angle),
                     0.003 * (r % 13) + radius * sin(angle)};
}

// Contact k of frame f; frame f has f % 7 of them.
static TdlResultContact contact(int f, int k) {
    return (TdlResultContact){.kind = {TDL_RESULT_ROD, TDL_RESULT_COLLIDER},
                              .index = {k, 0},
                              .point = {0.02 * k, 0.01, 0.01},
                              .normal = {0.0, 0.0, -1.0},
                              .force = {0.0, 0.1 * k, -1.0 - 0.1 * f},
                              .gap = 1.0e-6,
                              .mu = 0.3,
                              .sliding = (f + k) % 2 == 1};
}

// A sheet of its own, no collider: COLUMNS by ROWS vertices.
enum { COLUMNS = 5, ROWS = 4, VERTICES = COLUMNS * ROWS, CORNERS = 6 * (COLUMNS - 1) * (ROWS - 1) };

static TdlVec3 vertex(int k, double t) {
    int column = k % COLUMNS, row = k / COLUMNS;
    return (TdlVec3){0.05 * column, 0.12 + 0.03 * row,
                     -0.06 + 0.02 * sin(9.0 * t + 0.7 * column + row)};
}

// The same sheet a second time, a cloth beside it, and what it is stretched by.
static const double BESIDE = 0.15; // m, along y
static double strain(int k, double t) {
    return 1.0e-3 * (1.0 + sin(0.4 * k + 5.0 * t));
}

// What point i of n of rod r bears: tension and shears, then twist and bending.
static TdlVec3 inner_force(int r, int i, int n, double t) {
    double u = (double)i / (n - 1);
    return (TdlVec3){3.0 * cos(3.0 * u + r + t), 0.3 * u, 0.4 * u};
}

static TdlVec3 inner_moment(int r, int i, int n, double t) {
    double u = (double)i / (n - 1);
    return (TdlVec3){0.01 * sin(2.0 * u + t) - 0.002 * r, 0.0, -0.05 * u * t};
}

// Joint k of frame f; the second breaks in the middle of fifteen frames.
enum { JOINTS = 2, BREAKS = 8 };
static const TdlResultJoint NAMES[JOINTS] = {{"pin <1>", "hinge"}, {"tie", "distance"}};

static void fill_joint(ResultFrame* frame, int k, int f) {
    tdl_store3(frame->joint_points, k, (TdlVec3){0.2 * k, 0.05, 0.01 * f});
    tdl_store3(frame->joint_forces, k, (TdlVec3){0.0, 3.0, 4.0 * (k + 1)});
    tdl_store3(frame->joint_torques, k, (TdlVec3){0.25 * k, 0.0, 0.0});
    frame->joint_coordinates[k] = 0.1 * f;
    frame->joint_broken[k] = k == 1 && f >= BREAKS;
}

// Particle k of a bed of 10 by 10 by 10 that rises and spreads: the farther one is from its middle,
// the faster. They come in another order than that of their numbers, and the last layer is lost in
// the middle of sixteen frames.
enum { SIDE = 10, GRAINS = SIDE * SIDE * SIDE, LEAVES = 8 };
static const TdlResultGrains BED = {"sand", 3, 0.02, 0.01, 1.0, 0.6};

static TdlResultParticle particle(int k, double t) {
    TdlVec3 at = {0.01 * (k % SIDE), 0.01 * (k / SIDE % SIDE), 0.01 * (k / SIDE / SIDE)};
    double speed = 0.001 * k;
    return (TdlResultParticle){.number = k,
                               .position = {0.2 + at.x + t, -0.1 + at.y, at.z + speed * t},
                               .velocity = {0.0, 0.0, speed},
                               .fraction = 0.6 - 0.0001 * k,
                               .pressure = 2.0 * k};
}

static void fill_grains(ResultFrame* frame, int f) {
    TdlHost host = tdl_host_default();
    int count = f < LEAVES ? GRAINS : GRAINS - SIDE * SIDE;
    if (result_frame_reserve_particles(&host, frame, count) != TDL_STATUS_OK) {
        abort();
    }
    for (int i = 0; i < count; ++i) {
        frame->particles[i] = particle((7 * i) % count, frame->time); // 7 divides neither count
    }
    frame->particle_count = count;
}

static void list_corners(int corner[CORNERS]) {
    for (int k = 0; k < CORNERS; ++k) {
        static const int two[6] = {0, 1, COLUMNS + 1, 0, COLUMNS + 1, COLUMNS};
        int cell = k / 6;
        corner[k] = cell % (COLUMNS - 1) + COLUMNS * (cell / (COLUMNS - 1)) + two[k % 6];
    }
}

static TdlPose moved(double x, double z) {
    return (TdlPose){{x, 0.0, z}, tdl_identity33()};
}

static void fill_inner(ResultFrame* frame, int rods, int points) {
    for (int k = 0; k < rods * points; ++k) {
        TdlVec3 n = inner_force(k / points, k % points, points, frame->time);
        TdlVec3 m = inner_moment(k / points, k % points, points, frame->time);
        for (int c = 0; c < 3; ++c) {
            frame->forces[3 * k + c] = (float)(&n.x)[c];
            frame->moments[3 * k + c] = (float)(&m.x)[c];
        }
    }
}

static void fill(ResultFrame* frame, int rods, int points, int f) {
    TdlHost host = tdl_host_default();
    frame->time = FRAME_TIME * f;
    frame->step = 10 * f;
    float* p = frame->points;
    for (int r = 0; r < rods; ++r) {
        for (int i = 0; i < points; ++i) {
            TdlVec3 x = place(r, i, points, frame->time);
            *p++ = (float)x.x;
            *p++ = (float)x.y;
            *p++ = (float)x.z;
        }
    }
    for (int k = 0; k < 2 * VERTICES; ++k) {
        TdlVec3 x = vertex(k % VERTICES, frame->time);
        x.y += k < VERTICES ? 0.0 : BESIDE;
        frame->surface_points[3 * k] = (float)x.x;
        frame->surface_points[3 * k + 1] = (float)x.y;
        frame->surface_points[3 * k + 2] = (float)x.z;
    }
    for (int k = 0; k < VERTICES; ++k) {
        frame->strains[k] = (float)strain(k, frame->time);
    }
    result_pack_pose(moved(0.0, -0.1), frame->poses);
    result_pack_pose(moved(0.1 + 0.1 * frame->time, -0.05), frame->poses + 12);
    result_pack_pose(moved(0.1, 0.2), frame->poses + 24);
    result_pack_pose(moved(-0.1, 0.1), frame->poses + 36);
    result_pack_pose(moved(-0.05, 0.05), frame->body_poses);
    if (result_frame_reserve(&host, frame, f % 7) != TDL_STATUS_OK) {
        abort();
    }
    for (int k = 0; k < f % 7; ++k) {
        frame->contacts[k] = contact(f, k);
    }
    frame->contact_count = f % 7;
}

static bool write_log(const char* folder, int frames) {
    char path[4096];
    snprintf(path, sizeof path, "%s/log.csv", folder);
    FILE* file = fopen(path, "w");
    if (file == NULL) {
        return false;
    }
    fprintf(file, "step,time,height,spike\n");
    for (int step = 1; step <= 10 * (frames - 1); ++step) {
        double t = FRAME_TIME * step / 10.0;
        fprintf(file, "%d,%.9g,%.9g,%d\n", step, t, sin(9.0 * t), step == 7 ? 1000 : 0);
    }
    return fclose(file) == 0;
}

static TdlStatus write_result(const char* folder, int rods, int points, int frames, bool forces,
                              bool grains) {
    TdlHost host = tdl_host_default();
    ResultRod* table = calloc((size_t)rods, sizeof *table);
    for (int r = 0; r < rods; ++r) {
        table[r] = (ResultRod){"super-helix", points - 1, points, 0, LENGTH, {1e-3, 1e-3}, 1e-3};
    }
    TdlColliderDef floor = tdl_collider_def_default(), ball = floor, comb = floor;
    floor.shape = TDL_SHAPE_PLANE;
    ball.radius = 0.02;
    comb = (TdlColliderDef){.shape = TDL_SHAPE_COMB,
                            .radius = 0.002,
                            .length = 0.03,
                            .teeth = 5,
                            .pitch = 0.01,
                            .pose.rotation = tdl_identity33()};
    TdlRigidDef box = {.shape = TDL_RIGID_BOX, .half = {0.01, 0.02, 0.03}};
    // a roof: two quads that meet at 90 degrees, open
    static const TdlVec3 corners[6] = {{-0.03, -0.04, 0}, {-0.03, 0.04, 0}, {0, -0.04, 0.03},
                                       {0, 0.04, 0.03},   {0.03, -0.04, 0}, {0.03, 0.04, 0}};
    static const int triangles[12] = {0, 2, 3, 0, 3, 1, 2, 4, 5, 2, 5, 3};
    TdlColliderDef roof = {.shape = TDL_SHAPE_MESH, .mesh = {corners, 6, triangles, 4}};
    TdlResultShape shapes[16];
    int count = result_collider_shapes(&floor, 0, shapes);
    count += result_collider_shapes(&ball, 1, shapes + count);
    count += result_collider_shapes(&comb, 2, shapes + count);
    count += result_collider_shapes(&roof, 3, shapes + count);
    count += result_rigid_shapes(&box, 4, shapes + count);
    const ResultCollider colliders[4] = {{TDL_SHAPE_PLANE, 0, 0},
                                         {TDL_SHAPE_SPHERE, 0.02, 0},
                                         {TDL_SHAPE_COMB, 0.002, 0.03},
                                         {TDL_SHAPE_MESH, 0, 0}};
    const ResultBody body = {TDL_RIGID_BOX};
    int corner[CORNERS];
    list_corners(corner);
    const TdlResultSurface sheet = {.body = -1,
                                    .radius = 1e-3,
                                    .point_count = VERTICES,
                                    .triangles = corner,
                                    .triangle_count = CORNERS / 3};
    TdlResultSurface sheets[2] = {sheet, sheet};
    sheets[1].first_point = VERTICES;
    static const int face[4] = {0, 1, COLUMNS + 1, COLUMNS};
    const TdlResultCloth cloth = {
        .surface = 1, .point_count = VERTICES, .mass = 0.1, .faces = face, .face_count = 1};
    ResultDef def = {.title = "Made <for> the \"page\"",
                     .step = FRAME_TIME / 10.0,
                     .step_total = 10 * (frames - 1),
                     .samples = 1,
                     .rod_count = rods,
                     .collider_count = 4,
                     .body_count = 1,
                     .shape_count = count,
                     .rods = table,
                     .colliders = colliders,
                     .bodies = &body,
                     .shapes = shapes,
                     .surface_count = 2,
                     .surfaces = sheets,
                     .cloth_count = 1,
                     .cloths = &cloth,
                     .forces = forces,
                     .joint_count = forces ? JOINTS : 0,
                     .joints = NAMES,
                     .grains = grains ? &BED : NULL};
    char path[4096];
    snprintf(path, sizeof path, "%s/result.h5", folder);
    ResultWriter* writer = NULL;
    ResultFrame frame = {0};
    TdlStatus status = result_writer_create(&host, path, &def, &writer);
    if (status == TDL_STATUS_OK) {
        status = result_frame_create(&host, result_writer_counts(writer), &frame);
    }
    for (int f = 0; status == TDL_STATUS_OK && f < frames; ++f) {
        fill(&frame, rods, points, f);
        if (forces) {
            fill_inner(&frame, rods, points);
        }
        if (grains) {
            fill_grains(&frame, f);
        }
        for (int k = 0; k < def.joint_count; ++k) {
            fill_joint(&frame, k, f);
        }
        status = result_writer_append(writer, &frame);
    }
    TdlStatus closed = result_writer_close(writer);
    result_frame_destroy(&host, &frame);
    free(table);
    return status == TDL_STATUS_OK ? closed : status;
}

int main(int argc, char** argv) {
    bool forces = argc == 6 && strcmp(argv[5], "forces") == 0;
    bool grains = argc == 6 && strcmp(argv[5], "grains") == 0;
    if (argc != 5 && !forces && !grains) {
        fprintf(stderr, "usage: make_result FOLDER RODS POINTS FRAMES [forces|grains]\n");
        return 2;
    }
    mkdir(argv[1], 0777);
    int rods = atoi(argv[2]), points = atoi(argv[3]), frames = atoi(argv[4]);
    return write_result(argv[1], rods, points, frames, forces, grains) == TDL_STATUS_OK &&
                   write_log(argv[1], frames)
               ? 0
               : 1;
}
