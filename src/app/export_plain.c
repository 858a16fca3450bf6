// The plainer formats: Wavefront OBJ, PC2 point caches, .hair, CSV.
#include "app/export.h"
#include "app/output.h"

#include <stdint.h>
#include <string.h>

// --- one file a frame -----------------------------------------------------------------------

// Writes each frame with `print`, to `path` or, when there are several, to NAME-0000 and so on.
static int each_frame(Take* take, const char* path, const char* ending,
                      void (*print)(const Take* take, FILE* out)) {
    int code = EXIT_DONE;
    for (int k = 0; k < take->frame_count && code == EXIT_DONE; ++k) {
        char file[OUTPUT_PATH_SIZE], suffix[64];
        snprintf(suffix, sizeof suffix, "-%04ld%s", take->frames[k], ending);
        output_path(file, path, ending, take->frame_count > 1 ? suffix : ending);
        code = exit_code(take_load(take, k));
        FILE* out = code == EXIT_DONE ? output_open(take->frame_count > 1 ? file : path) : NULL;
        if (out == NULL) {
            return code == EXIT_DONE ? EXIT_INPUT : code;
        }
        print(take, out);
        code = output_close(out, take->frame_count > 1 ? file : path, true) ? code : EXIT_INPUT;
    }
    return code;
}

// --- OBJ ------------------------------------------------------------------------------------

static void print_obj_start(const Take* take, FILE* out) {
    fprintf(out, "# tendril %s, t = %.9g s, metres, z up\n", tdl_version(), take->time);
}

static void print_obj_rods(const Take* take, FILE* out) {
    print_obj_start(take, out);
    if (take->info.rod_count > 0) {
        fprintf(out, "o rods\n");
    }
    for (int i = 0; i < take->info.point_count; ++i) {
        TdlVec3 p = take->points[i];
        fprintf(out, "v %.9g %.9g %.9g\n", p.x, p.y, p.z);
    }
    // segment by segment: some readers take only the first of a longer polyline
    for (int rod = 0; rod < take->info.rod_count; ++rod) {
        for (int i = take->start[rod]; i + 1 < take->start[rod + 1]; ++i) {
            fprintf(out, "l %d %d\n", i + 1, i + 2);
        }
    }
}

// Points and normals that were written already.
typedef struct ObjCounts {
    int points, normals;
} ObjCounts;

static void print_obj_mesh(const Mesh* mesh, TdlPose pose, ObjCounts* before, FILE* out) {
    for (int i = 0; i < mesh->point_count; ++i) {
        TdlVec3 p = tdl_add3(pose.position, tdl_mul33_3(pose.rotation, mesh->points[i]));
        fprintf(out, "v %.9g %.9g %.9g\n", p.x, p.y, p.z);
    }
    for (int i = 0; i < mesh->point_count; ++i) {
        TdlVec3 n = tdl_mul33_3(pose.rotation, mesh->normals[i]);
        fprintf(out, "vn %.6g %.6g %.6g\n", n.x, n.y, n.z);
    }
    for (int i = 0; i < mesh->triangle_count; ++i) {
        const int* t = mesh->triangles[i];
        fputc('f', out);
        for (int k = 0; k < 3; ++k) {
            fprintf(out, " %d//%d", before->points + t[k] + 1, before->normals + t[k] + 1);
        }
        fputc('\n', out);
    }
    before->points += mesh->point_count;
    before->normals += mesh->point_count;
}

// An object each or, when `name` is given, one of all.
static void print_obj_bodies(const Take* take, ObjCounts* before, const char* name, FILE* out) {
    for (int b = 0; b < take->body_count; ++b) {
        if (take->bodies[b].point_count == 0) {
            continue; // a surface
        }
        if (name == NULL) {
            fprintf(out, "o body_%d\n", b);
        } else if (before->normals == 0) {
            fprintf(out, "o %s\n", name); // a cache moves one object
        }
        print_obj_mesh(&take->bodies[b], take->poses[b], before, out);
    }
}

static void print_obj_surface(const Take* take, int surface, ObjCounts* before, FILE* out) {
    const TdlPose here = {.rotation = tdl_identity33()};
    fprintf(out, "o surface_%d\n", surface);
    print_obj_mesh(&take->sheets[surface], here, before, out);
}

