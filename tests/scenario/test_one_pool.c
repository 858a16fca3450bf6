// One pool of threads serves a whole world: its bodies, its detector and its contact solvers.
#include "base/threads.h"
#include "detect/detector.h"
#include "friction/solver.h"
#include "things.h"

#include <dirent.h>
#include <time.h>

enum { THREADS = 8, SIDE = 6, LAYERS = 3, STEPS = 60 };

// Threads of this process.
static int count_threads(void) {
    DIR* tasks = opendir("/proc/self/task");
    int count = 0;
    for (struct dirent* entry; tasks != NULL && (entry = readdir(tasks)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    if (tasks != NULL) {
        closedir(tasks);
    }
    return count;
}

// The system may still list a thread for a moment after it was joined.
static int count_threads_left(int expected) {
    for (int k = 0; k < 1000 && count_threads() != expected; ++k) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return count_threads();
}

typedef struct Seen {
    int most_threads, most_contacts;
} Seen;

static void look(void* user, const TdlContactProblem* solved) {
    Seen* seen = user;
    int threads = count_threads();
    int contacts = tdl_friction_problem_size(solved->problem).contact_count;
    seen->most_threads = threads > seen->most_threads ? threads : seen->most_threads;
    seen->most_contacts = contacts > seen->most_contacts ? contacts : seen->most_contacts;
}

// Layers of balls that touch each other on a floor, with rods laid on top: enough contacts for the
// solver to share them among threads.
static TdlWorld* make_heap(int threads) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.thread_count = threads;
    TdlWorld* world = NULL;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        FAIL("no world");
        return NULL;
    }
    TdlColliderDef floor = tdl_collider_def_default();
    TdlBodyId id;
    CHECK_INT(tdl_world_add_collider(world, &floor, &id), TDL_STATUS_OK);
    double radius = 0.01;
    for (int i = 0; i < SIDE * SIDE * LAYERS; ++i) {
        TdlVec3 at = {i % SIDE * 2.0 * radius, i / SIDE % SIDE * 2.0 * radius,
                      (2 * (i / (SIDE * SIDE)) + 1) * radius};
        add_sphere(world, radius, at, (TdlVec3){0});
    }
    for (int i = 0; i < SIDE; ++i) {
        TdlVec3 start = {-radius, i * 2.0 * radius, 2.0 * LAYERS * radius + 2.0e-3};
        add_rod(world, 2.0 * SIDE * radius, 1.0e-3, 8, start, (TdlVec3){0});
    }
    return world;
}

TEST(a_world_of_eight_threads_has_eight) {
    // a thread sanitizer adds one of its own to the first that is made
    TdlHost host = tdl_host_default();
    Pool* pool;
    REQUIRE(pool_create(&host, 2, &pool) == TDL_STATUS_OK);
    int before = count_threads() - 1;
    pool_destroy(pool);
    CHECK_INT(count_threads_left(before), before);
    Seen seen = {0};
    TdlWorld* world = make_heap(THREADS);
    REQUIRE(world != NULL);
    tdl_world_watch_problems(world, look, &seen);
    for (int i = 0; i < STEPS; ++i) {
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
    }
    printf("  %d threads before; %d in a step with %d contacts, %d after it\n", before,
           seen.most_threads, seen.most_contacts, count_threads());
    CHECK(seen.most_contacts > 200); // below, one thread does it all
    CHECK_INT(seen.most_threads, before + THREADS - 1);
    CHECK_INT(count_threads(), before + THREADS - 1);
    tdl_world_destroy(world);
    CHECK_INT(count_threads_left(before), before);
}

TEST(a_heap_has_the_same_bits_for_any_number_of_threads) {
    uint64_t first = 0;
    for (int threads = 1; threads <= 4; ++threads) {
        TdlWorld* world = make_heap(threads);
        REQUIRE(world != NULL);
        for (int i = 0; i < STEPS; ++i) {
            CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
        }
        uint64_t hash = tdl_world_state_hash(world);
        first = threads == 1 ? hash : first;
        CHECK(hash == first);
        tdl_world_destroy(world);
    }
}

enum { PARTIES = 6, CHAIN = 1200, FIBRES = 60 };

// Detectors and solvers that all borrow one pool, each at work inside a run of that pool.
typedef struct Parties {
    TdlFrictionProblem* problem;
    TdlFrictionSolver* solver[PARTIES];
    double r[PARTIES][3 * CHAIN];
    TdlFibre* fibres;
    TdlDetector* detector[PARTIES];
    TdlStatus status[PARTIES];
} Parties;

