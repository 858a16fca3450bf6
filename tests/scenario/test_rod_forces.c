// The forces inside rods: against the holds that are found otherwise, and answers known on paper.
#include "look.h"
#include "math/rotation.h"
#include "stage.h"
#include "tendril/world.h"
#include "test.h"

#include <stdlib.h>

static const double PI = 3.14159265358979323846, G = 9.81;
static const char* const MODELS[] = {"super-helix", "super-helix-dense", "super-clothoid",
                                     "der",         "mass-spring",       "corde"};
enum { MODEL_COUNT = 6, MASS_SPRING = 4, CORDE = 5, MOST = 401 };

static TdlWorld* create_world(TdlIntegrator integrator, double dt) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.integrator = integrator;
    def.step = dt;
    def.holds = def.forces = true;
    TdlWorld* world;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        abort();
    }
    return world;
}

static TdlRodDef rope(const char* model, int elements) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.length = 0.3;
    def.radius[0] = def.radius[1] = 2.0e-3;
    def.young = 3.0e6;
    def.element_count = elements;
    return def;
}

static TdlBodyId add(TdlWorld* world, const TdlRodDef* def) {
    TdlBodyId id = {0};
    CHECK_INT(tdl_world_add_rod(world, def, &id), TDL_STATUS_OK);
    return id;
}

static double weight_of(const TdlWorld* world, TdlBodyId rod) {
    return look_rod_info(world, rod).mass * G;
}

static TdlVec3 hold_of(const TdlWorld* world, TdlBodyId rod, bool end) {
    TdlVec3 force = {NAN, NAN, NAN};
    CHECK_INT(tdl_rod_hold_force(world, rod, end, &force), TDL_STATUS_OK);
    return force;
}

static TdlRodReaction reaction_of(const TdlWorld* world, TdlBodyId rod, bool end) {
    TdlRodReaction out = {0};
    CHECK_INT(tdl_rod_reaction(world, rod, end, &out), TDL_STATUS_OK);
    return out;
}

static TdlRodForce force_at(const TdlWorld* world, TdlBodyId rod, double s) {
    TdlRodForce out = {0};
    CHECK_INT(tdl_rod_forces(world, rod, 1, &s, &out), TDL_STATUS_OK);
    return out;
}

static void lift(const void* data, double time, TdlVec3 out[2]) {
    (void)data;
    out[0] = (TdlVec3){0.0, 0.0, 1.0e-4 * (1.0 + time)};
    out[1] = (TdlVec3){0};
}

// A program's pulls and loads that are added come after the rod is made; they are felt as those of
// its definition are, in a copy, too.
TEST(loads_that_come_later_are_felt) {
    enum { PULLS = 60, LOADS = 40 };
    static const TdlVec3 up = {0.0, 0.0, 1.0e-4};
    TdlWorld *world = create_world(TDL_INTEGRATOR_EULER, 1.0e-3), *copy;
    TdlRodDef def = rope("super-helix", 11);
    TdlBodyId rod = add(world, &def);
    TdlPull pulls[PULLS];
    for (int i = 0; i < PULLS; ++i) {
        pulls[i] = (TdlPull){.at = 0.3 * i / PULLS, .force = up};
    }
    CHECK_INT(tdl_body_pull(world, rod, PULLS, pulls), TDL_STATUS_OK);
    REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    for (int i = 0; i < LOADS; ++i) {
        TdlLoadDef load = {.at = 0.3 * i / LOADS, .value = {.at = lift}};
        CHECK_INT(tdl_world_add_load(world, rod, &load), TDL_STATUS_OK);
    }
    REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    REQUIRE(tdl_world_copy(world, &copy) == TDL_STATUS_OK);
    for (int k = 0; k < 2; ++k) {
        TdlWorld* own = k == 0 ? world : copy;
        REQUIRE(tdl_world_step(own, NULL) == TDL_STATUS_OK);
        TdlVec3 found = reaction_of(own, rod, false).force, force = hold_of(own, rod, false);
        CHECK_NEAR3(found, force, 1.0e-11 * weight_of(own, rod));
        tdl_world_destroy(own);
    }
}

