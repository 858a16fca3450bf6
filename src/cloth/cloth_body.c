// Cloth in a world: the table of its operations, and what the world tells of it.
#include "base/log.h"
#include "body/body.h"
#include "body/surface.h"
#include "cloth/cloth.h"

#include <stdlib.h>
#include <string.h>

// What a change of a place, in edges, counts as a residual of the world's rounds, which end at
// 1e-10.
static const double RESIDUAL = 1.0e-2;

// What held nodes weigh among the others, where A itself is asked for: their rows are those of 1.
static const double HEAVY = 1.0e15;

typedef struct ClothBody {
    Body head;
    Cloth* cloth;
    Surface* surface;
    TdlVec3* vertices;        // [node_count] for the surface
    int (*list)[9];           // [triangle_count] coordinates of a triangle's corners, rising
    int (*rank)[3];           // [triangle_count] place of each corner among these
    int *reach_start, *reach; // [triangle_count + 1] coordinates of z that they reach
    int *row_start, *column;  // A by rows of coordinates
    double* value;
    const TdlWorld* clock; // that it is in, which tells the time
} ClothBody;

static Cloth* cloth_of(const Body* body) {
    return ((const ClothBody*)body)->cloth;
}

static void destroy(const TdlHost* host, Body* body) {
    ClothBody* cb = (ClothBody*)body;
    surface_destroy(host, cb->surface);
    tdl_free(&host->mem, cb->vertices);
    tdl_free(&host->mem, cb->list);
    tdl_free(&host->mem, cb->rank);
    tdl_free(&host->mem, cb->reach_start);
    tdl_free(&host->mem, cb->reach);
    tdl_free(&host->mem, cb->row_start);
    tdl_free(&host->mem, cb->column);
    tdl_free(&host->mem, cb->value);
    cloth_destroy(host, cb->cloth);
    tdl_free(&host->mem, cb);
}

// --- a step ----------------------------------------------------------------------------------

static ClothStep step_of(const BodyStep* t) {
    return (ClothStep){t->dt, t->end, t->settling, t->gravity, t->wind};
}

static void prepare(Body* body, const BodyStep* t) {
    ClothStep step = step_of(t);
    Cloth* c = cloth_of(body);
    for (int i = 0; i < c->varying.count; ++i) {
        load_take(&c->varying.at[i], t->end, body);
    }
    for (int g = 0; g < c->grip_count; ++g) {
        const ClothGrip* grip = &c->grip[g];
        motion_check(&grip->motion, motion_pose(&grip->motion, grip->middle, t->end), body);
    }
    cloth_prepare(c, &step);
}

// Shares of a triangle's corners at a place.
static void shares_of(const BodyPlace* place, double out[3]) {
    out[0] = 1.0 - place->u - place->v;
    out[1] = place->u;
    out[2] = place->v;
}

static const int* corners_of(const Body* body, const BodyPlace* place) {
    return cloth_of(body)->triangle + 3 * (ptrdiff_t)place->element;
}

static void expect(Body* body, const BodyPlace* place, TdlVec3 impulse) {
    double* expected = cloth_of(body)->expected;
    const int* corner = corners_of(body, place);
    double share[3];
    shares_of(place, share);
    for (int k = 0; k < 3; ++k) {
        TdlVec3 sum = tdl_axpy3(tdl_load3(expected, corner[k]), share[k], impulse);
        tdl_store3(expected, corner[k], sum);
    }
}

static void predict(Body* body, const BodyStep* t) {
    ClothStep step = step_of(t);
    Cloth* c = cloth_of(body);
    for (int i = 0; i < 3 * c->node_count && body->expects; ++i) {
        c->expected[i] *= t->dt; // it was told of forces
    }
    body->account.failed = !cloth_predict(c, &step);
}

static double residual(const Body* body, const BodyStep* t, const double* v,
                       const double* impulse) {
    ClothStep step = step_of(t);
    return RESIDUAL * cloth_residual(cloth_of(body), &step, v, impulse);
}

static void predict_again(Body* body, const BodyStep* t, const double* v) {
    ClothStep step = step_of(t);
    body->account.failed = !cloth_linearise(cloth_of(body), &step, v);
}

static bool correct(const Body* body, double* v_free) {
    Cloth* c = cloth_of(body);
    for (int i = 0; i < 3 * c->node_count; ++i) {
        v_free[i] += c->missing[i];
    }
    cloth_rebase(c);
    return true;
}

