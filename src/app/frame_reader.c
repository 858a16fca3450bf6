// Reads frames of a result for export and for pictures.
#include "app/frame_reader.h"

#include <stdlib.h>
#include <string.h>

enum { LOOKED_AT = 24, SIDES = 48 };

// --- the frames asked for -------------------------------------------------------------------

// One number of a slice, or its default where it is left out; false when it is something else.
static bool slice_number(const char** text, long fallback, long* out) {
    char* end;
    *out = strtol(*text, &end, 10);
    if (end == *text) {
        *out = fallback;
    }
    bool good = *end == ':' || *end == '\0';
    *text = *end == ':' ? end + 1 : end;
    return good;
}

// FIRST:LAST:STEP, each optional; one number alone is one frame. Numbers below 0 count from the
// end.
static bool parse_slice(const char* text, long count, long* first, long* last, long* step) {
    bool single = strchr(text, ':') == NULL;
    *step = 1;
    if (!slice_number(&text, single ? count : 0, first)) {
        return false;
    }
    *last = *first;
    if (!single && (!slice_number(&text, count - 1, last) || !slice_number(&text, 1, step))) {
        return false;
    }
    *first += *first < 0 ? count : 0;
    *last += *last < 0 ? count : 0;
    return *text == '\0' && *step > 0 && *first >= 0 && *last < count && *first <= *last;
}

static int choose_frames(const Args* args, const char* fallback, FrameReader* reader) {
    const char* text = args_text(args, "frames", fallback);
    long count = reader->info.frame_count, first, last, step;
    if (count == 0) {
        fprintf(stderr, "%s: there is no frame yet\n", reader->path);
        return EXIT_INPUT;
    }
    if (!parse_slice(text, count, &first, &last, &step)) {
        return usage_error(args, "--frames '%s' does not fit: the result has frames 0 to %ld", text,
                           count - 1);
    }
    reader->frame_count = (int)((last - first) / step) + 1;
    reader->frames = malloc((size_t)reader->frame_count * sizeof *reader->frames);
    if (reader->frames == NULL) {
        return exit_code(TDL_STATUS_NO_MEMORY);
    }
    for (int k = 0; k < reader->frame_count; ++k) {
        reader->frames[k] = first + k * step;
    }
    return EXIT_DONE;
}

// --- what there is to see -------------------------------------------------------------------

static void include(FrameReader* reader, const TdlVec3* points, int count) {
    for (int i = 0; i < count; ++i) {
        TdlVec3 p = points[i], low = reader->low, high = reader->high;
        reader->low = (TdlVec3){fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z)};
        reader->high = (TdlVec3){fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z)};
    }
}

static TdlStatus measure(FrameReader* reader) {
    int looks = reader->frame_count < LOOKED_AT ? reader->frame_count : LOOKED_AT;
    reader->low = (TdlVec3){INFINITY, INFINITY, INFINITY};
    reader->high = (TdlVec3){-INFINITY, -INFINITY, -INFINITY};
    TdlStatus status = TDL_STATUS_OK;
    for (int k = 0; k < looks && status == TDL_STATUS_OK; ++k) {
        int last = reader->frame_count - 1;
        status = frame_reader_load(reader, looks > 1 ? (int)((long)last * k / (looks - 1)) : last);
        if (status == TDL_STATUS_OK) {
            include(reader, reader->points, reader->info.point_count);
            include(reader, reader->surface_points, reader->info.surface_point_count);
            for (int i = 0; i < reader->particle_count; ++i) {
                include(reader, &reader->particles[i].position, 1);
            }
        }
    }
    if (!(reader->low.x <= reader->high.x)) { // no rods or surfaces
        reader->low = (TdlVec3){-0.5, -0.5, -0.5};
        reader->high = (TdlVec3){0.5, 0.5, 0.5};
    }
    return status;
}

static bool is_endless(const TdlResultShape* shape) {
    bool cylinder = strcmp(shape->shape, "cylinder") == 0 && shape->size[1] == 0.0;
    return strcmp(shape->shape, "plane") == 0 || cylinder;
}

