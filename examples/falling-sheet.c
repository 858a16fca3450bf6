// A sheet falls on another that is held, and neither passes through: candidates from moving boxes,
// those that collide (S2 algorithm 3), and a step that keeps a distance (S2 algorithm 4).
//
//     cc falling-sheet.c $(pkg-config --cflags --libs tendril) -lm && ./a.out
//
// The cloth itself is as simple as can be: points, gravity, and springs along the edges. Points of
// a pair that would touch stop where they are; what is left is cut short by tdl_ccd_max_step. Every
// step that was made is looked at again by the exact test; the exit status is 1 if one passed.
#include <tendril/tendril.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 8, ACROSS = SIDE + 1, SHEET = ACROSS * ACROSS, POINTS = 2 * SHEET, STEPS = 80 };
static const double SIZE = 0.2, STEP = 2.0e-3, STIFF = 4.0e3, LOSS = 6.0;

static double x[3 * POINTS], v[3 * POINTS], target[3 * POINTS];
static int edges[2 * 3 * POINTS], triangles[3 * 2 * POINTS], edge_count, triangle_count;

static void add_edge(int a, int b) {
    edges[2 * edge_count] = a;
    edges[2 * edge_count++ + 1] = b;
}

static void add_triangle(int a, int b, int c) {
    int corners[3] = {a, b, c};
    memcpy(triangles + 3 * triangle_count++, corners, sizeof corners);
}

// The first is held still and sags; the second is above it, smaller and turned.
static void make_sheet(int layer) {
    double size = layer == 0 ? SIZE : 0.7 * SIZE, turn = 0.4 * layer;
    for (int i = 0; i < ACROSS; ++i) {
        for (int j = 0; j < ACROSS; ++j) {
            int p = layer * SHEET + i * ACROSS + j;
            double a = size * ((double)i / SIDE - 0.5), b = size * ((double)j / SIDE - 0.5);
            x[3 * p] = a * cos(turn) - b * sin(turn);
            x[3 * p + 1] = a * sin(turn) + b * cos(turn);
            x[3 * p + 2] = layer == 0 ? 0.6 * (a * a - b * b) : 0.03 + 0.1 * a;
            if (i < SIDE) {
                add_edge(p, p + ACROSS);
            }
            if (j < SIDE) {
                add_edge(p, p + 1);
            }
            if (i < SIDE && j < SIDE) {
                add_edge(p, p + ACROSS + 1);
                add_triangle(p, p + ACROSS, p + ACROSS + 1);
                add_triangle(p, p + ACROSS + 1, p + 1);
            }
        }
    }
}

// Velocities after gravity and springs, and where the points would go.
static void predict(const double* rest) {
    for (int e = 0; e < edge_count; ++e) {
        double *a = x + 3 * edges[2 * e], *b = x + 3 * edges[2 * e + 1], d[3], length = 0.0;
        for (int k = 0; k < 3; ++k) {
            d[k] = b[k] - a[k];
            length += d[k] * d[k];
        }
        length = sqrt(length);
        for (int k = 0; k < 3; ++k) {
            double pull = STEP * STIFF * (length / rest[e] - 1.0) * rest[e] * d[k] / length;
            v[3 * edges[2 * e] + k] += pull;
            v[3 * edges[2 * e + 1] + k] -= pull;
        }
    }
    for (int p = 0; p < POINTS; ++p) {
        for (int k = 0; k < 3; ++k) {
            double* speed = &v[3 * p + k];
            *speed =
                p < SHEET ? 0.0 : (*speed - (k == 2 ? STEP * 9.81 : 0.0)) / (1.0 + STEP * LOSS);
            target[3 * p + k] = x[3 * p + k] + STEP * *speed;
        }
    }
}

static void stop(const TdlCcdMesh* mesh, TdlCcdPair pair) {
    int points[4] = {pair.a, 0, 0, 0};
    if (pair.kind == TDL_CCD_VERTEX_FACE) {
        memcpy(points + 1, mesh->triangles + 3 * pair.b, 3 * sizeof(int));
    } else {
        memcpy(points, mesh->edges + 2 * pair.a, 2 * sizeof(int));
        memcpy(points + 2, mesh->edges + 2 * pair.b, 2 * sizeof(int));
    }
    for (int k = 0; k < 4; ++k) {
        memcpy(target + 3 * points[k], x + 3 * points[k], 3 * sizeof(double));
    }
}

// Pairs of the step that was made which the exact test finds to touch.
static int passed(const TdlHost* host, const TdlCcdMesh* mesh, int* candidates) {
    TdlCcdOptions exact = tdl_ccd_options_default();
    TdlCcdSet set;
    int count = 0;
    exact.method = TDL_CCD_EXACT;
    if (tdl_ccd_candidates(host, mesh, 0.0, &set) != TDL_STATUS_OK) {
        return 1;
    }
    for (int i = 0; i < set.count; ++i) {
        TdlCcdQuery query = tdl_ccd_mesh_query(mesh, set.contacts[i].pair);
        TdlCcdResult truth;
        count += tdl_ccd_query(&query, &exact, &truth) != TDL_STATUS_OK || truth.collision;
    }
    *candidates = set.count;
    tdl_ccd_set_free(&set);
    return count;
}

int main(void) {
    static double rest[3 * POINTS];
    TdlHost host = tdl_host_default();
    TdlCcdOptions options = tdl_ccd_options_default();
    TdlCcdMesh mesh = {.vertex_count = POINTS, .start = x, .end = target};
    int touched = 0, cut = 0, wrong = 0, faces = 0, crossings = 0;
    double nearest = INFINITY;
    make_sheet(0);
    make_sheet(1);
    mesh.edge_count = edge_count;
    mesh.triangle_count = triangle_count;
    mesh.edges = edges;
    mesh.triangles = triangles;
    for (int e = 0; e < edge_count; ++e) {
        const double *a = x + 3 * edges[2 * e], *b = x + 3 * edges[2 * e + 1];
        rest[e] = sqrt((b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]) +
                       (b[2] - a[2]) * (b[2] - a[2]));
    }
    for (int step = 0; step < STEPS; ++step) {
        predict(rest);
        TdlCcdSet set;
        if (tdl_ccd_active_set(&host, &mesh, &options, 1, &set) != TDL_STATUS_OK) {
            return 1;
        }
        for (int i = 0; i < set.count; ++i) {
            faces += set.contacts[i].pair.kind == TDL_CCD_VERTEX_FACE;
            crossings += set.contacts[i].pair.kind == TDL_CCD_EDGE_EDGE;
            stop(&mesh, set.contacts[i].pair);
        }
        touched += set.count > 0;
        tdl_ccd_set_free(&set);
        TdlCcdStep safe;
        if (tdl_ccd_max_step(&host, &mesh, 0.2, &options, 1, &safe) != TDL_STATUS_OK) {
            return 1;
        }
        cut += safe.step < 1.0;
        nearest = safe.candidates > 0 ? fmin(nearest, safe.distance) : nearest;
        for (int k = 0; k < 3 * POINTS; ++k) {
            target[k] = x[k] + safe.step * (target[k] - x[k]);
        }
        int candidates = 0;
        wrong += passed(&host, &mesh, &candidates);
        for (int k = 0; k < 3 * POINTS; ++k) {
            v[k] = (target[k] - x[k]) / STEP;
            x[k] = target[k];
        }
    }
    printf("%d steps: %d with pairs that would touch (%d vertex-face, %d edge-edge), %d cut short, "
           "nearest %.3g m, %d passed\n",
           STEPS, touched, faces, crossings, cut, nearest, wrong);
    return wrong > 0 || touched == 0;
}
