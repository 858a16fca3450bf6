// Rods whose starts ride on what a script or a program moves.
//
// The start of such a rod is led like one with a motion of its own, to where its carrier has it at
// the end of a step or a part of one: from the carrier's pose there alone, so that a run that is
// resumed has the same bits, and nothing is summed up that could drift.
#include "base/log.h"
#include "body/clearance.h"
#include "rod/rod_body.h"

#include <stdio.h>

// Within so many radii of its start a rod does not touch what it grows from, unless told: a hair
// that leaves it at 3 degrees is clear of it there. Of a thick rod it is this share of its length,
// so that no more than a ten thousandth of what its tip can do is left out, but at least so many
// radii, where its surface is.
static const double CLEAR_RADII = 20.0;
static const double CLEAR_SHARE = 0.05;
static const double CLEAR_LEAST = 2.0;

TdlRodAttach tdl_rod_attach_default(void) {
    return (TdlRodAttach){.clear = -1.0};
}

TdlPose rod_ride_pose(const RodBody* rb, double now, double end) {
    return rb->carrier->kind->carry(rb->carrier, &rb->anchor, now, end);
}

void rod_ride_end(RodBody* rb) {
    if (rb->carrier != NULL) {
        --((Body*)(uintptr_t)rb->carrier)->riders;
    }
    rb->carrier = NULL;
}

// What is kept clear: about where the start is.
static bool find_start(const void* owner, TdlVec3* out) {
    *out = ((const RodBody*)owner)->rod->base.now.position;
    return true;
}

static double clear_length(const Rod* rod) {
    double radius = fmax(rod->radius[0], rod->radius[1]);
    return fmax(CLEAR_LEAST * radius, fmin(CLEAR_RADII * radius, CLEAR_SHARE * rod_length(rod)));
}

int rod_held_ends(const Body* body, ClearBall out[2]) {
    const Rod* rod = rod_of(body);
    int count = 0;
    if (rod->start_hold != TDL_HOLD_FREE && rod->parent == NULL) {
        out[count++] = (ClearBall){rod->base.now.position, clear_length(rod)};
    }
    if (rod->end_hold != TDL_HOLD_FREE) {
        out[count++] = (ClearBall){rod->end.now.position, clear_length(rod)};
    }
    return count;
}

static const char* find_fault(const RodBody* rb, const TdlRodAttach* def) {
    if (rb->rod->start_hold == TDL_HOLD_FREE) {
        return "its start is free";
    }
    if (rb->rod->parent != NULL || motion_moves(&rb->motion)) {
        return "its start is moved by a parent or a motion";
    }
    if (rb->carrier != NULL) {
        return "its start rides already";
    }
    return isfinite(def->clear) ? NULL : "the length that is clear must be finite";
}

static TdlStatus check_carrier(const TdlHost* host, const Body* carrier) {
    char name[80];
    snprintf(name, sizeof name, "%.32s '%.32s'", carrier->kind->name,
             carrier->name == NULL ? "" : carrier->name);
    if (carrier->system->dof_count > 0) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "attach: %s is moved by forces: use a joint",
                        name);
    }
    return carrier->kind->carry != NULL
               ? TDL_STATUS_OK
               : tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "attach: nothing rides on %s", name);
}

// Where the carrier has the start differs by roundings from where it was placed.
static void put_start(RodBody* rb, double now) {
    Rod* rod = rb->rod;
    rod->base.now = rod->base.before = rod_ride_pose(rb, now, now);
    rod->model->refresh(rod);
}

static TdlStatus detach(TdlWorld* world, RodBody* rb) {
    if (rb->carrier != NULL) {
        rod_ride_end(rb);
        world_end_clearances(world, rb);
        rb->placed = rb->rod->base.now;
    }
    return TDL_STATUS_OK;
}

TdlStatus tdl_rod_attach(TdlWorld* world, TdlBodyId id, const TdlRodAttach* def) {
    RodBody* rb = (RodBody*)world_find_body(world, id, &ROD_BODY);
    if (rb != NULL && def == NULL) {
        return detach(world, rb);
    }
    Body* carrier = rb == NULL ? NULL : world_find_body(world, def->to, NULL);
    if (carrier == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    const TdlHost* host = world_host(world);
    const char* fault = find_fault(rb, def);
    if (fault != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "attach: %s", fault);
    }
    TdlStatus status = check_carrier(host, carrier);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    Rod* rod = rb->rod;
    double clear = def->clear >= 0.0 ? def->clear : clear_length(rod);
    if (clear > 0.0) {
        Clearance clearance = {{&rb->head, carrier}, clear, find_start, rb};
        status = world_keep_clear(world, &clearance);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    carrier->kind->hold_fast(carrier, rod->base.now, world_now(world), &rb->anchor);
    rb->carrier = carrier;
    rb->lead[TDL_LED_START] = (Lead){0};
    ++carrier->riders;
    put_start(rb, world_now(world));
    world_count_energy(world, &rb->head);
    return TDL_STATUS_OK;
}
