// Text USD: the rods as one BasisCurves prim, each body as a Mesh with a transform, each surface as
// a Mesh with moving points, contacts as Points with their forces, grains as Points; every frame is
// a time sample. Metres, z up. Frames that follow each other evenly fall on whole time codes.
#include "app/export.h"
#include "app/output.h"

#include <string.h>

static const char RODS_COLOR[] = "(0.106, 0.31, 0.541)", BODY_COLOR[] = "(0.72, 0.72, 0.7)",
                  CLOTH_COLOR[] = "(0.77, 0.47, 0.36)", CONTACT_COLOR[] = "(0.835, 0.369, 0)",
                  GRAINS_COLOR[] = "(0.80, 0.68, 0.47)";

// A string of USD in quotes; what cannot be printed becomes a blank.
static void print_string(FILE* out, const char* text) {
    fputc('"', out);
    for (const unsigned char* c = (const unsigned char*)text; *c != '\0'; ++c) {
        if (*c == '"' || *c == '\\') {
            fprintf(out, "\\%c", *c);
        } else {
            fputc(*c < ' ' || *c == 0x7f ? ' ' : *c, out);
        }
    }
    fputc('"', out);
}

static void print_points(FILE* out, const TdlVec3* points, int count) {
    fputc('[', out);
    for (int i = 0; i < count; ++i) {
        fprintf(out, "%s(%.9g, %.9g, %.9g)", i == 0 ? "" : ", ", points[i].x, points[i].y,
                points[i].z);
    }
    fputc(']', out);
}

// Time codes in a second: one a frame.
static double codes_per_second(FrameReader* reader, TdlStatus* status) {
    if (reader->frame_count < 2) {
        return 24.0;
    }
    *status = frame_reader_load(reader, 0);
    double first = reader->time;
    if (*status == TDL_STATUS_OK) {
        *status = frame_reader_load(reader, 1);
    }
    double period = reader->time - first;
    return period > 0.0 ? 1.0 / period : 24.0;
}

static double code_of(double time, double rate) {
    double code = time * rate;
    return fabs(code - round(code)) < 1.0e-6 * fmax(1.0, fabs(code)) ? round(code) : code;
}

static void grow_box(TdlVec3 box[2], TdlVec3 p, double r) {
    TdlVec3 low = box[0], high = box[1];
    box[0] = (TdlVec3){fmin(low.x, p.x - r), fmin(low.y, p.y - r), fmin(low.z, p.z - r)};
    box[1] = (TdlVec3){fmax(high.x, p.x + r), fmax(high.y, p.y + r), fmax(high.z, p.z + r)};
}

static void print_extent(FILE* out, const FrameReader* reader) {
    TdlVec3 box[2] = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int rod = 0; rod < reader->info.rod_count; ++rod) {
        for (int i = reader->start[rod]; i < reader->start[rod + 1]; ++i) {
            grow_box(box, reader->points[i], reader->radius[rod]);
        }
    }
    print_points(out, box, 2);
}

// An attribute with a value for each frame.
static TdlStatus print_samples(FILE* out, FrameReader* reader, double rate, int body,
                               void (*print)(FILE* out, const FrameReader* reader, int body)) {
    TdlStatus status = TDL_STATUS_OK;
    fprintf(out, " = {\n");
    for (int k = 0; k < reader->frame_count && status == TDL_STATUS_OK; ++k) {
        status = frame_reader_load(reader, k);
        fprintf(out, "            %.9g: ", code_of(reader->time, rate));
        print(out, reader, body);
        fprintf(out, ",\n");
    }
    fprintf(out, "        }\n");
    return status;
}

static void sample_points(FILE* out, const FrameReader* reader, int body) {
    (void)body;
    print_points(out, reader->points, reader->info.point_count);
}

static void sample_forces(FILE* out, const FrameReader* reader, int body) {
    (void)body;
    print_points(out, reader->forces, reader->info.point_count);
}

static void sample_moments(FILE* out, const FrameReader* reader, int body) {
    (void)body;
    print_points(out, reader->moments, reader->info.point_count);
}

