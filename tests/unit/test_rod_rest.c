// Natural curvature and stiffness, given to rods while their world goes on: what is changed is what
// a world built that way has from the start. And shapes, taken out and put in again.
#include "base/rng.h"
#include "look.h"
#include "scratch.h"
#include "tendril/tendril.h"

#include <string.h>

enum { RODS = 6, ELEMENTS = 5, MODELS = 6 };

static const char* const MODEL[MODELS] = {"super-helix", "super-clothoid", "der",
                                          "mass-spring", "corde",          "super-helix-dense"};

// What rods are made with; null and 0: nothing of their own.
typedef struct Made {
    const char* model;
    const TdlVec3* natural; // [ELEMENTS + 1]
    double stiffening;
    TdlHold start, end;
    TdlIntegrator integrator;
    bool branch; // the last is one of the last but one
} Made;

static bool is_clothoid(const char* model) {
    return strcmp(model, "super-clothoid") == 0;
}

static TdlWorld* make_world(const Made* made) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.integrator = made->integrator;
    TdlWorld* world = NULL;
    TdlBodyId id = {0};
    CHECK_INT(tdl_world_create(&host, &def, &world), TDL_STATUS_OK);
    for (int i = 0; i < RODS; ++i) { // of one kind, so that they step as a group
        TdlRodDef rod = tdl_rod_def_default();
        rod.model = made->model;
        rod.radius[0] = rod.radius[1] = 5.0e-4;
        rod.young = 1.0e7;
        rod.element_count = ELEMENTS;
        rod.damping = 1.0e-3;
        rod.curvature = (TdlVec3){1.0, 6.0, -3.0};
        rod.clamp.position.y = 0.05 * i;
        rod.start = made->start;
        rod.end = made->end;
        if (made->branch && i == RODS - 1) {
            rod.parent = id;
        }
        if (made->natural != NULL) {
            *(is_clothoid(made->model) ? &rod.natural_curvature_at : &rod.natural_curvature_of) =
                made->natural;
            rod.stiffening = made->stiffening;
        }
        CHECK_INT(tdl_world_add_rod(world, &rod, &id), TDL_STATUS_OK);
    }
    return world;
}

static void give(TdlWorld* world, const TdlVec3* natural, double stiffening) {
    for (int i = 0; i < RODS; ++i) {
        TdlBodyId id = look_body(world, "rod", i);
        CHECK_INT(tdl_rod_set_natural_curvature(world, id, natural), TDL_STATUS_OK);
        CHECK_INT(tdl_rod_set_stiffening(world, id, stiffening), TDL_STATUS_OK);
    }
}

static uint64_t run(TdlWorld* world, int steps) {
    for (int i = 0; i < steps; ++i) {
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
    }
    return tdl_world_state_hash(world);
}

static void random_curvatures(uint64_t seed, double size, TdlVec3 out[ELEMENTS + 1]) {
    Rng rng = rng_seed(seed);
    for (int i = 0; i <= ELEMENTS; ++i) {
        out[i] =
            (TdlVec3){size * rng_normal(&rng), size * rng_normal(&rng), size * rng_normal(&rng)};
    }
}

// From the start; and in the middle of a motion, where a world that was built so goes on from the
// same state.
static void check_given(Made made, const char* label) {
    TdlVec3 natural[ELEMENTS + 1];
    random_curvatures(7, 15.0, natural);
    const double stiffening = 1.7;
    Made so = made;
    so.natural = natural;
    so.stiffening = stiffening;
    TdlWorld *plain = make_world(&made), *given = make_world(&made), *built = make_world(&so);
    give(given, natural, stiffening);
    CHECK(tdl_world_energy(given).elastic == tdl_world_energy(built).elastic);
    uint64_t hash = run(built, 20);
    if (hash != run(given, 20) || hash == run(plain, 20)) {
        FAIL("%s: given and built differ", label);
    }
    give(plain, natural, stiffening);
    size_t size = tdl_world_state_size(plain);
    void* bytes = malloc(size);
    tdl_world_save_state(plain, bytes);
    REQUIRE(tdl_world_load_state(given, bytes, size) == TDL_STATUS_OK);
    CHECK(tdl_world_energy(given).elastic == tdl_world_energy(plain).elastic);
    if (run(plain, 20) != run(given, 20)) {
        FAIL("%s: in the middle, given and built differ", label);
    }
    free(bytes);
    tdl_world_destroy(plain);
    tdl_world_destroy(given);
    tdl_world_destroy(built);
}

