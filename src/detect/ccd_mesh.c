// Collision detection of a moving mesh or polyline with itself: candidates by sweep and prune over
// swept boxes, the active set of those that collide, and the longest step that keeps the parts
// apart. Candidates cost n log n and the overlaps along the axis swept.
#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/threads.h"
#include "detect/ccd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Pairs between two updates of the step found so far: the same whatever the number of threads.
#define STEP_BLOCK 1024
// Halvings of the kept fraction before a step of zero is accepted.
#define KEEP_HALVINGS 20

typedef struct Swept {
    double lo[3], hi[3];
    int index;
    bool vertex; // in the vertex-face list: a vertex, otherwise a triangle
} Swept;

static TdlStatus check_indices(const TdlHost* host, const int* indices, int count, int limit,
                               const char* what) {
    for (int i = 0; i < count; ++i) {
        if (indices[i] < 0 || indices[i] >= limit) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "%s names vertex %d of %d", what,
                            indices[i], limit);
        }
    }
    return TDL_STATUS_OK;
}

static TdlStatus check_mesh(const TdlHost* host, const TdlCcdMesh* mesh) {
    if (mesh->vertex_count < 0 || mesh->edge_count < 0 || mesh->triangle_count < 0 ||
        mesh->vertex_count > 100000000) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "collision mesh: a count is out of range");
    }
    for (int i = 0; i < 3 * mesh->vertex_count; ++i) {
        if (!isfinite(mesh->start[i]) || !isfinite(mesh->end[i])) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                            "collision mesh: vertex %d is not finite", i / 3);
        }
    }
    TdlStatus status =
        check_indices(host, mesh->edges, 2 * mesh->edge_count, mesh->vertex_count, "an edge");
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return check_indices(host, mesh->triangles, 3 * mesh->triangle_count, mesh->vertex_count,
                         "a triangle");
}

// The box of some vertices over the whole motion, grown and rounded outwards.
static Swept sweep(const TdlCcdMesh* mesh, const int* vertices, int count, double margin,
                   int index) {
    Swept s = {.lo = {INFINITY, INFINITY, INFINITY},
               .hi = {-INFINITY, -INFINITY, -INFINITY},
               .index = index};
    for (int i = 0; i < count; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            double a = mesh->start[3 * vertices[i] + axis], b = mesh->end[3 * vertices[i] + axis];
            s.lo[axis] = fmin(s.lo[axis], fmin(a, b));
            s.hi[axis] = fmax(s.hi[axis], fmax(a, b));
        }
    }
    for (int axis = 0; axis < 3 && margin > 0.0; ++axis) {
        s.lo[axis] = nextafter(s.lo[axis] - margin, -INFINITY);
        s.hi[axis] = nextafter(s.hi[axis] + margin, INFINITY);
    }
    return s;
}

static int compare_swept(const void* a, const void* b) {
    const Swept *p = a, *q = b;
    if (p->lo[0] != q->lo[0]) {
        return p->lo[0] < q->lo[0] ? -1 : 1;
    }
    if (p->vertex != q->vertex) {
        return p->vertex ? -1 : 1;
    }
    return p->index < q->index ? -1 : p->index > q->index;
}

static bool share_vertex(const int* a, int a_count, const int* b, int b_count) {
    for (int i = 0; i < a_count; ++i) {
        for (int j = 0; j < b_count; ++j) {
            if (a[i] == b[j]) {
                return true;
            }
        }
    }
    return false;
}

static bool overlap(const Swept* a, const Swept* b) {
    return a->lo[1] <= b->hi[1] && b->lo[1] <= a->hi[1] && a->lo[2] <= b->hi[2] &&
           b->lo[2] <= a->hi[2];
}

static TdlStatus set_add(const TdlHost* host, TdlCcdSet* set, TdlCcdPair pair) {
    if (set->count == set->capacity) {
        int capacity = set->capacity > 0 ? 2 * set->capacity : 64;
        TdlCcdContact* contacts =
            tdl_grow_array(&set->mem, set->contacts, (size_t)capacity, sizeof *contacts);
        if (contacts == NULL) {
            return tdl_fail(host, TDL_STATUS_NO_MEMORY, "collision candidates: out of memory");
        }
        set->contacts = contacts;
        set->capacity = capacity;
    }
    set->contacts[set->count++] = (TdlCcdContact){.pair = pair};
    return TDL_STATUS_OK;
}

