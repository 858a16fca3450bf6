// Rods that a file of strands tells of: they are in the world as they are in the file, go on with
// the same bits after a resume, and what is wrong beside them is told at its place.
#include "command.h"
#include "look.h"
#include "ref/strands_sample.h"
#include "run_folder.h"
#include "tendril/scene.h"

static const char SCENE[] =
    "contacts: {detection: off}\n"
    "time: {step: 1e-3, end: 0.1}\n"
    "output: {frame: 0.01, checkpoint: 0.02}\n"
    "materials: [{name: hair, young: 1e9, poisson: 0.48, density: 1000, damping: 0.01}]\n"
    "rods:\n"
    "  - name: hairs\n"
    "    material: hair\n"
    "    radius: 1e-4\n"
    "    curves: {file: s.h5%s}\n"
    "%s";

static void write_scene(const Scratch* s, const char* in_curves, const char* after) {
    char text[4096];
    size_t size = (size_t)snprintf(text, sizeof text, SCENE, in_curves, after);
    scratch_write(scratch_path(s, "scene.yaml"), text, size);
}

static void write_sample(const Scratch* s, StrandsSample* sample, const char* model) {
    TdlHost host = tdl_host_default();
    strands_sample(sample, model);
    CHECK_INT(tdl_strands_write(&host, scratch_path(s, "s.h5"), &sample->strands), TDL_STATUS_OK);
}

static TdlScene* load(const Scratch* s, const TdlHost* host, TdlWorld** world) {
    TdlScene* scene = NULL;
    CHECK_INT(tdl_scene_load(host, scratch_path(s, "scene.yaml"), NULL, 0, &scene), TDL_STATUS_OK);
    CHECK(scene != NULL && tdl_scene_build(scene, 1, world) == TDL_STATUS_OK);
    return scene;
}

// Whether rod `index` of the world is strand k of the sample, to the last bit.
static void check_rod(const TdlWorld* world, int index, const StrandsSample* s, int k) {
    TdlBodyId id = look_body(world, "rod", index);
    TdlRodInfo info = look_rod_info(world, id);
    CHECK_TEXT(info.model, s->strands.model);
    CHECK_INT(info.element_count, s->element_count[k]);
    CHECK(info.length == s->length[k] / info.element_count * info.element_count);
    CHECK(info.stiffening == s->stiffening[k]);
    TdlPose start;
    CHECK_INT(tdl_rod_start(world, id, &start), TDL_STATUS_OK);
    // places of edges are kept in lengths of them
    bool edges = strcmp(info.model, "der") == 0;
    CHECK(edges || memcmp(&start, &s->start[k], sizeof start) == 0);
    CHECK_NEAR3(start.position, s->start[k].position, 1.0e-15);
    CHECK(memcmp(&start.rotation, &s->start[k].rotation, sizeof start.rotation) == 0);
    int first = 0;
    for (int i = 0; i < k; ++i) {
        first += s->element_count[i] + info.curvature_count - info.element_count;
    }
    TdlVec3 natural[SAMPLE_MOST];
    CHECK_INT(tdl_rod_natural_curvature(world, id, natural), TDL_STATUS_OK);
    size_t count = (size_t)info.curvature_count;
    CHECK(memcmp(natural, s->natural + first, count * sizeof *natural) == 0);
    const double *q = look_rod_coordinates(world, id), l = s->length[k] / info.element_count;
    for (size_t i = 0; i < count && !edges; ++i) {
        TdlVec3 at = tdl_scale3(l, s->curvature[first + (int)i]);
        CHECK(memcmp(q + 3 * i, &at, sizeof at) == 0);
    }
}

TEST(the_world_has_what_the_file_has) {
    static const char* const MODELS[] = {"super-helix", "super-clothoid", "der"};
    Scratch s = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    for (int m = 0; m < 3; ++m) {
        StrandsSample sample;
        TdlWorld* world = NULL;
        write_sample(&s, &sample, MODELS[m]);
        write_scene(&s, "", "");
        TdlScene* scene = load(&s, &host, &world);
        REQUIRE(world != NULL);
        int dofs = 0, elements = 0;
        for (int i = 0; i < SAMPLE_STRANDS; ++i) {
            check_rod(world, i, &sample, i);
            TdlRodInfo info = look_rod_info(world, look_body(world, "rod", i));
            dofs += info.dof_count;
            elements += info.element_count;
        }
        TdlSceneInfo info = tdl_scene_info(scene);
        CHECK_INT(info.rod_count, SAMPLE_STRANDS);
        CHECK_INT(info.dof_count, dofs);
        CHECK_INT(info.element_count, elements);
        TdlSceneRods rods = tdl_scene_rods(scene, 0);
        CHECK_INT(rods.element_count, 1); // the least
        CHECK_TEXT(rods.model, MODELS[m]);
        tdl_world_destroy(world);
        tdl_scene_destroy(scene);
        // every second, and of these two; the model named beside
        char model[64];
        snprintf(model, sizeof model, "    model: %s\n", MODELS[m]);
        write_scene(&s, ", every: 2, limit: 2", model);
        scene = load(&s, &host, &world);
        CHECK_INT(look_count(world, "rod"), 2);
        check_rod(world, 0, &sample, 0);
        check_rod(world, 1, &sample, 2);
        tdl_world_destroy(world);
        tdl_scene_destroy(scene);
    }
    CHECK_INT(heard.count, 0);
    scratch_remove(&s);
}