static bool is_finite(const Cloth* c) {
    for (int i = 0; i < c->state_count; ++i) {
        if (!isfinite(c->x[i])) {
            return false;
        }
    }
    return true;
}

static double total(TdlEnergy e) {
    return e.kinetic + e.elastic + e.gravity;
}

static void advance(Body* body, const BodyStep* t) {
    ClothStep step = step_of(t);
    Cloth* c = cloth_of(body);
    double start = total(body->energy);
    body->account.supplied = cloth_advance(c, &step, body->impulse);
    if (t->losses) { // what damping takes is in what is left over
        body->account.given = body->account.supplied;
        body->account.numerical =
            start + body->touch + body->account.supplied - total(cloth_energy(c, t->gravity));
    }
    if (body->push != NULL) {
        double before = total(cloth_energy(c, t->gravity));
        for (int i = 0; i < 3 * c->node_count; ++i) {
            c->x[i] += body->push[i];
        }
        body->account.push = total(cloth_energy(c, t->gravity)) - before;
    }
    body->energy = cloth_energy(c, t->gravity);
    body->account.gave = c->gave;
    body->account.failed = body->account.failed || !is_finite(c);
}

static const TdlVec3* vertices_now(const ClothBody* cb) {
    for (int i = 0; i < cb->cloth->node_count; ++i) {
        cb->vertices[i] = tdl_load3(cb->cloth->x, i);
    }
    return cb->vertices;
}

static int put_surface(ClothBody* cb) {
    return surface_put(cb->surface, vertices_now(cb));
}

static TdlStatus place(const TdlHost* host, Body* body, double time) {
    (void)time;
    ClothBody* cb = (ClothBody*)body;
    int triangle = put_surface(cb);
    if (triangle < 0 || !is_finite(cb->cloth)) { // of the latter its account tells
        return TDL_STATUS_OK;
    }
    return tdl_fail(host, TDL_STATUS_DIVERGED, "a cloth's triangle %d has no area", triangle);
}

static double mass(const Body* body, TdlVec3* centre) {
    const Cloth* c = cloth_of(body);
    TdlVec3 sum = {0};
    double area = 0.0;
    for (int i = 0; i < c->node_count; ++i) {
        sum = tdl_axpy3(sum, c->area[i], tdl_load3(c->x, i));
        area += c->area[i];
    }
    *centre = tdl_scale3(1.0 / area, sum);
    return c->def.density * area;
}

static TdlEnergy energy(const Body* body, TdlVec3 gravity) {
    return cloth_energy(cloth_of(body), gravity);
}

// --- A and places ----------------------------------------------------------------------------

static void solve(const Body* body, int count, double* X) {
    const Cloth* c = cloth_of(body);
    for (int k = 0; k < count; ++k) {
        double* x = X + (ptrdiff_t)k * 3 * c->node_count;
        cloth_clear_held(c, x);
        node_cholesky_solve(&c->factor, x);
    }
}

static BodyRoot root(const Body* body) {
    return (BodyRoot){.count = 3 * cloth_of(body)->node_count};
}

static BodySupport root_support(const Body* body, const BodyPlace* place) {
    const ClothBody* cb = (const ClothBody*)body;
    int first = cb->reach_start[place->element];
    return (BodySupport){0, cb->reach_start[place->element + 1] - first, cb->reach + first};
}

static void whiten(const Body* body, const BodyPlace* place, const double* h, double* g) {
    const ClothBody* cb = (const ClothBody*)body;
    const Cloth* c = cb->cloth;
    const int *corner = corners_of(body, place), *rank = cb->rank[place->element];
    double f[27];
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) {
            TdlVec3 own = tdl_load3(h + 9 * (ptrdiff_t)k, rank[i]);
            tdl_store3(f, 3 * k + i, c->held[corner[i]] ? (TdlVec3){0} : own);
        }
    }
    BodySupport list = root_support(body, place);
    node_cholesky_whiten(&c->factor, 3, corner, f, list.list, list.count, g);
}

static void unwhiten(const Body* body, const double* z, double* v) {
    node_cholesky_unwhiten(&cloth_of(body)->factor, z, v);
}

static void drive(const Body* body, const double* f, double* z) {
    const Cloth* c = cloth_of(body);
    node_cholesky_drive(&c->factor, f, z);
    for (int i = 0; i < c->node_count; ++i) {
        if (c->held[i]) { // it is coupled with no other
            tdl_store3(z, c->factor.place[i], (TdlVec3){0});
        }
    }
}

