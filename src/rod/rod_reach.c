// Both ends of a rod can be held at most as far apart as it is long, and at that distance the rod
// is the straight line between them: a clamp must look along it. The distance is looked at at every
// keyframe and between; where it first is too much is found by halving.
#include "rod/rod_reach.h"

#include "base/log.h"

#include <stdio.h>

// Relative: the places of two scripted motions are known to some roundings.
static const double ROUNDED = 1.0e-9;

// Strain up to which a model that stretches is taken to be meant so.
static const double STRETCH = 0.01;

// Slack that rounding makes, as for statics; and the sine between a clamp and the line of the ends
// that is more than the bend of a rod with so little slack, 2e-6.
static const double TAUT = 2.0e-13;
static const double ACROSS = 1.0e-5;

// Two motions whose keyframes differ are looked at so often from one keyframe to the next; halvings
// until the time is known to rounding.
enum { SAMPLES = 64, HALVINGS = 60 };

static TdlPose base_at(const RodHolds* h, double time) {
    return !motion_moves(h->motion) ? h->placed : motion_pose(h->motion, h->placed, time);
}

static TdlPose end_at(const RodHolds* h, double time) {
    return !motion_moves(h->end_motion) ? h->end_placed
                                        : motion_pose(h->end_motion, h->end_placed, time);
}

static TdlRodReach look(const Rod* rod, const RodHolds* h, double time) {
    TdlPose base = base_at(h, time), end = end_at(h, time);
    TdlVec3 chord = tdl_sub3(end.position, base.position);
    double length = rod_length(rod), distance = tdl_norm3(chord);
    bool firm = rod->model->reduced;
    TdlRodReach out = {.ok = true,
                       .time = time,
                       .distance = distance,
                       .length = length,
                       .stretch = firm ? 0.0 : STRETCH};
    out.ok = distance <= length * (1.0 + ROUNDED + out.stretch);
    if (firm && out.ok && distance >= (1.0 - TAUT) * length) {
        TdlVec3 line = tdl_scale3(1.0 / distance, chord);
        TdlVec3 start = tdl_sub3(base.rotation.cx, line), far = tdl_sub3(end.rotation.cx, line);
        out.across = (rod->start_hold == TDL_HOLD_CLAMPED && tdl_norm3(start) > ACROSS) ||
                     (rod->end_hold == TDL_HOLD_CLAMPED && tdl_norm3(far) > ACROSS);
        out.ok = !out.across;
    }
    return out;
}

// The first time after `good` with the same fault as `bad`.
static TdlRodReach narrow(const Rod* rod, const RodHolds* h, double good, TdlRodReach bad) {
    for (int i = 0; i < HALVINGS; ++i) {
        TdlRodReach middle = look(rod, h, good + 0.5 * (bad.time - good));
        if (!middle.ok && middle.across == bad.across) {
            bad = middle;
        } else {
            good = middle.time;
        }
    }
    return bad;
}

// The next keyframe of either after a time; false: none.
static bool next_key(const RodHolds* h, double after, double* out) {
    const Motion* motions[] = {h->motion, h->end_motion};
    bool found = false;
    for (int m = 0; m < 2; ++m) {
        for (int i = 0; motions[m]->keys != NULL && i < motions[m]->key_count; ++i) {
            double time = motions[m]->keys[i].time;
            if (time > after && (!found || time < *out)) {
                *out = time;
                found = true;
            }
        }
    }
    return found;
}

TdlRodReach rod_reach(const Rod* rod, const RodHolds* holds) {
    TdlRodReach reach = {.ok = true, .time = holds->now, .length = rod_length(rod)};
    if (rod->start_hold == TDL_HOLD_FREE || rod->end_hold == TDL_HOLD_FREE) {
        return reach;
    }
    double from = holds->now, key = from;
    reach = look(rod, holds, from);
    while (reach.ok && next_key(holds, from, &key)) {
        for (int i = 1; reach.ok && i <= SAMPLES; ++i) {
            double last = from + (key - from) * (i - 1) / SAMPLES;
            double time = i == SAMPLES ? key : from + (key - from) * i / SAMPLES;
            reach = look(rod, holds, time);
            reach = reach.ok ? reach : narrow(rod, holds, last, reach);
        }
        from = key;
    }
    return reach;
}

const char* rod_reach_text(const TdlRodReach* reach, char out[ROD_REACH_TEXT]) {
    out[0] = '\0';
    if (reach->across) {
        snprintf(out, ROD_REACH_TEXT,
                 "at %.6g s its ends are held as far apart as it is long, %.9g m, and a clamp does "
                 "not look along their line",
                 reach->time, reach->length);
    } else if (!reach->ok) {
        snprintf(out, ROD_REACH_TEXT,
                 "from %.6g s on its ends are held more than %.9g m apart, and it is %.9g m long%s",
                 reach->time, reach->distance, reach->length,
                 reach->stretch > 0.0 ? " and may stretch by 1 %" : "");
    }
    return out;
}

TdlStatus tdl_rod_def_reach(const TdlHost* host, const TdlRodDef* def, double now,
                            TdlRodReach* out) {
    Motion motion, end_motion = {0};
    Rod* rod = NULL;
    *out = (TdlRodReach){.ok = true};
    TdlStatus status = motion_create(host, &def->motion, &motion);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = motion_create(host, &def->end_motion, &end_motion);
    if (status == TDL_STATUS_OK) {
        TdlRodDef moved = *def;
        moved.clamp = motion_pose(&motion, def->clamp, now);
        status = rod_create(host, &moved, &rod);
    }
    if (status == TDL_STATUS_OK) {
        RodHolds holds = {&motion, &end_motion, def->clamp, rod_end(rod), now};
        *out = rod_reach(rod, &holds);
        rod_reach_text(out, out->text);
        rod_destroy(host, rod);
    }
    motion_destroy(host, &motion);
    motion_destroy(host, &end_motion);
    return status;
}