static bool stop_in_the_middle(void* user, const TdlStepInfo* info, long step_total) {
    (void)user, (void)step_total;
    return info->step != 47;
}

TEST(a_resumed_run_goes_on_with_the_same_bits) {
    static const char* const MODELS[] = {"super-helix", "super-clothoid", "der"};
    for (int m = 0; m < 3; ++m) {
        Scratch s = scratch_make();
        Heard heard;
        TdlHost host = scratch_host(&heard);
        StrandsSample sample;
        TdlScene* scene;
        write_sample(&s, &sample, MODELS[m]);
        write_scene(&s, "", "");
        REQUIRE(tdl_scene_load(&host, scratch_path(&s, "scene.yaml"), NULL, 0, &scene) ==
                TDL_STATUS_OK);
        char whole[600], stopped[600];
        snprintf(whole, sizeof whole, "%s/whole", s.path);
        snprintf(stopped, sizeof stopped, "%s/stopped", s.path);
        TdlRunInfo info;
        TdlRunDef def = {.directory = whole, .thread_count = 1};
        CHECK_INT(tdl_run(&host, scene, &def, &info), TDL_STATUS_OK);
        def = (TdlRunDef){.directory = stopped, .thread_count = 1, .progress = stop_in_the_middle};
        CHECK_INT(tdl_run(&host, scene, &def, &info), TDL_STATUS_STOPPED);
        CHECK_INT(info.steps, 47);
        tdl_scene_destroy(scene);
        def.progress = NULL;
        // the file is another: its numbers are no part of the state, so it would be another run
        size_t size;
        char* bytes = scratch_read(scratch_path(&s, "s.h5"), &size);
        sample.natural[3].y += 1.0e-9;
        CHECK_INT(tdl_strands_write(&host, scratch_path(&s, "s.h5"), &sample.strands),
                  TDL_STATUS_OK);
        CHECK_INT(tdl_run_resume(&host, &def, &info), TDL_STATUS_BAD_INPUT);
        CHECK(strstr(heard.last, "the file of the strands is not the one") != NULL);
        CHECK_INT(heard.count, 1);
        scratch_write(scratch_path(&s, "s.h5"), bytes, size);
        free(bytes);
        CHECK_INT(tdl_run_resume(&host, &def, &info), TDL_STATUS_OK);
        CHECK(info.finished);
        CHECK_SAME_RUNS(stopped, whole);
        scratch_remove(&s);
    }
}

