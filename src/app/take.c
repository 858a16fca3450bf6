// Reads frames of a result for export and for pictures.
#include "app/take.h"

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

static int choose_frames(const Args* args, const char* fallback, Take* take) {
    const char* text = args_text(args, "frames", fallback);
    long count = take->info.frame_count, first, last, step;
    if (count == 0) {
        fprintf(stderr, "%s: there is no frame yet\n", take->path);
        return EXIT_INPUT;
    }
    if (!parse_slice(text, count, &first, &last, &step)) {
        return usage_error(args, "--frames '%s' does not fit: the result has frames 0 to %ld", text,
                           count - 1);
    }
    take->frame_count = (int)((last - first) / step) + 1;
    take->frames = malloc((size_t)take->frame_count * sizeof *take->frames);
    if (take->frames == NULL) {
        return exit_code(TDL_STATUS_NO_MEMORY);
    }
    for (int k = 0; k < take->frame_count; ++k) {
        take->frames[k] = first + k * step;
    }
    return EXIT_DONE;
}

// --- what there is to see -------------------------------------------------------------------

static void include(Take* take, const TdlVec3* points, int count) {
    for (int i = 0; i < count; ++i) {
        TdlVec3 p = points[i], low = take->low, high = take->high;
        take->low = (TdlVec3){fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z)};
        take->high = (TdlVec3){fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z)};
    }
}

static TdlStatus measure(Take* take) {
    int looks = take->frame_count < LOOKED_AT ? take->frame_count : LOOKED_AT;
    take->low = (TdlVec3){INFINITY, INFINITY, INFINITY};
    take->high = (TdlVec3){-INFINITY, -INFINITY, -INFINITY};
    TdlStatus status = TDL_STATUS_OK;
    for (int k = 0; k < looks && status == TDL_STATUS_OK; ++k) {
        int last = take->frame_count - 1;
        status = take_load(take, looks > 1 ? (int)((long)last * k / (looks - 1)) : last);
        if (status == TDL_STATUS_OK) {
            include(take, take->points, take->info.point_count);
            include(take, take->surface_points, take->info.surface_point_count);
        }
    }
    if (!(take->low.x <= take->high.x)) { // no rods or surfaces
        take->low = (TdlVec3){-0.5, -0.5, -0.5};
        take->high = (TdlVec3){0.5, 0.5, 0.5};
    }
    return status;
}

static bool is_endless(const TdlResultShape* shape) {
    return strcmp(shape->shape, "plane") == 0 || strcmp(shape->shape, "cylinder") == 0;
}

