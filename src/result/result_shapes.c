// What colliders and rigid bodies look like, in planes, spheres, cylinders, capsules, discs and
// boxes; and the surfaces of a world. A chain of curves becomes a chain of capsules, each turning
// little.
#include "result/result.h"

#include "math/rotation.h"
#include "tendril/cloth.h"
#include "tendril/shell.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Angle a capsule of a chain may turn by, rad; and how many a piece may have.
static const double TURN = 0.1;
enum { MOST_PARTS = 1000 };

// Bars of a tube along it, and of a ring about it.
enum { TUBE_BARS = 8, RING_BARS = 16 };

static const double PI = 3.14159265358979323846;

static TdlPose at_origin(void) {
    return (TdlPose){.rotation = tdl_identity33()};
}

static int put(TdlResultShape* out, int index, const char* name, int body, TdlPose pose, double a,
               double b, double c) {
    if (out != NULL) {
        TdlResultShape shape = {.body = body, .size = {a, b, c}, .pose = pose};
        snprintf(shape.shape, sizeof shape.shape, "%s", name);
        out[index] = shape;
    }
    return index + 1;
}

// A pose whose first axis points along `axis`.
static TdlPose along(TdlVec3 place, TdlVec3 axis) {
    TdlVec3 least =
        fabs(axis.x) < fabs(axis.y) ? (TdlVec3){1.0, 0.0, 0.0} : (TdlVec3){0.0, 1.0, 0.0};
    TdlVec3 cy = tdl_cross3(axis, least);
    cy = tdl_scale3(1.0 / tdl_norm3(cy), cy);
    return (TdlPose){place, {axis, cy, tdl_cross3(axis, cy)}};
}

// Teeth in a row along the first axis, hanging down from a handle of twice their radius.
static int put_comb(const TdlColliderDef* def, int body, TdlResultShape* out) {
    int count = put(out, 0, "capsule", body, at_origin(), 2.0 * def->radius,
                    (def->teeth - 1) * def->pitch, 0.0);
    for (int i = 0; i < def->teeth; ++i) {
        double x = (i - 0.5 * (def->teeth - 1)) * def->pitch;
        TdlPose pose = along((TdlVec3){x, 0.0, -0.5 * def->length}, (TdlVec3){0.0, 0.0, -1.0});
        count = put(out, count, "capsule", body, pose, def->radius, def->length, 0.0);
    }
    return count;
}

// r' = R e_x, R' = R [kappa]x over steps in which the frame turns little: the chord of a step from
// its middle frame.
static int put_curves(const TdlCurvePiece* pieces, int piece_count, double radius, int body,
                      TdlResultShape* out) {
    TdlVec3 place = {0};
    TdlMat3 frame = tdl_identity33();
    int count = 0;
    for (int k = 0; k < piece_count; ++k) {
        double angle = tdl_norm3(pieces[k].curvature) * pieces[k].length;
        int parts = 1 + (int)fmin(angle / TURN, MOST_PARTS);
        double ds = pieces[k].length / parts;
        // half the angle by which a part bends: the chord is shorter than the arc by sin x / x
        double x = 0.5 * ds * hypot(pieces[k].curvature.y, pieces[k].curvature.z);
        double chord = x > 1.0e-6 ? ds * sin(x) / x : ds;
        TdlMat3 turn = tdl_rotation_exp(tdl_scale3(0.5 * ds, pieces[k].curvature));
        for (int i = 0; i < parts; ++i) {
            TdlMat3 middle = tdl_mul33(frame, turn);
            TdlPose pose = along(tdl_axpy3(place, 0.5 * chord, middle.cx), middle.cx);
            count = put(out, count, "capsule", body, pose, radius, chord, 0.0);
            place = tdl_axpy3(place, chord, middle.cx);
            frame = tdl_mul33(middle, turn);
        }
    }
    return count;
}

