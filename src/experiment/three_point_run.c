// The three-point bending test done on a world.
//
// The rod is clamped at the origin along x and bends in the x-z plane, without gravity; the disc is
// a cylinder along y. It is to be quasi-static, and without damping, which would add a force of its
// own: so the disc gains speed gently, and is slow against the rod's vibrations. The force of a
// step is found with the contact normal of the step's start, so the disc may also not rise far in
// one step: with S0's speed and step it rises by a hundred-thousandth of the span, and longer steps
// go with a slower disc.
#include "base/log.h"
#include "experiment/three_point.h"

#include <string.h>

static const double SPEED = 5.0e-3;          // m/s, S0 Table 1
static const double RISE_A_STEP = 1.0e-5;    // of the span, at most
static const double START_GAP = 1.0e-5;      // of the span: the disc starts so far below the rod
static const double RAMP = 1.0e-2;           // of the span, over which the disc gains its speed
static const double JUDGED[2] = {0.02, 0.3}; // of the span

enum { RAMP_KEYS = 64 };

TdlThreePointRunDef tdl_three_point_run_def_default(void) {
    return (TdlThreePointRunDef){
        .setup = tdl_three_point_def_default(),
        .model = "super-helix",
        .element_count = 20,
        .segments = 5,
        .length = 0.05,
        .poisson = 0.33,
        .density = 6450.0,
        .step = 1.0e-4,
        .depth = 0.015,
        .point_count = 1000,
        .tolerance = 1.0e-10,
        .barrier = {.distance = 5.0e-5, .stiffness = 100.0, .creep = 1.0e-3},
    };
}

static double speed(const TdlThreePointRunDef* def) {
    double most = RISE_A_STEP * def->setup.span / def->step;
    return def->speed > 0.0 ? def->speed : fmin(SPEED, most);
}

static TdlStatus check(const TdlHost* host, const TdlThreePointRunDef* def) {
    TdlThreePoint last;
    TdlStatus status = tdl_three_point_solve(host, &def->setup, def->depth, &last);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    const char* fault = NULL;
    if (!(def->depth > 0.0)) {
        fault = "depth must be positive";
    } else if (!(def->setup.rod_radius > 0.0 && def->setup.support_radius > 0.0)) {
        fault = "rod and disc need a radius to touch";
    } else if (!(isfinite(def->step) && def->step > 0.0)) {
        fault = "step must be positive";
    } else if (!(isfinite(def->speed) && def->speed >= 0.0)) {
        fault = "speed must not be negative";
    } else if (def->response == TDL_RESPONSE_BARRIER &&
               !(def->barrier.distance > 0.0 && def->barrier.stiffness > 0.0)) {
        fault = "the barrier needs a distance and a stiffness";
    } else if (def->response == TDL_RESPONSE_BARRIER && def->setup.mu > 0.0) {
        fault = "the exact force is known of the barrier without friction";
    } else if (def->point_count < 1) {
        fault = "at least one point is wanted";
    } else if (speed(def) * def->step * def->point_count > def->depth) {
        fault = "the disc rises further in a step than from one point to the next";
    }
    if (fault != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "three-point: %s", fault);
    }
    if (!(def->length > last.arc_length)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "three-point: half the rod, %g m, slips off its disc, which it touches at "
                        "%g m in the end",
                        def->length, last.arc_length);
    }
    return TDL_STATUS_OK;
}

// The disc's rise: from rest, evenly faster over the ramp, then evenly to beyond the last
// indentation.
static void script(const TdlThreePointRunDef* def, TdlKeyframe keys[RAMP_KEYS + 2]) {
    double v = speed(def), ramp = RAMP * def->setup.span, whole = 2.0 * ramp / v;
    for (int i = 0; i <= RAMP_KEYS; ++i) {
        double share = (double)i / RAMP_KEYS;
        keys[i] = (TdlKeyframe){.time = share * whole, .position.z = share * share * ramp};
    }
    double more = 2.0 * def->depth + v * def->step;
    keys[RAMP_KEYS + 1] = (TdlKeyframe){.time = whole + more / v, .position.z = ramp + more};
}

// How far below the rod the disc starts, m: where no barrier is felt yet.
static double start_gap(const TdlThreePointRunDef* def) {
    double gap = START_GAP * def->setup.span;
    bool barrier = def->response == TDL_RESPONSE_BARRIER;
    return barrier ? gap + def->barrier.distance : gap;
}