TEST(a_rest_that_is_given_is_one_that_was_built) {
    for (int m = 0; m < MODELS; ++m) {
        Made made = {.model = MODEL[m], .end = TDL_HOLD_FREE};
        check_given(made, MODEL[m]);
        made.integrator = TDL_INTEGRATOR_MIDPOINT;
        check_given(made, MODEL[m]);
        made.integrator = TDL_INTEGRATOR_EULER;
        made.end = TDL_HOLD_CLAMPED; // stretched a little
        check_given(made, MODEL[m]);
        made.start = TDL_HOLD_FREE;
        made.end = TDL_HOLD_FREE;
        check_given(made, MODEL[m]);
    }
    check_given((Made){.model = "super-helix", .end = TDL_HOLD_FREE, .branch = true}, "a tree");
}

TEST(a_natural_curvature_comes_back_as_it_was_given) {
    TdlVec3 natural[ELEMENTS + 1], out[ELEMENTS + 1];
    random_curvatures(11, 40.0, natural);
    for (int m = 0; m < MODELS; ++m) {
        TdlWorld* world =
            make_world(&(Made){.model = MODEL[m], .natural = natural, .stiffening = 3.0});
        TdlBodyId id = look_body(world, "rod", 4);
        TdlRodInfo info = look_rod_info(world, id);
        CHECK_INT(info.curvature_count, ELEMENTS + is_clothoid(MODEL[m]));
        size_t size = (size_t)info.curvature_count * sizeof *out;
        CHECK_INT(tdl_rod_natural_curvature(world, id, out), TDL_STATUS_OK);
        CHECK(memcmp(out, natural, size) == 0);
        CHECK(info.stiffening == 3.0);
        CHECK_NEAR(info.stiffness.y, 3.0e7 * 3.14159265358979323846 / 4.0 * pow(5.0e-4, 4),
                   1.0e-20); // rounding
        natural[2].y += 1.0;
        CHECK_INT(tdl_rod_set_natural_curvature(world, id, natural), TDL_STATUS_OK);
        run(world, 3);
        CHECK_INT(tdl_rod_natural_curvature(world, id, out), TDL_STATUS_OK);
        CHECK(memcmp(out, natural, size) == 0);
        tdl_world_destroy(world);
    }
}

// Curvatures of elements come to the joints by their means; those at the joints are as given.
TEST(a_clothoid_is_told_at_its_joints) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world;
    REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    TdlVec3 kappa[4] = {{1.0, 2.0, 3.0}, {-4.0, 0.5, 8.0}, {2.0, 2.0, -7.0}, {0.1, 0.2, 0.3}};
    TdlRodDef rod = tdl_rod_def_default();
    rod.model = "super-clothoid";
    rod.element_count = 3;
    rod.length = 0.3;
    rod.curvature_at = kappa;
    rod.natural_curvature_of = kappa;
    TdlBodyId id;
    REQUIRE(tdl_world_add_rod(world, &rod, &id) == TDL_STATUS_OK);
    const double* q = look_rod_coordinates(world, id);
    TdlVec3 natural[4];
    CHECK_INT(tdl_rod_natural_curvature(world, id, natural), TDL_STATUS_OK);
    for (int i = 0; i < 4; ++i) {
        TdlVec3 at = tdl_scale3(rod.length / 3, kappa[i]);
        CHECK(q[3 * i] == at.x && q[3 * i + 1] == at.y && q[3 * i + 2] == at.z);
        TdlVec3 mean = tdl_scale3(0.5, tdl_add3(kappa[i > 0 ? i - 1 : 0], kappa[i < 3 ? i : 2]));
        CHECK_NEAR3(natural[i], mean, 1.0e-15 * 8.0); // a rounding
    }
    tdl_world_destroy(world);
}

// A rod with what was read from another.
static TdlWorld* make_again(const TdlWorld* from, TdlBodyId id, const Made* made, bool* ok) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world = NULL;
    CHECK_INT(tdl_world_create(&host, &def, &world), TDL_STATUS_OK);
    TdlVec3 kappa[ELEMENTS + 1];
    TdlRodDef rod = tdl_rod_def_default();
    rod.model = made->model;
    rod.radius[0] = rod.radius[1] = 5.0e-4;
    rod.element_count = ELEMENTS;
    rod.start = made->start;
    *ok = tdl_rod_start(from, id, &rod.clamp) == TDL_STATUS_OK &&
          tdl_rod_curvature(from, id, kappa) == TDL_STATUS_OK;
    *(is_clothoid(made->model) ? &rod.curvature_at : &rod.curvature_of) = kappa;
    TdlBodyId again;
    *ok = *ok && tdl_world_add_rod(world, &rod, &again) == TDL_STATUS_OK;
    return world;
}

// Largest distance of points of two rods.
static double difference(const TdlWorld* a, TdlBodyId rod, const TdlWorld* b) {
    double largest = 0.0;
    for (int i = 0; i <= 40; ++i) {
        TdlVec3 p = look_rod_point(a, rod, 0.1 * i / 40.0);
        TdlVec3 q = look_rod_point(b, look_body(b, "rod", 0), 0.1 * i / 40.0);
        largest = fmax(largest, tdl_norm3(tdl_sub3(p, q)));
    }
    return largest;
}

