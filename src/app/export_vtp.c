// ParaView's files: VTK XML PolyData with raw appended arrays, and the .pvd that gives them times.
// Arrays are written as the machine has them; VTK is told the byte order.
#include "app/export.h"
#include "app/output.h"
#include "app/svg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct VtpArray {
    const char *section, *name, *type; // section: an element of a piece, such as PointData
    int components;
    const void* data;
    uint64_t size; // bytes
} VtpArray;

enum { MAX_ARRAYS = 12 };

typedef struct Vtp {
    double time;
    int point_count, vertex_count, line_count, triangle_count;
    VtpArray arrays[MAX_ARRAYS];
    int array_count;
} Vtp;

static const char* const SECTIONS[] = {"PointData", "CellData", "Points",
                                       "Verts",     "Lines",    "Polys"};

static void add_array(Vtp* vtp, const char* section, const char* name, const char* type,
                      int components, const void* data, int64_t count) {
    size_t item = type[strlen(type) - 1] == '4' ? 8 : 4; // Float32, Int32 or Int64
    vtp->arrays[vtp->array_count++] = (VtpArray){
        section, name, type, components, data, (uint64_t)count * (uint64_t)components * item};
}

// The arrays of a section; their offsets count all arrays before them.
static void print_section(const Vtp* vtp, const char* section, FILE* out) {
    uint64_t offset = 0;
    fprintf(out, "      <%s>\n", section);
    for (int i = 0; i < vtp->array_count; ++i) {
        const VtpArray* a = &vtp->arrays[i];
        if (strcmp(a->section, section) == 0) {
            fprintf(out,
                    "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" "
                    "format=\"appended\" offset=\"%" PRIu64 "\"/>\n",
                    a->type, a->name, a->components, offset);
        }
        offset += sizeof a->size + a->size;
    }
    fprintf(out, "      </%s>\n", section);
}

static int write_vtp(const Vtp* vtp, const char* path) {
    FILE* out = output_open(path);
    if (out == NULL) {
        return output_failure();
    }
    const uint16_t probe = 1;
    bool little = *(const unsigned char*)&probe == 1;
    fprintf(out,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
            "byte_order=\"%s\" header_type=\"UInt64\">\n  <PolyData>\n    <FieldData>\n"
            "      <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
            "format=\"ascii\">%.17g</DataArray>\n    </FieldData>\n"
            "    <Piece NumberOfPoints=\"%d\" NumberOfVerts=\"%d\" NumberOfLines=\"%d\" "
            "NumberOfStrips=\"0\" NumberOfPolys=\"%d\">\n",
            little ? "LittleEndian" : "BigEndian", vtp->time, vtp->point_count, vtp->vertex_count,
            vtp->line_count, vtp->triangle_count);
    for (size_t i = 0; i < sizeof SECTIONS / sizeof *SECTIONS; ++i) {
        print_section(vtp, SECTIONS[i], out);
    }
    fprintf(out, "    </Piece>\n  </PolyData>\n  <AppendedData encoding=\"raw\">\n_");
    for (int i = 0; i < vtp->array_count; ++i) {
        fwrite(&vtp->arrays[i].size, sizeof vtp->arrays[i].size, 1, out);
        fwrite(vtp->arrays[i].data, 1, vtp->arrays[i].size, out);
    }
    fprintf(out, "\n  </AppendedData>\n</VTKFile>\n");
    return output_close(out, true) ? EXIT_DONE : output_failure();
}

static void store_float3(float* out, TdlVec3 a) {
    out[0] = (float)a.x;
    out[1] = (float)a.y;
    out[2] = (float)a.z;
}

// --- rods -----------------------------------------------------------------------------------