// To a quarter of its radius, as a cone.
static void grow_thin(TdlRodDef* def, TdlRodSection sections[2]) {
    sections[0] = (TdlRodSection){.radius = {2.0e-3, 2.0e-3}};
    sections[1] = (TdlRodSection){.at = def->length, .radius = {0.5e-3, 0.5e-3}};
    def->sections = sections;
    def->section_count = 2;
}

// In a motion of any speed the force at the start is that of its hold, which is found from the
// momenta or the equation of its vertex; a free end bears nothing.
TEST(sums_from_the_tip_are_what_the_hold_gives) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        for (int turn = 0; turn < 4; ++turn) {
            int rule = turn % 2;
            TdlWorld* world = create_world((TdlIntegrator)rule, 1.0e-3);
            TdlRodDef def = rope(MODELS[m], 11);
            TdlRodSection sections[2];
            if (turn > 1) {
                grow_thin(&def, sections);
            }
            if (m != MASS_SPRING) { // whose step goes by another energy where that is sharp (M.5)
                def.natural_curvature = (TdlVec3){6.0, 3.0, -9.0};
            }
            def.damping = 2.0e-3;
            def.mass_damping = 0.4;
            def.drag = turn > 1 ? 0.0 : 1.0e-3; // that of a cone is not known
            TdlRodLoad loads[2] = {{.at = 0.13, .force = {0.01, -0.03, 0.02}},
                                   {.at = 0.27, .torque = {1.0e-4, 2.0e-4, -1.0e-4}}};
            def.loads = loads;
            def.load_count = m < 3 ? 2 : 1; // a torque of a nodal rod acts in another shape
            def.load_count = turn > 1 ? 0 : def.load_count; // its thin end would whirl
            TdlBodyId rod = add(world, &def);
            double weight = weight_of(world, rod), off = 0.0, tip = 0.0, fast = 0.0;
            for (int i = 0; i < 300; ++i) {
                TdlVec3 before = look_rod_point(world, rod, 0.3);
                REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
                TdlVec3 force = hold_of(world, rod, false);
                TdlVec3 found = reaction_of(world, rod, false).force;
                off = fmax(off, tdl_norm3(tdl_sub3(found, force)));
                TdlRodForce end = force_at(world, rod, 0.3);
                tip = fmax(tip, tdl_norm3(end.force) + tdl_norm3(end.moment) / 0.3);
                fast = fmax(fast, tdl_norm3(tdl_sub3(look_rod_point(world, rod, 0.3), before)));
            }
            printf("  %-17s %-8s %s, tip at %.1f m/s: start off by %.1e of its weight, tip by "
                   "%.1e\n",
                   MODELS[m], rule == 0 ? "euler" : "midpoint", turn > 1 ? "a cone" : "even",
                   fast / 1.0e-3, off / weight, tip / weight);
            CHECK_BELOW(off, 1.0e-11 * weight);
            CHECK_BELOW(tip, 1.0e-15 * weight);
            tdl_world_destroy(world);
        }
    }
}

// A pin gives no moment: summed from the far end, which is free or clamped, none is left. What is
// left of the midpoint rule is of its order.
TEST(no_moment_is_left_at_a_pin) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        for (int turn = 0; turn < 8; ++turn) {
            int which = turn % 4;
            bool held = which == 1, middle = which > 1;
            double dt = which == 3 ? 2.5e-4 : 1.0e-3;
            TdlWorld* world = create_world((TdlIntegrator)middle, dt);
            TdlRodDef def = rope(MODELS[m], 11);
            TdlRodSection sections[2];
            if (turn > 3) {
                grow_thin(&def, sections);
            }
            def.start = TDL_HOLD_PINNED;
            def.end = held ? TDL_HOLD_CLAMPED : TDL_HOLD_FREE;
            def.natural_curvature = (TdlVec3){0.0, m == MASS_SPRING ? 0.0 : 3.0, 0.0};
            // dampers of strains that are vectors of the world brake turning as a whole, too
            def.damping = m == MASS_SPRING || m == CORDE ? 0.0 : 2.0e-3;
            TdlRodLoad load = {.at = 0.13, .force = {0.01, -0.03, 0.02}};
            def.loads = &load;
            def.load_count = middle ? 0 : 1;
            TdlBodyId rod = add(world, &def);
            double whole = weight_of(world, rod) * 0.3, off = 0.0, largest = 0.0, end = 0.0;
            for (int i = 0; i * dt < 0.2; ++i) {
                REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
                off = fmax(off, tdl_norm3(force_at(world, rod, 0.0).moment));
                largest = fmax(largest, tdl_norm3(force_at(world, rod, 0.15).moment));
                end = fmax(end, tdl_norm3(reaction_of(world, rod, true).moment));
            }
            printf("  %-17s %-8s %s %s: %.1e of m g L at the pin, %.1e in the middle, %.1e at the "
                   "end\n",
                   MODELS[m], middle ? "midpoint" : "euler", turn > 3 ? "cone" : "even",
                   held ? "held" : "free", off / whole, largest / whole, end / whole);
            CHECK_BELOW(off, (middle ? 1.0e-2 : 1.0e-9) * whole);
            tdl_world_destroy(world);
        }
    }
}