// Adds the pair of two boxes that overlap, unless it is not one to look at.
static TdlStatus add_pair(const TdlHost* host, const TdlCcdMesh* mesh, TdlCcdKind kind,
                          const Swept* p, const Swept* q, TdlCcdSet* out) {
    if (kind == TDL_CCD_EDGE_EDGE) {
        if (share_vertex(&mesh->edges[2 * p->index], 2, &mesh->edges[2 * q->index], 2)) {
            return TDL_STATUS_OK;
        }
        int a = p->index < q->index ? p->index : q->index;
        int b = p->index < q->index ? q->index : p->index;
        return set_add(host, out, (TdlCcdPair){kind, a, b});
    }
    if (p->vertex == q->vertex) {
        return TDL_STATUS_OK;
    }
    int vertex = p->vertex ? p->index : q->index, triangle = p->vertex ? q->index : p->index;
    if (share_vertex(&vertex, 1, &mesh->triangles[3 * triangle], 3)) {
        return TDL_STATUS_OK;
    }
    return set_add(host, out, (TdlCcdPair){kind, vertex, triangle});
}

static TdlStatus sweep_and_prune(const TdlHost* host, const TdlCcdMesh* mesh, TdlCcdKind kind,
                                 Swept* boxes, int count, TdlCcdSet* out) {
    qsort(boxes, (size_t)count, sizeof *boxes, compare_swept);
    for (int i = 0; i < count; ++i) {
        for (int j = i + 1; j < count && boxes[j].lo[0] <= boxes[i].hi[0]; ++j) {
            if (!overlap(&boxes[i], &boxes[j])) {
                continue;
            }
            TdlStatus status = add_pair(host, mesh, kind, &boxes[i], &boxes[j], out);
            if (status != TDL_STATUS_OK) {
                return status;
            }
        }
    }
    return TDL_STATUS_OK;
}

static int compare_contacts(const void* a, const void* b) {
    const TdlCcdPair *p = &((const TdlCcdContact*)a)->pair, *q = &((const TdlCcdContact*)b)->pair;
    if (p->kind != q->kind) {
        return p->kind < q->kind ? -1 : 1;
    }
    if (p->a != q->a) {
        return p->a < q->a ? -1 : 1;
    }
    return p->b < q->b ? -1 : p->b > q->b;
}

TdlStatus tdl_ccd_candidates(const TdlHost* host, const TdlCcdMesh* mesh, double margin,
                             TdlCcdSet* out) {
    *out = (TdlCcdSet){.mem = host->mem};
    if (!(margin >= 0.0 && margin <= 1.0e300)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "collision candidates: margin %g", margin);
    }
    TdlStatus status = check_mesh(host, mesh);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    int faces = mesh->vertex_count + mesh->triangle_count;
    int most = faces > mesh->edge_count ? faces : mesh->edge_count;
    Swept* boxes = tdl_alloc_array(&host->mem, (size_t)most + 1, sizeof *boxes);
    if (boxes == NULL) {
        return tdl_fail(host, TDL_STATUS_NO_MEMORY, "collision candidates: out of memory");
    }
    // half the margin on each side of a pair
    double half = 0.5 * margin;
    if (mesh->triangle_count > 0) {
        for (int i = 0; i < mesh->vertex_count; ++i) {
            boxes[i] = sweep(mesh, &i, 1, half, i);
            boxes[i].vertex = true;
        }
        for (int i = 0; i < mesh->triangle_count; ++i) {
            boxes[mesh->vertex_count + i] = sweep(mesh, &mesh->triangles[3 * i], 3, half, i);
        }
        status = sweep_and_prune(host, mesh, TDL_CCD_VERTEX_FACE, boxes, faces, out);
    }
    for (int i = 0; i < mesh->edge_count; ++i) {
        boxes[i] = sweep(mesh, &mesh->edges[2 * i], 2, half, i);
    }
    if (status == TDL_STATUS_OK) {
        status = sweep_and_prune(host, mesh, TDL_CCD_EDGE_EDGE, boxes, mesh->edge_count, out);
    }
    tdl_free(&host->mem, boxes);
    if (status != TDL_STATUS_OK) {
        tdl_ccd_set_free(out);
        return status;
    }
    if (out->count > 1) {
        qsort(out->contacts, (size_t)out->count, sizeof *out->contacts, compare_contacts);
    }
    return TDL_STATUS_OK;
}

