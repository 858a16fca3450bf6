// Writing the page of a result. The template has two marks: the head and the first frame go before
// the script, so that the first picture needs no more than that; the rest goes behind it.
//
// Every frame is an element of its own, zlib inside base64. Every 16th frame refers to no other
// (KEY_EVERY of viewer/src/recording.js).
#include "app/view_page.h"

#include "app/frame_block.h"
#include "app/page.h"
#include "app/page_log.h"
#include "app/page_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_EVERY = 16 };

typedef struct Writer {
    ViewPage* page;
    FILE* out;
    TdlResultInfo info;
    FrameBox box;
    int* start;      // [rod_count + surface_count + 1] first point of each rod, of each surface
    double* points;  // [3 point_count + 3 surface_point_count]
    double* strains; // [surface_point_count] of the cloths; else 0
    double* scratch; // [cloth_point_count]
    TdlVec3 *forces, *moments;   // [point_count], where the result has them
    TdlResultJointState* joints; // [joint_count]
    TdlPose* poses;              // [collider_count + body_count]
    double force_max;            // N, of all contacts shown
    bool touches;                // there is a contact in a frame shown
    double* times;               // [frame_count]
    FrameGrains grains;          // where the result has some
    TdlResultParticle* picked;   // [picked_capacity]
    int picked_capacity;
    FrameCoder coder;
} Writer;

bool view_page_available(void) {
    if (PAGE_TEMPLATE_SIZE == 0) {
        fprintf(stderr, "this tendril was built without its page, for want of node and npm: "
                        "install them and build again\n");
    }
    return PAGE_TEMPLATE_SIZE > 0;
}

static long frame_at(const Writer* w, long k) {
    long last = w->info.frame_count - 1;
    return w->page->frame_count > 1
               ? (long)((double)last * (double)k / (double)(w->page->frame_count - 1) + 0.5)
               : last;
}

static TdlStatus read_points(Writer* w, long frame, double* time) {
    // three doubles in a row are a TdlVec3
    TdlVec3* vertices = (TdlVec3*)(void*)(w->points + 3 * (size_t)w->info.point_count);
    TdlStatus status = tdl_result_read_frame(w->page->result, frame, time, w->points);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_result_read_surfaces(w->page->result, frame, vertices);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_result_read_strains(w->page->result, frame, w->scratch);
    if (status == TDL_STATUS_OK && w->info.has_forces) {
        status = tdl_result_read_forces(w->page->result, frame, w->forces, w->moments);
    }
    for (int i = 0; status == TDL_STATUS_OK && i < w->info.cloth_count; ++i) {
        TdlResultCloth cloth = tdl_result_cloth(w->page->result, i);
        int first = tdl_result_surface(w->page->result, cloth.surface).first_point;
        memcpy(w->strains + first, w->scratch + cloth.first_point,
               (size_t)cloth.point_count * sizeof *w->strains);
    }
    return status;
}

