// The law of the barrier.
#include "world/barrier_law.h"

#include <math.h>

// (P.1), (P.2)
static BarrierTerm term_above(double gap, double distance) {
    double away = gap - distance, share = away / gap;
    // neither end of the range may lose digits
    double log_share = gap < 0.5 * distance ? log(gap / distance) : log1p(away / distance);
    return (BarrierTerm){
        .value = -away * away * log_share,
        .first = -2.0 * away * log_share - away * share,
        .second = -2.0 * log_share - 4.0 * share + share * share,
    };
}

BarrierTerm barrier_term(double gap, double distance, double floor) {
    if (gap >= distance) {
        return (BarrierTerm){0};
    }
    if (gap >= floor) {
        return term_above(gap, distance);
    }
    // the parabola of the floor (P.9)
    BarrierTerm at = term_above(floor, distance);
    double below = gap - floor;
    return (BarrierTerm){
        .value = at.value + below * (at.first + 0.5 * below * at.second),
        .first = at.first + below * at.second,
        .second = at.second,
    };
}

CreepTerm creep_term(double speed, double creep) {
    double y = speed / creep;
    if (y >= 1.0) {
        return (CreepTerm){creep * (y - 1.0 / 3.0), 1.0, 1.0 / speed, 0.0};
    }
    return (CreepTerm){
        .potential = creep * y * y * (1.0 - y / 3.0),
        .f1 = y * (2.0 - y),
        .over_speed = (2.0 - y) / creep,
        .first = 2.0 * (1.0 - y) / creep,
    };
}