TdlCcdQuery tdl_ccd_mesh_query(const TdlCcdMesh* mesh, TdlCcdPair pair) {
    int vertices[4];
    if (pair.kind == TDL_CCD_VERTEX_FACE) {
        vertices[0] = pair.a;
        memcpy(&vertices[1], &mesh->triangles[3 * pair.b], 3 * sizeof(int));
    } else {
        memcpy(&vertices[0], &mesh->edges[2 * pair.a], 2 * sizeof(int));
        memcpy(&vertices[2], &mesh->edges[2 * pair.b], 2 * sizeof(int));
    }
    TdlCcdQuery query = {.kind = pair.kind};
    for (int i = 0; i < 4; ++i) {
        query.start[i] = tdl_load3(mesh->start, vertices[i]);
        query.end[i] = tdl_load3(mesh->end, vertices[i]);
    }
    return query;
}

void tdl_ccd_set_free(TdlCcdSet* set) {
    if (set->mem.resize != NULL) {
        tdl_free(&set->mem, set->contacts);
    }
    *set = (TdlCcdSet){0};
}

// --- the active set
// -------------------------------------------------------------------------------

typedef struct ActiveWork {
    const TdlCcdMesh* mesh;
    const TdlCcdOptions* options;
    TdlCcdContact* contacts;
} ActiveWork;

static void test_contact(void* user, int index, int worker) {
    ActiveWork* work = user;
    (void)worker;
    TdlCcdContact* contact = &work->contacts[index];
    TdlCcdQuery query = tdl_ccd_mesh_query(work->mesh, contact->pair);
    TdlStatus status = tdl_ccd_query(&query, work->options, &contact->result);
    TDL_ASSERT(status != TDL_STATUS_BAD_ARGUMENT); // checked before
    // out of memory in a reference method: count it as a collision, which errs on the safe side
    contact->result.collision = contact->result.collision || status != TDL_STATUS_OK;
}

// Asks a question with a known answer to have the options checked.
static TdlStatus check_options(const TdlHost* host, const TdlCcdOptions* options) {
    TdlCcdQuery query = {.kind = TDL_CCD_EDGE_EDGE};
    TdlCcdResult result;
    TdlStatus status = tdl_ccd_query(&query, options, &result);
    return status == TDL_STATUS_OK ? status
                                   : tdl_fail(host, status, "collision: an option is out of range");
}

TdlStatus tdl_ccd_active_set(const TdlHost* host, const TdlCcdMesh* mesh,
                             const TdlCcdOptions* options, int thread_count, TdlCcdSet* out) {
    *out = (TdlCcdSet){.mem = host->mem};
    TdlStatus status = check_options(host, options);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_ccd_candidates(host, mesh, options->min_separation, out);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    Pool* pool;
    status = pool_create(host, thread_count, &pool);
    if (status != TDL_STATUS_OK) {
        tdl_ccd_set_free(out);
        return status;
    }
    ActiveWork work = {mesh, options, out->contacts};
    pool_run(pool, out->count, 64, test_contact, &work);
    pool_destroy(pool);

    // keep those that collide, in order
    int kept = 0;
    for (int i = 0; i < out->count; ++i) {
        if (out->contacts[i].result.collision) {
            out->contacts[kept++] = out->contacts[i];
        }
    }
    out->count = kept;
    return TDL_STATUS_OK;
}

// --- steps
// ----------------------------------------------------------------------------------------

typedef struct StepItem {
    double time, distance, tolerance, keep;
} StepItem;

typedef struct StepWork {
    const TdlCcdMesh* mesh;
    const TdlCcdOptions* options;
    const TdlCcdContact* contacts;
    double keep, max_time;
    StepItem* items;
    int first; // of the block
} StepWork;