// A shape in the frame of its body. What is endless reaches a little beyond all that moves. A plane
// is `thick` below its face.
static void add_shape(Mesh* mesh, const TdlResultShape* shape, double reach, double thick) {
    int from = mesh->point_count;
    double radius = shape->size[0], length = shape->size[1];
    TdlVec3 zero = {0}, x = {1.0, 0.0, 0.0}, y = {0.0, 1.0, 0.0}, z = {0.0, 0.0, 1.0};
    if (strcmp(shape->shape, "plane") == 0) {
        mesh_add_box(mesh, tdl_scale3(-0.5 * thick, z), tdl_scale3(reach, x), tdl_scale3(reach, y),
                     tdl_scale3(0.5 * thick, z));
    } else if (strcmp(shape->shape, "sphere") == 0) {
        mesh_add_sphere(mesh, zero, radius);
    } else if (strcmp(shape->shape, "cylinder") == 0 && shape->size[2] > 0.0) {
        mesh_add_pipe(mesh, length, radius, shape->size[2]);
    } else if (strcmp(shape->shape, "cylinder") == 0 || strcmp(shape->shape, "capsule") == 0) {
        double half = is_endless(shape) ? reach : 0.5 * length;
        TdlVec3 ends[] = {tdl_scale3(-half, x), tdl_scale3(half, x)};
        mesh_add_tube(mesh, ends, 2, radius, SIDES, shape->shape[1] == 'a'); // of a capsule
    } else if (strcmp(shape->shape, "box") == 0) {
        mesh_add_box(mesh, zero, tdl_scale3(shape->size[0], x), tdl_scale3(shape->size[1], y),
                     tdl_scale3(shape->size[2], z));
    } else if (strcmp(shape->shape, "disc") == 0) {
        mesh_add_disc(mesh, zero, z, radius);
        if (shape->size[1] > 0.0) {
            mesh_add_torus(mesh, zero, z, radius, shape->size[1]);
        }
    } else if (strcmp(shape->shape, "mesh") == 0) {
        mesh_add_triangles(mesh, &shape->mesh);
    }
    mesh_place(mesh, from, shape->pose);
}

// Each body as a mesh about its own origin. A plane's patch is as large as what is seen, and
// lies where its own origin is.
static TdlStatus make_bodies(FrameReader* reader) {
    double reach = 0.0;
    TdlStatus status = frame_reader_load(reader, 0);
    for (int i = 0; i < reader->body_count; ++i) {
        TdlVec3 p = reader->poses[i].position;
        TdlVec3 far = {fmax(fabs(reader->low.x - p.x), fabs(reader->high.x - p.x)),
                       fmax(fabs(reader->low.y - p.y), fabs(reader->high.y - p.y)),
                       fmax(fabs(reader->low.z - p.z), fabs(reader->high.z - p.z))};
        reach = fmax(reach, 1.2 * tdl_norm3(far));
    }
    bool failed = false;
    // seen along it, a plane would be nothing
    double thick = frame_reader_is_flat(reader) ? reader->grains.spacing : 0.0;
    for (int i = 0; i < reader->info.shape_count && status == TDL_STATUS_OK; ++i) {
        TdlResultShape shape = tdl_result_shape(reader->result, i);
        Mesh* mesh = &reader->bodies[shape.body];
        add_shape(mesh, &shape, reach, thick);
        failed = failed || mesh->failed;
        if (is_endless(&shape)) {
            reader->reach[shape.body] = shape.shape[0] == 'p' ? BODY_PLANE : BODY_ENDLESS;
        }
    }
    return failed ? TDL_STATUS_NO_MEMORY : status;
}