// A shape in the frame of its body. What is endless reaches a little beyond all that moves.
static void add_shape(Mesh* mesh, const TdlResultShape* shape, double reach) {
    int from = mesh->point_count;
    double radius = shape->size[0], length = shape->size[1];
    TdlVec3 zero = {0}, x = {1.0, 0.0, 0.0}, y = {0.0, 1.0, 0.0}, z = {0.0, 0.0, 1.0};
    if (strcmp(shape->shape, "plane") == 0) {
        mesh_add_box(mesh, zero, tdl_scale3(reach, x), tdl_scale3(reach, y), zero);
    } else if (strcmp(shape->shape, "sphere") == 0) {
        mesh_add_sphere(mesh, zero, radius);
    } else if (strcmp(shape->shape, "cylinder") == 0 || strcmp(shape->shape, "capsule") == 0) {
        double half = is_endless(shape) ? reach : 0.5 * length;
        TdlVec3 ends[] = {tdl_scale3(-half, x), tdl_scale3(half, x)};
        mesh_add_tube(mesh, ends, 2, radius, SIDES, !is_endless(shape));
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
static TdlStatus make_bodies(Take* take) {
    double reach = 0.0;
    TdlStatus status = take_load(take, 0);
    for (int i = 0; i < take->body_count; ++i) {
        TdlVec3 p = take->poses[i].position;
        TdlVec3 far = {fmax(fabs(take->low.x - p.x), fabs(take->high.x - p.x)),
                       fmax(fabs(take->low.y - p.y), fabs(take->high.y - p.y)),
                       fmax(fabs(take->low.z - p.z), fabs(take->high.z - p.z))};
        reach = fmax(reach, 1.2 * tdl_norm3(far));
    }
    bool failed = false;
    for (int i = 0; i < take->info.shape_count && status == TDL_STATUS_OK; ++i) {
        TdlResultShape shape = tdl_result_shape(take->result, i);
        Mesh* mesh = &take->bodies[shape.body];
        add_shape(mesh, &shape, reach);
        failed = failed || mesh->failed;
        if (is_endless(&shape)) {
            take->reach[shape.body] = shape.shape[0] == 'p' ? BODY_PLANE : BODY_ENDLESS;
        }
    }
    return failed ? TDL_STATUS_NO_MEMORY : status;
}

static TdlStatus prepare(Take* take) {
    size_t rods = (size_t)take->info.rod_count, points = (size_t)take->info.point_count;
    size_t bodies = (size_t)take->body_count;
    take->start = tdl_result_point_start(take->result);
    take->radius = malloc((rods + 1) * sizeof *take->radius);
    take->points = malloc((points + 1) * sizeof *take->points);
    take->curvature = malloc((points + 1) * sizeof *take->curvature);
    take->poses = malloc((bodies + 1) * sizeof *take->poses);
    take->bodies = calloc(bodies + 1, sizeof *take->bodies);
    take->reach = calloc(bodies + 1, sizeof *take->reach);
    size_t surfaces = (size_t)take->surface_count;
    take->surfaces = malloc((surfaces + 1) * sizeof *take->surfaces);
    take->sheets = calloc(surfaces + 1, sizeof *take->sheets);
    take->surface_points =
        malloc(((size_t)take->info.surface_point_count + 1) * sizeof *take->surface_points);
    if (take->surfaces == NULL || take->sheets == NULL || take->surface_points == NULL ||
        take->radius == NULL || take->points == NULL || take->curvature == NULL ||
        take->poses == NULL || take->bodies == NULL || take->reach == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < take->info.rod_count; ++i) {
        TdlResultRod rod = tdl_result_rod(take->result, i);
        take->radius[i] = sqrt(rod.radius[0] * rod.radius[1]);
    }
    for (int i = 0; i < take->surface_count; ++i) {
        take->surfaces[i] = tdl_result_surface(take->result, i);
    }
    TdlStatus status = measure(take);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return make_bodies(take);
}

int take_open(const Args* args, const char* fallback, Take* take) {
    *take = (Take){.path = args_operand(args, 0)};
    TdlStatus status = tdl_result_open(args_host(args), take->path, &take->result);
    if (status != TDL_STATUS_OK) {
        return exit_code(status);
    }
    take->info = tdl_result_info(take->result);
    take->body_count = take->info.collider_count + take->info.body_count;
    take->surface_count = take->info.surface_count;
    int code = choose_frames(args, fallback, take);
    return code == EXIT_DONE ? exit_code(prepare(take)) : code;
}

void take_close(Take* take) {
    for (int i = 0; i < take->body_count && take->bodies != NULL; ++i) {
        mesh_destroy(&take->bodies[i]);
    }
    for (int i = 0; i < take->surface_count && take->sheets != NULL; ++i) {
        mesh_destroy(&take->sheets[i]);
    }
    free(take->surfaces);
    free(take->sheets);
    free(take->surface_points);
    free(take->radius);
    free(take->frames);
    free(take->bodies);
    free(take->reach);
    free(take->points);
    free(take->curvature);
    free(take->poses);
    if (take->result != NULL) {
        tdl_result_close(take->result);
    }
    *take = (Take){0};
}

// --- one frame ------------------------------------------------------------------------------

// One over the radius of the circle through three points: 2 sin of an angle over the side across.
static double curvature_at(TdlVec3 a, TdlVec3 b, TdlVec3 c) {
    TdlVec3 u = tdl_sub3(b, a), v = tdl_sub3(c, b), w = tdl_sub3(c, a);
    double sides = tdl_norm3(u) * tdl_norm3(v) * tdl_norm3(w);
    return sides > 0.0 ? 2.0 * tdl_norm3(tdl_cross3(u, v)) / sides : 0.0;
}

static void fill_curvature(Take* take) {
    for (int rod = 0; rod < take->info.rod_count; ++rod) {
        const TdlVec3* x = take->points + take->start[rod];
        double* kappa = take->curvature + take->start[rod];
        int count = take->start[rod + 1] - take->start[rod];
        for (int i = 0; i < count; ++i) {
            int mid = i == 0 ? 1 : i == count - 1 ? count - 2 : i;
            kappa[i] = count < 3 ? 0.0 : curvature_at(x[mid - 1], x[mid], x[mid + 1]);
        }
    }
}

static bool is_finite_frame(const Take* take) {
    bool finite = isfinite(take->time);
    for (int i = 0; i < take->info.point_count; ++i) {
        finite = finite && tdl_finite3(take->points[i]);
    }
    for (int i = 0; i < take->info.surface_point_count; ++i) {
        finite = finite && tdl_finite3(take->surface_points[i]);
    }
    for (int i = 0; i < take->body_count; ++i) {
        const TdlPose* pose = &take->poses[i];
        finite = finite && tdl_finite3(pose->position) && tdl_finite3(pose->rotation.cx) &&
                 tdl_finite3(pose->rotation.cy) && tdl_finite3(pose->rotation.cz);
    }
    for (int i = 0; i < take->contact_count; ++i) {
        finite = finite && tdl_finite3(take->contacts[i].point) &&
                 tdl_finite3(take->contacts[i].force) && isfinite(take->contacts[i].gap);
    }
    return finite;
}

static TdlStatus fill_sheets(Take* take) {
    bool failed = false;
    for (int i = 0; i < take->surface_count; ++i) {
        const TdlResultSurface* s = &take->surfaces[i];
        const TdlMesh now = {take->surface_points + s->first_point, s->point_count, s->triangles,
                             s->triangle_count};
        mesh_clear(&take->sheets[i]);
        mesh_add_sheet(&take->sheets[i], &now);
        failed = failed || take->sheets[i].failed;
    }
    return failed ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}

TdlStatus take_load(Take* take, int index) {
    long frame = take->frames[index];
    // three doubles in a row are a TdlVec3
    TdlStatus status =
        tdl_result_read_frame(take->result, frame, &take->time, (double*)take->points);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_result_read_poses(take->result, frame, take->poses);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_result_read_surfaces(take->result, frame, take->surface_points);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_result_read_contacts(take->result, frame, &take->contacts, &take->contact_count);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (!is_finite_frame(take)) {
        fprintf(stderr, "%s: frame %ld holds something that is not a number\n", take->path, frame);
        return TDL_STATUS_BAD_INPUT;
    }
    fill_curvature(take);
    return fill_sheets(take);
}

TdlStatus take_touches(Take* take, bool* out) {
    TdlStatus status = TDL_STATUS_OK;
    *out = false;
    for (int k = 0; k < take->frame_count && status == TDL_STATUS_OK && !*out; ++k) {
        status = take_load(take, k);
        *out = status == TDL_STATUS_OK && take->contact_count > 0;
    }
    return status;
}