// --- at rest, against paper ---------------------------------------------------------------------

// Steps that hardly move any more: what is left of motion is far below what is measured.
static void come_to_rest(TdlWorld* world, int steps) {
    for (int i = 0; i < steps; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
}

// A stiff cantilever with its weight and a load across and along at its tip: n and m are the sums
// of the forces beyond s and of their moments, in the shape that it bends to by less than 1e-6.
TEST(a_cantilever_bears_its_weight_and_its_load) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        TdlWorld* world = create_world(TDL_INTEGRATOR_EULER, 1.0e-3);
        TdlRodDef def = rope(MODELS[m], 10);
        def.young = 3.0e15;
        def.damping = 1.0;
        TdlRodLoad load = {.at = 0.3, .force = {0.5, 0.2, -0.3}};
        def.loads = &load;
        def.load_count = 1;
        TdlBodyId rod = add(world, &def);
        CHECK_INT(tdl_world_settle(world, NULL), TDL_STATUS_OK);
        come_to_rest(world, 20);
        double w = weight_of(world, rod) / 0.3, force = 0.0, moment = 0.0;
        TdlRodForce all[21];
        CHECK_INT(tdl_rod_forces(world, rod, 21, NULL, all), TDL_STATUS_OK);
        for (int i = 0; i <= 20; ++i) {
            double s = 0.015 * i, left = 0.3 - s;
            TdlVec3 n = {0.5, 0.2, -0.3 - w * left};
            TdlVec3 at = {0.0, 0.3 * left + 0.5 * w * left * left, 0.2 * left};
            force = fmax(force, tdl_norm3(tdl_sub3(all[i].inner, n)));
            moment = fmax(moment, tdl_norm3(tdl_sub3(all[i].bending, at)));
        }
        TdlRodReaction start = reaction_of(world, rod, false);
        TdlVec3 sum = {0.5 + start.force.x, 0.2 + start.force.y, -0.3 - 0.3 * w + start.force.z};
        printf("  %-17s force off by %.1e N, moment by %.1e N m, reactions less loads %.1e N\n",
               MODELS[m], force, moment, tdl_norm3(sum));
        CHECK_BELOW(tdl_norm3(sum), 1.0e-9);
        CHECK_BELOW(force, 1.0e-5); // of the turning by the load
        CHECK_BELOW(moment, m < 3 ? 1.0e-5 : 0.15 * w * 0.015 * 0.015 + 1.0e-5); // lumped weight
        tdl_world_destroy(world);
    }
}

