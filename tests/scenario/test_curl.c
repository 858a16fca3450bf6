// A curl of hair, clamped horizontally and let go: it swings, comes to rest, and hangs where
// statics says.
#include "look.h"
#include "tendril/world.h"
#include "test.h"

static const double LENGTH = 0.305;

// The initial curvature is a little out of the plane, else the curl stays at a saddle.
static TdlRodDef curl(double damping) {
    TdlRodDef def = tdl_rod_def_default();
    def.length = LENGTH;
    def.element_count = 12;
    def.natural_curvature = (TdlVec3){0.0, 100.0, 0.0};
    def.curvature = (TdlVec3){0.0, 100.0, 1.0};
    def.damping = damping;
    return def;
}

static TdlWorld* make_world(double dt, const TdlRodDef* rod, TdlBodyId* id) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.contacts.off = true;
    def.step = dt;
    TdlWorld* world;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK ||
        tdl_world_add_rod(world, rod, id) != TDL_STATUS_OK) {
        abort();
    }
    return world;
}

static double total(TdlEnergy e) {
    return e.kinetic + e.elastic + e.gravity;
}

// Runs to `end` and checks at every step that no energy is gained.
static void run(TdlWorld* world, double dt, double end, double scale, int* substeps) {
    double energy = total(tdl_world_energy(world));
    for (long n = lround(end / dt) - tdl_world_step_count(world); n > 0; --n) {
        TdlStepInfo info;
        TdlStatus status = tdl_world_step(world, &info);
        if (status != TDL_STATUS_OK) {
            FAIL("dt %g: %s at %g s", dt, tdl_status_string(status), info.time);
            return;
        }
        double next = total(info.energy);
        if (!(next <= energy + 1.0e-13 * scale)) { // rounding of the sum of three energies
            FAIL("dt %g: energy rose by %g of %g at %g s", dt, next - energy, scale, info.time);
            return;
        }
        energy = next;
        *substeps = info.substeps > *substeps ? info.substeps : *substeps;
    }
}

TEST(a_curl_let_go_never_gains_energy_and_ends_at_equilibrium) {
    const double steps[] = {1.0e-4, 3.0e-4, 1.0e-3, 3.0e-3, 1.0e-2};
    TdlRodDef def = curl(0.18);
    for (int i = 0; i < 5; ++i) {
        TdlBodyId id;
        TdlWorld *moving = make_world(steps[i], &def, &id), *still = make_world(1.0, &def, &id);
        CHECK_INT(tdl_world_settle(still, NULL), TDL_STATUS_OK);
        TdlVec3 rest = look_rod_point(still, id, LENGTH);
        double scale = look_rod_info(still, id).mass * 9.81 * LENGTH;
        int substeps = 0;

        run(moving, steps[i], 2.0, scale, &substeps);
        double after_two = tdl_norm3(tdl_sub3(look_rod_point(moving, id, LENGTH), rest));
        CHECK_BELOW(after_two, 2.0e-3 * LENGTH); // the last swing of 0.6 mm dies out slowly
        run(moving, steps[i], 12.0, scale, &substeps);
        double after_twelve = tdl_norm3(tdl_sub3(look_rod_point(moving, id, LENGTH), rest));
        CHECK_BELOW(after_twelve, 1.0e-6 * LENGTH);
        CHECK_NEAR(total(tdl_world_energy(moving)), total(tdl_world_energy(still)), 1e-9 * scale);
        printf("  dt %-6g tip off by %.1e L after 2 s, %.1e L after 12 s; at most %d substeps\n",
               steps[i], after_two / LENGTH, after_twelve / LENGTH, substeps);
        tdl_world_destroy(moving);
        tdl_world_destroy(still);
    }
}

TEST(an_undamped_curl_never_gains_energy_either) {
    const double steps[] = {1.0e-4, 1.0e-3, 1.0e-2};
    for (int i = 0; i < 3; ++i) {
        TdlRodDef def = curl(0.0);
        def.curvature = (TdlVec3){0.0, 0.0, 5.0}; // stretched nearly straight: it snaps back
        TdlBodyId id;
        TdlWorld* world = make_world(steps[i], &def, &id);
        double start = total(tdl_world_energy(world));
        double scale = look_rod_info(world, id).mass * 9.81 * LENGTH;
        int substeps = 0;
        run(world, steps[i], 1.0, scale, &substeps);
        printf("  dt %-6g energy lost %.1f %%, at most %d substeps\n", steps[i],
               100.0 * (start - total(tdl_world_energy(world))) / start, substeps);
        tdl_world_destroy(world);
    }
}

TEST(halving_the_step_halves_the_error) {
    // positions at 0.15 s against a run with a step 64 times smaller: first order
    TdlRodDef def = curl(0.02);
    TdlVec3 tip[5];
    double dt = 2.0e-3;
    for (int k = 0; k < 5; ++k) {
        TdlBodyId id;
        double step = k == 4 ? dt / 256.0 : dt / (1 << k);
        TdlWorld* world = make_world(step, &def, &id);
        for (long n = lround(0.15 / step); n > 0; --n) {
            tdl_world_step(world, NULL);
        }
        tip[k] = look_rod_point(world, id, LENGTH);
        tdl_world_destroy(world);
    }
    double error[4];
    for (int k = 0; k < 4; ++k) {
        error[k] = tdl_norm3(tdl_sub3(tip[k], tip[4]));
    }
    double order = log2(error[1] / error[3]) / 2.0;
    printf("  errors %.2e %.2e %.2e %.2e m, order %.2f\n", error[0], error[1], error[2], error[3],
           order);
    CHECK_NEAR(order, 1.0, 0.15);
}