TEST(a_shape_is_taken_out_and_put_in_again) {
    const TdlHold holds[] = {TDL_HOLD_CLAMPED, TDL_HOLD_PINNED, TDL_HOLD_FREE};
    TdlVec3 natural[ELEMENTS + 1];
    random_curvatures(3, 15.0, natural);
    for (int m = 0; m < MODELS * 3; ++m) {
        Made made = {.model = MODEL[m / 3],
                     .natural = natural,
                     .stiffening = 1.0,
                     .start = holds[m % 3],
                     .end = TDL_HOLD_FREE};
        bool stretches = m / 3 >= 2 && m / 3 <= 4, ok;
        TdlWorld* world = make_world(&made);
        TdlBodyId id = look_body(world, "rod", 2);
        // as it was made: the same coordinates, to the last bit where they are curvatures
        TdlWorld* again = make_again(world, id, &made, &ok);
        CHECK(ok);
        CHECK_BELOW(difference(world, id, again), 1.0e-15); // ten roundings of 0.1 m
        const double *q = look_rod_coordinates(world, id),
                     *p = look_rod_coordinates(again, look_body(again, "rod", 0));
        int curvatures = 3 * look_rod_info(world, id).curvature_count;
        CHECK(stretches || memcmp(q, p, (size_t)curvatures * sizeof *q) == 0);
        tdl_world_destroy(again);
        // in motion; edges are then a little longer or shorter than they were (and sheared): by
        // weight over stiffness, 7.7e-4 N over 7.9 N, of 0.1 m
        run(world, 30);
        again = make_again(world, id, &made, &ok);
        CHECK(ok);
        CHECK_BELOW(difference(world, id, again), stretches ? 1.0e-5 : 1.0e-15);
        tdl_world_destroy(again);
        tdl_world_destroy(world);
    }
}

TEST(what_makes_no_sense_is_refused) {
    Heard heard;
    TdlHost host = scratch_host(&heard);
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world;
    REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    TdlRodDef rod = tdl_rod_def_default();
    TdlVec3 kappa[11] = {{0}}, out[11];
    TdlBodyId id, nodal;
    rod.curvature_at = kappa;
    CHECK_INT(tdl_world_add_rod(world, &rod, &id), TDL_STATUS_BAD_ARGUMENT); // no clothoid
    rod.model = "super-clothoid";
    rod.curvature_of = kappa;
    CHECK_INT(tdl_world_add_rod(world, &rod, &id), TDL_STATUS_BAD_ARGUMENT); // both
    rod.curvature_of = NULL;
    kappa[10].x = NAN; // the last joint counts
    CHECK_INT(tdl_world_add_rod(world, &rod, &id), TDL_STATUS_BAD_ARGUMENT);
    kappa[10].x = 0.0;
    CHECK_INT(tdl_world_add_rod(world, &rod, &id), TDL_STATUS_OK);
    rod.curvature_at = NULL;
    rod.model = "der";
    CHECK_INT(tdl_world_add_rod(world, &rod, &nodal), TDL_STATUS_OK);
    const double factors[] = {0.0, -1.0, NAN, INFINITY, 1.0e300};
    for (int i = 0; i < 5; ++i) {
        rod.stiffening = factors[i];
        CHECK_INT(tdl_world_add_rod(world, &rod, &id), TDL_STATUS_BAD_ARGUMENT);
        CHECK_INT(tdl_rod_set_stiffening(world, nodal, factors[i]), TDL_STATUS_BAD_ARGUMENT);
    }
    uint64_t before = tdl_world_state_hash(world);
    kappa[3].y = INFINITY;
    CHECK_INT(tdl_rod_set_natural_curvature(world, nodal, kappa), TDL_STATUS_BAD_ARGUMENT);
    kappa[3].y = 301.0; // 3.01 rad an element: edges do not tell that from its complement
    CHECK_INT(tdl_rod_set_natural_curvature(world, nodal, kappa), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_rod_natural_curvature(world, nodal, out), TDL_STATUS_OK);
    CHECK(out[3].y == 0.0);
    CHECK_INT(tdl_rod_set_natural_curvature(world, nodal, NULL), TDL_STATUS_BAD_ARGUMENT);
    TdlPose pose;
    TdlBodyId none = {9, 1};
    CHECK_INT(tdl_rod_set_natural_curvature(world, none, kappa), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_rod_natural_curvature(world, none, out), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_rod_curvature(world, none, out), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_rod_start(world, none, &pose), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_rod_set_stiffening(world, none, 1.0), TDL_STATUS_BAD_ARGUMENT);
    CHECK(tdl_world_state_hash(world) == before);
    tdl_world_destroy(world);
}