// What they are of is said behind a value, as of strains.
static TdlStatus print_forces(FILE* out, FrameReader* reader, double rate) {
    TdlStatus status = frame_reader_load(reader, 0);
    for (int k = 0; k < 2 && status == TDL_STATUS_OK; ++k) {
        const char* name = k == 0 ? "force" : "moment";
        void (*sample)(FILE*, const FrameReader*, int) = k == 0 ? sample_forces : sample_moments;
        fprintf(out, "        float3[] primvars:%s = ", name);
        sample(out, reader, 0);
        fprintf(out,
                " (\n            interpolation = \"vertex\"\n        )\n"
                "        float3[] primvars:%s.timeSamples",
                name);
        status = print_samples(out, reader, rate, 0, sample);
    }
    return status;
}

static void sample_extent(FILE* out, const FrameReader* reader, int body) {
    (void)body;
    print_extent(out, reader);
}

// USD multiplies rows from the left, so the columns of a rotation are rows here.
static void sample_transform(FILE* out, const FrameReader* reader, int body) {
    const TdlPose* pose = &reader->poses[body];
    const TdlVec3 rows[] = {pose->rotation.cx, pose->rotation.cy, pose->rotation.cz,
                            pose->position};
    fprintf(out, "( ");
    for (int i = 0; i < 4; ++i) {
        fprintf(out, "(%.17g, %.17g, %.17g, %d)%s", rows[i].x, rows[i].y, rows[i].z, i == 3,
                i == 3 ? "" : ", ");
    }
    fprintf(out, " )");
}

static TdlStatus print_rods(FILE* out, FrameReader* reader, double rate) {
    fprintf(out, "    def BasisCurves \"Rods\"\n    {\n        uniform token type = \"linear\"\n"
                 "        int[] curveVertexCounts = [");
    for (int rod = 0; rod < reader->info.rod_count; ++rod) {
        fprintf(out, "%s%d", rod == 0 ? "" : ", ", reader->start[rod + 1] - reader->start[rod]);
    }
    fprintf(out, "]\n        float[] widths = [");
    for (int rod = 0; rod < reader->info.rod_count; ++rod) {
        fprintf(out, "%s%.9g", rod == 0 ? "" : ", ", 2.0 * reader->radius[rod]);
    }
    fprintf(out, "] (\n            interpolation = \"uniform\"\n        )\n");
    fprintf(out, "        color3f[] primvars:displayColor = [%s]\n", RODS_COLOR);
    fprintf(out, "        point3f[] points.timeSamples");
    TdlStatus status = print_samples(out, reader, rate, 0, sample_points);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    fprintf(out, "        float3[] extent.timeSamples");
    status = print_samples(out, reader, rate, 0, sample_extent);
    if (status == TDL_STATUS_OK && reader->info.has_forces) {
        status = print_forces(out, reader, rate);
    }
    fprintf(out, "    }\n");
    return status;
}

// Faces of `stride` corners, of which the last may be left out with -1.
static void print_corners(FILE* out, const int* corners, int count, int stride) {
    fprintf(out, "        uniform token subdivisionScheme = \"none\"\n"
                 "        int[] faceVertexCounts = [");
    for (int i = 0; i < count; ++i) {
        fprintf(out, "%s%d", i == 0 ? "" : ", ", stride - (corners[stride * (i + 1) - 1] < 0));
    }
    fprintf(out, "]\n        int[] faceVertexIndices = [");
    for (int i = 0; i < stride * count; ++i) {
        if (corners[i] >= 0) {
            fprintf(out, "%s%d", i == 0 ? "" : ", ", corners[i]);
        }
    }
    fprintf(out, "]\n");
}

static void print_faces(FILE* out, const Mesh* mesh) {
    print_corners(out, mesh->triangles[0], mesh->triangle_count, 3);
    fprintf(out, "        color3f[] primvars:displayColor = [%s]\n", BODY_COLOR);
}

