// What the files of contacts share: what detection sees, the candidates, the memory between
// attempts, the forces.
#ifndef TDL_WORLD_CONTACT_DATA_H
#define TDL_WORLD_CONTACT_DATA_H

#include "world/response.h"
#include "world/seen.h"
#include "world/world.h"

// The part of an overlap that may be left: it counts as new when a step leaves more of it than
// that.
static const double RECOVERY = 0.85;

// Overlap, in radii, that is left alone.
static const double SLOP = 2.0e-3;

// What a step loses of a gap is foreseen in the next up to so many radii. (W.9)
static const double LOST_MOST = 0.25;

// Sine of the angle between curves that lie side by side.
static const double SIDE_BY_SIDE = 0.1;

// What is kept of a contact from the step that found it to the one that answers it.
typedef struct Candidate {
    ContactSite site;
    TdlVec3 force;  // N on the second body in the last step; the first guess
    double closing; // m/s at which the gap was closing when it was found
    double radius;  // m, the smaller of the two
    double sunk;    // m by which it overlapped anew in the attempt before (W.8); else 0
    double loss;    // m that the last step lost of its gap and a whole one may lose again (W.9)
    TdlVec3 slid;   // m by which the second body slid although it stuck, to be taken back (W.14)
    bool held;      // so much is asked for in this attempt, less than nothing too
    bool sticks;    // in the last solve
    bool fresh;     // it is new, or as deep as before the step
    bool missed;    // it came close in a step that was undone: it takes part whatever its gap
    bool jointed;   // of two bodies of one system, which grow out of each other, or near a place
                    // where bodies are kept clear of each other (clearance.h): they do not touch
    bool beside;    // near such a place, and overlapping: no state, found anew with every shape
    bool apart;     // of two bodies that were placed in each other: they are parted slowly (W.11)
    bool spare;     // its neighbours hold the body there: it does not take part (W.26)
    bool passed_on; // at a joint of a body's curves, beyond which the gap shrinks: the next has it
} Candidate;

typedef struct Candidates {
    Candidate* at;
    int count, capacity;
    double margin; // m, of the search that found them
    bool ready;    // the bodies were not changed from outside since
} Candidates;

// What an attempt at a step leaves for the next one.
typedef struct Retry {
    CrossingList missed; // what came close in a step that was undone
    ContactSite* sunk;   // places that overlap anew at the end of a step that is done again
    int sunk_count, sunk_capacity;
    double* asked; // [candidates] m by which the last attempt was to open each beyond contact
    int asked_capacity;
    TdlVec3* force; // [force_count] N, of the candidates in the last attempt
    int force_count, force_capacity;
    double* velocity; // [dof_count] of all bodies in it, one after the other
    int dof_count, dof_capacity;
} Retry;

typedef struct Forces {
    TdlContactForce* at;
    int count, capacity;
    int kept; // of the parts of the step that stay
} Forces;

struct Contacts {
    TdlHost host;
    Arena arena; // scratch of a step
    Seen seen;
    Candidates found;
    Retry retry;
    Forces forces;
    const Response* response;
    void* responder; // of the response
    bool bed;        // something fills space: there is always something to answer
    bool told;       // of the overlaps before a step, somebody asked for them
};

// Whether two candidates are between the same bodies.
static inline bool contacts_same_bodies(const Candidate* a, const Candidate* b) {
    const int *x = a->site.contact.body, *y = b->site.contact.body;
    return x[0] == y[0] && x[1] == y[1];
}

// Marks those as spare that are not needed to hold a body off an obstacle on which it lies level.
TdlStatus contacts_mark_spare(Contacts* contacts);

// Whether a candidate takes part in a step of dt.
bool contacts_take_part(const Candidate* candidate, double dt);

// Those that came close in a step that was undone.
void contacts_mark_missed(Contacts* contacts);

#endif