// The particles of a frame that are shown.
static TdlStatus pick_particles(Writer* w, long frame, FrameView* view) {
    const TdlResultParticle* all;
    int count;
    TdlStatus status = tdl_result_read_particles(w->page->result, frame, &all, &count);
    if (count > w->picked_capacity) {
        TdlResultParticle* grown = realloc(w->picked, (size_t)count * sizeof *grown);
        if (grown == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        w->picked = grown;
        w->picked_capacity = count;
    }
    if (count > 0) {
        memcpy(w->picked, all, (size_t)count * sizeof *all);
    }
    view->particles = w->picked;
    view->particle_count = frame_grains_pick(w->picked, count, w->grains.every);
    return status;
}

// --- the head ------------------------------------------------------------------------------------

static TdlStatus measure_contacts(Writer* w, long frame) {
    const TdlResultContact* contacts;
    int count;
    TdlStatus status = tdl_result_read_contacts(w->page->result, frame, &contacts, &count);
    w->touches = w->touches || count > 0;
    for (int i = 0; i < count; ++i) {
        double force = tdl_norm3(contacts[i].force);
        w->force_max = isfinite(force) ? fmax(w->force_max, force) : w->force_max;
    }
    return status;
}

static TdlStatus measure(Writer* w) {
    FrameBounds bounds = frame_bounds_empty();
    TdlStatus status = TDL_STATUS_OK;
    for (long k = 0; status == TDL_STATUS_OK && k < w->page->frame_count; ++k) {
        status = read_points(w, frame_at(w, k), &w->times[k]);
        const TdlResultParticle* particles = NULL;
        int particle_count = 0;
        if (status == TDL_STATUS_OK) {
            status = tdl_result_read_particles(w->page->result, frame_at(w, k), &particles,
                                               &particle_count);
            frame_grains_see(&w->grains, particles, particle_count);
        }
        if (status == TDL_STATUS_OK) {
            FrameView view = {.points = w->points,
                              .strains = w->strains,
                              .forces = w->forces,
                              .moments = w->moments,
                              .particles = particles,
                              .particle_count = particle_count};
            frame_bounds_grow(&w->coder, &view, &bounds);
            status = measure_contacts(w, frame_at(w, k));
        }
    }
    w->box = frame_box(&bounds);
    return status;
}

static void put_triangles(FILE* out, const int* triangles, int count) {
    fprintf(out, ",\"triangles\":[");
    for (int i = 0; i < 3 * count; ++i) {
        fprintf(out, "%s%d", i > 0 ? "," : "", triangles[i]);
    }
    fputc(']', out);
}

static void put_mesh(FILE* out, const TdlMesh* mesh) {
    fprintf(out, ",\"vertices\":[");
    for (int i = 0; i < mesh->vertex_count; ++i) {
        TdlVec3 p = mesh->vertices[i];
        fprintf(out, "%s%.7g,%.7g,%.7g", i > 0 ? "," : "", p.x, p.y, p.z);
    }
    fputc(']', out);
    put_triangles(out, mesh->triangles, mesh->triangle_count);
}

static void put_shape(FILE* out, const TdlResultShape* shape) {
    const TdlMat3* r = &shape->pose.rotation;
    const TdlVec3 columns[4] = {shape->pose.position, r->cx, r->cy, r->cz};
    fprintf(out, "{\"body\":%d,\"shape\":", shape->body);
    page_put_text(out, shape->shape);
    fprintf(out, ",\"size\":[%.9g,%.9g,%.9g],\"pose\":[", shape->size[0], shape->size[1],
            shape->size[2]);
    for (int i = 0; i < 4; ++i) {
        fprintf(out, "%s%.9g,%.9g,%.9g", i > 0 ? "," : "", columns[i].x, columns[i].y,
                columns[i].z);
    }
    fputc(']', out);
    if (shape->mesh.triangle_count > 0) {
        put_mesh(out, &shape->mesh);
    }
    fputc('}', out);
}

static void put_surfaces(FILE* out, const PageHead* head) {
    int next = 0; // cloths come in the order of their surfaces
    fprintf(out, "\"surfaces\":[");
    for (int i = 0; i < head->surface_count; ++i) {
        const TdlResultSurface* surface = &head->surfaces[i];
        bool cloth = next < head->cloth_count && head->cloths[next].surface == i;
        next += cloth;
        fprintf(out, "%s{\"body\":%d,\"cloth\":%s,\"radius\":%.9g,\"points\":%d", i > 0 ? "," : "",
                surface->body, cloth ? "true" : "false", surface->radius, surface->point_count);
        put_triangles(out, surface->triangles, surface->triangle_count);
        fputc('}', out);
    }
    fprintf(out, "],");
}

static void put_joints(FILE* out, const PageHead* head) {
    fprintf(out, "\"forces\":%s,\"joints\":[", head->forces ? "true" : "false");
    for (int i = 0; i < head->joint_count; ++i) {
        fputs(i > 0 ? ",{\"name\":" : "{\"name\":", out);
        page_put_text(out, head->joints[i].name);
        fputs(",\"kind\":", out);
        page_put_text(out, head->joints[i].kind);
        fputc('}', out);
    }
    fprintf(out, "],");
}

// A colour that nothing has yet ends where it begins.
static void put_grains(FILE* out, const FrameGrains* grains) {
    if (grains == NULL) {
        fprintf(out, "\"grains\":null,");
        return;
    }
    fprintf(out, "\"grains\":{\"name\":");
    page_put_text(out, grains->bed.name);
    fprintf(out, ",\"dimension\":%d,\"size\":%.9g,\"every\":%d,\"ends\":[", grains->bed.dimension,
            grains->bed.size, grains->every);
    for (int i = 0; i < GRAINS_COLOURS; ++i) {
        double least = isfinite(grains->ends[i].least) ? grains->ends[i].least : 0.0;
        double most = isfinite(grains->ends[i].most) ? grains->ends[i].most : least;
        fprintf(out, "%s[%.9g,%.9g]", i > 0 ? "," : "", least, most);
    }
    fprintf(out, "]},");
}

static void put_rods(FILE* out, const PageHead* head) {
    fprintf(out, "\"point_start\":[0");
    for (int i = 1; i <= head->rod_count; ++i) {
        fprintf(out, ",%d", head->point_start[i]);
    }
    fprintf(out, "],\"radius\":[");
    for (int i = 0; i < head->rod_count; ++i) {
        fprintf(out, "%s%.6g", i > 0 ? "," : "", head->radius[i]);
    }
    fprintf(out, "],\"shapes\":[");
    for (int i = 0; i < head->shape_count; ++i) {
        fputs(i > 0 ? "," : "", out);
        put_shape(out, &head->shapes[i]);
    }
    fprintf(out, "],");
}

static void put_head(FILE* out, const PageHead* head) {
    const FrameBox* box = &head->box;
    fprintf(out, "<script type=\"application/json\" id=\"tendril-head\">{\"title\":");
    page_put_text(out, head->title);
    fprintf(out, ",\"version\":");
    page_put_text(out, head->version);
    fprintf(out, ",\"live\":%s,\"collider_count\":%d,\"body_count\":%d,",
            head->live ? "true" : "false", head->collider_count, head->body_count);
    put_rods(out, head);
    put_surfaces(out, head);
    put_joints(out, head);
    put_grains(out, head->grains);
    fprintf(out, "\"box\":[[%.9g,%.9g,%.9g],[", box->origin[0], box->origin[1], box->origin[2]);
    for (int c = 0; c < 3; ++c) {
        fprintf(out, "%s%.9g", c > 0 ? "," : "", box->origin[c] + 65535.0 * box->scale[c]);
    }
    fprintf(out, "]],\"contacts\":%s,\"force_max\":%.9g,", head->contacts ? "true" : "false",
            head->force_max);
    fprintf(out, "\"gravity\":[%.9g,%.9g,%.9g],\"mu\":%.9g,\"times\":[", head->gravity.x,
            head->gravity.y, head->gravity.z, head->mu);
    for (long k = 0; k < head->frame_count; ++k) {
        fprintf(out, "%s%.12g", k > 0 ? "," : "", head->times[k]);
    }
    fprintf(out, "],\"log\":[");
    for (int i = 0; i < head->column_count; ++i) {
        fputs(i > 0 ? "," : "", out);
        page_put_text(out, head->columns[i]);
    }
    fprintf(out, "]}</script>\n");
}

// Writes the part of the template between two marks; null: its start, its end.
static void put_part(FILE* out, const char* from, const char* to) {
    const char* at = (const char*)PAGE_TEMPLATE;
    const char* end = at + PAGE_TEMPLATE_SIZE;
    if (from != NULL) {
        at = memmem(at, (size_t)(end - at), from, strlen(from));
        at = at == NULL ? end : at + strlen(from);
    }
    const char* stop = to == NULL ? end : memmem(at, (size_t)(end - at), to, strlen(to));
    fwrite(at, 1, (size_t)((stop == NULL ? end : stop) - at), out);
}

static const char FIRST_MARK[] = "<!--tendril:first-->", REST_MARK[] = "<!--tendril:rest-->";

void page_put_start(FILE* out, const PageHead* head) {
    put_part(out, NULL, FIRST_MARK);
    put_head(out, head);
}

void page_put_script(FILE* out) {
    put_part(out, FIRST_MARK, REST_MARK);
}

void page_put_end(FILE* out) {
    put_part(out, REST_MARK, NULL);
}

// --- frames --------------------------------------------------------------------------------------

static TdlStatus put_frame(Writer* w, long k) {
    TdlResult* result = w->page->result;
    long frame = frame_at(w, k);
    FrameView view = {.points = w->points,
                      .strains = w->strains,
                      .forces = w->forces,
                      .moments = w->moments,
                      .poses = w->poses,
                      .joints = w->joints,
                      .joint_count = w->info.joint_count};
    TdlStatus status = read_points(w, frame, &view.time);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_result_read_poses(result, frame, w->poses);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_result_read_joints(result, frame, w->joints);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_result_read_contacts(result, frame, &view.contacts, &view.contact_count);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = pick_particles(w, frame, &view);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (!frame_encode(&w->coder, &view, &w->box, true, k % KEY_EVERY == 0)) {
        return TDL_STATUS_NO_MEMORY;
    }
    fprintf(w->out, "<script type=\"text/plain\" id=\"tendril-frame-%ld\">", k);
    bool packed = page_put_packed(w->out, w->coder.block, w->coder.size);
    fprintf(w->out, "</script>\n");
    return packed ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}

static TdlStatus put_log(Writer* w, const PageLog* log) {
    fprintf(w->out, "<script type=\"text/plain\" id=\"tendril-log\">");
    size_t count = (size_t)log->row_count * (size_t)log->column_count;
    bool packed =
        page_put_packed(w->out, (const unsigned char*)log->values, count * sizeof *log->values);
    fprintf(w->out, "</script>\n");
    return packed ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}

static TdlStatus put_start(Writer* w, const PageLog* log) {
    const TdlResultInfo* info = &w->info;
    double* radius = malloc(((size_t)info->rod_count + 1) * sizeof *radius);
    TdlResultShape* shapes = malloc(((size_t)info->shape_count + 1) * sizeof *shapes);
    TdlResultSurface* surfaces = malloc(((size_t)info->surface_count + 1) * sizeof *surfaces);
    TdlResultCloth* cloths = malloc(((size_t)info->cloth_count + 1) * sizeof *cloths);
    TdlResultJoint* joints = malloc(((size_t)info->joint_count + 1) * sizeof *joints);
    bool room =
        radius != NULL && shapes != NULL && surfaces != NULL && cloths != NULL && joints != NULL;
    for (int i = 0; room && i < info->rod_count; ++i) {
        TdlResultRod rod = tdl_result_rod(w->page->result, i);
        radius[i] = sqrt(rod.radius[0] * rod.radius[1]);
    }
    for (int i = 0; room && i < info->shape_count; ++i) {
        shapes[i] = tdl_result_shape(w->page->result, i);
    }
    for (int i = 0; room && i < info->surface_count; ++i) {
        surfaces[i] = tdl_result_surface(w->page->result, i);
    }
    for (int i = 0; room && i < info->cloth_count; ++i) {
        cloths[i] = tdl_result_cloth(w->page->result, i);
    }
    for (int i = 0; room && i < info->joint_count; ++i) {
        joints[i] = tdl_result_joint(w->page->result, i);
    }
    if (room) {
        PageHead head = {.title = info->title,
                         .version = info->version,
                         .rod_count = info->rod_count,
                         .collider_count = info->collider_count,
                         .body_count = info->body_count,
                         .shape_count = info->shape_count,
                         .point_start = tdl_result_point_start(w->page->result),
                         .radius = radius,
                         .shapes = shapes,
                         .surface_count = info->surface_count,
                         .surfaces = surfaces,
                         .cloth_count = info->cloth_count,
                         .cloths = cloths,
                         .forces = info->has_forces,
                         .joint_count = info->joint_count,
                         .joints = joints,
                         .grains = info->has_grains ? &w->grains : NULL,
                         .box = w->box,
                         .contacts = w->touches,
                         .force_max = w->force_max,
                         .frame_count = w->page->frame_count,
                         .times = w->times,
                         .column_count = log->column_count,
                         .columns = log->names};
        page_put_start(w->out, &head);
    }
    free(radius);
    free(shapes);
    free(surfaces);
    free(cloths);
    free(joints);
    return room ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}

static TdlStatus put_first(Writer* w, PageLog* log) {
    TdlStatus status = page_log_read(w->page->log_path, log);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = measure(w);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = put_start(w, log);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return put_log(w, log);
}

static TdlStatus put_page(Writer* w) {
    PageLog log = {0};
    TdlStatus status = put_first(w, &log);
    for (long k = 0; status == TDL_STATUS_OK && k < w->page->frame_count; ++k) {
        status = put_frame(w, k);
        if (k == 0) {
            page_put_script(w->out);
        }
    }
    page_put_end(w->out);
    page_log_free(&log);
    return status;
}

static bool list_starts(Writer* w) {
    int rods = w->info.rod_count, lines = rods + w->info.surface_count;
    w->start = calloc((size_t)lines + 1, sizeof *w->start);
    if (w->start == NULL) {
        return false;
    }
    memcpy(w->start, tdl_result_point_start(w->page->result), ((size_t)rods + 1) * sizeof(int));
    for (int i = rods; i < lines; ++i) {
        w->start[i + 1] = w->start[i] + tdl_result_surface(w->page->result, i - rods).point_count;
    }
    return true;
}

TdlStatus view_page_write(ViewPage* page, FILE* out) {
    Writer w = {.page = page, .out = out, .info = tdl_result_info(page->result)};
    long most = page->most_frames > 0 ? page->most_frames : w.info.frame_count;
    page->frame_count = most < w.info.frame_count ? most : w.info.frame_count;
    size_t points = (size_t)w.info.point_count + (size_t)w.info.surface_point_count;
    w.points = malloc((3 * points + 1) * sizeof *w.points);
    w.strains = calloc((size_t)w.info.surface_point_count + 1, sizeof *w.strains);
    w.scratch = malloc(((size_t)w.info.cloth_point_count + 1) * sizeof *w.scratch);
    int pose_count = w.info.collider_count + w.info.body_count;
    w.poses = malloc(((size_t)pose_count + 1) * sizeof *w.poses);
    size_t inner = w.info.has_forces ? (size_t)w.info.point_count : 0;
    w.forces = malloc((inner + 1) * sizeof *w.forces);
    w.moments = malloc((inner + 1) * sizeof *w.moments);
    w.joints = malloc(((size_t)w.info.joint_count + 1) * sizeof *w.joints);
    w.times = malloc(((size_t)page->frame_count + 1) * sizeof *w.times);
    TdlResultGrains bed =
        w.info.has_grains ? tdl_result_grains(page->result) : (TdlResultGrains){0};
    w.grains = frame_grains_begin(&bed);
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (w.points != NULL && w.strains != NULL && w.scratch != NULL && w.poses != NULL &&
        w.forces != NULL && w.moments != NULL && w.joints != NULL && w.times != NULL &&
        list_starts(&w)) {
        FrameLayout layout = {.rod_count = w.info.rod_count,
                              .line_count = w.info.rod_count + w.info.surface_count,
                              .point_start = w.start,
                              .pose_count = pose_count,
                              .forces = w.info.has_forces};
        status = frame_coder_create(&layout, &w.coder) ? put_page(&w) : status;
    }
    frame_coder_destroy(&w.coder);
    free(w.start);
    free(w.points);
    free(w.strains);
    free(w.scratch);
    free(w.poses);
    free(w.forces);
    free(w.moments);
    free(w.joints);
    free(w.times);
    free(w.picked);
    return status;
}