static int write_rods(const FrameReader* reader, const char* path) {
    int n = reader->info.point_count, rods = reader->info.rod_count;
    size_t count = (size_t)n;
    float* reals = malloc((11 * count + 1) * sizeof *reals); // points, radius, curvature, forces
    int32_t* ids = malloc((count + (size_t)rods + 1) * sizeof *ids);
    int64_t* cells = malloc((count + (size_t)rods + 1) * sizeof *cells);
    int code = EXIT_FAILED;
    if (reals != NULL && ids != NULL && cells != NULL) {
        float *radius = reals + 3 * count, *curvature = reals + 4 * count;
        float *forces = reals + 5 * count, *moments = reals + 8 * count;
        int32_t* of_cell = ids + count;
        int64_t* ends = cells + count;
        for (int rod = 0; rod < rods; ++rod) {
            for (int i = reader->start[rod]; i < reader->start[rod + 1]; ++i) {
                store_float3(reals + 3 * i, reader->points[i]);
                radius[i] = (float)reader->radius[rod];
                curvature[i] = (float)reader->curvature[i];
                store_float3(forces + 3 * i, reader->forces[i]);
                store_float3(moments + 3 * i, reader->moments[i]);
                ids[i] = rod;
                cells[i] = i;
            }
            of_cell[rod] = rod;
            ends[rod] = reader->start[rod + 1];
        }
        Vtp vtp = {.time = reader->time, .point_count = n, .line_count = rods};
        add_array(&vtp, "PointData", "radius", "Float32", 1, radius, n);
        add_array(&vtp, "PointData", "curvature", "Float32", 1, curvature, n);
        if (reader->info.has_forces) {
            add_array(&vtp, "PointData", "force", "Float32", 3, forces, n);
            add_array(&vtp, "PointData", "moment", "Float32", 3, moments, n);
        }
        add_array(&vtp, "PointData", "rod", "Int32", 1, ids, n);
        add_array(&vtp, "CellData", "rod", "Int32", 1, of_cell, rods);
        add_array(&vtp, "Points", "Points", "Float32", 3, reals, n);
        add_array(&vtp, "Lines", "connectivity", "Int64", 1, cells, n);
        add_array(&vtp, "Lines", "offsets", "Int64", 1, ends, rods);
        code = write_vtp(&vtp, path);
    }
    free(reals);
    free(ids);
    free(cells);
    return code;
}

// --- bodies and surfaces --------------------------------------------------------------------

typedef struct MeshArrays {
    float *points, *normals;
    int32_t *point_body, *cell_body;
    int64_t *corners, *ends;
    int point_count, triangle_count;
} MeshArrays;

static void add_mesh(MeshArrays* a, const Mesh* mesh, TdlPose pose, int body) {
    for (int i = 0; i < mesh->point_count; ++i) {
        int at = a->point_count + i;
        TdlVec3 x = tdl_add3(pose.position, tdl_mul33_3(pose.rotation, mesh->points[i]));
        store_float3(a->points + 3 * at, x);
        store_float3(a->normals + 3 * at, tdl_mul33_3(pose.rotation, mesh->normals[i]));
        a->point_body[at] = body;
    }
    for (int i = 0; i < mesh->triangle_count; ++i) {
        int at = a->triangle_count + i;
        for (int c = 0; c < 3; ++c) {
            a->corners[3 * at + c] = a->point_count + mesh->triangles[i][c];
        }
        a->ends[at] = 3 * ((int64_t)at + 1);
        a->cell_body[at] = body;
    }
    a->point_count += mesh->point_count;
    a->triangle_count += mesh->triangle_count;
}

// Meshes of a kind. `poses` null: they are where they are; `id` names the array that tells which is
// which; `strains` null: there are none, else of all their points.
typedef struct MeshPart {
    const Mesh* meshes; // [count]
    int count;
    const TdlPose* poses;
    const char* id;
    const float* strains;
} MeshPart;

static int write_meshes(const FrameReader* reader, const MeshPart* part, const char* path) {
    const Mesh* meshes = part->meshes;
    int count = part->count;
    size_t points = 1, triangles = 1;
    for (int i = 0; i < count; ++i) {
        points += (size_t)meshes[i].point_count;
        triangles += (size_t)meshes[i].triangle_count;
    }
    MeshArrays a = {.points = malloc(3 * points * sizeof(float)),
                    .normals = malloc(3 * points * sizeof(float)),
                    .point_body = malloc(points * sizeof(int32_t)),
                    .cell_body = malloc(triangles * sizeof(int32_t)),
                    .corners = malloc(3 * triangles * sizeof(int64_t)),
                    .ends = malloc(triangles * sizeof(int64_t))};
    int code = EXIT_FAILED;
    if (a.points != NULL && a.normals != NULL && a.point_body != NULL && a.cell_body != NULL &&
        a.corners != NULL && a.ends != NULL) {
        const TdlPose here = {.rotation = tdl_identity33()};
        for (int i = 0; i < count; ++i) {
            add_mesh(&a, &meshes[i], part->poses == NULL ? here : part->poses[i], i);
        }
        Vtp vtp = {
            .time = reader->time, .point_count = a.point_count, .triangle_count = a.triangle_count};
        add_array(&vtp, "PointData", part->id, "Int32", 1, a.point_body, a.point_count);
        add_array(&vtp, "PointData", "Normals", "Float32", 3, a.normals, a.point_count);
        if (part->strains != NULL) {
            add_array(&vtp, "PointData", "strain", "Float32", 1, part->strains, a.point_count);
        }
        add_array(&vtp, "CellData", part->id, "Int32", 1, a.cell_body, a.triangle_count);
        add_array(&vtp, "Points", "Points", "Float32", 3, a.points, a.point_count);
        add_array(&vtp, "Polys", "connectivity", "Int64", 1, a.corners,
                  3 * (int64_t)a.triangle_count);
        add_array(&vtp, "Polys", "offsets", "Int64", 1, a.ends, a.triangle_count);
        code = write_vtp(&vtp, path);
    }
    free(a.points);
    free(a.normals);
    free(a.point_body);
    free(a.cell_body);
    free(a.corners);
    free(a.ends);
    return code;
}

