// A flexible rod over a fixed cylinder, pulled at both ends: it starts to slide where the ratio of
// the two forces is exp(mu theta), theta the angle of contact.
#include "look.h"
#include "tendril/world.h"
#include "test.h"

static const double PI = 3.14159265358979323846;

enum { ARC = 24, TAIL = 4, ELEMENTS = ARC + 2 * TAIL };

// How far the start of the rod moves in the second half of `steps`, with the ends pulled down by T
// and by `ratio` T. Its own weight does not count; a damping of all motion lets it come to rest, or
// slide steadily.
static double creep(const char* model, double mu, double ratio, int steps) {
    double R = 0.05, r = 1.0e-4, pull = 1.0e-2, piece = PI * (R + r) / ARC;
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.gravity = (TdlVec3){0};
    def.step = 1.0e-4;
    def.contacts.law.mu = mu;
    TdlWorld* world = NULL;
    TdlColliderDef cylinder = tdl_collider_def_default();
    cylinder.shape = TDL_SHAPE_CYLINDER;
    cylinder.radius = R;
    cylinder.pose.rotation = (TdlMat3){{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
    TdlBodyId collider;

    TdlRodDef rod = tdl_rod_def_default();
    TdlVec3 curvature[ELEMENTS] = {{0}};
    for (int i = TAIL; i < TAIL + ARC; ++i) {
        curvature[i].z = 1.0 / (R + r);
    }
    TdlRodLoad loads[2] = {{.at = 0.0, .force = {0, 0, -pull}},
                           {.at = ELEMENTS * piece, .force = {0, 0, -ratio * pull}}};
    rod.model = model;
    rod.length = ELEMENTS * piece;
    rod.element_count = ELEMENTS;
    rod.radius[0] = rod.radius[1] = r;
    rod.start = TDL_HOLD_FREE;
    rod.mass_damping = 1000.0;
    rod.curvature_of = curvature;
    rod.clamp = (TdlPose){{-(R + r), 0, -TAIL * piece}, {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}};
    rod.loads = loads;
    rod.load_count = 2;
    TdlBodyId id;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK ||
        tdl_world_add_collider(world, &cylinder, &collider) != TDL_STATUS_OK ||
        tdl_world_add_rod(world, &rod, &id) != TDL_STATUS_OK) {
        FAIL("refused");
        tdl_world_destroy(world);
        return NAN;
    }
    double middle = 0.0;
    for (int i = 0; i < steps; ++i) {
        middle = i == steps / 2 ? look_rod_point(world, id, 0.0).z : middle;
        if (tdl_world_step(world, NULL) != TDL_STATUS_OK) {
            FAIL("step %d failed", i);
        }
    }
    double moved = look_rod_point(world, id, 0.0).z - middle;
    tdl_world_destroy(world);
    return moved;
}

// The bending stiffness of the rod changes the ratio by about 0.2 %, its thickness as much, and
// that it touches in points 7.5 degrees apart by 0.1 %.
TEST(a_rod_over_a_cylinder_slides_at_the_ratio_of_the_capstan) {
    const char* const models[] = {"der", "der", "mass-spring", "super-helix"};
    const double mu[] = {0.1, 0.5, 0.3, 0.3};
    for (int i = 0; i < 4; ++i) {
        double m = mu[i], limit = exp(m * PI);
        const char* model = models[i];
        double sticks = creep(model, m, 0.99 * limit, 120),
               slides = creep(model, m, 1.01 * limit, 120);
        printf("  %s, mu %.1f: ratio %.4f, creeps %.1e m 1 %% below, %.1e m above\n", model, m,
               limit, sticks, slides);
        CHECK_BELOW(fabs(sticks), 1.0e-6);
        CHECK(slides > 1.0e-4);
    }
}
