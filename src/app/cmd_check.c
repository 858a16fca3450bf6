// tendril check: validates a scene and says what it holds.
#include "app/command.h"
#include "app/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double step_count(const TdlSceneInfo* info) {
    return info->step > 0.0 ? round(info->end / info->step) : 0.0;
}

static void print_json_rods(const TdlScene* scene, int count) {
    printf(", \"rods\": [");
    for (int i = 0; i < count; ++i) {
        TdlSceneRods rods = tdl_scene_rods(scene, i);
        printf("%s{\"name\": \"%s\", \"model\": \"%s\", \"material\": \"%s\", \"count\": %d, "
               "\"elements\": %d, \"length\": %.17g, \"radius\": [%.17g, %.17g]}",
               i == 0 ? "" : ", ", rods.name, rods.model, rods.material, rods.count,
               rods.element_count, rods.length, rods.radius[0], rods.radius[1]);
    }
    printf("]");
}

// A name or null.
static void print_json_name(const char* name) {
    if (name == NULL) {
        printf("null");
    } else {
        printf("\"%s\"", name);
    }
}

static void print_json_bodies(const TdlScene* scene, int count) {
    printf(", \"bodies\": [");
    for (int i = 0; i < count; ++i) {
        TdlSceneBodies bodies = tdl_scene_bodies(scene, i);
        printf("%s{\"name\": \"%s\", \"shape\": \"%s\", \"count\": %d, \"density\": %.17g, "
               "\"material\": ",
               i == 0 ? "" : ", ", bodies.name, bodies.shape, bodies.count, bodies.density);
        print_json_name(bodies.material);
        if (bodies.mass > 0.0) {
            printf(", \"mass\": %.17g", bodies.mass);
        }
        printf("}");
    }
    printf("]");
}

static void print_json_cloths(const TdlScene* scene, int count) {
    printf(", \"cloths\": [");
    for (int i = 0; i < count; ++i) {
        TdlSceneCloth cloth = tdl_scene_cloth(scene, i);
        printf("%s{\"name\": \"%s\", \"vertices\": %d, \"faces\": %d, \"held\": %d, "
               "\"area\": %.17g, \"mass\": %.17g, \"isometry\": \"%s\", \"material\": ",
               i == 0 ? "" : ", ", cloth.name, cloth.vertex_count, cloth.face_count,
               cloth.held_count, cloth.area, cloth.mass, cloth.isometry);
        print_json_name(cloth.material);
        printf("}");
    }
    printf("]");
}

static void print_json_shells(const TdlScene* scene, int count) {
    printf(", \"shells\": [");
    for (int i = 0; i < count; ++i) {
        TdlSceneShell shell = tdl_scene_shell(scene, i);
        printf("%s{\"name\": \"%s\", \"vertices\": %d, \"area\": %.17g, \"mass\": %.17g, "
               "\"touches\": false, \"material\": ",
               i == 0 ? "" : ", ", shell.name, shell.vertex_count, shell.area, shell.mass);
        print_json_name(shell.material);
        printf("}");
    }
    printf("]");
}

// What the bed of a world as a run would start with it has; nothing of one that was not built.
static TdlGrainsInfo look_at_grains(const TdlWorld* world) {
    TdlGrainsInfo info = {0};
    if (world != NULL) {
        tdl_grains_info(world, tdl_world_body(world, "grains", 0), &info);
    }
    return info;
}

static double degrees(double tangent) {
    return atan(tangent) * 180.0 / 3.14159265358979323846;
}

static void print_json_grains(const TdlScene* scene, const TdlWorld* world) {
    TdlSceneGrains grains = tdl_scene_grains(scene);
    TdlGrainsInfo info = look_at_grains(world);
    const int* n = grains.cells;
    printf(", \"grains\": {\"name\": \"%s\", \"dimension\": %d, \"cells\": [%d, %d, %d], "
           "\"spacing\": %.17g, \"particles\": %d, \"mass\": %.17g, \"density\": %.17g, "
           "\"friction\": %.17g, \"material\": ",
           grains.name, grains.dimension, n[0], n[1], n[2], grains.spacing, info.particle_count,
           info.mass, grains.density, grains.friction);
    print_json_name(grains.material);
    printf("}");
}