static TdlStatus prepare(FrameReader* reader) {
    size_t rods = (size_t)reader->info.rod_count, points = (size_t)reader->info.point_count;
    size_t bodies = (size_t)reader->body_count;
    reader->start = tdl_result_point_start(reader->result);
    reader->radius = malloc((rods + 1) * sizeof *reader->radius);
    reader->points = malloc((points + 1) * sizeof *reader->points);
    reader->curvature = malloc((points + 1) * sizeof *reader->curvature);
    reader->forces = calloc(points + 1, sizeof *reader->forces);
    reader->moments = calloc(points + 1, sizeof *reader->moments);
    reader->joints = malloc(((size_t)reader->info.joint_count + 1) * sizeof *reader->joints);
    reader->poses = malloc((bodies + 1) * sizeof *reader->poses);
    reader->bodies = calloc(bodies + 1, sizeof *reader->bodies);
    reader->reach = calloc(bodies + 1, sizeof *reader->reach);
    size_t surfaces = (size_t)reader->surface_count;
    reader->surfaces = malloc((surfaces + 1) * sizeof *reader->surfaces);
    reader->sheets = calloc(surfaces + 1, sizeof *reader->sheets);
    reader->surface_points =
        malloc(((size_t)reader->info.surface_point_count + 1) * sizeof *reader->surface_points);
    size_t vertices = (size_t)reader->info.surface_point_count;
    reader->cloth_of = malloc((surfaces + 1) * sizeof *reader->cloth_of);
    reader->strains = calloc(vertices + 1, sizeof *reader->strains);
    reader->scratch =
        malloc(((size_t)reader->info.cloth_point_count + 1) * sizeof *reader->scratch);
    if (reader->joints == NULL || reader->forces == NULL || reader->moments == NULL ||
        reader->cloth_of == NULL || reader->strains == NULL || reader->scratch == NULL ||
        reader->surfaces == NULL || reader->sheets == NULL || reader->surface_points == NULL ||
        reader->radius == NULL || reader->points == NULL || reader->curvature == NULL ||
        reader->poses == NULL || reader->bodies == NULL || reader->reach == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < reader->info.rod_count; ++i) {
        TdlResultRod rod = tdl_result_rod(reader->result, i);
        reader->radius[i] = sqrt(rod.radius[0] * rod.radius[1]);
    }
    for (int i = 0; i < reader->surface_count; ++i) {
        reader->surfaces[i] = tdl_result_surface(reader->result, i);
        reader->cloth_of[i] = -1;
    }
    for (int i = 0; i < reader->info.cloth_count; ++i) {
        reader->cloth_of[tdl_result_cloth(reader->result, i).surface] = i;
    }
    TdlStatus status = measure(reader);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return make_bodies(reader);
}

int frame_reader_open(const Args* args, const char* fallback, FrameReader* reader) {
    *reader = (FrameReader){.host = args_host(args), .path = args_operand(args, 0)};
    TdlStatus status = tdl_result_open(args_host(args), reader->path, &reader->result);
    if (status != TDL_STATUS_OK) {
        return exit_code(status);
    }
    reader->info = tdl_result_info(reader->result);
    reader->body_count = reader->info.collider_count + reader->info.body_count;
    reader->surface_count = reader->info.surface_count;
    if (reader->info.has_grains) {
        reader->grains = tdl_result_grains(reader->result);
    }
    int code = choose_frames(args, fallback, reader);
    return code == EXIT_DONE ? exit_code(prepare(reader)) : code;
}

void frame_reader_close(FrameReader* reader) {
    for (int i = 0; i < reader->body_count && reader->bodies != NULL; ++i) {
        mesh_destroy(&reader->bodies[i]);
    }
    for (int i = 0; i < reader->surface_count && reader->sheets != NULL; ++i) {
        mesh_destroy(&reader->sheets[i]);
    }
    free(reader->surfaces);
    free(reader->sheets);
    free(reader->surface_points);
    free(reader->cloth_of);
    free(reader->strains);
    free(reader->scratch);
    free(reader->radius);
    free(reader->frames);
    free(reader->bodies);
    free(reader->reach);
    free(reader->points);
    free(reader->forces);
    free(reader->moments);
    free(reader->joints);
    free(reader->curvature);
    free(reader->poses);
    if (reader->result != NULL) {
        tdl_result_close(reader->result);
    }
    *reader = (FrameReader){0};
}

// --- one frame ------------------------------------------------------------------------------

// One over the radius of the circle through three points: 2 sin of an angle over the side across.
static double curvature_at(TdlVec3 a, TdlVec3 b, TdlVec3 c) {
    TdlVec3 u = tdl_sub3(b, a), v = tdl_sub3(c, b), w = tdl_sub3(c, a);
    double sides = tdl_norm3(u) * tdl_norm3(v) * tdl_norm3(w);
    return sides > 0.0 ? 2.0 * tdl_norm3(tdl_cross3(u, v)) / sides : 0.0;
}

static void fill_curvature(FrameReader* reader) {
    for (int rod = 0; rod < reader->info.rod_count; ++rod) {
        const TdlVec3* x = reader->points + reader->start[rod];
        double* kappa = reader->curvature + reader->start[rod];
        int count = reader->start[rod + 1] - reader->start[rod];
        for (int i = 0; i < count; ++i) {
            int mid = i == 0 ? 1 : i == count - 1 ? count - 2 : i;
            kappa[i] = count < 3 ? 0.0 : curvature_at(x[mid - 1], x[mid], x[mid + 1]);
        }
    }
}

