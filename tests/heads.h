// A head for hair: a ball of triangles whose vertices move, in a world that turns and moves it.
#ifndef TDL_TEST_HEADS_H
#define TDL_TEST_HEADS_H

#include "tendril/world.h"
#include "test.h"

enum { HEAD_ROWS = 9, HEAD_COLUMNS = 16, HEAD_SAMPLES = 26 };
enum { HEAD_VERTICES = HEAD_ROWS * HEAD_COLUMNS + 2 };
enum { HEAD_TRIANGLES = 2 * HEAD_ROWS * HEAD_COLUMNS };

typedef struct Head {
    TdlVec3 sample[HEAD_SAMPLES][HEAD_VERTICES];
    int triangle[3 * HEAD_TRIANGLES];
    TdlKeyframe key[3];
} Head;

static inline TdlVec3 head_vertex(double radius, int row, int column) {
    double pi = 3.14159265358979323846;
    double theta = pi * (row + 1) / (HEAD_ROWS + 1), phi = 2.0 * pi * column / HEAD_COLUMNS;
    return (TdlVec3){radius * sin(theta) * cos(phi), radius * sin(theta) * sin(phi),
                     radius * cos(theta)};
}

// It swells on one side and is flattened on the other, in and out.
static inline TdlVec3 head_deformed(TdlVec3 x, double radius, double time) {
    double much = sin(6.0 * time);
    double bump = 1.0 + 0.25 * much * x.x / radius + 0.1 * much * much * x.z / radius;
    TdlVec3 out = tdl_scale3(bump, x);
    out.z *= 1.0 - 0.1 * much;
    return out;
}

static inline void head_fill(Head* h, double radius, double period) {
    for (int k = 0; k < HEAD_SAMPLES; ++k) {
        for (int i = 0; i < HEAD_VERTICES - 2; ++i) {
            TdlVec3 x = head_vertex(radius, i / HEAD_COLUMNS, i % HEAD_COLUMNS);
            h->sample[k][i] = head_deformed(x, radius, k * period);
        }
        h->sample[k][HEAD_VERTICES - 2] =
            head_deformed((TdlVec3){0.0, 0.0, radius}, radius, k * period);
        h->sample[k][HEAD_VERTICES - 1] =
            head_deformed((TdlVec3){0.0, 0.0, -radius}, radius, k * period);
    }
    int* t = h->triangle;
    for (int c = 0; c < HEAD_COLUMNS; ++c) {
        int next = (c + 1) % HEAD_COLUMNS, last = (HEAD_ROWS - 1) * HEAD_COLUMNS;
        const int caps[6] = {HEAD_VERTICES - 2, c, next, HEAD_VERTICES - 1, last + next, last + c};
        memcpy(t, caps, sizeof caps);
        t += 6;
        for (int r = 0; r + 1 < HEAD_ROWS; ++r) {
            int a = r * HEAD_COLUMNS + c, b = r * HEAD_COLUMNS + next;
            const int quad[6] = {a, a + HEAD_COLUMNS, b + HEAD_COLUMNS, a, b + HEAD_COLUMNS, b};
            memcpy(t, quad, sizeof quad);
            t += 6;
        }
    }
    h->key[0] = (TdlKeyframe){.time = 0.0};
    h->key[1] = (TdlKeyframe){0.25, {0.05, 0.02, -0.03}, {0.3, -0.4, 1.2}};
    h->key[2] = (TdlKeyframe){0.5, {0.0, -0.04, 0.02}, {-0.2, 0.5, -0.7}};
}

static inline TdlColliderDef head_def(const Head* h, double period) {
    TdlColliderDef def = tdl_collider_def_default();
    def.shape = TDL_SHAPE_MESH;
    def.radius = 0.0;
    def.mesh = (TdlMesh){h->sample[0], HEAD_VERTICES, h->triangle, HEAD_TRIANGLES};
    def.vertex_motion = (TdlVertexMotion){h->sample[0], HEAD_SAMPLES, 0.0, period};
    def.pose.position = (TdlVec3){0.3, -0.2, 1.0};
    def.motion = (TdlMotionDef){.keys = h->key, .key_count = 3};
    def.angular_velocity = (TdlVec3){0.1, 0.2, 1.5};
    return def;
}

#endif
