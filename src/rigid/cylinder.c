// Cylinders with flat ends: their mass in closed form, their rims, and the surfaces of triangles
// that stand in for them where they are no curves. docs/theory/rigid.md, section 1
#include "rigid/cylinder.h"

#include "body/surface.h"
#include "curve/curve.h"
#include "math/rotation.h"

static const double PI = 3.14159265358979323846;

// Sides of the prism within, whose faces are within half a percent of the radius.
enum { PRISM = 32, PRISM_VERTICES = 2 * PRISM + 2, PRISM_TRIANGLES = 4 * PRISM };

// A triangle about a circle has corners at twice its radius; a little more, for roundings.
static const double ABOUT = 2.001;

Cylinder cylinder_core(const TdlRigidDef* def, TdlVec3 centre) {
    return (Cylinder){.radius = def->radius - def->rounding,
                      .half = 0.5 * def->length - def->rounding,
                      .round = def->rounding,
                      .middle = tdl_scale3(-1.0, centre)};
}

// Volume and second moments of volume, along the axis and across it. (B.16)
typedef struct CylinderSums {
    double volume, along, across;
} CylinderSums;

static CylinderSums sum_cylinder(double a, double h, double r) {
    double R = a + r, a2 = a * a, r2 = r * r, r3 = r2 * r, r4 = r2 * r2, r5 = r2 * r3;
    double slice = a2 * r + 0.5 * PI * a * r2 + 2.0 / 3.0 * r3;
    double first = 0.5 * a2 * r2 + 2.0 / 3.0 * a * r3 + 0.25 * r4;
    double second = a2 * r3 / 3.0 + 0.125 * PI * a * r4 + 2.0 / 15.0 * r5;
    double fourth =
        a2 * a2 * r + PI * a * a2 * r2 + 4.0 * a2 * r3 + 0.75 * PI * a * r4 + 8.0 / 15.0 * r5;
    return (CylinderSums){
        .volume = 2.0 * PI * (h * R * R + slice),
        .along = 2.0 * PI * (R * R * h * h * h / 3.0 + h * h * slice + 2.0 * h * first + second),
        .across = 0.5 * PI * (h * R * R * R * R + fourth)};
}

RigidMass cylinder_mass(const TdlRigidDef* def) {
    double h = 0.5 * def->length;
    CylinderSums whole =
        sum_cylinder(def->radius - def->rounding, h - def->rounding, def->rounding);
    CylinderSums bore = sum_cylinder(def->inner_radius, h, 0.0);
    double along = whole.along - bore.along, across = whole.across - bore.across;
    TdlMat3 s = tdl_diag33(tdl_scale3(def->density, (TdlVec3){along, across, across}));
    return (RigidMass){.mass = def->density * (whole.volume - bore.volume),
                       .inertia = rigid_inertia_of(s)};
}

TdlStatus cylinder_rims(const TdlHost* host, const TdlRigidDef* def, TdlCurve* out) {
    Cylinder c = cylinder_core(def, (TdlVec3){0});
    double turn = 2.0 * PI / CYLINDER_ARCS, length = turn * c.radius;
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; i < 2 * CYLINDER_ARCS && status == TDL_STATUS_OK; ++i) {
        double angle = turn * (i % CYLINDER_ARCS), y = cos(angle), z = sin(angle);
        // first axis along the rim, third along the cylinder's
        TdlPose start = {{i < CYLINDER_ARCS ? -c.half : c.half, c.radius * y, c.radius * z},
                         {{0.0, -z, y}, {0.0, -y, -z}, {1.0, 0.0, 0.0}}};
        TdlVec3 bend = {0.0, 0.0, 1.0 / c.radius};
        status = tdl_curve_helix(host, start, bend, length, &out[i]);
        if (status == TDL_STATUS_OK) {
            status = tdl_curve_set_radius(host, c.round, c.round, &out[i]);
        }
    }
    return status;
}

TdlStatus cylinder_stand_in(const TdlHost* host, const Cylinder* c, struct Surface** out) {
    TdlVec3 vertex[PRISM_VERTICES];
    int corner[3 * PRISM_TRIANGLES], n = 0;
    for (int i = 0; i < 2 * PRISM; ++i) {
        double angle = 2.0 * PI * (i / 2) / PRISM, x = i % 2 == 0 ? -c->half : c->half;
        vertex[i] =
            tdl_add3(c->middle, (TdlVec3){x, c->radius * cos(angle), c->radius * sin(angle)});
    }
    vertex[2 * PRISM] = tdl_add3(c->middle, (TdlVec3){-c->half, 0.0, 0.0});
    vertex[2 * PRISM + 1] = tdl_add3(c->middle, (TdlVec3){c->half, 0.0, 0.0});
    for (int i = 0; i < PRISM; ++i) {
        int a = 2 * i, b = 2 * ((i + 1) % PRISM), low = 2 * PRISM, high = low + 1;
        const int four[12] = {a, b, a + 1, b, b + 1, a + 1, a, low, b, a + 1, b + 1, high};
        for (int k = 0; k < 12; ++k) {
            corner[n++] = four[k];
        }
    }
    TdlMesh mesh = {vertex, PRISM_VERTICES, corner, PRISM_TRIANGLES};
    return surface_create(host, &mesh, &(VertexMotion){0}, c->round, out);
}

TdlStatus cylinder_ends(const TdlHost* host, const Cylinder* c, struct Surface** out) {
    static const int CORNERS[6] = {0, 2, 1, 3, 4, 5};
    TdlVec3 vertex[6];
    for (int i = 0; i < 6; ++i) {
        double angle = 2.0 * PI * (i % 3) / 3.0, far = ABOUT * c->radius;
        vertex[i] = tdl_add3(
            c->middle, (TdlVec3){i < 3 ? -c->half : c->half, far * cos(angle), far * sin(angle)});
    }
    TdlMesh mesh = {vertex, 6, CORNERS, 2};
    return surface_create(host, &mesh, &(VertexMotion){0}, c->round, out);
}