// A ring about the wall of a tube, where its frame is.
static int put_ring(const TdlColliderDef* def, TdlVec3 place, TdlMat3 frame, int body, int count,
                    TdlResultShape* out) {
    double middle = 0.5 * (def->radius + def->inner_radius), half = def->radius - middle;
    double step = 2.0 * PI / RING_BARS, chord = 2.0 * middle * sin(0.5 * step);
    for (int i = 0; i < RING_BARS; ++i) {
        double x = (i + 0.5) * step, deep = middle * cos(0.5 * step);
        TdlVec3 at = tdl_axpy3(tdl_axpy3(place, deep * cos(x), frame.cy), deep * sin(x), frame.cz);
        TdlVec3 t = tdl_axpy3(tdl_scale3(-sin(x), frame.cy), cos(x), frame.cz);
        count = put(out, count, "capsule", body, along(at, t), half, chord, 0.0);
    }
    return count;
}

// A tube as a cage of bars in its wall, so that what is inside is seen: along every part of it,
// and round where pieces begin and end.
static int put_tube(const TdlColliderDef* def, int body, TdlResultShape* out) {
    double middle = 0.5 * (def->radius + def->inner_radius), half = def->radius - middle;
    TdlVec3 place = {0};
    TdlMat3 frame = tdl_identity33();
    int count = put_ring(def, place, frame, body, 0, out);
    for (int k = 0; k < def->piece_count; ++k) {
        const TdlCurvePiece* piece = &def->pieces[k];
        int parts = 1 + (int)fmin(tdl_norm3(piece->curvature) * piece->length / TURN, MOST_PARTS);
        TdlMat3 turn = tdl_rotation_exp(tdl_scale3(0.5 * piece->length / parts, piece->curvature));
        for (int i = 0; i < parts; ++i) {
            TdlMat3 between = tdl_mul33(frame, turn), next = tdl_mul33(between, turn);
            double x = 0.5 * piece->length / parts * hypot(piece->curvature.y, piece->curvature.z);
            double chord = piece->length / parts * (x > 1.0e-6 ? sin(x) / x : 1.0);
            TdlVec3 to = tdl_axpy3(place, chord, between.cx);
            for (int bar = 0; bar < TUBE_BARS; ++bar) {
                double c = middle * cos(2.0 * PI * bar / TUBE_BARS),
                       s = middle * sin(2.0 * PI * bar / TUBE_BARS);
                TdlVec3 from = tdl_axpy3(tdl_axpy3(place, c, frame.cy), s, frame.cz);
                TdlVec3 way = tdl_sub3(tdl_axpy3(tdl_axpy3(to, c, next.cy), s, next.cz), from);
                TdlPose pose = along(tdl_axpy3(from, 0.5, way), tdl_unit3(way));
                count = put(out, count, "capsule", body, pose, half, tdl_norm3(way), 0.0);
            }
            place = to;
            frame = next;
        }
        count = put_ring(def, place, frame, body, count, out);
    }
    return count;
}

int result_collider_shapes(const TdlColliderDef* def, int body, TdlResultShape* out) {
    switch (def->shape) {
    case TDL_SHAPE_PLANE:
        return put(out, 0, "plane", body, at_origin(), 0.0, 0.0, 0.0);
    case TDL_SHAPE_SPHERE:
        return put(out, 0, "sphere", body, at_origin(), def->radius, 0.0, 0.0);
    case TDL_SHAPE_CYLINDER:
        return put(out, 0, "cylinder", body, at_origin(), def->radius, 0.0, 0.0);
    case TDL_SHAPE_CAPSULE:
        // from its position on, while a shape is about its middle
        return put(out, 0, "capsule", body,
                   (TdlPose){{0.5 * def->length, 0.0, 0.0}, tdl_identity33()}, def->radius,
                   def->length, 0.0);
    case TDL_SHAPE_PLATE:
        return put(out, 0, "disc", body, at_origin(), def->length, def->radius, 0.0);
    case TDL_SHAPE_COMB:
        return put_comb(def, body, out);
    case TDL_SHAPE_CURVES:
        return def->inner_radius > 0.0
                   ? put_tube(def, body, out)
                   : put_curves(def->pieces, def->piece_count, def->radius, body, out);
    case TDL_SHAPE_MESH:
        if (def->vertex_motion.sample_count > 0) {
            return 0; // a surface
        }
        put(out, 0, "mesh", body, at_origin(), def->radius, 0.0, 0.0);
        if (out != NULL) {
            out->mesh = def->mesh;
        }
        return 1;
    case TDL_SHAPE_IMPLICIT:
        put(out, 0, "mesh", body, at_origin(), 0.0, 0.0, 0.0);
        if (out != NULL) {
            out->mesh = def->mesh;
        }
        return 1;
    }
    return 0;
}