static TdlStatus build(const TdlHost* host, const TdlThreePointRunDef* def, TdlWorld** world) {
    const TdlThreePointDef* setup = &def->setup;
    double r = setup->rod_radius;
    TdlWorldDef world_def = tdl_world_def_default();
    world_def.gravity = (TdlVec3){0};
    world_def.step = def->step;
    world_def.contacts.law.mu = setup->mu;
    world_def.contacts.geometry = def->geometry;
    world_def.contacts.segments = def->segments;
    world_def.contacts.self = false;
    world_def.contacts.tolerance = def->tolerance;
    world_def.contacts.response = def->response;
    world_def.contacts.barrier = def->barrier;
    TdlStatus status = tdl_world_create(host, &world_def, world);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlRodDef rod_def = tdl_rod_def_default();
    rod_def.model = def->model;
    rod_def.length = def->length;
    rod_def.radius[0] = rod_def.radius[1] = r;
    rod_def.element_count = def->element_count;
    rod_def.young = setup->bending / (0.25 * M_PI * r * r * r * r);
    rod_def.poisson = def->poisson;
    rod_def.density = def->density;
    // bent up: about -y
    rod_def.natural_curvature = rod_def.curvature = (TdlVec3){0.0, -setup->natural_curvature, 0.0};
    TdlBodyId rod;
    status = tdl_world_add_rod(*world, &rod_def, &rod);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlKeyframe keys[RAMP_KEYS + 2];
    script(def, keys);
    TdlColliderDef disc_def = tdl_collider_def_default();
    TdlBodyId disc;
    disc_def.shape = TDL_SHAPE_CYLINDER;
    disc_def.radius = setup->support_radius;
    disc_def.pose.position =
        (TdlVec3){0.5 * setup->span, 0.0, tdl_three_point_first_height(setup) - start_gap(def)};
    disc_def.pose.rotation = (TdlMat3){{0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}};
    disc_def.motion = (TdlMotionDef){
        .keys = keys, .key_count = RAMP_KEYS + 2, .interpolation = TDL_INTERPOLATION_LINEAR};
    return tdl_world_add_collider(*world, &disc_def, &disc);
}

// What the last step's contacts say. Where there are two, at a joint, the means by force.
static TdlThreePointSample measure(const TdlWorld* world, const TdlThreePointRunDef* def,
                                   double indentation, double error) {
    TdlThreePointSample sample = {.indentation = indentation, .error = error, .gap = INFINITY};
    TdlVec3 normal = {0};
    double weight = 0.0, arc = 0.0;
    int count;
    const TdlContactForce* contacts = tdl_world_contact_forces(world, &count);
    for (int i = 0; i < count; ++i) {
        const TdlContactForce* c = &contacts[i];
        double push = tdl_dot3(c->force, c->normal);
        sample.gap = fmin(sample.gap, c->gap);
        if (push > 0.0) {
            ++sample.contact_count;
            sample.force -= 2.0 * c->force.z;
            normal = tdl_axpy3(normal, push, c->normal);
            arc += push * (c->element[0] + c->u[0]) * def->length / def->element_count;
            weight += push;
        }
    }
    sample.angle = atan2(normal.x, -normal.z);
    if (sample.contact_count == 0) {
        sample.angle = NAN;
    }
    sample.arc_length = arc / weight; // NaN without a contact
    return sample;
}

// What the force is to be.
static TdlStatus compare(const TdlHost* host, const TdlThreePointRunDef* def, double indentation,
                         TdlThreePointSample* sample) {
    TdlStatus status = tdl_three_point_solve(host, &def->setup, indentation, &sample->plain);
    sample->exact = sample->plain;
    if (status != TDL_STATUS_OK || def->response != TDL_RESPONSE_BARRIER) {
        return status;
    }
    double gap;
    return tdl_three_point_solve_barrier(host, &def->setup, &def->barrier, indentation,
                                         &sample->exact, &gap);
}

