// The bed of grains in a scene: what its keys come to, what is wrong with them and where, what can
// hardly be meant, and what a check tells.
#include "scene/scene.h"

#include "capture.h"
#include "command.h"
#include "ref/scene_text.h"
#include "test.h"

#define SAND "materials: [{name: sand, density: 1700}]\n"
#define BED "grains:\n  grid: {low: [-1, 0, 0], high: [1, 1, 1], spacing: 0.1}\n"
#define FILL "  fill: [{low: [-0.5, 0, 0], high: [0.5, 1, 0.5]}]\n"

static void check_fails(const char* text, const char* message) {
    Capture capture;
    TdlHost host = capture_host(&capture);
    TdlScene* scene;
    CHECK_INT(scene_load_text(&host, "s", text, strlen(text), NULL, 0, &scene),
              TDL_STATUS_BAD_INPUT);
    CHECK(scene == NULL);
    CHECK_INT(capture.errors, 1);
    CHECK_TEXT(capture.first, message);
}

static TdlScene* load(const char* text) {
    TdlHost host = tdl_host_default();
    TdlScene* scene = NULL;
    CHECK(scene_load_text(&host, "s", text, strlen(text), NULL, 0, &scene) == TDL_STATUS_OK);
    return scene;
}

// --- what the keys come to -----------------------------------------------------------------------

TEST(the_least_bed_has_the_defaults_of_its_definition) {
    TdlScene* scene = load(TIME BED FILL);
    REQUIRE(scene != NULL);
    TdlGrainsDef def, usual = tdl_grains_def_default();
    CHECK(tdl_scene_info(scene).has_grains);
    REQUIRE(scene_make_grains(scene, &scene->arena, &def) == TDL_STATUS_OK);
    CHECK(def.dimension == 3 && def.per_cell == 2 && def.spacing == 0.1 && def.fill_count == 1);
    CHECK(def.density == usual.density && def.packing == usual.packing && def.mu == usual.mu);
    CHECK(def.mu_fast == 0.0 && def.inertial == usual.inertial && def.grain == usual.grain);
    CHECK(def.viscosity == 0.0 && def.cohesion == 0.0 && def.stress == TDL_GRAINS_NODES);
    CHECK(def.jitter == 0.0 && !def.fixed && def.material == 0 && def.depth == 1.0);
    CHECK(def.fills[0].fraction == def.packing && def.fills[0].shape == TDL_FILL_BOX);
    TdlSceneGrains grains = tdl_scene_grains(scene);
    CHECK_TEXT(grains.name, "grains");
    CHECK(grains.material == NULL);
    CHECK(grains.cells[0] == 20 && grains.cells[1] == 10 && grains.cells[2] == 10);
    tdl_scene_destroy(scene);
}

TEST(every_key_reaches_the_definition) {
    TdlScene* scene =
        load(TIME SAND "grains:\n"
                       "  name: bed\n"
                       "  material: sand\n"
                       "  dimension: 2\n"
                       "  depth: 0.2\n"
                       "  grid: {low: [0, 3, 0], high: [1.15, 0, 1], spacing: 0.1, periodic: [x]}\n"
                       "  friction: 0.4\n"
                       "  fast: {friction: 0.7, inertial: 0.2, grain: 2e-3}\n"
                       "  packing: 0.58\n"
                       "  viscosity: 3\n"
                       "  cohesion: 20\n"
                       "  jitter: 0.25\n"
                       "  seed: 7\n"
                       "  stress: cells\n"
                       "  fixed: true\n"
                       "  fill:\n"
                       "    - {shape: cylinder, centre: [0.5, 0, 0.1], radius: 0.2, height: 0.3}\n"
                       "    - {shape: ball, centre: [0.5, 0, 0.8], radius: 0.1, fraction: 0.5,\n"
                       "       velocity: [0, 0, -2]}\n");
    REQUIRE(scene != NULL);
    TdlGrainsDef def;
    REQUIRE(scene_make_grains(scene, &scene->arena, &def) == TDL_STATUS_OK);
    CHECK(def.dimension == 2 && def.depth == 0.2 && def.per_cell == 4);
    CHECK(def.density == 1700.0); // the material's
    CHECK_INT(def.material, 1);
    CHECK_NEAR(def.high.x, 1.2, 1e-15); // to the end of its cell, in a sum
    CHECK(def.periodic[0] && !def.periodic[1]);
    CHECK(def.low.y == 3.0 && def.high.z == 1.0);
    CHECK(def.mu == 0.4 && def.mu_fast == 0.7 && def.inertial == 0.2 && def.grain == 2e-3);
    CHECK(def.packing == 0.58 && def.viscosity == 3.0 && def.cohesion == 20.0);
    CHECK(def.jitter == 0.25 && def.seed == 7 && def.stress == TDL_GRAINS_CELLS && def.fixed);
    REQUIRE(def.fill_count == 2);
    const TdlGrainsFill *post = &def.fills[0], *ball = &def.fills[1];
    CHECK(post->shape == TDL_FILL_CYLINDER && post->radius == 0.2 && post->fraction == 0.58);
    CHECK(post->low.z == 0.1 && post->high.z == 0.4 && post->centre.x == 0.5);
    CHECK(ball->shape == TDL_FILL_BALL && ball->radius == 0.1 && ball->fraction == 0.5);
    CHECK(ball->velocity.z == -2.0);
    tdl_scene_destroy(scene);
}

