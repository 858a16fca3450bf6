// The plainer formats: Wavefront OBJ, PC2 point caches, .hair, CSV.
#include "app/export.h"
#include "app/output.h"

#include <stdint.h>
#include <string.h>

// --- one file a frame -----------------------------------------------------------------------

// Writes each frame with `print`, to `path` or, when there are several, to NAME-0000 and so on.
static int each_frame(FrameReader* reader, const char* path, const char* ending,
                      void (*print)(const FrameReader* reader, FILE* out)) {
    int code = EXIT_DONE;
    for (int k = 0; k < reader->frame_count && code == EXIT_DONE; ++k) {
        char file[OUTPUT_PATH_SIZE], suffix[64];
        snprintf(suffix, sizeof suffix, "-%04ld%s", reader->frames[k], ending);
        output_path(file, path, ending, reader->frame_count > 1 ? suffix : ending);
        code = exit_code(frame_reader_load(reader, k));
        FILE* out = code == EXIT_DONE ? output_open(reader->frame_count > 1 ? file : path) : NULL;
        if (out == NULL) {
            return code == EXIT_DONE ? output_failure() : code;
        }
        print(reader, out);
        code = output_close(out, true) ? code : output_failure();
    }
    return code;
}

// --- OBJ ------------------------------------------------------------------------------------

static void print_obj_start(const FrameReader* reader, FILE* out) {
    fprintf(out, "# tendril %s, t = %.9g s, metres, z up\n", tdl_version(), reader->time);
}

static void print_obj_rods(const FrameReader* reader, FILE* out) {
    print_obj_start(reader, out);
    if (reader->info.rod_count > 0) {
        fprintf(out, "o rods\n");
    }
    for (int i = 0; i < reader->info.point_count; ++i) {
        TdlVec3 p = reader->points[i];
        fprintf(out, "v %.9g %.9g %.9g\n", p.x, p.y, p.z);
    }
    // segment by segment: some readers take only the first of a longer polyline
    for (int rod = 0; rod < reader->info.rod_count; ++rod) {
        for (int i = reader->start[rod]; i + 1 < reader->start[rod + 1]; ++i) {
            fprintf(out, "l %d %d\n", i + 1, i + 2);
        }
    }
}

// Points and normals that were written already.
typedef struct ObjCounts {
    int points, normals;
} ObjCounts;

static void print_obj_points(const Mesh* mesh, TdlPose pose, FILE* out) {
    for (int i = 0; i < mesh->point_count; ++i) {
        TdlVec3 p = tdl_add3(pose.position, tdl_mul33_3(pose.rotation, mesh->points[i]));
        fprintf(out, "v %.9g %.9g %.9g\n", p.x, p.y, p.z);
    }
    for (int i = 0; i < mesh->point_count; ++i) {
        TdlVec3 n = tdl_mul33_3(pose.rotation, mesh->normals[i]);
        fprintf(out, "vn %.6g %.6g %.6g\n", n.x, n.y, n.z);
    }
}

static void print_obj_face(const int* corner, int count, const ObjCounts* before, FILE* out) {
    fputc('f', out);
    for (int k = 0; k < count && corner[k] >= 0; ++k) {
        fprintf(out, " %d//%d", before->points + corner[k] + 1, before->normals + corner[k] + 1);
    }
    fputc('\n', out);
}

static void print_obj_mesh(const Mesh* mesh, TdlPose pose, ObjCounts* before, FILE* out) {
    print_obj_points(mesh, pose, out);
    for (int i = 0; i < mesh->triangle_count; ++i) {
        print_obj_face(mesh->triangles[i], 3, before, out);
    }
    before->points += mesh->point_count;
    before->normals += mesh->point_count;
}

// An object each or, when `name` is given, one of all.
static void print_obj_bodies(const FrameReader* reader, ObjCounts* before, const char* name,
                             FILE* out) {
    for (int b = 0; b < reader->body_count; ++b) {
        if (reader->bodies[b].point_count == 0) {
            continue; // a surface
        }
        if (name == NULL) {
            fprintf(out, "o body_%d\n", b);
        } else if (before->normals == 0) {
            fprintf(out, "o %s\n", name); // a cache moves one object
        }
        print_obj_mesh(&reader->bodies[b], reader->poses[b], before, out);
    }
}

static void print_obj_surface(const FrameReader* reader, int surface, ObjCounts* before,
                              FILE* out) {
    const TdlPose here = {.rotation = tdl_identity33()};
    const Mesh* sheet = &reader->sheets[surface];
    if (reader->cloth_of[surface] < 0) {
        fprintf(out, "o surface_%d\n", surface);
        print_obj_mesh(sheet, here, before, out);
        return;
    }
    // a cloth has its own faces, most of them quads
    TdlResultCloth cloth = tdl_result_cloth(reader->result, reader->cloth_of[surface]);
    fprintf(out, "o cloth_%d\n", reader->cloth_of[surface]);
    print_obj_points(sheet, here, out);
    for (int i = 0; i < cloth.face_count; ++i) {
        print_obj_face(cloth.faces + 4 * (size_t)i, 4, before, out);
    }
    before->points += sheet->point_count;
    before->normals += sheet->point_count;
}