static TdlStatus print_body(FILE* out, FrameReader* reader, double rate, int body) {
    const Mesh* mesh = &reader->bodies[body];
    fprintf(out, "    def Mesh \"Body%d\"\n    {\n", body);
    print_faces(out, mesh);
    fprintf(out, "        point3f[] points = ");
    print_points(out, mesh->points, mesh->point_count);
    fprintf(out, "\n        normal3f[] normals = ");
    print_points(out, mesh->normals, mesh->point_count);
    fprintf(out, " (\n            interpolation = \"vertex\"\n        )\n");
    fprintf(out, "        matrix4d xformOp:transform.timeSamples");
    TdlStatus status = print_samples(out, reader, rate, body, sample_transform);
    fprintf(out, "        uniform token[] xformOpOrder = [\"xformOp:transform\"]\n    }\n");
    return status;
}

static void sample_sheet(FILE* out, const FrameReader* reader, int surface) {
    print_points(out, reader->sheets[surface].points, reader->sheets[surface].point_count);
}

static void sample_sheet_normals(FILE* out, const FrameReader* reader, int surface) {
    print_points(out, reader->sheets[surface].normals, reader->sheets[surface].point_count);
}

static void sample_sheet_extent(FILE* out, const FrameReader* reader, int surface) {
    TdlVec3 box[2] = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int i = 0; i < reader->sheets[surface].point_count; ++i) {
        grow_box(box, reader->sheets[surface].points[i], 0.0);
    }
    print_points(out, box, 2);
}

static void sample_strains(FILE* out, const FrameReader* reader, int surface) {
    const TdlResultSurface* s = &reader->surfaces[surface];
    fputc('[', out);
    for (int i = 0; i < s->point_count; ++i) {
        fprintf(out, "%s%.6g", i == 0 ? "" : ", ", reader->strains[s->first_point + i]);
    }
    fputc(']', out);
}

// What a cloth has beside its points: its own faces, a colour, and its strains. What these are of
// is said behind a value: there are parsers that read it nowhere else.
static TdlStatus print_cloth(FILE* out, FrameReader* reader, double rate, int surface) {
    TdlResultCloth cloth = tdl_result_cloth(reader->result, reader->cloth_of[surface]);
    TdlStatus status = frame_reader_load(reader, 0);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    print_corners(out, cloth.faces, cloth.face_count, 4);
    fprintf(out, "        color3f[] primvars:displayColor = [%s]\n", CLOTH_COLOR);
    fprintf(out, "        float[] primvars:strain = ");
    sample_strains(out, reader, surface);
    fprintf(out, " (\n            interpolation = \"vertex\"\n        )\n"
                 "        float[] primvars:strain.timeSamples");
    return print_samples(out, reader, rate, surface, sample_strains);
}