// --- mistakes ------------------------------------------------------------------------------------

TEST(each_mistake_is_told_at_its_place) {
    check_fails(TIME "grains: {}\n", "s:2:9: the bed needs the key 'grid'");
    check_fails(TIME BED, "s:3:3: the bed needs the key 'fill'");
    check_fails(TIME BED FILL "  frction: 0.5\n",
                "s:5:3: unknown key 'frction' in the bed; did you mean 'friction'?");
    check_fails(TIME BED FILL "  dimension: 4\n", "s:5:14: dimension must be in [2, 3], not 4");
    check_fails(TIME BED FILL "  material: sand\n", "s:5:13: no material is named 'sand'");
    check_fails(TIME SAND BED FILL "  material: snad\n",
                "s:6:13: no material is named 'snad'; did you mean 'sand'?");
    check_fails(TIME BED FILL "  depth: 2\n", "s:5:3: 'depth' goes with 'dimension: 2'");
    check_fails(TIME BED FILL "  friction: -0.1\n",
                "s:5:13: friction must be in [0, 100], not -0.1");
    check_fails(TIME BED FILL "  fast: {friction: 0.2}\n",
                "s:5:20: friction in fast flow must be at least that of the bed, 0.5");
    check_fails(TIME BED FILL "  fast: {inertial: 0.2}\n",
                "s:5:9: the fast flow needs the key 'friction'");
    check_fails(TIME BED FILL "  packing: 1.5\n", "s:5:12: packing must be in [1e-6, 1], not 1.5");
    check_fails(TIME BED FILL "  stress: node\n",
                "s:5:11: stress must be one of nodes|cells, not 'node'; did you mean 'nodes'?");
    check_fails(TIME BED FILL "  per_cell: 9\n", "s:5:13: per_cell must be in [1, 8], not 9");
    check_fails(TIME BED FILL "contacts: {response: barrier}\n",
                "s:5:22: grains go with 'response: exact'");
    check_fails(TIME BED FILL BED FILL, "s:5:1: 'grains' is given twice; the first is in line 2");
}