// A, in which held nodes are so heavy that nothing moves them.

static BodyMatrix matrix(const Body* body) {
    const ClothBody* cb = (const ClothBody*)body;
    const Cloth* c = cb->cloth;
    double *to = cb->value, heavy = 0.0;
    for (int k = 0; k < 9 * c->pattern.start[c->node_count]; ++k) {
        heavy = fmax(heavy, HEAVY * c->blocks[k]);
    }
    for (int k = 0; k < 3 * c->node_count; ++k) {
        for (int e = c->pattern.start[k / 3]; e < c->pattern.start[k / 3 + 1]; ++e) {
            for (int j = 0; j < 3; ++j) {
                double own = c->blocks[9 * (ptrdiff_t)e + 3 * j + k % 3];
                *to++ = c->held[k / 3] && own > 0.0 ? heavy : own;
            }
        }
    }
    return (BodyMatrix){cb->row_start, cb->column, cb->value};
}

static BodySupport support(const Body* body, const BodyPlace* place) {
    return (BodySupport){0, 9, ((const ClothBody*)body)->list[place->element]};
}

static void rows(const Body* body, const BodyPlace* place, TdlMat3 basis, double* out) {
    const int* rank = ((const ClothBody*)body)->rank[place->element];
    const TdlVec3 axis[3] = {basis.cx, basis.cy, basis.cz};
    double share[3];
    shares_of(place, share);
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) {
            tdl_store3(out + 9 * (ptrdiff_t)k, rank[i], tdl_scale3(share[i], axis[k]));
        }
    }
}

static TdlVec3 velocity(const Body* body, const BodyPlace* place) {
    const Cloth* c = cloth_of(body);
    const int* corner = corners_of(body, place);
    double share[3];
    TdlVec3 sum = {0};
    shares_of(place, share);
    for (int k = 0; k < 3; ++k) {
        sum = tdl_axpy3(sum, share[k], tdl_load3(c->v, corner[k]));
    }
    return sum;
}

// --- joints: a vertex has a place and no frame ------------------------------------------------

static bool locate(const Body* body, double at, BodyPlace* out) {
    const Cloth* c = cloth_of(body);
    if (!(at >= 0.0 && at < c->node_count) || at != floor(at) || c->held[(int)at]) {
        return false;
    }
    for (int i = 0; i < 3 * c->triangle_count; ++i) {
        if (c->triangle[i] == (int)at) {
            *out = (BodyPlace){.element = i / 3, .u = i % 3 == 1, .v = i % 3 == 2};
            out->point = out->touch = tdl_load3(c->x, (int)at);
            return true;
        }
    }
    return false;
}

static int vertex_at(const Body* body, const BodyPlace* place) {
    return corners_of(body, place)[place->u == 1.0 ? 1 : place->v == 1.0 ? 2 : 0];
}

static bool frame(const Body* body, const BodyPlace* place, TdlPose* out) {
    *out = (TdlPose){tdl_load3(cloth_of(body)->x, vertex_at(body, place)), tdl_identity33()};
    return false;
}

static bool frame_after(const Body* body, const BodyPlace* place, double dt, const double* v,
                        TdlPose* out) {
    int vertex = vertex_at(body, place);
    frame(body, place, out);
    out->position = tdl_axpy3(out->position, dt, tdl_load3(v, vertex));
    return true;
}

// --- what detection sees ---------------------------------------------------------------------

static BodyShape shape(const Body* body, int segments) {
    (void)segments;
    const ClothBody* cb = (const ClothBody*)body;
    return (BodyShape){.pieces = 1,
                       .stiff = !cb->cloth->def.self,
                       .frameless = true,
                       .size = 0.5 * cb->cloth->def.thickness,
                       .spacing = cb->cloth->reach,
                       .surface = cb->surface};
}

static bool shift(Body* body, TdlVec3 by) {
    Cloth* c = cloth_of(body);
    if (c->grip_count > 0) {
        return false;
    }
    for (int i = 0; i < c->node_count; ++i) {
        tdl_store3(c->x, i, tdl_add3(tdl_load3(c->x, i), by));
    }
    put_surface((ClothBody*)body); // what detection sees
    return true;
}

static double speed(const Body* body) {
    const Cloth* c = cloth_of(body);
    double most = 0.0;
    for (int i = 0; i < c->node_count; ++i) {
        double own = tdl_norm3(tdl_load3(c->v, i));
        most = own > most ? own : most;
    }
    return most;
}

