// Runs that go wrong say so: energy from nowhere, at once or little by little, and states that are
// not finite end by name, with the last good state; holds that cannot be met are refused.
#include "base/memory.h"
#include "body/body.h"
#include "command.h"
#include "run_folder.h"
#include "tendril/run.h"
#include "test.h"

// --- a kind of body that makes energy ---------------------------------------------------------

// A bead that flies straight on and is made faster by a factor in every step from `from` on.
typedef struct Bead {
    Body head;
    double x[3], v[3], steps; // one after the other: the state
    double free[3], factor[2];
    double from;
    BodyAccount faults; // what it tells of itself in every step
} Bead;

static const double BEAD = 0.01, BEAD_MASS = 0.2; // m, kg

static void bead_predict(Body* body, const BodyStep* t) {
    (void)t;
    Bead* b = (Bead*)body;
    memcpy(b->free, b->v, sizeof b->free);
}

static TdlEnergy bead_energy(const Body* body, TdlVec3 gravity) {
    const Bead* b = (const Bead*)body;
    TdlVec3 v = tdl_load3(b->v, 0);
    (void)gravity;
    return (TdlEnergy){.kinetic = 0.5 * BEAD_MASS * tdl_dot3(v, v)};
}

static void bead_advance(Body* body, const BodyStep* t) {
    Bead* b = (Bead*)body;
    double factor = b->steps >= b->from ? b->factor[(int)b->steps % 2] : 1.0;
    for (int i = 0; i < 3; ++i) {
        b->v[i] = factor * b->free[i];
        b->x[i] += t->dt * b->v[i];
    }
    b->steps += 1.0;
    body->energy = bead_energy(body, t->gravity);
    body->account.failed = !isfinite(b->x[0]);
    body->account.missed = b->faults.missed;
    body->account.energy_rise = b->faults.energy_rise;
    body->account.gave = b->faults.gave;
}

static double bead_mass(const Body* body, TdlVec3* centre) {
    *centre = tdl_load3(((const Bead*)body)->x, 0);
    return BEAD_MASS;
}

static BodyShape bead_shape(const Body* body, int segments) {
    (void)body, (void)segments;
    return (BodyShape){.curve_count = 1, .pieces = 1, .stiff = true, .size = BEAD};
}

static void bead_curves(Body* body, int segments, TdlCurve* out) {
    (void)segments;
    TdlVec3 x = tdl_load3(((Bead*)body)->x, 0);
    tdl_curve_segment(&(TdlHost){0}, x, x, out);
    out->radius[0] = out->radius[1] = BEAD;
}

static const BodyKind BEAD_KIND = {.name = "bead",
                                   .predict = bead_predict,
                                   .advance = bead_advance,
                                   .mass = bead_mass,
                                   .energy = bead_energy,
                                   .shape = bead_shape,
                                   .curves = bead_curves};

static TdlWorld* make_world(const TdlHost* host, double limit) {
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world;
    def.gravity = (TdlVec3){0};
    def.contacts.off = true;
    def.energy_limit = limit;
    CHECK(tdl_world_create(host, &def, &world) == TDL_STATUS_OK);
    return world;
}

static Bead* add_bead(TdlWorld* world, const char* name, double y, double even, double odd) {
    Bead* b = tdl_alloc_zero(&world_host(world)->mem, sizeof *b);
    b->head = (Body){
        .kind = &BEAD_KIND, .dof_count = 3, .v_free = b->free, .state = b->x, .state_count = 7};
    b->x[1] = y;
    b->v[0] = 2.0;
    b->factor[0] = even;
    b->factor[1] = odd;
    CHECK(world_add_body(world, &b->head) == TDL_STATUS_OK);
    CHECK(tdl_body_set_name(world, b->head.id, name) == TDL_STATUS_OK);
    return b;
}