static void work_for_party(void* user, int index, int worker) {
    (void)worker;
    Parties* all = user;
    TdlFrictionInfo info;
    TdlDetectInfo found;
    all->status[index] =
        tdl_friction_solver_solve(all->solver[index], all->problem, all->r[index], NULL, &info);
    if (all->status[index] == TDL_STATUS_OK) {
        all->status[index] =
            tdl_detector_update(all->detector[index], all->fibres, FIBRES, NULL, 0, &found);
    }
}

// A chain of contacts, each coupled with its neighbours: W = tridiag(-1, 4, -1). It is long enough
// for its solvers to share it among threads.
static TdlFrictionProblem* make_chain(void) {
    static double mu[CHAIN], b[3 * CHAIN], blocks[9 * 3 * CHAIN];
    static int row_start[CHAIN + 1], column[3 * CHAIN];
    int count = 0;
    for (int i = 0; i < CHAIN; ++i) {
        mu[i] = 0.3;
        b[3 * i] = -1.0 - 0.3 * (i % 7);
        b[3 * i + 1] = 0.5 * (i % 3);
        for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < CHAIN; ++j, ++count) {
            column[count] = j;
            for (int k = 0; k < 3; ++k) {
                blocks[9 * count + 4 * k] = j == i ? 4.0 : -1.0;
            }
        }
        row_start[i + 1] = count;
    }
    TdlHost host = tdl_host_default();
    TdlFrictionMatrixDef def = {.laws = {.block_size = 3, .contact_count = CHAIN, .mu = mu},
                                .b = b,
                                .row_start = row_start,
                                .column = column,
                                .blocks = blocks};
    TdlFrictionProblem* problem = NULL;
    CHECK_INT(tdl_friction_problem_create(&host, &def, &problem), TDL_STATUS_OK);
    return problem;
}

// Straight fibres in a bundle, turned a little against each other.
static TdlFibre* make_bundle(TdlCurve* curves, TdlFibre* fibres) {
    TdlHost host = tdl_host_default();
    for (int i = 0; i < FIBRES; ++i) {
        TdlVec3 from = {0.0, 1.0e-3 * (i % 8), 1.0e-3 * (i / 8)};
        TdlVec3 to = {0.1, 1.0e-3 * ((i + 3) % 8), 1.0e-3 * (i / 8)};
        CHECK_INT(tdl_curve_segment(&host, from, to, &curves[i]), TDL_STATUS_OK);
        CHECK_INT(tdl_curve_set_radius(&host, 4.0e-4, 4.0e-4, &curves[i]), TDL_STATUS_OK);
        fibres[i] = (TdlFibre){.curves = &curves[i], .count = 1};
    }
    return fibres;
}

TEST(what_borrows_a_pool_can_work_inside_its_runs) {
    TdlHost host = tdl_host_default();
    static Parties all;
    TdlCurve curves[FIBRES];
    TdlFibre fibres[FIBRES];
    all = (Parties){.problem = make_chain(), .fibres = make_bundle(curves, fibres)};
    TdlFrictionOptions options = tdl_friction_options_default();
    options.solver = TDL_FRICTION_ALTERNATING;
    TdlDetectorDef def = tdl_detector_def_default();
    Pool* pool;
    REQUIRE(pool_create(&host, 3, &pool) == TDL_STATUS_OK);
    for (int i = 0; i < PARTIES; ++i) {
        Pool* lent = i == 0 ? NULL : pool; // the first has a thread of its own, to compare with
        REQUIRE(friction_solver_create_lent(&host, &options, lent, &all.solver[i]) == 0);
        REQUIRE(detector_create_lent(&host, &def, lent, &all.detector[i]) == 0);
    }
    pool_run(pool, PARTIES, 1, work_for_party, &all);
    int count = 0;
    const TdlContact* first = tdl_detector_contacts(all.detector[0], &count);
    printf("  %d contacts found\n", count);
    CHECK(count > 50);
    CHECK(all.r[0][0] > 0.0);
    for (int i = 0; i < PARTIES; ++i) {
        int own_count;
        const TdlContact* own = tdl_detector_contacts(all.detector[i], &own_count);
        CHECK_INT(all.status[i], TDL_STATUS_OK);
        CHECK(memcmp(all.r[i], all.r[0], sizeof all.r[0]) == 0);
        CHECK_INT(own_count, count);
        for (int k = 0; k < count && k < own_count; ++k) {
            CHECK(own[k].gap == first[k].gap && own[k].u[0] == first[k].u[0]);
        }
    }
    for (int i = 0; i < PARTIES; ++i) {
        tdl_friction_solver_destroy(all.solver[i]);
        tdl_detector_destroy(all.detector[i]);
    }
    tdl_friction_problem_destroy(all.problem);
    pool_destroy(pool);
}