// A surface: its points have time samples, and it is seen from both sides.
static TdlStatus print_surface(FILE* out, FrameReader* reader, double rate, int surface) {
    int cloth = reader->cloth_of[surface];
    fprintf(out, "    def Mesh \"%s%d\"\n    {\n        uniform bool doubleSided = 1\n",
            cloth < 0 ? "Surface" : "Cloth", cloth < 0 ? surface : cloth);
    TdlStatus status = TDL_STATUS_OK;
    if (cloth < 0) {
        print_faces(out, &reader->sheets[surface]);
    } else {
        status = print_cloth(out, reader, rate, surface);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    fprintf(out, "        point3f[] points.timeSamples");
    status = print_samples(out, reader, rate, surface, sample_sheet);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    // what the samples are of is said of the attribute itself
    fprintf(out, "        normal3f[] normals (\n            interpolation = \"vertex\"\n"
                 "        )\n        normal3f[] normals.timeSamples");
    status = print_samples(out, reader, rate, surface, sample_sheet_normals);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    fprintf(out, "        float3[] extent.timeSamples");
    status = print_samples(out, reader, rate, surface, sample_sheet_extent);
    fprintf(out, "    }\n");
    return status;
}

// What of a contact is a vector.
typedef TdlVec3 (*ContactFn)(const TdlResultContact* contact);

static TdlVec3 contact_point(const TdlResultContact* contact) {
    return contact->point;
}

static TdlVec3 contact_force(const TdlResultContact* contact) {
    return contact->force;
}

static void print_contacts_of(FILE* out, const FrameReader* reader, ContactFn vector) {
    fputc('[', out);
    for (int i = 0; i < reader->contact_count; ++i) {
        TdlVec3 p = vector(&reader->contacts[i]);
        fprintf(out, "%s(%.9g, %.9g, %.9g)", i == 0 ? "" : ", ", p.x, p.y, p.z);
    }
    fputc(']', out);
}

static void sample_contact_points(FILE* out, const FrameReader* reader, int body) {
    (void)body;
    print_contacts_of(out, reader, contact_point);
}

static void sample_contact_forces(FILE* out, const FrameReader* reader, int body) {
    (void)body;
    print_contacts_of(out, reader, contact_force);
}

static void sample_contact_sliding(FILE* out, const FrameReader* reader, int body) {
    (void)body;
    fputc('[', out);
    for (int i = 0; i < reader->contact_count; ++i) {
        fprintf(out, "%s%d", i == 0 ? "" : ", ", reader->contacts[i].sliding);
    }
    fputc(']', out);
}

// Dots as wide as the thickest rod, or a hundredth of the scene. Their number changes with time.
static TdlStatus print_contacts(FILE* out, FrameReader* reader, double rate) {
    double width = 0.0;
    for (int rod = 0; rod < reader->info.rod_count; ++rod) {
        width = fmax(width, 2.0 * reader->radius[rod]);
    }
    width = width > 0.0 ? width : 0.01 * tdl_norm3(tdl_sub3(reader->high, reader->low));
    fprintf(out,
            "    def Points \"Contacts\"\n    {\n        float[] widths = [%.9g] (\n"
            "            interpolation = \"constant\"\n        )\n",
            width);
    fprintf(out, "        color3f[] primvars:displayColor = [%s]\n", CONTACT_COLOR);
    fprintf(out, "        point3f[] points.timeSamples");
    TdlStatus status = print_samples(out, reader, rate, 0, sample_contact_points);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    fprintf(out, "        vector3f[] primvars:force.timeSamples");
    status = print_samples(out, reader, rate, 0, sample_contact_forces);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    fprintf(out, "        int[] primvars:sliding.timeSamples");
    status = print_samples(out, reader, rate, 0, sample_contact_sliding);
    fprintf(out, "    }\n");
    return status;
}

// --- grains ---------------------------------------------------------------------------------

static void put_vector(FILE* out, TdlVec3 v) {
    fprintf(out, "(%.9g, %.9g, %.9g)", v.x, v.y, v.z);
}

static void put_position(FILE* out, const TdlResultParticle* particle) {
    put_vector(out, particle->position);
}

static void put_velocity(FILE* out, const TdlResultParticle* particle) {
    put_vector(out, particle->velocity);
}

static void put_number(FILE* out, const TdlResultParticle* particle) {
    fprintf(out, "%d", particle->number);
}

static void put_pressure(FILE* out, const TdlResultParticle* particle) {
    fprintf(out, "%.6g", particle->pressure);
}

static void put_fraction(FILE* out, const TdlResultParticle* particle) {
    fprintf(out, "%.6g", particle->fraction);
}

// What grains have, an attribute each.
static const struct {
    const char* attribute;
    void (*put)(FILE* out, const TdlResultParticle* particle);
} GRAINS_PARTS[] = {{"point3f[] points", put_position},
                    {"vector3f[] velocities", put_velocity},
                    {"int64[] ids", put_number},
                    {"float[] primvars:pressure", put_pressure},
                    {"float[] primvars:fraction", put_fraction}};
enum { GRAINS_PART_COUNT = sizeof GRAINS_PARTS / sizeof *GRAINS_PARTS };

static void sample_grains(FILE* out, const FrameReader* reader, int part) {
    fputc('[', out);
    for (int i = 0; i < reader->particle_count; ++i) {
        fputs(i == 0 ? "" : ", ", out);
        GRAINS_PARTS[part].put(out, &reader->particles[i]);
    }
    fputc(']', out);
}

static void sample_grains_extent(FILE* out, const FrameReader* reader, int body) {
    (void)body;
    TdlVec3 box[2] = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int i = 0; i < reader->particle_count; ++i) {
        grow_box(box, reader->particles[i].position, frame_reader_grain(reader));
    }
    print_points(out, box, reader->particle_count > 0 ? 2 : 0);
}