// The time until which one pair keeps its share of distance. (K.20)
static void test_step(void* user, int index, int worker) {
    StepWork* work = user;
    (void)worker;
    index += work->first;
    TdlCcdQuery query = tdl_ccd_mesh_query(work->mesh, work->contacts[index].pair);
    double u, v;
    StepItem item = {.distance = ccd_distance(&query, 0.0, &u, &v), .keep = work->keep};
    TdlCcdOptions options = *work->options;
    options.norm = TDL_CCD_NORM_EUCLID;
    options.max_time = work->max_time;
    TdlCcdResult result = {0};
    for (int i = 0; i < KEEP_HALVINGS; ++i) {
        // a distance beyond the tolerance need not be kept in proportion
        options.min_separation = fmin(item.keep * item.distance, work->options->tolerance);
        double room = item.distance - options.min_separation;
        options.tolerance = fmin(work->options->tolerance, 0.25 * room);
        TdlStatus status = tdl_ccd_query(&query, &options, &result);
        item.time = status == TDL_STATUS_OK ? result.time : 0.0;
        if (item.time > 0.0 || !(item.distance > 0.0)) {
            break;
        }
        item.keep *= 0.5;
    }
    item.tolerance = result.collision ? result.tolerance : 0.0;
    work->items[index] = item;
}

static void reduce_block(const StepWork* work, int count, TdlCcdStep* out) {
    for (int i = work->first; i < work->first + count; ++i) {
        const StepItem* item = &work->items[i];
        out->distance = fmin(out->distance, item->distance);
        out->tolerance = fmax(out->tolerance, item->tolerance);
        out->keep = fmin(out->keep, item->keep);
        if (item->time < out->step) {
            out->step = item->time;
            out->first = i;
        }
    }
}

static TdlStatus run_steps(const TdlHost* host, StepWork* work, int count, int thread_count,
                           TdlCcdStep* out) {
    Pool* pool;
    TdlStatus status = pool_create(host, thread_count, &pool);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    for (work->first = 0; work->first < count; work->first += STEP_BLOCK) {
        int left = count - work->first, block = left < STEP_BLOCK ? left : STEP_BLOCK;
        work->max_time = out->step;
        pool_run(pool, block, 32, test_step, work);
        reduce_block(work, block, out);
    }
    pool_destroy(pool);
    return TDL_STATUS_OK;
}

TdlStatus tdl_ccd_max_step(const TdlHost* host, const TdlCcdMesh* mesh, double keep,
                           const TdlCcdOptions* options, int thread_count, TdlCcdStep* out) {
    *out = (TdlCcdStep){.step = 1.0, .distance = INFINITY, .keep = keep, .first = -1};
    if (!(keep > 0.0 && keep < 1.0)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "collision step: keep %g", keep);
    }
    TdlStatus status = check_options(host, options);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlCcdSet set;
    status = tdl_ccd_candidates(host, mesh, options->tolerance, &set);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    StepWork work = {.mesh = mesh, .options = options, .contacts = set.contacts, .keep = keep};
    work.items = tdl_alloc_array(&host->mem, (size_t)set.count + 1, sizeof *work.items);
    if (work.items == NULL) {
        status = tdl_fail(host, TDL_STATUS_NO_MEMORY, "collision step: out of memory");
    } else {
        out->candidates = set.count;
        status = run_steps(host, &work, set.count, thread_count, out);
    }
    tdl_free(&host->mem, work.items);
    tdl_ccd_set_free(&set);
    return status;
}

TdlStatus tdl_ccd_line_search(const TdlHost* host, const TdlCcdMesh* mesh, double keep,
                              const TdlCcdOptions* options, int thread_count, double min_step,
                              TdlCcdEnergyFn energy, void* user, TdlCcdStep* out) {
    TdlStatus status = tdl_ccd_max_step(host, mesh, keep, options, thread_count, out);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    size_t size = 3 * (size_t)mesh->vertex_count;
    double* trial = tdl_alloc_array(&host->mem, size + 1, sizeof *trial);
    if (trial == NULL) {
        return tdl_fail(host, TDL_STATUS_NO_MEMORY, "collision line search: out of memory");
    }
    double start = energy(user, mesh->start);
    for (; out->step > min_step && out->step > 0.0; out->step *= 0.5) {
        for (size_t i = 0; i < size; ++i) {
            trial[i] = mesh->start[i] + out->step * (mesh->end[i] - mesh->start[i]);
        }
        if (energy(user, trial) < start) {
            break;
        }
    }
    out->step = out->step > min_step ? out->step : 0.0;
    tdl_free(&host->mem, trial);
    return TDL_STATUS_OK;
}