static void print_json_contacts(const TdlScene* scene) {
    TdlSceneContacts contacts = tdl_scene_contacts(scene);
    printf(", \"contacts\": {\"detection\": \"%s\", \"response\": \"%s\", \"friction\": %.17g, "
           "\"restitution\": %.17g, "
           "\"pairs\": %d}",
           contacts.detection, contacts.response, contacts.friction, contacts.restitution,
           contacts.pair_count);
}

// --- overlaps -----------------------------------------------------------------------------------

enum { TELL_MOST = 5 };

typedef struct Overlaps {
    TdlWorld* world;
    TdlOverlap worst[TELL_MOST];
    int count; // of pairs
} Overlaps;

// Of the world as a run would start with it.
static TdlStatus find_overlaps(const TdlScene* scene, Overlaps* out) {
    *out = (Overlaps){0};
    TdlStatus status = tdl_scene_build(scene, 0, &out->world);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (tdl_scene_info(scene).settle) {
        status = tdl_world_settle(out->world, NULL);
    }
    if (status != TDL_STATUS_OK) {
        fprintf(stderr, "no equilibrium to start from was found\n");
        return status;
    }
    return tdl_world_overlaps(out->world, TELL_MOST, out->worst, &out->count);
}

static void print_json_overlaps(const Overlaps* overlaps) {
    printf(", \"overlap_count\": %d, \"overlaps\": [", overlaps->count);
    for (int i = 0; i < overlaps->count && i < TELL_MOST; ++i) {
        const TdlOverlap* x = &overlaps->worst[i];
        char a[TDL_BODY_NAME_SIZE], b[TDL_BODY_NAME_SIZE];
        tdl_body_name(overlaps->world, x->body[0], a);
        tdl_body_name(overlaps->world, x->body[1], b);
        printf("%s{\"between\": [", i == 0 ? "" : ", ");
        json_text(a);
        printf(", ");
        json_text(b);
        printf("], \"elements\": [%d, %d], \"depth\": %.17g, "
               "\"point\": [%.17g, %.17g, %.17g], \"through\": %s}",
               x->element[0], x->element[1], x->depth, x->point.x, x->point.y, x->point.z,
               x->through ? "true" : "false");
    }
    printf("]");
}

// --- values that can hardly be meant -------------------------------------------------------------

enum { DOUBTS_MOST = 100 };

typedef struct SceneDoubts {
    TdlSceneDoubt* list; // [shown]
    int count, shown;
} SceneDoubts;

static SceneDoubts find_doubts(const TdlScene* scene, const TdlWorld* world) {
    SceneDoubts doubts = {.list = calloc(DOUBTS_MOST, sizeof *doubts.list)};
    doubts.count =
        tdl_scene_doubts(scene, world, doubts.list == NULL ? 0 : DOUBTS_MOST, doubts.list);
    doubts.shown = doubts.list == NULL          ? 0
                   : doubts.count < DOUBTS_MOST ? doubts.count
                                                : DOUBTS_MOST;
    return doubts;
}

static void tell_doubts(const SceneDoubts* doubts) {
    for (int i = 0; i < doubts->shown; ++i) {
        const TdlSceneDoubt* doubt = &doubts->list[i];
        fprintf(stderr, "%s:%d:%d: warning: %s\n", doubt->file, doubt->line, doubt->column,
                doubt->text);
    }
    if (doubts->count > doubts->shown) {
        fprintf(stderr, "warning: %d values in all can hardly be meant\n", doubts->count);
    }
}