TEST(mistakes_of_grids_and_fills_are_told_at_their_places) {
    check_fails(TIME "grains:\n  grid: {low: [0, 0, 0], high: [1, 0, 1], spacing: 0.1}\n" FILL,
                "s:3:32: the grid must have a size: every number of `high` above that of `low`");
    check_fails(TIME
                "grains:\n  dimension: 2\n  grid: {low: [0, 0, 2], high: [1, 0, 1], spacing: 0.1}\n"
                "  fill: [{low: [0, 0, 0], high: [1, 0, 1]}]\n",
                "s:4:32: the grid must have a size: every number of `high` above that of `low`, "
                "but for y");
    check_fails(TIME BED "  fill: [{shape: bal, centre: [0, 0, 0], radius: 1}]\n",
                "s:4:18: shape must be one of box|cylinder|ball, not 'bal'; did you mean 'ball'?");
    check_fails(TIME BED "  fill: [{shape: ball, centre: [0, 0, 0]}]\n",
                "s:4:10: the ball needs the key 'radius'");
    check_fails(TIME BED "  fill: [{low: [0, 0, 0], high: [1, 1, 1], radius: 1}]\n",
                "s:4:44: a box has no radius");
    check_fails(TIME BED "  fill: [{shape: cylinder, centre: [0, 0, 0], radius: 1}]\n",
                "s:4:10: the cylinder needs the key 'height'");
    check_fails(TIME BED "  fill: [{low: [0, 0, 0], high: [1, 1, -1]}]\n",
                "s:4:33: the box must have a size: every number of `high` above that of `low`");
    check_fails(TIME BED "  fill: [{low: [0, 0, 0], high: [1, 1, 1], fraction: 0.7}]\n",
                "s:4:54: fraction must be at most the packing, 0.6");
    check_fails(TIME BED "  fill: [{low: [0, 0, 2], high: [1, 1, 3]}]\n",
                "s:4:10: the box is beyond the grid");
    check_fails(TIME "grains:\n  grid: {low: [-1, 0, 0], high: [1, 1, 1], spacing: 0.1, periodic: "
                     "[x]}\n" FILL,
                "s:3:68: a grid that is periodic along x has a multiple of 12 cells there, not 20");
    check_fails(TIME
                "grains:\n  dimension: 2\n  grid: {low: [0, 0, 0], high: [1.2, 1, 1], spacing: "
                "0.1, periodic: [x, y]}\n" FILL,
                "s:4:69: in two dimensions there is no y to be periodic along");
    check_fails(TIME "grains:\n  grid: {low: [0, 0, 0], high: [1.2, 1, 1], spacing: 0.1, periodic: "
                     "[z]}\n" FILL,
                "s:3:70: periodic must be one of x|y, not 'z'; did you mean 'x'?");
    check_fails(TIME BED "  fill: []\n", "s:4:9: fill is empty");
}

// Bounded before anything is made of them.
TEST(beds_that_no_machine_holds_are_refused_at_once) {
    check_fails(
        TIME "grains:\n  grid: {low: [-1, 0, 0], high: [1, 1, 1], spacing: 1e-3}\n" FILL,
        "s:3:53: the grid would have 2.01e+09 nodes, more than 8e+06: take a larger spacing");
    check_fails(TIME
                "grains:\n  grid: {low: [-1e9, 0, 0], high: [1e9, 1e9, 1e9], spacing: 1e-9}\n" FILL,
                "s:3:61: the grid would have 2e+54 nodes, more than 8e+06: take a larger spacing");
    check_fails(TIME "grains:\n  grid: {low: [-1, 0, 0], high: [1, 1, 1], spacing: 0.01}\n"
                     "  per_cell: 8\n" FILL,
                "s:5:10: its fills would have up to 2.56e+08 particles, more than 1e+07: take a "
                "larger spacing or fewer per_cell");
}

#define OBSERVED TIME BED FILL "  name: bed\ncolliders: [{name: floor, shape: plane}]\nobserve:\n"

TEST(mistakes_of_what_is_observed_of_grains_are_told) {
    check_fails(OBSERVED "  - {mass_beyond: bed}\n", "s:8:5: a mass_beyond needs the key 'plane'");
    check_fails(OBSERVED "  - {mass_beyond: bed, plane: {point: [0, 0, 0]}}\n",
                "s:8:31: the plane needs the key 'normal'");
    check_fails(OBSERVED "  - {lost: bed, plane: {point: [0, 0, 0], normal: [0, 0, 1]}}\n",
                "s:8:17: a lost has no plane");
    check_fails(OBSERVED "  - {lost: bed, about: [0, 0, 0]}\n", "s:8:17: a lost has no about");
    check_fails(OBSERVED "  - {run_out: bde}\n",
                "s:8:15: nothing is named 'bde' that has a run_out, grains; did you mean 'bed'?");
    check_fails(OBSERVED "  - {run_out: floor}\n",
                "s:8:15: 'floor' is one of the colliders: a run_out is of grains");
    check_fails(OBSERVED "  - {point: bed}\n",
                "s:8:13: 'bed' is one of the grains: a point is of a rod");
}

// --- what a check tells --------------------------------------------------------------------------

static const char COLUMN[] =
    "title: a column\n"
    "time: {step: 1e-3, end: 1}\n"
    "grains:\n"
    "  name: sand\n"
    "  dimension: 2\n"
    "  grid: {low: [-0.5, 0, 0], high: [0.5, 0, 0.6], spacing: 0.02}\n"
    "  friction: 0.5\n"
    "  density: 1500\n"
    "  packing: 0.6\n"
    "  per_cell: 4\n"
    "  cohesion: 10\n"
    "  fast: {friction: 0.7, grain: 1e-3}\n"
    "  fill: [{low: [-0.1, 0, 0], high: [0.1, 0, 0.4], velocity: [0, 0, -1]}]\n"
    "colliders: [{name: floor, shape: plane}]\n";