static void print_obj(const Take* take, FILE* out) {
    ObjCounts before = {.points = take->info.point_count};
    print_obj_rods(take, out);
    print_obj_bodies(take, &before, NULL, out);
    for (int i = 0; i < take->surface_count; ++i) {
        print_obj_surface(take, i, &before, out);
    }
}

int export_obj(Take* take, const char* path) {
    return each_frame(take, path, ".obj", print_obj);
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
    void (*print)(const Take* take, int surface, FILE* out);
    void (*put)(const Take* take, int surface, FILE* out);
} Cached;

static void print_rods_alone(const Take* take, int surface, FILE* out) {
    (void)surface;
    print_obj_rods(take, out);
}

static void put_rods(const Take* take, int surface, FILE* out) {
    (void)surface;
    put_points(out, take->points, take->info.point_count);
}

static void print_bodies_alone(const Take* take, int surface, FILE* out) {
    (void)surface;
    print_obj_start(take, out);
    print_obj_bodies(take, &(ObjCounts){0}, "bodies", out);
}

static void put_bodies(const Take* take, int surface, FILE* out) {
    (void)surface;
    for (int b = 0; b < take->body_count; ++b) {
        TdlPose pose = take->poses[b];
        for (int i = 0; i < take->bodies[b].point_count; ++i) {
            TdlVec3 p = take->bodies[b].points[i];
            put_point(out, tdl_add3(pose.position, tdl_mul33_3(pose.rotation, p)));
        }
    }
}

static void print_surface_alone(const Take* take, int surface, FILE* out) {
    print_obj_start(take, out);
    print_obj_surface(take, surface, &(ObjCounts){0}, out);
}

static void put_surface(const Take* take, int surface, FILE* out) {
    put_points(out, take->sheets[surface].points, take->sheets[surface].point_count);
}

// NAME.obj with the first frame, and the cache of all frames' points.
static int write_cache(Take* take, const char* path, const Cached* what) {
    char first[OUTPUT_PATH_SIZE];
    output_path(first, path, ".pc2", ".obj");
    int code = exit_code(take_load(take, 0));
    FILE* out = code == EXIT_DONE ? output_open(first) : NULL;
    if (out == NULL) {
        return code == EXIT_DONE ? EXIT_INPUT : code;
    }
    what->print(take, what->surface, out);
    out = output_close(out, first, true) ? output_open(path) : NULL;
    if (out == NULL) {
        return EXIT_INPUT;
    }
    fwrite("POINTCACHE2", 1, 12, out); // with its zero byte
    put_u32(out, 1);
    put_u32(out, (uint32_t)what->point_count);
    put_f32(out, 0.0); // first frame
    put_f32(out, 1.0); // frames a sample
    put_u32(out, (uint32_t)take->frame_count);
    for (int k = 0; k < take->frame_count && code == EXIT_DONE; ++k) {
        code = exit_code(take_load(take, k));
        what->put(take, what->surface, out);
    }
    return output_close(out, path, code == EXIT_DONE) || code != EXIT_DONE ? code : EXIT_INPUT;
}

int export_pc2(Take* take, const char* path) {
    char file[OUTPUT_PATH_SIZE], suffix[64];
    Cached rods = {take->info.point_count, 0, print_rods_alone, put_rods};
    Cached bodies = {0, 0, print_bodies_alone, put_bodies};
    for (int b = 0; b < take->body_count; ++b) {
        bodies.point_count += take->bodies[b].point_count;
    }
    int code = write_cache(take, path, &rods);
    if (code == EXIT_DONE && bodies.point_count > 0) {
        output_path(file, path, ".pc2", "-bodies.pc2");
        code = write_cache(take, file, &bodies);
    }
    for (int i = 0; i < take->surface_count && code == EXIT_DONE; ++i) {
        Cached surface = {take->surfaces[i].point_count, i, print_surface_alone, put_surface};
        snprintf(suffix, sizeof suffix, "-surface-%d.pc2", i);
        output_path(file, path, ".pc2", suffix);
        code = write_cache(take, file, &surface);
    }
    return code;
}

// --- .hair ----------------------------------------------------------------------------------

enum { HAIR_SEGMENTS = 1, HAIR_POINTS = 2, HAIR_THICKNESS = 4, HAIR_INFO = 88 };