static void print_json_doubts(const SceneDoubts* doubts) {
    printf(", \"doubt_count\": %d, \"doubts\": [", doubts->count);
    for (int i = 0; i < doubts->shown; ++i) {
        const TdlSceneDoubt* doubt = &doubts->list[i];
        printf("%s{\"file\": ", i == 0 ? "" : ", ");
        json_text(doubt->file);
        printf(", \"line\": %d, \"column\": %d, \"value\": %.17g, \"text\": ", doubt->line,
               doubt->column, doubt->value);
        json_text(doubt->text);
        printf("}");
    }
    printf("]");
}

// How many peaks an implicit collider has, and the radius of the sharpest, m; nothing of others.
static void print_peaks(const Overlaps* overlaps, int index, const char* shape, bool json) {
    int count = 0;
    double sharpest = INFINITY;
    if (overlaps->world == NULL || strcmp(shape, "implicit") != 0) {
        return;
    }
    TdlBodyId id = tdl_world_body(overlaps->world, "collider", index);
    tdl_collider_peaks(overlaps->world, id, 0, NULL, &count);
    TdlPeak* peaks = calloc((size_t)count + 1, sizeof *peaks);
    if (peaks != NULL) {
        tdl_collider_peaks(overlaps->world, id, count, peaks, &count);
        for (int i = 0; i < count; ++i) {
            sharpest = fmin(sharpest, peaks[i].radius);
        }
    }
    free(peaks);
    printf(json ? ", \"peaks\": %d" : ", %d peaks along its z", count);
    if (isfinite(sharpest)) {
        printf(json ? ", \"sharpest\": %.17g" : ", the sharpest of radius %.3g m", sharpest);
    }
}

static void print_json(const TdlScene* scene, const Overlaps* overlaps, const SceneDoubts* doubts) {
    TdlSceneInfo info = tdl_scene_info(scene);
    printf("{\"title\": ");
    json_text(info.title);
    printf(", \"step\": %.17g, \"end\": %.17g, \"steps\": %.0f, \"frame_period\": %.17g, "
           "\"settled\": %s, \"rod_count\": %d, \"elements\": %d, \"dofs\": %d, \"body_count\": %d",
           info.step, info.end, step_count(&info), info.frame_period,
           info.settle ? "true" : "false", info.rod_count, info.element_count, info.dof_count,
           info.rigid_count);
    print_json_rods(scene, info.rod_group_count);
    print_json_bodies(scene, info.body_group_count);
    print_json_cloths(scene, info.cloth_count);
    print_json_shells(scene, info.shell_count);
    if (info.has_grains) {
        print_json_grains(scene, overlaps->world);
    }
    print_json_contacts(scene);
    print_json_overlaps(overlaps);
    print_json_doubts(doubts);
    printf(", \"colliders\": [");
    for (int i = 0; i < info.collider_count; ++i) {
        TdlSceneCollider collider = tdl_scene_collider(scene, i);
        printf("%s{\"name\": \"%s\", \"shape\": \"%s\", \"moves\": %s, \"material\": ",
               i == 0 ? "" : ", ", collider.name, collider.shape,
               collider.moves ? "true" : "false");
        print_json_name(collider.material);
        print_peaks(overlaps, i, collider.shape, true);
        printf("}");
    }
    printf("], \"observe\": [");
    for (int i = 0; i < info.observer_count; ++i) {
        TdlSceneObserver observer = tdl_scene_observer(scene, i);
        printf("%s{\"name\": \"%s\", \"quantity\": \"%s\", \"unit\": \"%s\"}", i == 0 ? "" : ", ",
               observer.name, observer.quantity, observer.unit);
    }
    printf("]}\n");
}

static void print_overlaps(const Overlaps* overlaps) {
    if (overlaps->count > 0) {
        printf("  overlap    %d %s at the start%s\n", overlaps->count,
               overlaps->count == 1 ? "pair" : "pairs",
               overlaps->count > TELL_MOST ? ", the deepest:" : "");
    }
    for (int i = 0; i < overlaps->count && i < TELL_MOST; ++i) {
        char text[TDL_OVERLAP_TEXT_SIZE];
        tdl_overlap_text(overlaps->world, &overlaps->worst[i], text);
        printf("    %s\n", text);
    }
}

