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

static void print_obj_rods(const Take* take, FILE* out) {
    fprintf(out, "# tendril %s, t = %.9g s, metres, z up\n", tdl_version(), take->time);
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

// An object each or, when `name` is given, one of all; `before` points were written already.
static void print_obj_bodies(const Take* take, int before, const char* name, FILE* out) {
    int normals = 0;
    for (int b = 0; b < take->body_count; ++b) {
        const Mesh* mesh = &take->bodies[b];
        TdlPose pose = take->poses[b];
        if (name == NULL) {
            fprintf(out, "o body_%d\n", b);
        } else if (b == 0) {
            fprintf(out, "o %s\n", name); // a cache moves one object
        }
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
            fprintf(out, "f %d//%d %d//%d %d//%d\n", before + t[0] + 1, normals + t[0] + 1,
                    before + t[1] + 1, normals + t[1] + 1, before + t[2] + 1, normals + t[2] + 1);
        }
        before += mesh->point_count;
        normals += mesh->point_count;
    }
}

static void print_obj(const Take* take, FILE* out) {
    print_obj_rods(take, out);
    print_obj_bodies(take, take->info.point_count, NULL, out);
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

static void put_points(const Take* take, FILE* out) {
    for (int i = 0; i < take->info.point_count; ++i) {
        put_point(out, take->points[i]);
    }
}

static void put_body_points(const Take* take, FILE* out) {
    for (int b = 0; b < take->body_count; ++b) {
        TdlPose pose = take->poses[b];
        for (int i = 0; i < take->bodies[b].point_count; ++i) {
            TdlVec3 p = take->bodies[b].points[i];
            put_point(out, tdl_add3(pose.position, tdl_mul33_3(pose.rotation, p)));
        }
    }
}

static void print_bodies_alone(const Take* take, FILE* out) {
    fprintf(out, "# tendril %s, t = %.9g s, metres, z up\n", tdl_version(), take->time);
    print_obj_bodies(take, 0, "bodies", out);
}

// NAME.obj with the first frame, and the cache of all frames' points, which are `count` a frame.
static int write_cache(Take* take, const char* path, int count,
                       void (*print_first)(const Take* take, FILE* out),
                       void (*put)(const Take* take, FILE* out)) {
    char first[OUTPUT_PATH_SIZE];
    output_path(first, path, ".pc2", ".obj");
    int code = exit_code(take_load(take, 0));
    FILE* out = code == EXIT_DONE ? output_open(first) : NULL;
    if (out == NULL) {
        return code == EXIT_DONE ? EXIT_INPUT : code;
    }
    print_first(take, out);
    out = output_close(out, first, true) ? output_open(path) : NULL;
    if (out == NULL) {
        return EXIT_INPUT;
    }
    fwrite("POINTCACHE2", 1, 12, out); // with its zero byte
    put_u32(out, 1);
    put_u32(out, (uint32_t)count);
    put_f32(out, 0.0); // first frame
    put_f32(out, 1.0); // frames a sample
    put_u32(out, (uint32_t)take->frame_count);
    for (int k = 0; k < take->frame_count && code == EXIT_DONE; ++k) {
        code = exit_code(take_load(take, k));
        put(take, out);
    }
    return output_close(out, path, code == EXIT_DONE) || code != EXIT_DONE ? code : EXIT_INPUT;
}

int export_pc2(Take* take, const char* path) {
    int code = write_cache(take, path, take->info.point_count, print_obj_rods, put_points);
    int count = 0;
    for (int b = 0; b < take->body_count; ++b) {
        count += take->bodies[b].point_count;
    }
    if (code != EXIT_DONE || count == 0) {
        return code;
    }
    char bodies[OUTPUT_PATH_SIZE];
    output_path(bodies, path, ".pc2", "-bodies.pc2");
    return write_cache(take, bodies, count, print_bodies_alone, put_body_points);
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
    put_points(take, out);
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