// A stiff cantilever that grows thin: at each joint the moment of what weighs beyond, of elements
// that weigh what a cone does between their ends, and have their weight in their middles.
TEST(a_tapered_cantilever_bears_its_weight) {
    enum { N = 10 };
    for (int m = 0; m < MODEL_COUNT; ++m) {
        TdlWorld* world = create_world(TDL_INTEGRATOR_EULER, 1.0e-3);
        TdlRodDef def = rope(MODELS[m], N);
        TdlRodSection sections[2];
        grow_thin(&def, sections);
        def.young = 3.0e15;
        def.damping = 1.0;
        TdlBodyId rod = add(world, &def);
        CHECK_INT(tdl_world_settle(world, NULL), TDL_STATUS_OK);
        come_to_rest(world, 20);
        double weight[N], place[N], all = 0.0, first = 0.0, off = 0.0, l = 0.3 / N;
        for (int e = 0; e < N; ++e) {
            double a = 2.0e-3 - 1.5e-3 * e / N, b = 2.0e-3 - 1.5e-3 * (e + 1) / N;
            weight[e] = def.density * PI / 3.0 * (a * a + a * b + b * b) * l * G;
            place[e] = (e + 0.5) * l;
            all += weight[e];
            first += weight[e] * place[e];
        }
        for (int i = 0; i <= N; ++i) {
            double moment = 0.0;
            for (int e = i; e < N; ++e) {
                moment += weight[e] * (place[e] - i * l);
            }
            off = fmax(off, fabs(force_at(world, rod, i * l).bending.y - moment));
        }
        TdlVec3 centre;
        double mass;
        CHECK_INT(tdl_body_centre(world, rod, &centre, &mass), TDL_STATUS_OK);
        TdlRodReaction start = reaction_of(world, rod, false);
        printf("  %-17s moment off by %.1e of %.3e N m, centre by %.1e of the length\n", MODELS[m],
               off, first, fabs(centre.x - first / all) / 0.3);
        // it sags by less than 1e-6 of its length, which moves arms by its square
        CHECK_BELOW(off, 1.0e-11 * first);
        CHECK_NEAR(mass * G, all, 1.0e-12 * all);
        CHECK_NEAR(start.force.z, all, 1.0e-11 * all);
        CHECK_NEAR(centre.x, first / all, 1.0e-11 * 0.3);
        tdl_world_destroy(world);
    }
}

// A soft rope hung by two pins: the horizontal force H is the same everywhere, the vertical one is
// what weighs below, and T = H at the lowest point with the catenary's H. Error and order.
static double catenary_force(double span, double length, double w) {
    double low = 1.0e-6, high = 1.0e3; // 2 a sinh(span / 2a) = length, H = w a
    for (int i = 0; i < 200; ++i) {
        double a = 0.5 * (low + high);
        *(2.0 * a * sinh(0.5 * span / a) > length ? &low : &high) = a;
    }
    return w * low;
}

static double catenary_error(const char* model, int elements, double* sides) {
    TdlWorld* world = create_world(TDL_INTEGRATOR_EULER, 5.0e-3);
    TdlRodDef def = rope(model, elements);
    def.young = 2.0e8;
    def.radius[0] = def.radius[1] = 1.0e-5; // EI/(w L^3) = 2e-5: hardly bends back
    def.start = def.end = TDL_HOLD_PINNED;
    def.mass_damping = 20.0;
    def.curvature = (TdlVec3){0.0, -7.0, 0.0};
    def.clamp.rotation = tdl_rotation_exp((TdlVec3){0.0, 1.05, 0.0});
    TdlBodyId rod = add(world, &def);
    come_to_rest(world, 600);
    TdlVec3 a = look_rod_point(world, rod, 0.0), b = look_rod_point(world, rod, 0.3);
    double weight = weight_of(world, rod);
    double H = catenary_force(tdl_norm3(tdl_sub3(b, a)), 0.3, weight / 0.3), error = 0.0;
    for (int i = 0; i <= 8; ++i) {
        double s = 0.03 + 0.03 * i;
        TdlRodForce f = force_at(world, rod, s);
        double T = hypot(H, weight * (s / 0.3 - 0.5));
        error = fmax(error, fabs(f.inner.x - T) / weight);
    }
    TdlVec3 sum =
        tdl_add3(reaction_of(world, rod, false).force, reaction_of(world, rod, true).force);
    *sides = tdl_norm3(tdl_sub3(sum, (TdlVec3){0.0, 0.0, weight})) / weight;
    tdl_world_destroy(world);
    return error;
}