static void print_contacts(const TdlScene* scene) {
    TdlSceneContacts contacts = tdl_scene_contacts(scene);
    printf("  contacts   %s", contacts.detection);
    if (strcmp(contacts.detection, "off") != 0) {
        printf(", friction %g, restitution %g", contacts.friction, contacts.restitution);
    }
    if (contacts.pair_count > 0) {
        printf(" but for %d pairs of materials", contacts.pair_count);
    }
    if (strcmp(contacts.response, "s3") == 0) {
        printf("; S3's friction, which always slides and never holds");
    }
    printf("\n");
}

static void print_cloths(const TdlScene* scene, const TdlSceneInfo* info) {
    if (info->cloth_count > 0) {
        printf("  cloths     %d with %d vertices\n", info->cloth_count, info->cloth_vertex_count);
    }
    for (int i = 0; i < info->cloth_count; ++i) {
        TdlSceneCloth cloth = tdl_scene_cloth(scene, i);
        printf("    %-16s %d vertices, %d held, %d faces, %s%s%.4g m^2, %.4g kg\n", cloth.name,
               cloth.vertex_count, cloth.held_count, cloth.face_count,
               cloth.material == NULL ? "" : cloth.material, cloth.material == NULL ? "" : ", ",
               cloth.area, cloth.mass);
        if (strcmp(cloth.isometry, "s3") == 0) {
            printf("%21sS3's isometry: means of the metric and the rim are kept, edges within and "
                   "the area are not\n",
                   "");
        }
    }
}

static void print_shells(const TdlScene* scene, const TdlSceneInfo* info) {
    if (info->shell_count > 0) {
        printf("  shells     %d with %d vertices, which touch nothing\n", info->shell_count,
               info->shell_vertex_count);
    }
    for (int i = 0; i < info->shell_count; ++i) {
        TdlSceneShell shell = tdl_scene_shell(scene, i);
        printf("    %-16s %d vertices, %s, %.4g m^2, %.4g kg\n", shell.name, shell.vertex_count,
               shell.material, shell.area, shell.mass);
    }
}

static void print_grains(const TdlScene* scene, const TdlWorld* world) {
    TdlSceneGrains grains = tdl_scene_grains(scene);
    TdlGrainsInfo info = look_at_grains(world);
    const int* n = grains.cells;
    printf("  grains     %d particles in a grid of %d x ", info.particle_count, n[0]);
    if (grains.dimension == 3) {
        printf("%d x ", n[1]);
    }
    printf("%d cells of %g m\n", n[2], grains.spacing);
    printf("    %-16s in %d dimensions, %s%s%g kg/m^3, %.4g kg, friction %g (%.3g degrees)\n",
           grains.name, grains.dimension, grains.material == NULL ? "" : grains.material,
           grains.material == NULL ? "" : ", ", grains.density, info.mass, grains.friction,
           degrees(grains.friction));
}