TEST(what_is_wrong_is_told_at_its_place) {
    Scratch s = scratch_make();
    StrandsSample sample;
    write_sample(&s, &sample, "super-clothoid");
    static const struct {
        const char *curves, *after, *message;
    } cases[] = {
        {"", "    elements: 7\n",
         "scene.yaml:10:5: rods from a file of strands have no elements: the file tells"},
        {"", "    natural_curvature: [0, 0, 1]\n",
         "scene.yaml:10:5: rods from a file of strands have no natural_curvature"},
        {"", "    curvature: [0, 0, 1]\n", "scene.yaml:10:5: rods along curves have no curvature"},
        {"", "    length: 1\n", "scene.yaml:10:5: rods along curves have no length"},
        {"", "    clamp: {position: [0, 0, 1]}\n",
         "scene.yaml:10:13: rods along curves have no position"},
        {"", "    model: super-helix\n",
         "scene.yaml:10:12: the file has strands of the model super-clothoid"},
        {", scale: 1", "", "scene.yaml:9:26: rods from a file of strands have no scale"},
        {", up: y", "", "scene.yaml:9:26: rods from a file of strands have no up"},
        {", evry: 2", "",
         "scene.yaml:9:26: unknown key 'evry' in the curves; did you mean 'every'?"},
        {"x", "", "scene.yaml:9:20: curves come from .hair, .obj, .csv or .h5 (strands) files"},
        {", hash: 0000000000000000", "", "scene.yaml:9:32: the file of the strands is not the one"},
        {"", "    loads: [{at: 0.5, force: [0, 0, 1]}]\n", "beyond the end of the rod"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        write_scene(&s, cases[i].curves, cases[i].after);
        CHECK_INT(COMMAND(&s, "run", "scene.yaml", "-o", "run", "-q"), 3);
        CHECK(command_wrote(&s, "stderr", cases[i].message));
        CHECK(access(scratch_path(&s, "run"), F_OK) != 0);
    }
    // files that are none
    write_scene(&s, "", "");
    CHECK_INT(COMMAND(&s, "check", "scene.yaml"), 0);
    size_t size;
    char* bytes = scratch_read(scratch_path(&s, "s.h5"), &size);
    scratch_write(scratch_path(&s, "s.h5"), bytes, size / 2);
    CHECK_INT(COMMAND(&s, "run", "scene.yaml", "-o", "run", "-q"), 3);
    CHECK(command_wrote(&s, "stderr", "s.h5: "));
    sample.strands.count = 0;
    TdlHost host = tdl_host_default();
    CHECK_INT(tdl_strands_write(&host, scratch_path(&s, "s.h5"), &sample.strands), TDL_STATUS_OK);
    CHECK_INT(COMMAND(&s, "run", "scene.yaml", "-o", "run", "-q"), 3);
    CHECK(command_wrote(&s, "stderr", "scene.yaml:9:20: the file has no strands"));
    unlink(scratch_path(&s, "s.h5"));
    CHECK_INT(COMMAND(&s, "run", "scene.yaml", "-o", "run", "-q"), 3);
    CHECK(command_wrote(&s, "stderr", "scene.yaml:9:20: "));
    CHECK(access(scratch_path(&s, "run"), F_OK) != 0);
    free(bytes);
    scratch_remove(&s);
}

// The largest difference of coordinates of a world and of a frame, over the size of the coordinate;
// starts are the same to the last bit.
static double compare(const TdlWorld* world, TdlResult* result, long frame) {
    TdlResultInfo info = tdl_result_info(result);
    double* q = malloc((size_t)info.dof_count * sizeof *q);
    TdlPose starts[SAMPLE_STRANDS];
    CHECK_INT(tdl_result_read_coordinates(result, frame, q), TDL_STATUS_OK);
    CHECK_INT(tdl_result_read_starts(result, frame, starts), TDL_STATUS_OK);
    double worst = 0.0;
    for (int i = 0; i < info.rod_count; ++i) {
        TdlBodyId id = look_body(world, "rod", i);
        const double* own = look_rod_coordinates(world, id);
        TdlPose start;
        CHECK_INT(tdl_rod_start(world, id, &start), TDL_STATUS_OK);
        CHECK(memcmp(&start, &starts[i], sizeof start) == 0);
        const int* first = tdl_result_dof_start(result) + i;
        CHECK_INT(look_rod_info(world, id).dof_count, first[1] - first[0]);
        for (int k = first[0]; k < first[1]; ++k) {
            worst = fmax(worst, fabs(q[k] - own[k - first[0]]) / fabs(q[k]));
        }
    }
    free(q);
    return worst;
}

// A run, its last frame and its first as strands, and a scene that goes on from there.
TEST(a_shape_is_taken_back_out_of_a_result) {
    static const char* const MODELS[] = {"super-helix", "super-clothoid"};
    Heard heard;
    TdlHost host = scratch_host(&heard);
    for (int m = 0; m < 2; ++m) {
        Scratch s = scratch_make();
        StrandsSample sample;
        write_sample(&s, &sample, MODELS[m]);
        // starts that move
        write_scene(
            &s, "",
            "    clamp: {motion: {keyframes: [{time: 0}, {time: 0.1, position: [0, 0, 0.1], "
            "rotation: [0.3, 0, 1]}]}}\n");
        REQUIRE(COMMAND(&s, "run", "scene.yaml", "-o", "run", "-q") == 0);
        TdlResult* result;
        REQUIRE(tdl_result_open(&host, scratch_path(&s, "run"), &result) == TDL_STATUS_OK);
        write_scene(&s, "", "");
        for (int frame = 0; frame <= 10; frame += 10) {
            CHECK_INT(COMMAND(&s, "export", "run", "-f", "strands", "--frames",
                              frame == 0 ? "0" : "-1", "-o", "s.h5", "-q"),
                      0);
            TdlWorld* world = NULL;
            TdlScene* scene = load(&s, &host, &world);
            REQUIRE(world != NULL);
            // after steps a coordinate need not be a product with a length: then one rounding
            CHECK_BELOW(compare(world, result, frame), frame == 0 ? 1.0e-300 : 2.3e-16);
            tdl_world_destroy(world);
            tdl_scene_destroy(scene);
        }
        tdl_result_close(result);
        // several, each in a file of its own
        CHECK_INT(COMMAND(&s, "export", "run", "-f", "strands", "--frames", "0:1", "-q"), 0);
        CHECK(access(scratch_path(&s, "run.strands-0001.h5"), F_OK) == 0);
        scratch_remove(&s);
    }
    Scratch s = scratch_make();
    StrandsSample sample;
    write_sample(&s, &sample, "der");
    write_scene(&s, "", "");
    REQUIRE(COMMAND(&s, "run", "scene.yaml", "-o", "run", "-q") == 0);
    CHECK_INT(COMMAND(&s, "export", "run", "-f", "strands", "-q"), 3);
    CHECK(command_wrote(&s, "stderr", "rod 0 is of the model der; strands are of one model"));
    CHECK(access(scratch_path(&s, "run.strands.h5"), F_OK) != 0);
    scratch_remove(&s);
    CHECK_INT(heard.count, 0);
}

TEST(a_clothoid_has_curvatures_at_its_joints) {
    static const char TEXT[] =
        "time: {step: 1e-3, end: 0.1}\n"
        "materials: [{name: hair, young: 1e9, density: 1000}]\n"
        "rods:\n"
        "  - {name: a, material: hair, radius: 1e-4, length: 0.2, elements: 2, model: %s,\n"
        "     natural_curvature: [[1, 2, 3], [4, 5, 6], [7, 8, 9]]%s}\n";
    Scratch s = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    char text[1024];
    size_t size = (size_t)snprintf(text, sizeof text, TEXT, "super-clothoid",
                                   ", curvature: [[1, 0, 0], [0, 3, 0]]");
    scratch_write(scratch_path(&s, "scene.yaml"), text, size);
    TdlWorld* world = NULL;
    TdlScene* scene = load(&s, &host, &world);
    REQUIRE(world != NULL);
    TdlBodyId id = look_body(world, "rod", 0);
    TdlVec3 kappa[3];
    CHECK_INT(tdl_rod_natural_curvature(world, id, kappa), TDL_STATUS_OK);
    CHECK(kappa[0].x == 1.0 && kappa[1].y == 5.0 && kappa[2].z == 9.0);
    CHECK_INT(tdl_rod_curvature(world, id, kappa), TDL_STATUS_OK); // means of elements
    const TdlVec3 means[3] = {{1.0, 0.0, 0.0}, {0.5, 1.5, 0.0}, {0.0, 3.0, 0.0}};
    for (int i = 0; i < 3; ++i) { // to a rounding: several give the same coordinate
        CHECK_NEAR3(kappa[i], means[i], 4.5e-16);
    }
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
    // where none is told of the present shape, it is the natural one
    size = (size_t)snprintf(text, sizeof text, TEXT, "super-clothoid", "");
    scratch_write(scratch_path(&s, "scene.yaml"), text, size);
    scene = load(&s, &host, &world);
    CHECK_INT(tdl_rod_curvature(world, look_body(world, "rod", 0), kappa), TDL_STATUS_OK);
    CHECK_NEAR3(kappa[1], ((TdlVec3){4.0, 5.0, 6.0}), 8.9e-16); // a rounding
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
    // other models have none
    size = (size_t)snprintf(text, sizeof text, TEXT, "super-helix", "");
    scratch_write(scratch_path(&s, "scene.yaml"), text, size);
    CHECK_INT(tdl_scene_load(&host, scratch_path(&s, "scene.yaml"), NULL, 0, &scene),
              TDL_STATUS_BAD_INPUT);
    CHECK(strstr(heard.last, "scene.yaml:5:25: natural_curvature has 3 vectors for 2 elements; "
                             "give one each, or one for all") != NULL);
    size = (size_t)snprintf(text, sizeof text, TEXT, "super-clothoid", ", curvature: [[1, 0, 0]]");
    scratch_write(scratch_path(&s, "scene.yaml"), text, size);
    CHECK_INT(tdl_scene_load(&host, scratch_path(&s, "scene.yaml"), NULL, 0, &scene),
              TDL_STATUS_BAD_INPUT);
    CHECK(strstr(heard.last, "curvature has 1 vectors for 2 elements; give one each, one for each "
                             "of their joints and ends, or one for all") != NULL);
    scratch_remove(&s);
}
