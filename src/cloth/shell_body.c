// Shell patches in a world: the table of their operations, and what the world tells of them. They
// have no curves and no surface, so nothing is ever found to touch them.
#include "base/log.h"
#include "body/body.h"
#include "cloth/shell_patch.h"

#include <math.h>
#include <string.h>

typedef struct ShellBody {
    Body head;
    ShellPatch patch;
    int *faces, *triangles;
} ShellBody;

static ShellPatch* patch_of(Body* body) {
    return &((ShellBody*)body)->patch;
}

static const ShellPatch* patch_in(const Body* body) {
    return &((const ShellBody*)body)->patch;
}

static void destroy(const TdlHost* host, Body* body) {
    ShellBody* sb = (ShellBody*)body;
    tdl_free(&host->mem, sb->faces);
    tdl_free(&host->mem, sb->triangles);
    tdl_free(&host->mem, sb);
}

// --- a step ----------------------------------------------------------------------------------

static void predict(Body* body, const BodyStep* t) {
    ShellStep step = {t->dt, t->settling, t->gravity};
    body->account.failed = !shell_predict(patch_of(body), &step);
}

// (W.22), with what (S.17) says of the change of velocity
static double error_of(const ShellPatch* patch) {
    const double* size = patch->def.size;
    double mass = patch->area_mass * size[0] * size[1];
    return 0.5 * sqrt(2.0 * fmax(patch->numerical, 0.0) / mass) / hypot(size[0], size[1]);
}

static void advance(Body* body, const BodyStep* t) {
    ShellPatch* patch = patch_of(body);
    body->account.error = t->estimate ? error_of(patch) : 0.0;
    body->account.damping = t->losses ? patch->damping : 0.0;
    body->account.numerical = t->losses ? patch->numerical : 0.0;
    if (body->account.failed) {
        return;
    }
    shell_advance(patch, t->dt);
    body->energy = shell_energy(patch, t->gravity);
    body->account.failed = !isfinite(body->energy.kinetic);
}

static double mass(const Body* body, TdlVec3* centre) {
    const ShellPatch* patch = patch_in(body);
    *centre = shell_centre(patch);
    return patch->area_mass * patch->def.size[0] * patch->def.size[1];
}

static TdlEnergy energy(const Body* body, TdlVec3 gravity) {
    return shell_energy(patch_in(body), gravity);
}

static TdlStatus settle(const TdlHost* host, Body* body, TdlVec3 gravity, Stop stop,
                        double* residual) {
    (void)stop; // of three unknowns, at once
    if (shell_settle(patch_of(body), gravity, residual)) {
        return TDL_STATUS_OK;
    }
    return tdl_fail(host, TDL_STATUS_DIVERGED, "no rest was found for the shell patch %d",
                    body->kind_index);
}

// --- what detection sees ---------------------------------------------------------------------

static BodyShape shape(const Body* body, int segments) {
    (void)body, (void)segments;
    return (BodyShape){.pieces = 1};
}

static TdlStatus copy(const Body* body, TdlWorld* to) {
    TdlBodyId id;
    return tdl_world_add_shell_patch(to, &patch_in(body)->def, &id);
}

static const BodyKind SHELL_BODY = {
    .name = "shell",
    .destroy = destroy,
    .predict = predict,
    .advance = advance,
    .mass = mass,
    .energy = energy,
    .settle = settle,
    .shape = shape,
    .copy = copy,
};

// --- making it -------------------------------------------------------------------------------

// Quads row by row, each in turn from its first corner, and their halves.
static void fill_mesh(ShellBody* sb) {
    const int* nodes = sb->patch.def.nodes;
    int *face = sb->faces, *triangle = sb->triangles;
    for (int j = 0; j + 1 < nodes[1]; ++j) {
        for (int i = 0; i + 1 < nodes[0]; ++i, face += 4, triangle += 6) {
            int first = j * nodes[0] + i;
            int corner[4] = {first, first + 1, first + 1 + nodes[0], first + nodes[0]};
            int half[6] = {corner[0], corner[1], corner[2], corner[0], corner[2], corner[3]};
            memcpy(face, corner, sizeof corner);
            memcpy(triangle, half, sizeof half);
        }
    }
}

