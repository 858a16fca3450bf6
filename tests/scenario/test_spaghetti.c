// Spaghetti on a plate: with friction the heap comes to rest, without it spreads (S1, section 5).
// TENDRIL_LONG=1 takes all 31 instead of 3.
#include "look.h"
#include "stage.h"

#include <math.h>
#include <string.h>

enum { NODES = 16, CONTACTS_MAX = 4000 };

static const double STEP = 2.0e-3;

static const char* limit(void) {
    return getenv("TENDRIL_LONG") != NULL ? "rods.spaghetti.curves.limit=31"
                                          : "rods.spaghetti.curves.limit=3";
}

static void set_up(const char* friction, Stage* stage) {
    const char* overrides[] = {limit(), "time.step=2e-3", friction};
    REQUIRE(open_stage_with("spaghetti.yaml", overrides, 3, 1, stage) == TDL_STATUS_OK);
}

// Runs to `time` and returns the largest kinetic energy on the way.
static double run_to(Stage* stage, double time) {
    double peak = 0.0;
    TdlStatus status = TDL_STATUS_OK;
    for (int i = (int)round(tdl_world_time(stage->world) / STEP);
         i < (int)round(time / STEP) && status == TDL_STATUS_OK; ++i) {
        TdlStepInfo info;
        status = tdl_world_step(stage->world, &info);
        peak = fmax(peak, info.energy.kinetic);
    }
    CHECK_INT(status, TDL_STATUS_OK);
    return peak;
}

// How far from where it was the contact that moved most is. One that carries nothing may go.
static double largest_move(const TdlContactForce* was, int was_count, const TdlContactForce* now,
                           int now_count) {
    double largest = 0.0;
    for (int i = 0; i < was_count; ++i) {
        double nearest = INFINITY;
        for (int k = 0; k < now_count; ++k) {
            if (memcmp(was[i].body, now[k].body, sizeof was[i].body) == 0) {
                nearest = fmin(nearest, tdl_norm3(tdl_sub3(was[i].point, now[k].point)));
            }
        }
        largest = tdl_norm3(was[i].force) > 0.0 ? fmax(largest, nearest) : largest;
    }
    return largest;
}

TEST(with_friction_the_heap_comes_to_rest) {
    Stage stage;
    set_up("contacts.friction=0.3", &stage);
    bool all = getenv("TENDRIL_LONG") != NULL;
    double still = all ? 4.0 : 1.2;
    double peak = run_to(&stage, still);
    int count;
    const TdlContactForce* now = tdl_world_contact_forces(stage.world, &count);
    REQUIRE(count > 10 && count < CONTACTS_MAX);
    static TdlContactForce was[CONTACTS_MAX];
    memcpy(was, now, (size_t)count * sizeof *was);
    double later = run_to(&stage, still + 1.0);
    int now_count;
    now = tdl_world_contact_forces(stage.world, &now_count);
    double moved = largest_move(was, count, now, now_count);
    printf("  peak %.3g J, then at most %.3g of it; contacts moved by %.3g m in a second\n", peak,
           later / peak, moved);
    CHECK_BELOW(later, 1.0e-9 * peak);
    CHECK_BELOW(moved, 1.0e-6);
    close_stage(&stage);
}

// The mean distance of the spaghetti from their common middle, seen from above.
static double spread(const TdlWorld* world) {
    TdlVec3 p[NODES], middle = {0};
    int rods = look_count(world, "rod");
    for (int i = 0; i < rods; ++i) {
        look_rod_points(world, look_body(world, "rod", i), 1, p);
        for (int k = 0; k < NODES; ++k) {
            middle = tdl_axpy3(middle, 1.0 / (rods * NODES), p[k]);
        }
    }
    double sum = 0.0;
    for (int i = 0; i < rods; ++i) {
        look_rod_points(world, look_body(world, "rod", i), 1, p);
        for (int k = 0; k < NODES; ++k) {
            sum += hypot(p[k].x - middle.x, p[k].y - middle.y);
        }
    }
    return sum / (rods * NODES);
}

TEST(without_friction_it_spreads) {
    Stage rough, smooth;
    set_up("contacts.friction=0.3", &rough);
    set_up("contacts.friction=0", &smooth);
    double start = spread(smooth.world);
    run_to(&rough, 1.0);
    run_to(&smooth, 1.0);
    double with = spread(rough.world), without = spread(smooth.world);
    printf(
        "  mean distance from the middle: %.4f m at the start, %.4f with friction, %.4f without\n",
        start, with, without);
    CHECK(without > 1.2 * with);
    close_stage(&rough);
    close_stage(&smooth);
}

// Says yes at a question.
typedef struct Patience {
    int asked, most;
} Patience;

static bool has_enough(void* user) {
    Patience* patience = user;
    return ++patience->asked >= patience->most;
}

// Asked in every step that solves contacts: stopped at the n-th question of some of them, and made
// again.
TEST(a_step_that_is_stopped_leaves_the_world_as_it_was) {
    Stage stage[2];
    int stopped = 0, steps = 0;
    set_up("contacts.friction=0.3", &stage[0]);
    set_up("contacts.friction=0.3", &stage[1]);
    for (; steps < 200; ++steps) {
        TdlWorld* world = stage[0].world;
        uint64_t before = tdl_world_state_hash(world);
        Patience patience = {.most = 1 + steps % 7};
        tdl_world_watch_stop(world, has_enough, &patience);
        TdlStatus status = steps % 3 == 0 ? tdl_world_step(world, NULL) : TDL_STATUS_STOPPED;
        if (status == TDL_STATUS_STOPPED) {
            stopped += steps % 3 == 0;
            CHECK(tdl_world_state_hash(world) == before);
            tdl_world_watch_stop(world, NULL, NULL);
            status = tdl_world_step(world, NULL);
        }
        CHECK_INT(status, TDL_STATUS_OK);
        CHECK_INT(tdl_world_step(stage[1].world, NULL), TDL_STATUS_OK);
        REQUIRE(tdl_world_state_hash(world) == tdl_world_state_hash(stage[1].world));
    }
    printf("  %d of %d steps were stopped\n", stopped, steps);
    CHECK(stopped > 10);
    close_stage(&stage[0]);
    close_stage(&stage[1]);
}
