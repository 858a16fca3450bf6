// Mass and inertia of the shapes, in closed form but for chains of curves, which are integrated by
// Gauss' rule piece by piece. docs/theory/rigid.md, section 1
#include "rigid/shape.h"

#include "base/log.h"
#include "body/surface.h"
#include "curve/curve.h"
#include "math/gauss.h"
#include "rigid/cylinder.h"

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
    case TDL_RIGID_MESH:
        return 0;
    case TDL_RIGID_CYLINDER:
        return 2 * CYLINDER_ARCS;
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
    case TDL_RIGID_MESH:
        return TDL_STATUS_OK;
    case TDL_RIGID_CYLINDER:
        return cylinder_rims(host, def, out);
    }
    return segment(host, tdl_scale3(-1.0, half), half, def->radius, out);
}

// --- surfaces --------------------------------------------------------------------------------

static TdlStatus surface_about(const TdlHost* host, const TdlMesh* mesh, TdlVec3 centre,
                               double radius, struct Surface** out) {
    TdlVec3* vertices = tdl_alloc_array(&host->mem, (size_t)mesh->vertex_count, sizeof *vertices);
    if (vertices == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < mesh->vertex_count; ++i) {
        vertices[i] = tdl_sub3(mesh->vertices[i], centre);
    }
    int triangle;
    TdlMesh moved = {vertices, mesh->vertex_count, mesh->triangles, mesh->triangle_count};
    TdlStatus status = tdl_mesh_fault(&moved, &triangle) != NULL
                           ? tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                                      "rigid: centre is too far away, triangles vanish from there")
                           : surface_create(host, &moved, &(VertexMotion){0}, radius, out);
    tdl_free(&host->mem, vertices);
    return status;
}

// The faces, edges and corners of the core that the rounding goes about; none of a core without
// thickness, whose edges are enough.
static TdlStatus box_surface(const TdlHost* host, const TdlRigidDef* def, TdlVec3 centre,
                             struct Surface** out) {
    TdlVec3 vertices[8], r = {def->radius, def->radius, def->radius};
    int triangles[36], fault;
    TdlMesh mesh = surface_box_mesh(tdl_sub3(def->half, r), vertices, triangles);
    if (tdl_mesh_fault(&mesh, &fault) != NULL) {
        return TDL_STATUS_OK;
    }
    return surface_about(host, &mesh, centre, def->radius, out);
}

TdlStatus rigid_shape_surface(const TdlHost* host, const TdlRigidDef* def, TdlVec3 centre,
                              struct Surface** out) {
    *out = NULL;
    if (def->shape == TDL_RIGID_CYLINDER) {
        Cylinder core = cylinder_core(def, centre);
        return cylinder_stand_in(host, &core, out);
    }
    return def->shape == TDL_RIGID_BOX ? box_surface(host, def, centre, out)
           : def->shape == TDL_RIGID_MESH
               ? surface_about(host, &def->mesh, centre, def->radius, out)
               : TDL_STATUS_OK;
}

bool rigid_shape_solid(const TdlRigidDef* def, TdlVec3 centre, Solid* out) {
    double r = def->radius;
    *out = (Solid){.middle = tdl_scale3(-1.0, centre), .round = r, .cavity = def->inner_radius};
    switch (def->shape) {
    case TDL_RIGID_SPHERE:
        return true;
    case TDL_RIGID_CAPSULE:
        out->half.x = 0.5 * def->length;
        return true;
    case TDL_RIGID_BOX:
        out->half = tdl_sub3(def->half, (TdlVec3){r, r, r});
        return true;
    case TDL_RIGID_CYLINDER:
        out->kind = SOLID_CYLINDER;
        out->half.x = 0.5 * def->length - def->rounding;
        out->radius = r - def->rounding;
        out->round = def->rounding;
        return true;
    case TDL_RIGID_CURVES:
    case TDL_RIGID_MESH:
        break;
    }
    return false;
}

int rigid_surface_edges(const TdlHost* host, const struct Surface* s, TdlCurve* out) {
    int count = 0;
    for (int e = 0; e < s->edge_count; ++e) {
        const SurfaceEdge* edge = &s->edge[e];
        if (!edge->sharp) {
            continue;
        }
        if (out != NULL) { // no edge without length: every triangle has an area
            segment(host, s->vertex[edge->vertex[0]], s->vertex[edge->vertex[1]], s->radius,
                    &out[count]);
        }
        ++count;
    }
    return count;
}

// --- mass ------------------------------------------------------------------------------------

// Two half balls at the ends of a cylinder. (B.2)
static RigidMass capsule_mass(double density, double r, double length) {
    double h = 0.5 * length, rod = PI * r * r * length, ball = 4.0 / 3.0 * PI * r * r * r;
    double along = rod * h * h / 3.0 + ball * (h * h + 0.75 * h * r + r * r / 5.0);
    double across = rod * r * r / 4.0 + ball * r * r / 5.0;
    TdlMat3 s = tdl_diag33((TdlVec3){density * along, density * across, density * across});
    return (RigidMass){.mass = density * (rod + ball), .inertia = rigid_inertia_of(s)};
}

// A ball less a ball. (B.15)
static RigidMass sphere_mass(const TdlRigidDef* def) {
    RigidMass ball = capsule_mass(def->density, def->radius, 0.0);
    RigidMass inside = capsule_mass(def->density, def->inner_radius, 0.0);
    ball.mass -= inside.mass;
    ball.inertia = tdl_sub33(ball.inertia, inside.inertia);
    return ball;
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
                       .inertia = rigid_inertia_of(tdl_diag33(tdl_scale3(def->density, s)))};
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
                       rigid_inertia_of(tdl_scale33(def->density, second))};
}

static RigidMass even_mass(const TdlRigidDef* def, const TdlCurve* curves, int count) {
    switch (def->shape) {
    case TDL_RIGID_SPHERE:
        break;
    case TDL_RIGID_CAPSULE:
        return capsule_mass(def->density, def->radius, def->length);
    case TDL_RIGID_BOX:
        return box_mass(def);
    case TDL_RIGID_CURVES:
        return chain_mass(def, curves, count);
    case TDL_RIGID_MESH:
        return solid_mass(&def->mesh, def->density);
    case TDL_RIGID_CYLINDER:
        return cylinder_mass(def);
    }
    return sphere_mass(def);
}

bool rigid_has_inertia(const TdlRigidDef* def) {
    const TdlMat3* j = &def->inertia;
    const TdlVec3 columns[3] = {j->cx, j->cy, j->cz};
    bool has = false;
    for (int k = 0; k < 3; ++k) {
        has = has || columns[k].x != 0.0 || columns[k].y != 0.0 || columns[k].z != 0.0;
    }
    return has;
}

RigidMass rigid_shape_mass(const TdlRigidDef* def, const TdlCurve* curves, int count) {
    RigidMass m = even_mass(def, curves, count);
    if (def->mass > 0.0) {
        m.inertia = tdl_scale33(def->mass / m.mass, m.inertia);
        m.mass = def->mass;
    }
    if (rigid_has_inertia(def)) {
        m.inertia = def->inertia;
    }
    if (def->has_centre) {
        m.centre = def->centre;
    }
    return m;
}

double rigid_shape_size(const TdlRigidDef* def) {
    TdlVec3 half = def->half;
    return def->shape == TDL_RIGID_BOX        ? fmin(half.x, fmin(half.y, half.z))
           : def->shape == TDL_RIGID_MESH     ? solid_thickness(&def->mesh) + def->radius
           : def->shape == TDL_RIGID_CYLINDER ? fmin(def->radius, 0.5 * def->length)
                                              : def->radius;
}