static int face_count(const ShellPatch* patch) {
    return (patch->def.nodes[0] - 1) * (patch->def.nodes[1] - 1);
}

static int vertex_count(const ShellPatch* patch) {
    return patch->def.nodes[0] * patch->def.nodes[1];
}

TdlStatus tdl_world_add_shell_patch(TdlWorld* world, const TdlShellPatchDef* def, TdlBodyId* out) {
    const TdlHost* host = world_host(world);
    const char* fault = tdl_shell_patch_def_fault(def);
    if (fault != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "shell patch: %s", fault);
    }
    ShellBody* sb = tdl_alloc_zero(&host->mem, sizeof *sb);
    if (sb == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    shell_init(&sb->patch, def);
    sb->head = (Body){.kind = &SHELL_BODY,
                      .dof_count = 2,
                      .v_free = sb->patch.free,
                      .state = (double*)&sb->patch.now,
                      .state_count = (int)(sizeof(ShellState) / sizeof(double))};
    size_t faces = (size_t)face_count(&sb->patch);
    sb->faces = tdl_alloc_array(&host->mem, 4 * faces, sizeof *sb->faces);
    sb->triangles = tdl_alloc_array(&host->mem, 6 * faces, sizeof *sb->triangles);
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (sb->faces != NULL && sb->triangles != NULL) {
        fill_mesh(sb);
        status = world_add_body(world, &sb->head);
    }
    if (status != TDL_STATUS_OK) {
        destroy(host, &sb->head);
        return status;
    }
    *out = sb->head.id;
    return TDL_STATUS_OK;
}

// --- the world's functions -------------------------------------------------------------------

static const ShellBody* find(const TdlWorld* world, TdlBodyId id) {
    return (const ShellBody*)world_find_body(world, id, &SHELL_BODY);
}

TdlStatus tdl_shell_patch_def(const TdlWorld* world, TdlBodyId id, TdlShellPatchDef* out) {
    const ShellBody* sb = find(world, id);
    if (sb == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    *out = sb->patch.def;
    out->curvature = sb->patch.now.z[0];
    out->angle = sb->patch.now.z[1];
    return TDL_STATUS_OK;
}

TdlStatus tdl_shell_patch_mesh(const TdlWorld* world, TdlBodyId id, TdlShellMesh* out) {
    const ShellBody* sb = find(world, id);
    if (sb == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    int faces = face_count(&sb->patch);
    *out = (TdlShellMesh){vertex_count(&sb->patch), sb->faces, faces, sb->triangles, 2 * faces};
    return TDL_STATUS_OK;
}

// (S.5), and its velocity in the shape that the rates belong to, as (H.18) has it of rods.
static void put_vertex(const ShellPatch* patch, double u, double v, TdlVec3* position,
                       TdlVec3* velocity) {
    TdlPose pose = patch->def.pose;
    const double* rates = patch->now.v;
    TdlVec3 rate[2];
    if (position != NULL) {
        TdlVec3 own = shell_point(patch->now.z, u, v, NULL);
        *position = tdl_add3(pose.position, tdl_mul33_3(pose.rotation, own));
    }
    if (velocity != NULL) {
        shell_point(patch->now.before, u, v, rate);
        TdlVec3 own = tdl_axpy3(tdl_scale3(rates[0], rate[0]), rates[1], rate[1]);
        *velocity = tdl_mul33_3(pose.rotation, own);
    }
}

TdlStatus tdl_shell_patch_points(const TdlWorld* world, TdlBodyId id, TdlVec3* positions,
                                 TdlVec3* velocities) {
    const ShellBody* sb = find(world, id);
    if (sb == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    const TdlShellPatchDef* def = &sb->patch.def;
    for (int k = 0; k < vertex_count(&sb->patch); ++k) {
        int i = k % def->nodes[0], j = k / def->nodes[0];
        put_vertex(&sb->patch, def->size[0] * i / (def->nodes[0] - 1),
                   def->size[1] * j / (def->nodes[1] - 1), positions == NULL ? NULL : positions + k,
                   velocities == NULL ? NULL : velocities + k);
    }
    return TDL_STATUS_OK;
}
