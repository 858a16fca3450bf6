// The law of the barrier: what a gap gives, and what sliding does. docs/theory/barrier.md, section
// 1
#ifndef TDL_WORLD_BARRIER_LAW_H
#define TDL_WORLD_BARRIER_LAW_H

// b(g), b'(g) and b''(g): m^2, m and 1.
typedef struct BarrierTerm {
    double value, first, second;
} BarrierTerm;

// The barrier of a gap g < distance; nothing beyond. Below `floor`, in (0, distance), it goes on as
// the parabola that it has there. (P.1), (P.2), (P.9)
BarrierTerm barrier_term(double gap, double distance, double floor);

// Of a sliding speed: f0, m/s, whose derivative is f1; f1 over the speed and f1', s/m. (P.5)
typedef struct CreepTerm {
    double potential, f1, over_speed, first;
} CreepTerm;
CreepTerm creep_term(double speed, double creep);

#endif