TdlStatus tdl_three_point_run(const TdlHost* host, const TdlThreePointRunDef* def,
                              TdlThreePointProgressFn progress, void* user,
                              TdlThreePointSample* samples) {
    TdlStatus status = check(host, def);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlWorld* world = NULL;
    status = build(host, def, &world);
    double start = tdl_three_point_first_height(&def->setup);
    for (int done = 0; done < def->point_count && status == TDL_STATUS_OK;) {
        TdlStepInfo info;
        status = tdl_world_step(world, &info);
        TdlPose disc = {0};
        tdl_collider_pose(world, tdl_world_body(world, "collider", 0), &disc);
        double indentation = disc.position.z - start;
        double wanted = def->depth * (done + 1) / def->point_count;
        if (status != TDL_STATUS_OK || indentation < wanted * (1.0 - 1.0e-12)) {
            continue;
        }
        samples[done] = measure(world, def, indentation, info.error);
        status = compare(host, def, indentation, &samples[done]);
        ++done;
        if (status == TDL_STATUS_OK && progress != NULL &&
            !progress(user, done, def->point_count)) {
            status = TDL_STATUS_STOPPED;
        }
    }
    tdl_world_destroy(world);
    return status;
}

// How the exact force grows with the friction angle, by a difference to one side.
static double tilt_effect(const TdlThreePointDef* setup, const TdlThreePoint* exact) {
    const double step = 1.0e-4;
    const TdlHost silent = {0};
    TdlThreePointDef tilted = *setup;
    TdlThreePoint at[2];
    for (int i = 0; i < 2; ++i) {
        tilted.mu = tan(atan(setup->mu) + step * (i + 1));
        if (tdl_three_point_solve(&silent, &tilted, exact->indentation, &at[i]) != TDL_STATUS_OK) {
            return NAN;
        }
    }
    double first = at[0].force - exact->force, second = at[1].force - exact->force;
    return (2.0 * first - 0.5 * second) / step;
}

// The jumps and slopes of the force on chords while the contact moves by `slid`, N. (T.15)
static double chord_jump(const TdlThreePointDef* setup, const TdlThreePoint* exact, double slid) {
    return 2.0 * setup->natural_curvature * fabs(tilt_effect(setup, exact) * slid);
}

// Takes up one sample after another, the last one first in `before`. Sums are in newtons.
static void add_change(const TdlThreePointRunDef* def, const TdlThreePointSample* before,
                       const TdlThreePointSample* sample, double* slope_before,
                       TdlThreePointVerdict* verdict) {
    const TdlThreePoint *from = &before->exact, *to = &sample->exact;
    double change = (sample->force - to->force) - (before->force - from->force);
    verdict->jump += fabs(change);
    verdict->ratio_jump += fabs(sample->force / to->force - before->force / from->force);
    verdict->chord_jump += chord_jump(&def->setup, to, to->arc_length - from->arc_length);

    // points are whole steps and so not quite evenly apart
    double spacing = def->depth / def->point_count;
    double slope = change / (sample->indentation - before->indentation);
    verdict->kink += isnan(*slope_before) ? 0.0 : spacing * fabs(slope - *slope_before);
    *slope_before = slope;
}

TdlThreePointVerdict tdl_three_point_judge(const TdlThreePointRunDef* def,
                                           const TdlThreePointSample* samples) {
    TdlThreePointVerdict verdict = {.at = NAN, .least_gap = INFINITY};
    double span = def->setup.span, largest = 0.0, slope_before = NAN;
    const TdlThreePointSample* before = NULL;
    for (int i = 0; i < def->point_count; ++i) {
        largest = fmax(largest, samples[i].exact.force);
    }
    for (int i = 0; i < def->point_count; ++i) {
        const TdlThreePointSample* sample = &samples[i];
        double depth = sample->indentation / span, exact = sample->exact.force;
        if (depth < JUDGED[0] * (1.0 - 1.0e-9) || depth > JUDGED[1] * (1.0 + 1.0e-4)) {
            continue;
        }
        double least = fmax(exact, 0.1 * largest);
        double deviation = fabs(sample->force - exact) / least;
        verdict.bias = fmax(verdict.bias, fabs(sample->plain.force - exact) / least);
        verdict.least_gap = fmin(verdict.least_gap, sample->gap);
        if (verdict.count == 0 || deviation > verdict.deviation) {
            verdict.deviation = deviation;
            verdict.at = depth;
        }
        if (before != NULL) {
            add_change(def, before, sample, &slope_before, &verdict);
        }
        verdict.lost_contacts += sample->contact_count == 0;
        before = sample;
        ++verdict.count;
    }
    double unit = span * span / (48.0 * def->setup.bending);
    verdict.jump *= unit;
    verdict.kink *= unit;
    verdict.chord_jump *= unit;
    return verdict;
}