static void print_obj(const FrameReader* reader, FILE* out) {
    ObjCounts before = {.points = reader->info.point_count};
    print_obj_rods(reader, out);
    print_obj_bodies(reader, &before, NULL, out);
    for (int i = 0; i < reader->surface_count; ++i) {
        print_obj_surface(reader, i, &before, out);
    }
}

int export_obj(FrameReader* reader, const char* path) {
    return each_frame(reader, path, ".obj", print_obj);
}

// --- PC2 ------------------------------------------------------------------------------------

// Numbers as the format has them: little-endian.
static void put_u32(FILE* out, uint32_t value) {
    for (int i = 0; i < 4; ++i) {
        fputc((int)(value >> 8 * i & 0xff), out);
    }
}

static void put_f32(FILE* out, double value) {
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    put_u32(out, bits);
}

static void put_point(FILE* out, TdlVec3 p) {
    put_f32(out, p.x);
    put_f32(out, p.y);
    put_f32(out, p.z);
}

static void put_points(FILE* out, const TdlVec3* points, int count) {
    for (int i = 0; i < count; ++i) {
        put_point(out, points[i]);
    }
}

// What a cache moves: the object in its .obj, and its points in a frame. `surface` counts from 0.
typedef struct Cached {
    int point_count, surface;
    void (*print)(const FrameReader* reader, int surface, FILE* out);
    void (*put)(const FrameReader* reader, int surface, FILE* out);
} Cached;

static void print_rods_alone(const FrameReader* reader, int surface, FILE* out) {
    (void)surface;
    print_obj_rods(reader, out);
}

static void put_rods(const FrameReader* reader, int surface, FILE* out) {
    (void)surface;
    put_points(out, reader->points, reader->info.point_count);
}

static void print_bodies_alone(const FrameReader* reader, int surface, FILE* out) {
    (void)surface;
    print_obj_start(reader, out);
    print_obj_bodies(reader, &(ObjCounts){0}, "bodies", out);
}

static void put_bodies(const FrameReader* reader, int surface, FILE* out) {
    (void)surface;
    for (int b = 0; b < reader->body_count; ++b) {
        TdlPose pose = reader->poses[b];
        for (int i = 0; i < reader->bodies[b].point_count; ++i) {
            TdlVec3 p = reader->bodies[b].points[i];
            put_point(out, tdl_add3(pose.position, tdl_mul33_3(pose.rotation, p)));
        }
    }
}

static void print_surface_alone(const FrameReader* reader, int surface, FILE* out) {
    print_obj_start(reader, out);
    print_obj_surface(reader, surface, &(ObjCounts){0}, out);
}

static void put_surface(const FrameReader* reader, int surface, FILE* out) {
    put_points(out, reader->sheets[surface].points, reader->sheets[surface].point_count);
}

// NAME.obj with the first frame, and the cache of all frames' points.
static int write_cache(FrameReader* reader, const char* path, const Cached* what) {
    char first[OUTPUT_PATH_SIZE];
    output_path(first, path, ".pc2", ".obj");
    int code = exit_code(frame_reader_load(reader, 0));
    FILE* out = code == EXIT_DONE ? output_open(first) : NULL;
    if (out == NULL) {
        return code == EXIT_DONE ? output_failure() : code;
    }
    what->print(reader, what->surface, out);
    out = output_close(out, true) ? output_open(path) : NULL;
    if (out == NULL) {
        return output_failure();
    }
    fwrite("POINTCACHE2", 1, 12, out); // with its zero byte
    put_u32(out, 1);
    put_u32(out, (uint32_t)what->point_count);
    put_f32(out, 0.0); // first frame
    put_f32(out, 1.0); // frames a sample
    put_u32(out, (uint32_t)reader->frame_count);
    for (int k = 0; k < reader->frame_count && code == EXIT_DONE; ++k) {
        code = exit_code(frame_reader_load(reader, k));
        what->put(reader, what->surface, out);
    }
    bool stands = output_close(out, code == EXIT_DONE);
    return stands || code != EXIT_DONE ? code : output_failure();
}