TEST(a_hung_rope_pulls_as_a_catenary) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        double sides = 0.0, error[3];
        for (int k = 0; k < 3; ++k) {
            error[k] = catenary_error(MODELS[m], 10 << k, &sides);
            CHECK_BELOW(sides, 1.0e-6);
        }
        // order 2 towards what the little bending stiffness makes of it
        double order = log2((error[0] - error[1]) / (error[1] - error[2]));
        printf("  %-17s tension off by %.1e, %.1e, %.1e of the weight (order %.2f); reactions "
               "%.1e\n",
               MODELS[m], error[0], error[1], error[2], order, sides);
        CHECK_BELOW(error[2], 5.0e-4);
        CHECK(m < 3 ? fabs(error[0] - error[2]) < 1.0e-5 : fabs(order - 2.0) < 0.1);
    }
}

// --- contacts -----------------------------------------------------------------------------------

// A rope that is thrown over a cylinder and rubs on it: summed past its contacts from the tip, the
// reaction of the clamp is what changes the momentum, less weight and contacts; and at rest that is
// weight and contacts alone, with the moment that they have about it.
static void lie_over_cylinder(const char* model, int elements) {
    TdlWorld* world = create_world(TDL_INTEGRATOR_EULER, 1.0e-3);
    TdlColliderDef cylinder = tdl_collider_def_default();
    cylinder.shape = TDL_SHAPE_CYLINDER; // about x
    cylinder.radius = 0.03;
    cylinder.pose = (TdlPose){{0.15, 0.0, -0.035}, tdl_rotation_exp((TdlVec3){0.0, 0.0, 0.5 * PI})};
    TdlBodyId collider;
    CHECK_INT(tdl_world_add_collider(world, &cylinder, &collider), TDL_STATUS_OK);
    TdlRodDef def = rope(model, elements);
    def.damping = 5.0e-3;
    def.mass_damping = 20.0;
    TdlBodyId rod = add(world, &def);
    double weight = weight_of(world, rod), off = 0.0, turned = 0.0;
    int touches = 0;
    for (int i = 0; i < 2000; ++i) {
        TdlStepInfo info;
        REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        TdlRodReaction start = reaction_of(world, rod, false);
        if (info.substeps ==
            1) { // the list of contacts is of the whole step, this of its last part
            TdlVec3 hold = hold_of(world, rod, false);
            off = fmax(off, tdl_norm3(tdl_sub3(start.force, hold)));
        }
        touches = info.contact_count > touches ? info.contact_count : touches;
    }
    TdlRodReaction start = reaction_of(world, rod, false);
    TdlVec3 force = start.force, moment = start.moment, centre;
    double mass;
    CHECK_INT(tdl_body_centre(world, rod, &centre, &mass), TDL_STATUS_OK);
    TdlVec3 pull = {0.0, 0.0, -weight};
    force = tdl_add3(force, pull);
    moment = tdl_add3(moment, tdl_cross3(centre, pull));
    int count;
    const TdlContactForce* at = tdl_world_contact_forces(world, &count);
    for (int i = 0; i < count; ++i) { // of a rod on a collider they act on its centreline
        TdlVec3 own = tdl_scale3(-1.0, at[i].force);
        double s = (at[i].element[0] + at[i].u[0]) * 0.3 / elements;
        force = tdl_add3(force, own);
        moment = tdl_add3(moment, tdl_cross3(look_rod_point(world, rod, s), own));
    }
    turned = tdl_norm3(moment) / (0.3 * weight);
    printf("  %-17s %d contacts: start off by %.1e of the weight; at rest by %.1e, its moment by "
           "%.1e of m g L\n",
           model, touches, off / weight, tdl_norm3(force) / weight, turned);
    CHECK(touches > 0);
    // rounds of a nodal rod end with 1e-10 left of its equation, in units of its stiffness
    bool nodal = model[0] != 's';
    CHECK_BELOW(off, (nodal ? 1.0e-6 : 1.0e-10) * weight);
    CHECK_BELOW(tdl_norm3(force), 1.0e-6 * weight);
    CHECK_BELOW(turned, 1.0e-6);
    tdl_world_destroy(world);
}

TEST(sums_pass_contacts) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        lie_over_cylinder(MODELS[m], 15);
    }
}