// --- from a program --------------------------------------------------------------------------

static Lead* lead(Body* body, int part, TdlPose* now) {
    const ClothBody* cb = (const ClothBody*)body;
    return cloth_lead(cb->cloth, part, world_now(cb->clock), now);
}

static const char* pull_fault(const Body* body, const TdlPull* pull) {
    bool there = pull->vertex >= 0 && pull->vertex < cloth_of(body)->node_count;
    if (!there) {
        return "there is no such vertex";
    }
    bool turns = tdl_dot3(pull->torque, pull->torque) > 0.0;
    return turns ? "a torque does nothing to a vertex" : NULL;
}

static TdlStatus pull(const TdlHost* host, Body* body, int count, const TdlPull* pulls) {
    return cloth_pull_at(host, cloth_of(body), count, pulls);
}

static TdlStatus add_load(const TdlHost* host, Body* body, const TdlLoadDef* def, double now) {
    (void)now;
    Cloth* c = cloth_of(body);
    if (def->vertex < 0 || def->vertex >= c->node_count) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "load: there is no vertex %d", def->vertex);
    }
    TdlStatus status = load_list_add(host, &c->varying, def);
    if (status == TDL_STATUS_OK) {
        c->varying.at[c->varying.count - 1].slot = def->vertex;
    }
    return status;
}

static TdlStatus copy(const Body* body, TdlWorld* to);

static const BodyKind CLOTH_BODY = {
    .name = "cloth",
    .destroy = destroy,
    .prepare = prepare,
    .add_load = add_load,
    .expect = expect,
    .predict = predict,
    .residual = residual,
    .predict_again = predict_again,
    .correct = correct,
    .advance = advance,
    .place = place,
    .solve = solve,
    .root = root,
    .root_support = root_support,
    .whiten = whiten,
    .unwhiten = unwhiten,
    .matrix = matrix,
    .drive = drive,
    .support = support,
    .rows = rows,
    .velocity = velocity,
    .locate = locate,
    .frame = frame,
    .frame_after = frame_after,
    .mass = mass,
    .energy = energy,
    .shift = shift,
    .shape = shape,
    .speed = speed,
    .lead = lead,
    .pull_fault = pull_fault,
    .pull = pull,
    .copy = copy,
};

// --- making it -------------------------------------------------------------------------------

static int ascending(const void* a, const void* b) {
    return *(const int*)a - *(const int*)b;
}

static void list_triangle(ClothBody* cb, int f) {
    const int* corner = cb->cloth->triangle + 3 * (ptrdiff_t)f;
    int node[3] = {corner[0], corner[1], corner[2]};
    qsort(node, 3, sizeof *node, ascending);
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) {
            cb->list[f][3 * k + i] = 3 * node[k] + i;
            cb->rank[f][i] = corner[i] == node[k] ? k : cb->rank[f][i];
        }
    }
}

static bool list_triangles(const TdlHost* host, ClothBody* cb) {
    const Cloth* c = cb->cloth;
    size_t count = (size_t)c->triangle_count;
    cb->vertices = tdl_alloc_array(&host->mem, (size_t)c->node_count, sizeof *cb->vertices);
    cb->list = tdl_alloc_array(&host->mem, count, sizeof *cb->list);
    cb->rank = tdl_alloc_array(&host->mem, count, sizeof *cb->rank);
    cb->reach_start = tdl_alloc_array(&host->mem, count + 1, sizeof *cb->reach_start);
    if (!cb->vertices || !cb->list || !cb->rank || !cb->reach_start) {
        return false;
    }
    for (int f = 0; f < c->triangle_count; ++f) {
        list_triangle(cb, f);
        cb->reach_start[f + 1] =
            cb->reach_start[f] + node_cholesky_reach(&c->factor, 3, c->triangle + 3 * f, 0, NULL);
    }
    cb->reach = tdl_alloc_array(&host->mem, (size_t)cb->reach_start[count], sizeof *cb->reach);
    for (int f = 0; f < c->triangle_count && cb->reach != NULL; ++f) {
        int first = cb->reach_start[f];
        node_cholesky_reach(&c->factor, 3, c->triangle + 3 * f, cb->reach_start[f + 1] - first,
                            cb->reach + first);
    }
    return cb->reach != NULL;
}