int export_pc2(FrameReader* reader, const char* path) {
    char file[OUTPUT_PATH_SIZE], suffix[64];
    Cached rods = {reader->info.point_count, 0, print_rods_alone, put_rods};
    Cached bodies = {0, 0, print_bodies_alone, put_bodies};
    for (int b = 0; b < reader->body_count; ++b) {
        bodies.point_count += reader->bodies[b].point_count;
    }
    int code = write_cache(reader, path, &rods);
    if (code == EXIT_DONE && bodies.point_count > 0) {
        output_path(file, path, ".pc2", "-bodies.pc2");
        code = write_cache(reader, file, &bodies);
    }
    for (int i = 0; i < reader->surface_count && code == EXIT_DONE; ++i) {
        Cached surface = {reader->surfaces[i].point_count, i, print_surface_alone, put_surface};
        int cloth = reader->cloth_of[i];
        snprintf(suffix, sizeof suffix, cloth < 0 ? "-surface-%d.pc2" : "-cloth-%d.pc2",
                 cloth < 0 ? i : cloth);
        output_path(file, path, ".pc2", suffix);
        code = write_cache(reader, file, &surface);
    }
    return code;
}

// --- .hair ----------------------------------------------------------------------------------

enum { HAIR_SEGMENTS = 1, HAIR_POINTS = 2, HAIR_THICKNESS = 4, HAIR_INFO = 88 };

static void print_hair(const FrameReader* reader, FILE* out) {
    char info[HAIR_INFO] = "";
    snprintf(info, sizeof info, "tendril %s, metres, z up", tdl_version());
    fwrite("HAIR", 1, 4, out);
    put_u32(out, (uint32_t)reader->info.rod_count);
    put_u32(out, (uint32_t)reader->info.point_count);
    put_u32(out, HAIR_SEGMENTS | HAIR_POINTS | HAIR_THICKNESS);
    put_u32(out, 0);   // segments of hairs that do not tell
    put_f32(out, 0.0); // thickness, likewise
    put_f32(out, 0.0); // transparency
    put_f32(out, 0.2); // colour
    put_f32(out, 0.15);
    put_f32(out, 0.1);
    fwrite(info, 1, sizeof info, out);
    for (int rod = 0; rod < reader->info.rod_count; ++rod) {
        int segments = reader->start[rod + 1] - reader->start[rod] - 1;
        fputc(segments & 0xff, out);
        fputc(segments >> 8, out);
    }
    put_points(out, reader->points, reader->info.point_count);
    for (int rod = 0; rod < reader->info.rod_count; ++rod) {
        for (int i = reader->start[rod]; i < reader->start[rod + 1]; ++i) {
            put_f32(out, 2.0 * reader->radius[rod]);
        }
    }
}

int export_hair(FrameReader* reader, const char* path) {
    for (int rod = 0; rod < reader->info.rod_count; ++rod) {
        int segments = reader->start[rod + 1] - reader->start[rod] - 1;
        if (segments > UINT16_MAX) {
            fprintf(stderr, "%s: rod %d has %d segments; a .hair file holds at most %d a hair\n",
                    reader->path, rod, segments, UINT16_MAX);
            return EXIT_INPUT;
        }
    }
    return each_frame(reader, path, ".hair", print_hair);
}

// --- CSV ------------------------------------------------------------------------------------

static void print_csv_points(const FrameReader* reader, int k, FILE* out) {
    for (int rod = 0; rod < reader->info.rod_count; ++rod) {
        for (int i = reader->start[rod]; i < reader->start[rod + 1]; ++i) {
            TdlVec3 p = reader->points[i];
            fprintf(out, "%ld,%.9g,%d,%d,%.9g,%.9g,%.9g,%.6g,%.6g", reader->frames[k], reader->time,
                    rod, i - reader->start[rod], p.x, p.y, p.z, reader->radius[rod],
                    reader->curvature[i]);
            if (reader->info.has_forces) {
                TdlVec3 n = reader->forces[i], m = reader->moments[i];
                fprintf(out, ",%.9g,%.9g,%.9g,%.9g,%.9g,%.9g", n.x, n.y, n.z, m.x, m.y, m.z);
            }
            fputc('\n', out);
        }
    }
}

static void print_csv_cloths(const FrameReader* reader, int k, FILE* out) {
    for (int s = 0; s < reader->surface_count; ++s) {
        const TdlResultSurface* surface = &reader->surfaces[s];
        for (int i = 0; reader->cloth_of[s] >= 0 && i < surface->point_count; ++i) {
            int point = surface->first_point + i;
            TdlVec3 p = reader->surface_points[point];
            fprintf(out, "%ld,%.9g,%d,%d,%.9g,%.9g,%.9g,%.6g\n", reader->frames[k], reader->time,
                    reader->cloth_of[s], i, p.x, p.y, p.z, reader->strains[point]);
        }
    }
}