static int write_bodies(const FrameReader* reader, const char* path) {
    MeshPart bodies = {reader->bodies, reader->body_count, reader->poses, "body", NULL};
    return write_meshes(reader, &bodies, path);
}

static int write_surfaces(const FrameReader* reader, const char* path) {
    MeshPart surfaces = {reader->sheets, reader->surface_count, NULL, "surface", NULL};
    if (reader->info.cloth_count == 0) {
        return write_meshes(reader, &surfaces, path);
    }
    // the points of the sheets are those of the surfaces, in their order
    size_t count = (size_t)reader->info.surface_point_count;
    float* strains = malloc((count + 1) * sizeof *strains);
    if (strains == NULL) {
        return EXIT_FAILED;
    }
    for (size_t i = 0; i < count; ++i) {
        strains[i] = (float)reader->strains[i];
    }
    surfaces.strains = strains;
    int code = write_meshes(reader, &surfaces, path);
    free(strains);
    return code;
}

// --- contacts -------------------------------------------------------------------------------

enum { CONTACT_REALS = 11, CONTACT_WHOLES = 5 }; // point, force, normal, gap, mu; what touches

static int write_contacts(const FrameReader* reader, const char* path) {
    size_t n = (size_t)reader->contact_count;
    float* reals = malloc((CONTACT_REALS * n + 1) * sizeof *reals);
    int32_t* wholes = malloc((CONTACT_WHOLES * n + 1) * sizeof *wholes);
    int64_t* cells = malloc((2 * n + 1) * sizeof *cells);
    int code = EXIT_FAILED;
    if (reals != NULL && wholes != NULL && cells != NULL) {
        float *force = reals + 3 * n, *normal = reals + 6 * n, *gap = reals + 9 * n, *mu = gap + n;
        int32_t *kind = wholes, *body = wholes + 2 * n, *sliding = wholes + 4 * n;
        for (size_t i = 0; i < n; ++i) {
            const TdlResultContact* c = &reader->contacts[i];
            store_float3(reals + 3 * i, c->point);
            store_float3(force + 3 * i, c->force);
            store_float3(normal + 3 * i, c->normal);
            gap[i] = (float)c->gap;
            mu[i] = (float)c->mu;
            for (int side = 0; side < 2; ++side) {
                kind[2 * i + (size_t)side] = (int32_t)c->kind[side];
                body[2 * i + (size_t)side] = c->index[side];
            }
            sliding[i] = c->sliding;
            cells[i] = (int64_t)i;
            cells[n + i] = (int64_t)i + 1;
        }
        int count = reader->contact_count;
        Vtp vtp = {.time = reader->time, .point_count = count, .vertex_count = count};
        add_array(&vtp, "PointData", "force", "Float32", 3, force, count);
        add_array(&vtp, "PointData", "normal", "Float32", 3, normal, count);
        add_array(&vtp, "PointData", "gap", "Float32", 1, gap, count);
        add_array(&vtp, "PointData", "mu", "Float32", 1, mu, count);
        add_array(&vtp, "PointData", "kind", "Int32", 2, kind, count);
        add_array(&vtp, "PointData", "body", "Int32", 2, body, count);
        add_array(&vtp, "PointData", "sliding", "Int32", 1, sliding, count);
        add_array(&vtp, "Points", "Points", "Float32", 3, reals, count);
        add_array(&vtp, "Verts", "connectivity", "Int64", 1, cells, count);
        add_array(&vtp, "Verts", "offsets", "Int64", 1, cells + n, count);
        code = write_vtp(&vtp, path);
    }
    free(reals);
    free(wholes);
    free(cells);
    return code;
}

