// Mass and inertia of the shapes, in closed form but for chains of curves, which are integrated by
// Gauss' rule piece by piece. docs/theory/rigid.md, section 1
#include "rigid/shape.h"

#include "curve/curve.h"
#include "math/gauss.h"

static const double PI = 3.14159265358979323846;

// Turning, rad, over which one rule of twelve points integrates to rounding.
static const double QUADRATURE_TURN = 1.0;

enum { BOX_EDGES = 12 };

int rigid_shape_curve_count(const TdlRigidDef* def) {
    switch (def->shape) {
    case TDL_RIGID_SPHERE:
    case TDL_RIGID_CAPSULE:
        break;
    case TDL_RIGID_BOX:
        return BOX_EDGES;
    case TDL_RIGID_CURVES:
        return def->piece_count;
    }
    return 1;
}

static TdlStatus segment(const TdlHost* host, TdlVec3 from, TdlVec3 to, double radius,
                         TdlCurve* out) {
    TdlStatus status = tdl_curve_segment(host, from, to, out);
    return status == TDL_STATUS_OK ? tdl_curve_set_radius(host, radius, radius, out) : status;
}

// Four edges along each axis, their ends in by the rounding.
static TdlStatus box_edges(const TdlHost* host, const TdlRigidDef* def, TdlCurve* out) {
    const double half[3] = {def->half.x - def->radius, def->half.y - def->radius,
                            def->half.z - def->radius};
    TdlStatus status = TDL_STATUS_OK;
    for (int axis = 0; axis < 3; ++axis) {
        int second = (axis + 1) % 3, third = (axis + 2) % 3;
        for (int k = 0; k < 4 && status == TDL_STATUS_OK; ++k) {
            double from[3], to[3];
            from[axis] = -half[axis];
            to[axis] = half[axis];
            from[second] = to[second] = k & 1 ? half[second] : -half[second];
            from[third] = to[third] = k & 2 ? half[third] : -half[third];
            status = segment(host, tdl_load3(from, 0), tdl_load3(to, 0), def->radius,
                             &out[4 * axis + k]);
        }
    }
    return status;
}

TdlStatus rigid_shape_curves(const TdlHost* host, const TdlRigidDef* def, TdlCurve* out) {
    TdlVec3 half = {0};
    switch (def->shape) {
    case TDL_RIGID_SPHERE:
        break;
    case TDL_RIGID_CAPSULE:
        half.x = 0.5 * def->length;
        break;
    case TDL_RIGID_BOX:
        return box_edges(host, def, out);
    case TDL_RIGID_CURVES:
        return curve_chain(host, "rigid", (TdlPose){{0}, tdl_identity33()}, def->pieces,
                           def->piece_count, def->radius, out);
    }
    return segment(host, tdl_scale3(-1.0, half), half, def->radius, out);
}

// Inertia from the second moments of mass: trace I - S.
static TdlMat3 inertia_of(TdlMat3 s) {
    double trace = s.cx.x + s.cy.y + s.cz.z;
    return tdl_sub33(tdl_scale33(trace, tdl_identity33()), s);
}

// Two half balls at the ends of a cylinder. (B.2)
static RigidMass capsule_mass(double density, double r, double length) {
    double h = 0.5 * length, rod = PI * r * r * length, ball = 4.0 / 3.0 * PI * r * r * r;
    double along = rod * h * h / 3.0 + ball * (h * h + 0.75 * h * r + r * r / 5.0);
    double across = rod * r * r / 4.0 + ball * r * r / 5.0;
    TdlMat3 s = tdl_diag33((TdlVec3){density * along, density * across, density * across});
    return (RigidMass){.mass = density * (rod + ball), .inertia = inertia_of(s)};
}

// Second moment along the first axis of a rounded box whose core has the half sizes a, b, c. (B.3)
static double box_moment(double a, double b, double c, double r) {
    double core = a * a / 3.0;
    double slab = a * a + a * r + r * r / 3.0;
    double edge = a * a + 8.0 / (3.0 * PI) * a * r + r * r / 4.0;
    double corner = a * a + 0.75 * a * r + r * r / 5.0;
    return 8.0 * a * b * c * core + 8.0 * r * (a * b + a * c) * core + 8.0 * r * b * c * slab +
           2.0 * PI * r * r * (a * core + (b + c) * edge) + 4.0 / 3.0 * PI * r * r * r * corner;
}

static RigidMass box_mass(const TdlRigidDef* def) {
    double r = def->radius, a = def->half.x - r, b = def->half.y - r, c = def->half.z - r;
    double volume = 8.0 * a * b * c + 8.0 * r * (a * b + b * c + c * a) +
                    2.0 * PI * r * r * (a + b + c) + 4.0 / 3.0 * PI * r * r * r;
    TdlVec3 s = {box_moment(a, b, c, r), box_moment(b, c, a, r), box_moment(c, a, b, r)};
    return (RigidMass){.mass = def->density * volume,
                       .inertia = inertia_of(tdl_diag33(tdl_scale3(def->density, s)))};
}

// Volume, first and second moments of a tube, from the origin. (B.4)
static void add_tube(const TdlCurve* c, double r, double* volume, TdlVec3* first, TdlMat3* second) {
    int parts = 1 + (int)(sqrt(c->helix.w2) * c->end / QUADRATURE_TURN);
    double section = PI * r * r, q = r * r / 4.0;
    for (int part = 0; part < parts; ++part) {
        for (int g = 0; g < GAUSS12_COUNT; ++g) {
            double weight = section * GAUSS12_WEIGHT[g] * c->end / parts;
            CurvePoint p = curve_eval(c, c->end * (part + GAUSS12_POINT[g]) / parts);
            TdlVec3 x = tdl_add3(c->origin, p.p);
            TdlMat3 across = tdl_sub33(tdl_identity33(), tdl_outer3(p.d1, p.d1));
            TdlMat3 shift = tdl_add33(tdl_outer3(x, p.d2), tdl_outer3(p.d2, x));
            TdlMat3 here = tdl_axpy33(tdl_outer3(x, x), q, tdl_sub33(across, shift));
            *volume += weight;
            *first = tdl_axpy3(*first, weight, tdl_axpy3(x, -q, p.d2));
            *second = tdl_axpy33(*second, weight, here);
        }
    }
}

static RigidMass chain_mass(const TdlRigidDef* def, const TdlCurve* curves, int count) {
    double volume = 0.0;
    TdlVec3 first = {0};
    TdlMat3 second = {0};
    for (int i = 0; i < count; ++i) {
        add_tube(&curves[i], def->radius, &volume, &first, &second);
    }
    TdlVec3 centre = tdl_scale3(1.0 / volume, first);
    second = tdl_axpy33(second, -volume, tdl_outer3(centre, centre));
    return (RigidMass){def->density * volume, centre,
                       inertia_of(tdl_scale33(def->density, second))};
}

RigidMass rigid_shape_mass(const TdlRigidDef* def, const TdlCurve* curves, int count) {
    switch (def->shape) {
    case TDL_RIGID_SPHERE:
        break;
    case TDL_RIGID_CAPSULE:
        return capsule_mass(def->density, def->radius, def->length);
    case TDL_RIGID_BOX:
        return box_mass(def);
    case TDL_RIGID_CURVES:
        return chain_mass(def, curves, count);
    }
    return capsule_mass(def->density, def->radius, 0.0);
}