static bool list_rows(const TdlHost* host, ClothBody* cb) {
    const BlockPattern* a = &cb->cloth->pattern;
    size_t n = 3 * (size_t)a->n, count = 9 * (size_t)a->start[a->n];
    cb->row_start = tdl_alloc_array(&host->mem, n + 1, sizeof *cb->row_start);
    cb->column = tdl_alloc_array(&host->mem, count, sizeof *cb->column);
    cb->value = tdl_alloc_array(&host->mem, count, sizeof *cb->value);
    if (!cb->row_start || !cb->column || !cb->value) {
        return false;
    }
    int used = 0;
    for (size_t k = 0; k < n; ++k) {
        cb->row_start[k] = used;
        for (int e = a->start[k / 3]; e < a->start[k / 3 + 1]; ++e) {
            for (int j = 0; j < 3; ++j) {
                cb->column[used++] = 3 * a->column[e] + j;
            }
        }
    }
    cb->row_start[n] = used;
    return true;
}

static TdlStatus make_surface(const TdlHost* host, ClothBody* cb) {
    const Cloth* c = cb->cloth;
    TdlMesh mesh = {c->def.mesh.vertices, c->node_count, c->triangle, c->triangle_count};
    // one sample: vertices that move
    TdlVec3* samples = (TdlVec3*)(uintptr_t)mesh.vertices;
    VertexMotion motion = {samples, 1, c->node_count, 0.0, 1.0};
    return surface_create(host, &mesh, &motion, 0.5 * c->def.thickness, &cb->surface);
}

// Takes the sheet over, whatever comes of it.
static TdlStatus add(TdlWorld* world, Cloth* cloth, TdlBodyId* out) {
    const TdlHost* host = world_host(world);
    ClothBody* cb = tdl_alloc_zero(&host->mem, sizeof *cb);
    if (cb == NULL) {
        cloth_destroy(host, cloth);
        return TDL_STATUS_NO_MEMORY;
    }
    cb->cloth = cloth;
    bool listed = list_triangles(host, cb) && list_rows(host, cb);
    TdlStatus status = listed ? make_surface(host, cb) : TDL_STATUS_NO_MEMORY;
    if (status == TDL_STATUS_OK) {
        cb->clock = world;
        cb->head = (Body){.kind = &CLOTH_BODY,
                          .dof_count = 3 * cloth->node_count,
                          .v_free = cloth->free,
                          .state = cloth->x,
                          .state_count = cloth->state_count,
                          .material = cloth->def.material};
        status = world_add_body(world, &cb->head);
    }
    if (status != TDL_STATUS_OK) {
        destroy(host, &cb->head);
        return status;
    }
    *out = cb->head.id;
    return TDL_STATUS_OK;
}

TdlStatus tdl_world_add_cloth(TdlWorld* world, const TdlClothDef* def, TdlBodyId* out) {
    const TdlHost* host = world_host(world);
    const char* fault = tdl_cloth_def_fault(def);
    if (fault != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "cloth: %s", fault);
    }
    Cloth* cloth;
    TdlStatus status = cloth_create(host, def, &cloth);
    return status == TDL_STATUS_OK ? add(world, cloth, out) : status;
}

static TdlStatus copy(const Body* body, TdlWorld* to) {
    Cloth* cloth;
    TdlBodyId id;
    TdlStatus status = cloth_create_copy(world_host(to), cloth_of(body), &cloth);
    return status == TDL_STATUS_OK ? add(to, cloth, &id) : status;
}

// --- the world's functions -------------------------------------------------------------------

static const Cloth* find(const TdlWorld* world, TdlBodyId id) {
    const Body* body = world_find_body(world, id, &CLOTH_BODY);
    return body == NULL ? NULL : cloth_of(body);
}