// --- grains ---------------------------------------------------------------------------------

enum { GRAIN_REALS = 10 }; // position, velocity, speed, fraction, pressure, shear

static int write_grains(const FrameReader* reader, const char* path) {
    size_t n = (size_t)reader->particle_count;
    float* reals = malloc((GRAIN_REALS * n + 1) * sizeof *reals);
    int32_t* numbers = malloc((n + 1) * sizeof *numbers);
    int64_t* cells = malloc((2 * n + 1) * sizeof *cells);
    int code = EXIT_FAILED;
    if (reals != NULL && numbers != NULL && cells != NULL) {
        float *velocity = reals + 3 * n, *speed = reals + 6 * n, *fraction = speed + n;
        float *pressure = fraction + n, *shear = pressure + n;
        for (size_t i = 0; i < n; ++i) {
            const TdlResultParticle* p = &reader->particles[i];
            store_float3(reals + 3 * i, p->position);
            store_float3(velocity + 3 * i, p->velocity);
            speed[i] = (float)tdl_norm3(p->velocity);
            fraction[i] = (float)p->fraction;
            pressure[i] = (float)p->pressure;
            shear[i] = (float)p->shear;
            numbers[i] = p->number;
            cells[i] = (int64_t)i;
            cells[n + i] = (int64_t)i + 1;
        }
        int count = reader->particle_count;
        Vtp vtp = {.time = reader->time, .point_count = count, .vertex_count = count};
        add_array(&vtp, "PointData", "velocity", "Float32", 3, velocity, count);
        add_array(&vtp, "PointData", "speed", "Float32", 1, speed, count);
        add_array(&vtp, "PointData", "fraction", "Float32", 1, fraction, count);
        add_array(&vtp, "PointData", "pressure", "Float32", 1, pressure, count);
        add_array(&vtp, "PointData", "shear", "Float32", 1, shear, count);
        add_array(&vtp, "PointData", "number", "Int32", 1, numbers, count);
        add_array(&vtp, "Points", "Points", "Float32", 3, reals, count);
        add_array(&vtp, "Verts", "connectivity", "Int64", 1, cells, count);
        add_array(&vtp, "Verts", "offsets", "Int64", 1, cells + n, count);
        code = write_vtp(&vtp, path);
    }
    free(reals);
    free(numbers);
    free(cells);
    return code;
}

// --- the series -----------------------------------------------------------------------------

static const char* base_name(const char* path) {
    const char* slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static int count_bodies(const FrameReader* reader) {
    int count = 0;
    for (int i = 0; i < reader->body_count; ++i) {
        count += reader->bodies[i].point_count > 0; // else it is a surface
    }
    return count;
}

static const struct {
    const char* name;
    int (*write)(const FrameReader* reader, const char* path);
} PARTS[] = {{"", write_rods},
             {"-bodies", write_bodies},
             {"-contacts", write_contacts},
             {"-surfaces", write_surfaces},
             {"-grains", write_grains}};
enum { PART_COUNT = sizeof PARTS / sizeof *PARTS };

int export_vtp(FrameReader* reader, const char* path) {
    char file[OUTPUT_PATH_SIZE], suffix[64];
    FILE* index = output_open(path);
    if (index == NULL) {
        return output_failure();
    }
    fprintf(index, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n"
                   "  <Collection>\n");
    int code = EXIT_DONE;
    for (int k = 0; k < reader->frame_count && code == EXIT_DONE; ++k) {
        code = exit_code(frame_reader_load(reader, k));
        for (int part = 0; part < PART_COUNT && code == EXIT_DONE; ++part) {
            const int counts[PART_COUNT] = {reader->info.rod_count, count_bodies(reader),
                                            reader->contact_count, reader->surface_count,
                                            reader->particle_count};
            if (counts[part] == 0) {
                continue;
            }
            snprintf(suffix, sizeof suffix, "%s-%04ld.vtp", PARTS[part].name, reader->frames[k]);
            output_path(file, path, ".pvd", suffix);
            code = PARTS[part].write(reader, file);
            fprintf(index, "    <DataSet timestep=\"%.17g\" part=\"%d\" file=\"", reader->time,
                    part);
            svg_text(index, base_name(file));
            fprintf(index, "\"/>\n");
        }
    }
    fprintf(index, "  </Collection>\n</VTKFile>\n");
    bool stands = output_close(index, code == EXIT_DONE);
    return stands || code != EXIT_DONE ? code : output_failure();
}