int result_rigid_shapes(const TdlRigidDef* def, int body, TdlResultShape* out) {
    switch (def->shape) {
    case TDL_RIGID_SPHERE:
        return put(out, 0, "sphere", body, at_origin(), def->radius, 0.0, 0.0);
    case TDL_RIGID_CAPSULE:
        return put(out, 0, "capsule", body, at_origin(), def->radius, def->length, 0.0);
    case TDL_RIGID_BOX:
        return put(out, 0, "box", body, at_origin(), def->half.x, def->half.y, def->half.z);
    case TDL_RIGID_CURVES:
        return put_curves(def->pieces, def->piece_count, def->radius, body, out);
    case TDL_RIGID_CYLINDER:
        return put(out, 0, "cylinder", body, at_origin(), def->radius, def->length,
                   def->inner_radius);
    case TDL_RIGID_MESH:
        put(out, 0, "mesh", body, at_origin(), def->radius, 0.0, 0.0);
        if (out != NULL) {
            out->mesh = def->mesh;
        }
        return 1;
    }
    return 0;
}

// False: there are no more.
static bool find_collider(const TdlWorld* world, int index, TdlColliderDef* def) {
    TdlBodyId id = tdl_world_body(world, "collider", index);
    return id.index > 0 && tdl_collider_def(world, id, def) == TDL_STATUS_OK;
}

int tdl_world_shapes(const TdlWorld* world, TdlResultShape* out) {
    int count = 0, colliders = 0;
    TdlColliderDef collider;
    for (; find_collider(world, colliders, &collider); ++colliders) {
        count += result_collider_shapes(&collider, colliders, out == NULL ? NULL : out + count);
    }
    TdlRigidDef rigid;
    int rigids = tdl_world_bodies(world, "rigid", 0, NULL);
    for (int i = 0; i < rigids; ++i) {
        tdl_rigid_def(world, tdl_world_body(world, "rigid", i), &rigid);
        count += result_rigid_shapes(&rigid, colliders + i, out == NULL ? NULL : out + count);
    }
    return count;
}

// A cloth, or a shell patch, which results have behind the cloths as one that nothing touches.
typedef struct Sheet {
    TdlBodyId id;
    bool shell;
    double thickness;
    int vertex_count, face_count, triangle_count;
    const int *faces, *triangles;
} Sheet;

static bool find_shell(const TdlWorld* world, int index, Sheet* out) {
    TdlShellPatchDef def;
    TdlShellMesh mesh;
    TdlBodyId id = tdl_world_body(world, "shell", index);
    if (id.index <= 0 || tdl_shell_patch_def(world, id, &def) != TDL_STATUS_OK ||
        tdl_shell_patch_mesh(world, id, &mesh) != TDL_STATUS_OK) {
        return false;
    }
    *out = (Sheet){id,
                   true,
                   def.thickness,
                   mesh.vertex_count,
                   mesh.face_count,
                   mesh.triangle_count,
                   mesh.faces,
                   mesh.triangles};
    return true;
}

