// What a world is made of; for the files of this room, none of which knows a kind of body by name.
#ifndef TDL_WORLD_WORLD_H
#define TDL_WORLD_WORLD_H

#include "base/threads.h"
#include "body/body.h"
#include "tendril/world.h"
#include "world/clearance.h"
#include "world/contacts.h"
#include "world/joint.h"

// A saved state of the bodies and contacts.
typedef struct SavedState {
    char* bytes;
    size_t size, capacity;
} SavedState;

// What an id stands for.
typedef struct BodySlot {
    Body* body; // null: free
    int generation;
} BodySlot;

// The bodies of one kind, in their order.
typedef struct KindList {
    const BodyKind* kind;
    Body** body;
    int count, capacity;
} KindList;

// Those who look on; null: nobody.
typedef struct Watchers {
    TdlContactProblemFn problem;
    void* problem_user;
    TdlDetectionFn detection;
    void* detection_user;
    TdlCrossingFn crossing;
    void* crossing_user;
    TdlStopFn stop;
    void* stop_user;
} Watchers;

struct TdlWorld {
    TdlHost host;
    TdlWorldDef def;
    Pool* pool;
    long step_count;
    int level;   // how often the next step is halved from the start
    Body** body; // [body_count] in the order in which they were added
    int body_count, body_capacity;
    KindList* kind;
    int kind_count, kind_capacity;
    BodySlot* slot; // by id
    int slot_count, slot_capacity;
    TdlContactLaw* laws; // [TDL_MATERIAL_LIMIT^2]
    Contacts* contacts;  // null: nothing touches
    ClearanceList clearances;
    Joints joints;
    SavedState step_start, part_start;
    double* free_velocity; // of all bodies, as predicted; for rounds
    int free_capacity;
    Watchers watch;
};

static inline TdlContactLaw contact_law(const TdlWorld* world, const Body* a, const Body* b) {
    return world->laws[a->material * TDL_MATERIAL_LIMIT + b->material];
}

// Coordinates of all bodies.
static inline int world_dof_count(const TdlWorld* world) {
    int count = 0;
    for (int i = 0; i < world->body_count; ++i) {
        count += world->body[i]->dof_count;
    }
    return count;
}

static inline bool world_asked_to_stop(const TdlWorld* world) {
    return world->watch.stop != NULL && world->watch.stop(world->watch.stop_user);
}

// Says where the coordinates of every body are among those of all (Body.dof_at): one after the
// other, those of a linkage together. Returns how many there are.
int world_lay_out_coordinates(TdlWorld* world);

// v_free of all bodies in that order: taken, and given back.
void world_gather_free(const TdlWorld* world, double* v);
void world_hand_free(TdlWorld* world, const double* v);

double world_next_time(const TdlWorld* world); // s, at the end of the step under way
void world_name_body(const Body* body, char out[TDL_BODY_NAME_SIZE]); // see tdl_body_name

// Puts what a script moves where it is at a time.
TdlStatus world_place_bodies(TdlWorld* world, double time);

// Saves bodies and contacts; false when there is no memory. Loads what was saved at `time`.
bool world_save_state(TdlWorld* world, SavedState* saved);
TdlStatus world_load_state(TdlWorld* world, const char* bytes, size_t size, double time);

#endif