// A stiff rod on two pins, or between two clamps, with a load in its middle: F L/4 there, and F L/8
// with the opposite sign in the middle and at the ends, whose reactions are F/2 and -+ F L/8.
TEST(bent_at_three_points) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        for (int clamped = 0; clamped < 2; ++clamped) {
            TdlWorld* world = create_world(TDL_INTEGRATOR_EULER, 1.0e-3);
            TdlRodDef def = rope(MODELS[m], 12);
            def.young = 3.0e12;
            def.density = 1.0;
            def.damping = 1.0e-3;
            def.start = def.end = clamped ? TDL_HOLD_CLAMPED : TDL_HOLD_PINNED;
            TdlRodLoad load = {.at = 0.15, .force = {0.0, 0.0, -0.2}};
            def.loads = &load;
            def.load_count = 1;
            TdlBodyId rod = add(world, &def);
            CHECK_INT(tdl_world_settle(world, NULL), TDL_STATUS_OK);
            come_to_rest(world, 200);
            // about the axis of the world: on two pins its own may have spun
            double F = 0.2 + weight_of(world, rod), whole = 0.2 * 0.3;
            double quarter = clamped ? 0.0 : 0.125, end = clamped ? 0.125 : 0.0;
            double off[3] = {fabs(force_at(world, rod, 0.15).moment.y / whole + 0.25 - end),
                             fabs(force_at(world, rod, 0.075).moment.y / whole + quarter), 0.0};
            TdlRodReaction a = reaction_of(world, rod, false), b = reaction_of(world, rod, true);
            off[2] = fmax(fabs(a.moment.y / whole + end), fabs(b.moment.y / whole - end));
            double sides = fabs(a.force.z + b.force.z - F) + fabs(a.force.z - b.force.z);
            printf("  %-17s %-7s moments off by %.1e, %.1e, %.1e of F L; reactions by %.1e of F\n",
                   MODELS[m], clamped ? "clamped" : "pinned", off[0], off[1], off[2], sides / F);
            CHECK_BELOW(fmax(off[0], fmax(off[1], off[2])), 1.0e-4); // of what it sags
            CHECK_BELOW(sides, 1.0e-6 * F);
            tdl_world_destroy(world);
        }
    }
}

// --- what a hand does ---------------------------------------------------------------------------

// A clamp that moves and turns: the work told of it is what the losses call given.
TEST(work_of_a_led_clamp_is_what_is_given) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        TdlHost host = tdl_host_default();
        TdlWorldDef def = tdl_world_def_default();
        def.losses = def.forces = true;
        TdlWorld* world;
        CHECK_INT(tdl_world_create(&host, &def, &world), TDL_STATUS_OK);
        TdlRodDef rope_def = rope(MODELS[m], 10);
        rope_def.damping = 2.0e-3;
        TdlKeyframe keys[2] = {
            {.time = 0.0},
            {.time = 0.5, .position = {0.1, -0.05, 0.2}, .rotation = {0.5, 1.0, 0.3}}};
        rope_def.motion.keys = keys;
        rope_def.motion.key_count = 2;
        TdlBodyId rod = add(world, &rope_def);
        double given = 0.0, most = 0.0;
        for (int i = 0; i < 500; ++i) {
            TdlStepInfo info;
            REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
            given += info.given;
            most = fmax(most, fabs(given));
        }
        double work = reaction_of(world, rod, false).work;
        printf("  %-17s work %.6e J, given %.6e J\n", MODELS[m], work, given);
        CHECK_NEAR(work, given, (m < 3 ? 1.0e-9 : 2.0e-2) * most);
        tdl_world_destroy(world);
    }
}

// --- what is refused ----------------------------------------------------------------------------

