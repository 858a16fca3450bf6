// Things that a program leads: a collider, an end of a rod, what holds a cloth. It says where they
// are to be by the end of the coming step, or how fast they go. Part of the state: numbers only.
#ifndef TDL_BODY_LEAD_H
#define TDL_BODY_LEAD_H

#include "body/motion.h"

typedef enum LeadMode {
    LEAD_NONE = 0, // it goes as its motion says
    LEAD_TO,       // to a pose, where it then stays
    LEAD_WITH,     // with a velocity, until told otherwise
} LeadMode;

// All zero: nobody leads.
typedef struct Lead {
    double mode;    // a LeadMode, as a number beside the others
    double arrival; // s, when it is there; LEAD_TO
    TdlPose target;
    Twist rate; // LEAD_WITH, at its position
} Lead;

enum { LEAD_DOUBLES = sizeof(Lead) / sizeof(double) };

static inline bool lead_is_on(const Lead* lead) {
    return lead->mode != LEAD_NONE;
}

// Where what is at `now` at the start of a step, or a part of one, is at its end: on the way to its
// pose the position goes on a straight line and the rotation about one axis, both evenly.
TdlPose lead_pose(const Lead* lead, TdlPose now, double start, double end);

// As twist_between, and exactly 0 of what does not turn.
Twist lead_twist(TdlPose from, TdlPose to, double dt);

#endif