TdlStatus tdl_cloth_def(const TdlWorld* world, TdlBodyId id, TdlClothDef* out) {
    const Body* body = world_find_body(world, id, &CLOTH_BODY);
    if (body == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    const ClothBody* cb = (const ClothBody*)body;
    *out = cb->cloth->def;
    out->mesh.vertices = vertices_now(cb);
    return TDL_STATUS_OK;
}

TdlStatus tdl_cloth_triangles(const TdlWorld* world, TdlBodyId id, const int** triangles,
                              int* triangle_count) {
    const Cloth* c = find(world, id);
    if (c == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    *triangles = c->triangle;
    *triangle_count = c->triangle_count;
    return TDL_STATUS_OK;
}

TdlStatus tdl_cloth_state(const TdlWorld* world, TdlBodyId id, TdlVec3* positions,
                          TdlVec3* velocities) {
    const Cloth* c = find(world, id);
    if (c == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    for (int i = 0; i < c->node_count; ++i) {
        if (positions != NULL) {
            positions[i] = tdl_load3(c->x, i);
        }
        if (velocities != NULL) {
            velocities[i] = tdl_load3(c->v, i);
        }
    }
    return TDL_STATUS_OK;
}

static double area_at_rest(const Cloth* c) {
    double sum = 0.0;
    for (int i = 0; i < c->node_count; ++i) {
        sum += c->area[i];
    }
    return sum;
}

static double area_at(const Cloth* c, const TdlVec3* at) {
    double sum = 0.0;
    for (int f = 0; f < c->triangle_count; ++f) {
        const int* v = c->triangle + 3 * (ptrdiff_t)f;
        sum += tdl_norm3(tdl_cross3(tdl_sub3(at[v[1]], at[v[0]]), tdl_sub3(at[v[2]], at[v[0]])));
    }
    return 0.5 * sum;
}

// Whether an element is one of those that keep the sheet's metric.
static bool counts(const Cloth* c, int e) {
    bool soft = c->def.shear >= 0.0 && c->def.shear < c->def.stretch;
    ClothStrain kind = c->element[e].kind;
    return kind == CLOTH_EDGE || kind == CLOTH_PANEL || (kind == CLOTH_SHEAR && !soft);
}

// The change of the length of a side of a quad over its length, from corner k to the next.
static double side_strain(const Cloth* c, int f, int k) {
    const int* face = c->def.mesh.faces + 4 * (ptrdiff_t)f;
    const TdlVec3* rest = c->def.rest_corners + 4 * (ptrdiff_t)f;
    int next = (k + 1) % 4;
    double length = tdl_norm3(tdl_sub3(tdl_load3(c->x, face[next]), tdl_load3(c->x, face[k])));
    return fabs(length / tdl_norm3(tdl_sub3(rest[next], rest[k])) - 1.0);
}

// S3's isometry, which has quads alone, does not keep all edges: what they changed by is told all
// the same. Null: of no vertex.
static double look_at_sides(const Cloth* c, double* of_vertex) {
    double largest = 0.0;
    for (int k = 0; k < 4 * c->def.mesh.face_count && c->def.isometry == TDL_ISOMETRY_S3; ++k) {
        const int* face = c->def.mesh.faces + 4 * (ptrdiff_t)(k / 4);
        double own = side_strain(c, k / 4, k % 4);
        largest = fmax(largest, own);
        for (int end = 0; end < 2 && of_vertex != NULL; ++end) {
            double* to = &of_vertex[face[(k + end) % 4]];
            *to = fmax(*to, own);
        }
    }
    return largest;
}

TdlStatus tdl_cloth_strain(const TdlWorld* world, TdlBodyId id, TdlClothStrain* out) {
    const Cloth* c = find(world, id);
    if (c == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    *out = (TdlClothStrain){.largest = look_at_sides(c, NULL)};
    for (int e = 0; e < c->strain_count; ++e) {
        double own = cloth_stretched(&c->element[e], c->x);
        out->largest = counts(c, e) ? fmax(out->largest, own) : out->largest;
    }
    out->area = area_at(c, (const TdlVec3*)c->x) / area_at_rest(c) - 1.0;
    return TDL_STATUS_OK;
}

TdlStatus tdl_cloth_vertex_strains(const TdlWorld* world, TdlBodyId id, double* out) {
    const Cloth* c = find(world, id);
    if (c == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    memset(out, 0, (size_t)c->node_count * sizeof *out);
    look_at_sides(c, out);
    for (int e = 0; e < c->strain_count; ++e) {
        const ClothElement* el = &c->element[e];
        double own = cloth_stretched(el, c->x);
        for (int k = 0; k < el->count; ++k) {
            out[el->node[k]] = counts(c, e) ? fmax(out[el->node[k]], own) : out[el->node[k]];
        }
    }
    return TDL_STATUS_OK;
}

TdlStatus tdl_cloth_hold_force(const TdlWorld* world, TdlBodyId id, int vertex, TdlVec3* out) {
    const Cloth* c = find(world, id);
    if (c == NULL || vertex < 0 || vertex >= c->node_count) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    *out = tdl_load3(c->force, vertex);
    return TDL_STATUS_OK;
}