// False: there are no more.
static bool find_sheet(const TdlWorld* world, int index, Sheet* out) {
    TdlClothDef def;
    int cloths = tdl_world_bodies(world, "cloth", 0, NULL);
    if (index >= cloths) {
        return find_shell(world, index - cloths, out);
    }
    TdlBodyId id = tdl_world_body(world, "cloth", index);
    if (tdl_cloth_def(world, id, &def) != TDL_STATUS_OK) {
        return false;
    }
    *out = (Sheet){.id = id,
                   .thickness = def.thickness,
                   .vertex_count = def.mesh.vertex_count,
                   .faces = def.mesh.faces,
                   .face_count = def.mesh.face_count};
    tdl_cloth_triangles(world, id, &out->triangles, &out->triangle_count);
    return true;
}

// The surfaces of the sheets, behind `count` others with `points` vertices.
static int put_sheets(const TdlWorld* world, int count, int points, TdlResultSurface* out) {
    Sheet sheet;
    for (int i = 0; find_sheet(world, i, &sheet); ++i) {
        if (out != NULL) {
            out[count] = (TdlResultSurface){.body = -1,
                                            .radius = 0.5 * sheet.thickness,
                                            .first_point = points,
                                            .point_count = sheet.vertex_count,
                                            .triangles = sheet.triangles,
                                            .triangle_count = sheet.triangle_count};
        }
        points += sheet.vertex_count;
        ++count;
    }
    return count;
}

int tdl_world_surfaces(const TdlWorld* world, TdlResultSurface* out) {
    int count = 0, points = 0;
    TdlColliderDef def;
    for (int i = 0; find_collider(world, i, &def); ++i) {
        if (def.vertex_motion.sample_count == 0) {
            continue;
        }
        if (out != NULL) {
            out[count] = (TdlResultSurface){.body = i,
                                            .radius = def.radius,
                                            .first_point = points,
                                            .point_count = def.mesh.vertex_count,
                                            .triangles = def.mesh.triangles,
                                            .triangle_count = def.mesh.triangle_count};
        }
        points += def.mesh.vertex_count;
        ++count;
    }
    return put_sheets(world, count, points, out);
}

int tdl_world_cloths(const TdlWorld* world, TdlResultCloth* out) {
    int count = 0, points = 0;
    int first = tdl_world_surfaces(world, NULL) - tdl_world_bodies(world, "cloth", 0, NULL) -
                tdl_world_bodies(world, "shell", 0, NULL);
    Sheet sheet;
    for (; find_sheet(world, count, &sheet); ++count) {
        if (out != NULL) {
            TdlVec3 centre;
            out[count] = (TdlResultCloth){.surface = first + count,
                                          .first_point = points,
                                          .point_count = sheet.vertex_count,
                                          .faces = sheet.faces,
                                          .face_count = sheet.face_count};
            tdl_body_centre(world, sheet.id, &centre, &out[count].mass);
        }
        points += sheet.vertex_count;
    }
    return count;
}

TdlStatus tdl_world_rod_forces(const TdlWorld* world, int samples, TdlVec3* forces,
                               TdlVec3* moments) {
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; i < tdl_world_bodies(world, "rod", 0, NULL); ++i) {
        TdlBodyId rod = tdl_world_body(world, "rod", i);
        TdlRodInfo info = {0};
        tdl_rod_info(world, rod, &info);
        int count = info.element_count * samples;
        for (int k = 0; k <= count && status == TDL_STATUS_OK; ++k) {
            TdlRodForce force = {0};
            double at = fmin(info.length * k / count, info.length);
            status = tdl_rod_forces(world, rod, 1, &at, &force);
            *forces++ = force.inner;
            *moments++ = force.bending;
        }
    }
    return status;
}

void tdl_world_strains(const TdlWorld* world, double* out) {
    Sheet sheet;
    for (int i = 0; find_sheet(world, i, &sheet); ++i) {
        if (sheet.shell) { // it has none
            memset(out, 0, (size_t)sheet.vertex_count * sizeof *out);
        } else {
            tdl_cloth_vertex_strains(world, sheet.id, out);
        }
        out += sheet.vertex_count;
    }
}