TEST(what_cannot_be_told_is_refused) {
    TdlWorld* world = create_world(TDL_INTEGRATOR_EULER, 1.0e-3);
    TdlRodDef def = rope("super-helix", 4);
    TdlBodyId rod = add(world, &def);
    TdlRodForce out[9];
    TdlRodReaction end;
    double outside = 0.31, none = NAN;
    CHECK_NEAR3(force_at(world, rod, 0.1).force, ((TdlVec3){0}), 0.0); // no step yet
    CHECK_INT(tdl_rod_forces(world, rod, 1, &outside, out), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_rod_forces(world, rod, 1, &none, out), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_rod_forces(world, rod, 8, NULL, out), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_rod_forces(world, rod, 9, NULL, out), TDL_STATUS_OK);
    CHECK_INT(tdl_rod_forces(world, (TdlBodyId){9, 9}, 9, NULL, out), TDL_STATUS_BAD_ARGUMENT);
    def.parent = rod;
    def.element_count = 2;
    TdlBodyId branch = add(world, &def);
    REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    CHECK_INT(tdl_rod_forces(world, rod, 9, NULL, out), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_rod_reaction(world, branch, false, &end), TDL_STATUS_BAD_ARGUMENT);
    tdl_world_destroy(world);
    TdlHost host = tdl_host_default();
    TdlWorldDef world_def = tdl_world_def_default();
    CHECK_INT(tdl_world_create(&host, &world_def, &world), TDL_STATUS_OK);
    def.parent = (TdlBodyId){0};
    rod = add(world, &def);
    CHECK_INT(tdl_rod_reaction(world, rod, false, &end), TDL_STATUS_BAD_ARGUMENT);
    tdl_world_destroy(world);
}

// --- the scene -----------------------------------------------------------------------------------

// Over each of two pulleys the tension grows as the capstan says while the wire slides; at rest
// what holds the wire and what touches it carry its weight and that of the ball on its end. The
// same bits after a resume, works included.
enum { PULLEY_STEPS = 200, SLIDING = 50, RESTING = 180, SEEN = 9 };

TEST(a_wire_over_two_pulleys) {
    Stage stage, other;
    REQUIRE(open_stage("pulleys.yaml", NULL, 1, &stage) == TDL_STATUS_OK);
    REQUIRE(open_stage("pulleys.yaml", NULL, 2, &other) == TDL_STATUS_OK);
    TdlBodyId wire = look_body(stage.world, "rod", 0);
    double ball = 4.0 / 3.0 * PI * 1.25e-7 * 19468.4 * G, rise = exp(0.2 * 0.5 * PI);
    double worst = 0.0, sum = 0.0, hook = 0.0, work = 0.0;
    TdlVec3 seen[SEEN], hand = look_rod_point(stage.world, wire, 0.0);
    for (int i = 0; i < PULLEY_STEPS; ++i) {
        REQUIRE(tdl_world_step(stage.world, NULL) == TDL_STATUS_OK);
        for (int k = 0; k < SEEN; ++k) {
            seen[k] = tdl_scene_observe(stage.scene, k, stage.world);
        }
        TdlVec3 now = look_rod_point(stage.world, wire, 0.0);
        work += tdl_dot3(seen[3], tdl_sub3(now, hand));
        hand = now;
        if (i < SLIDING) {
            worst = fmax(worst, fabs(seen[0].x / seen[1].x / rise - 1.0));
            worst = fmax(worst, fabs(seen[1].x / seen[2].x / rise - 1.0));
        }
        if (i >= RESTING) {
            double weight = ball + weight_of(stage.world, wire);
            TdlVec3 out = tdl_sub3(seen[3], tdl_add3(seen[6], seen[7]));
            sum = fmax(sum, fabs(out.z - weight) / weight);
            hook = fmax(hook, fabs(seen[8].z - ball) / ball);
        }
        if (i == 9) {
            size_t size = tdl_world_state_size(stage.world);
            void* bytes = malloc(size);
            tdl_world_save_state(stage.world, bytes);
            CHECK_INT(tdl_world_load_state(other.world, bytes, size), TDL_STATUS_OK);
            free(bytes);
        } else if (i > 9) {
            REQUIRE(tdl_world_step(other.world, NULL) == TDL_STATUS_OK);
        }
    }
    printf("  tension off by %.1e; at rest the sum of the forces by %.1e, the hook by %.1e\n",
           worst, sum, hook);
    CHECK_BELOW(worst, 1.0e-2);
    CHECK_BELOW(sum, 1.0e-6); // what still swings
    CHECK_BELOW(hook, 1.0e-6);
    CHECK_NEAR(seen[5].x, work, 1.0e-3 * work); // by the velocity at the end of each step
    for (int k = 0; k < SEEN; ++k) {
        CHECK_NEAR3(tdl_scene_observe(other.scene, k, other.world), seen[k], 0.0);
    }
    close_stage(&stage);
    close_stage(&other);
}
