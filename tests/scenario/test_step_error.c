// Steps chosen by their estimated error: the error follows what is asked for, with fewer steps than
// equal ones need, the same bits after a resume, and frames on their times.
#include "command.h"
#include "look.h"
#include "test.h"

static const double FRAME = 0.02, END = 3.0; // s

// A rod let go straight that swings out: fast at first, hardly at all in the end.
static TdlWorld* make_swing(const char* model, double step, double error, TdlBodyId* rod) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world;
    def.step = step;
    def.error = error;
    def.contacts.off = true;
    CHECK(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    TdlRodDef rod_def = tdl_rod_def_default();
    rod_def.model = model;
    rod_def.length = 0.4;
    rod_def.radius[0] = rod_def.radius[1] = 3.0e-3;
    rod_def.young = 1.0e7;
    rod_def.density = 1100.0;
    rod_def.damping = 0.01;
    rod_def.mass_damping = 2.0;
    CHECK(tdl_world_add_rod(world, &rod_def, rod) == TDL_STATUS_OK);
    return world;
}

enum { FRAMES = 150 };
typedef struct Swing {
    TdlVec3 tip[FRAMES];
    int parts;
    double estimate; // in all
} Swing;

static Swing swing(const char* model, double step, double error) {
    Swing out = {0};
    TdlBodyId rod;
    TdlWorld* world = make_swing(model, step, error, &rod);
    int stride = (int)lround(FRAME / step);
    for (int i = 0; i < FRAMES * stride; ++i) {
        TdlStepInfo info;
        if (tdl_world_step(world, &info) != TDL_STATUS_OK) {
            FAIL("step %d", i);
            break;
        }
        out.parts += info.substeps;
        out.estimate += info.estimate;
        out.tip[i / stride] = look_rod_point(world, rod, 0.4);
    }
    CHECK_NEAR(tdl_world_time(world), END, 1.0e-12);
    tdl_world_destroy(world);
    return out;
}

static double distance(const Swing* a, const Swing* b) {
    double most = 0.0;
    for (int i = 0; i < FRAMES; ++i) {
        most = fmax(most, tdl_norm3(tdl_sub3(a->tip[i], b->tip[i])));
    }
    return most;
}

TEST(the_error_follows_what_is_asked_for_with_fewer_steps) {
    static const char* const MODELS[] = {"super-helix", "super-clothoid", "der"};
    for (int m = 0; m < 3; ++m) {
        Swing reference = swing(MODELS[m], 5.0e-5, 0.0);
        double error[3];
        for (int k = 0; k < 3; ++k) {
            double asked = ldexp(0.04, -k);
            Swing chosen = swing(MODELS[m], FRAME, asked);
            error[k] = distance(&chosen, &reference);
            // equal steps, as many or some more
            int stride = chosen.parts / FRAMES + 1;
            Swing equal = swing(MODELS[m], FRAME / stride, 0.0);
            double of_equal = distance(&equal, &reference);
            printf("  %s, error %g: %d parts, %.3g m off, estimated %.2g; %d equal: %.3g m\n",
                   MODELS[m], asked, chosen.parts, error[k], 0.4 * chosen.estimate, equal.parts,
                   of_equal);
            CHECK_BELOW(error[k], (m < 2 ? 0.7 : 0.9) * of_equal);
            CHECK_BELOW(chosen.estimate, 1.0001 * asked * END);
        }
        // to first order; the longest steps are braked where it is taut (H.33), the chain is stiff
        // along itself and comes to it later
        double slack = m < 2 ? 0.05 : 0.15;
        CHECK_NEAR(error[1] / error[0], 0.5, slack);
        CHECK_NEAR(error[2] / error[1], 0.5, slack);
    }
}