static void print_plain(const TdlScene* scene, const Overlaps* overlaps) {
    TdlSceneInfo info = tdl_scene_info(scene);
    printf("%s\n", info.title);
    printf("  time       %g s in %.0f steps of %g s, from %s\n", info.end, step_count(&info),
           info.step, info.settle ? "static equilibrium" : "the shape as placed");
    if (info.error > 0.0) {
        printf("  steps      in halves where the estimated error is above %g of a body's length a "
               "second\n",
               info.error);
    }
    printf("  result     a frame every %g s, %d points per element\n", info.frame_period,
           info.samples);
    printf("  rods       %d with %d elements, %d degrees of freedom\n", info.rod_count,
           info.element_count, info.dof_count);
    for (int i = 0; i < info.rod_group_count; ++i) {
        TdlSceneRods rods = tdl_scene_rods(scene, i);
        printf("    %-16s %d x %s of %d elements, %s, length %g m, radius %g", rods.name,
               rods.count, rods.model, rods.element_count, rods.material, rods.length,
               rods.radius[0]);
        if (rods.radius[1] != rods.radius[0]) {
            printf(" x %g", rods.radius[1]);
        }
        printf(" m\n");
    }
    printf("  bodies     %d\n", info.rigid_count);
    for (int i = 0; i < info.body_group_count; ++i) {
        TdlSceneBodies bodies = tdl_scene_bodies(scene, i);
        bool heavy = bodies.mass > 0.0; // by its own mass
        printf("    %-16s %d x %s, %s%s%g kg%s\n", bodies.name, bodies.count, bodies.shape,
               bodies.material == NULL ? "" : bodies.material, bodies.material == NULL ? "" : ", ",
               heavy ? bodies.mass : bodies.density, heavy ? " each" : "/m^3");
    }
    print_cloths(scene, &info);
    print_shells(scene, &info);
    if (info.has_grains) {
        print_grains(scene, overlaps->world);
    }
    printf("  colliders  %d\n", info.collider_count);
    for (int i = 0; i < info.collider_count; ++i) {
        TdlSceneCollider collider = tdl_scene_collider(scene, i);
        printf("    %-16s %s%s%s%s", collider.name, collider.shape,
               collider.material == NULL ? "" : ", ",
               collider.material == NULL ? "" : collider.material,
               collider.moves ? ", moving" : "");
        print_peaks(overlaps, i, collider.shape, false);
        printf("\n");
    }
    print_contacts(scene);
    for (int i = 0; i < info.observer_count; ++i) {
        TdlSceneObserver observer = tdl_scene_observer(scene, i);
        printf("%s%-16s %s, %s\n", i == 0 ? "  observed   in log.csv\n    " : "    ", observer.name,
               observer.quantity, observer.unit);
    }
}

enum { SET_MAX = 4096 };

static int run_check(const Args* args) {
    static const char* overrides[SET_MAX];
    int count = args_count(args, "set");
    for (int i = 0; i < count && i < SET_MAX; ++i) {
        overrides[i] = args_text_at(args, "set", i);
    }
    TdlScene* scene;
    TdlStatus status =
        tdl_scene_load(args_host(args), args_operand(args, 0), overrides, count, &scene);
    if (status != TDL_STATUS_OK) {
        return exit_code(status);
    }
    Overlaps overlaps;
    status = find_overlaps(scene, &overlaps);
    SceneDoubts doubts = find_doubts(scene, overlaps.world);
    tell_doubts(&doubts);
    if (args_has(args, "json")) {
        print_json(scene, &overlaps, &doubts);
    } else {
        print_plain(scene, &overlaps);
        print_overlaps(&overlaps);
    }
    bool refused = overlaps.count > 0 && tdl_scene_contacts(scene).refuse_overlap;
    status = status == TDL_STATUS_OK ? tdl_world_check_start(overlaps.world) : status;
    free(doubts.list);
    tdl_world_destroy(overlaps.world);
    tdl_scene_destroy(scene);
    if (status != TDL_STATUS_OK) {
        return exit_code(status);
    }
    return refused ? exit_code(TDL_STATUS_BAD_INPUT) : EXIT_DONE;
}

static const Option CHECK_OPTIONS[] = {
    {"set", 's', OPTION_TEXT, "PATH=VALUE", 0, 0,
     "override one value of the scene, such as time.step=1e-4 or rods.curl.elements=20", true},
    {0},
};

const Command CHECK_COMMAND = {
    .name = "check",
    .operands = "SCENE",
    .summary = "Validate a scene and print what it holds",
    .text =
        "A mistake is told with file, line and column, and things that overlap at the start by "
        "name, place and depth (exit status 3 where the scene or the barrier refuses that). What "
        "is "
        "allowed and can hardly be meant (young 5 in place of 5e9, millimetres, degrees, keyframes "
        "after the end) is a warning with its place and the reason; nothing is created.",
    .example = "tendril check scenes/hanging-curl.yaml\n"
               "tendril check scenes/wisp.yaml --set time.step=5e-4 --json",
    .options = CHECK_OPTIONS,
    .run = run_check,
};
