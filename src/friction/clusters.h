// A few contacts that push against each other in a way that hardly moves the bodies, solved as one
// in every sweep. friction.md section 4.9
//
// Two hairs that lie along each other and cross two others that do make a ring of four contacts: W
// is nearly singular along (+, -, +, -). Sweeps that take contacts one by one creep along it, and
// a full step goes so far that contacts open which should not. Seen alone such a ring is a small
// problem.
#ifndef TDL_FRICTION_CLUSTERS_H
#define TDL_FRICTION_CLUSTERS_H

#include "friction/run.h"

// Contacts of a cluster at most: rings have four or five, and some hang together.
enum { CLUSTER_MOST = 24 };

typedef struct Clusters {
    int count;
    int* start;  // [count + 1]
    int* member; // [start[count]] contacts, ascending in a cluster; each is in one at most
    System* own; // [count] the problem of each alone; its b is set in every solve
} Clusters;

// What a step does at a contact: how far its impulse goes, and whether out of what the law allows.
typedef struct Swing {
    double far, from; // |change|, and the impulse before
    bool out;
} Swing;

// Those around contacts that a step takes out of their cones: what shares a body with them and
// swings about as far. The rows of W are there. Memory comes from the run's arena.
TdlStatus clusters_find(Clusters* out, Run* run, const Swing* swing);

// Solves a cluster: u its velocities, r its impulses, which are replaced.
void clusters_solve(const Clusters* clusters, int index, Run* run, const double* u, double* r);

#endif