static void print_hair(const Take* take, FILE* out) {
    char info[HAIR_INFO] = "";
    snprintf(info, sizeof info, "tendril %s, metres, z up", tdl_version());
    fwrite("HAIR", 1, 4, out);
    put_u32(out, (uint32_t)take->info.rod_count);
    put_u32(out, (uint32_t)take->info.point_count);
    put_u32(out, HAIR_SEGMENTS | HAIR_POINTS | HAIR_THICKNESS);
    put_u32(out, 0);   // segments of hairs that do not tell
    put_f32(out, 0.0); // thickness, likewise
    put_f32(out, 0.0); // transparency
    put_f32(out, 0.2); // colour
    put_f32(out, 0.15);
    put_f32(out, 0.1);
    fwrite(info, 1, sizeof info, out);
    for (int rod = 0; rod < take->info.rod_count; ++rod) {
        int segments = take->start[rod + 1] - take->start[rod] - 1;
        fputc(segments & 0xff, out);
        fputc(segments >> 8, out);
    }
    put_points(out, take->points, take->info.point_count);
    for (int rod = 0; rod < take->info.rod_count; ++rod) {
        for (int i = take->start[rod]; i < take->start[rod + 1]; ++i) {
            put_f32(out, 2.0 * take->radius[rod]);
        }
    }
}

int export_hair(Take* take, const char* path) {
    for (int rod = 0; rod < take->info.rod_count; ++rod) {
        int segments = take->start[rod + 1] - take->start[rod] - 1;
        if (segments > UINT16_MAX) {
            fprintf(stderr, "%s: rod %d has %d segments; a .hair file holds at most %d a hair\n",
                    take->path, rod, segments, UINT16_MAX);
            return EXIT_INPUT;
        }
    }
    return each_frame(take, path, ".hair", print_hair);
}

// --- CSV ------------------------------------------------------------------------------------

static void print_csv_points(const Take* take, int k, FILE* out) {
    for (int rod = 0; rod < take->info.rod_count; ++rod) {
        for (int i = take->start[rod]; i < take->start[rod + 1]; ++i) {
            TdlVec3 p = take->points[i];
            fprintf(out, "%ld,%.9g,%d,%d,%.9g,%.9g,%.9g,%.6g,%.6g\n", take->frames[k], take->time,
                    rod, i - take->start[rod], p.x, p.y, p.z, take->radius[rod],
                    take->curvature[i]);
        }
    }
}

static void print_csv_contacts(const Take* take, int k, FILE* out) {
    static const char* const KINDS[] = {"rod", "body", "collider"};
    for (int i = 0; i < take->contact_count; ++i) {
        const TdlContactForce* c = &take->contacts[i];
        fprintf(out, "%ld,%.9g", take->frames[k], take->time);
        for (int side = 0; side < 2; ++side) {
            fprintf(out, ",%s,%d,%d,%.9g", KINDS[c->kind[side]], c->index[side], c->element[side],
                    c->s[side]);
        }
        fprintf(out, ",%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%d\n", c->point.x,
                c->point.y, c->point.z, c->normal.x, c->normal.y, c->normal.z, c->force.x,
                c->force.y, c->force.z, c->gap, c->mu, c->sliding);
    }
}

// Writes all frames with `print` below a line of names.
static int print_table(Take* take, const char* path, const char* names,
                       void (*print)(const Take* take, int k, FILE* out)) {
    FILE* out = output_open(path);
    if (out == NULL) {
        return EXIT_INPUT;
    }
    int code = EXIT_DONE;
    fputs(names, out);
    for (int k = 0; k < take->frame_count && code == EXIT_DONE; ++k) {
        code = exit_code(take_load(take, k));
        if (code == EXIT_DONE) {
            print(take, k, out);
        }
    }
    return output_close(out, path, code == EXIT_DONE) || code != EXIT_DONE ? code : EXIT_INPUT;
}

int export_csv(Take* take, const char* path) {
    char contacts[OUTPUT_PATH_SIZE];
    output_path(contacts, path, ".csv", "-contacts.csv");
    bool touched = false;
    int code =
        print_table(take, path, "frame,time,rod,point,x,y,z,radius,curvature\n", print_csv_points);
    code = code == EXIT_DONE ? exit_code(take_touches(take, &touched)) : code;
    if (code != EXIT_DONE || !touched) {
        return code;
    }
    return print_table(take, contacts,
                       "frame,time,kind_a,body_a,element_a,s_a,kind_b,body_b,element_b,s_b,x,y,z,"
                       "normal_x,normal_y,normal_z,force_x,force_y,force_z,gap,mu,sliding\n",
                       print_csv_contacts);
}