void tdl_world_surface_points(const TdlWorld* world, TdlVec3* out) {
    TdlColliderDef def;
    for (int i = 0; find_collider(world, i, &def); ++i) {
        TdlPose pose = def.pose;
        tdl_collider_pose(world, tdl_world_body(world, "collider", i), &pose);
        for (int k = 0; def.vertex_motion.sample_count > 0 && k < def.mesh.vertex_count; ++k) {
            *out++ = tdl_add3(pose.position, tdl_mul33_3(pose.rotation, def.mesh.vertices[k]));
        }
    }
    Sheet sheet;
    for (int i = 0; find_sheet(world, i, &sheet); ++i) {
        if (sheet.shell) {
            tdl_shell_patch_points(world, sheet.id, out, NULL);
        } else {
            tdl_cloth_state(world, sheet.id, out, NULL);
        }
        out += sheet.vertex_count;
    }
}

// The kind of a body as results have it; false: they have none.
static bool find_kind(const TdlWorld* world, TdlBodyId body, TdlResultKind* out) {
    static const char* const NAMES[] = {[TDL_RESULT_ROD] = "rod",
                                        [TDL_RESULT_BODY] = "rigid",
                                        [TDL_RESULT_COLLIDER] = "collider",
                                        [TDL_RESULT_CLOTH] = "cloth",
                                        [TDL_RESULT_GRAINS] = "grains"};
    const char* kind = tdl_body_kind(world, body);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; ++i) {
        if (strcmp(kind, NAMES[i]) == 0) {
            *out = (TdlResultKind)i;
            return true;
        }
    }
    return false;
}

int tdl_world_result_contacts(const TdlWorld* world, int capacity, TdlResultContact* out) {
    int count, kept = 0;
    const TdlContactForce* forces = tdl_world_contact_forces(world, &count);
    for (int i = 0; i < count; ++i) {
        const TdlContactForce* f = &forces[i];
        TdlResultKind kind[2];
        if (!find_kind(world, f->body[0], &kind[0]) || !find_kind(world, f->body[1], &kind[1])) {
            continue;
        }
        if (kept < capacity) {
            out[kept] = (TdlResultContact){
                .kind = {kind[0], kind[1]},
                .index = {tdl_body_index(world, f->body[0]), tdl_body_index(world, f->body[1])},
                .element = {f->element[0], f->element[1]},
                .u = {f->u[0], f->u[1]},
                .v = {f->v[0], f->v[1]},
                .point = f->point,
                .normal = f->normal,
                .force = f->force,
                .gap = f->gap,
                .mu = f->mu,
                .sliding = f->sliding};
        }
        ++kept;
    }
    return kept;
}

int tdl_world_result_joints(const TdlWorld* world, TdlResultJoint* out) {
    static const char* const KINDS[] = {[TDL_JOINT_FIXED] = "fixed",
                                        [TDL_JOINT_BALL] = "ball",
                                        [TDL_JOINT_HINGE] = "hinge",
                                        [TDL_JOINT_SLIDER] = "slider",
                                        [TDL_JOINT_DISTANCE] = "distance"};
    int count = tdl_world_joints(world, 0, NULL);
    for (int i = 0; i < count && out != NULL; ++i) {
        TdlJointDef def = {0};
        TdlJointId id = tdl_world_joint(world, i);
        tdl_joint_def(world, id, &def);
        snprintf(out[i].name, sizeof out[i].name, "%s", tdl_joint_name(world, id));
        snprintf(out[i].kind, sizeof out[i].kind, "%s", KINDS[def.kind]);
    }
    return count;
}

int tdl_world_joint_states(const TdlWorld* world, TdlResultJointState* out) {
    int count = tdl_world_joints(world, 0, NULL);
    for (int i = 0; i < count && out != NULL; ++i) {
        TdlJointState state = {0};
        tdl_joint_state(world, tdl_world_joint(world, i), &state);
        out[i] = (TdlResultJointState){.point = state.point,
                                       .force = state.force,
                                       .torque = state.torque,
                                       .coordinate = state.coordinate,
                                       .broken = state.broken,
                                       .idle = state.idle};
    }
    return count;
}