// Their number changes with time.
static TdlStatus print_grains(FILE* out, FrameReader* reader, double rate) {
    fprintf(out,
            "    def Points \"Grains\"\n    {\n        float[] widths = [%.9g] (\n"
            "            interpolation = \"constant\"\n        )\n",
            2.0 * frame_reader_grain(reader));
    fprintf(out, "        color3f[] primvars:displayColor = [%s]\n", GRAINS_COLOR);
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; status == TDL_STATUS_OK && i < GRAINS_PART_COUNT; ++i) {
        const char* attribute = GRAINS_PARTS[i].attribute;
        if (strstr(attribute, "primvars:") != NULL) { // one a particle, as of strains
            status = frame_reader_load(reader, 0);
            fprintf(out, "        %s = ", attribute);
            sample_grains(out, reader, i);
            fprintf(out, " (\n            interpolation = \"vertex\"\n        )\n");
        }
        fprintf(out, "        %s.timeSamples", attribute);
        if (status == TDL_STATUS_OK) {
            status = print_samples(out, reader, rate, i, sample_grains);
        }
    }
    if (status == TDL_STATUS_OK) {
        fprintf(out, "        float3[] extent.timeSamples");
        status = print_samples(out, reader, rate, 0, sample_grains_extent);
    }
    fprintf(out, "    }\n");
    return status;
}

static TdlStatus print_things(FILE* out, FrameReader* reader, double rate) {
    TdlStatus status = TDL_STATUS_OK;
    if (reader->info.rod_count > 0) {
        status = print_rods(out, reader, rate);
    }
    for (int i = 0; i < reader->body_count && status == TDL_STATUS_OK; ++i) {
        if (reader->bodies[i].point_count > 0) { // else it is a surface
            status = print_body(out, reader, rate, i);
        }
    }
    for (int i = 0; i < reader->surface_count && status == TDL_STATUS_OK; ++i) {
        status = print_surface(out, reader, rate, i);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (reader->info.has_grains) {
        status = print_grains(out, reader, rate);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    bool touched = false;
    status = frame_reader_touches(reader, &touched);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return touched ? print_contacts(out, reader, rate) : TDL_STATUS_OK;
}

int export_usda(FrameReader* reader, const char* path) {
    TdlStatus status = TDL_STATUS_OK;
    double rate = codes_per_second(reader, &status), first = 0.0, last = 0.0;
    if (status == TDL_STATUS_OK && (status = frame_reader_load(reader, 0)) == TDL_STATUS_OK) {
        first = code_of(reader->time, rate);
        status = frame_reader_load(reader, reader->frame_count - 1);
        last = code_of(reader->time, rate);
    }
    if (status != TDL_STATUS_OK) {
        return exit_code(status);
    }
    FILE* out = output_open(path);
    if (out == NULL) {
        return output_failure();
    }
    fprintf(out, "#usda 1.0\n(\n    defaultPrim = \"Tendril\"\n    doc = ");
    print_string(out, reader->info.title);
    fprintf(out,
            "\n    endTimeCode = %.9g\n    framesPerSecond = %.9g\n    metersPerUnit = 1\n"
            "    startTimeCode = %.9g\n    timeCodesPerSecond = %.9g\n    upAxis = \"Z\"\n)\n\n"
            "def Xform \"Tendril\"\n{\n",
            last, rate, first, rate);
    status = print_things(out, reader, rate);
    fprintf(out, "}\n");
    bool good = output_close(out, status == TDL_STATUS_OK);
    if (status != TDL_STATUS_OK) {
        return exit_code(status);
    }
    return good ? EXIT_DONE : output_failure();
}
