// What the ways to a static equilibrium share: the load that they raise, and what they reach.
#ifndef TDL_ROD_STATICS_H
#define TDL_ROD_STATICS_H

#include "base/stop.h"
#include "rod/rod.h"

// Gravity and the point forces of a tree, times a factor.
typedef struct Loading {
    Rod* root;
    TdlVec3 gravity; // the whole
    TdlVec3* force;  // the whole forces, of all rods in the order of tree_next
    double factor;
    Stop stop;    // asked once an iteration, whatever the way
    bool stopped; // said so; what was reached is nothing
} Loading;

// Whether the way is to be left. What was said once stays said.
bool loading_stopped(Loading* loading);

void loading_set(Loading* loading, double factor);
TdlVec3 loading_gravity(const Loading* loading); // times the factor

typedef struct Equilibrium {
    double force;     // N m, largest generalised force that is left
    double noise;     // N m, force that rounding makes
    double lowest;    // smallest eigenvalue, a pure number that is negative at a saddle
    double tolerance; // what an eigenvalue may be below zero by rounding
} Equilibrium;

// A way to equilibrium. Both work on a tree at rest, with memory of as many doubles as it asks for.
struct RodStatics {
    size_t (*memory_count)(const Rod* root);

    // Brings the rods to a stable equilibrium under the present load, downhill from where they are.
    // Only the force is told where the load is not the whole one.
    Equilibrium (*relax)(Loading* loading, double* memory);

    // How far (rad) what is missing of the load would turn some cross-section, at most, if the rods
    // answered to it as they do to a little more.
    double (*turning)(Loading* loading, double* memory);
};

extern const RodStatics DENSE_STATICS;
extern const RodStatics NODAL_STATICS;

// What counts as a force of one, N m: weight times length, or without gravity a stiffness. And the
// smallest bending or twisting stiffness of an element, N m.
double statics_force_scale(const Rod* root, TdlVec3 gravity);
double statics_softest(const Rod* root);

// The rod after this one in the tree below `root`, or null.
Rod* tree_next(const Rod* root, const Rod* rod);

#endif