static void print_csv_contacts(const FrameReader* reader, int k, FILE* out) {
    static const char* const KINDS[] = {"rod", "body", "collider", "cloth", "grains"};
    for (int i = 0; i < reader->contact_count; ++i) {
        const TdlResultContact* c = &reader->contacts[i];
        fprintf(out, "%ld,%.9g", reader->frames[k], reader->time);
        for (int side = 0; side < 2; ++side) {
            fprintf(out, ",%s,%d,%d,%.9g", KINDS[c->kind[side]], c->index[side], c->element[side],
                    c->u[side]);
        }
        fprintf(out, ",%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%d\n", c->point.x,
                c->point.y, c->point.z, c->normal.x, c->normal.y, c->normal.z, c->force.x,
                c->force.y, c->force.z, c->gap, c->mu, c->sliding);
    }
}

static void print_csv_grains(const FrameReader* reader, int k, FILE* out) {
    for (int i = 0; i < reader->particle_count; ++i) {
        const TdlResultParticle* p = &reader->particles[i];
        fprintf(out, "%ld,%.9g,%d,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n",
                reader->frames[k], reader->time, p->number, p->position.x, p->position.y,
                p->position.z, p->velocity.x, p->velocity.y, p->velocity.z, p->fraction,
                p->pressure, p->shear);
    }
}

// In quotes, those within doubled: a result may name its joints as it likes.
static void put_quoted(FILE* out, const char* text) {
    fputc('"', out);
    for (; *text != '\0'; ++text) {
        fputs(*text == '"' ? "\"" : "", out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void print_csv_joints(const FrameReader* reader, int k, FILE* out) {
    for (int i = 0; i < reader->info.joint_count; ++i) {
        TdlResultJoint joint = tdl_result_joint(reader->result, i);
        const TdlResultJointState* s = &reader->joints[i];
        fprintf(out, "%ld,%.9g,%d,", reader->frames[k], reader->time, i);
        put_quoted(out, joint.name);
        fprintf(out, ",%s,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%d,%d\n", joint.kind,
                s->point.x, s->point.y, s->point.z, s->force.x, s->force.y, s->force.z, s->torque.x,
                s->torque.y, s->torque.z, s->coordinate, s->broken, s->idle);
    }
}

// Writes all frames with `print` below a line of names.
static int print_table(FrameReader* reader, const char* path, const char* names,
                       void (*print)(const FrameReader* reader, int k, FILE* out)) {
    FILE* out = output_open(path);
    if (out == NULL) {
        return output_failure();
    }
    int code = EXIT_DONE;
    fputs(names, out);
    for (int k = 0; k < reader->frame_count && code == EXIT_DONE; ++k) {
        code = exit_code(frame_reader_load(reader, k));
        if (code == EXIT_DONE) {
            print(reader, k, out);
        }
    }
    bool stands = output_close(out, code == EXIT_DONE);
    return stands || code != EXIT_DONE ? code : output_failure();
}

int export_csv(FrameReader* reader, const char* path) {
    char contacts[OUTPUT_PATH_SIZE], cloths[OUTPUT_PATH_SIZE], joints[OUTPUT_PATH_SIZE];
    char grains[OUTPUT_PATH_SIZE];
    output_path(contacts, path, ".csv", "-contacts.csv");
    bool touched = false;
    const char* names = reader->info.has_forces
                            ? "frame,time,rod,point,x,y,z,radius,curvature,tension,shear_2,"
                              "shear_3,twist_moment,moment_2,moment_3\n"
                            : "frame,time,rod,point,x,y,z,radius,curvature\n";
    int code = print_table(reader, path, names, print_csv_points);
    if (code == EXIT_DONE && reader->info.cloth_count > 0) {
        output_path(cloths, path, ".csv", "-cloths.csv");
        code =
            print_table(reader, cloths, "frame,time,cloth,vertex,x,y,z,strain\n", print_csv_cloths);
    }
    if (code == EXIT_DONE && reader->info.joint_count > 0) {
        output_path(joints, path, ".csv", "-joints.csv");
        code = print_table(reader, joints,
                           "frame,time,joint,name,kind,x,y,z,force_x,force_y,force_z,torque_x,"
                           "torque_y,torque_z,coordinate,broken,idle\n",
                           print_csv_joints);
    }
    if (code == EXIT_DONE && reader->info.has_grains) {
        output_path(grains, path, ".csv", "-grains.csv");
        code = print_table(reader, grains,
                           "frame,time,particle,x,y,z,velocity_x,velocity_y,velocity_z,fraction,"
                           "pressure,shear\n",
                           print_csv_grains);
    }
    code = code == EXIT_DONE ? exit_code(frame_reader_touches(reader, &touched)) : code;
    if (code != EXIT_DONE || !touched) {
        return code;
    }
    return print_table(reader, contacts,
                       "frame,time,kind_a,body_a,element_a,s_a,kind_b,body_b,element_b,s_b,x,y,z,"
                       "normal_x,normal_y,normal_z,force_x,force_y,force_z,gap,mu,sliding\n",
                       print_csv_contacts);
}