static void write_column(const Scratch* s, const char* meant, const char* written) {
    char text[2048];
    const char* at = meant == NULL ? NULL : strstr(COLUMN, meant);
    REQUIRE(meant == NULL || at != NULL);
    size_t before = at == NULL ? 0 : (size_t)(at - COLUMN);
    int size =
        snprintf(text, sizeof text, "%.*s%s%s", (int)before, COLUMN, meant == NULL ? "" : written,
                 COLUMN + before + (meant ? strlen(meant) : 0));
    scratch_write(scratch_path(s, "s.yaml"), text, (size_t)size);
}

TEST(a_check_tells_cells_particles_and_mass) {
    Scratch s = scratch_make();
    write_column(&s, NULL, NULL);
    REQUIRE(COMMAND(&s, "check", "s.yaml") == 0);
    // 10 x 20 cells of 16 particles: 0.2 m x 0.4 m x 1 m of 1500 kg/m^3
    CHECK(command_wrote(&s, "stdout",
                        "  grains     3200 particles in a grid of 50 x 30 cells of 0.02 m\n"));
    CHECK(command_wrote(&s, "stdout",
                        "    sand             in 2 dimensions, 1500 kg/m^3, 120 kg, friction 0.5 "
                        "(26.6 degrees)\n"));
    char* quiet = scratch_read(scratch_path(&s, "stderr"), NULL);
    CHECK(quiet != NULL && quiet[0] == '\0');
    free(quiet);
    REQUIRE(COMMAND(&s, "check", "s.yaml", "--json") == 0);
    CHECK(command_wrote(&s, "stdout",
                        "\"grains\": {\"name\": \"sand\", \"dimension\": 2, \"cells\": [50, 1, "
                        "30], \"spacing\": 0.02"));
    CHECK(command_wrote(&s, "stdout", "\"particles\": 3200, "));
    scratch_remove(&s);
}

// What is written in place of what, and the warning.
static const struct {
    const char *meant, *written, *said;
} DOUBTS[] = {
    {"  friction: 0.5\n  density: 1500\n  packing: 0.6\n  per_cell: 4\n  cohesion: 10\n  fast: "
     "{friction: 0.7, grain: 1e-3}\n",
     "  friction: 30\n", "7:13: warning: 'sand': friction is 30: the tangent of an angle: 30"},
    {"  friction: 0.5\n", "  friction: 0.01\n",
     "7:13: warning: 'sand': friction is 0.01: of a pile"},
    {"density: 1500", "density: 1.5", "8:12: warning: 'sand': density is 1.5 kg/m^3: lighter than"},
    {"packing: 0.6", "packing: 0.95",
     "9:12: warning: 'sand': packing is 0.95: denser than spheres"},
    {"packing: 0.6", "packing: 0.1", "9:12: warning: 'sand': packing is 0.1: looser than any bed"},
    {"per_cell: 4", "per_cell: 1", "10:13: warning: 'sand': the number of particles along a cell"},
    {"cohesion: 10", "cohesion: 1e6", "11:13: warning: 'sand': cohesion is 1e+06 Pa: ten times"},
    {"grain: 1e-3", "grain: 1", "12:9: warning: 'sand': the diameter of a grain is 1 m: more than"},
    {"spacing: 0.02", "spacing: 0.1",
     "6:59: warning: 'sand': the spacing is 0.1 m: what is filled"},
    {"step: 1e-3", "step: 1e-2", "6:59: warning: 'sand': the number of cells that grains go in a"},
    {"0.4], velocity", "0.7], velocity",
     "13:36: warning: 'sand': its reach beyond the grid is 0.1"},
    {"[0, 0, -1]", "[0, 0, -100]",
     "13:61: warning: 'sand': its speed is 100 m/s: more than a cell"},
};

TEST(what_can_hardly_be_meant_is_told) {
    Scratch s = scratch_make();
    for (size_t i = 0; i < sizeof DOUBTS / sizeof *DOUBTS; ++i) {
        write_column(&s, DOUBTS[i].meant, DOUBTS[i].written);
        CHECK_INT(COMMAND(&s, "check", "s.yaml"), 0);
        if (!command_wrote(&s, "stderr", DOUBTS[i].said)) {
            FAIL("with %s it does not say: %s", DOUBTS[i].written, DOUBTS[i].said);
        }
    }
    scratch_remove(&s);
}