// Steps made until one fails, at most `most`.
static int steps_until_failure(TdlWorld* world, int most, TdlStepInfo* info) {
    int made = 0;
    while (made < most && tdl_world_step(world, info) == TDL_STATUS_OK) {
        ++made;
    }
    return made;
}

TEST(a_body_that_makes_energy_is_named) {
    Heard heard;
    TdlHost host = scratch_host(&heard);
    TdlWorld* world = make_world(&host, 0.05);
    add_bead(world, "calm", 0.0, 1.0, 1.0);
    Bead* wild = add_bead(world, "wild", 1.0, 2.0, 2.0);
    wild->from = 10.0;
    for (int i = 0; i < 10; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
    uint64_t hash = tdl_world_state_hash(world);
    TdlStepInfo info;
    CHECK(tdl_world_step(world, &info) == TDL_STATUS_DIVERGED);
    CHECK(tdl_world_state_hash(world) == hash && tdl_world_step_count(world) == 10);
    CHECK(tdl_body_id_equal(info.fault.body, wild->head.id));
    CHECK_INT(info.fault.element, 0);
    CHECK_NEAR3(info.fault.place, ((TdlVec3){0.02, 1.0, 0.0}), 1.0e-15);
    CHECK_NEAR(info.fault.gained, 1.5 * BEAD_MASS * 4.0, 1.0e-12); // (2^2 - 1) m v^2 / 2
    CHECK_NEAR(info.fault.at_play, 0.5 * BEAD_MASS * 4.0, 1.0e-6);
    CHECK(strstr(heard.last, "energy came from nowhere: bead 'wild', element 0, at (0.02, 1, 0)"));
    // it stays so: nothing of the failed step is left
    CHECK(tdl_world_step(world, &info) == TDL_STATUS_DIVERGED);
    CHECK(tdl_world_state_hash(world) == hash);
    // and goes on where the limit allows it
    CHECK(tdl_world_set_energy_limit(world, 4.0) == TDL_STATUS_OK);
    CHECK(tdl_world_step(world, &info) == TDL_STATUS_OK);
    CHECK_NEAR(info.nowhere, 1.5 * BEAD_MASS * 4.0, 1.0e-12);
    tdl_world_destroy(world);
}

// With a factor of 1 + e a step, the gain is above the limit l of the energy when
// 1 - (1 + e)^-2n > l.
TEST(a_slow_leak_is_found_as_soon_as_the_limit_says) {
    Heard heard;
    TdlHost host = scratch_host(&heard);
    for (int k = 0; k < 4; ++k) {
        double leak = (const double[]){1.0e-2, 1.0e-3, 1.0e-4, 1.0e-3}[k];
        double limit = k == 3 ? 0.3 : 0.05;
        TdlWorld* world = make_world(&host, limit);
        add_bead(world, "leaks", 0.0, 1.0 + leak, 1.0 + leak);
        TdlStepInfo info;
        int made = steps_until_failure(world, 10000, &info);
        // the energy at play is that before the step
        double expected = -log1p(-limit) / (2.0 * log1p(leak));
        printf("  leak %g: fails after %d steps, foreseen %.1f\n", leak, made, expected);
        CHECK_NEAR((double)made, expected, 1.5);
        CHECK(strstr(heard.last, "little by little: bead 'leaks'"));
        tdl_world_destroy(world);
    }
}

TEST(what_is_lost_again_is_no_leak) {
    Heard heard;
    TdlHost host = scratch_host(&heard);
    TdlWorld* world = make_world(&host, 0.05);
    add_bead(world, "swings", 0.0, 1.02, 1.0 / 1.02);
    TdlStepInfo info;
    CHECK_INT(steps_until_failure(world, 5000, &info), 5000);
    tdl_world_destroy(world);
}

TEST(a_state_that_is_not_finite_is_named) {
    Heard heard;
    TdlHost host = scratch_host(&heard);
    TdlWorld* world = make_world(&host, 0.05);
    add_bead(world, "calm", 0.0, 1.0, 1.0);
    Bead* lost = add_bead(world, "lost", 1.0, NAN, NAN);
    lost->from = 3.0;
    TdlStepInfo info;
    CHECK_INT(steps_until_failure(world, 10, &info), 3);
    CHECK(tdl_body_id_equal(info.fault.body, lost->head.id));
    CHECK(strstr(heard.last, "the state is not finite, or not to be believed: bead 'lost', element "
                             "0, at (0.006, 1, 0)"));
    tdl_world_destroy(world);
}

// All warnings, one after the other.
typedef struct Warnings {
    char text[4096];
} Warnings;

static void hear_warning(void* user, TdlLogLevel level, const char* message) {
    Warnings* heard = user;
    size_t used = strlen(heard->text);
    if (level == TDL_LOG_WARNING) {
        snprintf(heard->text + used, sizeof heard->text - used, "%s\n", message);
    }
}

static TdlWorld* make_warned_world(Warnings* heard) {
    TdlHost host = tdl_host_default();
    *heard = (Warnings){0};
    host.log = hear_warning;
    host.log_user = heard;
    return make_world(&host, 0.05);
}

// Of several the one whose energy rose most, not the first that is above the sum so far.
TEST(the_worst_of_several_is_named) {
    Warnings heard;
    TdlWorld* world = make_warned_world(&heard);
    const char* names[] = {"one", "two", "three", "four"};
    const double rises[] = {1.0e-9, 1.1e-9, 1.5e-9, 0.2e-9};
    for (int i = 0; i < 4; ++i) {
        add_bead(world, names[i], i, 1.0, 1.0)->faults.energy_rise = rises[i];
    }
    CHECK(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    CHECK(strstr(heard.text, "energy rose (bead 'three')") != NULL);
    CHECK(strstr(heard.text, ", of bead 'three' the most") != NULL);
    tdl_world_destroy(world);
}

// Statics that find nothing tell of which rod: this one is under a torque.
TEST(a_rod_that_does_not_come_to_rest_is_named) {
    Heard heard;
    TdlHost host = scratch_host(&heard);
    TdlWorldDef world_def = tdl_world_def_default();
    TdlWorld* world;
    REQUIRE(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
    TdlRodLoad load = {.at = 0.5, .torque = {0.0, 0.0, 1.0}}; // which has no potential
    TdlRodDef def = tdl_rod_def_default();
    def.length = 0.5;
    def.radius[0] = def.radius[1] = 1.0e-3;
    TdlBodyId id[2];
    REQUIRE(tdl_world_add_rod(world, &def, &id[0]) == TDL_STATUS_OK);
    def.loads = &load;
    def.load_count = 1;
    REQUIRE(tdl_world_add_rod(world, &def, &id[1]) == TDL_STATUS_OK);
    CHECK(tdl_body_set_name(world, id[1], "turned") == TDL_STATUS_OK);
    CHECK_INT(tdl_world_settle(world, NULL), TDL_STATUS_BAD_ARGUMENT);
    CHECK(strstr(heard.last, "rod 'turned' could not be brought to rest") != NULL);
    tdl_world_destroy(world);
}

// Who missed its place is named, whatever the others did.
TEST(whoever_is_at_fault_is_named_and_not_another) {
    Warnings heard;
    TdlWorld* world = make_warned_world(&heard);
    add_bead(world, "rises", 0.0, 1.0, 1.0)->faults.energy_rise = 1.0e-9;
    add_bead(world, "misses", 1.0, 1.0, 1.0)->faults.missed = true;
    CHECK(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    CHECK(strstr(heard.text, "a held end is not where it has to be (bead 'misses')") != NULL);
    tdl_world_destroy(world);
}

// That a hold gave way is told in a step of which a part had to be kept, too; each once.
TEST(one_fault_does_not_silence_another) {
    Warnings heard;
    TdlWorld* world = make_warned_world(&heard);
    add_bead(world, "misses", 0.0, 1.0, 1.0)->faults.missed = true;
    add_bead(world, "gives", 1.0, 1.0, 1.0)->faults.gave = 2.0;
    TdlStepInfo info;
    CHECK(tdl_world_step(world, &info) == TDL_STATUS_OK && info.substeps > 1);
    const char* missed = strstr(heard.text, "(bead 'misses')");
    const char* gave = strstr(heard.text, "the hold of bead 'gives'");
    CHECK(missed != NULL && gave != NULL);
    CHECK(missed != NULL && strstr(missed + 1, "(bead 'misses')") == NULL);
    CHECK(gave != NULL && strstr(gave + 1, "the hold of") == NULL);
    tdl_world_destroy(world);
}

// A gale at the branch of a trunk that hardly bends: the branch is named.
TEST(a_branch_that_turns_too_far_is_named) {
    Heard heard;
    TdlHost host = scratch_host(&heard);
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world;
    def.contacts.off = true;
    def.wind = (TdlVec3){0.0, 1.0e5, 0.0};
    REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    TdlRodDef trunk = tdl_rod_def_default(), branch = tdl_rod_def_default();
    trunk.young = 1.0e12;
    trunk.radius[0] = trunk.radius[1] = 0.1;
    branch.drag = 1.0e-2;
    TdlBodyId id[2];
    REQUIRE(tdl_world_add_rod(world, &trunk, &id[0]) == TDL_STATUS_OK);
    branch.parent = id[0];
    branch.parent_at = 0.5;
    branch.clamp.rotation = tdl_identity33();
    REQUIRE(tdl_world_add_rod(world, &branch, &id[1]) == TDL_STATUS_OK);
    CHECK(tdl_body_set_name(world, id[0], "trunk") == TDL_STATUS_OK);
    CHECK(tdl_body_set_name(world, id[1], "branch") == TDL_STATUS_OK);
    TdlStepInfo info;
    CHECK(tdl_world_step(world, &info) == TDL_STATUS_DIVERGED);
    CHECK(strstr(heard.last, "not to be believed: rod 'branch'") != NULL);
    printf("  %s\n", heard.last);
    tdl_world_destroy(world);
}

// The ledger is part of the state: a world that goes on from bytes fails in the same step.
TEST(a_leak_is_found_in_the_same_step_after_a_resume) {
    Heard heard;
    TdlHost host = scratch_host(&heard);
    TdlWorld *world = make_world(&host, 0.05), *later = make_world(&host, 0.05);
    add_bead(world, "leaks", 0.0, 1.001, 1.001);
    add_bead(later, "leaks", 0.0, 1.001, 1.001);
    TdlStepInfo info;
    REQUIRE(steps_until_failure(world, 15, &info) == 15);
    size_t size = tdl_world_state_size(world);
    void* bytes = malloc(size);
    tdl_world_save_state(world, bytes);
    REQUIRE(tdl_world_load_state(later, bytes, size) == TDL_STATUS_OK);
    free(bytes);
    CHECK_INT(steps_until_failure(later, 100, &info), steps_until_failure(world, 100, &info));
    CHECK(tdl_world_state_hash(later) == tdl_world_state_hash(world));
    tdl_world_destroy(world);
    tdl_world_destroy(later);
}

TEST(bad_limits_and_names_are_refused) {
    Heard heard;
    TdlHost host = scratch_host(&heard);
    TdlWorld* world;
    for (int i = 0; i < 3; ++i) {
        TdlWorldDef def = tdl_world_def_default();
        def.energy_limit = (const double[]){0.0, -1.0, NAN}[i];
        CHECK(tdl_world_create(&host, &def, &world) == TDL_STATUS_BAD_ARGUMENT);
    }
    world = make_world(&host, 0.05);
    Bead* bead = add_bead(world, "a", 0.0, 1.0, 1.0);
    CHECK(tdl_world_set_energy_limit(world, 0.0) == TDL_STATUS_BAD_ARGUMENT);
    CHECK(tdl_world_set_energy_limit(world, NAN) == TDL_STATUS_BAD_ARGUMENT);
    char name[300];
    memset(name, 'n', sizeof name);
    name[201] = '\0';
    CHECK(tdl_body_set_name(world, bead->head.id, name) == TDL_STATUS_BAD_ARGUMENT);
    CHECK_TEXT(bead->head.name, "a");
    name[200] = '\0';
    CHECK(tdl_body_set_name(world, bead->head.id, name) == TDL_STATUS_OK);
    CHECK(tdl_body_set_name(world, bead->head.id, NULL) == TDL_STATUS_OK);
    CHECK(bead->head.name == NULL);
    CHECK(tdl_body_set_name(world, (TdlBodyId){7, 1}, "b") == TDL_STATUS_BAD_ARGUMENT);
    tdl_world_destroy(world);
}

// --- what gives energy is counted -------------------------------------------------------------

// A rod whose start is shaken and turned, in wind and under a torque: its energy rises a
// thousandfold, and hardly any of it comes from nowhere.
TEST(what_moved_ends_wind_and_torques_give_is_known) {
    static const char* const MODELS[] = {"super-helix", "super-clothoid", "der", "mass-spring",
                                         "corde"};
    TdlHost host = tdl_host_default();
    for (int i = 0; i < 5; ++i) {
        TdlKeyframe keys[] = {{0.0, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
                              {0.1, {0.0, 0.05, 0.0}, {0.0, 1.0, 0.0}},
                              {0.2, {0.0, 0.0, 0.05}, {0.0, 0.0, 0.0}}};
        TdlRodLoad load = {0.3, {0.0, 0.0, 0.0}, {1.0e-5, 0.0, 0.0}};
        TdlWorldDef def = tdl_world_def_default();
        def.step = 2.0e-4;
        def.wind = (TdlVec3){0.0, 3.0, 0.0};
        TdlWorld* world;
        REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
        TdlRodDef rod = tdl_rod_def_default();
        rod.model = MODELS[i];
        rod.length = 0.3;
        rod.radius[0] = rod.radius[1] = 2.0e-3;
        rod.young = 1.0e7;
        rod.drag = 1.0e-3;
        rod.motion = (TdlMotionDef){.keys = keys, .key_count = 3};
        rod.loads = &load;
        rod.load_count = strcmp(MODELS[i], "mass-spring") == 0 ? 0 : 1;
        TdlBodyId id;
        REQUIRE(tdl_world_add_rod(world, &rod, &id) == TDL_STATUS_OK);
        double nowhere = 0.0, most = 0.0;
        for (int step = 0; step < 1500; ++step) {
            TdlStepInfo info;
            REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
            nowhere += info.nowhere;
            most = fmax(most, info.energy.kinetic + info.energy.elastic);
        }
        printf("  %s: %.3g J at most, %.3g J from nowhere\n", MODELS[i], most, nowhere);
        CHECK(most > 1.0e-4);
        CHECK_BELOW(nowhere, 1.0e-3 * most);
        tdl_world_destroy(world);
    }
}

// --- the command ------------------------------------------------------------------------------

// A box that tumbles: its turning gains a little in some steps, more than the limit here.
static const char TUMBLING[] = "time: {step: 1e-3, end: 0.3, energy_limit: 1e-9}\n"
                               "gravity: [0, 0, 0]\n"
                               "output: {frame: 0.05}\n"
                               "bodies:\n"
                               "  - name: box\n"
                               "    shape: box\n"
                               "    half: [0.03, 0.02, 0.01]\n"
                               "    angular_velocity: [1, 30, 2]\n";

TEST(a_failed_run_ends_by_name_and_can_be_gone_on_with) {
    Scratch scratch = scratch_make();
    scratch_write(scratch_path(&scratch, "scene.yaml"), TUMBLING, strlen(TUMBLING));
    CHECK_INT(
        COMMAND(&scratch, "run", "scene.yaml", "-o", "whole", "-q", "--set", "time.energy_limit=1"),
        0);
    char whole[17];
    snprintf(whole, sizeof whole, "%s", summary_hash(scratch_path(&scratch, "whole")));
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "-o", "run", "-q", "--json"), 1);
    CHECK(command_wrote(&scratch, "stderr", "energy came from nowhere"));
    CHECK(command_wrote(&scratch, "stderr", "rigid 'box'"));
    CHECK(command_wrote(&scratch, "stderr", "failed at step "));
    CHECK(command_wrote(&scratch, "stdout", "\"status\": \"failed\""));
    CHECK(command_wrote(&scratch, "stdout", "\"failure\": \"step "));
    CHECK(command_wrote(&scratch, "stdout", "\"sound\": false"));
    CHECK_INT(COMMAND(&scratch, "info", "run"), 0);
    CHECK(command_wrote(&scratch, "stdout", "state       failed, step "));
    CHECK(command_wrote(&scratch, "stdout", "failure     step "));
    CHECK_INT(COMMAND(&scratch, "info", "run", "--json"), 0);
    CHECK(command_wrote(&scratch, "stdout", "\"state\": \"failed\""));
    // again as it is: the same end, told beforehand
    CHECK_INT(COMMAND(&scratch, "run", "--resume", "run"), 1);
    CHECK(command_wrote(&scratch, "stderr", "failed here before: step "));
    CHECK(command_wrote(&scratch, "stderr", "rigid 'box'"));
    CHECK_INT(COMMAND(&scratch, "info", "run", "--json"), 0);
    CHECK(command_wrote(&scratch, "stdout", "\"state\": \"failed\""));
    // in spite of it: the same bits as if there had been no limit
    CHECK_INT(COMMAND(&scratch, "run", "--resume", "run", "-q", "--energy-limit", "1"), 0);
    CHECK_TEXT(summary_hash(scratch_path(&scratch, "run")), whole);
    CHECK_INT(COMMAND(&scratch, "info", "run", "--json"), 0);
    CHECK(command_wrote(&scratch, "stdout", "\"state\": \"finished\""));
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "-o", "x", "--energy-limit", "0"), 2);
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", "--set", "time.energy_limit=0"), 3);
    scratch_remove(&scratch);
}

// The solver may stop far from the solution; the run goes on, and its end does not pass for good.
// More than a thousand contacts: of less the thorough solver makes an end in one iteration.
TEST(contacts_that_were_not_solved_show_in_the_exit_status) {
    static const char PILE[] =
        "time: {step: 5e-3, end: 0.3}\n"
        "contacts: {max_iterations: 1, solver: gradient, friction: 0.9}\n"
        "bodies:\n"
        "  - name: ball\n"
        "    shape: sphere\n"
        "    radius: 0.02\n"
        "    position: [0, 0, 0.05]\n"
        "    repeat: {count: [2, 2, 12], spacing: [0.0405, 0.0405, 0.0405],\n"
        "             jitter: [1e-3, 1e-3, 0], centred: false}\n"
        "colliders: [{name: floor, shape: plane}]\n";
    Scratch scratch = scratch_make();
    scratch_write(scratch_path(&scratch, "scene.yaml"), PILE, strlen(PILE));
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "-o", "run", "-q", "--json"), 1);
    CHECK(command_wrote(&scratch, "stderr", "contacts that were not solved to the tolerance"));
    CHECK(command_wrote(&scratch, "stdout", "\"sound\": false"));
    CHECK(command_wrote(&scratch, "stdout", "\"finished\": true"));
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "-o", "good", "-q", "--json", "--set",
                      "contacts.max_iterations=1000"),
              0);
    CHECK(command_wrote(&scratch, "stdout", "\"sound\": true"));
    scratch_remove(&scratch);
}