TEST(a_resume_in_the_middle_has_the_same_bits) {
    TdlBodyId rod;
    TdlWorld* whole = make_swing("super-helix", FRAME, 0.01, &rod);
    TdlWorld* later = make_swing("super-helix", FRAME, 0.01, &rod);
    TdlStepInfo info;
    for (int i = 0; i < 10; ++i) {
        REQUIRE(tdl_world_step(whole, &info) == TDL_STATUS_OK);
    }
    CHECK(info.substeps > 4);
    size_t size = tdl_world_state_size(whole);
    char* bytes = malloc(size);
    tdl_world_save_state(whole, bytes);
    REQUIRE(tdl_world_load_state(later, bytes, size) == TDL_STATUS_OK);
    for (int i = 0; i < 20; ++i) {
        TdlStepInfo again;
        REQUIRE(tdl_world_step(whole, &info) == TDL_STATUS_OK);
        REQUIRE(tdl_world_step(later, &again) == TDL_STATUS_OK);
        CHECK_INT(again.substeps, info.substeps);
        CHECK(tdl_world_state_hash(later) == tdl_world_state_hash(whole));
    }
    // how short its parts are is proved like the rest of a state
    int64_t absurd = 1000;
    memcpy(bytes + 2 * sizeof absurd, &absurd, sizeof absurd);
    CHECK(tdl_world_load_state(later, bytes, size) == TDL_STATUS_BAD_INPUT);
    free(bytes);
    tdl_world_destroy(whole);
    tdl_world_destroy(later);
}

// A ball thrown on a floor jumps whatever the step: that does not halve for ever.
TEST(a_jump_is_not_halved_for_ever) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world;
    def.step = 0.01;
    def.error = 1.0e-6;
    REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    TdlColliderDef floor = tdl_collider_def_default();
    floor.shape = TDL_SHAPE_PLANE;
    floor.pose.rotation = tdl_identity33();
    TdlRigidDef ball = tdl_rigid_def_default();
    ball.radius = 0.02;
    ball.pose = (TdlPose){{0.0, 0.0, 0.03}, tdl_identity33()};
    ball.velocity = (TdlVec3){1.0, 0.0, -1.0};
    TdlBodyId id;
    REQUIRE(tdl_world_add_collider(world, &floor, &id) == TDL_STATUS_OK);
    REQUIRE(tdl_world_add_rigid(world, &ball, &id) == TDL_STATUS_OK);
    int most = 0;
    for (int i = 0; i < 20; ++i) {
        TdlStepInfo info;
        REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        most = info.substeps > most ? info.substeps : most;
    }
    CHECK(most > 1 && most <= 16);
    tdl_world_destroy(world);
}

TEST(a_scene_asks_for_it) {
    static const char SCENE[] = "time: {step: auto, error: 0.02, end: 0.2}\n"
                                "output: {frame: 0.02}\n"
                                "materials: [{name: m, young: 1e7}]\n"
                                "rods: [{name: a, material: m, length: 0.4, radius: 3e-3}]\n";
    Scratch scratch = scratch_make();
    scratch_write(scratch_path(&scratch, "scene.yaml"), SCENE, strlen(SCENE));
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml"), 0);
    CHECK(command_wrote(&scratch, "stdout", "0.2 s in 10 steps of 0.02 s"));
    CHECK(command_wrote(&scratch, "stdout", "estimated error is above 0.02 of a body's length"));
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "-o", "run", "-q", "--json"), 0);
    CHECK(command_wrote(&scratch, "stdout", "\"steps\": 10,"));
    CHECK(!command_wrote(&scratch, "stdout", "\"substeps_max\": 1,"));
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", "--set", "time.step=1e-2"), 0);
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", "--set", "time.error=0"), 3);
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", "--set", "time.step=automatic"), 3);
    CHECK(command_wrote(&scratch, "stderr", "a number or auto"));
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", "--set", "time={step: auto, end: 1}"), 3);
    CHECK(command_wrote(&scratch, "stderr", "a step that is chosen needs the key 'error'"));
    for (int i = 0; i < 2; ++i) {
        TdlHost host = tdl_host_default();
        TdlWorldDef def = tdl_world_def_default();
        TdlWorld* world;
        host.log = NULL;
        def.error = i == 0 ? -1.0 : NAN;
        CHECK(tdl_world_create(&host, &def, &world) == TDL_STATUS_BAD_ARGUMENT);
    }
    scratch_remove(&scratch);
}