static bool is_finite_frame(const FrameReader* reader) {
    bool finite = isfinite(reader->time);
    for (int i = 0; i < reader->info.point_count; ++i) {
        finite = finite && tdl_finite3(reader->points[i]) && tdl_finite3(reader->forces[i]) &&
                 tdl_finite3(reader->moments[i]);
    }
    for (int i = 0; i < reader->info.surface_point_count; ++i) {
        finite = finite && tdl_finite3(reader->surface_points[i]) && isfinite(reader->strains[i]);
    }
    for (int i = 0; i < reader->body_count; ++i) {
        const TdlPose* pose = &reader->poses[i];
        finite = finite && tdl_finite3(pose->position) && tdl_finite3(pose->rotation.cx) &&
                 tdl_finite3(pose->rotation.cy) && tdl_finite3(pose->rotation.cz);
    }
    for (int i = 0; i < reader->contact_count; ++i) {
        finite = finite && tdl_finite3(reader->contacts[i].point) &&
                 tdl_finite3(reader->contacts[i].force) && isfinite(reader->contacts[i].gap);
    }
    for (int i = 0; i < reader->particle_count; ++i) {
        const TdlResultParticle* p = &reader->particles[i];
        finite = finite && tdl_finite3(p->position) && tdl_finite3(p->velocity) &&
                 isfinite(p->fraction) && isfinite(p->pressure) && isfinite(p->shear);
    }
    for (int i = 0; i < reader->info.joint_count; ++i) {
        const TdlResultJointState* joint = &reader->joints[i];
        finite = finite && tdl_finite3(joint->point) && tdl_finite3(joint->force) &&
                 tdl_finite3(joint->torque) && isfinite(joint->coordinate);
    }
    return finite;
}

static TdlStatus read_surfaces(FrameReader* reader, long frame) {
    TdlStatus status = tdl_result_read_surfaces(reader->result, frame, reader->surface_points);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_result_read_strains(reader->result, frame, reader->scratch);
    for (int i = 0; status == TDL_STATUS_OK && i < reader->info.cloth_count; ++i) {
        TdlResultCloth cloth = tdl_result_cloth(reader->result, i);
        memcpy(reader->strains + reader->surfaces[cloth.surface].first_point,
               reader->scratch + cloth.first_point,
               (size_t)cloth.point_count * sizeof *reader->strains);
    }
    return status;
}

static TdlStatus fill_sheets(FrameReader* reader) {
    bool failed = false;
    for (int i = 0; i < reader->surface_count; ++i) {
        const TdlResultSurface* s = &reader->surfaces[i];
        const TdlMesh now = {reader->surface_points + s->first_point, s->point_count, s->triangles,
                             s->triangle_count};
        mesh_clear(&reader->sheets[i]);
        mesh_add_sheet(&reader->sheets[i], &now);
        failed = failed || reader->sheets[i].failed;
    }
    return failed ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}

TdlStatus frame_reader_load(FrameReader* reader, int index) {
    long frame = reader->frames[index];
    // three doubles in a row are a TdlVec3
    TdlStatus status =
        tdl_result_read_frame(reader->result, frame, &reader->time, (double*)reader->points);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (reader->info.has_forces) {
        status = tdl_result_read_forces(reader->result, frame, reader->forces, reader->moments);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_result_read_joints(reader->result, frame, reader->joints);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_result_read_poses(reader->result, frame, reader->poses);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = read_surfaces(reader, frame);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status =
        tdl_result_read_contacts(reader->result, frame, &reader->contacts, &reader->contact_count);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_result_read_particles(reader->result, frame, &reader->particles,
                                       &reader->particle_count);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (!is_finite_frame(reader)) {
        fprintf(stderr, "%s: frame %ld holds something that is not a number\n", reader->path,
                frame);
        return TDL_STATUS_BAD_INPUT;
    }
    fill_curvature(reader);
    return fill_sheets(reader);
}

double frame_reader_grain(const FrameReader* reader) {
    static const double COVER = 0.71; // of the distance from one to the next: half a diagonal
    return COVER * reader->grains.size;
}

bool frame_reader_is_flat(const FrameReader* reader) {
    return reader->info.has_grains && reader->grains.dimension == 2;
}

TdlStatus frame_reader_touches(FrameReader* reader, bool* out) {
    TdlStatus status = TDL_STATUS_OK;
    *out = false;
    for (int k = 0; k < reader->frame_count && status == TDL_STATUS_OK && !*out; ++k) {
        status = frame_reader_load(reader, k);
        *out = status == TDL_STATUS_OK && reader->contact_count > 0;
    }
    return status;
}
